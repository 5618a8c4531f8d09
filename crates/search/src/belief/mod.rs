//! A belief: the histories that agree with what a role did and saw, with weights.
//!
//! The weight of a history is its probability if chance and the other roles draw their moves uniformly, given what was seen. As
//! long as there are few possible histories, all of them are kept, and the belief is exact. When there are more, it becomes a
//! particle filter: moves of the others are drawn in each history that is kept, and those in which the role would have seen
//! something else are dropped. Where few are left, others are searched for from earlier histories or from the beginning, with
//! backtracking (`search_back`).
//!
//! In: steps, each the move of the role (its own, or the one that was made for it) and its percepts. Out: weighted histories.
//! Steps are only noted at first, and worked in when somebody thinks, within limits.
//!
//! - Gordon, Salmond and Smith 1993, Novel approach to nonlinear/non-Gaussian Bayesian state estimation (bootstrap filter)
//! - Schofield, Cerexhe and Thielscher 2012, HyperPlay: A Solution to General Game Playing with Imperfect Information
//!   (histories are found again by backtracking)

mod account;
mod info_tree;
mod informed;
mod joint_moves;
mod opponents;
mod regrets;
mod rollouts;
mod search_back;
mod trie;
mod update;
mod view;
mod world;

use std::sync::Arc;

use agon_engine::{Game, MoveId, Particles, PerceptId, RoleId, State};

pub use account::BeliefAccount;
pub(crate) use info_tree::{Choice, Exploration, InfoEdge, InfoTree};
pub(crate) use informed::Informed;
pub(crate) use joint_moves::JointMoves;
pub(crate) use opponents::Opponents;
pub(crate) use regrets::{RegretTable, normalise};
pub(crate) use rollouts::{LEAST_IN_LANES, Rollouts};
pub(crate) use trie::{HistoryId, Trie};
pub use view::ViewKey;
pub(crate) use world::World;

use crate::limits::Meter;
use crate::random::Random;

/// Sizes of a belief.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct BeliefSizes {
    /// Most histories of an exact belief.
    pub(crate) exact: usize,
    /// Histories that are kept where there are more.
    pub(crate) sampled: usize,
    /// With fewer, others are searched for.
    pub(crate) least: usize,
    /// Most joint moves that are tried one by one in a step.
    pub(crate) tries: f64,
    /// Most bytes of all histories.
    pub(crate) bytes: usize,
}

impl BeliefSizes {
    pub(crate) const DEFAULT: BeliefSizes = BeliefSizes {
        exact: 4000,
        sampled: 1000,
        least: 100,
        tries: 30_000.0,
        bytes: 64 << 20,
    };
}

/// Who plays what, from which state on.
#[derive(Clone, Copy)]
pub(crate) struct Seat<'a> {
    pub(crate) game: &'a Arc<Game>,
    pub(crate) role: RoleId,
    /// Where the match begins, which every role knows.
    pub(crate) start: &'a State,
    pub(crate) seed: u64,
}

/// A step of a match as its role knows it.
pub(crate) struct Step {
    own: MoveId,
    percepts: Box<[PerceptId]>,
}

/// What a role believes.
pub(crate) struct Belief {
    // Constant.
    role: RoleId,
    sizes: BeliefSizes,
    // Scratch.
    world: World,
    particles: Particles,
    random: Random,
    // What is known.
    steps: Vec<Step>,
    /// Steps that the histories have; the others wait.
    n_done: usize,
    trie: Trie,
    leaves: Vec<HistoryId>,
    /// Per leaf; they sum up to 1.
    weights: Vec<f64>,
    /// Per leaf: the sum of the weights up to it, once all steps are worked in.
    sums: Vec<f64>,
    /// A state that the own moves lead to, for the case that nothing explains what was seen.
    guess: State,
    account: BeliefAccount,
}

impl Belief {
    /// The belief of a role at the beginning of a match.
    pub(crate) fn new(seat: &Seat<'_>, sizes: BeliefSizes) -> Belief {
        let (game, role, initial) = (seat.game, seat.role, seat.start);
        Belief {
            role,
            sizes,
            world: World::at(game, initial),
            particles: Particles::new(game),
            // Apart from that of the bot, so that looking back never changes how it searches.
            random: Random::new(seat.seed ^ 0x5eed),
            steps: Vec::new(),
            n_done: 0,
            trie: Trie::new(initial, game.n_roles()),
            leaves: vec![HistoryId::ROOT],
            weights: vec![1.0],
            sums: vec![1.0],
            guess: initial.clone(),
            account: BeliefAccount {
                particles: 1,
                is_exact: true,
                effective: 1.0,
                consistent_share: 1.0,
                ..BeliefAccount::default()
            },
        }
    }

