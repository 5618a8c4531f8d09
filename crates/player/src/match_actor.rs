//! The match actor: owns the state of one match, its engine and its bot, and runs on its own thread.
//!
//! In: [`Command`]s from one inbox: questions of the manager, compiled games, events of the bot. Out: [`Progress`] for each
//! question: first a legal move, then better candidates as the bot thinks, then its decision. The actor waits only for its
//! inbox and the engine, so that a legal move is known as soon as the engine can compute one.
//!
//! A match starts on the engine that is ready first. Joint moves that arrive before that, or that the current engine cannot
//! follow, are kept. When an engine is ready, the actor plays all moves on it in order and starts a new bot. An engine that
//! has not caught up with the manager never answers. Between questions the bot may ponder: it keeps thinking about the current state until it is told to stop, and
//! its tree is kept when the match goes on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use agon_engine::{Game, JointMove, Machine, MoveId, RoleId, State};
use agon_protocol::{Rules, StopFlag, Term, Thought, Turn};
use agon_search::{Decision, Limits, Report};

use crate::bot_thread::{BotEvent, BotEventKind, BotThread, Token};
use crate::clock::{MAX_DURATION, Overrun};
use crate::compile::{
    Compiled, GROUNDING_TIMEOUT, Grade, INTERPRETER_DELAY, compile_interpreters, compile_network,
};
use crate::fallback::Fallback;
use crate::game_player::MakeBot;
use crate::interrupts::Interrupts;
use crate::possible::{Found, PossibleHistory, Sighting};
use crate::spelling::{as_joint_move, joint_move, term, thought};

/// After this number of failures no bot is started again in this match.
const MAX_FAILURES: u32 = 3;
/// If this number of questions arrive while the bot is still busy with an earlier one, the bot has failed.
const MAX_MISSED: u32 = 2;
/// Pondering ends after two clocks and this time: by then the manager is gone.
const PONDER_GRACE: Duration = Duration::from_secs(10);
/// How long an engine that becomes ready may take to explain what was seen so far.
const EXPLAINING: Duration = Duration::from_millis(100);
/// A manager that claims more steps is not believed.
const MAX_STEPS: usize = 1_000_000;

/// What a match starts with.
pub(crate) struct MatchSetup {
    // From the START message.
    pub(crate) rules: Arc<Rules>,
    pub(crate) role: RoleId,
    pub(crate) received: Instant,
    pub(crate) start_clock: Duration,
    pub(crate) play_clock: Duration,
    // From the settings of the player.
    pub(crate) known: Option<Arc<Game>>,
    pub(crate) seed: u64,
    pub(crate) make_bot: Arc<MakeBot>,
    pub(crate) ponders: bool,
    pub(crate) overrun: Overrun,
}

/// A message to the actor.
pub(crate) enum Command {
    /// A game was compiled, or could not be.
    Compiled(Compiled),
    /// The manager wants a move.
    Play(Question),
    /// News from the bot.
    Bot(BotEvent),
    /// The match is over.
    End,
}

/// A request for a move.
pub(crate) struct Question {
    /// The last joint move, or what the role saw; `None` before the first step.
    pub(crate) moves: Option<Vec<Term>>,
    /// The step of the match, if the manager says it.
    pub(crate) turn: Option<Turn>,
    /// The answer to the last question, if there was one.
    pub(crate) last_answer: Option<Term>,
    /// The limits for the bot.
    pub(crate) limits: Limits,
    /// Where the answers go.
    pub(crate) reply_to: Sender<Progress>,
}

/// An answer to START or to a [`Question`].
#[derive(Debug)]
pub(crate) enum Progress {
    /// The best available engine is ready.
    Prepared,
    /// No engine can run the game.
    Refused,
    /// A legal move. The latest candidate is the best.
    Candidate(Candidate),
    /// The final decision.
    Decided(Term, Thought),
    /// There is no legal move.
    NoMove,
}

/// A legal move that can be answered at any time.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) mv: Term,
    /// Whether the bot proposed it; otherwise it is a fallback move.
    pub(crate) is_searched: bool,
}

impl Candidate {
    /// Where the move comes from, for notes.
    pub(crate) fn describe(&self) -> &'static str {
        match self.is_searched {
            true => "its best move so far",
            false => "a random legal move",
        }
    }
}

