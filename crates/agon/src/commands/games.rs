//! `agon games`: the built-in games.

use std::io::{Write, stdout};
use std::process::ExitCode;

use agon::games::{self, BuiltIn, GameKind};
use agon_gdl::{Rules, check, parse};
use agon_tournament::{Format, Kind, Table};
use serde::Serialize;

use crate::terminal;

/// List the built-in games
#[derive(clap::Args)]
#[command(after_help = "Examples:
  agon games
  agon games --json | jq -r 'select(.roles | length == 1) | .name'
  agon games --json | jq -r 'select(.hidden) | .name'")]
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
    /// Whether chance plays a role.
    chance: bool,
    /// Whether roles do not see everything.
    hidden: bool,
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
    let heads = ["name", "title", "roles", "kind", "info"].map(|head| (head, Kind::Words));
    let mut table = Table::new(&heads, 1);
    for game in &games {
        table.push(cells(&row(game)).to_vec());
    }
    write!(out, "{}", table.text(Format::Terminal(terminal::width())))?;
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
        information(row).to_owned(),
    ]
}

/// Whether chance plays or something is hidden from a role, in a short word so that no name is broken.
fn information(row: &Row<'_>) -> &'static str {
    match (row.chance, row.hidden) {
        (false, false) => "",
        (true, false) => "chance",
        (false, true) => "hidden",
        (true, true) => "both",
    }
}

fn row(game: &BuiltIn) -> Row<'_> {
    let rules = check(&parse(game.sheet.as_bytes(), &Default::default())).ok();
    let roles = rules.iter().flat_map(|rules| {
        let roles = rules.roles.iter();
        roles.map(|role| rules.term_text(role))
    });
    Row {
        name: game.name,
        title: &game.about.title,
        roles: roles.collect(),
        kind: game.about.kind.map_or("", GameKind::name),
        chance: rules.as_ref().and_then(Rules::random_role).is_some(),
        hidden: game.about.hidden,
        tables: &game.about.tables,
    }
}
