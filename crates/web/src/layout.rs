//! Where the cells of a board lie on the screen.
//!
//! In: the board of a game, and the places that its fluents can fill. Out: a [`Layout`] in units of cells, ready for drawing.
//! A board of boards has a part per inner board with a gap between them. Places that no fluent can ever fill are left out,
//! unless they are the light squares of a draughts board.

use std::collections::{BTreeMap, BTreeSet};

use agon_games::{Board, Shape};
use serde::Serialize;

use crate::row::spread;

/// The gap between the parts of a board, in cells.
const GAP: f64 = 0.8;
/// Height of a row of hexagons whose middles are 1 apart.
const HEX_ROW: f64 = 0.866_025_403_784_438_6;

/// Cells of a row beside each other.
const MOST_IN_LINE: usize = 12;

/// A board, the same for all states of a game.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Layout {
    pub(crate) kind: LayoutKind,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) parts: Vec<Part>,
    pub(crate) cells: Vec<Cell>,
    /// Cells by their column and row coordinates, each joined by blanks.
    #[serde(skip)]
    ids: BTreeMap<(String, String), usize>,
}

/// How cells lie beside each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LayoutKind {
    Square,
    Hex,
    Boards,
    Space,
    None,
}

/// A board, or one of several.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Part {
    pub(crate) title: Option<String>,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) columns: Vec<Label>,
    pub(crate) rows: Vec<Label>,
}

/// The name of a column or row, and where its middle is.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Label {
    pub(crate) text: String,
    pub(crate) at: f64,
}

/// A cell; `x` and `y` are its left upper corner.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Cell {
    pub(crate) name: String,
    pub(crate) part: usize,
    pub(crate) column: usize,
    pub(crate) row: usize,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) tone: u8,
}

impl Layout {
    /// The layout of a game without a board.
    pub(crate) fn none() -> Layout {
        Layout {
            kind: LayoutKind::None,
            width: 0.0,
            height: 0.0,
            parts: Vec::new(),
            cells: Vec::new(),
            ids: BTreeMap::new(),
        }
    }

    /// The layout of a board. `filled` has the places that fluents can fill; empty if that is not known.
    pub(crate) fn new(board: &Board, filled: &BTreeSet<(String, String)>) -> Layout {
        let columns = Axis::new(&board.columns);
        let rows = Axis::new(&board.rows);
        let mut layout = Layout {
            kind: kind(board),
            ..Layout::none()
        };
        let is_hex = board.shape == Shape::Hex;
        let (n_columns, n_rows) = (columns.inner.len(), rows.inner.len());
        let width = match is_hex {
            true => n_columns as f64 + (n_rows as f64 - 1.0) / 2.0,
            false => n_columns as f64,
        };
        let height = match is_hex {
            true => 1.0 + (n_rows as f64 - 1.0) * HEX_ROW,
            false => n_rows as f64,
        };
        for (outer_row, row_name) in rows.outer.iter().enumerate() {
            for (outer_column, column_name) in columns.outer.iter().enumerate() {
                let x = outer_column as f64 * (width + GAP);
                let y = outer_row as f64 * (height + GAP);
                layout.add_part(&columns, &rows, (column_name, row_name), (x, y), is_hex);
            }
        }
        let span = |n: usize, size: f64| n as f64 * size + (n as f64 - 1.0) * GAP;
        layout.width = span(columns.outer.len(), width);
        layout.height = span(rows.outer.len(), height);
        for part in &mut layout.parts {
            (part.width, part.height) = (width, height);
        }
        layout.leave_out_holes(filled);
        if board.rows.is_empty() {
            layout.spread_out();
        }
        layout
    }

    /// Moves the cells of a row into the plane if their names say where they are.
    fn spread_out(&mut self) {
        let names: Vec<String> = self.cells.iter().map(|cell| cell.name.clone()).collect();
        let Some(spread) = spread(&names) else {
            self.wrap();
            return;
        };
        let pitch = if spread.is_even { 1.0 } else { HEX_ROW };
        if !spread.is_even {
            self.kind = LayoutKind::Hex;
        }
        self.put(&spread.places, pitch);
    }

    /// Breaks a row that is long, or whose length is a square, into lines.
    fn wrap(&mut self) {
        let n_cells = self.cells.len();
        let side = n_cells.isqrt();
        let is_square = side >= 3 && side * side == n_cells;
        if n_cells <= MOST_IN_LINE && !is_square {
            return;
        }
        let n_columns = if is_square {
            side
        } else {
            (n_cells as f64).sqrt().ceil() as usize
        };
        let place = |idx: usize| ((idx % n_columns) as f64, idx / n_columns);
        let places: Vec<(f64, usize)> = (0..n_cells).map(place).collect();
        self.put(&places, 1.0);
    }

