//! The search: one loop for any number of simulations at a time, any number of roles, and simultaneous moves.
//!
//! ```text
//! 1 select leaves   walk down the tree by `select`, and mark the way as in flight       here
//! 2 expand          make the states of the leaves and look at them                      an evaluator
//! 3 evaluate        values of all roles by playouts                                     an evaluator
//! 4 back up         put the leaves into the tree, values into the edges of their ways   here
//! 5 prove           what is certain flows up                                            here, `solve`
//! 6 learn           techniques see what simulations were worth                          `techniques`
//! ```
//!
//! Each node keeps visits and a mean per role and move; every role picks its own move, and the picks form the joint move
//! that leads to the child. Values are goals 0 to 100 of each role, or differences of goals with two roles; nobody is
//! assumed to want anything but its own value.
//!
//! A simulation that has left the tree and not come back is *in flight*. It counts among the visits of its path, and as half
//! a loss, so that the next one looks elsewhere; when it comes back, that is taken back. What is settled in the tree needs no
//! evaluation and is backed up at once. A single simulation is a batch of one.
//!
//! The thread that thinks owns the tree, and nobody else ever touches it.
//!
//! Not here: formulas (`select`), how leaves are evaluated (`evaluators`), on which threads (`pool`), how many at a time
//! (`plan`), how a finished search picks its move (`decide`).
//!
//! - Kocsis and Szepesvári 2006, Bandit based Monte-Carlo Planning (UCT)
//! - Coulom 2006, Efficient Selectivity and Backup Operators (one new node per simulation)
//! - Finnsson and Björnsson 2008, Simulation-Based Approach to General Game Playing
//! - Méhat and Cazenave 2008, Monte-Carlo Tree Search for General Game Playing
//! - Enzenberger and Müller 2010, A Lock-Free Multithreaded Monte-Carlo Tree Search Algorithm (virtual loss)

mod back_up;

use std::sync::Arc;
use std::time::Duration;

use agon_engine::{Game, Goal, JointMove, MoveId, RoleId, State};

use crate::bounds::Bounds;
use crate::evaluators::network::Judge;
use crate::evaluators::{PolicyUpdate, weigh};
use crate::lane_policy::Rule;
use crate::limits::{Meter, Stopwatch};
use crate::model::Network;
use crate::params::{HeuristicUse, NetworkUse, Params, RaveKind, Values};
use crate::plan::{Load, Place, Plan, Planner};
use crate::policy::for_lanes;
use crate::puzzle::BestLine;
use crate::random::Random;
use crate::select::Select;
use crate::simulation::{Order, Orders, Powers, Ticket};
use crate::solve::Solver;
use crate::techniques::cutoff::Cutoff;
use crate::techniques::fast::Fast;
use crate::techniques::{Technique, Techniques};
use crate::tree::{NodeId, Tree, TreeOptions};
use crate::walker::Walker;

/// The playout policy is renewed when this number of playouts was learned from, and after each such part of all.
const FIRST_UPDATE: u64 = 256;
const UPDATE_SHARE: u64 = 4;

/// The owner of the tree.
pub(crate) struct Searcher {
    // Constant during a match.
    pub(crate) game: Arc<Game>,
    pub(crate) params: Params,
    // What was learned.
    pub(crate) tree: Tree,
    pub(crate) root: Option<NodeId>,
    pub(crate) techniques: Techniques,
    pub(crate) select: Select,
    pub(crate) solver: Solver,
    pub(crate) best_line: BestLine,
    pub(crate) planner: Planner,
    /// A network, and what judges the root by it.
    pub(crate) network: Option<(Arc<Network>, Judge)>,
    /// How playouts choose, and the number of playouts of this search after which that is renewed.
    policy: Option<Arc<PolicyUpdate>>,
    next_update: u64,
    // Changed by each simulation.
    in_flight: InFlight,
    powers: Powers,
    random: Random,
    // What it took.
    pub(crate) work: Work,
}

