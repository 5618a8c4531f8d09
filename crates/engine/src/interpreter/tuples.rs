//! A set of tuples of term ids, all of one width, numbered in insertion order.
//!
//! This is the only container of the interpreter: answers of a call, keys of a memo and keys of an index are all tuples
//! that are looked up and listed. Clearing keeps the memory and costs no more than filling did, because a fresh set is
//! needed for every call in every state. Small sets are searched linearly; only larger ones are hashed.

use super::terms::{finish, is_same, mix};

/// Sets up to this size are searched linearly: a few words in one cache line are faster than a hash.
const LINEAR: usize = 8;

/// A set of tuples; the row number of a tuple is its position in insertion order.
#[derive(Clone, Default)]
pub(crate) struct Tuples {
    width: usize,
    len: usize,
    values: Vec<u32>,
    /// Hash table with open addressing; 0 is a free slot, otherwise a row number plus one. All free while `len` is
    /// small.
    slots: Vec<u32>,
}

impl Tuples {
    pub(crate) fn new(width: usize) -> Tuples {
        Tuples {
            width,
            ..Tuples::default()
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn row(&self, row: usize) -> &[u32] {
        &self.values[row * self.width..(row + 1) * self.width]
    }

    /// The row of a tuple.
    #[inline]
    pub(crate) fn find(&self, tuple: &[u32]) -> Option<u32> {
        debug_assert_eq!(tuple.len(), self.width);
        match self.len <= LINEAR {
            true => self.find_linear(tuple),
            false => self.find_hashed(tuple).ok(),
        }
    }

    /// Adds a tuple unless it is present; returns its row, and whether it is new.
    #[inline]
    pub(crate) fn insert(&mut self, tuple: &[u32]) -> (u32, bool) {
        debug_assert_eq!(tuple.len(), self.width);
        if self.len <= LINEAR {
            if let Some(row) = self.find_linear(tuple) {
                return (row, false);
            }
            let row = self.push(tuple);
            if self.len > LINEAR {
                self.index_all();
            }
            return (row, true);
        }
        match self.find_hashed(tuple) {
            Ok(row) => (row, false),
            Err(place) => {
                let row = self.push(tuple);
                self.slots[place] = row + 1;
                if self.len * 2 > self.slots.len() {
                    self.slots.fill(0);
                    self.index_all();
                }
                (row, true)
            }
        }
    }

    #[inline]
    fn push(&mut self, tuple: &[u32]) -> u32 {
        self.values.extend_from_slice(tuple);
        self.len += 1;
        self.len as u32 - 1
    }

    #[inline]
    fn find_linear(&self, tuple: &[u32]) -> Option<u32> {
        match *tuple {
            [] => (self.len > 0).then_some(0),
            [value] => self
                .values
                .iter()
                .position(|&other| other == value)
                .map(|row| row as u32),
            _ => self
                .values
                .chunks_exact(self.width)
                .position(|row| is_same(row, tuple))
                .map(|row| row as u32),
        }
    }

    /// The row of a tuple, or the free slot for it.
    #[inline]
    fn find_hashed(&self, tuple: &[u32]) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut place = hash(tuple) & mask;
        loop {
            match self.slots[place] {
                0 => return Err(place),
                row if is_same(self.row(row as usize - 1), tuple) => return Ok(row - 1),
                _ => place = (place + 1) & mask,
            }
        }
    }

    /// Removes all tuples and keeps the memory.
    pub(crate) fn clear(&mut self) {
        if self.len > LINEAR {
            self.free_slots();
        }
        self.values.clear();
        self.len = 0;
    }

    /// Enters all rows into slots that are free.
    fn index_all(&mut self) {
        if self.len * 2 > self.slots.len() {
            let n_slots = (self.slots.len() * 2).max(LINEAR * 4);
            self.slots.resize(n_slots, 0);
        }
        (0..self.len as u32).for_each(|row| self.place(row));
    }

    fn place(&mut self, row: u32) {
        let mask = self.slots.len() - 1;
        let mut place = hash(self.row(row as usize)) & mask;
        while self.slots[place] != 0 {
            place = (place + 1) & mask;
        }
        self.slots[place] = row + 1;
    }

    /// A set that was once large may have far more slots than tuples: then only those in use are freed.
    fn free_slots(&mut self) {
        if self.slots.len() <= self.len * 16 {
            self.slots.fill(0);
            return;
        }
        let mask = self.slots.len() - 1;
        for row in 0..self.len {
            let mut place = hash(self.row(row)) & mask;
            while self.slots[place] != row as u32 + 1 {
                place = (place + 1) & mask;
            }
            // Rows are freed in insertion order, so the probe sequence of a later row may pass a freed slot. It is
            // marked as deleted, not free, until all rows are done.
            self.slots[place] = u32::MAX;
        }
        for row in 0..self.len {
            let mut place = hash(self.row(row)) & mask;
            while self.slots[place] == u32::MAX {
                self.slots[place] = 0;
                place = (place + 1) & mask;
            }
        }
    }
}

#[inline(always)]
fn hash(tuple: &[u32]) -> usize {
    finish(tuple.iter().fold(0, |hash, &value| mix(hash, value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_are_numbered_in_insertion_order() {
        let mut tuples = Tuples::new(2);
        for value in 0..100 {
            assert_eq!(tuples.insert(&[value, 1]), (value, true));
        }
        assert_eq!(tuples.insert(&[42, 1]), (42, false));
        assert_eq!(tuples.find(&[42, 2]), None);
        assert_eq!(tuples.row(7), [7, 1]);
    }

    #[test]
    fn a_cleared_set_is_empty() {
        let mut tuples = Tuples::new(1);
        for size in [5, 2000, 9, 40, 3, 100, 12] {
            for value in 0..size {
                tuples.insert(&[value * 3]);
            }
            assert_eq!(tuples.len(), size as usize);
            assert!((0..size).all(|value| tuples.find(&[value * 3]) == Some(value)));
            tuples.clear();
            assert!(tuples.slots.iter().all(|&slot| slot == 0));
            assert_eq!(tuples.find(&[3]), None);
        }
    }

    #[test]
    fn a_set_of_width_zero_holds_one_tuple() {
        let mut tuples = Tuples::new(0);
        assert_eq!(tuples.find(&[]), None);
        assert_eq!(tuples.insert(&[]), (0, true));
        assert_eq!(tuples.insert(&[]), (0, false));
        assert_eq!(tuples.len(), 1);
    }
}
