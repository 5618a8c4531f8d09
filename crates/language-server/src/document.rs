//! One open text: what the editor has sent, read and checked, and places in it.
//!
//! Editors count lines from 0 and columns in UTF-16 units; the rest of Agon counts bytes.

use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agon_gdl::index::Index;
use agon_gdl::{
    Description, Diagnostic, Limits, Rules, Source, Span, Syntax, Word, check, parse, words,
};
use lsp_types::{Position, Range, TextDocumentContentChangeEvent};

use crate::Observation;
use crate::background::Statistics;
use crate::text::{Text, units_to_bytes};

/// A text with everything that is known about it.
pub(crate) struct Document {
    pub(crate) version: i32,
    text: Text,
    pub(crate) reading: Reading,
    /// Counts the texts of this server, so that late results of another text are dropped.
    pub(crate) generation: u64,
    /// Raised when the text has changed, so that the second thread drops what it does with the old one.
    pub(crate) stop: Arc<AtomicBool>,
    // What the second thread has found about this text.
    pub(crate) observed: Vec<Observation>,
    pub(crate) statistics: Option<Statistics>,
}

/// A text as read and checked.
pub(crate) struct Reading {
    pub(crate) description: Description,
    pub(crate) findings: Vec<Diagnostic>,
    /// Present if there are no errors.
    pub(crate) rules: Option<Arc<Rules>>,
    // Made when they are asked for, because findings do not wait for them.
    index: OnceCell<Index>,
    words: OnceCell<Vec<Word>>,
}

impl Reading {
    pub(crate) fn new(text: &str) -> Reading {
        let description = parse(text.as_bytes(), &Limits::default());
        let (rules, findings) = match check(&description) {
            Ok(rules) => {
                let findings = rules.warnings.iter().cloned().collect();
                (Some(Arc::new(rules)), findings)
            }
            Err(findings) => (None, findings.iter().cloned().collect()),
        };
        Reading {
            description,
            findings,
            rules,
            index: OnceCell::new(),
            words: OnceCell::new(),
        }
    }

    /// Where every name stands.
    pub(crate) fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::new(&self.description))
    }

    /// All words of the text in order.
    pub(crate) fn words(&self) -> &[Word] {
        self.words
            .get_or_init(|| words(self.source(), self.syntax()))
    }

    pub(crate) fn source(&self) -> &Source {
        &self.description.source
    }

    pub(crate) fn syntax(&self) -> Syntax {
        self.description.syntax
    }

    pub(crate) fn range(&self, span: Span) -> Range {
        Range::new(self.position(span.start), self.position(span.end))
    }

    pub(crate) fn position(&self, offset: u32) -> Position {
        position(self.source(), offset)
    }

    pub(crate) fn offset(&self, position: Position) -> u32 {
        offset(self.source(), position)
    }
}

impl Document {
    /// A text that is not read yet; see [`Document::read_again`].
    pub(crate) fn new(text: String, version: i32) -> Document {
        Document {
            version,
            reading: Reading::new(""),
            text: Text::new(text),
            generation: 0,
            stop: Arc::default(),
            observed: Vec::new(),
            statistics: None,
        }
    }

    pub(crate) fn text(&self) -> &str {
        self.text.as_str()
    }

    /// Applies changes in order; the text is read again by [`Document::read_again`].
    pub(crate) fn change(&mut self, changes: Vec<TextDocumentContentChangeEvent>, version: i32) {
        self.version = version;
        self.stop.store(true, Ordering::Relaxed);
        for change in changes {
            match change.range {
                None => self.text = Text::new(change.text),
                Some(range) => self.text.replace(range, &change.text),
            }
        }
    }

    /// Reads and checks the text as it is now.
    pub(crate) fn read_again(&mut self, generation: u64) {
        self.stop.store(true, Ordering::Relaxed);
        self.stop = Arc::default();
        self.reading = Reading::new(self.text.as_str());
        self.generation = generation;
        self.observed.clear();
        self.statistics = None;
    }
}

/// The place of a byte.
fn position(source: &Source, offset: u32) -> Position {
    let offset = source.text().floor_char_boundary(offset as usize);
    let line = source.line(offset as u32);
    let before = &source.text()[source.line_start(line) as usize..offset];
    let units = match before.is_ascii() {
        true => before.len(),
        false => before.chars().map(char::len_utf16).sum(),
    };
    Position::new(line - 1, units as u32)
}

/// The byte of a place; places behind the end of a line or of the text are the end.
fn offset(source: &Source, position: Position) -> u32 {
    if position.line >= source.n_lines() {
        return source.text().len() as u32;
    }
    let span = source.line_span(position.line + 1);
    span.start + units_to_bytes(source.slice(span), position.character) as u32
}

impl Drop for Document {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_units_of_sixteen_bits() {
        let source = Source::new("(é😀 x)\r\ny".as_bytes());
        for (byte, line, unit) in [(0, 0, 0), (3, 0, 2), (7, 0, 4), (8, 0, 5), (12, 1, 0)] {
            let place = Position::new(line, unit);
            assert_eq!(position(&source, byte), place);
            assert_eq!(offset(&source, place), byte);
        }
        assert_eq!(offset(&source, Position::new(0, 99)), 10);
        assert_eq!(offset(&source, Position::new(9, 0)), 13);
    }

    #[test]
    fn changes_are_applied_in_order() {
        let mut document = Document::new("(role a)\n(role b)".to_owned(), 1);
        let change = |line, from, to, text: &str| TextDocumentContentChangeEvent {
            range: Some(Range::new(
                Position::new(line, from),
                Position::new(line, to),
            )),
            range_length: None,
            text: text.to_owned(),
        };
        document.change(vec![change(0, 6, 7, "x\n"), change(2, 6, 7, "y")], 2);
        assert_eq!(document.text(), "(role x\n)\n(role y)");
    }
}
