//! Plays one match of a cell.
//!
//! If all players are presets, their bots are asked one after the other on this thread. They need no clock, so one match per
//! core can run at a time. If there is a remote player, the referee hosts the match with threads and clocks, and presets
//! keep their own budget within the clocks.
//!
//! In: a cell and the number of a match. Out: its result with a row per move, or why it is void, or that it was stopped.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use agon_arena::{About, Ending, MatchRecord, Referee, Seat, Settings};
use agon_engine::{Goal, JointMove, Machine, MoveId, RoleId, State};
use agon_player::GamePlayer;
use agon_protocol::http::RemotePlayer;
use agon_protocol::{MatchId, StopFlag};
use agon_search::{Bot, Decision, Preset};

use crate::budget::Budget;
use crate::cell::Cell;
use crate::entrant::Entrant;
use crate::result::{MatchResult, MoveRow, Work};

/// A match ends after this number of steps: a game may never end by its rules.
const MOST_STEPS: u32 = 10_000;
/// How much later than the clock an answer of a remote player may arrive, as with other managers.
const GRACE: Duration = Duration::from_secs(1);
/// Default clocks of remote players. The protocol has whole seconds only.
const START_CLOCK: f64 = 10.0;
const PLAY_CLOCK: f64 = 1.0;
/// The techniques whose reports tables need.
const NOTED: &[&str] = &["cutoff", "fast", "heuristic"];
/// The beginning of the report of a technique that has not decided yet.
const UNDECIDED: &str = "watching";
/// The technique whose report changes from move to move.
const CHANGING: &str = "heuristic";

/// A finished match with its moves.
pub(crate) struct Bout {
    pub(crate) result: MatchResult,
    pub(crate) moves: Vec<MoveRow>,
}

/// What became of a match.
pub(crate) enum Played {
    /// It has a result.
    Finished(Box<Bout>),
    /// It does not count, because of these players.
    Void(Vec<Absent>),
    /// It was stopped.
    Stopped,
}

/// A player because of which a match is void.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Absent {
    pub(crate) player: String,
    pub(crate) cause: String,
}

/// Plays a match.
pub(crate) fn play(cell: &Cell, index: u32, stop: &StopFlag) -> Played {
    match cell.addresses().next() {
        None => match Table::new(cell, index).play(stop) {
            Some(bout) => Played::Finished(Box::new(bout)),
            None => Played::Stopped,
        },
        Some(_) => host(cell, index, stop),
    }
}

/// The clocks of a match with remote players, in whole seconds.
pub(crate) fn remote_clocks(cell: &Cell) -> (f64, f64) {
    let own = match cell.budget {
        Budget::Seconds(seconds) => seconds,
        _ => PLAY_CLOCK,
    };
    let whole = |seconds: f64| seconds.ceil().max(1.0);
    (
        whole(cell.terms.start_clock.unwrap_or(START_CLOCK)),
        whole(cell.terms.play_clock.unwrap_or(own)),
    )
}

/// A result that is not known yet.
fn begin(cell: &Cell, index: u32) -> MatchResult {
    MatchResult {
        fixture: cell.fixture(index),
        seats: cell.seating(index).to_vec(),
        goals: vec![None; cell.sheet.game.n_roles()],
        steps: 0,
        ending: String::new(),
        work: [Work::default(); 2],
        faults: [0, 0],
        fault_kinds: Default::default(),
        forfeits: [0, 0],
        notes: Default::default(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        finished: 0,
    }
}

fn seconds_since_1970() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

/// A match of bots on one thread.
struct Table<'a> {
    cell: &'a Cell,
    bots: Vec<Box<dyn Bot>>,
    machine: Box<dyn Machine + Send>,
    result: MatchResult,
    moves: Vec<MoveRow>,
}

