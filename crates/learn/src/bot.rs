//! A bot that learns on the start clock, and plays by what it has learned if that is better.
//!
//! As long as nothing but a flag limits it before the first move, it trains a network on all of its threads. From time to time the network plays
//! short matches against the player without it, alone and mixed with playouts, at equal time. The way that clearly won the last of these contests
//! plays the match; without a clear winner, and with a short start clock, the player without a network does.
//!
//! In: a game, the parameters of the player. Out: decisions, and an account of what was learned and decided.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use agon_engine::{Game, JointMove, MoveId, PerceptId, RoleId, State};
use agon_search::model::Network;
use agon_search::{
    Account, BeliefAccount, Bot, Count, Decision, Limits, NetworkAccount, NetworkOrigin,
    NetworkScore, NetworkUse, Params, Report, StopReason, TechniqueAccount, UctBot,
};

use crate::contest::{Entrant, Score, Terms, compete};
use crate::options::Options;
use crate::training::{Budget, Training};

/// Seconds of training before the first contest, and how many times as many come before each later one.
const FIRST_CONTEST: f64 = 20.0;
const LATER: f64 = 1.6;
/// Matches of a contest per way of use, and seconds per move.
const MATCHES: u32 = 8;
const MOVE_SECONDS: f64 = 0.04;
/// A contest takes at most this share of the training before it.
const CONTEST_SHARE: f64 = 0.3;
/// The score that a network must reach to play.
const LEAST_SCORE: f64 = 0.7;
/// Seconds after which the rate of learning is lowest.
const LAST_SECONDS: f64 = 90.0;

/// What the contests on the start clock have shown.
#[derive(Clone, Debug, Default)]
pub struct Learned {
    /// Seconds of training.
    pub seconds: f64,
    /// Positions of self-play.
    pub positions: u64,
    /// Per way of use: the score of the last contest.
    pub scores: Vec<(NetworkUse, Score)>,
    /// The way that plays.
    pub chosen: Option<NetworkUse>,
}

impl Learned {
    /// What was decided and why, as bots tell it.
    #[must_use]
    pub fn account(&self) -> NetworkAccount {
        let score = |&(usage, score): &(NetworkUse, Score)| NetworkScore {
            usage,
            matches: score.matches,
            score: 100.0 * score.mean(),
        };
        NetworkAccount {
            usage: self.chosen.unwrap_or(NetworkUse::None),
            origin: NetworkOrigin::StartClock {
                seconds: self.seconds,
            },
            positions: Some(self.positions),
            contest: self.scores.iter().map(score).collect(),
        }
    }
}

/// Hears what was decided when the match begins.
pub type Told = Box<dyn FnMut(&NetworkAccount) + Send>;

/// A bot that learns first.
pub struct LearningBot {
    game: Arc<Game>,
    params: Params,
    seed: u64,
    training: Option<Training>,
    base: Box<dyn Bot>,
    /// The bot with the network, if it plays.
    chosen: Option<Box<dyn Bot>>,
    network: Option<Arc<Network>>,
    has_begun: bool,
    learned: Learned,
    told: Option<Told>,
}

impl LearningBot {
    /// A bot for a game. A game that gets no network is played without one.
    #[must_use]
    pub fn new(game: &Arc<Game>, params: &Params, seed: u64) -> LearningBot {
        let options = Options::new(game).ok();
        let training =
            options.and_then(|options| Training::new(game, &options, n_threads(params), seed).ok());
        LearningBot {
            game: Arc::clone(game),
            base: Box::new(UctBot::new(game, params, seed)),
            params: params.clone(),
            seed,
            training,
            chosen: None,
            network: None,
            has_begun: false,
            learned: Learned::default(),
            told: None,
        }
    }

    /// The same, which tells what was decided when the match begins.
    #[must_use]
    pub fn telling(mut self, told: Told) -> LearningBot {
        self.told = Some(told);
        self
    }

    /// What was learned.
    #[must_use]
    pub fn learned(&self) -> &Learned {
        &self.learned
    }

    /// Trains until it is told to stop.
    fn learn(&mut self, stop: &Arc<AtomicBool>) {
        let Some(mut training) = self.training.take() else {
            return;
        };
        let is_told = || stop.load(Ordering::Relaxed);
        let began = Instant::now();
        let mut in_contests = Duration::ZERO;
        let mut next = FIRST_CONTEST;
        while !is_told() {
            let seconds = (began.elapsed() - in_contests).as_secs_f64();
            let gone = (seconds / LAST_SECONDS).min(0.95) as f32;
            training.run(Budget { gone }, &is_told);
            self.learned.seconds = seconds;
            self.learned.positions = training.progress().counts.positions;
            if seconds >= next && !is_told() {
                let at = Instant::now();
                let network = Arc::new(training.network().clone());
                self.contest(&network, seconds * CONTEST_SHARE, stop);
                in_contests += at.elapsed();
                next = seconds * LATER;
            }
        }
        self.training = Some(training);
    }

