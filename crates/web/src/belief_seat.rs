//! A bot of this server in a game with hidden information. It is told its own moves and its percepts, and nothing else.
//!
//! In: the match, of which it reads no more than a manager would send to its role, and its legal moves, which a role always
//! knows. Out: moves. Its search is not shown to pages: it would tell what the bot knows.

use std::sync::Arc;

use agon_engine::{MoveId, PerceptId, RoleId};
use agon_protocol::{Player, Reply, Request, StopFlag};
use agon_search::{BeliefBot, Decision};

use crate::play::Match;
use crate::queue::NoTurn;
use crate::seat::{
    SeatStatus, answer, bot_seed, effort, present_state, preset, thought, too_busy, wait_for_pace,
    wait_for_turn,
};

/// The player.
pub(crate) struct BeliefSeat {
    of_match: Arc<Match>,
    run: u64,
    role: RoleId,
    player: String,
    bot: Option<Box<dyn BeliefBot>>,
    /// Steps that the bot was told.
    n_followed: usize,
}

impl BeliefSeat {
    pub(crate) fn new(of_match: &Arc<Match>, run: u64, role: RoleId, player: &str) -> BeliefSeat {
        BeliefSeat {
            of_match: Arc::clone(of_match),
            run,
            role,
            player: player.to_owned(),
            bot: None,
            n_followed: 0,
        }
    }

    fn choose(&mut self, stop: &StopFlag) -> Reply {
        let of_match = Arc::clone(&self.of_match);
        let (run, role) = (self.run, self.role);
        if !wait_for_pace(&of_match, run, stop) {
            return Reply::Nil;
        }
        let Some(state) = present_state(&of_match, run) else {
            return Reply::Nil;
        };
        let game = &of_match.entry.game;
        let mut machine = game.machine();
        machine.load(&state);
        let legal = machine.legal_moves(role).to_vec();
        let text = |mv: MoveId| game.move_text(role, mv);
        if let [only] = legal.as_slice() {
            return answer(&text(*only), None);
        }
        let turn = match wait_for_turn(&of_match, run, role, stop) {
            Ok(turn) => turn,
            Err(NoTurn::Full) => return answer(&text(legal[0]), Some(too_busy())),
            Err(NoTurn::Stopped) => return Reply::Nil,
        };
        let decision = self.search(turn.share, stop);
        drop(turn);
        of_match.set_seat(run, role, SeatStatus::Chosen);
        match decision.filter(|decision| legal.contains(&decision.mv)) {
            Some(decision) => {
                let thought = thought(game, role, &decision.report);
                answer(&text(decision.mv), Some(thought))
            }
            None => answer(&text(legal[0]), None),
        }
    }

    fn search(&mut self, share: f64, stop: &StopFlag) -> Option<Decision> {
        let of_match = Arc::clone(&self.of_match);
        let (game, role) = (&of_match.entry.game, self.role);
        if self.bot.is_none() {
            let preset = preset(&of_match.service, game, &self.player).ok()?;
            self.bot = Some(preset.belief_bot(game, role, bot_seed(of_match.seed, role)));
        }
        let steps: Vec<_> = {
            let inner = of_match.lock();
            let known = inner.steps.iter().zip(&inner.states);
            let news = known.skip(self.n_followed);
            news.map(|(step, before)| (step.joint.clone(), before.clone()))
                .collect()
        };
        let bot = self.bot.as_mut()?;
        let mut machine = game.machine();
        for (joint, before) in &steps {
            machine.load(before);
            let percepts: Vec<PerceptId> = machine.percepts(role, joint).to_vec();
            bot.saw(joint.of(role), &percepts);
        }
        self.n_followed += steps.len();
        bot.think(&effort(&of_match, share).limits(stop), &mut |_| {})
    }
}

impl Player for BeliefSeat {
    fn answer(&mut self, request: Request, stop: &StopFlag) -> Reply {
        match request {
            Request::Play { .. } => self.choose(stop),
            Request::Stop { .. } => Reply::Done,
            Request::Abort { .. } => Reply::Aborted,
            Request::Info | Request::Preview { .. } | Request::Start { .. } => Reply::Ready,
        }
    }
}
