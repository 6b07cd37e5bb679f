"""Short tours for the travelling salesman problem, fast: on GPUs or on CPU cores.

>>> import antwarp
>>> antwarp.solve([[0, 0], [3, 4], [3, 0], [0, 4]]).cost
14.0
"""

from __future__ import annotations

import atexit
import importlib.util
import logging
import os
import pathlib
import time as _time
from collections.abc import Callable, Hashable, Iterable, Sequence
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from . import _inputs, _native
from ._errors import BackendError, Error, InputError, InternalError, NoTourError, OptionError
from ._many import Tours, solve_many
from ._native import Progress
from ._solution import Solution

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import Options

__version__ = _version("antwarp")

__all__ = [
    "BackendError",
    "Checked",
    "Error",
    "InputError",
    "InternalError",
    "NoTourError",
    "OptionError",
    "Progress",
    "Solution",
    "Solver",
    "Tours",
    "bound",
    "check",
    "networkx",
    "solve",
    "solve_many",
]

_log = logging.getLogger("antwarp")



def _find_highs() -> None:
    """Lets proofs use the HiGHS of the package `highsbox`, unless the user names another one."""
    found = importlib.util.find_spec("highsbox")
    for folder in (found.submodule_search_locations or []) if found else []:
        for file in sorted(pathlib.Path(folder, "highs_dist").glob("*/*highs.*")):
            if file.suffix in (".so", ".dylib", ".dll"):
                os.environ.setdefault("ANTWARP_HIGHS", str(file))


_find_highs()

# No thread may return to an interpreter that has ended, and a forked process has none of its parent's threads.
atexit.register(_native.end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_native.after_fork)


class Reading(TypedDict, total=False):
    """The options of `bound` and `check` that are passed by name; those of `solve` mean the same."""

    threads: int | None
    shape: str | None
    columns: str | None
    decimal: str | None
    no_header: bool | None
    degrees: bool | None
    directed: bool | None
    forbidden_from: float | None
    unrounded: bool | None
    weight: str | None


class Solver:
    """Solves with the same options again and again, and can be stopped from another thread.

    Args:
        callback: called up to ten times a second, in the thread that calls `solve`, with the `Progress` of the run.
            What it raises ends the run, and is raised by `solve`. Not called any more after Ctrl-C.
        options: see `solve`.

    Raises:
        OptionError: if an option is unknown, out of range or without effect.
    """

    def __init__(
        self, *, callback: Callable[[Progress], object] | None = None, **options: Unpack[Options]
    ) -> None:
        if callback is not None and not callable(callback):
            raise OptionError(f"`callback` must be a function of the progress, not {callback!r}")
        self._options = _native.Options(options)
        self._weight: str = options.get("weight") or "weight"
        self._callback = callback
        self._stop = _native.Stop()

    def stop(self) -> None:
        """Ends the runs of this solver, from any thread; each returns its best tour. Later ones end at once."""
        self._stop.set()

    def solve(
        self,
        x: Any,
        *,
        open: bool = False,
        start: Hashable = None,
        end: Hashable = None,
        fix: Iterable[tuple[Any, Any]] = (),
        forbid: Iterable[tuple[Any, Any]] = (),
        initial_tour: Sequence[Any] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        every: float | None = None,
        resume: str | os.PathLike[str] | None = None,
        certificate: str | os.PathLike[str] | None = None,
    ) -> Solution:
        """Finds a short tour; see `antwarp.solve`."""
        files = _native.Files(checkpoint, every, resume, certificate)
        begin = _time.perf_counter()
        session = _native.Session(self._options.threads)
        instance, labels = self._read(session, x)
        places = _Places(labels, instance.nodes)
        instance = places.shaped(session, instance, open, start, end, fix, forbid)
        initial = None if initial_tour is None else [places.of(place) for place in initial_tour]
        spent = _time.perf_counter() - begin
        outcome, why_cpu, lost = _native.solve(
            session, instance, self._options, files, self._stop, initial, spent, _logged(self._callback)
        )
        if why_cpu is not None:
            _log.info("solving on the CPU: %s", why_cpu)
        if labels is not None and not all(isinstance(label, int) for label in labels):
            outcome = outcome.named([str(label) for label in labels])
        solution = Solution(outcome, labels)
        for warning in solution.report["warnings"][len(instance.warnings) :]:
            _log.warning("%s", warning)
        if lost is not None:
            trouble = OSError(f"{lost}\nThe tour is the attribute `solution` of this error.")
            trouble.solution = solution  # type: ignore[attr-defined]
            raise trouble
        failure: str | None = solution.report["failure"]
        if failure is not None:
            error = BackendError(f"{failure}\nThe best tour so far is the attribute `solution` of this error.")
            error.solution = solution
            raise error
        if outcome.forbidden:
            (one, other), *more = outcome.forbidden
            name = labels or range(instance.nodes)
            others = f" and {len(more)} more" if more else ""
            raise NoTourError(
                f"no tour was found without a pair that has no road: {name[one]} to {name[other]}{others}", solution
            )
        return solution


    def _read(self, session: _native.Session, x: Any) -> _inputs.Input:
        read = _inputs.read(session, x, self._options, self._weight)
        if read.instance.reading is not None:
            _log.info("read %s", read.instance.reading)
        for warning in read.instance.warnings:
            _log.warning("%s", warning)
        return read


