//! Expands many single states at once: the legal moves, `terminal` and goals of each, or its successor.
//!
//! The states are transposed into the lanes of a separate matrix, as many as a vector has lanes, one phase at a time.

#![expect(unsafe_code, reason = "kernels run on rows by pointer")]

use super::block::bits;
use super::group::matrix;
use super::kernel::Simd;
use super::program::{FIRST_BASE, LanesProgram, Phase, RoleMoves, Segment};
use super::step::run_segments;
use super::transpose::{LANES, rows_to_states, states_to_rows};
use super::vector::Rows;
use super::words::Words;
use crate::state::{Goal, MoveId, RoleId};

/// Scratch memory for single states.
pub(super) struct Workbench {
    pub(super) rows: Rows,
    pub(super) sides: Vec<Option<Rows>>,
    states: Vec<u64>,
    /// Per lane and role: the legal moves of the states at hand.
    legal: Vec<Vec<MoveId>>,
    /// The states of a call, grouped by phase, and where the states of each phase end.
    pub(super) order: Vec<u32>,
    ends: Vec<u32>,
    pub(super) n_words: usize,
}

/// The properties of a state.
pub struct Expanded<'a> {
    legal: &'a [Vec<MoveId>],
    is_terminal: bool,
    phase: &'a Phase,
    goals: &'a [u64],
    n_words: usize,
    word: usize,
    lane: usize,
}

impl<'a> Expanded<'a> {
    /// Whether the state is terminal.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// The legal moves of a role, in order.
    #[must_use]
    pub fn legal_moves(&self, role: RoleId) -> &'a [MoveId] {
        &self.legal[role.idx()]
    }

    /// The goal values of a role that hold, as indexes into the ground program's list.
    pub fn goal_indexes(&self, role: RoleId) -> impl Iterator<Item = usize> + '_ {
        self.goals_on(role).map(|(idx, _)| idx)
    }

    /// The goal of a role in the state, if exactly one goal holds.
    #[must_use]
    pub fn goal(&self, role: RoleId) -> Option<Goal> {
        let mut on = self.goals_on(role);
        let (_, only) = on.next()?;
        if on.next().is_some() { None } else { only }
    }

    fn goals_on(&self, role: RoleId) -> impl Iterator<Item = (usize, Option<Goal>)> + '_ {
        let rows = self.phase.goals.roles[role.idx()].iter();
        let holds =
            |row: u32| self.goals[row as usize * self.n_words + self.word] >> self.lane & 1 == 1;
        rows.filter(move |goal| holds(goal.row))
            .map(|goal| (goal.idx as usize, goal.value))
    }
}

impl Workbench {
    pub(super) fn new(program: &LanesProgram) -> Workbench {
        let n_words = program.options.simd.n_words();
        Workbench {
            rows: Rows::new(0, n_words),
            sides: program.phases.iter().map(|_| None).collect(),
            states: Vec::new(),
            legal: vec![Vec::new(); program.n_roles * n_words * 64],
            order: Vec::new(),
            ends: Vec::new(),
            n_words,
        }
    }

