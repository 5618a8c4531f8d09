//! Who flies batches: one worker per thread, all on one tree.
//!
//! A worker has lanes of its own, or a bot to play for it where there are none. It takes the tree for itself to back up what it
//! has played and to choose what it plays next, and plays without it, so that the others can have it meanwhile. The thread
//! that thinks is a worker too. With one thread, all of it happens in one order, and the same seed gives the same tree.
//!
//! A worker whose thread panics is gone, and what it had in flight does not land; the others go on, and the bot answers from
//! what is in the tree.
//!
//! In: a bot with a root, limits. Out: a larger tree; it ends when there is something else to do.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use agon_engine::lanes::LanesOptions;
use agon_engine::{Game, RoleId};

use crate::batch::Batch;
use crate::cutoff::Cutoff;
use crate::flight::{Engine, Flight};
use crate::heuristic::Heuristic;
use crate::limits::{Limits, Meter};
use crate::mast::Mast;
use crate::params::{MastChoice, Params};
use crate::replay::Replay;
use crate::sightings::Sightings;
use crate::tree::NodeId;
use crate::uct::UctBot;
use crate::value::Count;

/// The playout policy is told to the lanes again when so many playouts were learned from, and after each such part of all.
const FIRST_LESSON: u64 = 256;
const LESSON_SHARE: u64 = 4;

/// After so many playouts, how many there will be when the playout policy is told again.
pub(crate) fn next_lesson(n_playouts: u64) -> u64 {
    n_playouts + (n_playouts / LESSON_SHARE).max(FIRST_LESSON)
}

/// Lanes and a batch for them.
pub(crate) struct Worker {
    batch: Batch,
    flight: Flight,
    /// Playouts of this search after which it asks how to choose.
    next_lesson: u64,
}

/// What all workers use, one at a time.
struct Shared<'a, 'm> {
    bot: &'a mut UctBot,
    meter: &'a mut Meter<'m>,
    n_in_flight: u64,
    /// Whether somebody has found that there is something else to do.
    is_over: bool,
}

/// Who flies in a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Crew {
    /// Nobody: simulations run one by one.
    Nobody,
    /// Several threads, one simulation each.
    Scalar,
    /// Lanes.
    Lanes,
}

impl Crew {
    /// Playouts that look at more than lanes know, as those of n-grams do, run one by one, and so do those of heuristics whose
    /// formulas are not fit for lanes, or that should be drawn by more than their weights.
    pub(crate) fn new(
        game: &Game,
        params: &Params,
        mast: Option<&Mast>,
        heuristic: Option<&Heuristic>,
    ) -> Crew {
        let has_fast = mast.is_some_and(|mast| mast.fast.is_some());
        let is_guided = heuristic.is_some_and(Heuristic::looks_at_states);
        let has_guide = heuristic.is_some_and(|heuristic| heuristic.guide().is_some());
        let is_greedy = mast.is_some() && params.mast_choice == MastChoice::Greedy;
        let is_apart = is_guided && (!has_guide || has_fast || is_greedy);
        if is_apart || mast.is_some_and(Mast::looks_back) {
            return Crew::Nobody;
        }
        let has_lanes = params.batch != Count::Exactly(1) && game.grounded().is_some();
        match params.threads {
            _ if has_lanes => Crew::Lanes,
            Count::Exactly(1) => Crew::Nobody,
            _ if has_fast || is_guided => Crew::Nobody,
            _ => Crew::Scalar,
        }
    }

    /// A worker of this crew.
    pub(crate) fn worker(
        self,
        game: &Arc<Game>,
        params: &Params,
        mast: Option<&Mast>,
        heuristic: Option<&Heuristic>,
        (discount, seed): (f64, u64),
    ) -> Option<Worker> {
        let engine = match (self, game.grounded()) {
            (Crew::Lanes, Some(grounded)) => {
                let options = LanesOptions {
                    seed,
                    moves: true,
                    decisive: params.decisive,
                    dense: heuristic.is_some_and(|of| of.guide().is_some()),
                    ..LanesOptions::default()
                };
                Engine::Lanes(Box::new(grounded.lanes(&options)))
            }
            (Crew::Scalar, _) => {
                let alone = Params {
                    batch: Count::Exactly(1),
                    threads: Count::Exactly(1),
                    ..params.clone()
                };
                Engine::Scalar(Box::new(UctBot::new(Arc::clone(game), &alone, seed)))
            }
            _ => return None,
        };
        let fast = mast.and_then(|mast| mast.fast.as_ref());
        let n_roles = game.n_roles();
        let replay = fast.map(|fast| Replay::new(fast, n_roles));
        let guide = heuristic.and_then(Heuristic::guide).cloned();
        Some(Worker {
            batch: Batch::new(n_roles, Sightings::of(params, n_roles)),
            flight: Flight::new(engine, replay, guide, params, n_roles, (discount, seed)),
            next_lesson: 0,
        })
    }
}

