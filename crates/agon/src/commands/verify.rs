//! `agon verify`: replays oracle traces on the engines and compares everything that was recorded.
//!
//! For every state of every playout it compares the fluents, the legal moves of each role, whether the state is terminal,
//! and all goal values. The recorded joint move then leads to the next state. There is one line per game and engine, in
//! order of the names. The first difference ends a game; it is shown with its place and with the first terms that are
//! missing or unexpected.
//!
//! Texts are compared in lower case, as in the traces.

use std::fmt;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use agon_engine::lanes::{Lanes, LanesOptions, LanesProgram, LayoutOptions};
use agon_engine::optimize::Pass;
use agon_engine::{
    Goal, Grounded, Interpreter, JointMove, Machine, MoveId, PerceptId, RoleId, State,
};
use agon_gdl::{Rules, Severity};
use agon_ground::{GroundError, GroundLimits, ground};
use anyhow::Context;
use clap::ValueEnum;

use crate::commands::bench::SimdArg;
use crate::trace::{Hash, Playout, Step, Trace};

/// Replay recorded games on the engines and compare every state
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Compares states, legal moves, terminal states and goals. Exit code: 0 no difference, 1 a game failed.

Examples:
  agon verify --games sheets --traces traces
  agon verify --games sheets --traces traces --engine interpreter ticTacToe chess"
)]
pub(crate) struct Args {
    /// Directory with the rulesheets, NAME.kif
    #[arg(long, value_name = "DIR")]
    games: PathBuf,
    /// Directory with the traces, NAME.jsonl.gz
    #[arg(long, value_name = "DIR")]
    traces: PathBuf,
    /// Engine to verify
    #[arg(long, value_enum, default_value_t = Engines::All)]
    engine: Engines,
    /// Vector instructions of the lanes engine
    #[arg(long, value_enum, default_value = "auto")]
    simd: SimdArg,
    /// Do not compile to machine code
    #[arg(long)]
    no_jit: bool,
    /// Number of games to verify at a time [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Names of the games [default: every rulesheet in the directory]
    #[arg(value_name = "GAME")]
    names: Vec<String>,
}

/// The choice of `--engine`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
enum Engines {
    /// Evaluates the rules directly
    Interpreter,
    /// Evaluates a network of gates, one state at a time
    Scalar,
    /// Evaluates a network of gates, hundreds of states at a time
    Lanes,
    /// All engines
    All,
}

/// Verifies the games and prints one line per game and engine, then the totals.
///
/// # Errors
/// If a directory cannot be read, or the engine does not exist.
pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let engines = chosen(args)?;
    let names = match args.names.is_empty() {
        true => all_games(&args.games)?,
        false => args.names.clone(),
    };
    let n_threads = args
        .threads
        .or_else(|| std::thread::available_parallelism().ok().map(Into::into))
        .unwrap_or(1);
    let mut sums = Sums::default();
    in_order(
        names.len(),
        n_threads,
        |idx| verify_game(&names[idx], args, &engines),
        |reports: Vec<Report>| {
            for report in reports {
                sums.add(&report);
                println!("{report}");
            }
        },
    );
    println!(
        "{} passed, {} failed, {} skipped",
        sums.passed, sums.failed, sums.skipped
    );
    Ok(if sums.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// An engine with its options.
#[derive(Clone, Copy)]
enum Engine {
    Interpreter,
    Scalar,
    Lanes(LayoutOptions),
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Engine::Interpreter => "interpreter",
            Engine::Scalar => "scalar",
            Engine::Lanes(_) => "lanes",
        })
    }
}

fn chosen(args: &Args) -> anyhow::Result<Vec<Engine>> {
    let lanes = Engine::Lanes(args.simd.layout(args.no_jit)?);
    Ok(match args.engine {
        Engines::Interpreter => vec![Engine::Interpreter],
        Engines::Scalar => vec![Engine::Scalar],
        Engines::Lanes => vec![lanes],
        Engines::All => vec![Engine::Interpreter, Engine::Scalar, lanes],
    })
}

