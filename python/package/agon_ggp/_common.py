"""What the adapters share."""

from __future__ import annotations

import os
from typing import Union

import numpy as np

from ._agon import Game, NotGroundedError, State

GameLike = Union[Game, str, os.PathLike]


class Numbers:
    """What adapters ask of a game again and again, and what its roles can see."""

    def __init__(self, game: Game):
        self.game = game
        self.is_hidden = game.has_hidden_information
        self.random_role = game.random_role
        self.players = [role for role in game.roles if role != self.random_role]
        self.n_actions = game.n_actions
        self.percepts = {text: number for number, text in enumerate(game.percepts)}
        # Fluents; or the percepts of the last step, all percepts until now, and the last action.
        self.n_bits = 2 * len(self.percepts) + self.n_actions if self.is_hidden else game.n_fluents

    def __deepcopy__(self, memo):
        return self


def _step_text(step: tuple[str, tuple[str, ...]]) -> str:
    move, seen = step
    return f"{move}: {' '.join(seen) or 'nothing'}"


class View:
    """What a role knows in a game with hidden information (GDL-II): its moves, what it saw in each step, and nothing else."""

    def __init__(self, numbers: Numbers, role: str):
        self.role = role
        self.history: tuple[tuple[str, tuple[str, ...]], ...] = ()
        self._numbers = numbers
        self._state: State = numbers.game.initial_state()
        self._observation = np.zeros(numbers.n_bits, np.uint8)

    def legal_actions(self) -> list[int]:
        """The legal actions of the role."""
        return [] if self._state.is_terminal else self._state.legal_actions(self.role)

    def legal_moves(self) -> list[str]:
        """The legal moves of the role as text."""
        return [] if self._state.is_terminal else self._state.legal_moves(self.role)

    def observation(self) -> np.ndarray:
        """The percepts of the last step, all percepts until now, and the last action, as 0 and 1."""
        return self._observation.copy()

    def __str__(self) -> str:
        return "\n".join(map(_step_text, self.history))

    def last(self) -> str:
        """The last step as text."""
        return "\n".join(map(_step_text, self.history[-1:]))

    def __deepcopy__(self, memo):
        copy = View(self._numbers, self.role)
        copy.history, copy._state, copy._observation = self.history, self._state, self._observation.copy()
        return copy

    def _add(self, action: int, seen: list[str], state: State) -> None:
        """A step: the move of the role, and what it saw."""
        numbers, observation = self._numbers, self._observation
        n_percepts = len(numbers.percepts)
        places = [numbers.percepts[text] for text in seen]
        observation[:n_percepts] = 0
        observation[2 * n_percepts :] = 0
        for place in places:
            observation[place] = observation[n_percepts + place] = 1
        observation[2 * n_percepts + action] = 1
        self.history += ((numbers.game.actions[action], tuple(seen)),)
        self._state = state


class Match:
    """A match and what its roles know. Chance, where there is such a role, chooses its own moves."""

    def __init__(self, numbers: Numbers, rng: np.random.Generator):
        self.numbers = numbers
        self.rng = rng
        self.state: State = numbers.game.initial_state()
        self.n_steps = 0
        self.views = {role: View(numbers, role) for role in numbers.players} if numbers.is_hidden else {}

    def advance(self, actions: dict[str, int]) -> None:
        """Makes a step. Roles that are left out make their only legal move."""
        state, chance = self.state, self.numbers.random_role
        actions = {role: int(action) for role, action in actions.items()}
        if chance is not None:
            legal = state.legal_actions(chance)
            actions[chance] = legal[int(self.rng.integers(len(legal)))]
        self.state = state.apply(actions)
        self.n_steps += 1
        if self.views:
            seen = state.percepts(actions)
            for role, view in self.views.items():
                action = actions[role] if role in actions else state.legal_actions(role)[0]
                view._add(action, seen[role], self.state)

    def observation(self, role: str) -> np.ndarray:
        """What a role observes: the fluents, or in a game with hidden information what it saw and did."""
        return self.views[role].observation() if self.views else self.state.observation()

    def mask(self, role: str) -> np.ndarray:
        """The legal actions of a role; none at the end."""
        if self.state.is_terminal:
            return np.zeros(self.numbers.n_actions, np.int8)
        return self.state.mask(role)


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


def is_stuck(state: State) -> bool:
    """Whether the match cannot go on although it is not over: some role has no legal move."""
    return not state.is_terminal and not all(state.legal_actions(role) for role in state.game.roles)


def actors(state: State, players: list[str]) -> list[str]:
    """The players that act in a state: those with a choice, or the one to move; none at the end or if a role is stuck."""
    if state.is_terminal or is_stuck(state):
        return []
    choosers = [role for role in players if len(state.legal_actions(role)) > 1]
    mover = state.to_move
    return choosers or [mover if mover in players else players[0]]


def render(state: State, mode: str | None) -> str | None:
    """The state as text or as a picture; nothing without a mode."""
    if mode == "ansi":
        return str(state)
    if mode == "svg":
        return state._repr_svg_() or str(state)
    return None
