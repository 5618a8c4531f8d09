//! States with known answers, and what a search promises whatever it finds.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use agon_engine::lanes::{LayoutOptions, Simd};
use agon_engine::{Game, Goal, JointMove, Machine, MoveId, RoleId, State};
use agon_search::{Bot, Limits, Preset, Random, Report, StopReason, TechniqueAccount};

const TIC_TAC_TOE: &str = include_str!("../../games/games/tic_tac_toe.kif");
const CONNECT_FOUR: &str = include_str!("../../games/games/connect_four.kif");
const SMALL_CHECKERS: &str = include_str!("../../games/games/checkers_small.kif");
const SKIRMISH: &str = include_str!("../../games/games/skirmish.kif");

/// Two heaps up to five and three; the role that takes the last stone wins.
const NIM: &str = "(role a) (role b) (other a b) (other b a)
    (s 0 1) (s 1 2) (s 2 3) (s 3 4) (s 4 5)
    (<= (less ?m ?n) (s ?m ?n)) (<= (less ?m ?n) (less ?m ?k) (s ?k ?n))
    (init (heap x 5)) (init (heap y 3)) (init (turn a))
    (<= (legal ?r (leave ?h ?m)) (true (turn ?r)) (true (heap ?h ?n)) (less ?m ?n))
    (<= (legal ?r noop) (role ?r) (not (true (turn ?r))))
    (<= (left ?h) (does ?r (leave ?h ?m)))
    (<= (next (heap ?h ?m)) (does ?r (leave ?h ?m)))
    (<= (next (heap ?h ?n)) (true (heap ?h ?n)) (not (left ?h)))
    (<= (next (turn ?o)) (true (turn ?r)) (other ?r ?o))
    (<= terminal (true (heap x 0)) (true (heap y 0)))
    (<= (goal ?r 0) (true (turn ?r))) (<= (goal ?r 100) (role ?r) (not (true (turn ?r))))";

/// Breakthrough on four files and five ranks. White to move can break through by c3-c4, after which c5 cannot be guarded.
const BREAKTHROUGH: &str = "(role white) (role black) (other white black) (other black white)
    (f 1 2) (f 2 3) (f 3 4) (up 1 2) (up 2 3) (up 3 4) (up 4 5)
    (<= (ahead white ?y ?z) (up ?y ?z)) (<= (ahead black ?y ?z) (up ?z ?y))
    (<= (side ?x ?w) (f ?x ?w)) (<= (side ?x ?w) (f ?w ?x))
    (file 1) (file 2) (file 3) (file 4) (goal_rank white 5) (goal_rank black 1)
    (init (at 3 3 white)) (init (at 1 1 white)) (init (at 1 3 black)) (init (at 1 5 black)) (init (turn white))
    (<= (taken ?x ?y) (true (at ?x ?y ?r)))
    (<= (can ?r (go ?x ?y ?x ?z)) (true (at ?x ?y ?r)) (ahead ?r ?y ?z) (not (taken ?x ?z)))
    (<= (can ?r (go ?x ?y ?w ?z)) (true (at ?x ?y ?r)) (ahead ?r ?y ?z) (side ?x ?w) (not (true (at ?w ?z ?r))))
    (<= (legal ?r ?m) (true (turn ?r)) (can ?r ?m))
    (<= (legal ?r noop) (role ?r) (not (true (turn ?r))))
    (<= (next (at ?w ?z ?r)) (does ?r (go ?x ?y ?w ?z)))
    (<= (changed ?x ?y) (does ?r (go ?x ?y ?w ?z))) (<= (changed ?w ?z) (does ?r (go ?x ?y ?w ?z)))
    (<= (next (at ?x ?y ?r)) (true (at ?x ?y ?r)) (not (changed ?x ?y)))
    (<= (next (turn ?o)) (true (turn ?r)) (other ?r ?o))
    (<= (through ?r) (true (at ?x ?y ?r)) (goal_rank ?r ?y))
    (<= (alive ?r) (true (at ?x ?y ?r)))
    (<= (won ?r) (through ?r)) (<= (won ?r) (other ?r ?o) (not (alive ?o)))
    (<= over (won ?r)) (<= terminal over)
    (<= (goal ?r 100) (won ?r)) (<= (goal ?r 0) (other ?r ?o) (won ?o)) (<= (goal ?r 50) (role ?r) (not over))";

