//! Roles: each must be declared once, used only if declared, and have moves and goals. All findings are warnings.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::Term;
use crate::check::outline::Outline;
use crate::check::{MOST_GUESSES, MOST_NAMES, is_alike};
use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Kind, Severity};
use crate::source::Span;
use crate::symbol::{Keyword, SymbolId};

/// Roles declared twice, used without a declaration, or without a move or a goal.
pub(super) fn check(outline: &Outline<'_>, findings: &mut Diagnostics) {
    let Some(role) = outline.keyword(Keyword::Role) else {
        return;
    };
    let mut declared: FxHashMap<&str, Span> = FxHashMap::default();
    for &rule in &outline.relations[role].heads {
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
                    .fix("Delete this declaration", vec![Edit::new(rule.span, "")]),
            );
        } else {
            declared.insert(outline.source.slice(span), span);
        }
    }
    undeclared(outline, &declared, findings);
    for keyword in [Keyword::Legal, Keyword::Goal] {
        idle_roles(outline, keyword, &declared, findings);
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
            );
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
            let finding = Diagnostic::warning(Kind::UndeclaredRole, *span, message);
            findings.push(match alike {
                Some(role) => finding.help(format!("did you mean `{role}`?")).fix(
                    format!("Change it to {role}"),
                    vec![Edit::new(*span, *role)],
                ),
                None => finding.help(format!(
                    "add `(role {})`, or use a declared role",
                    outline.name(*name)
                )),
            });
        }
    }
}

/// Roles that do not occur in any head of a keyword.
fn idle_roles(
    outline: &Outline<'_>,
    keyword: Keyword,
    declared: &FxHashMap<&str, Span>,
    findings: &mut Diagnostics,
) {
    let Some(relation) = outline.keyword(keyword) else {
        return;
    };
    let heads = outline.relations[relation]
        .heads
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
    let mut idle: Vec<_> = declared
        .iter()
        .filter(|(role, _)| !spoken_of.contains(*role))
        .collect();
    idle.sort();
    for (role, &span) in idle {
        if !findings.wants(Severity::Warning) {
            findings.leave_out(Severity::Warning);
            continue;
        }
        let what = if keyword == Keyword::Legal {
            "a move"
        } else {
            "a goal value"
        };
        let message = format!("no `{keyword}` rule gives the role `{role}` {what}");
        findings.push(
            Diagnostic::warning(Kind::MissingKeyword, span, message)
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
