//! The gradient of a network's error, and steps against it.
//!
//! The error of a position is the cross entropy of its values and of the policy of each role that has a choice. Gradients are summed up over a batch,
//! position by position in one order. Adam makes the steps; rows of fluents and moves that no position of a batch has stay as they are, with
//! their moments.
//!
//! - Kingma and Ba 2015, Adam: a method for stochastic optimization

use agon_engine::dense::{Matrix, Row, SECOND_UNITS, UNITS, exp, sigmoid};
use agon_search::model::{Head, MoveRows, Network, Shape, Weights};

use crate::sample::Sample;

const BETA_1: f32 = 0.9;
const BETA_2: f32 = 0.999;
const EPSILON: f32 = 1e-7;

/// Errors of some positions, on average.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    /// Cross entropy of values, less the entropy of what they should be.
    pub value: f64,
    /// Cross entropy of policies, less the entropy of what they should be.
    pub policy: f64,
}

/// Sums of gradients, with the rows that have any.
pub(crate) struct Gradient {
    sums: Weights,
    inputs: Touched,
    heads: Touched,
    /// Per role.
    moves: Vec<Touched>,
    losses: Losses,
    n: usize,
    // Scratch of a position.
    logits: Vec<f32>,
}

/// Which rows have a gradient.
#[derive(Default, Clone)]
struct Touched {
    is: Vec<bool>,
    list: Vec<u32>,
}

impl Touched {
    fn new(n: usize) -> Touched {
        Touched {
            is: vec![false; n],
            list: Vec::new(),
        }
    }

    fn touch(&mut self, idx: usize) {
        if !std::mem::replace(&mut self.is[idx], true) {
            self.list.push(idx as u32);
        }
    }

    fn clear(&mut self) {
        for &idx in &self.list {
            self.is[idx as usize] = false;
        }
        self.list.clear();
    }
}

impl Gradient {
    pub(crate) fn new(shape: &Shape) -> Gradient {
        Gradient {
            sums: Weights::zero(shape),
            inputs: Touched::new(shape.n_fluents),
            heads: Touched::new(shape.n_heads),
            moves: shape.n_moves.iter().map(|&n| Touched::new(n)).collect(),
            losses: Losses::default(),
            n: 0,
            logits: Vec::new(),
        }
    }

    /// Adds the gradient of a position.
    pub(crate) fn add(&mut self, network: &Network, sample: &Sample) {
        let weights = &network.weights;
        // Step 1. The first layer.
        let mut units = weights.bias.0;
        for fluent in inputs(network, sample) {
            let row = &weights.inputs[fluent].0;
            for (unit, weight) in units.iter_mut().zip(row) {
                *unit += weight;
            }
        }
        for unit in &mut units {
            *unit = unit.max(0.0);
        }
        // Step 2. Values, and back to the first layer.
        let mut back = [0.0_f32; UNITS];
        self.add_values(weights, sample, &units, &mut back);
        // Step 3. Policies.
        for policy in &sample.policies {
            self.add_policy(weights, policy, &units, &mut back);
        }
        // Step 4. Rows of the fluents.
        for (back, unit) in back.iter_mut().zip(units) {
            if unit <= 0.0 {
                *back = 0.0;
            }
        }
        add_to(&mut self.sums.bias.0, 1.0, &back);
        for fluent in inputs(network, sample) {
            self.inputs.touch(fluent);
            add_to(&mut self.sums.inputs[fluent].0, 1.0, &back);
        }
        self.n += 1;
    }

    fn add_values(
        &mut self,
        weights: &Weights,
        sample: &Sample,
        units: &[f32; UNITS],
        back: &mut [f32; UNITS],
    ) {
        let idx = sample.head as usize;
        let head = &weights.heads[idx];
        self.heads.touch(idx);
        let to = &mut self.sums.heads[idx];
        let mut second = head.bias;
        for (activation, weights) in units.iter().zip(&head.weights.0) {
            add_to(&mut second, *activation, weights);
        }
        for unit in &mut second {
            *unit = unit.max(0.0);
        }
        let mut second_back = [0.0_f32; SECOND_UNITS];
        for (value, &target) in sample.values.iter().enumerate() {
            let row = &head.values[value];
            let chance = sigmoid(product(&second, row) + head.value_bias[value]);
            self.losses.value += cross_entropy(target, chance);
            self.losses.value += cross_entropy(1.0 - target, 1.0 - chance);
            let error = chance - target;
            to.value_bias[value] += error;
            add_to(&mut to.values[value], error, &second);
            add_to(&mut second_back, error, row);
        }
        for (back, unit) in second_back.iter_mut().zip(second) {
            if unit <= 0.0 {
                *back = 0.0;
            }
        }
        add_to(&mut to.bias, 1.0, &second_back);
        for (from, back) in back.iter_mut().enumerate() {
            add_to(&mut to.weights.0[from], units[from], &second_back);
            *back += product(&head.weights.0[from], &second_back);
        }
    }

