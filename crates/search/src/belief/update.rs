//! One step of a belief: which histories go on, and with which weights.
//!
//! If there are few joint moves in all, each is tried, which is exact: the weight of a history is shared out among its joint moves, and
//! those that agree with what was seen keep their shares. Otherwise joint moves are drawn, in the lanes where the game has
//! them, in rounds of one per history, until there are enough that agree.

use agon_engine::{MoveId, Observation, State};
use rustc_hash::FxHashMap;

use super::{Belief, HistoryId, JointMoves, ViewKey};
use crate::limits::Meter;

/// Most rounds of draws in a step.
const MOST_ROUNDS: usize = 32;

/// Successors that agree with what was seen.
#[derive(Default)]
struct Survivors {
    leaves: Vec<HistoryId>,
    weights: Vec<f64>,
    /// By what matters for the future, where equal ones are merged.
    known: FxHashMap<(State, Vec<ViewKey>), usize>,
    /// By parent and joint move.
    drawn: FxHashMap<(HistoryId, Vec<MoveId>), usize>,
    n_tried: u64,
    n_agreed: u64,
}

impl Belief {
    /// Works in the next step.
    pub(super) fn work_in(&mut self, meter: &mut Meter<'_>) {
        self.advance_guess();
        let n_joint = self.n_joint_moves();
        let is_exact = self.account.is_exact && n_joint <= self.sizes.tries;
        let survivors = match n_joint <= self.sizes.tries {
            true => self.try_all(meter),
            false => self.draw_some(meter),
        };
        self.n_done += 1;
        self.account.is_exact = is_exact && !survivors.1;
        let survivors = survivors.0;
        if survivors.n_tried > 0 {
            self.account.consistent_share = survivors.n_agreed as f64 / survivors.n_tried as f64;
        }
        self.leaves = survivors.leaves;
        self.weights = survivors.weights;
        let most = match self.account.is_exact {
            true => self.sizes.exact,
            false => self.sizes.sampled,
        };
        if self.leaves.len() > most {
            self.account.is_exact = false;
            self.thin(self.sizes.sampled);
        }
        self.tidy();
    }

    /// Drops what is no longer needed, and keeps within the memory.
    pub(super) fn tidy(&mut self) {
        self.normalise();
        self.trie.keep(&mut self.leaves);
        while self.trie.n_bytes() > self.sizes.bytes && self.leaves.len() > 1 {
            self.account.is_exact = false;
            self.thin(self.leaves.len() / 2);
            self.normalise();
            self.trie.keep(&mut self.leaves);
        }
    }

    fn normalise(&mut self) {
        let sum: f64 = self.weights.iter().sum();
        if sum > 0.0 {
            self.weights.iter_mut().for_each(|weight| *weight /= sum);
        }
    }

    /// The number of joint moves in all histories, at least one for each.
    fn n_joint_moves(&mut self) -> f64 {
        let fixed = Some((self.role, self.steps[self.n_done].own));
        let mut sum = 0.0;
        for &leaf in &self.leaves {
            self.world
                .load(self.trie.state(leaf), self.trie.views(leaf));
            sum += JointMoves::new(&mut self.world, fixed).map_or(1.0, |moves| moves.len());
            if sum > self.sizes.tries {
                break;
            }
        }
        sum
    }

    /// Tries every joint move in every history; whether it was stopped before the end.
    fn try_all(&mut self, meter: &mut Meter<'_>) -> (Survivors, bool) {
        let mut survivors = Survivors::default();
        let own = self.steps[self.n_done].own;
        let order = self.shuffled();
        for idx in order {
            if meter.is_over() {
                return (survivors, true);
            }
            let (leaf, weight) = (self.leaves[idx], self.weights[idx]);
            self.world
                .load(self.trie.state(leaf), self.trie.views(leaf));
            if self.world.is_over() {
                continue;
            }
            let Some(mut moves) = JointMoves::new(&mut self.world, Some((self.role, own))) else {
                continue;
            };
            let share = weight / moves.len();
            while moves.next_into(self.world.joint_mut()) {
                meter.count_transition();
                survivors.n_tried += 1;
                let percepts = &self.steps[self.n_done].percepts;
                if self.world.agrees(self.role, percepts) {
                    survivors.n_agreed += 1;
                    self.go_on(leaf, share, true, &mut survivors);
                    self.world
                        .load(self.trie.state(leaf), self.trie.views(leaf));
                }
            }
        }
        (survivors, false)
    }

