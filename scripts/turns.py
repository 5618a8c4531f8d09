#!/usr/bin/env python3
"""Compares two builds of Agon by the speed of random games, in turns.

Each rulesheet is measured with one build, then with the other, several times, by playouts per second of CPU time of one
thread. The figure of a rulesheet is the median of one build divided by the median of the other; the summary is the
geometric mean and the lowest figure.

    scripts/turns.py --before ../old/target/release/agon --after target/release/agon ../shared/games/checkers.kif …
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys


def measure(agon, sheet, given):
    """Playouts per second, or None if the sheet cannot be measured."""
    command = [agon, "bench", sheet, "--engine", given.engine, "--seconds", str(given.seconds), "--json"]
    command += ["--simd", given.simd, "--work", given.work]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        print(f"{sheet}: {run.stderr.strip().splitlines()[:1]}", file=sys.stderr)
        return None
    return json.loads(run.stdout.splitlines()[0])["playouts_per_s"]


def compare(sheet, given):
    """The medians of both builds, or None."""
    speeds = ([], [])
    for _ in range(given.times):
        for agon, speeds_of_build in zip((given.before, given.after), speeds):
            speed = measure(agon, sheet, given)
            if not speed:
                return None
            speeds_of_build.append(speed)
    return tuple(map(statistics.median, speeds))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True, help="the build that the other one is compared with")
    parser.add_argument("--after", default="target/release/agon")
    parser.add_argument("--engine", default="lanes")
    parser.add_argument("--simd", default="auto")
    parser.add_argument("--work", default="sums")
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("sheets", nargs="+")
    given = parser.parse_args()
    ratios = {}
    for sheet in given.sheets:
        medians = compare(sheet, given)
        if medians is None:
            continue
        name = os.path.splitext(os.path.basename(sheet))[0]
        ratios[name] = medians[1] / medians[0]
        print(f"{name:24} {medians[0]:>14,.0f} {medians[1]:>14,.0f} {ratios[name]:6.3f}", flush=True)
    if ratios:
        mean = math.exp(statistics.mean(map(math.log, ratios.values())))
        lowest = min(ratios, key=ratios.get)
        print(f"geometric mean {mean:.3f} of {len(ratios)}, lowest {ratios[lowest]:.3f} ({lowest})")


if __name__ == "__main__":
    main()
