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

use std::time::Duration;

use agon_engine::{Game, MoveId, RoleId};
use agon_insight::fuzzy::Evaluator;
use agon_insight::heuristic::{ActionHeuristic, Options};

use crate::guide::{Cost, Guide};
use crate::limits::Stopwatch;
use crate::mast::Mast;
use crate::params::{HeuristicGoals, HeuristicTree, HeuristicUse, Params};
use crate::random::Random;
use crate::report::HeuristicAccount;
use crate::tree::{NodeId, Tree};
use crate::value::Count;
use crate::walker::Walker;

/// So many values are kept at most, and those of a node fill whole vectors of this size.
const MOST_PRIORS: usize = 1 << 24;
const VECTOR: usize = 4;
/// Legal moves of a state, about.
const SOME_MOVES: usize = 8;
/// To evaluate a state is much if it is more than one part in so many of a playout.
const LARGE_SHARE: u64 = 5;
/// One state in so many is timed; roles take turns, so it is an odd number.
const TIMED: u64 = 17;
/// A state that took so many times longer than others was interrupted, which is looked at after a few.
const INTERRUPTED: u32 = 30;
const FEW: u32 = 20;

/// Where the values of a node are, if it is still the one with this hash.
#[derive(Clone, Copy, Default)]
struct Place {
    key: u64,
    start: u32,
    end: u32,
}

/// The heuristic of a game with its scratch memory.
pub(crate) struct Heuristic {
    // Constant.
    params: Params,
    n_roles: usize,
    /// Per role, if its formulas tell anything.
    evaluators: Vec<Option<Evaluator>>,
    /// Per role: gates that are computed for a node, about, and visits that it needs before it is looked at.
    sizes: Vec<u64>,
    due: Vec<u32>,
    /// The factor on these where playouts are short.
    patience: u32,
    /// How it came about, or why there is none.
    about: String,
    /// How moves are drawn in the lanes, if they can be there.
    guide: Option<Guide>,
    // What was found.
    /// Per node and role: where the values of its moves are.
    places: Vec<Place>,
    /// Values of moves, 0 to 100; those of a node fill whole vectors.
    priors: Vec<f32>,
    // Scratch.
    moves: Vec<MoveId>,
    values: Vec<f64>,
    // What it took.
    n_states: u64,
    n_timed: u32,
    time: Duration,
    watch: Stopwatch,
}

impl Heuristic {
    /// The heuristic of a game, if the parameters want one.
    pub(crate) fn new(game: &Game, params: &Params) -> Option<Heuristic> {
        if params.heuristic == HeuristicUse::Off {
            return None;
        }
        let mut heuristic = Heuristic {
            params: params.clone(),
            n_roles: game.n_roles(),
            evaluators: (0..game.n_roles()).map(|_| None).collect(),
            sizes: vec![0; game.n_roles()],
            due: vec![0; game.n_roles()],
            patience: 1,
            about: String::new(),
            guide: None,
            places: Vec::new(),
            priors: Vec::new(),
            moves: Vec::new(),
            values: Vec::new(),
            n_states: 0,
            n_timed: 0,
            time: Duration::ZERO,
            watch: Stopwatch::default(),
        };
        heuristic.about = heuristic.make(game);
        Some(heuristic)
    }

    /// Makes the evaluators; tells how that went.
    fn make(&mut self, game: &Game) -> String {
        let Some(grounded) = game.grounded() else {
            return "none: the game does not ground".to_owned();
        };
        let options = Options {
            p: self.params.heuristic_p,
            all_goals: self.params.heuristic_goals == HeuristicGoals::All,
            blockers: self.params.heuristic_blocked,
            ..Options::default()
        };
        let made = match ActionHeuristic::new(grounded, &options, &|| false) {
            Ok(made) => made,
            Err(error) => return format!("none: {error}"),
        };
        let mut n_gates = 0;
        for role in RoleId::all(game.n_roles()) {
            if made.tells(role) {
                self.evaluators[role.idx()] = Some(made.evaluator(role));
                self.due[role.idx()] = due(self.params.heuristic_visits, made.n_gates(role));
                let per_move = made.n_gates_per_move(role);
                self.sizes[role.idx()] = (made.n_gates(role) + SOME_MOVES * per_move) as u64;
                n_gates += made.n_gates(role);
            }
        }
        self.guide = self.make_guide(game, &made);
        if n_gates == 0 {
            "none: no formula tells one move from another".to_owned()
        } else {
            format!("{n_gates} gates")
        }
    }

