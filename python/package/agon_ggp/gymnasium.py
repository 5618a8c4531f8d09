"""Any game as a Gymnasium environment: ``AgonEnv`` for one role, ``AgonVectorEnv`` for thousands of matches.

``AgonEnv`` plays one role. The other roles are played by ``opponent``: ``"random"``, a function ``(state, role) -> move``,
or the name of a player of Agon such as ``"agon"``. ``info["action_mask"]`` has the legal actions. An illegal action ends
the match with reward -1 and ``info["illegal_action"]``; with ``illegal="raise"`` it raises ``IllegalMoveError``.

In a game with hidden information (GDL-II) an observation has only what the role knows: the percepts of the last step, all
percepts until now, and its last action. An opponent that is a function gets a view ``(view, role) -> move`` with no more
than that, and players of Agon cannot be opponents, because they would see the state. Chance plays its role itself.

>>> from agon_ggp.gymnasium import AgonEnv
>>> env = AgonEnv("eight_puzzle")
>>> observation, info = env.reset(seed=1)
>>> bool(env.action_space.sample(info["action_mask"]) < env.game.n_actions)
True
"""

from __future__ import annotations

from typing import Any, Callable, Literal, Union

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv

from ._agon import IllegalMoveError, State
from ._common import GameLike, Match, Numbers, find_role, is_stuck, load, render, scaled

Opponent = Union[str, Callable[[Any, str], Any]]
_AUTORESET: dict[AutoresetMode, Literal["same_step", "next_step", "disabled"]] = {
    AutoresetMode.SAME_STEP: "same_step",
    AutoresetMode.NEXT_STEP: "next_step",
    AutoresetMode.DISABLED: "disabled",
}


class AgonEnv(gym.Env):
    """One role of a game."""

    metadata = {"render_modes": ["ansi", "svg"], "render_fps": 1}

    def __init__(
        self,
        game: GameLike,
        *,
        role: str | int | None = None,
        opponent: Opponent = "random",
        playouts: int = 100,
        illegal: str = "end",
        max_steps: int = 1000,
        render_mode: str | None = None,
    ):
        self.game = load(game)
        if illegal not in ("end", "raise"):
            raise ValueError(f'illegal is "end" or "raise", not {illegal!r}')
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode is None or one of {self.metadata['render_modes']}, not {render_mode!r}")
        self._numbers = Numbers(self.game)
        self.role = find_role(self.game, self._numbers.players[0] if role is None else role)
        if self.role == self._numbers.random_role:
            raise ValueError(f"{self.role} is the role of chance: choose another one")
        if self._numbers.is_hidden and not callable(opponent) and opponent != "random":
            raise ValueError(
                f"{opponent!r} would see what is hidden: in a game with hidden information (GDL-II) an opponent is "
                '"random" or a function (view, role) -> move'
            )
        self.opponent = opponent
        self.playouts = playouts
        self.illegal = illegal
        self.max_steps = max_steps
        self.render_mode = render_mode
        self.observation_space = spaces.Box(0, 1, (self._numbers.n_bits,), np.uint8)
        self.action_space = spaces.Discrete(self.game.n_actions)
        self._match = Match(self._numbers, np.random.default_rng())
        self._has_ended = False

    @property
    def position(self) -> State:
        """The state as an object of Agon, with all that is hidden."""
        return self._match.state

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        super().reset(seed=seed)
        self._match = Match(self._numbers, self.np_random)
        self._has_ended = False
        self._skip()
        return self._match.observation(self.role), self._info()

    def step(self, action):
        if self._is_over():
            raise gym.error.ResetNeeded("the match is over: call reset")
        legal = self.position.legal_actions(self.role)
        if int(action) not in legal:
            if self.illegal == "raise":
                raise IllegalMoveError(f"action {action} of {self.role} is not legal here; see info['action_mask']")
            self._has_ended = True
            info = self._info()
            info["illegal_action"] = True
            return self._match.observation(self.role), -1.0, True, False, info
        self._advance({self.role: int(action)})
        self._skip()
        is_terminal = self.position.is_terminal
        reward = scaled(self.position.goals[self.role]) if is_terminal else 0.0
        is_cut = self._is_over() and not is_terminal
        return self._match.observation(self.role), reward, is_terminal, is_cut, self._info()

    def render(self):
        return render(self.position, self.render_mode)

    def _info(self) -> dict:
        return {"action_mask": self._match.mask(self.role)}

    def _is_over(self) -> bool:
        state = self.position
        return state.is_terminal or self._has_ended or self._match.n_steps >= self.max_steps or is_stuck(state)

    def _skip(self) -> None:
        """Lets the others move until it is the turn of the role."""
        while not self._is_over():
            state = self.position
            if len(state.legal_actions(self.role)) > 1 or state.to_move in (self.role, None):
                break
            self._advance({})

    def _advance(self, moves: dict) -> None:
        """Makes a step in which the others choose their moves."""
        for role in self._numbers.players:
            if role not in moves:
                moves[role] = self._choose(self.position, role)
        self._match.advance(moves)

    def _choose(self, state: State, role: str) -> int:
        legal = state.legal_actions(role)
        if len(legal) == 1:
            return legal[0]
        if callable(self.opponent):
            chosen = self.opponent(self._match.views.get(role, state), role)
            number = self.game.action(chosen) if isinstance(chosen, str) else int(chosen)
            if number not in legal:
                raise IllegalMoveError(f"the opponent's move {chosen!r} of {role} is not legal here")
            return number
        if self.opponent == "random":
            return legal[int(self.np_random.integers(len(legal)))]
        seed = int(self.np_random.integers(1 << 31))
        found = self.game.search(state, role, player=self.opponent, playouts=self.playouts, seed=seed)
        return self.game.action(found.move)


