"""Random play in PettingZoo, and the same with a thousand matches at once."""

import agon_ggp


def one_match(name: str) -> dict:
    """A match of random agents; without PettingZoo, by states."""
    try:
        from agon_ggp.pettingzoo import aec_env
    except ImportError:
        state = agon_ggp.Game.load(name).initial_state()
        while not state.is_terminal:
            state = state.apply(state.legal_moves()[0])
        return state.goals
    env = aec_env(name)
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        done = terminated or truncated
        env.step(None if done else env.action_space(agent).sample(observation["action_mask"]))
    return env.position.goals


def many_matches(name: str, n: int) -> float:
    """The mean reward of the first role."""
    batch = agon_ggp.Game.load(name).batch(n, seed=1)
    total = ended = 0
    while ended < n:
        batch.step(batch.random_actions())
        total += batch.rewards[batch.terminated, 0].sum()
        ended += int(batch.terminated.sum())
    return float(total / ended)


if __name__ == "__main__":
    print("one match:", one_match("connect_four"))
    print("mean reward of the first role:", round(many_matches("connect_four", 1000), 3))
