//! What commands say about results that are missing, files that are not theirs, and players that cannot be run again.

mod playing;

use std::fs;
use std::path::Path;
use std::process::Output;

use agon_tournament::Store;
use playing::{empty_folder, run};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    fs::write(folder.join(name), bytes).expect("it can be written");
}

#[test]
fn bench_says_that_a_sheet_does_not_ground() {
    let folder = empty_folder("truth_bench");
    let numbers: String = (0..100).map(|number| format!("(n {number}) ")).collect();
    let sheet = format!(
        "{numbers} (role a) (init (step 0)) (<= (legal a (go ?x ?y ?z ?u)) (n ?x) (n ?y) (n ?z) (n ?u))
         (<= (next (step 1)) (does a (go ?x ?x ?x ?x))) (goal a 50) (<= terminal (true (step 1)))"
    );
    write(&folder, "vast.kif", sheet);
    let bench = |engine| {
        let args = ["bench", "vast.kif", "--json", "--engine", engine];
        let limits = ["--seconds", "0.1", "--setup-limit", "0.5", "--setup-only"];
        run(&folder, &[&args[..], &limits].concat())
    };
    for engine in ["scalar", "lanes"] {
        let output = bench(engine);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let row: serde_json::Value =
            serde_json::from_slice(&output.stdout).expect("it is one line of JSON");
        assert_eq!(row["grounds"], false, "{row}");
        assert!(row["error"].is_string(), "{row}");
    }
    assert_eq!(bench("interpreter").status.code(), Some(0));
}

/// An error names the file once, and the file is as it was.
fn check_refused(folder: &Path, file: &str, args: &[&str]) {
    let before = fs::read(folder.join(file)).ok();
    let output: Output = run(folder, &[&["report", file], args].concat());
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{file} {args:?}: {error}");
    assert_eq!(error.matches(file).count(), 1, "{args:?}: {error}");
    assert_eq!(fs::read(folder.join(file)).ok(), before, "{file} {args:?}");
    let is_new = |suffix: &str| folder.join(format!("{file}{suffix}")).exists();
    assert!(!is_new("-journal") && !is_new("-wal"), "{file} {args:?}");
}

#[test]
fn report_writes_only_into_its_store() {
    let folder = empty_folder("truth_report");
    drop(Store::open(&folder.join("own.sqlite")).expect("it can be made"));
    let mut foreign = fs::read(folder.join("own.sqlite")).expect("it was made");
    // The version of the tables: a database of another program has none.
    foreign[60..64].fill(0);
    write(&folder, "foreign.sqlite", foreign);
    write(&folder, "notes.txt", "these are not results\n");
    write(&folder, "void.sqlite", "");
    write(&folder, "cut.sqlite", "SQLite format 3\0and nothing else");
    write(&folder, "none.jsonl", "");
    fs::create_dir(folder.join("folder.d")).expect("it can be made");
    for file in [
        "foreign.sqlite",
        "notes.txt",
        "cut.sqlite",
        "folder.d",
        "absent",
    ] {
        check_refused(&folder, file, &[]);
    }
    for file in ["foreign.sqlite", "notes.txt", "cut.sqlite", "folder.d"] {
        check_refused(&folder, file, &["--import", "own.sqlite"]);
    }
    for file in ["own.sqlite", "void.sqlite"] {
        let output = run(&folder, &["report", file]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    let void = fs::read(folder.join("void.sqlite")).expect("it is there");
    assert!(void.is_empty(), "nothing is written into it");
    let output = run(&folder, &["report", "new.sqlite", "--import", "own.sqlite"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn a_match_without_goals_says_why() {
    let folder = empty_folder("truth_goals");
    let frame = "(role a) (role b) (init s) (legal a go) (legal b go) (<= (next t) (true s)) (<= terminal (true t))";
    let check = |goals: &str, expected: &[&str]| {
        write(&folder, "game.kif", format!("{frame} {goals}"));
        let output = run(&folder, &["match", "game.kif", "legal", "legal", "--quiet"]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let shown = text(&output.stdout);
        for line in expected {
            assert!(shown.contains(line), "{shown}");
        }
    };
    check(
        "(goal a 0) (goal a 100) (<= (goal b 50) (true s))",
        &[
            "no goals: the rules give a several goals: 0, 100",
            "no goals: no rule gives b a goal in this state",
        ],
    );
}

#[test]
fn replay_refuses_to_verify_several_threads() {
    let folder = empty_folder("truth_replay");
    for (threads, code) in [("2", 1), ("1", 0)] {
        let player = format!("cadia-2008:threads={threads}");
        let args = [
            "match",
            "tic_tac_toe",
            &player,
            "random",
            "--playouts",
            "20",
        ];
        let output = run(
            &folder,
            &[&args[..], &["--quiet", "--record", "m.json"]].concat(),
        );
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let output = run(&folder, &["replay", "m.json", "--verify", "--quiet"]);
        let shown = text(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{shown}");
        let is_refused = shown.contains("only one thread is repeatable");
        assert_eq!(is_refused, code == 1, "{shown}");
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_or_file_gets_a_message() {
    let folder = empty_folder("truth_full");
    let agon = env!("CARGO_BIN_EXE_agon");
    let check = |command: String, reason: &str| {
        let shell = std::process::Command::new("sh")
            .args(["-c", &command])
            .current_dir(&folder)
            .output()
            .expect("there is a shell");
        let error = text(&shell.stderr);
        assert_eq!(shell.status.code(), Some(2), "{command}: {error}");
        assert!(
            error.starts_with("agon: ") && error.contains(reason),
            "{error}"
        );
    };
    check(
        format!("ulimit -f 1; {agon} games --json > games.txt"),
        "File too large",
    );
    let record = "match tic_tac_toe random random --quiet --record match.json > /dev/null";
    check(format!("ulimit -f 1; {agon} {record}"), "File too large");
    if Path::new("/dev/full").exists() {
        check(format!("{agon} games > /dev/full"), "No space left");
    }
}
