//! Roles: each must be declared once, used only if declared, and have moves and goals. All findings are warnings.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::Term;
use crate::check::outline::Outline;
use crate::check::{MOST_GUESSES, MOST_NAMES, is_alike};
use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Kind, Severity};
use crate::rules::RANDOM;
use crate::source::Span;
use crate::symbol::{Keyword, SymbolId};

/// Roles declared twice, used without a declaration, or without a move or a goal.
pub(super) fn check(outline: &Outline<'_>, findings: &mut Diagnostics) {
    let Some(role) = outline.keyword(Keyword::Role) else {
        return;
    };
    let mut declared: FxHashMap<&str, Span> = FxHashMap::default();
    let mut in_order: Vec<(&str, Span)> = Vec::new();
    for &rule in outline.defining(role) {
        let rule = &outline.rules[rule as usize];
        // Everything except a fact about a name is an error that has been reported.
        if !rule.body.is_empty() || matches!(rule.head.args[0], Term::Variable(..)) {
            continue;
        }
        let span = rule.head.args[0].span();
        if let Some(&first) = declared.get(outline.source.slice(span)) {
            let message = format!(
                "the role `{}` is declared twice; it counts as one role",
                outline.source.slice(span)
            );
            findings.push(
                Diagnostic::warning(Kind::DuplicateRole, span, message)
                    .label(first, "first here")
                    .help("delete one of the declarations")
                    .fix("Delete this declaration", vec![outline.delete(rule.span)]),
            );
        } else {
            declared.insert(outline.source.slice(span), span);
            in_order.push((outline.source.slice(span), span));
        }
    }
    undeclared(outline, &declared, findings);
    let random = outline.random_role().map(|name| outline.symbols.name(name));
    idle_roles(outline, Keyword::Legal, &in_order, findings);
    // Chance needs no goal and sees nothing.
    in_order.retain(|(name, _)| Some(*name) != random);
    idle_roles(outline, Keyword::Goal, &in_order, findings);
    match outline.is_gdl2 {
        true => {
            idle_roles(outline, Keyword::Sees, &in_order, findings);
            goal_of_chance(outline, random, findings);
        }
        false => chance_without_sees(&in_order, findings),
    }
}

/// A goal of the role that chance plays: nothing makes use of it.
fn goal_of_chance(outline: &Outline<'_>, random: Option<&str>, findings: &mut Diagnostics) {
    let goals = outline.keyword(Keyword::Goal).into_iter();
    let heads = goals
        .flat_map(|goal| outline.defining(goal))
        .map(|&rule| &outline.rules[rule as usize].head);
    let mut of_chance = heads.filter(|head| match head.args.first() {
        Some(Term::Constant(name, _)) => Some(outline.symbols.name(*name)) == random,
        _ => false,
    });
    if let Some(head) = of_chance.next() {
        let name = random.unwrap_or(RANDOM);
        let message =
            format!("this is GDL-II: chance plays `{name}`, and its goals have no effect");
        findings.push(
            Diagnostic::warning(Kind::GdlTwo, head.span, message)
                .help("delete the rules of this goal; chance needs none"),
        );
    }
}

/// A role called `random` in a sheet that does not define `sees`.
fn chance_without_sees(declared: &[(&str, Span)], findings: &mut Diagnostics) {
    let is_random = |(name, _): &&(&str, Span)| name.eq_ignore_ascii_case(RANDOM);
    for &(name, span) in declared.iter().filter(is_random) {
        let message =
            format!("`{name}` is a role like any other here, because nothing defines `sees`");
        findings.push(Diagnostic::warning(Kind::GdlTwo, span, message).help(
            "if chance plays it, say what the roles see, for example `(<= (sees ?r (did ?p ?m)) (role ?r) (does ?p ?m))`",
        ));
    }
}

