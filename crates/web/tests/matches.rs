//! Matches over the API: people, bots, undo, hints, resigning, covered choices, restarts.

mod client;

use client::{Site, Table, seats};
use serde_json::{Value, json};

/// Plays a person's first legal moves until the match is over.
fn play_on(site: &Site, table: &Table, role: usize) -> Value {
    loop {
        let token = &table.tokens[role];
        let seen = site.wait_for(table, token, |seen| {
            let is_asked = seen["seats"][role]["status"] == "to-move";
            seen["status"] == "over" || is_asked
        });
        if seen["status"] == "over" {
            return seen;
        }
        let mv = &seen["state"]["moves"][role][0];
        let body = json!({"role": role, "step": seen["state"]["step"], "move": mv["id"]});
        let answer = site.post_as(&format!("/api/matches/{}/move", table.id), token, &body);
        assert!(matches!(answer.status, 200 | 409), "{}", answer.text());
    }
}

#[test]
fn a_person_plays_against_a_bot_to_the_end() {
    let site = Site::new();
    for (game, names) in [
        ("tic_tac_toe", ["person", "random"]),
        ("connect_four", ["random", "person"]),
        ("goofspiel", ["person", "random"]),
    ] {
        let table = site.play(&json!({"game": game, "seats": seats(&names), "playClock": 0.1}));
        let role = names
            .iter()
            .position(|name| *name == "person")
            .expect("there is one");
        let end = play_on(&site, &table, role);
        assert_eq!(end["ending"]["kind"], "terminal", "{game}: {end}");
        assert_eq!(end["state"]["isTerminal"], true);
        assert!(end["ending"]["goals"][0].is_u64());
        let n_steps = end["history"].as_array().map_or(0, Vec::len);
        assert_eq!(end["state"]["step"], n_steps);
        // The record is valid by the rules.
        let record = site
            .get(&format!("/api/matches/{}/record", table.id))
            .json();
        let replay = site.post("/api/records", &json!({"record": record})).json();
        assert_eq!(replay["isValid"], true, "{replay}");
        assert_eq!(replay["history"].as_array().map_or(0, Vec::len), n_steps);
    }
}

#[test]
fn moves_are_read_as_people_write_them() {
    let site = Site::new();
    let table = site.play(&json!({"game": "chess", "seats": seats(&["person", "person"])}));
    site.wait_for(&table, &table.tokens[0], |seen| seen["status"] == "running");
    let wrong = site.make_move(&table, 0, "e2e5");
    assert_eq!((wrong.status, wrong.kind().as_str()), (400, "illegal-move"));
    assert!(wrong.text().contains("did you mean"), "{}", wrong.text());
    assert_eq!(
        site.make_move(&table, 1, "e7e5").kind(),
        "illegal-move",
        "it is not Black's turn"
    );
    assert_eq!(site.make_move(&table, 0, "E2-E4").status, 200);
    let seen = site.wait_for(&table, &table.tokens[1], |seen| seen["state"]["step"] == 1);
    let last = &seen["state"]["last"][0];
    let cell =
        |idx: &Value| seen["layout"]["cells"][idx.as_u64().unwrap_or(999) as usize]["name"].clone();
    assert_eq!(
        (cell(&last["from"]), cell(&last["to"])),
        (json!("e 2"), json!("e 4"))
    );
    assert_eq!(
        seen["state"]["moves"][0],
        json!([]),
        "only own moves are told"
    );
    let old = json!({"role": 1, "step": 0, "move": "e7e5"});
    let answer = site.post_as(
        &format!("/api/matches/{}/move", table.id),
        &table.tokens[1],
        &old,
    );
    assert_eq!((answer.status, answer.kind().as_str()), (409, "not-now"));
    assert_eq!(site.make_move(&table, 1, "(move e 7 e 5)").status, 200);
}

#[test]
fn a_choice_is_covered_until_all_have_chosen() {
    let site = Site::new();
    let table = site.play(&json!({"game": "roshambo", "seats": seats(&["person", "person"])}));
    let asked = |seen: &Value| {
        seen["seats"][0]["status"] == "to-move" && seen["seats"][1]["status"] == "to-move"
    };
    let first = site.wait_for(&table, &table.tokens[0], asked);
    let text = first["state"]["moves"][0][1]["text"]
        .as_str()
        .expect("it has moves")
        .to_owned();
    assert_eq!(site.make_move(&table, 0, &text).status, 200);
    let seen = site.wait_for(&table, &table.tokens[1], |seen| {
        seen["seats"][0]["status"] == "chosen"
    });
    assert_eq!(seen["state"]["step"], 0);
    let strip = |value: &Value| {
        let mut value = value.clone();
        for moves in value["state"]["moves"].as_array_mut().into_iter().flatten() {
            *moves = json!([]);
        }
        value.to_string()
    };
    assert!(
        !strip(&seen).contains(&format!("\"{text}\"")),
        "the choice is not told: {seen}"
    );
    assert_eq!(
        site.make_move(&table, 0, &text).kind(),
        "not-now",
        "a choice stays"
    );
    assert_eq!(site.make_move(&table, 1, &text).status, 200);
    site.wait_for(&table, &table.tokens[1], |seen| seen["state"]["step"] == 1);
}

