//! The optimiser: passes that make a network smaller without changing any answer.
//!
//! Each pass is a file with one function from network to network. Passes that rely on the rule that each role makes
//! exactly one legal move say so: their networks must be given only such moves.
//!
//! First, signals that are constant in every state are folded in the whole network. Then the network is split into its
//! control phases ([`crate::phases`]), and each phase is optimised separately.

mod activity;
pub(crate) mod decisive;
mod does_legal;
mod flatten;
mod forced;
mod one_hot;
pub(crate) mod prune;
mod rewrite;
pub(crate) mod sequential;
mod share;

use std::fmt;
use std::sync::OnceLock;

use crate::network::Network;
use crate::phases::{self, Phases};
use crate::state::State;

/// A pass of the optimiser.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pass {
    /// Folds state bits that never change and moves that are never legal.
    Sequential,
    /// Replaces moves that exclude all others by their legality.
    Forced,
    /// Splits the network into one per control phase.
    Phases,
    /// Replaces "none of these moves" by "one of the others" where that is shorter.
    OneHot,
    /// Drops signals that are implied by the legality of a move from gates that read the move.
    DoesLegal,
    /// Merges gates into their only reader.
    Flatten,
    /// Shares pairs of signals that many gates read.
    Share,
}

impl Pass {
    /// All passes, in the order in which they run.
    pub const ALL: [Pass; 7] = [
        Pass::Sequential,
        Pass::Forced,
        Pass::Phases,
        Pass::OneHot,
        Pass::DoesLegal,
        Pass::Flatten,
        Pass::Share,
    ];

    /// The name of the pass.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Pass::Sequential => "sequential",
            Pass::Forced => "forced",
            Pass::Phases => "phases",
            Pass::OneHot => "one-hot",
            Pass::DoesLegal => "does-legal",
            Pass::Flatten => "flatten",
            Pass::Share => "share",
        }
    }
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The size of the networks after a pass, summed over the phases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PassReport {
    /// The pass; `None` for the unoptimised network.
    pub pass: Option<Pass>,
    /// Number of networks.
    pub n_networks: usize,
    /// Number of gates.
    pub n_gates: usize,
    /// Number of signals that gates read.
    pub n_edges: usize,
}

impl PassReport {
    fn new(pass: Option<Pass>, networks: &[Network]) -> PassReport {
        PassReport {
            pass,
            n_networks: networks.len(),
            n_gates: networks.iter().map(Network::n_gates).sum(),
            n_edges: networks.iter().map(Network::n_edges).sum(),
        }
    }
}

/// The networks of a game, one per phase, with a report on the passes.
#[derive(Clone, Debug)]
pub struct Optimized {
    /// The phases.
    pub phases: Phases,
    /// The network of each phase.
    pub networks: Vec<Network>,
    /// Sizes after each pass.
    pub reports: Vec<PassReport>,
    /// One network per phase, if the scalar engine is better with a single network.
    split: Option<Box<Split>>,
}

/// A network that is split into its phases on first use.
#[derive(Clone, Debug)]
struct Split {
    network: Network,
    phases: Phases,
    passes: Vec<Pass>,
    networks: OnceLock<Vec<Network>>,
}

impl Optimized {
    /// The networks for an engine that evaluates everything at each step: always one per phase, because only the size
    /// of the current one matters. Made on first use if the scalar engine has a single network.
    #[must_use]
    pub fn per_phase(&self) -> (&Phases, &[Network]) {
        let Some(split) = &self.split else {
            return (&self.phases, &self.networks);
        };
        let networks = split.networks.get_or_init(|| {
            let phases = split.phases.clone();
            let reduced = reduce(&split.network, phases, &split.passes, &|| false);
            reduced.expect("it is not stopped").networks
        });
        (&split.phases, networks)
    }
}

/// A larger network (in edges) is only pruned, because the passes would take too long.
const HUGE: usize = 4_000_000;

