"""Many small instances in one call."""

from __future__ import annotations

import math
import sys

import antwarp
import numpy as np
import pytest
from common import INF, euclidean, length, random_points, run_script, shortest


def cost_of(points, tour) -> float:
    return length(euclidean(points), [int(place) for place in tour])


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_few_places_are_solved_to_optimality(n):
    points = np.array([random_points(n, seed) for seed in range(20)])
    tours, costs = antwarp.solve_many(points, shape="points")
    assert tours.shape == (20, n) and tours.dtype == np.int64
    for these, tour, cost in zip(points.tolist(), tours, costs):
        assert sorted(tour) == list(range(n))
        assert math.isclose(cost, shortest(euclidean(these)), abs_tol=1e-9)
        assert math.isclose(cost, cost_of(these, tour), abs_tol=1e-9)


def test_more_places_have_valid_tours_of_the_reported_costs():
    points = np.random.default_rng(1).random((100, 40, 2))
    tours, costs = antwarp.solve_many(points, effort=3)
    for these, tour, cost in zip(points.tolist(), tours, costs):
        assert sorted(tour) == list(range(40))
        assert math.isclose(cost, cost_of(these, tour))
    alone = [antwarp.solve(one, iterations=2000).cost for one in points[:10]]
    assert np.allclose(costs[:10], alone, rtol=0.02)
    again = antwarp.solve_many(points, effort=3, threads=1)
    assert (again.tours == tours).all() and (again.costs == costs).all()
    # Whatever the others are.
    assert (antwarp.solve_many(points[7:9], effort=3).tours == tours[7:9]).all()
    assert antwarp.solve_many(points, effort=20).costs.sum() <= costs.sum()
    assert (antwarp.solve_many(points, effort=0).costs >= costs - 1e-9).any()


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "uint64"])
def test_matrices_of_all_types(dtype):
    costs = np.random.default_rng(2).integers(1, 50, (30, 6, 6))
    directed = antwarp.solve_many(costs.astype(dtype))
    both = costs + costs.transpose(0, 2, 1)
    symmetric = antwarp.solve_many(both.astype(dtype))
    for given, found in ((costs, directed), (both, symmetric)):
        assert found.costs.tolist() == [shortest(one.tolist()) for one in given]


def test_directed_costs_beyond_the_few():
    costs = np.random.default_rng(3).integers(1, 1000, (10, 30, 30))
    tours, found = antwarp.solve_many(costs)
    for one, tour, cost in zip(costs.tolist(), tours, found):
        assert sorted(tour) == list(range(30)) and length(one, tour.tolist()) == cost


def test_pairs_without_a_road():
    roads = np.full((2, 14, 14), INF)
    for at in range(14):
        roads[0, at, (at + 1) % 14] = roads[0, (at + 1) % 14, at] = 1
        # Two rings without a road from one to the other.
        ring, to = at // 7 * 7, (at + 1) % 7
        roads[1, at, ring + to] = roads[1, ring + to, at] = 1
    _, costs = antwarp.solve_many(roads)
    assert costs.tolist() == [14, INF]


def test_lists_of_mixed_inputs_and_sizes(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("x,y\n0,0\n3,4\n3,0\n0,4\n")
    given = [[[0, 0], [3, 4], [3, 0], [0, 4]], np.zeros((17, 2)), file, [[0, 0]], np.random.default_rng(1).random((50, 3))]
    tours, costs = antwarp.solve_many(given)
    assert isinstance(tours, list) and [len(tour) for tour in tours] == [4, 17, 4, 1, 50]
    assert costs[:4].tolist() == [14, 0, 14, 0]
    alone = antwarp.solve_many(given[4:]).tours
    assert alone.shape == (1, 50) and (alone[0] == tours[4]).all()


def test_no_instance():
    for none in ([], np.zeros((0, 5, 2))):
        tours, costs = antwarp.solve_many(none)
        assert len(tours) == len(costs) == 0


def test_places_at_the_same_place():
    points = np.repeat(np.random.default_rng(4).random((1, 10, 2)), 20, axis=1)
    tours, costs = antwarp.solve_many(points)
    assert sorted(tours[0]) == list(range(200))
    assert math.isclose(costs[0], antwarp.solve(points[0, ::20]).cost)


def test_degrees():
    places = np.array([[[52.5, 13.4], [48.1, 11.6], [50.1, 8.7], [53.6, 10.0]]])
    assert antwarp.solve_many(places, columns="lat=1,lon=2").costs[0] > 1e6


def test_one_wrong_instance_of_a_thousand_is_named():
    points = np.random.default_rng(5).random((1000, 20, 2))
    points[617, 3, 1] = math.nan
    with pytest.raises(antwarp.InputError, match="instance 617: "):
        antwarp.solve_many(points)
    with pytest.raises(antwarp.InputError, match="instance 617: "):
        antwarp.solve_many(list(points))
    with pytest.raises(antwarp.InputError, match="instance 1: .*solve it alone"):
        antwarp.solve_many([[[0, 0]], np.random.default_rng(1).random((1025, 2))])


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (np.zeros((4, 2)), "shape is"),
        (np.zeros((2, 2, 2, 2)), "shape is"),
        (np.zeros((2, 0, 2)), "at least one place"),
        (np.array([[["a", "b"]]]), "dtype"),
        (np.zeros((2, 3, 3)), "costs or places"),
        ("E1k.0", "list of instances"),
        (7, "list of instances"),
        ([7], "instance 0"),
    ],
)
def test_malformed_inputs(given, match):
    with pytest.raises(antwarp.InputError, match=match):
        antwarp.solve_many(given)


@pytest.mark.parametrize(
    "options", [{"effort": -1}, {"effort": 1.5}, {"effort": True}, {"seed": -1}, {"iterations": 3}, {"threads": 0}]
)
def test_wrong_options(options):
    with pytest.raises(antwarp.OptionError, match=next(iter(options))):
        antwarp.solve_many([[[0, 0]]], **options)


def test_a_time_limit_leaves_local_optima():
    points = np.random.default_rng(6).random((300, 100, 2))
    tours, costs = antwarp.solve_many(points, effort=1_000_000, time=0.3)
    assert (np.sort(tours, axis=1) == np.arange(100)).all() and np.isfinite(costs).all()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_gives_what_is_done():
    out = run_script(
        """
import os, signal, threading, time
import antwarp, numpy as np
points = np.random.default_rng(1).random((64, 60, 2))
# What a shell starts in the background ignores SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
tours, costs = antwarp.solve_many(points, effort=1_000_000, threads=2)
solved = ~np.isnan(costs)
assert 0 < solved.sum() < 64, solved
assert (tours[~solved] == -1).all()
assert (np.sort(tours[solved], axis=1) == np.arange(60)).all()
print("done")
"""
    )
    assert out.strip() == "done"


def test_other_threads_go_on():
    out = run_script(
        """
import threading
import antwarp, numpy as np
done, count = threading.Event(), 0
def work():
    antwarp.solve_many(np.random.default_rng(1).random((200, 50, 2)), threads=1)
    done.set()
threading.Thread(target=work).start()
while not done.wait(0.001):
    count += 1
assert count > 5, count
print("done")
"""
    )
    assert out.strip() == "done"
