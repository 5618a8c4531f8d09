//! Decisive moves: if a role can win immediately, lanes offer it only winning moves; otherwise only moves that do not
//! lose immediately. The scalar engine offers the same moves in such playouts.
//!
//! This is compared with a two-step lookahead on the scalar engine, in states of random matches of the built-in games
//! and, if `AGON_CORPUS` names a corpus of rulesheets, of those. The offered moves must be either some moves that win,
//! or all moves except some that lose. In games where every win is a new reason to end, none may be missed.

mod folder;

use std::path::Path;
use std::sync::Arc;

use agon_engine::lanes::{Job, Lanes, LanesOptions, Until};
use agon_engine::optimize::Pass;
use agon_engine::{Goal, Grounded, JointMove, Machine, MoveId, RoleId, State};
use agon_ground::{GroundLimits, ground};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use folder::{corpus, sheets_in};

/// Matches per game, and the maximum number of steps of each.
const N_MATCHES: u32 = 12;
const MAX_STEPS: u32 = 120;

fn compile(sheet: &str) -> Option<Arc<Grounded>> {
    let limits = GroundLimits {
        rules: 100_000,
        ..GroundLimits::default()
    };
    let description = agon_gdl::parse(sheet.as_bytes(), &agon_gdl::Limits::default());
    let rules = agon_gdl::check(&description).ok()?;
    let program = ground(&rules, &limits, &|| false).ok()?;
    Some(Arc::new(Grounded::new(program, &Pass::ALL)))
}

/// Counts of a game.
#[derive(Default, Debug)]
struct Count {
    states: u32,
    /// States in which a role with lookahead does not choose among all moves, and those in which the same moves were
    /// offered.
    wins: u32,
    found: u32,
}

/// Moves to the state after a joint move.
fn after(machine: &mut dyn Machine, state: &State, moves: impl Iterator<Item = MoveId>) -> State {
    machine.load(state);
    machine.advance(&JointMove::new(moves));
    machine.state()
}

/// Whether the state is terminal with the best goal of a role, whatever other goals the sheet derives.
fn is_win(machine: &mut dyn Machine, role: RoleId, best: &[Goal]) -> bool {
    let best = best[role.idx()].value().to_string();
    machine.is_terminal() && machine.goals(role).contains(&best)
}

/// Whether another role is the only one with a choice in a state and can win immediately. Changes the machine's state.
fn is_lost(machine: &mut dyn Machine, state: &State, role: RoleId, best: &[Goal]) -> bool {
    let roles = || RoleId::all(best.len());
    let legal: Vec<Vec<MoveId>> = roles()
        .map(|other| machine.legal_moves(other).to_vec())
        .collect();
    let wins = |mover: RoleId| {
        legal[mover.idx()].iter().any(|&mv| {
            let made = |other: RoleId| match other == mover {
                true => Some(mv),
                false => legal[other.idx()].first().copied(),
            };
            let moves: Option<Vec<MoveId>> = roles().map(made).collect();
            let Some(moves) = moves else {
                return false;
            };
            after(machine, state, moves.into_iter());
            is_win(machine, mover, best)
        })
    };
    roles().filter(|&other| other != role).any(wins)
}

