//! `agon analyse` on sheets with faults of cells and roles: they are named, with the rule and its line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn agon(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_agon"))
        .args(args)
        .output()
        .expect("the binary runs")
}

fn write(name: &str, sheet: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cells");
    fs::create_dir_all(&folder).expect("the folder can be made");
    let path = folder.join(format!("{name}.kif"));
    fs::write(&path, sheet).expect("the file can be written");
    path
}

/// The exit code and the report.
fn analyse(name: &str, sheet: &str) -> (Option<i32>, Value) {
    let path = write(name, sheet);
    let path = path.to_string_lossy();
    let args = ["analyse", &path, "--games", "50", "--seconds", "120"];
    let output = agon(&[&args[..], &["--playouts", "2", "--json"]].concat());
    let report = serde_json::from_slice(&output.stdout).expect("one JSON object");
    (output.status.code(), report)
}

const FRAME: &str = "(<= (next (cell X ?c)) (true (cell X ?c)) (not (marked X)))";
const WRITE: &str = "(<= (next (cell X ?r)) (does ?r (mark X)))";

/// Red and blue mark cells of a board with this many coordinates, `X` in the rules, for four steps.
fn board(n_coordinates: usize, rules: &[&str]) -> String {
    let variables = ["?x", "?y", "?z"][..n_coordinates].join(" ");
    let indices: Vec<String> = ["?x", "?y", "?z"][..n_coordinates]
        .iter()
        .map(|variable| format!("(index {variable})"))
        .collect();
    let first = vec!["1"; n_coordinates].join(" ");
    let frame = "(role red)
(role blue)
(index 1) (index 2) (index 3)
(succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
(init (step 1)) (init (control red))
(<= (init (cell X blank)) INDICES)
(<= (legal ?r (mark X)) (true (control ?r)) (true (cell X blank)))
(<= (legal ?r noop) (role ?r))
(<= (marked X) (does ?r (mark X)))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (next (control red)) (true (control blue)))
(<= (next (control blue)) (true (control red)))
(<= terminal (true (step 5)))
(<= (goal red 100) (true (cell FIRST red)))
(<= (goal red 50) (not (true (cell FIRST red))))
(<= (goal blue 100) (not (true (cell FIRST red))))
(<= (goal blue 50) (true (cell FIRST red)))";
    let sheet = format!("{frame}\n{}\n", rules.join("\n"));
    sheet
        .replace("INDICES", &indices.join(" "))
        .replace("FIRST", &first)
        .replace('X', &variables)
}

/// The line on which a rule begins, with the variables of the board.
fn line_of(sheet: &str, n_coordinates: usize, rule: &str) -> u64 {
    let variables = ["?x", "?y", "?z"][..n_coordinates].join(" ");
    let rule = rule.replace('X', &variables);
    let line = sheet.lines().position(|line| line == rule);
    line.expect("the rule is there") as u64 + 1
}

/// Expects one fault of this kind: on which lines rules do what.
fn check_fault(
    name: &str,
    n_coordinates: usize,
    rules: &[&str],
    kind: &str,
    expected: &[(&str, &str)],
) {
    let sheet = board(n_coordinates, rules);
    let (code, report) = analyse(&format!("{name}_{n_coordinates}"), &sheet);
    assert_eq!(code, Some(1), "{report}");
    assert_eq!(report["ok"], false);
    let faults = report["faults"].as_array().expect("there are faults");
    assert_eq!(faults.len(), 1, "{report}");
    let fault = &faults[0];
    assert_eq!(fault["kind"], kind);
    assert_eq!(fault["step"], 1, "{fault}");
    let cell = fault["cell"].as_str().expect("the cell has a name");
    assert_eq!(cell.split(' ').count(), n_coordinates + 1, "{cell}");
    assert!(
        fault["message"]
            .as_str()
            .is_some_and(|text| text.contains(cell)),
        "{fault}"
    );
    assert!(
        fault["first"]
            .as_str()
            .is_some_and(|text| text.contains("(mark ")),
        "{fault}"
    );
    let found: Vec<(u64, &str)> = fault["rules"]
        .as_array()
        .expect("there are rules")
        .iter()
        .map(|rule| {
            (
                rule["line"].as_u64().unwrap_or(0),
                rule["does"].as_str().unwrap_or(""),
            )
        })
        .collect();
    let expected: Vec<(u64, &str)> = expected
        .iter()
        .map(|&(rule, does)| (line_of(&sheet, n_coordinates, rule), does))
        .collect();
    assert_eq!(found, expected, "{fault}");
}

