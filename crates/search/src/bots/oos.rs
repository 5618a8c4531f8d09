//! Online outcome sampling: Monte Carlo counterfactual regret minimisation, aimed at what the role knows now.
//!
//! Each iteration samples one history from the beginning to the end of a match for one role, the traverser. The traverser explores
//! (`EXPLORATION`), the others follow their current strategies, chance is chance. On the way back every information
//! set of the traverser learns how much better each of its moves would have been, and the average strategies of the
//! others grow. With probability `AIM` an iteration is aimed: as long as it is in the past of the match, it makes only moves that lead
//! to histories that the role believes possible. What is learned is divided by the probability with which it was sampled,
//! aimed or not, so aiming changes where the effort goes and not what is learned. Tiny games are not aimed at all. In games of two roles and constant sum the
//! average strategies converge to an equilibrium; in other games nothing is promised.
//!
//! The roles of a step choose one after the other without seeing each other, which is the same as at once. An iteration adds
//! one information set per role; after that all moves are drawn uniformly. The answer is drawn from the average strategy.
//!
//! Baselines are control variates: the estimate of a move that was not made is the mean of earlier ones, not zero.
//!
//! - Lanctot, Waugh, Zinkevich and Bowling 2009, Monte Carlo Sampling for Regret Minimization in Extensive Games
//! - Lisý, Lanctot and Bowling 2015, Online Monte Carlo Counterfactual Regret Minimization for Search in Imperfect
//!   Information Games (information-set targeting)
//! - Schmid, Burch, Lanctot, Moravčík, Kadlec and Bowling 2019, Variance Reduction in Monte Carlo Counterfactual Regret
//!   Minimization (baselines)

use std::sync::Arc;

use agon_engine::{Game, MoveId, PerceptId, RoleId};

use crate::belief::{
    Belief, BeliefAccount, BeliefSizes, HistoryId, RegretTable, Rollouts, Seat, Trie, ViewKey,
    World, normalise,
};
use crate::belief_bot::BeliefBot;
use crate::decision::Decision;
use crate::limits::{Limits, Meter, StopReason};
use crate::params::Params;
use crate::random::Random;
use crate::report::{Listener, MoveReport, Report};

/// How much of its strategy the traverser explores.
const EXPLORATION: f64 = 0.4;
/// The share of iterations that are aimed.
const AIM: f64 = 0.9;
/// In a game with no more information sets than this nothing is aimed: every iteration teaches something that matters, and searches
/// from different places of a game come to the same equilibrium, where there are several.
const FEW_SETS: usize = 100;
/// How fast baselines follow.
const BASELINE_RATE: f64 = 0.1;

/// The bot.
pub struct OosBot {
    // Constant during a match.
    n_roles: usize,
    players: Vec<RoleId>,
    // What it knows.
    belief: Belief,
    table: RegretTable,
    distribution: Vec<(MoveId, f64)>,
    /// Iterations of the whole match.
    n_iterations: u64,
    // Scratch.
    world: World,
    rollouts: Rollouts,
    random: Random,
    walk: Walk,
}

/// One iteration on its way.
#[derive(Default)]
struct Walk {
    /// Whether it is aimed.
    is_aimed: bool,
    traverser: usize,
    /// Probabilities of the history so far if it were aimed, and if not, over that of the mixture of both.
    aimed: f64,
    free: f64,
    /// Per role: the probability that the others, and chance, play like this, over that of sampling it.
    others: Vec<f64>,
    /// Per role: the probability that it plays like this, over that of sampling it.
    own: Vec<f64>,
    /// Possible histories that agree with the moves so far, as long as there are any.
    candidates: Vec<HistoryId>,
    is_out: Vec<bool>,
    entries: Vec<Entry>,
    /// Strategies of all entries, one after the other, with the places of their moves.
    strategies: Vec<f64>,
    places: Vec<usize>,
    // Scratch of one choice.
    strategy: Vec<f64>,
    sampling: Vec<f64>,
    aim: Vec<f64>,
}

/// A choice of an iteration.
struct Entry {
    kind: EntryKind,
    /// Its place among strategies, and the number of its moves.
    start: usize,
    n_moves: usize,
    /// Which of the moves was made.
    chosen: usize,
    /// The probability of sampling it there.
    sampled: f64,
    others: f64,
    own: f64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    /// At an information set in the table.
    Node { role: RoleId, node: u32 },
    /// By chance, or by a role that has left its tree: with this policy, and without anything to learn.
    Fixed,
}

