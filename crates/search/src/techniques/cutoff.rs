//! Early cutoffs: simulations that are good enough, or lead nowhere, end early.
//!
//! The first simulations run naturally and are watched. If the goal of the player's role changes gradually on the way, it is
//! believed: later simulations end as many steps outside the tree as the first change of goal was away from the initial
//! state, plus one per role, and are scored by the goals. Otherwise, if matches end at quite different depths,
//! simulations end after a part of the interval of these depths and count as a draw. Otherwise nothing is cut. Either
//! way a cut needs a least number of steps outside the tree.
//!
//! Gradually means: the variance of the changes of the goal from state to state, averaged over simulations, is below a
//! threshold, and not zero, which would mean that the goal says nothing. A goal that is not there in all states is not believed.
//!
//! In many games the goal is the same until the last step, and a simulation that is cut tells nothing. The paper does not look
//! at that; with `cutoff_inner` the last step does not count, and simulations are not cut as draws either.
//!
//! In: depths and goals of the states of simulations. Out: whether to cut after a number of steps, and why or why not.
//!
//! - Finnsson 2012, Generalized Monte-Carlo Tree Search Extensions for General Game Playing (Algorithm 1)

use agon_engine::{Game, Goal};

use super::{Ending, Facts, Technique};
use crate::account::{CutoffAccount, CutoffVerdict, TechniqueAccount};
use crate::params::Params;
use crate::simulation::Cut;

/// Natural simulations before cutoffs are decided on, and the instability of goals below which they are used, unless it is
/// zero (Finnsson 2012).
const N_SAMPLES: u32 = 100;
const STABILITY: f64 = 1000.0;
/// Share of the interval of endings after which a simulation is cut (Finnsson 2012).
const SHARE: f64 = 0.33;

/// Watches simulations, then decides.
#[derive(Clone)]
pub(crate) struct Cutoff {
    // Constant.
    n_samples: u32,
    min_steps: u32,
    is_inner: bool,
    n_roles: u32,
    // The simulation being watched.
    watched: Watched,
    // All of them.
    n_watched: u32,
    instability: f64,
    is_goal_missing: bool,
    first_change: Option<u32>,
    ends: Option<(u32, u32)>,
    verdict: Option<CutoffVerdict>,
    /// Simulations that were cut.
    n_cuts: u64,
}

/// Goals of a simulation.
#[derive(Clone, Default)]
struct Watched {
    last_goal: Option<f64>,
    deltas: Vec<f64>,
    /// The depth at which the goal changed first.
    change: Option<u32>,
    /// Whether some state had no goal.
    is_blind: bool,
}

impl Cutoff {
    pub(crate) fn new(params: &Params, n_roles: usize) -> Cutoff {
        Cutoff {
            n_samples: N_SAMPLES,
            min_steps: params.cutoff_min_steps,
            is_inner: params.cutoff_inner,
            n_roles: n_roles as u32,
            watched: Watched::default(),
            n_watched: 0,
            instability: 0.0,
            is_goal_missing: false,
            first_change: None,
            ends: None,
            verdict: None,
            n_cuts: 0,
        }
    }

    /// If simulations may be cut.
    pub(crate) fn for_game(game: &Game, params: &Params) -> Option<Cutoff> {
        params.cutoff.then(|| Cutoff::new(params, game.n_roles()))
    }

    /// Whether simulations are still watched.
    pub(crate) fn is_watching(&self) -> bool {
        self.verdict.is_none()
    }

    /// Natural simulations that are still to be watched.
    pub(crate) fn n_wanted(&self) -> u32 {
        match self.verdict {
            None => self.n_samples - self.n_watched,
            Some(_) => 0,
        }
    }

    /// Simulations were cut.
    pub(crate) fn count(&mut self, n_cuts: u64) {
        self.n_cuts += n_cuts;
    }

