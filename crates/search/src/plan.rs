//! How many leaves are evaluated at a time, and by how many playouts each: by counts, never by measured time.
//!
//! Playouts run in the lanes where a game has them. As many leaves are in flight as fill the lanes, but never more than a share
//! of the tree, because leaves that are chosen without knowing what became of the others are chosen worse. A leaf is played
//! from several times where playouts cost little beside the tree, and as long as the tree is small. Since playouts from one
//! state tell less than as many from different ones, they may count as fewer visits, with the mean of all.
//!
//! A small tree of a light game grows one by one on the scalar engine, which is faster for a single playout; a heavy game goes
//! to the lanes from its first simulation. Where playouts are counted, only a small share of them is in flight at a time.

use agon_engine::Game;
use agon_engine::network::Network;

use crate::limits::Meter;
use crate::params::Params;
use crate::simulation::Counts;
use crate::value::Count;

/// Playouts that run at once in the lanes of a thread, and those that wait, beside twice as many as end while the lanes run
/// for [`STEPS`] steps, so that no lane is idle.
const LANES: u64 = 512;
const WAITING: u64 = 128;
const STEPS: u64 = 16;
/// Gates that drawing by weights takes for each move that a role can ever have.
const GATES_PER_MOVE: u64 = 20;
/// Gates, over all steps of a playout, that take about as long as the work in the tree for a leaf.
const TREE_GATES: u64 = 700_000;
/// Gates of a step beyond which the lanes are used from the first simulation.
const HEAVY_STEP_GATES: u64 = 20_000;
/// Gates of a playout beyond which most of the time goes into playouts.
const ROLLOUT_BOUND_GATES: u64 = 300_000;
/// Most playouts of a leaf.
const MOST_EACH: u64 = 16;
/// Nodes that the tree must have for each leaf in flight, and in a heavy game.
const NODES_PER_LEAF: u64 = 8;
const HEAVY_NODES_PER_LEAF: u64 = 2;
/// Fewer leaves in flight than this are faster one by one, and a heavy game always has this number.
const LEAST_LEAVES: u64 = 16;
const HEAVY_LEAVES: u64 = 256;
/// Fewer playouts than this are faster one by one.
const LEAST_PLAYOUTS: u64 = 16;
/// Where playouts are counted, one in this many of all may be in flight.
const BUDGET_SHARE: u64 = 1024;
/// Most visits that the playouts of a leaf count as, unless most of the time goes into playouts.
const MOST_VISITS: u32 = 4;
/// Without lanes, a thread takes up to this number of leaves at a time, once the tree has this number of nodes for each.
const SEVERAL: u64 = 4;
const NODES_OF_SEVERAL: u64 = 1024;

/// Nodes that the tree must have for each leaf that a network evaluates at a time, and how many it always does.
const NODES_PER_NETWORK_LEAF: u64 = 16;
const LEAST_NETWORK_LEAVES: u64 = 4;
const LEAST_HEAVY_NETWORK_LEAVES: u64 = 16;

/// Leaves that a network evaluates at a time, at most.
const NETWORK_LEAVES: u64 = 256;

/// Where leaves are evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    OneByOne,
    Lanes,
}

/// What to order next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Plan {
    pub(crate) place: Place,
    pub(crate) n_leaves: u32,
    /// Playouts of each leaf.
    pub(crate) n_playouts: u32,
}

/// What is in flight.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Load {
    pub(crate) leaves: u64,
    pub(crate) playouts: u64,
}

/// Plans orders.
pub(crate) struct Planner {
    // Constant.
    has_lanes: bool,
    batch: Count,
    batch_each: Count,
    gates_per_step: u64,
    /// Whether a network evaluates leaves alone.
    has_network: bool,
    // Of the search at hand.
    n_threads: u64,
    // Of the match: steps of all playouts, and how many these were.
    playout_steps: u64,
    playouts: u64,
}

impl Planner {
    pub(crate) fn new(game: &Game, params: &Params, has_lanes: bool) -> Planner {
        let gates_per_step = game.grounded().map_or(0, |grounded| {
            let networks = &grounded.optimized().networks;
            let n_gates: usize = networks.iter().map(Network::n_gates).sum();
            let roles = &grounded.program().roles;
            let n_moves: usize = roles.iter().map(|role| role.moves.len()).sum();
            let moves = (n_moves / roles.len().max(1)) as u64;
            (n_gates / networks.len().max(1)) as u64 + GATES_PER_MOVE * moves
        });
        Planner {
            has_lanes,
            batch: params.batch,
            batch_each: params.batch_each,
            gates_per_step,
            has_network: false,
            n_threads: 1,
            playout_steps: 0,
            playouts: 0,
        }
    }

    /// A network evaluates leaves alone.
    pub(crate) fn use_network(&mut self) {
        self.has_network = true;
    }

    pub(crate) fn begin_search(&mut self, n_threads: usize) {
        self.n_threads = n_threads as u64;
    }

    /// Playouts came back.
    pub(crate) fn count(&mut self, counts: &Counts) {
        self.playout_steps += counts.playout_steps;
        self.playouts += counts.playouts;
    }

    /// Steps of a playout, on average.
    pub(crate) fn mean_length(&self) -> u64 {
        self.playout_steps / self.playouts.max(1) + 1
    }

