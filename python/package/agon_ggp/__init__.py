"""Agon for Python: any game from its rules, as states, searches and batched environments.

>>> import agon_ggp
>>> game = agon_ggp.Game.load("connect_four")
>>> state = game.initial_state()
>>> state.legal_moves()[:3]
['(drop 1)', '(drop 2)', '(drop 3)']
>>> batch = game.batch(4096, seed=1)
>>> batch.step(batch.random_actions())
>>> batch.observation.shape
(4096, 86)

The adapters for other libraries are modules of their own: ``agon_ggp.pettingzoo``, ``agon_ggp.gymnasium`` and
``agon_ggp.openspiel``. Each needs its library.
"""

from ._agon import (
    AgonError,
    Batch,
    Finding,
    Game,
    IllegalMoveError,
    MatchResult,
    MoveResult,
    NotGroundedError,
    Planes,
    Rollouts,
    RulesError,
    SearchResult,
    State,
    __version__,
    check,
    games,
    play_match,
    players,
    read_results,
    run_tournament,
)

__all__ = [
    "AgonError",
    "Batch",
    "Finding",
    "Game",
    "IllegalMoveError",
    "MatchResult",
    "MoveResult",
    "NotGroundedError",
    "Planes",
    "Rollouts",
    "RulesError",
    "SearchResult",
    "State",
    "__version__",
    "check",
    "games",
    "play_match",
    "players",
    "read_results",
    "run_tournament",
]
