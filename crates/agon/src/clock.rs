//! The running clock of a match on a terminal: a line that is drawn anew until everybody has moved.
//!
//! It is drawn on standard error, and only if that is a terminal: whatever goes to a file or another program has no clock.

use std::io::{IsTerminal, Write, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// So often it is drawn.
const TICK: Duration = Duration::from_millis(100);
/// Back to the beginning of the line, which is then empty.
const WIPE: &str = "\r\x1b[K";

/// A clock that runs until it is dropped.
pub(crate) struct Clock {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Clock {
    /// Starts the clock of a step, if somebody can see it.
    pub(crate) fn start(step: usize, play_clock: Option<Duration>) -> Option<Clock> {
        if !stderr().is_terminal() {
            return None;
        }
        let (stop, stopped) = channel();
        let began = Instant::now();
        let draw = move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(TICK) {
                let line = line(step, began.elapsed(), play_clock);
                let _ = write!(stderr(), "{WIPE}{line}");
                let _ = stderr().flush();
            }
            let _ = write!(stderr(), "{WIPE}");
            let _ = stderr().flush();
        };
        // Without a thread there is no clock to be seen, and no harm is done.
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
        // It wipes its line before anything else is written.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn line(step: usize, passed: Duration, play_clock: Option<Duration>) -> String {
    let passed = passed.as_secs_f64();
    match play_clock {
        Some(clock) => format!("{step:>3}  {passed:.1} of {} s", clock.as_secs_f64()),
        None => format!("{step:>3}  {passed:.1} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_tells_what_has_passed_of_what_there_is() {
        let passed = Duration::from_millis(730);
        let clock = Some(Duration::from_secs(15));
        assert_eq!(line(7, passed, clock), "  7  0.7 of 15 s");
        assert_eq!(line(12, passed, None), " 12  0.7 s");
    }
}
