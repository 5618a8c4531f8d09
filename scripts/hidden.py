#!/usr/bin/env python3
"""Matches of games with hidden information over HTTP, between two `agon player` processes with short clocks.

    python3 scripts/hidden.py --agon target/release/agon --matches 100 --play-clock 1

Games and both forms of the protocol take turns. There must be no late, illegal or missing move, every match must reach its end
and agree with the rules, and the memory of the players must stay within --memory MiB. Prints a line per game and fails if
something does not hold.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GAMES = "kuhn_poker leduc_poker liars_dice blind_tic_tac_toe dark_hex meier".split()


class Player:
    """A player process; it ends with the `with` block."""

    def __init__(self, agon, preset, log):
        self.process = subprocess.Popen(
            [agon, "player", "--port", "0", "--player", preset],
            stdout=open(log, "w"),
            stderr=subprocess.STDOUT,
        )
        self.log = Path(log)
        self.url = None

    def __enter__(self):
        for _ in range(600):
            for word in self.log.read_text().replace(",", " ").split():
                if word.startswith("http://"):
                    self.url = word.rstrip("/.")
                    return self
            time.sleep(0.1)
        raise SystemExit(f"a player does not start: {self.log.read_text()}")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def peak(self):
        """The most memory that it had so far, in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        sizes = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        size = sizes.get("VmHWM") or sizes.get("VmRSS")
        return int(size.split()[0]) // 1024


def play(args, game, players, nth):
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "match.json"
        urls = [player.url for player in players]
        if nth // 2 % 2:
            urls.reverse()
        command = [args.agon, "match", game, *urls, "--wait", "20", "--start-clock", str(args.start_clock)]
        command += ["--play-clock", str(args.play_clock), "--percepts", ["turn", "short"][nth % 2]]
        command += ["--seed", str(nth), "--record", str(record), "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            return 0, [done.stderr.strip() or done.stdout.strip()]
        found = json.loads(record.read_text())
        faults = [str(fault) for fault in found["agon"]["faults"]]
        if not found["isCompleted"]:
            faults.append("it did not reach its end")
        valid = subprocess.run([args.agon, "replay", record, "--quiet"], capture_output=True, text=True)
        if valid.returncode != 0:
            faults.append(valid.stdout + valid.stderr)
        return len(found["moves"]), faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agon", default="target/release/agon")
    parser.add_argument("--games", nargs="*", default=GAMES)
    parser.add_argument("--players", nargs=2, default=["agon", "agon"])
    parser.add_argument("--matches", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="number of the first match")
    parser.add_argument("--start-clock", type=float, default=5)
    parser.add_argument("--play-clock", type=float, default=1)
    parser.add_argument("--memory", type=int, default=2048)
    args = parser.parse_args()
    tallies = {game: [0, 0, 0] for game in args.games}
    with tempfile.TemporaryDirectory() as folder:
        with Player(args.agon, args.players[0], f"{folder}/one") as one:
            with Player(args.agon, args.players[1], f"{folder}/two") as two:
                for nth in range(args.first, args.first + args.matches):
                    game = args.games[nth // 4 % len(args.games)]
                    n_steps, faults = play(args, game, (one, two), nth)
                    tally = tallies[game]
                    tally[0] += 1
                    tally[1] += n_steps
                    tally[2] += len(faults)
                    for fault in faults:
                        print(f"match {nth} of {game}: {fault}", flush=True)
                peak = max(one.peak(), two.peak())
    for game, (n_matches, n_steps, n_faults) in tallies.items():
        print(f"{game:20} {n_matches:4} matches {n_steps:6} steps {n_faults:4} faults")
    print(f"most memory of a player: {peak} MiB")
    n_faults = sum(tally[2] for tally in tallies.values())
    sys.exit(n_faults > 0 or peak > args.memory)


if __name__ == "__main__":
    main()
