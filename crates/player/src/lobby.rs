//! Several matches at a time, for a player that serves many managers.
//!
//! In: requests from any thread. Out: replies. Every match has its own [`GamePlayer`]. A new request about a match ends
//! the answer that is still in progress, so that a manager that timed out or aborts does not have to wait. Requests about one
//! match are handled in the order in which they arrive, so that its moves are played in that order. A match is dropped if no
//! request arrives long after its clock ran out.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_protocol::{MatchId, Reply, Request, StopFlag};

use crate::clock::{MAX_DURATION, Overrun};
use crate::game_player::{GamePlayer, MakeBot, Settings, info};

/// A match is dropped after two clocks and this time without a request.
const IDLE_GRACE: Duration = Duration::from_secs(15);
/// Upper bound on the time without a request, whatever the clocks are.
const MAX_IDLE: Duration = Duration::from_secs(24 * 3600);

/// Several matches at a time.
pub struct Lobby {
    // Constant.
    settings: Settings,
    make_bot: Arc<MakeBot>,
    max_matches: usize,
    // Shared by all requests.
    overrun: Overrun,
    matches: Mutex<Matches>,
}

#[derive(Default)]
struct Matches {
    open: Vec<OpenMatch>,
    n_started: u64,
}

/// A match in progress.
struct OpenMatch {
    id: MatchId,
    play_clock: Duration,
    player: Arc<InTurn>,
    /// The number of requests so far.
    n_requests: u64,
    /// Ends the answer that is in progress.
    current: StopFlag,
    /// When the match is dropped, unless a request arrives.
    until: Instant,
}

/// A player that handles one request after the other, in order. (A mutex alone does not keep the order of those who wait.)
struct InTurn {
    player: Mutex<GamePlayer>,
    /// The number of requests that were answered.
    n_answered: Mutex<u64>,
    next: Condvar,
}

/// The place of a request in the order of the requests about a match.
struct Turn {
    player: Arc<InTurn>,
    number: u64,
    stop: StopFlag,
}

impl Turn {
    /// Waits for the requests before this one and answers it.
    fn answer(self, request: Request, received: Instant) -> Reply {
        let InTurn {
            player,
            n_answered,
            next,
        } = &*self.player;
        let waiting = next.wait_while(lock(n_answered), |n_answered| *n_answered < self.number);
        drop(waiting.unwrap_or_else(PoisonError::into_inner));
        let reply = lock(player).answer_from(request, received, &self.stop);
        *lock(n_answered) += 1;
        next.notify_all();
        reply
    }
}

impl Lobby {
    /// A lobby for up to `max_matches` matches at a time, whose bots are made by `make_bot`. Each match gets the next seed,
    /// starting with that of the settings.
    #[must_use]
    pub fn new(make_bot: Arc<MakeBot>, settings: Settings, max_matches: usize) -> Lobby {
        Lobby {
            settings,
            make_bot,
            max_matches,
            overrun: Overrun::default(),
            matches: Mutex::default(),
        }
    }

    /// Answers a request that was received at this time.
    pub fn answer(&self, request: Request, received: Instant) -> Reply {
        self.give_up(received);
        match &request {
            Request::Info => Reply::Info(info(&self.settings.name, self.is_full())),
            Request::Preview { .. } if self.is_full() => Reply::Busy,
            Request::Preview { .. } => Reply::Ready,
            Request::Start { id, .. } => {
                let id = id.clone();
                let Some(turn) = self.open(&request, received) else {
                    return Reply::Busy;
                };
                let reply = turn.answer(request, received);
                if reply != Reply::Ready {
                    self.close(&id);
                }
                // A match that was aborted meanwhile is not ready.
                match reply {
                    Reply::Ready if !self.has(&id) => Reply::Busy,
                    reply => reply,
                }
            }
            Request::Play { id, .. } => match self.find(id, received) {
                Some(turn) => turn.answer(request, received),
                None => Reply::Busy,
            },
            Request::Stop { id, .. } => self.close(id).map_or(Reply::Busy, |()| Reply::Done),
            Request::Abort { id } => self.close(id).map_or(Reply::Busy, |()| Reply::Aborted),
        }
    }

