//! What people expect of any command-line program: a first run that shows something, a version, completions, manual pages,
//! and tables for people beside JSON for scripts.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn agon(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_agon"))
        .args(args)
        .env_remove("CARGO")
        .output()
        .expect("the binary runs")
}

fn text(args: &[&str]) -> String {
    let output = agon(args);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {errors}");
    String::from_utf8(output.stdout).expect("it is text")
}

/// The commands that `agon --help` lists.
fn commands() -> BTreeSet<String> {
    let help = text(&["--help"]);
    let lines = help.lines().take_while(|line| *line != "Options:");
    lines
        .filter(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_demo_compiles_a_game_and_plays_it_to_the_end() {
    let shown = text(&["demo", "tic_tac_toe", "--time", "0.01"]);
    assert!(!shown.contains('\x1b'), "a pipe gets no escape codes");
    for part in [
        "Tic-Tac-Toe has 33 rules",
        "(<= (legal",
        " ms",
        "games per second",
        "3 . . .\n2 . . .\n1 . . .\n  1 2 3\n",
        "What to type next:\n  agon play",
    ] {
        assert!(shown.contains(part), "`{part}` is missing in\n{shown}");
    }
    let ends = [
        "wins, 100 : 0, after",
        "wins, 0 : 100, after",
        "A draw, 50 : 50, after",
    ];
    assert!(ends.iter().any(|end| shown.contains(end)), "{shown}");
    // The last board is that of the end: at least five marks are on it.
    let last = shown.rsplit("\n3 ").next().expect("there is a board");
    let board = last.split("1 2 3").next().expect("it has column names");
    let n_marks = board.chars().filter(|c| "XO".contains(*c)).count();
    assert!(n_marks >= 5, "{shown}");
}

#[test]
fn the_demo_plays_games_of_all_kinds() {
    for game in ["eight_puzzle", "roshambo", "chinese_checkers_3"] {
        let shown = text(&["demo", game, "--time", "0.001"]);
        assert!(shown.contains(" steps."), "{game}: {shown}");
    }
}

#[test]
fn a_wrong_call_is_told_from_bad_news() {
    assert_eq!(agon(&["no_such_command"]).status.code(), Some(2));
    assert_eq!(agon(&["demo", "no_such_game"]).status.code(), Some(2));
    assert_eq!(
        agon(&["completions", "no_such_shell"]).status.code(),
        Some(2)
    );
}

#[test]
fn the_version_names_commit_and_cpu_path() {
    let long = text(&["--version"]);
    assert_eq!(long.lines().count(), 1, "{long}");
    let (short, path) = long
        .trim_end()
        .split_once(" lanes: ")
        .expect("it has a path");
    assert_eq!(text(&["-V"]).trim_end(), short);
    let (simd, code) = path.split_once(", ").expect("it has two parts");
    assert!(["portable", "avx2", "avx512"].contains(&simd), "{long}");
    assert!(["jit", "tables"].contains(&code), "{long}");
    let version = concat!("agon ", env!("CARGO_PKG_VERSION"));
    let commit = short.strip_prefix(version).expect("it has the version");
    if let Some(commit) = commit
        .strip_prefix(" (")
        .and_then(|rest| rest.strip_suffix(')'))
    {
        assert_eq!(commit.len(), 7, "{long}");
        assert!(
            commit.bytes().all(|byte| byte.is_ascii_hexdigit()),
            "{long}"
        );
    } else {
        assert_eq!(commit, "", "{long}");
    }
}

#[test]
fn every_shell_completes_every_command() {
    let commands = commands();
    assert!(
        commands.contains("match") && commands.contains("demo"),
        "{commands:?}"
    );
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = text(&["completions", shell]);
        for command in &commands {
            assert!(script.contains(command), "{shell} does not know {command}");
        }
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("conventions")
        .join("man");
    // Nothing may be left of another run.
    let _ = fs::remove_dir_all(&folder);
    text(&["man", folder.to_str().expect("it is text")]);
    let page = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    assert!(page("agon.1").contains(".TH agon 1"));
    for command in commands() {
        let text = page(&format!("agon-{command}.1"));
        assert!(text.contains("Examples"), "agon-{command}.1 has examples");
    }
}

#[test]
fn bench_prints_a_table_for_people() {
    let table = text(&["bench", "tic_tac_toe", "nim", "--seconds", "0.02"]);
    let lines: Vec<&str> = table.lines().collect();
    let head: Vec<&str> = lines[0].split_whitespace().collect();
    assert_eq!(head, ["game", "lanes", "scalar", "ratio", "set-up"]);
    assert!(lines[1].starts_with("tic_tac_toe "), "{table}");
    assert!(lines[2].starts_with("nim "), "{table}");
    assert_eq!(lines[1].matches("games/s").count(), 2, "{table}");
    assert!(lines[1].contains(" x "), "{table}");
    assert_eq!(lines.len(), 3, "{table}");
    assert!(!table.contains('{'), "{table}");
}

#[test]
fn bench_prints_json_for_scripts() {
    let engines = |args: &[&str]| -> Vec<String> {
        let all = ["bench", "tic_tac_toe", "--json", "--seconds", "0.02"];
        let text = text(&[&all, args].concat());
        text.lines()
            .map(|line| {
                let row: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
                for name in [
                    "setup_ms",
                    "seconds",
                    "playouts_per_s",
                    "mean_length",
                    "peak_rss_mb",
                ] {
                    assert!(row[name].is_number(), "{name} in {line}");
                }
                let [playouts, transitions] =
                    ["playouts", "transitions"].map(|name| row[name].as_u64().expect("a count"));
                assert!(playouts > 0 && transitions >= 5 * playouts, "{line}");
                row["engine"].as_str().expect("it has a name").to_owned()
            })
            .collect()
    };
    assert_eq!(engines(&[]), ["scalar"]);
    assert_eq!(engines(&["--engine", "lanes"]), ["lanes"]);
    assert_eq!(engines(&["--engine", "interpreter"]), ["interpreter"]);
}

#[test]
fn bench_measures_a_directory() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("conventions")
        .join("sheets");
    fs::create_dir_all(&folder).expect("the folder can be made");
    let sheet = "(role robot) (init (light off)) (legal robot push)\n\
                 (<= (next (light on)) (does robot push))\n\
                 (<= terminal (true (light on))) (<= (goal robot 100) terminal)\n";
    fs::write(folder.join("light.kif"), sheet).expect("the sheet can be written");
    fs::write(folder.join("broken.kif"), "(role").expect("the sheet can be written");
    let folder = folder.to_str().expect("it is text");
    let table = text(&["bench", "--games", folder, "--seconds", "0.02"]);
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[1].starts_with("broken "), "{table}");
    assert!(
        lines[2].contains("cannot play it: the process ended"),
        "{table}"
    );
    let light = lines.iter().find(|line| line.starts_with("light "));
    assert_eq!(
        light.expect("it is there").matches("games/s").count(),
        2,
        "{table}"
    );
    let set_up = text(&["bench", "--games", folder, "--setup-only"]);
    assert!(set_up.starts_with("game "), "{set_up}");
    assert!(!set_up.contains("games/s"), "{set_up}");
}
