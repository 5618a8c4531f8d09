//! Long calls: they run without the interpreter, and Ctrl-C ends them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often signals are looked for.
const PAUSE: Duration = Duration::from_millis(50);

/// Does some work on another thread while signals are looked for. If one raises an exception (Ctrl-C does), `stop` is set
/// and the exception returned as soon as the work has ended. A panic becomes an exception too.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    stop: &Arc<AtomicBool>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    std::thread::scope(|scope| {
        let (sender, mut receiver) = channel();
        scope.spawn(move || sender.send(guard(work)));
        let mut interrupted = None;
        loop {
            let receiver = &mut receiver;
            match py.detach(move || receiver.recv_timeout(PAUSE)) {
                Ok(done) => {
                    return match interrupted {
                        Some(error) => Err(error),
                        None => done,
                    };
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("the work ended without a result"));
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(error) = py.check_signals() {
                        stop.store(true, Ordering::Relaxed);
                        interrupted.get_or_insert(error);
                    }
                }
            }
        }
    })
}

/// Does some work without the interpreter on this thread; for work that is short. A panic becomes an exception.
pub(crate) fn short<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| guard(work))
}

/// Does some work; a panic becomes an exception.
pub(crate) fn guard<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let words = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        PyRuntimeError::new_err(format!("Agon failed, which is an error of Agon: {words}"))
    })
}
