//! Positions of built-in games with one right move, or few, and the proof that they are right.
//!
//! `tactics/<game>.toml` has the positions of a game; docs/TACTICS.md explains the format. [`tactics`] reads all of them,
//! [`Position::start`] plays the moves that lead to a position, and [`Position::verify`] proves its claim anew by a
//! full-width search ([`prove`]).
//!
//! **Limits:** two sides that take turns, or one role. All roles but the one to move count as one side against it.

pub mod material;
pub mod prove;

use std::collections::BTreeMap;
use std::fmt;

use agon_engine::{Game, JointMove, JointMoveError, MoveId, RoleId, State};
use include_dir::{Dir, include_dir};
use serde::Deserialize;
use thiserror::Error;

use material::Scale;
use prove::{Prover, Unproven, Wish};

static TACTICS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/tactics");

/// The positions of a game.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tactics {
    /// The name of the game.
    pub game: String,
    /// What pieces are worth to each role: the end of a fluent, such as `white queen`, and its worth.
    #[serde(default)]
    pub worth: BTreeMap<String, BTreeMap<String, i32>>,
    /// The positions.
    #[serde(rename = "position")]
    pub positions: Vec<Position>,
}

/// A position with its right moves.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// Its name, unique within the game.
    pub name: String,
    /// Why the right moves are right, for people.
    pub reason: String,
    /// The role that is asked.
    pub role: String,
    /// The right moves.
    pub right: Vec<String>,
    /// What is claimed of them.
    pub claim: Claim,
    /// The goal in question: a right move secures it, or the other moves lose it. With [`Claim::Material`], the material
    /// that a right move gains.
    pub value: u8,
    /// Within how many steps of the game this is proven, the first move included.
    pub plies: u32,
    /// How many steps the rest of the claim is proven for, where it is only proven for so long.
    #[serde(default)]
    pub holds: u32,
    /// The joint moves that lead to the position, one per line.
    pub moves: String,
}

/// What is claimed of the right moves of a position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Claim {
    /// A right move secures the value within `plies`; after any other move the opponents prevent it within `plies`.
    Only,
    /// After any other move the opponents prevent the value within `plies`; after a right move they cannot do so within
    /// `holds`.
    Defence,
    /// A right move secures the value within `plies`; no other move does within `holds`.
    Fastest,
    /// A right move gains at least so much material in a search of `plies` and the captures after it; any other move
    /// gains less by 2 or more.
    Material,
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Claim::Only => "only",
            Claim::Defence => "defence",
            Claim::Fastest => "fastest",
            Claim::Material => "material",
        })
    }
}

/// A position that has been reached.
#[derive(Clone, Debug)]
pub struct Start {
    /// The joint moves that led to it, each with the state after it.
    pub steps: Vec<(JointMove, State)>,
    /// The state.
    pub state: State,
    /// The role that is asked.
    pub role: RoleId,
    /// Its legal moves.
    pub legal: Vec<MoveId>,
    /// The right ones of them.
    pub right: Vec<MoveId>,
}

/// What is wrong with a position.
#[derive(Debug, Error)]
pub enum Flaw {
    /// There is no such role.
    #[error("the game has no role `{0}`")]
    Role(String),
    /// A line does not have a move for each role.
    #[error("step {0}: {1}")]
    Line(usize, JointMoveError),
    /// A move is not legal.
    #[error("step {0}: `{1}` is not legal")]
    Illegal(usize, String),
    /// The game is over too early.
    #[error("the game is over before step {0}")]
    Over(usize),
    /// A right move is not legal.
    #[error("the right move `{0}` is not legal")]
    Right(String),
    /// There is no choice.
    #[error("{0} moves are legal, and {1} of them are right")]
    NoChoice(usize, usize),
    /// The claim is false.
    #[error("`{mv}` {what}")]
    False {
        /// The move.
        mv: String,
        /// What was found out about it.
        what: String,
    },
    /// The claim could not be examined.
    #[error(transparent)]
    Unproven(#[from] Unproven),
}

/// The positions of all games, by the name of the game.
///
/// # Panics
/// If a built-in file is not valid: a test keeps that from being released.
#[must_use]
pub fn tactics() -> Vec<Tactics> {
    let files = TACTICS.files().map(|file| {
        let path = file.path().display();
        let text = file.contents_utf8().expect("the files are UTF-8");
        read(text).unwrap_or_else(|error| panic!("tactics/{path}: {error}"))
    });
    let mut all: Vec<Tactics> = files.collect();
    all.sort_by(|a, b| a.game.cmp(&b.game));
    all
}

/// Reads a file of positions.
///
/// # Errors
/// If the text is not such a file.
pub fn read(text: &str) -> Result<Tactics, toml::de::Error> {
    toml::from_str(text)
}

impl Position {
    /// Plays the moves that lead to the position.
    ///
    /// # Errors
    /// If a move is not legal, or there is nothing to choose.
    pub fn start(&self, game: &Game) -> Result<Start, Flaw> {
        let role = game.find_role(&self.role);
        let role = role.ok_or_else(|| Flaw::Role(self.role.clone()))?;
        let mut machine = game.machine();
        let mut steps = Vec::new();
        let lines = self.moves.lines().map(str::trim);
        for (idx, line) in lines.filter(|line| !line.is_empty()).enumerate() {
            let number = idx + 1;
            if machine.is_terminal() {
                return Err(Flaw::Over(number));
            }
            let joint = game
                .joint_move(&terms(line))
                .map_err(|error| Flaw::Line(number, error))?;
            for (mover, &mv) in game.roles().zip(joint.moves()) {
                if !machine.legal_moves(mover).contains(&mv) {
                    return Err(Flaw::Illegal(number, game.move_text(mover, mv)));
                }
            }
            machine.advance(&joint);
            steps.push((joint, machine.state()));
        }
        if machine.is_terminal() {
            return Err(Flaw::Over(steps.len() + 1));
        }
        let legal = machine.legal_moves(role).to_vec();
        let find = |text: &String| {
            let mv = game.find_move(role, text).filter(|mv| legal.contains(mv));
            mv.ok_or_else(|| Flaw::Right(text.clone()))
        };
        let right = self.right.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        if right.is_empty() || right.len() >= legal.len() {
            return Err(Flaw::NoChoice(legal.len(), right.len()));
        }
        let state = machine.state();
        Ok(Start {
            steps,
            state,
            role,
            legal,
            right,
        })
    }

