//! Matches in a row over HTTP with clocks of one second: no move is late, illegal or missing, and no memory is lost.
//!
//! A few matches by default. `AGON_SERIES=200` plays 200, and `AGON_BUSY=2` keeps two threads busy with nothing
//! meanwhile:
//!
//! ```console
//! AGON_SERIES=200 AGON_BUSY=2 cargo test --release -p agon --test series -- --nocapture
//! ```

mod playing;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use agon_arena::MatchRecord;
use playing::{Playing, empty_folder, play};

/// What is played, over and over: a game that is soon proven, one with moves at the same time, one that is long.
const ROUND: [&str; 10] = [
    "tic_tac_toe",
    "goofspiel",
    "tic_tac_toe",
    "tic_tac_toe",
    "goofspiel",
    "tic_tac_toe",
    "tic_tac_toe",
    "goofspiel",
    "tic_tac_toe",
    "connect_four",
];
/// Matches if nothing else is said.
const FEW: usize = 3;
/// Memory is compared with that after this number of matches.
const SETTLED: usize = 20;

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Threads that do nothing, with all their might.
struct Busy(Arc<AtomicBool>);

impl Busy {
    fn start(n_threads: usize) -> Busy {
        let is_over = Arc::new(AtomicBool::new(false));
        for _ in 0..n_threads {
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        Busy(is_over)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Milliseconds of the longest step.
fn longest_step(record: &MatchRecord) -> u64 {
    let times = record.state_times.windows(2);
    times.map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
}

#[test]
fn matches_in_a_row() {
    let n_matches = number("AGON_SERIES").unwrap_or(FEW);
    let _busy = Busy::start(number("AGON_BUSY").unwrap_or(0));
    let folder = empty_folder("series");
    let players = [0, 1].map(|_| Playing::start(&folder, &[]));
    let urls: Vec<&str> = players.iter().map(|player| player.url.as_str()).collect();
    let (mut n_plays, mut longest) = (0, 0);
    let mut settled = None;
    for idx in 0..n_matches {
        let game = ROUND[idx % ROUND.len()];
        let seed = idx.to_string();
        let record = play(
            &folder,
            game,
            &urls,
            &["--start-clock", "1", "--seed", &seed],
        );
        assert!(
            record.errors.iter().flatten().all(String::is_empty),
            "match {} of {game}: {:?}",
            idx + 1,
            record.errors
        );
        assert!(record.is_completed, "match {} of {game}", idx + 1);
        n_plays += record.moves.len() * urls.len();
        longest = longest.max(longest_step(&record));
        let memory: Vec<u64> = players
            .iter()
            .filter_map(Playing::resident_kilobytes)
            .collect();
        println!(
            "match {} of {game}: {} steps, longest {} ms (so far {longest} ms, {n_plays} PLAYs), {memory:?} kB",
            idx + 1,
            record.moves.len(),
            longest_step(&record)
        );
        if idx + 1 == SETTLED {
            settled = Some(memory);
        } else if let (Some(settled), true) = (&settled, idx + 1 == n_matches) {
            for (now, then) in memory.iter().zip(settled) {
                assert!(now * 10 <= then * 11, "{now} kB after {then} kB");
            }
        }
    }
}
