//! `agon experiment`: the tables of the papers, played again and printed beside what was published.
//!
//! The tables are built into `agon_tournament`; a file of one's own will do as well. What is played is kept
//! in a store, so that a run goes on where it was, and tables that share matches share them.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use agon_arena::rules_hash;
use agon_gdl::Limits;
use agon_tournament::{
    BudgetPlan, Comparison, Experiment, Format, MatchResult, Overrides, Row, Sheet, Sprt, Standing,
    Summary, comparison_table, plot, tables,
};
use anyhow::{Context, bail};
use serde_json::json;

use crate::commands::report::read_results;
use crate::commands::tournament::{Shape, compile, exit_code, run_cells};
use crate::sheet;

/// Where results are kept unless somebody says otherwise.
const STORE: &str = "experiments.sqlite";
/// A sequential test asks for a sign beyond this difference either way. Where no match is drawn, a test that ends within 200 matches
/// also has an interval that leaves zero out.
const SPRT_ELO: f64 = 18.0;
/// Words for people are not wider than this.
const WIDTH: usize = 100;
/// Fewest matches before it may stop.
const SPRT_GAMES: u32 = 40;

/// Play a table of a paper again and print it beside the published figures
#[derive(clap::Args)]
#[command(after_help = "Without NAME, the tables are listed.

At full size a cell has as many matches as in the paper, and a budget in playouts or transitions that stands for its clock;
--scale F takes F of the matches, and the root of F of the budget. The same seed gives the same results. With --clock the
players have the paper's clock, scaled in the same way; that is not repeatable.

Examples:
  agon experiment
  agon experiment cadia-table1 --scale 0.05
  agon experiment finnsson-table1 --games 100 --budget random_games=300 --sprt
  agon experiment cadia-table1 --from experiments/results/cadia-table1.jsonl --plot table.svg")]
