//! Hover: what a name means here.

use agon_gdl::index::{About, Change, NameKind, Occurrence};
use agon_gdl::{Keyword, Syntax};
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};

use crate::background::Statistics;
use crate::document::Document;

/// Lines of definitions that are named before the rest is only counted.
const MOST_LINES: usize = 8;

/// The hover at a place.
pub(crate) fn hover(document: &Document, place: Position) -> Option<Hover> {
    let reading = &document.reading;
    let name = reading.index.at(reading.offset(place))?;
    let about = reading.index.about(name, &reading.description);
    let mut lines = vec![format!("**{}**: {}", title(&about), meaning(name, &about))];
    if !matches!(name.kind, NameKind::Keyword | NameKind::Variable) {
        lines.extend(definitions(document, &about));
    }
    lines.push(match about.n_uses {
        0 => "not used".to_owned(),
        1 => "used once".to_owned(),
        n => format!("used {n} times"),
    });
    if let Some(statistics) = &document.statistics {
        lines.extend(ground(statistics, &about, reading.syntax()));
    }
    let mut value = lines.join("  \n");
    if let Some(example) = about.example.filter(|_| name.kind != NameKind::Keyword) {
        value = format!("{value}\n\n```gdl\n{example}\n```");
    }
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value,
        }),
        range: Some(reading.range(name.span)),
    })
}

fn title(about: &About) -> String {
    let arities: Vec<String> = about.arities.iter().map(u32::to_string).collect();
    match about.kind {
        NameKind::Variable | NameKind::Constant | NameKind::Role => format!("`{}`", about.name),
        _ => format!("`{}/{}`", about.name, arities.join(",")),
    }
}

fn meaning(name: &Occurrence, about: &About) -> String {
    match about.kind {
        NameKind::Keyword => keyword_meaning(Keyword::of(name.symbol)).to_owned(),
        NameKind::Relation if about.definitions.is_empty() => {
            "a relation that nothing defines, so it never holds".to_owned()
        }
        NameKind::Relation => match about.change {
            Some(Change::Moves) => "a relation that depends on the moves of the step".to_owned(),
            Some(Change::State) => "a relation that changes with the state".to_owned(),
            _ => "a static relation: the same in every state".to_owned(),
        },
        NameKind::Fluent => "a fluent: a part of the state".to_owned(),
        NameKind::Move => "a move".to_owned(),
        NameKind::Role => "a role".to_owned(),
        NameKind::Function => "a function".to_owned(),
        NameKind::Constant => "a constant".to_owned(),
        NameKind::Variable => "a variable of this rule".to_owned(),
    }
}

/// What a keyword means.
pub(crate) fn keyword_meaning(keyword: Option<Keyword>) -> &'static str {
    match keyword {
        Some(Keyword::Role) => "`(role r)`: r is a role",
        Some(Keyword::Init) => "`(init f)`: f holds in the initial state",
        Some(Keyword::True) => "`(true f)`: f holds in this state",
        Some(Keyword::Next) => "`(next f)`: f holds in the next state",
        Some(Keyword::Legal) => "`(legal r m)`: role r may make move m",
        Some(Keyword::Does) => "`(does r m)`: role r makes move m in this step",
        Some(Keyword::Goal) => "`(goal r v)`: this state is worth v, from 0 to 100, to role r",
        Some(Keyword::Terminal) => "`terminal`: the match is over",
        Some(Keyword::Base) => "`(base f)`: f may hold in some state",
        Some(Keyword::Input) => "`(input r m)`: m may be a move of role r",
        Some(Keyword::Sees) => "`(sees r p)`: role r perceives p (GDL-II)",
        Some(Keyword::Distinct) => "`(distinct a b)`: the terms differ",
        Some(Keyword::Not) => "`(not p)`: p does not hold",
        Some(Keyword::Or) => "`(or p q …)`: at least one holds",
        Some(Keyword::And) => "`(and p q …)`: all hold",
        Some(Keyword::Arrow) => "`(<= head body…)`: the head holds if all of the body holds",
        None => "a keyword",
    }
}

/// Who defines it.
fn definitions(document: &Document, about: &About) -> Option<String> {
    let counts = [(about.n_facts, "fact"), (about.n_rules, "rule")];
    let counts = counts.iter().filter(|(n, _)| *n > 0);
    let counts: Vec<String> = counts
        .map(|(n, what)| format!("{n} {what}{}", if *n == 1 { "" } else { "s" }))
        .collect();
    if counts.is_empty() {
        return None;
    }
    let source = document.reading.source();
    let lines = about.definitions.iter().map(|span| source.line(span.start));
    let mut lines: Vec<u32> = lines.collect();
    lines.dedup();
    let more = if lines.len() > MOST_LINES { " …" } else { "" };
    let lines: Vec<String> = lines.iter().take(MOST_LINES).map(u32::to_string).collect();
    let (s, lines) = (if lines.len() == 1 { "" } else { "s" }, lines.join(", "));
    Some(format!(
        "defined by {} (line{s} {lines}{more})",
        counts.join(" and ")
    ))
}

/// How many ground atoms it has.
fn ground(statistics: &Statistics, about: &About, syntax: Syntax) -> Option<String> {
    let (n, example) = statistics.ground_atoms(&about.name, about.kind)?;
    let example = match syntax {
        Syntax::Prefix => format!(", such as `{example}`"),
        Syntax::Infix => String::new(),
    };
    Some(format!("{n} of them after grounding{example}"))
}
