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

mod learned;

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_engine::lanes::ScaleId;
use agon_engine::{Game, MoveId, RoleId};
use agon_insight::piece::{self, KindId, Path, Pieces, PlaceId};

use self::learned::Learned;
use super::{Ending, Facts, StateView, Technique};
use crate::account::{FastAccount, FeatureKind, FeatureWeight, TechniqueAccount};
use crate::episode::{Episode, Eyes, NONE};
use crate::lane_policy::LanePolicy;
use crate::params::{FastKind, Params, PlayoutKind};
use crate::simulation::Results;

/// Weights in use follow those learned each time after this number of simulations.
const REFRESH: u64 = 16;
/// Values beyond this make no difference any more.
const MOST_VALUE: f32 = 400.0;
/// In the lanes, one playout in this many is learned from, the fewer the more is known: a replay costs about as much as another
/// playout or two.
const EARLY: u64 = 4;
const LATE: u64 = 32;
const RELAX: u64 = 64;
/// Playouts are not cut before this number of them was learned from, nor in one batch of [`WHOLE_ONE_IN`] after that: what a
/// piece is worth in the end does not show in a few steps.
const WARMUP_PLAYOUTS: u64 = 2048;
const WHOLE_ONE_IN: u64 = 64;
/// What is not a capture is out of the question beside one if it is worth this many temperatures less.
const HOPELESS: f32 = 5.0;
/// Factor c on the weight of a place (CadiaPlayer).
const CELL_FACTOR: f64 = 5.0;

/// What a capture weighs in the lanes.
struct Capture {
    /// By what is taken.
    on: ScaleId,
    /// By who takes it.
    by: ScaleId,
}

/// What is learned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Features {
    /// The number of pieces of each kind.
    Types,
    /// Whether a role has a piece on a place.
    Cells,
}

/// Weights of features, and how moves follow from them.
#[derive(Clone)]
pub(crate) struct Fast {
    // Constant.
    board: Arc<Board>,
    /// One playout in at most this many is learned from in the lanes as long as little is known.
    least_one_in: u32,
    temperature: f32,
    // Learned.
    learned: Learned,
    // What moves get, from the weights of some simulations ago.
    /// Per role and feature, for places.
    of_cell: Vec<Vec<f32>>,
    /// Per role, taker and taken, for kinds.
    of_capture: Vec<Vec<f32>>,
    ignored: f32,
    // The simulation at hand.
    episode: Episode,
    /// The state that moves are chosen in.
    words: Vec<u64>,
    biases: Vec<f32>,
}

/// What was found on the board of a game.
struct Board {
    features: Features,
    pieces: Pieces,
    n_roles: usize,
    eyes: Arc<Eyes>,
    /// Per place: which fluents put what there.
    held: Vec<Vec<(u32, KindId)>>,
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
    /// If it should be used, and has something to learn in the game.
    pub(crate) fn for_game(game: &Game, params: &Params) -> Option<Fast> {
        match params.fast {
            FastKind::Off => None,
            _ => Fast::new(game, params).ok(),
        }
    }

