//! `agon lsp`: the language server for editors.

use std::io::{BufReader, IsTerminal, stdin, stdout};
use std::process::ExitCode;
use std::sync::Arc;

use agon_gdl::Rules;
use agon_language_server::{Ending, Observation, Options, connect, serve};
use anyhow::anyhow;

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
    if stdin().is_terminal() {
        eprintln!(
            "agon: this is a language server: it waits for messages of an editor (docs/LSP.md)"
        );
    }
    let (connection, writer) = connect(BufReader::new(stdin()), stdout());
    let options = Options {
        observe: Arc::new(observed),
    };
    let ending = serve(&connection, &options);
    // What it has said is written to the end.
    drop(connection);
    let _ = writer.join();
    Ok(match ending.map_err(|error| anyhow!("{error}"))? {
        Ending::Orderly => ExitCode::SUCCESS,
        Ending::Abrupt => ExitCode::from(1),
    })
}

/// The findings of `agon check` that need grounding.
fn observed(rules: &Arc<Rules>, stop: &dyn Fn() -> bool) -> Vec<Observation> {
    let budget = Budget {
        play: false,
        seed: 1,
    };
    let findings = observe(rules, &budget, stop).into_iter();
    let findings = findings.map(|finding| Observation {
        severity: finding.severity,
        kind: finding.kind.to_owned(),
        line: finding.line,
        message: finding.message,
        help: finding.help.to_owned(),
    });
    findings.collect()
}
