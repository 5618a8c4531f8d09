//! Properties of the codec, tested on generated messages and on arbitrary bytes.

use std::sync::Arc;
use std::time::Duration;

use agon_gdl::{Rules, check, parse};
use agon_protocol::codec::{read_reply, read_request, write_reply, write_request};
use agon_protocol::{MatchId, Reply, Request, Term, Turn};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

const NAMES: &[&str] = &[
    "a", "Mark", "noop", "1", "-3", "NIL", "busy", "é", "x_y", "++", "it's",
];
const SHEET: &str = "(role a) (role (b 1)) (init (Light off)) (legal a push) (legal (b 1) noop)
    (<= (next (Light on)) (does a push) (not (true (Light on))))
    (<= terminal (true (Light ?x)) (distinct ?x off)) (goal a 100) (goal (b 1) 0)";

fn rules() -> Arc<Rules> {
    Arc::new(check(&parse(SHEET.as_bytes(), &Default::default())).expect("valid rules"))
}

fn term() -> impl Strategy<Value = Term> {
    let leaf = select(NAMES).prop_map(str::to_owned);
    let text = leaf.prop_recursive(3, 12, 4, |inner| {
        (select(NAMES), vec(inner, 0..4))
            .prop_map(|(name, args)| format!("({name} {})", args.join(" ")))
    });
    text.prop_map(|text| Term::read(&text).expect("a valid term"))
}

fn is_nil(term: &Term) -> bool {
    term.to_string().eq_ignore_ascii_case("nil")
}

fn id() -> impl Strategy<Value = MatchId> {
    "[A-Za-z][A-Za-z0-9._-]{0,12}".prop_map(|name| MatchId::new(&name).expect("a valid name"))
}

fn clock() -> impl Strategy<Value = Duration> {
    (1..10_000_u64).prop_map(Duration::from_secs)
}

fn request() -> impl Strategy<Value = Request> {
    let moves = || option::of(vec(term(), 1..4));
    // On the wire, a move with the name `nil` and no move are the same.
    let last_move = || option::of(term()).prop_map(|mv| mv.filter(|mv| !is_nil(mv)));
    let turn = move || {
        let turn = (1..100_u32, last_move());
        option::of(turn.prop_map(|(number, last_move)| Turn { number, last_move }))
    };
    // With a turn, no percepts and an empty list of them are the same.
    let step = move || {
        (moves(), turn()).prop_map(|(moves, turn)| match turn {
            Some(_) => (Some(moves.unwrap_or_default()), turn),
            None => (moves, turn),
        })
    };
    prop_oneof![
        Just(Request::Info),
        clock().prop_map(|clock| Request::Preview {
            rules: rules(),
            clock
        }),
        (id(), term(), clock(), clock()).prop_map(|(id, role, start_clock, play_clock)| {
            Request::Start {
                id,
                role,
                rules: rules(),
                start_clock,
                play_clock,
            }
        }),
        (id(), step()).prop_map(|(id, (moves, turn))| Request::Play { id, moves, turn }),
        (id(), step()).prop_map(|(id, (moves, turn))| Request::Stop { id, moves, turn }),
        id().prop_map(|id| Request::Abort { id }),
    ]
}

/// A request as text, with the full text of its rules.
fn show(request: &Request) -> String {
    match request {
        Request::Preview { rules, clock } => format!("{rules} {clock:?}"),
        Request::Start {
            id,
            role,
            rules,
            start_clock,
            play_clock,
        } => format!("{id} {role} {rules} {start_clock:?} {play_clock:?}"),
        other => format!("{other:?}"),
    }
}

/// The same message without unnecessary blanks.
fn remove_blanks(text: &str) -> String {
    text.replace("( ", "(")
        .replace(" )", ")")
        .replace(") (", ")(")
}

proptest! {
    #[test]
    fn written_requests_can_be_read(request in request()) {
        let text = write_request(&request);
        let again = read_request(text.as_bytes()).expect("a valid request");
        prop_assert_eq!(show(&again), show(&request));
        prop_assert_eq!(write_request(&again), text);
    }

    #[test]
    fn whitespace_does_not_matter(request in request()) {
        let text = write_request(&request);
        for text in [remove_blanks(&text), text.replace(' ', " \r\n\t ")] {
            let again = read_request(text.as_bytes()).expect("a valid request");
            prop_assert_eq!(show(&again), show(&request));
        }
    }

    #[test]
    fn moves_keep_their_spelling(mv in term(), id in id()) {
        let reply = Reply::Move { mv, thought: None };
        let to = Request::Play { id, moves: None, turn: None };
        prop_assert_eq!(read_reply(&to, write_reply(&reply).as_bytes()), reply);
    }

    #[test]
    fn any_bytes_can_be_read(bytes in vec(any::<u8>(), 0..200), request in request()) {
        let _ = read_request(&bytes);
        let _ = read_reply(&request, &bytes);
    }

    #[test]
    fn any_prefix_of_a_message_can_be_read(request in request(), cut in 0..300_usize) {
        let text = write_request(&request);
        let end = text.ceil_char_boundary(cut.min(text.len()));
        let _ = read_request(&text.as_bytes()[..end]);
    }
}

#[test]
fn a_deeply_nested_message_does_not_overflow_the_stack() {
    let deep = "(".repeat(1_000_000) + &")".repeat(1_000_000);
    let play = format!("(PLAY m ({deep}))");
    assert!(read_request(play.as_bytes()).is_ok());
    let start = format!("(START m r ({deep}) 1 1)");
    assert!(read_request(start.as_bytes()).is_err());
}
