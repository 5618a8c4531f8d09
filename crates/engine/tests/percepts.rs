//! Percepts: the interpreter, the scalar engine and the lanes must agree on what every role sees, state by state, in
//! random matches of every game of GDL-II: small sheets with one difficulty each, the built-in games, and those of the
//! folder `gdl2` of the corpus if `AGON_CORPUS` names one. `AGON_MATCHES` sets the number of matches per game.

mod folder;

use std::path::Path;
use std::sync::Arc;

use agon_engine::lanes::LanesOptions;
use agon_engine::{
    Game, JointMove, Machine, MoveId, Observation, Particles, PerceptId, Percepts, RoleId, State,
};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use folder::{corpus, sheets_in};

/// Steps after which a match is given up.
const MOST_STEPS: usize = 300;

/// A game on the network and on the interpreter.
struct Both {
    network: Game,
    slow: Game,
}

impl Both {
    fn new(sheet: &str) -> Both {
        let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
        let rules = Arc::new(rules.unwrap_or_else(|findings| panic!("{findings:?}")));
        let network = Game::network(Arc::clone(&rules), &Default::default(), &|| false);
        Both {
            network: network.expect("it grounds"),
            slow: Game::interpret(rules).expect("it runs"),
        }
    }
}

fn names(game: &Game, percepts: &[PerceptId]) -> Vec<String> {
    assert!(percepts.is_sorted(), "percepts are sorted");
    let mut names: Vec<String> = percepts.iter().map(|&id| game.percept_name(id)).collect();
    names.sort();
    names
}

fn legal(game: &Game, machine: &mut dyn Machine, role: RoleId) -> Vec<String> {
    let moves = machine.legal_moves(role).to_vec();
    let mut texts: Vec<String> = moves.iter().map(|&mv| game.move_text(role, mv)).collect();
    texts.sort();
    texts
}

/// A step of a match on the network.
struct Step {
    state: State,
    joint: JointMove,
    after: State,
}

/// Plays a match on both engines, compares everything, and returns its steps and what was seen.
fn play(both: &Both, seed: u64) -> (Vec<Step>, Percepts) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut fast, mut slow) = (both.network.machine(), both.slow.machine());
    let mut seen = Percepts::new(both.network.n_roles());
    let mut steps = Vec::new();
    while steps.len() < MOST_STEPS {
        let state = fast.state();
        let fluents = both.network.fluents(&state);
        assert_eq!(fluents, both.slow.fluents(&slow.state()));
        assert_eq!(fast.is_terminal(), slow.is_terminal(), "{fluents:?}");
        let mut texts = Vec::new();
        for role in both.network.roles() {
            assert_eq!(fast.goals(role), slow.goals(role), "{fluents:?}");
            let moves = legal(&both.network, &mut *fast, role);
            assert_eq!(moves, legal(&both.slow, &mut *slow, role), "{fluents:?}");
            if !moves.is_empty() {
                texts.push(moves[rng.next_u32() as usize % moves.len()].clone());
            }
        }
        if fast.is_terminal() || texts.len() < both.network.n_roles() {
            break;
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let joint = both.network.joint_move(&texts).expect("legal moves");
        let slow_joint = both.slow.joint_move(&texts).expect("legal moves");
        // What another joint move would show must not stay behind.
        other_joint(&mut *slow, &both.slow, &mut rng);
        for role in both.network.roles() {
            let on_network = names(&both.network, fast.percepts(role, &joint));
            let interpreted = names(&both.slow, slow.percepts(role, &slow_joint));
            assert_eq!(on_network, interpreted, "{role:?} {texts:?} {fluents:?}");
            for name in &on_network {
                let found = both.network.find_percept(name).expect("it was seen");
                assert_eq!(both.network.percept_name(found), *name);
                let found = both.slow.find_percept(name).expect("it was seen");
                assert_eq!(both.slow.percept_name(found), *name);
            }
        }
        seen.add_step(&mut *fast, &joint);
        fast.advance(&joint);
        slow.advance(&slow_joint);
        let after = fast.state();
        steps.push(Step {
            state,
            joint,
            after,
        });
    }
    (steps, seen)
}

