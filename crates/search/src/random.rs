//! The one source of chance: a seeded generator with the few draws that bots need.

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
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        match of {
            [] => None,
            [only] => Some(*only),
            _ => Some(of[self.below(of.len() as u32) as usize]),
        }
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
    }
}
