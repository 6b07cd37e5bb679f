"""Runs that go on from a checkpoint."""

from __future__ import annotations

import pathlib
import time

import pytest

import antwarp
from common import random_points

POINTS = random_points(400, seed=6)


def test_a_run_goes_on_as_if_it_had_not_been_interrupted(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.run"
    whole = antwarp.solve(POINTS, iterations=200_000, seed=3, bound=False)
    solver = antwarp.Solver(iterations=200_000, seed=3, callback=lambda _: solver.stop())
    part = solver.solve(POINTS, checkpoint=path)
    assert part.stopped_by == "interrupt" and path.exists()
    rest = antwarp.solve(POINTS, resume=path)
    assert rest.tour == whole.tour and rest.stopped_by == "iterations"
    # With the same settings, and into the same file.
    again = antwarp.solve(POINTS, resume=path, checkpoint=path, every=0.5, seed=3, algorithm="lk")
    assert again.tour == whole.tour
    # Its limits count from the first start, and may be others.
    assert antwarp.solve(POINTS, resume=path, iterations=1).report["iterations"] >= 200_000


def test_checkpoints_are_written_during_the_run(tmp_path: pathlib.Path) -> None:
    path, begin = tmp_path / "a.run", time.monotonic()
    # An open path, whose engine sees another instance.
    solver = antwarp.Solver(time=60, callback=lambda _: solver.stop() if path.exists() else None)
    solution = solver.solve(POINTS, open=True, checkpoint=path, every=0.2)
    assert solution.stopped_by == "interrupt" and time.monotonic() - begin < 50
    rest = antwarp.solve(POINTS, open=True, resume=path, time=1.0)
    assert rest.cost <= solution.cost * (1 + 1e-9)


def test_what_a_run_does_not_go_on_with(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.run"
    antwarp.solve(POINTS, iterations=20, seed=3, checkpoint=path)
    with pytest.raises(antwarp.OptionError, match=r"exists: continue from it with `resume=\".*\"`, or remove it"):
        antwarp.solve(POINTS, checkpoint=path)
    for options, message in [
        ({"seed": 4}, "has `seed` 3"),
        ({"algorithm": "ils"}, "uses `algorithm` \"lk\""),
        ({"initial_tour": list(range(400))}, "`initial_tour` cannot be used with `resume`"),
        ({"prove": True}, "`prove` cannot be used with `resume`"),
    ]:
        with pytest.raises(antwarp.OptionError, match=message):
            antwarp.solve(POINTS, resume=path, **options)  # type: ignore[arg-type]
    with pytest.raises(antwarp.InputError, match="400 nodes"):
        antwarp.solve(POINTS[1:], resume=path)
    with pytest.raises(antwarp.InputError, match="other data"):
        antwarp.solve([*POINTS[1:], [0.0, 0.0]], resume=path)
    with pytest.raises(antwarp.InputError):
        antwarp.solve(POINTS, resume=tmp_path / "no.run")
    (tmp_path / "b.run").write_bytes(path.read_bytes()[:100])
    with pytest.raises(antwarp.InputError):
        antwarp.solve(POINTS, resume=tmp_path / "b.run")


def test_wrong_files_for_checkpoints(tmp_path: pathlib.Path) -> None:
    with pytest.raises(antwarp.OptionError, match="give `checkpoint`, too"):
        antwarp.solve(POINTS, every=5)
    with pytest.raises(antwarp.OptionError, match="`every` must be a number of seconds"):
        antwarp.solve(POINTS, checkpoint=tmp_path / "a.run", every=-1)
    with pytest.raises(antwarp.OptionError, match="needs a file that can be replaced"):
        antwarp.solve(POINTS, checkpoint="/dev/null")


def test_a_checkpoint_that_cannot_be_written(tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    solver = antwarp.Solver(iterations=50_000, callback=lambda _: folder.exists() and folder.rmdir())
    solution = solver.solve(random_points(3000, seed=1), checkpoint=folder / "a.run")
    assert len(solution.tour) == 3000 and "a checkpoint could not be written" in caplog.text
