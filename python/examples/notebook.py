"""A notebook rendered as HTML: cells of code, what they print, and the pictures of states.

It runs the cells itself, so that it needs no other library: the value of a last line is shown as a notebook would.
"""

import ast
import contextlib
import html
import io
import sys

CELLS = [
    'import agon_ggp\ngame = agon_ggp.Game.load("connect_four")\ngame',
    "state = game.initial_state()\nstate",
    'state = state.apply("(drop 4)").apply("(drop 4)").apply("(drop 3)")\nstate',
    "result = game.search(state, playouts=500)\nfor move in result.moves:\n    print(move)",
    "batch = game.batch(1000, seed=1)\nbatch.step_random(30)\nbatch.final_state(0)",
    "game.rollout(state, 10_000).goals",
]


def run(code: str, names: dict) -> str:
    """The output of a cell."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    shown = f"<pre>{html.escape(printed.getvalue())}</pre>" if printed.getvalue() else ""
    if value is not None:
        picture = getattr(value, "_repr_svg_", lambda: None)()
        shown += picture or f"<pre>{html.escape(repr(value))}</pre>"
    return shown


def render() -> str:
    names: dict = {}
    cells = [f"<pre class=code>{html.escape(code)}</pre>\n{run(code, names)}" for code in CELLS]
    style = "body{font-family:sans-serif;max-width:50em;margin:2em auto}.code{background:#f3f3f3;padding:.6em}"
    return f"<!doctype html><meta charset=utf-8><title>Agon</title><style>{style}</style>\n" + "\n".join(cells)


if __name__ == "__main__":
    page = render()
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w") as file:
            file.write(page)
    print(f"a page of {len(page)} bytes")
