//! Playouts in the lanes: many leaves at once, several playouts each.
//!
//! The leaves of an order are stepped to and looked at together. Those that go on are played from, with different first moves
//! (`first_moves`) where a leaf has several playouts. The lanes never run empty as long as there are orders: new leaves join
//! while others are on their way, and a leaf is returned when all of its playouts have ended. Of each leaf a few playouts are
//! sampled move by move; of the others only the values count. Some playouts are replayed for FAST (`replay`).
//!
//! The lanes run for a fixed number of steps at a time, so that what is played never depends on the clock.
//!
//! - Chaslot, Winands and van den Herik 2008, Parallel Monte-Carlo Tree Search (several playouts per leaf)

use agon_engine::lanes::{CutScore, Ending, Finished, Job, Lanes, LanesOptions, Until};
use agon_engine::{Game, Goal, MoveId, RoleId};

use super::first_moves::FirstMoves;
use super::replay::Replay;
use super::{Evaluator, PolicyUpdate, Terms, weigh};
use crate::params::{Params, Values};
use crate::simulation::{Cut, Leaf, Made, Order, Orders, Powers, Results, Sample, Times};
use crate::techniques::Techniques;
use crate::techniques::rules_policy::{Cost, RulesPolicy};

/// Steps that the lanes run at a time.
const STEPS_PER_RUN: u64 = 16;
/// Playouts of each leaf that are sampled move by move.
const SAMPLES: u32 = 2;

/// The states of some leaves: words, legal moves and ends.
pub(crate) struct Expansion {
    n_roles: usize,
    values: Values,
    n_leaves: usize,
    n_words: usize,
    words: Vec<u64>,
    /// Per leaf and role.
    legal: Vec<Vec<MoveId>>,
    is_end: Vec<bool>,
    /// Per leaf and role: what an end is worth.
    worth: Vec<f64>,
}

impl Expansion {
    pub(crate) fn new(values: Values, n_roles: usize) -> Expansion {
        Expansion {
            n_roles,
            values,
            n_leaves: 0,
            n_words: 0,
            words: Vec::new(),
            legal: Vec::new(),
            is_end: Vec::new(),
            worth: Vec::new(),
        }
    }

    /// Steps to all leaves and looks at them.
    pub(crate) fn expand(&mut self, lanes: &mut Lanes, orders: &Orders) {
        let (n, n_roles) = (orders.len(), self.n_roles);
        if n == 0 {
            self.n_leaves = 0;
            return;
        }
        let n_words = orders.parents.len() / n;
        (self.n_leaves, self.n_words) = (n, n_words);
        self.words.resize(self.words.len().max(n * n_words), 0);
        let words = &mut self.words;
        lanes.advance_words(n, &orders.parents, &orders.moves, |idx, next| {
            words[idx * n_words..(idx + 1) * n_words].copy_from_slice(next);
        });
        self.is_end.resize(n, false);
        self.worth.resize(n * n_roles, 0.0);
        let n_lists = self.legal.len().max(n * n_roles);
        self.legal.resize(n_lists, Vec::new());
        let (legal, is_end, worth) = (&mut self.legal, &mut self.is_end, &mut self.worth);
        let values = self.values;
        lanes.expand_words(n, &self.words[..n * n_words], |idx, seen| {
            let mut is_stuck = false;
            for role in RoleId::all(n_roles) {
                let moves = seen.legal_moves(role);
                is_stuck |= moves.is_empty();
                let legal = &mut legal[idx * n_roles + role.idx()];
                legal.clear();
                legal.extend_from_slice(moves);
            }
            is_end[idx] = is_stuck || seen.is_terminal();
            if is_end[idx] {
                let worth = &mut worth[idx * n_roles..(idx + 1) * n_roles];
                for role in RoleId::all(n_roles) {
                    worth[role.idx()] = f64::from(seen.goal(role).map_or(0, Goal::value));
                    legal[idx * n_roles + role.idx()].clear();
                }
                weigh(values, worth);
            }
        });
    }

    pub(crate) fn words(&self, idx: usize) -> &[u64] {
        &self.words[idx * self.n_words..(idx + 1) * self.n_words]
    }

