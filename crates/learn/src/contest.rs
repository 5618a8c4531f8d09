//! Small matches: does a network play better than an earlier one, or than the player without it?
//!
//! Two entrants play from positions after a few random moves. Each position is played twice with seats swapped; with more than two roles,
//! entrants sit in turn. An entrant scores a point if its roles together reach more than those of the other, and half a point if as much.

use std::sync::Arc;

use agon_engine::{Game, JointMove, MoveId, RoleId, State};
use agon_search::model::Network;
use agon_search::{Bot, Limits, Params, Random, Turn, UctBot, play_match};

/// Who plays.
#[derive(Clone)]
pub struct Entrant {
    /// Its parameters.
    pub params: Params,
    /// The network that it goes by.
    pub network: Option<Arc<Network>>,
}

/// Points of the first entrant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Matches.
    pub matches: u32,
    /// One for each that was won, half a one for each that was drawn.
    pub points: f64,
}

impl Score {
    /// Points per match, 0 to 1.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.points / f64::from(self.matches.max(1))
    }

    /// Where the mean would be after many matches, with 95 % confidence (Wilson 1927).
    #[must_use]
    pub fn interval(&self) -> (f64, f64) {
        const Z: f64 = 1.959_964;
        let n = f64::from(self.matches);
        if self.matches == 0 {
            return (0.0, 1.0);
        }
        let mean = self.mean();
        let scale = 1.0 / (1.0 + Z * Z / n);
        let middle = (mean + Z * Z / (2.0 * n)) * scale;
        let half = Z * scale * (mean * (1.0 - mean) / n + Z * Z / (4.0 * n * n)).sqrt();
        ((middle - half).max(0.0), (middle + half).min(1.0))
    }
}

/// How matches are played.
pub struct Terms<'a> {
    /// Limits of each move.
    pub limits: &'a dyn Fn() -> Limits,
    /// Random moves that each match begins with.
    pub random_moves: u32,
    /// Most steps of a match.
    pub most_steps: u32,
    /// Seed of everything random.
    pub seed: u64,
    /// Ends all matches.
    pub stop: &'a dyn Fn() -> bool,
}

/// Plays matches between two entrants; `told` hears of each.
pub fn compete(
    game: &Arc<Game>,
    entrants: [&Entrant; 2],
    n_matches: u32,
    terms: &Terms<'_>,
    told: &mut dyn FnMut(Score),
) -> Score {
    let mut score = Score::default();
    for number in 0..n_matches {
        let mut random = Random::new(terms.seed.wrapping_add(u64::from(number / 2)));
        let Some(start) = opening(game, terms.random_moves, &mut random) else {
            continue;
        };
        let is_swapped = number % 2 == 1;
        let Some(points) = play_one(game, entrants, is_swapped, &start, number, terms) else {
            break;
        };
        score.matches += 1;
        score.points += points;
        told(score);
    }
    score
}

/// A state after random moves that is not the end; `None` if there is hardly any.
fn opening(game: &Game, n_moves: u32, random: &mut Random) -> Option<State> {
    let mut machine = game.machine();
    for _ in 0..100 {
        machine.load(game.initial_state());
        for _ in 0..n_moves {
            let mut joint: Vec<MoveId> = Vec::new();
            for role in RoleId::all(game.n_roles()) {
                joint.extend(random.pick(machine.legal_moves(role)));
            }
            if machine.is_terminal() || joint.len() < game.n_roles() {
                break;
            }
            machine.advance(&JointMove::new(joint));
        }
        let is_stuck = RoleId::all(game.n_roles()).any(|role| machine.legal_moves(role).is_empty());
        if !machine.is_terminal() && !is_stuck {
            return Some(machine.state());
        }
    }
    None
}

/// The points of the first entrant in a match; `None` if it was stopped.
fn play_one(
    game: &Arc<Game>,
    entrants: [&Entrant; 2],
    is_swapped: bool,
    start: &State,
    number: u32,
    terms: &Terms<'_>,
) -> Option<f64> {
    let seat = |role: usize| (role + usize::from(is_swapped)) % 2;
    let seed = terms
        .seed
        .wrapping_mul(31)
        .wrapping_add(u64::from(number) * 101);
    let bot = |role: RoleId| -> Box<dyn Bot> {
        let entrant = entrants[seat(role.idx())];
        let network = entrant.network.clone();
        let seed = seed.wrapping_add(u64::from(role.0));
        Box::new(UctBot::with_network(game, &entrant.params, network, seed))
    };
    let mut bots: Vec<Box<dyn Bot>> = RoleId::all(game.n_roles()).map(bot).collect();
    let mut ask = |bot: &mut dyn Bot, turn: &Turn<'_>| {
        let limits = (terms.limits)();
        let decision = bot.think(turn.state, turn.role, &limits, &mut |_| {});
        (!(terms.stop)()).then_some(decision.mv)
    };
    let outcome = play_match(
        game,
        start,
        &mut bots,
        terms.most_steps,
        &mut ask,
        &mut |_, _| {},
    );
    if (terms.stop)() {
        return None;
    }
    Some(outcome.points(seat))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_wilson() {
        let score = Score {
            matches: 20,
            points: 18.0,
        };
        let (low, high) = score.interval();
        assert!(
            (low - 0.699).abs() < 1e-3 && (high - 0.972).abs() < 1e-3,
            "{low} {high}"
        );
        assert_eq!(Score::default().interval(), (0.0, 1.0));
    }
}
