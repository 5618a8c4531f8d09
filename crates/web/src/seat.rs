//! The players of a match on this server: a person in a browser, a bot that waits for its turn, a remote player.
//!
//! Each first repeats the moves of the past. A person answers when a page has sent a move. A bot waits while the match is
//! paused, then for its turn in the queue of searches. A remote player is asked in the past too, so that it follows, but what
//! it says there does not count.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use agon_engine::{Game, MoveId, RoleId, State};
use agon_protocol::http::RemotePlayer;
use agon_protocol::{Failure, Player, Reply, Request, StopFlag, Term, Thought, WeighedMove};
use agon_search::{Bot, Decision, Preset, Report};

use crate::belief_seat::BeliefSeat;
use crate::live::News;
use crate::play::{Match, SeatSetup, Step};
use crate::queue::{NoTurn, Turn};
use crate::service::Service;
use crate::think::{Effort, SearchReport, Task};

/// How long a seat waits before it looks again.
const POLL: Duration = Duration::from_millis(100);
/// However many wait, a search gets this much of its clock: less would be worth nothing.
const LEAST: Duration = Duration::from_millis(60);
/// A search for a number of playouts ends after this time in any case.
const LONGEST: Duration = Duration::from_secs(60);

/// What a seat does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SeatStatus {
    /// Nothing.
    Idle,
    /// A person is asked for a move.
    ToMove,
    /// It has chosen, and others have not.
    Chosen,
    /// Its search waits at this place.
    Queued(usize),
    /// It searches.
    Thinking,
}

impl SeatStatus {
    pub(crate) fn name(self) -> &'static str {
        match self {
            SeatStatus::Idle => "idle",
            SeatStatus::ToMove => "to-move",
            SeatStatus::Chosen => "chosen",
            SeatStatus::Queued(_) => "queued",
            SeatStatus::Thinking => "thinking",
        }
    }

    pub(crate) fn place(self) -> Option<usize> {
        match self {
            SeatStatus::Queued(place) => Some(place),
            _ => None,
        }
    }
}

/// Search trees that are kept between moves.
#[derive(Default)]
pub(crate) struct Trees(AtomicUsize);

impl Trees {
    /// Whether one more may be kept.
    fn keep(&self, most: usize) -> bool {
        let more = |n: usize| (n < most).then_some(n + 1);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .is_ok()
    }

    fn drop_one(&self) {
        let less = |n: usize| n.checked_sub(1);
        let _ = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }
}

/// The seed of a bot.
pub(crate) fn bot_seed(seed: u64, role: RoleId) -> u64 {
    seed.wrapping_mul(1000).wrapping_add(role.idx() as u64 + 1)
}

/// The model of a player that uses what was trained for the game: `agon:model=trained`.
const TRAINED: &str = "trained";

/// A preset within the limits of the server. No file is read by its name, only the model that the user has of the game.
pub(crate) fn preset(
    service: &Service,
    game: &Game,
    player: &str,
) -> Result<Preset, agon_search::PresetError> {
    let load = |name: &str| match name {
        TRAINED => (service.hooks.model)(game).ok_or("there is no trained model of this game"),
        _ => Err("only model=trained or model=none can be used here"),
    };
    let mut preset = Preset::parse_with(player, &|name| load(name).map_err(str::to_owned))?;
    let memory = service.config.tree_megabytes;
    preset.params.memory = preset.params.memory.min(memory);
    preset.params.threads = agon_search::Count::Exactly(1);
    Ok(preset)
}

