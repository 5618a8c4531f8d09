//! Plays one match: asks all seats at the same time, judges what they say, and writes it down.
//!
//! An answer that is late, missing, unreadable or not legal is replaced by a legal move that the referee draws, and noted;
//! the match goes on. Whoever watches is told of every state and every step.
//!
//! In: a game, a seat per role, settings. Out: a [`MatchRecord`], always.
//! Not here: threads and deadlines (`table`), what an answer is worth (`judge`).

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use agon_engine::{Game, JointMove, Machine, MoveId, RoleId, State};
use agon_protocol::{MatchId, Request, StopFlag, Term};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::judge::{Fault, judge_move, judge_start};
use crate::record::{
    Details, Ending, FaultRecord, MatchRecord, SeatRecord, ThoughtRecord, rules_hash,
};
use crate::seat::Seat;
use crate::table::Table;

/// How a match is played.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Its name.
    pub id: MatchId,
    /// The name of the game, for the record.
    pub game: String,
    /// Time to prepare.
    pub start_clock: Duration,
    /// Time for each move.
    pub play_clock: Duration,
    /// Seed of the moves that the referee draws.
    pub seed: u64,
    /// When it begins, for the record.
    pub started: SystemTime,
    /// A match with more steps is cut: the rules may never end.
    pub most_steps: u32,
    /// Whether the record has the rulesheet.
    pub keep_rules: bool,
    /// The tournament that it belongs to.
    pub tournament: Option<String>,
    /// Whether some players get the rules with other names, for the record.
    pub scrambled: bool,
    /// Raised by somebody who calls the match off.
    pub stop: StopFlag,
}

/// A match with more steps is cut, unless the settings say otherwise.
const MOST_STEPS: u32 = 100_000;

impl Settings {
    /// A match of the game of this name that begins now, with these clocks.
    #[must_use]
    pub fn new(game: &str, start_clock: Duration, play_clock: Duration) -> Settings {
        let started = SystemTime::now();
        let word = game.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "-");
        let id = format!("agon.{word}.{}", millis(started));
        Settings {
            id: MatchId::new(&id).expect("letters, digits, dots and dashes are a word"),
            game: game.to_owned(),
            start_clock,
            play_clock,
            seed: 1,
            started,
            most_steps: MOST_STEPS,
            keep_rules: true,
            tournament: None,
            scrambled: false,
            stop: StopFlag::new(),
        }
    }
}

/// What somebody who watches is told.
#[derive(Debug)]
pub enum Event<'a> {
    /// The match is in this state, the initial one with step 0.
    State {
        /// Number of steps so far.
        step: usize,
        /// The state.
        state: &'a State,
    },
    /// Everybody has moved.
    Moved {
        /// Number of the step, from 1.
        step: usize,
        /// The moves in the order of the roles.
        moves: &'a [String],
        /// What went wrong, per role; empty if nothing.
        errors: &'a [String],
        /// How the moves came about, where players told.
        thoughts: &'a [Option<ThoughtRecord>],
    },
}

/// Plays matches.
pub struct Referee;

