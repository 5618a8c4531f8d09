"""Batches against states, and bad calls."""

import os
import resource
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import all_games, load

import agon_ggp
from agon_ggp import IllegalMoveError


def follow(game, n=5, steps=25, **options):
    """Steps a batch at random and compares each environment with a state."""
    batch = game.batch(n, seed=3, max_steps=20, **options)
    states = [game.initial_state()] * n
    ages = [0] * n
    for _ in range(steps):
        before = batch.current_role.copy()
        actions = batch.random_actions()
        batch.step(actions)
        for env in range(n):
            if batch.mode == "turns":
                moves = {int(before[env]): int(actions[env])}
            else:
                moves = [int(action) for action in actions[env]]
            state = states[env].apply(moves)
            ages[env] += 1
            has_ended = state.is_terminal or ages[env] == 20 or not all(state.legal_actions(r) for r in game.roles)
            assert batch.terminated[env] == state.is_terminal
            assert batch.truncated[env] == (has_ended and not state.is_terminal)
            goals = [0.0 if goal is None else goal / 50 - 1 for goal in state.goals.values()]
            assert np.allclose(batch.rewards[env], goals if has_ended else 0.0)
            if has_ended:
                assert batch.final_state(env) == state
                state, ages[env] = game.initial_state(), 0
            assert batch.state(env) == state
            assert (batch.observation[env] == state.observation()).all()
            assert (batch.bits[env] == state.bits).all()
            if batch.mode == "turns":
                role = int(batch.current_role[env])
                assert state.to_move is None or game.roles[role] == state.to_move
                assert (batch.mask[env] == state.mask(role)).all()
            else:
                for role in range(len(game.roles)):
                    assert (batch.mask[env, role] == state.mask(role)).all()
            states[env] = state
    return batch


@pytest.mark.parametrize("game", all_games(), ids=lambda game: game.name)
def test_environments_follow_the_rules(game):
    if game.initial_state().is_terminal or not all(map(game.initial_state().legal_actions, game.roles)):
        pytest.skip("the first state is an end")
    follow(game)


@pytest.mark.parametrize("name", ["connect_four", "roshambo", "chinese_checkers_3", "eight_puzzle"])
def test_joint_mode_works_everywhere(name):
    assert follow(load(name), mode="joint").mode == "joint"


@pytest.mark.parametrize("name", ["othello_6x6", "tron_4"])
def test_threads_do_not_matter(name):
    results = []
    for threads in (1, 2, 5):
        batch = load(name).batch(1000, seed=9, threads=threads)
        batch.step_random(60)
        results.append([batch.observation.copy(), batch.mask.copy(), batch.rewards.copy(), batch.steps.copy()])
    for other in results[1:]:
        assert all((a == b).all() for a, b in zip(results[0], other))


def test_the_same_seed_gives_the_same_matches():
    game = load("breakthrough_small")
    runs = []
    for seed in (1, 1, 2):
        batch = game.batch(300, seed=seed)
        batch.step_random(15)
        runs.append(batch.bits.copy())
    assert (runs[0] == runs[1]).all() and (runs[0] != runs[2]).any()
    batch.reset(seed=1)
    batch.step_random(15)
    assert (batch.bits == runs[0]).all()


def test_autoreset_modes():
    game = load("tic_tac_toe")
    batch = game.batch(64, autoreset="next_step")
    batch.step_random(5)
    while not batch.terminated.any():
        batch.step_random()
    ended = batch.terminated.copy()
    assert (batch.mask[ended] == 0).all() and all(batch.state(env).is_terminal for env in np.flatnonzero(ended))
    batch.step(batch.random_actions())
    assert not batch.terminated[ended].any() and (batch.steps[ended] == 0).all()
    batch = game.batch(64, autoreset="disabled")
    batch.step_random(20)
    assert all(batch.state(env).is_terminal for env in range(64)) and not batch.mask.any()
    batch.reset(mask=np.arange(64) < 3)
    assert batch.mask[:3].sum() == 27 and not batch.mask[3:].any()


def test_rewards_as_goals_and_in_every_step():
    game = load("tic_tac_toe")
    batch = game.batch(16, rewards="goals", autoreset="disabled")
    seen = np.zeros(16)
    for _ in range(9):
        batch.step_random()
        seen += batch.rewards.sum(axis=1)
    assert (seen == 100).all()
    batch = game.batch(16, every_step=True, rewards="goals")
    batch.step_random(2)
    state = batch.state(0)
    expected = [np.nan if goal is None else goal for goal in state.goals.values()]
    assert np.array_equal(batch.rewards[0], np.array(expected, np.float32), equal_nan=True)


