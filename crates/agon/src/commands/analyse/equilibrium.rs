//! How far regret minimisation comes towards an equilibrium of a small game with hidden information.

use std::sync::Arc;
use std::time::Instant;

use agon_engine::{Game, MoveId, RoleId};
use agon_search::bots::OosBot;
use agon_search::{Exploitability, ExploitabilityError, Limits, Params, ViewKey, exploitability};
use serde::Serialize;

/// Iterations of `oos`.
const ITERATIONS: u64 = 100_000;
/// States that a best response may visit.
const MOST_STATES: u64 = 2_000_000;

/// What is known of the strategies of a game.
#[derive(Serialize)]
pub(super) struct Equilibrium {
    /// Iterations of `oos` that were made.
    iterations: u64,
    /// Why there are no figures.
    refused: Option<String>,
    /// Exploitability of uniform play and of what `oos` found, in goals of 0 to 100.
    uniform: Option<f64>,
    oos: Option<f64>,
    /// What the first role can be sure of at least, and can get at most, in an equilibrium.
    value: Option<[f64; 2]>,
    first_role: String,
    /// Information sets with a choice, both roles together.
    information_sets: Option<usize>,
}

/// Finds out; `None` for games without hidden information.
pub(super) fn examine(game: &Arc<Game>, seed: u64, until: Instant) -> Option<Equilibrium> {
    if !game.is_gdl2() {
        return None;
    }
    let stop = || Instant::now() >= until;
    let even =
        |_: RoleId, _: ViewKey, legal: &[MoveId]| vec![1.0 / legal.len() as f64; legal.len()];
    Some(match exploitability(game, &even, MOST_STATES, &stop) {
        Ok(uniform) => measure(game, &uniform, seed, until),
        Err(error) => refuse(&error),
    })
}

fn measure(game: &Arc<Game>, uniform: &Exploitability, seed: u64, until: Instant) -> Equilibrium {
    let limits = Limits {
        deadline: Some(until),
        ..Limits::playouts(ITERATIONS)
    };
    let bot = OosBot::trained(game, &Params::default(), seed, &limits);
    let strategy = |role: RoleId, view: ViewKey, legal: &[MoveId]| bot.strategy(role, view, legal);
    match exploitability(game, &strategy, MOST_STATES, &|| false) {
        Ok(found) => Equilibrium {
            iterations: bot.n_iterations(),
            refused: None,
            uniform: Some(uniform.exploitability()),
            oos: Some(found.exploitability()),
            value: Some([found.sum - found.best_responses[1], found.best_responses[0]]),
            first_role: game.role_name(found.roles[0]),
            information_sets: Some(uniform.information_sets.iter().sum()),
        },
        Err(error) => refuse(&error),
    }
}

fn refuse(error: &ExploitabilityError) -> Equilibrium {
    Equilibrium {
        iterations: 0,
        refused: Some(error.to_string()),
        uniform: None,
        oos: None,
        value: None,
        first_role: String::new(),
        information_sets: None,
    }
}

impl Equilibrium {
    /// In words, one line each.
    pub(super) fn lines(&self) -> Vec<String> {
        let figures = (self.uniform, self.oos, self.value, self.information_sets);
        let (Some(uniform), Some(oos), Some([least, most]), Some(n_sets)) = figures else {
            let reason = self.refused.as_deref().unwrap_or_default();
            return vec![format!("no exploitability: {reason}")];
        };
        vec![
            format!(
                "exploitability of `oos` after {} iterations {oos:.2} goals, of uniform play {uniform:.2}",
                self.iterations
            ),
            format!(
                "{n_sets} information sets; in an equilibrium {} gets {least:.2} to {most:.2}",
                self.first_role
            ),
        ]
    }
}
