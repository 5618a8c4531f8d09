//! Who evaluates leaves: one worker per thread, all for one tree.
//!
//! The thread that thinks owns the tree: it backs up what has come back, and selects what is evaluated next, for the others
//! first. The others evaluate and know nothing else. When all of them have enough to do, the thread that thinks evaluates
//! leaves itself. So nothing is locked, and the tree stays in the caches of one core. With one thread all of it happens in one
//! order, and the same seed gives the same tree.
//!
//! A worker whose thread panics is gone, and what it had in flight does not come back; the others go on, and the bot answers
//! from what is in the tree.
//!
//! - Chaslot, Winands and van den Herik 2008, Parallel Monte-Carlo Tree Search (one tree, and others who play for it)

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use agon_engine::RoleId;
use agon_engine::lanes::LanesOptions;

use crate::evaluators::lanes::LanesEvaluator;
use crate::evaluators::network::{Judge, NetworkEvaluator};
use crate::evaluators::none::NoEvaluator;
use crate::evaluators::scalar::ScalarEvaluator;
use crate::evaluators::{Evaluator, PolicyUpdate, Terms};
use crate::limits::{Limits, Meter};
use crate::params::{EvaluatorKind, NetworkUse};
use crate::plan::{Load, Place, Plan};
use crate::searcher::Searcher;
use crate::simulation::{Orders, Results};
use crate::techniques::{Technique, Techniques};

/// How long the owner of the tree waits for the others before it looks whether they are alive.
const PATIENCE: Duration = Duration::from_millis(5);

/// The evaluators of a bot.
pub(crate) struct Pool {
    /// Of the thread that owns the tree: one by one, and many at once where the game allows it.
    scalar: Box<dyn Evaluator>,
    batch: Option<Box<dyn Evaluator>>,
    others: Vec<Other>,
    /// The policy that the own evaluator goes by.
    policy: Option<Arc<PolicyUpdate>>,
    pub(crate) n_panics: u64,
    seed: u64,
}

/// The evaluator of another thread.
struct Other {
    evaluator: Box<dyn Evaluator>,
    techniques: Techniques,
}

/// What the owner of the tree tells another thread.
enum Message {
    Policy(Arc<PolicyUpdate>),
    /// A copy of the techniques, for evaluators that ask them.
    Techniques(Box<Techniques>),
    Orders(Orders),
    /// Room for results.
    Room(Box<Results>),
}

/// What another thread returns: its number, results, and room for orders.
type Arrival = (usize, Results, Option<Orders>);

/// Another thread, as the owner of the tree sees it.
struct Link<'scope> {
    sender: Sender<Message>,
    thread: thread::ScopedJoinHandle<'scope, ()>,
    load: Load,
    policy: Option<Arc<PolicyUpdate>>,
    spare: Vec<Orders>,
    is_lost: bool,
}

/// The task of a search.
pub(crate) struct Task<'a> {
    pub(crate) role: RoleId,
    pub(crate) limits: &'a Limits,
    pub(crate) n_threads: usize,
    /// It pauses when this number of playouts is done in all.
    pub(crate) until: u64,
}

impl Pool {
    /// The evaluators of a search.
    pub(crate) fn new(searcher: &Searcher, seed: u64) -> Pool {
        Pool {
            scalar: scalar_evaluator(searcher, seed),
            batch: batch_evaluator(searcher, seed),
            others: Vec::new(),
            policy: None,
            n_panics: 0,
            seed,
        }
    }

    /// Threads that have an evaluator.
    pub(crate) fn n_threads(&self) -> usize {
        self.others.len() + 1
    }

    /// Whether many leaves are evaluated at once.
    pub(crate) fn has_batches(&self) -> bool {
        self.batch.is_some()
    }

    /// Whether several threads can work on a tree: playouts one by one are taught by copies of techniques, which not all of them
    /// allow.
    pub(crate) fn can_share(&self, searcher: &Searcher) -> bool {
        let techniques = &searcher.techniques;
        let needs_own = techniques.all().any(Technique::looks_back);
        self.batch.is_some() || !(needs_own || techniques.fast.is_some())
    }

