//! Converts between text and messages: reading is tolerant, writing is strict.
//!
//! The reader accepts what managers and players are known to send: keywords in any case, whitespace anywhere or nowhere,
//! `PING` for `INFO`, additional arguments, `NIL` or `()` for no moves, moves without brackets around them, clocks with a
//! fraction, a single word as an INFO reply, explanations after a move, comments, and bytes that are not UTF-8. The writer
//! produces exactly the text of the reference manager and player, including blanks, because some peers compare text.
//!
//! Reading a reply requires the request: `busy`, for example, may be the name of a move.
//!
//! Not here: HTTP, and limits on the size of a message, which the code that reads from a socket enforces.
//!
//! - Love, Hinrichs, Haley, Schkufza and Genesereth 2008, General Game Playing: Game Description Language Specification

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_gdl::{Diagnostics, Limits, Rules, Severity, check_until, parse};
use thiserror::Error;

use crate::message::{Failure, Info, MatchId, Reply, Request, Status, Thought, Turn};
use crate::term::{Term, TermError, inside, items, lay_out};

/// Why a text is not a valid request.
#[derive(Debug, Error)]
pub enum CodecError {
    /// It is empty, or its brackets do not match.
    #[error("the message is malformed: {0}")]
    Malformed(#[from] TermError),
    /// Its first word is not a message of the protocol.
    #[error("unknown message `{0}`: expected INFO, PREVIEW, START, PLAY, STOP or ABORT")]
    UnknownWord(String),
    /// It has too few arguments.
    #[error("{word} needs {expected} arguments, found {found}")]
    Arity {
        /// The keyword of the message.
        word: &'static str,
        /// Number of arguments that it needs.
        expected: usize,
        /// Number of arguments that were received.
        found: usize,
    },
    /// An argument is not valid.
    #[error("expected {expected}, found `{found}`")]
    Argument {
        /// What was expected.
        expected: &'static str,
        /// What was received, shortened.
        found: String,
    },
    /// Checking the rules would take longer than there is time for the answer.
    #[error("the rules are too long for this clock")]
    TooLate,
    /// The game cannot be played.
    #[error("the rules cannot be played: {}", first_error(.findings))]
    Rules {
        /// The match, if it is a START.
        id: Option<MatchId>,
        /// The errors and warnings of the rules.
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
/// If the text is not a valid request.
pub fn read_request(text: &[u8]) -> Result<Request, CodecError> {
    read(text, None)
}

/// Reads a request that was received at this time. Rules that take longer to check than most of their clock are not checked
/// to the end, so that the request can still be answered in time.
///
/// # Errors
/// If the text is not a valid request, or [`CodecError::TooLate`].
pub fn read_request_from(text: &[u8], received: Instant) -> Result<Request, CodecError> {
    read(text, Some(received))
}

/// Whether a message is a START or a PREVIEW, which bring rules. It looks at the first word only.
#[must_use]
pub fn brings_rules(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let text = text.strip_prefix(b"(").unwrap_or(text).trim_ascii_start();
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'(' | b')' | b';');
    let end = text.iter().position(is_end).unwrap_or(text.len());
    let words: [&[u8]; 2] = [b"START", b"PREVIEW"];
    words
        .iter()
        .any(|word| word.eq_ignore_ascii_case(&text[..end]))
}

fn read(text: &[u8], received: Option<Instant>) -> Result<Request, CodecError> {
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
        "PREVIEW" => preview(arguments("PREVIEW", args)?, received),
        "START" => start(arguments("START", args)?, received),
        "PLAY" => {
            let (id, moves, turn) = step("PLAY", args)?;
            Ok(Request::Play { id, moves, turn })
        }
        "STOP" => {
            let (id, moves, turn) = step("STOP", args)?;
            Ok(Request::Stop { id, moves, turn })
        }
        "ABORT" => {
            let [id] = arguments("ABORT", args)?;
            match_id(id).map(|id| Request::Abort { id })
        }
        _ => Err(CodecError::UnknownWord(shorten(word))),
    }
}

/// The arguments of a message. Some managers append further arguments, which are ignored.
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

/// A match, its last joint move or percepts, and the turn of GDL-II.
type Step = (MatchId, Option<Vec<Term>>, Option<Turn>);

/// The match, and its last joint move or percepts: a list, or words without the brackets of a list. A number after the match
/// that is followed by a term and a list is the turn of GDL-II.
fn step(word: &'static str, args: &[&str]) -> Result<Step, CodecError> {
    let [id, first] = arguments(word, args)?;
    let is_nil = |text: &str| text.eq_ignore_ascii_case("nil");
    if let (Ok(number), Some([last_move, percepts])) = (first.parse(), args.get(2..4)) {
        let list = match inside(percepts) {
            Some(list) => Some(items(list)?),
            None => is_nil(percepts).then(Vec::new),
        };
        if let Some(list) = list {
            let percepts: Result<Vec<Term>, TermError> = list.into_iter().map(Term::read).collect();
            let turn = Turn {
                number,
                last_move: (!is_nil(last_move))
                    .then(|| Term::read(last_move))
                    .transpose()?,
            };
            let percepts = Some(percepts?).filter(|percepts| number > 0 || !percepts.is_empty());
            return Ok((match_id(id)?, percepts, Some(turn)));
        }
    }
    let moves = match inside(first) {
        Some(list) => items(list)?,
        None if is_nil(first) => Vec::new(),
        None => args[1..].to_vec(),
    };
    let moves: Result<Vec<Term>, TermError> = moves.into_iter().map(Term::read).collect();
    let moves = Some(moves?).filter(|moves| !moves.is_empty());
    Ok((match_id(id)?, moves, None))
}

fn preview([sheet, seconds]: [&str; 2], received: Option<Instant>) -> Result<Request, CodecError> {
    let clock = clock(seconds)?;
    Ok(Request::Preview {
        clock,
        rules: rules(sheet, None, deadline(received, clock))?,
    })
}

fn start(
    [id, role, sheet, start, play]: [&str; 5],
    received: Option<Instant>,
) -> Result<Request, CodecError> {
    let id = match_id(id)?;
    let start_clock = clock(start)?;
    Ok(Request::Start {
        role: Term::read(role)?,
        start_clock,
        play_clock: clock(play)?,
        rules: rules(sheet, Some(&id), deadline(received, start_clock))?,
        id,
    })
}

/// When to stop checking rules. The rest of the clock is for what cannot be stopped, and for a slow machine.
fn deadline(received: Option<Instant>, clock: Duration) -> Option<Instant> {
    const LEAST: Duration = Duration::from_millis(200);
    const MOST: Duration = Duration::from_secs(3600);
    received?.checked_add((clock.min(MOST) * 3 / 4).max(LEAST))
}

fn rules(
    sheet: &str,
    id: Option<&MatchId>,
    until: Option<Instant>,
) -> Result<Arc<Rules>, CodecError> {
    let is_late = || until.is_some_and(|until| Instant::now() > until);
    let inner = inside(sheet).ok_or_else(|| argument("the list of rules", sheet))?;
    // A list that begins with a word would be parsed as one term, so the rules are parsed without its brackets.
    let description = match inner.trim_start().starts_with('(') {
        true => parse(sheet.as_bytes(), &Limits::default()),
        false => parse(lay_out(inner, true).as_bytes(), &Limits::default()),
    };
    match check_until(&description, &is_late) {
        Some(Ok(rules)) => Ok(Arc::new(rules)),
        Some(Err(findings)) => Err(CodecError::Rules {
            id: id.cloned(),
            findings: Box::new(findings),
        }),
        None => Err(CodecError::TooLate),
    }
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
    const MAX_CHARS: usize = 60;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Writes a request as the reference manager does. Clocks are written in whole seconds, at least one.
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
        Request::Play { id, moves, turn } => {
            format!(
                "( PLAY {id} {}{} )",
                turn_text(turn),
                moves_text(moves.as_deref())
            )
        }
        Request::Stop { id, moves, turn } => {
            format!(
                "( STOP {id} {}{} )",
                turn_text(turn),
                moves_text(moves.as_deref())
            )
        }
        Request::Abort { id } => format!("( ABORT {id} )"),
    }
}

