//! A state as a drawing for people.

use agon::library::About;
use agon_engine::{Game, State};

/// The board of a state, if the game is known to have one.
pub(crate) fn board_text(_game: &Game, _about: &About, _state: &State) -> Option<String> {
    None
}
