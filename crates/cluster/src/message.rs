//! What is sent: jobs, results, the state of tournaments, reports of workers. All of it is JSON; large results are compressed.
//!
//! **Invariant:** nothing that is read takes more memory than [`MOST_BYTES`], from any sender.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use agon_tournament::{Absent, Fixture, MatchResult, MoveRow};
use bytes::Bytes;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The largest message after decompression.
pub(crate) const MOST_BYTES: usize = 16 << 20;
/// Messages beyond this size are compressed.
const PLAIN_BYTES: usize = 100_000;

/// A match to be played.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct JobMessage {
    /// The cell, as its place in the list of the tournament.
    pub(crate) cell: usize,
    /// What identifies the match.
    pub(crate) fixture: Fixture,
}

/// What became of a job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct ResultMessage {
    /// The worker.
    pub(crate) worker: String,
    /// Its build.
    pub(crate) build: Build,
    /// Seconds that the match took.
    pub(crate) seconds: f64,
    /// What became of it.
    pub(crate) report: Report,
}

/// What became of a match.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    /// It has a result.
    Finished {
        result: Box<MatchResult>,
        moves: Vec<MoveRow>,
    },
    /// It is void because of these players.
    Void { absent: Vec<Absent> },
    /// It could not be played.
    Broken { reason: String },
}

/// A build of Agon.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Build {
    /// Its version.
    pub version: String,
    /// The fingerprint of its behaviour, as `agon bench --signature` prints it.
    pub fingerprint: String,
}

/// What a tournament asks of workers.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Requirement {
    /// The build; none if any will do.
    pub build: Option<Build>,
    /// Playouts per second of the machine that budgets in seconds are meant for; none if they are not scaled.
    pub reference_speed: Option<f64>,
}

impl Requirement {
    /// Why a build gets no jobs, if it gets none.
    pub(crate) fn objection(&self, build: &Build) -> Option<String> {
        let wanted = self.build.as_ref()?;
        if wanted.version != build.version {
            return Some(format!(
                "it asks for version {}, and this is {}",
                wanted.version, build.version
            ));
        }
        (wanted.fingerprint != build.fingerprint).then(|| {
            format!(
                "it asks for fingerprint {}, and this build has {}",
                wanted.fingerprint, build.fingerprint
            )
        })
    }
}

/// The state of a tournament, kept by the server for everybody.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct TournamentState {
    /// Its name.
    pub(crate) name: String,
    /// Jobs of tournaments with higher numbers come first.
    pub(crate) priority: i32,
    /// Workers take no jobs.
    pub(crate) is_paused: bool,
    /// It was given up.
    pub(crate) is_cancelled: bool,
    /// All matches are played.
    pub(crate) is_over: bool,
    /// What it asks of workers.
    pub(crate) requirement: Requirement,
    /// Cells that need no further match: running ones are stopped.
    pub(crate) withdrawn: Vec<usize>,
    /// Number of matches.
    pub(crate) n_matches: usize,
    /// Workers that get no further jobs, and why.
    #[serde(default)]
    pub(crate) banned: BTreeMap<String, String>,
}

impl TournamentState {
    /// Whether workers take its jobs.
    pub(crate) fn is_open(&self) -> bool {
        !self.is_paused && !self.is_cancelled && !self.is_over
    }

    /// Whether matches of a cell are no longer wanted.
    pub(crate) fn is_withdrawn(&self, cell: usize) -> bool {
        self.is_cancelled || self.is_over || self.withdrawn.contains(&cell)
    }

    /// Why a worker gets no jobs, if it gets none.
    pub(crate) fn objection(&self, build: &Build, worker: &str) -> Option<String> {
        let banned = self.banned.get(worker).cloned();
        banned.or_else(|| self.requirement.objection(build))
    }
}

/// What a worker says about itself from time to time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct WorkerReport {
    pub(crate) worker: String,
    pub(crate) build: Build,
    pub(crate) threads: usize,
    pub(crate) cpu: String,
    pub(crate) speed: f64,
    pub(crate) n_playing: usize,
    pub(crate) n_played: usize,
    /// Tournaments that it gets no jobs of, and why.
    pub(crate) refused: BTreeMap<String, String>,
}

/// Writes a message.
pub(crate) fn encode(message: &impl Serialize) -> Bytes {
    let text = serde_json::to_vec(message).expect("messages are plain values");
    if text.len() <= PLAIN_BYTES {
        return text.into();
    }
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&text).expect("memory takes it");
    encoder.finish().expect("memory takes it").into()
}

/// Reads a message; the error says what is wrong with it.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let wrong = |error: serde_json::Error| error.to_string();
    // JSON never begins with the first byte of zlib.
    if bytes.first() != Some(&0x78) {
        return serde_json::from_slice(bytes).map_err(wrong);
    }
    let mut text = Vec::new();
    let mut decoder = ZlibDecoder::new(bytes).take(MOST_BYTES as u64 + 1);
    decoder
        .read_to_end(&mut text)
        .map_err(|error| error.to_string())?;
    if text.len() > MOST_BYTES {
        return Err(format!("it has more than {MOST_BYTES} bytes"));
    }
    serde_json::from_slice(&text).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_messages_are_compressed_and_bounded() {
        let long = Report::Broken {
            reason: "x".repeat(1_000_000),
        };
        let bytes = encode(&long);
        assert!(bytes.len() < 50_000, "{} bytes", bytes.len());
        assert_eq!(decode::<Report>(&bytes), Ok(long));
        let bomb = encode(&Report::Broken {
            reason: "x".repeat(MOST_BYTES),
        });
        let error = decode::<Report>(&bomb).expect_err("it is too large");
        assert!(error.contains("more than"), "{error}");
        assert!(decode::<Report>(b"{}").is_err() && decode::<Report>(b"").is_err());
        assert!(decode::<Report>(&[0x78, 1, 2, 3]).is_err());
    }

    #[test]
    fn other_builds_are_told_why() {
        let build = |version: &str, fingerprint: &str| Build {
            version: version.to_owned(),
            fingerprint: fingerprint.to_owned(),
        };
        let requirement = Requirement {
            build: Some(build("1", "7")),
            reference_speed: None,
        };
        assert_eq!(requirement.objection(&build("1", "7")), None);
        let words = |build| requirement.objection(&build).expect("it is refused");
        assert!(words(build("2", "7")).contains("version 1, and this is 2"));
        assert!(words(build("1", "8")).contains("fingerprint 7, and this build has 8"));
        assert_eq!(Requirement::default().objection(&build("2", "8")), None);
    }
}
