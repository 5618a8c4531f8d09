"""Games, states, searches and matches."""

import copy
import pickle
import signal
import threading
import time

import numpy as np
import pytest
from conftest import BUILT_IN, load

import agon_ggp
from agon_ggp import Game, IllegalMoveError, NotGroundedError, RulesError, play_match

COUNTER = """(role a) (init (n 0)) (<= (next (n (s ?x))) (true (n ?x))) (legal a go)
(<= terminal (true (n (s (s (s (s 0))))))) (goal a 50)"""


def random_match(game, rng, most=200):
    """States and joint moves of a random match."""
    state = game.initial_state()
    steps = [(None, state)]
    while not state.is_terminal and len(steps) <= most:
        legal = {role: state.legal_moves(role) for role in game.roles}
        if not all(legal.values()):
            break
        moves = {role: moves[rng.integers(len(moves))] for role, moves in legal.items()}
        state = state.apply(moves)
        steps.append((moves, state))
    return steps


def test_every_built_in_game_is_listed_and_loads_by_name():
    assert set(BUILT_IN) <= set(agon_ggp.games())
    assert load("chess" if "chess" in agon_ggp.games() else "tic_tac_toe").roles


def test_states_are_values(game):
    rng = np.random.default_rng(1)
    for moves, state in random_match(game, rng, 20):
        assert state == state and hash(state) == hash(copy.deepcopy(state))
        again = pickle.loads(pickle.dumps(state))
        assert again == state and again.fluents == state.fluents and hash(again) == hash(state)
        assert state.observation().sum() == len(state.fluents)
        names = game.fluents
        assert sorted(names[i] for i in np.flatnonzero(state.observation())) == state.fluents
        if not state.is_terminal:
            for role in game.roles:
                texts = [game.actions[action] for action in state.legal_actions(role)]
                assert sorted(texts) == sorted(state.legal_moves(role))
                assert np.flatnonzero(state.mask(role)).tolist() == state.legal_actions(role)
        assert str(state) and repr(state)


def test_text_and_number_and_dictionary_give_the_same_state():
    state = load("tic_tac_toe").initial_state()
    number = state.game.action("(mark 2 2)")
    states = {
        state.apply("(mark 2 2)"),
        state.apply(number),
        state.apply(np.int32(number)),
        state.apply({"x": "(mark 2 2)"}),
        state.apply({"x": number, "o": "noop"} if "noop" in state.legal_moves("o") else {0: number}),
        state.apply([number, None]),
        state.apply(["(MARK 2 2)", state.legal_moves("o")[0]]),
    }
    assert len(states) == 1


@pytest.mark.parametrize("moves", ["(mark 9 9)", 99, -1, 10**30, ["(mark 1 1)"], {"z": 1}, {}, 3.5, None, object(), [1, 2, 3]])
def test_bad_moves_raise(moves):
    with pytest.raises((IllegalMoveError, ValueError, TypeError)):
        load("tic_tac_toe").initial_state().apply(moves)


def test_messages_say_what_is_legal():
    with pytest.raises(IllegalMoveError, match=r"role x is not legal here: there are 9 legal moves: \(mark 1 1\)"):
        load("tic_tac_toe").initial_state().apply("(mark 1 4)")
    with pytest.raises(FileNotFoundError, match="did you mean tic_tac_toe"):
        Game.load("tic_tac_to")
    with pytest.raises(ValueError, match="there is no player `nobody`"):
        load("tic_tac_toe").search(player="nobody")


def test_rules_with_errors_have_a_line():
    with pytest.raises(RulesError, match="rules:3:") as error:
        Game.from_text("(role a)\n(init (p))\n(legal a ?x)\n")
    assert error.value.line == 3
    assert any(finding.line == 3 for finding in agon_ggp.check("(role a)\n(init (p))\n(legal a ?x)\n"))
    with pytest.raises(RulesError):
        Game.from_text("")
    with pytest.raises(RulesError):
        Game.from_text("(((((")


def test_games_that_do_not_ground_have_states_and_no_batches():
    game = Game.from_text(COUNTER)
    if game.is_grounded:
        pytest.skip("this game is grounded after all")
    state = game.initial_state()
    while not state.is_terminal:
        state = state.apply("go")
    assert state.goals == {"a": 50}
    for call in (lambda: game.batch(4), lambda: game.actions, lambda: game.rollout(state, 5)):
        with pytest.raises(NotGroundedError):
            call()


def test_a_state_of_another_game_is_refused():
    other = load("connect_four").initial_state()
    with pytest.raises(ValueError, match="another game"):
        load("tic_tac_toe").search(other, playouts=10)
    with pytest.raises(ValueError, match="another game"):
        load("tic_tac_toe").rollout([other], 10)
    assert other != load("tic_tac_toe").initial_state()


def test_searches_repeat_with_a_seed_and_find_wins():
    game = load("connect_four")
    first, second = (game.search(playouts=500, seed=3) for _ in range(2))
    assert first.move == second.move and [m.visits for m in first.moves] == [m.visits for m in second.moves]
    assert first.playouts >= 500 and first.action == game.action(first.move)


