//! Matches in pairs with the seats swapped, and how often each outcome occurred.
//!
//! Matches `2k` and `2k + 1` of a cell are a pair if every role changes hands between them. What a seat is worth cancels out
//! within a pair, and its two scores are not independent. So tests and intervals take the pair, not the match, as the unit
//! that is repeated. Matches without such a partner (one role held in turn by a remote player, a match without goals, the
//! last match of an odd number) are units of their own.
//!
//! In games for one role, a unit is the comparison of two matches with the same seed, one by each player.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::result::MatchResult;

/// Goals of the first and of the second player that are compared with each other. At most one of them has forfeited.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Goals {
    first: f64,
    second: f64,
    forfeits: [bool; 2],
}

impl Goals {
    /// The goals of a match in which both players took part; `None` if one of them is not known, or both have forfeited.
    pub(crate) fn of(result: &MatchResult) -> Option<Goals> {
        let forfeits = result.forfeits.map(|n| n > 0);
        let goals = Goals {
            first: result.goal(true)?,
            second: result.goal(false)?,
            forfeits,
        };
        (forfeits != [true; 2]).then_some(goals)
    }

    /// The score of the first player: 100, 50 or 0 for more, equally many or fewer goals than the second. A player that has
    /// forfeited has lost, whatever the goals are.
    pub(crate) fn score(self) -> f64 {
        match (self.forfeits, self.first.total_cmp(&self.second)) {
            ([true, _], _) => 0.0,
            ([_, true], _) => 100.0,
            (_, Ordering::Greater) => 100.0,
            (_, Ordering::Equal) => 50.0,
            (_, Ordering::Less) => 0.0,
        }
    }

    /// How much more the first player got, −100 to 100.
    pub(crate) fn difference(self) -> f64 {
        self.first - self.second
    }
}

/// The results of a cell in independent units: two entries for a pair with swapped seats, one for anything else. The order
/// is that of seeds and match numbers, whatever the order of the results.
pub(crate) fn units(results: &[&MatchResult]) -> Vec<Vec<Goals>> {
    let mut neighbours: BTreeMap<_, Vec<&MatchResult>> = BTreeMap::new();
    for result in results {
        let fixture = &result.fixture;
        let clock = |clock: Option<f64>| clock.map(f64::to_bits);
        let clocks = [clock(fixture.start_clock), clock(fixture.play_clock)];
        let place = (fixture.seed, clocks, fixture.index / 2);
        neighbours.entry(place).or_default().push(result);
    }
    let mut units = Vec::new();
    for mut results in neighbours.into_values() {
        results.sort_by_key(|result| result.fixture.index);
        if results.iter().all(|result| result.seats.len() == 1) {
            units.extend(comparison(&results).map(|goals| vec![goals]));
            continue;
        }
        let goals: Vec<Goals> = results
            .iter()
            .filter_map(|result| Goals::of(result))
            .collect();
        match results[..] {
            [a, b] if goals.len() == 2 && are_swapped(a, b) => units.push(goals),
            _ => units.extend(goals.into_iter().map(|goals| vec![goals])),
        }
    }
    units
}

/// Two matches of one role each, one by each player.
fn comparison(results: &[&MatchResult]) -> Option<Goals> {
    let find = |of_first: bool| results.iter().find_map(|result| result.goal(of_first));
    let has_forfeited = |who: usize| results.iter().any(|result| result.forfeits[who] > 0);
    let forfeits = [has_forfeited(0), has_forfeited(1)];
    let goals = Goals {
        first: find(true)?,
        second: find(false)?,
        forfeits,
    };
    (forfeits != [true; 2]).then_some(goals)
}

/// Whether every role changed hands between two matches.
fn are_swapped(a: &MatchResult, b: &MatchResult) -> bool {
    let mut seats = a.seats.iter().zip(&b.seats);
    a.seats.len() == b.seats.len() && seats.all(|(a, b)| a != b)
}

/// How often each outcome occurred, from the worst to the best for the first player.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
pub enum Frequencies {
    /// Single matches: lost, drawn, won.
    Matches([usize; 3]),
    /// Pairs of matches by points: 0, ½, 1, 1½ and 2. Known as the pentanomial counts.
    Pairs([usize; 5]),
}

impl Frequencies {
    /// Those of some units: of all complete pairs if there are any, otherwise of single matches.
    pub(crate) fn of(units: &[Vec<Goals>]) -> Frequencies {
        let (mut matches, mut pairs) = ([0; 3], [0; 5]);
        for unit in units {
            let points: f64 = unit.iter().map(|goals| goals.score() / 50.0).sum();
            match unit.len() {
                2 => pairs[points as usize] += 1,
                _ => matches[points as usize] += 1,
            }
        }
        match pairs.iter().any(|&n| n > 0) {
            true => Frequencies::Pairs(pairs),
            false => Frequencies::Matches(matches),
        }
    }