    pub(crate) fn is_end(&self, idx: usize) -> bool {
        self.is_end[idx]
    }

    pub(crate) fn legal(&self, idx: usize, role: usize) -> &[MoveId] {
        &self.legal[idx * self.n_roles + role]
    }

    pub(crate) fn worth(&self, idx: usize) -> &[f64] {
        &self.worth[idx * self.n_roles..(idx + 1) * self.n_roles]
    }
}

/// A leaf whose playouts are on their way.
#[derive(Default)]
struct Slot {
    leaf: Leaf,
    n_left: u32,
    /// Whether its playouts are played to their end.
    is_whole: bool,
    words: Vec<u64>,
    /// Per role.
    legal: Vec<Vec<MoveId>>,
    sums: Vec<f64>,
    /// First moves of the playouts, by role, if they were given, and the words of the states that they lead to.
    firsts: Vec<MoveId>,
    opened: Vec<u64>,
    /// Playouts that ended with their first move, and their values.
    ends: Vec<u32>,
    end_worth: Vec<f64>,
    // Samples.
    samples: Vec<Sample>,
    values: Vec<f64>,
    made: Vec<Made>,
}

/// Plays in the lanes, on one thread.
pub(crate) struct LanesEvaluator {
    // Constant.
    n_roles: usize,
    values: Values,
    most_steps: u32,
    most_samples: u32,
    // What it plays with.
    lanes: Lanes,
    first_moves: FirstMoves,
    /// How moves are drawn, if not by weights alone.
    rules: Option<RulesPolicy>,
    replay: Option<Replay>,
    powers: Powers,
    // Leaves on their way.
    slots: Slots,
    /// Leaves that need no playouts.
    expansion: Expansion,
    // Scratch.
    opened: Opened,
    worth: Vec<f64>,
    times: Times,
}

/// Leaves on their way, by their places.
#[derive(Default)]
struct Slots {
    all: Vec<Slot>,
    free: Vec<u32>,
    n_pending: usize,
    /// Leaves that are done.
    done: Vec<u32>,
    /// Leaves at which the match ends, with their places in the last expansion.
    ends: Vec<(Leaf, u32)>,
}

/// States after the first moves of playouts.
#[derive(Default)]
struct Opened {
    tags: Vec<u64>,
    leaves: Vec<u64>,
    moves: Vec<MoveId>,
    words: Vec<u64>,
    /// Per leaf and role: moves that playouts begin with, if those are not all legal ones.
    offered: Vec<Vec<MoveId>>,
}

impl LanesEvaluator {
    /// An evaluator for a game; `None` if it has no lanes.
    pub(crate) fn new(
        game: &Game,
        params: &Params,
        techniques: &Techniques,
        discount: f64,
        seed: u64,
    ) -> Option<LanesEvaluator> {
        let n_roles = game.n_roles();
        let heuristic = techniques.heuristic.as_ref();
        let rules = heuristic
            .and_then(|heuristic| heuristic.in_lanes())
            .cloned();
        let lanes = game.lanes(&LanesOptions {
            seed,
            moves: true,
            decisive: params.decisive,
            dense: rules.is_some(),
            ..LanesOptions::default()
        })?;
        let fast = techniques.fast.as_ref();
        Some(LanesEvaluator {
            n_roles,
            values: params.values,
            most_steps: params.most_steps,
            most_samples: if n_roles == 1 { u32::MAX } else { SAMPLES },
            lanes,
            first_moves: FirstMoves::new(seed),
            rules,
            replay: fast.map(|fast| Replay::new(fast, n_roles)),
            powers: Powers::new(discount),
            slots: Slots::default(),
            expansion: Expansion::new(params.values, n_roles),
            opened: Opened::default(),
            worth: vec![0.0; n_roles],
            times: Times::default(),
        })
    }

