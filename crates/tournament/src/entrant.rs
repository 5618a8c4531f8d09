//! An entrant of a tournament: a preset with overrides, or a remote player.
//!
//! In a tournament each match has one thread, so a preset uses one thread unless its text says otherwise. The store
//! identifies a preset by its algorithm and every parameter that differs from its default. A parameter that is added later
//! therefore does not change entrants that do not use it.

use std::fmt;
use std::fs;
use std::sync::Arc;

use agon_engine::Game;
use agon_protocol::http::{AddressError, RemotePlayer};
use agon_search::model::{Model, ModelError};
use agon_search::{LoadModel, PRESETS, Params, Preset, PresetError};
use thiserror::Error;

/// The identity of all remote players. It is part of the keys of stored results and must not change.
const REMOTE_IDENTITY: &str = "elsewhere";

/// An entrant of a tournament.
#[derive(Clone, Debug)]
pub enum Entrant {
    /// A bot in this process.
    Preset(Box<Preset>),
    /// A bot in this process that has its own number of playouts per move, whatever the budget of the tournament is.
    Graded(Box<Preset>, u64),
    /// A remote player.
    Remote {
        /// Its address.
        address: String,
        /// What it wants to be told with every message.
        secret: Option<String>,
    },
}

/// Why a text does not name an entrant.
#[derive(Debug, Error)]
pub enum EntrantError {
    /// It is not a preset.
    #[error(transparent)]
    Preset(#[from] PresetError),
    /// It is not an address.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// It goes by a model of another game.
    #[error("{player}: {error}")]
    Model {
        /// The player.
        player: String,
        /// What is wrong with its model.
        error: ModelError,
    },
    /// It has a number of playouts that is none.
    #[error("`{0}` is not a number of playouts from 1 to 1000000000")]
    Playouts(String),
    /// It is a remote player.
    #[error("{0} is a remote player; matches on a queue have players of Agon only")]
    Remote(String),
    /// It is a person.
    #[error("people do not take part in tournaments; use `agon play` instead")]
    Human,
}

impl Entrant {
    /// Reads `cadia-2008:exploration=50`, the same with its own playouts per move as in `cadia-2008@64`, or
    /// `http://HOST:PORT`.
    ///
    /// # Errors
    /// If it is neither.
    pub fn parse(text: &str) -> Result<Entrant, EntrantError> {
        Entrant::parse_with(text, &read_model)
    }

    /// Reads a text that another machine has sent: a preset with numbers. No file is read and no address is called.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn parse_foreign(text: &str) -> Result<Entrant, EntrantError> {
        if text.contains("://") {
            return Err(EntrantError::Remote(text.to_owned()));
        }
        let no_files = |_: &str| Err("models are files and are not sent to workers".to_owned());
        Entrant::parse_with(text, &no_files)
    }

    fn parse_with(text: &str, load: LoadModel<'_>) -> Result<Entrant, EntrantError> {
        if text == "human" {
            return Err(EntrantError::Human);
        }
        if text.contains("://") {
            RemotePlayer::new(text)?;
            return Ok(Entrant::Remote {
                address: text.to_owned(),
                secret: None,
            });
        }
        let (name, playouts) = match text.rsplit_once('@') {
            None => (text, None),
            Some((name, number)) => {
                let playouts: Option<u64> = number.parse().ok();
                let playouts = playouts.filter(|n| (1..=1_000_000_000).contains(n));
                let playouts = playouts.ok_or_else(|| EntrantError::Playouts(number.to_owned()))?;
                (name, Some(playouts))
            }
        };
        let mut preset = Preset::parse_with(name, load)?;
        if !name.contains("threads=") {
            preset
                .params
                .set("threads", "1")
                .map_err(PresetError::Param)?;
        }
        let preset = Box::new(preset);
        Ok(match playouts {
            None => Entrant::Preset(preset),
            Some(playouts) => Entrant::Graded(preset, playouts),
        })
    }

    /// Its own playouts per move, if it has them.
    #[must_use]
    pub fn playouts(&self) -> Option<u64> {
        match self {
            Entrant::Graded(_, playouts) => Some(*playouts),
            Entrant::Preset(_) | Entrant::Remote { .. } => None,
        }
    }

