//! What FAST learns of small boards, beside numbers by hand.

use super::*;
use crate::mast::Mast;
use crate::random::Random;
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

fn fast(features: Features, set: &[(&str, &str)]) -> Fast {
    let mut params = Params::default();
    for (name, value) in set {
        params.set(name, value).expect("it can be set");
    }
    Fast::with(pieces(), features, 2, &params)
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
    let set = [
        ("fast_lambda", "0.5"),
        ("fast_discount", "0.9"),
        ("fast_share", "1"),
    ];
    let mut fast = fast(Features::Types, &set);
    // A rook and a pawn of the other; the pawn is taken and the rook wins. Two pieces at most: the step is 0.005. Targets
    // are 0.9 · 100 and 100, values 0: the rook gets 0.005 · 190, the pawn 0.005 · 90.
    let (both, alone) = (state(&[(0, 0), (1, 3)]), state(&[(1, 0)]));
    fast.begin(&both);
    fast.see(&alone);
    fast.end(&[100.0, 0.0]);
    assert_near(&fast.thetas[0], &[0.95, 0.0, 0.0, 0.45]);
    // The same with a step more, and it loses. Values 1.4, 1.4, 0.95; targets 0.9 · (0.7 − 45) = −39.87, −90, −100.
    // Errors −41.27, −91.4, −100.95: the rook gets 0.005 · −233.62, the pawn 0.005 · −132.67.
    fast.begin(&both);
    fast.see(&both);
    fast.see(&alone);
    fast.end(&[0.0, 100.0]);
    assert_near(&fast.thetas[0], &[-0.2181, 0.0, 0.0, -0.21335]);
    fast.average();
    assert_near(&[fast.theta(0, 0), fast.theta(1, 0)], &[-0.2181, 0.2181]);
}

#[test]
fn long_games_do_not_overshoot() {
    let mut fast = fast(
        Features::Types,
        &[("fast_alpha", "1"), ("fast_share", "0.05")],
    );
    let all = state(&[(0, 0), (1, 3)]);
    for _ in 0..200 {
        fast.begin(&all);
        (0..500).for_each(|_| fast.see(&all));
        fast.end(&[100.0, 0.0]);
    }
    let value = fast.thetas[0][0] + fast.thetas[0][3];
    assert!((50.0..=101.0).contains(&value), "{value}");
}

#[test]
fn what_was_cut_teaches_nothing() {
    let mut fast = fast(Features::Types, &[]);
    fast.begin(&state(&[(0, 0)]));
    fast.forget();
    fast.end(&[100.0, 0.0]);
    assert_eq!((fast.n_episodes, fast.thetas[0][0]), (0, 0.0));
}

const MOVES: [MoveId; 3] = [MoveId(0), MoveId(1), MoveId(2)];

fn values(fast: &mut Fast, role: usize) -> Option<Vec<f32>> {
    let biases = fast.biases(role, MOVES.into_iter())?;
    Some(biases.iter().map(|bias| bias.value).collect())
}

/// With weights as the paper has them: 13 for a rook and 5 for a pawn.
fn learned(features: Features, set: &[(&str, &str)]) -> Fast {
    let mut fast = fast(features, set);
    match features {
        Features::Types => fast.means[0] = vec![13.0, 5.0, -13.0, -5.0],
        // Places by role: a, a, b, b, c, c.
        Features::Cells => fast.means[0] = vec![0.0, 0.0, 1.0, -2.0, 3.0, 0.5],
    }
    fast.is_active = true;
    fast.refresh();
    fast
}

#[test]
fn captures_are_worth_twice_the_taken_less_the_taker() {
    let mut fast = learned(Features::Types, &[]);
    // A pawn takes a rook: −(2 · −13 + 5) = 21. A rook takes a pawn: −(2 · −5 + 13) = −3.
    fast.stand(&state(&[(0, 1), (1, 2)]));
    assert_eq!(values(&mut fast, 0), Some(vec![21.0, -100.0, -100.0]));
    fast.stand(&state(&[(0, 0), (1, 3)]));
    assert_eq!(values(&mut fast, 0), Some(vec![-3.0, -100.0, -100.0]));
    // The other role sees it from its side: r takes R, −(2 · −13 + 13) = 13.
    fast.stand(&state(&[(0, 2), (1, 0)]));
    assert_eq!(values(&mut fast, 1), Some(vec![13.0, -100.0, -100.0]));
    // Nothing can be taken, or only one's own.
    fast.stand(&state(&[(0, 0)]));
    assert_eq!(values(&mut fast, 0), None);
    fast.stand(&state(&[(0, 0), (1, 1)]));
    assert_eq!(values(&mut fast, 0), None);
}

#[test]
fn places_are_worth_c_times_their_weight() {
    let mut fast = learned(Features::Cells, &[]);
    assert_eq!(values(&mut fast, 0), Some(vec![5.0, 15.0, 0.0]));
    // The weight of the second role having b is −2 to the first, 2 to itself.
    assert_eq!(values(&mut fast, 1), Some(vec![10.0, -2.5, 0.0]));
}

#[test]
fn mast_and_fast_add_up() {
    let mut mast = Mast::new(&Params::default(), 2);
    mast.fast = Some(learned(Features::Cells, &[]));
    for (of, mean) in MOVES.into_iter().zip([55.0, 55.0, 60.0]) {
        mast.add(0, of, mean);
    }
    // 60, 70 and 60 at τ = 10: weights 1 : e : 1.
    let mut random = Random::new(1);
    let mut shares = [0.0_f64; 3];
    for _ in 0..20_000 {
        shares[mast.choose(0, MOVES.into_iter(), &mut random)] += 1.0 / 20_000.0;
    }
    let expected = [0.2119, 0.5761, 0.2119];
    let mut pairs = shares.iter().zip(expected);
    assert!(pairs.all(|(a, b)| (a - b).abs() < 0.012), "{shares:?}");
    assert_eq!(
        mast.choose(0, MOVES.into_iter(), &mut Random::new(3)),
        mast.choose(0, MOVES.into_iter(), &mut Random::new(3))
    );
}

#[test]
fn it_is_held_back_until_a_weight_is_far_from_zero() {
    let set = [("fast_updates", "3"), ("fast_threshold", "0.5")];
    let mut fast = fast(Features::Cells, &set);
    let is_active: Vec<bool> = (0..4)
        .map(|_| {
            fast.begin(&state(&[(1, 0)]));
            fast.end(&[100.0, 0.0]);
            fast.is_active
        })
        .collect();
    // One piece, one state: 0.01 · 100 the first time.
    assert_eq!(is_active, [false, false, true, true]);
    assert!(values(&mut fast, 0).is_some());
}
