//! The open connections of a server, and which of them goes when there are too many.
//!
//! A manager sends its message at once, and then waits. So a connection without a complete message is worth the less the
//! older it is: when a new one comes and there is no room, the oldest of those is closed. Connections that were answered and
//! only wait for the peer to close go first. A connection whose message is being answered is never closed for another one.
//! Addresses that a running match was started from are closed last, and have places of their own if all others are taken.
//!
//! In: accepted streams. Out: a [`Ticket`] for each that may be served.

use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Limits;
use crate::message::{MatchId, Reply, Request};

/// A younger connection is not closed for another one: its message may be on its way.
const YOUNG: Duration = Duration::from_millis(20);
/// How long a new connection waits for room.
const WAIT: Duration = Duration::from_millis(200);
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// Additional places for addresses of running matches.
const RESERVE: usize = 8;
/// No more matches than these have reserved places.
const MOST_MATCHES: usize = 256;

/// What a connection is doing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Stage {
    /// It was answered and waits for its peer to close.
    Closing,
    /// Its message is not complete.
    Reading,
    /// Its message is being answered.
    Answering,
}

/// All open connections. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Connections(Arc<Mutex<Open>>);

#[derive(Default)]
struct Open {
    entries: Vec<Entry>,
    n_accepted: u64,
    /// The running matches, and where they were started from.
    matches: Vec<(MatchId, IpAddr)>,
}

struct Entry {
    number: u64,
    ip: IpAddr,
    accepted: Instant,
    stage: Stage,
    /// To close it.
    stream: TcpStream,
}

/// An open connection. It is forgotten when this is dropped.
pub(super) struct Ticket {
    connections: Connections,
    number: u64,
}

