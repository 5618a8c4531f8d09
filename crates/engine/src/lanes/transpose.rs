//! Between states, a word of bits per lane, and rows, a bit per lane: 64×64 bit matrices turned over.
//!
//! - Warren 2012, Hacker's Delight, section 7-3 (transposing a bit matrix)

use super::program::LanesProgram;

/// Turns a matrix over: bit j of word i becomes bit i of word j.
pub(super) fn transpose(words: &mut [u64; 64]) {
    let mut width = 32;
    let mut mask = 0x0000_0000_FFFF_FFFF_u64;
    while width != 0 {
        let mut start = 0;
        while start < 64 {
            for idx in start..start + width {
                let (low, high) = (words[idx], words[idx + width]);
                let swapped = (low >> width ^ high) & mask;
                words[idx] = low ^ swapped << width;
                words[idx + width] = high ^ swapped;
            }
            start += 2 * width;
        }
        width /= 2;
        mask ^= mask << width;
    }
}

/// Writes the states of some lanes of a block into its rows. `words` has the states of 64 lanes, `n_state_words` each;
/// row i of `rows` is the i-th base that has one, `n_words` wide, and the block is its word `block`.
pub(super) fn states_to_rows(
    program: &LanesProgram,
    states: &[u64],
    lanes: u64,
    rows: &mut [u64],
    n_words: usize,
    block: usize,
) {
    let mut matrix = [0_u64; 64];
    for of_word in &program.base_words {
        for (lane, word) in matrix.iter_mut().enumerate() {
            *word = states[lane * program.n_state_words + of_word.word];
        }
        transpose(&mut matrix);
        for (idx, &bit) in (of_word.first..).zip(&of_word.bits) {
            let row = &mut rows[idx * n_words + block];
            *row = *row & !lanes | matrix[bit as usize] & lanes;
        }
    }
}

/// Reads the states of all lanes of a block from its rows; bits that have no row are left out.
pub(super) fn rows_to_states(
    program: &LanesProgram,
    rows: &[u64],
    n_words: usize,
    block: usize,
    states: &mut [u64],
) {
    let mut matrix = [0_u64; 64];
    states.fill(0);
    for of_word in &program.base_words {
        matrix.fill(0);
        for (idx, &bit) in (of_word.first..).zip(&of_word.bits) {
            matrix[bit as usize] = rows[idx * n_words + block];
        }
        transpose(&mut matrix);
        for (lane, word) in matrix.iter().enumerate() {
            states[lane * program.n_state_words + of_word.word] = *word;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_change_places() {
        let mut words = [0; 64];
        for (idx, word) in words.iter_mut().enumerate() {
            *word = (idx as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        let before = words;
        transpose(&mut words);
        for (i, j) in (0..64).flat_map(|i| (0..64).map(move |j| (i, j))) {
            assert_eq!(words[j] >> i & 1, before[i] >> j & 1);
        }
    }
}
