#!/usr/bin/env python3
"""Writes rulesheets of board games with boards of any size, to see how engines do as boards grow.

The rules are those of the built-in games of the same names; columns and rows are numbered from 1.

    scripts/boards.py gomoku 25 > gomoku_25.kif
    scripts/boards.py --into DIR gomoku:15,19 breakthrough:8,12
"""

import argparse
import os
import sys

TURNS = """
(opponent {first} {second})
(opponent {second} {first})
(init (control {first}))
(<= (legal ?role noop) (opponent ?role ?other) (true (control ?other)))
(<= (next (control ?role)) (opponent ?role ?other) (true (control ?other)))
(<= (base (control ?role)) (role ?role))
(<= (base (cell ?column ?row ?role)) (index ?column) (index ?row) (role ?role))
(<= (input ?role noop) (role ?role))
"""

GOMOKU = """
(<= (ahead across ?c1 ?row ?c2 ?row) (index ?row) (succ ?c1 ?c2))
(<= (ahead upright ?column ?r1 ?column ?r2) (index ?column) (succ ?r1 ?r2))
(<= (ahead rising ?c1 ?r1 ?c2 ?r2) (succ ?c1 ?c2) (succ ?r1 ?r2))
(<= (ahead falling ?c1 ?r1 ?c2 ?r2) (succ ?c1 ?c2) (succ ?r2 ?r1))
(<= (input ?role (place ?column ?row)) (role ?role) (index ?column) (index ?row))
(<= (filled ?column ?row) (true (cell ?column ?row ?_role)))
(<= (empty ?column ?row) (index ?column) (index ?row) (not (filled ?column ?row)))
(<= (legal ?role (place ?column ?row)) (true (control ?role)) (empty ?column ?row))
(<= (next (cell ?column ?row ?role)) (does ?role (place ?column ?row)))
(<= (next (cell ?column ?row ?role)) (true (cell ?column ?row ?role)))
(<= (behind ?role ?direction ?c2 ?r2) (ahead ?direction ?c1 ?r1 ?c2 ?r2) (true (cell ?c1 ?r1 ?role)))
(<= (beyond ?role ?direction ?c1 ?r1) (ahead ?direction ?c1 ?r1 ?c2 ?r2) (true (cell ?c2 ?r2 ?role)))
(<= (line ?role)
    (role ?role)
    (ahead ?direction ?c1 ?r1 ?c2 ?r2)
    (ahead ?direction ?c2 ?r2 ?c3 ?r3)
    (ahead ?direction ?c3 ?r3 ?c4 ?r4)
    (ahead ?direction ?c4 ?r4 ?c5 ?r5)
    (true (cell ?c1 ?r1 ?role))
    (true (cell ?c2 ?r2 ?role))
    (true (cell ?c3 ?r3 ?role))
    (true (cell ?c4 ?r4 ?role))
    (true (cell ?c5 ?r5 ?role))
    (not (behind ?role ?direction ?c1 ?r1))
    (not (beyond ?role ?direction ?c5 ?r5)))
(<= open (empty ?_column ?_row))
(<= decided (line ?_role))
(<= terminal decided)
(<= terminal (not open))
(<= (goal ?role 100) (line ?role))
(<= (goal ?role 0) (opponent ?role ?other) (line ?other))
(<= (goal ?role 50) (role ?role) (not decided))
"""

