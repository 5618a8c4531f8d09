//! Draws the board of a state as text.
//!
//! The metadata of a game says which fluents fill which cells. Without metadata, `insight` guesses. There is a blank between
//! two cells and a gap between the parts of a board of boards. Short coordinates are written at the edges:
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

use crate::{About, Board, Layer, SeenBy, Shape};

/// The board of a game from its metadata, or a guess from its rules.
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

/// The fluents of a board that a role knows during a match with hidden information, or those that all roles know. The
/// metadata says which they are (`seen_by`); a fluent that no layer lets the role see is left out.
#[must_use]
pub fn known_fluents(board: &Board, role: Option<&str>, fluents: &[String]) -> Vec<String> {
    let knows = |layer: &Layer, term: &Term| match layer.seen_by {
        None => false,
        Some(SeenBy::All) => true,
        Some(SeenBy::Argument(arg)) => {
            let owner = arg.checked_sub(1).and_then(|idx| term.args.get(idx));
            role.is_some() && owner.map(Term::to_string).as_deref() == role
        }
    };
    let is_known = |text: &&String| {
        let layers = board.layers.iter();
        Term::read(text).is_some_and(|term| {
            let mut layers = layers.filter(|layer| layer.fluent == term.name);
            layers.any(|layer| knows(layer, &term))
        })
    };
    fluents.iter().filter(is_known).cloned().collect()
}

/// Fluents drawn on a board.
#[must_use]
pub fn draw(board: &Board, fluents: &[String]) -> String {
    draw_styled(board, fluents, &|_, glyph, _| glyph.to_owned())
}

/// What stands in a cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stone {
    /// The fluent that put it there.
    pub fluent: String,
    /// What the fluent says stands there; empty if it only says that something does.
    pub content: String,
    /// How it is drawn.
    pub glyph: String,
}

/// Where a cell is: its column and its row coordinates, each joined by blanks.
pub type Place = (String, String);

/// The cells of a board that are not empty.
#[must_use]
pub fn stones(board: &Board, fluents: &[String]) -> BTreeMap<Place, Stone> {
    let terms: Vec<Term> = fluents.iter().filter_map(|text| Term::read(text)).collect();
    let mut stones = BTreeMap::new();
    for layer in &board.layers {
        for term in terms.iter().filter(|term| term.name == layer.fluent) {
            if let Some((place, stone)) = stone(layer, term) {
                stones.insert(place, stone);
            }
        }
    }
    stones
}

/// Fluents drawn on a board, with every character as `style` returns it: with escape codes for colour, say. It gets the
/// place of a cell, its character and what stands there. Columns stay aligned whatever it adds.
#[must_use]
pub fn draw_styled(
    board: &Board,
    fluents: &[String],
    style: &dyn Fn(&Place, &str, Option<&Stone>) -> String,
) -> String {
    let columns = tuples(&board.columns);
    let rows = tuples(&board.rows);
    let stones = stones(board, fluents);
    let label = |tuple: &[&str]| tuple.last().copied().unwrap_or_default().to_owned();
    let margin = rows.iter().map(|row| width(&label(row))).max().unwrap_or(0);
    let cell_width = columns.iter().map(|column| width(&label(column))).max();
    // Long names of columns would make the cells too wide, so they are left out.
    let cell_width = cell_width.filter(|&width| width <= 2);
    let pitch = cell_width.unwrap_or(1);
    // Each text with the width that it has on the screen.
    let line = |name: &str, texts: &mut dyn Iterator<Item = (String, usize)>| {
        let mut line = format!("{name:>margin$} ");
        for (idx, (text, width)) in texts.enumerate() {
            if idx > 0 {
                line.push_str(gap(&columns, idx));
            }
            line.push_str(&" ".repeat(pitch.saturating_sub(width)));
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
            let place = (key(column), key(row));
            let stone = stones.get(&place);
            let glyph = stone.map_or(".", |stone| stone.glyph.as_str());
            (style(&place, glyph, stone), width(glyph))
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
        let mut names = columns.iter().map(|column| {
            let name = label(column);
            let width = width(&name);
            (name, width)
        });
        let names = line("", &mut names);
        // The rows of a hexagonal board are shifted, so the names of the columns are above the first row.
        match board.shape {
            Shape::Square => lines.push(names),
            Shape::Hex => lines.insert(0, names),
        }
    }
    lines
        .iter()
        .fold(String::new(), |text, line| text + line.trim_end() + "\n")
}

/// The gap between a column and the previous one.
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

/// All combinations of one value per list; the last one changes fastest.
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

/// The cell of a fluent and how it is drawn.
fn stone(layer: &Layer, term: &Term) -> Option<(Place, Stone)> {
    let join = |args: &[usize]| {
        let text = |arg: &usize| term.args.get(arg.checked_sub(1)?).map(Term::to_string);
        let values: Option<Vec<String>> = args.iter().map(text).collect();
        values.map(|values| values.join(" "))
    };
    let content = join(&layer.content)?;
    let glyph = match &layer.glyph {
        Some(glyph) => glyph,
        None => layer.glyphs.get(&content)?,
    };
    let stone = Stone {
        fluent: layer.fluent.clone(),
        glyph: glyph.clone(),
        content,
    };
    Some(((join(&layer.column)?, join(&layer.row)?), stone))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[expect(
        clippy::needless_pass_by_value,
        reason = "test helpers take their expectations by value"
    )]
    fn check(board: &str, fluents: &[&str], expected: Expect) {
        let board: Board = toml::from_str(board).expect("a valid board");
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

    #[test]
    fn a_role_knows_only_what_the_metadata_says() {
        let board = r#"
            shape = "square"
            columns = [["1", "2"]]
            rows = []
            layers = [
                { fluent = "hand", column = [2], row = [], content = [1], glyphs = { ann = "A", ben = "B" }, seen_by = 1 },
                { fluent = "open", column = [1], row = [], glyph = "o", seen_by = "all" },
                { fluent = "pile", column = [1], row = [], glyph = "p" },
            ]"#;
        let board: Board = toml::from_str(board).expect("the board is well written");
        let fluents = ["(hand ann 1)", "(hand ben 2)", "(open 1)", "(pile 2)", "x"];
        let fluents = fluents.map(str::to_owned);
        let known = |role| known_fluents(&board, role, &fluents).join(" ");
        assert_eq!(known(Some("ann")), "(hand ann 1) (open 1)");
        assert_eq!(known(Some("ben")), "(hand ben 2) (open 1)");
        assert_eq!(known(None), "(open 1)");
        for wrong in ["\"ann\"", "-1", "true"] {
            let layer = format!("fluent = \"a\"\ncolumn = []\nrow = []\nseen_by = {wrong}");
            let error = toml::from_str::<Layer>(&layer).expect_err("it is wrong");
            assert!(error.message().contains("seen_by"), "{error}");
        }
    }

    #[test]
    fn styles_do_not_break_the_columns() {
        let board = r#"
            shape = "square"
            columns = [["9", "10"]]
            rows = [["1"]]
            layers = [{ fluent = "at", column = [1], row = [2], content = [3], glyphs = { red = "R" } }]"#;
        let board: Board = toml::from_str(board).expect("the board is well written");
        let fluents = ["(at 10 1 red)".to_owned()];
        let drawn = draw_styled(&board, &fluents, &|place, glyph, stone| match stone {
            Some(stone) => format!("<{}>{glyph}</{}>", stone.content, place.0),
            None => glyph.to_owned(),
        });
        expect![[r#"
            1  .  <red>R</10>
               9 10
        "#]]
        .assert_eq(&drawn);
    }
}
