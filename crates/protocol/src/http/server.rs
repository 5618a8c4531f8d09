//! The HTTP server of a player: receives messages and sends the answers.
//!
//! In: an address and a function that answers requests. Out: answers in the format of the reference player. Connections are
//! served in parallel, so that a manager can send INFO or ABORT while the player is thinking. The answering function decides
//! in which order the requests of one match are handled. One connection carries one message: every answer says
//! `Connection: close`, and what a peer sends after its message is not read as another one.
//!
//! An invalid message gets status 400 with the reason, a message that is too long 413, and a connection above the limit 503.
//! Requests that [`Access`] does not allow get 401, 403 or 405. A START with rules that cannot be played, or cannot be
//! checked in time, gets the reply `busy`.

use std::io::{self, BufReader, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Limits;
use super::access::Access;
use super::connections::{Connections, Stage, Ticket};
use super::read::{Incoming, Method, ReadError, RequestHead, read_head};
use crate::codec::{self, CodecError};
use crate::message::{Reply, Request};
use crate::player::StopFlag;

/// How long a connection stays open after the answer, for a peer that is still sending. Closing it at once could destroy
/// the answer in transit.
const LINGER: Duration = Duration::from_millis(500);
/// Longer messages contain rules, and are read a few at a time: their text, tree and rules take a hundred times as much
/// memory as the message.
const LARGE_MESSAGE: usize = 1 << 20;
const MOST_LARGE_MESSAGES: usize = 2;
/// How often a waiting request checks whether its peer is still there.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// A GET asks for INFO, which is a short word.
const MOST_IN_PATH: usize = 200;

/// Answers a request that was received at this time.
type Answer = dyn Fn(Request, Instant) -> Reply + Send + Sync;

/// Whether a further match would be refused.
type IsFull = dyn Fn() -> bool + Send + Sync;

/// A listening socket for managers.
pub struct Server {
    listener: TcpListener,
    limits: Limits,
    access: Access,
    is_full: Arc<IsFull>,
}

impl Server {
    /// Binds an address. Port 0 selects a free port.
    ///
    /// # Errors
    /// If the address does not belong to this machine, or is in use.
    pub fn bind(address: impl ToSocketAddrs, limits: Limits) -> io::Result<Server> {
        let listener = TcpListener::bind(address)?;
        let access = Access::default();
        Ok(Server {
            listener,
            limits,
            access,
            is_full: Arc::new(|| false),
        })
    }

    /// The same server, which answers `busy` to START and PREVIEW while `is_full` returns true. It does not read their rules
    /// then, so that strangers cannot take the CPU time of a running match with long rules.
    #[must_use]
    pub fn busy_while(mut self, is_full: impl Fn() -> bool + Send + Sync + 'static) -> Server {
        self.is_full = Arc::new(is_full);
        self
    }

    /// The same server, with other rules about who may speak.
    #[must_use]
    pub fn with_access(mut self, access: Access) -> Server {
        self.access = access;
        self
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
    pub fn serve(&self, answer: &Arc<Answer>, stop: &StopFlag) {
        let connections = Connections::default();
        let service = Arc::new(Service {
            limits: self.limits,
            access: self.access.clone(),
            connections: connections.clone(),
            large: Gate::default(),
            is_full: Arc::clone(&self.is_full),
            answer: Arc::clone(answer),
        });
        loop {
            let accepted = self.listener.accept();
            if stop.is_raised() {
                return;
            }
            let Ok((stream, peer)) = accepted else {
                // Perhaps the process has too many open files. Try again after some were closed.
                thread::sleep(Duration::from_millis(20));
                continue;
            };
            let received = Instant::now();
            let Some(ticket) = connections.admit(&stream, peer.ip(), &self.limits) else {
                refuse(stream);
                continue;
            };
            let service = Arc::clone(&service);
            let thread = thread::Builder::new().name("connection".to_owned());
            // If no thread can be started, the connection is closed.
            let _ = thread.spawn(move || {
                // An error means that the peer is gone and needs no answer.
                let _ = service.serve(stream, peer.ip(), received, &ticket);
                drop(ticket);
            });
        }
    }
}

/// Answers that there are too many connections, without reading the message. The few bytes fit into the socket buffer, so
/// this never blocks.
fn refuse(mut stream: TcpStream) {
    let _ = stream.set_nonblocking(true);
    let answer = Response::new("503 Service Unavailable", "too many connections");
    let _ = stream.write_all(answer.to_text().as_bytes());
    let _ = stream.shutdown(Shutdown::Write);
}

/// What all connections share.
struct Service {
    limits: Limits,
    access: Access,
    connections: Connections,
    large: Gate,
    is_full: Arc<IsFull>,
    answer: Arc<Answer>,
}

impl Service {
    fn serve(
        &self,
        mut stream: TcpStream,
        ip: IpAddr,
        received: Instant,
        ticket: &Ticket,
    ) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(self.limits.patience))?;
        let mut from = BufReader::new(TimedStream {
            stream: stream.try_clone()?,
            until: received + self.limits.head_patience,
        });
        let response = match self.respond(&mut from, ip, received, ticket) {
            Ok(response) => response,
            Err(error @ ReadError::TooLarge { .. }) => {
                Response::new("413 Content Too Large", &error.to_string())
            }
            Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::TimedOut => {
                Response::new("408 Request Timeout", "the message did not come in time")
            }
            Err(ReadError::Io(error)) => return Err(error),
            Err(error) => Response::new("400 Bad Request", &error.to_string()),
        };
        ticket.go_on(Stage::Closing);
        stream.write_all(response.to_text().as_bytes())?;
        stream.shutdown(Shutdown::Write)?;
        from.get_mut().until = Instant::now() + LINGER;
        let mut rest = [0; 4096];
        while matches!(from.read(&mut rest), Ok(1..)) {}
        Ok(())
    }

    /// Reads a request and answers it.
    fn respond(
        &self,
        from: &mut BufReader<TimedStream>,
        ip: IpAddr,
        received: Instant,
        ticket: &Ticket,
    ) -> Result<Response, ReadError> {
        let head = read_head(from, &self.limits)?;
        let is_loopback = from.get_ref().stream.local_addr()?.ip().is_loopback();
        if let Err(refusal) = self.access.check(&head, is_loopback) {
            return Ok(Response::new(refusal.status(), refusal.reason()));
        }
        from.get_mut().until = received + self.limits.patience;
        let mut interim = from.get_ref().stream.try_clone()?;
        let mut send_continue = || interim.write_all(b"HTTP/1.1 100 Continue\r\n\r\n");
        let message = head.read_message(from, &self.limits, &mut send_continue)?;
        if !ticket.go_on(Stage::Answering) {
            return Err(io::Error::from(io::ErrorKind::ConnectionAborted).into());
        }
        let mut response = match message {
            Incoming::Nothing => Response::new("200 OK", ""),
            Incoming::Message(message) => {
                self.answer(&message, &head, ip, received, &from.get_ref().stream)?
            }
        };
        if let Some(origin) = self.access.allowed(&head) {
            response.readers = Readers::Origin(origin.to_owned());
        }
        Ok(response)
    }

    fn answer(
        &self,
        message: &[u8],
        head: &RequestHead,
        ip: IpAddr,
        received: Instant,
        stream: &TcpStream,
    ) -> Result<Response, ReadError> {
        let is_get = head.method == Method::Get;
        if is_get && message.len() > MOST_IN_PATH {
            return Ok(only_info());
        }
        if !is_get && codec::brings_rules(message) && (self.is_full)() {
            return Ok(Response::new("200 OK", &codec::write_reply(&Reply::Busy)));
        }
        let until = received + self.limits.patience;
        let place = match message.len() > LARGE_MESSAGE {
            true => Some(self.large.enter(stream, until)?),
            false => None,
        };
        let request = codec::read_request_from(message, received);
        drop(place);
        match request {
            Ok(Request::Info) => {
                let reply = (self.answer)(Request::Info, received);
                let mut response = Response::new("200 OK", &codec::write_reply(&reply));
                response.readers = Readers::All;
                Ok(response)
            }
            _ if is_get => Ok(only_info()),
            Ok(request) => {
                let noted = request.clone();
                let reply = (self.answer)(request, received);
                self.connections.answered(&noted, &reply, ip);
                Ok(Response::new("200 OK", &codec::write_reply(&reply)))
            }
            Err(CodecError::Rules { .. } | CodecError::TooLate) => {
                Ok(Response::new("200 OK", &codec::write_reply(&Reply::Busy)))
            }
            Err(error) => Ok(Response::new("400 Bad Request", &error.to_string())),
        }
    }
}