#[test]
fn a_board_in_order_has_no_fault() {
    for n_coordinates in 1..=3 {
        let sheet = board(n_coordinates, &[FRAME, WRITE]);
        let (code, report) = analyse(&format!("sound_{n_coordinates}"), &sheet);
        assert_eq!(code, Some(0), "{report}");
        assert_eq!(report["faults"], Value::Array(Vec::new()));
    }
}

#[test]
fn a_cell_that_keeps_its_old_content_is_named_with_the_rule_that_fails_to_clear_it() {
    let keep = "(<= (next (cell X ?c)) (true (cell X ?c)))";
    for n_coordinates in 1..=3 {
        let rules = [WRITE, keep];
        let expected = [(keep, "keeps"), (WRITE, "writes")];
        check_fault("keeps", n_coordinates, &rules, "two-contents", &expected);
    }
    // A condition that is never met, and a copy of every fluent.
    let rules = [
        "(<= (next ?f) (true ?f) (is_cell ?f))",
        "(<= (is_cell (cell X ?c)) (true (cell X ?c)))",
        WRITE,
    ];
    let expected = [(rules[0], "keeps"), (WRITE, "writes")];
    check_fault("copies", 2, &rules, "two-contents", &expected);
}

#[test]
fn two_cells_are_a_board_if_one_is_blank() {
    let sheet = "(role red) (role blue)
(init (cell 1 blank)) (init (cell 2 blank)) (init (control red))
(<= (legal ?r (mark ?c)) (true (control ?r)) (true (cell ?c blank)))
(<= (legal ?r noop) (role ?r) (not (true (control ?r))))
(<= (next (cell ?c ?r)) (does ?r (mark ?c)))
(<= (next (cell ?c ?v)) (true (cell ?c ?v)))
(<= (next (control blue)) (true (control red)))
(<= (next done) (true (control blue)))
(<= terminal (true done))
(<= (goal red 100) (true (cell 1 red)))
(<= (goal red 0) (not (true (cell 1 red))))
(<= (goal blue 50) (role blue))";
    let (code, report) = analyse("two_cells", sheet);
    assert_eq!(code, Some(1), "{report}");
    let fault = &report["faults"][0];
    assert_eq!(fault["kind"], "two-contents", "{report}");
    assert_eq!(fault["rules"][0]["line"], 6, "{report}");
}

#[test]
fn a_cell_that_two_rules_write_is_named_with_both() {
    let other = "(<= (next (cell X seal)) (does ?r (mark X)))";
    for n_coordinates in 1..=3 {
        let rules = [FRAME, WRITE, other];
        let expected = [(WRITE, "writes"), (other, "writes")];
        check_fault("twice", n_coordinates, &rules, "two-contents", &expected);
    }
}

#[test]
fn a_cell_that_is_cleared_and_not_filled_is_named_with_the_rules_that_fill_others() {
    let never = "(<= (next (cell X ?r)) (does ?r (mark X)) (true (cell X ?r)))";
    for n_coordinates in 1..=3 {
        let rules = [FRAME, never];
        let expected = [(FRAME, "fills other cells")];
        check_fault("lost", n_coordinates, &rules, "lost-content", &expected);
    }
}

#[test]
fn infix_sheets_are_analysed_alike() {
    let keep = "(<= (next (cell X ?c)) (true (cell X ?c)))";
    let path = write("prefix", &board(2, &[WRITE, keep]));
    let output = agon(&[
        "show",
        &path.to_string_lossy(),
        "--stage",
        "rules",
        "--syntax",
        "infix",
    ]);
    let infix = String::from_utf8(output.stdout).expect("rules are text");
    let (code, report) = analyse("infix", &infix);
    assert_eq!(code, Some(1), "{report}");
    let rule = &report["faults"][0]["rules"][0];
    assert_eq!(rule["does"], "keeps");
    let text = rule["text"].as_str().expect("the rule has a text");
    assert!(
        text.starts_with("next(cell(X, Y, C)) :- true(cell(X, Y, C))"),
        "{text}"
    );
    let line = rule["line"].as_u64().expect("it has a line") as usize;
    assert!(
        infix
            .lines()
            .nth(line - 1)
            .is_some_and(|text| text.starts_with("next(cell("))
    );
}

