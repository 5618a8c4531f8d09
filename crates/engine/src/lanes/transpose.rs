//! Converts between states (words of bits per lane) and rows (a bit per lane) by transposing 64×64 bit matrices.
//!
//! - Warren 2012, Hacker's Delight, section 7-3 (transposing a bit matrix)

#![expect(unsafe_code, reason = "CPU instructions are chosen at run time")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use super::block::bits;
use super::kernel::Simd;
use super::program::LanesProgram;

/// The index of each lane.
pub(super) const LANES: [u32; 64] = {
    let mut lanes = [0; 64];
    let mut lane = 0;
    while lane < 64 {
        lanes[lane] = lane as u32;
        lane += 1;
    }
    lanes
};

/// Transposes a matrix: bit j of word i becomes bit i of word j.
fn transpose(words: &mut [u64; 64]) {
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

/// A matrix of 64×64 bits, aligned for vectors.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Matrix(pub(super) [u64; 64]);

/// The same with the CPU's vectors.
pub(super) fn transpose_by(simd: Simd, words: &mut Matrix) {
    #[cfg(target_arch = "x86_64")]
    if simd == Simd::Avx512 && has_byte_matrices() {
        // SAFETY: the CPU supports these instructions.
        unsafe { transpose_avx512(words) };
        return;
    }
    #[cfg(target_arch = "x86_64")]
    if simd != Simd::Portable {
        // SAFETY: a program exists only if the CPU supports its vectors, and AVX-512 implies AVX2.
        unsafe { transpose_avx2(words) };
        return;
    }
    let _ = simd;
    transpose(&mut words.0);
}

/// Transposes a matrix whose rows from `n_rows` on are zero.
#[cfg(feature = "batch")]
pub(super) fn transpose_low_rows(simd: Simd, words: &mut Matrix, n_rows: usize) {
    #[cfg(target_arch = "x86_64")]
    if simd == Simd::Avx2 {
        // SAFETY: a program exists only if the CPU supports its vectors.
        unsafe { low_rows_avx2(words, n_rows) };
        return;
    }
    let _ = n_rows;
    transpose_by(simd, words);
}

/// Transposes a matrix if only the first `n_rows` rows of the result are needed; the others are undefined.
#[cfg(feature = "batch")]
pub(super) fn transpose_to_low_rows(simd: Simd, words: &mut Matrix, n_rows: usize) {
    #[cfg(target_arch = "x86_64")]
    if simd == Simd::Avx2 {
        // SAFETY: a program exists only if the CPU supports its vectors.
        unsafe { to_low_rows_avx2(words, n_rows) };
        return;
    }
    let _ = n_rows;
    transpose_by(simd, words);
}

#[cfg(feature = "batch")]
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn low_rows_avx2(words: &mut Matrix, n_rows: usize) {
    let rows = vectors(words);
    match n_rows {
        ..=16 => {
            let turned = turn_16([rows[0], rows[1], rows[2], rows[3]]);
            let low = _mm256_set1_epi64x(0xFFFF);
            for (idx, row) in turned.into_iter().enumerate() {
                rows[idx] = _mm256_and_si256(row, low);
                rows[4 + idx] = _mm256_and_si256(_mm256_srli_epi64::<16>(row), low);
                rows[8 + idx] = _mm256_and_si256(_mm256_srli_epi64::<32>(row), low);
                rows[12 + idx] = _mm256_srli_epi64::<48>(row);
            }
        }
        17..=32 => {
            let turned = turn_32(std::array::from_fn(|idx| rows[idx]));
            let low = _mm256_set1_epi64x(0xFFFF_FFFF);
            for (idx, row) in turned.into_iter().enumerate() {
                rows[idx] = _mm256_and_si256(row, low);
                rows[8 + idx] = _mm256_srli_epi64::<32>(row);
            }
        }
        _ => transpose_avx2(words),
    }
}

#[cfg(feature = "batch")]
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn to_low_rows_avx2(words: &mut Matrix, n_rows: usize) {
    let rows = vectors(words);
    match n_rows {
        ..=16 => {
            let low = _mm256_set1_epi64x(0xFFFF);
            let mut joined = [_mm256_setzero_si256(); 4];
            for (idx, row) in joined.iter_mut().enumerate() {
                let second = _mm256_slli_epi64::<16>(_mm256_and_si256(rows[4 + idx], low));
                let third = _mm256_slli_epi64::<32>(_mm256_and_si256(rows[8 + idx], low));
                let fourth = _mm256_slli_epi64::<48>(rows[12 + idx]);
                let front = _mm256_or_si256(_mm256_and_si256(rows[idx], low), second);
                *row = _mm256_or_si256(front, _mm256_or_si256(third, fourth));
            }
            rows[..4].copy_from_slice(&turn_16(joined));
        }
        17..=32 => {
            let low = _mm256_set1_epi64x(0xFFFF_FFFF);
            let mut joined = [_mm256_setzero_si256(); 8];
            for (idx, row) in joined.iter_mut().enumerate() {
                let second = _mm256_slli_epi64::<32>(rows[8 + idx]);
                *row = _mm256_or_si256(_mm256_and_si256(rows[idx], low), second);
            }
            rows[..8].copy_from_slice(&turn_32(joined));
        }
        _ => transpose_avx2(words),
    }
}

/// A matrix as vectors of four words.
#[cfg(target_arch = "x86_64")]
fn vectors(words: &mut Matrix) -> &mut [__m256i; 16] {
    // SAFETY: 64 aligned words are 16 vectors, and any bit pattern is a valid vector.
    unsafe { &mut *std::ptr::from_mut(words).cast() }
}

/// Transposes the matrices of 16×16 bits that stand side by side in 16 rows.
#[cfg(feature = "batch")]
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn turn_16(mut rows: [__m256i; 4]) -> [__m256i; 4] {
    swap_rows::<4, 2, 8>(&mut rows, 0x00FF_00FF_00FF_00FF);
    swap_rows::<4, 1, 4>(&mut rows, 0x0F0F_0F0F_0F0F_0F0F);
    swap_words(&mut rows);
    rows
}

/// Transposes the matrices of 32×32 bits that stand side by side in 32 rows.
#[cfg(feature = "batch")]
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn turn_32(mut rows: [__m256i; 8]) -> [__m256i; 8] {
    swap_rows::<8, 4, 16>(&mut rows, 0x0000_FFFF_0000_FFFF);
    swap_rows::<8, 2, 8>(&mut rows, 0x00FF_00FF_00FF_00FF);
    swap_rows::<8, 1, 4>(&mut rows, 0x0F0F_0F0F_0F0F_0F0F);
    swap_words(&mut rows);
    rows
}

/// The same in vectors of four words.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn transpose_avx2(words: &mut Matrix) {
    let rows = vectors(words);
    swap_rows::<16, 8, 32>(rows, 0x0000_0000_FFFF_FFFF);
    swap_rows::<16, 4, 16>(rows, 0x0000_FFFF_0000_FFFF);
    swap_rows::<16, 2, 8>(rows, 0x00FF_00FF_00FF_00FF);
    swap_rows::<16, 1, 4>(rows, 0x0F0F_0F0F_0F0F_0F0F);
    swap_words(rows);
}