fn undeclared(outline: &Outline<'_>, declared: &FxHashMap<&str, Span>, findings: &mut Diagnostics) {
    let mut told: FxHashSet<SymbolId> = FxHashSet::default();
    for (idx, rule) in outline.rules.iter().enumerate() {
        let uses = outline.uses(idx).iter().map(|usage| usage.atom);
        for atom in std::iter::once(&rule.head).chain(uses) {
            let takes_role = matches!(
                Keyword::of(atom.name),
                Some(Keyword::Legal | Keyword::Goal | Keyword::Does | Keyword::Input)
            ) || (outline.is_gdl2
                && Keyword::of(atom.name) == Some(Keyword::Sees));
            let Some(Term::Constant(name, span)) = atom
                .args
                .first()
                .filter(|_| takes_role && atom.args.len() == 2)
            else {
                continue;
            };
            let text = outline.symbols.name(*name);
            if declared.contains_key(text) || !told.insert(*name) {
                continue;
            }
            if !findings.wants(Severity::Warning) {
                findings.leave_out(Severity::Warning);
                continue;
            }
            let message = format!(
                "`{}` is not declared as a role, so this has no effect",
                outline.name(*name)
            );
            let most = if told.len() <= MOST_GUESSES {
                MOST_NAMES
            } else {
                0
            };
            let alike = declared
                .keys()
                .take(most)
                .filter(|role| is_alike(text, role))
                .min();
            let help = match alike {
                Some(role) => format!("did you mean `{role}`?"),
                None => format!(
                    "add `(role {})`, or use a declared role",
                    outline.name(*name)
                ),
            };
            let mut finding = Diagnostic::warning(Kind::UndeclaredRole, *span, message).help(help);
            if let Some(role) = alike {
                let edit = Edit::replace(*span, *role);
                finding = finding.fix(format!("Replace it with `{role}`"), vec![edit]);
            }
            findings.push(finding);
        }
    }
}

/// Roles that do not occur in any head of a keyword.
fn idle_roles(
    outline: &Outline<'_>,
    keyword: Keyword,
    declared: &[(&str, Span)],
    findings: &mut Diagnostics,
) {
    let Some(relation) = outline.keyword(keyword) else {
        return;
    };
    let heads = outline
        .defining(relation)
        .iter()
        .map(|&rule| &outline.rules[rule as usize].head.args[0]);
    let mut spoken_of: FxHashSet<&str> = FxHashSet::default();
    for role in heads {
        if let Term::Variable(..) = role {
            return;
        }
        spoken_of.insert(outline.source.slice(role.span()));
    }
    if spoken_of.is_empty() {
        return;
    }
    let idle = declared.iter();
    for &(role, span) in idle.filter(|(role, _)| !spoken_of.contains(role)) {
        if !findings.wants(Severity::Warning) {
            findings.leave_out(Severity::Warning);
            continue;
        }
        let (kind, message) = match keyword {
            Keyword::Sees => (
                Kind::GdlTwo,
                format!("no `sees` rule lets the role `{role}` see anything"),
            ),
            _ => {
                let what = match keyword {
                    Keyword::Legal => "a move",
                    _ => "a goal value",
                };
                let message = format!("no `{keyword}` rule gives the role `{role}` {what}");
                (Kind::MissingKeyword, message)
            }
        };
        findings.push(
            Diagnostic::warning(kind, span, message)
                .help(format!("add a rule with the head `({keyword} {role} …)`")),
        );
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
    fn roles() {
        check(
            "(role a)\n(role a)\n(role b)\n(legal a go)\n(legal c go)\n(goal a 1)\n(<= (next x) (does alpha go))",
            expect![[r#"
                warning 2:7 duplicate-role: the role `a` is declared twice; it counts as one role
                warning 3:7 missing-keyword: no `legal` rule gives the role `b` a move
                warning 3:7 missing-keyword: no `goal` rule gives the role `b` a goal value
                warning 5:8 undeclared-role: `c` is not declared as a role, so this has no effect
                warning 7:20 undeclared-role: `alpha` is not declared as a role, so this has no effect
            "#]],
        );
    }

    #[test]
    fn a_role_variable_covers_all_roles() {
        check(
            "(role a) (role b)\n(<= (legal ?r go) (role ?r))\n(<= (goal ?r 1) (role ?r))",
            expect![[""]],
        );
    }
}
