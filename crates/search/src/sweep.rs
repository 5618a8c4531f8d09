//! A sweep through the states of a single-player game, level by level: long puzzles are not solved by random games, but by
//! being thorough.
//!
//! All states of a level are expanded, equal ones once; of the next level a limited number is kept: those with the highest
//! goals, of these the ones with the most legal moves, then by chance. Every other sweep leaves the moves out of account. When
//! both have come to their end, the next ones keep four times as many. A sweep that never had to leave a state out has
//! seen everything. Nobody disturbs the only player, so the best end found is a line to follow.
//!
//! In: the state to begin in, a number of transitions at a time. Out: the best line so far.
//! Limits: what does not fit into the widest sweep is left to the tree.
//!
//! - Lowerre 1976, The Harpy Speech Recognition System (beam search)

use agon_engine::{Game, Goal, JointMove, MoveId, RoleId, State};
use rustc_hash::FxHashSet;

use crate::account::SweepAccount;
use crate::limits::Meter;
use crate::random::Random;
use crate::walker::Walker;

/// States of a level in the first sweep.
const FIRST_WIDTH: usize = 1 << 9;
/// States of a level in the last sweep.
const LAST_WIDTH: usize = 1 << 17;
/// How much wider each pair of sweeps is than the one before.
const WIDER: usize = 4;

/// A sweep at work.
pub(crate) struct Sweep {
    walker: Walker,
    joint: JointMove,
    random: Random,
    /// Where it begins.
    root: Option<State>,
    width: usize,
    /// Whether states with many moves stay.
    likes_moves: bool,
    /// Whether a state was left out.
    is_narrow: bool,
    is_done: bool,
    /// How each state that was kept came about: from which one, by which move.
    steps: Vec<(u32, MoveId)>,
    level: Vec<Kept>,
    /// How many of the level are expanded.
    n_expanded: usize,
    next: Vec<Kept>,
    seen: FxHashSet<State>,
    best: Option<f64>,
}

/// A state of a level.
struct Kept {
    state: State,
    /// Its place in the list of steps.
    step: u32,
    /// What decides whether it stays: its goal, its legal moves, and chance.
    rank: (u8, u32, u32),
}

/// The step before the first.
const ROOT: u32 = u32::MAX;

impl Sweep {
    pub(crate) fn new(game: &Game, seed: u64) -> Sweep {
        Sweep {
            walker: Walker::new(game),
            joint: JointMove::new([MoveId(0)]),
            random: Random::new(seed),
            root: None,
            width: FIRST_WIDTH,
            likes_moves: true,
            is_narrow: false,
            is_done: false,
            steps: Vec::new(),
            level: Vec::new(),
            n_expanded: 0,
            next: Vec::new(),
            seen: FxHashSet::default(),
            best: None,
        }
    }

    /// Begins in this state, unless it has already.
    pub(crate) fn come_to(&mut self, state: &State) {
        if self.root.as_ref() != Some(state) {
            self.root = Some(state.clone());
            self.width = FIRST_WIDTH;
            self.likes_moves = true;
            self.is_done = false;
            self.best = None;
            self.begin();
        }
    }

    fn begin(&mut self) {
        self.is_narrow = false;
        self.steps.clear();
        self.level.clear();
        self.next.clear();
        self.seen.clear();
        self.n_expanded = 0;
        self.level.extend(self.root.iter().map(|state| Kept {
            state: state.clone(),
            step: ROOT,
            rank: (0, 0, 0),
        }));
    }

    /// Goes on for about this number of transitions. A line that is better than all before, with its value, if there is one.
    pub(crate) fn go_on(
        &mut self,
        n_transitions: u64,
        meter: &mut Meter<'_>,
    ) -> Option<(f64, Vec<MoveId>)> {
        let mut found = None;
        let until = meter.n_transitions() + n_transitions;
        while !self.is_done && meter.n_transitions() < until && meter.stop().is_none() {
            if self.n_expanded == self.level.len() {
                self.end_level();
            } else {
                found = self.expand(meter).or(found);
                self.n_expanded += 1;
            }
        }
        found
    }