/// A lock with five wheels: a wheel turns only if those before it are right, and wrong turns are for ever.
const LOCK: &str = "(role you) (digit 0) (digit 1) (digit 2) (digit 3) (digit 4) (digit 5)
    (key 1 3) (key 2 0) (key 3 5) (key 4 2) (key 5 4) (s 1 2) (s 2 3) (s 3 4) (s 4 5) (s 5 6)
    (init (wheel 1)) (<= (legal you (turn ?d)) (digit ?d))
    (<= (next (wheel ?m)) (true (wheel ?n)) (s ?n ?m))
    (<= (next wrong) (true wrong)) (<= (next wrong) (true (wheel ?n)) (does you (turn ?d)) (not (key ?n ?d)))
    (<= terminal (true (wheel 6)))
    (<= (goal you 100) (not (true wrong))) (<= (goal you 0) (true wrong))";

/// Rock, paper, scissors, once.
const ROSHAMBO: &str = "(role l) (role r) (init open) (sign rock) (sign paper) (sign scissors)
    (beats rock scissors) (beats scissors paper) (beats paper rock)
    (<= (legal ?p ?s) (role ?p) (sign ?s)) (<= (next (shown ?p ?s)) (does ?p ?s))
    (<= (won ?p) (true (shown ?p ?s)) (true (shown ?q ?t)) (beats ?s ?t))
    (<= decided (won ?p)) (<= terminal (not (true open)))
    (<= (goal ?p 100) (won ?p)) (<= (goal ?p 0) (role ?p) decided (not (won ?p)))
    (<= (goal ?p 50) (role ?p) (not decided))";

/// Presets that search a tree, each in its own way. AMAF and urgency alone are not
/// among them: they believe early luck and miss even threats for a long time.
const SEARCHERS: &[&str] = &[
    "ary-uct",
    "cadia-2007",
    "cadia-2008",
    "cadia-2009",
    "cadia-2012",
    "mast-ec",
    "mast-greedy",
    "nst",
    "grave",
    "agon",
    "agon:batch=1",
];

fn game(sheet: &str) -> Arc<Game> {
    let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
    let rules = Arc::new(rules.unwrap_or_else(|findings| panic!("{findings:?}")));
    Arc::new(Game::compile(rules, &Default::default(), &|| false).expect("it runs"))
}

fn bot(game: &Arc<Game>, player: &str, seed: u64) -> Box<dyn Bot> {
    Preset::parse(player)
        .expect("it is a player")
        .bot(game, seed)
}

fn unwatched(_: &Report) {}

/// The state after these moves of the role that has a choice.
fn after(game: &Game, moves: &[&str]) -> (State, RoleId) {
    let mut machine = game.machine();
    for &text in moves {
        let mover = mover(game, &mut *machine);
        let joint = RoleId::all(game.n_roles()).map(|role| {
            let legal = machine.legal_moves(role);
            match role == mover {
                true => *legal
                    .iter()
                    .find(|&&mv| game.move_text(role, mv) == text)
                    .unwrap_or_else(|| panic!("{text} is legal")),
                false => legal[0],
            }
        });
        let joint = JointMove::new(joint.collect::<Vec<MoveId>>());
        machine.advance(&joint);
    }
    (machine.state(), mover(game, &mut *machine))
}

fn mover(game: &Game, machine: &mut dyn Machine) -> RoleId {
    let mut roles = RoleId::all(game.n_roles());
    let chooses = roles.find(|&role| machine.legal_moves(role).len() > 1);
    chooses.unwrap_or(RoleId(0))
}

/// All players find one of these moves in the state after some.
fn check(sheet: &str, players: &[&str], n_playouts: u64, moves: &[&str], good: &[&str]) {
    let game = game(sheet);
    let (state, role) = after(&game, moves);
    for player in players {
        for seed in 1..=3 {
            let mut bot = bot(&game, player, seed);
            let limits = Limits::playouts(n_playouts);
            let decision = bot.think(&state, role, &limits, &mut unwatched);
            let mv = game.move_text(role, decision.mv);
            assert!(
                good.contains(&mv.as_str()),
                "{player}, seed {seed}: {mv} after {moves:?}"
            );
        }
    }
}

