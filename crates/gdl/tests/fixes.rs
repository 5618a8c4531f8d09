//! Every fix of a finding, applied: the text afterwards has one finding less.

use agon_gdl::{Diagnostic, check, parse};

fn findings(text: &str) -> Vec<Diagnostic> {
    let description = parse(text.as_bytes(), &Default::default());
    match check(&description) {
        Ok(rules) => rules.warnings.iter().cloned().collect(),
        Err(findings) => findings.iter().cloned().collect(),
    }
}

/// Applies every fix of the first finding of this kind; each removes the finding.
fn fixed(text: &str, kind: &str) -> Vec<String> {
    let before = findings(text);
    let finding = before.iter().find(|finding| finding.kind.name() == kind);
    let finding = finding.unwrap_or_else(|| panic!("{text}: {before:?}"));
    let n_before = before
        .iter()
        .filter(|finding| finding.kind.name() == kind)
        .count();
    let fixes = finding.fixes.iter();
    let fixes = fixes.map(|fix| {
        let after = fix.apply(text);
        let n_after = findings(&after)
            .iter()
            .filter(|finding| finding.kind.name() == kind)
            .count();
        assert!(n_after < n_before, "{}: {after}", fix.title);
        format!("{}: {after}", fix.title)
    });
    fixes.collect()
}

const GAME: &str =
    "(role w) (legal w go) (<= (next over) (does w go)) (<= terminal (true over)) (goal w 100)\n";
const INFIX: &str =
    "role(w). legal(w, go). next(over) :- does(w, go). terminal :- true(over). goal(w, 100).\n";

/// The fixes of a rule that stands behind a whole game.
fn check_fixes(game: &str, rule: &str, kind: &str, expected: &[&str]) {
    let found = fixed(&format!("{game}{rule}"), kind);
    let found: Vec<String> = found.iter().map(|fix| fix.replace(game, "")).collect();
    assert_eq!(found, expected);
}

#[test]
fn brackets() {
    check_fixes(
        GAME,
        "(<= (goal w 0)\n  (true (cell 1)) ; half\n",
        "unclosed",
        &["Add 1 `)`: (<= (goal w 0)\n  (true (cell 1))) ; half\n"],
    );
    check_fixes(
        GAME,
        "(init (cell 1)))",
        "unopened",
        &["Delete this `)`: (init (cell 1))"],
    );
    check_fixes(
        INFIX,
        "goal(w, 0) :- true(cell(1).",
        "unclosed",
        &["Add `)`: goal(w, 0) :- true(cell(1))."],
    );
    check_fixes(
        INFIX,
        "init(p)\ninit(q).",
        "syntax",
        &["Add the full stop: init(p).\ninit(q)."],
    );
}

#[test]
fn names() {
    check_fixes(
        GAME,
        "(<= (goal w 50) (adjacnt 1 2))\n(adjacent 1 2)",
        "undefined",
        &["Replace it with `adjacent`: (<= (goal w 50) (adjacent 1 2))\n(adjacent 1 2)"],
    );
    check_fixes(
        INFIX,
        "goal(w, 50) :- 'Next_Too'(1, 2).\n'Next_To'(1, 2).",
        "undefined",
        &["Replace it with `Next_To`: goal(w, 50) :- 'Next_To'(1, 2).\n'Next_To'(1, 2)."],
    );
    check_fixes(
        GAME,
        "(inti (cell 1))",
        "misspelt-keyword",
        &["Replace it with `init`: (init (cell 1))"],
    );
    check_fixes(
        GAME,
        "(role white) (legal whte go) (legal white go) (goal white 0)",
        "undeclared-role",
        &["Replace it with `white`: (role white) (legal white go) (legal white go) (goal white 0)"],
    );
}

#[test]
fn variables() {
    check_fixes(
        GAME,
        "(<= (goal w 50) (p ?row) (not (q ?rwo)))\n(p 1) (q 1)",
        "unsafe-negation",
        &["Replace `?rwo` with `?row`: (<= (goal w 50) (p ?row) (not (q ?row)))\n(p 1) (q 1)"],
    );
    check_fixes(
        INFIX,
        "next(p(X, X)) :- true(p(Y, Z)).",
        "unsafe-head",
        &[
            "Replace `?X` with `?Y`: next(p(Y, Y)) :- true(p(Y, Z)).",
            "Replace `?X` with `?Z`: next(p(Z, Z)) :- true(p(Y, Z)).",
        ],
    );
    check_fixes(
        GAME,
        "(legal ?r wait)",
        "role-variable",
        &["Add `(role ?r)` to the body: (<= (legal ?r wait) (role ?r))"],
    );
    check_fixes(
        INFIX,
        "legal(R, wait) :- true(over).",
        "role-variable",
        &["Add `(role ?R)` to the body: legal(R, wait) :- true(over) & role(R)."],
    );
    check_fixes(
        GAME,
        "(<= (next (p ?x)) (true (q ?x ?y)))\n(init (q 1 2))\n(<= (goal w 0) (true (p 1)))",
        "single-variable",
        &[
            "Rename it to `?_y`: (<= (next (p ?x)) (true (q ?x ?_y)))\n(init (q 1 2))\n(<= (goal w 0) (true (p 1)))",
        ],
    );
}

#[test]
fn whole_rules() {
    check_fixes(
        GAME,
        "(init p)\n  (init p) \n(<= (goal w 0) (true p))",
        "duplicate-rule",
        &["Delete this fact: (init p)\n(<= (goal w 0) (true p))"],
    );
    check_fixes(
        INFIX,
        "init(p). init(p).\ngoal(w, 0) :- true(p).",
        "duplicate-rule",
        &["Delete this fact: init(p). \ngoal(w, 0) :- true(p)."],
    );
    check_fixes(
        GAME,
        "(<= (init p))",
        "empty-body",
        &["Write it without the arrow: (init p)"],
    );
    check_fixes(
        GAME,
        "(init p) (<= (goal w 50) (true p) (not (true p)))",
        "never-fires",
        &[
            "Delete the negation: (init p) (<= (goal w 50) (true p) )",
            "Delete the positive literal: (init p) (<= (goal w 50)  (not (true p)))",
        ],
    );
}
