//! A player that nobody can stop: floods of connections, aborted matches, rules that are too large, machines that are busy.
//!
//! Small by default; `.ci/long` runs everything:
//!
//! ```console
//! AGON_FLOOD=500 AGON_ABORTS=40 AGON_HEAVY=20 AGON_CORPUS=FOLDER cargo test --release -p agon --test hold -- --nocapture
//! ```

mod playing;

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use agon_engine::{Game, JointMove, MoveId, RoleId};
use agon_gdl::{Syntax, check, parse};
use agon_protocol::Term;
use playing::{Playing, empty_folder, play};

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

fn player(args: &[&str]) -> Playing {
    Playing::start(Path::new(env!("CARGO_TARGET_TMPDIR")), args)
}

/// Threads that make short connections, each as many as there are idle ones.
const N_SHORT: usize = 4;

/// Connections that do harm until they are told to stop: some never say anything, some say a byte now and then, some come
/// and go.
fn flood(address: &str, n_idle: usize, is_over: &Arc<AtomicBool>) -> Arc<AtomicUsize> {
    let n_short = Arc::new(AtomicUsize::new(0));
    let connect = |address: &str| TcpStream::connect(address).ok();
    let (is_done, own) = (Arc::clone(is_over), address.to_owned());
    thread::spawn(move || {
        let idle: Vec<_> = (0..n_idle).map(|_| connect(&own)).collect();
        let mut slow: Vec<_> = (0..n_idle).map(|_| connect(&own)).collect();
        while !is_done.load(Ordering::Relaxed) {
            for stream in slow.iter_mut().flatten() {
                let _ = stream.write_all(b"P");
            }
            thread::sleep(Duration::from_millis(100));
        }
        drop(idle);
    });
    for _ in 0..N_SHORT {
        let (is_done, own) = (Arc::clone(is_over), address.to_owned());
        let counter = Arc::clone(&n_short);
        thread::spawn(move || {
            for _ in 0..n_idle {
                if is_done.load(Ordering::Relaxed) {
                    return;
                }
                drop(connect(&own));
                counter.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    n_short
}

#[test]
fn a_flood_of_connections_does_not_delay_a_match() {
    let folder = empty_folder("hold_flood");
    let player = Playing::start(&folder, &["--player", "cadia-2008"]);
    let n_idle = number("AGON_FLOOD").unwrap_or(100);
    let is_over = Arc::new(AtomicBool::new(false));
    let n_short = flood(player.url.trim_start_matches("http://"), n_idle, &is_over);
    // The flood has begun when the first short connections have come and gone.
    while n_short.load(Ordering::Relaxed) < 10 {
        thread::sleep(Duration::from_millis(5));
    }
    // A second is enough on a machine that does nothing else.
    let clock = if number("AGON_FLOOD").is_some() {
        "1"
    } else {
        "6"
    };
    let record = play(
        &folder,
        "tic_tac_toe",
        &[&player.url, "random"],
        &["--start-clock", clock, "--play-clock", clock],
    );
    is_over.store(true, Ordering::Relaxed);
    let errors: Vec<_> = record.errors.iter().flatten().collect();
    assert!(errors.iter().all(|error| error.is_empty()), "{errors:?}");
    assert!(record.is_completed);
    println!(
        "{} steps while {n_idle} idle, {n_idle} slow and {} short connections were made",
        record.moves.len(),
        n_short.load(Ordering::Relaxed)
    );
}

/// A hundred million legal moves in each state.
fn vast() -> String {
    let numbers: String = (0..100).map(|number| format!("(n {number}) ")).collect();
    format!(
        "({numbers} (role a) (init (step 0)) (<= (next (step 1)) (does a (go ?x ?y ?z ?u)) (distinct ?x ?y))
         (<= (legal a (go ?x ?y ?z ?u)) (n ?x) (n ?y) (n ?z) (n ?u)) (goal a 50) (<= terminal (true (step 2))))"
    )
}

/// The threads of a player without a match: the main one, the server, the handler of Ctrl-C, and a connection or two.
const FEW_THREADS: u64 = 5;
/// What the allocator and the interpreter may keep after a match.
const MOST_KILOBYTES_MORE: u64 = 100_000;
/// So often in a row, with [`PAUSE`] between, a player has to be seen at rest: the last thread of a match may still be busy
/// when there are few enough.
const LOOKS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(20);

/// What a player holds.
#[derive(Clone, Copy, Debug)]
struct Load {
    n_threads: Option<u64>,
    kilobytes: Option<u64>,
}

/// Waits until a player has few threads, and no more memory than `most` if that is given. The last load seen, and whether
/// it came to rest.
fn rest(player: &Playing, most: Option<u64>) -> (Load, bool) {
    let begin = Instant::now();
    let mut n_looks = 0;
    loop {
        let load = Load {
            n_threads: player.n_threads(),
            kilobytes: player.resident_kilobytes(),
        };
        let is_small = most.is_none() || load.kilobytes <= most;
        n_looks = match load.n_threads <= Some(FEW_THREADS) && is_small {
            true => n_looks + 1,
            false => 0,
        };
        if n_looks == LOOKS || begin.elapsed() > Duration::from_secs(20) {
            return (load, n_looks == LOOKS);
        }
        thread::sleep(PAUSE);
    }
}

#[test]
fn aborted_matches_leave_no_threads_and_no_memory_behind() {
    let player = player(&[]);
    let n_rounds = number("AGON_ABORTS").unwrap_or(4);
    let rules = vast();
    let most = player
        .resident_kilobytes()
        .map(|kilobytes| kilobytes + MOST_KILOBYTES_MORE);
    for round in 0..n_rounds {
        assert_eq!(
            player.say(&format!("(START m{round} a {rules} 1 1)")),
            "ready"
        );
        let answer = player.say(&format!("(PLAY m{round} NIL)"));
        assert!(answer.starts_with("( go "), "a legal move: {answer}");
        assert_eq!(player.say(&format!("(ABORT m{round})")), "aborted");
        let (load, is_at_rest) = rest(&player, most);
        println!("round {round}: {load:?}");
        assert!(is_at_rest, "{load:?}, at most {most:?} kB");
    }
}

/// A rule whose checks were once quadratic in its length, and rules that make other parts of the player work long.
fn long_sheets() -> Vec<String> {
    let frame =
        "(role a) (init s) (legal a go) (<= (next s) (true s)) (goal a 50) (<= terminal (true t))";
    let repeat =
        |count: usize, make: &dyn Fn(usize) -> String| -> String { (0..count).map(make).collect() };
    vec![
        repeat(60_000, &|n| format!("(true (f ?x {n}))")),
        repeat(40_000, &|n| format!("(q ?v{n} ?v{}) ", n + 1)),
        repeat(20_000, &|n| format!("(not (does ?v{n} go)) ")),
        repeat(20_000, &|n| format!("(or (q ?x {n}) (q ?y {n})) ")),
        repeat(20_000, &|n| format!("(q ?v{n} ?v{}) ", n * 7919 % 20_000)),
    ]
    .into_iter()
    .map(|body| format!("({frame} (<= (p 1) (q ?x ?y) {body}) (q 1 1))"))
    .collect()
}

#[test]
fn the_start_clock_covers_reading_and_checking() {
    let player = player(&["--player", "legal"]);
    // Two seconds are enough on a machine that does nothing else; quadratic checks took from 12 to 22.
    let clock = if number("AGON_FLOOD").is_some() { 2 } else { 6 };
    for (idx, rules) in long_sheets().into_iter().enumerate() {
        let begin = Instant::now();
        let answer = player.say(&format!("(START m{idx} a {rules} {clock} {clock})"));
        let took = begin.elapsed();
        assert!(took < Duration::from_secs(clock), "{answer} after {took:?}");
        println!(
            "sheet {idx}, {} kB: {answer} after {took:?}",
            rules.len() / 1000
        );
        if answer == "ready" {
            let answer = player.say(&format!("(PLAY m{idx} NIL)"));
            println!("sheet {idx}: {answer}");
            assert_eq!(player.say(&format!("(ABORT m{idx})")), "aborted");
        }
        let (load, is_at_rest) = rest(&player, None);
        println!("sheet {idx}: {load:?}");
        assert!(is_at_rest, "{load:?}");
    }
}

/// Standard error is a pipe that nobody reads: the log must not hold up the answers.
#[test]
fn a_log_that_nobody_reads_does_not_stop_the_player() {
    let folder = empty_folder("hold_log");
    let mut player = Playing::start_with_log(&folder, &[]);
    let id = "z".repeat(200);
    for _ in 0..600 {
        assert_eq!(player.say(&format!("(PLAY {id} NIL)")), "busy");
    }
    player.close_log();
    assert_eq!(player.say("(PLAY m NIL)"), "busy");
}

/// A message to a player that wants a secret must have it, from `agon match` and from tournaments.
#[test]
fn managers_send_the_secret_of_a_player() {
    let folder = empty_folder("hold_secret");
    fs::write(folder.join("secret.txt"), "open sesame\nnot this\n").expect("it can be written");
    fs::write(folder.join("wrong.txt"), "open barley\n").expect("it can be written");
    let player = Playing::start(
        &folder,
        &["--player", "random", "--secret-file", "secret.txt"],
    );
    let url = player.url.as_str();
    let clocks = ["--start-clock", "10", "--play-clock", "10", "--quiet"];
    let meet = |more: &[&str]| {
        let mut args = vec!["match", "tic_tac_toe", url, "random"];
        args.extend(clocks);
        args.extend_from_slice(more);
        let output = playing::run(&folder, &args);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), errors)
    };
    let own = format!("{url}=secret.txt");
    let other = "http://127.0.0.1:1=secret.txt";
    let check = |secret: &[&str], code: i32, words: &str| {
        let (found, errors) = meet(secret);
        assert_eq!(found, Some(code), "{secret:?}: {errors}");
        assert!(errors.contains(words), "{secret:?}: {errors}");
    };
    check(&[], 1, "the player wants a secret (see --secret-file)");
    check(&["--secret-file", "wrong.txt"], 1, "has another secret");
    check(&["--secret-file", "none.txt"], 2, "cannot read none.txt");
    check(&["--secret-file", other], 2, "which does not play");
    check(&["--secret-file", "secret.txt"], 0, "");
    check(&["--secret-file", &own], 0, "");

    let tournament = |secret: &str| {
        let file = format!(
            "games = [\"tic_tac_toe\"]\nplayers = [\"random\", \"{url}\"]\ngames_per_pair = 2\n\
             budget = {{ playouts = 10 }}\nstart_clock = 10\nplay_clock = 10\n{secret}"
        );
        fs::write(folder.join("t.toml"), file).expect("it can be written");
        playing::run(&folder, &["tournament", "t.toml"])
    };
    let refused = tournament("");
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{errors}");
    assert!(errors.contains("the player wants a secret"), "{errors}");
    let each = format!("secret_file = {{ \"{url}\" = \"secret.txt\" }}");
    for secret in ["secret_file = \"secret.txt\"", &each] {
        let output = tournament(secret);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    // The store does not have the secret.
    let store = fs::read(folder.join("t.sqlite")).expect("it was written");
    let text = String::from_utf8_lossy(&store);
    assert!(!text.contains("sesame"));
}

/// Processes that do nothing, with all their might.
struct Busy(Vec<Child>);

impl Busy {
    fn start(n_processes: usize) -> Busy {
        let busy = |_| {
            Command::new("sh")
                .args(["-c", "while :; do :; done"])
                .spawn()
        };
        Busy((0..n_processes).filter_map(|n| busy(n).ok()).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Sheets that take long to compile, with clocks of a second, on a busy machine: no move is late, missing or illegal.
#[test]
fn heavy_sheets_on_a_busy_machine() {
    let (Some(n_plays), Some(corpus)) = (number("AGON_HEAVY"), std::env::var_os("AGON_CORPUS"))
    else {
        return;
    };
    let default = "chess,amazons,stanford_vectorracerbig,laikLee_hex,sudoku";
    let names = std::env::var("AGON_SHEETS").unwrap_or_else(|_| default.to_owned());
    let mut faults = Vec::new();
    for name in names.split(',') {
        let path = Path::new(&corpus).join("games").join(format!("{name}.kif"));
        let sheet = fs::read(&path).expect("it is in the corpus");
        let rules = check(&parse(&sheet, &Default::default())).expect("it is well-formed");
        let game = Game::compile(Arc::new(rules), &Default::default(), &|| false);
        let game = game.expect("it can be played");
        let _busy = Busy::start(number("AGON_BUSY").unwrap_or(4));
        faults.extend(manage(name, &game, n_plays));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Plays random moves against the player and returns what it did wrong.
fn manage(name: &str, game: &Game, n_plays: usize) -> Vec<String> {
    const CLOCK: Duration = Duration::from_secs(1);
    let player = player(&[]);
    let rules = game.rules().to_text(Syntax::Prefix);
    let role = game.role_name(RoleId(0));
    let mut faults = Vec::new();
    let mut longest = Duration::ZERO;
    let mut ask = |message: String, faults: &mut Vec<String>| {
        let begin = Instant::now();
        let answer = player.say(&message);
        longest = longest.max(begin.elapsed());
        if begin.elapsed() > CLOCK {
            faults.push(format!("{name}: late by {:?}", begin.elapsed() - CLOCK));
        }
        answer
    };
    let answer = ask(format!("(START m {role} ({rules}) 1 1)"), &mut faults);
    if answer != "ready" {
        faults.push(format!("{name}: START is answered {answer}"));
    }
    let mut machine = game.machine();
    let mut moves = "NIL".to_owned();
    let mut n_done = 0;
    while n_done < n_plays && !machine.is_terminal() {
        let answer = ask(format!("(PLAY m {moves})"), &mut faults);
        let mut joint = Vec::new();
        for role in RoleId::all(game.n_roles()) {
            let legal = machine.legal_moves(role).to_vec();
            let text = |mv: &MoveId| game.move_text(role, *mv);
            let given = Term::read(&answer).ok();
            let given = given.and_then(|term| term.pick(legal.iter().map(|mv| (*mv, text(mv)))));
            if role.idx() == 0 && given.is_none() {
                faults.push(format!("{name}: PLAY {} is answered {answer}", n_done + 1));
            }
            let random = legal[(n_done * 7919 + 13) % legal.len()];
            joint.push(given.filter(|_| role.idx() == 0).unwrap_or(random));
        }
        let texts = RoleId::all(joint.len()).zip(&joint);
        let texts: Vec<String> = texts.map(|(role, mv)| game.move_text(role, *mv)).collect();
        moves = format!("({})", texts.join(" "));
        machine.advance(&JointMove::new(joint));
        n_done += 1;
    }
    println!("{name}: {n_done} PLAYs, longest answer {longest:?}, faults: {faults:?}");
    faults
}
