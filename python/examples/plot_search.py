"""How a search settles: the visits of each move with more and more playouts, as an SVG plot without other libraries."""

import sys

import agon_ggp


def plot(series: dict, labels: list) -> str:
    """Lines over equal steps."""
    top = max(max(values) for values in series.values()) or 1
    colours = ["#2471a3", "#c0392b", "#1e8449", "#d4ac0d", "#7d3c98", "#ca6f1e", "#222222", "#777777"]
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" width="640" height="360" font-family="sans-serif" font-size="12">']
    for place, (name, values) in enumerate(series.items()):
        points = " ".join(
            f"{40 + 460 * i / max(len(values) - 1, 1):.1f},{320 - 290 * v / top:.1f}" for i, v in enumerate(values)
        )
        colour = colours[place % len(colours)]
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{points}"/>')
        parts.append(f'<text x="510" y="{20 + 16 * place}" fill="{colour}">{name}</text>')
    for i, label in enumerate(labels):
        parts.append(f'<text x="{40 + 460 * i / max(len(labels) - 1, 1):.1f}" y="340" text-anchor="middle">{label}</text>')
    return "\n".join([*parts, "</svg>"])


def main(path: str | None = None):
    game = agon_ggp.Game.load("connect_four")
    budgets = [100, 200, 400, 800, 1600]
    shares = {move: [] for move in game.initial_state().legal_moves()}
    for playouts in budgets:
        result = game.search(playouts=playouts, seed=1)
        total = sum(move.visits for move in result.moves) or 1
        visits = {move.move: move.visits / total for move in result.moves}
        for move, values in shares.items():
            values.append(visits.get(move, 0.0))
    picture = plot(shares, budgets)
    if path:
        with open(path, "w") as file:
            file.write(picture)
    return picture


if __name__ == "__main__":
    print(f"a plot of {len(main(*sys.argv[1:2]))} bytes")
