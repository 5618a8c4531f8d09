"""The official tests of PettingZoo and Gymnasium, on built-in games of all kinds and on sheets of the corpus."""

import warnings

import numpy as np
import pytest
from conftest import all_games, load

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402
from pettingzoo.test import api_test, parallel_api_test, performance_benchmark, seed_test  # noqa: E402

from agon_ggp import Game, IllegalMoveError  # noqa: E402
from agon_ggp.gymnasium import AgonEnv, AgonVectorEnv  # noqa: E402
from agon_ggp.pettingzoo import aec_env, parallel_env  # noqa: E402

GAMES = all_games()
each_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)


def test_there_are_games_of_all_kinds():
    assert len(GAMES) >= 30
    n_roles = {len(game.roles) for game in GAMES}
    assert {1, 2, 3, 4, 6} <= n_roles
    assert {game.in_turn for game in GAMES} == {True, False}


@each_game
def test_pettingzoo_aec(game):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(aec_env(game, max_cycles=60), num_cycles=120, verbose_progress=False)
        seed_test(lambda: aec_env(game, max_cycles=60), num_cycles=30)


@each_game
def test_pettingzoo_parallel(game):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parallel_api_test(parallel_env(game, max_cycles=60), num_cycles=60)


def test_pettingzoo_performance_benchmark(capsys):
    performance_benchmark(aec_env("tic_tac_toe"))
    assert "turns per second" in capsys.readouterr().out.lower()


@each_game
def test_gymnasium_env(game):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(AgonEnv(game, max_steps=60), skip_render_check=True)


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("name", ["eight_puzzle", "connect_four", "roshambo", "chinese_checkers_3"])
def test_gymnasium_vector_env(name, mode):
    env = AgonVectorEnv(load(name), 6, seed=3, autoreset_mode=mode, max_steps=30)
    assert env.metadata["autoreset_mode"] is mode
    observations, info = env.reset(seed=5)
    assert env.observation_space.contains(observations)
    ended = np.zeros(6, bool)
    for _ in range(70):
        actions = env.random_actions()
        if mode is AutoresetMode.NEXT_STEP:
            actions = np.where(actions < 0, 0, actions)
        observations, rewards, terminated, truncated, info = env.step(actions)
        assert env.observation_space.contains(observations)
        assert rewards.shape == terminated.shape == truncated.shape == (6,)
        now = terminated | truncated
        if mode is AutoresetMode.SAME_STEP and now.any():
            assert (info["_final_obs"] == now).all()
            for place in np.flatnonzero(now):
                assert env.single_observation_space.contains(info["final_obs"][place])
        if mode is AutoresetMode.NEXT_STEP:
            assert not (ended & now).any()
        ended = now
    assert env.batch.steps.max() <= 30


def test_illegal_actions_end_the_match_of_an_env():
    env = AgonEnv("tic_tac_toe")
    env.reset(seed=1)
    _, reward, terminated, truncated, info = env.step(9)
    assert (reward, terminated, truncated, info["illegal_action"]) == (-1.0, True, False, True)
    env = AgonEnv("tic_tac_toe", illegal="raise")
    env.reset(seed=1)
    with pytest.raises(IllegalMoveError):
        env.step(9)


@pytest.mark.parametrize("opponent", ["random", "mc", lambda state, role: state.legal_moves(role)[0]])
@pytest.mark.parametrize("role", ["x", "O", 1])
def test_opponents_move_for_the_other_role(role, opponent):
    env = AgonEnv("tic_tac_toe", role=role, opponent=opponent, playouts=20)
    _, info = env.reset(seed=1)
    over, n_steps = False, 0
    while not over:
        action = env.action_space.sample(info["action_mask"])
        _, reward, over, _, info = env.step(action)
        n_steps += 1
    assert 2 <= n_steps <= 5 and reward in (-1.0, 0.0, 1.0)


def test_illegal_actions_of_pettingzoo_raise():
    env = aec_env("tic_tac_toe")
    env.reset()
    env.step(0)
    for action in (0, 99, -1):
        with pytest.raises(IllegalMoveError):
            env.step(action)
    env.step(np.int32(1))
    assert env.position.to_move == "x"


def test_the_winner_is_rewarded_in_both_kinds():
    env = aec_env("tic_tac_toe")
    env.reset()
    for action in (0, 3, 1, 4, 2):
        env.step(action)
    assert env.rewards == {"x": 1.0, "o": -1.0} and all(env.terminations.values())
    env = parallel_env("roshambo")
    observations, _ = env.reset()
    assert all(observation["action_mask"].sum() > 1 for observation in observations.values())


