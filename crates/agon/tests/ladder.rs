//! `agon ladder` as a process: ratings of levels and players, runs that are stopped, players that are not there.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// A small ladder with a store of this name.
fn ladder(store: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.args(["ladder", "tic_tac_toe", "--json", "--threads", "1"]);
    command.args(["--level-matches", "10", "--most-playouts", "16", "--n", "6"]);
    command.arg("--store").arg(store).args(args);
    command
}

fn store(name: &str) -> PathBuf {
    let path = env::temp_dir().join(format!("agon-ladder-{}-{name}.sqlite", std::process::id()));
    remove(&path);
    path
}

fn remove(store: &Path) {
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{end}", store.display()));
    }
}

fn json(output: &Output) -> Value {
    let error = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("it is JSON: {error}"))
}

#[test]
fn levels_alone_have_ratings_and_a_player_that_is_not_there_has_none() {
    let path = store("absent");
    let output = ladder(&path, &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let alone = json(&output);
    let levels = alone["levels"].as_array().unwrap();
    assert_eq!(levels[0]["elo"], 0.0);
    for level in &levels[1..] {
        assert!(
            level["elo"].is_number() && level["plusMinus"].as_f64().unwrap() > 0.0,
            "{level}"
        );
    }
    // Nobody listens at this port: the ratings of the levels are told, and that matches are missing.
    let output = ladder(&path, &["http://127.0.0.1:9"]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("start the player"), "{error}");
    let absent = json(&output);
    assert_eq!(absent["levels"], alone["levels"]);
    assert!(
        absent["elo"].is_null() && absent["matches"] == 0,
        "{absent}"
    );
    remove(&path);
}

#[test]
fn a_run_that_was_killed_goes_on_and_ends_like_one_that_was_not() {
    let (whole, broken) = (store("whole"), store("broken"));
    let expected = json(&ladder(&whole, &["greedy"]).output().unwrap());
    assert_eq!(expected["matches"], 6);
    let mut child = ladder(&broken, &["greedy"]).spawn().unwrap();
    // Wherever it is: what is in the store stays, and the rest is played.
    for _ in 0..1_000 {
        let log = fs::metadata(format!("{}-wal", broken.display()));
        if log.is_ok_and(|log| log.len() > 100_000) || child.try_wait().unwrap().is_some() {
            break;
        }
        thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let output = ladder(&broken, &["greedy"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(json(&output), expected);
    remove(&whole);
    remove(&broken);
}

#[test]
fn bad_stores_and_bad_results_are_told_with_their_place() {
    let path = store("bad");
    fs::write(&path, "this is no store").unwrap();
    let output = ladder(&path, &["greedy"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("agon-ladder"));
    remove(&path);
    let results = path.with_extension("jsonl");
    let run = |lines: &str| {
        fs::write(&results, lines).unwrap();
        let results = results.display().to_string();
        let output = ladder(&path, &["me", "--results", &results])
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), error, output)
    };
    let good = "{\"level\": \"greedy\", \"score\": 0.5, \"more\": [1]}\n";
    for (bad, why) in [
        ("{\"level\": \"greedy\", \"sc", "not JSON"),
        ("{\"level\": \"mc@3\", \"score\": 1}", "is not a level"),
        ("{\"level\": \"greedy\", \"score\": 2}", "from 0 to 1"),
        ("{\"level\": \"greedy\", \"score\": \"1\"}", "from 0 to 1"),
        ("[]", "is not a level"),
    ] {
        let (code, error, _) = run(&format!("{good}\n{bad}\n"));
        assert_eq!(code, Some(2), "{bad}");
        assert!(
            error.contains(":3: ") && error.contains(why),
            "{bad}: {error}"
        );
    }
    let (code, _, output) = run(good);
    assert_eq!(
        (code, &json(&output)["matches"]),
        (Some(0), &Value::from(1))
    );
    // Without a match there is no rating of the player, and those of the levels stay.
    let (code, _, output) = run("");
    let report = json(&output);
    assert_eq!(code, Some(0));
    assert!(
        report["elo"].is_null() && report["levels"][2]["elo"].is_number(),
        "{report}"
    );
    let _ = fs::remove_file(results);
    remove(&path);
}
