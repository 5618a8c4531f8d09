//! The lanes engine draws with the right probabilities.
//!
//! Means of goals and of length are compared with the scalar engine by Welch's test: the difference of two means in
//! units of its standard error. Six standard errors occur by chance once in 500 million comparisons, so a failure is
//! not a coincidence. This runs on the built-in games and, if `AGON_CORPUS` names a corpus of rulesheets, on a sample
//! of these. Weighted choices are compared with their weights by Pearson's test.

mod folder;

use std::path::Path;
use std::sync::Arc;

use agon_engine::lanes::{Choosing, Job, LanesOptions, Until, Urgency, Weights};
use agon_engine::network::Network;
use agon_engine::optimize::Pass;
use agon_engine::{Grounded, MoveId, RoleId, ScalarPlayouts};
use agon_ground::{GroundLimits, ground};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use folder::{corpus, sheets_in};

const MAX_STEPS: u32 = 300;

/// Sums of a sample.
#[derive(Clone, Copy, Default)]
struct Sample {
    n: f64,
    sum: f64,
    squares: f64,
}

impl Sample {
    fn add(&mut self, value: f64) {
        self.n += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    fn mean(&self) -> f64 {
        self.sum / self.n
    }

    /// Variance of the mean.
    fn error(&self) -> f64 {
        (self.squares / self.n - self.mean().powi(2)).max(0.0) / self.n
    }

    /// The difference of the means in standard errors.
    fn distance(&self, other: &Sample) -> f64 {
        if self.n == 0.0 || other.n == 0.0 {
            return (self.n - other.n).abs();
        }
        let difference = (self.mean() - other.mean()).abs();
        // A very rare goal is not normally distributed: a single one has this weight.
        let smallest = 100.0 / self.n.min(other.n);
        difference / (self.error() + other.error()).sqrt().max(smallest)
    }
}

fn compile(sheet: &str, limits: &GroundLimits) -> Option<Arc<Grounded>> {
    let description = agon_gdl::parse(sheet.as_bytes(), &agon_gdl::Limits::default());
    let rules = agon_gdl::check(&description).ok()?;
    let program = ground(&rules, limits, &|| false).ok()?;
    Some(Arc::new(Grounded::new(program, &Pass::ALL)))
}

/// Length, then goals by role, then the frequency of goals, of random playouts.
fn samples(n_roles: usize) -> Vec<Sample> {
    vec![Sample::default(); 1 + 2 * n_roles]
}

fn by_lanes(game: &Grounded, n_roles: usize, n_playouts: u32) -> Vec<Sample> {
    let mut lanes = game.lanes(&LanesOptions {
        seed: 3,
        ..LanesOptions::default()
    });
    lanes.submit([Job {
        n_playouts,
        most_steps: MAX_STEPS,
        ..Job::new(game.initial_state(), 0)
    }]);
    lanes.run(Until::Idle);
    let mut all = samples(n_roles);
    lanes.drain(|playout| {
        all[0].add(f64::from(playout.steps()));
        for role in RoleId::all(n_roles) {
            let goal = playout.goal(role).map(|goal| f64::from(goal.value()));
            goal.into_iter()
                .for_each(|goal| all[1 + role.idx()].add(goal));
            all[1 + n_roles + role.idx()].add(f64::from(u8::from(goal.is_some())));
        }
    });
    all
}

fn by_scalar(game: &Arc<Grounded>, n_roles: usize, n_playouts: u32) -> Vec<Sample> {
    let scalar = game.machine().into_scalar();
    let mut playouts = ScalarPlayouts::new(scalar, game.initial_state().clone(), n_roles);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut all = samples(n_roles);
    for _ in 0..n_playouts {
        all[0].add(f64::from(playouts.run(MAX_STEPS, &mut rng).steps));
        for role in RoleId::all(n_roles) {
            let goal = game
                .goal(playouts.machine(), role)
                .map(|goal| f64::from(goal.value()));
            goal.into_iter()
                .for_each(|goal| all[1 + role.idx()].add(goal));
            all[1 + n_roles + role.idx()].add(f64::from(u8::from(goal.is_some())));
        }
    }
    all
}

fn check(name: &str, game: &Arc<Grounded>, n_lanes: u32, n_scalar: u32) -> Result<(), String> {
    let n_roles = game.program().roles.len();
    let lanes = by_lanes(game, n_roles, n_lanes);
    let scalar = by_scalar(game, n_roles, n_scalar);
    for (idx, (lanes, scalar)) in lanes.iter().zip(&scalar).enumerate() {
        let distance = lanes.distance(scalar);
        if distance > 6.0 {
            let (left, right) = (lanes.mean(), scalar.mean());
            return Err(format!(
                "{name}, mean {idx}: {left} on lanes, {right} on scalar, {distance:.1} standard errors"
            ));
        }
    }
    Ok(())
}

#[test]
fn means_agree_on_built_in_games() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../games/games");
    for (name, sheet) in sheets_in(&directory) {
        let game = compile(&sheet, &GroundLimits::default()).expect("it grounds");
        check(&name, &game, 40_000, 5_000).unwrap_or_else(|difference| panic!("{difference}"));
    }
}