/// How an actor and its threads talk to each other and to the match handle.
pub(crate) struct Channels {
    /// To the inbox of the actor.
    pub(crate) outbox: Sender<Command>,
    pub(crate) start_reply_to: Sender<Progress>,
    pub(crate) token: Token,
    pub(crate) interrupts: Interrupts,
}

/// Runs a match until [`Command::End`].
pub(crate) fn run(
    setup: MatchSetup,
    channels: Channels,
    inbox: &Receiver<Command>,
    stop: &StopFlag,
) {
    let mut actor = MatchActor::new(setup, channels);
    // A panic of an engine ends the actor. The match handle then answers with the last candidate.
    let _ = catch_unwind(AssertUnwindSafe(|| actor.run(inbox, stop)));
    actor.stop_interpreters.raise();
    actor.stop_pondering();
}

struct MatchActor {
    // Constant during the match.
    setup: MatchSetup,
    channels: Channels,
    // Engine and state.
    n_compiling: usize,
    /// Raised when interpreters are no longer needed.
    stop_interpreters: StopFlag,
    is_prepared: bool,
    position: Option<Position>,
    /// The steps of the match, in the order in which they were received.
    history: Vec<Step>,
    /// Number of questions so far.
    n_questions: usize,
    /// Whether all moves that came with the last question are legal.
    is_in_step: bool,
    // Open questions.
    /// The latest question, if no engine can answer it yet.
    waiting: Option<Question>,
    asked: Option<Asked>,
    // The bot.
    bot_thread: Option<BotThread>,
    /// Steps that the bot was told of, in GDL-II.
    n_told: usize,
    n_failures: u32,
    /// Questions that arrived while the bot was busy with an earlier one.
    n_missed: u32,
    number: u64,
    pondering: Option<Pondering>,
    fallback: Fallback,
}

/// The bot is pondering.
struct Pondering {
    stop: StopFlag,
    /// When to stop pondering because no further question is expected.
    until: Instant,
}

/// A step of the match.
#[derive(Clone, Debug)]
enum Step {
    /// The joint move.
    Joint(Vec<Term>),
    /// What the role did and saw, in GDL-II.
    Seen(Sighting),
}

/// The current state on an engine. In GDL-II it is a possible one.
struct Position {
    grade: Grade,
    game: Arc<Game>,
    machine: Box<dyn Machine + Send>,
    /// The number of steps of the match that were played on it.
    n_played: usize,
    /// A history that explains what the role saw, in GDL-II.
    possible: Option<PossibleHistory>,
    /// Whether the state is a guess, because no such history was found.
    is_guess: bool,
}

/// Why a position cannot follow the moves of a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stuck {
    /// A move is not legal.
    Illegal,
    /// The engine has reached its limits, or was interrupted.
    Fault,
}

impl Position {
    /// Plays the joint moves that it has not played yet, in order.
    fn follow(
        &mut self,
        history: &[Step],
        until: Option<Instant>,
        mut played: impl FnMut(&JointMove, &State),
    ) -> Result<(), Stuck> {
        if self.possible.is_some() {
            return self.explain(history, until);
        }
        let machine = &mut *self.machine;
        // Earlier faults do not matter here.
        machine.take_fault();
        while let Some(Step::Joint(moves)) = history.get(self.n_played) {
            let before = machine.state();
            let joint = joint_move(&self.game, machine, moves);
            if let Some(joint) = &joint {
                machine.advance(joint);
            }
            if machine.take_fault().is_some() {
                machine.load(&before);
                return Err(Stuck::Fault);
            }
            played(&joint.ok_or(Stuck::Illegal)?, &machine.state());
            self.n_played += 1;
        }
        Ok(())
    }
}

impl Position {
    /// Finds a state that explains what the role saw. If there is none, or not in time, the state is a guess.
    fn explain(&mut self, history: &[Step], until: Option<Instant>) -> Result<(), Stuck> {
        let Some(possible) = &mut self.possible else {
            return Ok(());
        };
        for step in &history[possible.n_steps().min(history.len())..] {
            if let Step::Seen(sighting) = step {
                possible.observe(&self.game, sighting);
            }
        }
        self.n_played = possible.n_steps();
        let found = possible.search(&self.game, &mut *self.machine, until);
        self.is_guess = found != Found::Possible;
        match found {
            Found::Possible | Found::Contradiction | Found::OutOfTime => Ok(()),
            Found::Fault => Err(Stuck::Fault),
        }
    }
}

