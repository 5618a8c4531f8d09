//! Messages over HTTP: a [`Server`] for players, a [`RemotePlayer`] for managers.
//!
//! Peers of the GGP world speak HTTP by hand, and few libraries let them: version 1.0 or whatever they call it, no `Host`,
//! headers in any case, the message as the body of a POST or, with blanks and brackets in it, as the path of a GET, lengths
//! that count characters instead of bytes. One connection carries one message. That is little enough that our own reader
//! ([`read`]) is shorter than what a library would need around it, and a thread per connection is plenty: there are a
//! handful of peers, and each waits for seconds.
//!
//! Everything is bounded by [`Limits`]: sizes, connections, and how long a slow peer may take.

mod client;
pub mod read;
mod server;

use std::time::Duration;

pub use client::{AddressError, DEFAULT_PORT, RemotePlayer};
pub use server::Server;

/// Bounds on what peers may send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Most bytes before the body.
    pub head: usize,
    /// Most bytes of a message.
    pub body: usize,
    /// Most connections at a time.
    pub connections: usize,
    /// How long a peer may take to send its message, or to fetch the answer.
    pub patience: Duration,
}

impl Default for Limits {
    /// Rulesheets of the GGP world have up to half a megabyte.
    fn default() -> Limits {
        Limits {
            head: 1 << 20,
            body: 16 << 20,
            connections: 32,
            patience: Duration::from_secs(10),
        }
    }
}
