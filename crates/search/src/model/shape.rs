//! What the inputs and outputs of a network are in a game.
//!
//! Inputs are the ground fluents, one bit each, without those that only say whose turn it is. That is told by the *head* instead: each
//! control phase of the game has its own second layer and values, and where the rules have no control phases each role does that alone
//! has a choice, and all states in which several or none have one. Outputs are one move per role, and values: one for two roles, which is
//! half of the difference of their goals, as the search sees it; otherwise the goal of each role.

use agon_engine::Game;
use thiserror::Error;

/// Most fluents and moves of all roles together: beyond it, a network would take hundreds of megabytes in training.
pub const MOST_ROWS: usize = 200_000;

/// Why a game gets no network.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum NoNetwork {
    /// There are no ground fluents.
    #[error("the game cannot be grounded within the limits; it is played without a network")]
    NotGround,
    /// There are too many rows.
    #[error(
        "the game has {0} fluents and moves, more than {MOST_ROWS}; it is played without a network"
    )]
    TooLarge(usize),
    /// There is one role.
    #[error("a game for one role is searched by its best lines; it is played without a network")]
    Puzzle,
}

/// The inputs and outputs of a network.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Ground fluents.
    pub n_fluents: usize,
    /// Per role: its moves.
    pub n_moves: Vec<usize>,
    /// Second layers.
    pub n_heads: usize,
    /// Bits of a state that are inputs.
    mask: Vec<u64>,
    /// Per phase, if there are several: for some words of a state, which bits tell it, and what they are.
    phases: Vec<Vec<(usize, u64, u64)>>,
}

impl Shape {
    /// The shape of the network of a game.
    ///
    /// # Errors
    /// If the game gets none.
    pub fn new(game: &Game) -> Result<Shape, NoNetwork> {
        let grounded = game.grounded().ok_or(NoNetwork::NotGround)?;
        if game.n_roles() == 1 {
            return Err(NoNetwork::Puzzle);
        }
        let program = grounded.program();
        let n_fluents = program.fluents.len();
        let n_moves: Vec<usize> = program.roles.iter().map(|role| role.moves.len()).collect();
        let n_rows = n_fluents + n_moves.iter().sum::<usize>();
        if n_rows > MOST_ROWS {
            return Err(NoNetwork::TooLarge(n_rows));
        }
        let found = &grounded.optimized().phases;
        let mut mask = vec![0_u64; n_fluents.div_ceil(64)];
        for bit in (0..n_fluents).filter(|&bit| !found.bits.contains(&(bit as u32))) {
            mask[bit / 64] |= 1 << (bit % 64);
        }
        let marks = |values: &Vec<bool>| {
            let mut marks: Vec<(usize, u64, u64)> = Vec::new();
            for (&bit, &is_set) in found.bits.iter().zip(values) {
                let (word, bit) = (bit as usize / 64, 1_u64 << (bit % 64));
                if marks.last().is_none_or(|mark| mark.0 != word) {
                    marks.push((word, 0, 0));
                }
                if let Some(mark) = marks.last_mut() {
                    mark.1 |= bit;
                    mark.2 |= if is_set { bit } else { 0 };
                }
            }
            marks
        };
        let phases = match found.len() {
            1 => Vec::new(),
            _ => found.values.iter().map(marks).collect(),
        };
        Ok(Shape {
            n_fluents,
            n_heads: match found.len() {
                1 => n_moves.len() + 1,
                n => n,
            },
            n_moves,
            mask,
            phases,
        })
    }

    /// Number of roles.
    #[must_use]
    pub fn n_roles(&self) -> usize {
        self.n_moves.len()
    }

    /// Number of values.
    #[must_use]
    pub fn n_values(&self) -> usize {
        match self.n_roles() {
            2 => 1,
            n => n,
        }
    }

    /// Bits of a state that are inputs.
    #[must_use]
    pub fn mask(&self) -> &[u64] {
        &self.mask
    }

    /// Whether a fluent is an input.
    #[must_use]
    pub fn is_input(&self, fluent: usize) -> bool {
        self.mask[fluent / 64] >> (fluent % 64) & 1 == 1
    }

    /// The head of a state in which roles have these numbers of legal moves.
    #[must_use]
    #[inline]
    pub fn head(&self, words: &[u64], n_legal: impl Fn(usize) -> usize) -> usize {
        if self.phases.is_empty() {
            let mut choosing = (0..self.n_roles()).filter(|&role| n_legal(role) > 1);
            return match (choosing.next(), choosing.next()) {
                (Some(only), None) => only,
                _ => self.n_roles(),
            };
        }
        let is_it = |marks: &Vec<(usize, u64, u64)>| {
            let mut marks = marks.iter();
            marks.all(|&(word, mask, bits)| words[word] & mask == bits)
        };
        self.phases.iter().position(is_it).unwrap_or(0)
    }

    /// Makes goals of all roles, or what else they are worth, 0 to 1, the values that a network is to give.
    pub fn to_values(&self, worth: &[f32], to: &mut Vec<f32>) {
        match *worth {
            [first, second] => to.push((first - second + 1.0) / 2.0),
            _ => to.extend_from_slice(worth),
        }
    }
}
