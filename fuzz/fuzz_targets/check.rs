//! Any bytes are checked without a panic and every finding can be drawn; checked rules that are printed and read again
//! are the same rules.

#![no_main]

#[expect(dead_code, reason = "the other target has the other laws")]
#[path = "../../crates/gdl/tests/laws/mod.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    laws::findings_can_be_drawn(bytes);
    laws::printing_keeps_rules(bytes);
});
