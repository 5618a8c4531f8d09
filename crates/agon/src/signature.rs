//! The fingerprint of behaviour: one number over searches of a few games by a few players.
//!
//! Each player makes a few moves for all roles of each game, on one thread, with a limit in playouts. The number is the
//! total of state transitions. A change to the code that does not change the number does not change what a search does. The
//! number is the same on every machine.

use std::sync::Arc;

use agon_engine::{Game, JointMove, RoleId};
use agon_gdl::Limits as GdlLimits;
use agon_ground::GroundLimits;
use agon_search::{Limits, Preset};

use crate::sheet::Sheet;

/// Turn-taking and simultaneous games, with one, two and three roles, and goals of all values.
const GAMES: &[&str] = &[
    "tic_tac_toe",
    "connect_four",
    "breakthrough_small",
    "checkers_small",
    "bidding_tic_tac_toe",
    "eight_puzzle",
    "chinese_checkers_3",
];
/// One of each kind of search.
const PLAYERS: &[&str] = &[
    "mc",
    "ary-amaf",
    "cadia-2007",
    "cadia-2009",
    "mast-ec-uau",
    "cadia-2007:batch=64",
    "agon",
];
const SEED: u64 = 1;
const PLAYOUTS: u64 = 500;
const STEPS: u32 = 3;

/// The number.
///
/// # Errors
/// If a built-in game cannot be read.
pub(crate) fn signature() -> anyhow::Result<u64> {
    let limits = GdlLimits::default();
    let mut n_transitions = 0;
    for name in GAMES {
        let rules = Arc::new(Sheet::find(name, &limits)?.rules(&limits)?);
        let game = Arc::new(Game::compile(rules, &GroundLimits::default(), &|| false)?);
        for player in PLAYERS {
            n_transitions += play(&game, &Preset::parse(player)?);
        }
    }
    Ok(n_transitions)
}

/// State transitions in the first moves of a match of a player against itself.
fn play(game: &Arc<Game>, preset: &Preset) -> u64 {
    let limits = Limits::playouts(PLAYOUTS);
    let roles = || RoleId::all(game.n_roles());
    let mut bots: Vec<_> = roles().map(|_| preset.bot(game, SEED)).collect();
    let mut machine = game.machine();
    let mut n_transitions = 0;
    for _ in 0..STEPS {
        if machine.is_terminal() || roles().any(|role| machine.legal_moves(role).is_empty()) {
            break;
        }
        let state = machine.state();
        let decisions = roles().zip(&mut bots);
        let decisions = decisions.map(|(role, bot)| {
            let decision = bot.think(&state, role, &limits, &mut |_| {});
            n_transitions += decision.report.transitions;
            decision.of
        });
        let joint = JointMove::new(decisions.collect::<Vec<_>>());
        machine.advance(&joint);
        let next = machine.state();
        bots.iter_mut().for_each(|bot| bot.played(&joint, &next));
    }
    n_transitions
}
