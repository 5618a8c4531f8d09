//! The step of a batch: load states into lanes, make the moves, and read the arrays of the successors.
//!
//! Environments are grouped by phase, as many as a vector has lanes. After *play* and *next* the lanes hold the
//! successors, all of them in the next phase, so that one more *play* is enough to read what the arrays need. Goals that
//! are laid out separately are evaluated for finished matches of all groups together.

use std::sync::Arc;

use super::draw::Draw;
use super::spread::spread_by;
use super::{AutoReset, BatchProgram, Envs, Illegal, NO_GOAL, NO_ROW, PhaseRows, allowed};
use crate::lanes::block::bits;
use crate::lanes::expand::Workbench;
use crate::lanes::program::{FIRST_BASE, GoalRow};
use crate::lanes::transpose::{Matrix, rows_to_states, transpose_by};

/// Most words of a vector.
const WORDS: usize = 8;

/// One bit per lane of a vector.
type Mask = [u64; WORDS];

/// Scratch memory of one thread.
pub struct Stepper {
    program: Arc<BatchProgram>,
    bench: Workbench,
    /// Per phase and role: the rows of choices that may be set, and whether all of them may.
    written: Vec<Vec<Written>>,
    /// The states and legal actions of 64 lanes.
    states: Vec<u64>,
    legal: Vec<u64>,
    /// Per phase: finished matches whose goals are not known yet.
    open: Vec<Open>,
    /// The legal actions and the role of the initial state.
    initial_legal: Vec<u64>,
    initial_role: i8,
}

#[derive(Clone, Default)]
struct Written {
    rows: Vec<u32>,
    all: bool,
}

#[derive(Clone, Default)]
struct Open {
    envs: Vec<u32>,
    states: Vec<u64>,
}

/// Who can do what in the lanes of a vector.
struct Seats {
    /// Per role: lanes in which it is to move, or, if roles do not move in turn, in which the match goes on.
    acting: Vec<Mask>,
    /// Lanes in which exactly one role, this one, has a choice.
    chooser: Vec<Mask>,
    /// Lanes in which several roles have a choice.
    several: Mask,
    /// Lanes in which some role has no legal move.
    stuck: Mask,
    terminal: Mask,
}

/// What happened to the lanes of a block.
#[derive(Clone, Copy)]
struct Fate {
    /// Lanes with an environment.
    used: u64,
    /// Lanes whose match had ended before.
    idle: u64,
    /// Lanes that end now, and those of them that are cut off.
    ended: u64,
    truncated: u64,
    /// Lanes in which an illegal action was made.
    foul: u64,
    /// Lanes that start again.
    reset: u64,
}

impl Stepper {
    /// Scratch memory for this program.
    #[must_use]
    pub fn new(program: &Arc<BatchProgram>) -> Stepper {
        let lanes = &program.program;
        let n_roles = lanes.n_roles;
        let mut stepper = Stepper {
            bench: Workbench::new(lanes),
            written: vec![vec![Written::default(); n_roles]; lanes.phases.len()],
            states: vec![0; 64 * lanes.n_state_words],
            legal: vec![0; 64 * program.n_legal_words()],
            open: vec![Open::default(); lanes.phases.len()],
            initial_legal: vec![0; program.n_legal_words()],
            initial_role: 0,
            program: Arc::clone(program),
        };
        stepper.look_at_initial();
        stepper
    }

    fn look_at_initial(&mut self) {
        let program = Arc::clone(&self.program);
        let phase = program.initial_phase;
        self.bench.load(&program.program, &program.initial, &[0]);
        let seats = self.look(&program, phase);
        self.read_legal(&program, phase, 0, &seats);
        self.initial_legal
            .copy_from_slice(&self.legal[..program.n_legal_words()]);
        self.initial_role = role_of(&program, &seats, 0, 0);
    }

    /// Puts environments into the initial state; all of them, or those that are marked.
    pub fn reset(&self, envs: &mut Envs<'_>, marked: Option<&[bool]>) {
        for env in 0..envs.len() {
            envs.rewards[env * self.program.n_roles()..][..self.program.n_roles()].fill(0.0);
            (envs.terminated[env], envs.truncated[env]) = (false, false);
            if marked.is_none_or(|marked| marked[env]) {
                self.start(envs, env);
            }
        }
    }

