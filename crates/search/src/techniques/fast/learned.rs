//! Weights of features, learned by temporal differences.

use super::Features;
use crate::episode::Episode;

/// Most of what was wrong in a simulation that is corrected by it, so that sums over many steps do not overshoot: for kinds of
/// pieces, and for places, of which there are many; 0.1 gave some of those weights by chance.
const SHARE: f64 = 0.1;
const SHARE_CELLS: f64 = 0.01;
/// They are the mean of about this number of those times.
const MOST_TIMES: f64 = 64.0;

/// How fast weights are learned.
#[derive(Clone, Copy)]
pub(super) struct Rates {
    /// λ and step size α of the temporal differences (CadiaPlayer), and the discount γ per step (the program of 2012).
    pub(super) lambda: f64,
    pub(super) alpha: f64,
    pub(super) gamma: f64,
    /// Most of what was wrong in a simulation that is corrected by it.
    pub(super) share: f64,
    /// Weights are used once one of them is farther than this from zero, after this number of simulations (the program of
    /// 2012).
    pub(super) least_weight: f64,
    pub(super) least_episodes: u64,
}

impl Rates {
    fn new(features: Features) -> Rates {
        Rates {
            lambda: 0.99,
            alpha: 0.01,
            gamma: 0.999,
            share: match features {
                Features::Types => SHARE,
                Features::Cells => SHARE_CELLS,
            },
            least_weight: 2.0,
            least_episodes: 1000,
        }
    }
}

/// Weights of features.
#[derive(Clone)]
pub(super) struct Learned {
    pub(super) rates: Rates,
    /// One vector for two roles, by the first; otherwise one per role.
    pub(super) thetas: Vec<Vec<f64>>,
    pub(super) n_episodes: u64,
    /// The same, averaged over time: what is used.
    pub(super) means: Vec<Vec<f64>>,
    pub(super) n_times: f64,
    /// The most pieces of a state.
    pub(super) most_active: f64,
    pub(super) is_active: bool,
    // Scratch.
    counts: Vec<f64>,
    values: Vec<f64>,
}

impl Learned {
    pub(super) fn new(features: Features, n_features: usize, n_vectors: usize) -> Learned {
        Learned {
            rates: Rates::new(features),
            thetas: vec![vec![0.0; n_features]; n_vectors],
            n_episodes: 0,
            means: vec![vec![0.0; n_features]; n_vectors],
            n_times: 0.0,
            most_active: 1.0,
            is_active: false,
            counts: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Weights in use come nearer to those learned, by the full way at first and less and less later.
    pub(super) fn average(&mut self) {
        let rate = 1.0 / (1.0 + self.n_times / 2.0).min(MOST_TIMES);
        self.n_times += 1.0;
        let means = self.means.iter_mut().flatten();
        for (mean, theta) in means.zip(self.thetas.iter().flatten()) {
            *mean += rate * (theta - *mean);
        }
    }

    /// One episode of TD(λ) for one vector of weights.
    pub(super) fn learn(&mut self, episode: &Episode, vector: usize, reward: f64) {
        let theta = &mut self.thetas[vector];
        let (counts, values) = (&mut self.counts, &mut self.values);
        let Episode {
            n_states, changes, ..
        } = episode;
        // Step 1. The value of each state, the squares of its features, and how many pieces there are at most.
        counts.clear();
        counts.resize(theta.len(), 0.0);
        values.clear();
        let (mut value, mut square, mut squares, mut active) = (0.0, 0.0, 0.0, 0.0);
        let mut next = changes.iter().peekable();
        for state in 0..*n_states {
            while let Some(change) = next.next_if(|change| change.state == state) {
                let feature = change.feature as usize;
                value += theta[feature] * change.by;
                // (n + d)² − n² = d · (2 n + d)
                square += change.by * (2.0 * counts[feature] + change.by);
                counts[feature] += change.by;
                active += change.by;
            }
            values.push(value);
            squares += square;
            self.most_active = self.most_active.max(active);
        }
        // Step 2. Back from the end. A feature that changes at a state has its new value there and in all that follow.
        let step = (self.rates.alpha / self.most_active).min(self.rates.share / squares.max(1.0));
        let mut target = reward;
        let mut after = reward;
        let mut errors = 0.0;
        let mut next = changes.iter().rev().peekable();
        for state in (0..*n_states).rev() {
            let value = values[state as usize];
            if state + 1 < *n_states {
                target = self.rates.gamma
                    * ((1.0 - self.rates.lambda) * after + self.rates.lambda * target);
                after = value;
            }
            errors += target - value;
            while let Some(change) = next.next_if(|change| change.state == state) {
                theta[change.feature as usize] += step * change.by * errors;
            }
        }
    }
}
