//! One readable random match per game. It shows how the game plays, and a difference shows that the rules, the metadata or the
//! drawing have changed.

use std::fmt::Write;
use std::sync::Arc;

use agon_engine::{Game, JointMove, RoleId, State};
use agon_games::About;
use agon_games::board::board_text;
use agon_games::notation::Notation;
use expect_test::expect_file;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::{ENTRIES, assert_none};

/// Number of matches, the shortest of which is shown.
const MATCHES: u64 = 10;
/// Number of boards that are drawn between the first and the last one.
const BOARDS_BETWEEN: usize = 2;

#[test]
fn playthroughs_are_unchanged() {
    let mut faults = Vec::new();
    for entry in ENTRIES.iter() {
        let text = playthrough(&entry.game, &entry.built_in.about);
        let path = format!("../playthroughs/{}.txt", entry.name());
        // All games are compared before the test fails.
        let compare = || expect_file![&path].assert_eq(&text);
        if std::panic::catch_unwind(compare).is_err() {
            faults.push(format!("tests/playthroughs/{}.txt differs", entry.name()));
        }
    }
    assert_none(&faults);
}

fn playthrough(game: &Arc<Game>, about: &About) -> String {
    let notation = Notation::new(game, Some(about), about.board.as_ref());
    let matches = (1..=MATCHES).map(|seed| (seed, play(game, seed)));
    let (seed, steps) = matches
        .min_by_key(|(_, steps)| steps.len())
        .expect("at least one match");
    let mut text = format!("{}: a random match (seed {seed})\n", about.title);
    let n_steps = steps.len() - 1;
    for (idx, (joint, state)) in steps.iter().enumerate() {
        if let Some(joint) = joint {
            let _ = writeln!(
                text,
                "{idx:>3}. {}",
                joint_text(game, about, &notation, joint)
            );
        }
        let period = n_steps / (BOARDS_BETWEEN + 1);
        let is_between = period > 1 && idx % period == 0 && n_steps - idx >= period;
        if idx == 0 || idx == n_steps || is_between {
            let _ = write!(text, "\n{}\n", drawing(game, about, state));
        }
    }
    let mut machine = game.machine();
    machine.load(&steps[n_steps].1);
    for role in RoleId::all(game.n_roles()) {
        let goals = machine.goals(role).join(" ");
        let _ = writeln!(text, "{} {goals}", role_name(game, about, role));
    }
    text
}

/// The states of a match, each with the joint move that led to it. Moves are sorted by text, so that the match does not
/// depend on how an engine numbers them.
fn play(game: &Game, seed: u64) -> Vec<(Option<JointMove>, State)> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut machine = game.machine();
    let mut steps = vec![(None, machine.state())];
    while !machine.is_terminal() {
        let pick = |role: RoleId| {
            let moves = machine.legal_moves(role).iter();
            let mut moves: Vec<_> = moves.map(|&mv| (game.move_text(role, mv), mv)).collect();
            moves.sort();
            moves[(rng.next_u64() % moves.len() as u64) as usize].1
        };
        let joint = JointMove::new(RoleId::all(game.n_roles()).map(pick).collect::<Vec<_>>());
        machine.advance(&joint);
        steps.push((Some(joint), machine.state()));
    }
    steps
}

fn role_name(game: &Game, about: &About, role: RoleId) -> String {
    let name = game.role_name(role);
    about.roles.get(&name).cloned().unwrap_or(name)
}

/// The moves of all roles, without those that only wait.
fn joint_text(game: &Game, about: &About, notation: &Notation, joint: &JointMove) -> String {
    let of_role = |role: RoleId| {
        let mv = notation.text(role, joint.of(role));
        (mv != "-").then(|| format!("{} {mv}", role_name(game, about, role)))
    };
    let moves: Vec<String> = RoleId::all(game.n_roles()).filter_map(of_role).collect();
    match moves.is_empty() {
        true => "-".to_owned(),
        false => moves.join(", "),
    }
}

/// The board, and the fluents that are not on it.
fn drawing(game: &Game, about: &About, state: &State) -> String {
    let fluents = game.fluents(state);
    let Some(board) = &about.board else {
        return fluents.join(" ") + "\n";
    };
    let is_drawn = |fluent: &&String| {
        let is_named = |name: &str| fluent.starts_with(&format!("({name} "));
        board.layers.iter().any(|layer| is_named(&layer.fluent))
    };
    let others: Vec<&str> = fluents
        .iter()
        .filter(|fluent| !is_drawn(fluent))
        .map(String::as_str)
        .collect();
    let others = match others.is_empty() {
        true => String::new(),
        false => others.join(" ") + "\n",
    };
    board_text(game, board, state) + &others
}
