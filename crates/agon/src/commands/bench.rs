//! `agon bench`: how fast the engines play, and how long a game takes to set up.
//!
//! Complete random games from the initial state on one thread, in seconds of that thread's CPU time. People get a table,
//! scripts get JSON.

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon::games::About;
use agon_engine::lanes::{DeferGoals, LanesProgram, LayoutOptions, Simd, Sums};
use agon_engine::network::Network;
use agon_engine::optimize::Pass;
use agon_engine::{
    Goal, Grounded, Interpreter, InterpreterMachine, Machine, RoleId, ScalarPlayouts, play_out,
};
use agon_gdl::{Limits, Rules};
use agon_ground::{GroundLimits, ground};
use anyhow::{Context, bail};
use clap::ValueEnum;
use cpu_time::ThreadTime;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde::Serialize;

use crate::sheet::Sheet;
use crate::signature::signature;

mod gdl_perf;
mod lanes;
mod search;
mod table;
mod tactics;

use lanes::LanesRun;
pub(crate) use lanes::Work;
pub(crate) use table::in_words;
use table::{Kind, Line, Table};
use tactics::TacticsArgs;

/// A playout that takes more steps than this is cut: the sheet may never end.
const MOST_STEPS: u32 = 100_000;

/// The games that are measured if none is named.
const GAMES: [&str; 6] = [
    "tic_tac_toe",
    "connect_four",
    "breakthrough",
    "checkers",
    "othello",
    "chinese_checkers_3",
];
/// Engines play in turns of a part of the time, so that a busy machine slows all of them down alike.
const N_TURNS: u32 = 4;
/// The same with `--compare`.
const N_TURNS_COMPARED: u32 = 10;

/// Measure how fast the engines play random games
#[derive(clap::Args)]
#[command(
    after_help = "Plays complete random games from the initial state on one thread. Seconds are CPU time of that thread.
The table has the lanes engine (hundreds of games at a time) beside the scalar engine (one at a time).
With --json and no --engine, only the scalar engine is measured.

Examples:
  agon bench
  agon bench tic_tac_toe connect_four
  agon bench my_game.kif --engine interpreter --seconds 5
  agon bench tic_tac_toe --compare
  agon bench connect_four --compare --engine lanes
  agon bench connect_four --engine lanes --without phases
  agon bench --setup-only --games sheets --json
  agon bench --search
  agon bench --search chess othello --evaluator none --json
  agon bench --signature
  agon bench --tactics chess --time 2
  agon bench --gdl-perf my_game.kif result.properties 10"
)]
pub(crate) struct Args {
    /// Built-in games or paths of rulesheets [default: six well-known games]
    #[arg(value_name = "GAME")]
    games: Vec<String>,
    /// Measure only this engine [default: lanes and scalar; scalar with --json]
    #[arg(long, value_enum)]
    engine: Option<EngineArg>,
    /// Vector instructions of the lanes engine
    #[arg(long, value_enum, default_value = "auto")]
    simd: SimdArg,
    /// Do not compile to machine code
    #[arg(long)]
    no_jit: bool,
    /// Skip an optimiser pass: sequential, forced, phases, one-hot, does-legal, flatten, share
    #[arg(long, value_name = "PASS", value_parser = pass)]
    without: Vec<Pass>,
    /// What the lanes engine returns
    #[arg(long, value_enum, default_value = "sums")]
    work: Work,
    /// Seconds to play each game on each engine [default: 1], or to search it [default: 2]
    #[arg(long, value_name = "S", value_parser = crate::commands::search::seconds)]
    seconds: Option<f64>,
    /// Only measure how long a game takes to set up
    #[arg(long)]
    setup_only: bool,
    /// Measure every rulesheet (*.kif) in a directory, each in its own process
    #[arg(long = "games", value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Give up setting up a game after this many seconds
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    setup_limit: f64,
    /// Seed of the random moves
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Compare all three engines; with `--engine lanes`, compare what the lanes engine can return
    #[arg(long, conflicts_with_all = ["directory", "setup_only"])]
    compare: bool,
    /// Play the game in FILE and write the result to OUT in the format of the GDL performance project
    #[arg(long, num_args = 3, value_names = ["FILE", "OUT", "SECONDS"], conflicts_with_all = ["games", "directory", "compare"])]
    gdl_perf: Option<Vec<String>>,
    /// Print the fingerprint of the search: a number that changes if and only if the search behaves differently
    #[arg(long, conflicts_with_all = ["games", "directory", "compare", "gdl_perf", "setup_only"])]
    signature: bool,
    /// Measure how much of the engine's speed arrives in a search from the initial state [default: twelve games]
    #[arg(long, conflicts_with_all = ["engine", "directory", "compare", "gdl_perf", "setup_only", "signature"])]
    search: bool,
    /// With --search or --tactics: preset that searches, with parameters after a colon [default: agon:threads=1]
    #[arg(long, value_name = "PLAYER")]
    player: Option<String>,
    /// How the search evaluates leaves: rollouts, or none, which measures the tree alone
    #[arg(long, value_name = "NAME", requires = "search")]
    evaluator: Option<String>,
    /// Threads of the search [default: 1]
    #[arg(long, value_name = "N", requires = "search")]
    threads: Option<u32>,
    #[command(flatten)]
    tactics: TacticsArgs,
    /// Print one JSON object per game and engine; with --tactics, one for all positions
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Seconds per game and engine.
    fn seconds(&self) -> f64 {
        self.seconds.unwrap_or(1.0)
    }

