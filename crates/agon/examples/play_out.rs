//! Another program plays a game: it loads the rules, makes random moves to the end, draws the board and reads the goals.
//!
//! ```console
//! $ cargo run --example play_out
//! ```

use agon::engine::{Goal, JointMove, MoveId};
use agon::games::{self, board};
use agon::search::Random;

pub(crate) fn main() {
    let built_in = games::find("connect_four").expect("it is built in");
    let game = built_in.compile();
    let mut machine = game.machine();
    let mut random = Random::new(1);
    let mut n_steps = 0;
    while !machine.is_terminal() {
        let moves = game.roles().map(|role| {
            let mv = random.pick(machine.legal_moves(role));
            mv.expect("every role has a legal move")
        });
        let moves: Vec<MoveId> = moves.collect();
        machine.advance(&JointMove::new(moves));
        n_steps += 1;
    }
    println!("over after {n_steps} steps");
    if let Some(board) = board::board_of(&game, Some(&built_in.about)) {
        print!("{}", board::board_text(&game, &board, &machine.state()));
    }
    for role in game.roles() {
        let goal = machine.goal(role).map_or(0, Goal::value);
        println!("{}: {goal}", game.role_name(role));
    }
}
