//! Reading and checking takes time in proportion to the length of a sheet, whatever its shape.
//!
//! One megabyte of each shape by default. `AGON_MEGABYTES=10` makes them ten times as long, and prints the times:
//!
//! ```console
//! AGON_MEGABYTES=10 cargo test --release -p agon-gdl --test linear -- --nocapture --test-threads 1
//! ```

use std::fmt::Write;
use std::time::Duration;

use agon_gdl::{Limits, check, parse};
use cpu_time::ThreadTime;

/// A megabyte may take this time of a CPU. Quadratic work on a megabyte takes minutes. (Debug builds are slow.)
const PER_MEGABYTE: Duration =
    Duration::from_millis(if cfg!(debug_assertions) { 6000 } else { 200 });

fn megabytes() -> usize {
    let number = std::env::var("AGON_MEGABYTES").ok();
    number.and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// Repeats a pattern, in which `{}` is the number of the repetition, `{+}` the next number and `{~}` a number far away.
fn repeated(pattern: &str, length: usize) -> String {
    let pieces: Vec<&str> = pattern.split_inclusive('}').collect();
    let n_repetitions = length / (pattern.len() + 5);
    let mut text = String::with_capacity(length + 100);
    for number in 0..n_repetitions {
        for piece in &pieces {
            let marks = ["{}", "{+}", "{~}"];
            let mark = marks.into_iter().position(|mark| piece.ends_with(mark));
            let Some(mark) = mark else {
                text.push_str(piece);
                continue;
            };
            let value = match mark {
                0 => number,
                1 => number + 1,
                _ => number * 7919 % n_repetitions,
            };
            let literal = &piece[..piece.len() - marks[mark].len()];
            write!(text, "{literal}{value}").expect("text can be written");
        }
    }
    text
}

const FRAME: &str =
    "(role r) (init s) (legal r go) (<= (next s) (true s)) (goal r 50) (<= terminal (true t))\n";

/// A name, and the parts of a sheet: what comes before the repetitions, what is repeated, and what comes after.
type Shape = [&'static str; 4];

/// Checks sheets of these shapes and fails if one of them takes too long.
fn check_all(shapes: &[Shape]) {
    let most = PER_MEGABYTE * u32::try_from(megabytes()).expect("a small number");
    let times = shapes.iter().map(|shape| (shape[0], measure(*shape)));
    let slow: Vec<_> = times.filter(|(_, took)| *took > most).collect();
    assert!(slow.is_empty(), "these shapes take too long: {slow:?}");
}

/// How long it takes to read and check a sheet of a shape.
fn measure([name, before, pattern, after]: Shape) -> Duration {
    let length = megabytes() << 20;
    time(
        name,
        &format!("{FRAME}{before}{}{after}", repeated(pattern, length)),
    )
}

/// How long it takes to read and check a sheet.
fn time(name: &str, sheet: &str) -> Duration {
    let begin = ThreadTime::now();
    let description = parse(sheet.as_bytes(), &Limits::default());
    let parsed = begin.elapsed();
    let result = check(&description);
    let took = begin.elapsed();
    let (n_errors, n_warnings) = match &result {
        Ok(rules) => (0, rules.warnings.iter().count()),
        Err(findings) => (findings.iter().count(), 0),
    };
    println!(
        "{name}: {:.2} s to read, {:.2} s in all, {} MB; {n_errors} errors, {n_warnings} warnings",
        parsed.as_secs_f64(),
        took.as_secs_f64(),
        peak_megabytes()
    );
    took
}

/// The most memory that the process has had since this was last called, where the system tells.
fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|peak| peak.split_whitespace().next()?.parse().ok());
    // Where this is not possible, the peak is that of all sheets so far.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    kilobytes.unwrap_or(0u64) / 1000
}

#[test]
fn long_rules() {
    check_all(&[
        ["facts in a body", "(<= (p ?x) (q ?x) ", "(q {})", ") (q 1)"],
        [
            "literals with one variable",
            "(<= (p ?x) ",
            "(q ?x {})",
            ") (q 1 1)",
        ],
        ["the same literal", "(<= (p ?x) ", "(q ?x a)", ") (q 1 a)"],
        ["negations", "(<= (p ?x) (q ?x) ", "(not (q {}))", ") (q 1)"],
        [
            "inequalities",
            "(<= (p ?x) (q ?x) ",
            "(distinct ?x {})",
            ") (q 1)",
        ],
        ["fluents in a body", "(<= (p ?x) ", "(true (f ?x {}))", ")"],
        ["alternatives", "(<= (p ?x) (or ", "(q ?x {})", ")) (q 1 1)"],
        [
            "many ors",
            "(<= (p ?x) (q ?x 1) ",
            "(or (q ?x {}) (q ?x a))",
            ") (q 1 1)",
        ],
        [
            "conjunctions",
            "(<= (p ?x) (or ",
            "(and (q ?x {}) (q {} ?x))",
            ")) (q 1 1)",
        ],
    ]);
}

