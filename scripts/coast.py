#!/usr/bin/env python3
"""Packs the coastline of the report page (host/report/page/coast.txt).

    npm pack world-atlas@2.0.2 && tar xf world-atlas-2.0.2.tgz
    scripts/coast.py package/land-110m.json > host/report/page/coast.txt

The data is Natural Earth's land at 1:110m, which is in the public domain; the package world-atlas (ISC licence) has it as TopoJSON.
Each polygon becomes a word, its rings with commas between them: differences of longitude and latitude in hundredths of a degree, in
the encoding of polylines. A ring that crosses the 180th meridian goes on beyond it, and one around a pole is closed there.
"""

import json
import sys


def arcs_of(topology):
    (scale_x, scale_y), (shift_x, shift_y) = (topology["transform"][key] for key in ("scale", "translate"))
    for arc in topology["arcs"]:
        x = y = 0
        points = []
        for dx, dy in arc:
            x, y = x + dx, y + dy
            points.append((x * scale_x + shift_x, y * scale_y + shift_y))
        yield points


def polygons_of(topology):
    arcs = list(arcs_of(topology))
    for geometry in topology["objects"]["land"]["geometries"]:
        for polygon in geometry["arcs"] if geometry["type"] == "MultiPolygon" else [geometry["arcs"]]:
            rings = []
            for ring in polygon:
                points = []
                for number in ring:
                    arc = arcs[number] if number >= 0 else arcs[~number][::-1]
                    points += arc[1:] if points else arc
                rings.append(closed(list(unrolled(points))))
            yield rings


def unrolled(points):
    turns = 0
    for before, (x, y) in zip([points[0], *points], points):
        if abs(before[0] - x) > 180:
            turns += 360 if x < before[0] else -360
        yield x + turns, y


def closed(points):
    (first, _), (last, y) = points[0], points[-1]
    pole = -90 if y < 0 else 90
    return [*points, (last, pole), (first, pole)] if abs(last - first) > 180 else points


def packed(points):
    letters, before = [], (0, 0)
    for point in points:
        now = tuple(round(100 * value) for value in point)
        if now == before:
            continue
        for value, last in zip(now, before):
            bits = (value - last) << 1
            bits = ~bits if value < last else bits
            while bits >= 32:
                letters.append(chr((bits & 31 | 32) + 63))
                bits >>= 5
            letters.append(chr(bits + 63))
        before = now
    return "".join(letters)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print(" ".join(",".join(packed(ring) for ring in rings) for rings in polygons_of(json.load(file))))
