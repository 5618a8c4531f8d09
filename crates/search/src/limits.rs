//! When to stop thinking: time, playouts, transitions, or somebody who says so.
//!
//! A [`Meter`] counts against [`Limits`]. It is the only thing in this crate that looks at a clock, and it does so only
//! if there is a deadline or somebody asks how long it took.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Bounds on thinking. Whichever is reached first counts; without any, a bot thinks until it has nothing left to do.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// When it must have stopped.
    pub deadline: Option<Instant>,
    /// Most finished random games.
    pub playouts: Option<u64>,
    /// Most states stepped through: a repeatable stand-in for time.
    pub transitions: Option<u64>,
    /// Raised by somebody who cannot wait.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Limits {
    /// This much time from now on, and nothing else.
    #[must_use]
    pub fn time(time: Duration) -> Limits {
        Limits {
            // A time beyond what the clock can tell is no bound.
            deadline: Instant::now().checked_add(time),
            ..Limits::default()
        }
    }

    /// This many playouts, and nothing else.
    #[must_use]
    pub fn playouts(n_playouts: u64) -> Limits {
        Limits {
            playouts: Some(n_playouts),
            ..Limits::default()
        }
    }

    /// This many transitions, and nothing else.
    #[must_use]
    pub fn transitions(n_transitions: u64) -> Limits {
        Limits {
            transitions: Some(n_transitions),
            ..Limits::default()
        }
    }

    /// Whether nothing but a flag stops it: somebody thinks in the time of others.
    #[must_use]
    pub fn is_told_only(&self) -> bool {
        self.stop.is_some() && self.deadline.is_none() && !self.is_counted()
    }

    /// Whether it must end now, whatever the counts are.
    pub(crate) fn is_over(&self) -> bool {
        let is_told = |stop: &Arc<AtomicBool>| stop.load(Ordering::Relaxed);
        self.stop.as_ref().is_some_and(is_told)
            || self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether playouts or transitions are counted: the same search can be had again.
    pub(crate) fn is_counted(&self) -> bool {
        self.playouts.is_some() || self.transitions.is_some()
    }

    /// One of `n` equal parts of these limits, from now on.
    #[must_use]
    pub fn part(&self, n_parts: u32) -> Limits {
        let now = Instant::now();
        let part = |deadline: Instant| now + deadline.saturating_duration_since(now) / n_parts;
        Limits {
            deadline: self.deadline.map(part),
            playouts: self.playouts.map(|n| n / u64::from(n_parts)),
            transitions: self.transitions.map(|n| n / u64::from(n_parts)),
            stop: self.stop.clone(),
        }
    }

    /// What is left of these limits after these playouts and transitions.
    #[must_use]
    pub fn less(&self, playouts: u64, transitions: u64) -> Limits {
        Limits {
            playouts: self.playouts.map(|n| n.saturating_sub(playouts)),
            transitions: self.transitions.map(|n| n.saturating_sub(transitions)),
            ..self.clone()
        }
    }

    /// Whether no playout or no transition is left.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.playouts == Some(0) || self.transitions == Some(0)
    }

    /// Whether all bounds that there are allow so much.
    #[must_use]
    pub fn has_at_least(&self, playouts: u64, transitions: u64, seconds: f64) -> bool {
        let time = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
        self.is_bounded()
            && self.playouts.is_none_or(|n| n >= playouts)
            && self.transitions.is_none_or(|n| n >= transitions)
            && self
                .deadline
                .is_none_or(|deadline| time(deadline).as_secs_f64() >= seconds)
    }

    /// Whether there is any bound at all.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.deadline.is_some()
            || self.playouts.is_some()
            || self.transitions.is_some()
            || self.stop.is_some()
    }
}

/// Why a bot stopped thinking.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StopReason {
    /// The deadline.
    Time,
    /// Enough playouts.
    Playouts,
    /// Enough transitions.
    Transitions,
    /// It was told to.
    Told,
    /// There is only one legal move.
    OnlyMove,
    /// What there is to know is proven.
    Proven,
    /// It had nothing more to think about.
    Done,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StopReason::Time => "time",
            StopReason::Playouts => "playouts",
            StopReason::Transitions => "transitions",
            StopReason::Told => "told",
            StopReason::OnlyMove => "only move",
            StopReason::Proven => "proven",
            StopReason::Done => "done",
        })
    }
}

/// Counts against limits while a bot thinks.
#[derive(Clone, Debug)]
pub struct Meter<'a> {
    limits: &'a Limits,
    started: Instant,
    playouts: u64,
    transitions: u64,
}

