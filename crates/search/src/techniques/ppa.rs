//! PPA, playout policy adaptation: after each playout the policy makes its moves more likely, and those that were not made
//! less likely.
//!
//! Each move of a role has a weight w, 0 at first. A playout draws a move m with the chance `p(m) = exp(w(m)) / Σ exp(w)` over
//! the legal moves. When a playout is over, the weight of each of its moves rises by α · v, and the weights of all moves that were
//! legal there, this one too, fall by α · v · p, where v is the payoff of the role between 0 and 1. All roles learn, each by its own
//! payoff; the chances are those of the policy that the playout began with.
//!
//! A move may be good after some moves and bad after others: an n-gram, a move with the joint moves of the one or two steps before
//! it, has a weight too. The weight of a move in a state is the mean of the weights of the n-grams that it would end, itself among
//! them, and all of them are adapted.
//!
//! In: playouts, with the legal moves of their states. Out: values of moves. Playouts run one by one, because the lanes know neither
//! the moves before nor the legal moves of a playout that is over.
//!
//! - Cazenave 2015, Playout Policy Adaptation for Games
//! - Cazenave 2016, Playout Policy Adaptation with Move Features
//! - Sironi, Cazenave and Winands 2021, Enhancing Playout Policy Adaptation for General Game Playing (all roles by their payoffs,
//!   n-grams, discounted payoffs)

use agon_engine::{Game, MoveId, RoleId};
use rustc_hash::FxHashMap;

use super::nst::{MOST_GRAMS, context, key};
use super::{Facts, StateView, Technique};
use crate::account::TechniqueAccount;
use crate::params::{Params, PlayoutKind};
use crate::simulation::{Made, Simulation};
use crate::tree::Tree;

/// The step of adaptation.
const ALPHA: f32 = 0.32;
/// A goal of 100 is a payoff of 1.
const GOAL_POINTS: f64 = 100.0;

/// Weights of moves and n-grams.
#[derive(Clone)]
pub(crate) struct Ppa {
    n_roles: usize,
    /// A weight of 1 is worth this number of goal points to the Gibbs distribution of the playout policy.
    points: f32,
    weights: FxHashMap<u64, f32>,
    /// The joint moves before the state at hand.
    context: Context,
    /// The playout at hand: its states.
    states: Vec<Context>,
    /// Per state and role: where its legal moves end.
    ends: Vec<u32>,
    legal: Vec<MoveId>,
    // Scratch: chances, and what changes.
    chances: Vec<f32>,
    changes: Vec<(u64, f32)>,
}

/// The last joint move and the last two; 0 where there are none. A move alone is an n-gram after nothing.
type Context = [u64; 2];

