//! Numbers of 16 bits (IEEE 754 half precision): a sign, five bits of exponent, ten binary places.

/// The nearest number of 16 bits, ties to even; what is too large becomes the largest.
pub(super) fn encode(number: f32) -> u16 {
    let bits = number.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = f32::from_bits(bits & 0x7fff_ffff);
    if magnitude.is_nan() {
        return sign | 0x7e00;
    }
    if magnitude >= 65_504.0 {
        return sign | 0x7bff;
    }
    // Below 2⁻¹⁴ the step is 2⁻²⁴; adding 2⁻¹ rounds to it.
    if magnitude < 6.103_515_6e-5 {
        let rounded = (magnitude + 0.5).to_bits() - 0.5_f32.to_bits();
        return sign | rounded as u16;
    }
    let bits = magnitude.to_bits();
    let odd = bits >> 13 & 1;
    let rounded = (bits + 0xfff + odd) >> 13;
    sign | (rounded - (112 << 10)) as u16
}

/// The number.
pub(super) fn decode(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let (exponent, places) = (u32::from(bits >> 10 & 0x1f), u32::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => places as f32 * 5.960_464_5e-8,
        31 => f32::from_bits(0x7f80_0000 | places << 13),
        _ => f32::from_bits((exponent + 112) << 23 | places << 13),
    };
    f32::from_bits(magnitude.to_bits() | sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_16_bits_is_kept() {
        for bits in 0..0x7c00_u16 {
            for bits in [bits, bits | 0x8000] {
                assert_eq!(encode(decode(bits)), bits, "{}", decode(bits));
            }
        }
        assert!(decode(encode(f32::NAN)).is_nan());
    }

    #[test]
    fn others_become_the_nearest() {
        assert_eq!(decode(encode(1.0)), 1.0);
        assert_eq!(decode(encode(1.000_4)), 1.0);
        assert_eq!(decode(encode(1.000_6)), 1.000_976_6);
        assert_eq!(decode(encode(-1e9)), -65_504.0);
        assert_eq!(decode(encode(1e-9)), 0.0);
        for idx in 0..10_000 {
            let number = (idx as f32 - 5000.0) / 977.0;
            assert!((decode(encode(number)) - number).abs() <= number.abs() / 2000.0 + 1e-7);
        }
    }
}
