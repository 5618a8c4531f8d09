//! Arithmetic of small neural networks, the same bit by bit on every CPU.
//!
//! A network here has a sparse first layer of [`UNITS`] units (the sum of the rows of the fluents that hold), a dense second layer
//! of [`SECOND_UNITS`] units, and linear outputs. The code is written once over arrays of a fixed size and compiled for several
//! instruction sets. Every sum is added in one fixed order, and products are rounded before they are added, so that all of them
//! compute the same numbers: a sum over inputs runs in the order of the inputs, one unit per element of a vector; a scalar product has
//! eight partial sums that are added in pairs.
//!
//! In: weights and activations. Out: activations. Not here: what inputs and outputs mean, and training.

#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "CPU instructions are chosen at run time, and functions that use them are unsafe to call"
    )
)]

use crate::lanes::Simd;
use crate::state::MoveId;

/// Units of the first layer.
pub const UNITS: usize = 64;
/// Units of the second layer.
pub const SECOND_UNITS: usize = 32;

/// Elements of a vector.
const WIDTH: usize = 8;
/// Adding and subtracting it rounds to a whole number: 1.5 · 2²³.
const ROUNDING: f32 = 12_582_912.0;

/// A number per unit of the first layer: weights or activations.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C, align(64))]
pub struct Row(pub [f32; UNITS]);

impl Row {
    /// All zeros.
    pub const ZERO: Row = Row([0.0; UNITS]);
}

/// The weights of a second layer: per unit of the first one, a number per unit of the second one.
#[derive(Clone, PartialEq, Debug)]
#[repr(C, align(64))]
pub struct Matrix(pub [[f32; SECOND_UNITS]; UNITS]);

impl Matrix {
    /// All zeros.
    pub const ZERO: Matrix = Matrix([[0.0; SECOND_UNITS]; UNITS]);
}

/// The arithmetic for one kind of CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Whether vectors of eight numbers are used. Invariant: the CPU has them.
    has_avx2: bool,
}

macro_rules! dispatch {
    ($self:ident, $portable:ident, $avx2:ident, ($($arg:expr),*)) => {{
        #[cfg(target_arch = "x86_64")]
        if $self.has_avx2 {
            // SAFETY: the CPU has AVX2.
            return unsafe { $avx2($($arg),*) };
        }
        $portable($($arg),*)
    }};
}

impl Kernel {
    /// The arithmetic for these instructions; the portable one if the CPU does not have them.
    #[must_use]
    pub fn new(simd: Simd) -> Kernel {
        Kernel {
            has_avx2: simd != Simd::Portable && Simd::Avx2.is_available(),
        }
    }

    /// The first layer: the bias plus the rows of the bits that are set and in the mask, in the order of the bits, at least 0.
    ///
    /// # Panics
    /// If a bit has no row.
    pub fn first_layer(self, words: &[u64], mask: &[u64], rows: &[Row], bias: &Row, to: &mut Row) {
        dispatch!(
            self,
            first_layer,
            first_layer_avx2,
            (words, mask, rows, bias, to)
        );
    }

    /// The second layer, at least 0.
    pub fn second_layer(
        self,
        from: &Row,
        weights: &Matrix,
        bias: &[f32; SECOND_UNITS],
        to: &mut [f32; SECOND_UNITS],
    ) {
        dispatch!(
            self,
            second_layer,
            second_layer_avx2,
            (from, weights, bias, to)
        );
    }

    /// Chances of some moves: the softmax of the scalar products of the units with their rows, plus their biases.
    ///
    /// # Panics
    /// If a move has no row or no bias.
    pub fn chances(
        self,
        from: &Row,
        rows: &[Row],
        bias: &[f32],
        moves: &[MoveId],
        to: &mut Vec<f32>,
    ) {
        dispatch!(self, chances, chances_avx2, (from, rows, bias, moves, to));
    }
}