    /// How many matches these are.
    #[must_use]
    pub fn n_matches(&self) -> usize {
        match self {
            Frequencies::Matches(counts) => counts.iter().sum(),
            Frequencies::Pairs(counts) => 2 * counts.iter().sum::<usize>(),
        }
    }

    /// The counts, from the worst outcome to the best.
    #[must_use]
    pub fn counts(&self) -> &[usize] {
        match self {
            Frequencies::Matches(counts) => counts,
            Frequencies::Pairs(counts) => counts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::tests::result;

    fn frequencies(results: &[MatchResult]) -> Frequencies {
        Frequencies::of(&units(&results.iter().collect::<Vec<_>>()))
    }

    fn matches(goals: &[[u8; 2]]) -> Vec<MatchResult> {
        let matches = (0..).zip(goals);
        matches
            .map(|(index, goals)| result("a", "b", index, *goals))
            .collect()
    }

    /// One pair of every kind; by goals that are not 0, 50 and 100.
    const PAIRS: [[u8; 2]; 12] = [
        [10, 20],
        [0, 100],
        [30, 30],
        [5, 90],
        [100, 0],
        [0, 100],
        [50, 50],
        [70, 70],
        [60, 50],
        [50, 50],
        [51, 50],
        [99, 98],
    ];

    #[test]
    fn pairs_are_counted_by_their_points() {
        let mut results = matches(&PAIRS);
        assert_eq!(frequencies(&results), Frequencies::Pairs([1, 1, 2, 1, 1]));
        assert_eq!(frequencies(&results).n_matches(), 12);
        results.reverse();
        assert_eq!(frequencies(&results), Frequencies::Pairs([1, 1, 2, 1, 1]));
    }

    #[test]
    fn a_match_whose_partner_is_missing_is_no_pair() {
        let mut results = matches(&PAIRS[..3]);
        assert_eq!(frequencies(&results), Frequencies::Pairs([1, 0, 0, 0, 0]));
        assert_eq!(units(&results.iter().collect::<Vec<_>>()).len(), 2);
        // The same number under another seed is another match.
        let mut other = result("a", "b", 3, [100, 0]);
        other.fixture.seed = 2;
        results.push(other);
        assert_eq!(frequencies(&results), Frequencies::Pairs([1, 0, 0, 0, 0]));
        // Matches 1 and 2 follow each other and are not a pair.
        assert_eq!(frequencies(&results[1..3]), Frequencies::Matches([1, 1, 0]));
        // A match without goals leaves its partner alone.
        results[0].goals[0] = None;
        assert_eq!(frequencies(&results[..2]), Frequencies::Matches([1, 0, 0]));
    }

    #[test]
    fn a_player_that_forfeits_has_lost() {
        // By goals alone, all four would be drawn.
        let mut results = matches(&[[50, 50]; 4]);
        results[0].forfeits = [0, 1];
        results[1].forfeits = [0, 2];
        results[2].forfeits = [1, 0];
        assert_eq!(frequencies(&results), Frequencies::Pairs([0, 1, 0, 0, 1]));
        // A match that both players forfeited has no score.
        results[2].forfeits = [1, 1];
        assert_eq!(frequencies(&results), Frequencies::Pairs([0, 0, 0, 0, 1]));
        assert_eq!(units(&results.iter().collect::<Vec<_>>()).len(), 2);
    }

    #[test]
    fn seats_that_are_not_swapped_make_no_pair() {
        let mut results = matches(&[[100, 0], [100, 0]]);
        results[1].seats = results[0].seats.clone();
        results[1].goals = results[0].goals.clone();
        assert_eq!(frequencies(&results), Frequencies::Matches([0, 0, 2]));
    }

    #[test]
    fn single_players_are_compared_by_seed() {
        let alone = |index: u32, goal: u8| {
            let mut result = result("a", "b", index, [goal, goal]);
            result.seats = vec![(index % 2) as u8];
            result.goals = vec![Some(goal)];
            result
        };
        let results = [
            alone(0, 80),
            alone(1, 60),
            alone(2, 10),
            alone(3, 10),
            alone(4, 9),
        ];
        assert_eq!(frequencies(&results), Frequencies::Matches([0, 1, 1]));
        let units = units(&results.iter().collect::<Vec<_>>());
        let differences: Vec<f64> = units
            .iter()
            .flatten()
            .map(|goals| goals.difference())
            .collect();
        assert_eq!(differences, [20.0, 0.0]);
    }
}
