//! Scores over time as a line with confidence intervals: how good something became.

use crate::plot::canvas::{Anchor, BLUE, GREY, INK, LIGHT_BLUE, PALE, draw, place};

const WIDTH: i32 = 720;
const HEIGHT: i32 = 400;
const LEFT: i32 = 60;
const RIGHT: i32 = 690;
const TOP: i32 = 60;
const BOTTOM: i32 = 340;

/// A score, 0 to 100, with its confidence interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CurvePoint {
    /// Where it stands.
    pub at: f64,
    /// The score.
    pub score: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// A line through scores.
#[must_use]
pub fn curve(title: &str, axis: &str, points: &[CurvePoint]) -> String {
    let end = points.iter().map(|point| point.at).fold(1.0, f64::max);
    let x = |at: f64| place(at, (0.0, LEFT), (end, RIGHT));
    let y = |score: f64| place(score, (0.0, BOTTOM), (100.0, TOP));
    draw(WIDTH, HEIGHT, |canvas| {
        canvas.words(title, (20, 26), 18, Anchor::Left, INK);
        for score in [0.0, 25.0, 50.0, 75.0, 100.0] {
            let colour = if score == 50.0 { GREY } else { PALE };
            canvas.line((LEFT, y(score)), (RIGHT, y(score)), colour, 1);
            let text = format!("{score:.0} %");
            canvas.words(&text, (LEFT - 8, y(score)), 12, Anchor::Right, GREY);
        }
        for part in 0..=4 {
            let at = end * f64::from(part) / 4.0;
            let text = format!("{at:.0}");
            canvas.words(&text, (x(at), BOTTOM + 16), 12, Anchor::Middle, GREY);
        }
        let note = format!("{axis}; bars are 95 % confidence intervals");
        canvas.words(
            &note,
            ((LEFT + RIGHT) / 2, BOTTOM + 38),
            12,
            Anchor::Middle,
            GREY,
        );
        for point in points {
            let at = x(point.at);
            canvas.line((at, y(point.low)), (at, y(point.high)), LIGHT_BLUE, 2);
        }
        let line: Vec<(i32, i32)> = points
            .iter()
            .map(|point| (x(point.at), y(point.score)))
            .collect();
        if line.len() > 1 {
            canvas.path(line.clone(), BLUE, 2);
        }
        line.into_iter().for_each(|at| canvas.dot(at, 4, BLUE));
    })
}
