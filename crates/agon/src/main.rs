//! The `agon` binary: parses arguments, calls one command, turns its answer into an exit code.
//!
//! Exit codes: 0 done and good, 1 done and not good, 2 the call itself was wrong.

mod clock;
mod cluster;
mod commands;
mod help;
mod log;
mod models;
mod outlook;
mod paint;
mod person;
mod progress;
mod prompt;
mod rerun;
mod secret;
mod sheet;
mod signature;
mod speed;
mod terminal;
mod trace;
mod verdict;
mod version;
mod watch;
mod words;

use std::process::ExitCode;
#[cfg(unix)]
use std::sync::Arc;

use clap::{FromArgMatches, Parser, Subcommand};

/// Reading rules allocates many small boxes. This allocator reads ten megabytes of rules in half the time of the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Agon plays any game from its rules.
///
/// It reads rules in the Game Description Language (GDL), compiles them, and finds good moves by search.
#[derive(Parser)]
#[command(
    name = "agon",
    max_term_width = 110,
    after_help = "GAME is a built-in game or the path of a rulesheet. `agon COMMAND --help` has options and examples.
Exit codes: 0 success, 1 the answer is bad news (errors found, check failed), 2 wrong usage.

Examples:
  agon                                 watch a short demo
  agon play connect_four               play against Agon
  agon match othello agon cadia-2012   let two players meet
  agon check my_game.kif               find the errors in a rulesheet"
)]
pub(crate) struct Arguments {
    /// When to use colours: auto, always or never; auto respects NO_COLOR
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        hide_possible_values = true,
        default_value = "auto"
    )]
    color: terminal::ColorArg,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Analyse(commands::analyse::Args),
    Bench(commands::bench::Args),
    Check(commands::check::Args),
    Completions(commands::completions::Args),
    Demo(commands::demo::Args),
    Experiment(commands::experiment::Args),
    Fmt(commands::fmt::Args),
    Games(commands::games::Args),
    Heuristic(commands::heuristic::Args),
    Ladder(commands::ladder::Args),
    Lsp(commands::lsp::Args),
    Man(commands::man::Args),
    Match(commands::match_::Args),
    Mcp(commands::mcp::Args),
    Models(commands::models::Args),
    Params(commands::params::Args),
    Perft(commands::perft::Args),
    Play(commands::play::Args),
    Player(commands::player::Args),
    Queue(commands::queue::Args),
    Quiz(commands::quiz::Args),
    Replay(commands::replay::Args),
    Report(commands::report::Args),
    Search(commands::search::Args),
    Show(commands::show::Args),
    Tournament(commands::tournament::Args),
    Train(commands::train::Args),
    Tune(commands::tune::Args),
    Verify(commands::verify::Args),
    Web(commands::web::Args),
    Worker(commands::worker::Args),
}

/// A file that grows beyond the limit of the system ends a process without a word. With a handler, whatever it does, the
/// write fails instead, and the error is reported like any other.
#[cfg(unix)]
fn report_full_files() {
    let signal = signal_hook::consts::SIGXFSZ;
    // If it cannot be registered, everything is as it would be without it.
    let _ = signal_hook::flag::register(signal, Arc::default());
}

fn main() -> ExitCode {
    #[cfg(unix)]
    report_full_files();
    let matches = help::program().get_matches();
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    arguments.color.apply();
    let command = arguments
        .command
        .unwrap_or_else(|| Command::Demo(commands::demo::Args::default()));
    let answer = match command {
        Command::Analyse(args) => commands::analyse::run(&args),
        Command::Bench(args) => commands::bench::run(&args),
        Command::Check(args) => commands::check::run(&args),
        Command::Completions(args) => commands::completions::run(&args, help::program()),
        Command::Demo(args) => commands::demo::run(&args),
        Command::Experiment(args) => commands::experiment::run(&args),
        Command::Fmt(args) => commands::fmt::run(&args),
        Command::Games(args) => commands::games::run(&args),
        Command::Heuristic(args) => commands::heuristic::run(&args),
        Command::Ladder(args) => commands::ladder::run(&args),
        Command::Lsp(args) => commands::lsp::run(&args),
        Command::Man(args) => commands::man::run(&args, help::program()),
        Command::Match(args) => commands::match_::run(&args),
        Command::Mcp(args) => commands::mcp::run(&args),
        Command::Models(args) => commands::models::run(&args),
        Command::Params(args) => commands::params::run(&args),
        Command::Perft(args) => commands::perft::run(&args),
        Command::Play(args) => commands::play::run(&args),
        Command::Player(args) => commands::player::run(&args),
        Command::Queue(args) => commands::queue::run(&args),
        Command::Quiz(args) => commands::quiz::run(&args),
        Command::Replay(args) => commands::replay::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Search(args) => commands::search::run(&args),
        Command::Show(args) => commands::show::run(&args),
        Command::Tournament(args) => commands::tournament::run(&args),
        Command::Train(args) => commands::train::run(&args),
        Command::Tune(args) => commands::tune::run(&args),
        Command::Verify(args) => commands::verify::run(&args),
        Command::Web(args) => commands::web::run(&args),
        Command::Worker(args) => commands::worker::run(&args),
    };
    answer.unwrap_or_else(|error| {
        // The reader has seen enough (`agon … | head`): that is not an error.
        if is_broken_pipe(&error) {
            return ExitCode::SUCCESS;
        }
        eprintln!("agon: {error:#}");
        let is_unplayable = error.downcast_ref::<sheet::Unplayable>().is_some();
        ExitCode::from(if is_unplayable { 1 } else { 2 })
    })
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let cause = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<std::io::Error>());
    cause.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