pub(crate) struct Args {
    /// The table, or a file with one
    name: Option<String>,
    /// Fraction of the full size
    #[arg(long, value_name = "F", default_value = "1", value_parser = scale)]
    scale: f64,
    /// Matches of each cell, whatever the scale
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    games: Option<u32>,
    /// Another budget per move: playouts=N, transitions=N, random_games=N or seconds=S
    #[arg(long, value_name = "BUDGET", conflicts_with = "clock")]
    budget: Option<BudgetPlan>,
    /// Play with the clock of the paper, which is not repeatable
    #[arg(long)]
    clock: bool,
    /// End a cell after 40 matches or later, as soon as its sign is clear, or if the paper is not sure of one
    #[arg(long)]
    sprt: bool,
    /// Seed of everything [default: that of the table]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Only this game, as the paper or Agon calls it; may be given several times
    #[arg(long, value_name = "GAME")]
    game: Vec<String>,
    /// Where results are kept
    #[arg(long, value_name = "FILE", default_value = STORE)]
    store: PathBuf,
    /// Forget the results of this table and begin again
    #[arg(long)]
    fresh: bool,
    /// Play nothing: show what is in these results, a store or JSON lines
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fresh", "sprt", "games"])]
    from: Option<PathBuf>,
    /// Matches at a time [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
    /// How the table is written
    #[arg(long, value_enum, default_value_t = Shape::Terminal)]
    format: Shape,
    /// Print one JSON object with all cells
    #[arg(long)]
    json: bool,
    /// Write a picture of the table to this file, as SVG
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

fn scale(text: &str) -> Result<f64, String> {
    let scale: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match scale > 0.0 && scale <= 100.0 {
        true => Ok(scale),
        false => Err("a scale is more than 0 and at most 100".to_owned()),
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Some(name) = &args.name else {
        list(args.format.format(args.json).is_none())?;
        return Ok(ExitCode::SUCCESS);
    };
    let mut experiment = find(name)?;
    experiment.keep_games(&args.game);
    if experiment.rows.is_empty() {
        bail!("{} has no such game", experiment.name);
    }
    let overrides = args.overrides(&experiment)?;
    let mut code = ExitCode::SUCCESS;
    let comparisons = match &args.from {
        Some(path) => {
            let (results, rules) = (read_results(path)?, rules_of(&experiment));
            tell_other_rules(&experiment, &results, &rules);
            experiment.compare(&experiment.pick(&results, &rules))
        }
        None => {
            let (comparisons, played) = args.play(&experiment, &overrides)?;
            code = played;
            comparisons
        }
    };
    if let Some(path) = &args.plot {
        let text = plot::paper(&experiment, &comparisons);
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    print(&experiment, &comparisons, &overrides, args)?;
    Ok(code)
}

/// The hash of the rules that each game of a table has now, as far as it can be read.
fn rules_of(experiment: &Experiment) -> BTreeMap<String, String> {
    let limits = Limits::default();
    let games = experiment.rows.iter().map(|row| &row.game);
    let hashes = games.filter_map(|game| {
        let rules = sheet::Sheet::find(game, &limits).and_then(|sheet| sheet.rules(&limits));
        Some((game.clone(), rules_hash(&rules.ok()?.to_string())))
    });
    hashes.collect()
}

/// Says how many matches were played by rules that no game of this name has now.
fn tell_other_rules(
    experiment: &Experiment,
    results: &[MatchResult],
    rules: &BTreeMap<String, String>,
) {
    let mut others: BTreeMap<&str, usize> = BTreeMap::new();
    for result in results {
        let fixture = &result.fixture;
        let is_named = |row: &&Row| row.game_name() == fixture.game;
        let mut rows = experiment.rows.iter().filter(is_named).peekable();
        let is_other = |row: &Row| rules.get(&row.game).is_some_and(|of| *of != fixture.rules);
        if rows.peek().is_some() && rows.all(is_other) {
            *others.entry(&fixture.game).or_default() += 1;
        }
    }
    for (game, n) in others {
        eprintln!("{n} matches of {game} were played by other rules and do not count");
    }
}

/// A built-in table, or a file.
fn find(name: &str) -> anyhow::Result<Experiment> {
    if let Some(experiment) = tables().into_iter().find(|of| of.name == name) {
        return Ok(experiment);
    }
    if !Path::new(name).is_file() {
        bail!("there is no table `{name}`; `agon experiment` lists them all");
    }
    let text = fs::read_to_string(name).with_context(|| format!("cannot read {name}"))?;
    Experiment::read(&text).with_context(|| format!("{name} is no table"))
}

fn list(is_json: bool) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    for of in tables() {
        let n_cells = of.rows.len() * of.columns.len();
        if is_json {
            let line = json!({
                "name": of.name, "title": of.title, "source": of.source, "setup": of.setup, "cells": n_cells,
                "games": of.games, "budget": of.budget.to_string(), "budget_note": of.budget_note.trim(),
            });
            writeln!(out, "{line}")?;
            continue;
        }
        writeln!(out, "{:16} {}", of.name, of.title)?;
        writeln!(out, "{:16} {}", "", of.source)?;
        writeln!(
            out,
            "{:16} {n_cells} cells of {} matches, {}",
            "", of.games, of.budget
        )?;
    }
    Ok(())
}

impl Args {
    fn overrides(&self, experiment: &Experiment) -> anyhow::Result<Overrides> {
        let mut budget = self.budget.clone();
        if self.clock {
            let Some(clock) = experiment.clock else {
                bail!("{} has no clock in its paper", experiment.name);
            };
            let clock: BudgetPlan = format!("seconds={clock}").parse()?;
            budget = Some(clock.scaled(self.scale.sqrt()));
        }
        Ok(Overrides {
            scale: self.scale,
            games: self.games,
            budget,
            seed: self.seed,
            sprt: self.sprt.then(|| Sprt::of_sign(SPRT_ELO, SPRT_GAMES)),
        })
    }

    fn play(
        &self,
        experiment: &Experiment,
        overrides: &Overrides,
    ) -> anyhow::Result<(Vec<Comparison>, ExitCode)> {
        let mut sheets: BTreeMap<String, Arc<Sheet>> = BTreeMap::new();
        for row in &experiment.rows {
            if !sheets.contains_key(&row.game) {
                sheets.insert(row.game.clone(), compile(&row.game, None)?);
            }
        }
        let cells = experiment.cells(&sheets, overrides)?;
        let outcome = run_cells(&cells, &self.store, self.fresh, self.threads)?;
        let results: Vec<Vec<&MatchResult>> =
            outcome.standings.iter().map(Standing::counted).collect();
        Ok((experiment.compare(&results), exit_code(&outcome)))
    }
}

fn print(
    experiment: &Experiment,
    comparisons: &[Comparison],
    overrides: &Overrides,
    args: &Args,
) -> anyhow::Result<()> {
    let summary = Summary::of(comparisons);
    let mut out = stdout().lock();
    let budget = experiment.budget_with(overrides);
    let Some(format) = args.format.format(args.json) else {
        let all = json!({
            "name": experiment.name,
            "title": experiment.title,
            "source": experiment.source,
            "setup": experiment.setup,
            "games": experiment.games_with(overrides),
            "budget": budget.to_string(),
            "seed": overrides.seed.unwrap_or(experiment.seed),
            "cells": comparisons,
            "summary": summary,
        });
        writeln!(out, "{all}")?;
        return Ok(());
    };
    let table = comparison_table(comparisons).text(format);
    if format == Format::Csv {
        write!(out, "{table}")?;
        return Ok(());
    }
    let (mark, gap) = match format {
        Format::Markdown => ("# ", "\n"),
        _ => ("", ""),
    };
    writeln!(
        out,
        "{mark}{}\n{gap}{}.",
        experiment.title, experiment.source
    )?;
    writeln!(out, "{gap}Paper: {}.", experiment.setup)?;
    match &args.from {
        Some(_) => writeln!(out, "{gap}Here: {}.", played_words(comparisons))?,
        None => writeln!(
            out,
            "{gap}Here: {} matches per cell, {budget}, seed {}.",
            experiment.games_with(overrides),
            overrides.seed.unwrap_or(experiment.seed)
        )?,
    }
    let note = match format {
        Format::Terminal => wrapped(&experiment.budget_note),
        _ => experiment.budget_note.trim().to_owned(),
    };
    writeln!(out, "{gap}{note}\n")?;
    writeln!(out, "{table}\n{}", summary.words())?;
    Ok(())
}

/// Words in lines that fit a page.
fn wrapped(text: &str) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a line");
        match line.is_empty() {
            true => line.push_str(word),
            false if line.chars().count() + word.chars().count() < WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            false => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

/// How much was played, and with which budgets.
fn played_words(comparisons: &[Comparison]) -> String {
    let counts = || comparisons.iter().map(|of| of.matches);
    let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    let matches = match least == most {
        true => most.to_string(),
        false => format!("{least} to {most}"),
    };
    let mut budgets: Vec<String> = Vec::new();
    for budget in comparisons.iter().filter_map(|of| of.budget) {
        // Transitions differ by game.
        let words = match budget {
            agon_tournament::Budget::Transitions(_) => {
                "transitions that depend on the game".to_owned()
            }
            other => other.to_string(),
        };
        if !budgets.contains(&words) {
            budgets.push(words);
        }
    }
    let budgets = budgets.join(" or ");
    format!("{matches} matches per cell, {budgets} per move")
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon::games;
    use agon_search::{PRESETS, Preset};

    #[test]
    fn every_table_can_be_played() {
        let tables = tables();
        assert_eq!(tables.len(), 8);
        for experiment in tables {
            let name = &experiment.name;
            for row in &experiment.rows {
                let built_in = games::find(&row.game).expect("its game is built in");
                assert_eq!(built_in.name, row.game, "{name} has the name of the game");
                let serves = built_in.about.tables.iter().any(|table| table == name);
                assert!(serves, "{} says that it serves {name}", row.game);
            }
            for player in experiment.columns.iter().flat_map(|column| &column.players) {
                let is_to_come = player.starts_with("heuristic-")
                    && !PRESETS.iter().any(|of| of.name.starts_with("heuristic-"));
                assert!(is_to_come || Preset::parse(player).is_ok(), "{player}");
            }
        }
    }

    #[test]
    fn time_is_never_counted_in_playouts() {
        for name in ["finnsson-table1", "finnsson-table2", "trutman-table2"] {
            let budget = find(name).expect("it is a table").budget;
            assert!(matches!(budget, BudgetPlan::RandomGames(_)), "{name}");
        }
    }
}
