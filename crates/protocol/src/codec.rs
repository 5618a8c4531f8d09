//! Text ↔ message: reading is tolerant, writing is strict.
//!
//! Read is whatever managers and players are known to send: words in any case, blanks anywhere or nowhere, `PING` for
//! `INFO`, further arguments behind those of any message, `NIL` or `()` where there are no moves, moves without brackets
//! around them, clocks with a fraction, a bare word for an INFO reply, explanations behind a move, comments, bytes that
//! are not UTF-8. Written is what the
//! reference manager and player write, blank by blank, because some peers compare text.
//!
//! A reply can be read only by those who know the question: `busy` is a fine name for a move.
//!
//! Not here: HTTP, and any limit on the size of a message, which whoever reads it from a socket has.
//!
//! - Love, Hinrichs, Haley, Schkufza and Genesereth 2008, General Game Playing: Game Description Language Specification

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use agon_gdl::{Diagnostics, Limits, Rules, Severity, check, parse};
use thiserror::Error;

use crate::message::{Failure, Info, MatchId, Reply, Request, Status, Thought};
use crate::term::{Term, TermError, inside, items, lay_out};

/// Why a text is no request.
#[derive(Debug, Error)]
pub enum CodecError {
    /// It is empty, or its brackets do not match.
    #[error("the message is malformed: {0}")]
    Malformed(#[from] TermError),
    /// Its first word is none of the protocol.
    #[error("`{0}` is no message of the protocol")]
    UnknownWord(String),
    /// It has too few or too many parts.
    #[error("{word} has {found} arguments instead of {expected}")]
    Arity {
        /// The word of the message.
        word: &'static str,
        /// Number of arguments that belong to it.
        expected: usize,
        /// Number of arguments that came.
        found: usize,
    },
    /// Something else stands where an argument should be.
    #[error("`{found}` stands where {expected} should be")]
    Argument {
        /// What was expected.
        expected: &'static str,
        /// What came, cut short.
        found: String,
    },
    /// The game cannot be played.
    #[error("the rules cannot be played: {}", first_error(.findings))]
    Rules {
        /// The match, if it is a START.
        id: Option<MatchId>,
        /// What is wrong with them.
        findings: Box<Diagnostics>,
    },
}

fn first_error(findings: &Diagnostics) -> &str {
    let mut errors = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error);
    errors.next().map_or("", |finding| &finding.message)
}

/// Reads a request.
///
/// # Errors
/// If it is none; a peer in good faith never sends such a thing.
pub fn read_request(text: &[u8]) -> Result<Request, CodecError> {
    let text = String::from_utf8_lossy(text);
    let outer = items(&text)?;
    let parts = match outer.as_slice() {
        [] => return Err(TermError::Empty.into()),
        [only] => inside(only).map_or(Ok(vec![*only]), items)?,
        _ => return Err(TermError::Several.into()),
    };
    let (&word, args) = parts.split_first().ok_or(TermError::Empty)?;
    match word.to_ascii_uppercase().as_str() {
        "INFO" | "PING" => Ok(Request::Info),
        "PREVIEW" => preview(arguments("PREVIEW", args)?),
        "START" => start(arguments("START", args)?),
        "PLAY" => {
            let (id, moves) = step("PLAY", args)?;
            Ok(Request::Play { id, moves })
        }
        "STOP" => {
            let (id, moves) = step("STOP", args)?;
            Ok(Request::Stop { id, moves })
        }
        "ABORT" => {
            let [id] = arguments("ABORT", args)?;
            match_id(id).map(|id| Request::Abort { id })
        }
        _ => Err(CodecError::UnknownWord(shorten(word))),
    }
}

/// The arguments of a message; some managers append some of their own, which mean nothing to us.
fn arguments<'a, const N: usize>(
    word: &'static str,
    args: &[&'a str],
) -> Result<[&'a str; N], CodecError> {
    let first = args.first_chunk().copied();
    first.ok_or(CodecError::Arity {
        word,
        expected: N,
        found: args.len(),
    })
}

/// A match and what was done in it last: a list, or words that should be in one.
fn step(word: &'static str, args: &[&str]) -> Result<(MatchId, Option<Vec<Term>>), CodecError> {
    let [id, first] = arguments(word, args)?;
    let moves = match inside(first) {
        Some(list) => items(list)?,
        None if first.eq_ignore_ascii_case("nil") => Vec::new(),
        None => args[1..].to_vec(),
    };
    let moves: Result<Vec<Term>, TermError> = moves.into_iter().map(Term::read).collect();
    Ok((
        match_id(id)?,
        Some(moves?).filter(|moves| !moves.is_empty()),
    ))
}

