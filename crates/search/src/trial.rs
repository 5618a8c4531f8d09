//! Whether the heuristic from the rules helps in a game, found out by playing.
//!
//! A heuristic that leads playouts astray loses more than it gains: the paper reports 5 points of 100 in Checkers. Before
//! its first move a bot can play quick matches with the heuristic against itself without it, in turn in each role. If it
//! clearly loses, the heuristic is used in the tree only, where simulations soon overrule it. The number of matches and
//! simulations is fixed, so that the same seed decides the same everywhere.
//!
//! In: a game, parameters, a seed. Out: the parameters to use, and what was found.
//!
//! - Trutman and Schiffel 2015, Creating Action Heuristics for General Game Playing Agents (table 1)

use std::sync::Arc;

use agon_engine::{Game, Goal, JointMove, MoveId, RoleId};

use crate::bot::Bot;
use crate::limits::Limits;
use crate::params::{HeuristicUse, Params};
use crate::uct::UctBot;

/// A trial match is stopped after so many steps.
const MOST_STEPS: u32 = 300;

/// What a trial has found.
pub(crate) struct Trial {
    /// Where the heuristic is used from now on.
    pub(crate) heuristic: HeuristicUse,
    /// In words.
    pub(crate) about: String,
}

/// Plays as many matches as the parameters say; none is no trial.
pub(crate) fn trial(game: &Arc<Game>, params: &Params, seed: u64) -> Option<Trial> {
    let n_matches = params.heuristic_trial;
    let is_needed = matches!(
        params.heuristic,
        HeuristicUse::Playout | HeuristicUse::Combined
    );
    if n_matches == 0 || !is_needed {
        return None;
    }
    let with = Params {
        heuristic_trial: 0,
        memory: params.memory.min(64),
        ..params.clone()
    };
    let without = Params {
        heuristic: HeuristicUse::Off,
        ..with.clone()
    };
    let (mut sum, mut squares) = (0.0, 0.0);
    for number in 0..n_matches {
        let role = number as usize % game.n_roles();
        let seed = seed.wrapping_add(u64::from(number));
        let goals = play(game, Some(role), &with, &without, seed);
        let others = if game.n_roles() == 1 {
            play(game, None, &with, &without, seed)[0]
        } else {
            (goals.iter().sum::<f64>() - goals[role]) / (goals.len() - 1) as f64
        };
        let value = (goals[role] - others + 100.0) / 2.0;
        sum += value;
        squares += value * value;
    }
    let n = f64::from(n_matches);
    let mean = sum / n;
    let error = ((squares / n - mean * mean).max(0.0) / n).sqrt();
    let loses = mean + error < 50.0;
    let heuristic = match params.heuristic {
        HeuristicUse::Combined if loses => HeuristicUse::Tree,
        HeuristicUse::Playout if loses => HeuristicUse::Off,
        kept => kept,
    };
    let verdict = if loses {
        "not trusted outside the tree"
    } else {
        "trusted"
    };
    Some(Trial {
        heuristic,
        about: format!("{mean:.0} points in {n_matches} trial matches: {verdict}"),
    })
}

/// The goals of a match in which one role uses the heuristic, or none.
fn play(
    game: &Arc<Game>,
    role: Option<usize>,
    with: &Params,
    without: &Params,
    seed: u64,
) -> Vec<f64> {
    let mut bots: Vec<UctBot> = (0..game.n_roles())
        .map(|of| {
            let params = if Some(of) == role { with } else { without };
            let seed = seed.wrapping_mul(31).wrapping_add(of as u64);
            UctBot::new(Arc::clone(game), params, seed)
        })
        .collect();
    let limits = Limits::playouts(u64::from(with.heuristic_trial_playouts));
    let mut machine = game.machine();
    for _ in 0..MOST_STEPS {
        if machine.is_terminal() {
            break;
        }
        let roles = || RoleId::all(game.n_roles());
        if roles().any(|role| machine.legal_moves(role).is_empty()) {
            break;
        }
        let state = machine.state();
        let choose = |(role, bot): (RoleId, &mut UctBot)| -> MoveId {
            bot.think(&state, role, &limits, &mut |_| {}).of
        };
        let joint = JointMove::new(roles().zip(&mut bots).map(choose).collect::<Vec<_>>());
        machine.advance(&joint);
        let next = machine.state();
        bots.iter_mut().for_each(|bot| bot.played(&joint, &next));
    }
    let goals = RoleId::all(game.n_roles()).map(|role| machine.goal(role).map_or(0, Goal::value));
    goals.map(f64::from).collect()
}