    /// Drops the matches that have been idle for too long and returns their names.
    pub fn give_up(&self, now: Instant) -> Vec<MatchId> {
        let mut matches = lock(&self.matches);
        let all = std::mem::take(&mut matches.open).into_iter();
        let (open, given_up): (Vec<OpenMatch>, Vec<OpenMatch>) =
            all.partition(|entry| entry.until > now);
        matches.open = open;
        // Ending a match takes a moment; the lock is not held for that.
        drop(matches);
        let give_up = |entry: OpenMatch| {
            entry.current.raise();
            entry.id
        };
        given_up.into_iter().map(give_up).collect()
    }

    /// Number of matches in progress.
    #[must_use]
    pub fn n_matches(&self) -> usize {
        lock(&self.matches).open.len()
    }

    /// Whether a further match would be refused.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.n_matches() >= self.max_matches
    }

    fn has(&self, id: &MatchId) -> bool {
        let matches = lock(&self.matches);
        matches.open.iter().any(|entry| entry.id == *id)
    }

    /// Adds a match. Returns `None` if the lobby is full or the match is known already.
    fn open(&self, start: &Request, now: Instant) -> Option<Turn> {
        let Request::Start {
            id,
            start_clock,
            play_clock,
            ..
        } = start
        else {
            return None;
        };
        let mut matches = lock(&self.matches);
        let is_known = matches.open.iter().any(|entry| entry.id == *id);
        if is_known || matches.open.len() >= self.max_matches {
            return None;
        }
        let settings = Settings {
            seed: self.settings.seed.wrapping_add(matches.n_started),
            ..self.settings.clone()
        };
        matches.n_started += 1;
        let player = GamePlayer::with_bot(Arc::clone(&self.make_bot), settings);
        let player = Arc::new(InTurn {
            player: Mutex::new(player.measuring(&self.overrun)),
            n_answered: Mutex::new(0),
            next: Condvar::new(),
        });
        let stop = StopFlag::new();
        matches.open.push(OpenMatch {
            id: id.clone(),
            play_clock: *play_clock,
            player: Arc::clone(&player),
            n_requests: 1,
            current: stop.clone(),
            until: idle_deadline(now, *start_clock),
        });
        let number = 0;
        Some(Turn {
            player,
            number,
            stop,
        })
    }

    /// The next turn of a match. Ends the answer that is still in progress.
    fn find(&self, id: &MatchId, now: Instant) -> Option<Turn> {
        let mut matches = lock(&self.matches);
        let entry = matches.open.iter_mut().find(|entry| entry.id == *id)?;
        entry.current.raise();
        entry.current = StopFlag::new();
        entry.until = idle_deadline(now, entry.play_clock);
        entry.n_requests += 1;
        Some(Turn {
            player: Arc::clone(&entry.player),
            number: entry.n_requests - 1,
            stop: entry.current.clone(),
        })
    }

    /// Closes a match and ends the answer that is still in progress. Returns `None` if there is no such match.
    fn close(&self, id: &MatchId) -> Option<()> {
        let mut matches = lock(&self.matches);
        let idx = matches.open.iter().position(|entry| entry.id == *id)?;
        let entry = matches.open.swap_remove(idx);
        // Ending a match takes a moment; the lock is not held for that.
        drop(matches);
        entry.current.raise();
        Some(())
    }
}

fn idle_deadline(now: Instant, clock: Duration) -> Instant {
    let most = clock.min(MAX_DURATION / 4) * 2 + IDLE_GRACE;
    now + most.min(MAX_IDLE)
}

