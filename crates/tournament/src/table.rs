//! A table of words and numbers, for a terminal, as Markdown or as CSV.

use std::fmt::Write;

/// How a table is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// In columns, for people at a terminal.
    Terminal,
    /// As Markdown.
    Markdown,
    /// As comma-separated values.
    Csv,
}

/// A table. Columns whose head ends with a blank are words and go to the left; all others are numbers and go to the right.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Table {
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these heads.
    #[must_use]
    pub fn new(heads: &[&str]) -> Table {
        Table {
            heads: heads.iter().map(|&head| head.to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has not as many cells as there are heads.
    pub fn push(&mut self, row: Vec<String>) {
        assert_eq!(row.len(), self.heads.len(), "a row has a cell per head");
        self.rows.push(row);
    }

    /// How many rows it has.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// As text.
    #[must_use]
    pub fn text(&self, format: Format) -> String {
        match format {
            Format::Terminal => self.in_columns(),
            Format::Markdown => self.markdown(),
            Format::Csv => self.csv(),
        }
    }

    /// The head and the rows in columns, one by one.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.in_columns().lines().map(str::to_owned).collect()
    }

    fn is_word(&self, column: usize) -> bool {
        self.heads[column].ends_with(' ')
    }

    fn in_columns(&self) -> String {
        let heads = self
            .heads
            .iter()
            .map(|head| head.trim().to_owned())
            .collect();
        let all: Vec<&Vec<String>> = [&heads].into_iter().chain(&self.rows).collect();
        let width = |column: usize| all.iter().map(|row| row[column].chars().count()).max();
        let widths: Vec<usize> = (0..self.heads.len())
            .map(|column| width(column).unwrap_or(0))
            .collect();
        let mut text = String::new();
        for row in all {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let gap = if column == 0 { "" } else { "  " };
                let pad = " ".repeat(width - cell.chars().count());
                let cell = match self.is_word(column) {
                    true => format!("{gap}{cell}{pad}"),
                    false => format!("{gap}{pad}{cell}"),
                };
                line.push_str(&cell);
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    fn markdown(&self) -> String {
        let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let clean = |cell: &String| cell.trim().replace('|', "\\|");
        let mut text = row(self.heads.iter().map(clean).collect());
        text.push('|');
        for column in 0..self.heads.len() {
            text.push_str(if self.is_word(column) { "---|" } else { "--:|" });
        }
        text.push('\n');
        for cells in &self.rows {
            text.push_str(&row(cells.iter().map(clean).collect()));
        }
        text
    }

    fn csv(&self) -> String {
        let clean = |cell: &String| csv_cell(cell.trim());
        let mut text = String::new();
        for row in [&self.heads].into_iter().chain(&self.rows) {
            let cells: Vec<String> = row.iter().map(clean).collect();
            let _ = writeln!(text, "{}", cells.join(","));
        }
        text
    }
}

/// A cell of CSV, in quotes where that is needed (RFC 4180).
#[must_use]
pub fn csv_cell(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(format: Format, expected: &Expect) {
        let mut table = Table::new(&["game ", "score", "±", "note "]);
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        table.push(row(["Othello", "86.5", "4.7", "a, \"b\""]));
        table.push(row(["Go", "7.0", "14.7", "x|y"]));
        expected.assert_eq(&table.text(format));
    }

    #[test]
    fn words_go_left_and_numbers_go_right() {
        check(
            Format::Terminal,
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
        check(
            Format::Csv,
            &expect![[r#"
                game,score,±,note
                Othello,86.5,4.7,"a, ""b"""
                Go,7.0,14.7,x|y
            "#]],
        );
    }
}
