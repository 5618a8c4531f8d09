//! The one door between a manager and any player, in the same process or far away: the trait [`Player`].

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::message::{Reply, Request};

/// Somebody who answers requests. The manager asks one question at a time, on the player's own thread.
pub trait Player: Send {
    /// Answers. Once `stop` is raised nobody waits for the answer any more, so that a player had better come to an end.
    fn answer(&mut self, request: Request, stop: &StopFlag) -> Reply;
}

/// A flag that one side raises and the other side looks at. Clones are the same flag.
#[derive(Clone, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// A flag that is down.
    #[must_use]
    pub fn new() -> StopFlag {
        StopFlag::default()
    }

    /// Raises it, for good.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is up.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag itself, for those who look at it in a hot loop or know nothing of this crate.
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
    fn clones_are_the_same_flag() {
        let flag = StopFlag::new();
        let other = flag.clone();
        assert!(!flag.is_raised());
        other.raise();
        assert!(flag.is_raised() && flag.as_atomic().load(Ordering::Relaxed));
    }
}
