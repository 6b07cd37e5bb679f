#!/usr/bin/env python3
"""Draws the pictures of docs/algorithms from small random instances: a move, a team's search for one, changes that are merged, edge assembly,
and 1-trees.

    python3 benches/figures.py -o docs/algorithms
"""

import argparse
import itertools
import math
import pathlib
import random

OLD, NEW, KEPT, OTHER = "#c0392b", "#1e8449", "#34495e", "#b9770e"
PALETTE = ["#c0392b", "#1f618d", "#7d3c98", "#117a65", "#b9770e", "#5d6d7e"]


def length(places, a, b):
    return math.dist(places[a], places[b])


def edges(tour):
    return {frozenset(edge) for edge in zip(tour, tour[1:] + tour[:1])}


def total(places, tour):
    return sum(length(places, *edge) for edge in map(tuple, edges(tour)))


def two_opt(places, tour):
    """Returns the local optimum of exchanges of two edges."""
    tour, n = list(tour), len(tour)
    improved = True
    while improved:
        improved = False
        for i, j in itertools.combinations(range(n), 2):
            a, b, c, d = tour[i], tour[(i + 1) % n], tour[j], tour[(j + 1) % n]
            if len({a, b, c, d}) == 4:
                gain = length(places, a, b) + length(places, c, d) - length(places, a, c) - length(places, b, d)
                if gain > 1e-9:
                    tour[i + 1 : j + 1] = reversed(tour[i + 1 : j + 1])
                    improved = True
    return tour


def cycles(graph):
    """Returns the cycles of a graph in which every node has two edges."""
    beside = {}
    for edge in graph:
        a, b = edge
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    found, seen = [], set()
    for start in beside:
        if start in seen:
            continue
        cycle, last, at = [start], None, start
        while True:
            following = [node for node in beside[at] if node != last] or beside[at]
            last, at = at, following[0]
            if at == start:
                break
            cycle.append(at)
        seen.update(cycle)
        found.append(cycle)
    return found


class Panel:
    """A part of a picture, 260 units wide, with places in the unit square."""

    def __init__(self, places, title):
        self.places, self.title, self.lines = places, title, []

    def at(self, node):
        x, y = self.places[node]
        return 20 + 220 * x, 40 + 220 * (1 - y)

    def draw(self, shown, colour, width=1.5, dash=""):
        for edge in sorted(map(sorted, shown)):
            (x1, y1), (x2, y2) = map(self.at, edge)
            style = f' stroke-dasharray="{dash}"' if dash else ""
            self.lines.append(
                f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"{style}/>'
            )

    def name(self, node, text):
        x, y = self.at(node)
        self.lines.append(f'<text x="{x + 6:.1f}" y="{y - 6:.1f}" font-size="12">{text}</text>')

    def text(self, left):
        dots = []
        for node in range(len(self.places)):
            x, y = self.at(node)
            dots.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{KEPT}"/>')
        head = f'<text x="20" y="20" font-size="13" font-weight="bold">{self.title}</text>'
        return "\n".join([f'<g transform="translate({left},0)">', head, *self.lines, *dots, "</g>"])


def picture(panels, legend):
    width = 260 * len(panels)
    key, x = [], 20
    for colour, dash, text in legend:
        style = f' stroke-dasharray="{dash}"' if dash else ""
        key.append(f'<line x1="{x}" y1="290" x2="{x + 24}" y2="290" stroke="{colour}" stroke-width="2.5"{style}/>')
        key.append(f'<text x="{x + 30}" y="294" font-size="12">{text}</text>')
        x += 50 + 7 * len(text)
    body = "\n".join(panel.text(260 * at) for at, panel in enumerate(panels))
    key = "\n".join(key)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} 306" width="{width}" height="306" font-family="sans-serif">\n'
        f'<rect width="{width}" height="306" fill="white"/>\n{body}\n{key}\n</svg>\n'
    )


