//! What a bot can report about its last search, as values. Words are made where they are printed.

use agon_engine::{JointMove, MoveId};

use crate::params::{NetworkUse, RaveKind};

/// All that a bot can report about its last search, for people who want to look into it.
#[derive(Clone, PartialEq, Debug)]
pub struct Account {
    /// Per role: its moves at the root, best first.
    pub roles: Vec<Vec<MoveAccount>>,
    /// The move that it would make in each role.
    pub best: Vec<MoveId>,
    /// How it expects the match to go on.
    pub line: Vec<JointMove>,
    /// Its tree, if it has one.
    pub tree: Option<TreeAccount>,
    /// What its techniques did.
    pub techniques: Vec<TechniqueAccount>,
}

/// What is known of a move at the root.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MoveAccount {
    /// The move.
    pub mv: MoveId,
    /// How often it was tried.
    pub visits: u64,
    /// Mean value of the role after it, 0 to 100; 0 if it was never tried.
    pub mean: f64,
    /// What it is ranked by, which is the mean unless statistics of later moves are mixed in.
    pub value: f64,
    /// Mean of simulations in which it was made later.
    pub rave: Option<f64>,
    /// Mean of all simulations in which it was made anywhere.
    pub mast: Option<f64>,
    /// How true the formula of the heuristic is for it, 0 to 1.
    pub heuristic: Option<f64>,
    /// The least and the most that is proven to come of it.
    pub bounds: (f64, f64),
}

/// How large a tree is, and what it costs.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct TreeAccount {
    /// States in it.
    pub nodes: u64,
    /// States that were added in this search.
    pub new_nodes: u64,
    /// Memory in use.
    pub bytes: u64,
    /// Steps of the deepest simulation within the tree.
    pub deepest: u32,
    /// Steps of a simulation within the tree, on average.
    pub mean_depth: f64,
    /// Steps of a playout, on average.
    pub mean_playout: f64,
    /// Nanoseconds of selecting and backing up per level of the tree.
    pub ns_per_level: Option<f64>,
    /// Nanoseconds by kind of work of the thread that owns the tree.
    pub time: TimeAccount,
    /// How often memory ran out and nodes with few visits were dropped.
    pub trims: u64,
}

/// Nanoseconds by kind of work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TimeAccount {
    /// Selecting leaves and backing up.
    pub tree: u64,
    /// Running playouts.
    pub rollouts: u64,
    /// Making the states of leaves, and reading what came of playouts.
    pub bookkeeping: u64,
}

/// Whether a technique is at work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// It is.
    On,
    /// It is not in this game.
    Off,
    /// That is not decided yet.
    Undecided,
}

/// What a technique did.
#[derive(Clone, PartialEq, Debug)]
pub enum TechniqueAccount {
    /// A technique of which counts tell all.
    Counts {
        /// Its name.
        name: &'static str,
        /// What it counted, by name.
        counts: Vec<(&'static str, u64)>,
    },
    /// FAST.
    Fast(FastAccount),
    /// FAST has nothing to learn in the game.
    NoFast {
        /// Why.
        reason: &'static str,
    },
    /// The heuristic from the rules.
    Heuristic(HeuristicAccount),
    /// RAVE, GRAVE or AMAF.
    Rave(RaveAccount),
    /// PUCT.
    Puct {
        /// Weight of exploration by the policy.
        exploration: f64,
        /// Whether there is a policy yet.
        is_ready: bool,
    },
    /// Early cutoffs.
    Cutoff(CutoffAccount),
    /// Urgency of unexplored moves.
    Urgency {
        /// Whether it has a say; where the playout policy leads, it has none.
        is_used: bool,
    },
    /// Wins at once in playouts.
    Decisive(DecisiveAccount),
    /// The solver.
    Solver(SolverAccount),
    /// The sweep of single-player games.
    Sweep(SweepAccount),
    /// How playouts were run.
    Evaluation(EvaluationAccount),
    /// The contest of presets on the start clock.
    Contest(ContestAccount),
    /// A network.
    Network(NetworkAccount),
}

impl TechniqueAccount {
    /// The name of the technique.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            TechniqueAccount::Counts { name, .. } => name,
            TechniqueAccount::Fast(_) | TechniqueAccount::NoFast { .. } => "fast",
            TechniqueAccount::Heuristic(_) => "heuristic",
            TechniqueAccount::Rave(rave) => match rave.kind {
                RaveKind::Grave => "grave",
                RaveKind::Amaf => "amaf",
                RaveKind::Rave | RaveKind::Off => "rave",
            },
            TechniqueAccount::Puct { .. } => "puct",
            TechniqueAccount::Cutoff(_) => "cutoff",
            TechniqueAccount::Urgency { .. } => "urgency",
            TechniqueAccount::Decisive(_) => "decisive",
            TechniqueAccount::Solver(_) => "solver",
            TechniqueAccount::Sweep(_) => "sweep",
            TechniqueAccount::Evaluation(_) => "batch",
            TechniqueAccount::Contest(_) => "auto",
            TechniqueAccount::Network(_) => "network",
        }
    }

    /// Whether it is at work.
    #[must_use]
    pub fn status(&self) -> Status {
        let when = |is_on: bool| if is_on { Status::On } else { Status::Off };
        match self {
            TechniqueAccount::Fast(fast) if !fast.is_active => Status::Undecided,
            TechniqueAccount::NoFast { .. } => Status::Off,
            TechniqueAccount::Heuristic(heuristic) => when(heuristic.gates.is_ok()),
            TechniqueAccount::Puct { is_ready, .. } => match is_ready {
                true => Status::On,
                false => Status::Undecided,
            },
            TechniqueAccount::Cutoff(cutoff) => match cutoff.verdict {
                None => Status::Undecided,
                Some(CutoffVerdict::Never { .. }) => Status::Off,
                Some(_) => Status::On,
            },
            TechniqueAccount::Urgency { is_used } => when(*is_used),
            TechniqueAccount::Decisive(decisive) => when(*decisive == DecisiveAccount::On),
            TechniqueAccount::Network(network) => when(network.usage != NetworkUse::None),
            _ => Status::On,
        }
    }
}

