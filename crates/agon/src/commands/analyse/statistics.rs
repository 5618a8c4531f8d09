//! Means with their spread, shares with 95 % intervals, and the results of games.
//!
//! Intervals of means are normal (1.96 standard errors), those of shares Wilson's, which stay within 0 and 1 for few games.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

/// Normal quantile of 95 % intervals.
const Z: f64 = 1.96;

/// A sample of numbers.
#[derive(Clone, Copy, Default)]
pub(super) struct Spread {
    pub(super) n: u64,
    mean: f64,
    /// Sum of squared differences from the mean (Welford 1962).
    squares: f64,
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Spread {
    pub(super) fn add(&mut self, value: f64) {
        self.least = if self.n == 0 {
            value
        } else {
            self.least.min(value)
        };
        self.most = if self.n == 0 {
            value
        } else {
            self.most.max(value)
        };
        self.n += 1;
        let before = value - self.mean;
        self.mean += before / self.n as f64;
        self.squares += before * (value - self.mean);
    }

    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    pub(super) fn deviation(&self) -> f64 {
        match self.n {
            0 | 1 => 0.0,
            n => (self.squares / (n - 1) as f64).sqrt(),
        }
    }

    /// Half of the 95 % interval of the mean.
    pub(super) fn half_width(&self) -> f64 {
        match self.n {
            0 | 1 => 0.0,
            n => Z * self.deviation() / (n as f64).sqrt(),
        }
    }
}

/// A share with its 95 % interval.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Share {
    pub(super) share: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Share {
    pub(super) fn new(n: u64, total: u64) -> Share {
        if total == 0 {
            return Share {
                share: 0.0,
                low: 0.0,
                high: 1.0,
            };
        }
        let (share, n_all) = (n as f64 / total as f64, total as f64);
        let scale = 1.0 + Z * Z / n_all;
        let middle = (share + Z * Z / (2.0 * n_all)) / scale;
        let half =
            Z / scale * (share * (1.0 - share) / n_all + Z * Z / (4.0 * n_all * n_all)).sqrt();
        Share {
            share,
            low: (middle - half).max(0.0),
            high: (middle + half).min(1.0),
        }
    }

    pub(super) fn percent(&self) -> String {
        let percent = |share: f64| share * 100.0;
        let (low, high) = (percent(self.low), percent(self.high));
        format!("{:.1} % ({low:.1} to {high:.1})", percent(self.share))
    }
}

/// Goals of many games.
#[derive(Clone, Default)]
pub(super) struct Results {
    pub(super) n_games: u64,
    /// Per role.
    pub(super) goals: Vec<Spread>,
    /// Per role: games in which it alone had the highest goal; of a single role, those that were worth 100.
    pub(super) n_wins: Vec<u64>,
    /// Games in which all roles had the same goal.
    pub(super) n_draws: u64,
    /// Per pair of roles, the first before the second: by how much the first had more.
    pairs: Vec<Difference>,
}

/// Differences between the goals of two roles, game by game.
#[derive(Clone, Copy, Default)]
struct Difference {
    sum: f64,
    sum_of_squares: f64,
}

/// How many tests share the error of a verdict on seats: games at random and by Monte Carlo.
const N_LOOKS: f64 = 2.0;
/// How often equal seats may be called unequal, in all tests of a game together.
const MOST_ERROR: f64 = 0.01;
/// Fewest games for a verdict.
const FEWEST_GAMES: u64 = 20;

impl Results {
    pub(super) fn new(n_roles: usize) -> Results {
        Results {
            goals: vec![Spread::default(); n_roles],
            n_wins: vec![0; n_roles],
            pairs: vec![Difference::default(); n_roles * n_roles],
            ..Results::default()
        }
    }

    pub(super) fn add(&mut self, goals: &[u8]) {
        self.n_games += 1;
        for (spread, &goal) in self.goals.iter_mut().zip(goals) {
            spread.add(f64::from(goal));
        }
        for (first, &goal) in goals.iter().enumerate() {
            for (second, &other) in goals.iter().enumerate() {
                let difference = f64::from(goal) - f64::from(other);
                let pair = &mut self.pairs[first * goals.len() + second];
                pair.sum += difference;
                pair.sum_of_squares += difference * difference;
            }
        }
        let best = goals.iter().max().copied().unwrap_or(0);
        let mut winners = (0..goals.len()).filter(|&idx| goals[idx] == best);
        if let (Some(winner), None) = (winners.next(), winners.next()) {
            let is_win = goals.len() > 1 || best == 100;
            self.n_wins[winner] += u64::from(is_win);
        }
        if goals.len() > 1 && goals.iter().all(|&goal| goal == best) {
            self.n_draws += 1;
        }
    }

