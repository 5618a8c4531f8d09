//! Checks the metadata of a game against its rules.
//!
//! The roles, fluents and moves in the metadata must exist, with enough arguments, and the coordinates and contents of the board
//! must occur. If the rules ground, the possible fluents and moves are known; otherwise only names and numbers of arguments in
//! the rules are compared.

use std::collections::{BTreeMap, BTreeSet};

use agon_engine::Game;
use agon_gdl::{RelationId, Rules, Term as RuleTerm};
use agon_insight::Term;

use crate::about::place;
use crate::{About, Board, GameKind, Layer, SeenBy};

/// Something in the metadata that does not fit the rules.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Finding {
    /// The keys that lead to it in the file, such as `board`, `layers`, `0`, `fluent`.
    pub path: Vec<String>,
    /// Whether something is drawn or written incorrectly because of it. Otherwise something is only left out.
    pub is_error: bool,
    /// What is wrong.
    pub message: String,
}

impl Finding {
    fn error(path: &[&str], message: String) -> Finding {
        Finding {
            path: path.iter().map(|&key| key.to_owned()).collect(),
            is_error: true,
            message,
        }
    }

    fn warning(path: &[&str], message: String) -> Finding {
        Finding {
            is_error: false,
            ..Finding::error(path, message)
        }
    }

    /// The line and column in the text of the file, from 1.
    #[must_use]
    pub fn place(&self, text: &str) -> Option<(u32, u32)> {
        let table = toml::de::DeTable::parse(text).ok()?;
        let mut value: Option<&toml::de::DeValue<'_>> = None;
        let mut offset = 0;
        for key in &self.path {
            let child = match value {
                None => table.get_ref().get_key_value(key.as_str()),
                Some(toml::de::DeValue::Table(table)) => table.get_key_value(key.as_str()),
                Some(toml::de::DeValue::Array(items)) => {
                    let Some(item) = key.parse().ok().and_then(|idx: usize| items.get(idx)) else {
                        break;
                    };
                    offset = item.span().start;
                    value = Some(item.get_ref());
                    continue;
                }
                Some(_) => break,
            };
            let Some((name, child)) = child else { break };
            offset = name.span().start;
            value = Some(child.get_ref());
        }
        Some(place(text, offset))
    }
}

/// Everything in the metadata of a game that does not fit its rules.
#[must_use]
pub fn findings(about: &About, rules: &Rules, game: &Game) -> Vec<Finding> {
    let mut found = roles(about, rules);
    found.extend(moves(about, &known_moves(rules, game)));
    if let Some(board) = &about.board {
        let names = rules.roles.iter().map(|role| rules.term_text(role));
        found.extend(board_findings(
            board,
            &known_fluents(rules, game),
            &names.collect(),
        ));
    }
    found
}

fn roles(about: &About, rules: &Rules) -> Vec<Finding> {
    let names = rules.roles.iter().map(|role| rules.term_text(role));
    let names: BTreeSet<String> = names.collect();
    let list: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    for role in about.roles.keys().filter(|&role| !names.contains(role)) {
        let message = format!(
            "the game has no role `{role}`; its roles are {}",
            list.join(", ")
        );
        found.push(Finding::error(&["roles", role], message));
    }
    for role in names
        .iter()
        .filter(|&role| !about.roles.is_empty() && !about.roles.contains_key(role))
    {
        let message = format!("the role `{role}` has no name here");
        found.push(Finding::warning(&["roles"], message));
    }
    // Chance is not a player.
    let n_players = names.len() - usize::from(rules.random_role().is_some());
    if let Some(kind) = about.kind
        && (kind == GameKind::SinglePlayer) != (n_players == 1)
    {
        let message = format!(
            "the kind is {}, but the game has {n_players} roles",
            kind.name()
        );
        found.push(Finding::error(&["kind"], message));
    }
    found
}

/// What is known about terms, by their outermost name.
#[derive(Default)]
struct Known {
    /// The arguments of every possible term, if the rules ground.
    rows: Option<BTreeMap<String, Vec<Vec<String>>>>,
    /// The minimum number of arguments of each name.
    fewest: BTreeMap<String, usize>,
    /// Whether some term is a variable in the rules, so that not all names are known.
    is_open: bool,
}

