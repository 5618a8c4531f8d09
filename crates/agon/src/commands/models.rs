//! `agon models`: lists the models that come with the program, and those in the user's folder.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use agon_search::model::{Model, shipped_models};
use anyhow::Context;
use serde_json::{Value, json};

use crate::models;

/// List the models that players find by themselves
#[derive(clap::Args)]
#[command(
    after_help = "The player `agon` goes by the model of its game that comes with the program, whatever a manager calls its fluents
and moves; agon:model=none switches that off. `agon player` looks into the folder first: $AGON_MODELS, or agon/models in
the data directory.

Examples:
  agon models
  agon train breakthrough --time 4m && agon models --json"
)]
pub(crate) struct Args {
    /// Print one JSON object per model
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut out = stdout().lock();
    list_shipped(args, &mut out)?;
    let folder =
        models::folder().context("there is no data directory for models: set AGON_MODELS")?;
    let mut is_good = true;
    let paths = paths(&folder)?;
    if !args.json {
        writeln!(out, "{} in {}", count(paths.len()), folder.display())?;
    }
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let file = path.display().to_string();
        match models::read(&path) {
            Ok(model) if args.json => {
                let bytes = fs::metadata(&path).map_or(0, |data| data.len());
                writeln!(out, "{}", object(&model, bytes, Some(&file)))?;
            }
            Ok(model) => writeln!(out, "  {name}: {}", line(&model))?,
            Err(error) => {
                is_good = false;
                let error = format!("{error:#}");
                match args.json {
                    true => writeln!(out, "{}", json!({ "file": file, "error": error }))?,
                    false => writeln!(out, "  {name}: {error}")?,
                }
            }
        }
    }
    Ok(ExitCode::from(u8::from(!is_good)))
}

/// Those that come with the program.
fn list_shipped(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    let shipped: Vec<(Model, usize)> = shipped_models().collect();
    if !args.json {
        writeln!(out, "{} that come with agon", count(shipped.len()))?;
    }
    for (model, bytes) in &shipped {
        match args.json {
            true => writeln!(out, "{}", object(model, *bytes as u64, None))?,
            false => writeln!(out, "  {}", line(model))?,
        }
    }
    Ok(())
}

/// A model as JSON; one without a file comes with the program.
fn object(model: &Model, bytes: u64, file: Option<&str>) -> Value {
    let record: BTreeMap<_, _> = model.record.iter().cloned().collect();
    json!({
        "file": file,
        "origin": if file.is_some() { "folder" } else { "shipped" },
        "game": model.game,
        "key": format!("{:016x}", model.key),
        "fluents": model.fluents.len(),
        "moves": model.moves.iter().map(Vec::len).sum::<usize>(),
        "bytes": bytes,
        "record": record,
    })
}

fn count(n: usize) -> String {
    match n {
        0 => "no models".to_owned(),
        1 => "1 model".to_owned(),
        n => format!("{n} models"),
    }
}

fn line(model: &Model) -> String {
    let fact = |name: &str| model.fact(name).unwrap_or("?").to_owned();
    let mut line = format!(
        "{}, {} positions, use {}",
        model.game,
        fact("positions"),
        fact("use")
    );
    if let (Some(score), Some(matches)) = (model.fact("score"), model.fact("matches")) {
        line += &format!(", {score} % of {matches} matches against agon without it");
    }
    line
}

fn paths(folder: &PathBuf) -> anyhow::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read {}", folder.display()));
        }
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|ending| ending == models::ENDING)
        })
        .collect();
    paths.sort_unstable();
    Ok(paths)
}
