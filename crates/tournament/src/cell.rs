//! A cell of a tournament: a game, a pair of players, a budget, and how many matches.
//!
//! A cell knows the seats, the seed and the key of each of its matches. Nothing is played here.

use std::sync::Arc;

use agon_arena::rules_hash;
use agon_engine::Game;
use thiserror::Error;

use crate::budget::Budget;
use crate::entrant::Entrant;
use crate::result::{Contestant, Fixture};
use crate::seats::{round, round_of_one};
use crate::sprt::Sprt;

/// A game that is ready to be played.
#[derive(Clone)]
pub struct Sheet {
    /// Its name.
    pub name: String,
    /// The game.
    pub game: Arc<Game>,
    /// Hash of its rules.
    pub hash: String,
}

impl Sheet {
    /// A compiled game under this name.
    #[must_use]
    pub fn new(name: &str, game: Arc<Game>) -> Sheet {
        Sheet {
            name: name.to_owned(),
            hash: rules_hash(&game.rules().to_string()),
            game,
        }
    }

    /// The rules as text, from which [`Sheet::from_text`] makes an equal sheet.
    #[must_use]
    pub fn text(&self) -> String {
        self.game.rules().to_string()
    }

    /// Compiles rules.
    ///
    /// # Errors
    /// What is wrong with the rules, for people.
    pub fn from_text(name: &str, text: &str) -> Result<Sheet, SheetError> {
        let game = Game::from_text(text).map_err(|error| SheetError(error.to_string()))?;
        Ok(Sheet::new(name, Arc::new(game)))
    }
}

/// Why rules cannot be played.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{0}")]
pub struct SheetError(String);

/// A pair of players.
#[derive(Clone)]
pub struct Contestants {
    /// The first player, whose score is reported.
    pub first: Arc<Entrant>,
    /// The second player.
    pub second: Arc<Entrant>,
}

/// The settings that all cells of a tournament share.
#[derive(Clone, PartialEq, Debug)]
pub struct Terms {
    /// Matches of a cell, unless a sequential test ends it early.
    pub n_matches: u32,
    /// Seed of the tournament.
    pub seed: u64,
    /// Seconds of the start clock.
    pub start_clock: Option<f64>,
    /// Seconds per move of remote players.
    pub play_clock: Option<f64>,
    /// The sequential test that ends a cell early.
    pub sprt: Option<Sprt>,
}

/// A game, a pair and a budget.
#[derive(Clone)]
pub struct Cell {
    /// The game.
    pub sheet: Arc<Sheet>,
    /// The players.
    pub pair: Contestants,
    /// Their budget per move.
    pub budget: Budget,
    /// The settings that all cells share.
    pub terms: Terms,
    /// The technique of the first player that the cell measures; the cell ends early where it is not active.
    pub part: Option<String>,
    /// Seconds are multiplied by this, on a machine that is slower or faster than the one they are meant for. It does not
    /// change what identifies a match.
    pub time_scale: f64,
    contestants: [Contestant; 2],
    seatings: Vec<Vec<u8>>,
}

impl Cell {
    /// A cell; `None` if a remote player would need more than one role.
    #[must_use]
    pub fn new(sheet: Arc<Sheet>, pair: Contestants, budget: Budget, terms: Terms) -> Option<Cell> {
        let n_roles = sheet.game.playing_roles().count();
        let remote = [&pair.first, &pair.second].map(|entrant| entrant.address().is_some());
        let seatings = match remote {
            _ if n_roles <= 2 => round(n_roles),
            [false, false] => round(n_roles),
            [true, false] => round_of_one(n_roles, 0),
            [false, true] => round_of_one(n_roles, 1),
            [true, true] => return None,
        };
        let contestants = [&pair.first, &pair.second].map(|entrant| Contestant {
            name: entrant.to_string(),
            is: entrant.identity(&sheet.game),
        });
        Some(Cell {
            sheet,
            pair,
            budget,
            terms,
            part: None,
            time_scale: 1.0,
            contestants,
            seatings,
        })
    }

    /// Number of matches after which both players have had every role equally often.
    #[must_use]
    pub fn round_len(&self) -> u32 {
        self.seatings.len() as u32
    }

    /// The player of each role in a match, 0 or 1.
    #[must_use]
    pub fn seating(&self, index: u32) -> &[u8] {
        &self.seatings[index as usize % self.seatings.len()]
    }

    /// The entrant of a seat.
    pub(crate) fn entrant(&self, seat: u8) -> &Entrant {
        match seat {
            0 => &self.pair.first,
            _ => &self.pair.second,
        }
    }