    /// The engines to measure.
    fn engines(&self) -> Vec<EngineArg> {
        match self.engine {
            Some(engine) => vec![engine],
            None if self.json => vec![EngineArg::Scalar],
            None if self.setup_only => vec![EngineArg::Lanes],
            None => vec![EngineArg::Lanes, EngineArg::Scalar],
        }
    }

    fn table_kind(&self) -> Kind {
        match (self.setup_only, self.compare, self.engine) {
            (true, ..) => Kind::SetUp,
            (_, true, Some(EngineArg::Lanes)) => Kind::Work,
            _ => Kind::Speed,
        }
    }
}

fn pass(name: &str) -> anyhow::Result<Pass> {
    let found = Pass::ALL.into_iter().find(|pass| pass.name() == name);
    found.with_context(|| {
        let names: Vec<&str> = Pass::ALL.iter().map(|pass| pass.name()).collect();
        format!("unknown pass `{name}`; use one of {}", names.join(", "))
    })
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineArg {
    /// Evaluates the rules directly; plays every game
    Interpreter,
    /// Evaluates a network of gates, one game at a time
    Scalar,
    /// Evaluates a network of gates, hundreds of games at a time
    Lanes,
}

/// The choice of `--simd`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub(crate) enum SimdArg {
    /// The widest that this CPU has
    Auto,
    /// 512 games at a time
    Avx512,
    /// 256 games at a time
    Avx2,
    /// 512 games at a time, on any CPU
    Portable,
}

impl SimdArg {
    /// How to lay out a game for lanes.
    ///
    /// # Errors
    /// If this CPU lacks the vectors.
    pub(crate) fn layout(self, no_jit: bool) -> anyhow::Result<LayoutOptions> {
        let simd = match self {
            SimdArg::Auto => Simd::best(),
            SimdArg::Avx512 => Simd::Avx512,
            SimdArg::Avx2 => Simd::Avx2,
            SimdArg::Portable => Simd::Portable,
        };
        if !simd.is_available() {
            bail!("this CPU does not have {}; use --simd auto", simd.name());
        }
        Ok(LayoutOptions {
            simd,
            jit: !no_jit,
            goals: DeferGoals::Auto,
        })
    }

    fn name(self) -> &'static str {
        match self {
            SimdArg::Auto => "auto",
            SimdArg::Avx512 => Simd::Avx512.name(),
            SimdArg::Avx2 => Simd::Avx2.name(),
            SimdArg::Portable => Simd::Portable.name(),
        }
    }
}

impl EngineArg {
    pub(crate) fn name(self) -> &'static str {
        match self {
            EngineArg::Interpreter => "interpreter",
            EngineArg::Scalar => "scalar",
            EngineArg::Lanes => "lanes",
        }
    }
}

/// Times of the stages of set-up, in milliseconds.
#[derive(Serialize, Default)]
struct Stages {
    check: f64,
    ground: f64,
    network: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lanes: Option<f64>,
}

