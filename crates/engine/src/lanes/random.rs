//! Random bits for all lanes: one xoshiro256+ generator per block of 64 lanes, each output of which has one bit per
//! lane. The generators of a group run in parallel in the words of vectors; the numbers of a block do not depend on the
//! vector width.
//!
//! The lowest bits of its outputs are linear in its state, of 256 bits. The stronger xoshiro256++ takes a quarter more
//! instructions, for no difference that random playouts could show.
//!
//! - Blackman and Vigna 2021, Scrambled linear pseudorandom number generators (xoshiro256+)
//! - Steele, Lea and Flood 2014, Fast splittable pseudorandom number generators (SplitMix64, for seeding)

#![expect(unsafe_code, reason = "states are loaded as vectors")]

use super::vector::{Vector, get, put};

/// The generators of a group while a step runs.
pub(super) struct Random<V> {
    state: [V; 4],
}

impl<V: Vector> Random<V> {
    /// # Safety
    /// `words` is aligned and has four vectors.
    #[inline(always)]
    pub(super) unsafe fn load(words: *const u64) -> Random<V> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            Random {
                state: [get(words, 0), get(words, 1), get(words, 2), get(words, 3)],
            }
        }
    }

    /// # Safety
    /// `words` is aligned and has four vectors.
    #[inline(always)]
    pub(super) unsafe fn store(&self, words: *mut u64) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            put(words, 0, self.state[0]);
            put(words, 1, self.state[1]);
            put(words, 2, self.state[2]);
            put(words, 3, self.state[3]);
        }
    }

    /// The words of the states, as in memory.
    #[inline(always)]
    pub(super) fn words(&mut self) -> *mut u64 {
        self.state.as_mut_ptr().cast()
    }

    /// A random bit per lane.
    #[inline(always)]
    pub(super) fn bit(&mut self) -> V {
        let [s0, s1, s2, s3] = self.state;
        let result = s0.add_words(s3);
        let shifted = s1.shift_left::<17>();
        let s2 = s2.xor(s0);
        let s3 = s3.xor(s1);
        let s1 = s1.xor(s2);
        let s0 = s0.xor(s3);
        self.state = [s0, s1, s2.xor(shifted), s3.rotate_left::<45, 19>()];
        result
    }
}

/// The initial state of the generator of a block.
pub(super) fn seed_block(seed: u64, block: u64) -> [u64; 4] {
    let mut state = seed ^ (block + 1).wrapping_mul(0xD134_2543_DE82_EF95);
    [(); 4].map(|()| {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    })
}

#[cfg(test)]
mod tests {
    use super::super::vector::Rows;
    use super::super::words::Words;
    use super::*;
    use rand_xoshiro::Xoshiro256Plus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    #[test]
    fn a_block_draws_the_numbers_of_the_generator() {
        let mut states = Rows::new(4, Words::N_WORDS);
        for block in 0..Words::N_WORDS {
            for (idx, word) in seed_block(7, block as u64).into_iter().enumerate() {
                states.words_mut()[idx * Words::N_WORDS + block] = word;
            }
        }
        let generator = |block: u64| {
            let words = seed_block(7, block);
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            Xoshiro256Plus::from_seed(bytes.try_into().expect("32 bytes"))
        };
        let mut known: Vec<Xoshiro256Plus> = (0..Words::N_WORDS as u64).map(generator).collect();
        let mut drawn = Rows::new(1, Words::N_WORDS);
        // SAFETY: there are four vectors.
        let mut random: Random<Words> = unsafe { Random::load(states.pointer()) };
        for _ in 0..100 {
            // SAFETY: there is room for a vector.
            unsafe { random.bit().store(drawn.pointer()) };
            let expected: Vec<u64> = known.iter_mut().map(Rng::next_u64).collect();
            assert_eq!(drawn.words(), expected);
        }
    }
}
