"""Recognizes what is to be solved, and hands it to the readers in Rust."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from . import _native
from ._errors import InputError

# Square arrays with so many rows may be places as well.
_MAY_BE_PLACES = (2, 3)


class Input(NamedTuple):
    """An instance, and what its places are called; None: they are numbered from 0."""

    instance: _native.Instance
    labels: Sequence[Hashable] | None


def read(session: _native.Session, x: Any, options: _native.Options, weight: str) -> Input:
    """Makes an instance of anything that `antwarp.solve` takes; `weight` is the attribute of a graph's edges with costs."""
    if isinstance(x, (str, os.PathLike)):
        if x == "-" or (os.path.exists(x) and not os.path.isfile(x) and not os.path.isdir(x)):
            raise InputError(f"{x}: it may have to be waited for: give a file")
        instance = _native.Instance.open(session, os.fspath(x), options)
        return Input(instance, _labels_of_file(instance))
    if isinstance(x, (bytes, bytearray, memoryview)):
        raise InputError(f"{type(x).__name__}: bytes are neither places nor costs: give the path of a file")
    if hasattr(x, "adj") and hasattr(x, "nodes") and hasattr(x, "is_directed"):
        return _graph(session, x, options, weight)
    if hasattr(x, "columns") and (hasattr(x, "to_csv") or hasattr(x, "write_csv")):
        return _frame(session, x, options)
    if hasattr(x, "toarray") and hasattr(x, "nnz"):
        raise InputError(
            "sparse matrix: it does not say whether a pair that is left out costs nothing or has no road: "
            "give a dense array, with infinity where there is no road"
        )
    if hasattr(x, "__array__") or hasattr(x, "__array_interface__"):
        return Input(_array(session, x, options), None)
    return Input(_rows(session, x, options), None)


def _labels_of_file(instance: _native.Instance) -> Sequence[Hashable]:
    return instance.names or instance.ids


def numbers_of(name: str, x: Any) -> Any:
    """Returns what has numbers as an array of numpy."""
    import numpy

    if isinstance(x, numpy.ma.MaskedArray) and numpy.any(x.mask):
        raise InputError(f"{name}: some entries are masked: fill them (`x.filled(numpy.inf)` for no road)")
    try:
        array = numpy.asarray(x)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{name}: {error}: give an array of numbers") from error
    if array.dtype.kind not in "iuf":
        raise InputError(f"{name}: the dtype is {array.dtype}: give numbers, such as `x.astype(float)`")
    return array


def costs_of(array: Any) -> Any:
    """Returns an array of costs as whole numbers of 64 bits, or as floats."""
    # Unsigned integers of 64 bits may not fit signed ones.
    is_whole = array.dtype.kind == "i" or (array.dtype.kind == "u" and array.dtype.itemsize < 8)
    return _as(array, "int64" if is_whole else "float64")


def _array(session: _native.Session, x: Any, options: _native.Options, name: str = "array") -> _native.Instance:
    """Reads an array of shape (n, 2), (n, 3) or (n, n)."""
    array = numbers_of(name, x)
    if array.ndim != 2:
        raise InputError(
            f"{name}: the shape is {array.shape}: give an array of shape (n, 2) with a place in each row, "
            "or of shape (n, n) with costs"
        )
    if is_matrix(name, array.shape, options):
        return _native.Instance.matrix(session, name, costs_of(array), options)
    chosen = coordinates(name, array.shape[1], options)
    if chosen is not None:
        array = array[:, chosen]
    return _native.Instance.points(session, name, _as(array, "float64"), is_degrees(options))


def _rows(session: _native.Session, x: Any, options: _native.Options) -> _native.Instance:
    """Reads rows of numbers as an array of the same shape."""
    name = type(x).__name__
    if isinstance(x, (dict, set, frozenset)) or not hasattr(x, "__iter__"):
        raise InputError(f"{name}: give an array, a list of rows, a frame, a graph or the path of a file")
    rows = list(x)
    first = rows[0] if rows else ()
    if isinstance(first, (str, bytes, dict, set, frozenset)) or not hasattr(first, "__len__"):
        raise InputError(f"{name}: row 0 is {first!r}: give a list of rows, such as [[0, 0], [3, 4]]")
    if is_matrix(name, (len(rows), len(first)), options):
        return _native.Instance.matrix(session, name, rows, options)
    chosen = coordinates(name, len(first), options)
    if chosen is not None:
        rows = [[row[column] for column in chosen] for row in rows]
    return _native.Instance.points(session, name, rows, is_degrees(options))


