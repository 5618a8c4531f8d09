//! A bot that searches a tree, from move to move.
//!
//! It keeps what the search has learned as the match goes on, and drops what the match has left behind. In single-player
//! games a sweep takes turns with simulations, and the best line is followed.
//!
//! In: a state, a role, limits; how the match goes on. Out: a decision, and an account of how it came about.

use std::sync::Arc;
use std::thread;

use agon_engine::lanes::{Ending as LanesEnding, Finished, Job, LanesOptions, Until};
use agon_engine::{Game, JointMove, RoleId, State};

use crate::account::{Account, NetworkAccount, TechniqueAccount};
use crate::bot::Bot;
use crate::decide::Decider;
use crate::decision::Decision;
use crate::limits::{Limits, Meter, StopReason};
use crate::model::Network;
use crate::params::Params;
use crate::pool::{Pool, Task};
use crate::report::{Listener, Report};
use crate::searcher::Searcher;
use crate::sweep::Sweep;
use crate::techniques::{Ending, Technique};
use crate::value::Count;
use crate::walker::Walker;

/// A sweep goes on for at least this number of transitions at a time.
const LEAST_EFFORT: u64 = 32;

/// A bot that searches a tree.
pub struct UctBot {
    pub(crate) searcher: Searcher,
    pub(crate) pool: Pool,
    pub(crate) decider: Decider,
    pub(crate) sweep: Option<Sweep>,
    walker: Walker,
    /// Where its network comes from, if that is to be told.
    network: Option<NetworkAccount>,
    /// Steps of the match so far, and the state that the last one led to.
    depth: u32,
    last: Option<State>,
}

impl UctBot {
    /// A bot for this game.
    #[must_use]
    pub fn new(game: &Arc<Game>, params: &Params, seed: u64) -> UctBot {
        UctBot::with_network(game, params, None, seed)
    }

    /// A bot for this game that goes by a network of it, as its parameters say.
    #[must_use]
    pub fn with_network(
        game: &Arc<Game>,
        params: &Params,
        network: Option<Arc<Network>>,
        seed: u64,
    ) -> UctBot {
        let sweeps = game.n_roles() == 1 && params.sweep;
        let searcher = Searcher::new(Arc::clone(game), params, network, seed);
        UctBot {
            pool: Pool::new(&searcher, seed),
            searcher,
            decider: Decider::new(seed),
            sweep: sweeps.then(|| Sweep::new(game, seed)),
            walker: Walker::new(game),
            network: None,
            depth: 0,
            last: None,
        }
    }

    /// The same, which can tell where its network comes from.
    #[must_use]
    pub fn with_account(mut self, network: NetworkAccount) -> UctBot {
        self.network = Some(network);
        self
    }

