//! Ground terms as small numbers: equal terms have equal ids.
//!
//! Each term is stored once (hash-consing), so that comparing, hashing and copying a term means comparing, hashing and
//! copying a `u32`. A constant's id is the id of its symbol.
//!
//! All machines of one interpreter must agree on ids, because states and moves are passed between threads, but no
//! machine should wait for a lock on its hot path. So the table exists twice: a [`SharedTerms`] behind a mutex, and in
//! each machine a [`Terms`] that is a prefix of it. Finding a known term uses only the machine's copy. The first thread
//! that needs a new term takes the lock, updates its copy, and appends. After a few playouts new terms are rare.
//!
//! - Méhat and Cazenave 2008, Monte-Carlo Tree Search for General Game Playing (Ary: terms as unique small values)

use std::sync::{Mutex, MutexGuard, PoisonError};

use agon_gdl::SymbolId;
use rustc_hash::FxHashMap;

/// A ground term.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct TermId(pub(crate) u32);

impl TermId {
    pub(crate) fn constant(symbol: SymbolId) -> TermId {
        TermId(symbol.0)
    }

    pub(crate) fn idx(self) -> usize {
        self.0 as usize
    }
}

/// A function name with an arity. Zero is a valid arity, since `(f)` is not `f`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct FunctorId(pub(crate) u32);

impl FunctorId {
    /// The functor of a constant.
    pub(crate) const NONE: FunctorId = FunctorId(u32::MAX);

    pub(crate) fn idx(self) -> usize {
        self.0 as usize
    }
}

/// All functors of a sheet. No others can occur in play: terms are built from the rules.
#[derive(Default)]
pub(crate) struct Functors {
    list: Vec<(SymbolId, usize)>,
    by_name: FxHashMap<(SymbolId, usize), FunctorId>,
}

impl Functors {
    pub(crate) fn intern(&mut self, name: SymbolId, arity: usize) -> FunctorId {
        let next = FunctorId(self.list.len() as u32);
        let functor = *self.by_name.entry((name, arity)).or_insert(next);
        if functor == next {
            self.list.push((name, arity));
        }
        functor
    }

    pub(crate) fn find(&self, name: SymbolId, arity: usize) -> Option<FunctorId> {
        self.by_name.get(&(name, arity)).copied()
    }

    pub(crate) fn name(&self, functor: FunctorId) -> SymbolId {
        self.list[functor.idx()].0
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }
}

#[derive(Clone, Copy)]
struct Node {
    functor: FunctorId,
    start: u32,
    end: u32,
}

/// A term with more arguments counts as several.
const ARGUMENTS_PER_TERM: usize = 8;

/// A table of terms.
#[derive(Clone)]
pub(crate) struct Terms {
    nodes: Vec<Node>,
    /// Arguments of all compound terms, end to end.
    args: Vec<u32>,
    /// Hash table with open addressing; 0 is a free slot, otherwise the id of a compound term.
    slots: Vec<u32>,
    n_constants: usize,
}

