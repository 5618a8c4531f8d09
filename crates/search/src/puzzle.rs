//! The best line of a single-player game: remembered and followed.
//!
//! Nobody can disturb the only player, so a simulation that ended well can simply be played again. The line is that
//! of the best simulation so far, from the state of the match to its end.

use std::collections::VecDeque;

use agon_engine::MoveId;

/// The best simulation so far.
#[derive(Default)]
pub(crate) struct BestLine {
    value: f64,
    moves: VecDeque<MoveId>,
}

impl BestLine {
    /// What it is worth and how it begins, if there is one.
    pub(crate) fn get(&self) -> Option<(f64, MoveId)> {
        self.moves.front().map(|&mv| (self.value, mv))
    }

    /// Its moves.
    pub(crate) fn moves(&self) -> impl Iterator<Item = MoveId> + '_ {
        self.moves.iter().copied()
    }

    /// A simulation from the state of the match was worth this much.
    pub(crate) fn offer(&mut self, value: f64, moves: &[MoveId]) {
        if self.moves.is_empty() || value > self.value {
            self.value = value;
            self.moves.clear();
            self.moves.extend(moves);
        }
    }

    /// The match went on by this move.
    pub(crate) fn follow(&mut self, mv: MoveId) {
        if self.moves.pop_front() != Some(mv) {
            self.moves.clear();
        }
    }

    /// The match is somewhere else.
    pub(crate) fn clear(&mut self) {
        self.moves.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_line_is_followed_until_the_match_leaves_it() {
        let mut line = BestLine::default();
        assert_eq!(line.get(), None);
        line.offer(0.0, &[MoveId(1)]);
        line.offer(50.0, &[MoveId(2), MoveId(3), MoveId(4)]);
        line.offer(50.0, &[MoveId(9)]);
        assert_eq!(line.get(), Some((50.0, MoveId(2))));
        line.follow(MoveId(2));
        assert_eq!(line.get(), Some((50.0, MoveId(3))));
        line.follow(MoveId(7));
        assert_eq!(line.get(), None);
    }
}
