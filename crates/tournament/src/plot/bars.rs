//! Scores as bars from 50, with confidence intervals: one row per cell, grouped by game.

use crate::plot::canvas::{Anchor, BLUE, GREY, INK, ORANGE, PALE, draw, place, width_of};
use crate::tally::Tally;

const ROW: i32 = 26;
const HEAD: i32 = 26;
const TOP: i32 = 64;
const BOTTOM: i32 = 44;
const AXIS: i32 = 420;
const NUMBERS: i32 = 170;
const TEXT: i32 = 13;

/// One row per cell: the score of the first player, 0 to 100.
#[must_use]
pub fn bars(title: &str, tallies: &[Tally]) -> String {
    let games = crate::report::games(tallies);
    let label = |tally: &Tally| format!("{} – {}, {}", tally.first, tally.second, tally.budget);
    let widest = tallies
        .iter()
        .map(|tally| width_of(&label(tally), TEXT))
        .max();
    let left = widest.unwrap_or(0).clamp(120, 620) + 30;
    let width = left + AXIS + NUMBERS;
    let height = TOP + games.len() as i32 * HEAD + tallies.len() as i32 * ROW + BOTTOM;
    let at = |score: f64| place(score, (0.0, left), (100.0, left + AXIS));
    draw(width, height, |canvas| {
        canvas.words(title, (20, 26), 18, Anchor::Left, INK);
        let (above, below) = (TOP - 10, height - BOTTOM + 6);
        for score in [0.0, 25.0, 50.0, 75.0, 100.0] {
            let colour = if score == 50.0 { GREY } else { PALE };
            canvas.line((at(score), above), (at(score), below), colour, 1);
            let text = format!("{score:.0}");
            canvas.words(&text, (at(score), below + 12), 12, Anchor::Middle, GREY);
        }
        let note = "score of the first player, with 95 % confidence interval";
        canvas.words(note, (at(50.0), below + 28), 12, Anchor::Middle, GREY);
        let mut y = TOP;
        for game in &games {
            canvas.words(game, (20, y + HEAD / 2), 14, Anchor::Left, INK);
            y += HEAD;
            for tally in tallies.iter().filter(|tally| tally.game == *game) {
                let middle = y + ROW / 2;
                y += ROW;
                canvas.words(&label(tally), (left - 10, middle), TEXT, Anchor::Right, INK);
                let Some(score) = tally.estimate() else {
                    canvas.words("no score", (at(50.0) + 8, middle), 12, Anchor::Left, GREY);
                    continue;
                };
                let colour = if score.mean >= 50.0 { BLUE } else { ORANGE };
                let (low, high) = (at(score.mean.min(50.0)), at(score.mean.max(50.0)));
                canvas.fill((low, middle - 8), (high, middle + 8), colour);
                canvas.interval(at(score.low), at(score.high), middle, INK);
                let words = format!("{:.1} ± {:.1}", score.mean, score.plus_minus());
                let side = left + AXIS + 12;
                canvas.words(&words, (side, middle), TEXT, Anchor::Left, INK);
                let n = format!("n = {}", tally.matches);
                canvas.words(&n, (side + 92, middle), 12, Anchor::Left, GREY);
            }
        }
    })
}
