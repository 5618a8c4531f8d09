//! Means with their spread, shares with 95 % intervals, and the results of games.
//!
//! Intervals of means are normal (1.96 standard errors), those of shares Wilson's, which stay within 0 and 1 for few games.

use serde::Serialize;

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
    pub(super) fn new(n: u64, of: u64) -> Share {
        if of == 0 {
            return Share {
                share: 0.0,
                low: 0.0,
                high: 1.0,
            };
        }
        let (share, n_all) = (n as f64 / of as f64, of as f64);
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
}

impl Results {
    pub(super) fn new(n_roles: usize) -> Results {
        Results {
            goals: vec![Spread::default(); n_roles],
            n_wins: vec![0; n_roles],
            ..Results::default()
        }
    }

    pub(super) fn add(&mut self, goals: &[u8]) {
        self.n_games += 1;
        for (spread, &goal) in self.goals.iter_mut().zip(goals) {
            spread.add(f64::from(goal));
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

    /// The role that does best and the one that does worst, if the intervals of their goals are apart.
    pub(super) fn advantage(&self) -> Option<(usize, usize)> {
        let order = |a: &usize, b: &usize| self.goals[*a].mean().total_cmp(&self.goals[*b].mean());
        let best = (0..self.goals.len()).max_by(order)?;
        let worst = (0..self.goals.len()).min_by(order)?;
        let (high, low) = (self.goals[best], self.goals[worst]);
        let is_apart = high.mean() - high.half_width() > low.mean() + low.half_width();
        (is_apart && self.n_games >= 10).then_some((best, worst))
    }
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
        let text = |n, of| Share::new(n, of).percent();
        assert_eq!(text(50, 100), "50.0 % (40.4 to 59.6)");
        assert_eq!(text(0, 10), "0.0 % (0.0 to 27.8)");
    }

    #[test]
    fn whoever_alone_has_most_wins() {
        let mut results = Results::new(3);
        for goals in [[100, 0, 0], [50, 50, 0], [30, 30, 30]] {
            results.add(&goals);
        }
        assert_eq!((results.n_wins, results.n_draws), (vec![1, 0, 0], 1));
    }
}
