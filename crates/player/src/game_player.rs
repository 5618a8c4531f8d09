//! A [`Player`] that chooses its moves with a bot.
//!
//! It plays one match at a time and answers `busy` to requests for another one. The game is compiled on START, within the
//! start clock and beyond it if necessary, unless the player already has it compiled. A panic inside an answer is caught
//! here and nowhere else. The match actor and the bot have their own threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_engine::{Game, RoleId};
use agon_protocol::{Info, MatchId, Player, Reply, Request, Rules, Status, StopFlag, Term};
use agon_search::{Bot, Preset};

use crate::clock::{Budget, Overrun};
use crate::match_actor::MatchSetup;
use crate::match_handle::{MatchHandle, Timing};

/// Makes the bot of a match from its game and a seed.
pub type MakeBot = dyn Fn(&Arc<Game>, u64) -> Box<dyn Bot> + Send + Sync;

/// Settings of a player, apart from its bot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The name it gives in INFO replies.
    pub name: String,
    /// Limits on the work for one move, in addition to the play clock.
    pub budget: Budget,
    /// Seed of the first match. Each further match gets the next number.
    pub seed: u64,
    /// How long before the end of the clock thinking ends; at most an eighth of the clock.
    pub margin: Duration,
    /// Whether the bot also thinks between requests. If so, the same seed does not always give the same match.
    pub ponders: bool,
    /// How much of the start clock is used to think ahead once the game is ready, if the player ponders.
    pub warm_up: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            name: "agon".to_owned(),
            budget: Budget::default(),
            seed: 1,
            margin: Duration::from_millis(200),
            ponders: false,
            warm_up: Duration::ZERO,
        }
    }
}

/// A player that chooses its moves with a bot.
pub struct GamePlayer {
    settings: Settings,
    make_bot: Arc<MakeBot>,
    known: Option<Arc<Game>>,
    overrun: Overrun,
    n_matches: u64,
    handle: Option<MatchHandle>,
}

impl GamePlayer {
    /// A player with the bot of a preset.
    #[must_use]
    pub fn new(preset: Preset, settings: Settings) -> GamePlayer {
        let make = move |game: &Arc<Game>, seed| preset.bot(game, seed);
        GamePlayer::with_bot(Arc::new(make), settings)
    }

    /// A player whose bots are made by `make_bot`.
    #[must_use]
    pub fn with_bot(make_bot: Arc<MakeBot>, settings: Settings) -> GamePlayer {
        GamePlayer {
            settings,
            make_bot,
            known: None,
            overrun: Overrun::default(),
            n_matches: 0,
            handle: None,
        }
    }

    /// The same player with this compiled game. It is used if START brings the same rules value (pointer equality).
    #[must_use]
    pub fn knowing(mut self, game: Arc<Game>) -> GamePlayer {
        self.known = Some(game);
        self
    }

    /// The same player, sharing this measurement with others.
    pub(crate) fn measuring(mut self, overrun: &Overrun) -> GamePlayer {
        self.overrun = overrun.clone();
        self
    }

    /// Answers a request that was received at this time. Once `stop` is raised, the answer is no longer wanted.
    pub fn answer_from(&mut self, request: Request, received: Instant, stop: &StopFlag) -> Reply {
        let reply = catch_unwind(AssertUnwindSafe(|| self.reply(request, received, stop)));
        reply.unwrap_or(Reply::Nil)
    }

