//! `agon mcp`: games for language models, over the Model Context Protocol.

use std::env;
use std::net::SocketAddr;
use std::process::ExitCode;

use agon_mcp::{HttpOptions, serve_http, serve_stdio};
use anyhow::{anyhow, bail};

/// The variable that may hold the token: arguments can be seen by other users of a machine.
const TOKEN: &str = "AGON_MCP_TOKEN";

/// Let language models read rules and play matches, over stdio or HTTP
#[derive(clap::Args)]
#[command(
    after_help = "Without --http it speaks the Model Context Protocol over standard input and output, as clients expect that start it.
With --http it prints its address and the token that requests need; AGON_MCP_TOKEN sets the token.
docs/MCP.md describes the tools and has a harness in Python.

Examples:
  agon mcp
  agon mcp --http 127.0.0.1:9149"
)]
pub(crate) struct Args {
    /// Listen on this address instead, at the path /mcp
    #[arg(long, value_name = "HOST:PORT")]
    http: Option<SocketAddr>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Some(address) = args.http else {
        serve_stdio().map_err(|error| anyhow!("{error}"))?;
        return Ok(ExitCode::SUCCESS);
    };
    let token = env::var(TOKEN).ok();
    if token.as_ref().is_some_and(|token| token.len() < 16) {
        bail!("the token in {TOKEN} is too short: it needs at least 16 characters");
    }
    let is_given = token.is_some();
    let options = HttpOptions { address, token };
    let mut ready = |address: SocketAddr, token: &str| {
        println!("http://{address}/mcp");
        if !is_given {
            println!("Authorization: Bearer {token}");
        }
    };
    serve_http(&options, &mut ready).map_err(|error| anyhow!("{error}"))?;
    Ok(ExitCode::SUCCESS)
}
