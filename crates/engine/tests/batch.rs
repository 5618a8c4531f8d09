//! Batches against the scalar engine: every environment is followed step by step.
//!
//! All arrays of a step must agree with what a machine derives: the state, the legal actions, the role to move, rewards,
//! the end of the match, and what happens after it.

mod folder;
mod sheets;

use std::path::Path;
use std::sync::Arc;

use agon_engine::lanes::batch::{
    Actions, AutoReset, BatchOptions, BatchProgram, Envs, Illegal, NO_GOAL, Stepper, draw_actions,
    first_illegal,
};
use agon_engine::lanes::{LayoutOptions, Simd};
use agon_engine::optimize::Pass;
use agon_engine::{Grounded, JointMove, Machine, RoleId, State};
use agon_ground::{GroundLimits, ground};

use folder::{corpus, sheets_in};
use sheets::SHEETS;

/// A number of environments that fills neither blocks nor vectors.
const N_ENVS: usize = 777;

/// All arrays of a batch.
#[derive(Clone, PartialEq, Debug)]
struct Arrays {
    states: Vec<u64>,
    legal: Vec<u64>,
    roles: Vec<i8>,
    steps: Vec<u32>,
    over: Vec<bool>,
    observation: Vec<u8>,
    mask: Vec<u8>,
    rewards: Vec<f32>,
    terminated: Vec<bool>,
    truncated: Vec<bool>,
    finals: Vec<u64>,
}

impl Arrays {
    fn new(program: &BatchProgram, n: usize) -> Arrays {
        let (n_words, n_seats) = (program.n_state_words(), program.n_seats());
        Arrays {
            states: vec![0; n * n_words],
            legal: vec![0; n * n_seats * program.n_mask_words()],
            roles: vec![0; n],
            steps: vec![0; n],
            over: vec![false; n],
            observation: vec![9; n * program.n_fluents()],
            mask: vec![9; n * n_seats * program.n_actions()],
            rewards: vec![9.0; n * program.n_roles()],
            terminated: vec![true; n],
            truncated: vec![true; n],
            finals: vec![0; n * n_words],
        }
    }

    fn envs(&mut self) -> Envs<'_> {
        Envs {
            first: 0,
            states: &mut self.states,
            legal: &mut self.legal,
            roles: &mut self.roles,
            steps: &mut self.steps,
            over: &mut self.over,
            observation: &mut self.observation,
            mask: &mut self.mask,
            rewards: &mut self.rewards,
            terminated: &mut self.terminated,
            truncated: &mut self.truncated,
            finals: &mut self.finals,
        }
    }
}

/// What a machine says about a state: the legal actions of each role, whether it is terminal, and the rewards.
struct Truth {
    legal: Vec<Vec<u32>>,
    is_terminal: bool,
    rewards: Vec<f32>,
}

struct Test {
    actions: Actions,
    program: Arc<BatchProgram>,
    n_roles: usize,
}

impl Test {
    fn new(game: &Arc<Grounded>, options: BatchOptions) -> Test {
        let actions = Actions::new(game);
        let n_roles = game.program().roles.len();
        let program = BatchProgram::new(game, &actions, &vec![None; n_roles], options);
        Test {
            actions,
            program: Arc::new(program),
            n_roles,
        }
    }

    fn truth(&self, machine: &mut dyn Machine) -> Truth {
        let reward = |machine: &mut dyn Machine, role| {
            let goal = machine
                .goal(role)
                .map_or(NO_GOAL, |goal| goal.value() as usize);
            self.program.options().rewards[goal]
        };
        let mut legal = Vec::new();
        let mut rewards = Vec::new();
        for role in RoleId::all(self.n_roles) {
            let moves = machine.legal_moves(role).iter();
            let mut numbers: Vec<u32> = moves
                .map(|mv| self.actions.of_moves[role.idx()][mv.0 as usize])
                .collect();
            numbers.sort_unstable();
            legal.push(numbers);
            rewards.push(reward(machine, role));
        }
        Truth {
            legal,
            is_terminal: machine.is_terminal(),
            rewards,
        }
    }

