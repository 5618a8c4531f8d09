//! Files that nobody would write, except to see what happens: each ends with an answer, a short one, and without a crash.
//! They are made here, because large files do not belong into the repository.

use std::path::Path;
use std::process::Command;

/// Runs `agon check --json` on a file with these bytes: the kinds of its errors.
fn errors(name: &str, bytes: impl AsRef<[u8]>) -> Vec<String> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hostile_{name}"));
    std::fs::write(&path, bytes).expect("the file can be written");
    let output = Command::new(env!("CARGO_BIN_EXE_agon"))
        .args(["check", "--json"])
        .arg(&path)
        .output()
        .expect("the binary runs");
    let _ = std::fs::remove_file(&path);
    let code = output.status.code().expect("it was not killed");
    assert!(code < 2, "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("it answers in JSON");
    assert_eq!(report["ok"], code == 0);
    let findings = |key: &str| report[key].as_array().cloned().expect("it is a list");
    for finding in findings("errors").iter().chain(&findings("warnings")) {
        let message = finding["message"].as_str().expect("it is a text");
        assert!(
            !message.is_empty() && message.chars().count() < 600,
            "{message}"
        );
    }
    let kinds = findings("errors");
    kinds
        .iter()
        .map(|error| error["kind"].as_str().expect("it is a text").to_owned())
        .collect()
}

/// A game that can be played, around the text in question.
fn in_a_game(text: &str) -> String {
    format!("(role a) (legal a go) (goal a 100) (<= terminal (true b))\n{text}\n")
}

#[test]
fn a_hundred_thousand_brackets() {
    let (open, close) = ("(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(errors("open", &open), ["unclosed", "too-deep"]);
    assert!(errors("close", &close).contains(&"unopened".to_owned()));
    assert_eq!(
        errors("both", in_a_game(&format!("{open}a{close}"))),
        ["too-deep"]
    );
    let terms = format!("(p {}a{})", "(f ".repeat(100_000), close);
    assert_eq!(errors("terms", in_a_game(&terms)), ["too-deep"]);
    let nots = format!("(<= q {}(true b){})", "(not ".repeat(100_000), close);
    assert_eq!(errors("nots", in_a_game(&nots)), ["too-deep"]);
}

#[test]
fn a_hundred_thousand_brackets_in_infix() {
    let open = "f(".repeat(100_000);
    assert_eq!(errors("infix_calls.gdl", format!("p({open}")), ["too-deep"]);
    let brackets = "(".repeat(100_000);
    assert_eq!(
        errors("infix_brackets.gdl", format!("p :- {brackets}a")),
        ["too-deep"]
    );
    let nots = "~".repeat(100_000);
    assert_eq!(
        errors("infix_nots.gdl", format!("p :- {nots}a.")),
        ["too-deep"]
    );
}

#[test]
fn as_deep_as_allowed() {
    let nested = format!("(<= q {}(true b){})", "(or ".repeat(390), ")".repeat(390));
    assert_eq!(errors("allowed", in_a_game(&nested)), [""; 0]);
}

#[test]
fn a_name_of_ten_megabytes() {
    let name = "x".repeat(10_000_000);
    assert_eq!(
        errors("name", in_a_game(&format!("(p {name})"))),
        ["name-too-long"]
    );
    assert!(errors("only_name", &name).contains(&"name-too-long".to_owned()));
    assert_eq!(
        errors("infix_name.gdl", format!("p({name}).")),
        ["name-too-long"]
    );
}

#[test]
fn a_comment_of_ten_megabytes() {
    assert_eq!(
        errors("comment", in_a_game(&";x".repeat(5_000_000))),
        [""; 0]
    );
    assert_eq!(
        errors("only_comment", ";x".repeat(5_000_000)),
        ["empty-description"]
    );
}

#[test]
fn bytes_that_are_no_text() {
    assert_eq!(errors("nul", in_a_game("(p a\0b)")), ["nul-byte"]);
    assert_eq!(errors("nuls", vec![0; 1_000_000]), ["not-text"]);
    assert_eq!(
        errors(
            "binary",
            (0..=255).cycle().take(100_000).collect::<Vec<u8>>()
        ),
        ["not-text"]
    );
    let utf16: Vec<u8> = in_a_game("")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(errors("utf16", &utf16), ["not-text"]);
    assert_eq!(
        errors("utf16_mark", [&[0xFF, 0xFE], utf16.as_slice()].concat()),
        ["not-text"]
    );
    let latin = [in_a_game("").as_bytes(), b"(p caf\xE9)\n"].concat();
    assert_eq!(errors("latin", latin), ["bad-utf8"]);
    let comment = [in_a_game("").as_bytes(), b"; caf\xE9\n"].concat();
    assert_eq!(errors("latin_comment", comment), [""; 0]);
}

#[test]
fn nothing_at_all() {
    assert_eq!(errors("empty", ""), ["empty-description"]);
    assert_eq!(errors("blank", " \n\t\r\n"), ["empty-description"]);
    assert_eq!(errors("mark", "\u{FEFF}"), ["empty-description"]);
}

#[test]
fn more_than_the_limit() {
    assert_eq!(errors("large", vec![b'('; (64 << 20) + 1]), ["too-large"]);
}

#[test]
fn a_million_faults_are_counted_and_a_thousand_kept() {
    assert_eq!(errors("unopened", ")".repeat(1_000_000)).len(), 1000);
    assert_eq!(
        errors("unsafe", in_a_game(&"(p ?x)\n".repeat(200_000))).len(),
        1000
    );
}

#[test]
fn chains_of_a_hundred_thousand_rules() {
    let chain: String = (0..100_000)
        .map(|n| format!("(<= (p{n} ?x) (p{} ?x))\n", n + 1))
        .collect();
    assert_eq!(errors("chain", in_a_game(&chain)), [""; 0]);
    let negative: String = (0..100_000)
        .map(|n| format!("(<= p{n} (not p{}))\n", n + 1))
        .collect();
    assert_eq!(errors("negative_chain", in_a_game(&negative)), [""; 0]);
}

#[test]
fn a_rule_with_a_hundred_thousand_variables() {
    let names: String = (0..100_000).map(|n| format!(" ?v{n}")).collect();
    assert_eq!(
        errors(
            "variables",
            in_a_game(&format!("(<= (p{names}) (q{names}))"))
        ),
        [""; 0]
    );
    let alternatives: String = (0..100_000).map(|n| format!(" (q ?v{n})")).collect();
    assert_eq!(
        errors(
            "alternatives",
            in_a_game(&format!("(<= p (or{alternatives}))"))
        ),
        [""; 0]
    );
}
