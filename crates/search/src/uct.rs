//! UCT search for any number of roles, with simultaneous moves: the loop.
//!
//! Each node keeps visits and a mean per role and move; every role picks its own move, and the picks form the joint move
//! that leads to the child. A simulation walks down the tree, steps out of it, adds the state it comes to, plays to the end
//! and is backed up along its way. Values are goals 0 to 100 of each role, or differences of goals with two roles; nobody is
//! assumed to want anything but its own value.
//!
//! The tree is walked without the engine: a state is loaded where the tree is left. The tree is kept from move to move, and
//! what the match has left behind is dropped.
//!
//! In: a state, a role, limits; how the match goes on. Out: a decision, and an account of how it came about.
//! Not here: formulas (`select`), playout policies (`mast`), proofs (`solve`), how a finished search picks its
//! move (`decide`), each technique of the papers in a file of its own.
//!
//! - Kocsis and Szepesvári 2006, Bandit based Monte-Carlo Planning (UCT)
//! - Coulom 2006, Efficient Selectivity and Backup Operators (one new node per simulation)
//! - Finnsson and Björnsson 2008, Simulation-Based Approach to General Game Playing
//! - Méhat and Cazenave 2008, Monte-Carlo Tree Search for General Game Playing

use std::sync::Arc;
use std::time::Duration;

use agon_engine::lanes::Choosing;
use agon_engine::network::Network;
use agon_engine::{Game, JointMove, MoveId, RoleId, State};

use crate::bot::Bot;
use crate::bots::at_once;
use crate::cutoff::Cutoff;
use crate::decision::Decision;
use crate::heuristic::Heuristic;
use crate::limits::{Limits, Meter, StopReason, Stopwatch};
use crate::mast::Mast;
use crate::params::{Params, PlayoutKind, RaveKind, Values};
use crate::pilot::Lesson;
use crate::puzzle::BestLine;
use crate::random::Random;
use crate::rave::Seen;
use crate::report::{Account, Listener, Report};
use crate::select::Select;
use crate::solve::{Bounds, Solver};
use crate::sweep::Sweep;
use crate::tree::{NodeId, Tree};
use crate::trial::{Trial, trial};
use crate::walker::Walker;
use crate::workers::{Crew, Worker, next_lesson};

/// A sweep goes on for at least so many transitions at a time.
const LEAST_EFFORT: u64 = 32;
/// After so many simulations one by one k of RAVE is fitted again.
const FITTED: u64 = 2048;
/// One simulation in so many is timed.
const TIMED: u64 = 32;

/// A bot that searches a tree.
pub struct UctBot {
    // Constant during a match.
    pub(crate) game: Arc<Game>,
    pub(crate) seed: u64,
    pub(crate) params: Params,
    pub(crate) n_roles: usize,
    pub(crate) discount: f64,
    most_bytes: usize,
    // What was learned.
    pub(crate) tree: Tree,
    pub(crate) root: Option<NodeId>,
    pub(crate) mast: Option<Mast>,
    pub(crate) heuristic: Option<Heuristic>,
    pub(crate) trial: Option<Trial>,
    pub(crate) cutoff: Option<Cutoff>,
    pub(crate) solver: Solver,
    pub(crate) best_line: BestLine,
    pub(crate) sweep: Option<Sweep>,
    /// Simulations of this search after which selection is told how playouts choose.
    pub(crate) next_lesson: u64,
    /// Threads of the search at hand.
    pub(crate) n_threads: usize,
    /// Steps of the match so far, and the state that the last one led to.
    pub(crate) depth: u32,
    last: Option<State>,
    // Changed by each simulation.
    pub(crate) walker: Walker,
    /// Walks in its place in playouts in which wins at once are made and prevented.
    pub(crate) decisive: Option<Walker>,
    pub(crate) select: Select,
    pub(crate) seen: Option<Seen>,
    pub(crate) path: Path,
    /// The moves of the whole simulation, step by step, in the order of the roles.
    pub(crate) record: Vec<MoveId>,
    pub(crate) joint: JointMove,
    /// What the simulation is worth to each role.
    pub(crate) values: Vec<f64>,
    /// Powers of the discount.
    pub(crate) powers: Vec<f64>,
    pub(crate) random: Random,
    // For many simulations at once.
    pub(crate) crew: Crew,
    pub(crate) workers: Vec<Worker>,
    pub(crate) n_lost_workers: u64,
    /// Steps of all playouts that flew in this match, and how many these were.
    pub(crate) lengths: (u64, u64),
    /// Moves of the role that has most, in all leaves of this match, and how many these were.
    pub(crate) breadths: (u64, u64),
    /// Gates that a step of a playout takes.
    pub(crate) gates_per_step: u64,
    /// Moves that a role can ever have, on average.
    pub(crate) moves_per_role: u64,
    // What it took.
    pub(crate) work: Work,
}

