"""The result of a run."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Sequence
from html import escape
from typing import Any

from . import _native, _pickled
from ._errors import InputError

_FORMATS = {f".{format}": format for format in ("tour", "csv", "json", "geojson", "gpx", "html", "svg")}


class Solution:
    """A tour, with what is known about it.

    Attributes:
        tour: the places in tour order: what the frame's index, the graph or the file calls them, else their
            numbers from 0. The tour returns from the last place to the first, unless it is an open path.
        order: the same places by their positions in the input, from 0.
        cost: the cost of the tour, in the unit of the input; metres for latitudes and longitudes. An int where
            all costs are whole numbers.
        bound: no tour costs less than this; None if nothing was proven.
        optimal: whether no tour is shorter: proven by this run to its `resolution`, or in the literature.
        resolution: costs of edges are rounded to multiples of this while searching; 0 if they are exact. `cost`
            itself is computed from the input, without that rounding.
        trace: every improvement: seconds since the start, and the cost then; without tours that have a pair without a road.
        seconds: how long the run took, with the reading of the input and the run that it continues.
        stopped_by: why it ended: "time", "iterations", "target", "published-optimum", "optimal",
            "optimal-rounded", "stagnation", "local-optimum", "interrupt", "settled" or "failure".
        report: all facts of the run, as `antwarp solve --json` writes them, without the tour and the trace.
    """

    def __init__(self, outcome: _native.Outcome | _pickled.Outcome, labels: Sequence[Hashable] | None) -> None:
        self._outcome = outcome
        self._labels = labels
        self.order: list[int] = outcome.order
        self.tour: list[Any] = list(self.order) if labels is None else [labels[place] for place in self.order]
        self.cost: int | float = outcome.cost
        self.bound: int | float | None = outcome.bound
        self.report: dict[str, Any] = json.loads(outcome.report())
        self.stopped_by: str = self.report["stopped_by"]
        self.seconds: float = self.report["seconds"]
        self.resolution: float = self.report["instance"]["resolution"] or 0.0

    @property
    def optimal(self) -> bool:
        is_proven = self.bound is not None and self.cost <= self.bound
        return is_proven or self.stopped_by in ("optimal", "optimal-rounded", "published-optimum")

    @property
    def trace(self) -> list[tuple[float, int | float]]:
        return self._outcome.trace

    def __len__(self) -> int:
        return len(self.order)

    def __repr__(self) -> str:
        known = ", optimal" if self.optimal else "" if self.bound is None else f", bound {self.bound}"
        return f"<antwarp.Solution: {len(self)} places, cost {self.cost}{known}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Solution):
            return NotImplemented
        return (self.tour, self.order, self.cost, self.report) == (other.tour, other.order, other.cost, other.report)

    def __hash__(self) -> int:
        return hash((self.cost, tuple(self.order)))

    def __reduce__(self) -> tuple[type[Solution], tuple[_pickled.Outcome, Sequence[Hashable] | None]]:
        labels = None if self._labels is None else list(self._labels)
        return Solution, (_pickled.Outcome.of(self._outcome), labels)

    def edges(self) -> list[tuple[Any, Any]]:
        """Returns the pairs of places that the tour joins, in its order."""
        ends = self.tour[1:] if self._outcome.is_open or len(self) == 1 else self.tour[1:] + self.tour[:1]
        return list(zip(self.tour, ends))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the tour to a file, which is replaced if it exists: .tour (TSPLIB), .csv (a place in each line), .json (all
        facts), .geojson, .gpx (a route for navigation devices), .html (a page with a map) or .svg.

        Raises:
            ValueError: if the name ends in none of these, there is no picture of places that have none, or .geojson and .gpx are
                asked for places that are not latitudes and longitudes.
            OSError: if the file cannot be written.
        """
        ending = os.path.splitext(os.fspath(path))[1].lower()
        if ending not in _FORMATS:
            raise ValueError(f"{os.fspath(path)}: the name must end in {', '.join(_FORMATS)}")
        if ending == ".svg":
            self._places("picture")
        if ending in (".geojson", ".gpx"):
            self._require_globe("GeoJSON" if ending == ".geojson" else "GPX")
        self._outcome.save(os.fspath(path), _FORMATS[ending])

    def _places(self, what: str) -> list[tuple[float, float]]:
        places = self._outcome.places
        if places is None:
            raise InputError(f"there is no {what} of costs alone: the places have no coordinates")
        return places

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draws the tour with matplotlib on `ax`, or on new axes, and returns them. `style` goes to `Axes.plot`.

        Raises:
            InputError: if the places have no coordinates.
        """
        places = self._places("plot")
        from matplotlib import pyplot

        if ax is None:
            ax = pyplot.subplots()[1]
        order = self.order if self._outcome.is_open else self.order + self.order[:1]
        points = [places[place] for place in order]
        ax.plot([x for x, _ in points], [y for _, y in points], **{"marker": ".", "linewidth": 1, **style})
        if not self._outcome.is_on_globe:
            ax.set_aspect("equal")
        ax.set_title(f"{len(self)} places, {self._shown(self.cost)}")
        return ax

    def _shown(self, cost: int | float) -> str:
        """Returns a cost in a few digits."""
        if self._outcome.is_on_globe:
            return f"{cost / 1000:,.1f} km"
        return f"cost {cost:,}" if isinstance(cost, int) else f"cost {cost:,.2f}" if cost >= 100 else f"cost {cost:.6g}"

    def _repr_svg_(self) -> str | None:
        return self._outcome.svg()

    def _repr_html_(self) -> str:
        rows = {
            "places": len(self),
            "cost": self.cost,
            "bound": "none" if self.bound is None else self.bound,
            "optimal": "proven" if self.optimal else "not proven",
            "stopped by": f"{self.stopped_by} after {self.seconds:.2f} s",
        }
        cells = "".join(f"<tr><th>{name}</th><td>{escape(str(value))}</td></tr>" for name, value in rows.items())
        return f"<table>{cells}</table>{self._outcome.svg() or ''}"

    def _require_globe(self, format: str) -> None:
        if not self._outcome.is_on_globe:
            raise InputError(f"{format} is for latitudes and longitudes, which this input does not have")

    def to_geojson(self) -> dict[str, Any]:
        """Returns the tour as a GeoJSON feature collection: a line, then a point for each place in tour order, with its `position`
        from 1, `name`, `leg` (the cost from the previous place) and `total`.

        Raises:
            InputError: if the places are not latitudes and longitudes.
        """
        self._require_globe("GeoJSON")
        collection: dict[str, Any] = json.loads(self._outcome.contents("geojson"))
        return collection

    def to_html(self) -> str:
        """Returns a page with a map of the tour and the course of the run. It needs no network."""
        return bytes(self._outcome.contents("html")).decode()

    def to_networkx(self) -> Any:
        """Returns the tour as a graph of networkx: directed if costs are, with its edges' costs as the attribute `weight`."""
        import networkx  # type: ignore[import-untyped, unused-ignore]

        graph = networkx.Graph() if self._outcome.is_symmetric else networkx.DiGraph()
        graph.add_nodes_from(self.tour)
        for (one, other), cost in zip(self.edges(), self._outcome.edge_costs):
            graph.add_edge(one, other, weight=cost)
        return graph
