//! `agon train` and `agon models`: models that can be had again, trainings that go on, and files that are refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.args(args).env("AGON_MODELS", folder("models"));
    command
}

fn agon(args: &[&str]) -> Output {
    command(args).output().expect("the binary runs")
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("train")
        .join(name);
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Trains tic-tac-toe into a new file.
fn train(name: &str, more: &[&str]) -> PathBuf {
    let path = folder("files").join(name);
    let file = path.to_string_lossy().into_owned();
    let mut args = vec![
        "train",
        "tic_tac_toe",
        "--positions",
        "9000",
        "--threads",
        "1",
    ];
    args.extend([
        "--no-matches",
        "--fresh",
        "--simulations",
        "16",
        "--model",
        &file,
    ]);
    args.extend(more);
    let output = agon(&args);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    path
}

#[test]
fn the_same_seed_gives_the_same_file_on_every_path() {
    let first = fs::read(train("first.model", &[])).expect("it is there");
    let portable = train("portable.model", &["--simd", "portable", "--no-jit"]);
    assert_eq!(first, fs::read(portable).expect("it is there"));
    let other = train("other.model", &["--seed", "2"]);
    assert_ne!(first, fs::read(other).expect("it is there"));
}

#[test]
fn a_player_goes_by_its_model_and_refuses_others() {
    let path = train("player.model", &[]);
    let player = format!("agon:model={}", path.display());
    let output = agon(&[
        "match",
        "tic_tac_toe",
        &player,
        "random",
        "--playouts",
        "50",
        "--seed",
        "1",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let search = [
        "search",
        "tic_tac_toe",
        "--player",
        &player,
        "--playouts",
        "200",
        "--json",
    ];
    let output = agon(&search);
    let found: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert!(
        found["playouts"].as_u64().is_some_and(|n| n >= 100),
        "{found}"
    );

    let output = agon(&["match", "connect_four", &player, "--playouts", "50"]);
    assert_eq!(output.status.code(), Some(2));
    let error = text(&output.stderr);
    assert!(
        error.contains("the model was trained for other rules"),
        "{error}"
    );

    let mut bytes = fs::read(&path).expect("it is there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let damaged = path.with_file_name("damaged.model");
    fs::write(&damaged, &bytes).expect("it can be written");
    let player = format!("agon:model={}", damaged.display());
    let output = agon(&["match", "tic_tac_toe", &player, "--playouts", "50"]);
    assert_eq!(output.status.code(), Some(2));
    let error = text(&output.stderr);
    assert!(error.contains("the model file is damaged"), "{error}");

    let output = agon(&["match", "tic_tac_toe", "agon:model=nowhere.model"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("model=nowhere.model: it cannot be read"));
}

#[test]
fn a_training_that_was_killed_goes_on() {
    let path = folder("files").join("killed.model");
    let checkpoint = folder("files").join("killed.model.checkpoint");
    let file = path.to_string_lossy().into_owned();
    let args = [
        "train",
        "tic_tac_toe",
        "--positions",
        "100000000",
        "--threads",
        "1",
        "--no-matches",
        "--model",
        &file,
        "--simulations",
        "8",
        "--checkpoint-every",
        "0.1",
    ];
    let _ = fs::remove_file(&checkpoint);
    // Whenever it is killed, what was written last is whole, and the next one goes on from there.
    for round in 0..6_u64 {
        let mut child = command(&args)
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("the binary runs");
        while !checkpoint.exists() {
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(Duration::from_millis(round * 67 % 200));
        child.kill().expect("it runs");
        child.wait().expect("it ends");
    }
    let output = agon(&[
        "train",
        "tic_tac_toe",
        "--positions",
        "2000",
        "--threads",
        "1",
        "--no-matches",
        "--model",
        &file,
    ]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    assert!(error.contains("going on after"), "{error}");
    assert!(path.exists() && !checkpoint.exists());

    fs::write(&checkpoint, b"nonsense").expect("it can be written");
    let output = agon(&[
        "train",
        "tic_tac_toe",
        "--positions",
        "2000",
        "--no-matches",
        "--model",
        &file,
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("is not a checkpoint"));
    fs::remove_file(&checkpoint).expect("it is there");
}

#[test]
fn the_folder_lists_models_and_what_they_think() {
    let output = agon(&[
        "train",
        "nim",
        "--positions",
        "3000",
        "--threads",
        "1",
        "--no-matches",
        "--fresh",
        "--json",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let last = text(&output.stdout);
    let last: Value = serde_json::from_str(last.lines().last().expect("it prints")).expect("JSON");
    assert_eq!(last["use"], "alone");
    let output = agon(&["models", "--json"]);
    let listed = text(&output.stdout);
    let models: Vec<Value> = listed
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let nim = models.iter().find(|model| model["game"] == "nim");
    let nim = nim.expect("it is listed");
    assert!(nim["bytes"].as_u64().is_some_and(|n| n < 300_000), "{nim}");
    let output = agon(&["train", "nim", "--report", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["roles"].as_array().map(Vec::len), Some(2));
}

#[test]
fn what_comes_with_the_program_is_listed_and_used() {
    let output = agon(&["models", "--json"]);
    let listed = text(&output.stdout);
    let models = listed.lines().map(serde_json::from_str);
    let models: Vec<Value> = models.map(|model| model.expect("JSON")).collect();
    let shipped: Vec<&Value> = models
        .iter()
        .filter(|model| model["origin"] == "shipped")
        .collect();
    let breakthrough = shipped.iter().find(|model| model["game"] == "breakthrough");
    let breakthrough = breakthrough.expect("it comes with the program");
    assert!(breakthrough["file"].is_null() && breakthrough["record"]["seed"] == "1");
    let network = |player: &str| {
        let search = ["search", "breakthrough", "--player", player];
        let limits = ["--playouts", "300", "--seed", "1", "--json"];
        let output = agon(&[&search[..], &limits[..]].concat());
        let found: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        (
            found["best"].clone(),
            found["techniques"]["network"].clone(),
        )
    };
    let (best, with) = network("agon");
    assert_eq!(
        (&with["origin"], &with["use"]),
        (&"shipped".into(), &"alone".into()),
        "{with}"
    );
    assert_eq!(network("agon").0, best, "a seed gives the same again");
    assert!(network("agon:model=none").1.is_null());
    assert!(network("cadia-2012").1.is_null());
}

#[test]
fn games_without_a_network_are_declined() {
    let output = agon(&["train", "eight_puzzle", "--time", "2s"]);
    assert_eq!(output.status.code(), Some(2));
    let error = text(&output.stderr);
    assert!(error.contains("it is played without a network"), "{error}");
    let output = agon(&["train", "tic_tac_toe", "--time", "0"]);
    assert_eq!(output.status.code(), Some(2));
}
