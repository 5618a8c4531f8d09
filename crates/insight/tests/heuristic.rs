//! Action heuristics on built-in games: the example of the paper, and a comparison of two-valued evaluation with a search of
//! depth one.

use std::sync::Arc;

use agon_engine::optimize::Pass;
use agon_engine::{Grounded, GroundedMachine, JointMove, Machine, MoveId, RoleId, State};
use agon_insight::block::{BLOCK, OtherMove};
use agon_insight::fuzzy::Evaluator;
use agon_insight::heuristic::{ActionHeuristic, NoHeuristic, Options};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

fn game(name: &str) -> Arc<Grounded> {
    let path = format!("{}/../games/games/{name}.kif", env!("CARGO_MANIFEST_DIR"));
    compile(&std::fs::read(path).expect("a built-in game"))
}

fn compile(sheet: &[u8]) -> Arc<Grounded> {
    let rules = agon_gdl::check(&agon_gdl::parse(sheet, &Default::default()));
    let program = agon_ground::ground(&rules.unwrap(), &Default::default(), &|| false);
    Arc::new(Grounded::new(program.unwrap(), &Pass::ALL))
}

fn heuristic(game: &Arc<Grounded>) -> ActionHeuristic {
    ActionHeuristic::new(game, &Options::default(), &|| false)
        .expect("the heuristic is small enough")
}

#[test]
fn the_formula_of_the_paper() {
    let game = game("diagonal_tic_tac_toe");
    let heuristic = heuristic(&game);
    let mv = game
        .find_move(RoleId(0), "(mark 1 1)")
        .expect("a valid move");
    let text = heuristic.formula_text(game.program(), RoleId(0), mv, 10);
    // Formula (7) of the paper, with parts in any order.
    let normal = |text: &str| {
        let mut words: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
        words.sort_unstable();
        words
    };
    let printed = "(true(cell(2,2,x)) ∧ true(cell(3,3,x)) ∧ (true(cell(1,1,b)) ∨ true(cell(1,1,x)))) ∨ \
        (true(cell(3,1,x)) ∧ true(cell(2,2,x)) ∧ true(cell(1,3,x)))";
    assert_eq!(normal(&text), normal(printed), "{text}");
    // The parts are in the right alternatives.
    let mut alternatives: Vec<&str> = text.split(") ∨ (").collect();
    alternatives.sort_by_key(|alternative| !alternative.contains("(1,1,b)"));
    let has = |text: &str, cells: &[&str]| cells.iter().all(|cell| text.contains(cell));
    assert_eq!(alternatives.len(), 2, "{text}");
    assert!(has(alternatives[0], &["2,2,x", "3,3,x", "1,1,b", "1,1,x"]));
    assert!(has(alternatives[1], &["3,1,x", "2,2,x", "1,3,x"]));
}

#[test]
fn centre_before_corners_before_edges() {
    let game = game("diagonal_tic_tac_toe");
    let heuristic = heuristic(&game);
    let mut evaluator = heuristic.evaluator(RoleId(0));
    evaluator.load(game.initial_state().words());
    let mut value = |column: u32, row: u32| {
        let mv = game.find_move(RoleId(0), &format!("(mark {column} {row})"));
        evaluator.value(mv.expect("a valid move"))
    };
    let corners = [(1, 1), (1, 3), (3, 1), (3, 3)].map(|(column, row)| value(column, row));
    let edges = [(1, 2), (2, 1), (2, 3), (3, 2)].map(|(column, row)| value(column, row));
    let centre = value(2, 2);
    assert!(centre > corners[0] && corners[0] > edges[0]);
    assert!(
        corners
            .iter()
            .all(|corner| (corner - corners[0]).abs() < 1e-12)
    );
    assert!(edges.iter().all(|edge| (edge - edges[0]).abs() < 1e-12));
    // A blank that holds counts 0.97, a mark that does not hold 0.03. There are two alternatives that share the centre.
    let line = 0.03_f64.powi(2) * (0.97 + 0.03 - 0.97 * 0.03);
    let corner = line + 0.03_f64.powi(3) - line * 0.03_f64.powi(3);
    assert!((corners[0] - corner).abs() < 1e-12);
    // A second evaluation gives the same value.
    assert_eq!(value(2, 2), centre);
}

