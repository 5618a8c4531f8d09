//! MAST, the move-average sampling technique: a move that was good in all kinds of states is tried more often.
//!
//! Each role has a mean per move over all simulations in which it made it, in and out of the tree. Outside the tree, and
//! among unexplored moves in it, a move is drawn by the Gibbs distribution `exp(mean / τ) / Σ exp(mean / τ)`, or greedily:
//! any move with chance ε, otherwise the one with the highest mean. A move never seen has a mean of its own, high by
//! default, so that it is seen soon.
//!
//! FAST may add what it knows of pieces and places, and n-grams what it is worth to make a move after others: the value of
//! a move is then the mean of its own mean and those of the n-grams that it ends.
//!
//! In: the moves of simulations with their values. Out: moves.
//!
//! - Finnsson and Björnsson 2008, Simulation-Based Approach to General Game Playing (MAST, Gibbs)
//! - Tak, Winands and Björnsson 2012, N-Grams and the Last-Good-Reply Policy (ε-greedy is better)
//! - Tak, Winands and Björnsson 2014, Decaying Simulation Strategies (decay between moves)

use agon_engine::lanes::{Choosing, Urgency, Weights};
use agon_engine::{Game, MoveId, RoleId};

use crate::fast::{Bias, Fast};
use crate::nst::Nst;
use crate::params::{FastKind, MastChoice, Params, PlayoutKind};
use crate::random::Random;

/// Means of moves.
#[derive(Clone)]
pub(crate) struct Mast {
    choice: MastChoice,
    temperature: f32,
    epsilon: f64,
    unseen: f32,
    decay: f32,
    /// Per role and move.
    entries: Vec<Vec<Entry>>,
    /// What is learned of pieces and places, if it is.
    pub(crate) fast: Option<Fast>,
    /// Why it is not, if it should.
    pub(crate) fast_fault: Option<&'static str>,
    /// What is learned of moves after others, if it is.
    pub(crate) nst: Option<Nst>,
    // Scratch.
    /// Weights of the moves to draw from.
    weights: Vec<f32>,
}

#[derive(Clone, Copy)]
struct Entry {
    mean: f32,
    count: f32,
    /// The Gibbs weight of the mean; not a number if it must be computed again.
    weight: f32,
}

/// Counts below this are forgotten.
const LEAST_COUNT: f32 = 1e-3;
/// Means closer than this are equal in the lanes.
const TIE: f32 = 1e-3;

impl Mast {
    pub(crate) fn new(params: &Params, n_roles: usize) -> Mast {
        Mast {
            choice: params.mast_choice,
            temperature: params.mast_temperature as f32,
            epsilon: params.mast_epsilon,
            unseen: params.mast_unseen as f32,
            decay: params.mast_decay as f32,
            entries: vec![Vec::new(); n_roles],
            fast: None,
            fast_fault: None,
            nst: (params.playout == PlayoutKind::Nst).then(|| Nst::new(params)),
            weights: Vec::new(),
        }
    }

    /// With all that the knobs ask for in a game.
    pub(crate) fn of_game(params: &Params, game: &Game) -> Mast {
        let mut mast = Mast::new(params, game.n_roles());
        if params.fast != FastKind::Off {
            match Fast::new(game, params) {
                Ok(fast) => mast.fast = Some(fast),
                Err(reason) => mast.fast_fault = Some(reason),
            }
        }
        mast
    }

    /// Whether what a move is worth depends on more than lanes know.
    pub(crate) fn looks_back(&self) -> bool {
        self.nst.is_some()
    }

    /// A move is to be chosen in this state, after these moves of the simulation.
    #[inline]
    pub(crate) fn stand(&mut self, words: &[u64], record: &[MoveId]) {
        if let Some(fast) = &mut self.fast {
            fast.stand(words);
        }
        if let Some(nst) = &mut self.nst {
            nst.stand(record, self.entries.len());
        }
    }

    /// What the simulation was worth, if anything; the states that FAST saw are over.
    pub(crate) fn end(&mut self, values: &[f64]) {
        if let Some(fast) = &mut self.fast {
            fast.end(values);
        }
    }

    /// The role made this move after those, which was worth this much.
    #[inline]
    pub(crate) fn add_after(&mut self, before: &[MoveId], role: usize, of: MoveId, value: f64) {
        self.add(role, of, value);
        if let Some(nst) = &mut self.nst {
            nst.add(before, self.entries.len(), role, of, value);
        }
    }

    /// A simulation in which the role made this move was worth this much.
    #[inline]
    pub(crate) fn add(&mut self, role: usize, of: MoveId, value: f64) {
        let entry = self.entry_mut(role, of);
        entry.count += 1.0;
        entry.mean += (value as f32 - entry.mean) / entry.count;
        entry.weight = f32::NAN;
    }

