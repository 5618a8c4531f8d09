//! Whole matches over HTTP on loopback: players as processes of their own, hosted by `agon match`, and players that do
//! everything wrong.

mod playing;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use agon_arena::{FaultKind, MatchRecord};
use playing::{Playing, agon, empty_folder, play, read_record, run};

/// Two roles choose three times each, one after the other.
const TURNS: &str = "(role a) (role b) (init (step 1)) (init (control a)) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
    (other a b) (other b a) (choice left) (choice right)
    (<= (legal ?r (Go ?c)) (true (control ?r)) (choice ?c))
    (<= (legal ?r noop) (other ?r ?o) (true (control ?o)))
    (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y)) (<= (next (control ?o)) (true (control ?r)) (other ?r ?o))
    (<= terminal (true (step 5))) (goal a 50) (goal b 50)";
/// Both choose at once, twice.
const FINGERS: &str = "(role even) (role odd) (init (round 1)) (fingers 1) (fingers 2)
    (<= (legal ?r (show ?n)) (role ?r) (fingers ?n))
    (<= (next (round 2)) (true (round 1))) (<= (next (round 3)) (true (round 2)))
    (<= (next same) (does even ?m) (does odd ?m)) (<= terminal (true (round 3)))
    (<= (goal even 100) (true same)) (<= (goal even 0) (not (true same)))
    (<= (goal odd 0) (true same)) (<= (goal odd 100) (not (true same)))";
/// Three roles in turn.
const THREE: &str =
    "(role red) (role green) (role blue) (init (turn red)) (after red green) (after green blue)
    (<= (legal ?r (paint ?c)) (true (turn ?r)) (colour ?c)) (colour light) (colour dark)
    (<= (legal ?r wait) (role ?r) (true (turn ?o)) (distinct ?r ?o))
    (<= (next (turn ?o)) (true (turn ?r)) (after ?r ?o)) (<= (next done) (true (turn blue)))
    (<= terminal (true done)) (goal red 30) (goal green 30) (goal blue 40)";
/// A lamp is to be switched on.
const LAMP: &str = "(role robot) (init (lamp off)) (legal robot push) (legal robot sleep)
    (<= (next (lamp on)) (does robot push)) (<= (next asleep) (does robot sleep))
    (<= terminal (not (true (lamp off))))
    (<= (goal robot 100) (true (lamp on))) (<= (goal robot 0) (not (true (lamp on))))";

/// A folder with these sheets for one test.
fn folder(test: &str) -> PathBuf {
    let path = empty_folder(&format!("http_{test}"));
    let sheets = [
        ("turns", TURNS),
        ("fingers", FINGERS),
        ("three", THREE),
        ("lamp", LAMP),
    ];
    for (name, sheet) in sheets {
        fs::write(path.join(format!("{name}.kif")), sheet).expect("it can be written");
    }
    path
}

#[test]
fn players_in_processes_of_their_own_play_all_kinds_of_games() {
    let folder = folder("kinds");
    let player = || Playing::start(&folder, &[]);
    let players = [player(), player(), player()];
    let urls: Vec<&str> = players.iter().map(|player| player.url.as_str()).collect();
    for (game, n_roles) in [
        ("turns.kif", 2),
        ("fingers.kif", 2),
        ("three.kif", 3),
        ("lamp.kif", 1),
    ] {
        let record = play(&folder, game, &urls[..n_roles], &[]);
        for seat in 0..n_roles {
            assert_eq!(record.n_errors(seat), 0, "{game}: {:?}", record.errors);
        }
        assert_eq!(record.player_names_from_host, urls[..n_roles]);
        let details = record.agon.expect("it is ours");
        assert_eq!(details.seats[0].parameters["name"], "agon");
    }
}

