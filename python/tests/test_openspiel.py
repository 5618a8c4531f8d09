"""OpenSpiel's algorithms on GDL games."""

import numpy as np
import pytest
from conftest import all_games, load

pyspiel = pytest.importorskip("pyspiel")

from agon_ggp import Game  # noqa: E402
from agon_ggp.openspiel import load_game  # noqa: E402

PENNIES = """(role even) (role odd) (init start) (side heads) (side tails)
(<= (legal ?r (show ?s)) (role ?r) (side ?s) (true start))
(<= (next same) (does even (show ?s)) (does odd (show ?s)))
(<= (next other) (does even (show ?s)) (does odd (show ?t)) (distinct ?s ?t))
(<= terminal (not (true start)))
(<= (goal even 100) (true same)) (<= (goal even 0) (not (true same)))
(<= (goal odd 0) (true same)) (<= (goal odd 100) (not (true same)))
"""


@pytest.mark.parametrize("game", all_games(), ids=lambda game: game.name)
def test_random_matches(game):
    spiel = load_game(game, max_game_length=60)
    rng = np.random.default_rng(1)
    for _ in range(3):
        state = spiel.new_initial_state()
        while not state.is_terminal():
            clone = state.clone()
            if state.is_simultaneous_node():
                actions = [rng.choice(state.legal_actions(player)) for player in range(spiel.num_players())]
                state.apply_actions(actions)
                clone.apply_actions(actions)
            elif state.is_chance_node():
                outcomes = state.chance_outcomes()
                assert abs(sum(chance for _, chance in outcomes) - 1) < 1e-9
                action = outcomes[rng.integers(len(outcomes))][0]
                state.apply_action(action)
                clone.apply_action(action)
            else:
                action = rng.choice(state.legal_actions())
                assert state.legal_actions_mask()[action] == 1
                assert state.action_to_string(state.current_player(), action) == game.actions[action]
                state.apply_action(action)
                clone.apply_action(action)
            assert str(clone) == str(state) and clone.is_terminal() == state.is_terminal()
        assert len(state.returns()) == spiel.num_players()
        assert all(spiel.min_utility() <= value <= spiel.max_utility() for value in state.returns())
        if not game.has_hidden_information:
            assert (np.array(state.observation_tensor(0)) == state.position.observation()).all()


def test_mcts_wins_at_once():
    from open_spiel.python.algorithms import mcts

    game = load_game("tic_tac_toe")
    state = game.new_initial_state()
    for text in ("(mark 1 1)", "(mark 3 3)", "(mark 2 1)", "(mark 2 2)"):
        state.apply_action(game.agon.action(text))
    rng = np.random.RandomState(1)
    evaluator = mcts.RandomRolloutEvaluator(1, rng)
    bot = mcts.MCTSBot(game, 1.4, 300, evaluator, random_state=rng)
    assert game.agon.actions[bot.step(state)] == "(mark 3 1)"


def test_mcts_plays_with_three_roles():
    from open_spiel.python.algorithms import mcts

    game = load_game("connect_four_3")
    assert game.num_players() == 3
    rng = np.random.RandomState(2)
    bots = [mcts.MCTSBot(game, 1.4, 10, mcts.RandomRolloutEvaluator(1, rng), random_state=rng) for _ in range(3)]
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(bots[state.current_player()].step(state))
    assert len(state.returns()) == 3


@pytest.mark.parametrize(("reply", "expected"), [("(mark 1 3)", 1), ("(mark 1 2)", 0)])
def test_minimax_tells_wins_from_draws(reply, expected):
    from open_spiel.python.algorithms import minimax

    game = load_game("tic_tac_toe", zero_sum=True)
    state = game.new_initial_state()
    for text in ("(mark 1 1)", "(mark 2 2)", "(mark 3 3)", reply):
        state.apply_action(game.agon.action(text))
    value, _ = minimax.alpha_beta_search(game, state=state, maximum_depth=9, maximizing_player_id=0)
    assert value == expected