    /// Why it has nothing to learn in the game, if it should be used.
    pub(crate) fn fault(game: &Game, params: &Params) -> Option<&'static str> {
        match params.fast {
            FastKind::Off => None,
            _ => Fast::new(game, params).err(),
        }
    }

    /// FAST for a game; `Err` says why it has nothing to learn there.
    pub(crate) fn new(game: &Game, params: &Params) -> Result<Fast, &'static str> {
        if game.n_roles() < 2 {
            return Err("there is no other role to be compared with");
        }
        if game.grounded().is_none() {
            return Err("the game does not ground");
        }
        if params.playout == PlayoutKind::Uniform {
            return Err("playouts are uniform");
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
        Fast {
            least_one_in: params.fast_one_in,
            temperature: params.mast_temperature as f32,
            learned: Learned::new(features, n_features, n_vectors),
            of_cell: Vec::new(),
            of_capture: Vec::new(),
            ignored: (params.fast_ignored as f32).clamp(-MOST_VALUE, MOST_VALUE),
            episode: Episode::default(),
            words: Vec::new(),
            biases: Vec::new(),
            board: Arc::new(Board {
                features,
                n_roles,
                eyes: Arc::new(Eyes { masks, feature_of }),
                held,
                pieces,
            }),
        }
    }

    /// What sees the features of states elsewhere.
    pub(crate) fn eyes(&self) -> Arc<Eyes> {
        Arc::clone(&self.board.eyes)
    }

    /// One playout in this many is worth being replayed, if nobody has seen its states.
    pub(crate) fn one_in(&self) -> u32 {
        let n_episodes = self.learned.n_episodes;
        let relaxed = (n_episodes / RELAX).clamp(EARLY, LATE) as u32;
        match n_episodes < WARMUP_PLAYOUTS {
            true => relaxed.min(self.least_one_in),
            false => relaxed,
        }
    }

    /// Whether the playouts of this batch are to be played to their end, since they are learned from.
    pub(crate) fn wants_whole(&self, nth_batch: u64) -> bool {
        self.learned.n_episodes < WARMUP_PLAYOUTS || nth_batch.is_multiple_of(WHOLE_ONE_IN)
    }

    /// With these weights of kinds, as the first role sees them, for good.
    #[cfg(test)]
    pub(crate) fn teach(&mut self, theta: impl Fn(&str) -> f64) {
        assert_eq!(self.board.features, Features::Types);
        let kinds = self.board.pieces.kinds.iter();
        self.learned.means[0] = kinds.map(|kind| theta(&kind.name)).collect();
        self.learned.is_active = true;
        self.refresh();
    }

    /// A simulation was worth this much to each role. Learns.
    pub(crate) fn learn_from(&mut self, episode: &Episode, values: &[f64]) {
        if episode.n_states == 0 {
            return;
        }
        let sum: f64 = values.iter().sum();
        let n_others = (self.board.n_roles - 1) as f64;
        let learned = &mut self.learned;
        for (vector, value) in values.iter().enumerate().take(learned.thetas.len()) {
            learned.learn(episode, vector, value - (sum - value) / n_others);
        }
        learned.n_episodes += 1;
        let is_due = learned.n_episodes == learned.rates.least_episodes;
        if is_due || learned.n_episodes.is_multiple_of(REFRESH) {
            learned.average();
            let mut weights = learned.means.iter().flatten();
            learned.is_active |= learned.n_episodes >= learned.rates.least_episodes
                && weights.any(|theta| theta.abs() > learned.rates.least_weight);
            if learned.is_active {
                self.refresh();
            }
        }
    }

    /// The weight of a feature to a role.
    fn theta(&self, role: usize, feature: usize) -> f64 {
        let means = &self.learned.means;
        match self.board.n_roles {
            2 if role == 1 => -means[0][feature],
            2 => means[0][feature],
            _ => means[role][feature],
        }
    }

    /// Moves get the weights of now.
    fn refresh(&mut self) {
        let bias = |value: f64| (value as f32).clamp(-MOST_VALUE, MOST_VALUE);
        let roles = 0..self.board.n_roles;
        match self.board.features {
            Features::Cells => {
                let of_role = |role: usize| -> Vec<f32> {
                    let features = 0..self.learned.thetas[0].len();
                    let value = |feature: usize| CELL_FACTOR * self.theta(role, feature);
                    features.map(|feature| bias(value(feature))).collect()
                };
                self.of_cell = roles.map(of_role).collect();
            }
            Features::Types => {
                let n_kinds = self.board.pieces.kinds.len();
                let of_role = |role: usize| -> Vec<f32> {
                    let pairs = 0..n_kinds * n_kinds;
                    let theta = |kind: usize| self.theta(role, kind);
                    let value = |pair: usize| capture(theta(pair % n_kinds), theta(pair / n_kinds));
                    pairs.map(|pair| bias(value(pair))).collect()
                };
                self.of_capture = roles.map(of_role).collect();
            }
        }
    }

    /// What each of these moves of a role is worth; nothing if no feature is active.
    pub(crate) fn biases(&mut self, role: usize, moves: &[MoveId]) -> Option<&[f32]> {
        if !self.learned.is_active {
            return None;
        }
        let mut biases = std::mem::take(&mut self.biases);
        biases.clear();
        let mut is_any = false;
        for &mv in moves {
            let (bias, otherwise) = match self.board.features {
                Features::Cells => (self.of_place(role, mv), 0.0),
                Features::Types => (self.of_taking(role, mv), self.ignored),
            };
            is_any |= bias.is_some();
            biases.push(bias.unwrap_or(otherwise));
        }
        self.biases = biases;
        is_any.then_some(self.biases.as_slice())
    }

    /// Whether a role that can take a piece does so, whatever else it can do.
    fn is_hasty(&self) -> bool {
        self.board.features == Features::Types && self.ignored <= -HOPELESS * self.temperature
    }

    /// Where moves of a role are captures that come before all else: per move the factors of what may be taken and of who
    /// may take, together `exp(value / τ)` but for a factor that all have. Empty if captures do not come first.
    fn captures(&self, role: usize, policy: &mut LanePolicy) -> Vec<Option<Capture>> {
        if !self.learned.is_active || !self.is_hasty() {
            return Vec::new();
        }
        let owner = Some(RoleId(role as u16));
        let Board { pieces, held, .. } = &*self.board;
        let owner_of = |kind: KindId| pieces.kinds[kind.0 as usize].owner;
        let value = |kind: KindId, share: f64| {
            let value = share * self.theta(role, kind.0 as usize);
            (value as f32).clamp(-MOST_VALUE, MOST_VALUE)
        };
        let kinds = || (0..pieces.kinds.len()).map(|kind| KindId(kind as u16));
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
                let held = places.iter().flat_map(|place| &held[place.0 as usize]);
                let mut taken = held.copied().filter(|held| owner_of(held.1) != owner);
                policy.add_scale(scale(&mut taken, capture(1.0, 0.0), best_taken))
            });
            let by = *by_from.entry(from).or_insert_with(|| {
                let held = held[from.0 as usize].iter().copied();
                let mut takers =
                    held.filter(|held| owner_of(held.1).is_none_or(|by| Some(by) == owner));
                policy.add_scale(scale(&mut takers, capture(0.0, 1.0), best_taker))
            });
            Some(Capture { on, by })
        };
        pieces.paths[role].iter().map(&mut of_path).collect()
    }

    /// What a move of a role is worth in any state: a fluent and the value for each case, of which the first that holds
    /// counts, and the value in all others. Captures that come before all else are left out.
    fn cases(&self, role: usize, mv: MoveId, cases: &mut Vec<(u32, f32)>) -> f32 {
        if !self.learned.is_active || self.is_hasty() {
            return 0.0;
        }
        if self.board.features == Features::Cells {
            return self.of_place(role, mv).unwrap_or(0.0);
        }
        let owner = Some(RoleId(role as u16));
        let Board { pieces, held, .. } = &*self.board;
        let is_own = |kind: &KindId| pieces.kinds[kind.0 as usize].owner == owner;
        let path = self.path(role, mv);
        if let Some((path, from)) = path.and_then(|path| Some((path, path.from?))) {
            let here = held[from.0 as usize].iter().map(|&(_, kind)| kind);
            let takers: Vec<usize> = here.filter(is_own).map(|by| by.0 as usize).collect();
            for &place in path.to.iter().chain(&path.over) {
                let held = held[place.0 as usize].iter();
                cases.extend(held.filter(|(_, kind)| !is_own(kind)).map(|&(at, taken)| {
                    let value = |by: &usize| {
                        self.of_capture[role][by * pieces.kinds.len() + taken.0 as usize]
                    };
                    let sum: f32 = takers.iter().map(value).sum();
                    (at, sum / takers.len().max(1) as f32)
                }));
            }
        }
        self.ignored
    }

    fn path(&self, role: usize, mv: MoveId) -> Option<&Path> {
        self.board.pieces.paths[role].get(mv.0 as usize)
    }

    fn of_place(&self, role: usize, mv: MoveId) -> Option<f32> {
        let to = self.path(role, mv)?.to?;
        let feature = cell(to, RoleId(role as u16), self.board.n_roles);
        Some(self.of_cell[role][feature as usize])
    }

    fn of_taking(&self, role: usize, mv: MoveId) -> Option<f32> {
        let kinds = &self.board.pieces.kinds;
        let path = self.path(role, mv)?;
        let places = path.to.iter().chain(&path.over);
        let taken = places
            .filter_map(|&place| self.occupant(place))
            .find(|taken| kinds[taken.0 as usize].owner != Some(RoleId(role as u16)))?;
        let by = self.occupant(path.from?)?;
        Some(self.of_capture[role][by.0 as usize * kinds.len() + taken.0 as usize])
    }

    /// What stands on a place.
    fn occupant(&self, place: PlaceId) -> Option<KindId> {
        let is_held = |(fluent, _): &&(u32, KindId)| {
            let fluent = *fluent as usize;
            self.words[fluent / 64] >> (fluent % 64) & 1 == 1
        };
        let held = self.board.held[place.0 as usize].iter().find(is_held);
        held.map(|&(_, kind)| kind)
    }

    /// Kinds of pieces, or places, with their weights to each role, the best first.
    fn weights(&self) -> Vec<Vec<FeatureWeight>> {
        let Board {
            features,
            pieces,
            n_roles,
            ..
        } = &*self.board;
        let of_role = |role: RoleId| {
            let mut weights: Vec<FeatureWeight> = match features {
                Features::Types => {
                    let kinds = pieces.kinds.iter().enumerate();
                    let own = kinds.filter(|(_, kind)| kind.owner == Some(role));
                    own.map(|(idx, kind)| FeatureWeight {
                        name: kind.name.clone(),
                        weight: self.theta(role.idx(), idx),
                    })
                    .collect()
                }
                Features::Cells => {
                    let places = pieces.places.iter().enumerate();
                    let weight = |place: usize| {
                        let feature = cell(PlaceId(place as u16), role, *n_roles);
                        self.theta(role.idx(), feature as usize)
                    };
                    places
                        .map(|(place, name)| FeatureWeight {
                            name: format!("({name})"),
                            weight: weight(place),
                        })
                        .collect()
                }
            };
            weights.sort_by(|a, b| b.weight.total_cmp(&a.weight));
            weights
        };
        RoleId::all(*n_roles).map(of_role).collect()
    }
}

