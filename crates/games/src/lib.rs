//! The built-in games: rulesheets of our own with their metadata, embedded in the binary.
//!
//! ```
//! use agon_games::board::{board_of, board_text};
//!
//! let built_in = agon_games::find("tic_tac_toe").unwrap();
//! let game = built_in.compile();
//! let board = board_of(&game, Some(&built_in.about)).unwrap();
//! let mut machine = game.machine();
//! machine.advance(&game.joint_move(&["(mark 2 3)", "wait"])?);
//! assert_eq!(
//!     board_text(&game, &board, &machine.state()),
//!     "3 . X .\n2 . . .\n1 . . .\n  1 2 3\n"
//! );
//! # Ok::<(), agon_engine::JointMoveError>(())
//! ```
//!
//! One game is `games/<name>.kif` and `games/<name>.toml`. Names are found whatever their capitals and separators are,
//! so `ticTacToe` means `tic_tac_toe`. [`load`] gives a game ready to play, [`find`] its rulesheet and metadata,
//! [`games`] all of them.
//!
//! [`About`] is the metadata: what the rules cannot say. [`board`] draws states by it, [`notation`] writes and
//! reads moves, [`metadata`] compares it with the rules. [`tactics`] has positions with a right move, and proves it.
//!
//! **Invariant:** holds no rule of any game outside a rulesheet.

mod about;
pub mod board;
pub mod metadata;
pub mod notation;
pub mod suite;
mod svg;
pub mod tactics;

pub use about::{About, Board, GameKind, Layer, ReadError, SeenBy, Shape};
pub use svg::svg;

use std::error::Error;
use std::fmt;

use agon_engine::Game;
use include_dir::{Dir, File, include_dir};

static GAMES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/games");

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

impl BuiltIn {
    /// The game, compiled for play.
    ///
    /// # Panics
    /// If a built-in rulesheet cannot be played: a test keeps that from being released.
    #[must_use]
    pub fn compile(&self) -> Game {
        Game::from_text(self.sheet).expect("a built-in game can be played")
    }
}

/// There is no built-in game of this name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownGame {
    /// The name that was asked for.
    pub name: String,
    /// The built-in game with the most similar name, if one is similar.
    pub similar: Option<&'static str>,
}

impl fmt::Display for UnknownGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no built-in game called `{}`", self.name)?;
        match self.similar {
            Some(similar) => write!(f, "; did you mean `{similar}`?"),
            None => Ok(()),
        }
    }
}

impl Error for UnknownGame {}

/// The built-in game of this name, in any spelling, compiled for play.
///
/// ```
/// let game = agon_games::load("ticTacToe")?;
/// assert_eq!(game.n_roles(), 2);
/// assert_eq!(
///     agon_games::load("conect_four").unwrap_err().to_string(),
///     "there is no built-in game called `conect_four`; did you mean `connect_four`?"
/// );
/// # Ok::<(), agon_games::UnknownGame>(())
/// ```
///
/// [`find`] gives the rulesheet and the metadata too.
///
/// # Errors
/// If there is no such game.
pub fn load(name: &str) -> Result<Game, UnknownGame> {
    let built_in = find(name).ok_or_else(|| UnknownGame {
        name: name.to_owned(),
        similar: similar(name),
    })?;
    Ok(built_in.compile())
}

/// All built-in games by name.
///
/// # Panics
/// If a rulesheet has no valid metadata: a test keeps that from being released.
#[must_use]
pub fn games() -> Vec<BuiltIn> {
    let mut games: Vec<BuiltIn> = sheets().map(built_in).collect();
    games.sort_by_key(|game| game.name);
    games
}

/// The built-in game of this name, in any spelling.
#[must_use]
pub fn find(name: &str) -> Option<BuiltIn> {
    let mut sheets = sheets();
    let found = sheets.find(|file| fold(stem(file)) == fold(name));
    found.map(built_in)
}

/// The game whose name differs from this one in the fewest letters, if those are few.
fn similar(name: &str) -> Option<&'static str> {
    let wanted = fold(name);
    let distances = sheets().map(|file| {
        (
            strsim::damerau_levenshtein(&fold(stem(file)), &wanted),
            stem(file),
        )
    });
    let (distance, nearest) = distances.min()?;
    (distance <= wanted.chars().count() / 3).then_some(nearest)
}

/// The files of all rulesheets.
fn sheets() -> impl Iterator<Item = &'static File<'static>> {
    let is_sheet = |file: &&File<'_>| file.path().extension().is_some_and(|end| end == "kif");
    GAMES.files().filter(is_sheet)
}

fn stem(file: &File<'static>) -> &'static str {
    let stem = file.path().file_stem().and_then(|stem| stem.to_str());
    stem.expect("names of games are UTF-8")
}

/// A rulesheet with its metadata.
fn built_in(file: &'static File<'static>) -> BuiltIn {
    let name = stem(file);
    let about = GAMES
        .get_file(format!("{name}.toml"))
        .and_then(|file| file.contents_utf8());
    let about = about.unwrap_or_else(|| panic!("games/{name}.toml is missing"));
    let about = toml::from_str(about).unwrap_or_else(|error| panic!("games/{name}.toml: {error}"));
    BuiltIn {
        name,
        sheet: file.contents_utf8().expect("rulesheets are UTF-8"),
        about,
    }
}

/// Names of built-in games that look like this one, the nearest first.
#[must_use]
pub fn near(name: &str) -> Vec<&'static str> {
    let wanted = fold(name);
    let most = (wanted.chars().count() / 3).max(1);
    let distance = |game: &BuiltIn| strsim::osa_distance(&wanted, &fold(game.name));
    let mut near: Vec<(usize, &'static str)> = games()
        .iter()
        .map(|game| (distance(game), game.name))
        .filter(|(distance, _)| *distance <= most)
        .collect();
    near.sort_unstable();
    near.into_iter().map(|(_, name)| name).take(3).collect()
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
        assert_eq!(near("conect-for").first(), Some(&"connect_four"));
        assert!(near("no such game").is_empty());
    }

    #[test]
    fn a_wrong_name_gets_a_similar_one() {
        let words = |name: &str| load(name).map(|_| ()).map_err(|error| error.similar);
        assert_eq!(words("Tic-Tac-Toe"), Ok(()));
        assert_eq!(words("tick_tack_toe"), Err(Some("tic_tac_toe")));
        assert_eq!(words("reversi"), Err(None));
        assert_eq!(words(""), Err(None));
    }
}
