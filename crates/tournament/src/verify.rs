//! Checks a result that another machine sends, before it counts.
//!
//! In: the cell, and a result with its moves. Out: nothing, or the first thing that is wrong. The moves are played again by
//! the rules, and the end and the goals of the match are computed from them. Roles with one legal move are not asked in a
//! match, so they have no row. How good the moves are cannot be checked in this way.

use std::collections::HashMap;

use agon_arena::Ending;
use agon_engine::{Goal, JointMove, Machine, MoveId, RoleId};
use thiserror::Error;

use crate::cell::Cell;
use crate::match_runner::{MOST_STEPS, engine_fault};
use crate::result::{MatchResult, MoveRow};

/// What is wrong with a result.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum WrongResult {
    /// It is of another match, or claims other seats.
    #[error("it is not a result of this match")]
    Match,
    /// A role has a row where it was not asked, or none where it was, or two.
    #[error("step {step}: {role} has {found} moves and was asked {asked} times")]
    Rows {
        /// Number of the step, from 1.
        step: u32,
        /// The role.
        role: String,
        /// Rows of the result.
        found: usize,
        /// How often it was asked by the rules.
        asked: usize,
    },
    /// A move is not legal.
    #[error("step {step}: `{mv}` is not legal for {role}")]
    Illegal {
        /// Number of the step, from 1.
        step: u32,
        /// The role.
        role: String,
        /// The move.
        mv: String,
    },
    /// It ends earlier or later, or in another way.
    #[error(
        "it ends after {steps} steps with \"{ending}\", not after {found} steps with \"{words}\""
    )]
    End {
        /// Steps by the rules.
        steps: u32,
        /// The end by the rules.
        ending: String,
        /// Steps of the result.
        found: u32,
        /// The end of the result.
        words: String,
    },
    /// The goals differ.
    #[error("the goals are {expected:?}, not {found:?}")]
    Goals {
        /// The goals by the rules.
        expected: Vec<Option<u8>>,
        /// The goals of the result.
        found: Vec<Option<u8>>,
    },
    /// It has faults or forfeits, which bots of a worker cannot have.
    #[error("it has faults, and the players of a worker have none")]
    Faults,
}

/// Plays the moves of a result again.
///
/// # Errors
/// The first thing that is wrong.
pub fn verify(cell: &Cell, result: &MatchResult, moves: &[MoveRow]) -> Result<(), WrongResult> {
    let index = result.fixture.index;
    let is_here = index < cell.terms.n_matches && result.fixture == cell.fixture(index);
    if !is_here || result.seats != cell.seating(index) {
        return Err(WrongResult::Match);
    }
    if result.faults != [0, 0] || result.forfeits != [0, 0] {
        return Err(WrongResult::Faults);
    }
    let course = play_again(cell, result, moves)?;
    if course.steps != result.steps || course.ending != result.ending {
        return Err(WrongResult::End {
            steps: course.steps,
            ending: course.ending,
            found: result.steps,
            words: result.ending.clone(),
        });
    }
    match course.goals == result.goals {
        true => Ok(()),
        false => Err(WrongResult::Goals {
            expected: course.goals,
            found: result.goals.clone(),
        }),
    }
}

/// A match by its moves.
struct Course {
    steps: u32,
    ending: String,
    goals: Vec<Option<u8>>,
}