impl OosBot {
    /// A bot for a role.
    pub(crate) fn new(seat: &Seat<'_>, params: &Params) -> OosBot {
        let (game, seed) = (seat.game, seat.seed);
        let world = World::at(game, seat.start);
        let n_roles = game.n_roles();
        let players = RoleId::all(n_roles).filter(|&role| !world.is_chance(role));
        OosBot {
            n_roles,
            players: players.collect(),
            belief: Belief::new(seat, BeliefSizes::DEFAULT),
            table: RegretTable::new(n_roles, (params.memory as usize) << 20),
            distribution: Vec::new(),
            n_iterations: 0,
            world,
            rollouts: Rollouts::new(game, params.most_steps, seed),
            random: Random::new(seed),
            walk: Walk::default(),
        }
    }

    /// The bot of a role after iterations from the beginning of a match on, whether the role has a choice there or not: its
    /// [`OosBot::strategy`] is that of all roles.
    #[must_use]
    pub fn trained(game: &Arc<Game>, params: &Params, seed: u64, limits: &Limits) -> OosBot {
        let world = World::new(game);
        let role = RoleId::all(game.n_roles()).find(|&role| !world.is_chance(role));
        let seat = Seat {
            game,
            role: role.unwrap_or(RoleId(0)),
            start: game.initial_state(),
            seed,
        };
        let mut bot = OosBot::new(&seat, params);
        if !bot.players.is_empty() {
            let mut meter = Meter::start(limits);
            bot.search(&[], &mut meter, &mut Listener::new(&mut |_| {}));
        }
        bot
    }

    /// Iterations so far.
    #[must_use]
    pub fn n_iterations(&self) -> u64 {
        self.n_iterations
    }

    /// The average strategy of a role at a view, over its legal moves; all alike where nothing is known.
    #[must_use]
    pub fn strategy(&self, role: RoleId, view: ViewKey, legal: &[MoveId]) -> Vec<f64> {
        let average = self.table.average(role, view, legal);
        average.unwrap_or_else(|| vec![1.0 / legal.len() as f64; legal.len()])
    }

    /// One iteration. False if a limit came first.
    fn iterate(&mut self, children: &[Vec<HistoryId>], meter: &mut Meter<'_>) -> bool {
        // Step 1. Begin.
        let traverser = self.players[(self.n_iterations % self.players.len() as u64) as usize];
        let is_aimed = self.random.unit() < AIM;
        self.walk.begin(self.n_roles, traverser, is_aimed);
        self.world.restart();
        let mut depth = 0;
        let is_small = self.table.len() <= FEW_SETS;
        let mut here = Some(HistoryId::ROOT).filter(|_| !is_small && self.belief.n_steps() > 0);
        // Step 2. Sample moves until every role has left its tree.
        while !self.walk.is_out.iter().all(|&is_out| is_out) || here.is_some() {
            if self.world.is_over() {
                break;
            }
            if meter.is_over() {
                return false;
            }
            self.walk.candidates.clear();
            if let Some(here) = here {
                self.walk
                    .candidates
                    .extend_from_slice(&children[here.idx()]);
            }
            for role in RoleId::all(self.n_roles) {
                self.choose(role, here.is_some());
            }
            self.world.step();
            meter.count_transition();
            depth += 1;
            let next = self.walk.candidates.first().copied();
            here = here.and(next).filter(|_| depth < self.belief.n_steps());
        }
        // Step 3. Play to the end.
        let mut worths = vec![0.0; self.n_roles];
        let is_played =
            self.rollouts
                .play_one(&mut self.world, &mut worths, &mut self.random, meter);
        if !is_played || self.world.has_fault() {
            return false;
        }
        // Step 4. Learn on the way back.
        self.learn(traverser, worths[traverser.idx()]);
        self.n_iterations += 1;
        true
    }

    /// Samples the move of a role.
    fn choose(&mut self, role: RoleId, is_past: bool) {
        let view = self.world.view(role);
        let is_chance = self.world.is_chance(role);
        let legal = self.world.legal(role);
        let walk = &mut self.walk;
        let n_moves = legal.len();
        let mut kind = EntryKind::Fixed;
        let start = walk.places.len();
        let mut is_leaving = is_chance;
        if !is_chance && !walk.is_out[role.idx()] && n_moves > 1 {
            match self.table.node(role, view, n_moves) {
                Some((node, is_new)) => {
                    kind = EntryKind::Node { role, node };
                    let entry = &mut self.table.nodes[node as usize];
                    for (nth, &mv) in legal.iter().enumerate() {
                        walk.places.push(entry.place(nth, mv, self.n_roles));
                    }
                    entry.current(&walk.places[start..], &mut walk.strategy);
                    is_leaving = is_new;
                }
                None => is_leaving = true,
            }
        }
        if kind == EntryKind::Fixed {
            walk.strategy.clear();
            walk.strategy.resize(n_moves, 1.0 / n_moves as f64);
            walk.places.resize(start + n_moves, 0);
        }
        walk.strategies.extend_from_slice(&walk.strategy);
        // The traverser explores.
        let explores = role.idx() == walk.traverser && kind != EntryKind::Fixed;
        let mix = if explores { EXPLORATION } else { 0.0 };
        let even = mix / n_moves as f64;
        walk.sampling.clear();
        let mixed = walk.strategy.iter().map(|share| (1.0 - mix) * share + even);
        walk.sampling.extend(mixed);
        walk.aim_at(role, legal, is_past, self.belief.trie());
        let from = match walk.is_aimed && walk.aimed > 0.0 {
            true => &walk.aim,
            false => &walk.sampling,
        };
        let chosen = self.random.by_weight(from);
        let mv = legal[chosen];
        walk.is_out[role.idx()] |= is_leaving;
        walk.make(role, is_chance, kind, start, chosen);
        if is_past {
            let trie = self.belief.trie();
            walk.candidates
                .retain(|&id| trie.moves(id)[role.idx()] == mv);
        }
        self.world.joint_mut()[role.idx()] = mv;
    }

