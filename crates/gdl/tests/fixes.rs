//! Fixes of findings: applied to the text, they remove the finding.

use agon_gdl::{Diagnostic, Kind, Limits, check, parse};

fn findings(text: &str) -> Vec<Diagnostic> {
    match check(&parse(text.as_bytes(), &Limits::default())) {
        Ok(rules) => rules.warnings.iter().cloned().collect(),
        Err(findings) => findings.iter().cloned().collect(),
    }
}

/// Applies the first fix of the first finding of a kind: the text afterwards, without the finding.
fn check_fix(text: &str, kind: Kind, expected: &str) {
    let before = findings(text);
    let finding = before
        .iter()
        .find(|finding| finding.kind == kind)
        .unwrap_or_else(|| panic!("no {kind}: {before:?}"));
    let fix = finding
        .fixes
        .first()
        .unwrap_or_else(|| panic!("no fix: {finding:?}"));
    assert!(!fix.title.is_empty());
    let mut edits = fix.edits.clone();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
    let mut fixed = text.to_owned();
    for edit in edits {
        fixed.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.text);
    }
    assert!(fixed.contains(expected), "{fixed}");
    let n_of = |list: &[Diagnostic]| list.iter().filter(|finding| finding.kind == kind).count();
    assert!(
        n_of(&findings(&fixed)) < n_of(&before),
        "{fixed}: {:?}",
        findings(&fixed)
    );
}

const GAME: &str = "(role a) (role b) (init p) (legal a go) (legal b go)
(<= (next p) (true p)) (<= terminal (true p)) (goal a 1) (goal b 1)\n";

fn with(rules: &str) -> String {
    format!("{GAME}{rules}")
}

#[test]
fn misspelt_names_are_replaced() {
    check_fix(
        &with(
            "(button 1) (<= (q ?x) (buton ?x)) (<= (next (r ?x)) (q ?x)) (<= (next s) (true (r ?_x)))",
        ),
        Kind::Undefined,
        "(button ?x)",
    );
    check_fix(
        &GAME.replace("terminal", "termnal"),
        Kind::MisspeltKeyword,
        "(<= terminal",
    );
    check_fix(
        &GAME.replace("(legal b go)", "(legal B go)"),
        Kind::Capitalisation,
        "(legal b go)",
    );
}

#[test]
fn what_is_there_twice_is_deleted() {
    check_fix(&with("(role a)"), Kind::DuplicateRole, "(goal b 1)");
    check_fix(&with("(goal b 1)"), Kind::DuplicateRule, "(goal a 1)");
}

#[test]
fn what_is_missing_is_added() {
    check_fix(&GAME.replace("(true p))", "(true p)"), Kind::Unclosed, ")");
    check_fix(
        &with("(<= (q ?r) (true p))(<= (legal ?r stop) (true p))"),
        Kind::RoleVariable,
        "(true p) (role ?r))",
    );
    check_fix(
        &with("(<= (next (r 1)) (true p)) (<= (next p) (true (r ?x)))"),
        Kind::SingleVariable,
        "(r ?_x)",
    );
}

#[test]
fn what_is_wrong_is_replaced() {
    check_fix(
        &GAME.replace("(role b) ", "(role b)\u{a0}"),
        Kind::OddCharacter,
        "(role b) (init",
    );
    check_fix(&with(")"), Kind::Unopened, "(goal b 1)");
}