def _logged(callback: Callable[[Progress], object] | None) -> Callable[[Progress], object] | None:
    """Returns a callback that logs, too, if anybody reads the log."""
    if not _log.isEnabledFor(logging.DEBUG):
        return callback

    def call(progress: Progress) -> None:
        _log.debug("%.1f s: cost %s, bound %s", progress.seconds, progress.cost, progress.bound)
        if callback is not None:
            callback(progress)

    return call


class _Places:
    """Finds places by what the caller calls them."""

    def __init__(self, labels: Sequence[Hashable] | None, count: int) -> None:
        self._labels, self._count = labels, count
        self._found: dict[Hashable, int] | None = None

    def of(self, place: Any) -> int:
        if self._labels is None:
            if isinstance(place, bool) or not hasattr(place, "__index__") or not 0 <= place < self._count:
                raise OptionError(f"there is no place {place!r}: they are numbered from 0 to {self._count - 1}")
            return int(place)
        if self._found is None:
            self._found = {label: at for at, label in enumerate(self._labels)}
            if len(self._found) < len(self._labels):
                raise OptionError("several places have the same name: name them apart to choose some of them")
        try:
            return self._found[place]
        except (KeyError, TypeError):
            raise OptionError(f"there is no place {place!r}") from None

    def shaped(
        self,
        session: _native.Session,
        instance: _native.Instance,
        open: bool,
        start: Hashable,
        end: Hashable,
        fix: Iterable[tuple[Any, Any]],
        forbid: Iterable[tuple[Any, Any]],
    ) -> _native.Instance:
        """Returns the instance with tours of the shape that these arguments of `solve` ask for."""
        ends = (None if start is None else self.of(start), None if end is None else self.of(end))
        fixed, forbidden = self.pairs("fix", fix), self.pairs("forbid", forbid)
        if open or ends != (None, None) or fixed or forbidden:
            return instance.shaped(session, bool(open), ends, fixed, forbidden)
        return instance

    def pairs(self, option: str, pairs: Iterable[tuple[Any, Any]]) -> list[tuple[int, int]]:
        try:
            return [(self.of(one), self.of(other)) for one, other in pairs]
        except (TypeError, ValueError) as error:
            if isinstance(error, OptionError):
                raise
            raise OptionError(f"`{option}` must be pairs of places, such as [(0, 1)]") from None


