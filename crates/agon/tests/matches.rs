//! `agon match` as people and scripts call it.

#![expect(
    clippy::needless_pass_by_value,
    reason = "tests give their expectations away"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use agon_arena::{MatchRecord, replay};
use agon_engine::Game;
use expect_test::{Expect, expect};

/// A folder for one test.
fn folder(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("match_{test}"));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("the folder can be made");
    path
}

fn run(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.arg("match").args(args).current_dir(folder);
    command.output().expect("the binary runs")
}

/// Exit code, standard output and standard error.
fn check(test: &str, args: &[&str], expected: Expect) {
    let output = run(&folder(test), args);
    let mut text = format!(
        "exit {}\n",
        output.status.code().expect("it was not killed")
    );
    text.push_str(&String::from_utf8_lossy(&output.stdout));
    if !output.stderr.is_empty() {
        text.push_str("--- stderr\n");
        text.push_str(&String::from_utf8_lossy(&output.stderr));
    }
    expected.assert_eq(&text);
}

/// The record that `--json` prints, checked against the rules that it has with it.
fn record(test: &str, args: &[&str]) -> MatchRecord {
    let output = run(&folder(test), args);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let record: MatchRecord = serde_json::from_slice(&output.stdout).expect("it is a record");
    let rules = record
        .agon
        .as_ref()
        .and_then(|details| details.rules.as_ref());
    let rules = rules.expect("it has its rules");
    let rules = agon_gdl::check(&agon_gdl::parse(rules.as_bytes(), &Default::default()));
    let game = Game::compile(
        rules.expect("they are well-formed").into(),
        &Default::default(),
        &|| false,
    );
    assert_eq!(replay(&game.expect("it runs"), &record), Ok(()));
    record
}

