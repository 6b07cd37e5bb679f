#!/usr/bin/env python3
"""Latency and tours of VROOM and of `antwarp serve`, given the same requests: one vehicle, a round trip, matrices of durations.

    benches/serve_beside_vroom.py VROOM ADDRESS:PORT [CLIENTS] [SECONDS] [CORES]

VROOM is its program, which is started for each request, as vroom-express does. CORES, such as 0-1, are given to VROOM by taskset; the
server has to be started on them. Each client sends one request after the other.
"""

import http.client
import json
import math
import multiprocessing
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time

REQUESTS = 20
FORK = multiprocessing.get_context("fork")


def request(stops: int, seed: int) -> str:
    """Stops that are spread over half a degree; seconds at 50 km/h."""
    draw = random.Random(seed)
    places = [(11.3 + draw.random() / 2, 47.9 + draw.random() / 2) for _ in range(stops)]

    def seconds(a: tuple[float, float], b: tuple[float, float]) -> int:
        x = (a[0] - b[0]) * math.cos(math.radians((a[1] + b[1]) / 2))
        return round(math.hypot(x, a[1] - b[1]) * 111_195 / (50 / 3.6))

    durations = [[seconds(a, b) for b in places] for a in places]
    vehicle = {"id": 1, "start_index": 0, "end_index": 0}
    jobs = [{"id": at, "location_index": at} for at in range(1, stops)]
    return json.dumps({"vehicles": [vehicle], "jobs": jobs, "matrices": {"car": {"durations": durations}}})


def measure(name: str, stops: int, clients: int, limit: float, ask) -> dict[int, int]:
    """Prints a line; returns the cost of each request's tour. A process has ten clients at most: threads of one wait for each other."""
    begin, results = time.monotonic(), FORK.Queue()

    def client(number: int, taken: list[float], costs: dict[int, int]) -> None:
        connection = {}
        for count in range(1_000_000):
            if time.monotonic() - begin >= limit:
                return
            which = (number + count) % REQUESTS
            asked = time.monotonic()
            answer = json.loads(ask(which, connection))
            taken.append(time.monotonic() - asked)
            assert answer["code"] == 0 and not answer["unassigned"], answer
            costs[which] = answer["summary"]["cost"]

    def group(numbers: range) -> None:
        taken, costs = [], {}
        threads = [threading.Thread(target=client, args=(number, taken, costs)) for number in numbers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        results.put((taken, costs))

    starts = range(0, clients, 10)
    processes = [FORK.Process(target=group, args=(range(at, min(at + 10, clients)),)) for at in starts]
    for process in processes:
        process.start()
    taken, costs = [], {}
    for _ in processes:
        own = results.get()
        taken.extend(own[0])
        costs.update(own[1])
    rate = len(taken) / (time.monotonic() - begin)
    for process in processes:
        process.join()
    p50 = 1e3 * statistics.median(taken)
    p99 = 1e3 * sorted(taken)[int(0.99 * (len(taken) - 1))]
    print(f"{name:<12} {stops:>5} {clients:>7} {rate:>9.1f} {p50:>8.2f} {p99:>8.2f}", flush=True)
    return costs


def main() -> None:
    vroom, address = sys.argv[1:3]
    clients, limit = int((sys.argv + ["", "", ""])[3] or 100), float((sys.argv + ["", "", ""])[4] or 5)
    pinned = ["taskset", "-c", sys.argv[5]] if len(sys.argv) > 5 else []
    print(f"{'':<12} stops clients answers/s   p50 ms   p99 ms")
    with tempfile.TemporaryDirectory() as folder:
        for stops in (10, 50, 200):
            bodies = [request(stops, seed) for seed in range(REQUESTS)]
            files = [os.path.join(folder, f"{stops}-{at}.json") for at in range(REQUESTS)]
            for file, body in zip(files, bodies):
                with open(file, "w", encoding="utf-8") as out:
                    out.write(body)

            def process(threads: int):
                return lambda which, _: subprocess.run(
                    [*pinned, vroom, "-t", str(threads), "-i", files[which]], check=True, capture_output=True
                ).stdout

            def post(which: int, connection: dict) -> bytes:
                if "it" not in connection:
                    connection["it"] = http.client.HTTPConnection(address)
                connection["it"].request("POST", "/", bodies[which], {"Content-Type": "application/json"})
                return connection["it"].getresponse().read()

            found = {}
            for count in (1, clients):
                for name, ask in (("vroom -t 1", process(1)), ("vroom -t 2", process(2)), ("antwarp", post)):
                    found[name] = measure(name, stops, count, limit, ask) | found.get(name, {})
            mean = {name: statistics.mean(found[name][at] for at in range(REQUESTS) if at in found[name]) for name in found}
            best = min(mean.values())
            print("mean duration of the tours, % above the best:", {name: round(100 * (mean[name] / best - 1), 3) for name in mean})


if __name__ == "__main__":
    main()
