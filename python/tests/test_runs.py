"""Runs: callbacks, threads, signals, forks, the end of the interpreter, and what they leave behind."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator

import numpy
import pytest

import antwarp
from common import random_points, run_script

POINTS = numpy.array(random_points(3000, seed=1))
FEW = random_points(10, seed=1)

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@pytest.fixture(autouse=True)
def heeds_interrupts() -> Iterator[None]:
    """What a shell starts in the background ignores SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_callback_sees_the_progress() -> None:
    seen: list[antwarp.Progress] = []

    def see(progress: antwarp.Progress) -> None:
        seen.append(progress)
        if len(seen) == 3:
            solver.stop()

    solver = antwarp.Solver(time=3600, callback=see)
    solution = solver.solve(POINTS)
    assert all(isinstance(one.cost, float) for one in seen)
    assert [one.seconds for one in seen] == sorted(one.seconds for one in seen)
    assert seen[-1].cost is not None and seen[-1].cost >= solution.cost * (1 - 1e-6)
    assert "antwarp.Progress" in repr(seen[-1])


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit, StopIteration])
def test_what_a_callback_raises_ends_the_run(error: type[BaseException]) -> None:
    calls = 0

    def fail(_: antwarp.Progress) -> None:
        nonlocal calls
        calls += 1
        raise error("enough")

    if error is KeyboardInterrupt:
        # As if Ctrl-C had been pressed while it ran.
        assert antwarp.solve(POINTS, time=3600, callback=fail).stopped_by == "interrupt"
    else:
        with pytest.raises(error, match="enough"):
            antwarp.solve(POINTS, time=3600, callback=fail)
        assert calls == 1


def test_a_solver_is_stopped_from_its_callback() -> None:
    solver = antwarp.Solver(time=3600, callback=lambda _: solver.stop())
    solution = solver.solve(POINTS)
    assert solution.stopped_by == "interrupt" and len(solution.tour) == 3000
    # It stays stopped.
    assert solver.solve(POINTS).stopped_by == "interrupt"


def test_a_solver_is_stopped_from_another_thread() -> None:
    solver = antwarp.Solver(time=3600)
    timer = threading.Timer(0.5, solver.stop)
    timer.start()
    assert solver.solve(POINTS).stopped_by == "interrupt"
    timer.join()


def test_other_threads_of_python_go_on() -> None:
    count = 0
    is_over = threading.Event()

    def work() -> None:
        nonlocal count
        while not is_over.is_set():
            count += 1
            time.sleep(0.001)

    thread = threading.Thread(target=work)
    thread.start()
    antwarp.solve(POINTS, time=1)
    is_over.set()
    thread.join()
    assert count > 3


def test_two_runs_at_once() -> None:
    found: dict[int, antwarp.Solution] = {}
    solver = antwarp.Solver(iterations=20, backend="cpu")
    alone = solver.solve(POINTS)

    def work(number: int) -> None:
        found[number] = solver.solve(POINTS)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert [one.tour for one in found.values()] == [alone.tour] * 4


def test_a_run_inside_a_callback() -> None:
    inner: list[antwarp.Solution] = []

    def solve(_: antwarp.Progress) -> None:
        inner.append(antwarp.solve(FEW))
        outer.stop()

    outer = antwarp.Solver(time=3600, callback=solve)
    assert outer.solve(POINTS).stopped_by == "interrupt"
    assert inner[0].optimal


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_ctrl_c_gives_the_best_tour() -> None:
    timer = threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    solution = antwarp.solve(POINTS, time=3600)
    assert solution.stopped_by == "interrupt" and sorted(solution.tour) == list(range(3000))
    timer.join()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_other_handlers_of_signals_are_called_and_may_raise() -> None:
    def handle(*_: object) -> None:
        raise TimeoutError("the caller's own limit")

    before = signal.signal(signal.SIGALRM, handle)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(TimeoutError, match="own limit"):
            antwarp.solve(POINTS, time=3600)
    finally:
        signal.signal(signal.SIGALRM, before)


@needs_fork
def test_children_solve_before_and_after_their_parents() -> None:
    script = """
import os, antwarp
points = [[i * i % 17, i * 7 % 23] for i in range(200)]
def in_child():
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if len(antwarp.solve(points, iterations=3).tour) == 200 else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
in_child()
antwarp.solve(points, iterations=3)
antwarp.solve(points[:40], prove=True)
in_child()
# In the middle of a run of another thread.
import threading, time
solver = antwarp.Solver(time=3600)
thread = threading.Thread(target=solver.solve, args=([[i * i % 101, i * 7 % 103] for i in range(5000)],))
thread.start()
time.sleep(.5)
in_child()
solver.stop()
thread.join()
print("done")
"""
    assert run_script(script) == "done\n"


