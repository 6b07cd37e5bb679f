"""What several tests need: random instances, and optima found without antwarp."""

from __future__ import annotations

import itertools
import math
import pathlib
import random
import subprocess
import sys

INF = math.inf


def shortest(costs: list[list[float]]) -> float:
    """Returns the cost of the shortest tour, by trying all of them; infinite, if there is none."""
    n = len(costs)
    tours = ((0, *rest) for rest in itertools.permutations(range(1, n)))
    return min(length(costs, tour) for tour in tours)


def length(costs: list[list[float]], tour, is_open: bool = False) -> float:
    """Returns the cost of a tour. That of a single place is 0: the diagonal is ignored."""
    if len(tour) == 1:
        return 0
    ends = tour[1:] if is_open else (*tour[1:], tour[0])
    return sum(costs[a][b] for a, b in zip(tour, ends))


def euclidean(points) -> list[list[float]]:
    return [[math.dist(one, other) for other in points] for one in points]


def random_points(n: int, seed: int, dimensions: int = 2) -> list[list[float]]:
    draw = random.Random(seed)
    return [[draw.uniform(-50, 50) for _ in range(dimensions)] for _ in range(n)]


def run_script(script: str, *, timeout: float = 300, status: int = 0) -> str:
    """Runs a script in an interpreter of its own, which must end with this status; returns what it printed."""
    # Not in the folder of the package's sources, which cannot be imported.
    folder = pathlib.Path(__file__).parent
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=timeout, cwd=folder)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done.stdout
