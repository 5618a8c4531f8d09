//! Values of all moves of a state, four at a time.
//!
//! Most of the time in the tree goes into the formulas of selection, over the moves of every state on the way. Here they are
//! computed for all moves alike, without a branch: what must not be chosen is computed too and then made worse than all
//! others. Division and root are exact by IEEE 754, so that the values are the same on every machine.
//!
//! In: the edges of a role in a node, a formula. Out: the best of them, by chance where several are.

use wide::{f32x4, i32x4};

use crate::prior;
use crate::random::Random;
use crate::tree::{Edge, RaveEntry};

/// A visit in flight counts as this part of a lost one, beside being a visit (Enzenberger and Müller 2010, virtual loss).
const VIRTUAL_LOSS: f32 = 0.5;

/// Moves at a time.
const WIDTH: usize = 4;

/// A value per move.
#[derive(Default)]
pub(crate) struct Scores {
    /// Filled up to whole vectors.
    values: Vec<f32x4>,
}

/// What a heuristic says of the moves, and its weight.
type Prior<'a> = Option<(&'a [f32], f32)>;

/// A formula gives values and bonuses on them.
pub(crate) type Value = (f32x4, f32x4);

/// What is known of some moves from later ones.
#[derive(Clone, Copy)]
pub(crate) struct Later {
    pub(crate) is_known: f32x4,
    pub(crate) root: f32x4,
    pub(crate) mean: f32x4,
}

/// `1 / sqrt(n)`; infinite if it is 0.
#[inline(always)]
fn inverse_root(n: f32x4) -> f32x4 {
    (f32x4::ONE / n).sqrt()
}

impl Later {
    #[inline(always)]
    fn new(entries: &[RaveEntry; WIDTH]) -> Later {
        let visits = i32x4::new(four(entries, |entry| entry.visits.cast_signed()));
        let is_unknown: f32x4 = bytemuck::cast(visits.simd_eq(i32x4::ZERO));
        Later {
            is_known: !is_unknown,
            root: inverse_root(visits.round_float()),
            mean: f32x4::new(four(entries, |entry| entry.mean)),
        }
    }
}

/// What edges tell of some moves.
struct Tried {
    /// Whether they are closed.
    is_shut: f32x4,
    /// Visits, with those in flight.
    visits: f32x4,
    /// Mean values, lowered by visits in flight.
    mean: f32x4,
}

impl Tried {
    #[inline(always)]
    fn new(edges: &[Edge; WIDTH]) -> Tried {
        let [child, visits, mean, in_flight] = columns(edges);
        let (visits, in_flight) = (visits.round_float(), in_flight.round_float());
        let mean = mean.round_float() * f32x4::splat(Edge::UNIT);
        let weight = visits + in_flight * f32x4::splat(VIRTUAL_LOSS);
        Tried {
            // The highest bit of a child says that it is closed.
            is_shut: bytemuck::cast(child >> 31),
            visits: visits + in_flight,
            mean: mean * (visits / weight.fast_max(f32x4::splat(f32::MIN_POSITIVE))),
        }
    }

    #[inline(always)]
    fn is_untried(&self) -> f32x4 {
        self.visits.simd_eq(f32x4::ZERO)
    }
}

/// What PUCT looks at, of some moves.
#[derive(Clone, Copy)]
pub(crate) struct Led {
    pub(crate) is_untried: f32x4,
    /// How often they were tried, and the mean of that.
    pub(crate) visits: f32x4,
    pub(crate) mean: f32x4,
    /// Whether later moves tell something, and what.
    pub(crate) is_known: f32x4,
    pub(crate) later: f32x4,
    /// The chance that the policy makes them.
    pub(crate) policy: f32x4,
}

impl Scores {
    /// The formula gets the means of moves and `1 / sqrt` of their visits.
    #[inline]
    pub(crate) fn fill(
        &mut self,
        edges: &[Edge],
        prior: Prior<'_>,
        formula: impl Fn(f32x4, f32x4) -> Value,
    ) {
        self.values.clear();
        let (whole, rest) = edges.as_chunks();
        let mut put = |edges: &[Edge; WIDTH]| {
            let values = values_of(edges, prior, self.values.len(), &formula);
            self.values.push(values);
        };
        whole.iter().for_each(&mut put);
        if !rest.is_empty() {
            put(&filled_up(rest, Edge::NONE));
        }
    }

    /// The same for a formula that also gets what is known of the moves from later ones.
    #[inline]
    pub(crate) fn fill_with_rave(
        &mut self,
        edges: &[Edge],
        rave: &[RaveEntry],
        prior: Prior<'_>,
        formula: impl Fn(f32x4, f32x4, Later) -> Value,
    ) {
        self.values.clear();
        let (whole, rest) = edges.as_chunks();
        let (whole_later, rest_later) = rave.as_chunks();
        let mut put = |edges: &[Edge; WIDTH], later: &[RaveEntry; WIDTH]| {
            let later = Later::new(later);
            let formula = |mean, root| formula(mean, root, later);
            let values = values_of(edges, prior, self.values.len(), formula);
            self.values.push(values);
        };
        for (edges, later) in whole.iter().zip(whole_later) {
            put(edges, later);
        }
        if !rest.is_empty() {
            let later = filled_up(rest_later, RaveEntry::default());
            put(&filled_up(rest, Edge::NONE), &later);
        }
    }

