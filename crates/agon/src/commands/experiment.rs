//! `agon experiment`: tables of papers, played again and printed beside what was published.
//!
//! The tables are built into `agon_tournament`; the path of another file works as well. Results are kept
//! in a store, so that an interrupted run can be continued, and tables with matches in common share them.
//!
//! Where the number of matches of a cell depends on its outcomes, two samples are printed: first the matches of a number fixed
//! in advance, then all of them.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use agon_arena::rules_hash;
use agon_gdl::Limits;
use agon_tournament::{
    Budget, BudgetPlan, CellProgress, Comparison, Experiment, Format, MatchResult, Outcome,
    Overrides, Row, Shard, Sheet, Sprt, Summary, comparison_table, plot, tables, wrap,
    write_comparisons,
};
use anyhow::{Context, bail};
use serde_json::json;

use crate::cluster::ClusterArgs;
use crate::commands::report::read_results;
use crate::commands::tournament::{How, Output, Shape, compile, exit_code, run_cells};
use crate::{sheet, terminal};

/// Where results are kept by default.
const STORE: &str = "experiments.sqlite";
/// The sequential test asks whether a difference is above or below zero by this many Elo points.
const SPRT_ELO: f64 = 18.0;
/// Width of the names in the list of tables.
const NAME_WIDTH: usize = 17;
/// Fewest matches before the sequential test may stop.
const SPRT_GAMES: u32 = 40;

/// Play a table of a paper again and print it beside the published figures
#[derive(clap::Args)]
#[command(after_help = "Without NAME, all tables are listed.

At full size, a cell has as many matches as in the paper, and a budget in playouts or transitions that replaces its clock.
--scale F takes the fraction F of the matches and the square root of F of the budget. The same seed gives the same results. With
--clock, players have the paper's clock, scaled in the same way; results are then not repeatable.

With --sprt and with --from, the number of matches of a cell may depend on its outcomes. Then two samples are printed: first
the matches of the number that the table fixes in advance, then all matches.

Examples:
  agon experiment
  agon experiment cadia-table1 --scale 0.05
  agon experiment finnsson-table1 --games 100 --budget random_games=300 --sprt
  agon experiment cadia-table1 --on nats://queue.example:4222
  agon experiment cadia-table1 --from experiments/results/cadia-table1.jsonl --plot table.svg")]
pub(crate) struct Args {
    /// The name of a table, or the path of a file with one
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
    /// Play with the clock of the paper; results are not repeatable
    #[arg(long)]
    clock: bool,
    /// End a cell, after at least 40 matches, when its sign is clear or the published difference is not significant
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
    /// Delete the results of this table and start again
    #[arg(long)]
    fresh: bool,
    /// Play nothing; show the results in this file, a store or JSON lines
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fresh", "sprt", "games"])]
    from: Option<PathBuf>,
    /// Matches played at the same time [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
    #[command(flatten)]
    cluster: ClusterArgs,
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
        false => Err("a scale must be above 0 and at most 100".to_owned()),
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Some(name) = &args.name else {
        list(matches!(args.format.output(args.json), Output::Json))?;
        return Ok(ExitCode::SUCCESS);
    };
    let mut experiment = find(name)?;
    experiment.keep_games(&args.game);
    if experiment.rows.is_empty() {
        let names: Vec<String> = find(name)?.rows.into_iter().map(|row| row.game).collect();
        let names = names.join(", ");
        bail!(
            "{} has no such game; its games are {names}",
            experiment.name
        );
    }
    let overrides = args.overrides(&experiment)?;
    let (samples, code) = match &args.from {
        Some(path) => {
            let (results, rules) = (read_results(path)?, rules_of(&experiment));
            report_other_rules(&experiment, &results, &rules);
            let picked = experiment.pick(&results, &rules);
            let samples = Samples::new(&experiment, &picked, experiment.fixed);
            (samples, ExitCode::SUCCESS)
        }
        None => {
            let outcome = args.play(&experiment, &overrides)?;
            let counted = outcome.cell_progress.iter().map(CellProgress::counted);
            let counted: Vec<Vec<&MatchResult>> = counted.collect();
            let fixed = experiment.fixed.filter(|_| overrides.sprt.is_some());
            let samples = Samples::new(&experiment, &counted, fixed);
            (samples, exit_code(&outcome))
        }
    };
    if let Some(path) = &args.plot {
        let text = samples.picture(&experiment);
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    print(&experiment, &samples, &overrides, args)?;
    Ok(code)
}

/// A table by the matches of a number fixed in advance, and by all matches.
struct Samples {
    fixed: Option<Fixed>,
    all: Vec<Comparison>,
}

/// The first matches of every cell.
struct Fixed {
    n_matches: u32,
    /// All cells, row by row; those with fewer matches are not played.
    cells: Vec<Comparison>,
    /// Cells with fewer matches, with their number of matches.
    left_out: Vec<(String, usize)>,
}

impl Samples {
    fn new(
        experiment: &Experiment,
        results: &[Vec<&MatchResult>],
        n_fixed: Option<u32>,
    ) -> Samples {
        let all = experiment.compare(results);
        let fixed = n_fixed.map(|n_matches| {
            let first = Experiment::first_matches(results, n_matches);
            let cells = experiment.compare(&first);
            let pairs = cells.iter().zip(&all);
            let left_out = pairs
                .filter(|(first, _)| first.matches == 0)
                .map(|(_, all)| (format!("{}, {}", all.row, all.column), all.matches))
                .collect();
            Fixed {
                n_matches,
                cells,
                left_out,
            }
        });
        Samples { fixed, all }
    }

