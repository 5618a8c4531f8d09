//! The recursion restriction, which keeps the number of facts finite although terms may nest.
//!
//! In a rule `p(…) ← …, q(v1 … vk), …` where q depends on p, each vi must be ground, or be an argument of the head, or
//! occur in a positive literal that does not depend on p. Some sheets violate it and still terminate. A rule that wraps
//! a variable of its recursive literal in a function and binds it nowhere else never terminates: every application
//! makes larger terms.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Atom, Term};
use crate::check::outline::{Lists, Outline, Use};
use crate::diagnostic::{Diagnostic, Diagnostics, Kind};
use crate::graph::components;
use crate::symbol::{Keyword, SymbolId};

/// Adds a finding for each rule that violates the restriction.
pub(super) fn check(outline: &Outline<'_>, component: &[u32], findings: &mut Diagnostics) {
    for rule in 0..outline.rules.len() {
        let own = component[outline.heads[rule]];
        let uses = outline.uses(rule);
        let is_recursive = |usage: &&Use<'_>| component[usage.relation] == own;
        if !uses.iter().any(|usage| is_recursive(&usage)) {
            continue;
        }
        let mut guards = FxHashSet::default();
        for usage in uses
            .iter()
            .filter(|usage| !usage.negated && !is_recursive(usage))
        {
            usage.atom.for_each_variable(&mut |name, _| {
                guards.insert(name);
            });
        }
        let head = &outline.rules[rule].head;
        let head_args: FxHashSet<Vec<u32>> = head.args.iter().map(structure).collect();
        // A rule that only passes on its arguments and never wraps them is finite; the first bad literal is reported.
        for usage in uses.iter().filter(is_recursive) {
            let Some(arg) = usage
                .atom
                .args
                .iter()
                .find(|arg| !is_restricted(arg, &head_args, &guards))
            else {
                continue;
            };
            if let Some(variable) = grows(usage, head, &guards) {
                findings.push(unbounded(outline, rule, variable));
            } else if Keyword::of(head.name).is_none() {
                findings.push(restricted(outline, rule, arg));
            }
            break;
        }
    }
}

/// Strongly connected components of the graph from each relation to those that its rules use.
pub(super) fn relation_components(outline: &Outline<'_>) -> Vec<u32> {
    let n_relations = outline.relations.len();
    let successors = Lists::new(n_relations, |add| {
        for (rule, &head) in outline.heads.iter().enumerate() {
            for usage in outline.uses(rule) {
                add(head, usage.relation as u32);
            }
        }
    });
    components(
        n_relations,
        |node| successors.get(node as usize),
        |node| node,
    )
}

fn is_restricted(
    arg: &Term,
    head_args: &FxHashSet<Vec<u32>>,
    guards: &FxHashSet<SymbolId>,
) -> bool {
    let mut is_guarded = true;
    arg.for_each_variable(&mut |name, _| is_guarded &= guards.contains(&name));
    is_guarded || head_args.contains(&structure(arg))
}

/// The names of a term and their structure, as numbers: the same for two terms that differ only in their places.
fn structure(term: &Term) -> Vec<u32> {
    fn add(term: &Term, out: &mut Vec<u32>) {
        match term {
            Term::Variable(name, _) => out.extend([0, name.0]),
            Term::Constant(name, _) => out.extend([1, name.0]),
            Term::Compound(name, args, _) => {
                out.extend([2, name.0, args.len() as u32]);
                args.iter().for_each(|arg| add(arg, out));
            }
        }
    }
    let mut out = Vec::new();
    add(term, &mut out);
    out
}

/// A variable of the recursive literal that is nested deeper in the head than there, and that nothing else binds.
fn grows(usage: &Use<'_>, head: &Atom, guards: &FxHashSet<SymbolId>) -> Option<SymbolId> {
    if usage.negated {
        return None;
    }
    let (in_head, in_literal) = (depths(head), depths(usage.atom));
    let mut found = None;
    usage.atom.for_each_variable(&mut |name, _| {
        let is_deeper = in_head.get(&name) > in_literal.get(&name);
        if is_deeper && !guards.contains(&name) && found.is_none() {
            found = Some(name);
        }
    });
    found
}