#[test]
fn a_match_of_random_players() {
    check(
        "random",
        &["tic_tac_toe", "random", "random", "--seed", "1"],
        expect![[r#"
            exit 0
            Tic-Tac-Toe: 1 s per move, 10 s to prepare, seed 1
              x  random
              o  random

            3 . . .
            2 . . .
            1 . . .
              1 2 3

              1  x 1,3                o -
            3 X . .
            2 . . .
            1 . . .
              1 2 3

              2  x -                  o 3,3
            3 X . O
            2 . . .
            1 . . .
              1 2 3

              3  x 2,1                o -
            3 X . O
            2 . . .
            1 . X .
              1 2 3

              4  x -                  o 2,2
            3 X . O
            2 . O .
            1 . X .
              1 2 3

              5  x 1,1                o -
            3 X . O
            2 . O .
            1 X X .
              1 2 3

              6  x -                  o 3,1
            3 X . O
            2 . O .
            1 X X O
              1 2 3

              7  x 3,2                o -
            3 X . O
            2 . O X
            1 X X O
              1 2 3

              8  x -                  o 1,2
            3 X . O
            2 O O X
            1 X X O
              1 2 3

              9  x 2,3                o -
            3 X X O
            2 O O X
            1 X X O
              1 2 3


            over after 9 steps
            role  player  goal  faults
            x     random    50       0
            o     random    50       0
        "#]],
    );
}

#[test]
fn a_match_with_playouts_is_repeatable() {
    let args = [
        "connect_four",
        "mc",
        "mc:most_steps=50",
        "--playouts",
        "50",
        "--seed",
        "7",
        "--json",
        "--quiet",
    ];
    let [first, second] = ["first", "second"].map(|test| record(test, &args));
    assert_eq!(first.moves, second.moves);
    assert_eq!(first.goal_values, second.goal_values);
    let details = first.agon.expect("it is ours");
    assert_eq!(details.seats[1].player, "mc:most_steps=50");
    assert_eq!(details.seats[1].parameters["most_steps"], "50");
    assert_eq!(details.seats[0].budget.as_deref(), Some("50 playouts"));
    let thought = details.thoughts[0][0]
        .as_ref()
        .expect("the first one thinks");
    assert_eq!(
        (thought.playouts, thought.stop.as_deref()),
        (50, Some("playouts"))
    );
    assert_eq!(details.thoughts.len(), first.moves.len());
}

#[test]
fn transitions_limit_a_player_too() {
    let args = [
        "tic_tac_toe",
        "mc",
        "legal",
        "--transitions",
        "100",
        "--seed",
        "1",
        "--json",
        "--quiet",
    ];
    let record = record("transitions", &args);
    let details = record.agon.expect("it is ours");
    let thought = details.thoughts[0][0]
        .as_ref()
        .expect("the first one thinks");
    assert_eq!(
        (thought.transitions, thought.stop.as_deref()),
        (100, Some("transitions"))
    );
}

#[test]
fn a_clock_is_kept() {
    let args = ["tic_tac_toe", "--play-clock", "0.05", "--json", "--quiet"];
    let record = record("clock", &args);
    assert_eq!(record.play_clock, 0.05);
    assert_eq!(record.player_names_from_host, ["agon", "agon"]);
}

#[test]
fn the_record_is_written_and_quiet_shows_the_result_only() {
    let folder = folder("record");
    let args = [
        "tic_tac_toe",
        "legal",
        "legal",
        "--seed",
        "1",
        "--quiet",
        "--record",
        "match.json",
    ];
    let output = run(&folder, &args);
    expect![[r#"

        over after 7 steps
        role  player  goal  faults
        x     legal    100       0
        o     legal      0       0
    "#]]
    .assert_eq(&String::from_utf8_lossy(&output.stdout));
    let text = fs::read_to_string(folder.join("match.json")).expect("it was written");
    let record: MatchRecord = serde_json::from_str(&text).expect("it is a record");
    assert_eq!(record.goal_values, Some(vec![100, 0]));
    assert!(record.match_id.starts_with("agon.tic_tac_toe."));
}

#[test]
fn a_simultaneous_game_and_a_puzzle_of_ones_own() {
    let folder = folder("own");
    let fingers = "(role even) (role odd) (init start) (fingers 1) (fingers 2)
        (<= (legal ?r (show ?n)) (role ?r) (fingers ?n))
        (<= (next same) (does even ?m) (does odd ?m)) (next shown) (<= terminal (true shown))
        (<= (goal even 100) (true same)) (<= (goal even 0) (not (true same)))
        (<= (goal odd 0) (true same)) (<= (goal odd 100) (not (true same)))";
    let lamp = "(role robot) (init (lamp off)) (legal robot push) (legal robot sleep)
        (<= (next (lamp on)) (does robot push)) (<= (next asleep) (does robot sleep))
        (<= terminal (not (true (lamp off))))
        (<= (goal robot 100) (true (lamp on))) (<= (goal robot 0) (not (true (lamp on))))";
    for (name, sheet) in [("fingers.kif", fingers), ("lamp.kif", lamp)] {
        fs::write(folder.join(name), sheet).expect("it can be written");
    }
    let show = |args: &[&str]| {
        let output = run(&folder, args);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    expect![[r#"
        fingers.kif: 1 s per move, 10 s to prepare, seed 2
          even  legal
          odd   legal

          1  even 1               odd 1

        over after 1 step
        role  player  goal  faults
        even  legal    100       0
        odd   legal      0       0
    "#]]
    .assert_eq(&show(&["fingers.kif", "legal", "legal", "--seed", "2"]));
    expect![[r#"
        lamp.kif: 10 playouts per move, 10 s to prepare, seed 2
          robot  agon

          1  robot push            robot expects 100 by 0 playouts

        over after 1 step
        role   player  goal  faults
        robot  agon     100       0
    "#]]
    .assert_eq(&show(&["lamp.kif", "--playouts", "10", "--seed", "2"]));
}

#[test]
fn a_game_that_cannot_go_on_is_not_good() {
    let folder = folder("stuck");
    let sheet = "(role a) (init x) (<= (legal a go) (true x)) (<= (next y) (does a go)) (goal a 50)
        (<= terminal (true z)) (<= (next z) (true z))";
    fs::write(folder.join("stuck.kif"), sheet).expect("it can be written");
    let output = run(&folder, &["stuck.kif", "legal", "--quiet"]);
    assert_eq!(output.status.code(), Some(1));
    expect![[r#"

        a has no legal move after 1 step
        role  player  goal  faults
        a     legal      -       0
        no goals: the match did not reach a terminal state
    "#]]
    .assert_eq(&String::from_utf8_lossy(&output.stdout));
}

#[test]
fn wrong_calls_are_told() {
    check(
        "three",
        &["tic_tac_toe", "random", "random", "random"],
        expect![[r#"
            exit 2
            --- stderr
            agon: tic_tac_toe has 2 roles, but 3 players are given
        "#]],
    );
    check(
        "unknown",
        &["tic_tac_toe", "deep_blue"],
        expect![[r#"
            exit 2
            --- stderr
            agon: there is no player `deep_blue`; `agon params --presets` lists them all
        "#]],
    );
    check(
        "parameter",
        &["tic_tac_toe", "mc:depth=3"],
        expect![[r#"
            exit 2
            --- stderr
            agon: there is no parameter `depth`; `agon params` lists them all
        "#]],
    );
    check(
        "game",
        &["no_such_game"],
        expect![[r#"
            exit 2
            --- stderr
            agon: there is no file and no built-in game called `no_such_game`; `agon games` lists the built-in games
        "#]],
    );
    check(
        "path",
        &["tic_tac_toe", "--record", "no/such/folder.json"],
        expect![[r#"
            exit 2
            --- stderr
            agon: cannot write no/such/folder.json: No such file or directory (os error 2)
        "#]],
    );
    for args in [
        &["tic_tac_toe", "--play-clock", "0"][..],
        &["tic_tac_toe", "--play-clock", "1", "--playouts", "5"],
        &["tic_tac_toe", "--playouts", "0"],
    ] {
        assert_eq!(
            run(&folder("clap"), args).status.code(),
            Some(2),
            "{args:?}"
        );
    }
}

#[test]
fn several_records_are_replayed_at_once() {
    let folder = folder("several");
    for (file, seed) in [("one.json", "1"), ("two.json", "2")] {
        let args = [
            "tic_tac_toe",
            "random",
            "random",
            "--seed",
            seed,
            "--record",
            file,
        ];
        assert_eq!(run(&folder, &args).status.code(), Some(0));
    }
    let text = fs::read_to_string(folder.join("two.json")).expect("it was written");
    let mut record: serde_json::Value = serde_json::from_str(&text).expect("it is a record");
    record["moves"][0][0] = "(mark 9 9)".into();
    fs::write(folder.join("three.json"), record.to_string()).expect("it can be written");
    let replay = |files: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
        command.arg("replay").args(files).arg("--json");
        let output = command.current_dir(&folder).output().expect("it runs");
        let lines = String::from_utf8(output.stdout).expect("it is text");
        let valid = lines.lines().map(|line| line.contains(r#""valid":true"#));
        (output.status.code(), valid.collect::<Vec<bool>>())
    };
    assert_eq!(
        replay(&["one.json", "two.json"]),
        (Some(0), vec![true, true])
    );
    let all = replay(&["one.json", "three.json", "two.json"]);
    assert_eq!(all, (Some(1), vec![true, false, true]));
}
