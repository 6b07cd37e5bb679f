"""The package's types, as mypy sees them."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import antwarp

FOLDER = pathlib.Path(__file__).parent

RIGHT = """
import antwarp
import numpy as np

def show(progress: antwarp.Progress) -> None:
    print(progress.seconds, progress.cost, progress.bound, progress.iterations)

solution = antwarp.solve(np.zeros((4, 2)), time=5, seed=3, callback=show, first_tour="greedy", fix=[(0, 1)])
cost: int | float = solution.cost
bound: int | float | None = solution.bound
is_optimal: bool = solution.optimal
trace: list[tuple[float, int | float]] = solution.trace
order: list[int] = solution.order
solver = antwarp.Solver(algorithm="mmas", ants=10, threads=None)
solver.stop()
try:
    solver.solve("a.tsp", start=1)
except antwarp.NoTourError as error:
    print(error.solution)
"""

WRONG = """
import antwarp

antwarp.solve([[0, 0]], tme=5)
antwarp.solve([[0, 0]], time="5")
antwarp.solve([[0, 0]], first_tour="longest")
antwarp.solve([[0, 0]]).cost.upper()
antwarp.Solver(callback=5)
"""


def mypy(*arguments: str, cwd: pathlib.Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=300)


def test_the_package_passes_mypy(tmp_path: pathlib.Path) -> None:
    installed = pathlib.Path(antwarp.__file__).parent
    checked = mypy("-p", "antwarp", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout
    assert (installed / "py.typed").exists()


def test_right_use_passes_and_wrong_use_does_not(tmp_path: pathlib.Path) -> None:
    (tmp_path / "right.py").write_text(RIGHT)
    right = mypy("right.py", cwd=tmp_path)
    assert right.returncode == 0, right.stdout
    (tmp_path / "wrong.py").write_text(WRONG)
    wrong = mypy("wrong.py", cwd=tmp_path)
    lines = {int(line.split(":")[1]) for line in wrong.stdout.splitlines() if ": error:" in line}
    assert lines == set(range(4, 9)), wrong.stdout


def test_the_stub_names_what_there_is() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "antwarp._native"], capture_output=True, text=True, cwd=FOLDER, timeout=300
    )
    assert checked.returncode == 0, checked.stdout