impl Ppa {
    fn new(params: &Params, n_roles: usize) -> Ppa {
        Ppa {
            n_roles,
            points: params.mast_temperature as f32,
            weights: FxHashMap::default(),
            context: [0; 2],
            states: Vec::new(),
            ends: Vec::new(),
            legal: Vec::new(),
            chances: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// If playouts go by it.
    pub(crate) fn for_game(game: &Game, params: &Params) -> Option<Ppa> {
        (params.playout == PlayoutKind::Ppa).then(|| Ppa::new(params, game.n_roles()))
    }

    /// The weight of a move of a role.
    fn weight(&self, context: &Context, role: usize, mv: MoveId) -> f32 {
        let (mut sum, mut n) = (0.0, 0.0);
        for key in grams(context, role, mv) {
            sum += self.weights.get(&key).copied().unwrap_or(0.0);
            n += 1.0;
        }
        sum / n
    }

    /// The legal moves of a role in a state of the playout.
    fn legal(&self, state: usize, role: usize) -> std::ops::Range<usize> {
        let at = state * self.n_roles + role;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        start as usize..self.ends[at] as usize
    }

    /// Adapts the policy to a playout that was worth this much to each role.
    fn adapt(&mut self, made: &[Made], payoffs: impl Fn(usize) -> f32) {
        let mut changes = std::mem::take(&mut self.changes);
        let mut chances = std::mem::take(&mut self.chances);
        changes.clear();
        for (at, made) in made.iter().enumerate() {
            let (state, role) = (at / self.n_roles, at % self.n_roles);
            let legal = &self.legal[self.legal(state, role)];
            let step = ALPHA * payoffs(role);
            if legal.len() < 2 || step == 0.0 {
                continue;
            }
            let context = &self.states[state];
            chances.clear();
            chances.extend(legal.iter().map(|&mv| self.weight(context, role, mv)));
            into_chances(&mut chances);
            for (&mv, chance) in legal.iter().zip(&chances) {
                let is_made = f32::from(u8::from(mv == made.mv));
                let change = step * (is_made - chance);
                changes.extend(grams(context, role, mv).map(|key| (key, change)));
            }
        }
        if self.weights.len() + changes.len() > MOST_GRAMS {
            self.weights.clear();
        }
        for (key, change) in &changes {
            *self.weights.entry(*key).or_default() += change;
        }
        self.changes = changes;
        self.chances = chances;
    }

    fn forget_playout(&mut self) {
        self.states.clear();
        self.ends.clear();
        self.legal.clear();
    }
}

impl Technique for Ppa {
    fn is_policy(&self) -> bool {
        true
    }

    fn looks_back(&self) -> bool {
        true
    }

    fn begin(&mut self) {
        self.forget_playout();
    }

    /// States of playouts come with their legal moves, those of the tree without.
    fn stand(&mut self, state: &StateView<'_>) {
        self.context = context(state.record, self.n_roles);
        if state.legal.is_empty() {
            return;
        }
        self.states.push(self.context);
        for legal in state.legal {
            self.legal.extend_from_slice(legal);
            self.ends.push(self.legal.len() as u32);
        }
    }

    fn add_values(&mut self, role: RoleId, moves: &[MoveId], values: &mut [f32]) {
        for (&mv, value) in moves.iter().zip(values) {
            *value += self.points * self.weight(&self.context, role.idx(), mv);
        }
    }

    /// Playouts run one by one here: there is one sample at most, and its states were the last that were seen.
    fn observe(&mut self, _tree: &mut Tree, simulation: &Simulation<'_>) {
        for (values, steps, made) in simulation.samples() {
            if made.len() == self.ends.len() {
                let factor = simulation.powers.get(steps as usize) / GOAL_POINTS;
                self.adapt(made, |role| (values[role] * factor) as f32);
            }
            self.forget_playout();
        }
    }

    fn account(&self, _facts: &Facts<'_>) -> TechniqueAccount {
        TechniqueAccount::Counts {
            name: "ppa",
            counts: vec![("n_grams", self.weights.len() as u64)],
        }
    }
}

/// The n-grams that a move ends: itself, and those with the joint moves before it.
fn grams(context: &Context, role: usize, mv: MoveId) -> impl Iterator<Item = u64> + use<> {
    let before = context.iter().copied().filter(|&before| before != 0);
    let mut all = [Some(0), None, None];
    for (gram, before) in all[1..].iter_mut().zip(before) {
        *gram = Some(before);
    }
    let all = all.into_iter().flatten();
    all.map(move |before| key(before, role, mv))
}

/// Weights become the chances of the Gibbs distribution.
fn into_chances(weights: &mut [f32]) {
    let most = weights.iter().copied().fold(f32::MIN, f32::max);
    let mut sum = 0.0;
    for weight in weights.iter_mut() {
        *weight = libm::expf(*weight - most);
        sum += *weight;
    }
    weights.iter_mut().for_each(|weight| *weight /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: MoveId = MoveId(0);
    const B: MoveId = MoveId(1);
    const C: MoveId = MoveId(2);

    fn ppa(n_roles: usize) -> Ppa {
        Ppa::new(&Params::default(), n_roles)
    }

    /// A playout of one role that stands before these moves after that record and makes one of them.
    fn play(ppa: &mut Ppa, record: &[MoveId], legal: &[MoveId], mv: MoveId, payoff: f32) {
        ppa.begin();
        ppa.stand(&StateView {
            words: &[],
            record,
            legal: &[legal.to_vec()],
        });
        let made = Made {
            mv,
            role: 0,
            to_go: 0,
        };
        ppa.adapt(&[made], |_| payoff);
    }

    fn assert_weight(ppa: &Ppa, record: &[MoveId], mv: MoveId, expected: f32) {
        let found = ppa.weight(&context(record, 1), 0, mv);
        assert!((found - expected).abs() < 1e-5, "{found} is not {expected}");
    }

    #[test]
    fn weights_are_adapted_as_by_hand() {
        let mut ppa = ppa(1);
        // Two moves at chance 1/2 each: 0.32 · (1 - 1/2) and 0.32 · (0 - 1/2).
        play(&mut ppa, &[], &[A, B], A, 1.0);
        assert_weight(&ppa, &[], A, 0.16);
        assert_weight(&ppa, &[], B, -0.16);
        // exp(0.32) : 1, so 0.579324 and 0.420676, at half the payoff: B gets 0.16 · 0.579324.
        play(&mut ppa, &[], &[A, B], B, 0.5);
        assert_weight(&ppa, &[], A, 0.16 - 0.092_692);
        assert_weight(&ppa, &[], B, -0.16 + 0.092_692);
        // Who gets nothing learns nothing, and neither does who has no choice.
        play(&mut ppa, &[], &[A, B], B, 0.0);
        play(&mut ppa, &[], &[A], A, 1.0);
        assert_weight(&ppa, &[], A, 0.067_308);
    }

    #[test]
    fn n_grams_have_weights_of_their_own() {
        let mut ppa = ppa(1);
        play(&mut ppa, &[C], &[A, B], A, 1.0);
        // A alone and A after C both have 0.16; after B only A alone is known, and the mean is half of it.
        assert_weight(&ppa, &[C], A, 0.16);
        assert_weight(&ppa, &[B], A, 0.08);
        assert_weight(&ppa, &[], A, 0.16);
        // After B and C there are three n-grams, of which two are known.
        assert_weight(&ppa, &[B, C], A, 0.32 / 3.0);
    }

    #[test]
    fn every_role_learns_by_its_own_payoff() {
        let mut ppa = ppa(2);
        ppa.begin();
        ppa.stand(&StateView {
            words: &[],
            record: &[],
            legal: &[vec![A, B], vec![A, B]],
        });
        let made = [0, 1].map(|role| Made {
            mv: A,
            role,
            to_go: 0,
        });
        ppa.adapt(&made, |role| [1.0, 0.25][role]);
        let weight = |role| ppa.weight(&[0; 2], role, A);
        assert!((weight(0) - 0.16).abs() < 1e-6);
        assert!((weight(1) - 0.04).abs() < 1e-6);
    }
}
