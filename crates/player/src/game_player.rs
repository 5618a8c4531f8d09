//! Requests in, replies out: a [`Player`] that thinks with a bot.
//!
//! One match at a time: whoever asks for another one is told `busy`. The game is compiled on START within the start clock,
//! and beyond it if need be, unless it is one that the player knows already. A panic inside an answer is caught here, once;
//! the match and its bot have threads of their own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_engine::{Game, RoleId};
use agon_protocol::{Info, MatchId, Player, Reply, Request, Rules, Status, StopFlag, Term};
use agon_search::{Bot, Preset};

use crate::clock::{Budget, Overrun};
use crate::keeper::Beginning;
use crate::ongoing::{OngoingMatch, Pace};

/// Makes the bot of a match from its game and a seed.
pub type MakeBot = dyn Fn(&Arc<Game>, u64) -> Box<dyn Bot> + Send + Sync;

/// What a player is told besides its bot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Its name.
    pub name: String,
    /// What it may spend on a move besides the play clock.
    pub budget: Budget,
    /// Seed of its first match; the next ones count up.
    pub seed: u64,
    /// How long before the clock runs out its answers are ready; never more than an eighth of the clock.
    pub margin: Duration,
    /// Whether it thinks on while others do. The same seed then no longer gives the same match.
    pub ponders: bool,
    /// How much of the start clock it uses to think ahead once the game is ready, if it ponders.
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

/// A player that thinks with a bot.
pub struct GamePlayer {
    settings: Settings,
    make_bot: Arc<MakeBot>,
    known: Option<Arc<Game>>,
    overrun: Overrun,
    n_matches: u64,
    ongoing: Option<OngoingMatch>,
}

impl GamePlayer {
    /// A player with the bot of a preset.
    #[must_use]
    pub fn new(preset: Preset, settings: Settings) -> GamePlayer {
        let make = move |game: &Arc<Game>, seed| preset.bot(game, seed);
        GamePlayer::with_bot(Arc::new(make), settings)
    }

    /// A player with a bot of one's own.
    #[must_use]
    pub fn with_bot(make_bot: Arc<MakeBot>, settings: Settings) -> GamePlayer {
        GamePlayer {
            settings,
            make_bot,
            known: None,
            overrun: Overrun::default(),
            n_matches: 0,
            ongoing: None,
        }
    }

    /// The same player, who has this game compiled already. It is taken if START brings the very same rules.
    #[must_use]
    pub fn knowing(mut self, game: Arc<Game>) -> GamePlayer {
        self.known = Some(game);
        self
    }

    /// The same player, who shares what was measured with others.
    pub(crate) fn measuring(mut self, overrun: &Overrun) -> GamePlayer {
        self.overrun = overrun.clone();
        self
    }

    /// Answers a request that came at this time. Once `stop` is raised nobody waits for the answer any more.
    pub fn answer_from(&mut self, request: Request, received: Instant, stop: &StopFlag) -> Reply {
        let reply = catch_unwind(AssertUnwindSafe(|| self.reply(request, received, stop)));
        reply.unwrap_or(Reply::Nil)
    }

    fn reply(&mut self, request: Request, received: Instant, stop: &StopFlag) -> Reply {
        match request {
            Request::Info => Reply::Info(info(&self.settings.name, self.ongoing.is_some())),
            Request::Preview { .. } | Request::Start { .. } if self.ongoing.is_some() => {
                Reply::Busy
            }
            Request::Preview { .. } => Reply::Ready,
            Request::Start {
                id,
                role,
                rules,
                start_clock,
                play_clock,
            } => {
                let Some(role) = find_role(&rules, &role).filter(|_| !rules.is_gdl_two) else {
                    return Reply::Busy;
                };
                let known = self.known.as_ref();
                let known = known.filter(|game| Arc::ptr_eq(game.rules(), &rules));
                let begin = Beginning {
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
                self.ongoing = OngoingMatch::start(id, begin, self.pace(), stop);
                match self.ongoing {
                    Some(_) => Reply::Ready,
                    None => Reply::Busy,
                }
            }
            Request::Play { id, moves } => match self.in_match(&id) {
                Some(ongoing) => ongoing.play(moves, received, stop),
                None => Reply::Busy,
            },
            Request::Stop { id, .. } => self.leave(&id, Reply::Done),
            Request::Abort { id } => self.leave(&id, Reply::Aborted),
        }
    }

    fn pace(&self) -> Pace {
        let Settings {
            budget,
            margin,
            ponders,
            warm_up,
            ..
        } = self.settings;
        Pace {
            budget,
            margin,
            warm_up: if ponders { warm_up } else { Duration::ZERO },
            overrun: self.overrun.clone(),
        }
    }

    fn in_match(&mut self, id: &MatchId) -> Option<&mut OngoingMatch> {
        self.ongoing.as_mut().filter(|ongoing| ongoing.id() == id)
    }

    fn leave(&mut self, id: &MatchId, reply: Reply) -> Reply {
        if self.in_match(id).is_none() {
            return Reply::Busy;
        }
        self.ongoing = None;
        reply
    }
}

impl Player for GamePlayer {
    fn answer(&mut self, request: Request, stop: &StopFlag) -> Reply {
        self.answer_from(request, Instant::now(), stop)
    }
}

/// Who a player is, and whether it has time.
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

