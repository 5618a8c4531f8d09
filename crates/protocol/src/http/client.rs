//! The manager's side: a remote player, reached over HTTP.
//!
//! One connection per message, with the headers that the reference manager writes. The player has until the referee raises
//! the flag. Then the connection is dropped, and a later answer is lost.

use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use thiserror::Error;

use super::Limits;
use super::read::{ReadError, read_response};
use crate::codec;
use crate::message::{Failure, Reply, Request};
use crate::player::{Player, StopFlag};

/// The default port of players.
pub const DEFAULT_PORT: u16 = 9147;

/// How long it may take to reach a player.
const CONNECT: Duration = Duration::from_secs(5);
/// How often the stop flag is polled while waiting for a reply.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Limits for replies, which are a move and perhaps an explanation.
const REPLY_LIMITS: Limits = Limits {
    head: 64 << 10,
    body: 1 << 20,
    ..Limits::DEFAULT
};

/// Why a text is not the address of a player.
#[derive(Debug, Error)]
pub enum AddressError {
    /// It is not of the form `http://HOST:PORT`.
    #[error("{0}: the address of a player is http://HOST:PORT")]
    Form(String),
    /// It asks for an encrypted connection.
    #[error("{0}: GGP players use plain HTTP; the address of a player is http://HOST:PORT")]
    Encrypted(String),
}

/// A remote player.
pub struct RemotePlayer {
    /// With its port, as the `Host` header has it.
    host: String,
    name: String,
    port: u16,
    /// What the player wants to be told with every message.
    secret: Option<String>,
    /// What the name of the host stands for; empty until it is looked up.
    addresses: Vec<SocketAddr>,
}

impl RemotePlayer {
    /// The player at `http://HOST:PORT`. The host is looked up when the first message is sent.
    ///
    /// # Errors
    /// If the text is not such an address.
    pub fn new(address: &str) -> Result<RemotePlayer, AddressError> {
        let form = || AddressError::Form(address.to_owned());
        if address.starts_with("https://") {
            return Err(AddressError::Encrypted(address.to_owned()));
        }
        let rest = address.strip_prefix("http://").ok_or_else(form)?;
        let host = rest.trim_end_matches('/');
        let (name, port) = match host.rsplit_once(':') {
            // The colons inside square brackets belong to an IPv6 address.
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().map_err(|_| form())?),
            _ => (host, DEFAULT_PORT),
        };
        if name.is_empty() || name.contains(['/', '?', '#', '@', ' ']) {
            return Err(form());
        }
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        Ok(RemotePlayer {
            host: format!("{name}:{port}"),
            name: bare.to_owned(),
            port,
            secret: None,
            addresses: Vec::new(),
        })
    }

    /// The same player, which is told this secret with every message: `Authorization: Bearer SECRET`. The secret is one line
    /// without control characters; anything else in it is left out.
    #[must_use]
    pub fn with_secret(mut self, secret: &str) -> RemotePlayer {
        self.secret = Some(secret.chars().filter(|c| !c.is_control()).collect());
        self
    }

    fn ask(&mut self, request: &Request, stop: &StopFlag) -> Result<Vec<u8>, Failure> {
        self.look_up()?;
        let stream = self.connect()?;
        let read = self.exchange(stream, request, stop);
        read.map_err(|error| match error {
            ReadError::Io(error) => connection_failure(&error),
            ReadError::Status(status) if status.starts_with("401") => {
                Failure::Connection(self.secret_words().to_owned())
            }
            // A web server that knows nothing of the protocol, or no web server at all.
            ReadError::Status(_) | ReadError::Malformed(_) => {
                Failure::Connection(error.to_string())
            }
            ReadError::TooLarge { .. } => Failure::Unreadable(error.to_string()),
        })
    }

    fn exchange(
        &self,
        mut stream: TcpStream,
        request: &Request,
        stop: &StopFlag,
    ) -> Result<Vec<u8>, ReadError> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(POLL_INTERVAL))?;
        stream.set_write_timeout(Some(CONNECT))?;
        let message = codec::write_request(request);
        stream.write_all(self.post(&message).as_bytes())?;
        if !message.is_ascii() {
            // A player that takes the length as a number of characters would wait for more bytes.
            stream.shutdown(Shutdown::Write)?;
        }
        read_response(
            &mut BufReader::new(StoppableStream { stream, stop }),
            &REPLY_LIMITS,
        )
    }

    /// Why a player refuses our messages.
    fn secret_words(&self) -> &'static str {
        match self.secret {
            Some(_) => "the player has another secret than the one it was told",
            None => "the player wants a secret (see --secret-file)",
        }
    }

    fn look_up(&mut self) -> Result<(), Failure> {
        if self.addresses.is_empty() {
            let found = (self.name.as_str(), self.port).to_socket_addrs();
            self.addresses.extend(found.into_iter().flatten());
        }
        match self.addresses.is_empty() {
            true => Err(Failure::Connection(format!("unknown host {}", self.name))),
            false => Ok(()),
        }
    }

    fn connect(&self) -> Result<TcpStream, Failure> {
        let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for address in &self.addresses {
            match TcpStream::connect_timeout(address, CONNECT) {
                Ok(stream) => return Ok(stream),
                Err(error) => failed = error,
            }
        }
        Err(match failed.kind() {
            io::ErrorKind::ConnectionRefused => Failure::Refused,
            io::ErrorKind::TimedOut => {
                let seconds = CONNECT.as_secs();
                Failure::Connection(format!("no connection within {seconds} s"))
            }
            _ => connection_failure(&failed),
        })
    }

    fn post(&self, message: &str) -> String {
        let secret = self.secret.as_ref();
        let secret = secret.map(|secret| format!("Authorization: Bearer {secret}\r\n"));
        format!(
            "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: {host}\r\nSender: GAMESERVER\r\n\
             Receiver: {host}\r\nContent-Type: text/acl\r\nContent-Length: {}\r\n{}\r\n{message}",
            message.len(),
            secret.unwrap_or_default(),
            host = self.host
        )
    }
}