impl Table<'_> {
    fn new(cell: &Cell, index: u32) -> Table<'_> {
        let game = &cell.sheet.game;
        let mut result = begin(cell, index);
        let mut bots = Vec::new();
        for (role_idx, &seat) in cell.seating(index).iter().enumerate() {
            let started = Instant::now();
            let seed = cell.seat_seed(index, role_idx);
            bots.push(match cell.entrant(seat) {
                Entrant::Preset(preset) => preset.bot(game, seed),
                Entrant::Remote(_) => unreachable!("the referee hosts matches with remote players"),
            });
            result.work[usize::from(seat)].setup += started.elapsed().as_secs_f64();
        }
        Table {
            cell,
            bots,
            machine: game.machine(),
            result,
            moves: Vec::new(),
        }
    }

    fn play(mut self, stop: &StopFlag) -> Option<Bout> {
        self.prepare(stop);
        let ending = loop {
            if self.machine.is_terminal() {
                break "over".to_owned();
            }
            if self.result.steps >= MOST_STEPS {
                break Ending::StepLimit.to_string();
            }
            let joint = self.joint_move(stop);
            if stop.is_raised() {
                return None;
            }
            match joint {
                Ok(joint) => self.advance(&joint),
                Err(reason) => break reason,
            }
        };
        if let Some(fault) = self.machine.take_fault() {
            let reason = fault.to_string();
            self.result.ending = Ending::EngineFault { reason }.to_string();
        } else {
            if ending == "over" {
                let roles = RoleId::all(self.bots.len());
                let goals = roles.map(|role| self.machine.goal(role).map(Goal::value));
                self.result.goals = goals.collect();
            }
            self.result.ending = ending;
        }
        self.result.finished = seconds_since_1970();
        Some(Bout {
            result: self.result,
            moves: self.moves,
        })
    }

    /// Lets the bots search during the start clock, if there is one.
    fn prepare(&mut self, stop: &StopFlag) {
        let Some(clock) = self.result.fixture.start_clock.filter(|clock| *clock > 0.0) else {
            return;
        };
        let state = self.machine.state();
        for role in RoleId::all(self.bots.len()) {
            if self.machine.is_terminal() || self.machine.legal_moves(role).is_empty() {
                return;
            }
            let limits = Budget::Seconds(clock).limits(stop.as_atomic());
            self.bots[role.idx()].think(&state, role, &limits, &mut |_| {});
        }
    }

    /// Asks every bot for a move. The error is the ending if a role has no legal move.
    fn joint_move(&mut self, stop: &StopFlag) -> Result<JointMove, String> {
        let state = self.machine.state();
        let n_roles = self.bots.len();
        let mut joint = Vec::with_capacity(n_roles);
        for role in RoleId::all(n_roles) {
            let (n_legal, only) = match self.machine.legal_moves(role) {
                [] => {
                    let role = self.cell.sheet.game.role_name(role);
                    return Err(Ending::NoLegalMove { role }.to_string());
                }
                [only] => (1, Some(*only)),
                moves => (moves.len() as u32, None),
            };
            joint.push(match only {
                Some(only) => only,
                None => self.ask(role, &state, n_legal, stop),
            });
        }
        Ok(JointMove::new(joint))
    }

    fn ask(&mut self, role: RoleId, state: &State, n_legal: u32, stop: &StopFlag) -> MoveId {
        let limits = self.cell.budget.limits(stop.as_atomic());
        let decision = self.bots[role.idx()].think(state, role, &limits, &mut |_| {});
        let seat = self.result.seats[role.idx()];
        self.take_notes(role, seat);
        let row = self.row(role, seat, n_legal, &decision);
        let work = &mut self.result.work[usize::from(seat)];
        work.searches += 1;
        work.playouts += row.playouts;
        work.transitions += row.transitions;
        work.seconds += row.seconds;
        self.moves.push(row);
        decision.of
    }

    fn row(&self, role: RoleId, seat: u8, n_legal: u32, decision: &Decision) -> MoveRow {
        let report = &decision.report;
        let game = &self.cell.sheet.game;
        MoveRow {
            step: self.result.steps + 1,
            role: game.role_name(role),
            seat,
            of: game.move_text(role, decision.of),
            legal: Some(n_legal),
            playouts: report.playouts,
            transitions: report.transitions,
            seconds: report.time.as_secs_f64(),
            value: report.value,
        }
    }

    /// Keeps the reports of the techniques of a bot, if they may have changed.
    fn take_notes(&mut self, role: RoleId, seat: u8) {
        let noted = &mut self.result.notes[usize::from(seat)];
        let is_settled = |notes: &BTreeMap<String, String>| {
            let is_open = notes.values().any(|note| note.starts_with(UNDECIDED));
            !is_open && !notes.contains_key(CHANGING)
        };
        let is_first = !self.moves.iter().any(|row| row.seat == seat);
        if !is_first && is_settled(noted) {
            return;
        }
        let account = self.bots[role.idx()].account();
        let notes = account.map(|account| account.notes).unwrap_or_default();
        for (technique, note) in notes {
            if NOTED.contains(&technique) {
                noted.insert(technique.to_owned(), note);
            }
        }
    }

    fn advance(&mut self, joint: &JointMove) {
        self.machine.advance(joint);
        let next = self.machine.state();
        for bot in &mut self.bots {
            bot.played(joint, &next);
        }
        self.result.steps += 1;
    }
}

