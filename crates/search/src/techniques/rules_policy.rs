//! Action heuristics from the rules in the playouts of the lanes.
//!
//! The rule is that of `heuristic`: a move is drawn with a chance of `exp(s · H / τ)`, times its weight of MAST where there is
//! one. Here it is done for 64 lanes at once: formulas are evaluated for all of them in one pass, and so are the
//! exponentials; each lane then finds its move by counting how many of the running sums it has passed.
//!
//! In: a block of lanes that are about to move. Out: the place of each lane's move; an account of what it cost.
//!
//! - Trutman and Schiffel 2015, Creating Action Heuristics for General Game Playing Agents

use std::time::Duration;

use agon_engine::lanes::{BlockPolicy, BlockView, Choosing, Weights};
use agon_engine::{MoveId, RoleId};
use agon_insight::block::{BITS, BLOCK, BlockEvaluator, OtherMove};
use agon_insight::fuzzy::Evaluator;
use wide::f32x8;

use crate::limits::Stopwatch;
use crate::softmax::{LEAST_EXPONENT, WIDTH, exp};

/// One block in this many is timed; roles take turns, so it is an odd number.
const TIMED: u64 = 17;
/// No weight of MAST is less, so that some move always weighs something.
const LEAST_WEIGHT: f32 = 1e-6;

/// Draws the moves of lanes: scratch memory of one thread.
#[derive(Clone)]
pub(crate) struct RulesPolicy {
    // Constant.
    n_roles: usize,
    scale: f32,
    /// Per role, if its formulas tell anything: for one state and for many.
    evaluators: Vec<Option<(Evaluator, BlockEvaluator)>>,
    // What changes with time.
    /// Those of MAST; none if all moves weigh alike.
    weights: Option<Weights>,
    // Of the block at hand.
    /// Per fluent: the lanes in which it holds.
    holds: Vec<u64>,
    /// Moves that are legal in some lane: the lanes, and their places among those that the role may have.
    moves: Vec<(MoveId, u64)>,
    places: Vec<u32>,
    others: Vec<OtherMove>,
    values: Vec<[f32; BLOCK]>,
    /// Of a single state.
    single: Vec<f32>,
    // What it took.
    n_blocks: u64,
    pub(crate) cost: Cost,
}

/// What evaluations took.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cost {
    pub(crate) n_states: u64,
    pub(crate) n_timed: u32,
    pub(crate) time: Duration,
}

impl RulesPolicy {
    pub(crate) fn new(
        evaluators: Vec<Option<(Evaluator, BlockEvaluator)>>,
        scale: f64,
        n_state_words: usize,
    ) -> RulesPolicy {
        RulesPolicy {
            n_roles: evaluators.len(),
            scale: scale as f32,
            evaluators,
            weights: None,
            holds: vec![0; n_state_words * 64],
            moves: Vec::new(),
            places: Vec::new(),
            others: Vec::new(),
            values: Vec::new(),
            single: Vec::new(),
            n_blocks: 0,
            cost: Cost::default(),
        }
    }

    /// What MAST says from now on.
    pub(crate) fn learn(&mut self, choosing: &Choosing) {
        self.weights = match choosing {
            Choosing::Proportional(weights) => Some(weights.clone()),
            _ => None,
        };
    }

