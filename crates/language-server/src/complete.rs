//! Completion: the names that fit at a place.
//!
//! The words before the cursor tell in which brackets it is, whether or not the rule can be read. Where a literal is
//! expected, relations and keywords fit; where a term is expected, the variables of the rule and the names that stand in
//! the same argument place elsewhere.

use std::collections::BTreeSet;

use agon_gdl::index::{NameKind, Slot};
use agon_gdl::print::spell;
use agon_gdl::{Keyword, SymbolId, SymbolTable, Syntax, Word, WordKind};
use lsp_types::{CompletionItem, CompletionItemKind, CompletionTextEdit, Position, TextEdit};

use crate::document::{Document, Reading};

/// Words that are looked at before and behind the cursor.
const MOST_WORDS: usize = 4_000;
/// Names that are offered.
const MOST_ITEMS: usize = 500;

/// The names that fit at a place.
pub(crate) fn complete(document: &Document, place: Position) -> Vec<CompletionItem> {
    let reading = &document.reading;
    let offset = reading.offset(place);
    let n_before = reading
        .words()
        .partition_point(|word| word.span.start < offset);
    let (before, typed) = match reading.words()[..n_before].split_last() {
        Some((word, _)) if word.kind == WordKind::Comment && word.span.end >= offset => {
            return Vec::new();
        }
        Some((word, rest))
            if word.span.end >= offset
                && matches!(word.kind, WordKind::Name | WordKind::Variable) =>
        {
            (rest, word.span.start)
        }
        _ => (&reading.words()[..n_before], offset),
    };
    let levels = levels(reading, before);
    let names = match expected(reading, &levels) {
        Expected::Head => relations(reading, true),
        Expected::Literal => relations(reading, false),
        Expected::Term(slot, is_functor) => {
            let mut names = values(reading, slot, is_functor);
            if !is_functor {
                names.extend(variables(reading, n_before));
            }
            names
        }
    };
    let range = lsp_types::Range::new(reading.position(typed), place);
    let item = |(idx, (text, kind, detail)): (usize, (String, CompletionItemKind, String))| {
        CompletionItem {
            label: text.clone(),
            kind: Some(kind),
            detail: Some(detail),
            sort_text: Some(format!("{idx:04}")),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(range, text))),
            ..CompletionItem::default()
        }
    };
    names
        .into_iter()
        .take(MOST_ITEMS)
        .enumerate()
        .map(item)
        .collect()
}

type Name = (String, CompletionItemKind, String);

/// An open bracket before the cursor: the name that it belongs to, and the number of complete arguments before the
/// cursor; `None` if the cursor is where the name stands.
struct Level {
    functor: Option<SymbolId>,
    idx: Option<usize>,
}

enum Expected {
    Head,
    Literal,
    Term(Slot, bool),
}

/// The open brackets around the end of `words`, the innermost first.
fn levels(reading: &Reading, words: &[Word]) -> Vec<Level> {
    let mut levels = Vec::new();
    let mut depth = 0_usize;
    // Arguments and commas of the list that is being walked through, from its end.
    let (mut n_items, mut n_commas) = (0, 0);
    let oldest = words.len().saturating_sub(MOST_WORDS);
    for at in (oldest..words.len()).rev() {
        let word = &words[at];
        let text = reading.source().slice(word.span);
        match word.kind {
            WordKind::Comment => {}
            WordKind::Close => depth += 1,
            WordKind::Open if depth > 0 => {
                depth -= 1;
                n_items += usize::from(depth == 0);
            }
            WordKind::Open => {
                levels.push(level(reading, words, at, n_items, n_commas));
                // The list itself is being written: it is not complete.
                (n_items, n_commas) = (0, 0);
            }
            WordKind::Sign if text == "." && depth == 0 => break,
            WordKind::Sign => n_commas += usize::from(depth == 0 && text == ","),
            WordKind::Name | WordKind::Variable => n_items += usize::from(depth == 0),
        }
        let is_form = reading.syntax() == Syntax::Prefix
            && word.kind == WordKind::Open
            && reading.position(word.span.start).character == 0;
        if is_form {
            break;
        }
    }
    levels
}

fn level(reading: &Reading, words: &[Word], open: usize, n_items: usize, n_commas: usize) -> Level {
    let name = |word: &Word| {
        let text = reading.source().slice(word.span);
        reading.description.symbols.find(text.trim_matches('\''))
    };
    match reading.syntax() {
        Syntax::Prefix => {
            let functor = words
                .get(open + 1)
                .filter(|word| word.kind == WordKind::Name);
            Level {
                functor: functor.and_then(name).filter(|_| n_items > 0),
                idx: n_items.checked_sub(1),
            }
        }
        Syntax::Infix => {
            let before = open.checked_sub(1).map(|idx| &words[idx]);
            let glued = before.filter(|word| {
                word.kind == WordKind::Name && word.span.end == words[open].span.start
            });
            Level {
                functor: glued.and_then(name),
                idx: Some(n_commas),
            }
        }
    }
}