/// A match with remote players, hosted by the referee.
fn host(cell: &Cell, index: u32, stop: &StopFlag) -> Played {
    let (start_clock, play_clock) = remote_clocks(cell);
    let game = &cell.sheet.game;
    let result = begin(cell, index);
    let started = SystemTime::now();
    let millis = started.duration_since(UNIX_EPOCH).unwrap_or_default();
    let word = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let name = cell.sheet.name.replace(word, "-");
    let id = format!("agon.{name}.{}.{index}", millis.as_millis());
    let settings = Settings {
        id: MatchId::new(&id).expect("letters, digits and dots are a word"),
        game: cell.sheet.name.clone(),
        start_clock: Duration::from_secs_f64(start_clock),
        play_clock: Duration::from_secs_f64(play_clock),
        seed: cell.seat_seed(index, game.n_roles()),
        started,
        most_steps: MOST_STEPS,
        keep_rules: false,
        tournament: None,
        scrambled: false,
        stop: stop.clone(),
    };
    let seat = |(role_idx, seat): (usize, &u8)| match cell.entrant(*seat) {
        Entrant::Preset(preset) => preset_seat(cell, preset, cell.seat_seed(index, role_idx)),
        Entrant::Remote(address) => remote_seat(address),
    };
    let seats = result.seats.iter().enumerate().map(seat).collect();
    let record = Referee::play(game, seats, &settings, &mut |_| {});
    if stop.is_raised() {
        return Played::Stopped;
    }
    let absent: Vec<Absent> = record
        .absences()
        .iter()
        .map(|absence| Absent {
            player: absence.player.clone(),
            cause: absence.cause.clone(),
        })
        .collect();
    match absent.is_empty() {
        true => Played::Finished(Box::new(read_record(result, &record))),
        false => Played::Void(absent),
    }
}

fn preset_seat(cell: &Cell, preset: &Preset, seed: u64) -> Seat {
    let mut budget = agon_player::Budget {
        playouts: cell.budget.most_playouts(),
        ..agon_player::Budget::default()
    };
    match cell.budget {
        Budget::Playouts(_) => {}
        Budget::Transitions(n) => budget.transitions = Some(n),
        Budget::Seconds(seconds) => budget.time = Some(Duration::from_secs_f64(seconds)),
    }
    let settings = agon_player::Settings {
        name: preset.to_string(),
        budget,
        seed,
        ..agon_player::Settings::default()
    };
    let about = About {
        name: preset.to_string(),
        seed: Some(seed),
        ..About::default()
    };
    let player = GamePlayer::new(preset.clone(), settings);
    let player = player.knowing(Arc::clone(&cell.sheet.game));
    Seat::new(Box::new(player), about)
}

fn remote_seat(address: &str) -> Seat {
    let about = About {
        name: address.to_owned(),
        ..About::default()
    };
    let remote = RemotePlayer::new(address).expect("the plan was read with this address");
    Seat {
        grace: GRACE,
        ..Seat::new(Box::new(remote), about)
    }
}

