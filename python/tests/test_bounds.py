"""Bounds, certificates and checks."""

from __future__ import annotations

import math
import pathlib

import numpy
import pytest

import antwarp
from common import euclidean, length, random_points, shortest

POINTS = random_points(60, seed=3)
INF = math.inf


def test_a_bound_beside_the_run() -> None:
    solution = antwarp.solve(POINTS, bound=True, iterations=50)
    assert solution.bound is not None and 0.9 * solution.cost < solution.bound <= solution.cost
    assert solution.report["bound"]["trees"] > 0
    # Without one, nothing is proven by a run this short.
    assert antwarp.solve(POINTS, bound=False, iterations=50).bound is None


def test_a_bound_that_nobody_asked_for() -> None:
    seen: list[antwarp.Progress] = []
    points = random_points(300, seed=4)
    solution = antwarp.solve(points, time=1.5, prove=False, callback=seen.append)
    assert solution.bound is not None and solution.bound <= solution.cost
    assert seen[-1].bound is not None and seen[-1].bound <= solution.cost


def test_a_bound_that_proves_the_tour_ends_the_run() -> None:
    # Many shortest tours, and the bound of Held and Karp is as long as they are.
    costs = [[abs(a - b) for b in range(40)] for a in range(40)]
    solution = antwarp.solve(costs, bound=True, prove=False, time=60)
    assert solution.cost == solution.bound == 78 and solution.optimal
    assert solution.stopped_by == "optimal" and solution.seconds < 50


def test_bounds_alone() -> None:
    cost = antwarp.solve(POINTS, prove=True, time=60).cost
    assert 0.95 * cost < antwarp.bound(POINTS) <= cost
    small = random_points(7, seed=5)
    best = shortest(euclidean(small))
    assert antwarp.bound(small) <= best * (1 + 1e-9)
    assert antwarp.bound(small, open=True) <= antwarp.solve(small, open=True).cost * (1 + 1e-9)
    whole = antwarp.bound([[0, 2, 3], [2, 0, 4], [3, 4, 0]], shape="matrix")
    assert isinstance(whole, int) and whole <= 9


def test_cutting_planes_raise_bounds() -> None:
    # Trees take longer than the test may; so this says that both are bounds, and which is meant to be better.
    cost = antwarp.solve(POINTS, prove=True, time=60).cost
    trees, planes = antwarp.bound(POINTS), antwarp.bound(POINTS, time=3, threads=1)
    assert trees <= planes * (1 + 1e-9) and planes <= cost * (1 + 1e-9)
    tour = antwarp.solve(POINTS, iterations=50).tour
    assert antwarp.bound(POINTS, time=3, initial_tour=tour) <= cost * (1 + 1e-9)


def test_a_bound_where_no_tour_has_only_roads() -> None:
    assert antwarp.bound([[0, 1, INF], [1, 0, INF], [INF, INF, 0]], shape="matrix") == INF


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time": -1}, "`time` must be a number of seconds"),
        ({"time": "1"}, "`time` must be a number of seconds"),
        ({"seed": 1}, "`bound` has no option `seed`"),
        ({"initial_tour": [0, 0, 1]}, "`initial_tour`: "),
    ],
)
def test_wrong_options_of_bounds(options: dict[str, object], message: str) -> None:
    with pytest.raises(antwarp.Error, match=message):
        antwarp.bound(POINTS, **options)  # type: ignore[arg-type]


def test_there_is_no_bound_on_long_open_paths() -> None:
    for find in (lambda x: antwarp.bound(x, open=True), lambda x: antwarp.solve(x, open=True, bound=True)):
        with pytest.raises(antwarp.InputError, match="up to 3,000"):
            find(numpy.random.default_rng(1).random((3001, 2)))


