//! The built-in games: rulesheets of our own with their metadata, embedded in the binary.
//!
//! One game is `games/<name>.kif` and `games/<name>.toml`. Names are found whatever their capitals and separators are,
//! so `ticTacToe` means `tic_tac_toe`.
//!
//! [`About`] is the metadata: what the rules cannot say. [`board`] draws states by it, [`notation`] writes and reads moves.
//!
//! **Invariant:** holds no rule of any game outside a rulesheet.

mod about;
pub mod board;
pub mod notation;
pub mod suite;

pub use about::{About, Board, GameKind, Layer, Shape};

use include_dir::{Dir, include_dir};

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
}
