//! Monte Carlo tree search with hidden information: `ismcts` and `hyperplay`.
//!
//! A simulation begins in a history that the role believes possible, drawn by weight. Every role, except chance, which draws its
//! moves uniformly, chooses in a tree of its own and maximises its own goal.
//!
//! - In `ismcts` the nodes of a role are its information sets: what it has seen and done, and nothing else. The other roles have
//!   their own views too (MO-ISMCTS). A move that only brings knowledge is found, because what a role sees leads it to
//!   different nodes, where it can use it.
//! - In `hyperplay` every role sees everything (determinisation): each of the drawn histories has a tree of its own, and
//!   the move with the highest mean over all of them is made. Knowledge is worth nothing to it.
//!
//! In `ismcts` the other roles do not choose in their trees in a share of the simulations, but make any legal move: the probability
//! that they play without a plan, given what they have done (`belief::opponents`).
//!
//! Once there are many simulations, they are made in batches whose random games run in the lanes.
//!
//! - Cowling, Powley and Whitehouse 2012, Information Set Monte Carlo Tree Search (MO-ISMCTS)
//! - Schofield, Cerexhe and Thielscher 2012, HyperPlay: A Solution to General Game Playing with Imperfect Information
//! - Schofield and Thielscher 2015, Lifting Model Sampling for General Game Playing to Incomplete-Information Models (value of
//!   information)

use agon_engine::{MoveId, PerceptId, RoleId, State};

use crate::belief::{
    Belief, BeliefAccount, BeliefSizes, Choice, Exploration, HistoryId, InfoEdge, InfoTree,
    Informed, LEAST_IN_LANES, Opponents, Rollouts, Seat, ViewKey, World,
};
use crate::belief_bot::BeliefBot;
use crate::decision::Decision;
use crate::limits::{Limits, Meter, StopReason};
use crate::params::Params;
use crate::random::Random;
use crate::report::{Listener, MoveReport, Report};

/// What the roles of a simulation see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sight {
    /// What the rules let them see.
    Own,
    /// Everything.
    All,
}

/// Simulations before batches begin, and simulations for each further leaf of a batch.
const SIMULATIONS_PER_LEAF: u64 = 4;
const MOST_LEAVES: u64 = 256;
/// Histories that `hyperplay` searches, and simulations that each should get.
const MOST_WORLDS: usize = 64;
const SIMULATIONS_PER_WORLD: u64 = 200;
const LEAST_WORLDS: usize = 8;
/// Of the limits of a move, one part in this many goes into what the others could have done before, and at most this number of
/// simulations.
const PARTS_OF_PAST: u32 = 8;
const MOST_OF_PAST: u64 = 8000;

/// The bot of both kinds.
pub struct InfoSetBot {
    // Constant during a match.
    sight: Sight,
    exploration: Exploration,
    n_roles: usize,
    // What it knows.
    belief: Belief,
    tree: InfoTree,
    distribution: Vec<(MoveId, f64)>,
    /// Whether the others have a plan; nobody asks where there are none, or where everything is seen.
    opponents: Option<Opponents>,
    /// Steps of the match that simulations begin after, if not after all of them.
    begin_after: Option<usize>,
    // Scratch.
    world: World,
    rollouts: Rollouts,
    /// In games of one role: random games that make use of what it sees.
    informed: Option<Informed>,
    random: Random,
    batch: Batch,
}

/// Simulations on their way.
#[derive(Default)]
struct Batch {
    /// The leaves that random games begin in.
    states: Vec<State>,
    /// Where the choices of each of them end.
    ends: Vec<usize>,
    choices: Vec<Choice>,
    worths: Vec<f64>,
}

