"""Any game as an OpenSpiel game: ``load_game`` gives a ``pyspiel.Game`` whose algorithms run on GDL rules.

>>> from agon_ggp.openspiel import load_game
>>> game = load_game("tic_tac_toe")
>>> state = game.new_initial_state()
>>> state.apply_action(state.legal_actions()[0])
>>> state.current_player(), len(state.legal_actions())
(1, 8)

Players are the roles and actions are Agon's, numbered the same for all roles. Returns are goals scaled to -1 ... 1. A game
in which roles do not move in turn is simultaneous: ``pyspiel.convert_to_turn_based`` helps where an algorithm needs turns.

In a game with hidden information (GDL-II) the role of chance is no player but makes chance nodes, and the observations and
information states of a player have only what it knows: its own moves and its percepts.
"""

from __future__ import annotations

import numpy as np
import pyspiel  # type: ignore[import-not-found, import-untyped, unused-ignore]

from ._agon import Game, State
from ._common import GameLike, Numbers, View, is_stuck, load, scaled

_MATCHES = 256


def _is_zero_sum(game: Game, players: list[int], max_steps: int) -> bool:
    """Whether the rewards of the players in all finished matches of a sample add up to nothing."""
    batch = game.batch(_MATCHES, seed=1, autoreset="disabled", max_steps=max_steps)
    for _ in range(max_steps):
        batch.step_random()
        ended = batch.rewards[batch.terminated]
        if len(ended) and np.abs(ended[:, players].sum(axis=1)).max() > 1e-6:
            return False
        if not batch.mask.any():
            break
    return True


class _Constants:
    """What all states of a game share; copies of a state do not copy it."""

    def __init__(self, game: Game, max_game_length: int):
        self.numbers = Numbers(game)
        self.roles = self.numbers.players
        self.texts = game.actions
        self.is_turn_based = game.in_turn
        self.initial = game.initial_state()
        self.length = max_game_length

    def __deepcopy__(self, memo):
        return self


