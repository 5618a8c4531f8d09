//! A player by its name: a bot with values for its knobs, some of them set by hand.
//!
//! In: `mc` or `mc:most_steps=500`. Out: a [`Preset`], which makes bots.

use std::fmt;
use std::sync::Arc;

use agon_engine::Game;
use thiserror::Error;

use crate::bot::Bot;
use crate::bots;
use crate::params::{ParamError, Params};

/// A named bot with values for its knobs.
#[derive(Clone, PartialEq, Debug)]
pub struct Preset {
    /// Its name, without what was set by hand.
    pub name: &'static str,
    /// Its knobs.
    pub params: Params,
    /// What was set by hand, in order.
    overrides: Vec<(String, String)>,
}

/// Why a text names no preset.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PresetError {
    /// No preset has this name.
    #[error("there is no player `{0}`; there are: {names}", names = bots::NAMES.join(", "))]
    Unknown(String),
    /// It is followed by something that is not `key=value`.
    #[error("`{0}` is not of the form key=value")]
    Override(String),
    /// A knob cannot be set.
    #[error(transparent)]
    Param(#[from] ParamError),
}

impl Preset {
    /// The one that plays unless another is asked for.
    pub const DEFAULT: &'static str = "mc";

    /// Reads `name` or `name:key=value,key=value`.
    ///
    /// # Errors
    /// If there is no such preset, or a knob cannot be set like that.
    pub fn parse(text: &str) -> Result<Preset, PresetError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let known = bots::NAMES.iter().find(|known| **known == name);
        let mut preset = Preset {
            name: known.ok_or_else(|| PresetError::Unknown(name.to_owned()))?,
            params: Params::default(),
            overrides: Vec::new(),
        };
        for pair in rest.split(',').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair
                .split_once('=')
                .ok_or_else(|| PresetError::Override(pair.to_owned()))?;
            preset.params.set(key, value)?;
            preset.overrides.push((key.to_owned(), value.to_owned()));
        }
        Ok(preset)
    }

    /// A bot of this kind.
    #[must_use]
    pub fn bot(&self, game: &Arc<Game>, seed: u64) -> Box<dyn Bot> {
        let bot = bots::by_name(self.name, Arc::clone(game), &self.params, seed);
        bot.expect("the names of presets are those of bots")
    }
}

/// As it is written on a command line.
impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        for (idx, (key, value)) in self.overrides.iter().enumerate() {
            write!(f, "{}{key}={value}", if idx == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let shown = match Preset::parse(text) {
            Ok(preset) => format!("{preset} with {:?}", preset.params.values()),
            Err(error) => error.to_string(),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_name_and_what_is_set_by_hand() {
        check("mc", r#"mc with [("most_steps", "100000")]"#);
        check(
            "mc:most_steps=7",
            r#"mc:most_steps=7 with [("most_steps", "7")]"#,
        );
        check(Preset::DEFAULT, r#"mc with [("most_steps", "100000")]"#);
    }

    #[test]
    fn what_is_wrong_is_said() {
        check(
            "alphago",
            "there is no player `alphago`; there are: random, legal, mc",
        );
        check("mc:fast", "`fast` is not of the form key=value");
        check(
            "mc:most_steps=0",
            "most_steps=0 is out of range: 1..=100000000",
        );
    }
}
