//! Self-play: hundreds of games at once on one thread.
//!
//! Every game has its own tree and selects one leaf at a time. The leaves of all games are stepped to and looked at together in the lanes, judged
//! by the network, and backed up. When a game has made enough simulations it makes a move: drawn by visits, as they are in the first steps
//! and sharpened later. The priors of the root are mixed with noise, and games begin with a few random moves, so that they differ.
//!
//! A position is kept with the visits of its moves and the value of its root. When its game has ended, the result is mixed with that value, and
//! it becomes a sample.
//!
//! In: a network. Out: samples, and what the games were like.
//!
//! - Silver and others 2017, Mastering the game of Go without human knowledge (noise, temperature, visits as targets)
//! - Willemsen, Baier and Kaisers 2020, Value targets in off-policy AlphaZero (result and root value)

use std::sync::Arc;

use agon_engine::lanes::{Lanes, LanesOptions};
use agon_engine::{Game, Goal, MoveId, RoleId};
use agon_search::Random;
use agon_search::model::{Inference, Network};

use crate::options::Options;
use crate::sample::{Policy, Sample};
use crate::tree::{Leaf, Selection, Tree};

/// Leaves that a game may back up at once, because their worth is known, before it waits for the others.
const MOST_AT_ONCE: usize = 16;

/// Most random moves that the first games begin with.
const FIRST_RANDOM_MOVES: u32 = 40;

/// What games were like.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GameCounts {
    /// Games that ended.
    pub games: u64,
    /// Steps of those.
    pub steps: u64,
    /// Games that were cut because they were too long.
    pub cut: u64,
    /// Per role: the sum of what those games were worth, 0 to 1.
    pub worth: Vec<f64>,
    /// Per role: games that were worth more to it than to any other.
    pub wins: Vec<u64>,
    /// Positions that moves were made in.
    pub positions: u64,
    /// Simulations.
    pub simulations: u64,
}

impl GameCounts {
    /// No games.
    #[must_use]
    pub fn new(n_roles: usize) -> GameCounts {
        GameCounts {
            worth: vec![0.0; n_roles],
            wins: vec![0; n_roles],
            ..GameCounts::default()
        }
    }

    /// Adds others.
    pub fn add(&mut self, other: &GameCounts) {
        self.games += other.games;
        self.steps += other.steps;
        self.cut += other.cut;
        self.positions += other.positions;
        self.simulations += other.simulations;
        for (to, from) in self.worth.iter_mut().zip(&other.worth) {
            *to += from;
        }
        for (to, from) in self.wins.iter_mut().zip(&other.wins) {
            *to += from;
        }
    }
}

/// A position whose game has not ended.
struct Pending {
    sample: Sample,
    /// Per value: that of the root.
    root: Vec<f32>,
}

/// A game of self-play.
struct OneGame {
    tree: Tree,
    random: Random,
    step: u32,
    /// Random moves that it still begins with.
    n_random: u32,
    positions: Vec<Pending>,
    /// Whether the root has its noise.
    has_noise: bool,
    /// Whether the leaf at hand is one by random moves.
    is_random_step: bool,
    /// Whether it is the first game at its place.
    is_first: bool,
}

/// What is known of states that were looked at together.
#[derive(Default)]
struct Looked {
    words: Vec<u64>,
    /// Per state and role.
    legal: Vec<Vec<MoveId>>,
    is_end: Vec<bool>,
    /// Per state and role: goals, 0 to 1, if the match ends.
    worth: Vec<f32>,
}

/// Games of self-play, on one thread.
pub(crate) struct SelfPlay {
    options: Options,
    n_roles: usize,
    n_words: usize,
    lanes: Lanes,
    inference: Inference,
    games: Vec<OneGame>,
    /// The initial state.
    first: Looked,
    // Scratch.
    looked: Looked,
    parents: Vec<u64>,
    moves: Vec<MoveId>,
    waiting: Vec<u32>,
    values: Vec<f32>,
    priors: Vec<Vec<f32>>,
    pub(crate) counts: GameCounts,
    pub(crate) samples: Vec<Sample>,
}