#[derive(Serialize, Default)]
struct Row {
    game: String,
    engine: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    simd: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    work: Option<&'static str>,
    setup_ms: f64,
    stages_ms: Stages,
    /// Whether the game can be grounded, where that was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    grounds: Option<bool>,
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
    if args.signature {
        writeln!(stdout().lock(), "{}", signature()?)?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.search {
        return search::run(args);
    }
    if args.tactics.tactics {
        let player = args.player.as_deref();
        return tactics::run(&args.tactics, player, &args.games, args.seed, args.json);
    }
    if let Some([file, out, seconds]) = args.gdl_perf.as_deref() {
        return gdl_perf::run(args, file, out, seconds);
    }
    let games: Vec<&str> = match args.games.is_empty() {
        true => GAMES.to_vec(),
        false => args.games.iter().map(String::as_str).collect(),
    };
    let mut has_failed = false;
    if args.json {
        for game in games {
            let rows = match args.compare {
                true => compare(args, game)?,
                false => measure(args, game, &single(args), 1)?,
            };
            has_failed |= rows.iter().any(|row| row.error.is_some());
            let mut out = stdout().lock();
            for row in &rows {
                writeln!(out, "{}", serde_json::to_string(row)?)?;
            }
            if args.compare {
                for ratio in ratios(args, game, &rows) {
                    writeln!(out, "{}", serde_json::to_string(&ratio)?)?;
                }
            }
        }
        return Ok(ExitCode::from(u8::from(has_failed)));
    }
    let names: Vec<String> = games.iter().map(|game| stem(game)).collect();
    let engines: Vec<&'static str> = match args.compare {
        true => COMPARED.map(EngineArg::name).to_vec(),
        false => args.engines().into_iter().map(EngineArg::name).collect(),
    };
    let mut table = Table::new(args.table_kind(), &engines, &names, stdout())?;
    for (game, name) in games.into_iter().zip(&names) {
        let rows = match args.compare {
            true => compare(args, game)?,
            false => measure(args, game, &single(args), N_TURNS)?,
        };
        has_failed |= rows.iter().any(|row| row.error.is_some());
        let lines: Result<Vec<Line>, _> = rows.iter().map(Line::try_from).collect();
        table.game(name, &lines?)?;
    }
    Ok(ExitCode::from(u8::from(has_failed)))
}

