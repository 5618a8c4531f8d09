//! `agon bench`: how fast the engines play, and how long a game takes to get ready.
//!
//! Complete random games from the initial state on one thread, in seconds of that thread's CPU time.

use std::io::{Write, stdout};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_engine::network::Network;
use agon_engine::optimize::Pass;
use agon_engine::{Grounded, Interpreter, Machine, RoleId, ScalarPlayouts, play_out};
use agon_gdl::{Limits, Rules};
use agon_ground::{GroundLimits, ground};
use anyhow::{Context, bail};
use clap::ValueEnum;
use cpu_time::ThreadTime;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde::Serialize;

use crate::sheet::Sheet;

/// A playout that takes more steps than this is cut: the sheet may never end.
const MOST_STEPS: u32 = 100_000;

/// Measure how fast engines play random games
#[derive(clap::Args)]
#[command(
    after_help = "Seconds are CPU time of one thread. One JSON object per game and engine.

Examples:
  agon bench tic_tac_toe connect_four
  agon bench my_game.kif --engine interpreter --seconds 5
  agon bench --setup-only --games sheets --json"
)]
pub(crate) struct Args {
    /// Built-in games or paths of rulesheets
    #[arg(value_name = "GAME")]
    games: Vec<String>,
    /// Which engine to measure
    #[arg(long, value_enum, default_value = "scalar")]
    engine: EngineArg,
    /// How long to play each game
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    seconds: f64,
    /// Only get the game ready
    #[arg(long)]
    setup_only: bool,
    /// Every rulesheet of this directory, one process per game
    #[arg(long = "games", value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Stop getting a game ready after so many seconds
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    setup_limit: f64,
    /// Seed of the random moves
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON (the only form so far)
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineArg {
    /// The reasoner on the rules
    Interpreter,
    /// The network, one state at a time
    Scalar,
}

impl EngineArg {
    pub(crate) fn name(self) -> &'static str {
        match self {
            EngineArg::Interpreter => "interpreter",
            EngineArg::Scalar => "scalar",
        }
    }
}

/// Times of the stages of getting ready, in milliseconds.
#[derive(Serialize, Default)]
struct Stages {
    check: f64,
    ground: f64,
    network: f64,
}

#[derive(Serialize, Default)]
struct Row {
    game: String,
    engine: &'static str,
    setup_ms: f64,
    stages_ms: Stages,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(flatten)]
    played: Option<Played>,
    #[serde(flatten)]
    size: Option<Size>,
    peak_rss_mb: f64,
}

#[derive(Serialize)]
struct Played {
    playouts: u64,
    transitions: u64,
    seconds: f64,
    playouts_per_s: f64,
    transitions_per_s: f64,
    mean_length: f64,
    mean_goals: Vec<Option<f64>>,
}

