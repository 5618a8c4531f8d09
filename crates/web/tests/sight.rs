//! Games of chance and hidden information: each page gets what its roles know, and no more, until the match is over.

mod client;

use std::collections::BTreeMap;

use client::{Site, Table};
use serde_json::{Value, json};

fn person() -> Value {
    json!({"kind": "person"})
}

fn bot(player: &str) -> Value {
    json!({"kind": "bot", "player": player})
}

fn chance() -> Value {
    json!({"kind": "chance"})
}

/// Kuhn poker of two people with this seed of chance.
fn poker(site: &Site, seed: u64) -> Table {
    site.play(&json!({"game": "kuhn_poker", "seats": [person(), person(), chance()], "seed": seed, "startClock": 0.1}))
}

/// The match once the cards are dealt.
fn dealt(site: &Site, table: &Table, token: &str) -> Value {
    site.wait_for(table, token, |seen| {
        seen["state"]["step"] == 1 && seen["seats"][0]["status"] == "to-move"
    })
}

fn percepts(seen: &Value, step: usize) -> String {
    seen["history"][step]["seen"].to_string()
}

/// A view without what is new in every match.
fn known(mut seen: Value) -> String {
    for key in ["id", "version", "started", "deadline", "isOwner"] {
        seen[key] = Value::Null;
    }
    let history = seen["history"].as_array_mut().expect("a list");
    history.iter_mut().for_each(|step| step["at"] = Value::Null);
    seen.to_string()
}

#[test]
fn a_role_sees_its_own_card_alone() {
    let site = Site::new();
    let mut views: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for seed in 0..14 {
        let table = poker(&site, seed);
        let ann = dealt(&site, &table, &table.tokens[0]);
        let ben = dealt(&site, &table, &table.tokens[1]);
        assert_eq!(
            (&ann["hides"], &ann["canUndo"]),
            (&json!(true), &json!(false))
        );
        let card = percepts(&ann, 0);
        assert!(card.contains("(card "), "{card}");
        assert_ne!(card, percepts(&ben, 0).replace("\"role\":1", "\"role\":0"));
        assert_eq!(
            ben["state"]["turn"],
            json!([]),
            "it is not told who may choose"
        );
        views.entry(card).or_default().push(known(ann));

        let watcher = dealt(&site, &table, "");
        let owner = dealt(&site, &table, &table.owner);
        for stranger in [watcher, owner] {
            assert_eq!(stranger["history"][0]["seen"], json!([]));
            assert_eq!(stranger["history"][0]["moves"], json!([]));
            assert_eq!(stranger["state"]["facts"], json!([]));
            assert!(!stranger.to_string().contains("card"), "{stranger}");
        }
    }
    assert_eq!(views.len(), 3, "all three cards were dealt");
    for (card, same) in views {
        assert!(same.len() > 1, "{card} came once");
        // The other card differs among these matches.
        assert!(same.iter().all(|view| *view == same[0]), "{card}");
    }
}

#[test]
fn everything_is_told_when_it_is_over() {
    let site = Site::new();
    let table = poker(&site, 3);
    let before = dealt(&site, &table, &table.tokens[0]);
    let path = format!("/api/matches/{}", table.id);
    let record = site.get(&format!("{path}/record"));
    assert_eq!((record.status, record.kind().as_str()), (409, "not-now"));
    for (action, body) in [("hint", json!({"role": 0})), ("undo", json!({}))] {
        let refused = site.post_as(&format!("{path}/{action}"), &table.tokens[0], &body);
        assert!(
            matches!(refused.status, 403 | 409),
            "{action}: {}",
            refused.text()
        );
    }
    // A restart repeats the same deal.
    let site = site.restart();
    let after = dealt(&site, &table, &table.tokens[0]);
    assert_eq!(percepts(&before, 0), percepts(&after, 0));
    assert_eq!(site.make_move(&table, 0, "bet").status, 200);
    site.wait_for(&table, &table.tokens[1], |seen| {
        seen["seats"][1]["status"] == "to-move"
    });
    assert_eq!(site.make_move(&table, 1, "fold").status, 200);
    let end = site.wait_for(&table, "", |seen| seen["status"] == "over");
    assert_eq!(end["hides"], false);
    let deal = end["history"][0]["moves"].to_string();
    assert!(deal.contains("deal"), "{deal}");
    assert_eq!(end["history"][0]["seen"].as_array().map(Vec::len), Some(2));
    let record = site.get(&format!("{path}/record")).json();
    let replay = site.post("/api/records", &json!({"record": record})).json();
    assert_eq!(
        (&replay["isValid"], &replay["canAnalyse"]),
        (&json!(true), &json!(false)),
        "{replay}"
    );
}