    /// A picture of the sample that comes first.
    fn picture(&self, experiment: &Experiment) -> String {
        match &self.fixed {
            Some(fixed) => {
                let note = format!("The first {} matches of every cell", fixed.n_matches);
                plot::paper(experiment, &fixed.cells, &note)
            }
            None => plot::paper(experiment, &self.all, "All matches"),
        }
    }
}

impl Fixed {
    /// The cells that have enough matches.
    fn played(&self) -> Vec<Comparison> {
        let cells = self.cells.iter().filter(|cell| cell.matches > 0);
        cells.cloned().collect()
    }

    /// Says which cells are left out.
    fn left_out_words(&self) -> Option<String> {
        let words = |(cell, n): &(String, usize)| format!("{cell} ({n})");
        let cells: Vec<String> = self.left_out.iter().map(words).collect();
        (!cells.is_empty()).then(|| {
            format!(
                "Left out, because they have fewer matches: {}.",
                cells.join("; ")
            )
        })
    }
}

/// The hash of the present rules of each game of a table, as far as they can be read.
fn rules_of(experiment: &Experiment) -> BTreeMap<String, String> {
    let limits = Limits::default();
    let games = experiment.rows.iter().map(|row| &row.game);
    let hashes = games.filter_map(|game| {
        let rules = sheet::Sheet::find(game, &limits).and_then(|sheet| sheet.rules(&limits));
        Some((game.clone(), rules_hash(&rules.ok()?.to_string())))
    });
    hashes.collect()
}

/// Warns of matches that were played by other rules than a game has now.
fn report_other_rules(
    experiment: &Experiment,
    results: &[MatchResult],
    rules: &BTreeMap<String, String>,
) {
    let mut others: BTreeMap<&str, usize> = BTreeMap::new();
    for result in results {
        let fixture = &result.fixture;
        let is_named = |row: &&Row| row.game_name() == fixture.game;
        let mut rows = experiment.rows.iter().filter(is_named).peekable();
        let is_other = |row: &Row| {
            rules
                .get(&row.game)
                .is_some_and(|hash| *hash != fixture.rules)
        };
        if rows.peek().is_some() && rows.all(is_other) {
            *others.entry(&fixture.game).or_default() += 1;
        }
    }
    for (game, n) in others {
        eprintln!(
            "agon: {n} matches of {game} were played by other rules than it has now and do not count"
        );
    }
}

/// A built-in table, or a file.
fn find(name: &str) -> anyhow::Result<Experiment> {
    if let Some(experiment) = tables().into_iter().find(|table| table.name == name) {
        return Ok(experiment);
    }
    if !Path::new(name).is_file() {
        bail!("there is no table `{name}`; `agon experiment` lists them all");
    }
    let text = fs::read_to_string(name).with_context(|| format!("cannot read {name}"))?;
    Experiment::read(&text).with_context(|| format!("{name} is not a valid table"))
}

fn list(is_json: bool) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    for table in tables() {
        let n_cells = table.rows.len() * table.columns.len();
        if is_json {
            let line = json!({
                "name": table.name, "title": table.title, "source": table.source,
                "setup": table.setup, "cells": n_cells, "games": table.games, "fixed": table.fixed,
                "budget": table.budget.to_string(), "budget_note": table.budget_note.trim(),
            });
            writeln!(out, "{line}")?;
            continue;
        }
        let size = format!(
            "{n_cells} cells of {} matches, {}",
            table.games, table.budget
        );
        let mut head = table.name.as_str();
        for text in [&table.title, &table.source, &size] {
            for line in wrap(text, terminal::width() - NAME_WIDTH) {
                writeln!(out, "{head:NAME_WIDTH$}{line}")?;
                head = "";
            }
        }
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

    fn play(&self, experiment: &Experiment, overrides: &Overrides) -> anyhow::Result<Outcome> {
        let mut sheets: BTreeMap<String, Arc<Sheet>> = BTreeMap::new();
        for row in &experiment.rows {
            if !sheets.contains_key(&row.game) {
                sheets.insert(row.game.clone(), compile(&row.game, None)?);
            }
        }
        let cells = experiment.cells(&sheets, overrides)?;
        let how = How {
            n_threads: self.threads,
            is_fresh: self.fresh,
            shard: Shard::WHOLE,
            cluster: &self.cluster,
            name: &experiment.name,
        };
        run_cells(&cells, &self.store, &how)
    }
}

fn print(
    experiment: &Experiment,
    samples: &Samples,
    overrides: &Overrides,
    args: &Args,
) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    match args.format.output(args.json) {
        Output::Json => {
            let object = json_object(experiment, samples, overrides);
            Ok(writeln!(out, "{object}")?)
        }
        Output::Csv => {
            let mut tables: Vec<(&str, &[Comparison])> = Vec::new();
            tables.extend(
                samples
                    .fixed
                    .as_ref()
                    .map(|fixed| ("fixed", &fixed.cells[..])),
            );
            tables.push(("all", &samples.all));
            Ok(write_comparisons(&tables, &mut out)?)
        }
        Output::Tables(format) => {
            let budget = experiment.budget_with(overrides);
            let here = match args.from {
                Some(_) => played_words(&samples.all),
                None => format!(
                    "{} matches per cell, {budget}, seed {}",
                    experiment.games_with(overrides),
                    overrides.seed.unwrap_or(experiment.seed)
                ),
            };
            print_tables(&mut out, experiment, samples, &here, format)
        }
    }
}

