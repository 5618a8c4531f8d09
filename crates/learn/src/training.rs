//! Training, chunk by chunk: self-play on all threads, then steps of gradient descent.
//!
//! A chunk is a fixed number of positions per thread, so that a limit in positions gives the same network again. Where time is the
//! limit, the caller says how much of it is gone, and the rate of learning falls by that.

use std::sync::Arc;
use std::thread;

use agon_engine::Game;
use agon_engine::dense::{SECOND_UNITS, UNITS};
use agon_search::Random;
use agon_search::model::{Model, ModelError, Network, NoNetwork, Record, Shape, Weights};
use thiserror::Error;

use crate::alarm::{self, Alarm};
use crate::gradient::{Adam, Gradient, Losses};
use crate::options::Options;
use crate::sample::Window;
use crate::self_play::{GameCounts, SelfPlay, normal};

/// Samples that must be there before anything is learned from them.
const FEWEST_SAMPLES: usize = 4096;
/// Games that the alarm looks at.
const ALARM_GAMES: u64 = 1000;
/// How often a collapse is cured.
const MOST_CURES: u32 = 3;
/// The lowest rate of learning, as a share of the first.
const LEAST_RATE: f32 = 0.01;
/// How much the errors of the last chunk count.
const LOSS_SHARE: f64 = 0.1;

/// How far training is to go.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Budget {
    /// The share that is gone, 0 to 1.
    pub gone: f32,
}

/// Why bytes are not a checkpoint of this training.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum CheckpointError {
    /// They do not begin as a checkpoint does, or end early.
    #[error("the checkpoint is damaged; delete it to begin anew")]
    Damaged,
    /// It is one of another game.
    #[error("the checkpoint belongs to other rules; delete it to begin anew")]
    OtherRules,
}

/// How training goes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// All games so far.
    pub counts: GameCounts,
    /// Errors of late.
    pub losses: Losses,
    /// Steps of gradient descent.
    pub steps: u32,
    /// What went wrong in the last chunk, and was cured.
    pub alarm: Option<Alarm>,
    /// How often that happened so far.
    pub cures: u32,
}

/// A network in training.
pub struct Training {
    // Constant.
    game: Arc<Game>,
    options: Options,
    // What is learned.
    network: Network,
    adam: Adam,
    /// The network when nothing was wrong, and the one before, which the alarm cannot have been about.
    good: Vec<(Weights, Adam)>,
    // What it is learned from.
    players: Vec<SelfPlay>,
    window: Window,
    gradient: Gradient,
    random: Random,
    /// Steps that are due.
    owed: f32,
    // How it goes.
    progress: Progress,
    recent: GameCounts,
}

impl Training {
    /// Begins with a network that knows nothing.
    ///
    /// # Errors
    /// If the game gets no network.
    pub fn new(
        game: &Arc<Game>,
        options: &Options,
        n_threads: usize,
        seed: u64,
    ) -> Result<Training, NoNetwork> {
        let shape = options.shape().clone();
        let players: Option<Vec<SelfPlay>> = (0..n_threads.max(1) as u64)
            .map(|thread| {
                SelfPlay::new(game, options, seed.wrapping_mul(7919).wrapping_add(thread))
            })
            .collect();
        let mut random = Random::new(seed);
        let weights = random_weights(game, &shape, &mut random);
        let n_roles = game.n_roles();
        Ok(Training {
            game: Arc::clone(game),
            options: options.clone(),
            adam: Adam::new(&shape),
            good: Vec::new(),
            players: players.ok_or(NoNetwork::NotGround)?,
            window: Window::default(),
            gradient: Gradient::new(&shape),
            network: Network { shape, weights },
            random,
            owed: 0.0,
            progress: Progress {
                counts: GameCounts::new(n_roles),
                ..Progress::default()
            },
            recent: GameCounts::new(n_roles),
        })
    }

    /// The network as it is.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// How it goes.
    #[must_use]
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// The network as a model of its game.
    ///
    /// # Errors
    /// If the game gets no network.
    pub fn model(&self, name: &str, record: Record) -> Result<Model, ModelError> {
        Model::new(&self.game, name, &self.network, record)
    }

    /// Plays and learns for one chunk; `stop` is asked now and then and ends it early.
    pub fn run(&mut self, budget: Budget, stop: &(dyn Fn() -> bool + Sync)) {
        self.progress.alarm = None;
        self.play(stop);
        let before = self.window.n_added;
        for player in &mut self.players {
            player
                .samples
                .drain(..)
                .for_each(|sample| self.window.add(sample));
            self.progress.counts.add(&player.counts);
            self.recent.add(&player.counts);
            player.counts = GameCounts::new(self.game.n_roles());
        }
        let n_new = (self.window.n_added - before) as f32;
        self.owed += n_new * self.options.uses / self.options.batch as f32;
        if self.window.len() < FEWEST_SAMPLES {
            // What comes first is learned from when there is enough of it.
            return;
        }
        self.learn(budget);
        if self.recent.games >= ALARM_GAMES {
            self.look();
        }
    }

