//! The step of a batch: load states into lanes, make the moves, and read the arrays of the successors.
//!
//! Environments are grouped by phase, as many as a vector has lanes. After *play* and *next* the lanes hold the
//! successors, all of them in the next phase, so that one more *play* is enough to read what the arrays need. Goals that
//! are laid out separately are evaluated for finished matches of all groups together.

#![expect(
    unsafe_code,
    reason = "CPU instructions are chosen at run time; the whole step is compiled once for each level"
)]

use std::sync::Arc;

use super::draw::Draw;
use super::level::{Cpu, Level, dispatch, spread_rows};
use super::moves::{Given, Written};
use super::seats::{Fate, Mask, Seats, low_bits};
use super::{BatchProgram, Envs, NO_GOAL};
use crate::lanes::block::bits;
use crate::lanes::expand::Workbench;
use crate::lanes::program::{FIRST_BASE, GoalRow};
use crate::lanes::transpose::{Matrix, transpose_low_rows, transpose_to_low_rows};

/// Scratch memory of one thread.
pub struct Stepper {
    program: Arc<BatchProgram>,
    cpu: Cpu,
    pub(super) bench: Workbench,
    /// The environments by phase, and where those of each phase end.
    order: Vec<u32>,
    /// Room for the environments of the second of two phases.
    second: Vec<u32>,
    ends: Vec<usize>,
    phases: Vec<u8>,
    /// Per phase and role: the rows of choices that may be set.
    pub(super) written: Vec<Vec<Written>>,
    /// Per phase: finished matches whose goals are not known yet.
    open: Vec<Vec<u32>>,
    /// The legal actions and the role of the initial state.
    initial_legal: Vec<u64>,
    initial_role: i8,
    /// Whether some match has ended and waits for a reset.
    pub(super) has_over: bool,
}

impl Stepper {
    /// Scratch memory for this program.
    #[must_use]
    pub fn new(program: &Arc<BatchProgram>) -> Stepper {
        let lanes = &program.program;
        let n_phases = lanes.phases.len();
        let mut stepper = Stepper {
            cpu: Cpu::new(lanes.options.simd),
            bench: Workbench::new(lanes),
            order: Vec::new(),
            second: Vec::new(),
            ends: vec![0; n_phases],
            phases: Vec::new(),
            written: vec![vec![Written::Some(Vec::new()); lanes.n_roles]; n_phases],
            open: vec![Vec::new(); n_phases],
            initial_legal: vec![0; program.n_legal_words()],
            initial_role: 0,
            has_over: false,
            program: Arc::clone(program),
        };
        stepper.look_at_initial();
        stepper
    }

    /// Reads the legal actions of the initial state.
    fn look_at_initial(&mut self) {
        let program = Arc::clone(&self.program);
        let phase = program.initial_phase;
        self.bench.load(&program.program, &program.initial, &[0]);
        let seats = self.look(&program, phase);
        for (idx, word) in self.initial_legal.iter_mut().enumerate() {
            let matrix = legal_words(&program, &self.bench, phase, 0, &seats, idx);
            *word = matrix.0[0];
        }
        self.initial_role = seats.role(program.options.in_turn, 0, 0);
    }