#[test]
fn tic_tac_toe_wins_and_does_not_lose() {
    // x has 1 1 and 2 1, and it is its turn: 3 1 wins. With o to move, 3 1 is the only move that draws.
    let win = ["(mark 1 1)", "(mark 2 2)", "(mark 2 1)", "(mark 1 2)"];
    check(TIC_TAC_TOE, SEARCHERS, 1000, &win, &["(mark 3 1)"]);
    check(TIC_TAC_TOE, SEARCHERS, 1000, &win[..3], &["(mark 3 1)"]);
    // The only answer to the corner is the centre.
    check(
        TIC_TAC_TOE,
        &["agon", "cadia-2007"],
        4000,
        &["(mark 1 1)"],
        &["(mark 2 2)"],
    );
}

#[test]
fn connect_four_makes_and_meets_threats() {
    // Two in the bottom row: a third beside them, open at both ends, wins.
    let open = ["(drop 3)", "(drop 3)", "(drop 4)", "(drop 4)"];
    check(
        CONNECT_FOUR,
        &["agon", "cadia-2008", "cadia-2012"],
        3000,
        &open,
        &["(drop 2)", "(drop 5)"],
    );
    let guards = ["(drop 2)", "(drop 5)", "(drop 1)", "(drop 6)"];
    check(
        CONNECT_FOUR,
        &["agon", "cadia-2008", "cadia-2012"],
        3000,
        &open[..3],
        &guards,
    );
    // Three upright must be stopped, or are finished.
    let three = ["(drop 1)", "(drop 2)", "(drop 1)", "(drop 3)", "(drop 1)"];
    check(CONNECT_FOUR, SEARCHERS, 1000, &three, &["(drop 1)"]);
    let four = [&three[..], &["(drop 7)"]].concat();
    check(CONNECT_FOUR, SEARCHERS, 1000, &four, &["(drop 1)"]);
}

#[test]
fn breakthrough_runs_when_nobody_can_catch() {
    check(
        BREAKTHROUGH,
        SEARCHERS,
        2000,
        &[],
        &["(go 3 3 3 4)", "(go 3 3 4 4)"],
    );
}

#[test]
fn batches_find_what_single_simulations_find() {
    let players = [
        "agon:batch=64",
        "cadia-2008:batch=64",
        "cadia-2012:batch=200",
        "heuristic-combined:batch=64",
    ];
    // What these do depends on how threads take turns, so they get more time.
    let threaded = ["agon:threads=2,batch=64", "cadia-2008:threads=2"];
    let find = |sheet, playouts, moves: &[&str], best: &[&str]| {
        check(sheet, &players, playouts, moves, best);
        check(sheet, &threaded, 3 * playouts, moves, best);
    };
    let win = ["(mark 1 1)", "(mark 2 2)", "(mark 2 1)", "(mark 1 2)"];
    find(TIC_TAC_TOE, 4000, &win, &["(mark 3 1)"]);
    find(TIC_TAC_TOE, 4000, &win[..3], &["(mark 3 1)"]);
    let three = ["(drop 1)", "(drop 2)", "(drop 1)", "(drop 3)", "(drop 1)"];
    find(CONNECT_FOUR, 8000, &three, &["(drop 1)"]);
    let four = [&three[..], &["(drop 7)"]].concat();
    find(CONNECT_FOUR, 4000, &four, &["(drop 1)"]);
    let runs = ["(go 3 3 3 4)", "(go 3 3 4 4)"];
    find(BREAKTHROUGH, 4000, &[], &runs);
    find(NIM, 4000, &[], &["(leave x 3)"]);
}

#[test]
fn nim_follows_the_nim_sum() {
    check(NIM, SEARCHERS, 2000, &[], &["(leave x 3)"]);
    check(
        NIM,
        &["agon", "cadia-2007"],
        2000,
        &["(leave x 2)"],
        &["(leave y 2)"],
    );
    check(
        NIM,
        &["agon", "cadia-2007"],
        2000,
        &["(leave y 1)"],
        &["(leave x 1)"],
    );
}

