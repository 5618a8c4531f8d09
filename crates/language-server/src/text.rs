//! The text of an editor while it changes.
//!
//! In: changes at places in lines and UTF-16 units. Out: the text. The starts of its lines are kept, and a change counts
//! only the lines that it touches again, so that a message with a thousand changes of a large text takes no longer than one.

use std::ops::Range;

use lsp_types::Position;

/// A text and where its lines start.
pub(crate) struct Text {
    text: String,
    /// A line ends with LF, CR LF or a lone CR, as in `agon_gdl::Source`.
    starts: Vec<usize>,
}

impl Text {
    pub(crate) fn new(text: String) -> Text {
        let starts = std::iter::once(0).chain(line_starts(&text, 0..text.len()));
        Text {
            starts: starts.collect(),
            text,
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Replaces what is between two places; places behind the end of a line or of the text are the end.
    pub(crate) fn replace(&mut self, range: lsp_types::Range, new: &str) {
        let start = self.offset(range.start);
        let end = self.offset(range.end).max(start);
        self.text.replace_range(start..end, new);
        // The line before counts too: a line feed may join the carriage return at its end.
        let first = self.starts.partition_point(|&at| at <= start);
        let first = first.saturating_sub(2);
        let last = self.starts.partition_point(|&at| at <= end);
        for at in &mut self.starts[last..] {
            *at = *at - (end - start) + new.len();
        }
        let until = self.starts.get(last).copied();
        let region = self.starts[first]..until.unwrap_or(self.text.len());
        let starts = line_starts(&self.text, region);
        // The first line of the region stays where it is, and the start of the line behind the region is known.
        let starts: Vec<usize> = starts.filter(|&at| Some(at) != until).collect();
        self.starts.splice(first + 1..last, starts);
    }

    /// The byte of a place.
    fn offset(&self, place: Position) -> usize {
        let line = place.line as usize;
        let Some(&start) = self.starts.get(line) else {
            return self.text.len();
        };
        let end = self.starts.get(line + 1).copied();
        let line = self.text[start..end.unwrap_or(self.text.len())].trim_end_matches(['\n', '\r']);
        start + units_to_bytes(line, place.character)
    }
}

/// The number of bytes in the first `units` UTF-16 units of a line; all of them if it has fewer.
pub(crate) fn units_to_bytes(line: &str, units: u32) -> usize {
    if line.is_ascii() {
        return line.len().min(units as usize);
    }
    let mut n_units = 0;
    for (at, c) in line.char_indices() {
        if n_units >= units {
            return at;
        }
        n_units += c.len_utf16() as u32;
    }
    line.len()
}

/// The starts of the lines whose line ends lie in a range of bytes.
fn line_starts(text: &str, range: Range<usize>) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    range
        .filter(|&at| {
            bytes[at] == b'\n' || (bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'))
        })
        .map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(line: u32, character: u32) -> Position {
        Position::new(line, character)
    }

    #[test]
    fn line_starts_are_those_of_the_whole_text_after_any_changes() {
        const SNIPPETS: [&str; 9] = [
            "",
            "\n",
            "\r",
            "\r\n",
            "a",
            "é😀",
            "x\ny\r\nz",
            "\n\r",
            "b\r",
        ];
        let mut random = 1_u64;
        let mut draw = |n: usize| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) as usize % n
        };
        let mut text = Text::new("one\r\ntwo\rthree\n".to_owned());
        for _ in 0..20_000 {
            let n_lines = text.starts.len();
            let mut somewhere = || place(draw(n_lines + 1) as u32, draw(6) as u32);
            let mut ends = [somewhere(), somewhere()];
            ends.sort();
            // A text that grows beyond some lines shrinks again.
            let new = match text.starts.len() > 30 {
                true => "",
                false => SNIPPETS[draw(SNIPPETS.len())],
            };
            let mut plain = text.text.clone();
            let (start, end) = (text.offset(ends[0]), text.offset(ends[1]));
            plain.replace_range(start..end, new);
            text.replace(lsp_types::Range::new(ends[0], ends[1]), new);
            let fresh = Text::new(plain);
            assert_eq!((&text.text, &text.starts), (&fresh.text, &fresh.starts));
        }
    }

    #[test]
    fn a_range_that_ends_before_its_start_is_empty() {
        let mut text = Text::new("ab\ncd".to_owned());
        text.replace(lsp_types::Range::new(place(1, 1), place(0, 0)), "x");
        assert_eq!(text.as_str(), "ab\ncxd");
    }
}
