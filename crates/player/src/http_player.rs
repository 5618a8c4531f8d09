//! A bot that plays over HTTP, for any game manager that can reach it.
//!
//! In: an address, settings, and a function that makes bots. Out: a server on a thread of its own, until it is dropped.
//! Not here: messages and connections (`agon_protocol::http`), matches (`lobby`).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use agon_engine::Game;
use agon_protocol::http::{Limits, Server};
use agon_protocol::{Reply, Request, StopFlag};
use agon_search::Bot;

use crate::game_player::Settings;
use crate::lobby::Lobby;

/// How long the connection that ends a server may take.
const WAKE: Duration = Duration::from_secs(1);

/// A player on HTTP. It answers from the moment it is made until it is dropped.
///
/// ```
/// use agon_player::{HttpPlayer, Settings};
/// use agon_protocol::http::RemotePlayer;
/// use agon_protocol::{Player, Reply, Request, StopFlag};
/// use agon_search::Preset;
///
/// let preset = Preset::parse("random")?;
/// let make_bot = move |game: &_, seed| preset.bot(game, seed);
/// let served = HttpPlayer::start("127.0.0.1:0", Settings::default(), 1, make_bot)?;
///
/// let mut player = RemotePlayer::new(&served.url())?;
/// let reply = player.answer(Request::Info, &StopFlag::new());
/// assert!(matches!(reply, Reply::Info(info) if info.name.as_deref() == Some("agon")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct HttpPlayer {
    address: SocketAddr,
    stop: StopFlag,
    thread: Option<JoinHandle<()>>,
}

impl HttpPlayer {
    /// Listens on an address (port 0 is any free one) and plays up to `most_matches` matches at a time. `make_bot` makes
    /// the bot of each match from its game and a seed; managers beyond that number are told `busy`.
    ///
    /// # Errors
    /// If the address is not one of this machine, or taken.
    pub fn start(
        address: impl ToSocketAddrs,
        settings: Settings,
        most_matches: usize,
        make_bot: impl Fn(&Arc<Game>, u64) -> Box<dyn Bot> + Send + Sync + 'static,
    ) -> io::Result<HttpPlayer> {
        let server = Server::bind(address, Limits::default())?;
        let address = server.address()?;
        let lobby = Arc::new(Lobby::new(Arc::new(make_bot), settings, most_matches));
        let full = Arc::clone(&lobby);
        let server = server.busy_while(move || full.is_full());
        let stop = StopFlag::new();
        let is_over = stop.clone();
        let thread = thread::Builder::new().name("http player".to_owned());
        let thread = thread.spawn(move || {
            let answer = move |request, received| lobby.answer(request, received);
            let answer: Arc<dyn Fn(Request, Instant) -> Reply + Send + Sync> = Arc::new(answer);
            server.serve(&answer, &is_over);
        })?;
        Ok(HttpPlayer {
            address,
            stop,
            thread: Some(thread),
        })
    }

    /// Where it listens, with the port that it got.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What `agon match` and tournament files call it: `http://127.0.0.1:9147`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", reachable(self.address))
    }

    /// Answers until the process ends.
    pub fn wait(mut self) {
        if let Some(thread) = self.thread.take() {
            // The server ends only when it is told to, and nobody else can tell it.
            let _ = thread.join();
        }
    }
}

impl Drop for HttpPlayer {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        self.stop.raise();
        // The server looks at the flag when a connection comes; without one it would wait for ever, and so would we.
        if TcpStream::connect_timeout(&reachable(self.address), WAKE).is_ok() {
            let _ = thread.join();
        }
    }
}

/// The address by which this machine reaches a server that listens on all of its addresses.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_protocol::Player;
    use agon_protocol::http::RemotePlayer;
    use agon_search::Preset;

    fn start(address: &str) -> HttpPlayer {
        let preset = Preset::parse("legal").expect("it is a preset");
        let make_bot = move |game: &Arc<Game>, seed| preset.bot(game, seed);
        HttpPlayer::start(address, Settings::default(), 1, make_bot).expect("it listens")
    }

    fn ask(url: &str) -> Reply {
        let mut player = RemotePlayer::new(url).expect("it is an address");
        player.answer(Request::Info, &StopFlag::new())
    }

    #[test]
    fn it_answers_until_it_is_dropped() {
        for address in ["127.0.0.1:0", "0.0.0.0:0"] {
            let served = start(address);
            let url = served.url();
            assert!(url.starts_with("http://127.0.0.1:"), "{url}");
            assert!(matches!(ask(&url), Reply::Info(_)), "{address}");
            drop(served);
            assert!(matches!(ask(&url), Reply::Failed(_)), "{address}");
        }
    }

    #[test]
    fn an_address_is_taken_once() {
        let served = start("127.0.0.1:0");
        let again = HttpPlayer::start(served.address(), Settings::default(), 1, |_, _| {
            unreachable!("it never plays")
        });
        assert!(again.is_err());
    }
}