#[test]
fn moves_are_taken_back_and_hints_are_given() {
    let site = Site::new();
    let table = site.play(
        &json!({"game": "tic_tac_toe", "seats": seats(&["person", "random"]), "playClock": 0.1}),
    );
    let token = table.tokens[0].clone();
    let path = |what: &str| format!("/api/matches/{}/{what}", table.id);
    let asked = |step: usize| {
        move |seen: &Value| seen["state"]["step"] == step && seen["seats"][0]["status"] == "to-move"
    };
    let start = site.wait_for(&table, &token, asked(0));
    assert_eq!(start["canUndo"], false);
    assert_eq!(
        site.post_as(&path("undo"), &token, &json!({})).kind(),
        "not-now"
    );
    let hint = site
        .post_as(&path("hint"), &token, &json!({"role": 0, "seconds": 0.3}))
        .json();
    assert!(hint["move"]["to"].is_u64(), "{hint}");
    assert!(
        hint["report"]["playouts"].as_u64().is_some_and(|n| n > 0),
        "{hint}"
    );
    assert_eq!(site.make_move(&table, 0, "(mark 2 2)").status, 200);
    let seen = site.wait_for(&table, &token, asked(2));
    assert_eq!(seen["canUndo"], true);
    assert_eq!(site.post_as(&path("undo"), &token, &json!({})).status, 200);
    let seen = site.wait_for(&table, &token, asked(0));
    assert_eq!(seen["state"]["moves"][0].as_array().map(Vec::len), Some(9));
    assert_eq!(site.make_move(&table, 0, "(mark 1 1)").status, 200);
    let seen = site.wait_for(&table, &token, asked(2));
    assert_eq!(seen["history"][0]["moves"][0]["kif"], "(mark 1 1)");
    assert_eq!(
        site.post_as(&path("resign"), &token, &json!({"role": 0}))
            .status,
        200
    );
    let seen = site.wait_for(&table, &token, |seen| seen["status"] == "over");
    assert_eq!(
        (&seen["ending"]["kind"], &seen["ending"]["winners"]),
        (&json!("resigned"), &json!([1]))
    );
    assert_eq!(site.make_move(&table, 0, "(mark 3 3)").kind(), "not-now");
}

#[test]
fn bots_can_be_watched_paused_and_stepped() {
    let site = Site::new();
    let setup = json!({"game": "breakthrough_small", "seats": seats(&["agon", "mc"]), "playClock": 0.4, "isPaused": true});
    let table = site.play(&setup);
    let mut events = site.listen(&format!("/api/matches/{}/events?search=1", table.id));
    let (event, data) = events.next();
    assert_eq!(event, "match", "{data}");
    let seen = site.wait_for(&table, &table.owner, |seen| seen["status"] == "paused");
    assert_eq!(
        (&seen["state"]["step"], &seen["isOwner"]),
        (&json!(0), &json!(true))
    );
    let control = format!("/api/matches/{}/control", table.id);
    assert_eq!(
        site.post_as(&control, &table.owner, &json!({"steps": 1}))
            .status,
        200
    );
    let report = events.wait_for("search");
    assert_eq!((&report["role"], &report["step"]), (&json!(0), &json!(0)));
    let best = &report["moves"][0];
    assert!(
        best["visits"].as_u64().is_some_and(|n| n > 0)
            && best["from"].is_u64()
            && best["to"].is_u64(),
        "{report}"
    );
    assert!(
        report["techniques"]
            .as_array()
            .is_some_and(|list| !list.is_empty()),
        "{report}"
    );
    assert!(report["line"][0][0]["text"].is_string(), "{report}");
    site.wait_for(&table, &table.owner, |seen| {
        seen["state"]["step"] == 1 && seen["status"] == "paused"
    });
    assert_eq!(
        site.post_as(&control, &table.owner, &json!({"isPaused": false}))
            .status,
        200
    );
    let seen = site.wait_for(&table, &table.owner, |seen| {
        seen["state"]["step"].as_u64() > Some(3)
    });
    assert!(
        seen["history"][0]["thoughts"][0]["playouts"]
            .as_u64()
            .is_some_and(|n| n > 0),
        "{seen}"
    );
    assert_eq!(
        site.post_as(&control, &table.owner, &json!({"end": true}))
            .status,
        200
    );
    assert_eq!(site.get(&format!("/api/matches/{}", table.id)).status, 404);
}

