//! A match between belief bots of one process: each is told only its own moves and percepts.

use agon_engine::{Game, JointMove, MoveId, RoleId};
use std::sync::Arc;

use crate::belief_bot::BeliefBot;
use crate::match_loop::{MatchEnd, MatchOutcome};
use crate::random::Random;

/// Plays a match from the initial state on. There is one bot per role, and none for chance, whose moves are drawn uniformly with
/// this seed. `ask` returns the move of a bot, or `None` to stop the match; a move that is not legal is replaced by
/// the first legal one, and the bot is told. `seen` is told every step.
pub fn play_belief_match(
    game: &Arc<Game>,
    bots: &mut [Option<Box<dyn BeliefBot>>],
    most_steps: u32,
    seed: u64,
    ask: &mut dyn FnMut(&mut dyn BeliefBot) -> Option<MoveId>,
    seen: &mut dyn FnMut(&JointMove),
) -> MatchOutcome {
    let mut machine = game.machine();
    let mut random = Random::new(seed);
    let mut steps = 0;
    let end = 'steps: loop {
        if machine.is_terminal() {
            break MatchEnd::Terminal;
        }
        if steps >= most_steps {
            break MatchEnd::StepLimit;
        }
        let mut joint = Vec::with_capacity(bots.len());
        for (role, bot) in RoleId::all(bots.len()).zip(bots.iter_mut()) {
            let legal = machine.legal_moves(role);
            let mv = match (legal, bot) {
                ([], _) => break 'steps MatchEnd::NoLegalMove(role),
                ([only], _) => *only,
                (_, None) => random.pick(legal).expect("there is one"),
                (_, Some(bot)) => match ask(&mut **bot) {
                    Some(mv) if legal.contains(&mv) => mv,
                    Some(_) => legal[0],
                    None => break 'steps MatchEnd::Stopped,
                },
            };
            joint.push(mv);
        }
        let joint = JointMove::new(joint);
        for (role, bot) in RoleId::all(bots.len()).zip(bots.iter_mut()) {
            if let Some(bot) = bot {
                bot.saw(joint.of(role), machine.percepts(role, &joint));
            }
        }
        machine.advance(&joint);
        steps += 1;
        seen(&joint);
    };
    let goals = RoleId::all(bots.len()).map(|role| machine.goal(role));
    MatchOutcome {
        end,
        steps,
        goals: goals.collect(),
    }
}
