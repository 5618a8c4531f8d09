//! The second thread: what takes too long to wait for while somebody types.
//!
//! In: checked rules. Out: the findings of grounding, and then the statistics of the game. Only the newest text of each
//! document counts: a job whose text has changed is dropped, and grounding stops in the middle. After a change it waits until
//! nobody has typed for a moment, so that it takes no time from the findings of the text.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use agon_engine::{Game, RoleId, play_out};
use agon_gdl::Rules;
use agon_gdl::index::NameKind;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::{Observation, Observe};

/// A game is grounded for its statistics at most this long.
const GROUND_TIME: Duration = Duration::from_secs(20);
/// Random games are played this long to tell their speed.
const PLAY_TIME: Duration = Duration::from_millis(150);
/// Steps of one random game.
const MOST_STEPS: u32 = 2_000;

/// What a game looks like when it is compiled.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Statistics {
    pub(crate) n_roles: usize,
    /// Ground fluents by name; empty if the game was not grounded.
    pub(crate) fluents: Vec<(String, usize, String)>,
    pub(crate) n_fluents: usize,
    /// Ground moves by name, with an example.
    pub(crate) moves: Vec<(String, usize, String)>,
    pub(crate) n_moves: usize,
    /// Whether it runs as a network; otherwise the interpreter plays it.
    pub(crate) is_network: bool,
    /// Random games per second on one thread, one at a time.
    pub(crate) playouts: Option<f64>,
}

impl Statistics {
    /// How many ground atoms a fluent or move has, and the first of them.
    pub(crate) fn ground_atoms(&self, name: &str, kind: NameKind) -> Option<(usize, &str)> {
        let list = match kind {
            NameKind::Fluent => &self.fluents,
            NameKind::Move => &self.moves,
            _ => return None,
        };
        let entry = list.iter().find(|(other, _, _)| other == name)?;
        Some((entry.1, &entry.2))
    }
}

/// A text to look at.
pub(crate) struct Job {
    pub(crate) uri: String,
    pub(crate) generation: u64,
    pub(crate) rules: Arc<Rules>,
    /// Not before.
    pub(crate) start: Instant,
    /// Raised when the text has changed again.
    pub(crate) stop: Arc<AtomicBool>,
}

impl Job {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// What was found.
pub(crate) struct Outcome {
    pub(crate) uri: String,
    pub(crate) generation: u64,
    pub(crate) news: News,
}

/// The findings come first, because they are quicker.
pub(crate) enum News {
    Observed(Vec<Observation>),
    Statistics(Statistics),
}

/// The door to the second thread.
pub(crate) struct Background {
    jobs: Sender<Job>,
    pub(crate) outcomes: Receiver<Outcome>,
}

impl Background {
    pub(crate) fn start(observe: Observe) -> Background {
        let (jobs, received) = unbounded::<Job>();
        let (sender, outcomes) = unbounded();
        thread::spawn(move || run(&received, &sender, &observe));
        Background { jobs, outcomes }
    }

    pub(crate) fn ask(&self, job: Job) {
        // If the thread is gone, there are no findings of grounding; everything else works.
        let _ = self.jobs.send(job);
    }
}

fn run(jobs: &Receiver<Job>, outcomes: &Sender<Outcome>, observe: &Observe) {
    let mut waiting: Vec<Job> = Vec::new();
    while let Some(job) = next(jobs, &mut waiting) {
        let send = |news: News| {
            let (uri, generation) = (job.uri.clone(), job.generation);
            outcomes
                .send(Outcome {
                    uri,
                    generation,
                    news,
                })
                .is_ok()
        };
        // A sheet that makes grounding fail must not end the thread.
        let stop = || job.is_stopped();
        let observed = catch_unwind(AssertUnwindSafe(|| observe(&job.rules, &stop)));
        if job.is_stopped() {
            continue;
        }
        if !send(News::Observed(observed.unwrap_or_default())) {
            return;
        }
        let deadline = Instant::now() + GROUND_TIME;
        let flag = Arc::clone(&job.stop);
        let stop = move || Instant::now() > deadline || flag.load(Ordering::Relaxed);
        let statistics = catch_unwind(AssertUnwindSafe(|| statistics(&job.rules, &stop)));
        if let Ok(Some(statistics)) = statistics
            && !send(News::Statistics(statistics))
        {
            return;
        }
    }
}

/// Waits for the job that may start first; `None` when there will be no more.
fn next(jobs: &Receiver<Job>, waiting: &mut Vec<Job>) -> Option<Job> {
    loop {
        waiting.extend(jobs.try_iter());
        waiting.retain(|job| !job.is_stopped());
        let first = (0..waiting.len()).min_by_key(|&idx| waiting[idx].start);
        let Some(first) = first else {
            waiting.push(jobs.recv().ok()?);
            continue;
        };
        match jobs.recv_deadline(waiting[first].start) {
            Ok(job) => waiting.push(job),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) if waiting[first].is_stopped() => {}
            Err(RecvTimeoutError::Timeout) => return Some(waiting.swap_remove(first)),
        }
    }
}

fn statistics(rules: &Arc<Rules>, stop: &dyn Fn() -> bool) -> Option<Statistics> {
    if stop() {
        return None;
    }
    let game = Game::compile(Arc::clone(rules), &Default::default(), stop).ok()?;
    let program = game.grounded().map(|grounded| grounded.program());
    let mut fluents: Vec<(String, usize, String)> = Vec::new();
    let mut moves: Vec<(String, usize, String)> = Vec::new();
    let mut n_moves = 0;
    if let Some(program) = program {
        for fluent in &program.fluents {
            count(&mut fluents, program.term_text(fluent.term));
        }
        let mut terms: Vec<_> = program.roles.iter().flat_map(|role| &role.moves).collect();
        n_moves = terms.len();
        terms.sort_by_key(|mv| mv.term);
        terms.dedup_by_key(|mv| mv.term);
        for mv in terms {
            count(&mut moves, program.term_text(mv.term));
        }
    }
    Some(Statistics {
        n_roles: game.n_roles(),
        n_fluents: fluents.iter().map(|(_, n, _)| n).sum(),
        fluents,
        n_moves,
        moves,
        is_network: program.is_some(),
        playouts: playouts(&game, stop),
    })
}

/// Counts a ground term under its name.
fn count(list: &mut Vec<(String, usize, String)>, text: String) {
    let name = text
        .trim_start_matches('(')
        .split([' ', ')'])
        .next()
        .unwrap_or_default();
    match list.iter_mut().find(|(known, _, _)| known == name) {
        Some(entry) => entry.1 += 1,
        None => list.push((name.to_owned(), 1, text)),
    }
}

/// Random games per second; `None` if not one ends in the time.
fn playouts(game: &Game, stop: &dyn Fn() -> bool) -> Option<f64> {
    // One question to the interpreter may take long.
    let latest = Instant::now() + PLAY_TIME * 10;
    let mut machine = game.machine_until(Arc::new(move || Instant::now() > latest));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let initial = machine.state();
    let start = Instant::now();
    let mut n_games = 0_u32;
    while start.elapsed() < PLAY_TIME && !stop() {
        machine.load(&initial);
        if RoleId::all(game.n_roles()).any(|role| machine.some_legal_move(role).is_none()) {
            return None;
        }
        play_out(&mut *machine, game.n_roles(), MOST_STEPS, &mut rng);
        if machine.take_fault().is_some() {
            return None;
        }
        n_games += 1;
    }
    (n_games > 0).then(|| f64::from(n_games) / start.elapsed().as_secs_f64())
}
