//! The record of a match. Ratings, stores and pages read nothing else.
//!
//! The outer keys are those of other GGP managers, so that their viewers can show our matches and we can read theirs. Our
//! own data is under the key `agon`. `states`, `stateTimes` and `errors` have a row per state with the initial state first;
//! the first row of `errors` is about START. `moves` and `thoughts` have a row per step, one less.

use std::collections::BTreeMap;
use std::fmt;

use agon_protocol::Thought;
use serde::{Deserialize, Serialize, Serializer};

/// A match, finished or not.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MatchRecord {
    /// The name of the match.
    pub match_id: String,
    /// Random letters and digits that distinguish matches of the same name.
    pub random_token: String,
    /// When the match began, in milliseconds since 1970.
    pub start_time: u64,
    /// Address of the game description, if it is public.
    #[serde(rename = "gameMetaURL", skip_serializing_if = "Option::is_none")]
    pub game_meta_url: Option<String>,
    /// Whether it has a result: a terminal state or a forfeit ended it.
    pub is_completed: bool,
    /// Whether it ended without a result.
    pub is_aborted: bool,
    /// The fluents of each state: `( ( cell 1 1 b ) ( control x ) )`.
    pub states: Vec<String>,
    /// The moves of each step, in the order of the roles: `( mark 1 1 )`.
    pub moves: Vec<Vec<String>>,
    /// When each state was reached, in milliseconds since 1970.
    pub state_times: Vec<u64>,
    /// The fault of each role on the way to each state: empty, `TO`, `CE`, or `IL` with the answer.
    pub errors: Vec<Vec<String>>,
    /// The goal of each role, if the match has a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal_values: Option<Vec<u8>>,
    /// Seconds of the preview clock; -1 for no preview.
    #[serde(serialize_with = "whole")]
    pub preview_clock: f64,
    /// Seconds of the start clock.
    #[serde(serialize_with = "whole")]
    pub start_clock: f64,
    /// Seconds of the play clock.
    #[serde(serialize_with = "whole")]
    pub play_clock: f64,
    /// The players, in the order of the roles.
    pub player_names_from_host: Vec<String>,
    /// Which players are human.
    pub is_player_human: Vec<bool>,
    /// The tournament that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tournament_name_from_host: Option<String>,
    /// Whether players got the rules with made-up names.
    pub scrambled: bool,
    /// Data that only Agon writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agon: Option<Details>,
}

impl MatchRecord {
    /// The number of faults of a seat, including those at START.
    #[must_use]
    pub fn n_errors(&self, seat_idx: usize) -> usize {
        let errors = self.errors.iter().filter_map(|row| row.get(seat_idx));
        errors.filter(|error| !error.is_empty()).count()
    }

    /// The faults of a seat by kind. Records of other managers have only codes; `CE` counts as missing there.
    #[must_use]
    pub fn faults(&self, seat_idx: usize) -> FaultCounts {
        let mut counts = FaultCounts::default();
        if let Some(details) = &self.agon {
            let role = details.roles.get(seat_idx);
            let faults = details.faults.iter();
            for fault in faults.filter(|fault| Some(&fault.role) == role) {
                counts.add(fault.kind);
            }
            return counts;
        }
        for error in self.errors.iter().filter_map(|row| row.get(seat_idx)) {
            match error.get(..2) {
                Some("TO") => counts.late += 1,
                Some("IL") => counts.illegal += 1,
                Some(_) => counts.missing += 1,
                None => {}
            }
        }
        counts
    }

    /// Whether a seat has forfeited the match.
    #[must_use]
    pub fn has_forfeited(&self, seat_idx: usize) -> bool {
        let Some(details) = &self.agon else {
            return false;
        };
        let role = details.roles.get(seat_idx);
        let mut forfeits = details.forfeits.iter();
        forfeits.any(|forfeit| Some(&forfeit.role) == role)
    }

    /// Why the match is void: the players that took no part. Empty for all other matches.
    #[must_use]
    pub fn absences(&self) -> &[Absence] {
        match self.agon.as_ref().map(|details| &details.ending) {
            Some(Ending::Void { absences }) => absences,
            _ => &[],
        }
    }
}

/// Data that only Agon writes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// Version of Agon that wrote the record.
    pub version: String,
    /// The name of the game.
    pub game: String,
    /// [`rules_hash`] of the rules.
    pub rules_hash: String,
    /// The rulesheet as it was written, if the settings ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// The roles in order.
    pub roles: Vec<String>,
    /// Seed of the moves that the referee draws in place of missing ones.
    pub seed: u64,
    /// How the match ended.
    pub ending: Ending,
    /// The players, in the order of the roles.
    pub seats: Vec<SeatRecord>,
    /// All faults, in order.
    pub faults: Vec<FaultRecord>,
    /// The roles that forfeited the match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forfeits: Vec<ForfeitRecord>,
    /// Per step and role the search statistics, where the player gave them.
    pub thoughts: Vec<Vec<Option<ThoughtRecord>>>,
    /// The role that chance played, in games of GDL-II that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random: Option<String>,
    /// Seed of the moves of chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance_seed: Option<u64>,
    /// Per step and role what the role saw, in games of GDL-II. A role knew this and its own moves, and nothing else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percepts: Vec<Vec<Vec<String>>>,
}

