//! A table of words and numbers, for a terminal of a given width or as Markdown.
//!
//! A table that is too wide for the terminal is made to fit in steps, until one suffices:
//!
//! 1. The heads of columns are broken at blanks.
//! 2. Names of players that take more than half of the line become letters, explained below the table.
//! 3. Columns of words are broken into several lines.
//! 4. The table is cut into blocks of columns, each of which begins with the key columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Blanks between two columns.
const GAP: usize = 2;
/// Columns of words are not made narrower than this as long as there is another way.
const NARROW: usize = 12;
/// Key columns are not made narrower than this, unless they would take more than half of the line.
const NARROWEST: usize = 6;

/// How a table is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// In columns, in lines of at most this width.
    Terminal(usize),
    /// As Markdown.
    Markdown,
}

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Words, aligned to the left. They may be broken into lines.
    Words,
    /// Names of players, aligned to the left. They may be replaced by letters.
    Name,
    /// Numbers, aligned to the right.
    Number,
}

/// A table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Table {
    heads: Vec<(String, Kind)>,
    /// The leading columns that tell rows apart.
    n_keys: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these columns, of which the first `n_keys` tell the rows apart.
    #[must_use]
    pub fn new(heads: &[(&str, Kind)], n_keys: usize) -> Table {
        let owned = heads.iter().map(|(head, kind)| ((*head).to_owned(), *kind));
        Table {
            heads: owned.collect(),
            n_keys: n_keys.min(heads.len()),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If the number of cells is not the number of columns.
    pub fn push(&mut self, row: Vec<String>) {
        assert_eq!(row.len(), self.heads.len(), "a row has a cell per column");
        self.rows.push(row);
    }

    /// The number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// The table as text.
    #[must_use]
    pub fn text(&self, format: Format) -> String {
        match format {
            Format::Terminal(width) => self.fitted(width),
            Format::Markdown => self.markdown(),
        }
    }

    fn markdown(&self) -> String {
        let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let clean = |cell: &String| cell.trim().replace('|', "\\|");
        let mut text = row(self.heads.iter().map(|(head, _)| clean(head)).collect());
        text.push('|');
        for (_, kind) in &self.heads {
            text.push_str(match kind {
                Kind::Number => "--:|",
                Kind::Words | Kind::Name => "---|",
            });
        }
        text.push('\n');
        for cells in &self.rows {
            text.push_str(&row(cells.iter().map(clean).collect()));
        }
        text
    }

    /// In columns, in lines of at most this width.
    fn fitted(&self, width: usize) -> String {
        let all: Vec<usize> = (0..self.heads.len()).collect();
        // Step 1. As it is, or with the heads broken.
        let natural = self.widths(UnicodeWidthStr::width);
        if line_width(&natural) <= width {
            return self.block(&all, &natural);
        }
        let mut widths = self.widths(longest_word);
        if line_width(&widths) <= width {
            return self.block(&all, &widths);
        }
        // Step 2. Letters for long names.
        if line_width(&widths[..self.n_keys]) > width / 2
            && let Some((table, legend)) = self.with_letters()
        {
            return format!("{}{}", table.fitted(width), legend_text(&legend, width));
        }
        // Step 3. Words in several lines.
        let mut narrow = widths.clone();
        self.narrow(&mut narrow, &all, width, NARROW);
        if line_width(&narrow) <= width {
            return self.block(&all, &narrow);
        }
        // Step 4. Blocks of columns.
        let keys: Vec<usize> = (0..self.n_keys).collect();
        let share = (width / 2).saturating_sub(GAP * self.n_keys) / self.n_keys.max(1);
        self.narrow(&mut widths, &keys, width / 2, share.clamp(1, NARROWEST));
        let room = width - line_width(&widths[..self.n_keys]).min(width);
        let room = room.saturating_sub(if self.n_keys > 0 { GAP } else { 0 });
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        let mut used = 0;
        for (column, own) in widths.iter_mut().enumerate().skip(self.n_keys) {
            *own = (*own).min(room.max(1));
            let is_full = used + GAP + *own > room;
            if blocks.is_empty() || is_full {
                blocks.push(keys.clone());
                used = *own;
            } else {
                used += GAP + *own;
            }
            let block = blocks.last_mut().expect("there is a block");
            block.push(column);
        }
        let texts: Vec<String> = blocks
            .iter()
            .map(|columns| {
                let widths: Vec<usize> = columns.iter().map(|&column| widths[column]).collect();
                self.block(columns, &widths)
            })
            .collect();
        texts.join("\n")
    }

    /// The width of each column, if its head needs this much.
    fn widths(&self, head_width: impl Fn(&str) -> usize) -> Vec<usize> {
        let of_column = |(column, (head, _)): (usize, &(String, Kind))| {
            let cells = self.rows.iter().map(|row| row[column].width());
            cells.max().unwrap_or(0).max(head_width(head))
        };
        self.heads.iter().enumerate().map(of_column).collect()
    }

    /// Makes the widest of these columns narrower, one by one, until they fit or all of them are at the limit.
    fn narrow(&self, widths: &mut [usize], columns: &[usize], width: usize, limit: usize) {
        let total = |widths: &[usize]| {
            let columns: Vec<usize> = columns.iter().map(|&column| widths[column]).collect();
            line_width(&columns)
        };
        while total(widths) > width {
            let can_shrink =
                |&&column: &&usize| self.heads[column].1 != Kind::Number && widths[column] > limit;
            let widest = columns
                .iter()
                .filter(can_shrink)
                .max_by_key(|&&column| widths[column]);
            let Some(&column) = widest else { return };
            widths[column] -= 1;
        }
    }

    /// The table with letters in place of names, and what they stand for; `None` if all names are as short as letters.
    fn with_letters(&self) -> Option<(Table, Vec<(String, String)>)> {
        let is_name = |column: usize| self.heads[column].1 == Kind::Name;
        let mut names: Vec<&String> = Vec::new();
        for row in &self.rows {
            let cells = row
                .iter()
                .enumerate()
                .filter(|(column, _)| is_name(*column));
            for (_, name) in cells {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        if names.iter().all(|name| name.width() <= 2) {
            return None;
        }
        let mut table = self.clone();
        for row in &mut table.rows {
            let cells = row
                .iter_mut()
                .enumerate()
                .filter(|(column, _)| is_name(*column));
            for (_, cell) in cells {
                let number = names.iter().position(|name| **name == *cell);
                *cell = letters(number.unwrap_or(0));
            }
        }
        let legend = names.iter().enumerate();
        let legend = legend.map(|(number, name)| (letters(number), (*name).clone()));
        Some((table, legend.collect()))
    }

    /// Some columns with these widths; cells that are wider are broken.
    fn block(&self, columns: &[usize], widths: &[usize]) -> String {
        let heads: Vec<String> = self.heads.iter().map(|(head, _)| head.clone()).collect();
        let mut text = String::new();
        for row in [&heads].into_iter().chain(&self.rows) {
            let cells: Vec<Vec<String>> = columns
                .iter()
                .zip(widths)
                .map(|(&column, &width)| wrap(&row[column], width))
                .collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
            for line_idx in 0..height {
                let mut line = String::new();
                for ((cell, &column), &width) in cells.iter().zip(columns).zip(widths) {
                    let part = cell.get(line_idx).map_or("", String::as_str);
                    let pad = " ".repeat(width.saturating_sub(part.width()));
                    if !std::ptr::eq(cell, &cells[0]) {
                        line.push_str(&" ".repeat(GAP));
                    }
                    match self.heads[column].1 {
                        Kind::Number => line.extend([pad.as_str(), part]),
                        Kind::Words | Kind::Name => line.extend([part, pad.as_str()]),
                    }
                }
                text.push_str(line.trim_end());
                text.push('\n');
            }
        }
        text
    }
}

/// The width of columns with the gaps between them.
fn line_width(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

fn longest_word(text: &str) -> usize {
    text.split(' ')
        .map(UnicodeWidthStr::width)
        .max()
        .unwrap_or(0)
}

/// A, B, …, Z, AA, AB, …
fn letters(mut number: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(char::from(b'A' + (number % 26) as u8));
        if number < 26 {
            break;
        }
        number = number / 26 - 1;
    }
    letters.iter().rev().collect()
}

fn legend_text(legend: &[(String, String)], width: usize) -> String {
    let widest = legend.iter().map(|(letters, _)| letters.width()).max();
    let indent = widest.unwrap_or(0) + GAP;
    let mut text = String::from("\n");
    for (letters, name) in legend {
        let lines = wrap(name, width.saturating_sub(indent).max(1));
        for (line_idx, line) in lines.iter().enumerate() {
            let head = if line_idx == 0 { letters } else { "" };
            text.push_str(&format!("{head:indent$}{line}\n"));
        }
    }
    text
}

/// Breaks a text into lines of at most this width: at blanks where possible, within words where not.
#[must_use]
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        if let Some(line) = lines.last_mut()
            && line.width() + 1 + word.width() <= width
        {
            line.push(' ');
            line.push_str(word);
            continue;
        }
        let mut rest = word;
        while rest.width() > width {
            let at = break_point(rest, width);
            lines.push(rest[..at].to_owned());
            rest = &rest[at..];
        }
        lines.push(rest.to_owned());
    }
    lines
}

/// Where a word that is too long is broken: after a sign in the second half of the line if there is one.
fn break_point(word: &str, width: usize) -> usize {
    let mut used = 0;
    let mut end = 0;
    let mut sign = None;
    for (at, letter) in word.char_indices() {
        used += letter.width().unwrap_or(0);
        // One letter is taken even if it is too wide, so that the rest gets shorter.
        if used > width && end > 0 {
            break;
        }
        end = at + letter.len_utf8();
        if used * 2 > width && matches!(letter, ',' | ':' | '-' | '_' | '/' | '=') {
            sign = Some(end);
        }
    }
    sign.unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Kind::{Name, Number, Words};
    use expect_test::{Expect, expect};

    fn check(format: Format, expected: &Expect) {
        let heads = [
            ("game", Words),
            ("score", Number),
            ("±", Number),
            ("note", Words),
        ];
        let mut table = Table::new(&heads, 1);
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        table.push(row(["Othello", "86.5", "4.7", "a, \"b\""]));
        table.push(row(["Go", "7.0", "14.7", "x|y"]));
        expected.assert_eq(&table.text(format));
    }

    /// Long names and many numbers.
    fn wide() -> Table {
        let heads = [
            ("game", Words),
            ("player", Name),
            ("against", Name),
            ("matches", Number),
            ("mean score", Number),
            ("±", Number),
            ("goals against", Number),
            ("as second", Number),
            ("what it means", Words),
        ];
        let mut table = Table::new(&heads, 3);
        for game in ["connect_four", "bidding_tic_tac_toe"] {
            let names = [
                "cadia-2012:exploration=50,mast_temperature=5",
                "http://127.0.0.1:9147",
            ];
            let mut row = vec![game.to_owned(), names[0].to_owned(), names[1].to_owned()];
            row.extend(["1000", "100.0", "14.7", "50.0", "100.0"].map(str::to_owned));
            row.push("same sign and significant, as in the paper".to_owned());
            table.push(row);
        }
        table
    }

    #[test]
    fn words_go_left_and_numbers_go_right() {
        check(
            Format::Terminal(80),
            &expect![[r#"
                game     score     ±  note
                Othello   86.5   4.7  a, "b"
                Go         7.0  14.7  x|y
            "#]],
        );
        check(
            Format::Markdown,
            &expect![[r#"
                | game | score | ± | note |
                |---|--:|--:|---|
                | Othello | 86.5 | 4.7 | a, "b" |
                | Go | 7.0 | 14.7 | x\|y |
            "#]],
        );
    }

    #[test]
    fn a_wide_table_is_made_to_fit() {
        expect![[r#"
            game                 player  against  matches   mean     ±    goals      as  what it means
                                                           score        against  second
            connect_four         A       B           1000  100.0  14.7     50.0   100.0  same sign and significant, as in the paper
            bidding_tic_tac_toe  A       B           1000  100.0  14.7     50.0   100.0  same sign and significant, as in the paper

            A  cadia-2012:exploration=50,mast_temperature=5
            B  http://127.0.0.1:9147
        "#]].assert_eq(&wide().text(Format::Terminal(120)));
        expect![[r#"
            game                 player  against  matches   mean     ±    goals      as
                                                           score        against  second
            connect_four         A       B           1000  100.0  14.7     50.0   100.0
            bidding_tic_tac_toe  A       B           1000  100.0  14.7     50.0   100.0

            game                 player  against  what it means
            connect_four         A       B        same sign and significant, as in the paper
            bidding_tic_tac_toe  A       B        same sign and significant, as in the paper

            A  cadia-2012:exploration=50,mast_temperature=5
            B  http://127.0.0.1:9147
        "#]]
        .assert_eq(&wide().text(Format::Terminal(80)));
        expect![[r#"
            game           player  against  matches   mean     ±
                                                     score
            connect_four   A       B           1000  100.0  14.7
            bidding_tic_   A       B           1000  100.0  14.7
            tac_toe

            game           player  against    goals      as
                                            against  second
            connect_four   A       B           50.0   100.0
            bidding_tic_   A       B           50.0   100.0
            tac_toe

            game           player  against  what it means
            connect_four   A       B        same sign and significant,
                                            as in the paper
            bidding_tic_   A       B        same sign and significant,
            tac_toe                         as in the paper

            A  cadia-2012:exploration=50,mast_temperature=5
            B  http://127.0.0.1:9147
        "#]]
        .assert_eq(&wide().text(Format::Terminal(60)));
    }

    #[test]
    fn no_line_is_too_long_and_nothing_is_lost() {
        for width in 24..200 {
            let text = wide().text(Format::Terminal(width));
            let longest = text.lines().map(UnicodeWidthStr::width).max();
            assert!(longest <= Some(width), "{longest:?} in {width}:\n{text}");
            let letters: String = text.split_whitespace().collect();
            for cell in ["1000", "100.0", "14.7", "50.0"] {
                assert!(letters.contains(cell), "{cell} in {width}:\n{text}");
            }
        }
    }

    #[test]
    fn wide_letters_take_two_columns() {
        let heads = [("name", Words), ("n", Number)];
        let mut table = Table::new(&heads, 1);
        table.push(vec!["囲碁".to_owned(), "1".to_owned()]);
        table.push(vec!["chess".to_owned(), "2".to_owned()]);
        expect![[r#"
            name   n
            囲碁   1
            chess  2
        "#]]
        .assert_eq(&table.text(Format::Terminal(80)));
        assert_eq!(wrap("囲碁将棋", 5), ["囲碁", "将棋"]);
    }

    #[test]
    fn words_are_broken_at_blanks_and_signs() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(
            wrap("cadia-2012:exploration=50", 14),
            ["cadia-2012:", "exploration=50"]
        );
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap("", 3), Vec::<String>::new());
    }

    #[test]
    fn letters_go_on_after_the_last() {
        let seen = [0, 25, 26, 27, 51, 52, 701, 702].map(letters);
        assert_eq!(seen, ["A", "Z", "AA", "AB", "AZ", "BA", "ZZ", "AAA"]);
    }
}