#[inline(always)]
fn first_layer(words: &[u64], mask: &[u64], rows: &[Row], bias: &Row, to: &mut Row) {
    let mut sums = bias.0;
    for (idx, (word, mask)) in words.iter().zip(mask).enumerate() {
        let mut left = word & mask;
        while left != 0 {
            let row = &rows[idx * 64 + left.trailing_zeros() as usize].0;
            for (sum, weight) in sums.iter_mut().zip(row) {
                *sum += weight;
            }
            left &= left - 1;
        }
    }
    for (to, sum) in to.0.iter_mut().zip(sums) {
        *to = if sum > 0.0 { sum } else { 0.0 };
    }
}

#[inline(always)]
fn second_layer(
    from: &Row,
    weights: &Matrix,
    bias: &[f32; SECOND_UNITS],
    to: &mut [f32; SECOND_UNITS],
) {
    let mut sums = *bias;
    for (activation, weights) in from.0.iter().zip(&weights.0) {
        for (sum, weight) in sums.iter_mut().zip(weights) {
            *sum += activation * weight;
        }
    }
    for (to, sum) in to.iter_mut().zip(sums) {
        *to = if sum > 0.0 { sum } else { 0.0 };
    }
}

#[inline(always)]
fn chances(from: &Row, rows: &[Row], bias: &[f32], moves: &[MoveId], to: &mut Vec<f32>) {
    to.clear();
    for mv in moves {
        let idx = mv.0 as usize;
        to.push(product(from, &rows[idx]) + bias[idx]);
    }
    softmax(to);
}

#[inline(always)]
fn product(one: &Row, other: &Row) -> f32 {
    let mut sums = [0.0_f32; WIDTH];
    let (ones, _) = one.0.as_chunks::<WIDTH>();
    let (others, _) = other.0.as_chunks::<WIDTH>();
    for (one, other) in ones.iter().zip(others) {
        for (sum, (one, other)) in sums.iter_mut().zip(one.iter().zip(other)) {
            *sum += one * other;
        }
    }
    let four = [
        sums[0] + sums[4],
        sums[1] + sums[5],
        sums[2] + sums[6],
        sums[3] + sums[7],
    ];
    (four[0] + four[2]) + (four[1] + four[3])
}

/// Makes logits chances that add up to 1.
#[inline(always)]
fn softmax(logits: &mut [f32]) {
    let mut most = f32::NEG_INFINITY;
    for &logit in &*logits {
        most = if logit > most { logit } else { most };
    }
    for logit in &mut *logits {
        *logit = exp(*logit - most);
    }
    let sum: f32 = logits.iter().sum();
    let share = 1.0 / sum;
    for chance in logits {
        *chance *= share;
    }
}

