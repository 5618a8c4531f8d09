//! The statistics of a cell.
//!
//! The score of a match is 100, 50 or 0 if the mean goal of the first player is above, equal to or below that of the second. In
//! single-player games, two matches with the same seed are compared, one by each player. A player that forfeited has lost. A match
//! without goals has no score, and neither has one that both players forfeited.
//! Intervals take into account that matches come in pairs with swapped seats (see `pairs` and `statistics`).

use std::collections::BTreeMap;

use agon_arena::FaultCounts;
use serde::Serialize;

use crate::budget::Budget;
use crate::pairs::{Frequencies, Goals, units};
use crate::result::{Contestant, MatchResult, Work};
use crate::statistics::{
    Estimate, elo_of_score, mean_difference_of_groups, mean_of, mean_score, mean_score_of_groups,
    proportion,
};

/// The statistics of a cell. Scores, wins and Elo are those of the first player.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Tally {
    /// The game.
    pub game: String,
    /// The first player.
    pub first: String,
    /// The second player.
    pub second: String,
    /// What a player may spend on a move.
    pub budget: Budget,
    /// Matches played.
    pub matches: usize,
    /// Mean score, 0 to 100.
    pub score: Option<f64>,
    /// Half the width of its 95 % confidence interval.
    pub plus_minus: Option<f64>,
    /// The ends of the interval.
    pub interval: Option<[f64; 2]>,
    /// Matches won.
    pub wins: usize,
    /// Matches drawn.
    pub draws: usize,
    /// Matches lost.
    pub losses: usize,
    /// Pairs of matches with swapped seats by points, 0, ½, 1, 1½ and 2: the pentanomial counts. `None` without such pairs.
    pub pairs: Option<[usize; 5]>,
    /// Percentage of matches won, with its interval.
    pub won: Option<Estimate>,
    /// Mean goals of both players.
    pub goals: [Option<f64>; 2],
    /// Half the widths of their 95 % confidence intervals.
    pub goals_plus_minus: [Option<f64>; 2],
    /// Mean difference of goals within a match.
    pub goal_difference: Option<Estimate>,
    /// Elo points above the second player; `None` where it would be infinite.
    pub elo: Option<f64>,
    /// The ends of its interval; `None` where they would be infinite.
    pub elo_interval: [Option<f64>; 2],
    /// Mean score with and without the first role of the game.
    pub score_by_seat: [Option<f64>; 2],
    /// Mean number of steps.
    pub steps: f64,
    /// Playouts per move of both players.
    pub playouts_per_move: [f64; 2],
    /// Transitions per move of both players.
    pub transitions_per_move: [f64; 2],
    /// Seconds per move of both players; these differ from run to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_per_move: Option<[f64; 2]>,
    /// Faults of both players: late, illegal and missing answers.
    pub faults: [u32; 2],
    /// The same by kind.
    pub fault_kinds: [FaultCounts; 2],
    /// Matches that each player forfeited because it stopped answering.
    pub forfeits: [usize; 2],
}

impl Tally {
    /// The statistics of the results of one cell; `None` without results.
    #[must_use]
    pub fn of(results: &[&MatchResult]) -> Option<Tally> {
        let [first, second] = &results.first()?.fixture.players;
        let units = units(results);
        let scores = by_unit(&units, Goals::score);
        let differences = by_unit(&units, Goals::difference);
        let count = |wanted: f64| {
            scores
                .iter()
                .flatten()
                .filter(|&&score| score == wanted)
                .count()
        };
        let score = mean_score_of_groups(&scores);
        let goals = [true, false].map(|of_first| {
            let goals = results.iter().filter_map(|result| result.goal(of_first));
            mean_score(&goals.collect::<Vec<f64>>())
        });
        let score_by_seat = [true, false].map(|begins| {
            let is_here = |result: &&&MatchResult| result.first_begins() == begins;
            let here: Vec<&MatchResult> = results.iter().filter(is_here).copied().collect();
            let scores = by_unit(&self::units(&here), Goals::score).concat();
            mean_score(&scores).map(|score| score.mean)
        });
        let elo = |score: Option<f64>| score.map(elo_of_score).filter(|elo| elo.is_finite());
        let n_steps: f64 = results.iter().map(|result| f64::from(result.steps)).sum();
        Some(Tally {
            game: results[0].fixture.game.clone(),
            first: first.name.clone(),
            second: second.name.clone(),
            budget: results[0].fixture.budget,
            matches: results.len(),
            score: score.map(|score| score.mean),
            plus_minus: score.map(|score| score.plus_minus()),
            interval: score.map(|score| [score.low, score.high]),
            wins: count(100.0),
            draws: count(50.0),
            losses: count(0.0),
            pairs: match Frequencies::of(&units) {
                Frequencies::Pairs(pairs) => Some(pairs),
                Frequencies::Matches(_) => None,
            },
            won: proportion(count(100.0) as f64, scores.concat().len()),
            goals: goals.map(|goals| goals.map(|goals| goals.mean)),
            goals_plus_minus: goals.map(|goals| goals.map(|goals| goals.plus_minus())),
            goal_difference: mean_difference_of_groups(&differences),
            elo: elo(score.map(|score| score.mean)),
            elo_interval: [
                elo(score.map(|score| score.low)),
                elo(score.map(|score| score.high)),
            ],
            score_by_seat,
            steps: n_steps / results.len() as f64,
            playouts_per_move: per_move(results, |work| work.playouts as f64),
            transitions_per_move: per_move(results, |work| work.transitions as f64),
            seconds_per_move: Some(per_move(results, |work| work.seconds)),
            faults: [0, 1].map(|who| results.iter().map(|result| result.faults[who]).sum()),
            fault_kinds: [0, 1].map(|who| {
                let mut counts = FaultCounts::default();
                for result in results {
                    counts.merge(result.fault_kinds[who]);
                }
                counts
            }),
            forfeits: [0, 1].map(|who| {
                let forfeited = results.iter().filter(|result| result.forfeits[who] > 0);
                forfeited.count()
            }),
        })
    }

