//! Keeps one match: where it stands, on which engine, and who thinks about it. On a thread of its own.
//!
//! In: [`Command`]s from one inbox: questions of the manager, games that are compiled, opinions of the bot. Out: to whoever
//! asked, first a legal move that is in hand, then better ones as the bot thinks, then what it decides. The keeper itself
//! never waits for anything but its inbox and the engine, so that a move is in hand as soon as the engine can tell one.
//!
//! A match begins on whichever engine is ready first. When a better one comes later, the moves so far are played again on
//! it, and a new bot goes on where the match stands. Between questions the bot may go on thinking about the state it knows,
//! until it is told to stop: a tree that grows there is not lost when the match goes on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use agon_engine::{Game, Machine, MoveId, RoleId, State};
use agon_protocol::{Rules, StopFlag, Term, Thought};
use agon_search::{Decision, Limits, Report};

use crate::clock::{LONGEST, Overrun};
use crate::compile::{BLINK, Compiled, Grade, PATIENCE, compile_interpreters, compile_network};
use crate::fallback::Fallback;
use crate::game_player::MakeBot;
use crate::spelling::{joint_move, term, thought};
use crate::thinker::{Opinion, Thinker, Token, View};

/// A bot that failed so often is not tried again in this match.
const MOST_FAILURES: u32 = 3;
/// A bot that let so many questions pass without coming back from the first one will not come back: it failed.
const MOST_MISSED: u32 = 2;
/// Nobody ponders for longer than two clocks and this: the manager is gone.
const PONDER: Duration = Duration::from_secs(10);

/// What a match begins with.
pub(crate) struct Beginning {
    // What START said.
    pub(crate) rules: Arc<Rules>,
    pub(crate) role: RoleId,
    pub(crate) received: Instant,
    pub(crate) start_clock: Duration,
    pub(crate) play_clock: Duration,
    // What the player was told.
    pub(crate) known: Option<Arc<Game>>,
    pub(crate) seed: u64,
    pub(crate) make_bot: Arc<MakeBot>,
    pub(crate) ponders: bool,
    pub(crate) overrun: Overrun,
}

/// What the keeper is told.
pub(crate) enum Command {
    /// A game is ready, or will never be.
    Compiled(Compiled),
    /// The manager wants a move.
    Play(Question),
    /// The bot has thought.
    Opinion(Opinion),
    /// The match is over for us.
    End,
}

/// The manager wants a move.
pub(crate) struct Question {
    /// What everybody did last.
    pub(crate) moves: Option<Vec<Term>>,
    /// What the bot may spend.
    pub(crate) limits: Limits,
    /// Who asks.
    pub(crate) asker: Sender<Progress>,
}

/// What whoever asks is told.
#[derive(Debug)]
pub(crate) enum Progress {
    /// The best engine that can be had is ready.
    Prepared,
    /// No engine can run the game.
    Refused,
    /// A legal move; the last one told is the best.
    InHand(InHand),
    /// The decision.
    Decided(Term, Thought),
    /// There is no legal move.
    NoMove,
}

/// A legal move that can be told at any time.
#[derive(Clone, Debug)]
pub(crate) struct InHand {
    pub(crate) of: Term,
    /// Whether the bot has begun to think about it.
    pub(crate) is_thought: bool,
}

impl InHand {
    /// What it is, for those who wonder.
    pub(crate) fn words(&self) -> &'static str {
        match self.is_thought {
            true => "its best move so far",
            false => "any legal move",
        }
    }
}

/// Keeps a match until it is told to end.
pub(crate) fn keep(
    begin: Beginning,
    starter: Sender<Progress>,
    outbox: Sender<Command>,
    inbox: &Receiver<Command>,
    stop: &StopFlag,
    token: Token,
) {
    let mut keeper = Keeper {
        fallback: Fallback::new(begin.seed),
        begin,
        outbox,
        starter,
        token,
        n_compiling: 0,
        is_outdone: StopFlag::new(),
        is_prepared: false,
        position: None,
        history: Vec::new(),
        waiting: None,
        asked: None,
        thinker: None,
        n_failures: 0,
        n_missed: 0,
        number: 0,
        pondering: None,
    };
    // A panic of an engine ends the keeper; whoever asks finds nobody and says what was in hand.
    let _ = catch_unwind(AssertUnwindSafe(|| keeper.run(inbox, stop)));
    keeper.is_outdone.raise();
    keeper.stop_pondering();
}

