//! What search techniques did in a match, as far as tables need it.
//!
//! Results of version 0.1.0 have a sentence per technique instead. It is read here and nowhere else.

use agon_search::{Account, CutoffAccount, FastAccount, HeuristicAccount, TechniqueAccount};
use serde::{Deserialize, Serialize};

/// Whether a technique was at work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It was.
    On,
    /// It was not in this game.
    Off,
    /// That was not decided before the match ended.
    Undecided,
}

/// The techniques of a player that tables need.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Techniques {
    /// Early cutoffs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cutoff: Option<Cutoff>,
    /// FAST.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fast: Option<Fast>,
    /// The heuristic from the rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heuristic: Option<Heuristic>,
}

/// What early cutoffs did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(from = "Stored<CutoffValues>")]
pub struct Cutoff {
    /// Whether playouts are cut.
    pub status: Status,
    /// Steps after which playouts end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// Playouts that were cut in the last search.
    pub cuts: u64,
}

/// What FAST did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(from = "Stored<FastValues>")]
pub struct Fast {
    /// Whether its weights are used.
    pub status: Status,
    /// Simulations that it learned from.
    pub simulations: u64,
}

/// What the heuristic from the rules did.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(from = "Stored<HeuristicValues>")]
pub struct Heuristic {
    /// Whether the game has one.
    pub status: Status,
    /// Gates of its formulas.
    pub gates: u64,
    /// States whose moves were evaluated in the last search.
    pub states: u64,
    /// Nanoseconds per state.
    pub ns_per_state: f64,
    /// Share of the time of the last search, 0 to 1, if a state was evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

impl Techniques {
    /// Whether a technique was at work; `None` if the player does not have it.
    #[must_use]
    pub fn status(&self, technique: &str) -> Option<Status> {
        match technique {
            "cutoff" => self.cutoff.map(|cutoff| cutoff.status),
            "fast" => self.fast.map(|fast| fast.status),
            "heuristic" => self.heuristic.map(|heuristic| heuristic.status),
            _ => None,
        }
    }

    /// Takes over what a search reports.
    pub(crate) fn update(&mut self, account: &Account) {
        for technique in &account.techniques {
            let status = technique.status().into();
            match technique {
                TechniqueAccount::Cutoff(cutoff) => self.cutoff = Some(Cutoff::new(status, cutoff)),
                TechniqueAccount::Fast(fast) => self.fast = Some(Fast::new(status, fast)),
                TechniqueAccount::NoFast { .. } => {
                    let simulations = 0;
                    self.fast = Some(Fast {
                        status,
                        simulations,
                    });
                }
                TechniqueAccount::Heuristic(heuristic) => {
                    self.heuristic = Some(Heuristic::new(status, heuristic));
                }
                _ => {}
            }
        }
    }