def solve(
    x: Any,
    *,
    callback: Callable[[Progress], object] | None = None,
    open: bool = False,
    start: Hashable = None,
    end: Hashable = None,
    fix: Iterable[tuple[Any, Any]] = (),
    forbid: Iterable[tuple[Any, Any]] = (),
    initial_tour: Sequence[Any] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: float | None = None,
    resume: str | os.PathLike[str] | None = None,
    certificate: str | os.PathLike[str] | None = None,
    **options: Unpack[Options],
) -> Solution:
    """Finds a short tour: a round trip through all places.

    Args:
        x: what to solve. One of

            - an array of shape (n, 2) or (n, 3): places in the plane or in space, with Euclidean lengths;
            - an array of shape (n, n): the cost from each place (row) to each other (column), ints or floats; infinity
              or NaN where there is no road. The diagonal is ignored. Costs are directed if they are not symmetric;
            - lists of rows of the same shapes. Where n is 2 or 3, a square needs `shape`: "points" or "matrix";
            - a frame of pandas or polars with columns named x and y (and z), or lat and lon, by any common spelling:
              lengths of degrees are great-circle metres. Or a square frame whose columns are called like its index;
            - a graph of networkx: costs are the attribute `weight` of its edges, and pairs without an edge have no road;
            - the path of a file that `antwarp solve` reads: TSPLIB, CSV, JSON; or a name such as "E1k.0".
        callback: called up to ten times a second with the `Progress` of the run; see `Solver`.
        open: an open path instead of a closed tour.
        start: the place where the tour starts, called as in `Solution.tour`.
        end: the place where the path ends; it is then open.
        fix: pairs of places that the tour must join: from the first to the second, if costs are directed.
        forbid: pairs of places that the tour must not join.
        initial_tour: all places, in the order to start from.
        checkpoint: a file to which the run is written now and then, and at its end. It must not exist, unless the
            run continues from it.
        every: the seconds between checkpoints, by default 30.
        resume: such a file of the same input: its run goes on, with its settings, and with its limits if none are
            given. Limits count from its first start.
        certificate: a file to which the proof is written, if it is complete; `check` checks it. Implies `prove`.
        options: limits (`time` in seconds, with the reading of `x`; `iterations`; `stagnation`, in iterations; `target`,
            a cost in the unit of the input; 10 seconds if there are none, and neither a proof nor `descent_only` is asked
            for), the machine (`backend`, `gpus`, `threads`), `prove`, `bound`, the `algorithm` and its settings, such as
            `seed`; and how to read what has several meanings (`shape`, `columns`, `degrees`, `directed` and others), as
            `antwarp solve --help` describes them under the same names.

    Returns:
        the best tour until a limit was reached or Ctrl-C was pressed. A second Ctrl-C raises `KeyboardInterrupt`.

    Raises:
        InputError: if `x` or `resume` is malformed, cannot be read, is ambiguous or contradicts itself.
        OptionError: if an option is unknown, out of range or without effect, a place does not exist, `initial_tour` is
            no tour, so many `threads` cannot be started, or `checkpoint` exists or cannot be written.
        NoTourError: if every tour that was found has a pair without a road.
        BackendError: if there are no threads, no memory or no GPU that was asked for. If that is so only during the
            run, the best tour until then is its attribute `solution`.
        OSError: if `certificate` cannot be written. If that is known only at the end, the tour is its attribute
            `solution`.
    """
    solver = Solver(callback=callback, **options)
    return solver.solve(
        x,
        open=open,
        start=start,
        end=end,
        fix=fix,
        forbid=forbid,
        initial_tour=initial_tour,
        checkpoint=checkpoint,
        every=every,
        resume=resume,
        certificate=certificate,
    )


def bound(
    x: Any,
    *,
    open: bool = False,
    start: Hashable = None,
    end: Hashable = None,
    fix: Iterable[tuple[Any, Any]] = (),
    forbid: Iterable[tuple[Any, Any]] = (),
    initial_tour: Sequence[Any] | None = None,
    time: float | None = None,
    **options: Unpack[Reading],
) -> int | float:
    """Finds a lower bound: no tour costs less.

    Args:
        x: what `solve` takes, as `open`, `start`, `end`, `fix` and `forbid` are.
        initial_tour: a good tour, if one is known: cutting planes begin with it.
        time: the seconds, with the reading of `x`, in which the best bound is to be found: first by spanning trees, then
            by cutting planes. If not given, the bound of Held and Karp by spanning trees, 0.7 to 0.8 % below the
            shortest tour of random places.
        options: `threads`, and how to read what has several meanings, as in `solve`.

    Returns:
        the bound, in the unit of the input; infinity, if every tour has a pair without a road. After Ctrl-C, the bound
        until then; without one, that raises `KeyboardInterrupt`.

    Raises:
        InputError: if `x` is malformed, cannot be read, is ambiguous or contradicts itself, or has no bound: an open
            path of more than 3,000 places.
        OptionError: if an option is unknown or out of range, a place does not exist, `initial_tour` is no tour, so many
            `threads` cannot be started, or the time is too short for any bound.
        BackendError: if there are no threads or no memory.
    """
    begin = _time.perf_counter()
    Solver(time=time)  # Checks it.
    session, instance, places = _shaped("bound", x, open, start, end, fix, forbid, options)
    initial = None if initial_tour is None else [places.of(place) for place in initial_tour]
    spent = _time.perf_counter() - begin
    bound, method, told = _native.bound(session, instance, time, initial, spent)
    _log.info("bound %s by %s", bound, method)
    for text in told:
        _log.warning("%s", text)
    return bound