/// The player of a role.
pub(crate) fn player(
    of_match: &Arc<Match>,
    run: u64,
    role: RoleId,
    past: &[Step],
) -> Box<dyn Player> {
    let texts = |step: &Step| of_match.entry.game.move_text(role, step.joint.of(role));
    let past: Vec<Reply> = past
        .iter()
        .map(|step| {
            let thought = step.thoughts.get(role.idx()).cloned().flatten();
            answer(&texts(step), thought.map(|thought| remembered(&thought)))
        })
        .collect();
    let inner: Box<dyn Player> = match &of_match.setup.seats[role.idx()] {
        SeatSetup::Person { .. } => Box::new(HumanPlayer {
            of_match: Arc::clone(of_match),
            run,
            role,
        }),
        SeatSetup::Bot { player } if of_match.entry.game.is_gdl2() => {
            Box::new(BeliefSeat::new(of_match, run, role, player))
        }
        SeatSetup::Chance => Box::new(Absent),
        SeatSetup::Bot { player } => Box::new(BotSeat {
            of_match: Arc::clone(of_match),
            run,
            role,
            player: player.clone(),
            bot: None,
            n_followed: 0,
        }),
        SeatSetup::Remote { url, .. } => {
            let player = RemotePlayer::new(url);
            let Ok(player) = player else {
                return Box::new(Absent);
            };
            return Box::new(RemoteSeat {
                player,
                past,
                n_asked: 0,
            });
        }
    };
    Box::new(Repeating {
        inner,
        past,
        n_asked: 0,
    })
}

pub(crate) fn answer(text: &str, thought: Option<Thought>) -> Reply {
    match Term::read(text) {
        Ok(mv) => Reply::Move { mv, thought },
        Err(_) => Reply::Nil,
    }
}

/// What a player thought in the past.
fn remembered(thought: &agon_arena::ThoughtRecord) -> Thought {
    let moves = thought.moves.iter().filter_map(|mv| {
        Some(WeighedMove {
            mv: Term::read(&mv.mv).ok()?,
            visits: mv.visits,
            mean: mv.mean,
        })
    });
    Thought {
        value: thought.value,
        playouts: thought.playouts,
        transitions: thought.transitions,
        time: Duration::try_from_secs_f64(thought.seconds).unwrap_or_default(),
        stop: thought.stop.clone(),
        moves: moves.collect(),
        note: thought.note.clone(),
    }
}

/// A player who is not there: its address cannot be read.
struct Absent;

impl Player for Absent {
    fn answer(&mut self, _: Request, _: &StopFlag) -> Reply {
        Reply::Failed(Failure::Refused)
    }
}

/// Repeats the past, then asks the player.
struct Repeating {
    inner: Box<dyn Player>,
    past: Vec<Reply>,
    n_asked: usize,
}

impl Player for Repeating {
    fn answer(&mut self, request: Request, stop: &StopFlag) -> Reply {
        if let Request::Play { .. } = &request {
            self.n_asked += 1;
            if let Some(reply) = self.past.get(self.n_asked - 1) {
                return reply.clone();
            }
        }
        self.inner.answer(request, stop)
    }
}

/// A remote player, who follows the past by being asked.
struct RemoteSeat {
    player: RemotePlayer,
    past: Vec<Reply>,
    n_asked: usize,
}

impl Player for RemoteSeat {
    fn answer(&mut self, request: Request, stop: &StopFlag) -> Reply {
        let is_play = matches!(request, Request::Play { .. });
        let reply = self.player.answer(request, stop);
        if is_play {
            self.n_asked += 1;
            if let Some(past) = self.past.get(self.n_asked - 1) {
                return past.clone();
            }
        }
        reply
    }
}

/// A person in a browser.
pub(crate) struct HumanPlayer {
    of_match: Arc<Match>,
    run: u64,
    role: RoleId,
}

impl HumanPlayer {
    fn choose(&self, stop: &StopFlag) -> Reply {
        let of_match = &self.of_match;
        let game = &of_match.entry.game;
        let Some(state) = present_state(of_match, self.run) else {
            return Reply::Nil;
        };
        let mut machine = game.machine();
        machine.load(&state);
        let text = |mv: MoveId| game.move_text(self.role, mv);
        if let [only] = machine.legal_moves(self.role) {
            wait_for_pace(of_match, self.run, stop);
            return answer(&text(*only), None);
        }
        of_match.set_seat(self.run, self.role, SeatStatus::ToMove);
        let clock = of_match.setup.person_clock;
        let until = clock.map(|clock| Instant::now() + Duration::from_secs_f64(clock));
        let mut inner = of_match.lock();
        loop {
            if inner.run != self.run || inner.stop.is_raised() || stop.is_raised() {
                return Reply::Nil;
            }
            if let Some(mv) = inner.choices[self.role.idx()] {
                drop(inner);
                of_match.set_seat(self.run, self.role, SeatStatus::Chosen);
                return answer(&text(mv), None);
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return Reply::Nil;
            }
            inner = of_match.wait(inner, POLL);
        }
    }
}

