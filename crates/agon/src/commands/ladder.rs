//! `agon ladder`: the rating of a player against graded opponents.
//!
//! The levels of a game are measured against their neighbours once; the store keeps these matches. Then the player meets the
//! level that is nearest to its rating so far, two matches at a time with swapped seats, and all ratings are fitted together.
//! Everything is in the store, so that a run that was stopped goes on where it was.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use agon::tournament::ladder::{LEVELS, Pairing, Rating, fit, next_level};
use agon::tournament::run as play_cells;
use agon::tournament::{
    Budget, Cell, CellProgress, Contestants, Entrant, Outcome, Sheet, Store, Tally, Terms,
};
use agon_protocol::StopFlag;
use anyhow::{Context, bail};
use serde_json::{Value, json};

use super::tournament::compile;

/// Matches of a player at one level before the next level is chosen.
const ROUND: u32 = 2;

/// Rate a player against graded opponents
#[derive(clap::Args)]
#[command(
    after_help = "The levels are random, greedy, Monte Carlo and UCT with 16 to 4096 playouts per move. Their differences are measured once per game and
kept in the store; random has the rating 0. PLAYER is a preset, with its own playouts per move as in cadia-2012@200, or http://HOST:PORT.
With --results the matches were played elsewhere, for example through `agon mcp`: each line is {\"level\": \"mc@32\", \"score\": 0.5}.

A run that was stopped goes on where it was. Exit code: 0 success, 1 matches are missing (a remote player that is not there, or Ctrl-C), 2 wrong usage.

Examples:
  agon ladder connect_four
  agon ladder connect_four cadia-2012@200
  agon ladder breakthrough http://127.0.0.1:9147 --n 20 --play-clock 5
  agon ladder connect_four my_model --results results.jsonl"
)]
pub(crate) struct Args {
    /// A built-in game or the path of a rulesheet
    game: String,
    /// The player; without one only the levels are measured
    player: Option<String>,
    /// Matches of the player
    #[arg(long, default_value_t = 40, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    n: u32,
    /// Matches between neighbouring levels; with 80, levels 16 times apart in playouts differ by more than their intervals
    #[arg(long, default_value_t = 80, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    level_matches: u32,
    /// The strongest level has this number of playouts per move
    #[arg(long, default_value_t = 1024, value_name = "N")]
    most_playouts: u64,
    /// Seed of the matches of the player; another one gives other matches
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Playouts per move of a player that names none
    #[arg(long, default_value_t = 1000, value_name = "N")]
    playouts: u64,
    /// Seconds per move of a remote player
    #[arg(long, value_name = "S")]
    play_clock: Option<f64>,
    /// Results of matches that were played elsewhere
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
    /// Where matches are kept
    #[arg(long, value_name = "FILE", default_value = "ladder.sqlite")]
    store: PathBuf,
    /// Matches at the same time [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<u32>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let ladder = Ladder::new(args)?;
    let mut store = Store::open(&args.store).with_context(|| args.store.display().to_string())?;
    let stop = StopFlag::new();
    let raise = stop.clone();
    ctrlc::set_handler(move || {
        if raise.is_raised() {
            std::process::exit(130);
        }
        raise.raise();
    })
    .context("cannot watch for Ctrl-C")?;
    let mut pairings = ladder.measure_levels(&mut store, &stop)?;
    let mut scores = vec![(0, 0.0); ladder.levels.len()];
    if let Some(player) = &args.player {
        match &args.results {
            Some(path) => scores = ladder.read_results(path)?,
            None => ladder.rate(player, &mut store, &stop, &pairings, &mut scores)?,
        }
    }
    pairings.extend(ladder.own_pairings(&scores));
    let ratings = fit(ladder.levels.len() + 1, &pairings);
    ladder.print(&ratings, &scores)?;
    let n_played: usize = scores.iter().map(|(n, _)| n).sum();
    let is_complete = !stop.is_raised()
        && (args.player.is_none() || args.results.is_some() || n_played >= args.n as usize);
    if stop.is_raised() {
        eprintln!("agon: stopped; run the same command again to go on");
    }
    Ok(ExitCode::from(u8::from(!is_complete)))
}