    /// The arrays of an environment that is at this state and goes on.
    fn check(&self, arrays: &Arrays, env: usize, state: &State, truth: &Truth, name: &str) {
        let program = &self.program;
        let n = program.n_state_words();
        assert_eq!(
            &arrays.states[env * n..(env + 1) * n],
            state.words(),
            "{name}: state"
        );
        let observation = &arrays.observation[env * program.n_fluents()..][..program.n_fluents()];
        for (fluent, &byte) in observation.iter().enumerate() {
            let bit = state.words()[fluent / 64] >> (fluent % 64) & 1;
            assert_eq!(u64::from(byte), bit, "{name}: fluent {fluent}");
        }
        let role = arrays.roles[env];
        let choosers: Vec<usize> = (0..self.n_roles)
            .filter(|&role| truth.legal[role].len() > 1)
            .collect();
        match choosers.as_slice() {
            [] => {}
            [only] => assert_eq!(role, *only as i8, "{name}: role to move"),
            _ => assert_eq!(role, -1, "{name}: several roles move"),
        }
        let n_actions = program.n_actions();
        for seat in 0..program.n_seats() {
            let expected = match program.options().in_turn {
                true => &truth.legal[role as usize],
                false => &truth.legal[seat],
            };
            let mask = &arrays.mask[(env * program.n_seats() + seat) * n_actions..][..n_actions];
            let on = (0..n_actions).filter(|&action| mask[action] == 1);
            let on: Vec<u32> = on.map(|action| action as u32).collect();
            assert_eq!(&on, expected, "{name}: legal actions of seat {seat}");
            assert_eq!(mask.iter().filter(|&&byte| byte > 1).count(), 0);
        }
    }
}

fn options(in_turn: bool, reset: AutoReset) -> BatchOptions {
    let mut rewards = Box::new([-7.0; NO_GOAL + 1]);
    (0..=100).for_each(|goal| rewards[goal] = goal as f32);
    BatchOptions {
        in_turn,
        reset,
        illegal: Illegal::End,
        most_steps: 30,
        rewards,
        every_step: false,
        seed: 5,
    }
}

/// Follows all environments for some steps.
fn follow(game: &Arc<Grounded>, options: BatchOptions, n_steps: u64, name: &str) {
    let test = Test::new(game, options);
    let program = &test.program;
    let BatchOptions {
        in_turn,
        reset,
        most_steps,
        every_step,
        ..
    } = *program.options();
    let mut stepper = Stepper::new(program);
    let mut arrays = Arrays::new(program, N_ENVS);
    stepper.reset(&mut arrays.envs(), None);
    let mut machine = game.machine();
    let initial = game.initial_state().clone();
    machine.load(&initial);
    let first = test.truth(&mut machine);
    if first.is_terminal {
        return;
    }
    let mut states = vec![initial.clone(); N_ENVS];
    let mut ages = vec![0_u32; N_ENVS];
    let mut actions = vec![0; N_ENVS * program.n_seats()];
    (0..N_ENVS).for_each(|env| test.check(&arrays, env, &initial, &first, name));
    for n_draws in 0..n_steps {
        draw_actions(
            (5, n_draws),
            0,
            &arrays.legal,
            program.n_mask_words(),
            &mut actions,
        );
        assert_eq!(
            first_illegal(program, &arrays.legal, &arrays.over, &actions),
            None
        );
        let before = arrays.clone();
        let conflict = stepper.step(&mut arrays.envs(), &actions, n_draws);
        assert_eq!(conflict, None, "{name}");
        for env in 0..N_ENVS {
            let name = format!("{name}, step {n_draws}, environment {env}");
            let n_roles = test.n_roles;
            let rewards = &arrays.rewards[env * n_roles..][..n_roles];
            if before.over[env] {
                assert!(!arrays.terminated[env] && !arrays.truncated[env], "{name}");
                assert!(rewards.iter().all(|reward| *reward == 0.0), "{name}");
                if reset == AutoReset::Never {
                    assert!(arrays.over[env], "{name}");
                    assert_eq!(arrays.steps[env], before.steps[env], "{name}");
                } else {
                    (states[env], ages[env]) = (initial.clone(), 0);
                    test.check(&arrays, env, &initial, &first, &name);
                }
                continue;
            }
            machine.load(&states[env]);
            let moves = RoleId::all(n_roles).map(|role| {
                let seat = if in_turn { 0 } else { role.idx() };
                let action = actions[env * program.n_seats() + seat] as usize;
                match in_turn && before.roles[env] != role.0 as i8 {
                    true => machine.legal_moves(role)[0],
                    false => test.actions.moves[role.idx()][action].expect("the role has it"),
                }
            });
            let joint = JointMove::new(moves.collect::<Vec<_>>());
            machine.advance(&joint);
            ages[env] += 1;
            let (next, truth) = (machine.state(), test.truth(&mut machine));
            let is_stuck = truth.legal.iter().any(Vec::is_empty);
            let has_ended = truth.is_terminal || is_stuck || ages[env] >= most_steps;
            assert_eq!(arrays.terminated[env], truth.is_terminal, "{name}");
            assert_eq!(
                arrays.truncated[env],
                has_ended && !truth.is_terminal,
                "{name}"
            );
            match has_ended || every_step {
                true => assert_eq!(rewards, truth.rewards, "{name}: rewards"),
                false => assert!(rewards.iter().all(|reward| *reward == 0.0), "{name}"),
            }
            if !has_ended {
                assert_eq!(arrays.steps[env], ages[env], "{name}");
                test.check(&arrays, env, &next, &truth, &name);
                states[env] = next;
                continue;
            }
            let n = program.n_state_words();
            assert_eq!(
                &arrays.finals[env * n..(env + 1) * n],
                next.words(),
                "{name}: last state"
            );
            if reset == AutoReset::SameStep {
                (states[env], ages[env]) = (initial.clone(), 0);
                test.check(&arrays, env, &initial, &first, &name);
            } else {
                assert!(arrays.over[env], "{name}");
                assert_eq!(
                    &arrays.states[env * n..(env + 1) * n],
                    next.words(),
                    "{name}"
                );
                let n = program.n_seats() * program.n_actions();
                let mask = &arrays.mask[env * n..(env + 1) * n];
                assert!(mask.iter().all(|byte| *byte == 0), "{name}");
            }
        }
    }
}

