//! Playouts one by one: to the end of the match, or until they are cut.
//!
//! Every role picks by the policy of the techniques, or all moves alike. A playout can be broken off by a limit between any two
//! looks at the clock, because one step on the interpreter can take longer than a whole match on a network. Techniques that
//! must see states see those of whole simulations, from the root on.
//!
//! In: leaves. Out: values of all roles, and all moves of the playouts.

use std::collections::VecDeque;

use agon_engine::{Game, Goal, JointMove, MoveId, RoleId};

use super::{Evaluator, Terms, weigh};
use crate::limits::Stopwatch;
use crate::params::{Params, Values};
use crate::policy::PlayoutPolicy;
use crate::random::Random;
use crate::simulation::{Cut, Leaf, Made, Orders, Powers, Results, Sample, Times};
use crate::techniques::{Ending, StateView, Technique, Techniques};
use crate::walker::Walker;

/// Plays one by one, on one thread.
pub(crate) struct ScalarEvaluator {
    // Constant.
    n_roles: usize,
    values_kind: Values,
    most_steps: u32,
    // What it plays with.
    walker: Walker,
    /// Walks in its place in playouts in which wins at once are made and prevented.
    decisive: Option<Walker>,
    policy: PlayoutPolicy,
    random: Random,
    powers: Powers,
    // Leaves that wait, and the one at hand.
    waiting: VecDeque<Waiting>,
    spare: Vec<Waiting>,
    playout: Playout,
    watch: Stopwatch,
}

/// A leaf that waits: its order, alone.
#[derive(Default)]
struct Waiting {
    orders: Orders,
}

/// The playout at hand.
#[derive(Default)]
struct Playout {
    joint: Vec<MoveId>,
    legal: Vec<Vec<MoveId>>,
    /// The moves from the root on, step by step, in the order of the roles.
    record: Vec<MoveId>,
    values: Vec<f64>,
    sums: Vec<f64>,
    leaf_words: Vec<u64>,
}

impl ScalarEvaluator {
    pub(crate) fn new(game: &Game, params: &Params, discount: f64, seed: u64) -> ScalarEvaluator {
        let n_roles = game.n_roles();
        ScalarEvaluator {
            n_roles,
            values_kind: params.values,
            most_steps: params.most_steps,
            walker: Walker::new(game),
            decisive: params.decisive.then(|| Walker::decisive(game)).flatten(),
            policy: PlayoutPolicy::new(params),
            random: Random::new(seed),
            powers: Powers::new(discount),
            waiting: VecDeque::new(),
            spare: Vec::new(),
            playout: Playout {
                joint: vec![MoveId(0); n_roles],
                legal: vec![Vec::new(); n_roles],
                values: vec![0.0; n_roles],
                sums: vec![0.0; n_roles],
                ..Playout::default()
            },
            watch: Stopwatch::default(),
        }
    }

    /// Evaluates a leaf; `false` if a limit came first.
    fn evaluate(
        &mut self,
        orders: &Orders,
        terms: &Terms<'_>,
        techniques: &mut Techniques,
        results: &mut Results,
    ) -> bool {
        let order = orders.leaves[0];
        // Step 1. Make the leaf and look at it.
        self.walker.load_words(orders.parent(0));
        let joint = JointMove::new(orders.moves.iter().copied());
        self.walker.advance(&joint);
        results.counts.steps += 1;
        let is_end = !self.read_legal();
        let mut leaf = Leaf {
            ticket: order.ticket,
            is_end,
            n: 1,
            ..Leaf::default()
        };
        let mut words = std::mem::take(&mut self.playout.leaf_words);
        words.clear();
        words.extend_from_slice(self.walker.words());
        let legal: Vec<Vec<MoveId>> = self.playout.legal.clone();
        self.playout.sums.fill(0.0);
        let mut is_whole = true;
        if is_end {
            self.begin(orders, terms, techniques);
            self.see(order.depth + 1, terms, techniques);
            self.read_goals();
            leaf.best = self.playout.values[0];
            self.end(order.depth + 1, self.walker.is_terminal(), true, techniques);
            self.playout.sums.copy_from_slice(&self.playout.values);
        } else {
            // Step 2. Play.
            leaf.n = 0;
            for nth in 0..order.n_playouts {
                if nth > 0 {
                    self.walker.load_words(&words);
                }
                let Some(steps) = self.play(orders, terms, techniques, results) else {
                    is_whole = false;
                    break;
                };
                leaf.n += 1;
                leaf.best = leaf.best.max(self.playout.values[0]);
                self.powers.reserve(steps as usize);
                let factor = self.powers.get(steps as usize);
                let Playout { sums, values, .. } = &mut self.playout;
                for (sum, value) in sums.iter_mut().zip(values) {
                    *sum += *value * factor;
                }
            }
        }
        if is_whole {
            let sums = &self.playout.sums;
            results.push(
                leaf,
                &words,
                |role| if is_end { &[] } else { &legal[role] },
                sums,
            );
        }
        self.playout.leaf_words = words;
        is_whole
    }