#[derive(Serialize)]
struct Size {
    fluents: usize,
    phases: usize,
    moves: usize,
    ground_rules: usize,
    gates: usize,
    edges: usize,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(directory) = &args.directory {
        return run_directory(args, directory);
    }
    if args.games.is_empty() {
        bail!("name a game, or give --games DIR; `agon games` lists those built in");
    }
    for game in &args.games {
        let row = bench(args, game)?;
        writeln!(stdout().lock(), "{}", serde_json::to_string(&row)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One process per game, so that each has its own peak of memory and none can harm another.
fn run_directory(args: &Args, directory: &PathBuf) -> anyhow::Result<ExitCode> {
    let entries = std::fs::read_dir(directory)
        .with_context(|| format!("cannot read {}", directory.display()))?;
    let mut sheets: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    sheets.retain(|path| path.extension().is_some_and(|end| end == "kif"));
    sheets.sort();
    let own = std::env::current_exe().context("cannot find this program")?;
    for sheet in sheets {
        let mut command = Command::new(&own);
        command
            .arg("bench")
            .arg(&sheet)
            .args(["--engine", args.engine.name()]);
        command.args([
            "--seconds",
            &args.seconds.to_string(),
            "--seed",
            &args.seed.to_string(),
        ]);
        command.args(["--setup-limit", &args.setup_limit.to_string()]);
        if args.setup_only {
            command.arg("--setup-only");
        }
        let output = command
            .stderr(Stdio::inherit())
            .output()
            .context("cannot start a process")?;
        if output.status.success() {
            stdout().lock().write_all(&output.stdout)?;
        } else {
            let name = sheet
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned())
                .unwrap_or_default();
            let error = Some(format!("the process ended with {}", output.status));
            let row = Row {
                game: name,
                engine: args.engine.name(),
                error,
                ..Row::default()
            };
            writeln!(stdout().lock(), "{}", serde_json::to_string(&row)?)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn bench(args: &Args, game: &str) -> anyhow::Result<Row> {
    let limits = Limits::default();
    let sheet = Sheet::find(game, &limits)?;
    let started = Instant::now();
    let rules = Arc::new(sheet.rules(&limits)?);
    let mut row = Row {
        game: stem(game),
        engine: args.engine.name(),
        ..Row::default()
    };
    row.stages_ms.check = ms(started.elapsed());
    match args.engine {
        EngineArg::Interpreter => bench_interpreter(args, &rules, started, &mut row),
        EngineArg::Scalar => bench_scalar(args, &rules, started, &mut row),
    }
    row.peak_rss_mb = peak_rss_mb();
    Ok(row)
}

fn bench_interpreter(args: &Args, rules: &Arc<Rules>, started: Instant, row: &mut Row) {
    let interpreter = match Interpreter::new(Arc::clone(rules)) {
        Ok(interpreter) => Arc::new(interpreter),
        Err(error) => {
            row.error = Some(error.to_string());
            return;
        }
    };
    let mut machine = interpreter.machine();
    row.setup_ms = ms(started.elapsed());
    if args.setup_only {
        return;
    }
    let n_roles = rules.roles.len();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(args.seed);
    let mut tally = Tally::new(n_roles);
    while tally.goes_on(args.seconds) {
        machine.load(interpreter.initial_state());
        let playout = play_out(&mut machine, n_roles, MOST_STEPS, &mut rng);
        tally.add(playout.steps, |role| {
            machine.goal(role).map(agon_engine::Goal::value)
        });
    }
    row.played = Some(tally.finish());
}

fn bench_scalar(args: &Args, rules: &Arc<Rules>, started: Instant, row: &mut Row) {
    let deadline = started + Duration::from_secs_f64(args.setup_limit.clamp(0.0, 1e6));
    let before = Instant::now();
    let program = match ground(rules, &GroundLimits::default(), &|| {
        Instant::now() > deadline
    }) {
        Ok(program) => program,
        Err(error) => {
            row.setup_ms = ms(started.elapsed());
            row.error = Some(error.to_string());
            return;
        }
    };
    row.stages_ms.ground = ms(before.elapsed());
    let before = Instant::now();
    let grounded = Arc::new(Grounded::new(program, &Pass::ALL));
    let machine = grounded.machine();
    row.stages_ms.network = ms(before.elapsed());
    row.setup_ms = ms(started.elapsed());
    row.size = Some(Size {
        fluents: grounded.program().fluents.len(),
        phases: grounded.optimized().phases.len(),
        moves: grounded
            .program()
            .roles
            .iter()
            .map(|role| role.moves.len())
            .sum(),
        ground_rules: grounded.program().n_rules(),
        gates: grounded
            .optimized()
            .networks
            .iter()
            .map(Network::n_gates)
            .sum(),
        edges: grounded
            .optimized()
            .networks
            .iter()
            .map(Network::n_edges)
            .sum(),
    });
    if args.setup_only {
        return;
    }
    let n_roles = rules.roles.len();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(args.seed);
    let mut playouts = ScalarPlayouts::new(
        machine.into_scalar(),
        grounded.initial_state().clone(),
        n_roles,
    );
    let mut tally = Tally::new(n_roles);
    while tally.goes_on(args.seconds) {
        let playout = playouts.run(MOST_STEPS, &mut rng);
        tally.add(playout.steps, |role| {
            grounded
                .goal(playouts.machine(), role)
                .map(agon_engine::Goal::value)
        });
    }
    row.played = Some(tally.finish());
}

/// Sums over playouts.
struct Tally {
    started: ThreadTime,
    n_playouts: u64,
    n_transitions: u64,
    goals: Vec<(u64, u64)>,
}

impl Tally {
    fn new(n_roles: usize) -> Tally {
        Tally {
            started: ThreadTime::now(),
            n_playouts: 0,
            n_transitions: 0,
            goals: vec![(0, 0); n_roles],
        }
    }

    /// Whether there is time left; the clock is read now and then only.
    fn goes_on(&self, seconds: f64) -> bool {
        let is_due = self.n_playouts < 16 || self.n_playouts.is_multiple_of(16);
        !is_due || self.started.elapsed().as_secs_f64() < seconds
    }

    fn add(&mut self, steps: u32, mut goal: impl FnMut(RoleId) -> Option<u8>) {
        self.n_playouts += 1;
        self.n_transitions += u64::from(steps);
        for role in RoleId::all(self.goals.len()) {
            if let Some(goal) = goal(role) {
                self.goals[role.idx()].0 += u64::from(goal);
                self.goals[role.idx()].1 += 1;
            }
        }
    }

    fn finish(self) -> Played {
        let seconds = self.started.elapsed().as_secs_f64();
        let mean = |&(sum, n): &(u64, u64)| (n > 0).then(|| sum as f64 / n as f64);
        Played {
            playouts: self.n_playouts,
            transitions: self.n_transitions,
            seconds,
            playouts_per_s: self.n_playouts as f64 / seconds,
            transitions_per_s: self.n_transitions as f64 / seconds,
            mean_length: self.n_transitions as f64 / self.n_playouts.max(1) as f64,
            mean_goals: self.goals.iter().map(mean).collect(),
        }
    }
}

fn ms(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

/// The name of a game for a table: a file's name without its ending.
pub(crate) fn stem(game: &str) -> String {
    let path = std::path::Path::new(game);
    path.file_stem().map_or_else(
        || game.to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    )
}

/// Most memory that this process has had, in megabytes; 0 where the system does not tell.
fn peak_rss_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line
        .and_then(|line| line.split_whitespace().next())
        .and_then(|number| number.parse::<f64>().ok());
    kilobytes.map_or(0.0, |kilobytes| (kilobytes / 102.4).round() / 10.0)
}
