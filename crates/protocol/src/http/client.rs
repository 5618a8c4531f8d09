//! The manager's side: a player somewhere else, reached by HTTP.
//!
//! One connection per message, headers as the reference manager writes them. The player has until the referee raises the
//! flag; then the connection is dropped and whatever it would still say is lost.

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
    connections: 1,
    patience: Duration::ZERO,
};

/// Why an address is none of a player.
#[derive(Debug, Error)]
pub enum AddressError {
    /// It is not of the form `http://HOST:PORT`.
    #[error("{0}: the address of a player is http://HOST:PORT")]
    Form(String),
    /// Its host is unknown.
    #[error("{address}: {error}")]
    Unknown {
        /// The address.
        address: String,
        /// What the system says.
        error: io::Error,
    },
}

/// A player somewhere else.
pub struct RemotePlayer {
    host: String,
    addresses: Vec<SocketAddr>,
}

impl RemotePlayer {
    /// The player at `http://HOST:PORT`. Its host is looked up, but nobody is asked yet.
    ///
    /// # Errors
    /// If it is no such address, or the host is unknown.
    pub fn new(address: &str) -> Result<RemotePlayer, AddressError> {
        let form = || AddressError::Form(address.to_owned());
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
        let found = (bare, port).to_socket_addrs();
        let found = found.map_err(|error| AddressError::Unknown {
            address: address.to_owned(),
            error,
        })?;
        Ok(RemotePlayer {
            host: format!("{name}:{port}"),
            addresses: found.collect(),
        })
    }

    fn ask(&self, request: &Request, stop: &StopFlag) -> Result<Vec<u8>, ReadError> {
        let mut stream = self.connect()?;
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

    fn connect(&self) -> io::Result<TcpStream> {
        let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for address in &self.addresses {
            match TcpStream::connect_timeout(address, CONNECT) {
                Ok(stream) => return Ok(stream),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    fn post(&self, message: &str) -> String {
        format!(
            "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: {host}\r\nSender: GAMESERVER\r\n\
             Receiver: {host}\r\nContent-Type: text/acl\r\nContent-Length: {}\r\n\r\n{message}",
            message.len(),
            host = self.host
        )
    }
}

impl Player for RemotePlayer {
    fn answer(&mut self, request: Request, stop: &StopFlag) -> Reply {
        if stop.is_raised() {
            return Reply::Failed(Failure::Connection("there was no time to ask".to_owned()));
        }
        match self.ask(&request, stop) {
            Ok(text) => codec::read_reply(&request, &text),
            Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Reply::Failed(Failure::Connection(
                    "connection closed without an answer".to_owned(),
                ))
            }
            Err(ReadError::Io(error)) => Reply::Failed(Failure::Connection(error.to_string())),
            Err(error) => Reply::Failed(Failure::Unreadable(error.to_string())),
        }
    }
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
    fn invalid_addresses_are_errors() {
        for address in [
            "127.0.0.1:9147",
            "https://127.0.0.1",
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
    }
}
