//! The programs in `examples` run, and the command `agon` meets their bots.

mod playing;

#[path = "../examples/four_move_mate.rs"]
#[expect(dead_code, reason = "its main reads the arguments of the process")]
mod four_move_mate;
#[path = "../examples/http_bot.rs"]
#[expect(dead_code, reason = "its main never returns")]
mod http_bot;
#[path = "../examples/play_out.rs"]
mod play_out;
#[path = "../examples/tournament_bot.rs"]
#[expect(dead_code, reason = "its main never returns")]
mod tournament_bot;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use playing::{empty_folder, play, run};
use serde_json::Value;

#[test]
fn a_program_plays_a_game_to_its_end() {
    play_out::main();
}

#[test]
fn the_http_bot_meets_agon_match() {
    let folder = empty_folder("examples_match");
    let served = http_bot::start(0).expect("it listens");
    let url = served.url();
    // Turns, moves at the same time, and a puzzle.
    for (game, players) in [
        ("tic_tac_toe", vec![url.as_str(), "legal"]),
        ("roshambo", vec!["random", url.as_str()]),
        ("eight_queens", vec![url.as_str()]),
    ] {
        let record = play(&folder, game, &players, &["--seed", "1"]);
        let seat = players.iter().position(|player| *player == url);
        let seat = seat.expect("it plays");
        assert_eq!(record.n_errors(seat), 0, "{game}: {:?}", record.errors);
        let goals = record.goal_values.expect("it is over");
        if game == "tic_tac_toe" {
            assert_eq!(goals[seat], 100, "{:?}", record.moves);
        }
        let details = record.agon.expect("it is ours");
        assert_eq!(details.seats[seat].parameters["name"], "flat-monte-carlo");
    }
}

#[test]
fn the_tournament_bot_enters_a_tournament() {
    let folder = empty_folder("examples_tournament");
    let served = tournament_bot::start(0).expect("it listens");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/tournament.toml");
    let text = fs::read_to_string(file).expect("it can be read");
    let own = "http://127.0.0.1:9149";
    assert!(text.contains(own), "{text}");
    let text = text.replace(own, &served.url());
    fs::write(folder.join("tournament.toml"), text).expect("it can be written");
    let output = run(&folder, &["tournament", "tournament.toml", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let lines = String::from_utf8(output.stdout).expect("it is text");
    let cells: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("it is an object"))
        .collect();
    assert_eq!(cells.len(), 4, "two games, two opponents");
    for cell in &cells {
        assert_eq!(cell["matches"], 2, "{cell}");
        assert_eq!(cell["first"], served.url(), "{cell}");
    }
}

#[test]
fn the_four_move_mate_mates_who_does_not_look() {
    let game = Arc::new(agon::games::load("chess").expect("it is built in"));
    let plan = four_move_mate::Plan {
        player: "legal".to_owned(),
        matches: 4,
        time: 1.0,
        playouts: Some(1),
        seed: 1,
    };
    let outcomes: Vec<_> = (1..=plan.matches)
        .map(|number| four_move_mate::play(&plan, &game, number).expect("it is played"))
        .collect();
    let mated: Vec<Option<u32>> = outcomes.iter().map(|outcome| outcome.mated).collect();
    assert!(mated.contains(&Some(4)), "{mated:?}");
    assert!(outcomes[1].moves.ends_with("h5f7"), "{}", outcomes[1].moves);
}
