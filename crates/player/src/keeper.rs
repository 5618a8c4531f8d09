//! Keeps one match: where it stands, on which engine, and who thinks about it. On a thread of its own.
//!
//! In: [`Command`]s from one inbox: questions of the manager, games that are compiled, opinions of the bot. Out: to whoever
//! asked, first a legal move that is in hand, then what the bot decides. The keeper itself never waits for anything but
//! its inbox and the engine, so that a move is in hand as soon as the engine can tell one.
//!
//! A match begins on whichever engine is ready first. When the network comes later, the moves so far are played again on
//! it, and a new bot goes on where the match stands. Between questions the bot may go on thinking about the state it knows:
//! a tree that grows there is not lost when the match goes on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use agon_engine::{Game, JointMove, Machine, MoveId, RoleId, State};
use agon_protocol::{Rules, StopFlag, Term, Thought, WeighedMove};
use agon_search::{Limits, MoveReport, Report};

use crate::clock::{LONGEST, Overrun};
use crate::compile::{BLINK, Compiled, PATIENCE, compile_interpreter, compile_network};
use crate::fallback::Fallback;
use crate::game_player::MakeBot;
use crate::thinker::{Opinion, Thinker};

/// A bot that failed so often is not tried again in this match.
const MOST_FAILURES: u32 = 3;
/// So many moves of a decision are told.
const MOST_MOVES: usize = 10;
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
    /// A legal move, thought about or not; the last one told is the best.
    InHand(Term),
    /// The decision.
    Decided(Term, Thought),
    /// There is no legal move.
    NoMove,
}

/// Keeps a match until it is told to end.
pub(crate) fn keep(
    begin: Beginning,
    starter: Sender<Progress>,
    outbox: Sender<Command>,
    inbox: &Receiver<Command>,
    stop: &StopFlag,
) {
    let mut keeper = Keeper {
        fallback: Fallback::new(begin.seed),
        begin,
        outbox,
        starter,
        n_compiling: 0,
        is_prepared: false,
        position: None,
        history: Vec::new(),
        waiting: None,
        asked: None,
        thinker: None,
        n_failures: 0,
        number: 0,
        pondering: None,
    };
    // A panic of an engine ends the keeper; whoever asks finds nobody and says what was in hand.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        keeper.prepare(inbox, stop);
        for command in inbox {
            if !keeper.take(command) {
                break;
            }
        }
    }));
    keeper.stop_pondering();
}

struct Keeper {
    // Constant during the match.
    begin: Beginning,
    outbox: Sender<Command>,
    starter: Sender<Progress>,
    // Where it stands.
    n_compiling: u32,
    is_prepared: bool,
    position: Option<Position>,
    history: Vec<Vec<Term>>,
    // What the manager wants to know.
    waiting: Option<Question>,
    asked: Option<Asked>,
    // Who thinks.
    thinker: Option<Thinker>,
    n_failures: u32,
    number: u64,
    pondering: Option<StopFlag>,
    fallback: Fallback,
}

/// A state on an engine.
struct Position {
    game: Arc<Game>,
    machine: Box<dyn Machine + Send>,
}

/// A question that the bot thinks about.
struct Asked {
    number: u64,
    question: Question,
    legal: Vec<MoveId>,
    fallback: Term,
    is_in_step: bool,
}

impl Keeper {
    /// Starts the engines.
    fn prepare(&mut self, inbox: &Receiver<Command>, stop: &StopFlag) {
        if let Some(game) = self.begin.known.take() {
            self.enter(game);
            self.be_prepared();
            return;
        }
        let clock = self.begin.start_clock.max(PATIENCE).min(LONGEST);
        self.n_compiling = 1;
        let until = self.begin.received + clock;
        compile_network(&self.begin.rules, until, stop, self.report());
        match inbox.recv_timeout(BLINK) {
            Ok(command) => {
                self.take(command);
            }
            Err(RecvTimeoutError::Timeout) => {
                self.n_compiling += 1;
                compile_interpreter(&self.begin.rules, self.report());
            }
            Err(RecvTimeoutError::Disconnected) => {}
        }
    }

