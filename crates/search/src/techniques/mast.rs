//! MAST, the move-average sampling technique: a move that was good in all kinds of states is tried more often.
//!
//! Each role has a mean per move over all simulations in which it made it, in and out of the tree. Outside the tree, and
//! among unexplored moves in it, a move is drawn by the Gibbs distribution `exp(mean / τ) / Σ exp(mean / τ)`, or greedily:
//! any move with chance ε, otherwise the one with the highest mean. A move never seen has a mean of its own, high by
//! default, so that it is seen soon.
//!
//! In: the moves of simulations with their values. Out: moves.
//!
//! - Finnsson and Björnsson 2008, Simulation-Based Approach to General Game Playing (MAST, Gibbs)
//! - Tak, Winands and Björnsson 2012, N-Grams and the Last-Good-Reply Policy (ε-greedy is better)
//! - Tak, Winands and Björnsson 2014, Decaying Simulation Strategies (decay between moves)

use agon_engine::{Game, MoveId, RoleId};

use super::{Facts, Technique};
use crate::account::TechniqueAccount;
use crate::lane_policy::LanePolicy;
use crate::params::{Params, PlayoutKind};
use crate::simulation::Simulation;
use crate::tree::Tree;

/// Means of moves.
#[derive(Clone)]
pub(crate) struct Mast {
    decay: f32,
    /// Per role and move.
    entries: Vec<Vec<Entry>>,
}

#[derive(Clone, Copy)]
struct Entry {
    mean: f32,
    count: f32,
}

/// What a move that was never seen is thought to be worth (CadiaPlayer).
pub(crate) const UNSEEN: f32 = 100.0;
/// Counts below this are forgotten.
const LEAST_COUNT: f32 = 1e-3;

impl Entry {
    const UNSEEN: Entry = Entry {
        mean: UNSEEN,
        count: 0.0,
    };
}

impl Mast {
    pub(crate) fn new(params: &Params, n_roles: usize) -> Mast {
        Mast {
            decay: params.mast_decay as f32,
            entries: vec![Vec::new(); n_roles],
        }
    }

    /// If playouts go by it.
    pub(crate) fn for_game(game: &Game, params: &Params) -> Option<Mast> {
        matches!(params.playout, PlayoutKind::Mast | PlayoutKind::Nst)
            .then(|| Mast::new(params, game.n_roles()))
    }

    /// Adds simulations in which the role made this move, whose values have this sum.
    #[inline]
    pub(crate) fn add(&mut self, role: usize, mv: MoveId, n: u32, sum: f32) {
        let entry = self.entry_mut(role, mv);
        let n = n as f32;
        entry.count += n;
        entry.mean += (sum - n * entry.mean) / entry.count;
    }

    /// The mean of a move, if it was seen.
    pub(crate) fn mean(&self, role: usize, mv: MoveId) -> Option<f64> {
        let entry = self.entries[role].get(mv.0 as usize)?;
        (entry.count > 0.0).then(|| f64::from(entry.mean))
    }

    #[inline]
    fn entry_mut(&mut self, role: usize, mv: MoveId) -> &mut Entry {
        let entries = &mut self.entries[role];
        let at = mv.0 as usize;
        if at >= entries.len() {
            entries.resize((at + 1).next_power_of_two(), Entry::UNSEEN);
        }
        &mut entries[at]
    }
}

impl Technique for Mast {
    fn is_policy(&self) -> bool {
        true
    }

    fn add_values(&mut self, role: RoleId, moves: &[MoveId], values: &mut [f32]) {
        let entries = &self.entries[role.idx()];
        for (mv, value) in moves.iter().zip(values) {
            let entry = entries.get(mv.0 as usize);
            *value += entry.map_or(UNSEEN, |entry| entry.mean);
        }
    }

    /// What was never seen weighs as much as the best that was: lanes know few sizes of weights, and most of them would be
    /// lost to the distance.
    fn add_to(&self, policy: &mut LanePolicy) {
        for role in 0..policy.n_roles() {
            let entries = &self.entries[role];
            let seen = entries.iter().filter(|entry| entry.count > 0.0);
            let best = seen.map(|entry| entry.mean).fold(f32::MIN, f32::max);
            let unseen = UNSEEN.min(best);
            for (idx, mv) in policy.moves(role).iter_mut().enumerate() {
                let entry = entries.get(idx).filter(|entry| entry.count > 0.0);
                mv.value += entry.map_or(unseen, |entry| entry.mean);
            }
        }
    }

