//! `agon tournament`, `agon report` and `agon experiment` as people and scripts call them.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

fn folder(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tournament_{test}"));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("the folder can be made");
    path
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.current_dir(folder).args(args);
    command
}

fn run(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().expect("the binary runs")
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("it is text")
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("it is text")
}

/// What a good call prints.
fn good(folder: &Path, args: &[&str]) -> String {
    let output = run(folder, args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stdout(&output).to_owned()
}

/// Lines of JSON that a good call prints.
fn objects(folder: &Path, args: &[&str]) -> Vec<Value> {
    let text = good(folder, args);
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("it is an object"))
        .collect()
}

fn write(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).expect("the file can be written");
}

fn tournament(n: u32, more: &str) -> String {
    format!(
        "games = [\"tic_tac_toe\"]\nplayers = [\"agon\", \"random\", \"legal\"]\npairs = \"first-vs-rest\"\n\
         games_per_pair = {n}\nbudget = {{ playouts = 30 }}\nseed = 3\n{more}"
    )
}

#[test]
fn it_goes_on_where_it_was() {
    let folder = folder("goes_on");
    write(&folder, "t.toml", &tournament(4, ""));
    let args = ["tournament", "t.toml", "--json"];
    let first = objects(&folder, &[&args[..], &["--threads", "1"]].concat());
    assert_eq!((first.len(), &first[0]["matches"]), (2, &Value::from(4)));
    assert!(first[0]["score"].as_f64().expect("it is a number") > 60.0);
    write(&folder, "t.toml", &tournament(6, ""));
    let table = good(&folder, &["tournament", "t.toml"]);
    assert!(
        table.contains("12 matches, 4 of them played now"),
        "{table}"
    );
    // The order of play and the number of threads change nothing.
    let more = objects(&folder, &args);
    let fresh = [&args[..], &["--fresh", "--threads", "2"]].concat();
    let fresh: Vec<Vec<Value>> = [1, 2].map(|_| objects(&folder, &fresh)).to_vec();
    assert_eq!(fresh[0], more);
    assert_eq!(fresh[0], fresh[1]);
    // Another seed is another tournament, and both are in the store.
    let other = tournament(6, "").replace("seed = 3", "seed = 4");
    write(&folder, "other.toml", &other);
    let table = good(
        &folder,
        &["tournament", "other.toml", "--store", "t.sqlite"],
    );
    assert!(
        table.contains("12 matches, 12 of them played now"),
        "{table}"
    );
    let all = objects(&folder, &["report", "t.sqlite", "--json"]);
    assert_eq!(all[0]["matches"], 12);
}