    /// How moves are drawn in the lanes: nothing if nobody asks for it, or some formulas are not fit for blocks of states.
    fn make_guide(&self, game: &Game, made: &ActionHeuristic) -> Option<Guide> {
        if self.params.batch == Count::Exactly(1) || !self.looks_at_states() {
            return None;
        }
        let evaluators = RoleId::all(self.n_roles).map(|role| match made.tells(role) {
            true => Some(Some((made.evaluator(role), made.block_evaluator(role)?))),
            false => Some(None),
        });
        let evaluators: Option<Vec<_>> = evaluators.collect();
        let scale = self.params.heuristic_scale / self.params.heuristic_temperature;
        let n_words = game.initial_state().words().len();
        Some(Guide::new(evaluators?, scale, n_words))
    }

    /// How moves are drawn in the lanes, if they can be there.
    pub(crate) fn guide(&self) -> Option<&Guide> {
        self.guide.as_ref()
    }

    /// States were evaluated in the lanes.
    pub(crate) fn add(&mut self, cost: Cost) {
        self.n_states += cost.n_states;
        self.n_timed += cost.n_timed;
        self.time += cost.time;
    }

    /// A playout computes so many gates, about. Where that is little beside what is computed for a node, nodes are looked at later.
    pub(crate) fn compare(&mut self, n_gates_of_playout: u64) {
        let size = self.sizes.iter().copied().max().unwrap_or(0);
        let is_short = n_gates_of_playout > 0 && size > n_gates_of_playout / LARGE_SHARE;
        self.patience = if is_short { 2 } else { 1 };
    }

    /// Whether it draws moves outside the tree, which depend on the state.
    pub(crate) fn looks_at_states(&self) -> bool {
        RoleId::all(self.evaluators.len()).any(|role| self.guides_playout(role))
    }

    /// Whether moves of a role outside the tree are drawn by it.
    #[inline]
    pub(crate) fn guides_playout(&self, role: RoleId) -> bool {
        matches!(
            self.params.heuristic,
            HeuristicUse::Playout | HeuristicUse::Combined
        ) && self.evaluators[role.idx()].is_some()
    }

    /// Whether moves of a role in the tree are valued by it.
    #[inline]
    fn guides_tree(&self, role: usize) -> bool {
        matches!(
            self.params.heuristic,
            HeuristicUse::Tree | HeuristicUse::Combined
        ) && self.evaluators[role].is_some()
    }

    /// Draws a legal move of a role in the state that the walker is in.
    pub(crate) fn draw(
        &mut self,
        role: RoleId,
        walker: &mut Walker,
        mast: Option<&Mast>,
        random: &mut Random,
    ) -> Option<MoveId> {
        self.moves.clear();
        self.moves.extend_from_slice(walker.legal_moves(role));
        if let [] | [_] = self.moves[..] {
            return self.moves.first().copied();
        }
        let evaluator = self.evaluators[role.idx()].as_mut()?;
        self.watch.start(self.n_states.is_multiple_of(TIMED));
        for other in RoleId::all(self.n_roles) {
            if evaluator.reads(other) {
                evaluator.set_moves(other, walker.legal_moves(other));
            }
        }
        evaluator.load(walker.words());
        self.values.clear();
        let values = self.moves.iter().map(|&of| evaluator.value(of));
        self.values.extend(values);
        self.count();
        let chosen = self.gibbs(role, mast, random);
        Some(self.moves[chosen])
    }

