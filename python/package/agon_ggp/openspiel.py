"""Any game as an OpenSpiel game: ``load_game`` gives a ``pyspiel.Game`` whose algorithms run on GDL rules.

>>> from agon_ggp.openspiel import load_game
>>> game = load_game("tic_tac_toe")
>>> state = game.new_initial_state()
>>> state.apply_action(state.legal_actions()[0])
>>> state.current_player(), len(state.legal_actions())
(1, 8)

Players are the roles and actions are Agon's, numbered the same for all roles. Returns are goals scaled to -1 ... 1. A game
in which roles do not move in turn is simultaneous: ``pyspiel.convert_to_turn_based`` helps where an algorithm needs turns.
"""

from __future__ import annotations

import numpy as np
import pyspiel  # type: ignore[import-not-found, import-untyped, unused-ignore]

from ._agon import Game, State
from ._common import GameLike, load, scaled

_MATCHES = 256


def _is_zero_sum(game: Game, max_steps: int) -> bool:
    """Whether the rewards of all finished matches of a sample add up to nothing."""
    batch = game.batch(_MATCHES, seed=1, autoreset="disabled", max_steps=max_steps)
    for _ in range(max_steps):
        batch.step_random()
        ended = batch.rewards[batch.terminated]
        if len(ended) and np.abs(ended.sum(axis=1)).max() > 1e-6:
            return False
        if not batch.mask.any():
            break
    return True


class _Constants:
    """What all states of a game share; copies of a state do not copy it."""

    def __init__(self, game: Game, is_turn_based: bool):
        self.roles = game.roles
        self.texts = game.actions
        self.is_turn_based = is_turn_based

    def __deepcopy__(self, memo):
        return self


class AgonGame(pyspiel.Game):
    """A game of Agon as a game of OpenSpiel."""

    def __init__(self, game: GameLike, *, max_game_length: int = 1000, zero_sum: bool | None = None):
        self.agon = load(game)
        n_players = len(self.agon.roles)
        dynamics = pyspiel.GameType.Dynamics
        utility = pyspiel.GameType.Utility
        self.is_turn_based = self.agon.in_turn
        if zero_sum is None:
            zero_sum = n_players > 1 and _is_zero_sum(self.agon, min(max_game_length, 200))
        self.agon_type = pyspiel.GameType(
            short_name=f"agon_{self.agon.name}",
            long_name=f"{self.agon.title} (Agon)",
            dynamics=dynamics.SEQUENTIAL if self.is_turn_based else dynamics.SIMULTANEOUS,
            chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
            information=(
                pyspiel.GameType.Information.PERFECT_INFORMATION
                if self.is_turn_based
                else pyspiel.GameType.Information.IMPERFECT_INFORMATION
            ),
            utility=utility.ZERO_SUM if zero_sum else utility.GENERAL_SUM,
            reward_model=pyspiel.GameType.RewardModel.TERMINAL,
            max_num_players=n_players,
            min_num_players=n_players,
            provides_information_state_string=True,
            provides_information_state_tensor=False,
            provides_observation_string=True,
            provides_observation_tensor=True,
            parameter_specification={},
        )
        ranges = [self.agon.goal_range(role) for role in self.agon.roles]
        info = pyspiel.GameInfo(
            num_distinct_actions=max(self.agon.n_actions, 1),
            max_chance_outcomes=0,
            num_players=n_players,
            min_utility=min(0.0, *(scaled(low) for low, _ in ranges)),
            max_utility=max(0.0, *(scaled(high) for _, high in ranges)),
            utility_sum=0.0 if zero_sum else None,
            max_game_length=max_game_length,
        )
        super().__init__(self.agon_type, info, {})
        self.constants = _Constants(self.agon, self.is_turn_based)
        self.initial = self.agon.initial_state()
        self.length = max_game_length

    def new_initial_state(self):
        return AgonState(self)

    def make_py_observer(self, iig_obs_type=None, params=None):
        return AgonObserver(self.agon, iig_obs_type)


class AgonState(pyspiel.State):
    """A state of Agon as a state of OpenSpiel."""

    def __init__(self, game: AgonGame):
        super().__init__(game)
        self.position: State = game.initial
        self.constants = game.constants
        self.left: int = game.length
        self.past = ""

    def current_player(self):
        if self.is_terminal():
            return pyspiel.PlayerId.TERMINAL
        if not self.constants.is_turn_based:
            return pyspiel.PlayerId.SIMULTANEOUS
        return self.constants.roles.index(self.position.to_move)

    def is_terminal(self):
        return self.position.is_terminal or self.left <= 0 or self._is_stuck()

    def _is_stuck(self):
        return any(not self.position.legal_actions(player) for player in range(len(self.constants.roles)))

    def _legal_actions(self, player):
        if self.is_terminal() or (self.constants.is_turn_based and player != self.current_player()):
            return []
        return self.position.legal_actions(player)

    def _apply_action(self, action):
        self.position = self.position.apply(int(action))
        self.left -= 1
        self.past += f"{int(action)} "

    def _apply_actions(self, actions):
        self.position = self.position.apply([int(action) for action in actions])
        self.left -= 1
        self.past += ",".join(str(int(action)) for action in actions) + " "

    def _action_to_string(self, player, action):
        return self.constants.texts[action]

    def returns(self):
        if not self.position.is_terminal:
            return [0.0] * len(self.constants.roles)
        return [scaled(self.position.goals[role]) for role in self.constants.roles]

    def __str__(self):
        return str(self.position)


class AgonObserver:
    """Observations: the fluents as numbers. The information state is the list of all actions."""

    def __init__(self, game: Game, iig_obs_type=None):
        self.has_recall = iig_obs_type is not None and iig_obs_type.perfect_recall
        self.tensor = np.zeros(game.n_fluents, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state, player):
        self.tensor[:] = state.position.observation()

    def string_from(self, state, player):
        if self.has_recall:
            return state.past
        return str(state.position)


def load_game(game: GameLike, **options) -> AgonGame:
    """A game, or its name or path, as a game of OpenSpiel.

    Matches end after ``max_game_length`` steps with returns of 0. Whether a game is zero-sum is found out by random
    matches unless ``zero_sum`` says it.
    """
    return AgonGame(game, **options)


__all__ = ["AgonGame", "AgonState", "AgonObserver", "load_game"]
