"""What a solution is made of, in a form that travels between processes."""

from __future__ import annotations

import os
import zlib
from typing import Any

from . import _native

_FACTS = ("order", "cost", "bound", "trace", "forbidden", "is_open", "is_symmetric", "is_on_globe", "places", "edge_costs")


class Outcome:
    """What `_native.Outcome` says, and what it would write, without the instance, which may be large."""

    order: list[int]
    cost: int | float
    bound: int | float | None
    trace: list[tuple[float, int | float]]
    forbidden: list[tuple[int, int]]
    is_open: bool
    is_symmetric: bool
    is_on_globe: bool
    places: list[tuple[float, float]] | None
    edge_costs: list[float]

    def __init__(self, facts: dict[str, Any], report: str, files: dict[str, bytes]) -> None:
        self.__dict__.update(facts)
        self._facts, self._report, self._files = facts, report, files

    @classmethod
    def of(cls, outcome: _native.Outcome | Outcome) -> Outcome:
        if isinstance(outcome, Outcome):
            return outcome
        formats = ("tour", "csv", "json", "svg", "html") + (("geojson", "gpx") if outcome.is_on_globe else ())
        files = {format: zlib.compress(outcome.contents(format)) for format in formats}
        return cls({name: getattr(outcome, name) for name in _FACTS}, outcome.report(), files)

    def __reduce__(self) -> tuple[type[Outcome], tuple[dict[str, Any], str, dict[str, bytes]]]:
        return Outcome, (self._facts, self._report, self._files)

    def report(self) -> str:
        return self._report

    def svg(self) -> str | None:
        return zlib.decompress(self._files["svg"]).decode() or None

    def contents(self, format: str) -> bytes:
        return zlib.decompress(self._files[format])

    def save(self, path: str | os.PathLike[str], format: str) -> None:
        _native.write_file(path, self.contents(format))
