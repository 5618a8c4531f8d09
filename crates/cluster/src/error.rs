//! What can go wrong between machines.

use std::io;

use agon_tournament::StoreError;
use thiserror::Error;

/// Why a queue cannot be used.
#[derive(Debug, Error)]
pub enum ClusterError {
    /// The server cannot be reached, or refuses us.
    #[error("cannot connect to {address}: {reason}")]
    Connect {
        /// The address.
        address: String,
        /// Why not.
        reason: String,
    },
    /// A file with credentials or certificates cannot be read.
    #[error("{file}: {error}")]
    File {
        /// The file.
        file: String,
        /// What is wrong.
        error: io::Error,
    },
    /// The server does not do what we ask.
    #[error("the NATS server: {what}: {reason}")]
    Server {
        /// What was asked.
        what: &'static str,
        /// The answer.
        reason: String,
    },
    /// The queue has no tournament of this name.
    #[error("the queue has no tournament `{0}`; `agon queue list` shows all")]
    Unknown(String),
    /// A name cannot be used in subjects.
    #[error("`{0}` is not a name; use up to 64 letters, digits, - and _")]
    Name(String),
    /// A player cannot be sent to other machines.
    #[error("{player}: {reason}")]
    Player {
        /// The player.
        player: String,
        /// Why not.
        reason: String,
    },
    /// Rules are too large.
    #[error("the rules of {game} have {bytes} bytes; at most {most} can be sent")]
    TooLarge {
        /// The game.
        game: String,
        /// Its size.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The runtime cannot be started.
    #[error("cannot start threads: {0}")]
    Runtime(io::Error),
}

impl ClusterError {
    pub(crate) fn server(what: &'static str, error: &dyn ToString) -> ClusterError {
        ClusterError::Server {
            what,
            reason: error.to_string(),
        }
    }
}
