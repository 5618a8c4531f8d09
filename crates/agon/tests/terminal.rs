//! `agon play` as a person at a terminal sees it: scripted sessions in a pseudo-terminal.

#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rexpect::session::{PtySession, spawn_command};

/// A session that says nothing for so long has failed.
const PATIENCE_MS: u64 = 60_000;

/// An empty folder for one test.
fn folder(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("terminal_{test}"));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("the folder can be made");
    path
}

fn agon(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.args(args).current_dir(folder);
    command.env("TERM", "xterm").env_remove("NO_COLOR");
    command.env_remove("CLICOLOR").env_remove("CLICOLOR_FORCE");
    command
}

/// A session in a pseudo-terminal, and everything that it has shown so far.
struct Session {
    pty: PtySession,
    seen: String,
}

impl Session {
    fn start(test: &str, args: &[&str]) -> Session {
        let command = agon(&folder(test), args);
        let pty = spawn_command(command, Some(PATIENCE_MS)).expect("the binary runs");
        let seen = String::new();
        Session { pty, seen }
    }

    /// Waits for a text.
    fn expect(&mut self, text: &str) {
        let before = self.pty.exp_string(text);
        let before = before.unwrap_or_else(|error| panic!("`{text}` does not come: {error}"));
        self.seen.push_str(&before);
        self.seen.push_str(text);
    }

    /// Types a line.
    fn say(&mut self, line: &str) {
        self.pty.send_line(line).expect("it can be typed");
    }

    /// Waits for the end of the session, and returns what it has shown, without escape codes.
    fn end(mut self) -> String {
        let rest = self.pty.exp_eof().expect("the session ends");
        self.seen.push_str(&rest);
        anstream::adapter::strip_str(&self.seen).to_string()
    }
}

#[test]
fn chess_by_squares_to_checkmate() {
    let args = ["play", "chess", "--against", "legal", "--seed", "1"];
    let mut session = Session::start("chess", &args);
    session.expect("`moves` lists them.");
    session.say("e2e5");
    session.expect("did you mean e2e3 or e2e4?");
    session.say("e2e4");
    session.expect("b8a6");
    session.say("D1-H5");
    session.expect("g8f6");
    session.say("(move f 1 c 4)");
    session.expect("h5f7 (wins)");
    session.say("h5xf7");
    session.expect("You win 100 : 0.");
    let seen = session.end();
    // One board for each decision and one at the end.
    assert_eq!(seen.matches("a b c d e f g h").count(), 5, "{seen}");
}

#[test]
fn connect_four_by_columns_with_a_full_first_column() {
    let args = ["play", "connect_four", "--against", "legal", "--seed", "1"];
    let mut session = Session::start("connect_four", &args);
    for _ in 0..3 {
        session.expect("Your moves: 1");
        session.say("1");
    }
    session.expect("Your moves: 2");
    session.say("1");
    session.expect("#1 picks 2 from the list");
    // The first of the list is column 2.
    session.say("#1");
    session.expect("Your moves: 2");
    session.say("3");
    session.expect("4 (wins)");
    session.say("4");
    session.expect("You win 100 : 0.");
    let seen = session.end();
    assert!(seen.contains("1 X X X X . . ."), "{seen}");
}

#[test]
fn goofspiel_by_the_value_of_cards() {
    let args = ["play", "goofspiel", "--against", "legal", "--seed", "1"];
    let mut session = Session::start("goofspiel", &args);
    session.expect("Your moves: 1");
    session.say("5");
    session.expect("hand left 1 2 3 4 6");
    session.say("5");
    session.expect("#5 picks 6 from the list");
    for card in ["6", "4", "3", "2"] {
        session.say(card);
        session.expect(&format!("Left\x1b[0m {card}, "));
    }
    session.expect("You win 100 : 0.");
    let seen = session.end();
    assert!(seen.contains("Left 5, Right 1"), "{seen}");
    assert!(seen.contains("Left 1, Right 6"), "the last cards: {seen}");
}