    fn reply(&mut self, request: Request, received: Instant, stop: &StopFlag) -> Reply {
        match request {
            Request::Info => Reply::Info(info(&self.settings.name, self.handle.is_some())),
            Request::Preview { .. } | Request::Start { .. } if self.handle.is_some() => Reply::Busy,
            Request::Preview { .. } => Reply::Ready,
            Request::Start {
                id,
                role,
                rules,
                start_clock,
                play_clock,
            } => {
                let Some(role) = find_role(&rules, &role) else {
                    return Reply::Busy;
                };
                let known = self.known.as_ref();
                let known = known.filter(|game| Arc::ptr_eq(game.rules(), &rules));
                let setup = MatchSetup {
                    known: known.cloned(),
                    rules,
                    role,
                    received,
                    start_clock,
                    play_clock,
                    seed: self.settings.seed.wrapping_add(self.n_matches),
                    make_bot: Arc::clone(&self.make_bot),
                    ponders: self.settings.ponders,
                    overrun: self.overrun.clone(),
                };
                self.n_matches += 1;
                self.handle = MatchHandle::start(id, setup, self.timing(), stop);
                match self.handle {
                    Some(_) => Reply::Ready,
                    None => Reply::Busy,
                }
            }
            Request::Play { id, moves, turn } => match self.in_match(&id) {
                Some(handle) => handle.play((moves, turn), received, stop),
                None => Reply::Busy,
            },
            Request::Stop { id, .. } => self.leave(&id, Reply::Done),
            Request::Abort { id } => self.leave(&id, Reply::Aborted),
        }
    }

    fn timing(&self) -> Timing {
        let Settings {
            budget,
            margin,
            ponders,
            warm_up,
            ..
        } = self.settings;
        Timing {
            budget,
            margin,
            warm_up: if ponders { warm_up } else { Duration::ZERO },
            overrun: self.overrun.clone(),
        }
    }

    fn in_match(&mut self, id: &MatchId) -> Option<&mut MatchHandle> {
        self.handle.as_mut().filter(|handle| handle.id() == id)
    }

    fn leave(&mut self, id: &MatchId, reply: Reply) -> Reply {
        if self.in_match(id).is_none() {
            return Reply::Busy;
        }
        self.handle = None;
        reply
    }
}

impl Player for GamePlayer {
    fn answer(&mut self, request: Request, stop: &StopFlag) -> Reply {
        self.answer_from(request, Instant::now(), stop)
    }
}

/// The INFO reply of a player.
pub(crate) fn info(name: &str, is_busy: bool) -> Info {
    Info {
        name: Some(name.to_owned()),
        status: match is_busy {
            true => Status::Busy,
            false => Status::Available,
        },
        species: Some("agon".to_owned()),
    }
}