def test_illegal_actions():
    game = load("tic_tac_toe")
    batch = game.batch(3)
    batch.step([0, 1, 2])
    before = batch.bits.copy()
    with pytest.raises(IllegalMoveError, match=r"action 1 \(mark 1 2\) of role o is not legal in environment 1"):
        batch.step([8, 1, 8])
    assert (batch.bits == before).all()
    batch = game.batch(2, illegal="end", autoreset="disabled")
    batch.step([0, 0])
    batch.step([0, 5])
    assert batch.terminated.tolist() == [True, False] and batch.rewards.tolist() == [[0.0, -1.0], [0.0, 0.0]]
    batch = game.batch(2, illegal="random")
    batch.step([77, -5])
    assert batch.steps.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("actions", "error"),
    [
        ([0], ValueError),
        ([[0, 0, 0]], ValueError),
        (np.zeros((3, 1), np.int32), ValueError),
        (np.zeros(3), TypeError),
        (["a", "b", "c"], TypeError),
        (None, TypeError),
        (np.array([2**40, 0, 0]), IllegalMoveError),
        (np.array([9, 0, 0], np.uint8), IllegalMoveError),
        (np.zeros(6, np.int64)[::2], None),
        (np.zeros(6, np.int32)[::2], None),
        ((0, 0, 0), None),
    ],
)
def test_shapes_and_types_of_actions(actions, error):
    batch = load("tic_tac_toe").batch(3)
    if error is None:
        batch.step(actions)
    else:
        with pytest.raises(error):
            batch.step(actions)


@pytest.mark.parametrize(
    "options",
    [
        {"n": 0},
        {"n": -1},
        {"n": 1 << 40},
        {"threads": 0},
        {"mode": "both"},
        {"autoreset": "sometimes"},
        {"illegal": "ignore"},
        {"rewards": "some"},
        {"max_steps": 0},
        {"seed": -1},
        {"seed": "x"},
        {"out": {"nothing": np.zeros(2)}},
        {"out": {"observation": np.zeros((2, 3), np.uint8)}},
        {"out": {"rewards": np.zeros((2, 2))}},
        {"out": {"rewards": [[0.0, 0.0]] * 2}},
    ],
)
def test_bad_options_raise(options):
    with pytest.raises((ValueError, TypeError, OverflowError)):
        load("tic_tac_toe").batch(**{"n": 2, **options})


def test_arrays_of_the_caller_are_written():
    game = load("connect_four")
    memory = np.zeros(5 * game.n_fluents + 5, np.uint8)
    own = {"observation": memory[5:].reshape(5, -1), "rewards": np.ones((5, 2), np.float32)}
    batch = game.batch(5, out=own)
    assert (own["observation"] == game.initial_state().observation()).all() and not own["rewards"].any()
    assert batch.observation.base is memory or np.shares_memory(batch.observation, memory)
    read_only = np.zeros((5, 2), np.float32)
    read_only.flags.writeable = False
    for bad in (read_only, np.zeros((2, 5), np.float32).T, np.zeros((5, 4), np.float32)[:, ::2]):
        with pytest.raises(ValueError):
            game.batch(5, out={"rewards": bad})
    shared = np.zeros(10, bool)
    with pytest.raises(ValueError, match="share memory"):
        game.batch(5, out={"terminated": shared[:5], "truncated": shared[3:8]})


def test_arrays_go_to_other_libraries_by_dlpack():
    batch = load("connect_four").batch(8)
    other = np.from_dlpack(batch.observation)
    batch.step_random(3)
    assert np.shares_memory(other, batch.observation) and (other == batch.observation).all()


def test_states_can_be_set():
    game = load("tic_tac_toe")
    middle = game.initial_state().apply("(mark 2 2)")
    batch = game.batch(3)
    batch.set_states(middle)
    assert (batch.current_role == 1).all() and (batch.mask.sum(axis=1) == 8).all()
    batch.set_states([game.initial_state(), middle, middle])
    assert batch.current_role.tolist() == [0, 1, 1]
    batch.set_states(np.stack([middle.bits] * 3))
    for bad in ([middle] * 2, load("connect_four").initial_state(), np.zeros((3, 9), np.uint64), "x", 5):
        with pytest.raises((ValueError, TypeError)):
            batch.set_states(bad)
    with pytest.raises(ValueError):
        batch.set_states(np.full((3, middle.bits.size), 2**64 - 1, np.uint64))


