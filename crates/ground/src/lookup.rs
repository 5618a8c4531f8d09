//! A map from tuples of terms to consecutive numbers: from tuples to rows, and from keys to groups of rows.
//!
//! Most relations of games have few values per column: coordinates, pieces, roles. Every possible tuple then has a place
//! in a table with one dimension per column, and finding it takes one addition per column and one read (direct
//! addressing). Where the table would be mostly empty, tuples are hashed.
//!
//! The map does not store the tuples: the caller gives the tuple of each number. Numbers depend only on the order of
//! insertion.

use hashbrown::HashTable;

use crate::relation::NO_ROW;
use crate::term::TermId;

/// A map from tuples to the numbers 0, 1, 2, …, in order of insertion.
#[derive(Clone)]
pub(crate) struct Lookup {
    n_keys: u32,
    form: Form,
}

#[derive(Clone)]
enum Form {
    Direct(Direct),
    Hashed(HashTable<u32>),
}

impl Lookup {
    pub(crate) fn new(n_columns: usize) -> Lookup {
        Lookup {
            n_keys: 0,
            form: Form::Direct(Direct::new(n_columns)),
        }
    }

    /// The number of a tuple, or `NO_ROW`. `value_at` gives a value of the tuple with some number.
    #[inline]
    pub(crate) fn find(&self, key: &[TermId], value_at: impl Fn(u32, usize) -> TermId) -> u32 {
        match &self.form {
            Form::Direct(direct) => direct.table[direct.slot(|column| key[column])],
            Form::Hashed(table) => {
                let is_key = |&number: &u32| {
                    let mut values = key.iter().enumerate();
                    values.all(|(column, &value)| value_at(number, column) == value)
                };
                let hash = hash(key.len(), |column| key[column]);
                table.find(hash, is_key).copied().unwrap_or(NO_ROW)
            }
        }
    }

    /// The number of a tuple of `n_columns` values, and whether it is new.
    #[inline]
    pub(crate) fn insert(
        &mut self,
        n_columns: usize,
        key: impl Fn(usize) -> TermId,
        value_at: impl Fn(u32, usize) -> TermId,
    ) -> (u32, bool) {
        let number = self.n_keys;
        match &mut self.form {
            Form::Direct(direct) => match direct.known_slot(&key) {
                Some(slot) if direct.table[slot] != NO_ROW => return (direct.table[slot], false),
                Some(slot) => direct.table[slot] = number,
                None => self.widen(n_columns, key, value_at),
            },
            Form::Hashed(table) => {
                let own = hash(n_columns, &key);
                let is_key = |&number: &u32| {
                    (0..n_columns).all(|column| value_at(number, column) == key(column))
                };
                if let Some(&known) = table.find(own, is_key) {
                    return (known, false);
                }
                let rehash = |&number: &u32| hash(n_columns, |column| value_at(number, column));
                table.insert_unique(own, number, rehash);
            }
        }
        self.n_keys += 1;
        (number, true)
    }

    /// Adds a tuple with a new value: the table grows, or gives way to a hash table.
    #[cold]
    fn widen(
        &mut self,
        n_columns: usize,
        key: impl Fn(usize) -> TermId,
        value_at: impl Fn(u32, usize) -> TermId,
    ) {
        let n_keys = self.n_keys;
        if let Form::Direct(direct) = &mut self.form
            && direct.admit(&key, n_keys)
            && direct.lay_out(n_keys, &value_at)
        {
            let slot = direct.slot(key);
            direct.table[slot] = n_keys;
            return;
        }
        let rehash = |&number: &u32| hash(n_columns, |column| value_at(number, column));
        let mut table = HashTable::with_capacity(n_keys as usize + 1);
        for number in 0..n_keys {
            table.insert_unique(rehash(&number), number, rehash);
        }
        table.insert_unique(hash(n_columns, key), n_keys, rehash);
        self.form = Form::Hashed(table);
    }

    /// Makes searches as fast as possible once the map is complete: a table without spare room, also where there were too
    /// few tuples for a table when the first ones were inserted.
    pub(crate) fn settle(&mut self, n_columns: usize, value_at: impl Fn(u32, usize) -> TermId) {
        let n_keys = self.n_keys;
        if let Form::Direct(direct) = &self.form
            && direct.table.len() <= SMALL
        {
            return;
        }
        let mut direct = Direct::new(n_columns);
        for number in 0..n_keys {
            if !direct.admit(|column| value_at(number, column), n_keys) {
                return;
            }
        }
        direct
            .columns
            .iter_mut()
            .for_each(|column| column.radix = column.values.len() as u32 + 1);
        if direct.lay_out(n_keys, value_at) {
            self.form = Form::Direct(direct);
        }
    }
}

/// A table with a place for every combination of the values that occur.
#[derive(Clone)]
struct Direct {
    columns: Box<[Column]>,
    table: Vec<u32>,
}

#[derive(Clone, Default)]
struct Column {
    /// What each term adds to the place of a tuple; 0 for terms that do not occur in this column.
    offsets: Vec<u32>,
    /// The terms that occur. The first one adds `stride`, the second one twice as much, and so on.
    values: Vec<TermId>,
    stride: u32,
    /// There is room for values below this number, counted from 1.
    radix: u32,
}

/// A table of this size, in entries, may be mostly empty.
const SMALL: usize = 1 << 12;
/// A larger table may have this many entries per tuple. More of them cost more time to clear than a hash table takes.
const ENTRIES_PER_KEY: usize = 8;
/// Terms with larger ids are hashed, unless there are many tuples.
const SMALL_ID: usize = 1 << 10;

impl Direct {
    fn new(n_columns: usize) -> Direct {
        Direct {
            columns: vec![Column::default(); n_columns].into(),
            // No tuple with a value that does not occur is found here.
            table: vec![NO_ROW],
        }
    }