/// The outcome of one game on one engine.
struct Report {
    game: String,
    engine: Engine,
    outcome: Outcome,
}

enum Outcome {
    Passed {
        n_playouts: usize,
        n_states: usize,
    },
    Failed(String),
    /// The game is too large to ground, so this engine cannot run it.
    Skipped(String),
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report {
            game,
            engine,
            outcome,
        } = self;
        match outcome {
            Outcome::Passed {
                n_playouts,
                n_states,
            } => {
                write!(
                    f,
                    "ok      {game} {engine}: {n_playouts} playouts, {n_states} states"
                )
            }
            Outcome::Failed(difference) => write!(f, "FAILED  {game} {engine}: {difference}"),
            Outcome::Skipped(reason) => write!(f, "skipped {game} {engine}: {reason}"),
        }
    }
}

#[derive(Default)]
struct Sums {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Sums {
    fn add(&mut self, report: &Report) {
        match report.outcome {
            Outcome::Passed { .. } => self.passed += 1,
            Outcome::Failed(_) => self.failed += 1,
            Outcome::Skipped(_) => self.skipped += 1,
        }
    }
}

/// Names of all rulesheets in a directory, sorted.
fn all_games(directory: &Path) -> anyhow::Result<Vec<String>> {
    let entries =
        fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "kif") {
            names.extend(
                path.file_stem()
                    .map(|stem| stem.to_string_lossy().into_owned()),
            );
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Does numbered pieces of work on several threads and passes on the results in order.
fn in_order<T: Send>(
    n_pieces: usize,
    n_threads: usize,
    work: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(T),
) {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..n_threads.clamp(1, n_pieces.max(1)) {
            let (sender, work, next) = (sender.clone(), &work, &next);
            scope.spawn(move || {
                let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
                for number in numbers.take_while(|&number| number < n_pieces) {
                    // The receiver is gone only if its thread panicked.
                    let _ = sender.send((number, work(number)));
                }
            });
        }
        drop(sender);
        let mut early: Vec<Option<T>> = (0..n_pieces).map(|_| None).collect();
        let mut n_taken = 0;
        for (number, result) in receiver {
            early[number] = Some(result);
            while let Some(result) = early.get_mut(n_taken).and_then(Option::take) {
                take(result);
                n_taken += 1;
            }
        }
    });
}

/// One report per engine.
fn verify_game(game: &str, args: &Args, engines: &[Engine]) -> Vec<Report> {
    let report = |engine, outcome| Report {
        game: game.to_owned(),
        engine,
        outcome,
    };
    match read_game(game, args) {
        Ok((rules, trace)) => engines
            .iter()
            .map(|&engine| report(engine, verify_engine(engine, &rules, &trace)))
            .collect(),
        Err(error) => engines
            .iter()
            .map(|&engine| report(engine, Outcome::Failed(format!("{error:#}"))))
            .collect(),
    }
}

fn read_game(game: &str, args: &Args) -> anyhow::Result<(Arc<Rules>, Trace)> {
    let sheet = args.games.join(format!("{game}.kif"));
    let text = fs::read(&sheet).with_context(|| format!("cannot read {}", sheet.display()))?;
    let description = agon_gdl::parse(&text, &agon_gdl::Limits::default());
    let rules = agon_gdl::check(&description).map_err(|findings| {
        let first = findings
            .iter()
            .find(|finding| finding.severity == Severity::Error)
            .map(|finding| finding.message.clone());
        anyhow::anyhow!("the rulesheet has errors: {}", first.unwrap_or_default())
    })?;
    let path = args.traces.join(format!("{game}.jsonl.gz"));
    let file = fs::File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let trace = Trace::read(BufReader::new(file)).with_context(|| path.display().to_string())?;
    if trace.header.game != game {
        anyhow::bail!("{} is a trace of {}", path.display(), trace.header.game);
    }
    Ok((Arc::new(rules), trace))
}

