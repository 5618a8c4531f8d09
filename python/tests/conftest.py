"""Games for the tests: built-in games of all kinds, and sheets of a corpus where there is one."""

import os
import tempfile
from pathlib import Path

import pytest

# Hypothesis would write into the current folder.
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", tempfile.mkdtemp())

import agon_ggp

# Puzzles, games in turn, simultaneous games, and 3 to 6 roles.
BUILT_IN = [
    "battle_of_the_sexes",
    "bidding_tic_tac_toe",
    "blocker",
    "blocks_world",
    "breakthrough_small",
    "centipede_game",
    "chinese_checkers_2",
    "chinese_checkers_3",
    "chinese_checkers_6",
    "chomp",
    "connect_four",
    "connect_four_3",
    "criss_cross",
    "dots_and_boxes",
    "eight_puzzle",
    "eight_queens",
    "ghost_maze_2",
    "goofspiel",
    "hex",
    "knights_tour",
    "lights_out",
    "mancala_kalah",
    "matching_pennies",
    "missionaries_and_cannibals",
    "nim",
    "othello_6x6",
    "peg_solitaire_triangle",
    "pursuit",
    "quarto",
    "roshambo",
    "runners",
    "sheep_and_wolf",
    "sokoban",
    "table_carriers",
    "tic_tac_toe",
    "tic_tac_toe_3d",
    "towers_of_hanoi",
    "tron_4",
    "ttcc4",
    "ultimatum_game",
    "water_jugs",
    "wolf_goat_cabbage",
]

# Games of GDL-II: with hidden information, and most of them with a role that chance plays.
HIDDEN = [
    "backgammon",
    "blind_tic_tac_toe",
    "dark_hex",
    "goofspiel_hidden",
    "kuhn_poker",
    "liars_dice",
    "mastermind",
    "monty_hall",
    "pig",
]

_loaded = {}


def load(name):
    """A game, compiled once."""
    if name not in _loaded:
        _loaded[name] = agon_ggp.Game.load(name)
    return _loaded[name]


def corpus_sheets():
    """Sheets of the corpus in $AGON_CORPUS: evenly spread, and not too large."""
    folder = os.environ.get("AGON_CORPUS")
    if not folder:
        return []
    sheets = sorted(path for path in Path(folder, "games").glob("*.kif") if path.stat().st_size < 12_000)
    return sheets[:: max(1, len(sheets) // 45)]


def corpus_games():
    """Games of the corpus that adapters can play, at most 36."""
    if "corpus" not in _loaded:
        games = []
        for path in corpus_sheets():
            try:
                game = agon_ggp.Game.load(path)
            except agon_ggp.RulesError:
                continue
            if game.is_grounded and 0 < game.n_actions < 3000 and not game.initial_state().is_terminal:
                games.append(game)
        _loaded["corpus"] = games[:36]
    return _loaded["corpus"]


@pytest.fixture(params=BUILT_IN)
def game(request):
    return load(request.param)


def all_games():
    """Built-in games and those of the corpus."""
    return [load(name) for name in BUILT_IN + HIDDEN] + corpus_games()