impl Known {
    fn from_texts(texts: impl Iterator<Item = String>) -> Known {
        let mut rows: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
        for term in texts.filter_map(|text| Term::read(&text)) {
            let args = term.args.iter().map(Term::to_string).collect();
            rows.entry(term.name).or_default().push(args);
        }
        let fewest = |rows: &Vec<Vec<String>>| rows.iter().map(Vec::len).min().unwrap_or(0);
        Known {
            fewest: rows
                .iter()
                .map(|(name, rows)| (name.clone(), fewest(rows)))
                .collect(),
            rows: Some(rows),
            is_open: false,
        }
    }

    /// From the heads of rules: argument `arg` of some relations.
    fn from_heads(rules: &Rules, relations: &[RelationId], arg: usize) -> Known {
        let mut known = Known::default();
        let heads = rules.rules.iter().map(|rule| &rule.head);
        for head in heads.filter(|head| relations.contains(&head.relation)) {
            let (name, n_args) = match &head.args[arg] {
                RuleTerm::Variable(_) => {
                    known.is_open = true;
                    continue;
                }
                RuleTerm::Constant(name) => (*name, 0),
                RuleTerm::Compound(name, args) => (*name, args.len()),
            };
            let name = rules.symbols.name(name).to_owned();
            let fewest = known.fewest.entry(name).or_insert(n_args);
            *fewest = n_args.min(*fewest);
        }
        known
    }
}

fn known_moves(rules: &Rules, game: &Game) -> Known {
    match game.grounded() {
        Some(grounded) => {
            let program = grounded.program();
            let moves = program.roles.iter().flat_map(|role| &role.moves);
            Known::from_texts(moves.map(|mv| program.term_text(mv.term)))
        }
        None => Known::from_heads(rules, &[RelationId::LEGAL], 1),
    }
}

fn known_fluents(rules: &Rules, game: &Game) -> Known {
    match game.grounded() {
        Some(grounded) => {
            let program = grounded.program();
            let fluents = program.fluents.iter();
            Known::from_texts(fluents.map(|fluent| program.term_text(fluent.term)))
        }
        None => Known::from_heads(rules, &[RelationId::INIT, RelationId::NEXT], 0),
    }
}

fn moves(about: &About, known: &Known) -> Vec<Finding> {
    let mut found = Vec::new();
    for (name, form) in &about.moves {
        let path = ["moves", name.as_str()];
        let Some(&fewest) = known.fewest.get(name) else {
            if !known.is_open {
                let message = format!("no role can ever make a move `{name}`");
                found.push(Finding::error(&path, message));
            }
            continue;
        };
        let places = form.split('{').skip(1).map(|rest| rest.split_once('}'));
        for place in places {
            let Some((n, _)) = place else {
                found.push(Finding::error(
                    &path,
                    format!("a `{{` is not closed in \"{form}\""),
                ));
                continue;
            };
            if n.parse().map_or(true, |n: usize| n == 0 || n > fewest) {
                let message = format!("`{{{n}}}`: the move `{name}` has {fewest} arguments");
                found.push(Finding::error(&path, message));
            }
        }
    }
    found
}

fn board_findings(board: &Board, known: &Known, roles: &BTreeSet<String>) -> Vec<Finding> {
    let mut found = Vec::new();
    if board.columns.is_empty() && board.rows.is_empty() {
        let message = "`columns` or `rows` needs a list of coordinates".to_owned();
        found.push(Finding::error(&["board", "columns"], message));
    }
    for (key, lists) in [("columns", &board.columns), ("rows", &board.rows)] {
        if lists.iter().any(Vec::is_empty) {
            let message = format!("a list in `{key}` has no coordinate");
            found.push(Finding::error(&["board", key], message));
        }
    }
    // The values of each list that occur.
    let mut used = vec![BTreeSet::new(); board.columns.len() + board.rows.len()];
    for (idx, layer) in board.layers.iter().enumerate() {
        let idx = idx.to_string();
        let path = ["board", "layers", &idx];
        match known.fewest.get(&layer.fluent) {
            Some(&fewest) => {
                let rows = known.rows.as_ref().and_then(|rows| rows.get(&layer.fluent));
                found.extend(layer_findings(layer, board, &path, fewest, rows, &mut used));
                found.extend(seen_by_findings(layer, &path, fewest, rows, roles));
            }
            None if known.is_open => {}
            None => {
                let message = format!("the fluent `{}` can never hold", layer.fluent);
                found.push(Finding::error(&[&path[..], &["fluent"]].concat(), message));
            }
        }
    }
    if known.rows.is_none() || found.iter().any(|finding| finding.is_error) {
        return found;
    }
    // The edges of a board may be empty: in Bridg-It they have dots that are not in the state.
    let lists = board.columns.iter().map(|list| ("columns", list));
    let lists = lists.chain(board.rows.iter().map(|list| ("rows", list)));
    for ((key, list), used) in lists.zip(used) {
        let inner = &list[1..list.len().max(2) - 1];
        for value in inner.iter().filter(|&value| !used.contains(value)) {
            let message = format!("no fluent of the board ever has the coordinate `{value}`");
            found.push(Finding::warning(&["board", key], message));
        }
    }
    found
}

