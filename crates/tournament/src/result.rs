//! A match that has been played, as it is kept: what told it from all others, and what came of it.
//!
//! The structs are the lines of the JSON files, so that results can live in a repository.

use std::collections::BTreeMap;

use agon_arena::rules_hash;
use serde::{Deserialize, Serialize};

use crate::budget::Budget;

/// What tells a match from all others.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Fixture {
    /// The name of the game, for people: its rules are what counts.
    pub game: String,
    /// Hash of its rules.
    pub rules: String,
    /// The two players.
    pub players: [Contestant; 2],
    /// What a player may spend on a move.
    pub budget: Budget,
    /// Seconds to prepare, where it matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_clock: Option<f64>,
    /// Seconds per move of players elsewhere, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub play_clock: Option<f64>,
    /// Seed of the tournament.
    pub seed: u64,
    /// Number of the match in its cell, from 0.
    pub index: u32,
}

/// One of the pair.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Contestant {
    /// As it was given.
    pub name: String,
    /// Its algorithm and the knobs that are not at their defaults.
    pub is: String,
}

impl Fixture {
    /// A hash of all that counts.
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

/// A match that has been played.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MatchResult {
    /// Which one it was.
    #[serde(flatten)]
    pub fixture: Fixture,
    /// Which of the pair had each role.
    pub seats: Vec<u8>,
    /// What each role got; nothing if the match did not come to its end, or the rules give no goal.
    pub goals: Vec<Option<u8>>,
    /// Joint moves made.
    pub steps: u32,
    /// How it ended.
    pub ending: String,
    /// What each of the pair spent, over all of its roles.
    pub work: [Work; 2],
    /// Wrong answers of each of the pair.
    #[serde(default, skip_serializing_if = "is_clean")]
    pub faults: [u32; 2],
    /// What the parts of the players said that matter for tables.
    #[serde(default, skip_serializing_if = "is_silent")]
    pub notes: [BTreeMap<String, String>; 2],
    /// Version of Agon.
    pub version: String,
    /// When it was over, in seconds since 1970.
    pub finished: u64,
}

/// What a player spent on a match.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Work {
    /// Moves that it thought about.
    pub searches: u32,
    /// Random games.
    pub playouts: u64,
    /// States stepped through.
    pub transitions: u64,
    /// Time.
    pub seconds: f64,
    /// Time to get ready before the match.
    #[serde(default)]
    pub setup: f64,
}

fn is_clean(faults: &[u32; 2]) -> bool {
    *faults == [0, 0]
}

fn is_silent(notes: &[BTreeMap<String, String>; 2]) -> bool {
    notes.iter().all(BTreeMap::is_empty)
}

impl MatchResult {
    /// The mean goal of one of the pair, if it had a role and its goals are known.
    #[must_use]
    pub fn goal(&self, of_first: bool) -> Option<f64> {
        let who = u8::from(!of_first);
        let seats = self.seats.iter().zip(&self.goals);
        let mine = seats.filter(|(seat, _)| **seat == who);
        let goals: Option<Vec<f64>> = mine.map(|(_, goal)| goal.map(f64::from)).collect();
        let goals = goals.filter(|goals| !goals.is_empty())?;
        Some(goals.iter().sum::<f64>() / goals.len() as f64)
    }

    /// Whether the first of the pair had the first role.
    #[must_use]
    pub fn first_begins(&self) -> bool {
        self.seats.first() == Some(&0)
    }
}

/// How a move came about, for statistics per move.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MoveRow {
    /// Number of the step, from 1.
    pub step: u32,
    /// The role.
    pub role: String,
    /// Which of the pair made it.
    pub seat: u8,
    /// The move.
    #[serde(rename = "move")]
    pub of: String,
    /// How many were legal, if that is known.
    pub legal: Option<u32>,
    /// Random games.
    pub playouts: u64,
    /// States stepped through.
    pub transitions: u64,
    /// Time.
    pub seconds: f64,
    /// What the player expected, 0 to 100.
    pub value: Option<f64>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

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
            notes: Default::default(),
            version: "0".to_owned(),
            finished: 0,
        }
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let mut result = result("a", "b", 3, [100, 0]);
        result.notes[1].insert("cutoff".to_owned(), "on".to_owned());
        let text = serde_json::to_string(&result).expect("it can be written");
        assert!(text.contains(r#""budget":{"playouts":100}"#), "{text}");
        let read: MatchResult = serde_json::from_str(&text).expect("it can be read");
        assert_eq!(read, result);
        assert_eq!(read.fixture.key(), result.fixture.key());
    }

    #[test]
    fn the_key_depends_on_all_that_counts() {
        let of = |change: &dyn Fn(&mut Fixture)| {
            let mut fixture = result("a", "b", 0, [0, 0]).fixture;
            change(&mut fixture);
            fixture.key()
        };
        let plain = of(&|_| {});
        assert_eq!(plain, of(&|fixture| fixture.game = "else".to_owned()));
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
        let mut keys: Vec<String> = changes.iter().map(|change| of(change)).collect();
        keys.push(plain);
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), changes.len() + 1);
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