    fn observe(&mut self, tree: &mut Tree, simulation: &Simulation<'_>) {
        let n_roles = simulation.n_roles();
        let n_levels = simulation.nodes.len();
        for (level, &node) in simulation.nodes.iter().enumerate() {
            let factor = simulation.powers.get(n_levels - 1 - level);
            for role in 0..n_roles {
                if tree.has_choice(node, role) {
                    let mv = simulation.record[level * n_roles + role];
                    let sum = simulation.sums[role] * factor;
                    self.add(role, mv, simulation.visits, sum as f32);
                }
            }
        }
        for (values, _, made) in simulation.samples() {
            for made in made {
                let role = usize::from(made.role);
                let value = values[role] * simulation.powers.get(usize::from(made.to_go));
                self.add(role, made.mv, 1, value as f32);
            }
        }
    }

    fn decay(&mut self) {
        if self.decay == 1.0 {
            return;
        }
        for entry in self.entries.iter_mut().flatten() {
            entry.count *= self.decay;
            if entry.count < LEAST_COUNT {
                *entry = Entry::UNSEEN;
            }
        }
    }

    fn account(&self, _facts: &Facts<'_>) -> TechniqueAccount {
        let entries = self.entries.iter().flatten();
        let n_moves = entries.filter(|entry| entry.count > 0.0).count() as u64;
        TechniqueAccount::Counts {
            name: "mast",
            counts: vec![("moves", n_moves)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane_policy::Rule;
    use crate::policy::{PlayoutPolicy, for_lanes};
    use crate::random::Random;
    use crate::techniques::fast::Fast;
    use crate::techniques::{StateView, Techniques};
    use crate::walker::Walker;
    use agon_engine::JointMove;
    use agon_engine::lanes::{Job, LanesOptions, Until};

    const MOVES: [MoveId; 3] = [MoveId(0), MoveId(1), MoveId(2)];

    fn params(set: &[(&str, &str)]) -> Params {
        let mut params = Params::default();
        for (name, value) in set {
            params.set(name, value).expect("it can be set");
        }
        params
    }

    /// How often each of three moves with these means is chosen.
    fn shares(set: &[(&str, &str)], means: [Option<f32>; 3]) -> [f64; 3] {
        let mut mast = Mast::new(&Params::default(), 1);
        for (mv, mean) in MOVES.into_iter().zip(means) {
            mean.into_iter().for_each(|mean| mast.add(0, mv, 1, mean));
        }
        let mut techniques = Techniques {
            mast: Some(mast),
            ..Techniques::none()
        };
        let mut policy = PlayoutPolicy::new(&params(set));
        let mut random = Random::new(1);
        let mut counts = [0.0; 3];
        for _ in 0..20_000 {
            let chosen = policy.choose(&mut techniques, RoleId(0), &MOVES, &mut random);
            counts[chosen] += 1.0 / 20_000.0;
        }
        counts
    }

    fn assert_near(shares: [f64; 3], expected: [f64; 3]) {
        let is_near = shares
            .iter()
            .zip(expected)
            .all(|(a, b)| (a - b).abs() < 0.012);
        assert!(is_near, "{shares:?} is not {expected:?}");
    }

    const SKIRMISH: &str = include_str!("../../../games/games/skirmish.kif");

    /// How far the first moves of playouts in the lanes are from what single simulations choose, with and without captures.
    fn distances() -> [f64; 2] {
        let rules = agon_gdl::check(&agon_gdl::parse(SKIRMISH.as_bytes(), &Default::default()));
        let rules = std::sync::Arc::new(rules.expect("it is fine"));
        let game = Game::compile(rules, &Default::default(), &|| false).expect("it runs");
        let params = params(&[("fast", "types"), ("playout", "mast")]);
        let mut mast = Mast::new(&params, 2);
        let mut fast = Fast::new(&game, &params).expect("there are types");
        let worth = |name: &str| match name.split_once('_') {
            Some((_, "rook")) => 13.0,
            Some((_, "pawn")) => 5.0,
            _ => 9.0,
        };
        fast.teach(|name| worth(name) * if name.starts_with("white") { 1.0 } else { -1.0 });
        let roles = &game.grounded().expect("it grounds").program().roles;
        let n_moves: Vec<usize> = roles.iter().map(|role| role.moves.len()).collect();
        for (role, &n) in n_moves.iter().enumerate() {
            // Ratios of e^0.7, which classes of weights round to 2.
            (0..n)
                .for_each(|mv| mast.add(role, MoveId(mv as u32), 1, 50.0 + 6.93 * (mv % 3) as f32));
        }
        let mut techniques = Techniques {
            mast: Some(mast),
            fast: Some(fast),
            ..Techniques::none()
        };
        let mut random = Random::new(4);
        let mut lanes = game.grounded().expect("it grounds").lanes(&LanesOptions {
            moves: true,
            ..LanesOptions::default()
        });
        let policy = for_lanes(&techniques, &n_moves).expect("there is one");
        lanes.set_choosing(&policy.into_choosing(Rule::new(&params), &mut random));
        let mut walker = Walker::new(&game);
        let mut worst = [0.0_f64; 2];
        for step in 0..40 {
            let moves: Vec<Vec<MoveId>> = RoleId::all(2)
                .map(|role| walker.legal_moves(role).to_vec())
                .collect();
            let mover = usize::from(moves[1].len() > moves[0].len());
            // What single simulations do.
            let view = StateView {
                words: walker.words(),
                record: &[],
                legal: &moves,
            };
            techniques.all_mut().for_each(|one| one.stand(&view));
            let among = &moves[mover];
            let fast = techniques.fast.as_mut().expect("it is there");
            let has_capture = fast.biases(mover, among).is_some();
            let mut shares = vec![0.0; among.len()];
            let role = RoleId(mover as u16);
            techniques
                .all_mut()
                .for_each(|one| one.add_values(role, among, &mut shares));
            let top = shares.iter().copied().fold(f32::MIN, f32::max);
            shares
                .iter_mut()
                .for_each(|share| *share = libm::expf((*share - top) / 10.0));
            let sum: f32 = shares.iter().sum();
            // What lanes do.
            const N: u32 = 40_000;
            lanes.submit([Job {
                n_playouts: N,
                most_steps: 1,
                ..Job::new(&walker.state(), 0)
            }]);
            lanes.run(Until::Idle);
            let mut counts = vec![0.0; moves[mover].len()];
            lanes.drain(|playout| {
                let first = playout.moves(RoleId(mover as u16)).next();
                let at = moves[mover].iter().position(|mv| Some(*mv) == first);
                counts[at.expect("it is legal")] += 1.0 / f64::from(N);
            });
            let pairs = counts.iter().zip(&shares);
            let distance = pairs.map(|(a, b)| (a - f64::from(b / sum)).abs());
            let distance = distance.sum::<f64>() / 2.0;
            let worst = &mut worst[usize::from(has_capture)];
            *worst = worst.max(distance);
            if step == 39 {
                break;
            }
            let joint = moves.iter().map(|moves| random.pick(moves).expect("some"));
            walker.advance(&JointMove::new(joint.collect::<Vec<_>>()));
        }
        worst
    }

    #[test]
    fn lanes_choose_as_single_simulations_do() {
        let [without, with] = distances();
        assert!(without > 0.0 && without < 0.03, "{without}");
        assert!(with > 0.0 && with < 0.03, "{with}");
    }

    #[test]
    fn means_are_incremental_and_per_role() {
        let mut mast = Mast::new(&Params::default(), 2);
        for value in [100.0, 0.0, 50.0] {
            mast.add(0, MoveId(5), 1, value);
        }
        mast.add(1, MoveId(5), 1, 10.0);
        assert_eq!(mast.mean(0, MoveId(5)), Some(50.0));
        assert_eq!(mast.mean(1, MoveId(5)), Some(10.0));
        assert_eq!(
            (mast.mean(0, MoveId(4)), mast.mean(0, MoveId(900))),
            (None, None)
        );
    }

    #[test]
    fn gibbs_draws_as_by_hand() {
        // Means 50, 60 and 40 at τ = 10: weights 1 : e : 1/e, which are 0.2447, 0.6652 and 0.0900.
        let means = [50.0, 60.0, 40.0].map(Some);
        assert_near(shares(&[], means), [0.2447, 0.6652, 0.0900]);
    }

    #[test]
    fn a_move_never_seen_counts_100() {
        // Two unseen moves and one of mean 90: weights 1 : 1 : 1/e.
        let means = [None, None, Some(90.0)];
        assert_near(shares(&[], means), [0.4223, 0.4223, 0.1554]);
    }

    #[test]
    fn cold_distributions_still_choose() {
        let means = [50.0, 50.0, 40.0].map(Some);
        assert_near(
            shares(&[("mast_temperature", "0.01")], means),
            [0.5, 0.5, 0.0],
        );
    }

    #[test]
    fn greedy_takes_the_best_but_for_chance() {
        let set = [("mast_choice", "greedy"), ("mast_epsilon", "0.3")];
        let means = [50.0, 60.0, 40.0].map(Some);
        assert_near(shares(&set, means), [0.1, 0.8, 0.1]);
    }

    #[test]
    fn decay_makes_the_past_count_less() {
        let mut mast = Mast::new(&params(&[("mast_decay", "0.2")]), 1);
        for _ in 0..10 {
            mast.add(0, MoveId(0), 1, 100.0);
        }
        mast.decay();
        // Two of ten are left: two at 100 and two at 0 give 50.
        mast.add(0, MoveId(0), 1, 0.0);
        mast.add(0, MoveId(0), 1, 0.0);
        assert!((mast.mean(0, MoveId(0)).expect("it was seen") - 50.0).abs() < 1e-4);
        for _ in 0..10 {
            mast.decay();
        }
        assert_eq!(mast.mean(0, MoveId(0)), None, "in the end it is forgotten");
    }
}