impl SelfPlay {
    /// Games that have not begun; `None` if the game has no lanes.
    pub(crate) fn new(game: &Arc<Game>, options: &Options, seed: u64) -> Option<SelfPlay> {
        let mut lanes = game.lanes(&LanesOptions::default())?;
        let n_roles = game.n_roles();
        let words = game.initial_state().words();
        let n_words = words.len();
        let new_game = |idx: u64| OneGame {
            tree: Tree::new(n_roles, n_words),
            random: Random::new(seed.wrapping_mul(1_000_003).wrapping_add(idx)),
            step: 0,
            n_random: 0,
            positions: Vec::new(),
            has_noise: false,
            is_random_step: false,
            is_first: true,
        };
        let mut first = Looked {
            words: words.to_vec(),
            ..Looked::default()
        };
        first.look(&mut lanes, 1, n_roles);
        if first.is_end[0] {
            return None;
        }
        Some(SelfPlay {
            options: options.clone(),
            n_roles,
            n_words,
            lanes,
            inference: Inference::new(game),
            games: (0..u64::from(options.games)).map(new_game).collect(),
            first,
            looked: Looked::default(),
            parents: Vec::new(),
            moves: Vec::new(),
            waiting: Vec::new(),
            values: vec![0.0; n_roles],
            priors: vec![Vec::new(); n_roles],
            counts: GameCounts::new(n_roles),
            samples: Vec::new(),
        })
    }

    /// Sets how strong the noise is, and how many random moves games begin with.
    pub(crate) fn set_noise(&mut self, noise: f32, n_random: u32) {
        (self.options.noise, self.options.random_moves) = (noise, n_random);
    }

    /// Ends all games without a result.
    pub(crate) fn abandon(&mut self) {
        for one in &mut self.games {
            one.positions.clear();
            one.tree = Tree::new(self.n_roles, self.n_words);
            one.step = 0;
            one.n_random = 0;
            one.has_noise = false;
            one.is_random_step = false;
        }
        self.samples.clear();
    }

    /// Plays until moves were made in this number of positions, or it is told to stop.
    pub(crate) fn run(&mut self, network: &Network, n_positions: u64, stop: &dyn Fn() -> bool) {
        let until = self.counts.positions + n_positions;
        while self.counts.positions < until && !stop() {
            self.round(network);
        }
    }

    /// One leaf of every game.
    fn round(&mut self, network: &Network) {
        self.parents.clear();
        self.moves.clear();
        self.waiting.clear();
        for idx in 0..self.games.len() {
            if self.go_on(idx, network) {
                self.waiting.push(idx as u32);
            }
        }
        let n = self.waiting.len();
        if n == 0 {
            return;
        }
        self.counts.simulations += n as u64;
        let (n_words, looked) = (self.n_words, &mut self.looked);
        looked.words.clear();
        looked.words.resize(n * n_words, 0);
        let words = &mut looked.words;
        self.lanes
            .advance_words(n, &self.parents, &self.moves, |idx, next| {
                words[idx * n_words..(idx + 1) * n_words].copy_from_slice(next);
            });
        looked.look(&mut self.lanes, n, self.n_roles);
        for place in 0..n {
            let idx = self.waiting[place] as usize;
            judge(
                (&mut self.inference, network),
                (&self.looked, place),
                self.n_roles,
                (&mut self.values, &mut self.priors),
            );
            let leaf_legal = |role: usize| {
                let moves = &self.looked.legal[place * self.n_roles + role][..];
                (moves, &self.priors[role][..])
            };
            let one = &mut self.games[idx];
            one.tree.insert(&Leaf {
                words: &self.looked.words[place * n_words..(place + 1) * n_words],
                legal: &leaf_legal,
                is_end: self.looked.is_end[place],
                values: &self.values,
            });
            if one.is_random_step {
                one.tree.follow_way();
                one.step += 1;
                one.n_random -= 1;
                one.is_random_step = false;
            }
        }
    }

