#!/usr/bin/env python3
"""Measures the lanes engine on many rulesheets and prints the tables of docs/PERF.md.

For each rulesheet: random games per second of CPU time on the scalar engine, and on the lanes engine with machine code for
the widest vectors, with machine code for AVX2, with tables, and with 64-bit words. With --passes, also the relative speed
without each pass of the optimiser. All variants are measured in turn, several times, and the fastest run of each counts,
because other work on the machine can only slow them down.

    scripts/lanes.py --agon target/release/agon ../shared/games/checkers.kif …
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

# Games per second of the feasibility study for this engine: machine code with AVX-512 on a Zen 4 core.
STUDY = {
    "ticTacToe": 233e6, "connectFour": 39e6, "breakthrough": 6.0e6, "knightThrough": 11.6e6, "reversi": 2.6e6,
    "pentago": 16.3e6, "battle": 1.5e6, "chinook": 5.5e6, "quarto": 2.1e6, "nineBoardTicTacToe": 13.7e6,
    "connect5": 4.2e6, "tictactoe_3d_2player": 14e6, "ttcc4_2player": 3.1e6, "chineseCheckers2": 2.0e6,
    "sheepAndWolf": 9.3e6, "blocker": 155e6, "biddingTicTacToe": 37e6, "englishDraughts": 1.9e6,
    "amazons_8x8": 0.67e6, "speedChess": 0.24e6, "gomoku_15x15": 0.76e6, "skirmish": 0.107e6, "hex": 0.108e6,
}

PASSES = ["sequential", "forced", "phases", "one-hot", "does-legal", "flatten", "share"]


def measure(agon, sheet, seconds, options):
    """Playouts per second, or None if the command fails or takes too long."""
    command = [agon, "bench", sheet, "--seconds", str(seconds), "--json", *options]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return None
    if run.returncode != 0:
        print(f"{sheet}: {run.stderr.strip()}", file=sys.stderr)
        return None
    return json.loads(run.stdout.splitlines()[0])["playouts_per_s"]


def figure(value):
    """A rate as readable text."""
    if not value:
        return "–"
    for unit, size in (("M", 1e6), ("k", 1e3), ("", 1)):
        if value >= size:
            digits = 0 if value >= 100 * size else 1 if value >= 10 * size else 2
            return f"{value / size:.{digits}f} {unit}".strip()
    return f"{value:.2f}"


def ratio(above, below):
    return f"{above / below:.2f}" if above and below else "–"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agon", default="target/release/agon")
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--passes", action="store_true", help="also measure without each pass of the optimiser")
    parser.add_argument("sheets", nargs="+")
    given = parser.parse_args()
    lanes = ["--engine", "lanes"]
    kinds = {
        "scalar": ["--engine", "scalar"],
        "machine code": lanes,
        "AVX2": [*lanes, "--simd", "avx2"],
        "tables": [*lanes, "--no-jit"],
        "any CPU": [*lanes, "--simd", "portable"],
    }
    if given.passes:
        kinds |= {f"without {name}": [*lanes, "--without", name] for name in PASSES}
    speeds, parts = [], []
    left = {name: [] for name in PASSES}
    for sheet in given.sheets:
        name = os.path.splitext(os.path.basename(sheet))[0]
        best = dict.fromkeys(kinds)
        for _ in range(given.times):
            for kind, options in kinds.items():
                found = measure(given.agon, sheet, given.seconds, options)
                best[kind] = max(filter(None, (best[kind], found)), default=None)
        print(name, best, file=sys.stderr)
        full, scalar = best["machine code"], best["scalar"]
        columns = [figure(best[kind]) for kind in ("scalar", "machine code", "AVX2", "tables", "any CPU")]
        of_study = ratio(full, STUDY.get(name))
        ratios = [of_study, ratio(full, scalar), ratio(best["AVX2"], full), ratio(best["any CPU"], scalar)]
        speeds.append(" | ".join([name, *columns, *ratios]))
        if not given.passes:
            continue
        parts.append(" | ".join([name, *(ratio(best[f"without {skipped}"], full) for skipped in PASSES)]))
        for skipped in PASSES:
            if full and best[f"without {skipped}"]:
                left[skipped].append(best[f"without {skipped}"] / full)
    means = (statistics.geometric_mean(ratios) if ratios else 0 for ratios in left.values())
    parts.append(" | ".join(["geometric mean", *(ratio(mean, 1) for mean in means)]))
    heads = ["game", "scalar", "machine code", "AVX2", "tables", "any CPU"]
    heads += ["of the study", "code : scalar", "AVX2 : code", "any CPU : scalar"]
    tables = [(heads, speeds)] + ([(["game", *PASSES], parts)] if given.passes else [])
    for head, rows in tables:
        print("|", " | ".join(head), "|")
        print("|---|" + "--:|" * (len(head) - 1))
        for row in rows:
            print("|", row, "|")
        print()


if __name__ == "__main__":
    main()
