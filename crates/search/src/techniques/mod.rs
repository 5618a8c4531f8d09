//! Techniques of search control: one per file, all in one list.
//!
//! A technique sees what simulations were worth (`observe`), says what moves are worth in playouts (`add_values` in one state,
//! `add_to` for the lanes), forgets as the match goes on (`decay`) and reports what it did as values (`account`). What
//! belongs to selection in the tree is in `select`, which asks RAVE, PUCT, urgency and the heuristic for their part of
//! the formula.
//!
//! A new technique is a file here, its parameters, and a line in the list of [`Techniques`].

pub(crate) mod cutoff;
pub(crate) mod fast;
pub(crate) mod heuristic;
pub(crate) mod mast;
pub(crate) mod nst;
pub(crate) mod ppa;
pub(crate) mod puct;
pub(crate) mod rave;
pub(crate) mod rules_policy;
pub(crate) mod urgency;

use std::time::Duration;

use agon_engine::{Game, Goal, MoveId, RoleId};

use crate::account::TechniqueAccount;
use crate::lane_policy::LanePolicy;
use crate::params::Params;
use crate::simulation::{Results, Simulation};
use crate::tree::{NodeId, Tree};

/// What a technique can do; unless it says otherwise, nothing.
pub(crate) trait Technique {
    /// Whether it has a say in how moves are drawn in playouts.
    fn is_policy(&self) -> bool {
        false
    }

    /// Whether what it says depends on more than the lanes know, so that playouts run one by one.
    fn looks_back(&self) -> bool {
        false
    }

    /// Whether it must see the states of whole simulations that run one by one, from the root on.
    fn wants_states(&self) -> bool {
        false
    }

    /// Whether it must see the goals in them of the role that the search is for.
    fn wants_goals(&self) -> bool {
        false
    }

    /// A simulation begins.
    fn begin(&mut self) {}

    /// It is in this state.
    fn see(&mut self, _words: &[u64]) {}

    /// It is at this depth, where the role has this goal.
    fn see_goal(&mut self, _depth: u32, _goal: Option<Goal>) {}

    /// A simulation that runs one by one has ended.
    fn end(&mut self, _ending: &Ending<'_>) {}

    /// Moves are going to be chosen in this state.
    fn stand(&mut self, _state: &StateView<'_>) {}

    /// Adds what the moves of a role are worth in the state at hand, in goal points.
    fn add_values(&mut self, _role: RoleId, _moves: &[MoveId], _values: &mut [f32]) {}

    /// Adds what moves are worth in the lanes.
    fn add_to(&self, _policy: &mut LanePolicy) {}

    /// Learns from the simulations of a leaf.
    fn observe(&mut self, _tree: &mut Tree, _simulation: &Simulation<'_>) {}

    /// Learns from all that came back together.
    fn observe_all(&mut self, _results: &Results) {}

    /// The match went on by a move: what was learned before may count less.
    fn decay(&mut self) {}

    /// What it did.
    fn account(&self, facts: &Facts<'_>) -> TechniqueAccount;
}

/// What techniques may want to know of a search to report on it.
pub(crate) struct Facts<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) root: NodeId,
    pub(crate) time: Duration,
}

/// A state in which moves are chosen.
pub(crate) struct StateView<'a> {
    pub(crate) words: &'a [u64],
    /// The moves of the simulation so far, step by step, in the order of the roles.
    pub(crate) record: &'a [MoveId],
    /// The legal moves of each role.
    pub(crate) legal: &'a [Vec<MoveId>],
}

/// How a simulation ended.
pub(crate) struct Ending<'a> {
    pub(crate) depth: u32,
    /// Whether it came to the end of the match.
    pub(crate) is_natural: bool,
    /// Whether its values come from goals; otherwise it counts as a draw.
    pub(crate) is_scored: bool,
    pub(crate) values: &'a [f64],
}

/// Makes [`Techniques`] of its list.
macro_rules! techniques {
    ($($name:ident: $technique:ty,)+) => {
        /// The techniques of a search, in the order in which they have their say.
        #[derive(Clone)]
        pub(crate) struct Techniques {
            $(pub(crate) $name: Option<$technique>,)+
        }

        impl Techniques {
            /// Those that the parameters ask for.
            pub(crate) fn new(game: &Game, params: &Params) -> Techniques {
                Techniques {
                    $($name: <$technique>::for_game(game, params),)+
                }
            }

            /// None.
            #[cfg(test)]
            pub(crate) fn none() -> Techniques {
                Techniques {
                    $($name: None,)+
                }
            }

            /// All of them.
            pub(crate) fn all(&self) -> impl Iterator<Item = &dyn Technique> {
                fn one<T: Technique>(technique: &Option<T>) -> Option<&dyn Technique> {
                    technique.as_ref().map(|technique| technique as _)
                }
                [$(one(&self.$name),)+].into_iter().flatten()
            }

            /// The same, to be changed.
            pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut dyn Technique> {
                fn one<T: Technique>(technique: &mut Option<T>) -> Option<&mut dyn Technique> {
                    technique.as_mut().map(|technique| technique as _)
                }
                [$(one(&mut self.$name),)+].into_iter().flatten()
            }
        }
    };
}

techniques! {
    mast: mast::Mast,
    nst: nst::Nst,
    ppa: ppa::Ppa,
    fast: fast::Fast,
    heuristic: heuristic::Heuristic,
    rave: rave::Rave,
    cutoff: cutoff::Cutoff,
}

impl Techniques {
    /// Whether some technique has a say in how moves are drawn in playouts.
    pub(crate) fn has_policy(&self) -> bool {
        self.all().any(Technique::is_policy)
    }
}