impl<'a> Meter<'a> {
    /// Begins now, at zero.
    #[must_use]
    pub fn start(limits: &'a Limits) -> Meter<'a> {
        Meter {
            limits,
            started: Instant::now(),
            playouts: 0,
            transitions: 0,
        }
    }

    /// A random game was finished.
    pub fn count_playout(&mut self) {
        self.playouts += 1;
    }

    /// This number of random games was finished.
    pub(crate) fn count_playouts(&mut self, n: u64) {
        self.playouts += n;
    }

    /// This number of states was stepped through.
    pub(crate) fn count_transitions(&mut self, n: u64) {
        self.transitions += n;
    }

    /// How many playouts are left, if they are counted.
    pub(crate) fn playouts_left(&self) -> Option<u64> {
        let most = self.limits.playouts?;
        Some(most.saturating_sub(self.playouts))
    }

    /// How many playouts of this many steps there are in all, if they are counted.
    pub(crate) fn budget(&self, length: u64) -> Option<u64> {
        let steps = self.limits.transitions.map(|most| most / length.max(1));
        match (self.limits.playouts, steps) {
            (Some(playouts), Some(steps)) => Some(playouts.min(steps)),
            (playouts, steps) => playouts.or(steps),
        }
    }

    /// How many transitions are left, if they are counted.
    pub(crate) fn transitions_left(&self) -> Option<u64> {
        let most = self.limits.transitions?;
        Some(most.saturating_sub(self.transitions))
    }

    /// A state was stepped through.
    pub fn count_transition(&mut self) {
        self.transitions += 1;
    }

    /// Finished random games.
    #[must_use]
    pub fn n_playouts(&self) -> u64 {
        self.playouts
    }

    /// States stepped through.
    #[must_use]
    pub fn n_transitions(&self) -> u64 {
        self.transitions
    }

    /// Time since it began.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Whether a limit other than that of playouts is reached.
    pub(crate) fn is_over(&self) -> bool {
        self.transitions_left() == Some(0) || self.limits.is_over()
    }

    /// Which limit is reached, if one is. Counts come first: where they bound, the clock has no say in which it was.
    #[must_use]
    pub fn stop(&self) -> Option<StopReason> {
        let limits = self.limits;
        if limits.playouts.is_some_and(|most| self.playouts >= most) {
            return Some(StopReason::Playouts);
        }
        if limits
            .transitions
            .is_some_and(|most| self.transitions >= most)
        {
            return Some(StopReason::Transitions);
        }
        let is_told = |stop: &Arc<AtomicBool>| stop.load(Ordering::Relaxed);
        if limits.stop.as_ref().is_some_and(is_told) {
            return Some(StopReason::Told);
        }
        let is_late = |deadline: Instant| Instant::now() >= deadline;
        limits
            .deadline
            .is_some_and(is_late)
            .then_some(StopReason::Time)
    }
}

/// Adds up the time of what happens again and again. No decision depends on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stopwatch {
    since: Option<Instant>,
    total: Duration,
}

impl Stopwatch {
    /// Runs from now on, if this time is taken.
    #[inline]
    pub(crate) fn start(&mut self, is_taken: bool) {
        if is_taken {
            self.since = Some(Instant::now());
        }
    }

    /// Stops, if it runs.
    #[inline]
    pub(crate) fn stop(&mut self) {
        if let Some(since) = self.since.take() {
            self.total += since.elapsed();
        }
    }

    /// The sum of all times taken.
    pub(crate) fn total(&self) -> Duration {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_stop_when_they_are_reached() {
        let limits = Limits {
            playouts: Some(1),
            transitions: Some(2),
            ..Limits::default()
        };
        let mut meter = Meter::start(&limits);
        meter.count_transition();
        assert_eq!(meter.stop(), None);
        meter.count_transition();
        assert_eq!(meter.stop(), Some(StopReason::Transitions));
        meter.count_playout();
        assert_eq!(meter.stop(), Some(StopReason::Playouts));
    }

    #[test]
    fn a_deadline_and_a_flag_stop() {
        let stop = Arc::new(AtomicBool::new(false));
        let mut limits = Limits {
            stop: Some(Arc::clone(&stop)),
            ..Limits::default()
        };
        assert_eq!(Meter::start(&limits).stop(), None);
        limits.deadline = Some(Instant::now());
        assert_eq!(Meter::start(&limits).stop(), Some(StopReason::Time));
        stop.store(true, Ordering::Relaxed);
        assert_eq!(Meter::start(&limits).stop(), Some(StopReason::Told));
        assert!(!limits.is_told_only());
        limits.deadline = None;
        assert!(limits.is_told_only());
    }

    #[test]
    fn time_ends_at_a_deadline() {
        let limits = Limits::time(Duration::ZERO);
        assert_eq!(Meter::start(&limits).stop(), Some(StopReason::Time));
        let limits = Limits::time(Duration::from_secs(3600));
        assert!(limits.is_bounded() && Meter::start(&limits).stop().is_none());
        assert!(!Limits::time(Duration::MAX).is_bounded());
    }

    #[test]
    fn no_limits_are_no_bound() {
        assert!(!Limits::default().is_bounded());
        assert_eq!(Meter::start(&Limits::default()).stop(), None);
        assert!(Limits::playouts(1).is_bounded() && Limits::transitions(1).is_bounded());
    }
}
