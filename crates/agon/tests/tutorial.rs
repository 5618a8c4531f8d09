//! The tutorial is true: its commands are run in order and print what it says.
//!
//! A command `cat FILE` shows a file that the reader writes, so it is written. Commands that need Python are left as they are
//! where there is none.

use std::fs;
use std::path::Path;
use std::process::Command;

use expect_test::expect_file;

/// The tutorial with what its commands print now.
fn with_outputs(tutorial: &str, folder: &Path) -> String {
    let mut out = String::new();
    let mut lines = tutorial.lines().peekable();
    let mut in_tour = false;
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            in_tour = line == "```console";
        }
        out.push_str(line);
        out.push('\n');
        let Some(command) = line.strip_prefix("$ ").filter(|_| in_tour) else {
            continue;
        };
        let mut shown = String::new();
        while let Some(line) = lines.next_if(|next| !next.starts_with("```")) {
            shown.push_str(line);
            shown.push('\n');
        }
        if let Some(file) = command.strip_prefix("cat ") {
            fs::write(folder.join(file), &shown).expect("the file can be written");
            out.push_str(&shown);
        } else if command.contains("python3") && !has_python() {
            out.push_str(&shown);
        } else {
            out.push_str(&run(command, folder));
        }
    }
    out
}

fn has_python() -> bool {
    let output = Command::new("python3").arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}

fn run(command: &str, folder: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_agon"));
    let binaries = binary.parent().expect("it is in a folder").display();
    let path = std::env::var("PATH").unwrap_or_default();
    // Written to a file, because what goes on in the background would keep a pipe open.
    let script = format!("{{ {command}; }} > output.txt 2> errors.txt");
    let status = Command::new("sh")
        .args(["-c", &script])
        .env("PATH", format!("{binaries}:{path}"))
        .current_dir(folder)
        .status();
    status.expect("there is a shell");
    fs::read_to_string(folder.join("output.txt")).expect("it is text")
}

#[test]
fn the_tutorial_prints_what_it_says() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tutorial");
    fs::create_dir_all(&folder).expect("the folder can be made");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorial.md");
    let tutorial = fs::read_to_string(path).expect("it can be read");
    expect_file!["../../../docs/tutorial.md"].assert_eq(&with_outputs(&tutorial, &folder));
}
