//! Games with hidden information: beliefs agree with what was seen, bots find what is known to be right, mixed strategies
//! come close to an equilibrium.

use std::sync::Arc;

use agon_engine::{Game, Goal, JointMove, MoveId, RoleId};
use agon_search::bots::{BELIEF_NAMES, OosBot, belief_by_name};
use agon_search::{
    BeliefBot, ExploitabilityError, Limits, MatchOutcome, Params, ViewKey, exploitability,
    play_belief_match,
};

fn compile(text: &[u8]) -> Arc<Game> {
    let rules = agon_gdl::check(&agon_gdl::parse(text, &Default::default()));
    let rules = Arc::new(rules.unwrap_or_else(|findings| panic!("{findings:?}")));
    Arc::new(Game::compile(rules, &Default::default(), &|| false).expect("it runs"))
}

fn sheet(name: &str) -> Arc<Game> {
    let path = format!("{}/../games/games/{name}.kif", env!("CARGO_MANIFEST_DIR"));
    compile(&std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}")))
}

fn bot(game: &Arc<Game>, name: &str, role: RoleId, seed: u64) -> Box<dyn BeliefBot> {
    let bot = belief_by_name(name, game, role, &Params::default(), seed);
    bot.unwrap_or_else(|| panic!("{name} is a bot"))
}

/// A match of these bots, one name per role other than chance; also its joint moves.
fn play(
    game: &Arc<Game>,
    names: &[&str],
    playouts: u64,
    seed: u64,
) -> (MatchOutcome, Vec<JointMove>) {
    let mut names = names.iter();
    let mut bots: Vec<Option<Box<dyn BeliefBot>>> = RoleId::all(game.n_roles())
        .map(|role| {
            let is_chance = game.random_role() == Some(role);
            (!is_chance).then(|| bot(game, names.next().expect("one per role"), role, seed))
        })
        .collect();
    let mut ask = |bot: &mut dyn BeliefBot| {
        let decision = bot.think(&Limits::playouts(playouts), &mut |_| {});
        let decision = decision.expect("there is a legal move");
        assert!(!bot.account().is_lost, "the past has an explanation");
        Some(decision.mv)
    };
    let mut moves = Vec::new();
    let mut seen = |joint: &JointMove| moves.push(joint.clone());
    let outcome = play_belief_match(game, &mut bots, 500, seed, &mut ask, &mut seen);
    (outcome, moves)
}

/// The mean goal of a role over matches with these seeds.
fn mean(game: &Arc<Game>, names: &[&str], role: usize, playouts: u64, n: u64) -> f64 {
    let goal = |seed| {
        let (outcome, _) = play(game, names, playouts, seed);
        f64::from(outcome.goals[role].map_or(0, Goal::value))
    };
    (0..n).map(goal).sum::<f64>() / n as f64
}

#[test]
fn every_bot_plays_every_kind_of_game() {
    for (name, n_players) in [
        ("monty_hall", 1),
        ("kuhn_poker", 2),
        ("blind_tic_tac_toe", 2),
        ("goofspiel_hidden", 2),
        ("tic_tac_toe", 2),
    ] {
        let game = sheet(name);
        for bot in BELIEF_NAMES {
            let (outcome, moves) = play(&game, &vec![*bot; n_players], 30, 1);
            assert_eq!(outcome.steps as usize, moves.len());
            assert_eq!(
                outcome.end,
                agon_search::MatchEnd::Terminal,
                "{bot} in {name}"
            );
            let again = play(&game, &vec![*bot; n_players], 30, 1);
            assert_eq!(
                again.1, moves,
                "{bot} in {name}: the same seed, the same match"
            );
        }
    }
}

#[test]
fn kuhn_poker_comes_close_to_its_equilibrium() {
    let game = sheet("kuhn_poker");
    // 25 goals are a chip.
    let chips = |n_iterations| {
        let limits = Limits::playouts(n_iterations);
        let bot = OosBot::trained(&game, &Params::default(), 1, &limits);
        let strategy = |role, view, legal: &[MoveId]| bot.strategy(role, view, legal);
        let found = exploitability(&game, &strategy, 1_000_000, &|| false).expect("it is small");
        assert_eq!(found.information_sets, [6, 6]);
        // The first player loses a chip in eighteen games.
        let value = (found.value - 50.0) / 25.0;
        (found.exploitability() / 25.0, value)
    };
    let found = [1000, 10_000, 100_000].map(chips);
    assert!(found[2].0 < 0.05, "{found:?}");
    assert!(
        found[0].0 > found[1].0 && found[1].0 > found[2].0,
        "{found:?}"
    );
    assert!((found[2].1 + 1.0 / 18.0).abs() < 0.03, "{found:?}");
}

#[test]
fn best_responses_are_those_that_are_known() {
    let game = sheet("kuhn_poker");
    let even =
        |_: RoleId, _: ViewKey, legal: &[MoveId]| vec![1.0 / legal.len() as f64; legal.len()];
    let found = exploitability(&game, &even, 1_000_000, &|| false).expect("it is small");
    // Known values: the best responses to uniform play win 1/2 and 5/12 chips (OpenSpiel: NashConv 11/12).
    let chips = found.best_responses.map(|goals| (goals - 50.0) / 25.0);
    assert!((chips[0] - 0.5).abs() < 1e-9, "{chips:?}");
    assert!((chips[1] - 5.0 / 12.0).abs() < 1e-9, "{chips:?}");
    let small = exploitability(&game, &even, 10, &|| false);
    assert_eq!(small, Err(ExploitabilityError::TooLarge(10)));
    let alone = exploitability(&sheet("monty_hall"), &even, 1000, &|| false);
    assert_eq!(alone, Err(ExploitabilityError::Roles(1)));
}

