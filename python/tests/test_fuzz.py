"""Bad calls raise exceptions and never end the process. $AGON_FUZZ_SECONDS makes it longer."""

import os
import time

import numpy as np
import pytest
from conftest import load

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

import agon_ggp  # noqa: E402

SECONDS = float(os.environ.get("AGON_FUZZ_SECONDS", "0"))
EXPECTED = (agon_ggp.AgonError, ValueError, TypeError, IndexError, OverflowError, RuntimeError, OSError)
DTYPES = [np.int8, np.int32, np.int64, np.uint8, np.uint64, np.float32, bool, object, "U3"]

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
arrays = st.builds(
    lambda shape, dtype, fill: np.full(shape, fill).astype(dtype),
    st.lists(st.integers(0, 5), max_size=3),
    st.sampled_from(DTYPES),
    st.integers(0, 100),
)
values = anything | arrays
calls = st.sampled_from(
    ["step", "reset", "set_states", "state", "final_state", "random_actions", "planes", "step_random"]
)


def attempt(function, *arguments, **options):
    try:
        return function(*arguments, **options)
    except EXPECTED as error:
        assert "error of Agon" not in str(error), error
        return None


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(calls, values), max_size=12), st.sampled_from(["tic_tac_toe", "roshambo", "eight_puzzle"]))
def test_batches(sequence, name):
    batch = load(name).batch(3, illegal="end")
    for method, argument in sequence:
        if method == "step_random" and not (isinstance(argument, int) and argument < 50):
            argument = 3
        attempt(getattr(batch, method), argument)
        batch.step_random()
        assert batch.observation.max() <= 1 and batch.mask.max() <= 1


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(values, values, st.sampled_from(["tic_tac_toe", "roshambo"]))
def test_states_and_games(first, second, name):
    game = load(name)
    state = game.initial_state()
    for method in ("apply", "legal_moves", "legal_actions", "mask"):
        attempt(getattr(state, method), first)
    assert state == game.initial_state() and state != first
    for method in ("action", "goal_range"):
        attempt(getattr(game, method), first)
    attempt(game.search, first, second, playouts=2)
    attempt(game.search, state, first, playouts=2, player=second)
    attempt(game.rollout, first, 2, policy=second)
    attempt(game.batch, first if not isinstance(first, int) or first < 1000 else 5, out=second)
    attempt(agon_ggp.play_match, game, first)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text(alphabet="()?<= abrolegtinxdsup01\n;", max_size=120))
def test_rules(text):
    attempt(agon_ggp.Game.from_text, text)
    agon_ggp.check(text)
    attempt(agon_ggp.Game.load, text.replace("\0", ""))


@pytest.mark.skipif(not SECONDS, reason="set AGON_FUZZ_SECONDS for a long run")
def test_for_a_long_time():
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        test_batches()
        test_states_and_games()
        test_rules()
