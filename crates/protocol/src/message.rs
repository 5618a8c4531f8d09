//! The messages of the protocol as values: [`Request`] from the manager, [`Reply`] from the player.
//!
//! Messages hold checked [`Rules`], so that players in the same process share them. If the rules of a received message cannot
//! be played, the codec returns an error. A reply may carry a [`Thought`], which only players of this process have and which
//! is never sent.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agon_gdl::Rules;

use crate::term::{Term, items};

/// A message from the manager.
#[derive(Clone, Debug)]
pub enum Request {
    /// Asks for the name and status of the player. Also called PING.
    Info,
    /// A match of this game may begin soon.
    Preview {
        /// The game.
        rules: Arc<Rules>,
        /// How long the player may prepare.
        clock: Duration,
    },
    /// A match begins.
    Start {
        /// The name of the match.
        id: MatchId,
        /// The role of the player.
        role: Term,
        /// The game.
        rules: Arc<Rules>,
        /// How long the player may prepare.
        start_clock: Duration,
        /// How long the player may think about each move.
        play_clock: Duration,
    },
    /// Asks for a move.
    Play {
        /// The match.
        id: MatchId,
        /// The last joint move, in the order of the roles; in games of GDL-II what the player saw in the last step. `None`
        /// before the first step.
        moves: Option<Vec<Term>>,
        /// The step of the match, in the later form of the protocol of GDL-II.
        turn: Option<Turn>,
    },
    /// The match is over.
    Stop {
        /// The match.
        id: MatchId,
        /// The last joint move, or what the player saw in the last step.
        moves: Option<Vec<Term>>,
        /// The step of the match, in the later form of the protocol of GDL-II.
        turn: Option<Turn>,
    },
    /// The match is cancelled.
    Abort {
        /// The match.
        id: MatchId,
    },
}

impl Request {
    /// The match that the request is about.
    #[must_use]
    pub fn id(&self) -> Option<&MatchId> {
        match self {
            Request::Info | Request::Preview { .. } => None,
            Request::Start { id, .. }
            | Request::Play { id, .. }
            | Request::Stop { id, .. }
            | Request::Abort { id } => Some(id),
        }
    }
}

/// Where a match is, in the later form of the protocol of GDL-II: `(PLAY id TURN LASTMOVE (percepts…))`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Turn {
    /// Number of steps that were made.
    pub number: u32,
    /// The last move of the player, which the manager may have chosen in its place; `None` before the first step.
    pub last_move: Option<Term>,
}

/// How a manager tells players what they saw.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PerceptForm {
    /// `(PLAY id (percepts…))`.
    Short,
    /// `(PLAY id TURN LASTMOVE (percepts…))`: a player learns which move the manager chose in its place.
    #[default]
    Turn,
}

/// The name of a match: one word.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MatchId(Arc<str>);

impl MatchId {
    /// A name. Returns `None` unless it is one word without brackets.
    #[must_use]
    pub fn new(name: &str) -> Option<MatchId> {
        let is_word = items(name).is_ok_and(|items| items == [name]) && !name.starts_with('(');
        is_word.then(|| MatchId(name.into()))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for MatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The answer of a player.
#[derive(Clone, PartialEq, Debug)]
pub enum Reply {
    /// The name and status of the player.
    Info(Info),
    /// The player is ready for the match.
    Ready,
    /// The player is in another match, or does not know this one.
    Busy,
    /// A move.
    Move {
        /// The move, which need not be legal.
        mv: Term,
        /// How the player chose it.
        thought: Option<Thought>,
    },
    /// The player has no move because of an internal failure.
    Nil,
    /// The player has closed the match.
    Done,
    /// The player has dropped the match.
    Aborted,
    /// There is no reply, for this reason.
    Failed(Failure),
}

/// Why there is no reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// Nobody listens at the address of the player.
    Refused,
    /// The player cannot be reached, closed the connection, or is not a GGP player; the text says what happened.
    Connection(String),
    /// The player sent this text, which is not a valid reply.
    Unreadable(String),
    /// The player sent an empty reply.
    Empty,
}

/// The name and status of a player.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Info {
    /// Its name, if known.
    pub name: Option<String>,
    /// Whether it is available for a match.
    pub status: Status,
    /// The kind of player, for example a program.
    pub species: Option<String>,
}

/// Whether a player is available for a match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Status {
    /// It is available.
    Available,
    /// It is busy.
    Busy,
    /// Another status, as it was received.
    Other(String),
}

/// How a player chose a move.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Thought {
    /// The goal value that it expects, 0 to 100.
    pub value: Option<f64>,
    /// Number of playouts.
    pub playouts: u64,
    /// Number of state transitions.
    pub transitions: u64,
    /// Thinking time.
    pub time: Duration,
    /// Why the search stopped.
    pub stop: Option<String>,
    /// The moves with their statistics, best first.
    pub moves: Vec<WeighedMove>,
    /// A remark, for example that the search failed.
    pub note: Option<String>,
}

/// A move with its search statistics.
#[derive(Clone, PartialEq, Debug)]
pub struct WeighedMove {
    /// The move.
    pub mv: Term,
    /// Number of visits.
    pub visits: u64,
    /// Mean goal value, 0 to 100.
    pub mean: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_match_is_one_word() {
        for name in ["m1", "Base.ticTacToe.1", "a-b_c"] {
            assert_eq!(MatchId::new(name).expect("a valid name").as_str(), name);
        }
        for name in ["", " ", "a b", "(a)", "a ", "a(b", ";", "a;b"] {
            assert_eq!(MatchId::new(name), None, "{name}");
        }
    }

    #[test]
    fn requests_have_the_name_of_their_match() {
        let id = MatchId::new("m").expect("a valid name");
        assert_eq!(Request::Abort { id: id.clone() }.id(), Some(&id));
        assert!(Request::Info.id().is_none());
    }
}