/// Whether at most one role has a choice, in the states of a few random games.
fn moves_in_turn(game: &Arc<Grounded>) -> bool {
    let (_, networks) = game.optimized().per_phase();
    networks.iter().all(|network| {
        let has_choice = |legal: &[agon_engine::network::Signal]| {
            legal
                .iter()
                .filter(|signal| signal.constant() != Some(false))
                .count()
                > 1
        };
        network
            .roles
            .iter()
            .filter(|role| has_choice(&role.legal))
            .count()
            <= 1
    })
}

fn grounded(sheet: &[u8], simd: Option<Simd>) -> Option<Arc<Grounded>> {
    let rules = agon_gdl::check(&agon_gdl::parse(sheet, &Default::default())).ok()?;
    let limits = GroundLimits {
        rules: 300_000,
        ..GroundLimits::default()
    };
    let program = ground(&rules, &limits, &|| false).ok()?;
    let game = Grounded::new(program, &Pass::ALL);
    if let Some(simd) = simd {
        game.lay_out(&LayoutOptions {
            simd,
            ..LayoutOptions::default()
        });
    }
    Some(Arc::new(game))
}

fn check_sheet(sheet: &[u8], n_steps: u64, name: &str) -> bool {
    let Some(game) = grounded(sheet, None) else {
        return false;
    };
    let joint = options(false, AutoReset::SameStep);
    follow(&game, joint.clone(), n_steps, name);
    if moves_in_turn(&game) {
        follow(&game, options(true, AutoReset::NextStep), n_steps, name);
        follow(
            &game,
            BatchOptions {
                every_step: true,
                ..options(true, AutoReset::SameStep)
            },
            n_steps,
            name,
        );
    } else {
        follow(&game, options(false, AutoReset::Never), n_steps, name);
        follow(
            &game,
            BatchOptions {
                every_step: true,
                ..joint
            },
            n_steps,
            name,
        );
    }
    true
}

#[test]
fn environments_of_small_sheets_follow_the_rules() {
    for (name, sheet) in SHEETS {
        check_sheet(sheet.as_bytes(), 40, name);
    }
}

