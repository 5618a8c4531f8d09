//! `agon show`: a game at a glance, or one of the stages it goes through.

use std::io::{Write, stdout};
use std::process::ExitCode;

use agon::library;
use agon_gdl::{Limits, RelationId, Rules, Syntax};
use clap::ValueEnum;

use crate::sheet::Sheet;

/// Show a game: a summary, or one of its stages as text
#[derive(clap::Args)]
#[command(after_help = "Examples:
  agon show tic_tac_toe
  agon show tic_tac_toe --stage rules --syntax infix")]
pub(crate) struct Args {
    /// A built-in game or the path of a rulesheet
    game: String,
    /// The stage to print
    #[arg(long, value_enum)]
    stage: Option<Stage>,
    /// How rules are written
    #[arg(long, value_enum, default_value = "prefix")]
    syntax: SyntaxArg,
}

#[derive(Clone, Copy, ValueEnum)]
enum Stage {
    /// The checked rules
    Rules,
}

#[derive(Clone, Copy, ValueEnum)]
enum SyntaxArg {
    /// (<= (p ?x) (q ?x))
    Prefix,
    /// p(X) :- q(X).
    Infix,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let limits = Limits::default();
    let sheet = Sheet::find(&args.game, &limits)?;
    let rules = sheet.rules(&limits)?;
    let syntax = match args.syntax {
        SyntaxArg::Prefix => Syntax::Prefix,
        SyntaxArg::Infix => Syntax::Infix,
    };
    let text = match args.stage {
        Some(Stage::Rules) => rules.to_text(syntax),
        None => summary(&sheet, &rules),
    };
    stdout().lock().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn summary(sheet: &Sheet, rules: &Rules) -> String {
    let built_in = library::find(&sheet.name);
    let title = built_in
        .as_ref()
        .map_or(sheet.name.as_str(), |game| game.about.title.as_str());
    let roles: Vec<String> = rules
        .roles
        .iter()
        .map(|role| rules.term_text(role))
        .collect();
    let n_facts = rules
        .rules
        .iter()
        .filter(|rule| rule.body.is_empty())
        .count();
    let n_own = rules.relations.len() - RelationId::N_KEYWORDS as usize;
    let mut text = format!("{title}\n");
    if let Some(game) = &built_in {
        text.push_str(&format!("  {}\n", game.about.description));
    }
    text.push_str(&format!("  roles      {}\n", roles.join(", ")));
    text.push_str(&format!(
        "  sheet      {} facts, {} rules, {n_own} relations of its own\n",
        n_facts,
        rules.rules.len() - n_facts
    ));
    text.push_str(&format!("  warnings   {}\n", rules.warnings.len()));
    if rules.is_gdl_two {
        text.push_str("  language   GDL-II: imperfect information, which Agon cannot play yet\n");
    }
    text
}