#[test]
fn what_is_proven_ends_the_search() {
    let game = game(NIM);
    let decide = |moves: &[&str]| {
        let (state, role) = after(&game, moves);
        let mut bot = bot(&game, "agon", 1);
        let decision = bot.think(&state, role, &Limits::playouts(100_000), &mut unwatched);
        assert_eq!(decision.report.stop, Some(StopReason::Proven));
        assert!(decision.report.playouts < 5000);
        let account = bot.account().expect("there is a tree");
        let moves = &account.roles[role.idx()];
        let shown = moves
            .iter()
            .map(|found| (game.move_text(role, found.mv), found.bounds));
        shown.collect::<HashMap<String, (f64, f64)>>()
    };
    // The one good move is proven to win, or all others to lose, which will do.
    let bounds = decide(&[]);
    assert_eq!(bounds["(leave x 3)"].1, 100.0);
    let is_proven = bounds["(leave x 3)"].0 == 100.0;
    let others = bounds.iter().filter(|(mv, _)| *mv != "(leave x 3)");
    assert!(is_proven || others.clone().all(|(_, &bounds)| bounds == (0.0, 0.0)));
    // Even heaps are lost whatever one does.
    let bounds = decide(&["(leave x 3)"]);
    assert!(
        bounds
            .values()
            .filter(|&&bounds| bounds != (0.0, 0.0))
            .count()
            <= 1
    );
}

#[test]
fn a_puzzle_is_solved_and_its_line_followed() {
    let game = game(LOCK);
    for player in ["cadia-2007", "cadia-2008", "cadia-2012", "agon"] {
        let mut bot = bot(&game, player, 1);
        let mut machine = game.machine();
        let mut n_playouts = Vec::new();
        while !machine.is_terminal() {
            let limits = Limits::playouts(20_000);
            let decision = bot.think(&machine.state(), RoleId(0), &limits, &mut unwatched);
            n_playouts.push(decision.report.playouts);
            let joint = JointMove::new([decision.mv]);
            machine.advance(&joint);
            bot.played(&joint, &machine.state());
        }
        let goal = machine.goal(RoleId(0)).map(Goal::value);
        assert_eq!(goal, Some(100), "{player} opens the lock");
        assert_eq!(
            n_playouts[1..],
            [0; 4],
            "{player} knows the rest of the line"
        );
    }
}

#[test]
fn roshambo_is_not_predictable() {
    let game = game(ROSHAMBO);
    for player in [
        "cadia-2007",
        "cadia-2008",
        "agon",
        "agon:simultaneous=sample",
    ] {
        let mut counts: HashMap<MoveId, u32> = HashMap::new();
        for seed in 0..300 {
            let limits = Limits::playouts(200);
            let mut bot = bot(&game, player, seed);
            let decision = bot.think(game.initial_state(), RoleId(0), &limits, &mut unwatched);
            *counts.entry(decision.mv).or_default() += 1;
        }
        let most = counts.values().max().expect("there are moves");
        assert!(*most <= 180, "{player}: {counts:?}");
    }
}

/// What the first role of a two-role game gets under perfect play.
fn perfect(game: &Game, state: &State, known: &mut HashMap<State, i32>) -> i32 {
    if let Some(&value) = known.get(state) {
        return value;
    }
    let mut machine = game.machine();
    machine.load(state);
    let value = if machine.is_terminal() {
        i32::from(machine.goal(RoleId(0)).map_or(0, Goal::value))
    } else {
        let values = answers(game, state)
            .into_iter()
            .map(|(_, next)| perfect(game, &next, known));
        let values: Vec<i32> = values.collect();
        let is_first = mover(game, &mut *machine) == RoleId(0);
        let best = if is_first {
            values.iter().max()
        } else {
            values.iter().min()
        };
        *best.expect("there is a move")
    };
    known.insert(state.clone(), value);
    value
}

/// All joint moves of a state with the states after them.
fn answers(game: &Game, state: &State) -> Vec<(JointMove, State)> {
    let mut machine = game.machine();
    machine.load(state);
    let firsts = machine.legal_moves(RoleId(0)).to_vec();
    let seconds = machine.legal_moves(RoleId(1)).to_vec();
    let mut answers = Vec::new();
    for &first in &firsts {
        for &second in &seconds {
            let joint = JointMove::new([first, second]);
            machine.load(state);
            machine.advance(&joint);
            answers.push((joint, machine.state()));
        }
    }
    answers
}