/// Counts of one search.
#[derive(Clone, Default)]
pub(crate) struct Work {
    pub(crate) simulations: u64,
    pub(crate) batches: u64,
    /// Leaves that were evaluated in the lanes, and one by one.
    pub(crate) in_lanes: u64,
    pub(crate) one_by_one: u64,
    /// Nodes that were added.
    pub(crate) new_nodes: u64,
    /// Steps within the tree, and ways down.
    pub(crate) levels: u64,
    pub(crate) descents: u64,
    pub(crate) deepest: u32,
    pub(crate) trims: u64,
    pub(crate) proofs: u64,
    /// Per role: the sum of the values of all simulations, and how many these were.
    pub(crate) sums: Vec<f64>,
    pub(crate) visits: u64,
    pub(crate) tree_time: Stopwatch,
    pub(crate) rollout_time: Duration,
    pub(crate) bookkeeping_time: Duration,
    pub(crate) time: Duration,
}

/// Simulations in simulation.
#[derive(Default)]
struct InFlight {
    all: Vec<OneInFlight>,
    free: Vec<u32>,
    /// The way of the simulation at hand.
    way: Way,
    /// Sums of values at the level at hand.
    sums: Vec<f64>,
}

/// A simulation in flight.
#[derive(Default)]
struct OneInFlight {
    is_used: bool,
    way: Way,
    n_playouts: u32,
    /// The visits that they count as.
    visits: u32,
    worker: u32,
}

/// The part of a simulation that lies in the tree.
#[derive(Default)]
struct Way {
    nodes: Vec<NodeId>,
    /// Per node and role: the edge.
    slots: Vec<u32>,
    /// Per node and role: the move.
    record: Vec<MoveId>,
}

impl Way {
    fn clear(&mut self) {
        self.nodes.clear();
        self.slots.clear();
        self.record.clear();
    }
}

impl Searcher {
    pub(crate) fn new(
        game: Arc<Game>,
        params: &Params,
        network: Option<Arc<Network>>,
        seed: u64,
    ) -> Searcher {
        let network = network.filter(|_| params.network != NetworkUse::None);
        let params = &match &network {
            Some(_) => params.with_network(),
            None => params.clone(),
        };
        let is_alone = network.is_some() && params.network == NetworkUse::Alone;
        let n_roles = game.n_roles();
        let techniques = Techniques::new(&game, params);
        let is_mirrored = n_roles == 2 && params.values == Values::Difference;
        let discount = if n_roles == 1 { 1.0 } else { params.discount };
        let looks_back = techniques.all().any(Technique::looks_back);
        let has_lanes = params.has_lanes() && game.grounded().is_some() && !looks_back;
        let most_moves = game.grounded().map_or(usize::MAX, |grounded| {
            let roles = grounded.program().roles.iter();
            roles.map(|role| role.moves.len()).max().unwrap_or(0)
        });
        let in_tree = matches!(
            params.heuristic,
            HeuristicUse::Tree | HeuristicUse::Combined
        );
        let tree = Tree::new(TreeOptions {
            n_roles,
            has_rave: params.rave != RaveKind::Off,
            has_priors: (params.puct > 0.0 || network.is_some()) && n_roles > 1,
            merges: params.transpositions,
            is_dense: in_tree || matches!(params.rave, RaveKind::Grave | RaveKind::Amaf),
            has_wide_moves: most_moves > 1 << 16,
        });
        let mut planner = Planner::new(&game, params, has_lanes);
        if is_alone {
            planner.use_network();
        }
        let judge = |network: Arc<Network>| {
            let judge = Judge::new(&game, params, Arc::clone(&network));
            (network, judge)
        };
        Searcher {
            params: params.clone(),
            tree,
            root: None,
            select: Select::new(params, n_roles, network.is_some()),
            network: network.map(judge),
            solver: Solver::new(n_roles, is_mirrored),
            best_line: BestLine::default(),
            planner,
            policy: None,
            next_update: 0,
            in_flight: InFlight::default(),
            powers: Powers::new(discount),
            random: Random::new(seed),
            work: Work::default(),
            techniques,
            game,
        }
    }

    pub(crate) fn n_roles(&self) -> usize {
        self.tree.n_roles()
    }

    pub(crate) fn discount(&self) -> f64 {
        self.powers.discount()
    }

    /// Whether there is only one role, who need not fear anybody.
    pub(crate) fn is_puzzle(&self) -> bool {
        self.n_roles() == 1
    }

    /// A new search begins, on this number of threads.
    pub(crate) fn begin_search(&mut self, n_threads: usize) {
        self.work = Work {
            sums: vec![0.0; self.n_roles()],
            ..Work::default()
        };
        self.next_update = FIRST_UPDATE;
        self.planner.begin_search(n_threads);
        if let Some(heuristic) = &mut self.techniques.heuristic {
            heuristic.begin_search();
        }
    }