impl Technique for Fast {
    fn is_policy(&self) -> bool {
        true
    }

    fn wants_states(&self) -> bool {
        true
    }

    fn begin(&mut self) {
        self.episode.n_states = 0;
    }

    fn see(&mut self, words: &[u64]) {
        match self.episode.n_states {
            0 => self.board.eyes.begin(&mut self.episode, words),
            _ => self.board.eyes.see(&mut self.episode, words),
        }
    }

    fn end(&mut self, ending: &Ending<'_>) {
        // Nothing is known of how a simulation ends that counts as a draw.
        if ending.is_scored {
            let episode = std::mem::take(&mut self.episode);
            self.learn_from(&episode, ending.values);
            self.episode = episode;
        }
        self.episode.n_states = 0;
    }

    fn stand(&mut self, state: &StateView<'_>) {
        if self.learned.is_active && self.board.features == Features::Types {
            self.words.clear();
            self.words.extend_from_slice(state.words);
        }
    }

    fn add_values(&mut self, role: RoleId, moves: &[MoveId], values: &mut [f32]) {
        if let Some(biases) = self.biases(role.idx(), moves) {
            let pairs = values.iter_mut().zip(biases);
            pairs.for_each(|(value, bias)| *value += bias);
        }
    }

    fn add_to(&self, policy: &mut LanePolicy) {
        for role in 0..policy.n_roles() {
            let captures = self.captures(role, policy);
            for (idx, mv) in policy.moves(role).iter_mut().enumerate() {
                mv.otherwise += self.cases(role, MoveId(idx as u32), &mut mv.cases);
                let capture = captures.get(idx).and_then(Option::as_ref);
                mv.urgency = capture.map(|capture| (capture.on, capture.by));
            }
        }
    }

    fn observe_all(&mut self, results: &Results) {
        let values = results.episode_values.chunks(self.board.n_roles);
        for (episode, values) in results.episodes.iter().zip(values) {
            self.learn_from(episode, values);
        }
    }

    fn account(&self, _facts: &Facts<'_>) -> TechniqueAccount {
        let kinds = self.board.pieces.kinds.iter();
        let unowned = kinds.filter(|kind| kind.owner.is_none());
        TechniqueAccount::Fast(FastAccount {
            features: match self.board.features {
                Features::Types => FeatureKind::Types,
                Features::Cells => FeatureKind::Cells,
            },
            is_active: self.learned.is_active,
            simulations: self.learned.n_episodes,
            weights: self.weights(),
            unowned: unowned.map(|kind| kind.name.clone()).collect(),
        })
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