impl InfoSetBot {
    /// A bot for a role.
    pub(crate) fn new(seat: &Seat<'_>, sight: Sight, params: &Params) -> InfoSetBot {
        let (game, seed) = (seat.game, seat.seed);
        let n_roles = game.n_roles();
        let world = World::at(game, seat.start);
        let n_players = RoleId::all(n_roles).filter(|&role| !world.is_chance(role));
        let n_players = n_players.count();
        let is_alone = n_players == 1 && sight == Sight::Own;
        let has_opponents = n_players > 1 && sight == Sight::Own;
        // Parameters are for goals of 0 to 100.
        let exploration = params.exploration / 100.0;
        InfoSetBot {
            informed: is_alone.then(|| Informed::new(World::at(game, seat.start), seat.role)),
            sight,
            // Random games that make use of what is seen differ less, and without opponents the spread tells how much.
            exploration: match is_alone {
                true => Exploration::BySpread(exploration),
                false => Exploration::Constant(exploration),
            },
            n_roles,
            belief: Belief::new(seat, BeliefSizes::DEFAULT),
            tree: InfoTree::new(n_roles, (params.memory as usize) << 20),
            distribution: Vec::new(),
            opponents: has_opponents.then(Opponents::default),
            begin_after: None,
            world,
            rollouts: Rollouts::new(game, params.most_steps, seed),
            random: Random::new(seed),
            batch: Batch::default(),
        }
    }

    /// Simulations until a limit is reached.
    fn search(
        &mut self,
        roots: &[(HistoryId, ViewKey)],
        meter: &mut Meter<'_>,
        listener: &mut Listener<'_>,
    ) -> StopReason {
        loop {
            if let Some(stop) = meter.stop() {
                return stop;
            }
            let n_leaves = self.n_leaves(meter);
            let n_before = meter.n_playouts();
            self.batch.states.clear();
            self.batch.ends.clear();
            self.batch.choices.clear();
            for nth in 0..n_leaves {
                let root = match self.sight {
                    Sight::Own => self.draw(),
                    Sight::All => Some(roots[((n_before + nth) % roots.len() as u64) as usize]),
                };
                let Some(root) = root else {
                    return StopReason::Done;
                };
                self.simulate(root, n_leaves > 1, meter);
            }
            self.finish_batch(meter);
            // Without a single step, as at the end of a match, there is nothing to think about.
            if meter.n_playouts() == n_before && meter.stop().is_none() {
                return StopReason::Done;
            }
            listener.tell(meter.n_playouts(), || self.report(roots, meter, None));
        }
    }

    fn draw(&mut self) -> Option<(HistoryId, ViewKey)> {
        let leaf = self.belief.draw(&mut self.random)?;
        let n_steps = self.belief.n_steps();
        let depth = self.begin_after.unwrap_or(n_steps);
        let history = self.belief.trie().ancestor(leaf, n_steps, depth);
        Some((history, ViewKey::START))
    }

    /// Judges by what the others did whether they have a plan. The trees that are there from the moves before tell what they would
    /// do with one; the first time they are grown by simulations from the beginning of the match.
    fn judge_opponents(&mut self, limits: &Limits, meter: &mut Meter<'_>) {
        let n_steps = self.belief.n_steps();
        let Some(opponents) = self.opponents.as_mut() else {
            return;
        };
        let Some(begin) = opponents.unjudged(n_steps, &self.belief, &mut self.world) else {
            return;
        };
        if self.tree.len() == 0 {
            let part = limits.part(PARTS_OF_PAST);
            let playouts = part.playouts.unwrap_or(u64::MAX).min(MOST_OF_PAST);
            let part = Limits {
                playouts: Some(playouts),
                ..part
            };
            let mut own = Meter::start(&part);
            self.begin_after = Some(begin);
            self.search(&[], &mut own, &mut Listener::new(&mut |_| {}));
            self.begin_after = None;
            meter.count_playouts(own.n_playouts());
            meter.count_transitions(own.n_transitions());
        }
        if let Some(opponents) = &mut self.opponents {
            opponents.judge(n_steps, &self.belief, &self.tree, &mut self.world);
        }
    }

    /// Whether there is something to find out, and nobody else to reckon with.
    fn is_informed(&self) -> bool {
        self.informed.is_some() && self.belief.leaves().len() > 1
    }

    /// How many simulations to make at once.
    fn n_leaves(&self, meter: &Meter<'_>) -> u64 {
        let n_leaves = meter.n_playouts() / SIMULATIONS_PER_LEAF;
        if !self.rollouts.has_lanes() || self.is_informed() || n_leaves < LEAST_IN_LANES as u64 {
            return 1;
        }
        let left = meter.playouts_left().unwrap_or(u64::MAX);
        n_leaves.min(MOST_LEAVES).min(left).max(1)
    }