    /// Lets a game go on until it waits for a leaf: moves are made, games end and begin. False if it has nothing to wait for at present.
    fn go_on(&mut self, idx: usize, network: &Network) -> bool {
        for _ in 0..MOST_AT_ONCE {
            let one = &mut self.games[idx];
            let is_new = one.step == 0 && one.positions.is_empty() && !one.has_noise;
            if is_new {
                self.begin(idx, network);
            } else if one.tree.is_root_end() {
                self.end(idx, false);
                continue;
            } else if one.step >= self.options.most_steps {
                self.end(idx, true);
                continue;
            }
            let one = &mut self.games[idx];
            if one.n_random > 0 {
                one.is_random_step = true;
                let OneGame { tree, random, .. } = one;
                tree.step_at_random(random, &mut self.parents, &mut self.moves);
                return true;
            }
            if !one.has_noise {
                add_noise(one, &self.options, self.n_roles);
            }
            if is_ready(one, &self.options) && self.make_move(idx) {
                continue;
            }
            let selection = Selection {
                exploration: self.options.exploration,
                reduction: self.options.urgency,
            };
            let one = &mut self.games[idx];
            if one
                .tree
                .descend(selection, &mut self.parents, &mut self.moves)
            {
                return true;
            }
            self.counts.simulations += 1;
        }
        false
    }

    fn begin(&mut self, idx: usize, network: &Network) {
        judge(
            (&mut self.inference, network),
            (&self.first, 0),
            self.n_roles,
            (&mut self.values, &mut self.priors),
        );
        let legal = |role: usize| (&self.first.legal[role][..], &self.priors[role][..]);
        let one = &mut self.games[idx];
        one.tree.begin(&Leaf {
            words: &self.first.words,
            legal: &legal,
            is_end: false,
            values: &self.values,
        });
        // The first games begin anywhere, so that they do not all end at the same time.
        let most_random = match std::mem::replace(&mut one.is_first, false) {
            true if self.options.random_moves > 0 => {
                FIRST_RANDOM_MOVES.max(self.options.random_moves)
            }
            _ => self.options.random_moves,
        };
        one.n_random = one.random.below(most_random + 1);
        one.has_noise = false;
        // It has begun, whatever comes first.
        one.step = 0;
    }

    /// Keeps the position at the root and makes a move; false if the state after it is not in the tree yet.
    fn make_move(&mut self, idx: usize) -> bool {
        let one = &mut self.games[idx];
        let is_late = one.step >= self.options.temperature_steps;
        let mut slots = Vec::with_capacity(self.n_roles);
        for role in 0..self.n_roles {
            slots.push(draw(one, role, is_late));
        }
        let position = one.tree.has_choice().then(|| self.position(idx));
        let one = &mut self.games[idx];
        if !one.tree.follow(&slots) {
            return false;
        }
        one.positions.extend(position);
        one.step += 1;
        one.has_noise = false;
        self.counts.positions += 1;
        true
    }

    fn position(&self, idx: usize) -> Pending {
        let tree = &self.games[idx].tree;
        let words = tree.root_words();
        let shape = self.options.shape();
        let n_legal = |role: usize| tree.root_moves(role).count();
        let mut policies = Vec::new();
        for role in 0..self.n_roles {
            let (moves, visits): (Vec<MoveId>, Vec<u32>) = tree.root_moves(role).unzip();
            let sum: u32 = visits.iter().sum();
            if moves.len() > 1 && sum > 0 {
                let chances = target(tree, role, &visits, sum);
                policies.push(Policy {
                    role: role as u16,
                    moves,
                    chances,
                });
            }
        }
        let worth: Vec<f32> = (0..self.n_roles)
            .map(|role| tree.root_value(role))
            .collect();
        let mut root = Vec::new();
        shape.to_values(&worth, &mut root);
        Pending {
            sample: Sample {
                words: words.into(),
                head: shape.head(words, n_legal) as u16,
                policies,
                values: Vec::new(),
            },
            root,
        }
    }

