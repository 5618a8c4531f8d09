//! The course of a tuning: every parameter as a line over the steps, on its range.

use crate::plot::canvas::{Anchor, BLUE, GREY, INK, PALE, draw, place};
use crate::spsa::Spsa;

const WIDTH: i32 = 720;
const LEFT: i32 = 150;
const RIGHT: i32 = 690;
const TOP: i32 = 56;
const PANEL: i32 = 120;
const GAP: i32 = 24;

/// One panel per parameter.
#[must_use]
pub fn tuning(title: &str, spsa: &Spsa) -> String {
    let n_panels = spsa.ranges().len() as i32;
    let height = TOP + n_panels * (PANEL + GAP) + 24;
    let end = f64::from(spsa.step().max(1));
    let x = |step: u32| place(f64::from(step), (0.0, LEFT), (end, RIGHT));
    draw(WIDTH, height, |canvas| {
        canvas.words(title, (20, 26), 18, Anchor::Left, INK);
        for (idx, (name, range)) in spsa.ranges().iter().enumerate() {
            let top = TOP + idx as i32 * (PANEL + GAP);
            let y = |value: f64| place(range.place(value), (0.0, top + PANEL), (1.0, top));
            for value in [range.low, range.high] {
                canvas.line((LEFT, y(value)), (RIGHT, y(value)), PALE, 1);
                canvas.words(
                    &value.to_string(),
                    (LEFT - 8, y(value)),
                    12,
                    Anchor::Right,
                    GREY,
                );
            }
            canvas.words(name, (20, top + PANEL / 2), 13, Anchor::Left, INK);
            let points = spsa.course().iter();
            let line: Vec<(i32, i32)> = points
                .map(|point| (x(point.step), y(point.values[idx])))
                .collect();
            if let (Some(last), Some(point)) = (line.last().copied(), spsa.course().last()) {
                let text = point.values[idx].to_string();
                canvas.words(&text, (last.0, last.1 - 12), 12, Anchor::Right, BLUE);
            }
            if line.len() > 1 {
                canvas.path(line, BLUE, 2);
            }
        }
        let note = format!("steps 0 to {}", spsa.step());
        canvas.words(
            &note,
            ((LEFT + RIGHT) / 2, height - 20),
            12,
            Anchor::Middle,
            GREY,
        );
    })
}