#[test]
fn marks_stay_true_and_blanks_stay_false() {
    let game = game("diagonal_tic_tac_toe");
    let heuristic = heuristic(&game);
    let program = game.program();
    let known = heuristic.persistence();
    let fluent = |text: &str| {
        let mut fluents = program.fluents.iter();
        let at = fluents.position(|fluent| program.term_text(fluent.term) == text);
        at.expect("a valid fluent") as u32
    };
    assert!(known.stays_true(fluent("(cell 1 1 x)")));
    assert!(known.stays_false(fluent("(cell 1 1 b)")));
    assert!(!known.stays_false(fluent("(cell 1 1 x)")));
    assert!(!known.stays_true(fluent("(cell 1 1 b)")));
    assert!(!known.stays_true(fluent("(control xplayer)")));
    assert!(!known.stays_false(fluent("(control xplayer)")));
    assert!(heuristic.turns().in_turn && heuristic.turns().is_proven);
}

/// Plays random games. In each state where only one role has a choice, compares the values of its moves with their results.
fn looks_ahead(name: &str, n_games: u64, most_steps: u32) {
    let game = game(name);
    let heuristic = heuristic(&game);
    let n_roles = game.program().roles.len();
    let mut evaluators: Vec<Evaluator> = RoleId::all(n_roles)
        .map(|role| heuristic.evaluator_with(role, 1.0))
        .collect();
    let mut machine = game.machine();
    let (mut n_compared, mut n_reached) = (0, 0);
    for seed in 0..n_games {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        machine.load(game.initial_state());
        for step in 0..most_steps {
            if machine.is_terminal() {
                break;
            }
            let legal: Vec<Vec<MoveId>> = RoleId::all(n_roles)
                .map(|role| machine.legal_moves(role).to_vec())
                .collect();
            let choosers = RoleId::all(n_roles).filter(|role| legal[role.idx()].len() > 1);
            if let [role] = choosers.collect::<Vec<_>>()[..] {
                let evaluator = &mut evaluators[role.idx()];
                let found = compare(&game, &heuristic, &mut machine, evaluator, role, &legal);
                let found = found.unwrap_or_else(|mv| {
                    panic!("{name}: seed {seed}, step {step}: the value of {mv} is wrong")
                });
                n_compared += found.0;
                n_reached += found.1;
            }
            let pick = |moves: &Vec<MoveId>| moves[(rng.next_u64() % moves.len() as u64) as usize];
            machine.advance(&JointMove::new(legal.iter().map(pick).collect::<Vec<_>>()));
        }
    }
    assert!(
        n_compared > 100,
        "{name}: only {n_compared} moves were compared"
    );
    assert!(n_reached > 0, "{name}: no goal was reached");
}

/// Returns how many moves were compared and how many of them reach the goal, or the move with a wrong value.
fn compare(
    game: &Arc<Grounded>,
    heuristic: &ActionHeuristic,
    machine: &mut GroundedMachine,
    evaluator: &mut Evaluator,
    role: RoleId,
    legal: &[Vec<MoveId>],
) -> Result<(u32, u32), String> {
    let state = machine.state();
    for (other, moves) in RoleId::all(legal.len()).zip(legal) {
        if evaluator.reads(other) {
            evaluator.set_moves(other, moves);
        }
    }
    evaluator.load(state.words());
    let goal = heuristic.goals(role)[0].to_string();
    let (mut n_compared, mut n_reached) = (0, 0);
    for &mv in &legal[role.idx()] {
        let mut joint: Vec<MoveId> = legal.iter().map(|moves| moves[0]).collect();
        joint[role.idx()] = mv;
        machine.load(&state);
        machine.advance(&JointMove::new(joint));
        let reaches = machine.goals(role).contains(&goal);
        if evaluator.value(mv) != f64::from(u8::from(reaches)) {
            return Err(game.move_text(role, mv));
        }
        n_compared += 1;
        n_reached += u32::from(reaches);
    }
    machine.load(&state);
    Ok((n_compared, n_reached))
}