    /// Puts the root at this state at this depth: where it is already, or in a new tree.
    pub(crate) fn come_to(&mut self, walker: &mut Walker, state: &State, depth: u32) -> NodeId {
        if let Some(root) = self
            .root
            .filter(|&root| self.tree.state(root) == state.words())
        {
            return root;
        }
        self.clear();
        walker.load(state);
        let roles = RoleId::all(self.n_roles());
        let legal: Vec<Vec<MoveId>> = roles
            .map(|role| walker.legal_moves(role).to_vec())
            .collect();
        let moves = |role: usize| &legal[role][..];
        let (root, _) = self.tree.get_or_insert(state.words(), depth, Some(&moves));
        if let Some((_, judge)) = &mut self.network {
            let priors = judge.priors(state.words(), &legal);
            for (role, priors) in priors.iter().enumerate() {
                self.tree.priors_mut(root, role).copy_from_slice(priors);
            }
        }
        self.root = Some(root);
        root
    }

    /// Looks at all moves of the one role that chooses at the root: ends of the match become nodes, so that a win at once is
    /// never missed for a longer one. Returns the number of states that were looked at.
    pub(crate) fn look_ahead(&mut self, walker: &mut Walker) -> u64 {
        let mover = self.root.and_then(|root| self.tree.mover(root));
        let (Some(root), Some(mover)) = (self.root, mover.filter(|_| self.params.solver)) else {
            return 0;
        };
        let words = self.tree.state(root).to_vec();
        let depth = self.tree.node(root).depth + 1;
        let moves: Vec<MoveId> = self.tree.legal_moves(root, mover).collect();
        let mut joint: Vec<MoveId> = (0..self.n_roles())
            .map(|role| self.tree.legal(root, role, 0))
            .collect();
        let mut slots = vec![0; self.n_roles()];
        for &mv in &moves {
            joint[mover] = mv;
            walker.load_words(&words);
            walker.advance(&JointMove::new(joint.iter().copied()));
            if !walker.is_terminal() || self.tree.child_by(root, &joint) != NodeId::NONE {
                continue;
            }
            let mut worth: Vec<f64> = RoleId::all(self.n_roles())
                .map(|role| f64::from(walker.goal(role).map_or(0, Goal::value)))
                .collect();
            weigh(self.params.values, &mut worth);
            if self.is_puzzle() {
                self.best_line.offer(worth[0], &[mv]);
            }
            let mut legal = self.tree.legal_moves(root, mover);
            let slot = legal.position(|legal| legal == mv).unwrap_or(0);
            drop(legal);
            slots[mover] = self.tree.try_move(root, mover, slot) as u32;
            let (end, _) = self.tree.get_or_insert(walker.words(), depth, None);
            for (role, &worth) in worth.iter().enumerate() {
                self.tree.set_bounds(end, role, Bounds::exactly(worth));
            }
            self.tree.link(root, &slots, end);
        }
        self.solver.update(&mut self.tree, root);
        moves.len() as u64
    }

    /// Forgets the tree.
    pub(crate) fn clear(&mut self) {
        self.tree.clear();
        self.root = None;
        self.nodes_moved();
    }

    /// Keeps what is below a node.
    pub(crate) fn keep_below(&mut self, node: NodeId) {
        self.root = Some(self.tree.keep_below(node));
        self.nodes_moved();
    }

    /// Drops nodes with few visits if memory has run out.
    pub(crate) fn trim(&mut self) {
        let most_bytes = self.params.memory as usize * 1_000_000;
        if let Some(root) = self.root.filter(|_| self.tree.bytes() > most_bytes) {
            self.root = Some(self.tree.trim(root, most_bytes));
            self.nodes_moved();
            self.work.trims += 1;
        }
    }

    fn nodes_moved(&mut self) {
        if let Some(heuristic) = &mut self.techniques.heuristic {
            heuristic.forget_nodes();
        }
    }

    /// Whether simulations must pause: nothing is left to think about, or memory has run out.
    pub(crate) fn must_pause(&self, role: RoleId) -> bool {
        self.is_decided(role) || self.tree.bytes() > self.params.memory as usize * 1_000_000
    }

    /// Whether there is nothing left to think about for a role.
    pub(crate) fn is_decided(&self, role: RoleId) -> bool {
        let Some(root) = self.root else {
            return false;
        };
        let bounds = self.tree.bounds(root, role.idx());
        if self.is_puzzle() {
            let best = self.best_line.get();
            return best.is_some_and(|(value, _)| value >= bounds.high_value());
        }
        self.params.solver && (bounds.is_exact() || self.is_only_way(root, role))
    }