    /// Finds a place for a leaf that goes on.
    fn place(&mut self, idx: usize, order: &Order, is_whole: bool) -> u32 {
        let slot_idx = match self.slots.free.pop() {
            Some(idx) => idx,
            None => {
                self.slots.all.push(Slot::default());
                self.slots.all.len() as u32 - 1
            }
        };
        let slot = &mut self.slots.all[slot_idx as usize];
        slot.leaf = Leaf {
            ticket: order.ticket,
            ..Leaf::default()
        };
        slot.n_left = order.n_playouts;
        slot.is_whole = is_whole;
        slot.words.clear();
        slot.words.extend_from_slice(self.expansion.words(idx));
        slot.legal.resize(self.n_roles, Vec::new());
        for (role, legal) in slot.legal.iter_mut().enumerate() {
            std::mem::swap(legal, &mut self.expansion.legal[idx * self.n_roles + role]);
        }
        slot.sums.clear();
        slot.sums.resize(self.n_roles, 0.0);
        slot.firsts.clear();
        slot.opened.clear();
        slot.ends.clear();
        slot.end_worth.clear();
        slot.samples.clear();
        slot.values.clear();
        slot.made.clear();
        slot_idx
    }

    /// The first moves of the playouts of a leaf that has several.
    fn open(&mut self, idx: usize, slot_idx: u32, n: u32) {
        let n_roles = self.n_roles;
        let slot = &mut self.slots.all[slot_idx as usize];
        let opened = &mut self.opened;
        slot.firsts.resize(n as usize * n_roles, MoveId(0));
        for role in RoleId::all(n_roles) {
            let offers = opened.offered.get(idx * n_roles..(idx + 1) * n_roles);
            let offers = offers.unwrap_or(&slot.legal);
            let offer = &offers[role.idx()];
            let to = slot.firsts[role.idx()..].iter_mut().step_by(n_roles);
            if let [only] = offer[..] {
                to.for_each(|to| *to = only);
                continue;
            }
            let rules = self.rules.as_mut();
            let factors =
                rules.and_then(|rules| rules.weigh(role, &slot.words, |role| &offers[role][..]));
            let drawn = self
                .first_moves
                .draw(role, offer, &slot.words, n as usize, factors);
            to.zip(drawn.iter().cycle())
                .for_each(|(to, drawn)| *to = drawn.1);
        }
        opened.moves.extend_from_slice(&slot.firsts);
        for nth in 0..n {
            opened.tags.push(u64::from(slot_idx) << 32 | u64::from(nth));
            opened.leaves.extend_from_slice(&slot.words);
        }
    }

    /// What playouts may begin with, where wins at once are made and prevented.
    fn read_offers(&mut self, n: usize) {
        let n_roles = self.n_roles;
        let Opened { offered, .. } = &mut self.opened;
        if !self.lanes.is_decisive() {
            offered.clear();
            return;
        }
        offered.resize(n * n_roles, Vec::new());
        let words = &self.expansion.words[..n * self.expansion.n_words];
        self.lanes.expand_as_played(n, words, |idx, seen| {
            for role in RoleId::all(n_roles) {
                let offer = &mut offered[idx * n_roles + role.idx()];
                offer.clear();
                offer.extend_from_slice(seen.legal_moves(role));
            }
        });
    }