impl Player for HumanPlayer {
    fn answer(&mut self, request: Request, stop: &StopFlag) -> Reply {
        match request {
            Request::Play { .. } => self.choose(stop),
            Request::Stop { .. } => Reply::Done,
            Request::Abort { .. } => Reply::Aborted,
            Request::Info | Request::Preview { .. } | Request::Start { .. } => Reply::Ready,
        }
    }
}

/// The state in which a run asks for moves.
pub(crate) fn present_state(of_match: &Match, run: u64) -> Option<State> {
    let inner = of_match.lock();
    inner.states.last().filter(|_| inner.run == run).cloned()
}

/// Waits while the match is paused, and until the last step is old enough; `false` if the move is not wanted any more.
pub(crate) fn wait_for_pace(of_match: &Match, run: u64, stop: &StopFlag) -> bool {
    let mut inner = of_match.lock();
    loop {
        if inner.run != run || inner.stop.is_raised() || stop.is_raised() {
            return false;
        }
        let is_held = inner.is_paused && inner.n_allowed == 0;
        let pace = match inner.is_paused {
            true => Duration::ZERO,
            false => Duration::from_secs_f64(inner.pace.clamp(0.0, 3600.0)),
        };
        let left = pace.saturating_sub(inner.last_step.elapsed());
        if !is_held && left.is_zero() {
            return true;
        }
        let time = if is_held { POLL } else { left.min(POLL) };
        inner = of_match.wait(inner, time);
    }
}

/// Waits for a turn to search, and says so.
pub(crate) fn wait_for_turn(
    of_match: &Match,
    run: u64,
    role: RoleId,
    stop: &StopFlag,
) -> Result<Turn, NoTurn> {
    let mut tell = |place| of_match.set_seat(run, role, SeatStatus::Queued(place));
    let turn = of_match.service.queue.wait(stop, &mut tell)?;
    of_match.set_seat(run, role, SeatStatus::Thinking);
    Ok(turn)
}

pub(crate) fn too_busy() -> Thought {
    Thought {
        note: Some("the server is too busy to search".to_owned()),
        ..Thought::default()
    }
}

/// How long a search of a match may take with this share of its clock.
pub(crate) fn effort(of_match: &Match, share: f64) -> Effort {
    let whole = Duration::from_secs_f64(of_match.setup.play_clock);
    let clock = whole.mul_f64(share).max(LEAST.min(whole));
    match of_match.setup.playouts {
        Some(n_playouts) => Effort::Playouts(n_playouts, LONGEST.mul_f64(share)),
        // The answer should be there when the clock ends.
        None => Effort::Time(clock.saturating_sub((clock / 8).min(Duration::from_millis(100)))),
    }
}

/// A bot of this server.
struct BotSeat {
    of_match: Arc<Match>,
    run: u64,
    role: RoleId,
    player: String,
    /// Its search tree, while it is kept.
    bot: Option<Box<dyn Bot>>,
    /// Steps of the match that the bot knows.
    n_followed: usize,
}

