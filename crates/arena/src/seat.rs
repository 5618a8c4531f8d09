//! A player bound to a role in one match.

use std::collections::BTreeMap;
use std::time::Duration;

use agon_protocol::Player;

/// A player and what the record says about it. Seats are in the order of the roles.
pub struct Seat {
    /// The player.
    pub player: Box<dyn Player>,
    /// What the record says about the player.
    pub about: About,
    /// How much later than its clock an answer may arrive, to allow for the network.
    pub grace: Duration,
}

/// What the record says about a player.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct About {
    /// The name of the player.
    pub name: String,
    /// All its parameters.
    pub parameters: BTreeMap<String, String>,
    /// Its budget per move, as text: `1000 playouts`.
    pub budget: Option<String>,
    /// Its seed, if it has one.
    pub seed: Option<u64>,
    /// Whether it is a person.
    pub is_human: bool,
}

impl About {
    /// A player of which only the name is known.
    #[must_use]
    pub fn named(name: &str) -> About {
        About {
            name: name.to_owned(),
            ..About::default()
        }
    }
}

impl Seat {
    /// A player in this process.
    #[must_use]
    pub fn new(player: Box<dyn Player>, about: About) -> Seat {
        Seat {
            player,
            about,
            grace: Duration::from_millis(50),
        }
    }
}