    /// Plays from the state that the walker is in to the end, and records it; returns its steps, or `None` if a limit came
    /// first.
    fn play(
        &mut self,
        orders: &Orders,
        terms: &Terms<'_>,
        techniques: &mut Techniques,
        results: &mut Results,
    ) -> Option<u32> {
        let depth = orders.leaves[0].depth + 1;
        self.begin(orders, terms, techniques);
        self.see(depth, terms, techniques);
        if let Some(decisive) = &mut self.decisive {
            decisive.load_words(self.walker.words());
            std::mem::swap(&mut self.walker, decisive);
        }
        let played = self.play_on(depth, orders, terms, techniques, results);
        let Some((steps, cut)) = played else {
            self.change_back();
            return None;
        };
        let is_natural = self.walker.is_terminal();
        match cut {
            Some(Cut::Draw) => self.playout.values.fill(50.0),
            _ => self.read_goals(),
        }
        self.change_back();
        self.end(
            depth + steps,
            is_natural,
            cut != Some(Cut::Draw),
            techniques,
        );
        self.keep(orders.record(0).len(), steps, results);
        results.counts.playouts += 1;
        results.counts.playout_steps += u64::from(steps);
        results.counts.cuts += u64::from(cut.is_some());
        Some(steps)
    }

    fn change_back(&mut self) {
        if let Some(decisive) = &mut self.decisive {
            std::mem::swap(&mut self.walker, decisive);
        }
    }

    /// Steps on to the end, or to a cut.
    fn play_on(
        &mut self,
        depth: u32,
        orders: &Orders,
        terms: &Terms<'_>,
        techniques: &mut Techniques,
        results: &mut Results,
    ) -> Option<(u32, Option<Cut>)> {
        let (mut steps, has_policy) = (0, techniques.has_policy());
        let patience = if has_policy {
            8
        } else {
            self.walker.patience()
        };
        let cut = orders.cut.filter(|_| !orders.is_whole);
        let mut joint = JointMove::new(self.playout.joint.iter().copied());
        loop {
            if steps > 0 && steps % patience == 0 && terms.limits.is_over() {
                return None;
            }
            if !self.draw(has_policy, techniques) {
                return Some((steps, None));
            }
            joint.moves_mut().copy_from_slice(&self.playout.joint);
            self.walker.advance(&joint);
            self.playout.record.extend_from_slice(joint.moves());
            results.counts.steps += 1;
            steps += 1;
            self.see(depth + steps, terms, techniques);
            if self.walker.is_terminal() || steps >= self.most_steps {
                return Some((steps, None));
            }
            if let Some((_, how)) = cut.filter(|&(after, _)| steps >= after) {
                return Some((steps, Some(how)));
            }
        }
    }

    /// Draws a joint move; false if some role has none.
    #[inline]
    fn draw(&mut self, has_policy: bool, techniques: &mut Techniques) -> bool {
        if !has_policy {
            for role in RoleId::all(self.n_roles) {
                match self.walker.any_move(role, &mut self.random) {
                    Some(mv) => self.playout.joint[role.idx()] = mv,
                    None => return false,
                }
            }
            return true;
        }
        if !self.read_legal() {
            return false;
        }
        let Playout {
            joint,
            legal,
            record,
            ..
        } = &mut self.playout;
        let state = StateView {
            words: self.walker.words(),
            record,
            legal,
        };
        self.policy.stand(techniques, &state);
        for role in RoleId::all(self.n_roles) {
            let moves = &legal[role.idx()];
            let chosen = self
                .policy
                .choose(techniques, role, moves, &mut self.random);
            joint[role.idx()] = moves[chosen];
        }
        true
    }