fn play_again(cell: &Cell, result: &MatchResult, moves: &[MoveRow]) -> Result<Course, WrongResult> {
    let game = &cell.sheet.game;
    let mut rows: HashMap<(u32, &str), Vec<&MoveRow>> = HashMap::new();
    for row in moves {
        rows.entry((row.step, &row.role)).or_default().push(row);
    }
    let names: Vec<String> = game.roles().map(|role| game.role_name(role)).collect();
    let mut machine = game.machine();
    let mut played: Vec<JointMove> = Vec::new();
    let mut n_used = 0;
    let ending = 'steps: loop {
        let steps = played.len() as u32;
        if machine.is_terminal() {
            break Ending::Terminal;
        }
        if steps >= MOST_STEPS {
            break Ending::StepLimit;
        }
        let mut joint = Vec::with_capacity(names.len());
        for (role, name) in RoleId::all(names.len()).zip(&names) {
            let asked = rows.get(&(steps + 1, name.as_str()));
            let asked = asked.map_or(&[][..], Vec::as_slice);
            let mv = match machine.legal_moves(role) {
                [] => {
                    let role = name.clone();
                    n_used += asked.len();
                    break 'steps Ending::NoLegalMove { role };
                }
                [only] => only_move(asked, name, *only)?,
                _ => asked_move(cell, &mut *machine, role, name, steps + 1, asked)?,
            };
            n_used += asked.len();
            joint.push(mv);
        }
        let joint = JointMove::new(joint);
        machine.advance(&joint);
        played.push(joint);
    };
    if n_used != moves.len() && !matches!(ending, Ending::NoLegalMove { .. }) {
        return Err(WrongResult::End {
            steps: played.len() as u32,
            ending: ending.to_string(),
            found: result.steps,
            words: "moves after the end".to_owned(),
        });
    }
    let goals = game.roles().map(|role| machine.goal(role).map(Goal::value));
    let goals: Vec<Option<u8>> = goals.collect();
    let fault = engine_fault(game, &played).map(|reason| Ending::EngineFault { reason });
    let ending = fault.unwrap_or(ending);
    Ok(Course {
        steps: played.len() as u32,
        goals: match ending {
            Ending::Terminal => goals,
            _ => vec![None; names.len()],
        },
        ending: ending.to_string(),
    })
}

/// The move of a role that has no choice.
fn only_move(asked: &[&MoveRow], role: &str, only: MoveId) -> Result<MoveId, WrongResult> {
    match asked {
        [] => Ok(only),
        [first, ..] => Err(WrongResult::Rows {
            step: first.step,
            role: role.to_owned(),
            found: asked.len(),
            asked: 0,
        }),
    }
}

/// The move of a role that was asked.
fn asked_move(
    cell: &Cell,
    machine: &mut dyn Machine,
    role: RoleId,
    name: &str,
    step: u32,
    asked: &[&MoveRow],
) -> Result<MoveId, WrongResult> {
    let [row] = asked else {
        return Err(WrongResult::Rows {
            step,
            role: name.to_owned(),
            found: asked.len(),
            asked: 1,
        });
    };
    let found = cell.sheet.game.find_move(role, &row.mv);
    let legal = found.filter(|mv| machine.legal_moves(role).contains(mv));
    legal.ok_or_else(|| WrongResult::Illegal {
        step,
        role: name.to_owned(),
        mv: row.mv.clone(),
    })
}

#[cfg(test)]
mod tests {
    use agon_protocol::StopFlag;

    use super::*;
    use crate::cell::tests::cell;
    use crate::match_runner::{FinishedMatch, Played, play};

    fn check(change: impl Fn(&mut FinishedMatch), expected: &str) {
        let cell = cell("mc", "random", 4);
        let Played::Finished(mut finished) = play(&cell, 1, &StopFlag::new()) else {
            panic!("nobody stops it");
        };
        change(&mut finished);
        let words = match verify(&cell, &finished.result, &finished.moves) {
            Ok(()) => "right".to_owned(),
            Err(error) => error.to_string(),
        };
        assert!(words.contains(expected), "{words}\n{expected}");
    }

    #[test]
    fn wrong_results_are_found() {
        check(|_| {}, "right");
        check(
            |finished| finished.result.fixture.index = 2,
            "not a result of this match",
        );
        check(
            |finished| finished.result.fixture.seed = 99,
            "not a result of this match",
        );
        check(
            |finished| finished.result.seats.reverse(),
            "not a result of this match",
        );
        check(|finished| finished.result.goals.reverse(), "the goals are");
        check(|finished| finished.result.goals[0] = None, "the goals are");
        check(
            |finished| finished.result.steps = 7,
            "it ends after 2 steps",
        );
        check(
            |finished| finished.result.ending = "step limit reached".to_owned(),
            "it ends",
        );
        check(
            |finished| finished.moves[0].mv = "(fly away)".to_owned(),
            "is not legal",
        );
        check(|finished| drop(finished.moves.remove(1)), "has 0 moves");
        check(|finished| finished.moves[3].step = 1, "has 2 moves");
        check(
            |finished| finished.moves[3].role = "z".to_owned(),
            "has 0 moves",
        );
        check(|finished| finished.result.faults[0] = 1, "it has faults");
        let extra = |finished: &mut FinishedMatch| {
            let mut row = finished.moves[3].clone();
            row.step = 3;
            finished.moves.push(row);
        };
        check(extra, "moves after the end");
    }
}