#[test]
fn two_valued_evaluation_equals_a_search_of_depth_one() {
    for (name, n_games, most_steps) in [
        ("tic_tac_toe", 20, 9),
        ("connect_four", 10, 42),
        ("nine_board_tic_tac_toe", 4, 81),
        ("breakthrough_small", 4, 60),
        ("hex", 2, 81),
        ("othello_6x6", 1, 36),
        ("pentago", 1, 60),
        ("bidding_tic_tac_toe", 10, 18),
    ] {
        looks_ahead(name, n_games, most_steps);
    }
}

#[test]
fn a_connection_has_the_value_of_its_best_chain() {
    // In Hex a stone that extends a line is worth more than a distant one.
    let game = game("hex");
    let heuristic = heuristic(&game);
    let red = RoleId(0);
    let mut machine = game.machine();
    let step = |machine: &mut GroundedMachine, red_move: &str, blue_move: &str| {
        let moves = [(red, red_move), (RoleId(1), blue_move)];
        let moves = moves.map(|(role, text)| game.find_move(role, text).expect("a valid move"));
        machine.advance(&JointMove::new(moves));
    };
    for row in 1..=7 {
        step(&mut machine, &format!("(place 5 {row})"), "noop");
        step(&mut machine, "noop", &format!("(place 1 {row})"));
    }
    let mut evaluator = heuristic.evaluator(red);
    evaluator.load(machine.state().words());
    let mut value = |text: &str| evaluator.value(game.find_move(red, text).expect("a valid move"));
    let (near, far) = (value("(place 5 8)"), value("(place 9 1)"));
    assert!(near > 10.0 * far, "{near} against {far}");
    assert!(near < 0.1, "one stone is still missing: {near}");
    // A stone of the opponent blocks a cell forever; a stone next to the line is still worth more than a distant one.
    assert!(value("(place 4 8)") > far);
}

#[test]
fn large_formulas_are_refused() {
    let game = game("connect_four");
    let small = Options {
        most_nodes: 100,
        ..Options::default()
    };
    let refused = ActionHeuristic::new(&game, &small, &|| false).err();
    let refused = refused.expect("a hundred nodes are not enough");
    assert!(matches!(refused, NoHeuristic::TooLarge { .. }), "{refused}");
    let stopped = ActionHeuristic::new(&game, &Options::default(), &|| true).err();
    assert_eq!(stopped, Some(NoHeuristic::Stopped));
}

#[test]
fn a_game_without_influence_has_no_signal() {
    let sheet = b"(role r) (init (n 1)) (legal r go) (legal r stay) (<= (next (n 2)) (true (n 1)))
        (<= terminal (true (n 2))) (goal r 100)";
    let heuristic = heuristic(&compile(sheet));
    assert!(!heuristic.has_signal());
}

#[test]
fn all_goals_are_weighted_by_their_values() {
    let sheet = b"(role r) (init open) (legal r big) (legal r small) (legal r none)
        (<= (next won) (does r big)) (<= (next half) (does r small))
        (<= terminal (not (true open)))
        (<= (goal r 100) (true won)) (<= (goal r 50) (true half)) (<= (goal r 0) (not (true won)) (not (true half)))";
    let game = compile(sheet);
    let value = |all_goals: bool, text: &str| {
        let options = Options {
            all_goals,
            p: 1.0,
            ..Options::default()
        };
        let heuristic = ActionHeuristic::new(&game, &options, &|| false)
            .expect("the heuristic is small enough");
        let mut evaluator = heuristic.evaluator(RoleId(0));
        evaluator.load(game.initial_state().words());
        evaluator.value(game.find_move(RoleId(0), text).expect("a valid move"))
    };
    let all = ["big", "small", "none"].map(|mv| value(true, mv));
    assert_eq!(all, [1.0, 0.5, 0.0]);
    let best = ["big", "small", "none"].map(|mv| value(false, mv));
    assert_eq!(best, [1.0, 0.0, 0.0]);
}