BREAKTHROUGH = """
(<= (forward white ?row ?ahead) (succ ?row ?ahead))
(<= (forward black ?row ?ahead) (succ ?ahead ?row))
(<= (beside ?column ?other) (succ ?column ?other))
(<= (beside ?column ?other) (succ ?other ?column))
(far_row white {last})
(far_row black 1)
(home white 1)
(home white 2)
(home black {before_last})
(home black {last})
(<= (init (cell ?column ?row ?role)) (index ?column) (home ?role ?row))
(<= (input ?role (move ?column ?row ?column ?ahead)) (index ?column) (forward ?role ?row ?ahead))
(<= (input ?role (move ?column ?row ?other ?ahead)) (beside ?column ?other) (forward ?role ?row ?ahead))
(<= (occupied ?column ?row) (true (cell ?column ?row ?_role)))
(<= (legal ?role (move ?column ?row ?column ?ahead))
    (true (control ?role))
    (true (cell ?column ?row ?role))
    (forward ?role ?row ?ahead)
    (not (occupied ?column ?ahead)))
(<= (legal ?role (move ?column ?row ?other ?ahead))
    (true (control ?role))
    (true (cell ?column ?row ?role))
    (forward ?role ?row ?ahead)
    (beside ?column ?other)
    (not (true (cell ?other ?ahead ?role))))
(<= (leaves ?column ?row) (does ?_role (move ?column ?row ?_column ?_row)))
(<= (lands ?role ?column ?row) (does ?role (move ?_column ?_row ?column ?row)))
(<= (captured ?column ?row) (lands ?_role ?column ?row))
(<= (next (cell ?column ?row ?role)) (lands ?role ?column ?row))
(<= (next (cell ?column ?row ?role))
    (true (cell ?column ?row ?role))
    (not (leaves ?column ?row))
    (not (captured ?column ?row)))
(<= (alive ?role) (true (cell ?_column ?_row ?role)))
(<= (wins ?role) (far_row ?role ?row) (true (cell ?_column ?row ?role)))
(<= (wins ?role) (opponent ?role ?other) (not (alive ?other)))
(<= decided (wins ?_role))
(<= terminal decided)
(<= (goal ?role 100) (wins ?role))
(<= (goal ?role 0) (opponent ?role ?other) (wins ?other))
(<= (goal ?role 50) (role ?role) (not decided))
"""

