//! The chance that a policy makes a move, in one byte: to 3 %, but not below 2⁻¹⁶.
//!
//! A code says how many steps below 1 the chance is, among the numbers with four binary places. Greater codes are greater
//! chances, so that the best of many moves is found by comparing bytes.

/// A number of 32 bits without these has four binary places.
const PLACES: u32 = 19;
/// 1 with four binary places.
const ONE: u32 = 1.0_f32.to_bits() >> PLACES;

/// The code of a chance.
#[inline]
pub(crate) fn encode(chance: f32) -> u8 {
    let rounded = (chance.to_bits() + (1 << (PLACES - 1))) >> PLACES;
    255 - ONE.saturating_sub(rounded).min(255) as u8
}

/// The chance of a code.
#[inline(always)]
pub(crate) fn decode(code: u8) -> f32 {
    f32::from_bits((ONE - u32::from(255 - code)) << PLACES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_known_to_a_few_parts_in_a_hundred() {
        for idx in 0..1000 {
            let chance = libm::powf(2.0, -(idx as f32) / 64.0);
            let ratio = decode(encode(chance)) / chance;
            assert!((ratio - 1.0).abs() < 0.032, "{chance}: {ratio}");
        }
        assert_eq!(decode(encode(1.0)), 1.0);
        assert_eq!(encode(0.0), 0);
        assert!(encode(0.2) > encode(0.1));
    }
}