#[test]
fn tic_tac_toe_against_perfect_play_is_never_lost() {
    let game = game(TIC_TAC_TOE);
    let mut known = HashMap::new();
    assert_eq!(perfect(&game, game.initial_state(), &mut known), 50);
    for player in ["agon", "cadia-2012"] {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let role = RoleId((seed % 2) as u16);
            let mut bot = bot(&game, player, seed);
            let mut machine = game.machine();
            while !machine.is_terminal() {
                let state = machine.state();
                let joint =
                    if machine.legal_moves(role).len() > 1 || answers(&game, &state).len() == 1 {
                        let limits = Limits::playouts(1500);
                        let mv = bot.think(&state, role, &limits, &mut unwatched).mv;
                        let mut answers = answers(&game, &state).into_iter();
                        answers
                            .find(|(joint, _)| joint.of(role) == mv)
                            .expect("it is legal")
                            .0
                    } else {
                        let value = perfect(&game, &state, &mut known);
                        let answers = answers(&game, &state).into_iter();
                        let best =
                            answers.filter(|(_, next)| perfect(&game, next, &mut known) == value);
                        let best: Vec<JointMove> = best.map(|(joint, _)| joint).collect();
                        best[random.below(best.len() as u32) as usize].clone()
                    };
                machine.advance(&joint);
                bot.played(&joint, &machine.state());
            }
            let goal = machine.goal(role).map(Goal::value);
            assert!(
                goal >= Some(50),
                "{player}, seed {seed}, loses as role {role:?}"
            );
        }
    }
}

/// All that a search tells but its times, after a few moves of a match against itself.
fn story(game: &Arc<Game>, player: &str, limits: &Limits) -> String {
    let mut bot = bot(game, player, 7);
    let mut machine = game.machine();
    let mut story = String::new();
    for _ in 0..4 {
        let role = mover(game, &mut *machine);
        let state = machine.state();
        let decision = bot.think(&state, role, limits, &mut unwatched);
        if let Some(mut account) = bot.account() {
            // Times are never the same.
            let tree = account.tree.as_mut().expect("it has a tree");
            (tree.ns_per_level, tree.time) = (None, Default::default());
            account.techniques.retain(|part| part.name() != "heuristic");
            story.push_str(&format!("{account:?}\n"));
        }
        let mv = |other: RoleId| match other == role {
            true => decision.mv,
            false => machine.legal_moves(other)[0],
        };
        let joint = JointMove::new(RoleId::all(game.n_roles()).map(mv).collect::<Vec<_>>());
        machine.advance(&joint);
        bot.played(&joint, &machine.state());
    }
    story
}

/// When the rest of the match is all in the tree, simulations step through no state any more.
#[test]
fn a_limit_in_transitions_comes_even_if_nothing_is_left_to_see() {
    let game = game(NIM);
    for player in ["cadia-2007", "agon:solver=no", "agon:solver=no,batch=1"] {
        let mut bot = bot(&game, player, 1);
        let (state, role) = after(&game, &["(leave x 1)"]);
        let decision = bot.think(&state, role, &Limits::transitions(20_000), &mut unwatched);
        assert_eq!(
            decision.report.stop,
            Some(StopReason::Transitions),
            "{player}"
        );
    }
}