#[test]
fn the_candidate_always_switches() {
    let game = sheet("monty_hall");
    for name in ["ismcts", "hyperplay", "ii-agon"] {
        for seed in 0..20 {
            let (_, moves) = play(&game, &[name], 500, seed);
            let own = moves
                .iter()
                .map(|joint| game.move_text(RoleId(0), joint.of(RoleId(0))));
            let own: Vec<String> = own.collect();
            assert!(
                own.iter().any(|mv| mv.contains("switch")),
                "{name}, seed {seed}: {own:?}"
            );
        }
    }
}

/// The prize is behind one of three doors. A peek costs 20 and shows where it is.
const PEEK: &str = "(role you) (role random) (door 1) (door 2) (door 3) (init hide)
    (<= (legal random (hide ?d)) (true hide) (door ?d)) (<= (legal random wait) (not (true hide)))
    (<= (legal you wait) (true hide)) (<= (legal you (open ?d)) (not (true hide)) (door ?d))
    (<= (legal you peek) (not (true hide)) (not (true peeked)))
    (<= (next (prize ?d)) (does random (hide ?d))) (<= (next (prize ?d)) (true (prize ?d)))
    (<= (next peeked) (does you peek)) (<= (next peeked) (true peeked))
    (<= (sees you (prize ?d)) (does you peek) (true (prize ?d)))
    (<= (next (opened ?d)) (does you (open ?d))) (<= isopen (true (opened ?d))) (<= terminal isopen)
    (<= right (true (opened ?d)) (true (prize ?d)))
    (<= (goal you 100) right (not (true peeked))) (<= (goal you 80) right (true peeked))
    (<= (goal you 0) (not right))";

#[test]
fn knowledge_is_bought_by_information_sets_and_not_by_determinisation() {
    let game = compile(PEEK.as_bytes());
    for seed in 0..10 {
        for name in ["ismcts", "ii-agon", "oos"] {
            let mut bot = bot(&game, name, RoleId(0), seed);
            let wait = game.find_move(RoleId(0), "wait").expect("it is a move");
            bot.saw(wait, &[]);
            bot.think(&Limits::playouts(3000), &mut |_| {})
                .expect("there is a move");
            let (best, share) = bot.distribution()[0];
            assert_eq!(
                game.move_text(RoleId(0), best),
                "peek",
                "{name}, seed {seed}"
            );
            assert!(share > 0.8, "{name}, seed {seed}: {share}");
        }
        let (outcome, _) = play(&game, &["ismcts"], 500, seed);
        assert_eq!(outcome.goals[0].map(Goal::value), Some(80));
    }
    // Who thinks that it knows everything sees no need to look.
    let guessed = mean(&game, &["hyperplay"], 0, 500, 30);
    assert!(guessed < 60.0, "{guessed}");
}

#[test]
fn numbers_are_found_by_halving() {
    let game = sheet("number_guessing");
    let mut n_guesses = 0;
    for seed in 0..6 {
        let (outcome, _) = play(&game, &["ismcts"], 400, seed);
        // The first step is that of chance. Halving takes at most five guesses.
        assert!(
            outcome.steps - 1 <= 6,
            "seed {seed}: {} guesses",
            outcome.steps - 1
        );
        n_guesses += outcome.steps - 1;
    }
    assert!(n_guesses <= 6 * 5, "{n_guesses}");
}

#[test]
fn random_opponents_are_beaten() {
    let blind = mean(
        &sheet("blind_tic_tac_toe"),
        &["ismcts", "ii-random"],
        0,
        300,
        20,
    );
    assert!(blind >= 75.0, "{blind}");
    let dice = mean(&sheet("liars_dice"), &["ismcts", "ii-random"], 0, 300, 20);
    assert!(dice >= 75.0, "{dice}");
}

#[test]
fn a_contradiction_is_survived() {
    let game = sheet("kuhn_poker");
    for name in BELIEF_NAMES {
        let role = RoleId(0);
        let mut bot = bot(&game, name, role, 1);
        let wait = game.machine().legal_moves(role)[0];
        // Nobody is dealt nothing.
        bot.saw(wait, &[]);
        let decision = bot.think(&Limits::playouts(100), &mut |_| {});
        assert!(decision.is_some(), "{name}");
        assert!(bot.account().is_lost, "{name}");
    }
}

#[test]
fn limits_are_kept() {
    let game = sheet("blind_tic_tac_toe");
    for name in ["ismcts", "hyperplay", "oos"] {
        let think = |limits: &Limits| {
            let decision = bot(&game, name, RoleId(0), 1).think(limits, &mut |_| {});
            decision.expect("there is a move").report
        };
        assert_eq!(think(&Limits::playouts(777)).playouts, 777, "{name}");
        let report = think(&Limits::transitions(5000));
        assert!(
            (5000..8000).contains(&report.transitions),
            "{name}: {report:?}"
        );
        assert_eq!(think(&Limits::playouts(0)).playouts, 0, "{name}");
    }
}