    /// Lists the legal moves of all roles; false if the match is over, or some role has none.
    fn read_legal(&mut self) -> bool {
        if self.walker.is_terminal() {
            return false;
        }
        for role in RoleId::all(self.n_roles) {
            let legal = &mut self.playout.legal[role.idx()];
            legal.clear();
            legal.extend_from_slice(self.walker.legal_moves(role));
            if legal.is_empty() {
                return false;
            }
        }
        true
    }

    fn read_goals(&mut self) {
        for role in RoleId::all(self.n_roles) {
            let goal = self.walker.goal(role).map_or(0, Goal::value);
            self.playout.values[role.idx()] = f64::from(goal);
        }
        weigh(self.values_kind, &mut self.playout.values);
    }

    /// A simulation begins: those who must see its states see those of its path.
    fn begin(&mut self, orders: &Orders, terms: &Terms<'_>, techniques: &mut Techniques) {
        self.playout.record.clear();
        self.playout.record.extend_from_slice(orders.record(0));
        techniques.all_mut().for_each(Technique::begin);
        let wants_goals = techniques.all().any(Technique::wants_goals);
        let first = (orders.leaves[0].depth + 1).saturating_sub(orders.path(0).count() as u32);
        if wants_goals {
            // The walker comes back to the leaf.
            let here = self.walker.words().to_vec();
            for (depth, words) in (first..).zip(orders.path(0)) {
                self.walker.load_words(words);
                let goal = self.walker.goal(terms.role);
                techniques
                    .all_mut()
                    .for_each(|technique| technique.see_goal(depth, goal));
            }
            self.walker.load_words(&here);
        }
        for words in orders.path(0) {
            techniques
                .all_mut()
                .for_each(|technique| technique.see(words));
        }
    }

    /// The simulation is in the state of the walker.
    #[inline]
    fn see(&mut self, depth: u32, terms: &Terms<'_>, techniques: &mut Techniques) {
        for technique in techniques.all_mut() {
            if technique.wants_goals() {
                technique.see_goal(depth, self.walker.goal(terms.role));
            }
            if technique.wants_states() {
                technique.see(self.walker.words());
            }
        }
    }

    fn end(&mut self, depth: u32, is_natural: bool, is_scored: bool, techniques: &mut Techniques) {
        let ending = Ending {
            depth,
            is_natural,
            is_scored,
            values: &self.playout.values,
        };
        techniques
            .all_mut()
            .for_each(|technique| technique.end(&ending));
    }

    /// Adds the playout to the results as a sample.
    fn keep(&mut self, n_before: usize, steps: u32, results: &mut Results) {
        let moves = &self.playout.record[n_before..];
        for (at, &mv) in moves.iter().enumerate() {
            let to_go = steps as usize - 1 - at / self.n_roles;
            results.made.push(Made {
                mv,
                role: (at % self.n_roles) as u16,
                to_go: to_go.min(usize::from(u16::MAX)) as u16,
            });
        }
        results.samples.push(Sample {
            steps,
            made_end: results.made.len() as u32,
        });
        results
            .sample_values
            .extend_from_slice(&self.playout.values);
    }
}

impl Evaluator for ScalarEvaluator {
    fn submit(&mut self, orders: &Orders, _terms: &Terms<'_>, _techniques: &mut Techniques) {
        for idx in 0..orders.len() {
            let mut waiting = self.spare.pop().unwrap_or_default();
            waiting.orders.copy_one(orders, idx, self.n_roles);
            self.waiting.push_back(waiting);
        }
    }

    fn run(&mut self, terms: &Terms<'_>, techniques: &mut Techniques, results: &mut Results) {
        let Some(waiting) = self.waiting.pop_front() else {
            return;
        };
        self.watch.start(true);
        let n_samples = (results.samples.len(), results.made.len());
        if !self.evaluate(&waiting.orders, terms, techniques, results) {
            // It is forgotten, and counted as pending until it is cancelled.
            results.samples.truncate(n_samples.0);
            results.sample_values.truncate(n_samples.0 * self.n_roles);
            results.made.truncate(n_samples.1);
            self.waiting.push_front(waiting);
        } else {
            self.spare.push(waiting);
        }
        self.watch.stop();
    }

    fn n_pending(&self) -> usize {
        self.waiting.len()
    }

    fn cancel(&mut self) {
        self.spare.extend(self.waiting.drain(..));
    }

    fn take_times(&mut self) -> Times {
        Times {
            rollouts: std::mem::take(&mut self.watch),
            ..Times::default()
        }
    }
}