impl Terms {
    /// A table with one constant per symbol.
    pub(crate) fn new(n_symbols: usize) -> Terms {
        let constant = Node {
            functor: FunctorId::NONE,
            start: 0,
            end: 0,
        };
        Terms {
            nodes: vec![constant; n_symbols],
            args: Vec::new(),
            slots: vec![0; 64],
            n_constants: n_symbols,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The number of terms; those with many arguments count several times, because they take more memory.
    pub(crate) fn size(&self) -> usize {
        self.nodes.len() + self.args.len() / ARGUMENTS_PER_TERM
    }

    /// The functor of a term; [`FunctorId::NONE`] for a constant.
    pub(crate) fn functor(&self, term: TermId) -> FunctorId {
        self.nodes[term.idx()].functor
    }

    /// The arguments of a term, as ids.
    pub(crate) fn args(&self, term: TermId) -> &[u32] {
        let node = self.nodes[term.idx()];
        &self.args[node.start as usize..node.end as usize]
    }

    /// The compound term with these arguments, if it is known.
    pub(crate) fn find(&self, functor: FunctorId, args: &[u32]) -> Option<TermId> {
        let mask = self.slots.len() - 1;
        let mut place = hash(functor, args) & mask;
        loop {
            let id = self.slots[place];
            if id == 0 {
                return None;
            }
            let term = TermId(id);
            if self.functor(term) == functor && is_same(self.args(term), args) {
                return Some(term);
            }
            place = (place + 1) & mask;
        }
    }

    /// Appends a compound term that is not in the table.
    pub(crate) fn append(&mut self, functor: FunctorId, args: &[u32]) -> TermId {
        let id = self.nodes.len() as u32;
        let start = self.args.len() as u32;
        self.args.extend_from_slice(args);
        self.nodes.push(Node {
            functor,
            start,
            end: self.args.len() as u32,
        });
        if (self.nodes.len() - self.n_constants) * 2 > self.slots.len() {
            self.grow();
        } else {
            self.place(id);
        }
        TermId(id)
    }

    fn grow(&mut self) {
        self.slots = vec![0; self.slots.len() * 2];
        for id in self.n_constants..self.nodes.len() {
            self.place(id as u32);
        }
    }

    fn place(&mut self, id: u32) {
        let mask = self.slots.len() - 1;
        let mut place = hash(self.functor(TermId(id)), self.args(TermId(id))) & mask;
        while self.slots[place] != 0 {
            place = (place + 1) & mask;
        }
        self.slots[place] = id;
    }

    /// Appends the additional terms of another table, of which this one is a prefix.
    fn catch_up(&mut self, longer: &Terms) {
        for id in self.nodes.len()..longer.nodes.len() {
            let term = TermId(id as u32);
            self.append(longer.functor(term), longer.args(term));
        }
    }
}

/// The table that all machines of an interpreter share.
pub(crate) struct SharedTerms(Mutex<Terms>);

impl SharedTerms {
    pub(crate) fn new(terms: Terms) -> SharedTerms {
        SharedTerms(Mutex::new(terms))
    }

    /// The term with these arguments, appended if it is new; `own` is updated.
    pub(crate) fn intern(&self, own: &mut Terms, functor: FunctorId, args: &[u32]) -> TermId {
        let mut shared = self.lock();
        own.catch_up(&shared);
        if let Some(term) = own.find(functor, args) {
            return term;
        }
        shared.append(functor, args);
        own.append(functor, args)
    }

    /// Updates `own`.
    pub(crate) fn update(&self, own: &mut Terms) {
        own.catch_up(&self.lock());
    }

    /// Runs a closure on the table itself, under the lock.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Terms) -> T) -> T {
        work(&mut self.lock())
    }

    /// Ignores poisoning: terms are appended whole, so a panic cannot leave the table in an invalid state.
    fn lock(&self) -> MutexGuard<'_, Terms> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hash(functor: FunctorId, args: &[u32]) -> usize {
    let mut hash = mix(0, functor.0);
    for &arg in args {
        hash = mix(hash, arg);
    }
    finish(hash)
}

/// Whether two tuples of equal length are equal. They are a few words long: a loop is faster than a library call
/// (measured: a fifth of the total time).
#[inline(always)]
pub(super) fn is_same(left: &[u32], right: &[u32]) -> bool {
    left.iter().zip(right).all(|(left, right)| left == right)
}

/// One round of a multiplicative hash.
#[inline(always)]
pub(super) fn mix(hash: u64, value: u32) -> u64 {
    (hash.rotate_left(5) ^ u64::from(value)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The hash as a slot: the high bits are mixed best.
#[inline(always)]
pub(super) fn finish(hash: u64) -> usize {
    (hash >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables() -> (SharedTerms, Terms) {
        let terms = Terms::new(10);
        (SharedTerms::new(terms.clone()), terms)
    }

    #[test]
    fn equal_terms_have_equal_ids() {
        let (shared, mut own) = tables();
        let first = shared.intern(&mut own, FunctorId(0), &[1, 2]);
        let second = shared.intern(&mut own, FunctorId(0), &[2, 1]);
        assert_ne!(first, second);
        assert_eq!(own.find(FunctorId(0), &[1, 2]), Some(first));
        assert_eq!(own.find(FunctorId(1), &[1, 2]), None);
        assert_eq!(own.args(second), [2, 1]);
    }

    #[test]
    fn a_functor_without_arguments_is_not_a_constant() {
        let (shared, mut own) = tables();
        let term = shared.intern(&mut own, FunctorId(3), &[]);
        assert!(term.idx() >= 10);
        assert_eq!(own.functor(TermId(3)), FunctorId::NONE);
    }

    #[test]
    fn threads_agree_on_ids() {
        let (shared, mut one) = tables();
        let mut other = one.clone();
        let from_one: Vec<TermId> = (0..500)
            .map(|arg| shared.intern(&mut one, FunctorId(0), &[arg]))
            .collect();
        let from_other: Vec<TermId> = (0..500)
            .rev()
            .map(|arg| shared.intern(&mut other, FunctorId(0), &[arg]))
            .collect();
        assert!(from_one.iter().eq(from_other.iter().rev()));
        assert_eq!(one.len(), other.len());
    }
}
