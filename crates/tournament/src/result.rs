//! A finished match in the form in which it is stored: what identifies it, and its result.
//!
//! The structs are also the lines of the JSON files, so that results can be kept in a repository.

use agon_arena::{FaultCounts, rules_hash};
use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::techniques::Techniques;

/// What identifies a match.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Fixture {
    /// The name of the game, for people. Its rules identify it.
    pub game: String,
    /// Hash of its rules.
    pub rules: String,
    /// The two players.
    pub players: [Contestant; 2],
    /// The budget of a player per move.
    pub budget: Budget,
    /// Seconds of the start clock, where there is a clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_clock: Option<f64>,
    /// Seconds per move of remote players, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub play_clock: Option<f64>,
    /// Seed of the tournament.
    pub seed: u64,
    /// Number of the match in its cell, from 0.
    pub index: u32,
}

/// A player of the pair.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Contestant {
    /// Its name, as the tournament file has it.
    pub name: String,
    /// Its algorithm and the parameters that differ from their defaults.
    pub is: String,
}

impl Fixture {
    /// A hash of everything that identifies the match.
    #[must_use]
    pub fn key(&self) -> String {
        let clock = |clock: Option<f64>| clock.map_or_else(String::new, |clock| clock.to_string());
        let [first, second] = &self.players;
        let text = [
            self.rules.clone(),
            first.name.clone(),
            first.is.clone(),
            second.name.clone(),
            second.is.clone(),
            self.budget.to_string(),
            clock(self.start_clock),
            clock(self.play_clock),
            self.seed.to_string(),
            self.index.to_string(),
        ];
        let hash = rules_hash(&text.join("\n"));
        hash.rsplit(':').next().unwrap_or_default().to_owned()
    }
}

/// A finished match.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MatchResult {
    /// What identifies it.
    #[serde(flatten)]
    pub fixture: Fixture,
    /// The player of each role, 0 or 1.
    pub seats: Vec<u8>,
    /// The goal of each role; none if the match ended without a result, or the rules give no goal.
    pub goals: Vec<Option<u8>>,
    /// Number of steps.
    pub steps: u32,
    /// How the match ended.
    pub ending: String,
    /// What each player spent, over all its roles.
    pub work: [Work; 2],
    /// Faults of each player: late, illegal and missing answers.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub faults: [u32; 2],
    /// The same by kind; zero in results of older versions.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fault_kinds: [FaultCounts; 2],
    /// Roles that each player forfeited because it stopped answering. Its score is a loss, whatever the goals are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forfeits: [u32; 2],
    /// What search techniques did, as far as tables need it; `notes` in results of version 0.1.0.
    #[serde(default, alias = "notes", skip_serializing_if = "are_empty")]
    pub techniques: [Techniques; 2],
    /// Version of Agon.
    pub version: String,
    /// When it ended, in seconds since 1970.
    pub finished: u64,
    /// The worker that played it, if it was played on another machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub played_by: Option<PlayedBy>,
}

/// A worker on another machine, and its build.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlayedBy {
    /// Its name.
    pub worker: String,
    /// Fingerprint of the behaviour of its build.
    pub fingerprint: String,
    /// Playouts per second in its measurement of speed.
    pub speed: f64,
    /// Seconds of budgets were multiplied by this.
    pub time_scale: f64,
}

/// What a player spent on a match.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Work {
    /// Number of searches.
    pub searches: u32,
    /// Playouts.
    pub playouts: u64,
    /// State transitions.
    pub transitions: u64,
    /// Seconds of search.
    pub seconds: f64,
    /// Seconds of preparation before the match.
    #[serde(default)]
    pub setup: f64,
}

fn is_zero(counts: &[u32; 2]) -> bool {
    *counts == [0, 0]
}

fn is_default(counts: &[FaultCounts; 2]) -> bool {
    *counts == [FaultCounts::default(); 2]
}

fn are_empty(techniques: &[Techniques; 2]) -> bool {
    techniques.iter().all(Techniques::is_empty)
}

impl MatchResult {
    /// The mean goal of the first or the second player, if it had a role and its goals are known.
    #[must_use]
    pub fn goal(&self, of_first: bool) -> Option<f64> {
        let who = u8::from(!of_first);
        let seats = self.seats.iter().zip(&self.goals);
        let mine = seats.filter(|(seat, _)| **seat == who);
        let goals: Option<Vec<f64>> = mine.map(|(_, goal)| goal.map(f64::from)).collect();
        let goals = goals.filter(|goals| !goals.is_empty())?;
        Some(goals.iter().sum::<f64>() / goals.len() as f64)
    }

    /// Whether the first player had the first role.
    #[must_use]
    pub fn first_begins(&self) -> bool {
        self.seats.first() == Some(&0)
    }
}

