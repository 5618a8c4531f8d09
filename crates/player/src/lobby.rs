//! Several matches side by side, for a player that many managers can reach at any time.
//!
//! In: requests from any thread. Out: replies. Every match has a [`GamePlayer`] of its own. A request about a match ends
//! whatever is still being answered in it, so that a manager that has given up waiting, or aborts, is not kept waiting.
//! Matches of which nothing was heard long after their clocks ran out are given up.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_protocol::{MatchId, Reply, Request, StopFlag};

use crate::clock::{LONGEST, Overrun};
use crate::game_player::{GamePlayer, MakeBot, Settings, info};

/// Besides two clocks so much time passes before a match is given up.
const SILENCE: Duration = Duration::from_secs(15);
/// Whatever the clocks of a match are, a day of silence is enough.
const LONGEST_SILENCE: Duration = Duration::from_secs(24 * 3600);

/// Several matches side by side.
pub struct Lobby {
    // Constant.
    settings: Settings,
    make_bot: Arc<MakeBot>,
    most_matches: usize,
    // Shared by all requests.
    overrun: Overrun,
    rooms: Mutex<Rooms>,
}

#[derive(Default)]
struct Rooms {
    open: Vec<Room>,
    n_started: u64,
}

/// A match.
struct Room {
    id: MatchId,
    play_clock: Duration,
    player: Arc<Mutex<GamePlayer>>,
    /// Ends the answer that is being thought about.
    current: StopFlag,
    /// When it is given up unless something is heard.
    until: Instant,
}

impl Lobby {
    /// A lobby for so many matches at a time, whose players have such bots. Seeds count up from that of the settings.
    #[must_use]
    pub fn new(make_bot: Arc<MakeBot>, settings: Settings, most_matches: usize) -> Lobby {
        Lobby {
            settings,
            make_bot,
            most_matches,
            overrun: Overrun::default(),
            rooms: Mutex::default(),
        }
    }

    /// Answers a request that came at this time.
    pub fn answer(&self, request: Request, received: Instant) -> Reply {
        self.give_up(received);
        match &request {
            Request::Info => Reply::Info(info(&self.settings.name, self.is_full())),
            Request::Preview { .. } if self.is_full() => Reply::Busy,
            Request::Preview { .. } => Reply::Ready,
            Request::Start { id, .. } => {
                let id = id.clone();
                let Some((player, stop)) = self.open(&request, received) else {
                    return Reply::Busy;
                };
                let reply = lock(&player).answer_from(request, received, &stop);
                if reply != Reply::Ready {
                    self.close(&id);
                }
                reply
            }
            Request::Play { id, .. } => match self.find(id, received) {
                Some((player, stop)) => lock(&player).answer_from(request, received, &stop),
                None => Reply::Busy,
            },
            Request::Stop { id, .. } => self.close(id).map_or(Reply::Busy, |()| Reply::Done),
            Request::Abort { id } => self.close(id).map_or(Reply::Busy, |()| Reply::Aborted),
        }
    }

    /// Gives up matches of which nothing was heard for too long, and tells which.
    pub fn give_up(&self, now: Instant) -> Vec<MatchId> {
        let mut rooms = lock(&self.rooms);
        let all = std::mem::take(&mut rooms.open).into_iter();
        let (open, given_up): (Vec<Room>, Vec<Room>) = all.partition(|room| room.until > now);
        rooms.open = open;
        // Matches take a moment to go, and nobody else waits for that.
        drop(rooms);
        let give_up = |room: Room| {
            room.current.raise();
            room.id
        };
        given_up.into_iter().map(give_up).collect()
    }

    /// Number of matches that it is in.
    #[must_use]
    pub fn n_matches(&self) -> usize {
        lock(&self.rooms).open.len()
    }

    fn is_full(&self) -> bool {
        self.n_matches() >= self.most_matches
    }

    /// Makes room for a match; `None` if there is none, or the match is there already.
    fn open(&self, start: &Request, now: Instant) -> Option<(Arc<Mutex<GamePlayer>>, StopFlag)> {
        let Request::Start {
            id,
            start_clock,
            play_clock,
            ..
        } = start
        else {
            return None;
        };
        let mut rooms = lock(&self.rooms);
        let is_known = rooms.open.iter().any(|room| room.id == *id);
        if is_known || rooms.open.len() >= self.most_matches {
            return None;
        }
        let settings = Settings {
            seed: self.settings.seed.wrapping_add(rooms.n_started),
            ..self.settings.clone()
        };
        rooms.n_started += 1;
        let player = GamePlayer::with_bot(Arc::clone(&self.make_bot), settings);
        let player = Arc::new(Mutex::new(player.measuring(&self.overrun)));
        let current = StopFlag::new();
        rooms.open.push(Room {
            id: id.clone(),
            play_clock: *play_clock,
            player: Arc::clone(&player),
            current: current.clone(),
            until: silence(now, *start_clock),
        });
        Some((player, current))
    }

    /// The player of a match; whatever it is still answering ends.
    fn find(&self, id: &MatchId, now: Instant) -> Option<(Arc<Mutex<GamePlayer>>, StopFlag)> {
        let mut rooms = lock(&self.rooms);
        let room = rooms.open.iter_mut().find(|room| room.id == *id)?;
        room.current.raise();
        room.current = StopFlag::new();
        room.until = silence(now, room.play_clock);
        Some((Arc::clone(&room.player), room.current.clone()))
    }

