//! `agon report`: tables, pictures and comma-separated values from a store of results, and import and export as JSON lines.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use agon_tournament::{
    Cross, CsvError, Format, MatchResult, MoveWriter, Rejected, Store, Tally, games, one_budget,
    overall, overall_table, plot, read_lines, score_table, tallies, workers, workers_table,
    write_cells, write_lines, write_matches,
};
use anyhow::{Context, bail};

use crate::commands::tournament::{Output, Shape};

/// Show the results in a store: tables, pictures, CSV, JSON lines
#[derive(clap::Args)]
#[command(
    after_help = "A cell is a game, a pair of players and a budget. Scores are those of the first player: 100 for a win, 50 for a
draw, 0 for a loss, with half the width of the 95 % confidence interval. `pairs` counts pairs of matches with swapped seats by
the points that the first player got: 0, ½, 1, 1½, 2. Intervals are computed from pairs where matches come in pairs. `faults`
are late, illegal and missing answers of the two players.

CSV files have one line of plain names, then one line per row; columns of numbers hold numbers only, and unknown values are
empty. docs/CSV.md describes all columns.

Examples:
  agon report results.sqlite
  agon report results.sqlite --format markdown --game breakthrough
  agon report results.sqlite --csv > cells.csv
  agon report results.sqlite --matches matches.csv --moves moves.csv
  agon report results.sqlite --workers
  agon report results.sqlite --without old-laptop
  agon report results.sqlite --plots pictures/
  agon report results.sqlite --export results.jsonl
  agon report new.sqlite --import results.jsonl"
)]
pub(crate) struct Args {
    /// The store of a tournament, or a file of JSON lines
    store: PathBuf,
    /// How tables are written
    #[arg(long, value_enum, default_value_t = Shape::Terminal)]
    format: Shape,
    /// Print one row of comma-separated values per cell; the same as --format csv
    #[arg(long, conflicts_with_all = ["format", "json"])]
    csv: bool,
    /// Print one JSON object per cell
    #[arg(long)]
    json: bool,
    /// Add the results in these files to the store first
    #[arg(long, value_name = "FILE.jsonl")]
    import: Vec<PathBuf>,
    /// Write all results to this file, one JSON object per match
    #[arg(long, value_name = "FILE.jsonl")]
    export: Option<PathBuf>,
    /// Write one row per match and player to this file; - is standard output
    #[arg(long, value_name = "FILE.csv")]
    matches: Option<PathBuf>,
    /// Write one row per move to this file; - is standard output
    #[arg(long, value_name = "FILE.csv")]
    moves: Option<PathBuf>,
    /// Write pictures into this folder, as SVG
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    /// Compare workers: matches, rejected results, speed, and scores against what the others got
    #[arg(long, conflicts_with = "csv")]
    workers: bool,
    /// Leave out the results of this worker; may be given several times
    #[arg(long, value_name = "WORKER")]
    without: Vec<String>,
    /// Only this game; may be given several times
    #[arg(long, value_name = "GAME")]
    game: Vec<String>,
    /// Only matches of this player; may be given several times
    #[arg(long, value_name = "PLAYER")]
    player: Vec<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    // They are read first, so that no store is made for files that cannot be imported.
    let imported = args.import.iter().map(|path| read_results(path));
    let imported: Vec<Vec<MatchResult>> = imported.collect::<anyhow::Result<_>>()?;
    let mut store = open(&args.store, !args.import.is_empty())?;
    let in_store = || args.store.display().to_string();
    for (path, results) in args.import.iter().zip(imported) {
        let n_new = store.import(&results).with_context(in_store)?;
        eprintln!(
            "{}: {} results, {n_new} of them new",
            path.display(),
            results.len()
        );
    }
    let mut results = store.results().with_context(in_store)?;
    results.retain(|result| args.includes(result));
    leave_out(&mut results, &args.without);
    if args.workers {
        let rejected = store.rejected().with_context(in_store)?;
        print_workers(&results, &rejected, args)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(path) = &args.export {
        let mut file = create(path)?;
        let written = write_lines(&results, &mut file);
        let written = written.and_then(|()| file.flush());
        written.with_context(|| format!("cannot write {}", path.display()))?;
        eprintln!("{}: {} results", path.display(), results.len());
    }
    if let Some(path) = &args.matches {
        write_csv(path, |out| write_matches(&results, out))?;
    }
    if let Some(path) = &args.moves {
        write_csv(path, |out| write_moves(&store, args, out))?;
    }
    let tallies = tallies(&results);
    if let Some(folder) = &args.plots {
        write_plots(folder, &tallies)?;
    }
    if args.is_table_wanted() {
        print(&tallies, args)?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Args {
    /// Tables are left out where only files were asked for that carry results, and where standard output has something else.
    fn is_table_wanted(&self) -> bool {
        let is_asked = self.csv || self.json || self.format != Shape::Terminal;
        let is_carried = self.export.is_some() || !self.import.is_empty();
        let has_output = [&self.matches, &self.moves]
            .into_iter()
            .flatten()
            .any(is_stdout);
        is_asked || !(is_carried || has_output)
    }

    /// Whether a result is of the games and players that were asked for.
    fn includes(&self, result: &MatchResult) -> bool {
        let fixture = &result.fixture;
        let is_game = self.game.is_empty() || self.game.contains(&fixture.game);
        let mut players = fixture.players.iter();
        let is_player =
            self.player.is_empty() || players.any(|player| self.player.contains(&player.name));
        is_game && is_player
    }
}

/// Drops the results of some workers and says so.
fn leave_out(results: &mut Vec<MatchResult>, without: &[String]) {
    for worker in without {
        let before = results.len();
        let is_of = |result: &MatchResult| {
            let by = result.played_by.as_ref();
            by.is_some_and(|by| by.worker == *worker)
        };
        results.retain(|result| !is_of(result));
        eprintln!(
            "agon: {} results of {worker} are left out",
            before - results.len()
        );
    }
}

fn print_workers(
    results: &[MatchResult],
    rejected: &[Rejected],
    args: &Args,
) -> anyhow::Result<()> {
    let rows = workers(results, rejected);
    let mut out = stdout().lock();
    match args.format.output(args.json) {
        Output::Tables(format) => {
            writeln!(out, "{}", workers_table(&rows).text(format))?;
            for one in rejected {
                writeln!(
                    out,
                    "rejected: {}, match {}: {}",
                    one.worker, one.key, one.reason
                )?;
            }
        }
        Output::Csv | Output::Json => {
            for row in rows {
                writeln!(out, "{}", serde_json::to_string(&row)?)?;
            }
            for one in rejected {
                writeln!(out, "{}", serde_json::json!({ "rejected": one }))?;
            }
        }
    }
    Ok(())
}

/// Opens a store, or reads JSON lines into one.
fn open(path: &Path, may_be_new: bool) -> anyhow::Result<Store> {
    if !path.exists() && !may_be_new {
        bail!(
            "there is no store {}; `agon tournament` makes one, and so does --import",
            path.display()
        );
    }
    // What is not a store is only read; results can be added to a store alone.
    let is_other = path.exists() && !is_database(path)?;
    if is_other && may_be_new && !is_empty(path)? {
        bail!(
            "{} is not a store: --import adds results to a store",
            path.display()
        );
    }
    if is_other && !may_be_new {
        let mut store = Store::in_memory()?;
        // A tournament that was killed before it wrote anything leaves an empty file.
        if is_empty(path)? {
            return Ok(store);
        }
        let results = read_results(path)?;
        store.import(&results)?;
        return Ok(store);
    }
    let store = match may_be_new {
        true => Store::open(path),
        false => Store::open_existing(path),
    };
    store.with_context(|| path.display().to_string())
}

/// Whether a file is a database.
fn is_database(path: &Path) -> anyhow::Result<bool> {
    Ok(beginning(path)?.starts_with(b"SQLite format 3"))
}

fn is_empty(path: &Path) -> anyhow::Result<bool> {
    Ok(beginning(path)?.is_empty())
}

/// The first bytes of a file.
fn beginning(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(16).read_to_end(&mut bytes));
    read.with_context(|| format!("cannot read {}", path.display()))?;
    Ok(bytes)
}

/// Results from a store or from JSON lines.
pub(crate) fn read_results(path: &Path) -> anyhow::Result<Vec<MatchResult>> {
    let words = || path.display().to_string();
    if is_database(path)? {
        let results = Store::open_existing(path).and_then(|store| store.results());
        return results.with_context(words);
    }
    let mut file = BufReader::new(File::open(path).with_context(words)?);
    let what = || {
        format!(
            "{} is neither a store nor a file of results as JSON lines",
            path.display()
        )
    };
    read_lines(&mut file).with_context(what)
}

fn create(path: &Path) -> anyhow::Result<BufWriter<File>> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(BufWriter::new(file))
}

fn is_stdout(path: &PathBuf) -> bool {
    path == Path::new("-")
}

/// Writes comma-separated values to a file or to standard output.
fn write_csv(
    path: &PathBuf,
    write: impl FnOnce(&mut dyn Write) -> Result<(), CsvError>,
) -> anyhow::Result<()> {
    if is_stdout(path) {
        return Ok(write(&mut stdout().lock())?);
    }
    let mut file = create(path)?;
    let written = write(&mut file).and_then(|()| Ok(file.flush()?));
    written.with_context(|| format!("cannot write {}", path.display()))?;
    eprintln!("{} is written", path.display());
    Ok(())
}

fn write_moves(store: &Store, args: &Args, out: &mut dyn Write) -> Result<(), CsvError> {
    let mut writer = MoveWriter::new(out)?;
    let mut written = Ok(());
    let read = store.each_move(|result, row| {
        if written.is_ok() && args.includes(result) {
            written = writer.push(result, row);
        }
    });
    read.map_err(std::io::Error::other)?;
    written?;
    writer.finish()
}

/// A bar per cell, and for each game a cross table and scores by budget where there are several.
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
    let shape = if args.csv { Shape::Csv } else { args.format };
    match shape.output(args.json) {
        Output::Tables(format) => print_tables(&mut out, tallies, format),
        Output::Csv => Ok(write_cells(tallies, &mut out)?),
        Output::Json => print_json(&mut out, tallies),
    }
}

/// One JSON object per cell.
pub(crate) fn print_json(out: &mut impl Write, tallies: &[Tally]) -> anyhow::Result<()> {
    for tally in tallies {
        writeln!(out, "{}", serde_json::to_string(tally)?)?;
    }
    Ok(())
}

/// Cells, pairs of players over all games, and cross tables.
pub(crate) fn print_tables(
    out: &mut impl Write,
    tallies: &[Tally],
    format: Format,
) -> anyhow::Result<()> {
    if tallies.is_empty() {
        writeln!(out, "no results yet")?;
        return Ok(());
    }
    let budget = one_budget(tallies);
    if let Some(budget) = budget {
        writeln!(out, "{budget} per move\n")?;
    }
    let table = score_table(tallies, budget.is_none());
    writeln!(out, "{}", table.text(format))?;
    let all = overall(tallies);
    if !all.is_empty() {
        writeln!(out, "{}", overall_table(&all).text(format))?;
    }
    for game in games(tallies) {
        if let Some(cross) = Cross::of(tallies, &game) {
            writeln!(out, "{}", cross.table().text(format))?;
        }
    }
    Ok(())
}
