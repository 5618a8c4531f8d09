//! Metadata of a game: titles and names for people, its source, and how its board and moves are written.
//!
//! The structs are the format of the `.toml` file beside a rulesheet; `docs/METADATA.md` explains it with an example.

use std::collections::BTreeMap;
use std::fmt;

use agon_insight::board as guess;
use serde::Deserialize;

/// Metadata of a game.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The title of the game.
    #[serde(default)]
    pub title: String,
    /// Whether roles move in turn.
    pub kind: Option<GameKind>,
    /// A description in one sentence.
    #[serde(default)]
    pub description: String,
    /// The tables of papers that use the game.
    #[serde(default)]
    pub tables: Vec<String>,
    /// Where the game comes from.
    pub source: Option<String>,
    /// Names for people, by role.
    #[serde(default)]
    pub roles: BTreeMap<String, String>,
    /// How states are drawn, if the game has a board.
    pub board: Option<Board>,
    /// How moves are written for people, by their outermost name; `{n}` is the n-th argument.
    #[serde(default)]
    pub moves: BTreeMap<String, String>,
    /// Whether the board is guessed from the rules if `board` is missing. A built-in game without a board has none.
    #[serde(skip)]
    pub guesses_board: bool,
}

/// Why a metadata file cannot be read. Lines and columns count from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// The line of the fault.
    pub line: u32,
    /// Its column, in characters.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ReadError {}

/// The line and column of an offset in a text.
pub(crate) fn place(text: &str, offset: usize) -> (u32, u32) {
    let before = &text[..text.floor_char_boundary(offset.min(text.len()))];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (line as u32, column as u32)
}

/// How the states of a game are drawn.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// The arrangement of the cells.
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
    /// Who knows these fluents during a match with hidden information; none if it is missing. Other games ignore it.
    pub seen_by: Option<SeenBy>,
}

/// Who knows the fluents of a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "SeenByText")]
pub enum SeenBy {
    /// All roles: `"all"`.
    All,
    /// The role that is this argument of the fluent, counted from 1.
    Argument(usize),
}

/// How [`SeenBy`] is written.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "`seen_by` is \"all\" or the number of an argument that is a role"
)]
enum SeenByText {
    Word(String),
    Argument(usize),
}

impl TryFrom<SeenByText> for SeenBy {
    type Error = String;

    fn try_from(text: SeenByText) -> Result<SeenBy, String> {
        match text {
            SeenByText::Argument(arg) => Ok(SeenBy::Argument(arg)),
            SeenByText::Word(word) if word == "all" => Ok(SeenBy::All),
            SeenByText::Word(word) => Err(format!(
                "`seen_by` is \"all\" or the number of an argument that is a role, not {word:?}"
            )),
        }
    }
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
                .map(|(content, c)| (content, c.into()))
                .collect(),
            glyph: layer.glyph.map(String::from),
            seen_by: None,
        };
        Board {
            shape: Shape::Square,
            columns: board.columns,
            rows: board.rows,
            layers: board.layers.into_iter().map(layer).collect(),
        }
    }
}

impl About {
    /// Reads the metadata of a game that is not built in. If it has no board, the board is guessed.
    ///
    /// # Errors
    /// The first thing that is not TOML, not a known field or not of the right type.
    pub fn read(text: &str) -> Result<About, ReadError> {
        let about: About = toml::from_str(text).map_err(|error| {
            let (line, column) = place(text, error.span().map_or(0, |span| span.start));
            ReadError {
                line,
                column,
                message: error.message().to_owned(),
            }
        })?;
        Ok(About {
            guesses_board: true,
            ..about
        })
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
