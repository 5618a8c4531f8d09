//! A cross table in colours: the score of each row against each column.

use plotters::style::RGBColor;

use crate::plot::canvas::{Anchor, BLUE, Colour, GREY, INK, ORANGE, PALE, PAPER, draw, width_of};
use crate::report::Cross;

const BOX: i32 = 66;
const HEIGHT: i32 = 42;
const TOP: i32 = 84;

/// Players against players in a game.
#[must_use]
pub fn cross(cross: &Cross) -> String {
    let n = cross.players.len() as i32;
    let widest = cross.players.iter().map(|name| width_of(name, 13)).max();
    let left = widest.unwrap_or(0).clamp(80, 500) + 60;
    let width = (left + (n + 1) * BOX + 36).max(width_of(&cross.game, 18) + 260);
    let height = TOP + n * HEIGHT + 40;
    draw(width, height, |canvas| {
        let title = format!("{}: score of the row against the column", cross.game);
        canvas.words(&title, (20, 26), 18, Anchor::Left, INK);
        for column in 0..n {
            let x = left + column * BOX + BOX / 2;
            canvas.words(
                &(column + 1).to_string(),
                (x, TOP - 14),
                13,
                Anchor::Middle,
                GREY,
            );
        }
        let mean = left + n * BOX + 10 + BOX / 2;
        canvas.words("mean", (mean, TOP - 14), 13, Anchor::Middle, GREY);
        for row in 0..n {
            let (y, row_idx) = (TOP + row * HEIGHT, row as usize);
            let middle = y + HEIGHT / 2;
            let name = format!("{}. {}", row + 1, cross.players[row_idx]);
            canvas.words(&name, (left - 12, middle), 13, Anchor::Right, INK);
            for column in 0..n {
                let x = left + column * BOX;
                let score = cross.scores[row_idx][column as usize];
                let colour = score.map_or(PALE, |score| shade(score.mean));
                canvas.fill((x, y), (x + BOX - 2, y + HEIGHT - 2), colour);
                let Some(score) = score else { continue };
                let ink = if (score.mean - 50.0).abs() > 30.0 {
                    PAPER
                } else {
                    INK
                };
                let x = x + BOX / 2 - 1;
                let words = format!("{:.1}", score.mean);
                canvas.words(&words, (x, middle - 8), 14, Anchor::Middle, ink);
                let words = format!("± {:.1}", score.plus_minus());
                canvas.words(&words, (x, middle + 9), 11, Anchor::Middle, ink);
            }
            if let Some(score) = cross.mean(row_idx) {
                let words = format!("{score:.1}");
                canvas.words(&words, (mean, middle - 1), 14, Anchor::Middle, INK);
            }
        }
    })
}

/// White for 50, blue above, orange below.
fn shade(score: f64) -> Colour {
    let end = if score >= 50.0 { BLUE } else { ORANGE };
    let share = ((score - 50.0).abs() / 50.0).clamp(0.0, 1.0);
    let mix = |from: u8, to: u8| {
        let (from, to) = (f64::from(from), f64::from(to));
        (from + (to - from) * share) as u8
    };
    RGBColor(mix(248, end.0), mix(249, end.1), mix(250, end.2))
}
