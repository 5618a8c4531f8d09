//! The optimiser: passes that make a network smaller without changing an answer.
//!
//! Each pass is a file with one function `Network → Network`. Those that use how games are played (each role makes
//! exactly one legal move) say so: their networks must be fed nothing else.

mod prune;

use std::fmt;

use crate::network::Network;
use crate::state::State;

/// A pass.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pass {
    /// Drops gates that no output needs.
    Prune,
}

impl Pass {
    /// All passes, in the order in which they run by default.
    pub const ALL: [Pass; 1] = [Pass::Prune];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Pass::Prune => "prune",
        }
    }
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The size of a network after a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PassReport {
    /// The pass; `None` for the network as it was built.
    pub pass: Option<Pass>,
    /// Number of gates.
    pub n_gates: usize,
    /// Number of signals that gates read.
    pub n_edges: usize,
}

impl PassReport {
    fn new(pass: Option<Pass>, network: &Network) -> PassReport {
        PassReport {
            pass,
            n_gates: network.n_gates(),
            n_edges: network.n_edges(),
        }
    }
}

/// Runs passes in order, and reports the size after each.
#[must_use]
pub fn optimize(
    mut network: Network,
    initial: &State,
    passes: &[Pass],
) -> (Network, Vec<PassReport>) {
    let _ = initial;
    let mut reports = vec![PassReport::new(None, &network)];
    for &pass in passes {
        network = match pass {
            Pass::Prune => prune::prune(&network),
        };
        reports.push(PassReport::new(Some(pass), &network));
    }
    (network, reports)
}
