//! The tour of the README is true: its commands are run and print what it says.

use std::path::Path;
use std::process::Command;

use expect_test::expect_file;

/// The README with what its commands print now.
fn with_outputs(readme: &str, folder: &Path) -> String {
    let mut out = String::new();
    let mut lines = readme.lines().peekable();
    let mut in_tour = false;
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            in_tour =
                line == "```console" && lines.peek().is_some_and(|next| next.starts_with("$ "));
        }
        out.push_str(line);
        out.push('\n');
        let Some(command) = line.strip_prefix("$ ").filter(|_| in_tour) else {
            continue;
        };
        let mut shown = String::new();
        while let Some(line) =
            lines.next_if(|next| !next.starts_with("$ ") && !next.starts_with("```"))
        {
            shown.push_str(line);
            shown.push('\n');
        }
        // A file that is shown is one that the reader writes.
        if let Some(file) = command.strip_prefix("cat ") {
            std::fs::write(folder.join(file), &shown).expect("the file can be written");
        }
        // Times differ from run to run: those of the README stay.
        let times = shown.lines().find(|line| line.starts_with("  times "));
        for line in run(command, folder).lines() {
            out.push_str(
                times
                    .filter(|_| line.starts_with("  times "))
                    .unwrap_or(line),
            );
            out.push('\n');
        }
    }
    out
}

fn run(command: &str, folder: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_agon"));
    let binaries = binary.parent().expect("it is in a folder").display();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", &format!("({command}) 2>&1")])
        .env("PATH", format!("{binaries}:{path}"))
        .current_dir(folder)
        .output()
        .expect("there is a shell");
    String::from_utf8(output.stdout).expect("it is text")
}

#[test]
fn the_tour_prints_what_it_says() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme");
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(path).expect("it can be read");
    expect_file!["../../../README.md"].assert_eq(&with_outputs(&readme, &folder));
}