    /// Puts the cells of the only part into rows.
    fn put(&mut self, places: &[(f64, usize)], pitch: f64) {
        for (cell, (x, row)) in self.cells.iter_mut().zip(places) {
            cell.x = *x;
            cell.y = *row as f64 * pitch;
            (cell.column, cell.row) = (x.floor() as usize, *row);
            cell.tone = u8::from((cell.column + cell.row).is_multiple_of(2));
        }
        let most = |value: &dyn Fn(&Cell) -> f64| self.cells.iter().map(value).fold(0.0, f64::max);
        self.width = most(&|cell| cell.x) + 1.0;
        self.height = most(&|cell| cell.y) + 1.0;
        for part in &mut self.parts {
            (part.width, part.height) = (self.width, self.height);
            // Cells have names of their own.
            part.columns.clear();
            part.rows.clear();
        }
    }

    fn add_part(
        &mut self,
        columns: &Axis,
        rows: &Axis,
        (column_name, row_name): (&String, &String),
        (x, y): (f64, f64),
        is_hex: bool,
    ) {
        let part = self.parts.len();
        let shift = |row: usize| if is_hex { row as f64 / 2.0 } else { 0.0 };
        let pitch = if is_hex { HEX_ROW } else { 1.0 };
        let titles = [column_name, row_name].map(String::as_str);
        let title = titles.join(" ").trim().to_owned();
        let labels = |axis: &Axis, start: f64, pitch: f64| -> Vec<Label> {
            let labels = axis.inner.iter().enumerate();
            labels
                .map(|(idx, text)| Label {
                    text: text.clone(),
                    at: start + idx as f64 * pitch + 0.5,
                })
                .collect()
        };
        self.parts.push(Part {
            title: (!title.is_empty()).then_some(title),
            x,
            y,
            width: 0.0,
            height: 0.0,
            columns: labels(columns, x, 1.0),
            rows: labels(rows, y, pitch),
        });
        for (row, row_value) in rows.inner.iter().enumerate() {
            for (column, column_value) in columns.inner.iter().enumerate() {
                let key = (join(column_name, column_value), join(row_name, row_value));
                self.ids.insert(key.clone(), self.cells.len());
                self.cells.push(Cell {
                    name: format!("{} {}", key.0, key.1).trim().to_owned(),
                    part,
                    column,
                    row,
                    x: x + column as f64 + shift(row),
                    y: y + row as f64 * pitch,
                    // The square in the left lower corner is dark.
                    tone: u8::from((column + rows.inner.len() - 1 - row).is_multiple_of(2)),
                });
            }
        }
    }

    /// Drops cells that nothing can fill, unless all of them have one tone of a chequered board.
    fn leave_out_holes(&mut self, filled: &BTreeSet<(String, String)>) {
        let is_hole: BTreeMap<usize, bool> = self
            .ids
            .iter()
            .map(|(key, &id)| (id, !filled.contains(key)))
            .collect();
        let tones: BTreeSet<(u8, bool)> = self
            .cells
            .iter()
            .enumerate()
            .map(|(id, cell)| (cell.tone, is_hole[&id]))
            .collect();
        let n_holes = is_hole.values().filter(|&&is_hole| is_hole).count();
        let is_chequered = self.kind == LayoutKind::Square && tones.len() == 2;
        if n_holes == 0 || n_holes == self.cells.len() || is_chequered {
            return;
        }
        let mut kept = Vec::new();
        let mut new_ids = BTreeMap::new();
        for (id, cell) in std::mem::take(&mut self.cells).into_iter().enumerate() {
            if !is_hole[&id] {
                new_ids.insert(id, kept.len());
                kept.push(cell);
            }
        }
        self.cells = kept;
        let ids = std::mem::take(&mut self.ids).into_iter();
        self.ids = ids
            .filter_map(|(key, id)| Some((key, *new_ids.get(&id)?)))
            .collect();
    }

    /// The cell at a place: its column and its row coordinates, each joined by blanks.
    pub(crate) fn cell(&self, column: &str, row: &str) -> Option<usize> {
        self.ids.get(&(column.to_owned(), row.to_owned())).copied()
    }
}

/// The values of a direction, split into those of the boards and those within a board.
struct Axis {
    outer: Vec<String>,
    inner: Vec<String>,
}