    /// The simulation that is watched has come to a natural end at this depth. After the last one, it is decided.
    fn end_watched(&mut self, depth: u32) {
        let watched = &mut self.watched;
        if self.is_inner {
            watched.deltas.pop();
            watched.change = watched.change.filter(|&here| here < depth);
        }
        self.n_watched += 1;
        self.instability += variance(&watched.deltas);
        self.is_goal_missing |= watched.is_blind;
        let (first, last) = self.ends.unwrap_or((depth, depth));
        self.ends = Some((first.min(depth), last.max(depth)));
        if let Some(here) = watched.change {
            let before = self.first_change.unwrap_or(here);
            self.first_change = Some(before.min(here));
        }
        if self.n_watched >= self.n_samples {
            self.verdict = Some(self.decide());
        }
    }

    fn decide(&self) -> CutoffVerdict {
        let (first, last) = self.ends.unwrap_or_default();
        let instability = self.instability / f64::from(self.n_watched);
        let is_stable = instability > 0.0 && instability < STABILITY && !self.is_goal_missing;
        match self.first_change {
            Some(change) if is_stable => CutoffVerdict::Goals {
                cut: change + self.n_roles,
                instability,
            },
            _ if last - first >= self.min_steps && !self.is_inner => CutoffVerdict::Endings {
                cut: ending_cut(first, last, SHARE),
                first,
                last,
            },
            _ => CutoffVerdict::Never {
                instability: (!self.is_goal_missing).then_some(instability),
                first,
                last,
            },
        }
    }

    /// Steps outside the tree after which simulations end from now on, and how they are scored; at least one.
    pub(crate) fn cut_at(&self) -> Option<(u32, Cut)> {
        let (cut, how) = match self.verdict? {
            CutoffVerdict::Goals { cut, .. } => (cut, Cut::Goals),
            CutoffVerdict::Endings { cut, .. } => (cut, Cut::Draw),
            CutoffVerdict::Never { .. } => return None,
        };
        Some((cut.max(self.min_steps).max(1), how))
    }
}

/// The first whole number of steps after a share of the interval of endings.
fn ending_cut(first: u32, last: u32, share: f64) -> u32 {
    first + libm::ceil(share * f64::from(last - first)) as u32
}

/// Mean square distance from the mean.
fn variance(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values
        .iter()
        .map(|value| (value - mean) * (value - mean))
        .sum::<f64>()
        / n
}

impl Technique for Cutoff {
    fn wants_states(&self) -> bool {
        self.is_watching()
    }

    fn wants_goals(&self) -> bool {
        self.is_watching()
    }

    fn begin(&mut self) {
        let watched = &mut self.watched;
        watched.deltas.clear();
        (watched.last_goal, watched.change, watched.is_blind) = (None, None, false);
    }

    fn see_goal(&mut self, depth: u32, goal: Option<Goal>) {
        let watched = &mut self.watched;
        let Some(goal) = goal.map(|goal| f64::from(goal.value())) else {
            watched.is_blind = true;
            return;
        };
        if let Some(last) = watched.last_goal {
            watched.deltas.push(goal - last);
            if goal != last && watched.change.is_none() {
                watched.change = Some(depth);
            }
        }
        watched.last_goal = Some(goal);
    }

    fn end(&mut self, ending: &Ending<'_>) {
        if ending.is_natural && self.is_watching() {
            self.end_watched(ending.depth);
        }
    }

