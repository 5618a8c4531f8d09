//! The interpreter on small games: given rules and joint moves, the contents of each state.

use std::fmt::Write;
use std::sync::Arc;

use agon_engine::interpreter::{Limits, Resource};
use agon_engine::{Interpreter, InterpreterError, JointMove, Machine, RoleId};
use expect_test::{Expect, expect};

fn interpreter(sheet: &str) -> Arc<Interpreter> {
    let description = agon_gdl::parse(sheet.as_bytes(), &agon_gdl::Limits::default());
    let rules = agon_gdl::check(&description).unwrap_or_else(|findings| {
        panic!(
            "{:?}",
            findings
                .iter()
                .map(|finding| &finding.message)
                .collect::<Vec<_>>()
        )
    });
    let limits = Limits {
        steps: 3_000_000,
        tuples: 200_000,
        terms: 300_000,
    };
    Arc::new(
        Interpreter::with_limits(Arc::new(rules), limits)
            .expect("the initial state can be derived"),
    )
}

/// Makes joint moves, each a comma-separated list of one move per role, and prints every state.
fn check(sheet: &str, joint_moves: &[&str], expected: &Expect) {
    let interpreter = interpreter(sheet);
    let mut machine = interpreter.machine();
    let mut text = show(&interpreter, &mut machine);
    for joint in joint_moves {
        let moves = joint.split(',').map(|name| {
            interpreter
                .find_move(name)
                .expect("the text is a move of the game")
        });
        machine.advance(&JointMove::new(moves));
        let _ = writeln!(text, "-- {joint}");
        text.push_str(&show(&interpreter, &mut machine));
    }
    expected.assert_eq(&text);
}

fn show(interpreter: &Interpreter, machine: &mut dyn Machine) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "state: {}",
        interpreter.fluents(&machine.state()).join(" ")
    );
    for role in interpreter.roles() {
        let mut legal: Vec<String> = machine
            .legal_moves(role)
            .iter()
            .map(|&move_id| interpreter.move_text(move_id))
            .collect();
        legal.sort_unstable();
        let goal = machine
            .goal(role)
            .map_or("none".to_owned(), |goal| goal.to_string());
        let goals = machine.goals(role).join(" ");
        let _ = writeln!(
            text,
            "legal {}: {}; goal: {goal} of [{goals}]",
            role.0,
            legal.join(" ")
        );
    }
    if machine.is_terminal() {
        text.push_str("terminal\n");
    }
    if let Some(fault) = machine.take_fault() {
        let _ = writeln!(text, "fault: {fault}");
    }
    text
}

/// The facts that hold in the initial state, shown as moves of a game that ends at once.
fn check_derived(rules: &str, shown: &str, expected: &Expect) {
    let sheet =
        format!("(role r) (goal r 0) (<= terminal (true stop)) (<= (legal r ?m) {shown})\n{rules}");
    let interpreter = interpreter(&sheet);
    let mut machine = interpreter.machine();
    let mut legal: Vec<String> = machine
        .legal_moves(RoleId(0))
        .iter()
        .map(|&move_id| interpreter.move_text(move_id))
        .collect();
    legal.sort_unstable();
    match machine.take_fault() {
        Some(fault) => expected.assert_eq(&fault.to_string()),
        None => expected.assert_eq(&legal.join(" ")),
    }
}