#[test]
fn both_sides_at_one_terminal_with_colours_history_and_a_record() {
    let args = [
        "play",
        "tic_tac_toe",
        "--as",
        "x",
        "--as",
        "o",
        "--record",
        "match.json",
    ];
    let mut session = Session::start("both", &args);
    session.expect("Your moves: ");
    session.say("2,2");
    session.expect("Your moves: ");
    session.say("undo");
    session.expect("Your moves: ");
    // Up, up: the line before `undo`.
    session.pty.send("\x1b[A\x1b[A").expect("it can be typed");
    session.say("");
    for cell in ["1,1", "2,1", "1,2", "1,3", "3,1", "2,3"] {
        session.expect("Your moves: ");
        session.say(cell);
    }
    session.expect("\x1b[7m");
    session.expect("wins 100 : 0.");
    session.end();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("terminal_both");
    let output = agon(&folder, &["replay", "match.json", "--quiet"]).output();
    let output = output.expect("the binary runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("the record follows the rules"), "{text}");
}

#[test]
fn leaving_is_polite() {
    for key in ['c', 'd'] {
        let args = ["play", "tic_tac_toe", "--against", "legal"];
        let mut session = Session::start(&format!("leave_{key}"), &args);
        session.expect("> ");
        session.pty.send_control(key).expect("it can be pressed");
        session.expect("You leave the match before its end. Goodbye.");
        session.end();
    }
    let args = ["play", "chess", "--against", "legal"];
    let mut session = Session::start("resign", &args);
    session.expect("> ");
    session.say("resign");
    session.expect("You resign: Black wins.");
    session.end();
}

#[test]
fn a_person_in_a_match_sees_the_same() {
    let args = ["match", "connect_four", "human", "legal", "--seed", "1"];
    let mut session = Session::start("match", &args);
    for _ in 0..3 {
        session.expect("Your moves: 1");
        session.say("1");
    }
    session.expect("Your moves: 2");
    session.say("undo");
    session.expect("`agon play` has them");
    for column in ["2", "3", "4"] {
        session.say(column);
        session.expect(&format!("red\x1b[0m {column} "));
    }
    session.expect("You win 100 : 0.");
    let seen = session.end();
    assert_eq!(seen.matches("1 2 3 4 5 6 7").count(), 7, "{seen}");
}

/// Everything that a command prints on a pipe.
fn piped(test: &str, args: &[&str], no_color: bool, input: &str) -> String {
    let mut command = agon(&folder(test), args);
    if no_color {
        command.env("NO_COLOR", "1");
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let mut stdin = child.stdin.take().expect("it has an input");
    std::io::Write::write_all(&mut stdin, input.as_bytes()).expect("it reads");
    drop(stdin);
    let Output { stdout, .. } = child.wait_with_output().expect("it ends");
    String::from_utf8(stdout).expect("it is text")
}

#[test]
fn colours_are_for_terminals() {
    let args = ["play", "tic_tac_toe", "--against", "legal", "--seed", "1"];
    let plain = piped("plain", &args, false, "1,1\n");
    assert!(!plain.contains('\x1b'), "{plain:?}");
    let always = [&args[..], &["--color", "always"]].concat();
    let painted = piped("always", &always, true, "1,1\n");
    assert!(painted.contains("\x1b["), "{painted:?}");
    assert_eq!(anstream::adapter::strip_str(&painted).to_string(), plain);

    for (test, more, no_color) in [("env", "auto", true), ("never", "never", false)] {
        let mut command = agon(&folder(test), &args);
        command.args(["--color", more]);
        if no_color {
            command.env("NO_COLOR", "1");
        }
        let pty = spawn_command(command, Some(PATIENCE_MS)).expect("the binary runs");
        let seen = String::new();
        let mut session = Session { pty, seen };
        session.expect("> ");
        session.say("1,1");
        session.expect("Your moves: ");
        session.say("quit");
        session.expect("Goodbye.");
        for code in ["\x1b[1m", "\x1b[7m", "\x1b[2m", "\x1b[33m"] {
            assert!(!session.seen.contains(code), "{:?}", session.seen);
        }
    }
}

#[test]
fn a_game_that_does_not_exist_has_near_names() {
    let output = agon(&folder("near"), &["play", "conect_for"]).output();
    let output = output.expect("the binary runs");
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("did you mean connect_four"), "{text}");
}