    /// One of the moves at hand, by its place.
    fn gibbs(&mut self, role: RoleId, mast: Option<&Mast>, random: &mut Random) -> usize {
        let params = &self.params;
        let scale = params.heuristic_scale / params.heuristic_temperature;
        for (value, &of) in self.values.iter_mut().zip(&self.moves) {
            *value *= scale;
            if let Some(mast) = mast {
                let mean = mast.mean(role.idx(), of).unwrap_or(params.mast_unseen);
                *value += mean / params.mast_temperature;
            }
        }
        let highest = self.values.iter().copied().fold(f64::MIN, f64::max);
        let mut sum = 0.0;
        for value in &mut self.values {
            // Most exponents are equal to the highest or far from it.
            let exponent = *value - highest;
            *value = match exponent {
                0.0 => 1.0,
                _ if exponent < -40.0 => 0.0,
                _ => libm::exp(exponent),
            };
            sum += *value;
        }
        let mut left = random.unit() * sum;
        for (idx, weight) in self.values.iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                return idx;
            }
        }
        self.values.len() - 1
    }

    /// Values of the moves of a role in a node, 0 to 100, if the node has enough visits and they are not all alike.
    #[inline]
    pub(crate) fn prior(&mut self, tree: &Tree, node: NodeId, role: usize) -> Option<&[f32]> {
        let is_due = tree.node(node).visits >= self.due[role].saturating_mul(self.patience)
            && tree.span(node, role).len() > 1
            && self.guides_tree(role);
        if !is_due {
            return None;
        }
        let at = node.idx() * self.n_roles + role;
        let key = tree.node(node).hash;
        if self.places.get(at).is_none_or(|place| place.key != key) {
            self.weigh(tree, node, role);
        }
        let Place { start, end, .. } = self.places[at];
        (end > start).then(|| &self.priors[start as usize..end as usize])
    }

    /// Values the moves of a role in a node; there are none if they are all alike.
    #[cold]
    fn weigh(&mut self, tree: &Tree, node: NodeId, role: usize) {
        self.evaluate(tree, node, role);
        if self.priors.len() >= MOST_PRIORS {
            self.priors.clear();
            self.places.clear();
        }
        let at = node.idx() * self.n_roles + role;
        if at >= self.places.len() {
            let n = (at + 1).next_power_of_two();
            self.places.resize(n, Place::default());
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
        self.places[at] = Place {
            key: tree.node(node).hash,
            start,
            end: self.priors.len() as u32,
        };
    }

    /// How true the formulas of the moves of a role in a node are.
    fn evaluate(&mut self, tree: &Tree, node: NodeId, role: usize) {
        let Some(evaluator) = &mut self.evaluators[role] else {
            return;
        };
        self.watch.start(self.n_states.is_multiple_of(TIMED));
        for other in RoleId::all(self.n_roles) {
            if evaluator.reads(other) {
                let edges = tree.edges(tree.span(node, other.idx())).iter();
                self.moves.clear();
                self.moves.extend(edges.map(|edge| edge.of));
                evaluator.set_moves(other, &self.moves);
            }
        }
        evaluator.load(tree.node(node).state.words());
        self.values.clear();
        let edges = tree.edges(tree.span(node, role)).iter();
        self.values
            .extend(edges.map(|edge| evaluator.value(edge.of)));
        self.count();
    }

    /// A state was evaluated. One that took very much longer than others was interrupted, and its time says nothing.
    fn count(&mut self) {
        self.watch.stop();
        if self.n_states.is_multiple_of(TIMED) {
            let time = std::mem::take(&mut self.watch).total();
            let mean = self.time / self.n_timed.max(1);
            if self.n_timed < FEW || time < mean * INTERRUPTED {
                self.time += time;
                self.n_timed += 1;
            }
        }
        self.n_states += 1;
    }

    /// How true the formulas of the moves of a role in a node are, for people.
    pub(crate) fn raw(&mut self, tree: &Tree, node: NodeId, role: usize) -> Option<Vec<f64>> {
        self.evaluators[role].as_ref()?;
        let kept = (self.n_states, self.n_timed, self.time);
        self.evaluate(tree, node, role);
        (self.n_states, self.n_timed, self.time) = kept;
        Some(self.values.clone())
    }

    /// Counts anew.
    pub(crate) fn begin(&mut self) {
        (self.n_states, self.n_timed, self.time) = (0, 0, Duration::ZERO);
    }

    /// What it cost of this time.
    pub(crate) fn account(&self, time: Duration) -> Option<HeuristicAccount> {
        let ns_per_state = self.time.as_nanos() as f64 / f64::from(self.n_timed.max(1));
        let share = ns_per_state * self.n_states as f64 / time.as_nanos().max(1) as f64;
        (self.n_timed > 0).then_some(HeuristicAccount {
            states: self.n_states,
            ns_per_state,
            share: share.min(1.0),
        })
    }

    /// What it is and what it cost of this time, in words.
    pub(crate) fn note(&self, time: Duration) -> String {
        match self.account(time) {
            None => self.about.clone(),
            Some(cost) => format!(
                "{}; {} states evaluated, {:.0} ns each, {:.1} % of the time",
                self.about,
                cost.states,
                cost.ns_per_state,
                100.0 * cost.share
            ),
        }
    }
}

