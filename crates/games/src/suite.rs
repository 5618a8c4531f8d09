//! Reads files of expected counts: the number of joint-move sequences of each length.
//!
//! ```toml
//! [tic_tac_toe]
//! counts = [9, 72, 504]       # sequences of one step, of two, …
//! source = "Known from …"     # a source of the counts that is independent of the rulesheet
//! same_as = "ticTacToe"       # a public rulesheet with the same counts
//! differs = "…"               # why the public rulesheet of this game has other counts
//! ```

use std::collections::BTreeMap;

use agon_engine::Perft;
use serde::Deserialize;

/// The expected counts of a game.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// The number of joint-move sequences of one step, of two, and so on.
    pub counts: Vec<u64>,
    /// A source of the counts that is independent of the rulesheet.
    pub source: Option<String>,
    /// A public rulesheet with the same counts.
    pub same_as: Option<String>,
    /// Why the public rulesheet of this game has other counts.
    pub differs: Option<String>,
}

/// Reads a file of counts with one table per game.
///
/// # Errors
/// If the text is not a valid file of counts.
pub fn read(text: &str) -> Result<BTreeMap<String, Counts>, toml::de::Error> {
    toml::from_str(text)
}

impl Counts {
    /// Compares the counts of a game with the expected ones, as far as these are at most `most`.
    ///
    /// # Errors
    /// The first depth with another count, or the reason why the engine stopped.
    pub fn compare(&self, perft: &mut Perft<'_>, most: u64) -> Result<(), String> {
        let expected = self.counts.iter().take_while(|&&count| count <= most);
        for (idx, &expected) in expected.enumerate() {
            let found = perft.next().unwrap_or(0);
            if found != expected {
                let depth = idx + 1;
                return Err(format!(
                    "depth {depth}: {found} sequences, expected {expected}"
                ));
            }
        }
        match perft.take_fault() {
            Some(fault) => Err(format!("the engine stopped: {fault}")),
            None => Ok(()),
        }
    }
}
