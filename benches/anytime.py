#!/usr/bin/env python3
"""How good is a long run at any moment?

Runs `antwarp solve` with a limit, and again with each of some shorter limits, and prints as CSV how long the tour of the long run was at
those moments beside the tours of the short runs:

    benches/anytime.py target/release/antwarp E10k.0 --limit 64 --seeds 1 2 3 -- --backend cpu --threads 1

`antwarp plot` draws the files that --keep leaves.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile


def solve(program, instance, limit, seed, options, folder):
    """Returns the report of a run."""
    path = folder / f"{pathlib.Path(instance).stem}-{limit:g}s-{seed}.json"
    command = [program, "solve", instance, "--time", f"{limit}s", "--seed", str(seed), "-q", "--json", str(path), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return json.loads(path.read_text())


def gap_at(report, moment):
    """Returns the gap in percent of the best tour at a moment, or "" before there is one."""
    if report["gap_percent"] is None:
        sys.exit("no best known length of this instance")
    best_known = report["cost"] / (1 + report["gap_percent"] / 100)
    costs = [better["cost"] for better in report["trace"] if better["seconds"] <= moment]
    return f"{100 * (min(costs) / best_known - 1):.4f}" if costs else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("instance")
    parser.add_argument("--limit", type=float, default=64.0, help="of the long run, in seconds")
    parser.add_argument("--moments", type=float, nargs="+", help="default: 1, 2, 4 ... s")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the reports")
    # Python from 3.12 on does not take the rest from behind options.
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    given = parser.parse_args(sys.argv[1:at])
    options = sys.argv[at + 1 :]
    moments = given.moments or [2.0**k for k in range(12) if 2.0**k < given.limit]
    table = csv.writer(sys.stdout)
    table.writerow(["instance", "seed", "moment", "gap_of_long_run", "gap_of_run_with_this_limit"])
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for seed in given.seeds:
            long = solve(given.program, given.instance, given.limit, seed, options, folder)
            for moment in moments:
                short = solve(given.program, given.instance, moment, seed, options, folder)
                row = [given.instance, seed, f"{moment:g}", gap_at(long, moment), f"{short['gap_percent']:.4f}"]
                table.writerow(row)
                sys.stdout.flush()
            table.writerow([given.instance, seed, f"{given.limit:g}", f"{long['gap_percent']:.4f}", ""])


if __name__ == "__main__":
    main()
