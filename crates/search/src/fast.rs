//! FAST, the features-to-action sampling technique: what pieces and places are worth is learned from simulations, and moves
//! are tried in playouts by it.
//!
//! The features of a state are the numbers of pieces of each kind, where a role has several kinds, and otherwise which
//! places each role has a piece on. A state is worth `V(s) = Σ θᵢ · fᵢ(s)` to a role, on the difference of its goal and
//! those of others. Each simulation is an episode of TD(λ):
//!
//! ```text
//! R_T = z,   R_t = γ · ((1 − λ) · V(s_{t+1}) + λ · R_{t+1}),   θᵢ += α · Σ_t (R_t − V(s_t)) · fᵢ(s_t)
//! ```
//!
//! where V of the last state is z, and α is shared among the features: it is divided by the number of pieces that there were
//! at most. Sums over many steps overshoot if the step is long, so it is shortened to `share / Σ_t |f(s_t)|²` where it is
//! longer than that.
//!
//! Weights learned like that never come to rest, so those in use are their means over the last thousand simulations or so.
//!
//! A move that takes a piece has the value `−(2 · θ_taken + θ_taker)` and any other −100, if there is a piece to be taken;
//! with places it is `c · θ` of the place that it goes to. MAST adds its mean: `exp((FAST + MAST) / τ)`. Nothing of that is
//! used before some weight is far from zero.
//!
//! With two roles one vector of weights serves both, since what one wins the other loses; otherwise each role has its own.
//! States come one by one; what changes from one to the next is kept, and learning costs no more than those changes.
//!
//! In the lanes no state is at hand when moves are weighed. Captures are urgent there, as −100 beside them means: a move has a
//! factor for each kind that it may take, and one for each that may make it. If −100 is set to something milder, a move
//! has a case for each kind that it may take, and the taker counts as the mean of one's own kinds that can be where it comes
//! from. What is learned from are some playouts of all, replayed (`replay`), and never one that was cut.
//!
//! In: the states of simulations and their values. Out: a value for each move of a role.
//! Not here: how pieces, places and the paths of moves are found (`insight::piece`).
//!
//! - Finnsson and Björnsson 2011, CadiaPlayer: Search-Control Techniques (FAST)
//! - Sutton 1988, Learning to Predict by the Methods of Temporal Differences (TD(λ))

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_engine::lanes::{ScaleId, Weights};
use agon_engine::{Game, MoveId, RoleId};
use agon_insight::piece::{self, KindId, Path, Pieces, PlaceId};

use crate::params::{FastKind, Params};

/// Weights in use follow those learned after every so many simulations.
const REFRESH: u64 = 16;
/// They are the mean of about so many of those times.
const MOST_TIMES: f64 = 64.0;
/// Values beyond this make no difference any more.
const MOST_VALUE: f32 = 400.0;
/// In the lanes, one playout in so many is learned from, the fewer the more is known: a replay costs about as much as another
/// playout or two.
const EARLY: u64 = 4;
const LATE: u64 = 32;
const RELAX: u64 = 64;
/// Playouts are not cut before so many were learned from, nor in one batch of so many after that: what a piece is worth in the
/// end does not show in a few steps.
const SCHOOL: u64 = 2048;
const REFRESHER: u64 = 64;
/// What is not a capture is out of the question beside one if it is worth so many temperatures less.
const HOPELESS: f32 = 5.0;

/// What a capture weighs in the lanes.
pub(crate) struct Capture {
    /// By what is taken.
    pub(crate) on: ScaleId,
    /// By who takes it.
    pub(crate) by: ScaleId,
}

/// What is learned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Features {
    /// The number of pieces of each kind.
    Types,
    /// Whether a role has a piece on a place.
    Cells,
}

/// What FAST thinks of a move.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Bias {
    /// Its value.
    pub(crate) value: f32,
    /// `exp(value / τ)`.
    pub(crate) factor: f32,
}

