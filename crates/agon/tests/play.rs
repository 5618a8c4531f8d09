//! The commands that compile and play games, and the example for other programs.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use agon::engine::optimize::Pass;
use expect_test::{Expect, expect};

#[path = "../examples/play_out.rs"]
mod play_out;

const LIGHT: &str = "(role robot) (init (step 1)) (init (light off)) (succ 1 2) (succ 2 3)
(<= (legal robot (set ?s)) (state ?s)) (state on) (state off)
(<= (next (light ?s)) (does robot (set ?s)))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= terminal (true (step 3)))
(<= (goal robot 100) (true (light on)))
(<= (goal robot 0) (true (light off)))
";

/// A folder with one sheet in it, gone at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, sheet: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("agon_play_{name}_{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("game.kif"), sheet).unwrap();
        Folder(path)
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_agon"))
            .args(args)
            .current_dir(&self.0)
            .output()
            .unwrap()
    }

    /// What it prints, with the exit code if that is not 0. Times and what the single passes did are not compared.
    fn text(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let mut text = String::from_utf8(output.stdout).unwrap();
        text.push_str(&String::from_utf8(output.stderr).unwrap());
        if !output.status.success() {
            text.push_str(&format!(
                "exit code {}\n",
                output.status.code().unwrap_or(-1)
            ));
        }
        let is_of_pass = |line: &str| {
            let word = line.split_whitespace().next();
            Pass::ALL.iter().any(|pass| word == Some(pass.name()))
        };
        let is_steady = |line: &&str| !line.starts_with("  times ") && !is_of_pass(line);
        let lines = text.lines().filter(is_steady);
        lines.fold(String::new(), |text, line| text + line + "\n")
    }

    fn json(&self, args: &[&str]) -> serde_json::Value {
        let output = self.run(args);
        serde_json::from_slice(&output.stdout).expect("one JSON object and nothing else")
    }

    /// The findings of `check --play`, as kind, line and message.
    fn findings(&self, severity: &str) -> Vec<(String, u64, String)> {
        let report = self.json(&["check", "--play", "--json", "game.kif"]);
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        let findings = report[severity].as_array().unwrap().iter();
        findings
            .map(|finding| {
                (
                    text(&finding["kind"]),
                    finding["line"].as_u64().unwrap(),
                    text(&finding["message"]),
                )
            })
            .collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "tests give their expectations away"
)]
fn check(name: &str, sheet: &str, args: &[&str], expected: Expect) {
    expected.assert_eq(&Folder::new(name, sheet).text(args));
}

#[test]
fn the_example_runs() {
    play_out::main();
}

#[test]
fn perft_counts_what_is_known() {
    let folder = Folder::new("perft", LIGHT);
    let counts = |args: &[&str]| folder.json(args)["counts"].clone();
    let tic_tac_toe =
        serde_json::json!([9, 72, 504, 3024, 15120, 54720, 148_176, 200_448, 127_872, 0]);
    assert_eq!(
        counts(&["perft", "tic_tac_toe", "10", "--json"]),
        tic_tac_toe
    );
    let connect_four = serde_json::json!([7, 49, 343, 2401, 16807, 117_649, 823_536]);
    assert_eq!(
        counts(&["perft", "connect_four", "7", "--json"]),
        connect_four
    );
    for engine in ["scalar", "interpreter"] {
        let args = ["perft", "game.kif", "3", "--json", "--engine", engine];
        let report = folder.json(&args);
        assert_eq!(report["counts"], serde_json::json!([2, 4, 0]));
        assert_eq!(report["game"], "game");
        assert!(report["seconds"].is_number());
    }
}

