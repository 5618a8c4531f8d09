//! Action heuristics from the rules, at work in a search.
//!
//! Outside the tree a move is drawn by the Gibbs distribution `exp(s · H / τ) / Σ exp(s · H / τ)` over the legal moves, H being how
//! true its formula is in the state. The paper does not say how H is scaled there; with s = 100, the range of goals that it
//! names for the tree, a move that wins at once is practically certain and small differences count little, which fits what it
//! reports. With MAST the exponents add up. In the tree the value of a move is `β · H + (1 − β) · Q` with
//! `β = sqrt(k / (3 N + k))`, H being scaled to 0 to 100, and of moves never tried the one with the highest H comes first.
//! The paper's players spread H over 0 to 100 in each state; taken as it is, it makes differences of a few points (docs/HEURISTICS.md).
//! Most nodes of a tree are visited once or twice: a node is evaluated only when it has a few visits, so that this costs
//! next to nothing.
//!
//! In: a state with its legal moves. Out: moves, values of moves; an account of what it cost.
//!
//! - Trutman and Schiffel 2015, Creating Action Heuristics for General Game Playing Agents

use agon_engine::{Game, MoveId, RoleId};
use agon_insight::fuzzy::Evaluator;
use agon_insight::heuristic::{ActionHeuristic, Options};

use super::{Facts, StateView, Technique};
use crate::account::{HeuristicAccount, TechniqueAccount};
use crate::limits::Stopwatch;
use crate::params::{HeuristicTree, HeuristicUse, Params};
use crate::techniques::rules_policy::{Cost, RulesPolicy};
use crate::tree::{NodeId, Tree};
use crate::value::Count;

/// Most values that are kept; those of a node fill whole vectors of this size.
const MOST_PRIORS: usize = 1 << 24;
const VECTOR: usize = 4;
/// Legal moves of a state, about.
const SOME_MOVES: usize = 8;
/// To evaluate a state is much if it is more than one part in this many of a playout.
const LARGE_SHARE: u64 = 5;
/// One state in this many is timed; roles take turns, so it is an odd number.
const TIMED: u64 = 17;
/// A state that took this many times longer than others was interrupted, which is looked at after a few.
const INTERRUPTED: u32 = 30;
const FEW: u32 = 20;
/// How true a fluent is that holds, in the fuzzy logic (Trutman and Schiffel 2015).
const HELD: f64 = 0.97;
/// Visits that a node needs before it is looked at; more where formulas are large.
const NODE_VISITS: u32 = 4;

/// The heuristic of a game with its scratch memory.
#[derive(Clone)]
pub(crate) struct Heuristic {
    params: Params,
    formulas: Formulas,
    // What was found.
    /// Per node and role: where the values of its moves are, if they were computed.
    places: Vec<Option<(u32, u32)>>,
    /// Values of moves, 0 to 100; those of a node fill whole vectors.
    priors: Vec<f32>,
    /// The factor on the visits that nodes need, where playouts are short.
    patience: u32,
    // Scratch.
    moves: Vec<MoveId>,
    values: Vec<f64>,
    // What it took.
    cost: Cost,
    watch: Stopwatch,
}

/// The formulas of a game.
#[derive(Clone)]
struct Formulas {
    /// Per role, if its formulas tell anything.
    evaluators: Vec<Option<Evaluator>>,
    /// Per role: gates that are computed for a node, about, and visits that it needs before it is looked at.
    sizes: Vec<u64>,
    due: Vec<u32>,
    /// Gates of all, or why there are none.
    gates: Result<u64, String>,
    /// How moves are drawn in the lanes, if they can be there.
    in_lanes: Option<RulesPolicy>,
}

impl Formulas {
    fn new(game: &Game, params: &Params) -> Formulas {
        let n_roles = game.n_roles();
        let mut formulas = Formulas {
            evaluators: vec![None; n_roles],
            sizes: vec![0; n_roles],
            due: vec![0; n_roles],
            gates: Ok(0),
            in_lanes: None,
        };
        formulas.gates = formulas.make(game, params);
        formulas
    }

