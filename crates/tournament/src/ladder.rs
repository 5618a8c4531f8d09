//! Ratings on a ladder of graded opponents.
//!
//! In: scores of matches between entrants of one game. Out: Elo ratings of all of them, with 95 % intervals, where the
//! first one is 0. The ratings are fitted together by maximum likelihood (Bradley and Terry 1952), so that the interval of
//! a player contains what is not known about its opponents. Each pair that met gets one drawn match in addition, so that a
//! pair in which one player always wins has a finite difference.
//!
//! - Bradley and Terry 1952, Rank Analysis of Incomplete Block Designs
//! - Coulom 2008, Whole-History Rating (the prior of virtual draws)

use crate::statistics::score_of_elo;

/// The standard ladder, weakest first: players as entrants.
pub const LEVELS: [&str; 8] = [
    "random",
    "greedy",
    "mc@32",
    "cadia-2007@16",
    "cadia-2007@64",
    "cadia-2007@256",
    "cadia-2007@1024",
    "cadia-2007@4096",
];

/// Quantile of the normal distribution for 95 %.
const QUANTILE: f64 = 1.96;
/// Elo points per unit of the logistic function.
const SCALE: f64 = 400.0 / std::f64::consts::LN_10;

/// The matches of a pair.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pairing {
    /// The first player, as its place in the list.
    pub first: usize,
    /// The second player.
    pub second: usize,
    /// Matches with a score.
    pub n: f64,
    /// Points of the first player: 1 for a win, ½ for a draw.
    pub points: f64,
}

/// A rating with its interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rating {
    /// Elo points above the first player of the list.
    pub elo: f64,
    /// Half the width of the 95 % interval; infinite for players that are not connected with the first one, whose rating is
    /// unknown.
    pub plus_minus: f64,
}

impl Rating {
    /// The rating of a player of whom nothing is known.
    pub const UNKNOWN: Rating = Rating {
        elo: 0.0,
        plus_minus: f64::INFINITY,
    };
}

/// Fits ratings; `n_players` is the length of the list, whose first player has the rating 0.
#[must_use]
pub fn fit(n_players: usize, pairings: &[Pairing]) -> Vec<Rating> {
    let pairings: Vec<&Pairing> = pairings.iter().filter(|pairing| pairing.n > 0.0).collect();
    // A player that has met nobody would leave the ratings of all others undetermined too.
    let known = connected(n_players, &pairings);
    let place = |player: usize| known.iter().position(|&other| other == player);
    let pairings = pairings.into_iter().filter_map(|pairing| {
        Some(Pairing {
            first: place(pairing.first)?,
            second: place(pairing.second)?,
            n: pairing.n + 1.0,
            points: pairing.points + 0.5,
        })
    });
    let fitted = fit_connected(known.len(), &pairings.collect::<Vec<_>>());
    let mut ratings = vec![Rating::UNKNOWN; n_players];
    for (player, rating) in known.into_iter().zip(fitted) {
        ratings[player] = rating;
    }
    ratings
}

/// The players that have met the first one, or others that have, and so on; in order.
fn connected(n_players: usize, pairings: &[&Pairing]) -> Vec<usize> {
    let mut is_known = vec![false; n_players];
    is_known.iter_mut().take(1).for_each(|first| *first = true);
    for _ in 0..n_players {
        for pairing in pairings {
            let either = is_known[pairing.first] || is_known[pairing.second];
            (is_known[pairing.first], is_known[pairing.second]) = (either, either);
        }
    }
    (0..n_players).filter(|&player| is_known[player]).collect()
}

/// Fits the ratings of players that are all connected.
fn fit_connected(n_players: usize, pairings: &[Pairing]) -> Vec<Rating> {
    let mut elos = vec![0.0; n_players];
    let mut information = vec![vec![0.0; n_players]; n_players];
    // Newton's method on a concave function; steps are bounded, so that far starts do not overshoot.
    for _ in 0..100 {
        let mut slope = vec![0.0; n_players];
        information = vec![vec![0.0; n_players]; n_players];
        for pairing in pairings {
            let (i, j) = (pairing.first, pairing.second);
            let expected = score_of_elo(elos[i] - elos[j]);
            let surplus = (pairing.points - pairing.n * expected) / SCALE;
            let weight = pairing.n * expected * (1.0 - expected) / (SCALE * SCALE);
            slope[i] += surplus;
            slope[j] -= surplus;
            information[i][i] += weight;
            information[j][j] += weight;
            information[i][j] -= weight;
            information[j][i] -= weight;
        }
        let Some(inverse) = inverse(&information) else {
            break;
        };
        let mut largest: f64 = 0.0;
        for player in 1..n_players {
            let step: f64 = (1..n_players)
                .map(|other| inverse[player][other] * slope[other])
                .sum();
            let step = step.clamp(-200.0, 200.0);
            elos[player] += step;
            largest = largest.max(step.abs());
        }
        if largest < 1e-6 {
            break;
        }
    }
    let variances = inverse(&information);
    let rating = |player: usize| Rating {
        elo: elos[player],
        plus_minus: match (&variances, player) {
            (_, 0) => 0.0,
            (Some(inverse), _) => QUANTILE * inverse[player][player].max(0.0).sqrt(),
            (None, _) => f64::INFINITY,
        },
    };
    (0..n_players).map(rating).collect()
}

