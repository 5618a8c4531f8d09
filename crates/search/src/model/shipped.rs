//! Models that come with the program: networks of built-in games, trained by `agon train` with the seeds and positions in their records.
//!
//! They are part of the binary, so that a seed gives the same match everywhere. A game is recognised by the key of its rules, whatever
//! its fluents and moves are called. docs/LEARNING.md has the commands that made them and what they score.

use std::sync::Arc;

use agon_engine::Game;

use super::bytes::{Model, Outline, rules_key};

/// The bytes of a model of `models/`.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(include_bytes!(concat!("../../models/", $name, ".model"))),*]
    };
}

/// The files.
const FILES: &[&[u8]] = files![
    "breakthrough",
    "breakthrough_small",
    "breakthrough_suicide",
    "checkers",
    "chinese_checkers_2",
    "knightthrough",
    "nine_mens_morris",
    "othello",
    "othello_6x6",
    "sheep_and_wolf",
];

/// All models that come with the program.
///
/// # Panics
/// If the program was built with a file that is not a model, which a test excludes.
pub fn shipped_models() -> impl Iterator<Item = (Model, usize)> {
    FILES.iter().map(|file| (read(file), file.len()))
}

/// The model of a game that comes with the program, if there is one.
#[must_use]
pub fn shipped_model(game: &Game) -> Option<Arc<Model>> {
    // The key of large rules takes long to compute; the number of fluents is known.
    let n_fluents = game.grounded()?.program().fluents.len();
    let is_alike = |outline: &Outline| outline.n_fluents == n_fluents;
    let mut alike = FILES
        .iter()
        .filter_map(|file| Some((Outline::read(file).filter(is_alike)?, file)));
    let (_, file) = alike.find(|(outline, _)| rules_key(game) == Some(outline.key))?;
    Some(Arc::new(read(file)))
}

fn read(file: &[u8]) -> Model {
    Model::from_bytes(file).expect("what comes with the program is whole")
}