    /// Adds the history that goes on by the joint move of the world, which stands before it.
    fn go_on(&mut self, leaf: HistoryId, weight: f64, merges: bool, survivors: &mut Survivors) {
        self.world.step();
        let state = self.world.state();
        let key = merges.then(|| (state.clone(), self.world.views().to_vec()));
        if let Some(key) = &key
            && let Some(&idx) = survivors.known.get(key)
        {
            survivors.weights[idx] += weight;
            return;
        }
        let (moves, views) = (self.world.joint(), self.world.views());
        let id = self.trie.push(leaf, moves, state, views);
        if let Some(key) = key {
            survivors.known.insert(key, survivors.leaves.len());
        }
        survivors.leaves.push(id);
        survivors.weights.push(weight);
    }

    /// Draws joint moves until enough of them agree; always sampled.
    fn draw_some(&mut self, meter: &mut Meter<'_>) -> (Survivors, bool) {
        let mut survivors = Survivors::default();
        if self.leaves.len() < self.sizes.sampled {
            self.spread(self.sizes.sampled);
        }
        let step = &self.steps[self.n_done];
        let mut found: Vec<(usize, Vec<MoveId>)> = Vec::new();
        for _ in 0..MOST_ROUNDS {
            if meter.is_over() || survivors.n_agreed as usize >= self.sizes.sampled {
                break;
            }
            let states: Vec<&State> = self.leaves.iter().map(|&id| self.trie.state(id)).collect();
            let observation = Observation {
                role: self.role,
                mv: step.own,
                percepts: &step.percepts,
            };
            let random = self.random.generator();
            self.particles.step(&states, observation, random, |next| {
                found.push((next.parent, next.moves.to_vec()));
            });
            survivors.n_tried += states.len() as u64;
            survivors.n_agreed = found.len() as u64;
            meter.count_transitions(states.len() as u64);
        }
        for (parent, moves) in found {
            let (leaf, weight) = (self.leaves[parent], self.weights[parent]);
            let key = (leaf, moves);
            if let Some(&idx) = survivors.drawn.get(&key) {
                survivors.weights[idx] += weight;
                continue;
            }
            self.world
                .load(self.trie.state(leaf), self.trie.views(leaf));
            self.world.joint_mut().copy_from_slice(&key.1);
            survivors.drawn.insert(key, survivors.leaves.len());
            self.go_on(leaf, weight, false, &mut survivors);
        }
        (survivors, true)
    }

    /// Repeats histories, so that there are about `n` in all, and shares out their weights.
    fn spread(&mut self, n: usize) {
        let n_times = n.div_ceil(self.leaves.len().max(1));
        let leaves = self.leaves.iter();
        self.leaves = leaves
            .flat_map(|&id| std::iter::repeat_n(id, n_times))
            .collect();
        let weights = self.weights.iter();
        self.weights = weights
            .flat_map(|&weight| std::iter::repeat_n(weight / n_times as f64, n_times))
            .collect();
    }

    /// Systematic resampling: at most `n` histories, each kept in proportion to its weight.
    pub(super) fn thin(&mut self, n: usize) {
        self.normalise();
        let step = 1.0 / n as f64;
        let mut next = self.random.unit() * step;
        let (mut sum, mut leaves, mut weights) = (0.0, Vec::new(), Vec::new());
        for (&leaf, &weight) in self.leaves.iter().zip(&self.weights) {
            sum += weight;
            let mut n_hits = 0_u32;
            while next < sum {
                n_hits += 1;
                next += step;
            }
            if n_hits > 0 {
                leaves.push(leaf);
                weights.push(f64::from(n_hits));
            }
        }
        if !leaves.is_empty() {
            (self.leaves, self.weights) = (leaves, weights);
        }
    }

    /// Places of histories in any order, so that a stop before the end is fair.
    fn shuffled(&mut self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.leaves.len()).collect();
        if !self.account.is_exact {
            self.random.shuffle(&mut order);
        }
        order
    }

    /// The guess goes on by the own move, whatever the others do.
    fn advance_guess(&mut self) {
        let own = self.steps[self.n_done].own;
        if let Some(&leaf) = self.leaves.first() {
            self.guess = self.trie.state(leaf).clone();
        }
        let views = vec![ViewKey::START; self.world.n_roles()];
        self.world.load(&self.guess, &views);
        if self.world.is_over() {
            return;
        }
        let fixed = Some((self.role, own));
        let moves = JointMoves::new(&mut self.world, fixed);
        let moves = moves.or_else(|| JointMoves::new(&mut self.world, None));
        if let Some(moves) = moves {
            moves.draw_into(self.world.joint_mut(), &mut self.random);
            self.world.step_openly();
            if !self.world.is_over() {
                self.guess = self.world.state();
            }
        }
    }
}
