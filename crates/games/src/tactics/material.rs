//! What a move gains in pieces: full-width search with a count of pieces at the end.
//!
//! After the steps of full width only captures and promotions are followed, as far as they go; the side to move may stop
//! at any time (quiescence search). A terminal state counts as much material as no position has.

use std::collections::BTreeMap;

use agon_engine::{Game, Machine, MoveId, RoleId, State};

use super::prove::{Turn, Unproven};

/// The material that a finished game is worth to its winner.
const WON: i32 = 1000;

/// Weighs the pieces of one game from the point of view of one role.
pub struct Scale<'g> {
    game: &'g Game,
    role: RoleId,
    machine: Box<dyn Machine + Send>,
    /// What each bit of a state is worth to the role.
    worth: Vec<i32>,
    steps_left: u64,
}

/// The end of a search: how good the best line must be, and for whom.
#[derive(Clone, Copy)]
struct Bounds {
    alpha: i32,
    beta: i32,
}

impl<'g> Scale<'g> {
    /// A scale for pieces of this worth to each role, which may take `most` steps of the engine.
    #[must_use]
    pub fn new(
        game: &'g Game,
        role: RoleId,
        worth: &BTreeMap<String, BTreeMap<String, i32>>,
        most: u64,
    ) -> Scale<'g> {
        let n_bits = 64 * game.initial_state().words().len();
        let own = game.role_name(role);
        let bit_worth = |bit: usize| {
            let mut words = vec![0_u64; n_bits / 64];
            words[bit / 64] = 1 << (bit % 64);
            let fluents = game.fluents(&State::from_words(words.into()));
            let fluent = fluents.first().map_or("", String::as_str);
            let pieces = worth.iter().flat_map(|(owner, pieces)| {
                let sign = if *owner == own { 1 } else { -1 };
                pieces
                    .iter()
                    .map(move |(piece, worth)| (piece, sign * worth))
            });
            let mut found = pieces.filter(|(piece, _)| fluent.ends_with(&format!(" {piece})")));
            found.next().map_or(0, |(_, worth)| worth)
        };
        Scale {
            game,
            role,
            machine: game.machine(),
            worth: (0..n_bits).map(bit_worth).collect(),
            steps_left: most,
        }
    }

    /// The material of the role less that of the others.
    #[must_use]
    pub fn balance(&self, state: &State) -> i32 {
        let is_on = |bit: usize| state.words()[bit / 64] >> (bit % 64) & 1 == 1;
        let on = self.worth.iter().enumerate().filter(|(bit, _)| is_on(*bit));
        on.map(|(_, worth)| worth).sum()
    }

    /// Whether a move leads to a balance of at least `wanted` after `plies` steps and the captures after them.
    ///
    /// # Errors
    /// If that takes too long.
    pub fn reaches(
        &mut self,
        state: &State,
        mv: MoveId,
        wanted: i32,
        plies: u32,
    ) -> Result<bool, Unproven> {
        self.machine.load(state);
        let turn = Turn::of(self.game, &mut *self.machine)?;
        let (child, _) = self.child(state, &turn, mv)?;
        let bounds = Bounds {
            alpha: wanted - 1,
            beta: wanted,
        };
        Ok(self.value(&child, bounds, plies.saturating_sub(1))? >= wanted)
    }

    /// The balance under best play, exact between the bounds. The role maximises it, the others minimise it.
    fn value(&mut self, state: &State, bounds: Bounds, plies: u32) -> Result<i32, Unproven> {
        self.machine.load(state);
        if self.machine.is_terminal() {
            let goal = self.machine.goal(self.role).ok_or(Unproven::Dead)?;
            return Ok(match goal.value() {
                0..50 => -WON,
                50 => 0,
                _ => WON,
            });
        }
        let Bounds {
            mut alpha,
            mut beta,
        } = bounds;
        let turn = Turn::of(self.game, &mut *self.machine)?;
        let is_own = turn.mover == self.role;
        let now = self.balance(state);
        // Below the full width the side to move may leave it at what it has.
        let mut best = match (plies, is_own) {
            (0, _) => now,
            (_, true) => -WON,
            (_, false) => WON,
        };
        if plies == 0 && ((is_own && best >= beta) || (!is_own && best <= alpha)) {
            return Ok(best);
        }
        let mut children = Vec::new();
        for &mv in &turn.moves {
            let (child, balance) = self.child(state, &turn, mv)?;
            let gain = if is_own { balance - now } else { now - balance };
            if plies > 0 || gain > 0 {
                children.push((gain, child));
            }
        }
        children.sort_by_key(|(gain, _)| -gain);
        for (_, child) in children {
            let value = self.value(&child, Bounds { alpha, beta }, plies.saturating_sub(1))?;
            if is_own {
                best = best.max(value);
                alpha = alpha.max(best);
            } else {
                best = best.min(value);
                beta = beta.min(best);
            }
            if alpha >= beta {
                break;
            }
        }
        Ok(best)
    }

    fn child(&mut self, state: &State, turn: &Turn, mv: MoveId) -> Result<(State, i32), Unproven> {
        self.steps_left = self.steps_left.checked_sub(1).ok_or(Unproven::TooLong)?;
        self.machine.load(state);
        self.machine.advance(&turn.joint(mv));
        let child = self.machine.state();
        let balance = self.balance(&child);
        Ok((child, balance))
    }
}