/// Asks for the percepts of a random joint move.
fn other_joint(machine: &mut dyn Machine, game: &Game, rng: &mut impl Rng) {
    let mut moves = Vec::new();
    for role in game.roles() {
        let legal = machine.legal_moves(role);
        moves.push(legal[rng.next_u32() as usize % legal.len()]);
    }
    machine.percepts(RoleId(0), &JointMove::new(moves));
}

/// Compares the lanes with the scalar engine on the steps of a match.
fn check_lanes(both: &Both, steps: &[Step], seen: &Percepts) {
    let states: Vec<&State> = steps.iter().map(|step| &step.state).collect();
    let mut lanes = both
        .network
        .lanes(&LanesOptions::default())
        .expect("it grounds");
    let mut machine = both.network.machine();
    lanes.expand(&states, |idx, expanded| {
        machine.load(states[idx]);
        assert_eq!(expanded.is_terminal(), machine.is_terminal());
        for role in both.network.roles() {
            assert_eq!(expanded.legal_moves(role), machine.legal_moves(role));
            assert_eq!(expanded.goal(role), machine.goal(role));
        }
    });
    let mut particles = Particles::new(&both.network);
    let n_percepts = both.network.grounded().expect("it grounds").n_percepts() as u32;
    let moves: Vec<MoveId> = steps
        .iter()
        .flat_map(|step| step.joint.moves())
        .copied()
        .collect();
    for role in both.network.roles() {
        for (step_idx, step) in steps.iter().enumerate() {
            let percepts = seen.of(role, step_idx);
            // All steps of the match at once: exactly those with the same percepts are kept.
            let mut kept = Vec::new();
            let observation = |percepts| Observation {
                role,
                mv: step.joint.of(role),
                percepts,
            };
            particles.step_with(&states, &moves, observation(percepts), |successor| {
                assert_eq!(successor.words, steps[successor.parent].after.words());
                kept.push(successor.parent);
            });
            let same = (0..steps.len()).filter(|&other| seen.of(role, other) == percepts);
            kept.sort_unstable();
            assert_eq!(kept, same.collect::<Vec<usize>>());
            // One percept more or less.
            let changed = PerceptId(step_idx as u32 % n_percepts.max(1));
            let mut other: Vec<PerceptId> = percepts.to_vec();
            match other.binary_search(&changed) {
                Ok(place) => drop(other.remove(place)),
                Err(place) => other.insert(place, changed),
            }
            let joint = step.joint.moves();
            particles.step_with(&[&step.state], joint, observation(&other), |_| {
                panic!("the role saw something else");
            });
        }
    }
}

/// Compares the draws of a single step with those that are possible.
fn check_draws(both: &Both, steps: &[Step], seen: &Percepts, seed: u64) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut particles, mut slow) = (Particles::new(&both.network), both.network.machine());
    for (step_idx, step) in steps.iter().enumerate() {
        for role in both.network.roles() {
            let states = vec![&step.state; 300];
            let observation = Observation {
                role,
                mv: step.joint.of(role),
                percepts: seen.of(role, step_idx),
            };
            particles.step(&states, observation, &mut rng, |successor| {
                let joint = JointMove::new(successor.moves.iter().copied());
                slow.load(&step.state);
                assert_eq!(joint.of(role), observation.mv);
                assert_eq!(slow.percepts(role, &joint), observation.percepts);
                let legal = |role| slow.legal_moves(role).len() as f64;
                let others = both.network.roles().filter(|&other| other != role);
                assert_eq!(successor.n_joint_moves, others.map(legal).product::<f64>());
                slow.advance(&joint);
                assert_eq!(slow.state().words(), successor.words);
            });
        }
    }
}

fn check(name: &str, sheet: &str, n_matches: u64) {
    let both = Both::new(sheet);
    for seed in 0..n_matches {
        let (steps, seen) = play(&both, seed);
        assert_eq!(seen.n_steps(), steps.len());
        check_lanes(&both, &steps, &seen);
        if seed == 0 {
            check_draws(&both, &steps, &seen, seed);
        }
    }
    println!("{name}: {n_matches} matches");
}

