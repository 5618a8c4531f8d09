//! Any bytes are a message or an error, never a panic; a message that is written and read again is the same message, and
//! any bytes are some reply to it, as long as it is text.

#![no_main]

use agon_protocol::codec::{read_reply, read_request, write_reply, write_request};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(request) = read_request(bytes) else {
        return;
    };
    // Rules with control characters in them are text or not by how many there are, which differs once they are laid out.
    let is_plain = |text: &str| text.chars().all(|c| !c.is_control() || c.is_whitespace());
    if !std::str::from_utf8(bytes).is_ok_and(is_plain) {
        return;
    }
    let text = write_request(&request);
    let again = read_request(text.as_bytes()).expect("what is written can be read");
    assert_eq!(write_request(&again), text);
    let reply = write_reply(&read_reply(&request, bytes));
    let again = write_reply(&read_reply(&request, reply.as_bytes()));
    assert_eq!(again, reply);
});
