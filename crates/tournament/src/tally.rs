//! What the results of a cell add up to.
//!
//! The score of a match is 100, 50 or 0 as the mean goal of the first player is above, equal to or below that of the other. In
//! games for one, the matches of the two come in pairs and their goals are compared. A player that forfeited has lost. A
//! match without goals does not count.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::Serialize;

use agon_arena::FaultCounts;

use crate::budget::Budget;
use crate::result::{Contestant, MatchResult};
use crate::statistics::{Estimate, elo_of_score, mean_difference, mean_of, mean_score, proportion};

/// What the results of a cell add up to. Scores, wins and Elo are those of the first player.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Tally {
    /// The game.
    pub game: String,
    /// The first player.
    pub first: String,
    /// The other one.
    pub second: String,
    /// What they might spend on a move.
    pub budget: Budget,
    /// Matches played.
    pub matches: usize,
    /// Mean score, 0 to 100.
    pub score: Option<f64>,
    /// Half the width of its 95 % confidence interval.
    pub plus_minus: Option<f64>,
    /// The interval.
    pub interval: Option<[f64; 2]>,
    /// Matches won.
    pub wins: usize,
    /// Matches drawn.
    pub draws: usize,
    /// Matches lost.
    pub losses: usize,
    /// Percentage of matches won, with its interval.
    pub won: Option<Estimate>,
    /// Mean goals of both.
    pub goals: [Option<f64>; 2],
    /// Half the widths of their intervals.
    pub goals_plus_minus: [Option<f64>; 2],
    /// Mean difference of goals within a match.
    pub goal_difference: Option<Estimate>,
    /// Elo points above the other one; nothing where it would be without end.
    pub elo: Option<f64>,
    /// The interval of that; nothing where it has no end.
    pub elo_interval: [Option<f64>; 2],
    /// Mean score with and without the first role of the game.
    pub score_by_seat: [Option<f64>; 2],
    /// Mean number of steps.
    pub steps: f64,
    /// Random games per move of both.
    pub playouts_per_move: [f64; 2],
    /// Transitions per move of both.
    pub transitions_per_move: [f64; 2],
    /// Seconds per move of both; no two runs agree on that.
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
    /// Adds up results of one cell; `None` if there are none.
    #[must_use]
    pub fn of(results: &[&MatchResult]) -> Option<Tally> {
        let [first, second] = &results.first()?.fixture.players;
        let scores = scores(results);
        let count = |score: f64| scores.iter().filter(|&&of| of == score).count();
        let score = mean_score(&scores);
        let goals = [true, false].map(|of_first| {
            let goals = results.iter().filter_map(|result| result.goal(of_first));
            mean_score(&goals.collect::<Vec<f64>>())
        });
        let score_by_seat = [true, false].map(|begins| {
            let of_seat = |result: &&&MatchResult| result.first_begins() == begins;
            let of_seat: Vec<&MatchResult> = results.iter().filter(of_seat).copied().collect();
            mean_score(&self::scores(&of_seat)).map(|of| of.mean)
        });
        let elo = |score: Option<f64>| score.map(elo_of_score).filter(|elo| elo.is_finite());
        let n_steps: f64 = results.iter().map(|result| f64::from(result.steps)).sum();
        Some(Tally {
            game: results[0].fixture.game.clone(),
            first: first.name.clone(),
            second: second.name.clone(),
            budget: results[0].fixture.budget,
            matches: results.len(),
            score: score.map(|of| of.mean),
            plus_minus: score.map(|of| of.plus_minus()),
            interval: score.map(|of| [of.low, of.high]),
            wins: count(100.0),
            draws: count(50.0),
            losses: count(0.0),
            won: proportion(count(100.0) as f64, scores.len()),
            goals: goals.map(|of| of.map(|of| of.mean)),
            goals_plus_minus: goals.map(|of| of.map(|of| of.plus_minus())),
            goal_difference: mean_difference(&differences(results)),
            elo: elo(score.map(|of| of.mean)),
            elo_interval: [elo(score.map(|of| of.low)), elo(score.map(|of| of.high))],
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

    /// Without what differs from run to run.
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

fn per_move(results: &[&MatchResult], of: impl Fn(&crate::result::Work) -> f64) -> [f64; 2] {
    [0, 1].map(|who| {
        let n: u32 = results.iter().map(|result| result.work[who].searches).sum();
        let sum: f64 = results.iter().map(|result| of(&result.work[who])).sum();
        sum / f64::from(n.max(1))
    })
}

/// Goals of the first and the other player that belong together, and whether each has forfeited: of a match, or of two
/// matches in which each plays alone. Where both have forfeited there is nothing to compare.
fn pairs_of_goals(results: &[&MatchResult]) -> Vec<([f64; 2], [bool; 2])> {
    type Halves = ([Option<f64>; 2], [bool; 2]);
    let mut alone: BTreeMap<(u64, u32), Halves> = BTreeMap::new();
    let mut pairs = Vec::new();
    for result in results {
        let goals = [result.goal(true), result.goal(false)];
        let forfeits = result.forfeits.map(|n| n > 0);
        match goals {
            [Some(first), Some(second)] => pairs.push(([first, second], forfeits)),
            _ if result.seats.len() == 1 => {
                let place = (result.fixture.seed, result.fixture.index / 2);
                let (pair, forfeited) = alone.entry(place).or_default();
                for player in [0, 1] {
                    pair[player] = pair[player].or(goals[player]);
                    forfeited[player] |= forfeits[player];
                }
            }
            _ => {}
        }
    }
    let complete = alone
        .values()
        .filter_map(|([first, second], forfeits)| Some(([(*first)?, (*second)?], *forfeits)));
    pairs.extend(complete);
    pairs.retain(|(_, forfeits)| *forfeits != [true; 2]);
    pairs
}

/// Scores of the first player, 0 to 100.
pub(crate) fn scores(results: &[&MatchResult]) -> Vec<f64> {
    let score = |([first, second], forfeits): ([f64; 2], [bool; 2])| match forfeits {
        [true, _] => 0.0,
        [_, true] => 100.0,
        _ => match first.total_cmp(&second) {
            Ordering::Greater => 100.0,
            Ordering::Equal => 50.0,
            Ordering::Less => 0.0,
        },
    };
    pairs_of_goals(results).into_iter().map(score).collect()
}

/// How much more the first player got, −100 to 100.
pub(crate) fn differences(results: &[&MatchResult]) -> Vec<f64> {
    let pairs = pairs_of_goals(results).into_iter();
    pairs.map(|([first, second], _)| first - second).collect()
}

/// What makes results belong to one cell.
type CellOf<'a> = (&'a str, &'a str, &'a [Contestant; 2], &'static str, u64);

/// All cells of results from anywhere, by game, players and budget. Seeds are put together. Where the same names stand for
/// different rules or players, a mark is added.
#[must_use]
pub fn tallies(results: &[MatchResult]) -> Vec<Tally> {
    let mut cells: BTreeMap<CellOf<'_>, Vec<&MatchResult>> = BTreeMap::new();
    for result in results {
        let fixture = &result.fixture;
        let of = (
            fixture.game.as_str(),
            fixture.rules.as_str(),
            &fixture.players,
            fixture.budget.unit(),
            fixture.budget.amount().to_bits(),
        );
        cells.entry(of).or_default().push(result);
    }
    let is_doubtful = |game: &str, name: &str| {
        let rules = cells.keys().filter(|of| of.0 == game).map(|of| of.1);
        let mut rules: Vec<&str> = rules.collect();
        rules.dedup();
        let players = cells.keys().flat_map(|of| of.2);
        let mut players: Vec<&str> = players
            .filter(|of| of.name == name)
            .map(|of| of.is.as_str())
            .collect();
        players.sort_unstable();
        players.dedup();
        (rules.len() > 1, players.len() > 1)
    };
    let marked = |name: &str, of: &str, is_doubtful: bool| match is_doubtful {
        true => format!("{name} #{}", mark(of)),
        false => name.to_owned(),
    };
    let add_up = |(of, results): (&CellOf<'_>, &Vec<&MatchResult>)| {
        let mut tally = Tally::of(results)?;
        let [first, second] = of.2;
        tally.first = marked(&first.name, &first.is, is_doubtful(of.0, &first.name).1);
        tally.second = marked(&second.name, &second.is, is_doubtful(of.0, &second.name).1);
        tally.game = marked(of.0, of.1, is_doubtful(of.0, "").0);
        Some(tally)
    };
    cells.iter().filter_map(add_up).collect()
}

/// A few letters that stand for a text.
fn mark(text: &str) -> String {
    let hash = agon_arena::rules_hash(text);
    hash[hash.len() - 4..].to_owned()
}

/// A pair over all games.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Overall {
    /// The first player.
    pub first: String,
    /// The other one.
    pub second: String,
    /// The unit of the budget, and its amount where all cells have the same.
    pub budget: String,
    /// How many games.
    pub games: usize,
    /// Mean of the scores of all games, each counted alike.
    pub score: Estimate,
}

/// Pairs that met in several games, with the mean over these.
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
        assert_eq!(tally.goal_difference.map(|of| of.mean), Some(47.5));
        // Matches 0 and 2 begin, one won and one lost; of the others one is drawn and one won.
        assert_eq!(tally.score_by_seat, [Some(50.0), Some(75.0)]);
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
    fn who_plays_alone_is_compared_with_who_had_the_same_seed() {
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
        let results: Vec<&MatchResult> = results.iter().collect();
        assert_eq!(scores(&results), [100.0, 50.0]);
        assert_eq!(differences(&results), [20.0, 0.0]);
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
        assert_eq!(scores(&results), [0.0, 100.0, 50.0]);
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
            .map(|of| format!("{} {} {}", of.first, of.budget, of.matches))
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