    /// Whether one move of a role, which alone chooses, is surely no worse than all others.
    fn is_only_way(&self, root: NodeId, role: RoleId) -> bool {
        let role = role.idx();
        let span = self.tree.span(root, role);
        if self.tree.mover(root) != Some(role) || span.has_untried() {
            return false;
        }
        let edges = self.tree.edges(root, role);
        let mut open = (0..edges.len()).filter(|&slot| !edges[slot].is_closed());
        let (Some(open), None) = (open.next(), open.next()) else {
            return false;
        };
        let bounds = |slot| self.solver.bounds_of(&self.tree, root, role, slot);
        let sure = bounds(open).low;
        edges[open].visits > 0
            && (0..edges.len()).all(|slot| slot == open || bounds(slot).high <= sure)
    }

    /// What a thread is given next.
    pub(crate) fn plan(&self, meter: &Meter<'_>, until: u64, own: Load, all: Load) -> Option<Plan> {
        let n_nodes = match self.techniques.cutoff.as_ref() {
            // Natural simulations are watched one by one.
            Some(cutoff) if cutoff.is_watching() => 0,
            _ => self.tree.n_nodes(),
        };
        self.planner.plan(n_nodes, meter, until, own, all)
    }

    /// How playouts choose, renewed now and then.
    pub(crate) fn policy(&mut self, n_playouts: u64) -> Option<Arc<PolicyUpdate>> {
        if n_playouts >= self.next_update {
            self.next_update = n_playouts + (n_playouts / UPDATE_SHARE).max(FIRST_UPDATE);
            if let Some(rave) = &mut self.techniques.rave {
                rave.fit(&self.tree);
            }
            let cost = self.planner.cost();
            if let Some(heuristic) = &mut self.techniques.heuristic {
                heuristic.compare(cost);
            }
            self.renew_policy();
        }
        self.policy.clone()
    }

    fn renew_policy(&mut self) {
        let Some(grounded) = self.game.grounded() else {
            return;
        };
        let roles = grounded.program().roles.iter();
        let n_moves: Vec<usize> = roles.map(|role| role.moves.len()).collect();
        let Some(policy) = for_lanes(&self.techniques, &n_moves) else {
            return;
        };
        let choosing = policy.into_choosing(Rule::new(&self.params), &mut self.random);
        self.select.learn(&choosing);
        let fast = self.techniques.fast.as_ref();
        self.policy = Some(Arc::new(PolicyUpdate {
            choosing,
            replay_one_in: fast.map_or(u32::MAX, Fast::one_in),
        }));
    }

    /// Step 1. Selects leaves by a plan. What is settled is backed up at once.
    pub(crate) fn select_leaves(
        &mut self,
        orders: &mut Orders,
        plan: Plan,
        worker: u32,
        meter: &mut Meter<'_>,
    ) -> Load {
        orders.clear();
        let Some(root) = self.root else {
            return Load::default();
        };
        self.work.tree_time.start(true);
        self.work.batches += 1;
        let fast = self.techniques.fast.as_ref();
        orders.is_whole = fast.is_some_and(|fast| fast.wants_whole(self.work.batches));
        orders.cut = self.techniques.cutoff.as_ref().and_then(Cutoff::cut_at);
        let mut load = Load::default();
        for _ in 0..plan.n_leaves {
            match self.descend(root) {
                Some(settled) => self.back_up_settled(settled, plan.n_playouts, meter),
                None => {
                    self.order(orders, plan, worker);
                    load.leaves += 1;
                    load.playouts += u64::from(plan.n_playouts);
                }
            }
            if self.params.solver && self.solver.is_settled(&self.tree, root) {
                break;
            }
        }
        self.work.tree_time.stop();
        load
    }

