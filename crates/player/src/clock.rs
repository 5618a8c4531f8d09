//! From the clock of a match to the deadlines of one answer.
//!
//! An answer needs time to get to the manager, so that thinking ends a margin before the clock runs out, and a bot that
//! has not come back after half of the margin is not waited for. A margin is never more than a tenth of the clock.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use agon_search::Limits;

/// As good as for ever, and far from where times overflow.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// What a player may spend on a move besides its clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Budget {
    /// Time to think.
    pub time: Option<Duration>,
    /// Random games.
    pub playouts: Option<u64>,
    /// States stepped through.
    pub transitions: Option<u64>,
}

/// The deadlines of one answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Deadlines {
    /// When thinking ends.
    pub(crate) think: Instant,
    /// When the answer is given, thought out or not.
    pub(crate) answer: Instant,
}

impl Deadlines {
    /// Those of a request that came at this time.
    pub(crate) fn new(received: Instant, clock: Duration, margin: Duration) -> Deadlines {
        let clock = clock.min(LONGEST);
        let margin = margin.min(clock / 10);
        Deadlines {
            think: received + clock - margin,
            answer: received + clock - margin / 2,
        }
    }

    /// The limits of a bot.
    pub(crate) fn limits(
        self,
        received: Instant,
        budget: Budget,
        stop: &Arc<AtomicBool>,
    ) -> Limits {
        let own = budget.time.map(|time| received + time.min(LONGEST));
        Limits {
            deadline: Some(own.map_or(self.think, |own| own.min(self.think))),
            playouts: budget.playouts,
            transitions: budget.transitions,
            stop: Some(Arc::clone(stop)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long after the request thinking ends and the answer is given, in milliseconds.
    fn check(clock: Duration, expected: [u128; 2]) {
        let received = Instant::now();
        let deadlines = Deadlines::new(received, clock, Duration::from_millis(200));
        let after = |at: Instant| (at - received).as_millis();
        assert_eq!([after(deadlines.think), after(deadlines.answer)], expected);
    }

    #[test]
    fn thinking_ends_a_margin_before_the_clock() {
        check(Duration::from_secs(10), [9800, 9900]);
        check(Duration::from_secs(1), [900, 950]);
        check(Duration::ZERO, [0, 0]);
    }

    #[test]
    fn an_absurd_clock_is_a_long_one() {
        check(Duration::MAX, [31_535_999_800, 31_535_999_900]);
    }

    #[test]
    fn a_budget_of_time_comes_before_the_clock() {
        let received = Instant::now();
        let deadlines = Deadlines::new(received, Duration::from_secs(10), Duration::ZERO);
        let limit = |seconds| {
            let budget = Budget {
                time: Some(Duration::from_secs(seconds)),
                ..Budget::default()
            };
            let limits = deadlines.limits(received, budget, &Arc::default());
            limits
                .deadline
                .map(|deadline| (deadline - received).as_secs())
        };
        assert_eq!((limit(3), limit(30)), (Some(3), Some(10)));
    }
}
