"""A player of one's own against Agon: it takes the move after which most random playouts are won."""

import agon_ggp


def greedy(state, role):
    """The move with the best mean of 200 playouts."""
    index = state.game.roles.index(role)
    moves = state.legal_moves(role)
    after = [state.apply({role: move}) for move in moves]
    means = state.game.rollout(after, 200, seed=1).goals[:, index]
    return moves[int(means.argmax())]


if __name__ == "__main__":
    game = agon_ggp.Game.load("connect_four")
    match = agon_ggp.play_match(game, [greedy, "agon"], playouts=500)
    state = game.initial_state()
    for moves in match.moves:
        state = state.apply(moves)
    print(state)
    print(match.goals)
