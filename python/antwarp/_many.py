"""Many small instances in one call."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _inputs, _native
from ._errors import Error, InputError, OptionError

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

_log = logging.getLogger("antwarp")

_MOST_EFFORT = 1_000_000


class Tours(NamedTuple):
    """The tours of many instances.

    Attributes:
        tours: an array of shape (k, n), where row i has the places of instance i in the order of its tour, by their
            positions in the input, from 0; or a list of k arrays, if the instances have different numbers of places. -1
            where an instance was not solved because Ctrl-C was pressed.
        costs: an array of shape (k,), in the unit of the input: NaN where an instance was not solved, infinite where
            every tour that was found has a pair without a road.
    """

    tours: NDArray[numpy.int64] | list[NDArray[numpy.int64]]
    costs: NDArray[numpy.float64]


def solve_many(instances: Any, *, effort: int = 10, seed: int = 1, **options: Any) -> Tours:
    """Finds short round trips of many small instances, of up to 1,024 places each (512 if costs are directed).

    A thread, or a warp of a GPU, solves one instance after the other. An instance of up to 12 places is solved to its
    optimum. Instances of the plane can be solved on a GPU, all others on CPU threads. With the same seed and effort the
    tours are the same on each.

    Args:
        instances: an array of shape (k, n, 2) or (k, n, 3) with places, or of shape (k, n, n) with costs; or a list of
            anything that `antwarp.solve` takes.
        effort: how thoroughly to search: the kicks of a tour for each of its places. 0: local optima.
        seed: the seed of all random numbers.
        options: `time`, in seconds, for the reading and all instances together: those that have not been started by then
            get a local optimum; by default there is no limit. `backend`, `gpus`, `threads`, and how to read the
            instances, as for `antwarp.solve`.

    Returns:
        the tours and their costs. After Ctrl-C, those found until then; a second Ctrl-C raises `KeyboardInterrupt`.

    Raises:
        InputError: if an instance is malformed or too large; the message has its index, from 0.
        OptionError: if an option is unknown or out of range, or so many `threads` cannot be started.
        BackendError: if there are no threads, no memory or no GPU that was asked for.
    """
    begin = time.perf_counter()
    own = _options()
    unknown = sorted(set(options).difference(own))
    if unknown:
        raise OptionError(f"`{unknown[0]}` is no option of solve_many: it has effort, seed, {', '.join(own)}")
    effort = _whole("effort", effort, _MOST_EFFORT)
    seed = _whole("seed", seed, 2**64 - 1)
    checked = _native.Options(options)
    session = _native.Session(checked.threads)
    batch = _read(session, instances, checked, options.get("weight") or "weight")
    spent = time.perf_counter() - begin
    tours, costs, why_cpu = _native.solve_many(session, batch, checked, (effort, seed), spent)
    if why_cpu is not None:
        _log.info("solving on the CPU: %s", why_cpu)
    return Tours(tours, costs)


def _options() -> list[str]:
    """Returns the options of `antwarp.solve` that have the same meaning here."""
    from . import Reading  # The package imports this module first.

    return sorted({"backend", "gpus", "time", *Reading.__annotations__})


def _whole(name: str, value: Any, most: int) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 0 <= value <= most:
        raise OptionError(f"`{name}` must be a whole number from 0 to {most}, not {value!r}")
    return int(value)


def _read(session: _native.Session, x: Any, options: _native.Options, weight: str) -> _native.Batch:
    """Makes instances of an array of three dimensions, or of each item of a list."""
    if isinstance(x, (str, bytes, dict, set, frozenset)) or hasattr(x, "adj") or hasattr(x, "columns"):
        raise InputError(f"{type(x).__name__}: this is one instance: give a list of instances, or use antwarp.solve")
    if (hasattr(x, "__array__") or hasattr(x, "__array_interface__")) and getattr(x, "ndim", 3) != 1:
        return _array(session, x, options)
    if not hasattr(x, "__iter__"):
        raise InputError(f"{type(x).__name__}: give an array of shape (k, n, 2), or a list of instances")
    made = []
    for index, one in enumerate(x):
        try:
            made.append(_inputs.read(session, one, options, weight).instance)
        except Error as error:
            raise _native.of_index(index, error) from error
    return _native.Batch.of(made)


def _array(session: _native.Session, x: Any, options: _native.Options) -> _native.Batch:
    array = _inputs.numbers_of("array", x)
    if array.ndim != 3:
        raise InputError(
            f"array: the shape is {array.shape}: give an array of shape (k, n, 2) with k instances of n places, "
            "or of shape (k, n, n) with costs"
        )
    count, rows, columns = array.shape
    if count == 0:
        return _native.Batch.of([])
    if _inputs.is_matrix("array", (rows, columns), options):
        return _native.Batch.matrices(session, _inputs.costs_of(array), options)
    chosen = _inputs.coordinates("array", columns, options)
    if chosen is not None:
        array = array[:, :, chosen]
    return _native.Batch.points(session, array.astype("float64", copy=False), _inputs.is_degrees(options))
