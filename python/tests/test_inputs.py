"""Everything that can be given to `antwarp.solve`, right and wrong."""

from __future__ import annotations

import decimal
import fractions
import math
import random
import warnings

import networkx
import numpy
import pandas
import polars
import pytest

import antwarp
from common import INF, euclidean, length, random_points, shortest


def check(solution: antwarp.Solution, costs: list[list[float]], expected: float | None = None) -> None:
    """Checks that a tour is one, costs what it says, and is the shortest."""
    assert sorted(solution.order) == list(range(len(costs)))
    assert solution.cost == pytest.approx(length(costs, solution.order), rel=1e-9, abs=1e-9)
    assert solution.cost == pytest.approx(shortest(costs) if expected is None else expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("n", range(1, 9))
@pytest.mark.parametrize("dimensions", [2, 3])
def test_places_against_brute_force(n: int, dimensions: int) -> None:
    points = random_points(n, seed=n, dimensions=dimensions)
    costs = euclidean(points)
    for x in [points, numpy.array(points), tuple(map(tuple, points))]:
        solution = antwarp.solve(x, shape="points")
        check(solution, costs)
        assert solution.optimal and isinstance(solution.cost, float)
        assert solution.tour == solution.order


@pytest.mark.parametrize("n", range(1, 9))
@pytest.mark.parametrize("kind", ["symmetric", "directed", "decimals", "negative", "real"])
def test_costs_against_brute_force(n: int, kind: str) -> None:
    draw = random.Random(n)
    value = {
        "symmetric": lambda: draw.randrange(100),
        "directed": lambda: draw.randrange(100),
        "decimals": lambda: draw.randrange(10_000) / 100,
        "negative": lambda: draw.randrange(-50, 50),
        "real": draw.random,
    }[kind]
    costs = [[value() for _ in range(n)] for _ in range(n)]
    if kind == "symmetric":
        costs = [[costs[min(i, j)][max(i, j)] for j in range(n)] for i in range(n)]
    for x in [costs, numpy.array(costs), numpy.asfortranarray(costs)]:
        solution = antwarp.solve(x, shape="matrix")
        check(solution, costs)
        is_whole = kind not in ("decimals", "real")
        assert isinstance(solution.cost, int) == (is_whole or n == 1 and solution.resolution == 0)
    # Decimals are exact: so is their sum, but for the last digit of a float.
    if kind == "decimals" and n > 1:
        assert solution.resolution == 0 and solution.cost == round(solution.cost, 2)
    if kind == "real" and n > 1:
        assert 0 < solution.resolution < 1e-8


def test_larger_instances_are_proven() -> None:
    costs = euclidean(random_points(12, seed=3))
    solution = antwarp.solve(costs, prove=True)
    assert solution.optimal and solution.bound == pytest.approx(solution.cost, rel=1e-6)
    assert sorted(solution.tour) == list(range(12))


@pytest.mark.parametrize("missing", [INF, math.nan])
def test_pairs_without_a_road(missing: float) -> None:
    draw = random.Random(7)
    for _ in range(30):
        n = draw.randrange(4, 8)
        costs = [[draw.randrange(1, 50) if draw.random() < 0.6 else INF for _ in range(n)] for _ in range(n)]
        given = [[missing if cost == INF else cost for cost in row] for row in costs]
        expected = shortest(costs)
        for x in [given, numpy.array(given)]:
            if not any(cost < INF for i, row in enumerate(costs) for j, cost in enumerate(row) if i != j):
                continue
            if expected < INF:
                check(antwarp.solve(x), costs, expected)
                continue
            with pytest.raises(antwarp.NoTourError) as raised:
                antwarp.solve(x)
            assert sorted(raised.value.solution.order) == list(range(n))


def test_the_type_of_numbers_does_not_matter() -> None:
    costs = [[abs(i - j) * 3 for j in range(6)] for i in range(6)]
    expected = shortest(costs)
    for dtype in ["int8", "uint8", "int16", "int32", "int64", "uint64", "float16", "float32", "float64", ">f8", ">i4"]:
        check(antwarp.solve(numpy.array(costs, dtype=dtype)), costs, expected)
    for number in [decimal.Decimal, fractions.Fraction, numpy.int32, numpy.float32]:
        check(antwarp.solve([[number(cost) for cost in row] for row in costs]), costs, expected)
    large = numpy.array(costs, dtype="uint64") * 2**60
    assert antwarp.solve(large).cost == pytest.approx(expected * 2.0**60)


def test_arrays_of_any_layout_are_read_and_not_changed() -> None:
    points = numpy.array(random_points(8, seed=1))
    expected = shortest(euclidean(points))
    wide = numpy.zeros((16, 6))
    wide[::2, ::3] = points
    frozen = points.copy()
    frozen.flags.writeable = False
    bytes_ = numpy.frombuffer(b"\0" + points.tobytes(), dtype="u1")[1:]
    unaligned = bytes_.view("f8").reshape(8, 2)
    for x in [wide[::2, ::3], numpy.asfortranarray(points), frozen, points[::-1][::-1], unaligned]:
        before = x.copy()
        assert antwarp.solve(x).cost == pytest.approx(expected)
        assert (x == before).all()
    costs = numpy.array(euclidean(points))
    costs.flags.writeable = False
    assert antwarp.solve(costs.T).cost == pytest.approx(expected)
    assert antwarp.solve(numpy.matrix(costs)).cost == pytest.approx(expected)
    assert antwarp.solve(numpy.ma.array(costs)).cost == pytest.approx(expected)


@pytest.mark.parametrize(
    "x, message",
    [
        (numpy.zeros(4), "shape is"),
        (numpy.float64(3), "shape is"),
        (numpy.zeros((2, 2, 2)), "shape is"),
        (numpy.zeros((0, 2)), "at least one place"),
        (numpy.zeros((5, 0)), "at least one place"),
        (numpy.zeros((5, 7)), "5 rows and 7 columns"),
        (numpy.zeros((7, 1)), "7 rows and 1 columns"),
        (numpy.array([["1", "2"]] * 5), "dtype"),
        (numpy.array([[1, None]] * 5), "dtype is object"),
        (numpy.array([[1, 2j]] * 5), "dtype is complex"),
        (numpy.array([[True, False]] * 5), "dtype is bool"),
        (numpy.zeros((5, 2), dtype="M8[s]"), "dtype"),
        (numpy.zeros(5, dtype=[("x", "f8"), ("y", "f8")]), "dtype"),
        (numpy.array([[0, 1], [math.nan, 2], [3, 3]]), "node 1 .*not a finite number"),
        (numpy.array([[0, 1], [3, 3], [INF, 2]]), "node 2 .*not a finite number"),
        (numpy.ma.array(numpy.ones((5, 2)), mask=numpy.eye(5, 2)), "masked"),
        (numpy.full((4, 4), INF), "every pair"),
        (numpy.full((4, 4), -INF), "from 0 to 1"),
        (numpy.zeros((2, 2)), 'choose: `shape="matrix"`'),
        (numpy.zeros((3, 3)), 'choose: `shape="matrix"`'),
        ([], "at least one place"),
        ([[]], "at least one place"),
        ([[], []], "at least one place"),
        ([1, 2, 3], "row 0 is 1"),
        (["a", "b"], "row 0 is 'a'"),
        ([[1, 2], [3], [4, 5]], "row 1 has 1 values"),
        ([[1, 2], 7, [3, 4]], "row 1 is 7"),
        ([[1, 2], [3, "4"], [5, 6]], "row 1 has '4' in column 1"),
        ([[1, 2], [3, None], [5, 6]], "row 1 has None in column 1"),
        ([[1, 2], [3, True], [5, 6]], "row 1 has True in column 1"),
        ([[1, 2], [3, 4j], [5, 6]], "row 1 has 4j in column 1"),
        ([[[1], [2]], [[1], [2]], [[3], [4]]], r"row 0 has \[1\]"),
        ([[0, 1], [math.nan, 2], [3, 3]], "node 1 .*not a finite number"),
        ([["a", 1, 2]] * 5, "row 0 has 'a' in column 0"),
        ({"x": [1, 2]}, "give an array"),
        ({1, 2}, "give an array"),
        (None, "give an array"),
        (5, "give an array"),
        (object(), "give an array"),
        (b"1,2\n3,4\n", "bytes"),
        ("there is no such file.tsp", "cannot read"),
        ("-", "give a file"),
        ("/dev/stdin", "give a file|cannot read"),
        ("", "cannot read"),
        ("nul\0", "cannot read"),
    ],
)
def test_malformed_input_is_refused_with_a_remedy(x: object, message: str) -> None:
    with pytest.raises(antwarp.InputError, match=message) as raised:
        antwarp.solve(x, time=0.1)
    assert isinstance(raised.value, ValueError) and isinstance(raised.value, antwarp.Error)


def test_what_does_not_fit_memory_is_refused() -> None:
    for x in [
        numpy.broadcast_to(0.0, (10**6, 10**6)),
        numpy.broadcast_to(1, (10**6, 10**6)),
        numpy.broadcast_to(0.0, (2 * 10**9, 2)),
        numpy.broadcast_to(0.0, (10**10, 2)),
    ]:
        with pytest.raises(antwarp.InputError, match="main memory|cannot be solved"):
            antwarp.solve(x)


def test_rows_that_raise_let_it_through() -> None:
    class Row:
        def __len__(self) -> int:
            return 2

        def __iter__(self):  # type: ignore[no-untyped-def]
            yield 1.0
            raise KeyError("in the middle")

    with pytest.raises(KeyError, match="in the middle"):
        antwarp.solve([Row(), Row()], shape="points")

    class Array:
        def __array__(self, *_: object, **__: object) -> None:
            raise RuntimeError("no array today")

    with pytest.raises(antwarp.InputError, match="no array today"):
        antwarp.solve(Array())


def test_columns_of_arrays_can_be_chosen() -> None:
    degrees = [[13.4, 52.5], [11.6, 48.1], [8.7, 50.1], [9.9, 53.5]]
    one = antwarp.solve(numpy.array(degrees), columns="lon=1,lat=2")
    other = antwarp.solve([row[::-1] for row in degrees], columns="lat=1,lon=2", degrees=True)
    assert one.cost == other.cost and 1e6 < one.cost < 2e6
    wide = [[7, x, 9, y] for x, y in degrees]
    assert antwarp.solve(wide, columns="x=2,y=4").cost == pytest.approx(shortest(euclidean(degrees)))
    for options in [{"degrees": True}, {"columns": "lat=1,lon=9"}, {"columns": "x=1"}, {"columns": "x=one,y=2"}]:
        with pytest.raises(antwarp.InputError, match='columns="'):
            antwarp.solve(degrees, **options)
    with pytest.raises(antwarp.InputError, match="latitude"):
        antwarp.solve([[100, 0], [0, 0], [1, 1]], columns="lat=1,lon=2", shape="points")


def test_directed_and_forbidden_costs() -> None:
    costs = [[0, 1, 2, 999], [1, 0, 999, 2], [2, 999, 0, 1], [999, 2, 1, 0]]
    assert antwarp.solve(costs, forbidden_from=999).cost == 6
    assert antwarp.solve(numpy.array(costs), forbidden_from=999).cost == 6
    assert antwarp.solve(costs, directed=True).cost == 6


PLACES = {"lat": [52.5, 48.1, 50.1, 53.5], "lon": [13.4, 11.6, 8.7, 9.9]}
CITIES = ["Berlin", "Munich", "Frankfurt", "Hamburg"]


def test_frames_are_read_by_their_columns() -> None:
    frame = pandas.DataFrame({**PLACES, "name": CITIES}, index=CITIES)
    solution = antwarp.solve(frame)
    assert sorted(solution.tour) == sorted(CITIES)
    assert [CITIES[place] for place in solution.order] == solution.tour
    assert antwarp.solve(polars.DataFrame({**PLACES, "name": CITIES})).cost == solution.cost
    indexed = frame.set_index([frame["name"], frame["lat"]])
    assert set(antwarp.solve(indexed).tour) == set(zip(CITIES, PLACES["lat"]))
    plane = pandas.DataFrame({"x": [0, 3, 3, 0], "y": [0, 4, 0, 4]})
    assert antwarp.solve(plane).cost == 14
    assert antwarp.solve(polars.from_pandas(plane)).cost == 14
    named = plane.rename(columns={"x": "a", "y": "b"})
    assert antwarp.solve(named, columns="x=a,y=b").cost == 14
    path = antwarp.solve(frame, start="Hamburg", end="Munich")
    assert path.tour[0] == "Hamburg" and path.tour[-1] == "Munich"


def test_square_frames_are_costs() -> None:
    costs = [[0, 2, 9, INF], [2, 0, 3, 8], [9, 3, 0, 1], [4, 8, 1, 0]]
    frame = pandas.DataFrame(costs, index=CITIES, columns=CITIES)
    solution = antwarp.solve(frame)
    assert solution.cost == shortest(costs)
    nullable = pandas.DataFrame({city: pandas.array([1, 2, None, 4] if city == "Berlin" else [1, 2, 3, 4], dtype="Int64") for city in CITIES}, index=CITIES)
    assert sorted(antwarp.solve(nullable, directed=True).tour) == sorted(CITIES)
    small = pandas.DataFrame([[0, 2], [2, 0]])
    with pytest.raises(antwarp.InputError, match='shape="matrix"'):
        antwarp.solve(small)
    assert antwarp.solve(small, shape="matrix").cost == 4
    with pytest.raises(antwarp.InputError, match="dtype is object"):
        antwarp.solve(frame.astype(object))


@pytest.mark.parametrize(
    "columns, message",
    [
        ({"a": [1, 2], "b": [3, 4]}, "the names are"),
        ({**PLACES, "x": [1, 2, 3, 4], "y": [1, 2, 3, 5]}, "both x and y"),
        ({"lat": ["52.5", "48.1"], "lon": ["13.4", "11.6"]}, "not numbers.*'lat', 'lon'"),
        ({"lat": ["52.5", "48.1"], "lon": [13.4, 11.6]}, "not numbers.*'lat'"),
        ({"x": [1.0, math.nan], "y": [1, 2]}, "no.* number"),
        ({"x": [1.0, INF], "y": [1, 2]}, "finite|number"),
        ({"lat": [100.0, 20.0], "lon": [10.0, 20.0]}, "latitude"),
        ({"x": [1.0, 2.0]}, "column|names"),
        ({"x": [], "y": []}, "no rows of numbers"),
        ({}, "no rows of numbers"),
    ],
)
def test_malformed_frames_are_refused(columns: dict[str, list[object]], message: str) -> None:
    for make in [pandas.DataFrame, polars.DataFrame]:
        with pytest.raises(antwarp.InputError, match=f"(?s){message}"):
            antwarp.solve(make(columns), time=0.1)


def test_frames_of_edges() -> None:
    frame = pandas.DataFrame({"from": [1, 2, 3, 1, 4], "to": [2, 3, 4, 4, 2], "cost": [1, 2, 3, 9, 1]})
    solution = antwarp.solve(frame)
    assert solution.cost == 15 and sorted(solution.tour) == [1, 2, 3, 4]


def test_graphs() -> None:
    graph = networkx.Graph()
    graph.add_weighted_edges_from([("a", "b", 1), ("b", "c", 2), ("c", "d", 1.5), ("d", "a", 7), ("a", "c", 2)])
    solution = antwarp.solve(graph)
    assert solution.cost == 11.5 and sorted(solution.tour) == ["a", "b", "c", "d"]
    one_way = networkx.DiGraph()
    one_way.add_weighted_edges_from([(1, 2, 1), (2, 3, 1), (3, 1, 1), (2, 1, 0)], weight="minutes")
    solution = antwarp.solve(one_way, weight="minutes")
    assert solution.cost == 3 and solution.tour in ([1, 2, 3], [2, 3, 1], [3, 1, 2])
    parallel = networkx.MultiGraph()
    parallel.add_weighted_edges_from([(0, 1, 5), (0, 1, 3), (1, 2, 1), (2, 0, 1)])
    assert antwarp.solve(parallel).cost == 5
    assert antwarp.solve(networkx.empty_graph(1)).tour == [0]


def test_malformed_graphs_are_refused() -> None:
    with pytest.raises(antwarp.InputError, match="no nodes"):
        antwarp.solve(networkx.Graph())
    with pytest.raises(antwarp.InputError, match="no attribute 'weight'"):
        antwarp.solve(networkx.path_graph(4))
    text = networkx.Graph()
    text.add_edge(0, 1, weight="far")
    with pytest.raises(antwarp.InputError, match="graph"):
        antwarp.solve(text)
    line = networkx.Graph()
    line.add_weighted_edges_from([(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 4, 1)])
    with pytest.raises(antwarp.NoTourError, match="no road"):
        antwarp.solve(line)


def test_the_method_of_networkx() -> None:
    draw = random.Random(5)
    graph = networkx.complete_graph(7)
    for _, _, data in graph.edges(data=True):
        data["weight"] = draw.randrange(1, 100)
    costs = networkx.to_numpy_array(graph).tolist()
    find = networkx.approximation.traveling_salesman_problem
    tour = find(graph, method=antwarp.networkx)
    assert tour[0] == tour[-1] and set(tour) == set(range(7))
    closure = dict(networkx.all_pairs_dijkstra_path_length(graph))
    shortened = [[closure[i][j] for j in range(7)] for i in range(7)]
    assert sum(costs[a][b] for a, b in zip(tour, tour[1:])) == shortest(shortened)
    assert len(find(graph, cycle=False, method=antwarp.networkx)) >= 7
    assert find(graph.to_directed(), method=antwarp.networkx)[0] in range(7)
    some = find(graph, nodes=[0, 3, 5], method=antwarp.networkx)
    assert {0, 3, 5} <= set(some)
    seeded = find(graph, method=lambda g, weight: antwarp.networkx(g, weight, time=1, seed=3))
    assert sum(costs[a][b] for a, b in zip(seeded, seeded[1:])) == shortest(shortened)


def test_files_and_names(tmp_path, caplog: pytest.LogCaptureFixture) -> None:  # type: ignore[no-untyped-def]
    table = tmp_path / "stops.csv"
    table.write_text("stop,lat,lon\n" + "\n".join(f"{c},{a},{o}" for c, a, o in zip(CITIES, *PLACES.values())))
    with caplog.at_level("INFO", logger="antwarp"):
        solution = antwarp.solve(table)
    assert sorted(solution.tour) == sorted(CITIES)
    assert "read 4 places" in caplog.text
    assert antwarp.solve(str(table), start="Munich").tour[0] == "Munich"
    assert antwarp.solve("E1k.0", iterations=1).report["instance"]["nodes"] == 1000
    ambiguous = tmp_path / "square.csv"
    ambiguous.write_text("0,1\n1,0\n")
    with pytest.raises(antwarp.InputError, match='`shape="matrix"`'):
        antwarp.solve(ambiguous)
    assert antwarp.solve(ambiguous, shape="matrix").cost == 2
    damaged = tmp_path / "damaged.tsp"
    damaged.write_text("NAME : x\nTYPE : TSP\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0\nEOF\n")
    with pytest.raises(antwarp.InputError, match=r"damaged.tsp:6"):
        antwarp.solve(damaged)
    with pytest.raises(antwarp.InputError, match="cannot read"):
        antwarp.solve(tmp_path)


def test_random_lists_never_do_worse_than_an_error() -> None:
    draw = random.Random(11)
    values = [0, 1, -1, 1.5, 1e300, -1e300, 1e-300, INF, -INF, math.nan, None, "x", True, [], 2**70, decimal.Decimal("NaN")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(500):
            rows = draw.randrange(6)
            x = [[draw.choice(values[: draw.randrange(1, 17)]) for _ in range(draw.choice([2, 2, 3, rows]))] for _ in range(rows)]
            shape = draw.choice([None, "points", "matrix"])
            try:
                solution = antwarp.solve(x, shape=shape, time=0.05, threads=1)
            except antwarp.Error as error:
                assert not isinstance(error, antwarp.InternalError), (x, error)
            else:
                assert sorted(solution.order) == list(range(rows)), x
