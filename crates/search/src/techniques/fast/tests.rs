//! What FAST learns of small boards, beside numbers by hand.

use super::learned::Rates;
use super::*;
use crate::policy::PlayoutPolicy;
use crate::random::Random;
use crate::techniques::Techniques;
use crate::techniques::mast::Mast;
use agon_insight::piece::Kind;

/// A board of three places with a rook and a pawn for each of two roles; fluent `4 · place + kind`. Moves of both:
/// 0 goes from the first place to the second, 1 from the first to the third, 2 nowhere.
fn pieces() -> Pieces {
    let kind = |name: &str, owner: u16| Kind {
        name: name.to_owned(),
        owner: Some(RoleId(owner)),
    };
    let path = |to: u16| Path {
        from: Some(PlaceId(0)),
        to: Some(PlaceId(to)),
        over: Vec::new(),
    };
    let paths = vec![path(1), path(2), Path::default()];
    let held = |fluent: u16| Some((PlaceId(fluent / 4), KindId(fluent % 4)));
    Pieces {
        places: ["a", "b", "c"].map(str::to_owned).to_vec(),
        kinds: vec![kind("R", 0), kind("P", 0), kind("r", 1), kind("p", 1)],
        fluents: (0..12).map(held).collect(),
        paths: vec![paths.clone(), paths],
    }
}

fn fast(features: Features, set: impl Fn(&mut Rates)) -> Fast {
    let mut fast = Fast::with(pieces(), features, 2, &Params::default());
    set(&mut fast.learned.rates);
    fast
}

/// A simulation through these states was worth this much.
fn learn(fast: &mut Fast, states: &[[u64; 1]], values: [f64; 2]) {
    fast.begin();
    states.iter().for_each(|state| fast.see(state));
    fast.end(&Ending {
        depth: 0,
        is_natural: true,
        is_scored: true,
        values: &values,
    });
}

fn stand(fast: &mut Fast, words: &[u64]) {
    fast.stand(&StateView {
        words,
        record: &[],
        legal: &[],
    });
}

/// A state with these kinds on these places.
fn state(held: &[(u32, u32)]) -> [u64; 1] {
    let bits = held.iter().map(|(place, kind)| 1 << (4 * place + kind));
    [bits.sum()]
}

fn assert_near(found: &[f64], expected: &[f64]) {
    let pairs = found.iter().zip(expected);
    assert!(
        found.len() == expected.len() && pairs.clone().all(|(a, b)| (a - b).abs() < 1e-6),
        "{found:?} is not {expected:?}"
    );
}

#[test]
fn weights_are_learned_as_by_hand() {
    let mut fast = fast(Features::Types, |rates| {
        (rates.lambda, rates.gamma, rates.share) = (0.5, 0.9, 1.0);
    });
    // A rook and a pawn of the other; the pawn is taken and the rook wins. Two pieces at most: the step is 0.005. Targets
    // are 0.9 · 100 and 100, values 0: the rook gets 0.005 · 190, the pawn 0.005 · 90.
    let (both, alone) = (state(&[(0, 0), (1, 3)]), state(&[(1, 0)]));
    learn(&mut fast, &[both, alone], [100.0, 0.0]);
    assert_near(&fast.learned.thetas[0], &[0.95, 0.0, 0.0, 0.45]);
    // The same with a step more, and it loses. Values 1.4, 1.4, 0.95; targets 0.9 · (0.7 − 45) = −39.87, −90, −100.
    // Errors −41.27, −91.4, −100.95: the rook gets 0.005 · −233.62, the pawn 0.005 · −132.67.
    learn(&mut fast, &[both, both, alone], [0.0, 100.0]);
    assert_near(&fast.learned.thetas[0], &[-0.2181, 0.0, 0.0, -0.21335]);
    fast.learned.average();
    assert_near(&[fast.theta(0, 0), fast.theta(1, 0)], &[-0.2181, 0.2181]);
}

#[test]
fn long_games_do_not_overshoot() {
    let mut fast = fast(Features::Types, |rates| {
        (rates.alpha, rates.share) = (1.0, 0.05);
    });
    let all = state(&[(0, 0), (1, 3)]);
    for _ in 0..200 {
        learn(&mut fast, &[all; 501], [100.0, 0.0]);
    }
    let value = fast.learned.thetas[0][0] + fast.learned.thetas[0][3];
    assert!((50.0..=101.0).contains(&value), "{value}");
}

