//! Tests of the built-in games: their rulesheets have no warnings, their metadata is correct, and they play by the rules.
//!
//! Expected counts are in `games/perft.toml`, rule tests in `tests/cases/*.toml`, and one readable random match per game
//! in `tests/playthroughs/*.txt`, which `UPDATE_EXPECT=1` updates. Counts are checked here up to a bound that takes little
//! time; `agon perft --suite` checks all of them.

#[path = "library/cases.rs"]
mod cases;
#[path = "library/metadata.rs"]
mod metadata;
#[path = "library/notation.rs"]
mod notation;
#[path = "library/playthrough.rs"]
mod playthrough;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use agon_engine::{Ending, Game, Interpreter, Machine, Perft, play_out};
use agon_games::board::board_of;
use agon_games::suite;
use agon_games::{self as library, BuiltIn, Layer};
use agon_gdl::{Rules, check, parse};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// A built-in game, compiled once for all tests.
struct Entry {
    built_in: BuiltIn,
    rules: Arc<Rules>,
    game: Lazy<Arc<Game>>,
    interpreter: Lazy<Arc<Interpreter>>,
}

type Lazy<T> = LazyLock<T, Box<dyn FnOnce() -> T + Send>>;

impl Entry {
    fn name(&self) -> &'static str {
        self.built_in.name
    }
}

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let entry = |built_in: BuiltIn| {
        let rules = Arc::new(rules(built_in.sheet, built_in.name));
        let (for_game, for_interpreter) = (Arc::clone(&rules), Arc::clone(&rules));
        Entry {
            built_in,
            rules,
            game: LazyLock::new(Box::new(move || Arc::new(compile(for_game)))),
            interpreter: LazyLock::new(Box::new(move || interpret(for_interpreter))),
        }
    };
    library::games().into_iter().map(entry).collect()
});

/// Games whose board is not guessed, because its rows are roles or things without an order, or because it is a hand of cards
/// or a row of numbers.
const NOT_GUESSED: [&str; 10] = [
    "backgammon",
    "goofspiel_hidden",
    "kuhn_poker",
    "leduc_poker",
    "liars_dice",
    "mancala_kalah",
    "mastermind",
    "monty_hall",
    "runners",
    "wolf_goat_cabbage",
];

fn rules(sheet: &str, name: &str) -> Rules {
    check(&parse(sheet.as_bytes(), &Default::default()))
        .unwrap_or_else(|findings| panic!("{name}: {findings:?}"))
}

fn compile(rules: Arc<Rules>) -> Game {
    Game::compile(rules, &Default::default(), &|| false).expect("the game compiles")
}

fn interpret(rules: Arc<Rules>) -> Arc<Interpreter> {
    Arc::new(Interpreter::new(rules).expect("the interpreter can run the game"))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// Fails if there are faults, and shows all of them.
fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "\n  {}\n", faults.join("\n  "));
}

#[test]
fn every_game_grounds_and_has_tests() {
    let counts = counts();
    let mut faults = Vec::new();
    for entry in ENTRIES.iter() {
        let name = entry.name();
        if let Some(error) = entry.game.ground_error() {
            faults.push(format!("{name}: {error}"));
        }
        if counts
            .get(name)
            .is_none_or(|expected| expected.counts.is_empty())
        {
            faults.push(format!("{name}: no counts in games/perft.toml"));
        }
        if !folder().join(format!("tests/cases/{name}.toml")).is_file() {
            faults.push(format!("{name}: no tests/cases/{name}.toml"));
        }
    }
    for name in counts.keys().filter(|name| library::find(name).is_none()) {
        faults.push(format!("games/perft.toml: there is no game {name}"));
    }
    assert_none(&faults);
}

fn counts() -> BTreeMap<String, suite::Counts> {
    let text = fs::read_to_string(folder().join("games/perft.toml"))
        .expect("the file of counts is readable");
    suite::read(&text).expect("a valid file of counts")
}

