//! A bot for hidden information behind the trait of other bots: it is told states and joint moves, and makes use only of what
//! its role sees.
//!
//! A match that is followed from the initial state on is played without any knowledge that the role does not have. If the bot is
//! asked about another state, it begins there: then the role knows that state, and nothing of what comes after.
//!
//! Where nobody knows the joint moves, as in a player behind a wire, the bot is told what its role did and saw, and the state
//! that it is asked about is only a possible one. It begins there as long as what was seen is explained by no history that
//! it finds, and for good once it has missed a step.

use std::sync::Arc;

use agon_engine::{Game, JointMove, Machine, MoveId, PerceptId, RoleId, State};

use super::sit_down;
use crate::belief::{BeliefAccount, Seat};
use crate::belief_bot::BeliefBot;
use crate::bot::Bot;
use crate::decision::Decision;
use crate::limits::{Limits, Meter, StopReason};
use crate::params::Params;
use crate::random::Random;
use crate::report::Report;

/// A belief bot that follows a match.
pub struct OpenBot {
    game: Arc<Game>,
    name: &'static str,
    params: Params,
    seed: u64,
    /// Where the match is, and where it began.
    machine: Box<dyn Machine + Send>,
    start: State,
    /// The joint moves since then.
    past: Vec<JointMove>,
    /// The bot of a role, once that role is asked for.
    bot: Option<Box<dyn BeliefBot>>,
    knowledge: Knowledge,
    random: Random,
}

/// What the bot is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Knowledge {
    /// The joint moves, and states that are true.
    Joint,
    /// What the role did and saw, and states that are possible.
    Own,
    /// States that are possible.
    States,
}

impl OpenBot {
    /// A bot of this name for a game.
    pub(crate) fn new(game: &Arc<Game>, name: &'static str, params: &Params, seed: u64) -> OpenBot {
        OpenBot {
            machine: game.machine(),
            start: game.initial_state().clone(),
            past: Vec::new(),
            bot: None,
            knowledge: Knowledge::Joint,
            random: Random::new(seed),
            game: Arc::clone(game),
            name,
            params: params.clone(),
            seed,
        }
    }

    /// The bot of a role, which has seen what the role has.
    fn sit_down(&mut self, role: RoleId) {
        if self.bot.as_ref().is_some_and(|bot| bot.role() == role) {
            return;
        }
        let seat = Seat {
            game: &self.game,
            role,
            start: &self.start,
            seed: self.seed,
        };
        let mut bot = sit_down(self.name, &seat, &self.params).expect("the name is that of a bot");
        let here = self.machine.state();
        self.machine.load(&self.start);
        for joint in &self.past {
            bot.saw(joint.of(role), self.machine.percepts(role, joint));
            self.machine.advance(joint);
        }
        self.machine.load(&here);
        self.bot = Some(bot);
    }

    /// Goes by what the role did and saw. `None` if nothing explains that.
    fn think_blind(&mut self, limits: &Limits, watch: &mut dyn FnMut(&Report)) -> Option<Decision> {
        let bot = self.bot.as_mut()?;
        let decision = bot.think(limits, watch)?;
        (!bot.account().is_lost).then_some(decision)
    }

    /// Begins in this state, which the role knows.
    fn begin_at(&mut self, state: &State) {
        self.machine.load(state);
        self.start = state.clone();
        self.past.clear();
        self.bot = None;
    }
}

impl Bot for OpenBot {
    fn think(
        &mut self,
        state: &State,
        role: RoleId,
        limits: &Limits,
        watch: &mut dyn FnMut(&Report),
    ) -> Decision {
        if self.knowledge == Knowledge::Own {
            if let Some(decision) = self.think_blind(limits, watch) {
                return decision;
            }
            // What is left of the time goes to the state that the caller holds possible.
            let mut hinted = OpenBot::new(&self.game, self.name, &self.params, self.seed);
            return hinted.think(state, role, limits, watch);
        }
        if self.machine.state() != *state {
            self.begin_at(state);
        }
        let legal = self.machine.legal_moves(role).to_vec();
        let is_chance = self.game.is_gdl2() && self.game.random_role() == Some(role);
        if !is_chance {
            self.sit_down(role);
            let bot = self.bot.as_mut().expect("it sits");
            if let Some(decision) = bot.think(limits, watch)
                && legal.contains(&decision.mv)
            {
                return decision;
            }
        }
        let mv = self.random.pick(&legal);
        let mv = mv.expect("a role that is asked has a legal move");
        Decision::at_once(mv, &Meter::start(limits), StopReason::Done)
    }

    fn belief(&self) -> Option<(BeliefAccount, Vec<(MoveId, f64)>)> {
        let bot = self.bot.as_ref()?;
        Some((bot.account(), bot.distribution().to_vec()))
    }

    fn played(&mut self, joint: &JointMove, next: &State) {
        if let Some(bot) = &mut self.bot {
            let role = bot.role();
            bot.saw(joint.of(role), self.machine.percepts(role, joint));
        }
        self.past.push(joint.clone());
        self.machine.load(next);
    }

    fn saw(&mut self, role: RoleId, own: MoveId, percepts: &[PerceptId]) {
        if self.knowledge == Knowledge::States {
            return;
        }
        self.knowledge = Knowledge::Own;
        self.sit_down(role);
        if let Some(bot) = &mut self.bot {
            bot.saw(own, percepts);
        }
    }

    fn missed(&mut self) {
        self.knowledge = Knowledge::States;
        self.bot = None;
    }
}