/// How a match ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Ending {
    /// In a terminal state.
    Terminal,
    /// It was interrupted.
    Interrupted,
    /// The rules gave this role no legal move.
    NoLegalMove {
        /// The role.
        role: String,
    },
    /// At the limit of steps.
    StepLimit,
    /// The engine failed.
    EngineFault {
        /// Why.
        reason: String,
    },
    /// These roles stopped answering.
    Forfeit {
        /// The roles.
        roles: Vec<String>,
    },
    /// It does not count: players could not be reached, did not answer START, or all of them stopped answering.
    Void {
        /// The players that took no part, and why.
        absences: Vec<Absence>,
    },
}

/// A player that took no part in a void match.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Absence {
    /// The role.
    pub role: String,
    /// The player.
    pub player: String,
    /// Why it took no part: `connection refused`, `no answer within 10 s`.
    pub cause: String,
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Absence {
            role,
            player,
            cause,
        } = self;
        write!(f, "{player} ({role}): {cause}")
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Terminal => f.write_str("over"),
            Ending::Interrupted => f.write_str("interrupted"),
            Ending::NoLegalMove { role } => write!(f, "{role} has no legal move"),
            Ending::StepLimit => f.write_str("step limit reached"),
            Ending::EngineFault { reason } => write!(f, "engine failure: {reason}"),
            Ending::Forfeit { roles } => write!(f, "forfeited by {}", roles.join(" and ")),
            Ending::Void { absences } => {
                let words: Vec<String> = absences.iter().map(ToString::to_string).collect();
                write!(f, "void: {}", words.join("; "))
            }
        }
    }
}

/// The player of a seat.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SeatRecord {
    /// The player.
    pub player: String,
    /// All of its parameters.
    pub parameters: BTreeMap<String, String>,
    /// Its budget per move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<String>,
    /// Its seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// A fault of a player.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FaultRecord {
    /// Row of `errors`: 0 for START, then the number of the step from 1.
    pub step: usize,
    /// The role.
    pub role: String,
    /// The kind of fault.
    pub kind: FaultKind,
    /// What the player answered, or what is known about the failure.
    pub detail: String,
}

/// A role that forfeited the match.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForfeitRecord {
    /// Number of the step, from 1, in which the role lost the match.
    pub step: usize,
    /// The role.
    pub role: String,
    /// Why: `connection refused`, `three answers in a row missing`.
    pub cause: String,
}

/// The faults of a player by kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FaultCounts {
    /// Answers after the deadline.
    pub late: u32,
    /// Answers that were not legal moves.
    pub illegal: u32,
    /// Answers that never came: no connection, an empty reply, `busy`.
    pub missing: u32,
}

impl FaultCounts {
    /// All faults.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.late + self.illegal + self.missing
    }

    /// Adds a fault.
    pub fn add(&mut self, kind: FaultKind) {
        match kind {
            FaultKind::Late => self.late += 1,
            FaultKind::Illegal | FaultKind::Unreadable => self.illegal += 1,
            _ => self.missing += 1,
        }
    }

    /// Adds the faults of another match or seat.
    pub fn merge(&mut self, other: FaultCounts) {
        self.late += other.late;
        self.illegal += other.illegal;
        self.missing += other.missing;
    }
}

/// `3 (2 late, 1 illegal)`, or `0`.
impl fmt::Display for FaultCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [
            (self.late, "late"),
            (self.illegal, "illegal"),
            (self.missing, "missing"),
        ];
        let words: Vec<String> = kinds
            .into_iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, kind)| format!("{n} {kind}"))
            .collect();
        match words.is_empty() {
            true => f.write_str("0"),
            false => write!(f, "{} ({})", self.total(), words.join(", ")),
        }
    }
}

/// A kind of fault.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// No answer in time.
    Late,
    /// An answer that is not a legal move.
    Illegal,
    /// An answer that cannot be read.
    Unreadable,
    /// An answer that says there is no move: `busy` or `nil`.
    NoMove,
    /// An empty answer.
    Empty,
    /// The connection failed, or a server answered that is not a GGP player.
    Connection,
    /// Nobody listens at the address of the player.
    Refused,
    /// The player panicked.
    Panicked,
    /// The role has forfeited the match and is not asked any more.
    Forfeited,
}

