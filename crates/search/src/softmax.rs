//! Draws by the Gibbs distribution, with the same bits on every machine.

use wide::{f32x8, i32x8};

use crate::random::Random;

/// Exponents below count as this.
pub(crate) const LEAST_EXPONENT: f32 = -70.0;
/// Numbers at a time.
pub(crate) const WIDTH: usize = 8;

/// The place of a value drawn with a chance in proportion to `exp(value · scale)`; values are overwritten.
pub(crate) fn draw(values: &mut [f32], scale: f32, random: &mut Random) -> usize {
    let highest = values.iter().copied().fold(f32::MIN, f32::max);
    let mut sum = 0.0;
    for chunk in values.chunks_mut(WIDTH) {
        let mut all = [0.0; WIDTH];
        all[..chunk.len()].copy_from_slice(chunk);
        let exponents = (f32x8::from(all) - f32x8::splat(highest)) * f32x8::splat(scale);
        let weights = exp(exponents.max(f32x8::splat(LEAST_EXPONENT))).to_array();
        for (to, weight) in chunk.iter_mut().zip(weights) {
            *to = weight;
            sum += weight;
        }
    }
    let mut left = random.unit() as f32 * sum;
    for (idx, &weight) in values.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return idx;
        }
    }
    values.len() - 1
}

/// The exponential of numbers from [`LEAST_EXPONENT`] to 0, with the same bits on every machine: `2^n · e^r` with a small r, by
/// Taylor's series.
#[inline]
pub(crate) fn exp(x: f32x8) -> f32x8 {
    let n = (x * f32x8::splat(std::f32::consts::LOG2_E)).round_int();
    let whole = n.round_float();
    // ln 2 in two parts, the first of which has few digits.
    let r = x - whole * f32x8::splat(0.693_359_4) - whole * f32x8::splat(-2.121_944_4e-4);
    let mut sum = f32x8::splat(1.0 / 5040.0);
    for factor in [720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0] {
        sum = sum * r + f32x8::splat(1.0 / factor);
    }
    let power: f32x8 = bytemuck::cast((n + i32x8::splat(127)) << 23);
    sum * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_near_enough() {
        for idx in 0..7000 {
            let x = -0.01 * idx as f32;
            let (found, expected) = (exp(f32x8::splat(x)).to_array()[3], libm::expf(x));
            assert!(
                (found / expected - 1.0).abs() < 1e-5,
                "{x}: {found}, {expected}"
            );
        }
    }

    #[test]
    fn values_are_drawn_as_by_hand() {
        // Exponents 1, 2 and 0: weights 1 : e : 1/e.
        let mut random = Random::new(1);
        let mut shares = [0.0_f64; 3];
        for _ in 0..20_000 {
            let mut values = [10.0, 20.0, 0.0];
            shares[draw(&mut values, 0.1, &mut random)] += 1.0 / 20_000.0;
        }
        for (share, expected) in shares.into_iter().zip([0.2447, 0.6652, 0.0900]) {
            assert!((share - expected).abs() < 0.012, "{shares:?}");
        }
    }
}
