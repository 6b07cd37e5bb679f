"""Options: limits, shapes, settings."""

from __future__ import annotations

import json
import pathlib

import pytest

import antwarp
import options_stub
from common import euclidean, length, random_points, shortest
from antwarp import _native

POINTS = random_points(60, seed=2)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"tme": 1}, "there is no option `tme`"),
        ({"rho": 0.5}, "`rho` applies only to algorithm=\"mmas\""),
        ({"algorithm": "none"}, "`algorithm` must be one of \"lk\""),
        ({"algorithm": "mmas", "rho": 3.0}, "`rho` must be above 0 and below 1"),
        ({"time": -1}, "`time` must be a number of seconds, not -1"),
        ({"time": float("nan")}, "`time`"),
        ({"time": "5"}, "`time`"),
        ({"time": True}, "`time`"),
        ({"iterations": 0}, "`iterations` must be a whole number of at least 1"),
        ({"iterations": 1.5}, "`iterations`"),
        ({"iterations": 10**30}, "`iterations`"),
        ({"stagnation": 0}, "`stagnation`"),
        ({"target": float("inf")}, "`target`"),
        ({"seed": "x"}, "`seed` must be a whole number"),
        ({"seed": -1}, "`seed`"),
        ({"neighbors": 10**12}, "`neighbors` must be a whole number up to"),
        ({"neighbors": 10**6}, "`neighbors` must be"),
        ({"first_tour": "longest"}, "`first_tour` must be one of"),
        ({"backend": "tpu"}, "`backend` must be"),
        ({"gpus": 0}, "`gpus`"),
        ({"gpus": [0, 0]}, "`gpus`"),
        ({"backend": "cpu", "gpus": 1}, "`gpus` has no effect"),
        ({"threads": 0}, "`threads`"),
        ({"threads": 10**6}, "`threads`"),
        ({"prove": "always"}, "`prove` must be True or False"),
        ({"shape": "circle"}, "`shape` must be"),
        ({"columns": "x"}, "`columns` must be"),
        ({"descent_only": True, "iterations": 5}, "does nothing with `descent_only`"),
        ({"callback": 3}, "`callback` must be a function"),
        ({"start": 99}, "there is no place 99"),
        ({"start": -1}, "there is no place -1"),
        ({"start": "a"}, "there is no place 'a'"),
        ({"end": True}, "there is no place True"),
        ({"fix": [(0, 99)]}, "there is no place 99"),
        ({"fix": [(0, 1, 2)]}, "`fix` must be pairs"),
        ({"fix": 3}, "`fix` must be pairs"),
        ({"initial_tour": [0, 1, 2]}, "`initial_tour`"),
        ({"initial_tour": [0] * 60}, "`initial_tour`"),
        ({"algorithm": "mmas", "initial_tour": list(range(60))}, "takes no `initial_tour`"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(antwarp.OptionError, match=message):
        antwarp.solve(POINTS, **{"time": 0.1, **options})  # type: ignore[arg-type]


def test_contradictions_are_refused() -> None:
    with pytest.raises(antwarp.InputError, match="more than two fixed edges"):
        antwarp.solve(POINTS, fix=[(0, 1), (0, 2), (0, 3)])


@pytest.mark.parametrize("algorithm", ["lk", "ils", "mmas", "acs", "ga"])
def test_seeds_and_iterations_determine_the_tour(algorithm: str) -> None:
    options = {"algorithm": algorithm, "iterations": 3, "seed": 5, "backend": "cpu"}
    if algorithm == "acs":
        options |= {"pheromone": "matrix", "update": "atomic"}
    if algorithm == "ga":
        options |= {"population": 32, "groups": 1}
    one = antwarp.solve(POINTS, **options)  # type: ignore[arg-type]
    other = antwarp.solve(POINTS, threads=1, **options)  # type: ignore[arg-type]
    assert one.tour == other.tour and one.cost == pytest.approx(length(euclidean(POINTS), one.order))
    assert one.report["algorithm"] == algorithm and one.report["seed"] == 5


def test_limits() -> None:
    assert antwarp.solve(POINTS, iterations=2, prove=False).stopped_by == "iterations"
    easy = antwarp.solve(POINTS, target=1e9)
    assert easy.stopped_by == "target" and easy.report["limits"]["target"] == 1e9
    limited = antwarp.solve(random_points(2000, seed=1), time=0.3)
    assert limited.stopped_by == "time"
    assert antwarp.solve(POINTS, time=0).order is not None
    assert antwarp.solve(POINTS, descent_only=True).stopped_by == "local-optimum"
    costs = [abs(cost) for _, cost in limited.trace]
    assert costs == sorted(costs, reverse=True) and limited.trace[-1][1] == pytest.approx(limited.cost)


def test_a_given_tour_is_improved() -> None:
    best = antwarp.solve(POINTS, time=1)
    again = antwarp.solve(POINTS, iterations=1, initial_tour=best.tour)
    assert again.cost <= best.cost * (1 + 1e-9)


def test_shapes_against_brute_force() -> None:
    points = random_points(7, seed=4)
    costs = euclidean(points)
    import itertools

    paths = list(itertools.permutations(range(7)))
    opened = lambda tour: length(costs, tour, is_open=True)  # noqa: E731
    assert antwarp.solve(points, open=True).cost == pytest.approx(min(map(opened, paths)))
    path = antwarp.solve(points, start=2, end=5)
    expected = min(opened(tour) for tour in paths if tour[0] == 2 and tour[-1] == 5)
    assert path.cost == pytest.approx(expected) and (path.tour[0], path.tour[-1]) == (2, 5)
    assert len(path.edges()) == 6
    from_ = antwarp.solve(points, open=True, start=3)
    assert from_.cost == pytest.approx(min(opened(tour) for tour in paths if tour[0] == 3))
    closed = antwarp.solve(points, start=3)
    assert closed.tour[0] == 3 and closed.cost == pytest.approx(shortest(costs))
    fixed = antwarp.solve(points, fix=[(0, 6)], forbid=[(1, 2)])
    pairs = [frozenset(pair) for pair in fixed.edges()]
    assert frozenset((0, 6)) in pairs and frozenset((1, 2)) not in pairs
    joined = lambda tour: [frozenset(p) for p in zip(tour, (*tour[1:], tour[0]))]  # noqa: E731
    fits = [t for t in paths if frozenset((0, 6)) in joined(t) and frozenset((1, 2)) not in joined(t)]
    assert fixed.cost == pytest.approx(min(length(costs, tour) for tour in fits))


def test_every_declared_setting_can_be_given() -> None:
    declared = [(name, users) for name, _, users, help in _native.declarations() if help]
    assert len(declared) > 40
    for name, users in declared:
        for algorithm in users:
            # A wrong value is refused as one of this option, not as an unknown one.
            with pytest.raises(antwarp.OptionError, match=f"`{name}` must be"):
                antwarp.Solver(algorithm=algorithm, **{name: object()})
            antwarp.Solver(algorithm=algorithm, **{name: None})


def test_none_is_not_given() -> None:
    antwarp.Solver(time=None, iterations=None, algorithm=None, seed=None, columns=None)


def test_settings_reach_the_algorithm() -> None:
    solution = antwarp.solve(POINTS, algorithm="mmas", iterations=1, ants=7, rho=0.25)
    assert solution.report["settings"]["ants"] == 7 and solution.report["settings"]["rho"] == 0.25
    json.dumps(solution.report)


def test_the_stub_of_the_options_is_up_to_date() -> None:
    assert options_stub.PATH.read_text() == options_stub.stub()
    names = [name for name, *_ in _native.declarations()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    "x, message",
    [
        ("0,1\n1,0\n", '`shape="matrix"` for a 2 x 2 matrix of costs; `columns="x=1,y=2"` for places'),
        ("a,b\n1,2\n3,4\n", '`columns="x=1,y=2"`, or for degrees `columns="lat=1,lon=2"`'),
        ("3\n1,2\n", "`no_header=True`|columns|lines"),
    ],
)
def test_remedies_are_options_of_python(x: str, message: str, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text(x)
    with pytest.raises(antwarp.InputError, match=message) as raised:
        antwarp.solve(file)
    assert "--" not in str(raised.value)
