//! The bots that need no tree, those for hidden information, and all bots by name.

mod chooser;
mod flat_mc;
mod greedy;
mod ii_random;
mod ismcts;
mod legal;
mod oos;
mod open;
mod random;

use std::sync::Arc;

use agon_engine::{Game, MoveId, RoleId, State};

pub use flat_mc::FlatMc;
pub use greedy::GreedyBot;
pub use ii_random::IiRandomBot;
pub use ismcts::InfoSetBot;
use ismcts::Sight;
pub use legal::LegalBot;
pub use oos::OosBot;
pub use open::OpenBot;
pub use random::RandomBot;

use crate::belief::{Belief, Seat};
use crate::belief_bot::BeliefBot;
use crate::bot::Bot;
use crate::limits::{Limits, Meter};
use crate::params::Params;
use crate::uct::UctBot;

/// The names of all bots but those that are made of others.
pub const NAMES: &[&str] = &["random", "legal", "greedy", "mc", "uct"];

/// The bot of this name.
#[must_use]
pub fn by_name(name: &str, game: Arc<Game>, params: &Params, seed: u64) -> Option<Box<dyn Bot>> {
    Some(match name {
        "random" => Box::new(RandomBot::new(game, seed)),
        "legal" => Box::new(LegalBot::new(game)),
        "greedy" => Box::new(GreedyBot::new(&game, seed)),
        "mc" => Box::new(FlatMc::new(&game, params, seed)),
        "uct" => Box::new(UctBot::new(&game, params, seed)),
        _ => return None,
    })
}

/// The names of all bots for games with hidden information.
pub const BELIEF_NAMES: &[&str] = &["ii-random", "hyperplay", "ismcts", "oos", "ii-agon"];

/// The bot of this name that plays a role of a game with hidden information, from the initial state on. `ii-agon` chooses one of
/// the others by the game.
#[must_use]
pub fn belief_by_name(
    name: &str,
    game: &Arc<Game>,
    role: RoleId,
    params: &Params,
    seed: u64,
) -> Option<Box<dyn BeliefBot>> {
    let start = game.initial_state();
    let seat = Seat {
        game,
        role,
        start,
        seed,
    };
    sit_down(name, &seat, params)
}

/// The bot of this name in a seat.
pub(crate) fn sit_down(name: &str, seat: &Seat<'_>, params: &Params) -> Option<Box<dyn BeliefBot>> {
    Some(match name {
        "ii-random" => Box::new(IiRandomBot::new(seat)),
        "hyperplay" => Box::new(InfoSetBot::new(seat, Sight::All, params)),
        "ismcts" => Box::new(InfoSetBot::new(seat, Sight::Own, params)),
        "oos" => Box::new(OosBot::new(seat, params)),
        "ii-agon" => return sit_down(chooser::choose(seat.game), seat, params),
        _ => return None,
    })
}

/// Lets a belief work in what was seen, with at most half of the limits.
fn catch_up(belief: &mut Belief, limits: &Limits, meter: &mut Meter<'_>) {
    let half = Limits {
        playouts: None,
        ..limits.part(2)
    };
    let mut own = Meter::start(&half);
    belief.catch_up(&mut own);
    meter.count_transitions(own.n_transitions());
}

/// The legal moves of a role.
fn legal_moves(game: &Game, state: &State, role: RoleId) -> Vec<MoveId> {
    let mut machine = game.machine();
    machine.load(state);
    let moves = machine.legal_moves(role).to_vec();
    assert!(!moves.is_empty(), "a role that is asked has a legal move");
    moves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_bot() {
        let sheet = b"(role a) (legal a x) (goal a 50) (<= terminal (true never))";
        let rules = agon_gdl::check(&agon_gdl::parse(sheet, &Default::default()));
        let rules = Arc::new(rules.expect("it is well-formed"));
        let game = Game::compile(rules, &Default::default(), &|| false).expect("it runs");
        let game = Arc::new(game);
        for name in NAMES {
            let bot = by_name(name, Arc::clone(&game), &Params::default(), 1);
            let mut bot = bot.unwrap_or_else(|| panic!("{name} is a bot"));
            let limits = Limits::playouts(1);
            let decision = bot.think(game.initial_state(), RoleId(0), &limits, &mut |_| {});
            assert_eq!(game.move_text(RoleId(0), decision.mv), "x");
        }
        assert!(by_name("nobody", game, &Params::default(), 1).is_none());
    }
}
