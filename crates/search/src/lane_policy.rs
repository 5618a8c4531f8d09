//! What techniques say of moves, for the lanes: told in advance for all moves, with other values where fluents hold.
//!
//! What techniques say adds up, in goal points. A [`Rule`] turns it into weights by which the lanes draw.

use agon_engine::lanes::{Choosing, ScaleId, Urgency, Weights};
use agon_engine::{MoveId, RoleId};

use crate::params::{MastChoice, Params};
use crate::random::Random;
use crate::softmax;

/// Values closer than this are equal in a greedy choice of the lanes.
const TIE: f32 = 1e-3;

/// How values become choices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    choice: MastChoice,
    temperature: f32,
    epsilon: f64,
}

impl Rule {
    pub(crate) fn new(params: &Params) -> Rule {
        Rule {
            choice: params.mast_choice,
            temperature: params.mast_temperature as f32,
            epsilon: params.mast_epsilon,
        }
    }

    /// One of the moves with these values, by its place; values are overwritten.
    pub(crate) fn choose(&self, values: &mut [f32], random: &mut Random) -> usize {
        match self.choice {
            _ if values.len() == 1 => 0,
            MastChoice::Gibbs => softmax::draw(values, 1.0 / self.temperature, random),
            MastChoice::Greedy if random.unit() < self.epsilon => {
                random.below(values.len() as u32) as usize
            }
            MastChoice::Greedy => highest(values, random),
        }
    }
}

/// The highest of some values, by chance where several are.
fn highest(values: &[f32], random: &mut Random) -> usize {
    let (mut chosen, mut best, mut n_ties) = (0, f32::MIN, 0);
    for (idx, &value) in values.iter().enumerate() {
        if value > best {
            (chosen, best, n_ties) = (idx, value, 1);
        } else if value == best {
            n_ties += 1;
            if random.below(n_ties) == 0 {
                chosen = idx;
            }
        }
    }
    chosen
}

/// What moves are worth in the lanes, in goal points.
pub(crate) struct LanePolicy {
    /// Per role and move.
    roles: Vec<Vec<MoveValue>>,
    /// Scales of urgent moves.
    weights: Weights,
}

/// What a move is worth.
#[derive(Clone, Default)]
pub(crate) struct MoveValue {
    pub(crate) value: f32,
    /// What is added where fluents hold, of which the first counts; otherwise `otherwise` is added.
    pub(crate) cases: Vec<(u32, f32)>,
    pub(crate) otherwise: f32,
    /// When it comes before all moves that are not urgent, and how much it weighs then.
    pub(crate) urgency: Option<(ScaleId, ScaleId)>,
}

impl LanePolicy {
    /// Nothing yet, for roles with this number of moves each.
    pub(crate) fn new(n_moves: &[usize]) -> LanePolicy {
        let of_role = |&n: &usize| vec![MoveValue::default(); n];
        LanePolicy {
            roles: n_moves.iter().map(of_role).collect(),
            weights: Weights::new(n_moves.iter().copied()),
        }
    }

    pub(crate) fn n_roles(&self) -> usize {
        self.roles.len()
    }

    /// The moves of a role.
    pub(crate) fn moves(&mut self, role: usize) -> &mut [MoveValue] {
        &mut self.roles[role]
    }

    /// Fluents with factors, of which the first that holds counts.
    pub(crate) fn add_scale(&mut self, factors: Vec<(u32, f32)>) -> ScaleId {
        self.weights.add_scale(factors)
    }

    /// As the lanes understand it. Equal values of a greedy choice are told apart by chance.
    pub(crate) fn into_choosing(mut self, rule: Rule, random: &mut Random) -> Choosing {
        for (role, moves) in self.roles.iter().enumerate() {
            // Only ratios count; no number must be too large.
            let most = |mv: &MoveValue| {
                let cases = mv.cases.iter().map(|case| case.1);
                mv.value + cases.fold(mv.otherwise, f32::max)
            };
            let top = moves.iter().map(most).fold(f32::MIN, f32::max);
            let plain = moves.iter().map(|mv| mv.value).fold(f32::MIN, f32::max);
            for (idx, mv) in moves.iter().enumerate() {
                let gibbs = |value: f32, top: f32| libm::expf((value - top) / rule.temperature);
                let tie = match rule.choice {
                    MastChoice::Gibbs => 0.0,
                    MastChoice::Greedy => random.unit() as f32 * TIE,
                };
                let weight = |bias: f32| match rule.choice {
                    MastChoice::Gibbs => gibbs(mv.value + bias, top),
                    MastChoice::Greedy => mv.value + bias + tie,
                };
                let to = self
                    .weights
                    .get_mut(RoleId(role as u16), MoveId(idx as u32));
                to.weight = weight(mv.otherwise);
                let cases = mv.cases.iter();
                to.cases = cases
                    .map(|&(fluent, bias)| (fluent, weight(bias)))
                    .collect();
                to.urgency = mv.urgency.map(|(on, by)| Urgency {
                    weight: gibbs(mv.value, plain),
                    on,
                    by: Some(by),
                });
            }
        }
        match rule.choice {
            MastChoice::Gibbs => Choosing::Proportional(self.weights),
            MastChoice::Greedy => Choosing::Greedy(self.weights, rule.epsilon),
        }
    }
}
