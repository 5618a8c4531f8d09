//! Plays one match: asks all seats at the same time, judges their answers and records them.
//!
//! A missing or illegal answer is replaced by a legal move that the referee draws, and recorded as a fault. A match with a
//! player that does not answer START is void. A player that stops answering forfeits: three answers in a row are missing,
//! its connection is refused, or it makes no legal move in the whole match. It gets the lowest goal of its role. In games
//! of one or two roles the match ends then, and the other role gets its highest goal. In larger games the other roles play
//! on. If all players of a match stop answering, it is void. `docs/MATCHES.md` has the rules in full.
//!
//! In a game of GDL-II the referee draws the moves of chance, and tells each player only what its role sees.
//!
//! In: a game, a seat per role, settings. Out: a [`MatchRecord`], always.
//! Not here: threads and deadlines (`table`), the judgement of an answer (`judge`).

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use agon_engine::{Game, Goal, JointMove, Machine, MoveId, RoleId, State};
use agon_protocol::{MatchId, PerceptForm, Player, Reply, Request, StopFlag, Term, Turn};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::judge::{Fault, is_absent, judge_move, judge_start};
use crate::record::{
    Absence, Details, Ending, FaultKind, FaultRecord, ForfeitRecord, MatchRecord, SeatRecord,
    ThoughtRecord, rules_hash,
};
use crate::seat::{About, Seat};
use crate::table::Table;

/// A player forfeits when this number of answers in a row is missing.
const MISSING_ANSWERS: u32 = 3;

/// How a match is played.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The name of the match.
    pub id: MatchId,
    /// The name of the game, for the record.
    pub game: String,
    /// Time to prepare.
    pub start_clock: Duration,
    /// Time for each move.
    pub play_clock: Duration,
    /// Seed of the moves that the referee draws in place of missing ones.
    pub seed: u64,
    /// Seed of the moves of chance in games of GDL-II.
    pub chance_seed: u64,
    /// How players are told what they saw in games of GDL-II.
    pub percept_form: PerceptForm,
    /// When the match begins, for the record.
    pub started: SystemTime,
    /// The match ends after this number of steps: a game may never end by its rules.
    pub most_steps: u32,
    /// Whether the record has the rulesheet.
    pub keep_rules: bool,
    /// The tournament of the match.
    pub tournament: Option<String>,
    /// Whether some players get the rules with made-up names, for the record.
    pub scrambled: bool,
    /// Interrupts the match when it is raised.
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
            chance_seed: 1,
            percept_form: PerceptForm::default(),
            started,
            most_steps: MOST_STEPS,
            keep_rules: true,
            tournament: None,
            scrambled: false,
            stop: StopFlag::new(),
        }
    }
}

/// What an observer is told.
#[derive(Debug)]
pub enum Event<'a> {
    /// The match is in this state, the initial one with step 0.
    State {
        /// Number of steps so far.
        step: usize,
        /// The state.
        state: &'a State,
    },
    /// All roles have moved.
    Moved {
        /// Number of the step, from 1.
        step: usize,
        /// The moves in the order of the roles.
        moves: &'a [String],
        /// The fault of each role; empty if there is none.
        errors: &'a [String],
        /// The search statistics of each role, where the player gave them.
        thoughts: &'a [Option<ThoughtRecord>],
    },
}

/// Plays matches.
pub struct Referee;

