//! A bot of one's own: it takes the first move that ends the match well, and otherwise asks a small search.
//!
//! `cargo run -p agon-search --example my_bot`

use std::sync::Arc;

use agon_engine::{Game, JointMove, RoleId, State};
use agon_search::{Bot, Decision, Limits, Preset, Report};

struct MyBot {
    game: Arc<Game>,
    search: Box<dyn Bot>,
}

impl Bot for MyBot {
    fn think(
        &mut self,
        state: &State,
        role: RoleId,
        limits: &Limits,
        watch: &mut dyn FnMut(&Report),
    ) -> Decision {
        let mut decision = self.search.think(state, role, limits, watch);
        let mut machine = self.game.machine();
        machine.load(state);
        let joints = machine.legal_moves(role).to_vec().into_iter().map(|of| {
            let other = |other: RoleId, machine: &mut dyn agon_engine::Machine| {
                machine.legal_moves(other)[0]
            };
            let moves = RoleId::all(self.game.n_roles());
            let moves: Vec<_> = moves
                .map(|r| {
                    if r == role {
                        of
                    } else {
                        other(r, &mut *machine)
                    }
                })
                .collect();
            JointMove::new(moves)
        });
        for joint in joints.collect::<Vec<_>>() {
            machine.load(state);
            machine.advance(&joint);
            if machine.is_terminal() && machine.goal(role).is_some_and(|goal| goal.value() == 100) {
                decision.of = joint.of(role);
            }
        }
        decision
    }

    fn played(&mut self, joint: &JointMove, next: &State) {
        self.search.played(joint, next);
    }
}

pub(crate) fn main() {
    let sheet = include_bytes!("../../../games/tic_tac_toe.kif");
    let rules = agon_gdl::check(&agon_gdl::parse(sheet, &Default::default())).expect("it is sound");
    let game =
        Arc::new(Game::compile(Arc::new(rules), &Default::default(), &|| false).expect("it runs"));
    let search = Preset::parse("agon").expect("it is a preset").bot(&game, 1);
    let mut bot = MyBot {
        game: Arc::clone(&game),
        search,
    };
    let decision = bot.think(
        game.initial_state(),
        RoleId(0),
        &Limits::playouts(2000),
        &mut |_| {},
    );
    println!("{}", game.move_text(RoleId(0), decision.of));
}
