//! The outline of a text and what can be folded.

use std::collections::HashMap;

use agon_gdl::index::{NameKind, Occurrence};
use agon_gdl::{Span, WordKind};
use lsp_types::{DocumentSymbol, FoldingRange, FoldingRangeKind, SymbolKind};

use crate::document::Document;

/// Relations with the rules that define them as children, in the order of their first definitions.
pub(crate) fn symbols(document: &Document) -> Vec<DocumentSymbol> {
    let reading = &document.reading;
    let heads = reading.index().occurrences().iter();
    let heads = heads.filter(|name| {
        name.is_definition && matches!(name.kind, NameKind::Relation | NameKind::Keyword)
    });
    let mut groups: Vec<Vec<&Occurrence>> = Vec::new();
    let mut by_name: HashMap<(u32, u32), usize> = HashMap::new();
    for head in heads {
        let key = (head.symbol.0, head.arity);
        let group = *by_name.entry(key).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(head);
    }
    groups.iter().map(|group| symbol(document, group)).collect()
}

/// Rules of one relation that are listed.
const MOST_CHILDREN: usize = 500;

fn symbol(document: &Document, heads: &[&Occurrence]) -> DocumentSymbol {
    let reading = &document.reading;
    let first = heads[0];
    let kind = match first.kind {
        NameKind::Keyword => SymbolKind::KEY,
        _ => SymbolKind::FUNCTION,
    };
    let detail = match heads.len() {
        1 => "1 rule".to_owned(),
        n => format!("{n} rules"),
    };
    let name = reading.source().slice(first.span);
    let title = format!("{name}/{}", first.arity);
    let (whole, _) = reading.index().rule_spans(first.rule);
    let child = |head: &&Occurrence| {
        let (whole, text) = reading.index().rule_spans(head.rule);
        entry(
            document,
            one_line(reading.source().slice(text)),
            None,
            kind,
            whole,
            head.span,
            None,
        )
    };
    let children = match heads.len() {
        1 => None,
        _ => Some(heads.iter().take(MOST_CHILDREN).map(child).collect()),
    };
    entry(
        document,
        title,
        Some(detail),
        kind,
        whole,
        first.span,
        children,
    )
}

#[expect(deprecated, reason = "the field must be given all the same")]
fn entry(
    document: &Document,
    name: String,
    detail: Option<String>,
    kind: SymbolKind,
    whole: Span,
    selection: Span,
    children: Option<Vec<DocumentSymbol>>,
) -> DocumentSymbol {
    DocumentSymbol {
        name,
        detail,
        kind,
        tags: None,
        deprecated: None,
        range: document.reading.range(whole.to(selection)),
        selection_range: document.reading.range(selection),
        children,
    }
}

/// A head on one line, shortened.
fn one_line(text: &str) -> String {
    const MOST: usize = 80;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if line.is_empty() => "rule".to_owned(),
        None => line,
    }
}

/// Rules over several lines, and blocks of comments.
pub(crate) fn folds(document: &Document) -> Vec<FoldingRange> {
    let reading = &document.reading;
    let source = reading.source();
    let fold = |start: u32, end: u32, kind| FoldingRange {
        start_line: start - 1,
        end_line: end - 1,
        kind,
        ..FoldingRange::default()
    };
    let rules = reading.description.rules.iter().map(|rule| rule.span);
    let lines = |span: Span| (source.line(span.start), source.line(span.end));
    let mut folds: Vec<FoldingRange> = rules
        .map(lines)
        .filter(|(start, end)| start < end)
        .map(|(start, end)| fold(start, end, None))
        .collect();
    let comments = reading.words().iter();
    let comments = comments.filter(|word| word.kind == WordKind::Comment);
    let mut block: Option<(u32, u32)> = None;
    for line in comments.map(|word| source.line(word.span.start)) {
        match &mut block {
            Some((_, last)) if *last + 1 == line => *last = line,
            _ => {
                let ended = block
                    .replace((line, line))
                    .filter(|(first, last)| first < last);
                folds.extend(
                    ended.map(|(first, last)| fold(first, last, Some(FoldingRangeKind::Comment))),
                );
            }
        }
    }
    let ended = block.filter(|(first, last)| first < last);
    folds.extend(ended.map(|(first, last)| fold(first, last, Some(FoldingRangeKind::Comment))));
    folds
}
