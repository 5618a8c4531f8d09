//! The one source of chance: a seeded generator with the few draws that bots need.

use agon_engine::{MoveId, nth_bit};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A seeded generator: the same seed gives the same draws on every machine.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The generator of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Random {
        Random(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A number below `n`, by the high half of a product: the bias is below n / 2³².
    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.0.next_u32()) * u64::from(n)) >> 32) as u32
    }

    /// One of these, uniformly; none of none.
    pub fn pick<T: Copy>(&mut self, mv: &[T]) -> Option<T> {
        match mv {
            [] => None,
            [only] => Some(*only),
            _ => Some(mv[self.below(mv.len() as u32) as usize]),
        }
    }

    /// A number from 0 up to but not 1.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Any order of these, all alike.
    pub(crate) fn shuffle<T>(&mut self, all: &mut [T]) {
        for idx in (1..all.len()).rev() {
            all.swap(idx, self.below(idx as u32 + 1) as usize);
        }
    }

    /// The place of one of these, by weights that sum up to 1.
    pub(crate) fn by_weight(&mut self, weights: &[f64]) -> usize {
        let mut left = self.unit();
        for (idx, &weight) in weights.iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                return idx;
            }
        }
        // Rounding: the last one that has any weight.
        let last = weights.iter().rposition(|&weight| weight > 0.0);
        last.unwrap_or(weights.len() - 1)
    }

    /// The generator itself, for the engine.
    pub(crate) fn generator(&mut self) -> &mut Xoshiro256PlusPlus {
        &mut self.0
    }

    /// The move of one of the set bits, uniformly; none of none.
    pub(crate) fn pick_bit(&mut self, words: &[u64]) -> Option<MoveId> {
        let n_bits: u32 = words.iter().map(|word| word.count_ones()).sum();
        let mut left = match n_bits {
            0 => return None,
            1 => 0,
            _ => self.below(n_bits),
        };
        for (idx, &word) in words.iter().enumerate() {
            let here = word.count_ones();
            if left < here {
                return Some(MoveId(idx as u32 * 64 + nth_bit(word, left)));
            }
            left -= here;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_draws() {
        let draws = |seed| {
            let mut random = Random::new(seed);
            [0; 8].map(|_| random.below(1000))
        };
        assert_eq!(draws(7), draws(7));
        assert_ne!(draws(7), draws(8));
    }

    #[test]
    fn picks_are_uniform() {
        let mut random = Random::new(1);
        let mut counts = [0_u32; 3];
        for _ in 0..3000 {
            counts[random.pick(&[0, 1, 2]).expect("there are three")] += 1;
        }
        assert!(counts.iter().all(|count| (900..1100).contains(count)));
        assert_eq!(random.pick::<u8>(&[]), None);
        let mut counts = [0_u32; 3];
        for _ in 0..3000 {
            let mv = random.pick_bit(&[0, 1 << 63, 0b101]);
            counts[match mv.expect("there are three").0 {
                127 => 0,
                128 => 1,
                _ => 2,
            }] += 1;
        }
        assert!(counts.iter().all(|count| (900..1100).contains(count)));
        assert_eq!(random.pick_bit(&[0, 0]), None);
    }

    #[test]
    fn a_number_of_the_unit_is_below_one() {
        let mut random = Random::new(1);
        let draws: Vec<f64> = (0..1000).map(|_| random.unit()).collect();
        assert!(draws.iter().all(|draw| (0.0..1.0).contains(draw)));
        let mean: f64 = draws.iter().sum::<f64>() / 1000.0;
        assert!((0.45..0.55).contains(&mean));
    }
}