    /// Weights of the legal moves of a role in a single state, MAST apart; nothing if its formulas tell nothing.
    pub(crate) fn weigh<'a>(
        &mut self,
        role: RoleId,
        words: &[u64],
        legal: impl Fn(usize) -> &'a [MoveId],
    ) -> Option<&[f32]> {
        let (evaluator, _) = self.evaluators[role.idx()].as_mut()?;
        for other in RoleId::all(self.n_roles) {
            if evaluator.reads(other) {
                evaluator.set_moves(other, legal(other.idx()));
            }
        }
        evaluator.load(words);
        self.single.clear();
        let values = legal(role.idx()).iter();
        let values = values.map(|&mv| evaluator.value(mv) as f32);
        self.single.extend(values);
        let highest = self.single.iter().copied().fold(f32::MIN, f32::max);
        for value in &mut self.single {
            *value = libm::expf((self.scale * (*value - highest)).max(LEAST_EXPONENT));
        }
        Some(&self.single)
    }

    /// How true the formulas of all moves of a role are in a block.
    fn evaluate(&mut self, block: &BlockView<'_>, role: RoleId) {
        let Some((_, evaluator)) = &mut self.evaluators[role.idx()] else {
            self.values.iter_mut().for_each(|values| values.fill(0.0));
            return;
        };
        block.read_state(&mut self.holds);
        self.others.clear();
        for other in RoleId::all(self.n_roles) {
            if !evaluator.reads(other) {
                continue;
            }
            let first = self.others.len();
            let (mut one, mut several) = (0, 0);
            for (place, &mv) in block.moves(other).iter().enumerate() {
                let may = block.legal(other, place);
                several |= one & may;
                one |= may;
                let role = other;
                let must = 0;
                self.others.push(OtherMove {
                    role,
                    mv,
                    may,
                    must,
                });
            }
            for mv in &mut self.others[first..] {
                mv.must = mv.may & !several;
            }
        }
        let of_lanes = (&self.holds[..], block.lanes());
        evaluator.evaluate(of_lanes, &self.others, &self.moves, &mut self.values);
    }

    /// Turns values into weights: all that counts is their ratio in each lane. Returns the sums.
    fn exponentiate(&mut self, role: RoleId) -> [f32; BLOCK] {
        let weights = self.weights.as_ref();
        let mut highest = [f32::MIN; BLOCK];
        for (&(_, legal), values) in self.moves.iter().zip(&self.values) {
            for half in 0..2 {
                let lanes = half * 32..half * 32 + 32;
                let legal = (legal >> (half * 32)) as u32;
                let highest = &mut highest[lanes.clone()];
                for ((highest, &value), bit) in highest.iter_mut().zip(&values[lanes]).zip(BITS) {
                    let value = if legal & bit == 0 { f32::MIN } else { value };
                    *highest = if value > *highest { value } else { *highest };
                }
            }
        }
        let mut sums = [0.0; BLOCK];
        let scale = f32x8::splat(self.scale);
        let least = f32x8::splat(LEAST_EXPONENT);
        for (&(mv, legal), values) in self.moves.iter().zip(&mut self.values) {
            let of_mast = weights.map_or(1.0, |weights| weights.get(role, mv).weight);
            let of_mast = f32x8::splat(of_mast.max(LEAST_WEIGHT));
            for at in (0..BLOCK).step_by(WIDTH) {
                let legal = (legal >> at) as u32 & ((1 << WIDTH) - 1);
                let values = &mut values[at..at + WIDTH];
                if legal == 0 {
                    values.fill(0.0);
                    continue;
                }
                let exponent = (load(values) - load(&highest[at..at + WIDTH])) * scale;
                let weight = (exp(exponent.max(least)) * of_mast).to_array();
                for (lane, weight) in weight.into_iter().enumerate() {
                    values[lane] = if legal & BITS[lane] == 0 { 0.0 } else { weight };
                    sums[at + lane] += values[lane];
                }
            }
        }
        sums
    }

    /// Draws by weights: the number of the first move whose running sum is beyond a random part of all.
    fn draw(&self, block: &BlockView<'_>, role: RoleId, sums: &[f32], places: &mut [u32; BLOCK]) {
        let mut targets = [0.0; BLOCK];
        for (lane, (target, sum)) in targets.iter_mut().zip(sums).enumerate() {
            if block.lanes() >> lane & 1 == 1 {
                let unit = (block.random(role, lane) >> 40) as f32 * (1.0 / (1 << 24) as f32);
                *target = unit * sum;
            }
        }
        places.fill(0);
        let mut passed = [0.0; BLOCK];
        for weights in &self.values {
            for lane in 0..BLOCK {
                passed[lane] += weights[lane];
                places[lane] += u32::from(passed[lane] <= targets[lane]);
            }
        }
        for (lane, place) in places.iter_mut().enumerate() {
            // A target that was rounded up to the whole sum has passed all.
            if *place as usize >= self.values.len() {
                let last = self.values.iter().rposition(|weights| weights[lane] > 0.0);
                *place = last.unwrap_or(0) as u32;
            }
            *place = self.places.get(*place as usize).copied().unwrap_or(0);
        }
    }
}

