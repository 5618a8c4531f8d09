"""Any game as a PettingZoo environment: ``aec_env`` and ``parallel_env``.

Agents are the roles that players take. An observation is a dictionary with the fluents as bytes and the mask of legal actions.

In the AEC environment only roles with a choice act. Where several roles choose at the same time, they act one after the
other, and nothing changes before the last of them has acted. In the parallel environment all roles act in each step; a
role that waits has one legal action, its waiting move.

In a game with hidden information (GDL-II) an observation has only what the role knows: the percepts of the last step, all
percepts until now, and its last action. Chance plays its role itself, with the seed of ``reset``. ``state()`` and
``render()`` show everything.

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
from ._common import GameLike, Match, Numbers, actors, is_stuck, load, render, scaled_goals

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
        self._numbers = Numbers(self.game)
        self.possible_agents = self._numbers.players
        observation = spaces.Dict(
            {
                "observation": spaces.Box(0, 1, (self._numbers.n_bits,), np.uint8),
                "action_mask": spaces.Box(0, 1, (self.game.n_actions,), np.int8),
            }
        )
        self.observation_spaces = {agent: observation for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(self.game.n_actions) for agent in self.possible_agents}
        self.state_space = spaces.Box(0, 1, (self.game.n_fluents,), np.uint8)
        self._rng = np.random.default_rng()
        self._match = Match(self._numbers, self._rng)

    def _start(self, seed: int | None) -> None:
        """Begins a match; without a seed the random numbers go on."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._match = Match(self._numbers, self._rng)

    def observation_space(self, agent):
        return self.observation_spaces[agent]

    def action_space(self, agent):
        return self.action_spaces[agent]

    def observe(self, agent):
        return {"observation": self._match.observation(agent), "action_mask": self._match.mask(agent)}

    def state(self):
        """The fluents of the state as bytes."""
        return self.position.observation()

    @property
    def position(self) -> State:
        """The state as an object of Agon, with all that is hidden."""
        return self._match.state

    def render(self):
        return render(self.position, self.render_mode)

    def close(self):
        pass

    def _rewards(self) -> dict[str, float]:
        """The rewards of the agents at the end of a match."""
        scaled = scaled_goals(self.position)
        return {agent: scaled[agent] for agent in self.possible_agents}

    def _is_cut(self) -> bool:
        state = self.position
        return not state.is_terminal and (self._match.n_steps >= self.max_cycles or is_stuck(state))


class AgonAECEnv(_Match, AECEnv):
    """A game as an environment in which agents act one after the other."""

    def __init__(self, game: GameLike, *, max_cycles: int = 1000, render_mode: str | None = None):
        super().__init__()
        self._set_up(game, max_cycles, render_mode)

    def reset(self, seed=None, options=None):
        self._start(seed)
        self.agents = self.possible_agents[:]
        self.rewards = {agent: 0.0 for agent in self.agents}
        self._cumulative_rewards = {agent: 0.0 for agent in self.agents}
        self.terminations = {agent: False for agent in self.agents}
        self.truncations = {agent: False for agent in self.agents}
        self.infos = {agent: {} for agent in self.agents}
        self._actions = {}
        self._next_actors()
        self._accumulate_rewards()

    def _next_actors(self) -> None:
        """Finds out whether the match is over, and who acts next."""
        if self._numbers.random_role is not None:
            # Chance goes on alone where nobody else has a choice.
            while not self.position.is_terminal and not self._is_cut() and not self._has_choice():
                self._match.advance({})
        if self.position.is_terminal:
            self.rewards = self._rewards()
            self.terminations = {agent: True for agent in self.agents}
        elif self._is_cut():
            self.truncations = {agent: True for agent in self.agents}
        self._waiting = actors(self.position, self.possible_agents) or self.agents[:1]
        self.agent_selection = self._waiting[0]

    def _has_choice(self) -> bool:
        return any(len(self.position.legal_actions(agent)) > 1 for agent in self.possible_agents)

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None or not self.action_space(agent).contains(int(action)):
            raise IllegalMoveError(f"action {action} of {agent} is not one of the {self.game.n_actions} actions")
        if int(action) not in self.position.legal_actions(agent):
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
            self._match.advance(self._actions)
            self._actions = {}
            self._next_actors()
        self._accumulate_rewards()


class AgonParallelEnv(_Match, ParallelEnv):
    """A game as an environment in which all agents act in each step."""

    def __init__(self, game: GameLike, *, max_cycles: int = 1000, render_mode: str | None = None):
        self._set_up(game, max_cycles, render_mode)
        self.agents: list[str] = []

    def reset(self, seed=None, options=None):
        self._start(seed)
        self.agents = self.possible_agents[:]
        return {agent: self.observe(agent) for agent in self.agents}, {agent: {} for agent in self.agents}

    def step(self, actions):
        if not self.agents:
            return {}, {}, {}, {}, {}
        agents = self.agents
        if not self.position.is_terminal and not self._is_cut():
            self._match.advance(actions)
        is_over, is_cut = bool(self.position.is_terminal), bool(self._is_cut())
        goals = self._rewards() if is_over else dict.fromkeys(agents, 0.0)
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
