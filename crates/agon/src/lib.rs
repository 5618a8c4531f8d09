//! Agon reads the rules of any game in the Game Description Language (GDL), compiles them, and plays.
//!
//! This page shows how to use it from another program: load a game, step through it, search for a move, and serve a bot of
//! your own to game managers. The command `agon` does all of this too; `agon --help` lists what it can do.
//!
//! ```toml
//! [dependencies]
//! agon = { version = "0.1", default-features = false }
//! ```
//!
//! Without default features the library has none of the dependencies of the command line, and no C code to build.
//!
//! | feature | adds | default |
//! |---|---|---|
//! | `tournament` | the module `tournament`: many matches, a store in SQLite, statistics, plots | yes |
//! | `cli` | the command `agon` | yes |
//!
//! # Loading a game
//!
//! [`games::load`] compiles a built-in game. [`Game::from_text`](engine::Game::from_text) compiles rules of your own, and
//! its error shows what is wrong with them and where.
//!
//! ```
//! use agon::engine::Game;
//!
//! let game = agon::games::load("connect_four")?;
//! assert_eq!(game.n_roles(), 2);
//!
//! let lamp = "(role robot) (init (lamp off))
//!     (legal robot push) (legal robot wait)
//!     (<= (next (lamp on)) (does robot push))
//!     (<= (next (lamp ?s)) (true (lamp ?s)) (does robot wait))
//!     (<= terminal (true (lamp on)))
//!     (<= (goal robot 100) (true (lamp on)))
//!     (<= (goal robot 0) (true (lamp off)))";
//! let game = Game::from_text(lamp)?;
//! assert_eq!(game.fluents(game.initial_state()), ["(lamp off)"]);
//!
//! let error = Game::from_text("(role robot)\n(legal robot ?what)").unwrap_err();
//! assert!(error.to_string().contains("rules:2:14"), "{error}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Stepping through it
//!
//! A [`Game`](engine::Game) never changes and is shared by all threads. A [`Machine`](engine::Machine) is one thread's
//! memory for one state: it tells the legal moves and the goals, and advances. In every step each role makes a move; the
//! moves of all roles together are a [`JointMove`](engine::JointMove).
//!
//! ```
//! use agon::engine::JointMove;
//! use agon::search::Random;
//!
//! let game = agon::games::load("tic_tac_toe")?;
//! let mut machine = game.machine();
//! let x = game.find_role("x").unwrap();
//! let moves = machine.legal_moves(x).iter();
//! let texts: Vec<String> = moves.map(|&mv| game.move_text(x, mv)).collect();
//! assert!(texts.contains(&"(mark 2 2)".to_owned()));
//!
//! // By text ...
//! machine.advance(&game.joint_move(&["(mark 2 2)", "wait"])?);
//!
//! // ... and by id: random moves to the end.
//! let mut random = Random::new(1);
//! while !machine.is_terminal() {
//!     let moves = game.roles().map(|role| random.pick(machine.legal_moves(role)).unwrap());
//!     let joint = JointMove::new(moves.collect::<Vec<_>>());
//!     machine.advance(&joint);
//! }
//! for role in game.roles() {
//!     println!("{}: {:?}", game.role_name(role), machine.goal(role));
//! }
//! # assert!(game.roles().all(|role| machine.goal(role).is_some()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Searching
//!
//! A [`Preset`](search::Preset) names a search algorithm with its parameters, for example `agon`, `mc` or
//! `cadia-2012:exploration=50`; [`PRESETS`](search::PRESETS) lists them. A bot thinks within [`Limits`](search::Limits) of
//! time, playouts or transitions. With a limit in playouts, one seed always gives the same decision.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//! use agon::search::{Limits, Preset};
//!
//! let game = Arc::new(agon::games::load("tic_tac_toe")?);
//! let mut machine = game.machine();
//! for texts in [["(mark 1 1)", "wait"], ["wait", "(mark 3 3)"], ["(mark 2 1)", "wait"], ["wait", "(mark 2 2)"]] {
//!     machine.advance(&game.joint_move(&texts)?);
//! }
//! let x = game.find_role("x").unwrap();
//! let mut bot = Preset::parse("agon")?.bot(&game, 1);
//! let decision = bot.think(&machine.state(), x, &Limits::playouts(1000), &mut |_| {});
//! assert_eq!(game.move_text(x, decision.mv), "(mark 3 1)");
//!
//! // With a clock, and with reports on the way.
//! let limits = Limits::time(Duration::from_millis(100));
//! let mut watch = |report: &agon::search::Report| println!("{} playouts", report.playouts);
//! let decision = bot.think(game.initial_state(), x, &limits, &mut watch);
//! println!("{} expects {:?}", game.move_text(x, decision.mv), decision.report.value);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Serving a bot of your own over HTTP
//!
//! Implement [`Bot`](search::Bot) and start an [`HttpPlayer`](player::HttpPlayer). It speaks the General Game Playing
//! protocol, so any game manager can ask it to play: `agon match tic_tac_toe http://127.0.0.1:9147 agon`, a tournament
//! file, or the [`Referee`](arena::Referee) in this example. Should the bot panic, think for too long or choose an illegal
//! move, the player answers with a legal move.
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//! use agon::arena::{About, Referee, Seat, Settings};
//! use agon::engine::{Game, JointMove, RoleId, State};
//! use agon::player::{GamePlayer, HttpPlayer};
//! use agon::protocol::http::RemotePlayer;
//! use agon::search::{Bot, Decision, Limits, Preset, Report};
//!
//! struct LastMove(Arc<Game>);
//! impl Bot for LastMove {
//!     fn think(&mut self, state: &State, role: RoleId, _: &Limits, _: &mut dyn FnMut(&Report)) -> Decision {
//!         let mut machine = self.0.machine();
//!         machine.load(state);
//!         let mv = *machine.legal_moves(role).last().unwrap();
//!         let report = Report { playouts: 0, transitions: 0, time: Duration::ZERO, value: None, moves: vec![], stop: None };
//!         Decision { mv, report }
//!     }
//!     fn played(&mut self, _: &JointMove, _: &State) {}
//! }
//! let make_bot = |game: &Arc<Game>, _seed| -> Box<dyn Bot> { Box::new(LastMove(Arc::clone(game))) };
//! let served = HttpPlayer::start("127.0.0.1:0", Default::default(), 1, make_bot)?;
//!
//! let game = Arc::new(agon::games::load("tic_tac_toe")?);
//! let remote = RemotePlayer::new(&served.url())?;
//! let local = GamePlayer::new(Preset::parse("random")?, Default::default());
//! let seats = vec![Seat::new(Box::new(remote), About::named("mine")), Seat::new(Box::new(local), About::named("random"))];
//! let settings = Settings::new("tic_tac_toe", Duration::from_secs(10), Duration::from_secs(1));
//! let record = Referee::play(&game, seats, &settings, &mut |_| {});
//! assert!(record.is_completed && record.n_errors(0) == 0);
//! # assert_eq!(record.moves[0][0], "( mark 3 3 )");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The folder `examples` of this crate has whole programs: a bot for `agon match`, and a bot for tournaments.
//!
//! # What is where
//!
//! | module | what it does |
//! |---|---|
//! | [`gdl`] | reads, checks, prints and formats rules |
//! | [`ground`] | removes the variables from rules |
//! | [`engine`] | runs games: states, moves, goals, random playouts |
//! | [`insight`] | finds boards, pieces and heuristics in the rules |
//! | [`games`] | the built-in games with their metadata; draws boards |
//! | [`search`] | bots and presets |
//! | [`protocol`] | messages between game managers and players, HTTP |
//! | [`player`] | answers a game manager with the moves of a bot |
//! | [`arena`] | plays matches between players and records them |
//! | `tournament` | plays many matches; statistics, tables and plots (feature `tournament`) |

pub use agon_arena as arena;
pub use agon_engine as engine;
pub use agon_games as games;
pub use agon_gdl as gdl;
pub use agon_ground as ground;
pub use agon_insight as insight;
pub use agon_player as player;
pub use agon_protocol as protocol;
pub use agon_search as search;
#[cfg(feature = "tournament")]
pub use agon_tournament as tournament;

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
