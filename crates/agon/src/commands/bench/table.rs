//! The results of a bench as a table for people.
//!
//! Lines are printed as soon as they are known, so column widths are fixed before the first one.

use std::io::Write;

use serde::Deserialize;

use super::Row;

/// What the table shows of a row.
#[derive(Deserialize, Clone, Debug)]
pub(super) struct Line {
    engine: String,
    #[serde(default)]
    work: Option<String>,
    setup_ms: f64,
    stages_ms: Stages,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    playouts_per_s: Option<f64>,
    #[serde(default)]
    transitions_per_s: Option<f64>,
    #[serde(default)]
    fluents: Option<u64>,
    #[serde(default)]
    gates: Option<u64>,
    peak_rss_mb: f64,
}

#[derive(Deserialize, Clone, Debug)]
struct Stages {
    check: f64,
    ground: f64,
    network: f64,
    #[serde(default)]
    lanes: Option<f64>,
}

impl TryFrom<&Row> for Line {
    type Error = serde_json::Error;

    fn try_from(row: &Row) -> Result<Line, serde_json::Error> {
        serde_json::from_value(serde_json::to_value(row)?)
    }
}

/// What a table is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// How fast each engine plays: a line per game.
    Speed,
    /// How long a game takes to set up, and how large it is: a line per game.
    SetUp,
    /// How fast the lanes engine does each kind of work: a line per game and kind.
    Work,
}

/// A table with fixed columns.
pub(super) struct Table<'a, W> {
    kind: Kind,
    engines: &'a [&'static str],
    name_width: usize,
    out: W,
}

/// "1.2 million games/s"
const SPEED_WIDTH: usize = 19;
/// "12.3 x"
const RATIO_WIDTH: usize = 6;
/// "123.4 ms"
const TIME_WIDTH: usize = 8;

impl<'a, W: Write> Table<'a, W> {
    /// Prints the head of a table about these games.
    pub(super) fn new(
        kind: Kind,
        engines: &'a [&'static str],
        games: &[String],
        out: W,
    ) -> std::io::Result<Table<'a, W>> {
        let width = games.iter().map(|name| name.chars().count()).max();
        let mut table = Table {
            kind,
            engines,
            name_width: width.unwrap_or(0).max("game".len()),
            out,
        };
        table.head()?;
        Ok(table)
    }

    fn head(&mut self) -> std::io::Result<()> {
        let mut cells = Vec::new();
        match self.kind {
            Kind::Speed => {
                cells.extend(self.engines.iter().map(|name| right(name, SPEED_WIDTH)));
                if self.has_ratio() {
                    cells.push(right("ratio", RATIO_WIDTH));
                }
                cells.push(right("set-up", TIME_WIDTH));
            }
            Kind::SetUp => {
                for stage in ["check", "ground", "network", "lanes", "total"] {
                    cells.push(right(stage, TIME_WIDTH));
                }
                cells.extend(["fluents", "gates", "memory"].map(|name| right(name, 8)));
            }
            Kind::Work => {
                cells.push(format!("{:<8}", "work"));
                cells.push(right("speed", SPEED_WIDTH));
                cells.push(right("steps", SPEED_WIDTH));
            }
        }
        self.line("game", &cells)
    }

    /// The rows of one game.
    pub(super) fn game(&mut self, game: &str, rows: &[Line]) -> std::io::Result<()> {
        match self.kind {
            Kind::Speed => self.speed(game, rows)?,
            Kind::SetUp => {
                for row in rows {
                    self.set_up(game, row)?;
                }
            }
            Kind::Work => {
                for row in rows {
                    let mut cells = vec![format!("{:<8}", row.work.as_deref().unwrap_or("-"))];
                    cells.push(right(&speed(row.playouts_per_s, "games/s"), SPEED_WIDTH));
                    cells.push(right(&speed(row.transitions_per_s, "steps/s"), SPEED_WIDTH));
                    self.line(game, &cells)?;
                }
            }
        }
        for row in rows {
            if let Some(error) = &row.error {
                let reason = error.lines().next().unwrap_or_default();
                writeln!(
                    self.out,
                    "  the {} engine cannot play it: {reason}",
                    row.engine
                )?;
            }
        }
        self.out.flush()
    }

    fn speed(&mut self, game: &str, rows: &[Line]) -> std::io::Result<()> {
        let find = |name: &str| rows.iter().find(|row| row.engine == name);
        let mut cells = Vec::new();
        for name in self.engines {
            let rate = find(name).and_then(|row| row.playouts_per_s);
            cells.push(right(&speed(rate, "games/s"), SPEED_WIDTH));
        }
        if self.has_ratio() {
            let rate = |name: &str| find(name).and_then(|row| row.transitions_per_s);
            let ratio = rate("lanes").zip(rate("scalar"));
            let ratio = ratio.map_or_else(|| "-".to_owned(), |(a, b)| format!("{:.1} x", a / b));
            cells.push(right(&ratio, RATIO_WIDTH));
        }
        let set_up = rows.iter().map(|row| row.setup_ms).fold(0.0, f64::max);
        cells.push(right(&time(set_up), TIME_WIDTH));
        self.line(game, &cells)
    }

    fn set_up(&mut self, game: &str, row: &Line) -> std::io::Result<()> {
        let stages = &row.stages_ms;
        let times = [
            Some(stages.check),
            Some(stages.ground),
            Some(stages.network),
            stages.lanes,
            Some(row.setup_ms),
        ];
        let mut cells: Vec<String> = times
            .map(|ms| right(&ms.map_or_else(|| "-".to_owned(), time), TIME_WIDTH))
            .to_vec();
        let count = |n: Option<u64>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
        let memory = format!("{:.0} MB", row.peak_rss_mb);
        for text in [count(row.fluents), count(row.gates), memory] {
            cells.push(right(&text, 8));
        }
        self.line(game, &cells)
    }

    /// Whether a column compares the two engines on the network: both are shown.
    fn has_ratio(&self) -> bool {
        ["lanes", "scalar"]
            .iter()
            .all(|name| self.engines.contains(name))
    }

    fn line(&mut self, name: &str, cells: &[String]) -> std::io::Result<()> {
        let width = self.name_width;
        let line = format!("{name:<width$}  {}", cells.join("  "));
        writeln!(self.out, "{}", line.trim_end())
    }
}