fn preview([sheet, seconds]: [&str; 2]) -> Result<Request, CodecError> {
    Ok(Request::Preview {
        clock: clock(seconds)?,
        rules: rules(sheet, None)?,
    })
}

fn start([id, role, sheet, start, play]: [&str; 5]) -> Result<Request, CodecError> {
    let id = match_id(id)?;
    Ok(Request::Start {
        role: Term::read(role)?,
        start_clock: clock(start)?,
        play_clock: clock(play)?,
        rules: rules(sheet, Some(&id))?,
        id,
    })
}

fn rules(sheet: &str, id: Option<&MatchId>) -> Result<Arc<Rules>, CodecError> {
    let inner = inside(sheet).ok_or_else(|| argument("the list of rules", sheet))?;
    // A list that begins with a word looks like one term; laid out without its brackets it is the rules that it has.
    let description = match inner.trim_start().starts_with('(') {
        true => parse(sheet.as_bytes(), &Limits::default()),
        false => parse(lay_out(inner, true).as_bytes(), &Limits::default()),
    };
    let rules = check(&description).map_err(|findings| CodecError::Rules {
        id: id.cloned(),
        findings: Box::new(findings),
    })?;
    Ok(Arc::new(rules))
}

fn match_id(text: &str) -> Result<MatchId, CodecError> {
    MatchId::new(text).ok_or_else(|| argument("the name of a match", text))
}

fn clock(text: &str) -> Result<Duration, CodecError> {
    let seconds = text.parse().ok();
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| argument("a number of seconds", text))
}

fn argument(expected: &'static str, found: &str) -> CodecError {
    CodecError::Argument {
        expected,
        found: shorten(found),
    }
}