    /// Reads the playouts that have ended.
    fn collect(&mut self, results: &mut Results) {
        let n_roles = self.n_roles;
        let (slots, worth, replay) = (&mut self.slots, &mut self.worth, &mut self.replay);
        let (values, most_samples) = (self.values, self.most_samples);
        let powers = &mut self.powers;
        let counts = &mut results.counts;
        self.lanes.drain(|playout: &Finished<'_>| {
            let (slot_idx, nth) = ((playout.tag() >> 32) as u32, playout.tag() as u32);
            let slot = &mut slots.all[slot_idx as usize];
            let n_opened = u32::from(!slot.firsts.is_empty());
            let steps = playout.steps() + n_opened;
            counts.steps += u64::from(steps);
            counts.playouts += 1;
            counts.playout_steps += u64::from(steps);
            counts.cuts += u64::from(playout.ending() == Ending::Cut);
            for role in RoleId::all(n_roles) {
                worth[role.idx()] = f64::from(playout.goal(role).map_or(0, Goal::value));
            }
            weigh(values, worth);
            powers.reserve(steps as usize);
            let factor = powers.get(steps as usize);
            for (sum, value) in slot.sums.iter_mut().zip(&*worth) {
                *sum += value * factor;
            }
            slot.leaf.n += 1;
            slot.leaf.best = slot.leaf.best.max(worth[0]);
            if let Some(replay) = replay
                .as_mut()
                .filter(|_| slot.is_whole && playout.steps() > 0)
                && replay.wants()
            {
                let moves = RoleId::all(n_roles).map(|role| playout.moves(role));
                let first = nth as usize * n_roles * n_opened as usize;
                let first = &slot.firsts[first..first + n_roles * n_opened as usize];
                replay.add(&slot.words, first, moves, worth);
            }
            let is_end = playout.steps() == 0 && playout.ending() == Ending::Terminal;
            if is_end && n_opened > 0 {
                slot.ends.push(nth);
                slot.end_worth.extend_from_slice(worth);
            }
            if nth < most_samples {
                slot.sample(playout, nth as usize, worth);
            }
            slot.n_left -= 1;
            if slot.n_left == 0 {
                slots.done.push(slot_idx);
            }
        });
    }

    /// Returns the leaves that are done.
    fn hand_over(&mut self, results: &mut Results) {
        for slot_idx in self.slots.done.drain(..) {
            let slot = &self.slots.all[slot_idx as usize];
            let mut start = 0;
            for sample in &slot.samples {
                let end = sample.made_end as usize;
                results.made.extend_from_slice(&slot.made[start..end]);
                start = end;
                results.samples.push(Sample {
                    made_end: results.made.len() as u32,
                    ..*sample
                });
            }
            results.sample_values.extend_from_slice(&slot.values);
            let (n_roles, n_words) = (self.n_roles, slot.words.len());
            for &nth in &slot.ends {
                let nth = nth as usize;
                let moves = &slot.firsts[nth * n_roles..(nth + 1) * n_roles];
                results.end_moves.extend_from_slice(moves);
                let words = &slot.opened[nth * n_words..(nth + 1) * n_words];
                results.end_words.extend_from_slice(words);
            }
            results.end_worth.extend_from_slice(&slot.end_worth);
            let legal = |role: usize| &slot.legal[role][..];
            results.push(slot.leaf, &slot.words, legal, &slot.sums);
            results.counts.steps += 1;
            self.slots.free.push(slot_idx);
            self.slots.n_pending -= 1;
        }
    }
}

impl Slot {
    /// Keeps the moves of a playout.
    fn sample(&mut self, playout: &Finished<'_>, nth: usize, worth: &[f64]) {
        let n_roles = self.legal.len();
        let n_opened = u32::from(!self.firsts.is_empty());
        let steps = playout.steps() + n_opened;
        let made = &mut self.made;
        let mut make = |role: RoleId, step: u32, mv: MoveId| {
            let to_go = (steps - 1 - step).min(u32::from(u16::MAX)) as u16;
            let role = role.0;
            made.push(Made { mv, role, to_go });
        };
        for role in RoleId::all(n_roles) {
            if n_opened > 0 && (self.legal[role.idx()].len() > 1 || n_roles == 1) {
                make(role, 0, self.firsts[nth * n_roles + role.idx()]);
            }
            match n_roles {
                // The whole line, in order.
                1 => {
                    let moves = playout.moves(role).enumerate();
                    moves.for_each(|(step, mv)| make(role, step as u32 + n_opened, mv));
                }
                _ => playout.choices(role, |step, mv| make(role, step + n_opened, mv)),
            }
        }
        self.samples.push(Sample {
            steps,
            made_end: self.made.len() as u32,
        });
        self.values.extend_from_slice(worth);
    }
}

impl Evaluator for LanesEvaluator {
    fn update(&mut self, policy: &PolicyUpdate) {
        self.first_moves.learn(&policy.choosing);
        match &mut self.rules {
            Some(rules) => rules.learn(&policy.choosing),
            None => self.lanes.set_choosing(&policy.choosing),
        }
        if let Some(replay) = &mut self.replay {
            replay.set_one_in(policy.replay_one_in);
        }
    }