#[test]
fn the_text_names_the_cell_and_the_rule() {
    let keep = "(<= (next (cell X ?c)) (true (cell X ?c)))";
    let sheet = board(2, &[WRITE, keep]);
    let path = write("text", &sheet);
    let output = agon(&[
        "analyse",
        &path.to_string_lossy(),
        "--games",
        "20",
        "--seconds",
        "120",
    ]);
    let text = String::from_utf8(output.stdout).expect("it is text");
    let line = line_of(&sheet, 2, keep);
    assert!(!text.contains("sound"), "{text}");
    assert!(text.contains("holds `blank` and `"), "{text}");
    assert!(
        text.contains(&format!("the rule on line {line} fails to clear it")),
        "{text}"
    );
    assert!(
        text.contains(&format!("line {line} keeps (cell ")),
        "{text}"
    );
    assert!(
        text.contains(": (<= (next (cell ?x ?y ?c)) (true (cell ?x ?y ?c)))"),
        "{text}"
    );
}

#[test]
fn things_that_share_a_place_are_no_fault() {
    // Two riders on a line may meet; both are known by name.
    let sheet = "(role a) (role b) (init (at 1 a)) (init (at 3 b)) (init (at 4 c)) (init (step 1))
        (succ 1 2) (succ 2 3) (succ 3 4)
        (<= (legal ?r ?d) (role ?r) (place ?d)) (place 1) (place 2) (place 3) (place 4)
        (<= (next (at ?d ?r)) (does ?r ?d)) (<= (next (at ?x c)) (true (at ?x c)))
        (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n)) (<= terminal (true (step 4)))
        (<= (goal ?r 100) (role ?r) (true (at 2 ?r))) (<= (goal ?r 0) (role ?r) (not (true (at 2 ?r))))";
    let (code, report) = analyse("places", sheet);
    assert_eq!(
        (code, &report["faults"]),
        (Some(0), &Value::Array(Vec::new())),
        "{report}"
    );
}

/// Ann decides alone; what bob says is written down and read by nobody but his own moves.
const SPEECH: &str =
    "(role ann) (role bob) (init (step 1)) (succ 1 2) (succ 2 3) (word yes) (word no)
(<= (legal ?r ?w) (role ?r) (word ?w))
(<= (legal bob again) (true (said yes)))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (next (said ?w)) (does bob ?w))
(<= (next (ruled ?w)) (does ann ?w))
(<= terminal (true (step 3)))
(<= (goal ?r 100) (role ?r) (true (ruled yes)))
(<= (goal ?r 0) (role ?r) (not (true (ruled yes))))
";

#[test]
fn a_role_without_influence_is_named() {
    let (code, report) = analyse("speech", SPEECH);
    assert_eq!(code, Some(1), "{report}");
    let faults = report["faults"].as_array().expect("there is a list");
    assert_eq!(faults.len(), 1, "{report}");
    assert_eq!(faults[0]["kind"], "no-influence");
    assert_eq!(
        faults[0]["message"],
        "bob has no influence: none of its moves changes the game"
    );
    // As soon as somebody reads it, it matters.
    let heard = SPEECH.replace(
        "(does ann ?w))",
        "(does ann ?w) (true (said ?w)))\n(<= (next (ruled ?w)) (does ann ?w) (true (step 1)))",
    );
    assert_ne!(heard, SPEECH);
    let (code, report) = analyse("heard", &heard);
    assert_eq!(code, Some(0), "{report}");
}

#[test]
fn a_role_that_never_has_a_choice_is_named() {
    let sheet = SPEECH.replace(
        "(<= (legal ?r ?w) (role ?r) (word ?w))",
        "(<= (legal ann ?w) (word ?w)) (legal bob yes)",
    );
    let sheet = sheet.replace("(<= (legal bob again) (true (said yes)))", "");
    let (code, report) = analyse("silent", &sheet);
    assert_eq!(code, Some(1), "{report}");
    assert_eq!(
        report["faults"][0]["message"],
        "bob has no influence: it never has a choice"
    );
}
