//! `agon search` and `agon params` as people and scripts call them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn folder(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("search_{test}"));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("the folder can be made");
    path
}

fn run(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.current_dir(folder).args(args);
    command.output().expect("the binary runs")
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("it is text")
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("it is text")
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    assert!(output.stderr.is_empty(), "{}", stderr(output));
    serde_json::from_str(stdout(output)).expect("it is one object")
}

#[test]
fn search_tells_what_scripts_rely_on() {
    let folder = folder("json");
    fs::write(
        folder.join("moves"),
        "(mark 1 1) wait ; a corner\n\n(wait (mark 2 2))\n(mark 2 1) wait\n",
    )
    .expect("the file can be written");
    let args = [
        "search",
        "tic_tac_toe",
        "--moves",
        "moves",
        "--playouts",
        "2000",
        "--json",
    ];
    for player in ["agon", "cadia-2012", "ary-uct", "mc"] {
        let found = json(&run(&folder, &[&args[..], &["--player", player]].concat()));
        assert_eq!(
            found["best"],
            serde_json::json!(["wait", "(mark 3 1)"]),
            "{player}"
        );
        let playouts = found["playouts"].as_u64().expect("it is a number");
        assert!((1..=2000).contains(&playouts));
        assert!(found["seconds"].as_f64().expect("it is a number") > 0.0);
        let moves = found["root"]["o"].as_array().expect("they are a list");
        assert_eq!(moves.len(), 6);
        let first = &moves[0];
        assert!(first["move"].is_string() && first["mean"].is_number());
        assert!(first["visits"].is_u64());
        if player != "mc" {
            let ns = found["tree_ns_per_level"].as_f64().expect("it is a number");
            assert!(ns > 0.0);
            assert!(!found["line"].as_array().expect("it is a list").is_empty());
        }
    }
}

#[test]
fn the_same_seed_finds_the_same() {
    let folder = folder("seed");
    let search = |seed: &str| {
        let args = [
            "search",
            "connect_four",
            "--playouts",
            "1500",
            "--json",
            "--seed",
            seed,
        ];
        let mut found = json(&run(&folder, &args));
        for key in ["seconds", "playouts_per_s", "tree_ns_per_level"] {
            found[key] = Value::Null;
        }
        assert_eq!(found["techniques"]["mast"]["status"], "on");
        let moves = found["techniques"]["mast"]["moves"].as_u64();
        assert_eq!(
            found["notes"]["mast"],
            format!("{} moves", moves.expect("it is a number"))
        );
        found
    };
    assert_eq!(search("1"), search("1"));
    assert_ne!(search("1"), search("2"));
}

#[test]
fn search_shows_a_table() {
    let args = [
        "search",
        "tic_tac_toe",
        "--player",
        "cadia-2012",
        "--transitions",
        "3000",
    ];
    let output = run(&folder("table"), &args);
    let text = stdout(&output);
    assert!(output.status.success());
    for part in [
        "Tic-Tac-Toe: cadia-2012, seed 1",
        "visits",
        "rave",
        "mast",
        "o: - is the only move",
        "expected",
        "cutoff",
        "urgency",
        "\n* ",
    ] {
        assert!(text.contains(part), "{part} is shown:\n{text}");
    }
}

/// What FAST tells of a game after a number of playouts of a player.
fn fast(player: &str, game: &str, playouts: &str) -> String {
    let args = ["search", game, "--player", player, "--json"];
    let args = [&args[..], &["--playouts", playouts]].concat();
    let name = format!("fast_{}_{game}", player.replace([':', '='], "_"));
    let found = json(&run(&folder(&name), &args));
    found["notes"]["fast"]
        .as_str()
        .expect("it is text")
        .to_owned()
}

#[test]
fn fast_finds_pieces_and_cells_as_the_paper_reports() {
    for (game, words) in [
        ("ttcc4", "piece types: light: "),
        ("breakthrough", "64 cells: white: "),
        ("othello", "64 cells: black: "),
        ("connect_5", "64 cells: x: "),
        ("chinook", "64 cells: white: "),
        ("connect_four", "off: no move leads a piece to a place"),
        ("roshambo", "off: there is no board"),
        ("eight_queens", "off: there is no other role"),
    ] {
        let story = fast("cadia-2010", game, "20");
        assert!(story.starts_with(words), "{game}: {story}");
    }
}

