//! The course of a training: chunks, checkpoints, matches on the way, and the contest at the end.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agon_engine::Game;
use agon_learn::contest::{Entrant, Score, Terms, compete};
use agon_learn::{Budget, Options, Progress, Training};
use agon_search::model::{BEST_USE, Model, Network, Record, rules_key};
use agon_search::{Limits, NetworkUse, Preset};
use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::show::Show;
use crate::models;
use crate::words::network_use;

/// Points of the curve.
const N_POINTS: u32 = 8;
/// Share of the time of training that matches may take, at each point and at the end.
const MATCH_SHARE: f64 = 0.015;
const FINAL_SHARE: f64 = 0.15;
/// Matches against the network of the point before, and their simulations per move.
const EARLIER_MATCHES: u32 = 16;
const EARLIER_SIMULATIONS: u64 = 100;
/// Most matches against the player without the network: at a point, per way of use in the contest, and at last.
const POINT_MATCHES: u32 = 10;
const CONTEST_MATCHES: u32 = 10;
const LAST_MATCHES: u32 = 40;
/// Shortest and longest time of a move in these.
const LEAST_MOVE: f64 = 0.005;
const MOST_MOVE: f64 = 0.25;
/// Random moves that matches begin with.
const RANDOM_MOVES: u32 = 2;
/// Most steps of a match.
const MOST_STEPS: u32 = 2000;
/// It ends early when the network has beaten none of this number of earlier ones.
const STILL_POINTS: usize = 4;

/// What was asked for.
pub(super) struct Plan {
    pub(super) time: Duration,
    pub(super) positions: Option<u64>,
    pub(super) n_threads: usize,
    pub(super) seed: u64,
    pub(super) has_matches: bool,
    pub(super) is_fresh: bool,
    pub(super) checkpoint_every: Duration,
    pub(super) svg: PathBuf,
    pub(super) path: PathBuf,
}

/// A score that can be written.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Points {
    pub(super) matches: u32,
    pub(super) points: f64,
    /// Mean and interval in percent.
    pub(super) score: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Points {
    fn new(score: Score) -> Points {
        let (low, high) = score.interval();
        Points {
            matches: score.matches,
            points: score.points,
            score: score.mean() * 100.0,
            low: low * 100.0,
            high: high * 100.0,
        }
    }
}

/// A point of the curve.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Point {
    /// Seconds of training.
    pub(super) seconds: f64,
    pub(super) positions: u64,
    pub(super) games: u64,
    /// Against the network of the point before.
    pub(super) earlier: Option<Points>,
    /// Against the player without it.
    pub(super) base: Option<Points>,
    pub(super) value_loss: f64,
    pub(super) policy_loss: f64,
}

/// What came of it.
pub(super) struct Outcome {
    pub(super) path: PathBuf,
    pub(super) svg: Option<PathBuf>,
    pub(super) bytes: usize,
    pub(super) seconds: f64,
    pub(super) progress: Progress,
    pub(super) curve: Vec<Point>,
    /// How it is best used, and what each way scored in the contest.
    pub(super) best: NetworkUse,
    pub(super) contest: Vec<(NetworkUse, Points)>,
    /// The last matches of the best way, and their time per move.
    pub(super) last: Option<Points>,
    pub(super) move_time: f64,
    pub(super) is_early: bool,
}

impl Outcome {
    /// Whether players should use the model.
    pub(super) fn is_worth_it(&self) -> bool {
        self.best != NetworkUse::None
    }
}

/// What is written beside the numbers of a checkpoint.
#[derive(Default, Serialize, Deserialize)]
struct Notes {
    seconds: f64,
    seed: u64,
    time: f64,
    positions: Option<u64>,
    curve: Vec<Point>,
}

/// A training on its way.
pub(super) struct Course<'a> {
    game: &'a Arc<Game>,
    name: &'a str,
    plan: Plan,
    training: Training,
    key: u64,
    notes: Notes,
    /// The network of the last point.
    earlier: Option<Arc<Network>>,
    stop: Arc<AtomicBool>,
    mean_steps: f64,
}

