"""Learns connect four by REINFORCE with plain NumPy, in a batch of environments.

A linear softmax policy over legal actions plays the first role against random moves. The policy gradient is that of
Williams 1992; the baseline is the mean return.
"""

import sys

import numpy as np

import agon_ggp


def choose(logits, mask, rng):
    """Actions and probabilities; illegal actions have probability zero."""
    logits = np.where(mask > 0, logits, -1e9)
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    noise = rng.random((len(chances), 1))
    return (chances.cumsum(axis=1) < noise).sum(axis=1).clip(max=mask.shape[1] - 1), chances


def play(game, weights, n, rng, rate):
    """Plays n matches; with a rate, learns from them. Returns the mean reward."""
    batch = game.batch(n, seed=int(rng.integers(1 << 31)), autoreset="disabled", illegal="random")
    total, running = np.zeros(n), np.ones(n, bool)
    history = []
    while running.any():
        x = np.concatenate([batch.observation, np.ones((n, 1))], axis=1)
        actions, chances = choose(x @ weights, batch.mask, rng)
        ours = running & (batch.current_role == 0)
        actions = np.where(ours, actions, batch.random_actions())
        if rate:
            history.append((x, actions, chances, ours))
        batch.step(actions)
        total += batch.rewards[:, 0]
        running &= ~(batch.terminated | batch.truncated)
    if rate:
        advantage = total - total.mean()
        for x, actions, chances, ours in history:
            gradient = -chances
            gradient[np.arange(n), actions.clip(min=0)] += 1.0
            gradient *= (advantage * ours)[:, None]
            weights += rate * x.T @ gradient / n
    return total.mean()


def main(rounds: int = 60, n: int = 512):
    rng = np.random.default_rng(1)
    game = agon_ggp.Game.load("connect_four")
    weights = np.zeros((game.n_fluents + 1, game.n_actions))
    before = play(game, weights, 2000, rng, 0.0)
    for _ in range(rounds):
        play(game, weights, n, rng, 0.5)
    after = play(game, weights, 2000, rng, 0.0)
    print(f"mean reward against random moves: {before:.3f} before, {after:.3f} after {rounds * n} matches")
    return before, after


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