/// Which cells moves name may be told, what they would change may not.
#[test]
fn legal_moves_do_not_tell_what_is_hidden() {
    let site = Site::new();
    let seats = [person(), person()];
    let table = site.play(&json!({"game": "dark_hex", "seats": seats, "startClock": 0.1}));
    let first = site.wait_for(&table, &table.tokens[0], |seen| {
        seen["seats"][0]["status"] == "to-move"
    });
    let text = first["state"]["moves"][0][4]["text"]
        .as_str()
        .expect("a move")
        .to_owned();
    assert_eq!(site.make_move(&table, 0, &text).status, 200);
    let second = site.wait_for(&table, &table.tokens[1], |seen| {
        seen["seats"][1]["status"] == "to-move"
    });
    assert_eq!(second["state"]["pieces"], json!([]));
    let last = second["state"]["last"].as_array().expect("a list");
    assert!(
        last.iter()
            .all(|mv| mv["role"] == 1 && mv["cells"] == json!([])),
        "{last:?}"
    );
    let moves = second["state"]["moves"][1].as_array().expect("a list");
    let all_named = moves
        .iter()
        .all(|mv| mv["to"].is_u64() && mv["cells"].as_array().map(Vec::len) == Some(1));
    assert!(moves.len() > 4 && all_named, "{moves:?}");
    // The other role sees its own stone.
    let own = site.look(&table, &table.tokens[0]);
    assert_eq!(own["state"]["pieces"].as_array().map(Vec::len), Some(1));
}

#[test]
fn people_play_all_games_of_chance_and_hidden_information_against_bots() {
    let site = Site::new();
    let games = site.get("/api/games").json();
    let games = games["games"].as_array().expect("a list");
    let is_gdl2 = |game: &&Value| game["canAnalyse"] == false;
    let mut n_games = 0;
    for game in games.iter().filter(is_gdl2) {
        n_games += 1;
        let id = game["id"].as_str().expect("an id");
        let roles = game["roles"].as_array().expect("a list");
        let mut people = 1;
        let seat = |role: &Value| match (role["isChance"] == true, people) {
            (true, _) => chance(),
            (false, 1) => {
                people = 0;
                person()
            }
            (false, _) => bot("random"),
        };
        let seats: Vec<Value> = roles.iter().map(seat).collect();
        let role = seats
            .iter()
            .position(|seat| *seat == person())
            .expect("a person");
        let table = site.play(
            &json!({"game": id, "seats": seats, "startClock": 0.1, "playClock": 0.1, "seed": 7}),
        );
        let mut n_moves = 0;
        loop {
            let seen = site.wait_for(&table, &table.tokens[role], |seen| {
                seen["status"] == "over" || seen["seats"][role]["status"] == "to-move"
            });
            if seen["status"] == "over" {
                assert_eq!(
                    seen["ending"]["kind"], "terminal",
                    "{id}: {}",
                    seen["ending"]
                );
                break;
            }
            let moves = seen["state"]["moves"][role].as_array().expect("a list");
            assert!(moves.len() > 1, "{id}");
            if n_moves == 6 {
                break;
            }
            let mv = &moves[n_moves % moves.len()];
            let body = json!({"role": role, "step": seen["state"]["step"], "move": mv["id"]});
            let path = format!("/api/matches/{}/move", table.id);
            let answer = site.post_as(&path, &table.tokens[role], &body);
            assert!(
                matches!(answer.status, 200 | 409),
                "{id}: {}",
                answer.text()
            );
            n_moves += 1;
        }
        assert!(n_moves > 0, "{id}");
    }
    assert!(n_games >= 15, "{n_games}");
}