/// The part of a simulation that lies in the tree.
#[derive(Default)]
pub(crate) struct Path {
    pub(crate) nodes: Vec<NodeId>,
    /// Per node and role: the edge.
    pub(crate) edges: Vec<u32>,
}

/// Counts of one think.
#[derive(Clone, Default)]
pub(crate) struct Work {
    pub(crate) simulations: u64,
    pub(crate) n_batches: u64,
    /// Steps within the tree, of all simulations and of those that were timed.
    pub(crate) levels: u64,
    pub(crate) timed_levels: u64,
    /// Ways down the tree: simulations may share one.
    pub(crate) descents: u64,
    pub(crate) deepest: u32,
    pub(crate) playout_steps: u64,
    pub(crate) cuts: u64,
    pub(crate) trims: u64,
    pub(crate) proofs: u64,
    pub(crate) watch: Stopwatch,
    pub(crate) time: Duration,
}

impl Work {
    /// Nanoseconds of selection, expansion and backing up per level of the tree.
    pub(crate) fn ns_per_level(&self) -> Option<f64> {
        let levels = self.timed_levels;
        (levels > 0).then(|| self.watch.total().as_nanos() as f64 / levels as f64)
    }
}

impl UctBot {
    /// A bot for this game.
    #[must_use]
    pub fn new(game: Arc<Game>, params: &Params, seed: u64) -> UctBot {
        let n_roles = game.n_roles();
        let trial = trial(&game, params, seed);
        let params = &Params {
            heuristic: trial.as_ref().map_or(params.heuristic, |of| of.heuristic),
            ..params.clone()
        };
        let has_later = params.rave != RaveKind::Off;
        let is_mirrored = n_roles == 2 && params.values == Values::Difference;
        let discount = if n_roles == 1 { 1.0 } else { params.discount };
        // Lanes take a while to get ready; now is the time for it.
        let mast = (params.playout != PlayoutKind::Uniform).then(|| Mast::of_game(params, &game));
        let heuristic = Heuristic::new(&game, params);
        let (of_mast, of_rules) = (mast.as_ref(), heuristic.as_ref());
        let crew = Crew::new(&game, params, of_mast, of_rules);
        let worker = || crew.worker(&game, params, of_mast, of_rules, (discount, seed), true);
        let first = (crew == Crew::Lanes).then(worker);
        let gates_per_step = game.grounded().map_or(0, |grounded| {
            let networks = &grounded.optimized().networks;
            let n_gates: usize = networks.iter().map(Network::n_gates).sum();
            (n_gates / networks.len().max(1)) as u64
        });
        let moves_per_role = game.grounded().map_or(0, |grounded| {
            let roles = &grounded.program().roles;
            let n_moves: usize = roles.iter().map(|role| role.moves.len()).sum();
            (n_moves / roles.len().max(1)) as u64
        });
        // PUCT keeps the policy there.
        let has_room = has_later || params.puct > 0.0;
        let mut tree = Tree::new(n_roles, has_room, params.transpositions);
        tree.set_virtual_loss(params.virtual_loss);
        UctBot {
            params: params.clone(),
            n_roles,
            discount,
            seed,
            most_bytes: params.memory as usize * 1_000_000,
            tree,
            root: None,
            mast,
            heuristic,
            trial,
            cutoff: params.cutoff.then(|| Cutoff::new(params, n_roles)),
            solver: Solver::new(n_roles, is_mirrored),
            best_line: BestLine::default(),
            sweep: (n_roles == 1 && params.sweep).then(|| Sweep::new(&game, seed)),
            next_lesson: 0,
            n_threads: 1,
            depth: 0,
            last: None,
            walker: Walker::new(&game),
            decisive: params.decisive.then(|| Walker::decisive(&game)).flatten(),
            select: Select::new(params, n_roles),
            seen: has_later.then(|| Seen::new(n_roles)),
            path: Path::default(),
            record: Vec::new(),
            joint: JointMove::new((0..n_roles).map(|_| MoveId(0))),
            values: vec![0.0; n_roles],
            powers: vec![1.0],
            random: Random::new(seed),
            crew,
            workers: first.flatten().into_iter().collect(),
            n_lost_workers: 0,
            lengths: (0, 0),
            breadths: (0, 0),
            gates_per_step,
            moves_per_role,
            work: Work::default(),
            game,
        }
    }

