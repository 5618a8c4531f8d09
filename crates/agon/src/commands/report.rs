//! `agon report`: tables and pictures from a store of results, and the way in and out of it as lines of JSON.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use agon_tournament::{
    Cross, MatchResult, MoveRow, Store, Tally, csv_cell, games, plot, read_lines, tallies,
    write_lines,
};
use anyhow::{Context, bail};

use crate::commands::tournament::{Shape, print_tables};

/// Show what is in a store of results: tables, pictures, lines of JSON
#[derive(clap::Args)]
#[command(after_help = "Examples:
  agon report results.sqlite
  agon report results.sqlite --format markdown --game breakthrough
  agon report results.sqlite --plots pictures/ --moves moves.csv
  agon report results.sqlite --export results.jsonl
  agon report new.sqlite --import results.jsonl")]
pub(crate) struct Args {
    /// The store of a tournament, or a file of JSON lines
    store: PathBuf,
    /// How tables are written
    #[arg(long, value_enum, default_value_t = Shape::Terminal)]
    format: Shape,
    /// Print one JSON object per game, pair and budget
    #[arg(long)]
    json: bool,
    /// Take results from these files into the store first
    #[arg(long, value_name = "FILE.jsonl")]
    import: Vec<PathBuf>,
    /// Write all results to this file, one JSON object per match
    #[arg(long, value_name = "FILE.jsonl")]
    export: Option<PathBuf>,
    /// Write statistics of every move to this file
    #[arg(long, value_name = "FILE.csv")]
    moves: Option<PathBuf>,
    /// Write pictures into this folder, as SVG
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    /// Only this game; may be given several times
    #[arg(long, value_name = "GAME")]
    game: Vec<String>,
    /// Only matches of this player; may be given several times
    #[arg(long, value_name = "PLAYER")]
    player: Vec<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut store = open(&args.store, !args.import.is_empty())?;
    for path in &args.import {
        let results = read_results(path)?;
        let n_new = store.import(&results)?;
        eprintln!(
            "{}: {} results, {n_new} of them new",
            path.display(),
            results.len()
        );
    }
    let mut results = store.results()?;
    results.retain(|result| args.takes(result));
    if let Some(path) = &args.export {
        let mut file = create(path)?;
        write_lines(&results, &mut file)?;
        file.flush()?;
        eprintln!("{}: {} results", path.display(), results.len());
    }
    if let Some(path) = &args.moves {
        write_moves(&store, path, args)?;
    }
    let tallies = tallies(&results);
    if let Some(folder) = &args.plots {
        write_plots(folder, &tallies)?;
    }
    // Whoever only carries results around need not see them.
    let is_asked = args.json || args.format != Shape::Terminal;
    let is_carried = args.export.is_some() || !args.import.is_empty();
    if is_asked || !is_carried {
        print(&tallies, args)?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn takes(&self, result: &MatchResult) -> bool {
        let fixture = &result.fixture;
        let is_game = self.game.is_empty() || self.game.contains(&fixture.game);
        let mut players = fixture.players.iter();
        let is_player =
            self.player.is_empty() || players.any(|player| self.player.contains(&player.name));
        is_game && is_player
    }
}

/// A store, or lines of JSON in its place.
fn open(path: &Path, may_be_new: bool) -> anyhow::Result<Store> {
    if !path.exists() && !may_be_new {
        bail!("there is no store {}", path.display());
    }
    if path.exists() && !is_store(path)? {
        let results = read_results(path)?;
        let mut store = Store::in_memory()?;
        store.import(&results)?;
        return Ok(store);
    }
    Store::open(path).with_context(|| path.display().to_string())
}

/// Whether a file is a database; an empty one may become one.
fn is_store(path: &Path) -> anyhow::Result<bool> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut head = Vec::new();
    file.take(16).read_to_end(&mut head)?;
    Ok(head.is_empty() || head.starts_with(b"SQLite format 3"))
}

/// Results from a store or from lines of JSON.
pub(crate) fn read_results(path: &Path) -> anyhow::Result<Vec<MatchResult>> {
    let words = || path.display().to_string();
    if is_store(path)? {
        return Ok(Store::open(path).with_context(words)?.results()?);
    }
    let mut file = BufReader::new(File::open(path).with_context(words)?);
    let what = || format!("{} is neither a store nor lines of results", path.display());
    read_lines(&mut file).with_context(what)
}

fn create(path: &Path) -> anyhow::Result<BufWriter<File>> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(BufWriter::new(file))
}

fn write_moves(store: &Store, path: &Path, args: &Args) -> anyhow::Result<()> {
    let mut file = create(path)?;
    writeln!(
        file,
        "game,first,second,budget,seed,match,step,role,player,move,legal,playouts,transitions,seconds,value"
    )?;
    let mut failed = None;
    let mut n_moves = 0;
    store.each_move(|result, row| {
        if failed.is_none() && args.takes(result) {
            n_moves += 1;
            failed = writeln!(file, "{}", move_line(result, row)).err();
        }
    })?;
    if let Some(error) = failed {
        return Err(error).with_context(|| format!("cannot write {}", path.display()));
    }
    file.flush()?;
    eprintln!("{}: {n_moves} moves", path.display());
    Ok(())
}

fn move_line(result: &MatchResult, row: &MoveRow) -> String {
    let fixture = &result.fixture;
    let [first, second] = fixture.players.each_ref().map(|of| of.name.as_str());
    let player = if row.seat == 0 { first } else { second };
    let or_nothing = |value: Option<String>| value.unwrap_or_default();
    let cells = [
        csv_cell(&fixture.game),
        csv_cell(first),
        csv_cell(second),
        fixture.budget.to_string(),
        fixture.seed.to_string(),
        fixture.index.to_string(),
        row.step.to_string(),
        csv_cell(&row.role),
        csv_cell(player),
        csv_cell(&row.of),
        or_nothing(row.legal.map(|legal| legal.to_string())),
        row.playouts.to_string(),
        row.transitions.to_string(),
        format!("{:.6}", row.seconds),
        or_nothing(row.value.map(|value| format!("{value:.3}"))),
    ];
    cells.join(",")
}

/// Bars of all cells, and per game a cross table and scores by budget where there are several.
fn write_plots(folder: &Path, tallies: &[Tally]) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut pictures = vec![("bars.svg".to_owned(), plot::bars("Scores", tallies))];
    for game in games(tallies) {
        let word = |c: char| !c.is_alphanumeric() && c != '_' && c != '-';
        let name = game.replace(word, "_");
        if let Some(cross) = Cross::of(tallies, &game) {
            pictures.push((format!("cross-{name}.svg"), plot::cross(&cross)));
        }
        if let Some(text) = plot::budgets(&game, tallies) {
            pictures.push((format!("budget-{name}.svg"), text));
        }
    }
    for (name, text) in pictures {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        eprintln!("{}", path.display());
    }
    Ok(())
}

fn print(tallies: &[Tally], args: &Args) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    match args.format.format(args.json) {
        Some(format) => print_tables(&mut out, tallies, format),
        None => {
            for tally in tallies {
                writeln!(out, "{}", serde_json::to_string(tally)?)?;
            }
            Ok(())
        }
    }
}
