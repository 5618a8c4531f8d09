//! Playouts of the lanes, replayed for techniques that must see their states.
//!
//! Lanes keep the moves of playouts but not their states, and FAST learns from states. So one playout in some is kept, and
//! when there are enough of them they are stepped through again together, from their leaves on and outside the tree. Which
//! playouts these are is a matter of counting, so that the same seed gives the same tree.
//!
//! In: leaves, moves and values of playouts. Out: episodes and their values.

use std::sync::Arc;

use agon_engine::MoveId;
use agon_engine::lanes::Lanes;

use crate::episode::{Episode, Eyes};
use crate::limits::Limits;
use crate::simulation::Results;
use crate::techniques::fast::Fast;

/// Playouts that are replayed together: as many as vectors have lanes.
const TOGETHER: usize = 256;
/// Steps between two looks at the clock.
const PATIENCE: usize = 8;

/// Some playouts that wait.
pub(crate) struct Replay {
    // Constant.
    eyes: Arc<Eyes>,
    n_roles: usize,
    /// One playout in this many is replayed, and how many have passed since the last one.
    one_in: u32,
    n_passed: u32,
    // Playouts that wait.
    /// The words of their states, and where their moves end.
    words: Vec<u64>,
    ends: Vec<usize>,
    /// Of all lines, step by step, in the order of the roles.
    moves: Vec<MoveId>,
    values: Vec<f64>,
    // Scratch.
    live: Vec<usize>,
    before: Vec<u64>,
    joint: Vec<MoveId>,
}

impl Replay {
    pub(crate) fn new(fast: &Fast, n_roles: usize) -> Replay {
        Replay {
            eyes: fast.eyes(),
            n_roles,
            one_in: fast.one_in(),
            n_passed: 0,
            words: Vec::new(),
            ends: Vec::new(),
            moves: Vec::new(),
            values: Vec::new(),
            live: Vec::new(),
            before: Vec::new(),
            joint: Vec::new(),
        }
    }

    /// One playout in this many is replayed from now on.
    pub(crate) fn set_one_in(&mut self, one_in: u32) {
        self.one_in = one_in;
    }

    /// Whether the next playout is to be kept.
    #[inline]
    pub(crate) fn wants(&mut self) -> bool {
        self.n_passed += 1;
        let is_wanted = self.n_passed >= self.one_in && self.ends.len() < TOGETHER;
        if is_wanted {
            self.n_passed = 0;
        }
        is_wanted
    }

    /// A playout from this state: its first joint move if it was given, the moves of each role after it, as many, and what it was
    /// worth to each.
    pub(crate) fn add(
        &mut self,
        words: &[u64],
        first: &[MoveId],
        roles: impl Iterator<Item = impl ExactSizeIterator<Item = MoveId>>,
        values: &[f64],
    ) {
        self.moves.extend_from_slice(first);
        let start = self.moves.len();
        for (role, moves) in roles.enumerate() {
            if role == 0 {
                let n = moves.len() * self.n_roles;
                self.moves.resize(start + n, MoveId(0));
            }
            let to = self.moves[start + role..].iter_mut().step_by(self.n_roles);
            to.zip(moves).for_each(|(to, mv)| *to = mv);
        }
        self.words.extend_from_slice(words);
        self.ends.push(self.moves.len());
        self.values.extend_from_slice(values);
    }

    /// Steps through the playouts if there are enough of them, and adds what was seen to the results. If it is time to stop,
    /// they are forgotten.
    pub(crate) fn run(&mut self, lanes: &mut Lanes, limits: &Limits, results: &mut Results) {
        if self.ends.len() < TOGETHER {
            return;
        }
        if self.step_through(lanes, limits, results) {
            results.episode_values.extend_from_slice(&self.values);
        } else {
            results.episodes.clear();
        }
        self.words.clear();
        self.ends.clear();
        self.moves.clear();
        self.values.clear();
    }

    fn step_through(&mut self, lanes: &mut Lanes, limits: &Limits, results: &mut Results) -> bool {
        let (n_roles, n_words) = (self.n_roles, self.words.len() / self.ends.len());
        results.episodes.resize(self.ends.len(), Episode::default());
        let (eyes, ends, moves) = (&self.eyes, &self.ends, &self.moves);
        let start = |line: usize| if line == 0 { 0 } else { ends[line - 1] };
        let states = self.words.chunks(n_words);
        for (episode, words) in results.episodes.iter_mut().zip(states) {
            eyes.begin(episode, words);
        }
        self.live.clear();
        self.live.extend(0..ends.len());
        for step in 0.. {
            let has_step = |line: &usize| start(*line) + step * n_roles < ends[*line];
            self.live.retain(has_step);
            if self.live.is_empty() {
                return true;
            }
            if step % PATIENCE == 0 && limits.is_over() {
                return false;
            }
            self.before.clear();
            self.joint.clear();
            for &line in &self.live {
                let at = start(line) + step * n_roles;
                self.joint.extend_from_slice(&moves[at..at + n_roles]);
                self.before
                    .extend_from_slice(&self.words[line * n_words..(line + 1) * n_words]);
            }
            let (live, words) = (&self.live, &mut self.words);
            lanes.advance_words(live.len(), &self.before, &self.joint, |idx, next| {
                let line = live[idx];
                words[line * n_words..(line + 1) * n_words].copy_from_slice(next);
                eyes.see(&mut results.episodes[line], next);
            });
        }
        true
    }
}
