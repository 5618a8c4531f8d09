//! Ground programs of small sheets as text, and the errors of sheets that cannot be grounded.

use agon_gdl::Rules;
use agon_ground::{GroundError, GroundLimits, GroundProgram, ground};
use expect_test::{Expect, expect};

fn rules(sheet: &str) -> Rules {
    let description = agon_gdl::parse(sheet.as_bytes(), &agon_gdl::Limits::default());
    agon_gdl::check(&description).unwrap_or_else(|findings| {
        let messages: Vec<&str> = findings
            .iter()
            .map(|finding| finding.message.as_str())
            .collect();
        panic!("{}", messages.join("; "))
    })
}

/// Grounds a sheet after completing it to a game of one role, within limits that tests do not reach by accident.
fn try_ground(sheet: &str) -> Result<GroundProgram, GroundError> {
    let limits = GroundLimits {
        rules: 100_000,
        bytes: 50_000_000,
        steps: 2_000_000,
        depth: 50,
    };
    ground(&rules(sheet), &limits, &|| false)
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "expectations are passed by value in tests"
)]
fn check(sheet: &str, expected: Expect) {
    match try_ground(sheet) {
        Ok(program) => expected.assert_eq(&program.to_string()),
        Err(error) => expected.assert_eq(&error.to_string()),
    }
}

