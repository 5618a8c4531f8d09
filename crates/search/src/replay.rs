//! Playouts of the lanes, replayed for whoever must see their states.
//!
//! Lanes keep the moves of playouts but not their states, and FAST learns from states. So one playout in some is kept, and
//! when there are enough of them they are stepped through again together, from their leaves on and outside the tree. What
//! changed on the way is kept until the batch lands. Which playouts these are is a matter of counting, so that the same seed
//! gives the same tree.
//!
//! In: leaves, moves and values of playouts. Out: episodes and their values.

use std::sync::Arc;

use agon_engine::lanes::Lanes;
use agon_engine::{MoveId, State};

use crate::fast::{Episode, Eyes, Fast};
use crate::limits::Limits;

/// So many playouts are replayed together: as many as vectors have lanes.
const TOGETHER: usize = 256;
/// The clock is looked at after so many steps.
const PATIENCE: usize = 8;

/// Some playouts, and what was seen in them.
pub(crate) struct Replay {
    // Constant.
    eyes: Arc<Eyes>,
    n_roles: usize,
    // What changes with time.
    /// One playout in so many is replayed, and how many have passed since the last one.
    one_in: u32,
    n_passed: u32,
    // Playouts that wait.
    lines: Vec<Line>,
    /// Of all lines, step by step, in the order of the roles.
    moves: Vec<MoveId>,
    values: Vec<f64>,
    /// What was seen, if they wait no more.
    episodes: Vec<Episode>,
    is_seen: bool,
}

/// A playout: where it began, and where its moves are.
struct Line {
    leaf: State,
    start: usize,
    end: usize,
}

impl Replay {
    pub(crate) fn new(fast: &Fast, n_roles: usize) -> Replay {
        Replay {
            eyes: fast.eyes(),
            n_roles,
            one_in: fast.one_in(),
            n_passed: 0,
            lines: Vec::new(),
            moves: Vec::new(),
            values: Vec::new(),
            episodes: vec![Episode::default(); TOGETHER],
            is_seen: false,
        }
    }

    /// Whether the next playout is to be kept.
    #[inline]
    pub(crate) fn wants(&mut self) -> bool {
        self.n_passed += 1;
        let is_wanted = self.n_passed >= self.one_in && self.lines.len() < TOGETHER;
        if is_wanted {
            self.n_passed = 0;
        }
        is_wanted
    }

    /// A playout from this leaf: the moves of each role, as many, and what it was worth to each.
    pub(crate) fn add(
        &mut self,
        leaf: &State,
        roles: impl Iterator<Item = impl ExactSizeIterator<Item = MoveId>>,
        values: &[f64],
    ) {
        let start = self.moves.len();
        for (role, moves) in roles.enumerate() {
            if role == 0 {
                let n = moves.len() * self.n_roles;
                self.moves.resize(start + n, MoveId(0));
            }
            let to = self.moves[start + role..].iter_mut().step_by(self.n_roles);
            to.zip(moves).for_each(|(to, of)| *to = of);
        }
        self.lines.push(Line {
            leaf: leaf.clone(),
            start,
            end: self.moves.len(),
        });
        self.values.extend_from_slice(values);
    }

    /// Steps through the playouts if there are enough of them; `rest` is called now and then. If it is time to stop, they wait on.
    pub(crate) fn run(&mut self, lanes: &mut Lanes, limits: &Limits, rest: &mut dyn FnMut()) {
        if self.lines.len() < TOGETHER || self.is_seen {
            return;
        }
        let (eyes, lines, episodes) = (&self.eyes, &self.lines, &mut self.episodes);
        for (line, episode) in lines.iter().zip(&mut *episodes) {
            eyes.begin(episode, line.leaf.words());
        }
        let mut states: Vec<State> = lines.iter().map(|line| line.leaf.clone()).collect();
        let mut live: Vec<usize> = (0..lines.len()).collect();
        let mut next: Vec<State> = Vec::new();
        for step in 0.. {
            let moves = |line: usize| {
                let start = lines[line].start + step * self.n_roles;
                (start < lines[line].end).then(|| &self.moves[start..start + self.n_roles])
            };
            live.retain(|&line| moves(line).is_some());
            if live.is_empty() {
                break;
            }
            if step % PATIENCE == 0 {
                rest();
                if limits.is_over() {
                    return;
                }
            }
            let before: Vec<&State> = live.iter().map(|&line| &states[line]).collect();
            let joint: Vec<&[MoveId]> = live.iter().filter_map(|&line| moves(line)).collect();
            next.clear();
            next.resize(live.len(), State::default());
            lanes.advance(&before, &joint, |idx, words| {
                eyes.see(&mut episodes[live[idx]], words);
                next[idx] = State::from_words(words.into());
            });
            for (&line, state) in live.iter().zip(next.drain(..)) {
                states[line] = state;
            }
        }
        self.is_seen = true;
    }

    /// Teaches what was seen.
    pub(crate) fn teach(&mut self, fast: &mut Fast) {
        self.one_in = fast.one_in();
        if !std::mem::take(&mut self.is_seen) {
            return;
        }
        let values = self.values.chunks_exact(self.n_roles);
        for (episode, values) in self.episodes.iter().zip(values) {
            fast.learn_from(episode, values);
        }
        self.lines.clear();
        self.moves.clear();
        self.values.clear();
    }
}