fn sheet(rules: &Rules) -> String {
    format!("({} )", lay_out(&rules.to_string(), true))
}

fn seconds(clock: Duration) -> u64 {
    clock.as_secs().max(1)
}

fn turn_text(turn: &Option<Turn>) -> String {
    let Some(Turn { number, last_move }) = turn else {
        return String::new();
    };
    let last_move = last_move.as_ref().map_or("NIL".to_owned(), Term::spaced);
    format!("{number} {last_move} ")
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
        // Managers do not check the reply to a START, so players send anything.
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

/// A move, optionally followed by `(explanation "…") (taunt "…")`.
fn read_move(first: &str, rest: &[&str]) -> Reply {
    let Ok(mv) = Term::read(first) else {
        return Reply::Failed(Failure::Unreadable(shorten(first)));
    };
    let notes: Vec<String> = rest.iter().map(|item| lay_out(item, false)).collect();
    let thought = (!notes.is_empty()).then(|| Thought {
        note: Some(shorten(&notes.join(" "))),
        ..Thought::default()
    });
    Reply::Move { mv, thought }
}

/// `( ( name X ) ( status available ) )` in any order, or just the status.
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

/// Writes a reply as the reference player does. The text is empty for [`Reply::Failed`].
#[must_use]
pub fn write_reply(reply: &Reply) -> String {
    match reply {
        Reply::Info(info) => write_info(info),
        Reply::Ready => "ready".to_owned(),
        Reply::Busy => "busy".to_owned(),
        Reply::Move { mv, .. } => mv.spaced(),
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

/// The text as one word, because peers expect an atom.
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

    /// Reads a request and writes it again, or shows the error.
    fn check_request(text: &str, expected: Expect) {
        let shown = match read_request(text.as_bytes()) {
            Ok(request) => write_request(&request),
            Err(error) => format!("error: {error}"),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn requests_of_the_reference_manager_round_trip() {
        let dialogue = [
            "( INFO )",
            "( PLAY Base.ticTacToe.1 NIL )",
            "( PLAY Base.ticTacToe.1 (( mark 2 1 ) noop ) )",
            "( PLAY Base.ticTacToe.1 (noop ( mark 1 1 ) ) )",
            "( STOP Base.ticTacToe.1 (( mark 1 3 ) noop ) )",
            "( ABORT m3 )",
            // GDL-II with turns; without them it is the same text as in GDL-I.
            "( PLAY m 0 NIL NIL )",
            "( PLAY m 1 ( mark 1 1 ) ( ) )",
            "( PLAY m 2 noop (( did oplayer ok ) yourmove ) )",
            "( STOP m 3 noop (( card 7 ) ) )",
        ];
        for text in dialogue {
            let request = read_request(text.as_bytes()).expect("a valid request");
            assert_eq!(write_request(&request), text);
        }
    }

    #[test]
    fn a_number_after_the_match_is_a_turn_only_before_a_move_and_a_list() {
        check_request(
            "(play m 3 (MARK 1 1) ((OK)))",
            expect!["( PLAY m 3 ( MARK 1 1 ) (( OK ) ) )"],
        );
        check_request("(stop m 12 noop nil)", expect!["( STOP m 12 noop ( ) )"]);
        // Moves without brackets around them, whose first is a number.
        check_request("(play m 3 4)", expect!["( PLAY m (3 4 ) )"]);
        check_request("(play m 3 4 5)", expect!["( PLAY m (3 4 5 ) )"]);
        check_request("(play m (3 4))", expect!["( PLAY m (3 4 ) )"]);
    }

    #[test]
    fn requests_of_the_dresden_manager_are_read() {
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
    fn start_keeps_spelling_and_ignores_additional_arguments() {
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
    fn keywords_in_any_case_and_an_empty_list_for_nil() {
        check_request("(info)", expect!["( INFO )"]);
        check_request("ping", expect!["( INFO )"]);
        check_request("(abort m3)", expect!["( ABORT m3 )"]);
        check_request("\u{FEFF}(play\tm ())\r\n", expect!["( PLAY m NIL )"]);
        check_request("(stop m nil)", expect!["( STOP m NIL )"]);
    }

    #[test]
    fn missing_brackets_and_additional_arguments_are_accepted() {
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
    fn invalid_requests_are_errors() {
        check_request("", expect!["error: the message is malformed: it is empty"]);
        check_request(
            "()",
            expect!["error: the message is malformed: it is empty"],
        );
        check_request(
            "garbage(",
            expect!["error: the message is malformed: its brackets do not match"],
        );
        check_request(
            "(info) (info)",
            expect!["error: the message is malformed: it has more than one term"],
        );
        check_request(
            "(dance m)",
            expect![
                "error: unknown message `dance`: expected INFO, PREVIEW, START, PLAY, STOP or ABORT"
            ],
        );
        check_request(
            "((info))",
            expect![
                "error: unknown message `(info)`: expected INFO, PREVIEW, START, PLAY, STOP or ABORT"
            ],
        );
        check_request(
            "(play m)",
            expect!["error: PLAY needs 2 arguments, found 1"],
        );
        check_request(
            "(play (m) nil)",
            expect!["error: expected the name of a match, found `(m)`"],
        );
        check_request(
            "(start m r rules 5 5)",
            expect!["error: expected the list of rules, found `rules`"],
        );
        check_request(
            "(start m r ((role r)) soon 5)",
            expect!["error: expected a number of seconds, found `soon`"],
        );
        check_request(
            "(start m r ((role r)) -1 5)",
            expect!["error: expected a number of seconds, found `-1`"],
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
        let error = read_request(b"(start m7 r ((role r)) 5 5)")
            .expect_err("the rules have no legal and no goal");
        let CodecError::Rules { id, .. } = error else {
            panic!("expected CodecError::Rules")
        };
        assert_eq!(id.map(|id| id.to_string()).as_deref(), Some("m7"));
    }

    /// Reads the reply to a request and shows it.
    fn check_reply(to: &str, text: &str, expected: Expect) {
        let request = read_request(to.as_bytes()).expect("a valid request");
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
    fn every_reply_to_play_is_a_move() {
        check_reply(
            "(play m nil)",
            " ( mark 2 1 ) ",
            expect!["Move { mv: (mark 2 1), thought: None }"],
        );
        check_reply(
            "(play m nil)",
            "busy",
            expect!["Move { mv: busy, thought: None }"],
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
                r#"Move { mv: noop, thought: Some(Thought { value: None, playouts: 0, transitions: 0, time: 0ns, stop: None, moves: [], note: Some("(explanation \"so what\") (taunt \"ha\")") }) }"#
            ]],
        );
    }

    #[test]
    fn other_replies_are_read_in_any_case() {
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
        let mv = Term::read("(mark 2 1)").expect("a valid term");
        let replies = [
            Reply::Info(info),
            Reply::Ready,
            Reply::Move { mv, thought: None },
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
