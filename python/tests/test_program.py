"""`python -m antwarp`."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import antwarp


def run(*line: str) -> subprocess.CompletedProcess[str]:
    """Runs the program."""
    command = [sys.executable, "-m", "antwarp", *line]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=pathlib.Path(__file__).parent)


def test_the_program_solves_what_the_package_saves_and_the_other_way_round(tmp_path: pathlib.Path) -> None:
    one, other = str(tmp_path / "one.tour"), str(tmp_path / "other.tour")
    solution = antwarp.solve("E1k.0", iterations=3, seed=4, backend="cpu")
    solution.save(one)
    done = run("solve", "E1k.0", "--iterations", "3", "--seed", "4", "--backend", "cpu", "--tour", other)
    assert done.returncode == 0, done.stderr
    assert pathlib.Path(one).read_text() == pathlib.Path(other).read_text()
    checked = run("check", "E1k.0", one)
    assert checked.returncode == 0 and str(solution.cost) in checked.stdout


def test_the_program_has_its_own_status() -> None:
    assert run("-V").stdout == f"antwarp {antwarp.__version__}\n"
    wrong = run("solve", "--no-such-option")
    assert wrong.returncode == 2 and "--no-such-option" in wrong.stderr
    assert run("solve", "there is no such file").returncode == 3
