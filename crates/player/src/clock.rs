//! From the clock of a match to the deadlines of one answer.
//!
//! An answer needs time to reach the manager. Thinking therefore ends a margin before the clock runs out. If the bot has not
//! returned after half of the margin, the player answers without it. The margin is at most an eighth of the clock.
//!
//! The overrun of bots is measured as well. Next time, thinking ends earlier by the expected overrun and the answer is given
//! earlier by half of it, because a machine that delays the bot also delays the answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agon_search::Limits;

/// Longer durations are cut to this one, to avoid overflow.
pub(crate) const MAX_DURATION: Duration = Duration::from_secs(365 * 24 * 3600);

/// Limits on the work for one move, in addition to the clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Budget {
    /// Time to think.
    pub time: Option<Duration>,
    /// Number of playouts.
    pub playouts: Option<u64>,
    /// Number of state transitions.
    pub transitions: Option<u64>,
}

/// How much bots overran their deadline recently. Clones share one measurement.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overrun(Arc<AtomicU64>);

impl Overrun {
    /// The expected overrun.
    pub(crate) fn expected(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::Relaxed))
    }

    /// Records one overrun. The worst value is kept and decays by an eighth with each new one.
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
    /// When the answer is given, even if the bot has not decided.
    pub(crate) answer: Instant,
}

impl Deadlines {
    /// The deadlines of a request that was received at this time.
    pub(crate) fn new(
        received: Instant,
        clock: Duration,
        margin: Duration,
        overrun: Duration,
    ) -> Deadlines {
        let clock = clock.min(MAX_DURATION);
        let margin = margin.min(clock / 8);
        let early = margin + overrun.min(clock / 4);
        Deadlines {
            think: received + clock - early,
            answer: received + clock - early / 2,
        }
    }

    /// The limits for the bot.
    pub(crate) fn limits(
        self,
        received: Instant,
        budget: Budget,
        stop: &Arc<AtomicBool>,
    ) -> Limits {
        let own = budget.time.map(|time| received + time.min(MAX_DURATION));
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

    /// Checks when thinking ends and when the answer is given, in milliseconds after the request.
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
    fn the_expected_overrun_is_subtracted() {
        check(Duration::from_secs(1), 30, [845, 922]);
        check(Duration::from_secs(1), 3000, [625, 812]);
    }

    #[test]
    fn a_huge_clock_is_cut() {
        check(Duration::MAX, 0, [31_535_999_800, 31_535_999_900]);
    }

    #[test]
    fn a_large_overrun_decays() {
        let overrun = Overrun::default();
        let mut seen = Vec::new();
        for millis in [8, 0, 0, 20, 1] {
            overrun.measure(Duration::from_millis(millis));
            seen.push(overrun.expected().as_micros());
        }
        assert_eq!(seen, [8000, 7000, 6125, 20_000, 17_500]);
    }

    #[test]
    fn a_time_budget_can_only_shorten_the_clock() {
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