    /// One simulation down to a leaf. If it is one of a batch, the rest of it waits.
    fn simulate(&mut self, root: (HistoryId, ViewKey), is_batch: bool, meter: &mut Meter<'_>) {
        let trie = self.belief.trie();
        match self.sight {
            Sight::Own => self.world.load(trie.state(root.0), trie.views(root.0)),
            Sight::All => {
                let views = vec![root.1; self.n_roles];
                self.world.load(trie.state(root.0), &views);
            }
        }
        let first = self.batch.choices.len();
        let is_informed = self.is_informed();
        if let Some(informed) = self.informed.as_mut().filter(|_| is_informed) {
            informed.begin(&self.belief, root.0, &mut self.random);
        }
        // Step 1. Select, until every role has left its tree.
        let mut is_out = vec![false; self.n_roles];
        if let Some(opponents) = &self.opponents
            && self.random.unit() < opponents.planless()
        {
            is_out.fill(true);
            is_out[self.belief.role().idx()] = false;
        }
        let mut is_end = false;
        while !is_out.iter().all(|&out| out) {
            if self.world.is_over() {
                is_end = true;
                break;
            }
            if meter.is_over() {
                self.take_back(first);
                return;
            }
            self.choose(&mut is_out);
            self.step(is_informed, meter);
        }
        if is_informed && !is_end && !self.play_informed(meter) {
            self.take_back(first);
            return;
        }
        // Step 2. Play to the end, now or with others.
        if is_batch && !is_end {
            self.batch.states.push(self.world.state());
            self.batch.ends.push(self.batch.choices.len());
            return;
        }
        let mut worths = vec![0.0; self.n_roles];
        let is_played =
            self.rollouts
                .play_one(&mut self.world, &mut worths, &mut self.random, meter);
        if !is_played || self.world.has_fault() {
            self.take_back(first);
            return;
        }
        // Step 3. Back up.
        for choice in self.batch.choices.drain(first..) {
            self.tree.back_up(choice, worths[choice.role.idx()]);
        }
        meter.count_playout();
    }

    /// Makes the joint move.
    fn step(&mut self, is_informed: bool, meter: &mut Meter<'_>) {
        match self.sight {
            Sight::Own => self.world.step(),
            Sight::All => self.world.step_openly(),
        }
        meter.count_transition();
        if let Some(informed) = self.informed.as_mut().filter(|_| is_informed) {
            let role = self.belief.role();
            let own = self.world.joint()[role.idx()];
            informed.follow(own, self.world.view(role), &mut self.random, meter);
        }
    }

    /// Plays on to the end by what the role sees. False if a limit came first.
    fn play_informed(&mut self, meter: &mut Meter<'_>) -> bool {
        let own = self.belief.role();
        for _ in 0..self.rollouts.most_steps() {
            if self.world.is_over() {
                break;
            }
            if meter.is_over() {
                return false;
            }
            for role in RoleId::all(self.n_roles) {
                let legal = self.world.legal(role);
                let mv = match &mut self.informed {
                    Some(informed) if role == own => {
                        informed.choose(legal, &mut self.random, meter)
                    }
                    _ => self.random.pick(legal),
                };
                self.world.joint_mut()[role.idx()] = mv.expect("nobody is stuck");
            }
            self.step(true, meter);
        }
        true
    }

    /// Makes up the next joint move.
    fn choose(&mut self, is_out: &mut [bool]) {
        for role in RoleId::all(self.n_roles) {
            let view = self.world.view(role);
            let is_chance = self.world.is_chance(role);
            let legal = self.world.legal(role);
            let mv = match legal {
                [only] => Some(*only),
                _ if is_chance || is_out[role.idx()] => self.random.pick(legal),
                _ => {
                    let node = self.tree.node(role, view);
                    is_out[role.idx()] = node.is_none_or(|(_, is_new)| is_new);
                    match node {
                        Some((node, _)) => {
                            let (choice, mv) = self.tree.select(
                                role,
                                node,
                                legal,
                                self.exploration,
                                &mut self.random,
                            );
                            self.batch.choices.push(choice);
                            Some(mv)
                        }
                        None => self.random.pick(legal),
                    }
                }
            };
            is_out[role.idx()] |= is_chance;
            self.world.joint_mut()[role.idx()] = mv.expect("nobody is stuck");
        }
    }

