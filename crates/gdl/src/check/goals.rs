//! Goal values: integers from 0 to 100.

use crate::ast::Term;
use crate::check::outline::Outline;
use crate::diagnostic::{Diagnostic, Diagnostics, Kind};
use crate::symbol::Keyword;

/// Adds a finding for each `goal` head with a constant value that is not an integer from 0 to 100. The values of
/// variables are known only in play.
pub(super) fn check(outline: &Outline<'_>, findings: &mut Diagnostics) {
    let Some(goal) = outline.keyword(Keyword::Goal) else {
        return;
    };
    for &rule in outline.defining(goal) {
        let value = &outline.rules[rule as usize].head.args[1];
        let message = match value {
            Term::Variable(..) => continue,
            Term::Compound(..) => "the goal value is a function, not a number".to_owned(),
            Term::Constant(name, _) => match fault(outline.symbols.name(*name)) {
                None => continue,
                Some(fault) => format!("the goal value `{}` is {fault}", outline.name(*name)),
            },
        };
        findings.push(
            Diagnostic::error(Kind::GoalValue, value.span(), message)
                .help("a goal value is an integer from 0 (lost) to 100 (won)"),
        );
    }
}

/// The error in a value, if any.
fn fault(text: &str) -> Option<&'static str> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_digits(text) {
        let is_inside = text.parse().is_ok_and(|value: u32| value <= 100);
        return (!is_inside).then_some("outside 0..100");
    }
    Some(if text.strip_prefix('-').is_some_and(is_digits) {
        "outside 0..100"
    } else if text.strip_prefix('+').is_some_and(is_digits) {
        "not written as a plain number"
    } else if text.parse().is_ok_and(f64::is_finite) {
        "not an integer"
    } else {
        "not a number"
    })
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
    fn invalid_goal_values() {
        check(
            "(goal a 101)\n(goal a -1)\n(goal a 50.5)\n(goal a win)\n(goal a (f 1))\n(goal a +5)\n(<= (goal a 1e2) p)\n(goal a 99999999999999999999)",
            expect![[r#"
                error 1:9 goal-value: the goal value `101` is outside 0..100
                error 2:9 goal-value: the goal value `-1` is outside 0..100
                error 3:9 goal-value: the goal value `50.5` is not an integer
                error 4:9 goal-value: the goal value `win` is not a number
                error 5:9 goal-value: the goal value is a function, not a number
                error 6:9 goal-value: the goal value `+5` is not written as a plain number
                error 7:13 goal-value: the goal value `1e2` is not an integer
                error 8:9 goal-value: the goal value `99999999999999999999` is outside 0..100
            "#]],
        );
    }

    #[test]
    fn valid_goal_values() {
        check(
            "(goal a 0)\n(goal a 100)\n(<= (goal ?r ?v) (score ?r ?v))\n(goal a 050)",
            expect![[""]],
        );
    }
}