impl Referee {
    /// Plays a match with a seat for each role, in the order of the roles.
    ///
    /// # Panics
    /// If there are not as many seats as roles.
    #[must_use]
    pub fn play(
        game: &Arc<Game>,
        seats: Vec<Seat>,
        settings: &Settings,
        watch: &mut dyn FnMut(&Event<'_>),
    ) -> MatchRecord {
        assert_eq!(seats.len(), game.n_roles(), "each role has its seat");
        let sheet = begin(game, &seats, settings);
        let mut ongoing = Ongoing {
            game,
            settings,
            table: Table::new(seats),
            machine: game.machine(),
            rng: Xoshiro256PlusPlus::seed_from_u64(settings.seed),
            began: Instant::now(),
            last: None,
            record: sheet.0,
            details: sheet.1,
        };
        let ending = ongoing.play(watch);
        ongoing.finish(ending)
    }
}

/// An empty record.
fn begin(game: &Game, seats: &[Seat], settings: &Settings) -> (MatchRecord, Details) {
    let start_time = millis(settings.started);
    let record = MatchRecord {
        match_id: settings.id.to_string(),
        random_token: token(settings.seed ^ start_time),
        start_time,
        preview_clock: -1.0,
        start_clock: settings.start_clock.as_secs_f64(),
        play_clock: settings.play_clock.as_secs_f64(),
        player_names_from_host: seats.iter().map(|seat| seat.about.name.clone()).collect(),
        is_player_human: seats.iter().map(|seat| seat.about.is_human).collect(),
        tournament_name_from_host: settings.tournament.clone(),
        scrambled: settings.scrambled,
        ..MatchRecord::default()
    };
    let of_seat = |seat: &Seat| SeatRecord {
        player: seat.about.name.clone(),
        parameters: seat.about.parameters.clone(),
        budget: seat.about.budget.clone(),
        seed: seat.about.seed,
    };
    let rules = game.rules();
    let details = Details {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        game: settings.game.clone(),
        rules_hash: rules_hash(&rules.to_string()),
        rules: settings.keep_rules.then(|| rules.source.text().to_owned()),
        roles: roles(game).map(|role| game.role_name(role)).collect(),
        seed: settings.seed,
        ending: Ending::Interrupted,
        seats: seats.iter().map(of_seat).collect(),
        faults: Vec::new(),
        thoughts: Vec::new(),
    };
    (record, details)
}

/// A match on its way.
struct Ongoing<'a> {
    // Constant during the match.
    game: &'a Game,
    settings: &'a Settings,
    began: Instant,
    // What changes with every step.
    table: Table,
    machine: Box<dyn Machine>,
    rng: Xoshiro256PlusPlus,
    last: Option<Vec<Term>>,
    record: MatchRecord,
    details: Details,
}

