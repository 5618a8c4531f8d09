//! `agon analyse`: is it a good game?
//!
//! For designers of rules. Random games show whether a game ends, whether every role can always move and gets exactly one
//! goal, whether every cell of a board holds one content and whether every role has influence; the ground rules prove
//! some of it. Counting in these games gives length, branching and who moves when. Games with a witness per rule show what
//! is never used. Self-play at random and by flat Monte Carlo shows whether the seats are equal. The verdict comes first:
//! faults, then what is good to know.

mod cells;
mod contest;
mod coverage;
mod equilibrium;
mod influence;
mod report;
mod statistics;
mod survey;

use std::io::{Write, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon::games::board::board_of;
use agon_engine::{Game, InterpreterError};
use agon_gdl::{Limits, Rules};
use agon_ground::{GroundLimits, Truth};
use agon_insight::counter::most_steps;

use crate::sheet::Sheet;
use report::Report;
use survey::Fault;

/// Find faults of a game by playing it: endless games, unfair seats, dead rules
#[derive(clap::Args)]
#[command(
    after_help = "The same seed gives the same answer unless the time runs out. Exit code: 0 if no fault was found, 1 if one was.

Examples:
  agon analyse connect_four
  agon analyse my_game.kif --games 10000 --seconds 60 --json"
)]
pub(crate) struct Args {
    /// A built-in game, the path of a rulesheet, or - for standard input
    game: String,
    /// Number of random games
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    games: u64,
    /// Stop playing after S seconds
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    seconds: f64,
    /// Playouts per move of the Monte Carlo player
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    playouts: u64,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Stop grounding after S seconds
    #[arg(long, value_name = "S", default_value_t = 30.0)]
    setup_limit: f64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// When each part ends, as a share of the time: random games, cells, influence, games with witnesses; the rest is for
/// self-play.
const SURVEY_PART: f64 = 0.3;
const CELLS_PART: f64 = 0.42;
const INFLUENCE_PART: f64 = 0.5;
const COVERAGE_PART: f64 = 0.65;
const EQUILIBRIUM_PART: f64 = 0.8;
/// Games in which every state is looked at or that have witnesses are slower, and Monte Carlo games much slower; fewer of
/// them are enough.
const CELLS_GAMES: u64 = 200;
const INFLUENCE_GAMES: u64 = 50;
const COVERAGE_GAMES: u64 = 200;
const CONTEST_GAMES: u64 = 100;

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let limits = Limits::default();
    let sheet = Sheet::find_or_stdin(&args.game, &limits)?;
    let rules = Arc::new(sheet.rules(&limits)?);
    let game = Arc::new(compile(&rules, args.setup_limit)?);
    let report = analyse(&game, &sheet, args)?;
    let mut out = stdout().lock();
    match args.json {
        true => writeln!(out, "{}", serde_json::to_string(&report)?)?,
        false => write!(out, "{report}")?,
    }
    Ok(ExitCode::from(u8::from(!report.ok)))
}

/// The analysis of a game for the page.
pub(crate) fn for_page(
    title: &str,
    game: &Arc<Game>,
    about: Option<&agon::games::About>,
    seconds: f64,
) -> Result<agon_web::Analysis, String> {
    let args = Args {
        game: title.to_owned(),
        games: 1000,
        seconds,
        playouts: 50,
        seed: 1,
        setup_limit: 0.0,
        json: false,
    };
    let sheet = Sheet {
        name: title.to_owned(),
        bytes: Vec::new(),
        about: about.cloned(),
    };
    let report = analyse(game, &sheet, &args).map_err(|error| format!("{error:#}"))?;
    Ok(agon_web::Analysis {
        is_good: report.ok,
        findings: report.lines(),
        text: report.to_string(),
    })
}

fn compile(rules: &Arc<Rules>, seconds: f64) -> Result<Game, InterpreterError> {
    let deadline = Instant::now() + duration(seconds);
    let stop = || Instant::now() > deadline;
    Game::compile(Arc::clone(rules), &GroundLimits::default(), &stop)
}

fn duration(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.clamp(0.0, 1e6))
}

fn analyse(game: &Arc<Game>, sheet: &Sheet, args: &Args) -> anyhow::Result<Report> {
    let started = Instant::now();
    let until = |part: f64| started + duration(args.seconds * part);
    let program = game.grounded().map(|grounded| grounded.program());
    let mut survey = survey::survey(game, args.games, args.seed, until(SURVEY_PART));
    if program.is_some_and(|program| program.terminal == Truth::Never) {
        survey.faults.retain(|fault| fault.kind != "never-ends");
        survey.faults.insert(0, endless(survey.n_games));
    }
    // The interpreter is too slow to guess a board.
    let about = sheet.about.as_ref();
    let has_board = program.is_some() || about.is_some_and(|about| about.board.is_some());
    let board = has_board.then(|| board_of(game, about)).flatten();
    let n_watched = args.games.min(CELLS_GAMES);
    let found = cells::examine(
        game,
        board.as_ref(),
        n_watched,
        args.seed,
        until(CELLS_PART),
    );
    let mut flaws = found.faults;
    let n_tried = args.games.min(INFLUENCE_GAMES);
    flaws.extend(influence::examine(
        game,
        n_tried,
        args.seed,
        until(INFLUENCE_PART),
    ));
    let n_covered = args.games.min(COVERAGE_GAMES);
    let coverage = coverage::cover(game.rules(), n_covered, args.seed, until(COVERAGE_PART));
    // A player that plays games to their end needs games that have one, and a goal there.
    let is_playable = survey.n_ended > 0 && survey.faults.is_empty();
    let equilibrium = match is_playable {
        true => equilibrium::examine(game, args.seed, until(EQUILIBRIUM_PART)),
        false => None,
    };
    let n_contests = if is_playable {
        args.games.min(CONTEST_GAMES)
    } else {
        0
    };
    let contest = contest::contest(game, args.playouts, n_contests, args.seed, until(1.0))?;
    let findings = report::Findings {
        game,
        equilibrium,
        name: &sheet.name,
        proven_end: program.and_then(most_steps),
        survey,
        flaws,
        cell_doubts: found.doubts,
        coverage,
        contest,
        n_playouts: args.playouts,
    };
    Ok(findings.report())
}

fn endless(n_games: u64) -> Fault {
    Fault {
        kind: "never-ends",
        role: None,
        message: "the game does not end: by its rules no state is terminal".to_owned(),
        games: n_games,
        first: "proven without playing".to_owned(),
        cell: None,
    }
}
