//! Messages over HTTP: a [`Server`] for players, a [`RemotePlayer`] for managers.
//!
//! Many GGP programs write HTTP by hand, in ways that few libraries accept: any version string, no `Host`, headers in any
//! case, the message as the body of a POST or, with blanks and brackets, as the path of a GET, and lengths that count
//! characters instead of bytes. One connection carries one message. Our own reader ([`read`]) is therefore shorter than the
//! code to adapt a library would be. One thread per connection is enough, because there are only a few peers at a time.
//!
//! [`Limits`] bounds all sizes, the number of connections, and how long a slow peer may take.

mod client;
pub mod read;
mod server;

use std::time::Duration;

pub use client::{AddressError, DEFAULT_PORT, RemotePlayer};
pub use server::Server;

/// Bounds on what peers may send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Maximum number of bytes before the body.
    pub head: usize,
    /// Maximum number of bytes of a message.
    pub body: usize,
    /// Maximum number of connections at a time.
    pub connections: usize,
    /// How long a peer may take to send its message, or to receive the answer.
    pub patience: Duration,
}

impl Default for Limits {
    /// The largest known rulesheets have half a megabyte.
    fn default() -> Limits {
        Limits {
            head: 1 << 20,
            body: 16 << 20,
            connections: 32,
            patience: Duration::from_secs(10),
        }
    }
}