/// Looks two steps ahead in all states that lanes visit, and compares.
fn check(name: &str, game: &Arc<Grounded>) -> Option<Count> {
    let program = game.decisive_program()?;
    let options = LanesOptions {
        seed: 5,
        moves: true,
        ..LanesOptions::default()
    };
    let mut lanes = Lanes::new(Arc::clone(game.lanes_program()), &options);
    let initial = game.initial_state().clone();
    lanes.submit([Job {
        n_playouts: N_MATCHES,
        most_steps: MAX_STEPS,
        ..Job::new(&initial, 0)
    }]);
    lanes.run(Until::Idle);
    let mut machine = game.machine();
    let mut player = game
        .decisive_machine()
        .expect("both engines support decisive moves");
    let n_roles = game.program().roles.len();
    let roles = || RoleId::all(n_roles);
    // Step 1. All states of the playouts.
    let mut states: Vec<State> = Vec::new();
    lanes.drain(|playout| {
        let moves: Vec<Vec<MoveId>> = roles().map(|role| playout.moves(role).collect()).collect();
        machine.load(&initial);
        for step in 0..playout.steps() as usize {
            states.push(machine.state());
            machine.advance(&JointMove::new(moves.iter().map(|played| played[step])));
        }
    });
    // Step 2. The moves offered in them, and the moves that win.
    let best: Vec<Goal> = roles()
        .map(|role| {
            let goals = game.program().roles[role.idx()].goals.iter();
            let text = |term| game.program().term_text(term);
            let values = goals.filter_map(|goal| Goal::new(text(goal.value).parse().ok()?));
            values.max().expect("every role has a goal")
        })
        .collect();
    let mut count = Count::default();
    let refs: Vec<&State> = states.iter().collect();
    let mut offers = Lanes::new(Arc::clone(program), &options);
    offers.expand(&refs, |idx, seen| {
        // The scalar engine offers the same moves, and reaches the same state.
        player.load(&states[idx]);
        let mut firsts = Vec::new();
        for role in roles() {
            let offered = player.legal_moves(role);
            assert_eq!(offered, seen.legal_moves(role), "{name}");
            firsts.extend(offered.first());
        }
        if firsts.len() == n_roles {
            player.advance(&firsts);
            let expected = after(&mut machine, &states[idx], firsts.into_iter());
            assert_eq!(player.words(), expected.words(), "{name}");
            assert_eq!(player.is_terminal(), machine.is_terminal(), "{name}");
            for role in roles() {
                let goal = game.goal(&mut player, role);
                assert_eq!(goal, machine.goal(role), "{name}");
            }
        }
        machine.load(&states[idx]);
        let legal: Vec<Vec<MoveId>> = roles()
            .map(|role| machine.legal_moves(role).to_vec())
            .collect();
        count.states += 1;
        for role in roles() {
            let offered = seen.legal_moves(role);
            let all = &legal[role.idx()];
            if legal.iter().filter(|moves| moves.len() > 1).count() > 1 {
                assert_eq!(
                    offered, all,
                    "{name}: a role without a decision is offered all moves"
                );
                continue;
            }
            if all.len() < 2 {
                continue;
            }
            // The state after each move, and who can win immediately there.
            let mut winning = Vec::new();
            let mut safe = Vec::new();
            for &mv in all {
                let made = |other: RoleId| {
                    if other == role {
                        mv
                    } else {
                        legal[other.idx()][0]
                    }
                };
                let after = after(&mut machine, &states[idx], roles().map(made));
                if is_win(&mut machine, role, &best) {
                    winning.push(mv);
                }
                // A move that ends the match may be left out, unless it wins.
                if !machine.is_terminal() && !is_lost(&mut machine, &after, role, &best) {
                    safe.push(mv);
                }
            }
            let expected = match (winning.is_empty(), safe.is_empty()) {
                (false, _) => &winning,
                (true, false) => &safe,
                (true, true) => all,
            };
            if expected != all {
                count.wins += 1;
                count.found += u32::from(offered == expected);
            }
            let wins = !offered.is_empty() && offered.iter().all(|mv| winning.contains(mv));
            let is_kept = |mv: &&MoveId| offered.contains(mv) || !safe.contains(mv);
            let is_sound = wins || all.iter().filter(is_kept).count() == all.len();
            assert!(
                is_sound && !offered.is_empty(),
                "{name}: {offered:?}, {winning:?} win, {safe:?} are safe"
            );
        }
    });
    Some(count)
}

/// The sheets of a folder in which lanes have decisive moves.
fn check_all(folder: &Path) -> Vec<(String, Count)> {
    let mut found = Vec::new();
    for (name, sheet) in sheets_in(folder) {
        let Some(game) = compile(&sheet) else {
            continue;
        };
        if let Some(count) = check(&name, &game) {
            println!("{name}: {count:?}");
            found.push((name, count));
        }
    }
    found
}

#[test]
fn only_winning_or_safe_moves_are_offered() {
    let found = check_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../games/games"));
    for game in [
        "tic_tac_toe",
        "connect_four",
        "breakthrough",
        "knightthrough",
    ] {
        let end = format!("/{game}.kif");
        let (_, count) = found
            .iter()
            .find(|(name, _)| name.ends_with(&end))
            .expect(game);
        assert!(count.wins > 10, "{game}: {count:?}");
        assert_eq!(count.wins, count.found, "{game}");
    }
}

