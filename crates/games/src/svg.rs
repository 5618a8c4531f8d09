//! Draws the board of a state as a picture: SVG, for notebooks and documents.
//!
//! Cells are squares, or hexagons where the metadata says so. A stone is a disc with its character; its colour follows
//! from its content, so that all stones of one content look the same.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::board::{Place, Stone, stones};
use crate::{Board, Shape};

/// The side of a cell.
const CELL: f64 = 36.0;
/// The space for coordinates.
const MARGIN: f64 = 24.0;
/// Colours of stones and of the characters on them, by the place of their content among all contents.
const COLOURS: [(&str, &str); 8] = [
    ("#222222", "#ffffff"),
    ("#f5f5f0", "#222222"),
    ("#c0392b", "#ffffff"),
    ("#2471a3", "#ffffff"),
    ("#d4ac0d", "#222222"),
    ("#1e8449", "#ffffff"),
    ("#7d3c98", "#ffffff"),
    ("#ca6f1e", "#ffffff"),
];

/// Fluents drawn on a board.
#[must_use]
pub fn svg(board: &Board, fluents: &[String]) -> String {
    let (columns, rows) = (keys(&board.columns), keys(&board.rows));
    let stones = stones(board, fluents);
    let contents: BTreeSet<&str> = board
        .layers
        .iter()
        .flat_map(|layer| layer.glyphs.keys())
        .map(String::as_str)
        .collect();
    let shift = match board.shape {
        Shape::Square => 0.0,
        Shape::Hex => CELL / 2.0,
    };
    let width =
        MARGIN + CELL * columns.len() as f64 + shift * rows.len().saturating_sub(1) as f64 + 4.0;
    let height = MARGIN + CELL * rows.len() as f64 + 4.0;
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" text-anchor=\"middle\">\n"
    );
    for (row_idx, row) in rows.iter().enumerate() {
        let y = 2.0 + CELL * row_idx as f64;
        let left = MARGIN + shift * row_idx as f64;
        label(&mut picture, left - MARGIN / 2.0, y + CELL / 2.0, row);
        for (column_idx, column) in columns.iter().enumerate() {
            let x = left + CELL * column_idx as f64;
            cell(
                &mut picture,
                board.shape,
                x,
                y,
                (row_idx + column_idx) % 2 == 1,
            );
            let place: Place = (column.clone(), row.clone());
            if let Some(stone) = stones.get(&place) {
                let kind = contents
                    .iter()
                    .position(|content| *content == stone.content);
                draw_stone(&mut picture, x, y, stone, kind);
            }
        }
    }
    let left = MARGIN + shift * rows.len().saturating_sub(1) as f64;
    for (idx, column) in columns.iter().enumerate() {
        let x = left + CELL * (idx as f64 + 0.5);
        label(&mut picture, x, height - MARGIN / 2.0, column);
    }
    picture.push_str("</svg>\n");
    picture
}

fn cell(picture: &mut String, shape: Shape, x: f64, y: f64, is_dark: bool) {
    let fill = if is_dark { "#e3d3b3" } else { "#f0e6d2" };
    match shape {
        Shape::Square => add(
            picture,
            &format!(
                "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{fill}\" stroke=\"#b39b6d\"/>"
            ),
        ),
        Shape::Hex => {
            let (middle, right, bottom) = (x + CELL / 2.0, x + CELL, y + CELL);
            let (upper, lower) = (y + CELL / 4.0, y + CELL * 0.75);
            let points = format!(
                "{middle},{y} {right},{upper} {right},{lower} {middle},{bottom} {x},{lower} {x},{upper}"
            );
            add(
                picture,
                &format!("<polygon points=\"{points}\" fill=\"#f0e6d2\" stroke=\"#b39b6d\"/>"),
            );
        }
    }
}

fn draw_stone(picture: &mut String, x: f64, y: f64, stone: &Stone, kind: Option<usize>) {
    let (fill, ink) = COLOURS[kind.unwrap_or(0) % COLOURS.len()];
    let (x, y) = (x + CELL / 2.0, y + CELL / 2.0);
    let title = escape(&stone.fluent);
    let radius = CELL * 0.4;
    add(
        picture,
        &format!(
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"#444444\"><title>{title}</title></circle>"
        ),
    );
    let glyph = escape(&stone.glyph);
    let base = y + CELL * 0.16;
    add(
        picture,
        &format!("<text x=\"{x}\" y=\"{base}\" font-size=\"16\" fill=\"{ink}\">{glyph}</text>"),
    );
}

/// A coordinate at the edge; only its innermost part, because outer ones repeat.
fn label(picture: &mut String, x: f64, y: f64, key: &str) {
    let text = key.rsplit(' ').next().unwrap_or(key);
    if text.chars().count() <= 3 {
        let (y, text) = (y + 4.0, escape(text));
        add(
            picture,
            &format!("<text x=\"{x}\" y=\"{y}\" font-size=\"12\" fill=\"#555555\">{text}</text>"),
        );
    }
}

fn add(picture: &mut String, element: &str) {
    let _ = writeln!(picture, "{element}");
}

/// All combinations of coordinates in order, joined by blanks.
fn keys(coordinates: &[Vec<String>]) -> Vec<String> {
    let join = |front: &String, value: &String| format!("{front} {value}").trim().to_owned();
    coordinates.iter().fold(vec![String::new()], |all, values| {
        let longer = all
            .iter()
            .flat_map(|front| values.iter().map(move |value| join(front, value)));
        longer.collect()
    })
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of elements of a kind.
    fn count(picture: &str, element: &str) -> usize {
        picture.matches(&format!("<{element} ")).count()
    }

    fn picture(name: &str) -> String {
        let built_in = crate::find(name).expect("it is built in");
        let game = built_in.compile();
        let board = crate::board::board_of(&game, Some(&built_in.about)).expect("it has a board");
        svg(&board, &game.fluents(game.initial_state()))
    }

    #[test]
    fn every_cell_and_every_stone_is_drawn() {
        let picture = picture("breakthrough");
        assert_eq!(
            (count(&picture, "rect"), count(&picture, "circle")),
            (64, 32)
        );
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
    }

    #[test]
    fn hexagonal_boards_have_hexagons() {
        let picture = picture("hex");
        assert!(count(&picture, "polygon") > 60 && count(&picture, "rect") == 0);
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(escape("a<b & \"c\">"), "a&lt;b &amp; &quot;c&quot;&gt;");
    }
}