    /// Makes the evaluators; returns how many gates they have.
    fn make(&mut self, game: &Game, params: &Params) -> Result<u64, String> {
        let grounded = game.grounded().ok_or("the game does not ground")?;
        let options = Options {
            p: HELD,
            ..Options::default()
        };
        let made = ActionHeuristic::new(grounded, &options, &|| false);
        let made = made.map_err(|error| error.to_string())?;
        let mut n_gates = 0;
        for role in RoleId::all(game.n_roles()) {
            if made.tells(role) {
                self.evaluators[role.idx()] = Some(made.evaluator(role));
                self.due[role.idx()] = due(NODE_VISITS, made.n_gates(role));
                let per_move = made.n_gates_per_move(role);
                self.sizes[role.idx()] = (made.n_gates(role) + SOME_MOVES * per_move) as u64;
                n_gates += made.n_gates(role) as u64;
            }
        }
        if n_gates == 0 {
            return Err("no formula tells one move from another".to_owned());
        }
        if params.batch != Count::Exactly(1) && is_in_playouts(params) {
            self.in_lanes = in_lanes(game, &made, params);
        }
        Ok(n_gates)
    }
}

/// Whether moves are drawn by it outside the tree.
fn is_in_playouts(params: &Params) -> bool {
    matches!(
        params.heuristic,
        HeuristicUse::Playout | HeuristicUse::Combined
    )
}

/// How moves are drawn in the lanes; nothing if some formulas are not fit for blocks of states.
fn in_lanes(game: &Game, made: &ActionHeuristic, params: &Params) -> Option<RulesPolicy> {
    let evaluators = RoleId::all(game.n_roles()).map(|role| match made.tells(role) {
        true => Some(Some((made.evaluator(role), made.block_evaluator(role)?))),
        false => Some(None),
    });
    let evaluators: Option<Vec<_>> = evaluators.collect();
    let scale = params.heuristic_scale / params.heuristic_temperature;
    let n_words = game.initial_state().words().len();
    Some(RulesPolicy::new(evaluators?, scale, n_words))
}

impl Heuristic {
    /// The heuristic of a game, if the parameters want one.
    pub(crate) fn for_game(game: &Game, params: &Params) -> Option<Heuristic> {
        (params.heuristic != HeuristicUse::Off)
            .then(|| Heuristic::with(Formulas::new(game, params), params))
    }

    fn with(formulas: Formulas, params: &Params) -> Heuristic {
        Heuristic {
            params: params.clone(),
            formulas,
            places: Vec::new(),
            priors: Vec::new(),
            patience: 1,
            moves: Vec::new(),
            values: Vec::new(),
            cost: Cost::default(),
            watch: Stopwatch::default(),
        }
    }

    /// How moves are drawn in the lanes, if they can be there.
    pub(crate) fn in_lanes(&self) -> Option<&RulesPolicy> {
        self.formulas.in_lanes.as_ref()
    }

    /// States were evaluated in the lanes.
    pub(crate) fn add(&mut self, cost: Cost) {
        self.cost.n_states += cost.n_states;
        self.cost.n_timed += cost.n_timed;
        self.cost.time += cost.time;
    }

    /// Counts anew.
    pub(crate) fn begin_search(&mut self) {
        self.cost = Cost::default();
    }

    /// The nodes of the tree have other places now.
    pub(crate) fn forget_nodes(&mut self) {
        self.places.clear();
        self.priors.clear();
    }

    /// A playout computes this number of gates, about. Where that is little beside what is computed for a node, nodes are
    /// looked at later.
    pub(crate) fn compare(&mut self, n_gates_of_playout: u64) {
        let size = self.formulas.sizes.iter().copied().max().unwrap_or(0);
        let is_short = n_gates_of_playout > 0 && size > n_gates_of_playout / LARGE_SHARE;
        self.patience = if is_short { 2 } else { 1 };
    }

