//! Metadata of a game: titles and names for people, its source, and how its board and moves are written.
//!
//! The structs are the format of the `.toml` file beside a rulesheet.

use std::collections::BTreeMap;

use agon_insight::board as guess;
use serde::Deserialize;

/// Metadata of a game.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// Its name for people.
    pub title: String,
    /// Who moves when.
    pub kind: GameKind,
    /// What it is, in a sentence.
    pub description: String,
    /// The tables of the papers that it serves.
    pub tables: Vec<String>,
    /// Where the game comes from.
    pub source: Option<String>,
    /// Names for people, by role.
    #[serde(default)]
    pub roles: BTreeMap<String, String>,
    /// How states are drawn, if there is something to draw.
    pub board: Option<Board>,
    /// How moves are written for people, by their outermost name; `{n}` is the n-th argument.
    #[serde(default)]
    pub moves: BTreeMap<String, String>,
}

/// How the states of a game are drawn.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// How cells lie beside each other.
    pub shape: Shape,
    /// The column coordinates from left to right, as the sheet spells them: one list per coordinate, outermost first.
    pub columns: Vec<Vec<String>>,
    /// The row coordinates from top to bottom, likewise.
    pub rows: Vec<Vec<String>>,
    /// What fills the cells; later layers cover earlier ones.
    pub layers: Vec<Layer>,
}

/// How cells lie beside each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// In rows and columns.
    Square,
    /// Each row is half a cell further to the right than the one above.
    Hex,
}

/// A fluent that fills cells.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layer {
    /// Its name.
    pub fluent: String,
    /// Which arguments, from 1, are the column coordinates, outermost first.
    pub column: Vec<usize>,
    /// Which arguments are the row coordinates.
    pub row: Vec<usize>,
    /// Which arguments say what stands in the cell.
    #[serde(default)]
    pub content: Vec<usize>,
    /// One character per content, which is written with a blank between its arguments. Others are not drawn.
    #[serde(default)]
    pub glyphs: BTreeMap<String, String>,
    /// One character for all, where there is no content.
    pub glyph: Option<String>,
}

impl From<guess::Board> for Board {
    fn from(board: guess::Board) -> Board {
        let layer = |layer: guess::Layer| Layer {
            fluent: layer.fluent,
            column: layer.column,
            row: layer.row,
            content: layer.content,
            glyphs: layer
                .glyphs
                .into_iter()
                .map(|(of, c)| (of, c.into()))
                .collect(),
            glyph: layer.glyph.map(String::from),
        };
        Board {
            shape: Shape::Square,
            columns: board.columns,
            rows: board.rows,
            layers: board.layers.into_iter().map(layer).collect(),
        }
    }
}

/// Who moves when.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GameKind {
    /// One role at a time has a choice.
    TurnTaking,
    /// Several roles choose at once.
    Simultaneous,
    /// A puzzle.
    SinglePlayer,
}

impl GameKind {
    /// As it is written in JSON and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            GameKind::TurnTaking => "turn-taking",
            GameKind::Simultaneous => "simultaneous",
            GameKind::SinglePlayer => "single-player",
        }
    }
}
