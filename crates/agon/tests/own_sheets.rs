//! Sheets of one's own: metadata beside them, standard input, and `--watch`.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("own_sheets")
        .join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

fn agon(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_agon"))
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the binary runs")
}

fn with_stdin(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_agon"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("it has a standard input");
    stdin.write_all(input.as_bytes()).expect("it reads");
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("it is text")
}

/// The example of docs/METADATA.md: rules and metadata.
fn example() -> (String, String) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/METADATA.md");
    let page = fs::read_to_string(page).expect("the page is there");
    let block = |language: &str| {
        let start = format!("```{language}\n");
        let (_, rest) = page.split_once(&start).expect("there is such a block");
        let (block, _) = rest.split_once("```").expect("it ends");
        block.to_owned()
    };
    (block("lisp"), block("toml"))
}

/// The errors or warnings about the metadata: line, column and message.
fn findings(output: &Output, severity: &str) -> Vec<(u64, u64, String)> {
    let lines = text(&output.stdout);
    let reports = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("it is JSON"));
    let of_metadata = |report: &Value| {
        report["file"]
            .as_str()
            .is_some_and(|file| file.ends_with(".toml"))
    };
    let report: Value = reports
        .into_iter()
        .find(of_metadata)
        .expect("there is a report");
    let list = report[severity]
        .as_array()
        .expect("there is a list")
        .clone();
    list.iter()
        .map(|finding| {
            let number = |key: &str| finding[key].as_u64().expect("a number");
            let message = finding["message"].as_str().expect("a text").to_owned();
            (number("line"), number("column"), message)
        })
        .collect()
}

#[test]
fn the_example_of_the_documentation_works() {
    let folder = folder("example");
    let (sheet, metadata) = example();
    fs::write(folder.join("corners.kif"), sheet).expect("it can be written");
    fs::write(folder.join("corners.toml"), metadata).expect("it can be written");
    for file in ["corners.kif", "corners.toml"] {
        let output = agon(&folder, &["check", file]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
        assert_eq!(
            text(&output.stdout),
            format!("{file}: ok, 0 errors, 0 warnings\n")
        );
    }
    let output = agon(&folder, &["show", "corners.kif"]);
    let shown = text(&output.stdout);
    assert!(
        shown.starts_with("Corners\n  Mark both ends of a diagonal of four cells.\n"),
        "{shown}"
    );
    assert!(
        shown.contains("2 . .") && shown.contains("1 . ."),
        "{shown}"
    );
    assert_eq!(text(&output.stderr), "");
    // Glyphs of the metadata, not of the guess.
    fs::write(folder.join("moves.txt"), "(mark 1 1) noop\n").expect("it can be written");
    let args = [
        "search",
        "corners.kif",
        "--playouts",
        "10",
        "--moves",
        "moves.txt",
    ];
    let shown = text(&agon(&folder, &args).stdout);
    assert!(shown.contains("1 O ."), "{shown}");
}

/// Checks the example with a change to its metadata: errors and warnings.
fn check_change(
    name: &str,
    from: &str,
    to: &str,
    errors: &[(u64, u64, &str)],
    warnings: &[(u64, u64, &str)],
) {
    let folder = folder(name);
    let (sheet, metadata) = example();
    let changed = metadata.replacen(from, to, 1);
    assert_ne!(changed, metadata);
    fs::write(folder.join("corners.kif"), sheet).expect("it can be written");
    fs::write(folder.join("corners.toml"), changed).expect("it can be written");
    for file in ["corners.kif", "corners.toml"] {
        let output = agon(&folder, &["check", "--json", file]);
        assert_eq!(output.status.code(), Some(i32::from(!errors.is_empty())));
        for (severity, expected) in [("errors", errors), ("warnings", warnings)] {
            let found = findings(&output, severity);
            let found: Vec<(u64, u64, &str)> = found
                .iter()
                .map(|(line, column, message)| (*line, *column, message.as_str()))
                .collect();
            assert_eq!(found, expected, "{name} {severity}");
        }
    }
}

#[test]
fn metadata_that_does_not_fit_is_told_with_its_place() {
    check_change(
        "role",
        "black = \"Black\"",
        "grey = \"Grey\"",
        &[(
            8,
            1,
            "the game has no role `grey`; its roles are black, white",
        )],
        &[(6, 2, "the role `black` has no name here")],
    );
    check_change(
        "kind",
        "\"turn-taking\"",
        "\"single-player\"",
        &[(2, 1, "the kind is single-player, but the game has 2 roles")],
        &[],
    );
    check_change(
        "fluent",
        "fluent = \"cell\"",
        "fluent = \"sell\"",
        &[(16, 1, "the fluent `sell` can never hold")],
        &[],
    );
    check_change(
        "argument",
        "content = [3]",
        "content = [4]",
        &[(19, 1, "`cell` has 3 arguments, so there is no argument 4")],
        &[],
    );
    check_change(
        "glyph",
        "black = \"X\"",
        "black = \"XX\"",
        &[(
            20,
            25,
            "the glyph of `black` must be one character, not \"XX\"",
        )],
        &[],
    );
    check_change(
        "content",
        "black = \"X\"",
        "blue = \"X\"",
        &[(20, 25, "`cell` never has the content `blue`")],
        &[],
    );
    check_change(
        "move",
        "mark = \"{1}-{2}\"",
        "march = \"{1}\"",
        &[(23, 1, "no role can ever make a move `march`")],
        &[],
    );
    check_change(
        "placeholder",
        "\"{1}-{2}\"",
        "\"{1}-{3}\"",
        &[(23, 1, "`{3}`: the move `mark` has 2 arguments")],
        &[],
    );
    check_change(
        "coordinates",
        "columns = [[\"1\", \"2\"]] ",
        "columns = [[\"1\", \"9\", \"7\"]] ",
        &[],
        &[
            (
                12,
                1,
                "`cell` also has the coordinate `2`, which is not drawn",
            ),
            (12, 1, "no fluent of the board ever has the coordinate `9`"),
        ],
    );
}

#[test]
fn metadata_that_cannot_be_read_is_an_error_to_check_and_a_warning_to_others() {
    let folder = folder("unread");
    let (sheet, metadata) = example();
    fs::write(folder.join("corners.kif"), sheet).expect("it can be written");
    for (changed, line, column, part) in [
        (
            metadata.replace("source =", "sauce ="),
            4,
            1,
            "unknown field `sauce`",
        ),
        (
            metadata.replace("title = \"Corners\"", "title = 4"),
            1,
            9,
            "invalid type",
        ),
        (
            metadata.replace("title = \"Corners\"", "title = Corners"),
            1,
            9,
            "",
        ),
    ] {
        fs::write(folder.join("corners.toml"), changed).expect("it can be written");
        let output = agon(&folder, &["check", "--json", "corners.kif"]);
        assert_eq!(output.status.code(), Some(1));
        let found = findings(&output, "errors");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].0, found[0].1), (line, column), "{found:?}");
        assert!(found[0].2.contains(part), "{found:?}");
        let output = agon(&folder, &["show", "corners.kif"]);
        assert_eq!(output.status.code(), Some(0));
        let warning = text(&output.stderr);
        assert!(
            warning.contains(&format!("warning: corners.toml:{line}:{column}: ")),
            "{warning}"
        );
        assert!(text(&output.stdout).starts_with("corners.kif\n"));
    }
}

