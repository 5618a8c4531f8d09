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

use agon_protocol::http::{Access, Limits, RemotePlayer, Server};
use agon_protocol::{Failure, MatchId, Player, Reply, Request, StopFlag, Term};
use expect_test::{Expect, expect};

const HEADERS: &str = "Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Methods: POST, GET, OPTIONS\r\n\
    Access-Control-Allow-Headers: Content-Type\r\nAccess-Control-Allow-Age: 86400\r\nAccess-Control-Max-Age: 86400\r\n\r\n";

/// A server that answers `noop` to a PLAY and `ready` to everything else.
fn server(limits: Limits) -> SocketAddr {
    start(Server::bind("127.0.0.1:0", limits).expect("a free port"))
}

fn start(server: Server) -> SocketAddr {
    let address = server.address().expect("a local address");
    let answer = |request: Request, _| match request {
        Request::Play { .. } => Reply::Move {
            mv: Term::read("noop").expect("a valid term"),
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
    show(&answer, expected);
}

/// Shows an answer without the headers that let all web pages read it.
fn show(answer: &str, expected: Expect) {
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
            Connection: close

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
            Connection: close

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
            Connection: close
            …
            ready"#]],
    );
    check(
        "OPTIONS / HTTP/1.1\r\n\r\n",
        expect![[r#"
            HTTP/1.0 200 OK
            Content-type: text/acl
            Content-length: 0
            Connection: close

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
            Connection: close

            the message is malformed: its brackets do not match"#]],
    );
    check(
        "nonsense\r\n\r\n",
        expect![[r#"
            HTTP/1.0 400 Bad Request
            Content-type: text/acl
            Content-length: 28
            Connection: close

            this is not HTTP: `nonsense`"#]],
    );
    check(
        "POST / HTTP/1.0\r\nContent-Length: 99999999999\r\n\r\n",
        expect![[r#"
            HTTP/1.0 413 Content Too Large
            Content-type: text/acl
            Content-length: 41
            Connection: close

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
            Connection: close

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
fn idle_connections_make_room_for_new_ones() {
    let limits = Limits {
        connections: 4,
        connections_per_address: 4,
        head_patience: Duration::from_secs(60),
        ..Limits::default()
    };
    let address = server(limits);
    let connect = || TcpStream::connect(address).expect("the server listens");
    let mut idle: Vec<TcpStream> = (0..4).map(|_| connect()).collect();
    // Some have sent a part of a message.
    let _ = idle[1].write_all(b"POST / HTTP/1.0\r\n");
    for _ in 0..20 {
        let answer = send(address, b"GET /info HTTP/1.0\r\n\r\n");
        assert!(answer.ends_with("ready"), "{answer}");
        idle.push(connect());
    }
    // The first ones were closed.
    assert_eq!(idle[0].read(&mut [0]).unwrap_or(0), 0);
}

#[test]
fn a_connection_is_refused_while_all_others_are_answered() {
    let limits = Limits {
        connections: 2,
        connections_per_address: 2,
        ..Limits::default()
    };
    let server = Server::bind("127.0.0.1:0", limits).expect("a free port");
    let address = server.address().expect("a local address");
    let (started, wait) = channel();
    let (finish, finished) = channel::<()>();
    let finished = std::sync::Mutex::new(finished);
    let answer = move |_: Request, _| {
        let _ = started.send(());
        let _ = finished.lock().map(|finished| finished.recv());
        Reply::Ready
    };
    let answer: Arc<dyn Fn(Request, Instant) -> Reply + Send + Sync> = Arc::new(answer);
    thread::spawn(move || server.serve(&answer, &StopFlag::new()));
    let info = b"GET /info HTTP/1.0\r\n\r\n";
    let busy = [0, 1].map(|_| thread::spawn(move || send(address, info)));
    wait.recv().expect("the first is answered");
    wait.recv().expect("the second is answered");
    let refused = send(address, b"");
    assert!(refused.starts_with("HTTP/1.0 503 "), "{refused}");
    drop(finish);
    for answer in busy {
        assert!(answer.join().expect("no panic").ends_with("ready"));
    }
}

#[test]
fn rules_are_not_read_while_no_match_can_be_started() {
    let server = Server::bind("127.0.0.1:0", Limits::default()).expect("a free port");
    let server = server.busy_while(|| true);
    let address = server.address().expect("a local address");
    let answer = |request: Request, _| match request {
        Request::Play { .. } => Reply::Nil,
        _ => panic!("this should not be asked"),
    };
    let answer: Arc<dyn Fn(Request, Instant) -> Reply + Send + Sync> = Arc::new(answer);
    thread::spawn(move || server.serve(&answer, &StopFlag::new()));
    let rules = "((role a) (legal a x) (goal a 1) terminal)";
    let say = |message: &str| {
        let length = message.len();
        let post = format!("POST / HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{message}");
        send(address, post.as_bytes())
    };
    for message in [
        format!("(START m a {rules} 1 1)"),
        format!(" ( start m a {rules} 1 1)"),
        format!("(Preview {rules} 1)"),
        "(START m a (these rules (are never read".to_owned(),
    ] {
        let answer = say(&message);
        assert!(answer.ends_with("\r\n\r\nbusy"), "{answer}");
    }
    assert!(say("(PLAY start NIL)").ends_with("\r\n\r\nnil"));
}

#[test]
fn a_second_message_on_a_connection_is_refused() {
    let message = "POST / HTTP/1.1\r\nContent-Length: 13\r\n\r\n(PLAY m1 NIL)";
    let answer = send(server(Limits::default()), message.repeat(2).as_bytes());
    assert!(answer.contains("\r\nConnection: close\r\n"), "{answer}");
    assert_eq!(answer.matches("noop").count(), 1, "{answer}");
}

#[test]
fn web_pages_cannot_drive_a_player() {
    let post = |headers: &str| {
        format!("POST / HTTP/1.1\r\n{headers}Content-Length: 13\r\n\r\n(PLAY m1 NIL)")
    };
    check(
        &post("Host: localhost:9147\r\nOrigin: http://evil.example\r\n"),
        expect![[r#"
            HTTP/1.0 403 Forbidden
            Content-type: text/acl
            Content-length: 53
            Connection: close

            web pages of this origin may not speak to this player"#]],
    );
    check(
        &post("Host: evil.example:9147\r\n"),
        expect![[r#"
        HTTP/1.0 403 Forbidden
        Content-type: text/acl
        Content-length: 42
        Connection: close

        the Host header does not name this machine"#]],
    );
    check(
        "GET /(PLAY%20m1%20NIL) HTTP/1.1\r\nHost: localhost\r\n\r\n",
        expect![[r#"
            HTTP/1.0 405 Method Not Allowed
            Content-type: text/acl
            Content-length: 58
            Connection: close

            a GET can only ask for INFO: send other messages as a POST"#]],
    );
    check(
        "OPTIONS / HTTP/1.1\r\nOrigin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\n\r\n",
        expect![[r#"
            HTTP/1.0 200 OK
            Content-type: text/acl
            Content-length: 0
            Connection: close

        "#]],
    );
    check(
        "GET /INFO HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n",
        expect![[r#"
            HTTP/1.0 200 OK
            Content-type: text/acl
            Content-length: 5
            Connection: close
            …
            ready"#]],
    );
}

#[test]
fn a_listed_origin_may_send_everything() {
    let access = Access {
        origins: vec!["http://localhost:8147".to_owned()],
        secret: Some("sesame".to_owned()),
    };
    let server = Server::bind("127.0.0.1:0", Limits::default()).expect("a free port");
    let address = start(server.with_access(access));
    let origin = "Origin: http://localhost:8147\r\n";
    let ask = |request: &str| send(address, request.as_bytes());
    show(
        &ask(&format!("OPTIONS / HTTP/1.1\r\n{origin}\r\n")),
        expect![[r#"
            HTTP/1.0 200 OK
            Content-type: text/acl
            Content-length: 0
            Connection: close
            Access-Control-Allow-Origin: http://localhost:8147
            Access-Control-Allow-Methods: POST, GET, OPTIONS
            Access-Control-Allow-Headers: Content-Type, Authorization
            Access-Control-Allow-Age: 86400
            Access-Control-Max-Age: 86400
            Vary: Origin

        "#]],
    );
    let post = |headers: &str| {
        let headers = format!("{headers}Content-Length: 13\r\n\r\n");
        ask(&format!("POST / HTTP/1.1\r\n{headers}(PLAY m1 NIL)"))
    };
    show(
        &post(origin),
        expect![[r#"
        HTTP/1.0 401 Unauthorized
        Content-type: text/acl
        Content-length: 58
        Connection: close

        this player needs its secret: Authorization: Bearer SECRET"#]],
    );
    show(
        &post(&format!("{origin}Authorization: Bearer sesame\r\n")),
        expect![[r#"
            HTTP/1.0 200 OK
            Content-type: text/acl
            Content-length: 4
            Connection: close
            Access-Control-Allow-Origin: http://localhost:8147
            Access-Control-Allow-Methods: POST, GET, OPTIONS
            Access-Control-Allow-Headers: Content-Type, Authorization
            Access-Control-Allow-Age: 86400
            Access-Control-Max-Age: 86400
            Vary: Origin

            noop"#]],
    );
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
        turn: None,
    }
}

#[test]
fn a_remote_player_answers() {
    let address = server(Limits::default());
    let mut player = RemotePlayer::new(&format!("http://{address}/")).expect("a valid address");
    let mv = Term::read("noop").expect("a valid term");
    let expected = Reply::Move { mv, thought: None };
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