    /// Proves the claim anew, with at most `most` steps of the engine.
    ///
    /// # Errors
    /// What is wrong with the position, or that the proof takes more steps.
    pub fn verify(&self, game: &Game, tactics: &Tactics, most: u64) -> Result<(), Flaw> {
        let start = self.start(game)?;
        if self.claim == Claim::Material {
            let mut scale = Scale::new(game, start.role, &tactics.worth, most);
            return self.verify_material(game, &start, &mut scale);
        }
        let mut prover = Prover::new(game, start.role, most);
        for &mv in &start.legal {
            let is_right = start.right.contains(&mv);
            let Some(what) = self.refute(&mut prover, &start, mv, is_right)? else {
                continue;
            };
            let mv = game.move_text(start.role, mv);
            return Err(Flaw::False { mv, what });
        }
        Ok(())
    }

    /// Why the claim does not hold for a move, if so.
    fn refute(
        &self,
        prover: &mut Prover<'_>,
        start: &Start,
        mv: MoveId,
        is_right: bool,
    ) -> Result<Option<String>, Unproven> {
        let state = prover.after(&start.state, mv)?;
        let Position { value, .. } = *self;
        let mut forces = |wish, plies: u32| prover.forces(&state, wish, plies.saturating_sub(1));
        let (plies, holds) = (self.plies, self.holds);
        let what = match (self.claim, is_right) {
            (Claim::Only | Claim::Fastest, true) => {
                let is_good = forces(Wish::Reach(value), plies)?;
                (!is_good).then(|| format!("does not secure {value} within {plies} plies"))
            }
            (Claim::Only | Claim::Defence, false) => {
                let is_good = forces(Wish::Prevent(value), plies)?;
                (!is_good).then(|| format!("may still reach {value} after {plies} plies"))
            }
            (Claim::Defence, true) => {
                let is_bad = forces(Wish::Prevent(value), holds)?;
                is_bad.then(|| format!("loses {value} within {holds} plies"))
            }
            (Claim::Fastest, false) => {
                let is_bad = forces(Wish::Reach(value), holds)?;
                is_bad.then(|| format!("secures {value} within {holds} plies, too"))
            }
            (Claim::Material, _) => None,
        };
        Ok(what)
    }

    fn verify_material(
        &self,
        game: &Game,
        start: &Start,
        scale: &mut Scale<'_>,
    ) -> Result<(), Flaw> {
        let before = scale.balance(&start.state);
        let gain = i32::from(self.value);
        for &mv in &start.legal {
            let is_right = start.right.contains(&mv);
            let wanted = before + if is_right { gain } else { gain - 1 };
            let reaches = scale.reaches(&start.state, mv, wanted, self.plies)?;
            if reaches != is_right {
                let verb = if reaches { "gains" } else { "does not gain" };
                let what = format!("{verb} {} of material", wanted - before);
                let mv = game.move_text(start.role, mv);
                return Err(Flaw::False { mv, what });
            }
        }
        Ok(())
    }
}

/// The terms of a line: words, and whatever is in brackets.
#[must_use]
pub fn terms(line: &str) -> Vec<&str> {
    let mut terms = Vec::new();
    let (mut depth, mut begin) = (0_i32, None);
    for (idx, letter) in line.char_indices() {
        if letter.is_whitespace() && depth == 0 {
            terms.extend(begin.take().map(|begin: usize| &line[begin..idx]));
            continue;
        }
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        begin = begin.or(Some(idx));
    }
    terms.extend(begin.map(|begin| &line[begin..]));
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_term_per_role() {
        assert_eq!(terms("(mark 2 2) noop"), ["(mark 2 2)", "noop"]);
        assert_eq!(terms(" noop  (f (g 1) 2) "), ["noop", "(f (g 1) 2)"]);
        assert!(terms("  ").is_empty());
    }
}
