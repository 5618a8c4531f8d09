//! The HTTP server of a player: receives messages and sends the answers.
//!
//! In: an address and a function that answers requests. Out: answers in the format of the reference player. Connections are
//! served in parallel, so that a manager can send INFO or ABORT while the player is thinking. The answering function decides
//! in which order the requests of one match are handled.
//!
//! An invalid message gets status 400 with the reason, a message that is too long 413, and a connection above the limit 503.
//! A START with rules that cannot be played gets the reply `busy`.

use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::Limits;
use super::read::{Incoming, ReadError, read_request};
use crate::codec::{self, CodecError};
use crate::message::{Reply, Request};
use crate::player::StopFlag;

/// How long a connection stays open after the answer, for a peer that is still sending. Closing it at once could destroy
/// the answer in transit.
const LINGER: Duration = Duration::from_millis(500);

/// A listening socket for managers.
pub struct Server {
    listener: TcpListener,
    limits: Limits,
}

impl Server {
    /// Binds an address. Port 0 selects a free port.
    ///
    /// # Errors
    /// If the address does not belong to this machine, or is in use.
    pub fn bind(address: impl ToSocketAddrs, limits: Limits) -> io::Result<Server> {
        let listener = TcpListener::bind(address)?;
        Ok(Server { listener, limits })
    }

    /// The address that the server listens on.
    ///
    /// # Errors
    /// If the operating system reports an error.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers messages. Ends at the first connection after the stop flag was raised. `answer` is also given the time at
    /// which the connection was accepted, because the manager's clock starts then.
    pub fn serve(
        &self,
        answer: &Arc<dyn Fn(Request, Instant) -> Reply + Send + Sync>,
        stop: &StopFlag,
    ) {
        let n_open = Arc::new(AtomicUsize::new(0));
        loop {
            let accepted = self.listener.accept();
            if stop.is_raised() {
                return;
            }
            let Ok((stream, _)) = accepted else {
                // Perhaps the process has too many open files. Try again after some were closed.
                thread::sleep(Duration::from_millis(20));
                continue;
            };
            let slot = Slot::take(&n_open);
            if slot.number > self.limits.connections {
                refuse(stream);
                continue;
            }
            let (answer, limits) = (Arc::clone(answer), self.limits);
            let received = Instant::now();
            let thread = thread::Builder::new().name("connection".to_owned());
            // If no thread can be started, the connection is closed.
            let _ = thread.spawn(move || {
                // An error means that the peer is gone and needs no answer.
                let _ = serve_connection(stream, &limits, received, &*answer);
                drop(slot);
            });
        }
    }
}

/// Counts an open connection until it is dropped.
struct Slot {
    n_open: Arc<AtomicUsize>,
    number: usize,
}

impl Slot {
    fn take(n_open: &Arc<AtomicUsize>) -> Slot {
        Slot {
            number: n_open.fetch_add(1, Ordering::Relaxed) + 1,
            n_open: Arc::clone(n_open),
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.n_open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Answers that there are too many connections, without reading the message. The few bytes fit into the socket buffer, so
/// this never blocks.
fn refuse(mut stream: TcpStream) {
    let _ = stream.set_nonblocking(true);
    let _ =
        stream.write_all(response("503 Service Unavailable", "too many connections").as_bytes());
    let _ = stream.shutdown(Shutdown::Write);
}

fn serve_connection(
    mut stream: TcpStream,
    limits: &Limits,
    received: Instant,
    answer: &(dyn Fn(Request, Instant) -> Reply + Send + Sync),
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(limits.patience))?;
    let until = received + limits.patience;
    let mut from = BufReader::new(TimedStream {
        stream: stream.try_clone()?,
        until,
    });
    let mut send_continue = || {
        stream
            .try_clone()?
            .write_all(b"HTTP/1.1 100 Continue\r\n\r\n")
    };
    let text = match read_request(&mut from, limits, &mut send_continue) {
        Ok(Incoming::Nothing) => response("200 OK", ""),
        Ok(Incoming::Message(message)) => respond(&message, received, answer),
        Err(error @ ReadError::TooLarge { .. }) => {
            response("413 Content Too Large", &error.to_string())
        }
        Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::TimedOut => {
            response("408 Request Timeout", "the message did not come in time")
        }
        Err(ReadError::Io(error)) => return Err(error),
        Err(error) => response("400 Bad Request", &error.to_string()),
    };
    stream.write_all(text.as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    let end = Instant::now() + LINGER;
    from.get_mut().until = end;
    let mut rest = [0; 4096];
    while matches!(from.read(&mut rest), Ok(1..)) {}
    Ok(())
}

fn respond(
    message: &[u8],
    received: Instant,
    answer: &(dyn Fn(Request, Instant) -> Reply + Send + Sync),
) -> String {
    match codec::read_request(message) {
        Ok(request) => response("200 OK", &codec::write_reply(&answer(request, received))),
        Err(CodecError::Rules { .. }) => response("200 OK", &codec::write_reply(&Reply::Busy)),
        Err(error) => response("400 Bad Request", &error.to_string()),
    }
}

/// An answer with the headers of the reference player. `Allow-Age` is its misspelling of `Max-Age`, which browsers read; both
/// are sent.
fn response(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.0 {status}\r\nContent-type: text/acl\r\nContent-length: {}\r\n\
         Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Methods: POST, GET, OPTIONS\r\n\
         Access-Control-Allow-Headers: Content-Type\r\nAccess-Control-Allow-Age: 86400\r\n\
         Access-Control-Max-Age: 86400\r\n\r\n{body}",
        body.len()
    )
}

/// A stream that can be read until a deadline.
struct TimedStream {
    stream: TcpStream,
    until: Instant,
}

impl Read for TimedStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream
            .read(buffer)
            .map_err(|error| match error.kind() {
                io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
                _ => error,
            })
    }
}
