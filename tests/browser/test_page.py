"""The page of `solve --html` and `plot` in a headless browser, as users see it. Run by `.ci/extra browser`.

Screenshots of all pages are kept in the folder ANTWARP_SCREENSHOTS, to be looked at. How long redraws took is reported, not asserted.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from playwright.sync_api import Browser, Dialog, Page, sync_playwright

ROOT = Path(__file__).parent.parent.parent
PROGRAM = os.environ["ANTWARP_PROGRAM"]
SCREENSHOTS = Path(os.environ.get("ANTWARP_SCREENSHOTS", "target/browser"))
SCHEMA = json.loads((ROOT / "docs/schema/run-1.schema.json").read_text(encoding="utf-8"))

# A name that would run if it were taken for HTML, anywhere.
EVIL = ["<script>alert(1)</script>", "</script><script>alert(2)</script>", "<img src=x onerror=alert(3)>", "\"'`&amp;{{runs}}"]


def antwarp(*args: object, code: int = 0) -> None:
    line = [PROGRAM, *map(str, args)]
    done = subprocess.run(line, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stderr


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    names = [os.environ.get("ANTWARP_BROWSER"), *map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])]
    program = next((name for name in names if name), None)
    if program is None:
        pytest.fail("there is no chromium: apt-get install chromium, or name a browser by ANTWARP_BROWSER")
    with sync_playwright() as playwright:
        # Root has no sandbox.
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return tmp_path_factory.mktemp("pages")


class Shown:
    """A page in the browser, without a network."""

    def __init__(self, browser: Browser, file: Path, **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1280, "height": 800}, offline=True, **options)
        self.page: Page = self.context.new_page()
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self._note(message.type, message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("dialog", self._dismiss)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.as_uri(), timeout=120_000)
        self.page.wait_for_timeout(300)

    def _dismiss(self, dialog: Dialog) -> None:
        self.problems.append(dialog.message)
        dialog.dismiss()

    def _note(self, kind: str, text: str) -> None:
        # The timing reads pixels on purpose.
        if kind in ("error", "warning") and "willReadFrequently" not in text:
            self.problems.append(text)

    def text(self, selector: str) -> str:
        return self.page.inner_text(selector)

    def where(self, name: str) -> tuple[float, float]:
        x, y = self.page.evaluate("name => whereIs(name)", name)
        return x, y

    def hover(self, name: str) -> str:
        x, y = self.where(name)
        self.page.mouse.move(x + 1, y + 1)
        return self.text("#tip")

    def screenshot(self, name: str) -> None:
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")

    def saved(self, button: str) -> str:
        with self.page.expect_download() as download:
            self.page.click(button)
        return Path(download.value.path()).read_text(encoding="utf-8")

    def redraws(self, what: str) -> None:
        times = sorted(self.page.evaluate("timeRedraw()") for _ in range(15))
        print(f"{what}: a redraw takes {times[0]:.1f} to {times[-1]:.1f} ms, the median is {times[7]:.1f} ms")

    def close(self) -> None:
        assert self.problems == []
        assert all(request.startswith(("file:", "blob:")) for request in self.requests), self.requests
        self.context.close()


def city(path: Path, count: int = 60) -> list[str]:
    """Writes stops in a city; returns their names."""
    draw = random.Random(7)
    kinds = ["Market", "Station", "Church", "Mill", "Park", "Garden", "School", "Bridge", "River", "Castle"]
    names = [f"{kinds[at % 10]} {['Street', 'Lane', 'Square', 'Road'][at % 4]} {at + 1}" for at in range(count)]
    names[20:20] = EVIL
    names = names[:count]
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["name", "lat", "lon"])
        for name in names:
            rows.writerow([name, round(48.07 + 0.14 * draw.random(), 5), round(11.4 + 0.32 * draw.random(), 5)])
    return names


def test_a_city(browser: Browser, folder: Path) -> None:
    names = city(folder / "city.csv")
    page, saved, table = folder / "city.html", folder / "city.json", folder / "order.csv"
    route, tour = folder / "route.geojson", folder / "city.tour"
    antwarp(
        "solve", folder / "city.csv", "--time", "1s", "--threads", 1, "--backend", "cpu", "--html", page, "--json", saved, "--csv", table,
        "--geojson", route, "--tour", tour,
    )  # fmt: skip
    report = json.loads(saved.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(report, SCHEMA)
    shown = Shown(browser, page, accept_downloads=True)
    shown.screenshot("city")
    assert shown.page.title() == "city · antwarp"
    assert shown.text("#title") == "city" and "60 places" in shown.text("#subtitle")
    for fact in ["places", "length of the tour", "km", "1 thread", "lk, seed 1"]:
        assert fact in shown.text("#facts")
    # Hovering: name, position, length so far; also of names that look like HTML.
    for at in [0, 1, 30, 59]:
        tip = shown.hover(report["names"][at])
        assert report["names"][at] in tip and f"stop {at + 1} of 60" in tip and " of " in tip
    for name in EVIL:
        assert name in shown.hover(name)
    shown.screenshot("city-hover")
    # Searching: part of a name in any case; Enter goes there.
    shown.page.fill("#search", "RIVER square".swapcase())
    found = shown.page.locator("#found button").all_inner_texts()
    assert found and all("river square" in name.lower() for name in found)
    shown.page.press("#search", "Enter")
    shown.page.wait_for_timeout(100)
    assert found[0] in shown.text("#tip")
    shown.screenshot("city-found")
    shown.page.fill("#search", "<script>")
    assert EVIL[0] in shown.text("#found")
    shown.page.fill("#search", "nowhere at all")
    assert shown.text("#found") == "no such place"
    # Zooming and dragging move the map, and "whole tour" shows it again.
    shown.page.fill("#search", "")
    shown.page.click("#whole")
    before = shown.where(names[0])
    shown.page.mouse.move(*before)
    shown.page.mouse.wheel(0, -400)
    assert shown.where(names[0]) == pytest.approx(before, abs=1.5)
    assert shown.where(names[1]) != pytest.approx(shown.where(names[0]), abs=5)
    shown.page.mouse.down()
    shown.page.mouse.move(before[0] + 50, before[1] - 30)
    shown.page.mouse.up()
    assert shown.where(names[0]) == pytest.approx((before[0] + 50, before[1] - 30), abs=1.5)
    shown.page.click("#whole")
    assert shown.where(names[0]) == pytest.approx(before, abs=0.1)
    # What the buttons save is what the program writes.
    assert list(csv.DictReader(io.StringIO(shown.saved("#csv")))) == list(csv.DictReader(table.open(encoding="utf-8", newline="")))
    assert json.loads(shown.saved("#geojson")) == json.loads(route.read_text(encoding="utf-8"))
    assert shown.saved("#tsplib").splitlines()[2:] == tour.read_text(encoding="utf-8").splitlines()[2:]
    with shown.page.expect_download() as download:
        shown.page.click("#png")
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")
    # Settings and the order.
    shown.page.click("#settings-section summary")
    shown.page.click("#order-section summary")
    assert report["antwarp"] in shown.text("#settings") and report["machine"]["device"] in shown.text("#settings")
    assert [name.strip() for name in shown.page.locator("#order li").all_inner_texts()] == report["names"]
    shown.screenshot("city-settings")
    shown.redraws("60 places")
    shown.close()


def test_the_world(browser: Browser, folder: Path) -> None:
    page = folder / "world.html"
    capitals = ROOT / "examples/capitals.csv"
    antwarp("solve", capitals, "--time", "2s", "--threads", 1, "--backend", "cpu", "--html", page, "--start", "London")
    shown = Shown(browser, page)
    shown.screenshot("world")
    assert "stop 1 of" in shown.hover("London")
    # North is up, east is right.
    (london, paris, tokyo) = map(shown.where, ["London", "Paris", "Tokyo"])
    assert london[1] < paris[1] < tokyo[1] and london[0] < paris[0] < tokyo[0]
    shown.redraws("the world")
    shown.close()
    dark = Shown(browser, page, color_scheme="dark")
    dark.page.set_viewport_size({"width": 390, "height": 800})
    dark.page.wait_for_timeout(200)
    dark.page.click("#whole")
    dark.page.wait_for_timeout(200)
    dark.screenshot("world-small-dark")
    dark.close()
    # Tiles are asked for only once the user wants them, and there is no network here.
    tiles = Shown(browser, page)
    assert tiles.page.is_hidden("#attribution")
    tiles.page.check("#tiles")
    tiles.page.wait_for_timeout(300)
    assert "OpenStreetMap" in tiles.text("#attribution")
    asked = [request for request in tiles.requests if not request.startswith("file:")]
    assert asked and all(request.startswith("https://tile.openstreetmap.org/") for request in asked)
    assert all("ERR_INTERNET_DISCONNECTED" in problem for problem in tiles.problems)
    tiles.context.close()


def test_a_hundred_thousand_places(browser: Browser, folder: Path) -> None:
    page = folder / "large.html"
    antwarp("solve", "E100k.0", "--time", "4s", "--threads", 2, "--backend", "cpu", "--html", page)
    print(f"the page of 100,000 places has {page.stat().st_size / 1e6:.1f} MB")
    shown = Shown(browser, page)
    shown.screenshot("large")
    shown.redraws("100,000 places, all")
    assert "number" not in shown.hover("777") and "stop " in shown.text("#tip")
    shown.page.fill("#search", "99999")
    shown.page.press("#search", "Enter")
    shown.page.wait_for_timeout(200)
    assert shown.text("#tip").startswith("99999")
    shown.screenshot("large-near")
    shown.redraws("100,000 places, near")
    shown.page.click("#farther")
    shown.redraws("100,000 places, a little farther")
    shown.close()


def test_two_runs(browser: Browser, folder: Path) -> None:
    instance, one, two, page = (folder / name for name in ["two.tsp", "one.json", "two.json", "two.html"])
    antwarp("generate", "uniform", "-n", 300, "-o", instance)
    antwarp("solve", instance, "--algorithm", "mmas", "--iterations", 3, "--json", one, "--backend", "cpu", "-q")
    antwarp("solve", instance, "--time", "1s", "--bound", "--json", two, "--backend", "cpu", "-q")
    for file in [one, two]:
        jsonschema.validate(json.loads(file.read_text(encoding="utf-8")), SCHEMA)
    antwarp("solve", folder / "city.csv", "-q", "--iterations", 5, "--open", "--json", folder / "path.json")
    antwarp("plot", one, two, folder / "path.json", "-o", page)
    shown = Shown(browser, page)
    shown.screenshot("two-runs")
    assert "the best of 2 runs" in shown.text("#subtitle")
    rows = shown.page.locator("#runs-list li")
    assert rows.count() == 2 and "mmas" in rows.nth(0).inner_text() and "lk" in rows.nth(1).inner_text()
    tip = shown.hover("17")
    assert tip.count("stop ") == 2 and "mmas" in tip and "lk" in tip
    # A run that is hidden is not in the tip either; the facts are those of the chosen run.
    rows.nth(0).locator("input").uncheck()
    assert shown.hover("17").count("stop ") == 1
    rows.nth(0).locator("button").click()
    assert "mmas" in shown.text("#facts")
    # The other instance.
    shown.page.select_option("#instances", index=1)
    shown.page.wait_for_timeout(100)
    assert shown.text("#title") == "city" and "length of the path" in shown.text("#facts")
    shown.screenshot("path")
    shown.close()


def test_runs_of_one_command(browser: Browser, folder: Path) -> None:
    instance, page = folder / "several.tsp", folder / "several.html"
    antwarp("generate", "uniform", "-n", 200, "-o", instance)
    antwarp("solve", instance, "--algorithm", "mmas", "--iterations", 20, "--runs", 3, "--html", page, "-q")
    shown = Shown(browser, page)
    shown.screenshot("several-runs")
    assert "the best of 3 runs" in shown.text("#subtitle")
    rows = shown.page.locator("#runs-list li")
    assert rows.count() == 3 and all("seed" in rows.nth(at).inner_text() for at in range(3))
    # The best tour is on the map, and no other.
    assert shown.hover("17").count("stop ") == 1 and shown.page.is_enabled("#csv")
    rows.nth(2).locator("button").click()
    assert shown.page.is_disabled("#csv") and shown.page.is_disabled("#tsplib")
    shown.close()


def test_costs_without_places(browser: Browser, folder: Path) -> None:
    matrix, page = folder / "matrix.csv", folder / "matrix.html"
    matrix.write_text("A,B,C,D\n0,10,15,20\n10,0,35,25\n15,35,0,30\n20,25,30,0\n")
    antwarp("solve", matrix, "--html", page, "-q")
    shown = Shown(browser, page)
    shown.screenshot("matrix")
    assert shown.page.is_visible("#no-map") and shown.page.is_hidden("#tools")
    assert shown.page.is_disabled("#geojson") and shown.page.is_enabled("#csv")
    shown.close()
    # A single place, and places on a line.
    for name, rows in [("one", "x,y\n5,5\n"), ("line", "x,y\n0,1e300\n5,1e300\n9,1e300\n2,1e300\n")]:
        (folder / f"{name}.csv").write_text(rows)
        antwarp("solve", folder / f"{name}.csv", "--html", folder / f"{name}.html", "-q")
        shown = Shown(browser, folder / f"{name}.html")
        assert "stop 1 of" in shown.hover("1")
        shown.screenshot(name)
        shown.close()


def test_keys_and_touch(browser: Browser, folder: Path) -> None:
    city(folder / "touch.csv")
    antwarp("solve", folder / "touch.csv", "--html", folder / "touch.html", "-q", "--iterations", 5)
    shown = Shown(browser, folder / "touch.html", has_touch=True)
    name = "Market Street 1"
    before = shown.where(name)
    shown.page.focus("#canvas")
    shown.page.keyboard.press("ArrowLeft")
    assert shown.where(name) == pytest.approx((before[0] + 60, before[1]), abs=0.1)
    shown.page.keyboard.press("0")
    assert shown.where(name) == pytest.approx(before, abs=0.1)
    shown.page.touchscreen.tap(*before)
    assert name in shown.text("#tip")
    # Two fingers that move apart.
    client = shown.context.new_cdp_session(shown.page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y, "id": at} for at, (x, y) in enumerate(points)]})

    other = "Castle Road 20"
    apart = abs(shown.where(other)[0] - shown.where(name)[0])
    touch("touchStart", (400, 400), (500, 400))
    for step in range(1, 11):
        touch("touchMove", (400 - 5 * step, 400), (500 + 5 * step, 400))
    touch("touchEnd")
    assert abs(shown.where(other)[0] - shown.where(name)[0]) == pytest.approx(2 * apart, rel=0.2)
    shown.close()
