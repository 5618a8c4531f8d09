//! The built-in games: rulesheets of our own with their metadata, embedded in the binary.
//!
//! One game is `games/<name>.kif` and `games/<name>.toml`. Names are found whatever their capitals and separators are,
//! so `ticTacToe` means `tic_tac_toe`.
//!
//! The metadata says what the rules cannot: titles and names for people, where the game comes from, and how its board
//! and moves are written. The structs below are the format; `agon::board` draws by it.

use std::collections::BTreeMap;

use agon_insight::board as guess;
use include_dir::{Dir, include_dir};
use serde::Deserialize;

static GAMES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../games");

/// A built-in game.
#[derive(Clone, Debug)]
pub struct BuiltIn {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its rulesheet.
    pub sheet: &'static str,
    /// What its metadata file says.
    pub about: About,
}

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

impl About {
    /// A move as people write it; the KIF text itself where the metadata has no other form.
    #[must_use]
    pub fn move_text(&self, kif: &str) -> String {
        let Some(term) = guess::Term::read(kif) else {
            return kif.to_owned();
        };
        let Some(form) = self.moves.get(&term.name) else {
            return kif.to_owned();
        };
        let mut text = form.clone();
        for (idx, arg) in term.args.iter().enumerate() {
            text = text.replace(&format!("{{{}}}", idx + 1), &arg.to_string());
        }
        text
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

/// All built-in games by name.
///
/// # Panics
/// If a rulesheet has no valid metadata: a test keeps that from being released.
#[must_use]
pub fn games() -> Vec<BuiltIn> {
    let sheets = GAMES
        .files()
        .filter(|file| file.path().extension().is_some_and(|end| end == "kif"));
    let mut games: Vec<BuiltIn> = sheets
        .map(|file| {
            let name = file
                .path()
                .file_stem()
                .and_then(|stem| stem.to_str())
                .expect("names of games are UTF-8");
            let about = GAMES
                .get_file(format!("{name}.toml"))
                .and_then(|file| file.contents_utf8());
            let about = about.unwrap_or_else(|| panic!("games/{name}.toml is missing"));
            let about =
                toml::from_str(about).unwrap_or_else(|error| panic!("games/{name}.toml: {error}"));
            BuiltIn {
                name,
                sheet: file.contents_utf8().expect("rulesheets are UTF-8"),
                about,
            }
        })
        .collect();
    games.sort_by_key(|game| game.name);
    games
}

/// The built-in game of this name, in any spelling.
#[must_use]
pub fn find(name: &str) -> Option<BuiltIn> {
    games()
        .into_iter()
        .find(|game| fold(game.name) == fold(name))
}

fn fold(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_gdl::{check, parse};

    #[test]
    fn every_built_in_game_is_well_formed_without_a_warning() {
        for game in games() {
            let rules = check(&parse(game.sheet.as_bytes(), &Default::default()));
            let rules = rules.unwrap_or_else(|findings| panic!("{}: {findings:?}", game.name));
            assert!(
                rules.warnings.is_empty(),
                "{}: {:?}",
                game.name,
                rules.warnings
            );
            assert!(!game.about.title.is_empty() && !game.about.description.is_empty());
        }
    }

    #[test]
    fn every_built_in_game_is_in_canonical_layout() {
        for game in games() {
            let formatted =
                agon_gdl::format(game.sheet.as_bytes(), &Default::default()).expect("it parses");
            assert!(
                formatted == game.sheet.as_bytes(),
                "run: agon fmt games/{}.kif",
                game.name
            );
        }
    }

    #[test]
    fn names_are_found_in_any_spelling() {
        assert_eq!(find("ticTacToe").map(|game| game.name), Some("tic_tac_toe"));
        assert_eq!(
            find("Connect-Four").map(|game| game.name),
            Some("connect_four")
        );
        assert!(find("no such game").is_none());
    }
}
