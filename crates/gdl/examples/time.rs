//! Measures reading and checking of the given files, or of ten megabytes of generated rules. The figures are in
//! docs/PERF.md.
//!
//! ```console
//! cargo run --release -p agon-gdl --example time -- my_game.kif
//! ```

use std::time::{Duration, Instant};

use agon_gdl::{Limits, check, parse};

/// Runs per file; the fastest counts, because other load only adds time.
const N_RUNS: usize = 10;

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    for file in &files {
        let bytes = std::fs::read(file).unwrap_or_else(|error| panic!("{file}: {error}"));
        measure(file, &bytes);
    }
    if files.is_empty() {
        measure("generated", generated(10_000_000).as_bytes());
    }
}

fn measure(name: &str, bytes: &[u8]) {
    let runs: Vec<(Duration, Duration)> = (0..N_RUNS).map(|_| run(bytes)).collect();
    let milliseconds = |time: Option<Duration>| time.unwrap_or_default().as_secs_f64() * 1000.0;
    let parsing = milliseconds(runs.iter().map(|run| run.0).min());
    let checking = milliseconds(runs.iter().map(|run| run.1).min());
    println!(
        "{name}: {} bytes, parse {parsing:.1} ms, check {checking:.1} ms",
        bytes.len()
    );
}

fn run(bytes: &[u8]) -> (Duration, Duration) {
    let start = Instant::now();
    let description = parse(bytes, &Limits::default());
    let parsed = start.elapsed();
    let rules = check(&description);
    let checked = start.elapsed() - parsed;
    assert!(rules.is_ok(), "the sheet must be valid");
    (parsed, checked)
}

/// A game with `n_bytes` bytes of distinct rules.
fn generated(n_bytes: usize) -> String {
    let mut text =
        "(role a) (legal a go) (goal a 100) (<= terminal (true (cell 1 b)))\n".to_owned();
    let mut n = 0;
    while text.len() < n_bytes {
        text.push_str(&format!(
            "(<= (next (cell ?x c{n})) (true (cell ?x b)) (does a go) (not (line{} ?x)) (distinct ?x c{n}))\n\
             (<= (line{n} ?x) (true (cell ?x c{n})) (or (true (cell ?x b)) (true (row ?x {n}))))\n",
            n / 2
        ));
        n += 1;
    }
    text
}
