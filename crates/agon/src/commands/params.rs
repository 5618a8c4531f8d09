//! `agon params`: every parameter of the players, and every preset.

use std::io::{Write, stdout};
use std::process::ExitCode;

use agon_search::{PRESETS, Params, Preset};
use agon_tournament::wrap;
use serde::Serialize;

use crate::terminal;

/// List the players (presets) and the parameters of their search
#[derive(clap::Args)]
#[command(
    after_help = "Commands that take a PLAYER accept a preset with changed parameters after a colon:
cadia-2008:exploration=50,mast_temperature=5.

Examples:
  agon params
  agon params --presets
  agon params --json"
)]
pub(crate) struct Args {
    /// List the presets and how they differ from the defaults
    #[arg(long)]
    presets: bool,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct KnobLine<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    default: &'a str,
    range: &'a str,
    about: &'a str,
}

#[derive(Serialize)]
struct PresetLine<'a> {
    name: &'a str,
    bot: &'a str,
    about: &'a str,
    differs: serde_json::Map<String, serde_json::Value>,
    is_default: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut out = stdout().lock();
    match (args.presets, args.json) {
        (false, false) => knobs(&mut out)?,
        (false, true) => {
            for knob in Params::knobs() {
                let line = KnobLine {
                    name: knob.name,
                    kind: knob.kind,
                    default: &knob.default,
                    range: &knob.range,
                    about: knob.about,
                };
                writeln!(out, "{}", serde_json::to_string(&line)?)?;
            }
        }
        (true, false) => presets(&mut out)?,
        (true, true) => {
            for preset in PRESETS {
                let set = preset.set.iter();
                let line = PresetLine {
                    name: preset.name,
                    bot: preset.bot,
                    about: preset.about,
                    differs: set
                        .map(|(name, value)| ((*name).to_owned(), (*value).into()))
                        .collect(),
                    is_default: preset.name == Preset::DEFAULT,
                };
                writeln!(out, "{}", serde_json::to_string(&line)?)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn knobs(out: &mut impl Write) -> std::io::Result<()> {
    for knob in Params::knobs() {
        let (name, default) = (knob.name, knob.default);
        writeln!(out, "{name} = {default}  ({}: {})", knob.kind, knob.range)?;
        indented(out, "    ", "    ", knob.about)?;
    }
    Ok(())
}

fn presets(out: &mut impl Write) -> std::io::Result<()> {
    let width = PRESETS.iter().map(|preset| preset.name.len()).max();
    let width = width.unwrap_or(0);
    for preset in PRESETS {
        let name = preset.name;
        let is_default = if name == Preset::DEFAULT {
            " The default."
        } else {
            ""
        };
        let (head, indent) = (format!("{name:width$}  "), " ".repeat(width + 2));
        let about = format!("{}{is_default}", preset.about);
        indented(out, &head, &indent, &about)?;
        let set: Vec<String> = preset
            .set
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        if !set.is_empty() {
            indented(out, &indent, &indent, &set.join(" "))?;
        }
    }
    Ok(())
}

/// A text in lines that fit the terminal, the first of which begins with `head` and the others with `indent`.
fn indented(out: &mut impl Write, head: &str, indent: &str, text: &str) -> std::io::Result<()> {
    let lines = wrap(text, terminal::width().saturating_sub(indent.len()));
    for (line_idx, line) in lines.iter().enumerate() {
        let head = if line_idx == 0 { head } else { indent };
        writeln!(out, "{head}{line}")?;
    }
    Ok(())
}