    fn start(&self, envs: &mut Envs<'_>, env: usize) {
        self.write(
            envs,
            env,
            &self.program.initial,
            &self.initial_legal,
            self.initial_role,
        );
        (envs.steps[env], envs.over[env]) = (0, false);
    }

    /// Reads the arrays of environments whose states have just been set. Terminal states wait for a reset. Returns the
    /// first environment in which several roles have a choice, although roles are said to move in turn.
    pub fn observe(&mut self, envs: &mut Envs<'_>) -> Option<usize> {
        let program = Arc::clone(&self.program);
        envs.steps.fill(0);
        envs.over.fill(false);
        envs.rewards.fill(0.0);
        envs.terminated.fill(false);
        envs.truncated.fill(false);
        let mut conflict = None;
        self.by_phase(&program, envs, &mut |stepper, envs, phase, batch| {
            let lanes = &program.program;
            stepper.bench.load(lanes, envs.states, batch);
            let seats = stepper.look(&program, phase);
            for (block, places) in batch.chunks(64).enumerate() {
                let used = low_bits(places.len());
                let over = (seats.terminal[block] | seats.stuck[block]) & used;
                let against = conflicts(&program, &seats, block) & used & !over;
                note(&mut conflict, places, against);
                stepper.read_states(&program, phase, block);
                stepper.read_legal(&program, phase, block, &seats);
                for (lane, &env) in places.iter().enumerate() {
                    let env = env as usize;
                    let role = role_of(&program, &seats, block, lane);
                    stepper.write_lane(&program, envs, env, lane, role);
                    envs.over[env] = (over | against) >> lane & 1 == 1;
                    envs.terminated[env] = seats.terminal[block] >> lane & 1 == 1;
                    envs.truncated[env] = envs.over[env] && !envs.terminated[env];
                }
            }
        });
        conflict
    }

    /// Makes a step in each environment. `actions` has one entry per seat; -1 stands for the only legal action. Actions
    /// of environments that wait for a reset are ignored. `n_draws` is the number of steps before this one. Returns the
    /// first environment in which several roles have a choice, although roles are said to move in turn.
    pub fn step(&mut self, envs: &mut Envs<'_>, actions: &[i32], n_draws: u64) -> Option<usize> {
        let program = Arc::clone(&self.program);
        assert_eq!(actions.len(), envs.len() * program.n_seats());
        envs.rewards.fill(0.0);
        envs.terminated.fill(false);
        envs.truncated.fill(false);
        let draw = Draw::new(!program.options.seed, n_draws);
        let mut conflict = None;
        self.by_phase(&program, envs, &mut |stepper, envs, phase, batch| {
            let lanes = &program.program;
            stepper.bench.load(lanes, envs.states, batch);
            stepper.bench.run(lanes, &lanes.phases[phase].play);
            let fouls = stepper.set_moves(&program, envs, phase, batch, actions, draw);
            stepper.bench.run(lanes, &lanes.phases[phase].next);
            stepper.bench.step(&lanes.phases[phase]);
            let next = (phase + 1) % lanes.phases.len();
            stepper.arrive(&program, envs, next, batch, &fouls, &mut conflict);
        });
        self.settle(&program, envs);
        conflict
    }