/// The last two levels, whose words are in the same vector: the lower ones keep their low parts and get those of the
/// other, the upper ones their high parts. A shift by 64 gives zero.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn swap_words<const N: usize>(rows: &mut [__m256i; N]) {
    let two = 0x3333_3333_3333_3333;
    let keep_two = _mm256_set_epi64x(!two, !two, two, two);
    let (up_two, down_two) = (
        _mm256_set_epi64x(64, 64, 2, 2),
        _mm256_set_epi64x(2, 2, 64, 64),
    );
    let one = 0x5555_5555_5555_5555;
    let keep_one = _mm256_set_epi64x(!one, one, !one, one);
    let (up_one, down_one) = (
        _mm256_set_epi64x(64, 1, 64, 1),
        _mm256_set_epi64x(1, 64, 1, 64),
    );
    for row in rows {
        let other = _mm256_permute4x64_epi64::<0b01_00_11_10>(*row);
        *row = merge(*row, other, keep_two, up_two, down_two);
        let other = _mm256_permute4x64_epi64::<0b10_11_00_01>(*row);
        *row = merge(*row, other, keep_one, up_one, down_one);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn swap_rows<const N: usize, const WIDTH: usize, const SHIFT: i32>(
    rows: &mut [__m256i; N],
    mask: i64,
) {
    let mask = _mm256_set1_epi64x(mask);
    for idx in (0..N).filter(|idx| idx & WIDTH == 0) {
        let (low, high) = (rows[idx], rows[idx + WIDTH]);
        let moved = _mm256_xor_si256(_mm256_srli_epi64::<SHIFT>(low), high);
        let moved = _mm256_and_si256(moved, mask);
        rows[idx] = _mm256_xor_si256(low, _mm256_slli_epi64::<SHIFT>(moved));
        rows[idx + WIDTH] = _mm256_xor_si256(high, moved);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn merge(row: __m256i, other: __m256i, keep: __m256i, up: __m256i, down: __m256i) -> __m256i {
    let moved = _mm256_or_si256(_mm256_sllv_epi64(other, up), _mm256_srlv_epi64(other, down));
    _mm256_or_si256(
        _mm256_and_si256(row, keep),
        _mm256_andnot_si256(keep, moved),
    )
}

/// Whether the CPU has arbitrary byte permutations within vectors (VBMI) and 8×8 bit matrix multiplication (GFNI).
#[cfg(target_arch = "x86_64")]
fn has_byte_matrices() -> bool {
    is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("gfni")
}

/// Byte `8 * i + j` of a vector comes from byte `8 * j + i`, or, upside down, from byte `8 * (7 - j) + i`.
#[cfg(target_arch = "x86_64")]
const fn bytes_turned(is_upside_down: bool) -> [u8; 64] {
    let mut from = [0; 64];
    let mut to = 0;
    while to < 64 {
        let (i, j) = (to / 8, to % 8);
        from[to] = 8 * if is_upside_down { 7 - j } else { j } as u8 + i as u8;
        to += 1;
    }
    from
}

/// The same as 8×8 matrices of 8×8 bits: one instruction transposes each by multiplying it with the unit matrix, and
/// then the matrices are permuted as words and as bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn transpose_avx512(words: &mut Matrix) {
    const DOWN: [u8; 64] = bytes_turned(true);
    const PLAIN: [u8; 64] = bytes_turned(false);
    let unit = _mm512_set1_epi64(0x8040_2010_0804_0201_u64 as i64);
    // SAFETY: each has 64 bytes.
    let (down, plain): (__m512i, __m512i) = unsafe {
        (
            _mm512_loadu_si512(DOWN.as_ptr().cast()),
            _mm512_loadu_si512(PLAIN.as_ptr().cast()),
        )
    };
    // SAFETY: 64 aligned words are 8 vectors, and any bit pattern is a valid vector.
    let rows: &mut [__m512i; 8] = unsafe { &mut *std::ptr::from_mut(words).cast() };
    // The instruction takes the rows of a matrix from last to first.
    let turned = rows
        .map(|row| _mm512_gf2p8affine_epi64_epi8::<0>(unit, _mm512_permutexvar_epi8(down, row)));
    let low = |idx: usize| _mm512_unpacklo_epi64(turned[idx], turned[idx + 1]);
    let high = |idx: usize| _mm512_unpackhi_epi64(turned[idx], turned[idx + 1]);
    let even = quarters([low(0), low(2), low(4), low(6)]);
    let odd = quarters([high(0), high(2), high(4), high(6)]);
    for (idx, row) in rows.iter_mut().enumerate() {
        let source = if idx % 2 == 0 { &even } else { &odd };
        *row = _mm512_permutexvar_epi8(plain, source[idx / 2]);
    }
}

/// Quarter i of vector j becomes quarter j of vector i.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn quarters([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let (even_ab, odd_ab) = (
        _mm512_shuffle_i64x2::<0b10_00_10_00>(a, b),
        _mm512_shuffle_i64x2::<0b11_01_11_01>(a, b),
    );
    let (even_cd, odd_cd) = (
        _mm512_shuffle_i64x2::<0b10_00_10_00>(c, d),
        _mm512_shuffle_i64x2::<0b11_01_11_01>(c, d),
    );
    [
        _mm512_shuffle_i64x2::<0b10_00_10_00>(even_ab, even_cd),
        _mm512_shuffle_i64x2::<0b10_00_10_00>(odd_ab, odd_cd),
        _mm512_shuffle_i64x2::<0b11_01_11_01>(even_ab, even_cd),
        _mm512_shuffle_i64x2::<0b11_01_11_01>(odd_ab, odd_cd),
    ]
}