    /// Whether there is only one role, who need not fear anybody.
    pub(crate) fn is_puzzle(&self) -> bool {
        self.n_roles == 1
    }

    pub(crate) fn role_name(&self, role: RoleId) -> String {
        self.game.role_name(role)
    }

    /// Puts the root at this state: where it is already, or in a new tree.
    fn come_to(&mut self, state: &State) -> NodeId {
        match self.root {
            Some(root) if self.tree.node(root).state == *state => root,
            _ => {
                self.tree.clear();
                // A line may lead on where the tree does not.
                if self.last.as_ref() != Some(state) {
                    self.best_line.clear();
                }
                self.walker.load(state);
                let (root, _) = self.enter(self.depth);
                self.root = Some(root);
                root
            }
        }
    }

    /// The node of the state that the walker is in, and whether it is new.
    fn enter(&mut self, depth: u32) -> (NodeId, bool) {
        let words = self.walker.words();
        let hash = Tree::hash(words, depth);
        if let Some(node) = self.tree.find(hash, words, depth) {
            return (node, false);
        }
        let node = self.tree.add_node(hash, self.walker.state(), depth);
        let mut is_end = self.walker.is_terminal();
        for role in RoleId::all(self.n_roles) {
            if is_end {
                break;
            }
            let moves = self.walker.legal_moves(role);
            is_end = moves.is_empty();
            self.tree.add_moves(moves);
        }
        if is_end {
            self.tree.end_node();
            self.read_goals();
            for role in 0..self.n_roles {
                let bounds = Bounds::exactly(self.values[role]);
                self.tree.set_bounds(node, role, bounds);
            }
        }
        (node, true)
    }

    /// One simulation. `None` if a limit came first; nothing is learned from it then.
    fn simulate(&mut self, root: NodeId, role: RoleId, meter: &mut Meter<'_>) -> Option<()> {
        let is_timed = self.work.simulations.is_multiple_of(TIMED);
        if self.work.simulations.is_multiple_of(FITTED) {
            self.select.fit(&self.tree, self.n_roles);
        }
        if self.work.simulations >= self.next_lesson && self.select.puct.is_some() {
            self.next_lesson = next_lesson(self.work.simulations);
            let _ = self.choosing();
        }
        if self.work.simulations.is_power_of_two() {
            let cost = self.cost();
            self.heuristic.iter_mut().for_each(|of| of.compare(cost));
        }
        let n_before = meter.n_transitions();
        self.work.watch.start(is_timed);
        self.path.nodes.clear();
        self.path.edges.clear();
        self.record.clear();
        let mut node = root;
        let is_proven = loop {
            // Step 1. Select, as long as the tree goes on and has something to tell.
            if self.solver.is_settled(&self.tree, node) {
                self.work.watch.stop();
                for role in 0..self.n_roles {
                    self.values[role] = self.tree.bounds(node, role).low_value();
                }
                self.watch_path(root, role, self.path.nodes.len());
                self.end_watched();
                self.show_path(Some(node));
                break true;
            }
            let edges = self.choose(node);
            let child = self.tree.child(node, &self.path.edges[edges..]);
            if child != NodeId::NONE {
                node = child;
                continue;
            }
            // Step 2. Expand: step out of the tree, to a state that is new or known from another way.
            self.work.watch.stop();
            let depth = self.tree.node(node).depth + 1;
            self.walker.load(&self.tree.node(node).state);
            self.walker.advance(&self.joint);
            meter.count_transition();
            let (child, is_new) = self.enter(depth);
            self.work.watch.start(is_timed);
            self.tree.link(node, &self.path.edges[edges..], child);
            node = child;
            if !is_new || self.tree.node(node).is_terminal {
                continue;
            }
            // Step 3. Play out from the new node, whose first move is learned too.
            self.choose_first(node);
            self.work.watch.stop();
            self.play_out(root, role, meter)?;
            break false;
        };
        // Step 4. Back up.
        self.back_up(is_timed);
        if is_proven && self.params.solver {
            self.prove();
        }
        if meter.n_transitions() == n_before {
            // Or a limit in transitions would never come once the rest of the match is all in the tree.
            meter.count_transition();
        }
        self.work.simulations += 1;
        meter.count_playout();
        Some(())
    }

