//! The server and the client of `protocol::http`, with each other and with hand-written peers, on loopback.

#![expect(
    clippy::needless_pass_by_value,
    reason = "test helpers take their expectations by value"
)]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use agon_protocol::http::{Limits, RemotePlayer, Server};
use agon_protocol::{Failure, MatchId, Player, Reply, Request, StopFlag, Term};
use expect_test::{Expect, expect};

const HEADERS: &str = "Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Methods: POST, GET, OPTIONS\r\n\
    Access-Control-Allow-Headers: Content-Type\r\nAccess-Control-Allow-Age: 86400\r\nAccess-Control-Max-Age: 86400\r\n\r\n";

/// A server that answers `noop` to a PLAY and `ready` to everything else.
fn server(limits: Limits) -> SocketAddr {
    let server = Server::bind("127.0.0.1:0", limits).expect("a free port");
    let address = server.address().expect("a local address");
    let answer = |request: Request, _| match request {
        Request::Play { .. } => Reply::Move {
            of: Term::read("noop").expect("a valid term"),
            thought: None,
        },
        _ => Reply::Ready,
    };
    let answer: Arc<dyn Fn(Request, Instant) -> Reply + Send + Sync> = Arc::new(answer);
    thread::spawn(move || server.serve(&answer, &StopFlag::new()));
    address
}