    /// Backs up what the traverser got.
    fn learn(&mut self, traverser: RoleId, worth: f64) {
        let (walk, n_roles) = (&mut self.walk, self.n_roles);
        let weight = self.n_iterations as f64 + 1.0;
        let is_alone = self.players.len() == 1;
        let mut worth = worth;
        for entry in walk.entries.iter().rev() {
            let places = &walk.places[entry.start..entry.start + entry.n_moves];
            let strategy = &walk.strategies[entry.start..entry.start + entry.n_moves];
            let chosen_share = strategy[entry.chosen];
            let EntryKind::Node { role, node } = entry.kind else {
                // Aimed or not, chance has its own probabilities. The mean of all ends stands in for other moves.
                let ratio = chosen_share / entry.sampled;
                worth = 0.5 + ratio * (worth - 0.5);
                continue;
            };
            let node = &mut self.table.nodes[node as usize];
            let baseline = |place: usize| node.baselines[place * n_roles + traverser.idx()];
            let made = baseline(places[entry.chosen]);
            let estimate = made + (worth - made) / entry.sampled;
            let mut mean = 0.0;
            for (nth, (&place, &share)) in places.iter().zip(strategy).enumerate() {
                let value = match nth == entry.chosen {
                    true => estimate,
                    false => baseline(place),
                };
                mean += share * value;
            }
            if role == traverser {
                for (nth, &place) in places.iter().enumerate() {
                    let value = match nth == entry.chosen {
                        true => estimate,
                        false => node.baselines[place * n_roles + traverser.idx()],
                    };
                    let edge = &mut node.edges[place];
                    edge.regret = (edge.regret + entry.others * (value - mean)).max(0.0);
                }
                node.edges[places[entry.chosen]].visits += 1;
                node.visits += 1;
            }
            // A role that is alone averages its own way.
            if role != traverser || is_alone {
                for (&place, &share) in places.iter().zip(strategy) {
                    node.edges[place].average += weight * entry.own * share;
                }
            }
            let known = &mut node.baselines[places[entry.chosen] * n_roles + traverser.idx()];
            *known += BASELINE_RATE * (worth - *known);
            worth = mean;
        }
    }

    fn report(&self, legal: &[MoveId], meter: &Meter<'_>, stop: Option<StopReason>) -> Report {
        let role = self.belief.role();
        let leaf = self.belief.leaves().first();
        let view = leaf.map(|&leaf| self.belief.trie().views(leaf)[role.idx()]);
        let node = view.and_then(|view| self.table.get(role, view));
        let shares = view.map(|view| self.strategy(role, view, legal));
        let mut moves: Vec<(f64, MoveReport)> = Vec::new();
        for (&mv, share) in legal.iter().zip(shares.unwrap_or_default()) {
            let place = node.and_then(|node| node.edges.iter().position(|edge| edge.mv == mv));
            let (visits, mean) = match (node, place) {
                (Some(node), Some(place)) => (
                    node.edges[place].visits,
                    100.0 * node.baselines[place * self.n_roles + role.idx()],
                ),
                _ => (0, 0.0),
            };
            moves.push((share, MoveReport { mv, visits, mean }));
        }
        moves.sort_by(|a, b| b.0.total_cmp(&a.0));
        let value = moves.iter().map(|(share, known)| share * known.mean);
        Report {
            playouts: meter.n_playouts(),
            transitions: meter.n_transitions(),
            time: meter.elapsed(),
            value: node.map(|_| value.sum()),
            moves: moves.into_iter().map(|known| known.1).collect(),
            stop,
        }
    }

    /// Iterations until a limit is reached.
    fn search(
        &mut self,
        legal: &[MoveId],
        meter: &mut Meter<'_>,
        listener: &mut Listener<'_>,
    ) -> StopReason {
        let children = self.belief.trie().children();
        loop {
            if let Some(stop) = meter.stop() {
                return stop;
            }
            if self.iterate(&children, meter) {
                meter.count_playout();
            } else if meter.stop().is_none() {
                return StopReason::Done;
            }
            listener.tell(meter.n_playouts(), || self.report(legal, meter, None));
        }
    }
}

