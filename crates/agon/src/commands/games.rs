//! `agon games`: the built-in games.

use std::io::{Write, stdout};
use std::process::ExitCode;

use agon::games::{self, BuiltIn, GameKind};
use agon_gdl::{check, parse};
use agon_tournament::{Format, Kind, Table};
use serde::Serialize;

use crate::terminal;

/// List the built-in games
#[derive(clap::Args)]
#[command(after_help = "Examples:
  agon games
  agon games --json | jq -r 'select(.roles | length == 1) | .name'")]
pub(crate) struct Args {
    /// Print one JSON object per game, with the tables of papers that it serves
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
    let games = games::games();
    let mut out = stdout().lock();
    if args.json {
        for game in &games {
            writeln!(out, "{}", serde_json::to_string(&row(game))?)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let heads = ["name", "title", "roles", "kind"].map(|head| (head, Kind::Words));
    let mut table = Table::new(&heads, 1);
    for game in &games {
        table.push(cells(&row(game)).to_vec());
    }
    write!(out, "{}", table.text(Format::Terminal(terminal::width())))?;
    Ok(ExitCode::SUCCESS)
}

fn cells(row: &Row<'_>) -> [String; 4] {
    // Six roles would make the column too wide.
    let roles = match row.roles.len() {
        0..=3 => row.roles.join(" "),
        n => format!("{} … ({n})", row.roles[0]),
    };
    [
        row.name.to_owned(),
        row.title.to_owned(),
        roles,
        row.kind.to_owned(),
    ]
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
        kind: game.about.kind.map_or("", GameKind::name),
        tables: &game.about.tables,
    }
}
