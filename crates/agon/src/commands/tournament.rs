//! `agon tournament`: many matches between players of this process.
//!
//! A cell of the table is a game and a pair of players. They take the roles in turn, so that each seat is had equally often:
//! in match `i` the first player has the roles whose number plus `i` is even. Results are appended to a file, one JSON
//! object per match, as they come; a tournament that is started again plays only what is missing. Each match has a seed
//! of its own, made from that of the tournament, so that with a budget in playouts or transitions it does not matter in
//! which order or on how many threads matches are played.
//!
//! A player's score in a match is 100, 50 or 0 as its mean goal is above, equal to or below the other's. In single-player
//! games it is the goal.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{IsTerminal, Write, stderr, stdout};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use agon_engine::{Game, Goal, JointMove, RoleId};
use agon_gdl::Limits as GdlLimits;
use agon_ground::GroundLimits;
use agon_search::{Bot, Count, Limits, Preset};
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use crate::commands::bench::stem;
use crate::sheet::Sheet;

/// A match with more steps is cut: the sheet may never end.
const MOST_STEPS: u32 = 10_000;

/// Play many matches and show mean scores
#[derive(clap::Args)]
#[command(after_help = "A tournament file:
  games = [\"connect_four\", \"path/to/own.kif\"]
  players = [\"cadia-2008\", \"cadia-2007:exploration=50\"]
  pairs = \"all\"                  # or \"first-vs-rest\"
  games_per_pair = 100           # each player has each seat equally often
  budget = { playouts = 1000 }   # or { transitions = 200000 } or { seconds = 0.5 }
  seed = 1

A player whose threads are auto searches on one: the matches share the cores.

Examples:
  agon tournament breakthrough.toml
  agon tournament breakthrough.toml --store results.jsonl --threads 1")]
pub(crate) struct Args {
    /// The tournament
    file: PathBuf,
    /// Where results are kept, one JSON object per match [default: the name of FILE with .jsonl]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Forget what is in the store and begin again
    #[arg(long)]
    fresh: bool,
    /// Matches at a time [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
    /// Print one JSON object per game and pair instead of a table
    #[arg(long)]
    json: bool,
}

/// A tournament file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    games: Vec<String>,
    players: Vec<String>,
    #[serde(default)]
    pairs: Pairs,
    games_per_pair: u32,
    budget: Budget,
    #[serde(default)]
    #[expect(dead_code, reason = "bots of this process need no time to prepare")]
    start_clock: Option<f64>,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    stop: Option<toml::Table>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Pairs {
    #[default]
    All,
    FirstVsRest,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Budget {
    Playouts(u64),
    Transitions(u64),
    Seconds(f64),
}

impl Budget {
    fn limits(self) -> Limits {
        match self {
            Budget::Playouts(n) => Limits::playouts(n),
            Budget::Transitions(n) => Limits::transitions(n),
            Budget::Seconds(seconds) => Limits {
                deadline: Some(Instant::now() + Duration::from_secs_f64(seconds)),
                ..Limits::default()
            },
        }
    }

    fn text(self) -> String {
        match self {
            Budget::Playouts(n) => format!("{n} playouts"),
            Budget::Transitions(n) => format!("{n} transitions"),
            Budget::Seconds(seconds) => format!("{seconds} s"),
        }
    }
}

/// A match that has been played, as it is kept.
#[derive(Clone, Serialize, Deserialize)]
struct Result {
    game: String,
    pair: [String; 2],
    index: u32,
    budget: String,
    seed: u64,
    /// Which of the pair has each role.
    seats: Vec<usize>,
    goals: Vec<Option<u8>>,
    steps: u32,
    /// Of each of the pair, over the match.
    playouts: [u64; 2],
    transitions: [u64; 2],
    seconds: f64,
}

/// What tells one match from all others.
type Key = (String, [String; 2], u32, String, u64);

impl Result {
    fn key(&self) -> Key {
        let budget = self.budget.clone();
        (
            self.game.clone(),
            self.pair.clone(),
            self.index,
            budget,
            self.seed,
        )
    }

    /// The mean goal of one of the pair, if it had a role and all goals are known.
    fn goal(&self, who: usize) -> Option<f64> {
        let seats = self.seats.iter().zip(&self.goals);
        let mine = seats.filter(|(seat, _)| **seat == who);
        let goals: Option<Vec<f64>> = mine.map(|(_, goal)| goal.map(f64::from)).collect();
        let goals = goals.filter(|goals| !goals.is_empty())?;
        Some(goals.iter().sum::<f64>() / goals.len() as f64)
    }

    /// The score of the first of the pair; of both in single-player games, where each plays alone.
    fn score(&self) -> Option<f64> {
        let (mine, other) = (self.goal(0)?, self.goal(1)?);
        Some(match mine.total_cmp(&other) {
            std::cmp::Ordering::Greater => 100.0,
            std::cmp::Ordering::Equal => 50.0,
            std::cmp::Ordering::Less => 0.0,
        })
    }
}

/// A match to be played.
struct Job {
    game: Arc<Game>,
    name: String,
    presets: [Preset; 2],
    index: u32,
    seed: u64,
    budget: Budget,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let started = Instant::now();
    let path = args.file.display();
    let text = fs::read_to_string(&args.file).with_context(|| format!("cannot read {path}"))?;
    let plan: Plan = toml::from_str(&text).with_context(|| format!("{path} is no tournament"))?;
    if plan.stop.is_some() {
        bail!("{path}: `stop` is not known yet: a tournament plays all of its matches");
    }
    let store = args
        .store
        .clone()
        .unwrap_or_else(|| args.file.with_extension("jsonl"));
    if args.fresh {
        let _ = fs::remove_file(&store);
    }
    let mut results = load(&store)?;
    let jobs = jobs(&plan)?;
    let wanted: Vec<Key> = jobs.iter().map(Job::key).collect();
    let missing: Vec<Job> = jobs
        .into_iter()
        .filter(|job| !results.contains_key(&job.key()))
        .collect();
    let n_threads = args.threads.map_or_else(
        || thread::available_parallelism().map_or(1, NonZero::get),
        |n| n as usize,
    );
    let mut file = OpenOptions::new().create(true).append(true).open(&store);
    let file = file
        .as_mut()
        .map_err(|error| anyhow::anyhow!("cannot write {}: {error}", store.display()))?;
    play_all(&missing, n_threads, file, &mut results)?;
    let played: Vec<&Result> = wanted.iter().filter_map(|key| results.get(key)).collect();
    let cells = cells(&played);
    let mut out = stdout().lock();
    if args.json {
        for cell in &cells {
            writeln!(out, "{}", serde_json::to_string(cell)?)?;
        }
    } else {
        table(&mut out, &cells, &plan)?;
        writeln!(
            out,
            "{} matches, {} of them played now in {:.0} s on {n_threads} threads",
            played.len(),
            missing.len(),
            started.elapsed().as_secs_f64()
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The matches of a store. A last line that was cut off is as if it were not there.
fn load(store: &Path) -> anyhow::Result<HashMap<Key, Result>> {
    let text = match fs::read_to_string(store) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => bail!("cannot read {}: {error}", store.display()),
    };
    let results = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    Ok(results
        .map(|result: Result| (result.key(), result))
        .collect())
}

fn jobs(plan: &Plan) -> anyhow::Result<Vec<Job>> {
    let mut presets: Vec<Preset> = plan
        .players
        .iter()
        .map(|player| Preset::parse(player).map_err(anyhow::Error::from))
        .collect::<anyhow::Result<_>>()?;
    // Matches are what shares the cores here.
    for preset in &mut presets {
        if preset.params.threads == Count::Auto {
            preset.params.threads = Count::Exactly(1);
        }
    }
    if presets.len() < 2 {
        bail!("a tournament needs two players at least");
    }
    let mut pairs = Vec::new();
    for first in 0..presets.len() {
        for second in first + 1..presets.len() {
            if first == 0 || matches!(plan.pairs, Pairs::All) {
                pairs.push([presets[first].clone(), presets[second].clone()]);
            }
        }
    }
    let limits = GdlLimits::default();
    let mut jobs = Vec::new();
    for name in &plan.games {
        let rules = Arc::new(Sheet::find(name, &limits)?.rules(&limits)?);
        if rules.is_gdl_two {
            bail!("{name} is a game with hidden information (GDL-II), which Agon cannot play yet");
        }
        let game = Arc::new(Game::compile(rules, &GroundLimits::default(), &|| false)?);
        for pair in &pairs {
            for index in 0..plan.games_per_pair {
                jobs.push(Job {
                    game: Arc::clone(&game),
                    name: stem(name),
                    presets: pair.clone(),
                    index,
                    seed: plan.seed,
                    budget: plan.budget,
                });
            }
        }
    }
    Ok(jobs)
}

/// Plays on several threads; results are written as they come.
fn play_all(
    jobs: &[Job],
    n_threads: usize,
    file: &mut File,
    results: &mut HashMap<Key, Result>,
) -> anyhow::Result<()> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..n_threads.min(jobs.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // Nobody listens any more if the results cannot be written.
                    if sender.send(job.play()).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let is_seen = stderr().is_terminal();
        for (n_played, result) in receiver.iter().enumerate() {
            writeln!(file, "{}", serde_json::to_string(&result)?)?;
            file.flush()?;
            if is_seen {
                let [first, second] = &result.pair;
                eprint!(
                    "\r\x1b[K{} of {}: {}, {first} against {second}",
                    n_played + 1,
                    jobs.len(),
                    result.game
                );
            }
            results.insert(result.key(), result);
        }
        if is_seen {
            eprint!("\r\x1b[K");
        }
        Ok(())
    })
}

impl Job {
    fn key(&self) -> Key {
        let [first, second] = &self.presets;
        let pair = [first.to_string(), second.to_string()];
        (
            self.name.clone(),
            pair,
            self.index,
            self.budget.text(),
            self.seed,
        )
    }

    /// Which of the pair has a role.
    fn seat(&self, role: usize) -> usize {
        (role + self.index as usize) % 2
    }

    fn play(&self) -> Result {
        let started = Instant::now();
        let n_roles = self.game.n_roles();
        let seats: Vec<usize> = (0..n_roles).map(|role| self.seat(role)).collect();
        let mut bots: Vec<Box<dyn Bot>> = (0..n_roles)
            .map(|role| {
                let seed = self
                    .seed
                    .wrapping_mul(1_000_003)
                    .wrapping_add(u64::from(self.index));
                let seed = seed.wrapping_mul(64).wrapping_add(role as u64);
                self.presets[seats[role]].bot(&self.game, seed)
            })
            .collect();
        let mut machine = self.game.machine();
        let (mut playouts, mut transitions) = ([0; 2], [0; 2]);
        let mut steps = 0;
        while !machine.is_terminal() && steps < MOST_STEPS {
            let state = machine.state();
            let mut joint = Vec::with_capacity(n_roles);
            for role in RoleId::all(n_roles) {
                let of = match machine.legal_moves(role) {
                    [] => break,
                    [only] => *only,
                    _ => {
                        let limits = self.budget.limits();
                        let decision = bots[role.idx()].think(&state, role, &limits, &mut |_| {});
                        playouts[seats[role.idx()]] += decision.report.playouts;
                        transitions[seats[role.idx()]] += decision.report.transitions;
                        decision.of
                    }
                };
                joint.push(of);
            }
            if joint.len() < n_roles {
                break;
            }
            let joint = JointMove::new(joint);
            machine.advance(&joint);
            let next = machine.state();
            bots.iter_mut().for_each(|bot| bot.played(&joint, &next));
            steps += 1;
        }
        let (game, pair, index, budget, seed) = self.key();
        let goals = RoleId::all(n_roles).map(|role| machine.goal(role).map(Goal::value));
        Result {
            game,
            pair,
            index,
            budget,
            seed,
            seats,
            goals: goals.collect(),
            steps,
            playouts,
            transitions,
            seconds: started.elapsed().as_secs_f64(),
        }
    }
}

/// A game and a pair.
#[derive(Serialize)]
struct Cell {
    game: String,
    first: String,
    second: String,
    matches: usize,
    /// Mean score of the first player, and half the width of its 95 % confidence interval.
    score: f64,
    plus_minus: f64,
    wins: usize,
    draws: usize,
    losses: usize,
    /// Mean goals.
    goals: [f64; 2],
    /// Mean score of the first player by the first role of the game that it had.
    score_by_seat: [Option<f64>; 2],
    steps: f64,
    playouts_per_match: [f64; 2],
    seconds: f64,
}

fn cells(results: &[&Result]) -> Vec<Cell> {
    let mut order = Vec::new();
    let mut groups: BTreeMap<(&str, &[String; 2]), Vec<&Result>> = BTreeMap::new();
    for result in results {
        let key = (result.game.as_str(), &result.pair);
        if !groups.contains_key(&key) {
            order.push(key);
        }
        groups.entry(key).or_default().push(result);
    }
    order.iter().map(|key| cell(&groups[key])).collect()
}

fn cell(results: &[&Result]) -> Cell {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let goals = [0, 1].map(|who| {
        let goals: Vec<f64> = results
            .iter()
            .filter_map(|result| result.goal(who))
            .collect();
        mean(&goals)
    });
    let scores: Vec<f64> = results.iter().filter_map(|result| result.score()).collect();
    let count = |score: f64| scores.iter().filter(|&&of| of == score).count();
    let score = mean(&scores);
    let squares: Vec<f64> = scores
        .iter()
        .map(|of| (of - score) * (of - score))
        .collect();
    let n = scores.len() as f64;
    let deviation = (squares.iter().sum::<f64>() / (n - 1.0).max(1.0)).sqrt();
    let score_by_seat = [0, 1].map(|seat| {
        let here = results.iter().filter(|result| result.seats[0] == seat);
        let scores: Vec<f64> = here.filter_map(|result| result.score()).collect();
        (!scores.is_empty()).then(|| mean(&scores))
    });
    let all = |of: &dyn Fn(&Result) -> f64| {
        let values: Vec<f64> = results.iter().map(|result| of(result)).collect();
        mean(&values)
    };
    Cell {
        game: results[0].game.clone(),
        first: results[0].pair[0].clone(),
        second: results[0].pair[1].clone(),
        matches: results.len(),
        score,
        plus_minus: 1.96 * deviation / n.max(1.0).sqrt(),
        wins: count(100.0),
        draws: count(50.0),
        losses: count(0.0),
        goals,
        score_by_seat,
        steps: all(&|result| f64::from(result.steps)),
        playouts_per_match: [0, 1].map(|who| all(&|result| result.playouts[who] as f64)),
        seconds: results.iter().map(|result| result.seconds).sum(),
    }
}

fn table(out: &mut impl Write, cells: &[Cell], plan: &Plan) -> std::io::Result<()> {
    let width = |head: &str, of: &dyn Fn(&Cell) -> usize| {
        cells.iter().map(of).max().unwrap_or(0).max(head.len())
    };
    let games = width("game", &|cell| cell.game.len());
    let firsts = width("player", &|cell| cell.first.len());
    let seconds = width("against", &|cell| cell.second.len());
    writeln!(out, "{} per move, seed {}\n", plan.budget.text(), plan.seed)?;
    writeln!(
        out,
        "{:games$}  {:firsts$}  {:seconds$}  matches  score            won drawn lost  goals        first  second",
        "game", "player", "against"
    )?;
    let number =
        |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"));
    for cell in cells {
        let is_scored = cell.wins + cell.draws + cell.losses > 0;
        let score = match is_scored {
            true => format!("{:.1} (± {:.1})", cell.score, cell.plus_minus),
            false => "-".to_owned(),
        };
        writeln!(
            out,
            "{:games$}  {:firsts$}  {:seconds$}  {:>7}  {score:<15} {:>4} {:>5} {:>4}  {:>4.1} : {:<5.1} {:>5}  {:>6}",
            cell.game,
            cell.first,
            cell.second,
            cell.matches,
            cell.wins,
            cell.draws,
            cell.losses,
            cell.goals[0],
            cell.goals[1],
            number(cell.score_by_seat[0]),
            number(cell.score_by_seat[1]),
        )?;
    }
    writeln!(out)
}