    fn add_policy(
        &mut self,
        weights: &Weights,
        policy: &crate::sample::Policy,
        units: &[f32; UNITS],
        back: &mut [f32; UNITS],
    ) {
        let role = policy.role as usize;
        let of_role = &weights.moves[role];
        self.logits.clear();
        let mut most = f32::NEG_INFINITY;
        for mv in &policy.moves {
            let row = &of_role.rows[mv.0 as usize].0;
            let logit = product(units, row) + of_role.bias[mv.0 as usize];
            most = most.max(logit);
            self.logits.push(logit);
        }
        let mut sum = 0.0;
        for logit in &mut self.logits {
            *logit = exp(*logit - most);
            sum += *logit;
        }
        let to = &mut self.sums.moves[role];
        for (place, mv) in policy.moves.iter().enumerate() {
            let (chance, target) = (self.logits[place] / sum, policy.chances[place]);
            self.losses.policy += cross_entropy(target, chance);
            let error = chance - target;
            let mv = mv.0 as usize;
            self.moves[role].touch(mv);
            to.bias[mv] += error;
            add_to(&mut to.rows[mv].0, error, units);
            add_to(back, error, &of_role.rows[mv].0);
        }
    }

    /// The errors of what was added since the last step, on average.
    pub(crate) fn losses(&self) -> Losses {
        let n = self.n.max(1) as f64;
        Losses {
            value: self.losses.value / n,
            policy: self.losses.policy / n,
        }
    }

    fn clear(&mut self) {
        self.inputs.clear();
        self.heads.clear();
        self.moves.iter_mut().for_each(Touched::clear);
        self.losses = Losses::default();
        self.n = 0;
    }
}

/// The fluents that hold, in order.
fn inputs<'a>(network: &'a Network, sample: &'a Sample) -> impl Iterator<Item = usize> + 'a {
    let words = sample.words.iter().zip(network.shape.mask()).enumerate();
    words.flat_map(|(idx, (word, mask))| {
        let mut left = word & mask;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(idx * 64 + bit)
        })
    })
}

