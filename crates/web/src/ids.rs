//! Ids that nobody can guess: 128 random bits of the system as 32 hex digits.

/// A new id.
///
/// # Panics
/// If the system has no random numbers, without which the server could not be safe.
pub(crate) fn new_id() -> String {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a text has the form of an id, so that it is safe in the name of a file.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() == 32
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether two secrets are equal, in a time that does not depend on where they differ.
pub(crate) fn is_same(a: &str, b: &str) -> bool {
    let differing = a
        .bytes()
        .zip(b.bytes())
        .fold(0, |sum, (a, b)| sum | (a ^ b));
    a.len() == b.len() && differing == 0
}

/// A random seed.
pub(crate) fn new_seed() -> u64 {
    let mut bytes = [0_u8; 8];
    // Seeds need not be secret.
    let _ = getrandom::fill(&mut bytes);
    // JSON numbers are exact up to 53 bits.
    u64::from_le_bytes(bytes) >> 12
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_and_have_their_form() {
        let (a, b) = (new_id(), new_id());
        assert!(is_id(&a) && is_id(&b) && a != b);
        for text in [
            "",
            "../../x",
            "0123",
            &a[..31],
            &a.to_uppercase().replace('0', "A"),
        ] {
            assert!(!is_id(text) || text == a, "{text}");
        }
        assert!(!is_id("..%2f..%2f..%2fetc%2fpasswd12345"));
    }

    #[test]
    fn secrets_are_compared_whole() {
        assert!(is_same("abc", "abc"));
        for other in ["", "ab", "abd", "abcd"] {
            assert!(!is_same("abc", other));
        }
    }
}
