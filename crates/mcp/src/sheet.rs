//! Games by name or by text, and their rules in every form.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_engine::Game;
use agon_games::{About, find, games, near};
use agon_gdl::obfuscate::{Naming, Obfuscation, obfuscate};
use agon_gdl::{
    Diagnostic, Diagnostics, Limits, RelationId, Rules, Source, Syntax, Term, check, parse,
};
use serde_json::{Value, json};

/// The largest rulesheet that is accepted.
const MOST_BYTES: usize = 1 << 20;
/// Grounding ends after this time; the interpreter plays the game then.
const GROUND_TIME: Duration = Duration::from_secs(10);

/// A game as it was asked for.
pub(crate) struct Sheet {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) rules: Arc<Rules>,
    pub(crate) about: Option<About>,
}

/// How the names of a game are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Names {
    pub(crate) naming: Naming,
    pub(crate) seed: u64,
}

impl Sheet {
    /// A built-in game, or rules that were sent.
    pub(crate) fn find(
        name: Option<&str>,
        text: Option<&str>,
        names: Names,
    ) -> Result<Sheet, String> {
        let sheet = match (name, text) {
            (Some(_), Some(_)) => return Err("give either `game` or `rules`, not both".to_owned()),
            (None, None) => {
                return Err(
                    "give `game`, the name of a built-in game, or `rules`, the text of a rulesheet"
                        .to_owned(),
                );
            }
            (None, Some(text)) => Sheet::read("the rules", text, None)?,
            (Some(name), None) => {
                let game = find(name).ok_or_else(|| unknown(name))?;
                Sheet::read(game.name, game.sheet, Some(game.about))?
            }
        };
        match names.naming {
            Naming::Original => Ok(sheet),
            _ => sheet.renamed(names),
        }
    }

    fn read(name: &str, text: &str, about: Option<About>) -> Result<Sheet, String> {
        if text.len() > MOST_BYTES {
            return Err(format!("the rules are longer than {MOST_BYTES} bytes"));
        }
        let description = parse(text.as_bytes(), &Limits::default());
        let rules = check(&description).map_err(|findings| {
            let first = findings.iter().next();
            let first = first.map(|finding| finding_text(finding, &description.source));
            format!(
                "{name} cannot be played: {}. `check_rules` shows everything",
                first.unwrap_or_default()
            )
        })?;
        Ok(Sheet {
            name: name.to_owned(),
            text: text.to_owned(),
            rules: Arc::new(rules),
            about,
        })
    }

    /// The same game with other names, in another order.
    fn renamed(&self, names: Names) -> Result<Sheet, String> {
        let options = Obfuscation::full(names.seed, names.naming);
        let text = obfuscate(&self.rules, &options, &goal_values(&self.rules)).text;
        Sheet::read("the renamed game", &text, None)
    }

    pub(crate) fn text_as(&self, syntax: Syntax) -> String {
        match syntax {
            Syntax::Prefix => self.text.clone(),
            Syntax::Infix => self.rules.to_text(Syntax::Infix),
        }
    }

    pub(crate) fn compile(&self) -> Result<Arc<Game>, String> {
        let deadline = Instant::now() + GROUND_TIME;
        let stop = || Instant::now() > deadline;
        let game = Game::compile(Arc::clone(&self.rules), &Default::default(), &stop);
        game.map(Arc::new)
            .map_err(|error| format!("{} cannot be played: {error}", self.name))
    }
}

fn unknown(name: &str) -> String {
    let near = near(name);
    let hint = match near.is_empty() {
        true => "`list_games` names them".to_owned(),
        false => format!("did you mean {}?", near.join(" or ")),
    };
    format!("there is no built-in game called `{name}`; {hint}")
}

/// Names that may be goal values: those of the goal rules, or all numbers from 0 to 100 if a rule computes them.
fn goal_values(rules: &Rules) -> Vec<String> {
    let heads = rules.rules.iter().map(|rule| &rule.head);
    let heads = heads.filter(|head| head.relation == RelationId::GOAL);
    let values: Vec<&Term> = heads.map(|head| &head.args[1]).collect();
    if values
        .iter()
        .all(|value| matches!(value, Term::Constant(_)))
    {
        return values.iter().map(|value| rules.term_text(value)).collect();
    }
    let names = rules.symbols.iter().map(|(_, name)| name);
    let numbers = names.filter(|name| name.parse::<u8>().is_ok_and(|value| value <= 100));
    numbers.map(str::to_owned).collect()
}

fn finding_text(finding: &Diagnostic, source: &Source) -> String {
    match finding.place(source) {
        Some(place) => format!("line {}: {}", place.line, finding.message),
        None => finding.message.clone(),
    }
}

/// The roles that players take: all except chance.
pub(crate) fn playing_roles(rules: &Rules) -> Vec<String> {
    let roles = rules.roles.iter().enumerate();
    let roles = roles.filter(|&(idx, _)| rules.random_role() != Some(idx));
    roles.map(|(_, role)| rules.term_text(role)).collect()
}

/// All built-in games.
pub(crate) fn list() -> Value {
    let games = games().into_iter().map(|game| {
        let rules = check(&parse(game.sheet.as_bytes(), &Limits::default())).ok();
        let roles = rules.as_ref().map(playing_roles).unwrap_or_default();
        let is_hidden = rules.is_some_and(|rules| rules.is_gdl2());
        json!({"name": game.name, "title": game.about.title, "roles": roles, "hiddenInformation": is_hidden, "bytes": game.sheet.len()})
    });
    json!({"games": games.collect::<Vec<_>>()})
}

/// The findings about a text.
pub(crate) fn check_text(text: &str) -> Result<Value, String> {
    if text.len() > MOST_BYTES {
        return Err(format!("the rules are longer than {MOST_BYTES} bytes"));
    }
    let description = parse(text.as_bytes(), &Limits::default());
    let (is_ok, findings): (bool, Diagnostics) = match check(&description) {
        Ok(rules) => (true, rules.warnings),
        Err(findings) => (false, findings),
    };
    let source = &description.source;
    let findings = findings.iter().take(100).map(|finding| {
        let place = finding.place(source);
        json!({
            "severity": match finding.severity { agon_gdl::Severity::Error => "error", agon_gdl::Severity::Warning => "warning" },
            "kind": finding.kind.name(),
            "line": place.map_or(0, |place| place.line),
            "column": place.map_or(0, |place| place.column),
            "message": finding.message,
            "help": finding.help,
            "fixes": finding.fixes.iter().map(|fix| fix.title.clone()).collect::<Vec<_>>(),
        })
    });
    Ok(json!({"ok": is_ok, "findings": findings.collect::<Vec<_>>()}))
}