fn n_matches(default: u64) -> u64 {
    let wanted = std::env::var("AGON_MATCHES");
    wanted.ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// Sheets with one difficulty each.
const SHEETS: [(&str, &str); 7] = [
    (
        "the role of a percept is a variable, percepts are nested",
        "(role a) (role b) (role random) (init (n 0)) (succ 0 1) (succ 1 2) (succ 2 3)
         (<= (legal ?r (say ?x)) (role ?r) (succ ?x ?_y)) (<= (next (n ?y)) (true (n ?x)) (succ ?x ?y))
         (<= (next (last ?r ?m)) (does ?r ?m))
         (<= (sees ?r (heard ?q (that (is ?m) (at ?x)))) (role ?r) (does ?q ?m) (distinct ?r ?q) (true (n ?x)))
         (<= (sees ?r ?f) (role ?r) (true ?f) (does ?r (say 1)))
         (<= terminal (true (n 3))) (goal a 50) (goal b 50)",
    ),
    (
        "or and not in the body of a percept",
        "(role a) (role b) (init (n 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4)
         (legal a up) (legal a down) (legal b up) (legal b down)
         (<= (next (n ?y)) (true (n ?x)) (succ ?x ?y)) (<= (next up) (does a up) (does b up))
         (<= (sees a same) (or (and (does a up) (does b up)) (and (does a down) (does b down))))
         (<= (sees b quiet) (not (does a up)) (not (true up)))
         (<= (sees ?r (not_both ?m)) (does ?r ?m) (not (loud ?m))) (<= (loud ?m) (does a ?m) (does b ?m))
         (sees a tick) (<= terminal (true (n 4))) (<= (goal ?r 50) (role ?r))",
    ),
    (
        "chance is called RANDOM and has a single move at times",
        "(ROLE RANDOM) (ROLE X) (INIT (N 0)) (SUCC 0 1) (SUCC 1 2) (SUCC 2 3)
         (<= (LEGAL RANDOM (FLIP HEADS)) (NOT (TRUE (N 1)))) (<= (LEGAL RANDOM (FLIP TAILS)) (NOT (TRUE (N 1))))
         (<= (LEGAL RANDOM WAIT) (TRUE (N 1))) (LEGAL X (CALL HEADS)) (LEGAL X (CALL TAILS))
         (<= (NEXT (N ?Y)) (TRUE (N ?X)) (SUCC ?X ?Y)) (<= (NEXT (HIT ?X)) (TRUE (N ?X)) (DOES RANDOM (FLIP ?C)) (DOES X (CALL ?C)))
         (<= (NEXT (HIT ?X)) (TRUE (HIT ?X)))
         (<= (SEES X ?C) (DOES RANDOM (FLIP ?C))) (<= TERMINAL (TRUE (N 3)))
         (<= (GOAL X 100) (TRUE (HIT 2))) (<= (GOAL X 0) (NOT (TRUE (HIT 2))))",
    ),
    (
        "percepts by recursion through the state",
        "(role a) (role random) (node 1) (node 2) (node 3) (node 4) (init (n 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
         (<= (legal random (link ?x ?y)) (node ?x) (node ?y) (distinct ?x ?y)) (<= (legal a (ask ?x)) (node ?x))
         (<= (next (link ?x ?y)) (does random (link ?x ?y))) (<= (next (link ?x ?y)) (true (link ?x ?y)))
         (<= (next (n ?y)) (true (n ?x)) (succ ?x ?y))
         (<= (reach ?x ?y) (linked ?x ?y)) (<= (reach ?x ?z) (reach ?x ?y) (linked ?y ?z))
         (<= (linked ?x ?y) (true (link ?x ?y))) (<= (linked ?x ?y) (does random (link ?x ?y)))
         (<= (sees a (reached ?y)) (does a (ask ?x)) (reach ?x ?y))
         (<= (sees a (missed ?y)) (does a (ask ?x)) (node ?y) (not (reach ?x ?y)))
         (<= terminal (true (n 5))) (goal a 100)",
    ),
    (
        "four roles move at once with chance, and one is blind",
        "(role a) (role b) (role c) (role random) (init (n 0)) (succ 0 1) (succ 1 2) (succ 2 3) (pick 1) (pick 2) (pick 3)
         (<= (legal ?r (bid ?x)) (role ?r) (pick ?x)) (<= (next (n ?y)) (true (n ?x)) (succ ?x ?y))
         (<= (next (bid ?r ?x)) (does ?r (bid ?x))) (<= (next (won ?r)) (best ?r)) (<= (next (won ?r)) (true (won ?r)))
         (<= (beaten ?r) (does ?r (bid ?x)) (does ?q (bid ?y)) (distinct ?q random) (more ?y ?x))
         (more 2 1) (more 3 1) (more 3 2)
         (<= (best ?r) (role ?r) (distinct ?r random) (not (beaten ?r)))
         (<= (sees a (best ?r)) (best ?r)) (<= (sees b (chance ?x)) (does random (bid ?x)))
         (<= (sees b (chance ?x)) (true (bid random ?x)))
         (<= terminal (true (n 3))) (<= (goal ?r 100) (true (won ?r))) (<= (goal ?r 0) (role ?r) (not (true (won ?r))))",
    ),
    (
        "a percept that can never be seen, and one that always is",
        "(role a) (role random) (init p) (legal a go) (legal a stay) (legal random x) (legal random y)
         (<= (next p) (does a stay)) (<= (next q) (true p) (does random x))
         (<= (sees a never) (true nowhere)) (sees a always) (<= (sees a (q seen)) (true q))
         (<= (sees nobody gone) (true p)) (<= terminal (not (true p))) (goal a 50)",
    ),
    (
        "GDL-I: every role sees all moves",
        "(role a) (role random) (init (n 0)) (succ 0 1) (succ 1 2) (succ 2 3) (<= (legal ?r (go ?x)) (role ?r) (succ ?x ?_y))
         (<= (next (n ?y)) (true (n ?x)) (succ ?x ?y)) (<= terminal (true (n 3))) (<= (goal ?r 50) (role ?r))",
    ),
];

#[test]
fn engines_agree_on_small_sheets() {
    for (name, sheet) in SHEETS {
        check(name, sheet, n_matches(40));
    }
}

#[test]
fn engines_agree_on_built_in_games() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../games/games");
    for (name, sheet) in sheets_in(&directory)
        .iter()
        .filter(|(_, sheet)| is_gdl2(sheet))
    {
        check(name, sheet, n_matches(4));
    }
}