#[test]
fn built_in_games_are_played_to_the_end() {
    let folder = folder("built_in");
    let player = || Playing::start(&folder, &["--player", "random"]);
    let players = [player(), player(), player()];
    let urls: Vec<&str> = players.iter().map(|player| player.url.as_str()).collect();
    for (game, n_roles) in [
        ("breakthrough", 2),
        ("roshambo", 2),
        ("connect_four_3", 3),
        ("eight_puzzle", 1),
    ] {
        let record = play(&folder, game, &urls[..n_roles], &[]);
        assert!(
            record.is_completed && record.goal_values.is_some(),
            "{game}"
        );
        assert!(
            record.errors.iter().flatten().all(String::is_empty),
            "{game}: {:?}",
            record.errors
        );
    }
}

#[test]
fn remote_players_and_ours_at_one_table_with_scrambled_rules() {
    let folder = folder("mixed");
    let player = Playing::start(&folder, &["--player", "legal", "--record", "seen"]);
    let players = [player.url.as_str(), "random"];
    let record = play(&folder, "turns.kif", &players, &["--scramble"]);
    assert!(record.scrambled);
    assert_eq!((record.n_errors(0), record.n_errors(1)), (0, 0));
    assert_eq!(record.moves[0], ["( Go left )", "noop"]);
    // The player has seen other names, and its own record fits them.
    let begin = Instant::now();
    let seen = loop {
        let mut files = fs::read_dir(folder.join("seen")).expect("it is there");
        if let Some(file) = files.next() {
            break file.expect("it can be read").path();
        }
        assert!(begin.elapsed() < Duration::from_secs(20));
        thread::sleep(Duration::from_millis(20));
    };
    // It may still be on its way to the disk.
    thread::sleep(Duration::from_millis(300));
    let seen = seen.to_str().expect("it is text");
    let replayed = run(&folder, &["replay", seen, "--json"]);
    assert_eq!(replayed.status.code(), Some(0), "{replayed:?}");
    let text = fs::read_to_string(seen).expect("it can be read");
    let own: MatchRecord = serde_json::from_str(&text).expect("it is a record");
    assert_eq!(own.goal_values, record.goal_values);
    assert_eq!(own.moves.len(), record.moves.len());
    assert!(!text.contains("left") && !text.contains("noop"));
}

/// A player that answers START and does something else with a PLAY, given its number from 1. Messages are told.
fn odd_player(
    on_play: impl Fn(usize, TcpStream) + Send + Sync + 'static,
) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let url = format!("http://{}", listener.local_addr().expect("it has one"));
    let (tell, messages) = channel();
    thread::spawn(move || serve_odd(&listener, &on_play, &tell));
    (url, messages)
}

fn serve_odd(
    listener: &TcpListener,
    on_play: &(impl Fn(usize, TcpStream) + Sync),
    tell: &Sender<String>,
) {
    thread::scope(|scope| {
        let mut n_plays = 0;
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let message = read_message(&mut stream);
            let _ = tell.send(message.clone());
            if message.starts_with("( PLAY") {
                n_plays += 1;
                scope.spawn(move || on_play(n_plays, stream));
            } else {
                respond(stream, "ready");
            }
        }
    });
}

fn read_message(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let mut byte = [0];
    let is_whole = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            return false;
        };
        let length = head.split("Content-Length: ").nth(1).expect("it has one");
        let length: usize = length
            .lines()
            .next()
            .and_then(|n| n.parse().ok())
            .expect("it is one");
        body.len() >= length
    };
    while !is_whole(&text) {
        match stream.read(&mut byte) {
            Ok(1) => text.push(byte[0]),
            _ => break,
        }
    }
    let text = String::from_utf8_lossy(&text).into_owned();
    let message = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
    message.unwrap_or_default()
}

fn respond(mut stream: TcpStream, body: &str) {
    let length = body.len();
    let _ = write!(
        stream,
        "HTTP/1.0 200 OK\r\nContent-length: {length}\r\n\r\n{body}"
    );
}

/// What is legal for the first role of `turns` when it is asked for the n-th time.
fn legal(n_plays: usize) -> &'static str {
    match n_plays % 2 {
        1 => "(Go left)",
        _ => "noop",
    }
}

