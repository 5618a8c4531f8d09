//! `agon perft`: how many joint-move sequences of each length a game has, the classic test of an engine.

use std::io::{Write, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_engine::{Game, Interpreter, Machine, Perft};
use agon_gdl::{Limits, Rules};
use agon_ground::GroundLimits;
use anyhow::bail;
use serde::Serialize;

use crate::commands::bench::{EngineArg, stem};
use crate::sheet::Sheet;

/// A depth that takes longer than this is announced.
const SLOW: Duration = Duration::from_secs(2);

/// Count the joint-move sequences of each length
#[derive(clap::Args)]
#[command(
    after_help = "A match that is over has no further moves. The table ends where no sequence goes on.

Examples:
  agon perft tic_tac_toe 9
  agon perft my_game.kif 4 --engine interpreter --json"
)]
pub(crate) struct Args {
    /// A built-in game or the path of a rulesheet
    game: String,
    /// The longest sequences to count
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    depth: u32,
    /// Which engine to use; otherwise the network, or the interpreter if the game does not ground
    #[arg(long, value_enum)]
    engine: Option<EngineArg>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    game: &'a str,
    engine: &'static str,
    counts: &'a [u64],
    seconds: f64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let limits = Limits::default();
    let rules = Arc::new(Sheet::find(&args.game, &limits)?.rules(&limits)?);
    let n_roles = rules.roles.len();
    let (engine, mut machine) = machine(rules, args.engine)?;
    count(args, engine, &mut *machine, n_roles)?;
    if let Some(fault) = machine.take_fault() {
        bail!("the counts are wrong, the engine gave up: {fault}");
    }
    Ok(ExitCode::SUCCESS)
}

/// The engine asked for, or the best one for this game.
fn machine(
    rules: Arc<Rules>,
    engine: Option<EngineArg>,
) -> anyhow::Result<(EngineArg, Box<dyn Machine>)> {
    if engine == Some(EngineArg::Interpreter) {
        let interpreter = Arc::new(Interpreter::new(rules)?);
        return Ok((EngineArg::Interpreter, Box::new(interpreter.machine())));
    }
    let game = Game::compile(rules, &GroundLimits::default(), &|| false)?;
    match (game.ground_error(), engine) {
        (None, _) => Ok((EngineArg::Scalar, game.machine())),
        (Some(error), Some(_)) => bail!("the scalar engine cannot play it: {error}"),
        (Some(_), None) => Ok((EngineArg::Interpreter, game.machine())),
    }
}

/// Counts depth by depth and prints.
fn count(
    args: &Args,
    engine: EngineArg,
    machine: &mut dyn Machine,
    n_roles: usize,
) -> anyhow::Result<()> {
    let started = Instant::now();
    let mut counts = Vec::new();
    let mut out = stdout().lock();
    if !args.json {
        writeln!(out, "{:>5} {:>20} {:>10}", "depth", "sequences", "seconds")?;
    }
    let mut perft = Perft::new(machine, n_roles);
    for depth in 1..=args.depth {
        // Where no sequence goes on there are none of this length, nor of any greater one.
        let Some(count) = perft.next() else { break };
        counts.push(count);
        let elapsed = started.elapsed();
        if !args.json {
            writeln!(
                out,
                "{depth:>5} {count:>20} {:>10.3}",
                elapsed.as_secs_f64()
            )?;
        }
        if args.json && elapsed > SLOW && depth < args.depth {
            eprintln!(
                "depth {depth}: {count}, {} states, {:.1} s",
                perft.n_states(),
                elapsed.as_secs_f64()
            );
        }
    }
    if args.json {
        counts.resize(args.depth as usize, 0);
        let report = Report {
            game: &stem(&args.game),
            engine: engine.name(),
            counts: &counts,
            seconds: started.elapsed().as_secs_f64(),
        };
        writeln!(out, "{}", serde_json::to_string(&report)?)?;
    }
    Ok(())
}
