//! Who flies batches: one worker per thread, all for one tree.
//!
//! The thread that thinks has the tree, and nobody else ever touches it: it lands what has come back, and chooses what flies
//! next. The others play, and find another batch waiting when they are done with one, so that they need not wait for the tree.
//! When all of them have one waiting, the thread that thinks plays a batch itself. So nothing is locked, and the tree stays in
//! the caches of one core. With one thread all of it happens in one order, and the same seed gives the same tree.
//!
//! A worker whose thread panics is gone, and what it had in flight does not land; the others go on, and the bot answers from
//! what is in the tree.
//!
//! In: a bot with a root, limits. Out: a larger tree; it ends when there is something else to do.
//!
//! - Chaslot, Winands and van den Herik 2008, Parallel Monte-Carlo Tree Search (one tree, and others who play for it)

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SendError, Sender};
use std::thread;

use agon_engine::lanes::LanesOptions;
use agon_engine::{Game, RoleId};

use crate::batch::Batch;
use crate::cutoff::{Cut, Cutoff};
use crate::flight::Flight;
use crate::heuristic::Heuristic;
use crate::limits::{Limits, Meter};
use crate::mast::Mast;
use crate::params::{MastChoice, Params};
use crate::pilot::{Engine, Lesson, Pilot};
use crate::replay::Replay;
use crate::report::Listener;
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

/// Somebody to play, and what there is to play.
pub(crate) struct Worker {
    pilot: Pilot,
    /// Batches that are not in flight. The first worker has one; another has two, so that one can wait while it plays.
    spare: Vec<Sortie>,
    /// Playouts of this search after which it is told how to choose.
    next_lesson: u64,
}

/// A batch, and what came of it.
struct Sortie {
    batch: Batch,
    flight: Flight,
}

/// What to play next, and how.
struct Order {
    sortie: Sortie,
    lesson: Option<Lesson>,
    cut: Option<(u32, Cut)>,
}

impl Order {
    /// Flies; `rest` is called now and then.
    fn fly(mut self, pilot: &mut Pilot, limits: &Limits, rest: &mut dyn FnMut()) -> Sortie {
        self.teach(pilot);
        let Sortie { batch, flight } = &mut self.sortie;
        flight.play(pilot, batch, self.cut, limits, rest);
        self.sortie
    }

    fn teach(&mut self, pilot: &mut Pilot) {
        if let Some(lesson) = self.lesson.take() {
            pilot.learn(lesson);
        }
    }

    fn give_up(mut self) -> Sortie {
        let Sortie { batch, flight } = &mut self.sortie;
        flight.give_up(batch);
        self.sortie
    }
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

