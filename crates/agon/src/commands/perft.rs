//! `agon perft`: counts the joint-move sequences of each length, the classic test of a move generator.

use std::io::{Write, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon::games::suite;
use agon_engine::lanes::{Lanes, LanesOptions};
use agon_engine::{Game, Interpreter, Machine, Perft, State};
use agon_gdl::{Limits, Rules};
use agon_ground::GroundLimits;
use anyhow::{Context, bail};
use clap::ValueEnum;
use serde::Serialize;

use crate::commands::bench::{EngineArg, stem};
use crate::sheet::Sheet;

/// Progress is reported once counting has taken this long.
const SLOW: Duration = Duration::from_secs(2);

/// Count the move sequences of each length, to test the engines
#[derive(clap::Args)]
#[command(
    after_help = "A sequence ends where the game is over. The table ends at the longest sequence.
A suite is a TOML file with the expected counts of built-in games.

Examples:
  agon perft tic_tac_toe 9
  agon perft my_game.kif 4 --engine interpreter --json
  agon perft --suite games/perft.toml --engine all --most 100000"
)]
pub(crate) struct Args {
    /// A built-in game or the path of a rulesheet
    #[arg(required_unless_present = "suite", conflicts_with = "suite")]
    game: Option<String>,
    /// Length of the longest sequences to count
    #[arg(required_unless_present = "suite", conflicts_with = "suite", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    depth: Option<u32>,
    /// Compare with the expected counts in a file
    #[arg(long, value_name = "FILE")]
    suite: Option<String>,
    /// Skip expected counts of a suite that are greater than N
    #[arg(long, value_name = "N", requires = "suite", default_value_t = u64::MAX, hide_default_value = true)]
    most: u64,
    /// Engine to use [default: scalar, or the interpreter if the game is too large to ground]
    #[arg(long, value_enum)]
    engine: Option<Engines>,
    /// Print JSON: one object, or one per game and engine of a suite
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engines {
    /// Evaluates the rules directly
    Interpreter,
    /// Evaluates a network of gates, one state at a time
    Scalar,
    /// Evaluates a network of gates, many states at a time
    Lanes,
    /// All engines, one after another; only with --suite
    All,
}

#[derive(Serialize)]
struct Report<'a> {
    game: &'a str,
    engine: &'static str,
    counts: &'a [u64],
    seconds: f64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(file) = &args.suite {
        return run_suite(file, args);
    }
    let (Some(name), Some(depth)) = (&args.game, args.depth) else {
        bail!("give a game and a depth, or --suite FILE");
    };
    let limits = Limits::default();
    let rules = Arc::new(Sheet::find(name, &limits)?.rules(&limits)?);
    let n_roles = rules.roles.len();
    let engine = match args.engine {
        None => None,
        Some(Engines::Interpreter) => Some(EngineArg::Interpreter),
        Some(Engines::Scalar) => Some(EngineArg::Scalar),
        Some(Engines::Lanes) => Some(EngineArg::Lanes),
        Some(Engines::All) => bail!("--engine all needs --suite FILE"),
    };
    let (engine, mut counter) = counter(rules, engine)?;
    let job = Job {
        name,
        depth,
        engine,
        json: args.json,
    };
    job.count(counter.perft(n_roles))?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Verdict<'a> {
    game: &'a str,
    engine: &'static str,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<String>,
    seconds: f64,
}

/// Compares every game of a file with its counts.
fn run_suite(file: &str, args: &Args) -> anyhow::Result<ExitCode> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
    let suite =
        suite::read(&text).with_context(|| format!("{file} is not a valid file of counts"))?;
    let engines: &[EngineArg] = match args.engine {
        Some(Engines::Interpreter) => &[EngineArg::Interpreter],
        None | Some(Engines::Scalar) => &[EngineArg::Scalar],
        Some(Engines::Lanes) => &[EngineArg::Lanes],
        Some(Engines::All) => &[EngineArg::Scalar, EngineArg::Lanes, EngineArg::Interpreter],
    };
    let limits = Limits::default();
    let mut out = stdout().lock();
    let (mut n_passed, mut n_failed) = (0, 0);
    for (name, expected) in &suite {
        let rules = Arc::new(Sheet::find(name, &limits)?.rules(&limits)?);
        for &engine in engines {
            let started = Instant::now();
            let compared = counter(Arc::clone(&rules), Some(engine))
                .map_err(|error| error.to_string())
                .and_then(|(_, mut counter)| {
                    expected.compare(&mut counter.perft(rules.roles.len()), args.most)
                });
            match compared {
                Ok(()) => n_passed += 1,
                Err(_) => n_failed += 1,
            }
            let verdict = Verdict {
                game: name,
                engine: engine.name(),
                ok: compared.is_ok(),
                difference: compared.err(),
                seconds: started.elapsed().as_secs_f64(),
            };
            match args.json {
                true => writeln!(out, "{}", serde_json::to_string(&verdict)?)?,
                false => writeln!(out, "{}", verdict.line())?,
            }
        }
    }
    if !args.json {
        writeln!(out, "{n_passed} passed, {n_failed} failed")?;
    }
    Ok(ExitCode::from(u8::from(n_failed > 0)))
}

