//! Suspicious bodies: a variable that occurs only once, conditions that exclude each other.

use rustc_hash::FxHashMap;

use crate::ast::Literal;
use crate::check::outline::Outline;
use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Kind};
use crate::source::Span;
use crate::symbol::SymbolId;

/// Adds warnings about every rule.
pub(super) fn check(outline: &Outline<'_>, findings: &mut Diagnostics) {
    single_variables(outline, findings);
    contradictions(outline, findings);
}

/// Variables that occur once in their rule. They bind nothing: either any value is allowed, or they are misspelt. One
/// that occurs only in the head, in a negation or in `distinct` is unsafe, which another check reports.
fn single_variables(outline: &Outline<'_>, findings: &mut Diagnostics) {
    let mut counts: FxHashMap<SymbolId, u32> = FxHashMap::default();
    for (idx, rule) in outline.rules.iter().enumerate() {
        counts.clear();
        let mut count = |name, _| *counts.entry(name).or_insert(0) += 1;
        rule.head.for_each_variable(&mut count);
        for literal in &rule.body {
            literal.for_each_term(&mut |term| term.for_each_variable(&mut count));
        }
        let mut singles: Vec<(Span, SymbolId)> = Vec::new();
        for usage in outline.uses(idx).iter().filter(|usage| !usage.negated) {
            usage.atom.for_each_variable(&mut |name, span| {
                if counts[&name] == 1 && !outline.symbols.name(name).starts_with("?_") {
                    singles.push((span, name));
                }
            });
        }
        if !singles.is_empty() {
            findings.push(single_finding(outline, &singles));
        }
    }
}

fn single_finding(outline: &Outline<'_>, singles: &[(Span, SymbolId)]) -> Diagnostic {
    let names: Vec<String> = singles
        .iter()
        .take(6)
        .map(|&(_, name)| format!("`{}`", outline.name(name)))
        .collect();
    let (occur, more) = (
        if singles.len() == 1 {
            "occurs"
        } else {
            "occur"
        },
        singles.len().saturating_sub(6),
    );
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let message = format!("{}{more} {occur} only once in this rule", names.join(", "));
    let bare = outline
        .name(singles[0].1)
        .trim_start_matches('?')
        .to_owned();
    let mut finding = Diagnostic::warning(Kind::SingleVariable, singles[0].0, message).help(
        format!("rename it to `?_{bare}` if any value is allowed; otherwise check the spelling"),
    );
    for &(span, _) in singles.iter().skip(1).take(5) {
        finding = finding.label(span, "");
    }
    let rename = |&(span, name): &(Span, SymbolId)| {
        let bare = outline.symbols.name(name).trim_start_matches('?');
        Edit::new(span, format!("?_{bare}"))
    };
    // Only where the text is the variable itself, and not another way to write it.
    let is_plain = |(span, _): &&(Span, SymbolId)| outline.source.slice(*span).starts_with('?');
    let edits: Vec<Edit> = singles.iter().filter(is_plain).map(rename).collect();
    if edits.len() == singles.len() {
        finding = finding.fix("Mark it as any value with _", edits);
    }
    finding
}

/// Conditions that exclude each other.
fn contradictions(outline: &Outline<'_>, findings: &mut Diagnostics) {
    for (idx, rule) in outline.rules.iter().enumerate() {
        let excludes_itself = |literal: &&Literal| matches!(literal, Literal::Distinct(left, right, _) if same_text(outline, left.span(), right.span()));
        if let Some(literal) = rule.body.iter().find(excludes_itself) {
            let message = "`distinct` of a term and itself never holds, so this rule never fires";
            findings.push(
                Diagnostic::warning(Kind::NeverFires, literal.span(), message)
                    .help("compare two different terms, or delete the rule"),
            );
        }
        // Only literals of the body itself: inside an `or` they may be in different alternatives.
        if outline.uses(idx).iter().all(|usage| !usage.negated) {
            continue;
        }
        let mut positive: FxHashMap<&str, Span> = FxHashMap::default();
        for literal in &rule.body {
            if let Literal::Atom(atom) = literal {
                positive.insert(outline.source.slice(atom.span), atom.span);
            }
        }
        for literal in &rule.body {
            let Literal::Not(inner, span) = literal else {
                continue;
            };
            let Literal::Atom(atom) = &**inner else {
                continue;
            };
            if let Some(&other) = positive.get(outline.source.slice(atom.span)) {
                let message =
                    "the body contains a literal and its negation, so this rule never fires";
                findings.push(
                    Diagnostic::warning(Kind::NeverFires, *span, message)
                        .label(other, "it must hold here")
                        .help("delete one of the two"),
                );
            }
        }
    }
}

fn same_text(outline: &Outline<'_>, left: Span, right: Span) -> bool {
    outline.source.slice(left) == outline.source.slice(right)
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
    fn variables_that_occur_once() {
        check(
            "(<= (next a) (true (cell ?x ?y)) (true (on ?x)))\n(<= (next b) (true (f ?a ?b ?c)))",
            expect![[r#"
                warning 1:29 single-variable: `?y` occurs only once in this rule
                warning 2:23 single-variable: `?a`, `?b`, `?c` occur only once in this rule
            "#]],
        );
        check(
            "(<= (next a) (true (cell ?_x)))\n(<= (next (b ?x)) (true (c ?x)))",
            expect![""],
        );
    }

    #[test]
    fn bodies_that_exclude_themselves() {
        check(
            "(<= (next a) (true b) (not (true b)))\n(<= (next a) (true (f ?x)) (distinct ?x ?x))",
            expect![[r#"
                warning 1:23 never-fires: the body contains a literal and its negation, so this rule never fires
                warning 2:28 never-fires: `distinct` of a term and itself never holds, so this rule never fires
            "#]],
        );
    }

    #[test]
    fn an_alternative_may_exclude_another() {
        check("(<= (next a) (or (true a) (not (true a))))", expect![[""]]);
    }
}
