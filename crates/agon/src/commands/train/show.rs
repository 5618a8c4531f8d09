//! What `agon train` prints, and its picture.

use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::Path;
use std::time::{Duration, Instant};

use agon_learn::{Alarm, Progress};
use agon_search::NetworkUse;
use agon_tournament::plot::{CurvePoint, curve};
use serde_json::json;

use super::course::{Outcome, Point, Points};
use crate::words::network_use;

/// Least time between two lines of progress, on a terminal and elsewhere.
const TICK: Duration = Duration::from_millis(500);
const LINE: Duration = Duration::from_secs(30);
/// Goes back to the beginning of the line and clears it.
const WIPE: &str = "\r\x1b[K";

/// Prints how a training goes.
pub(super) struct Show {
    is_json: bool,
    has_losses: bool,
    is_terminal: bool,
    name: String,
    last: Option<Instant>,
}

/// How a network is used, in words.
fn use_words(usage: NetworkUse) -> &'static str {
    match usage {
        NetworkUse::Auto | NetworkUse::Alone => "network alone",
        NetworkUse::Prior => "network prior with playouts",
        NetworkUse::Mix => "network and playouts mixed",
        NetworkUse::None => "playouts alone",
    }
}

fn score_text(points: &Points) -> String {
    format!(
        "{:.0} % [{:.0}–{:.0}] of {} matches",
        points.score, points.low, points.high, points.matches
    )
}

impl Show {
    pub(super) fn new(is_json: bool, has_losses: bool, name: &str) -> Show {
        Show {
            is_json,
            has_losses,
            is_terminal: stderr().is_terminal(),
            name: name.to_owned(),
            last: None,
        }
    }

    fn note(&self, text: &str) {
        let wipe = if self.is_terminal { WIPE } else { "" };
        // That nobody reads it must not end a training.
        let _ = writeln!(stderr(), "{wipe}{text}");
    }

    pub(super) fn resumed(&mut self, file: &Path, seconds: f64) {
        self.note(&format!(
            "going on after {seconds:.0} s of {}",
            file.display()
        ));
    }

    pub(super) fn alarm(&mut self, alarm: Alarm, cures: u32) {
        let what = match alarm {
            Alarm::OneWinner { role, percent } => {
                format!("role {} won {percent} % of the last games", role + 1)
            }
            Alarm::NoError => "the network no longer errs".to_owned(),
        };
        self.note(&format!(
            "self-play has collapsed ({what}): back to the last good network, with more noise (cure {cures})"
        ));
    }

    pub(super) fn progress(&mut self, gone: f64, seconds: f64, progress: &Progress) {
        let every = if self.is_terminal { TICK } else { LINE };
        if self.last.is_some_and(|last| last.elapsed() < every) {
            return;
        }
        self.last = Some(Instant::now());
        let counts = &progress.counts;
        let mut line = format!(
            "{}: {:3.0} %, {seconds:.0} s, {} positions ({:.0}/s), {} games",
            self.name,
            gone * 100.0,
            counts.positions,
            counts.positions as f64 / seconds.max(0.001),
            counts.games
        );
        if self.has_losses {
            let losses = progress.losses;
            line += &format!(", errors {:.4} {:.4}", losses.value, losses.policy);
        }
        match self.is_terminal {
            true => {
                let _ = write!(stderr(), "{WIPE}{line}");
                let _ = stderr().flush();
            }
            false => self.note(&line),
        }
    }

    pub(super) fn point(&mut self, point: &Point) -> anyhow::Result<()> {
        if self.is_json {
            writeln!(stdout(), "{}", json!({ "point": point }))?;
            return Ok(());
        }
        let mut line = format!("{:6.0} s, {:8} positions", point.seconds, point.positions);
        if let Some(earlier) = &point.earlier {
            line += &format!(": {} against the one before", score_text(earlier));
        }
        if let Some(base) = &point.base {
            line += &format!(", {} against agon without it", score_text(base));
        }
        if self.has_losses {
            line += &format!(", errors {:.4} {:.4}", point.value_loss, point.policy_loss);
        }
        self.note(&line);
        Ok(())
    }

    pub(super) fn contest(&mut self, usage: NetworkUse, points: &Points) {
        let line = format!(
            "contest: {} scores {}",
            use_words(usage),
            score_text(points)
        );
        self.note(&line);
    }

    pub(super) fn end(&self, outcome: &Outcome) -> anyhow::Result<()> {
        let mut out = stdout().lock();
        if self.is_json {
            let contest = outcome.contest.iter();
            let contest: Vec<_> = contest
                .map(|(usage, points)| json!({ "use": network_use(*usage), "score": points }))
                .collect();
            let counts = &outcome.progress.counts;
            let object = json!({
                "game": self.name,
                "model": outcome.path.display().to_string(),
                "bytes": outcome.bytes,
                "seconds": outcome.seconds,
                "positions": counts.positions,
                "positions_per_s": counts.positions as f64 / outcome.seconds.max(0.001),
                "games": counts.games,
                "cures": outcome.progress.cures,
                "early": outcome.is_early,
                "contest": contest,
                "use": network_use(outcome.best),
                "score": outcome.last,
                "move_seconds": outcome.move_time,
                "svg": outcome.svg.as_ref().map(|path| path.display().to_string()),
            });
            writeln!(out, "{object}")?;
            return Ok(());
        }
        if outcome.is_early {
            writeln!(
                out,
                "Training ended early: the network no longer got better."
            )?;
        }
        writeln!(out, "{}", verdict(outcome))?;
        let kilobytes = outcome.bytes.div_ceil(1000);
        writeln!(out, "model: {} ({kilobytes} kB)", outcome.path.display())?;
        if let Some(svg) = &outcome.svg {
            writeln!(out, "curve: {}", svg.display())?;
        }
        Ok(())
    }
}

/// Whether to use it, and by how much.
fn verdict(outcome: &Outcome) -> String {
    let Some(last) = &outcome.last else {
        return "No matches were played: whether the model is of use is not known.".to_owned();
    };
    let terms = format!(
        "{} at {:.3} s per move",
        score_text(last),
        outcome.move_time
    );
    match outcome.best {
        NetworkUse::None => format!(
            "Do not use it: against agon without it, it scores {terms}. Players keep to playouts (use=none in the model)."
        ),
        best if last.low > 50.0 => format!(
            "Use it ({}): against agon without it, it scores {terms}.",
            use_words(best)
        ),
        best => format!(
            "It may help ({}): against agon without it, it scores {terms}, which could be chance. Train longer to be sure.",
            use_words(best)
        ),
    }
}

/// The curve as SVG.
pub(super) fn picture(name: &str, outcome: &Outcome) -> String {
    let last = outcome.last.as_ref();
    let points: Vec<CurvePoint> = outcome
        .curve
        .iter()
        .enumerate()
        .filter_map(|(idx, point)| {
            let is_last = idx + 1 == outcome.curve.len();
            let score = if is_last { last } else { point.base.as_ref() }?;
            Some(CurvePoint {
                at: point.seconds,
                score: score.score,
                low: score.low,
                high: score.high,
            })
        })
        .collect();
    let title = format!("{name}: score against agon without the network");
    curve(&title, "seconds of training", &points)
}
