//! Pictures as SVG: bars with confidence intervals, scores by budget and over time, cross tables, published beside measured tables.
//!
//! Each function takes what is to be shown and returns the text of a picture. Sizes are in pixels. Everything is placed by
//! hand, because labels here are long and automatic layouts cut them off.

mod bars;
mod budgets;
mod canvas;
mod cross;
mod curve;
mod paper;
mod tuning;

pub use bars::bars;
pub use budgets::budgets;
pub use cross::cross;
pub use curve::{CurvePoint, curve};
pub use paper::paper;
pub use tuning::tuning;
