//! The trait [`Player`]: the only interface between a manager and a player, local or remote.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::message::{Reply, Request};

/// Answers requests. The manager sends one request at a time, on the player's own thread.
pub trait Player: Send {
    /// Answers a request. Once `stop` is raised, the answer is no longer wanted and the player should return soon.
    fn answer(&mut self, request: Request, stop: &StopFlag) -> Reply;
}

/// A flag that one thread raises and another one polls. Clones share one flag.
#[derive(Clone, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// A flag that is not raised.
    #[must_use]
    pub fn new() -> StopFlag {
        StopFlag::default()
    }

    /// Raises the flag. It cannot be lowered again.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is raised.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The underlying atomic, for hot loops and for crates that do not depend on this one.
    #[must_use]
    pub fn as_atomic(&self) -> &Arc<AtomicBool> {
        &self.0
    }
}

impl fmt::Debug for StopFlag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StopFlag({})", self.is_raised())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_one_flag() {
        let flag = StopFlag::new();
        let other = flag.clone();
        assert!(!flag.is_raised());
        other.raise();
        assert!(flag.is_raised() && flag.as_atomic().load(Ordering::Relaxed));
    }
}