/// Locks a mutex. Panics in an answer are caught inside, so a poisoned value is still consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_protocol::codec::{read_request, write_reply};
    use agon_search::Preset;

    const RULES: &str = "((role a) (init (step 0)) (succ 0 1) (succ 1 2) (legal a x)
        (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y)) (<= terminal (true (step 2))) (goal a 50))";

    fn lobby(max_matches: usize) -> Lobby {
        let preset = Preset::parse("legal").expect("a valid preset");
        let make = Arc::new(move |game: &Arc<_>, seed| preset.bot(game, seed));
        Lobby::new(make, Settings::default(), max_matches)
    }

    /// Sends messages at the given times, in seconds, and checks the replies.
    fn check(max_matches: usize, dialogue: &[(u64, &str, &str)]) {
        let lobby = lobby(max_matches);
        let setup = Instant::now();
        for (seconds, text, expected) in dialogue {
            let text = text.replace("{rules}", RULES);
            let request = read_request(text.as_bytes()).expect("a valid request");
            let reply = lobby.answer(request, setup + Duration::from_secs(*seconds));
            assert_eq!(write_reply(&reply), *expected, "{text}");
        }
    }

    #[test]
    fn accepts_matches_up_to_the_limit() {
        check(
            2,
            &[
                (0, "(start m1 a {rules} 10 5)", "ready"),
                (
                    0,
                    "(info)",
                    "( ( name agon ) ( status available ) ( species agon ) )",
                ),
                (0, "(start m1 a {rules} 10 5)", "busy"),
                (0, "(start m2 a {rules} 10 5)", "ready"),
                (
                    0,
                    "(info)",
                    "( ( name agon ) ( status busy ) ( species agon ) )",
                ),
                (0, "(start m3 a {rules} 10 5)", "busy"),
                (0, "(preview {rules} 5)", "busy"),
                (0, "(play m2 nil)", "x"),
                (0, "(play m1 nil)", "x"),
                (0, "(abort m1)", "aborted"),
                (0, "(abort m1)", "busy"),
                (0, "(play m1 nil)", "busy"),
                (0, "(play m2 (x))", "x"),
                (0, "(stop m2 (x))", "done"),
                (0, "(stop m2 (x))", "busy"),
                (0, "(preview {rules} 5)", "ready"),
            ],
        );
    }

    #[test]
    fn the_moves_of_a_match_are_played_in_the_order_of_their_arrival() {
        let rules = "((role a) (init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3) (<= (legal a (go ?x)) (true (step ?x)))
            (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y)) (<= terminal (true (step 3))) (goal a 50))";
        let lobby = lobby(1);
        let read = |text: &str| read_request(text.as_bytes()).expect("a valid request");
        let start = read(&format!("(start m a {rules} 10 10)"));
        assert_eq!(lobby.answer(start, Instant::now()), Reply::Ready);
        let plays = ["(play m nil)", "(play m (go 0))", "(play m (go 1))"].map(read);
        let turns = plays.map(|play| {
            let turn = lobby.find(play.id().expect("it has one"), Instant::now());
            (turn.expect("the match is open"), play)
        });
        // Threads may wake up in any order; here the last one is first.
        let replies = std::thread::scope(|scope| {
            let answers = turns.into_iter().rev().map(|(turn, play)| {
                scope.spawn(move || write_reply(&turn.answer(play, Instant::now())))
            });
            let answers: Vec<_> = answers.collect();
            let replies = answers.into_iter().map(std::thread::ScopedJoinHandle::join);
            replies.collect::<Result<Vec<String>, _>>()
        });
        assert_eq!(replies.expect("no panic")[0], "( go 2 )");
    }

    #[test]
    fn a_match_that_is_aborted_before_it_is_ready_is_not_ready() {
        let (started, wait) = std::sync::mpsc::channel();
        let (go_on, gate) = std::sync::mpsc::channel::<()>();
        let gate = Mutex::new(gate);
        let preset = Preset::parse("legal").expect("a valid preset");
        let make = move |game: &Arc<_>, seed| {
            let _ = started.send(());
            let _ = lock(&gate).recv();
            preset.bot(game, seed)
        };
        let settings = Settings {
            ponders: true,
            warm_up: Duration::from_secs(60),
            ..Settings::default()
        };
        let lobby = Lobby::new(Arc::new(make), settings, 1);
        let send = |text: &str| {
            let text = text.replace("{rules}", RULES);
            let request = read_request(text.as_bytes()).expect("a valid request");
            write_reply(&lobby.answer(request, Instant::now()))
        };
        std::thread::scope(|scope| {
            let start = scope.spawn(|| send("(start m a {rules} 60 60)"));
            wait.recv().expect("the bot is made");
            assert_eq!(send("(abort m)"), "aborted");
            drop(go_on);
            assert_eq!(start.join().expect("no panic"), "busy");
        });
        assert_eq!(lobby.n_matches(), 0);
    }

    #[test]
    fn a_clock_of_nothing_still_gives_a_move() {
        let lobby = lobby(1);
        let send = |text: &str| {
            let text = text.replace("{rules}", RULES);
            let request = read_request(text.as_bytes()).expect("a valid request");
            write_reply(&lobby.answer(request, Instant::now()))
        };
        assert_eq!(send("(start m a {rules} 10 0)"), "ready");
        // A busy machine may be late now and then.
        assert!((0..20).any(|_| send("(play m nil)") == "x"));
    }

    #[test]
    fn an_idle_match_is_dropped() {
        check(
            1,
            &[
                (0, "(start m1 a {rules} 10 5)", "ready"),
                (30, "(start m2 a {rules} 10 5)", "busy"),
                (30, "(play m1 nil)", "x"),
                (54, "(start m2 a {rules} 10 5)", "busy"),
                (56, "(play m1 (x))", "busy"),
                (56, "(start m2 a {rules} 10 5)", "ready"),
            ],
        );
    }

    #[test]
    fn a_refused_start_does_not_count() {
        check(
            1,
            &[
                (0, "(start m1 nobody {rules} 10 5)", "busy"),
                (0, "(start m2 a {rules} 10 5)", "ready"),
            ],
        );
    }

    #[test]
    fn huge_clocks_do_not_overflow() {
        let lobby = lobby(1);
        let start = format!("(start m a {RULES} 10000000000000000000 1000000000000)");
        let request = read_request(start.as_bytes()).expect("a valid request");
        let now = Instant::now();
        assert_eq!(lobby.answer(request, now), Reply::Ready);
        assert!(lobby.give_up(now + Duration::from_secs(3600)).is_empty());
        assert_eq!(lobby.give_up(now + MAX_IDLE).len(), 1);
        assert_eq!(lobby.n_matches(), 0);
    }

    /// A bot that signals when it starts to think, and thinks until it is told to stop.
    struct EndlessBot(std::sync::mpsc::Sender<()>);

    impl agon_search::Bot for EndlessBot {
        fn think(
            &mut self,
            _state: &agon_engine::State,
            _role: agon_engine::RoleId,
            limits: &agon_search::Limits,
            _watch: &mut dyn FnMut(&agon_search::Report),
        ) -> agon_search::Decision {
            let _ = self.0.send(());
            let stop = limits.stop.as_ref().expect("a stop flag");
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                std::thread::yield_now();
            }
            panic!("stopped");
        }

        fn played(&mut self, _joint: &agon_engine::JointMove, _next: &agon_engine::State) {}
    }

    /// Starts a match with an hour for each move and sends a message while the bot thinks. Returns the replies to the PLAY
    /// and to the message.
    fn while_thinking(text: &str) -> [String; 2] {
        let (started, wait) = std::sync::mpsc::channel();
        let make = move |_: &Arc<_>, _| -> Box<dyn agon_search::Bot> {
            Box::new(EndlessBot(started.clone()))
        };
        let lobby = Lobby::new(Arc::new(make), Settings::default(), 1);
        let send = |text: &str| {
            let text = text.replace("{rules}", RULES);
            let request = read_request(text.as_bytes()).expect("a valid request");
            write_reply(&lobby.answer(request, Instant::now()))
        };
        assert_eq!(send("(start m a {rules} 10 3600)"), "ready");
        std::thread::scope(|scope| {
            let play = scope.spawn(|| send("(play m nil)"));
            wait.recv().expect("the bot starts to think");
            let reply = send(text);
            send("(abort m)");
            [play.join().expect("PLAY is answered"), reply]
        })
    }

    #[test]
    fn a_match_can_be_stopped_and_aborted_while_the_bot_thinks() {
        assert_eq!(while_thinking("(abort m)"), ["x", "aborted"]);
        assert_eq!(while_thinking("(stop m (x))"), ["x", "done"]);
    }

    #[test]
    fn other_requests_are_answered_while_the_bot_thinks() {
        let busy = "( ( name agon ) ( status busy ) ( species agon ) )";
        assert_eq!(while_thinking("(info)"), ["x", busy]);
        assert_eq!(while_thinking("(start n a {rules} 10 10)"), ["x", "busy"]);
        assert_eq!(while_thinking("(play n nil)"), ["x", "busy"]);
    }
}
