//! The positions of `tactics/*.toml` are what they claim to be.
//!
//! Every position is played to, its right moves are legal, and its claim is proven anew by full-width search. A proof that
//! takes too many steps is a fault, too.

use std::collections::BTreeSet;
use std::thread;

use agon_engine::Game;
use agon_games::tactics::{Position, Tactics, read, tactics};

/// Steps of the engine for one proof.
const MOST_STEPS: u64 = 20_000_000;

#[test]
fn there_are_many_positions_of_many_games() {
    let all = tactics();
    let n_positions: usize = all.iter().map(|tactics| tactics.positions.len()).sum();
    assert!(n_positions >= 80, "{n_positions} positions");
    assert!(all.len() >= 10, "{} games", all.len());
    for tactics in &all {
        let mut names = BTreeSet::new();
        for position in &tactics.positions {
            let name = &position.name;
            assert!(
                names.insert(name),
                "{}: two are called {name}",
                tactics.game
            );
            assert!(!position.reason.is_empty(), "{}: {name}", tactics.game);
        }
    }
}

#[test]
fn every_claim_is_proven() {
    let all = tactics();
    let flaws: Vec<String> = thread::scope(|scope| {
        let (first, second) = all.split_at(all.len() / 2);
        let threads = [first, second].map(|half| {
            scope.spawn(move || {
                let flaws = half.iter().map(flaws);
                flaws.collect::<Vec<_>>().concat()
            })
        });
        let flaws = threads.map(|thread| thread.join().expect("it does not panic"));
        flaws.concat()
    });
    assert!(flaws.is_empty(), "{}", flaws.join("\n"));
}

/// What is wrong with the positions of a game.
fn flaws(tactics: &Tactics) -> Vec<String> {
    let game = agon_games::load(&tactics.game).expect("the game is built in");
    let flaw = |position: &Position| {
        let flaw = position.verify(&game, tactics, MOST_STEPS).err()?;
        Some(format!("{} {}: {flaw}", tactics.game, position.name))
    };
    tactics.positions.iter().filter_map(flaw).collect()
}

/// What is said about a position of tic-tac-toe with these lines.
fn check(lines: &str, expected: &str) {
    let text =
        format!("game = \"tic_tac_toe\"\n[[position]]\nname = \"a\"\nreason = \"b\"\n{lines}");
    let tactics = read(&text).expect("it is a file of positions");
    let game: Game = agon_games::load("tic_tac_toe").expect("it is built in");
    let found = tactics.positions[0].verify(&game, &tactics, MOST_STEPS);
    let found = found.map_or_else(|flaw| flaw.to_string(), |()| "good".to_owned());
    assert_eq!(found, expected, "{lines}");
}

#[test]
fn a_wrong_position_is_found_out() {
    let moves = |lines: &[&str]| format!("moves = \"\"\"\n{}\n\"\"\"", lines.join("\n"));
    // x has two in a row, and o must stop the third.
    let two = moves(&["(mark 1 1) wait", "wait (mark 2 2)", "(mark 2 1) wait"]);
    let defence = |right: &str, holds: u32| {
        format!(
            "role = \"o\"\nright = [{right}]\nclaim = \"defence\"\nvalue = 50\nplies = 2\nholds = {holds}\n"
        )
    };
    check(&format!("{}{two}", defence("\"(mark 3 1)\"", 6)), "good");
    check(
        &format!("{}{two}", defence("\"(mark 3 3)\"", 6)),
        "`(mark 3 1)` may still reach 50 after 2 plies",
    );
    check(
        &format!("{}{two}", defence("\"(mark 3 1)\", \"(mark 3 3)\"", 6)),
        "`(mark 3 3)` loses 50 within 6 plies",
    );
    check(
        &format!("{}{two}", defence("\"(mark 1 1)\"", 6)),
        "the right move `(mark 1 1)` is not legal",
    );
    check(
        &format!("{}{two}", defence("", 6)),
        "6 moves are legal, and 0 of them are right",
    );
    let twice = moves(&["(mark 1 1) wait", "wait (mark 1 1)"]);
    check(
        &format!("{}{twice}", defence("\"(mark 3 1)\"", 6)),
        "step 2: `(mark 1 1)` is not legal",
    );
    // x has two in a row and is to move.
    let win = moves(&[
        "(mark 1 1) wait",
        "wait (mark 3 3)",
        "(mark 2 1) wait",
        "wait (mark 2 3)",
    ]);
    let claim = |claim: &str, right: &str, rest: &str| {
        format!(
            "role = \"x\"\nright = [\"{right}\"]\nclaim = \"{claim}\"\nvalue = 100\n{rest}\n{win}"
        )
    };
    check(
        &claim("fastest", "(mark 3 1)", "plies = 1\nholds = 2"),
        "good",
    );
    // A block makes two threats at once.
    check(
        &claim("only", "(mark 3 1)", "plies = 5"),
        "`(mark 1 3)` may still reach 100 after 5 plies",
    );
    check(
        &claim("fastest", "(mark 3 1)", "plies = 1\nholds = 3"),
        "`(mark 1 3)` secures 100 within 3 plies, too",
    );
    check(
        &claim("fastest", "(mark 1 3)", "plies = 1\nholds = 0"),
        "`(mark 1 3)` does not secure 100 within 1 plies",
    );
}
