//! Pictures as SVG: bars with confidence intervals, scores by budget, cross tables, papers beside us.
//!
//! Each function takes what is to be shown and gives the text of a picture. Sizes are pixels; everything is drawn at its
//! place, because labels here are long and automatic layouts cut them off.

mod bars;
mod budgets;
mod canvas;
mod cross;
mod paper;

pub use bars::bars;
pub use budgets::budgets;
pub use cross::cross;
pub use paper::paper;
