//! Finds histories again when few are left: a search with backtracking over joint moves, checked step by step.
//!
//! A search starts from an ancestor of a history that is left, a few steps back, or from the beginning, and draws
//! joint moves that agree with what was seen. Where none does, it goes back. After some failures it begins
//! anew, so that an unlucky first move does not use up the whole budget. If nothing is left at all, a last search from the
//! beginning tries every joint move in any order until it finds a history, has tried all of them, or is stopped.
//!
//! The weight of a history that was found is the product of the shares of joint moves that agreed on its way. That
//! is exact for a search that never went back, and an estimate otherwise.

use agon_engine::{MoveId, State};
use rustc_hash::FxHashSet;

use super::{Belief, HistoryId, JointMoves, ViewKey};
use crate::limits::{Limits, Meter};

/// Joint moves that a refill tries at most.
const BUDGET: u64 = 200_000;
/// Joint moves that a search tries before it begins anew.
const PATIENCE: u64 = 4000;
/// With more joint moves than this in a state, some are drawn.
const WIDE: f64 = 512.0;
/// How many are drawn.
const N_DRAWN: usize = 96;
/// Searches in a row that found nothing new, after which it ends.
const MOST_VAIN: u32 = 24;

/// A state on the way, with the joint moves that are left to try.
struct Frame {
    state: State,
    views: Vec<ViewKey>,
    /// The joint move that led here.
    moves: Vec<MoveId>,
    /// One after the other.
    left: Vec<Vec<MoveId>>,
    /// Logarithm of the weight so far.
    weight: f64,
    /// Logarithm of the share of joint moves that agree here.
    share: f64,
}

/// How a search goes.
struct Search {
    start: HistoryId,
    depth: usize,
    /// Joint moves that it may try.
    budget: u64,
    tries_all: bool,
}

impl Belief {
    /// Searches for more histories.
    pub(super) fn refill(&mut self, meter: &mut Meter<'_>) {
        let mut found: Vec<(HistoryId, f64)> = Vec::new();
        let mut known: FxHashSet<Vec<MoveId>> =
            self.leaves.iter().map(|&leaf| self.history(leaf)).collect();
        let n_steps = self.n_done;
        let limits = Limits::default();
        let mut own = Meter::start(&limits);
        let (mut n_vain, mut back) = (0, 1);
        self.account.refills += 1;
        while n_vain < MOST_VAIN && own.n_transitions() < BUDGET && !meter.is_over() {
            if self.leaves.len() + found.len() >= self.sizes.sampled / 2 {
                break;
            }
            let depth = n_steps.saturating_sub(back);
            let leaf = self
                .leaves
                .get(self.random.below(self.leaves.len() as u32) as usize);
            let start = match leaf {
                Some(&leaf) => self.trie.ancestor(leaf, n_steps, depth),
                None => HistoryId::ROOT,
            };
            let search = Search {
                start,
                depth: if leaf.is_some() { depth } else { 0 },
                budget: PATIENCE,
                tries_all: false,
            };
            let before = own.n_transitions();
            let path = self.search(&search, &mut own, meter);
            meter.count_transitions(own.n_transitions() - before);
            n_vain += 1;
            if let Some(path) = path
                && let Some(id) = self.insert(start, &path, &mut known)
            {
                found.push((id, path.last().map_or(0.0, |frame| frame.weight)));
                n_vain = 0;
            }
            back = if depth == 0 { 1 } else { back * 2 };
        }
        if self.leaves.is_empty() && found.is_empty() {
            let last = Search {
                start: HistoryId::ROOT,
                depth: 0,
                budget: u64::MAX,
                tries_all: true,
            };
            if let Some(path) = self.search(&last, &mut own, meter) {
                found.extend(
                    self.insert(last.start, &path, &mut known)
                        .map(|id| (id, 0.0)),
                );
            }
        }
        self.account.refilled += found.len() as u64;
        self.add(&found);
        self.tidy();
    }

    /// The joint moves of a history, last first.
    fn history(&self, leaf: HistoryId) -> Vec<MoveId> {
        let mut moves = Vec::new();
        let mut id = leaf;
        while id != HistoryId::ROOT {
            moves.extend_from_slice(self.trie.moves(id));
            id = self.trie.parent(id);
        }
        moves
    }

