//! Which bot plays a game with hidden information best.
//!
//! `oos` mixes its moves, which a game with opponents who can be bluffed needs, but it learns each information set by itself and its
//! samples from the beginning of a match get worthless in long games. So it plays small games of two roles or more whose
//! hidden moves matter: a sample of random games shows the number of information sets. All others, and games with
//! one role, are played by `ismcts`.

use std::sync::Arc;

use agon_engine::{Game, RoleId};
use rustc_hash::FxHashSet;

use crate::belief::{ViewKey, World};
use crate::limits::{Limits, Meter};
use crate::random::Random;

/// Random games that are played.
const N_SAMPLES: u32 = 400;
/// Most transitions of all of them.
const MOST_TRANSITIONS: u64 = 8000;
/// With more information sets than this among them, a game is not small.
const MOST_SETS: usize = 600;

/// The name of the bot.
pub(super) fn choose(game: &Arc<Game>) -> &'static str {
    match is_small(game) {
        true => "oos",
        false => "ismcts",
    }
}

/// Whether several roles play, and random games show few information sets.
fn is_small(game: &Arc<Game>) -> bool {
    let mut world = World::new(game);
    let players = RoleId::all(game.n_roles()).filter(|&role| !world.is_chance(role));
    let players: Vec<RoleId> = players.collect();
    if players.len() < 2 {
        return false;
    }
    let limits = Limits::transitions(MOST_TRANSITIONS);
    let mut meter = Meter::start(&limits);
    let mut random = Random::new(1);
    let mut sets: FxHashSet<(RoleId, ViewKey)> = FxHashSet::default();
    for _ in 0..N_SAMPLES {
        world.restart();
        while !world.is_over() {
            if meter.stop().is_some() || sets.len() > MOST_SETS {
                return false;
            }
            for role in RoleId::all(game.n_roles()) {
                let view = world.view(role);
                let legal = world.legal(role);
                if legal.len() > 1 && players.contains(&role) {
                    sets.insert((role, view));
                }
                let mv = random.pick(legal).expect("nobody is stuck");
                world.joint_mut()[role.idx()] = mv;
            }
            world.step();
            meter.count_transition();
        }
    }
    true
}