    /// The place of a tuple. If one of its values does not occur, the place of no tuple.
    #[inline]
    fn slot(&self, key: impl Fn(usize) -> TermId) -> usize {
        let columns = self.columns.iter().enumerate();
        columns.fold(0, |slot, (idx, column)| {
            slot + column.offset(key(idx)) as usize
        })
    }

    /// The place of a tuple, if all its values occur.
    #[inline]
    fn known_slot(&self, key: impl Fn(usize) -> TermId) -> Option<usize> {
        let mut slot = 0;
        for (idx, column) in self.columns.iter().enumerate() {
            match column.offset(key(idx)) {
                0 => return None,
                offset => slot += offset as usize,
            }
        }
        Some(slot)
    }

    /// Adds the values of a tuple; false if their ids are too large.
    fn admit(&mut self, key: impl Fn(usize) -> TermId, n_keys: u32) -> bool {
        let most = SMALL_ID + ENTRIES_PER_KEY * n_keys as usize;
        self.columns.iter_mut().enumerate().all(|(idx, column)| {
            let value = key(idx);
            let at = value.0 as usize;
            if at >= most {
                return false;
            }
            if column.offset(value) == 0 {
                if at >= column.offsets.len() {
                    column.offsets.resize(at + 1, 0);
                }
                column.values.push(value);
                // Until the table is laid out again, only whether it is 0 matters.
                column.offsets[at] = (column.values.len() as u32)
                    .wrapping_mul(column.stride)
                    .max(1);
            }
            true
        })
    }

    /// Makes room for all values; false if the table would be too large.
    fn lay_out(&mut self, n_keys: u32, value_at: impl Fn(u32, usize) -> TermId) -> bool {
        let fits = |column: &Column| column.values.len() < column.radix as usize;
        if self.columns.iter().all(fits) && self.table.len() > 1 {
            return true;
        }
        let most = SMALL + ENTRIES_PER_KEY * n_keys as usize;
        let mut size = 1;
        for column in &mut self.columns {
            if !fits(column) {
                column.radix = (column.values.len() * 5 / 4 + 2) as u32;
            }
            column.stride = size as u32;
            size *= column.radix as usize;
            if size > most {
                return false;
            }
        }
        for column in &mut self.columns {
            for (idx, value) in column.values.iter().enumerate() {
                column.offsets[value.0 as usize] = (idx as u32 + 1) * column.stride;
            }
        }
        self.table.clear();
        self.table.resize(size, NO_ROW);
        for number in 0..n_keys {
            let slot = self.slot(|column| value_at(number, column));
            self.table[slot] = number;
        }
        true
    }
}

impl Column {
    #[inline]
    fn offset(&self, value: TermId) -> u32 {
        self.offsets.get(value.0 as usize).copied().unwrap_or(0)
    }
}

/// A fast hash of a few small numbers. Ids are dense, so the bits must be mixed well: hashbrown uses the top seven bits
/// and the lowest ones.
#[inline]
fn hash(n_columns: usize, key: impl Fn(usize) -> TermId) -> u64 {
    let mix = |hash: u64, column| {
        (hash.rotate_left(23) ^ u64::from(key(column).0)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    };
    let hash = (0..n_columns).fold(n_columns as u64, mix);
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Inserts each tuple twice and looks for all tuples around; returns whether there is a table at the end.
    fn check(tuples: &[[u32; 2]]) -> bool {
        let value_at = |number: u32, column: usize| TermId(tuples[number as usize][column]);
        let mut lookup = Lookup::new(2);
        for round in [true, false] {
            for (number, tuple) in tuples.iter().enumerate() {
                let inserted = lookup.insert(2, |column| TermId(tuple[column]), value_at);
                assert_eq!(inserted, (number as u32, round));
            }
            lookup.settle(2, value_at);
        }
        for tuple in tuples
            .iter()
            .flat_map(|&[a, b]| [[a, b], [b, a], [a, b + 1], [a + 1, b]])
        {
            let expected = tuples.iter().position(|other| *other == tuple);
            let found = lookup.find(&tuple.map(TermId), value_at);
            assert_eq!(found, expected.map_or(NO_ROW, |number| number as u32));
        }
        matches!(lookup.form, Form::Direct(_))
    }

    #[test]
    fn few_values_per_column_have_a_table() {
        let square: Vec<[u32; 2]> = (0..400).map(|n| [n % 20, 7 * (n / 20)]).collect();
        assert!(check(&square));
    }

    #[test]
    fn tuples_that_would_leave_a_table_empty_are_hashed() {
        let line: Vec<[u32; 2]> = (0..400).map(|n| [n, n]).collect();
        assert!(!check(&line));
        assert!(!check(&[[1, 5_000_000], [2, 5_000_000]]));
    }

    #[test]
    fn a_relation_that_fills_up_has_a_table_in_the_end() {
        let mut square: Vec<[u32; 2]> = (0..100).map(|n| [n, n]).collect();
        square.extend(
            (0..10_000)
                .map(|n| [n / 100, n % 100])
                .filter(|[a, b]| a != b),
        );
        assert!(check(&square));
    }

    #[test]
    fn a_tuple_without_columns_is_found_once_it_is_there() {
        let mut lookup = Lookup::new(0);
        let nothing = |_: u32, _: usize| TermId(0);
        assert_eq!(lookup.find(&[], nothing), NO_ROW);
        assert_eq!(lookup.insert(0, |_| TermId(0), nothing), (0, true));
        assert_eq!(lookup.insert(0, |_| TermId(0), nothing), (0, false));
        assert_eq!(lookup.find(&[], nothing), 0);
    }
}
