//! `agon worker`: plays matches of tournaments on a queue.

use std::num::NonZero;
use std::process::ExitCode;
use std::time::Duration;

use agon_cluster::{Event, Identity, Name, Work, work};

use crate::cluster::{ServerArgs, name};
use crate::commands::tournament::stop_by_signal;
use crate::speed;

/// Play matches of tournaments that other machines have put on a queue
#[derive(clap::Args)]
#[command(
    after_help = "A worker takes jobs from a NATS server, plays them, and sends the results. It works for every tournament of the
project, those of high priority first, and waits for more. It needs nothing but the address: rules come with the jobs.
It runs nothing that a job brings but rules and numbers.

Ctrl-C or SIGTERM gives unfinished jobs back and ends it. Should it be killed, another worker gets its jobs after half a
minute. A tournament takes only workers of its own build, by version and fingerprint (`agon bench --signature`); a worker that
gets no jobs says why. The fingerprint is computed once per build, which takes about half a minute.

Examples:
  agon worker --on nats://queue.example:4222
  agon worker --on nats://a:4222,nats://b:4222 --threads 8 --name lab-3
  agon worker --on tls://queue.example:4222 --creds worker.creds --tls-ca ca.pem"
)]
pub(crate) struct Args {
    /// The address of a NATS server, nats://HOST:4222; several with commas
    #[arg(long, value_name = "ADDRESS")]
    on: String,
    #[command(flatten)]
    server: ServerArgs,
    /// Matches at the same time [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
    /// Name of this worker, different for each [default: the name of the machine and the process]
    #[arg(long, value_name = "NAME", value_parser = name)]
    name: Option<Name>,
    /// End when there has been nothing to do for this number of seconds
    #[arg(long, value_name = "S")]
    idle: Option<u64>,
    /// End after this number of matches
    #[arg(long, value_name = "N")]
    matches: Option<usize>,
    /// Claim this fingerprint, to test coordinators
    #[arg(long, value_name = "N", hide = true)]
    fake_fingerprint: Option<String>,
    /// Send wrong results, to test coordinators
    #[arg(long, hide = true)]
    fake_results: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let stop = stop_by_signal()?;
    let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
    let n_threads = args.threads.map_or_else(cores, |n| n as usize);
    let mut build = speed::build()?;
    if let Some(fingerprint) = &args.fake_fingerprint {
        build.fingerprint.clone_from(fingerprint);
    }
    let identity = Identity {
        name: args.name.clone().unwrap_or_else(default_name),
        build,
        cpu: speed::cpu(),
        speed: speed::measure(n_threads)?,
    };
    eprintln!(
        "agon worker {}: version {}, fingerprint {}, {n_threads} threads, {:.0} playouts/s each",
        identity.name, identity.build.version, identity.build.fingerprint, identity.speed
    );
    let how = Work {
        n_threads,
        idle_limit: args.idle.map(Duration::from_secs),
        most_matches: args.matches,
        is_liar: args.fake_results,
    };
    let access = args.server.access(&args.on, 1);
    let done = work(&access, &identity, &how, &stop, &mut |event| {
        eprintln!("agon worker {}: {}", identity.name, words(&event));
    })?;
    eprintln!(
        "agon worker {}: {} matches played, {} jobs given back",
        identity.name, done.n_played, done.n_returned
    );
    Ok(ExitCode::SUCCESS)
}

fn words(event: &Event) -> String {
    match event {
        Event::Connected => "connected".to_owned(),
        Event::Idle => "waiting for jobs".to_owned(),
        Event::Working(tournament) => format!("plays for `{tournament}`"),
        Event::Refused { tournament, reason } => {
            format!("gets no jobs of `{tournament}`: {reason}")
        }
        Event::Trouble(error) => format!("{error}; trying again"),
    }
}

/// The machine and the process.
fn default_name() -> Name {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let host = host.or_else(|| std::env::var("HOSTNAME").ok());
    let host = host.or_else(|| std::env::var("COMPUTERNAME").ok());
    let host = host.unwrap_or_else(|| "worker".to_owned());
    let process = std::process::id();
    Name::from_text(&format!("{}-{process}", host.trim()))
}
