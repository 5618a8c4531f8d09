//! Dependency restrictions: `legal`, `goal` and `terminal` must not depend on the moves being made, and `init`, `base`
//! and `input` not on a state either. The dependency may be indirect, through any number of relations; the finding
//! shows the path.

use std::collections::VecDeque;

use crate::check::outline::Outline;
use crate::diagnostic::{Diagnostic, Diagnostics, Kind};
use crate::symbol::Keyword;

/// Adds a finding for each rule that starts a forbidden path.
pub(super) fn check(outline: &Outline<'_>, findings: &mut Diagnostics) {
    let moves = outline
        .keyword(Keyword::Does)
        .map(|does| Reach::new(outline, does));
    let state = outline
        .keyword(Keyword::True)
        .map(|state| Reach::new(outline, state));
    for head in [
        Keyword::Legal,
        Keyword::Goal,
        Keyword::Terminal,
        Keyword::Init,
        Keyword::Base,
        Keyword::Input,
    ] {
        let Some(relation) = outline.keyword(head) else {
            continue;
        };
        let before_play = matches!(head, Keyword::Init | Keyword::Base | Keyword::Input);
        for &rule in outline.defining(relation) {
            for (reach, keyword) in [(&moves, Keyword::Does), (&state, Keyword::True)] {
                if keyword == Keyword::True && !before_play {
                    continue;
                }
                if let Some(reach) = reach {
                    report(outline, rule as usize, head, keyword, reach, findings);
                }
            }
        }
    }
}

fn report(
    outline: &Outline<'_>,
    rule: usize,
    head: Keyword,
    keyword: Keyword,
    reach: &Reach,
    findings: &mut Diagnostics,
) {
    let uses = outline.uses(rule);
    let Some(usage) = uses
        .iter()
        .filter(|usage| reach.steps[usage.relation].is_some())
        .min_by_key(|usage| reach.distance(usage.relation))
    else {
        return;
    };
    let what = if keyword == Keyword::Does {
        "the moves of this step"
    } else {
        "the state"
    };
    let mut finding = Diagnostic::error(
        Kind::Dependency,
        usage.atom.span,
        format!("`{head}` must not depend on `{keyword}`: it is evaluated before {what} are known"),
    );
    if keyword == Keyword::True {
        finding.message =
            format!("`{head}` must not depend on `{keyword}`: it holds before there is a state");
    }
    // Follow the shortest path to the keyword.
    let mut path = vec![usage.relation];
    while let Some(Some(Some((next, rule)))) = path.last().map(|&last| reach.steps[last]) {
        if path.len() <= 4 {
            let text = format!(
                "`{}` depends on `{}` here",
                outline.relation_name(path[path.len() - 1]),
                outline.relation_name(next)
            );
            let span = outline
                .uses(rule)
                .iter()
                .find(|usage| usage.relation == next)
                .map(|usage| usage.atom.span);
            finding = finding.label(span.unwrap_or(outline.rules[rule].head.span), text);
        }
        path.push(next);
    }
    let help = match (head, keyword) {
        (Keyword::Legal, _) => "define legal moves by the state alone, with `true`",
        (Keyword::Goal | Keyword::Terminal, _) => {
            "store the information in a fluent with `next`, and read it with `true`"
        }
        _ => "use facts and relations that do not depend on the state",
    };
    findings.push(finding.help(help));
}

/// Whether a path may lead through a relation: a keyword that cannot be a head or a condition is reported elsewhere, and
/// must not cause further findings.
fn is_passable(outline: &Outline<'_>, relation: usize) -> bool {
    let name = outline.relations[relation].name;
    match Keyword::of(name) {
        None => true,
        Some(_) if outline.is_ordinary(name) => true,
        Some(keyword) => matches!(
            keyword,
            Keyword::Legal | Keyword::Goal | Keyword::Terminal | Keyword::Sees
        ),
    }
}

/// Which relations depend on a target, and by which step: the next relation on the path and the rule that uses it.
struct Reach {
    /// `None`: does not depend on the target. `Some(None)`: is the target.
    steps: Vec<Option<Option<(usize, usize)>>>,
    distances: Vec<u32>,
}

impl Reach {
    fn new(outline: &Outline<'_>, target: usize) -> Reach {
        let mut reach = Reach {
            steps: vec![None; outline.relations.len()],
            distances: vec![0; outline.relations.len()],
        };
        reach.steps[target] = Some(None);
        let mut queue = VecDeque::from([target]);
        while let Some(relation) = queue.pop_front() {
            for &user in outline.using(relation) {
                let head = outline.heads[user as usize];
                if reach.steps[head].is_none() && is_passable(outline, head) {
                    reach.steps[head] = Some(Some((relation, user as usize)));
                    reach.distances[head] = reach.distances[relation] + 1;
                    queue.push_back(head);
                }
            }
        }
        reach
    }

    fn distance(&self, relation: usize) -> u32 {
        self.distances[relation]
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
    fn legal_goal_and_terminal_must_not_depend_on_moves() {
        check(
            "(<= (legal a b) (does a c))\n(<= (goal a 1) (not (does a c)))\n(<= terminal (or q (does a c)))",
            expect![[r#"
                error 1:17 dependency: `legal` must not depend on `does`: it is evaluated before the moves of this step are known
                error 2:21 dependency: `goal` must not depend on `does`: it is evaluated before the moves of this step are known
                error 3:20 dependency: `terminal` must not depend on `does`: it is evaluated before the moves of this step are known
            "#]],
        );
    }

    #[test]
    fn indirect_dependencies_are_found() {
        check(
            "(<= (legal a b) (p a))\n(<= (p ?x) (q ?x))\n(<= (q ?x) (r ?x))\n(<= (r ?x) (does ?x m))",
            expect![[r#"
                error 1:17 dependency: `legal` must not depend on `does`: it is evaluated before the moves of this step are known
            "#]],
        );
    }

    #[test]
    fn init_base_and_input_must_not_depend_on_a_state() {
        check(
            "(<= (init a) (true b))\n(<= (init a) (does b c))\n(<= (base a) (p b))\n(<= (input a b) (p b))\n(<= (p ?x) (true ?x))",
            expect![[r#"
                error 1:14 dependency: `init` must not depend on `true`: it holds before there is a state
                error 2:14 dependency: `init` must not depend on `does`: it is evaluated before the moves of this step are known
                error 3:14 dependency: `base` must not depend on `true`: it holds before there is a state
                error 4:17 dependency: `input` must not depend on `true`: it holds before there is a state
            "#]],
        );
    }

    #[test]
    fn a_misplaced_keyword_gives_only_one_finding() {
        check(
            "(<= (true a) (does b c))\n(<= (legal a b) (true a))\n(<= (goal a 1) (next b))\n(<= (next b) (does a b))",
            expect![[""]],
        );
    }

    #[test]
    fn allowed_dependencies() {
        check(
            "(<= (legal a b) (true c))\n(<= (next a) (does b c) (p b))\n(<= (p ?x) (does ?x c))\n(<= (init a) (q b))\n(q b)\n(<= terminal (goal a 100))\n(<= (goal a 100) (legal a b))",
            expect![[""]],
        );
    }
}
