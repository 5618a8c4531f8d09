//! The moves of a step: actions of environments become the rows of choices.
//!
//! If an environment has few actions, those of 64 environments become a bit matrix with one bit per environment, which is
//! transposed: its rows are the rows of the choices. Otherwise each action sets its own bit.

use super::draw::Draw;
use super::legal::allowed;
use super::seats::{Mask, WORDS, low_bits};
use super::stepper::Stepper;
use super::{BatchProgram, Envs, Illegal, NO_ROW};
use crate::lanes::block::bits;
use crate::lanes::transpose::{Matrix, transpose_to_low_rows};

/// Words of a mask up to which actions are transposed.
pub(super) const MOST_TRANSPOSED_WORDS: usize = 4;

/// Rows of choices that may be set.
#[derive(Clone)]
pub(super) enum Written {
    All,
    Some(Vec<u32>),
}

/// The actions of a step.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) actions: &'a [i32],
    /// Random numbers for illegal actions.
    pub(super) draw: Draw,
}

impl Given<'_> {
    /// The action of a seat; `None` if it is illegal.
    #[inline(always)]
    fn action(self, program: &BatchProgram, envs: &Envs<'_>, seat_of_all: usize) -> Option<usize> {
        let n = program.n_mask_words;
        let legal = &envs.legal[seat_of_all * n..(seat_of_all + 1) * n];
        let action = allowed(legal, self.actions[seat_of_all]);
        if action.is_some() || program.options.illegal != Illegal::Random {
            return action;
        }
        let place = envs.first * program.n_seats() + seat_of_all;
        allowed(legal, self.draw.action(place, legal))
    }
}

impl Stepper {
    /// Sets the rows of the moves, and returns the lanes with illegal actions.
    #[inline(always)]
    pub(super) fn set_moves(
        &mut self,
        program: &BatchProgram,
        envs: &mut Envs<'_>,
        phase: usize,
        batch: &[u32],
        given: Given<'_>,
    ) -> Mask {
        let acting = match program.options.in_turn && !program.phases[phase].has_one_chooser {
            true => lanes_by_role(envs, batch, program.n_roles()),
            false => Vec::new(),
        };
        self.clear_moves(program, phase, batch, &acting);
        let is_transposed = program.n_mask_words <= MOST_TRANSPOSED_WORDS;
        let mut fouls = [0; WORDS];
        for (block, places) in batch.chunks(64).enumerate() {
            for seat in 0..program.n_seats() {
                let at = (phase, block, seat);
                let rest = match is_transposed {
                    true => self.set_block(program, envs, at, places, given.actions, &acting),
                    false => low_bits(places.len()),
                };
                let rest = rest & !fouls[block];
                fouls[block] |= self.set_lanes(program, envs, at, places, given, rest);
            }
        }
        fouls
    }

    /// Sets the moves of the lanes of a block whose actions are legal, and returns the other lanes.
    #[inline(always)]
    fn set_block(
        &mut self,
        program: &BatchProgram,
        envs: &Envs<'_>,
        (phase, block, seat): (usize, usize, usize),
        places: &[u32],
        actions: &[i32],
        acting: &[Mask],
    ) -> u64 {
        let (n_seats, n_mask_words) = (program.n_seats(), program.n_mask_words);
        let (n_words, rows) = (self.bench.n_words, &program.phases[phase]);
        let words = self.bench.rows.words_mut();
        let mut done = 0;
        for mask_word in 0..n_mask_words {
            let mut matrix = Matrix([0; 64]);
            let first = 64 * mask_word as u32;
            for (lane, (to, &env)) in matrix.0.iter_mut().zip(places).enumerate() {
                let at = env as usize * n_seats + seat;
                let bit = (actions[at] as u32).wrapping_sub(first);
                *to = 1_u64.unbounded_shl(bit) & envs.legal[at * n_mask_words + mask_word];
                done |= u64::from(*to != 0) << lane;
            }
            let n_bits = program.n_actions - mask_word * 64;
            transpose_to_low_rows(program.program.options.simd, &mut matrix, n_bits);
            let mut set = |role: usize, lanes: u64| {
                for choice in &rows.choices[role * n_mask_words + mask_word] {
                    let lanes = matrix.0[choice.bit as usize % 64] & lanes;
                    words[choice.row as usize * n_words + block] |= lanes;
                }
            };
            match (n_seats, acting.is_empty()) {
                (1, true) => set(rows.default_role, u64::MAX),
                (1, false) => {
                    (acting.iter().enumerate()).for_each(|(role, lanes)| set(role, lanes[block]));
                }
                _ => set(seat, u64::MAX),
            }
        }
        low_bits(places.len()) & !done
    }