    /// The same for a formula that has something to say about moves that were never tried too. Where there are no statistics
    /// of later moves, `rave` is empty.
    #[inline]
    pub(crate) fn fill_led(
        &mut self,
        edges: &[Edge],
        priors: &[u8],
        rave: &[RaveEntry],
        formula: impl Fn(Led) -> f32x4,
    ) {
        self.values.clear();
        let mut put = |edges: &[Edge; WIDTH], priors: &[u8; WIDTH], rave: &[RaveEntry; WIDTH]| {
            let tried = Tried::new(edges);
            let n_later = i32x4::new(four(rave, |entry| entry.visits.cast_signed()));
            let is_unknown: f32x4 = bytemuck::cast(n_later.simd_eq(i32x4::ZERO));
            let value = formula(Led {
                is_untried: tried.is_untried(),
                visits: tried.visits,
                mean: tried.mean,
                is_known: !is_unknown,
                later: f32x4::new(four(rave, |entry| entry.mean)),
                policy: f32x4::new(four(priors, |&code| prior::decode(code))),
            });
            let worst = f32x4::splat(f32::NEG_INFINITY);
            self.values.push(tried.is_shut.bitselect(worst, value));
        };
        let (whole, rest) = edges.as_chunks();
        let (whole_priors, _) = priors.as_chunks();
        for (idx, edges) in whole.iter().enumerate() {
            let rave = rave[(idx * WIDTH).min(rave.len())..].first_chunk();
            put(
                edges,
                &whole_priors[idx],
                rave.unwrap_or(&[RaveEntry::default(); WIDTH]),
            );
        }
        if !rest.is_empty() {
            let start = whole.len() * WIDTH;
            let rest_priors = filled_up(&priors[start..edges.len()], 0);
            let rest_rave = filled_up(&rave[start.min(rave.len())..], RaveEntry::default());
            put(&filled_up(rest, Edge::NONE), &rest_priors, &rest_rave);
        }
    }

    /// The move with the highest value, by chance where several have it, and that value. Closed ones only if there are no
    /// others, then by their means.
    #[inline]
    pub(crate) fn highest(&self, edges: &[Edge], random: &mut Random) -> (usize, f32) {
        let worst = f32x4::splat(f32::NEG_INFINITY);
        let most = self.values.iter().fold(worst, |most, &v| most.fast_max(v));
        let most = most.to_array();
        let highest = most.into_iter().fold(f32::NEG_INFINITY, f32::max);
        if highest == f32::NEG_INFINITY {
            return (highest_closed(edges), highest);
        }
        let wanted = f32x4::splat(highest);
        let (mut best, mut n_ties) = (0, 0);
        for (chunk, values) in self.values.iter().enumerate() {
            let mut mask = values.simd_eq(wanted).to_bitmask();
            while mask != 0 {
                n_ties += 1;
                if n_ties == 1 || random.below(n_ties) == 0 {
                    best = chunk * WIDTH + mask.trailing_zeros() as usize;
                }
                mask &= mask - 1;
            }
        }
        (best, highest)
    }
}

/// The mean over all visits of these moves, if there are any.
#[inline]
pub(crate) fn mean_of_tried(edges: &[Edge]) -> Option<f32> {
    let (mut n, mut sum) = (f32x4::ZERO, f32x4::ZERO);
    let mut add = |edges: &[Edge; WIDTH]| {
        let [_, visits, mean, _] = columns(edges);
        let visits = visits.round_float();
        n += visits;
        sum += visits * (mean.round_float() * f32x4::splat(Edge::UNIT));
    };
    let (whole, rest) = edges.as_chunks();
    whole.iter().for_each(&mut add);
    if !rest.is_empty() {
        add(&filled_up(rest, Edge::NONE));
    }
    // In this order on every machine.
    let [n, sum] = [n, sum].map(|parts| parts.to_array().into_iter().sum::<f32>());
    (n > 0.0).then_some(sum / n)
}

/// The values of some moves, the first of which is in this vector; the worst of all where they may not be chosen.
#[inline(always)]
fn values_of(
    edges: &[Edge; WIDTH],
    prior: Prior<'_>,
    at: usize,
    formula: impl Fn(f32x4, f32x4) -> Value,
) -> f32x4 {
    let tried = Tried::new(edges);
    let (value, bonus) = formula(tried.mean, inverse_root(tried.visits));
    let mut sum = value + bonus;
    if let Some((prior, weight)) = prior {
        let prior = &prior[at * WIDTH..];
        let whole = prior.first_chunk().copied();
        let prior = f32x4::new(whole.unwrap_or_else(|| filled_up(prior, 0.0)));
        sum += f32x4::splat(weight) * (prior - value);
    }
    let is_shut = tried.is_shut | tried.is_untried();
    is_shut.bitselect(f32x4::splat(f32::NEG_INFINITY), sum)
}

/// What edges are made of: children, visits, means, visits in flight.
#[inline(always)]
fn columns(edges: &[Edge; WIDTH]) -> [i32x4; WIDTH] {
    let rows = four(edges, |edge| bytemuck::cast(edge.words()));
    four(&f32x4::transpose(rows), |&column| bytemuck::cast(column))
}

/// `map` of arrays, which is not always inlined.
#[inline(always)]
fn four<T, U>(all: &[T; WIDTH], what: impl Fn(&T) -> U) -> [U; WIDTH] {
    [what(&all[0]), what(&all[1]), what(&all[2]), what(&all[3])]
}

#[inline]
fn filled_up<T: Copy>(some: &[T], rest: T) -> [T; WIDTH] {
    let mut all = [rest; WIDTH];
    all[..some.len()].copy_from_slice(some);
    all
}

/// Of moves that are all closed or untried, the tried one with the highest mean.
fn highest_closed(edges: &[Edge]) -> usize {
    let tried = edges.iter().enumerate().filter(|(_, edge)| edge.visits > 0);
    let best = tried.max_by(|(_, a), (_, b)| a.mean().total_cmp(&b.mean()));
    best.map_or(0, |(idx, _)| idx)
}
