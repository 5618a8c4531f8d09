//! Whether actions are legal.

#![expect(unsafe_code, reason = "CPU instructions are chosen at run time")]

use super::BatchProgram;
use super::level::{Cpu, Level, dispatch};
use crate::lanes::kernel::Simd;

/// The place of an action that is not legal: the environment in its range, and the seat.
#[must_use]
pub fn first_illegal(
    program: &BatchProgram,
    legal: &[u64],
    over: &[bool],
    actions: &[i32],
) -> Option<(usize, usize)> {
    let (n_seats, n_mask_words) = (program.n_seats(), program.n_mask_words);
    let cpu = Cpu::new(Simd::best());
    if n_mask_words == 1 && dispatch!(cpu, are_all_legal(legal: &[u64], actions: &[i32]) -> bool) {
        return None;
    }
    let seats = actions.iter().zip(legal.chunks_exact(n_mask_words));
    let mut seats = seats.enumerate();
    let (idx, _) = seats.find(|(idx, (action, legal))| {
        allowed(legal, **action).is_none() && !over[idx / n_seats]
    })?;
    Some((idx / n_seats, idx % n_seats))
}

/// Whether each action is one of those that its word has; -1 counts as none.
///
/// # Safety
/// The CPU supports the level.
#[inline(always)]
unsafe fn are_all_legal<L: Level>(legal: &[u64], actions: &[i32]) -> bool {
    let is_legal = |(&word, &action): (&u64, &i32)| word.unbounded_shr(action as u32);
    let all = legal.iter().zip(actions).map(is_legal);
    all.fold(1, |all, is_legal| all & is_legal) == 1
}

/// The action if it is legal; -1 stands for the only legal action.
#[inline(always)]
pub(super) fn allowed(legal: &[u64], action: i32) -> Option<usize> {
    let action = action as usize;
    if let Some(word) = legal.get(action / 64) {
        return (word >> (action % 64) & 1 == 1).then_some(action);
    }
    if action == usize::MAX {
        let mut words = legal.iter().enumerate().filter(|(_, word)| **word != 0);
        let (idx, word) = words.next()?;
        let is_only = word.is_power_of_two() && words.next().is_none();
        return is_only.then(|| idx * 64 + word.trailing_zeros() as usize);
    }
    None
}