class AgonGame(pyspiel.Game):
    """A game of Agon as a game of OpenSpiel."""

    def __init__(self, game: GameLike, *, max_game_length: int = 1000, zero_sum: bool | None = None):
        self.agon = load(game)
        self.constants = constants = _Constants(self.agon, max_game_length)
        self.is_turn_based = constants.is_turn_based
        n_players, has_chance = len(constants.roles), constants.numbers.random_role is not None
        dynamics = pyspiel.GameType.Dynamics
        utility = pyspiel.GameType.Utility
        if zero_sum is None:
            players = [self.agon.roles.index(role) for role in constants.roles]
            zero_sum = n_players > 1 and _is_zero_sum(self.agon, players, min(max_game_length, 200))
        is_perfect = self.is_turn_based and not constants.numbers.is_hidden
        self.agon_type = pyspiel.GameType(
            short_name=f"agon_{self.agon.name}",
            long_name=f"{self.agon.title} (Agon)",
            dynamics=dynamics.SEQUENTIAL if self.is_turn_based else dynamics.SIMULTANEOUS,
            chance_mode=(
                pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
                if has_chance
                else pyspiel.GameType.ChanceMode.DETERMINISTIC
            ),
            information=(
                pyspiel.GameType.Information.PERFECT_INFORMATION
                if is_perfect
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
        ranges = [self.agon.goal_range(role) for role in constants.roles]
        n_actions = max(self.agon.n_actions, 1)
        info = pyspiel.GameInfo(
            num_distinct_actions=n_actions,
            max_chance_outcomes=n_actions if has_chance else 0,
            num_players=n_players,
            min_utility=min(0.0, *(scaled(low) for low, _ in ranges)),
            max_utility=max(0.0, *(scaled(high) for _, high in ranges)),
            utility_sum=0.0 if zero_sum else None,
            max_game_length=max_game_length,
        )
        super().__init__(self.agon_type, info, {})

    def new_initial_state(self):
        return AgonState(self)

    def make_py_observer(self, iig_obs_type=None, params=None):
        return AgonObserver(self.constants.numbers, iig_obs_type)


class AgonState(pyspiel.State):
    """A state of Agon as a state of OpenSpiel."""

    def __init__(self, game: AgonGame):
        super().__init__(game)
        self.constants = constants = game.constants
        self.position: State = constants.initial
        self.left: int = constants.length
        self.past = ""
        self.views = [View(constants.numbers, role) for role in constants.roles if constants.numbers.is_hidden]
        # The move of chance, if it has been drawn and the players have still to move.
        self.drawn: int | None = None

    def current_player(self):
        if self.is_terminal():
            return pyspiel.PlayerId.TERMINAL
        if self._is_chance():
            return pyspiel.PlayerId.CHANCE
        if not self.constants.is_turn_based:
            return pyspiel.PlayerId.SIMULTANEOUS
        return self.constants.roles.index(self.position.to_move)

    def is_terminal(self):
        return self.position.is_terminal or self.left <= 0 or is_stuck(self.position)

    def _is_chance(self) -> bool:
        """Whether chance is to move: in turn, or before the players where it moves at the same time as they do."""
        chance = self.constants.numbers.random_role
        if chance is None or self.drawn is not None:
            return False
        if self.constants.is_turn_based:
            return self.position.to_move == chance
        return len(self.position.legal_actions(chance)) > 1

    def chance_outcomes(self):
        legal = self.position.legal_actions(self.constants.numbers.random_role)
        return [(action, 1.0 / len(legal)) for action in legal]

    def _legal_actions(self, player):
        if self.is_terminal() or (self.constants.is_turn_based and player != self.current_player()):
            return []
        return self.position.legal_actions(self.constants.roles[player])

    def _apply_action(self, action):
        if not self._is_chance():
            self._advance({self.position.to_move: int(action)})
        elif self.constants.is_turn_based:
            self._advance({self.constants.numbers.random_role: int(action)})
        else:
            self.drawn = int(action)
            # Nobody is asked who has no choice.
            if all(len(self.position.legal_actions(role)) == 1 for role in self.constants.roles):
                self._advance({})

    def _apply_actions(self, actions):
        self._advance({role: int(action) for role, action in zip(self.constants.roles, actions)})

    def _advance(self, actions: dict[str, int]) -> None:
        """Makes a step. Roles that are left out make their only legal move."""
        state, numbers = self.position, self.constants.numbers
        if self.drawn is not None and numbers.random_role is not None:
            actions[numbers.random_role] = self.drawn
            self.drawn = None
        self.position = state.apply(actions)
        self.left -= 1
        if self.views:
            seen = state.percepts(actions)
            for view in self.views:
                action = actions[view.role] if view.role in actions else state.legal_actions(view.role)[0]
                view._add(action, seen[view.role], self.position)
        else:
            self.past += ",".join(str(action) for action in actions.values()) + " "

    def _action_to_string(self, player, action):
        return self.constants.texts[action]

    def returns(self):
        if not self.position.is_terminal:
            return [0.0] * len(self.constants.roles)
        goals = self.position.goals
        return [scaled(goals[role]) for role in self.constants.roles]

    def __str__(self):
        return str(self.position)


class AgonObserver:
    """Observations and information states of a player.

    Where all is seen, the observation is the fluents, and the information state the list of all actions. In a game with
    hidden information, the observation is the percepts of the last step, all percepts until now, and the last action of
    the player, and the information state is its moves and percepts step by step.
    """

    def __init__(self, numbers: Numbers, iig_obs_type=None):
        self.has_recall = iig_obs_type is not None and iig_obs_type.perfect_recall
        self.tensor = np.zeros(numbers.n_bits, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state, player):
        source = state.views[player] if state.views else state.position
        self.tensor[:] = source.observation()

    def string_from(self, state, player):
        if not state.views:
            return state.past if self.has_recall else str(state.position)
        view = state.views[player]
        return str(view) if self.has_recall else view.last()


def load_game(game: GameLike, **options) -> AgonGame:
    """A game, or its name or path, as a game of OpenSpiel.

    Matches end after ``max_game_length`` steps with returns of 0. Whether a game is zero-sum is found out by random
    matches unless ``zero_sum`` says it.
    """
    return AgonGame(game, **options)


__all__ = ["AgonGame", "AgonState", "AgonObserver", "load_game"]