#[test]
fn a_title_alone_keeps_the_guessed_board() {
    let folder = folder("title");
    let (sheet, _) = example();
    fs::write(folder.join("corners.kif"), sheet).expect("it can be written");
    fs::write(
        folder.join("corners.toml"),
        "description = \"Four cells.\"\n",
    )
    .expect("it can be written");
    let shown = text(&agon(&folder, &["show", "corners.kif"]).stdout);
    assert!(shown.starts_with("corners\n  Four cells.\n"), "{shown}");
    assert!(shown.contains("2 . ."), "{shown}");
}

#[test]
fn a_board_with_one_coordinate_is_a_row() {
    let folder = folder("row");
    let sheet = "(role robot) (init (cell 1 b)) (init (cell 2 x)) (init (cell 3 b))
        (legal robot stop) (<= (next over) (does robot stop)) (<= terminal (true over)) (goal robot 100)";
    let metadata = "[board]\nshape = \"square\"\ncolumns = [[\"1\", \"2\", \"3\"]]\nrows = []\n
        [[board.layers]]\nfluent = \"cell\"\ncolumn = [1]\nrow = []\ncontent = [2]\nglyphs = { x = \"X\" }\n";
    fs::write(folder.join("row.kif"), sheet).expect("it can be written");
    fs::write(folder.join("row.toml"), metadata).expect("it can be written");
    let output = agon(&folder, &["check", "row.toml"]);
    assert_eq!(text(&output.stdout), "row.toml: ok, 0 errors, 0 warnings\n");
    let shown = text(&agon(&folder, &["show", "row.kif"]).stdout);
    assert!(shown.contains(" . X ."), "{shown}");
}

#[test]
fn metadata_without_a_rulesheet_is_an_error() {
    let folder = folder("alone");
    fs::write(folder.join("corners.toml"), "title = \"Corners\"\n").expect("it can be written");
    let output = agon(&folder, &["check", "corners.toml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("there is no rulesheet corners.kif beside it"));
}

#[test]
fn standard_input_is_checked_and_shown() {
    let (sheet, _) = example();
    let output = with_stdin(&["check", "-"], &sheet);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stdout), "<stdin>: ok, 0 errors, 0 warnings\n");
    let output = with_stdin(&["check", "-"], "(role white)\n(legal white");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stdout).contains("--> <stdin>:2:1"),
        "{}",
        text(&output.stdout)
    );
    let output = with_stdin(&["check", "--json", "-"], "");
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(
        (&report["file"], &report["ok"]),
        (&"-".into(), &false.into())
    );
    let output = with_stdin(&["show", "-"], &sheet);
    assert!(text(&output.stdout).starts_with("<stdin>\n"));
    assert_eq!(
        with_stdin(&["check", "-", "-"], &sheet).status.code(),
        Some(2)
    );
    assert_eq!(
        with_stdin(&["check", "--watch", "-"], &sheet).status.code(),
        Some(2)
    );
}