    fn account(&self, _facts: &Facts<'_>) -> TechniqueAccount {
        TechniqueAccount::Cutoff(CutoffAccount {
            verdict: self.verdict,
            steps: self.cut_at().map(|(steps, _)| steps),
            watched: (self.n_watched, self.n_samples),
            cuts: self.n_cuts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Watches simulations given by the goals of their states; `None` for no goal.
    fn watch(n_roles: usize, simulations: &[&[Option<u8>]]) -> Cutoff {
        let mut cutoff = Cutoff::new(&Params::default(), n_roles);
        cutoff.n_samples = simulations.len() as u32;
        for goals in simulations {
            assert!(cutoff.is_watching() && cutoff.cut_at().is_none());
            see(&mut cutoff, goals);
        }
        assert!(!cutoff.is_watching());
        cutoff
    }

    /// A natural simulation through states with these goals.
    fn see(cutoff: &mut Cutoff, goals: &[Option<u8>]) {
        cutoff.begin();
        for (depth, goal) in (0..).zip(goals) {
            let goal = goal.and_then(|goal| Goal::new(i64::from(goal)));
            cutoff.see_goal(depth, goal);
        }
        cutoff.end(&Ending {
            depth: goals.len() as u32 - 1,
            is_natural: true,
            is_scored: true,
            values: &[],
        });
    }

    #[test]
    fn endings_from_20_to_50_cut_at_30() {
        // Matches end at depths 20 to 50 with the goal the same throughout. A simulation that leaves the tree at depth 8 ends
        // at depth 38, which is after 30 steps outside.
        let simulations: Vec<Vec<Option<u8>>> = (20..=50).map(|n| vec![Some(0); n + 1]).collect();
        let simulations: Vec<&[Option<u8>]> = simulations.iter().map(Vec::as_slice).collect();
        let cutoff = watch(2, &simulations);
        assert_eq!(
            cutoff.verdict,
            Some(CutoffVerdict::Endings {
                cut: 30,
                first: 20,
                last: 50
            })
        );
        let (steps, how) = cutoff.cut_at().expect("it is cut");
        assert_eq!((8 + steps, how), (38, Cut::Draw));
    }

    #[test]
    fn a_narrow_interval_is_never_cut() {
        let (short, long) = ([Some(0); 20], [Some(0); 29]);
        let cutoff = watch(2, &[&short, &long]);
        let verdict = CutoffVerdict::Never {
            instability: Some(0.0),
            first: 19,
            last: 28,
        };
        assert_eq!(cutoff.verdict, Some(verdict));
        assert_eq!(cutoff.cut_at(), None);
    }

    #[test]
    fn stable_goals_come_first() {
        // Changes 0, 10, 10, 0: mean 5, variance 25. The first change is at depth 2.
        let goals = [50, 50, 60, 70, 70].map(Some);
        let cutoff = watch(2, &[&goals]);
        assert_eq!(
            cutoff.verdict,
            Some(CutoffVerdict::Goals {
                cut: 4,
                instability: 25.0
            })
        );
        // There are at least ten steps before a cut.
        assert_eq!(cutoff.cut_at(), Some((10, Cut::Goals)));
    }

    #[test]
    fn what_the_last_step_changes_may_not_count() {
        let (late, early) = ([50, 50, 50, 100].map(Some), [50, 60, 60, 100].map(Some));
        let watch = |goals: &[Option<u8>]| {
            let params = Params {
                cutoff_inner: true,
                ..Params::default()
            };
            let mut cutoff = Cutoff::new(&params, 2);
            cutoff.n_samples = 1;
            see(&mut cutoff, goals);
            cutoff.verdict
        };
        let never = |verdict| matches!(verdict, Some(CutoffVerdict::Never { .. }));
        assert!(never(watch(&late)) && never(watch(&[Some(0); 100])));
        // Changes 10 and 0: mean 5, variance 25.
        let (cut, instability) = (3, 25.0);
        assert_eq!(
            watch(&early),
            Some(CutoffVerdict::Goals { cut, instability })
        );
    }

    #[test]
    fn stability_is_averaged_over_simulations() {
        // Changes 100, −100 and 100: mean 33.3, variance 8888.9. The other has changes of 0 only.
        let wild = [0, 100, 0, 100].map(Some);
        let calm = [50, 50, 50].map(Some);
        let cutoff = watch(2, &[&wild, &calm]);
        assert!((cutoff.instability / 2.0 - 4444.444).abs() < 1e-3);
        assert!(matches!(
            cutoff.verdict,
            Some(CutoffVerdict::Never {
                first: 2,
                last: 3,
                ..
            })
        ));
    }

    #[test]
    fn goals_must_be_there() {
        let cutoff = watch(2, &[&[Some(50), None, Some(60)]]);
        let verdict = CutoffVerdict::Never {
            instability: None,
            first: 2,
            last: 2,
        };
        assert_eq!(cutoff.verdict, Some(verdict));
    }

    #[test]
    fn the_first_change_is_the_earliest() {
        let (early, late) = ([50, 60, 60, 60].map(Some), [50, 50, 50, 60].map(Some));
        for simulations in [[&early[..], &late], [&late, &early]] {
            let cutoff = watch(3, &simulations);
            assert!(matches!(
                cutoff.verdict,
                Some(CutoffVerdict::Goals { cut: 4, .. })
            ));
        }
    }
}