class Checked(NamedTuple):
    """What `check` found.

    Attributes:
        cost: the cost of the tour, or of the tour in the certificate.
        bound: no tour costs less, as the certificate proves; None without one.
        optimal: whether the certificate proves that no tour is shorter, to the resolution of costs.
    """

    cost: int | float
    bound: int | float | None
    optimal: bool


def check(
    x: Any,
    tour: Sequence[Any] | str | os.PathLike[str] | None = None,
    *,
    certificate: str | os.PathLike[str] | None = None,
    open: bool = False,
    start: Hashable = None,
    end: Hashable = None,
    fix: Iterable[tuple[Any, Any]] = (),
    forbid: Iterable[tuple[Any, Any]] = (),
    **options: Unpack[Reading],
) -> Checked:
    """Checks a tour, or a proof that `solve` wrote as `certificate`: every step of it, without trusting the solver.

    Args:
        x: what `solve` takes, as `open`, `start`, `end`, `fix` and `forbid` are.
        tour: all places in order, called as in `Solution.tour`; or the path of a file with a tour.
        certificate: the file of a proof, instead of a tour.
        options: `threads`, and how to read what has several meanings, as in `solve`.

    Raises:
        InputError: if a file cannot be read; if it is no tour of `x` that has this shape and only pairs with a road; or
            if the certificate proves nothing.
        OptionError: if an option is unknown or out of range, a place does not exist, or both or neither of `tour` and
            `certificate` are given.
    """
    if (tour is None) == (certificate is None):
        raise OptionError("give either a `tour` or a `certificate`")
    session, instance, places = _shaped("check", x, open, start, end, fix, forbid, options)
    if certificate is not None:
        return Checked(*_native.check_certificate(session, instance, certificate))
    if isinstance(tour, (str, os.PathLike)):
        order = _native.read_tour(session, instance, tour)
    else:
        order = [places.of(place) for place in tour or ()]
    return Checked(_native.check_tour(instance, order), None, False)


def _shaped(
    function: str,
    x: Any,
    open: bool,
    start: Hashable,
    end: Hashable,
    fix: Iterable[tuple[Any, Any]],
    forbid: Iterable[tuple[Any, Any]],
    options: Reading,
) -> tuple[_native.Session, _native.Instance, _Places]:
    """Reads what a function without a run takes."""
    unknown = set(options) - Reading.__annotations__.keys()
    if unknown:
        raise OptionError(f"`{function}` has no option `{min(unknown)}`")
    solver = Solver(**options)
    session = _native.Session(options.get("threads"))
    instance, labels = solver._read(session, x)
    places = _Places(labels, instance.nodes)
    return session, places.shaped(session, instance, open, start, end, fix, forbid), places


def networkx(G: Any, weight: str = "weight", **options: Any) -> list[Any]:
    """Finds a short round trip through all nodes of a graph, for networkx:
    `networkx.approximation.traveling_salesman_problem(G, method=antwarp.networkx)`.

    Args:
        G: the graph, complete or not.
        weight: the attribute of its edges that is their cost.
        options: those of `solve`.

    Returns:
        the nodes in order; the first one is also the last.

    Raises:
        Error: see `solve`.
    """
    tour = solve(G, **{"weight": weight, **options}).tour
    return tour + tour[:1]
