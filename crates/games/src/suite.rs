//! Files of expected counts: how many joint-move sequences of each length games have.
//!
//! ```toml
//! [tic_tac_toe]
//! counts = [9, 72, 504]       # sequences of one step, of two, …
//! source = "Known from …"     # where the counts are known from, independently of the sheet
//! same_as = "ticTacToe"       # a public sheet with the same counts
//! differs = "…"               # why the public sheet of this game has others
//! ```

use std::collections::BTreeMap;

use agon_engine::Perft;
use serde::Deserialize;

/// What is expected of a game.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// The number of joint-move sequences of one step, of two, and so on.
    pub counts: Vec<u64>,
    /// Where they are known from, independently of the sheet.
    pub source: Option<String>,
    /// A public sheet that has the same counts.
    pub same_as: Option<String>,
    /// Why the public sheet of this game has others.
    pub differs: Option<String>,
}

/// Reads a file of counts, one table per game.
///
/// # Errors
/// If it is not such a file.
pub fn read(text: &str) -> Result<BTreeMap<String, Counts>, toml::de::Error> {
    toml::from_str(text)
}

impl Counts {
    /// Counts as deep as the counts are at most `most`, and compares.
    ///
    /// # Errors
    /// Tells the first depth with another count, or that the engine gave up.
    pub fn compare(&self, perft: &mut Perft<'_>, most: u64) -> Result<(), String> {
        let expected = self.counts.iter().take_while(|&&count| count <= most);
        for (idx, &expected) in expected.enumerate() {
            let found = perft.next().unwrap_or(0);
            if found != expected {
                let depth = idx + 1;
                return Err(format!("depth {depth}: {found} sequences, not {expected}"));
            }
        }
        match perft.take_fault() {
            Some(fault) => Err(format!("the engine gave up: {fault}")),
            None => Ok(()),
        }
    }
}
