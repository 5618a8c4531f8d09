//! What happened in a match: the only thing that ratings, stores and pages ever read.
//!
//! The outer keys are those that the GGP world uses, so that its viewers can show our matches and we can read theirs;
//! ours are under the one key `agon`. Lists with a row per state have the initial state first: `states`, `stateTimes` and
//! `errors`, whose first row is about START. `moves` has a row less, and so has `thoughts`.

use std::collections::BTreeMap;
use std::fmt;

use agon_protocol::Thought;
use serde::{Deserialize, Serialize, Serializer};

/// A match, over or not.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MatchRecord {
    /// Its name.
    pub match_id: String,
    /// Letters and digits that tell it from others of the same name.
    pub random_token: String,
    /// When it began, in milliseconds since 1970.
    pub start_time: u64,
    /// Where the game is described, if that is public.
    #[serde(rename = "gameMetaURL", skip_serializing_if = "Option::is_none")]
    pub game_meta_url: Option<String>,
    /// Whether it came to its end.
    pub is_completed: bool,
    /// Whether it was called off.
    pub is_aborted: bool,
    /// The fluents of each state: `( ( cell 1 1 b ) ( control x ) )`.
    pub states: Vec<String>,
    /// The moves of each step, in the order of the roles: `( mark 1 1 )`.
    pub moves: Vec<Vec<String>>,
    /// When each state was reached, in milliseconds since 1970.
    pub state_times: Vec<u64>,
    /// Per state and role what went wrong on the way to it: nothing, `TO`, `CE` or `IL` with what was said.
    pub errors: Vec<Vec<String>>,
    /// What each role got, once it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal_values: Option<Vec<u8>>,
    /// Seconds to look at the game before it begins; -1 for none.
    #[serde(serialize_with = "whole")]
    pub preview_clock: f64,
    /// Seconds to prepare.
    #[serde(serialize_with = "whole")]
    pub start_clock: f64,
    /// Seconds for each move.
    #[serde(serialize_with = "whole")]
    pub play_clock: f64,
    /// The players, in the order of the roles.
    pub player_names_from_host: Vec<String>,
    /// Which of them are people.
    pub is_player_human: Vec<bool>,
    /// The tournament that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tournament_name_from_host: Option<String>,
    /// Whether players got the rules with other names.
    pub scrambled: bool,
    /// What only we know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agon: Option<Details>,
}

impl MatchRecord {
    /// How many answers of a seat were wrong, that to START among them.
    #[must_use]
    pub fn n_errors(&self, seat_idx: usize) -> usize {
        let of_seat = self.errors.iter().filter_map(|row| row.get(seat_idx));
        of_seat.filter(|error| !error.is_empty()).count()
    }
}

/// What only our records say.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// Version of Agon that wrote it.
    pub version: String,
    /// The name of the game.
    pub game: String,
    /// [`rules_hash`] of its rules.
    pub rules_hash: String,
    /// Its rulesheet, letter by letter, if it was to be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// The roles in order.
    pub roles: Vec<String>,
    /// Seed of the referee, who draws moves in place of wrong ones.
    pub seed: u64,
    /// How it ended.
    pub ending: Ending,
    /// Who sat where, in the order of the roles.
    pub seats: Vec<SeatRecord>,
    /// What went wrong, in order.
    pub faults: Vec<FaultRecord>,
    /// Per step and role how the move came about, where the player told.
    pub thoughts: Vec<Vec<Option<ThoughtRecord>>>,
}

/// How a match ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Ending {
    /// In a terminal state.
    Terminal,
    /// It was called off.
    Interrupted,
    /// The rules gave this role no legal move.
    NoLegalMove {
        /// The role.
        role: String,
    },
    /// After more steps than a match may have.
    StepLimit,
    /// The engine could not go on.
    EngineFault {
        /// Why.
        reason: String,
    },
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Terminal => f.write_str("over"),
            Ending::Interrupted => f.write_str("called off"),
            Ending::NoLegalMove { role } => write!(f, "{role} has no legal move"),
            Ending::StepLimit => f.write_str("it does not end"),
            Ending::EngineFault { reason } => write!(f, "the engine gave up: {reason}"),
        }
    }
}

/// Who sat in a seat.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SeatRecord {
    /// The player.
    pub player: String,
    /// All of its parameters.
    pub parameters: BTreeMap<String, String>,
    /// What it could spend on a move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<String>,
    /// Its seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// Something that went wrong.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FaultRecord {
    /// Row of `errors`: 0 for START, then the number of the step from 1.
    pub step: usize,
    /// The role.
    pub role: String,
    /// What it was.
    pub kind: FaultKind,
    /// What was said, or what is known.
    pub detail: String,
}

/// What a player can do wrong.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// No answer in time.
    Late,
    /// An answer that is no legal move.
    Illegal,
    /// An answer that cannot be read.
    Unreadable,
    /// An empty answer.
    Empty,
    /// No connection.
    Connection,
    /// The player panicked.
    Panicked,
}

/// How a move came about.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThoughtRecord {
    /// What the player expected, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Random games.
    pub playouts: u64,
    /// States stepped through.
    pub transitions: u64,
    /// Time spent.
    pub seconds: f64,
    /// Why it stopped thinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
    /// The moves that it weighed, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<WeighedRecord>,
    /// What else it said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl From<&Thought> for ThoughtRecord {
    fn from(thought: &Thought) -> ThoughtRecord {
        let moves = thought.moves.iter().map(|of| WeighedRecord {
            of: of.of.to_string(),
            visits: of.visits,
            mean: of.mean,
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

/// A move that a player weighed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WeighedRecord {
    /// The move.
    #[serde(rename = "move")]
    pub of: String,
    /// How often it was tried.
    pub visits: u64,
    /// Mean of what came of it.
    pub mean: f64,
}

/// A hash of rules in canonical text (layout and comments do not matter): 128-bit FNV-1a, which tells sheets apart but
/// keeps nobody from forging one.
#[must_use]
pub fn rules_hash(canonical: &str) -> String {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let step = |hash: u128, &byte: &u8| (hash ^ u128::from(byte)).wrapping_mul(PRIME);
    let hash = canonical.as_bytes().iter().fold(BASIS, step);
    format!("fnv1a128:{hash:032x}")
}

/// Whole seconds as whole numbers, as others expect them.
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
        assert_eq!(record.goal_values, Some(vec![100]));
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
        assert_eq!(Ending::StepLimit.to_string(), "it does not end");
    }
}
