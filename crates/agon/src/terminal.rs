//! The terminal: its size, and whether to use colours.
//!
//! `--color` decides about colours. `auto` means: where the stream is a terminal, unless `NO_COLOR` is set.

use std::io::{IsTerminal, stdout};

use agon_gdl::RenderOptions;
use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;

/// Width and height of the terminal in characters; of an ordinary one if there is none.
pub(crate) fn size() -> (usize, usize) {
    let size = terminal_size::terminal_size();
    size.map_or((80, 24), |(width, height)| {
        (usize::from(width.0), usize::from(height.0))
    })
}

/// The width of standard output if it is not a terminal and `COLUMNS` is not set.
const DEFAULT_WIDTH: usize = 100;
/// No table is made narrower than this.
const LEAST_WIDTH: usize = 40;

/// The width of lines on standard output: that of the terminal, of the variable `COLUMNS` if it is not a terminal, or 100.
pub(crate) fn width() -> usize {
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    let width = match terminal_size::terminal_size_of(stdout()) {
        Some((width, _)) => usize::from(width.0),
        None => columns().unwrap_or(DEFAULT_WIDTH),
    };
    width.max(LEAST_WIDTH)
}

/// When to use colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum ColorArg {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl ColorArg {
    /// Makes this the choice of the whole process.
    pub(crate) fn apply(self) {
        let choice = match self {
            ColorArg::Auto => ColorChoice::Auto,
            ColorArg::Always => ColorChoice::AlwaysAnsi,
            ColorArg::Never => ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// Whether what is written to a stream has colours.
pub(crate) fn has_color(stream: &impl RawStream) -> bool {
    AutoStream::choice(stream) != ColorChoice::Never
}

/// How findings are drawn on standard output: with colours if there are any, and in its width if it is a terminal.
pub(crate) fn render_options() -> RenderOptions {
    let width = terminal_size::terminal_size().map_or(120, |(width, _)| usize::from(width.0));
    let is_terminal = stdout().is_terminal();
    RenderOptions {
        colour: has_color(&stdout()),
        width: if is_terminal { width.max(40) } else { 120 },
    }
}
