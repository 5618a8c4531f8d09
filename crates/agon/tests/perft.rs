//! The `agon perft` command on files of expected counts.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn a_suite_of_counts_is_compared() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("suite");
    fs::create_dir_all(&folder).expect("the folder can be made");
    let run = |text: &str, args: &[&str]| {
        let file = folder.join("counts.toml");
        fs::write(&file, text).expect("the file can be written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
        let output = command.args(["perft", "--suite"]).arg(file).args(args);
        let output = output.output().expect("the binary runs");
        let text = String::from_utf8(output.stdout).expect("it is text");
        (output.status.code(), text)
    };
    let good = "[tic_tac_toe]\ncounts = [9, 72, 999]\n";
    let (code, text) = run(good, &["--engine", "all", "--most", "100"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.ends_with("3 passed, 0 failed\n"), "{text}");
    let (code, text) = run(good, &[]);
    let line = "FAILED  tic_tac_toe scalar: depth 3: 504 sequences, expected 999\n";
    assert_eq!(
        (code, text),
        (Some(1), format!("{line}0 passed, 1 failed\n"))
    );
    assert_eq!(run("[tic_tac_toe]\n", &[]).0, Some(2));
}
