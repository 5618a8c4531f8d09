//! Fluents that are used but never become true, and moves that are used but never legal: such rules never fire.
//!
//! Only the outermost name of a term is compared; the possible arguments are known only after grounding.

use rustc_hash::FxHashSet;

use crate::ast::Term;
use crate::check::outline::{Outline, Use};
use crate::check::{MOST_GUESSES, MOST_NAMES, arguments, is_alike};
use crate::diagnostic::{Diagnostic, Diagnostics, Kind, Severity};
use crate::symbol::{Keyword, SymbolId};

/// Adds warnings for both.
pub(super) fn check(outline: &Outline<'_>, findings: &mut Diagnostics) {
    let fluents = Asked {
        keyword: Keyword::True,
        position: 0,
        makers: &[Keyword::Init, Keyword::Next],
        phrase: |fluent| format!("no `init` or `next` makes the fluent {fluent} true"),
    };
    let moves = Asked {
        keyword: Keyword::Does,
        position: 1,
        makers: &[Keyword::Legal],
        phrase: |chosen| format!("no `legal` rule allows the move {chosen}"),
    };
    for asked in [fluents, moves] {
        asked.check(outline, findings);
    }
}

/// A keyword whose argument is used in bodies and produced by other keywords in heads.
struct Asked {
    keyword: Keyword,
    /// The position of the argument.
    position: usize,
    makers: &'static [Keyword],
    /// The message if nothing produces it.
    phrase: fn(&str) -> String,
}

impl Asked {
    fn check(&self, outline: &Outline<'_>, findings: &mut Diagnostics) {
        let shapes = self.made(outline);
        let Some(relation) = outline.keyword(self.keyword).filter(|_| !shapes.any) else {
            return;
        };
        let mut told = FxHashSet::default();
        for &rule in outline.using(relation) {
            let uses = outline.uses(rule as usize).iter();
            for usage in uses.filter(|usage| usage.relation == relation) {
                let term = &usage.atom.args[self.position];
                let unknown = shape(term).filter(|shape| !shapes.known.contains(shape));
                let Some(shape) = unknown.filter(|shape| told.insert(*shape)) else {
                    continue;
                };
                if !findings.wants(Severity::Warning) {
                    findings.leave_out(Severity::Warning);
                    continue;
                }
                let may_guess = told.len() <= MOST_GUESSES;
                findings.push(self.finding(outline, usage, shape, &shapes, may_guess));
            }
        }
    }

    /// The shapes that heads can produce.
    fn made(&self, outline: &Outline<'_>) -> Shapes {
        let mut shapes = Shapes::default();
        let makers = self.makers.iter();
        for maker in makers.filter_map(|&keyword| outline.keyword(keyword)) {
            for &rule in outline.defining(maker) {
                shapes.add(&outline.rules[rule as usize].head.args[self.position]);
            }
        }
        shapes
    }

    fn finding(
        &self,
        outline: &Outline<'_>,
        usage: &Use<'_>,
        shape: Shape,
        shapes: &Shapes,
        may_guess: bool,
    ) -> Diagnostic {
        let name = outline.name(shape.name);
        let what = match shape.arity {
            None => format!("`{name}`"),
            Some(arity) => format!("`{name}` with {}", arguments(arity)),
        };
        let so = if usage.negated {
            "it is always false"
        } else {
            "this rule never fires"
        };
        let most = if may_guess { MOST_NAMES } else { 0 };
        let known = || shapes.known.iter().take(most);
        let other_arity = known().filter(|other| other.name == shape.name);
        let names = known().map(|other| outline.name(other.name));
        let help = match (
            other_arity.filter_map(|other| other.arity).min(),
            names
                .filter(|other| *other != name && is_alike(&name, other))
                .min(),
        ) {
            (Some(arity), _) => format!("elsewhere `{name}` has {}", arguments(arity)),
            (None, Some(other)) => format!("did you mean `{other}`?"),
            (None, None) => "check the spelling, or delete the condition".to_owned(),
        };
        let message = format!("{}, so {so}", (self.phrase)(&what));
        let span = usage.atom.args[self.position].span();
        Diagnostic::warning(Kind::NeverFires, span, message).help(help)
    }
}

/// Outermost names of the terms that can occur somewhere.
#[derive(Default)]
struct Shapes {
    known: FxHashSet<Shape>,
    /// A variable occurs: any term is possible.
    any: bool,
}

impl Shapes {
    fn add(&mut self, term: &Term) {
        match shape(term) {
            Some(shape) => {
                self.known.insert(shape);
            }
            None => self.any = true,
        }
    }
}

/// The outermost name of a term, with its arity if it is a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Shape {
    name: SymbolId,
    arity: Option<usize>,
}

fn shape(term: &Term) -> Option<Shape> {
    match term {
        Term::Variable(..) => None,
        Term::Constant(name, _) => Some(Shape {
            name: *name,
            arity: None,
        }),
        Term::Compound(name, args, _) => Some(Shape {
            name: *name,
            arity: Some(args.len()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::{Limits, parse};

    fn check(sheet: &str, expected: Expect) {
        let description = parse(sheet.as_bytes(), &Limits::default());
        assert!(
            !description.findings.has_errors(),
            "the snippet can be read"
        );
        let mut findings = Diagnostics::new();
        super::check(&Outline::new(&description), &mut findings);
        findings.sort();
        expected.assert_eq(&findings.to_text(&description.source));
    }

    #[test]
    fn fluents_and_moves_that_never_occur() {
        check(
            "(init (cell 1))\n(<= (next done) (true (cel 1)) (true (cell 1 2)) (not (true over)))\n(legal a (mark 1))\n(<= (next done) (does a (mrak 1)))",
            expect![[r#"
                warning 2:23 never-fires: no `init` or `next` makes the fluent `cel` with 1 argument true, so this rule never fires
                warning 2:38 never-fires: no `init` or `next` makes the fluent `cell` with 2 arguments true, so this rule never fires
                warning 2:61 never-fires: no `init` or `next` makes the fluent `over` true, so it is always false
                warning 4:25 never-fires: no `legal` rule allows the move `mrak` with 1 argument, so this rule never fires
            "#]],
        );
    }

    #[test]
    fn a_variable_fluent_may_be_any_term() {
        check(
            "(<= (next ?f) (keeps ?f)) (keeps a)\n(<= (next b) (true c))",
            expect![[""]],
        );
    }
}