impl UctBot {
    /// How many threads a search with these limits has.
    pub(crate) fn n_threads(&self, limits: &Limits) -> usize {
        match self.params.threads {
            Count::Exactly(n) => n as usize,
            Count::Auto if limits.is_counted() => 1,
            Count::Auto => thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// Whether somebody flies in a search with these limits.
    pub(crate) fn flies(&self, limits: &Limits) -> bool {
        match self.crew {
            Crew::Nobody => false,
            Crew::Scalar => self.n_threads(limits) > 1,
            Crew::Lanes => true,
        }
    }

    /// A new search begins.
    pub(crate) fn brief(&mut self) {
        self.next_lesson = FIRST_LESSON;
        for worker in &mut self.workers {
            worker.next_lesson = 0;
        }
    }

    /// Flies batches until there is something else to do: a limit is near, memory runs out, the root is decided, or so many
    /// playouts are done in all.
    pub(crate) fn fly_on(
        &mut self,
        root: NodeId,
        role: RoleId,
        limits: &Limits,
        meter: &mut Meter<'_>,
        until: u64,
    ) {
        let n_threads = self.n_threads(limits);
        while self.workers.len() < n_threads {
            let seed = self.seed.wrapping_add(self.workers.len() as u64);
            let (mast, heuristic) = (self.mast.as_ref(), self.heuristic.as_ref());
            let start = (self.discount, seed);
            let worker = self
                .crew
                .worker(&self.game, &self.params, mast, heuristic, start);
            match worker {
                Some(worker) => self.workers.push(worker),
                None => return,
            }
        }
        let mut workers = std::mem::take(&mut self.workers);
        let shared = Mutex::new(Shared {
            bot: &mut *self,
            meter,
            n_in_flight: 0,
            is_over: false,
        });
        let (shared, goal) = (
            &shared,
            &Goal {
                root,
                role,
                limits,
                until,
            },
        );
        let n_lost = thread::scope(|scope| {
            let (own, others) = workers[..n_threads].split_at_mut(1);
            let spawn = |worker| scope.spawn(move || work(shared, worker, goal));
            let threads: Vec<_> = others.iter_mut().map(spawn).collect();
            work(shared, &mut own[0], goal);
            let ends = threads.into_iter().map(thread::ScopedJoinHandle::join);
            ends.filter(Result::is_err).count()
        });
        if n_lost > 0 {
            // Whatever they did when they fell, their lanes are of no use, and nothing of theirs is in flight any more.
            self.n_lost_workers += n_lost as u64;
            workers.truncate(1);
            self.tree.forget_flying();
        }
        self.workers = workers;
    }
}

/// What workers work for.
struct Goal<'a> {
    root: NodeId,
    role: RoleId,
    limits: &'a Limits,
    until: u64,
}

fn take<'a, 'b, 'm>(shared: &'a Mutex<Shared<'b, 'm>>) -> MutexGuard<'a, Shared<'b, 'm>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The work of one thread.
fn work(shared: &Mutex<Shared<'_, '_>>, worker: &mut Worker, goal: &Goal<'_>) {
    let mut has_flown = false;
    loop {
        // Step 1. Land what has flown, and choose what flies next.
        let mut guard = take(shared);
        let Shared {
            bot,
            meter,
            n_in_flight,
            is_over,
        } = &mut *guard;
        bot.work.watch.start(true);
        if has_flown {
            *n_in_flight -= worker.batch.n_playouts();
            bot.land(&mut worker.batch, &mut worker.flight, meter);
            let cost = worker.flight.take_cost();
            if let (Some(heuristic), Some(cost)) = (&mut bot.heuristic, cost) {
                heuristic.add(cost);
            }
        }
        let limits = goal.limits;
        let most = goal.until.saturating_sub(meter.n_playouts() + *n_in_flight);
        let left = meter.playouts_left().unwrap_or(u64::MAX);
        let most = most.min(left.saturating_sub(*n_in_flight));
        *is_over |= meter.stop().is_some() || bot.must_pause(goal.root, goal.role);
        let plan = bot.plan(meter, most);
        let Some(plan) = plan.filter(|_| !*is_over) else {
            bot.work.watch.stop();
            return;
        };
        let n_playouts = meter.n_playouts();
        let is_told = n_playouts >= worker.next_lesson;
        if is_told {
            // Before anything of this worker is in flight.
            bot.select.fit(&bot.tree, bot.n_roles);
        }
        bot.take_off(&mut worker.batch, goal.root, plan, meter);
        *n_in_flight += worker.batch.n_playouts();
        bot.work.n_batches += 1;
        let mut lesson = None;
        if is_told {
            lesson = bot.lesson();
            worker.next_lesson = next_lesson(n_playouts);
        }
        let fast = bot.mast.as_ref().and_then(|mast| mast.fast.as_ref());
        let is_whole = fast.is_some_and(|fast| fast.wants_whole(bot.work.n_batches));
        let cut = bot.cutoff.as_ref().and_then(Cutoff::cut_at);
        let cut = cut.filter(|_| !is_whole);
        bot.work.watch.stop();
        drop(guard);
        // Step 2. Fly.
        if let Some(lesson) = lesson {
            worker.flight.learn(lesson);
        }
        worker.flight.play(&worker.batch, cut, limits);
        has_flown = true;
    }
}
