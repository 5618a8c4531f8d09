//! `agon bench`: how fast the engines play, and how long a game takes to get ready.
//!
//! Complete random games from the initial state on one thread, in seconds of that thread's CPU time.

use std::io::{Write, stdout};
use std::path::PathBuf;
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

mod lanes;

use lanes::LanesRun;
pub(crate) use lanes::Work;

/// A playout that takes more steps than this is cut: the sheet may never end.
const MOST_STEPS: u32 = 100_000;

/// Measure how fast engines play random games
#[derive(clap::Args)]
#[command(
    after_help = "Seconds are CPU time of one thread. One JSON object per game and engine.

Examples:
  agon bench tic_tac_toe connect_four
  agon bench my_game.kif --engine interpreter --seconds 5
  agon bench tic_tac_toe --compare
  agon bench connect_four --compare --engine lanes
  agon bench connect_four --engine lanes --without phases
  agon bench --setup-only --games sheets --json
  agon bench --signature
  agon bench --gdl-perf my_game.kif result.properties 10"
)]
pub(crate) struct Args {
    /// Built-in games or paths of rulesheets
    #[arg(value_name = "GAME")]
    games: Vec<String>,
    /// Which engine to measure
    #[arg(long, value_enum, default_value = "scalar")]
    engine: EngineArg,
    /// Vectors of the lanes engine
    #[arg(long, value_enum, default_value = "auto")]
    simd: SimdArg,
    /// Never make machine code
    #[arg(long)]
    no_jit: bool,
    /// Leave out a pass of the optimiser: sequential, forced, phases, one-hot, does-legal, flatten, share
    #[arg(long, value_name = "PASS", value_parser = pass)]
    without: Vec<Pass>,
    /// What the lanes engine is asked for
    #[arg(long, value_enum, default_value = "sums")]
    work: Work,
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
    /// Play on all engines in turns, and print how many times as fast they are; with `--engine lanes`, all kinds of work
    #[arg(long, conflicts_with_all = ["directory", "setup_only"])]
    compare: bool,
    /// Play the game in FILE and write the result to OUT in the format of the GDL performance project
    #[arg(long, num_args = 3, value_names = ["FILE", "OUT", "SECONDS"], conflicts_with_all = ["games", "directory", "compare"])]
    gdl_perf: Option<Vec<String>>,
    /// Print the fingerprint of all searches: one number that changes with what they do, and with nothing else
    #[arg(long, conflicts_with_all = ["games", "directory", "compare", "gdl_perf", "setup_only"])]
    signature: bool,
    /// Print JSON (the only form so far)
    #[arg(long)]
    json: bool,
}