@needs_fork
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_of_multiprocessing(method: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    script = tmp_path / "many.py"
    script.write_text(
        f"""
import multiprocessing, antwarp
def solve(seed):
    return antwarp.solve([[i * i % 17, i * 7 % 23] for i in range(100)], iterations=2, seed=seed, threads=1).cost
if __name__ == "__main__":
    antwarp.solve([[0, 0], [1, 1], [2, 0]], shape="points")
    with multiprocessing.get_context("{method}").Pool(2) as pool:
        costs = pool.map(solve, [1, 1, 2, 2])
    assert costs[0] == costs[1] and costs[2] == costs[3]
    print("done")
"""
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


@pytest.mark.parametrize("callback", ["None", "lambda progress: None"])
def test_the_interpreter_may_end_in_the_middle(callback: str) -> None:
    script = f"""
import antwarp, threading, time
points = [[i * i % 1009, i * 7 % 1013] for i in range(5000)]
solver = antwarp.Solver(time=3600, callback={callback})
def work():
    while True:
        solver.solve(points)
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
time.sleep(1)
print("end")
"""
    assert run_script(script) == "end\n"


def test_a_run_at_the_end_of_the_interpreter() -> None:
    script = """
import antwarp, atexit
atexit.register(lambda: print(antwarp.solve([[0, 0], [3, 4], [3, 0], [0, 4]]).cost))
class Late:
    def __del__(self):
        try:
            antwarp.solve([[0, 0], [3, 4], [3, 0], [0, 4]])
        except BaseException:
            pass
late = Late()
"""
    assert run_script(script) == "14.0\n"


def test_nothing_is_left_of_many_runs() -> None:
    """Neither references nor memory."""

    class Callback:
        def __call__(self, _: antwarp.Progress) -> None:
            pass

    callback, points = Callback(), numpy.array(FEW)
    solver = antwarp.Solver(callback=callback, threads=1)

    def count() -> tuple[int, int, int]:
        gc.collect()
        return sys.getrefcount(callback), sys.getrefcount(points), len(gc.get_objects())

    def work(times: int) -> None:
        for _ in range(times):
            solution = solver.solve(points)
            assert solution.trace is not None
            with pytest.raises(antwarp.InputError):
                solver.solve(points[:, :1])

    work(200)
    before, memory = count(), _memory()
    work(10_000 if os.environ.get("ANTWARP_LONG_TESTS") else 2000)
    after = count()
    assert before[:2] == after[:2] and after[2] - before[2] < 50
    assert _memory() - memory < 10_000_000


def test_what_is_not_used_any_more_is_freed() -> None:
    class Callback:
        def __call__(self, _: antwarp.Progress) -> None:
            pass

    callback = Callback()
    solver = antwarp.Solver(callback=callback)
    solution = solver.solve(FEW)
    there = [weakref.ref(callback), weakref.ref(solver), weakref.ref(solution)]
    del callback, solver, solution
    gc.collect()
    assert [one() for one in there] == [None] * 3


@pytest.mark.skipif(not hasattr(antwarp._native, "panic"), reason="`.ci/extra python` builds a package that panics on purpose")
def test_a_panic_is_an_internal_error() -> None:
    with pytest.raises(antwarp.InternalError, match="on purpose: this is a bug in antwarp"):
        antwarp._native.panic(antwarp._native.Session(2))
    # Nothing else is affected.
    assert antwarp.solve(FEW).optimal


def test_threads_end_with_their_run(tmp_path) -> None:  # type: ignore[no-untyped-def]
    def count() -> int:
        return len(os.listdir("/proc/self/task"))

    if not os.path.isdir("/proc/self/task"):
        pytest.skip("threads are counted in /proc")
    before = count()
    antwarp.solve(FEW, threads=7)
    solution = antwarp.solve(POINTS, iterations=2, threads=3, start=5)
    solution._repr_svg_(), solution.edges(), solution.to_networkx(), solution.save(tmp_path / "a.csv")
    antwarp.solve("E1k.0", iterations=2, threads=3)
    limit = time.monotonic() + 10
    while count() > before and time.monotonic() < limit:
        time.sleep(0.01)
    assert count() <= before


def _memory() -> int:
    """Returns the bytes in main memory of this process; 0 where that is not known."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
