//! Oracle traces: recorded playouts that every engine must reproduce.
//!
//! A trace is a gzip-compressed file of JSON lines: a header, and for each playout a first line, one line per state, and a
//! last line. States and moves are prefix KIF in lower case. Each list is recorded as a count and a hash; those of the first
//! and last states of a playout also in full.
//!
//! In: the bytes of a file. Out: a [`Trace`]. Not here: comparing it with an engine (`commands::verify`).

use std::fmt;
use std::io::{BufRead, BufReader, Read};

use anyhow::{Context, bail};
use flate2::read::GzDecoder;
use serde::Deserialize;

/// All recorded playouts of a game.
#[derive(Debug)]
pub(crate) struct Trace {
    /// What the file says about itself.
    pub(crate) header: Header,
    /// The playouts, in order.
    pub(crate) playouts: Vec<Playout>,
}

/// The first line of a trace.
#[derive(Debug, Deserialize)]
pub(crate) struct Header {
    /// Version of the format.
    pub(crate) format: u32,
    /// Name of the game.
    pub(crate) game: String,
    /// The roles; lists with one entry per role are in this order.
    pub(crate) roles: Vec<String>,
    /// Number of playouts in the file.
    pub(crate) playouts: usize,
}

/// One recorded playout.
#[derive(Debug)]
pub(crate) struct Playout {
    /// Its number.
    pub(crate) number: usize,
    /// Its states, the initial one first.
    pub(crate) steps: Vec<Step>,
    /// What its last line says.
    pub(crate) end: End,
}

/// One state of a playout.
#[derive(Debug, Deserialize)]
pub(crate) struct Step {
    /// Its number, from 0.
    pub(crate) step: usize,
    /// Number of fluents.
    #[serde(rename = "nstate")]
    pub(crate) n_fluents: usize,
    /// Hash of the fluents.
    #[serde(rename = "statehash")]
    pub(crate) state_hash: Hash,
    /// The fluents, where they are recorded in full.
    pub(crate) state: Option<Vec<String>>,
    /// Number of legal moves of each role.
    #[serde(rename = "nlegal")]
    pub(crate) n_legal: Vec<usize>,
    /// Hash of the legal moves of each role.
    #[serde(rename = "legalhash")]
    pub(crate) legal_hash: Vec<Hash>,
    /// The legal moves of each role, where they are recorded in full.
    pub(crate) legal: Option<Vec<Vec<String>>>,
    /// Whether the state is terminal.
    pub(crate) terminal: bool,
    /// The goal of each role, if it has exactly one and that is a whole number.
    pub(crate) goals: Vec<Option<i64>>,
    /// Where some role has several goals or odd ones: all goals of each role that has no entry in `goals`.
    #[serde(rename = "goalsraw")]
    pub(crate) goals_raw: Option<Vec<Option<Vec<String>>>>,
    /// The joint move made here; none in the last state.
    #[serde(rename = "move")]
    pub(crate) joint: Option<Vec<String>>,
}

/// The last line of a playout.
#[derive(Debug, Deserialize)]
pub(crate) struct End {
    /// Number of the last state.
    pub(crate) steps: usize,
}

/// Hash of a list of terms: 64-bit FNV-1a over the sorted texts, joined by line feeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Hash(u64);

impl Hash {
    /// The hash of sorted texts.
    pub(crate) fn of(sorted: &[String]) -> Hash {
        let joined = sorted.join("\n");
        let step =
            |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        Hash(joined.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, step))
    }
}

impl TryFrom<String> for Hash {
    type Error = std::num::ParseIntError;