class AgonVectorEnv(VectorEnv):
    """Thousands of matches at once, all roles played by one policy.

    The action is that of the role to move; in games in which roles choose at the same time, one action per role. The
    reward is that of the role that acted (the first role if several did); ``info["rewards"]`` has those of all roles,
    ``info["action_mask"]`` and ``info["current_role"]`` belong to the observation.

    An observation is the whole state. A game with hidden information (GDL-II) is refused, unless ``shows_all`` says that
    this is intended; the role of chance is then one of the roles that act.
    """

    def __init__(
        self,
        game: GameLike,
        num_envs: int,
        *,
        seed: int = 0,
        autoreset_mode: AutoresetMode = AutoresetMode.SAME_STEP,
        illegal: Literal["raise", "end", "random"] = "raise",
        max_steps: int | None = None,
        threads: int = 1,
        copy: bool = True,
        shows_all: bool = False,
    ):
        self.game = load(game)
        if self.game.has_hidden_information and not shows_all:
            raise ValueError(
                f"{self.game.name} has hidden information (GDL-II), and observations of batches show the whole state: "
                "use AgonEnv, or pass shows_all=True"
            )
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": autoreset_mode, "render_modes": []}
        self.batch = self.game.batch(
            num_envs,
            seed,
            autoreset=_AUTORESET[autoreset_mode],
            illegal=illegal,
            max_steps=max_steps,
            threads=threads,
        )
        self._copy = np.array if copy else np.asarray
        n_fluents, n_actions, n_roles = self.game.n_fluents, self.game.n_actions, len(self.game.roles)
        self.single_observation_space = spaces.Box(0, 1, (n_fluents,), np.uint8)
        self.observation_space = spaces.Box(0, 1, (num_envs, n_fluents), np.uint8)
        if self.batch.mode == "turns":
            self.single_action_space = spaces.Discrete(n_actions)
            self.action_space = spaces.MultiDiscrete(np.full(num_envs, n_actions))
        else:
            self.single_action_space = spaces.MultiDiscrete(np.full(n_roles, n_actions))
            self.action_space = spaces.MultiDiscrete(np.full((num_envs, n_roles), n_actions))
        self._rows = np.arange(num_envs)

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        mask = (options or {}).get("reset_mask")
        if isinstance(seed, (list, tuple)):
            seed = next((one for one in seed if one is not None), None)
        self.batch.reset(seed, mask)
        return self._copy(self.batch.observation), self._info()

    def step(self, actions):
        batch = self.batch
        acting = np.maximum(batch.current_role, 0).copy()
        batch.step(actions)
        info = self._info()
        ended = batch.terminated | batch.truncated
        if self.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP and ended.any():
            final = batch.final_observation()
            info["final_obs"] = np.empty(self.num_envs, object)
            for env in np.flatnonzero(ended):
                info["final_obs"][env] = final[env]
            info["_final_obs"] = ended
            info["final_info"] = {"rewards": batch.rewards.copy()}
            info["_final_info"] = ended
        rewards = batch.rewards[self._rows, acting]
        return self._copy(batch.observation), rewards, batch.terminated.copy(), batch.truncated.copy(), info

    def random_actions(self):
        """A random legal action for each environment."""
        return self.batch.random_actions()

    def _info(self) -> dict:
        batch = self.batch
        return {
            "action_mask": self._copy(batch.mask),
            "current_role": self._copy(batch.current_role),
            "rewards": self._copy(batch.rewards),
        }


__all__ = ["AgonEnv", "AgonVectorEnv"]
