//! Heuristics from the rules at work in a search.

use std::sync::Arc;

use agon_engine::{Game, JointMove, RoleId, State};
use agon_search::{Account, HeuristicAccount, Limits, Preset, TechniqueAccount};

const TIC_TAC_TOE: &str = include_str!("../../games/games/tic_tac_toe.kif");
const BIDDING: &str = include_str!("../../games/games/bidding_tic_tac_toe.kif");

fn compile(sheet: &str) -> Arc<Game> {
    let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
    let game = Game::compile(Arc::new(rules.unwrap()), &Default::default(), &|| false);
    Arc::new(game.unwrap())
}

/// The state after these joint moves.
fn state(game: &Game, moves: &[[&str; 2]]) -> State {
    let mut machine = game.machine();
    for joint in moves {
        let roles = RoleId::all(2).zip(joint);
        let moves = roles.map(|(role, text)| game.find_move(role, text).expect("it is a move"));
        machine.advance(&JointMove::new(moves.collect::<Vec<_>>()));
    }
    machine.state()
}

/// What a player chooses for the first role after this number of playouts, and its account.
fn search(game: &Arc<Game>, player: &str, state: &State, playouts: u64) -> (String, Account) {
    let mut bot = Preset::parse(player).expect("it is a player").bot(game, 7);
    let limits = Limits::playouts(playouts);
    let decision = bot.think(state, RoleId(0), &limits, &mut |_| {});
    let account = bot.account().expect("it keeps a tree");
    (game.move_text(RoleId(0), decision.mv), account)
}

/// What the heuristic did.
fn heuristic(account: &Account) -> HeuristicAccount {
    let found = account.techniques.iter().find_map(|part| match part {
        TechniqueAccount::Heuristic(heuristic) => Some(heuristic.clone()),
        _ => None,
    });
    found.expect("it says something")
}

const PLAYERS: [&str; 6] = [
    "heuristic-playout",
    "heuristic-tree",
    "heuristic-combined",
    "heuristic-playout-mast",
    "heuristic-tree-rave",
    "heuristic-combined-mast-rave",
];

#[test]
fn every_use_finds_the_win_and_tells_what_it_did() {
    let game = compile(TIC_TAC_TOE);
    let state = state(
        &game,
        &[
            ["(mark 1 1)", "wait"],
            ["wait", "(mark 1 2)"],
            ["(mark 2 2)", "wait"],
            ["wait", "(mark 1 3)"],
        ],
    );
    for player in PLAYERS {
        let (mv, account) = search(&game, player, &state, 200);
        assert_eq!(mv, "(mark 3 3)", "{player}");
        let heuristic = heuristic(&account);
        assert!(heuristic.gates.is_ok_and(|gates| gates > 0), "{player}");
        assert!(
            heuristic.states > 0 && heuristic.ns_per_state > 0.0,
            "{player}"
        );
        let value = |text: &str| {
            let mv = game.find_move(RoleId(0), text);
            let found = account.roles[0].iter().find(|one| Some(one.mv) == mv);
            found
                .and_then(|found| found.heuristic)
                .expect("it has a value")
        };
        assert!(value("(mark 3 3)") > 0.9 && value("(mark 2 1)") < 0.1);
    }
}

#[test]
fn the_same_seed_gives_the_same_tree() {
    let game = compile(BIDDING);
    for player in PLAYERS {
        let run = || search(&game, player, game.initial_state(), 300);
        let ((one, first), (other, second)) = (run(), run());
        assert_eq!(one, other);
        assert_eq!(first.roles, second.roles, "{player}");
        assert_eq!(first.line, second.line, "{player}");
    }
}

#[test]
fn the_heuristic_changes_the_tree_and_only_if_it_is_on() {
    let game = compile(TIC_TAC_TOE);
    let visits = |player: &str| {
        let (_, account) = search(&game, player, game.initial_state(), 300);
        let moves = account.roles[0].iter();
        let mut visits: Vec<_> = moves.map(|found| (found.mv, found.visits)).collect();
        visits.sort_unstable();
        visits
    };
    let plain = visits("trutman-uct");
    assert_eq!(plain, visits("heuristic-tree:heuristic=off"));
    for player in ["heuristic-playout", "heuristic-tree", "heuristic-combined"] {
        assert_ne!(plain, visits(player), "{player}");
    }
}

#[test]
fn a_game_without_signal_is_played_all_the_same() {
    let sheet = "(role a) (init s) (legal a x) (legal a y) (<= (next t) (true s))
        (<= terminal (true t)) (goal a 100)";
    let game = compile(sheet);
    let (_, account) = search(&game, "heuristic-combined", game.initial_state(), 10);
    let reason = heuristic(&account).gates.expect_err("there are none");
    assert_eq!(reason, "no formula tells one move from another");
}
