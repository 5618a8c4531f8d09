//! Any bytes are read and formatted without a panic; formatting is idempotent and keeps comments and rules.

#![no_main]

#[expect(dead_code, reason = "the other target has the other laws")]
#[path = "../../crates/gdl/tests/laws/mod.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    laws::formatting_keeps_everything(bytes);
});
