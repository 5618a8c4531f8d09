//! Going to definitions and references, and renaming.

use std::collections::HashMap;

use agon_gdl::index::{NameKind, Occurrence};
use agon_gdl::print::spell;
use agon_gdl::{Kind, Limits, Severity, Span, SymbolTable, Syntax, WordKind, parse, words};
use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, Location, Position, PrepareRenameResponse, TextEdit,
    Uri, WorkspaceEdit,
};

use crate::document::{Document, Reading};

/// Where the name at a place is defined.
pub(crate) fn definitions(document: &Document, uri: &Uri, place: Position) -> Vec<Location> {
    let reading = &document.reading;
    let Some(name) = reading.index().at(reading.offset(place)) else {
        return Vec::new();
    };
    let spans = reading.index().definitions(name);
    let location = |span| Location::new(uri.clone(), reading.range(span));
    spans.into_iter().map(location).collect()
}

/// Every place of the name at a place.
pub(crate) fn references(
    document: &Document,
    uri: &Uri,
    place: Position,
    with_definitions: bool,
) -> Vec<Location> {
    let reading = &document.reading;
    let Some(name) = reading.index().at(reading.offset(place)) else {
        return Vec::new();
    };
    let same = reading.index().same(name);
    let wanted = same.filter(|other| with_definitions || !other.is_definition);
    wanted
        .map(|other| Location::new(uri.clone(), reading.range(other.span)))
        .collect()
}

/// The same places, to be marked while the cursor is on the name.
pub(crate) fn highlights(document: &Document, place: Position) -> Vec<DocumentHighlight> {
    let reading = &document.reading;
    let Some(name) = reading.index().at(reading.offset(place)) else {
        return Vec::new();
    };
    let mark = |other: &Occurrence| DocumentHighlight {
        range: reading.range(other.span),
        kind: Some(match other.is_definition {
            true => DocumentHighlightKind::WRITE,
            false => DocumentHighlightKind::READ,
        }),
    };
    reading.index().same(name).map(mark).collect()
}

/// The name that would be renamed, or why it cannot be.
pub(crate) fn prepare(document: &Document, place: Position) -> Option<PrepareRenameResponse> {
    let reading = &document.reading;
    let name = reading.index().at(reading.offset(place))?;
    (name.kind != NameKind::Keyword).then(|| PrepareRenameResponse::RangeWithPlaceholder {
        range: reading.range(name.span),
        placeholder: reading.source().slice(name.span).to_owned(),
    })
}

/// The edits that give the name at a place another spelling.
///
/// # Errors
/// A sentence, if the result would not be the same game.
pub(crate) fn rename(
    document: &Document,
    uri: &Uri,
    place: Position,
    wanted: &str,
) -> Result<WorkspaceEdit, String> {
    let reading = &document.reading;
    let name = reading
        .index()
        .at(reading.offset(place))
        .ok_or("there is no name here")?;
    if name.kind == NameKind::Keyword {
        return Err("a keyword of the language cannot be renamed".to_owned());
    }
    let plain = plain_name(reading.syntax(), name.kind, wanted.trim())?;
    taken(reading, name, &plain)?;
    let text = spell(&plain, reading.syntax());
    let spans: Vec<Span> = reading.index().same(name).map(|other| other.span).collect();
    stays_the_same_game(reading, &spans, &text)?;
    let edit = |&span: &Span| TextEdit::new(reading.range(span), text.clone());
    let edits: Vec<TextEdit> = spans.iter().map(edit).collect();
    // `Uri` has interior mutability only in its cache, which its hash does not use.
    #[expect(clippy::mutable_key_type, reason = "the protocol's type has such keys")]
    let changes = HashMap::from([(uri.clone(), edits)]);
    Ok(WorkspaceEdit::new(changes))
}