impl BlockPolicy for RulesPolicy {
    fn choose(&mut self, block: &BlockView<'_>, role: RoleId, places: &mut [u32; BLOCK]) {
        self.moves.clear();
        self.places.clear();
        for (place, &mv) in block.moves(role).iter().enumerate() {
            let legal = block.legal(role, place) & block.lanes();
            if legal != 0 {
                self.moves.push((mv, legal));
                self.places.push(place as u32);
            }
        }
        self.values.resize(self.moves.len(), [0.0; BLOCK]);
        let mut watch = Stopwatch::default();
        let is_timed = self.n_blocks.is_multiple_of(TIMED);
        watch.start(is_timed);
        self.evaluate(block, role);
        watch.stop();
        self.n_blocks += 1;
        if self.evaluators[role.idx()].is_some() {
            let n = block.lanes().count_ones();
            self.cost.n_states += u64::from(n);
            if is_timed {
                self.cost.n_timed += n;
                self.cost.time += watch.total();
            }
        }
        let sums = self.exponentiate(role);
        self.draw(block, role, &sums, places);
    }
}

#[inline]
fn load(values: &[f32]) -> f32x8 {
    let values: [f32; WIDTH] = values.try_into().expect("eight of them");
    f32x8::from(values)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agon_engine::lanes::{Job, LanesOptions, Until};
    use agon_engine::{Game, Goal, JointMove};

    use super::*;
    use crate::lane_policy::Rule;
    use crate::params::Params;
    use crate::policy::{PlayoutPolicy, for_lanes};
    use crate::random::Random;
    use crate::techniques::heuristic::Heuristic;
    use crate::techniques::mast::Mast;
    use crate::techniques::{StateView, Techniques};
    use crate::walker::Walker;

    /// Sums over playouts: steps, goals of each role, first moves of each role.
    #[derive(Default)]
    struct Sums {
        n: f64,
        steps: [f64; 2],
        goals: Vec<[f64; 2]>,
        firsts: Vec<Vec<f64>>,
    }

    impl Sums {
        fn new(game: &Game) -> Sums {
            let n_roles = game.n_roles();
            let roles = &game.grounded().expect("it grounds").program().roles;
            Sums {
                goals: vec![[0.0; 2]; n_roles],
                firsts: roles.iter().map(|mv| vec![0.0; mv.moves.len()]).collect(),
                ..Sums::default()
            }
        }

        fn add(
            &mut self,
            steps: u32,
            goal: impl Fn(RoleId) -> Option<Goal>,
            first: impl Fn(RoleId) -> MoveId,
        ) {
            self.n += 1.0;
            let square = |to: &mut [f64; 2], value: f64| {
                to[0] += value;
                to[1] += value * value;
            };
            square(&mut self.steps, f64::from(steps));
            for role in RoleId::all(self.goals.len()) {
                let worth = goal(role).map_or(0, Goal::value);
                square(&mut self.goals[role.idx()], f64::from(worth));
                self.firsts[role.idx()][first(role).0 as usize] += 1.0;
            }
        }

        /// Whether all means are within five standard errors of each other.
        fn assert_like(&self, other: &Sums, name: &str) {
            let near = |one: [f64; 2], two: [f64; 2], what: &str| {
                let moments = |[sum, squares]: [f64; 2], n: f64| {
                    let mean = sum / n;
                    (mean, (squares / n - mean * mean).max(0.0) / n)
                };
                let (a, b) = (moments(one, self.n), moments(two, other.n));
                let error = (a.1 + b.1).sqrt().max(1e-9);
                assert!(
                    (a.0 - b.0).abs() < 5.0 * error,
                    "{name}, {what}: {} is not {}",
                    a.0,
                    b.0
                );
            };
            near(self.steps, other.steps, "steps");
            for (one, two) in self.goals.iter().zip(&other.goals) {
                near(*one, *two, "goals");
            }
            let firsts = self
                .firsts
                .iter()
                .flatten()
                .zip(other.firsts.iter().flatten());
            for (&one, &two) in firsts {
                near([one, one], [two, two], "first moves");
            }
        }
    }

    #[test]
    fn lanes_are_guided_as_single_playouts_are() {
        for (name, has_mast) in [
            ("tic_tac_toe", false),
            ("nine_board_tic_tac_toe", true),
            ("bidding_tic_tac_toe", false),
            ("connect_four_3", true),
        ] {
            let path = format!("{}/../games/games/{name}.kif", env!("CARGO_MANIFEST_DIR"));
            let sheet = std::fs::read(path).expect("the game is there");
            let rules = agon_gdl::check(&agon_gdl::parse(&sheet, &Default::default())).unwrap();
            let game = Game::compile(Arc::new(rules), &Default::default(), &|| false).unwrap();
            let mut params = Params::default();
            for (parameter, value) in [
                ("heuristic", "playout"),
                ("batch", "auto"),
                // So that chance has a say.
                ("heuristic_scale", "30"),
            ] {
                params.set(parameter, value).expect("it can be set");
            }
            let heuristic = Heuristic::for_game(&game, &params).expect("it was asked for");
            let mut rules = heuristic.in_lanes().expect("the lanes have one").clone();
            let roles = &game.grounded().expect("it grounds").program().roles;
            let n_moves: Vec<usize> = roles.iter().map(|role| role.moves.len()).collect();
            let mast = has_mast.then(|| {
                let mut mast = Mast::new(&params, game.n_roles());
                for (role, &n) in n_moves.iter().enumerate() {
                    (0..n as u32).for_each(|mv| mast.add(role, MoveId(mv), 1, (mv % 30) as f32));
                }
                mast
            });
            let mut techniques = Techniques {
                mast,
                heuristic: Some(heuristic),
                ..Techniques::none()
            };
            // One by one.
            let mut policy = PlayoutPolicy::new(&params);
            let mut single = Sums::new(&game);
            let (mut walker, mut random) = (Walker::new(&game), Random::new(3));
            let mut joint = JointMove::new(vec![MoveId(0); game.n_roles()]);
            for _ in 0..3000 {
                walker.load(game.initial_state());
                let mut first = None;
                let mut steps = 0;
                while !walker.is_terminal() {
                    let legal: Vec<Vec<MoveId>> = RoleId::all(game.n_roles())
                        .map(|role| walker.legal_moves(role).to_vec())
                        .collect();
                    let view = StateView {
                        words: walker.words(),
                        record: &[],
                        legal: &legal,
                    };
                    policy.stand(&mut techniques, &view);
                    for role in RoleId::all(game.n_roles()) {
                        let moves = &legal[role.idx()];
                        let chosen = policy.choose(&mut techniques, role, moves, &mut random);
                        joint.moves_mut()[role.idx()] = moves[chosen];
                    }
                    first.get_or_insert_with(|| joint.clone());
                    walker.advance(&joint);
                    steps += 1;
                }
                let first = first.expect("it has a step");
                let goals: Vec<_> = RoleId::all(game.n_roles())
                    .map(|role| walker.goal(role))
                    .collect();
                single.add(
                    steps,
                    |role| goals[role.idx()],
                    |role| first.moves()[role.idx()],
                );
            }
            // All at once.
            let policy = for_lanes(&techniques, &n_moves).expect("there is one");
            rules.learn(&policy.into_choosing(Rule::new(&params), &mut random));
            let options = LanesOptions {
                seed: 4,
                moves: true,
                ..LanesOptions::default()
            };
            let mut lanes = game.lanes(&options).expect("it grounds");
            lanes.submit([Job {
                n_playouts: 6000,
                ..Job::new(game.initial_state(), 0)
            }]);
            lanes.run_with_blocks(Until::Idle, &mut rules);
            let mut many = Sums::new(&game);
            lanes.drain(|playout| {
                let first = |role| playout.moves(role).next().expect("it has a step");
                many.add(playout.steps(), |role| playout.goal(role), first);
            });
            single.assert_like(&many, name);
            let n_states = rules.cost.n_states as f64;
            assert!(n_states > many.n && rules.cost.n_timed > 0, "{n_states}");
        }
    }
}
