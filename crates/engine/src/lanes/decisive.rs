//! Playouts with decisive moves, in which immediate wins are made and prevented, where that pays off.
//!
//! Finding them costs gates at every step ([`crate::optimize::decisive`]). In some games they hardly ever occur, and in
//! others a win of one role is also a win of another, so that it should not be prevented. So random playouts are
//! examined first. The scalar engine gets the same networks, for single playouts.

use std::sync::Arc;

use super::{Ending, Job, Lanes, LanesOptions, LanesProgram, Until};
use crate::grounded::Grounded;
use crate::optimize::decisive::decisive;
use crate::scalar::ScalarProgram;
use crate::state::{Goal, RoleId, State};

/// Number of playouts whose last states are examined.
const N_ENDS: u32 = 256;
/// Maximum number of steps of a playout; the spacing of the cut lengths whose last states are examined, and the number
/// of playouts for each.
const MAX_STEPS: u32 = 120;
const APART: usize = 3;
const N_EACH: u32 = 8;
/// Decisive moves pay off if moves are excluded in at least one of this many states.
const RARE: usize = 20;

/// A game for playouts with decisive moves.
pub(crate) struct Decisive {
    /// For lanes.
    pub(crate) lanes: Arc<LanesProgram>,
    /// For single playouts.
    pub(crate) scalar: Arc<ScalarProgram>,
}

/// The game laid out like `all`, for playouts with decisive moves; `None` if they hardly ever occur, if roles win
/// together, or if they cost too much.
pub(crate) fn lay_out(game: &Grounded, all: &Arc<LanesProgram>) -> Option<Decisive> {
    let goals = game.goal_values();
    let best: Vec<Option<Goal>> = goals
        .iter()
        .map(|values| values.iter().flatten().max().copied())
        .collect();
    let is_best = |(values, best): (&Vec<Option<Goal>>, &Option<Goal>)| {
        values
            .iter()
            .map(|value| value.is_some() && value == best)
            .collect()
    };
    let is_best: Vec<Vec<bool>> = goals.iter().zip(&best).map(is_best).collect();
    let (phases, networks) = game.optimized().per_phase();
    let networks = decisive(networks, &is_best)?;
    let program = Arc::new(LanesProgram::with(game, &networks, &all.options));
    if !wins_alone(game, all, &best) {
        return None;
    }
    let states = some_states(game, all);
    let pairs = n_moves(all, &states)
        .into_iter()
        .zip(n_moves(&program, &states));
    let n_fewer = pairs.filter(|(all, offered)| offered < all).count();
    let scalar = || ScalarProgram::new(phases, &networks, game.initial_state());
    (n_fewer * RARE >= states.len()).then(|| Decisive {
        lanes: program,
        scalar: Arc::new(scalar()),
    })
}

/// Whether some role wins alone in random playouts, and two roles never win together. The only role of a game always
/// wins alone.
fn wins_alone(game: &Grounded, program: &Arc<LanesProgram>, best: &[Option<Goal>]) -> bool {
    let mut lanes = Lanes::new(Arc::clone(program), &LanesOptions::default());
    lanes.submit([Job {
        n_playouts: N_ENDS,
        most_steps: MAX_STEPS,
        ..Job::new(game.initial_state(), 0)
    }]);
    lanes.run(Until::Idle);
    let (mut is_any, mut are_two) = (best.len() == 1, false);
    lanes.drain(|playout| {
        let wins = |role: &RoleId| {
            let goal = playout.goal(*role);
            goal.is_some() && goal == best[role.idx()]
        };
        let n_winners = RoleId::all(best.len()).filter(wins).count();
        let is_end = playout.ending() == Ending::Terminal;
        is_any |= is_end && n_winners == 1;
        are_two |= is_end && n_winners > 1;
    });
    is_any && !are_two
}

/// Nonterminal states of random playouts.
fn some_states(game: &Grounded, program: &Arc<LanesProgram>) -> Vec<State> {
    let options = LanesOptions {
        states: true,
        ..LanesOptions::default()
    };
    let mut lanes = Lanes::new(Arc::clone(program), &options);
    for n_steps in (1..=MAX_STEPS).step_by(APART) {
        lanes.submit([Job {
            n_playouts: N_EACH,
            most_steps: n_steps,
            ..Job::new(game.initial_state(), 0)
        }]);
    }
    lanes.run(Until::Idle);
    let mut states = Vec::new();
    lanes.drain(|playout| {
        if playout.ending() == Ending::StepLimit {
            states.push(State::from_words(playout.state_words().into()));
        }
    });
    states
}

/// The total number of legal moves of all roles in each of these states.
fn n_moves(program: &Arc<LanesProgram>, states: &[State]) -> Vec<usize> {
    let mut lanes = Lanes::new(Arc::clone(program), &LanesOptions::default());
    let refs: Vec<&State> = states.iter().collect();
    let mut counts = vec![0; states.len()];
    lanes.expand(&refs, |idx, seen| {
        let roles = RoleId::all(program.n_roles);
        counts[idx] = roles.map(|role| seen.legal_moves(role).len()).sum();
    });
    counts
}
