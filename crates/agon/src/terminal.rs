//! The terminal: its size, and whether to use colours.

use std::io::{IsTerminal, stdout};

use agon_gdl::RenderOptions;

/// Width and height of the terminal in characters; of an ordinary one if there is none.
pub(crate) fn size() -> (usize, usize) {
    let size = terminal_size::terminal_size();
    size.map_or((80, 24), |(width, height)| {
        (usize::from(width.0), usize::from(height.0))
    })
}

/// How to draw findings on standard output: on a terminal with colours and in its width.
pub(crate) fn render_options() -> RenderOptions {
    let is_terminal = stdout().is_terminal();
    let colour = is_terminal && std::env::var_os("NO_COLOR").is_none();
    let width = terminal_size::terminal_size().map_or(120, |(width, _)| usize::from(width.0));
    RenderOptions {
        colour,
        width: if is_terminal { width.max(40) } else { 120 },
    }
}