    /// Whether moves of a role outside the tree are drawn by it.
    fn guides_playout(&self, role: usize) -> bool {
        is_in_playouts(&self.params) && self.formulas.evaluators[role].is_some()
    }

    /// Whether moves of a role in the tree are valued by it.
    #[inline]
    fn guides_tree(&self, role: usize) -> bool {
        matches!(
            self.params.heuristic,
            HeuristicUse::Tree | HeuristicUse::Combined
        ) && self.formulas.evaluators[role].is_some()
    }

    /// Values of the moves of a role in a node, 0 to 100, if the node has enough visits and they are not all alike.
    #[inline]
    pub(crate) fn prior(&mut self, tree: &Tree, node: NodeId, role: usize) -> Option<&[f32]> {
        let due = self.formulas.due[role].saturating_mul(self.patience);
        let is_due =
            tree.node(node).visits >= due && tree.has_choice(node, role) && self.guides_tree(role);
        if !is_due {
            return None;
        }
        let at = node.idx() * tree.n_roles() + role;
        if self.places.get(at).copied().flatten().is_none() {
            self.weigh(tree, node, role);
        }
        let (start, end) = self.places[at]?;
        (end > start).then(|| &self.priors[start as usize..end as usize])
    }

    /// Values the moves of a role in a node; there are none if they are all alike.
    #[cold]
    fn weigh(&mut self, tree: &Tree, node: NodeId, role: usize) {
        self.evaluate(tree, node, role);
        if self.priors.len() >= MOST_PRIORS {
            self.forget_nodes();
        }
        let at = node.idx() * tree.n_roles() + role;
        if at >= self.places.len() {
            self.places.resize((at + 1).next_power_of_two(), None);
        }
        let start = self.priors.len() as u32;
        let lowest = self.values.iter().copied().fold(f64::MAX, f64::min);
        let highest = self.values.iter().copied().fold(f64::MIN, f64::max);
        if highest > lowest {
            let value = |value: f64| match self.params.heuristic_tree {
                HeuristicTree::Range => 100.0 * (value - lowest) / (highest - lowest),
                HeuristicTree::Raw => 100.0 * value,
            };
            let values = self.values.iter().map(|&raw| value(raw) as f32);
            self.priors.extend(values);
            let whole = self.priors.len().next_multiple_of(VECTOR);
            self.priors.resize(whole, 0.0);
        }
        self.places[at] = Some((start, self.priors.len() as u32));
    }

    /// How true the formulas of the moves of a role in a node are.
    fn evaluate(&mut self, tree: &Tree, node: NodeId, role: usize) {
        let Some(evaluator) = &mut self.formulas.evaluators[role] else {
            return;
        };
        self.watch.start(self.cost.n_states.is_multiple_of(TIMED));
        for other in RoleId::all(tree.n_roles()) {
            if evaluator.reads(other) {
                self.moves.clear();
                self.moves.extend(tree.legal_moves(node, other.idx()));
                evaluator.set_moves(other, &self.moves);
            }
        }
        evaluator.load(tree.state(node));
        self.values.clear();
        let moves = tree.legal_moves(node, role);
        self.values.extend(moves.map(|mv| evaluator.value(mv)));
        self.count();
    }

    /// A state was evaluated. One that took very much longer than others was interrupted, and its time says nothing.
    fn count(&mut self) {
        self.watch.stop();
        let cost = &mut self.cost;
        if cost.n_states.is_multiple_of(TIMED) {
            let time = std::mem::take(&mut self.watch).total();
            let mean = cost.time / cost.n_timed.max(1);
            if cost.n_timed < FEW || time < mean * INTERRUPTED {
                cost.time += time;
                cost.n_timed += 1;
            }
        }
        cost.n_states += 1;
    }

