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
        name: "a library that keeps its connections",
        request: |message| {
            let length = message.len();
            format!(
                "POST /play?now HTTP/1.1\r\nhost: h\r\nconnection: keep-alive\r\nuser-agent: x\r\n\
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
fn anybody_may_ask_for_info() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let player = Playing::start(folder, &["--player", "legal"]);
    for path in ["%28+INFO+%29", "(INFO)", "( info )", "ping"] {
        let request = format!("GET /{path} HTTP/1.0\r\nOrigin: http://h\r\n\r\n");
        let answer = player.send(request.as_bytes(), false);
        assert!(body(&answer).contains("( status available )"), "{answer}");
        let readers = "\r\nAccess-Control-Allow-Origin: *\r\n";
        assert!(answer.contains(readers), "{answer}");
    }
}

#[test]
fn pages_of_a_listed_origin_may_ask_first() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let args = ["--player", "legal", "--allow-origin", "http://h"];
    let player = Playing::start(folder, &args);
    for verb in ["OPTIONS", "PUT", "HEAD", "options"] {
        for (origin, is_listed) in [("http://h", true), ("http://other", false)] {
            let request = format!("{verb} / HTTP/1.1\r\nOrigin: {origin}\r\n\r\n");
            let answer = player.send(request.as_bytes(), false);
            assert_eq!(body(&answer), "", "{verb}");
            for header in [
                "Access-Control-Allow-Origin: http://h",
                "Access-Control-Allow-Methods: POST, GET, OPTIONS",
                "Access-Control-Allow-Headers: Content-Type, Authorization",
            ] {
                let has_header = answer.contains(&format!("\r\n{header}\r\n"));
                assert_eq!(has_header, is_listed, "{answer}");
            }
        }
    }
}

#[test]
fn other_pages_cannot_drive_the_player() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let player = Playing::start(folder, &["--player", "legal"]);
    let start = format!("(START m White ({SHEET}) 10 10)");
    let length = start.len();
    for headers in [
        "Origin: http://evil.example\r\n",
        "Origin: null\r\n",
        "Host: evil.example:9147\r\n",
    ] {
        let post = format!("POST / HTTP/1.1\r\n{headers}Content-Length: {length}\r\n\r\n{start}");
        let answer = body(&player.send(post.as_bytes(), false));
        assert!(answer.starts_with("HTTP/1.0 403 Forbidden"), "{answer}");
    }
    let path: String = start.bytes().map(|byte| format!("%{byte:02X}")).collect();
    for path in [path.as_str(), "(ABORT%20m)", "%28+STOP+m+NIL+%29"] {
        let answer = player.send(format!("GET /{path} HTTP/1.0\r\n\r\n").as_bytes(), false);
        assert!(body(&answer).starts_with("HTTP/1.0 405 "), "{answer}");
        assert!(!answer.contains("Access-Control"), "{answer}");
    }
    assert!(
        player.say("(INFO)").contains("available"),
        "no match was started"
    );
}

#[test]
fn a_player_with_a_secret_answers_only_those_who_know_it() {
    let folder = playing::empty_folder("secret");
    std::fs::write(folder.join("secret"), "sesame\n").expect("it can be written");
    let player = Playing::start(&folder, &["--player", "legal", "--secret-file", "secret"]);
    let post = |headers: &str| {
        let request = format!("POST / HTTP/1.0\r\n{headers}Content-Length: 6\r\n\r\n(INFO)");
        body(&player.send(request.as_bytes(), false))
    };
    assert!(post("").starts_with("HTTP/1.0 401 "));
    assert!(post("Authorization: Bearer other\r\n").starts_with("HTTP/1.0 401 "));
    assert!(post("Authorization: Bearer sesame\r\n").contains("available"));
}