#[test]
fn simultaneous_moves_determine_the_next_state() {
    check(
        "(role even) (role odd) (choice heads) (choice tails)
         (<= (legal ?r (show ?c)) (role ?r) (choice ?c) (not over))
         (<= (next (shown ?r ?c)) (does ?r (show ?c)))
         (<= over (true (shown even ?c)))
         (<= terminal over)
         (<= (goal even 100) (true (shown even ?c)) (true (shown odd ?c)))
         (<= (goal even 0) (true (shown even ?c)) (true (shown odd ?d)) (distinct ?c ?d))
         (<= (goal odd 100) (goal even 0))
         (<= (goal odd 0) (goal even 100))",
        &["(show heads),(show tails)"],
        &expect![[r#"
            state: 
            legal 0: (show heads) (show tails); goal: none of []
            legal 1: (show heads) (show tails); goal: none of []
            -- (show heads),(show tails)
            state: (shown even heads) (shown odd tails)
            legal 0: ; goal: 0 of [0]
            legal 1: ; goal: 100 of [100]
            terminal
        "#]],
    );
}

#[test]
fn invalid_goals_are_all_listed() {
    check(
        "(role a) (role b) (role c) (legal a go) (<= terminal (true over))
         (goal a 0) (goal a 50) (value many) (<= (goal b ?v) (value ?v)) (<= (goal c 10) (true over)) (<= (next over) (does a go))",
        &["go,go,go"],
        &expect![[r#"
            state: 
            legal 0: go; goal: none of [0 50]
            legal 1: ; goal: none of [many]
            legal 2: ; goal: none of []
            -- go,go,go
            state: over
            legal 0: go; goal: none of [0 50]
            legal 1: ; goal: none of [many]
            legal 2: ; goal: 10 of [10]
            terminal
        "#]],
    );
}

#[test]
fn recursion_over_the_state_works_in_any_direction() {
    let rules = "(init (road a b)) (init (road b c)) (init (road c a)) (init (road d a))
        (<= (left ?x ?y) (true (road ?x ?y))) (<= (left ?x ?z) (left ?x ?y) (true (road ?y ?z)))
        (<= (right ?x ?y) (true (road ?x ?y))) (<= (right ?x ?z) (true (road ?x ?y)) (right ?y ?z))
        (<= (both ?x ?y) (true (road ?x ?y))) (<= (both ?x ?z) (both ?x ?y) (both ?y ?z))
        (<= (odd ?x ?y) (true (road ?x ?y))) (<= (odd ?x ?z) (true (road ?x ?y)) (even ?y ?z))
        (<= (even ?x ?z) (true (road ?x ?y)) (odd ?y ?z))";
    check_derived(rules, "(left d ?m)", &expect!["a b c"]);
    check_derived(rules, "(right d ?m)", &expect!["a b c"]);
    check_derived(rules, "(right ?m d)", &expect![""]);
    check_derived(rules, "(both b ?m)", &expect!["a b c"]);
    check_derived(rules, "(both ?m b) (not (both ?m ?m))", &expect!["d"]);
    check_derived(rules, "(even ?m b) (odd ?m b)", &expect!["a b c d"]);
}

#[test]
fn negation_may_come_first_and_needs_only_the_call_to_be_stratified() {
    let rules = "(init (pile 5)) (before 0 1) (before 1 2) (before 2 3) (before 3 4) (before 4 5)
        (<= (less ?x ?y) (before ?x ?y)) (<= (less ?x ?z) (before ?x ?y) (less ?y ?z))
        (<= (won ?x) (not (won ?y)) (step ?x ?y)) (<= (step ?x ?y) (before ?y ?x))
        (<= (step ?x ?z) (before ?y ?x) (before ?z ?y) (true (pile ?p)))";
    check_derived(rules, "(won ?m)", &expect!["1 2 4 5"]);
}

#[test]
fn calls_in_a_negative_cycle_are_as_bound_as_possible() {
    // A call for all `p` at once in the rule for `r` would make `p` depend on its own negation.
    let rules = "(init on) (q 2 1) (q 3 2) (s 2 2) (s 1 0) (s 1 3)
        (<= (p ?x) (q ?x ?y) (true on) (not (r ?y))) (<= (r ?y) (p ?z) (s ?y ?z) (true on) (distinct ?z 3))";
    check_derived(rules, "(p ?m)", &expect!["2"]);
    check_derived(rules, "(r ?m)", &expect!["2"]);
}

#[test]
fn a_negative_loop_is_an_error_and_the_machine_stays_usable() {
    check(
        "(role r) (legal r go) (init (road a a)) (<= terminal (true two))
         (<= (goal r 100) (won a)) (<= (goal r 0) (not (won a))) (<= (next (road a b)) (does r go))
         (<= (won ?x) (true (road ?x ?y)) (not (won ?y)))",
        &["go"],
        &expect![[r#"
            state: (road a a)
            legal 0: go; goal: none of []
            fault: the negation in the rule on line 3 depends on its own result
            -- go
            state: (road a b)
            legal 0: go; goal: 100 of [100]
        "#]],
    );
}

#[test]
fn alternatives_may_nest_and_use_variables_bound_outside() {
    let rules = "(n 1) (n 2) (n 3) (n 4) (e 1 2) (e 2 3) (e 4 4) (init (at 2))";
    let or = "(or (e 3 ?m) (and (n ?m) (or (true (at ?m)) (not (distinct ?m 1)) (and (e ?m ?m) (not (e ?m 1))))))";
    check_derived(rules, or, &expect!["1 2 4"]);
    check_derived(
        rules,
        "(n ?m) (or (distinct ?m 1) (true (at 1))) (or (not (e ?m ?m)) (e 1 ?m))",
        &expect!["2 3"],
    );
    // Each alternative of one `or` binds what an alternative of the other needs.
    check_derived(
        rules,
        "(or (e ?m ?m) (and (e ?m ?y) (not (e 1 4)))) (or (true (at ?y)) (e ?m ?y))",
        &expect!["1 2 4"],
    );
    check_derived(rules, "(n ?m) (or)", &expect![""]);
}

#[test]
fn equality_binds_and_destructures_terms() {
    let rules = "(init (pair (f a b) (f b b))) (init (pair c c))";
    check_derived(
        rules,
        "(true (pair ?x ?z)) (not (distinct ?x (f ?m ?y)))",
        &expect!["a"],
    );
    check_derived(
        rules,
        "(true (pair (f ?x ?y) ?z)) (not (distinct (g ?x ?z) (g a (f ?y ?m))))",
        &expect!["b"],
    );
    check_derived(
        rules,
        "(true ?f) (not (distinct (h ?m) (h ?f)))",
        &expect!["(pair (f a b) (f b b)) (pair c c)"],
    );
}

#[test]
fn brackets_and_arity_are_significant() {
    let rules = "(init (f)) (init (g (f) f)) (p a) (p a b) (q) (<= (p c) (p ?x ?y))";
    check_derived(rules, "(true ?m)", &expect!["(f) (g (f) f)"]);
    check_derived(rules, "(true (g ?m ?m))", &expect![""]);
    check_derived(rules, "(true f) (p ?m)", &expect![""]);
    check_derived(rules, "(true (f)) (p ?m) q", &expect!["a c"]);
    check_derived(
        rules,
        "(p ?m) (not (unknown ?m)) (not (true (unheard of)))",
        &expect!["a c"],
    );
    check_derived(rules, "(p ?m) (unknown ?m)", &expect![""]);
}

#[test]
fn recursion_destructures_terms() {
    let rules = "(init (word (cons a (cons b (cons c nil)))))
        (<= (suffix ?w) (true (word ?w))) (<= (suffix ?w) (suffix (cons ?x ?w)))";
    check_derived(rules, "(suffix (cons ?m ?w))", &expect!["a b c"]);
    check_derived(
        rules,
        "(suffix ?m) (not (distinct ?m (cons ?x nil)))",
        &expect!["(cons c nil)"],
    );
}

#[test]
fn a_long_chain_needs_no_deep_stack() {
    let mut rules = String::from("(init (from 0))\n");
    for number in 0..20_000 {
        let _ = writeln!(rules, "(after {number} {})", number + 1);
    }
    rules.push_str(
        "(<= (reached ?y) (true (from ?y))) (<= (reached ?y) (reached ?x) (after ?x ?y))",
    );
    check_derived(&rules, "(reached 20000) (after ?m 1)", &expect!["0"]);
}

#[test]
fn unneeded_values_are_not_enumerated() {
    let mut rules = String::from("(init (at 7))\n");
    for number in 0..30 {
        let _ = writeln!(rules, "(d {number})");
    }
    rules.push_str(
        "(<= (big ?a ?b ?c ?d ?e ?f ?g ?h) (d ?a) (d ?b) (d ?c) (d ?d) (d ?e) (d ?f) (d ?g) (d ?h))
         (<= (huge ?a ?b ?c ?d ?e) (true (at ?a)) (d ?b) (d ?c) (d ?d) (d ?e))",
    );
    check_derived(
        &rules,
        "(big ?m ?b ?c ?d ?e ?f ?g ?h) (true (at ?m))",
        &expect!["7"],
    );
    check_derived(&rules, "(huge ?m ?b ?c ?d ?e)", &expect!["7"]);
    check_derived(
        &rules,
        "(big 1 ?b ?c ?d 5 ?f ?m ?h) (not (distinct ?m 3))",
        &expect!["3"],
    );
}

#[test]
fn a_hostile_query_exceeds_its_limits() {
    let mut rules = String::from("(init (at 7))\n");
    for number in 0..60 {
        let _ = writeln!(rules, "(d {number})");
    }
    check_derived(
        &rules,
        "(d ?a) (d ?b) (d ?c) (d ?e) (true (at 7)) (not (distinct ?m (t ?a ?b ?c ?e)))",
        &expect![
            "the interpreter exceeded its limit on derived facts while evaluating the rule on line 1"
        ],
    );
    // Ten pigeons, nine holes.
    let rules: String = (1..10).map(|hole| format!("(hole {hole})")).collect();
    let mut pigeons = String::from("(true ?m)");
    for pigeon in 0..10 {
        let _ = write!(pigeons, "(hole ?p{pigeon})");
        (0..pigeon).for_each(|other| _ = write!(pigeons, "(distinct ?p{pigeon} ?p{other})"));
    }
    check_derived(
        &format!("(init here) {rules}"),
        &pigeons,
        &expect![
            "the interpreter exceeded its limit on inference steps while evaluating the rule on line 1"
        ],
    );
}

#[test]
fn the_error_names_the_exceeded_limit() {
    let error = InterpreterError::Budget {
        line: 3,
        resource: Resource::Terms,
    };
    assert_eq!(
        error.to_string(),
        "the interpreter exceeded its limit on different terms while evaluating the rule on line 3"
    );
}

#[test]
fn moves_are_found_in_upper_case() {
    let interpreter = interpreter(
        "(role r) (goal r 0) (<= terminal (true x)) (legal r (Mark 1 b)) (legal r noop)",
    );
    let text = |peer| {
        interpreter
            .find_move(peer)
            .map(|move_id| interpreter.move_text(move_id))
    };
    assert_eq!(text("(MARK 1 B)").as_deref(), Some("(Mark 1 b)"));
    assert_eq!(text("NOOP").as_deref(), Some("noop"));
    assert_eq!(text("(mark 1)"), None);
}

/// States and moves have the same meaning on all threads, whichever thread created them.
#[test]
fn machines_of_one_interpreter_agree() {
    let interpreter = interpreter(
        "(role r) (init (word nil)) (letter a) (letter b) (goal r 0) (<= terminal (true (word (c a (c b ?w)))))
         (<= (legal r (add ?l)) (letter ?l)) (<= (next (word (c ?l ?w))) (does r (add ?l)) (true (word ?w)))",
    );
    let play = |letters: &str| {
        let mut machine = interpreter.machine();
        for letter in letters.chars() {
            let add = interpreter
                .find_move(&format!("(add {letter})"))
                .expect("a move");
            machine.advance(&JointMove::new([add]));
        }
        machine.state()
    };
    std::thread::scope(|scope| {
        let one = scope.spawn(|| (play("aababba"), play("bbb")));
        let other = scope.spawn(|| (play("bbbb"), play("aababba"), play("bbb")));
        let (one, other) = (one.join().expect("plays"), other.join().expect("plays"));
        assert_eq!((&one.0, &one.1), (&other.1, &other.2));
        let mut machine = interpreter.machine();
        machine.load(&other.0);
        assert_eq!(
            interpreter.fluents(&machine.state()),
            ["(word (c b (c b (c b (c b nil)))))"]
        );
    });
}
