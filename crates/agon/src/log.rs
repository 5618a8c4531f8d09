//! A log on standard error that never holds up its writer.
//!
//! Standard error may be a pipe that nobody reads, or a terminal that is paused. Lines are therefore written by a thread of
//! their own. If it cannot keep up, lines are dropped and counted.

use std::io::{Write, stderr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Lines that may wait to be written.
const MOST_WAITING: usize = 1000;
/// How long the end of the program waits for the last lines.
const PATIENCE: Duration = Duration::from_millis(300);

/// A log. Clones share it.
#[derive(Clone)]
pub(crate) struct Log(Arc<Lines>);

struct Lines {
    /// `None` if nothing is logged, or no longer.
    to: Mutex<Option<SyncSender<String>>>,
    n_dropped: AtomicUsize,
    /// Disconnected when the last line is written.
    written: Mutex<Receiver<()>>,
}

impl Log {
    /// A log that writes what it is told.
    pub(crate) fn start() -> Log {
        let (to, lines) = sync_channel::<String>(MOST_WAITING);
        let (token, written) = sync_channel(0);
        let thread = thread::Builder::new().name("log".to_owned());
        let spawned = thread.spawn(move || {
            for line in lines {
                // Nobody may be there to read it.
                let _ = writeln!(stderr(), "{line}");
            }
            drop(token);
        });
        Log::new(spawned.ok().map(|_| to), written)
    }

    /// A log that writes nothing.
    pub(crate) fn quiet() -> Log {
        Log::new(None, sync_channel(0).1)
    }

    fn new(to: Option<SyncSender<String>>, written: Receiver<()>) -> Log {
        Log(Arc::new(Lines {
            to: Mutex::new(to),
            n_dropped: AtomicUsize::new(0),
            written: Mutex::new(written),
        }))
    }

    /// Writes a line, soon.
    pub(crate) fn line(&self, line: String) {
        let Lines { to, n_dropped, .. } = &*self.0;
        let to = to.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(to) = &*to else { return };
        let n_before = n_dropped.swap(0, Ordering::Relaxed);
        let line = match n_before {
            0 => line,
            _ => format!("({n_before} lines were dropped)\n{line}"),
        };
        if to.try_send(line).is_err() {
            n_dropped.fetch_add(n_before + 1, Ordering::Relaxed);
        }
    }

    /// Waits briefly for the last lines. Later ones are not written.
    pub(crate) fn finish(&self) {
        let Lines { to, written, .. } = &*self.0;
        drop(to.lock().unwrap_or_else(PoisonError::into_inner).take());
        let written = written.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = written.recv_timeout(PATIENCE);
    }
}
