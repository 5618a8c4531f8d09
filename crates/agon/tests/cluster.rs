//! Shards, tuning and what is refused on a queue, as people call them. `scripts/cluster_faults.py` has the tests with a server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn folder(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cluster_{test}"));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("the folder can be made");
    path
}

fn run(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    let command = command.current_dir(folder).args(args);
    // Fingerprints are neither read nor written.
    let command = command.env("XDG_CACHE_HOME", folder);
    command.output().expect("the binary runs")
}

fn good(folder: &Path, args: &[&str]) -> String {
    let output = run(folder, args);
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {words}");
    String::from_utf8(output.stdout).expect("it is text")
}

/// The error of a call that is wrong.
fn wrong(folder: &Path, args: &[&str]) -> String {
    let output = run(folder, args);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    String::from_utf8(output.stderr).expect("it is text")
}

const CUP: &str = "games = [\"tic_tac_toe\", \"connect_four\"]\nplayers = [\"mc\", \"random\", \"legal\"]\n\
    games_per_pair = 6\nbudget = { playouts = 10 }\nseed = 3\n";

#[test]
fn shards_together_are_the_tournament() {
    let folder = folder("shards");
    fs::write(folder.join("cup.toml"), CUP).expect("it is written");
    let whole = good(
        &folder,
        &[
            "tournament",
            "cup.toml",
            "--store",
            "whole.sqlite",
            "--json",
        ],
    );
    let mut report = vec!["report".to_owned(), "merged.sqlite".to_owned()];
    for shard in 1..=3 {
        let (part, store) = (format!("{shard}/3"), format!("{shard}.sqlite"));
        good(
            &folder,
            &[
                "tournament",
                "cup.toml",
                "--shard",
                &part,
                "--store",
                &store,
            ],
        );
        report.extend(["--import".to_owned(), store]);
    }
    let report: Vec<&str> = report.iter().map(String::as_str).collect();
    let output = run(&folder, &report);
    assert!(output.status.success());
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        words.matches("12 results, 12 of them new").count(),
        3,
        "{words}"
    );
    let args = ["tournament", "cup.toml", "--store", "merged.sqlite"];
    let table = good(&folder, &args);
    assert!(
        table.contains("36 matches, 0 of them played now"),
        "{table}"
    );
    let merged = good(&folder, &[&args[..], &["--json"]].concat());
    assert_eq!(merged, whole);
    assert!(
        wrong(&folder, &["tournament", "cup.toml", "--shard", "4/3"]).contains("is not a shard")
    );
}

#[test]
fn a_tuning_goes_on_where_it_was() {
    let folder = folder("tuning");
    let file = |steps: u32| {
        format!(
            "games = [\"tic_tac_toe\"]\nplayer = \"cadia-2007\"\nbudget = {{ playouts = 30 }}\nsteps = {steps}\n\
             matches_per_step = 4\nseed = 1\n[parameters]\nexploration = {{ start = 500, low = 1, high = 1000, log = true }}\n"
        )
    };
    fs::write(folder.join("tune.toml"), file(8)).expect("it is written");
    let tune = |store: &str| -> Value {
        let args = [
            "tune",
            "tune.toml",
            "--store",
            store,
            "--plot",
            "course.svg",
            "--json",
        ];
        serde_json::from_str(&good(&folder, &args)).expect("it is an object")
    };
    let (first, again) = (tune("a.sqlite"), tune("a.sqlite"));
    assert_eq!((&first, first["steps"].as_u64()), (&again, Some(8)));
    assert_eq!(first, tune("b.sqlite"), "the store changes nothing");
    assert_eq!(first["course"].as_array().map(Vec::len), Some(9));
    let picture = fs::read_to_string(folder.join("course.svg")).expect("it is written");
    assert!(picture.contains("<svg") && picture.contains("exploration"));
    fs::write(folder.join("tune.toml"), "games = []").expect("it is written");
    assert!(wrong(&folder, &["tune", "tune.toml"]).contains("not a valid tuning file"));
}

#[test]
fn what_cannot_be_sent_is_refused_before_anything_is_published() {
    let folder = folder("refused");
    let on = [
        "--on",
        "nats://127.0.0.1:1",
        "--any-build",
        "--reference-speed",
        "1000",
    ];
    let call = |players: &str| {
        let text = CUP.replace("\"mc\", \"random\", \"legal\"", players);
        let text = text.replace(", \"connect_four\"", "");
        fs::write(folder.join("cup.toml"), text).expect("it is written");
        wrong(&folder, &[&["tournament", "cup.toml"][..], &on].concat())
    };
    let words = call("\"mc\", \"http://127.0.0.1:9147\"");
    assert!(words.contains("is a remote player"), "{words}");
    // A server that is not there is the next thing that is wrong.
    let words = call("\"mc\", \"legal\"");
    assert!(
        words.contains("cannot connect to nats://127.0.0.1:1"),
        "{words}"
    );
    let words = wrong(&folder, &["queue", "--on", "nats://127.0.0.1:1", "list"]);
    assert!(words.contains("cannot connect"), "{words}");
    let words = wrong(
        &folder,
        &["queue", "--on", "nats://127.0.0.1:1", "pause", "a.b"],
    );
    assert!(words.contains("is not a name"), "{words}");
}
