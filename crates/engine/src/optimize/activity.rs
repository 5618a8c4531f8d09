//! How much work the scalar engine has per step, with one network and with one per phase.
//!
//! The scalar engine propagates changes. With a single network, every step changes the control bits, and with them
//! every gate that reads them: all legal moves of both sides, for example. With one network per phase, these are
//! constants, but each network must catch up with the changes of a whole cycle, so that every other change is
//! propagated once per phase. Sizes do not tell which is less: it depends on how many gates change.
//!
//! So they are counted. 64 random games are played on the unoptimised network, one per bit of a word, and the changes
//! of each node from one step to the next are compared with the changes from one cycle to the next. Only nodes that do
//! not depend on moves count: the others cost about the same either way. Games begin with the same seed and end after a
//! bounded number of gates, so that the result is the same on every machine.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::network::{Network, Node, NodeId, Signal};
use crate::state::State;

/// The work limit, in inputs of gates evaluated.
const MAX_WORK: usize = 12_000_000;
/// Maximum number of steps played.
const MAX_STEPS: usize = 60;
/// The cost of a change of a node besides its readers, in readers.
const CHANGE: u64 = 2;
/// Maximum number of words of values that are stored.
const MAX_WORDS: usize = 1 << 24;

/// The work per step, in units that only compare with each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Activity {
    /// With a single network.
    pub(crate) whole: u64,
    /// With one network per phase.
    pub(crate) split: u64,
}

/// Counts the changes in random games; `None` if the network is too large for that.
pub(crate) fn activity(network: &Network, n_phases: usize, initial: &State) -> Option<Activity> {
    if network.n_nodes() * (n_phases + 1) > MAX_WORDS {
        return None;
    }
    let mut games = Games::new(network, initial);
    let costs = games.costs();
    let mut activity = Activity { whole: 0, split: 0 };
    let mut history: Vec<Vec<u64>> = Vec::new();
    for step in 0..MAX_STEPS {
        games.evaluate_state();
        let is_over = games.alive == 0 || games.work > MAX_WORK;
        // Both are compared over the same steps.
        if step >= n_phases {
            let before = &history[(step - 1) % n_phases];
            let cycle_before = &history[step % n_phases];
            activity.whole += games.changes(before, &costs);
            activity.split += games.changes(cycle_before, &costs);
        }
        if is_over {
            break;
        }
        match history.get_mut(step % n_phases) {
            Some(old) => old.copy_from_slice(&games.values),
            None => history.push(games.values.clone()),
        }
        games.advance();
    }
    Some(activity)
}

/// 64 games, one per bit.
struct Games<'a> {
    network: &'a Network,
    /// Gates and loops that depend on no move, and the gates that do, in order.
    of_state: Vec<NodeId>,
    of_moves: Vec<NodeId>,
    values: Vec<u64>,
    /// Games that are not over.
    alive: u64,
    rng: Xoshiro256PlusPlus,
    work: usize,
}

