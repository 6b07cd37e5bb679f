// The page of one or several runs: a map of their tours, and their costs against time. Everything it shows comes from the JSON of the
// runs, which is data of others: texts are set as text, never as HTML.
"use strict";
(() => {
  const element = (id) => document.getElementById(id);
  const runs = JSON.parse(element("runs").textContent);
  const COLORS = ["#d1495b", "#2e86ab", "#8f6bd1", "#3a9d5d", "#c98a1b", "#7a7f87"];
  // Parts of a single tour with different colours, as in the picture of --svg.
  const PARTS = 180;
  const LAST_LATITUDE = 85.05112878;

  // --- Numbers and texts ---

  const shortNumber = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });
  const wholeNumber = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

  // Ten digits, as the program shows costs.
  const digits = (value) => (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(10))));

  function shownCost(value, unit) {
    if (value === null || value === undefined) return "unknown";
    const number = (value) => (Number.isInteger(value) ? wholeNumber.format(value) : shortNumber.format(value));
    if (unit === "metres") {
      return Math.abs(value) < 1e4 ? `${shortNumber.format(value)} m` : `${shortNumber.format(value / 1000)} km`;
    }
    return unit === "kilometres" ? `${number(value)} km` : number(value);
  }

  const shownSeconds = (seconds) => `${seconds < 10 ? Number(seconds.toPrecision(3)) : shortNumber.format(Number(seconds.toFixed(1)))} s`;

  function shownPercent(percent) {
    return `${percent === 0 ? "0" : percent < 0.001 ? "less than 0.001" : Number(percent.toPrecision(3))}\u00a0%`;
  }

  const style = getComputedStyle(document.documentElement);
  const ink = (name) => style.getPropertyValue(`--${name}`).trim();

  // The colour at a position of a closed tour: from teal over violet to red and back.
  function colorAlong(at) {
    return `hsl(${185 + 160 * (1 - Math.abs(2 * at - 1))} 51% 53%)`;
  }

  // --- Projection: the Mercator projection of web maps, or the plane ---

  const mercator = {
    x: (longitude) => (longitude + 180) / 360,
    y: (latitude) => {
      const within = Math.max(-LAST_LATITUDE, Math.min(LAST_LATITUDE, latitude));
      return 0.5 - Math.asinh(Math.tan((within * Math.PI) / 180)) / (2 * Math.PI);
    },
    longitude: (x) => 360 * x - 180,
    latitude: (y) => (Math.atan(Math.sinh((0.5 - y) * 2 * Math.PI)) * 180) / Math.PI,
  };

  const within180 = (longitude) => (Math.abs(longitude) <= 180 ? longitude : longitude - 360 * Math.round(longitude / 360));

  // --- Runs of the same instance, with the places they share ---

  // Groups runs by instance; every run gets what the map needs: for each position of its tour the index of the place, and for each
  // place its position.
  function grouped() {
    const groups = [];
    for (const run of runs) {
      const { name, nodes, coordinates, fingerprint } = run.instance;
      const key = JSON.stringify(fingerprint ? [name, fingerprint] : [name, nodes, coordinates]);
      let group = groups.find((group) => group.key === key);
      if (!group) groups.push((group = { key, runs: [], isGlobe: run.instance.coordinates === "degrees" }));
      group.runs.push({ report: run, isShown: true, color: COLORS[group.runs.length % COLORS.length] });
    }
    groups.forEach(prepare);
    return groups;
  }

  function prepare(group) {
    const first = group.runs.find((run) => run.report.places) || group.runs[0];
    const { tour, names, places } = first.report;
    group.ids = tour;
    group.names = names || null;
    group.count = tour.length;
    if (places) project(group, places);
    const index = group.runs.length > 1 ? new Map(tour.map((id, at) => [id, at])) : null;
    for (const run of group.runs) {
      const own = run.report.tour;
      run.order = Int32Array.from(own, (id, at) => (run === first ? at : index.has(id) ? index.get(id) : -1));
      run.position = new Int32Array(group.count).fill(-1);
      run.order.forEach((place, at) => {
        if (place >= 0) run.position[place] = at;
      });
      // A tour of other places is not drawn on this map.
      run.isDrawn = Boolean(places) && own.length === group.count && !run.position.includes(-1);
      const legs = run.report.legs || [];
      run.total = new Float64Array(own.length + 1);
      legs.forEach((leg, at) => (run.total[at + 1] = run.total[at] + (leg || 0)));
      run.isOpen = run.report.instance.open;
    }
  }

  function project(group, places) {
    const count = places.length;
    const [x, y] = [new Float64Array(count), new Float64Array(count)];
    if (group.isGlobe) {
      places.forEach(([longitude, latitude], at) => {
        x[at] = mercator.x(within180(longitude));
        y[at] = mercator.y(latitude);
      });
    } else {
      // Half of the values: their differences could overflow.
      let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
      for (const [px, py] of places) {
        left = Math.min(left, px / 2);
        right = Math.max(right, px / 2);
        low = Math.min(low, py / 2);
        high = Math.max(high, py / 2);
      }
      const longer = Math.max(right - left, high - low) || 1;
      places.forEach(([px, py], at) => {
        x[at] = (px / 2 - left) / longer;
        y[at] = (high - py / 2) / longer;
      });
    }
    Object.assign(group, { x, y, sx: new Float32Array(count), sy: new Float32Array(count) });
    let box = [Infinity, Infinity, -Infinity, -Infinity];
    for (let at = 0; at < count; at++) {
      box = [Math.min(box[0], x[at]), Math.min(box[1], y[at]), Math.max(box[2], x[at]), Math.max(box[3], y[at])];
    }
    group.box = box;
    group.grid = gridOf(x, y, box);
  }

  // A grid over the places, to find the nearest one: about two places a cell, sorted by cell.
  function gridOf(x, y, [left, top, right, bottom]) {
    const count = x.length;
    const side = Math.max(Math.sqrt((2 * Math.max(right - left, 1e-12) * Math.max(bottom - top, 1e-12)) / count), (right - left) / 2000, (bottom - top) / 2000, 1e-12);
    const columns = Math.floor((right - left) / side) + 1;
    const rows = Math.floor((bottom - top) / side) + 1;
    const cell = (at) => Math.floor((y[at] - top) / side) * columns + Math.floor((x[at] - left) / side);
    const start = new Int32Array(columns * rows + 1);
    for (let at = 0; at < count; at++) start[cell(at) + 1]++;
    for (let at = 0; at < columns * rows; at++) start[at + 1] += start[at];
    const free = start.slice();
    const sorted = new Int32Array(count);
    for (let at = 0; at < count; at++) sorted[free[cell(at)]++] = at;
    return { side, columns, rows, start, sorted, left, top };
  }

  // The place nearest to a point, within a radius; -1 if there is none.
  function nearest(group, px, py, radius) {
    const { side, columns, rows, start, sorted, left, top } = group.grid;
    const cell = (value, low, most) => Math.max(0, Math.min(most - 1, Math.floor((value - low) / side)));
    let [best, least] = [-1, radius * radius];
    for (let row = cell(py - radius, top, rows); row <= cell(py + radius, top, rows); row++) {
      const from = row * columns;
      const first = start[from + cell(px - radius, left, columns)];
      const last = start[from + cell(px + radius, left, columns) + 1];
      for (let at = first; at < last; at++) {
        const place = sorted[at];
        const distance = (group.x[place] - px) ** 2 + (group.y[place] - py) ** 2;
        if (distance <= least) [best, least] = [place, distance];
      }
    }
    return best;
  }

  // --- The map ---

  const canvas = element("canvas");
  const context = canvas.getContext("2d");
  // Pixels a unit of the projection, and where its origin is.
  const view = { scale: 1, x: 0, y: 0, width: 0, height: 0 };
  let group = null;
  let chosen = null;
  let marked = -1;
  let isDue = false;

  const coast = element("coast").textContent.trim().split(" ").map(unpacked);

  // A polygon of the coastline: rings of differences of longitude and latitude in hundredths of a degree, in the encoding of
  // polylines: five bits a letter, from ? on.
  function unpacked(text) {
    const rings = text.split(",").map((letters) => {
      const points = [];
      const sums = [0, 0];
      let [value, shift, axis] = [0, 0, 0];
      for (let at = 0; at < letters.length; at++) {
        const bits = letters.charCodeAt(at) - 63;
        value |= (bits & 31) << shift;
        shift += 5;
        if (bits >= 32) continue;
        sums[axis] += value & 1 ? ~(value >> 1) : value >> 1;
        if (axis === 1) points.push([mercator.x(sums[0] / 100), mercator.y(sums[1] / 100)]);
        [value, shift, axis] = [0, 0, 1 - axis];
      }
      return points;
    });
    const range = (axis) => [Math.min(...rings[0].map((point) => point[axis])), Math.max(...rings[0].map((point) => point[axis]))];
    const [[west, east], [north, south]] = [range(0), range(1)];
    // What goes on beyond the 180th meridian is drawn on both sides.
    return { rings, west, east, north, south, turns: [0, ...(east > 1 ? [-1] : []), ...(west < 0 ? [1] : [])] };
  }

  function resize() {
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    if (!width || !height) return;
    const isFirst = view.width === 0;
    view.x += (width - view.width) / 2;
    view.y += (height - view.height) / 2;
    [view.width, view.height] = [width, height];
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (isFirst) showAll();
    redraw();
  }

  function showAll() {
    if (!group || !group.x || !view.width) return;
    const [left, top, right, bottom] = group.box;
    const margin = Math.min(60, view.width / 8, view.height / 8);
    const most = group.isGlobe ? 256 * 2 ** 17 : 1e7;
    const scale = Math.min(
      (view.width - 2 * margin) / Math.max(right - left, 1e-12),
      (view.height - 2 * margin) / Math.max(bottom - top, 1e-12),
      most,
    );
    view.scale = scale;
    view.x = view.width / 2 - (scale * (left + right)) / 2;
    view.y = view.height / 2 - (scale * (top + bottom)) / 2;
    ask();
  }

  function zoom(factor, px, py) {
    const scale = Math.max(50, Math.min(group && group.isGlobe ? 256 * 2 ** 22 : 1e12, view.scale * factor));
    view.x = px - ((px - view.x) * scale) / view.scale;
    view.y = py - ((py - view.y) * scale) / view.scale;
    view.scale = scale;
    ask();
  }

  // Asks for a redraw with the next picture of the screen.
  function ask() {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(redraw);
  }

  const shownRuns = () => group.runs.filter((run) => run.isShown && run.isDrawn);

  // Draws the map.
  function redraw() {
    isDue = false;
    context.fillStyle = ink("page");
    context.fillRect(0, 0, view.width, view.height);
    if (!group || !group.x) return;
    const { x, y, sx, sy } = group;
    for (let at = 0; at < x.length; at++) {
      sx[at] = x[at] * view.scale + view.x;
      sy[at] = y[at] * view.scale + view.y;
    }
    context.save();
    if (group.isGlobe) {
      // Nothing lies beyond the 180th meridian.
      context.beginPath();
      context.rect(view.x, 0, view.scale, view.height);
      context.clip();
      drawGlobe();
    }
    const drawn = shownRuns();
    // Lines as thick as the distance between places allows.
    const [left, top, right, bottom] = group.box;
    const apart = view.scale * Math.sqrt(Math.max((right - left) * (bottom - top), 1e-6 * Math.max(right - left, bottom - top) ** 2) / group.count);
    const thickness = Math.max(0.7, Math.min(2.6, 0.2 * apart));
    drawn.forEach((run, at) => drawTour(run, sx, sy, drawn.length > 1 ? thickness + 1.6 * (drawn.length - 1 - at) : thickness, drawn.length > 1));
    context.restore();
    if (apart > 4) drawPlaces(sx, sy, Math.max(1.2, Math.min(3.6, 0.14 * apart)));
    if (drawn.length) drawEnds(drawn[0], sx, sy);
    if (group.names) drawNames(sx, sy, drawn);
    if (marked >= 0) {
      context.beginPath();
      context.arc(sx[marked], sy[marked], 8, 0, 2 * Math.PI);
      context.strokeStyle = ink("accent");
      context.lineWidth = 3;
      context.stroke();
    }
    if (group.isGlobe) drawScale();
  }

  // Draws the edges of a tour. Many short paths are quicker than a long one: each is a part of the tour, which also gives it its colour.
  function drawTour(run, sx, sy, thickness, isOneColor) {
    const { order } = run;
    const count = order.length;
    const edges = run.isOpen ? count - 1 : count > 1 ? count : 0;
    const part = Math.max(1, Math.ceil(count / PARTS));
    const turn = group.isGlobe ? view.scale : Infinity;
    const [width, height] = [view.width, view.height];
    context.lineWidth = thickness;
    context.lineJoin = thickness > 1.5 ? "round" : "bevel";
    context.lineCap = thickness > 1.5 ? "round" : "butt";
    for (let begin = 0; begin < edges; begin += part) {
      const end = Math.min(edges, begin + part);
      let [x, y] = [sx[order[begin]], sy[order[begin]]];
      let isJoined = false;
      let isAny = false;
      context.beginPath();
      for (let at = begin + 1; at <= end; at++) {
        const place = order[at === count ? 0 : at];
        const [toX, toY] = [sx[place], sy[place]];
        if (Math.abs(toX - x) > turn / 2) {
          // Across the 180th meridian: leave the map on one side, enter it on the other.
          const around = toX < x ? turn : -turn;
          context.moveTo(x, y);
          context.lineTo(toX + around, toY);
          context.moveTo(x - around, y);
          context.lineTo(toX, toY);
          [x, y, isJoined, isAny] = [toX, toY, false, true];
          continue;
        }
        // Steps of less than a third of a pixel are joined to the next one.
        if (at < end && Math.abs(toX - x) + Math.abs(toY - y) < 0.35) continue;
        const isOutside = (x < 0 && toX < 0) || (y < 0 && toY < 0) || (x > width && toX > width) || (y > height && toY > height);
        if (isOutside) {
          isJoined = false;
        } else {
          if (!isJoined) context.moveTo(x, y);
          context.lineTo(toX, toY);
          [isJoined, isAny] = [true, true];
        }
        [x, y] = [toX, toY];
      }
      if (!isAny) continue;
      context.strokeStyle = isOneColor ? run.color : colorAlong(((run.isOpen ? 0.5 : 1) * begin) / count);
      context.stroke();
    }
  }

  function drawPlaces(sx, sy, radius) {
    const [width, height] = [view.width, view.height];
    context.fillStyle = ink("node");
    context.beginPath();
    for (let at = 0; at < sx.length; at++) {
      if (sx[at] < -radius || sy[at] < -radius || sx[at] > width + radius || sy[at] > height + radius) continue;
      if (radius < 2) {
        context.rect(sx[at] - radius, sy[at] - radius, 2 * radius, 2 * radius);
      } else {
        context.moveTo(sx[at] + radius, sy[at]);
        context.arc(sx[at], sy[at], radius, 0, 2 * Math.PI);
      }
    }
    context.fill();
  }

  // Rings around the place where the tour starts, and the end of an open path.
  function drawEnds(run, sx, sy) {
    const ends = run.isOpen ? [run.order[0], run.order[run.order.length - 1]] : [run.order[0]];
    ends.forEach((place, at) => {
      context.beginPath();
      context.arc(sx[place], sy[place], 6, 0, 2 * Math.PI);
      context.fillStyle = at === 0 ? ink("page") : ink("node");
      context.fill();
      context.strokeStyle = ink("node");
      context.lineWidth = 2;
      context.stroke();
    });
  }

  // Names beside their places, in the order of the tour, each where it covers no other name.
  function drawNames(sx, sy, drawn) {
    const [width, height] = [view.width, view.height];
    const order = drawn.length ? drawn[0].order : Int32Array.from({ length: group.count }, (_, at) => at);
    const seen = [];
    for (const place of order) {
      if (sx[place] >= 0 && sy[place] >= 0 && sx[place] <= width && sy[place] <= height) {
        seen.push(place);
        if (seen.length > 700) return;
      }
    }
    context.font = '12px system-ui, "DejaVu Sans", sans-serif';
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.strokeStyle = ink("page");
    context.fillStyle = ink("text");
    context.lineWidth = 3;
    const taken = [];
    for (const place of seen) {
      const name = group.names[place].slice(0, 60);
      const wide = context.measureText(name).width;
      for (const [left, middle] of [[9, 0], [-9 - wide, 0], [-wide / 2, -14], [-wide / 2, 14]]) {
        const box = [sx[place] + left - 2, sy[place] + middle - 8, sx[place] + left + wide + 2, sy[place] + middle + 8];
        const fits = taken.every((other) => box[0] > other[2] || other[0] > box[2] || box[1] > other[3] || other[1] > box[3]);
        const covers = seen.some((other) => other !== place && sx[other] > box[0] && sx[other] < box[2] && sy[other] > box[1] && sy[other] < box[3]);
        if (!fits || covers || box[0] < 0 || box[2] > width) continue;
        taken.push(box);
        context.strokeText(name, box[0] + 2, sy[place] + middle);
        context.fillText(name, box[0] + 2, sy[place] + middle);
        break;
      }
    }
  }

  // --- What lies under a map of the globe: coastline and graticule, or tiles ---

  function drawGlobe() {
    if (element("tiles").checked) return drawTiles();
    const [x, y, scale] = [view.x, view.y, view.scale];
    context.fillStyle = ink("water");
    context.fillRect(x, y, scale, scale);
    context.fillStyle = ink("land");
    context.strokeStyle = ink("coast");
    context.lineWidth = 1;
    for (const { rings, west, east, north, south, turns } of coast) {
      for (const turn of turns) {
        const [left, right] = [(west + turn) * scale + x, (east + turn) * scale + x];
        if (right < 0 || left > view.width || south * scale + y < 0 || north * scale + y > view.height) continue;
        context.beginPath();
        for (const points of rings) {
          points.forEach(([px, py], at) => {
            const [sx, sy] = [(px + turn) * scale + x, py * scale + y];
            if (at) context.lineTo(sx, sy);
            else context.moveTo(sx, sy);
          });
          context.closePath();
        }
        context.fill("evenodd");
        context.stroke();
      }
    }
    drawGraticule();
  }

  function drawGraticule() {
    const { x, y, scale, width, height } = view;
    const steps = [30, 15, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];
    const step = steps.find((step) => (step * scale) / 360 < 160) || steps[steps.length - 1];
    const decimals = Math.max(0, Math.ceil(-Math.log10(step)));
    const name = (value, positive, negative) =>
      `${Math.abs(value).toFixed(decimals)}\u00b0${Math.abs(value) < step / 2 ? "" : value > 0 ? positive : negative}`;
    const visible = (low, high, most) => {
      const values = [];
      for (let at = Math.ceil(Math.max(low, -most) / step); at * step <= Math.min(high, most) + 1e-9; at++) values.push(at * step);
      return values;
    };
    const [west, east] = [mercator.longitude(-x / scale), mercator.longitude((width - x) / scale)];
    const [north, south] = [mercator.latitude(Math.max(0, -y / scale)), mercator.latitude(Math.min(1, (height - y) / scale))];
    const [top, bottom] = [Math.max(0, y), Math.min(height, y + scale)];
    const [left, right] = [Math.max(0, x), Math.min(width, x + scale)];
    context.strokeStyle = ink("grid");
    context.lineWidth = 1;
    context.fillStyle = ink("dim");
    context.font = '11px system-ui, "DejaVu Sans", sans-serif';
    context.textBaseline = "alphabetic";
    context.beginPath();
    // The bar of the scale is in the corner; a number has its place before the next one.
    let free = 150;
    for (const longitude of visible(west, east, 180)) {
      const at = mercator.x(longitude) * scale + x;
      context.moveTo(at, top);
      context.lineTo(at, bottom);
      const text = name(longitude, "E", "W");
      const wide = context.measureText(text).width;
      if (at < free || at + 3 + wide > right) continue;
      context.fillText(text, at + 3, bottom - 4);
      free = at + wide + 10;
    }
    free = bottom - 18;
    for (const latitude of visible(south, north, 85)) {
      const at = mercator.y(latitude) * scale + y;
      context.moveTo(left, at);
      context.lineTo(right, at);
      const text = name(latitude, "N", "S");
      if (at > free) continue;
      context.fillText(text, right - 4 - context.measureText(text).width, at - 3);
      free = at - 16;
    }
    context.stroke();
  }

  const tiles = new Map();

  function drawTiles() {
    const { x, y, scale, width, height } = view;
    const level = Math.max(0, Math.min(19, Math.round(Math.log2(scale / 256))));
    const count = 2 ** level;
    const side = scale / count;
    context.fillStyle = ink("water");
    context.fillRect(0, 0, width, height);
    for (let row = Math.max(0, Math.floor(-y / side)); row < Math.min(count, Math.ceil((height - y) / side)); row++) {
      for (let column = Math.max(0, Math.floor(-x / side)); column < Math.min(count, Math.ceil((width - x) / side)); column++) {
        const key = `${level}/${column}/${row}`;
        let tile = tiles.get(key);
        if (!tile) {
          tile = new Image();
          tile.addEventListener("load", ask);
          tile.src = `https://tile.openstreetmap.org/${key}.png`;
          tiles.set(key, tile);
          if (tiles.size > 600) tiles.delete(tiles.keys().next().value);
        }
        if (tile.complete && tile.naturalWidth) context.drawImage(tile, x + column * side, y + row * side, side + 0.5, side + 0.5);
      }
    }
  }

  // A bar of a round length, true in the middle of the map.
  function drawScale() {
    const latitude = mercator.latitude((view.height / 2 - view.y) / view.scale);
    const metres = (40030174 * Math.cos((latitude * Math.PI) / 180)) / view.scale;
    const most = 110 * metres;
    const power = 10 ** Math.floor(Math.log10(most));
    const length = power * (most / power >= 5 ? 5 : most / power >= 2 ? 2 : 1);
    const [left, bottom, wide] = [12, view.height - 14, length / metres];
    const text = length >= 1000 ? `${wholeNumber.format(length / 1000)} km` : `${shortNumber.format(length)} m`;
    context.font = '11px system-ui, "DejaVu Sans", sans-serif';
    context.textBaseline = "alphabetic";
    const ground = Math.max(wide, context.measureText(text).width) + 16;
    context.fillStyle = ink("panel");
    context.globalAlpha = 0.8;
    context.fillRect(left - 8, bottom - 20, ground, 28);
    context.globalAlpha = 1;
    context.strokeStyle = ink("text");
    context.fillStyle = ink("text");
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(left, bottom - 4);
    context.lineTo(left, bottom);
    context.lineTo(left + wide, bottom);
    context.lineTo(left + wide, bottom - 4);
    context.stroke();
    context.fillText(text, left, bottom - 8);
  }

  // --- Hovering and searching ---

  // The marked places.
  const role = (run, at) => (at === 0 ? "start: " : run.isOpen && at === group.count - 1 ? "end: " : "");
  const label = (place) => (group.names ? group.names[place] : String(group.ids[place]));

  function showTip(place) {
    const tip = element("tip");
    tip.hidden = place < 0;
    if (marked !== place) {
      marked = place;
      ask();
    }
    if (place < 0) return;
    tip.replaceChildren();
    const add = (kind, text) => tip.appendChild(document.createElement(kind)).append(text);
    add("b", label(place));
    if (group.names && String(group.ids[place]) !== label(place)) add("span", `number ${group.ids[place]}`);
    const drawn = shownRuns();
    for (const run of drawn) {
      const { unit } = run.report.instance;
      const at = run.position[place];
      const whole = run.total[run.report.legs ? run.report.legs.length : 0];
      const length = run.report.legs ? `, ${shownCost(run.total[at], unit)} of ${shownCost(whole, unit)}` : "";
      add("span", `${drawn.length > 1 ? `${run.name}: ` : ""}${role(run, at)}stop ${at + 1} of ${group.count}${length}`);
    }
    const [px, py] = [group.x[place] * view.scale + view.x, group.y[place] * view.scale + view.y];
    const [wide, high] = [tip.offsetWidth, tip.offsetHeight];
    tip.style.left = `${Math.max(4, px + 14 + wide > view.width ? px - 14 - wide : px + 14)}px`;
    tip.style.top = `${Math.max(4, Math.min(view.height - high - 4, py + 14))}px`;
  }

  function placeAt(event) {
    if (!group || !group.x) return -1;
    const box = canvas.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    return nearest(group, (px - view.x) / view.scale, (py - view.y) / view.scale, 14 / view.scale);
  }

  let lowered = null;

  function search() {
    const list = element("found");
    const word = element("search").value.trim().toLowerCase();
    list.replaceChildren();
    if (!word) return;
    if (!lowered) lowered = Array.from({ length: group.count }, (_, place) => label(place).toLowerCase());
    const found = [];
    const add = (fits) => {
      for (let place = 0; place < group.count && found.length < 12; place++) {
        if (!found.includes(place) && fits(lowered[place])) found.push(place);
      }
    };
    add((name) => name === word);
    add((name) => name.startsWith(word));
    add((name) => name.includes(word));
    for (const place of found) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = label(place);
      button.addEventListener("click", () => goTo(place));
      list.appendChild(document.createElement("li")).append(button);
    }
    if (!found.length) {
      const none = list.appendChild(document.createElement("li"));
      none.className = "none";
      none.textContent = "no such place";
    }
  }

  function goTo(place) {
    if (!group.x) return;
    const [left, top, right, bottom] = group.box;
    // About twenty places around it.
    const side = Math.sqrt((20 * Math.max((right - left) * (bottom - top), 1e-12)) / group.count);
    const near = Math.min(view.width, view.height) / side;
    view.scale = Math.max(view.scale, Math.min(near, group.isGlobe ? 256 * 2 ** 14 : Infinity));
    view.x = view.width / 2 - group.x[place] * view.scale;
    view.y = view.height / 2 - group.y[place] * view.scale;
    ask();
    showTip(place);
  }

  // --- Moving and zooming ---

  const held = new Map();

  function listen() {
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      zoom(2 ** (-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0025)), event.clientX - box.left, event.clientY - box.top);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      held.set(event.pointerId, [event.clientX, event.clientY]);
      canvas.classList.add("held");
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = held.get(event.pointerId);
      if (!before) return showTip(placeAt(event));
      const now = [event.clientX, event.clientY];
      if (held.size === 1) {
        view.x += now[0] - before[0];
        view.y += now[1] - before[1];
        element("tip").hidden = true;
        ask();
      } else if (held.size === 2) {
        const [, other] = [...held.entries()].find(([id]) => id !== event.pointerId);
        const apart = ([px, py]) => Math.max(10, Math.hypot(px - other[0], py - other[1]));
        const box = canvas.getBoundingClientRect();
        view.x += (now[0] - before[0]) / 2;
        view.y += (now[1] - before[1]) / 2;
        zoom(apart(now) / apart(before), (now[0] + other[0]) / 2 - box.left, (now[1] + other[1]) / 2 - box.top);
      }
      held.set(event.pointerId, now);
    });
    const release = (event) => {
      held.delete(event.pointerId);
      if (!held.size) canvas.classList.remove("held");
      // A tap shows what a mouse shows by hovering.
      if (event.type === "pointerup") showTip(placeAt(event));
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointerleave", () => held.size || showTip(-1));
    const middle = (factor) => zoom(factor, view.width / 2, view.height / 2);
    canvas.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
      if (moves[event.key]) {
        view.x += moves[event.key][0];
        view.y += moves[event.key][1];
        ask();
      } else if (event.key === "+" || event.key === "=") middle(1.5);
      else if (event.key === "-") middle(1 / 1.5);
      else if (event.key === "0") showAll();
      else return;
      event.preventDefault();
    });
    element("closer").addEventListener("click", () => middle(1.5));
    element("farther").addEventListener("click", () => middle(1 / 1.5));
    element("whole").addEventListener("click", showAll);
    element("tiles").addEventListener("change", () => {
      element("attribution").hidden = !element("tiles").checked;
      element("png").disabled = element("tiles").checked || !group.x;
      ask();
    });
    element("search").addEventListener("input", search);
    element("search").addEventListener("keydown", (event) => {
      const first = element("found").querySelector("button");
      if (event.key === "Enter" && first) first.click();
    });
    element("instances").addEventListener("change", (event) => showGroup(groups[event.target.selectedIndex]));
    element("order-section").addEventListener("toggle", showOrder);
    new ResizeObserver(() => {
      resize();
      drawCourse();
    }).observe(document.querySelector("main"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      redraw();
      drawCourse();
    });
  }

  // --- Cost and bound against time ---

  function drawCourse() {
    const chart = element("course");
    const [width, height] = [chart.clientWidth, chart.clientHeight];
    if (!group || !width) return;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    [chart.width, chart.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    const pen = chart.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const shown = group.runs.filter((run) => run.isShown && run.report.cost !== null);
    if (!shown.length) return;
    const { unit } = shown[0].report.instance;
    const curves = shown.map(({ report, color }) => {
      const points = (report.trace || []).map((better) => [better.seconds, better.cost]).filter(([, cost]) => cost !== null);
      // The last of equal moments, and the end of the run.
      points.push([Math.max(report.seconds, points.length ? points[points.length - 1][0] : 0), report.cost]);
      const raised = (report.bound_trace || []).map(({ seconds, length }) => [seconds, length]);
      return { points, raised, color };
    });
    const bound = Math.max(...shown.map(({ report }) => (report.bound && report.bound.length !== null ? report.bound.length : -Infinity)));
    const known = shown.map(({ report }) => report.best_known).find((known) => known && !known.other_instance && !known.below_bound);
    const times = curves.flatMap((curve) => curve.points.map((point) => point[0]));
    const last = times.reduce((one, other) => Math.max(one, other), 1e-3);
    const first = Math.max(times.reduce((one, other) => Math.min(one, other), last / 2), last / 1e5, 1e-4);
    const isLog = last / first > 20;
    // The first moments are often far above the rest: the scale starts a little later.
    const from = isLog ? first * (last / first) ** 0.12 : first;
    const best = Math.min(...curves.map((curve) => curve.points[curve.points.length - 1][1]));
    const at = (points, time) => points.reduce((cost, point) => (point[0] <= time ? point[1] : cost), points[0][1]);
    let high = Math.max(...curves.map((curve) => at(curve.points, from)));
    // A scale of less than a three-hundredth shows nothing but itself.
    high = Math.max(high, best + Math.max(Math.abs(best) / 300, 1e-9));
    const marks = [];
    if (bound > -Infinity && bound <= best) marks.push({ value: bound, text: "bound", dash: [5, 4] });
    if (known && known.cost <= high) marks.push({ value: known.cost, text: known.proven ? "optimum" : "best known", dash: [2, 3] });
    const near = marks.filter((mark) => mark.value >= best - 2 * (high - best));
    let low = Math.min(best, ...near.map((mark) => mark.value));
    const pad = 0.08 * (high - low);
    [low, high] = [low - pad, high + pad];
    const [left, right, top, bottom] = [62, width - 8, 8, height - 34];
    const px = (time) => left + (right - left) * (isLog ? Math.log(Math.max(time, first) / first) / Math.log(last / first) : time / last);
    const py = (cost) => bottom - ((bottom - top) * (Math.min(cost, high) - low)) / (high - low);
    pen.font = '11px system-ui, "DejaVu Sans", sans-serif';
    pen.fillStyle = ink("dim");
    pen.strokeStyle = ink("line");
    pen.lineWidth = 1;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    const short = new Intl.NumberFormat("en", { maximumSignificantDigits: Math.min(9, Math.max(3, 2 + Math.ceil(Math.log10(Math.abs(high) / (high - low) + 1)))), notation: Math.abs(high) >= 1e5 ? "compact" : "standard" });
    const metres = unit === "metres" && high >= 1e4;
    for (const value of rounds(low, high, 4)) {
      pen.beginPath();
      pen.moveTo(left, py(value));
      pen.lineTo(right, py(value));
      pen.stroke();
      pen.fillText(short.format(metres ? value / 1000 : value), left - 6, py(value));
    }
    pen.textAlign = "center";
    pen.textBaseline = "alphabetic";
    const moments = isLog ? decades(first, last) : rounds(0, last, 4);
    for (const time of moments) {
      pen.beginPath();
      pen.moveTo(px(time), top);
      pen.lineTo(px(time), bottom);
      pen.stroke();
      pen.fillText(String(Number(time.toPrecision(2))), Math.min(px(time), right - 8), bottom + 14);
    }
    const units = { metres: metres ? "km" : "m", kilometres: "km" };
    pen.fillText(`${units[unit] || "cost"} against seconds`, (left + right) / 2, bottom + 29);
    pen.save();
    pen.beginPath();
    pen.rect(left, top - 4, right - left + 4, bottom - top + 8);
    pen.clip();
    const steps = (points, dash) => {
      pen.beginPath();
      points.forEach(([time, cost], at) => {
        if (at) pen.lineTo(px(time), py(points[at - 1][1]));
        if (at) pen.lineTo(px(time), py(cost));
        else pen.moveTo(px(time), py(cost));
      });
      pen.lineWidth = 1.8;
      pen.setLineDash(dash);
      pen.stroke();
      pen.setLineDash([]);
    };
    for (const { points, raised, color } of curves) {
      pen.strokeStyle = shown.length > 1 ? color : ink("accent");
      steps(points, []);
      // A bound rises from below, and holds until the end.
      if (raised.length) steps([[raised[0][0], low - 1], ...raised, [last, raised[raised.length - 1][1]]], [5, 4]);
    }
    pen.restore();
    pen.textAlign = "left";
    pen.fillStyle = ink("text");
    for (const mark of marks) {
      const isBelow = !near.includes(mark);
      const y = isBelow ? bottom - 3 : py(mark.value);
      if (!isBelow && mark.text !== "bound") {
        pen.setLineDash(mark.dash);
        pen.strokeStyle = ink("text");
        pen.lineWidth = 1.2;
        pen.beginPath();
        pen.moveTo(left, y);
        pen.lineTo(right, y);
        pen.stroke();
        pen.setLineDash([]);
      }
      const text = isBelow ? `${mark.text} ${shownCost(mark.value, unit)}, below` : mark.text;
      // The optimum above its line, the bound below.
      pen.fillText(text, left + 6, mark.text === "bound" && !isBelow ? Math.min(y + 12, bottom + 2) : y - 4);
    }
  }

  // Round numbers between two values.
  function rounds(low, high, count) {
    const rough = (high - low) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * (rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1);
    const values = [];
    for (let at = Math.ceil(low / step); at * step <= high && values.length < 20; at++) values.push(at * step);
    return values;
  }

  function decades(low, high) {
    const values = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
      for (const factor of high / low > 2000 ? [1] : [1, 3]) {
        const value = factor * 10 ** power;
        if (value >= low && value <= high) values.push(value);
      }
    }
    return values;
  }

  // --- Facts, settings, the order of the places ---

  const STOPPED = {
    time: "time limit", iterations: "iterations done", target: "target reached", "published-optimum": "published optimum reached",
    optimal: "proven optimal", "optimal-rounded": "optimal for rounded lengths", stagnation: "no better tour for long",
    "local-optimum": "local optimum", interrupt: "interrupted", settled: "restarts find no shorter tour", failure: "failure",
  };

  function machineText({ machine }) {
    return machine.backend === "cpu" ? `${machine.units} thread${machine.units === 1 ? "" : "s"}, ${machine.device}` : machine.device;
  }

  function facts(report) {
    const { unit } = report.instance;
    const rows = [["places", wholeNumber.format(report.instance.nodes)]];
    rows.push([report.instance.open ? "length of the path" : "length of the tour", shownCost(report.cost, unit)]);
    if (report.bound && report.bound.length !== null) {
      const most = report.bound.most_percent;
      rows.push(["bound", `${shownCost(report.bound.length, unit)}${most === 0 ? ": the tour is proven optimal" : most > 0 ? `: ${most < 0.001 ? "" : "at most "}${shownPercent(most)} above the optimum` : ""}`]);
    }
    if (report.best_known && report.gap_percent !== null) {
      rows.push([report.best_known.proven ? "optimum" : "best known", `${shownCost(report.best_known.cost, unit)}, gap ${shownPercent(report.gap_percent)}`]);
    }
    if (report.forbidden && report.forbidden.length) rows.push(["forbidden", report.forbidden.map((pair) => pair.join(" to ")).slice(0, 5).join(", ")]);
    rows.push(["time", `${shownSeconds(report.seconds)}, ${STOPPED[report.stopped_by] || report.stopped_by}`]);
    rows.push(["algorithm", `${report.algorithm}, seed ${report.seed}`]);
    rows.push(["machine", machineText(report)]);
    for (const warning of report.warnings || []) rows.push(["warning", warning]);
    if (report.failure) rows.push(["failure", report.failure]);
    const list = element("facts");
    list.replaceChildren();
    for (const [name, value] of rows) {
      list.appendChild(document.createElement("dt")).append(name);
      list.appendChild(document.createElement("dd")).append(value);
    }
  }

  function settings(report) {
    const rows = [["antwarp", report.antwarp], ["instance", report.instance.reading || report.instance.path], ["distances", report.instance.metric]];
    const text = (value) => (value === null ? "chosen by the algorithm" : typeof value === "object" ? JSON.stringify(value) : String(value));
    for (const [name, value] of Object.entries(report.settings || {})) rows.push([name.replaceAll("_", "-"), text(value)]);
    for (const [name, value] of Object.entries(report.limits || {})) if (value !== null) rows.push([`limit: ${name.replaceAll("_", " ")}`, text(value)]);
    for (const [name, value] of Object.entries(report.machine || {})) rows.push([`machine: ${name}`, text(value)]);
    rows.push(["layout", report.layout], ["iterations", report.iterations], ["tours", report.tours], ["set-up", shownSeconds(report.setup_seconds || 0)]);
    const table = element("settings");
    table.replaceChildren();
    for (const [name, value] of rows) {
      if (value === null || value === undefined || value === "") continue;
      const row = table.insertRow();
      row.insertCell().append(name);
      row.insertCell().append(String(value));
    }
  }

  const SHOWN = 1000;

  function showOrder() {
    if (!element("order-section").open || !chosen) return;
    const list = element("order");
    list.replaceChildren();
    const { names, tour } = chosen.report;
    for (let at = 0; at < Math.min(SHOWN, tour.length); at++) {
      list.appendChild(document.createElement("li")).append(names ? names[at] : String(tour[at]));
    }
    element("order-more").textContent = tour.length > SHOWN ? `and ${wholeNumber.format(tour.length - SHOWN)} more, which the CSV has` : "";
  }

  // --- Files ---

  function save(name, type, text) {
    saveBlob(name, new Blob([text], { type }));
  }

  function saveBlob(name, blob) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${chosen.report.instance.name.replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 60) || "tour"}.${name}`;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // The stops of the chosen run, with the cost of the step to each and the cost so far; a closed tour returns to its first place.
  function stops() {
    const { report, isOpen, total } = chosen;
    const count = report.tour.length;
    const legs = report.legs || [];
    return Array.from({ length: isOpen ? count : count + 1 }, (_, position) => {
      const at = position % count;
      const leg = position === 0 || count === 1 ? 0 : legs[position - 1];
      return {
        position: position + 1, id: report.tour[at], name: report.names ? report.names[at] : null,
        place: report.places ? report.places[at] : null, leg, total: total[Math.min(position, legs.length)],
      };
    });
  }

  function csv() {
    const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const { report } = chosen;
    const isGlobe = report.instance.coordinates === "degrees";
    const head = ["position", "id"].concat(report.names ? ["name"] : [], report.places ? (isGlobe ? ["latitude", "longitude"] : ["x", "y"]) : [], ["leg", "total"]);
    const lines = stops().map(({ position, id, name, place, leg, total }) => {
      const cells = [position, id];
      if (report.names) cells.push(quoted(name));
      if (place) cells.push(...(isGlobe ? [place[1], place[0]] : place));
      cells.push(leg === null ? "" : digits(leg), digits(total));
      return cells.join(",");
    });
    return `${head.join(",")}\n${lines.join("\n")}\n`;
  }

  // The line is cut at the 180th meridian, as RFC 7946 asks for it.
  function geojson() {
    const { report } = chosen;
    const parts = [[]];
    const all = stops();
    for (const { place } of all) {
      const to = [within180(place[0]), place[1]];
      const from = parts[parts.length - 1][parts[parts.length - 1].length - 1];
      if (from && Math.abs(from[0] - to[0]) > 180) {
        const edge = from[0] < 0 ? -180 : 180;
        const share = to[0] + 2 * edge === from[0] ? 0 : (edge - from[0]) / (to[0] + 2 * edge - from[0]);
        const latitude = from[1] + share * (to[1] - from[1]);
        parts[parts.length - 1].push([edge, latitude]);
        parts.push([[-edge, latitude]]);
      }
      parts[parts.length - 1].push(to);
    }
    const geometry = parts.length === 1 ? { type: "LineString", coordinates: parts[0] } : { type: "MultiLineString", coordinates: parts };
    const { name, unit } = report.instance;
    const line = { type: "Feature", geometry, properties: { name, cost: report.cost, unit, places: report.tour.length, closed: !chosen.isOpen } };
    const points = all.slice(0, report.tour.length).map(({ position, id, name, place, leg, total }) => ({
      type: "Feature",
      geometry: { type: "Point", coordinates: [within180(place[0]), place[1]] },
      properties: name === null ? { position, id, leg, total } : { position, id, name, leg, total },
    }));
    return JSON.stringify({ type: "FeatureCollection", features: [line, ...points] });
  }

  function tsplib() {
    const { report } = chosen;
    const name = report.instance.name.replace(/[\r\n]/g, " ");
    return `NAME : ${name}.tour\nCOMMENT : length ${digits(report.cost)}\nTYPE : TOUR\nDIMENSION : ${report.tour.length}\nTOUR_SECTION\n${report.tour.join("\n")}\n-1\nEOF\n`;
  }

  function listenToButtons() {
    element("csv").addEventListener("click", () => save("csv", "text/csv", csv()));
    element("geojson").addEventListener("click", () => save("geojson", "application/geo+json", geojson()));
    element("tsplib").addEventListener("click", () => save("tour", "text/plain", tsplib()));
    element("png").addEventListener("click", () => {
      redraw();
      canvas.toBlob((blob) => blob && saveBlob("png", blob));
    });
  }

  // --- Choosing what is shown ---

  // What tells a run from the others of its instance.
  function nameRuns(runs) {
    const parts = [
      ({ report }) => report.algorithm,
      ({ report }) => machineText(report),
      ({ report }) => `seed ${report.seed}`,
      ({ report }) => shownSeconds(report.seconds),
    ];
    const told = parts.filter((part) => new Set(runs.map(part)).size > 1);
    runs.forEach((run, at) => (run.name = told.map((part) => part(run)).join(", ") || `run ${at + 1}`));
  }

  function listRuns() {
    const list = element("runs-list");
    element("runs-section").hidden = group.runs.length < 2;
    list.replaceChildren();
    for (const run of group.runs) {
      const item = list.appendChild(document.createElement("li"));
      item.classList.toggle("chosen", run === chosen);
      const box = document.createElement("input");
      box.type = "checkbox";
      box.checked = run.isShown;
      box.style.accentColor = run.color;
      box.setAttribute("aria-label", `show ${run.name}`);
      box.addEventListener("change", () => {
        run.isShown = box.checked;
        ask();
        drawCourse();
      });
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = `${run.name}: ${shownCost(run.report.cost, run.report.instance.unit)}`;
      button.style.borderLeft = `4px solid ${run.color}`;
      button.style.paddingLeft = "8px";
      button.addEventListener("click", () => choose(run));
      item.append(box, button);
    }
  }

  // Shows the facts of a run, which the buttons save.
  function choose(run) {
    chosen = run;
    facts(run.report);
    settings(run.report);
    listRuns();
    showOrder();
    element("geojson").disabled = !(run.report.places && run.report.instance.coordinates === "degrees");
    // A page of several runs may have the tour of the best one only.
    element("tsplib").disabled = !run.report.tour.length;
    element("csv").disabled = !(run.report.legs && run.report.legs.length);
  }

  function showGroup(shown) {
    group = shown;
    [lowered, marked] = [null, -1];
    element("tip").hidden = true;
    element("search").value = "";
    search();
    nameRuns(group.runs);
    const best = group.runs.reduce((best, run) => (run.report.cost < best.report.cost ? run : best));
    const { name, nodes, metric } = best.report.instance;
    document.title = `${name} \u00b7 antwarp`;
    element("title").textContent = name;
    element("subtitle").textContent = `${wholeNumber.format(nodes)} places, ${shownCost(best.report.cost, best.report.instance.unit)}${group.runs.length > 1 ? `, the best of ${group.runs.length} runs` : ""}`;
    element("no-map").hidden = Boolean(group.x);
    element("tools").hidden = !group.x;
    element("finding").hidden = !group.x;
    element("png").disabled = !group.x;
    element("tiles-label").hidden = !group.isGlobe;
    element("tiles").checked = false;
    element("attribution").hidden = true;
    choose(best);
    showAll();
    redraw();
    drawCourse();
  }

  const groups = grouped();
  listen();
  listenToButtons();
  const instances = element("instances");
  for (const { runs } of groups) instances.add(new Option(runs[0].report.instance.name));
  instances.hidden = groups.length < 2;
  showGroup(groups[0]);
  resize();

  // For tests, and for whoever wants to know: how long the map takes to be drawn, pixels included, in milliseconds.
  window.timeRedraw = () => {
    const before = performance.now();
    redraw();
    context.getImageData(0, 0, 1, 1);
    return performance.now() - before;
  };
  // Where a place is on the page, by its name or number.
  window.whereIs = (name) => {
    const place = Array.from({ length: group.count }, (_, at) => at).find((at) => label(at) === name);
    const box = canvas.getBoundingClientRect();
    return place === undefined ? null : [box.left + group.x[place] * view.scale + view.x, box.top + group.y[place] * view.scale + view.y];
  };
})();
