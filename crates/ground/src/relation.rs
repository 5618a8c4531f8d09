//! A set of tuples with indexes: the rows of one relation.
//!
//! Rows are kept in insertion order and never removed. A row number therefore names a tuple permanently, and the rows
//! from n on are those that a round of the fixpoint added. An index groups rows by the values of some columns. It is
//! created when a join first needs it and updated by insertions.

use crate::lookup::Lookup;
use crate::term::TermId;

/// No row.
pub(crate) const NO_ROW: u32 = u32::MAX;

/// An index of a relation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct IndexId(u32);

#[derive(Clone)]
pub(crate) struct Relation {
    arity: usize,
    n_rows: u32,
    values: Vec<TermId>,
    rows: Lookup,
    indexes: Vec<Index>,
}

#[derive(Clone)]
struct Index {
    columns: Box<[u32]>,
    /// Groups by key; the key is read from the first row of the group.
    by_key: Lookup,
    groups: Vec<Group>,
    /// The next row of the same group.
    next: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Group {
    first: u32,
    last: u32,
}

impl Relation {
    pub(crate) fn new(arity: usize) -> Relation {
        Relation {
            arity,
            n_rows: 0,
            values: Vec::new(),
            rows: Lookup::new(arity),
            indexes: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> u32 {
        self.n_rows
    }

    pub(crate) fn row(&self, row: u32) -> &[TermId] {
        let start = row as usize * self.arity;
        &self.values[start..start + self.arity]
    }

    /// Adds a tuple; returns its row and whether it is new.
    pub(crate) fn insert(&mut self, tuple: &[TermId]) -> (u32, bool) {
        debug_assert_eq!(tuple.len(), self.arity);
        let (values, arity) = (&self.values, self.arity);
        let value_at = |row: u32, column: usize| values[row as usize * arity + column];
        let (row, is_new) = self.rows.insert(arity, |column| tuple[column], value_at);
        if is_new {
            self.values.extend_from_slice(tuple);
            self.n_rows += 1;
            for index in &mut self.indexes {
                index.add(&self.values, self.arity, row);
            }
        }
        (row, is_new)
    }

    /// The row of a tuple.
    #[inline]
    pub(crate) fn find(&self, tuple: &[TermId]) -> Option<u32> {
        let value_at = |row: u32, column: usize| self.values[row as usize * self.arity + column];
        let row = self.rows.find(tuple, value_at);
        (row != NO_ROW).then_some(row)
    }

    /// Makes searches faster, once all rows are there.
    pub(crate) fn settle(&mut self) {
        let (values, arity) = (&self.values, self.arity);
        let value_at = |row: u32, column: usize| values[row as usize * arity + column];
        self.rows.settle(arity, value_at);
    }

    /// The index on some columns; creates it if necessary.
    pub(crate) fn index_on(&mut self, columns: &[u32]) -> IndexId {
        if let Some(idx) = self
            .indexes
            .iter()
            .position(|index| *index.columns == *columns)
        {
            return IndexId(idx as u32);
        }
        let mut index = Index {
            columns: columns.into(),
            by_key: Lookup::new(columns.len()),
            groups: Vec::new(),
            next: Vec::with_capacity(self.n_rows as usize),
        };
        for row in 0..self.n_rows {
            index.add(&self.values, self.arity, row);
        }
        self.indexes.push(index);
        IndexId(self.indexes.len() as u32 - 1)
    }

    /// The first row whose indexed columns have these values, or `NO_ROW`.
    pub(crate) fn first_match(&self, index: IndexId, key: &[TermId]) -> u32 {
        let index = &self.indexes[index.0 as usize];
        let value_at = |group: u32, column: usize| {
            let row = index.groups[group as usize].first;
            self.values[row as usize * self.arity + index.columns[column] as usize]
        };
        match index.by_key.find(key, value_at) {
            NO_ROW => NO_ROW,
            group => index.groups[group as usize].first,
        }
    }

    /// The next row with the same key, or `NO_ROW`.
    pub(crate) fn next_match(&self, index: IndexId, row: u32) -> u32 {
        self.indexes[index.0 as usize].next[row as usize]
    }

    /// Mean number of rows with the same values in these columns: exact if there is an index, otherwise an estimate.
    pub(crate) fn rows_per_key(&self, columns: &[u32]) -> f64 {
        let n_rows = f64::from(self.n_rows);
        if columns.is_empty() || self.n_rows == 0 {
            return n_rows;
        }
        if columns.len() >= self.arity {
            return 1.0;
        }
        match self.indexes.iter().find(|index| *index.columns == *columns) {
            Some(index) => n_rows / index.groups.len().max(1) as f64,
            None => n_rows
                .powf(1.0 - columns.len() as f64 / self.arity as f64)
                .max(1.0),
        }
    }

    /// Approximate number of bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        let rows = self.n_rows as usize;
        let index_bytes: usize = self
            .indexes
            .iter()
            .map(|index| rows * 4 + index.groups.len() * 13)
            .sum();
        rows * (self.arity * 4 + 6) + index_bytes
    }
}

impl Index {
    fn add(&mut self, values: &[TermId], arity: usize, row: u32) {
        let (columns, groups) = (&self.columns, &self.groups);
        let value =
            |row: u32, column: usize| values[row as usize * arity + columns[column] as usize];
        let value_at = |group: u32, column: usize| value(groups[group as usize].first, column);
        let key = |column: usize| value(row, column);
        let (group, is_new) = self.by_key.insert(columns.len(), key, value_at);
        self.next.push(NO_ROW);
        if is_new {
            let (first, last) = (row, row);
            self.groups.push(Group { first, last });
        } else {
            let group = &mut self.groups[group as usize];
            self.next[group.last as usize] = row;
            group.last = row;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuple(values: &[u32]) -> Vec<TermId> {
        values.iter().map(|&value| TermId(value)).collect()
    }

    #[test]
    fn rows_are_a_set_in_order_of_insertion() {
        let mut relation = Relation::new(2);
        assert_eq!(relation.insert(&tuple(&[1, 2])), (0, true));
        assert_eq!(relation.insert(&tuple(&[3, 4])), (1, true));
        assert_eq!(relation.insert(&tuple(&[1, 2])), (0, false));
        assert_eq!(relation.row(1), tuple(&[3, 4]));
        assert_eq!(relation.find(&tuple(&[3, 4])), Some(1));
        assert_eq!(relation.find(&tuple(&[3, 5])), None);
    }

    #[test]
    fn an_index_finds_old_and_new_rows_in_order() {
        let mut relation = Relation::new(2);
        relation.insert(&tuple(&[1, 2]));
        let index = relation.index_on(&[0]);
        for last in 3..50 {
            relation.insert(&tuple(&[last % 3, last]));
        }
        let mut found = Vec::new();
        let mut row = relation.first_match(index, &tuple(&[1]));
        while row != NO_ROW {
            found.push(relation.row(row)[1].0);
            row = relation.next_match(index, row);
        }
        let expected: Vec<u32> = std::iter::once(2)
            .chain((3..50).filter(|last| last % 3 == 1))
            .collect();
        assert_eq!(found, expected);
        assert_eq!(relation.first_match(index, &tuple(&[9])), NO_ROW);
    }

    #[test]
    fn a_relation_without_columns_has_one_row_at_most() {
        let mut relation = Relation::new(0);
        assert_eq!(relation.insert(&[]), (0, true));
        assert_eq!(relation.insert(&[]), (0, false));
        assert_eq!(relation.len(), 1);
    }
}