/// What FAST learns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FeatureKind {
    /// What types of pieces are worth.
    Types,
    /// What places are worth.
    Cells,
}

/// A feature and its weight.
#[derive(Clone, PartialEq, Debug)]
pub struct FeatureWeight {
    /// A type of piece, or a place.
    pub name: String,
    /// What it is worth to the role.
    pub weight: f64,
}

/// What FAST did.
#[derive(Clone, PartialEq, Debug)]
pub struct FastAccount {
    /// What it learns.
    pub features: FeatureKind,
    /// Whether it is used: some weight is far enough from zero.
    pub is_active: bool,
    /// Simulations that it learned from.
    pub simulations: u64,
    /// Per role: features with their weights, the best first.
    pub weights: Vec<Vec<FeatureWeight>>,
    /// Types of pieces that belong to no role.
    pub unowned: Vec<String>,
}

/// What the heuristic from the rules did.
#[derive(Clone, PartialEq, Debug)]
pub struct HeuristicAccount {
    /// Gates of its formulas, or why there are none.
    pub gates: Result<u64, String>,
    /// States whose moves were evaluated.
    pub states: u64,
    /// Nanoseconds per state, from a sample of them.
    pub ns_per_state: f64,
    /// Share of the time of the search, 0 to 1.
    pub share: f64,
}

/// What RAVE, GRAVE or AMAF did.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RaveAccount {
    /// Which of them.
    pub kind: RaveKind,
    /// Its weight at the root.
    pub weight: f64,
    /// Visits at which it weighs as much as the tree.
    pub k: f64,
}

/// What early cutoffs decided.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum CutoffVerdict {
    /// Simulations end by their goals.
    Goals {
        /// Steps after which they end.
        cut: u32,
        /// How much goals change from state to state.
        instability: f64,
    },
    /// Simulations end as draws.
    Endings {
        /// Steps after which they end.
        cut: u32,
        /// The first depth at which a match ended.
        first: u32,
        /// The last one.
        last: u32,
    },
    /// Nothing is cut.
    Never {
        /// How much goals change from state to state; `None` if some state has no goal.
        instability: Option<f64>,
        /// The first depth at which a match ended.
        first: u32,
        /// The last one.
        last: u32,
    },
}

/// What early cutoffs did.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CutoffAccount {
    /// What was decided, once it was.
    pub verdict: Option<CutoffVerdict>,
    /// Steps after which simulations end, if they do.
    pub steps: Option<u32>,
    /// Natural simulations that were watched, and how many are needed.
    pub watched: (u32, u32),
    /// Simulations that were cut.
    pub cuts: u64,
}

/// Whether wins at once are made and prevented in playouts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecisiveAccount {
    /// They are.
    On,
    /// The game does not ground.
    NotGround,
    /// Wins at once are rare or shared, or it costs too much to see them.
    NotWorthIt,
}

/// What the solver did.
#[derive(Clone, PartialEq, Debug)]
pub struct SolverAccount {
    /// Nodes in which something was proven.
    pub proofs: u64,
    /// Per role: the least and the most that is proven at the root.
    pub bounds: Vec<(f64, f64)>,
}

/// What the sweep of a single-player game did.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SweepAccount {
    /// States of a level that are kept at present.
    pub width: u64,
    /// Whether it is over.
    pub is_done: bool,
    /// Whether it has seen all states.
    pub is_complete: bool,
    /// The best goal that it has found.
    pub best: Option<f64>,
}

/// How playouts were run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EvaluationAccount {
    /// Leaves that were evaluated in the lanes.
    pub in_lanes: u64,
    /// Leaves that were evaluated one by one.
    pub one_by_one: u64,
    /// Why not in the lanes, if they should be.
    pub no_lanes: Option<NoLanes>,
    /// Threads at work.
    pub threads: u64,
    /// Threads that panicked.
    pub panics: u64,
}

/// Why playouts do not run in the lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoLanes {
    /// The game does not ground.
    NotGround,
    /// Playouts look at more than the lanes do.
    LooksBack,
}

/// The contest of presets on the start clock.
#[derive(Clone, PartialEq, Debug)]
pub struct ContestAccount {
    /// The preset that plays.
    pub chosen: String,
    /// Matches of the contest.
    pub matches: u32,
    /// Per part of the match: presets with their mean scores.
    pub parts: Vec<Vec<(String, f64)>>,
}

/// Where a network comes from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NetworkOrigin {
    /// It comes with the program.
    Shipped,
    /// It is that of a model that was named or found.
    Given,
    /// It was learned on the start clock.
    StartClock {
        /// Seconds of training.
        seconds: f64,
    },
}

/// The network that a search goes by, and why.
#[derive(Clone, PartialEq, Debug)]
pub struct NetworkAccount {
    /// What it is used for.
    pub usage: NetworkUse,
    /// Where it comes from.
    pub origin: NetworkOrigin,
    /// Positions of self-play that it was trained on, if that is known.
    pub positions: Option<u64>,
    /// What its ways of use scored against the player without it, where a contest decided.
    pub contest: Vec<NetworkScore>,
}

/// What a way to use a network scored.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NetworkScore {
    /// The way.
    pub usage: NetworkUse,
    /// Matches.
    pub matches: u32,
    /// Mean score, 0 to 100.
    pub score: f64,
}