/// Two roles take turns to climb or not; the match ends at the top.
fn climb(goals: &str) -> Arc<Grounded> {
    let sheet = "(role a) (role b) (init (control a)) (init (at 0)) (init (step 1))
        (up 0 1) (up 1 2) (up 2 3) (up 3 4)
        (s 1 2) (s 2 3) (s 3 4) (s 4 5) (s 5 6) (s 6 7) (s 7 8) (s 8 9)
        (<= (legal ?r climb) (true (control ?r))) (<= (legal ?r stay) (true (control ?r)))
        (<= (legal a wait) (true (control b))) (<= (legal b wait) (true (control a)))
        (<= (next (control a)) (true (control b))) (<= (next (control b)) (true (control a)))
        (<= (next (step ?y)) (true (step ?x)) (s ?x ?y))
        (<= (next (at ?y)) (does ?r climb) (true (at ?x)) (up ?x ?y))
        (<= (next (at ?x)) (does ?r stay) (true (at ?x)))
        (<= (next (by ?r)) (does ?r climb))
        (<= terminal (true (at 4))) (<= terminal (true (step 9)))";
    compile(&[sheet, goals].concat()).expect("it grounds")
}

#[test]
fn a_win_of_all_roles_is_not_prevented() {
    let alone = "(<= (won ?r) (true (at 4)) (true (by ?r)))
        (<= (goal ?r 100) (won ?r)) (<= (goal ?r 0) (role ?r) (not (won ?r)))";
    assert!(climb(alone).decisive_program().is_some());
    let together = "(<= (goal ?r 100) (role ?r) (true (at 4)))
        (<= (goal ?r 0) (role ?r) (not (true (at 4))))";
    assert!(climb(together).decisive_program().is_none());
    let nobody = "(<= (goal ?r 50) (role ?r)) (<= (goal ?r 100) (role ?r) (true (at 9)))";
    assert!(climb(nobody).decisive_program().is_none());
}

/// Mean length and its standard error.
fn mean(lengths: &[u32]) -> (f64, f64) {
    let n = lengths.len() as f64;
    let mean = lengths.iter().map(|&length| f64::from(length)).sum::<f64>() / n;
    let squares = lengths
        .iter()
        .map(|&length| (f64::from(length) - mean).powi(2));
    (mean, (squares.sum::<f64>() / n / n).sqrt())
}

#[test]
fn scalar_playouts_are_as_long_as_those_of_lanes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../games/games");
    for name in ["connect_four", "breakthrough", "pentago"] {
        let sheet = std::fs::read_to_string(folder.join(name).with_extension("kif"));
        let game = compile(&sheet.expect("a built-in game")).expect("the game can be grounded");
        let options = LanesOptions {
            seed: 11,
            decisive: true,
            ..LanesOptions::default()
        };
        let mut lanes = game.lanes(&options);
        lanes.submit([Job {
            n_playouts: 4000,
            ..Job::new(game.initial_state(), 0)
        }]);
        lanes.run(Until::Idle);
        let mut lane_lengths = Vec::new();
        lanes.drain(|playout| lane_lengths.push(playout.steps()));
        let mut player = game
            .decisive_machine()
            .expect("the game has immediate wins");
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut one_by_one = Vec::new();
        for _ in 0..4000 {
            player.load(game.initial_state());
            let mut n_steps = 0;
            while !player.is_terminal() {
                let joint: Vec<MoveId> = RoleId::all(2)
                    .map(|role| {
                        let moves = player.legal_moves(role);
                        moves[random.next_u64() as usize % moves.len()]
                    })
                    .collect();
                player.advance(&joint);
                n_steps += 1;
            }
            one_by_one.push(n_steps);
        }
        let ((one, error), (other, other_error)) = (mean(&one_by_one), mean(&lane_lengths));
        let apart = (one - other).abs() / error.hypot(other_error);
        assert!(apart < 4.5, "{name}: {one} and {other}");
    }
}

#[test]
fn only_winning_or_safe_moves_are_offered_in_the_corpus() {
    let Some(folder) = corpus() else {
        return;
    };
    assert!(check_all(&folder).len() > 50);
}
