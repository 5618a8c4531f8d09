#!/usr/bin/env python3
"""How often does `agon analyse` call seats unequal that have identical rules?

Analyses built-in games whose roles have identical rules with many seeds each, and prints for each game in how many runs
the seats were called unequal. The exit code is 1 if that happened in more than 5 % of all runs.

    python3 scripts/seats.py target/release/agon --seeds 20
"""

import argparse
import json
import subprocess
import sys

GAMES = [
    "battle",
    "battle_of_the_sexes",
    "colonel_blotto",
    "goofspiel",
    "iterated_prisoners_dilemma",
    "matching_pennies",
    "roshambo",
    "runners",
    "sealed_bid_auction",
    "tron",
    "tron_4",
]


def is_called_unequal(agon, game, seed, options):
    command = [agon, "analyse", game, "--seed", str(seed), "--json"]
    command += ["--games", str(options.games), "--playouts", str(options.playouts), "--seconds", str(options.seconds)]
    report = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    return any("seats are not equal" in doubt for doubt in report["doubts"]), report


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("agon", help="the binary")
    parser.add_argument("--seeds", type=int, default=20, help="seeds per game")
    parser.add_argument("--games", type=int, default=1000, help="random games per run")
    parser.add_argument("--playouts", type=int, default=50, help="playouts per move of the Monte Carlo player")
    parser.add_argument("--seconds", type=float, default=10, help="time per run")
    parser.add_argument("names", nargs="*", default=GAMES, help="games, if not all")
    options = parser.parse_args()
    total = wrong = 0
    for game in options.names:
        n_wrong = n_random = n_monte_carlo = 0
        for seed in range(1, options.seeds + 1):
            # Runs share no random game: those of a run have consecutive seeds.
            unequal, report = is_called_unequal(options.agon, game, seed * 1_000_003, options)
            n_wrong += unequal
            n_random += report["random"]["games"]
            n_monte_carlo += (report["monte_carlo"] or {"games": 0})["games"]
        total += options.seeds
        wrong += n_wrong
        print(f"{game:28} {n_wrong:3} of {options.seeds} runs; {n_random} random and {n_monte_carlo} Monte Carlo games", flush=True)
    print(f"{'all':28} {wrong:3} of {total} runs ({100 * wrong / total:.1f} %)")
    sys.exit(wrong > 0.05 * total)


if __name__ == "__main__":
    main()
