//! A match on the server: its state, who sits where, and what people do in it.
//!
//! The referee of `arena` plays it on a thread of its own, with a seat per role (`seat`). Undo, branching and restoring
//! after a restart are one thing: the referee begins again, and every seat repeats the moves of the past before it chooses
//! itself. Each such beginning has a number, the run; news of an older run are ignored.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use agon_arena::{About, Ending, Event, MatchRecord, Referee, Seat, Settings, ThoughtRecord};
use agon_engine::{JointMove, MoveId, RoleId, State};
use agon_protocol::{MatchId, StopFlag, Term};
use serde::{Deserialize, Serialize};

use crate::ending::EndingView;
use crate::error::ApiError;
use crate::library::Entry;
use crate::live::{News, Wire};
use crate::seat::{self, SeatStatus};
use crate::service::Service;
use crate::view::{MOST_STEPS, MadeMove};

/// A player who is never late: for people without a clock, and for bots that wait for their turn.
const NEVER: Duration = Duration::from_secs(300 * 24 * 3600);

/// Who sits in a seat.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum SeatSetup {
    Person {
        #[serde(default)]
        name: Option<String>,
    },
    Bot {
        player: String,
    },
    /// Nobody: the referee draws the moves of chance.
    Chance,
    Remote {
        url: String,
        #[serde(default)]
        name: Option<String>,
    },
}

impl SeatSetup {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            SeatSetup::Person { .. } => "person",
            SeatSetup::Bot { .. } => "bot",
            SeatSetup::Chance => "chance",
            SeatSetup::Remote { .. } => "remote",
        }
    }

    pub(crate) fn name(&self) -> String {
        match self {
            SeatSetup::Person { name } => name.clone().unwrap_or_else(|| "person".to_owned()),
            SeatSetup::Bot { player } => player.clone(),
            SeatSetup::Chance => "chance".to_owned(),
            SeatSetup::Remote { url, name } => name.clone().unwrap_or_else(|| url.clone()),
        }
    }

    pub(crate) fn is_person(&self) -> bool {
        matches!(self, SeatSetup::Person { .. })
    }
}

/// What a match is asked to be.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MatchSetup {
    pub(crate) game: String,
    pub(crate) seats: Vec<SeatSetup>,
    #[serde(default)]
    pub(crate) moves: Vec<Vec<String>>,
    #[serde(default = "ten")]
    pub(crate) start_clock: f64,
    #[serde(default = "two")]
    pub(crate) play_clock: f64,
    #[serde(default)]
    pub(crate) playouts: Option<u64>,
    #[serde(default)]
    pub(crate) person_clock: Option<f64>,
    #[serde(default)]
    pub(crate) pace: f64,
    #[serde(default)]
    pub(crate) is_paused: bool,
    #[serde(default)]
    pub(crate) is_public: bool,
    #[serde(default)]
    pub(crate) seed: Option<u64>,
}

fn ten() -> f64 {
    10.0
}

fn two() -> f64 {
    2.0
}

/// A step of the past.
#[derive(Clone)]
pub(crate) struct Step {
    pub(crate) joint: JointMove,
    pub(crate) made: Vec<MadeMove>,
    pub(crate) errors: Vec<String>,
    pub(crate) thoughts: Vec<Option<ThoughtRecord>>,
    pub(crate) at: u64,
}

/// A match. The fields outside the lock never change.
pub(crate) struct Match {
    pub(crate) id: String,
    pub(crate) owner: String,
    /// Per role: the token of a person's seat.
    pub(crate) tokens: Vec<Option<String>>,
    pub(crate) setup: MatchSetup,
    pub(crate) entry: Arc<Entry>,
    pub(crate) seed: u64,
    pub(crate) started: u64,
    pub(crate) wire: Wire,
    pub(crate) service: Arc<Service>,
    inner: Mutex<Inner>,
    changed: Condvar,
}

/// What changes in a match.
pub(crate) struct Inner {
    pub(crate) version: u64,
    pub(crate) run: u64,
    /// Ends the present run.
    pub(crate) stop: StopFlag,
    /// Steps of the past that seats repeat.
    pub(crate) n_repeated: usize,
    /// Whether the referee has come to the end of the past.
    pub(crate) is_ready: bool,
    pub(crate) states: Vec<State>,
    pub(crate) steps: Vec<Step>,
    pub(crate) seats: Vec<SeatStatus>,
    /// What people have chosen in the present state.
    pub(crate) choices: Vec<Option<MoveId>>,
    /// When the time of people ends.
    pub(crate) deadline: Option<u64>,
    pub(crate) is_paused: bool,
    /// Steps that may happen while it is paused.
    pub(crate) n_allowed: usize,
    pub(crate) pace: f64,
    pub(crate) last_step: Instant,
    pub(crate) ending: Option<EndingView>,
    pub(crate) resigned: Option<usize>,
    pub(crate) record: Option<MatchRecord>,
    pub(crate) last_asked: Instant,
    last_saved: Instant,
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_millis() as u64
}