/// The same with vectors of eight numbers, where the compiler does not keep sums in registers by itself.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256, _mm_add_ps, _mm_add_ss, _mm_cvtss_f32, _mm_movehl_ps, _mm_shuffle_ps,
        _mm256_add_ps, _mm256_castps256_ps128, _mm256_extractf128_ps, _mm256_load_ps,
        _mm256_max_ps, _mm256_mul_ps, _mm256_setzero_ps, _mm256_store_ps,
    };

    use super::{Row, UNITS, WIDTH};

    const PARTS: usize = UNITS / WIDTH;

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(row: &Row, part: usize) -> __m256 {
        let numbers = &row.0[part * WIDTH..(part + 1) * WIDTH];
        // SAFETY: there are eight numbers, and rows and their parts are aligned to 32 bytes.
        unsafe { _mm256_load_ps(numbers.as_ptr()) }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn first_layer(words: &[u64], mask: &[u64], rows: &[Row], bias: &Row, to: &mut Row) {
        let mut sums = [_mm256_setzero_ps(); PARTS];
        for (part, sum) in sums.iter_mut().enumerate() {
            *sum = load(bias, part);
        }
        for (idx, (word, mask)) in words.iter().zip(mask).enumerate() {
            let mut left = word & mask;
            while left != 0 {
                let row = &rows[idx * 64 + left.trailing_zeros() as usize];
                for (part, sum) in sums.iter_mut().enumerate() {
                    *sum = _mm256_add_ps(*sum, load(row, part));
                }
                left &= left - 1;
            }
        }
        for (part, sum) in sums.into_iter().enumerate() {
            // The second operand is taken where none is greater, so that -0 becomes 0.
            let sum = _mm256_max_ps(sum, _mm256_setzero_ps());
            let numbers = &mut to.0[part * WIDTH..(part + 1) * WIDTH];
            // SAFETY: there is room for eight numbers, and rows and their parts are aligned to 32 bytes.
            unsafe { _mm256_store_ps(numbers.as_mut_ptr(), sum) };
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn product(one: &Row, other: &Row) -> f32 {
        let mut sums = _mm256_setzero_ps();
        for part in 0..PARTS {
            let products = _mm256_mul_ps(load(one, part), load(other, part));
            sums = _mm256_add_ps(sums, products);
        }
        let four = _mm_add_ps(
            _mm256_castps256_ps128(sums),
            _mm256_extractf128_ps::<1>(sums),
        );
        let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        let other = _mm_shuffle_ps::<1>(two, two);
        _mm_cvtss_f32(_mm_add_ss(two, other))
    }
}

#[cfg(target_arch = "x86_64")]
use avx2::first_layer as first_layer_avx2;

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn second_layer_avx2(
    from: &Row,
    weights: &Matrix,
    bias: &[f32; SECOND_UNITS],
    to: &mut [f32; SECOND_UNITS],
) {
    second_layer(from, weights, bias, to);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn chances_avx2(from: &Row, rows: &[Row], bias: &[f32], moves: &[MoveId], to: &mut Vec<f32>) {
    to.clear();
    to.reserve(moves.len());
    for mv in moves {
        let idx = mv.0 as usize;
        to.push(avx2::product(from, &rows[idx]) + bias[idx]);
    }
    softmax(to);
}

/// The exponential of a number that is not above 0, to about 10⁻⁷ of itself; 0 far below.
///
/// The number is split into a whole number of binary places and a rest, for which the first terms of the series are exact enough.
#[inline(always)]
#[must_use]
pub fn exp(x: f32) -> f32 {
    let x = if x < -87.0 { -87.0 } else { x };
    let rounded = x * std::f32::consts::LOG2_E + ROUNDING;
    let whole = rounded - ROUNDING;
    // ln 2 in two parts, the first of which has few binary places, so that its product is exact.
    let rest = x - whole * 0.693_359_4 + whole * 2.121_944_4e-4;
    let series = 1.0 / 720.0_f32;
    let series = series * rest + 1.0 / 120.0;
    let series = series * rest + 1.0 / 24.0;
    let series = series * rest + 1.0 / 6.0;
    let series = series * rest + 0.5;
    let series = series * rest + 1.0;
    let series = series * rest + 1.0;
    let exponent = rounded.to_bits().wrapping_sub(ROUNDING.to_bits());
    f32::from_bits(series.to_bits().wrapping_add(exponent << 23))
}

/// The logistic function.
#[must_use]
pub fn sigmoid(x: f32) -> f32 {
    match x > 0.0 {
        true => 1.0 / (1.0 + exp(-x)),
        false => {
            let part = exp(x);
            part / (1.0 + part)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers from -1 to 1.
    fn numbers(seed: &mut u32) -> f32 {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (*seed >> 8) as f32 / (1 << 23) as f32 - 1.0
    }

    fn row(seed: &mut u32) -> Row {
        Row(std::array::from_fn(|_| numbers(seed)))
    }

    fn matrix(seed: &mut u32) -> Matrix {
        Matrix(std::array::from_fn(|_| {
            std::array::from_fn(|_| numbers(seed))
        }))
    }

    #[test]
    fn layers_are_as_by_the_definition() {
        let mut seed = 1;
        let rows: Vec<Row> = (0..128).map(|_| row(&mut seed)).collect();
        let bias = row(&mut seed);
        let kernel = Kernel::new(Simd::Portable);
        let mut first = Row::ZERO;
        let words = [1 << 3 | 1 << 63, 1 << 5 | 1 << 6];
        kernel.first_layer(&words, &[u64::MAX, !(1 << 6)], &rows, &bias, &mut first);
        for (unit, number) in first.0.iter().enumerate() {
            let sum = bias.0[unit] + rows[3].0[unit] + rows[63].0[unit] + rows[69].0[unit];
            assert_eq!(*number, sum.max(0.0));
        }
        let weights = matrix(&mut seed);
        let mut second = [0.0; SECOND_UNITS];
        kernel.second_layer(&first, &weights, &[0.5; SECOND_UNITS], &mut second);
        for (unit, number) in second.iter().enumerate() {
            let products = (0..UNITS).map(|from| f64::from(first.0[from] * weights.0[from][unit]));
            let sum: f64 = 0.5 + products.sum::<f64>();
            assert!((f64::from(*number) - sum.max(0.0)).abs() < 1e-4);
        }
        let mut chances = Vec::new();
        let biases = vec![0.25; 128];
        kernel.chances(
            &first,
            &rows,
            &biases,
            &[7, 9, 100].map(MoveId),
            &mut chances,
        );
        let logits = [7, 9, 100].map(|idx: usize| {
            let products = first.0.iter().zip(&rows[idx].0);
            products.map(|(a, b)| f64::from(a * b)).sum::<f64>()
        });
        let sum: f64 = logits.iter().map(|logit| logit.exp()).sum();
        for (chance, logit) in chances.iter().zip(logits) {
            assert!((f64::from(*chance) - logit.exp() / sum).abs() < 1e-5);
        }
    }

    #[test]
    fn every_cpu_computes_the_same_bits() {
        let kernels = [Simd::Portable, Simd::Avx2, Simd::Avx512].map(Kernel::new);
        let mut seed = 7;
        let rows: Vec<Row> = (0..192).map(|_| row(&mut seed)).collect();
        let biases: Vec<f32> = (0..192).map(|_| numbers(&mut seed)).collect();
        let bias = row(&mut seed);
        let weights = matrix(&mut seed);
        for round in 0..200 {
            let words = [0, 1, 2].map(|word: u64| {
                let mixed = (round * 3 + word + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                mixed ^ mixed >> 29
            });
            let all = kernels.map(|kernel| {
                let mut first = Row::ZERO;
                kernel.first_layer(&words, &[u64::MAX; 3], &rows, &bias, &mut first);
                let mut second = [0.0; SECOND_UNITS];
                kernel.second_layer(&first, &weights, &[0.1; SECOND_UNITS], &mut second);
                let mut chances = Vec::new();
                let moves: Vec<MoveId> = (0..192).map(MoveId).collect();
                kernel.chances(&first, &rows, &biases, &moves, &mut chances);
                let bits = |numbers: &[f32]| -> Vec<u32> {
                    numbers.iter().map(|number| number.to_bits()).collect()
                };
                [bits(&first.0), bits(&second), bits(&chances)]
            });
            assert!(all.iter().all(|one| *one == all[0]), "round {round}");
        }
    }

    #[test]
    fn exponentials_are_exact_to_a_few_units() {
        for idx in 0..8000 {
            let x = -(idx as f32) / 100.0;
            let exact = f64::from(x).exp();
            let error = (f64::from(exp(x)) - exact).abs() / exact;
            assert!(error < 3e-7, "{x}: {error}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(f32::NEG_INFINITY) < 1e-37);
        assert_eq!(sigmoid(0.0), 0.5);
        assert!((sigmoid(2.0) + sigmoid(-2.0) - 1.0).abs() < 1e-6);
    }
}
