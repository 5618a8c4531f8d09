//! `agon web`: the page in the browser.
//!
//! The server is the crate `agon-web`. This command gives it its settings and what only the command line has: the findings of
//! `agon check`, the analysis of `agon analyse` and the words for search techniques.

use std::env;
use std::io::{Write, stdout};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use agon_search::Preset;
use agon_web::{Config, Hooks, Server};
use anyhow::{Context, bail};

use crate::commands::{analyse, check};
use crate::words;

/// The port of the page.
const PORT: u16 = 8147;

/// Play, watch, write and host games in the browser
#[derive(clap::Args)]
#[command(
    after_help = "Without options the page is at http://127.0.0.1:8147 and only this machine can reach it. Matches are kept in the data
folder and go on after a restart. Other programs can use the same API: docs/API.md.

On another address than loopback anybody who can reach the port may play. Searches then take turns, remote players are
asked only if --allow-player lists them, and tournaments cannot be started from the page.

Examples:
  agon web --open
  agon web --player-port 9147
  agon web --port 9000 --data my_matches --store results.sqlite
  agon web --host 0.0.0.0 --name games.example.org"
)]
pub(crate) struct Args {
    /// Address to listen on; 0.0.0.0 accepts connections from other machines
    #[arg(long, value_name = "H", default_value = "127.0.0.1")]
    host: String,
    /// Port to listen on; 0 picks a free port
    #[arg(long, value_name = "P", default_value_t = PORT)]
    port: u16,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// Name under which browsers reach the server, besides localhost and addresses; can be repeated
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    /// Remote player that may be asked when the server is not on loopback, HOST or HOST:PORT; can be repeated
    #[arg(long, value_name = "HOST")]
    allow_player: Vec<String>,
    /// Folder of matches and stores [default: agon in the data folder of the user]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Store of a tournament to show; can be repeated
    #[arg(long, value_name = "FILE")]
    store: Vec<PathBuf>,
    /// Also run a GGP player on this port, which the page can watch; 0 picks a free port
    #[arg(long, value_name = "P")]
    player_port: Option<u16>,
    /// Preset of that player
    #[arg(long, value_name = "PLAYER", default_value = Preset::DEFAULT)]
    player: String,
    /// Matches in memory at a time
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    matches: u32,
    /// Searches at a time [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    searches: Option<u16>,
    /// Megabytes of all search trees together
    #[arg(long, value_name = "MB", default_value_t = 1280, value_parser = clap::value_parser!(u32).range(64..=1_000_000))]
    memory: u32,
    /// Minutes after which a match that no page asks for is put to sleep
    #[arg(long, value_name = "MIN", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    idle: u32,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    #[cfg(unix)]
    crate::commands::player::start_thrifty();
    let address = resolve(&args.host, args.port)?;
    let data = match &args.data {
        Some(data) => data.clone(),
        None => default_data()?,
    };
    for store in &args.store {
        if !store.is_file() {
            bail!("there is no store {}", store.display());
        }
    }
    let mut config = Config::new(address, data.clone());
    config.names.clone_from(&args.name);
    config.allowed_players.clone_from(&args.allow_player);
    config.stores.clone_from(&args.store);
    config.player = Preset::parse(&args.player)?;
    config.most_matches = args.matches as usize;
    config.searches = args.searches.map_or(config.searches, usize::from);
    config.idle = Duration::from_secs(u64::from(args.idle) * 60);
    if let Some(port) = args.player_port {
        config.player_address = Some(resolve(&args.host, port)?);
    }
    config.share_memory(args.memory);
    let server = Server::start(config, hooks()).with_context(|| {
        format!(
            "cannot serve on {address} with the data folder {}",
            data.display()
        )
    })?;
    let mut out = stdout();
    writeln!(out, "agon web at {}", server.url())?;
    if let Some(url) = server.player_url() {
        writeln!(out, "agon player {} at {url}", args.player)?;
    }
    out.flush()?;
    if args.open {
        open(&server.url());
    }
    server.wait();
    Ok(ExitCode::SUCCESS)
}

/// What the command line gives the server.
fn hooks() -> Hooks {
    Hooks {
        check: check::findings_of_text,
        technique: words::technique,
        analyse: analyse::for_page,
        // A model that cannot be read is none; `agon models` says why.
        model: |game| {
            crate::models::find(game)
                .ok()
                .flatten()
                .map(|(_, model)| model)
        },
    }
}

fn resolve(host: &str, port: u16) -> anyhow::Result<SocketAddr> {
    let mut found = (host, port)
        .to_socket_addrs()
        .with_context(|| format!("{host} is not an address of this machine"))?;
    found
        .next()
        .with_context(|| format!("{host} has no address"))
}

/// The folder for data of programs, by the conventions of the system.
fn default_data() -> anyhow::Result<PathBuf> {
    let variable = |name: &str| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let folder = if cfg!(windows) {
        variable("APPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        variable("XDG_DATA_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/share")))
    };
    let folder = folder.context("the user has no data folder; give one with --data")?;
    Ok(folder.join("agon").join("web"))
}

/// Opens an address in the browser. If that fails, the address has been printed.
fn open(url: &str) {
    let (program, first) = if cfg!(windows) {
        ("cmd", vec!["/C", "start", ""])
    } else if cfg!(target_os = "macos") {
        ("open", vec![])
    } else {
        ("xdg-open", vec![])
    };
    let _ = Command::new(program)
        .args(first)
        .arg(url)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
}
