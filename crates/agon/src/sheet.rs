//! A GAME on the command line: the path of a rulesheet, or the name of a built-in game.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use agon::games::{self, About};
use agon_gdl::{Limits, Rules, check, parse, render};
use anyhow::{Context, bail};

use crate::terminal::render_options;

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
    /// Finds a game: a file if there is one of this name, otherwise a built-in game.
    pub(crate) fn find(game: &str, limits: &Limits) -> anyhow::Result<Sheet> {
        if Path::new(game).exists() {
            return Sheet::read(game, limits);
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
                    "there is no file and no built-in game called `{game}`; {near}`agon games` lists those built in"
                )
            }
        }
    }

    /// Reads a file, and no more of it than one byte over the limit, so that the parser can say so.
    pub(crate) fn read(path: &str, limits: &Limits) -> anyhow::Result<Sheet> {
        let file = File::open(path).with_context(|| format!("cannot open {path}"))?;
        let mut bytes = Vec::new();
        file.take(limits.bytes as u64 + 1)
            .read_to_end(&mut bytes)
            .with_context(|| format!("cannot read {path}"))?;
        Ok(Sheet {
            name: path.to_owned(),
            bytes,
            about: None,
        })
    }

    /// Checked rules of a game that Agon can play; otherwise the reason is the error.
    pub(crate) fn playable(&self, limits: &Limits) -> anyhow::Result<Arc<Rules>> {
        let rules = self.rules(limits)?;
        if rules.is_gdl_two {
            let reason = format!(
                "{} is a game with hidden information (GDL-II), which Agon cannot play yet",
                self.name
            );
            return Err(Unplayable(reason).into());
        }
        Ok(Arc::new(rules))
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
