//! `agon tournament`: many matches between presets and remote players.
//!
//! Results are stored as they come. A tournament that is started again plays only the missing matches. Several processes
//! can share one store. With a budget in playouts or transitions, standard output depends only on the tournament file.

use std::fs;
use std::io::{Write, stdout};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use agon_engine::Game;
use agon_gdl::Limits;
use agon_ground::GroundLimits;
use agon_protocol::StopFlag;
use agon_tournament::{
    AbsentPlayer, Budget, Cell, CellProgress, Ended, Format, Outcome, Plan, Progress, SecretFiles,
    Shard, Sheet, Store, Tally, run_shard, write_cells,
};
use anyhow::Context;

use crate::cluster::{self, ClusterArgs};
use crate::commands::bench::stem;
use crate::commands::report::{print_json, print_tables};
use crate::progress::{ProgressShow, time};
use crate::secret::{self, SecretFile};
use crate::sheet;
use crate::terminal;

/// Play many matches between players and show mean scores
#[derive(clap::Args)]
#[command(after_help = "A tournament file:
  games = [\"connect_four\", \"path/to/own.kif\"]
  players = [\"cadia-2008\", \"cadia-2007:exploration=50\", \"http://127.0.0.1:9147\"]
  pairs = \"all\"                  # or \"first-vs-rest\", or [[\"agon\", \"mc\"], [\"agon\", \"legal\"]]
  games_per_pair = 100           # each player has each seat equally often
  budget = { playouts = 1000 }   # or transitions, seconds, random_games; [100, 1000] for several
  start_clock = 1.0              # seconds of the start clock, where there is a clock
  play_clock = 5                 # seconds per move of remote players
  seed = 1
  secret_file = \"secret.txt\"     # secret of remote players; docs/PLAYER.md
  stop = { sprt = { elo0 = 0, elo1 = 30 } }                        # end a cell by a sequential test
  grid = [{ player = \"cadia-2009\", exploration = [20, 40, 80] }]   # more players

Results are stored as they come, and the same command goes on where it was stopped. Several processes can run the same
tournament on one store; they share the matches. A match with a player that cannot be reached, or that does not answer
START, is void: it is not stored, and the next run tries it again. A player that stops answering during a match forfeits it.

With --on, the matches are played by workers on other machines (`agon worker`), and this command collects their results;
docs/cluster.md explains how. Jobs stay on the queue when this command is stopped, and the same command goes on.

Exit code: 0 if all matches have a result, 1 if some are missing, 2 if the command or the file is wrong.

Examples:
  agon tournament breakthrough.toml
  agon tournament breakthrough.toml --store results.sqlite --threads 1
  agon tournament breakthrough.toml --on nats://queue.example:4222
  agon tournament breakthrough.toml --shard 2/4 --store part2.sqlite
  agon report results.sqlite --plots pictures/")]
pub(crate) struct Args {
    /// The tournament file
    file: PathBuf,
    /// Store of results [default: the name of FILE with .sqlite]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Delete the results of this tournament and start again
    #[arg(long)]
    fresh: bool,
    /// Number of matches at the same time [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
    /// Play only part I of N equal parts, for machines without a common store; merge with `agon report --import`
    #[arg(long, value_name = "I/N", conflicts_with = "on", default_value_t = Shard::WHOLE, hide_default_value = true)]
    shard: Shard,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// Format of the table
    #[arg(long, value_enum, default_value_t = Shape::Terminal)]
    format: Shape,
    /// Print one JSON object per game, pair and budget instead of a table
    #[arg(long)]
    json: bool,
}

/// The format of tables.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Shape {
    /// Columns for a terminal
    Terminal,
    /// Markdown
    Markdown,
    /// Comma-separated values
    Csv,
    /// JSON, one object per line
    Json,
}

/// What is printed on standard output.
#[derive(Clone, Copy)]
pub(crate) enum Output {
    /// Tables for people
    Tables(Format),
    /// Comma-separated values
    Csv,
    /// JSON, one object per line
    Json,
}

impl Shape {
    /// What is printed; `--json` goes before `--format`.
    pub(crate) fn output(self, is_json: bool) -> Output {
        match self {
            _ if is_json => Output::Json,
            Shape::Terminal => Output::Tables(Format::Terminal(terminal::width())),
            Shape::Markdown => Output::Tables(Format::Markdown),
            Shape::Csv => Output::Csv,
            Shape::Json => Output::Json,
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let path = args.file.display();
    let text = fs::read_to_string(&args.file).with_context(|| format!("cannot read {path}"))?;
    let mut plan =
        Plan::read(&text).with_context(|| format!("{path} is not a valid tournament file"))?;
    // Errors in players and clocks are reported before games are compiled.
    let pairs = plan.contestants()?;
    plan.terms()?;
    let folder = args.file.parent();
    let entrants = pairs.iter().flat_map(|pair| [&pair.first, &pair.second]);
    let addresses = entrants.filter_map(|entrant| entrant.address());
    plan.secrets = secret::read_all(&secret_files(&plan, folder), addresses)?;
    let sheets: anyhow::Result<Vec<Arc<Sheet>>> = plan
        .games
        .iter()
        .map(|game| compile(game, folder))
        .collect();
    let cells = plan.cells(&sheets?)?;
    warn_of_clocks(&cells);
    let default = || args.file.with_extension("sqlite");
    let store = args.store.clone().unwrap_or_else(default);
    let name = args.file.file_stem().unwrap_or_default().to_string_lossy();
    let how = How {
        n_threads: args.threads,
        is_fresh: args.fresh,
        shard: args.shard,
        cluster: &args.cluster,
        name: &name,
    };
    let outcome = run_cells(&cells, &store, &how)?;
    print(&outcome, args.format.output(args.json))?;
    Ok(exit_code(&outcome))
}

/// The files with secrets that a tournament file names.
fn secret_files(plan: &Plan, folder: Option<&Path>) -> Vec<SecretFile> {
    let file = |address: Option<&String>, name: &String| SecretFile {
        address: address.cloned(),
        path: beside(name, folder).unwrap_or_else(|| PathBuf::from(name)),
    };
    match &plan.secret_file {
        SecretFiles::None => Vec::new(),
        SecretFiles::All(name) => vec![file(None, name)],
        SecretFiles::Each(files) => {
            let files = files.iter();
            files
                .map(|(address, name)| file(Some(address), name))
                .collect()
        }
    }
}

/// A file in `folder`, if it is there and not in the current folder.
fn beside(name: &str, folder: Option<&Path>) -> Option<PathBuf> {
    let path = folder.map(|folder| folder.join(name));
    path.filter(|path| !Path::new(name).exists() && path.is_file())
}

/// Finds and compiles a game: a file in the current folder or in `folder`, or a built-in game.
pub(crate) fn compile(game: &str, folder: Option<&Path>) -> anyhow::Result<Arc<Sheet>> {
    let path = beside(game, folder).map(|path| path.display().to_string());
    let limits = Limits::default();
    let sheet = sheet::Sheet::find(path.as_deref().unwrap_or(game), &limits)?;
    let rules = sheet.playable(&limits)?;
    let compiled = Game::compile(rules, &GroundLimits::default(), &|| false)?;
    Ok(Arc::new(Sheet::new(&stem(&sheet.name), Arc::new(compiled))))
}

/// How matches are played.
pub(crate) struct How<'a> {
    pub(crate) n_threads: Option<u32>,
    pub(crate) is_fresh: bool,
    pub(crate) shard: Shard,
    pub(crate) cluster: &'a ClusterArgs,
    /// The name on a queue, unless another one is given.
    pub(crate) name: &'a str,
}

/// Plays the missing matches of cells, shows the progress, and reports failures.
pub(crate) fn run_cells(cells: &[Cell], path: &Path, how: &How<'_>) -> anyhow::Result<Outcome> {
    let started = Instant::now();
    let mut store = Store::open(path).with_context(|| path.display().to_string())?;
    if how.is_fresh {
        let keys = cells.iter().flat_map(|cell| {
            let matches = 0..cell.terms.n_matches;
            matches.map(|index| cell.fixture(index).key())
        });
        store.forget(&keys.collect::<Vec<String>>())?;
    }
    let stop = stop_by_signal()?;
    let mut show = ProgressShow::new(cells);
    let (outcome, where_played) = match how.cluster.coordination(how.name, how.is_fresh)? {
        Some((access, coordination)) => {
            let outcome = cluster::run(&access, &coordination, cells, &mut store, &stop, &mut show);
            (outcome, format!("on {}", access.address))
        }
        None => {
            let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
            let n = how.n_threads.map_or_else(cores, |n| n as usize);
            let mut watch = |progress: &Progress<'_>| show.show(progress);
            let outcome = run_shard(how.shard, cells, &mut store, n, &stop, &mut watch);
            let plural = if n == 1 { "" } else { "s" };
            (
                outcome.map_err(Into::into),
                format!("on {n} thread{plural}"),
            )
        }
    };
    show.finish();
    let outcome = outcome?;
    for failure in &outcome.failures {
        let fixture = cells[failure.cell].fixture(failure.index);
        let [first, second] = fixture.players.map(|player| player.name);
        eprintln!(
            "agon: {}, {first} – {second}, match {} failed: {}",
            fixture.game, failure.index, failure.reason
        );
    }
    for absent in &outcome.absent {
        eprintln!("agon: {}", absence_words(absent));
    }
    if stop.is_raised() {
        eprintln!("agon: stopped; run the same command again to go on");
    }
    eprintln!(
        "{} matches played in {} {where_played}, stored in {}",
        outcome.n_played,
        time(started.elapsed()),
        path.display()
    );
    Ok(outcome)
}

/// A flag that Ctrl-C and SIGTERM raise; the second time ends the program.
pub(crate) fn stop_by_signal() -> anyhow::Result<StopFlag> {
    let stop = StopFlag::new();
    let raise = stop.clone();
    let interrupt = move || {
        if raise.is_raised() {
            std::process::exit(130);
        }
        raise.raise();
    };
    ctrlc::set_handler(interrupt).context("cannot watch for Ctrl-C")?;
    Ok(stop)
}

/// A player that was not there, and what to do about it.
fn absence_words(absent: &AbsentPlayer) -> String {
    let AbsentPlayer {
        player,
        cause,
        n_void,
        n_missing,
    } = absent;
    let plural = |n: usize| if n == 1 { "match is" } else { "matches are" };
    let times = match n_void {
        1 => "1 attempt".to_owned(),
        n => format!("{n} attempts"),
    };
    format!(
        "{player}: {cause} ({times}); {n_missing} {} missing and not counted: start the player and run the same command again",
        plural(*n_missing)
    )
}

/// 1 if matches are missing.
pub(crate) fn exit_code(outcome: &Outcome) -> ExitCode {
    let is_complete = outcome.n_missing == 0;
    ExitCode::from(u8::from(!is_complete))
}

/// Remote players have clocks of whole seconds only.
fn warn_of_clocks(cells: &[Cell]) {
    let is_remote = |cell: &&Cell| {
        let pair = [&cell.pair.first, &cell.pair.second];
        pair.iter().any(|entrant| entrant.address().is_some())
    };
    let Some(cell) = cells.iter().find(is_remote) else {
        return;
    };
    if cell.terms.play_clock.is_some() {
        return;
    }
    match cell.budget {
        Budget::Seconds(seconds) if seconds.fract() == 0.0 => {}
        Budget::Seconds(_) => eprintln!(
            "agon: clocks of remote players are whole seconds: theirs are rounded up; set play_clock to choose"
        ),
        _ => {
            eprintln!(
                "agon: remote players have a clock instead of a budget: 1 s per move; set play_clock to change it"
            );
        }
    }
}

fn print(outcome: &Outcome, output: Output) -> anyhow::Result<()> {
    let tally = |cell: &CellProgress| Tally::of(&cell.counted()).map(Tally::without_times);
    let tallies: Vec<Tally> = outcome.cell_progress.iter().filter_map(tally).collect();
    let mut out = stdout().lock();
    match output {
        Output::Json => return print_json(&mut out, &tallies),
        Output::Csv => return Ok(write_cells(&tallies, &mut out)?),
        Output::Tables(format) => print_tables(&mut out, &tallies, format)?,
    }
    let counted: usize = outcome
        .cell_progress
        .iter()
        .map(CellProgress::n_counted)
        .sum();
    let is_early = |cell: &&CellProgress| matches!(cell.ended(), Some(Ended::Sprt(_)));
    let n_early = outcome.cell_progress.iter().filter(is_early).count();
    if n_early > 0 {
        let n_cells = outcome.cell_progress.len();
        writeln!(
            out,
            "{n_early} of {n_cells} cells ended early, with a result of the sequential test"
        )?;
    }
    writeln!(
        out,
        "{counted} matches, {} of them played now",
        outcome.n_played
    )?;
    for absent in &outcome.absent {
        writeln!(
            out,
            "{} missing: {}: {}",
            absent.n_missing, absent.player, absent.cause
        )?;
    }
    Ok(())
}