#[test]
fn what_was_cut_teaches_nothing() {
    let mut fast = fast(Features::Types, |_| {});
    fast.begin();
    fast.see(&state(&[(0, 0)]));
    fast.end(&Ending {
        depth: 0,
        is_natural: false,
        is_scored: false,
        values: &[50.0, 50.0],
    });
    let learned = &fast.learned;
    assert_eq!((learned.n_episodes, learned.thetas[0][0]), (0, 0.0));
}

const MOVES: [MoveId; 3] = [MoveId(0), MoveId(1), MoveId(2)];

fn values(fast: &mut Fast, role: usize) -> Option<Vec<f32>> {
    fast.biases(role, &MOVES).map(<[f32]>::to_vec)
}

/// With weights as the paper has them: 13 for a rook and 5 for a pawn.
fn learned(features: Features) -> Fast {
    let mut fast = fast(features, |_| {});
    let means = &mut fast.learned.means;
    match features {
        Features::Types => means[0] = vec![13.0, 5.0, -13.0, -5.0],
        // Places by role: a, a, b, b, c, c.
        Features::Cells => means[0] = vec![0.0, 0.0, 1.0, -2.0, 3.0, 0.5],
    }
    fast.learned.is_active = true;
    fast.refresh();
    fast
}

#[test]
fn captures_are_worth_twice_the_taken_less_the_taker() {
    let mut fast = learned(Features::Types);
    // A pawn takes a rook: −(2 · −13 + 5) = 21. A rook takes a pawn: −(2 · −5 + 13) = −3.
    stand(&mut fast, &state(&[(0, 1), (1, 2)]));
    assert_eq!(values(&mut fast, 0), Some(vec![21.0, -100.0, -100.0]));
    stand(&mut fast, &state(&[(0, 0), (1, 3)]));
    assert_eq!(values(&mut fast, 0), Some(vec![-3.0, -100.0, -100.0]));
    // The other role sees it from its side: r takes R, −(2 · −13 + 13) = 13.
    stand(&mut fast, &state(&[(0, 2), (1, 0)]));
    assert_eq!(values(&mut fast, 1), Some(vec![13.0, -100.0, -100.0]));
    // Nothing can be taken, or only one's own.
    stand(&mut fast, &state(&[(0, 0)]));
    assert_eq!(values(&mut fast, 0), None);
    stand(&mut fast, &state(&[(0, 0), (1, 1)]));
    assert_eq!(values(&mut fast, 0), None);
}

#[test]
fn places_are_worth_c_times_their_weight() {
    let mut fast = learned(Features::Cells);
    assert_eq!(values(&mut fast, 0), Some(vec![5.0, 15.0, 0.0]));
    // The weight of the second role having b is −2 to the first, 2 to itself.
    assert_eq!(values(&mut fast, 1), Some(vec![10.0, -2.5, 0.0]));
}

#[test]
fn mast_and_fast_add_up() {
    let mut mast = Mast::new(&Params::default(), 2);
    for (mv, mean) in MOVES.into_iter().zip([55.0, 55.0, 60.0]) {
        mast.add(0, mv, 1, mean);
    }
    let mut techniques = Techniques {
        mast: Some(mast),
        fast: Some(learned(Features::Cells)),
        ..Techniques::none()
    };
    // 60, 70 and 60 at τ = 10: weights 1 : e : 1.
    let mut policy = PlayoutPolicy::new(&Params::default());
    let mut random = Random::new(1);
    let mut shares = [0.0_f64; 3];
    for _ in 0..20_000 {
        let chosen = policy.choose(&mut techniques, RoleId(0), &MOVES, &mut random);
        shares[chosen] += 1.0 / 20_000.0;
    }
    let expected = [0.2119, 0.5761, 0.2119];
    let mut pairs = shares.iter().zip(expected);
    assert!(pairs.all(|(a, b)| (a - b).abs() < 0.012), "{shares:?}");
}

#[test]
fn it_is_held_back_until_a_weight_is_far_from_zero() {
    let mut fast = fast(Features::Cells, |rates| {
        (rates.least_episodes, rates.least_weight) = (3, 0.5);
    });
    let is_active: Vec<bool> = (0..4)
        .map(|_| {
            learn(&mut fast, &[state(&[(1, 0)])], [100.0, 0.0]);
            fast.learned.is_active
        })
        .collect();
    // One piece, one state: 0.01 · 100 the first time.
    assert_eq!(is_active, [false, false, true, true]);
    assert!(values(&mut fast, 0).is_some());
}