    /// Whether its model, if it has one, is one of this game.
    ///
    /// # Errors
    /// If it is not.
    pub fn check(&self, game: &Game) -> Result<(), EntrantError> {
        let (Entrant::Preset(preset) | Entrant::Graded(preset, _)) = self else {
            return Ok(());
        };
        preset.check(game).map_err(|error| EntrantError::Model {
            player: self.to_string(),
            error,
        })
    }

    /// Its identity in a game, whatever its name: its algorithm, the parameters that differ from their defaults, and its model.
    #[must_use]
    pub fn identity(&self, game: &Game) -> String {
        let preset = match self {
            Entrant::Preset(preset) | Entrant::Graded(preset, _) => preset,
            Entrant::Remote { .. } => return REMOTE_IDENTITY.to_owned(),
        };
        let known = PRESETS.iter().find(|known| known.name == preset.name);
        let mut words = vec![known.map_or(preset.name, |known| known.bot).to_owned()];
        let defaults = Params::default().values();
        let values = preset.params.values().into_iter().zip(defaults);
        let differing = values.filter(|(value, default)| value != default);
        words.extend(differing.map(|((name, value), _)| format!("{name}={value}")));
        // A model is what its numbers are, whatever its file is called.
        words.extend(
            preset
                .model_for(game)
                .map(|(model, _)| format!("model={:016x}", model.fingerprint())),
        );
        words.extend(self.playouts().map(|playouts| format!("@{playouts}")));
        words.join(" ")
    }

    /// The address of a remote player.
    #[must_use]
    pub fn address(&self) -> Option<&str> {
        match self {
            Entrant::Preset(_) | Entrant::Graded(..) => None,
            Entrant::Remote { address, .. } => Some(address),
        }
    }
}

/// Reads the model in a file.
///
/// # Errors
/// If it cannot be read, or is not a model.
pub fn read_model(file: &str) -> Result<Arc<Model>, String> {
    let bytes = fs::read(file).map_err(|error| format!("it cannot be read: {error}"))?;
    let model = Model::from_bytes(&bytes).map_err(|error| error.to_string())?;
    Ok(Arc::new(model))
}

/// The text of the tournament file.
impl fmt::Display for Entrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entrant::Preset(preset) => preset.fmt(f),
            Entrant::Graded(preset, playouts) => write!(f, "{preset}@{playouts}"),
            Entrant::Remote { address, .. } => f.write_str(address),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let game = Game::from_text(include_str!("../../games/games/tic_tac_toe.kif"));
        let game = game.expect("it is a game");
        let shown = match Entrant::parse(text) {
            Ok(entrant) => format!("{entrant} is {}", entrant.identity(&game)),
            Err(error) => error.to_string(),
        };
        assert!(shown.starts_with(expected), "{shown}\n{expected}");
    }

    #[test]
    fn entrants_have_a_name_and_an_identity() {
        check("random", "random is random");
        check("cadia-2008", "cadia-2008 is uct playout=mast");
        check(
            "cadia-2007:exploration=50",
            "cadia-2007:exploration=50 is uct exploration=50",
        );
        check("cadia-2008@64", "cadia-2008@64 is uct playout=mast @64");
        check(
            "http://127.0.0.1:9147",
            "http://127.0.0.1:9147 is elsewhere",
        );
    }

    #[test]
    fn texts_of_other_machines_name_neither_files_nor_addresses() {
        let refused = |text: &str| match Entrant::parse_foreign(text) {
            Ok(entrant) => panic!("{entrant} is accepted"),
            Err(error) => error.to_string(),
        };
        assert!(Entrant::parse_foreign("cadia-2008:exploration=50@64").is_ok());
        assert!(refused("http://127.0.0.1:9147").contains("is a remote player"));
        assert!(refused("agon:model=/etc/passwd").contains("are not sent to workers"));
        assert!(refused("human").contains("people do not"));
    }

    #[test]
    fn a_text_that_names_no_entrant_is_refused() {
        check("mc@0", "`0` is not a number of playouts");
        check("human", "people do not take part");
        check("nobody", "there is no player `nobody`");
        check("ftp://here", "ftp://here: the address of a player");
    }
}