    /// Two roles that do not get the same, the better one first: of the pairs that chance does not explain, the one
    /// that differs most.
    ///
    /// If two seats are equal, exchanging them changes no probability, so the difference between their goals in a game is
    /// as likely to be `d` as `-d`. The sum of such differences, divided by the root of the sum of their squares, then
    /// behaves like a standard normal number. The bound on it is corrected for every pair of roles and for both kinds of
    /// games (Bonferroni).
    pub(super) fn advantage(&self) -> Option<(usize, usize)> {
        let n_roles = self.goals.len();
        let n_pairs = (n_roles * n_roles.saturating_sub(1) / 2).max(1) as f64;
        let bound = normal_quantile(1.0 - MOST_ERROR / (2.0 * N_LOOKS * n_pairs));
        let deviation = |idx: &usize| {
            let pair = &self.pairs[*idx];
            pair.sum / pair.sum_of_squares.max(f64::MIN_POSITIVE).sqrt()
        };
        let apart = (0..self.pairs.len()).filter(|idx| deviation(idx) > bound);
        let widest = apart.max_by(|&a, &b| self.pairs[a].sum.total_cmp(&self.pairs[b].sum))?;
        let is_shown = self.n_games >= FEWEST_GAMES;
        is_shown.then_some((widest / n_roles, widest % n_roles))
    }
}

/// The number that a standard normal variable is below with this probability.
fn normal_quantile(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_mean_and_deviation() {
        let mut spread = Spread::default();
        [2.0, 4.0, 4.0, 6.0]
            .into_iter()
            .for_each(|value| spread.add(value));
        assert_eq!((spread.mean(), spread.least, spread.most), (4.0, 2.0, 6.0));
        assert!((spread.deviation() - (8.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_share_has_an_interval() {
        let text = |n, total| Share::new(n, total).percent();
        assert_eq!(text(50, 100), "50.0 % (40.4 to 59.6)");
        assert_eq!(text(0, 10), "0.0 % (0.0 to 27.8)");
    }

    #[test]
    fn the_only_role_with_the_highest_goal_wins() {
        let mut results = Results::new(3);
        for goals in [[100, 0, 0], [50, 50, 0], [30, 30, 30]] {
            results.add(&goals);
        }
        assert_eq!((results.n_wins, results.n_draws), (vec![1, 0, 0], 1));
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (probability, quantile) in [(0.5, 0.0), (0.975, 1.959_964), (0.9975, 2.807_034)] {
            assert!((normal_quantile(probability) - quantile).abs() < 1e-5);
        }
    }

    /// Results of `n` games between two roles, of which the first wins some and the second the rest.
    fn duels(n_first: u64, n_second: u64) -> Results {
        let mut results = Results::new(2);
        (0..n_first).for_each(|_| results.add(&[100, 0]));
        (0..n_second).for_each(|_| results.add(&[0, 100]));
        results
    }

    #[test]
    fn seats_are_unequal_only_beyond_chance() {
        // 0.25 % on each side: 2.81 deviations, so 29 wins more than losses in 100 games.
        assert_eq!(duels(64, 36).advantage(), None);
        assert_eq!(duels(65, 35).advantage(), Some((0, 1)));
        assert_eq!(duels(35, 65).advantage(), Some((1, 0)));
        // Too few games say nothing.
        assert_eq!(duels(19, 0).advantage(), None);
        assert_eq!(duels(20, 0).advantage(), Some((0, 1)));
        assert_eq!(Results::new(1).advantage(), None);
    }

    #[test]
    fn more_pairs_of_roles_need_more_evidence() {
        let mut results = Results::new(5);
        (0..65).for_each(|_| results.add(&[100, 0, 50, 50, 50]));
        (0..35).for_each(|_| results.add(&[0, 100, 50, 50, 50]));
        assert_eq!(results.advantage(), None);
        (0..10).for_each(|_| results.add(&[100, 0, 50, 50, 50]));
        assert_eq!(results.advantage(), Some((0, 1)));
    }

    /// Equal seats, decided by a coin: the test errs in far fewer than 5 % of the series.
    #[test]
    fn equal_seats_are_hardly_ever_called_unequal() {
        use rand_xoshiro::rand_core::{Rng, SeedableRng};
        let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        let mut n_wrong = 0;
        for _ in 0..2000 {
            let n_first = (0..100).filter(|_| rng.next_u64() & 1 == 1).count() as u64;
            n_wrong += u64::from(duels(n_first, 100 - n_first).advantage().is_some());
        }
        // One of the two looks, so about 0.5 % of 2000.
        assert!(n_wrong <= 20, "{n_wrong} of 2000");
    }
}
