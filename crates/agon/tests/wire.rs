//! A whole match in every dialect of HTTP that managers of the GGP world are known to speak, or may.

mod playing;

use std::path::Path;

use playing::{Playing, body};

/// Two roles in turn; the name of a move has letters of several bytes.
const SHEET: &str = "(role White)(role Black)(init (step 1))(succ 1 2)(succ 2 3)
(<= (legal White (move é ?x)) (true (step ?x)))(legal Black noop)
(<= (next (step ?y)) (true (step ?x)) (succ ?x ?y))(<= terminal (true (step 3)))(goal White 100)(goal Black 0)";

/// How a manager puts a message on the wire.
struct Dialect {
    name: &'static str,
    request: fn(&str) -> Vec<u8>,
    /// Whether it closes its side once everything is sent.
    hangs_up: bool,
}

const DIALECTS: &[Dialect] = &[
    Dialect {
        name: "the reference manager, which counts characters",
        request: |message| {
            let length = message.chars().count();
            format!(
                "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: localhost\r\nSender: GAMESERVER\r\nReceiver: P0\r\n\
                 Content-Type: text/acl\r\nContent-Length: {length}\r\n\r\n{message}"
            )
            .into_bytes()
        },
        hangs_up: false,
    },
    Dialect {
        name: "the Dresden manager: no host, and headers in another case",
        request: |message| {
            let length = message.len();
            format!(
                "POST / HTTP/1.0\r\nAccept: text/delim\r\nSender: Gamecontroller\r\nReceiver: 127.0.0.1\r\n\
                 Content-type: text/acl\r\nContent-length: {length}\r\n\r\n{message}"
            )
            .into_bytes()
        },
        hangs_up: false,
    },
    Dialect {
        name: "Tiltyard, with headers of its own",
        request: |message| {
            let length = message.len();
            format!(
                "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: h\r\nSender: GAMESERVER\r\nReceiver: PLAYER\r\n\
                 GGP-Match-ID: abc\r\nGGP-Match-Step: 2\r\nGGP-Match-Host: Tiltyard\r\nGGP-Match-Players: da39a3ee,5e6b4b0d\r\n\
                 Content-Type: text/acl\r\nContent-Length: {length}\r\n\r\n{message}"
            )
            .into_bytes()
        },
        hangs_up: false,
    },
    Dialect {
        name: "a browser or a library that keeps its connections",
        request: |message| {
            let length = message.len();
            format!(
                "POST /play?now HTTP/1.1\r\nhost: h\r\nconnection: keep-alive\r\nuser-agent: x\r\norigin: http://h\r\n\
                 content-type: text/plain;charset=UTF-8\r\ncontent-length: {length}\r\n\r\n{message}"
            )
            .into_bytes()
        },
        hangs_up: false,
    },
    Dialect {
        name: "a library that asks before it sends, in chunks",
        request: |message| {
            let (one, two) = message.as_bytes().split_at(3);
            let mut bytes =
                b"POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n".to_vec();
            bytes.extend_from_slice(one);
            bytes.extend_from_slice(format!("\r\n{:X};note=x\r\n", two.len()).as_bytes());
            bytes.extend_from_slice(two);
            bytes.extend_from_slice(b"\r\n0\r\n\r\n");
            bytes
        },
        hangs_up: false,
    },
    Dialect {
        name: "no length, and the end is where the peer hangs up",
        request: |message| format!("POST / HTTP/1.0\n\n{message}\r\n").into_bytes(),
        hangs_up: true,
    },
    Dialect {
        name: "no length, and nobody hangs up",
        request: |message| format!("POST / HTTP/1.0\r\n\r\n{message}").into_bytes(),
        hangs_up: false,
    },
    Dialect {
        name: "the path of a GET, encoded as forms are",
        request: |message| {
            let byte = |byte: &u8| match byte {
                b' ' => "+".to_owned(),
                letter if letter.is_ascii_alphanumeric() => char::from(*letter).to_string(),
                other => format!("%{other:02x}"),
            };
            let path: String = message.as_bytes().iter().map(byte).collect();
            format!("GET /{path} HTTP/1.0\r\n\r\n").into_bytes()
        },
        hangs_up: false,
    },
    Dialect {
        name: "the path of a GET as it is",
        request: |message| format!("GET /{} HTTP/1.1\n\n", message.replace('\n', " ")).into_bytes(),
        hangs_up: false,
    },
];

/// Messages as the reference manager spells them, and replies.
const SPACED: &[(&str, &str)] = &[
    (
        "( INFO )",
        "( ( name agon ) ( status available ) ( species agon ) )",
    ),
    ("( START M.1 White {rules} 10 5)", "ready"),
    ("( PLAY M.1 NIL )", "( move é 1 )"),
    ("( PLAY M.1 (( move é 1 ) noop ) )", "( move é 2 )"),
    ("( PLAY other NIL )", "busy"),
    ("( STOP M.1 (( move é 2 ) noop ) )", "done"),
    ("( STOP M.1 (( move é 2 ) noop ) )", "busy"),
];

/// Without blanks, shouted, and with arguments that nobody asked for.
const LOUD: &[(&str, &str)] = &[
    ("(START M2 WHITE {RULES} 10 5 MORE (OF IT))", "ready"),
    ("(PLAY M2 NIL)", "( MOVE é 1 )"),
    ("(PLAY M2 ((MOVE é 1) NOOP) NOW)", "( MOVE é 2 )"),
    ("(ABORT M2)", "aborted"),
    ("(ABORT M2)", "busy"),
];

#[test]
fn a_match_in_every_dialect() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let player = Playing::start(folder, &["--player", "legal"]);
    let rules = format!("({SHEET})");
    for dialect in DIALECTS {
        for (message, expected) in SPACED.iter().chain(LOUD) {
            let message = message
                .replace("{rules}", &rules)
                .replace("{RULES}", &rules.to_ascii_uppercase());
            let answer = player.send(&(dialect.request)(&message), dialect.hangs_up);
            let answer = answer.trim_start_matches("HTTP/1.1 100 Continue\r\n\r\n");
            assert_eq!(body(answer), *expected, "{}: {message}", dialect.name);
            let length = format!("\r\nContent-length: {}\r\n", expected.len());
            assert!(answer.contains(&length), "{answer}");
            assert!(
                answer.contains("\r\nContent-type: text/acl\r\n"),
                "{answer}"
            );
        }
    }
}

#[test]
fn browsers_may_ask_first() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let player = Playing::start(folder, &["--player", "legal"]);
    for verb in ["OPTIONS", "PUT", "HEAD", "options"] {
        let request = format!("{verb} / HTTP/1.1\r\nOrigin: http://h\r\n\r\n");
        let answer = player.send(request.as_bytes(), false);
        assert_eq!(body(&answer), "", "{verb}");
        for header in [
            "Access-Control-Allow-Origin: *",
            "Access-Control-Allow-Methods: POST, GET, OPTIONS",
            "Access-Control-Allow-Headers: Content-Type",
            "Content-length: 0",
        ] {
            assert!(answer.contains(&format!("\r\n{header}\r\n")), "{answer}");
        }
    }
}
