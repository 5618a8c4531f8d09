//! Early cutoffs: simulations that are good enough, or lead nowhere, end early.
//!
//! The first simulations run naturally and are watched. If the goal of the player's role changes gradually on the way, it is
//! believed: later simulations end so many steps outside the tree as the first change of goal was away from the initial
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
//! In: depths and goals of the states of simulations. Out: whether to cut after so many steps, and why or why not.
//!
//! - Finnsson 2012, Generalized Monte-Carlo Tree Search Extensions for General Game Playing (Algorithm 1)

use std::fmt;

use crate::params::{GoalChange, Params};

/// Watches simulations, then decides.
#[derive(Clone)]
pub(crate) struct Cutoff {
    // Constant.
    n_samples: u32,
    threshold: f64,
    min_steps: u32,
    share: f64,
    change: GoalChange,
    is_inner: bool,
    n_roles: u32,
    // The simulation being watched.
    last_goal: Option<f64>,
    deltas: Vec<f64>,
    change_here: Option<u32>,
    is_blind: bool,
    // All of them.
    n_watched: u32,
    instability: f64,
    is_goal_missing: bool,
    first_change: Option<u32>,
    ends: Option<(u32, u32)>,
    verdict: Option<Verdict>,
}

/// What became of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Verdict {
    /// Simulations end by their goals.
    Goals { cut: u32, instability: f64 },
    /// Simulations end as draws.
    Endings { cut: u32, first: u32, last: u32 },
    /// Nothing is cut.
    Never {
        instability: Option<f64>,
        first: u32,
        last: u32,
    },
}

/// How a simulation that is cut is scored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cut {
    /// By the goals of its last state.
    Goals,
    /// As a draw.
    Draw,
}

impl Cutoff {
    pub(crate) fn new(params: &Params, n_roles: usize) -> Cutoff {
        Cutoff {
            n_samples: params.cutoff_samples,
            threshold: params.cutoff_stability,
            min_steps: params.cutoff_min_steps,
            share: params.cutoff_share,
            change: params.cutoff_change,
            is_inner: params.cutoff_inner,
            n_roles: n_roles as u32,
            last_goal: None,
            deltas: Vec::new(),
            change_here: None,
            is_blind: false,
            n_watched: 0,
            instability: 0.0,
            is_goal_missing: false,
            first_change: None,
            ends: None,
            verdict: None,
        }
    }

    /// Whether simulations are still watched.
    pub(crate) fn is_watching(&self) -> bool {
        self.verdict.is_none()
    }

    /// A simulation begins.
    pub(crate) fn begin(&mut self) {
        self.last_goal = None;
        self.deltas.clear();
        self.change_here = None;
        self.is_blind = false;
    }

    /// It is in a state at this depth with this goal of the player's role.
    pub(crate) fn see(&mut self, depth: u32, goal: Option<u8>) {
        let Some(goal) = goal.map(f64::from) else {
            self.is_blind = true;
            return;
        };
        if let Some(last) = self.last_goal {
            self.deltas.push(goal - last);
            if goal != last && self.change_here.is_none() {
                self.change_here = Some(depth);
            }
        }
        self.last_goal = Some(goal);
    }

    /// It has come to a natural end at this depth. After the last one, it is decided.
    pub(crate) fn end(&mut self, depth: u32) {
        if self.is_inner {
            self.deltas.pop();
            self.change_here = self.change_here.filter(|&here| here < depth);
        }
        self.n_watched += 1;
        self.instability += variance(&self.deltas);
        self.is_goal_missing |= self.is_blind;
        let (first, last) = self.ends.unwrap_or((depth, depth));
        self.ends = Some((first.min(depth), last.max(depth)));
        if let Some(here) = self.change_here {
            self.first_change = match (self.first_change, self.change) {
                (Some(before), GoalChange::Earliest) => Some(before.min(here)),
                _ => Some(here),
            };
        }
        if self.n_watched >= self.n_samples {
            self.verdict = Some(self.decide());
        }
    }

    fn decide(&self) -> Verdict {
        let (first, last) = self.ends.unwrap_or_default();
        let instability = self.instability / f64::from(self.n_watched);
        let is_stable = instability > 0.0 && instability < self.threshold && !self.is_goal_missing;
        match self.first_change {
            Some(change) if is_stable => Verdict::Goals {
                cut: change + self.n_roles,
                instability,
            },
            _ if last - first >= self.min_steps && !self.is_inner => Verdict::Endings {
                cut: ending_cut(first, last, self.share),
                first,
                last,
            },
            _ => Verdict::Never {
                instability: (!self.is_goal_missing).then_some(instability),
                first,
                last,
            },
        }
    }

    /// After how many steps outside the tree simulations end from now on, and how they are scored; at least one.
    pub(crate) fn cut_at(&self) -> Option<(u32, Cut)> {
        let (cut, how) = match self.verdict? {
            Verdict::Goals { cut, .. } => (cut, Cut::Goals),
            Verdict::Endings { cut, .. } => (cut, Cut::Draw),
            Verdict::Never { .. } => return None,
        };
        Some((cut.max(self.min_steps).max(1), how))
    }

