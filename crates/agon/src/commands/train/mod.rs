//! `agon train`: learns a network for a game by self-play.
//!
//! Training goes on for a time or a number of positions. Now and then the network plays small matches against the one of the time before and
//! against the player without it: only matches tell how good it is. What is needed to go on is kept in a file beside the model twice a
//! minute, so that a training that was interrupted goes on where it was. At the end a contest decides how the network is best used, if at all, and
//! further matches say by how much.

mod course;
mod fluents;
mod show;

use std::fs;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use agon_engine::Game;
use agon_gdl::Limits as GdlLimits;
use agon_ground::GroundLimits;
use agon_learn::Options;
use anyhow::{Context, bail};

use crate::commands::bench::{SimdArg, stem};
use crate::models;
use crate::sheet::Sheet;
use course::{Course, Plan};

/// Learn a network for a game by self-play
#[derive(clap::Args)]
#[command(
    after_help = "The model is kept in the folder that `agon models` shows, where players find it, or in the file of --model.
A training that was interrupted goes on where it was; --fresh begins anew. Ctrl-C ends it early and keeps the model.

Examples:
  agon train breakthrough --time 4m
  agon train my_game.kif --time 8h --threads 4 --model my_game.model
  agon match breakthrough agon:model=my_game.model agon
  agon train breakthrough --report"
)]
pub(crate) struct Args {
    /// A built-in game or the path of a rulesheet
    game: String,
    /// Time to train: seconds, or a number with s, m or h
    #[arg(long, value_name = "D", default_value = "10m", value_parser = duration)]
    time: Duration,
    /// Train for N positions of self-play instead; with --threads 1 the same seed gives the same model
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    positions: Option<u64>,
    /// Threads of self-play; all cores if it is not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// File of the model
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Begin anew even if there is a training to go on with
    #[arg(long)]
    fresh: bool,
    /// Seconds between two checkpoints
    #[arg(long, value_name = "S", default_value = "25", value_parser = crate::commands::match_::seconds)]
    checkpoint_every: Duration,
    /// Play no matches: train only
    #[arg(long)]
    no_matches: bool,
    /// Write a picture of the curve to this SVG file; beside the model if it is not given
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Show what the trained model thinks of fluents, and do not train
    #[arg(long)]
    report: bool,
    /// Also show the errors of the network, which say little
    #[arg(long)]
    losses: bool,
    /// Simulations for a move of self-play
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    simulations: Option<u32>,
    /// Share of noise at the root in self-play
    #[arg(long, value_name = "X", value_parser = share)]
    noise: Option<f32>,
    /// Most random moves that games of self-play begin with
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    random_moves: Option<u32>,
    /// Vector instructions; they do not change the result
    #[arg(long, value_enum, default_value = "auto")]
    simd: SimdArg,
    /// Do not compile to machine code
    #[arg(long)]
    no_jit: bool,
    /// Print one JSON object per point of the curve, and one at the end
    #[arg(long)]
    json: bool,
}

/// A time such as 90, 90s, 10m or 1.5h.
fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1.0),
        Some((at, 'm')) => (&text[..at], 60.0),
        Some((at, 'h')) => (&text[..at], 3600.0),
        _ => (text, 1.0),
    };
    let seconds = number
        .parse::<f64>()
        .map_or(f64::NAN, |number| number * unit);
    if !(1.0..=1e8).contains(&seconds) {
        return Err("use a time of at least one second, such as 90, 10m or 2h".to_owned());
    }
    Ok(Duration::from_secs_f64(seconds))
}

fn share(text: &str) -> Result<f32, String> {
    let share = text
        .parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "use a number from 0 to 1".to_owned())
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let limits = GdlLimits::default();
    let sheet = Sheet::find(&args.game, &limits)?;
    let rules = sheet.playable(&limits)?;
    let game = Arc::new(Game::compile(rules, &GroundLimits::default(), &|| false)?);
    let name = stem(&sheet.name);
    let mut options = Options::new(&game).with_context(|| name.clone())?;
    if let Some(grounded) = game.grounded() {
        grounded.lay_out(&args.simd.layout(args.no_jit)?);
    }
    let path = match &args.model {
        Some(path) => path.clone(),
        None => models::place(&game, &name)?,
    };
    if args.report {
        return report(&game, &path, args.json);
    }
    options.simulations = args.simulations.unwrap_or(options.simulations);
    options.noise = args.noise.unwrap_or(options.noise);
    options.random_moves = args.random_moves.unwrap_or(options.random_moves);
    // A path that cannot be written to is reported before hours of work.
    check_folder(&path)?;
    let n_cores = thread::available_parallelism().map_or(1, usize::from);
    let plan = Plan {
        time: args.time,
        positions: args.positions,
        n_threads: args.threads.map_or(n_cores, usize::from),
        seed: args.seed,
        has_matches: !args.no_matches,
        is_fresh: args.fresh,
        checkpoint_every: args.checkpoint_every,
        svg: args
            .svg
            .clone()
            .unwrap_or_else(|| path.with_extension("svg")),
        path,
    };
    let mut show = show::Show::new(args.json, args.losses, &name);
    let outcome = Course::begin(&game, &name, &options, plan, &mut show)?.run(&mut show)?;
    show.end(&outcome)?;
    Ok(match outcome.is_worth_it() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(1),
    })
}

fn check_folder(path: &Path) -> anyhow::Result<()> {
    if path.is_dir() {
        bail!("{} is a folder: name a file", path.display());
    }
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
    }
    Ok(())
}

fn report(game: &Arc<Game>, path: &Path, is_json: bool) -> anyhow::Result<ExitCode> {
    let model = models::read(path)?;
    let network = model
        .bind(game)
        .with_context(|| path.display().to_string())?;
    let worth = fluents::Worth::new(game, &network);
    let mut out = stdout().lock();
    match is_json {
        true => writeln!(out, "{}", worth.json(game, &model))?,
        false => worth.show(game, &model, &mut out)?,
    }
    Ok(ExitCode::SUCCESS)
}