    fn play(&mut self, stop: &(dyn Fn() -> bool + Sync)) {
        let (network, n) = (&self.network, self.options.chunk);
        if let [player] = &mut self.players[..] {
            player.run(network, n, &stop);
            return;
        }
        thread::scope(|scope| {
            for player in &mut self.players {
                scope.spawn(move || player.run(network, n, &stop));
            }
        });
    }

    fn learn(&mut self, budget: Budget) {
        let angle = std::f64::consts::PI * f64::from(budget.gone.clamp(0.0, 1.0));
        let share = (0.5 + 0.5 * libm::cos(angle)) as f32;
        let rate = self.options.rate * share.max(LEAST_RATE);
        let mut losses = Losses::default();
        let mut n_steps = 0;
        while self.owed >= 1.0 {
            self.owed -= 1.0;
            for _ in 0..self.options.batch {
                let sample = self.window.draw(&mut self.random);
                self.gradient.add(&self.network, sample);
            }
            let of_batch = self.gradient.losses();
            losses.value += of_batch.value;
            losses.policy += of_batch.policy;
            n_steps += 1;
            self.adam
                .step(&mut self.network.weights, &mut self.gradient, rate);
        }
        if n_steps == 0 {
            return;
        }
        let is_first = self.progress.steps == 0;
        let mix = |old: f64, new: f64| match is_first {
            true => new / f64::from(n_steps),
            false => old + LOSS_SHARE * (new / f64::from(n_steps) - old),
        };
        self.progress.losses = Losses {
            value: mix(self.progress.losses.value, losses.value),
            policy: mix(self.progress.losses.policy, losses.policy),
        };
        self.progress.steps += n_steps;
    }

    /// Looks whether self-play has collapsed, and cures it.
    fn look(&mut self) {
        let found = alarm::check(&self.recent, self.progress.losses);
        let is_broken = !self.network.weights.is_finite();
        self.recent = GameCounts::new(self.game.n_roles());
        if found.is_none() && !is_broken {
            if self.good.len() == 2 {
                self.good.remove(0);
            }
            self.good
                .push((self.network.weights.clone(), self.adam.clone()));
            return;
        }
        if self.progress.cures >= MOST_CURES && !is_broken {
            return;
        }
        self.progress.alarm = found.or(Some(Alarm::NoError));
        self.progress.cures += 1;
        self.cure();
    }

    /// The last good network comes back, and games differ more.
    fn cure(&mut self) {
        match self.good.first() {
            Some((weights, adam)) => {
                self.network.weights = weights.clone();
                self.adam = adam.clone();
            }
            None => {
                let shape = self.network.shape.clone();
                self.network.weights = random_weights(&self.game, &shape, &mut self.random);
                self.adam = Adam::new(&shape);
            }
        }
        let (noise, n_random) = self.noise();
        for player in &mut self.players {
            player.set_noise(noise, n_random);
            player.abandon();
        }
        self.window.clear();
        self.owed = 0.0;
    }

    /// Share of noise and most random moves after the cures so far.
    fn noise(&self) -> (f32, u32) {
        let cures = self.progress.cures;
        let noise = (self.options.noise.max(0.25) + 0.1 * cures as f32).min(0.6);
        let n_random = (self.options.random_moves.max(4)) << cures.min(4);
        (noise, n_random)
    }