#[test]
fn a_missing_full_stop_has_a_place() {
    let sheet = "role(white).\nlegal(white, go)\ngoal(white, 100).\nterminal :- true(over).\nnext(over) :- does(white, go).\n";
    let output = with_stdin(&["check", "--json", "-"], sheet);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let errors = report["errors"].as_array().expect("there is a list");
    assert_eq!(errors.len(), 1, "{report}");
    assert_eq!(
        (&errors[0]["line"], &errors[0]["column"]),
        (&2.into(), &16.into())
    );
    let output = with_stdin(&["check", "-"], &sheet.replace("go)\ngoal", "go).\ngoal"));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn base_and_input_throughout_with_other_arguments_play() {
    let (sheet, _) = example();
    let old = format!(
        "{sheet}(base cell 3)\n(base control 1)\n(input white mark 2)\n(<= (used ?f) (base ?f ?n))\n(<= (next (log ?r)) (input ?r mark 2) (used cell))\n(input black noop 0)\n"
    );
    let output = with_stdin(&["check", "--play", "--json", "-"], &old);
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(output.status.code(), Some(0), "{report}");
    let warnings = report["warnings"].as_array().expect("there is a list");
    let n_told = warnings
        .iter()
        .filter(|warning| warning["kind"] == "keyword-arity");
    assert_eq!(n_told.count(), 2, "{report}");
    for slip in [
        "(base cell 3)\n",
        "(input white)\n",
        "(base (control white))\n(base cell 3)\n(base step 1)\n",
    ] {
        let output = with_stdin(&["check", "-"], &format!("{sheet}{slip}"));
        assert_eq!(output.status.code(), Some(1), "{slip}");
    }
}

/// Starts a command that watches, and kills it in the end.
struct Watcher {
    child: std::process::Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Watcher {
    fn new(folder: &Path, args: &[&str]) -> Watcher {
        let mut child = Command::new(env!("CARGO_BIN_EXE_agon"))
            .args(args)
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs");
        let stdout = child.stdout.take().expect("it has a standard output");
        Watcher {
            child,
            lines: BufReader::new(stdout).lines(),
        }
    }

    /// Reads lines until one begins like this, and gives it.
    fn until(&mut self, beginning: &str) -> String {
        let mut lines = self.lines.by_ref().map(|line| line.expect("it is text"));
        lines
            .find(|line| line.starts_with(beginning))
            .expect("there is such a line")
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Replaces a file as editors do: by a new one that is renamed.
fn replace(folder: &Path, name: &str, text: &str) {
    let new = folder.join("new.tmp");
    fs::write(&new, text).expect("it can be written");
    fs::rename(&new, folder.join(name)).expect("it can be renamed");
}

#[test]
fn check_runs_again_when_a_file_changes() {
    let folder = folder("watch");
    let (sheet, metadata) = example();
    fs::write(folder.join("corners.kif"), &sheet).expect("it can be written");
    fs::write(folder.join("other.kif"), &sheet).expect("it can be written");
    let mut watcher = Watcher::new(&folder, &["check", "--watch", "corners.kif", "other.kif"]);
    assert_eq!(
        watcher.until("other.kif:"),
        "other.kif: ok, 0 errors, 0 warnings"
    );
    replace(&folder, "corners.kif", "(role white)\n");
    assert_eq!(watcher.until("---"), "--- corners.kif changed ---");
    assert!(
        watcher
            .until("corners.kif:")
            .starts_with("corners.kif: cannot be played")
    );
    watcher.until("other.kif:");
    replace(&folder, "corners.kif", &sheet);
    watcher.until("---");
    assert_eq!(
        watcher.until("corners.kif:"),
        "corners.kif: ok, 0 errors, 0 warnings"
    );
    watcher.until("other.kif:");
    // Metadata that is new.
    replace(
        &folder,
        "other.toml",
        &metadata.replace("[roles]", "[rolls]"),
    );
    assert_eq!(watcher.until("---"), "--- other.toml changed ---");
    assert!(watcher.until("other.toml:").contains("1 error"));
}

#[test]
fn show_runs_again_when_its_file_changes() {
    let folder = folder("watch_show");
    let (sheet, _) = example();
    fs::write(folder.join("corners.kif"), &sheet).expect("it can be written");
    let mut watcher = Watcher::new(&folder, &["show", "--watch", "corners.kif"]);
    assert!(watcher.until("  roles").ends_with("white, black"));
    // A file with errors does not end it.
    replace(&folder, "corners.kif", "(role");
    watcher.until("---");
    replace(&folder, "corners.kif", &sheet.replace("black", "green"));
    watcher.until("---");
    assert!(watcher.until("  roles").ends_with("white, green"));
}