    /// Whether a simulation ends after so many steps outside the tree.
    #[inline]
    pub(crate) fn cut(&self, playout_steps: u32) -> Option<Cut> {
        if playout_steps < self.min_steps {
            return None;
        }
        match self.verdict? {
            Verdict::Goals { cut, .. } => (playout_steps >= cut).then_some(Cut::Goals),
            Verdict::Endings { cut, .. } => (playout_steps >= cut).then_some(Cut::Draw),
            Verdict::Never { .. } => None,
        }
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

/// What it decided and why, in a line.
impl fmt::Display for Cutoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.verdict {
            None => write!(
                f,
                "watching: {} of {} natural simulations seen",
                self.n_watched, self.n_samples
            ),
            Some(Verdict::Goals { cut, instability }) => write!(
                f,
                "on: goals are stable ({instability:.1}), playouts end after {} steps by their goals",
                cut.max(self.min_steps)
            ),
            Some(Verdict::Endings { cut, first, last }) => write!(
                f,
                "on: matches end at depths {first} to {last}, playouts end after {} steps as draws",
                cut.max(self.min_steps)
            ),
            Some(Verdict::Never {
                instability,
                first,
                last,
            }) => {
                match instability {
                    None => write!(f, "off: some states have no goal")?,
                    Some(0.0) => write!(f, "off: goals never change gradually")?,
                    Some(variance) => write!(f, "off: goals are not stable ({variance:.1})")?,
                }
                write!(f, ", and matches end at depths {first} to {last}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Watches simulations given by the goals of their states; `None` for no goal.
    fn watch(n_roles: usize, simulations: &[&[Option<u8>]]) -> Cutoff {
        let params = Params {
            cutoff_samples: simulations.len() as u32,
            ..Params::default()
        };
        let mut cutoff = Cutoff::new(&params, n_roles);
        for goals in simulations {
            assert!(cutoff.is_watching() && cutoff.cut(1000).is_none());
            cutoff.begin();
            for (depth, &goal) in goals.iter().enumerate() {
                cutoff.see(depth as u32, goal);
            }
            cutoff.end(goals.len() as u32 - 1);
        }
        assert!(!cutoff.is_watching());
        cutoff
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
            Some(Verdict::Endings {
                cut: 30,
                first: 20,
                last: 50
            })
        );
        assert_eq!((cutoff.cut(29), cutoff.cut(30)), (None, Some(Cut::Draw)));
        let (leaves, steps) = (8, (0..).find(|&steps| cutoff.cut(steps).is_some()));
        assert_eq!(leaves + steps.expect("it is cut"), 38);
    }

    #[test]
    fn a_narrow_interval_is_never_cut() {
        let (short, long) = ([Some(0); 20], [Some(0); 29]);
        let cutoff = watch(2, &[&short, &long]);
        let text = "off: goals never change gradually, and matches end at depths 19 to 28";
        assert_eq!(cutoff.to_string(), text);
        assert_eq!(cutoff.cut(1000), None);
    }

    #[test]
    fn stable_goals_come_first() {
        // Changes 0, 10, 10, 0: mean 5, variance 25. The first change is at depth 2.
        let goals = [50, 50, 60, 70, 70].map(Some);
        let cutoff = watch(2, &[&goals]);
        assert_eq!(
            cutoff.verdict,
            Some(Verdict::Goals {
                cut: 4,
                instability: 25.0
            })
        );
        // There are at least ten steps before a cut.
        assert_eq!((cutoff.cut(9), cutoff.cut(10)), (None, Some(Cut::Goals)));
        assert!(
            cutoff
                .to_string()
                .contains("stable (25.0), playouts end after 10 steps")
        );
    }

    #[test]
    fn what_the_last_step_changes_may_not_count() {
        let (late, early) = ([50, 50, 50, 100].map(Some), [50, 60, 60, 100].map(Some));
        let watch = |goals: &[Option<u8>]| {
            let params = Params {
                cutoff_samples: 1,
                cutoff_inner: true,
                ..Params::default()
            };
            let mut cutoff = Cutoff::new(&params, 2);
            cutoff.begin();
            for (depth, &goal) in goals.iter().enumerate() {
                cutoff.see(depth as u32, goal);
            }
            cutoff.end(goals.len() as u32 - 1);
            cutoff.verdict
        };
        let never = |verdict| matches!(verdict, Some(Verdict::Never { .. }));
        assert!(never(watch(&late)) && never(watch(&[Some(0); 100])));
        // Changes 10 and 0: mean 5, variance 25.
        let (cut, instability) = (3, 25.0);
        assert_eq!(watch(&early), Some(Verdict::Goals { cut, instability }));
    }

    #[test]
    fn stability_is_averaged_over_simulations() {
        // Changes 100, −100 and 100: mean 33.3, variance 8888.9. The other has changes of 0 only.
        let wild = [0, 100, 0, 100].map(Some);
        let calm = [50, 50, 50].map(Some);
        let cutoff = watch(2, &[&wild, &calm]);
        assert!((cutoff.instability / 2.0 - 4444.444).abs() < 1e-3);
        let text = "off: goals are not stable (4444.4), and matches end at depths 2 to 3";
        assert_eq!(cutoff.to_string(), text);
    }

    #[test]
    fn goals_must_be_there() {
        let cutoff = watch(2, &[&[Some(50), None, Some(60)]]);
        let text = "off: some states have no goal, and matches end at depths 2 to 2";
        assert_eq!(cutoff.to_string(), text);
    }

    #[test]
    fn the_first_change_is_the_earliest_or_that_of_the_last_sample() {
        let (early, late) = ([50, 60, 60, 60].map(Some), [50, 50, 50, 60].map(Some));
        let cut = |cutoff: &Cutoff| match cutoff.verdict {
            Some(Verdict::Goals { cut, .. }) => cut,
            _ => panic!("it is stable"),
        };
        assert_eq!(cut(&watch(3, &[&early, &late])), 4);
        let mut cutoff = watch(3, &[&early, &late]);
        cutoff.change = GoalChange::Last;
        cutoff.end(3);
        assert_eq!(cut(&cutoff), 6);
    }
}