/// The argument that says who knows a fluent exists and is always a role.
fn seen_by_findings(
    layer: &Layer,
    path: &[&str],
    fewest: usize,
    rows: Option<&Vec<Vec<String>>>,
    roles: &BTreeSet<String>,
) -> Option<Finding> {
    let Some(SeenBy::Argument(arg)) = layer.seen_by else {
        return None;
    };
    let at = [path, &["seen_by"]].concat();
    let fluent = &layer.fluent;
    if arg == 0 || arg > fewest {
        let message = format!("`{fluent}` has {fewest} arguments, so there is no argument {arg}");
        return Some(Finding::error(&at, message));
    }
    let mut values = rows?.iter().map(|row| &row[arg - 1]);
    let other = values.find(|&value| !roles.contains(value))?;
    let message = format!("argument {arg} of `{fluent}` can be `{other}`, which is not a role");
    Some(Finding::error(&at, message))
}

fn layer_findings(
    layer: &Layer,
    board: &Board,
    path: &[&str],
    fewest: usize,
    rows: Option<&Vec<Vec<String>>>,
    used: &mut [BTreeSet<String>],
) -> BTreeSet<Finding> {
    let Layer { fluent, .. } = layer;
    let at = |key: &'static str| [path, &[key]].concat();
    let mut found = BTreeSet::new();
    for (key, args) in [
        ("column", &layer.column),
        ("row", &layer.row),
        ("content", &layer.content),
    ] {
        for arg in args.iter().filter(|&&arg| arg == 0 || arg > fewest) {
            let message =
                format!("`{fluent}` has {fewest} arguments, so there is no argument {arg}");
            found.insert(Finding::error(&at(key), message));
        }
    }
    for (key, args, lists) in [
        ("column", &layer.column, &board.columns),
        ("row", &layer.row, &board.rows),
    ] {
        if args.len() != lists.len() {
            let message = format!(
                "`{key}` needs one argument per list of coordinates: {}, not {}",
                lists.len(),
                args.len()
            );
            found.insert(Finding::error(&at(key), message));
        }
    }
    if layer.glyph.is_some() != layer.content.is_empty() {
        let message = format!("`{fluent}` needs either `glyph`, or `content` and `glyphs`");
        found.insert(Finding::error(&at("fluent"), message));
    }
    for (content, glyph) in &layer.glyphs {
        if glyph.chars().count() != 1 {
            let message = format!("the glyph of `{content}` must be one character, not {glyph:?}");
            found.insert(Finding::error(
                &[path, &["glyphs", content.as_str()]].concat(),
                message,
            ));
        }
    }
    if let Some(glyph) = layer.glyph.iter().find(|glyph| glyph.chars().count() != 1) {
        let message = format!("`glyph` must be one character, not {glyph:?}");
        found.insert(Finding::error(&at("glyph"), message));
    }
    let Some(rows) = rows.filter(|_| found.is_empty()) else {
        return found;
    };
    let places: Vec<usize> = layer.column.iter().chain(&layer.row).copied().collect();
    let lists: Vec<&Vec<String>> = board.columns.iter().chain(&board.rows).collect();
    let mut contents = BTreeSet::new();
    for row in rows {
        for (idx, &arg) in places.iter().enumerate() {
            let value = &row[arg - 1];
            used[idx].insert(value.clone());
            if !lists[idx].contains(value) {
                let key = if idx < board.columns.len() {
                    "columns"
                } else {
                    "rows"
                };
                let message =
                    format!("`{fluent}` also has the coordinate `{value}`, which is not drawn");
                found.insert(Finding::warning(&["board", key], message));
            }
        }
        let content = layer.content.iter().map(|&arg| row[arg - 1].as_str());
        contents.insert(content.collect::<Vec<&str>>().join(" "));
    }
    for content in layer
        .glyphs
        .keys()
        .filter(|&content| !contents.contains(content))
    {
        let message = format!("`{fluent}` never has the content `{content}`");
        found.insert(Finding::error(
            &[path, &["glyphs", content.as_str()]].concat(),
            message,
        ));
    }
    found
}