def a_move():
    """A sequential move of three edges that no move of two edges replaces."""
    for seed in itertools.count(1):
        rng = random.Random(seed)
        places = [(rng.random(), rng.random()) for _ in range(12)]
        tour = two_opt(places, range(12))
        n = len(tour)
        best = None
        for i, j, k in itertools.combinations(range(n), 3):
            t1, t2, t3, t4, t5, t6 = tour[i], tour[i + 1], tour[j], tour[j + 1], tour[k], tour[(k + 1) % n]
            moved = tour[: i + 1] + tour[j + 1 : k + 1] + tour[i + 1 : j + 1] + tour[k + 1 :]
            gain = total(places, tour) - total(places, moved)
            if len({t1, t2, t3, t4, t5, t6}) == 6 and (best is None or gain > best[0]):
                best = (gain, moved)
        if best is not None and best[0] > 0.15 and two_opt(places, best[1]) == best[1]:
            break
    before, after = edges(tour), edges(best[1])
    removed, added = before - after, after - before
    # t0 and t1 are the ends of an edge that goes; t1 t2 is the first edge that comes, t2 t3 the next one that goes, and so on.
    for t0, t1 in itertools.permutations(set().union(*removed), 2):
        if frozenset((t0, t1)) not in removed:
            continue
        names, at, gone = [t0, t1], t1, {frozenset((t0, t1))}
        while len(gone) < 3:
            following = next(iter(next(edge for edge in added if at in edge and not edge <= {at, names[0]}) - {at}))
            edge = next(edge for edge in removed if following in edge)
            if edge in gone:
                break
            at = next(iter(edge - {following}))
            gone.add(edge)
            names += [following, at]
        if len(names) == 6 and frozenset((names[-1], t0)) in added:
            break
    first, second = Panel(places, "a tour and a move"), Panel(places, "the tour after it")
    first.draw(before & after, KEPT)
    first.draw(removed, OLD, 2.5, "5,4")
    first.draw(added, NEW, 2.5)
    for number, node in enumerate(names):
        first.name(node, f"t{number}")
    second.draw(after & before, KEPT)
    second.draw(added, NEW, 2.5)
    return picture([first, second], [(OLD, "5,4", "removed"), (NEW, "", "added")])


def merged_changes():
    """Three changes of one tour, of which two share a node."""
    for seed in itertools.count(1):
        rng = random.Random(seed)
        places = [(rng.random(), rng.random()) for _ in range(40)]
        # A tour that is good but not locally optimal: a local optimum with some segments reversed.
        tour = two_opt(places, range(40))
        for _ in range(3):
            i = rng.randrange(1, 34)
            tour[i : i + 5] = reversed(tour[i : i + 5])
        n, moves = len(tour), []
        for i, j in itertools.combinations(range(n - 1), 2):
            a, b, c, d = tour[i], tour[i + 1], tour[j], tour[j + 1]
            gain = length(places, a, b) + length(places, c, d) - length(places, a, c) - length(places, b, d)
            if len({a, b, c, d}) == 4 and gain > 0.05:
                moves.append((gain, {frozenset((a, b)), frozenset((c, d))}, {frozenset((a, c)), frozenset((b, d))}))
        moves.sort(key=lambda move: -move[0])
        nodes = [set().union(*move[1]) for move in moves]
        found = None
        for x, y, z in itertools.permutations(range(len(moves)), 3):
            apart = not nodes[x] & nodes[y] and not nodes[z] & nodes[y]
            if apart and nodes[x] & nodes[z] and x < z:
                after = (edges(tour) - moves[x][1] - moves[y][1]) | moves[x][2] | moves[y][2]
                if len(cycles(after)) == 1:
                    found = (x, y, z)
                    break
        if found:
            break
    kept = [moves[found[0]], moves[found[1]]]
    refused = moves[found[2]]
    gone = set().union(*(move[1] for move in kept))
    come = set().union(*(move[2] for move in kept))
    panels = [Panel(places, "changes of three trials"), Panel(places, "the merged tour")]
    panels[0].draw(edges(tour) - gone - refused[1], KEPT)
    for move, colour in zip([*kept, refused], [NEW, NEW, OTHER]):
        panels[0].draw(move[1], OLD, 2, "5,4")
        panels[0].draw(move[2], colour, 2.5)
    panels[1].draw((edges(tour) - gone), KEPT)
    panels[1].draw(come, NEW, 2.5)
    return picture(
        panels, [(OLD, "5,4", "removed"), (NEW, "", "added, made"), (OTHER, "", "added, left out: it shares a node")]
    )


