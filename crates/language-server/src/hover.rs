//! Hover: what a name means here.

use agon_gdl::Syntax;
use agon_gdl::about::About;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};

use crate::background::Statistics;
use crate::document::Document;

/// The hover at a place.
pub(crate) fn hover(document: &Document, place: Position) -> Option<Hover> {
    let reading = &document.reading;
    let (description, offset) = (&reading.description, reading.offset(place));
    let about = About::at(description, reading.index(), reading.words(), offset)?;
    let mut lines = vec![format!("**`{}`**: {}", about.label(), about.meaning())];
    lines.extend(about.lines());
    if let Some(statistics) = &document.statistics {
        lines.extend(ground(statistics, &about, reading.syntax()));
    }
    let mut value = lines.join("  \n");
    if let Some(example) = about.example {
        value = format!("{value}\n\n```gdl\n{example}\n```");
    }
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value,
        }),
        range: Some(reading.range(about.span)),
    })
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