/// Plays `turns` between such a player and one of ours; the errors of the odd one and the kinds of its faults.
fn errors(
    test: &str,
    on_play: impl Fn(usize, TcpStream) + Send + Sync + 'static,
) -> (Vec<String>, Vec<FaultKind>) {
    let (url, _messages) = odd_player(on_play);
    let begin = Instant::now();
    let record = play(&folder(test), "turns.kif", &[&url, "legal"], &[]);
    // Four steps with a second and a second of grace each, and the rest.
    assert!(begin.elapsed() < Duration::from_secs(20));
    assert_eq!(record.n_errors(1), 0);
    let errors = record.errors.iter().map(|row| row[0].clone()).collect();
    let faults = record.agon.expect("it is ours").faults;
    (errors, faults.iter().map(|fault| fault.kind).collect())
}

#[test]
fn a_player_that_hangs() {
    let (errors, kinds) = errors("hangs", |n_plays, stream| match n_plays {
        1 => thread::sleep(Duration::from_secs(5)),
        _ => respond(stream, legal(n_plays)),
    });
    assert_eq!(errors, ["", "TO", "", "", ""]);
    assert_eq!(kinds, [FaultKind::Late]);
}

#[test]
fn a_player_that_answers_too_late() {
    let (errors, _) = errors("late", |n_plays, stream| {
        if n_plays == 3 {
            thread::sleep(Duration::from_millis(2500));
        }
        respond(stream, legal(n_plays));
    });
    assert_eq!(errors, ["", "", "", "TO", ""]);
}

#[test]
fn a_player_that_drips_its_answer() {
    let (errors, _) = errors("drips", |n_plays, mut stream| {
        if n_plays > 1 {
            return respond(stream, legal(n_plays));
        }
        for byte in b"HTTP/1.0 200 OK\r\nContent-length: 9\r\n\r\n(Go left)" {
            let _ = stream.write_all(&[*byte]);
            thread::sleep(Duration::from_millis(200));
        }
    });
    assert_eq!(errors, ["", "TO", "", "", ""]);
}

#[test]
fn a_player_that_hangs_up_in_the_middle() {
    let (errors, kinds) = errors("half", |n_plays, mut stream| match n_plays {
        1 => {
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-le");
        }
        2 => {
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-length: 9\r\n\r\n");
        }
        3 => {
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-length: 9\r\n\r\n(Go le");
        }
        _ => {
            let _ = stream.write_all(b"HTTP/1.0 500 Sorry\r\n\r\n");
        }
    });
    assert_eq!(errors[1..], ["CE", "CE", "IL (Go le", "CE"]);
    let (lost, unreadable) = (FaultKind::Connection, FaultKind::Unreadable);
    assert_eq!(kinds[1..], [lost, unreadable, lost]);
}

#[test]
fn a_player_that_never_ends_its_answer() {
    let (errors, kinds) = errors("endless", |n_plays, mut stream| {
        if n_plays == 2 {
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n");
            while stream.write_all(&[b'x'; 65536]).is_ok() {}
        } else {
            respond(stream, legal(n_plays));
        }
    });
    assert_eq!(
        errors,
        [
            "",
            "",
            "IL a message may have 1048576 bytes at most",
            "",
            ""
        ]
    );
    assert_eq!(kinds, [FaultKind::Unreadable]);
}

#[test]
fn a_player_that_is_sloppy_is_understood() {
    let answers: [&[u8]; 4] = [
        b"HTTP/1.0 200 OK\r\n\r\n  ( GO\tLEFT )\r\n",
        b"http/1.1 200\ncontent-LENGTH : 6\n\nnoop\r\n",
        b"\r\nHTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n(go \r\n5\r\nleft)\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nContent-Length: 99\r\n\r\nnoop (explanation \"I wait\")",
    ];
    let (errors, _) = errors("sloppy", move |n_plays, mut stream| {
        let _ = stream.write_all(answers[n_plays - 1]);
    });
    assert_eq!(errors, [""; 5]);
}

/// A server that answers every message with these bytes; with none it never answers.
fn server(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let url = format!("http://{}", listener.local_addr().expect("it has one"));
    thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            read_message(&mut stream);
            let _ = stream.write_all(answer);
            if answer.is_empty() {
                kept.push(stream);
            }
        }
    });
    url
}