    /// A bot that does something else than think.
    struct Odd<F>(F);

    impl<F: FnMut(&Limits) -> Decision + Send> Bot for Odd<F> {
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

    fn decision(of: u32) -> Decision {
        Decision {
            of: agon_engine::MoveId(of),
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

    /// Starts a match as `a` with a bot, asks for a move and tells which one it was and what was noted.
    fn play(make: Arc<MakeBot>, play_clock: &str) -> (String, String) {
        let mut player = GamePlayer::with_bot(make, Settings::default());
        let start = format!("(start m a {RULES} 10 {play_clock})");
        let requests = [start.as_str(), "(play m nil)"];
        let mut replies = requests.map(|text| {
            let request = read_request(text.as_bytes()).expect("it is a request");
            player.answer(request, &StopFlag::new())
        });
        assert_eq!(replies[0], Reply::Ready);
        match std::mem::replace(&mut replies[1], Reply::Nil) {
            Reply::Move { of, thought } => {
                let note = thought.and_then(|thought| thought.note);
                (of.to_string(), note.unwrap_or_default())
            }
            other => panic!("a legal move is always in hand, not {other:?}"),
        }
    }

    #[test]
    fn a_bot_that_panics_is_replaced_by_a_legal_move() {
        let make = |_: &Arc<Game>, _| -> Box<dyn Bot> {
            Box::new(Odd(|_: &Limits| -> Decision { panic!("no idea") }))
        };
        let (of, note) = play(Arc::new(make), "5");
        assert!(of == "x" || of == "y");
        assert_eq!(note, "the bot panicked: no idea: any legal move");
    }

    #[test]
    fn a_bot_that_cannot_even_be_made_is_replaced_by_a_legal_move() {
        let make = |_: &Arc<Game>, _| -> Box<dyn Bot> { panic!("not today") };
        let (of, note) = play(Arc::new(make), "5");
        assert!(of == "x" || of == "y");
        assert_eq!(note, "the bot panicked: not today: any legal move");
    }

    #[test]
    fn a_bot_that_hangs_is_not_waited_for() {
        let (keep, gate) = channel::<()>();
        let gate: Arc<Mutex<Option<Receiver<()>>>> = Arc::new(Mutex::new(Some(gate)));
        let make = move |_: &Arc<Game>, _| -> Box<dyn Bot> {
            let gate = gate.lock().expect("nobody panics").take();
            Box::new(Odd(move |_: &Limits| {
                let _ = gate.as_ref().map(Receiver::recv);
                decision(0)
            }))
        };
        let (of, note) = play(Arc::new(make), "0.1");
        drop(keep);
        assert!(of == "x" || of == "y");
        assert_eq!(note, "the bot did not answer in time: any legal move");
    }

    #[test]
    fn a_bot_that_chooses_what_is_not_legal_is_replaced() {
        let make = |_: &Arc<Game>, _| -> Box<dyn Bot> { Box::new(Odd(|_: &Limits| decision(99))) };
        let (of, note) = play(Arc::new(make), "5");
        assert!(of == "x" || of == "y");
        assert_eq!(note, "the bot chose what is not legal: any legal move");
    }

    #[test]
    fn a_bot_learns_the_deadline_and_the_budget() {
        let make = |_: &Arc<Game>, _| -> Box<dyn Bot> {
            Box::new(Odd(|limits: &Limits| {
                assert!(limits.deadline.is_some() && limits.stop.is_some());
                decision(1)
            }))
        };
        assert_eq!(play(Arc::new(make), "5"), ("y".to_owned(), String::new()));
    }

    #[test]
    fn a_game_that_it_knows_is_not_compiled_again() {
        let Ok(Request::Start { rules, .. }) =
            read_request(format!("(start m a {RULES} 10 5)").as_bytes())
        else {
            panic!("it is a START")
        };
        let game = Game::compile(rules, &Default::default(), &|| false).expect("it runs");
        let game = Arc::new(game);
        let is_known = Arc::new(AtomicBool::new(false));
        let (seen, known) = (Arc::clone(&is_known), Arc::clone(&game));
        let (made, wait) = channel();
        let make = move |game: &Arc<Game>, _| -> Box<dyn Bot> {
            seen.store(Arc::ptr_eq(game, &known), Ordering::Relaxed);
            made.send(()).expect("somebody waits");
            Box::new(Odd(|_: &Limits| decision(0)))
        };
        let mut player =
            GamePlayer::with_bot(Arc::new(make), Settings::default()).knowing(Arc::clone(&game));
        let start = Request::Start {
            id: MatchId::new("m").expect("it is one"),
            role: Term::read("a").expect("it is one"),
            rules: Arc::clone(game.rules()),
            start_clock: Duration::from_secs(1),
            play_clock: Duration::from_secs(1),
        };
        assert_eq!(player.answer(start, &StopFlag::new()), Reply::Ready);
        wait.recv().expect("the bot is made");
        assert!(is_known.load(Ordering::Relaxed));
    }
}