fn pass(name: &str) -> anyhow::Result<Pass> {
    let found = Pass::ALL.into_iter().find(|pass| pass.name() == name);
    found.with_context(|| format!("there is no pass `{name}`"))
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineArg {
    /// The reasoner on the rules
    Interpreter,
    /// The network, one state at a time
    Scalar,
    /// The network, many playouts at a time
    Lanes,
}

/// The choice of `--simd`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub(crate) enum SimdArg {
    /// The widest that the CPU has
    Auto,
    /// 512 lanes at once
    Avx512,
    /// 256 lanes at once
    Avx2,
    /// 64 lanes at once, on any CPU
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
            bail!("this CPU does not have {}", simd.name());
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

/// Times of the stages of getting ready, in milliseconds.
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
    if let Some([file, out, seconds]) = args.gdl_perf.as_deref() {
        return gdl_perf(args, file, out, seconds);
    }
    if args.games.is_empty() {
        bail!("name a game, or give --games DIR; `agon games` lists those built in");
    }
    for game in &args.games {
        if args.compare {
            compare(args, game)?;
        } else {
            let row = bench(args, game)?;
            writeln!(stdout().lock(), "{}", serde_json::to_string(&row)?)?;
        }
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
    let (mut row, runner) = set_up(args, game, (args.engine, args.work))?;
    if let Some(mut runner) = runner.filter(|_| !args.setup_only) {
        let mut tally = Tally::new(runner.n_roles);
        tally.play(&mut runner, args.seconds);
        row.played = Some(tally.finish());
    }
    row.peak_rss_mb = peak_rss_mb();
    Ok(row)
}

/// How many transitions per second something makes for one of something else.
#[derive(Serialize)]
struct Ratio {
    game: String,
    of: &'static str,
    to: &'static str,
    transitions_ratio: f64,
}

/// Plays in turns, so that all see the same moods of the machine: on all engines, or, on the lanes, all kinds of work.
fn compare(args: &Args, game: &str) -> anyhow::Result<()> {
    const N_SLICES: u32 = 10;
    let of_lanes = |work| (EngineArg::Lanes, work);
    let (kinds, names): (Vec<_>, Vec<&'static str>) = match args.engine {
        EngineArg::Lanes => (
            Work::ALL.map(of_lanes).to_vec(),
            Work::ALL.map(Work::name).to_vec(),
        ),
        _ => {
            let engines = [EngineArg::Lanes, EngineArg::Scalar, EngineArg::Interpreter];
            let kinds = engines.map(|engine| (engine, args.work));
            (kinds.to_vec(), engines.map(EngineArg::name).to_vec())
        }
    };
    let mut rows = Vec::new();
    let mut runs = Vec::new();
    for kind in kinds {
        let (row, runner) = set_up(args, game, kind)?;
        runs.extend(runner.map(|runner| (rows.len(), Tally::new(runner.n_roles), runner)));
        rows.push(row);
    }
    for _ in 0..N_SLICES {
        for (_, tally, runner) in &mut runs {
            tally.play(runner, args.seconds / f64::from(N_SLICES));
        }
    }
    for (idx, tally, _) in runs {
        rows[idx].played = Some(tally.finish());
    }
    let mut out = stdout().lock();
    for row in &mut rows {
        row.peak_rss_mb = peak_rss_mb();
        writeln!(out, "{}", serde_json::to_string(row)?)?;
    }
    let rates = rows
        .iter()
        .map(|row| row.played.as_ref().map(|played| played.transitions_per_s));
    let rates: Vec<Option<f64>> = rates.collect();
    let pairs: Vec<(usize, usize)> = match args.engine {
        // What each kind of work costs.
        EngineArg::Lanes => {
            let place = |work| Work::ALL.iter().position(|&other| other == work);
            let plain = |idx: usize| place(Work::ALL[idx].plain()).unwrap_or(0);
            (1..rates.len()).map(|idx| (idx, plain(idx))).collect()
        }
        _ => (1..rates.len()).map(|idx| (idx - 1, idx)).collect(),
    };
    for (of, to) in pairs {
        if let [Some(of_rate), Some(to_rate)] = [rates[of], rates[to]] {
            let ratio = Ratio {
                game: stem(game),
                of: names[of],
                to: names[to],
                transitions_ratio: of_rate / to_rate,
            };
            writeln!(out, "{}", serde_json::to_string(&ratio)?)?;
        }
    }
    Ok(())
}

/// Plays one game and writes lines `name=value`, as the GDL performance project reads them. A game that the chosen
/// engine cannot play is played by the interpreter.
fn gdl_perf(args: &Args, file: &str, out: &str, seconds: &str) -> anyhow::Result<ExitCode> {
    let seconds: f64 = seconds
        .parse()
        .ok()
        .filter(|seconds| (0.0..1e9).contains(seconds))
        .with_context(|| format!("`{seconds}` is no number of seconds"))?;
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!("version=agon {version}\n");
    let played =
        set_up(args, file, (args.engine, args.work)).and_then(|(row, runner)| match runner {
            Some(runner) => Ok(runner),
            None => {
                let (_, runner) = set_up(args, file, (EngineArg::Interpreter, args.work))?;
                runner.with_context(|| row.error.unwrap_or_default())
            }
        });
    let is_good = played.is_ok();
    match played {
        Ok(mut runner) => {
            let mut tally = Tally::new(runner.n_roles);
            tally.play(&mut runner, seconds);
            text.push_str(&format!(
                "millisecondsTaken={}\nnumStateChanges={}\nnumRollouts={}\n",
                (tally.seconds * 1e3).round(),
                tally.n_transitions,
                tally.n_playouts
            ));
        }
        Err(error) => {
            let message = format!("{error:#}");
            let words: Vec<&str> = message.split_whitespace().collect();
            text.push_str(&format!("errorMessage={}\n", words.join(" ")));
        }
    }
    std::fs::write(out, text).with_context(|| format!("cannot write {out}"))?;
    Ok(ExitCode::from(u8::from(!is_good)))
}

/// Gets a game ready for an engine; without a runner, the row says why.
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
    let program = ground(rules, &GroundLimits::default(), &stop)?;
    row.stages_ms.ground = ms(before.elapsed());
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

    /// Plays for so many seconds more. The clock is read now and then only.
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
        for (role, (sum, n)) in RoleId::all(self.goals.len()).zip(&mut self.goals) {
            if let Some(goal) = goal(role) {
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
    let path = std::path::Path::new(game);
    path.file_stem().map_or_else(
        || game.to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    )
}

/// What people call a game: its title, or the name of its file.
pub(crate) fn title(game: &str, about: Option<&About>) -> String {
    about.map_or_else(|| stem(game), |about| about.title.clone())
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