impl Ongoing<'_> {
    fn play(&mut self, watch: &mut dyn FnMut(&Event<'_>)) -> Ending {
        self.start();
        for step in 0.. {
            let state = self.machine.state();
            self.reach(&state);
            watch(&Event::State {
                step,
                state: &state,
            });
            if self.machine.is_terminal() {
                return Ending::Terminal;
            }
            if let Some(fault) = self.machine.take_fault() {
                let reason = fault.to_string();
                return Ending::EngineFault { reason };
            }
            if step >= self.settings.most_steps as usize {
                return Ending::StepLimit;
            }
            let joint = match self.step() {
                Ok(joint) => joint,
                Err(ending) => return ending,
            };
            let idx = self.record.moves.len() - 1;
            watch(&Event::Moved {
                step: step + 1,
                moves: &self.record.moves[idx],
                errors: &self.record.errors[idx + 1],
                thoughts: &self.details.thoughts[idx],
            });
            self.machine.advance(&joint);
        }
        unreachable!("the step limit ends it")
    }

    /// Sends START and waits for everybody.
    fn start(&mut self) {
        let start = |role| Request::Start {
            id: self.settings.id.clone(),
            role: term(&self.game.role_name(role)),
            rules: Arc::clone(self.game.rules()),
            start_clock: self.settings.start_clock,
            play_clock: self.settings.play_clock,
        };
        let requests = roles(self.game).map(start).collect();
        let stop = &self.settings.stop;
        let outcomes = self.table.ask(requests, self.settings.start_clock, stop);
        let faults = outcomes.into_iter().map(judge_start).collect();
        self.note(faults);
    }

    /// Writes a state down.
    fn reach(&mut self, state: &State) {
        self.record.states.push(state_text(self.game, state));
        let passed = self.began.elapsed().as_millis() as u64;
        self.record
            .state_times
            .push(self.record.start_time + passed);
    }

    /// Asks everybody for a move and writes down what came.
    fn step(&mut self) -> Result<JointMove, Ending> {
        let legal = self.legal_moves()?;
        let play = || Request::Play {
            id: self.settings.id.clone(),
            moves: self.last.clone(),
        };
        let requests = legal.iter().map(|_| play()).collect();
        let stop = &self.settings.stop;
        let outcomes = self.table.ask(requests, self.settings.play_clock, stop);
        if stop.is_raised() {
            return Err(Ending::Interrupted);
        }
        let mut joint = Vec::new();
        let (mut texts, mut faults, mut thoughts) = (Vec::new(), Vec::new(), Vec::new());
        for (outcome, legal) in outcomes.into_iter().zip(&legal) {
            let judged = judge_move(outcome, legal);
            // Drawn for every seat, so that a fault of one does not change what another one gets.
            let drawn = &legal[self.draw(legal.len())];
            let of = judged
                .of
                .and_then(|of| legal.iter().find(|(id, _)| *id == of));
            let (of, text) = of.unwrap_or(drawn);
            joint.push(*of);
            texts.push(term(text));
            faults.push(judged.fault);
            thoughts.push(judged.thought.as_ref().map(ThoughtRecord::from));
        }
        self.note(faults);
        self.details.thoughts.push(thoughts);
        self.record
            .moves
            .push(texts.iter().map(Term::spaced).collect());
        self.last = Some(texts);
        Ok(JointMove::new(joint))
    }

    /// The legal moves of each role with their texts.
    fn legal_moves(&mut self) -> Result<Vec<Vec<(MoveId, String)>>, Ending> {
        let mut all = Vec::with_capacity(self.game.n_roles());
        for role in roles(self.game) {
            let moves = self.machine.legal_moves(role).iter();
            let moves: Vec<(MoveId, String)> = moves
                .map(|&of| (of, self.game.move_text(role, of)))
                .collect();
            if let Some(fault) = self.machine.take_fault() {
                let reason = fault.to_string();
                return Err(Ending::EngineFault { reason });
            }
            if moves.is_empty() {
                let role = self.game.role_name(role);
                return Err(Ending::NoLegalMove { role });
            }
            all.push(moves);
        }
        Ok(all)
    }

    /// Writes a row of errors.
    fn note(&mut self, faults: Vec<Option<Fault>>) {
        let step = self.record.errors.len();
        let code = |fault: &Option<Fault>| fault.as_ref().map(Fault::code).unwrap_or_default();
        self.record.errors.push(faults.iter().map(code).collect());
        for (role, fault) in self.details.roles.iter().zip(faults) {
            let Some(Fault { kind, detail }) = fault else {
                continue;
            };
            self.details.faults.push(FaultRecord {
                step,
                role: role.clone(),
                kind,
                detail,
            });
        }
    }

    /// Tells everybody that it is over and closes the record.
    fn finish(mut self, ending: Ending) -> MatchRecord {
        let is_terminal = ending == Ending::Terminal;
        let farewell = || {
            let id = self.settings.id.clone();
            match is_terminal {
                true => Request::Stop {
                    id,
                    moves: self.last.clone(),
                },
                false => Request::Abort { id },
            }
        };
        let requests = roles(self.game).map(|_| farewell()).collect();
        // Nothing depends on the answer, so nobody is waited for longer than a second.
        let clock = self.settings.play_clock.min(Duration::from_secs(1));
        self.table.ask(requests, clock, &StopFlag::new());

        if is_terminal {
            let goals = roles(self.game).map(|role| self.machine.goal(role));
            let goals: Option<Vec<u8>> = goals.map(|goal| Some(goal?.value())).collect();
            self.record.goal_values = goals;
        }
        self.record.is_completed = is_terminal;
        self.record.is_aborted = !is_terminal;
        self.details.ending = ending;
        self.record.agon = Some(self.details);
        self.record
    }

    /// A number below `n`, by the high half of a product.
    fn draw(&mut self, n: usize) -> usize {
        ((u64::from(self.rng.next_u32()) * n as u64) >> 32) as usize
    }
}

fn roles(game: &Game) -> impl Iterator<Item = RoleId> + use<> {
    RoleId::all(game.n_roles())
}

/// Terms of a game are terms; a name that is none on the wire is sent as far as it goes.
fn term(text: &str) -> Term {
    Term::read(text).unwrap_or_else(|_| Term::read("nil").expect("it is a name"))
}

/// A state as records have it.
pub(crate) fn state_text(game: &Game, state: &State) -> String {
    let spaced =
        |text: &String| Term::read(text).map_or_else(|_| text.clone(), |term| term.spaced());
    let fluents: Vec<String> = game.fluents(state).iter().map(spaced).collect();
    match fluents.as_slice() {
        [] => "( )".to_owned(),
        fluents => format!("( {} )", fluents.join(" ")),
    }
}

fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_millis() as u64
}

/// Letters and digits as other managers have them.
fn token(seed: u64) -> String {
    const SIGNS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut sign = || char::from(SIGNS[rng.next_u32() as usize % SIGNS.len()]);
    (0..32).map(|_| sign()).collect()
}