/// The maximum number of functions around each variable.
fn depths(atom: &Atom) -> FxHashMap<SymbolId, u32> {
    fn add(term: &Term, depth: u32, deepest: &mut FxHashMap<SymbolId, u32>) {
        match term {
            Term::Variable(name, _) => {
                let known = deepest.entry(*name).or_insert(depth);
                *known = depth.max(*known);
            }
            Term::Constant(..) => {}
            Term::Compound(_, args, _) => {
                args.iter().for_each(|arg| add(arg, depth + 1, deepest));
            }
        }
    }
    let mut deepest = FxHashMap::default();
    atom.args.iter().for_each(|arg| add(arg, 0, &mut deepest));
    deepest
}

fn unbounded(outline: &Outline<'_>, rule: usize, variable: SymbolId) -> Diagnostic {
    let head = &outline.rules[rule].head;
    let (relation, variable) = (outline.name(head.name), outline.name(variable));
    let message = format!(
        "the recursion of `{relation}` never ends: each application of this rule builds a larger term around `{variable}`"
    );
    Diagnostic::error(Kind::UnboundedRecursion, head.span, message)
        .help(format!("bind `{variable}` with a literal that does not depend on `{relation}`, so that the recursion ends"))
}

fn restricted(outline: &Outline<'_>, rule: usize, arg: &Term) -> Diagnostic {
    let relation = outline.name(outline.rules[rule].head.name);
    let message = format!(
        "recursion restriction: this argument is neither an argument of the head nor bound by a literal that does not depend on `{relation}`"
    );
    Diagnostic::warning(Kind::RecursionRestriction, arg.span(), message).help(
        "strict GDL forbids it, because such rules may never terminate; other systems may reject it",
    )
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
        let outline = Outline::new(&description);
        super::check(&outline, &relation_components(&outline), &mut findings);
        findings.sort();
        expected.assert_eq(&findings.to_text(&description.source));
    }

    #[test]
    fn a_rule_that_wraps_its_own_variable_never_ends() {
        check(
            "(<= (p (s ?x)) (p ?x))",
            expect![[r#"
                error 1:5 unbounded-recursion: the recursion of `p` never ends: each application of this rule builds a larger term around `?x`
            "#]],
        );
        check(
            "(<= (p ?x) (q ?x))\n(<= (q (s ?x)) (p ?x))",
            expect![[r#"
                error 2:5 unbounded-recursion: the recursion of `q` never ends: each application of this rule builds a larger term around `?x`
            "#]],
        );
    }

    #[test]
    fn a_guard_bounds_the_recursion() {
        check(
            "(<= (p (s ?x)) (p ?x) (small ?x))\n(<= (r ?x (f ?x)) (r ?x a) (d ?x))",
            expect![[""]],
        );
    }

    #[test]
    fn a_guarded_variable_may_be_wrapped_beside_an_unguarded_one() {
        check(
            "(<= (p (s ?x) ?z) (p ?x ?_y) (small ?x) (q ?z))",
            expect![[r#"
                warning 1:25 recursion-restriction: recursion restriction: this argument is neither an argument of the head nor bound by a literal that does not depend on `p`
            "#]],
        );
    }

    #[test]
    fn unwrapping_terminates() {
        check(
            "(<= (p ?x) (p (s ?x)))",
            expect![[r#"
                warning 1:15 recursion-restriction: recursion restriction: this argument is neither an argument of the head nor bound by a literal that does not depend on `p`
            "#]],
        );
    }

    #[test]
    fn violations_that_still_terminate() {
        check(
            "(<= (path ?x ?z) (path ?x ?y) (path ?y ?z))",
            expect![[r#"
                warning 1:27 recursion-restriction: recursion restriction: this argument is neither an argument of the head nor bound by a literal that does not depend on `path`
            "#]],
        );
    }

    #[test]
    fn rules_that_satisfy_the_restriction() {
        check(
            "(<= (path ?x ?z) (path ?x ?y) (edge ?y ?z))\n(<= (n ?x) (n ?x))",
            expect![[""]],
        );
    }

    #[test]
    fn keyword_relations_are_recursive_only_through_the_state() {
        check("(<= (next (step (s ?x))) (true (step ?x)))", expect![[""]]);
    }
}