/// Everything that makes a match.
pub(crate) struct Plan {
    pub(crate) id: String,
    pub(crate) owner: String,
    pub(crate) tokens: Vec<Option<String>>,
    pub(crate) setup: MatchSetup,
    pub(crate) entry: Arc<Entry>,
    pub(crate) seed: u64,
    pub(crate) started: u64,
    /// The past: what was played before.
    pub(crate) steps: Vec<Step>,
    pub(crate) states: Vec<State>,
    pub(crate) ending: Option<EndingView>,
    pub(crate) resigned: Option<usize>,
}

impl Match {
    /// A match that is not played yet.
    pub(crate) fn new(service: &Arc<Service>, plan: Plan) -> Arc<Match> {
        let n_roles = plan.entry.game.n_roles();
        let now = Instant::now();
        Arc::new(Match {
            inner: Mutex::new(Inner {
                version: 1,
                run: 0,
                stop: StopFlag::new(),
                n_repeated: 0,
                is_ready: false,
                states: plan.states,
                steps: plan.steps,
                seats: vec![SeatStatus::Idle; n_roles],
                choices: vec![None; n_roles],
                deadline: None,
                is_paused: plan.setup.is_paused,
                n_allowed: 0,
                pace: plan.setup.pace,
                last_step: now,
                ending: plan.ending,
                resigned: plan.resigned,
                record: None,
                last_asked: now,
                last_saved: now,
            }),
            id: plan.id,
            owner: plan.owner,
            tokens: plan.tokens,
            setup: plan.setup,
            entry: plan.entry,
            seed: plan.seed,
            started: plan.started,
            wire: Wire::default(),
            service: Arc::clone(service),
            changed: Condvar::new(),
        })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something changes, for a short time at most.
    pub(crate) fn wait<'a>(
        &self,
        inner: MutexGuard<'a, Inner>,
        time: Duration,
    ) -> MutexGuard<'a, Inner> {
        let waited = self.changed.wait_timeout(inner, time);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Tells seats and pages that something has changed.
    pub(crate) fn announce(&self, inner: &mut Inner) {
        inner.version += 1;
        self.changed.notify_all();
        self.wire.publish(self.news(inner));
    }

    /// Where the match is.
    pub(crate) fn news(&self, inner: &Inner) -> News {
        #[derive(Serialize)]
        struct Data {
            version: u64,
            step: usize,
            status: &'static str,
        }
        let data = Data {
            version: inner.version,
            step: inner.steps.len(),
            status: inner.status(),
        };
        News::new("match", &data)
    }

    /// Tells what a seat does, without a new version.
    pub(crate) fn set_seat(&self, run: u64, role: RoleId, status: SeatStatus) {
        #[derive(Serialize)]
        struct Data {
            role: usize,
            status: &'static str,
            place: Option<usize>,
        }
        let mut inner = self.lock();
        if inner.run != run || inner.seats[role.idx()] == status {
            return;
        }
        inner.seats[role.idx()] = status;
        drop(inner);
        let data = Data {
            role: role.idx(),
            status: status.name(),
            place: status.place(),
        };
        self.wire.publish(News::new("seat", &data));
    }

    /// Starts the referee. The first `n_steps` steps are the past.
    pub(crate) fn begin(self: &Arc<Match>, n_steps: usize) {
        let mut inner = self.lock();
        inner.stop.raise();
        inner.run += 1;
        inner.steps.truncate(n_steps);
        inner.states.truncate(n_steps + 1);
        inner.stop = StopFlag::new();
        inner.is_ready = false;
        inner.n_repeated = inner.steps.len();
        inner.choices = vec![None; self.tokens.len()];
        inner.seats = vec![SeatStatus::Idle; self.tokens.len()];
        inner.ending = None;
        inner.record = None;
        inner.resigned = None;
        let run = Run {
            number: inner.run,
            stop: inner.stop.clone(),
            past: inner.steps.clone(),
        };
        self.announce(&mut inner);
        drop(inner);
        let this = Arc::clone(self);
        let thread = thread::Builder::new().name("match".to_owned());
        // Without a thread the match never becomes ready, and the page says so.
        let _ = thread.spawn(move || this.play(&run));
    }

