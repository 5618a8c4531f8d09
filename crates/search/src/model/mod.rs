//! A network that values states and moves of a game: what it is, and how it computes.
//!
//! ```text
//! fluents that hold ─ sum of their rows, ReLU ─ 64 units ─┬─ 32 units, ReLU ─ values   one second layer per head (`shape`)
//!                                                         └─ chances of the legal moves of each role
//! ```
//!
//! [`Weights`] stand in the order of the fluents and moves of one game. A [`Model`] is what a file holds: weights with the names of their
//! fluents and moves, and what is known of their training; [`Model::bind`] makes a [`Network`] for a game of it. Everything here is bytes
//! and numbers: files are read by others.
//!
//! Numbers are computed by [`agon_engine::dense`], the same on every CPU.
//!
//! Not here: training (crate `learn`), how a search uses a network (`evaluators::network`, `techniques::puct`).
//!
//! - Silver and others 2018, A general reinforcement learning algorithm that masters chess, shogi and Go (values and policies)
//! - Nasu 2018, Efficiently updatable neural-network-based evaluation functions (a first layer that is a sum of rows)

mod bytes;
mod half;
mod shape;
mod shipped;

use std::fmt;

use agon_engine::dense::{Kernel, Matrix, Row, SECOND_UNITS, sigmoid};
use agon_engine::{Game, MoveId, RoleId};

pub use bytes::{BEST_USE, Model, ModelError, Record, rules_key};
pub use shape::{MOST_ROWS, NoNetwork, Shape};
pub use shipped::{shipped_model, shipped_models};

/// The second layer of a head, and its values.
#[derive(Clone, PartialEq)]
pub struct Head {
    /// Weights of the second layer.
    pub weights: Box<Matrix>,
    /// Its biases.
    pub bias: [f32; SECOND_UNITS],
    /// Per value: weights.
    pub values: Vec<[f32; SECOND_UNITS]>,
    /// Per value: the bias.
    pub value_bias: Vec<f32>,
}

/// The moves of a role.
#[derive(Clone, PartialEq)]
pub struct MoveRows {
    /// Per move: weights.
    pub rows: Vec<Row>,
    /// Per move: the bias.
    pub bias: Vec<f32>,
}

/// All numbers of a network.
#[derive(Clone, PartialEq)]
pub struct Weights {
    /// The biases of the first layer.
    pub bias: Row,
    /// Per fluent: a row.
    pub inputs: Vec<Row>,
    /// Second layers.
    pub heads: Vec<Head>,
    /// Per role.
    pub moves: Vec<MoveRows>,
}

impl Weights {
    /// All zeros.
    #[must_use]
    pub fn zero(shape: &Shape) -> Weights {
        let head = Head {
            weights: Box::new(Matrix::ZERO),
            bias: [0.0; SECOND_UNITS],
            values: vec![[0.0; SECOND_UNITS]; shape.n_values()],
            value_bias: vec![0.0; shape.n_values()],
        };
        let moves = |&n: &usize| MoveRows {
            rows: vec![Row::ZERO; n],
            bias: vec![0.0; n],
        };
        Weights {
            bias: Row::ZERO,
            inputs: vec![Row::ZERO; shape.n_fluents],
            heads: vec![head; shape.n_heads],
            moves: shape.n_moves.iter().map(moves).collect(),
        }
    }

    /// Whether all are finite numbers.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        let is_fine = |numbers: &[f32]| numbers.iter().all(|number| number.is_finite());
        let heads = self.heads.iter().all(|head| {
            head.weights.0.iter().all(|row| is_fine(row))
                && is_fine(&head.bias)
                && head.values.iter().all(|row| is_fine(row))
                && is_fine(&head.value_bias)
        });
        let moves = self
            .moves
            .iter()
            .all(|moves| moves.rows.iter().all(|row| is_fine(&row.0)) && is_fine(&moves.bias));
        heads && moves && is_fine(&self.bias.0) && self.inputs.iter().all(|row| is_fine(&row.0))
    }
}

/// A network for one game.
#[derive(Clone, PartialEq)]
pub struct Network {
    /// What its inputs and outputs are.
    pub shape: Shape,
    /// Its numbers.
    pub weights: Weights,
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network")
            .field("shape", &self.shape)
            .finish_non_exhaustive()
    }
}

/// Computes with networks, on one thread.
#[derive(Clone, Debug)]
pub struct Inference {
    kernel: Kernel,
    units: Row,
    second: [f32; SECOND_UNITS],
}

impl Inference {
    /// For a game, by the instructions that its lanes use.
    #[must_use]
    pub fn new(game: &Game) -> Inference {
        let grounded = game.grounded();
        let simd = grounded.map(|grounded| grounded.lanes_program().simd());
        Inference {
            kernel: Kernel::new(simd.unwrap_or(agon_engine::lanes::Simd::Portable)),
            units: Row::ZERO,
            second: [0.0; SECOND_UNITS],
        }
    }

    /// What a state is worth to each role, 0 to 1.
    #[inline]
    pub fn values(&mut self, network: &Network, words: &[u64], head: usize, to: &mut [f32]) {
        let (weights, mask) = (&network.weights, network.shape.mask());
        let head = &weights.heads[head];
        let (bias, inputs) = (&weights.bias, &weights.inputs);
        self.kernel
            .first_layer(words, mask, inputs, bias, &mut self.units);
        self.kernel
            .second_layer(&self.units, &head.weights, &head.bias, &mut self.second);
        for (idx, to) in to.iter_mut().enumerate().take(head.values.len()) {
            let sum = dot(&self.second, &head.values[idx]) + head.value_bias[idx];
            *to = sigmoid(sum);
        }
        if let ([first, second], 1) = (to, head.values.len()) {
            *second = 1.0 - *first;
        }
    }

    /// The chances of the legal moves of a role in the state whose values were computed last.
    #[inline]
    pub fn chances(
        &mut self,
        network: &Network,
        role: RoleId,
        moves: &[MoveId],
        to: &mut Vec<f32>,
    ) {
        let of_role = &network.weights.moves[role.idx()];
        let (rows, bias) = (&of_role.rows, &of_role.bias);
        self.kernel.chances(&self.units, rows, bias, moves, to);
    }
}

/// A scalar product of fixed order: four partial sums.
#[inline]
fn dot(one: &[f32; SECOND_UNITS], other: &[f32; SECOND_UNITS]) -> f32 {
    let mut sums = [0.0_f32; 4];
    for (one, other) in one.as_chunks::<4>().0.iter().zip(other.as_chunks::<4>().0) {
        for (sum, (one, other)) in sums.iter_mut().zip(one.iter().zip(other)) {
            *sum += one * other;
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}