LINES_OF_ACTION = """
(succ 0 1)
(digit 0)
(<= (digit ?digit) (next_digit ?_less ?digit))
(<= (after_tens ?tens ?more) (next_digit ?tens ?more))
(after_tens 9 10)
(<= (base (ones ?digit)) (digit ?digit))
(<= (base (tens ?digit)) (digit ?digit))
(base (tens 10))
(<= (input ?role (move ?c1 ?r1 ?c2 ?r2)) (role ?role) (away ?_direction ?_n ?c1 ?r1 ?c2 ?r2))
(<= (step north ?column ?row ?column ?higher) (index ?column) (above ?row ?higher))
(<= (step east ?column ?row ?right ?row) (index ?row) (above ?column ?right))
(<= (step north_east ?column ?row ?right ?higher) (above ?column ?right) (above ?row ?higher))
(<= (step south_east ?column ?row ?right ?lower) (above ?column ?right) (above ?lower ?row))
(<= (step ?back ?c2 ?r2 ?c1 ?r1) (reverse ?direction ?back) (step ?direction ?c1 ?r1 ?c2 ?r2))
(reverse north south)
(reverse east west)
(reverse north_east south_west)
(reverse south_east north_west)
(<= (counted_along ?direction ?direction) (reverse ?direction ?_back))
(<= (counted_along ?back ?direction) (reverse ?direction ?back))
(<= (above ?n ?more) (index ?n) (succ ?n ?more))
(<= (away ?direction 1 ?c1 ?r1 ?c2 ?r2) (step ?direction ?c1 ?r1 ?c2 ?r2))
(<= (away ?direction ?more ?c1 ?r1 ?c3 ?r3)
    (away ?direction ?n ?c1 ?r1 ?c2 ?r2)
    (step ?direction ?c2 ?r2 ?c3 ?r3)
    (succ ?n ?more))
(<= (has_before ?direction ?column ?row) (step ?direction ?_column ?_row ?column ?row))
(<= (has_after ?direction ?column ?row) (step ?direction ?column ?row ?_column ?_row))
(<= (first_square ?direction ?column ?row)
    (reverse ?direction ?_back)
    (index ?column)
    (index ?row)
    (not (has_before ?direction ?column ?row)))
(<= (last_square ?direction ?column ?row ?column ?row)
    (reverse ?direction ?_back)
    (index ?column)
    (index ?row)
    (not (has_after ?direction ?column ?row)))
(<= (last_square ?direction ?c1 ?r1 ?last_column ?last_row)
    (step ?direction ?c1 ?r1 ?c2 ?r2)
    (last_square ?direction ?c2 ?r2 ?last_column ?last_row))
(<= (inner ?n) (above ?_less ?n) (above ?n ?_more))
(<= (init (cell ?column 1 black)) (inner ?column))
(<= (init (cell ?column {last} black)) (inner ?column))
(<= (init (cell 1 ?row white)) (inner ?row))
(<= (init (cell {last} ?row white)) (inner ?row))
(init (ones 0))
(init (tens 0))
(<= (filled ?column ?row) (true (cell ?column ?row ?_role)))
(<= (count ?direction ?column ?row 0) (first_square ?direction ?column ?row) (not (filled ?column ?row)))
(<= (count ?direction ?column ?row 1) (first_square ?direction ?column ?row) (filled ?column ?row))
(<= (count ?direction ?c2 ?r2 ?n)
    (count ?direction ?c1 ?r1 ?n)
    (step ?direction ?c1 ?r1 ?c2 ?r2)
    (not (filled ?c2 ?r2)))
(<= (count ?direction ?c2 ?r2 ?more)
    (count ?direction ?c1 ?r1 ?n)
    (step ?direction ?c1 ?r1 ?c2 ?r2)
    (filled ?c2 ?r2)
    (succ ?n ?more))
(<= (mine ?column ?row) (true (control ?role)) (true (cell ?column ?row ?role)))
(<= (theirs ?column ?row) (true (control ?role)) (opponent ?role ?other) (true (cell ?column ?row ?other)))
(<= (reaches ?direction ?c1 ?r1 ?c2 ?r2) (mine ?c1 ?r1) (step ?direction ?c1 ?r1 ?c2 ?r2))
(<= (reaches ?direction ?c1 ?r1 ?c3 ?r3)
    (reaches ?direction ?c1 ?r1 ?c2 ?r2)
    (not (theirs ?c2 ?r2))
    (step ?direction ?c2 ?r2 ?c3 ?r3))
(<= (can_go ?c1 ?r1 ?c2 ?r2)
    (away ?direction ?n ?c1 ?r1 ?c2 ?r2)
    (counted_along ?direction ?along)
    (last_square ?along ?c1 ?r1 ?last_column ?last_row)
    (count ?along ?last_column ?last_row ?n)
    (reaches ?direction ?c1 ?r1 ?c2 ?r2)
    (not (mine ?c2 ?r2)))
(<= can_move (can_go ?_c1 ?_r1 ?_c2 ?_r2))
(<= (legal ?role (move ?c1 ?r1 ?c2 ?r2)) (true (control ?role)) (can_go ?c1 ?r1 ?c2 ?r2))
(<= (legal ?role noop) (true (control ?role)) (not can_move))
(<= (from ?column ?row) (does ?_role (move ?column ?row ?_c2 ?_r2)))
(<= (to ?role ?column ?row) (does ?role (move ?_c1 ?_r1 ?column ?row)))
(<= (landed_on ?column ?row) (to ?_role ?column ?row))
(<= (next (cell ?column ?row ?role)) (to ?role ?column ?row))
(<= (next (cell ?column ?row ?role))
    (true (cell ?column ?row ?role))
    (not (from ?column ?row))
    (not (landed_on ?column ?row)))
(<= capture (landed_on ?column ?row) (filled ?column ?row))
(<= (next (ones 0)) capture)
(<= (next (tens 0)) capture)
(<= (next (ones ?more)) (not capture) (true (ones ?ones)) (next_digit ?ones ?more))
(<= (next (tens ?tens)) (not capture) (true (tens ?tens)) (not (true (ones 9))))
(<= (next (ones 0)) (not capture) (true (ones 9)))
(<= (next (tens ?more)) (not capture) (true (ones 9)) (true (tens ?tens)) (after_tens ?tens ?more))
(<= (walk ?column ?row ?column ?higher) (index ?column) (above ?row ?higher))
(<= (walk ?column {last} ?right 1) (above ?column ?right))
(<= (met ?role ?column ?row) (true (cell ?column ?row ?role)))
(<= (met ?role ?c2 ?r2) (met ?role ?c1 ?r1) (walk ?c1 ?r1 ?c2 ?r2))
(<= (in_group ?role 1 1) (true (cell 1 1 ?role)))
(<= (in_group ?role ?c2 ?r2)
    (true (cell ?c2 ?r2 ?role))
    (walk ?c1 ?r1 ?c2 ?r2)
    (not (met ?role ?c1 ?r1)))
(<= (in_group ?role ?c2 ?r2)
    (in_group ?role ?c1 ?r1)
    (step ?_direction ?c1 ?r1 ?c2 ?r2)
    (true (cell ?c2 ?r2 ?role)))
(<= (scattered ?role) (true (cell ?column ?row ?role)) (not (in_group ?role ?column ?row)))
(<= (united ?role) (role ?role) (not (scattered ?role)))
(<= terminal (united ?_role))
(<= terminal (true (tens 10)))
(<= (goal ?role 100) (united ?role) (opponent ?role ?other) (scattered ?other))
(<= (goal ?role 0) (scattered ?role) (opponent ?role ?other) (united ?other))
(<= (goal ?role 50) (opponent ?role ?other) (united ?role) (united ?other))
(<= (goal ?role 50) (opponent ?role ?other) (scattered ?role) (scattered ?other))
"""