    /// Ends the present run for good.
    pub(crate) fn end(&self, reason: &str) {
        #[derive(Serialize)]
        struct Data<'a> {
            reason: &'a str,
        }
        let inner = self.lock();
        inner.stop.raise();
        self.changed.notify_all();
        drop(inner);
        self.wire.publish(News::new("gone", &Data { reason }));
    }

    fn play(self: &Arc<Match>, run: &Run) {
        let game = &self.entry.game;
        let seats = self.seats(run);
        let mut settings = Settings::new(
            self.entry.id(),
            Duration::from_secs_f64(self.setup.start_clock),
            Duration::from_secs_f64(self.setup.play_clock),
        );
        if let Some(id) = MatchId::new(&format!("web.{}.{}", &self.id[..12], run.number)) {
            settings.id = id;
        }
        settings.seed = self.seed;
        settings.chance_seed = self.seed;
        settings.most_steps = MOST_STEPS as u32;
        settings.stop = run.stop.clone();
        let record = Referee::play(game, seats, &settings, &mut |event| self.see(run, event));
        self.finish(run, record);
    }

    fn seats(self: &Arc<Match>, run: &Run) -> Vec<Seat> {
        let seat = |(role, setup): (RoleId, &SeatSetup)| {
            let mut about = About::named(&setup.name());
            about.is_human = setup.is_person();
            let grace = match setup {
                SeatSetup::Person { .. } => match self.setup.person_clock {
                    Some(clock) => {
                        Duration::from_secs_f64((clock - self.setup.play_clock).max(0.0))
                    }
                    None => NEVER,
                },
                SeatSetup::Bot { player } => {
                    let preset = seat::preset(&self.service, &self.entry.game, player);
                    if let Ok(preset) = preset {
                        let values = preset.params.values().into_iter();
                        about.parameters = values
                            .map(|(name, value)| (name.to_owned(), value))
                            .collect();
                        about.seed = Some(seat::bot_seed(self.seed, role));
                    }
                    about.budget = Some(match self.setup.playouts {
                        Some(n) => format!("{n} playouts"),
                        None => format!("{} s", self.setup.play_clock),
                    });
                    NEVER
                }
                SeatSetup::Chance => Duration::ZERO,
                // People and bots before it may be slow, but it answers on its own clock.
                SeatSetup::Remote { .. } => Duration::from_millis(1000),
            };
            let mut seat = Seat::new(seat::player(self, run.number, role, &run.past), about);
            seat.grace = seat.grace.max(grace);
            seat
        };
        // The referee plays chance itself.
        let chance = self.entry.game.random_role();
        let taken = self.entry.game.roles().zip(&self.setup.seats);
        taken
            .filter(|(role, _)| Some(*role) != chance)
            .map(seat)
            .collect()
    }

    /// Follows the referee.
    fn see(&self, run: &Run, event: &Event<'_>) {
        match event {
            Event::State { step, state } => {
                let mut inner = self.lock();
                if inner.run != run.number || *step < inner.n_repeated {
                    return;
                }
                if inner.states.len() <= *step {
                    inner.states.push((*state).clone());
                    self.complete_step(&mut inner);
                }
                inner.is_ready = true;
                inner.choices = vec![None; self.tokens.len()];
                // Nobody has chosen in the new state, also before its seats say so.
                inner.seats = vec![SeatStatus::Idle; self.tokens.len()];
                inner.last_step = Instant::now();
                let person = self
                    .setup
                    .person_clock
                    .map(|clock| now() + (clock * 1000.0) as u64);
                inner.deadline = person;
                self.announce(&mut inner);
                self.save(&mut inner, false);
            }
            Event::Moved {
                step,
                moves,
                errors,
                thoughts,
            } => {
                let mut inner = self.lock();
                if inner.run != run.number || *step <= inner.n_repeated {
                    return;
                }
                let Some(joint) = self.read(&inner, moves) else {
                    return;
                };
                inner.steps.push(Step {
                    joint,
                    made: Vec::new(),
                    errors: errors.to_vec(),
                    thoughts: thoughts.to_vec(),
                    at: now(),
                });
                inner.n_allowed = inner.n_allowed.saturating_sub(1);
            }
        }
    }

    /// The joint move of the referee's texts in the present state.
    fn read(&self, inner: &Inner, moves: &[String]) -> Option<JointMove> {
        let game = &self.entry.game;
        let find = |(role, text): (RoleId, &String)| {
            let text = Term::read(text).ok()?;
            game.find_move(role, text.as_str())
        };
        let moves: Option<Vec<MoveId>> = game.roles().zip(moves).map(find).collect();
        // States and steps grow in turn, which a caller may rely on.
        moves
            .filter(|_| inner.states.len() == inner.steps.len() + 1)
            .map(JointMove::new)
    }

    /// Adds to the last step how it is shown, once the state after it is known.
    fn complete_step(&self, inner: &mut Inner) {
        let n_steps = inner.steps.len();
        if n_steps == 0 || inner.states.len() != n_steps + 1 {
            return;
        }
        let (before, after) = (&inner.states[n_steps - 1], &inner.states[n_steps]);
        let made = self
            .entry
            .made(before, &inner.steps[n_steps - 1].joint, after);
        inner.steps[n_steps - 1].made = made;
    }

    fn finish(&self, run: &Run, mut record: MatchRecord) {
        let mut inner = self.lock();
        let is_interrupted = matches!(
            record.agon.as_ref().map(|details| &details.ending),
            Some(Ending::Interrupted)
        );
        if inner.run != run.number || is_interrupted && inner.resigned.is_none() {
            return;
        }
        self.mend(&inner, &mut record);
        inner.ending = Some(self.ending(&inner, &record));
        inner.record = Some(record);
        inner.is_ready = true;
        inner.deadline = None;
        inner.seats = vec![SeatStatus::Idle; self.tokens.len()];
        self.announce(&mut inner);
        self.save(&mut inner, true);
    }

    /// Writes the match to the disk: at once where people play, else from time to time and at the end.
    pub(crate) fn save(&self, inner: &mut Inner, is_end: bool) {
        let has_people = self.tokens.iter().any(Option::is_some);
        let is_old = inner.last_saved.elapsed() > Duration::from_millis(500);
        if is_end || has_people || is_old || inner.steps.is_empty() {
            inner.last_saved = Instant::now();
            self.service.shelf.save(self, inner);
        }
    }

    /// The last step before the present one at which a person had a choice.
    pub(crate) fn last_decision(&self, inner: &Inner) -> Option<usize> {
        let game = &self.entry.game;
        let mut machine = game.machine();
        let is_decision = |step: &usize| {
            machine.load(&inner.states[*step]);
            let mut people = game
                .roles()
                .filter(|role| self.tokens[role.idx()].is_some());
            people.any(|role| machine.legal_moves(role).len() > 1)
        };
        (0..inner.steps.len()).rev().find(is_decision)
    }

    /// Goes back to a step, or to the last decision of a person.
    pub(crate) fn undo(self: &Arc<Match>, to: Option<usize>) -> Result<u64, ApiError> {
        if self.entry.game.is_gdl2() {
            let message = "moves cannot be taken back in a game of chance or hidden information";
            return Err(ApiError::not_now(message));
        }
        let has_remote = self.setup.seats.iter().any(|seat| seat.kind() == "remote");
        if has_remote {
            return Err(ApiError::not_now("a remote player cannot take moves back"));
        }
        let inner = self.lock();
        let to = match to {
            Some(step) if step < inner.steps.len() => Some(step),
            Some(step) if step == inner.steps.len() && inner.resigned.is_some() => Some(step),
            Some(_) => None,
            None if inner.resigned.is_some() => Some(inner.steps.len()),
            None => self.last_decision(&inner),
        };
        let Some(step) = to else {
            return Err(ApiError::not_now("there is nothing to take back"));
        };
        drop(inner);
        self.begin(step);
        let mut inner = self.lock();
        self.save(&mut inner, true);
        Ok(inner.version)
    }

    /// A role gives up.
    pub(crate) fn resign(&self, role: usize) -> Result<u64, ApiError> {
        let mut inner = self.lock();
        if inner.ending.is_some() {
            return Err(ApiError::not_now("the match is over"));
        }
        inner.resigned = Some(role);
        inner.stop.raise();
        let titles = self.entry.role_titles();
        inner.ending = Some(self.resignation(role, &titles));
        inner.seats = vec![SeatStatus::Idle; self.tokens.len()];
        inner.deadline = None;
        self.announce(&mut inner);
        self.save(&mut inner, true);
        Ok(inner.version)
    }
}

impl Inner {
    pub(crate) fn status(&self) -> &'static str {
        match () {
            () if self.ending.is_some() => "over",
            () if !self.is_ready => "preparing",
            () if self.is_paused => "paused",
            () => "running",
        }
    }
}

/// A beginning of the referee.
struct Run {
    number: u64,
    stop: StopFlag,
    past: Vec<Step>,
}