    fn take_back(&mut self, first: usize) {
        for choice in self.batch.choices.drain(first..) {
            self.tree.take_back(choice);
        }
    }

    /// Plays the simulations that wait to their ends.
    fn finish_batch(&mut self, meter: &mut Meter<'_>) {
        if self.batch.states.is_empty() {
            return;
        }
        let Batch { states, worths, .. } = &mut self.batch;
        if !self.rollouts.play(states, worths, meter) {
            self.take_back(0);
            return;
        }
        let mut start = 0;
        for (nth, &end) in self.batch.ends.iter().enumerate() {
            for &choice in &self.batch.choices[start..end] {
                let worth = self.batch.worths[nth * self.n_roles + choice.role.idx()];
                self.tree.back_up(choice, worth);
            }
            start = end;
        }
        meter.count_playouts(self.batch.states.len() as u64);
    }

    /// The histories that are searched, with the names of their roots: for `hyperplay` a few, drawn by weight.
    fn roots(&mut self, limits: &Limits) -> Vec<(HistoryId, ViewKey)> {
        let budget = Meter::start(limits).budget(20).unwrap_or(u64::MAX);
        let n = usize::try_from(budget / SIMULATIONS_PER_WORLD).unwrap_or(MOST_WORLDS);
        let n = n.clamp(LEAST_WORLDS, MOST_WORLDS);
        let mut roots: Vec<HistoryId> = match self.belief.leaves().len() <= n {
            true => self.belief.leaves().to_vec(),
            false => (0..n)
                .filter_map(|_| self.belief.draw(&mut self.random))
                .collect(),
        };
        roots.sort_unstable();
        let name =
            |(nth, id): (usize, HistoryId)| (id, ViewKey::START.after(MoveId(nth as u32), &[]));
        roots.into_iter().enumerate().map(name).collect()
    }

    /// What is known of each move: visits and mean.
    fn values(&self, roots: &[(HistoryId, ViewKey)]) -> Vec<MoveReport> {
        let role = self.belief.role();
        let mut moves: Vec<(MoveId, u64, f64, f64)> = Vec::new();
        let mut add = |edges: &[InfoEdge], weight: f64| {
            for edge in edges.iter().filter(|edge| edge.visits > 0) {
                let visits = u64::from(edge.visits);
                match moves.iter_mut().find(|known| known.0 == edge.mv) {
                    Some(known) => {
                        known.1 += visits;
                        known.2 += weight * edge.mean();
                        known.3 += weight;
                    }
                    None => moves.push((edge.mv, visits, weight * edge.mean(), weight)),
                }
            }
        };
        match self.sight {
            Sight::Own => {
                let view = self.belief.leaves().first();
                let view = view.map(|&leaf| self.belief.trie().views(leaf)[role.idx()]);
                let edges = view.and_then(|view| self.tree.edges(role, view));
                add(edges.unwrap_or_default(), 1.0);
            }
            // Histories that were drawn by weight count alike; those that are all there are count by weight.
            Sight::All => {
                let is_all = roots.len() == self.belief.leaves().len();
                for &(id, name) in roots {
                    let place = self.belief.leaves().iter().position(|&leaf| leaf == id);
                    let weight = match place {
                        Some(place) if is_all => self.belief.weights()[place],
                        _ => 1.0 / roots.len() as f64,
                    };
                    add(self.tree.edges(role, name).unwrap_or_default(), weight);
                }
            }
        }
        let report = |(mv, visits, sum, weight): (MoveId, u64, f64, f64)| MoveReport {
            mv,
            visits,
            mean: 100.0 * sum / weight,
        };
        let mut reports: Vec<MoveReport> = moves.into_iter().map(report).collect();
        match self.sight {
            Sight::Own => reports.sort_by(|a, b| {
                (b.visits, b.mean)
                    .partial_cmp(&(a.visits, a.mean))
                    .expect("means are numbers")
            }),
            Sight::All => reports.sort_by(|a, b| b.mean.total_cmp(&a.mean)),
        }
        reports
    }