/// Nobody listens at this address.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    format!("http://{}", listener.local_addr().expect("it has one"))
}

/// Plays `turns` against this player. The match is void, and this is the cause.
fn check_void(test: &str, url: &str, cause: &str) {
    let folder = folder(test);
    let args = ["match", "turns.kif", url, "legal", "--start-clock", "1"];
    let output = agon(&folder, &args)
        .args(["--play-clock", "1", "--record", "match.json"])
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr);
    let expected = format!("agon: the match is void: {url} (a): {cause}\n");
    assert!(told.contains(&expected), "{told}\n{expected}");
    assert!(told.contains("run the same command again"), "{told}");
    let record = read_record(&folder.join("match.json"));
    assert_eq!(record.goal_values, None);
    assert!(record.moves.is_empty() && record.is_aborted && !record.is_completed);
    assert_eq!(record.absences()[0].cause, cause);
    let replayed = run(&folder, &["replay", "match.json", "--quiet"]);
    assert_eq!(replayed.status.code(), Some(0), "{replayed:?}");
}

#[test]
fn a_match_with_a_player_that_is_not_there_is_void() {
    check_void("nobody", &nobody(), "connection refused");
    let unknown = "http://no-such-host.invalid:9147";
    check_void("unknown", unknown, "unknown host no-such-host.invalid");
}