#[test]
fn means_agree_on_a_sample_of_the_corpus() {
    const EVERY: usize = 3;
    let Some(directory) = corpus() else {
        return;
    };
    let limits = GroundLimits {
        rules: 30_000,
        steps: 3_000_000,
        ..GroundLimits::default()
    };
    let mut failures = Vec::new();
    let mut n_compared = 0;
    for (name, sheet) in sheets_in(&directory).iter().step_by(EVERY) {
        let Some(game) = compile(sheet, &limits) else {
            continue;
        };
        n_compared += 1;
        let n_edges = game
            .optimized()
            .networks
            .iter()
            .map(Network::n_edges)
            .max()
            .unwrap_or(0);
        let n_scalar = if n_edges > 5000 { 60 } else { 600 };
        failures.extend(check(name, &game, 4096, n_scalar).err());
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(
        n_compared > 50,
        "only {n_compared} sheets could be grounded"
    );
}

/// One choice among 40 moves, the first 20 legal only if the coin is up; the state records the choice.
fn one_choice() -> Arc<Grounded> {
    let mut sheet = "(role r) (init start) (init (coin up)) (<= (next (did ?m)) (does r ?m)) (<= terminal (not (true start))) (goal r 0)".to_owned();
    for idx in 0..40 {
        sheet.push_str(&format!(" (<= (legal r m{idx}) (true start)"));
        sheet.push_str(if idx < 20 { " (true (coin up)))" } else { ")" });
    }
    sheet.push_str(" (<= (next (coin up)) (does r m0)) (<= (next (coin down)) (does r m1))");
    compile(&sheet, &GroundLimits::default()).expect("it grounds")
}

/// The frequency of each move in one choice.
fn frequencies(game: &Grounded, choosing: &Choosing, n_playouts: u32) -> Vec<f64> {
    let mut lanes = game.lanes(&LanesOptions {
        seed: 9,
        moves: true,
        ..LanesOptions::default()
    });
    lanes.set_choosing(choosing);
    lanes.submit([Job {
        n_playouts,
        ..Job::new(game.initial_state(), 0)
    }]);
    lanes.run(Until::Idle);
    let mut counts = vec![0.0; game.program().roles[0].moves.len()];
    lanes.drain(|playout| {
        playout
            .moves(RoleId(0))
            .for_each(|mv| counts[mv.0 as usize] += 1.0);
    });
    counts
}

/// Pearson's statistic against the expected shares, as standard deviations from its mean.
fn surprise(counts: &[f64], shares: &[f64]) -> f64 {
    let (n, all): (f64, f64) = (counts.iter().sum(), shares.iter().sum());
    let expected = shares.iter().map(|share| share / all * n);
    let statistic: f64 = counts
        .iter()
        .zip(expected)
        .map(|(count, expected)| (count - expected).powi(2) / expected)
        .sum();
    let freedom = counts.len() as f64 - 1.0;
    (statistic - freedom) / (2.0 * freedom).sqrt()
}

#[test]
fn uniform_choices_are_uniform() {
    let game = one_choice();
    let counts = frequencies(&game, &Choosing::Uniform, 400_000);
    assert!(
        surprise(&counts, &vec![1.0; counts.len()]) < 6.0,
        "{counts:?}"
    );
}

#[test]
fn proportional_choices_are_proportional() {
    // Weights of classes, so that nothing is rounded.
    const WEIGHTS: [f32; 8] = [256.0, 96.0, 1.0, 12.0, 24.0, 3.0, 64.0, 192.0];
    let game = one_choice();
    let mut weights = Weights::new([40]);
    let fluent = |text: &str| {
        let program = game.program();
        program
            .fluents
            .iter()
            .position(|fluent| program.term_text(fluent.term) == text)
            .map(|idx| idx as u32)
    };
    let (up, down) = (
        fluent("(coin up)").expect("the fluent exists"),
        fluent("(coin down)").expect("the fluent exists"),
    );
    let mut shares = Vec::new();
    for idx in 0..40 {
        let weight = WEIGHTS[idx as usize % 8];
        let entry = weights.get_mut(RoleId(0), MoveId(idx));
        entry.weight = weight;
        let share = match idx % 5 {
            // The coin is up: the weight of the case applies, or not.
            0 => {
                entry.cases = vec![(down, 2.0), (up, 128.0), (up, 3.0)];
                128.0
            }
            1 => {
                entry.cases = vec![(down, 128.0)];
                weight
            }
            _ => weight,
        };
        shares.push(f64::from(share));
    }
    let counts = frequencies(&game, &Choosing::Proportional(weights), 400_000);
    assert!(surprise(&counts, &shares) < 6.0, "{counts:?} {shares:?}");
}

#[test]
fn greedy_choices_take_the_best_except_with_epsilon() {
    let game = one_choice();
    let mut weights = Weights::new([40]);
    weights.get_mut(RoleId(0), MoveId(17)).weight = 2.0;
    weights.get_mut(RoleId(0), MoveId(23)).weight = 1.5;
    for epsilon in [0.0, 0.25, 1.0] {
        let n_playouts = 100_000;
        let counts = frequencies(
            &game,
            &Choosing::Greedy(weights.clone(), epsilon),
            n_playouts,
        );
        let expected = f64::from(n_playouts) * (1.0 - epsilon + epsilon / 40.0);
        let error = (f64::from(n_playouts) * epsilon).sqrt() * 6.0;
        assert!(
            (counts[17] - expected).abs() <= error,
            "{epsilon}: {counts:?}"
        );
    }
}

/// First a piece is placed, or none; then one of twelve moves is made, by day. The weight of a move depends on the
/// piece. The last move is legal only if the place is empty.
#[test]
fn urgent_moves_come_first_and_have_their_own_scale() {
    let mut sheet = "(role r) (init (step 0)) (init day) (<= (next day) (true day))
        (<= (legal r (put ?p)) (true (step 0)) (piece ?p))
        (piece rook) (piece pawn) (piece none) (<= (next (at ?p)) (does r (put ?p)))
        (<= (next (step 1)) (true (step 0))) (<= (next (step 2)) (true (step 1)))
        (<= terminal (true (step 2))) (goal r 0) (<= (legal r m11) (true (step 1)) (true (at none)))"
        .to_owned();
    (0..11).for_each(|idx| sheet.push_str(&format!(" (<= (legal r m{idx}) (true (step 1)))")));
    let game = compile(&sheet, &GroundLimits::default()).expect("it grounds");
    let program = game.program();
    let fluent = |text: &str| {
        let matches = |fluent: &agon_ground::Fluent| program.term_text(fluent.term) == text;
        program
            .fluents
            .iter()
            .position(matches)
            .expect("the fluent exists") as u32
    };
    let find = |text: &str| {
        let mut moves = program.roles[0].moves.iter();
        let found = moves.position(|mv| program.term_text(mv.term) == text);
        MoveId(found.expect("the move exists") as u32)
    };
    let (rook, pawn) = (fluent("(at rook)"), fluent("(at pawn)"));
    let mut weights = Weights::new([program.roles[0].moves.len()]);
    let both = weights.add_scale(vec![(rook, 1.0), (pawn, 0.125), (rook, 0.5)]);
    let only_pawn = weights.add_scale(vec![(pawn, 1.0)]);
    let by_day = weights.add_scale(vec![(rook, 1.0), (fluent("day"), 4.0)]);
    // The weight of each move on an empty place, and where a rook or a pawn is.
    let mut shares = [[0.0; 12]; 3];
    for idx in 0..12 {
        let entry = weights.get_mut(RoleId(0), find(&format!("m{idx}")));
        entry.weight = [256.0, 1.0, 96.0][idx % 3];
        shares[0][idx] = f64::from(entry.weight);
        // With a rook the pawn's factor does not apply, and by day moves with the other scale weigh four times as much.
        let (weight, on, by, with_rook, with_pawn) = match idx {
            0 => (1024.0, both, None, 1024.0, 128.0),
            1 => (4.0, both, None, 4.0, 0.5),
            2 => (80.0, both, Some(by_day), 80.0, 40.0),
            5 => (6.0, only_pawn, None, 0.0, 6.0),
            11 => (1000.0, both, None, 0.0, 0.0),
            _ => continue,
        };
        entry.urgency = Some(Urgency { weight, on, by });
        (shares[1][idx], shares[2][idx]) = (with_rook, with_pawn);
    }
    let play = |choosing: &Choosing| {
        let mut lanes = game.lanes(&LanesOptions {
            seed: 3,
            moves: true,
            ..LanesOptions::default()
        });
        lanes.set_choosing(choosing);
        lanes.submit([Job {
            n_playouts: 300_000,
            ..Job::new(game.initial_state(), 0)
        }]);
        lanes.run(Until::Idle);
        let mut counts = [[0.0; 12]; 3];
        let pieces = ["(put none)", "(put rook)", "(put pawn)"].map(find);
        let moves: Vec<MoveId> = (0..12).map(|idx| find(&format!("m{idx}"))).collect();
        lanes.drain(|playout| {
            let mut made = playout.moves(RoleId(0));
            let (piece, mv) = (made.next(), made.next());
            let piece = pieces.iter().position(|known| Some(*known) == piece);
            let mv = moves.iter().position(|known| Some(*known) == mv);
            counts[piece.expect("known")][mv.expect("known")] += 1.0;
        });
        counts
    };
    let counts = play(&Choosing::Proportional(weights.clone()));
    for (counts, shares) in counts.iter().zip(&shares) {
        let possible = counts.iter().zip(shares).filter(|(_, share)| **share > 0.0);
        let (some, expected): (Vec<f64>, Vec<f64>) = possible.unzip();
        assert_eq!(some.iter().sum::<f64>(), counts.iter().sum(), "{counts:?}");
        assert!(surprise(&some, &expected) < 6.0, "{counts:?} {shares:?}");
    }
    // Greedy: the heaviest urgent move, or the heaviest of all if none is urgent.
    weights.get_mut(RoleId(0), find("m9")).weight = 300.0;
    for (idx, (piece, best)) in [("none", 9), ("rook", 0), ("pawn", 0)]
        .into_iter()
        .enumerate()
    {
        let put = find(&format!("(put {piece})"));
        weights.get_mut(RoleId(0), put).weight = 2.0 + idx as f32;
        let counts = play(&Choosing::Greedy(weights.clone(), 0.0));
        assert_eq!(counts[idx][best], 300_000.0, "{piece}: {counts:?}");
    }
}