# Two doors hide a prize; chance puts it behind one of them, and only `sees` tells the guest.
DOORS = """(role guest) (role random) (init (part hide)) (door left) (door right)
(<= (legal random (hide ?d)) (true (part hide)) (door ?d)) (<= (legal guest wait) (true (part hide)))
(<= (legal guest (open ?d)) (true (part open)) (door ?d)) (<= (legal random wait) (true (part open)))
(<= (next (prize ?d)) (does random (hide ?d))) (<= (next (prize ?d)) (true (prize ?d)))
(<= (next (part open)) (true (part hide))) (<= (next (part over)) (true (part open)))
(<= (next (won ?d)) (does guest (open ?d)) (true (prize ?d)))
(<= found (true (won ?d)))
(<= (sees guest noise) (does random (hide ?d)))
(<= terminal (true (part over)))
(<= (goal guest 100) found) (<= (goal guest 0) (not found)) (goal random 0)
"""


def test_what_is_hidden_is_not_in_observations():
    for make in (aec_env, parallel_env):
        seen, states = set(), set()
        for seed in range(12):
            env = make(Game.from_text(DOORS, "doors"))
            env.reset(seed=seed)
            assert env.possible_agents == ["guest"]
            if make is parallel_env:
                env.step({"guest": int(env.observe("guest")["action_mask"].argmax())})
            seen.add(env.observe("guest")["observation"].tobytes())
            states.add(env.position)
        assert len(states) == 2 and len(seen) == 1
    seen, states = set(), set()
    for seed in range(12):
        env = AgonEnv(Game.from_text(DOORS, "doors"))
        observation, _ = env.reset(seed=seed)
        seen.add(observation.tobytes())
        states.add(env.position)
    assert len(states) == 2 and len(seen) == 1


def test_percepts_are_in_observations():
    env = aec_env("kuhn_poker")
    game, seen = env.game, {}
    for seed in range(40):
        env.reset(seed=seed)
        hands = [fluent for fluent in env.position.fluents if fluent.startswith("(hand ann")]
        seen.setdefault(hands[0], set()).add(env.observe("ann")["observation"].tobytes())
    assert len(seen) == 3 and all(len(texts) == 1 for texts in seen.values())
    assert len(set.union(*seen.values())) == 3
    assert len(env.observe("ann")["observation"]) == 2 * len(game.percepts) + game.n_actions


def test_matches_that_look_alike_have_the_same_observations():
    """Random matches: what a role observes is a function of its moves and its percepts."""
    for name in ("blind_tic_tac_toe", "dark_hex", "goofspiel_hidden"):
        known = {}
        for seed in range(60):
            env = parallel_env(name)
            observations, _ = env.reset(seed=seed)
            rng = np.random.default_rng(seed)
            lived = {agent: () for agent in env.possible_agents}
            while env.agents:
                before, actions = env.position, {}
                for agent in env.agents:
                    legal = np.flatnonzero(observations[agent]["action_mask"])
                    actions[agent] = int(legal[rng.integers(len(legal))])
                observations, *_ = env.step(actions)
                if env.game.random_role is None:
                    seen = before.percepts(actions)
                    for agent, observation in observations.items():
                        lived[agent] += ((actions[agent], tuple(seen[agent])),)
                        bits = observation["observation"].tobytes()
                        assert known.setdefault((agent, lived[agent]), bits) == bits


def test_opponents_do_not_see_what_is_hidden():
    with pytest.raises(ValueError, match="hidden"):
        AgonEnv("kuhn_poker", opponent="agon")
    with pytest.raises(ValueError, match="hidden"):
        AgonVectorEnv("kuhn_poker", 3)
    with pytest.raises(ValueError, match="chance"):
        AgonEnv("kuhn_poker", role="random")
    views = []

    def opponent(view, role):
        views.append((role, view.history))
        assert not hasattr(view, "fluents") and view.legal_moves()
        return view.legal_moves()[0]

    env = AgonEnv("kuhn_poker", role="ben", opponent=opponent)
    for seed in range(5):
        env.reset(seed=seed)
    assert {role for role, _ in views} == {"ann"}
    assert AgonVectorEnv("kuhn_poker", 3, shows_all=True).reset(seed=1)[0].shape[0] == 3


def test_chance_repeats_with_a_seed():
    def play(seed):
        env = aec_env("pig")
        env.reset(seed=seed)
        states = []
        for _ in range(30):
            if not env.agents or env.terminations[env.agent_selection]:
                break
            env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
            states.append(env.position)
        return states

    assert play(1) == play(1) and any(play(1) != play(seed) for seed in range(2, 6))
