//! The fluents of the current state: by functor, by arguments, and as a set.
//!
//! Loading a state sorts its fluents by functor. An index by arguments is built when a plan first uses it in that
//! state, because most states do not need most indexes.

use super::code::{Code, FluentIndexId};
use super::terms::{FunctorId, TermId, Terms};
use super::tuples::Tuples;

/// No further fluent.
pub(crate) const END: u32 = u32::MAX;

/// The fluents of one state, ready for queries.
#[derive(Clone)]
pub(crate) struct Fluents {
    /// Sorted by id.
    all: Vec<u32>,
    by_functor: Vec<Vec<u32>>,
    /// Per term: the number of the last load in which it held.
    loaded_at: Vec<u32>,
    load: u32,
    indexes: Vec<FluentIndex>,
}

/// Fluents of one functor in linked lists, one list per key.
#[derive(Clone)]
struct FluentIndex {
    built_at: u32,
    keys: Tuples,
    first: Vec<u32>,
    /// Per fluent of the functor: the next one with the same key.
    next: Vec<u32>,
}

impl Fluents {
    pub(crate) fn new(n_functors: usize, code: &Code) -> Fluents {
        let index = |places: usize| FluentIndex {
            built_at: 0,
            keys: Tuples::new(places),
            first: Vec::new(),
            next: Vec::new(),
        };
        Fluents {
            all: Vec::new(),
            by_functor: vec![Vec::new(); n_functors],
            loaded_at: Vec::new(),
            load: 0,
            indexes: code
                .fluent_indexes
                .iter()
                .map(|key| index(key.places.len()))
                .collect(),
        }
    }

    /// Loads another state. The ids are sorted and each is in `terms`.
    pub(crate) fn load(&mut self, fluents: impl Iterator<Item = u32>, terms: &Terms) {
        for &fluent in &self.all {
            let functor = terms.functor(TermId(fluent));
            if functor != FunctorId::NONE {
                self.by_functor[functor.idx()].clear();
            }
        }
        self.all.clear();
        self.next_load();
        self.loaded_at
            .resize(terms.len().max(self.loaded_at.len()), 0);
        for fluent in fluents {
            self.all.push(fluent);
            self.loaded_at[fluent as usize] = self.load;
            let functor = terms.functor(TermId(fluent));
            if functor != FunctorId::NONE {
                self.by_functor[functor.idx()].push(fluent);
            }
        }
    }

    /// A new load number. When the counter overflows, all marks are reset.
    fn next_load(&mut self) {
        self.load = self.load.wrapping_add(1);
        if self.load == 0 {
            self.load = 1;
            self.loaded_at.fill(0);
            self.indexes.iter_mut().for_each(|index| index.built_at = 0);
        }
    }

    pub(crate) fn all(&self) -> &[u32] {
        &self.all
    }

    pub(crate) fn with_functor(&self, functor: FunctorId) -> &[u32] {
        &self.by_functor[functor.idx()]
    }

    pub(crate) fn holds(&self, fluent: TermId) -> bool {
        self.loaded_at.get(fluent.idx()) == Some(&self.load)
    }

    /// The position of the first fluent with this key among those with its functor, or [`END`].
    pub(crate) fn first(
        &mut self,
        index: FluentIndexId,
        key: &[u32],
        code: &Code,
        terms: &Terms,
    ) -> u32 {
        if self.indexes[index.0 as usize].built_at != self.load {
            self.build(index, code, terms);
        }
        let index = &self.indexes[index.0 as usize];
        index
            .keys
            .find(key)
            .map_or(END, |row| index.first[row as usize])
    }

    /// The position of the next fluent with the same key, or [`END`].
    pub(crate) fn next(&self, index: FluentIndexId, place: u32) -> u32 {
        self.indexes[index.0 as usize].next[place as usize]
    }

    fn build(&mut self, index: FluentIndexId, code: &Code, terms: &Terms) {
        let key = &code.fluent_indexes[index.0 as usize];
        let fluents = &self.by_functor[key.functor.idx()];
        let index = &mut self.indexes[index.0 as usize];
        index.built_at = self.load;
        index.keys.clear();
        index.first.clear();
        index.next.clear();
        index.next.resize(fluents.len(), END);
        let mut values = [0; 16];
        let mut many = Vec::new();
        // In reverse, so that the lists are in order.
        for (place, &fluent) in fluents.iter().enumerate().rev() {
            let args = terms.args(TermId(fluent));
            let values = match key.places.len() {
                n_places if n_places <= values.len() => &mut values[..n_places],
                n_places => {
                    many.resize(n_places, 0);
                    &mut many[..]
                }
            };
            for (value, &place) in values.iter_mut().zip(&key.places) {
                *value = args[place];
            }
            let (row, is_new) = index.keys.insert(values);
            if is_new {
                index.first.push(place as u32);
            } else {
                index.next[place] = index.first[row as usize];
                index.first[row as usize] = place as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpreter::code::FluentKey;

    #[test]
    fn queries_find_only_fluents_of_the_current_state() {
        let mut terms = Terms::new(10);
        let functor = FunctorId(0);
        let pairs = [[1, 2], [1, 3], [2, 2]].map(|args| terms.append(functor, &args));
        let key = FluentKey {
            functor,
            places: Box::new([0]),
        };
        let code = Code {
            fluent_indexes: vec![key],
            ..Code::default()
        };
        let mut fluents = Fluents::new(1, &code);
        let index = FluentIndexId(0);
        fluents.load([5, pairs[0].0, pairs[1].0, pairs[2].0].into_iter(), &terms);
        assert!(fluents.holds(TermId(5)) && fluents.holds(pairs[2]) && !fluents.holds(TermId(6)));
        let first = fluents.first(index, &[1], &code, &terms);
        let second = fluents.next(index, first);
        assert_eq!((first, second, fluents.next(index, second)), (0, 1, END));
        fluents.load([pairs[2].0].into_iter(), &terms);
        assert!(!fluents.holds(TermId(5)));
        assert_eq!(fluents.with_functor(functor), [pairs[2].0]);
        assert_eq!(fluents.first(index, &[1], &code, &terms), END);
        assert_eq!(fluents.first(index, &[2], &code, &terms), 0);
    }
}