impl Verdict<'_> {
    fn line(&self) -> String {
        let Verdict { game, engine, .. } = self;
        match &self.difference {
            None => format!("ok      {game} {engine} {:.2} s", self.seconds),
            Some(difference) => format!("FAILED  {game} {engine}: {difference}"),
        }
    }
}

/// An engine in the initial state.
enum Counter {
    Machine(Box<dyn Machine>),
    Lanes(Box<Lanes>, State),
}

impl Counter {
    fn perft(&mut self, n_roles: usize) -> Perft<'_> {
        match self {
            Counter::Machine(machine) => Perft::new(&mut **machine, n_roles),
            Counter::Lanes(lanes, first) => Perft::on_lanes(lanes, n_roles, first.clone()),
        }
    }
}

/// The engine asked for, or the best one for this game.
fn counter(rules: Arc<Rules>, engine: Option<EngineArg>) -> anyhow::Result<(EngineArg, Counter)> {
    if engine == Some(EngineArg::Interpreter) {
        let interpreter = Arc::new(Interpreter::new(rules)?);
        let machine = Box::new(interpreter.machine());
        return Ok((EngineArg::Interpreter, Counter::Machine(machine)));
    }
    let game = Game::compile(rules, &GroundLimits::default(), &|| false)?;
    match (game.grounded(), game.ground_error(), engine) {
        (Some(grounded), _, Some(EngineArg::Lanes)) => {
            let lanes = Box::new(grounded.lanes(&LanesOptions::default()));
            let first = grounded.initial_state().clone();
            Ok((EngineArg::Lanes, Counter::Lanes(lanes, first)))
        }
        (Some(_), ..) => Ok((EngineArg::Scalar, Counter::Machine(game.machine()))),
        (None, Some(error), Some(_)) => {
            bail!("this engine cannot play the game: {error}; use --engine interpreter")
        }
        (None, ..) => Ok((EngineArg::Interpreter, Counter::Machine(game.machine()))),
    }
}

/// What to count and how to print it.
struct Job<'a> {
    name: &'a str,
    depth: u32,
    engine: EngineArg,
    json: bool,
}

impl Job<'_> {
    /// Counts depth by depth and prints.
    fn count(&self, mut perft: Perft<'_>) -> anyhow::Result<()> {
        let started = Instant::now();
        let mut counts = Vec::new();
        let mut out = stdout().lock();
        if !self.json {
            writeln!(out, "{:>5} {:>20} {:>10}", "depth", "sequences", "seconds")?;
        }
        for depth in 1..=self.depth {
            // If no sequence is this long, none is longer.
            let Some(count) = perft.next() else { break };
            counts.push(count);
            let elapsed = started.elapsed();
            let seconds = elapsed.as_secs_f64();
            if !self.json {
                writeln!(out, "{depth:>5} {count:>20} {seconds:>10.3}")?;
            } else if elapsed > SLOW && depth < self.depth {
                let n_states = perft.n_states();
                eprintln!("depth {depth}: {count}, {n_states} states, {seconds:.1} s");
            }
        }
        if self.json {
            counts.resize(self.depth as usize, 0);
            let report = Report {
                game: &stem(self.name),
                engine: self.engine.name(),
                counts: &counts,
                seconds: started.elapsed().as_secs_f64(),
            };
            writeln!(out, "{}", serde_json::to_string(&report)?)?;
        }
        match perft.take_fault() {
            Some(fault) => bail!("the counts are incomplete because the engine failed: {fault}"),
            None => Ok(()),
        }
    }
}
