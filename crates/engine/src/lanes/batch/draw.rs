//! Random legal actions, one generator per environment.

#![expect(unsafe_code, reason = "CPU instructions are chosen at run time")]

use super::level::{Cpu, Level, Portable, dispatch};
use crate::lanes::kernel::Simd;

/// The finaliser of SplitMix64, which makes random numbers of a counter.
/// - Steele, Lea and Flood 2014, Fast splittable pseudorandom number generators
#[inline(always)]
fn mix(mut word: u64) -> u64 {
    word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ word >> 31
}

/// The random numbers of one draw.
#[derive(Clone, Copy)]
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64, n_draws: u64) -> Draw {
        let draw = n_draws.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Draw(mix(mix(seed).wrapping_add(draw)))
    }

    /// A random legal action; -1 if there is none.
    pub(super) fn action(self, place: usize, legal: &[u64]) -> i32 {
        // SAFETY: any CPU supports it.
        unsafe { self.action_at::<Portable>(place, legal) }
    }

    /// # Safety
    /// The CPU supports the level.
    #[inline(always)]
    unsafe fn action_at<L: Level>(self, place: usize, legal: &[u64]) -> i32 {
        let mut n_legal = 0;
        for word in legal {
            n_legal += word.count_ones();
        }
        if n_legal == 0 {
            return -1;
        }
        let place = (place as u64 + 1).wrapping_mul(0xD1B5_4A32_D192_ED03);
        let random = mix(self.0.wrapping_add(place)) >> 32;
        let mut left = ((random * u64::from(n_legal)) >> 32) as u32;
        for (idx, &word) in legal.iter().enumerate() {
            let n = word.count_ones();
            if left < n {
                // SAFETY: guaranteed by the caller.
                return (idx * 64) as i32 + unsafe { L::nth_bit(word, left) } as i32;
            }
            left -= n;
        }
        -1
    }
}

/// Draws a legal action for each seat; -1 where there is none. `first` is the index of the first seat in its batch, and
/// `n_draws` counts the draws before this one.
pub fn draw_actions(
    (seed, n_draws): (u64, u64),
    first: usize,
    legal: &[u64],
    n_mask_words: usize,
    actions: &mut [i32],
) {
    let draw = Draw::new(seed, n_draws);
    dispatch!(
        Cpu::new(Simd::best()),
        draw_all(draw: Draw, first: usize, legal: &[u64], n_mask_words: usize, actions: &mut [i32]) -> ()
    );
}

/// # Safety
/// The CPU supports the level.
#[inline(always)]
unsafe fn draw_all<L: Level>(
    draw: Draw,
    first: usize,
    legal: &[u64],
    n_mask_words: usize,
    actions: &mut [i32],
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if n_mask_words == 1 {
            // The usual case, without a loop over words.
            for (idx, (legal, action)) in legal.iter().zip(actions).enumerate() {
                *action = draw.action_at::<L>(first + idx, std::slice::from_ref(legal));
            }
            return;
        }
        let seats = legal.chunks_exact(n_mask_words).zip(actions);
        for (idx, (legal, action)) in seats.enumerate() {
            *action = draw.action_at::<L>(first + idx, legal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_legal_and_uniform() {
        let legal = [0b1011_u64 << 60, 0b101];
        let allowed = [60, 61, 63, 64, 66];
        let mut counts = [0_u32; 5];
        for n_draws in 0..10_000 {
            let mut action = [0];
            draw_actions((7, n_draws), 3, &legal, 2, &mut action);
            assert_eq!(action[0], Draw::new(7, n_draws).action(3, &legal));
            let place = allowed.iter().position(|&legal| legal == action[0]);
            counts[place.expect("the action is legal")] += 1;
        }
        assert!(
            counts.iter().all(|n| (1850..2150).contains(n)),
            "{counts:?}"
        );
    }

    #[test]
    fn no_action_is_minus_one() {
        let mut actions = [7, 7];
        draw_actions((1, 0), 0, &[0, 1 << 5], 1, &mut actions);
        assert_eq!(actions, [-1, 5]);
    }
}