impl Bias {
    fn new(value: f32, temperature: f32) -> Bias {
        let value = value.clamp(-MOST_VALUE, MOST_VALUE);
        let factor = libm::expf(value / temperature);
        Bias { value, factor }
    }

    const NONE: Bias = Bias {
        value: 0.0,
        factor: 1.0,
    };
}

/// Weights of features, and how moves follow from them.
#[derive(Clone)]
pub(crate) struct Fast {
    // Constant.
    features: Features,
    pieces: Pieces,
    n_roles: usize,
    lambda: f64,
    alpha: f64,
    share: f64,
    gamma: f64,
    cell_factor: f64,
    weight: f64,
    least_weight: f64,
    least_episodes: u64,
    least_one_in: u32,
    temperature: f32,
    eyes: Arc<Eyes>,
    /// Per place: which fluents put what there.
    held: Vec<Vec<(u32, KindId)>>,
    // Learned.
    /// One vector for two roles, by the first; otherwise one per role.
    thetas: Vec<Vec<f64>>,
    n_episodes: u64,
    /// The same, averaged over time: what is used.
    means: Vec<Vec<f64>>,
    n_times: f64,
    /// The most pieces of a state.
    most_active: f64,
    is_active: bool,
    // What moves get, from the weights of some simulations ago.
    /// Per role and feature, for places.
    of_cell: Vec<Vec<Bias>>,
    /// Per role, taker and taken, for kinds.
    of_capture: Vec<Vec<Bias>>,
    ignore: Bias,
    // The simulation at hand.
    episode: Episode,
    /// The state that moves are chosen in.
    words: Vec<u64>,
    biases: Vec<Bias>,
    // Scratch of learning.
    counts: Vec<f64>,
    values: Vec<f64>,
}

const NONE: u32 = u32::MAX;

/// Sees the features of states.
pub(crate) struct Eyes {
    /// Per word of a state: the fluents that are of interest.
    masks: Vec<u64>,
    /// Per fluent: its feature, or `NONE`.
    feature_of: Vec<u32>,
}

impl Eyes {
    /// A simulation begins in this state.
    pub(crate) fn begin(&self, episode: &mut Episode, words: &[u64]) {
        episode.n_states = 0;
        episode.changes.clear();
        episode.words.clear();
        episode.words.resize(words.len(), 0);
        self.see(episode, words);
    }

    /// It goes on to this state.
    #[inline]
    pub(crate) fn see(&self, episode: &mut Episode, words: &[u64]) {
        for (idx, &mask) in self.masks.iter().enumerate() {
            let mut changed = (words[idx] ^ episode.words[idx]) & mask;
            while changed != 0 {
                let bit = changed.trailing_zeros();
                changed &= changed - 1;
                episode.changes.push(Change {
                    state: episode.n_states,
                    feature: self.feature_of[idx * 64 + bit as usize],
                    by: if words[idx] >> bit & 1 == 1 {
                        1.0
                    } else {
                        -1.0
                    },
                });
            }
        }
        episode.words.copy_from_slice(words);
        episode.n_states += 1;
    }
}

/// How the features of a simulation changed.
#[derive(Clone, Default)]
pub(crate) struct Episode {
    /// The last state.
    words: Vec<u64>,
    n_states: u32,
    changes: Vec<Change>,
}

#[derive(Clone, Copy, Debug)]
struct Change {
    state: u32,
    feature: u32,
    by: f64,
}

/// Why places are not learned where there are no types of pieces, if so. Beside wins that playouts see at once they do harm: in
/// Breakthrough our player scored 6 % with them, in Othello, where nothing is won at once, 78 %.
fn no_cells(game: &Game, params: &Params) -> Option<&'static str> {
    let sees_wins = || {
        let grounded = game.grounded().filter(|_| params.decisive);
        grounded.is_some_and(|grounded| grounded.decisive_program().is_some())
    };
    match params.fast {
        FastKind::All => None,
        FastKind::Off | FastKind::Types => Some("there is one type of piece"),
        FastKind::Fit => {
            sees_wins().then_some("there is one type of piece, and playouts see wins at once")
        }
    }
}