/// The levels of a game and what to play.
struct Ladder<'a> {
    args: &'a Args,
    sheet: Arc<Sheet>,
    levels: Vec<(&'static str, Arc<Entrant>)>,
    n_threads: usize,
}

impl<'a> Ladder<'a> {
    fn new(args: &'a Args) -> anyhow::Result<Ladder<'a>> {
        let sheet = compile(&args.game, None)?;
        let mut levels = Vec::new();
        for name in LEVELS {
            let entrant = Entrant::parse(name)?;
            if entrant.playouts().is_none_or(|n| n <= args.most_playouts) {
                levels.push((name, Arc::new(entrant)));
            }
        }
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let n_threads = args.threads.map_or_else(cores, |n| n.max(1) as usize);
        Ok(Ladder {
            args,
            sheet,
            levels,
            n_threads,
        })
    }

    fn cell(
        &self,
        first: &Arc<Entrant>,
        second: &Arc<Entrant>,
        seed: u64,
        n: u32,
    ) -> anyhow::Result<Cell> {
        let pair = Contestants {
            first: Arc::clone(first),
            second: Arc::clone(second),
        };
        let is_remote = first.address().is_some();
        let terms = Terms {
            n_matches: n,
            seed,
            start_clock: None,
            play_clock: self.args.play_clock.filter(|_| is_remote),
            sprt: None,
        };
        let budget = Budget::Playouts(self.args.playouts);
        let cell = Cell::new(Arc::clone(&self.sheet), pair, budget, terms);
        cell.with_context(|| format!("{} cannot be played by these players", self.sheet.name))
    }

    fn play(&self, cells: &[Cell], store: &mut Store, stop: &StopFlag) -> anyhow::Result<Outcome> {
        let outcome = play_cells(cells, store, self.n_threads, stop, &mut |_| {})?;
        for failure in &outcome.failures {
            eprintln!("agon: match {} failed: {}", failure.index, failure.reason);
        }
        if let Some(absent) = outcome.absent.first() {
            eprintln!(
                "agon: {}: {}; start the player and run the same command again",
                absent.player, absent.cause
            );
        }
        Ok(outcome)
    }

    /// Plays the missing matches between neighbours, and between levels two apart.
    fn measure_levels(&self, store: &mut Store, stop: &StopFlag) -> anyhow::Result<Vec<Pairing>> {
        let mut pairs = Vec::new();
        for level in 1..self.levels.len() {
            pairs.push((level, level - 1));
            if level > 1 {
                pairs.push((level, level - 2));
            }
        }
        let mut cells = Vec::new();
        for &(first, second) in &pairs {
            let (first, second) = (&self.levels[first].1, &self.levels[second].1);
            cells.push(self.cell(first, second, 1, self.args.level_matches)?);
        }
        let outcome = self.play(&cells, store, stop)?;
        let pairings = pairs.iter().zip(&outcome.cell_progress);
        Ok(pairings
            .map(|(&(first, second), progress)| {
                let (n, points) = points(progress);
                Pairing {
                    first,
                    second,
                    n: n as f64,
                    points,
                }
            })
            .collect())
    }

    /// Lets the player meet the nearest level, until it has had its matches.
    fn rate(
        &self,
        player: &str,
        store: &mut Store,
        stop: &StopFlag,
        known: &[Pairing],
        scores: &mut [(usize, f64)],
    ) -> anyhow::Result<()> {
        let entrant = Arc::new(Entrant::parse(player)?);
        let mut n_wanted = vec![0; self.levels.len()];
        let mut rating = None;
        while n_wanted.iter().sum::<u32>() < self.args.n && !stop.is_raised() {
            let ratings = fit(self.levels.len(), known);
            let n_met: Vec<usize> = scores.iter().map(|(n, _)| *n).collect();
            let level = next_level(&ratings, &n_met, rating);
            n_wanted[level] += ROUND;
            let cell = self.cell(
                &entrant,
                &self.levels[level].1,
                self.args.seed,
                n_wanted[level],
            )?;
            let outcome = self.play(&[cell], store, stop)?;
            scores[level] = points(&outcome.cell_progress[0]);
            if !outcome.absent.is_empty() {
                break;
            }
            let mut pairings = known.to_vec();
            pairings.extend(self.own_pairings(scores));
            rating = fit(self.levels.len() + 1, &pairings).last().copied();
        }
        Ok(())
    }

    /// The matches of the player, which is the last one of the list.
    fn own_pairings(&self, scores: &[(usize, f64)]) -> Vec<Pairing> {
        let first = self.levels.len();
        let pairing = |(second, &(n, points)): (usize, &(usize, f64))| Pairing {
            first,
            second,
            n: n as f64,
            points,
        };
        scores.iter().enumerate().map(pairing).collect()
    }

    /// Scores by level from lines of JSON.
    fn read_results(&self, path: &Path) -> anyhow::Result<Vec<(usize, f64)>> {
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut scores = vec![(0, 0.0); self.levels.len()];
        for (idx, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
        {
            let place = || format!("{}:{}", path.display(), idx + 1);
            let value: Value = serde_json::from_str(line)
                .with_context(|| format!("{}: this is not JSON", place()))?;
            let name = value["level"].as_str().unwrap_or_default();
            let Some(level) = self.levels.iter().position(|(known, _)| *known == name) else {
                let known: Vec<&str> = self.levels.iter().map(|(name, _)| *name).collect();
                bail!(
                    "{}: `{name}` is not a level; the levels are {}",
                    place(),
                    known.join(", ")
                );
            };
            let score = value["score"]
                .as_f64()
                .filter(|score| (0.0..=1.0).contains(score));
            let score = score
                .with_context(|| format!("{}: `score` must be a number from 0 to 1", place()))?;
            scores[level].0 += 1;
            scores[level].1 += score;
        }
        Ok(scores)
    }

    fn print(&self, ratings: &[Rating], scores: &[(usize, f64)]) -> anyhow::Result<()> {
        let mut out = stdout().lock();
        let elo = |rating: &Rating| rating.plus_minus.is_finite().then(|| rating.elo.round());
        let plus_minus = |rating: &Rating| elo(rating).map(|_| rating.plus_minus.round());
        let n_matches: usize = scores.iter().map(|(n, _)| n).sum();
        let own = ratings.last().filter(|_| n_matches > 0);
        if self.args.json {
            let levels: Vec<Value> = self
                .levels
                .iter()
                .zip(ratings)
                .zip(scores)
                .map(|(((name, _), rating), (n, points))| {
                    json!({"level": name, "elo": elo(rating), "plusMinus": plus_minus(rating), "matches": n, "points": points})
                })
                .collect();
            let mut answer: BTreeMap<&str, Value> = BTreeMap::new();
            answer.insert("game", json!(self.sheet.name));
            answer.insert("levels", json!(levels));
            answer.insert("player", json!(self.args.player));
            answer.insert("matches", json!(n_matches));
            answer.insert("elo", json!(own.and_then(elo)));
            answer.insert("plusMinus", json!(own.and_then(plus_minus)));
            writeln!(out, "{}", serde_json::to_string(&answer)?)?;
            return Ok(());
        }
        writeln!(
            out,
            "level                 Elo      ±   points of the player"
        )?;
        for (((name, _), rating), (n, points)) in self.levels.iter().zip(ratings).zip(scores) {
            let met = match n {
                0 => String::new(),
                n => format!("{points} of {n}"),
            };
            writeln!(
                out,
                "{name:<18} {:>6} {:>6}   {met}",
                elo(rating).map_or("–".to_owned(), |elo| format!("{elo:.0}")),
                plus_minus(rating).map_or("–".to_owned(), |half| format!("{half:.0}")),
            )?;
        }
        if let (Some(own), Some(player)) = (own, &self.args.player) {
            let (low, high) = (own.elo - own.plus_minus, own.elo + own.plus_minus);
            writeln!(
                out,
                "{player}: {:.0} Elo above random in {}, 95 % interval {low:.0} to {high:.0}, {n_matches} matches",
                own.elo, self.sheet.name
            )?;
        }
        Ok(())
    }
}

/// Matches with a score, and the points of the first player.
fn points(progress: &CellProgress) -> (usize, f64) {
    match Tally::of(&progress.counted()) {
        Some(tally) => {
            let n = tally.wins + tally.draws + tally.losses;
            (n, tally.wins as f64 + 0.5 * tally.draws as f64)
        }
        None => (0, 0.0),
    }
}