fn shorten(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Writes a request as the reference manager does. Clocks are whole seconds there, and at least one.
#[must_use]
pub fn write_request(request: &Request) -> String {
    match request {
        Request::Info => "( INFO )".to_owned(),
        Request::Preview { rules, clock } => {
            format!("( PREVIEW {} {} )", sheet(rules), seconds(*clock))
        }
        Request::Start {
            id,
            role,
            rules,
            start_clock,
            play_clock,
        } => format!(
            "( START {id} {} {} {} {})",
            role.spaced(),
            sheet(rules),
            seconds(*start_clock),
            seconds(*play_clock)
        ),
        Request::Play { id, moves } => format!("( PLAY {id} {} )", moves_text(moves.as_deref())),
        Request::Stop { id, moves } => format!("( STOP {id} {} )", moves_text(moves.as_deref())),
        Request::Abort { id } => format!("( ABORT {id} )"),
    }
}

fn sheet(rules: &Rules) -> String {
    format!("({} )", lay_out(&rules.to_string(), true))
}

fn seconds(clock: Duration) -> u64 {
    clock.as_secs().max(1)
}

fn moves_text(moves: Option<&[Term]>) -> String {
    let Some(moves) = moves else {
        return "NIL".to_owned();
    };
    let moves: Vec<String> = moves.iter().map(Term::spaced).collect();
    format!("({} )", moves.join(" "))
}

/// Reads the reply to a request.
#[must_use]
pub fn read_reply(to: &Request, text: &[u8]) -> Reply {
    let text = String::from_utf8_lossy(text);
    if is_web_page(&text) {
        let words = "the answer is a web page, not a reply of a GGP player";
        return Reply::Failed(Failure::Connection(words.to_owned()));
    }
    let Ok(items) = items(&text) else {
        return Reply::Failed(Failure::Unreadable(shorten(text.trim())));
    };
    let Some((&first, rest)) = items.split_first() else {
        return Reply::Failed(Failure::Empty);
    };
    let is_busy = first.eq_ignore_ascii_case("busy");
    match to {
        Request::Info => Reply::Info(read_info(first)),
        // What is said to a START is not looked at by any manager, so players say anything.
        Request::Preview { .. } | Request::Start { .. } if is_busy => Reply::Busy,
        Request::Preview { .. } | Request::Start { .. } => Reply::Ready,
        Request::Play { .. } => read_move(first, rest),
        Request::Stop { .. } | Request::Abort { .. } if is_busy => Reply::Busy,
        Request::Stop { .. } => Reply::Done,
        Request::Abort { .. } => Reply::Aborted,
    }
}

/// Whether a web server answered that knows nothing of the protocol.
fn is_web_page(text: &str) -> bool {
    let text = text.trim_start();
    let begins = |tag: &str| {
        let start = text.get(..tag.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(tag))
    };
    ["<!doctype", "<html", "<?xml"].into_iter().any(begins)
}

/// A move, and behind it perhaps `(explanation "…") (taunt "…")`.
fn read_move(first: &str, rest: &[&str]) -> Reply {
    let Ok(of) = Term::read(first) else {
        return Reply::Failed(Failure::Unreadable(shorten(first)));
    };
    let words: Vec<String> = rest.iter().map(|item| lay_out(item, false)).collect();
    let thought = (!words.is_empty()).then(|| Thought {
        note: Some(shorten(&words.join(" "))),
        ..Thought::default()
    });
    Reply::Move { of, thought }
}

/// `( ( name X ) ( status available ) )` in any order, or the bare status.
fn read_info(text: &str) -> Info {
    let mut info = Info {
        name: None,
        status: Status::Available,
        species: None,
    };
    let Some(pairs) = inside(text) else {
        info.status = status(text);
        return info;
    };
    for pair in items(pairs).unwrap_or_default() {
        let Some((key, value)) = key_value(pair) else {
            continue;
        };
        match key.to_ascii_lowercase().as_str() {
            "name" => info.name = Some(value),
            "status" => info.status = status(&value),
            "species" => info.species = Some(value),
            _ => {}
        }
    }
    info
}

fn key_value(pair: &str) -> Option<(String, String)> {
    let words = items(inside(pair)?).ok()?;
    let (key, value) = words.split_first()?;
    Some(((*key).to_owned(), value.join(" ")))
}

fn status(text: &str) -> Status {
    match text.to_ascii_lowercase().as_str() {
        "available" | "ready" => Status::Available,
        "busy" => Status::Busy,
        _ => Status::Other(shorten(text)),
    }
}

/// Writes a reply as the reference player does; nothing for what is no reply.
#[must_use]
pub fn write_reply(reply: &Reply) -> String {
    match reply {
        Reply::Info(info) => write_info(info),
        Reply::Ready => "ready".to_owned(),
        Reply::Busy => "busy".to_owned(),
        Reply::Move { of, .. } => of.spaced(),
        Reply::Nil => "nil".to_owned(),
        Reply::Done => "done".to_owned(),
        Reply::Aborted => "aborted".to_owned(),
        Reply::Failed(_) => String::new(),
    }
}

fn write_info(info: &Info) -> String {
    let status = match &info.status {
        Status::Available => "available",
        Status::Busy => "busy",
        Status::Other(words) => words,
    };
    let mut text = String::from("( ");
    // Writing into a string cannot fail.
    if let Some(name) = &info.name {
        let _ = write!(text, "( name {} ) ", word(name));
    }
    let _ = write!(text, "( status {} ) ", word(status));
    if let Some(species) = &info.species {
        let _ = write!(text, "( species {} ) ", word(species));
    }
    text.push(')');
    text
}

/// One word, whatever it was: peers expect an atom.
fn word(text: &str) -> String {
    let is_odd = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | ';');
    let word: String = text
        .chars()
        .map(|c| if is_odd(c) { '_' } else { c })
        .collect();
    if word.is_empty() {
        "unknown".to_owned()
    } else {
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    const SHEET: &str = "((role Robot)(init (light off))(legal Robot push)(<= (next (light on))(does Robot push))\
        (<= terminal (true (light on)))(goal Robot 100))";

    /// Reads a request and writes it again, or says what is wrong with it.
    fn check_request(text: &str, expected: Expect) {
        let shown = match read_request(text.as_bytes()) {
            Ok(request) => write_request(&request),
            Err(error) => format!("error: {error}"),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn the_reference_manager_is_read_and_written_blank_by_blank() {
        let dialogue = [
            "( INFO )",
            "( PLAY Base.ticTacToe.1 NIL )",
            "( PLAY Base.ticTacToe.1 (( mark 2 1 ) noop ) )",
            "( PLAY Base.ticTacToe.1 (noop ( mark 1 1 ) ) )",
            "( STOP Base.ticTacToe.1 (( mark 1 3 ) noop ) )",
            "( ABORT m3 )",
        ];
        for text in dialogue {
            let request = read_request(text.as_bytes()).expect("it is one");
            assert_eq!(write_request(&request), text);
        }
    }

    #[test]
    fn the_dresden_manager_shouts_without_blanks() {
        check_request(
            "(PLAY SomeMatch ((MARK 1 1) NOOP))",
            expect!["( PLAY SomeMatch (( MARK 1 1 ) NOOP ) )"],
        );
        check_request("(PLAY SomeMatch NIL)", expect!["( PLAY SomeMatch NIL )"]);
        check_request(
            &format!(
                "(START m WHITE {} 120 30)",
                SHEET.to_uppercase().replace("ROBOT", "WHITE")
            ),
            expect![
                "( START m WHITE (( ROLE WHITE ) ( INIT ( LIGHT OFF ) ) ( LEGAL WHITE PUSH ) ( <= ( NEXT ( LIGHT ON ) ) ( DOES WHITE PUSH ) ) ( <= TERMINAL ( TRUE ( LIGHT ON ) ) ) ( GOAL WHITE 100 ) ) 120 30)"
            ],
        );
    }

    #[test]
    fn start_keeps_spelling_and_ignores_what_follows_its_arguments() {
        check_request(
            &format!("(start m4 Robot {SHEET} 5 5 extra (args))"),
            expect![
                "( START m4 Robot (( role Robot ) ( init ( light off ) ) ( legal Robot push ) ( <= ( next ( light on ) ) ( does Robot push ) ) ( <= terminal ( true ( light on ) ) ) ( goal Robot 100 ) ) 5 5)"
            ],
        );
        check_request(
            &format!("(preview {SHEET} 2.5)"),
            expect![
                "( PREVIEW (( role Robot ) ( init ( light off ) ) ( legal Robot push ) ( <= ( next ( light on ) ) ( does Robot push ) ) ( <= terminal ( true ( light on ) ) ) ( goal Robot 100 ) ) 2 )"
            ],
        );
    }

    #[test]
    fn rules_may_begin_with_a_word() {
        for sheet in [
            "((lit)(role a)(legal a x)(<= terminal lit)(goal a 50))",
            "(lit(role a)(legal a x)(<= terminal lit)(goal a 50))",
        ] {
            check_request(
                &format!("(preview {sheet} 1)"),
                expect![
                    "( PREVIEW (lit ( role a ) ( legal a x ) ( <= terminal lit ) ( goal a 50 ) ) 1 )"
                ],
            );
        }
    }

    #[test]
    fn words_in_any_case_and_nothing_for_nil() {
        check_request("(info)", expect!["( INFO )"]);
        check_request("ping", expect!["( INFO )"]);
        check_request("(abort m3)", expect!["( ABORT m3 )"]);
        check_request("\u{FEFF}(play\tm ())\r\n", expect!["( PLAY m NIL )"]);
        check_request("(stop m nil)", expect!["( STOP m NIL )"]);
    }

    #[test]
    fn brackets_may_be_missing_and_words_too_many() {
        check_request("(play m noop)", expect!["( PLAY m (noop ) )"]);
        check_request(
            "(play m noop (go 1))",
            expect!["( PLAY m (noop ( go 1 ) ) )"],
        );
        check_request(
            "(play m ((go 1) noop) 7 x)",
            expect!["( PLAY m (( go 1 ) noop ) )"],
        );
        check_request("(play m nil now)", expect!["( PLAY m NIL )"]);
        check_request("(info please)", expect!["( INFO )"]);
        check_request("(abort m (at once))", expect!["( ABORT m )"]);
    }

    #[test]
    fn what_is_no_request_is_said() {
        check_request(
            "",
            expect!["error: the message is malformed: there is nothing in it"],
        );
        check_request(
            "()",
            expect!["error: the message is malformed: there is nothing in it"],
        );
        check_request(
            "garbage(",
            expect!["error: the message is malformed: its brackets do not match"],
        );
        check_request(
            "(info) (info)",
            expect!["error: the message is malformed: there is more than one term in it"],
        );
        check_request(
            "(dance m)",
            expect!["error: `dance` is no message of the protocol"],
        );
        check_request(
            "((info))",
            expect!["error: `(info)` is no message of the protocol"],
        );
        check_request(
            "(play m)",
            expect!["error: PLAY has 1 arguments instead of 2"],
        );
        check_request(
            "(play (m) nil)",
            expect!["error: `(m)` stands where the name of a match should be"],
        );
        check_request(
            "(start m r rules 5 5)",
            expect!["error: `rules` stands where the list of rules should be"],
        );
        check_request(
            "(start m r ((role r)) soon 5)",
            expect!["error: `soon` stands where a number of seconds should be"],
        );
        check_request(
            "(start m r ((role r)) -1 5)",
            expect!["error: `-1` stands where a number of seconds should be"],
        );
        check_request(
            "(start m r ((role r)) 5 5)",
            expect![
                "error: the rules cannot be played: the description has no `legal` rule or fact"
            ],
        );
    }

    #[test]
    fn rules_that_cannot_be_played_still_name_their_match() {
        let error = read_request(b"(start m7 r ((role r)) 5 5)").expect_err("no legal, no goal");
        let CodecError::Rules { id, .. } = error else {
            panic!("it is about the rules")
        };
        assert_eq!(id.map(|id| id.to_string()).as_deref(), Some("m7"));
    }

    /// Reads a reply and shows it.
    fn check_reply(to: &str, text: &str, expected: Expect) {
        let request = read_request(to.as_bytes()).expect("it is a request");
        expected.assert_eq(&format!("{:?}", read_reply(&request, text.as_bytes())));
    }

    #[test]
    fn replies_to_info_are_lists_or_words() {
        check_reply(
            "(info)",
            "( ( name Random ) ( status available ) )",
            expect![[r#"Info(Info { name: Some("Random"), status: Available, species: None })"#]],
        );
        check_reply(
            "(info)",
            "((STATUS BUSY)(colour red)(species alien)(name A B))",
            expect![[r#"Info(Info { name: Some("A B"), status: Busy, species: Some("alien") })"#]],
        );
        check_reply(
            "(info)",
            "available",
            expect!["Info(Info { name: None, status: Available, species: None })"],
        );
        check_reply(
            "(info)",
            "asleep",
            expect![[r#"Info(Info { name: None, status: Other("asleep"), species: None })"#]],
        );
    }

    #[test]
    fn replies_to_play_are_moves_whatever_they_are_called() {
        check_reply(
            "(play m nil)",
            " ( mark 2 1 ) ",
            expect!["Move { of: (mark 2 1), thought: None }"],
        );
        check_reply(
            "(play m nil)",
            "busy",
            expect!["Move { of: busy, thought: None }"],
        );
        check_reply(
            "(play m nil)",
            "garbage((",
            expect![[r#"Failed(Unreadable("garbage(("))"#]],
        );
        check_reply("(play m nil)", "", expect!["Failed(Empty)"]);
        check_reply(
            "(play m nil)",
            r#"noop (explanation "so what") (taunt "ha")"#,
            expect![[
                r#"Move { of: noop, thought: Some(Thought { value: None, playouts: 0, transitions: 0, time: 0ns, stop: None, moves: [], note: Some("(explanation \"so what\") (taunt \"ha\")") }) }"#
            ]],
        );
    }

    #[test]
    fn other_replies_are_taken_as_meant() {
        check_reply("(stop m nil)", "done", expect!["Done"]);
        check_reply("(stop m nil)", "BUSY", expect!["Busy"]);
        check_reply("(abort m)", "aborted", expect!["Aborted"]);
        check_reply(
            &format!("(start m Robot {SHEET} 1 1)"),
            "READY",
            expect!["Ready"],
        );
        check_reply(
            &format!("(start m Robot {SHEET} 1 1)"),
            "busy",
            expect!["Busy"],
        );
        check_reply(
            &format!("(start m Robot {SHEET} 1 1)"),
            "\n<!DOCTYPE html><html>It works!</html>",
            expect![[
                r#"Failed(Connection("the answer is a web page, not a reply of a GGP player"))"#
            ]],
        );
    }

    #[test]
    fn replies_are_written_as_the_reference_player_does() {
        let info = Info {
            name: Some("Agon of (old)".to_owned()),
            status: Status::Busy,
            species: None,
        };
        let of = Term::read("(mark 2 1)").expect("it is one");
        let replies = [
            Reply::Info(info),
            Reply::Ready,
            Reply::Move { of, thought: None },
            Reply::Nil,
            Reply::Failed(Failure::Empty),
        ];
        assert_eq!(
            replies.map(|reply| write_reply(&reply)),
            [
                "( ( name Agon_of__old_ ) ( status busy ) )",
                "ready",
                "( mark 2 1 )",
                "nil",
                ""
            ]
        );
    }
}
