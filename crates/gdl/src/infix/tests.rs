//! What infix text is read into.

use expect_test::{Expect, expect};

use super::*;

fn check(text: &str, expected: Expect) {
    check_within(text, Limits::default(), expected);
}

fn check_within(text: &str, limits: Limits, expected: Expect) {
    let source = Source::new(text.as_bytes());
    let (mut symbols, mut findings) = (SymbolTable::new(), Diagnostics::new());
    let tree = read(&source, &limits, &mut symbols, &mut findings);
    expected.assert_eq(&(tree.to_text(&symbols) + &findings.to_text(&source)));
}

#[test]
fn facts_and_rules_with_and_without_full_stops() {
    check(
        "role(white). terminal :- line(x).\nopen.\nlegal(w, noop) :- .",
        expect![[r#"
        (role white)
        (<= terminal (line x))
        open
        (<= (legal w noop))
    "#]],
    );
    check(
        "role(white) terminal :- line(x)\nopen\nlegal(w, noop) :- ",
        expect![[r#"
        (role white)
        (<= terminal (line x))
        open
        (<= (legal w noop))
    "#]],
    );
}

#[test]
fn a_missing_full_stop_is_told_at_the_end_of_its_rule() {
    check(
        "role(white).\nrole(black)\nterminal :-\n  true(a) &\n  ~true(é)  % no end\n\nopen.\np :- q r.\nlast :- X != ä",
        expect![[r#"
            (role white)
            (role black)
            (<= terminal (true a) (not (true é)))
            open
            (<= p q)
            r
            (<= last (distinct ?X ä))
            error 2:11 syntax: the full stop at the end of this rule is missing
            error 5:10 syntax: the full stop at the end of this rule is missing
            error 8:6 syntax: the full stop at the end of this rule is missing
            error 9:14 syntax: the full stop at the end of this rule is missing
        "#]],
    );
}

#[test]
fn a_full_stop_needs_no_blank_behind_it() {
    check(
        "role(a).role(b).init(c).p:-q.r.",
        expect![[r#"
        (role a)
        (role b)
        (init c)
        (<= p q)
        r
    "#]],
    );
}

#[test]
fn a_full_stop_between_digits_is_part_of_the_number() {
    check(
        "goal(a, 50.5). p(1.2.3). q(7).",
        expect![[r#"
        (goal a 50.5)
        (p 1.2.3)
        (q 7)
    "#]],
    );
}

#[test]
fn every_sign_of_a_conjunction() {
    check(
        "p :- a, b & c ∧ d.",
        expect![[r#"
        (<= p a b c d)
    "#]],
    );
}

#[test]
fn a_disjunction_binds_weaker_than_a_conjunction() {
    check(
        "p :- a, b | c & d ∨ e.",
        expect![[r#"
        (<= p (or (and a b) (and c d) e))
    "#]],
    );
    check(
        "p :- a, (b | c), d.",
        expect![[r#"
        (<= p a (or b c) d)
    "#]],
    );
}

#[test]
fn every_sign_of_a_negation() {
    check(
        "p :- ~a, ¬b, not c, not(d), ~(e | f), ~~g.",
        expect![[r#"
        (<= p (not a) (not b) (not c) (not d) (not (or e f)) (not (not g)))
    "#]],
    );
}

#[test]
fn every_sign_of_an_inequality() {
    check(
        "p(X, Y) :- q(X, Y), X != Y, X \\= a, f(X) ≠ Y, distinct(X, b).",
        expect![[r#"
        (<= (p ?X ?Y) (q ?X ?Y) (distinct ?X ?Y) (distinct ?X a) (distinct (f ?X) ?Y) (distinct ?X b))
    "#]],
    );
}

#[test]
fn every_sign_of_the_arrow() {
    check(
        "p :- q. p ← q. p:-q.",
        expect![[r#"
        (<= p q)
        (<= p q)
        (<= p q)
    "#]],
    );
}

#[test]
fn variables_begin_with_a_capital_or_an_underscore() {
    check(
        "p(X, Xy, _x, ?z, x) :- q.",
        expect![[r#"
        (<= (p ?X ?Xy ?_x ?z x) q)
    "#]],
    );
}

#[test]
fn a_lone_underscore_is_a_new_variable_each_time() {
    check(
        "p(X) :- q(X, _), r(_).",
        expect![[r#"
        (<= (p ?X) (q ?X ?_1) (r ?_2))
    "#]],
    );
}

#[test]
fn anonymous_variables_never_meet_numbered_ones() {
    check(
        "p(_1) :- q(_, _1, _2).",
        expect![[r#"
        (<= (p ?_1) (q ?_3 ?_1 ?_2))
    "#]],
    );
}

#[test]
fn odd_names_are_quoted() {
    check(
        "p('++', 'Upper', 'it''s', 'a.b').",
        expect![[r#"
        (p ++ Upper it's a.b)
    "#]],
    );
}

#[test]
fn quotes_that_hold_nothing_or_too_much() {
    check(
        "p('').\np('a b').\np('?x').\np('open\n).\nq.",
        expect![[r#"
        q
        error 1:3 syntax: a quoted name is not closed or is empty
        error 2:3 syntax: a name may not hold blanks, brackets or `;`, nor begin with `?`
        error 3:3 syntax: a name may not hold blanks, brackets or `;`, nor begin with `?`
        error 4:3 syntax: a quoted name is not closed or is empty
    "#]],
    );
}

#[test]
fn connectives_cannot_be_names() {
    check(
        "p('not').\n'<='(a, b).\np(<=).\nq.",
        expect![[r#"
        q
        error 1:3 syntax: `not` cannot be a name
        error 2:1 syntax: `<=` cannot be a name
        error 3:3 syntax: `<=` cannot be a name
    "#]],
    );
}

#[test]
fn comments_begin_with_a_percent_sign_or_a_semicolon() {
    check(
        "p. % one. q\n; two. r\ns.",
        expect![[r#"
        p
        s
    "#]],
    );
}

#[test]
fn a_missing_bracket_is_told_and_reading_goes_on() {
    check(
        "p(X :- q(X).\nr(a).",
        expect![[r#"
        (r a)
        error 1:2 unclosed: the `(` opened here is never closed
    "#]],
    );
    check(
        "p :- q(a, (b | c).\nr(a).",
        expect![[r#"
        (r a)
        error 1:7 unclosed: the `(` opened here is never closed
    "#]],
    );
}

#[test]
fn a_missing_bracket_before_a_rule_without_full_stops() {
    check(
        "p :- q(f(a)\nr(b)",
        expect![[r#"
        (r b)
        error 1:7 unclosed: the `(` opened here is never closed
    "#]],
    );
}

#[test]
fn an_arrow_without_a_body_before_the_next_rule() {
    check(
        "p(a) :-\nq(b) :- r.\ns.",
        expect![[r#"
        s
        error 1:6 syntax: this rule has no end before the next one begins, or no body
    "#]],
    );
}

#[test]
fn a_bracket_too_many_is_told() {
    check(
        "p(a)).\nq(b).",
        expect![[r#"
            (p a)
            (q b)
            error 1:5 unopened: this `)` closes nothing: no `(` is open here
        "#]],
    );
}

#[test]
fn missing_literals_and_arguments_are_told() {
    check(
        "p :- q, .\np(a, ).\np :- ~ .\nq(b)",
        expect![[r#"
            (q b)
            error 1:9 syntax: a literal or a term is expected here
            error 2:6 syntax: a literal or a term is expected here
            error 3:8 syntax: a literal or a term is expected here
            error 4:4 syntax: the full stop at the end of this rule is missing
        "#]],
    );
}

#[test]
fn reading_goes_on_behind_a_full_stop_or_at_a_name_in_the_first_column() {
    check(
        ":- a. b.\n& c\nd(e)",
        expect![[r#"
            b
            (d e)
            error 1:1 syntax: a rule must begin with a name
            error 2:1 syntax: a rule must begin with a name
            error 3:4 syntax: the full stop at the end of this rule is missing
        "#]],
    );
}

#[test]
fn prefix_rules_in_an_infix_file() {
    check(
        "role(a).\n(role b)\nrole(c).",
        expect![[r#"
        (role a)
        (role c)
        error 2:1 mixed-syntax: a rule in prefix form stands in an infix file
    "#]],
    );
    check(
        "% a comment\n(role b)",
        expect![[r#"
        error 2:1 mixed-syntax: a rule in prefix form stands in an infix file
    "#]],
    );
}

#[test]
fn a_variable_cannot_have_arguments() {
    check(
        "p(X) :- Q(X).",
        expect![[r#"
            (<= (p ?X) ?Q)
            error 1:9 not-a-name: a variable cannot have arguments
        "#]],
    );
}

#[test]
fn brackets_and_negations_deeper_than_the_limit() {
    let limits = Limits {
        depth: 4,
        ..Limits::default()
    };
    check_within(
        "p(f(f(f(f(a))))).\nq :- ~~~~~r.\ns.",
        limits,
        expect![[r#"
        s
        error 1:9 too-deep: brackets are nested more than 4 deep here
        error 2:9 too-deep: brackets are nested more than 4 deep here
    "#]],
    );
}

#[test]
fn a_name_longer_than_the_limit_is_not_echoed() {
    let limits = Limits {
        name: 8,
        ..Limits::default()
    };
    check_within(
        "p(abcdefghijkl). q.",
        limits,
        expect![[r#"
        (p)
        q
        error 1:3 name-too-long: this name has 12 bytes, more than the limit of 8
    "#]],
    );
}