def is_matrix(name: str, shape: tuple[int, int], options: _native.Options) -> bool:
    """Returns whether an array of this shape has costs; else it has places."""
    rows, columns = shape
    if rows == 0 or columns == 0:
        raise InputError(f"{name}: the shape is {shape}: give at least one place")
    if options.shape == "edges":
        raise InputError(f'{name}: `shape="edges"` is for files and frames: give a square matrix of costs')
    if options.shape is not None or options.columns or options.degrees:
        return options.shape == "matrix"
    if rows == columns and rows in _MAY_BE_PLACES:
        raise InputError(
            f"{name}: the {rows} rows of {columns} columns may be costs or places: "
            'choose: `shape="matrix"` for costs; `shape="points"` for places'
        )
    return rows == columns


def is_degrees(options: _native.Options) -> bool:
    return any(role == "lat" for role, _ in options.columns)


def coordinates(name: str, width: int, options: _native.Options) -> list[int] | None:
    """Returns the columns of an array that the options choose, from 0; None if they choose none."""
    roles = dict(options.columns)
    if options.degrees and not is_degrees(options):
        raise InputError(
            f"{name}: `degrees` needs to know which column is the latitude: "
            '`columns="lat=1,lon=2"`, or `columns="lat=2,lon=1"`'
        )
    if not roles:
        return None
    wanted = ["lat", "lon"] if is_degrees(options) else ["x", "y", "z"][: max(2, len(roles))]
    chosen = [int(column) - 1 for column in map(roles.get, wanted) if column is not None and column.isdecimal()]
    if set(roles) != set(wanted) or len(chosen) < len(wanted) or not all(0 <= at < width for at in chosen):
        raise InputError(
            f"{name}: `columns` must give each coordinate by the number of its column, from 1 to {width}: "
            '`columns="x=1,y=2"`, or `columns="lat=1,lon=2"`'
        )
    return chosen


def _as(array: Any, dtype: str) -> Any:
    """Returns the array itself, if it has this type already."""
    return array.astype(dtype, copy=False)


def _frame(session: _native.Session, x: Any, options: _native.Options) -> Input:
    """Reads a frame of pandas or polars, as the file is read that it would be written to."""
    is_pandas = hasattr(x, "to_csv")
    labels: Sequence[Hashable] | None = x.index.tolist() if is_pandas else None
    if labels is not None and x.shape[0] == x.shape[1] and x.shape[0] > 1 and labels == x.columns.tolist():
        if not options.columns and options.shape in (None, "matrix"):
            return Input(_array(session, _matrix_of(x), options, "frame"), labels)
    if is_pandas:
        numbers = x.select_dtypes("number")
        text: str = numbers.to_csv(index=False)
    else:
        numbers = x.select([column for column in x.columns if x[column].dtype.is_numeric()])
        text = numbers.write_csv()
    others = [str(column) for column in x.columns if column not in set(numbers.columns)]
    if x.shape[0] == 0 or numbers.shape[1] == 0:
        raise InputError(f"frame: it has no rows of numbers: {_not_numbers(others)}")
    try:
        instance = _native.Instance.parse(session, "frame", text.encode(), options)
    except InputError as error:
        if others:
            raise InputError(f"{error}\n{_not_numbers(others)}") from None
        raise
    # In a list of edges, the rows are no places.
    is_by_row = instance.nodes == x.shape[0] and (instance.has_places or numbers.shape[1] >= instance.nodes)
    if not is_by_row:
        return Input(instance, _labels_of_file(instance))
    return Input(instance, labels)


def _matrix_of(x: Any) -> Any:
    """Returns the values of a frame; numbers, if all its columns are."""
    are_numbers = all(dtype.kind in "iuf" for dtype in x.dtypes)
    return x.to_numpy(dtype="float64", na_value=float("nan")) if are_numbers else x.to_numpy()


def _not_numbers(names: list[str]) -> str:
    listed = ", ".join(repr(name) for name in names[:8])
    if not names:
        return "give a frame with columns x and y, or lat and lon"
    return f"these columns are not numbers and were left out: {listed}; convert them: `x.astype(float)`"


def _graph(session: _native.Session, x: Any, options: _native.Options, weight: str) -> Input:
    """Reads a graph of networkx; pairs without an edge have no road."""
    import networkx  # type: ignore[import-untyped, unused-ignore]

    nodes = list(x.nodes)
    if not nodes:
        raise InputError("graph: it has no nodes: give at least one")
    for one, other, cost in x.edges(data=weight):
        if cost is None:
            raise InputError(
                f"graph: the edge from {one!r} to {other!r} has no attribute {weight!r}: "
                "name another one, such as `weight=\"length\"`"
            )
    try:
        costs = networkx.to_numpy_array(
            x, nodes, weight=weight, multigraph_weight=min, nonedge=float("inf"), dtype="float64"
        )
    except (TypeError, ValueError) as error:
        raise InputError(f"graph: {error}: give numbers as {weight!r}") from error
    if len(nodes) == 1:
        costs[0, 0] = 0
    instance = _native.Instance.matrix(session, "graph", costs, options)
    return Input(instance, nodes)
