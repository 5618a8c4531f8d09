//! `agon quiz`: tasks for reasoning tests with exact answers, made from any rulesheet, and their scoring.

mod game;
mod plant;
mod score;
mod task;

use std::collections::HashSet;
use std::io::{BufWriter, Write, stdout};
use std::process::ExitCode;

use agon_gdl::Limits;
use agon_gdl::obfuscate::Naming;
use anyhow::bail;

use crate::sheet::Sheet;
use game::QuizGame;
use task::{Maker, TaskKind};

/// Make tasks with exact answers from rulesheets, and score answers
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Each line of the output is one task as JSON: `prompt` is the whole question, `answer` the exact answer, `features` how hard it is.
Answers are computed by the network and compared with the interpreter. docs/QUIZ.md explains all fields.

Exit code: 0 all tasks were made, 1 a game has too few, 2 a game cannot be used.

Examples:
  agon quiz connect_four --n 20 > quiz.jsonl
  agon quiz my_game.kif --tasks legal,next --names misleading --seed 7
  agon quiz breakthrough othello --tasks best,shortest --names made-up
  agon quiz score responses.jsonl --key quiz.jsonl"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Built-in games or paths of rulesheets
    #[arg(required = true, value_name = "GAME")]
    games: Vec<String>,
    /// Tasks per game
    #[arg(long, default_value_t = 10, value_name = "N")]
    n: usize,
    /// Kinds of tasks, taken in turn
    #[arg(
        long,
        value_delimiter = ',',
        value_enum,
        value_name = "KIND",
        default_value = "legal,next,outcome,best,shortest,error"
    )]
    tasks: Vec<TaskKind>,
    /// Seed of all choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Names of the rules: as they are, made-up words, or words that mislead
    #[arg(long, value_enum, default_value = "plain", value_name = "HOW")]
    names: NamesArg,
    /// Keep the order of rules, literals and arguments, and add no redundant rules, where names are changed
    #[arg(long)]
    keep_structure: bool,
    /// Leave out fields that tell the answer, for the file that goes to the one who is tested
    #[arg(long)]
    no_answers: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    Score(score::Args),
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum NamesArg {
    Plain,
    MadeUp,
    Misleading,
}

impl NamesArg {
    fn naming(self) -> Option<Naming> {
        match self {
            NamesArg::Plain => None,
            NamesArg::MadeUp => Some(Naming::MadeUp),
            NamesArg::Misleading => Some(Naming::Misleading),
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(Command::Score(args)) = &args.command {
        return score::run(args);
    }
    if args.tasks.is_empty() {
        bail!("--tasks needs at least one kind");
    }
    let mut out = BufWriter::new(stdout().lock());
    let mut is_complete = true;
    let mut ids = HashSet::new();
    for name in &args.games {
        let sheet = Sheet::find(name, &Limits::default())?;
        let game = QuizGame::new(&sheet, args.names.naming(), !args.keep_structure, args.seed)?;
        let mut maker = Maker::new(&game, args.seed);
        let mut n_made = 0;
        // A kind that this game has no task of gives its turn to the others.
        let mut kinds: Vec<TaskKind> = args.tasks.clone();
        while n_made < args.n && !kinds.is_empty() {
            let kind = kinds[n_made % kinds.len()];
            match maker.task(kind, n_made)? {
                Some(mut task) => {
                    // Two sheets may have the same file name, and an answer must belong to one task.
                    while !ids.insert(task.id.clone()) {
                        task.id.push_str("-again");
                    }
                    writeln!(
                        out,
                        "{}",
                        serde_json::to_string(&task.to_json(args.no_answers))?
                    )?;
                    n_made += 1;
                }
                None => {
                    eprintln!("agon: {name}: no task of kind `{}` was found", kind.name());
                    kinds.retain(|&other| other != kind);
                }
            }
        }
        is_complete &= n_made == args.n;
    }
    out.flush()?;
    Ok(ExitCode::from(u8::from(!is_complete)))
}