    fn try_from(digits: String) -> Result<Hash, Self::Error> {
        u64::from_str_radix(&digits, 16).map(Hash)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line {
    Header(Header),
    Playout { playout: usize },
    Step(Box<Step>),
    End(End),
}

impl Trace {
    /// Reads a compressed trace.
    ///
    /// # Errors
    /// If it is truncated, not in the format, or incomplete.
    pub(crate) fn read(compressed: impl Read) -> anyhow::Result<Trace> {
        let mut lines = BufReader::new(GzDecoder::new(compressed))
            .lines()
            .enumerate();
        let Some((_, first)) = lines.next() else {
            bail!("the trace is empty")
        };
        let Line::Header(header) = parse(&first.context("the trace cannot be read")?, 1)? else {
            bail!("the first line of the trace is not a header");
        };
        if header.format != 1 {
            bail!(
                "the trace has format {}, but only format 1 is supported",
                header.format
            );
        }
        let mut playouts = Vec::new();
        let mut open: Option<(usize, Vec<Step>)> = None;
        for (idx, line) in lines {
            let line = line.context("the trace is truncated")?;
            match (parse(&line, idx + 1)?, open.take()) {
                (Line::Playout { playout }, None) => open = Some((playout, Vec::new())),
                (Line::Step(step), Some((number, mut steps))) => {
                    steps.push(*step);
                    open = Some((number, steps));
                }
                (Line::End(end), Some((number, steps))) => {
                    playouts.push(Playout { number, steps, end });
                }
                _ => bail!("line {} of the trace is out of order", idx + 1),
            }
        }
        let trace = Trace { header, playouts };
        if open.is_some() || !trace.is_complete() {
            bail!(
                "the trace is incomplete: {} of {} playouts",
                trace.playouts.len(),
                trace.header.playouts
            );
        }
        Ok(trace)
    }

    fn is_complete(&self) -> bool {
        let has_all_steps = |playout: &Playout| playout.steps.len() == playout.end.steps + 1;
        self.playouts.len() == self.header.playouts && self.playouts.iter().all(has_all_steps)
    }
}

fn parse(line: &str, number: usize) -> anyhow::Result<Line> {
    serde_json::from_str(line).with_context(|| format!("line {number} of the trace"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    const HEADER: &str =
        r#"{"type":"header","format":1,"game":"g","roles":["r"],"playouts":1,"complete":1}"#;
    const PLAYOUT: &str = r#"{"type":"playout","playout":0,"oracle":"ggp-base"}"#;
    const STEP: &str = r#"{"type":"step","playout":0,"step":0,"nstate":1,"statehash":"3c1110bad16d326d","nlegal":[0],
        "legalhash":["cbf29ce484222325"],"terminal":true,"goals":[null],"goalsraw":[["0","100"]]}"#;
    const END: &str = r#"{"type":"end","playout":0,"steps":0,"reason":"terminal","detail":null}"#;

    fn compress(lines: &[&str]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        for line in lines {
            writeln!(encoder, "{}", line.replace('\n', "")).unwrap();
        }
        encoder.finish().unwrap()
    }

    fn failure(bytes: &[u8]) -> String {
        Trace::read(bytes).unwrap_err().to_string()
    }

    #[test]
    fn a_trace_is_read() {
        let trace = Trace::read(&compress(&[HEADER, PLAYOUT, STEP, END])[..]).unwrap();
        let step = &trace.playouts[0].steps[0];
        assert_eq!(step.state_hash, Hash::of(&["noop".to_owned()]));
        assert_eq!(step.legal_hash, [Hash::of(&[])]);
        assert_eq!(
            step.goals_raw,
            Some(vec![Some(vec!["0".to_owned(), "100".to_owned()])])
        );
    }

    #[test]
    fn a_broken_trace_says_how() {
        let whole = compress(&[HEADER, PLAYOUT, STEP, END]);
        assert_eq!(
            failure(&whole[..whole.len() - 12]),
            "the trace is truncated"
        );
        assert_eq!(failure(b"not gzip"), "the trace cannot be read");
        assert_eq!(
            failure(&compress(&[PLAYOUT])),
            "the first line of the trace is not a header"
        );
        assert_eq!(
            failure(&compress(&[HEADER, STEP])),
            "line 2 of the trace is out of order"
        );
        assert_eq!(
            failure(&compress(&[HEADER, PLAYOUT, STEP])),
            "the trace is incomplete: 0 of 1 playouts"
        );
        assert_eq!(failure(&compress(&[HEADER, "{}"])), "line 2 of the trace");
        assert_eq!(failure(&compress(&[])), "the trace is empty");
    }
}
