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
struct ParamLine<'a> {
    name: &'a str,
    group: &'a str,
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
        (false, false) => params(&mut out)?,
        (false, true) => {
            for parameter in Params::parameters() {
                let line = ParamLine {
                    name: parameter.name,
                    group: &group(parameter.name),
                    kind: parameter.kind,
                    default: &parameter.default,
                    range: &parameter.range,
                    about: parameter.about,
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

/// Groups of parameters, by the first words of their names.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Tree and selection",
        &[
            "exploration",
            "values",
            "discount",
            "transpositions",
            "keep",
            "memory",
            "final",
            "simultaneous",
            "single",
        ],
    ),
    ("PUCT", &["puct"]),
    ("Playouts", &["playout", "decisive", "most"]),
    ("MAST", &["mast"]),
    ("FAST", &["fast"]),
    ("RAVE and GRAVE", &["rave", "grave"]),
    ("Early cutoffs", &["cutoff"]),
    ("Urgency of untried moves", &["urgency"]),
    ("Heuristic from the rules", &["heuristic"]),
    ("Proofs", &["solver", "sweep"]),
    ("Batches and threads", &["batch", "threads", "evaluator"]),
];

/// The technique that a parameter belongs to. A technique without a title here is called by the first word of its parameters.
fn group(name: &str) -> String {
    let first = name.split('_').next().unwrap_or(name);
    let group = GROUPS.iter().find(|(_, firsts)| firsts.contains(&first));
    group.map_or_else(|| first.to_uppercase(), |(title, _)| (*title).to_owned())
}

fn params(out: &mut impl Write) -> std::io::Result<()> {
    let params = Params::parameters();
    let mut titles: Vec<String> = GROUPS
        .iter()
        .map(|(title, _)| (*title).to_owned())
        .collect();
    for param in &params {
        let title = group(param.name);
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    for (idx, title) in titles.iter().enumerate() {
        writeln!(out, "{}{title}", if idx == 0 { "" } else { "\n" })?;
        for param in params.iter().filter(|param| group(param.name) == *title) {
            let (name, default) = (param.name, &param.default);
            writeln!(
                out,
                "  {name} = {default}  ({}: {})",
                param.kind, param.range
            )?;
            indented(out, "      ", "      ", param.about)?;
        }
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