    /// The same without times, which differ from run to run.
    #[must_use]
    pub fn without_times(mut self) -> Tally {
        self.seconds_per_move = None;
        self
    }

    /// The score with its interval.
    #[must_use]
    pub fn estimate(&self) -> Option<Estimate> {
        let [low, high] = self.interval?;
        Some(Estimate {
            n: self.wins + self.draws + self.losses,
            mean: self.score?,
            low,
            high,
        })
    }
}

fn per_move(results: &[&MatchResult], amount: impl Fn(&Work) -> f64) -> [f64; 2] {
    [0, 1].map(|who| {
        let n: u32 = results.iter().map(|result| result.work[who].searches).sum();
        let sum: f64 = results.iter().map(|result| amount(&result.work[who])).sum();
        sum / f64::from(n.max(1))
    })
}

/// A number per comparison, in independent groups.
fn by_unit(units: &[Vec<Goals>], number: impl Fn(Goals) -> f64) -> Vec<Vec<f64>> {
    let of_unit = |unit: &Vec<Goals>| unit.iter().map(|&goals| number(goals)).collect();
    units.iter().map(of_unit).collect()
}

/// What makes results belong to one cell.
type CellKey<'a> = (&'a str, &'a str, &'a [Contestant; 2], &'static str, u64);

/// All cells of some results, by game, players and budget. Results of several seeds are added up. Where one name stands for
/// different rules or players, a mark is added to it.
#[must_use]
pub fn tallies(results: &[MatchResult]) -> Vec<Tally> {
    let mut cells: BTreeMap<CellKey<'_>, Vec<&MatchResult>> = BTreeMap::new();
    for result in results {
        let fixture = &result.fixture;
        let key = (
            fixture.game.as_str(),
            fixture.rules.as_str(),
            &fixture.players,
            fixture.budget.unit(),
            fixture.budget.amount().to_bits(),
        );
        cells.entry(key).or_default().push(result);
    }
    let is_ambiguous = |game: &str, name: &str| {
        let rules = cells.keys().filter(|key| key.0 == game).map(|key| key.1);
        let mut rules: Vec<&str> = rules.collect();
        rules.dedup();
        let players = cells.keys().flat_map(|key| key.2);
        let mut players: Vec<&str> = players
            .filter(|player| player.name == name)
            .map(|player| player.is.as_str())
            .collect();
        players.sort_unstable();
        players.dedup();
        (rules.len() > 1, players.len() > 1)
    };
    let marked = |name: &str, meaning: &str, is_ambiguous: bool| match is_ambiguous {
        true => format!("{name} #{}", mark(meaning)),
        false => name.to_owned(),
    };
    let add_up = |(key, results): (&CellKey<'_>, &Vec<&MatchResult>)| {
        let mut tally = Tally::of(results)?;
        let (game, rules, [first, second], ..) = *key;
        tally.first = marked(&first.name, &first.is, is_ambiguous(game, &first.name).1);
        tally.second = marked(&second.name, &second.is, is_ambiguous(game, &second.name).1);
        tally.game = marked(game, rules, is_ambiguous(game, "").0);
        Some(tally)
    };
    cells.iter().filter_map(add_up).collect()
}

/// A few letters that identify a text.
fn mark(text: &str) -> String {
    let hash = agon_arena::rules_hash(text);
    hash[hash.len() - 4..].to_owned()
}

/// A pair over all games.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Overall {
    /// The first player.
    pub first: String,
    /// The second player.
    pub second: String,
    /// The unit of the budget, and its amount where all cells have the same.
    pub budget: String,
    /// The number of games.
    pub games: usize,
    /// Mean of the scores of all games, each with the same weight.
    pub score: Estimate,
}