#[test]
fn seats_of_chance_are_checked() {
    let site = Site::new();
    let create = |game: &str, seats: Value| {
        site.post("/api/matches", &json!({"game": game, "seats": seats}))
    };
    for (game, seats) in [
        ("kuhn_poker", json!([person(), person(), person()])),
        ("kuhn_poker", json!([person(), person(), bot("agon")])),
        ("kuhn_poker", json!([chance(), person(), chance()])),
        ("kuhn_poker", json!([person(), person()])),
        ("tic_tac_toe", json!([person(), chance()])),
    ] {
        let refused = create(game, seats);
        assert_eq!(
            (refused.status, refused.kind().as_str()),
            (400, "bad-request"),
            "{game}"
        );
    }
    let moves = json!([["wait", "wait", "(deal king jack)"]]);
    let setup =
        json!({"game": "kuhn_poker", "seats": [person(), person(), chance()], "moves": moves});
    assert_eq!(
        site.post("/api/matches", &setup).status,
        400,
        "nobody chooses what chance does"
    );
    let search = json!({"game": "kuhn_poker", "moves": moves, "seconds": 0.1});
    assert_eq!(site.post("/api/analyses", &search).status, 409);
}

/// Rules that somebody sends say nothing about what roles can tell, so that only percepts are shown.
#[test]
fn of_uploaded_rules_only_percepts_are_shown() {
    let site = Site::new();
    let rules = "(role guesser) (role random) (init (step 1)) (init (cell 1 1 b)) (init (cell 1 2 b)) (init (cell 2 1 b)) (init (cell 2 2 b))
        (coin heads) (coin tails)
        (<= (legal random (flip ?c)) (coin ?c) (true (step 1))) (<= (legal random wait) (true (step 2)))
        (<= (legal guesser wait) (true (step 1))) (<= (legal guesser (guess ?c)) (coin ?c) (true (step 2)))
        (<= (next (step 2)) (true (step 1))) (<= (next (step 3)) (true (step 2)))
        (<= (next (cell ?x ?y ?c)) (true (cell ?x ?y b)) (does random (flip ?c)))
        (<= (next (cell ?x ?y ?c)) (true (cell ?x ?y ?c)) (not (true (step 1))))
        (<= (sees guesser flipped) (does random (flip ?c)))
        (<= right (does guesser (guess ?c)) (true (cell 1 1 ?c))) (<= (next right) right)
        (<= terminal (true (step 3))) (<= (goal guesser 100) (true right)) (<= (goal guesser 0) (not (true right)))";
    let game = site.post("/api/games", &json!({"rules": rules})).json();
    assert_eq!(
        (&game["isHidden"], &game["roles"][1]["isChance"]),
        (&json!(true), &json!(true)),
        "{game}"
    );
    let table =
        site.play(&json!({"game": game["id"], "seats": [person(), chance()], "startClock": 0.1}));
    let seen = site.wait_for(&table, &table.tokens[0], |seen| {
        seen["seats"][0]["status"] == "to-move"
    });
    assert_eq!(
        (&seen["state"]["pieces"], &seen["state"]["facts"]),
        (&json!([]), &json!([]))
    );
    assert!(percepts(&seen, 0).contains("flipped"));
    assert_eq!(site.make_move(&table, 0, "(guess heads)").status, 200);
    let end = site.wait_for(&table, "", |seen| seen["status"] == "over");
    assert!(end["state"]["facts"] != json!([]) || end["state"]["pieces"] != json!([]));
}
