//! Another program plays a game: it loads the rules, plays at random to the end and reads the goals.
//!
//! `cargo run --example play_out`

use std::sync::Arc;

use agon::engine::{Game, RoleId, play_out};
use agon::{games, gdl};
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

pub(crate) fn main() {
    let sheet = games::find("connect_four").expect("it is built in").sheet;
    let rules =
        gdl::check(&gdl::parse(sheet.as_bytes(), &Default::default())).expect("it is sound");
    let game = Game::compile(Arc::new(rules), &Default::default(), &|| false).expect("it plays");
    let mut machine = game.machine();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let playout = play_out(&mut *machine, game.n_roles(), 1000, &mut rng);
    println!(
        "over after {} steps: {:?}",
        playout.steps,
        game.fluents(&machine.state())
    );
    for role in RoleId::all(game.n_roles()) {
        println!("{}: {:?}", game.role_name(role), machine.goal(role));
    }
}
