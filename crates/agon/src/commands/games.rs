//! `agon games`: the built-in games.

use std::io::{Write, stdout};
use std::process::ExitCode;

use agon::games::{self, BuiltIn, GameKind};
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
    let games = games::games();
    let mut out = stdout().lock();
    if args.json {
        for game in &games {
            writeln!(out, "{}", serde_json::to_string(&row(game))?)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<[String; 5]> = games.iter().map(|game| cells(&row(game))).collect();
    let head = ["name", "title", "roles", "kind", "tables"].map(str::to_owned);
    let widths: [usize; 5] = std::array::from_fn(|column| {
        let cells = rows.iter().chain([&head]);
        let widths = cells.map(|row| row[column].chars().count());
        widths.max().unwrap_or(0)
    });
    for row in [&head].into_iter().chain(&rows) {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        writeln!(out, "{}", cells.join("  ").trim_end())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn cells(row: &Row<'_>) -> [String; 5] {
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
        row.tables.join(" "),
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