#[test]
fn many_variables() {
    check_all(&[
        [
            "a chain of variables",
            "(<= (p ?v0) ",
            "(q ?v{} ?v{+})",
            ") (q 1 1)",
        ],
        [
            "variables in any order",
            "(<= (p ?v0) ",
            "(q ?v{} ?v{~})",
            ") (q 1 1)",
        ],
        [
            "variables that occur once",
            "(<= (p ?v0) ",
            "(q ?v{})",
            ") (q 1)",
        ],
        ["variables of an atom", "(<= (p ?v0) (q ", "?v{} ", "))"],
        [
            "pairs of different ones",
            "(<= (p ?v0) (q ?v0) ",
            "(q ?v{})(distinct ?v{} ?v{~})",
            ") (q 1)",
        ],
        [
            "equalities",
            "(<= (p ?v0) (q ?v0) ",
            "(not (distinct ?v{} ?v{+}))",
            ") (q 1)",
        ],
        [
            "equalities backwards",
            "(<= (p ?v0) (q ?v0) ",
            "(not (distinct ?v{+} ?v{}))",
            ") (q 1)",
        ],
        [
            "equalities in any order",
            "(<= (p ?v0) (q ?v0) ",
            "(not (distinct ?v{} ?v{~}))",
            ") (q 1)",
        ],
        [
            "variables of alternatives",
            "(<= (p ?x) (or ",
            "(q ?x ?v{})",
            ")) (q 1 1)",
        ],
        [
            "variables of many ors",
            "(<= (p ?x) (q ?x 1) ",
            "(or (q ?v{} 1) (q 1 ?v{}))",
            ") (q 1 1)",
        ],
        [
            "unsafe variables",
            "(<= (p ?x) (q ?x) ",
            "(not (q ?v{}))",
            ") (q 1)",
        ],
        [
            "unsafe variables in a head",
            "(<= (p ",
            "?v{} ",
            ") (q 1)) (q 1)",
        ],
        [
            "role variables",
            "(<= (p 1) (q 1) ",
            "(not (does ?v{} go))",
            ") (q 1)",
        ],
    ]);
}

#[test]
fn many_rules() {
    check_all(&[
        [
            "unknown fluents",
            "",
            "(init (f{} 1)) (<= p (true (g{} 1)))\n",
            "",
        ],
        [
            "unknown moves",
            "",
            "(legal r (f{} 1)) (<= p (does r (g{} 1)))\n",
            "",
        ],
        ["unknown roles", "", "(role r{}) (legal s{} go)\n", ""],
        ["facts of one relation", "", "(q {} {+})\n", ""],
        ["facts of many relations", "", "(q{} 1)\n", ""],
        ["the same fact", "", "(q 1 1)\n", ""],
        ["rules of one relation", "(q 1)", "(<= (p {}) (q {}))\n", ""],
        [
            "rules of many relations",
            "(q 1)",
            "(<= (p{} ?x) (q ?x))\n",
            "",
        ],
        [
            "a chain of relations",
            "(p0 1)",
            "(<= (p{+} ?x) (p{} ?x))\n",
            "",
        ],
        [
            "a chain of negations",
            "(p0 1) (q 1)",
            "(<= (p{+} ?x) (q ?x) (not (p{} ?x)))\n",
            "",
        ],
        [
            "relations in any order",
            "",
            "(<= (p{} ?x) (p{~} ?x))\n",
            "",
        ],
        [
            "negations in any order",
            "(q 1)",
            "(<= (p{} ?x) (q ?x) (not (p{~} ?x)))\n",
            "",
        ],
        [
            "recursion with terms",
            "(q 1)",
            "(<= (p{} (f ?x)) (p{~} ?x))\n",
            "",
        ],
        ["fluents", "", "(init (f{} 1))\n", ""],
        [
            "next fluents",
            "",
            "(<= (next (f{} ?x)) (true (f{~} ?x)))\n",
            "",
        ],
        ["roles", "", "(role r{})\n", ""],
        ["goals", "", "(<= (goal r {}) (true (f {})))\n", ""],
        ["legal moves", "", "(legal r (m {}))\n", ""],
        ["undefined relations", "", "(<= p (q{} 1))\n", ""],
        [
            "similar names",
            "",
            "(<= (relation_{} ?x) (relatoin_{} ?x))\n",
            "",
        ],
        ["arities", "", "(q {}) (q {} 1)\n", ""],
        ["arities of functions", "", "(q (f {})) (q (f {} 1))\n", ""],
    ]);
}