    fn submit(&mut self, orders: &Orders, _terms: &Terms<'_>, _techniques: &mut Techniques) {
        self.times.bookkeeping.start(true);
        let n = orders.len();
        self.expansion.expand(&mut self.lanes, orders);
        let is_several = orders.leaves.iter().any(|order| order.n_playouts > 1);
        if is_several {
            self.read_offers(n);
        }
        self.opened.tags.clear();
        self.opened.leaves.clear();
        self.opened.moves.clear();
        let cut = orders.cut.filter(|_| !orders.is_whole);
        let most_steps = self.most_steps.saturating_sub(1).max(1);
        let job_cut = |n_opened: u32| {
            cut.map(|(after, how)| agon_engine::lanes::Cut {
                after: after.saturating_sub(n_opened),
                score: match how {
                    Cut::Goals => CutScore::Goals,
                    Cut::Draw => CutScore::Constant(Goal::new(50).expect("50 is a goal")),
                },
            })
        };
        for (idx, order) in orders.leaves.iter().enumerate() {
            if self.expansion.is_end(idx) {
                self.slots.ends.push((
                    Leaf {
                        ticket: order.ticket,
                        is_end: true,
                        n: 1,
                        best: self.expansion.worth(idx)[0],
                        ..Leaf::default()
                    },
                    idx as u32,
                ));
                continue;
            }
            let slot = self.place(idx, order, cut.is_none());
            self.slots.n_pending += 1;
            if order.n_playouts > 1 {
                self.open(idx, slot, order.n_playouts);
                continue;
            }
            self.lanes.submit([Job {
                state: &self.slots.all[slot as usize].words,
                tag: u64::from(slot) << 32,
                n_playouts: 1,
                cut: job_cut(0),
                most_steps,
            }]);
        }
        let Opened {
            tags,
            leaves,
            moves,
            words,
            ..
        } = &mut self.opened;
        if !tags.is_empty() {
            let n_words = self.expansion.n_words;
            words.resize(words.len().max(leaves.len()), 0);
            self.lanes
                .advance_words(tags.len(), leaves, moves, |idx, next| {
                    words[idx * n_words..(idx + 1) * n_words].copy_from_slice(next);
                });
            for (idx, tag) in tags.iter().enumerate() {
                let slot = &mut self.slots.all[(tag >> 32) as usize];
                let words = &words[idx * n_words..(idx + 1) * n_words];
                slot.opened.extend_from_slice(words);
            }
            let jobs = tags.iter().enumerate().map(|(idx, &tag)| Job {
                state: &words[idx * n_words..(idx + 1) * n_words],
                tag,
                n_playouts: 1,
                cut: job_cut(1),
                most_steps,
            });
            self.lanes.submit(jobs);
        }
        self.times.bookkeeping.stop();
    }

    fn run(&mut self, terms: &Terms<'_>, _techniques: &mut Techniques, results: &mut Results) {
        self.times.bookkeeping.start(true);
        for (leaf, idx) in self.slots.ends.drain(..) {
            let idx = idx as usize;
            let (words, worth) = (self.expansion.words(idx), self.expansion.worth(idx));
            results.push(leaf, words, |_| &[], worth);
            results.counts.steps += 1;
        }
        self.times.bookkeeping.stop();
        if self.slots.n_pending == 0 {
            return;
        }
        self.times.rollouts.start(true);
        let until = Until::Steps(STEPS_PER_RUN);
        match &mut self.rules {
            Some(rules) => self.lanes.run_with_blocks(until, rules),
            None => self.lanes.run(until),
        }
        self.times.rollouts.stop();
        self.times.bookkeeping.start(true);
        self.collect(results);
        self.hand_over(results);
        if let Some(replay) = &mut self.replay {
            replay.run(&mut self.lanes, terms.limits, results);
        }
        self.times.bookkeeping.stop();
    }

    fn n_pending(&self) -> usize {
        self.slots.n_pending + self.slots.ends.len()
    }

    fn cancel(&mut self) {
        self.lanes.cancel();
        self.lanes.drain(|_| {});
        let slots = &mut self.slots;
        slots.free.clear();
        slots.free.extend(0..slots.all.len() as u32);
        slots.n_pending = 0;
        slots.done.clear();
        slots.ends.clear();
    }

    fn take_cost(&mut self) -> Option<Cost> {
        let rules = self.rules.as_mut()?;
        Some(std::mem::take(&mut rules.cost))
    }

    fn take_times(&mut self) -> Times {
        std::mem::take(&mut self.times)
    }
}
