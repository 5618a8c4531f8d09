//! `agon models`: lists the models in the user's folder.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use agon_search::model::Model;
use anyhow::Context;
use serde_json::json;

use crate::models;

/// List the models that players find by themselves
#[derive(clap::Args)]
#[command(
    after_help = "Players of `agon player` use the model of a game if the folder has one, whatever the manager calls its
fluents and moves; model=none switches that off. The folder is $AGON_MODELS, or agon/models in the data directory.

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
    let folder =
        models::folder().context("there is no data directory for models: set AGON_MODELS")?;
    let mut out = stdout().lock();
    let mut is_good = true;
    let paths = paths(&folder)?;
    if !args.json {
        writeln!(out, "{} in {}", count(paths.len()), folder.display())?;
    }
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match models::read(&path) {
            Ok(model) if args.json => {
                let record: BTreeMap<_, _> = model.record.iter().cloned().collect();
                let bytes = fs::metadata(&path).map_or(0, |data| data.len());
                let object = json!({
                    "file": path.display().to_string(),
                    "game": model.game,
                    "key": format!("{:016x}", model.key),
                    "fluents": model.fluents.len(),
                    "moves": model.moves.iter().map(Vec::len).sum::<usize>(),
                    "bytes": bytes,
                    "record": record,
                });
                writeln!(out, "{object}")?;
            }
            Ok(model) => writeln!(out, "  {name}: {}", line(&model))?,
            Err(error) => {
                is_good = false;
                match args.json {
                    true => writeln!(
                        out,
                        "{}",
                        json!({ "file": path.display().to_string(), "error": format!("{error:#}") })
                    )?,
                    false => writeln!(out, "  {name}: {error:#}")?,
                }
            }
        }
    }
    Ok(ExitCode::from(u8::from(!is_good)))
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
