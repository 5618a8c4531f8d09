//! Who can do what in the lanes of a vector, and what happened to the lanes of a block.

use super::{AutoReset, BatchProgram, Envs, PhaseRows};

/// Most words of a vector.
pub(super) const WORDS: usize = 8;

/// One bit per lane of a vector.
pub(super) type Mask = [u64; WORDS];

/// Who can do what in the lanes of a vector.
pub(super) struct Seats {
    /// Per role: lanes in which it is to move, or, if roles do not move in turn, in which the match goes on.
    pub(super) acting: Vec<Mask>,
    /// Per role: lanes in which it is the role to move.
    chooser: Vec<Mask>,
    /// Lanes in which several roles have a choice.
    several: Mask,
    /// Lanes in which some role has no legal move.
    pub(super) stuck: Mask,
    pub(super) terminal: Mask,
}

impl Seats {
    /// From the rows of legal moves and `terminal`.
    pub(super) fn new(
        program: &BatchProgram,
        phase: usize,
        words: &[u64],
        n_words: usize,
    ) -> Seats {
        let mut terminal = [0; WORDS];
        let row = program.program.phases[phase].terminal as usize * n_words;
        terminal[..n_words].copy_from_slice(&words[row..row + n_words]);
        let rows = &program.phases[phase];
        let (many, own, stuck) = counts(rows, words, n_words);
        let (chooser, several) = choosers(&many, n_words);
        let acting = match program.options.in_turn {
            true if rows.has_one_chooser => acting(&[], rows, n_words),
            true => acting(&[&many[..], &own[..]], rows, n_words),
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

    /// Lanes of a block in which several roles have a choice although they move in turn.
    pub(super) fn conflicts(&self, program: &BatchProgram, block: usize) -> u64 {
        match program.options.in_turn {
            true => self.several[block] & !self.terminal[block],
            false => 0,
        }
    }

    /// The role to move in all lanes of a block, if that is easily seen; see [`Seats::role`].
    pub(super) fn common_role(&self, in_turn: bool, block: usize) -> Option<i8> {
        if !in_turn && self.several[block] != 0 {
            return (self.several[block] == u64::MAX).then_some(-1);
        }
        let mut role = 0;
        for (idx, chooser) in self.chooser.iter().enumerate().skip(1) {
            match chooser[block] {
                0 => {}
                u64::MAX => role = idx as i8,
                _ => return None,
            }
        }
        Some(role)
    }

    /// The role to move in a lane; -1 if several choose at once, 0 if nothing decides.
    #[inline(always)]
    pub(super) fn role(&self, in_turn: bool, block: usize, lane: usize) -> i8 {
        let is = |mask: &Mask| (mask[block] >> lane & 1) as i8;
        if !in_turn && is(&self.several) == 1 {
            return -1;
        }
        let mut role = 0;
        for (idx, chooser) in self.chooser.iter().enumerate().skip(1) {
            role += idx as i8 * is(chooser);
        }
        role
    }
}

/// Per role, the lanes with several legal moves and those with another one than waiting; and the lanes in which some
/// role has none.
fn counts(rows: &PhaseRows, words: &[u64], n_words: usize) -> (Vec<Mask>, Vec<Mask>, Mask) {
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
    (many, own, stuck)
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

/// Per role, the lanes in which it is to move: the first that meets the first criterion that any meets, or else the
/// default role. The criteria are to have a choice, and not to wait.
fn acting(criteria: &[&[Mask]], rows: &PhaseRows, n_words: usize) -> Vec<Mask> {
    let mut left = [u64::MAX; WORDS];
    let mut acting = vec![[0; WORDS]; rows.roles.len()];
    for criterion in criteria {
        for (acting, fits) in acting.iter_mut().zip(*criterion) {
            for word in 0..n_words {
                acting[word] |= fits[word] & left[word];
                left[word] &= !fits[word];
            }
        }
    }
    (0..n_words).for_each(|word| acting[rows.default_role][word] |= left[word]);
    acting
}

/// What happened to the lanes of a block.
#[derive(Clone, Copy)]
pub(super) struct Fate {
    /// Lanes whose match had ended before.
    pub(super) idle: u64,
    /// Lanes that end now, and those of them that are cut off.
    pub(super) ended: u64,
    pub(super) truncated: u64,
    /// Lanes that end by an illegal action.
    pub(super) foul: u64,
    /// Lanes that start again.
    pub(super) reset: u64,
    /// Lanes whose state stays as it was.
    pub(super) kept: u64,
}

impl Fate {
    /// Finds out which matches of a block end.
    #[inline(always)]
    pub(super) fn new(
        program: &BatchProgram,
        envs: &Envs<'_>,
        places: &[u32],
        seats: &Seats,
        (block, foul): (usize, u64),
        has_over: bool,
    ) -> Fate {
        let used = low_bits(places.len());
        let most_steps = program.options.most_steps;
        let (mut idle, mut late) = (0, 0);
        let lanes = || places.iter().enumerate();
        if has_over {
            lanes().for_each(|(lane, &env)| idle |= u64::from(envs.over[env as usize]) << lane);
        }
        if most_steps != u32::MAX {
            let is_late = |env: u32| envs.steps[env as usize] >= most_steps;
            lanes().for_each(|(lane, &env)| late |= u64::from(is_late(env)) << lane);
        }
        let against = seats.conflicts(program, block);
        let terminal = seats.terminal[block] | foul;
        let ended = (terminal | seats.stuck[block] | late | against) & used & !idle;
        let foul = foul & used & !idle;
        let reset = match program.options.reset {
            AutoReset::SameStep => ended | idle,
            AutoReset::NextStep => idle,
            AutoReset::Never => 0,
        };
        Fate {
            idle,
            ended,
            truncated: ended & !terminal,
            foul,
            reset,
            kept: (foul | idle) & !reset,
        }
    }
}

/// The lowest `n` bits.
pub(super) fn low_bits(n: usize) -> u64 {
    match n {
        64.. => u64::MAX,
        n => (1 << n) - 1,
    }
}
