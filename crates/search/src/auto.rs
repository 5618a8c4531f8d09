//! `auto`: on the start clock, search methods play matches against each other on the game at hand, and the best one plays.
//!
//! Every pair of candidates meets with both seats, first with few playouts per move, then with twice as many, and so on as
//! long as there is time. Matches begin in the initial state, or in a state that an earlier match went through, so that
//! each third of a match has its own score: another method may be better at its end. Results with more playouts
//! count more. The first candidate plays unless another one is better by more than chance explains.
//!
//! The start clock is a search without any limit but a flag, before the match has gone on. A first search with other limits
//! gives up a third of them, if that is enough for some matches.
//!
//! In: a game, time. Out: what the chosen bot decides.
//!
//! - Méhat and Cazenave 2008, Monte-Carlo Tree Search for General Game Playing (planned it)

use std::sync::Arc;

use agon_engine::{Game, JointMove, RoleId, State};

use crate::account::{Account, ContestAccount, TechniqueAccount};
use crate::bot::Bot;
use crate::decision::Decision;
use crate::limits::{Limits, Meter};
use crate::match_loop::{MatchEnd, Turn, play_match};
use crate::params::Params;
use crate::random::Random;
use crate::report::Report;
use crate::uct::UctBot;

/// Parts of a match that are judged by themselves.
const N_PHASES: usize = 3;
/// Playouts per move in the first round.
const FIRST_PLAYOUTS: u64 = 32;
/// No round has more playouts per move.
const MOST_PLAYOUTS: u64 = 4096;
/// Most matches; then everything is said.
const MOST_TRIALS: usize = 1000;
/// A match with more steps is left.
const MOST_STEPS: u32 = 1000;
/// States that are remembered to begin matches in.
const MOST_STATES: usize = 2000;
/// A search with fewer playouts, or transitions, or seconds has nothing to spare.
const LEAST_PLAYOUTS: u64 = 50_000;
const LEAST_TRANSITIONS: u64 = 2_000_000;
const LEAST_SECONDS: f64 = 3.0;
/// A candidate must be better than the first by this number of standard errors.
const MARGIN: f64 = 1.0;

/// A search that competes.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub params: Params,
}

impl Candidate {
    fn bot(&self, game: &Arc<Game>, seed: u64) -> Box<dyn Bot> {
        Box::new(UctBot::new(game, &self.params, seed))
    }
}

/// A bot that lets others compete and is the best of them.
pub struct AutoBot {
    // Constant during a match.
    game: Arc<Game>,
    candidates: Vec<Candidate>,
    // What was learned.
    trials: Trials,
    /// Whether the start clock is over.
    is_settled: bool,
    /// Steps of the match so far.
    depth: u32,
    bots: Vec<Box<dyn Bot>>,
    random: Random,
}

impl AutoBot {
    /// A bot for this game that is one of these candidates; the first one plays if nothing speaks for another.
    #[must_use]
    pub fn new(game: &Arc<Game>, candidates: Vec<Candidate>, seed: u64) -> AutoBot {
        let bots = candidates.iter().map(|candidate| candidate.bot(game, seed));
        AutoBot {
            bots: bots.collect(),
            trials: Trials::new(candidates.len()),
            is_settled: false,
            depth: 0,
            random: Random::new(seed),
            candidates,
            game: Arc::clone(game),
        }
    }

    /// Lets candidates compete until a limit is reached; tells how much of it was used.
    fn compete(&mut self, limits: &Limits) -> (u64, u64) {
        let mut used = (0, 0);
        for trial in 0..MOST_TRIALS {
            let left = limits.less(used.0, used.1);
            if Meter::start(limits).stop().is_some() || left.is_spent() {
                break;
            }
            let (pair, phase, round) = schedule(self.candidates.len(), trial);
            let Some(start) = self.start(phase) else {
                continue;
            };
            let playouts = (FIRST_PLAYOUTS << round.min(60)).min(MOST_PLAYOUTS);
            if let Some(score) = self.play(pair, start, playouts, &left, &mut used) {
                self.trials.add(phase, pair, score, playouts as f64);
            }
        }
        used
    }