    pub(crate) fn role(&self) -> RoleId {
        self.role
    }

    /// Takes note of a step.
    pub(crate) fn saw(&mut self, own: MoveId, percepts: &[PerceptId]) {
        let mut percepts = percepts.to_vec();
        percepts.sort_unstable();
        percepts.dedup();
        self.steps.push(Step {
            own,
            percepts: percepts.into(),
        });
        self.account.steps = self.steps.len();
    }

    /// Steps of the match.
    pub(crate) fn n_steps(&self) -> usize {
        self.steps.len()
    }

    /// The possible histories, with their weights.
    pub(crate) fn leaves(&self) -> &[HistoryId] {
        &self.leaves
    }

    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }

    pub(crate) fn trie(&self) -> &Trie {
        &self.trie
    }

    pub(crate) fn account(&self) -> BeliefAccount {
        self.account
    }

    /// One of the possible histories, by weight; `None` if none is known.
    pub(crate) fn draw(&self, random: &mut Random) -> Option<HistoryId> {
        let drawn = random.unit();
        let place = self.sums.partition_point(|&sum| sum <= drawn);
        self.leaves.get(place).or(self.leaves.last()).copied()
    }

    /// The legal moves of the role. If the rules let them depend on what the role cannot know, those that are most probably
    /// legal. Without any possible history, those of a guess.
    pub(crate) fn legal_moves(&mut self) -> Vec<MoveId> {
        /// More histories are not asked.
        const MOST: usize = 256;
        if self.leaves.is_empty() {
            let views = vec![ViewKey::START; self.world.n_roles()];
            self.world.load(&self.guess, &views);
            return self.world.legal(self.role).to_vec();
        }
        let stride = self.leaves.len().div_ceil(MOST);
        let mut shares: Vec<(MoveId, f64)> = Vec::new();
        for idx in (0..self.leaves.len()).step_by(stride) {
            let (leaf, weight) = (self.leaves[idx], self.weights[idx]);
            self.world
                .load(self.trie.state(leaf), self.trie.views(leaf));
            for &mv in self.world.legal(self.role) {
                match shares.iter_mut().find(|share| share.0 == mv) {
                    Some(share) => share.1 += weight,
                    None => shares.push((mv, weight)),
                }
            }
        }
        let most = shares.iter().map(|share| share.1).fold(0.0, f64::max);
        let likely = shares
            .into_iter()
            .filter(|share| share.1 >= most * (1.0 - 1e-9));
        let mut moves: Vec<MoveId> = likely.map(|share| share.0).collect();
        moves.sort_unstable();
        moves
    }

    /// Works in all steps that wait, as far as the limits allow.
    pub(crate) fn catch_up(&mut self, meter: &mut Meter<'_>) {
        while self.n_done < self.steps.len() {
            self.work_in(meter);
        }
        if self.leaves.len() < self.sizes.least && !self.account.is_exact {
            self.refill(meter);
        }
        let sums = self.weights.iter().scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        self.sums = sums.collect();
        self.account.is_lost = self.leaves.is_empty();
        self.account.particles = self.leaves.len();
        let squares: f64 = self.weights.iter().map(|weight| weight * weight).sum();
        self.account.effective = if squares > 0.0 { 1.0 / squares } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    /// Chance thinks of four binary digits, each with its own probability; you ask for one after the other.
    const DIGITS: &str = "(role you) (role random) (value 0) (value 1) (place 1) (place 2) (place 3) (place 4)
        (init think) (init (left 1)) (after 1 2) (after 2 3) (after 3 4) (after 4 5)
        (<= (legal random (think ?a ?b ?c ?d)) (true think) (value ?a) (value ?b) (value ?c) (value ?d))
        (<= (legal random (twice ?b)) (true think) (value ?b))
        (<= (legal random wait) (not (true think)))
        (<= (legal you wait) (true think)) (<= (legal you ask) (not (true think)))
        (<= (next (digit 1 ?a)) (does random (think ?a ?b ?c ?d)))
        (<= (next (digit 2 ?b)) (does random (think ?a ?b ?c ?d)))
        (<= (next (digit 3 ?c)) (does random (think ?a ?b ?c ?d)))
        (<= (next (digit 4 ?d)) (does random (think ?a ?b ?c ?d)))
        (<= (next (digit ?n 1)) (place ?n) (does random (twice ?b)))
        (<= (next (digit ?n ?b)) (true (digit ?n ?b)))
        (<= (next (left ?n)) (true think) (true (left ?n)))
        (<= (next (left ?m)) (true (left ?n)) (not (true think)) (after ?n ?m))
        (<= (sees you ?b) (does you ask) (true (left ?n)) (true (digit ?n ?b)))
        (<= terminal (true (left 5))) (<= (goal you 50) (true (left ?n))) (goal random 0)";

    fn game() -> Arc<Game> {
        let rules = agon_gdl::check(&agon_gdl::parse(DIGITS.as_bytes(), &Default::default()));
        let rules = Arc::new(rules.unwrap_or_else(|findings| panic!("{findings:?}")));
        Arc::new(Game::compile(rules, &Default::default(), &|| false).expect("it runs"))
    }

    /// The belief of the role after it was told these digits.
    fn belief(game: &Arc<Game>, sizes: BeliefSizes, digits: &[&str], seed: u64) -> Belief {
        let seat = Seat {
            game,
            role: RoleId(0),
            start: game.initial_state(),
            seed,
        };
        let mut belief = Belief::new(&seat, sizes);
        let mv = |text| game.find_move(RoleId(0), text).expect("it is a move");
        belief.saw(mv("wait"), &[]);
        let limits = Limits::default();
        for digit in digits {
            belief.catch_up(&mut Meter::start(&limits));
            let percept = game.find_percept(digit).expect("it is a percept");
            belief.saw(mv("ask"), &[percept]);
        }
        belief.catch_up(&mut Meter::start(&limits));
        belief
    }

    #[test]
    fn weights_are_probabilities_given_what_was_seen() {
        let game = game();
        let start = belief(&game, BeliefSizes::DEFAULT, &[], 1);
        // Eighteen moves, of which three lead to four ones.
        assert_eq!(start.leaves().len(), 16);
        let most = start.weights().iter().copied().fold(0.0, f64::max);
        assert!((most - 3.0 / 18.0).abs() < 1e-12);
        let later = belief(&game, BeliefSizes::DEFAULT, &["1", "1", "1"], 1);
        let mut weights = later.weights().to_vec();
        weights.sort_by(f64::total_cmp);
        assert_eq!(weights.len(), 2);
        assert!((weights[0] - 0.25).abs() < 1e-12 && (weights[1] - 0.75).abs() < 1e-12);
        assert!(later.account().is_exact);
    }

    #[test]
    fn histories_are_found_again() {
        const SMALL: BeliefSizes = BeliefSizes {
            exact: 2,
            sampled: 3,
            least: 2,
            tries: 4.0,
            bytes: 1 << 20,
        };
        let game = game();
        let mut n_refills = 0;
        for seed in 0..30 {
            let belief = belief(&game, SMALL, &["0", "1", "0"], seed);
            assert!(!belief.account().is_lost, "seed {seed}");
            assert!(!belief.account().is_exact);
            for &leaf in belief.leaves() {
                let fluents = game.fluents(belief.trie().state(leaf));
                for digit in ["(digit 1 0)", "(digit 2 1)", "(digit 3 0)"] {
                    assert!(fluents.iter().any(|fluent| fluent == digit), "{fluents:?}");
                }
            }
            n_refills += belief.account().refilled;
        }
        assert!(n_refills > 0, "three of sixteen are not enough");
    }

    #[test]
    fn what_cannot_be_is_not_believed() {
        let game = game();
        let limits = Limits::default();
        let mut belief = belief(&game, BeliefSizes::DEFAULT, &[], 1);
        let ask = game.find_move(RoleId(0), "ask").expect("it is a move");
        belief.saw(ask, &[]);
        belief.catch_up(&mut Meter::start(&limits));
        assert!(belief.account().is_lost);
        assert_eq!(
            belief.legal_moves(),
            [ask],
            "its own moves are all that it can go by"
        );
    }

    #[test]
    fn memory_is_bounded() {
        let sizes = BeliefSizes {
            bytes: 1200,
            ..BeliefSizes::DEFAULT
        };
        let game = game();
        let belief = belief(&game, sizes, &[], 1);
        assert!(belief.trie().n_bytes() <= 1200);
        assert!(!belief.leaves().is_empty() && belief.leaves().len() < 16);
    }
}
