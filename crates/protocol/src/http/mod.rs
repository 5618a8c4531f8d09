//! Messages over HTTP: a [`Server`] for players, a [`RemotePlayer`] for managers.
//!
//! Many GGP programs write HTTP by hand, in ways that few libraries accept: any version string, no `Host`, headers in any
//! case, the message as the body of a POST or, with blanks and brackets, as the path of a GET, and lengths that count
//! characters instead of bytes. One connection carries one message. Our own reader ([`read`]) is therefore shorter than the
//! code to adapt a library would be. One thread per connection is enough, because the number of connections is bounded.
//!
//! [`Limits`] bounds all sizes, the number of connections, and how long a slow peer may take. [`Access`] says who may speak.

mod access;
mod client;
mod connections;
pub mod read;
mod server;

use std::time::Duration;

pub use access::Access;
pub use client::{AddressError, DEFAULT_PORT, RemotePlayer};
pub use server::Server;

/// Bounds on what peers may send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Maximum number of bytes before the body.
    pub head: usize,
    /// Maximum number of bytes of a message.
    pub body: usize,
    /// Maximum number of connections at a time. If there are more, idle ones are closed, the oldest first.
    pub connections: usize,
    /// Maximum number of connections from one address.
    pub connections_per_address: usize,
    /// How long a peer may take to send everything before the body.
    pub head_patience: Duration,
    /// How long a peer may take to send its message, or to receive the answer.
    pub patience: Duration,
}

impl Limits {
    /// The largest known rulesheets have half a megabyte.
    pub const DEFAULT: Limits = Limits {
        head: 64 << 10,
        body: 16 << 20,
        connections: 128,
        connections_per_address: 96,
        head_patience: Duration::from_secs(2),
        patience: Duration::from_secs(10),
    };
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::DEFAULT
    }
}
