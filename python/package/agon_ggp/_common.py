"""What the adapters share."""

from __future__ import annotations

import os
from typing import Union

from ._agon import Game, NotGroundedError, State

GameLike = Union[Game, str, os.PathLike]


def load(game: GameLike) -> Game:
    """A game, or what ``Game.load`` takes."""
    loaded = game if isinstance(game, Game) else Game.load(game)
    if not loaded.is_grounded:
        raise NotGroundedError(
            f"{loaded.name} has no finite list of moves and fluents within the limits of Agon, which environments need"
        )
    return loaded


def find_role(game: Game, role: str | int) -> str:
    """The name of a role as the rules spell it."""
    game.goal_range(role)  # raises if there is no such role
    names = {name.lower(): name for name in game.roles}
    return names[role.lower()] if isinstance(role, str) else game.roles[role]


def scaled(goal: int | None) -> float:
    """A goal from 0 to 100 as a reward from -1 to 1; 0 where the rules give no goal."""
    return 0.0 if goal is None else goal / 50.0 - 1.0


def scaled_goals(state: State) -> dict[str, float]:
    """The rewards of all roles in a state."""
    return {role: scaled(goal) for role, goal in state.goals.items()}


def actors(state: State) -> list[str]:
    """The roles that act in a state: those with a choice, or the one to move; none at the end or if a role is stuck."""
    if state.is_terminal:
        return []
    roles = state.game.roles
    counts = {role: len(state.legal_actions(role)) for role in roles}
    if min(counts.values()) == 0:
        return []
    choosers = [role for role in roles if counts[role] > 1]
    return choosers or [state.to_move or roles[0]]


def render(state: State, mode: str | None) -> str | None:
    """The state as text or as a picture; nothing without a mode."""
    if mode == "ansi":
        return str(state)
    if mode == "svg":
        return state._repr_svg_() or str(state)
    return None