fn find_role(rules: &Rules, role: &Term) -> Option<RoleId> {
    let names = rules.roles.iter().map(|role| rules.term_text(role));
    role.pick(RoleId::all(rules.roles.len()).zip(names))
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_engine::{JointMove, State};
    use agon_protocol::codec::read_request;
    use agon_search::{Decision, Limits, Report};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::{Receiver, channel};

    const RULES: &str = "((role a) (role b) (init (step 0)) (succ 0 1) (succ 1 2) (legal a x) (legal a y) (legal b z)
        (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y)) (<= terminal (true (step 2))) (goal a 50) (goal b 50))";

    /// A bot whose decisions come from a closure.
    struct FnBot<F>(F);

    impl<F: FnMut(&Limits) -> Decision + Send> Bot for FnBot<F> {
        fn think(
            &mut self,
            _state: &State,
            _role: RoleId,
            limits: &Limits,
            _watch: &mut dyn FnMut(&Report),
        ) -> Decision {
            (self.0)(limits)
        }

        fn played(&mut self, _joint: &JointMove, _next: &State) {}
    }

    fn decision(mv: u32) -> Decision {
        Decision {
            mv: agon_engine::MoveId(mv),
            report: Report {
                playouts: 0,
                transitions: 0,
                time: Duration::ZERO,
                value: None,
                moves: Vec::new(),
                stop: None,
            },
        }
    }

    /// Starts a match as `a`, asks for a move and returns it with the note of its thought.
    fn play(make: Arc<MakeBot>, play_clock: &str) -> (String, String) {
        let mut player = GamePlayer::with_bot(make, Settings::default());
        let start = format!("(start m a {RULES} 10 {play_clock})");
        let requests = [start.as_str(), "(play m nil)"];
        let mut replies = requests.map(|text| {
            let request = read_request(text.as_bytes()).expect("a valid request");
            player.answer(request, &StopFlag::new())
        });
        assert_eq!(replies[0], Reply::Ready);
        match std::mem::replace(&mut replies[1], Reply::Nil) {
            Reply::Move { mv, thought } => {
                let note = thought.and_then(|thought| thought.note);
                (mv.to_string(), note.unwrap_or_default())
            }
            other => panic!("expected a move, got {other:?}"),
        }
    }

    #[test]
    fn a_bot_that_panics_is_replaced_by_a_legal_move() {
        let make = |_: &Arc<Game>, _| -> Box<dyn Bot> {
            Box::new(FnBot(|_: &Limits| -> Decision { panic!("no idea") }))
        };
        let (mv, note) = play(Arc::new(make), "5");
        assert!(mv == "x" || mv == "y");
        assert_eq!(note, "the bot panicked: no idea: a random legal move");
    }

    #[test]
    fn a_bot_that_cannot_be_created_is_replaced_by_a_legal_move() {
        let make = |_: &Arc<Game>, _| -> Box<dyn Bot> { panic!("not today") };
        let (mv, note) = play(Arc::new(make), "5");
        assert!(mv == "x" || mv == "y");
        assert_eq!(note, "the bot panicked: not today: a random legal move");
    }

    #[test]
    fn a_bot_that_hangs_is_not_waited_for() {
        let (release, gate) = channel::<()>();
        let gate: Arc<Mutex<Option<Receiver<()>>>> = Arc::new(Mutex::new(Some(gate)));
        let make = move |_: &Arc<Game>, _| -> Box<dyn Bot> {
            let gate = gate.lock().expect("the lock is not poisoned").take();
            Box::new(FnBot(move |_: &Limits| {
                let _ = gate.as_ref().map(Receiver::recv);
                decision(0)
            }))
        };
        let (mv, note) = play(Arc::new(make), "0.1");
        drop(release);
        assert!(mv == "x" || mv == "y");
        assert_eq!(note, "the bot did not answer in time: a random legal move");
    }

    #[test]
    fn an_illegal_choice_is_replaced_by_a_legal_move() {
        let make =
            |_: &Arc<Game>, _| -> Box<dyn Bot> { Box::new(FnBot(|_: &Limits| decision(99))) };
        let (mv, note) = play(Arc::new(make), "5");
        assert!(mv == "x" || mv == "y");
        assert_eq!(note, "the bot chose an illegal move: a random legal move");
    }

    #[test]
    fn the_bot_receives_a_deadline_and_a_stop_flag() {
        let make = |_: &Arc<Game>, _| -> Box<dyn Bot> {
            Box::new(FnBot(|limits: &Limits| {
                assert!(limits.deadline.is_some() && limits.stop.is_some());
                decision(1)
            }))
        };
        assert_eq!(play(Arc::new(make), "5"), ("y".to_owned(), String::new()));
    }

    #[test]
    fn a_known_game_is_not_compiled_again() {
        let Ok(Request::Start { rules, .. }) =
            read_request(format!("(start m a {RULES} 10 5)").as_bytes())
        else {
            panic!("expected a START")
        };
        let game = Game::compile(rules, &Default::default(), &|| false).expect("the game compiles");
        let game = Arc::new(game);
        let is_known = Arc::new(AtomicBool::new(false));
        let (seen, known) = (Arc::clone(&is_known), Arc::clone(&game));
        let (made, wait) = channel();
        let make = move |game: &Arc<Game>, _| -> Box<dyn Bot> {
            seen.store(Arc::ptr_eq(game, &known), Ordering::Relaxed);
            made.send(()).expect("the test waits for this");
            Box::new(FnBot(|_: &Limits| decision(0)))
        };
        let mut player =
            GamePlayer::with_bot(Arc::new(make), Settings::default()).knowing(Arc::clone(&game));
        let start = Request::Start {
            id: MatchId::new("m").expect("a valid name"),
            role: Term::read("a").expect("a valid name"),
            rules: Arc::clone(game.rules()),
            start_clock: Duration::from_secs(1),
            play_clock: Duration::from_secs(1),
        };
        assert_eq!(player.answer(start, &StopFlag::new()), Reply::Ready);
        wait.recv().expect("the bot is created");
        assert!(is_known.load(Ordering::Relaxed));
    }
}
