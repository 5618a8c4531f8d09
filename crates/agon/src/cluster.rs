//! What commands on a queue share: their options, and a coordinator whose progress is shown.

use std::path::PathBuf;
use std::time::Duration;

use agon_cluster::{Access, Coordination, Name, Notice, Requirement, coordinate};
use agon_protocol::StopFlag;
use agon_tournament::{Cell, Outcome, Store};
use anyhow::Context;

use crate::progress::ProgressShow;
use crate::speed;

/// How the server is reached.
#[derive(Clone, clap::Args)]
pub(crate) struct ServerArgs {
    /// Credentials for the server, a file as NATS has them
    #[arg(long, value_name = "FILE", requires = "on")]
    creds: Option<PathBuf>,
    /// Trust these certificates of authorities (PEM), and use TLS
    #[arg(long, value_name = "FILE", requires = "on")]
    tls_ca: Option<PathBuf>,
    /// Streams and subjects begin with this name, so that projects can share a server
    #[arg(long, value_name = "NAME", requires = "on", default_value = "agon", value_parser = name)]
    project: Name,
}

impl ServerArgs {
    pub(crate) fn access(&self, on: &str, replicas: usize) -> Access {
        Access {
            address: on.to_owned(),
            creds: self.creds.clone(),
            tls_ca: self.tls_ca.clone(),
            project: self.project.clone(),
            replicas,
        }
    }
}

/// A name of a tournament, a worker or a project.
pub(crate) fn name(text: &str) -> Result<Name, String> {
    text.parse()
        .map_err(|error: agon_cluster::ClusterError| error.to_string())
}

/// Options of commands that may publish matches on a queue.
#[derive(Clone, clap::Args)]
pub(crate) struct ClusterArgs {
    /// Let workers play the matches: the address of a NATS server, nats://HOST:4222; several with commas
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) on: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
    /// Name on the queue [default: that of the file]
    #[arg(long = "name", value_name = "NAME", requires = "on", value_parser = name)]
    queue_name: Option<Name>,
    /// Jobs of tournaments with higher numbers come first [default: 0, or as it was]
    #[arg(long, value_name = "N", requires = "on", allow_negative_numbers = true)]
    priority: Option<i32>,
    /// Servers that keep each stream; 3 survives the loss of one
    #[arg(long, value_name = "N", requires = "on", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=5))]
    replicas: u8,
    /// Accept workers of any build, not only of this one
    #[arg(long, requires = "on")]
    any_build: bool,
    /// Playouts/s of the machine that budgets in seconds are meant for [default: this machine]
    #[arg(long, value_name = "N", requires = "on")]
    reference_speed: Option<f64>,
    /// Seconds without a sign of life after which a job is given to another worker
    #[arg(long, value_name = "S", requires = "on", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    ack_wait: u64,
}

impl ClusterArgs {
    /// How to run on a queue, if that is wanted.
    pub(crate) fn coordination(
        &self,
        file_name: &str,
        is_fresh: bool,
    ) -> anyhow::Result<Option<(Access, Coordination)>> {
        let Some(on) = &self.on else {
            return Ok(None);
        };
        let build = match self.any_build {
            true => None,
            false => Some(speed::build().context("cannot compute the fingerprint")?),
        };
        let reference_speed = match self.reference_speed {
            Some(speed) => speed,
            None => speed::measure(1)?,
        };
        let coordination = Coordination {
            name: self
                .queue_name
                .clone()
                .unwrap_or_else(|| Name::from_text(file_name)),
            priority: self.priority,
            requirement: Requirement {
                build,
                reference_speed: Some(reference_speed),
            },
            is_fresh,
            ack_wait: Duration::from_secs(self.ack_wait),
            is_last: true,
        };
        Ok(Some((
            self.server.access(on, self.replicas.into()),
            coordination,
        )))
    }
}

/// Runs cells on a queue and shows the progress.
pub(crate) fn run(
    access: &Access,
    how: &Coordination,
    cells: &[Cell],
    store: &mut Store,
    stop: &StopFlag,
    show: &mut ProgressShow,
) -> anyhow::Result<Outcome> {
    let show = std::cell::RefCell::new(show);
    let outcome = coordinate(
        access,
        how,
        cells,
        store,
        stop,
        &mut |progress| show.borrow_mut().show(progress),
        &mut |notice| {
            if let Some(words) = notice_words(&notice, how) {
                show.borrow().line(&format!("agon: {words}"));
            }
        },
    );
    Ok(outcome?)
}

fn notice_words(notice: &Notice, how: &Coordination) -> Option<String> {
    Some(match notice {
        Notice::Published { n_new, n_queued } => {
            let name = &how.name;
            format!("{n_new} jobs of `{name}` are published, {n_queued} were on the queue")
        }
        Notice::Rejected(one) => format!(
            "a result of {} does not count, match {}: {}",
            one.worker, one.key, one.reason
        ),
        Notice::Refused { worker, reason } => format!("{worker} gets no jobs: {reason}"),
        Notice::Foreign(n) => {
            format!("{n} results on the server are of matches that this file does not have")
        }
        Notice::Full(error) => {
            format!("{error}; results wait on the server, and writing is tried again")
        }
        Notice::Trouble(error) => format!("{error}; trying again"),
        Notice::Cancelled => "the tournament was cancelled by `agon queue`".to_owned(),
    })
}
