//! The examples in `api/*.json`: one answer per endpoint, whose shape is that of real answers. The front end checks its types with
//! the same files. `UPDATE_EXPECT=1` writes them again.

mod client;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use client::{Site, seats};
use serde_json::{Map, Value, json};

/// Lists longer than this are cut in the examples.
const MOST_ITEMS: usize = 3;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("api")
}

/// Compares an answer with its example, or writes the example.
fn check(name: &str, found: &Value) {
    let path = folder().join(format!("{name}.json"));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let text = serde_json::to_string_pretty(&shorten(found)).expect("it can be written");
        fs::write(&path, text + "\n").expect("the example can be written");
    }
    let text = fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{name}: {error}; run with UPDATE_EXPECT=1"));
    let example: Value = serde_json::from_str(&text).expect("an example is JSON");
    compare(name, &example, found);
}

/// The answer without most items of long lists.
fn shorten(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().take(MOST_ITEMS).map(shorten).collect(),
        Value::Object(fields) => {
            let fields: Map<String, Value> = fields
                .iter()
                .map(|(key, value)| (key.clone(), shorten(value)))
                .collect();
            Value::Object(fields)
        }
        Value::String(text) if text.chars().count() > 400 => {
            Value::String(text.chars().take(400).collect())
        }
        other => other.clone(),
    }
}

/// Fails if two values have different shapes. A null is like anything.
fn compare(place: &str, example: &Value, found: &Value) {
    match (example, found) {
        (Value::Null, _) | (_, Value::Null) => {}
        (Value::Object(left), Value::Object(right)) => {
            let keys =
                |fields: &Map<String, Value>| fields.keys().cloned().collect::<BTreeSet<_>>();
            assert_eq!(keys(left), keys(right), "{place} has other fields");
            for (key, value) in left {
                compare(&format!("{place}.{key}"), value, &right[key]);
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            // A list of unequal items, such as bounds, is compared item by item as far as it goes.
            for (idx, (left, right)) in left.iter().zip(right).enumerate() {
                compare(&format!("{place}[{idx}]"), left, right);
            }
        }
        _ => {
            let kind = |value: &Value| match value {
                Value::Bool(_) => "boolean",
                Value::Number(_) => "number",
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
                Value::Null => "null",
            };
            assert_eq!(
                kind(example),
                kind(found),
                "{place}: {example} is not like {found}"
            );
        }
    }
}

#[test]
fn answers_are_like_their_examples() {
    let site = Site::with(|config| config.player_address = Some(([127, 0, 0, 1], 0).into()));
    check("server", &site.get("/api/server").json());
    check("players", &site.get("/api/players").json());
    check("games", &site.get("/api/games").json());
    check("game", &site.get("/api/games/tic_tac_toe").json());
    check("start", &site.get("/api/games/tic_tac_toe/start").json());
    check("error", &site.get("/api/games/no_such_game").json());
    let moves = json!([["(mark 2 2)", "wait"]]);
    let position = json!({"game": "tic_tac_toe", "moves": moves});
    check("position", &site.post("/api/positions", &position).json());
    check_match(&site);
    check_rules(&site);
    let url = site.get("/api/player").json()["url"].clone();
    check(
        "ping",
        &site.post("/api/players/ping", &json!({"url": url})).json(),
    );
    check_tournament(&site);
}

fn check_match(site: &Site) {
    let setup =
        json!({"game": "tic_tac_toe", "seats": seats(&["person", "cadia-2009"]), "playClock": 0.2});
    let created = site.post("/api/matches", &setup).json();
    check("new-match", &created);
    let text = |value: &Value| value.as_str().expect("it is text").to_owned();
    let table = client::Table {
        id: text(&created["id"]),
        owner: text(&created["owner"]),
        tokens: vec![text(&created["seats"][0]["token"]), String::new()],
    };
    let token = table.tokens[0].clone();
    let asked = |step: u64| {
        move |seen: &Value| seen["seats"][0]["status"] == "to-move" && seen["state"]["step"] == step
    };
    site.wait_for(&table, &token, asked(0));
    let path = |what: &str| format!("/api/matches/{}/{what}", table.id);
    let mut events = site.listen(&format!("{}?search=1", path("events")));
    events.wait_for("match");
    check(
        "hint",
        &site
            .post_as(&path("hint"), &token, &json!({"role": 0, "seconds": 0.1}))
            .json(),
    );
    let made = json!({"role": 0, "step": 0, "move": "(mark 2 2)"});
    check("move", &site.post_as(&path("move"), &token, &made).json());
    check("report", &events.wait_for("search"));
    check("match", &site.wait_for(&table, &token, asked(2)));
    check("matches", &site.get("/api/matches").json());
    let record = site.get(&path("record")).json();
    check(
        "replay",
        &site.post("/api/records", &json!({"record": record})).json(),
    );
    let analysis = json!({"game": "tic_tac_toe", "moves": [], "seconds": 0.3});
    let started = site.post("/api/analyses", &analysis).json();
    let mut events = site.listen(&format!("/api/analyses/{}/events", text(&started["id"])));
    check("report", &events.wait_for("search"));
    events.wait_for("end");
}

fn check_rules(site: &Site) {
    let broken = "(role a) (init (p 1)) (legal a go) (<= (next (p ?x)) (true (p ?x)) (ture (p ?x))) (role a)";
    check(
        "check",
        &site.post("/api/check", &json!({"rules": broken})).json(),
    );
    check(
        "format",
        &site.post("/api/format", &json!({"rules": broken})).json(),
    );
    check(
        "hover",
        &site
            .post("/api/hover", &json!({"rules": broken, "at": 16}))
            .json(),
    );
    let rules = site.get("/api/games/lights_out").json()["rules"].clone();
    check(
        "upload",
        &site
            .post("/api/games", &json!({"rules": rules, "name": "lamps.kif"}))
            .json(),
    );
    let id = site
        .post(
            "/api/analyse",
            &json!({"game": "tic_tac_toe", "seconds": 0.5}),
        )
        .json()["id"]
        .clone();
    let id = id.as_str().expect("it has an id").to_owned();
    let mut events = site.listen(&format!("/api/analyse/{id}/events"));
    events.wait_for("progress");
    check("analyse", &events.wait_for("result"));
}

fn check_tournament(site: &Site) {
    let toml = "games = [\"tic_tac_toe\"]\nplayers = [\"random\", \"legal\"]\npairs = \"all\"\ngames_per_pair = 4\nbudget = { playouts = 1 }\nseed = 1\n";
    let begun = site
        .post("/api/tournaments", &json!({"name": "small", "toml": toml}))
        .json();
    assert_eq!(begun, json!({"store": "small"}));
    let mut events = site.listen("/api/stores/small/events");
    let until = std::time::Instant::now() + client::PATIENCE;
    loop {
        let store = events.wait_for("store");
        if store["isRunning"] == false && store["nMatches"] == 4 {
            check("store", &store);
            check("stores", &site.get("/api/stores").json());
            return;
        }
        assert!(std::time::Instant::now() < until, "{store}");
    }
}