/// Adds a multiple of some numbers to others.
#[inline]
fn add_to<const N: usize>(to: &mut [f32; N], factor: f32, from: &[f32; N]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

/// A scalar product of fixed order: four partial sums.
#[inline]
fn product<const N: usize>(one: &[f32; N], other: &[f32; N]) -> f32 {
    let mut sums = [0.0_f32; 4];
    let (ones, others) = (one.as_chunks::<4>().0, other.as_chunks::<4>().0);
    for (one, other) in ones.iter().zip(others) {
        for (sum, (one, other)) in sums.iter_mut().zip(one.iter().zip(other)) {
            *sum += one * other;
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// `target · ln(target / chance)`.
fn cross_entropy(target: f32, chance: f32) -> f64 {
    match target > 0.0 {
        true => {
            let ratio = f64::from(target) / f64::from(chance).max(1e-30);
            f64::from(target) * libm::log(ratio)
        }
        false => 0.0,
    }
}

/// Adam: moments of all gradients.
#[derive(Clone, PartialEq)]
pub(crate) struct Adam {
    pub(crate) means: Weights,
    pub(crate) squares: Weights,
    pub(crate) n_steps: u32,
}

/// A step of Adam, the same for all numbers.
#[derive(Clone, Copy)]
struct Step {
    /// One over the number of positions.
    share: f32,
    /// Rate, with the corrections for the first steps.
    rate: f32,
    square_correction: f32,
}

impl Step {
    #[inline]
    fn apply(self, weights: &mut [f32], sums: &mut [f32], means: &mut [f32], squares: &mut [f32]) {
        let numbers = weights.iter_mut().zip(sums);
        let moments = means.iter_mut().zip(squares);
        for ((weight, sum), (mean, square)) in numbers.zip(moments) {
            let gradient = *sum * self.share;
            *sum = 0.0;
            *mean = BETA_1 * *mean + (1.0 - BETA_1) * gradient;
            *square = BETA_2 * *square + (1.0 - BETA_2) * gradient * gradient;
            *weight -= self.rate * *mean / ((*square * self.square_correction).sqrt() + EPSILON);
        }
    }
}

impl Adam {
    pub(crate) fn new(shape: &Shape) -> Adam {
        Adam {
            means: Weights::zero(shape),
            squares: Weights::zero(shape),
            n_steps: 0,
        }
    }

    /// Makes a step against the gradient, which is empty then.
    pub(crate) fn step(&mut self, weights: &mut Weights, gradient: &mut Gradient, rate: f32) {
        if gradient.n == 0 {
            return;
        }
        self.n_steps += 1;
        let n = f64::from(self.n_steps);
        let step = Step {
            share: 1.0 / gradient.n as f32,
            rate: rate / (1.0 - libm::pow(f64::from(BETA_1), n)) as f32,
            square_correction: (1.0 / (1.0 - libm::pow(f64::from(BETA_2), n))) as f32,
        };
        let Gradient {
            sums,
            inputs,
            heads,
            moves,
            ..
        } = gradient;
        let (means, squares) = (&mut self.means, &mut self.squares);
        step.apply(
            &mut weights.bias.0,
            &mut sums.bias.0,
            &mut means.bias.0,
            &mut squares.bias.0,
        );
        for &idx in &inputs.list {
            let idx = idx as usize;
            let rows = (&mut weights.inputs[idx], &mut sums.inputs[idx]);
            apply_row(
                step,
                rows,
                (&mut means.inputs[idx], &mut squares.inputs[idx]),
            );
        }
        for &idx in &heads.list {
            let idx = idx as usize;
            let numbers = (&mut weights.heads[idx], &mut sums.heads[idx]);
            apply_head(
                step,
                numbers,
                (&mut means.heads[idx], &mut squares.heads[idx]),
            );
        }
        for (role, touched) in moves.iter().enumerate() {
            let taken = |weights: &mut Weights| std::mem::replace(&mut weights.moves[role], EMPTY);
            let (mut to, mut from) = (taken(weights), taken(sums));
            let (mut mean, mut square) = (taken(means), taken(squares));
            for &idx in &touched.list {
                let idx = idx as usize;
                let rows = (&mut to.rows[idx], &mut from.rows[idx]);
                apply_row(step, rows, (&mut mean.rows[idx], &mut square.rows[idx]));
                let one = idx..idx + 1;
                step.apply(
                    &mut to.bias[one.clone()],
                    &mut from.bias[one.clone()],
                    &mut mean.bias[one.clone()],
                    &mut square.bias[one],
                );
            }
            weights.moves[role] = to;
            sums.moves[role] = from;
            means.moves[role] = mean;
            squares.moves[role] = square;
        }
        gradient.clear();
    }
}

const EMPTY: MoveRows = MoveRows {
    rows: Vec::new(),
    bias: Vec::new(),
};

fn apply_row(step: Step, (to, sums): (&mut Row, &mut Row), (mean, square): (&mut Row, &mut Row)) {
    step.apply(&mut to.0, &mut sums.0, &mut mean.0, &mut square.0);
}

fn apply_head(
    step: Step,
    (to, sums): (&mut Head, &mut Head),
    (mean, square): (&mut Head, &mut Head),
) {
    step.apply(
        numbers(&mut to.weights),
        numbers(&mut sums.weights),
        numbers(&mut mean.weights),
        numbers(&mut square.weights),
    );
    step.apply(
        &mut to.bias,
        &mut sums.bias,
        &mut mean.bias,
        &mut square.bias,
    );
    for value in 0..to.values.len() {
        step.apply(
            &mut to.values[value],
            &mut sums.values[value],
            &mut mean.values[value],
            &mut square.values[value],
        );
    }
    step.apply(
        &mut to.value_bias,
        &mut sums.value_bias,
        &mut mean.value_bias,
        &mut square.value_bias,
    );
}

fn numbers(matrix: &mut Matrix) -> &mut [f32] {
    matrix.0.as_flattened_mut()
}

#[cfg(test)]
mod tests {
    use agon_engine::{Game, MoveId};
    use agon_search::Random;

    use super::*;
    use crate::sample::Policy;
    use crate::self_play::normal;

    const SHEET: &str = "(role a) (role b) (role c) (init (at 0)) (init lit)
        (succ 0 1) (succ 1 2) (succ 2 3)
        (legal a x) (legal a y) (legal a z) (legal b x) (legal b y) (legal c x)
        (<= (next (at ?m)) (true (at ?n)) (succ ?n ?m))
        (<= (next lit) (does a x)) (<= (next (mark ?m)) (does b ?m))
        (<= terminal (true (at 3))) (<= (goal a 100) (true lit)) (<= (goal a 0) (not (true lit)))
        (<= (goal b 100) (true (mark x))) (<= (goal b 20) (not (true (mark x)))) (goal c 50)";

    /// A network with numbers everywhere, and a sample of it.
    fn example() -> (Network, Sample) {
        let game = Game::from_text(SHEET).expect("it is a game");
        let shape = Shape::new(&game).expect("it has a network");
        let mut weights = Weights::zero(&shape);
        let mut random = Random::new(3);
        crate::training::visit(&mut weights, &mut |numbers| {
            for number in numbers {
                *number = (normal(&mut random) * 0.3) as f32;
            }
            true
        });
        let policy = |role: u16, chances: &[f32]| Policy {
            role,
            moves: (0..chances.len() as u32).map(MoveId).collect(),
            chances: chances.to_vec(),
        };
        let sample = Sample {
            words: game.initial_state().words().into(),
            head: shape.n_heads as u16 - 1,
            policies: vec![policy(0, &[0.5, 0.3, 0.2]), policy(1, &[0.0, 1.0])],
            values: vec![0.8, 0.1, 0.5],
        };
        (Network { shape, weights }, sample)
    }

    fn error(network: &Network, sample: &Sample) -> f64 {
        let mut gradient = Gradient::new(&network.shape);
        gradient.add(network, sample);
        let losses = gradient.losses();
        losses.value + losses.policy
    }

    /// Moves one number of a network.
    fn shift(network: &mut Network, at: usize, by: f32) {
        let mut place = 0;
        crate::training::visit(&mut network.weights, &mut |numbers| {
            if (place..place + numbers.len()).contains(&at) {
                numbers[at - place] += by;
            }
            place += numbers.len();
            true
        });
    }

    #[test]
    fn gradients_are_those_of_finite_differences() {
        let (mut network, sample) = example();
        let mut gradient = Gradient::new(&network.shape);
        gradient.add(&network, &sample);
        let mut sums = Vec::new();
        crate::training::visit(&mut gradient.sums, &mut |numbers| {
            sums.extend_from_slice(numbers);
            true
        });
        const STEP: f32 = 2e-3;
        let (mut n_checked, mut n_wrong) = (0, 0);
        for at in (0..sums.len()).step_by(7) {
            shift(&mut network, at, STEP);
            let above = error(&network, &sample);
            shift(&mut network, at, -2.0 * STEP);
            let below = error(&network, &sample);
            shift(&mut network, at, STEP);
            let slope = (above - below) / f64::from(2.0 * STEP);
            n_checked += usize::from(slope.abs() > 1e-3);
            // A unit that is switched on or off in between has two slopes.
            n_wrong += usize::from((slope - f64::from(sums[at])).abs() > 0.02 * slope.abs() + 2e-3);
        }
        assert!(n_checked > 100, "{n_checked}");
        assert!(n_wrong * 50 < n_checked, "{n_wrong} of {n_checked}");
    }

    #[test]
    fn steps_make_errors_small() {
        let (mut network, sample) = example();
        let before = error(&network, &sample);
        let mut adam = Adam::new(&network.shape);
        let mut gradient = Gradient::new(&network.shape);
        for _ in 0..300 {
            gradient.add(&network, &sample);
            adam.step(&mut network.weights, &mut gradient, 3e-3);
        }
        let after = error(&network, &sample);
        assert!(before > 0.1 && after < 0.01, "{before} {after}");
    }
}
