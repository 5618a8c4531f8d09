//! `agon heuristic` as people and scripts call it.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn run(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.arg("heuristic").args(args);
    command.output().expect("the binary runs")
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("it is text")
}

fn json(args: &[&str]) -> Value {
    let output = run(&[args, &["--json"]].concat());
    assert!(output.status.success() && output.stderr.is_empty());
    serde_json::from_str(stdout(&output)).expect("it is one object")
}

fn has(list: &Value, text: &str) -> bool {
    let list = list.as_array().expect("it is a list");
    list.iter().any(|one| one == text)
}

#[test]
fn it_tells_what_scripts_rely_on() {
    let found = json(&["diagonal_tic_tac_toe", "--role", "xplayer"]);
    assert_eq!(found["game"], "diagonal_tic_tac_toe");
    assert_eq!(found["role"], "xplayer");
    assert_eq!(found["signal"], true);
    assert!(has(&found["persistent_true"], "(cell 1 1 x)"));
    assert!(has(&found["persistent_false"], "(cell 1 1 b)"));
    assert!(found["generation_ms"].is_f64() && found["nodes"].is_u64());
    let moves = found["moves"].as_array().expect("it is a list");
    let values: Vec<f64> = moves.iter().filter_map(|mv| mv["value"].as_f64()).collect();
    assert_eq!(values.len(), 9);
    assert_eq!(moves[0]["move"], "(mark 2 2)");
    assert!(values[0] > values[1] && values[4] > values[5]);
    assert!((values[1] - values[4]).abs() < 1e-12 && (values[5] - values[8]).abs() < 1e-12);
}

#[test]
fn people_see_board_formula_and_what_stays() {
    let output = run(&["diagonal_tic_tac_toe", "--move", "(mark 1 1)"]);
    let text = stdout(&output);
    assert!(
        text.contains("  52   3  52\n   3 100   3\n  52   3  52\n"),
        "{text}"
    );
    assert!(text.contains("formula of (mark 1 1)\n"), "{text}");
    assert!(
        text.contains("(true(cell(1,1,b)) ∨ true(cell(1,1,x)))"),
        "{text}"
    );
    assert!(text.contains("moves       in turn (proven)"), "{text}");
    assert!(
        text.contains("stay false  9 fluents  (cell 1 1 b)"),
        "{text}"
    );
}

#[test]
fn a_state_comes_from_a_list_of_moves() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("heuristic_moves");
    std::fs::write(
        &path,
        "(mark 2 2) noop\nnoop (mark 1 2)\n(mark 1 1) noop\nnoop (mark 2 1)\n",
    )
    .expect("the file can be written");
    let path = path.to_str().expect("it is text");
    let found = json(&["diagonal_tic_tac_toe", "--moves", path]);
    assert_eq!(found["moves"][0]["move"], "(mark 3 3)");
    assert!(found["moves"][0]["value"].as_f64() > Some(0.9));
    // The other role can only wait.
    let found = json(&["diagonal_tic_tac_toe", "--moves", path, "--role", "oplayer"]);
    assert_eq!(found["moves"].as_array().map(Vec::len), Some(1));
}

#[test]
fn what_gets_no_heuristic_is_declined() {
    let output = run(&["othello", "--limit", "0", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let found: Value = serde_json::from_str(stdout(&output)).expect("it is one object");
    assert_eq!(found["signal"], false);
    assert_eq!(found["reason"], "there was not enough time to build it");
    for args in [
        ["tic_tac_toe", "--role", "nobody"],
        ["tic_tac_toe", "--move", "(mark 9 9)"],
    ] {
        assert_eq!(run(&args).status.code(), Some(2), "{args:?}");
    }
}
