//! The text of a rulesheet, and positions in it.
//!
//! In: the bytes of a file or of a network message. Out: a [`Source`], which is always valid UTF-8, and turns byte
//! offsets into lines and columns. Rulesheets are untrusted input, so decoding never fails: bytes that are not UTF-8
//! become U+FFFD and are recorded. The readers decide whether they matter (in a comment they do not).

use std::fmt;

/// A range of bytes in a [`Source`]; every node of a rulesheet has one, so that any message can point at its line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The span of the bytes `start..end`.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Span {
        Span {
            start: start as u32,
            end: end as u32,
        }
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// A line and a column for messages: both count from 1, columns count characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// A byte of the input that is not UTF-8.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadByte {
    /// The span of its replacement character in the text.
    pub span: Span,
    /// Its offset in the original input.
    pub offset: usize,
    /// The byte itself.
    pub byte: u8,
}

/// The text of one rulesheet.
pub struct Source {
    text: String,
    line_starts: Vec<u32>,
    bad_bytes: Vec<BadByte>,
}

impl Source {
    /// Maximum number of bad bytes that are recorded: a file with more is not text.
    const MOST_BAD_BYTES: usize = 10_000;

    /// Decodes any bytes; see the module documentation for bytes that are not UTF-8.
    ///
    /// # Panics
    /// If there are 4 GiB or more: callers check their size limit before they read (see `Limits`).
    #[must_use]
    pub fn new(bytes: &[u8]) -> Source {
        assert!(
            u32::try_from(bytes.len().saturating_mul(3)).is_ok(),
            "a source must be smaller than 1 GiB"
        );
        let mut text = String::with_capacity(bytes.len());
        let mut bad_bytes = Vec::new();
        let mut offset = 0;
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            offset += chunk.valid().len();
            for &byte in chunk.invalid() {
                let start = text.len();
                text.push(char::REPLACEMENT_CHARACTER);
                if bad_bytes.len() < Source::MOST_BAD_BYTES {
                    let span = Span::new(start, text.len());
                    bad_bytes.push(BadByte { span, offset, byte });
                }
                offset += 1;
            }
        }
        let line_starts = line_starts(&text);
        Source {
            text,
            line_starts,
            bad_bytes,
        }
    }

    /// The span of the name of an atom or a term: its first word.
    #[must_use]
    pub(crate) fn name_span(&self, span: Span) -> Span {
        let text = self.slice(span);
        let is_blank = |c: char| c == '(' || c.is_whitespace();
        let start = text.find(|c| !is_blank(c)).unwrap_or(0);
        let is_end = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',');
        let length = text[start..].find(is_end).unwrap_or(text.len() - start);
        let start = span.start as usize + start;
        Span::new(start, start + length)
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a span.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// Bytes of the input that were not UTF-8, in order, up to a limit.
    #[must_use]
    pub fn bad_bytes(&self) -> &[BadByte] {
        &self.bad_bytes
    }

    /// Whether there may be more of them than those recorded.
    #[must_use]
    pub fn has_more_bad_bytes(&self) -> bool {
        self.bad_bytes.len() >= Source::MOST_BAD_BYTES
    }

    /// Number of lines; an empty text has one.
    #[must_use]
    pub fn n_lines(&self) -> u32 {
        self.line_starts.len() as u32
    }

    /// Line and column of a byte offset.
    #[must_use]
    pub fn place(&self, offset: u32) -> Place {
        let line = self.line(offset);
        let line_start = self.line_start(line) as usize;
        let upto = self.text.floor_char_boundary(offset as usize);
        let column = self.text[line_start..upto].chars().count() as u32 + 1;
        Place { line, column }
    }

    /// Line of a byte offset, from 1; cheaper than its place if lines are long.
    #[must_use]
    pub fn line(&self, offset: u32) -> u32 {
        self.line_starts.partition_point(|&start| start <= offset) as u32
    }

    /// Offset at which a line starts; lines count from 1.
    #[must_use]
    pub fn line_start(&self, line: u32) -> u32 {
        self.line_starts[line as usize - 1]
    }

    /// The span of a line without its line ending.
    #[must_use]
    pub fn line_span(&self, line: u32) -> Span {
        let start = self.line_start(line) as usize;
        let end = self
            .line_starts
            .get(line as usize)
            .map_or(self.text.len(), |&next| next as usize);
        Span::new(
            start,
            start + self.text[start..end].trim_end_matches(['\n', '\r']).len(),
        )
    }
}

/// Offsets of line starts. A line ends with LF, CR LF or a lone CR, as in the comment stripper of the reference system.
fn line_starts(text: &str) -> Vec<u32> {
    let bytes = text.as_bytes();
    let mut starts = vec![0];
    for (idx, &byte) in bytes.iter().enumerate() {
        if byte == b'\n' || (byte == b'\r' && bytes.get(idx + 1) != Some(&b'\n')) {
            starts.push(idx as u32 + 1);
        }
    }
    starts
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Source({} bytes, {} lines)",
            self.text.len(),
            self.n_lines()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_of_every_kind_and_characters() {
        let source = Source::new("a\r\nb\rç d\n".as_bytes());
        let at = |offset| (source.place(offset).line, source.place(offset).column);
        assert_eq!(
            [at(0), at(3), at(5), at(8)],
            [(1, 1), (2, 1), (3, 1), (3, 3)]
        );
        assert_eq!(source.n_lines(), 4);
        assert_eq!(source.slice(source.line_span(1)), "a");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced_and_recorded() {
        let source = Source::new(b"ab\xFFc");
        assert_eq!(source.text(), "ab\u{FFFD}c");
        assert_eq!(
            source.bad_bytes(),
            [BadByte {
                span: Span::new(2, 5),
                offset: 2,
                byte: 0xFF
            }]
        );
    }
}
