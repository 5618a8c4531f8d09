//! Plays one match of a cell.
//!
//! If all players are presets, their bots are asked one after the other on this thread. They need no clock, so one match per
//! core can run at a time. If there is a remote player, or roles do not see everything, the referee hosts the match with threads and clocks, and presets
//! keep their own budget within the clocks.
//!
//! In: a cell and the number of a match. Out: its result with a row per move, or why it is void, or that it was stopped.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use agon_arena::{About, Ending, MatchRecord, Referee, Seat, Settings};
use agon_engine::{Game, Goal, JointMove, Machine, RoleId};
use agon_player::GamePlayer;
use agon_protocol::http::RemotePlayer;
use agon_protocol::{MatchId, PerceptForm, StopFlag};
use agon_search::{Bot, Decision, MatchEnd, Preset, Turn, play_match};
use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::cell::Cell;
use crate::entrant::Entrant;
use crate::result::{MatchResult, MoveRow, Work};

/// A match ends after this number of steps: a game may never end by its rules.
pub(crate) const MOST_STEPS: u32 = 10_000;
/// How much later than the clock an answer of a remote player may arrive, as with other managers.
const GRACE: Duration = Duration::from_secs(1);
/// Default clocks of remote players. The protocol has whole seconds only.
const START_CLOCK: f64 = 10.0;
const PLAY_CLOCK: f64 = 1.0;
/// The clock of players in this process, in seconds.
const WATCHDOG: f64 = 600.0;

/// A finished match with its moves.
pub struct FinishedMatch {
    /// Its result.
    pub result: MatchResult,
    /// The moves of players that had a choice.
    pub moves: Vec<MoveRow>,
}

/// What became of a match.
pub enum Played {
    /// It has a result.
    Finished(Box<FinishedMatch>),
    /// It does not count, because of these players.
    Void(Vec<Absent>),
    /// It was stopped.
    Stopped,
}

/// A player because of which a match is void.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Absent {
    /// The player.
    pub player: String,
    /// What is wrong with it.
    pub cause: String,
}

/// Plays a match.
#[must_use]
pub fn play(cell: &Cell, index: u32, stop: &StopFlag) -> Played {
    let is_hosted = cell.addresses().next().is_some() || cell.sheet.game.is_gdl2();
    match is_hosted {
        false => match play_here(cell, index, stop) {
            Some(finished) => Played::Finished(Box::new(finished)),
            None => Played::Stopped,
        },
        true => host(cell, index, stop),
    }
}

/// The clocks of a match with remote players, in whole seconds.
pub(crate) fn remote_clocks(cell: &Cell) -> (f64, f64) {
    let own = match cell.budget {
        Budget::Seconds(seconds) => seconds,
        Budget::Playouts(_) | Budget::Transitions(_) => PLAY_CLOCK,
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
        goals: vec![None; cell.sheet.game.playing_roles().count()],
        steps: 0,
        ending: String::new(),
        work: [Work::default(); 2],
        faults: [0, 0],
        fault_kinds: Default::default(),
        forfeits: [0, 0],
        techniques: Default::default(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        finished: 0,
        played_by: None,
    }
}

fn seconds_since_1970() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

/// A match of bots on this thread; `None` if it was stopped.
fn play_here(cell: &Cell, index: u32, stop: &StopFlag) -> Option<FinishedMatch> {
    let game = &cell.sheet.game;
    let mut finished = FinishedMatch {
        result: begin(cell, index),
        moves: Vec::new(),
    };
    let mut bots = make_bots(cell, index, &mut finished.result);
    let clock = finished.result.fixture.start_clock;
    let clock = clock.map(|clock| clock * cell.time_scale);
    prepare(game, &mut bots, clock, stop);
    let mut ask = |bot: &mut dyn Bot, turn: &Turn<'_>| {
        let seat = cell.seating(index)[turn.role.idx()];
        let limits = seat_budget(cell, seat).limits(stop.as_atomic());
        let decision = bot.think(turn.state, turn.role, &limits, &mut |_| {});
        finished.add(game, turn, bot, &decision);
        (!stop.is_raised()).then_some(decision.mv)
    };
    let mut played: Vec<JointMove> = Vec::new();
    let start = game.initial_state();
    let outcome = play_match(
        game,
        start,
        &mut bots,
        MOST_STEPS,
        &mut ask,
        &mut |joint, _| {
            played.push(joint.clone());
        },
    );
    let result = &mut finished.result;
    result.steps = outcome.steps;
    result.finished = seconds_since_1970();
    let ending = match outcome.end {
        MatchEnd::Stopped => return None,
        MatchEnd::Terminal => None,
        MatchEnd::StepLimit => Some(Ending::StepLimit),
        MatchEnd::NoLegalMove(role) => Some(Ending::NoLegalMove {
            role: game.role_name(role),
        }),
    };
    let fault = engine_fault(game, &played).map(|reason| Ending::EngineFault { reason });
    result.ending = match fault.or(ending) {
        Some(ending) => ending.to_string(),
        None => {
            let goals = outcome.goals.into_iter();
            result.goals = goals.map(|goal| goal.map(Goal::value)).collect();
            "over".to_owned()
        }
    };
    Some(finished)
}