fn right(text: &str, width: usize) -> String {
    format!("{text:>width$}")
}

fn speed(rate: Option<f64>, unit: &str) -> String {
    rate.map_or_else(
        || "-".to_owned(),
        |rate| format!("{} {unit}", in_words(rate)),
    )
}

/// Milliseconds in a unit that fits.
fn time(ms: f64) -> String {
    if ms < 1000.0 {
        format!("{ms:.1} ms")
    } else {
        format!("{:.1} s", ms / 1000.0)
    }
}

/// A number as people say it: `1.2 million`, `34,000`, `870`, `0.5`.
pub(crate) fn in_words(number: f64) -> String {
    let scales = [(1e9, "billion"), (1e6, "million")];
    // What would be rounded up to the next scale belongs there.
    let scale = scales.iter().find(|(size, _)| number >= 0.9995 * size);
    if let Some((size, name)) = scale {
        let number = number / size;
        return match number < 99.95 {
            true => format!("{number:.1} {name}"),
            false => format!("{number:.0} {name}"),
        };
    }
    if number < 9.5 {
        return format!("{number:.1}");
    }
    // Three digits are enough.
    let unit = 10_f64.powi((number.log10().floor() as i32 - 2).max(0));
    let whole = ((number / unit).round() * unit) as u64;
    match whole / 1000 {
        0 => whole.to_string(),
        thousands => format!("{thousands},{:03}", whole % 1000),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[test]
    fn numbers_are_words() {
        let words = |number: f64| in_words(number);
        assert_eq!(words(0.04), "0.0");
        assert_eq!(words(7.25), "7.2");
        assert_eq!(words(9.7), "10");
        assert_eq!(words(873.4), "873");
        assert_eq!(words(1_234.0), "1,230");
        assert_eq!(words(34_567.0), "34,600");
        assert_eq!(words(999_400.0), "999,000");
        assert_eq!(words(999_600.0), "1.0 million");
        assert_eq!(words(1_234_567.0), "1.2 million");
        assert_eq!(words(123_456_789.0), "123 million");
        assert_eq!(words(2.5e9), "2.5 billion");
    }

    fn line(json: &str) -> Line {
        serde_json::from_str(json).expect("it is a row")
    }

    fn check(kind: Kind, engines: &[&'static str], rows: &[Line], expected: &Expect) {
        let mut out = Vec::new();
        let mut table = Table::new(kind, engines, &["nim".to_owned()], &mut out).unwrap();
        table.game("nim", rows).unwrap();
        expected.assert_eq(&String::from_utf8(out).unwrap());
    }

    const LANES: &str = r#"{"game":"nim","engine":"lanes","simd":"avx2","work":"sums","setup_ms":12.34,
        "stages_ms":{"check":0.1,"ground":1.0,"network":2.0,"lanes":9.24},"playouts":10,"transitions":55,
        "playouts_per_s":1234567.0,"transitions_per_s":6800000.0,"mean_length":5.5,"fluents":29,"gates":75,
        "peak_rss_mb":17.3}"#;
    const SCALAR: &str = r#"{"game":"nim","engine":"scalar","setup_ms":3.1,
        "stages_ms":{"check":0.1,"ground":1.0,"network":2.0},"playouts_per_s":61728.0,"transitions_per_s":340000.0,
        "mean_length":5.5,"peak_rss_mb":17.3}"#;
    const FAILED: &str = r#"{"game":"nim","engine":"lanes","setup_ms":60000.0,
        "stages_ms":{"check":0.1,"ground":0.0,"network":0.0},"error":"too large\n(<= p q)","peak_rss_mb":0.0}"#;

    #[test]
    fn engines_stand_side_by_side() {
        check(
            Kind::Speed,
            &["lanes", "scalar"],
            &[line(LANES), line(SCALAR)],
            &expect![[r#"
                game                lanes               scalar   ratio    set-up
                nim   1.2 million games/s       61,700 games/s  20.0 x   12.3 ms
            "#]],
        );
    }

    #[test]
    fn a_game_that_cannot_be_played_says_why() {
        check(
            Kind::Speed,
            &["lanes", "scalar"],
            &[line(FAILED), line(SCALAR)],
            &expect![[r#"
                game                lanes               scalar   ratio    set-up
                nim                     -       61,700 games/s       -    60.0 s
                  the lanes engine cannot play it: too large
            "#]],
        );
    }

    #[test]
    fn set_up_is_told_by_stage() {
        check(
            Kind::SetUp,
            &["lanes"],
            &[line(LANES)],
            &expect![[r#"
                game     check    ground   network     lanes     total   fluents     gates    memory
                nim     0.1 ms    1.0 ms    2.0 ms    9.2 ms   12.3 ms        29        75     17 MB
            "#]],
        );
    }

    #[test]
    fn every_kind_of_work_has_a_line() {
        check(
            Kind::Work,
            &["lanes"],
            &[line(LANES)],
            &expect![[r#"
            game  work                    speed                steps
            nim   sums      1.2 million games/s  6.8 million steps/s
        "#]],
        );
    }
}