impl Walk {
    fn begin(&mut self, n_roles: usize, traverser: RoleId, is_aimed: bool) {
        self.is_aimed = is_aimed;
        self.traverser = traverser.idx();
        (self.aimed, self.free) = (1.0, 1.0);
        for list in [&mut self.others, &mut self.own] {
            list.clear();
            list.resize(n_roles, 1.0);
        }
        self.is_out.clear();
        self.is_out.resize(n_roles, false);
        self.entries.clear();
        self.strategies.clear();
        self.places.clear();
    }

    /// The distribution of an aimed choice: in the past of the match, only moves that lead to possible histories.
    fn aim_at(&mut self, role: RoleId, legal: &[MoveId], is_past: bool, trie: &Trie) {
        self.aim.clear();
        if !is_past {
            self.aim.extend_from_slice(&self.sampling);
            return;
        }
        if self.candidates.is_empty() {
            // Aimed iterations do not come here.
            self.aim.resize(legal.len(), 0.0);
            return;
        }
        let mut is_possible = vec![false; legal.len()];
        for &id in &self.candidates {
            let mv = trie.moves(id)[role.idx()];
            if let Some(place) = legal.iter().position(|&other| other == mv) {
                is_possible[place] = true;
            }
        }
        let mass: f64 = self
            .sampling
            .iter()
            .zip(&is_possible)
            .map(|(share, &is)| if is { *share } else { 0.0 })
            .sum();
        let n_possible = is_possible.iter().filter(|&&is| is).count().max(1);
        let shares = self.sampling.iter().zip(&is_possible);
        self.aim.extend(shares.map(|(share, &is)| match is {
            false => 0.0,
            true if mass > 0.0 => share / mass,
            true => 1.0 / n_possible as f64,
        }));
    }

    /// Takes note of a choice.
    fn make(
        &mut self,
        role: RoleId,
        is_chance: bool,
        kind: EntryKind,
        start: usize,
        chosen: usize,
    ) {
        let aimed = self.aimed * self.aim[chosen];
        let free = self.free * self.sampling[chosen];
        let sampled = AIM * aimed + (1.0 - AIM) * free;
        let share = self.strategy[chosen];
        let n_moves = self.strategy.len();
        if n_moves > 1 {
            self.entries.push(Entry {
                kind,
                start,
                n_moves,
                chosen,
                sampled,
                others: self.others[role.idx()],
                own: self.own[role.idx()],
            });
        }
        for other in 0..self.others.len() {
            let is_own = other == role.idx() && !is_chance;
            self.others[other] *= if is_own { 1.0 } else { share } / sampled;
            self.own[other] *= if is_own { share } else { 1.0 } / sampled;
        }
        (self.aimed, self.free) = (aimed / sampled, free / sampled);
    }
}

impl BeliefBot for OosBot {
    fn role(&self) -> RoleId {
        self.belief.role()
    }

    fn saw(&mut self, own: MoveId, percepts: &[PerceptId]) {
        self.belief.saw(own, percepts);
    }

    fn think(&mut self, limits: &Limits, watch: &mut dyn FnMut(&Report)) -> Option<Decision> {
        let mut meter = Meter::start(limits);
        super::catch_up(&mut self.belief, limits, &mut meter);
        let legal = self.belief.legal_moves();
        if legal.is_empty() {
            return None;
        }
        if self.table.is_full() {
            self.table.clear();
        }
        let stop = match (legal.len(), self.belief.leaves().is_empty()) {
            (_, true) => StopReason::Done,
            (1, _) if !limits.is_told_only() => StopReason::OnlyMove,
            _ => self.search(&legal, &mut meter, &mut Listener::new(watch)),
        };
        let role = self.belief.role();
        let leaf = self.belief.leaves().first();
        let view = leaf.map(|&leaf| self.belief.trie().views(leaf)[role.idx()]);
        let mut shares = Vec::new();
        match view {
            Some(view) => shares = self.strategy(role, view, &legal),
            None => normalise(legal.iter().map(|_| 1.0), &mut shares),
        }
        let chosen = self.random.by_weight(&shares);
        self.distribution = legal.iter().copied().zip(shares).collect();
        self.distribution.sort_by(|a, b| b.1.total_cmp(&a.1));
        Some(Decision {
            mv: legal[chosen],
            report: self.report(&legal, &meter, Some(stop)),
        })
    }

    fn distribution(&self) -> &[(MoveId, f64)] {
        &self.distribution
    }

    fn account(&self) -> BeliefAccount {
        BeliefAccount {
            nodes: self.table.len(),
            ..self.belief.account()
        }
    }
}