    /// Goes on from a history until all steps are explained.
    fn search(
        &mut self,
        search: &Search,
        own: &mut Meter<'_>,
        meter: &Meter<'_>,
    ) -> Option<Vec<Frame>> {
        let last = own.n_transitions().saturating_add(search.budget);
        let start = Frame {
            state: self.trie.state(search.start).clone(),
            views: self.trie.views(search.start).to_vec(),
            moves: Vec::new(),
            left: Vec::new(),
            weight: 0.0,
            share: 0.0,
        };
        let mut stack = vec![self.open(start, search.depth, search.tries_all, own, meter)?];
        loop {
            let depth = search.depth + stack.len() - 1;
            if depth == self.n_done {
                return Some(stack);
            }
            if own.n_transitions() >= last || meter.is_over() {
                return None;
            }
            let frame = stack.last_mut()?;
            let Some(moves) = frame.left.pop() else {
                stack.pop();
                continue;
            };
            let weight = frame.weight + frame.share;
            self.world.load(&frame.state, &frame.views);
            self.world.joint_mut().copy_from_slice(&moves);
            self.world.step();
            own.count_transition();
            let next = Frame {
                state: self.world.state(),
                views: self.world.views().to_vec(),
                moves,
                left: Vec::new(),
                weight,
                share: 0.0,
            };
            stack.extend(self.open(next, depth + 1, search.tries_all, own, meter));
        }
    }

    /// Lists the joint moves of a state that agree with what was seen in a step, in any order. `None` if there are none, and steps
    /// are left to explain.
    fn open(
        &mut self,
        mut frame: Frame,
        depth: usize,
        tries_all: bool,
        own: &mut Meter<'_>,
        meter: &Meter<'_>,
    ) -> Option<Frame> {
        if depth == self.n_done {
            return Some(frame);
        }
        self.world.load(&frame.state, &frame.views);
        if self.world.is_over() {
            return None;
        }
        let step = &self.steps[depth];
        let mut moves = JointMoves::new(&mut self.world, Some((self.role, step.own)))?;
        let is_drawn = moves.len() > WIDE && !tries_all;
        let mut n_tried = 0;
        loop {
            match is_drawn {
                true if n_tried == N_DRAWN => break,
                true => moves.draw_into(self.world.joint_mut(), &mut self.random),
                false if !moves.next_into(self.world.joint_mut()) => break,
                false => {}
            }
            n_tried += 1;
            own.count_transition();
            if self.world.agrees(self.role, &step.percepts) {
                frame.left.push(self.world.joint().to_vec());
            }
            if n_tried % 256 == 0 && meter.is_over() {
                break;
            }
        }
        if frame.left.is_empty() {
            return None;
        }
        frame.share = libm::log(frame.left.len() as f64 / n_tried as f64);
        if is_drawn {
            frame.left.sort_unstable();
            frame.left.dedup();
        }
        self.random.shuffle(&mut frame.left);
        Some(frame)
    }

    /// Adds what a search found to the tree of histories, unless it is known.
    fn insert(
        &mut self,
        start: HistoryId,
        path: &[Frame],
        known: &mut FxHashSet<Vec<MoveId>>,
    ) -> Option<HistoryId> {
        let steps = path[1..].iter().rev();
        let mut history: Vec<MoveId> = steps.flat_map(|frame| frame.moves.clone()).collect();
        history.extend(self.history(start));
        if !known.insert(history) {
            return None;
        }
        let mut id = start;
        let mut is_new = false;
        for frame in &path[1..] {
            let next = match is_new {
                true => None,
                false => self.trie.find(id, &frame.moves),
            };
            is_new |= next.is_none();
            id = next.unwrap_or_else(|| {
                let Frame {
                    moves,
                    state,
                    views,
                    ..
                } = frame;
                self.trie.push(id, moves, state.clone(), views)
            });
        }
        Some(id)
    }

    /// Adds histories; on the average they weigh as much as those that are there.
    fn add(&mut self, found: &[(HistoryId, f64)]) {
        let most = found
            .iter()
            .map(|found| found.1)
            .fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = found
            .iter()
            .map(|found| libm::exp(found.1 - most))
            .collect();
        let mean = weights.iter().sum::<f64>() / weights.len().max(1) as f64;
        let there = 1.0 / self.leaves.len().max(1) as f64;
        for (&(id, _), weight) in found.iter().zip(&weights) {
            self.leaves.push(id);
            self.weights.push(there * weight / mean);
        }
    }
}