#[test]
fn a_match_begins_after_any_moves() {
    let site = Site::new();
    let moves = json!([["(mark 1 1)", "wait"], ["wait", "(mark 2 2)"]]);
    let table = site.play(
        &json!({"game": "tic_tac_toe", "seats": seats(&["person", "random"]), "moves": moves}),
    );
    let seen = site.wait_for(&table, &table.tokens[0], |seen| {
        seen["seats"][0]["status"] == "to-move"
    });
    assert_eq!(seen["state"]["step"], 2);
    let position = site
        .post(
            "/api/positions",
            &json!({"game": "tic_tac_toe", "moves": moves}),
        )
        .json();
    assert_eq!(position["state"]["pieces"], seen["state"]["pieces"]);
    let wrong = json!({"game": "tic_tac_toe", "seats": seats(&["person", "random"]), "moves": [["(mark 1 1)", "(mark 1 1)"]]});
    let answer = site.post("/api/matches", &wrong);
    assert_eq!(
        (answer.status, answer.kind().as_str()),
        (400, "illegal-move")
    );
    assert!(answer.text().contains("step 1"), "{}", answer.text());
}

#[test]
fn matches_go_on_after_a_restart() {
    let site = Site::new();
    let rules = agon_games::find("tic_tac_toe")
        .expect("it is built in")
        .sheet
        .replace("(mark", "(draw");
    let own = site
        .post("/api/games", &json!({"rules": rules, "name": "mine.kif"}))
        .json();
    let built_in = site.play(
        &json!({"game": "connect_four", "seats": seats(&["person", "random"]), "playClock": 0.1}),
    );
    let uploaded = site.play(&json!({"game": own["id"], "seats": seats(&["person", "person"])}));
    let asked = |step: usize| {
        move |seen: &Value| seen["state"]["step"] == step && seen["seats"][0]["status"] == "to-move"
    };
    site.wait_for(&built_in, &built_in.tokens[0], asked(0));
    assert_eq!(site.make_move(&built_in, 0, "4").status, 200);
    let before = site.wait_for(&built_in, &built_in.tokens[0], asked(2));
    site.wait_for(&uploaded, &uploaded.tokens[0], asked(0));
    assert_eq!(site.make_move(&uploaded, 0, "(draw 2 2)").status, 200);
    site.wait_for(&uploaded, &uploaded.tokens[1], |seen| {
        seen["state"]["step"] == 1
    });
    let site = site.restart();
    let after = site.wait_for(&built_in, &built_in.tokens[0], asked(2));
    assert_eq!(after["state"]["pieces"], before["state"]["pieces"]);
    assert_eq!(after["history"], before["history"]);
    assert_eq!(site.make_move(&built_in, 0, "5").status, 200);
    site.wait_for(&built_in, &built_in.tokens[0], asked(4));
    let seen = site.wait_for(&uploaded, &uploaded.tokens[1], |seen| {
        seen["seats"][1]["status"] == "to-move"
    });
    assert_eq!(
        (&seen["title"], &seen["state"]["step"]),
        (&json!("Mine"), &json!(1))
    );
    assert_eq!(site.make_move(&uploaded, 1, "(draw 1 1)").status, 200);
    let end = play_both(&site, &uploaded);
    assert_eq!(end["ending"]["kind"], "terminal");
    let site = site.restart();
    let again = site.look(&uploaded, &uploaded.tokens[0]);
    assert_eq!(
        (&again["status"], &again["ending"]),
        (&json!("over"), &end["ending"])
    );
}

fn play_both(site: &Site, table: &Table) -> Value {
    loop {
        let seen = site.wait_for(table, &table.tokens[0], |seen| {
            let seats = seen["seats"].as_array().expect("there are seats");
            seen["status"] == "over" || seats.iter().any(|seat| seat["status"] == "to-move")
        });
        if seen["status"] == "over" {
            return seen;
        }
        for role in 0..2 {
            if seen["seats"][role]["status"] == "to-move" {
                let own = site.look(table, &table.tokens[role]);
                if let Some(kif) = own["state"]["moves"][role][0]["kif"].as_str() {
                    site.make_move(table, role, kif);
                }
            }
        }
    }
}

#[test]
fn idle_matches_sleep_and_wake_up() {
    let site = Site::with(|config| {
        config.most_matches = 1;
        config.idle = std::time::Duration::from_secs(1);
    });
    let setup = json!({"game": "tic_tac_toe", "seats": seats(&["person", "person"])});
    let first = site.play(&setup);
    site.wait_for(&first, &first.tokens[0], |seen| {
        seen["seats"][0]["status"] == "to-move"
    });
    assert_eq!(site.make_move(&first, 0, "(mark 3 1)").status, 200);
    site.wait_for(&first, &first.tokens[0], |seen| seen["state"]["step"] == 1);
    let until = std::time::Instant::now() + client::PATIENCE;
    while site.get("/api/server").json()["load"]["matches"] != 0 {
        assert!(std::time::Instant::now() < until, "it falls asleep");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    let seen = site.wait_for(&first, &first.tokens[1], |seen| {
        seen["seats"][1]["status"] == "to-move"
    });
    assert_eq!(seen["state"]["step"], 1);
}
