//! Any messages in any order get answers: the player never panics, and a PLAY in a match that it has taken is answered
//! with a move that is legal there.
//!
//! One message per line; `{rules}` stands for a small game, in which the moves of the first role name the step.

#![no_main]

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_player::{Lobby, Settings};
use agon_protocol::codec::{read_request, write_reply};
use agon_protocol::{Reply, Request};
use agon_search::Preset;

const RULES: &str = "((role a) (role b) (init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3)
    (<= (legal a (go ?x)) (true (step ?x))) (legal b z) (legal b y)
    (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y)) (<= terminal (true (step 3))) (goal a 50) (goal b 50))";
/// More lines are another dialogue.
const MOST_LINES: usize = 12;
/// Clocks are no longer than that, or an input could take for ever.
const LONGEST: Duration = Duration::from_secs(1);

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let preset = Preset::parse("legal").expect("it is one");
    let make = Arc::new(move |game: &Arc<_>, seed| preset.bot(game, seed));
    let lobby = Lobby::new(make, Settings::default(), 2);
    let text = String::from_utf8_lossy(bytes);
    let mut is_ours = true;
    for line in text.lines().take(MOST_LINES) {
        let Ok(mut request) = read_request(line.replace("{rules}", RULES).as_bytes()) else {
            continue;
        };
        if let Request::Start {
            start_clock,
            play_clock,
            ..
        } = &mut request
        {
            is_ours &= line.contains("{rules}");
            *start_clock = LONGEST.min(*start_clock);
            *play_clock = LONGEST.min(*play_clock);
        }
        let is_play = matches!(request, Request::Play { .. });
        let reply = lobby.answer(request, Instant::now());
        let text = write_reply(&reply);
        if is_play && is_ours && reply != Reply::Busy {
            let is_legal = ["( go 0 )", "( go 1 )", "( go 2 )", "y", "z", "nil"].contains(&text.as_str());
            assert!(is_legal, "{text}");
        }
        assert!(lobby.n_matches() <= 2);
    }
});