    /// Whether later searches of the match cannot change anything here.
    pub(crate) fn is_settled(&self) -> bool {
        let is_open = |technique| self.status(technique) == Some(Status::Undecided);
        // What the heuristic costs changes from move to move.
        !is_open("cutoff") && !is_open("fast") && self.heuristic.is_none()
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Techniques::default()
    }
}

impl From<agon_search::Status> for Status {
    fn from(status: agon_search::Status) -> Status {
        match status {
            agon_search::Status::On => Status::On,
            agon_search::Status::Off => Status::Off,
            agon_search::Status::Undecided => Status::Undecided,
        }
    }
}

impl Cutoff {
    fn new(status: Status, account: &CutoffAccount) -> Cutoff {
        Cutoff {
            status,
            steps: account.steps,
            cuts: account.cuts,
        }
    }
}

impl Fast {
    fn new(status: Status, account: &FastAccount) -> Fast {
        Fast {
            status,
            simulations: account.simulations,
        }
    }
}

impl Heuristic {
    fn new(status: Status, account: &HeuristicAccount) -> Heuristic {
        Heuristic {
            status,
            gates: account.gates.as_ref().copied().unwrap_or(0),
            states: account.states,
            ns_per_state: account.ns_per_state,
            share: (account.states > 0).then_some(account.share),
        }
    }
}

/// A technique as it is stored: values, or a sentence of version 0.1.0.
#[derive(Deserialize)]
#[serde(untagged)]
enum Stored<T> {
    Values(T),
    Sentence(String),
}

#[derive(Deserialize)]
struct CutoffValues {
    status: Status,
    #[serde(default)]
    steps: Option<u32>,
    cuts: u64,
}

#[derive(Deserialize)]
struct FastValues {
    status: Status,
    simulations: u64,
}

#[derive(Deserialize)]
struct HeuristicValues {
    status: Status,
    gates: u64,
    states: u64,
    ns_per_state: f64,
    #[serde(default)]
    share: Option<f64>,
}

/// `on: goals are stable (427.4), playouts end after 11 steps by their goals; 258 cut`, `off: some states have no goal, …` or
/// `watching: 3 of 50 natural simulations seen; 0 cut`.
impl From<Stored<CutoffValues>> for Cutoff {
    fn from(stored: Stored<CutoffValues>) -> Cutoff {
        match stored {
            Stored::Values(CutoffValues {
                status,
                steps,
                cuts,
            }) => Cutoff {
                status,
                steps,
                cuts,
            },
            Stored::Sentence(words) => Cutoff {
                status: match words.get(..2) {
                    Some("on") => Status::On,
                    Some("of") => Status::Off,
                    _ => Status::Undecided,
                },
                steps: number_before(&words, " steps "),
                cuts: number_before(&words, " cut").unwrap_or(0),
            },
        }
    }
}

/// `64 cells: white: (f 2) 1.5, … ; 1000 simulations, held back until …`, `…, active`, or `off: there is no board`.
impl From<Stored<FastValues>> for Fast {
    fn from(stored: Stored<FastValues>) -> Fast {
        match stored {
            Stored::Values(FastValues {
                status,
                simulations,
            }) => Fast {
                status,
                simulations,
            },
            Stored::Sentence(words) => Fast {
                status: match () {
                    () if words.starts_with("off") => Status::Off,
                    () if words.ends_with("active") => Status::On,
                    () => Status::Undecided,
                },
                simulations: number_before(&words, " simulations").unwrap_or(0),
            },
        }
    }
}

/// `1406 gates; 36 states evaluated, 3637 ns each, 12.1 % of the time`, `214 gates`, or `none: …`.
impl From<Stored<HeuristicValues>> for Heuristic {
    fn from(stored: Stored<HeuristicValues>) -> Heuristic {
        match stored {
            Stored::Values(HeuristicValues {
                status,
                gates,
                states,
                ns_per_state,
                share,
            }) => Heuristic {
                status,
                gates,
                states,
                ns_per_state,
                share,
            },
            Stored::Sentence(words) => {
                let percent: Option<f64> = number_before(&words, " % of the time");
                let gates = number_before(&words, " gates");
                Heuristic {
                    status: match words.starts_with("none") {
                        true => Status::Off,
                        false => Status::On,
                    },
                    gates: gates.unwrap_or(0),
                    states: number_before(&words, " states").unwrap_or(0),
                    ns_per_state: number_before(&words, " ns").unwrap_or(0.0),
                    share: percent.map(|percent| percent / 100.0),
                }
            }
        }
    }
}

/// The number before a unit: 12.5 in `… 12.5 % of the time`.
fn number_before<T: std::str::FromStr>(words: &str, unit: &str) -> Option<T> {
    let (before, _) = words.split_once(unit)?;
    let start = before.rfind(|c: char| !c.is_ascii_digit() && c != '.');
    before[start.map_or(0, |at| at + 1)..].parse().ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Cutoffs with this status.
    pub(crate) fn cutoff_with(status: Status) -> Cutoff {
        Cutoff {
            status,
            steps: None,
            cuts: 0,
        }
    }

    /// What is read from JSON, as it is written again.
    fn check(json: &str, expected: &str) {
        let read: Techniques = serde_json::from_str(json).expect("it can be read");
        let written = serde_json::to_string(&read).expect("it can be written");
        assert_eq!(written, expected);
        let again: Techniques = serde_json::from_str(&written).expect("it can be read");
        assert_eq!(again, read);
    }

    #[test]
    fn sentences_of_old_results_are_read() {
        check(
            r#"{"cutoff":"on: goals are stable (427.4), playouts end after 11 steps by their goals; 258 cut"}"#,
            r#"{"cutoff":{"status":"on","steps":11,"cuts":258}}"#,
        );
        check(
            r#"{"cutoff":"off: some states have no goal, and matches end at depths 2 to 2; 0 cut"}"#,
            r#"{"cutoff":{"status":"off","cuts":0}}"#,
        );
        check(
            r#"{"cutoff":"watching: 3 of 50 natural simulations seen; 0 cut"}"#,
            r#"{"cutoff":{"status":"undecided","cuts":0}}"#,
        );
        check(
            r#"{"fast":"64 cells: white: (f 2) 1.5 … (b 3) -0.7; 1000 simulations, held back until a weight is beyond 2 after 1000 simulations"}"#,
            r#"{"fast":{"status":"undecided","simulations":1000}}"#,
        );
        check(
            r#"{"fast":"piece types: white: rook 9.5; 6000 simulations, active"}"#,
            r#"{"fast":{"status":"on","simulations":6000}}"#,
        );
        check(
            r#"{"fast":"off: there is no board"}"#,
            r#"{"fast":{"status":"off","simulations":0}}"#,
        );
        check(
            r#"{"heuristic":"1406 gates; 36 states evaluated, 3637 ns each, 12.5 % of the time"}"#,
            r#"{"heuristic":{"status":"on","gates":1406,"states":36,"ns_per_state":3637.0,"share":0.125}}"#,
        );
        check(
            r#"{"heuristic":"none: the game does not ground"}"#,
            r#"{"heuristic":{"status":"off","gates":0,"states":0,"ns_per_state":0.0}}"#,
        );
    }

    #[test]
    fn a_technique_that_may_still_decide_is_looked_at_again() {
        let read =
            |json: &str| -> Techniques { serde_json::from_str(json).expect("it can be read") };
        assert!(read("{}").is_settled());
        assert!(read(r#"{"cutoff":{"status":"off","cuts":0}}"#).is_settled());
        assert!(!read(r#"{"cutoff":{"status":"undecided","cuts":0}}"#).is_settled());
        assert!(!read(r#"{"fast":"64 cells; 10 simulations, held back"}"#).is_settled());
        assert!(!read(r#"{"heuristic":"214 gates"}"#).is_settled());
    }
}