impl<'a> Course<'a> {
    /// Begins, or goes on where a training was interrupted.
    pub(super) fn begin(
        game: &'a Arc<Game>,
        name: &'a str,
        options: &Options,
        plan: Plan,
        show: &mut Show,
    ) -> anyhow::Result<Course<'a>> {
        let mut training = Training::new(game, options, plan.n_threads, plan.seed)?;
        let key = rules_key(game).context("the game was grounded")?;
        let mut notes = Notes {
            seed: plan.seed,
            time: plan.time.as_secs_f64(),
            positions: plan.positions,
            ..Notes::default()
        };
        let file = checkpoint_path(&plan.path);
        if !plan.is_fresh && file.exists() {
            let (old, bytes) = read_checkpoint(&file)?;
            training
                .resume(&bytes, key)
                .with_context(|| file.display().to_string())?;
            notes.seconds = old.seconds;
            notes.curve = old.curve;
            show.resumed(&file, notes.seconds);
        }
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        // Where no handler can be set, Ctrl-C ends the program and a checkpoint is left.
        let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
        Ok(Course {
            earlier: (notes.seconds > 0.0).then(|| Arc::new(training.network().clone())),
            game,
            name,
            plan,
            training,
            key,
            notes,
            stop,
            mean_steps: 60.0,
        })
    }

    /// Trains to the end.
    pub(super) fn run(mut self, show: &mut Show) -> anyhow::Result<Outcome> {
        let before = self.notes.seconds;
        let began = Instant::now();
        let mut last_checkpoint = Instant::now();
        let mut paused = Duration::ZERO;
        let mut next_point = (self.gone() * f64::from(N_POINTS)) as u32 + 1;
        let mut is_early = false;
        loop {
            let gone = self.gone();
            if gone >= 1.0 || self.is_stopped() {
                break;
            }
            let stop = Arc::clone(&self.stop);
            let deadline = match self.plan.positions {
                Some(_) => None,
                None => Some(
                    began
                        + paused
                        + self
                            .plan
                            .time
                            .saturating_sub(Duration::from_secs_f64(before)),
                ),
            };
            let is_over = move || {
                stop.load(Ordering::Relaxed)
                    || deadline.is_some_and(|deadline| Instant::now() >= deadline)
            };
            self.training.run(Budget { gone: gone as f32 }, &is_over);
            self.notes.seconds = before + (began.elapsed().saturating_sub(paused)).as_secs_f64();
            let progress = self.training.progress();
            if let Some(alarm) = progress.alarm {
                show.alarm(alarm, progress.cures);
            }
            show.progress(self.gone(), self.notes.seconds, progress);
            if last_checkpoint.elapsed() >= self.plan.checkpoint_every {
                self.save()?;
                last_checkpoint = Instant::now();
            }
            let is_due = self.gone() >= f64::from(next_point) / f64::from(N_POINTS);
            if is_due && self.gone() < 1.0 {
                let pause = Instant::now();
                self.point(show)?;
                self.save()?;
                last_checkpoint = Instant::now();
                // Matches count as time of the training unless positions are counted.
                if self.plan.positions.is_some() {
                    paused += pause.elapsed();
                }
                self.notes.seconds = before + began.elapsed().saturating_sub(paused).as_secs_f64();
                // Points that matches took the time of are left out.
                next_point = (self.gone() * f64::from(N_POINTS)) as u32 + 1;
                if self.is_still() {
                    is_early = true;
                    break;
                }
            }
        }
        self.finish(is_early, show)
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The share of the budget that is gone.
    fn gone(&self) -> f64 {
        match self.plan.positions {
            Some(n) => self.training.progress().counts.positions as f64 / n as f64,
            None => self.notes.seconds / self.plan.time.as_secs_f64(),
        }
    }

    /// Whether the network has stopped getting better: it has not beaten those before for some time.
    fn is_still(&self) -> bool {
        let curve = &self.notes.curve;
        let late = &curve[curve.len().saturating_sub(STILL_POINTS)..];
        let is_still = |point: &Point| point.earlier.is_some_and(|score| score.score <= 50.0);
        late.len() == STILL_POINTS && late.iter().all(is_still)
    }

    fn entrant(
        &self,
        usage: NetworkUse,
        network: Option<&Arc<Network>>,
    ) -> anyhow::Result<Entrant> {
        let mut params = Preset::parse("agon:threads=1,model=none")?.params;
        params.network = usage;
        Ok(Entrant {
            params,
            network: network.cloned(),
        })
    }

    fn compete(
        &self,
        entrants: [&Entrant; 2],
        n: u32,
        limits: &dyn Fn() -> Limits,
        salt: u64,
    ) -> Score {
        let stop = || self.is_stopped();
        let terms = Terms {
            limits,
            random_moves: RANDOM_MOVES,
            most_steps: MOST_STEPS,
            seed: self.plan.seed.wrapping_mul(1009).wrapping_add(salt),
            stop: &stop,
        };
        compete(self.game, entrants, n, &terms, &mut |_| {})
    }

    /// Seconds of a move, so that this number of matches takes a share of the training.
    fn move_time(&self, n_matches: u32, share: f64) -> f64 {
        let total = self.notes.seconds.max(1.0) * share;
        let counts = &self.training.progress().counts;
        let steps = match counts.games {
            0 => self.mean_steps,
            games => counts.steps as f64 / games as f64,
        };
        (total / f64::from(n_matches) / steps.max(1.0)).clamp(LEAST_MOVE, MOST_MOVE)
    }

    /// A point of the curve.
    fn point(&mut self, show: &mut Show) -> anyhow::Result<()> {
        let network = Arc::new(self.training.network().clone());
        let (mut earlier, mut base) = (None, None);
        if self.plan.has_matches {
            let newest = self.entrant(NetworkUse::Alone, Some(&network))?;
            let salt = self.notes.curve.len() as u64 * 100;
            if let Some(old) = &self.earlier {
                let old = self.entrant(NetworkUse::Alone, Some(old))?;
                let limits = || Limits::playouts(EARLIER_SIMULATIONS);
                earlier = Some(self.compete([&newest, &old], EARLIER_MATCHES, &limits, salt));
            }
            let without = self.entrant(NetworkUse::None, None)?;
            let seconds = self.move_time(POINT_MATCHES, MATCH_SHARE);
            let limits = || Limits::time(Duration::from_secs_f64(seconds));
            base = Some(self.compete([&newest, &without], POINT_MATCHES, &limits, salt + 50));
        }
        self.earlier = Some(network);
        let progress = self.training.progress();
        let point = Point {
            seconds: self.notes.seconds,
            positions: progress.counts.positions,
            games: progress.counts.games,
            earlier: earlier.map(Points::new),
            base: base.map(Points::new),
            value_loss: progress.losses.value,
            policy_loss: progress.losses.policy,
        };
        show.point(&point)?;
        self.notes.curve.push(point);
        Ok(())
    }

    /// Writes what is needed to go on.
    fn save(&self) -> anyhow::Result<()> {
        let notes = serde_json::to_vec(&self.notes)?;
        let mut bytes = format!("agon-train 1 {}\n", notes.len()).into_bytes();
        bytes.extend_from_slice(&notes);
        bytes.extend_from_slice(&self.training.checkpoint(self.key));
        models::write(&checkpoint_path(&self.plan.path), &bytes)
    }

    /// The contest, the model, the picture.
    fn finish(mut self, is_early: bool, show: &mut Show) -> anyhow::Result<Outcome> {
        // A killed contest must not cost the training.
        self.save()?;
        let is_stopped = self.is_stopped();
        self.point_without_matches(show)?;
        let mut outcome = Outcome {
            path: self.plan.path.clone(),
            svg: None,
            bytes: 0,
            seconds: self.notes.seconds,
            progress: self.training.progress().clone(),
            curve: self.notes.curve.clone(),
            best: NetworkUse::Alone,
            contest: Vec::new(),
            last: None,
            move_time: 0.0,
            is_early,
        };
        if self.plan.has_matches && !is_stopped {
            self.contest(&mut outcome, show)?;
        }
        let model = self.model(&outcome)?;
        let bytes = model.to_bytes();
        outcome.bytes = bytes.len();
        models::write(&self.plan.path, &bytes)?;
        if outcome.curve.iter().any(|point| point.base.is_some()) {
            models::write(
                &self.plan.svg,
                super::show::picture(self.name, &outcome).as_bytes(),
            )?;
            outcome.svg = Some(self.plan.svg.clone());
        }
        let checkpoint = checkpoint_path(&self.plan.path);
        if !is_stopped {
            fs::remove_file(&checkpoint)
                .with_context(|| format!("cannot remove {}", checkpoint.display()))?;
        }
        Ok(outcome)
    }

    /// The last point of the curve, whose matches are those of the contest.
    fn point_without_matches(&mut self, show: &mut Show) -> anyhow::Result<()> {
        let has_matches = std::mem::replace(&mut self.plan.has_matches, false);
        self.point(show)?;
        self.plan.has_matches = has_matches;
        Ok(())
    }

    /// How the network is best used, and how good that is.
    fn contest(&self, outcome: &mut Outcome, show: &mut Show) -> anyhow::Result<()> {
        let network = Arc::new(self.training.network().clone());
        let n_matches = 3 * CONTEST_MATCHES + LAST_MATCHES;
        outcome.move_time = self.move_time(n_matches, FINAL_SHARE);
        let limits = || Limits::time(Duration::from_secs_f64(outcome.move_time));
        let without = self.entrant(NetworkUse::None, None)?;
        for (usage, salt) in [
            (NetworkUse::Alone, 5000),
            (NetworkUse::Mix, 5000),
            (NetworkUse::Prior, 5000),
        ] {
            let with = self.entrant(usage, Some(&network))?;
            let score = self.compete([&with, &without], CONTEST_MATCHES, &limits, salt);
            show.contest(usage, &Points::new(score));
            outcome.contest.push((usage, Points::new(score)));
            // Nothing is much better than that.
            if score.mean() >= 0.85 {
                break;
            }
        }
        let best =
            outcome.contest.iter().fold(
                None,
                |best: Option<&(NetworkUse, Points)>, one| match best {
                    Some(best) if best.1.score >= one.1.score => Some(best),
                    _ => Some(one),
                },
            );
        outcome.best = best.map_or(NetworkUse::None, |best| best.0);
        let with = self.entrant(outcome.best, Some(&network))?;
        let last = self.compete([&with, &without], LAST_MATCHES, &limits, 9000);
        // Without matches nothing speaks against it.
        if last.matches > 0 && last.mean() < 0.5 {
            outcome.best = NetworkUse::None;
        }
        outcome.last = Some(Points::new(last));
        Ok(())
    }

    fn model(&self, outcome: &Outcome) -> anyhow::Result<Model> {
        let progress = &outcome.progress;
        let mut record: Record = Vec::new();
        let mut fact = |name: &str, value: String| record.push((name.to_owned(), value));
        fact(BEST_USE, network_use(outcome.best).to_owned());
        fact("seed", self.plan.seed.to_string());
        fact("threads", self.plan.n_threads.to_string());
        fact("positions", progress.counts.positions.to_string());
        fact("games", progress.counts.games.to_string());
        fact("steps", progress.steps.to_string());
        fact("cures", progress.cures.to_string());
        // Times differ from run to run, and a model by positions must not.
        if self.plan.positions.is_none() {
            fact("seconds", format!("{:.0}", outcome.seconds));
        }
        if let Some(last) = &outcome.last {
            fact("score", format!("{:.1}", last.score));
            fact("interval", format!("{:.1} {:.1}", last.low, last.high));
            fact("matches", last.matches.to_string());
            fact("move_seconds", format!("{:.3}", outcome.move_time));
        }
        Ok(self.training.model(self.name, record)?)
    }
}

/// Where a checkpoint is kept.
fn checkpoint_path(model: &Path) -> PathBuf {
    let mut name = model.file_name().unwrap_or_default().to_owned();
    name.push(".checkpoint");
    model.with_file_name(name)
}

fn read_checkpoint(path: &Path) -> anyhow::Result<(Notes, Vec<u8>)> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let parsed = || {
        let end = bytes.iter().position(|&byte| byte == b'\n')?;
        let head = std::str::from_utf8(&bytes[..end]).ok()?;
        let n: usize = head.strip_prefix("agon-train 1 ")?.parse().ok()?;
        let (notes, rest) = bytes[end + 1..].split_at_checked(n)?;
        Some((serde_json::from_slice(notes).ok()?, rest.to_vec()))
    };
    parsed().with_context(|| {
        format!(
            "{} is not a checkpoint of a training; delete it, or begin anew with --fresh",
            path.display()
        )
    })
}
