//! Moves as people write them: what is written is read back as the same move, in every game.

use std::collections::BTreeSet;
use std::sync::Arc;

use agon_engine::{Game, JointMove, RoleId};
use agon_games::board::board_of;
use agon_games::notation::Notation;
use agon_games::{self as library, About};
use agon_gdl::{check, parse};
use expect_test::{Expect, expect};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::{ENTRIES, assert_none};

/// States of a game whose moves are compared.
const MOST_STATES: usize = 30;
/// Of more moves in one state, some are compared.
const MOST_MOVES: usize = 40;

/// Games of every kind that are also looked at as if they had no metadata.
const STRIPPED: [&str; 16] = [
    "amazons",
    "bidding_tic_tac_toe",
    "blocks_world",
    "breakthrough",
    "checkers_small",
    "chess",
    "chinese_checkers_3",
    "connect_four",
    "goofspiel",
    "lights_out",
    "nim",
    "pentago",
    "rush_hour",
    "sudoku",
    "tic_tac_toe",
    "ttcc4",
];

fn notation(game: &Arc<Game>, about: Option<&About>) -> Notation {
    Notation::new(game, about, board_of(game, about).as_ref())
}

/// Writes and reads every legal move in the states of random games.
fn faults(name: &str, game: &Arc<Game>, notation: &Notation) -> Vec<String> {
    let mut faults = Vec::new();
    let mut machine = game.machine();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for step in 0..MOST_STATES {
        if machine.is_terminal() {
            machine.load(game.initial_state());
        }
        let mut joint = Vec::new();
        for role in RoleId::all(game.n_roles()) {
            let legal = machine.legal_moves(role).to_vec();
            let choices = notation.choices(role, &legal);
            let texts: BTreeSet<&str> = choices.iter().map(|choice| choice.text.as_str()).collect();
            if texts.len() != legal.len() || choices.len() != legal.len() {
                faults.push(format!("{name}: step {step}: two moves share a text"));
            }
            let stride = choices.len().div_ceil(MOST_MOVES);
            for (idx, choice) in choices.iter().enumerate().step_by(stride) {
                let typed = [
                    choice.text.clone(),
                    choice.text.to_uppercase(),
                    format!(" {} ", choice.text),
                    choice.kif.replace('(', " ( ").replace(')', " ) "),
                    format!("#{}", idx + 1),
                ];
                for typed in typed {
                    let read = choices.read(&typed);
                    if read != Ok(choice.mv) {
                        let kif = &choice.kif;
                        faults.push(format!("{name}: `{typed}` for {kif} is read as {read:?}"));
                    }
                }
            }
            joint.push(legal[(rng.next_u64() % legal.len() as u64) as usize]);
        }
        machine.advance(&JointMove::new(joint));
    }
    faults.truncate(3);
    faults
}

#[test]
fn what_is_written_is_read_with_metadata() {
    let faults = ENTRIES.iter().flat_map(|entry| {
        let notation = notation(&entry.game, Some(&entry.built_in.about));
        faults(entry.name(), &entry.game, &notation)
    });
    assert_none(&faults.collect::<Vec<_>>());
}

#[test]
fn what_is_written_is_read_without_metadata() {
    let entries = ENTRIES.iter();
    let faults = entries
        .filter(|entry| STRIPPED.contains(&entry.name()))
        .flat_map(|entry| faults(entry.name(), &entry.game, &notation(&entry.game, None)));
    assert_none(&faults.collect::<Vec<_>>());
}

#[test]
fn what_is_written_is_read_on_the_interpreter() {
    for name in ["breakthrough_small", "connect_four", "nim"] {
        let built_in = library::find(name).expect("it is built in");
        let rules = check(&parse(built_in.sheet.as_bytes(), &Default::default()));
        let game = Game::interpret(Arc::new(rules.expect("it is well-formed")));
        let game = Arc::new(game.expect("the interpreter can play it"));
        for about in [None, Some(&built_in.about)] {
            assert_none(&faults(name, &game, &notation(&game, about)));
        }
    }
}

