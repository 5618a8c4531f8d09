"""Steps per second of batched random play on one core: Agon, pgx and OpenSpiel in one run.

Each step of Agon and pgx draws a random legal action per environment and writes observations, legal-action masks, rewards
and ends of all environments, and finished matches start again. So does the loop over OpenSpiel, one match at a time.

- "agon" is `batch.step_random()`, one call per step, as pgx has one compiled function per step.
- "actions" is `batch.random_actions(actions)` and `batch.step(actions)`: actions go through an array of Python, and each is
  checked.
- "playouts" is `game.rollout`, which writes no arrays. "moves" is the loop over OpenSpiel without arrays.

All are measured in turn, several times, by the CPU time of the process; the best round of each counts. Peers that are not
installed are left out.

    python bench/steps.py [--envs 4096] [--rounds 3] [--seconds 1.0] [--json]
"""

import argparse
import json
import os
import time

# One core for all, before anything starts threads.
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import agon_ggp  # noqa: E402

# Game of Agon, of pgx, of OpenSpiel.
GAMES = [
    ("tic_tac_toe", "tic_tac_toe", "tic_tac_toe"),
    ("connect_four", "connect_four", "connect_four"),
    ("othello", "othello", "othello"),
    ("hex", "hex", "hex(board_size={size})"),
]


def clock(make):
    """A function that runs for some CPU time and returns steps per second."""
    step, n_steps = make()

    def run(seconds):
        step()
        done, start = 0, time.process_time()
        while True:
            step()
            done += n_steps
            used = time.process_time() - start
            if used >= seconds:
                return done / used

    return run


def agon_batch(name, n):
    batch = agon_ggp.Game.load(name).batch(n, seed=1)
    actions = batch.random_actions()

    def step():
        for _ in range(10):
            batch.random_actions(actions)
            batch.step(actions)

    return step, 10 * n


def agon_random(name, n):
    batch = agon_ggp.Game.load(name).batch(n, seed=1)

    def step():
        for _ in range(10):
            batch.step_random()

    return step, 10 * n


def agon_playouts(name, n):
    game = agon_ggp.Game.load(name)
    start = game.initial_state()
    per_playout = game.rollout(start, 4096, seed=1).steps[0]
    n_playouts = max(int(4_000_000 / per_playout), 1000)
    state = {"seed": 0}

    def step():
        state["seed"] += 1
        game.rollout(start, n_playouts, seed=state["seed"])

    return step, int(n_playouts * per_playout)


def pgx_batch(name, n):
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make(name)
    init, one = jax.vmap(env.init), jax.vmap(auto_reset(env.step, env.init))

    @jax.jit
    def advance(state, key):
        key, act, reset = jax.random.split(key, 3)
        logits = jnp.log(state.legal_action_mask.astype(jnp.float32))
        actions = jax.random.categorical(act, logits, axis=1)
        return one(state, actions, jax.random.split(reset, n)), key

    state = {"all": jax.jit(init)(jax.random.split(jax.random.PRNGKey(0), n)), "key": jax.random.PRNGKey(1)}

    def step():
        state["all"], state["key"] = advance(state["all"], state["key"])
        state["all"].observation.block_until_ready()
        state["all"].legal_action_mask.block_until_ready()

    return step, n


def pyspiel_loop(name, _, writes_arrays=True):
    """The loop of a learner: a step with the observation, the mask and the rewards as arrays; or only the moves."""
    import random

    import numpy as np
    import pyspiel

    game = pyspiel.load_game(name)
    state = {"now": game.new_initial_state()}

    def step():
        now = state["now"]
        for _ in range(200):
            if now.is_terminal():
                now = game.new_initial_state()
            if writes_arrays:
                np.asarray(now.observation_tensor(now.current_player()), np.float32)
                np.asarray(now.legal_actions_mask(), np.int8)
            now.apply_action(random.choice(now.legal_actions()))
            if writes_arrays:
                np.asarray(now.rewards(), np.float32)
        state["now"] = now

    return step, 200


def pyspiel_moves(name, n):
    return pyspiel_loop(name, n, writes_arrays=False)


def contestants(agon, pgx, pyspiel, n):
    size = int(max((agon_ggp.Game.load(agon).planes.shape[1:])))
    made = {}
    for label, make, name in [
        ("agon", agon_random, agon),
        ("agon actions", agon_batch, agon),
        ("agon playouts", agon_playouts, agon),
        ("pgx", pgx_batch, pgx),
        ("pyspiel", pyspiel_loop, pyspiel.format(size=size)),
        ("pyspiel moves", pyspiel_moves, pyspiel.format(size=size)),
    ]:
        try:
            made[label] = clock(lambda: make(name, n))
        except ImportError as error:
            print(f"# {label} is left out: {error}")
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--envs", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("games", nargs="*")
    args = parser.parse_args()
    print(f"# {args.envs} environments, one core, steps per second of CPU time, best of {args.rounds} rounds")
    print(
        f"{'game':14} {'agon':>12} {'actions':>12} {'playouts':>14} {'pgx':>10} {'pyspiel':>9} {'moves':>10} "
        f"{'agon/pgx':>9} {'actions/pgx':>12} {'playouts/pgx':>13} {'agon/pyspiel':>13} {'agon/moves':>11} "
        f"{'playouts/moves':>15}"
    )
    for agon, pgx, pyspiel in GAMES:
        if args.games and agon not in args.games:
            continue
        made = contestants(agon, pgx, pyspiel, args.envs)
        best = {}
        for _ in range(args.rounds):
            for label, run in made.items():
                best[label] = max(best.get(label, 0.0), run(args.seconds))
        if args.json:
            print(json.dumps({"game": agon, "envs": args.envs, **best}))
            continue

        def ratio(top, bottom):
            return f"{best[top] / best[bottom]:.1f}" if bottom in best else "-"

        def rate(label):
            return f"{best[label]:,.0f}" if label in best else "-"

        print(
            f"{agon:14} {rate('agon'):>12} {rate('agon actions'):>12} {rate('agon playouts'):>14} {rate('pgx'):>10} "
            f"{rate('pyspiel'):>9} {rate('pyspiel moves'):>10} {ratio('agon', 'pgx'):>9} "
            f"{ratio('agon actions', 'pgx'):>12} {ratio('agon playouts', 'pgx'):>13} "
            f"{ratio('agon', 'pyspiel'):>13} {ratio('agon', 'pyspiel moves'):>11} "
            f"{ratio('agon playouts', 'pyspiel moves'):>15}",
            flush=True,
        )


if __name__ == "__main__":
    main()
