//! A bot of one's own: it makes the move after which the other role has the fewest moves.
//!
//! `cargo run -p agon-search --example my_bot`

use std::sync::Arc;

use agon_engine::{Game, Goal, JointMove, MoveId, RoleId, State};
use agon_search::{Bot, Decision, Limits, Preset, Report};

struct MyBot(Arc<Game>);

impl Bot for MyBot {
    fn think(
        &mut self,
        state: &State,
        role: RoleId,
        limits: &Limits,
        watch: &mut dyn FnMut(&Report),
    ) -> Decision {
        let mut machine = self.0.machine();
        machine.load(state);
        let other = RoleId(1 - role.0);
        let noop = machine.legal_moves(other)[0];
        let room = |&mv: &MoveId| {
            let joint = if role.0 == 0 { [mv, noop] } else { [noop, mv] };
            machine.load(state);
            machine.advance(&JointMove::new(joint));
            (!machine.is_terminal(), machine.legal_moves(other).len())
        };
        // Any bot will do to begin with: it gives a decision whose move can be changed.
        let any = Preset::parse("legal").expect("it is a preset");
        let mut decision = any.bot(&self.0, 1).think(state, role, limits, watch);
        let mut moves = self.0.machine();
        moves.load(state);
        let best = moves.legal_moves(role).iter().copied().min_by_key(room);
        decision.mv = best.unwrap_or(decision.mv);
        decision
    }

    fn played(&mut self, _joint: &JointMove, _next: &State) {}
}

/// Plays a match of Othello against a random player and tells how it ended.
pub(crate) fn main() {
    let sheet = include_bytes!("../../games/games/othello_6x6.kif");
    let rules = agon_gdl::check(&agon_gdl::parse(sheet, &Default::default())).expect("it is sound");
    let game = Game::compile(Arc::new(rules), &Default::default(), &|| false).expect("it runs");
    let game = Arc::new(game);
    let random = Preset::parse("random").expect("it is a preset");
    let mut bots: [Box<dyn Bot>; 2] = [Box::new(MyBot(Arc::clone(&game))), random.bot(&game, 1)];
    let mut machine = game.machine();
    while !machine.is_terminal() {
        let state = machine.state();
        let roles = RoleId::all(2).zip(&mut bots);
        let moves = roles.map(|(role, bot)| {
            bot.think(&state, role, &Limits::playouts(1), &mut |_| {})
                .mv
        });
        let joint = JointMove::new(moves.collect::<Vec<_>>());
        machine.advance(&joint);
    }
    for role in RoleId::all(2) {
        let goal = machine.goal(role).map(Goal::value);
        println!("{} {}", game.role_name(role), goal.unwrap_or_default());
    }
}
