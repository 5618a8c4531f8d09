//! Semantic highlighting: every word by what it is in this game.

use agon_gdl::index::{NameKind, Occurrence};
use agon_gdl::{Keyword, SymbolTable, Word, WordKind};
use lsp_types::{SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens};

use crate::document::Document;

/// The kinds of tokens, in the order of their numbers.
pub(crate) const TYPES: [SemanticTokenType; 9] = [
    SemanticTokenType::KEYWORD,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::METHOD,
    SemanticTokenType::CLASS,
    SemanticTokenType::ENUM_MEMBER,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::NUMBER,
    SemanticTokenType::COMMENT,
];
const NUMBER: u32 = 7;
const COMMENT: u32 = 8;

/// The modifiers, in the order of their bits.
pub(crate) const MODIFIERS: [SemanticTokenModifier; 1] = [SemanticTokenModifier::DEFINITION];

/// All tokens of a text.
pub(crate) fn tokens(document: &Document) -> SemanticTokens {
    let reading = &document.reading;
    let mut data = Vec::with_capacity(reading.words().len());
    let mut names = reading.index().occurrences().iter().peekable();
    let keywords = SymbolTable::new();
    let (mut line, mut character) = (0, 0);
    for word in reading.words() {
        while names
            .next_if(|name| name.span.start < word.span.start)
            .is_some()
        {}
        let name = names
            .peek()
            .copied()
            .filter(|name| name.span.start == word.span.start);
        let text = reading.source().slice(word.span);
        let Some((token_type, is_definition)) = classify(word, text, name, &keywords) else {
            continue;
        };
        let place = reading.position(word.span.start);
        let units: usize = text.chars().map(char::len_utf16).sum();
        let delta_line = place.line - line;
        data.push(SemanticToken {
            delta_line,
            delta_start: match delta_line {
                0 => place.character - character,
                _ => place.character,
            },
            length: units as u32,
            token_type,
            token_modifiers_bitset: u32::from(is_definition),
        });
        (line, character) = (place.line, place.character);
    }
    SemanticTokens {
        result_id: None,
        data,
    }
}

/// The kind of a word and whether it is a definition; nothing for brackets and signs.
fn classify(
    word: &Word,
    text: &str,
    name: Option<&Occurrence>,
    keywords: &SymbolTable,
) -> Option<(u32, bool)> {
    let is_keyword = |text: &str| keywords.find(text).and_then(Keyword::of).is_some();
    match (word.kind, name) {
        (WordKind::Comment, _) => Some((COMMENT, false)),
        (WordKind::Variable, _) => Some((6, false)),
        (WordKind::Open | WordKind::Close | WordKind::Sign, _) => None,
        (WordKind::Name, _) if text.parse::<i64>().is_ok() => Some((NUMBER, false)),
        (WordKind::Name, Some(name)) => {
            let token_type = match name.kind {
                NameKind::Keyword => 0,
                NameKind::Relation | NameKind::Function => 1,
                NameKind::Fluent => 2,
                NameKind::Move => 3,
                NameKind::Role => 4,
                NameKind::Constant => 5,
                NameKind::Variable => 6,
            };
            let is_definition = name.is_definition && name.kind != NameKind::Keyword;
            Some((token_type, is_definition))
        }
        // Connectives, and words of rules that cannot be read.
        (WordKind::Name, None) if is_keyword(text) => Some((0, false)),
        (WordKind::Name, None) => Some((5, false)),
    }
}
