#!/usr/bin/env python3
"""Measures how the speed of an engine falls as boards grow, and prints a table.

For each game of scripts/boards.py and each size: state transitions per second of CPU time, the fastest of several runs in turn,
because other work on the machine can only slow them down. The exponent compares a size with the one before: speed falls like
cells to the power of minus the exponent. Ends with exit code 1 if an exponent is above --most.

    scripts/growth.py --agon target/release/agon
    scripts/growth.py --agon target/release/agon --against OLD/agon
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

import boards

SIZES = {
    "gomoku": [15, 19, 25, 31, 40],
    "breakthrough": [8, 12, 16, 26],
    "lines_of_action": [8, 10, 12],
    "hex": [9, 11, 14, 19],
}


def measure(agon, sheet, engine, seconds):
    """State transitions per second."""
    command = [agon, "bench", sheet, "--engine", engine, "--seconds", str(seconds), "--json"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{sheet}: {run.stderr.strip() or run.stdout.strip()}")
    return json.loads(run.stdout.splitlines()[0])["transitions_per_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agon", default="target/release/agon")
    parser.add_argument("--against", help="another build of agon to compare with")
    parser.add_argument("--engine", default="scalar")
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--most", type=float, default=1.2, help="the largest exponent allowed")
    given = parser.parse_args()
    builds = [given.agon] + ([given.against] if given.against else [])
    heads = ["game", "board", "transitions/s", "exponent"] + (["against", "ratio"] if given.against else [])
    print("|", " | ".join(heads), "|")
    print("|---|" + "--:|" * (len(heads) - 1))
    is_steep = False
    with tempfile.TemporaryDirectory() as folder:
        for game, sizes in SIZES.items():
            sheets = {size: os.path.join(folder, f"{game}_{size}.kif") for size in sizes}
            for size, sheet in sheets.items():
                with open(sheet, "w") as file:
                    file.write(boards.rulesheet(game, size))
            best = {}
            for _ in range(given.times):
                for size, sheet in sheets.items():
                    for build in builds:
                        speed = measure(build, sheet, given.engine, given.seconds)
                        best[build, size] = max(speed, best.get((build, size), 0))
            before = None
            for size in sizes:
                speed = best[given.agon, size]
                exponent = None
                if before:
                    exponent = math.log(best[given.agon, before] / speed) / math.log((size / before) ** 2)
                    is_steep |= exponent > given.most
                row = [game, f"{size} × {size}", f"{speed:,.0f}", "" if exponent is None else f"{exponent:.2f}"]
                if given.against:
                    row += [f"{best[given.against, size]:,.0f}", f"{speed / best[given.against, size]:.2f}"]
                print("|", " | ".join(row), "|", flush=True)
                before = size
    sys.exit(1 if is_steep else 0)


if __name__ == "__main__":
    main()
