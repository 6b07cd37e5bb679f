#!/usr/bin/env python3
"""How soon do Python packages find tours 1 % and 0.1 % above the shortest, and the shortest?

    benches/python_packages.py berlin52.tsp a280.tsp --cores 0-3 --csv runs.csv
    benches/python_packages.py --table runs.csv

Each run is a process of its own on one core (antwarp also has all cores, and a GPU, if it is asked to), with a limit of 0.1, 0.2, 0.5, 1, 2, 5,
10, 30 s, in this order until a tour is as short as the best known. A package that takes no limit runs once, or with more and more runs, and
is stopped after 45 s. The time is that of the call, from an array in memory (for antwarp, from a file that has another name than the published
instance, or from the array of costs) to the tour: imports and making that array do not count, converting it for the package does. The
length of the tour is computed here. Places are shuffled: pr2392 lists its own in the order of a shortest tour.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading
import time

# Lengths of the shortest tours.
BEST = {"berlin52": 7542, "a280": 2579, "pr1002": 259045, "pr2392": 378032, "fl3795": 28772, "E10k.0": 71865826}
LIMITS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 30]
# A run is stopped after its limit and this many seconds.
PATIENCE = 15.0
GAPS = {"1 %": 1.01, "0.1 %": 1.001, "best": 1.0}


def read(path):
    """Returns the coordinates of a TSPLIB file of type EUC_2D, shuffled."""
    import numpy

    lines = pathlib.Path(path).read_text().split("\n")
    if not any(line.replace(" ", "").startswith("EDGE_WEIGHT_TYPE:EUC_2D") for line in lines):
        sys.exit(f"{path}: only EUC_2D is read here")
    begin = next(at for at, line in enumerate(lines) if line.startswith("NODE_COORD_SECTION")) + 1
    rows = [line.split() for line in lines[begin:]]
    points = numpy.array([[float(row[1]), float(row[2])] for row in rows if len(row) == 3])
    return numpy.random.default_rng(1).permutation(points)


def matrix(points, dtype):
    """Returns all lengths, rounded as TSPLIB does."""
    import numpy

    lengths = numpy.empty((len(points), len(points)), dtype)
    for row, point in zip(lengths, points):
        row[:] = numpy.floor(numpy.hypot(*(points - point).T) + 0.5)
    return lengths


def length(points, tour):
    assert sorted(tour) == list(range(len(points))), "no tour"
    pairs = zip(tour, [*tour[1:], tour[0]])
    return sum(math.floor(math.dist(points[one], points[other]) + 0.5) for one, other in pairs)


# What each package does: from the coordinates to a function that takes a limit and returns a tour.


def antwarp(points, path, **options):
    import antwarp

    head = f"NAME: x\nTYPE: TSP\nDIMENSION: {len(points)}\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
    rows = "".join(f"{at + 1} {x!r} {y!r}\n" for at, (x, y) in enumerate(points.tolist()))
    file = pathlib.Path(tempfile.mkdtemp(), "x.tsp")
    file.write_text(f"{head}{rows}EOF\n")
    options = {"backend": "cpu", "threads": 1, **options}
    return lambda limit: antwarp.solve(file, time=limit, seed=1, **options).order


def antwarp_all_cores(points, path):
    return antwarp(points, path, threads=None)


def antwarp_gpu(points, path):
    return antwarp(points, path, threads=None, backend="cuda")


def antwarp_matrix(points, path):
    import antwarp

    costs = matrix(points, "int64")
    return lambda limit: antwarp.solve(costs, time=limit, seed=1, backend="cpu", threads=1).order


def fast_tsp(points, path):
    import fast_tsp
    import numpy

    # It takes whole numbers of 16 bits.
    costs = matrix(points, "int32")
    most = costs.max()
    if most > 65535:
        costs = numpy.floor(costs * (65535 / most))
    costs = costs.astype("uint16")
    return lambda limit: fast_tsp.find_tour(costs, duration_seconds=limit)


def elkai(points, path):
    import elkai

    # It takes no limit, but a number of runs.
    def solve(runs):
        places = {str(at): (float(x), float(y)) for at, (x, y) in enumerate(points)}
        return [int(place) for place in elkai.Coordinates2D(places).solve_tsp(runs=runs)[:-1]]

    return solve


def ortools(points, path):
    from ortools.constraint_solver import pywrapcp, routing_enums_pb2

    costs = matrix(points, "int64")

    def solve(limit):
        manager = pywrapcp.RoutingIndexManager(len(points), 1, 0)
        routing = pywrapcp.RoutingModel(manager)
        routing.SetArcCostEvaluatorOfAllVehicles(routing.RegisterTransitMatrix(costs.tolist()))
        parameters = pywrapcp.DefaultRoutingSearchParameters()
        parameters.first_solution_strategy = routing_enums_pb2.FirstSolutionStrategy.PATH_CHEAPEST_ARC
        parameters.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
        parameters.time_limit.FromNanoseconds(int(limit * 1e9))
        solution = routing.SolveWithParameters(parameters)
        if solution is None:
            raise TimeoutError("no tour within the limit")
        tour, at = [], routing.Start(0)
        while not routing.IsEnd(at):
            tour.append(manager.IndexToNode(at))
            at = solution.Value(routing.NextVar(at))
        return tour

    return solve


def pyvrp(points, path):
    import pyvrp
    import pyvrp.stop

    costs = matrix(points, "int64")

    def solve(limit):
        data = pyvrp.ProblemData(
            [pyvrp.Location(x, y) for x, y in points],
            [pyvrp.Client(place) for place in range(1, len(points))],
            [pyvrp.Depot(0)],
            [pyvrp.VehicleType(1)],
            [costs],
            [costs * 0],
        )
        result = pyvrp.solve(data, pyvrp.stop.MaxRuntime(limit), seed=1, collect_stats=False, display=False)
        (route,) = result.best.routes()
        return [0, *(visit.idx + 1 for visit in route if visit.is_client())]

    return solve


def python_tsp_annealing(points, path):
    from python_tsp.heuristics import solve_tsp_simulated_annealing

    costs = matrix(points, "float64")
    return lambda limit: solve_tsp_simulated_annealing(costs, max_processing_time=limit)[0]


def python_tsp_lk(points, path):
    from python_tsp.heuristics import solve_tsp_lin_kernighan

    # It takes no limit.
    costs = matrix(points, "float64")
    return lambda _: solve_tsp_lin_kernighan(costs)[0]


# The packages: what they are called, and the limits of their runs.
ON_ONE_CORE = {
    "antwarp": (antwarp, LIMITS),
    "antwarp (costs)": (antwarp_matrix, LIMITS),
    "fast-tsp": (fast_tsp, LIMITS),
    "elkai": (elkai, [1, 2, 5, 10]),
    "OR-Tools": (ortools, LIMITS),
    "PyVRP": (pyvrp, LIMITS),
    "python-tsp (annealing)": (python_tsp_annealing, [10, 30]),
    "python-tsp (Lin-Kernighan)": (python_tsp_lk, [30]),
}
ON_ALL = {"antwarp, all cores": (antwarp_all_cores, LIMITS[:-1]), "antwarp, GPU": (antwarp_gpu, LIMITS[:-1])}
PACKAGES = ON_ONE_CORE | ON_ALL


def one(package, path, limit):
    """A run, in a process of its own: prints its seconds and the length of the tour."""
    points = read(path)
    solve = PACKAGES[package][0](points, path)
    begin = time.perf_counter()
    tour = solve(limit)
    seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": round(seconds, 3), "length": length(points.tolist(), list(tour))}))


def chain(package, path, cores, write, until):
    """The runs of a package on an instance, with longer and longer limits."""
    name = pathlib.Path(path).stem
    for limit in PACKAGES[package][1]:
        if time.monotonic() + limit > until:
            return write([package, name, limit, "", "", "not run"])
        command = [sys.executable, __file__, "--one", package, path, repr(limit)]
        environment = {**os.environ, "OMP_NUM_THREADS": str(len(cores)), "RAYON_NUM_THREADS": str(len(cores))}
        # With the time for imports and for making arrays.
        stopped = (limit + PATIENCE if PACKAGES[package][1] is LIMITS else 45) + 20
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=min(stopped, max(until - time.monotonic(), 1)),
                env=environment, preexec_fn=lambda: os.sched_setaffinity(0, cores),
            )
        except subprocess.TimeoutExpired:
            return write([package, name, limit, "", "", "stopped"])
        if done.returncode:
            why = (done.stderr.strip() or f"ended with {done.returncode}").split("\n")[-1]
            write([package, name, limit, "", "", why])
            # Others may have a tour with more time.
            if "TimeoutError" in why or "no tour" in why or "unpack" in why:
                continue
            return None
        run = json.loads(done.stdout.split("\n")[-2])
        write([package, name, limit, run["seconds"], run["length"], ""])
        if run["length"] <= BEST[name]:
            return None


def measure(given):
    begin = time.monotonic()
    until = begin + given.deadline
    lock = threading.Lock()
    with open(given.csv, "a", newline="") as file:
        table = csv.writer(file)
        if file.tell() == 0:
            table.writerow(["package", "instance", "limit", "seconds", "length", "trouble"])

        def write(row):
            with lock:
                table.writerow(row)
                file.flush()
                print(f"{time.monotonic() - begin:6.1f} s", *row, flush=True)

        waiting = queue.SimpleQueue()
        sizes = {path: len(read(path)) for path in given.instances}
        for path in sorted(given.instances, key=lambda path: -sizes[path]):
            for package in given.packages:
                if package in ON_ONE_CORE:
                    waiting.put((package, path))

        def work(core):
            while True:
                try:
                    package, path = waiting.get_nowait()
                except queue.Empty:
                    return
                chain(package, path, {core}, write, until)

        threads = [threading.Thread(target=work, args=(core,)) for core in given.cores]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        everything = os.sched_getaffinity(0)
        for package in given.packages:
            if package in ON_ALL:
                for path in given.instances:
                    chain(package, path, everything, write, until)


def table(path):
    """Prints the table: for each package and instance, the seconds of the first run whose tour is short enough."""
    with open(path, newline="") as file:
        runs = list(csv.DictReader(file))
    packages = [package for package in PACKAGES if any(run["package"] == package for run in runs)]
    names = [name for name in BEST if any(run["instance"] == name for run in runs)]
    print("| seconds to 1 % / 0.1 % / the shortest |", " | ".join(names), "|")
    print("| --- |", " --- |" * len(names))
    for package in packages:
        cells = []
        for name in names:
            own = [run for run in runs if (run["package"], run["instance"]) == (package, name)]
            done = [(float(run["seconds"]), int(run["length"])) for run in own if run["length"]]
            cell = []
            for gap in GAPS.values():
                reached = [seconds for seconds, found in done if found <= BEST[name] * gap]
                cell.append(f"{reached[0]:.2f}" if reached else "-")
            if not done:
                cells.append("no tour" if own else "")
                continue
            last = min(found for _, found in done)
            rest = f" ({100 * (last / BEST[name] - 1):.2f} %)" if cell[-1] == "-" else ""
            cells.append(" / ".join(cell) + rest)
        print(f"| {package} |", " | ".join(cells), "|")


def cores(text):
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


def main():
    if sys.argv[1:2] == ["--one"]:
        return one(sys.argv[2], sys.argv[3], json.loads(sys.argv[4]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("instances", nargs="*", help="TSPLIB files of instances whose shortest tour is known here")
    parser.add_argument("--packages", nargs="+", choices=PACKAGES, default=list(ON_ONE_CORE), metavar="PACKAGE")
    parser.add_argument("--cores", type=cores, default=[0], help="such as 0-13: each has one run at a time")
    parser.add_argument("--csv", default="runs.csv", help="the file that rows are added to")
    parser.add_argument("--deadline", type=float, default=math.inf, help="no run goes on after so many seconds")
    parser.add_argument("--table", metavar="CSV", help="print the table of such a file")
    given = parser.parse_args()
    if given.table:
        return table(given.table)
    return measure(given)


if __name__ == "__main__":
    main()