impl Games<'_> {
    fn new<'a>(network: &'a Network, initial: &State) -> Games<'a> {
        let mut depends = vec![false; network.n_nodes()];
        let (mut of_state, mut of_moves) = (Vec::new(), Vec::new());
        for node in network.nodes() {
            let is_moved = match network.node(node) {
                Node::True | Node::Base(_) => continue,
                Node::Input(_) => {
                    depends[node.idx()] = true;
                    continue;
                }
                // A loop that depends on moves is treated like one that does not: its value is only an estimate.
                Node::Loop(_) => false,
                Node::And(signals) => signals.iter().any(|signal| depends[signal.node().idx()]),
            };
            depends[node.idx()] = is_moved;
            if is_moved {
                of_moves.push(node);
            } else {
                of_state.push(node);
            }
        }
        let mut values = vec![0; network.n_nodes()];
        values[0] = u64::MAX;
        for base in 0..network.n_bases {
            let is_set = initial.words()[base as usize / 64] >> (base % 64) & 1 == 1;
            values[network.base(base).idx()] = if is_set { u64::MAX } else { 0 };
        }
        Games {
            network,
            of_state,
            of_moves,
            values,
            alive: u64::MAX,
            rng: Xoshiro256PlusPlus::seed_from_u64(1),
            work: 0,
        }
    }

    /// What a change of each node costs; nothing where it depends on moves.
    fn costs(&self) -> Vec<u64> {
        let mut costs = vec![0; self.network.n_nodes()];
        for base in 0..self.network.n_bases {
            costs[self.network.base(base).idx()] = CHANGE;
        }
        for node in &self.of_state {
            costs[node.idx()] = CHANGE;
        }
        for node in self.network.nodes() {
            for signal in self.network.inputs_of(node) {
                let cost = &mut costs[signal.node().idx()];
                *cost += u64::from(*cost > 0);
            }
        }
        costs
    }

    fn signal(&self, signal: Signal) -> u64 {
        let flip = if signal.is_complement() { u64::MAX } else { 0 };
        self.values[signal.node().idx()] ^ flip
    }

    fn evaluate(&mut self, nodes: &[NodeId]) {
        for &node in nodes {
            if let Node::And(signals) = self.network.node(node) {
                let all = signals
                    .iter()
                    .fold(u64::MAX, |all, &signal| all & self.signal(signal));
                self.values[node.idx()] = all;
                self.work += signals.len();
            }
        }
    }

    /// Evaluates everything that does not depend on moves, and ends games that are over.
    fn evaluate_state(&mut self) {
        let nodes = std::mem::take(&mut self.of_state);
        let network = self.network;
        let loops: Vec<NodeId> = nodes
            .iter()
            .copied()
            .filter(|&node| matches!(network.node(node), Node::Loop(_)))
            .collect();
        loops.iter().for_each(|node| self.values[node.idx()] = 0);
        loop {
            self.evaluate(&nodes);
            let mut is_stable = true;
            for &node in &loops {
                let defined = network
                    .reads(node)
                    .iter()
                    .fold(0, |_, &signal| self.signal(signal));
                let value = &mut self.values[node.idx()];
                is_stable &= defined & !*value == 0;
                *value |= defined;
            }
            if is_stable || self.work > MAX_WORK {
                break;
            }
        }
        self.of_state = nodes;
        self.alive &= !self.signal(network.terminal);
    }

    /// The cost of the changes since these values.
    fn changes(&self, before: &[u64], costs: &[u64]) -> u64 {
        let pairs = self.values.iter().zip(before).zip(costs);
        pairs
            .map(|((now, before), cost)| {
                u64::from(((now ^ before) & self.alive).count_ones()) * cost
            })
            .sum()
    }

    /// Makes some legal move of each role in every game.
    fn advance(&mut self) {
        let network = self.network;
        for role in &network.roles {
            let first = role.first_input;
            let n_moves = role.legal.len();
            for input in first..first + n_moves as u32 {
                self.values[network.input(input).idx()] = 0;
            }
            let legal: Vec<u64> = role.legal.iter().map(|&legal| self.signal(legal)).collect();
            for game in 0..64 {
                let start = ((self.rng.next_u64() >> 32) as usize * n_moves) >> 32;
                // The next legal move from a random place on.
                let mut from_there = (start..n_moves).chain(0..start);
                match from_there.find(|&mv| legal[mv] >> game & 1 == 1) {
                    Some(mv) => self.values[network.input(first + mv as u32).idx()] |= 1 << game,
                    None => self.alive &= !(1 << game),
                }
            }
        }
        let nodes = std::mem::take(&mut self.of_moves);
        self.evaluate(&nodes);
        self.of_moves = nodes;
        let next: Vec<u64> = network.next.iter().map(|&next| self.signal(next)).collect();
        for (base, next) in next.into_iter().enumerate() {
            self.values[network.base(base as u32).idx()] = next;
        }
    }
}