fn verify_engine(engine: Engine, rules: &Arc<Rules>, trace: &Trace) -> Outcome {
    let on_network = |verify: &dyn Fn(Arc<Grounded>) -> Result<usize, String>| {
        let program = ground(rules, &GroundLimits::default(), &patience())?;
        Ok(verify(Arc::new(Grounded::new(program, &Pass::ALL))))
    };
    let compared: Result<Result<usize, String>, GroundError> = match engine {
        Engine::Interpreter => Ok(verify_interpreter(rules, trace)),
        Engine::Scalar => on_network(&|game| verify_scalar(&game, rules, trace)),
        Engine::Lanes(layout) => on_network(&|game| verify_lanes(&game, &layout, rules, trace)),
    };
    match compared {
        Ok(Ok(n_states)) => Outcome::Passed {
            n_playouts: trace.playouts.len(),
            n_states,
        },
        Ok(Err(difference)) => Outcome::Failed(difference),
        Err(error) => {
            let reason = error.to_string();
            Outcome::Skipped(reason.lines().next().unwrap_or_default().to_owned())
        }
    }
}

/// Tells the grounder to stop after a minute.
fn patience() -> impl Fn() -> bool {
    let deadline = Instant::now() + Duration::from_secs(60);
    move || Instant::now() > deadline
}

fn verify_scalar(game: &Arc<Grounded>, rules: &Rules, trace: &Trace) -> Result<usize, String> {
    let names = Names {
        fluents: &|state| game.fluents(state),
        move_text: &|role, move_id| game.move_text(role, move_id),
    };
    compare_roles(rules, trace)?;
    compare(&mut game.machine(), &names, game.initial_state(), trace)
}

/// Replays all playouts of a trace at once, step by step: `expand` evaluates the states, `advance` makes the moves.
fn verify_lanes(
    game: &Grounded,
    layout: &LayoutOptions,
    rules: &Rules,
    trace: &Trace,
) -> Result<usize, String> {
    let names = Names {
        fluents: &|state| game.fluents(state),
        move_text: &|role, move_id| game.move_text(role, move_id),
    };
    compare_roles(rules, trace)?;
    let mut lanes = Lanes::new(
        Arc::new(LanesProgram::new(game, layout)),
        &LanesOptions::default(),
    );
    let mut sights: Vec<Sight> = vec![Sight::new(game.initial_state()); trace.playouts.len()];
    let n_steps = trace.playouts.iter().map(|playout| playout.steps.len());
    let mut n_states = 0;
    for step in 0..n_steps.max().unwrap_or(0) {
        let is_at = |idx: &usize| trace.playouts[*idx].steps.len() > step;
        let at_step: Vec<usize> = (0..sights.len()).filter(is_at).collect();
        see(game, &mut lanes, &mut sights, &at_step, rules.roles.len());
        for &idx in &at_step {
            let (playout, step) = (&trace.playouts[idx], &trace.playouts[idx].steps[step]);
            compare_step(&mut sights[idx], &names, step, trace.header.roles.len())
                .map_err(|difference| at(playout, step, &difference))?;
            n_states += 1;
        }
        lead_on(&mut lanes, &mut sights);
    }
    Ok(n_states)
}

/// Looks at the states of some playouts.
fn see(game: &Grounded, lanes: &mut Lanes, sights: &mut [Sight], which: &[usize], n_roles: usize) {
    let states: Vec<State> = which.iter().map(|&idx| sights[idx].state.clone()).collect();
    let states: Vec<&State> = states.iter().collect();
    let program = game.program();
    lanes.expand(&states, |idx, expanded| {
        let sight = &mut sights[which[idx]];
        sight.is_terminal = expanded.is_terminal();
        sight.roles = RoleId::all(n_roles)
            .map(|role| {
                let values = &program.roles[role.idx()].goals;
                let goals = expanded.goal_indexes(role);
                SightOfRole {
                    legal: expanded.legal_moves(role).to_vec(),
                    goal: expanded.goal(role),
                    goals: goals
                        .map(|idx| program.term_text(values[idx].value))
                        .collect(),
                }
            })
            .collect();
    });
}

