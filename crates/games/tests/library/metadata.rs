//! The metadata of the built-in games agrees with their rules.

use std::collections::{BTreeMap, BTreeSet};

use agon_games::{About, Board, GameKind, Layer};
use agon_insight::Term;

use crate::{ENTRIES, Entry, assert_none};

const TABLES: [&str; 8] = [
    "ary-table1",
    "ary-table2",
    "cadia-table1",
    "finnsson-table1",
    "finnsson-table2",
    "trutman-table1",
    "trutman-table2",
    "trutman-table3",
];

#[test]
fn metadata_is_complete_and_correct() {
    let mut faults = Vec::new();
    for entry in ENTRIES.iter() {
        let about = &entry.built_in.about;
        let mut game_faults = texts(about);
        game_faults.extend(roles(entry, about));
        game_faults.extend(moves(entry, about));
        if let Some(board) = &about.board {
            game_faults.extend(board_faults(entry, board));
        }
        let file = format!("games/{}.toml", entry.name());
        faults.extend(
            game_faults
                .into_iter()
                .map(|fault| format!("{file}: {fault}")),
        );
    }
    assert_none(&faults);
}

fn texts(about: &About) -> Vec<String> {
    let mut faults = Vec::new();
    let source = about.source.as_deref().unwrap_or_default();
    for (key, text) in [
        ("title", about.title.as_str()),
        ("description", &about.description),
        ("source", source),
    ] {
        if text.trim().is_empty() {
            faults.push(format!("no {key}"));
        }
    }
    let unknown = about
        .tables
        .iter()
        .filter(|table| !TABLES.contains(&table.as_str()));
    faults.extend(unknown.map(|table| format!("there is no table {table}")));
    faults
}

fn roles(entry: &Entry, about: &About) -> Vec<String> {
    let names = entry
        .rules
        .roles
        .iter()
        .map(|role| entry.rules.term_text(role));
    let names: BTreeSet<String> = names.collect();
    let mut faults = Vec::new();
    if about.roles.keys().cloned().collect::<BTreeSet<String>>() != names {
        faults.push(format!("the roles are {names:?}"));
    }
    if (about.kind == GameKind::SinglePlayer) != (names.len() == 1) {
        faults.push(format!("{} with {} roles", about.kind.name(), names.len()));
    }
    faults
}

/// The arguments of all terms, by name.
fn rows(texts: impl Iterator<Item = String>) -> BTreeMap<String, Vec<Vec<String>>> {
    let mut rows: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for text in texts {
        let term = Term::read(&text).expect("fluents and moves are terms");
        let args = term.args.iter().map(Term::to_string).collect();
        rows.entry(term.name).or_default().push(args);
    }
    rows
}

fn moves(entry: &Entry, about: &About) -> Vec<String> {
    let Some(game) = entry.game.grounded() else {
        return Vec::new();
    };
    let program = game.program();
    let moves = program.roles.iter().flat_map(|role| &role.moves);
    let known = rows(moves.map(|mv| program.term_text(mv.term)));
    let mut faults = Vec::new();
    for (name, form) in &about.moves {
        let Some(rows) = known.get(name) else {
            faults.push(format!("no role has the move {name}"));
            continue;
        };
        let fewest = rows.iter().map(Vec::len).min().unwrap_or(0);
        for n in form
            .split('{')
            .skip(1)
            .filter_map(|rest| rest.split('}').next())
        {
            if n.parse().map_or(true, |n: usize| n == 0 || n > fewest) {
                faults.push(format!("{name} has no argument {n}"));
            }
        }
    }
    faults
}

fn board_faults(entry: &Entry, board: &Board) -> Vec<String> {
    let Some(game) = entry.game.grounded() else {
        return Vec::new();
    };
    let program = game.program();
    let fluents = rows(
        program
            .fluents
            .iter()
            .map(|fluent| program.term_text(fluent.term)),
    );
    let mut faults = Vec::new();
    // The values of each list that occur.
    let mut used = vec![BTreeSet::new(); board.columns.len() + board.rows.len()];
    for layer in &board.layers {
        match fluents.get(&layer.fluent) {
            None => faults.push(format!("{} can never hold", layer.fluent)),
            Some(rows) => faults.extend(layer_faults(layer, board, rows, &mut used)),
        }
    }
    // The edges of a board may be empty: in Bridg-It they have dots that are not in the state.
    for (list, used) in board.columns.iter().chain(&board.rows).zip(used) {
        let inner = &list[1..list.len().max(2) - 1];
        for value in inner.iter().filter(|&value| !used.contains(value)) {
            faults.push(format!("no fluent is ever at {value}"));
        }
    }
    faults
}

fn layer_faults(
    layer: &Layer,
    board: &Board,
    rows: &[Vec<String>],
    used: &mut [BTreeSet<String>],
) -> Vec<String> {
    let Layer { fluent, .. } = layer;
    let fewest = rows.iter().map(Vec::len).min().unwrap_or(0);
    let places: Vec<usize> = layer.column.iter().chain(&layer.row).copied().collect();
    let args: Vec<usize> = places.iter().chain(&layer.content).copied().collect();
    if args.iter().any(|&arg| arg == 0 || arg > fewest) {
        return vec![format!("{fluent} has no such arguments: {args:?}")];
    }
    if layer.column.len() != board.columns.len() || layer.row.len() != board.rows.len() {
        return vec![format!(
            "{fluent}: needs one argument per list of coordinates"
        )];
    }
    let mut faults = BTreeSet::new();
    if layer.glyph.is_some() != layer.content.is_empty() {
        faults.insert(format!(
            "{fluent}: needs either a glyph, or contents with glyphs"
        ));
    }
    for glyph in layer.glyphs.values().chain(&layer.glyph) {
        if glyph.chars().count() != 1 {
            faults.insert(format!("{fluent}: {glyph:?} is not one character"));
        }
    }
    let lists: Vec<&Vec<String>> = board.columns.iter().chain(&board.rows).collect();
    let mut contents = BTreeSet::new();
    for row in rows {
        for (idx, &arg) in places.iter().enumerate() {
            let value = &row[arg - 1];
            used[idx].insert(value.clone());
            if !lists[idx].contains(value) {
                faults.insert(format!("{fluent} is also at {value}"));
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
        faults.insert(format!("{fluent} never has the content {content}"));
    }
    faults.into_iter().collect()
}
