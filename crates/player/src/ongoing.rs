//! One match from START to STOP: where it stands, and who thinks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_engine::{Game, JointMove, MoveId, RoleId, State};
use agon_protocol::{MatchId, Reply, StopFlag, Term, Thought, WeighedMove};
use agon_search::{Decision, MoveReport, Report};

use crate::clock::{Budget, Deadlines};
use crate::fallback::Fallback;
use crate::game_player::MakeBot;
use crate::thinker::{Silence, Thinker};

/// A bot that failed so often is not tried again in this match.
const MOST_FAILURES: u32 = 3;
/// So many moves of a decision are told.
const MOST_MOVES: usize = 10;

/// A match that the player is in.
pub(crate) struct OngoingMatch {
    begin: Beginning,
    state: State,
    thinker: Option<Thinker>,
    n_failures: u32,
    fallback: Fallback,
}

/// What a match begins with.
pub(crate) struct Beginning {
    // What START said.
    pub(crate) id: MatchId,
    pub(crate) game: Arc<Game>,
    pub(crate) role: RoleId,
    pub(crate) play_clock: Duration,
    // What the player was told.
    pub(crate) budget: Budget,
    pub(crate) margin: Duration,
    pub(crate) seed: u64,
    pub(crate) make_bot: Arc<MakeBot>,
}

impl OngoingMatch {
    /// A match in its initial state; the bot is made at once, while the start clock runs.
    pub(crate) fn new(begin: Beginning) -> OngoingMatch {
        let mut ongoing = OngoingMatch {
            state: begin.game.initial_state().clone(),
            thinker: None,
            n_failures: 0,
            fallback: Fallback::new(begin.seed),
            begin,
        };
        ongoing.thinker = ongoing.start_thinker();
        ongoing
    }

    /// Its name.
    pub(crate) fn id(&self) -> &MatchId {
        &self.begin.id
    }

    #[cfg(test)]
    pub(crate) fn game(&self) -> &Arc<Game> {
        &self.begin.game
    }

    fn start_thinker(&self) -> Option<Thinker> {
        let (make, game) = (
            Arc::clone(&self.begin.make_bot),
            Arc::clone(&self.begin.game),
        );
        // A bot that panicked on a seed gets another one.
        let seed = self
            .begin
            .seed
            .wrapping_add(u64::from(self.n_failures) << 32);
        Thinker::start(move || make(&game, seed))
    }

    /// Answers a PLAY that came at this time.
    pub(crate) fn play(
        &mut self,
        moves: Option<&[Term]>,
        received: Instant,
        stop: &StopFlag,
    ) -> Reply {
        let in_step = moves.is_none_or(|moves| self.apply(moves));
        let mut machine = self.begin.game.machine();
        machine.load(&self.state);
        let legal = machine.legal_moves(self.begin.role);
        let Some(fallback) = self.fallback.draw(legal) else {
            return Reply::Nil;
        };
        let legal = legal.to_vec();
        let (of, mut thought) = match self.decide(&legal, received, stop) {
            Ok(decision) => (decision.of, self.thought(&decision.report)),
            Err(note) => {
                let thought = Thought {
                    note: Some(note),
                    ..Thought::default()
                };
                (fallback, thought)
            }
        };
        if !in_step {
            thought.note = Some("the moves told do not fit: out of step".to_owned());
        }
        let text = self.begin.game.move_text(self.begin.role, of);
        let of = Term::read(&text).map(|of| Reply::Move {
            of,
            thought: Some(thought),
        });
        of.unwrap_or(Reply::Nil)
    }

    /// Goes on by what all roles did; false, and the state stays, if that is no joint move here.
    fn apply(&mut self, moves: &[Term]) -> bool {
        let n_roles = self.begin.game.n_roles();
        if moves.len() != n_roles {
            return false;
        }
        let mut machine = self.begin.game.machine();
        machine.load(&self.state);
        let mut joint = Vec::with_capacity(n_roles);
        for (role, term) in RoleId::all(n_roles).zip(moves) {
            let legal = machine.legal_moves(role).iter();
            match term.pick(legal.map(|&of| (of, self.begin.game.move_text(role, of)))) {
                Some(of) => joint.push(of),
                None => return false,
            }
        }
        let joint = JointMove::new(joint);
        machine.advance(&joint);
        self.state = machine.state();
        if let Some(thinker) = &self.thinker {
            thinker.played(&joint, &self.state);
        }
        true
    }

    /// The bot's decision, or why there is none.
    fn decide(
        &mut self,
        legal: &[MoveId],
        received: Instant,
        stop: &StopFlag,
    ) -> Result<Decision, String> {
        if self.thinker.is_none() && self.n_failures < MOST_FAILURES {
            self.thinker = self.start_thinker();
        }
        let thinker = self.thinker.as_ref();
        let thinker = thinker.ok_or("there is no bot any more: any legal move")?;
        let deadlines = Deadlines::new(received, self.begin.play_clock, self.begin.margin);
        let limits = deadlines.limits(received, self.begin.budget, stop.as_atomic());
        let failure = match thinker.decide(&self.state, self.begin.role, limits, deadlines.answer) {
            Ok(decision) if legal.contains(&decision.of) => return Ok(decision),
            Ok(_) => "the bot chose what is not legal".to_owned(),
            Err(Silence::Panicked(words)) => format!("the bot panicked: {words}"),
            Err(Silence::Late) => "the bot did not answer in time".to_owned(),
        };
        self.thinker = None;
        self.n_failures += 1;
        Err(format!("{failure}: any legal move"))
    }

    fn thought(&self, report: &Report) -> Thought {
        let weighed = |of: &MoveReport| {
            let text = self.begin.game.move_text(self.begin.role, of.of);
            Term::read(&text).ok().map(|term| WeighedMove {
                of: term,
                visits: of.visits,
                mean: of.mean,
            })
        };
        let moves = report.moves.iter().take(MOST_MOVES);
        Thought {
            value: report.value,
            playouts: report.playouts,
            transitions: report.transitions,
            time: report.time,
            stop: report.stop.map(|stop| stop.to_string()),
            moves: moves.filter_map(weighed).collect(),
            note: None,
        }
    }
}