def edge_assembly():
    """Two local optima, the cycles in which they differ, and a child that takes one of these."""
    for seed in itertools.count(1):
        rng = random.Random(seed)
        places = [(rng.random(), rng.random()) for _ in range(26)]
        a, b = (two_opt(places, rng.sample(range(26), 26)) for _ in range(2))
        of_a, of_b = edges(a) - edges(b), edges(b) - edges(a)
        parts = ab_cycles(of_a, of_b, rng)
        if len(parts) < 2:
            continue
        for part in parts:
            child = (edges(a) - part) | (part & of_b)
            if len(cycles(child)) == 1:
                lengths = [sum(length(places, *edge) for edge in map(tuple, tour)) for tour in (child, edges(a), edges(b))]
                if lengths[0] < min(lengths[1:]) - 0.02:
                    panels = [Panel(places, title) for title in ("tour A", "tour B", "where they differ", "the child")]
                    panels[0].draw(edges(a), KEPT)
                    panels[1].draw(edges(b), OTHER)
                    for cycle, colour in zip(parts, PALETTE):
                        panels[2].draw(cycle & of_a, colour, 2.5)
                        panels[2].draw(cycle & of_b, colour, 2.5, "5,4")
                    panels[3].draw(child & edges(a), KEPT)
                    panels[3].draw(child - edges(a), OTHER, 2.5)
                    legend = [(KEPT, "", "edge of A"), (OTHER, "", "edge of B"), (PALETTE[0], "", "A alone, one colour a cycle")]
                    return picture(panels, [*legend, (PALETTE[0], "5,4", "B alone")])


def ab_cycles(of_a, of_b, rng):
    """Divides the edges that only one of two tours has into closed walks that alternate between the tours."""
    left, found = [set(of_a), set(of_b)], []
    while left[0]:
        # A walk: nodes, and the edge that led to each.
        walk, kind = [(rng.choice(sorted(min(map(sorted, left[0])))), None)], 0
        while True:
            node = walk[-1][0]
            choices = sorted(tuple(sorted(edge)) for edge in left[kind] if node in edge)
            edge = frozenset(rng.choice(choices))
            left[kind].discard(edge)
            (following,) = edge - {node}
            walk.append((following, edge))
            kind = 1 - kind
            # A cycle is closed where the walk left this node by an edge of the kind that is next.
            starts = [at for at in range(len(walk) - 1) if walk[at][0] == following and at % 2 == kind]
            if starts:
                cut = starts[-1]
                found.append({edge for _, edge in walk[cut + 1 :]})
                walk = walk[: cut + 1]
                if cut == 0:
                    break
                kind = cut % 2
    return found


