//! Games with hidden information through the binary and in this process: matches without faults in both forms of the
//! protocol, over HTTP too, records that say who saw what, and views of single roles.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use agon_arena::{About, MatchRecord, Referee, Seat, Settings, replay};
use agon_engine::Game;
use agon_engine::network::Network;
use agon_player::{Budget, GamePlayer};
use agon_protocol::PerceptForm;
use agon_search::Preset;

/// Two roles guess which of four cards chance has drawn. Each sees whether the own guess was too low, and a peek shows the card
/// to the role alone. A guess may not be repeated.
const CARDS: &str = "(role one) (role random) (role two) (init (step 0))
    (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (card 1) (card 2) (card 3) (card 4)
    (more 2 1) (more 3 1) (more 4 1) (more 3 2) (more 4 2) (more 4 3)
    (<= (legal random (draw ?c)) (true (step 0)) (card ?c)) (<= (legal random noop) (not (true (step 0))))
    (<= (legal ?r noop) (role ?r) (distinct ?r random) (true (step 0)))
    (<= (legal ?r (guess ?c)) (role ?r) (distinct ?r random) (card ?c) (not (true (step 0))) (not (true (guessed ?r ?c))))
    (<= (legal ?r peek) (role ?r) (distinct ?r random) (not (true (step 0))))
    (<= (legal ?r (cheat ?c)) (true (peeked ?r)) (true (drawn ?c)))
    (<= (next (drawn ?c)) (does random (draw ?c))) (<= (next (drawn ?c)) (true (drawn ?c)))
    (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
    (<= (next (guessed ?r ?c)) (does ?r (guess ?c))) (<= (next (guessed ?r ?c)) (true (guessed ?r ?c)))
    (<= (next (peeked ?r)) (does ?r peek)) (<= (next (peeked ?r)) (true (peeked ?r)))
    (<= (next (right ?r)) (does ?r (guess ?c)) (true (drawn ?c))) (<= (next (right ?r)) (true (right ?r)))
    (<= (sees ?r low) (does ?r (guess ?c)) (true (drawn ?d)) (more ?d ?c))
    (<= (sees ?r (it_is ?d)) (does ?r peek) (true (drawn ?d)))
    (<= terminal (true (step 4)))
    (<= (goal ?r 100) (role ?r) (true (right ?r))) (<= (goal ?r 0) (role ?r) (not (true (right ?r))))";

/// All sheets of GDL-II at hand: the one above, the built-in games, and those of a corpus.
fn sheets() -> Vec<(String, String)> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../games/games")];
    let corpus = std::env::var_os("AGON_CORPUS").filter(|folder| !folder.is_empty());
    folders.extend(corpus.map(|folder| Path::new(&folder).join("gdl2")));
    let files = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).into_iter().flatten());
    let mut paths: Vec<PathBuf> = files.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "kif"));
    paths.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap_or_default();
        (path.display().to_string(), text)
    };
    let mut sheets: Vec<(String, String)> = paths.iter().map(read).collect();
    sheets.retain(|(_, text)| text.to_lowercase().contains("(sees "));
    sheets.push(("cards".to_owned(), CARDS.to_owned()));
    sheets
}

fn play(
    game: &Arc<Game>,
    (preset, playouts): (&str, u64),
    form: PerceptForm,
    seed: u64,
) -> MatchRecord {
    let seats = game.playing_roles().map(|role| {
        let settings = agon_player::Settings {
            seed: seed * 10 + u64::from(role.0),
            budget: Budget {
                playouts: Some(playouts),
                ..Budget::default()
            },
            ponders: false,
            ..agon_player::Settings::default()
        };
        let preset = Preset::parse(preset).expect("a preset");
        let player = GamePlayer::new(preset, settings).knowing(Arc::clone(game));
        Seat::new(Box::new(player), About::named("agon"))
    });
    let clock = Duration::from_secs(60);
    let settings = Settings {
        seed,
        chance_seed: seed,
        percept_form: form,
        most_steps: 400,
        ..Settings::new("hidden", clock, clock)
    };
    Referee::play(game, seats.collect(), &settings, &mut |_| {})
}

/// Networks with more gates make a game large.
const LARGE_GATES: usize = 200;

#[test]
fn the_player_makes_legal_moves_by_what_it_sees() {
    for (name, sheet) in sheets() {
        let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
        let Ok(rules) = rules.map(Arc::new) else {
            continue;
        };
        if !rules.is_gdl2() {
            continue;
        }
        let game = Game::compile(rules, &Default::default(), &|| false).expect("it runs");
        let game = Arc::new(game);
        // A belief of a large game takes minutes in a build for tests.
        let n_gates = game.grounded().map_or(usize::MAX, |grounded| {
            let networks = grounded.optimized().networks.iter();
            networks.map(Network::n_gates).sum()
        });
        let presets = match n_gates <= LARGE_GATES {
            true => &["random", "mc", "oos"][..],
            false => &["random", "mc"],
        };
        for &preset in presets {
            for form in [PerceptForm::Short, PerceptForm::Turn] {
                let record = play(&game, (preset, 8), form, 1);
                let details = record.agon.as_ref().expect("it is ours");
                assert!(
                    details.faults.is_empty(),
                    "{name} {preset} {form:?}: {:?}",
                    details.faults
                );
                replay(&game, &record).unwrap_or_else(|error| panic!("{name}: {error}"));
            }
        }
    }
}