impl Player for RemotePlayer {
    fn answer(&mut self, request: Request, stop: &StopFlag) -> Reply {
        if stop.is_raised() {
            return Reply::Failed(Failure::Connection("no time left to ask".to_owned()));
        }
        match self.ask(&request, stop) {
            Ok(text) => codec::read_reply(&request, &text),
            Err(failure) => Reply::Failed(failure),
        }
    }
}

/// What went wrong with a connection, without the error numbers of the system.
fn connection_failure(error: &io::Error) -> Failure {
    let words = match error.kind() {
        io::ErrorKind::UnexpectedEof => "connection closed without an answer",
        io::ErrorKind::ConnectionReset => "connection reset",
        io::ErrorKind::ConnectionAborted => "connection aborted",
        io::ErrorKind::BrokenPipe => "connection closed",
        io::ErrorKind::HostUnreachable => "host unreachable",
        io::ErrorKind::NetworkUnreachable => "network unreachable",
        io::ErrorKind::TimedOut => "no answer in time",
        _ => return Failure::Connection(error.to_string()),
    };
    Failure::Connection(words.to_owned())
}

/// A stream that can be read until the stop flag is raised.
struct StoppableStream<'a> {
    stream: TcpStream,
    stop: &'a StopFlag,
}

impl Read for StoppableStream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.stop.is_raised() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match self.stream.read(buffer) {
                Err(error) if is_temporary(&error) => {}
                other => return other,
            }
        }
    }
}

fn is_temporary(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(address: &str, expected: &str) {
        let shown = match RemotePlayer::new(address) {
            Ok(player) => player.host,
            Err(error) => error.to_string(),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn an_address_has_a_host_and_an_optional_port() {
        check("http://127.0.0.1:4001", "127.0.0.1:4001");
        check("http://127.0.0.1", "127.0.0.1:9147");
        check("http://127.0.0.1:80/", "127.0.0.1:80");
        check("http://[::1]:9148", "[::1]:9148");
        check("http://[::1]", "[::1]:9147");
    }

    #[test]
    fn a_secret_is_one_header() {
        let player = RemotePlayer::new("http://127.0.0.1").expect("an address");
        assert!(!player.post("(INFO)").contains("Authorization"));
        let post = player.with_secret("open\r\nHost: evil").post("(INFO)");
        let line = "\r\nAuthorization: Bearer openHost: evil\r\n\r\n(INFO)";
        assert!(post.ends_with(line), "{post}");
    }

    #[test]
    fn invalid_addresses_are_errors() {
        for address in [
            "127.0.0.1:9147",
            "http://",
            "http://:9147",
            "http://127.0.0.1:port",
            "http://127.0.0.1/path",
        ] {
            check(
                address,
                &format!("{address}: the address of a player is http://HOST:PORT"),
            );
        }
        check(
            "https://127.0.0.1",
            "https://127.0.0.1: GGP players use plain HTTP; the address of a player is http://HOST:PORT",
        );
    }
}
