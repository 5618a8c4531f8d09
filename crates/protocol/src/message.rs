//! The messages of the protocol as values: [`Request`] from the manager, [`Reply`] from the player.
//!
//! Rules travel as checked [`Rules`], so that players in the same process share them; a message from the wire that
//! holds a game which cannot be played is an error of the codec. A reply may carry a [`Thought`], which only our own
//! players have and which never reaches the wire.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agon_gdl::Rules;

use crate::term::{Term, items};

/// What a manager asks or tells.
#[derive(Clone, Debug)]
pub enum Request {
    /// Who are you, and are you free? Also called PING.
    Info,
    /// A match of this game may begin soon.
    Preview {
        /// The game.
        rules: Arc<Rules>,
        /// How long the player may look at it.
        clock: Duration,
    },
    /// A match begins.
    Start {
        /// Its name.
        id: MatchId,
        /// The role that the player has.
        role: Term,
        /// The game.
        rules: Arc<Rules>,
        /// How long the player may prepare itself.
        start_clock: Duration,
        /// How long the player may think about each move.
        play_clock: Duration,
    },
    /// Which move do you make?
    Play {
        /// The match.
        id: MatchId,
        /// What all roles did in the last step, in their order; nothing before the first one.
        moves: Option<Vec<Term>>,
    },
    /// The match is over.
    Stop {
        /// The match.
        id: MatchId,
        /// What all roles did in the last step.
        moves: Option<Vec<Term>>,
    },
    /// The match is called off.
    Abort {
        /// The match.
        id: MatchId,
    },
}

impl Request {
    /// The match that it is about.
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

/// The name of a match: one word.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MatchId(Arc<str>);

impl MatchId {
    /// A name, if it is one word without brackets.
    #[must_use]
    pub fn new(name: &str) -> Option<MatchId> {
        let is_word = items(name).is_ok_and(|items| items == [name]) && !name.starts_with('(');
        is_word.then(|| MatchId(name.into()))
    }

    /// As text.
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

/// What a player answers.
#[derive(Clone, PartialEq, Debug)]
pub enum Reply {
    /// Who it is.
    Info(Info),
    /// It is ready for the match.
    Ready,
    /// It is in another match, or knows nothing of this one.
    Busy,
    /// Its move.
    Move {
        /// The move, which may be anything.
        of: Term,
        /// How it came to it.
        thought: Option<Thought>,
    },
    /// It has no move to offer: it failed inside.
    Nil,
    /// It has closed the match.
    Done,
    /// It has dropped the match.
    Aborted,
    /// There is no reply; whoever carries messages says why.
    Failed(Failure),
}

/// Why there is no reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// Nobody listens at the address of the player.
    Refused,
    /// The player cannot be reached, closed the connection, or is no GGP player; the text says what happened.
    Connection(String),
    /// What it sent is no reply; this is what it sent.
    Unreadable(String),
    /// It sent nothing.
    Empty,
}

/// Who a player is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Info {
    /// Its name, if it tells.
    pub name: Option<String>,
    /// Whether it has time for a match.
    pub status: Status,
    /// What it is, for example a program.
    pub species: Option<String>,
}

/// Whether a player has time for a match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Status {
    /// It has.
    Available,
    /// It has not.
    Busy,
    /// Something else, in its own words.
    Other(String),
}

/// How a player came to a move.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Thought {
    /// What it expects to get, 0 to 100.
    pub value: Option<f64>,
    /// Random games that it played.
    pub playouts: u64,
    /// States that it stepped through.
    pub transitions: u64,
    /// How long it thought.
    pub time: Duration,
    /// Why it stopped.
    pub stop: Option<String>,
    /// Its moves, best first.
    pub moves: Vec<WeighedMove>,
    /// What else it has to say, such as that its search failed.
    pub note: Option<String>,
}

/// A move and what a player thinks of it.
#[derive(Clone, PartialEq, Debug)]
pub struct WeighedMove {
    /// The move.
    pub of: Term,
    /// How often it was tried.
    pub visits: u64,
    /// The mean of what came of it, 0 to 100.
    pub mean: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_match_is_one_word() {
        for name in ["m1", "Base.ticTacToe.1", "a-b_c"] {
            assert_eq!(MatchId::new(name).expect("it is one").as_str(), name);
        }
        for name in ["", " ", "a b", "(a)", "a ", "a(b", ";", "a;b"] {
            assert_eq!(MatchId::new(name), None, "{name}");
        }
    }

    #[test]
    fn requests_know_their_match() {
        let id = MatchId::new("m").expect("it is one");
        assert_eq!(Request::Abort { id: id.clone() }.id(), Some(&id));
        assert!(Request::Info.id().is_none());
    }
}
