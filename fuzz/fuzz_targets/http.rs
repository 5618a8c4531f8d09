//! Any bytes are an HTTP request or response or neither, never a panic, never longer than allowed, and the same whether
//! they come at once or one by one.

#![no_main]

use std::io::BufReader;

use agon_protocol::http::Limits;
use agon_protocol::http::read::{Incoming, read_request, read_response};

const LIMITS: Limits = Limits {
    head: 300,
    body: 300,
    ..Limits::DEFAULT
};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut slow = BufReader::with_capacity(1, bytes);
    let slow = read_request(&mut slow, &LIMITS, &mut || Ok(()));
    let mut fast = bytes;
    let fast = read_request(&mut fast, &LIMITS, &mut || Ok(()));
    assert_eq!(slow.as_ref().ok(), fast.as_ref().ok());
    if let Ok(Incoming::Message(message)) = fast {
        assert!(message.len() <= LIMITS.body);
    }
    let mut from = bytes;
    if let Ok(body) = read_response(&mut from, &LIMITS) {
        assert!(body.len() <= LIMITS.body);
    }
});
