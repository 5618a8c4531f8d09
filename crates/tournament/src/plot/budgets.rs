//! Scores by budget: one line per pair, with confidence intervals, in one game.

use crate::plot::canvas::{Anchor, GREY, INK, PALE, SERIES, draw, place, width_of};
use crate::tally::Tally;

const LEFT: i32 = 64;
const TOP: i32 = 60;
const WIDTH: i32 = 560;
const HEIGHT: i32 = 320;
const BOTTOM: i32 = 64;

/// The scores of a game by budget, on a logarithmic axis; `None` with fewer than two budgets of one unit.
#[must_use]
pub fn budgets(game: &str, tallies: &[Tally]) -> Option<String> {
    let here: Vec<&Tally> = tallies.iter().filter(|tally| tally.game == game).collect();
    let unit = here.first()?.budget.unit();
    let here: Vec<&Tally> = here
        .into_iter()
        .filter(|tally| tally.budget.unit() == unit)
        .collect();
    let mut amounts: Vec<f64> = here.iter().map(|tally| tally.budget.amount()).collect();
    amounts.sort_by(f64::total_cmp);
    amounts.dedup();
    if amounts.len() < 2 {
        return None;
    }
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for tally in &here {
        let pair = (tally.first.as_str(), tally.second.as_str());
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    let name = |pair: &(&str, &str)| format!("{} – {}", pair.0, pair.1);
    let widest = pairs.iter().map(|pair| width_of(&name(pair), 13)).max();
    let width = LEFT + WIDTH + widest.unwrap_or(0) + 70;
    let (right, low) = (LEFT + WIDTH, TOP + HEIGHT);
    let ends = (amounts[0].ln(), amounts[amounts.len() - 1].ln());
    let across = |amount: f64| place(amount.ln(), (ends.0, LEFT + 20), (ends.1, right - 20));
    let up = |score: f64| place(score, (0.0, low), (100.0, TOP));
    Some(draw(width, low + BOTTOM, |canvas| {
        let title = format!("{game}: score by budget");
        canvas.words(&title, (20, 26), 18, Anchor::Left, INK);
        for score in [0.0, 25.0, 50.0, 75.0, 100.0] {
            let colour = if score == 50.0 { GREY } else { PALE };
            canvas.line((LEFT, up(score)), (right, up(score)), colour, 1);
            let words = format!("{score:.0}");
            canvas.words(&words, (LEFT - 8, up(score)), 12, Anchor::Right, GREY);
        }
        for &amount in &amounts {
            let x = across(amount);
            canvas.line((x, low), (x, low + 5), GREY, 1);
            canvas.words(&amount.to_string(), (x, low + 16), 12, Anchor::Middle, GREY);
        }
        let words = format!("{unit} per move");
        canvas.words(
            &words,
            (LEFT + WIDTH / 2, low + 38),
            12,
            Anchor::Middle,
            GREY,
        );
        for (idx, pair) in pairs.iter().enumerate() {
            let colour = SERIES[idx % SERIES.len()];
            let of_pair = here
                .iter()
                .filter(|tally| (tally.first.as_str(), tally.second.as_str()) == *pair);
            // Intervals of several pairs at the same budget are drawn beside each other.
            let shift = (idx as i32 * 6) - (pairs.len() as i32 - 1) * 3;
            let mut points = Vec::new();
            for tally in of_pair {
                let Some(score) = tally.estimate() else {
                    continue;
                };
                let x = across(tally.budget.amount()) + shift;
                canvas.line((x, up(score.low)), (x, up(score.high)), colour, 2);
                for end in [score.low, score.high] {
                    canvas.line((x - 3, up(end)), (x + 3, up(end)), colour, 2);
                }
                points.push((x, up(score.mean)));
            }
            for &point in &points {
                canvas.dot(point, 4, colour);
            }
            canvas.path(points, colour, 2);
            let y = TOP + 12 + idx as i32 * 22;
            canvas.line((right + 16, y), (right + 36, y), colour, 3);
            canvas.words(&name(pair), (right + 44, y), 13, Anchor::Left, INK);
        }
    }))
}