fn make_bots(cell: &Cell, index: u32, result: &mut MatchResult) -> Vec<Box<dyn Bot>> {
    let mut bots = Vec::new();
    for (role_idx, &seat) in cell.seating(index).iter().enumerate() {
        let started = Instant::now();
        let seed = cell.seat_seed(index, role_idx);
        bots.push(match cell.entrant(seat) {
            Entrant::Preset(preset) | Entrant::Graded(preset, _) => {
                preset.bot(&cell.sheet.game, seed)
            }
            Entrant::Remote { .. } => unreachable!("the referee hosts matches with remote players"),
        });
        result.work[usize::from(seat)].setup += started.elapsed().as_secs_f64();
    }
    bots
}

/// Lets the bots search during the start clock, if there is one.
fn prepare(game: &Game, bots: &mut [Box<dyn Bot>], clock: Option<f64>, stop: &StopFlag) {
    let Some(clock) = clock.filter(|clock| *clock > 0.0) else {
        return;
    };
    let mut machine = game.machine();
    for (role, bot) in RoleId::all(bots.len()).zip(bots) {
        if machine.is_terminal() || machine.legal_moves(role).is_empty() {
            return;
        }
        let limits = Budget::Seconds(clock).limits(stop.as_atomic());
        bot.think(game.initial_state(), role, &limits, &mut |_| {});
    }
}

/// Why the engine gave a wrong answer in a match with these moves, if it did. Only the interpreter can fail.
pub(crate) fn engine_fault(game: &Game, played: &[JointMove]) -> Option<String> {
    if game.grounded().is_some() {
        return None;
    }
    let mut machine = game.machine();
    let look = |machine: &mut dyn Machine| {
        if machine.is_terminal() {
            game.roles().for_each(|role| _ = machine.goal(role));
        } else {
            game.roles().for_each(|role| _ = machine.legal_moves(role));
        }
    };
    look(&mut *machine);
    for joint in played {
        machine.advance(joint);
        look(&mut *machine);
    }
    machine.take_fault().map(|fault| fault.to_string())
}

impl FinishedMatch {
    /// Adds a search.
    fn add(&mut self, game: &Game, turn: &Turn<'_>, bot: &dyn Bot, decision: &Decision) {
        let seat = self.result.seats[turn.role.idx()];
        let report = &decision.report;
        let work = &mut self.result.work[usize::from(seat)];
        work.searches += 1;
        work.playouts += report.playouts;
        work.transitions += report.transitions;
        work.seconds += report.time.as_secs_f64();
        let techniques = &mut self.result.techniques[usize::from(seat)];
        let is_first = !self.moves.iter().any(|row| row.seat == seat);
        if is_first || !techniques.is_settled() {
            bot.account()
                .iter()
                .for_each(|account| techniques.update(account));
        }
        self.moves.push(MoveRow {
            step: turn.step + 1,
            role: game.role_name(turn.role),
            seat,
            mv: game.move_text(turn.role, decision.mv),
            legal: Some(turn.n_legal as u32),
            playouts: report.playouts,
            transitions: report.transitions,
            seconds: report.time.as_secs_f64(),
            value: report.value,
        });
    }
}