/// What fits at the innermost place.
fn expected(reading: &Reading, levels: &[Level]) -> Expected {
    let keyword = |level: &Level| level.functor.and_then(Keyword::of);
    let joins = |level: &Level| {
        let is_connective =
            keyword(level).is_some_and(|word| word.is_connective() && word != Keyword::Distinct);
        let is_bare = reading.syntax() == Syntax::Infix && level.functor.is_none();
        is_connective || is_bare
    };
    let Some(inner) = levels.first() else {
        return match reading.syntax() {
            Syntax::Prefix => Expected::Head,
            Syntax::Infix => Expected::Literal,
        };
    };
    // In prefix text the cursor may be where the name of a list stands: the list around it decides.
    let (levels, is_functor) = match (inner.idx, reading.syntax()) {
        (None, Syntax::Prefix) => (&levels[1..], true),
        _ => (levels, false),
    };
    let Some(inner) = levels.first() else {
        return Expected::Head;
    };
    let idx = inner.idx.unwrap_or(0);
    if keyword(inner) == Some(Keyword::Arrow) && idx == 0 {
        return Expected::Head;
    }
    if joins(inner) {
        return Expected::Literal;
    }
    let Some(functor) = inner.functor else {
        return Expected::Literal;
    };
    let is_atom = levels.get(1).is_none_or(joins);
    let slot = match is_atom {
        true => Slot::of_relation(functor, idx),
        false => Slot::of_term(functor, idx),
    };
    Expected::Term(slot, is_functor)
}

/// Keywords and relations.
fn relations(reading: &Reading, as_head: bool) -> Vec<Name> {
    use Keyword as K;
    const HEADS: &[K] = &[
        K::Arrow,
        K::Next,
        K::Legal,
        K::Goal,
        K::Terminal,
        K::Init,
        K::Role,
        K::Base,
        K::Input,
    ];
    const CONDITIONS: &[K] = &[
        K::True,
        K::Does,
        K::Not,
        K::Distinct,
        K::Or,
        K::Role,
        K::Legal,
        K::Goal,
        K::Terminal,
    ];
    let is_infix = reading.syntax() == Syntax::Infix;
    let keywords = if as_head && !is_infix {
        HEADS.to_vec()
    } else if is_infix {
        [HEADS, CONDITIONS].concat()
    } else {
        CONDITIONS.to_vec()
    };
    let mut told = BTreeSet::new();
    let keywords = keywords
        .into_iter()
        .filter(|keyword| !(is_infix && matches!(keyword, K::Arrow | K::Not | K::Or)))
        .filter(|keyword| told.insert(keyword.name()));
    let meaning = |keyword: K| keyword.meaning().to_owned();
    let mut names: Vec<Name> = keywords
        .map(|keyword| {
            (
                keyword.name().to_owned(),
                CompletionItemKind::KEYWORD,
                meaning(keyword),
            )
        })
        .collect();
    let mut seen = BTreeSet::new();
    for name in reading.index().occurrences() {
        if name.kind == NameKind::Relation && seen.insert((name.symbol, name.arity)) {
            let text = spell(
                reading.description.symbols.name(name.symbol),
                reading.syntax(),
            );
            let detail = format!("relation {text}/{}", name.arity);
            names.push((text, CompletionItemKind::FUNCTION, detail));
        }
    }
    names.dedup_by(|left, right| left.0 == right.0);
    names
}

/// Names that stand in an argument place elsewhere.
fn values(reading: &Reading, slot: Slot, is_functor: bool) -> Vec<Name> {
    let symbols: &SymbolTable = &reading.description.symbols;
    let values = reading.index().values(slot).iter();
    let values = values.filter(|(_, arity)| !is_functor || *arity > 0);
    let name = |&(symbol, arity): &(SymbolId, u32)| {
        let kind = reading
            .index()
            .term_kind(symbol)
            .unwrap_or(NameKind::Constant);
        let text = spell(symbols.name(symbol), reading.syntax());
        let item = match kind {
            NameKind::Fluent => CompletionItemKind::FIELD,
            NameKind::Move => CompletionItemKind::METHOD,
            NameKind::Role => CompletionItemKind::CLASS,
            _ if arity > 0 => CompletionItemKind::FUNCTION,
            _ => CompletionItemKind::ENUM_MEMBER,
        };
        let detail = match arity {
            0 => kind.to_string(),
            _ => format!("{kind} {text}/{arity}"),
        };
        // In prefix text a term with arguments needs its bracket too.
        let text = match (arity, is_functor, reading.syntax()) {
            (1.., false, Syntax::Prefix) => format!("({text}"),
            _ => text,
        };
        (text, item, detail)
    };
    values.map(name).collect()
}

/// The variables of the rule around a word, those nearest to it first.
fn variables(reading: &Reading, at: usize) -> Vec<Name> {
    let words = reading.words();
    let is_start = |word: &Word| match reading.syntax() {
        Syntax::Prefix => {
            word.kind == WordKind::Open && reading.position(word.span.start).character == 0
        }
        Syntax::Infix => word.kind == WordKind::Sign && reading.source().slice(word.span) == ".",
    };
    // The word at the cursor itself is not yet a variable of the rule.
    let before = words[..at.saturating_sub(1).min(words.len())].iter().rev();
    let before = before.take(MOST_WORDS).take_while(|word| !is_start(word));
    let behind = words[at.min(words.len())..].iter();
    let behind = behind.take(MOST_WORDS).take_while(|word| !is_start(word));
    let mut seen = BTreeSet::new();
    before
        .chain(behind)
        .filter(|word| word.kind == WordKind::Variable)
        .map(|word| reading.source().slice(word.span).to_owned())
        .filter(|name| seen.insert(name.clone()))
        .map(|name| (name, CompletionItemKind::VARIABLE, "variable".to_owned()))
        .collect()
}