#[test]
fn a_join_keeps_the_instances_that_can_hold() {
    check(
        "(role r) (init (at a)) (link a b) (link b c) (link d e)
         (<= (legal r (go ?y)) (true (at ?x)) (link ?x ?y))
         (<= (next (at ?y)) (does r (go ?y)))
         (<= terminal (true (at c))) (goal r 100)",
        expect![[r#"
            fluent (at a) next never initial
            fluent (at b) next (next (at b))
            fluent (at c) next (next (at c))
            move r (go b) legal (legal r (go b))
            move r (go c) legal (legal r (go c))
            goal r 100 when always
            terminal terminal
            (legal r (go b)) <= (true (at a))
            (legal r (go c)) <= (true (at b))
            (next (at b)) <= (does r (go b))
            (next (at c)) <= (does r (go c))
            terminal <= (true (at c))
        "#]],
    );
}

#[test]
fn static_conditions_are_folded() {
    check(
        "(role r) (init p) (num 1) (num 2) (less 1 2)
         (<= (greater ?x ?y) (less ?y ?x))
         (<= (legal r (pick ?x)) (num ?x) (greater ?x ?y) (distinct ?x 1))
         (<= (next p) (does r (pick 2)) (true p) (not (less 2 1)))
         (<= (goal r 100) (less 1 2)) (<= (goal r 0) (less 2 1))
         (<= terminal (not (true p)))",
        expect![[r#"
            fluent p next (next p) initial
            move r (pick 2) legal always
            goal r 100 when always
            terminal terminal
            (next p) <= (true p) (does r (pick 2))
            terminal <= ~(true p)
        "#]],
    );
}

#[test]
fn certain_and_impossible_atoms_are_folded() {
    check(
        "(role r) (init p) (legal r a) (<= (legal r b) ever) (<= (legal r c) never)
         (<= ever (role r)) (<= never (true impossible)) (<= (next impossible) never)
         (<= (next p) ever (not never)) (<= (next q) (does r b) (not never)) (<= (next s) (does r c))
         (<= (goal r 100) (not never)) (<= (goal r 0) never) (<= terminal (true q) ever)",
        expect![[r#"
            fluent q next (next q)
            fluent p next always initial
            move r b legal always
            move r a legal always
            goal r 100 when always
            terminal terminal
            (next q) <= (does r b)
            terminal <= (true q)
        "#]],
    );
}

#[test]
fn recursion_through_the_state_becomes_cyclic_rules() {
    check(
        "(role r) (<= (legal r (join ?x ?y)) (link ?x ?y)) (link a b) (link b a)
         (<= (next (edge ?x ?y)) (does r (join ?x ?y))) (<= (next (edge ?x ?y)) (true (edge ?x ?y)))
         (<= (path ?x ?y) (true (edge ?x ?y))) (<= (path ?x ?z) (path ?x ?y) (path ?y ?z))
         (<= terminal (path a a)) (goal r 0)",
        expect![[r#"
            fluent (edge a b) next (next (edge a b))
            fluent (edge b a) next (next (edge b a))
            move r (join a b) legal always
            move r (join b a) legal always
            goal r 0 when always
            terminal terminal
            (next (edge a b)) <= (true (edge a b))
            (next (edge a b)) <= (does r (join a b))
            (next (edge b a)) <= (true (edge b a))
            (next (edge b a)) <= (does r (join b a))
            (path a b) <= (true (edge a b))
            (path b a) <= (true (edge b a))
            (path a a) <= (path a b) (path b a)
            (path b b) <= (path a b) (path b a)
            terminal <= (path a a)
        "#]],
    );
}

#[test]
fn variables_stand_for_whole_fluents_and_moves() {
    check(
        "(role r) (init (f a)) (init g) (<= (legal r (drop ?f)) (true ?f) (known ?f)) (known g) (known (f a))
         (<= (next ?f) (true ?f) (not (does r (drop ?f)))) (<= terminal (not (true g))) (goal r 0)",
        expect![[r#"
            fluent g next (next g) initial
            fluent (f a) next (next (f a)) initial
            move r (drop (f a)) legal (legal r (drop (f a)))
            move r (drop g) legal (legal r (drop g))
            goal r 0 when always
            terminal terminal
            (legal r (drop (f a))) <= (true (f a))
            (legal r (drop g)) <= (true g)
            terminal <= ~(true g)
            (next (f a)) <= (true (f a)) ~(does r (drop (f a)))
            (next g) <= (true g) ~(does r (drop g))
        "#]],
    );
}

#[test]
fn alternatives_and_equality_become_rules() {
    check(
        "(role r) (init (at a)) (n a) (n b)
         (<= (legal r (go ?x ?y)) (n ?x) (n ?y) (or (distinct ?x ?y) (true (at ?y))))
         (<= (next (at ?y)) (does r (go ?x ?y)) (not (distinct ?x a)))
         (<= terminal (or (true (at b)) (not (true (at a))))) (goal r 0)",
        expect![[r#"
            fluent (at a) next (next (at a)) initial
            fluent (at b) next (next (at b))
            move r (go a b) legal always
            move r (go b a) legal always
            move r (go a a) legal (legal r (go a a))
            move r (go b b) legal (legal r (go b b))
            goal r 0 when always
            terminal terminal
            (legal r (go a a)) <= (true (at a))
            (legal r (go b b)) <= (true (at b))
            (next (at b)) <= (does r (go a b))
            (next (at a)) <= (does r (go a a))
            terminal <= ~(true (at a))
            terminal <= (true (at b))
        "#]],
    );
}

#[test]
fn goal_values_come_from_the_state() {
    check(
        "(role r) (init (score 0)) (up 0 50) (up 50 100) (legal r go)
         (<= (next (score ?y)) (true (score ?x)) (up ?x ?y)) (<= (goal r ?x) (true (score ?x)))
         (<= terminal (true (score 100)))",
        expect![[r#"
            fluent (score 0) next never initial
            fluent (score 50) next (next (score 50))
            fluent (score 100) next (next (score 100))
            move r go legal always
            goal r 0 when (goal r 0)
            goal r 50 when (goal r 50)
            goal r 100 when (goal r 100)
            terminal terminal
            (next (score 50)) <= (true (score 0))
            (next (score 100)) <= (true (score 50))
            (goal r 0) <= (true (score 0))
            (goal r 50) <= (true (score 50))
            (goal r 100) <= (true (score 100))
            terminal <= (true (score 100))
        "#]],
    );
}

#[test]
fn negation_may_be_stratified_only_after_grounding() {
    check(
        "(role r) (legal r (block 3)) (step 1 2) (step 2 3)
         (<= (next (blocked ?x)) (does r (block ?x)))
         (<= (won ?x) (step ?x ?y) (not (won ?y)) (not (true (blocked ?y))))
         (<= terminal (won 1)) (<= (goal r 0) (not (goal r 100)) (role r)) (<= (goal r 100) (won 1))",
        expect![[r#"
            fluent (blocked 3) next (next (blocked 3))
            move r (block 3) legal always
            goal r 0 when (goal r 0)
            goal r 100 when (goal r 100)
            terminal terminal
            (next (blocked 3)) <= (does r (block 3))
            (won 1) <= ~(won 2)
            (won 2) <= ~(true (blocked 3))
            terminal <= (won 1)
            (goal r 0) <= ~(goal r 100)
            (goal r 100) <= (won 1)
        "#]],
    );
}

#[test]
fn the_error_names_an_unstratified_cycle() {
    // By relation names alone, a check cannot reject this.
    check(
        "(role r) (init (c a b)) (init (c b a)) (<= (legal r go) (true (c ?x ?y)))
         (<= (next (c ?x ?y)) (true (c ?x ?y)))
         (<= (won ?x) (true (c ?x ?y)) (not (won ?y)))
         (<= terminal (won a)) (goal r 0)",
        expect![
            "not stratified: (won a) depends on the negation of (won b), which depends on (won a)"
        ],
    );
}

#[test]
fn a_cycle_that_is_never_closed_is_accepted() {
    check(
        "(role r) (init (c a b)) (legal r go) (<= (next (c ?x ?y)) (true (c ?x ?y)))
         (<= (won ?x) (true (c ?x ?y)) (not (won ?y)))
         (<= terminal (won a)) (goal r 0)",
        expect![[r#"
            fluent (c a b) next (next (c a b)) initial
            move r go legal always
            goal r 0 when always
            terminal terminal
            (next (c a b)) <= (true (c a b))
            (won a) <= (true (c a b))
            terminal <= (won a)
        "#]],
    );
}

/// Which of the limits is reached first is not specified.
#[test]
fn a_limit_stops_grounding_and_the_error_names_the_rule() {
    let digits: String = (0..30).map(|digit| format!("(d {digit})")).collect();
    let sheet = format!(
        "{digits} (role r) (legal r go) (init (s 1))
         (<= (next (big ?a ?b ?c ?e ?f)) (d ?a) (d ?b) (d ?c) (d ?e) (d ?f) (true (s 1)))
         (<= terminal (true (big 1 1 1 1 1))) (goal r 0)"
    );
    match try_ground(&sheet) {
        Err(GroundError::TooLarge { rule, line, .. }) => {
            assert_eq!(line, 2);
            assert!(
                rule.starts_with("(<= (next (big ?a ?b ?c ?e ?f))"),
                "{rule}"
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn unbounded_terms_stop_at_the_depth_limit() {
    check(
        "(role r) (init (n z)) (legal r go) (<= (next (n (s ?x))) (true (n ?x)))
         (<= terminal (true (n (s z)))) (goal r 0)",
        expect![[r#"
            too large to ground: the rule on line 1 exceeds the limit on term depth
            (<= (next (n (s ?x)))
                (true (n ?x)))"#]],
    );
}

#[test]
fn the_caller_can_stop_grounding() {
    let sheet = "(role r) (legal r go) (<= terminal (true t)) (<= (next t) (does r go)) (goal r 0)";
    let stopped = ground(&rules(sheet), &GroundLimits::default(), &|| true);
    assert!(matches!(
        stopped.err(),
        Some(GroundError::Stopped { line: 1, .. })
    ));
}

#[test]
fn moves_that_are_never_legal_are_dropped() {
    check(
        "(role r) (legal r go) (<= (legal r (dream ?x)) (nothing ?x)) (<= terminal (true t)) (goal r 0)",
        expect![[r#"
            move r go legal always
            goal r 0 when always
            terminal never
        "#]],
    );
}

/// A body whose conditions share few variables is decomposed; the same body with all variables in the head is not. Both
/// must derive the same values.
#[test]
fn decomposition_changes_no_answer() {
    let game = |body: &str| {
        format!(
            "(role r) (n 1) (n 2) (n 3) (init (e 1 2)) (init (e 2 3)) (init (e 3 1))
             (<= (legal r (cut ?x ?y)) (true (e ?x ?y)))
             (<= (next (e ?x ?y)) (true (e ?x ?y)) (not (does r (cut ?x ?y))))
             {body}
             (<= (legal r (from ?a)) (walk ?a))
             (<= terminal (not (true (e 1 2)))) (goal r 0)"
        )
    };
    let long = "(true (e ?a ?b)) (true (e ?b ?c)) (true (e ?c ?d)) (true (e ?d ?f)) (n ?f) (distinct ?c ?a)";
    let chain = game(&format!("(<= (walk ?a) {long})"));
    let whole = game(&format!(
        "(<= (all ?a ?b ?c ?d ?f) {long}) (<= (walk ?a) (all ?a ?b ?c ?d ?f))"
    ));
    let moves = |sheet: &str| -> Vec<String> {
        let program = try_ground(sheet).expect("the sheet is small");
        let mut moves: Vec<String> = program.roles[0]
            .moves
            .iter()
            .map(|mv| program.term_text(mv.term))
            .collect();
        moves.sort_unstable();
        moves
    };
    assert_eq!(moves(&chain), moves(&whole));
}

#[test]
fn the_same_sheet_gives_the_same_program() {
    let games = concat!(env!("CARGO_MANIFEST_DIR"), "/../games/games");
    for name in ["tic_tac_toe", "connect_four"] {
        let sheet =
            std::fs::read_to_string(format!("{games}/{name}.kif")).expect("a built-in game exists");
        let text = || {
            let program = ground(&rules(&sheet), &GroundLimits::default(), &|| false);
            program.expect("it grounds").to_string()
        };
        assert_eq!(text(), text(), "{name}");
    }
}

/// A game in which each of `n` relations is defined by two literals of the one below, so that an atom of the last one
/// has about 2ⁿ derivations.
fn chain(n: u32, step: &str) -> String {
    let mut sheet = String::from(
        "(role r) (d a) (d b) (d c) (init (s a)) (init (s b)) (<= (legal r (go ?x)) (d ?x))
         (<= (next (s ?x)) (does r (go ?x)))
         (<= (next (s ?x)) (true (s ?x)) (not (does r (go ?x))))
         (<= (c0 ?x ?y) (true (s ?x)) (true (s ?y)))",
    );
    for level in 1..=n {
        let below = format!("c{}", level - 1);
        sheet += &step
            .replace("above", &format!("c{level}"))
            .replace("below", &below);
    }
    sheet + &format!("(<= terminal (c{n} ?x ?y)) (goal r 100)")
}

#[test]
fn an_atom_with_exponentially_many_derivations_is_one_atom() {
    let steps = [
        "(<= (above ?x ?z) (below ?x ?y) (below ?y ?z))",
        "(<= (above ?x ?y) (below ?x ?_z) (below ?y ?_w))",
        "(<= (above ?x ?y) (below ?x ?y)) (<= (above ?x ?y) (below ?y ?x))",
        "(<= (above ?x ?y) (d ?x) (or (below ?x ?y) (below ?y ?_z)))",
    ];
    for step in steps {
        let program =
            try_ground(&chain(30, step)).unwrap_or_else(|error| panic!("{step}: {error}"));
        let per_level = f64::from(program.n_atoms()) / 30.0;
        assert!(per_level < 30.0, "{step}: {per_level} atoms per level");
    }
}

#[test]
fn stop_is_asked_in_every_stage() {
    // Many rules of one literal each: no join takes long, so that only the stages before and after the joins can ask.
    let mut sheet = chain(3, "(<= (above ?x ?z) (below ?x ?y) (below ?y ?z))");
    for n in 0..300 {
        sheet += &format!("(<= (p{n} ?x) (true (s ?x)) (d ?x)) (<= terminal (p{n} ?x))");
    }
    let rules = rules(&sheet);
    let ground_until = |n_calls: u32| {
        let n_asked = std::cell::Cell::new(0);
        let stop = || {
            n_asked.set(n_asked.get() + 1);
            n_asked.get() > n_calls
        };
        let result = ground(&rules, &GroundLimits::default(), &stop);
        (result, n_asked.get())
    };
    let (result, n_asked) = ground_until(u32::MAX);
    assert!(result.is_ok());
    // 600 rules are looked at every 64 rules, in clauses and in decomposition.
    assert!(n_asked > 2 * 600 / 64, "{n_asked}");
    for n_calls in (0..n_asked).step_by(5).chain(n_asked - 4..n_asked) {
        let (result, n_again) = ground_until(n_calls);
        assert!(
            matches!(result, Err(GroundError::Stopped { .. })),
            "{n_calls}"
        );
        assert_eq!(n_again, n_calls + 1, "it ends when it is told to");
    }
}