    /// Simulates until there is something else to do: a limit is reached, memory runs out, the root is decided, or enough
    /// playouts are done. `hear` is told after each portion of work.
    pub(crate) fn run(
        &mut self,
        searcher: &mut Searcher,
        task: &Task<'_>,
        meter: &mut Meter<'_>,
        hear: &mut dyn FnMut(&Searcher, &Meter<'_>),
    ) {
        self.hire(searcher, task.n_threads);
        let is_over = &AtomicBool::new(false);
        let mut others = std::mem::take(&mut self.others);
        let n_lost = thread::scope(|scope| {
            let (home, arrivals) = mpsc::channel();
            let mut links = Vec::new();
            for (idx, other) in others.iter_mut().enumerate().take(task.n_threads - 1) {
                let (sender, messages) = mpsc::channel();
                let home = home.clone();
                let (role, limits, n_roles) = (task.role, task.limits, searcher.n_roles());
                let thread = scope.spawn(move || {
                    let terms = Terms { role, limits };
                    work(other, idx, &messages, &home, &terms, is_over, n_roles);
                });
                links.push(Link {
                    sender,
                    thread,
                    load: Load::default(),
                    policy: None,
                    spare: vec![Orders::default(), Orders::default()],
                    is_lost: false,
                });
            }
            drop(home);
            let mut owner = Owner {
                pool: self,
                searcher,
                task,
                links,
                arrivals,
                own: Load::default(),
                orders: Orders::default(),
                results: Results::default(),
            };
            owner.results = Results::new(owner.searcher.n_roles());
            owner.run(meter, hear);
            is_over.store(true, Ordering::Relaxed);
            let links = std::mem::take(&mut owner.links);
            let ends = links.into_iter().map(|link| {
                drop(link.sender);
                link.thread.join()
            });
            ends.filter(Result::is_err).count()
        });
        if n_lost > 0 {
            // Whatever they did when they panicked, their evaluators are of no use.
            self.n_panics += n_lost as u64;
            others.clear();
        }
        others.iter_mut().for_each(|other| other.evaluator.cancel());
        self.others = others;
        searcher.abandon(None);
    }

    /// Makes sure that there are evaluators for this number of threads.
    fn hire(&mut self, searcher: &Searcher, n_threads: usize) {
        while self.others.len() + 1 < n_threads {
            let seed = self.seed.wrapping_add(self.others.len() as u64 + 1);
            let evaluator = batch_evaluator(searcher, seed);
            let evaluator = evaluator.unwrap_or_else(|| scalar_evaluator(searcher, seed));
            self.others.push(Other {
                evaluator,
                techniques: searcher.techniques.clone(),
            });
        }
    }
}

/// An evaluator for leaves one by one.
fn scalar_evaluator(searcher: &Searcher, seed: u64) -> Box<dyn Evaluator> {
    let (game, params) = (&searcher.game, &searcher.params);
    let evaluator = ScalarEvaluator::new(game, params, searcher.discount(), seed);
    judged(searcher, Box::new(evaluator))
}

/// The same evaluator, whose leaves a network judges if there is one.
fn judged(searcher: &Searcher, evaluator: Box<dyn Evaluator>) -> Box<dyn Evaluator> {
    let Some((network, _)) = &searcher.network else {
        return evaluator;
    };
    let (game, params) = (&searcher.game, &searcher.params);
    let judge = Judge::new(game, params, Arc::clone(network));
    Box::new(NetworkEvaluator::new(evaluator, judge, params.network))
}

/// An evaluator for many leaves at once, if the game and the techniques allow it.
fn batch_evaluator(searcher: &Searcher, seed: u64) -> Option<Box<dyn Evaluator>> {
    let (game, params) = (&searcher.game, &searcher.params);
    let looks_back = searcher.techniques.all().any(Technique::looks_back);
    if !params.has_lanes() || looks_back {
        return None;
    }
    let is_alone = searcher.network.is_some() && params.network == NetworkUse::Alone;
    let evaluator: Box<dyn Evaluator> = match params.evaluator {
        EvaluatorKind::Rollouts if !is_alone => {
            let (techniques, discount) = (&searcher.techniques, searcher.discount());
            Box::new(LanesEvaluator::new(
                game, params, techniques, discount, seed,
            )?)
        }
        _ => {
            let lanes = game.lanes(&LanesOptions::default())?;
            Box::new(NoEvaluator::new(lanes, params, game.n_roles()))
        }
    };
    Some(judged(searcher, evaluator))
}

/// The thread that owns the tree.
struct Owner<'a, 'scope> {
    pool: &'a mut Pool,
    searcher: &'a mut Searcher,
    task: &'a Task<'a>,
    links: Vec<Link<'scope>>,
    arrivals: Receiver<Arrival>,
    /// What is in flight on this thread.
    own: Load,
    orders: Orders,
    results: Results,
}

impl Owner<'_, '_> {
    /// The loop of the search.
    fn run(&mut self, meter: &mut Meter<'_>, hear: &mut dyn FnMut(&Searcher, &Meter<'_>)) {
        let terms = Terms {
            role: self.task.role,
            limits: self.task.limits,
        };
        loop {
            if self.task.limits.is_over() {
                // What has not come back is forgotten.
                self.pool.scalar.cancel();
                self.pool.batch.iter_mut().for_each(|batch| batch.cancel());
                return;
            }
            let is_open = meter.stop().is_none() && !self.searcher.must_pause(self.task.role);
            // Step 1. Back up what the others have brought, and give them something to do.
            self.receive(meter, false);
            if is_open {
                self.serve(meter);
                self.order_own(meter, &terms);
            }
            // Step 2. Evaluate leaves on this thread.
            if self.own.leaves > 0 {
                self.evaluate(&terms, meter);
            } else if self.links.iter().any(|link| link.load.leaves > 0) {
                self.receive(meter, true);
            } else if !is_open
                || self
                    .searcher
                    .plan(meter, self.task.until, self.own, self.own)
                    .is_none()
            {
                return;
            }
            hear(self.searcher, meter);
        }
    }

