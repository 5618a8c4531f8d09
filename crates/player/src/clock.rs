//! From the clock of a match to the deadlines of one answer.
//!
//! An answer needs time to get to the manager, so that thinking ends a margin before the clock runs out, and a bot that
//! has not come back after half of the margin is not waited for. A margin is never more than an eighth of the clock. Besides,
//! what bots take longer than they may is measured; thinking ends so much earlier the next time, and waiting for it half as
//! much, because a machine that is late for one thing is late for the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agon_search::Limits;

/// As good as for ever, and far from where times overflow.
pub(crate) const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

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

/// How much later than they should bots came back lately. Clones are the same measurement.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overrun(Arc<AtomicU64>);

impl Overrun {
    /// What is to be expected.
    pub(crate) fn expected(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::Relaxed))
    }

    /// A bot came back so much later than it should. The worst is remembered and fades by an eighth with every other.
    pub(crate) fn measure(&self, overrun: Duration) {
        let micros = u64::try_from(overrun.as_micros()).unwrap_or(u64::MAX);
        let known = self.0.load(Ordering::Relaxed);
        self.0
            .store(micros.max(known - known / 8), Ordering::Relaxed);
    }
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
    pub(crate) fn new(
        received: Instant,
        clock: Duration,
        margin: Duration,
        overrun: Duration,
    ) -> Deadlines {
        let clock = clock.min(LONGEST);
        let margin = margin.min(clock / 8);
        let early = margin + overrun.min(clock / 4);
        Deadlines {
            think: received + clock - early,
            answer: received + clock - early / 2,
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
    fn check(clock: Duration, overrun: u64, expected: [u128; 2]) {
        let received = Instant::now();
        let overrun = Duration::from_millis(overrun);
        let deadlines = Deadlines::new(received, clock, Duration::from_millis(200), overrun);
        let after = |at: Instant| (at - received).as_millis();
        assert_eq!([after(deadlines.think), after(deadlines.answer)], expected);
    }

    #[test]
    fn thinking_ends_a_margin_before_the_clock() {
        check(Duration::from_secs(10), 0, [9800, 9900]);
        check(Duration::from_secs(1), 0, [875, 937]);
        check(Duration::ZERO, 0, [0, 0]);
    }

    #[test]
    fn what_bots_take_too_long_is_taken_off() {
        check(Duration::from_secs(1), 30, [845, 922]);
        check(Duration::from_secs(1), 3000, [625, 812]);
    }

    #[test]
    fn an_absurd_clock_is_a_long_one() {
        check(Duration::MAX, 0, [31_535_999_800, 31_535_999_900]);
    }

    #[test]
    fn a_bad_measurement_fades() {
        let overrun = Overrun::default();
        let mut seen = Vec::new();
        for millis in [8, 0, 0, 20, 1] {
            overrun.measure(Duration::from_millis(millis));
            seen.push(overrun.expected().as_micros());
        }
        assert_eq!(seen, [8000, 7000, 6125, 20_000, 17_500]);
    }

    #[test]
    fn a_budget_of_time_comes_before_the_clock() {
        let received = Instant::now();
        let clock = Duration::from_secs(10);
        let deadlines = Deadlines::new(received, clock, Duration::ZERO, Duration::ZERO);
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
