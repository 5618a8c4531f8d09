//! Indexes of facts by some of their arguments, built once.
//!
//! An index answers one kind of query: the values of some arguments, given the values of others. It contains only the
//! wanted arguments, each combination once, in the order of the sheet.

use super::tuples::Tuples;

/// Rows of the wanted arguments, grouped by the given ones.
#[derive(Default)]
pub(crate) struct FactIndex {
    keys: Tuples,
    /// With a single given argument: its rows by the id of the argument. The list is short because ids are small.
    by_term: Option<Vec<(u32, u32)>>,
    /// Per key: its range of rows.
    ranges: Vec<(u32, u32)>,
    width: usize,
    rows: Vec<u32>,
}

impl FactIndex {
    /// Indexes facts by the arguments at `given`, keeping those at `wanted`.
    pub(crate) fn new(facts: &Tuples, given: &[usize], wanted: &[usize]) -> FactIndex {
        let mut keys = Tuples::new(given.len());
        let mut groups: Vec<Tuples> = Vec::new();
        for fact in (0..facts.len()).map(|row| facts.row(row)) {
            let (row, is_new) = keys.insert(&project(fact, given));
            if is_new {
                groups.push(Tuples::new(wanted.len()));
            }
            groups[row as usize].insert(&project(fact, wanted));
        }
        let mut index = FactIndex {
            keys,
            width: wanted.len(),
            ..FactIndex::default()
        };
        let mut start = 0;
        for group in &groups {
            (0..group.len()).for_each(|row| index.rows.extend_from_slice(group.row(row)));
            index.ranges.push((start, start + group.len() as u32));
            start += group.len() as u32;
        }
        index.by_term = index.list_by_term();
        index
    }

    fn list_by_term(&self) -> Option<Vec<(u32, u32)>> {
        let keys = (0..self.keys.len()).map(|row| self.keys.row(row));
        let n_terms = keys
            .clone()
            .map(|key| {
                if key.len() == 1 {
                    key[0] as usize + 1
                } else {
                    usize::MAX
                }
            })
            .max()?;
        if n_terms > 1024 + 8 * self.keys.len() {
            return None;
        }
        let mut by_term = vec![(0, 0); n_terms];
        keys.zip(&self.ranges)
            .for_each(|(key, &range)| by_term[key[0] as usize] = range);
        Some(by_term)
    }

    /// The rows with this key; empty if there are none.
    #[inline]
    pub(crate) fn range(&self, key: &[u32]) -> (u32, u32) {
        if let (Some(by_term), [term]) = (&self.by_term, key) {
            return by_term.get(*term as usize).copied().unwrap_or((0, 0));
        }
        self.keys
            .find(key)
            .map_or((0, 0), |row| self.ranges[row as usize])
    }

    #[inline]
    pub(crate) fn row(&self, row: u32) -> &[u32] {
        let start = row as usize * self.width;
        &self.rows[start..start + self.width]
    }
}

/// The values at these positions.
pub(super) fn project(tuple: &[u32], places: &[usize]) -> Vec<u32> {
    places.iter().map(|&place| tuple[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Tuples {
        let mut facts = Tuples::new(3);
        for fact in [[1, 2, 3], [1, 2, 4], [2, 2, 3], [1, 5, 3]] {
            facts.insert(&fact);
        }
        facts
    }

    fn look_up(given: &[usize], wanted: &[usize], key: &[u32]) -> Vec<Vec<u32>> {
        let index = FactIndex::new(&facts(), given, wanted);
        let (start, end) = index.range(key);
        (start..end).map(|row| index.row(row).to_vec()).collect()
    }

    #[test]
    fn facts_are_found_by_any_given_arguments() {
        assert_eq!(look_up(&[0, 1], &[2], &[1, 2]), [[3], [4]]);
        assert_eq!(look_up(&[2], &[0, 1], &[3]), [[1, 2], [2, 2], [1, 5]]);
        assert_eq!(look_up(&[0], &[1, 2], &[9]), [[0; 0]; 0]);
    }

    #[test]
    fn unwanted_arguments_are_projected_away() {
        assert_eq!(look_up(&[], &[1], &[]), [[2], [5]]);
        assert_eq!(look_up(&[0], &[], &[1]), [[0; 0]]);
    }
}
