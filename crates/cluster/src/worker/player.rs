//! The threads of a worker that play matches.
//!
//! Games are compiled by the first thread that needs them; the others wait for it. A match that panics is reported.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Instant;

use agon_protocol::StopFlag;
use agon_tournament::{
    Cell, Contestants, Entrant, Fixture, Played, PlayedBy, Sheet, Terms, panic_words, play,
};
use bytes::Bytes;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::message::Report;
use crate::objects::compile;

/// At most this many compiled games are kept.
const MOST_GAMES: usize = 32;

/// A match to play.
pub(super) struct Task {
    pub(super) id: u64,
    pub(super) fixture: Fixture,
    /// The text of its rules.
    pub(super) rules: Bytes,
    /// Seconds of budgets are multiplied by this.
    pub(super) time_scale: f64,
    pub(super) stop: StopFlag,
}

/// What became of a match with its seconds; `None` if it was stopped.
type Outcome = (u64, Option<(Report, f64)>);

type Game = Arc<OnceLock<Result<Arc<Sheet>, String>>>;

/// The threads.
pub(super) struct Pool {
    tasks: Sender<Task>,
    pub(super) outcomes: UnboundedReceiver<Outcome>,
}

impl Pool {
    pub(super) fn new(n_threads: usize) -> Pool {
        let (tasks, receiver) = channel();
        let (sender, outcomes) = unbounded_channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let games: Arc<Mutex<HashMap<String, Game>>> = Arc::default();
        for _ in 0..n_threads.max(1) {
            let (receiver, sender, games) =
                (Arc::clone(&receiver), sender.clone(), Arc::clone(&games));
            thread::spawn(move || play_all(&receiver, &sender, &games));
        }
        Pool { tasks, outcomes }
    }

    pub(super) fn send(&self, task: Task) {
        // The threads end after the pool.
        let _ = self.tasks.send(task);
    }
}

fn play_all(
    tasks: &Mutex<Receiver<Task>>,
    outcomes: &UnboundedSender<Outcome>,
    games: &Mutex<HashMap<String, Game>>,
) {
    loop {
        let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(task) = task else {
            return;
        };
        let outcome = match task.stop.is_raised() {
            true => None,
            false => play_one(&task, games),
        };
        if outcomes.send((task.id, outcome)).is_err() {
            return;
        }
    }
}

fn play_one(task: &Task, games: &Mutex<HashMap<String, Game>>) -> Option<(Report, f64)> {
    let started = Instant::now();
    let played = catch_unwind(AssertUnwindSafe(|| {
        let sheet = sheet(task, games)?;
        let cell = cell(task, sheet)?;
        Ok(play(&cell, task.fixture.index, &task.stop))
    }));
    let broken = |reason: String| Report::Broken { reason };
    let report = match played {
        Err(payload) => broken(format!("it panicked: {}", panic_words(&*payload))),
        Ok(Err(reason)) => broken(reason),
        Ok(Ok(Played::Stopped)) => return None,
        Ok(Ok(Played::Void(absent))) => Report::Void { absent },
        Ok(Ok(Played::Finished(mut finished))) => {
            finished.result.played_by = Some(PlayedBy {
                worker: String::new(),
                fingerprint: String::new(),
                speed: 0.0,
                time_scale: task.time_scale,
            });
            Report::Finished {
                result: Box::new(finished.result),
                moves: finished.moves,
            }
        }
    };
    Some((report, started.elapsed().as_secs_f64()))
}

/// The compiled game of a task.
fn sheet(task: &Task, games: &Mutex<HashMap<String, Game>>) -> Result<Arc<Sheet>, String> {
    let hash = &task.fixture.rules;
    let game = {
        let mut games = games.lock().unwrap_or_else(PoisonError::into_inner);
        if games.len() >= MOST_GAMES && !games.contains_key(hash) {
            games.clear();
        }
        Arc::clone(games.entry(hash.clone()).or_default())
    };
    let compiled = game.get_or_init(|| {
        let sheet = compile(&task.fixture.game, hash, task.rules.to_vec());
        sheet
            .map(Arc::new)
            .map_err(|error| format!("the rules of {}: {error}", task.fixture.game))
    });
    compiled.clone()
}

/// The cell of a match. It must mean the same here as where the job was made.
fn cell(task: &Task, sheet: Arc<Sheet>) -> Result<Cell, String> {
    let fixture = &task.fixture;
    let entrant = |idx: usize| {
        let entrant = Entrant::parse_foreign(&fixture.players[idx].name);
        entrant.map(Arc::new).map_err(|error| error.to_string())
    };
    let pair = Contestants {
        first: entrant(0)?,
        second: entrant(1)?,
    };
    let terms = Terms {
        n_matches: fixture.index.saturating_add(1),
        seed: fixture.seed,
        start_clock: fixture.start_clock,
        play_clock: fixture.play_clock,
        sprt: None,
    };
    // The game may be called otherwise in another tournament.
    let sheet = match sheet.name == fixture.game {
        true => sheet,
        false => Arc::new(Sheet {
            name: fixture.game.clone(),
            ..Sheet::clone(&sheet)
        }),
    };
    let cell = Cell::new(sheet, pair, fixture.budget, terms);
    let mut cell = cell.ok_or("its players do not fit its roles")?;
    if cell.fixture(fixture.index) != *fixture {
        return Err("this build understands the players or the budget differently".to_owned());
    }
    cell.time_scale = task.time_scale;
    Ok(cell)
}
