//! Goal values: integers from 0 to 100.

use crate::ast::Term;
use crate::check::outline::Outline;
use crate::diagnostic::{Diagnostic, Diagnostics, Kind};
use crate::symbol::Keyword;

/// Adds a finding for each `goal` head whose value is written down and no integer 0..=100. Values that are variables
/// show themselves only in play.
pub(super) fn check(outline: &Outline<'_>, findings: &mut Diagnostics) {
    let Some(goal) = outline.keyword(Keyword::Goal) else {
        return;
    };
    for &rule in &outline.relations[goal].heads {
        let value = &outline.rules[rule as usize].head.args[1];
        let text = match value {
            Term::Variable(..) => continue,
            Term::Constant(name, _) => outline.name(*name),
            Term::Compound(..) => "a function".to_owned(),
        };
        let fault = match text.parse::<i64>() {
            Ok(0..=100) if text.bytes().all(|byte| byte.is_ascii_digit()) => continue,
            Ok(0..=100) => "not written as a plain number",
            Ok(_) => "outside 0..100",
            Err(_) if text.parse::<f64>().is_ok_and(f64::is_finite) => "not an integer",
            Err(_) => "not a number",
        };
        let shown = if matches!(value, Term::Constant(..)) {
            format!("`{text}`")
        } else {
            text
        };
        findings.push(
            Diagnostic::error(
                Kind::GoalValue,
                value.span(),
                format!("the goal value {shown} is {fault}"),
            )
            .help("a goal value is an integer from 0 (lost) to 100 (won)"),
        );
    }
}
