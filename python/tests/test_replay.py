"""Random matches through Python agree with `agon replay`.

The command is that of $AGON_BINARY, or the one in `target/release`. $AGON_REPLAYS says how many matches per game.
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import BUILT_IN, HIDDEN, load

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("AGON_BINARY") or ROOT / "target" / "release" / "agon"
MATCHES = int(os.environ.get("AGON_REPLAYS", "4"))
GAMES = os.environ.get("AGON_REPLAY_GAMES", " ".join(BUILT_IN + HIDDEN)).split()

pytestmark = pytest.mark.skipif(not Path(BINARY).exists(), reason="there is no agon command; set AGON_BINARY")


def spaced(text):
    return text.replace("(", "( ").replace(")", " )")


def record(game, states, moves):
    """A match record as other managers write it."""
    # Chance has no goal, and 0 in records.
    goals = [0 if role == game.random_role else states[-1].goals[role] for role in game.roles]
    is_over = states[-1].is_terminal
    return {
        "matchId": "python",
        "isCompleted": is_over,
        "states": ["( " + " ".join(map(spaced, state.fluents)) + " )" for state in states],
        "moves": [[spaced(move) for move in step] for step in moves],
        **({"goalValues": goals} if is_over and None not in goals else {}),
    }


def by_states(game, rng):
    """A random match by way of states."""
    states, moves = [game.initial_state()], []
    while not states[-1].is_terminal and len(moves) < 300:
        state = states[-1]
        joint = [state.legal_moves(role) for role in game.roles]
        if not all(joint):
            break
        moves.append([legal[rng.integers(len(legal))] for legal in joint])
        states.append(state.apply(moves[-1]))
    return states, moves


def by_batch(game, n, seed):
    """Random matches by way of a batch."""
    batch = game.batch(n, seed=seed, autoreset="disabled", mode="joint", max_steps=300)
    matches = [([game.initial_state()], []) for _ in range(n)]
    texts = game.actions
    while batch.mask.any():
        actions = batch.random_actions()
        alive = batch.mask.any(axis=(1, 2))
        batch.step(actions)
        for env in np.flatnonzero(alive):
            states, moves = matches[env]
            moves.append([texts[action] for action in actions[env]])
            states.append(batch.state(int(env)))
    return matches


@pytest.mark.parametrize("name", GAMES)
def test_random_matches_are_valid(name, tmp_path):
    game = load(name)
    rng = np.random.default_rng(7)
    n = MATCHES // 2
    matches = [by_states(game, rng) for _ in range(MATCHES - n)] + by_batch(game, max(n, 1), 11)
    for number, (states, moves) in enumerate(matches):
        (tmp_path / f"{number}.json").write_text(json.dumps(record(game, states, moves)))
    paths = sorted(tmp_path.glob("*.json"))
    run = subprocess.run([BINARY, "replay", *paths, "--game", name, "--json"], capture_output=True, text=True)
    found = [json.loads(line) for line in run.stdout.splitlines()]
    wrong = [line for line in found if not line["valid"]]
    assert run.returncode == 0 and not wrong, f"{name}: {wrong[:1]} {run.stderr}"
    assert len(found) == len(matches) >= MATCHES


def test_a_wrong_record_is_refused(tmp_path):
    game = load("tic_tac_toe")
    states, moves = by_states(game, np.random.default_rng(1))
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(record(game, states[:-2] + states[-1:], moves[:-1])))
    run = subprocess.run([BINARY, "replay", path, "--game", "tic_tac_toe", "--quiet"], capture_output=True)
    assert run.returncode == 1
