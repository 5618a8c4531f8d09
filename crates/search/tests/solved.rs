//! Solved states and puzzles: the default player is held against perfect play.

use std::collections::HashMap;
use std::sync::Arc;

use agon_engine::{Game, Goal, JointMove, Machine, MoveId, RoleId, State};
use agon_search::{Limits, Preset};

fn sheet(name: &str) -> Arc<Game> {
    let path = format!("{}/../games/games/{name}.kif", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let rules = agon_gdl::check(&agon_gdl::parse(&text, &Default::default()));
    let rules = Arc::new(rules.unwrap_or_else(|findings| panic!("{findings:?}")));
    Arc::new(Game::compile(rules, &Default::default(), &|| false).expect("it runs"))
}

/// The role that has a choice.
fn mover(game: &Game, machine: &mut dyn Machine) -> RoleId {
    let mut roles = RoleId::all(game.n_roles());
    let chooses = roles.find(|&role| machine.legal_moves(role).len() > 1);
    chooses.unwrap_or(RoleId(0))
}

/// The joint move in which a role makes this move and nobody else has a choice.
fn joint(game: &Game, machine: &mut dyn Machine, role: RoleId, mv: MoveId) -> JointMove {
    let moves = RoleId::all(game.n_roles()).map(|other| match other == role {
        true => mv,
        false => machine.legal_moves(other)[0],
    });
    JointMove::new(moves.collect::<Vec<_>>())
}

/// The state after these moves of the role that has a choice.
fn after(game: &Game, moves: &[String]) -> State {
    let mut machine = game.machine();
    for text in moves {
        let legal = RoleId::all(game.n_roles()).find_map(|role| {
            let moves = machine.legal_moves(role).to_vec();
            let mv = moves
                .into_iter()
                .find(|&mv| game.move_text(role, mv) == *text);
            mv.map(|mv| (role, mv))
        });
        let (role, mv) = legal.unwrap_or_else(|| panic!("{text} is legal"));
        let joint = joint(game, &mut *machine, role, mv);
        machine.advance(&joint);
    }
    machine.state()
}

/// What the first role gets under perfect play.
fn perfect(
    game: &Game,
    machine: &mut dyn Machine,
    state: &State,
    known: &mut HashMap<State, i32>,
) -> i32 {
    if let Some(&value) = known.get(state) {
        return value;
    }
    machine.load(state);
    let value = if machine.is_terminal() {
        i32::from(machine.goal(RoleId(0)).map_or(0, Goal::value))
    } else {
        let role = mover(game, machine);
        let values = children(game, machine, state, role)
            .into_iter()
            .map(|(_, next)| perfect(game, machine, &next, known));
        let values: Vec<i32> = values.collect();
        let best = match role.0 {
            0 => values.iter().max(),
            _ => values.iter().min(),
        };
        *best.expect("there is a move")
    };
    known.insert(state.clone(), value);
    value
}

fn children(
    game: &Game,
    machine: &mut dyn Machine,
    state: &State,
    role: RoleId,
) -> Vec<(MoveId, State)> {
    machine.load(state);
    let moves = machine.legal_moves(role).to_vec();
    let mut children = Vec::new();
    for mv in moves {
        machine.load(state);
        let joint = joint(game, machine, role, mv);
        machine.advance(&joint);
        children.push((mv, machine.state()));
    }
    children
}

/// The player makes a move that gives nothing away.
fn check(game: &Arc<Game>, player: &str, n_playouts: u64, moves: &[String]) {
    let state = after(game, moves);
    let mut machine = game.machine();
    let mut known = HashMap::new();
    let value = perfect(game, &mut *machine, &state, &mut known);
    machine.load(&state);
    let role = mover(game, &mut *machine);
    let children = children(game, &mut *machine, &state, role);
    for seed in 1..=2 {
        let preset = Preset::parse(player).expect("it is a player");
        let mut bot = preset.bot(game, seed);
        let decision = bot.think(&state, role, &Limits::playouts(n_playouts), &mut |_| {});
        let chosen = children.iter().find(|(mv, _)| *mv == decision.mv);
        let (mv, next) = chosen.expect("it is legal");
        let got = perfect(game, &mut *machine, next, &mut known);
        let mv = game.move_text(role, *mv);
        assert_eq!(got, value, "{player}, seed {seed}: {mv} after {moves:?}");
    }
}

fn drops(columns: &str) -> Vec<String> {
    let drop = |column: char| format!("(drop {column})");
    columns.chars().map(drop).collect()
}

/// Late states of Connect Four that solvers are tried on: won, lost and drawn.
const LATE: &[&str] = &[
    "2252576253462244111563365343671351441",
    "7422341735647741166133573473242566",
    "23163416124767223154467471272416755633",
    "65214673556155731566316327373221417",
];

#[test]
fn connect_four_is_played_out_perfectly() {
    let game = sheet("connect_four");
    for columns in LATE {
        for player in ["agon", "cadia-2010"] {
            check(&game, player, 5000, &drops(columns));
        }
        // A few moves earlier there is more to get wrong.
        check(&game, "agon", 10_000, &drops(&columns[..columns.len() - 4]));
    }
}

#[test]
fn nim_keeps_the_sum_at_nothing() {
    let game = sheet("nim");
    let take =
        |heaps: &[&str]| -> Vec<String> { heaps.iter().map(|mv| format!("(take {mv})")).collect() };
    for moves in [
        &["d 1"][..],
        &["c 2"],
        &["b 3", "d 7", "c 1"],
        &["d 4", "b 1", "c 5"],
    ] {
        check(&game, "agon", 20_000, &take(moves));
    }
}

/// A puzzle of each kind; none of them yields to random games alone.
const PUZZLES: &[&str] = &[
    "blocks_world",
    "eight_puzzle",
    "eight_queens",
    "knights_tour",
    "lights_out",
    "missionaries_and_cannibals",
    "peg_solitaire",
    "peg_solitaire_triangle",
    "rush_hour",
    "sokoban",
    "towers_of_hanoi",
    "water_jugs",
    "wolf_goat_cabbage",
];

#[test]
fn puzzles_are_solved() {
    for name in PUZZLES {
        let game = sheet(name);
        let mut bot = Preset::parse("agon").expect("it is a player").bot(&game, 1);
        let mut machine = game.machine();
        while !machine.is_terminal() {
            let limits = Limits::playouts(30_000);
            let decision = bot.think(&machine.state(), RoleId(0), &limits, &mut |_| {});
            let joint = JointMove::new([decision.mv]);
            machine.advance(&joint);
            bot.played(&joint, &machine.state());
        }
        let goal = machine.goal(RoleId(0)).map(Goal::value);
        assert_eq!(goal, Some(100), "{name}");
    }
}