    /// A worker of this crew, the first of which has the tree.
    pub(crate) fn worker(
        self,
        game: &Arc<Game>,
        params: &Params,
        mast: Option<&Mast>,
        heuristic: Option<&Heuristic>,
        (discount, seed): (f64, u64),
        is_first: bool,
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
        let sortie = || {
            let replay = fast.map(|fast| Replay::new(fast, n_roles));
            Sortie {
                batch: Batch::new(n_roles, Sightings::of(params, n_roles)),
                flight: Flight::new(replay, params, n_roles, discount),
            }
        };
        let guide = heuristic.and_then(Heuristic::guide).cloned();
        let n_batches = if is_first { 1 } else { 2 };
        Some(Worker {
            pilot: Pilot::new(engine, guide, n_roles, seed),
            spare: (0..n_batches).map(|_| sortie()).collect(),
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

    /// Whether somebody flies in this search.
    pub(crate) fn flies(&self) -> bool {
        match self.crew {
            Crew::Nobody => false,
            Crew::Scalar => self.n_threads > 1,
            Crew::Lanes => true,
        }
    }

    /// A new search begins.
    pub(crate) fn brief(&mut self, limits: &Limits) {
        self.n_threads = self.n_threads(limits);
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
        listener: &mut Listener<'_>,
        until: u64,
    ) {
        let n_threads = self.n_threads;
        if !self.hire(n_threads) {
            return;
        }
        let mut workers = std::mem::take(&mut self.workers);
        let is_over = &AtomicBool::new(false);
        let n_lost = thread::scope(|scope| {
            let (own, others) = workers[..n_threads].split_at_mut(1);
            let (home, arrivals) = mpsc::channel();
            let (mut wings, mut threads) = (Vec::new(), Vec::new());
            for (idx, worker) in others.iter_mut().enumerate() {
                let (orders, to_do) = mpsc::channel();
                let (pilot, home) = (&mut worker.pilot, home.clone());
                threads.push(scope.spawn(move || {
                    // Whoever has the tree waits for all of them, unless it has fallen itself.
                    let home = |sortie| drop(home.send((idx, sortie)));
                    obey(pilot, &to_do, home, is_over, limits);
                }));
                wings.push(Wing {
                    spare: &mut worker.spare,
                    next_lesson: &mut worker.next_lesson,
                    orders,
                });
            }
            drop(home);
            let lead = Lead {
                bot: self,
                meter,
                root,
                role,
                limits,
                until,
                listener,
                wings,
                arrivals,
                n_in_flight: 0,
            };
            lead.run(&mut own[0], is_over);
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

    /// Makes sure that there are so many workers; tells whether there are.
    fn hire(&mut self, n_workers: usize) -> bool {
        while self.workers.len() < n_workers {
            let n_before = self.workers.len();
            let seed = self.seed.wrapping_add(n_before as u64);
            let (mast, heuristic) = (self.mast.as_ref(), self.heuristic.as_ref());
            let start = (self.discount, seed);
            let (game, params, is_first) = (&self.game, &self.params, n_before == 0);
            let worker = self
                .crew
                .worker(game, params, mast, heuristic, start, is_first);
            self.workers.extend(worker);
            if self.workers.len() == n_before {
                return false;
            }
        }
        true
    }

    /// Chooses the leaves of a batch, by this plan, and what else is to be known of how to play it.
    fn order(
        &mut self,
        mut sortie: Sortie,
        root: NodeId,
        plan: (u32, u32),
        next_lesson: &mut u64,
        meter: &mut Meter<'_>,
    ) -> Order {
        let n_playouts = meter.n_playouts();
        let is_told = n_playouts >= *next_lesson;
        if is_told {
            self.select.fit(&self.tree, self.n_roles);
        }
        self.work.watch.start(true);
        self.take_off(&mut sortie.batch, root, plan, meter);
        self.work.watch.stop();
        self.work.n_batches += 1;
        let mut lesson = None;
        if is_told {
            lesson = self.lesson();
            *next_lesson = crate::workers::next_lesson(n_playouts);
        }
        let fast = self.mast.as_ref().and_then(|mast| mast.fast.as_ref());
        let is_whole = fast.is_some_and(|fast| fast.wants_whole(self.work.n_batches));
        let cut = self.cutoff.as_ref().and_then(Cutoff::cut_at);
        Order {
            sortie,
            lesson,
            cut: cut.filter(|_| !is_whole),
        }
    }
}

/// What comes home, and from which of the others.
type Arrival = (usize, Sortie);

/// A worker with a thread of its own, as the one with the tree sees it.
struct Wing<'a> {
    spare: &'a mut Vec<Sortie>,
    next_lesson: &'a mut u64,
    orders: Sender<Order>,
}

/// The thread that has the tree.
struct Lead<'a, 'm, 'l> {
    // What it works for.
    root: NodeId,
    role: RoleId,
    limits: &'a Limits,
    /// It ends when so many playouts are done in all.
    until: u64,
    // What it works with.
    bot: &'a mut UctBot,
    meter: &'a mut Meter<'m>,
    listener: &'a mut Listener<'l>,
    wings: Vec<Wing<'a>>,
    arrivals: Receiver<Arrival>,
    n_in_flight: u64,
}

impl Lead<'_, '_, '_> {
    /// Works until there is nothing to send out.
    fn run(mut self, own: &mut Worker, is_over: &AtomicBool) {
        loop {
            // Step 1. Give everybody something to do.
            self.serve();
            // Step 2. Choose what to play here, and play it, looking after the others now and then.
            let Some(plan) = self.plan() else { break };
            let Some(sortie) = own.spare.pop() else { break };
            let (root, next_lesson) = (self.root, &mut own.next_lesson);
            let order = self.bot.order(sortie, root, plan, next_lesson, self.meter);
            self.n_in_flight += order.sortie.batch.n_playouts();
            let mut sortie = order.fly(&mut own.pilot, self.limits, &mut || self.serve());
            // Step 3. Land it.
            self.land(&mut sortie);
            own.spare.push(sortie);
        }
        // Step 4. Who plays stops when there are no more orders. All that is in flight comes home, and nothing of what has
        // not begun if nobody wants it any more.
        is_over.store(self.is_done(), Ordering::Relaxed);
        let wings = std::mem::take(&mut self.wings);
        let mut spares: Vec<_> = wings.into_iter().map(|wing| wing.spare).collect();
        while let Ok((idx, mut sortie)) = self.arrivals.recv() {
            self.land(&mut sortie);
            spares[idx].push(sortie);
        }
    }

    /// Lands what others have brought home, and gives them something to do.
    fn serve(&mut self) {
        loop {
            if let Ok((idx, mut sortie)) = self.arrivals.try_recv() {
                self.land(&mut sortie);
                self.wings[idx].spare.push(sortie);
            }
            let wings = self.wings.iter().enumerate();
            let needy = wings.max_by_key(|(_, wing)| wing.spare.len());
            let Some((idx, _)) = needy.filter(|(_, wing)| !wing.spare.is_empty()) else {
                return;
            };
            let Some(plan) = self.plan() else { return };
            let wing = &mut self.wings[idx];
            let Some(sortie) = wing.spare.pop() else {
                return;
            };
            let (root, next_lesson) = (self.root, &mut *wing.next_lesson);
            let order = self.bot.order(sortie, root, plan, next_lesson, self.meter);
            self.n_in_flight += order.sortie.batch.n_playouts();
            if let Err(SendError(order)) = wing.orders.send(order) {
                // Its thread is gone, and the batch with it once it has landed.
                self.land(&mut order.give_up());
            }
        }
    }

    /// What flies next, if anything should.
    fn plan(&self) -> Option<(u32, u32)> {
        let left = self.meter.playouts_left().unwrap_or(u64::MAX);
        let left = left.min(self.until.saturating_sub(self.meter.n_playouts()));
        let plan = self.bot.plan(self.meter, left, self.n_in_flight);
        plan.filter(|_| !self.is_done())
    }

    fn land(&mut self, sortie: &mut Sortie) {
        let Sortie { batch, flight } = sortie;
        self.n_in_flight -= batch.n_playouts();
        self.bot.work.watch.start(true);
        self.bot.land(batch, flight, self.meter);
        self.bot.work.watch.stop();
        let cost = flight.cost.take();
        if let (Some(heuristic), Some(cost)) = (&mut self.bot.heuristic, cost) {
            heuristic.add(cost);
        }
        let (bot, meter) = (&self.bot, &self.meter);
        let report = || bot.report(self.role, meter, None);
        self.listener.tell(meter.n_playouts(), report);
    }

    fn is_done(&self) -> bool {
        self.meter.stop().is_some() || self.bot.must_pause(self.root, self.role)
    }
}

/// The work of a thread without the tree, as long as there are orders.
fn obey(
    pilot: &mut Pilot,
    orders: &Receiver<Order>,
    home: impl Fn(Sortie),
    is_over: &AtomicBool,
    limits: &Limits,
) {
    for mut order in orders {
        home(match is_over.load(Ordering::Relaxed) {
            true => {
                // The search may only pause, to make room.
                order.teach(pilot);
                order.give_up()
            }
            false => order.fly(pilot, limits, &mut || {}),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bot::Bot;
    use crate::preset::Preset;

    fn bot(sheet: &str, player: &str) -> UctBot {
        let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
        let rules = Arc::new(rules.unwrap_or_else(|findings| panic!("{findings:?}")));
        let game = Arc::new(Game::compile(rules, &Default::default(), &|| false).expect("it runs"));
        let params = Preset::parse(player).expect("it is a player").params;
        UctBot::new(game, &params, 3)
    }

    #[test]
    fn who_falls_is_replaced_and_nothing_stays_in_flight() {
        let player = "cadia-2007:batch=64,threads=2";
        let mut own = bot(include_str!("../../games/games/connect_four.kif"), player);
        let mut other = bot(include_str!("../../games/games/breakthrough.kif"), player);
        assert!(own.hire(2) && other.hire(2));
        // The second worker knows another game, so it falls over the first state that it is given.
        own.workers[1].pilot = other.workers.remove(1).pilot;
        let state = own.game.initial_state().clone();
        let limits = Limits::playouts(4000);
        let decision = own.think(&state, RoleId(0), &limits, &mut |_| {});
        assert_eq!(own.n_lost_workers, 1);
        assert_eq!(own.workers.len(), 2, "another one was hired");
        assert!(!own.tree.is_flown_over());
        assert_eq!(decision.report.playouts, 4000);
    }
}
