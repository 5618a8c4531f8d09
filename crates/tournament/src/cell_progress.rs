//! The progress of a cell: its results so far, which of them count, and whether it is over.
//!
//! Whether a cell ends early is decided from its first matches without a gap, after each whole round of seats. So the order in
//! which matches are played does not matter, and a match whose partner with swapped seats is pending decides nothing.
//! Matches beyond the end do not count.

use serde::Serialize;

use crate::cell::Cell;
use crate::pairs::{Frequencies, units};
use crate::result::MatchResult;
use crate::sprt::SprtVerdict;
use crate::techniques::Status;

/// An extension that is switched off in this number of matches is taken to be inactive in the game.
const TRIAL: u32 = 4;

/// Why a cell is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// All matches are played.
    Complete,
    /// The sequential test has an answer.
    Sprt(SprtVerdict),
    /// The extension that the cell is about is not active in this game.
    PartAbsent,
}

/// The results of a cell.
#[derive(Clone, Debug)]
pub struct CellProgress {
    results: Vec<Option<Box<MatchResult>>>,
    /// The number of results before the first gap.
    n_in_order: usize,
    /// The number of matches that count at most.
    n_wanted: usize,
    ended: Option<Ended>,
}

impl CellProgress {
    /// A cell of which nothing is played yet.
    #[must_use]
    pub fn new(cell: &Cell) -> CellProgress {
        let n_wanted = cell.terms.n_matches as usize;
        CellProgress {
            results: vec![None; n_wanted],
            n_in_order: 0,
            n_wanted,
            ended: (n_wanted == 0).then_some(Ended::Complete),
        }
    }

    /// Why it is over, if it is.
    #[must_use]
    pub fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// The number of matches that will count, as far as is known.
    #[must_use]
    pub fn n_wanted(&self) -> usize {
        self.n_wanted
    }

    /// The results that count.
    #[must_use]
    pub fn counted(&self) -> Vec<&MatchResult> {
        let results = self.results[..self.n_wanted].iter();
        results.filter_map(Option::as_deref).collect()
    }

    /// The number of results that count so far.
    #[must_use]
    pub fn n_counted(&self) -> usize {
        self.results[..self.n_wanted].iter().flatten().count()
    }

    /// Whether a match has yet to be played.
    pub(crate) fn is_missing(&self, index: u32) -> bool {
        let index = index as usize;
        index < self.n_wanted && self.results[index].is_none()
    }

    /// Adds a result.
    pub(crate) fn put(&mut self, cell: &Cell, result: MatchResult) {
        let index = result.fixture.index as usize;
        if let Some(place) = self.results.get_mut(index) {
            *place = Some(Box::new(result));
        }
        while self.ended.is_none() && self.results[self.n_in_order].is_some() {
            self.n_in_order += 1;
            self.ended = self.judge(cell);
            if self.ended.is_some() {
                self.n_wanted = self.n_in_order;
            }
        }
    }

    /// Why the results before the first gap end the cell, if they do.
    fn judge(&self, cell: &Cell) -> Option<Ended> {
        let n = self.n_in_order as u32;
        if self.n_in_order == self.results.len() {
            return Some(Ended::Complete);
        }
        if !n.is_multiple_of(cell.round_len()) {
            return None;
        }
        let results: Vec<&MatchResult> = {
            let in_order = self.results[..self.n_in_order].iter();
            in_order.filter_map(Option::as_deref).collect()
        };
        let is_trial = n >= TRIAL && n < TRIAL + cell.round_len();
        if let Some(part) = cell.part.as_ref().filter(|_| is_trial) {
            let is_off =
                |result: &&MatchResult| result.techniques[0].status(part) == Some(Status::Off);
            if results.iter().all(is_off) {
                return Some(Ended::PartAbsent);
            }
        }
        let outcomes = Frequencies::of(&units(&results));
        let verdict = cell.terms.sprt?.verdict(&outcomes)?;
        Some(Ended::Sprt(verdict))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::tests::cell;
    use crate::result::tests::result;
    use crate::sprt::Sprt;
    use crate::techniques::tests::cutoff_with;

    /// Puts results in this order; the first player wins all.
    fn after(cell: &Cell, order: &[u32], cutoff: Option<Status>) -> CellProgress {
        let mut progress = CellProgress::new(cell);
        for &index in order {
            let mut result = result("a", "b", index, [100, 0]);
            result.techniques[0].cutoff = cutoff.map(cutoff_with);
            progress.put(cell, result);
        }
        progress
    }

    #[test]
    fn a_cell_is_over_when_all_is_played() {
        let cell = cell("mc", "random", 4);
        let progress = after(&cell, &[1, 0, 3], None);
        assert_eq!((progress.ended(), progress.counted().len()), (None, 3));
        assert!(progress.is_missing(2) && !progress.is_missing(3) && !progress.is_missing(4));
        let progress = after(&cell, &[1, 0, 3, 2], None);
        assert_eq!(progress.ended(), Some(Ended::Complete));
    }

    #[test]
    fn a_test_ends_it_whatever_the_order() {
        let mut cell = cell("mc", "random", 100);
        cell.terms.sprt = Some(Sprt::of_sign(100.0, 0));
        let forward: Vec<u32> = (0..40).collect();
        let backward: Vec<u32> = forward.iter().rev().copied().collect();
        let [one, two] = [forward, backward].map(|order| after(&cell, &order, None));
        assert_eq!(one.ended(), Some(Ended::Sprt(SprtVerdict::Elo1)));
        assert_eq!(one.ended(), two.ended());
        assert_eq!(one.n_wanted(), two.n_wanted());
        assert_eq!(one.counted(), two.counted());
        assert!(one.n_wanted() < 40 && one.n_wanted() % 2 == 0);
    }

    #[test]
    fn a_pending_match_delays_the_decision() {
        let mut cell = cell("mc", "random", 100);
        cell.terms.sprt = Some(Sprt::of_sign(100.0, 0));
        let all: Vec<u32> = (0..40).collect();
        let n = after(&cell, &all, None).n_wanted() as u32;
        // The last match of the deciding pair is missing; what was played beyond it does not help.
        let pending: Vec<u32> = (0..40).filter(|index| *index != n - 1).collect();
        let mut progress = after(&cell, &pending, None);
        assert_eq!(progress.ended(), None);
        progress.put(&cell, result("a", "b", n - 1, [100, 0]));
        assert_eq!(progress.ended(), Some(Ended::Sprt(SprtVerdict::Elo1)));
        assert_eq!(progress.n_wanted(), n as usize);
    }

    #[test]
    fn without_its_part_a_cell_is_over_soon() {
        let mut cell = cell("mc", "random", 100);
        cell.part = Some("cutoff".to_owned());
        let order: Vec<u32> = (0..6).collect();
        let off = after(&cell, &order, Some(Status::Off));
        assert_eq!((off.ended(), off.n_wanted()), (Some(Ended::PartAbsent), 4));
        assert_eq!(after(&cell, &order, Some(Status::On)).ended(), None);
        assert_eq!(after(&cell, &order, Some(Status::Undecided)).ended(), None);
    }
}