def test_what_a_proof_excludes() -> None:
    with pytest.raises(antwarp.OptionError, match="`prove` cannot be used with `bound`"):
        antwarp.solve(POINTS, bound=True, prove=True)
    with pytest.raises(antwarp.OptionError, match="`certificate` cannot be used with `checkpoint`"):
        antwarp.solve(POINTS, certificate="a.cert", checkpoint="a.run")
    with pytest.raises(antwarp.OptionError, match="`certificate` needs a proof"):
        antwarp.solve(POINTS, certificate="a.cert", prove=False)


def test_certificates(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "proof.cert"
    solution = antwarp.solve(POINTS, certificate=path, time=60)
    assert solution.optimal and path.exists()
    checked = antwarp.check(POINTS, certificate=path)
    assert checked.optimal and checked.cost == pytest.approx(solution.cost)
    assert checked.bound is not None and checked.bound <= checked.cost
    # It is of these places only.
    with pytest.raises(antwarp.InputError, match="proves nothing"):
        antwarp.check([*POINTS[1:], [0.0, 0.0]], certificate=path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(antwarp.InputError):
        antwarp.check(POINTS, certificate=path)
    with pytest.raises(antwarp.InputError, match="no.cert"):
        antwarp.check(POINTS, certificate=tmp_path / "no.cert")


def test_a_certificate_that_cannot_be_written(tmp_path: pathlib.Path) -> None:
    with pytest.raises(OSError, match="cannot write"):
        antwarp.solve(POINTS, certificate=tmp_path / "missing" / "proof.cert", time=60)
    # Known only at the end: no tour is lost.
    folder = tmp_path / "folder"
    folder.mkdir()

    def remove(_: antwarp.Progress) -> None:
        if folder.exists():
            folder.rmdir()

    with pytest.raises(OSError) as raised:
        antwarp.solve(random_points(300, seed=1), certificate=folder / "proof.cert", time=60, callback=remove)
    assert len(raised.value.solution.tour) == 300  # type: ignore[attr-defined]


def test_an_incomplete_proof_proves_no_optimum(tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    path, points = tmp_path / "proof.cert", random_points(2000, seed=1)
    solution = antwarp.solve(points, certificate=path, time=0.5)
    assert not solution.optimal
    # How far it gets depends on the machine.
    assert path.exists() != ("no certificate was written" in caplog.text)
    if path.exists():
        checked = antwarp.check(points, certificate=path)
        assert not checked.optimal and checked.bound is not None and checked.bound < checked.cost


def test_tours_are_checked(tmp_path: pathlib.Path) -> None:
    solution = antwarp.solve(POINTS, iterations=50)
    checked = antwarp.check(POINTS, solution.tour)
    assert checked == (solution.cost, None, False)
    assert checked.cost == pytest.approx(length(euclidean(POINTS), solution.order))
    solution.save(tmp_path / "a.tour")
    assert antwarp.check(POINTS, tmp_path / "a.tour") == checked
    for wrong in (solution.tour[1:], [*solution.tour[1:], solution.tour[1]]):
        with pytest.raises(antwarp.InputError):
            antwarp.check(POINTS, wrong)
    with pytest.raises(antwarp.OptionError, match="there is no place 60"):
        antwarp.check(POINTS, [*solution.tour[1:], 60])
    with pytest.raises(antwarp.OptionError, match="either a `tour` or a `certificate`"):
        antwarp.check(POINTS)


def test_the_shape_of_tours_is_checked() -> None:
    square = [[0, 0], [0, 1], [1, 1], [1, 0]]
    assert antwarp.check(square, [0, 1, 2, 3], open=True).cost == pytest.approx(3)
    assert antwarp.check(square, [0, 1, 2, 3], fix=[(3, 0)]).cost == pytest.approx(4)
    for options, message in [
        ({"end": 2}, "ends at node"),
        ({"fix": [(0, 2)]}, "does not use the edge"),
        ({"forbid": [(0, 1)]}, "which is forbidden"),
    ]:
        with pytest.raises(antwarp.InputError, match=message):
            antwarp.check(square, [0, 1, 2, 3], **options)  # type: ignore[arg-type]
