//! The alarm that goes off when self-play collapses, and what is done then.
//!
//! A network that learns from its own games can come to play the same few lines, in which one role always wins. Its errors are
//! small then, and it looks perfect, but it knows nothing else. This shows in two ways: one role wins nearly all games, or the error of values is
//! next to nothing. A game that one role wins by force looks like that too, in the end; so the alarm only goes off where it came about quickly, and
//! the cure is tried a few times and no more: the last good network comes back, with more noise and longer random openings.

use crate::gradient::Losses;
use crate::self_play::GameCounts;

/// Why self-play has collapsed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alarm {
    /// One role wins nearly all games.
    OneWinner {
        /// The role.
        role: usize,
        /// Of this number of games in percent.
        percent: u32,
    },
    /// The error of values is next to nothing.
    NoError,
}

/// Fewest games that tell anything.
const FEWEST_GAMES: u64 = 200;
/// Share of games that one role wins nearly always.
const NEARLY_ALL: f64 = 0.97;
/// An error of values that is next to nothing, above the entropy of targets.
const NEARLY_NOTHING: f64 = 0.004;

/// What games and errors say.
pub(crate) fn check(counts: &GameCounts, losses: Losses) -> Option<Alarm> {
    if counts.games < FEWEST_GAMES {
        return None;
    }
    let share = |wins: u64| wins as f64 / counts.games as f64;
    let winner = counts
        .wins
        .iter()
        .position(|&wins| share(wins) > NEARLY_ALL);
    if let Some(role) = winner {
        let percent = (share(counts.wins[role]) * 100.0) as u32;
        return Some(Alarm::OneWinner { role, percent });
    }
    // Games that are all drawn have small errors too, and nothing is wrong with them.
    let decided: u64 = counts.wins.iter().sum();
    let is_decided = share(decided) > 0.5;
    (is_decided && losses.value < NEARLY_NOTHING).then_some(Alarm::NoError)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn games(wins: [u64; 2], games: u64) -> GameCounts {
        GameCounts {
            games,
            wins: wins.to_vec(),
            ..GameCounts::new(2)
        }
    }

    fn losses(value: f64) -> Losses {
        Losses { value, policy: 1.0 }
    }

    #[test]
    fn it_goes_off_where_one_role_always_wins() {
        let alarm = check(&games([990, 10], 1000), losses(0.2));
        assert_eq!(
            alarm,
            Some(Alarm::OneWinner {
                role: 0,
                percent: 99
            })
        );
        assert_eq!(check(&games([900, 100], 1000), losses(0.2)), None);
        assert_eq!(check(&games([100, 0], 100), losses(0.2)), None, "too few");
    }

    #[test]
    fn it_goes_off_where_nothing_is_wrong_any_more() {
        assert_eq!(
            check(&games([600, 400], 1000), losses(0.001)),
            Some(Alarm::NoError)
        );
        // Draws are known to be draws.
        assert_eq!(check(&games([10, 10], 1000), losses(0.001)), None);
    }
}
