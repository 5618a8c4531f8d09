//! Draws the board of a state as text.
//!
//! The metadata of a game says which fluents fill which cells; for sheets that bring none, `insight` guesses. Cells have
//! a blank between them, blocks of a board of boards two, and coordinates stand at the edges where they are short:
//!
//! ```text
//! 3 . O .
//! 2 . X .
//! 1 . . .
//!   1 2 3
//! ```

use std::collections::BTreeMap;

use agon_engine::{Game, State};
use agon_insight::Term;
use agon_insight::board::guess;

use crate::{About, Board, Layer, Shape};

/// The board of a game: as its metadata has it, otherwise as the rules suggest.
#[must_use]
pub fn board_of(game: &Game, about: Option<&About>) -> Option<Board> {
    match about {
        Some(about) if about.board.is_some() || !about.guesses_board => about.board.clone(),
        _ => guess(game).map(Board::from),
    }
}

/// A state of a game drawn on its board, one line per row.
#[must_use]
pub fn board_text(game: &Game, board: &Board, state: &State) -> String {
    draw(board, &game.fluents(state))
}

/// Fluents drawn on a board.
#[must_use]
pub fn draw(board: &Board, fluents: &[String]) -> String {
    let columns = tuples(&board.columns);
    let rows = tuples(&board.rows);
    let cells = cells(board, fluents);
    let label = |tuple: &[&str]| tuple.last().copied().unwrap_or_default().to_owned();
    let margin = rows.iter().map(|row| width(&label(row))).max().unwrap_or(0);
    let cell_width = columns.iter().map(|column| width(&label(column))).max();
    // Long names of columns would pull the cells apart; then they have none.
    let cell_width = cell_width.filter(|&width| width <= 2);
    let pitch = cell_width.unwrap_or(1);
    let line = |name: &str, texts: &mut dyn Iterator<Item = String>| {
        let mut line = format!("{name:>margin$} ");
        for (idx, text) in texts.enumerate() {
            if idx > 0 {
                line.push_str(gap(&columns, idx));
            }
            line.push_str(&" ".repeat(pitch.saturating_sub(width(&text))));
            line.push_str(&text);
        }
        line
    };
    let mut lines = Vec::new();
    for (idx, row) in rows.iter().enumerate() {
        if idx > 0 && row[..row.len() - 1] != rows[idx - 1][..row.len() - 1] {
            lines.push(String::new());
        }
        let mut texts = columns.iter().map(|column| {
            let glyph = cells.get(&(key(column), key(row)));
            glyph.cloned().unwrap_or_else(|| ".".to_owned())
        });
        let shift = match board.shape {
            Shape::Square => 0,
            Shape::Hex => idx * (pitch + 1) / 2,
        };
        lines.push(format!(
            "{}{}",
            " ".repeat(shift),
            line(&label(row), &mut texts)
        ));
    }
    if cell_width.is_some() {
        let names = line("", &mut columns.iter().map(|column| label(column)));
        // Below the last row of a board of hexagons, columns would have to be read along a slope.
        match board.shape {
            Shape::Square => lines.push(names),
            Shape::Hex => lines.insert(0, names),
        }
    }
    lines
        .iter()
        .fold(String::new(), |text, line| text + line.trim_end() + "\n")
}

/// What lies between a column and the one before it.
fn gap(columns: &[Vec<&str>], idx: usize) -> &'static str {
    let outer = |idx: usize| &columns[idx][..columns[idx].len() - 1];
    if outer(idx) == outer(idx - 1) {
        " "
    } else {
        "   "
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// All combinations of one value per list, the last changing fastest.
fn tuples(lists: &[Vec<String>]) -> Vec<Vec<&str>> {
    lists.iter().fold(vec![Vec::new()], |tuples, list| {
        let longer = tuples.iter().flat_map(|tuple| {
            list.iter().map(move |value| {
                let mut longer = tuple.clone();
                longer.push(value.as_str());
                longer
            })
        });
        longer.collect()
    })
}

fn key(tuple: &[&str]) -> String {
    tuple.join(" ")
}

/// The character of each cell that is not empty, by column and row.
fn cells(board: &Board, fluents: &[String]) -> BTreeMap<(String, String), String> {
    let terms: Vec<Term> = fluents.iter().filter_map(|text| Term::read(text)).collect();
    let mut cells = BTreeMap::new();
    for layer in &board.layers {
        for term in terms.iter().filter(|term| term.name == layer.fluent) {
            if let Some((column, row, glyph)) = cell(layer, term) {
                cells.insert((column, row), glyph);
            }
        }
    }
    cells
}

/// Where a fluent of a layer stands and how it is drawn.
fn cell(layer: &Layer, term: &Term) -> Option<(String, String, String)> {
    let join = |args: &[usize]| {
        let of_arg = |arg: &usize| term.args.get(arg.checked_sub(1)?).map(Term::to_string);
        let values: Option<Vec<String>> = args.iter().map(of_arg).collect();
        values.map(|values| values.join(" "))
    };
    let glyph = match &layer.glyph {
        Some(glyph) => glyph,
        None => layer.glyphs.get(&join(&layer.content)?)?,
    };
    Some((join(&layer.column)?, join(&layer.row)?, glyph.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[expect(
        clippy::needless_pass_by_value,
        reason = "tests give their expectations away"
    )]
    fn check(board: &str, fluents: &[&str], expected: Expect) {
        let board: Board = toml::from_str(board).expect("the board is well written");
        let fluents: Vec<String> = fluents.iter().map(|&text| text.to_owned()).collect();
        expected.assert_eq(&draw(&board, &fluents));
    }

    #[test]
    fn later_layers_cover_earlier_ones() {
        let board = r#"
            shape = "square"
            columns = [["a", "b", "c"]]
            rows = [["2", "1"]]
            layers = [
                { fluent = "wall", column = [1], row = [2], glyph = "*" },
                { fluent = "cell", column = [1], row = [2], content = [3, 4], glyphs = { "white man" = "m" } },
            ]"#;
        let fluents = [
            "(cell a 1 white man)",
            "(cell b 1 black man)",
            "(wall a 1)",
            "(wall c 2)",
            "(control white)",
        ];
        check(
            board,
            &fluents,
            expect![[r#"
                2 . . *
                1 m . .
                  a b c
            "#]],
        );
    }

    #[test]
    fn rows_of_hexagons_are_shifted() {
        let board = r#"
            shape = "hex"
            columns = [["8", "9", "10"]]
            rows = [["1", "2", "3"]]
            layers = [{ fluent = "peg", column = [1], row = [2], glyph = "o" }]"#;
        check(
            board,
            &["(peg 10 1)", "(peg 8 3)"],
            expect![[r#"
                   8  9 10
                1  .  .  o
                 2  .  .  .
                   3  o  .  .
            "#]],
        );
    }

    #[test]
    fn boards_of_boards_have_gaps() {
        let board = r#"
            shape = "square"
            columns = [["1", "2"], ["1", "2"]]
            rows = [["1", "2"], ["1", "2"]]
            layers = [{ fluent = "x", column = [1, 3], row = [2, 4], glyph = "X" }]"#;
        check(
            board,
            &["(x 2 1 1 2)"],
            expect![[r#"
                1 . .   . .
                2 . .   X .

                1 . .   . .
                2 . .   . .
                  1 2   1 2
            "#]],
        );
    }
}