#[test]
fn the_same_seed_gives_the_same_tree() {
    let game = game(CONNECT_FOUR);
    for limits in [Limits::playouts(600), Limits::transitions(9000)] {
        for player in SEARCHERS {
            assert_eq!(
                story(&game, player, &limits),
                story(&game, player, &limits),
                "{player}"
            );
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_tree_on_any_vectors() {
    let players = [
        (CONNECT_FOUR, "agon:batch=200"),
        (CONNECT_FOUR, "cadia-2009:batch=200"),
        (CONNECT_FOUR, "agon:batch=200,mast_choice=greedy"),
        (CONNECT_FOUR, "heuristic-combined-mast-rave:batch=200"),
        (SMALL_CHECKERS, "agon:batch=200"),
        (SMALL_CHECKERS, "agon:batch=200,mast_choice=greedy"),
        (SMALL_CHECKERS, "agon:batch=200,fast_ignored=-10"),
    ];
    let limits = Limits::playouts(2000);
    let story_on = |simd: Simd, jit: bool, sheet: &str, player: &str| {
        let game = game(sheet);
        let layout = LayoutOptions {
            simd,
            jit,
            ..LayoutOptions::default()
        };
        game.grounded().expect("it grounds").lay_out(&layout);
        story(&game, player, &limits)
    };
    for (sheet, player) in players {
        let expected = story_on(Simd::Portable, false, sheet, player);
        if sheet == SMALL_CHECKERS {
            assert!(expected.contains("is_active: true"), "{expected}");
        }
        for simd in [Simd::Portable, Simd::Avx2, Simd::Avx512] {
            if simd.is_available() {
                assert!(
                    expected == story_on(simd, true, sheet, player),
                    "{player} {simd:?}"
                );
            }
        }
    }
}

/// The weights that FAST has learned of the first role's kinds of pieces.
fn weights_of_kinds(game: &Arc<Game>, player: &str, n_playouts: u64) -> HashMap<String, f64> {
    let mut bot = bot(game, player, 1);
    let limits = Limits::playouts(n_playouts);
    let _ = bot.think(game.initial_state(), RoleId(0), &limits, &mut unwatched);
    let account = bot.account().expect("there is a tree");
    let mut weights = HashMap::new();
    for technique in account.techniques {
        match technique {
            TechniqueAccount::Evaluation(evaluation) => assert!(evaluation.in_lanes > 0),
            TechniqueAccount::Fast(fast) => {
                let own = fast.weights.into_iter().next().expect("there is a role");
                weights.extend(own.into_iter().map(|one| (one.name, one.weight)));
            }
            _ => {}
        }
    }
    weights
}

#[test]
fn pieces_are_weighed_in_the_lanes_too() {
    let game = game(SKIRMISH);
    // Playouts that are cut early tell less about pieces.
    let weights = weights_of_kinds(&game, "agon:batch=512,cutoff=no", 60_000);
    let [rook, bishop, knight, pawn] =
        ["rook", "bishop", "knight", "pawn"].map(|kind| weights[&format!("white_{kind}")]);
    let (less, more) = (bishop.min(knight), bishop.max(knight));
    assert!(rook > more && less > pawn && pawn > 0.0, "{weights:?}");
}

#[test]
fn batches_go_on_to_the_end_of_a_match() {
    // Of random games, so that some states are near their ends: there many playouts end with their first moves.
    let games = [
        (SMALL_CHECKERS, "agon:batch=300"),
        (SKIRMISH, "agon:batch=300"),
        (CONNECT_FOUR, "cadia-2009:batch=300"),
        (CONNECT_FOUR, "heuristic-combined:batch=300"),
        (TIC_TAC_TOE, "ary-amaf:batch=300,solver=yes"),
    ];
    for (sheet, player) in games {
        let game = game(sheet);
        let mut machine = game.machine();
        let mut random = Random::new(3);
        let mut states = Vec::new();
        while !machine.is_terminal() {
            states.push((machine.state(), mover(&game, &mut *machine)));
            let roles = RoleId::all(game.n_roles());
            let joint =
                roles.map(|role| random.pick(machine.legal_moves(role)).expect("it goes on"));
            let joint = JointMove::new(joint.collect::<Vec<MoveId>>());
            machine.advance(&joint);
        }
        for (state, role) in states.iter().rev().step_by(2).take(4) {
            let mut bot = bot(&game, player, 1);
            let _ = bot.think(state, *role, &Limits::playouts(1500), &mut unwatched);
        }
    }
}

#[test]
fn memory_is_kept_within_its_limit() {
    let game = game(CONNECT_FOUR);
    for player in ["agon:memory=1", "cadia-2007:memory=1,transpositions=no"] {
        let mut bot = bot(&game, player, 1);
        let limits = Limits::playouts(15_000);
        let decision = bot.think(game.initial_state(), RoleId(0), &limits, &mut unwatched);
        assert_eq!(decision.report.playouts, 15_000);
        let account = bot.account().expect("there is a tree");
        let tree = account.tree.expect("there is a tree");
        assert!(tree.bytes <= 1_000_000 && tree.nodes > 1000, "{tree:?}");
        assert!(tree.trims > 0);
        let visits: u64 = account.roles[0].iter().map(|mv| mv.visits).sum();
        assert_eq!(visits, 15_000, "the root forgets nothing");
    }
}

#[test]
fn nodes_are_small() {
    // Connect Four: 7 moves and a noop; a state of two words.
    let game = game(CONNECT_FOUR);
    for (player, per_edge) in [("cadia-2007", 16), ("cadia-2009", 24)] {
        let mut bot = bot(&game, player, 1);
        let _ = bot.think(
            game.initial_state(),
            RoleId(0),
            &Limits::playouts(2000),
            &mut unwatched,
        );
        let tree = bot
            .account()
            .and_then(|account| account.tree)
            .expect("there is a tree");
        let state = 8 * game.initial_state().words().len() as u64;
        assert!(
            tree.bytes <= tree.nodes * (64 + state + 8 * per_edge),
            "{tree:?}"
        );
    }
}

#[test]
fn the_tree_is_kept_between_moves() {
    let game = game(CONNECT_FOUR);
    let visits = |player: &str| {
        let mut bot = bot(&game, player, 1);
        let mut machine = game.machine();
        let limits = Limits::playouts(2000);
        for text in ["(drop 4)", "(drop 4)"] {
            let role = mover(&game, &mut *machine);
            if role == RoleId(0) {
                let _ = bot.think(&machine.state(), role, &limits, &mut unwatched);
            }
            let mv = game.find_move(role, text).expect("it is a move");
            let wait = game
                .find_move(RoleId(1 - role.0), "wait")
                .expect("it is a move");
            let joint = if role == RoleId(0) {
                [mv, wait]
            } else {
                [wait, mv]
            };
            let joint = JointMove::new(joint);
            machine.advance(&joint);
            bot.played(&joint, &machine.state());
        }
        let _ = bot.think(
            &machine.state(),
            RoleId(0),
            &Limits::playouts(100),
            &mut unwatched,
        );
        let account = bot.account().expect("there is a tree");
        account.roles[0].iter().map(|mv| mv.visits).sum::<u64>()
    };
    assert!(visits("cadia-2007") > 110);
    assert_eq!(visits("cadia-2007:keep_tree=no"), 100);
}

#[test]
fn an_only_move_takes_no_playouts_unless_it_ponders() {
    let game = game(CONNECT_FOUR);
    let mut bot = bot(&game, "agon:threads=1", 1);
    let decision = bot.think(
        game.initial_state(),
        RoleId(1),
        &Limits::playouts(100),
        &mut unwatched,
    );
    assert_eq!(game.move_text(RoleId(1), decision.mv), "wait");
    assert_eq!(
        (decision.report.playouts, decision.report.stop),
        (0, Some(StopReason::OnlyMove))
    );
    // The listener hears of it when the 512th playout is back, and nothing begins after that.
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let limits = Limits {
        stop: Some(Arc::clone(&stop)),
        ..Limits::default()
    };
    let mut n_heard = 0;
    let mut enough = |report: &Report| {
        if report.playouts >= 512 {
            n_heard = report.playouts;
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    };
    let decision = bot.think(game.initial_state(), RoleId(1), &limits, &mut enough);
    assert_eq!(decision.report.stop, Some(StopReason::Told));
    assert_eq!(decision.report.playouts, n_heard);
    assert!((512..1024).contains(&n_heard), "{n_heard}");
}

#[test]
fn every_technique_shows_itself() {
    let game = game(CONNECT_FOUR);
    let parts = |player: &str| -> BTreeSet<&'static str> {
        let mut bot = bot(&game, player, 1);
        let _ = bot.think(
            game.initial_state(),
            RoleId(0),
            &Limits::playouts(300),
            &mut unwatched,
        );
        let account = bot.account().expect("there is a tree");
        account
            .techniques
            .iter()
            .map(TechniqueAccount::name)
            .collect()
    };
    assert_eq!(parts("cadia-2007"), ["batch"].into());
    assert_eq!(
        parts("cadia-2012"),
        ["batch", "cutoff", "fast", "mast", "rave", "urgency"].into()
    );
    assert_eq!(parts("ary-amaf"), ["amaf", "batch"].into());
    assert!(parts("agon").contains("solver"));
}

#[test]
fn baselines_are_what_they_say() {
    let game = game(TIC_TAC_TOE);
    let win = ["(mark 1 1)", "(mark 1 2)", "(mark 2 1)", "(mark 2 2)"];
    check(TIC_TAC_TOE, &["greedy"], 1, &win, &["(mark 3 1)"]);
    let limits = Limits::playouts(1);
    let mut legal = bot(&game, "legal", 1);
    let decision = legal.think(game.initial_state(), RoleId(0), &limits, &mut unwatched);
    assert_eq!(game.machine().legal_moves(RoleId(0))[0], decision.mv);
}
