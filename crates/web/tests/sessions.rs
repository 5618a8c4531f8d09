//! Many sessions at once: everybody is answered, or is told to wait, and the cores are shared fairly.

mod client;

use std::thread;
use std::time::Instant;

use client::{Site, seats};
use serde_json::{Value, json};

/// People who play at the same time.
const N_SESSIONS: usize = 50;
/// The clock of their opponents.
const CLOCK: f64 = 0.5;

/// What a page sees of its opponent while it waits.
fn is_told(seen: &Value) -> bool {
    let seat = &seen["seats"][1];
    match seat["status"].as_str() {
        Some("queued") => seat["place"].as_u64().is_some_and(|place| place >= 1),
        Some("thinking" | "chosen" | "idle") => true,
        _ => false,
    }
}

#[test]
fn fifty_people_play_at_once() {
    let site = Site::with(|config| config.searches = 2);
    let setup =
        json!({"game": "connect_four", "seats": seats(&["person", "agon"]), "playClock": CLOCK});
    let tables: Vec<client::Table> = (0..N_SESSIONS).map(|_| site.play(&setup)).collect();
    for table in &tables {
        site.wait_for(table, &table.tokens[0], |seen| {
            seen["seats"][0]["status"] == "to-move"
        });
    }
    for round in 0..2 {
        let step = round * 2;
        thread::scope(|scope| {
            for table in &tables {
                let site = &site;
                scope.spawn(move || {
                    assert_eq!(site.make_move(table, 0, "4").status, 200);
                    let began = Instant::now();
                    site.wait_for(table, &table.tokens[0], |seen| {
                        let is_answered = seen["state"]["step"] == step + 2;
                        assert!(
                            is_answered || is_told(seen),
                            "nobody says why it takes so long: {seen}"
                        );
                        is_answered
                    });
                    assert!(began.elapsed() < client::PATIENCE);
                });
            }
        });
    }
    // Nobody searched for longer than the clock, and all of them together not for longer than fair shares allow.
    let (mut total, mut n_searched) = (0.0, 0);
    for table in &tables {
        let seen = site.look(table, &table.tokens[0]);
        for step in [1, 3] {
            let thought = &seen["history"][step]["thoughts"][1];
            let seconds = thought["seconds"]
                .as_f64()
                .unwrap_or_else(|| panic!("it searched: {seen}"));
            n_searched += usize::from(thought["playouts"].as_u64() > Some(0));
            total += seconds;
        }
    }
    assert!(
        total < 2.0 * N_SESSIONS as f64 * CLOCK,
        "{total} s of search"
    );
    // Unless the machine is very busy with other things, everybody gets something.
    assert!(
        n_searched > N_SESSIONS,
        "{n_searched} searches had a playout"
    );
    let load = site.get("/api/server").json();
    assert_eq!(load["load"]["matches"], N_SESSIONS);
    assert_eq!(load["load"]["waiting"], 0);
}