    /// Chooses a joint move in a node and goes along; tells where its edges begin in the path.
    #[inline]
    pub(crate) fn choose(&mut self, node: NodeId) -> usize {
        let start = self.path.edges.len();
        let is_root = self.path.nodes.is_empty();
        self.select.refer(&self.tree, node, is_root);
        self.select.stand(&mut self.tree, node, self.n_roles);
        if let (Some(mast), false) = (&mut self.mast, self.select.is_led()) {
            mast.stand(self.tree.node(node).state.words(), &self.record);
        }
        for role in 0..self.n_roles {
            let mast = self.mast.as_mut();
            let heuristic = self.heuristic.as_mut();
            let prior = heuristic.and_then(|of| of.prior(&self.tree, node, role));
            let edge = self
                .select
                .choose(&self.tree, node, role, mast, prior, &mut self.random);
            let of = self.tree.edge(edge).of;
            self.path.edges.push(edge as u32);
            self.record.push(of);
            self.joint.moves_mut()[role] = of;
        }
        self.path.nodes.push(node);
        start
    }

    /// Chooses the first joint move of a playout, in a new node that the walker is in: as any move of a node that was never
    /// tried, but where wins at once are made and prevented there too.
    fn choose_first(&mut self, node: NodeId) {
        let Some(decisive) = &mut self.decisive else {
            self.choose(node);
            return;
        };
        decisive.load(&self.tree.node(node).state);
        let first = self.record.len();
        self.change_walkers();
        assert!(self.sample(), "everybody has a move in a node that goes on");
        self.change_walkers();
        for role in 0..self.n_roles {
            let edge = self.tree.edge_of(node, role, self.record[first + role]);
            let edge = edge.expect("a new node has all legal moves");
            self.path.edges.push(edge as u32);
        }
        self.path.nodes.push(node);
    }

    /// The walker of decisive playouts takes the place of the other one, or gives it back.
    #[inline]
    pub(crate) fn change_walkers(&mut self) {
        if let Some(decisive) = &mut self.decisive {
            std::mem::swap(&mut self.walker, decisive);
        }
    }

    /// Backs up what is proven, as far as it proves something new.
    fn prove(&mut self) {
        for level in (0..self.path.nodes.len()).rev() {
            if !self.solver.update(&mut self.tree, self.path.nodes[level]) {
                break;
            }
            self.work.proofs += 1;
        }
    }

    /// Whether there is nothing left to think about for a role.
    fn is_decided(&self, root: NodeId, role: RoleId) -> bool {
        let bounds = self.tree.bounds(root, role.idx());
        if self.is_puzzle() {
            let best = self.best_line.get();
            return best.is_some_and(|(value, _)| value >= bounds.high_value());
        }
        self.params.solver && (bounds.is_exact() || self.is_only_way(root, role))
    }

    /// Whether simulations must pause: nothing is left to think about, or memory has run out.
    pub(crate) fn must_pause(&self, root: NodeId, role: RoleId) -> bool {
        self.is_decided(root, role) || self.tree.bytes() > self.most_bytes
    }

    /// What those who play elsewhere must know; `None` if nothing.
    pub(crate) fn lesson(&mut self) -> Option<Lesson> {
        if self.crew == Crew::Scalar {
            let learned = (self.mast.clone(), self.cutoff.clone());
            return Some(Lesson::Learned(Box::new(learned)));
        }
        self.choosing().map(Lesson::Choosing)
    }

    /// How playouts choose by what they have learned, which selection is told too.
    fn choosing(&mut self) -> Option<Choosing> {
        let roles = &self.game.grounded()?.program().roles;
        let n_moves: Vec<usize> = roles.iter().map(|role| role.moves.len()).collect();
        let choosing = (self.mast.as_ref()?).choosing(&n_moves, &mut self.random);
        if let Some(puct) = &mut self.select.puct {
            puct.learn(&choosing);
        }
        Some(choosing)
    }

    /// Whether one move of a role, which alone chooses, is surely no worse than all others.
    fn is_only_way(&self, root: NodeId, role: RoleId) -> bool {
        if self.tree.mover(root) != Some(role.idx()) {
            return false;
        }
        let edges = self.tree.span(root, role.idx());
        let mut open = edges
            .clone()
            .filter(|&edge| !self.tree.edge(edge).is_closed());
        let (Some(open), None) = (open.next(), open.next()) else {
            return false;
        };
        let bounds = |edge| self.solver.bounds_of(&self.tree, root, role.idx(), edge);
        let sure = bounds(open).low;
        self.tree.edge(open).visits > 0
            && edges
                .into_iter()
                .all(|edge| edge == open || bounds(edge).high <= sure)
    }