#[test]
fn show_tells_what_compiling_came_to() {
    check(
        "show",
        LIGHT,
        &["show", "game.kif"],
        expect![[r#"
            game.kif
              roles      robot
              sheet      7 facts, 6 rules, 2 relations of its own
              warnings   0
              engine     scalar
              fluents    5
              moves      robot 2
              ground     7 rules, 7 literals
              loops      0
              network    after         networks     gates     edges
                         build                1         0         0
              begins     (light off) (step 1)
        "#]],
    );
}

#[test]
fn show_prints_the_stages() {
    check(
        "show_ground",
        LIGHT,
        &["show", "game.kif", "--stage", "ground"],
        expect![[r#"
        fluent (step 1) next never initial
        fluent (step 2) next (next (step 2))
        fluent (step 3) next (next (step 3))
        fluent (light off) next (next (light off)) initial
        fluent (light on) next (next (light on))
        move robot (set on) legal always
        move robot (set off) legal always
        goal robot 0 when (goal robot 0)
        goal robot 100 when (goal robot 100)
        terminal terminal
        (next (light on)) <= (does robot (set on))
        (next (light off)) <= (does robot (set off))
        (next (step 2)) <= (true (step 1))
        (next (step 3)) <= (true (step 2))
        terminal <= (true (step 3))
        (goal robot 0) <= (true (light off))
        (goal robot 100) <= (true (light on))
    "#]],
    );
    let folder = Folder::new("show_network", LIGHT);
    let network = folder.text(&["show", "game.kif", "--stage", "network"]);
    assert!(
        network.contains("base 0 is ") && network.contains("\nphase 1 of 1"),
        "{network}"
    );
    let dot = folder.text(&["show", "game.kif", "--stage", "network", "--dot"]);
    assert!(
        dot.starts_with("digraph network {\n") && dot.ends_with("}\n"),
        "{dot}"
    );
    assert!(dot.contains("[label=\"(does robot (set on))\""), "{dot}");
    assert_eq!(
        folder.run(&["show", "game.kif", "--dot"]).status.code(),
        Some(2)
    );
}

#[test]
fn show_says_why_a_game_does_not_ground() {
    let sheet = "(role r) (init (n z)) (legal r go) (<= (next (n (s ?x))) (true (n ?x)))
(<= terminal (true (n (s (s z))))) (goal r 0)";
    check(
        "show_endless",
        sheet,
        &["show", "game.kif"],
        expect![[r#"
        game.kif
          roles      r
          sheet      4 facts, 2 rules, 0 relations of its own
          warnings   0
          engine     interpreter: too large to ground: the rule on line 1 exceeds the limit on term depth
                     (<= (next (n (s ?x)))
                         (true (n ?x)))
          begins     (n z)
    "#]],
    );
}

#[test]
fn check_grounds_and_names_what_is_not_stratified() {
    let sheet = "(role r) (init (c a b)) (init (c b a)) (legal r go)
(<= (next (c ?x ?y)) (true (c ?x ?y)))
(<= (won ?x) (true (c ?x ?y)) (not (won ?y)))
(<= terminal (won a)) (goal r 0)";
    check(
        "unstratified",
        sheet,
        &["check", "game.kif"],
        expect![[r#"
        error[unstratified]: the rules are not stratified: (won a) depends on the negation of (won b), which depends on (won a)
         --> game.kif:3:1
          |
        3 | (<= (won ?x) (true (c ?x ?y)) (not (won ?y)))
          = help: what holds must not depend on its own negation

        game.kif: cannot be played, 1 error, 0 warnings
        exit code 1
    "#]],
    );
    check(
        "no_ground",
        sheet,
        &["check", "--no-ground", "game.kif"],
        expect![[r#"
        warning[maybe-unstratified]: maybe not stratified: `won` depends on the negation of `won`, which depends on `won`
         --> game.kif:3:36
          |
        3 | (<= (won ?x) (true (c ?x ?y)) (not (won ?y)))
          |                                    ^^^^^^^^
          |
          = help: this is valid if no ground atom depends on its own negation; strict GDL forbids cycles between names

        game.kif: ok, 0 errors, 1 warning
    "#]],
    );
}

#[test]
fn check_warns_of_what_is_too_large_to_ground() {
    let digits: String = (0..30).map(|digit| format!("(d {digit})")).collect();
    let sheet = format!(
        "{LIGHT}{digits}
(<= (next (big ?a ?b ?c ?e ?f ?g)) (d ?a) (d ?b) (d ?c) (d ?e) (d ?f) (d ?g) (does robot (set on)))"
    );
    // Which of its bounds comes first, memory, steps or time, depends on the machine.
    let output = Folder::new("too_large", &sheet).run(&["check", "game.kif"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("warning[too-large-to-ground]"), "{text}");
    assert!(text.contains("interpreter"), "{text}");
}

#[test]
fn check_play_finds_nothing_in_a_sound_game() {
    let folder = Folder::new("sound", LIGHT);
    for severity in ["errors", "warnings"] {
        assert_eq!(folder.findings(severity), []);
    }
    for game in ["tic_tac_toe", "connect_four"] {
        assert!(
            folder.run(&["check", "--play", game]).status.success(),
            "{game}"
        );
    }
}

/// Plays the light game with a change, and expects one error.
fn check_play(name: &str, from: &str, to: &str, kind: &str, line: u64, message: &str) {
    let sheet = LIGHT.replace(from, to);
    assert_ne!(sheet, LIGHT);
    let folder = Folder::new(name, &sheet);
    let found = folder.findings("errors");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].0.as_str(), found[0].1), (kind, line), "{found:?}");
    assert!(found[0].2.starts_with(message), "{found:?}");
    let status = folder.run(&["check", "--play", "game.kif"]).status;
    assert_eq!(status.code(), Some(1));
    let status = folder.run(&["check", "game.kif"]).status;
    assert_eq!(status.code(), Some(0), "without --play it is no error");
}

#[test]
fn check_play_finds_two_goals() {
    let from = "(<= (goal robot 0) (true (light off)))";
    let to = "(<= (goal robot 0) (role robot))";
    let message = "robot has goals 0 and 100 in one terminal state (seed ";
    check_play("two_goals", from, to, "several-goals", 7, message);
}

#[test]
fn check_play_finds_a_missing_goal() {
    let from = "(<= (goal robot 0) (true (light off)))";
    let message = "robot has no goal in a terminal state (seed ";
    check_play("no_goal", from, "", "no-goal", 0, message);
}

#[test]
fn check_play_finds_a_goal_that_is_none() {
    let from = "(<= (goal robot 0) (true (light off)))";
    let to = "(<= (goal robot ?x) (true (light off)) (worth ?x)) (worth 200)";
    let message =
        "the goal of robot is 200, not a number from 0 to 100, in a terminal state (seed ";
    check_play("odd_goal", from, to, "goal-value", 7, message);
}

#[test]
fn check_play_finds_a_role_without_a_move() {
    let from = "(<= (legal robot (set ?s)) (state ?s))";
    let to = "(<= (legal robot (set ?s)) (state ?s) (true (step 1)))";
    let message = "robot has no legal move (seed 1, step 1, after (set o";
    check_play("no_move", from, to, "no-legal-move", 0, message);
}

#[test]
fn check_play_finds_a_game_without_end() {
    let message = "the game never ends: no state is terminal";
    check_play(
        "no_end",
        "(true (step 3))",
        "(true (step 9))",
        "never-ends",
        5,
        message,
    );
    let to = "(true (step 3)) (true (light on)) (true (light off))";
    let message = "the game is not over after 10000 random steps (seed 1)";
    let sheet_that_loops = "(true (step ?n)) (succ ?n ?m))\n(<= (next (step 3)) (true (step 3)))";
    let sheet = LIGHT
        .replace("(true (step 3))", to)
        .replace("(true (step ?n)) (succ ?n ?m))", sheet_that_loops);
    let found = Folder::new("loops", &sheet).findings("errors");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "never-ends");
    assert!(found[0].2.starts_with(message), "{found:?}");
}

#[test]
fn bench_writes_the_format_of_the_gdl_performance_project() {
    let folder = Folder::new("gdl_perf", LIGHT);
    let run = |game: &str| {
        let output = folder.run(&["bench", "--gdl-perf", game, "out.txt", "0.05"]);
        let text = fs::read_to_string(folder.0.join("out.txt")).unwrap();
        let lines = text
            .lines()
            .map(|line| line.split_once('=').expect("name=value"));
        let lines: Vec<(String, String)> = lines
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        (output.status.code(), lines)
    };
    let (code, lines) = run("game.kif");
    let names: Vec<&str> = lines.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "version",
            "millisecondsTaken",
            "numStateChanges",
            "numRollouts"
        ]
    );
    let numbers: Vec<u64> = lines[1..]
        .iter()
        .map(|(_, value)| value.parse().unwrap())
        .collect();
    assert_eq!(numbers[1], 2 * numbers[2], "every game takes two steps");
    assert_eq!(code, Some(0));
    let (code, lines) = run("missing.kif");
    assert_eq!(lines[1].0, "errorMessage");
    assert_eq!(code, Some(1));
}

#[test]
fn bench_compares_engines() {
    let folder = Folder::new("compare", LIGHT);
    let rows = |args: &[&str]| -> Vec<serde_json::Value> {
        let all = [
            "bench",
            "game.kif",
            "--compare",
            "--json",
            "--seconds",
            "0.1",
        ];
        let text = folder.text(&[&all, args].concat());
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let names = |rows: &[serde_json::Value], key: &str| -> Vec<String> {
        let name = |row: &serde_json::Value| row[key].as_str().unwrap().to_owned();
        rows.iter().map(name).collect()
    };
    let engines = rows(&[]);
    assert_eq!(
        names(&engines[..3], "engine"),
        ["lanes", "scalar", "interpreter"]
    );
    assert_eq!(names(&engines[3..], "of"), ["lanes", "scalar"]);
    assert_eq!(names(&engines[3..], "to"), ["scalar", "interpreter"]);
    let works = rows(&["--engine", "lanes"]);
    assert_eq!(
        names(&works[7..], "of"),
        ["sums", "moves", "read", "states", "starts", "weights"]
    );
    assert_eq!(works[11]["to"], "states", "compared with the same games");
    for row in engines[3..].iter().chain(&works[7..]) {
        assert!(row["transitions_ratio"].as_f64().unwrap() > 0.0, "{row}");
    }
    // Whatever is asked for, the games are the same ones but for where they start and how moves are drawn.
    for work in &works[1..3] {
        let [length, plain] = [work, &works[0]].map(|row| row["mean_length"].as_f64().unwrap());
        assert!((length - plain).abs() < plain / 4.0, "{work}");
    }
}