    fn report(
        &self,
        roots: &[(HistoryId, ViewKey)],
        meter: &Meter<'_>,
        stop: Option<StopReason>,
    ) -> Report {
        let moves = self.values(roots);
        Report {
            playouts: meter.n_playouts(),
            transitions: meter.n_transitions(),
            time: meter.elapsed(),
            value: moves.first().map(|best| best.mean),
            moves,
            stop,
        }
    }
}

impl BeliefBot for InfoSetBot {
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
        if let [only] = legal[..] {
            self.distribution = vec![(only, 1.0)];
            return Some(Decision::at_once(only, &meter, StopReason::OnlyMove));
        }
        if self.sight == Sight::All || self.tree.is_full() {
            self.tree.clear();
        }
        self.judge_opponents(limits, &mut meter);
        let roots = self.roots(limits);
        let stop = match roots.is_empty() {
            true => StopReason::Done,
            false => self.search(&roots, &mut meter, &mut Listener::new(watch)),
        };
        let report = self.report(&roots, &meter, Some(stop));
        let best = report.moves.iter().find(|known| legal.contains(&known.mv));
        let mv = best.map(|known| known.mv);
        let mv = mv.or_else(|| self.random.pick(&legal))?;
        self.distribution = vec![(mv, 1.0)];
        Some(Decision { mv, report })
    }

    fn distribution(&self) -> &[(MoveId, f64)] {
        &self.distribution
    }

    fn account(&self) -> BeliefAccount {
        BeliefAccount {
            nodes: self.tree.len(),
            ..self.belief.account()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agon_engine::Game;

    use super::*;

    /// One role takes a good or a bad lot; the other one sees which, and takes one of two lots that are alike.
    const LOTS: &str = "(role you) (role other) (lot good) (lot bad) (init first)
        (<= (legal other ?lot) (true first) (lot ?lot)) (<= (legal other wait) (not (true first)))
        (<= (legal you wait) (true first)) (<= (legal you ?lot) (not (true first)) (lot ?lot))
        (<= (next (taken ?lot)) (true first) (does other ?lot)) (<= (next (taken ?lot)) (true (taken ?lot)))
        (<= (next over) (does you good)) (<= (next over) (does you bad))
        (<= (sees you ?lot) (does other ?lot)) (<= terminal (true over))
        (goal you 50) (<= (goal other 100) (true (taken good))) (<= (goal other 0) (not (true (taken good))))";

    /// How probable it seems that the other role has no plan, after it took a lot.
    fn planless_after(lot: &str) -> f64 {
        let rules = agon_gdl::check(&agon_gdl::parse(LOTS.as_bytes(), &Default::default()));
        let rules = Arc::new(rules.unwrap_or_else(|findings| panic!("{findings:?}")));
        let game = Game::compile(rules, &Default::default(), &|| false).expect("it runs");
        let game = Arc::new(game);
        let seat = Seat {
            game: &game,
            role: RoleId(0),
            start: game.initial_state(),
            seed: 1,
        };
        let mut bot = InfoSetBot::new(&seat, Sight::Own, &Params::default());
        let wait = game.find_move(RoleId(0), "wait").expect("it is a move");
        let percept = game.find_percept(lot).expect("it is a percept");
        bot.saw(wait, &[percept]);
        let decision = bot.think(&Limits::playouts(2000), &mut |_| {});
        assert!(decision.is_some());
        bot.opponents.expect("there is another role").planless()
    }

    #[test]
    fn a_good_move_speaks_for_a_plan_and_a_bad_one_against_it() {
        let before = Opponents::default().planless();
        let (good, bad) = (planless_after("good"), planless_after("bad"));
        assert!(good < before, "{good}");
        assert!(bad > 3.0 * before, "{bad}");
    }
}
