//! `agon games`: the built-in games.

use std::io::{Write, stdout};
use std::process::ExitCode;

use agon::library::{self, BuiltIn};
use agon_gdl::{check, parse};
use serde::Serialize;

/// List the built-in games
#[derive(clap::Args)]
#[command(after_help = "Examples:
  agon games
  agon games --json | jq -r 'select(.roles | length == 1) | .name'")]
pub(crate) struct Args {
    /// Print one JSON object per game
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    title: &'a str,
    roles: Vec<String>,
    kind: &'a str,
    tables: &'a [String],
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let games = library::games();
    let mut out = stdout().lock();
    if args.json {
        for game in &games {
            writeln!(out, "{}", serde_json::to_string(&row(game))?)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let width = games
        .iter()
        .map(|game| game.name.len())
        .max()
        .unwrap_or(0)
        .max(4);
    writeln!(out, "{:width$}  {:13}  {:5}  game", "name", "kind", "roles")?;
    for game in &games {
        let row = row(game);
        writeln!(
            out,
            "{:width$}  {:13}  {:5}  {}: {}",
            row.name,
            row.kind,
            row.roles.len(),
            row.title,
            game.about.description
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn row(game: &BuiltIn) -> Row<'_> {
    let rules = check(&parse(game.sheet.as_bytes(), &Default::default()));
    let roles = rules
        .map(|rules| {
            rules
                .roles
                .iter()
                .map(|role| rules.term_text(role))
                .collect()
        })
        .unwrap_or_default();
    Row {
        name: game.name,
        title: &game.about.title,
        roles,
        kind: game.about.kind.name(),
        tables: &game.about.tables,
    }
}