#[test]
fn in_a_match_the_guest_of_monty_hall_always_switches() {
    let (_, sheet) = sheets()
        .into_iter()
        .find(|(name, _)| name.ends_with("/monty_hall.kif"))
        .expect("it is built in");
    let game = Arc::new(Game::from_text(&sheet).expect("a game"));
    for preset in ["agon", "ismcts", "hyperplay"] {
        for seed in 0..20 {
            let record = play(&game, (preset, 300), PerceptForm::Turn, seed);
            let last = record.moves.last().expect("moves");
            assert_eq!(last[0], "switch", "{preset} {seed}");
        }
    }
}

/// A folder for the files of a test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("agon-hidden-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder can be made");
        fs::write(path.join("cards.kif"), CARDS).expect("a file can be written");
        Folder(path)
    }

    fn agon(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
        command.args(args).current_dir(&self.0).env("NO_COLOR", "1");
        command
    }

    fn run(&self, args: &[&str]) -> String {
        let Output {
            status,
            stdout,
            stderr,
        } = self.agon(args).output().expect("it runs");
        let text = String::from_utf8_lossy(&stdout).into_owned();
        assert!(
            status.success(),
            "{args:?}: {text}{}",
            String::from_utf8_lossy(&stderr)
        );
        text
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_match_is_recorded_and_shown_as_a_role_saw_it() {
    let folder = Folder::new("record");
    let args = [
        "match",
        "cards.kif",
        "random",
        "mc",
        "--playouts",
        "5",
        "--seed",
        "3",
        "--record",
        "m.json",
    ];
    folder.run(&args);
    let text = fs::read_to_string(folder.0.join("m.json")).expect("it was written");
    let record: MatchRecord = serde_json::from_str(&text).expect("a record");
    let details = record.agon.as_ref().expect("it is ours");
    assert_eq!(details.random.as_deref(), Some("random"));
    assert_eq!(details.percepts.len(), record.moves.len());
    assert_eq!(record.player_names_from_host.len(), 3);
    let verified = folder.run(&["replay", "m.json", "--verify", "--quiet"]);
    assert!(
        verified.contains("valid: the record follows the rules"),
        "{verified}"
    );
    for (role, idx) in [("one", 0), ("two", 2)] {
        let seen = folder.run(&["replay", "m.json", "--as", role]);
        assert_eq!(
            seen.matches("you saw:").count(),
            record.moves.len(),
            "{seen}"
        );
        assert!(!seen.contains("draw"), "chance is hidden: {seen}");
        for (step, row) in record.moves.iter().enumerate() {
            let own = row[idx].trim_matches(['(', ')', ' ']);
            assert!(seen.contains(own), "step {step}: {seen}");
        }
    }
    let unknown = folder
        .agon(&["replay", "m.json", "--as", "three"])
        .output()
        .expect("it runs");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("the roles are: one, random, two"));
}

#[test]
fn the_commands_handle_chance() {
    let folder = Folder::new("commands");
    let shown = folder.run(&["show", "cards.kif"]);
    assert!(
        shown.contains("GDL-II: chance, and roles know only what they see"),
        "{shown}"
    );
    let found = folder.run(&["check", "cards.kif", "--play", "--json"]);
    assert!(
        found.contains("\"ok\":true") && found.contains("\"errors\":[]"),
        "{found}"
    );
    let counted = folder.run(&["perft", "cards.kif", "2", "--json"]);
    // Four draws; then each of the two players guesses one of four cards or peeks.
    assert!(counted.contains("\"counts\":[4,100]"), "{counted}");
    let analysed = folder.run(&["analyse", "cards.kif", "--json", "--games", "50"]);
    assert!(!analysed.contains("\"role\":\"random\""), "{analysed}");
    let rejected = folder
        .agon(&["match", "cards.kif", "mc", "mc", "mc"])
        .output()
        .expect("it runs");
    let error = String::from_utf8_lossy(&rejected.stderr).into_owned();
    assert!(
        error.contains("2 roles besides chance, but 3 players"),
        "{error}"
    );
}

/// A player process, ended with the test.
struct PlayerProcess(Child);

impl Drop for PlayerProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn players_over_http_make_no_fault() {
    let folder = Folder::new("http");
    let ports = [(); 2].map(|()| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a port");
        listener.local_addr().expect("it has one").port()
    });
    let _players = ports.map(|port| {
        let port = port.to_string();
        let mut command = folder.agon(&["player", "--port", &port, "--player", "mc"]);
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        PlayerProcess(command.spawn().expect("it starts"))
    });
    let [one, two] = ports.map(|port| format!("http://127.0.0.1:{port}"));
    for form in ["turn", "short"] {
        let args = [
            "match",
            "cards.kif",
            &one,
            &two,
            "--wait",
            "20",
            "--start-clock",
            "5",
            "--play-clock",
            "1",
            "--percepts",
            form,
            "--json",
            "--quiet",
        ];
        let record: MatchRecord = serde_json::from_str(&folder.run(&args)).expect("a record");
        assert!(record.is_completed);
        let details = record.agon.expect("it is ours");
        assert!(details.faults.is_empty(), "{form}: {:?}", details.faults);
    }
}