    /// Where a match begins that judges a phase, with its depth.
    fn start(&mut self, phase: usize) -> Option<(State, usize)> {
        if phase == 0 {
            return Some((self.game.initial_state().clone(), 0));
        }
        let length = self.trials.mean_length()?;
        let is_there = |depth: usize| self.trials.phase(depth as u32, length) == phase;
        let states = self.trials.states.iter();
        let fitting: Vec<&(State, usize)> = states.filter(|(_, depth)| is_there(*depth)).collect();
        if fitting.is_empty() {
            return None;
        }
        let chosen = self.random.below(fitting.len() as u32) as usize;
        Some(fitting[chosen].clone())
    }

    /// One match; the score of the first of the pair, if it came to its end.
    fn play(
        &mut self,
        pair: [usize; 2],
        (state, start): (State, usize),
        playouts: u64,
        limits: &Limits,
        used: &mut (u64, u64),
    ) -> Option<f64> {
        let n_roles = self.game.n_roles();
        let seed = u64::from(self.random.below(u32::MAX));
        let swap = self.random.below(2) as usize;
        let seat = |role: usize| (role + swap) % 2;
        let mut bots: Vec<Box<dyn Bot>> = (0..n_roles)
            .map(|role| self.candidates[pair[seat(role)]].bot(&self.game, seed + role as u64))
            .collect();
        let mut states = vec![state.clone()];
        let mut ask = |bot: &mut dyn Bot, turn: &Turn<'_>| {
            let left = limits.less(used.0, used.1);
            if Meter::start(limits).stop().is_some() || left.is_spent() {
                return None;
            }
            let limits = Limits {
                playouts: Some(playouts.min(left.playouts.unwrap_or(u64::MAX))),
                ..left
            };
            let decision = bot.think(turn.state, turn.role, &limits, &mut |_| {});
            used.0 += decision.report.playouts;
            used.1 += decision.report.transitions;
            Some(decision.mv)
        };
        let mut seen = |_: &JointMove, next: &State| states.push(next.clone());
        let outcome = play_match(
            &self.game, &state, &mut bots, MOST_STEPS, &mut ask, &mut seen,
        );
        match outcome.end {
            MatchEnd::Terminal | MatchEnd::StepLimit => {}
            MatchEnd::NoLegalMove(_) | MatchEnd::Stopped => return None,
        }
        if start == 0 {
            self.trials.remember(states);
        }
        Some(100.0 * outcome.points(seat))
    }

    /// Who plays now.
    fn chosen(&self) -> usize {
        let length = self.trials.mean_length();
        let phase = length.map_or(0, |length| self.trials.phase(self.depth, length));
        self.trials.best(phase)
    }
}

/// Pair, phase and round of a trial: in a round every pair meets twice in each phase.
fn schedule(n_candidates: usize, trial: usize) -> ([usize; 2], usize, usize) {
    let pairs = (0..n_candidates).flat_map(|a| (a + 1..n_candidates).map(move |b| [a, b]));
    let pairs: Vec<[usize; 2]> = pairs.collect();
    let n_meetings = 2 * pairs.len();
    let phase = trial / n_meetings % N_PHASES;
    let round = trial / (n_meetings * N_PHASES);
    (pairs[trial % pairs.len()], phase, round)
}

/// What the matches of candidates have shown.
struct Trials {
    /// Per phase and candidate.
    tallies: Vec<Vec<Tally>>,
    /// States of matches that began at the beginning, with their depths.
    states: Vec<(State, usize)>,
    /// Number and steps of those matches.
    n_whole: usize,
    n_steps: usize,
}

/// Weighted scores.
#[derive(Clone, Default)]
struct Tally {
    weight: f64,
    squares: f64,
    sum: f64,
    matches: u32,
}

impl Tally {
    fn mean(&self) -> f64 {
        if self.matches == 0 {
            50.0
        } else {
            self.sum / self.weight
        }
    }

    /// The standard error of the mean, if every match were a coin.
    fn error(&self) -> f64 {
        if self.matches == 0 {
            f64::INFINITY
        } else {
            50.0 * self.squares.sqrt() / self.weight
        }
    }
}

impl Trials {
    fn new(n_candidates: usize) -> Trials {
        Trials {
            tallies: vec![vec![Tally::default(); n_candidates]; N_PHASES],
            states: Vec::new(),
            n_whole: 0,
            n_steps: 0,
        }
    }

    fn add(&mut self, phase: usize, pair: [usize; 2], score: f64, weight: f64) {
        for (who, score) in pair.into_iter().zip([score, 100.0 - score]) {
            let tally = &mut self.tallies[phase][who];
            tally.weight += weight;
            tally.squares += weight * weight;
            tally.sum += weight * score;
            tally.matches += 1;
        }
    }