/// Runs the given passes; without any, the network is only pruned.
#[must_use]
pub fn optimize(network: &Network, initial: &State, passes: &[Pass]) -> Optimized {
    optimize_until(network, initial, passes, &|| false).expect("it is not stopped")
}

/// The same, but ends without a result if `stop`, which is asked between passes, returns true.
#[must_use]
pub fn optimize_until(
    network: &Network,
    initial: &State,
    passes: &[Pass],
    stop: &dyn Fn() -> bool,
) -> Option<Optimized> {
    let mut reports = vec![PassReport::new(None, std::slice::from_ref(network))];
    let mut network = if passes.contains(&Pass::Sequential) {
        let folded = sequential::sequential(network, initial);
        reports.push(PassReport::new(
            Some(Pass::Sequential),
            std::slice::from_ref(&folded),
        ));
        folded
    } else {
        // Equal gates become one.
        prune::rebuild(network, |signal| signal)
    };
    if passes.contains(&Pass::Forced) {
        network = forced::forced(network);
        reports.push(PassReport::new(
            Some(Pass::Forced),
            std::slice::from_ref(&network),
        ));
    }
    if network.n_edges() > HUGE {
        return Some(Optimized {
            phases: Phases::none(),
            networks: vec![network],
            reports,
            split: None,
        });
    }
    if stop() {
        return None;
    }
    let phases = if passes.contains(&Pass::Phases) {
        phases::find(&network, initial)
    } else {
        Phases::none()
    };
    let is_whole = phases.len() > 1 && !pays(&network, &phases, initial);
    let mut reduced = if is_whole {
        let mut whole = reduce(&network, Phases::none(), passes, stop)?;
        whole.split = Some(Box::new(Split {
            network,
            phases,
            passes: passes.to_vec(),
            networks: OnceLock::new(),
        }));
        whole
    } else {
        reduce(&network, phases, passes, stop)?
    };
    reports.append(&mut reduced.reports);
    reduced.reports = reports;
    Some(reduced)
}

/// One network per phase pays off if its changes are this many tenths of those of a single network, because it needs
/// more memory. Chosen by measuring both on fifteen sheets.
const FEWER: u64 = 7;

/// Whether the scalar engine has less work with one network per phase. A network that is too large to find out is
/// split.
fn pays(network: &Network, phases: &Phases, initial: &State) -> bool {
    let activity = activity::activity(network, phases.len(), initial);
    activity.is_none_or(|activity| activity.split * 10 <= activity.whole * FEWER)
}

/// Splits a network into phases and runs the passes that work on each.
fn reduce(
    network: &Network,
    phases: Phases,
    passes: &[Pass],
    stop: &dyn Fn() -> bool,
) -> Option<Optimized> {
    let (mut networks, mut possible) = (Vec::new(), Vec::new());
    for phase in 0..phases.len() {
        if stop() {
            return None;
        }
        let fixed = phases.fixed(phase, network.n_bases);
        let (folded, moves) = sequential::fold_phase(network, &fixed);
        networks.push(folded);
        possible.push(moves);
    }
    let mut reports = Vec::new();
    if phases.len() > 1 {
        reports.push(PassReport::new(Some(Pass::Phases), &networks));
    }
    for pass in [Pass::OneHot, Pass::DoesLegal, Pass::Flatten, Pass::Share] {
        if !passes.contains(&pass) {
            continue;
        }
        for (network, possible) in networks.iter_mut().zip(&possible) {
            if stop() {
                return None;
            }
            let changed = match pass {
                Pass::OneHot => one_hot::one_hot(network, possible),
                Pass::DoesLegal => does_legal::does_legal(network),
                Pass::Flatten => flatten::flatten(network),
                _ => share::share(network),
            };
            *network = prune::prune(&changed);
        }
        reports.push(PassReport::new(Some(pass), &networks));
    }
    Some(Optimized {
        phases,
        networks,
        reports,
        split: None,
    })
}
