//! Plants one error into correct rules, so that the checker finds it in the rule where it was planted.

use agon_gdl::index::{Index, NameKind, Occurrence};
use agon_gdl::made_up::MadeUp;
use agon_gdl::{Diagnostic, Limits, Source, check, parse};

/// Rules with one error.
pub(super) struct Planted {
    pub(super) text: String,
    /// The line on which the rule with the error begins, from 1.
    pub(super) line: u32,
    /// The kind of the finding.
    pub(super) kind: String,
    /// What kind of error it is, for the question.
    pub(super) hint: &'static str,
}

/// Errors that are tried before there is none.
const MOST_TRIES: usize = 80;

/// Plants an error; `None` if none is found that the checker sees in the right rule alone.
pub(super) fn plant(text: &str, source: &mut MadeUp) -> Option<Planted> {
    let description = parse(text.as_bytes(), &Limits::default());
    let index = Index::new(&description);
    let before = findings(text);
    let names = index.occurrences();
    for _ in 0..MOST_TRIES {
        let name = names[source.draw(names.len())];
        let Some((changed, hint)) = change(text, &index, &name, source) else {
            continue;
        };
        let (rule, _) = index.rule_spans(name.rule);
        let first = description.source.line(rule.start);
        let last = description.source.line(rule.end);
        let new: Vec<(u32, Diagnostic)> = findings(&changed)
            .into_iter()
            .filter(|(_, finding)| {
                let is_known = |(_, old): &(u32, Diagnostic)| {
                    old.kind == finding.kind && old.message == finding.message
                };
                !before.iter().any(is_known)
            })
            .collect();
        // Exactly the planted rule is pointed at.
        let is_here = |(line, _): &(u32, Diagnostic)| (first..=last).contains(line);
        if new.is_empty() || !new.iter().all(is_here) {
            continue;
        }
        return Some(Planted {
            text: changed,
            line: first,
            kind: new[0].1.kind.name().to_owned(),
            hint,
        });
    }
    None
}

/// All findings with their lines.
fn findings(text: &str) -> Vec<(u32, Diagnostic)> {
    let description = parse(text.as_bytes(), &Limits::default());
    let list = match check(&description) {
        Ok(rules) => rules.warnings,
        Err(findings) => findings,
    };
    let line =
        |finding: &Diagnostic, source: &Source| finding.place(source).map_or(0, |place| place.line);
    list.iter()
        .map(|finding| (line(finding, &description.source), finding.clone()))
        .collect()
}

/// The text with one change at a name, and what it is.
fn change(
    text: &str,
    index: &Index,
    name: &Occurrence,
    source: &mut MadeUp,
) -> Option<(String, &'static str)> {
    let (start, end) = (name.span.start as usize, name.span.end as usize);
    let replaced = |new: &str| format!("{}{new}{}", &text[..start], &text[end..]);
    match (source.draw(3), name.kind) {
        (0, _) => {
            let (rule, _) = index.rule_spans(name.rule);
            let end = rule.end as usize;
            let has_bracket = text[..end].ends_with(')');
            has_bracket.then(|| {
                let changed = format!("{}{}", &text[..end - 1], &text[end..]);
                (changed, "a closing bracket is missing")
            })
        }
        (_, NameKind::Variable) => {
            let fresh = format!("?{}", source.word());
            Some((
                replaced(&fresh),
                "one variable was replaced by another one, so that the rule is not safe",
            ))
        }
        (_, NameKind::Relation) if !name.is_definition => {
            let fresh = source.word();
            Some((
                replaced(&fresh),
                "one condition uses a relation that nothing defines",
            ))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_error_is_found_in_its_rule() {
        let game = agon::games::find("tic_tac_toe").expect("it is built in");
        let rules = check(&parse(game.sheet.as_bytes(), &Limits::default())).expect("it is valid");
        let text = rules.to_text(agon_gdl::Syntax::Prefix);
        let mut kinds = std::collections::BTreeSet::new();
        for seed in 0..30 {
            let planted = plant(&text, &mut MadeUp::new(seed)).expect("there is one");
            assert_ne!(planted.text, text);
            let line = planted.text.lines().nth(planted.line as usize - 1);
            assert!(line.expect("the line exists").starts_with('('), "{line:?}");
            kinds.insert(planted.kind);
        }
        assert!(kinds.len() >= 3, "{kinds:?}");
    }
}