    /// So many simulations in which the role made this move were worth this much together.
    #[inline]
    pub(crate) fn add_many(&mut self, role: usize, of: MoveId, n: u32, sum: f32) {
        let entry = self.entry_mut(role, of);
        let n = n as f32;
        entry.count += n;
        entry.mean += (sum - n * entry.mean) / entry.count;
        entry.weight = f32::NAN;
    }

    /// The same choice for the lanes engine, for roles with so many moves each. What is never seen weighs there as much as the
    /// best that was: lanes know few sizes of weights, and most of them would be lost to the distance. Equal means
    /// of a greedy choice are told apart by chance.
    pub(crate) fn choosing(&self, n_moves: &[usize], random: &mut Random) -> Choosing {
        let mut weights = Weights::new(n_moves.iter().copied());
        let fast = self.fast.as_ref();
        let mut cases = Vec::new();
        for (role, &n) in n_moves.iter().enumerate() {
            let entries = &self.entries[role];
            let seen = entries.iter().filter(|entry| entry.count > 0.0);
            let best = seen.map(|entry| entry.mean).fold(f32::MIN, f32::max);
            let unseen = self.unseen.min(best);
            let captures = fast.map(|fast| fast.captures(role, &mut weights));
            let captures = captures.unwrap_or_default();
            // Only ratios count; no number must be too large.
            let most = fast.map_or(0.0, |fast| fast.most_value(role));
            for idx in 0..n {
                let of = MoveId(idx as u32);
                let entry = entries.get(idx).filter(|entry| entry.count > 0.0);
                let mut mean = entry.map_or(unseen, |entry| entry.mean);
                if self.choice == MastChoice::Greedy {
                    mean += random.unit() as f32 * TIE;
                }
                let gibbs = |value: f32| libm::expf((value - best) / self.temperature);
                let weight = |bias: f32| match self.choice {
                    MastChoice::Gibbs => gibbs(mean + bias - most),
                    MastChoice::Greedy => mean + bias,
                };
                let bias = fast.map_or(0.0, |fast| fast.cases(role, of, &mut cases));
                let to = weights.get_mut(RoleId(role as u16), of);
                to.weight = weight(bias);
                let cases = cases.iter();
                to.cases
                    .extend(cases.map(|&(fluent, bias)| (fluent, weight(bias))));
                to.urgency = captures
                    .get(idx)
                    .and_then(Option::as_ref)
                    .map(|of| Urgency {
                        weight: gibbs(mean),
                        on: of.on,
                        by: Some(of.by),
                    });
            }
        }
        match self.choice {
            MastChoice::Gibbs => Choosing::Proportional(weights),
            MastChoice::Greedy => Choosing::Greedy(weights, self.epsilon),
        }
    }

    /// The match went on by a move: what was learned before counts less.
    pub(crate) fn decay(&mut self) {
        if self.decay == 1.0 {
            return;
        }
        if let Some(nst) = &mut self.nst {
            nst.decay(self.decay);
        }
        for entry in self.entries.iter_mut().flatten() {
            entry.count *= self.decay;
            if entry.count < LEAST_COUNT {
                *entry = Entry {
                    mean: self.unseen,
                    count: 0.0,
                    weight: f32::NAN,
                };
            }
        }
    }

    /// The mean of a move, if it was seen.
    pub(crate) fn mean(&self, role: usize, of: MoveId) -> Option<f64> {
        let entry = self.entries[role].get(of.0 as usize)?;
        (entry.count > 0.0).then(|| f64::from(entry.mean))
    }

    /// How many moves were seen.
    pub(crate) fn n_seen(&self) -> usize {
        let entries = self.entries.iter().flatten();
        entries.filter(|entry| entry.count > 0.0).count()
    }

    /// One of these moves of a role, by its place; there is at least one.
    pub(crate) fn choose(
        &mut self,
        role: usize,
        moves: impl ExactSizeIterator<Item = MoveId> + Clone,
        random: &mut Random,
    ) -> usize {
        match self.choice {
            _ if moves.len() == 1 => 0,
            MastChoice::Gibbs => self.draw(role, moves, random),
            MastChoice::Greedy if random.unit() < self.epsilon => {
                random.below(moves.len() as u32) as usize
            }
            MastChoice::Greedy => self.best(role, moves, random),
        }
    }