    /// Calls `see` for environments of one phase, as many as a vector has lanes.
    fn by_phase(
        &mut self,
        program: &BatchProgram,
        envs: &mut Envs<'_>,
        see: &mut dyn FnMut(&mut Stepper, &mut Envs<'_>, usize, &[u32]),
    ) {
        let lanes = &program.program;
        self.bench.sort_by_phase(lanes, envs.len(), envs.states);
        let order = std::mem::take(&mut self.bench.order);
        let n_lanes = self.bench.n_words * 64;
        for phase in 0..lanes.phases.len() {
            for batch in order[self.bench.of_phase(phase)].chunks(n_lanes) {
                see(self, envs, phase, batch);
            }
        }
        self.bench.order = order;
    }

    /// Sets the rows of the moves, and returns the lanes with illegal actions.
    fn set_moves(
        &mut self,
        program: &BatchProgram,
        envs: &mut Envs<'_>,
        phase: usize,
        batch: &[u32],
        actions: &[i32],
        draw: Draw,
    ) -> Mask {
        let roles = &program.phases[phase].roles;
        let acting = match program.options.in_turn {
            true => lanes_by_role(envs, batch, roles.len()),
            false => vec![[u64::MAX; WORDS]; roles.len()],
        };
        for (role, acting) in acting.iter().enumerate() {
            self.clear_moves(&program.phases[phase], phase, role, acting, batch.len());
        }
        let (n_seats, n_mask_words) = (program.n_seats(), program.n_mask_words);
        let mut fouls = [0; WORDS];
        for (place, &env) in batch.iter().enumerate() {
            let env = env as usize;
            if envs.over[env] {
                continue;
            }
            for seat in 0..n_seats {
                let at = env * n_seats + seat;
                let legal = &envs.legal[at * n_mask_words..][..n_mask_words];
                let action = allowed(legal, actions[at]).or_else(|| {
                    let instead = draw.action(envs.first * n_seats + at, legal);
                    allowed(legal, instead).filter(|_| program.options.illegal == Illegal::Random)
                });
                let Some(action) = action else {
                    fouls[place / 64] |= 1 << (place % 64);
                    // Remember who it was for the rewards.
                    if n_seats > 1 {
                        envs.roles[env] = seat as i8;
                    }
                    break;
                };
                let role = if program.options.in_turn {
                    envs.roles[env] as usize
                } else {
                    seat
                };
                let row = roles[role].does_of[action];
                if row != NO_ROW {
                    let word = row as usize * self.bench.n_words + place / 64;
                    self.bench.rows.words_mut()[word] |= 1 << (place % 64);
                    self.written[phase][role].rows.push(row);
                }
            }
        }
        fouls
    }

    /// Clears the rows of a role's choices. In lanes in which it does not act, it makes its only legal move.
    fn clear_moves(
        &mut self,
        rows: &PhaseRows,
        phase: usize,
        role: usize,
        acting: &Mask,
        n_places: usize,
    ) {
        let (n_words, rows) = (self.bench.n_words, &rows.roles[role]);
        if !rows.has_choice() {
            return;
        }
        let words = self.bench.rows.words_mut();
        let written = &mut self.written[phase][role];
        let used = |word: usize| low_bits(n_places.saturating_sub(word * 64));
        let is_always = (0..n_words).all(|word| used(word) & !acting[word] == 0);
        if is_always && !written.all {
            for row in written.rows.drain(..) {
                words[row as usize * n_words..][..n_words].fill(0);
            }
            return;
        }
        written.rows.clear();
        written.all = !is_always;
        for (&legal, &does) in rows.legal.iter().zip(&rows.does) {
            for word in 0..n_words {
                let legal = words[legal as usize * n_words + word];
                let only = if is_always { 0 } else { legal & !acting[word] };
                words[does as usize * n_words + word] = only;
            }
        }
    }

    /// Reads the states that the lanes have arrived at.
    fn arrive(
        &mut self,
        program: &BatchProgram,
        envs: &mut Envs<'_>,
        phase: usize,
        batch: &[u32],
        fouls: &Mask,
        conflict: &mut Option<usize>,
    ) {
        let seats = self.look(program, phase);
        let goals = &program.program.phases[phase].goals;
        let every_step = program.options.every_step;
        if every_step {
            self.bench.read_goals(&program.program, phase);
        }
        for (block, places) in batch.chunks(64).enumerate() {
            let used = low_bits(places.len());
            let mut fate = fate(program, envs, places, &seats, block, fouls[block]);
            let against = conflicts(program, &seats, block) & used & !(fate.idle | fate.ended);
            note(conflict, places, against);
            fate.ended |= against;
            fate.truncated |= against;
            if program.options.reset == AutoReset::SameStep {
                fate.reset |= against;
            }
            self.read_states(program, phase, block);
            self.read_legal(program, phase, block, &seats);
            for lane in bits(fate.ended) {
                self.end(program, envs, places[lane] as usize, lane, fate);
            }
            let now =
                fate.used & !fate.idle & !fate.foul & if every_step { !0 } else { fate.ended };
            if every_step || goals.side.is_none() {
                self.reward(program, envs, phase, block, places, now);
            } else {
                self.leave_open(program, phase, places, now);
            }
            self.write_block(program, envs, places, &seats, block, fate);
        }
    }

    /// Notes the end of a match.
    fn end(
        &mut self,
        program: &BatchProgram,
        envs: &mut Envs<'_>,
        env: usize,
        lane: usize,
        fate: Fate,
    ) {
        let n = program.n_state_words();
        let is_foul = fate.foul >> lane & 1 == 1;
        envs.truncated[env] = fate.truncated >> lane & 1 == 1;
        envs.terminated[env] = !envs.truncated[env];
        let finals = &mut envs.finals[env * n..(env + 1) * n];
        if is_foul {
            finals.copy_from_slice(&envs.states[env * n..(env + 1) * n]);
            let rewards = &mut envs.rewards[env * program.n_roles()..][..program.n_roles()];
            rewards.fill(program.options.rewards[NO_GOAL]);
            rewards[envs.roles[env].max(0) as usize] = program.options.rewards[0];
        } else {
            finals.copy_from_slice(&self.states[lane * n..(lane + 1) * n]);
        }
    }

    /// Writes the arrays of a block.
    fn write_block(
        &mut self,
        program: &BatchProgram,
        envs: &mut Envs<'_>,
        places: &[u32],
        seats: &Seats,
        block: usize,
        fate: Fate,
    ) {
        let frozen = match program.options.reset {
            AutoReset::Never => fate.idle,
            _ => 0,
        };
        for lane in bits(fate.used & !frozen) {
            let env = places[lane] as usize;
            let is = |lanes: u64| lanes >> lane & 1 == 1;
            if is(fate.reset) {
                self.start(envs, env);
                continue;
            }
            if is(fate.ended) {
                envs.over[env] = true;
                // Nobody has a legal action after the end.
                let n = program.n_legal_words();
                self.legal[lane * n..(lane + 1) * n].fill(0);
            }
            if is(fate.foul) {
                // An illegal action changes nothing but ends the match.
                let n = program.n_state_words();
                self.states[lane * n..(lane + 1) * n]
                    .copy_from_slice(&envs.states[env * n..(env + 1) * n]);
            }
            let role = role_of(program, seats, block, lane);
            self.write_lane(program, envs, env, lane, role);
        }
    }

    fn write_lane(
        &self,
        program: &BatchProgram,
        envs: &mut Envs<'_>,
        env: usize,
        lane: usize,
        role: i8,
    ) {
        let (n, n_legal) = (program.n_state_words(), program.n_legal_words());
        let state = &self.states[lane * n..(lane + 1) * n];
        let legal = &self.legal[lane * n_legal..(lane + 1) * n_legal];
        self.write(envs, env, state, legal, role);
    }

    /// Writes the arrays of one environment.
    #[inline]
    fn write(&self, envs: &mut Envs<'_>, env: usize, state: &[u64], legal: &[u64], role: i8) {
        let program = &*self.program;
        let simd = program.program.options.simd;
        envs.states[env * state.len()..][..state.len()].copy_from_slice(state);
        envs.legal[env * legal.len()..][..legal.len()].copy_from_slice(legal);
        envs.roles[env] = role;
        if !envs.observation.is_empty() {
            let n = program.n_fluents;
            spread_by(simd, state, &mut envs.observation[env * n..(env + 1) * n]);
        }
        if !envs.mask.is_empty() {
            let (n, n_seats) = (program.n_actions, program.n_seats());
            for (seat, legal) in legal.chunks_exact(program.n_mask_words).enumerate() {
                let at = (env * n_seats + seat) * n;
                spread_by(simd, legal, &mut envs.mask[at..at + n]);
            }
        }
    }

    /// Evaluates legal moves and `terminal` of a phase in all lanes, and who is to move.
    fn look(&mut self, program: &BatchProgram, phase: usize) -> Seats {
        let lanes = &program.program;
        self.bench.run(lanes, &lanes.phases[phase].play);
        let (n_words, words) = (self.bench.n_words, self.bench.rows.words());
        let mut terminal = [0; WORDS];
        let row = lanes.phases[phase].terminal as usize * n_words;
        terminal[..n_words].copy_from_slice(&words[row..row + n_words]);
        let rows = &program.phases[phase];
        let (mut many, mut own) = (Vec::new(), Vec::new());
        let mut stuck = [0; WORDS];
        for role in &rows.roles {
            let (mut any, mut more, mut not_waiting) = ([0; WORDS], [0; WORDS], [0; WORDS]);
            for (idx, &legal) in role.legal.iter().enumerate() {
                let row = &words[legal as usize * n_words..][..n_words];
                let is_waiting = role.waiting == Some(idx);
                for (word, &on) in row.iter().enumerate() {
                    more[word] |= any[word] & on;
                    any[word] |= on;
                    not_waiting[word] |= if is_waiting { 0 } else { on };
                }
            }
            (0..n_words).for_each(|word| stuck[word] |= !any[word]);
            many.push(more);
            own.push(not_waiting);
        }
        let (chooser, several) = choosers(&many, n_words);
        let acting = match program.options.in_turn {
            true => acting(&[&many, &own], rows.default_role, n_words),
            false => vec![[u64::MAX; WORDS]; rows.roles.len()],
        };
        let on_going = |mask: &Mask| std::array::from_fn(|word| mask[word] & !terminal[word]);
        Seats {
            acting: acting.iter().map(on_going).collect(),
            chooser: match program.options.in_turn {
                true => acting,
                false => chooser,
            },
            several,
            stuck,
            terminal,
        }
    }

    /// Reads the states of a block.
    fn read_states(&mut self, program: &BatchProgram, phase: usize, block: usize) {
        let (lanes, n_words) = (&program.program, self.bench.n_words);
        let bases = &self.bench.rows.words()[FIRST_BASE as usize * n_words..];
        rows_to_states(lanes, bases, n_words, block, &mut self.states);
        let fixed = &lanes.phases[phase].fixed;
        if fixed.iter().all(|word| *word == 0) {
            return;
        }
        for state in self.states.chunks_exact_mut(fixed.len()) {
            let words = state.iter_mut().zip(fixed);
            words.for_each(|(word, fixed)| *word |= fixed);
        }
    }

    /// Reads the legal actions of a block.
    fn read_legal(&mut self, program: &BatchProgram, phase: usize, block: usize, seats: &Seats) {
        let (n_words, n_legal) = (self.bench.n_words, program.n_legal_words());
        let words = self.bench.rows.words();
        let mut matrix = Matrix([0; 64]);
        for (idx, rows) in program.phases[phase].masks.iter().enumerate() {
            matrix.0.fill(0);
            for row in rows {
                let acting = seats.acting[row.role as usize][block];
                matrix.0[row.bit as usize] |= words[row.row as usize * n_words + block] & acting;
            }
            transpose_by(program.program.options.simd, &mut matrix);
            for (lane, &word) in matrix.0.iter().enumerate() {
                self.legal[lane * n_legal + idx] = word;
            }
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
            for lane in bits(lanes) {
                let holds =
                    |goal: &&GoalRow| words[goal.row as usize * n_words + block] >> lane & 1 == 1;
                let mut on = rows.iter().filter(holds);
                let goal = match (on.next(), on.next()) {
                    (Some(only), None) => only.value,
                    _ => None,
                };
                let goal = goal.map_or(NO_GOAL, |goal| goal.value() as usize);
                let to = places[lane] as usize * n_roles + role;
                envs.rewards[to] = program.options.rewards[goal];
            }
        }
    }

    /// Leaves the goals of some lanes for later.
    fn leave_open(&mut self, program: &BatchProgram, phase: usize, places: &[u32], lanes: u64) {
        let n = program.n_state_words();
        for lane in bits(lanes) {
            let open = &mut self.open[phase];
            open.envs.push(places[lane]);
            open.states
                .extend_from_slice(&self.states[lane * n..(lane + 1) * n]);
        }
    }

    /// Evaluates the goals that were left open.
    fn settle(&mut self, program: &BatchProgram, envs: &mut Envs<'_>) {
        let lanes = &program.program;
        for phase in 0..lanes.phases.len() {
            let mut open = std::mem::take(&mut self.open[phase]);
            let places: Vec<u32> = (0..open.envs.len() as u32).collect();
            for batch in places.chunks(self.bench.n_words * 64) {
                self.bench.load(lanes, &open.states, batch);
                self.bench.run(lanes, &lanes.phases[phase].play);
                self.bench.read_goals(lanes, phase);
                for (block, places) in batch.chunks(64).enumerate() {
                    let first = places[0] as usize;
                    let to = &open.envs[first..first + places.len()];
                    self.reward(program, envs, phase, block, to, low_bits(to.len()));
                }
            }
            open.envs.clear();
            open.states.clear();
            self.open[phase] = open;
        }
    }
}

/// Advances the clocks of a block, and finds out which matches end.
fn fate(
    program: &BatchProgram,
    envs: &mut Envs<'_>,
    places: &[u32],
    seats: &Seats,
    block: usize,
    foul: u64,
) -> Fate {
    let used = low_bits(places.len());
    let (mut idle, mut late) = (0, 0);
    for (lane, &env) in places.iter().enumerate() {
        let env = env as usize;
        idle |= u64::from(envs.over[env]) << lane;
        envs.steps[env] = envs.steps[env].saturating_add(1);
        late |= u64::from(envs.steps[env] >= program.options.most_steps) << lane;
    }
    let terminal = seats.terminal[block] | foul;
    let ended = (terminal | seats.stuck[block] | late) & used & !idle;
    Fate {
        used,
        idle,
        ended,
        truncated: ended & !terminal,
        foul: foul & used & !idle,
        reset: match program.options.reset {
            AutoReset::SameStep => ended | idle,
            AutoReset::NextStep => idle,
            AutoReset::Never => 0,
        },
    }
}

/// Lanes in which several roles have a choice although they move in turn.
fn conflicts(program: &BatchProgram, seats: &Seats, block: usize) -> u64 {
    match program.options.in_turn {
        true => seats.several[block] & !seats.terminal[block],
        false => 0,
    }
}

fn note(conflict: &mut Option<usize>, places: &[u32], lanes: u64) {
    if let Some(lane) = bits(lanes).next() {
        conflict.get_or_insert(places[lane] as usize);
    }
}

/// The role to move in a lane; -1 if several choose at once.
fn role_of(program: &BatchProgram, seats: &Seats, block: usize, lane: usize) -> i8 {
    let is = |mask: &Mask| mask[block] >> lane & 1 == 1;
    if !program.options.in_turn && is(&seats.several) {
        return -1;
    }
    seats.chooser.iter().position(is).unwrap_or(0) as i8
}

/// Per role, the lanes in which only it has a choice; and the lanes in which several do.
fn choosers(many: &[Mask], n_words: usize) -> (Vec<Mask>, Mask) {
    let (mut one, mut several) = ([0; WORDS], [0; WORDS]);
    for role in many {
        for word in 0..n_words {
            several[word] |= one[word] & role[word];
            one[word] |= role[word];
        }
    }
    let only = |role: &Mask| std::array::from_fn(|word| role[word] & !several[word]);
    (many.iter().map(only).collect(), several)
}

/// Per role, the lanes in which it is to move: the first that has a choice; if none has, the first that does not wait;
/// if all do, the default role.
fn acting(criteria: &[&Vec<Mask>], default_role: usize, n_words: usize) -> Vec<Mask> {
    let mut left = [u64::MAX; WORDS];
    let mut acting = vec![[0; WORDS]; criteria[0].len()];
    for criterion in criteria {
        for (acting, fits) in acting.iter_mut().zip(*criterion) {
            for word in 0..n_words {
                acting[word] |= fits[word] & left[word];
                left[word] &= !fits[word];
            }
        }
    }
    (0..n_words).for_each(|word| acting[default_role][word] |= left[word]);
    acting
}

/// Per role, the places in which it is to move.
fn lanes_by_role(envs: &Envs<'_>, batch: &[u32], n_roles: usize) -> Vec<Mask> {
    let mut lanes = vec![[0; WORDS]; n_roles];
    for (place, &env) in batch.iter().enumerate() {
        let role = envs.roles[env as usize].max(0) as usize;
        lanes[role][place / 64] |= 1 << (place % 64);
    }
    lanes
}

/// The lowest `n` bits.
fn low_bits(n: usize) -> u64 {
    match n {
        64.. => u64::MAX,
        n => (1 << n) - 1,
    }
}