    /// The addresses of remote players.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        let pair = [&self.pair.first, &self.pair.second];
        pair.into_iter().filter_map(|entrant| entrant.address())
    }

    /// Whether it is a game for one: each player plays alone.
    pub(crate) fn is_solitary(&self) -> bool {
        self.sheet.game.playing_roles().count() == 1
    }

    /// What identifies a match.
    #[must_use]
    pub fn fixture(&self, index: u32) -> Fixture {
        let is_remote = self.addresses().next().is_some();
        let is_timed = is_remote || !self.budget.is_repeatable();
        Fixture {
            game: self.sheet.name.clone(),
            rules: self.sheet.hash.clone(),
            players: self.contestants.clone(),
            budget: self.budget,
            start_clock: self.terms.start_clock.filter(|_| is_timed),
            play_clock: self.terms.play_clock.filter(|_| is_remote),
            seed: self.terms.seed,
            index,
        }
    }

    /// The seed of a role in a match. In games for one, the matches of the two players come in pairs with the same seed.
    pub(crate) fn seat_seed(&self, index: u32, role_idx: usize) -> u64 {
        let index = if self.is_solitary() { index / 2 } else { index };
        let seed = self.terms.seed.wrapping_mul(1_000_003);
        let seed = seed.wrapping_add(u64::from(index));
        seed.wrapping_mul(64).wrapping_add(role_idx as u64)
    }

    /// The seed of chance in a match. Two matches in a row, between which the players swap seats, have the same one, so that
    /// both get the same luck.
    pub(crate) fn chance_seed(&self, index: u32) -> u64 {
        const CHANCE: u64 = 63;
        let seed = self.terms.seed.wrapping_mul(1_000_003);
        let seed = seed.wrapping_add(u64::from(index / 2));
        seed.wrapping_mul(64).wrapping_add(CHANCE)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A sheet compiled.
    pub(crate) fn compile(sheet: &str) -> Arc<Game> {
        let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
        let rules = Arc::new(rules.expect("it is well-formed"));
        let limits = agon_ground::GroundLimits::default();
        Arc::new(Game::compile(rules, &limits, &|| false).expect("it runs"))
    }

    /// Two roles move at once, for two steps. The role that goes right more often gets 100.
    pub(crate) fn counting_game() -> Arc<Game> {
        compile(
            "(role x) (role y) (init (at 0)) (init (more x 0)) (init (more y 0)) (succ 0 1) (succ 1 2)
             (<= (legal ?r left) (role ?r)) (<= (legal ?r right) (role ?r))
             (<= (next (at ?b)) (true (at ?a)) (succ ?a ?b))
             (<= (next (more ?r ?b)) (does ?r right) (true (more ?r ?a)) (succ ?a ?b))
             (<= (next (more ?r ?a)) (does ?r left) (true (more ?r ?a)))
             (<= terminal (true (at 2)))
             (<= (greater ?a ?b) (succ ?b ?a)) (greater 2 0)
             (<= (beats ?r ?o) (true (more ?r ?a)) (true (more ?o ?b)) (greater ?a ?b))
             (<= (goal ?r 100) (role ?r) (beats ?r ?o)) (<= (goal ?r 0) (role ?r) (beats ?o ?r))
             (<= (equal) (true (more x ?a)) (true (more y ?a)))
             (<= (goal ?r 50) (role ?r) (equal))",
        )
    }

    /// A cell of that game with a budget of 20 playouts.
    pub(crate) fn cell(first: &str, second: &str, n_matches: u32) -> Cell {
        let entrant = |text: &str| Arc::new(Entrant::parse(text).expect("it is one"));
        let pair = Contestants {
            first: entrant(first),
            second: entrant(second),
        };
        let terms = Terms {
            n_matches,
            seed: 1,
            start_clock: Some(3.0),
            play_clock: Some(2.0),
            sprt: None,
        };
        let sheet = Arc::new(Sheet::new("counting", counting_game()));
        Cell::new(sheet, pair, Budget::Playouts(20), terms).expect("everybody can sit")
    }

    #[test]
    fn clocks_count_where_they_matter() {
        let counted = cell("mc", "random", 4).fixture(2);
        assert_eq!((counted.start_clock, counted.play_clock), (None, None));
        let remote = cell("mc", "http://127.0.0.1:1", 4).fixture(2);
        assert_eq!(
            (remote.start_clock, remote.play_clock),
            (Some(3.0), Some(2.0))
        );
    }

    #[test]
    fn every_seat_of_every_match_has_its_own_seed() {
        let cell = cell("mc", "random", 4);
        let mut seeds: Vec<u64> = (0..100)
            .flat_map(|index| [cell.seat_seed(index, 0), cell.seat_seed(index, 1)])
            .collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 200);
    }
}
