//! Dialogues with a manager as text: requests and replies.
//!
//! In a transcript, a line that begins with `>` is a request, and the line below it that begins with `<` is the reply.
//! `{name}` stands for the rules of a built-in game, `{NAME}` for the same rules in capitals. `UPDATE_EXPECT=1` updates the
//! replies.

use std::fs;
use std::path::{Path, PathBuf};

use agon_player::{GamePlayer, Settings};
use agon_protocol::codec::{read_request, write_reply};
use agon_protocol::{Player, StopFlag};
use agon_search::Preset;
use expect_test::expect_file;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The transcript with the replies of a player that always makes the first legal move.
fn with_replies(transcript: &str) -> String {
    let preset = Preset::parse("legal").expect("a valid preset");
    let mut player = GamePlayer::new(preset, Settings::default());
    let mut out = String::new();
    for line in transcript.lines().filter(|line| !line.starts_with('<')) {
        out.push_str(line);
        out.push('\n');
        if let Some(text) = line.strip_prefix('>') {
            out.push_str(format!("< {}", reply(&mut player, text.trim())).trim_end());
            out.push('\n');
        }
    }
    out
}

fn reply(player: &mut GamePlayer, text: &str) -> String {
    match read_request(with_rules(text).as_bytes()) {
        Ok(request) => write_reply(&player.answer(request, &StopFlag::new())),
        Err(error) => format!("no answer: {error}"),
    }
}

fn with_rules(text: &str) -> String {
    let Some((before, rest)) = text.split_once('{') else {
        return text.to_owned();
    };
    let (name, after) = rest.split_once('}').expect("`{` has a matching `}`");
    let path = root().join(format!("games/{}.kif", name.to_lowercase()));
    let mut rules = fs::read_to_string(path).expect("a built-in game");
    if name.chars().all(|c| !c.is_lowercase()) {
        rules = rules.to_uppercase();
    }
    format!("{before}({rules}){after}")
}

fn check(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name);
    let transcript = fs::read_to_string(&path).expect("the transcript is readable");
    expect_file![path].assert_eq(&with_replies(&transcript));
}

#[test]
fn a_match_as_the_reference_manager_plays_it() {
    check("reference.transcript");
}

#[test]
fn a_match_as_the_dresden_manager_plays_it() {
    check("dresden.transcript");
}

#[test]
fn odd_and_malformed_requests() {
    check("odd.transcript");
}