impl BotSeat {
    fn choose(&mut self, stop: &StopFlag) -> Reply {
        let of_match = Arc::clone(&self.of_match);
        if !wait_for_pace(&of_match, self.run, stop) {
            return Reply::Nil;
        }
        let Some(state) = present_state(&of_match, self.run) else {
            return Reply::Nil;
        };
        let game = &of_match.entry.game;
        let mut machine = game.machine();
        machine.load(&state);
        let (run, role) = (self.run, self.role);
        let legal = machine.legal_moves(role).to_vec();
        let text = |mv: MoveId| game.move_text(role, mv);
        if let [only] = legal.as_slice() {
            return answer(&text(*only), None);
        }
        let turn = match wait_for_turn(&of_match, run, role, stop) {
            Ok(turn) => turn,
            // A legal move is always in hand.
            Err(NoTurn::Full) => return answer(&text(legal[0]), Some(too_busy())),
            Err(NoTurn::Stopped) => return Reply::Nil,
        };
        let decision = self.search(&state, turn.share, stop);
        drop(turn);
        self.release();
        of_match.set_seat(self.run, self.role, SeatStatus::Chosen);
        match decision {
            Some(decision) => {
                let thought = thought(game, role, &decision.report);
                answer(&text(decision.mv), Some(thought))
            }
            None => answer(&text(legal[0]), None),
        }
    }

    fn search(&mut self, state: &State, share: f64, stop: &StopFlag) -> Option<Decision> {
        let of_match = Arc::clone(&self.of_match);
        let service = &of_match.service;
        let (step, news) = {
            let inner = of_match.lock();
            let known = inner.steps.iter().zip(inner.states.iter().skip(1));
            let news: Vec<_> = known
                .skip(self.n_followed)
                .map(|(step, state)| (step.joint.clone(), state.clone()))
                .collect();
            (inner.steps.len(), news)
        };
        if self.bot.is_none() {
            let preset = preset(service, &of_match.entry.game, &self.player).ok()?;
            let seed = bot_seed(of_match.seed, self.role);
            self.bot = Some(preset.bot(&of_match.entry.game, seed));
        } else {
            service.trees.drop_one();
            let bot = self.bot.as_mut()?;
            news.iter()
                .for_each(|(joint, next)| bot.played(joint, next));
        }
        self.n_followed = step;
        let bot = self.bot.as_mut()?;
        let task = Task {
            shown: Default::default(),
            entry: &of_match.entry,
            state,
            role: self.role,
            step,
            share,
            words: service.hooks.technique,
        };
        let effort = effort(&of_match, share);
        let is_watched = service.is_watched(&of_match.id);
        let decision = match is_watched {
            true => {
                let tell =
                    &mut |report: SearchReport| of_match.wire.publish(News::new("search", &report));
                task.think_aloud(&mut **bot, effort, stop, tell)
            }
            false => {
                let decision = task.think(&mut **bot, effort, stop);
                if service.is_watched(&of_match.id) {
                    let report = task.final_report(&**bot, &decision.report);
                    of_match.wire.publish(News::new("search", &report));
                }
                decision
            }
        };
        Some(decision)
    }

    /// Keeps the tree if there is room for it.
    fn release(&mut self) {
        if self.bot.is_some()
            && !self
                .of_match
                .service
                .trees
                .keep(self.of_match.service.config.kept_trees)
        {
            self.bot = None;
        }
    }
}

/// What a bot thought, for the record.
pub(crate) fn thought(game: &Game, role: RoleId, report: &Report) -> Thought {
    let moves = report.moves.iter().take(20).filter_map(|known| {
        Some(WeighedMove {
            mv: Term::read(&game.move_text(role, known.mv)).ok()?,
            visits: known.visits,
            mean: known.mean,
        })
    });
    Thought {
        value: report.value,
        playouts: report.playouts,
        transitions: report.transitions,
        time: report.time,
        stop: report.stop.map(|stop| stop.to_string()),
        moves: moves.collect(),
        note: None,
    }
}

impl Drop for BotSeat {
    fn drop(&mut self) {
        if self.bot.is_some() {
            self.of_match.service.trees.drop_one();
        }
    }
}

impl Player for BotSeat {
    fn answer(&mut self, request: Request, stop: &StopFlag) -> Reply {
        match request {
            Request::Play { .. } => self.choose(stop),
            Request::Stop { .. } => Reply::Done,
            Request::Abort { .. } => Reply::Aborted,
            Request::Info | Request::Preview { .. } | Request::Start { .. } => Reply::Ready,
        }
    }
}
