//! Expands many single states at once: the legal moves, `terminal` and goals of each, or its successor.
//!
//! The states are transposed into the lanes of a separate matrix, as many as a vector has lanes, one phase at a time.

#![expect(unsafe_code, reason = "kernels run on rows by pointer")]

use super::group::matrix;
use super::kernel::Simd;
use super::program::{FIRST_BASE, LanesProgram, Phase, RoleMoves, Segment};
use super::step::run_segments;
use super::transpose::{LANES, rows_to_states, states_to_rows};
use super::vector::Rows;
use crate::state::{Goal, MoveId, RoleId, State};

/// Scratch memory for single states.
pub(super) struct Workbench {
    rows: Rows,
    sides: Vec<Option<Rows>>,
    states: Vec<u64>,
    /// Legal moves of the current state, by role.
    legal: Vec<Vec<MoveId>>,
    n_words: usize,
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
            legal: vec![Vec::new(); program.n_roles],
            n_words,
        }
    }

    pub(super) fn expand(
        &mut self,
        program: &LanesProgram,
        states: &[&State],
        mut see: impl FnMut(usize, &Expanded<'_>),
    ) {
        for (phase_idx, batch) in self.batches(program, states) {
            let phase = &program.phases[phase_idx];
            self.load(program, states, &batch);
            self.run(program, &phase.play);
            if let Some(side) = &phase.goals.side {
                let n_words = self.n_words;
                let to = self.sides[phase_idx].get_or_insert_with(|| matrix(side.n_rows, n_words));
                for &(from, row) in &side.park {
                    let from = &self.rows.words()[from as usize * n_words..][..n_words];
                    to.words_mut()[row as usize * n_words..][..n_words].copy_from_slice(from);
                }
                run_on(program, &side.code, to);
            }
            for (place, &state) in batch.iter().enumerate() {
                let (word, lane) = (place / 64, place % 64);
                for (moves, legal) in phase.roles.iter().zip(&mut self.legal) {
                    legal.clear();
                    let is_on = |row: u32| {
                        self.rows.words()[row as usize * self.n_words + word] >> lane & 1 == 1
                    };
                    match moves {
                        RoleMoves::None => {}
                        RoleMoves::Only(only, row) => {
                            if row.is_none_or(is_on) {
                                legal.push(*only);
                            }
                        }
                        RoleMoves::Choice(choice) => {
                            let all = choice.moves.iter().zip(&choice.leaves.legal);
                            legal.extend(all.filter(|(_, row)| is_on(**row)).map(|(mv, _)| *mv));
                        }
                    }
                }
                let goals = match &self.sides[phase_idx] {
                    Some(side) if phase.goals.side.is_some() => side.words(),
                    _ => self.rows.words(),
                };
                let terminal = self.rows.words()[phase.terminal as usize * self.n_words + word];
                see(
                    state,
                    &Expanded {
                        legal: &self.legal,
                        is_terminal: terminal >> lane & 1 == 1,
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

    pub(super) fn advance(
        &mut self,
        program: &LanesProgram,
        states: &[&State],
        joint_moves: &[&[MoveId]],
        mut see: impl FnMut(usize, &[u64]),
    ) {
        for (phase_idx, batch) in self.batches(program, states) {
            let phase = &program.phases[phase_idx];
            self.load(program, states, &batch);
            for (role, moves) in phase.roles.iter().enumerate() {
                self.set_moves(moves, |place| joint_moves[batch[place]][role], batch.len());
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
                    see(state, words);
                }
            }
        }
    }

    /// Indexes of states of one phase, at most as many as there are lanes, with that phase.
    fn batches(&self, program: &LanesProgram, states: &[&State]) -> Vec<(usize, Vec<usize>)> {
        let mut by_phase = vec![Vec::new(); program.phases.len()];
        for (idx, state) in states.iter().enumerate() {
            by_phase[program.marks.phase_of(state.words())].push(idx);
        }
        let mut batches = Vec::new();
        for (phase, states) in by_phase.iter().enumerate() {
            batches.extend(
                states
                    .chunks(self.n_words * 64)
                    .map(|batch| (phase, batch.to_vec())),
            );
        }
        batches
    }

    fn load(&mut self, program: &LanesProgram, states: &[&State], batch: &[usize]) {
        if self.rows.words().is_empty() {
            self.rows = matrix(program.n_rows, self.n_words);
        }
        let n = program.n_state_words;
        for (word, chunk) in batch.chunks(64).enumerate() {
            self.states.clear();
            for &state in chunk {
                self.states.extend_from_slice(states[state].words());
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

    fn step(&mut self, phase: &Phase) {
        let n_words = self.n_words;
        let words = self.rows.words_mut();
        for &(base, from) in &phase.step.plain {
            words.copy_within(
                from as usize * n_words..(from as usize + 1) * n_words,
                base as usize * n_words,
            );
        }
        for &(base, from) in &phase.step.complement {
            for word in 0..n_words {
                words[base as usize * n_words + word] = !words[from as usize * n_words + word];
            }
        }
    }

    fn run(&mut self, program: &LanesProgram, segments: &[Segment]) {
        run_on(program, segments, &mut self.rows);
    }
}

fn run_on(program: &LanesProgram, segments: &[Segment], rows: &mut Rows) {
    // SAFETY: the matrix was made for this code, and the CPU supports the instructions: that was checked when the game
    // was laid out.
    unsafe {
        match program.options.simd {
            Simd::Portable => run_segments::<u64>(segments, rows.pointer()),
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
