//! Estimates the number of solutions of a condition, by which the planner orders bodies.
//!
//! Facts are counted. Fluents and derived predicates are counted in a few sampled states. Where there are no samples,
//! or there were too many answers, a guess is used. Wrong estimates cost time but never change an answer.

use rustc_hash::FxHashMap;

use super::facts::project;
use super::program::PredicateId;
use super::terms::{FunctorId, TermId, Terms};
use super::tuples::Tuples;

/// Guesses for fluents that do not occur in a sample: with nothing given, and with something given.
const UNKNOWN_FLUENTS: (f64, f64) = (6.0, 1.5);
/// Guess per wanted argument of a predicate that was not counted.
const UNKNOWN_ANSWERS: f64 = 8.0;

/// The subject of an estimate.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Facts(PredicateId),
    Fluents(FunctorId),
    Answers(PredicateId),
}

/// A kind, the given positions and the wanted positions.
type Question = (Kind, Box<[usize]>, Box<[usize]>);

/// Counts and guesses.
#[derive(Default)]
pub(crate) struct Sizes {
    n_states: usize,
    n_fluents: usize,
    /// Per functor: the arguments of its fluents, one set per sampled state that has any.
    fluents: FxHashMap<FunctorId, Vec<Tuples>>,
    /// Per predicate: its answers, one set per sampled state; absent if they were not counted.
    answers: FxHashMap<PredicateId, Vec<Tuples>>,
    known: FxHashMap<Question, f64>,
}

impl Sizes {
    /// Counts the fluents of a state.
    pub(crate) fn add_state(&mut self, fluents: &[u32], terms: &Terms) {
        self.n_states += 1;
        self.n_fluents += fluents.len();
        let mut by_functor: FxHashMap<FunctorId, Tuples> = FxHashMap::default();
        for &fluent in fluents {
            let args = terms.args(TermId(fluent));
            let set = by_functor
                .entry(terms.functor(TermId(fluent)))
                .or_insert_with(|| Tuples::new(args.len()));
            set.insert(args);
        }
        for (functor, set) in by_functor {
            self.fluents.entry(functor).or_default().push(set);
        }
    }

    /// Counts the answers of a predicate in a state.
    pub(crate) fn add_answers(&mut self, predicate: PredicateId, answers: Tuples) {
        self.answers.entry(predicate).or_default().push(answers);
    }

    /// Mean number of fluents in a state.
    pub(crate) fn all_fluents(&self) -> f64 {
        (self.n_fluents as f64 / self.n_states.max(1) as f64).max(10.0)
    }

    /// Expected fluents of a functor, given some arguments and wanting others.
    pub(crate) fn fluents(&mut self, functor: FunctorId, given: &[usize], wanted: &[usize]) -> f64 {
        let sets = self.fluents.get(&functor).map_or(&[][..], Vec::as_slice);
        let question = (Kind::Fluents(functor), given.into(), wanted.into());
        *self
            .known
            .entry(question)
            .or_insert_with(|| match fan_out(sets.iter(), given, wanted) {
                Some(size) => size.max(0.5),
                None if given.is_empty() => UNKNOWN_FLUENTS.0,
                None => UNKNOWN_FLUENTS.1,
            })
    }

    /// Expected facts of a predicate, given some arguments and wanting others.
    pub(crate) fn facts(
        &mut self,
        predicate: PredicateId,
        facts: &Tuples,
        given: &[usize],
        wanted: &[usize],
    ) -> f64 {
        let question = (Kind::Facts(predicate), given.into(), wanted.into());
        *self
            .known
            .entry(question)
            .or_insert_with(|| fan_out([facts].into_iter(), given, wanted).unwrap_or(0.0))
    }

    /// Expected answers of a predicate, given some arguments and wanting others.
    pub(crate) fn answers(
        &mut self,
        predicate: PredicateId,
        given: &[usize],
        wanted: &[usize],
    ) -> f64 {
        let sets = self.answers.get(&predicate);
        let question = (Kind::Answers(predicate), given.into(), wanted.into());
        *self.known.entry(question).or_insert_with(|| match sets {
            Some(sets) => fan_out(sets.iter(), given, wanted).unwrap_or(1.0),
            None => UNKNOWN_ANSWERS.powi(wanted.len().min(16) as i32),
        })
    }
}

/// Mean number of combinations of wanted values per combination of given values, over all sets; `None` if all are
/// empty.
fn fan_out<'a>(
    sets: impl Iterator<Item = &'a Tuples>,
    given: &[usize],
    wanted: &[usize],
) -> Option<f64> {
    let (mut n_keys, mut n_rows) = (0, 0);
    let both: Vec<usize> = given.iter().chain(wanted).copied().collect();
    for set in sets {
        let mut keys = Tuples::new(given.len());
        let mut rows = Tuples::new(both.len());
        for tuple in (0..set.len()).map(|row| set.row(row)) {
            keys.insert(&project(tuple, given));
            rows.insert(&project(tuple, &both));
        }
        n_keys += keys.len();
        n_rows += rows.len();
    }
    (n_keys > 0).then(|| n_rows as f64 / n_keys as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(tuples: &[[u32; 3]]) -> Tuples {
        let mut set = Tuples::new(3);
        tuples.iter().for_each(|tuple| _ = set.insert(tuple));
        set
    }

    #[test]
    fn size_is_wanted_per_given() {
        let facts = set(&[[1, 2, 3], [1, 2, 4], [2, 2, 3], [1, 5, 3]]);
        let mut sizes = Sizes::default();
        let mut size =
            |given: &[usize], wanted: &[usize]| sizes.facts(PredicateId(0), &facts, given, wanted);
        assert_eq!(size(&[], &[0, 1, 2]), 4.0);
        assert_eq!(size(&[0], &[1, 2]), 2.0);
        assert_eq!(size(&[0], &[1]), 1.5);
    }

    #[test]
    fn uncounted_predicates_get_a_guess() {
        let mut sizes = Sizes::default();
        assert_eq!(sizes.answers(PredicateId(0), &[0], &[1, 2]), 64.0);
        assert_eq!(sizes.fluents(FunctorId(0), &[0], &[1]), 1.5);
        sizes.add_answers(PredicateId(0), set(&[[1, 2, 3], [1, 3, 3]]));
        assert_eq!(sizes.answers(PredicateId(1), &[0], &[1]), 8.0);
    }
}