    /// Sets the moves of some lanes of a block, and returns those with illegal actions.
    #[inline(always)]
    fn set_lanes(
        &mut self,
        program: &BatchProgram,
        envs: &mut Envs<'_>,
        (phase, block, seat): (usize, usize, usize),
        places: &[u32],
        given: Given<'_>,
        lanes: u64,
    ) -> u64 {
        let (n_seats, n_words) = (program.n_seats(), self.bench.n_words);
        let does_of = &program.phases[phase].does_of;
        let (rows, written) = (self.bench.rows.words_mut(), &mut self.written[phase]);
        let mut foul = 0;
        for lane in bits(lanes) {
            let env = places[lane] as usize;
            let Some(action) = given.action(program, envs, env * n_seats + seat) else {
                // Nobody can act in a match that is over.
                if !envs.over[env] {
                    foul |= 1 << lane;
                    if n_seats > 1 {
                        // Remember who it was for the rewards.
                        envs.roles[env] = seat as i8;
                    }
                }
                continue;
            };
            let role = match n_seats {
                1 => envs.roles[env] as usize,
                _ => seat,
            };
            let row = does_of[role * program.n_actions + action];
            if row != NO_ROW {
                rows[row as usize * n_words + block] |= 1 << lane;
                if let Written::Some(written) = &mut written[role] {
                    written.push(row);
                }
            }
        }
        foul
    }

    /// Clears the rows of all choices. In lanes in which a role does not act, it makes its only legal move; `acting` is
    /// empty if every role that has a choice acts in all lanes.
    #[inline(always)]
    fn clear_moves(
        &mut self,
        program: &BatchProgram,
        phase: usize,
        batch: &[u32],
        acting: &[Mask],
    ) {
        let (n_words, rows) = (self.bench.n_words, &program.phases[phase]);
        let is_listed = acting.is_empty() && program.n_mask_words > MOST_TRANSPOSED_WORDS;
        let words = self.bench.rows.words_mut();
        for (role, rows) in rows.roles.iter().enumerate() {
            if !rows.has_choice() {
                continue;
            }
            let written = &mut self.written[phase][role];
            if let (true, Written::Some(some)) = (is_listed, &mut *written) {
                for row in some.drain(..) {
                    words[row as usize * n_words..][..n_words].fill(0);
                }
            } else if acting.is_empty() {
                for &does in &rows.does {
                    words[does as usize * n_words..][..n_words].fill(0);
                }
            } else {
                for (&legal, &does) in rows.legal.iter().zip(&rows.does) {
                    for (word, acting) in acting[role][..n_words].iter().enumerate() {
                        let legal = words[legal as usize * n_words + word];
                        words[does as usize * n_words + word] = legal & !acting;
                    }
                }
            }
            // To list what is written is cheaper than to clear everything only if there are many rows.
            let is_long = is_listed && rows.does.len() > batch.len();
            match (is_long, &*written) {
                (true, Written::All) => *written = Written::Some(Vec::new()),
                (false, Written::Some(_)) => *written = Written::All,
                _ => {}
            }
        }
    }
}

/// Per role, the places in which it is to move.
#[inline(always)]
fn lanes_by_role(envs: &Envs<'_>, batch: &[u32], n_roles: usize) -> Vec<Mask> {
    let mut lanes = vec![[0; WORDS]; n_roles];
    for (place, &env) in batch.iter().enumerate() {
        let role = envs.roles[env as usize].max(0) as usize;
        lanes[role][place / 64] |= 1 << (place % 64);
    }
    lanes
}