/// Sends bytes and returns everything that is received.
fn send(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    // A server that has read enough may close the connection before everything is sent.
    let _ = stream.write_all(bytes);
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

/// Sends a request and shows the answer without the headers that never change.
fn check(bytes: &str, expected: Expect) {
    let answer = send(server(Limits::default()), bytes.as_bytes());
    expected.assert_eq(&answer.replace(HEADERS, "…\n").replace("\r\n", "\n"));
}

#[test]
fn a_message_as_the_reference_manager_sends_it() {
    check(
        "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: localhost\r\nSender: GAMESERVER\r\nReceiver: P0\r\nContent-Type: text/acl\r\nContent-Length: 15\r\n\r\n( PLAY m1 NIL )",
        expect![[r#"
            HTTP/1.0 200 OK
            Content-type: text/acl
            Content-length: 4
            …
            noop"#]],
    );
}

#[test]
fn a_message_as_the_dresden_manager_sends_it() {
    check(
        "POST / HTTP/1.0\r\nAccept: text/delim\r\nSender: Gamecontroller\r\nReceiver: somewhere\r\nContent-type: text/acl\r\nContent-length: 13\r\n\r\n(PLAY m1 NIL)",
        expect![[r#"
            HTTP/1.0 200 OK
            Content-type: text/acl
            Content-length: 4
            …
            noop"#]],
    );
}

#[test]
fn a_message_in_the_path_and_no_message() {
    check(
        "GET /%28+INFO+%29 HTTP/1.0\r\n\r\n",
        expect![[r#"
            HTTP/1.0 200 OK
            Content-type: text/acl
            Content-length: 5
            …
            ready"#]],
    );
    check(
        "OPTIONS / HTTP/1.1\r\n\r\n",
        expect![[r#"
            HTTP/1.0 200 OK
            Content-type: text/acl
            Content-length: 0
            …
        "#]],
    );
}

#[test]
fn unreadable_requests_are_answered_with_an_error() {
    check(
        "POST / HTTP/1.0\r\nContent-Length: 8\r\n\r\ngarbage(",
        expect![[r#"
            HTTP/1.0 400 Bad Request
            Content-type: text/acl
            Content-length: 51
            …
            the message is malformed: its brackets do not match"#]],
    );
    check(
        "nonsense\r\n\r\n",
        expect![[r#"
            HTTP/1.0 400 Bad Request
            Content-type: text/acl
            Content-length: 28
            …
            this is not HTTP: `nonsense`"#]],
    );
    check(
        "POST / HTTP/1.0\r\nContent-Length: 99999999999\r\n\r\n",
        expect![[r#"
            HTTP/1.0 413 Content Too Large
            Content-type: text/acl
            Content-length: 41
            …
            a message may have 16777216 bytes at most"#]],
    );
}

#[test]
fn rules_that_cannot_be_played_are_answered_busy() {
    check(
        "POST / HTTP/1.0\r\nContent-Length: 28\r\n\r\n(START m r ((role r)) 10 10)",
        expect![[r#"
            HTTP/1.0 200 OK
            Content-type: text/acl
            Content-length: 4
            …
            busy"#]],
    );
}

#[test]
fn a_slow_peer_gets_a_timeout() {
    let limits = Limits {
        patience: Duration::from_millis(100),
        ..Limits::default()
    };
    let address = server(limits);
    let answer = send(
        address,
        b"POST / HTTP/1.0\r\nContent-Length: 15\r\n\r\n( PLAY m1",
    );
    assert!(answer.starts_with("HTTP/1.0 408 "), "{answer}");
}

#[test]
fn a_connection_above_the_limit_is_refused_and_a_later_one_served() {
    let limits = Limits {
        connections: 2,
        patience: Duration::from_millis(500),
        ..Limits::default()
    };
    let address = server(limits);
    let connect = || TcpStream::connect(address).expect("the server listens");
    let idle = [connect(), connect()];
    let answer = send(address, b"");
    assert!(answer.starts_with("HTTP/1.0 503 "), "{answer}");
    drop(idle);
    // The slots are free again as soon as the server notices that the connections were closed.
    let begin = Instant::now();
    while !send(address, b"GET /info HTTP/1.0\r\n\r\n").ends_with("ready") {
        assert!(begin.elapsed() < Duration::from_secs(20));
    }
}

#[test]
fn an_answer_arrives_although_the_peer_sends_more() {
    let address = server(Limits::default());
    let mut bytes = b"POST / HTTP/1.0\r\nContent-Length: 13\r\n\r\n(PLAY m1 NIL)".to_vec();
    bytes.extend(vec![b' '; 100_000]);
    assert!(send(address, &bytes).ends_with("noop"));
}

fn play() -> Request {
    Request::Play {
        id: MatchId::new("m1").expect("a valid name"),
        moves: None,
    }
}

#[test]
fn a_remote_player_answers() {
    let address = server(Limits::default());
    let mut player = RemotePlayer::new(&format!("http://{address}/")).expect("a valid address");
    let mv = Term::read("noop").expect("a valid term");
    let expected = Reply::Move {
        of: mv,
        thought: None,
    };
    assert_eq!(player.answer(play(), &StopFlag::new()), expected);
    let abort = Request::Abort {
        id: MatchId::new("m1").expect("a valid name"),
    };
    assert_eq!(player.answer(abort, &StopFlag::new()), Reply::Aborted);
}

/// Asks a hand-written peer for a move. Returns the reply and the bytes that the peer received.
fn ask(peer: impl FnOnce(TcpStream) + Send + 'static, stop: &StopFlag) -> (Reply, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a local address");
    let (sender, bytes) = channel();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut text = String::new();
        while !text.ends_with("NIL )") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("more bytes");
            text.push(char::from(byte[0]));
        }
        sender.send(text).expect("the test waits for this");
        peer(stream);
    });
    let address = format!("http://{address}");
    let mut player = RemotePlayer::new(&address).expect("a valid address");
    let reply = player.answer(play(), stop);
    let text = bytes.recv().expect("the peer was asked");
    (
        reply,
        text.replace(address.trim_start_matches("http://"), "ADDRESS"),
    )
}

#[test]
fn a_remote_player_gets_the_headers_of_the_reference_manager() {
    let (_, text) = ask(drop, &StopFlag::new());
    expect![[r#"
        POST / HTTP/1.0
        Accept: text/delim
        Host: ADDRESS
        Sender: GAMESERVER
        Receiver: ADDRESS
        Content-Type: text/acl
        Content-Length: 15

        ( PLAY m1 NIL )"#]]
    .assert_eq(&text.replace("\r\n", "\n"));
}

#[test]
fn failures_of_a_remote_player_are_reported() {
    let failure = |peer: Box<dyn FnOnce(TcpStream) + Send>| match ask(peer, &StopFlag::new()).0 {
        Reply::Failed(failure) => failure,
        other => panic!("expected a failure, got {other:?}"),
    };
    assert_eq!(
        failure(Box::new(drop)),
        Failure::Connection("connection closed without an answer".to_owned())
    );
    let send = |mut stream: TcpStream, text: &str| {
        let _ = stream.write_all(text.as_bytes());
        let _ = stream.shutdown(Shutdown::Both);
    };
    assert_eq!(
        failure(Box::new(move |stream| send(stream, "\u{1}\u{2} what?\n"))),
        Failure::Connection("this is not HTTP: `\u{1}\u{2} what?`".to_owned())
    );
    assert_eq!(
        failure(Box::new(move |stream| send(
            stream,
            "HTTP/1.0 500 Oh no\r\n\r\n"
        ))),
        Failure::Connection("the answer is HTTP status 500 Oh no".to_owned())
    );
    assert_eq!(
        failure(Box::new(move |stream| send(
            stream,
            "HTTP/1.0 200 OK\r\n\r\n"
        ))),
        Failure::Empty
    );
    assert_eq!(
        failure(Box::new(move |stream| send(
            stream,
            "HTTP/1.0 200 OK\r\n\r\n(mark 1"
        ))),
        Failure::Unreadable("(mark 1".to_owned())
    );
    // An endless reply is read up to the limit.
    let flood = |mut stream: TcpStream| {
        let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n");
        while stream.write_all(&[b'x'; 65536]).is_ok() {}
    };
    assert_eq!(
        failure(Box::new(flood)),
        Failure::Unreadable("a message may have 1048576 bytes at most".to_owned())
    );
}

#[test]
fn a_hanging_player_is_left_when_the_flag_is_raised() {
    let stop = StopFlag::new();
    let raise = stop.clone();
    let (hold, held) = channel::<()>();
    let peer = move |stream: TcpStream| {
        raise.raise();
        let _ = held.recv();
        drop(stream);
    };
    let (reply, _) = ask(peer, &stop);
    drop(hold);
    assert!(
        matches!(reply, Reply::Failed(Failure::Connection(_))),
        "{reply:?}"
    );
}

#[test]
fn an_unreachable_player_is_a_connection_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = format!("http://{}", listener.local_addr().expect("a local address"));
    drop(listener);
    let mut player = RemotePlayer::new(&address).expect("a valid address");
    let reply = player.answer(play(), &StopFlag::new());
    assert_eq!(reply, Reply::Failed(Failure::Refused));
    let mut player =
        RemotePlayer::new("http://no-such-host.invalid:9147").expect("the form is good");
    let reply = player.answer(play(), &StopFlag::new());
    let unknown = Failure::Connection("unknown host no-such-host.invalid".to_owned());
    assert_eq!(reply, Reply::Failed(unknown));
}