#[test]
fn our_player_learns_places_only_where_playouts_see_no_wins() {
    let off = "off: there is one type of piece";
    for (player, game, words) in [
        ("agon:model=none", "othello_6x6", "36 cells: black: "),
        ("agon:batch=1", "othello_6x6", "36 cells: black: "),
        ("agon:model=none", "breakthrough_small", off),
        ("agon:batch=1", "breakthrough_small", off),
        ("agon:decisive=false", "breakthrough_small", "36 cells: "),
        ("agon:fast=all", "breakthrough_small", "36 cells: "),
    ] {
        let story = fast(player, game, "20");
        assert!(story.starts_with(words), "{player} in {game}: {story}");
    }
}

#[test]
fn fast_learns_what_chess_pieces_are_worth() {
    let story = fast("cadia-2010", "skirmish", "6000");
    for color in ["white", "black"] {
        let value = |piece: &str| -> f64 {
            let name = format!("{color}_{piece} ");
            let rest = story.split(&name).nth(1).expect("it is a piece");
            let end = rest.find([',', ';']).expect("more follows");
            rest[..end].parse().expect("it is a number")
        };
        let [rook, bishop, knight, pawn] = ["rook", "bishop", "knight", "pawn"].map(value);
        let minor = (bishop + knight) / 2.0;
        assert!(rook > bishop && rook > knight, "{story}");
        assert!((bishop - knight).abs() < 0.5 * minor, "{story}");
        assert!(bishop > pawn && knight > pawn && pawn > 0.0, "{story}");
    }
    assert!(story.contains("active"), "{story}");
}

#[test]
fn what_search_cannot_do_it_says() {
    let folder = folder("faults");
    fs::write(folder.join("bad"), "(mark 1 1) (mark 1 1)\n").expect("the file can be written");
    fs::write(folder.join("few"), "(mark 1 1)\n").expect("the file can be written");
    for (args, words) in [
        (
            &["search", "tic_tac_toe", "--moves", "bad"][..],
            "step 1: `(mark 1 1)` is not legal for o",
        ),
        (
            &["search", "tic_tac_toe", "--moves", "few"],
            "step 1 has 1 moves, but the game has 2 roles",
        ),
        (
            &["search", "tic_tac_toe", "--moves", "none"],
            "cannot read none",
        ),
        (
            &["search", "tic_tac_toe", "--player", "nobody"],
            "there is no player `nobody`",
        ),
        (
            &["search", "tic_tac_toe", "--player", "agon:rave=2"],
            "`2` is not a value of `rave`",
        ),
    ] {
        let output = run(&folder, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}

#[test]
fn params_lists_parameters_and_presets() {
    let folder = folder("params");
    let text = run(&folder, &["params"]);
    let words = "Tree and selection\n  exploration = 40  (f64: 0.0..=1000.0)";
    assert!(stdout(&text).starts_with(words), "{}", stdout(&text));
    assert!(stdout(&text).contains("\n\nMAST\n  mast_choice = gibbs"));
    let params = run(&folder, &["params", "--json"]);
    assert!(stdout(&params).lines().count() <= 45, "each is used");
    for line in stdout(&params).lines() {
        let param: Value = serde_json::from_str(line).expect("a line is an object");
        for key in ["name", "group", "type", "default", "range", "about"] {
            assert!(param[key].is_string(), "{line}");
        }
    }
    let presets = run(&folder, &["params", "--presets", "--json"]);
    let lines = stdout(&presets).lines();
    let presets: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).expect("it is an object"))
        .collect();
    let is_there = |name: &str| presets.iter().any(|preset| preset["name"] == name);
    for name in [
        "random",
        "legal",
        "greedy",
        "mc",
        "ary-uct",
        "ary-amaf",
        "cadia-2007",
        "cadia-2012",
        "trutman-rave",
        "agon",
    ] {
        assert!(is_there(name), "{name}");
    }
    let text = run(&folder, &["params", "--presets"]);
    let words: Vec<&str> = stdout(&text).split_whitespace().collect();
    let words = words.join(" ");
    assert!(words.contains("and proofs. The default. playout="));
}