HEX = """
(<= (towards ?c1 ?row ?c2 ?row) (index ?row) (succ ?c1 ?c2))
(<= (towards ?column ?r1 ?column ?r2) (index ?column) (succ ?r1 ?r2))
(<= (towards ?c1 ?r1 ?c2 ?r2) (succ ?c2 ?c1) (succ ?r1 ?r2))
(<= (neighbour ?c1 ?r1 ?c2 ?r2) (towards ?c1 ?r1 ?c2 ?r2))
(<= (neighbour ?c2 ?r2 ?c1 ?r1) (towards ?c1 ?r1 ?c2 ?r2))
(<= (first_edge red ?column 1) (index ?column))
(<= (last_edge red ?column {last}) (index ?column))
(<= (first_edge blue 1 ?row) (index ?row))
(<= (last_edge blue {last} ?row) (index ?row))
(<= (input ?role (place ?column ?row)) (role ?role) (index ?column) (index ?row))
(<= (filled ?column ?row) (true (cell ?column ?row ?_role)))
(<= (legal ?role (place ?column ?row))
    (true (control ?role))
    (index ?column)
    (index ?row)
    (not (filled ?column ?row)))
(<= (next (cell ?column ?row ?role)) (does ?role (place ?column ?row)))
(<= (next (cell ?column ?row ?role)) (true (cell ?column ?row ?role)))
(<= (linked ?role ?column ?row) (first_edge ?role ?column ?row) (true (cell ?column ?row ?role)))
(<= (linked ?role ?c2 ?r2)
    (linked ?role ?c1 ?r1)
    (neighbour ?c1 ?r1 ?c2 ?r2)
    (true (cell ?c2 ?r2 ?role)))
(<= (joined ?role) (last_edge ?role ?column ?row) (linked ?role ?column ?row))
(<= terminal (joined ?_role))
(<= (goal ?role 100) (joined ?role))
(<= (goal ?role 0) (role ?role) (not (joined ?role)))
"""

# Per game: its roles in order of play, its rules, the smallest board.
GAMES = {
    "gomoku": ("black", "white", GOMOKU, 5),
    "breakthrough": ("white", "black", BREAKTHROUGH, 4),
    "lines_of_action": ("black", "white", LINES_OF_ACTION, 4),
    "hex": ("red", "blue", HEX, 2),
}


def rulesheet(game, size):
    """The rules of a game on a board of `size` by `size` cells."""
    first, second, rules, smallest = GAMES[game]
    if size < smallest:
        sys.exit(f"{game} needs a board of at least {smallest} by {smallest} cells")
    facts = [f"; {game} on {size} by {size} cells", f"(role {first})", f"(role {second})"]
    facts += [f"(index {n})" for n in range(1, size + 1)]
    facts += [f"(succ {n} {n + 1})" for n in range(1, size)]
    if game == "lines_of_action":
        facts += [f"(next_digit {n} {n + 1})" for n in range(9)]
    body = (TURNS + rules).format(first=first, second=second, last=size, before_last=size - 1)
    return "\n".join(facts) + body


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", metavar="DIR", help="write GAME_SIZE.kif files there; boards are GAME:SIZE,SIZE…")
    parser.add_argument("boards", nargs="+", metavar="GAME SIZE | GAME:SIZE,SIZE…", help=", ".join(GAMES))
    given = parser.parse_args()
    if given.into is None:
        game, size = (given.boards + [""])[:2]
        if len(given.boards) != 2 or game not in GAMES or not size.isdigit():
            parser.error(f"expected a game ({', '.join(GAMES)}) and a size")
        print(rulesheet(game, int(size)), end="")
        return
    os.makedirs(given.into, exist_ok=True)
    for board in given.boards:
        game, _, sizes = board.partition(":")
        if game not in GAMES or not all(size.isdigit() for size in sizes.split(",")):
            parser.error(f"{board}: expected GAME:SIZE,SIZE… with a game of {', '.join(GAMES)}")
        for size in map(int, sizes.split(",")):
            with open(os.path.join(given.into, f"{game}_{size}.kif"), "w") as file:
                file.write(rulesheet(game, size))


if __name__ == "__main__":
    main()