    fn report(&self) -> impl FnOnce(Compiled) + Send + 'static {
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
        let is_better = |game: &Arc<Game>| self.position.is_none() || game.grounded().is_some();
        if let Some(game) = compiled.ok().filter(is_better) {
            self.enter(game);
        }
        let has_network = self
            .position
            .as_ref()
            .is_some_and(|position| position.game.grounded().is_some());
        if has_network || self.n_compiling == 0 {
            self.be_prepared();
        }
        if let Some(question) = self.waiting.take_if(|_| self.position.is_some()) {
            self.play(question);
        }
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
    fn enter(&mut self, game: Arc<Game>) {
        let mut machine = game.machine();
        for moves in &self.history {
            match joint_move(&game, &mut *machine, moves) {
                Some(joint) => machine.advance(&joint),
                // Engines that differ: the one at hand has been right so far.
                None => return,
            }
        }
        self.position = Some(Position { game, machine });
        self.stop_pondering();
        self.thinker = self.start_thinker();
        if let Some(asked) = self.asked.take() {
            self.consider(asked.question, asked.is_in_step);
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
        Thinker::start(move || make(&game, seed), tell)
    }

    /// The manager wants a move.
    fn play(&mut self, mut question: Question) {
        self.stop_pondering();
        if self.asked.take().is_some() {
            // The bot has not even come back from the question before.
            self.fail();
        }
        if self.position.is_none() {
            self.waiting = Some(question);
            return;
        }
        let moves = question.moves.take();
        let is_in_step = moves.is_none_or(|moves| self.apply(moves));
        self.consider(question, is_in_step);
    }

    /// Goes on by what all roles did; false, and the state stays, if that is no joint move here.
    fn apply(&mut self, moves: Vec<Term>) -> bool {
        let Some(Position { game, machine }) = &mut self.position else {
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

    /// Takes a legal move in hand and asks the bot.
    fn consider(&mut self, question: Question, is_in_step: bool) {
        let Some(Position { game, machine }) = &mut self.position else {
            return;
        };
        let role = self.begin.role;
        let legal = machine.legal_moves(role).to_vec();
        let fallback = self.fallback.draw(&legal);
        let fallback = fallback.and_then(|of| Term::read(&game.move_text(role, of)).ok());
        let Some(fallback) = fallback else {
            let _ = question.asker.send(Progress::NoMove);
            return;
        };
        let _ = question.asker.send(Progress::InHand(fallback.clone()));
        let state = machine.state();
        let limits = question.limits.clone();
        let number = self.next_number();
        self.asked = Some(Asked {
            number,
            question,
            legal,
            fallback,
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
        if opinion.number != self.number {
            return;
        }
        self.pondering = None;
        let has_failed = opinion.decision.is_err();
        let decision = opinion
            .decision
            .map_err(|words| format!("the bot panicked: {words}"));
        if self
            .asked
            .as_ref()
            .is_none_or(|asked| asked.number != opinion.number)
        {
            if has_failed {
                self.fail();
            }
            return;
        }
        let is_legal = |of: &MoveId| {
            self.asked
                .as_ref()
                .is_some_and(|asked| asked.legal.contains(of))
        };
        let decision = decision.and_then(|decision| match is_legal(&decision.of) {
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

    fn fail(&mut self) {
        self.thinker = None;
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
                let of = Term::read(&game.move_text(role, of)).ok();
                (of.unwrap_or(asked.fallback), thought(game, role, &report))
            }
            Err(failure) => {
                let note = Some(format!("{failure}: any legal move"));
                let thought = Thought {
                    note,
                    ..Thought::default()
                };
                (asked.fallback, thought)
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
        let most = self.begin.play_clock.min(LONGEST / 4) * 2 + PONDER;
        let limits = Limits {
            deadline: Some(Instant::now() + most),
            stop: Some(Arc::clone(stop.as_atomic())),
            ..Limits::default()
        };
        let state = position.machine.state();
        self.pondering = Some(stop);
        let number = self.next_number();
        self.ask_bot(number, &state, limits);
    }

    fn stop_pondering(&mut self) {
        if let Some(stop) = self.pondering.take() {
            stop.raise();
        }
    }
}

/// What all roles did, if it is a joint move here.
fn joint_move(game: &Game, machine: &mut dyn Machine, moves: &[Term]) -> Option<JointMove> {
    let n_roles = game.n_roles();
    if moves.len() != n_roles {
        return None;
    }
    let mut joint = Vec::with_capacity(n_roles);
    for (role, term) in RoleId::all(n_roles).zip(moves) {
        let legal = machine.legal_moves(role).iter();
        joint.push(term.pick(legal.map(|&of| (of, game.move_text(role, of))))?);
    }
    Some(JointMove::new(joint))
}

fn thought(game: &Game, role: RoleId, report: &Report) -> Thought {
    let weighed = |of: &MoveReport| {
        let text = game.move_text(role, of.of);
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

#[cfg(test)]
mod tests {
    use super::*;
    use agon_protocol::Request;
    use agon_protocol::codec::read_request;
    use agon_search::Preset;
    use std::sync::mpsc::channel;

    const RULES: &str = "((role a) (role b) (init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3)
        (<= (legal a (go ?x)) (true (step ?x))) (legal b z)
        (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y)) (<= terminal (true (step 3))) (goal a 50) (goal b 50))";

    fn rules() -> Arc<Rules> {
        match read_request(format!("(preview {RULES} 5)").as_bytes()) {
            Ok(Request::Preview { rules, .. }) => rules,
            other => panic!("it is a PREVIEW: {other:?}"),
        }
    }

    fn compile(rules: &Arc<Rules>, with_network: bool) -> Arc<Game> {
        let game = Game::compile(Arc::clone(rules), &Default::default(), &|| !with_network);
        let game = Arc::new(game.expect("it runs"));
        assert_eq!(game.grounded().is_some(), with_network);
        game
    }

    /// A keeper whose bot makes the first legal move, and what it is told.
    fn keeper() -> (Keeper, Receiver<Command>, Receiver<Progress>) {
        let preset = Preset::parse("legal").expect("it is one");
        let (outbox, inbox) = channel();
        let (starter, started) = channel();
        let keeper = Keeper {
            begin: Beginning {
                rules: rules(),
                role: RoleId(0),
                received: Instant::now(),
                start_clock: Duration::from_secs(10),
                play_clock: Duration::from_secs(10),
                known: None,
                seed: 1,
                make_bot: Arc::new(move |game, seed| preset.bot(game, seed)),
                ponders: false,
                overrun: Overrun::default(),
            },
            outbox,
            starter,
            n_compiling: 2,
            is_prepared: false,
            position: None,
            history: Vec::new(),
            waiting: None,
            asked: None,
            thinker: None,
            n_failures: 0,
            number: 0,
            pondering: None,
            fallback: Fallback::new(1),
        };
        (keeper, inbox, started)
    }

    fn question(moves: Option<&[&str]>) -> (Question, Receiver<Progress>) {
        let (asker, progress) = channel();
        let term = |text: &&str| Term::read(text).expect("it is one");
        let question = Question {
            moves: moves.map(|moves| moves.iter().map(term).collect()),
            limits: Limits::playouts(1),
            asker,
        };
        (question, progress)
    }

    /// Hears the bot until it has decided.
    fn decided(
        keeper: &mut Keeper,
        inbox: &Receiver<Command>,
        progress: &Receiver<Progress>,
    ) -> String {
        loop {
            match progress.try_recv() {
                Ok(Progress::Decided(of, _)) => return of.to_string(),
                Ok(_) => {}
                Err(_) => {
                    keeper.take(inbox.recv().expect("the bot answers"));
                }
            }
        }
    }

    #[test]
    fn a_match_moves_on_to_the_network_when_it_comes() {
        let (mut keeper, inbox, started) = keeper();
        let rules = Arc::clone(&keeper.begin.rules);
        // A question that comes before any engine waits for one.
        let (first, progress) = question(None);
        keeper.play(first);
        assert!(progress.try_recv().is_err());
        keeper.compiled(Ok(compile(&rules, false)));
        assert_eq!(decided(&mut keeper, &inbox, &progress), "(go 0)");
        assert!(started.try_recv().is_err(), "the network is still to come");
        let (second, progress) = question(Some(&["(go 0)", "z"]));
        keeper.play(second);
        assert_eq!(decided(&mut keeper, &inbox, &progress), "(go 1)");

        keeper.compiled(Ok(compile(&rules, true)));
        assert!(matches!(started.try_recv(), Ok(Progress::Prepared)));
        let (third, progress) = question(Some(&["(go 1)", "z"]));
        keeper.play(third);
        assert_eq!(decided(&mut keeper, &inbox, &progress), "(go 2)");
        let position = keeper.position.as_ref().expect("there is one");
        assert!(position.game.grounded().is_some());
    }

    #[test]
    fn a_network_that_comes_while_the_bot_thinks_takes_over_the_question() {
        let (mut keeper, inbox, _started) = keeper();
        let rules = Arc::clone(&keeper.begin.rules);
        keeper.compiled(Ok(compile(&rules, false)));
        let (first, progress) = question(None);
        keeper.play(first);
        keeper.compiled(Ok(compile(&rules, true)));
        assert!(keeper.asked.is_some());
        assert_eq!(decided(&mut keeper, &inbox, &progress), "(go 0)");
        assert_eq!(keeper.n_failures, 0);
    }

    #[test]
    fn without_any_engine_the_match_is_refused() {
        let (mut keeper, _inbox, started) = keeper();
        keeper.compiled(Err("too large".to_owned()));
        assert!(started.try_recv().is_err());
        keeper.compiled(Err("too large".to_owned()));
        assert!(matches!(started.try_recv(), Ok(Progress::Refused)));
    }
}
