"""What can be done with a result."""

from __future__ import annotations

import copy
import csv
import json
import logging
import math
import pickle
import xml.etree.ElementTree

import matplotlib
import networkx
import numpy
import pandas
import pytest

import antwarp
from common import random_points

matplotlib.use("Agg")

POINTS = random_points(9, seed=8)
CITIES = pandas.DataFrame(
    {"lat": [52.5, 48.1, 50.1, 53.5], "lon": [13.4, 11.6, 8.7, 9.9]}, index=["Berlin", "Munich", "Frankfurt", "Hamburg"]
)


def test_what_a_solution_says() -> None:
    solution = antwarp.solve(POINTS)
    assert len(solution) == 9 and "9 places" in repr(solution) and "optimal" in repr(solution)
    assert solution.bound == solution.cost and solution.stopped_by == "optimal"
    assert solution.seconds >= 0 and solution.trace[-1][1] == pytest.approx(solution.cost)
    assert solution.report["instance"]["nodes"] == 9 and solution.report["machine"]["backend"] == "cpu"
    edges = solution.edges()
    assert len(edges) == 9 and [edge[0] for edge in edges] == solution.tour and edges[-1][1] == solution.tour[0]
    assert numpy.array(POINTS)[solution.order].shape == (9, 2)


def test_a_single_place() -> None:
    solution = antwarp.solve([[1.0, 2.0]])
    assert solution.tour == [0] and solution.cost == 0 and solution.optimal
    assert solution.to_networkx().number_of_nodes() == 1
    assert "svg" in solution._repr_html_()
    assert len(solution.plot().lines) == 1


def test_pictures() -> None:
    solution = antwarp.solve(POINTS)
    picture = solution._repr_svg_()
    assert picture is not None and xml.etree.ElementTree.fromstring(picture).tag.endswith("svg")
    html = solution._repr_html_()
    assert html.startswith("<table>") and picture in html
    axes = solution.plot(color="black")
    x, y = axes.lines[0].get_data()
    assert len(x) == 10 and x[0] == x[-1] == pytest.approx(POINTS[solution.tour[0]][0])
    assert solution.plot(ax=axes) is axes and len(axes.lines) == 2
    opened = antwarp.solve(POINTS, open=True)
    assert len(opened.plot().lines[0].get_data()[0]) == 9


def test_costs_have_no_picture(tmp_path) -> None:  # type: ignore[no-untyped-def]
    solution = antwarp.solve(numpy.ones((5, 5)))
    assert solution._repr_svg_() is None and "svg" not in solution._repr_html_()
    for draw in [solution.plot, solution.to_geojson, lambda: solution.save(tmp_path / "tour.svg")]:
        with pytest.raises(antwarp.InputError):
            draw()


def test_geojson() -> None:
    solution = antwarp.solve(CITIES)
    collection = json.loads(json.dumps(solution.to_geojson()))
    line, *points = collection["features"]
    assert line["geometry"]["coordinates"][0] == line["geometry"]["coordinates"][-1]
    assert [point["properties"]["name"] for point in points] == solution.tour
    assert [point["properties"]["position"] for point in points] == list(range(1, len(points) + 1))
    for point in points:
        lat, lon = CITIES.loc[point["properties"]["name"]]
        assert point["geometry"]["coordinates"] == pytest.approx([lon, lat])
    with pytest.raises(antwarp.InputError, match="latitudes"):
        antwarp.solve(POINTS).to_geojson()


def test_graphs_of_tours() -> None:
    solution = antwarp.solve(POINTS)
    graph = solution.to_networkx()
    assert not graph.is_directed() and graph.size("weight") == pytest.approx(solution.cost)
    assert all(degree == 2 for _, degree in graph.degree) and networkx.is_connected(graph)
    directed = antwarp.solve([[0, 1, 9, 9], [9, 0, 1, 9], [9, 9, 0, 1], [1, 9, 9, 0]]).to_networkx()
    assert directed.is_directed() and directed.size("weight") == 4 and directed.has_edge(0, 1)