    /// Walks down the tree, to a state that is settled or out of it.
    fn descend(&mut self, root: NodeId) -> Option<NodeId> {
        let n_roles = self.n_roles();
        let mut way = std::mem::take(&mut self.in_flight.way);
        way.clear();
        let mut node = root;
        let settled = loop {
            if self.solver.is_settled(&self.tree, node) {
                break Some(node);
            }
            self.tree.prefetch_moves(node);
            self.select.stand(&mut self.tree, node, node == root);
            let start = way.slots.len();
            for role in 0..n_roles {
                let mut slot = 0;
                if self.tree.has_choice(node, role) {
                    let record = &way.record[..start];
                    let techniques = &mut self.techniques;
                    slot = self.select.choose(
                        &self.tree,
                        node,
                        role,
                        techniques,
                        record,
                        &mut self.random,
                    );
                    slot = self.tree.try_move(node, role, slot);
                }
                way.slots.push(slot as u32);
                way.record.push(self.tree.legal(node, role, slot));
            }
            way.nodes.push(node);
            let child = self.tree.child(node, &way.slots[start..]);
            if child == NodeId::NONE {
                break None;
            }
            node = child;
        };
        self.work.levels += way.nodes.len() as u64;
        self.work.descents += 1;
        self.work.deepest = self.work.deepest.max(way.nodes.len() as u32);
        self.in_flight.way = way;
        settled
    }

    /// The way at hand goes into simulation.
    fn order(&mut self, orders: &mut Orders, plan: Plan, worker: u32) {
        let n_roles = self.n_roles();
        let ticket = match self.in_flight.free.pop() {
            Some(idx) => idx,
            None => {
                self.in_flight.all.push(OneInFlight::default());
                self.in_flight.all.len() as u32 - 1
            }
        };
        let simulation = &mut self.in_flight.all[ticket as usize];
        simulation.is_used = true;
        simulation.n_playouts = plan.n_playouts;
        simulation.visits = self.planner.visits(plan.n_playouts);
        simulation.worker = worker;
        std::mem::swap(&mut simulation.way, &mut self.in_flight.way);
        let way = &simulation.way;
        mark(&mut self.tree, way, simulation.visits.cast_signed());
        let last = way.nodes[way.nodes.len() - 1];
        orders.parents.extend_from_slice(self.tree.state(last));
        let first_of_last = way.record.len() - n_roles;
        orders.moves.extend_from_slice(&way.record[first_of_last..]);
        if plan.place == Place::OneByOne {
            orders.record.extend_from_slice(&way.record);
            if self.techniques.all().any(Technique::wants_states) {
                for &node in &way.nodes {
                    orders.path_words.extend_from_slice(self.tree.state(node));
                    orders.path_ends.push(orders.path_words.len() as u32);
                }
            }
            self.work.one_by_one += 1;
        } else {
            self.work.in_lanes += 1;
        }
        orders.leaves.push(Order {
            ticket: Ticket(ticket),
            n_playouts: plan.n_playouts,
            depth: self.tree.node(last).depth,
            parent_end: orders.parents.len() as u32,
            record_end: orders.record.len() as u32,
            path_end: orders.path_ends.len() as u32,
        });
    }

    /// What is in flight does not come back: everything, or what one worker had.
    pub(crate) fn abandon(&mut self, worker: Option<u32>) {
        for (ticket, simulation) in self.in_flight.all.iter_mut().enumerate() {
            if simulation.is_used && worker.is_none_or(|worker| worker == simulation.worker) {
                simulation.is_used = false;
                mark(
                    &mut self.tree,
                    &simulation.way,
                    -simulation.visits.cast_signed(),
                );
                self.in_flight.free.push(ticket as u32);
            }
        }
    }

    /// Whether some simulations have not come back.
    #[cfg(test)]
    pub(crate) fn has_in_flight(&self) -> bool {
        let edges = |node: NodeId| {
            (0..self.n_roles()).flat_map(move |role| self.tree.edges(node, role).iter())
        };
        let is_marked = |node: NodeId| edges(node).any(|edge| edge.in_flight > 0);
        let mut all = self.in_flight.all.iter();
        all.any(|simulation| simulation.is_used) || self.tree.ids().any(is_marked)
    }
}

/// Visits go into flight along a way, or are taken back.
fn mark(tree: &mut Tree, way: &Way, n: i32) {
    let n_roles = tree.n_roles();
    for (level, &node) in way.nodes.iter().enumerate() {
        let visits = &mut tree.node_mut(node).visits;
        *visits = visits.wrapping_add_signed(n);
        for role in 0..n_roles {
            if tree.has_choice(node, role) {
                let slot = way.slots[level * n_roles + role] as usize;
                let in_flight = &mut tree.edges_mut(node, role)[slot].in_flight;
                *in_flight = in_flight.wrapping_add_signed(n);
            }
        }
    }
}