/// Refuses a name with which the sheet has errors that it did not have, such as a relation with two numbers of arguments, or
/// with which a role becomes chance or is it no longer.
fn stays_the_same_game(reading: &Reading, spans: &[Span], text: &str) -> Result<(), String> {
    let mut renamed = reading.source().text().to_owned();
    for span in spans.iter().rev() {
        renamed.replace_range(span.start as usize..span.end as usize, text);
    }
    let renamed = Reading::new(&renamed);
    let errors = |reading: &Reading| {
        let errors = reading.findings.iter();
        // One name for two relations is only a warning, and never what a rename is for.
        let errors = errors
            .filter(|finding| finding.severity == Severity::Error || finding.kind == Kind::Arity);
        errors
            .map(|error| error.message.clone())
            .collect::<Vec<_>>()
    };
    let (before, after) = (errors(reading), errors(&renamed));
    if after.len() > before.len() {
        let new = after.iter().find(|error| !before.contains(error));
        let new = new.or(after.first()).map_or("", String::as_str);
        return Err(format!(
            "with the name `{text}` the sheet would be wrong: {new}"
        ));
    }
    let chance = |reading: &Reading| reading.rules.as_ref().map(|rules| rules.random_role());
    match chance(reading) == chance(&renamed) {
        true => Ok(()),
        false => Err(format!(
            "with the name `{text}` it would be another game: `random` is chance"
        )),
    }
}

/// The spelling in a symbol table of a name that somebody typed.
fn plain_name(syntax: Syntax, kind: NameKind, wanted: &str) -> Result<String, String> {
    let is_variable = kind == NameKind::Variable;
    let bare = match (is_variable, syntax) {
        (true, _) => format!("?{}", wanted.trim_start_matches('?')),
        (false, Syntax::Infix) if wanted.len() > 1 && wanted.starts_with('\'') => {
            wanted[1..].trim_end_matches('\'').to_owned()
        }
        (false, _) => wanted.to_owned(),
    };
    // The reader decides whether it is one name.
    let test = agon_gdl::Source::new(bare.as_bytes());
    let found = words(&test, Syntax::Prefix);
    let expected = match is_variable {
        true => WordKind::Variable,
        false => WordKind::Name,
    };
    let is_one = matches!(&found[..], [word] if word.kind == expected && word.span.end as usize == bare.len());
    if !is_one || bare == "?" {
        return Err(format!(
            "`{wanted}` is not a {}: a name has no blanks, brackets or `;`, and only a variable begins with `?`",
            if is_variable { "variable" } else { "name" }
        ));
    }
    let symbol = SymbolTable::new().find(&bare);
    if symbol.is_some() {
        return Err(format!("`{wanted}` is a keyword of the language"));
    }
    // In infix text a variable has a capital letter, and the new name must read back as itself.
    let bare = match (is_variable, syntax) {
        (true, Syntax::Infix) => format!("?{}", spell(&bare, syntax)),
        _ => bare,
    };
    if syntax == Syntax::Infix {
        let fact = match is_variable {
            true => format!("p(a) :- q({}).", spell(&bare, syntax)),
            false => format!("p({}).", spell(&bare, syntax)),
        };
        let description = parse(fact.as_bytes(), &Limits::default());
        if description.findings.has_errors() || description.symbols.get(&bare).is_none() {
            return Err(format!("`{wanted}` cannot be written in infix text"));
        }
    }
    Ok(bare)
}

/// Refuses a name that something else of the same kind has: two things would become one.
fn taken(reading: &Reading, name: &Occurrence, wanted: &str) -> Result<(), String> {
    let symbols = &reading.description.symbols;
    let Some(symbol) = symbols.get(wanted).filter(|&symbol| symbol != name.symbol) else {
        return Ok(());
    };
    let other = Occurrence { symbol, ..*name };
    match reading.index().same(&other).next() {
        None => Ok(()),
        Some(other) => {
            let line = reading.source().line(other.span.start);
            Err(format!(
                "`{wanted}` is already the name of a {} (line {line}); rename that one first",
                other.kind
            ))
        }
    }
}
