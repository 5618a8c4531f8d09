//! A match between bots of one process: the one loop for everybody but the referee.
//!
//! Roles that have one legal move are not asked. How a bot is asked, and with which limits, is up to the caller, who may also
//! stop the match.

use std::cmp::Ordering;

use agon_engine::{Game, Goal, JointMove, MoveId, RoleId, State};

use crate::bot::Bot;

/// How a match ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MatchEnd {
    /// By the rules.
    Terminal,
    /// A role had no legal move in a state that is not terminal.
    NoLegalMove(RoleId),
    /// It had too many steps.
    StepLimit,
    /// The caller stopped it.
    Stopped,
}

/// A role that is asked for a move.
pub struct Turn<'a> {
    /// The role.
    pub role: RoleId,
    /// The state of the match.
    pub state: &'a State,
    /// Steps so far.
    pub step: u32,
    /// Number of its legal moves, at least two.
    pub n_legal: usize,
}

/// What came of a match.
#[derive(Clone, PartialEq, Debug)]
pub struct MatchOutcome {
    /// How it ended.
    pub end: MatchEnd,
    /// Steps.
    pub steps: u32,
    /// The goal of each role in the last state, if exactly one holds.
    pub goals: Vec<Option<Goal>>,
}

impl MatchOutcome {
    /// The points of the first of two players who share the roles, 1, 0.5 or 0 as its mean goal is higher, equal or lower. `seat` says
    /// whether a role is that of the first (0) or of the second (1). A role without a goal has 0.
    #[must_use]
    pub fn points(&self, seat: impl Fn(usize) -> usize) -> f64 {
        let mean = |who: usize| {
            let goals = self.goals.iter().enumerate();
            let mine: Vec<f64> = goals
                .filter(|(role, _)| seat(*role) == who)
                .map(|(_, goal)| goal.map_or(0.0, |goal| f64::from(goal.value())))
                .collect();
            mine.iter().sum::<f64>() / mine.len().max(1) as f64
        };
        match mean(0).total_cmp(&mean(1)) {
            Ordering::Greater => 1.0,
            Ordering::Equal => 0.5,
            Ordering::Less => 0.0,
        }
    }
}

/// Plays a match from a state on, with one bot per role. `ask` returns the move of a bot that is asked, or `None` to stop the
/// match; `seen` is told every step.
pub fn play_match(
    game: &Game,
    start: &State,
    bots: &mut [Box<dyn Bot>],
    most_steps: u32,
    ask: &mut dyn FnMut(&mut dyn Bot, &Turn<'_>) -> Option<MoveId>,
    seen: &mut dyn FnMut(&JointMove, &State),
) -> MatchOutcome {
    let mut machine = game.machine();
    machine.load(start);
    let mut state = start.clone();
    let mut step = 0;
    let end = 'steps: loop {
        if machine.is_terminal() {
            break MatchEnd::Terminal;
        }
        if step >= most_steps {
            break MatchEnd::StepLimit;
        }
        let mut joint = Vec::with_capacity(bots.len());
        for (role, bot) in RoleId::all(bots.len()).zip(bots.iter_mut()) {
            let mv = match machine.legal_moves(role) {
                [] => break 'steps MatchEnd::NoLegalMove(role),
                [only] => Some(*only),
                moves => {
                    let turn = Turn {
                        role,
                        state: &state,
                        step,
                        n_legal: moves.len(),
                    };
                    ask(&mut **bot, &turn)
                }
            };
            match mv {
                Some(mv) => joint.push(mv),
                None => break 'steps MatchEnd::Stopped,
            }
        }
        let joint = JointMove::new(joint);
        machine.advance(&joint);
        state = machine.state();
        bots.iter_mut().for_each(|bot| bot.played(&joint, &state));
        step += 1;
        seen(&joint, &state);
    };
    let goals = RoleId::all(bots.len()).map(|role| machine.goal(role));
    MatchOutcome {
        end,
        steps: step,
        goals: goals.collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn points_compare_the_goals_of_both() {
        let outcome = |goals: &[i64]| MatchOutcome {
            end: MatchEnd::Terminal,
            steps: 1,
            goals: goals.iter().map(|&goal| Goal::new(goal)).collect(),
        };
        let seat = |role: usize| role % 2;
        assert_eq!(outcome(&[100, 0]).points(seat), 1.0);
        assert_eq!(outcome(&[40, 60, 50]).points(seat), 0.0);
        assert_eq!(outcome(&[50, 50]).points(|role| (role + 1) % 2), 0.5);
    }
    use crate::bots::RandomBot;
    use crate::limits::Limits;

    fn play(sheet: &str, most_steps: u32, stops_at: Option<u32>) -> MatchOutcome {
        let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
        let rules = Arc::new(rules.expect("it is well-formed"));
        let game = Game::compile(rules, &Default::default(), &|| false).expect("it runs");
        let game = Arc::new(game);
        let mut bots: Vec<Box<dyn Bot>> = vec![Box::new(RandomBot::new(Arc::clone(&game), 1))];
        let mut ask = |bot: &mut dyn Bot, turn: &Turn<'_>| {
            assert_eq!(turn.n_legal, 2);
            let limits = Limits::playouts(1);
            let decision = bot.think(turn.state, turn.role, &limits, &mut |_| {});
            (stops_at != Some(turn.step)).then_some(decision.mv)
        };
        let start = game.initial_state();
        play_match(
            &game,
            start,
            &mut bots,
            most_steps,
            &mut ask,
            &mut |_, _| {},
        )
    }

    const COUNT: &str = "(role a) (init (at 0)) (s 0 1) (s 1 2) (s 2 3)
        (legal a x) (legal a y) (<= (next (at ?m)) (true (at ?n)) (s ?n ?m))
        (<= terminal (true (at 3))) (<= (goal a 70) (true (at 3)))";

    #[test]
    fn a_match_ends_by_the_rules_a_limit_or_the_caller() {
        let outcome = play(COUNT, 100, None);
        assert_eq!((outcome.end, outcome.steps), (MatchEnd::Terminal, 3));
        assert_eq!(outcome.goals, [Goal::new(70)]);
        let outcome = play(COUNT, 2, None);
        assert_eq!((outcome.end, outcome.steps), (MatchEnd::StepLimit, 2));
        assert_eq!(outcome.goals, [None]);
        assert_eq!(play(COUNT, 100, Some(1)).end, MatchEnd::Stopped);
        let stuck =
            "(role a) (init x) (<= (legal a m) (true x)) (<= terminal (true y)) (goal a 50)";
        let outcome = play(stuck, 100, None);
        let end = MatchEnd::NoLegalMove(RoleId(0));
        assert_eq!((outcome.end, outcome.steps), (end, 1));
    }
}