/// Compares counts up to a bound on the engine that `machine` returns.
fn compare_counts(most: u64, machine: impl Fn(&Entry) -> Box<dyn Machine>) {
    let counts = counts();
    let mut faults = Vec::new();
    for entry in ENTRIES.iter() {
        let Some(expected) = counts.get(entry.name()) else {
            continue;
        };
        let n_roles = entry.rules.roles.len();
        if let Err(fault) = expected.compare(&mut Perft::new(&mut *machine(entry), n_roles), most) {
            faults.push(format!("{}: {fault}", entry.name()));
        }
    }
    assert_none(&faults);
}

#[test]
fn counts_are_as_expected_on_the_network() {
    compare_counts(100_000, |entry| entry.game.machine());
}

#[test]
fn counts_are_as_expected_on_the_interpreter() {
    compare_counts(400, |entry| Box::new(entry.interpreter.machine()));
}

#[test]
fn random_games_end_with_one_goal_per_role() {
    const GAMES: u64 = 200;
    const MAX_STEPS: u32 = 3_000;
    let mut faults = Vec::new();
    for entry in ENTRIES.iter() {
        let game = &*entry.game;
        let mut machine = game.machine();
        for seed in 0..GAMES {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            machine.load(game.initial_state());
            let playout = play_out(&mut *machine, game.n_roles(), MAX_STEPS, &mut rng);
            let fault = match playout.ending {
                Ending::StepLimit => Some(format!("not terminal after {MAX_STEPS} steps")),
                Ending::NoLegalMove(role) => {
                    Some(format!("{} has no legal move", game.role_name(role)))
                }
                Ending::Terminal => game
                    .playing_roles()
                    .find(|&role| machine.goal(role).is_none())
                    .map(|role| {
                        let goals = machine.goals(role);
                        format!("the goals of {} are {goals:?}", game.role_name(role))
                    }),
            };
            if let Some(fault) = fault {
                let (name, steps) = (entry.name(), playout.steps);
                faults.push(format!("{name}: {fault} (seed {seed}, step {steps})"));
                break;
            }
        }
    }
    assert_none(&faults);
}

/// The board that is guessed from the rules alone has the fluent and the coordinates of the metadata.
#[test]
fn boards_are_guessed_from_the_rules() {
    let mut misses = Vec::new();
    for entry in ENTRIES.iter() {
        let Some(known) = &entry.built_in.about.board else {
            continue;
        };
        let guess = board_of(&entry.game, None);
        let places = |layer: &Layer| {
            let args = layer.column.iter().chain(&layer.row);
            (
                layer.fluent.clone(),
                args.copied().collect::<BTreeSet<usize>>(),
            )
        };
        let known: BTreeSet<_> = known.layers.iter().map(places).collect();
        let mut guessed = guess.iter().flat_map(|board| &board.layers).map(places);
        if !guessed.any(|layer| known.contains(&layer)) {
            misses.push(entry.name());
        }
    }
    assert_eq!(misses, NOT_GUESSED);
}

/// If `AGON_CORPUS` names a folder of public rulesheets, those named by `same_as` have the same counts.
#[test]
fn public_sheets_have_the_same_counts() {
    let corpus = std::env::var_os("AGON_CORPUS").map(PathBuf::from);
    let Some(corpus) = corpus.filter(|path| path.is_dir()) else {
        eprintln!("AGON_CORPUS does not name a folder: nothing is tested");
        return;
    };
    let mut faults = Vec::new();
    for (name, expected) in counts() {
        let Some(public) = &expected.same_as else {
            continue;
        };
        let path = corpus.join(format!("games/{public}.kif"));
        let Ok(sheet) = fs::read_to_string(&path) else {
            faults.push(format!("{name}: {public} is missing"));
            continue;
        };
        let game = compile(Arc::new(rules(&sheet, public)));
        let most = if game.grounded().is_some() {
            100_000
        } else {
            400
        };
        if let Err(fault) =
            expected.compare(&mut Perft::new(&mut *game.machine(), game.n_roles()), most)
        {
            faults.push(format!("{name} differs from {public}: {fault}"));
        }
    }
    assert_none(&faults);
}