struct Keeper {
    // Constant during the match.
    begin: Beginning,
    outbox: Sender<Command>,
    starter: Sender<Progress>,
    token: Token,
    // Where it stands.
    n_compiling: usize,
    /// Raised when there is nothing left to be compiled for.
    is_outdone: StopFlag,
    is_prepared: bool,
    position: Option<Position>,
    history: Vec<Vec<Term>>,
    // What the manager wants to know.
    waiting: Option<Question>,
    asked: Option<Asked>,
    // Who thinks.
    thinker: Option<Thinker>,
    n_failures: u32,
    /// Questions that came while it was busy with an earlier one.
    n_missed: u32,
    number: u64,
    pondering: Option<Pondering>,
    fallback: Fallback,
}

/// The bot thinks for itself.
struct Pondering {
    stop: StopFlag,
    /// Nobody will ask any more.
    until: Instant,
}

/// A state on an engine.
struct Position {
    grade: Grade,
    game: Arc<Game>,
    machine: Box<dyn Machine + Send>,
}

/// A question that the bot thinks about.
struct Asked {
    question: Question,
    legal: Vec<MoveId>,
    in_hand: InHand,
    is_in_step: bool,
}

impl Keeper {
    /// Works until it is told to end.
    fn run(&mut self, inbox: &Receiver<Command>, stop: &StopFlag) {
        if !self.prepare(inbox, stop) {
            return;
        }
        loop {
            let until = self.pondering.as_ref().map(|pondering| pondering.until);
            let command = match until {
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(until) => inbox.recv_timeout(until.saturating_duration_since(Instant::now())),
            };
            let goes_on = match command {
                Ok(command) => self.take(command),
                Err(RecvTimeoutError::Timeout) => {
                    self.stop_pondering();
                    true
                }
                Err(RecvTimeoutError::Disconnected) => false,
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Starts the engines; false if the match is over already.
    fn prepare(&mut self, inbox: &Receiver<Command>, stop: &StopFlag) -> bool {
        if let Some(game) = self.begin.known.take() {
            let has_network = game.grounded().is_some();
            let grade = [Grade::Planned, Grade::Network][usize::from(has_network)];
            self.enter(grade, game);
            self.be_prepared();
            return true;
        }
        let clock = self.begin.start_clock.max(PATIENCE).min(LONGEST);
        self.n_compiling = Grade::ALL.len();
        let until = self.begin.received + clock;
        compile_network(&self.begin.rules, until, stop, self.report());
        let goes_on = match inbox.recv_timeout(BLINK) {
            Ok(command) => self.take(command),
            Err(_) => true,
        };
        if goes_on && !self.has_network() {
            compile_interpreters(&self.begin.rules, &self.is_outdone, self.report());
        }
        goes_on
    }

    fn report(&self) -> impl Fn(Compiled) + Send + 'static {
        let outbox = self.outbox.clone();
        move |compiled| {
            // Nobody listens once the match is over.
            let _ = outbox.send(Command::Compiled(compiled));
        }
    }

    /// Deals with a command; false at the end.
    fn take(&mut self, command: Command) -> bool {
        match command {
            Command::Compiled(compiled) => self.compiled(compiled),
            Command::Play(question) => self.play(question),
            Command::Opinion(opinion) => self.hear(opinion),
            Command::End => return false,
        }
        true
    }

    /// An engine is ready: the first one, or one that is better than the one at hand.
    fn compiled(&mut self, compiled: Compiled) {
        self.n_compiling = self.n_compiling.saturating_sub(1);
        let at_hand = self.position.as_ref().map(|position| position.grade);
        let grade = compiled.grade;
        if let Some(game) = compiled.game.ok().filter(|_| Some(grade) > at_hand) {
            self.enter(grade, game);
        }
        if self.has_network() || self.n_compiling == 0 {
            self.be_prepared();
        }
        if let Some(question) = self.waiting.take_if(|_| self.position.is_some()) {
            self.play(question);
        }
    }

    fn has_network(&self) -> bool {
        let position = self.position.as_ref();
        position.is_some_and(|position| position.grade == Grade::Network)
    }

    /// There will be no better engine than the one at hand.
    fn be_prepared(&mut self) {
        if std::mem::replace(&mut self.is_prepared, true) {
            return;
        }
        // Nobody listens after the start clock.
        let _ = match self.position {
            Some(_) => self.starter.send(Progress::Prepared),
            None => self.starter.send(Progress::Refused),
        };
        if self.asked.is_none() {
            self.ponder();
        }
    }

    /// Takes the match to an engine: plays its moves again and goes on there.
    fn enter(&mut self, grade: Grade, game: Arc<Game>) {
        let mut machine = game.machine();
        for moves in &self.history {
            match joint_move(&game, &mut *machine, moves) {
                Some(joint) => machine.advance(&joint),
                // Engines that differ: the one at hand has been right so far.
                None => return,
            }
        }
        // Asked now, so that a move is in hand at once when the manager wants one.
        machine.legal_moves(self.begin.role);
        self.position = Some(Position {
            grade,
            game,
            machine,
        });
        if grade == Grade::Network {
            self.is_outdone.raise();
        }
        self.stop_pondering();
        self.thinker = self.start_thinker();
        if let Some(asked) = self.asked.take() {
            self.consider(asked.question, asked.is_in_step, Some(asked.in_hand));
        }
    }

    fn start_thinker(&self) -> Option<Thinker> {
        let make = Arc::clone(&self.begin.make_bot);
        let game = Arc::clone(&self.position.as_ref()?.game);
        // A bot that panicked on a seed gets another one.
        let failures = u64::from(self.n_failures) << 32;
        let seed = self.begin.seed.wrapping_add(failures);
        let outbox = self.outbox.clone();
        let tell = move |opinion| {
            let _ = outbox.send(Command::Opinion(opinion));
        };
        Thinker::start(move || make(&game, seed), tell, self.token.clone())
    }

    /// The manager wants a move.
    fn play(&mut self, mut question: Question) {
        self.stop_pondering();
        if self.asked.take().is_some() {
            // The bot has not even come back from the question before. It may just be slow.
            self.n_missed += 1;
            if self.n_missed >= MOST_MISSED {
                self.fail();
            }
        }
        if self.position.is_none() {
            self.waiting = Some(question);
            return;
        }
        let moves = question.moves.take();
        let is_in_step = moves.is_none_or(|moves| self.apply(moves));
        self.consider(question, is_in_step, None);
    }

    /// Goes on by what all roles did; false, and the state stays, if that is no joint move here.
    fn apply(&mut self, moves: Vec<Term>) -> bool {
        let Some(Position { game, machine, .. }) = &mut self.position else {
            return false;
        };
        let Some(joint) = joint_move(game, &mut **machine, &moves) else {
            return false;
        };
        machine.advance(&joint);
        if let Some(thinker) = &self.thinker {
            thinker.played(&joint, &machine.state());
        }
        self.history.push(moves);
        true
    }

    /// Takes a legal move in hand, unless there is one, and asks the bot.
    fn consider(&mut self, question: Question, is_in_step: bool, in_hand: Option<InHand>) {
        let Some(Position { game, machine, .. }) = &mut self.position else {
            return;
        };
        let role = self.begin.role;
        let legal = machine.legal_moves(role).to_vec();
        let any = self
            .fallback
            .draw(&legal)
            .and_then(|of| term(game, role, of));
        let any = any.map(|of| InHand {
            of,
            is_thought: false,
        });
        let Some(in_hand) = in_hand.or(any) else {
            if self.n_compiling > 0 {
                // Perhaps it is too much for this engine, and not for the next one.
                self.waiting = Some(question);
            } else {
                let _ = question.asker.send(Progress::NoMove);
            }
            return;
        };
        let _ = question.asker.send(Progress::InHand(in_hand.clone()));
        let state = machine.state();
        let limits = question.limits.clone();
        let number = self.next_number();
        self.asked = Some(Asked {
            question,
            legal,
            in_hand,
            is_in_step,
        });
        if !self.ask_bot(number, &state, limits) {
            self.settle(Err("there is no bot any more".to_owned()));
        }
    }

    fn next_number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    fn ask_bot(&mut self, number: u64, state: &State, limits: Limits) -> bool {
        if self.thinker.is_none() && self.n_failures < MOST_FAILURES {
            self.thinker = self.start_thinker();
        }
        let role = self.begin.role;
        let thinker = self.thinker.as_ref();
        thinker.is_some_and(|thinker| thinker.think(number, state, role, limits))
    }

    /// The bot has thought: about the question, or for itself, or about something long past.
    fn hear(&mut self, opinion: Opinion) {
        self.n_missed = 0;
        if opinion.number != self.number {
            return;
        }
        let decision = match opinion.view {
            View::Leaning(of) => return self.lean(of),
            View::Decided(decision) => Ok(decision),
            View::Failed(words) => Err(format!("the bot panicked: {words}")),
        };
        self.pondering = None;
        let Some(asked) = &self.asked else {
            if decision.is_err() {
                self.fail();
            }
            return;
        };
        let is_legal = |decision: &Decision| asked.legal.contains(&decision.of);
        let decision = decision.and_then(|decision| match is_legal(&decision) {
            true => Ok(decision),
            false => Err("the bot chose what is not legal".to_owned()),
        });
        if decision.is_err() {
            self.fail();
        }
        let goes_on = decision.is_ok();
        self.settle(decision.map(|decision| (decision.of, decision.report)));
        if goes_on {
            self.ponder();
        }
    }

    /// The bot is still at it and likes this move best so far.
    fn lean(&mut self, of: MoveId) {
        let (Some(asked), Some(position)) = (&mut self.asked, &self.position) else {
            return;
        };
        if !asked.legal.contains(&of) {
            return;
        }
        let Some(of) = term(&position.game, self.begin.role, of) else {
            return;
        };
        asked.in_hand = InHand {
            of,
            is_thought: true,
        };
        let in_hand = Progress::InHand(asked.in_hand.clone());
        // Whoever asked may have had to go.
        let _ = asked.question.asker.send(in_hand);
    }

    fn fail(&mut self) {
        self.thinker = None;
        self.n_missed = 0;
        self.n_failures += 1;
    }

    /// Answers the question.
    fn settle(&mut self, decision: Result<(MoveId, Report), String>) {
        let (Some(asked), Some(position)) = (self.asked.take(), &self.position) else {
            return;
        };
        let (game, role) = (&position.game, self.begin.role);
        let (of, mut thought) = match decision {
            Ok((of, report)) => {
                self.measure(&asked.question.limits);
                let of = term(game, role, of);
                (of.unwrap_or(asked.in_hand.of), thought(game, role, &report))
            }
            Err(failure) => {
                let note = Some(format!("{failure}: {}", asked.in_hand.words()));
                let thought = Thought {
                    note,
                    ..Thought::default()
                };
                (asked.in_hand.of, thought)
            }
        };
        if !asked.is_in_step {
            thought.note = Some("the moves told do not fit: out of step".to_owned());
        }
        // Whoever asked may have had to go.
        let _ = asked.question.asker.send(Progress::Decided(of, thought));
    }

    fn measure(&self, limits: &Limits) {
        let overrun = limits
            .deadline
            .map(|deadline| Instant::now().saturating_duration_since(deadline));
        self.begin.overrun.measure(overrun.unwrap_or_default());
    }

    /// Lets the bot think until the next question, if that is wanted and nobody needs the processor more.
    fn ponder(&mut self) {
        let Some(position) = self.position.as_mut().filter(|_| self.is_prepared) else {
            return;
        };
        if !self.begin.ponders {
            return;
        }
        // Whoever has nothing to choose, or nothing more to do, has nothing to ponder.
        let is_over = position.machine.is_terminal();
        if is_over || position.machine.legal_moves(self.begin.role).is_empty() {
            return;
        }
        let stop = StopFlag::new();
        // No deadline: a bot that is only told when to stop knows that it uses the time of others.
        let limits = Limits {
            stop: Some(Arc::clone(stop.as_atomic())),
            ..Limits::default()
        };
        let state = position.machine.state();
        let most = self.begin.play_clock.min(LONGEST / 4) * 2 + PONDER;
        let until = Instant::now() + most;
        self.pondering = Some(Pondering { stop, until });
        let number = self.next_number();
        self.ask_bot(number, &state, limits);
    }

    fn stop_pondering(&mut self) {
        if let Some(pondering) = self.pondering.take() {
            pondering.stop.raise();
        }
    }
}

#[cfg(test)]
mod tests;
