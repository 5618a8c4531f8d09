#!/usr/bin/env python3
"""Draws boards as one SVG picture, such as the one in README.md.

Each argument is STYLE:STEP:FILE. FILE has the output of `agon match`, STEP says after which step its board is drawn, and
STYLE says how: breakthrough, othello or connect_four. The SVG goes to standard output.

Example:
  agon match othello --playouts 300 --seed 3 > othello.txt
  scripts/picture.py othello:30:othello.txt > othello.svg
"""

import re
import sys

SIZE = 208  # width and height of a board without its frame
GAP = 36  # between two boards
FRAME = 8  # around a board
CAPTION = 30  # below a board

TITLES = {
    "breakthrough": "Breakthrough",
    "othello": "Othello",
    "connect_four": "Connect Four",
}

PAWN = (
    '<symbol id="pawn" viewBox="0 0 26 26"><path d="M13 3.6a3.9 3.9 0 0 1 2.7 6.7c1.9 1 2.5 2.8 2.3 4.1h-1.6c.5 2.6'
    ' 1.5 4.2 3.3 5.6v2.4H6.3V20c1.8-1.4 2.8-3 3.3-5.6H8c-.2-1.3.4-3.1 2.3-4.1A3.9 3.9 0 0 1 13 3.6z"'
    ' stroke="#1d2b3a" stroke-width="1" stroke-linejoin="round"/></symbol>'
)


def boards(text):
    """The boards of a match: one per step, the initial one first; each is a list of rows of characters."""
    found, rows = [], []
    for line in text.splitlines() + [""]:
        row = re.fullmatch(r" *\w+ ((?:\S )*\S)", line)
        if row and all(len(cell) == 1 for cell in row[1].split()):
            rows.append(row[1].split())
        else:
            # The names of the columns look like a row with one cell less.
            if rows:
                found.append([row for row in rows if len(row) == len(rows[0])])
            rows = []
    return found


def number(value):
    return f"{value:.4g}"


def breakthrough(rows, x, y):
    cell = SIZE / len(rows[0])
    yield f'<rect x="{x}" y="{y}" width="{SIZE}" height="{SIZE}" fill="#e9dcc3"/>'
    dark = [
        f"M{number(x + column * cell)} {number(y + row * cell)}h{number(cell)}v{number(cell)}h-{number(cell)}z"
        for row in range(len(rows))
        for column in range(len(rows[0]))
        if (row + column) % 2
    ]
    yield f'<path d="{"".join(dark)}" fill="#a8815c"/>'
    for row, line in enumerate(rows):
        for column, content in enumerate(line):
            if content in "OX":
                fill = "#fbfaf5" if content == "O" else "#33475b"
                at = f'x="{number(x + column * cell)}" y="{number(y + row * cell)}"'
                yield f'<use href="#pawn" {at} width="{number(cell)}" height="{number(cell)}" fill="{fill}"/>'


def othello(rows, x, y):
    cell = SIZE / len(rows[0])
    yield f'<rect x="{x}" y="{y}" width="{SIZE}" height="{SIZE}" fill="#2f7d55"/>'
    lines = [
        f"M{x} {number(y + at * cell)}h{SIZE}M{number(x + at * cell)} {y}v{SIZE}"
        for at in range(1, len(rows))
    ]
    yield f'<path d="{"".join(lines)}" stroke="#1f5c3d" stroke-width="1"/>'
    for row, line in enumerate(rows):
        for column, content in enumerate(line):
            if content in "OX":
                fill = "#f7f6f0" if content == "O" else "#1e2227"
                centre = f'cx="{number(x + (column + 0.5) * cell)}" cy="{number(y + (row + 0.5) * cell)}"'
                yield f'<circle {centre} r="{number(cell * 0.4)}" fill="{fill}"/>'


def connect_four(rows, x, y):
    cell = SIZE / len(rows[0])
    height = cell * len(rows)
    top = y + (SIZE - height) / 2
    yield f'<rect x="{x}" y="{y}" width="{SIZE}" height="{SIZE}" fill="#2757a8"/>'
    for row, line in enumerate(rows):
        for column, content in enumerate(line):
            fill = {"X": "#d8412f", "O": "#f3c63a"}.get(content, "#17366b")
            centre = f'cx="{number(x + (column + 0.5) * cell)}" cy="{number(top + (row + 0.5) * cell)}"'
            yield f'<circle {centre} r="{number(cell * 0.39)}" fill="{fill}"/>'


STYLES = {
    "breakthrough": breakthrough,
    "othello": othello,
    "connect_four": connect_four,
}


def main():
    if len(sys.argv) == 1:
        sys.exit(__doc__)
    panels = []
    for argument in sys.argv[1:]:
        style, step, path = argument.split(":", 2)
        with open(path, encoding="utf-8") as file:
            panels.append((style, int(step), boards(file.read())[int(step)]))
    width = len(panels) * (SIZE + 2 * FRAME) + (len(panels) - 1) * GAP
    height = SIZE + 2 * FRAME + CAPTION
    titles = ", ".join(TITLES[style] for style, _, _ in panels)
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' role="img" aria-label="Boards of {titles}">'
    )
    print(PAWN)
    for idx, (style, step, rows) in enumerate(panels):
        left = idx * (SIZE + 2 * FRAME + GAP)
        whole = SIZE + 2 * FRAME
        print(f'<rect x="{left}" y="0" width="{whole}" height="{whole}" rx="7" fill="#4a3b2e"/>')
        for element in STYLES[style](rows, left + FRAME, FRAME):
            print(element)
        at = f'x="{left + whole / 2:g}" y="{whole + 21}"'
        font = 'font-family="sans-serif" font-size="13" text-anchor="middle" fill="#7d8590"'
        print(f"<text {at} {font}>{TITLES[style]}, after {step} steps</text>")
    print("</svg>")


if __name__ == "__main__":
    main()