fn only_info() -> Response {
    Response::new(
        "405 Method Not Allowed",
        "a GET can only ask for INFO: send other messages as a POST",
    )
}

/// A few places for large messages.
#[derive(Default)]
struct Gate {
    n_inside: Mutex<usize>,
    left: Condvar,
}

/// A place, until it is dropped.
struct Place<'a>(&'a Gate);

impl Gate {
    /// Waits for a place. A request whose peer hangs up meanwhile, or that waits too long, is dropped. (A peer that has only
    /// closed its sending side looks the same; that is rare, and so is waiting.)
    fn enter(&self, stream: &TcpStream, until: Instant) -> Result<Place<'_>, ReadError> {
        let mut n_inside = self.n_inside.lock().unwrap_or_else(PoisonError::into_inner);
        while *n_inside >= MOST_LARGE_MESSAGES {
            if Instant::now() > until {
                return Err(io::Error::from(io::ErrorKind::TimedOut).into());
            }
            let waited = self.left.wait_timeout(n_inside, POLL_INTERVAL);
            n_inside = waited.unwrap_or_else(PoisonError::into_inner).0;
            if *n_inside >= MOST_LARGE_MESSAGES && has_hung_up(stream) {
                return Err(io::Error::from(io::ErrorKind::ConnectionAborted).into());
            }
        }
        *n_inside += 1;
        Ok(Place(self))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let gate = self.0;
        *gate.n_inside.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        gate.left.notify_one();
    }
}

