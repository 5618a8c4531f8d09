//! `agon queue`: the tournaments and workers of a queue, and orders to them.

use std::io::{Write, stdout};
use std::process::ExitCode;

use agon_cluster::{Name, Order, QueueRow, WorkerState, list, order};
use agon_tournament::{Format, Kind, Table};
use serde_json::json;

use crate::cluster::{ServerArgs, name};
use crate::terminal;

/// List, pause and cancel tournaments on a queue, and see the workers
#[derive(clap::Args)]
#[command(
    after_help = "A paused tournament keeps its jobs, and workers finish what they play. A cancelled one loses its jobs and running
matches; its results stay on the server, and `agon tournament` starts it again. `remove` deletes its results from the server too.

Examples:
  agon queue --on nats://queue.example:4222 list
  agon queue --on nats://queue.example:4222 pause cup
  agon queue --on nats://queue.example:4222 priority cup 10
  agon queue --on nats://queue.example:4222 cancel cup"
)]
pub(crate) struct Args {
    /// The address of a NATS server, nats://HOST:4222; several with commas
    #[arg(long, value_name = "ADDRESS")]
    on: String,
    #[command(flatten)]
    server: ServerArgs,
    /// Print one JSON object per tournament and worker
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Show tournaments and workers
    List,
    /// Let workers take no further jobs of a tournament
    Pause {
        /// The tournament
        #[arg(value_parser = name)]
        name: Name,
    },
    /// Let workers take jobs of a tournament again
    Resume {
        /// The tournament
        #[arg(value_parser = name)]
        name: Name,
    },
    /// Delete the jobs of a tournament and stop its matches
    Cancel {
        /// The tournament
        #[arg(value_parser = name)]
        name: Name,
    },
    /// Let jobs of a tournament come before those with lower numbers
    Priority {
        /// The tournament
        #[arg(value_parser = name)]
        name: Name,
        /// The priority; 0 unless set
        #[arg(allow_negative_numbers = true)]
        priority: i32,
    },
    /// Delete everything that the server has about a tournament
    Remove {
        /// The tournament
        #[arg(value_parser = name)]
        name: Name,
    },
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let access = args.server.access(&args.on, 1);
    let (tournament, what, words) = match &args.command {
        Command::List => {
            let (tournaments, workers) = list(&access)?;
            match args.json {
                true => print_json(&tournaments, &workers)?,
                false => print(&tournaments, &workers)?,
            }
            return Ok(ExitCode::SUCCESS);
        }
        Command::Pause { name } => (name, Order::Pause, "paused".to_owned()),
        Command::Resume { name } => (name, Order::Resume, "open".to_owned()),
        Command::Cancel { name } => (name, Order::Cancel, "cancelled".to_owned()),
        Command::Priority { name, priority } => {
            let words = format!("of priority {priority}");
            (name, Order::Priority(*priority), words)
        }
        Command::Remove { name } => (name, Order::Remove, "removed".to_owned()),
    };
    order(&access, tournament, what)?;
    eprintln!("{tournament} is {words}");
    Ok(ExitCode::SUCCESS)
}

fn print_json(tournaments: &[QueueRow], workers: &[WorkerState]) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    for row in tournaments {
        writeln!(out, "{}", json!({ "tournament": row }))?;
    }
    for worker in workers {
        writeln!(out, "{}", json!({ "worker": worker }))?;
    }
    Ok(())
}

fn print(tournaments: &[QueueRow], workers: &[WorkerState]) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    let format = Format::Terminal(terminal::width());
    let heads = [
        ("tournament", Kind::Words),
        ("state", Kind::Words),
        ("priority", Kind::Number),
        ("matches", Kind::Number),
        ("waiting", Kind::Number),
        ("playing", Kind::Number),
        ("results", Kind::Number),
    ];
    let mut table = Table::new(&heads, 1);
    for row in tournaments {
        table.push(vec![
            row.name.clone(),
            row.state.to_owned(),
            row.priority.to_string(),
            row.matches.to_string(),
            row.waiting.to_string(),
            row.playing.to_string(),
            row.results.to_string(),
        ]);
    }
    match tournaments.is_empty() {
        true => writeln!(out, "no tournaments on the queue\n")?,
        false => writeln!(out, "{}", table.text(format))?,
    }
    let heads = [
        ("worker", Kind::Words),
        ("build", Kind::Words),
        ("threads", Kind::Number),
        ("playouts/s", Kind::Number),
        ("playing", Kind::Number),
        ("played", Kind::Number),
        ("refused", Kind::Words),
    ];
    let mut table = Table::new(&heads, 1);
    for worker in workers {
        table.push(vec![
            worker.worker.clone(),
            format!("{} {}", worker.version, worker.fingerprint),
            worker.threads.to_string(),
            format!("{:.0}", worker.speed),
            worker.playing.to_string(),
            worker.played.to_string(),
            worker.refused.join("; "),
        ]);
    }
    if !workers.is_empty() {
        writeln!(out, "{}", table.text(format))?;
    }
    Ok(())
}