/// A question that the bot is thinking about.
struct Asked {
    question: Question,
    legal: Vec<MoveId>,
    candidate: Candidate,
}

impl MatchActor {
    fn new(setup: MatchSetup, channels: Channels) -> MatchActor {
        MatchActor {
            fallback: Fallback::new(setup.seed),
            setup,
            channels,
            n_compiling: 0,
            stop_interpreters: StopFlag::new(),
            is_prepared: false,
            position: None,
            history: Vec::new(),
            n_questions: 0,
            is_in_step: true,
            waiting: None,
            asked: None,
            bot_thread: None,
            n_told: 0,
            n_failures: 0,
            n_missed: 0,
            number: 0,
            pondering: None,
        }
    }

    /// Handles commands until the end of the match.
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
                Ok(command) => self.handle(command),
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

    /// Starts to compile the engines. Returns false if the match is already over.
    fn prepare(&mut self, inbox: &Receiver<Command>, stop: &StopFlag) -> bool {
        if let Some(game) = self.setup.known.take() {
            let has_network = game.grounded().is_some();
            let grade = [Grade::Planned, Grade::Network][usize::from(has_network)];
            self.switch_engine(grade, game);
            self.finish_preparing();
            return true;
        }
        let clock = self
            .setup
            .start_clock
            .max(GROUNDING_TIMEOUT)
            .min(MAX_DURATION);
        self.n_compiling = Grade::ALL.len();
        let until = self.setup.received + clock;
        let (rules, token) = (&self.setup.rules, &self.channels.token);
        compile_network(rules, until, stop, token.clone(), self.report());
        let goes_on = match inbox.recv_timeout(INTERPRETER_DELAY) {
            Ok(command) => self.handle(command),
            Err(_) => true,
        };
        if goes_on && !self.has_network() {
            let (rules, token) = (&self.setup.rules, self.channels.token.clone());
            let needless = &self.stop_interpreters;
            compile_interpreters(rules, needless, stop, token, self.report());
        }
        goes_on
    }

