//! Colours for matches: one per role, the last move, threats and remarks.
//!
//! Every function returns plain text if colours are off.

use std::collections::BTreeMap;

use agon::games::Board;
use agon::games::board::{Stone, draw, draw_styled, stones};
use agon_engine::{Game, RoleId, State};
use agon_insight::piece;
use anstyle::{AnsiColor, Color, Style};

/// Roles that are called by a colour get it.
const NAMED: [(&str, AnsiColor); 9] = [
    ("red", AnsiColor::Red),
    ("green", AnsiColor::Green),
    ("yellow", AnsiColor::Yellow),
    ("blue", AnsiColor::Blue),
    ("magenta", AnsiColor::Magenta),
    ("purple", AnsiColor::Magenta),
    ("pink", AnsiColor::BrightMagenta),
    ("cyan", AnsiColor::Cyan),
    ("teal", AnsiColor::Cyan),
];
/// The others get what is left of these, in this order.
const OTHERS: [AnsiColor; 6] = [
    AnsiColor::Yellow,
    AnsiColor::Cyan,
    AnsiColor::Magenta,
    AnsiColor::Green,
    AnsiColor::Red,
    AnsiColor::Blue,
];

/// Paints the boards and words of a game.
pub(crate) struct Painter {
    is_on: bool,
    roles: Vec<Style>,
    /// Whose the contents of cells are, where that is not seen from their names.
    owners: BTreeMap<String, RoleId>,
    names: Vec<String>,
}

impl Painter {
    /// For a game, with colours or without.
    pub(crate) fn new(game: &Game, is_on: bool) -> Painter {
        let names: Vec<String> = RoleId::all(game.n_roles())
            .map(|role| game.role_name(role).to_lowercase())
            .collect();
        let pieces = is_on.then(|| piece::find(game)).flatten();
        let kinds = pieces.into_iter().flat_map(|pieces| pieces.kinds);
        Painter {
            is_on,
            roles: role_styles(&names),
            owners: kinds
                .filter_map(|kind| Some((kind.name, kind.owner?)))
                .collect(),
            names,
        }
    }

    /// Text in the colour of a role.
    pub(crate) fn role(&self, role: RoleId, text: &str) -> String {
        self.paint(self.roles[role.idx()].bold(), text)
    }

    /// Something good: a win.
    pub(crate) fn good(&self, text: &str) -> String {
        self.paint(color(AnsiColor::Green).bold(), text)
    }

    /// Something bad: a threat, a loss, a wrong input.
    pub(crate) fn bad(&self, text: &str) -> String {
        self.paint(color(AnsiColor::Red).bold(), text)
    }

    /// Something that matters little.
    pub(crate) fn dim(&self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }

    /// Something that matters.
    pub(crate) fn strong(&self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    /// A state on its board. Cells that differ from `before` are shown in reverse.
    pub(crate) fn board(
        &self,
        game: &Game,
        board: &Board,
        state: &State,
        before: Option<&State>,
    ) -> String {
        let fluents = game.fluents(state);
        if !self.is_on {
            return draw(board, &fluents);
        }
        let old = before.map(|before| stones(board, &game.fluents(before)));
        draw_styled(board, &fluents, &|place, glyph, stone| {
            let owner = stone.and_then(|stone| self.owner(stone));
            let style = match (owner, stone) {
                (Some(role), _) => self.roles[role.idx()].bold(),
                (None, Some(_)) => Style::new(),
                (None, None) => Style::new().dimmed(),
            };
            let has_changed = old.as_ref().is_some_and(|old| old.get(place) != stone);
            let style = if has_changed { style.invert() } else { style };
            self.paint(style, glyph)
        })
    }

    /// Whose a stone is: a role that its content or its fluent names, or the role that moves such pieces.
    fn owner(&self, stone: &Stone) -> Option<RoleId> {
        let both = format!("{} {}", stone.content, stone.fluent);
        let words = both.split(|c: char| !c.is_alphanumeric());
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        let is_named = |name: &String| words.contains(name);
        let named = self.names.iter().position(is_named);
        let named = named.map(|idx| RoleId(idx as u16));
        let kind = format!("{} {}", stone.fluent, stone.content);
        let owners = [stone.content.as_str(), kind.trim()];
        let known = || {
            owners
                .iter()
                .find_map(|&kind| self.owners.get(kind).copied())
        };
        named.or_else(known)
    }

    fn paint(&self, style: Style, text: &str) -> String {
        match self.is_on && !text.is_empty() {
            true => format!("{style}{text}{style:#}"),
            false => text.to_owned(),
        }
    }
}

fn color(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(color)))
}

/// A colour per role, all different as long as there are enough.
fn role_styles(names: &[String]) -> Vec<Style> {
    let named = |name: &String| {
        let named = NAMED.iter().find(|(color, _)| name == color);
        named.map(|(_, color)| *color)
    };
    let taken: Vec<AnsiColor> = names.iter().filter_map(named).collect();
    let mut free = OTHERS.iter().filter(|color| !taken.contains(color));
    let style = |name: &String| match named(name) {
        Some(named) => color(named),
        None => free.next().map_or_else(Style::new, |&free| color(free)),
    };
    names.iter().map(style).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn game(name: &str) -> (Game, Board) {
        let built_in = agon::games::find(name).expect("it is built in");
        let description = agon_gdl::parse(built_in.sheet.as_bytes(), &Default::default());
        let rules = Arc::new(agon_gdl::check(&description).expect("it is well-formed"));
        let game = Game::compile(rules, &Default::default(), &|| false).expect("it compiles");
        (game, built_in.about.board.expect("it has a board"))
    }

    #[test]
    fn a_board_without_escape_codes_is_the_plain_one() {
        for name in ["breakthrough_small", "connect_four", "skirmish"] {
            let (game, board) = game(name);
            let state = game.initial_state();
            let plain = Painter::new(&game, false).board(&game, &board, state, None);
            let painted = Painter::new(&game, true).board(&game, &board, state, None);
            assert_ne!(plain, painted, "{name}");
            assert_eq!(anstream::adapter::strip_str(&painted).to_string(), plain);
        }
    }

    #[test]
    fn what_has_changed_is_reversed() {
        let (game, board) = game("connect_four");
        let painter = Painter::new(&game, true);
        let mut machine = game.machine();
        let before = machine.state();
        let first = RoleId::all(2).map(|role| machine.legal_moves(role)[0]);
        let joint = agon_engine::JointMove::new(first.collect::<Vec<_>>());
        machine.advance(&joint);
        let reverse = "\x1b[7m";
        let drawn = painter.board(&game, &board, &machine.state(), Some(&before));
        assert_eq!(drawn.matches(reverse).count(), 1, "{drawn:?}");
        let same = painter.board(&game, &board, &before, Some(&before));
        assert_eq!(same.matches(reverse).count(), 0, "{same:?}");
    }

    #[test]
    fn roles_have_different_colours() {
        let names = ["white", "black", "yellow", "x", "y", "z"].map(str::to_owned);
        let mut styles: Vec<String> = role_styles(&names)
            .iter()
            .map(ToString::to_string)
            .collect();
        styles.sort();
        styles.dedup();
        assert_eq!(styles.len(), names.len());
    }
}