/// Whether the peer has closed its connection.
fn has_hung_up(stream: &TcpStream) -> bool {
    let _ = stream.set_read_timeout(Some(Duration::from_millis(1)));
    match stream.peek(&mut [0]) {
        Ok(n_bytes) => n_bytes == 0,
        Err(error) => !matches!(
            error.kind(),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
        ),
    }
}

/// Who may read an answer in a browser.
enum Readers {
    Nobody,
    All,
    Origin(String),
}

/// An answer.
struct Response {
    status: String,
    body: String,
    readers: Readers,
}

impl Response {
    fn new(status: &str, body: &str) -> Response {
        Response {
            status: status.to_owned(),
            body: body.to_owned(),
            readers: Readers::Nobody,
        }
    }

    /// The answer with the headers of the reference player. `Allow-Age` is its misspelling of `Max-Age`, which browsers
    /// read; both are sent.
    fn to_text(&self) -> String {
        let Response {
            status,
            body,
            readers,
        } = self;
        let origin = match readers {
            Readers::Nobody => None,
            Readers::All => Some(("*", "Content-Type", "")),
            Readers::Origin(origin) => Some((
                origin.as_str(),
                "Content-Type, Authorization",
                "Vary: Origin\r\n",
            )),
        };
        let readers = origin.map(|(origin, headers, vary)| {
            format!(
                "Access-Control-Allow-Origin: {origin}\r\nAccess-Control-Allow-Methods: POST, GET, OPTIONS\r\n\
                 Access-Control-Allow-Headers: {headers}\r\nAccess-Control-Allow-Age: 86400\r\n\
                 Access-Control-Max-Age: 86400\r\n{vary}"
            )
        });
        let readers = readers.unwrap_or_default();
        format!(
            "HTTP/1.0 {status}\r\nContent-type: text/acl\r\nContent-length: {}\r\nConnection: close\r\n{readers}\r\n{body}",
            body.len()
        )
    }
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
