//! What is known of the terminal: width and colours.

use std::io::{IsTerminal, stdout};

use agon_gdl::RenderOptions;

/// How findings are drawn on standard output: with colours and in its width if it is a terminal.
pub(crate) fn render_options() -> RenderOptions {
    let is_terminal = stdout().is_terminal();
    let colour = is_terminal && std::env::var_os("NO_COLOR").is_none();
    let width = terminal_size::terminal_size().map_or(120, |(width, _)| usize::from(width.0));
    RenderOptions {
        colour,
        width: if is_terminal { width.max(40) } else { 120 },
    }
}
