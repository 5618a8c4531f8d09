"""Any game as a PettingZoo environment: ``aec_env`` and ``parallel_env``.

Agents are the roles. An observation is a dictionary with the fluents as bytes and the mask of legal actions.

In the AEC environment only roles with a choice act. Where several roles choose at the same time, they act one after the
other, and nothing changes before the last of them has acted. In the parallel environment all roles act in each step; a
role that waits has one legal action, its waiting move.

Rewards are goals scaled to -1 ... 1 and given at the end. A match is truncated after ``max_cycles`` steps, or if a role
has no legal move.

>>> from agon_ggp.pettingzoo import aec_env
>>> env = aec_env("tic_tac_toe")
>>> env.reset(seed=1)
>>> env.agent_selection, int(env.observe("x")["action_mask"].sum())
('x', 9)
"""

from __future__ import annotations

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv  # type: ignore[import-untyped, unused-ignore]

from ._agon import IllegalMoveError, State
from ._common import GameLike, actors, load, render, scaled_goals

MODES = ["ansi", "svg"]


class _Match:
    """A match, its spaces and its pictures: what both kinds of environments need."""

    def _set_up(self, game: GameLike, max_cycles: int, render_mode: str | None) -> None:
        if render_mode not in (None, *MODES):
            raise ValueError(f"render_mode is None or one of {MODES}, not {render_mode!r}")
        if max_cycles < 1:
            raise ValueError(f"max_cycles is at least 1, not {max_cycles}")
        self.game = load(game)
        self.max_cycles = max_cycles
        self.render_mode = render_mode
        self.metadata = {
            "name": f"{self.game.name}_v0",
            "render_modes": MODES,
            "is_parallelizable": True,
            "render_fps": 1,
        }
        self.possible_agents = self.game.roles
        observation = spaces.Dict(
            {
                "observation": spaces.Box(0, 1, (self.game.n_fluents,), np.uint8),
                "action_mask": spaces.Box(0, 1, (self.game.n_actions,), np.int8),
            }
        )
        self.observation_spaces = {agent: observation for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(self.game.n_actions) for agent in self.possible_agents}
        self.state_space = spaces.Box(0, 1, (self.game.n_fluents,), np.uint8)
        self._state: State = self.game.initial_state()
        self._n_steps = 0

    def observation_space(self, agent):
        return self.observation_spaces[agent]

    def action_space(self, agent):
        return self.action_spaces[agent]

    def observe(self, agent):
        if self._state.is_terminal:
            mask = np.zeros(self.game.n_actions, np.int8)
        else:
            mask = self._state.mask(agent)
        return {"observation": self._state.observation(), "action_mask": mask}

    def state(self):
        """The fluents of the state as bytes."""
        return self._state.observation()

    @property
    def position(self) -> State:
        """The state as an object of Agon."""
        return self._state

    def render(self):
        return render(self._state, self.render_mode)

    def close(self):
        pass

    def _advance(self, actions: dict[str, int]) -> None:
        """Makes a step, and finds out whether the match is over."""
        self._state = self._state.apply({role: int(action) for role, action in actions.items()})
        self._n_steps += 1

    def _is_cut(self) -> bool:
        state = self._state
        return not state.is_terminal and (self._n_steps >= self.max_cycles or not actors(state))


class AgonAECEnv(_Match, AECEnv):
    """A game as an environment in which agents act one after the other."""

    def __init__(self, game: GameLike, *, max_cycles: int = 1000, render_mode: str | None = None):
        super().__init__()
        self._set_up(game, max_cycles, render_mode)

    def reset(self, seed=None, options=None):
        self._state = self.game.initial_state()
        self._n_steps = 0
        self.agents = self.possible_agents[:]
        self.rewards = {agent: 0.0 for agent in self.agents}
        self._cumulative_rewards = {agent: 0.0 for agent in self.agents}
        self.terminations = {agent: bool(self._state.is_terminal) for agent in self.agents}
        self.truncations = {agent: bool(self._is_cut()) for agent in self.agents}
        self.infos = {agent: {} for agent in self.agents}
        self._actions = {}
        self._next_actors()

    def _next_actors(self) -> None:
        self._waiting = actors(self._state) or self.agents[:1]
        self.agent_selection = self._waiting[0]

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None or not self.action_space(agent).contains(int(action)):
            raise IllegalMoveError(f"action {action} of {agent} is not one of the {self.game.n_actions} actions")
        if int(action) not in self._state.legal_actions(agent):
            raise IllegalMoveError(
                f"action {action} ({self.game.actions[int(action)]}) of {agent} is not legal here; see action_mask"
            )
        self._cumulative_rewards[agent] = 0.0
        self._actions[agent] = int(action)
        self._waiting = self._waiting[1:]
        self._clear_rewards()
        if self._waiting:
            self.agent_selection = self._waiting[0]
        else:
            self._advance(self._actions)
            self._actions = {}
            if self._state.is_terminal:
                self.rewards = scaled_goals(self._state)
                self.terminations = {agent: True for agent in self.agents}
            elif self._is_cut():
                self.truncations = {agent: True for agent in self.agents}
            self._next_actors()
        self._accumulate_rewards()


class AgonParallelEnv(_Match, ParallelEnv):
    """A game as an environment in which all agents act in each step."""

    def __init__(self, game: GameLike, *, max_cycles: int = 1000, render_mode: str | None = None):
        self._set_up(game, max_cycles, render_mode)
        self.agents: list[str] = []

    def reset(self, seed=None, options=None):
        self._state = self.game.initial_state()
        self._n_steps = 0
        self.agents = self.possible_agents[:]
        return {agent: self.observe(agent) for agent in self.agents}, {agent: {} for agent in self.agents}

    def step(self, actions):
        if not self.agents:
            return {}, {}, {}, {}, {}
        agents = self.agents
        if self._state.is_terminal or self._is_cut():
            is_over, is_cut = bool(self._state.is_terminal), bool(self._is_cut())
        else:
            self._advance(actions)
            is_over, is_cut = bool(self._state.is_terminal), bool(self._is_cut())
        goals = scaled_goals(self._state) if is_over else dict.fromkeys(agents, 0.0)
        if is_over or is_cut:
            self.agents = []
        return (
            {agent: self.observe(agent) for agent in agents},
            {agent: goals[agent] for agent in agents},
            {agent: is_over for agent in agents},
            {agent: is_cut for agent in agents},
            {agent: {} for agent in agents},
        )


def aec_env(game: GameLike, **options) -> AgonAECEnv:
    """A game, or its name or path, as an AEC environment."""
    return AgonAECEnv(game, **options)


def parallel_env(game: GameLike, **options) -> AgonParallelEnv:
    """A game, or its name or path, as a parallel environment."""
    return AgonParallelEnv(game, **options)


__all__ = ["AgonAECEnv", "AgonParallelEnv", "aec_env", "parallel_env"]