/// A block of states of random games, with their legal moves.
fn block_of(game: &Arc<Grounded>, n_roles: usize) -> Vec<(State, Vec<Vec<MoveId>>)> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut machine = game.machine();
    let mut states = Vec::new();
    while states.len() < BLOCK {
        if machine.is_terminal() {
            machine.load(game.initial_state());
        }
        let legal = RoleId::all(n_roles).map(|role| machine.legal_moves(role).to_vec());
        let legal: Vec<Vec<MoveId>> = legal.collect();
        if rng.next_u64().is_multiple_of(3) {
            states.push((machine.state(), legal.clone()));
        }
        let pick = |moves: &Vec<MoveId>| moves[(rng.next_u64() % moves.len() as u64) as usize];
        machine.advance(&JointMove::new(legal.iter().map(pick).collect::<Vec<_>>()));
    }
    states
}

#[test]
fn a_block_gives_the_values_of_its_states() {
    for (name, has_blocks) in [
        ("tic_tac_toe", true),
        ("connect_four", true),
        ("nine_board_tic_tac_toe", true),
        ("pentago", true),
        ("breakthrough", true),
        ("checkers", true),
        ("bidding_tic_tac_toe", true),
        ("goofspiel", true),
        ("connect_four_3", true),
        ("hex", false),
    ] {
        let game = game(name);
        let heuristic = heuristic(&game);
        let n_roles = game.program().roles.len();
        let states = block_of(&game, n_roles);
        let bits = |is_in: &dyn Fn(usize) -> bool| {
            let bits = (0..BLOCK).filter(|&at| is_in(at));
            bits.fold(0, |bits, at| bits | 1_u64 << at)
        };
        let is_legal = |role: RoleId, mv, at: usize| states[at].1[role.idx()].contains(&mv);
        let is_only = |role: RoleId, mv, at: usize| states[at].1[role.idx()] == [mv];
        let fluents = 0..game.program().fluents.len();
        let holds =
            |fluent: usize| bits(&|at| states[at].0.words()[fluent / 64] >> (fluent % 64) & 1 == 1);
        let holds: Vec<u64> = fluents.map(holds).collect();
        let n_moves = |role: RoleId| game.program().roles[role.idx()].moves.len() as u32;
        // One state of the second half is left out.
        let matter = !(1 << 40);
        let (mut n_compared, mut n_roles_with_signal) = (0, 0);
        for role in RoleId::all(n_roles).filter(|&role| heuristic.tells(role)) {
            n_roles_with_signal += 1;
            let block = heuristic.block_evaluator(role);
            assert_eq!(block.is_some(), has_blocks, "{name}");
            let Some(mut block) = block else { continue };
            let mut evaluator = heuristic.evaluator(role);
            let others = RoleId::all(n_roles).filter(|&other| block.reads(other));
            let others = others.flat_map(|other| (0..n_moves(other)).map(move |mv| (other, mv)));
            let others: Vec<OtherMove> = others
                .map(|(role, mv)| OtherMove {
                    role,
                    mv: MoveId(mv),
                    may: bits(&|at| is_legal(role, MoveId(mv), at)),
                    must: bits(&|at| is_only(role, MoveId(mv), at)),
                })
                .collect();
            let moves = (0..n_moves(role)).map(MoveId);
            let moves = moves.map(|mv| (mv, bits(&|at| is_legal(role, mv, at))));
            let moves: Vec<(MoveId, u64)> = moves.collect();
            let mut values = vec![[f32::NAN; BLOCK]; moves.len()];
            // Earlier values must not matter.
            block.evaluate((&vec![0; holds.len()], !0), &[], &moves, &mut values);
            block.evaluate((&holds, matter), &others, &moves, &mut values);
            for (at, (state, legal)) in states.iter().enumerate() {
                for other in RoleId::all(n_roles) {
                    if evaluator.reads(other) {
                        evaluator.set_moves(other, &legal[other.idx()]);
                    }
                }
                evaluator.load(state.words());
                for &mv in legal[role.idx()].iter().filter(|_| matter >> at & 1 == 1) {
                    let (one, other) = (evaluator.value(mv), values[mv.0 as usize][at]);
                    let is_near = (one - f64::from(other)).abs() < 1e-5;
                    assert!(
                        is_near,
                        "{name}: {} is {one}, in a block {other}",
                        game.move_text(role, mv)
                    );
                    n_compared += 1;
                }
            }
        }
        assert!(n_roles_with_signal > 0, "{name}");
        assert!(n_compared > 50 || !has_blocks, "{name}: {n_compared}");
    }
}