/// The first moves of the first role that has a choice.
fn initial_texts(name: &str, about: bool) -> String {
    let entry = ENTRIES.iter().find(|entry| entry.name() == name);
    let entry = entry.expect("it is built in");
    let notation = notation(&entry.game, about.then_some(&entry.built_in.about));
    let mut machine = entry.game.machine();
    let mut roles = RoleId::all(entry.game.n_roles());
    let role = roles.find(|&role| machine.legal_moves(role).len() > 1);
    let role = role.expect("somebody has a choice");
    let choices = notation.choices(role, machine.legal_moves(role));
    let texts: Vec<&str> = choices
        .iter()
        .take(4)
        .map(|choice| choice.text.as_str())
        .collect();
    texts.join(" | ")
}

fn check_texts(names: &[&str], has_about: bool, expected: &Expect) {
    let lines = names
        .iter()
        .map(|name| format!("{name}: {}\n", initial_texts(name, has_about)));
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn notation_is_made_from_the_guessed_board() {
    check_texts(
        &STRIPPED,
        false,
        &expect![[r#"
        amazons: a4-a1 | a4-a2 | a4-a3 | a4-a5
        bidding_tic_tac_toe: bid 0 | bid 1 | bid 2 | bid 3
        blocks_world: c e | c table | e c | e table
        breakthrough: a2-a3 | a2-b3 | b2-a3 | b2-b3
        checkers_small: move red_man 2,3-1,4 | move red_man 2,3-3,4 | move red_man 4,3-3,4 | move red_man 4,3-5,4
        chess: a2-a3 | a2-a4 | b1-a3 | b1-c3
        chinese_checkers_3: 6,2-5,3 | 6,2-6,3 | 7,1-5,3 | 7,1-7,3
        connect_four: 1 | 2 | 3 | 4
        goofspiel: 1 | 2 | 3 | 4
        lights_out: 1,1 | 1,2 | 1,3 | 1,4
        nim: a1 | b1 | b2 | b3
        pentago: 1,1 | 1,2 | 1,3 | 1,4
        rush_hour: b backward | b forward | c backward | c forward
        sudoku: 1,3 5 | 1,3 6 | 1,3 9 | 1,4 5
        tic_tac_toe: 1,1 | 1,2 | 1,3 | 2,1
        ttcc4: 3 | 4 | 5 | checker 1,4-2,3
    "#]],
    );
}

#[test]
fn notation_of_the_metadata_comes_first() {
    let names = [
        "chess",
        "connect_four",
        "goofspiel",
        "checkers",
        "nim",
        "sokoban",
    ];
    check_texts(
        &names,
        true,
        &expect![[r#"
        chess: a2a3 | a2a4 | b1a3 | b1c3
        connect_four: 1 | 2 | 3 | 4
        goofspiel: 1 | 2 | 3 | 4
        checkers: b3-a4 | b3-c4 | d3-c4 | d3-e4
        nim: 1 from a | 1 from b | 1 from c | 1 from d
        sokoban: east | north | west
    "#]],
    );
}

#[test]
fn a_move_is_read_by_role_and_legal_moves() {
    let entry = ENTRIES.iter().find(|entry| entry.name() == "chess");
    let entry = entry.expect("it is built in");
    let notation = notation(&entry.game, Some(&entry.built_in.about));
    let mut machine = entry.game.machine();
    let white = RoleId(0);
    let legal = machine.legal_moves(white).to_vec();
    let mv = notation.read(white, &legal, "E2-E4").expect("it is legal");
    assert_eq!(entry.game.move_text(white, mv), "(move e 2 e 4)");
    assert_eq!(notation.text(white, mv), "e2e4");
    let error = notation.read(white, &legal, "e2e5").expect_err("it is not");
    assert_eq!(
        error.to_string(),
        "`e2e5` is not a legal move; did you mean e2e3 or e2e4?"
    );
}