/// Makes the joint moves that were requested.
fn lead_on(lanes: &mut Lanes, sights: &mut [Sight]) {
    let moving: Vec<usize> = (0..sights.len())
        .filter(|&idx| sights[idx].joint.is_some())
        .collect();
    let joints: Vec<JointMove> = moving
        .iter()
        .filter_map(|&idx| sights[idx].joint.take())
        .collect();
    let joints: Vec<&[MoveId]> = joints.iter().map(JointMove::moves).collect();
    let before: Vec<State> = moving
        .iter()
        .map(|&idx| sights[idx].state.clone())
        .collect();
    let before: Vec<&State> = before.iter().collect();
    lanes.advance(&before, &joints, |idx, words| {
        sights[moving[idx]].state = State::from_words(words.into());
    });
}

/// A state as the lanes evaluated it. As a machine it knows only this state, and keeps the joint move that it is given.
#[derive(Clone)]
struct Sight {
    state: State,
    is_terminal: bool,
    roles: Vec<SightOfRole>,
    joint: Option<JointMove>,
}

#[derive(Clone)]
struct SightOfRole {
    legal: Vec<MoveId>,
    goal: Option<Goal>,
    goals: Vec<String>,
}

impl Sight {
    fn new(state: &State) -> Sight {
        Sight {
            state: state.clone(),
            is_terminal: false,
            roles: Vec::new(),
            joint: None,
        }
    }
}

impl Machine for Sight {
    fn load(&mut self, state: &State) {
        *self = Sight::new(state);
    }

    fn state(&self) -> State {
        self.state.clone()
    }

    fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    fn legal_moves(&mut self, role: RoleId) -> &[MoveId] {
        &self.roles[role.idx()].legal
    }

    fn goal(&mut self, role: RoleId) -> Option<Goal> {
        self.roles[role.idx()].goal
    }

    fn goals(&mut self, role: RoleId) -> Vec<String> {
        self.roles[role.idx()].goals.clone()
    }

    fn percepts(&mut self, _role: RoleId, _joint: &JointMove) -> &[PerceptId] {
        // Traces have no percepts to compare.
        &[]
    }

    fn advance(&mut self, joint: &JointMove) {
        self.joint = Some(joint.clone());
    }
}

fn verify_interpreter(rules: &Arc<Rules>, trace: &Trace) -> Result<usize, String> {
    let interpreter = Arc::new(Interpreter::new(rules.clone()).map_err(|error| error.to_string())?);
    let names = Names {
        fluents: &|state| interpreter.fluents(state),
        move_text: &|_, move_id| interpreter.move_text(move_id),
    };
    compare_roles(rules, trace)?;
    compare(
        &mut interpreter.machine(),
        &names,
        interpreter.initial_state(),
        trace,
    )
}

/// How an engine names fluents and moves.
struct Names<'a> {
    fluents: &'a dyn Fn(&State) -> Vec<String>,
    move_text: &'a dyn Fn(RoleId, MoveId) -> String,
}

fn compare_roles(rules: &Rules, trace: &Trace) -> Result<(), String> {
    let roles: Vec<String> = rules
        .roles
        .iter()
        .map(|role| rules.term_text(role).to_lowercase())
        .collect();
    match roles == trace.header.roles {
        true => Ok(()),
        false => Err(format!(
            "the roles are {roles:?}, recorded are {:?}",
            trace.header.roles
        )),
    }
}

/// Replays all playouts: the number of states compared, or the first difference.
fn compare(
    machine: &mut dyn Machine,
    names: &Names<'_>,
    initial: &State,
    trace: &Trace,
) -> Result<usize, String> {
    let mut n_states = 0;
    for playout in &trace.playouts {
        machine.load(initial);
        for step in &playout.steps {
            let compared = compare_step(machine, names, step, trace.header.roles.len());
            let compared = match machine.take_fault() {
                Some(fault) => Err(format!("the engine failed: {fault}")),
                None => compared,
            };
            compared.map_err(|difference| at(playout, step, &difference))?;
            n_states += 1;
        }
    }
    Ok(n_states)
}

fn at(playout: &Playout, step: &Step, difference: &str) -> String {
    format!(
        "playout {}, step {}: {difference}",
        playout.number, step.step
    )
}

