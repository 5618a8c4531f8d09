//! A player of a game with hidden information goes by all histories that agree with what it was told, and survives what makes no
//! sense.

use agon_player::{Budget, GamePlayer, Settings};
use agon_protocol::codec::{read_request, write_reply};
use agon_protocol::{Player, StopFlag};
use agon_search::Preset;

/// Chance hides a prize: in four of five cases on the left. A lamp tells which case it was, if chance also lights it.
const PRIZE: &str = "((role you) (role random) (init hide) (case 1) (case 2) (case 3) (case 4) (case 5) (side left) (side right)
    (on left 1) (on left 2) (on left 3) (on left 4) (on right 5)
    (<= (legal random (hide ?c dark)) (true hide) (case ?c)) (<= (legal random (hide ?c light)) (true hide) (case ?c))
    (<= (legal random wait) (not (true hide))) (<= (legal you wait) (not (true choose)))
    (<= (legal you (open ?s)) (true choose) (side ?s))
    (<= (next wait) (true hide)) (<= (next choose) (true wait)) (<= (next over) (true choose))
    (<= (next (prize ?s)) (does random (hide ?c ?l)) (on ?s ?c)) (<= (next (prize ?s)) (true (prize ?s)))
    (<= (next right) (does you (open ?s)) (true (prize ?s)))
    (<= (sees you (Case ?c)) (does random (hide ?c light)))
    (<= terminal (true over)) (<= (goal you 100) (true right)) (<= (goal you 0) (not (true right))))";

/// The answers of a player to these messages, after START.
fn answers(preset: &str, seed: u64, messages: &[&str]) -> Vec<String> {
    let settings = Settings {
        seed,
        budget: Budget {
            playouts: Some(200),
            ..Budget::default()
        },
        ..Settings::default()
    };
    let preset = Preset::parse(preset).expect("a preset");
    let mut player = GamePlayer::new(preset, settings);
    let mut send = |text: &str| {
        let request = read_request(text.as_bytes()).expect("a request");
        write_reply(&player.answer(request, &StopFlag::new()))
    };
    assert_eq!(send(&format!("(START m you {PRIZE} 60 60)")), "ready");
    messages.iter().map(|message| send(message)).collect()
}

#[test]
fn the_answer_is_the_best_one_over_all_that_is_possible() {
    let forms = [
        ["(PLAY m NIL)", "(PLAY m ())", "(PLAY m ())"],
        [
            "(PLAY m 0 NIL NIL)",
            "(PLAY m 1 wait ())",
            "(PLAY m 2 wait ())",
        ],
    ];
    // Not `oos`, which draws its answer.
    for preset in ["agon", "ismcts", "hyperplay", "cadia-2008"] {
        for seed in 0..12 {
            let told = answers(preset, seed, &forms[(seed % 2) as usize]);
            assert_eq!(told, ["wait", "wait", "( open left )"], "{preset} {seed}");
        }
    }
}

#[test]
fn what_was_seen_decides_in_any_spelling() {
    for seen in ["(Case 5)", "(CASE 5)", "( case 5 )"] {
        for seed in 0..4 {
            let told = answers(
                "agon",
                seed,
                &["(PLAY m NIL)", &format!("(PLAY m ({seen}))"), "(PLAY m ())"],
            );
            assert_eq!(told[2], "( open right )", "{seen} {seed}");
        }
    }
}

#[test]
fn a_manager_that_makes_no_sense_gets_legal_moves() {
    let dialogues: [&[&str]; 5] = [
        // Two cases at once, which cannot be.
        &[
            "(PLAY m 0 NIL NIL)",
            "(PLAY m 1 wait ((Case 1) (Case 5)))",
            "(PLAY m 2 wait ())",
        ],
        // Seen too late.
        &[
            "(PLAY m 0 NIL NIL)",
            "(PLAY m 1 wait ())",
            "(PLAY m 2 wait ((Case 5)))",
        ],
        // No rule shows this.
        &[
            "(PLAY m 0 NIL NIL)",
            "(PLAY m 1 wait ((ghost (of 7)) boo))",
            "(PLAY m 2 wait ())",
        ],
        // A message was lost.
        &["(PLAY m 0 NIL NIL)", "(PLAY m 2 wait ())"],
        // The move that was made for it is none.
        &[
            "(PLAY m 0 NIL NIL)",
            "(PLAY m 1 jump ())",
            "(PLAY m 2 wait ())",
        ],
    ];
    for messages in dialogues {
        for preset in ["agon", "oos", "hyperplay", "random"] {
            let told = answers(preset, 1, messages);
            let last = told.last().expect("an answer");
            let is_legal = ["( open left )", "( open right )"].contains(&last.as_str());
            assert!(is_legal, "{preset} {messages:?}: {told:?}");
        }
    }
}
