//! Training from outside: repeatable, resumable, and careful with games that teach nothing.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agon_engine::lanes::{LayoutOptions, Simd};
use agon_engine::{Game, RoleId};
use agon_learn::{Alarm, Budget, CheckpointError, LearningBot, Options, Training};
use agon_search::model::NoNetwork;
use agon_search::{Bot, Limits, NetworkUse, Preset, TechniqueAccount};

const TIC_TAC_TOE: &str = include_str!("../../games/games/tic_tac_toe.kif");

/// A game with simultaneous moves whose goals do not add up.
const TOGETHER: &str = "(role a) (role b) (role c) (init (at 0)) (succ 0 1) (succ 1 2) (succ 2 3)
    (legal a x) (legal a y) (legal b x) (legal b y) (legal c x) (legal c y) (legal c z)
    (<= (next (at ?m)) (true (at ?n)) (succ ?n ?m))
    (<= (next (did ?r ?m)) (does ?r ?m))
    (<= (next (once ?r)) (does ?r x)) (<= (next (once ?r)) (true (once ?r)))
    (<= terminal (true (at 3)))
    (<= (goal a 100) (true (once a)) (true (once b))) (<= (goal a 30) (not (true (once b)))) (<= (goal a 0) (true (once b)) (not (true (once a))))
    (<= (goal b 80) (true (did b x))) (<= (goal b 10) (not (true (did b x))))
    (<= (goal c 60) (true (did c z))) (<= (goal c 40) (not (true (did c z))))";

/// A game that the first role wins whatever anybody does.
const ONE_SIDED: &str = "(role a) (role b) (init (at 0)) (succ 0 1) (succ 1 2)
    (<= (legal a x) (true (at ?n))) (<= (legal a y) (true (at ?n))) (legal b wait)
    (<= (next (at ?m)) (true (at ?n)) (succ ?n ?m)) (<= (next (did ?m)) (does a ?m))
    (<= terminal (true (at 2))) (goal a 100) (goal b 0)";

fn game(sheet: &str, simd: Simd) -> Arc<Game> {
    let game = Game::from_text(sheet).expect("it is a game");
    if let Some(grounded) = game.grounded() {
        grounded.lay_out(&LayoutOptions {
            simd,
            ..LayoutOptions::default()
        });
    }
    Arc::new(game)
}

/// Small games at a time, so that some end soon.
fn options(game: &Game) -> Options {
    let mut options = Options::new(game).expect("it gets a network");
    options.games = 64;
    options.simulations = 24;
    options.chunk = 1024;
    options
}

fn train(game: &Arc<Game>, n_threads: usize, seed: u64, n_chunks: u32) -> Training {
    let training = Training::new(game, &options(game), n_threads, seed);
    let mut training = training.expect("it gets a network");
    for chunk in 0..n_chunks {
        let gone = chunk as f32 / n_chunks as f32;
        training.run(Budget { gone }, &|| false);
    }
    training
}