/// The inverse of a matrix without its first row and column, which stay 0; `None` if it has none.
fn inverse(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let n = matrix.len();
    let mut left: Vec<Vec<f64>> = matrix.to_vec();
    let mut right = vec![vec![0.0; n]; n];
    for (idx, row) in right.iter_mut().enumerate().skip(1) {
        row[idx] = 1.0;
    }
    for column in 1..n {
        let pivot =
            (column..n).max_by(|&a, &b| left[a][column].abs().total_cmp(&left[b][column].abs()))?;
        if left[pivot][column].abs() < 1e-18 {
            return None;
        }
        left.swap(column, pivot);
        right.swap(column, pivot);
        let scale = left[column][column];
        for other in 1..n {
            left[column][other] /= scale;
            right[column][other] /= scale;
        }
        for row in (1..n).filter(|&row| row != column) {
            let factor = left[row][column];
            for other in 1..n {
                left[row][other] -= factor * left[column][other];
                right[row][other] -= factor * right[column][other];
            }
        }
    }
    Some(right)
}

/// The level for the next matches of a player: the one whose rating is nearest, among equally near ones the one met less.
#[must_use]
pub fn next_level(levels: &[Rating], n_met: &[usize], player: Option<Rating>) -> usize {
    let Some(player) = player else {
        return levels.len() / 2;
    };
    let distance = |level: usize| {
        // Every match at a level makes the next one there a little less telling.
        (levels[level].elo - player.elo).abs() + 2.0 * n_met[level] as f64
    };
    (0..levels.len())
        .min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairing(first: usize, second: usize, n: f64, points: f64) -> Pairing {
        Pairing {
            first,
            second,
            n,
            points,
        }
    }

    #[test]
    fn ratings_are_those_that_the_scores_come_from() {
        // Scores of 76 % are 200 Elo points.
        let share = score_of_elo(200.0);
        let pairings = [
            pairing(1, 0, 100_000.0, 100_000.0 * share),
            pairing(2, 1, 100_000.0, 100_000.0 * share),
            pairing(0, 2, 100_000.0, 100_000.0 * (1.0 - score_of_elo(400.0))),
        ];
        let ratings = fit(3, &pairings);
        assert!((ratings[1].elo - 200.0).abs() < 1.0, "{ratings:?}");
        assert!((ratings[2].elo - 400.0).abs() < 1.0, "{ratings:?}");
        assert!(ratings[1].plus_minus < 5.0);
        assert_eq!(ratings[0].elo, 0.0);
    }

    #[test]
    fn intervals_grow_along_the_ladder_and_shrink_with_matches() {
        let few = fit(3, &[pairing(1, 0, 20.0, 15.0), pairing(2, 1, 20.0, 15.0)]);
        let many = fit(3, &[pairing(1, 0, 80.0, 60.0), pairing(2, 1, 80.0, 60.0)]);
        assert!(few[2].plus_minus > few[1].plus_minus);
        assert!(many[1].plus_minus < 0.6 * few[1].plus_minus);
    }

    #[test]
    fn a_player_that_always_wins_has_a_finite_rating_and_one_without_matches_has_none() {
        let ratings = fit(2, &[pairing(1, 0, 20.0, 20.0)]);
        assert!(
            ratings[1].elo > 300.0 && ratings[1].elo < 2_000.0,
            "{ratings:?}"
        );
        let ratings = fit(3, &[pairing(1, 0, 20.0, 10.0)]);
        assert!(ratings[2].plus_minus.is_infinite());
        // It takes nothing from what is known about the others.
        assert_eq!(ratings[..2], fit(2, &[pairing(1, 0, 20.0, 10.0)]));
        assert!(ratings[1].plus_minus < 200.0);
        let apart = fit(4, &[pairing(1, 0, 20.0, 15.0), pairing(2, 3, 20.0, 15.0)]);
        assert!(apart[1].elo > 100.0 && apart[2] == Rating::UNKNOWN);
    }

    #[test]
    fn the_nearest_level_is_next() {
        let level = |elo: f64| Rating {
            elo,
            plus_minus: 10.0,
        };
        let levels = [level(0.0), level(300.0), level(600.0)];
        assert_eq!(next_level(&levels, &[0; 3], None), 1);
        assert_eq!(next_level(&levels, &[0; 3], Some(level(550.0))), 2);
        assert_eq!(next_level(&levels, &[0, 0, 200], Some(level(550.0))), 1);
    }
}
