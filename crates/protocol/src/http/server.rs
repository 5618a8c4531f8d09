//! The player's side: waits for messages, has them answered, sends the answers.
//!
//! In: an address and somebody who answers requests. Out: answers as the reference player writes them. Connections are
//! answered side by side, so that a manager can ask or abort while a move is being thought about; in which order the
//! requests of one match are dealt with is up to whoever answers.
//!
//! What is no message is answered with status 400 and the reason, what is too long with 413, one connection too many with
//! 503; rules that cannot be played are answered `busy`, as any START that cannot be taken.

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

/// So long a connection stays after its answer, for a peer that is not done sending: closing it at once could destroy
/// the answer on its way.
const LINGER: Duration = Duration::from_millis(500);

/// A socket that waits for managers.
pub struct Server {
    listener: TcpListener,
    limits: Limits,
}

impl Server {
    /// Binds an address. Port 0 is any free one.
    ///
    /// # Errors
    /// If the address is not one of this machine, or taken.
    pub fn bind(address: impl ToSocketAddrs, limits: Limits) -> io::Result<Server> {
        let listener = TcpListener::bind(address)?;
        Ok(Server { listener, limits })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers messages until the flag is raised and one more connection comes. `answer` is told when the message began to
    /// arrive: the manager's clock runs from then.
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
                // No more files, perhaps: some will be closed.
                thread::sleep(Duration::from_millis(20));
                continue;
            };
            let place = Place::take(&n_open);
            if place.number > self.limits.connections {
                refuse(stream);
                continue;
            }
            let (answer, limits) = (Arc::clone(answer), self.limits);
            let received = Instant::now();
            let thread = thread::Builder::new().name("connection".to_owned());
            // Without a thread the connection is closed, and the peer sees that.
            let _ = thread.spawn(move || {
                // A peer that is gone needs no answer.
                let _ = attend(stream, &limits, received, &*answer);
                drop(place);
            });
        }
    }
}

/// A connection that counts.
struct Place {
    n_open: Arc<AtomicUsize>,
    number: usize,
}

impl Place {
    fn take(n_open: &Arc<AtomicUsize>) -> Place {
        Place {
            number: n_open.fetch_add(1, Ordering::Relaxed) + 1,
            n_open: Arc::clone(n_open),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.n_open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Too many connections: says so without reading. The few bytes fit into the socket, so this never waits.
fn refuse(mut stream: TcpStream) {
    let _ = stream.set_nonblocking(true);
    let _ =
        stream.write_all(response("503 Service Unavailable", "too many connections").as_bytes());
    let _ = stream.shutdown(Shutdown::Write);
}

fn attend(
    mut stream: TcpStream,
    limits: &Limits,
    received: Instant,
    answer: &(dyn Fn(Request, Instant) -> Reply + Send + Sync),
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(limits.patience))?;
    let until = received + limits.patience;
    let mut from = BufReader::new(Timed {
        stream: stream.try_clone()?,
        until,
    });
    let mut go_on = || {
        stream
            .try_clone()?
            .write_all(b"HTTP/1.1 100 Continue\r\n\r\n")
    };
    let text = match read_request(&mut from, limits, &mut go_on) {
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

/// An answer as the reference player writes it; its `Allow-Age` is a slip for `Max-Age`, which browsers look at.
fn response(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.0 {status}\r\nContent-type: text/acl\r\nContent-length: {}\r\n\
         Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Methods: POST, GET, OPTIONS\r\n\
         Access-Control-Allow-Headers: Content-Type\r\nAccess-Control-Allow-Age: 86400\r\n\
         Access-Control-Max-Age: 86400\r\n\r\n{body}",
        body.len()
    )
}

/// A stream that is read until a certain time.
struct Timed {
    stream: TcpStream,
    until: Instant,
}

impl Read for Timed {
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