/// The statistics of a move.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MoveRow {
    /// Number of the step, from 1.
    pub step: u32,
    /// The role.
    pub role: String,
    /// The player, 0 or 1.
    pub seat: u8,
    /// The move.
    #[serde(rename = "move")]
    pub mv: String,
    /// Number of legal moves, if it is known.
    pub legal: Option<u32>,
    /// Playouts.
    pub playouts: u64,
    /// State transitions.
    pub transitions: u64,
    /// Seconds of search.
    pub seconds: f64,
    /// The goal that the player expected, 0 to 100.
    pub value: Option<f64>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::techniques::Status;
    use crate::techniques::tests::cutoff_with;

    /// A match of `first` against `second` in a game of two roles.
    pub(crate) fn result(first: &str, second: &str, index: u32, goals: [u8; 2]) -> MatchResult {
        let contestant = |name: &str| Contestant {
            name: name.to_owned(),
            is: format!("uct name={name}"),
        };
        let seats = if index.is_multiple_of(2) {
            vec![0, 1]
        } else {
            vec![1, 0]
        };
        MatchResult {
            fixture: Fixture {
                game: "game".to_owned(),
                rules: "fnv1a128:0".to_owned(),
                players: [contestant(first), contestant(second)],
                budget: Budget::Playouts(100),
                start_clock: None,
                play_clock: None,
                seed: 1,
                index,
            },
            goals: seats
                .iter()
                .map(|&seat: &u8| Some(goals[seat as usize]))
                .collect(),
            seats,
            steps: 10,
            ending: "over".to_owned(),
            work: [Work {
                searches: 5,
                playouts: 500,
                transitions: 4000,
                seconds: 0.25,
                setup: 0.0,
            }; 2],
            faults: [0, 0],
            fault_kinds: Default::default(),
            forfeits: [0, 0],
            techniques: Default::default(),
            version: "0".to_owned(),
            finished: 0,
            played_by: None,
        }
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let mut result = result("a", "b", 3, [100, 0]);
        result.techniques[1].cutoff = Some(cutoff_with(Status::On));
        let text = serde_json::to_string(&result).expect("it can be written");
        assert!(text.contains(r#""budget":{"playouts":100}"#), "{text}");
        let read: MatchResult = serde_json::from_str(&text).expect("it can be read");
        assert_eq!(read, result);
        assert_eq!(read.fixture.key(), result.fixture.key());
    }

    #[test]
    fn sentences_about_techniques_in_old_lines_are_read() {
        let plain =
            serde_json::to_string(&result("a", "b", 3, [100, 0])).expect("it can be written");
        let notes = r#""notes":[{"cutoff":"off: goals are not stable (4.4); 0 cut"},{}],"version""#;
        let old = plain.replace(r#""version""#, notes);
        let read: MatchResult = serde_json::from_str(&old).expect("it can be read");
        assert_eq!(read.techniques[0].status("cutoff"), Some(Status::Off));
        assert_eq!(read.techniques[0].status("fast"), None);
    }

    #[test]
    fn the_key_depends_on_everything_that_identifies_a_match() {
        let key = |change: &dyn Fn(&mut Fixture)| {
            let mut fixture = result("a", "b", 0, [0, 0]).fixture;
            change(&mut fixture);
            fixture.key()
        };
        let plain = key(&|_| {});
        assert_eq!(plain, key(&|fixture| fixture.game = "else".to_owned()));
        let changes: [&dyn Fn(&mut Fixture); 8] = [
            &|fixture| fixture.rules.push('1'),
            &|fixture| fixture.players[0].name.push('1'),
            &|fixture| fixture.players[1].is.push('1'),
            &|fixture| fixture.budget = Budget::Transitions(100),
            &|fixture| fixture.start_clock = Some(1.0),
            &|fixture| fixture.play_clock = Some(1.0),
            &|fixture| fixture.seed = 2,
            &|fixture| fixture.index = 1,
        ];
        let mut keys: Vec<String> = changes.iter().map(|change| key(change)).collect();
        keys.push(plain);
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), changes.len() + 1);
    }

    #[test]
    fn faults_and_forfeits_are_kept_and_old_lines_have_none() {
        let plain = result("a", "b", 3, [100, 0]);
        let old = serde_json::to_string(&plain).expect("it can be written");
        assert!(!old.contains("fault") && !old.contains("forfeit"), "{old}");
        let mut lost = plain;
        lost.faults = [0, 4];
        lost.fault_kinds[1].missing = 4;
        lost.forfeits = [0, 1];
        let text = serde_json::to_string(&lost).expect("it can be written");
        assert!(text.contains(r#""forfeits":[0,1]"#), "{text}");
        let read: MatchResult = serde_json::from_str(&text).expect("it can be read");
        assert_eq!(read, lost);
    }

    #[test]
    fn goals_follow_the_seats() {
        let swapped = result("a", "b", 1, [100, 20]);
        assert_eq!(swapped.goals, [Some(20), Some(100)]);
        assert_eq!(
            (swapped.goal(true), swapped.goal(false)),
            (Some(100.0), Some(20.0))
        );
        assert!(!swapped.first_begins());
    }
}