/// Writes states into the rows of some lanes of a block. `from` has the index of each lane's state in `states`, which
/// have `n_state_words` words each; row i of `rows` is the i-th base that has one, `n_words` wide, and the block is its
/// word `block`.
pub(super) fn states_to_rows(
    program: &LanesProgram,
    states: &[u64],
    from: &[u32; 64],
    lanes: u64,
    rows: &mut [u64],
    (n_words, block): (usize, usize),
) {
    let mut matrix = Matrix([0; 64]);
    for base_word in &program.base_words {
        // The contents of other lanes do not matter.
        for lane in bits(lanes) {
            matrix.0[lane] = states[from[lane] as usize * program.n_state_words + base_word.word];
        }
        transpose_by(program.options.simd, &mut matrix);
        let rows = rows[base_word.first * n_words..].chunks_exact_mut(n_words);
        for (row, &bit) in rows.zip(&base_word.bits) {
            let row = &mut row[block];
            *row = *row & !lanes | matrix.0[bit as usize % 64] & lanes;
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
    let mut matrix = Matrix([0; 64]);
    states.fill(0);
    for base_word in &program.base_words {
        matrix.0.fill(0);
        for (idx, &bit) in (base_word.first..).zip(&base_word.bits) {
            matrix.0[bit as usize] = rows[idx * n_words + block];
        }
        transpose_by(program.options.simd, &mut matrix);
        for (lane, word) in matrix.0.iter().enumerate() {
            states[lane * program.n_state_words + base_word.word] = *word;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers() -> Matrix {
        Matrix(std::array::from_fn(|idx| {
            (idx as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        }))
    }

    fn available() -> impl Iterator<Item = Simd> {
        let all = [Simd::Portable, Simd::Avx2, Simd::Avx512];
        all.into_iter().filter(|simd| simd.is_available())
    }

    #[test]
    fn a_part_of_a_matrix_is_transposed() {
        for (simd, n_rows) in available().flat_map(|simd| (1..=64).map(move |n| (simd, n))) {
            let mut few = numbers();
            few.0[n_rows..].fill(0);
            let before = few;
            transpose_low_rows(simd, &mut few, n_rows);
            let mut many = numbers();
            transpose_to_low_rows(simd, &mut many, n_rows);
            for (i, j) in (0..64).flat_map(|i| (0..64).map(move |j| (i, j))) {
                assert_eq!(few.0[j] >> i & 1, before.0[i] >> j & 1, "{simd:?} {n_rows}");
                if j < n_rows {
                    let expected = numbers().0[i] >> j & 1;
                    assert_eq!(many.0[j] >> i & 1, expected, "{simd:?} {n_rows}");
                }
            }
        }
    }

    #[test]
    fn a_matrix_is_transposed() {
        let before = numbers();
        for simd in available() {
            let mut words = before;
            transpose_by(simd, &mut words);
            for (i, j) in (0..64).flat_map(|i| (0..64).map(move |j| (i, j))) {
                assert_eq!(words.0[j] >> i & 1, before.0[i] >> j & 1, "{simd:?}");
            }
        }
    }
}
