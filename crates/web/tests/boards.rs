//! Boards as data: every built-in game, and the share of real rulesheets that get one.

mod client;

use std::path::PathBuf;

use client::Site;
use serde_json::{Value, json};

/// A legal move of the initial state by its text.
fn find<'a>(game: &'a Value, role: usize, text: &str) -> &'a Value {
    let moves = game["start"]["moves"][role]
        .as_array()
        .expect("it has moves");
    let found = moves.iter().find(|mv| mv["text"] == text);
    found.unwrap_or_else(|| panic!("{text} is not among {moves:?}"))
}

fn cell(game: &Value, idx: &Value) -> String {
    let idx = idx.as_u64().unwrap_or_else(|| panic!("{idx} is a cell")) as usize;
    game["layout"]["cells"][idx]["name"]
        .as_str()
        .expect("cells have names")
        .to_owned()
}

/// The state after moves, in the form of a game.
fn after(site: &Site, game: &str, moves: &Value) -> Value {
    let mut info = site.get(&format!("/api/games/{game}")).json();
    let position = site.post("/api/positions", &json!({"game": game, "moves": moves}));
    assert_eq!(position.status, 200, "{}", position.text());
    info["start"] = position.json()["state"].clone();
    info
}

#[test]
fn every_built_in_game_is_drawn() {
    let site = Site::new();
    let games = site.get("/api/games").json();
    for summary in games["games"].as_array().expect("there are games") {
        let id = summary["id"].as_str().expect("it has an id");
        let answer = site.get(&format!("/api/games/{id}"));
        assert_eq!(answer.status, 200, "{id}: {}", answer.text());
        let game = answer.json();
        let cells = game["layout"]["cells"].as_array().expect("a list");
        assert_eq!(game["layout"]["kind"], game["board"], "{id}");
        match game["board"].as_str() {
            Some("none") => assert!(
                game["start"]["facts"]
                    .as_array()
                    .is_some_and(|facts| !facts.is_empty()),
                "{id}"
            ),
            _ => assert!(cells.len() >= 2, "{id}"),
        }
        for piece in game["start"]["pieces"].as_array().expect("a list") {
            assert!(
                (piece["cell"].as_u64().unwrap_or(u64::MAX) as usize) < cells.len(),
                "{id}: {piece}"
            );
        }
    }
}

#[test]
fn moves_have_the_cells_that_people_click() {
    let site = Site::new();
    let chess = site.get("/api/games/chess").json();
    let pawn = find(&chess, 0, "e2e4");
    assert_eq!(
        (cell(&chess, &pawn["from"]), cell(&chess, &pawn["to"])),
        ("e 2".into(), "e 4".into())
    );
    let pieces = chess["start"]["pieces"].as_array().expect("a list");
    let king = pieces
        .iter()
        .find(|piece| piece["name"] == "white king")
        .expect("there is a king");
    assert_eq!(
        (&king["shape"], &king["role"], cell(&chess, &king["cell"])),
        (&json!("king"), &json!(0), "e 1".into())
    );

    // Castling is a move of the king, a promotion a move of the pawn.
    let noop = |mv: &str, role: usize| {
        if role == 0 {
            json!([mv, "noop"])
        } else {
            json!(["noop", mv])
        }
    };
    let moves = json!([
        noop("e2e4", 0),
        noop("e7e5", 1),
        noop("g1f3", 0),
        noop("g8f6", 1),
        noop("f1c4", 0),
        noop("f8c5", 1)
    ]);
    let castling = after(&site, "chess", &moves);
    let short = find(&castling, 0, "O-O");
    assert_eq!(
        (
            cell(&castling, &short["from"]),
            cell(&castling, &short["to"])
        ),
        ("e 1".into(), "g 1".into())
    );

    let four = site.get("/api/games/connect_four").json();
    let drop = find(&four, 0, "4");
    assert_eq!(
        (&drop["from"], cell(&four, &drop["to"])),
        (&Value::Null, "4 1".into())
    );

    let othello = site.get("/api/games/othello").json();
    for mv in othello["start"]["moves"][0].as_array().expect("a list") {
        let to = cell(&othello, &mv["to"]).replace(' ', "");
        assert_eq!(
            (to.as_str(), &mv["from"]),
            (mv["text"].as_str().expect("it has a text"), &Value::Null)
        );
    }

    let sokoban = site.get("/api/games/sokoban").json();
    let keeper = sokoban["start"]["pieces"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|piece| piece["name"] == "keeper_at");
    let keeper = &keeper.expect("there is a keeper")["cell"];
    for mv in sokoban["start"]["moves"][0].as_array().expect("a list") {
        assert_eq!(&mv["from"], keeper, "the keeper moves, not the box: {mv}");
    }
}

#[test]
fn a_click_on_a_pit_sows_it() {
    let site = Site::new();
    let kalah = site.get("/api/games/mancala_kalah").json();
    for mv in kalah["start"]["moves"][0].as_array().expect("a list") {
        let pit = cell(&kalah, &mv["to"]).replace("south", "");
        assert_eq!(
            (pit.trim(), &mv["from"]),
            (mv["text"].as_str().expect("a text"), &Value::Null)
        );
    }
}

#[test]
fn boards_have_their_kinds() {
    let site = Site::new();
    let kinds = [
        ("tic_tac_toe_3d", "space", 64, 4),
        ("nine_board_tic_tac_toe", "boards", 81, 9),
        ("hex", "hex", 81, 1),
        ("english_draughts", "square", 64, 1),
        ("peg_solitaire", "square", 33, 1),
        ("goofspiel", "none", 0, 0),
    ];
    for (id, kind, n_cells, n_parts) in kinds {
        let layout = site.get(&format!("/api/games/{id}/start")).json()["layout"].clone();
        let count = |key: &str| layout[key].as_array().map(Vec::len);
        assert_eq!(
            (&layout["kind"], count("cells"), count("parts")),
            (&json!(kind), Some(n_cells), Some(n_parts)),
            "{id}"
        );
    }
}

/// The share of rulesheets in the corpus that show a board: `AGON_CORPUS=… cargo test -p agon-web --test boards`. Each is also drawn.
#[test]
fn most_real_rulesheets_show_a_board() {
    let Some(corpus) = std::env::var_os("AGON_CORPUS") else {
        return;
    };
    let folder = PathBuf::from(corpus).join("games");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the corpus is there")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    files.sort();
    // Every seventh, so that it ends in a minute or two; all of them with AGON_ALL.
    let step = if std::env::var_os("AGON_ALL").is_some() {
        1
    } else {
        7
    };
    let site = Site::new();
    let (mut n_boards, mut without) = (0, Vec::new());
    for path in files.iter().step_by(step) {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let text =
            String::from_utf8_lossy(&std::fs::read(path).expect("it can be read")).into_owned();
        let answer = site.post("/api/games", &json!({"rules": text, "name": name}));
        assert_eq!(answer.status, 200, "{name}: {}", answer.text());
        let game = answer.json();
        match game["layout"]["kind"] == "none" {
            true => without.push(format!(
                "{name}: {}",
                game["noBoardReason"].as_str().unwrap_or_default()
            )),
            false => n_boards += 1,
        }
    }
    let n_all = n_boards + without.len();
    let list = without.join("\n  ");
    assert!(
        n_boards * 100 >= n_all * 75,
        "{n_boards} of {n_all} show a board; not:\n  {list}"
    );
}