    /// A game is over: its positions become samples.
    fn end(&mut self, idx: usize, is_cut: bool) {
        let shape = self.options.shape();
        let one = &mut self.games[idx];
        let worth: Vec<f32> = (0..self.n_roles)
            .map(|role| one.tree.root_value(role))
            .collect();
        let mut result = Vec::new();
        shape.to_values(&worth, &mut result);
        let share = self.options.result_share;
        for mut pending in one.positions.drain(..) {
            let values = result.iter().zip(&pending.root);
            pending.sample.values = values
                .map(|(result, root)| share * result + (1.0 - share) * root)
                .collect();
            self.samples.push(pending.sample);
        }
        let counts = &mut self.counts;
        counts.games += 1;
        counts.cut += u64::from(is_cut);
        counts.steps += u64::from(one.step);
        for (role, &own) in worth.iter().enumerate() {
            counts.worth[role] += f64::from(own);
            let mut others = worth.iter().enumerate();
            let is_best = others.all(|(other, &worth)| other == role || worth < own);
            counts.wins[role] += u64::from(is_best);
        }
        one.step = 0;
        one.has_noise = false;
        one.positions.clear();
    }
}

/// Whether a game has made enough simulations for a move.
fn is_ready(one: &OneGame, options: &Options) -> bool {
    let tree = &one.tree;
    tree.is_root_exact() && tree.root_visits() > 1
        || tree.root_visits() >= options.simulations
        || !tree.has_choice() && tree.root_visits() > 1
}

/// The chances that a role should make its moves with: as often as they were visited, but none that is surely lost if another is not,
/// and only what surely wins if something does.
fn target(tree: &Tree, role: usize, visits: &[u32], sum: u32) -> Vec<f32> {
    let proofs: Vec<Option<f32>> = (0..visits.len())
        .map(|slot| tree.root_proof(role, slot))
        .collect();
    let wins = proofs.iter().filter(|proof| **proof == Some(1.0)).count();
    if wins > 0 {
        let chance = |proof: &Option<f32>| {
            if *proof == Some(1.0) {
                1.0 / wins as f32
            } else {
                0.0
            }
        };
        return proofs.iter().map(chance).collect();
    }
    let is_lost = |slot: usize| proofs[slot] == Some(0.0);
    let lost: u32 = (0..visits.len())
        .filter(|&slot| is_lost(slot))
        .map(|slot| visits[slot])
        .sum();
    let (sum, keeps_lost) = match sum - lost {
        0 => (sum, true),
        rest => (rest, false),
    };
    let chance = |slot: usize| match is_lost(slot) && !keeps_lost {
        true => 0.0,
        false => visits[slot] as f32 / sum as f32,
    };
    (0..visits.len()).map(chance).collect()
}

/// Draws the move of a role by its target, or by its fourth power (temperature 0.25).
fn draw(one: &mut OneGame, role: usize, is_sharp: bool) -> u32 {
    let (moves, visits): (Vec<MoveId>, Vec<u32>) = one.tree.root_moves(role).unzip();
    let sum: u32 = visits.iter().sum();
    if moves.len() <= 1 || sum == 0 {
        return 0;
    }
    let mut chances = target(&one.tree, role, &visits, sum);
    // What is not in the tree cannot be followed.
    for (slot, chance) in chances.iter_mut().enumerate() {
        let square = *chance * *chance;
        *chance = match (visits[slot] > 0, is_sharp) {
            (true, true) => square * square,
            (true, false) => *chance,
            (false, _) => 0.0,
        };
    }
    let total: f32 = chances.iter().sum();
    if total <= 0.0 {
        let most = visits
            .iter()
            .zip(0_u32..)
            .max_by_key(|(visits, slot)| (**visits, u32::MAX - slot));
        return most.map_or(0, |(_, slot)| slot);
    }
    let mut left = one.random.unit() as f32 * total;
    for (slot, chance) in chances.iter().enumerate() {
        if left < *chance {
            return slot as u32;
        }
        left -= chance;
    }
    let last = chances.iter().rposition(|&chance| chance > 0.0);
    last.unwrap_or(0) as u32
}

/// Mixes Dirichlet noise into the priors of the root.
fn add_noise(one: &mut OneGame, options: &Options, n_roles: usize) {
    one.has_noise = true;
    if options.noise <= 0.0 {
        return;
    }
    for role in 0..n_roles {
        let n = one.tree.root_moves(role).count();
        if n > 1 {
            let noise = dirichlet(n, options.noise_sum / n as f32, &mut one.random);
            one.tree.mix_priors(role, &noise, options.noise);
        }
    }
}

