//! Values of a frame: matching, lookup and construction.
//!
//! Recursion here is on the nesting of terms in the sheet, which the reader limits; terms that occur in play are taken
//! apart only as deep as a rule does.

use super::code::{Arg, Column};
use super::error::{InterpreterError, Resource};
use super::terms::{FunctorId, SharedTerms, TermId, Terms};

/// Whether a value matches a column; binds its variables.
#[inline]
pub(super) fn matches(column: &Column, value: u32, slots: &mut [u32], terms: &Terms) -> bool {
    match column {
        Column::Skip => true,
        Column::Bind(slot) => {
            slots[*slot as usize] = value;
            true
        }
        Column::Same(slot) => slots[*slot as usize] == value,
        Column::Is(term) => term.0 == value,
        Column::Shape(functor, columns) => {
            let term = TermId(value);
            terms.functor(term) == *functor && match_all(columns, terms.args(term), slots, terms)
        }
    }
}

#[inline]
pub(super) fn match_all(
    columns: &[Column],
    values: &[u32],
    slots: &mut [u32],
    terms: &Terms,
) -> bool {
    columns
        .iter()
        .zip(values)
        .all(|(column, &value)| matches(column, value, slots, terms))
}

/// Maximum number of arguments of a term that is built without an allocation.
const FEW: usize = 8;

/// The value of an argument, if it is a known term: an unknown one occurs in no fact and no state.
#[inline]
pub(super) fn find(arg: &Arg, slots: &[u32], terms: &Terms) -> Option<u32> {
    match arg {
        Arg::Value(term) => Some(term.0),
        Arg::Slot(slot) => Some(slots[*slot as usize]),
        Arg::Build(functor, args) if args.len() <= FEW => {
            let mut values = [0; FEW];
            for (value, arg) in values.iter_mut().zip(args) {
                *value = find(arg, slots, terms)?;
            }
            terms
                .find(*functor, &values[..args.len()])
                .map(|term| term.0)
        }
        Arg::Build(functor, args) => {
            let values = args
                .iter()
                .map(|arg| find(arg, slots, terms))
                .collect::<Option<Vec<u32>>>()?;
            terms.find(*functor, &values).map(|term| term.0)
        }
    }
}

/// Fills in a key; returns false if one of its values is not a known term.
#[inline]
pub(super) fn find_all(tuple: &mut Vec<u32>, args: &[Arg], slots: &[u32], terms: &Terms) -> bool {
    tuple.clear();
    for arg in args {
        match find(arg, slots, terms) {
            Some(value) => tuple.push(value),
            None => return false,
        }
    }
    true
}

/// Builds terms, including new ones.
pub(super) struct Builder<'a> {
    pub(super) terms: &'a mut Terms,
    pub(super) shared: &'a SharedTerms,
    /// Maximum number of terms.
    pub(super) limit: usize,
    /// Line of the current rule.
    pub(super) line: u32,
}

impl Builder<'_> {
    pub(super) fn value(&mut self, arg: &Arg, slots: &[u32]) -> Result<u32, InterpreterError> {
        match arg {
            Arg::Value(term) => Ok(term.0),
            Arg::Slot(slot) => Ok(slots[*slot as usize]),
            Arg::Build(functor, args) if args.len() <= FEW => {
                let mut values = [0; FEW];
                for (value, arg) in values.iter_mut().zip(args) {
                    *value = self.value(arg, slots)?;
                }
                self.compound(*functor, &values[..args.len()])
            }
            Arg::Build(functor, args) => {
                let values = args
                    .iter()
                    .map(|arg| self.value(arg, slots))
                    .collect::<Result<Vec<u32>, _>>()?;
                self.compound(*functor, &values)
            }
        }
    }

    fn compound(&mut self, functor: FunctorId, args: &[u32]) -> Result<u32, InterpreterError> {
        if let Some(term) = self.terms.find(functor, args) {
            return Ok(term.0);
        }
        if self.terms.size() >= self.limit {
            return Err(InterpreterError::Budget {
                line: self.line,
                resource: Resource::Terms,
            });
        }
        Ok(self.shared.intern(self.terms, functor, args).0)
    }

    pub(super) fn fill(
        &mut self,
        tuple: &mut Vec<u32>,
        args: &[Arg],
        slots: &[u32],
    ) -> Result<(), InterpreterError> {
        tuple.clear();
        for arg in args {
            tuple.push(self.value(arg, slots)?);
        }
        Ok(())
    }
}
