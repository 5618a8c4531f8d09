//! `agon tune`: searches for good values of parameters by SPSA, here or on a queue.
//!
//! Every step plays matches that are kept in a store. A run that was stopped goes through its steps again; those that are
//! played take no time.

use std::fs;
use std::io::{Write, stdout};
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use agon_protocol::StopFlag;
use agon_tournament::{
    Cell, CellProgress, Outcome, Sheet, Spsa, Store, Tally, Tuning, plot, run as play,
};
use anyhow::Context;
use serde_json::json;

use crate::cluster::{self, ClusterArgs};
use crate::commands::tournament::{compile, stop_by_signal};
use crate::progress::ProgressShow;

/// Tune parameters of a player by matches against itself (SPSA)
#[derive(clap::Args)]
#[command(after_help = "A tuning file:
  games = [\"connect_four\", \"breakthrough\"]
  player = \"cadia-2012\"
  budget = { playouts = 200 }
  steps = 200
  matches_per_step = 8           # in each game; even, so that seats are swapped
  change = 0.1                   # size of the first changes, as a fraction of the ranges
  rate = 0.2                     # size of the first steps
  seed = 1
  [parameters]
  exploration = { start = 40, low = 1, high = 1000, log = true }
  expand_after = { start = 1, low = 1, high = 20, whole = true }

Each step changes all parameters at once, each up or down at random, plays the player with the changes against the player with
the opposite changes, and moves towards the better one. Matches are stored, and the same command goes on where it was
stopped. Check what comes out by a tournament against the player as it was, with another seed.

Examples:
  agon tune exploration.toml
  agon tune exploration.toml --plot course.svg
  agon tune exploration.toml --on nats://queue.example:4222")]
pub(crate) struct Args {
    /// The tuning file
    file: PathBuf,
    /// Store of matches [default: the name of FILE with .sqlite]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Matches at the same time [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// Write a picture of the course to this file, as SVG
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Print one JSON object with the course
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let path = args.file.display();
    let text = fs::read_to_string(&args.file).with_context(|| format!("cannot read {path}"))?;
    let tuning =
        Tuning::read(&text).with_context(|| format!("{path} is not a valid tuning file"))?;
    let sheets: anyhow::Result<Vec<Arc<Sheet>>> = tuning
        .games
        .iter()
        .map(|game| compile(game, args.file.parent()))
        .collect();
    let sheets = sheets?;
    let default = || args.file.with_extension("sqlite");
    let store = args.store.clone().unwrap_or_else(default);
    let mut store = Store::open(&store).with_context(|| store.display().to_string())?;
    let stop = stop_by_signal()?;
    let mut player = Player::new(args, &stop)?;
    let mut spsa = Spsa::new(&tuning);
    while !spsa.is_over() {
        let score = match spsa.pair() {
            None => 50.0,
            Some(pair) => {
                let cells = tuning.cells(&pair, spsa.step(), &sheets)?;
                let is_last = spsa.step() + 1 == tuning.steps;
                let outcome = player.play(&cells, &mut store, is_last)?;
                if outcome.n_missing > 0 {
                    let words = match stop.is_raised() {
                        true => "stopped; run the same command again to go on",
                        false => "some matches have no result; run the same command again",
                    };
                    eprintln!("agon: {words}");
                    break;
                }
                mean_score(&outcome).unwrap_or(50.0)
            }
        };
        spsa.learn(score);
        report_step(&spsa, &tuning);
    }
    if let Some(path) = &args.plot {
        let title = format!("Tuning of {}", tuning.player);
        let text = plot::tuning(&title, &spsa);
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    print(args, &spsa)?;
    Ok(ExitCode::from(u8::from(!spsa.is_over())))
}

/// Plays the matches of steps, here or on a queue.
struct Player<'a> {
    stop: &'a StopFlag,
    n_threads: usize,
    on: Option<(agon_cluster::Access, agon_cluster::Coordination)>,
}

impl Player<'_> {
    fn new<'a>(args: &Args, stop: &'a StopFlag) -> anyhow::Result<Player<'a>> {
        let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
        let name = args.file.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Player {
            stop,
            n_threads: args.threads.map_or_else(cores, |n| n as usize),
            on: args.cluster.coordination(&name, false)?,
        })
    }

    fn play(
        &mut self,
        cells: &[Cell],
        store: &mut Store,
        is_last: bool,
    ) -> anyhow::Result<Outcome> {
        match &mut self.on {
            None => Ok(play(cells, store, self.n_threads, self.stop, &mut |_| {})?),
            Some((access, how)) => {
                how.is_last = is_last;
                let mut show = ProgressShow::silent();
                cluster::run(access, how, cells, store, self.stop, &mut show)
            }
        }
    }
}

/// The mean score of the first player over all cells.
fn mean_score(outcome: &Outcome) -> Option<f64> {
    let score = |cell: &CellProgress| Tally::of(&cell.counted())?.score;
    let scores: Vec<f64> = outcome.cell_progress.iter().filter_map(score).collect();
    (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
}

fn report_step(spsa: &Spsa, tuning: &Tuning) {
    let Some(point) = spsa.course().last() else {
        return;
    };
    let named = spsa.ranges().iter().zip(&point.values);
    let values: Vec<String> = named
        .map(|((name, _), value)| format!("{name}={value}"))
        .collect();
    eprintln!(
        "step {} of {}: score {:.0}, {}",
        point.step,
        tuning.steps,
        point.score.unwrap_or(50.0),
        values.join(", ")
    );
}

fn print(args: &Args, spsa: &Spsa) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    if args.json {
        let names: Vec<&String> = spsa.ranges().iter().map(|(name, _)| name).collect();
        let object = json!({
            "player": spsa.tuned(), "steps": spsa.step(), "is_over": spsa.is_over(),
            "parameters": names, "course": spsa.course(),
        });
        return Ok(writeln!(out, "{object}")?);
    }
    Ok(writeln!(out, "{}", spsa.tuned())?)
}
