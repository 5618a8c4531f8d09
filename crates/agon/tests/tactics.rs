//! `agon bench --tactics` as people and scripts call it.

use std::process::{Command, Output};

use serde_json::Value;

fn agon(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.args(args).output().expect("the binary runs")
}

fn stdout(output: &Output) -> &str {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    std::str::from_utf8(&output.stdout).expect("it is text")
}

const CALL: [&str; 6] = [
    "bench",
    "--tactics",
    "Connect-Four",
    "quarto",
    "--playouts",
    "300",
];

#[test]
fn json_has_counts_by_game_and_every_position() {
    let output = agon(&[&CALL[..], &["--json", "--seed", "3"]].concat());
    let found: Value = serde_json::from_str(stdout(&output)).expect("it is one object");
    assert!(output.stderr.is_empty(), "{output:?}");
    let count = |value: &Value| value.as_u64().expect("it is a count");
    let by_game = found["by_game"].as_object().expect("it has games");
    let games: Vec<&String> = by_game.keys().collect();
    assert_eq!(games, ["connect_four", "quarto"]);
    for key in ["solved", "positions"] {
        let sum: u64 = by_game.values().map(|game| count(&game[key])).sum();
        assert_eq!(count(&found[key]), sum, "{key}");
    }
    let results = found["results"].as_array().expect("it has positions");
    assert_eq!(results.len() as u64, count(&found["positions"]));
    let solved = results.iter().filter(|result| result["solved"] == true);
    assert_eq!(solved.count() as u64, count(&found["solved"]));
    for result in results {
        let right = result["right"].as_array().expect("it has right moves");
        let is_right = right.contains(&result["played"]);
        assert_eq!(result["solved"], is_right, "{result}");
    }
    assert_eq!(found["player"], "agon:threads=1");
    // A limit in playouts makes it repeatable, but for the time.
    let again = agon(&[&CALL[..], &["--json", "--seed", "3"]].concat());
    let again: Value = serde_json::from_str(stdout(&again)).expect("it is one object");
    assert_eq!(found["by_game"], again["by_game"]);
}

#[test]
fn people_get_a_table_and_what_went_wrong() {
    let output = agon(&[&CALL[..], &["--player", "legal"]].concat());
    let shown = stdout(&output);
    assert!(
        shown.starts_with("game          solved  positions\n"),
        "{shown}"
    );
    assert!(shown.contains("\nlegal:threads=1 solves "), "{shown}");
    assert!(shown.contains(": played "), "{shown}");
    assert!(shown.contains(", right is "), "{shown}");
}

#[test]
fn wrong_calls_say_what_is_wrong() {
    for (args, words) in [
        (
            &["bench", "--tactics", "nim"][..],
            "there are no positions of `nim`",
        ),
        (&["bench", "--tactics", "--player", "nobody"], "nobody"),
        (&["bench", "--time", "1"], "--tactics"),
        (
            &["bench", "--tactics", "--time", "1", "--playouts", "1"],
            "cannot be used with",
        ),
    ] {
        let output = agon(args);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(errors.contains(words), "{errors}");
    }
}