    fn report(&self) -> impl Fn(Compiled) + Send + 'static {
        let (outbox, interrupts) = (
            self.channels.outbox.clone(),
            self.channels.interrupts.clone(),
        );
        move |compiled: Compiled| {
            if compiled.game.is_ok() {
                interrupts.announce_engine();
            }
            // The receiver is gone once the match is over.
            let _ = outbox.send(Command::Compiled(compiled));
        }
    }

    /// Handles a command. Returns false at the end of the match.
    fn handle(&mut self, command: Command) -> bool {
        match command {
            Command::Compiled(compiled) => {
                if compiled.game.is_ok() {
                    self.channels.interrupts.receive_engine();
                }
                self.compiled(compiled);
            }
            Command::Play(question) => {
                self.channels.interrupts.receive_question();
                self.play(question);
            }
            Command::Bot(event) => self.on_bot_event(event),
            Command::End => return false,
        }
        true
    }

    /// Handles a finished compilation. Switches to the new engine if it is better than the current one.
    fn compiled(&mut self, compiled: Compiled) {
        self.n_compiling = self.n_compiling.saturating_sub(1);
        let current = self.position.as_ref().map(|position| position.grade);
        let grade = compiled.grade;
        if let Some(game) = compiled.game.ok().filter(|_| Some(grade) > current) {
            self.switch_engine(grade, game);
        }
        if self.has_network() || self.n_compiling == 0 {
            self.finish_preparing();
        }
        if let Some(question) = self.waiting.take_if(|_| self.position.is_some()) {
            self.ask(question, None);
        }
    }

    fn has_network(&self) -> bool {
        let position = self.position.as_ref();
        position.is_some_and(|position| position.grade == Grade::Network)
    }

    /// Reports that the current engine is the best that will become available.
    fn finish_preparing(&mut self) {
        if std::mem::replace(&mut self.is_prepared, true) {
            return;
        }
        // The receiver is gone after the start clock.
        let _ = match self.position {
            Some(_) => self.channels.start_reply_to.send(Progress::Prepared),
            None => self.channels.start_reply_to.send(Progress::Refused),
        };
        if self.asked.is_none() {
            self.ponder();
        }
    }

    /// Moves the match to an engine: replays its moves there and asks the open question again.
    fn switch_engine(&mut self, grade: Grade, game: Arc<Game>) {
        let interrupts = &self.channels.interrupts;
        let MatchSetup { role, seed, .. } = self.setup;
        let mut position = Position {
            grade,
            machine: game.machine_until(interrupts.stop()),
            possible: game.is_gdl2().then(|| PossibleHistory::new(role, seed)),
            is_guess: false,
            game,
            n_played: 0,
        };
        let n_played = self.position.as_ref().map_or(0, |current| current.n_played);
        let until = Instant::now() + EXPLAINING;
        if position
            .follow(&self.history[..n_played], Some(until), |_, _| {})
            .is_err()
        {
            // The engines disagree, and the current one has been right so far; or an even better one is ready.
            return;
        }
        // Compute the legal moves now, so that a move is known at once when the manager asks for one.
        if n_played == self.history.len() {
            interrupts.yielding(|| _ = position.machine.legal_moves(role));
        }
        self.position = Some(position);
        if grade == Grade::Network {
            self.stop_interpreters.raise();
        }
        self.stop_pondering();
        self.bot_thread = self.start_bot_thread();
        if let Some(asked) = self.asked.take() {
            self.ask(asked.question, Some(asked.candidate));
        }
    }

    fn start_bot_thread(&mut self) -> Option<BotThread> {
        self.n_told = 0;
        let make = Arc::clone(&self.setup.make_bot);
        let game = Arc::clone(&self.position.as_ref()?.game);
        // After a panic the next bot gets another seed.
        let failures = u64::from(self.n_failures) << 32;
        let seed = self.setup.seed.wrapping_add(failures);
        let outbox = self.channels.outbox.clone();
        let tell = move |event| {
            let _ = outbox.send(Command::Bot(event));
        };
        BotThread::start(move || make(&game, seed), tell, self.channels.token.clone())
    }

    /// Handles a request for a move.
    fn play(&mut self, mut question: Question) {
        self.stop_pondering();
        if self.asked.take().is_some() {
            // The bot is still busy with the previous question. It may just be slow.
            self.n_missed += 1;
            if self.n_missed >= MAX_MISSED {
                self.fail();
            }
        }
        // An earlier question that no engine could answer is no longer open, but its moves are kept.
        self.waiting = None;
        self.is_in_step = true;
        self.record_step(&mut question);
        self.n_questions += 1;
        self.ask(question, None);
    }

    /// Adds what a question tells about the last step to the history.
    fn record_step(&mut self, question: &mut Question) {
        let moves = question.moves.take();
        if !self.setup.rules.is_gdl2() {
            let joint = moves.map(|moves| as_joint_move(&self.setup.rules, moves));
            self.history.extend(joint.map(Step::Joint));
            return;
        }
        let unknown = || {
            Step::Seen(Sighting {
                own: None,
                percepts: None,
            })
        };
        let n_steps = match &question.turn {
            Some(turn) => turn.number as usize,
            // The short form has no number: every question after the first follows a step.
            None => self.history.len() + usize::from(self.n_questions > 0 || moves.is_some()),
        };
        // A repeated question adds nothing; messages that were lost leave steps of which nothing is known.
        if n_steps <= self.history.len() || n_steps > MAX_STEPS {
            return;
        }
        self.history.resize_with(n_steps - 1, unknown);
        let told = question.turn.take().and_then(|turn| turn.last_move);
        self.history.push(Step::Seen(Sighting {
            own: told.or_else(|| question.last_answer.take()),
            percepts: Some(moves.unwrap_or_default()),
        }));
    }

    /// Plays all moves of the match that the engine has not played yet. Moves that are not legal are dropped. Returns
    /// false if there is no engine, or it cannot follow.
    fn catch_up(&mut self, deadline: Option<Instant>) -> bool {
        let Some(position) = &mut self.position else {
            return false;
        };
        let bot_thread = self.bot_thread.as_ref();
        let mut played = |joint: &JointMove, next: &State| {
            if let Some(bot_thread) = bot_thread {
                bot_thread.played(joint, next);
            }
        };
        // The rest of the time is for the bot, which looks for histories of its own.
        let until = deadline.map(|deadline| {
            let now = Instant::now();
            now + deadline.saturating_duration_since(now) / 4
        });
        loop {
            match position.follow(&self.history, until, &mut played) {
                Ok(()) => return true,
                Err(Stuck::Fault) => return false,
                Err(Stuck::Illegal) => {
                    self.history.remove(position.n_played);
                    self.is_in_step = false;
                }
            }
        }
    }

    /// Sends a legal move as the first candidate and asks the bot.
    fn ask(&mut self, question: Question, candidate: Option<Candidate>) {
        if !self.catch_up(question.limits.deadline) {
            return self.postpone(question, None);
        }
        let Some(position) = &mut self.position else {
            return;
        };
        let Position { game, machine, .. } = position;
        let role = self.setup.role;
        let to_candidate = |mv| {
            let is_searched = false;
            term(game, role, mv).map(|mv| Candidate { mv, is_searched })
        };
        let send = |candidate: &Candidate| {
            // The receiver may be gone.
            let _ = question
                .reply_to
                .send(Progress::Candidate(candidate.clone()));
        };
        // An interpreter may need longer for all legal moves than there is time for an answer, so one comes first.
        let mut first = candidate.clone();
        if first.is_none() && position.grade < Grade::Network {
            first = machine.some_legal_move(role).and_then(to_candidate);
            first.iter().for_each(send);
        }
        let interrupts = &self.channels.interrupts;
        let legal = interrupts.yielding(|| machine.legal_moves(role).to_vec());
        let drawn = self.fallback.draw(&legal).and_then(to_candidate);
        if legal.is_empty() {
            return self.postpone(question, first);
        }
        let Some(candidate) = candidate.or(drawn) else {
            return self.postpone(question, first);
        };
        send(&candidate);
        let state = machine.state();
        let limits = question.limits.clone();
        let number = self.next_number();
        self.asked = Some(Asked {
            question,
            legal,
            candidate,
        });
        if !self.ask_bot(number, &state, limits) {
            self.answer(Err("the bot failed too often".to_owned()));
        }
    }

    /// Handles a question that this engine cannot answer: perhaps the next one can. `candidate` was sent already.
    fn postpone(&mut self, question: Question, candidate: Option<Candidate>) {
        if self.n_compiling > 0 {
            self.waiting = Some(question);
            return;
        }
        let answer = match candidate {
            // If there is a newer question, nobody waits for this answer.
            Some(_) if self.channels.interrupts.has_question() => return,
            Some(candidate) => {
                let note = "the engine cannot derive all legal moves: one of them".to_owned();
                let thought = Thought {
                    note: Some(note),
                    ..Thought::default()
                };
                Progress::Decided(candidate.mv, thought)
            }
            None => Progress::NoMove,
        };
        // The receiver may be gone.
        let _ = question.reply_to.send(answer);
    }

    fn next_number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    fn ask_bot(&mut self, number: u64, state: &State, limits: Limits) -> bool {
        if self.bot_thread.is_none() && self.n_failures < MAX_FAILURES {
            self.bot_thread = self.start_bot_thread();
        }
        self.tell_sightings();
        let role = self.setup.role;
        let bot_thread = self.bot_thread.as_ref();
        bot_thread.is_some_and(|bot_thread| bot_thread.think(number, state, role, limits))
    }

    /// Tells the bot what its role did and saw since the last time, in GDL-II.
    fn tell_sightings(&mut self) {
        let position = self.position.as_ref();
        let Some(possible) = position.and_then(|position| position.possible.as_ref()) else {
            return;
        };
        if let Some(bot_thread) = &self.bot_thread {
            for step_idx in self.n_told..possible.n_steps() {
                bot_thread.saw(self.setup.role, possible.observed(step_idx));
            }
            self.n_told = possible.n_steps();
        }
    }

    /// Handles news from the bot, which may be about the open question, about pondering, or about an old question.
    fn on_bot_event(&mut self, event: BotEvent) {
        self.n_missed = 0;
        if event.number != self.number {
            return;
        }
        // A belief of many histories knows better than one possible state, which may be a guess.
        let is_believed = matches!(event.kind, BotEventKind::Believed(_));
        let decision = match event.kind {
            BotEventKind::BestSoFar(mv) => return self.update_candidate(mv),
            BotEventKind::Decided(decision) | BotEventKind::Believed(decision) => Ok(decision),
            BotEventKind::Failed(message) => Err(format!("the bot panicked: {message}")),
        };
        self.pondering = None;
        let Some(asked) = &self.asked else {
            if decision.is_err() {
                self.fail();
            }
            return;
        };
        let is_legal = |decision: &Decision| is_believed || asked.legal.contains(&decision.mv);
        let decision = decision.and_then(|decision| match is_legal(&decision) {
            true => Ok(decision),
            false => Err("the bot chose an illegal move".to_owned()),
        });
        if decision.is_err() {
            self.fail();
        }
        let goes_on = decision.is_ok();
        self.answer(decision.map(|decision| (decision.mv, decision.report)));
        if goes_on {
            self.ponder();
        }
    }

    /// The bot is still thinking, and this is its best move so far.
    fn update_candidate(&mut self, mv: MoveId) {
        let (Some(asked), Some(position)) = (&mut self.asked, &self.position) else {
            return;
        };
        // The bot knows better than a guess which moves are legal.
        if !position.is_guess && !asked.legal.contains(&mv) {
            return;
        }
        let Some(mv) = term(&position.game, self.setup.role, mv) else {
            return;
        };
        asked.candidate = Candidate {
            mv,
            is_searched: true,
        };
        let candidate = Progress::Candidate(asked.candidate.clone());
        // The receiver may be gone.
        let _ = asked.question.reply_to.send(candidate);
    }

    fn fail(&mut self) {
        self.bot_thread = None;
        self.n_missed = 0;
        self.n_failures += 1;
    }

    /// Answers the question.
    fn answer(&mut self, decision: Result<(MoveId, Report), String>) {
        let (Some(asked), Some(position)) = (self.asked.take(), &self.position) else {
            return;
        };
        let (game, role) = (&position.game, self.setup.role);
        let (mv, mut thought) = match decision {
            Ok((mv, report)) => {
                self.measure(&asked.question.limits);
                let mv = term(game, role, mv);
                (
                    mv.unwrap_or(asked.candidate.mv),
                    thought(game, role, &report),
                )
            }
            Err(failure) => {
                let note = Some(format!("{failure}: {}", asked.candidate.describe()));
                let thought = Thought {
                    note,
                    ..Thought::default()
                };
                (asked.candidate.mv, thought)
            }
        };
        if !self.is_in_step {
            thought.note = Some("the moves received are not legal here: out of step".to_owned());
        }
        // The receiver may be gone.
        let _ = asked.question.reply_to.send(Progress::Decided(mv, thought));
    }

    fn measure(&self, limits: &Limits) {
        let overrun = limits
            .deadline
            .map(|deadline| Instant::now().saturating_duration_since(deadline));
        self.setup.overrun.measure(overrun.unwrap_or_default());
    }

    /// Lets the bot think until the next question, if the player ponders and no engine is being compiled.
    fn ponder(&mut self) {
        let Some(position) = self.position.as_mut().filter(|_| self.is_prepared) else {
            return;
        };
        if !self.setup.ponders {
            return;
        }
        // There is nothing to ponder in a terminal state or without a legal move.
        let is_over = position.machine.is_terminal();
        if is_over || position.machine.legal_moves(self.setup.role).is_empty() {
            return;
        }
        let stop = StopFlag::new();
        // No deadline: a bot whose only limit is a stop flag knows that it is pondering.
        let limits = Limits {
            stop: Some(Arc::clone(stop.as_atomic())),
            ..Limits::default()
        };
        let state = position.machine.state();
        let most = self.setup.play_clock.min(MAX_DURATION / 4) * 2 + PONDER_GRACE;
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