def test_files(tmp_path) -> None:  # type: ignore[no-untyped-def]
    solution = antwarp.solve(CITIES)
    for ending in ["tour", "csv", "json", "geojson", "gpx", "html", "svg"]:
        solution.save(tmp_path / f"a.{ending}")
        solution.save(str(tmp_path / f"b.{ending.upper()}"))
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending.upper()}").read_bytes()
    numbers = [int(line) - 1 for line in (tmp_path / "a.tour").read_text().split() if line.isdecimal()]
    assert [number for number in numbers if number >= 0][-4:] == solution.order
    rows = list(csv.DictReader((tmp_path / "a.csv").open()))
    assert float(rows[-1]["total"]) == pytest.approx(solution.cost)
    report = json.loads((tmp_path / "a.json").read_text())
    assert report["cost"] == solution.cost and [node - 1 for node in report["tour"]] == solution.order
    # All of them have the names of the frame.
    assert [row["name"] for row in rows[:-1]] == report["names"] == solution.tour
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == solution.to_html()
    assert all(name in (tmp_path / f"a.{ending}").read_text() for name in solution.tour for ending in ["gpx", "svg", "html"])
    for ending in ["geojson", "gpx"]:
        with pytest.raises(antwarp.InputError, match="latitudes"):
            antwarp.solve(POINTS).save(tmp_path / f"c.{ending}")
    for name in ["tour", "a.png", "a.tour.gz"]:
        with pytest.raises(ValueError, match="must end in"):
            solution.save(tmp_path / name)
    with pytest.raises(OSError, match="cannot write"):
        solution.save(tmp_path / "no folder" / "a.tour")


def test_what_is_proven() -> None:
    solution = antwarp.solve(random_points(60, seed=1), prove=True)
    assert solution.optimal and solution.bound is not None
    assert solution.bound == pytest.approx(solution.cost, rel=1e-6) and solution.bound <= solution.cost
    assert antwarp.solve(random_points(60, seed=1), prove=False, bound=False, time=0.2).bound is None


def test_warnings_and_progress_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="antwarp"):
        antwarp.solve(random_points(3000, seed=1), time=0.5)
        antwarp.solve(pandas.DataFrame({"x": [52.5, 48.1, -9999], "y": [13.4, 11.6, 8.7]}))
    assert "cost" in caplog.text and "read 3 places" in caplog.text
    assert any(record.levelno == logging.WARNING for record in caplog.records)


def test_the_cost_is_that_of_the_input_not_of_rounded_edges() -> None:
    points = random_points(200, seed=9)
    solution = antwarp.solve(points, iterations=5)
    exact = math.fsum(math.dist(points[a], points[b]) for a, b in solution.edges())
    assert solution.cost == pytest.approx(exact, rel=1e-14) and solution.resolution > 0


def test_errors_can_be_pickled() -> None:
    with pytest.raises(antwarp.InputError) as raised:
        antwarp.solve([])
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


@pytest.mark.parametrize("x", [POINTS, CITIES, "E1k.0"])
def test_solutions_travel_between_processes(x: object, tmp_path) -> None:  # type: ignore[no-untyped-def]
    solution = antwarp.solve(x, iterations=1)
    other = pickle.loads(pickle.dumps(solution))
    assert other == solution and hash(other) == hash(solution) and repr(other) == repr(solution)
    assert (other.bound, other.optimal, other.trace) == (solution.bound, solution.optimal, solution.trace)
    assert other.edges() == solution.edges() and other._repr_html_() == solution._repr_html_()
    assert list(other.to_networkx().edges(data=True)) == list(solution.to_networkx().edges(data=True))
    assert len(other.plot().lines) == 1
    assert other.to_html() == solution.to_html()
    for ending in (".tour", ".csv", ".json", ".svg", ".html"):
        solution.save(tmp_path / f"one{ending}")
        other.save(tmp_path / f"other{ending}")
        assert (tmp_path / f"one{ending}").read_bytes() == (tmp_path / f"other{ending}").read_bytes()
    # Once more, and as copies.
    assert pickle.loads(pickle.dumps(other)) == copy.copy(solution) == copy.deepcopy(solution) == solution
    assert solution != antwarp.solve([[0, 0], [3, 4], [3, 0], [0, 4]]) and solution != solution.tour


def test_solutions_of_costs_travel_too() -> None:
    solution = antwarp.solve([[0, 3, 9], [1, 0, 5], [4, 2, 0]], shape="matrix")
    other = pickle.loads(pickle.dumps(solution))
    assert other == solution and other._repr_svg_() is None and other.to_networkx().is_directed()
    with pytest.raises(antwarp.InputError, match="no plot"):
        other.plot()


def test_errors_with_a_solution_can_be_pickled() -> None:
    # Roads lead only from the first two places to the other three.
    costs = [[1 if (a < 2) != (b < 2) else math.inf for b in range(5)] for a in range(5)]
    with pytest.raises(antwarp.NoTourError) as raised:
        antwarp.solve(costs)
    other = pickle.loads(pickle.dumps(raised.value))
    assert str(other) == str(raised.value) and other.solution == raised.value.solution