    /// Closes a match, whatever it is still answering; `None` if there is no such match.
    fn close(&self, id: &MatchId) -> Option<()> {
        let mut rooms = lock(&self.rooms);
        let idx = rooms.open.iter().position(|room| room.id == *id)?;
        let room = rooms.open.swap_remove(idx);
        // A match takes a moment to go, and nobody else waits for that.
        drop(rooms);
        room.current.raise();
        Some(())
    }
}

fn silence(now: Instant, clock: Duration) -> Instant {
    let most = clock.min(LONGEST / 4) * 2 + SILENCE;
    now + most.min(LONGEST_SILENCE)
}

/// A panic in an answer is caught within, so what is locked is never left half done.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_protocol::codec::{read_request, write_reply};
    use agon_search::Preset;

    const RULES: &str = "((role a) (init (step 0)) (succ 0 1) (succ 1 2) (legal a x)
        (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y)) (<= terminal (true (step 2))) (goal a 50))";

    fn lobby(most_matches: usize) -> Lobby {
        let preset = Preset::parse("legal").expect("it is one");
        let make = Arc::new(move |game: &Arc<_>, seed| preset.bot(game, seed));
        Lobby::new(make, Settings::default(), most_matches)
    }

    /// Sends messages at times in seconds.
    fn check(most_matches: usize, dialogue: &[(u64, &str, &str)]) {
        let lobby = lobby(most_matches);
        let begin = Instant::now();
        for (seconds, text, expected) in dialogue {
            let text = text.replace("{rules}", RULES);
            let request = read_request(text.as_bytes()).expect("it is a request");
            let reply = lobby.answer(request, begin + Duration::from_secs(*seconds));
            assert_eq!(write_reply(&reply), *expected, "{text}");
        }
    }

    #[test]
    fn as_many_matches_as_there_is_room_for() {
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
    fn a_match_that_was_left_is_given_up_in_time() {
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
    fn a_start_that_cannot_be_taken_takes_no_room() {
        check(
            1,
            &[
                (0, "(start m1 nobody {rules} 10 5)", "busy"),
                (0, "(start m2 a {rules} 10 5)", "ready"),
            ],
        );
    }

    #[test]
    fn absurd_clocks_are_no_danger() {
        let lobby = lobby(1);
        let start = format!("(start m a {RULES} 10000000000000000000 1000000000000)");
        let request = read_request(start.as_bytes()).expect("it is a request");
        let now = Instant::now();
        assert_eq!(lobby.answer(request, now), Reply::Ready);
        assert!(lobby.give_up(now + Duration::from_secs(3600)).is_empty());
        assert_eq!(lobby.give_up(now + LONGEST_SILENCE).len(), 1);
        assert_eq!(lobby.n_matches(), 0);
    }

    /// A bot that thinks until it is told to stop, and tells when it has begun.
    struct Dreamer(std::sync::mpsc::Sender<()>);

    impl agon_search::Bot for Dreamer {
        fn think(
            &mut self,
            _state: &agon_engine::State,
            _role: agon_engine::RoleId,
            limits: &agon_search::Limits,
            _watch: &mut dyn FnMut(&agon_search::Report),
        ) -> agon_search::Decision {
            let _ = self.0.send(());
            let stop = limits.stop.as_ref().expect("there is a flag");
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                std::thread::yield_now();
            }
            panic!("woken up");
        }

        fn played(&mut self, _joint: &agon_engine::JointMove, _next: &agon_engine::State) {}
    }

    /// Starts a match with an hour for each move and says something while the bot thinks; the replies to both.
    fn while_thinking(text: &str) -> [String; 2] {
        let (begun, wait) = std::sync::mpsc::channel();
        let make =
            move |_: &Arc<_>, _| -> Box<dyn agon_search::Bot> { Box::new(Dreamer(begun.clone())) };
        let lobby = Lobby::new(Arc::new(make), Settings::default(), 1);
        let say = |text: &str| {
            let text = text.replace("{rules}", RULES);
            let request = read_request(text.as_bytes()).expect("it is a request");
            write_reply(&lobby.answer(request, Instant::now()))
        };
        assert_eq!(say("(start m a {rules} 10 3600)"), "ready");
        std::thread::scope(|scope| {
            let play = scope.spawn(|| say("(play m nil)"));
            wait.recv().expect("the bot thinks");
            let reply = say(text);
            say("(abort m)");
            [play.join().expect("it answers"), reply]
        })
    }

    #[test]
    fn a_match_can_be_stopped_and_aborted_while_the_bot_thinks() {
        assert_eq!(while_thinking("(abort m)"), ["x", "aborted"]);
        assert_eq!(while_thinking("(stop m (x))"), ["x", "done"]);
    }

    #[test]
    fn who_asks_while_the_bot_thinks_is_answered() {
        let busy = "( ( name agon ) ( status busy ) ( species agon ) )";
        assert_eq!(while_thinking("(info)"), ["x", busy]);
        assert_eq!(while_thinking("(start n a {rules} 10 10)"), ["x", "busy"]);
        assert_eq!(while_thinking("(play n nil)"), ["x", "busy"]);
    }
}