/// Compares the state the machine is in and makes the recorded joint move.
fn compare_step(
    machine: &mut dyn Machine,
    names: &Names<'_>,
    step: &Step,
    n_roles: usize,
) -> Result<(), String> {
    let state = lower((names.fluents)(&machine.state()));
    compare_list(
        "state",
        &state,
        step.n_fluents,
        step.state_hash,
        step.state.as_deref(),
    )?;
    if machine.is_terminal() != step.terminal {
        return Err(format!(
            "terminal is {}, recorded is {}",
            machine.is_terminal(),
            step.terminal
        ));
    }
    if [step.n_legal.len(), step.legal_hash.len(), step.goals.len()] != [n_roles; 3] {
        return Err("the trace does not have one entry per role".to_owned());
    }
    let mut joint = Vec::with_capacity(n_roles);
    for role in RoleId::all(n_roles) {
        compare_goals(&lower(machine.goals(role)), step, role)?;
        let moves: Vec<(String, MoveId)> = machine
            .legal_moves(role)
            .iter()
            .map(|&move_id| ((names.move_text)(role, move_id).to_lowercase(), move_id))
            .collect();
        let texts = lower(moves.iter().map(|(text, _)| text.clone()).collect());
        let recorded = step
            .legal
            .as_ref()
            .and_then(|legal| legal.get(role.idx()))
            .map(Vec::as_slice);
        let what = format!("legal moves of role {}", role.0);
        compare_list(
            &what,
            &texts,
            step.n_legal[role.idx()],
            step.legal_hash[role.idx()],
            recorded,
        )?;
        if let Some(played) = step.joint.as_ref().and_then(|joint| joint.get(role.idx())) {
            let found = moves.iter().find(|(text, _)| text == played);
            joint.push(
                found
                    .ok_or_else(|| format!("{what}: the recorded move {played} is not legal"))?
                    .1,
            );
        }
    }
    if step.joint.is_some() {
        if joint.len() != n_roles {
            return Err("the recorded joint move has too few moves".to_owned());
        }
        machine.advance(&JointMove::new(joint));
    }
    Ok(())
}

/// A list as in a trace: lower case, sorted, without duplicates.
fn lower(texts: Vec<String>) -> Vec<String> {
    let mut texts: Vec<String> = texts.into_iter().map(|text| text.to_lowercase()).collect();
    texts.sort_unstable();
    texts.dedup();
    texts
}

fn compare_list(
    what: &str,
    texts: &[String],
    n_recorded: usize,
    hash: Hash,
    recorded: Option<&[String]>,
) -> Result<(), String> {
    if let Some(recorded) = recorded.filter(|&recorded| recorded != texts) {
        let missing: Vec<&String> = recorded
            .iter()
            .filter(|text| !texts.contains(text))
            .take(3)
            .collect();
        let extra: Vec<&String> = texts
            .iter()
            .filter(|text| !recorded.contains(text))
            .take(3)
            .collect();
        return Err(format!("{what}: missing {missing:?}, unexpected {extra:?}"));
    }
    if texts.len() != n_recorded || Hash::of(texts) != hash {
        let n_texts = texts.len();
        return Err(format!(
            "{what}: {n_texts} with hash {}, recorded are {n_recorded} with {hash}",
            Hash::of(texts)
        ));
    }
    Ok(())
}

/// A recorded goal is the only goal. Otherwise the raw list has all goals; without a list there are none.
fn compare_goals(goals: &[String], step: &Step, role: RoleId) -> Result<(), String> {
    let raw = step
        .goals_raw
        .as_ref()
        .and_then(|raw| raw.get(role.idx()))
        .and_then(Option::as_ref);
    let is_same = match (step.goals[role.idx()], raw) {
        (Some(goal), _) => matches!(goals, [only] if only.parse() == Ok(goal)),
        (None, Some(raw)) => goals == raw,
        (None, None) => goals.is_empty(),
    };
    match is_same {
        true => Ok(()),
        false => Err(format!(
            "goals of role {}: {goals:?}, recorded are {:?}, {raw:?}",
            role.0,
            step.goals[role.idx()]
        )),
    }
}
