//! A running clock on a terminal: a line that is drawn again and again until somebody has moved.
//!
//! It is drawn on standard error, and only if that is a terminal: files and other programs see no clock.

use std::io::{IsTerminal, Write, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Time between two drawings.
const TICK: Duration = Duration::from_millis(100);
/// Goes back to the beginning of the line and clears it.
const WIPE: &str = "\r\x1b[K";

/// A clock that runs until it is dropped.
pub(crate) struct Clock {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Clock {
    /// Starts a clock behind a label, if somebody can see it. With a play clock it also shows how much time there is.
    pub(crate) fn start(label: String, play_clock: Option<Duration>) -> Option<Clock> {
        if !stderr().is_terminal() {
            return None;
        }
        let (stop, stopped) = channel();
        let began = Instant::now();
        let draw = move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(TICK) {
                let line = line(&label, began.elapsed(), play_clock);
                let _ = write!(stderr(), "{WIPE}{line}");
                let _ = stderr().flush();
            }
            let _ = write!(stderr(), "{WIPE}");
            let _ = stderr().flush();
        };
        // Without a thread there is no clock, which does no harm.
        let thread = thread::Builder::new().spawn(draw).ok();
        Some(Clock {
            stop: Some(stop),
            thread,
        })
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        drop(self.stop.take());
        // It clears its line before anything else is written.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn line(label: &str, passed: Duration, play_clock: Option<Duration>) -> String {
    let passed = passed.as_secs_f64();
    match play_clock {
        Some(clock) => format!("{label}  {passed:.1} of {} s", clock.as_secs_f64()),
        None => format!("{label}  {passed:.1} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_shows_the_time_that_has_passed() {
        let passed = Duration::from_millis(730);
        let clock = Some(Duration::from_secs(15));
        assert_eq!(line("  7", passed, clock), "  7  0.7 of 15 s");
        assert_eq!(
            line("Red is thinking…", passed, None),
            "Red is thinking…  0.7 s"
        );
    }
}