    fn all(&self) -> Load {
        let mut all = self.own;
        for link in &self.links {
            all.leaves += link.load.leaves;
            all.playouts += link.load.playouts;
        }
        all
    }

    /// Selects leaves for this thread.
    fn order_own(&mut self, meter: &mut Meter<'_>, terms: &Terms<'_>) {
        let Some(plan) = self
            .searcher
            .plan(meter, self.task.until, self.own, self.all())
        else {
            return;
        };
        let load = self
            .searcher
            .select_leaves(&mut self.orders, plan, 0, meter);
        self.own.leaves += load.leaves;
        self.own.playouts += load.playouts;
        let policy = self.searcher.policy(meter.n_playouts());
        let techniques = &mut self.searcher.techniques;
        match (&mut self.pool.batch, plan.place) {
            (Some(batch), Place::Lanes) => {
                if !is_same(policy.as_ref(), self.pool.policy.as_ref())
                    && let Some(policy) = policy
                {
                    batch.update(&policy);
                    self.pool.policy = Some(policy);
                }
                batch.submit(&self.orders, terms, techniques);
            }
            _ => self.pool.scalar.submit(&self.orders, terms, techniques),
        }
    }

    /// Evaluates some leaves on this thread and backs them up.
    fn evaluate(&mut self, terms: &Terms<'_>, meter: &mut Meter<'_>) {
        let techniques = &mut self.searcher.techniques;
        let scalar = &mut *self.pool.scalar;
        let batch = self.pool.batch.as_deref_mut();
        for evaluator in [Some(scalar), batch.map(|batch| batch as _)]
            .into_iter()
            .flatten()
        {
            if evaluator.n_pending() > 0 {
                evaluator.run(terms, techniques, &mut self.results);
                if let (Some(heuristic), Some(cost)) =
                    (&mut techniques.heuristic, evaluator.take_cost())
                {
                    heuristic.add(cost);
                }
                let times = evaluator.take_times();
                self.searcher.work.rollout_time += times.rollouts.total();
                self.searcher.work.bookkeeping_time += times.bookkeeping.total();
            }
        }
        let load = self.searcher.back_up(&self.results, meter);
        self.own.leaves -= load.leaves;
        self.own.playouts -= load.playouts;
        self.results.clear();
    }

    /// Gives the other threads something to do.
    fn serve(&mut self, meter: &mut Meter<'_>) {
        for idx in 0..self.links.len() {
            loop {
                let all = self.all();
                let link = &mut self.links[idx];
                let plan = self.searcher.plan(meter, self.task.until, link.load, all);
                // Playouts one by one are for this thread where the game has lanes.
                let has_lanes = self.pool.batch.is_some();
                let is_fit = |plan: &Plan| !has_lanes || plan.place == Place::Lanes;
                let Some(plan) = plan.filter(is_fit).filter(|_| !link.is_lost) else {
                    break;
                };
                let Some(mut orders) = link.spare.pop() else {
                    break;
                };
                let worker = idx as u32 + 1;
                let load = self
                    .searcher
                    .select_leaves(&mut orders, plan, worker, meter);
                let policy = self.searcher.policy(meter.n_playouts());
                if !is_same(policy.as_ref(), link.policy.as_ref()) {
                    let message = match (&self.pool.batch, &policy) {
                        (Some(_), Some(policy)) => Message::Policy(Arc::clone(policy)),
                        _ => Message::Techniques(Box::new(self.searcher.techniques.clone())),
                    };
                    link.is_lost |= link.sender.send(message).is_err();
                    link.policy = policy;
                }
                if orders.is_empty() {
                    link.spare.push(orders);
                    break;
                }
                link.load.leaves += load.leaves;
                link.load.playouts += load.playouts;
                link.is_lost |= link.sender.send(Message::Orders(orders)).is_err();
            }
        }
    }