/// The result of a match by its record.
fn read_record(mut result: MatchResult, record: &MatchRecord) -> Bout {
    let mut moves = Vec::new();
    result.steps = record.moves.len() as u32;
    if let Some(goals) = &record.goal_values {
        result.goals = goals.iter().map(|goal| Some(*goal)).collect();
    }
    for (role_idx, seat) in result.seats.iter().enumerate() {
        let player = usize::from(*seat);
        let faults = record.faults(role_idx);
        result.faults[player] += faults.total();
        result.fault_kinds[player].merge(faults);
        result.forfeits[player] += u32::from(record.has_forfeited(role_idx));
    }
    let Some(details) = &record.agon else {
        return Bout { result, moves };
    };
    result.ending = details.ending.to_string();
    for (step, thoughts) in details.thoughts.iter().enumerate() {
        let moved = thoughts.iter().zip(&record.moves[step]).enumerate();
        for (role_idx, (thought, mv)) in moved {
            let Some(thought) = thought else { continue };
            let seat = result.seats[role_idx];
            let work = &mut result.work[usize::from(seat)];
            work.searches += 1;
            work.playouts += thought.playouts;
            work.transitions += thought.transitions;
            work.seconds += thought.seconds;
            moves.push(MoveRow {
                step: step as u32 + 1,
                role: details.roles[role_idx].clone(),
                seat,
                of: mv.clone(),
                legal: None,
                playouts: thought.playouts,
                transitions: thought.transitions,
                seconds: thought.seconds,
                value: thought.value,
            });
        }
    }
    result.finished = seconds_since_1970();
    Bout { result, moves }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::tests::cell;

    #[test]
    fn the_same_match_is_played_again() {
        let cell = cell("mc", "random", 4);
        let play = |index| match play(&cell, index, &StopFlag::new()) {
            Played::Finished(bout) => *bout,
            _ => panic!("nobody stops it"),
        };
        for index in 0..4 {
            let (one, two) = (play(index), play(index));
            assert_eq!(one.result.goals, two.result.goals);
            assert_eq!(one.result.ending, "over");
            assert_eq!(one.result.seats, cell.seating(index));
            let texts = |bout: &Bout| -> Vec<String> {
                bout.moves.iter().map(|row| row.of.clone()).collect()
            };
            assert_eq!(texts(&one), texts(&two));
            assert_eq!((one.moves.len(), one.result.steps), (4, 2));
            assert_eq!(one.result.work[0].playouts, 40);
        }
    }

    #[test]
    fn a_match_can_be_stopped() {
        let stop = StopFlag::new();
        stop.raise();
        let played = play(&cell("mc", "random", 4), 0, &stop);
        assert!(matches!(played, Played::Stopped));
    }

    /// Two players that move once; the second forfeits in its first step.
    #[test]
    fn faults_and_forfeits_belong_to_players() {
        let cell = cell("mc", "http://127.0.0.1:1", 2);
        // In match 1 the second player has the first role.
        let json = r#"{"states":["( )","( )"],"moves":[["left","left"]],"errors":[["",""],["CE",""]],
            "goalValues":[0,100],"isCompleted":true,"agon":{"version":"0","game":"g","rulesHash":"h",
            "roles":["x","y"],"seed":1,"ending":{"kind":"forfeit","roles":["x"]},"seats":[],"thoughts":[],
            "faults":[{"step":1,"role":"x","kind":"refused","detail":""}],
            "forfeits":[{"step":1,"role":"x","cause":"connection refused"}]}}"#;
        let record: MatchRecord = serde_json::from_str(json).expect("it is a record");
        let bout = read_record(begin(&cell, 1), &record);
        assert_eq!(bout.result.forfeits, [0, 1]);
        assert_eq!(bout.result.faults, [0, 1]);
        assert_eq!(bout.result.fault_kinds[1].missing, 1);
        assert_eq!(bout.result.goal(true), Some(100.0));
        assert_eq!(bout.result.ending, "forfeited by x");
    }

    #[test]
    fn an_absent_player_makes_a_match_void() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a port");
        let port = listener.local_addr().expect("it has one").port();
        drop(listener);
        let address = format!("http://127.0.0.1:{port}");
        let played = play(&cell("mc", &address, 2), 0, &StopFlag::new());
        let Played::Void(absent) = played else {
            panic!("nobody is there");
        };
        assert_eq!(absent.len(), 1);
        assert_eq!(absent[0].player, address);
        assert_eq!(absent[0].cause, "connection refused");
    }

    #[test]
    fn remote_players_have_whole_clocks() {
        let mut cell = cell("mc", "http://127.0.0.1:1", 2);
        assert_eq!(remote_clocks(&cell), (3.0, 2.0));
        cell.terms.play_clock = None;
        assert_eq!(remote_clocks(&cell), (3.0, 1.0));
        cell.budget = Budget::Seconds(1.5);
        cell.terms.start_clock = None;
        assert_eq!(remote_clocks(&cell), (10.0, 2.0));
    }
}