/// A draw of a symmetric Dirichlet distribution.
fn dirichlet(n: usize, alpha: f32, random: &mut Random) -> Vec<f32> {
    let mut draws: Vec<f32> = (0..n).map(|_| gamma(alpha, random)).collect();
    let sum: f32 = draws.iter().sum();
    match sum > 0.0 {
        true => draws.iter_mut().for_each(|draw| *draw /= sum),
        false => draws.fill(1.0 / n as f32),
    }
    draws
}

/// A draw of a gamma distribution of scale 1 (Marsaglia and Tsang 2000).
fn gamma(alpha: f32, random: &mut Random) -> f32 {
    let alpha = f64::from(alpha);
    // Below 1, a draw for one more is scaled down.
    let (shape, boost) = match alpha < 1.0 {
        true => (
            alpha + 1.0,
            libm::pow(random.unit().max(1e-300), 1.0 / alpha),
        ),
        false => (alpha, 1.0),
    };
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(random);
        let v = 1.0 + c * x;
        if v <= 0.0 {
            continue;
        }
        let v = v * v * v;
        let u = random.unit().max(1e-300);
        if libm::log(u) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return (d * v * boost) as f32;
        }
    }
}

/// A draw of the standard normal distribution (Box and Muller 1958).
pub(crate) fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * libm::log(random.unit().max(1e-300))).sqrt();
    radius * libm::cos(2.0 * std::f64::consts::PI * random.unit())
}

impl Looked {
    /// Looks at its words.
    fn look(&mut self, lanes: &mut Lanes, n: usize, n_roles: usize) {
        self.is_end.resize(n, false);
        self.worth.resize(n * n_roles, 0.0);
        let n_lists = self.legal.len().max(n * n_roles);
        self.legal.resize(n_lists, Vec::new());
        let (legal, is_end, worth) = (&mut self.legal, &mut self.is_end, &mut self.worth);
        lanes.expand_words(n, &self.words, |idx, seen| {
            let mut is_stuck = false;
            for role in RoleId::all(n_roles) {
                let moves = seen.legal_moves(role);
                is_stuck |= moves.is_empty();
                let legal = &mut legal[idx * n_roles + role.idx()];
                legal.clear();
                legal.extend_from_slice(moves);
            }
            is_end[idx] = is_stuck || seen.is_terminal();
            if is_end[idx] {
                for role in RoleId::all(n_roles) {
                    let goal = seen.goal(role).map_or(0, Goal::value);
                    worth[idx * n_roles + role.idx()] = f32::from(goal) / 100.0;
                    legal[idx * n_roles + role.idx()].clear();
                }
                // What a state is worth to two roles is the difference of their goals.
                if n_roles == 2 {
                    let half = (worth[idx * 2] - worth[idx * 2 + 1] + 1.0) / 2.0;
                    (worth[idx * 2], worth[idx * 2 + 1]) = (half, 1.0 - half);
                }
            }
        });
    }
}

/// Values and priors of a state that was looked at.
fn judge(
    (inference, network): (&mut Inference, &Network),
    (looked, place): (&Looked, usize),
    n_roles: usize,
    (values, priors): (&mut [f32], &mut [Vec<f32>]),
) {
    if looked.is_end[place] {
        values.copy_from_slice(&looked.worth[place * n_roles..(place + 1) * n_roles]);
        priors.iter_mut().for_each(Vec::clear);
        return;
    }
    let n_words = looked.words.len() / looked.is_end.len();
    let words = &looked.words[place * n_words..(place + 1) * n_words];
    let legal = |role: usize| &looked.legal[place * n_roles + role];
    let head = network.shape.head(words, |role| legal(role).len());
    inference.values(network, words, head, values);
    for role in RoleId::all(n_roles) {
        let (moves, priors) = (legal(role.idx()), &mut priors[role.idx()]);
        priors.clear();
        match moves.len() {
            1 => priors.push(1.0),
            _ => inference.chances(network, role, moves, priors),
        }
    }
}