    /// Threads of a search with these limits.
    fn n_threads(&self, limits: &Limits) -> usize {
        if !self.pool.can_share(&self.searcher) {
            return 1;
        }
        match self.searcher.params.threads {
            Count::Exactly(n) => n as usize,
            Count::Auto if limits.is_counted() => 1,
            Count::Auto => thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// Puts the root at this state.
    fn come_to(&mut self, state: &State) {
        // A line may lead on where the tree does not.
        let root = self.searcher.root;
        let is_here = root.is_some_and(|root| self.searcher.tree.state(root) == state.words());
        if !is_here && self.last.as_ref() != Some(state) {
            self.searcher.best_line.clear();
        }
        self.searcher.come_to(&mut self.walker, state, self.depth);
        if let Some(sweep) = &mut self.sweep {
            sweep.come_to(state);
        }
    }

    /// Looks at all moves of the root, where states are quick to look at and not counted.
    fn look_ahead(&mut self, limits: &Limits, meter: &mut Meter<'_>) {
        if limits.transitions.is_none() && self.searcher.game.grounded().is_some() {
            let n_states = self.searcher.look_ahead(&mut self.walker);
            meter.count_transitions(n_states);
        }
    }

    /// Shows natural simulations to early cutoffs, in the lanes where the game has them.
    fn watch(&mut self, state: &State, role: RoleId, limits: &Limits, meter: &mut Meter<'_>) {
        let n_wanted = match &self.searcher.techniques.cutoff {
            Some(cutoff) if self.pool.has_batches() => cutoff.n_wanted(),
            _ => 0,
        };
        // Where playouts are counted, all of them are simulations.
        if n_wanted == 0 || limits.is_counted() {
            return;
        }
        let options = LanesOptions {
            goal_trace: true,
            ..LanesOptions::default()
        };
        let Some(mut lanes) = self.searcher.game.lanes(&options) else {
            return;
        };
        lanes.submit([Job {
            n_playouts: n_wanted,
            most_steps: self.searcher.params.most_steps,
            ..Job::new(state, 0)
        }]);
        while !lanes.is_idle() {
            if limits.is_over() {
                return;
            }
            lanes.run(Until::Steps(16));
        }
        let depth = self.depth;
        let Some(cutoff) = &mut self.searcher.techniques.cutoff else {
            return;
        };
        lanes.drain(|playout: &Finished<'_>| {
            meter.count_transitions(u64::from(playout.steps()));
            cutoff.begin();
            for (at, goal) in (depth..).zip(playout.goal_trace(role)) {
                cutoff.see_goal(at, goal);
            }
            cutoff.end(&Ending {
                depth: depth + playout.steps(),
                is_natural: playout.ending() == LanesEnding::Terminal,
                is_scored: true,
                values: &[],
            });
        });
    }

    /// Thinks until a limit is reached or nothing is left to think about.
    fn simulate(
        &mut self,
        role: RoleId,
        limits: &Limits,
        meter: &mut Meter<'_>,
        listener: &mut Listener<'_>,
    ) -> StopReason {
        let n_threads = self.n_threads(limits);
        self.searcher.begin_search(n_threads);
        loop {
            if let Some(stop) = meter.stop() {
                return stop;
            }
            if self.searcher.is_decided(role) {
                return StopReason::Proven;
            }
            let before = meter.n_transitions();
            let task = Task {
                role,
                limits,
                n_threads,
                // A sweep takes turns with simulations.
                until: self.sweep.as_ref().map_or(u64::MAX, |_| listener.next),
            };
            let decider = &self.decider;
            self.pool
                .run(&mut self.searcher, &task, meter, &mut |searcher, meter| {
                    let report = || decider.report(searcher, role, meter, None);
                    listener.tell(meter.n_playouts(), report);
                });
            if let Some(sweep) = &mut self.sweep {
                // Simulations that end in the tree cost nothing, but the sweep should go on.
                let effort = (meter.n_transitions() - before).max(LEAST_EFFORT);
                if let Some((value, line)) = sweep.go_on(effort, meter) {
                    self.searcher.best_line.offer(value, &line);
                }
            }
            self.searcher.trim();
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
        self.walker.load(state);
        let moves = self.walker.legal_moves(role);
        assert!(!moves.is_empty(), "a role that is asked has a legal move");
        // A bot that only thinks until it is told to stop uses the time of others, and its own choice is not what counts.
        if let ([only], false) = (moves, limits.is_told_only()) {
            return Decision::at_once(*only, &meter, StopReason::OnlyMove);
        }
        self.come_to(state);
        self.look_ahead(limits, &mut meter);
        self.watch(state, role, limits, &mut meter);
        let mut listener = Listener::new(watch);
        let stop = self.simulate(role, limits, &mut meter, &mut listener);
        self.searcher.work.time = meter.elapsed();
        Decision {
            mv: self.decider.decide(&self.searcher, role),
            report: self
                .decider
                .report(&self.searcher, role, &meter, Some(stop)),
        }
    }

    fn played(&mut self, joint: &JointMove, next: &State) {
        self.depth += 1;
        let searcher = &mut self.searcher;
        if searcher.is_puzzle() {
            self.last = Some(next.clone());
            searcher.best_line.follow(joint.of(RoleId(0)));
        }
        searcher.techniques.all_mut().for_each(Technique::decay);
        let child = searcher.root.filter(|_| searcher.params.keep_tree);
        let child = child.map(|root| searcher.tree.child_by(root, joint.moves()));
        let is_next = |child: &_| {
            *child != crate::tree::NodeId::NONE && searcher.tree.state(*child) == next.words()
        };
        match child.filter(is_next) {
            Some(child) => searcher.keep_below(child),
            None => searcher.clear(),
        }
    }

    fn account(&self) -> Option<Account> {
        let sweep = self.sweep.as_ref();
        let mut account = self.decider.account(&self.searcher, &self.pool, sweep)?;
        let network = self.network.clone().map(TechniqueAccount::Network);
        account.techniques.extend(network);
        Some(account)
    }
}