fn json_object(
    experiment: &Experiment,
    samples: &Samples,
    overrides: &Overrides,
) -> serde_json::Value {
    let fixed = samples.fixed.as_ref().map(|fixed| {
        json!({
            "matches": fixed.n_matches,
            "cells": fixed.played(),
            "summary": Summary::of(&fixed.played()),
        })
    });
    json!({
        "name": experiment.name,
        "title": experiment.title,
        "source": experiment.source,
        "setup": experiment.setup,
        "games": experiment.games_with(overrides),
        "budget": experiment.budget_with(overrides).to_string(),
        "seed": overrides.seed.unwrap_or(experiment.seed),
        "fixed": fixed,
        "cells": samples.all,
        "summary": Summary::of(&samples.all),
    })
}

fn print_tables(
    out: &mut impl Write,
    experiment: &Experiment,
    samples: &Samples,
    here: &str,
    format: Format,
) -> anyhow::Result<()> {
    let mut page = Page { out, format };
    page.heading("# ", &experiment.title)?;
    page.paragraph(&format!("{}.", experiment.source))?;
    page.paragraph(&format!("Paper: {}.", experiment.setup))?;
    page.paragraph(&format!("Here: {here}."))?;
    page.paragraph(&experiment.budget_note)?;
    if let Some(fixed) = &samples.fixed {
        let n = fixed.n_matches;
        page.heading("## ", &format!("The first {n} matches of every cell"))?;
        page.paragraph(
            "The number is fixed in the file of the table. Outcomes have no influence on which matches count.",
        )?;
        let played = fixed.played();
        page.paragraph(&Summary::of(&played).words())?;
        if let Some(words) = fixed.left_out_words() {
            page.paragraph(&words)?;
        }
        page.table(&played)?;
        page.heading("## ", "All matches")?;
        page.paragraph(
            "Some cells were played on until their sign was clear. Such a cell overstates its difference and its significance.",
        )?;
    }
    page.paragraph(&Summary::of(&samples.all).words())?;
    page.table(&samples.all)
}

/// Paragraphs, headings and tables on a terminal or in Markdown.
struct Page<'a, W: Write> {
    out: &'a mut W,
    format: Format,
}

impl<W: Write> Page<'_, W> {
    fn heading(&mut self, mark: &str, text: &str) -> anyhow::Result<()> {
        let mark = if self.format == Format::Markdown {
            mark
        } else {
            ""
        };
        Ok(writeln!(self.out, "{mark}{text}\n")?)
    }

    fn paragraph(&mut self, text: &str) -> anyhow::Result<()> {
        let text = match self.format {
            Format::Terminal(width) => wrap(text, width).join("\n"),
            Format::Markdown => text.trim().to_owned(),
        };
        Ok(writeln!(self.out, "{text}\n")?)
    }

    fn table(&mut self, comparisons: &[Comparison]) -> anyhow::Result<()> {
        let text = comparison_table(comparisons).text(self.format);
        Ok(writeln!(self.out, "{text}")?)
    }
}

/// The number of matches per cell, and the budgets.
fn played_words(comparisons: &[Comparison]) -> String {
    let counts = || comparisons.iter().map(|cell| cell.matches);
    let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    let matches = match least == most {
        true => most.to_string(),
        false => format!("{least} to {most}"),
    };
    let mut budgets: Vec<String> = Vec::new();
    for budget in comparisons.iter().filter_map(|cell| cell.budget) {
        // Transitions differ by game.
        let words = match budget {
            Budget::Transitions(_) => "transitions that depend on the game".to_owned(),
            other => other.to_string(),
        };
        if !budgets.contains(&words) {
            budgets.push(words);
        }
    }
    let budgets = match budgets.is_empty() {
        true => String::new(),
        false => format!(", {} per move", budgets.join(" or ")),
    };
    format!("{matches} matches per cell{budgets}")
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
                    && !PRESETS
                        .iter()
                        .any(|preset| preset.name.starts_with("heuristic-"));
                assert!(is_to_come || Preset::parse(player).is_ok(), "{player}");
            }
            // The fewest matches of a cell that a sequential test ends, so that such cells have them, too.
            assert_eq!(experiment.fixed, Some(SPRT_GAMES), "{name}");
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
