//! Code lenses on top of a text: what the game is like, and what can be done with it.

use lsp_types::{CodeLens, Command, Position, Range, Uri};
use serde_json::json;

use crate::background::Statistics;
use crate::document::Document;

/// The command that plays a game.
pub(crate) const PLAY: &str = "agon.play";
/// The command that analyses a game.
pub(crate) const ANALYSE: &str = "agon.analyse";
/// The command of a lens that only says something.
pub(crate) const TELL: &str = "agon.statistics";

/// The lenses of a text. A text with errors has none.
pub(crate) fn lenses(document: &Document, uri: &Uri) -> Vec<CodeLens> {
    if document.reading.rules.is_none() {
        return Vec::new();
    }
    let title = match &document.statistics {
        Some(statistics) => title(statistics),
        None => "grounding …".to_owned(),
    };
    let lens = |title: String, command: &str| CodeLens {
        range: Range::new(Position::new(0, 0), Position::new(0, 0)),
        command: Some(Command::new(
            title,
            command.to_owned(),
            Some(vec![json!(uri.as_str())]),
        )),
        data: None,
    };
    vec![
        lens(title, TELL),
        lens("play".to_owned(), PLAY),
        lens("analyse".to_owned(), ANALYSE),
    ]
}

/// Roles, fluents, moves and speed in one line.
pub(crate) fn title(statistics: &Statistics) -> String {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut parts = vec![count(statistics.n_roles, "role")];
    if statistics.is_network {
        parts.push(count(statistics.n_fluents, "fluent"));
        parts.push(count(statistics.n_moves, "move"));
    } else {
        parts.push("not grounded".to_owned());
    }
    if let Some(playouts) = statistics.playouts {
        parts.push(format!("{} playouts/s", rounded(playouts)));
    }
    parts.join(" · ")
}

/// Two digits that count: 1234567 is `1.2M`.
fn rounded(number: f64) -> String {
    let (value, unit) = match number {
        n if n >= 1e6 => (n / 1e6, "M"),
        n if n >= 1e3 => (n / 1e3, "k"),
        n => (n, ""),
    };
    match value < 9.95 {
        true => format!("{value:.1}{unit}"),
        false => format!("{value:.0}{unit}"),
    }
}