def test_a_batch_in_use_is_refused_to_other_threads():
    batch = load("othello_6x6").batch(20_000)
    messages = []

    def step():
        for _ in range(30):
            try:
                batch.step_random()
            except RuntimeError as error:
                messages.append(str(error))

    threads = [threading.Thread(target=step) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert all("in use by another thread" in message for message in messages)


def test_roles_that_do_not_move_in_turn_are_reported():
    with pytest.raises(RuntimeError, match='use mode="joint"'):
        load("roshambo").batch(4, mode="turns").set_states(load("roshambo").initial_state())


def test_rollouts():
    game = load("tic_tac_toe")
    state = game.initial_state()
    one = game.rollout(state, 20_000, seed=5)
    assert one.goals.shape == (1, 2) and abs(one.goals[0, 0] - 64.9) < 1.5 and one.playouts == 20_000
    two = game.rollout([state, state.apply("(mark 2 2)")], 70_000, seed=5, threads=2)
    again = game.rollout([state, state.apply("(mark 2 2)")], 70_000, seed=5)
    assert (two.goals == again.goals).all() and two.goals[1, 0] > two.goals[0, 0]
    corner = game.rollout(state, 5000, policy={"(mark 2 2)": 100.0})
    assert corner.goals[0, 0] > one.goals[0, 0]
    assert game.rollout(state, 100, policy="decisive").playouts == 100
    assert game.rollout(game.batch(7).bits, 10).goals.shape == (7, 2)
    for bad in ({"n": 0}, {"policy": "best"}, {"policy": {"x": 1.0}}, {"policy": {"(mark 1 1)": -1}}, {"threads": 0}):
        with pytest.raises((ValueError, TypeError)):
            game.rollout(state, **{"n": 10, **bad})


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_memory_does_not_grow():
    batch = load("tic_tac_toe").batch(4096, seed=1)
    actions = batch.random_actions()
    state = load("tic_tac_toe").initial_state()

    def work(n):
        for _ in range(n):
            batch.random_actions(actions)
            batch.step(actions)
            batch.random_actions()
            state.apply("(mark 2 2)").legal_moves()

    work(500)
    before = resident()
    work(2500)  # more than ten million steps
    assert resident() < before * 1.05


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_many_breakthrough_states_are_small():
    code = (
        "import agon_ggp, resource, os\n"
        "def rss(): return int(open('/proc/self/statm').read().split()[1]) * resource.getpagesize()\n"
        "game = agon_ggp.Game.load('breakthrough'); game.batch(64).step_random()\n"
        "before = rss(); batch = game.batch(65536, seed=1); batch.step_random(3); print(rss() - before)"
    )
    used = int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert used < 200_000_000, agon_ggp.__version__


def test_the_order_of_memory_does_not_matter():
    game = load("roshambo")
    batches = [game.batch(50, seed=1) for _ in range(3)]
    actions = batches[0].random_actions()
    unaligned = np.zeros(actions.nbytes + 1, np.uint8)[1:].view(np.int32).reshape(actions.shape)
    unaligned[:] = actions
    for batch, given in zip(batches, (actions, np.asfortranarray(actions), unaligned)):
        batch.step(given)
    assert len({batch.bits.tobytes() for batch in batches}) == 1
    bits = np.asfortranarray(np.concatenate([batches[0].bits, batches[0].bits], axis=1))[:, :1]
    batches[1].set_states(bits)
    assert (batches[1].bits == batches[0].bits).all()


def test_arrays_that_are_not_aligned_are_refused():
    game = load("tic_tac_toe")
    rewards = np.zeros(4 * 2 * 4 + 1, np.uint8)[1:].view(np.float32).reshape(4, 2)
    with pytest.raises(ValueError, match="aligned"):
        game.batch(4, out={"rewards": rewards})
    with pytest.raises(ValueError, match="aligned"):
        game.batch(4).random_actions(np.zeros(17, np.uint8)[1:].view(np.int32))
    with pytest.raises(TypeError, match="int64"):
        game.batch(4).random_actions(np.zeros(4, np.int64))


def test_arrays_of_a_batch_cannot_be_resized():
    game = load("tic_tac_toe")
    own = game.batch(4)
    given = game.batch(4, out={"observation": np.zeros((4, game.n_fluents), np.uint8)})
    for batch in (own, given):
        with pytest.raises(ValueError, match="resize"):
            batch.observation.resize((1000, 1000))
        batch.step_random()


def test_states_that_are_set_have_no_steps():
    game = load("tic_tac_toe")
    batch = game.batch(3, max_steps=3, autoreset="disabled")
    batch.step_random(2)
    batch.set_states(game.initial_state())
    assert not batch.truncated.any() and (batch.steps == 0).all() and (batch.mask.sum(axis=1) == 9).all()
    batch.step_random(2)
    assert not batch.truncated.any()
    batch.step_random()
    assert batch.truncated.all()


def test_random_steps_are_those_with_random_actions():
    for name in ("tic_tac_toe", "roshambo", "breakthrough_small"):
        one, other = (load(name).batch(130, seed=4) for _ in range(2))
        for _ in range(20):
            one.step_random()
            other.step(other.random_actions())
        for array in ("observation", "mask", "rewards", "terminated", "current_role", "steps"):
            assert (getattr(one, array) == getattr(other, array)).all()