    /// Gates of a playout, over all its steps.
    pub(crate) fn cost(&self) -> u64 {
        self.gates_per_step * self.mean_length()
    }

    fn is_heavy(&self) -> bool {
        self.gates_per_step > HEAVY_STEP_GATES
    }

    /// The visits that the playouts of a leaf count as.
    pub(crate) fn visits(&self, n_playouts: u32) -> u32 {
        match self.cost() > ROLLOUT_BOUND_GATES {
            true => n_playouts,
            false => n_playouts.min(MOST_VISITS),
        }
    }

    /// What a thread is given next; `None` if nothing. `own` is in flight on this thread, `all` on all of them.
    pub(crate) fn plan(
        &self,
        n_nodes: usize,
        meter: &Meter<'_>,
        until: u64,
        own: Load,
        all: Load,
    ) -> Option<Plan> {
        let left = meter.playouts_left().unwrap_or(u64::MAX);
        let left = left.min(until.saturating_sub(meter.n_playouts()));
        let left = left.saturating_sub(all.playouts);
        if left == 0 {
            return None;
        }
        if self.has_network {
            return self.by_network(n_nodes as u64, left, own, all);
        }
        if self.has_lanes
            && let Some(plan) = self.in_lanes(n_nodes as u64, meter, left, own, all)
        {
            return plan;
        }
        // A few at a time in a large tree, so that threads wait less for each other.
        let n_leaves = match self.n_threads {
            1 => 1,
            _ => (n_nodes as u64 / NODES_OF_SEVERAL).clamp(1, SEVERAL),
        };
        (own.leaves == 0).then(|| Plan {
            place: Place::OneByOne,
            n_leaves: n_leaves.min(left) as u32,
            n_playouts: 1,
        })
    }

    /// What a network evaluates next: a share of the tree, since a pass through the lanes costs the same for one leaf and for many.
    fn by_network(&self, n_nodes: u64, left: u64, own: Load, all: Load) -> Option<Plan> {
        let least = match self.is_heavy() {
            true => LEAST_HEAVY_NETWORK_LEAVES,
            false => LEAST_NETWORK_LEAVES,
        };
        let in_tree = (n_nodes / NODES_PER_NETWORK_LEAF).max(least);
        let n_leaves = in_tree
            .min(NETWORK_LEAVES)
            .min(left)
            .min(in_tree.saturating_sub(all.leaves).max(least));
        (own.leaves == 0).then_some(Plan {
            place: Place::Lanes,
            n_leaves: n_leaves as u32,
            n_playouts: 1,
        })
    }

    /// What is evaluated in the lanes; `None` if single playouts are better at present.
    fn in_lanes(
        &self,
        n_nodes: u64,
        meter: &Meter<'_>,
        left: u64,
        own: Load,
        all: Load,
    ) -> Option<Option<Plan>> {
        let most_leaves = self.most_leaves(n_nodes);
        if most_leaves < LEAST_LEAVES {
            return None;
        }
        let n_each = self.n_each(most_leaves);
        let mut target = match self.batch {
            Count::Auto => {
                let n_ending = 2 * LANES * STEPS / self.mean_length();
                (LANES + WAITING + n_ending.min(2 * LANES)).max(LEAST_LEAVES * n_each)
            }
            Count::Exactly(n) => u64::from(n),
        };
        // Playouts will be about as long as they were.
        let length = self.mean_length();
        if let Some(left) = meter.transitions_left() {
            target = target.min(left / length / 2);
        }
        // Where playouts are counted, each of them matters.
        if let (Count::Auto, Some(budget)) = (self.batch, meter.budget(length)) {
            target = target.min(budget / BUDGET_SHARE);
        }
        if target.min(left + own.playouts) < LEAST_PLAYOUTS {
            return None;
        }
        // A limited number of playouts begins at as many leaves as the tree allows.
        let is_limited = self.batch != Count::Auto || meter.budget(length).is_some();
        let n_each = match is_limited {
            true => n_each.min(target / most_leaves).max(1),
            false => n_each,
        };
        let n_each = n_each.min(left);
        let room = target.saturating_sub(own.playouts).min(left) / n_each;
        let n_leaves = room.min(most_leaves.saturating_sub(all.leaves));
        // Few leaves at a time are not worth the passes through the lanes that make them.
        let least = (target / n_each / 8).min(most_leaves / 4).max(1);
        let is_worth_it = n_leaves >= least || own.leaves == 0 && n_leaves > 0;
        Some(is_worth_it.then_some(Plan {
            place: Place::Lanes,
            n_leaves: n_leaves as u32,
            n_playouts: n_each as u32,
        }))
    }

    /// Leaves in flight that a tree allows.
    fn most_leaves(&self, n_nodes: u64) -> u64 {
        match self.is_heavy() {
            true => (n_nodes / HEAVY_NODES_PER_LEAF).max(HEAVY_LEAVES),
            false => n_nodes / NODES_PER_LEAF,
        }
    }

    /// Playouts of a leaf: until the lanes are full, and more where playouts cost little beside the tree.
    fn n_each(&self, most_leaves: u64) -> u64 {
        if let Count::Exactly(n) = self.batch_each {
            return u64::from(n);
        }
        let by_cost = TREE_GATES / self.cost().max(1);
        let by_room = LANES / (most_leaves / self.n_threads).max(1);
        by_cost.max(by_room).clamp(1, MOST_EACH)
    }
}