def test_cfr_finds_the_equilibrium_of_matching_pennies():
    from open_spiel.python.algorithms import cfr

    game = pyspiel.convert_to_turn_based(load_game(Game.from_text(PENNIES, "pennies")))
    solver = cfr.CFRSolver(game)
    for _ in range(200):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    first = policy.action_probabilities(game.new_initial_state())
    assert all(abs(chance - 0.5) < 0.05 for chance in first.values())


def test_cfr_finds_the_value_of_kuhn_poker():
    """The first player loses 1/18 of a chip, and a chip is half a unit. There are 6 information sets per player."""
    from open_spiel.python.algorithms import cfr, expected_game_score

    game = load_game("kuhn_poker")
    assert (game.num_players(), game.get_type().utility) == (2, pyspiel.GameType.Utility.ZERO_SUM)
    solver = cfr.CFRPlusSolver(game)
    for _ in range(100):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    assert sorted(map(len, policy.states_per_player)) == [6, 6]
    first, second = expected_game_score.policy_value(game.new_initial_state(), [policy] * 2)
    assert abs(first + 1 / 36) < 0.003 and abs(first + second) < 1e-9


def test_switching_wins_two_of_three_in_monty_hall():
    from open_spiel.python import policy as policies
    from open_spiel.python.algorithms import best_response

    game = load_game("monty_hall")
    response = best_response.BestResponsePolicy(game, 0, policies.UniformRandomPolicy(game))
    assert abs(response.value(game.new_initial_state()) - 1 / 3) < 1e-9  # 2/3 of 1, 1/3 of -1


def test_mcts_plays_with_chance():
    from open_spiel.python.algorithms import mcts

    game = load_game("pig", max_game_length=40)
    rng = np.random.RandomState(3)
    bot = mcts.MCTSBot(game, 1.4, 10, mcts.RandomRolloutEvaluator(1, rng), random_state=rng)
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(state.chance_outcomes()[0][0])
        else:
            state.apply_action(bot.step(state))
    assert len(state.returns()) == 2


def test_information_states_have_only_what_a_role_knows():
    game = load_game("kuhn_poker")
    texts = set()
    for deal in ("(deal jack queen)", "(deal jack king)"):
        state = game.new_initial_state()
        assert state.is_chance_node()
        state.apply_action(game.agon.action(deal))
        texts.add((state.information_state_string(0), state.observation_string(0), tuple(state.observation_tensor(0))))
        assert "jack" in state.information_state_string(0)
    assert len(texts) == 1


def test_chance_that_moves_together_with_players_moves_first():
    rules = """(role a) (role random) (init start) (side heads) (side tails)
        (<= (legal ?r (show ?s)) (role ?r) (side ?s) (true start))
        (<= (next same) (does a (show ?s)) (does random (show ?s)))
        (<= (next other) (does a (show ?s)) (does random (show ?t)) (distinct ?s ?t))
        (<= (sees a won) (does a (show ?s)) (does random (show ?s)))
        (<= terminal (not (true start)))
        (<= (goal a 100) (true same)) (<= (goal a 0) (not (true same))) (goal random 0)"""
    game = load_game(Game.from_text(rules, "guess"))
    state = game.new_initial_state()
    state.apply_action(state.chance_outcomes()[0][0])
    assert state.is_simultaneous_node() and state.information_state_string(0) == ""
    state.apply_actions([game.agon.action("(show heads)")])
    assert state.is_terminal() and state.returns() in ([1.0], [-1.0])


def test_cfr_on_a_small_game_in_turn():
    from open_spiel.python.algorithms import cfr, expected_game_score

    game = load_game("centipede_game")
    if game.num_players() != 2:
        pytest.skip("this game has other roles")
    solver = cfr.CFRSolver(game)
    for _ in range(30):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    values = expected_game_score.policy_value(game.new_initial_state(), [policy] * 2)
    assert len(values) == 2


def test_zero_sum_is_found_out():
    utility = pyspiel.GameType.Utility
    assert load_game("tic_tac_toe").get_type().utility == utility.ZERO_SUM
    assert load_game("ultimatum_game").get_type().utility == utility.GENERAL_SUM
    assert load("roshambo").in_turn is False
