//! The metadata of the built-in games agrees with their rules.

use std::collections::BTreeSet;

use agon_games::metadata::findings;

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
        let mut game_faults = texts(entry);
        let found = findings(&entry.built_in.about, &entry.rules, &entry.game);
        game_faults.extend(found.into_iter().map(|finding| finding.message));
        let file = format!("games/{}.toml", entry.name());
        faults.extend(
            game_faults
                .into_iter()
                .map(|fault| format!("{file}: {fault}")),
        );
    }
    assert_none(&faults);
}

/// What the metadata of one's own sheets may leave out.
fn texts(entry: &Entry) -> Vec<String> {
    let about = &entry.built_in.about;
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
    if about.kind.is_none() {
        faults.push("no kind".to_owned());
    }
    let names = entry.rules.roles.iter();
    let names: BTreeSet<String> = names.map(|role| entry.rules.term_text(role)).collect();
    if about.roles.keys().cloned().collect::<BTreeSet<String>>() != names {
        faults.push(format!("the roles are {names:?}"));
    }
    let unknown = about
        .tables
        .iter()
        .filter(|table| !TABLES.contains(&table.as_str()));
    faults.extend(unknown.map(|table| format!("there is no table {table}")));
    faults
}