/// Visits that a node needs before it is looked at: the more, the larger the formulas are.
fn due(visits: u32, n_gates: usize) -> u32 {
    let thousands = n_gates / 1000;
    let factor = 1 + thousands + thousands.saturating_mul(thousands) / 4;
    visits.saturating_mul(u32::try_from(factor).unwrap_or(u32::MAX))
}

/// The weight of the heuristic in a state with so many visits.
#[inline]
pub(crate) fn beta(k: f64, visits: u32) -> f64 {
    (k / (3.0 * f64::from(visits) + k)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heuristic(set: &[(&str, &str)]) -> Heuristic {
        let mut params = Params::default();
        for (name, value) in set {
            params.set(name, value).expect("it can be set");
        }
        Heuristic {
            params,
            n_roles: 1,
            evaluators: vec![None],
            sizes: vec![0],
            due: vec![0],
            patience: 1,
            about: String::new(),
            guide: None,
            places: Vec::new(),
            priors: Vec::new(),
            moves: vec![MoveId(0), MoveId(1), MoveId(2)],
            values: Vec::new(),
            n_states: 0,
            n_timed: 0,
            time: Duration::ZERO,
            watch: Stopwatch::default(),
        }
    }

    /// How often each of three moves with these values is drawn.
    fn shares(set: &[(&str, &str)], values: [f64; 3], mast: Option<&Mast>) -> [f64; 3] {
        let mut heuristic = heuristic(set);
        let mut random = Random::new(1);
        let mut shares = [0.0; 3];
        for _ in 0..20_000 {
            heuristic.values = values.to_vec();
            shares[heuristic.gibbs(RoleId(0), mast, &mut random)] += 1.0 / 20_000.0;
        }
        shares
    }

    fn assert_near(shares: [f64; 3], expected: [f64; 3]) {
        let mut pairs = shares.iter().zip(expected);
        let is_near = pairs.all(|(one, other)| (one - other).abs() < 0.012);
        assert!(is_near, "{shares:?} is not {expected:?}");
    }

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

    #[test]
    fn gibbs_draws_as_by_hand() {
        // Exponents 1, 2 and 0 at τ = 1: weights 1 : e : 1/e.
        let expected = [0.2447, 0.6652, 0.0900];
        assert_near(shares(&[], [0.01, 0.02, 0.0], None), expected);
        let warm = [("heuristic_temperature", "2"), ("heuristic_scale", "200")];
        assert_near(shares(&warm, [0.01, 0.02, 0.0], None), expected);
        // What wins at once is played, and of what is alike any.
        assert_near(shares(&[], [0.03, 0.97, 0.03], None), [0.0, 1.0, 0.0]);
        assert_near(shares(&[], [0.0, 0.0, 0.0], None), [1.0 / 3.0; 3]);
    }

    #[test]
    fn exponents_of_mast_add_up() {
        // Means 50, 40 and 60 at τ = 10 say 1 : 1/e : e; the heuristic says 1 : e : 1, together 1 : 1 : e.
        let mut mast = Mast::new(&Params::default(), 1);
        for (of, mean) in [(0, 50.0), (1, 40.0), (2, 60.0)] {
            mast.add(0, MoveId(of), mean);
        }
        let drawn = shares(&[], [0.0, 0.01, 0.0], Some(&mast));
        assert_near(drawn, [0.2119, 0.2119, 0.5761]);
    }
}