/// Pairs of players that met in several games, with the mean over the games.
#[must_use]
pub fn overall(tallies: &[Tally]) -> Vec<Overall> {
    let mut order: Vec<(&str, &str, String)> = Vec::new();
    let mut pairs: BTreeMap<(&str, &str, String), Vec<Estimate>> = BTreeMap::new();
    for tally in tallies {
        // Transitions may differ by game and still be one column.
        let budget = match tally.budget {
            Budget::Transitions(_) => "transitions".to_owned(),
            other => other.to_string(),
        };
        let pair = (tally.first.as_str(), tally.second.as_str(), budget);
        if !pairs.contains_key(&pair) {
            order.push(pair.clone());
        }
        pairs.entry(pair).or_default().extend(tally.estimate());
    }
    let one = |pair: (&str, &str, String)| {
        let scores = &pairs[&pair];
        let score = mean_of(scores).filter(|_| scores.len() > 1)?;
        Some(Overall {
            first: pair.0.to_owned(),
            second: pair.1.to_owned(),
            budget: pair.2,
            games: scores.len(),
            score,
        })
    };
    order.into_iter().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::tests::result;

    #[test]
    fn wins_draws_and_losses_add_up() {
        let goals = [[100, 0], [50, 50], [30, 40], [100, 0]];
        let results: Vec<MatchResult> = (0..)
            .zip(goals)
            .map(|(index, goals)| result("a", "b", index, goals))
            .collect();
        let results: Vec<&MatchResult> = results.iter().collect();
        let tally = Tally::of(&results).expect("there are results");
        assert_eq!((tally.wins, tally.draws, tally.losses), (2, 1, 1));
        assert_eq!(tally.score, Some(62.5));
        assert_eq!(tally.goals, [Some(70.0), Some(22.5)]);
        assert_eq!(tally.goal_difference.map(|goals| goals.mean), Some(47.5));
        // Matches 0 and 2 begin, one won and one lost; of the others one is drawn and one won.
        assert_eq!(tally.score_by_seat, [Some(50.0), Some(75.0)]);
        // The first pair has 1½ points, the second one 1.
        assert_eq!(tally.pairs, Some([0, 0, 1, 1, 0]));
        assert_eq!(tally.playouts_per_move, [100.0, 100.0]);
        assert!(Tally::of(&[]).is_none());
    }

    #[test]
    fn a_match_without_goals_does_not_count() {
        let mut broken = result("a", "b", 0, [100, 0]);
        broken.goals[1] = None;
        let whole = result("a", "b", 1, [0, 100]);
        let tally = Tally::of(&[&broken, &whole]).expect("there are results");
        assert_eq!((tally.matches, tally.score), (2, Some(0.0)));
    }

    #[test]
    fn a_player_that_forfeits_has_lost() {
        let forfeit = |index: u32, forfeits: [u32; 2]| {
            // The goals alone would make it a draw.
            let mut result = result("a", "b", index, [50, 50]);
            result.forfeits = forfeits;
            result.faults = forfeits.map(|n| 3 * n);
            result.fault_kinds = result.faults.map(|missing| FaultCounts {
                missing,
                ..FaultCounts::default()
            });
            result
        };
        let results = [
            forfeit(0, [1, 0]),
            forfeit(1, [0, 1]),
            forfeit(2, [0, 0]),
            forfeit(3, [1, 1]),
        ];
        let results: Vec<&MatchResult> = results.iter().collect();
        let tally = Tally::of(&results).expect("there are results");
        assert_eq!((tally.wins, tally.draws, tally.losses), (1, 1, 1));
        assert_eq!((tally.forfeits, tally.faults), ([2, 2], [6, 6]));
        assert_eq!(tally.fault_kinds[1].to_string(), "6 (6 missing)");
    }

    #[test]
    fn cells_are_told_apart() {
        let mut results = Vec::new();
        for index in 0..3 {
            results.push(result("a", "b", index, [100, 0]));
            let mut other = result("a", "b", index, [100, 0]);
            other.fixture.budget = Budget::Playouts(50);
            results.push(other);
        }
        let tallies = tallies(&results);
        let shown: Vec<String> = tallies
            .iter()
            .map(|tally| format!("{} {} {}", tally.first, tally.budget, tally.matches))
            .collect();
        assert_eq!(shown, ["a 50 playouts 3", "a 100 playouts 3"]);
    }

    #[test]
    fn the_same_name_for_different_players_is_marked() {
        let mut changed = result("a", "b", 0, [0, 100]);
        changed.fixture.players[0].is.push_str(" more");
        let tallies = tallies(&[result("a", "b", 0, [100, 0]), changed]);
        assert_eq!(tallies.len(), 2);
        assert!(tallies[0].first.starts_with("a #") && tallies[0].first != tallies[1].first);
        assert_eq!(tallies[0].second, "b");
    }

    #[test]
    fn games_are_averaged() {
        let mut elsewhere = result("a", "b", 0, [0, 100]);
        elsewhere.fixture.game = "other".to_owned();
        let tallies = tallies(&[result("a", "b", 0, [100, 0]), elsewhere]);
        let all = overall(&tallies);
        assert_eq!((all.len(), all[0].games, all[0].score.mean), (1, 2, 50.0));
        assert!(overall(&tallies[..1]).is_empty());
    }
}
