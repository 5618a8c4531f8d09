//! Plays one match of a cell.
//!
//! Where all players are of this process, their bots are asked one after the other on this thread: nobody needs a clock, and
//! so many matches can run at a time as there are cores. Where somebody plays elsewhere, the referee hosts the match with
//! threads and clocks, and players of this process keep their own budget within them.
//!
//! In: a cell and the number of a match. Out: its result and a row per move; nothing if somebody stopped it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use agon_arena::{About, MatchRecord, Referee, Seat, Settings};
use agon_engine::{Goal, JointMove, Machine, MoveId, RoleId, State};
use agon_player::GamePlayer;
use agon_protocol::http::RemotePlayer;
use agon_protocol::{MatchId, StopFlag};
use agon_search::{Bot, Decision, Preset};

use crate::budget::Budget;
use crate::cell::Cell;
use crate::entrant::Entrant;
use crate::result::{MatchResult, MoveRow, Work};

/// A match with more steps is cut: the sheet may never end.
const MOST_STEPS: u32 = 10_000;
/// Answers from elsewhere may come so much after the clock, as with other managers.
const GRACE: Duration = Duration::from_secs(1);
/// Clocks of players elsewhere if nothing is said: whole seconds is all they know.
const START_CLOCK: f64 = 10.0;
const PLAY_CLOCK: f64 = 1.0;
/// What parts of players say that tables need.
const NOTED: &[&str] = &["cutoff", "fast", "heuristic"];
/// A part that says so has not made up its mind.
const UNDECIDED: &str = "watching";
/// A part that changes what it says from move to move.
const CHANGING: &str = "heuristic";

/// A match that was played, with its moves.
pub(crate) struct Bout {
    pub(crate) result: MatchResult,
    pub(crate) moves: Vec<MoveRow>,
}

/// Plays a match; `None` if it was stopped.
pub(crate) fn play(cell: &Cell, index: u32, stop: &StopFlag) -> Option<Bout> {
    match cell.addresses().next() {
        None => Table::new(cell, index).play(stop),
        Some(_) => host(cell, index, stop),
    }
}

/// The clocks of a match with players elsewhere, in whole seconds.
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

/// A result without what came of it.
fn begin(cell: &Cell, index: u32) -> MatchResult {
    MatchResult {
        fixture: cell.fixture(index),
        seats: cell.seating(index).to_vec(),
        goals: vec![None; cell.sheet.game.n_roles()],
        steps: 0,
        ending: String::new(),
        work: [Work::default(); 2],
        faults: [0, 0],
        notes: Default::default(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        finished: 0,
    }
}

fn seconds_since_1970() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

/// A match of bots around one table.
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
                Entrant::Remote(_) => unreachable!("the referee hosts players elsewhere"),
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
                break "it does not end".to_owned();
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
            self.result.ending = format!("the engine gave up: {fault}");
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

    /// With a clock there is time to prepare, too.
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

    /// Asks everybody for a move, or says who has none.
    fn joint_move(&mut self, stop: &StopFlag) -> Result<JointMove, String> {
        let state = self.machine.state();
        let n_roles = self.bots.len();
        let mut joint = Vec::with_capacity(n_roles);
        for role in RoleId::all(n_roles) {
            let (n_legal, only) = match self.machine.legal_moves(role) {
                [] => {
                    let role = self.cell.sheet.game.role_name(role);
                    return Err(format!("{role} has no legal move"));
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

    /// Listens to a bot whose parts may have something new to say.
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
        for (part, note) in notes {
            if NOTED.contains(&part) {
                noted.insert(part.to_owned(), note);
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

/// A match with players elsewhere, hosted by the referee.
fn host(cell: &Cell, index: u32, stop: &StopFlag) -> Option<Bout> {
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
    (!stop.is_raised()).then(|| bout_of(result, &record))
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
    let remote = RemotePlayer::new(address).expect("its address was good when it was read");
    Seat {
        grace: GRACE,
        ..Seat::new(Box::new(remote), about)
    }
}

/// What a record says about a match.
fn bout_of(mut result: MatchResult, record: &MatchRecord) -> Bout {
    let mut moves = Vec::new();
    result.steps = record.moves.len() as u32;
    if let Some(goals) = &record.goal_values {
        result.goals = goals.iter().map(|goal| Some(*goal)).collect();
    }
    for (role_idx, seat) in result.seats.iter().enumerate() {
        result.faults[usize::from(*seat)] += record.n_errors(role_idx) as u32;
    }
    let Some(details) = &record.agon else {
        return Bout { result, moves };
    };
    result.ending = details.ending.to_string();
    for (step, thoughts) in details.thoughts.iter().enumerate() {
        let of_step = thoughts.iter().zip(&record.moves[step]).enumerate();
        for (role_idx, (thought, of)) in of_step {
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
                of: of.clone(),
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
        let play = |index| play(&cell, index, &StopFlag::new()).expect("nobody stops it");
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
    fn somebody_can_stop_it() {
        let stop = StopFlag::new();
        stop.raise();
        assert!(play(&cell("mc", "random", 4), 0, &stop).is_none());
    }

    #[test]
    fn players_elsewhere_have_whole_clocks() {
        let mut cell = cell("mc", "http://127.0.0.1:1", 2);
        assert_eq!(remote_clocks(&cell), (3.0, 2.0));
        cell.terms.play_clock = None;
        assert_eq!(remote_clocks(&cell), (3.0, 1.0));
        cell.budget = Budget::Seconds(1.5);
        cell.terms.start_clock = None;
        assert_eq!(remote_clocks(&cell), (10.0, 2.0));
    }
}