    fn remember(&mut self, states: Vec<State>) {
        self.n_whole += 1;
        self.n_steps += states.len() - 1;
        self.states.extend(states.into_iter().zip(0..));
        // The last state of a match is its end: nobody can begin there.
        self.states.pop();
        let n_over = self.states.len().saturating_sub(MOST_STATES);
        self.states.drain(..n_over);
    }

    fn mean_length(&self) -> Option<f64> {
        (self.n_whole > 0).then(|| self.n_steps as f64 / self.n_whole as f64)
    }

    /// The phase of a state in a match of some length.
    fn phase(&self, depth: u32, length: f64) -> usize {
        let share = f64::from(depth) / length.max(1.0);
        ((share * N_PHASES as f64) as usize).min(N_PHASES - 1)
    }

    /// Who should play a phase.
    fn best(&self, phase: usize) -> usize {
        let tallies = &self.tallies[phase];
        let first = &tallies[0];
        let is_better = |other: &Tally| {
            let error = first.error().hypot(other.error());
            other.mean() - first.mean() > MARGIN * error
        };
        let others = (1..tallies.len()).filter(|&who| is_better(&tallies[who]));
        let best = others.max_by(|&a, &b| tallies[a].mean().total_cmp(&tallies[b].mean()));
        best.unwrap_or(0)
    }

    fn n_matches(&self) -> u32 {
        let matches = self.tallies.iter().flatten().map(|tally| tally.matches);
        matches.sum::<u32>() / 2
    }
}

impl Bot for AutoBot {
    fn think(
        &mut self,
        state: &State,
        role: RoleId,
        limits: &Limits,
        watch: &mut dyn FnMut(&Report),
    ) -> Decision {
        let mut used = (0, 0);
        // A puzzle has one solution for all: time is better spent on that.
        if !self.is_settled && self.game.n_roles() > 1 {
            if limits.is_told_only() {
                self.compete(limits);
            } else if limits.has_at_least(LEAST_PLAYOUTS, LEAST_TRANSITIONS, LEAST_SECONDS) {
                used = self.compete(&limits.part(3));
            }
        }
        self.is_settled = true;
        let chosen = self.chosen();
        let limits = limits.less(used.0, used.1);
        self.bots[chosen].think(state, role, &limits, watch)
    }

    fn played(&mut self, joint: &JointMove, next: &State) {
        self.is_settled = true;
        self.depth += 1;
        self.bots.iter_mut().for_each(|bot| bot.played(joint, next));
    }

    fn account(&self) -> Option<Account> {
        let chosen = self.chosen();
        let mut account = self.bots[chosen].account()?;
        let of_part = |tallies: &Vec<Tally>| {
            let pairs = self.candidates.iter().zip(tallies);
            pairs
                .map(|(candidate, tally)| (candidate.name.clone(), tally.mean()))
                .collect()
        };
        account
            .techniques
            .push(TechniqueAccount::Contest(ContestAccount {
                chosen: self.candidates[chosen].name.clone(),
                matches: self.trials.n_matches(),
                parts: self.trials.tallies.iter().map(of_part).collect(),
            }));
        Some(account)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_meets_twice_in_each_phase() {
        let trials: Vec<_> = (0..36).map(|trial| schedule(4, trial)).collect();
        for pair in [[0, 1], [0, 3], [2, 3]] {
            for phase in 0..N_PHASES {
                let meetings = trials
                    .iter()
                    .filter(|trial| trial.0 == pair && trial.1 == phase);
                assert_eq!(meetings.count(), 2);
            }
        }
        assert_eq!(schedule(4, 36), ([0, 1], 0, 1), "then with more playouts");
    }

    #[test]
    fn the_first_plays_unless_another_is_clearly_better() {
        let mut trials = Trials::new(3);
        assert_eq!(trials.best(0), 0);
        trials.add(0, [0, 1], 0.0, 32.0);
        trials.add(0, [0, 1], 100.0, 32.0);
        trials.add(0, [0, 1], 0.0, 32.0);
        assert_eq!(trials.best(0), 0, "two of three may be luck");
        for _ in 0..10 {
            trials.add(0, [0, 2], 0.0, 64.0);
        }
        assert_eq!(trials.best(0), 2);
        assert_eq!(trials.best(1), 0, "another phase, another score");
        // By hand: one of three at weight 32, none of ten at weight 64.
        assert!((trials.tallies[0][0].mean() - 3200.0 / 736.0).abs() < 1e-9);
    }
}
