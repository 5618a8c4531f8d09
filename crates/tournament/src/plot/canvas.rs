//! A canvas to draw on: lines, boxes, dots and text in a few colours.

use plotters::coord::Shift;
use plotters::element::{CoordMapper, Drawable, PointCollection};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A colour.
pub(crate) type Colour = RGBColor;

pub(crate) const INK: Colour = RGBColor(33, 37, 41);
pub(crate) const GREY: Colour = RGBColor(134, 142, 150);
pub(crate) const PALE: Colour = RGBColor(233, 236, 239);
pub(crate) const PAPER: Colour = RGBColor(255, 255, 255);
pub(crate) const BLUE: Colour = RGBColor(25, 113, 194);
pub(crate) const LIGHT_BLUE: Colour = RGBColor(116, 192, 252);
pub(crate) const ORANGE: Colour = RGBColor(232, 89, 12);

/// Colours of the lines of a diagram.
pub(crate) const SERIES: [Colour; 8] = [
    BLUE,
    ORANGE,
    RGBColor(47, 158, 68),
    RGBColor(156, 54, 181),
    RGBColor(201, 42, 42),
    RGBColor(12, 133, 153),
    RGBColor(95, 61, 196),
    RGBColor(240, 140, 0),
];

/// Which side of a text is at its place.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Left,
    Middle,
    Right,
}

/// A canvas.
pub(crate) struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
}

/// Draws a picture of this size.
pub(crate) fn draw(width: i32, height: i32, paint: impl FnOnce(&Canvas<'_>)) -> String {
    let mut text = String::new();
    let size = (width.max(1) as u32, height.max(1) as u32);
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let canvas = Canvas { area };
        canvas.fill((0, 0), (width, height), PAPER);
        paint(&canvas);
        let done = canvas.area.present();
        done.expect("drawing into memory works");
    }
    text
}

impl<'a> Canvas<'a> {
    fn put<'b, E, B>(&self, element: &'b E)
    where
        B: CoordMapper,
        &'b E: PointCollection<'b, (i32, i32), B>,
        E: Drawable<SVGBackend<'a>, B>,
    {
        let drawn = self.area.draw(element);
        drawn.expect("drawing into memory works");
    }

    pub(crate) fn fill(&self, from: (i32, i32), to: (i32, i32), colour: Colour) {
        self.put(&Rectangle::new([from, to], colour.filled()));
    }

    pub(crate) fn line(&self, from: (i32, i32), to: (i32, i32), colour: Colour, width: u32) {
        self.path(vec![from, to], colour, width);
    }

    pub(crate) fn path(&self, points: Vec<(i32, i32)>, colour: Colour, width: u32) {
        self.put(&PathElement::new(points, colour.stroke_width(width)));
    }

    pub(crate) fn dot(&self, at: (i32, i32), radius: i32, colour: Colour) {
        self.put(&Circle::new(at, radius, colour.filled()));
    }

    pub(crate) fn ring(&self, at: (i32, i32), radius: i32, colour: Colour) {
        self.put(&Circle::new(at, radius, PAPER.filled()));
        self.put(&Circle::new(at, radius, colour.stroke_width(2)));
    }

    /// A horizontal interval with marks at both ends.
    pub(crate) fn interval(&self, low: i32, high: i32, y: i32, colour: Colour) {
        self.line((low, y), (high, y), colour, 2);
        for x in [low, high] {
            self.line((x, y - 3), (x, y + 3), colour, 2);
        }
    }

    /// A text, vertically centred on its place.
    pub(crate) fn words(
        &self,
        text: &str,
        at: (i32, i32),
        size: i32,
        anchor: Anchor,
        colour: Colour,
    ) {
        let across = match anchor {
            Anchor::Left => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::Right => HPos::Right,
        };
        let style = ("sans-serif", size).into_font().color(&colour);
        let style = style.pos(Pos::new(across, VPos::Center));
        self.put(&Text::new(text.to_owned(), at, style));
    }
}

/// The approximate width of a text.
pub(crate) fn width_of(text: &str, size: i32) -> i32 {
    text.chars().count() as i32 * size * 11 / 20
}

/// The place of a value on an axis.
pub(crate) fn place(value: f64, from: (f64, i32), to: (f64, i32)) -> i32 {
    let share = (value - from.0) / (to.0 - from.0);
    from.1 + (share * f64::from(to.1 - from.1)).round() as i32
}