    fn draw(
        &mut self,
        role: usize,
        moves: impl ExactSizeIterator<Item = MoveId> + Clone,
        random: &mut Random,
    ) -> usize {
        let mut weights = std::mem::take(&mut self.weights);
        weights.clear();
        let mut sum = 0.0_f32;
        if self.nst.is_none() {
            weights.extend(moves.clone().map(|of| self.weight(role, of)));
            if let Some(biases) = self.biases(role, moves.clone()) {
                let pairs = weights.iter_mut().zip(biases);
                pairs.for_each(|(weight, bias)| *weight *= bias.factor);
            }
            sum = weights.iter().sum();
        }
        if !(1e-20..1e30).contains(&sum) {
            // All weights are as good as zero, as happens when it is cold: only their ratios count.
            sum = self.warm(role, moves, &mut weights);
        }
        let mut left = random.unit() as f32 * sum;
        let mut chosen = weights.len() - 1;
        for (idx, &weight) in weights.iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                chosen = idx;
                break;
            }
        }
        self.weights = weights;
        chosen
    }

    /// Weights relative to that of the best move.
    fn warm(
        &mut self,
        role: usize,
        moves: impl Iterator<Item = MoveId> + Clone,
        weights: &mut Vec<f32>,
    ) -> f32 {
        self.fill_values(role, moves, weights);
        let best = weights.iter().copied().fold(f32::MIN, f32::max);
        for weight in &mut *weights {
            *weight = libm::expf((*weight - best) / self.temperature);
        }
        weights.iter().sum()
    }

    /// What FAST thinks of these moves, if it has an opinion.
    fn biases(&mut self, role: usize, moves: impl Iterator<Item = MoveId>) -> Option<&[Bias]> {
        self.fast.as_mut().and_then(|fast| fast.biases(role, moves))
    }

    /// The values of these moves, all techniques together.
    fn fill_values(
        &mut self,
        role: usize,
        moves: impl Iterator<Item = MoveId> + Clone,
        values: &mut Vec<f32>,
    ) {
        values.clear();
        for of in moves.clone() {
            let entry = *self.entry_mut(role, of);
            let value = match &self.nst {
                Some(nst) if entry.count > 0.0 => nst.value(role, of, entry.mean),
                _ => entry.mean,
            };
            values.push(value);
        }
        if let Some(biases) = self.biases(role, moves) {
            let pairs = values.iter_mut().zip(biases);
            pairs.for_each(|(value, bias)| *value += bias.value);
        }
    }

    /// The Gibbs weight of a move; a mean of 100 weighs 1.
    #[inline]
    fn weight(&mut self, role: usize, of: MoveId) -> f32 {
        let temperature = self.temperature;
        let entry = self.entry_mut(role, of);
        if entry.weight.is_nan() {
            entry.weight = libm::expf((entry.mean - 100.0) / temperature);
        }
        entry.weight
    }

    fn best(
        &mut self,
        role: usize,
        moves: impl Iterator<Item = MoveId> + Clone,
        random: &mut Random,
    ) -> usize {
        let mut values = std::mem::take(&mut self.weights);
        self.fill_values(role, moves, &mut values);
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
        self.weights = values;
        chosen
    }

    #[inline]
    fn entry_mut(&mut self, role: usize, of: MoveId) -> &mut Entry {
        let entries = &mut self.entries[role];
        let at = of.0 as usize;
        if at >= entries.len() {
            let unseen = Entry {
                mean: self.unseen,
                count: 0.0,
                weight: f32::NAN,
            };
            entries.resize((at + 1).next_power_of_two(), unseen);
        }
        &mut entries[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walker::Walker;
    use agon_engine::JointMove;
    use agon_engine::lanes::{Job, LanesOptions, Until};

    const MOVES: [MoveId; 3] = [MoveId(0), MoveId(1), MoveId(2)];

    fn mast(set: &[(&str, &str)]) -> Mast {
        let mut params = Params::default();
        for (name, value) in set {
            params.set(name, value).expect("it can be set");
        }
        Mast::new(&params, 1)
    }

    /// How often each of three moves is chosen of a thousand times.
    fn shares(mast: &mut Mast) -> [f64; 3] {
        let mut random = Random::new(1);
        let mut counts = [0.0; 3];
        for _ in 0..20_000 {
            counts[mast.choose(0, MOVES.iter().copied(), &mut random)] += 1.0 / 20_000.0;
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

    const SKIRMISH: &str = include_str!("../../games/games/skirmish.kif");

    /// How far the first moves of playouts in the lanes are from what single simulations choose, with and without captures.
    fn distances(set: &[(&str, &str)]) -> [f64; 2] {
        let rules = agon_gdl::check(&agon_gdl::parse(SKIRMISH.as_bytes(), &Default::default()));
        let rules = std::sync::Arc::new(rules.expect("it is fine"));
        let game = Game::compile(rules, &Default::default(), &|| false).expect("it runs");
        let mut params = Params::default();
        params.set("fast", "types").expect("it can be set");
        for (name, value) in set {
            params.set(name, value).expect("it can be set");
        }
        let mut mast = Mast::of_game(&params, &game);
        let fast = mast.fast.as_mut().expect("there are types");
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
            (0..n).for_each(|of| mast.add(role, MoveId(of as u32), 50.0 + 6.93 * (of % 3) as f64));
        }
        let mut random = Random::new(4);
        let mut lanes = game.grounded().expect("it grounds").lanes(&LanesOptions {
            moves: true,
            ..LanesOptions::default()
        });
        lanes.set_choosing(&mast.choosing(&n_moves, &mut random));
        let mut walker = Walker::new(&game);
        let mut worst = [0.0_f64; 2];
        for step in 0..40 {
            let moves: Vec<Vec<MoveId>> = RoleId::all(2)
                .map(|role| walker.legal_moves(role).to_vec())
                .collect();
            let mover = usize::from(moves[1].len() > moves[0].len());
            // What single simulations do.
            mast.stand(walker.words(), &[]);
            let among = moves[mover].iter().copied();
            let has_capture = mast.biases(mover, among.clone()).is_some();
            let mut shares = Vec::new();
            let sum = mast.warm(mover, among, &mut shares);
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
                let at = moves[mover].iter().position(|of| Some(*of) == first);
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
        let [without, with] = distances(&[]);
        assert!(without > 0.0 && without < 0.03, "{without}");
        assert!(with > 0.0 && with < 0.03, "{with}");
    }

    #[test]
    fn means_are_incremental_and_per_role() {
        let mut mast = Mast::new(&Params::default(), 2);
        for value in [100.0, 0.0, 50.0] {
            mast.add(0, MoveId(5), value);
        }
        mast.add(1, MoveId(5), 10.0);
        assert_eq!(mast.mean(0, MoveId(5)), Some(50.0));
        assert_eq!(mast.mean(1, MoveId(5)), Some(10.0));
        assert_eq!(
            (mast.mean(0, MoveId(4)), mast.mean(0, MoveId(900))),
            (None, None)
        );
        assert_eq!(mast.n_seen(), 2);
    }

    #[test]
    fn gibbs_draws_as_by_hand() {
        // Means 50, 60 and 40 at τ = 10: weights 1 : e : 1/e, which are 0.2447, 0.6652 and 0.0900.
        let mut mast = mast(&[]);
        for (of, mean) in MOVES.into_iter().zip([50.0, 60.0, 40.0]) {
            mast.add(0, of, mean);
        }
        assert_near(shares(&mut mast), [0.2447, 0.6652, 0.0900]);
    }

    #[test]
    fn a_move_never_seen_counts_100() {
        // Two unseen moves and one of mean 90: weights 1 : 1 : 1/e.
        let mut mast = mast(&[]);
        mast.add(0, MoveId(2), 90.0);
        assert_near(shares(&mut mast), [0.4223, 0.4223, 0.1554]);
    }

    #[test]
    fn cold_distributions_still_choose() {
        let mut mast = mast(&[("mast_temperature", "0.01")]);
        for (of, mean) in MOVES.into_iter().zip([50.0, 50.0, 40.0]) {
            mast.add(0, of, mean);
        }
        assert_near(shares(&mut mast), [0.5, 0.5, 0.0]);
    }

    #[test]
    fn greedy_takes_the_best_but_for_chance() {
        let mut mast = mast(&[("mast_choice", "greedy"), ("mast_epsilon", "0.3")]);
        for (of, mean) in MOVES.into_iter().zip([50.0, 60.0, 40.0]) {
            mast.add(0, of, mean);
        }
        assert_near(shares(&mut mast), [0.1, 0.8, 0.1]);
    }

    #[test]
    fn decay_makes_the_past_count_less() {
        let mut mast = mast(&[("mast_decay", "0.2")]);
        for _ in 0..10 {
            mast.add(0, MoveId(0), 100.0);
        }
        mast.decay();
        // Two of ten are left: two at 100 and two at 0 give 50.
        mast.add(0, MoveId(0), 0.0);
        mast.add(0, MoveId(0), 0.0);
        assert!((mast.mean(0, MoveId(0)).expect("it was seen") - 50.0).abs() < 1e-4);
        for _ in 0..10 {
            mast.decay();
        }
        assert_eq!(mast.mean(0, MoveId(0)), None, "in the end it is forgotten");
    }
}