#[test]
fn engines_agree_on_the_corpus() {
    let Some(directory) = corpus().map(|games| games.with_file_name("gdl2")) else {
        return;
    };
    if !directory.exists() {
        return;
    }
    let sheets = sheets_in(&directory);
    assert!(sheets.iter().any(|(_, sheet)| is_gdl2(sheet)));
    for (name, sheet) in &sheets {
        check(name, sheet, n_matches(20));
    }
}

fn is_gdl2(sheet: &str) -> bool {
    let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
    rules.is_ok_and(|rules| rules.is_gdl2())
}

#[test]
fn roles_of_chance() {
    let chance = |sheet: &str| {
        let game = Game::from_text(sheet).expect("a game");
        let playing = game.playing_roles().map(|role| game.role_name(role));
        (
            game.random_role(),
            playing.collect::<Vec<String>>().join(" "),
        )
    };
    assert_eq!(chance(SHEETS[0].1), (Some(RoleId(2)), "a b".to_owned()));
    assert_eq!(chance(SHEETS[1].1), (None, "a b".to_owned()));
    assert_eq!(chance(SHEETS[2].1), (Some(RoleId(0)), "X".to_owned()));
    assert_eq!(chance(SHEETS[6].1), (None, "a random".to_owned()));
}

#[test]
fn a_game_that_does_not_ground_filters_particles_too() {
    let sheet = SHEETS[3].1;
    let both = Both::new(sheet);
    let mut particles = Particles::new(&both.slow);
    let mut machine = both.slow.machine();
    let joint = both
        .slow
        .joint_move(&["(ask 1)", "(link 1 3)"])
        .expect("moves");
    let percepts = machine.percepts(RoleId(0), &joint).to_vec();
    let states = vec![both.slow.initial_state(); 500];
    let observation = Observation {
        role: RoleId(0),
        mv: joint.of(RoleId(0)),
        percepts: &percepts,
    };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut n_kept = 0;
    particles.step(&states, observation, &mut rng, |successor| {
        assert_eq!(
            both.slow.move_text(RoleId(1), successor.moves[1]),
            "(link 1 3)"
        );
        assert_eq!(successor.n_joint_moves, 12.0);
        n_kept += 1;
    });
    // One of twelve links shows this.
    assert!((20..70).contains(&n_kept), "{n_kept}");
}
