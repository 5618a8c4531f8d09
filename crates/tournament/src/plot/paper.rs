//! A published table beside the measured one: a panel per column, a row per game, rings for published and dots for measured values.

use crate::comparison::{Comparison, Verdict};
use crate::experiment::Experiment;
use crate::plot::canvas::{
    Anchor, BLUE, Canvas, Colour, GREY, INK, LIGHT_BLUE, ORANGE, PALE, draw, place, width_of,
};
use crate::published::{Measure, Published};

const ROW: i32 = 34;
const TOP: i32 = 118;
const BOTTOM: i32 = 52;
const PANEL: i32 = 250;
const GAP: i32 = 34;

/// Draws published and measured values, row by row as in the table. The note says which matches were counted.
#[must_use]
pub fn paper(experiment: &Experiment, comparisons: &[Comparison], note: &str) -> String {
    let (n_rows, n_columns) = (experiment.rows.len(), experiment.columns.len());
    let widest = experiment
        .rows
        .iter()
        .map(|row| width_of(&row.name, 13))
        .max();
    let left = widest.unwrap_or(0) + 40;
    let source = format!("{}. {note}.", experiment.source);
    let width = (left + n_columns as i32 * (PANEL + GAP) + 10).max(760);
    let width = width.max(width_of(&source, 12) + 40);
    let height = TOP + n_rows as i32 * ROW + BOTTOM;
    draw(width, height, |canvas| {
        canvas.words(&experiment.title, (20, 26), 18, Anchor::Left, INK);
        canvas.words(&source, (20, 50), 12, Anchor::Left, GREY);
        legend(canvas);
        for (row_idx, row) in experiment.rows.iter().enumerate() {
            let y = TOP + row_idx as i32 * ROW;
            if row_idx % 2 == 0 {
                let stripe = plotters::style::RGBColor(248, 249, 250);
                canvas.fill((10, y), (width - 10, y + ROW), stripe);
            }
            canvas.words(&row.name, (left - 14, y + ROW / 2), 13, Anchor::Right, INK);
        }
        for (column_idx, column) in experiment.columns.iter().enumerate() {
            let x = left + column_idx as i32 * (PANEL + GAP);
            let panel = Panel::new(experiment.measure, x);
            canvas.words(
                &column.name,
                (x + PANEL / 2, TOP - 16),
                13,
                Anchor::Middle,
                INK,
            );
            panel.axis(canvas, TOP, height - BOTTOM);
            for row_idx in 0..n_rows {
                let cell = comparisons.get(row_idx * n_columns + column_idx);
                let middle = TOP + row_idx as i32 * ROW + ROW / 2;
                if let Some(cell) = cell {
                    panel.cell(canvas, cell, middle);
                }
            }
        }
    })
}

fn legend(canvas: &Canvas<'_>) {
    let mut x = 26;
    canvas.ring((x, 76), 5, GREY);
    canvas.words("published", (x + 12, 76), 12, Anchor::Left, INK);
    x += 100;
    for (colour, words) in [
        (BLUE, "measured: same sign and significant"),
        (LIGHT_BLUE, "same sign"),
        (ORANGE, "opposite sign"),
        (INK, "no sign to compare"),
    ] {
        canvas.dot((x, 76), 5, colour);
        canvas.words(words, (x + 12, 76), 12, Anchor::Left, INK);
        x += width_of(words, 12) + 34;
    }
}

fn colour_of(verdict: Verdict) -> Colour {
    match verdict {
        Verdict::SameSignSignificant => BLUE,
        Verdict::SameSign => LIGHT_BLUE,
        Verdict::OppositeSign => ORANGE,
        _ => INK,
    }
}

/// One column of the table.
struct Panel {
    measure: Measure,
    x: i32,
    ends: (f64, f64),
}

impl Panel {
    fn new(measure: Measure, x: i32) -> Panel {
        let ends = match measure {
            Measure::Score => (0.0, 100.0),
            Measure::Goal => (-100.0, 100.0),
            Measure::Cost => (0.0, 200.0),
        };
        Panel { measure, x, ends }
    }

    fn at(&self, value: f64) -> i32 {
        let value = value.clamp(self.ends.0, self.ends.1);
        place(value, (self.ends.0, self.x), (self.ends.1, self.x + PANEL))
    }

    fn axis(&self, canvas: &Canvas<'_>, above: i32, below: i32) {
        let (low, high) = self.ends;
        for quarter in 0..=4 {
            let value = low + (high - low) * f64::from(quarter) / 4.0;
            let colour = if quarter == 2 { GREY } else { PALE };
            canvas.line((self.at(value), above), (self.at(value), below), colour, 1);
            let words = format!("{value:.0}");
            canvas.words(
                &words,
                (self.at(value), below + 12),
                11,
                Anchor::Middle,
                GREY,
            );
        }
        let words = match self.measure {
            Measure::Score => "score of the first player",
            Measure::Goal => "difference of goals",
            Measure::Cost => "simulations in the same time, %",
        };
        canvas.words(
            words,
            (self.x + PANEL / 2, below + 30),
            11,
            Anchor::Middle,
            GREY,
        );
    }

    fn cell(&self, canvas: &Canvas<'_>, comparison: &Comparison, middle: i32) {
        let published = middle - 7;
        match comparison.published {
            Published::NotActive => {
                let at = (self.x + PANEL / 2, published);
                canvas.words("N/A", at, 11, Anchor::Middle, GREY);
            }
            Published::Scores {
                first,
                second,
                plus_minus,
            } => {
                let (value, half) = match self.measure {
                    Measure::Goal => (first - second, 2.0 * plus_minus),
                    _ => (first, plus_minus),
                };
                canvas.interval(
                    self.at(value - half),
                    self.at(value + half),
                    published,
                    GREY,
                );
                canvas.ring((self.at(value), published), 4, GREY);
            }
            Published::Cost(cost) => canvas.ring((self.at(cost.relative), published), 4, GREY),
        }
        let Some(difference) = comparison.difference else {
            return;
        };
        if matches!(
            comparison.verdict,
            Verdict::NotActiveEither | Verdict::NotActiveHere
        ) {
            let at = (self.x + PANEL / 2, middle + 7);
            canvas.words("not active", at, 11, Anchor::Middle, INK);
            return;
        }
        // A difference of scores that add up to 100 is twice the distance from 50.
        let through = |value: f64| match self.measure {
            Measure::Score => 50.0 + value / 2.0,
            Measure::Goal => value,
            Measure::Cost => 100.0 + value,
        };
        let colour = colour_of(comparison.verdict);
        let (low, high) = (through(difference.low), through(difference.high));
        canvas.interval(self.at(low), self.at(high), middle + 7, colour);
        canvas.dot((self.at(through(difference.mean)), middle + 7), 5, colour);
    }
}
