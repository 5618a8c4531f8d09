//! The legal moves of all nodes of a tree, one after the other: two bytes each where a game has few enough moves.

use std::ops::Range;

use agon_engine::{MoveId, prefetch};

/// A long list of moves.
pub(crate) enum LegalList {
    /// Moves with numbers below 2¹⁶.
    Narrow(Vec<u16>),
    /// All others.
    Wide(Vec<u32>),
}

impl LegalList {
    pub(crate) fn new(is_wide: bool) -> LegalList {
        match is_wide {
            true => LegalList::Wide(Vec::new()),
            false => LegalList::Narrow(Vec::new()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            LegalList::Narrow(moves) => moves.len(),
            LegalList::Wide(moves) => moves.len(),
        }
    }

    pub(crate) fn bytes_per_move(&self) -> usize {
        match self {
            LegalList::Narrow(_) => size_of::<u16>(),
            LegalList::Wide(_) => size_of::<u32>(),
        }
    }

    #[inline]
    pub(crate) fn get(&self, place: usize) -> MoveId {
        match self {
            LegalList::Narrow(moves) => MoveId(u32::from(moves[place])),
            LegalList::Wide(moves) => MoveId(moves[place]),
        }
    }

    /// The moves from a place on will be looked at soon.
    #[inline]
    pub(crate) fn prefetch(&self, place: usize) {
        match self {
            LegalList::Narrow(moves) => prefetch(moves, place),
            LegalList::Wide(moves) => prefetch(moves, place),
        }
    }

    /// The moves at these places.
    #[inline]
    pub(crate) fn range(
        &self,
        places: Range<usize>,
    ) -> impl ExactSizeIterator<Item = MoveId> + Clone + '_ {
        places.map(|place| self.get(place))
    }

    pub(crate) fn extend(&mut self, moves: &[MoveId]) {
        match self {
            LegalList::Narrow(list) => {
                make_room(list, moves.len());
                list.extend(moves.iter().map(|mv| mv.0 as u16));
            }
            LegalList::Wide(list) => {
                make_room(list, moves.len());
                list.extend(moves.iter().map(|mv| mv.0));
            }
        }
    }

    pub(crate) fn swap(&mut self, one: usize, other: usize) {
        match self {
            LegalList::Narrow(moves) => moves.swap(one, other),
            LegalList::Wide(moves) => moves.swap(one, other),
        }
    }

    /// Moves a part of the list to another place, which is not behind it.
    pub(crate) fn copy_within(&mut self, places: Range<usize>, to: usize) {
        match self {
            LegalList::Narrow(moves) => moves.copy_within(places, to),
            LegalList::Wide(moves) => moves.copy_within(places, to),
        }
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        match self {
            LegalList::Narrow(moves) => moves.truncate(len),
            LegalList::Wide(moves) => moves.truncate(len),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.truncate(0);
    }
}

/// Makes room for more. A list that grows is copied to fresh pages, which the system must clear first: so a small one grows
/// eightfold at a time. What is not written to takes no memory.
pub(crate) fn make_room<T>(list: &mut Vec<T>, n_more: usize) {
    const SMALL: usize = 16 << 20;
    if list.capacity() - list.len() < n_more && size_of_val(&list[..]) < SMALL {
        list.reserve_exact(n_more.max(list.len() * 7));
    }
}