    /// Lets the network play against the player without it, for some seconds.
    fn contest(&mut self, network: &Arc<Network>, seconds: f64, stop: &Arc<AtomicBool>) {
        let deadline = Instant::now() + Duration::from_secs_f64(seconds);
        let mut scores = Vec::new();
        for (usage, share) in [(NetworkUse::Alone, 0.6), (NetworkUse::Mix, 1.0)] {
            let until = deadline - Duration::from_secs_f64(seconds * (1.0 - share));
            let score = self.matches(network, usage, until, stop);
            scores.push((usage, score));
            if score.mean() >= 0.9 && score.matches >= MATCHES {
                break;
            }
        }
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let is_clear = |score: &Score| score.matches >= 4 && score.mean() >= LEAST_SCORE;
        let clear = scores.iter().filter(|(_, score)| is_clear(score));
        let best = clear.max_by(|a, b| a.1.mean().total_cmp(&b.1.mean()));
        self.learned.chosen = best.map(|best| best.0);
        self.network = Some(Arc::clone(network));
        self.learned.scores = scores;
    }

    /// Matches on all threads at once.
    fn matches(
        &self,
        network: &Arc<Network>,
        usage: NetworkUse,
        until: Instant,
        stop: &Arc<AtomicBool>,
    ) -> Score {
        let entrant = |usage: NetworkUse, network: Option<Arc<Network>>| {
            let mut params = self.params.clone();
            params.threads = Count::Exactly(1);
            params.network = usage;
            Entrant { params, network }
        };
        let with = entrant(usage, Some(Arc::clone(network)));
        let without = entrant(NetworkUse::None, None);
        let n_threads = n_threads(&self.params) as u32;
        let n_each = MATCHES.div_ceil(n_threads).next_multiple_of(2);
        let (game, seed) = (&self.game, self.seed);
        let play = |thread: u32| {
            let limits = || Limits::time(Duration::from_secs_f64(MOVE_SECONDS));
            let is_over = || stop.load(Ordering::Relaxed) || Instant::now() >= until;
            let terms = Terms {
                limits: &limits,
                random_moves: 2,
                most_steps: 1000,
                seed: seed.wrapping_mul(77).wrapping_add(u64::from(thread) * 1000),
                stop: &is_over,
            };
            compete(game, [&with, &without], n_each, &terms, &mut |_| {})
        };
        let mut all = Score::default();
        thread::scope(|scope| {
            let play = &play;
            let threads: Vec<_> = (0..n_threads)
                .map(|idx| scope.spawn(move || play(idx)))
                .collect();
            for thread in threads {
                // A thread that panicked has no score.
                if let Ok(score) = thread.join() {
                    all.matches += score.matches;
                    all.points += score.points;
                }
            }
        });
        all
    }

    /// The network has its say from here on.
    fn settle(&mut self) {
        self.has_begun = true;
        self.training = None;
        if let (Some(usage), Some(network)) = (self.learned.chosen, self.network.take()) {
            let mut params = self.params.clone();
            params.network = usage;
            let bot = UctBot::with_network(&self.game, &params, Some(network), self.seed);
            self.chosen = Some(Box::new(bot));
        }
        if let Some(told) = self.told.as_mut().filter(|_| self.learned.positions > 0) {
            told(&self.learned.account());
        }
    }

    fn player(&mut self) -> &mut dyn Bot {
        match &mut self.chosen {
            Some(bot) => &mut **bot,
            None => &mut *self.base,
        }
    }
}

impl Bot for LearningBot {
    fn think(
        &mut self,
        state: &State,
        role: RoleId,
        limits: &Limits,
        watch: &mut dyn FnMut(&Report),
    ) -> Decision {
        let is_start = !self.has_begun && limits.is_told_only() && self.training.is_some();
        match &limits.stop {
            Some(stop) if is_start => {
                self.learn(stop);
                // What it answers does not count: its time was that of others.
                let mut decision = self.base.think(state, role, &Limits::playouts(1), watch);
                decision.report.stop = Some(StopReason::Told);
                decision
            }
            _ => {
                if !self.has_begun {
                    self.settle();
                }
                self.player().think(state, role, limits, watch)
            }
        }
    }

    fn played(&mut self, joint: &JointMove, next: &State) {
        if !self.has_begun {
            self.settle();
        }
        self.player().played(joint, next);
    }

    fn saw(&mut self, role: RoleId, own: MoveId, percepts: &[PerceptId]) {
        if !self.has_begun {
            self.settle();
        }
        self.player().saw(role, own, percepts);
    }

    fn missed(&mut self) {
        self.player().missed();
    }

    fn belief(&self) -> Option<(BeliefAccount, Vec<(MoveId, f64)>)> {
        let player = self.chosen.as_deref().unwrap_or(&*self.base);
        player.belief()
    }

    fn account(&self) -> Option<Account> {
        let player = self.chosen.as_deref().unwrap_or(&*self.base);
        let mut account = player.account()?;
        if self.learned.positions > 0 {
            let network = TechniqueAccount::Network(self.learned.account());
            account.techniques.push(network);
        }
        Some(account)
    }
}

fn n_threads(params: &Params) -> usize {
    match params.threads {
        Count::Exactly(n) => n as usize,
        Count::Auto => thread::available_parallelism().map_or(1, usize::from),
    }
}
