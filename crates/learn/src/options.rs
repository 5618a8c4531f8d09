//! How a network is trained: every number in one place.

use agon_engine::Game;
use agon_search::model::{NoNetwork, Shape};

/// Gates of a step beyond which fewer games are played at once, because their states fill the caches.
const HEAVY_GATES: usize = 20_000;

/// How a network is trained.
#[derive(Clone, Debug)]
pub struct Options {
    /// Games at once, per thread.
    pub games: u32,
    /// Simulations for a move, with those kept from the move before.
    pub simulations: u32,
    /// Weight of exploration by priors, on values 0 to 1.
    pub exploration: f32,
    /// What moves never tried are worth less than their state.
    pub urgency: f32,
    /// Share of noise in the priors of the root.
    pub noise: f32,
    /// The parameters of its Dirichlet distribution, summed up over all moves.
    pub noise_sum: f32,
    /// Steps in which moves are drawn as often as they were visited.
    pub temperature_steps: u32,
    /// Most random moves that a game begins with.
    pub random_moves: u32,
    /// Most steps of a game.
    pub most_steps: u32,
    /// Share of the result in what a position is worth; the rest is what its search said.
    pub result_share: f32,
    /// How often each position is learned from.
    pub uses: f32,
    /// Positions of a step of gradient descent.
    pub batch: usize,
    /// Positions between two looks at the network, per thread.
    pub chunk: u64,
    /// The first rate of learning; it falls to 0 by a cosine.
    pub rate: f32,
    shape: Shape,
}

impl Options {
    /// For a game.
    ///
    /// # Errors
    /// If the game gets no network.
    pub fn new(game: &Game) -> Result<Options, NoNetwork> {
        let shape = Shape::new(game)?;
        let gates = game.grounded().map_or(0, |grounded| {
            let networks = &grounded.optimized().networks;
            let sum: usize = networks
                .iter()
                .map(agon_engine::network::Network::n_gates)
                .sum();
            sum / networks.len().max(1)
        });
        Ok(Options {
            games: if gates > HEAVY_GATES { 256 } else { 512 },
            simulations: 100,
            exploration: 0.9,
            urgency: 0.1,
            noise: 0.25,
            noise_sum: 10.0,
            temperature_steps: 12,
            random_moves: 4,
            most_steps: 1000,
            result_share: 0.6,
            uses: 4.0,
            batch: 256,
            chunk: 2048,
            rate: 2e-3,
            shape,
        })
    }

    /// What the inputs and outputs of the network are.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }
}
