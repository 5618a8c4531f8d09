//! `agon lsp`: the language server for editors.

use std::process::ExitCode;
use std::sync::Arc;

use agon_gdl::Rules;
use agon_language_server::{Observation, Options, serve};
use anyhow::anyhow;
use lsp_server::Connection;

use super::check::trial::{Budget, observe};

/// Speak with an editor: findings as you type, hover, navigation, completion
#[derive(clap::Args)]
#[command(
    after_help = "The editor starts this command and speaks the Language Server Protocol over standard input and output.
docs/LSP.md says how to set up VS Code, Neovim, Helix and others.

Examples:
  agon lsp"
)]
pub(crate) struct Args {
    /// Accepted because some editors add it; this is the only way to speak
    #[arg(long)]
    stdio: bool,
}

pub(crate) fn run(_args: &Args) -> anyhow::Result<ExitCode> {
    let (connection, threads) = Connection::stdio();
    let options = Options {
        observe: Arc::new(observed),
    };
    let served = serve(&connection, &options);
    // The threads end when the connection does.
    drop(connection);
    served.map_err(|error| anyhow!("{error}"))?;
    // What the threads complain about is that the editor has closed its pipes.
    let _ = threads.join();
    Ok(ExitCode::SUCCESS)
}

/// The findings of `agon check` that need grounding.
fn observed(rules: &Arc<Rules>) -> Vec<Observation> {
    let budget = Budget {
        play: false,
        seed: 1,
    };
    let findings = observe(rules, &budget).into_iter();
    let findings = findings.map(|finding| Observation {
        severity: finding.severity,
        kind: finding.kind.to_owned(),
        line: finding.line,
        message: finding.message,
        help: finding.help.to_owned(),
    });
    findings.collect()
}