/// A match with remote players or with hidden information, hosted by the referee.
fn host(cell: &Cell, index: u32, stop: &StopFlag) -> Played {
    let (start_clock, play_clock) = match cell.addresses().next() {
        Some(_) => remote_clocks(cell),
        // The budget of the players ends their searches; the clock only stops a player that hangs.
        None => (WATCHDOG, WATCHDOG),
    };
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
        chance_seed: cell.chance_seed(index),
        percept_form: PerceptForm::default(),
        started,
        most_steps: MOST_STEPS,
        keep_rules: false,
        tournament: None,
        scrambled: false,
        stop: stop.clone(),
    };
    let seat = |(role_idx, seat): (usize, &u8)| match cell.entrant(*seat) {
        Entrant::Preset(preset) | Entrant::Graded(preset, _) => {
            let budget = seat_budget(cell, *seat);
            preset_seat(cell, budget, preset, cell.seat_seed(index, role_idx))
        }
        Entrant::Remote { address, secret } => remote_seat(address, secret.as_deref()),
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

/// What a player may spend on a move: its own playouts, or else the budget of the cell.
fn seat_budget(cell: &Cell, seat: u8) -> Budget {
    match cell.entrant(seat).playouts() {
        Some(playouts) => Budget::Playouts(playouts),
        None => cell.budget.scaled(cell.time_scale),
    }
}

fn preset_seat(cell: &Cell, own: Budget, preset: &Preset, seed: u64) -> Seat {
    let mut budget = agon_player::Budget {
        playouts: own.most_playouts(),
        ..agon_player::Budget::default()
    };
    match own {
        Budget::Playouts(_) => {}
        Budget::Transitions(n) => budget.transitions = Some(n),
        Budget::Seconds(seconds) => budget.time = Some(Duration::from_secs_f64(seconds)),
    }
    let settings = agon_player::Settings {
        name: preset.to_string(),
        budget,
        seed,
        // Without remote players nobody thinks in the time of others, so that matches can be repeated.
        ponders: cell.addresses().next().is_some(),
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

fn remote_seat(address: &str, secret: Option<&str>) -> Seat {
    let about = About {
        name: address.to_owned(),
        ..About::default()
    };
    let mut remote = RemotePlayer::new(address).expect("the plan was read with this address");
    if let Some(secret) = secret {
        remote = remote.with_secret(secret);
    }
    Seat {
        grace: GRACE,
        ..Seat::new(Box::new(remote), about)
    }
}

/// The indexes of the roles that players took, in order.
fn playing_roles(record: &MatchRecord, n_players: usize) -> Vec<usize> {
    let details = record.agon.as_ref();
    let random = details.and_then(|details| {
        let random = details.random.as_ref()?;
        details.roles.iter().position(|role| role == random)
    });
    let all = (0..).filter(|&role_idx| Some(role_idx) != random);
    all.take(n_players).collect()
}

/// The result of a match by its record.
fn read_record(mut result: MatchResult, record: &MatchRecord) -> FinishedMatch {
    let mut moves = Vec::new();
    result.steps = record.moves.len() as u32;
    let playing = playing_roles(record, result.seats.len());
    if let Some(goals) = &record.goal_values {
        let goals = playing.iter().map(|&role_idx| goals.get(role_idx).copied());
        result.goals = goals.collect();
    }
    for (&role_idx, seat) in playing.iter().zip(&result.seats) {
        let player = usize::from(*seat);
        let faults = record.faults(role_idx);
        result.faults[player] += faults.total();
        result.fault_kinds[player].merge(faults);
        result.forfeits[player] += u32::from(record.has_forfeited(role_idx));
    }
    let Some(details) = &record.agon else {
        return FinishedMatch { result, moves };
    };
    result.ending = details.ending.to_string();
    for (step, thoughts) in details.thoughts.iter().enumerate() {
        let moved = thoughts.iter().zip(&record.moves[step]).enumerate();
        for (role_idx, (thought, mv)) in moved {
            let place = playing.iter().position(|&playing| playing == role_idx);
            let Some((thought, place)) = thought.as_ref().zip(place) else {
                continue;
            };
            let seat = result.seats[place];
            let work = &mut result.work[usize::from(seat)];
            work.searches += 1;
            work.playouts += thought.playouts;
            work.transitions += thought.transitions;
            work.seconds += thought.seconds;
            moves.push(MoveRow {
                step: step as u32 + 1,
                role: details.roles[role_idx].clone(),
                seat,
                mv: mv.clone(),
                legal: None,
                playouts: thought.playouts,
                transitions: thought.transitions,
                seconds: thought.seconds,
                value: thought.value,
            });
        }
    }
    result.finished = seconds_since_1970();
    FinishedMatch { result, moves }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::tests::cell;

    #[test]
    fn the_same_match_is_played_again() {
        let cell = cell("mc", "random", 4);
        let play = |index| match play(&cell, index, &StopFlag::new()) {
            Played::Finished(finished) => *finished,
            _ => panic!("nobody stops it"),
        };
        for index in 0..4 {
            let (one, two) = (play(index), play(index));
            assert_eq!(one.result.goals, two.result.goals);
            assert_eq!(one.result.ending, "over");
            assert_eq!(one.result.seats, cell.seating(index));
            let texts = |finished: &FinishedMatch| -> Vec<String> {
                finished.moves.iter().map(|row| row.mv.clone()).collect()
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
        let finished = read_record(begin(&cell, 1), &record);
        assert_eq!(finished.result.forfeits, [0, 1]);
        assert_eq!(finished.result.faults, [0, 1]);
        assert_eq!(finished.result.fault_kinds[1].missing, 1);
        assert_eq!(finished.result.goal(true), Some(100.0));
        assert_eq!(finished.result.ending, "forfeited by x");
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