#[test]
fn a_match_with_a_server_that_is_no_player_is_void() {
    let not_found = server(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    check_void("404", &not_found, "the answer is HTTP status 404 Not Found");
    let page = server(b"HTTP/1.1 200 OK\r\n\r\n<!DOCTYPE html>\n<html>It works!</html>");
    let cause = "the answer is a web page, not a reply of a GGP player";
    check_void("page", &page, cause);
    let other = server(b"SSH-2.0-OpenSSH_9.6\r\n");
    check_void("ssh", &other, "this is not HTTP: `SSH-2.0-OpenSSH_9.6`");
}

#[test]
fn a_match_with_a_player_that_does_not_answer_start_is_void() {
    check_void("start", &server(b""), "no answer within 1 s");
    let empty = server(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n");
    check_void("empty_start", &empty, "answered nothing to START");
    let busy = server(b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nbusy");
    check_void("busy", &busy, "answered `busy` to START");
}

#[test]
fn a_player_that_is_in_another_match() {
    let folder = folder("other");
    let player = Playing::start(&folder, &["--player", "legal"]);
    let rules = TURNS.replace('\n', " ");
    assert_eq!(player.say(&format!("(START m a ({rules}) 60 60)")), "ready");
    check_void("other_match", &player.url, "answered `busy` to START");
    assert_eq!(player.say("(PLAY m nil)"), "( Go left )");
}

#[test]
fn a_player_that_answers_garbage() {
    let (errors, kinds) = errors("garbage", |n_plays, mut stream| match n_plays {
        1 => respond(stream, "garbage(("),
        2 => {
            let _ = stream.write_all(&[0, 159, 255, b'\n', b'\n']);
        }
        3 => respond(stream, "( mark 9 9 )"),
        _ => respond(stream, ""),
    });
    assert_eq!(errors, ["", "IL garbage((", "CE", "IL ( mark 9 9 )", "CE"]);
    let [unreadable, illegal] = [FaultKind::Unreadable, FaultKind::Illegal];
    let [lost, empty] = [FaultKind::Connection, FaultKind::Empty];
    assert_eq!(kinds, [unreadable, lost, illegal, empty]);
}

#[test]
fn a_player_that_hangs_up() {
    // After three answers that did not come it has forfeited.
    let (errors, kinds) = errors("hangs_up", |_, stream| drop(stream));
    assert_eq!(errors, ["", "CE", "CE", "CE"]);
    assert_eq!(kinds, [FaultKind::Connection; 3]);
}

#[test]
fn a_player_that_dies() {
    let folder = folder("dies");
    let sheet = TURNS.replace(
        "(goal a 50) (goal b 50)",
        "(<= (goal ?r 20) (true (control ?r))) (<= (goal ?r 80) (other ?r ?o) (true (control ?o)))",
    );
    fs::write(folder.join("spread.kif"), sheet).expect("it can be written");
    let player = Playing::start(&folder, &["--player", "legal"]);
    let url = player.url.clone();
    let player = std::sync::Mutex::new(Some(player));
    // The other player kills it when it is asked for its third move.
    let (other, _messages) = odd_player(move |n_plays, stream| {
        if n_plays == 3 {
            drop(player.lock().expect("nobody panics").take());
        }
        respond(stream, legal(n_plays + 1));
    });
    let record = play(&folder, "spread.kif", &[&url, &other], &[]);
    let errors: Vec<&str> = record.errors.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(errors[..3], ["", "", ""]);
    assert_eq!(errors.last(), Some(&"CE"));
    // It forfeits with the lowest goal of its role, and the other one has its highest, whatever the rules say at the end.
    assert!(record.has_forfeited(0) && !record.has_forfeited(1));
    assert_eq!(record.goal_values, Some(vec![20, 80]));
    let details = record.agon.expect("it is ours");
    assert_eq!(details.forfeits[0].cause, "connection refused");
}

#[test]
fn an_interrupted_match_is_aborted_for_all_players() {
    let folder = folder("interrupt");
    let (url, messages) = odd_player(|n_plays, stream| match n_plays {
        1 => respond(stream, "(Go left)"),
        _ => thread::sleep(Duration::from_secs(5)),
    });
    let args = ["match", "turns.kif", &url, "legal", "--play-clock", "600"];
    let mut child = agon(&folder, &args)
        .args(["--record", "match.json", "--quiet"])
        .stdout(Stdio::null())
        .spawn()
        .expect("the binary runs");
    let mut n_plays = 0;
    while n_plays < 2 {
        let message = messages.recv().expect("the match goes on");
        n_plays += usize::from(message.starts_with("( PLAY"));
    }
    let pid = child.id().to_string();
    let killed = Command::new("kill").args(["-INT", &pid]).status();
    assert!(killed.expect("there is `kill`").success());
    let message = messages.recv().expect("everybody is told");
    assert!(message.starts_with("( ABORT agon.turns."), "{message}");
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    let replayed = run(&folder, &["replay", "match.json", "--quiet"]);
    assert_eq!(replayed.status.code(), Some(0), "{replayed:?}");
    let record = read_record(&folder.join("match.json"));
    assert!(record.is_aborted && !record.is_completed);
    assert_eq!(record.moves, [["( Go left )", "noop"]]);
}

#[test]
fn calls_that_cannot_work_with_remote_players() {
    let folder = folder("calls");
    let url = "http://127.0.0.1:9";
    for (args, reason) in [
        (
            vec!["match", "turns.kif", url, "--playouts", "5"],
            "agon: remote players have clocks only: use --play-clock instead of a limit in counts\n",
        ),
        (
            vec!["match", "turns.kif", url, "--play-clock", "0.5"],
            "agon: clocks of remote players are whole seconds: use whole numbers\n",
        ),
        (
            vec!["match", "turns.kif", "https://127.0.0.1"],
            "agon: https://127.0.0.1: GGP players use plain HTTP; the address of a player is http://HOST:PORT\n",
        ),
        (
            vec!["player", "--host", "nowhere.invalid"],
            "agon: cannot listen on nowhere.invalid:9147",
        ),
        (
            vec!["player", "--player", "deep_blue"],
            "agon: there is no player",
        ),
    ] {
        let output = run(&folder, &args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.starts_with(reason), "{told}");
    }
}