class Grid:
    """A part of a picture, 260 units wide: the steps of a search level, one row for each path, in the order in which they are evaluated."""

    def __init__(self, title, note, rows, beside):
        self.title, self.note, self.rows, self.beside = title, note, rows, beside

    def text(self, left):
        """`rows` has for each path the label and the colour of each step, the colour empty if it is too far away to be evaluated."""
        lines = [f'<text x="20" y="20" font-size="13" font-weight="bold">{self.title}</text>']
        for row, steps in enumerate(self.rows):
            for column, (label, colour) in enumerate(steps):
                # Groups that are evaluated together are apart from each other.
                x = 20 + 26 * column + 8 * (column // self.beside)
                y = 50 + 44 * row
                style = f'fill="{colour}"' if colour else 'fill="none" stroke="#aab7b8" stroke-dasharray="3,2"'
                ink = "white" if colour else "#aab7b8"
                lines.append(f'<rect x="{x}" y="{y}" width="22" height="26" rx="3" {style}/>')
                lines.append(f'<text x="{x + 11}" y="{y + 17}" font-size="11" fill="{ink}" text-anchor="middle">{label}</text>')
        for at, text in enumerate(self.note):
            lines.append(f'<text x="20" y="{236 + 16 * at}" font-size="12">{text}</text>')
        return "\n".join([f'<g transform="translate({left},0)">', *lines, "</g>"])


def a_team():
    """The steps of the second level of a search, and the member of a team that evaluates each."""
    for seed in itertools.count(1):
        rng = random.Random(seed)
        places = [(rng.random(), rng.random()) for _ in range(40)]
        tour = two_opt(places, range(40))
        # A kick: a segment is reversed, and the search starts at one of its ends.
        i = rng.randrange(2, 30)
        tour[i : i + 6] = reversed(tour[i : i + 6])
        near = [sorted((other for other in range(40) if other != node), key=lambda o: length(places, node, o))[:8] for node in range(40)]
        t0, kept = tour[i], []
        for path in (tour[i + 1 :] + tour[: i + 1], tour[:i][::-1] + tour[i:][::-1]):
            t1, removed = path[0], length(places, t0, path[0])
            for t2 in near[t1]:
                at = path.index(t2)
                if length(places, t1, t2) >= removed or at < 2 or t2 == t0:
                    continue
                for t3 in (path[at - 1], path[at + 1]):
                    total_so_far = removed - length(places, t1, t2) + length(places, t2, t3)
                    kept.append((total_so_far, t1, t2, t3))
        kept = sorted(kept, reverse=True)[:4]
        open_steps = [[length(places, t3, other) < sum_ for other in near[t3]] for sum_, _, _, t3 in kept]
        named = [t0, *(path[3] for path in kept)]
        apart = len(kept) == 4 and all(length(places, *pair) > 0.13 for pair in itertools.combinations(named, 2))
        if apart and sum(map(sum, open_steps)) in range(16, 26) and any(sum(row) <= 4 for row in open_steps):
            break
    panel = Panel(places, "the second level of a search")
    panel.draw(edges(tour), "#d5d8dc")
    for (_, t1, t2, t3), row, colour in zip(kept, open_steps, PALETTE):
        panel.draw({frozenset((t1, t2))}, KEPT, 1, "2,2")
        panel.draw({frozenset((t3, other)) for other, is_open in zip(near[t3], row) if is_open}, colour, 1.5)
    for number, (_, _, _, t3) in enumerate(kept):
        panel.name(t3, "abcd"[number])
    panel.name(t0, "t0")
    of_warp, of_thread, batch = [], [], 0
    for row, (steps, colour) in enumerate(zip(open_steps, PALETTE)):
        of_warp.append([(8 * row + at, colour if is_open else "") for at, is_open in enumerate(steps)])
        # A thread leaves out four neighbours if the nearest of them is too far away.
        labels = []
        for first in (0, 4):
            batch += steps[first]
            labels += [(batch if steps[first] else "", colour if is_open else "") for is_open in steps[first : first + 4]]
        of_thread.append(labels)
    warp = Grid("a warp: a lane for each step", ["all 32 at the same time; then", "reductions find the best"], of_warp, 8)
    thread = Grid("a CPU thread: four side by side", [f"{batch} groups, one after the other,", "numbered in their order"], of_thread, 4)
    legend = [(colour, "", f"steps of path {name}") for colour, name in zip(PALETTE, "abcd")]
    return picture([panel, warp, thread], [*legend, ("#aab7b8", "3,2", "too far to gain")])


def one_tree(places, potentials):
    """Returns the minimum spanning tree, the second edge of the leaf where that is heaviest, and the bound that both prove."""
    nodes = range(len(places))

    def weight(a, b):
        return length(places, a, b) + potentials[a] + potentials[b]

    tree, reached = set(), {0}
    while len(reached) < len(places):
        a, b = min(((a, b) for a in reached for b in nodes if b not in reached), key=lambda edge: weight(*edge))
        tree.add(frozenset((a, b)))
        reached.add(b)
    leaves = [node for node in nodes if sum(node in edge for edge in tree) == 1]
    seconds = [min((weight(leaf, b), leaf, b) for b in nodes if b != leaf and frozenset((leaf, b)) not in tree) for leaf in leaves]
    heaviest, leaf, other = max(seconds)
    return tree, frozenset((leaf, other)), sum(weight(*edge) for edge in tree) + heaviest - 2 * sum(potentials)


def one_trees():
    """The minimum 1-tree without potentials and with those of an ascent, and the shortest tour that 2-opt finds."""
    rng = random.Random(7)
    places = [(rng.random(), rng.random()) for _ in range(24)]
    tours = [two_opt(places, rng.sample(range(24), 24)) for _ in range(60)]
    tour = min(tours, key=lambda tour: total(places, tour))
    shown = [one_tree(places, [0.0] * 24)]
    potentials, best = [0.0] * 24, shown[0]
    for step in range(2000):
        tree, extra, bound = one_tree(places, potentials)
        if bound > best[2]:
            best = (tree, extra, bound)
        degrees = [sum(node in edge for edge in (*tree, extra)) for node in range(24)]
        size = 0.05 * 0.997**step
        potentials = [p + size * (degree - 2) for p, degree in zip(potentials, degrees)]
    shown.append(best)
    panels = []
    for (tree, extra, bound), title in zip(shown, ("minimum 1-tree", "with potentials")):
        panels.append(Panel(places, f"{title}: {100 * bound / total(places, tour):.1f} %"))
        panels[-1].draw(tree, KEPT)
        panels[-1].draw({extra}, OTHER, 2.5)
    panels.append(Panel(places, "the tour: 100 %"))
    panels[-1].draw(edges(tour), KEPT)
    return picture(panels, [(KEPT, "", "edges of the tree, of the tour"), (OTHER, "", "the additional edge")])


PICTURES = {"move.svg": a_move, "team.svg": a_team, "merge.svg": merged_changes, "edge-assembly.svg": edge_assembly, "one-tree.svg": one_trees}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="the folder for the pictures")
    folder = parser.parse_args().output
    for name, draw in PICTURES.items():
        (folder / name).write_text(draw())


if __name__ == "__main__":
    main()