impl Axis {
    fn new(lists: &[Vec<String>]) -> Axis {
        let nothing = || vec![String::new()];
        let Some((inner, outer)) = lists.split_last() else {
            return Axis {
                outer: nothing(),
                inner: nothing(),
            };
        };
        let outer = outer.iter().fold(nothing(), |names, list| {
            let longer = names
                .iter()
                .flat_map(|name| list.iter().map(move |value| join(name, value)));
            longer.collect()
        });
        Axis {
            outer,
            inner: inner.clone(),
        }
    }
}

fn join(outer: &str, inner: &str) -> String {
    match (outer.is_empty(), inner.is_empty()) {
        (true, _) => inner.to_owned(),
        (_, true) => outer.to_owned(),
        _ => format!("{outer} {inner}"),
    }
}

fn kind(board: &Board) -> LayoutKind {
    match (board.shape, board.columns.len() + board.rows.len()) {
        (Shape::Hex, _) => LayoutKind::Hex,
        (Shape::Square, 0..=2) => LayoutKind::Square,
        (Shape::Square, 3) => LayoutKind::Space,
        (Shape::Square, _) => LayoutKind::Boards,
    }
}

/// The kind of a board as it is written in JSON.
pub(crate) fn kind_name(board: Option<&Board>) -> LayoutKind {
    board.map_or(LayoutKind::None, kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(shape: Shape, columns: &[&str], rows: &[&str]) -> Board {
        let lists = |texts: &[&str]| {
            let list = |text: &&str| text.split(' ').map(str::to_owned).collect();
            texts.iter().map(list).collect()
        };
        Board {
            shape,
            columns: lists(columns),
            rows: lists(rows),
            layers: Vec::new(),
        }
    }

    fn places(text: &str) -> BTreeSet<(String, String)> {
        let place = |word: &str| {
            let (column, row) = word.split_at(1);
            (column.to_owned(), row.to_owned())
        };
        text.split(' ').map(place).collect()
    }

    #[test]
    fn a_square_board_has_its_corner_at_the_top() {
        let layout = Layout::new(&board(Shape::Square, &["a b"], &["2 1"]), &BTreeSet::new());
        assert_eq!((layout.width, layout.height), (2.0, 2.0));
        let cell = &layout.cells[layout.cell("b", "1").expect("it is there")];
        assert_eq!((cell.x, cell.y, cell.tone), (1.0, 1.0, 0));
        assert_eq!(
            layout.cells[layout.cell("a", "1").expect("it is there")].tone,
            1
        );
        assert_eq!(layout.cell("c", "1"), None);
    }

    #[test]
    fn places_that_nothing_fills_are_left_out() {
        let square = board(Shape::Square, &["a b c"], &["2 1"]);
        let layout = Layout::new(&square, &places("a1 b1 c1 b2"));
        assert_eq!(layout.cells.len(), 4);
        assert_eq!(
            layout.cells[layout.cell("b", "2").expect("kept")].name,
            "b 2"
        );
        assert_eq!(layout.cell("a", "2"), None);
        // The dark squares of a draughts board.
        let layout = Layout::new(&square, &places("a1 c1 b2"));
        assert_eq!(layout.cells.len(), 6);
    }

    #[test]
    fn boards_lie_beside_each_other() {
        let boards = board(Shape::Square, &["1 2", "x y z"], &["9 8"]);
        let layout = Layout::new(&boards, &BTreeSet::new());
        assert_eq!((layout.kind, layout.parts.len()), (LayoutKind::Space, 2));
        assert_eq!(layout.width, 6.8);
        let cell = &layout.cells[layout.cell("2 x", "8").expect("it is there")];
        assert_eq!((cell.x, cell.y, cell.part), (3.8, 1.0, 1));
        assert_eq!(layout.parts[1].title.as_deref(), Some("2"));
    }

    #[test]
    fn hexagons_are_one_apart() {
        let layout = Layout::new(&board(Shape::Hex, &["1 2"], &["1 2"]), &BTreeSet::new());
        let at = |column: &str, row: &str| {
            let cell = &layout.cells[layout.cell(column, row).expect("it is there")];
            (cell.x, cell.y)
        };
        let distance = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).hypot(a.1 - b.1);
        for (a, b) in [
            (("1", "1"), ("2", "1")),
            (("1", "1"), ("1", "2")),
            (("2", "1"), ("1", "2")),
        ] {
            assert!((distance(at(a.0, a.1), at(b.0, b.1)) - 1.0).abs() < 1e-9);
        }
    }
}