/// The engines of a table, each with the same work.
fn single(args: &Args) -> Vec<(EngineArg, Work)> {
    let engines = args.engines().into_iter();
    engines.map(|engine| (engine, args.work)).collect()
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
    let engines = args.engines();
    if args.json {
        for sheet in sheets {
            for &engine in &engines {
                let text = bench_process(args, &own, &sheet, engine)?;
                stdout().lock().write_all(text.as_bytes())?;
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let names: Vec<String> = sheets
        .iter()
        .map(|sheet| stem(&sheet.to_string_lossy()))
        .collect();
    let engine_names: Vec<&'static str> = engines.iter().map(|engine| engine.name()).collect();
    let mut table = Table::new(args.table_kind(), &engine_names, &names, stdout())?;
    for (sheet, name) in sheets.iter().zip(&names) {
        let mut lines = Vec::new();
        for &engine in &engines {
            let text = bench_process(args, &own, sheet, engine)?;
            lines.push(serde_json::from_str::<Line>(&text)?);
        }
        table.game(name, &lines)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures one game in a process of its own; the answer is a line of JSON.
fn bench_process(
    args: &Args,
    program: &Path,
    sheet: &Path,
    engine: EngineArg,
) -> anyhow::Result<String> {
    let mut command = Command::new(program);
    command.arg("bench").arg(sheet).arg("--json");
    command.args(["--engine", engine.name(), "--work", args.work.name()]);
    command.args(["--seconds", &args.seconds().to_string()]);
    command.args(["--seed", &args.seed.to_string()]);
    command.args(["--setup-limit", &args.setup_limit.to_string()]);
    command.args(["--simd", args.simd.name()]);
    if args.no_jit {
        command.arg("--no-jit");
    }
    for pass in &args.without {
        command.args(["--without", pass.name()]);
    }
    if args.setup_only {
        command.arg("--setup-only");
    }
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start a process")?;
    // Exit code 1 says that the game has no result, and the line says why.
    if matches!(output.status.code(), Some(0 | 1)) && !output.stdout.is_empty() {
        return String::from_utf8(output.stdout).context("the process did not write text");
    }
    let row = Row {
        game: stem(&sheet.to_string_lossy()),
        engine: engine.name(),
        error: Some(format!("the process ended with {}", output.status)),
        ..Row::default()
    };
    Ok(serde_json::to_string(&row)? + "\n")
}

/// Plays a game on engines in turns, so that a busy machine slows all of them down alike.
fn measure(
    args: &Args,
    game: &str,
    kinds: &[(EngineArg, Work)],
    n_turns: u32,
) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut runs = Vec::new();
    for &kind in kinds {
        let (row, runner) = set_up(args, game, kind)?;
        let runner = runner.filter(|_| !args.setup_only);
        runs.extend(runner.map(|runner| (rows.len(), Tally::new(runner.n_roles), runner)));
        rows.push(row);
    }
    for _ in 0..n_turns {
        for (_, tally, runner) in &mut runs {
            tally.play(runner, args.seconds() / f64::from(n_turns));
        }
    }
    for (idx, tally, _) in runs {
        rows[idx].played = Some(tally.finish());
    }
    for row in &mut rows {
        row.peak_rss_mb = peak_rss_mb();
    }
    Ok(rows)
}

/// Random games per second that the lanes engine plays on this thread.
pub(crate) fn lanes_rate(grounded: &Arc<Grounded>, seconds: f64) -> f64 {
    lanes_play(grounded, seconds).playouts_per_s
}

/// Random games of the lanes engine on this thread.
fn lanes_play(grounded: &Arc<Grounded>, seconds: f64) -> Played {
    let program = Arc::clone(grounded.lanes_program());
    let lanes = LanesRun::new(grounded, program, Work::Sums, 1);
    let n_roles = grounded.program().roles.len();
    let mut runner = Runner {
        engine: Engine::Lanes(Box::new(lanes)),
        n_roles,
        rng: Xoshiro256PlusPlus::seed_from_u64(1),
    };
    let mut tally = Tally::new(n_roles);
    tally.play(&mut runner, seconds);
    tally.finish()
}

/// How many transitions per second one engine makes for each one of another.
#[derive(Serialize)]
struct Ratio {
    game: String,
    #[serde(rename = "of")]
    from: &'static str,
    to: &'static str,
    transitions_ratio: f64,
}

/// The engines of `--compare`, fastest first.
const COMPARED: [EngineArg; 3] = [EngineArg::Lanes, EngineArg::Scalar, EngineArg::Interpreter];

/// Plays on all engines in turns or, with `--engine lanes`, all kinds of work on the lanes.
fn compare(args: &Args, game: &str) -> anyhow::Result<Vec<Row>> {
    let kinds = match args.engine {
        Some(EngineArg::Lanes) => Work::ALL.map(|work| (EngineArg::Lanes, work)).to_vec(),
        _ => COMPARED.map(|engine| (engine, args.work)).to_vec(),
    };
    measure(args, game, &kinds, N_TURNS_COMPARED)
}

/// How the rows of [`compare`] compare: each engine with the next one, or each kind of work with its plain form.
fn ratios(args: &Args, game: &str, rows: &[Row]) -> Vec<Ratio> {
    let (names, pairs): (Vec<&'static str>, Vec<(usize, usize)>) = match args.engine {
        Some(EngineArg::Lanes) => {
            let place = |work| Work::ALL.iter().position(|&other| other == work);
            let plain = |idx: usize| place(Work::ALL[idx].plain()).unwrap_or(0);
            let pairs = (1..rows.len()).map(|idx| (idx, plain(idx))).collect();
            (Work::ALL.map(Work::name).to_vec(), pairs)
        }
        _ => {
            let pairs = (1..rows.len()).map(|idx| (idx - 1, idx)).collect();
            (COMPARED.map(EngineArg::name).to_vec(), pairs)
        }
    };
    let rate = |idx: usize| Some(rows[idx].played.as_ref()?.transitions_per_s);
    let ratio = |(first, second): (usize, usize)| {
        Some(Ratio {
            game: stem(game),
            from: names[first],
            to: names[second],
            transitions_ratio: rate(first)? / rate(second)?,
        })
    };
    pairs.into_iter().filter_map(ratio).collect()
}

/// Sets up a game for an engine; without a runner, the row says why.
fn set_up(
    args: &Args,
    game: &str,
    (engine, work): (EngineArg, Work),
) -> anyhow::Result<(Row, Option<Runner>)> {
    let limits = Limits::default();
    let sheet = Sheet::find(game, &limits)?;
    let started = Instant::now();
    let rules = Arc::new(sheet.rules(&limits)?);
    let mut row = Row {
        game: stem(game),
        engine: engine.name(),
        ..Row::default()
    };
    row.stages_ms.check = ms(started.elapsed());
    let running = match engine {
        EngineArg::Interpreter => set_up_interpreter(&rules),
        EngineArg::Scalar => set_up_scalar(args, &rules, started, &mut row),
        EngineArg::Lanes => set_up_lanes(args, work, &rules, started, &mut row),
    };
    row.setup_ms = ms(started.elapsed());
    let runner = match running {
        Ok(engine) => Some(Runner {
            engine,
            n_roles: rules.roles.len(),
            rng: Xoshiro256PlusPlus::seed_from_u64(args.seed),
        }),
        Err(error) => {
            row.error = Some(error.to_string());
            None
        }
    };
    Ok((row, runner))
}

fn set_up_interpreter(rules: &Arc<Rules>) -> anyhow::Result<Engine> {
    let interpreter = Arc::new(Interpreter::new(Arc::clone(rules))?);
    let machine = Box::new(interpreter.machine());
    Ok(Engine::Interpreter(interpreter, machine))
}

fn set_up_scalar(
    args: &Args,
    rules: &Rules,
    started: Instant,
    row: &mut Row,
) -> anyhow::Result<Engine> {
    let grounded = set_up_network(args, rules, started, row)?;
    let before = Instant::now();
    let scalar = grounded.machine().into_scalar();
    row.stages_ms.network += ms(before.elapsed());
    let initial = grounded.initial_state().clone();
    let playouts = ScalarPlayouts::new(scalar, initial, rules.roles.len());
    Ok(Engine::Scalar(grounded, Box::new(playouts)))
}

fn set_up_lanes(
    args: &Args,
    work: Work,
    rules: &Rules,
    started: Instant,
    row: &mut Row,
) -> anyhow::Result<Engine> {
    let layout = args.simd.layout(args.no_jit)?;
    let grounded = set_up_network(args, rules, started, row)?;
    let before = Instant::now();
    let program = Arc::new(LanesProgram::new(&grounded, &layout));
    let lanes = LanesRun::new(&grounded, program, work, args.seed);
    row.stages_ms.lanes = Some(ms(before.elapsed()));
    row.simd = Some(layout.simd.name());
    row.work = Some(work.name());
    Ok(Engine::Lanes(Box::new(lanes)))
}

fn set_up_network(
    args: &Args,
    rules: &Rules,
    started: Instant,
    row: &mut Row,
) -> anyhow::Result<Arc<Grounded>> {
    let deadline = started + Duration::from_secs_f64(args.setup_limit.clamp(0.0, 1e6));
    let before = Instant::now();
    let stop = || Instant::now() > deadline;
    let program = ground(rules, &GroundLimits::default(), &stop);
    row.stages_ms.ground = ms(before.elapsed());
    row.grounds = Some(program.is_ok());
    let program = program?;
    let before = Instant::now();
    let mut passes = Pass::ALL.to_vec();
    passes.retain(|pass| !args.without.contains(pass));
    let grounded = Arc::new(Grounded::new(program, &passes));
    row.stages_ms.network = ms(before.elapsed());
    row.size = Some(Size::of(&grounded));
    Ok(grounded)
}

impl Size {
    fn of(grounded: &Grounded) -> Size {
        let (program, optimized) = (grounded.program(), grounded.optimized());
        Size {
            fluents: program.fluents.len(),
            phases: optimized.phases.len(),
            moves: program.roles.iter().map(|role| role.moves.len()).sum(),
            ground_rules: program.n_rules(),
            gates: optimized.networks.iter().map(Network::n_gates).sum(),
            edges: optimized.networks.iter().map(Network::n_edges).sum(),
        }
    }
}

/// An engine that plays a game over and over.
struct Runner {
    engine: Engine,
    n_roles: usize,
    rng: Xoshiro256PlusPlus,
}

enum Engine {
    Interpreter(Arc<Interpreter>, Box<InterpreterMachine>),
    Scalar(Arc<Grounded>, Box<ScalarPlayouts>),
    Lanes(Box<LanesRun>),
}

impl Runner {
    /// Plays on for a while: one playout, or one batch of lanes.
    fn play(&mut self, tally: &mut Tally) {
        let steps = match &mut self.engine {
            Engine::Interpreter(interpreter, machine) => {
                machine.load(interpreter.initial_state());
                play_out(&mut **machine, self.n_roles, MOST_STEPS, &mut self.rng).steps
            }
            Engine::Scalar(_, playouts) => playouts.run(MOST_STEPS, &mut self.rng).steps,
            Engine::Lanes(lanes) => return lanes.play(tally),
        };
        tally.add(steps, |role| self.goal(role));
    }

    /// What the last game was worth.
    fn goal(&mut self, role: RoleId) -> Option<Goal> {
        match &mut self.engine {
            Engine::Interpreter(_, machine) => machine.goal(role),
            Engine::Scalar(grounded, playouts) => grounded.goal(playouts.machine(), role),
            Engine::Lanes(..) => None,
        }
    }

    fn finish(&mut self, tally: &mut Tally) {
        if let Engine::Lanes(lanes) = &mut self.engine {
            lanes.finish(tally);
        }
    }
}

/// Sums over playouts.
pub(crate) struct Tally {
    seconds: f64,
    n_playouts: u64,
    n_transitions: u64,
    goals: Vec<(u64, u64)>,
}

impl Tally {
    fn new(n_roles: usize) -> Tally {
        Tally {
            seconds: 0.0,
            n_playouts: 0,
            n_transitions: 0,
            goals: vec![(0, 0); n_roles],
        }
    }

    /// Plays for `seconds` more. The clock is read only now and then.
    fn play(&mut self, runner: &mut Runner, seconds: f64) {
        let started = ThreadTime::now();
        for n_before in 0_u64.. {
            let is_due = n_before < 16 || n_before.is_multiple_of(16);
            if is_due && started.elapsed().as_secs_f64() >= seconds {
                break;
            }
            runner.play(self);
        }
        runner.finish(self);
        self.seconds += started.elapsed().as_secs_f64();
    }

    fn add(&mut self, steps: u32, mut goal: impl FnMut(RoleId) -> Option<Goal>) {
        self.n_playouts += 1;
        self.n_transitions += u64::from(steps);
        for (role_idx, (sum, n)) in self.goals.iter_mut().enumerate() {
            if let Some(goal) = goal(RoleId(role_idx as u16)) {
                *sum += u64::from(goal.value());
                *n += 1;
            }
        }
    }

    fn add_sums(&mut self, sums: &Sums) {
        self.n_playouts += sums.n_playouts;
        self.n_transitions += sums.n_steps;
        for (to, goal) in self.goals.iter_mut().zip(&sums.goals) {
            to.0 += goal.sum;
            to.1 += goal.n;
        }
    }

    fn finish(self) -> Played {
        let mean = |&(sum, n): &(u64, u64)| (n > 0).then(|| sum as f64 / n as f64);
        Played {
            playouts: self.n_playouts,
            transitions: self.n_transitions,
            seconds: self.seconds,
            playouts_per_s: self.n_playouts as f64 / self.seconds,
            transitions_per_s: self.n_transitions as f64 / self.seconds,
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
    let path = Path::new(game);
    path.file_stem().map_or_else(
        || game.to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    )
}

/// What people call a game: its title, or the name of its file.
pub(crate) fn title(game: &str, about: Option<&About>) -> String {
    about.map_or_else(|| stem(game), |about| about.title.clone())
}

/// The peak memory of this process in megabytes; 0 where the system does not tell.
fn peak_rss_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line
        .and_then(|line| line.split_whitespace().next())
        .and_then(|number| number.parse::<f64>().ok());
    kilobytes.map_or(0.0, |kilobytes| (kilobytes / 102.4).round() / 10.0)
}