impl Fast {
    /// FAST for a game; `Err` says why it has nothing to learn there.
    pub(crate) fn new(game: &Game, params: &Params) -> Result<Fast, &'static str> {
        if game.n_roles() < 2 {
            return Err("there is no other role to be compared with");
        }
        if game.grounded().is_none() {
            return Err("the game does not ground");
        }
        let pieces = piece::find(game).ok_or("there is no board")?;
        let features = match (pieces.has_types(), pieces.has_cells()) {
            (true, _) => Features::Types,
            (false, true) => match no_cells(game, params) {
                Some(reason) => return Err(reason),
                None => Features::Cells,
            },
            (false, false) => return Err("no move leads a piece to a place"),
        };
        Ok(Fast::with(pieces, features, game.n_roles(), params))
    }

    fn with(pieces: Pieces, features: Features, n_roles: usize, params: &Params) -> Fast {
        let n_features = match features {
            Features::Types => pieces.kinds.len(),
            Features::Cells => pieces.places.len() * n_roles,
        };
        let feature = |&(place, kind): &(PlaceId, KindId)| match features {
            Features::Types => Some(u32::from(kind.0)),
            Features::Cells => {
                let owner = pieces.kinds[kind.0 as usize].owner?;
                Some(cell(place, owner, n_roles))
            }
        };
        let held_by = pieces.fluents.iter();
        let feature_of: Vec<u32> = held_by
            .map(|held| held.as_ref().and_then(feature).unwrap_or(NONE))
            .collect();
        let mut masks = vec![0; feature_of.len().div_ceil(64)];
        let mut held = vec![Vec::new(); pieces.places.len()];
        for (fluent, &feature) in feature_of.iter().enumerate() {
            if feature != NONE {
                masks[fluent / 64] |= 1 << (fluent % 64);
            }
            if let Some((place, kind)) = pieces.fluents[fluent] {
                held[place.0 as usize].push((fluent as u32, kind));
            }
        }
        let n_vectors = if n_roles == 2 { 1 } else { n_roles };
        let temperature = params.mast_temperature as f32;
        Fast {
            features,
            n_roles,
            lambda: params.fast_lambda,
            alpha: params.fast_alpha,
            share: match features {
                Features::Types => params.fast_share,
                Features::Cells => params.fast_share_cells,
            },
            gamma: params.fast_discount,
            cell_factor: params.fast_cells,
            weight: params.fast_weight,
            least_weight: params.fast_threshold,
            least_episodes: u64::from(params.fast_updates),
            least_one_in: params.fast_one_in,
            temperature,
            eyes: Arc::new(Eyes { masks, feature_of }),
            held,
            thetas: vec![vec![0.0; n_features]; n_vectors],
            n_episodes: 0,
            means: vec![vec![0.0; n_features]; n_vectors],
            n_times: 0.0,
            most_active: 1.0,
            is_active: false,
            of_cell: Vec::new(),
            of_capture: Vec::new(),
            ignore: Bias::new(
                (params.fast_weight * params.fast_ignored) as f32,
                temperature,
            ),
            episode: Episode::default(),
            words: Vec::new(),
            biases: Vec::new(),
            counts: Vec::new(),
            values: Vec::new(),
            pieces,
        }
    }

    /// For whoever sees states elsewhere.
    pub(crate) fn eyes(&self) -> Arc<Eyes> {
        Arc::clone(&self.eyes)
    }

    /// A simulation begins in this state.
    pub(crate) fn begin(&mut self, words: &[u64]) {
        self.eyes.begin(&mut self.episode, words);
    }

    /// It goes on to this state.
    #[inline]
    pub(crate) fn see(&mut self, words: &[u64]) {
        self.eyes.see(&mut self.episode, words);
    }

    /// Nothing is learned from the simulation at hand.
    pub(crate) fn forget(&mut self) {
        self.episode.n_states = 0;
    }

    /// The simulation was worth this much to each role. Learns.
    pub(crate) fn end(&mut self, values: &[f64]) {
        let episode = std::mem::take(&mut self.episode);
        self.learn_from(&episode, values);
        self.episode = episode;
    }

    /// One in so many playouts that nobody has seen the states of is worth being replayed.
    pub(crate) fn one_in(&self) -> u32 {
        let relaxed = (self.n_episodes / RELAX).clamp(EARLY, LATE) as u32;
        match self.n_episodes < SCHOOL {
            true => relaxed.min(self.least_one_in),
            false => relaxed,
        }
    }

    /// Whether the playouts of this batch are to be played to their end, since they are learned from.
    pub(crate) fn wants_whole(&self, nth_batch: u64) -> bool {
        self.n_episodes < SCHOOL || nth_batch.is_multiple_of(REFRESHER)
    }

    /// With these weights of kinds, as the first role sees them, for good.
    #[cfg(test)]
    pub(crate) fn teach(&mut self, theta: impl Fn(&str) -> f64) {
        assert_eq!(self.features, Features::Types);
        let kinds = self.pieces.kinds.iter();
        self.means[0] = kinds.map(|kind| theta(&kind.name)).collect();
        self.is_active = true;
        self.refresh();
    }

    /// A simulation was worth this much to each role. Learns.
    pub(crate) fn learn_from(&mut self, episode: &Episode, values: &[f64]) {
        if episode.n_states == 0 {
            return;
        }
        let sum: f64 = values.iter().sum();
        let n_others = (self.n_roles - 1) as f64;
        let n_vectors = self.thetas.len();
        for (vector, value) in values.iter().enumerate().take(n_vectors) {
            self.learn(episode, vector, value - (sum - value) / n_others);
        }
        self.n_episodes += 1;
        let is_due = self.n_episodes == self.least_episodes;
        if is_due || self.n_episodes.is_multiple_of(REFRESH) {
            self.average();
            let mut weights = self.means.iter().flatten();
            self.is_active |= self.n_episodes >= self.least_episodes
                && weights.any(|theta| theta.abs() > self.least_weight);
            if self.is_active {
                self.refresh();
            }
        }
    }

    /// Weights in use come nearer to those learned, by the full way at first and less and less later.
    fn average(&mut self) {
        let rate = 1.0 / (1.0 + self.n_times / 2.0).min(MOST_TIMES);
        self.n_times += 1.0;
        let means = self.means.iter_mut().flatten();
        for (mean, theta) in means.zip(self.thetas.iter().flatten()) {
            *mean += rate * (theta - *mean);
        }
    }

    /// One episode of TD(λ) for one vector of weights.
    fn learn(&mut self, episode: &Episode, vector: usize, reward: f64) {
        let theta = &mut self.thetas[vector];
        let (counts, values) = (&mut self.counts, &mut self.values);
        let Episode {
            n_states, changes, ..
        } = episode;
        // Step 1. The value of each state, the squares of its features, and how many pieces there are at most.
        counts.clear();
        counts.resize(theta.len(), 0.0);
        values.clear();
        let (mut value, mut square, mut squares, mut active) = (0.0, 0.0, 0.0, 0.0);
        let mut next = changes.iter().peekable();
        for state in 0..*n_states {
            while let Some(change) = next.next_if(|change| change.state == state) {
                let feature = change.feature as usize;
                value += theta[feature] * change.by;
                // (n + d)² − n² = d · (2 n + d)
                square += change.by * (2.0 * counts[feature] + change.by);
                counts[feature] += change.by;
                active += change.by;
            }
            values.push(value);
            squares += square;
            self.most_active = self.most_active.max(active);
        }
        // Step 2. Back from the end. A feature that changes at a state has its new value there and in all that follow.
        let step = (self.alpha / self.most_active).min(self.share / squares.max(1.0));
        let mut target = reward;
        let mut after = reward;
        let mut errors = 0.0;
        let mut next = changes.iter().rev().peekable();
        for state in (0..*n_states).rev() {
            let value = values[state as usize];
            if state + 1 < *n_states {
                target = self.gamma * ((1.0 - self.lambda) * after + self.lambda * target);
                after = value;
            }
            errors += target - value;
            while let Some(change) = next.next_if(|change| change.state == state) {
                theta[change.feature as usize] += step * change.by * errors;
            }
        }
    }

    /// The weight of a feature to a role.
    fn theta(&self, role: usize, feature: usize) -> f64 {
        match self.n_roles {
            2 if role == 1 => -self.means[0][feature],
            2 => self.means[0][feature],
            _ => self.means[role][feature],
        }
    }

    /// Moves get the weights of now.
    fn refresh(&mut self) {
        let bias = |value: f64| Bias::new((self.weight * value) as f32, self.temperature);
        let roles = 0..self.n_roles;
        match self.features {
            Features::Cells => {
                let of_role = |role: usize| -> Vec<Bias> {
                    let features = 0..self.thetas[0].len();
                    let value = |of: usize| self.cell_factor * self.theta(role, of);
                    features.map(|of| bias(value(of))).collect()
                };
                self.of_cell = roles.map(of_role).collect();
            }
            Features::Types => {
                let n_kinds = self.pieces.kinds.len();
                let of_role = |role: usize| -> Vec<Bias> {
                    let pairs = 0..n_kinds * n_kinds;
                    let theta = |kind: usize| self.theta(role, kind);
                    let value = |pair: usize| capture(theta(pair % n_kinds), theta(pair / n_kinds));
                    pairs.map(|pair| bias(value(pair))).collect()
                };
                self.of_capture = roles.map(of_role).collect();
            }
        }
    }

    /// Moves are chosen in this state from now on.
    #[inline]
    pub(crate) fn stand(&mut self, words: &[u64]) {
        if self.is_active && self.features == Features::Types {
            self.words.clear();
            self.words.extend_from_slice(words);
        }
    }

    /// What each of these moves of a role is worth; nothing if no feature is active.
    pub(crate) fn biases(
        &mut self,
        role: usize,
        moves: impl Iterator<Item = MoveId>,
    ) -> Option<&[Bias]> {
        if !self.is_active {
            return None;
        }
        let mut biases = std::mem::take(&mut self.biases);
        biases.clear();
        let mut is_any = false;
        for of in moves {
            let bias = match self.features {
                Features::Cells => self.of_place(role, of),
                Features::Types => self.of_taking(role, of),
            };
            is_any |= bias.is_some();
            biases.push(bias.unwrap_or(match self.features {
                Features::Cells => Bias::NONE,
                Features::Types => self.ignore,
            }));
        }
        self.biases = biases;
        is_any.then_some(self.biases.as_slice())
    }

    /// Whether a role that can take a piece does so, whatever else it can do.
    fn is_hasty(&self) -> bool {
        self.features == Features::Types && self.ignore.value <= -HOPELESS * self.temperature
    }

    /// Where moves of a role are captures that come before all else: per move the factors of what may be taken and of who
    /// may take, together `exp(value / τ)` but for a factor that all have. Empty if captures do not come first.
    pub(crate) fn captures(&self, role: usize, weights: &mut Weights) -> Vec<Option<Capture>> {
        if !self.is_active || !self.is_hasty() {
            return Vec::new();
        }
        let owner = Some(RoleId(role as u16));
        let owner_of = |kind: KindId| self.pieces.kinds[kind.0 as usize].owner;
        let value = |kind: KindId, share: f64| {
            let value = self.weight * share * self.theta(role, kind.0 as usize);
            (value as f32).clamp(-MOST_VALUE, MOST_VALUE)
        };
        let kinds = || (0..self.pieces.kinds.len()).map(|kind| KindId(kind as u16));
        let best = |share: f64| {
            kinds()
                .map(|kind| value(kind, share))
                .fold(f32::MIN, f32::max)
        };
        let (best_taken, best_taker) = (best(capture(1.0, 0.0)), best(capture(0.0, 1.0)));
        let scale = |held: &mut dyn Iterator<Item = (u32, KindId)>, share: f64, best: f32| {
            let factor = |kind| libm::expf((value(kind, share) - best) / self.temperature);
            held.map(|(at, kind)| (at, factor(kind))).collect()
        };
        let mut by_places: BTreeMap<Vec<PlaceId>, ScaleId> = BTreeMap::new();
        let mut by_from: BTreeMap<PlaceId, ScaleId> = BTreeMap::new();
        let mut of_path = |path: &Path| {
            let from = path.from?;
            let places: Vec<PlaceId> = path.to.iter().chain(&path.over).copied().collect();
            let on = *by_places.entry(places).or_insert_with_key(|places| {
                let held = places.iter().flat_map(|place| &self.held[place.0 as usize]);
                let mut taken = held.copied().filter(|of| owner_of(of.1) != owner);
                weights.add_scale(scale(&mut taken, capture(1.0, 0.0), best_taken))
            });
            let by = *by_from.entry(from).or_insert_with(|| {
                let held = self.held[from.0 as usize].iter().copied();
                let mut takers =
                    held.filter(|of| owner_of(of.1).is_none_or(|of| Some(of) == owner));
                weights.add_scale(scale(&mut takers, capture(0.0, 1.0), best_taker))
            });
            Some(Capture { on, by })
        };
        self.pieces.paths[role].iter().map(&mut of_path).collect()
    }

    /// The most that a move of a role is worth in any case.
    pub(crate) fn most_value(&self, role: usize) -> f32 {
        let biases = match (self.is_active, self.features) {
            (false, _) => return 0.0,
            _ if self.is_hasty() => return 0.0,
            (true, Features::Cells) => &self.of_cell[role],
            (true, Features::Types) => &self.of_capture[role],
        };
        biases.iter().map(|bias| bias.value).fold(0.0, f32::max)
    }

    /// What a move of a role is worth in any state: a fluent and the value for each case, of which the first that holds
    /// counts, and the value in all others. Captures that come before all else are left out.
    pub(crate) fn cases(&self, role: usize, of: MoveId, cases: &mut Vec<(u32, f32)>) -> f32 {
        cases.clear();
        if !self.is_active || self.is_hasty() {
            return 0.0;
        }
        if self.features == Features::Cells {
            return self.of_place(role, of).unwrap_or(Bias::NONE).value;
        }
        let owner = Some(RoleId(role as u16));
        let kinds = &self.pieces.kinds;
        let is_own = |kind: &KindId| kinds[kind.0 as usize].owner == owner;
        let path = self.path(role, of);
        if let Some((path, from)) = path.and_then(|path| Some((path, path.from?))) {
            let held = self.held[from.0 as usize].iter().map(|&(_, kind)| kind);
            let takers: Vec<usize> = held.filter(is_own).map(|by| by.0 as usize).collect();
            for &place in path.to.iter().chain(&path.over) {
                let held = self.held[place.0 as usize].iter();
                cases.extend(held.filter(|(_, kind)| !is_own(kind)).map(|&(at, taken)| {
                    let value = |by: &usize| {
                        self.of_capture[role][by * kinds.len() + taken.0 as usize].value
                    };
                    let sum: f32 = takers.iter().map(value).sum();
                    (at, sum / takers.len().max(1) as f32)
                }));
            }
        }
        self.ignore.value
    }

    fn path(&self, role: usize, of: MoveId) -> Option<&Path> {
        self.pieces.paths[role].get(of.0 as usize)
    }

    fn of_place(&self, role: usize, of: MoveId) -> Option<Bias> {
        let to = self.path(role, of)?.to?;
        let feature = cell(to, RoleId(role as u16), self.n_roles);
        Some(self.of_cell[role][feature as usize])
    }

    fn of_taking(&self, role: usize, of: MoveId) -> Option<Bias> {
        let path = self.path(role, of)?;
        let places = path.to.iter().chain(&path.over);
        let taken = places
            .filter_map(|&place| self.occupant(place))
            .find(|taken| self.pieces.kinds[taken.0 as usize].owner != Some(RoleId(role as u16)))?;
        let by = self.occupant(path.from?)?;
        let at = by.0 as usize * self.pieces.kinds.len() + taken.0 as usize;
        Some(self.of_capture[role][at])
    }

    /// What stands on a place.
    fn occupant(&self, place: PlaceId) -> Option<KindId> {
        let is_held = |(fluent, _): &&(u32, KindId)| {
            let fluent = *fluent as usize;
            self.words[fluent / 64] >> (fluent % 64) & 1 == 1
        };
        let held = self.held[place.0 as usize].iter().find(is_held);
        held.map(|&(_, kind)| kind)
    }

    /// What was found and learned, in words. The name of each role is given.
    pub(crate) fn story(&self, role_name: impl Fn(RoleId) -> String) -> String {
        let state = match self.is_active {
            true => "active".to_owned(),
            false => format!(
                "held back until a weight is beyond {} after {} simulations",
                self.least_weight, self.least_episodes
            ),
        };
        let learned = match self.features {
            Features::Types => self.types(role_name),
            Features::Cells => self.cells(role_name),
        };
        format!("{learned}; {} simulations, {state}", self.n_episodes)
    }

    /// Kinds of pieces by owner, each with its weight to the owner.
    fn types(&self, role_name: impl Fn(RoleId) -> String) -> String {
        let kinds = self.pieces.kinds.iter().enumerate();
        let of_role = |role: RoleId| {
            let own = kinds.clone().filter(|(_, kind)| kind.owner == Some(role));
            let mut own: Vec<(f64, &str)> = own
                .map(|(idx, kind)| (self.theta(role.idx(), idx), kind.name.as_str()))
                .collect();
            own.sort_by(|a, b| b.0.total_cmp(&a.0));
            let words = own.iter().map(|(theta, name)| format!("{name} {theta:.1}"));
            let words: Vec<String> = words.collect();
            format!("{}: {}", role_name(role), words.join(", "))
        };
        let mut roles: Vec<String> = RoleId::all(self.n_roles).map(of_role).collect();
        let others = kinds.filter(|(_, kind)| kind.owner.is_none());
        let others: Vec<&str> = others.map(|(_, kind)| kind.name.as_str()).collect();
        if !others.is_empty() {
            roles.push(format!("nobody's: {}", others.join(", ")));
        }
        format!("piece types: {}", roles.join("; "))
    }

    /// The best and the worst places of each role.
    fn cells(&self, role_name: impl Fn(RoleId) -> String) -> String {
        let of_role = |role: RoleId| {
            let weight = |place: usize| {
                let feature = cell(PlaceId(place as u16), role, self.n_roles);
                self.theta(role.idx(), feature as usize)
            };
            let mut places: Vec<usize> = (0..self.pieces.places.len()).collect();
            places.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)));
            let word = |&place: &usize| {
                let name = &self.pieces.places[place];
                format!("({name}) {:.1}", weight(place))
            };
            let best = places.iter().take(3).map(word);
            let best: Vec<String> = best.collect();
            let worst = places.last().map(word).unwrap_or_default();
            format!("{}: {} … {worst}", role_name(role), best.join(", "))
        };
        let roles: Vec<String> = RoleId::all(self.n_roles).map(of_role).collect();
        let n_places = self.pieces.places.len();
        format!("{n_places} cells: {}", roles.join("; "))
    }
}

/// The feature of a role having a piece on a place.
fn cell(place: PlaceId, owner: RoleId, n_roles: usize) -> u32 {
    u32::from(place.0) * n_roles as u32 + u32::from(owner.0)
}

/// What taking a piece is worth, by the weights of both to the role that takes.
fn capture(taken: f64, taker: f64) -> f64 {
    -(2.0 * taken + taker)
}

#[cfg(test)]
mod tests;