    /// How true the formulas of the moves of a role in a node are, for people.
    pub(crate) fn raw(&self, tree: &Tree, node: NodeId, role: usize) -> Option<Vec<f64>> {
        let mut evaluator = self.formulas.evaluators[role].clone()?;
        for other in RoleId::all(tree.n_roles()) {
            if evaluator.reads(other) {
                let moves: Vec<MoveId> = tree.legal_moves(node, other.idx()).collect();
                evaluator.set_moves(other, &moves);
            }
        }
        evaluator.load(tree.state(node));
        let moves = tree.legal_moves(node, role);
        Some(moves.map(|mv| evaluator.value(mv)).collect())
    }
}

impl Technique for Heuristic {
    fn is_policy(&self) -> bool {
        is_in_playouts(&self.params) && self.formulas.gates.is_ok()
    }

    fn looks_back(&self) -> bool {
        self.is_policy() && self.formulas.in_lanes.is_none()
    }

    fn stand(&mut self, state: &StateView<'_>) {
        for (role, moves) in state.legal.iter().enumerate() {
            if moves.len() < 2 || !self.guides_playout(role) {
                continue;
            }
            let Some(evaluator) = &mut self.formulas.evaluators[role] else {
                continue;
            };
            self.watch.start(self.cost.n_states.is_multiple_of(TIMED));
            for other in RoleId::all(state.legal.len()) {
                if evaluator.reads(other) {
                    evaluator.set_moves(other, &state.legal[other.idx()]);
                }
            }
            evaluator.load(state.words);
            self.count();
        }
    }

    /// `s · H / τ` of its own temperature, in the goal points of the policy.
    fn add_values(&mut self, role: RoleId, moves: &[MoveId], values: &mut [f32]) {
        if !self.guides_playout(role.idx()) {
            return;
        }
        let Some(evaluator) = &mut self.formulas.evaluators[role.idx()] else {
            return;
        };
        let params = &self.params;
        let scale = params.heuristic_scale / params.heuristic_temperature;
        let scale = scale * params.mast_temperature;
        for (mv, value) in moves.iter().zip(values) {
            *value += (scale * evaluator.value(*mv)) as f32;
        }
    }

    fn account(&self, facts: &Facts<'_>) -> TechniqueAccount {
        let Cost {
            n_states,
            n_timed,
            time,
        } = self.cost;
        let ns_per_state = time.as_nanos() as f64 / f64::from(n_timed.max(1));
        let all = facts.time.as_nanos().max(1) as f64;
        TechniqueAccount::Heuristic(HeuristicAccount {
            gates: self.formulas.gates.clone(),
            states: n_states,
            ns_per_state,
            share: (ns_per_state * n_states as f64 / all).min(1.0),
        })
    }
}

/// Visits that a node needs before it is looked at: the more, the larger the formulas are.
fn due(visits: u32, n_gates: usize) -> u32 {
    let thousands = n_gates / 1000;
    let factor = 1 + thousands + thousands.saturating_mul(thousands) / 4;
    visits.saturating_mul(u32::try_from(factor).unwrap_or(u32::MAX))
}

/// The weight of the heuristic in a state with this number of visits.
#[inline]
pub(crate) fn beta(k: f64, visits: u32) -> f64 {
    (k / (3.0 * f64::from(visits) + k)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beta_is_as_by_hand() {
        // k = 20: all at first, a half at 20 visits, sqrt(1/151) at 1000.
        assert_eq!(beta(20.0, 0), 1.0);
        assert_eq!(beta(20.0, 20), 0.5);
        assert!((beta(20.0, 1000) - 0.081_378_8).abs() < 1e-6);
    }

    #[test]
    fn large_formulas_are_looked_at_later() {
        assert_eq!(
            [0, 999, 1000, 6389].map(|gates| due(4, gates)),
            [4, 4, 8, 64]
        );
        assert_eq!(due(0, 6389), 0);
        assert_eq!(due(1_000_000, usize::MAX / 2), u32::MAX);
    }
}