impl Connections {
    /// Makes room for a connection. Returns `None` if all others are being answered.
    pub(super) fn admit(&self, stream: &TcpStream, ip: IpAddr, limits: &Limits) -> Option<Ticket> {
        let begin = Instant::now();
        loop {
            let mut open = self.lock();
            if open.make_room(ip, limits, Instant::now()) {
                return self.enter(&mut open, stream, ip);
            }
            drop(open);
            if begin.elapsed() > WAIT {
                return None;
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    fn enter(&self, open: &mut Open, stream: &TcpStream, ip: IpAddr) -> Option<Ticket> {
        let number = open.n_accepted;
        open.n_accepted += 1;
        open.entries.push(Entry {
            number,
            ip,
            accepted: Instant::now(),
            stage: Stage::Reading,
            stream: stream.try_clone().ok()?,
        });
        let connections = self.clone();
        Some(Ticket {
            connections,
            number,
        })
    }

    /// Takes note of an answer: a match has started or ended.
    pub(super) fn answered(&self, request: &Request, reply: &Reply, ip: IpAddr) {
        let matches = &mut self.lock().matches;
        match (request, reply) {
            (Request::Start { id, .. }, Reply::Ready) => {
                if matches.len() == MOST_MATCHES {
                    matches.remove(0);
                }
                matches.push((id.clone(), ip));
            }
            (Request::Stop { id, .. } | Request::Abort { id }, Reply::Done | Reply::Aborted) => {
                matches.retain(|(other, _)| other != id);
            }
            _ => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Whether there is room for a connection from an address, perhaps after closing another one.
    fn make_room(&mut self, ip: IpAddr, limits: &Limits, now: Instant) -> bool {
        let n_here = self.entries.iter().filter(|entry| entry.ip == ip).count();
        let is_full = self.entries.len() >= limits.connections;
        let is_full_here = n_here >= limits.connections_per_address;
        if !is_full && !is_full_here {
            return true;
        }
        let among = is_full_here.then_some(ip);
        if let Some(idx) = self.least_wanted(among, now) {
            let entry = self.entries.swap_remove(idx);
            // Its thread notices that the connection is closed, and ends.
            let _ = entry.stream.shutdown(Shutdown::Both);
            return true;
        }
        let is_known = self.has_match(ip);
        is_known && self.entries.len() < limits.connections + RESERVE
    }

    /// The connection that is closed first, of one address or of all.
    fn least_wanted(&self, among: Option<IpAddr>, now: Instant) -> Option<usize> {
        let is_old = |entry: &Entry| now.saturating_duration_since(entry.accepted) >= YOUNG;
        let fits = |entry: &Entry| match entry.stage {
            Stage::Closing => true,
            Stage::Reading => is_old(entry),
            Stage::Answering => false,
        };
        let entries = self.entries.iter().enumerate();
        let fitting =
            entries.filter(|(_, entry)| among.is_none_or(|ip| entry.ip == ip) && fits(entry));
        let order = |entry: &Entry| {
            let is_known = self.has_match(entry.ip);
            (entry.stage, is_known, entry.accepted)
        };
        let first = fitting.min_by_key(|(_, entry)| order(entry));
        first.map(|(idx, _)| idx)
    }

    fn has_match(&self, ip: IpAddr) -> bool {
        self.matches.iter().any(|(_, other)| *other == ip)
    }
}

impl Ticket {
    /// The connection goes on to another stage. Returns false if it was closed meanwhile.
    pub(super) fn go_on(&self, stage: Stage) -> bool {
        let mut open = self.connections.lock();
        let mut entries = open.entries.iter_mut();
        let entry = entries.find(|entry| entry.number == self.number);
        entry.map(|entry| entry.stage = stage).is_some()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut open = self.connections.lock();
        open.entries.retain(|entry| entry.number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    const LIMITS: Limits = Limits {
        connections: 4,
        connections_per_address: 3,
        ..Limits::DEFAULT
    };

    fn stream(listener: &TcpListener) -> TcpStream {
        let address = listener.local_addr().expect("it has an address");
        TcpStream::connect(address).expect("it listens")
    }

    /// Connections from addresses that end with these numbers, with their stages; returns those that are left after
    /// another one from the last address, and whether it was admitted.
    fn check(open: &[(u8, Stage)], newcomer: u8, known: &[u8]) -> (Vec<u64>, bool) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let connections = Connections::default();
        let ip = |last| IpAddr::from([10, 0, 0, last]);
        let mut tickets = Vec::new();
        for &(last, stage) in open {
            let ticket = connections.admit(&stream(&listener), ip(last), &LIMITS);
            let ticket = ticket.expect("there is room");
            ticket.go_on(stage);
            tickets.push(ticket);
        }
        let mut inside = connections.lock();
        for (idx, &last) in known.iter().enumerate() {
            let id = MatchId::new(&format!("m{idx}")).expect("a valid name");
            inside.matches.push((id, ip(last)));
        }
        let later = Instant::now() + YOUNG;
        let is_admitted = inside.make_room(ip(newcomer), &LIMITS, later);
        let mut left: Vec<u64> = inside.entries.iter().map(|entry| entry.number).collect();
        left.sort_unstable();
        drop(inside);
        (left, is_admitted)
    }

    #[test]
    fn the_oldest_without_a_message_goes_first() {
        use Stage::{Answering, Closing, Reading};
        let open = [(1, Answering), (1, Reading), (2, Reading), (2, Reading)];
        assert_eq!(check(&open[..3], 3, &[]), (vec![0, 1, 2], true));
        assert_eq!(check(&open, 3, &[]), (vec![0, 2, 3], true));
        // Those that were answered go before that, those of running matches after it.
        let open = [(1, Reading), (1, Reading), (2, Closing), (2, Reading)];
        assert_eq!(check(&open, 3, &[]), (vec![0, 1, 3], true));
        let open = [(1, Reading), (1, Reading), (2, Reading), (2, Reading)];
        assert_eq!(check(&open, 3, &[1]), (vec![0, 1, 3], true));
    }

    #[test]
    fn an_address_cannot_take_the_places_of_others() {
        use Stage::{Answering, Reading};
        let open = [(1, Reading), (2, Reading), (2, Reading), (2, Reading)];
        assert_eq!(check(&open, 2, &[]), (vec![0, 2, 3], true));
        let open = [(1, Reading), (2, Answering), (2, Answering), (2, Answering)];
        assert_eq!(check(&open, 2, &[]), (vec![0, 1, 2, 3], false));
    }

    #[test]
    fn answers_are_never_cut_off_and_matches_have_a_reserve() {
        use Stage::Answering;
        let open = [
            (1, Answering),
            (1, Answering),
            (2, Answering),
            (2, Answering),
        ];
        assert_eq!(check(&open, 3, &[]), (vec![0, 1, 2, 3], false));
        assert_eq!(check(&open, 3, &[3]), (vec![0, 1, 2, 3], true));
    }
}