#[test]
fn environments_of_built_in_games_follow_the_rules() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../games/games");
    let names = [
        "tic_tac_toe",
        "connect_four",
        "othello_6x6",
        "breakthrough_small",
        "mancala_kalah",
        "pursuit",
        "roshambo",
        "eight_puzzle",
        "chinese_checkers_3",
        "tron_4",
        "quarto",
        "goofspiel",
        "hex",
    ];
    for name in names {
        let sheet = std::fs::read(folder.join(name).with_extension("kif")).expect("it is there");
        assert!(check_sheet(&sheet, 33, name), "{name} grounds");
    }
}

#[test]
fn environments_of_the_corpus_follow_the_rules() {
    let Some(corpus) = corpus() else {
        return;
    };
    let sheets = sheets_in(&corpus);
    let n_checked = sheets
        .iter()
        .step_by(12)
        .filter(|(name, sheet)| check_sheet(sheet.as_bytes(), 12, name));
    assert!(n_checked.count() > 10);
}

#[test]
fn the_vectors_of_the_cpu_do_not_matter() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../games/games");
    let sheet = std::fs::read(folder.join("othello_6x6.kif")).expect("it is there");
    let mut all = Vec::new();
    for simd in [Simd::Portable, Simd::Avx2, Simd::Avx512] {
        if !simd.is_available() {
            continue;
        }
        let game = grounded(&sheet, Some(simd)).expect("it grounds");
        let test = Test::new(&game, options(true, AutoReset::SameStep));
        let (mut stepper, mut arrays) =
            (Stepper::new(&test.program), Arrays::new(&test.program, 300));
        stepper.reset(&mut arrays.envs(), None);
        let mut actions = vec![0; 300];
        for n_draws in 0..50 {
            draw_actions(
                (9, n_draws),
                0,
                &arrays.legal,
                test.program.n_mask_words(),
                &mut actions,
            );
            stepper.step(&mut arrays.envs(), &actions, n_draws);
        }
        all.push(arrays);
    }
    assert!(all.iter().all(|arrays| *arrays == all[0]));
}

const CHOICE: &str = "(role a) (role b) (init (n 1)) (succ 1 2) (succ 2 3) (option 1) (option 2)
    (<= (legal a (take ?n)) (option ?n)) (legal b wait)
    (<= (next (n ?m)) (true (n ?n)) (succ ?n ?m)) (<= (next won) (does a (take 2)))
    (<= terminal (true (n 3)))
    (<= (goal a 100) (true won)) (<= (goal a 0) (not (true won))) (goal b 50)";

/// The arrays after one step with these actions.
fn after(options: BatchOptions, given: [i32; 4]) -> Arrays {
    let game = grounded(CHOICE.as_bytes(), None).expect("it grounds");
    let test = Test::new(&game, options);
    let (mut stepper, mut arrays) = (Stepper::new(&test.program), Arrays::new(&test.program, 4));
    stepper.reset(&mut arrays.envs(), None);
    stepper.step(&mut arrays.envs(), &given, 0);
    arrays
}

#[test]
fn an_illegal_action_ends_the_match() {
    let arrays = after(options(true, AutoReset::NextStep), [0, 1, 2, 99]);
    assert_eq!(arrays.terminated, [false, false, true, true]);
    assert_eq!(arrays.rewards, [0.0, 0.0, 0.0, 0.0, 0.0, -7.0, 0.0, -7.0]);
    assert_eq!(arrays.over, [false, false, true, true]);
}

#[test]
fn a_random_action_may_replace_an_illegal_one() {
    let random = BatchOptions {
        illegal: Illegal::Random,
        ..options(true, AutoReset::NextStep)
    };
    let arrays = after(random, [0, 1, -5, 99]);
    assert_eq!(arrays.terminated, [false; 4]);
    assert_eq!(arrays.steps, [1; 4]);
}

#[test]
fn roles_that_choose_together_are_reported() {
    let sheet = CHOICE.replace(
        "(legal b wait)",
        "(legal b wait) (<= (legal b jump) (true (n 2)))",
    );
    let game = grounded(sheet.as_bytes(), None).expect("it grounds");
    let test = Test::new(&game, options(true, AutoReset::NextStep));
    let (mut stepper, mut arrays) = (Stepper::new(&test.program), Arrays::new(&test.program, 3));
    stepper.reset(&mut arrays.envs(), None);
    assert_eq!(stepper.step(&mut arrays.envs(), &[0, 0, 0], 0), Some(0));
    assert_eq!(arrays.truncated, [true; 3]);
}
