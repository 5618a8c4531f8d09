//! Complete messages as users see them, for typical mistakes.

#![expect(
    clippy::needless_pass_by_value,
    reason = "expectations are passed by value in tests"
)]

use agon_gdl::{Limits, RenderOptions, check, parse, render};
use expect_test::{Expect, expect};

/// Renders all findings of `check` for a sheet.
fn messages(sheet: &str, expected: Expect) {
    let description = parse(sheet.as_bytes(), &Limits::default());
    let findings = match check(&description) {
        Ok(rules) => rules.warnings,
        Err(findings) => findings,
    };
    let options = RenderOptions {
        colour: false,
        width: 100,
    };
    let drawings: Vec<String> = findings
        .iter()
        .map(|finding| render(finding, &description.source, "game.kif", options))
        .collect();
    expected.assert_eq(&(drawings.join("\n\n") + "\n"));
}

/// A game around the given lines, which start at line 2.
fn in_a_game(lines: &str, expected: Expect) {
    let frame =
        "(role white) (init (step 1)) (legal white go) (<= (next (step 1)) (true (step 1)))";
    let end = "(goal white 100)\n(<= terminal (true (step 1)))\n";
    messages(&format!("{frame}\n{lines}\n{end}"), expected);
}

#[test]
fn a_missing_bracket() {
    in_a_game(
        "(<= (next (step 2))\n    (true (step 1))\n(<= (next (step 3)) (true (step 2)))",
        expect![[r#"
            error[unclosed]: the `(` opened here is never closed: a `)` is missing
             --> game.kif:2:1
              |
            2 | (<= (next (step 2))
              | ^^^
            3 |     (true (step 1))
            4 | (<= (next (step 3)) (true (step 2)))
              | - this looks like the start of the next rule
              |
              = help: add the missing `)` before the next form starts
        "#]],
    );
}

#[test]
fn an_extra_bracket() {
    in_a_game(
        "(<= (next (step 2))\n    (true (step 1))))",
        expect![[r#"
            error[unopened]: this `)` closes nothing: no `(` is open here
             --> game.kif:3:21
              |
            2 | (<= (next (step 2))
              | --- the previous form starts here and is complete
            3 |     (true (step 1))))
              |                     ^
              |
              = help: delete it, or add the missing `(` before it
        "#]],
    );
}

#[test]
fn a_rule_that_closes_too_early() {
    in_a_game(
        "(<= (next (step 2))\n    (true (step 1)))\n    (does white go))",
        expect![[r#"
            error[unopened]: this `)` closes the form too early: the text after it still seems to belong to the form
             --> game.kif:3:20
              |
            3 |     (true (step 1)))
              |                    ^
            4 |     (does white go))
              |                    - so this `)` closes nothing
              |
              = help: delete it if the text after it belongs to the form; otherwise delete the other one
        "#]],
    );
}

#[test]
fn an_unsafe_head_variable() {
    in_a_game(
        "(<= (next (step ?y))\n    (true (step 1)))",
        expect![[r#"
            error[unsafe-head]: unsafe rule: the variable `?y` in the head is not bound, because it occurs in no positive literal of the body
             --> game.kif:2:17
              |
            2 | (<= (next (step ?y))
              |                 ^^
              |
              = help: add a positive literal that binds `?y`
        "#]],
    );
}

#[test]
fn an_unsafe_negation() {
    in_a_game(
        "(<= (next (step 2))\n    (not (true (step ?x))))",
        expect![[r#"
            error[unsafe-negation]: unsafe rule: the variable `?x` in a negated literal is not bound, because in the body it occurs only inside `not` or `distinct`, which do not bind variables
             --> game.kif:3:22
              |
            3 |     (not (true (step ?x))))
              |                      ^^
              |
              = help: add a positive literal that binds `?x`
        "#]],
    );
}

#[test]
fn an_unbound_role_variable() {
    in_a_game(
        "(<= (legal ?player wait)\n    (true (step 1)))",
        expect![[r#"
            warning[role-variable]: the role variable `?player` is not bound in the body; the rule is read as if `(role ?player)` were in it
             --> game.kif:2:12
              |
            2 | (<= (legal ?player wait)
              |            ^^^^^^^
              |
              = help: add `(role ?player)` to the body
        "#]],
    );
}

#[test]
fn legal_that_depends_on_moves_indirectly() {
    in_a_game(
        "(<= (legal white wait) (moved white))\n(<= (moved ?r) (acted ?r))\n(<= (acted ?r) (does ?r go))",
        expect![[r#"
            error[dependency]: `legal` must not depend on `does`: it is evaluated before the moves of this step are known
             --> game.kif:2:24
              |
            2 | (<= (legal white wait) (moved white))
              |                        ^^^^^^^^^^^^^
            3 | (<= (moved ?r) (acted ?r))
              |                ---------- `moved` depends on `acted` here
            4 | (<= (acted ?r) (does ?r go))
              |                ------------ `acted` depends on `does` here
              |
              = help: define legal moves by the state alone, with `true`
        "#]],
    );
}

#[test]
fn a_paradox() {
    in_a_game(
        "(<= (next (step 2)) (odd 1))\n(<= (odd ?x) (true (step ?x)) (not (even ?x)))\n(<= (even ?x) (true (step ?x)) (not (odd ?x)))",
        expect![[r#"
            error[unstratified]: not stratified: `odd` depends on its own negation (`odd` → `not even` → `not odd`)
             --> game.kif:3:5
              |
            3 | (<= (odd ?x) (true (step ?x)) (not (even ?x)))
              |     ^^^^^^^^                       --------- `odd` depends on the negation of `even`
            4 | (<= (even ?x) (true (step ?x)) (not (odd ?x)))
              |                                     -------- `even` depends on the negation of `odd`
              |
              = help: break the cycle: define one of these relations without the others

            error[unstratified]: not stratified: `even` depends on its own negation (`even` → `not odd` → `not even`)
             --> game.kif:4:5
              |
            3 | (<= (odd ?x) (true (step ?x)) (not (even ?x)))
              |                                    --------- `odd` depends on the negation of `even`
            4 | (<= (even ?x) (true (step ?x)) (not (odd ?x)))
              |     ^^^^^^^^^                       -------- `even` depends on the negation of `odd`
              |
              = help: break the cycle: define one of these relations without the others
        "#]],
    );
}

#[test]
fn an_endless_recursion() {
    in_a_game(
        "(number zero)\n(<= (number (s ?n)) (number ?n))\n(<= (next (step 2)) (number zero))",
        expect![[r#"
            error[unbounded-recursion]: the recursion of `number` never ends: each application of this rule builds a larger term around `?n`
             --> game.kif:3:5
              |
            3 | (<= (number (s ?n)) (number ?n))
              |     ^^^^^^^^^^^^^^^
              |
              = help: bind `?n` with a literal that does not depend on `number`, so that the recursion ends
        "#]],
    );
}

#[test]
fn a_goal_value_that_is_not_a_number() {
    in_a_game(
        "(goal white win)",
        expect![[r#"
        error[goal-value]: the goal value `win` is not a number
         --> game.kif:2:13
          |
        2 | (goal white win)
          |             ^^^
          |
          = help: a goal value is an integer from 0 (lost) to 100 (won)
    "#]],
    );
}

#[test]
fn a_keyword_with_too_many_arguments() {
    in_a_game(
        "(<= (next (step 2)) (true step 1))",
        expect![[r#"
        error[keyword-arity]: `true` takes exactly 1 argument, not 2
         --> game.kif:2:21
          |
        2 | (<= (next (step 2)) (true step 1))
          |                     ^^^^^^^^^^^^^
          |
          = help: put brackets around the fluent: `(true (cell 1 1 b))`
    "#]],
    );
}

#[test]
fn a_misspelt_keyword() {
    in_a_game(
        "(intit (step 2))",
        expect![[r#"
            warning[misspelt-keyword]: `intit` is not a keyword, and nothing uses it
             --> game.kif:2:1
              |
            2 | (intit (step 2))
              | ^^^^^^^^^^^^^^^^
              |
              = help: did you mean `init`?
        "#]],
    );
}

#[test]
fn a_misspelt_relation() {
    in_a_game(
        "(succ 1 2)\n(<= (next (step ?y)) (true (step ?x)) (suc ?x ?y))",
        expect![[r#"
            warning[unused]: nothing uses `succ` with 2 arguments
             --> game.kif:2:1
              |
            2 | (succ 1 2)
              | ^^^^^^^^^^
              |
              = help: use it in a condition, or delete its rules

            warning[undefined]: nothing defines `suc` with 2 arguments, so this rule never fires
             --> game.kif:3:39
              |
            3 | (<= (next (step ?y)) (true (step ?x)) (suc ?x ?y))
              |                                       ^^^^^^^^^^^
              |
              = help: did you mean `succ`?
        "#]],
    );
}

#[test]
fn two_arities() {
    in_a_game(
        "(succ 1 2)\n(<= (next (step ?y)) (true (step ?x)) (succ ?x ?y up))",
        expect![[r#"
            warning[unused]: nothing uses `succ` with 2 arguments
             --> game.kif:2:1
              |
            2 | (succ 1 2)
              | ^^^^^^^^^^
              |
              = help: use it in a condition, or delete its rules

            warning[arity]: the relation `succ` has 3 arguments here, but 2 at its first occurrence, on line 2
             --> game.kif:3:39
              |
            2 | (succ 1 2)
              | ---------- 2 arguments
            3 | (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y up))
              |                                       ^^^^^^^^^^^^^^^
              |
              = help: they are read as two different relations; rename one of them if that is not intended

            warning[undefined]: nothing defines `succ` with 3 arguments, so this rule never fires
             --> game.kif:3:39
              |
            3 | (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y up))
              |                                       ^^^^^^^^^^^^^^^
              |
              = help: define it with a rule or a fact, or check the spelling
        "#]],
    );
}

#[test]
fn two_spellings() {
    in_a_game(
        "(init whiteWin)\n(<= (next (step 2)) (true whitewin))",
        expect![[r#"
            warning[capitalisation]: `whitewin` differs only in case from `whiteWin` on line 2; they are two different names
             --> game.kif:3:27
              |
            2 | (init whiteWin)
              |       -------- the other spelling
            3 | (<= (next (step 2)) (true whitewin))
              |                           ^^^^^^^^
              |
              = help: use one spelling; some systems ignore case and treat them as the same name

            warning[never-fires]: no `init` or `next` makes the fluent `whitewin` true, so this rule never fires
             --> game.kif:3:27
              |
            3 | (<= (next (step 2)) (true whitewin))
              |                           ^^^^^^^^
              |
              = help: did you mean `whiteWin`?
        "#]],
    );
}

#[test]
fn a_variable_that_occurs_once() {
    in_a_game(
        "(<= (next (step 2)) (true (step ?number)))",
        expect![[r#"
            warning[single-variable]: `?number` occurs only once in this rule
             --> game.kif:2:33
              |
            2 | (<= (next (step 2)) (true (step ?number)))
              |                                 ^^^^^^^
              |
              = help: rename it to `?_number` if any value is allowed; otherwise check the spelling
        "#]],
    );
}

#[test]
fn a_bare_not() {
    in_a_game(
        "(<= (next (step 2)) not (true (step 1)))",
        expect![[r#"
            error[connective-name]: `not` without brackets: it needs brackets around it and its operands
             --> game.kif:2:21
              |
            2 | (<= (next (step 2)) not (true (step 1)))
              |                     ^^^
              |
              = help: write `(not …)`
        "#]],
    );
}

#[test]
fn tabs_and_wide_characters() {
    in_a_game(
        "(<=\t(next (step 2))\t(true (état ?é)))",
        expect![[r#"
            warning[never-fires]: no `init` or `next` makes the fluent `état` with 1 argument true, so this rule never fires
             --> game.kif:2:27
              |
            2 | (<=    (next (step 2))    (true (état ?é)))
              |                                 ^^^^^^^^^
              |
              = help: check the spelling, or delete the condition

            warning[single-variable]: `?é` occurs only once in this rule
             --> game.kif:2:33
              |
            2 | (<=    (next (step 2))    (true (état ?é)))
              |                                       ^^
              |
              = help: rename it to `?_é` if any value is allowed; otherwise check the spelling
        "#]],
    );
}

#[test]
fn a_sheet_with_only_a_role_fact() {
    messages(
        "(role white)",
        expect![[r#"
        error[missing-keyword]: the description has no `legal` rule or fact
        --> game.kif
         = help: every game needs one, for example `(<= (legal ?r (mark ?x)) (true (cell ?x b)))`

        error[missing-keyword]: the description has no `goal` rule or fact
        --> game.kif
         = help: every game needs one, for example `(<= (goal white 100) (line x))`

        error[missing-keyword]: the description has no `terminal` rule or fact
        --> game.kif
         = help: every game needs one, for example `(<= terminal (line x))`
    "#]],
    );
}

#[test]
fn an_empty_file() {
    messages(
        "",
        expect![[r#"
        error[empty-description]: there are no rules in this file: it is empty
        --> game.kif
         = help: a game needs at least `role`, `legal`, `goal` and `terminal`
    "#]],
    );
}

#[test]
fn a_whole_sheet_on_one_line_is_cut_to_the_width() {
    let facts = "(p a b c) ".repeat(50);
    messages(
        &format!("(role a) {facts}(goal a 101) {facts}"),
        expect![[r#"
            warning[unused]: nothing uses `p` with 3 arguments
             --> game.kif:1:10
              |
            1 | (role a) (p a b c) (p a b c) (p a b c) (p a b c) (p a b c) (p a b c) (p a b c) (p a b c) (p a...
              |          ^^^^^^^^^
              |
              = help: use it in a condition, or delete its rules

            error[goal-value]: the goal value `101` is outside 0..100
             --> game.kif:1:518
              |
            1 | ...b c) (p a b c) (p a b c) (p a b c) (goal a 101) (p a b c) (p a b c) (p a b c) (p a b c) (p...
              |                                               ^^^
              |
              = help: a goal value is an integer from 0 (lost) to 100 (won)

            error[missing-keyword]: the description has no `legal` rule or fact
            --> game.kif
             = help: every game needs one, for example `(<= (legal ?r (mark ?x)) (true (cell ?x b)))`

            error[missing-keyword]: the description has no `terminal` rule or fact
            --> game.kif
             = help: every game needs one, for example `(<= terminal (line x))`
        "#]],
    );
}

#[test]
fn an_infix_rule_without_its_bracket() {
    messages(
        "role(white).\nlegal(white, mark(X) :- true(cell(X, b)).\n",
        expect![[r#"
            error[unclosed]: the `(` opened here is never closed
             --> game.kif:2:6
              |
            2 | legal(white, mark(X) :- true(cell(X, b)).
              |      ^               -- the rule goes on or ends here
              |
              = help: add the `)` that is missing
        "#]],
    );
}

#[test]
fn nothing_may_depend_on_what_roles_see() {
    in_a_game(
        "(role random) (legal random flip)\n(<= (sees white heads) (does random flip))\n(<= (next (step 2)) (sees white heads))",
        expect![[r#"
            error[keyword-body]: `sees` cannot be a condition: it may stand only in heads and facts
             --> game.kif:4:21
              |
            4 | (<= (next (step 2)) (sees white heads))
              |                     ^^^^^^^^^^^^^^^^^^
              |
              = help: nothing may depend on what roles see: put its conditions into a relation of its own and use that in both places
        "#]],
    );
}

#[test]
fn a_role_called_random_needs_sees_to_be_chance() {
    in_a_game(
        "(role random) (legal random flip)",
        expect![[r#"
        warning[missing-keyword]: no `goal` rule gives the role `random` a goal value
         --> game.kif:2:7
          |
        2 | (role random) (legal random flip)
          |       ^^^^^^
          |
          = help: add a rule with the head `(goal random …)`

        warning[gdl-ii]: `random` is a role like any other here, because nothing defines `sees`
         --> game.kif:2:7
          |
        2 | (role random) (legal random flip)
          |       ^^^^^^
          |
          = help: if chance plays it, say what the roles see, for example `(<= (sees ?r (did ?p ?m)) (role ?r) (does ?p ?m))`
    "#]],
    );
}

#[test]
fn goals_of_chance_have_no_effect() {
    in_a_game(
        "(role Random) (legal Random flip) (goal Random 50)\n(<= (goal Random 0) terminal)\n(<= (sees white heads) (does Random flip))",
        expect![[r#"
            warning[gdl-ii]: this is GDL-II: chance plays `Random`, and its goals have no effect
             --> game.kif:2:35
              |
            2 | (role Random) (legal Random flip) (goal Random 50)
              |                                   ^^^^^^^^^^^^^^^^
              |
              = help: delete the rules of this goal; chance needs none
        "#]],
    );
}

#[test]
fn chance_needs_no_goal_and_the_others_should_see_something() {
    in_a_game(
        "(role Random) (role black) (legal Random flip) (legal black go) (goal black 0)\n(<= (sees white heads) (does Random flip))",
        expect![[r#"
            warning[gdl-ii]: no `sees` rule lets the role `black` see anything
             --> game.kif:2:21
              |
            2 | (role Random) (role black) (legal Random flip) (legal black go) (goal black 0)
              |                     ^^^^^
              |
              = help: add a rule with the head `(sees black …)`
        "#]],
    );
}
