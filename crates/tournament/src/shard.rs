//! A shard: one of several equal parts of a tournament, for machines that share no store and no server.
//!
//! The rounds of all cells are dealt out in turn, so that matches with swapped seats stay together and every shard has the
//! same share of every cell. Each machine plays its shard into a store of its own, and the stores are merged afterwards.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::cell::Cell;

/// Part `number` of `count`, numbered from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    number: u32,
    count: u32,
}

/// A text that does not name a shard.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{0}` is not a shard; use 1/4 for the first of four")]
pub struct ShardError(String);

impl Default for Shard {
    fn default() -> Shard {
        Shard::WHOLE
    }
}

impl Shard {
    /// The whole tournament.
    pub const WHOLE: Shard = Shard {
        number: 1,
        count: 1,
    };

    /// Whether it is the whole tournament.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.count == 1
    }

    /// Whether a match of a cell belongs to it.
    #[must_use]
    pub fn has(self, cell: &Cell, cell_idx: usize, index: u32) -> bool {
        let round = u64::from(index / cell.round_len());
        let place = cell_idx as u64 + round;
        place % u64::from(self.count) == u64::from(self.number - 1)
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Shard, ShardError> {
        let wrong = || ShardError(text.to_owned());
        let (number, count) = text.split_once('/').ok_or_else(wrong)?;
        let read = |number: &str| number.parse::<u32>().map_err(|_| wrong());
        let (number, count) = (read(number)?, read(count)?);
        match (1..=count).contains(&number) {
            true => Ok(Shard { number, count }),
            false => Err(wrong()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::tests::cell;

    #[test]
    fn every_match_is_in_one_shard_and_pairs_stay_together() {
        let cell = cell("mc", "random", 20);
        let shards: Vec<Shard> = ["1/3", "2/3", "3/3"]
            .iter()
            .map(|text| text.parse().expect("it is a shard"))
            .collect();
        for cell_idx in 0..3 {
            for index in 0..20 {
                let owners = |index| {
                    let has = |shard: &&Shard| shard.has(&cell, cell_idx, index);
                    shards.iter().filter(has).collect::<Vec<_>>()
                };
                assert_eq!(owners(index).len(), 1);
                assert_eq!(owners(index), owners(index / 2 * 2));
            }
        }
    }

    #[test]
    fn wrong_texts_are_refused() {
        for text in ["", "1", "0/3", "4/3", "a/b", "1/0", "-1/3"] {
            let error = text.parse::<Shard>().expect_err("it is none");
            assert_eq!(error, ShardError(text.to_owned()));
        }
        assert_eq!(
            "2/3".parse::<Shard>().map(|shard| shard.to_string()),
            Ok("2/3".to_owned())
        );
    }
}