/// Checks sheets that are made of several repetitions.
fn check_sheets(sheets: &[(&str, String)]) {
    let most = PER_MEGABYTE * u32::try_from(megabytes()).expect("a small number");
    for (name, sheet) in sheets {
        let took = time(name, &format!("{FRAME}{sheet}"));
        assert!(took < most, "{name} takes {took:?}");
    }
}

/// Atoms with very many arguments, and names with very many numbers of arguments.
#[test]
fn wide_atoms() {
    let n_bytes = megabytes() << 20;
    let n_args = n_bytes / 20;
    let args = |names: &mut dyn Iterator<Item = usize>| -> String {
        names.map(|number| format!("?v{number} ")).collect()
    };
    let (up, down) = (args(&mut (0..n_args)), args(&mut (0..n_args).rev()));
    let wrapped: String = (0..n_args / 2).map(|n| format!("(f ?v{n}) ")).collect();
    let half = args(&mut (0..n_args / 2).rev());
    let n_arities = 500 * megabytes().isqrt();
    let arities = |name: &str| -> String {
        let lists = (1..n_arities).map(|arity| format!("(q ({name} {})) ", "1 ".repeat(arity)));
        let many = format!("(q ({name})) ").repeat(n_bytes / 20);
        lists.collect::<String>() + &many
    };
    let relations = |name: &str| -> String {
        let lists = (1..n_arities).map(|arity| format!("({name} {}) ", "1 ".repeat(arity)));
        let many = format!("({name} 1 (g a)) ").repeat(n_bytes / 20);
        lists.collect::<String>() + &many
    };
    check_sheets(&[
        ("arguments backwards", format!("(<= (p {up}) (p {down}))")),
        (
            "wrapped arguments",
            format!("(<= (p {wrapped}) (p {half}))"),
        ),
        ("arities of one function", arities("f")),
        ("arities of one relation", relations("p")),
    ]);
}

/// Cycles through negation of a thousand rules each, whose heads and conditions all have to be compared.
#[test]
fn many_cycles() {
    let n_cycles = megabytes() * 40;
    let mut sheet = String::new();
    for cycle in 0..n_cycles {
        for rule in 0..1000 {
            let other = rule * 7919 % 1000 + 1000;
            writeln!(sheet, "(<= (p{cycle} {rule}) (not (p{cycle} {other})))")
                .expect("text can be written");
        }
    }
    check_sheets(&[("cycles of a thousand rules", sheet)]);
}

/// Each `or` can only be understood after the equality around it, and the other way round.
#[test]
fn nested_alternatives() {
    let depth = 120;
    let mut rule = "(<= (p ?v0) (q ?v0) ".to_owned();
    for level in 0..depth {
        let next = level + 1;
        write!(
            rule,
            "(not (distinct ?w{level} ?u{level})) (not (distinct ?w{level} ?x{level}))
             (or (q ?w{next} ?v{next}) (and (q ?u{level} ?v{next}) "
        )
        .expect("text can be written");
    }
    rule.push_str("(q 1)");
    rule.push_str(&"))".repeat(depth));
    rule.push(')');
    // Long lists of alternatives, each with another one in it.
    let depth = 180;
    let n_alternatives = (megabytes() << 20) / depth / 20;
    let alternatives: String = (0..n_alternatives)
        .map(|number| format!("(q ?x {number}) "))
        .collect();
    let negations: String = (0..n_alternatives)
        .map(|number| format!("(not (q ?y {number})) "))
        .collect();
    let nested = |inside: &str| {
        let open = format!("(or {inside} (and (q ?x 1) ").repeat(depth);
        format!("(<= (p ?x) {open} (q ?x 2) {}) (q 1 1)", "))".repeat(depth))
    };
    check_sheets(&[
        ("equalities in nested alternatives", rule),
        ("nested lists of alternatives", nested(&alternatives)),
        ("nested lists of negations", nested(&negations)),
    ]);
}

#[test]
fn long_terms() {
    check_all(&[
        ["a long term", "(q (f ", "{} ", "))"],
        ["long terms", "(q (f ", "(g {} {+}) ", "))"],
        ["a long name", "(q ", "a", ")"],
        ["comments", "", "; comment {}\n", ""],
        ["closed brackets", "", ")", ""],
        ["open brackets", "", "(", ""],
        ["unreadable rules", "", "(<= )\n", ""],
        ["quotes", "", "(q \"{}\")\n", ""],
        [
            "arguments of a rule without brackets",
            "(<= p ",
            "q{} ",
            ")",
        ],
    ]);
}