    /// How the search goes; simulations in flight count as visits, and as lost in part.
    pub(crate) fn report(
        &self,
        role: RoleId,
        meter: &Meter<'_>,
        stop: Option<StopReason>,
    ) -> Report {
        let moves = self.weighed(role);
        let best = moves.first().filter(|best| best.visits > 0);
        let line = self.best_line.get().filter(|_| self.is_puzzle());
        Report {
            playouts: meter.n_playouts(),
            transitions: meter.n_transitions(),
            time: meter.elapsed(),
            value: line.map(|(value, _)| value).or(best.map(|best| best.mean)),
            moves,
            stop,
        }
    }
}

impl Bot for UctBot {
    fn think(
        &mut self,
        state: &State,
        role: RoleId,
        limits: &Limits,
        watch: &mut dyn FnMut(&Report),
    ) -> Decision {
        let mut meter = Meter::start(limits);
        self.work = Work::default();
        if let Some(heuristic) = &mut self.heuristic {
            heuristic.begin();
        }
        self.walker.load(state);
        let moves = self.walker.legal_moves(role);
        assert!(!moves.is_empty(), "a role that is asked has a legal move");
        // Whoever only thinks until it is told to stop uses the time of others, and its own choice is not what counts.
        if let ([only], false) = (moves, limits.is_told_only()) {
            return at_once(*only, &meter, StopReason::OnlyMove);
        }
        let mut root = self.come_to(state);
        if let Some(sweep) = &mut self.sweep {
            sweep.come_to(state);
        }
        self.brief(limits);
        let mut listener = Listener::new(watch);
        let stop = loop {
            if let Some(stop) = meter.stop() {
                break stop;
            }
            if self.is_decided(root, role) {
                break StopReason::Proven;
            }
            // Many at once where that pays; one that was broken off is found by the limit that broke it.
            let before = meter.n_transitions();
            let left = meter.playouts_left().unwrap_or(u64::MAX);
            // A sweep takes turns with them.
            let until = self.sweep.as_ref().map_or(u64::MAX, |_| listener.next);
            let most = left.min(until.saturating_sub(meter.n_playouts()));
            if self.flies() && self.plan(&meter, most, 0).is_some() {
                self.fly_on(root, role, limits, &mut meter, &mut listener, until);
            } else {
                let _ = self.simulate(root, role, &mut meter);
            }
            if let Some(sweep) = &mut self.sweep {
                // Simulations that end in the tree cost nothing, but the sweep should go on.
                let effort = (meter.n_transitions() - before).max(LEAST_EFFORT);
                if let Some((value, line)) = sweep.go_on(effort, &mut meter) {
                    self.best_line.offer(value, &line);
                }
            }
            if self.tree.bytes() > self.most_bytes {
                root = self.tree.trim(root, self.most_bytes);
                self.root = Some(root);
                self.work.trims += 1;
            }
            listener.tell(meter.n_playouts(), || self.report(role, &meter, None));
        };
        self.work.time = meter.elapsed();
        Decision {
            of: self.decide(root, role),
            report: self.report(role, &meter, Some(stop)),
        }
    }

    fn played(&mut self, joint: &JointMove, next: &State) {
        self.depth += 1;
        if self.is_puzzle() {
            self.last = Some(next.clone());
            self.best_line.follow(joint.of(RoleId(0)));
        }
        if let Some(mast) = &mut self.mast {
            mast.decay();
        }
        let child = self.root.filter(|_| self.params.keep_tree);
        let child = child.and_then(|root| self.child_by(root, joint));
        self.root = child.filter(|&child| self.tree.node(child).state == *next);
        match self.root {
            Some(child) => self.root = Some(self.tree.keep_below(child)),
            None => self.tree.clear(),
        }
    }

    fn account(&mut self) -> Option<Account> {
        self.root.map(|root| self.account_of(root))
    }
}

impl UctBot {
    /// The child of a node by a joint move, if it is in the tree.
    fn child_by(&self, node: NodeId, joint: &JointMove) -> Option<NodeId> {
        let mut edges = Vec::with_capacity(self.n_roles);
        for (role, &of) in joint.moves().iter().enumerate() {
            let span = self.tree.span(node, role);
            let at = self
                .tree
                .edges(span.clone())
                .iter()
                .position(|edge| edge.of == of)?;
            edges.push((span.start + at) as u32);
        }
        let child = self.tree.child(node, &edges);
        (child != NodeId::NONE).then_some(child)
    }
}
