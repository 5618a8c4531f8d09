//! Somebody who takes part: a preset with what was set by hand, or a player elsewhere.
//!
//! In a tournament each match has one thread, so a preset thinks on one unless its text says otherwise. What tells entrants
//! apart in the store is the algorithm with every knob that is not at its default, so that a knob that is added later
//! changes nobody who does not use it.

use std::fmt;

use agon_protocol::http::{AddressError, RemotePlayer};
use agon_search::{PRESETS, Params, Preset, PresetError};
use thiserror::Error;

/// Somebody who takes part.
#[derive(Clone, Debug)]
pub enum Entrant {
    /// A bot of this process.
    Preset(Box<Preset>),
    /// A player elsewhere, by its address.
    Remote(String),
}

/// Why a text names nobody who can take part.
#[derive(Debug, Error)]
pub enum EntrantError {
    /// It is no preset.
    #[error(transparent)]
    Preset(#[from] PresetError),
    /// It is no address.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// It is a person.
    #[error("people do not take part in tournaments; `agon play` is for them")]
    Human,
}

impl Entrant {
    /// Reads `cadia-2008:exploration=50` or `http://HOST:PORT`.
    ///
    /// # Errors
    /// If it is neither.
    pub fn parse(text: &str) -> Result<Entrant, EntrantError> {
        if text == "human" {
            return Err(EntrantError::Human);
        }
        if text.contains("://") {
            RemotePlayer::new(text)?;
            return Ok(Entrant::Remote(text.to_owned()));
        }
        let mut preset = Preset::parse(text)?;
        if !text.contains("threads=") {
            preset
                .params
                .set("threads", "1")
                .map_err(PresetError::Param)?;
        }
        Ok(Entrant::Preset(Box::new(preset)))
    }

    /// What it is, whatever it is called: its algorithm and the knobs that are not at their defaults.
    #[must_use]
    pub fn identity(&self) -> String {
        let preset = match self {
            Entrant::Preset(preset) => preset,
            Entrant::Remote(_) => return "elsewhere".to_owned(),
        };
        let known = PRESETS.iter().find(|known| known.name == preset.name);
        let mut words = vec![known.map_or(preset.name, |known| known.bot).to_owned()];
        let defaults = Params::default().values();
        let values = preset.params.values().into_iter().zip(defaults);
        let differing = values.filter(|(value, default)| value != default);
        words.extend(differing.map(|((name, value), _)| format!("{name}={value}")));
        words.join(" ")
    }

    /// The address of a player elsewhere.
    #[must_use]
    pub fn address(&self) -> Option<&str> {
        match self {
            Entrant::Preset(_) => None,
            Entrant::Remote(address) => Some(address),
        }
    }
}

/// As it was given.
impl fmt::Display for Entrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entrant::Preset(preset) => preset.fmt(f),
            Entrant::Remote(address) => f.write_str(address),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let shown = match Entrant::parse(text) {
            Ok(entrant) => format!("{entrant} is {}", entrant.identity()),
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
        check(
            "http://127.0.0.1:9147",
            "http://127.0.0.1:9147 is elsewhere",
        );
    }

    #[test]
    fn who_cannot_take_part_is_told() {
        check("human", "people do not take part");
        check("nobody", "there is no player `nobody`");
        check("ftp://here", "ftp://here: the address of a player");
    }
}
