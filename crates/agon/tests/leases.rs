//! Several processes on one store share its matches, also when some of them are killed.
//!
//! A test starts its own binary again as a process that plays; a variable of the environment tells it so. Leases are shorter
//! than those of the command line, so that nobody waits half a minute for the lease of a process that was killed.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use agon_engine::Game;
use agon_protocol::StopFlag;
use agon_tournament::{Cell, CellProgress, Outcome, Pace, Plan, Sheet, Store, run_at};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Set for a process that plays: the path of the store.
const STORE: &str = "AGON_TEST_STORE";
const N_MATCHES: u32 = 40;
/// No round takes longer, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// A cell of matches that take some time each.
fn cells(more: &str) -> Vec<Cell> {
    let game = agon::games::find("connect_four").expect("it is built in");
    let rules = agon_gdl::parse(game.sheet.as_bytes(), &Default::default());
    let rules = Arc::new(agon_gdl::check(&rules).expect("it is well-formed"));
    let game = Game::compile(rules, &Default::default(), &|| false).expect("it runs");
    let sheet = Arc::new(Sheet::new("connect_four", Arc::new(game)));
    let file = format!(
        "games = []\nplayers = [\"mc\", \"legal\"]\ngames_per_pair = {N_MATCHES}\n\
         budget = {{ playouts = 1200 }}\nseed = 7\n{more}"
    );
    let plan = Plan::read(&file).expect("it is a tournament");
    plan.cells(&[sheet]).expect("it is a tournament")
}

fn play(cells: &[Cell], store: &mut Store) -> Outcome {
    let pace = Pace {
        lease: Duration::from_secs(4),
        renew: Duration::from_millis(200),
        poll: Duration::from_millis(50),
        ..Pace::default()
    };
    let outcome = run_at(&pace, cells, store, 1, &StopFlag::new(), &mut |_| {});
    outcome.expect("the store works")
}

/// Plays if this process was started to do so; whether it was.
fn is_player(cells: &[Cell]) -> bool {
    let Some(path) = env::var_os(STORE) else {
        return false;
    };
    let mut store = Store::open(Path::new(&path)).expect("it is a store");
    let outcome = play(cells, &mut store);
    let has_ended = |cell: &CellProgress| cell.ended().is_some();
    assert!(outcome.cell_progress.iter().all(has_ended));
    true
}

/// A process that plays.
struct Playing(Child);

impl Playing {
    fn start(test: &str, store: &Path) -> Playing {
        let mut command = Command::new(env::current_exe().expect("this is a program"));
        command.args(["--exact", test]).env(STORE, store);
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        Playing(command.spawn().expect("it starts"))
    }

    fn kill(&mut self) {
        self.0.kill().expect("it can be killed");
        self.0.wait().expect("it is gone");
    }

    fn finish(&mut self) {
        assert!(self.0.wait().expect("it ends").success());
    }
}

impl Drop for Playing {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn new_store(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("leases_{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder.join("store.sqlite")
}

/// The goals of all matches, by key.
fn goals(store: &Store) -> BTreeMap<String, Vec<Option<u8>>> {
    let results = store.results().expect("they are read").into_iter();
    results
        .map(|result| (result.fixture.key(), result.goals))
        .collect()
}

/// The goals that one process alone gets.
fn reference(cells: &[Cell]) -> BTreeMap<String, Vec<Option<u8>>> {
    let mut store = Store::in_memory().expect("there is memory");
    assert_eq!(play(cells, &mut store).n_played, N_MATCHES as usize);
    goals(&store)
}

fn n_stored(path: &Path) -> usize {
    let n_stored = match path.exists() {
        true => Store::open(path).and_then(|store| store.n_matches()),
        false => Ok(0),
    };
    n_stored.expect("it is read")
}

/// Waits until this number of matches is stored.
fn wait_for(path: &Path, n_matches: usize) {
    let until = Instant::now() + PATIENCE;
    while n_stored(path) < n_matches {
        assert!(Instant::now() < until, "nobody plays");
        thread::sleep(Duration::from_millis(5));
    }
}

/// How many matches were started again. All have a result, each the one that a single process gets.
fn n_repeated(path: &Path, expected: &BTreeMap<String, Vec<Option<u8>>>) -> u32 {
    let store = Store::open(path).expect("it is a store");
    assert_eq!(&goals(&store), expected);
    let attempts = store.attempts().expect("they are read");
    assert!(attempts.keys().eq(expected.keys()));
    attempts.values().map(|n| n - 1).sum()
}

#[test]
fn processes_share_the_matches_of_a_store() {
    let cells = cells("");
    if is_player(&cells) {
        return;
    }
    let expected = reference(&cells);
    let path = new_store("share");
    let test = "processes_share_the_matches_of_a_store";
    let mut players = [0, 1, 2].map(|_| Playing::start(test, &path));
    players.iter_mut().for_each(Playing::finish);
    assert_eq!(n_repeated(&path, &expected), 0);
}

#[test]
fn only_the_matches_of_killed_processes_are_played_again() {
    let cells = cells("");
    if is_player(&cells) {
        return;
    }
    let expected = reference(&cells);
    let test = "only_the_matches_of_killed_processes_are_played_again";
    let mut n_repeated_in_all = 0;
    for seed in 0..3 {
        let mut rng = SplitMix64::seed_from_u64(seed);
        let mut draw = |n: u32| rng.next_u32() % n;
        let path = new_store(&format!("killed_{seed}"));
        let mut victim = Playing::start(test, &path);
        let mut other = Playing::start(test, &path);
        wait_for(&path, 1 + draw(N_MATCHES - 12) as usize);
        thread::sleep(Duration::from_millis(u64::from(draw(40))));
        victim.kill();
        assert!(
            n_stored(&path) < N_MATCHES as usize,
            "it was killed too late"
        );
        let mut n_killed = 1;
        if seed == 2 {
            // The other one dies too, and a third process takes over from both.
            thread::sleep(Duration::from_millis(u64::from(draw(60))));
            other.kill();
            n_killed = 2;
            other = Playing::start(test, &path);
        }
        other.finish();
        let n_repeated = n_repeated(&path, &expected);
        assert!(n_repeated <= n_killed, "seed {seed}: {n_repeated} matches");
        n_repeated_in_all += n_repeated;
    }
    assert!(n_repeated_in_all > 0, "nobody was killed during a match");
}

#[test]
fn a_sequential_test_is_decided_in_order() {
    let cells = cells("stop = { sprt = { elo0 = 0, elo1 = 200 } }");
    if is_player(&cells) {
        return;
    }
    let counted = |outcome: &Outcome| -> Vec<String> {
        let results = outcome.cell_progress[0].counted();
        results.iter().map(|result| result.fixture.key()).collect()
    };
    let mut alone = Store::in_memory().expect("there is memory");
    let expected = play(&cells, &mut alone);
    assert!(counted(&expected).len() < N_MATCHES as usize);
    let path = new_store("sprt");
    let test = "a_sequential_test_is_decided_in_order";
    let mut players = [0, 1].map(|_| Playing::start(test, &path));
    players.iter_mut().for_each(Playing::finish);
    let mut store = Store::open(&path).expect("it is a store");
    let again = play(&cells, &mut store);
    assert_eq!((again.n_played, counted(&again)), (0, counted(&expected)));
    assert_eq!(
        again.cell_progress[0].ended(),
        expected.cell_progress[0].ended()
    );
}
