//! A GAME on the command line: the path of a rulesheet, or the name of a built-in game.

use std::fmt;
use std::fs::{self, File};
use std::io::{Read, stdin};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon::games::{self, About};
use agon_gdl::{Limits, Rules, check, parse, render};
use anyhow::{Context, bail};

use crate::terminal::render_options;

/// What standard input is called in messages.
const STDIN: &str = "<stdin>";

/// A rulesheet with errors. The call was right and the game is not, so the exit code is 1.
#[derive(Debug)]
pub(crate) struct Unplayable(String);

impl fmt::Display for Unplayable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unplayable {}

/// The bytes of a rulesheet, how it is called in messages, and its metadata.
pub(crate) struct Sheet {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) about: Option<About>,
}

impl Sheet {
    /// Finds a game: a file if there is one of this name, otherwise a built-in game. Metadata beside a file is read too; if
    /// it cannot be read, a warning is printed and the game is played without it.
    pub(crate) fn find(game: &str, limits: &Limits) -> anyhow::Result<Sheet> {
        if Path::new(game).exists() {
            let mut sheet = Sheet::read(game, limits)?;
            sheet.about = about_of(game);
            return Ok(sheet);
        }
        match games::find(game) {
            Some(built_in) => Ok(Sheet {
                name: built_in.name.to_owned(),
                bytes: built_in.sheet.as_bytes().to_vec(),
                about: Some(built_in.about),
            }),
            None => {
                let near = games::near(game);
                let near = match near.is_empty() {
                    true => String::new(),
                    false => format!("did you mean {}? ", near.join(" or ")),
                };
                bail!(
                    "there is no file and no built-in game called `{game}`; {near}`agon games` lists the built-in games"
                )
            }
        }
    }

    /// The same, but `-` is standard input.
    pub(crate) fn find_or_stdin(game: &str, limits: &Limits) -> anyhow::Result<Sheet> {
        if game != "-" {
            return Sheet::find(game, limits);
        }
        let bytes = read_within(stdin().lock(), limits).context("cannot read standard input")?;
        Ok(Sheet {
            name: STDIN.to_owned(),
            bytes,
            about: None,
        })
    }

    /// Reads a file without its metadata.
    pub(crate) fn read(path: &str, limits: &Limits) -> anyhow::Result<Sheet> {
        let file = File::open(path).with_context(|| format!("cannot open {path}"))?;
        let bytes = read_within(file, limits).with_context(|| format!("cannot read {path}"))?;
        Ok(Sheet {
            name: path.to_owned(),
            bytes,
            about: None,
        })
    }

    /// Checked rules of a game that Agon can play; otherwise the reason is the error.
    pub(crate) fn playable(&self, limits: &Limits) -> anyhow::Result<Arc<Rules>> {
        self.rules(limits).map(Arc::new)
    }

    /// Checked rules; findings that forbid play become the error.
    pub(crate) fn rules(&self, limits: &Limits) -> anyhow::Result<Rules> {
        let description = parse(&self.bytes, limits);
        check(&description).map_err(|findings| {
            let errors = findings
                .iter()
                .filter(|finding| finding.severity == agon_gdl::Severity::Error);
            let drawings: Vec<String> = errors
                .take(3)
                .map(|error| render(error, &description.source, &self.name, render_options()))
                .collect();
            let advice = format!("`agon check {}` shows everything", self.name);
            Unplayable(format!(
                "{} cannot be played\n{}\n{advice}",
                self.name,
                drawings.join("\n")
            ))
            .into()
        })
    }
}

/// Reads at most one byte more than the limit, so that the parser can say that it is too much.
fn read_within(input: impl Read, limits: &Limits) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input
        .take(limits.bytes as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The metadata file beside a rulesheet, if there is one.
pub(crate) fn metadata_path(sheet: &str) -> Option<PathBuf> {
    let path = Path::new(sheet).with_extension("toml");
    (path != Path::new(sheet) && path.is_file()).then_some(path)
}

/// The metadata beside a rulesheet. A game without a title is called like its file.
fn about_of(sheet: &str) -> Option<About> {
    let path = metadata_path(sheet)?;
    let about = fs::read_to_string(&path)
        .map_err(|error| format!(": {error}"))
        .and_then(|text| About::read(&text).map_err(|error| format!(":{error}")));
    match about {
        Ok(mut about) => {
            if about.title.is_empty() {
                let stem = path.file_stem().unwrap_or_default();
                about.title = stem.to_string_lossy().into_owned();
            }
            Some(about)
        }
        Err(error) => {
            let path = path.display();
            eprintln!(
                "agon: warning: {path}{error}\n  The game is played without this metadata; `agon check {path}` tells more."
            );
            None
        }
    }
}