#[test]
fn what_is_no_tournament_is_refused() {
    let folder = folder("refused");
    let rest = "games_per_pair = 1\nbudget = { playouts = 1 }";
    for (text, words) in [
        ("games = []", "is not a valid tournament file"),
        (
            &format!("games = []\nplayers = [\"agon\"]\n{rest}"),
            "two players",
        ),
        (
            &format!("games = []\nplayers = [\"agon\", \"x\"]\n{rest}"),
            "no player `x`",
        ),
        (
            &format!("games = []\nplayers = [\"agon\", \"human\"]\n{rest}"),
            "people do not",
        ),
        (
            &format!("games = [\"nothing\"]\nplayers = [\"agon\", \"mc\"]\n{rest}"),
            "no built-in game called `nothing`",
        ),
    ] {
        write(&folder, "t.toml", text);
        let output = run(&folder, &["tournament", "t.toml"]);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    write(
        &folder,
        "broken.sqlite",
        "this is no database, and never was one",
    );
    write(&folder, "t.toml", &tournament(1, ""));
    let output = run(
        &folder,
        &["tournament", "t.toml", "--store", "broken.sqlite"],
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("broken.sqlite"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn what_is_no_store_is_refused() {
    let folder = folder("no_store");
    fs::write(folder.join("bytes"), [0xff, 0xfe, 0x00, 0x80]).expect("it can be written");
    write(&folder, "other.jsonl", "{\"a\": 1}\n");
    for name in ["bytes", "other.jsonl"] {
        let output = run(&folder, &["report", name]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        let words = stderr(&output);
        assert!(
            words.contains("is neither a store nor a file of results as JSON lines"),
            "{words}"
        );
    }
    let output = run(&folder, &["report", "nothing"]);
    assert!(stderr(&output).contains("there is no store nothing"));
}

#[test]
fn a_sequential_test_saves_matches() {
    let folder = folder("sprt");
    let stop = "stop = { sprt = { elo0 = 0, elo1 = 100 } }";
    write(&folder, "t.toml", &tournament(400, stop));
    let cells = objects(&folder, &["tournament", "t.toml", "--json"]);
    for cell in &cells {
        let n = cell["matches"].as_u64().expect("it is a number");
        assert!((4..200).contains(&n), "{cell}");
    }
    let again = good(&folder, &["tournament", "t.toml"]);
    assert!(again.contains("0 of them played now"), "{again}");
    assert!(again.contains("2 of 2 cells ended early"), "{again}");
}

/// Whatever the moment at which it is killed, nothing is lost and nothing is played twice.
#[test]
fn a_killed_tournament_loses_nothing() {
    let folder = folder("killed");
    write(&folder, "t.toml", &tournament(150, ""));
    let reference = ["tournament", "t.toml", "--json", "--store", "whole.sqlite"];
    let reference = objects(&folder, &reference);
    let args = [
        "tournament",
        "t.toml",
        "--store",
        "killed.sqlite",
        "--threads",
        "2",
    ];
    let n_stored = || -> u64 {
        let output = run(&folder, &["report", "killed.sqlite", "--json"]);
        // A kill may come before the tables of the store are made.
        if stderr(&output).contains("the store is empty") {
            return 0;
        }
        let cells = objects(&folder, &["report", "killed.sqlite", "--json"]);
        cells
            .iter()
            .filter_map(|cell| cell["matches"].as_u64())
            .sum()
    };
    let mut n_before = 0;
    for round in 0..60 {
        if round >= 8 && n_before > 0 {
            break;
        }
        let mut child = quiet(&mut command(&folder, &args));
        // No two rounds are alike, and the first ones end while the store is being made.
        thread::sleep(Duration::from_millis(20 + 37 * round));
        child.kill().expect("it can be killed");
        child.wait().expect("it is gone");
        if folder.join("killed.sqlite").exists() {
            let n = n_stored();
            assert!(n >= n_before, "round {round}: {n} of {n_before} are left");
            n_before = n;
        }
    }
    assert!(n_before > 0, "what was played before a kill is kept");
    let last = good(&folder, &args);
    assert_eq!(n_stored(), 300);
    let words = format!("300 matches, {} of them played now", 300 - n_before);
    assert!(last.contains(&words), "{words}\n{last}");
    assert_eq!(
        objects(&folder, &[&args[..], &["--json"]].concat()),
        reference
    );
}

fn quiet(command: &mut Command) -> Child {
    let command = command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the binary runs")
}

#[test]
fn results_travel_and_are_shown() {
    let folder = folder("report");
    let file = tournament(4, "")
        .replace("30 }", "[10, 30] }")
        .replace("first-vs-rest", "all");
    write(&folder, "t.toml", &file);
    good(&folder, &["tournament", "t.toml"]);
    let shown = [
        "report",
        "t.sqlite",
        "--plots",
        "plots",
        "--moves",
        "moves.csv",
    ];
    let terminal = good(&folder, &shown);
    assert!(
        terminal.contains("agon    random   10 playouts"),
        "{terminal}"
    );
    for name in ["bars", "cross-tic_tac_toe", "budget-tic_tac_toe"] {
        let picture = fs::read_to_string(folder.join(format!("plots/{name}.svg")));
        let picture = picture.expect("it is there");
        assert!(
            picture.starts_with("<svg") && picture.contains("agon"),
            "{name}"
        );
    }
    let moves = fs::read_to_string(folder.join("moves.csv")).expect("it is there");
    let line = moves.lines().nth(1).expect("there are moves");
    let cells = ",tic_tac_toe,agon,legal,10,playouts,3,0,1,x,agon,(mark ";
    assert!(line.contains(cells), "{line}");

    good(&folder, &["report", "t.sqlite", "--export", "t.jsonl"]);
    good(&folder, &["report", "new.sqlite", "--import", "t.jsonl"]);
    for format in ["terminal", "markdown", "csv", "json"] {
        let [old, new, lines] = ["t.sqlite", "new.sqlite", "t.jsonl"]
            .map(|store| good(&folder, &["report", store, "--format", format]));
        assert!(
            old == new && old == lines && old.contains("tic_tac_toe"),
            "{format}"
        );
    }
    // What was carried over is not played again.
    let table = good(&folder, &["tournament", "t.toml", "--store", "new.sqlite"]);
    assert!(
        table.contains("24 matches, 0 of them played now"),
        "{table}"
    );
    let output = run(&folder, &["report", "nowhere.sqlite"]);
    assert_eq!(output.status.code(), Some(2));
}

/// Rows of comma-separated values by their heads. Columns that are not words hold numbers only.
fn rows(text: &str, words: &[&str]) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().expect("there are heads").clone();
    let read = |row: Result<csv::StringRecord, csv::Error>| {
        let row = row.expect("it has a cell per head");
        for (head, cell) in heads.iter().zip(&row) {
            let is_number = cell.is_empty() || cell.parse::<f64>().is_ok_and(f64::is_finite);
            assert!(words.contains(&head) || is_number, "{head}: {cell}");
        }
        let cells = heads.iter().zip(&row);
        cells
            .map(|(head, cell)| (head.to_owned(), cell.to_owned()))
            .collect()
    };
    reader.records().map(read).collect()
}

#[test]
fn comma_separated_values_hold_plain_numbers() {
    let folder = folder("csv");
    let file = tournament(4, "").replace("\"legal\"", "\"cadia-2008:exploration=50,threads=1\"");
    write(&folder, "t.toml", &file);
    let played = good(&folder, &["tournament", "t.toml", "--format", "csv"]);
    let words = [
        "match_key",
        "game",
        "rules",
        "first",
        "second",
        "player",
        "opponent",
        "budget_unit",
        "ending",
        "version",
        "role",
        "move",
    ];
    let cells = good(&folder, &["report", "t.sqlite", "--csv"]);
    assert_eq!(
        cells,
        good(&folder, &["report", "t.sqlite", "--format", "csv"])
    );
    for (text, has_times) in [(&played, false), (&cells, true)] {
        let rows = rows(text, &words);
        assert_eq!(rows.len(), 2);
        let named = rows
            .iter()
            .find(|row| row["second"] == "cadia-2008:exploration=50,threads=1");
        let row = named.expect("a name with a comma is one cell");
        assert_eq!(
            (row["matches"].as_str(), row["budget"].as_str()),
            ("4", "30")
        );
        let number = |head: &str| row[head].parse::<f64>().expect("it is a number");
        assert!(number("ci_low") <= number("score") && number("score") <= number("ci_high"));
        let pairs = ["0", "0_5", "1", "1_5", "2"].map(|points| number(&format!("pairs_{points}")));
        assert_eq!(pairs.iter().sum::<f64>(), 2.0);
        let points: f64 = pairs
            .iter()
            .zip([0.0, 25.0, 50.0, 75.0, 100.0])
            .map(|(n, s)| n * s)
            .sum();
        assert!((points / 2.0 - number("score")).abs() < 1e-9);
        assert_eq!(!row["seconds_per_move_first"].is_empty(), has_times);
    }
    let files = ["--matches", "matches.csv", "--moves", "-"];
    let moves = good(&folder, &[&["report", "t.sqlite"], &files[..]].concat());
    let moves = rows(&moves, &words);
    let text = fs::read_to_string(folder.join("matches.csv")).expect("it is there");
    let matches = rows(&text, &words);
    assert_eq!(matches.len(), 16, "two cells, four matches, two players");
    for row in &matches {
        let own = |mv: &&BTreeMap<String, String>| {
            mv["match_key"] == row["match_key"] && mv["player"] == row["player"]
        };
        let playouts: u64 = moves
            .iter()
            .filter(own)
            .map(|mv| mv["playouts"].parse::<u64>().expect("it is a number"))
            .sum();
        assert_eq!(playouts.to_string(), row["playouts"]);
    }
    // Filters apply to all of them.
    let some = ["report", "t.sqlite", "--player", "random", "--matches", "-"];
    assert_eq!(rows(&good(&folder, &some), &words).len(), 8);
    let output = run(&folder, &["report", "t.sqlite", "--csv", "--json"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn tables_fit_the_width() {
    let folder = folder("width");
    let long = "cadia-2008:exploration=50,mast_temperature=5,threads=1";
    let file = tournament(2, "")
        .replace("\"legal\"", &format!("\"legal\", \"{long}\""))
        .replace("first-vs-rest", "all")
        .replace("tic_tac_toe\"", "tic_tac_toe\", \"connect_four\"");
    write(&folder, "t.toml", &file);
    write(&folder, "mine.toml", TABLE);
    good(&folder, &["tournament", "t.toml"]);
    good(&folder, &["experiment", "mine.toml", "--games", "2"]);
    let commands: [&[&str]; 7] = [
        &["tournament", "t.toml"],
        &["report", "t.sqlite"],
        &["experiment", "mine.toml", "--from", "experiments.sqlite"],
        &["experiment"],
        &["games"],
        &["params"],
        &["params", "--presets"],
    ];
    for width in [60, 80, 100, 120] {
        for args in commands {
            let mut command = command(&folder, args);
            match width {
                // The default where there is no terminal.
                100 => command.env_remove("COLUMNS"),
                _ => command.env("COLUMNS", width.to_string()),
            };
            let output = command.output().expect("the binary runs");
            assert!(output.status.success(), "{}", stderr(&output));
            for line in stdout(&output).lines() {
                assert!(line.chars().count() <= width, "{args:?} in {width}: {line}");
            }
        }
    }
    let report = command(&folder, &["report", "t.sqlite"])
        .env("COLUMNS", "60")
        .output();
    let report = report.expect("the binary runs");
    // Letters stand for long names, and a legend says which.
    let legend = "\nA  agon\n";
    assert!(stdout(&report).contains(legend), "{}", stdout(&report));
}

#[test]
fn a_number_of_matches_fixed_in_advance_comes_first() {
    let folder = folder("fixed");
    write(
        &folder,
        "mine.toml",
        &TABLE.replace("games = 200", "games = 200\nfixed = 6"),
    );
    good(
        &folder,
        &[
            "experiment",
            "mine.toml",
            "--games",
            "10",
            "--budget",
            "playouts=20",
        ],
    );
    let from = ["experiment", "mine.toml", "--from", "experiments.sqlite"];
    let text = good(&folder, &from);
    let places = ["The first 6 matches of every cell", "All matches"].map(|words| text.find(words));
    assert!(places[0].is_some() && places[0] < places[1], "{text}");
    let json: Value = serde_json::from_str(&good(&folder, &[&from[..], &["--json"]].concat()))
        .expect("it is one object");
    assert_eq!(json["fixed"]["matches"], 6);
    assert_eq!(json["fixed"]["cells"][0]["matches"], 6);
    assert_eq!(json["cells"][0]["matches"], 10);
    let text = good(&folder, &[&from[..], &["--format", "csv"]].concat());
    let words = [
        "sample",
        "row",
        "column",
        "game",
        "first",
        "second",
        "budget_unit",
        "verdict",
    ];
    let samples: Vec<[String; 2]> = rows(&text, &words)
        .iter()
        .map(|row| [row["sample"].clone(), row["matches"].clone()])
        .collect();
    assert_eq!(samples, [["fixed", "6"], ["all", "10"]]);
    // A cell with fewer matches is left out, and named.
    write(
        &folder,
        "mine.toml",
        &TABLE.replace("games = 200", "games = 200\nfixed = 11"),
    );
    let text = good(&folder, &from);
    assert!(
        text.contains("fewer matches: Noughts, search (10)."),
        "{text}"
    );
    // Where every cell has the number of matches that was asked for, there is one sample.
    let played = good(
        &folder,
        &[
            "experiment",
            "mine.toml",
            "--games",
            "10",
            "--budget",
            "playouts=20",
        ],
    );
    assert!(!played.contains("The first"), "{played}");
}

/// `agon player` at this port of loopback, 0 for any; it ends with the test.
struct RemotePlayer {
    child: Child,
    url: String,
}

impl RemotePlayer {
    fn start(folder: &Path, port: u16) -> RemotePlayer {
        let port = port.to_string();
        let args = ["player", "--host", "127.0.0.1", "--port", &port];
        let mut player = command(folder, &args);
        let mut child = player
            .args(["--player", "random", "--quiet"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut line = String::new();
        let out = child.stdout.take().expect("it has an output");
        BufReader::new(out)
            .read_line(&mut line)
            .expect("it says where it is");
        let url = line.split_whitespace().last().expect("it has an address");
        RemotePlayer {
            child,
            url: url.to_owned(),
        }
    }
}

impl Drop for RemotePlayer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn remote_tournament(players: &[&str]) -> String {
    format!(
        "games = [\"tic_tac_toe\"]\nplayers = {players:?}\ngames_per_pair = 4\n\
         budget = {{ playouts = 50 }}\nstart_clock = 5\nplay_clock = 5\n"
    )
}

#[test]
fn remote_players_take_part() {
    let folder = folder("remote");
    let player = RemotePlayer::start(&folder, 0);
    let file = remote_tournament(&["agon", &player.url]);
    write(&folder, "t.toml", &file);
    let cells = objects(&folder, &["tournament", "t.toml", "--json"]);
    assert_eq!(cells[0]["matches"], 4, "{}", cells[0]);
    let faults = serde_json::json!([0, 0]);
    assert_eq!(cells[0]["faults"], faults, "{}", cells[0]);
    assert_eq!(cells[0]["forfeits"], faults, "{}", cells[0]);
    assert_eq!(cells[0]["second"], player.url);
}

#[test]
fn matches_with_a_player_that_is_not_there_are_void_and_played_later() {
    let folder = folder("void");
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let port = listener.local_addr().expect("it has one").port();
    drop(listener);
    let url = format!("http://127.0.0.1:{port}");
    let file = remote_tournament(&["random", "legal", &url]);
    write(&folder, "t.toml", &file);
    let output = run(&folder, &["tournament", "t.toml", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let told = stderr(&output);
    let words = format!("{url}: connection refused (3 attempts); 8 matches are missing");
    assert!(told.contains(&words), "{told}");
    let what_to_do = "start the player and run the same command again";
    assert!(told.contains(what_to_do), "{told}");
    // The other matches are played, and nothing else is stored.
    let stored = objects(&folder, &["report", "t.sqlite", "--json"]);
    assert_eq!(stored.len(), 1);
    assert_eq!(
        (&stored[0]["second"], &stored[0]["matches"]),
        (&"legal".into(), &4.into())
    );

    let player = RemotePlayer::start(&folder, port);
    assert_eq!(player.url, url);
    let table = good(&folder, &["tournament", "t.toml"]);
    let words = "12 matches, 8 of them played now";
    assert!(table.contains(words), "{table}");
    drop(player);
    // Nothing is missing any more, so nobody is needed.
    let table = good(&folder, &["tournament", "t.toml"]);
    assert!(table.contains("0 of them played now"), "{table}");
    let stored = objects(&folder, &["report", "t.sqlite", "--json"]);
    let faults = stored.iter().map(|cell| &cell["faults"]);
    assert!(
        faults
            .into_iter()
            .all(|faults| *faults == serde_json::json!([0, 0]))
    );
}

/// A server that is ready for every match and never sends a move.
fn silent_player() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let url = format!("http://{}", listener.local_addr().expect("it has one"));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut text = [0; 1 << 16];
            let n_read = stream.read(&mut text).unwrap_or(0);
            let text = String::from_utf8_lossy(&text[..n_read]).into_owned();
            if !text.contains("( PLAY") {
                let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-length: 5\r\n\r\nready");
            }
        }
    });
    url
}

#[test]
fn a_player_that_stops_answering_loses_every_match() {
    let folder = folder("forfeit");
    let url = silent_player();
    write(&folder, "t.toml", &remote_tournament(&["random", &url]));
    let table = good(&folder, &["tournament", "t.toml"]);
    assert!(
        table.contains("forfeits") && table.contains("0 : 4"),
        "{table}"
    );
    assert!(
        table.contains("missing") && table.contains("0 : 12"),
        "{table}"
    );
    let cell = &objects(&folder, &["report", "t.sqlite", "--json"])[0];
    assert_eq!((&cell["wins"], &cell["score"]), (&4.into(), &100.0.into()));
    assert_eq!(cell["forfeits"], serde_json::json!([0, 4]));
    // Three answers of each match are missing.
    assert_eq!(cell["faults"], serde_json::json!([0, 12]));
    assert_eq!(cell["fault_kinds"][1]["missing"], 12);
    for format in ["markdown", "csv"] {
        let text = good(&folder, &["report", "t.sqlite", "--format", format]);
        assert!(text.contains("faults") && text.contains("12"), "{text}");
    }
    good(&folder, &["report", "t.sqlite", "--export", "t.jsonl"]);
    let lines = fs::read_to_string(folder.join("t.jsonl")).expect("it is there");
    let mut lines = lines.lines();
    assert!(lines.all(|line| line.contains(r#""forfeits":[0,1]"#)));
}

const TABLE: &str = "name = \"mine\"
title = \"A table of my own\"
source = \"nowhere\"
setup = \"200 matches\"
budget_note = \"As it is.\"
measure = \"score\"
games = 200
budget = { playouts = 200 }
[[columns]]
name = \"search\"
players = [\"agon\", \"legal\"]
[[rows]]
name = \"Noughts\"
game = \"tic_tac_toe\"
cells = [[90.0, 4.0]]
";

#[test]
fn a_table_is_played_again() {
    let folder = folder("experiment");
    write(&folder, "mine.toml", TABLE);
    let args = ["experiment", "mine.toml", "--scale", "0.05", "--fresh"];
    let (one, two) = (good(&folder, &args), good(&folder, &args));
    assert_eq!(one, two);
    assert!(
        one.contains("Here: 10 matches per cell, 45 playouts per move, seed 1."),
        "{one}"
    );
    assert!(
        one.contains("1 cell: 1 same sign and significant."),
        "{one}"
    );
    let again = run(
        &folder,
        &[
            "experiment",
            "mine.toml",
            "--scale",
            "0.05",
            "--plot",
            "p.svg",
        ],
    );
    assert!(
        stderr(&again).contains("0 matches played"),
        "{}",
        stderr(&again)
    );
    assert_eq!(stdout(&again), one);
    let picture = fs::read_to_string(folder.join("p.svg")).expect("it is there");
    assert!(picture.contains("Noughts"));

    good(
        &folder,
        &["report", "experiments.sqlite", "--export", "r.jsonl"],
    );
    let json = good(
        &folder,
        &["experiment", "mine.toml", "--from", "r.jsonl", "--json"],
    );
    let json: Value = serde_json::from_str(&json).expect("it is one object");
    assert_eq!(json["cells"][0]["verdict"], "same-sign-significant");
    assert_eq!(json["cells"][0]["matches"], 10);
    assert_eq!(json["summary"]["large_confirmed"], 1);

    // What was played by other rules says nothing about the game of today.
    let lines = fs::read_to_string(folder.join("r.jsonl")).expect("it is there");
    let other = lines.replace("fnv1a128:", "fnv1a128:0");
    assert_ne!(lines, other);
    write(&folder, "other.jsonl", &other);
    let output = run(
        &folder,
        &["experiment", "mine.toml", "--from", "other.jsonl"],
    );
    assert!(
        stderr(&output).contains("10 matches of tic_tac_toe were played by other rules"),
        "{}",
        stderr(&output)
    );
    assert!(stdout(&output).contains("1 cell: 1 not played."));
}

#[test]
fn the_tables_of_the_papers_are_listed() {
    let folder = folder("list");
    let names: Vec<Value> = objects(&folder, &["experiment", "--json"])
        .into_iter()
        .map(|table| table["name"].clone())
        .collect();
    assert_eq!(
        names,
        [
            "cadia-table1",
            "finnsson-table1",
            "finnsson-table2",
            "ary-table1",
            "ary-table2",
            "trutman-table1",
            "trutman-table2",
            "trutman-table3"
        ]
    );
    let output = run(&folder, &["experiment", "nothing"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("there is no table `nothing`"));
}