    /// Puts environments into the initial state; all of them, or those that are marked.
    pub fn reset(&self, envs: &mut Envs<'_>, marked: Option<&[bool]>) {
        envs.rewards.fill(0.0);
        envs.terminated.fill(false);
        envs.truncated.fill(false);
        let is_marked = |env: &u32| marked.is_none_or(|marked| marked[*env as usize]);
        let places: Vec<u32> = (0..envs.len() as u32).filter(is_marked).collect();
        for places in places.chunks(64) {
            let fate = Fate::all_start(places.len());
            for &env in places {
                (envs.steps[env as usize], envs.over[env as usize]) = (0, false);
                envs.roles[env as usize] = self.initial_role;
            }
            write_states(self, None, envs, places, fate);
            write_legal(self, None, envs, places, fate);
        }
        let program = &*self.program;
        dispatch!(self.cpu, show(program: &BatchProgram, envs: &mut Envs<'_>) -> ());
    }

    /// Reads the arrays of environments whose states have just been set. Terminal states wait for a reset. Returns the
    /// first environment in which several roles have a choice, although roles are said to move in turn.
    pub fn observe(&mut self, envs: &mut Envs<'_>) -> Option<usize> {
        envs.over.fill(false);
        envs.steps.fill(0);
        envs.rewards.fill(0.0);
        envs.terminated.fill(false);
        envs.truncated.fill(false);
        self.has_over = false;
        let stepper = self;
        dispatch!(
            stepper.cpu,
            observe(stepper: &mut Stepper, envs: &mut Envs<'_>) -> Option<usize>
        )
    }

    /// Makes a step in each environment. `actions` has one entry per seat; -1 stands for the only legal action. Actions
    /// of environments that wait for a reset are ignored. `n_draws` is the number of steps before this one. Returns the
    /// first environment in which several roles have a choice, although roles are said to move in turn.
    pub fn step(&mut self, envs: &mut Envs<'_>, actions: &[i32], n_draws: u64) -> Option<usize> {
        assert_eq!(actions.len(), envs.len() * self.program.n_seats());
        envs.rewards.fill(0.0);
        envs.terminated.fill(false);
        envs.truncated.fill(false);
        self.has_over = envs.over.contains(&true);
        let draw = Draw::new(!self.program.options.seed, n_draws);
        let stepper = self;
        dispatch!(
            stepper.cpu,
            step(stepper: &mut Stepper, envs: &mut Envs<'_>, actions: &[i32], draw: Draw) -> Option<usize>
        )
    }

    /// Groups the environments by phase.
    #[inline(always)]
    fn sort(&mut self, program: &BatchProgram, envs: &Envs<'_>) {
        let (lanes, n_envs) = (&program.program, envs.len());
        if lanes.phases.len() == 1 {
            if self.order.len() != n_envs {
                self.order = (0..n_envs as u32).collect();
            }
            self.ends[0] = n_envs;
            return;
        }
        self.order.resize(n_envs, 0);
        let states = envs.states.chunks_exact(lanes.n_state_words);
        if let Some(second) = lanes.marks.second_of_two() {
            // The usual case, in one pass without branches, because the phases are unpredictable.
            self.second.resize(n_envs, 0);
            let (mut n_first, mut n_second) = (0, 0);
            for (env, state) in states.enumerate() {
                (self.order[n_first], self.second[n_second]) = (env as u32, env as u32);
                let is_second = usize::from(state[second.word] & second.mask == second.value);
                n_second += is_second;
                n_first += 1 - is_second;
            }
            self.order[n_first..].copy_from_slice(&self.second[..n_second]);
            self.ends.copy_from_slice(&[n_first, n_envs]);
            return;
        }
        self.phases.resize(n_envs, 0);
        let mut counts = [0_usize; 256];
        for (state, phase) in states.zip(&mut self.phases) {
            let found = lanes.marks.phase_of(state) as u8;
            *phase = found;
            counts[found as usize] += 1;
        }
        let mut end = 0;
        for (phase, to) in self.ends.iter_mut().enumerate() {
            let start = end;
            end += counts[phase];
            counts[phase] = start;
            *to = end;
        }
        for (env, &phase) in self.phases.iter().enumerate() {
            let place = &mut counts[phase as usize];
            self.order[*place] = env as u32;
            *place += 1;
        }
    }

    /// The environments of a phase.
    fn of_phase(&self, phase: usize) -> std::ops::Range<usize> {
        let start = phase.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[phase]
    }

    /// Evaluates legal moves and `terminal` of a phase in all lanes, and who is to move.
    fn look(&mut self, program: &BatchProgram, phase: usize) -> Seats {
        let lanes = &program.program;
        self.bench.run(lanes, &lanes.phases[phase].play);
        Seats::new(program, phase, self.bench.rows.words(), self.bench.n_words)
    }

    /// Notes the ends of matches, and the rewards of those that ended by an illegal action.
    fn end(&self, program: &BatchProgram, envs: &mut Envs<'_>, places: &[u32], fate: Fate) {
        let n_roles = program.n_roles();
        for lane in bits(fate.ended) {
            let env = places[lane] as usize;
            let is_cut = fate.truncated >> lane & 1 == 1;
            (envs.terminated[env], envs.truncated[env]) = (!is_cut, is_cut);
        }
        for lane in bits(fate.foul) {
            let env = places[lane] as usize;
            let rewards = &mut envs.rewards[env * n_roles..(env + 1) * n_roles];
            rewards.fill(program.options.rewards[NO_GOAL]);
            rewards[envs.roles[env].max(0) as usize] = program.options.rewards[0];
        }
    }

    /// Writes the rewards of some lanes from the goals of the matrix.
    fn reward(
        &self,
        program: &BatchProgram,
        envs: &mut Envs<'_>,
        phase: usize,
        block: usize,
        places: &[u32],
        lanes: u64,
    ) {
        let (goals, n_words) = (&program.program.phases[phase].goals, self.bench.n_words);
        let words = match &self.bench.sides[phase] {
            Some(side) if goals.side.is_some() => side.words(),
            _ => self.bench.rows.words(),
        };
        let n_roles = goals.roles.len();
        for (role, rows) in goals.roles.iter().enumerate() {
            let on = |goal: &GoalRow| words[goal.row as usize * n_words + block] & lanes;
            let (mut one, mut several) = (0, 0);
            for goal in rows {
                several |= one & on(goal);
                one |= on(goal);
            }
            let mut pay = |lanes: u64, goal: usize| {
                for lane in bits(lanes) {
                    let to = places[lane] as usize * n_roles + role;
                    envs.rewards[to] = program.options.rewards[goal];
                }
            };
            pay(lanes & (several | !one), NO_GOAL);
            for goal in rows {
                let value = goal.value.map_or(NO_GOAL, |goal| goal.value() as usize);
                pay(on(goal) & !several, value);
            }
        }
    }

    /// Evaluates the goals that were left open, from the last states.
    fn settle(&mut self, program: &BatchProgram, envs: &mut Envs<'_>) {
        let lanes = &program.program;
        for phase in 0..lanes.phases.len() {
            let mut open = std::mem::take(&mut self.open[phase]);
            for batch in open.chunks(self.bench.n_words * 64) {
                self.bench.load(lanes, envs.finals, batch);
                self.bench.run(lanes, &lanes.phases[phase].play);
                self.bench.read_goals(lanes, phase);
                for (block, places) in batch.chunks(64).enumerate() {
                    let all = low_bits(places.len());
                    self.reward(program, envs, phase, block, places, all);
                }
            }
            open.clear();
            self.open[phase] = open;
        }
    }
}

impl Fate {
    /// All matches start.
    fn all_start(n_places: usize) -> Fate {
        Fate {
            idle: 0,
            ended: 0,
            truncated: 0,
            foul: 0,
            reset: low_bits(n_places),
            kept: 0,
        }
    }
}

/// # Safety
/// The CPU supports the level.
#[inline(always)]
unsafe fn observe<L: Level>(stepper: &mut Stepper, envs: &mut Envs<'_>) -> Option<usize> {
    let program = Arc::clone(&stepper.program);
    stepper.sort(&program, envs);
    let order = std::mem::take(&mut stepper.order);
    let mut conflict = None;
    for phase in 0..program.phases.len() {
        for batch in order[stepper.of_phase(phase)].chunks(stepper.bench.n_words * 64) {
            load(&program, &mut stepper.bench, envs.states, batch);
            arrive(stepper, &program, envs, phase, batch, None, &mut conflict);
        }
    }
    stepper.order = order;
    // SAFETY: guaranteed by the caller.
    unsafe { show::<L>(&program, envs) };
    conflict
}

/// # Safety
/// The CPU supports the level.
#[inline(always)]
unsafe fn step<L: Level>(
    stepper: &mut Stepper,
    envs: &mut Envs<'_>,
    actions: &[i32],
    draw: Draw,
) -> Option<usize> {
    let program = Arc::clone(&stepper.program);
    let lanes = &program.program;
    advance_clocks(envs, stepper.has_over);
    stepper.sort(&program, envs);
    let order = std::mem::take(&mut stepper.order);
    let mut conflict = None;
    for (idx, phase) in lanes.phases.iter().enumerate() {
        for batch in order[stepper.of_phase(idx)].chunks(stepper.bench.n_words * 64) {
            load(&program, &mut stepper.bench, envs.states, batch);
            stepper.bench.run(lanes, &phase.play);
            let fouls = stepper.set_moves(&program, envs, idx, batch, Given { actions, draw });
            stepper.bench.run(lanes, &phase.next);
            stepper.bench.step(phase);
            let next = (idx + 1) % lanes.phases.len();
            arrive(
                stepper,
                &program,
                envs,
                next,
                batch,
                Some(&fouls),
                &mut conflict,
            );
        }
    }
    stepper.order = order;
    stepper.settle(&program, envs);
    // SAFETY: guaranteed by the caller.
    unsafe { show::<L>(&program, envs) };
    conflict
}

/// Writes the states of environments into the rows of the bases.
#[inline(always)]
fn load(program: &BatchProgram, bench: &mut Workbench, states: &[u64], batch: &[u32]) {
    let (lanes, n_words) = (&program.program, bench.n_words);
    let n = lanes.n_state_words;
    let rows = &mut bench.rows.words_mut()[FIRST_BASE as usize * n_words..];
    let mut matrix = Matrix([0; 64]);
    for (block, places) in batch.chunks(64).enumerate() {
        for base_word in &lanes.base_words {
            for (word, &env) in matrix.0.iter_mut().zip(places) {
                *word = states[env as usize * n + base_word.word];
            }
            transpose_to_low_rows(lanes.options.simd, &mut matrix, base_word.n_low_bits());
            let rows = rows[base_word.first * n_words..].chunks_exact_mut(n_words);
            for (row, &bit) in rows.zip(&base_word.bits) {
                row[block] = matrix.0[bit as usize % 64];
            }
        }
    }
}

/// Counts a step in all matches that are not over.
#[inline(always)]
fn advance_clocks(envs: &mut Envs<'_>, has_over: bool) {
    match has_over {
        false => envs.steps.iter_mut().for_each(|n| *n = n.saturating_add(1)),
        true => {
            let all = envs.steps.iter_mut().zip(&*envs.over);
            all.for_each(|(n, &over)| *n = n.saturating_add(u32::from(!over)));
        }
    }
}

/// Writes the observations and the masks of all environments.
///
/// # Safety
/// The CPU supports the level.
#[inline(always)]
unsafe fn show<L: Level>(program: &BatchProgram, envs: &mut Envs<'_>) {
    let (n_words, n_mask_words) = (program.n_state_words(), program.n_mask_words);
    // SAFETY: guaranteed by the caller.
    unsafe {
        spread_rows::<L>(envs.states, n_words, program.n_fluents, envs.observation);
        spread_rows::<L>(envs.legal, n_mask_words, program.n_actions, envs.mask);
    }
}

/// Reads the states that the lanes have arrived at, by a step or because they were set.
#[inline(always)]
fn arrive(
    stepper: &mut Stepper,
    program: &BatchProgram,
    envs: &mut Envs<'_>,
    phase: usize,
    batch: &[u32],
    fouls: Option<&Mask>,
    conflict: &mut Option<usize>,
) {
    let seats = stepper.look(program, phase);
    let is_step = fouls.is_some();
    let every_step = program.options.every_step && is_step;
    if every_step {
        stepper.bench.read_goals(&program.program, phase);
    }
    let is_apart = program.program.phases[phase].goals.side.is_some() && !every_step;
    for (block, places) in batch.chunks(64).enumerate() {
        let foul = fouls.map_or(0, |fouls| fouls[block]);
        let has_over = stepper.has_over;
        let mut fate = Fate::new(program, envs, places, &seats, (block, foul), has_over);
        if !is_step {
            fate.reset = 0;
        }
        let against = seats.conflicts(program, block) & low_bits(places.len()) & !fate.idle;
        if let Some(lane) = bits(against).next() {
            conflict.get_or_insert(places[lane] as usize);
        }
        stepper.end(program, envs, places, fate);
        let rewarded = match every_step {
            true => low_bits(places.len()) & !fate.idle,
            false if is_step => fate.ended,
            false => 0,
        } & !fate.foul;
        match is_apart {
            true => {
                let open = bits(rewarded).map(|lane| places[lane]);
                stepper.open[phase].extend(open);
            }
            false => stepper.reward(program, envs, phase, block, places, rewarded),
        }
        let at = Some((phase, block, &seats));
        write_states(stepper, at, envs, places, fate);
        write_legal(stepper, at, envs, places, fate);
        write_roles(stepper, envs, places, &seats, block, fate);
    }
}

/// Where the lanes of a block are: its phase, its number, and who can act; `None` if all matches start.
type At<'a> = Option<(usize, usize, &'a Seats)>;

/// Writes the states of a block.
#[inline(always)]
fn write_states(stepper: &Stepper, at: At<'_>, envs: &mut Envs<'_>, places: &[u32], fate: Fate) {
    let program = &*stepper.program;
    let (lanes, n_words) = (&program.program, stepper.bench.n_words);
    let n = lanes.n_state_words;
    let mut base_words = lanes.base_words.iter().peekable();
    let mut matrix = Matrix([0; 64]);
    for word in 0..n {
        if let Some((phase, block, _)) = at {
            matrix.0.fill(0);
            if let Some(base_word) = base_words.next_if(|base_word| base_word.word == word) {
                let first = FIRST_BASE as usize + base_word.first;
                let rows = stepper.bench.rows.words()[first * n_words..].chunks_exact(n_words);
                for (row, &bit) in rows.zip(&base_word.bits) {
                    matrix.0[bit as usize % 64] = row[block];
                }
                transpose_low_rows(lanes.options.simd, &mut matrix, base_word.n_low_bits());
            }
            let fixed = lanes.phases[phase].fixed[word];
            matrix.0.iter_mut().for_each(|word| *word |= fixed);
        }
        for lane in bits(fate.kept | fate.foul) {
            matrix.0[lane] = envs.states[places[lane] as usize * n + word];
        }
        for lane in bits(fate.ended) {
            envs.finals[places[lane] as usize * n + word] = matrix.0[lane];
        }
        for lane in bits(fate.reset) {
            matrix.0[lane] = program.initial[word];
        }
        for (&state, &env) in matrix.0.iter().zip(places) {
            envs.states[env as usize * n + word] = state;
        }
    }
}

/// One word of the legal actions of all lanes of a block.
#[inline(always)]
fn legal_words(
    program: &BatchProgram,
    bench: &Workbench,
    phase: usize,
    block: usize,
    seats: &Seats,
    idx: usize,
) -> Matrix {
    let (words, n_words) = (bench.rows.words(), bench.n_words);
    let mut matrix = Matrix([0; 64]);
    for row in &program.phases[phase].masks[idx] {
        let acting = seats.acting[row.role as usize][block];
        matrix.0[row.bit as usize % 64] |= words[row.row as usize * n_words + block] & acting;
    }
    let n_bits = (program.n_actions - idx % program.n_mask_words * 64).min(64);
    transpose_low_rows(program.program.options.simd, &mut matrix, n_bits);
    matrix
}

/// Writes the legal actions of a block.
#[inline(always)]
fn write_legal(stepper: &Stepper, at: At<'_>, envs: &mut Envs<'_>, places: &[u32], fate: Fate) {
    let program = &*stepper.program;
    let n_legal = program.n_legal_words();
    for idx in 0..n_legal {
        let mut matrix = match at {
            Some((phase, block, seats)) => {
                legal_words(program, &stepper.bench, phase, block, seats, idx)
            }
            None => Matrix([0; 64]),
        };
        // Nobody has a legal action after the end.
        for lane in bits(fate.ended | fate.kept) {
            matrix.0[lane] = 0;
        }
        for lane in bits(fate.reset) {
            matrix.0[lane] = stepper.initial_legal[idx];
        }
        for (&legal, &env) in matrix.0.iter().zip(places) {
            envs.legal[env as usize * n_legal + idx] = legal;
        }
    }
}

/// Writes the roles to move, and which matches wait for a reset.
#[inline(always)]
fn write_roles(
    stepper: &Stepper,
    envs: &mut Envs<'_>,
    places: &[u32],
    seats: &Seats,
    block: usize,
    fate: Fate,
) {
    let in_turn = stepper.program.options.in_turn;
    match seats.common_role(in_turn, block) {
        Some(role) => places
            .iter()
            .for_each(|&env| envs.roles[env as usize] = role),
        None => {
            for (lane, &env) in places.iter().enumerate() {
                envs.roles[env as usize] = seats.role(in_turn, block, lane);
            }
        }
    }
    for lane in bits(fate.ended & !fate.reset) {
        envs.over[places[lane] as usize] = true;
    }
    for lane in bits(fate.reset) {
        let env = places[lane] as usize;
        (envs.roles[env], envs.steps[env], envs.over[env]) = (stepper.initial_role, 0, false);
    }
}