    /// Everything that is needed to go on later.
    #[must_use]
    pub fn checkpoint(&self, key: u64) -> Vec<u8> {
        let mut bytes = b"agonckp1".to_vec();
        let counts = &self.progress.counts;
        let numbers = [
            key,
            u64::from(self.adam.n_steps),
            u64::from(self.progress.steps),
            u64::from(self.progress.cures),
            counts.games,
            counts.steps,
            counts.cut,
            counts.positions,
            counts.simulations,
            self.progress.losses.value.to_bits(),
            self.progress.losses.policy.to_bits(),
        ];
        let of_roles = counts.wins.iter().copied();
        let of_roles = of_roles.chain(counts.worth.iter().map(|worth| worth.to_bits()));
        for number in numbers.into_iter().chain(of_roles) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        let mut weights = self.network.weights.clone();
        let Adam {
            mut means,
            mut squares,
            ..
        } = self.adam.clone();
        for all in [&mut weights, &mut means, &mut squares] {
            visit(all, &mut |numbers| {
                for number in numbers {
                    bytes.extend_from_slice(&number.to_le_bytes());
                }
                true
            });
        }
        let sum = sum(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Goes on from a checkpoint.
    ///
    /// # Errors
    /// If it is damaged, or one of other rules.
    pub fn resume(&mut self, bytes: &[u8], key: u64) -> Result<(), CheckpointError> {
        let damaged = CheckpointError::Damaged;
        let (body, end) = bytes.split_last_chunk::<8>().ok_or(damaged.clone())?;
        if sum(body) != u64::from_le_bytes(*end) {
            return Err(damaged);
        }
        let mut rest = body.strip_prefix(b"agonckp1").ok_or(damaged.clone())?;
        let mut next = || -> Option<u64> {
            let (number, after) = rest.split_first_chunk::<8>()?;
            rest = after;
            Some(u64::from_le_bytes(*number))
        };
        let n_roles = self.game.n_roles();
        let numbers: Option<Vec<u64>> = (0..11 + 2 * n_roles).map(|_| next()).collect();
        let numbers = numbers.ok_or(damaged.clone())?;
        if numbers[0] != key {
            return Err(CheckpointError::OtherRules);
        }
        let shape = &self.network.shape;
        let mut all = [
            Weights::zero(shape),
            Weights::zero(shape),
            Weights::zero(shape),
        ];
        for weights in &mut all {
            visit(weights, &mut |numbers| {
                for number in numbers {
                    let Some((bytes, after)) = rest.split_first_chunk::<4>() else {
                        return false;
                    };
                    *number = f32::from_le_bytes(*bytes);
                    rest = after;
                }
                true
            });
        }
        if !rest.is_empty() || !all[0].is_finite() {
            return Err(damaged);
        }
        let [weights, means, squares] = all;
        self.network.weights = weights;
        self.adam = Adam {
            means,
            squares,
            n_steps: numbers[1] as u32,
        };
        self.progress = Progress {
            counts: GameCounts {
                games: numbers[4],
                steps: numbers[5],
                cut: numbers[6],
                positions: numbers[7],
                simulations: numbers[8],
                wins: numbers[11..11 + n_roles].to_vec(),
                worth: numbers[11 + n_roles..]
                    .iter()
                    .map(|&bits| f64::from_bits(bits))
                    .collect(),
            },
            losses: Losses {
                value: f64::from_bits(numbers[9]),
                policy: f64::from_bits(numbers[10]),
            },
            steps: numbers[2] as u32,
            cures: numbers[3] as u32,
            alarm: None,
        };
        if self.progress.cures > 0 {
            let (noise, n_random) = self.noise();
            self.players
                .iter_mut()
                .for_each(|player| player.set_noise(noise, n_random));
        }
        Ok(())
    }
}

/// All numbers of a network, part by part, until one is refused.
pub(crate) fn visit(weights: &mut Weights, see: &mut dyn FnMut(&mut [f32]) -> bool) -> bool {
    let mut is_open = see(&mut weights.bias.0);
    for row in &mut weights.inputs {
        is_open = is_open && see(&mut row.0);
    }
    for head in &mut weights.heads {
        is_open = is_open && see(head.weights.0.as_flattened_mut()) && see(&mut head.bias);
        for row in &mut head.values {
            is_open = is_open && see(row);
        }
        is_open = is_open && see(&mut head.value_bias);
    }
    for moves in &mut weights.moves {
        for row in &mut moves.rows {
            is_open = is_open && see(&mut row.0);
        }
        is_open = is_open && see(&mut moves.bias);
    }
    is_open
}

/// A sum that sees any change.
fn sum(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(0x243f_6a88_85a3_08d3, |sum, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let mixed = (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 31
    })
}

/// Small random numbers: rows of fluents so that their sum is about 1, second layers as usual with ReLU, and policies that say nothing.
fn random_weights(game: &Game, shape: &Shape, random: &mut Random) -> Weights {
    let mut weights = Weights::zero(shape);
    let words = game.initial_state().words().iter().zip(shape.mask());
    let n_true: u32 = words.map(|(word, mask)| (word & mask).count_ones()).sum();
    let scale = 1.0 / f64::from(n_true.max(1)).sqrt();
    let mut fill = |numbers: &mut [f32], scale: f64| {
        for number in numbers {
            *number = (normal(random) * scale) as f32;
        }
    };
    for row in &mut weights.inputs {
        fill(&mut row.0, scale);
    }
    for head in &mut weights.heads {
        fill(
            head.weights.0.as_flattened_mut(),
            (2.0 / UNITS as f64).sqrt(),
        );
        for row in &mut head.values {
            fill(row, 0.5 / (SECOND_UNITS as f64).sqrt());
        }
    }
    weights
}