    /// Backs up what the others have brought; waits for it if it should.
    fn receive(&mut self, meter: &mut Meter<'_>, waits: bool) {
        let mut first = match waits {
            true => self.arrivals.recv_timeout(PATIENCE).ok(),
            false => None,
        };
        while let Some((idx, mut results, orders)) =
            first.take().or_else(|| self.arrivals.try_recv().ok())
        {
            let load = self.searcher.back_up(&results, meter);
            results.clear();
            let link = &mut self.links[idx];
            link.load.leaves -= load.leaves;
            link.load.playouts -= load.playouts;
            link.spare.extend(orders);
            link.is_lost |= link.sender.send(Message::Room(Box::new(results))).is_err();
        }
        // What a thread had in flight that is gone does not come back.
        for (idx, link) in self.links.iter_mut().enumerate() {
            if link.load.leaves > 0 && link.thread.is_finished() && !link.is_lost {
                link.is_lost = true;
            }
            if link.is_lost && link.load.leaves > 0 {
                self.searcher.abandon(Some(idx as u32 + 1));
                link.load = Load::default();
            }
        }
    }
}

fn is_same(one: Option<&Arc<PolicyUpdate>>, other: Option<&Arc<PolicyUpdate>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        _ => false,
    }
}

/// The work of a thread without the tree, as long as there are orders.
fn work(
    other: &mut Other,
    idx: usize,
    messages: &Receiver<Message>,
    home: &Sender<Arrival>,
    terms: &Terms<'_>,
    is_over: &AtomicBool,
    n_roles: usize,
) {
    let Other {
        evaluator,
        techniques,
    } = other;
    let mut rooms: Vec<Results> = Vec::new();
    let mut spare: Vec<Orders> = Vec::new();
    loop {
        let next = match evaluator.n_pending() {
            0 => match messages.recv() {
                Ok(message) => Some(message),
                Err(_) => return,
            },
            _ => messages.try_recv().ok(),
        };
        if is_over.load(Ordering::Relaxed) || terms.limits.is_over() {
            return;
        }
        match next {
            Some(Message::Policy(policy)) => evaluator.update(&policy),
            Some(Message::Techniques(copy)) => *techniques = *copy,
            Some(Message::Room(results)) => rooms.push(*results),
            Some(Message::Orders(orders)) => {
                evaluator.submit(&orders, terms, techniques);
                spare.push(orders);
            }
            None => {}
        }
        if evaluator.n_pending() > 0 {
            let mut results = rooms.pop().unwrap_or_else(|| Results::new(n_roles));
            evaluator.run(terms, techniques, &mut results);
            match results.leaves.is_empty() && results.episodes.is_empty() {
                true => rooms.push(results),
                // The owner waits for all of them, unless it has panicked itself.
                false => drop(home.send((idx, results, spare.pop()))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use agon_engine::Game;

    use super::*;
    use crate::bot::Bot;
    use crate::preset::Preset;
    use crate::uct::UctBot;

    fn bot(sheet: &str, player: &str) -> UctBot {
        let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
        let rules = Arc::new(rules.unwrap_or_else(|findings| panic!("{findings:?}")));
        let game = Arc::new(Game::compile(rules, &Default::default(), &|| false).expect("it runs"));
        let params = Preset::parse(player).expect("it is a player").params;
        UctBot::new(&game, &params, 3)
    }

    const CONNECT_FOUR: &str = include_str!("../../games/games/connect_four.kif");

    #[test]
    fn a_worker_that_panics_is_replaced_and_nothing_stays_in_flight() {
        let player = "cadia-2007:batch=64,threads=2";
        let mut own = bot(CONNECT_FOUR, player);
        let mut other = bot(include_str!("../../games/games/breakthrough.kif"), player);
        own.pool.hire(&own.searcher, 2);
        other.pool.hire(&other.searcher, 2);
        // The second worker knows another game, so it panics over the first state that it is given.
        own.pool.others[0].evaluator = other.pool.others.remove(0).evaluator;
        let state = own.searcher.game.initial_state().clone();
        let limits = Limits::playouts(4000);
        let decision = own.think(&state, RoleId(0), &limits, &mut |_| {});
        assert_eq!(own.pool.n_panics, 1);
        assert!(!own.searcher.has_in_flight());
        assert_eq!(decision.report.playouts, 4000);
    }

    #[test]
    fn nothing_stays_in_flight_when_time_is_up() {
        for player in ["agon:threads=1", "agon:threads=2", "cadia-2009:threads=2"] {
            let mut bot = bot(CONNECT_FOUR, player);
            let state = bot.searcher.game.initial_state().clone();
            let limits = Limits::time(Duration::from_millis(40));
            let decision = bot.think(&state, RoleId(0), &limits, &mut |_| {});
            assert!(decision.report.playouts > 0, "{player}");
            assert!(!bot.searcher.has_in_flight(), "{player}");
            let root = bot.searcher.root.expect("it has one");
            let edges = bot.searcher.tree.edges(root, 0).iter();
            let visits: u32 = edges.map(|edge| edge.visits).sum();
            assert_eq!(bot.searcher.tree.node(root).visits, visits, "{player}");
        }
    }
}