    /// Expands the next state of the level.
    fn expand(&mut self, meter: &mut Meter<'_>) -> Option<(f64, Vec<MoveId>)> {
        let Kept { state, step, .. } = &self.level[self.n_expanded];
        let step = *step;
        let role = RoleId(0);
        self.walker.load(state);
        let moves = self.walker.legal_moves(role).to_vec();
        let mut found = None;
        for mv in moves {
            self.walker.load(&self.level[self.n_expanded].state);
            self.joint.moves_mut()[0] = mv;
            self.walker.advance(&self.joint);
            meter.count_transition();
            let goal = self.walker.goal(role).map_or(0, Goal::value);
            if self.walker.is_terminal() {
                let value = f64::from(goal);
                if self.best.is_none_or(|best| value > best) {
                    self.best = Some(value);
                    found = Some((value, self.line(step, mv)));
                }
                continue;
            }
            let next = self.walker.state();
            if self.seen.insert(next.clone()) {
                let n_moves = match self.likes_moves {
                    true => self.walker.legal_moves(role).len() as u32,
                    false => 0,
                };
                self.next.push(Kept {
                    state: next,
                    step: self.steps.len() as u32,
                    rank: (goal, n_moves, self.random.below(u32::MAX)),
                });
                self.steps.push((step, mv));
            }
        }
        found
    }

    /// The moves that lead over a step to this one.
    fn line(&self, mut step: u32, last: MoveId) -> Vec<MoveId> {
        let mut line = vec![last];
        while step != ROOT {
            let (before, mv) = self.steps[step as usize];
            line.push(mv);
            step = before;
        }
        line.reverse();
        line
    }

    fn end_level(&mut self) {
        std::mem::swap(&mut self.level, &mut self.next);
        self.next.clear();
        self.seen.clear();
        self.n_expanded = 0;
        if self.level.len() > self.width {
            self.is_narrow = true;
            let highest_first = |a: &Kept, b: &Kept| b.rank.cmp(&a.rank);
            self.level
                .select_nth_unstable_by(self.width - 1, highest_first);
            self.level.truncate(self.width);
        }
        if self.level.is_empty() {
            self.is_done = !self.is_narrow || (self.width >= LAST_WIDTH && !self.likes_moves);
            self.width *= if self.likes_moves { 1 } else { WIDER };
            self.likes_moves = !self.likes_moves;
            if !self.is_done {
                self.begin();
            }
        }
    }

    /// What it did.
    pub(crate) fn account(&self) -> SweepAccount {
        SweepAccount {
            width: self.width as u64,
            is_done: self.is_done,
            is_complete: self.is_done && !self.is_narrow,
            best: self.best,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use std::sync::Arc;

    /// Ten steps to the right and never a false one; every wrong move is for ever, and goals tell nothing on the way.
    const PATH: &str = "(role you) (init (at 0)) (dir l) (dir r)
        (s 0 1) (s 1 2) (s 2 3) (s 3 4) (s 4 5) (s 5 6) (s 6 7) (s 7 8) (s 8 9) (s 9 10)
        (right 0 r) (right 1 l) (right 2 l) (right 3 r) (right 4 l) (right 5 r) (right 6 r) (right 7 l) (right 8 r) (right 9 l)
        (<= (legal you ?d) (dir ?d)) (<= (next (at ?m)) (true (at ?n)) (s ?n ?m))
        (<= (next (lost ?d)) (does you ?d) (true (at ?n)) (not (right ?n ?d)) (not lost))
        (<= lost (true (lost ?d))) (<= (next (lost ?d)) (true (lost ?d)))
        (<= terminal (true (at 10))) (<= (goal you 100) (not lost)) (<= (goal you 0) lost)";

    #[test]
    fn a_sweep_sees_everything() {
        let rules = agon_gdl::check(&agon_gdl::parse(PATH.as_bytes(), &Default::default()));
        let rules = Arc::new(rules.expect("it is well-formed"));
        let game = Game::compile(rules, &Default::default(), &|| false).expect("it runs");
        let mut sweep = Sweep::new(&game, 1);
        sweep.come_to(game.initial_state());
        let limits = Limits::default();
        let mut meter = Meter::start(&limits);
        let mut lines = Vec::new();
        for _ in 0..20 {
            lines.extend(sweep.go_on(10, &mut meter));
        }
        let (value, line) = lines.last().expect("there is an end");
        let words: String = line
            .iter()
            .map(|&mv| game.move_text(RoleId(0), mv))
            .collect();
        assert_eq!((*value, words.as_str()), (100.0, "rllrlrrlrl"));
        let account = sweep.account();
        assert!(account.is_complete);
        assert_eq!(account.best, Some(100.0));
        // Three states per level at most: right so far, or wrong by l or by r first.
        assert!(meter.n_transitions() <= 60);
    }
}