def test_matches_with_functions_names_and_errors():
    game = load("tic_tac_toe")
    result = play_match(game, ["agon", lambda state, role: state.legal_actions(role)[-1]], playouts=200)
    assert result.goals["x"] == 100 and result.faults == [0, 0]
    state = game.initial_state()
    for moves in result.moves:
        state = state.apply(moves)
    assert state.is_terminal and state.goals == result.goals
    with pytest.raises(ZeroDivisionError):
        play_match(game, ["random", lambda state, role: 1 // 0], playouts=10)
    with pytest.raises(IllegalMoveError):
        play_match(game, ["random", lambda state, role: "nonsense"], playouts=10)
    with pytest.raises(ValueError, match="one player per role"):
        play_match(game, ["random"])


def test_tournaments_give_columns(tmp_path):
    store = tmp_path / "store.sqlite"
    options = {"games_per_pair": 6, "budget": {"playouts": 30}, "store": store}
    results = agon_ggp.run_tournament([load("tic_tac_toe"), "nim"], ["mc", "random"], **options)
    assert {len(column) for column in results.values()} == {12}
    again = agon_ggp.read_results(store)
    assert sorted(again["goal_first"]) == sorted(results["goal_first"])
    with pytest.raises(agon_ggp.AgonError):
        agon_ggp.read_results(tmp_path / "none.sqlite")
    with pytest.raises(ValueError):
        agon_ggp.run_tournament(["nim"], ["nobody", "random"])


def test_games_can_be_used_from_several_threads():
    game = load("breakthrough_small")
    failures = []

    def play(seed):
        try:
            rng = np.random.default_rng(seed)
            for _ in range(5):
                random_match(game, rng, 40)
            game.search(playouts=50, seed=seed)
        except Exception as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=play, args=(seed,)) for seed in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failures


def test_control_c_ends_a_search():
    ended = threading.Event()

    def interrupt():
        # An exception that is raised while garbage is collected is lost: then a second one follows.
        for pause in [0.3, 8]:
            if ended.wait(pause):
                return
            signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        load("connect_four").search(time=60)
    ended.set()
    thread.join()
    assert time.monotonic() - start < 20


def test_other_threads_run_during_a_search():
    counts, has_ended = [], threading.Event()

    def count():
        while not has_ended.wait(0.01):
            counts.append(1)

    thread = threading.Thread(target=count)
    thread.start()
    game = load("connect_four")
    try:
        # On a busy machine the other thread may have to wait for its turn, but not in every search.
        for _ in range(20):
            before = len(counts)
            game.search(time=0.5)
            if len(counts) - before > 5:
                break
        else:
            raise AssertionError("no other thread ran during a search")
    finally:
        has_ended.set()
        thread.join()


def test_boards_are_drawn_as_pictures():
    picture = load("connect_four").initial_state()._repr_svg_()
    assert picture.startswith("<svg ") and picture.count("<rect ") == 42
    import xml.etree.ElementTree

    for name in BUILT_IN:
        picture = load(name).initial_state()._repr_svg_()
        assert picture is None or xml.etree.ElementTree.fromstring(picture) is not None


def test_planes_have_the_pieces():
    game = load("connect_four")
    state = game.initial_state().apply("(drop 3)")
    planes = state.planes()
    assert planes.shape == game.planes.shape
    assert game.planes.channels[:2] == ["black", "red"]
    assert np.argwhere(planes[1]).tolist() == [[5, 2]] and not planes[0].any()
    assert planes[2:].min(axis=(1, 2)).tolist() == [0, 1] and planes[2:].max(axis=(1, 2)).tolist() == [0, 1]
    index = game.planes.index
    assert (np.where(index >= 0, state.observation()[index], 0) == planes).all()


def test_empty_cells_have_a_channel_of_their_own():
    planes = load("tic_tac_toe").planes
    assert planes.channels == ["b", "o", "x", "(control x)", "(control o)"]
    assert load("tic_tac_toe").initial_state().planes()[0].all() and planes.rest == []


def test_percepts_are_what_roles_see():
    game = load("kuhn_poker")
    assert game.has_hidden_information and game.random_role == "random"
    seen = game.initial_state().percepts({"random": "(deal jack king)"})
    assert set(seen) == set(game.roles) and seen["ann"] != seen["ben"]
    assert "jack" in str(seen["ann"]) and "king" not in str(seen["ann"])
    assert set(seen["ann"] + seen["ben"]) <= set(game.percepts)
    game = load("tic_tac_toe")
    assert (game.has_hidden_information, game.random_role, game.percepts) == (False, None, [])
    seen = game.initial_state().percepts("(mark 2 2)")
    assert "(does x (mark 2 2))" in seen["o"]


def test_a_role_has_one_move_and_truth_is_no_number():
    state = load("tic_tac_toe").initial_state()
    with pytest.raises(ValueError, match="two moves"):
        state.apply({"x": 0, "X": 1})
    with pytest.raises(TypeError):
        state.apply(True)
