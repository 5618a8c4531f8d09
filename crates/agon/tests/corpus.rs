//! Conformance against a corpus of real and broken rulesheets, where there is one: the folder named by `AGON_CORPUS` has
//! `games/*.kif`, `gdl2/*.kif` and `invalid/*.kif` with `invalid/expected.tsv`. Without it these tests pass and say so.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../gdl/tests/laws/mod.rs"]
#[expect(
    dead_code,
    reason = "real sheets need larger limits than the laws for small text have"
)]
mod laws;

use agon_gdl::{Limits, Rules, Severity, Syntax, check, format, parse};

fn corpus() -> Option<PathBuf> {
    let path = std::env::var_os("AGON_CORPUS")
        .map(PathBuf::from)
        .filter(|path| path.is_dir());
    if path.is_none() {
        eprintln!("AGON_CORPUS names no folder: nothing is tested");
    }
    path
}

/// Path and bytes of the rulesheets in a folder of the corpus, by name.
fn sheets(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|end| end == "kif"))
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).expect("the file can be read");
        (path, bytes)
    };
    paths.into_iter().map(read).collect()
}

fn rules(path: &Path, bytes: &[u8]) -> Rules {
    check(&parse(bytes, &Limits::default())).unwrap_or_else(|findings| {
        let error = findings
            .iter()
            .find(|finding| finding.severity == Severity::Error);
        panic!("{}: {error:?}", path.display())
    })
}

#[test]
fn real_sheets_have_no_error() {
    let Some(corpus) = corpus() else { return };
    for folder in ["games", "gdl2"] {
        let sheets = sheets(&corpus.join(folder));
        assert!(!sheets.is_empty(), "{folder} holds rulesheets");
        for (path, bytes) in sheets {
            let rules = rules(&path, &bytes);
            assert!(!rules.roles.is_empty(), "{}", path.display());
            assert!(
                folder != "gdl2" || rules.is_gdl2() || uses_random(&rules),
                "{}",
                path.display()
            );
        }
    }
}

fn uses_random(rules: &Rules) -> bool {
    rules
        .roles
        .iter()
        .any(|role| rules.term_text(role).eq_ignore_ascii_case("random"))
}

#[test]
fn formatting_real_sheets_keeps_comments_and_rules() {
    let Some(corpus) = corpus() else { return };
    let limits = Limits::default();
    for (path, bytes) in sheets(&corpus.join("games")) {
        let name = path.display();
        let once =
            format(&bytes, &limits).unwrap_or_else(|findings| panic!("{name}: {findings:?}"));
        let twice =
            format(&once, &limits).unwrap_or_else(|findings| panic!("{name}: {findings:?}"));
        assert!(
            once == twice,
            "{name}: formatting twice is not formatting once"
        );
        let comments =
            |bytes: &[u8]| laws::comments(&String::from_utf8_lossy(bytes), Syntax::Prefix);
        assert_eq!(comments(&bytes), comments(&once), "{name}");
        let (before, after) = (rules(&path, &bytes), rules(&path, &once));
        assert!(
            before.to_text(Syntax::Prefix) == after.to_text(Syntax::Prefix),
            "{name}: rules differ"
        );
    }
}

#[test]
fn real_sheets_survive_both_syntaxes() {
    let Some(corpus) = corpus() else { return };
    for (path, bytes) in sheets(&corpus.join("games")) {
        let name = path.display();
        let original = rules(&path, &bytes);
        let infix = original.to_text(Syntax::Infix);
        let from_infix = rules(&path, infix.as_bytes());
        assert_eq!(from_infix.syntax, Syntax::Infix, "{name}");
        assert!(
            laws::canonical(&original) == laws::canonical(&from_infix),
            "{name}: infix differs"
        );
        let back = rules(&path, from_infix.to_text(Syntax::Prefix).as_bytes());
        assert!(
            laws::canonical(&original) == laws::canonical(&back),
            "{name}: the way back differs"
        );
        let formatted =
            format(infix.as_bytes(), &Limits::default()).expect("infix can be formatted");
        let again = rules(&path, &formatted);
        assert!(
            laws::canonical(&original) == laws::canonical(&again),
            "{name}: formatted infix differs"
        );
    }
}

/// A row of `expected.tsv`.
struct Expected<'a> {
    file: &'a str,
    severity: &'a str,
    lines: std::ops::RangeInclusive<u32>,
}

impl Expected<'_> {
    fn parse(row: &str) -> Expected<'_> {
        let cells: Vec<&str> = row.split('\t').collect();
        let number = |idx: usize| cells[idx].parse().expect("a line is a number");
        Expected {
            file: cells[0],
            severity: cells[2],
            lines: number(4)..=number(5),
        }
    }

    /// What is missing, if something is.
    fn verdict(&self, bytes: &[u8]) -> Option<String> {
        let description = parse(bytes, &Limits::default());
        let findings = match check(&description) {
            Ok(rules) => rules.warnings,
            Err(findings) => findings,
        };
        let has = |severity: Severity| {
            findings.iter().any(|finding| {
                let line = finding
                    .place(&description.source)
                    .map_or(0, |place| place.line);
                finding.severity >= severity && self.lines.contains(&line)
            })
        };
        let is_met = match self.severity {
            "error" => has(Severity::Error),
            "warning" => has(Severity::Warning),
            "accept" | "runtime" => !findings.has_errors(),
            _ => true,
        };
        (!is_met).then(|| {
            format!(
                "{}: expected {} in lines {:?}, found {findings:?}",
                self.file, self.severity, self.lines
            )
        })
    }
}

#[test]
fn broken_sheets_are_refused_where_they_are_broken() {
    let Some(corpus) = corpus() else { return };
    let table =
        fs::read_to_string(corpus.join("invalid/expected.tsv")).expect("the table can be read");
    let mut misses = Vec::new();
    for row in table.lines().skip(1) {
        let expected = Expected::parse(row);
        let bytes =
            fs::read(corpus.join("invalid").join(expected.file)).expect("the file can be read");
        misses.extend(expected.verdict(&bytes));
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}