impl FaultKind {
    /// Whether there was no answer with a move in it, legal or not.
    #[must_use]
    pub fn is_missing(self) -> bool {
        !matches!(self, FaultKind::Illegal | FaultKind::Unreadable)
    }
}

/// The search statistics of a move.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThoughtRecord {
    /// The goal that the player expected, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Playouts.
    pub playouts: u64,
    /// State transitions.
    pub transitions: u64,
    /// Seconds of search.
    pub seconds: f64,
    /// Why the search stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
    /// The moves that it considered, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<WeighedRecord>,
    /// Other text of the player.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl From<&Thought> for ThoughtRecord {
    fn from(thought: &Thought) -> ThoughtRecord {
        let moves = thought.moves.iter().map(|mv| WeighedRecord {
            mv: mv.mv.to_string(),
            visits: mv.visits,
            mean: mv.mean,
        });
        ThoughtRecord {
            value: thought.value,
            playouts: thought.playouts,
            transitions: thought.transitions,
            seconds: thought.time.as_secs_f64(),
            stop: thought.stop.clone(),
            moves: moves.collect(),
            note: thought.note.clone(),
        }
    }
}

/// A move that a player considered.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WeighedRecord {
    /// The move.
    #[serde(rename = "move")]
    pub mv: String,
    /// Its visits.
    pub visits: u64,
    /// Its mean goal.
    pub mean: f64,
}

/// A hash of rules in canonical text, without layout and comments: 128-bit FNV-1a. It distinguishes rulesheets but is not
/// safe against forgery.
#[must_use]
pub fn rules_hash(canonical: &str) -> String {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let step = |hash: u128, &byte: &u8| (hash ^ u128::from(byte)).wrapping_mul(PRIME);
    let hash = canonical.as_bytes().iter().fold(BASIS, step);
    format!("fnv1a128:{hash:032x}")
}

/// Writes whole seconds as whole numbers, as other programs expect.
fn whole<S: Serializer>(seconds: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if seconds.fract() == 0.0 && seconds.abs() < 1e15 {
        serializer.serialize_i64(*seconds as i64)
    } else {
        serializer.serialize_f64(*seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_of_another_manager_is_read() {
        let text = r#"{"matchId":"Base.x.1","randomToken":"abc","startTime":1,"isCompleted":true,"isAborted":false,
            "states":["( ( control x ) )","( )"],"moves":[["noop"]],"stateTimes":[1,2],"errors":[[""],["TO"]],
            "goalValues":[100],"previewClock":-1,"startClock":20,"playClock":10,"playerNamesFromHost":["P0"],
            "isPlayerHuman":[false],"scrambled":false,"somethingElse":{"a":1}}"#;
        let record: MatchRecord = serde_json::from_str(text).expect("it is one");
        assert_eq!((record.n_errors(0), record.agon.is_none()), (1, true));
        assert_eq!(record.faults(0).late, 1);
        assert_eq!(record.goal_values, Some(vec![100]));
    }

    #[test]
    fn faults_are_counted_by_kind() {
        let mut counts = FaultCounts::default();
        assert_eq!(counts.to_string(), "0");
        use FaultKind::{Connection, Illegal, Late, NoMove, Unreadable};
        for kind in [Late, Illegal, Unreadable, Connection, NoMove, Late] {
            counts.add(kind);
        }
        let mut twice = counts;
        twice.merge(counts);
        assert_eq!(counts.to_string(), "6 (2 late, 2 illegal, 2 missing)");
        assert_eq!(twice.total(), 12);
    }

    #[test]
    fn whole_seconds_are_whole_numbers() {
        let record = MatchRecord {
            preview_clock: -1.0,
            start_clock: 20.0,
            play_clock: 0.5,
            ..MatchRecord::default()
        };
        let text = serde_json::to_string(&record).expect("it can be written");
        assert!(
            text.contains(r#""previewClock":-1,"startClock":20,"playClock":0.5,"#),
            "{text}"
        );
    }

    #[test]
    fn rules_have_the_hash_of_their_canonical_text() {
        assert_eq!(rules_hash(""), "fnv1a128:6c62272e07bb014262b821756295c58d");
        assert_eq!(rules_hash("a"), "fnv1a128:d228cb696f1a8caf78912b704e4a8964");
    }

    #[test]
    fn endings_name_their_kind() {
        let role = "x".to_owned();
        let text = serde_json::to_string(&Ending::NoLegalMove { role }).expect("it can be written");
        assert_eq!(text, r#"{"kind":"no-legal-move","role":"x"}"#);
        assert_eq!(Ending::StepLimit.to_string(), "step limit reached");
    }
}