impl Referee {
    /// Plays a match with a seat for each role that players take ([`Game::playing_roles`]), in order. The referee plays
    /// chance itself, and tells each player of a game of GDL-II only what its role sees.
    ///
    /// # Panics
    /// If the number of seats is not the number of these roles.
    #[must_use]
    pub fn play(
        game: &Arc<Game>,
        seats: Vec<Seat>,
        settings: &Settings,
        watch: &mut dyn FnMut(&Event<'_>),
    ) -> MatchRecord {
        let n_players = game.playing_roles().count();
        assert_eq!(seats.len(), n_players, "each role has its seat");
        let seats = with_chance(game, seats);
        let (record, details) = begin(game, &seats, settings);
        let mut ongoing = Ongoing {
            game,
            settings,
            attendance: seats.iter().map(|_| Attendance::default()).collect(),
            table: Table::new(seats),
            machine: game.machine(),
            rng: Xoshiro256PlusPlus::seed_from_u64(settings.seed),
            began: Instant::now(),
            last: None,
            seen: Vec::new(),
            record,
            details,
        };
        let ending = ongoing.play(watch);
        ongoing.finish(ending)
    }
}

/// The seats of all roles. Nobody sits on the seat of chance.
fn with_chance(game: &Game, mut seats: Vec<Seat>) -> Vec<Seat> {
    if let Some(random) = game.random_role() {
        let about = About::named(&game.role_name(random));
        seats.insert(random.idx(), Seat::new(Box::new(Nobody), about));
    }
    seats
}

/// The player of chance, who is never asked: the referee draws its moves.
struct Nobody;

impl Player for Nobody {
    fn answer(&mut self, _request: Request, _stop: &StopFlag) -> Reply {
        Reply::Nil
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
    let seat_record = |seat: &Seat| SeatRecord {
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
        seats: seats.iter().map(seat_record).collect(),
        faults: Vec::new(),
        forfeits: Vec::new(),
        thoughts: Vec::new(),
        random: game.random_role().map(|role| game.role_name(role)),
        chance_seed: game.random_role().map(|_| settings.chance_seed),
        percepts: Vec::new(),
    };
    (record, details)
}

/// How a player has answered so far.
#[derive(Default)]
struct Attendance {
    /// Answers in a row that are missing.
    n_missing: u32,
    /// Whether it has made a legal move.
    has_moved: bool,
    has_forfeited: bool,
}

/// A match in progress.
struct Ongoing<'a> {
    // Constant during the match.
    game: &'a Game,
    settings: &'a Settings,
    began: Instant,
    // Changes with every step.
    attendance: Vec<Attendance>,
    table: Table,
    machine: Box<dyn Machine>,
    rng: Xoshiro256PlusPlus,
    last: Option<Vec<Term>>,
    /// Per role: what it saw in the last step; empty in GDL-I.
    seen: Vec<Vec<Term>>,
    record: MatchRecord,
    details: Details,
}

impl Ongoing<'_> {
    fn play(&mut self, watch: &mut dyn FnMut(&Event<'_>)) -> Ending {
        if let Some(void) = self.start() {
            self.reach(&self.machine.state());
            return void;
        }
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
            if let Some(ending) = self.decided_by_forfeit() {
                return ending;
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

    /// Sends START and waits for the answers. The match is void if a player gives none.
    fn start(&mut self) -> Option<Ending> {
        let start = |role| Request::Start {
            id: self.settings.id.clone(),
            role: term(&self.game.role_name(role)),
            rules: Arc::clone(self.game.rules()),
            start_clock: self.settings.start_clock,
            play_clock: self.settings.play_clock,
        };
        let random = self.game.random_role();
        let start = |role| (Some(role) != random).then(|| start(role));
        let requests = roles(self.game).map(start).collect();
        let Settings {
            start_clock, stop, ..
        } = self.settings;
        let outcomes = self.table.ask(requests, *start_clock, stop, is_absent);
        let mut absences = Vec::new();
        let mut faults = Vec::new();
        for (role_idx, outcome) in outcomes.into_iter().enumerate() {
            if random.is_some_and(|random| random.idx() == role_idx) {
                faults.push(None);
                continue;
            }
            let is_absent = is_absent(&outcome);
            let fault = judge_start(outcome);
            if let Some(fault) = fault.as_ref().filter(|_| is_absent) {
                absences.push(self.absence(role_idx, fault.start_cause(*start_clock)));
                // Nobody is there to be told that the match is off.
                self.attendance[role_idx].has_forfeited = fault.kind == FaultKind::Refused;
            }
            faults.push(fault);
        }
        self.note(faults);
        (!absences.is_empty()).then_some(Ending::Void { absences })
    }

    fn absence(&self, role_idx: usize, cause: String) -> Absence {
        Absence {
            role: self.details.roles[role_idx].clone(),
            player: self.details.seats[role_idx].player.clone(),
            cause,
        }
    }

    /// Records a state.
    fn reach(&mut self, state: &State) {
        self.record.states.push(state_text(self.game, state));
        let passed = self.began.elapsed().as_millis() as u64;
        self.record
            .state_times
            .push(self.record.start_time + passed);
    }

    /// Whether forfeits end the match now. A match of two goes on while the other player is silent, too: it may be the
    /// network that fails.
    fn decided_by_forfeit(&self) -> Option<Ending> {
        let n_players = self.n_players();
        let forfeited = self.attendance.iter().filter(|seat| seat.has_forfeited);
        let n_forfeited = forfeited.count();
        let mut others = self.attendance.iter().filter(|seat| !seat.has_forfeited);
        // Chance may be alone: then nobody is there to forfeit.
        let is_over = n_players > 0 && n_forfeited == n_players
            || n_players == 2 && n_forfeited == 1 && others.all(|seat| seat.n_missing == 0);
        is_over.then(|| Ending::Forfeit {
            roles: self.forfeited_roles(),
        })
    }

    /// Number of roles that players take.
    fn n_players(&self) -> usize {
        self.game.playing_roles().count()
    }

    fn forfeited_roles(&self) -> Vec<String> {
        let forfeits = self.details.forfeits.iter();
        forfeits.map(|forfeit| forfeit.role.clone()).collect()
    }

    /// Asks all players for a move and records the answers.
    fn step(&mut self) -> Result<JointMove, Ending> {
        let legal = self.legal_moves()?;
        let play = |role: RoleId| {
            let (moves, turn) = self.news(role);
            self.is_asked(role).then(|| Request::Play {
                id: self.settings.id.clone(),
                moves,
                turn,
            })
        };
        let requests = roles(self.game).map(play).collect();
        let Settings {
            play_clock, stop, ..
        } = self.settings;
        let outcomes = self.table.ask(requests, *play_clock, stop, |_| false);
        if stop.is_raised() {
            return Err(Ending::Interrupted);
        }
        let mut joint = Vec::new();
        let (mut texts, mut faults, mut thoughts) = (Vec::new(), Vec::new(), Vec::new());
        for (role_idx, (outcome, legal)) in outcomes.into_iter().zip(&legal).enumerate() {
            if self
                .game
                .random_role()
                .is_some_and(|random| random.idx() == role_idx)
            {
                let (mv, text) = self.chance_move(legal);
                joint.push(mv);
                texts.push(term(text));
                faults.push(None);
                thoughts.push(None);
                continue;
            }
            let judged = judge_move(outcome, legal);
            self.attend(role_idx, judged.fault.as_ref());
            // Drawn for every seat, so that a fault of one seat does not change the moves of another.
            let drawn = &legal[self.draw(legal.len())];
            let chosen = judged
                .mv
                .and_then(|mv| legal.iter().find(|(id, _)| *id == mv));
            let (mv, text) = chosen.unwrap_or(drawn);
            joint.push(*mv);
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
        let joint = JointMove::new(joint);
        self.look(&joint)?;
        Ok(joint)
    }

    /// Whether a role has a player who still answers.
    fn is_asked(&self, role: RoleId) -> bool {
        Some(role) != self.game.random_role() && !self.attendance[role.idx()].has_forfeited
    }

    /// What a role is told about the last step: the joint move in GDL-I, and only what it saw in GDL-II.
    fn news(&self, role: RoleId) -> (Option<Vec<Term>>, Option<Turn>) {
        if !self.game.is_gdl2() {
            return (self.last.clone(), None);
        }
        let seen = self.seen.get(role.idx()).cloned();
        let turn = || Turn {
            number: self.record.moves.len() as u32,
            last_move: self.last.as_ref().map(|moves| moves[role.idx()].clone()),
        };
        let has_turn = self.settings.percept_form == PerceptForm::Turn;
        (seen, has_turn.then(turn))
    }

    /// The move of chance: all are equally likely. The draw depends only on the seed, the step and the texts of the moves.
    fn chance_move<'l>(&self, legal: &'l [(MoveId, String)]) -> (MoveId, &'l str) {
        let mut by_text: Vec<&(MoveId, String)> = legal.iter().collect();
        by_text.sort_by(|left, right| left.1.cmp(&right.1));
        let step = self.record.moves.len() as u64;
        let seed = self.settings.chance_seed ^ step.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mv, text) = by_text[below(&mut rng, by_text.len())];
        (*mv, text)
    }

    /// Finds out what each role sees of this joint move, in the order of the texts, which tells nothing else.
    fn look(&mut self, joint: &JointMove) -> Result<(), Ending> {
        if !self.game.is_gdl2() {
            return Ok(());
        }
        self.seen.clear();
        for role in roles(self.game) {
            let percepts = self.machine.percepts(role, joint).iter();
            let mut names: Vec<String> = percepts.map(|&id| self.game.percept_name(id)).collect();
            names.sort();
            self.seen
                .push(names.iter().map(|name| term(name)).collect());
        }
        if let Some(fault) = self.machine.take_fault() {
            let reason = fault.to_string();
            return Err(Ending::EngineFault { reason });
        }
        let spaced = |seen: &Vec<Term>| seen.iter().map(Term::spaced).collect();
        let row = self.seen.iter().map(spaced).collect();
        self.details.percepts.push(row);
        Ok(())
    }

    /// Notes whether a player answers; it forfeits if it stops doing so.
    fn attend(&mut self, role_idx: usize, fault: Option<&Fault>) {
        let seat = &mut self.attendance[role_idx];
        if seat.has_forfeited {
            return;
        }
        seat.has_moved |= fault.is_none();
        let is_missing = fault.is_some_and(|fault| fault.kind.is_missing());
        seat.n_missing = if is_missing { seat.n_missing + 1 } else { 0 };
        let step = self.record.moves.len() + 1;
        let is_refused = fault.is_some_and(|fault| fault.kind == FaultKind::Refused);
        if is_refused {
            self.forfeit(role_idx, step, "connection refused");
        } else if seat.n_missing >= MISSING_ANSWERS {
            self.forfeit(role_idx, step, "three answers in a row missing");
        }
    }

    fn forfeit(&mut self, role_idx: usize, step: usize, cause: &str) {
        self.attendance[role_idx].has_forfeited = true;
        self.details.forfeits.push(ForfeitRecord {
            step,
            role: self.details.roles[role_idx].clone(),
            cause: cause.to_owned(),
        });
    }

    /// The legal moves of each role with their texts.
    fn legal_moves(&mut self) -> Result<Vec<Vec<(MoveId, String)>>, Ending> {
        let mut all = Vec::with_capacity(self.game.n_roles());
        for role in roles(self.game) {
            let moves = self.machine.legal_moves(role).iter();
            let moves: Vec<(MoveId, String)> = moves
                .map(|&mv| (mv, self.game.move_text(role, mv)))
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

    /// Records a row of errors.
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

    /// Tells the players that the match is over and closes the record.
    fn finish(mut self, ending: Ending) -> MatchRecord {
        if ending == Ending::Terminal {
            self.find_idle_players();
        }
        let ending = self.void_if_all_forfeited(ending);
        self.say_goodbye(&ending);
        self.record.goal_values = self.goals(&ending);
        let has_result = matches!(ending, Ending::Terminal | Ending::Forfeit { .. });
        self.record.is_completed = has_result;
        self.record.is_aborted = !has_result;
        self.details.ending = ending;
        self.record.agon = Some(self.details);
        self.record
    }

    /// A player that made no legal move in the whole match forfeits: all its moves were drawn by the referee.
    fn find_idle_players(&mut self) {
        let step = self.record.moves.len();
        if step == 0 {
            return;
        }
        let random = self.game.random_role();
        for role in roles(self.game).filter(|&role| Some(role) != random) {
            let role_idx = role.idx();
            let seat = &self.attendance[role_idx];
            if !seat.has_moved && !seat.has_forfeited {
                self.forfeit(role_idx, step, "no legal move in the whole match");
            }
        }
    }

    /// Nobody wins a match that all players forfeited. A player alone gets the lowest goal.
    fn void_if_all_forfeited(&self, ending: Ending) -> Ending {
        let n_players = self.n_players();
        if n_players < 2 || self.details.forfeits.len() < n_players {
            return ending;
        }
        let forfeits = self.details.forfeits.iter();
        let absence = |forfeit: &ForfeitRecord| {
            let mut roles = self.details.roles.iter();
            let role_idx = roles.position(|role| *role == forfeit.role);
            self.absence(role_idx.unwrap_or(0), forfeit.cause.clone())
        };
        Ending::Void {
            absences: forfeits.map(absence).collect(),
        }
    }

    /// STOP after a terminal state, ABORT after any other. Players that have gone are not told.
    fn say_goodbye(&mut self, ending: &Ending) {
        let goodbye = |role: RoleId| {
            let id = self.settings.id.clone();
            let (moves, turn) = self.news(role);
            let request = match ending {
                Ending::Terminal => Request::Stop { id, moves, turn },
                _ => Request::Abort { id },
            };
            self.is_asked(role).then_some(request)
        };
        let requests = roles(self.game).map(goodbye).collect();
        // Nothing depends on the answer, so nobody is waited for longer than a second.
        let clock = self.settings.play_clock.min(Duration::from_secs(1));
        self.table.ask(requests, clock, &StopFlag::new(), |_| false);
    }

    /// The goal of each role, if the match has a result.
    fn goals(&mut self, ending: &Ending) -> Option<Vec<u8>> {
        let has_forfeited: Vec<bool> = {
            let forfeits = self.forfeited_roles();
            let roles = self.details.roles.iter();
            roles.map(|role| forfeits.contains(role)).collect()
        };
        match ending {
            Ending::Terminal | Ending::Forfeit { .. } => {
                goals_after(self.game, &mut *self.machine, &has_forfeited)
            }
            _ => None,
        }
    }

    /// The index of a move that the referee chooses.
    fn draw(&mut self, n: usize) -> usize {
        below(&mut self.rng, n)
    }
}

/// A number below `n`, by the high half of a product.
fn below(rng: &mut impl Rng, n: usize) -> usize {
    ((u64::from(rng.next_u32()) * n as u64) >> 32) as usize
}

fn roles(game: &Game) -> impl Iterator<Item = RoleId> + use<> {
    RoleId::all(game.n_roles())
}

/// The goals of a match in its last state, if the rules give them. A role that has forfeited gets its lowest goal. With
/// two players, the other one gets its highest. Chance needs no goal and gets 0 without one.
pub(crate) fn goals_after(
    game: &Game,
    machine: &mut dyn Machine,
    has_forfeited: &[bool],
) -> Option<Vec<u8>> {
    let is_decided = has_forfeited.contains(&true) && game.playing_roles().count() <= 2;
    let random = game.random_role();
    let goal = |role: RoleId| {
        if Some(role) == random {
            return machine.goal(role).or_else(|| Goal::new(0));
        }
        let (low, high) = game.goal_range(role);
        match has_forfeited[role.idx()] {
            true => Some(low),
            false if is_decided => Some(high),
            false => machine.goal(role),
        }
    };
    let goals = roles(game).map(goal);
    goals.map(|goal| Some(goal?.value())).collect()
}

/// A name of the game as a term; `nil` for a name that cannot be sent.
fn term(text: &str) -> Term {
    Term::read(text).unwrap_or_else(|_| Term::read("nil").expect("it is a name"))
}

/// A state in the form of match records.
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

/// A random token like those of other managers.
fn token(seed: u64) -> String {
    const SIGNS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut sign = || char::from(SIGNS[rng.next_u32() as usize % SIGNS.len()]);
    (0..32).map(|_| sign()).collect()
}