    /// Looks at `n_states` states, whose words follow each other.
    pub(super) fn expand(
        &mut self,
        program: &LanesProgram,
        n_states: usize,
        words: &[u64],
        mut see: impl FnMut(usize, &Expanded<'_>),
    ) {
        self.sort_by_phase(program, n_states, words);
        let (order, n_lanes) = (std::mem::take(&mut self.order), self.n_words * 64);
        for (phase_idx, phase) in program.phases.iter().enumerate() {
            for batch in order[self.of_phase(phase_idx)].chunks(n_lanes) {
                self.load(program, words, batch);
                self.run(program, &phase.play);
                self.read_goals(program, phase_idx);
                self.read_legal(phase, batch.len());
                let goals = match &self.sides[phase_idx] {
                    Some(side) if phase.goals.side.is_some() => side.words(),
                    _ => self.rows.words(),
                };
                let terminal = &self.rows.words()[phase.terminal as usize * self.n_words..];
                for (place, &state) in batch.iter().enumerate() {
                    let (word, lane) = (place / 64, place % 64);
                    let legal = place * program.n_roles..(place + 1) * program.n_roles;
                    see(
                        state as usize,
                        &Expanded {
                            legal: &self.legal[legal],
                            is_terminal: terminal[word] >> lane & 1 == 1,
                            phase,
                            goals,
                            n_words: self.n_words,
                            word,
                            lane,
                        },
                    );
                }
            }
        }
        self.order = order;
    }

    /// Computes deferred goals.
    pub(super) fn read_goals(&mut self, program: &LanesProgram, phase_idx: usize) {
        let Some(side) = &program.phases[phase_idx].goals.side else {
            return;
        };
        let n_words = self.n_words;
        let to = self.sides[phase_idx].get_or_insert_with(|| matrix(side.n_rows, n_words));
        for &(from, row) in &side.park {
            let from = &self.rows.words()[from as usize * n_words..][..n_words];
            to.words_mut()[row as usize * n_words..][..n_words].copy_from_slice(from);
        }
        run_on(program, &side.code, to);
    }

    /// Lists the legal moves of the first lanes: row by row, so that a move that is legal nowhere costs next to nothing.
    fn read_legal(&mut self, phase: &Phase, n_lanes: usize) {
        let (n_words, n_roles) = (self.n_words, phase.roles.len());
        let lanes_in = |word: usize| match n_lanes - word * 64 {
            64.. => u64::MAX,
            n => (1 << n) - 1,
        };
        self.legal[..n_lanes * n_roles]
            .iter_mut()
            .for_each(Vec::clear);
        for (role, moves) in phase.roles.iter().enumerate() {
            let (rows, legal) = (self.rows.words(), &mut self.legal);
            let mut add = |mv: MoveId, row: Option<u32>| {
                for word in 0..n_lanes.div_ceil(64) {
                    let on = row.map_or(u64::MAX, |row| rows[row as usize * n_words + word]);
                    for lane in bits(on & lanes_in(word)) {
                        legal[(word * 64 + lane) * n_roles + role].push(mv);
                    }
                }
            };
            match moves {
                RoleMoves::None => {}
                RoleMoves::Only(only, row) => add(*only, *row),
                RoleMoves::Choice(choice) => {
                    let all = choice.moves.iter().zip(&choice.leaves.legal);
                    all.for_each(|(&mv, &row)| add(mv, Some(row)));
                }
            }
        }
    }

    /// Makes a joint move in each of `n_states` states. Words of states and moves follow each other, in the order of the
    /// roles.
    pub(super) fn advance(
        &mut self,
        program: &LanesProgram,
        n_states: usize,
        words: &[u64],
        moves: &[MoveId],
        mut see: impl FnMut(usize, &[u64]),
    ) {
        self.sort_by_phase(program, n_states, words);
        let (order, n_roles) = (std::mem::take(&mut self.order), program.n_roles);
        for (phase_idx, phase) in program.phases.iter().enumerate() {
            for batch in order[self.of_phase(phase_idx)].chunks(self.n_words * 64) {
                self.load(program, words, batch);
                for (role, of_role) in phase.roles.iter().enumerate() {
                    let move_at = |place: usize| moves[batch[place] as usize * n_roles + role];
                    self.set_moves(of_role, move_at, batch.len());
                }
                self.run(program, &phase.play);
                self.run(program, &phase.next);
                self.step(phase);
                let n = program.n_state_words;
                let next = &program.phases[(phase_idx + 1) % program.phases.len()];
                for word in 0..batch.len().div_ceil(64) {
                    self.states.resize(64 * n, 0);
                    let bases = &self.rows.words()[FIRST_BASE as usize * self.n_words..];
                    rows_to_states(program, bases, self.n_words, word, &mut self.states);
                    for (lane, &state) in batch[word * 64..].iter().take(64).enumerate() {
                        let words = &mut self.states[lane * n..(lane + 1) * n];
                        words
                            .iter_mut()
                            .zip(&next.fixed)
                            .for_each(|(word, fixed)| *word |= fixed);
                        see(state as usize, words);
                    }
                }
            }
        }
        self.order = order;
    }

    /// Groups the indexes of states by phase.
    pub(super) fn sort_by_phase(&mut self, program: &LanesProgram, n_states: usize, words: &[u64]) {
        let n = program.n_state_words;
        let phase_of = |idx: usize| program.marks.phase_of(&words[idx * n..(idx + 1) * n]);
        self.order.clear();
        self.ends.clear();
        for phase in 0..program.phases.len() {
            if program.phases.len() == 1 {
                self.order.extend(0..n_states as u32);
            } else {
                let of_phase = (0..n_states).filter(|&idx| phase_of(idx) == phase);
                self.order.extend(of_phase.map(|idx| idx as u32));
            }
            self.ends.push(self.order.len() as u32);
        }
    }

    /// Where the states of a phase are in the order.
    pub(super) fn of_phase(&self, phase: usize) -> std::ops::Range<usize> {
        let start = match phase {
            0 => 0,
            _ => self.ends[phase - 1],
        };
        start as usize..self.ends[phase] as usize
    }

    pub(super) fn load(&mut self, program: &LanesProgram, words: &[u64], batch: &[u32]) {
        if self.rows.words().is_empty() {
            self.rows = matrix(program.n_rows, self.n_words);
        }
        let n = program.n_state_words;
        for (word, chunk) in batch.chunks(64).enumerate() {
            self.states.clear();
            for &state in chunk {
                let state = state as usize;
                self.states
                    .extend_from_slice(&words[state * n..(state + 1) * n]);
            }
            self.states.resize(64 * n, 0);
            let bases = &mut self.rows.words_mut()[FIRST_BASE as usize * self.n_words..];
            states_to_rows(
                program,
                &self.states,
                &LANES,
                u64::MAX,
                bases,
                (self.n_words, word),
            );
        }
    }

    fn set_moves(&mut self, moves: &RoleMoves, move_at: impl Fn(usize) -> MoveId, n_places: usize) {
        let RoleMoves::Choice(choice) = moves else {
            return;
        };
        for &row in &choice.leaves.does {
            self.rows.words_mut()[row as usize * self.n_words..][..self.n_words].fill(0);
        }
        for place in 0..n_places {
            if let Ok(leaf) = choice.moves.binary_search(&move_at(place)) {
                let row = choice.leaves.does[leaf] as usize;
                self.rows.words_mut()[row * self.n_words + place / 64] |= 1 << (place % 64);
            }
        }
    }

    pub(super) fn step(&mut self, phase: &Phase) {
        let n_words = self.n_words;
        let words = self.rows.words_mut();
        for &(base, from) in &phase.step.plain {
            words.copy_within(
                from as usize * n_words..(from as usize + 1) * n_words,
                base as usize * n_words,
            );
        }
    }

    pub(super) fn run(&mut self, program: &LanesProgram, segments: &[Segment]) {
        run_on(program, segments, &mut self.rows);
    }
}

fn run_on(program: &LanesProgram, segments: &[Segment], rows: &mut Rows) {
    // SAFETY: the matrix was made for this code, and the CPU supports the instructions: that was checked when the game
    // was laid out.
    unsafe {
        match program.options.simd {
            Simd::Portable => run_segments::<Words>(segments, rows.pointer()),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 => run_avx2(segments, rows),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512 => run_avx512(segments, rows),
            #[cfg(not(target_arch = "x86_64"))]
            Simd::Avx2 | Simd::Avx512 => unreachable!("not available on this architecture"),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn run_avx2(segments: &[Segment], rows: &mut Rows) {
    // SAFETY: guaranteed by the caller.
    unsafe { run_segments::<std::arch::x86_64::__m256i>(segments, rows.pointer()) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn run_avx512(segments: &[Segment], rows: &mut Rows) {
    // SAFETY: guaranteed by the caller.
    unsafe { run_segments::<std::arch::x86_64::__m512i>(segments, rows.pointer()) }
}