fn bytes(training: &Training) -> Vec<u8> {
    let model = training.model("game", Vec::new());
    model.expect("it gets a network").to_bytes()
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_every_cpu() {
    let best = game(TIC_TAC_TOE, Simd::best());
    let first = bytes(&train(&best, 1, 5, 8));
    assert_eq!(first, bytes(&train(&best, 1, 5, 8)));
    let portable = game(TIC_TAC_TOE, Simd::Portable);
    assert_eq!(first, bytes(&train(&portable, 1, 5, 8)));
    assert_ne!(first, bytes(&train(&best, 1, 6, 8)), "another seed");
    // Threads play different games, but the same ones each time.
    let both = train(&best, 2, 5, 4);
    assert_eq!(bytes(&both), bytes(&train(&best, 2, 5, 4)));
    assert!(both.progress().steps > 0);
}

#[test]
fn roles_that_move_together_have_values_and_policies_of_their_own() {
    let game = game(TOGETHER, Simd::best());
    let training = train(&game, 1, 1, 30);
    let progress = training.progress();
    assert_eq!(progress.counts.worth.len(), 3);
    let mean = |role: usize| progress.counts.worth[role] / progress.counts.games as f64;
    // The second role should do x at last, which is worth 80, and the third one z, which is worth 60.
    assert!(mean(1) > 0.55, "{}", mean(1));
    assert!(mean(2) > 0.5, "{}", mean(2));
}

#[test]
fn a_game_that_one_role_always_wins_raises_the_alarm() {
    let game = game(ONE_SIDED, Simd::best());
    let mut training = Training::new(&game, &options(&game), 1, 1).expect("it gets a network");
    let mut alarms = Vec::new();
    for _ in 0..60 {
        training.run(Budget { gone: 0.1 }, &|| false);
        alarms.extend(training.progress().alarm);
    }
    let expected = Alarm::OneWinner {
        role: 0,
        percent: 100,
    };
    // The cure is tried a few times, and then the game is taken as it is.
    assert_eq!(alarms, [expected; 3]);
    assert_eq!(training.progress().cures, 3);
}

#[test]
fn a_training_goes_on_where_it_was() {
    let game = game(TIC_TAC_TOE, Simd::best());
    let training = train(&game, 1, 1, 6);
    let checkpoint = training.checkpoint(42);
    let mut other = Training::new(&game, &options(&game), 1, 9).expect("it gets a network");
    other.resume(&checkpoint, 42).expect("it is whole");
    assert_eq!(bytes(&other), bytes(&training));
    assert_eq!(other.progress().counts, training.progress().counts);
    assert_eq!(other.checkpoint(42), checkpoint);
    other.run(Budget { gone: 0.5 }, &|| false);
    assert!(other.progress().counts.positions > training.progress().counts.positions);
    // Another game, and damage anywhere.
    assert_eq!(
        other.resume(&checkpoint, 43),
        Err(CheckpointError::OtherRules)
    );
    for at in (0..checkpoint.len()).step_by(checkpoint.len() / 50) {
        let mut damaged = checkpoint.clone();
        damaged[at] ^= 0x10;
        assert_eq!(
            other.resume(&damaged, 42),
            Err(CheckpointError::Damaged),
            "{at}"
        );
        let cut = other.resume(&checkpoint[..at], 42);
        assert_eq!(cut, Err(CheckpointError::Damaged), "{at}");
    }
}

#[test]
fn games_that_get_no_network_are_declined() {
    let puzzle = game(
        "(role a) (init p) (legal a x) (legal a y) (<= (next q) (does a x)) (<= terminal (true q)) (goal a 50)",
        Simd::best(),
    );
    assert_eq!(Options::new(&puzzle).err(), Some(NoNetwork::Puzzle));
    let rules = Arc::clone(puzzle.rules());
    let slow = Game::interpret(rules).expect("it runs");
    assert_eq!(Options::new(&slow).err(), Some(NoNetwork::NotGround));
}

#[test]
fn a_bot_that_learns_ends_when_it_is_told_and_then_plays() {
    let game = game(TIC_TAC_TOE, Simd::best());
    let params = Preset::parse("agon:threads=1")
        .expect("it is a preset")
        .params;
    let mut bot = LearningBot::new(&game, &params, 1);
    let told = Limits {
        stop: Some(Arc::new(AtomicBool::new(true))),
        ..Limits::default()
    };
    let start = game.initial_state();
    bot.think(start, RoleId(0), &told, &mut |_| {});
    assert!(bot.learned().chosen.is_none(), "nothing was shown");
    let decision = bot.think(start, RoleId(0), &Limits::playouts(200), &mut |_| {});
    let mut machine = game.machine();
    assert!(machine.legal_moves(RoleId(0)).contains(&decision.mv));
    assert!(decision.report.playouts >= 200);
}

#[test]
fn what_was_learned_is_in_the_account() {
    let game = game(TIC_TAC_TOE, Simd::best());
    let params = Preset::parse("agon:threads=1").expect("it is a preset");
    let (send, told) = std::sync::mpsc::channel();
    let mut bot = LearningBot::new(&game, &params.params, 1).telling(Box::new(move |account| {
        let _ = send.send(account.clone());
    }));
    let stop = Arc::new(AtomicBool::new(false));
    let limits = Limits {
        stop: Some(Arc::clone(&stop)),
        ..Limits::default()
    };
    let start = game.initial_state();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(800));
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        bot.think(start, RoleId(0), &limits, &mut |_| {});
    });
    bot.think(start, RoleId(0), &Limits::playouts(100), &mut |_| {});
    let heard = told.try_recv().expect("it was told when the match began");
    // Less than a second shows nothing, and the account says so.
    assert_eq!(heard.usage, NetworkUse::None);
    assert!(heard.positions.is_some_and(|n| n > 0) && heard.contest.is_empty());
    let techniques = bot.account().expect("it has searched").techniques;
    assert!(techniques.contains(&TechniqueAccount::Network(heard)));
}
