//! The match actor without its thread: one command after the other.

use super::*;
use agon_engine::JointMove;
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
        other => panic!("expected a PREVIEW, got {other:?}"),
    }
}

fn compile(rules: &Arc<Rules>, grade: Grade) -> Compiled {
    let rules = Arc::clone(rules);
    let game = match grade {
        Grade::Quick => Game::interpret_quickly(rules).expect("the game compiles"),
        Grade::Planned => Game::interpret(rules).expect("the game compiles"),
        Grade::Network => {
            Game::network(rules, &Default::default(), &|| false).expect("the game grounds")
        }
    };
    let game = Ok(Arc::new(game));
    Compiled { grade, game }
}

fn failed(grade: Grade) -> Compiled {
    let game = Err("too large".to_owned());
    Compiled { grade, game }
}

/// An actor whose bot makes the first legal move, with its inbox and the channel of its answer to START.
fn actor() -> (MatchActor, Receiver<Command>, Receiver<Progress>) {
    let preset = Preset::parse("legal").expect("a valid name");
    let (outbox, inbox) = channel();
    let (start_reply_to, started) = channel();
    let setup = MatchSetup {
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
    };
    let channels = Channels {
        outbox,
        start_reply_to,
        token: channel().0,
        interrupts: Interrupts::default(),
    };
    let mut actor = MatchActor::new(setup, channels);
    actor.n_compiling = Grade::ALL.len();
    (actor, inbox, started)
}

fn question(moves: Option<&[&str]>) -> (Question, Receiver<Progress>) {
    let (reply_to, progress) = channel();
    let term = |text: &&str| Term::read(text).expect("a valid name");
    let question = Question {
        moves: moves.map(|moves| moves.iter().map(term).collect()),
        turn: None,
        last_answer: None,
        limits: Limits::playouts(1),
        reply_to,
    };
    (question, progress)
}

/// Handles the events of the bot until it has decided.
fn decided(
    actor: &mut MatchActor,
    inbox: &Receiver<Command>,
    progress: &Receiver<Progress>,
) -> String {
    loop {
        match progress.try_recv() {
            Ok(Progress::Decided(mv, _)) => return mv.to_string(),
            Ok(_) => {}
            Err(_) => {
                actor.handle(inbox.recv().expect("the bot answers"));
            }
        }
    }
}

#[test]
fn a_match_switches_to_better_engines() {
    let (mut actor, inbox, started) = actor();
    let rules = Arc::clone(&actor.setup.rules);
    let grade = |actor: &MatchActor| actor.position.as_ref().map(|position| position.grade);
    // A question that arrives before any engine is ready has to wait.
    let (first, progress) = question(None);
    actor.play(first);
    assert!(progress.try_recv().is_err());
    actor.compiled(compile(&rules, Grade::Quick));
    assert_eq!(decided(&mut actor, &inbox, &progress), "(go 0)");
    assert!(started.try_recv().is_err(), "the network is not ready yet");
    let (second, progress) = question(Some(&["(go 0)", "z"]));
    actor.play(second);
    assert_eq!(decided(&mut actor, &inbox, &progress), "(go 1)");

    actor.compiled(compile(&rules, Grade::Network));
    assert!(matches!(started.try_recv(), Ok(Progress::Prepared)));
    assert!(actor.stop_interpreters.is_raised());
    actor.compiled(compile(&rules, Grade::Planned));
    assert_eq!(
        grade(&actor),
        Some(Grade::Network),
        "the match stays on the better engine"
    );
    let (third, progress) = question(Some(&["(go 1)", "z"]));
    actor.play(third);
    assert_eq!(decided(&mut actor, &inbox, &progress), "(go 2)");
}

#[test]
fn a_better_engine_takes_over_the_open_question() {
    let (mut actor, inbox, _started) = actor();
    let rules = Arc::clone(&actor.setup.rules);
    actor.compiled(compile(&rules, Grade::Quick));
    let (first, progress) = question(None);
    actor.play(first);
    actor.compiled(compile(&rules, Grade::Planned));
    actor.compiled(compile(&rules, Grade::Network));
    assert!(actor.asked.is_some());
    assert_eq!(decided(&mut actor, &inbox, &progress), "(go 0)");
    assert_eq!(actor.n_failures, 0);
}

#[test]
fn a_match_without_an_engine_is_refused() {
    let (mut actor, _inbox, started) = actor();
    for grade in Grade::ALL {
        assert!(started.try_recv().is_err());
        actor.compiled(failed(grade));
    }
    assert!(matches!(started.try_recv(), Ok(Progress::Refused)));
}

#[test]
fn the_best_move_so_far_becomes_the_candidate() {
    let (mut actor, _inbox, _started) = actor();
    let rules = Arc::clone(&actor.setup.rules);
    actor.compiled(compile(&rules, Grade::Network));
    let (first, progress) = question(None);
    actor.play(first);
    let number = actor.number;
    let mut report_best = |mv, number| {
        let kind = BotEventKind::BestSoFar(MoveId(mv));
        actor.on_bot_event(BotEvent { number, kind });
    };
    let candidate = || match progress.try_recv() {
        Ok(Progress::Candidate(candidate)) => {
            Some((candidate.mv.to_string(), candidate.is_searched))
        }
        _ => None,
    };
    assert_eq!(candidate(), Some(("(go 0)".to_owned(), false)));
    let legal = only_legal_move(&rules);
    report_best(legal, number);
    assert_eq!(candidate(), Some(("(go 0)".to_owned(), true)));
    // Illegal moves and events about other questions are ignored.
    report_best(99, number);
    report_best(legal, number - 1);
    assert_eq!(candidate(), None);
}

/// The only legal move of the first role in the initial state.
fn only_legal_move(rules: &Arc<Rules>) -> u32 {
    let game = compile(rules, Grade::Network)
        .game
        .expect("the game grounds");
    game.machine().legal_moves(RoleId(0))[0].0
}

#[test]
fn a_slow_bot_is_asked_again_and_a_hanging_bot_is_replaced() {
    let (told, _limits) = channel();
    let (mut actor, _inbox, _started) = actor();
    let rules = Arc::clone(&actor.setup.rules);
    actor.setup.make_bot = Arc::new(move |_, _| Box::new(Ponderer(told.clone())));
    actor.compiled(compile(&rules, Grade::Network));
    let stop = StopFlag::new();
    let ask = |actor: &mut MatchActor| {
        let (mut question, _) = question(None);
        question.limits.stop = Some(Arc::clone(stop.as_atomic()));
        actor.play(question);
        actor.n_failures
    };
    assert_eq!([ask(&mut actor), ask(&mut actor)], [0, 0]);
    // The bot has returned after all: the next question is the first one that it misses.
    let kind = BotEventKind::BestSoFar(MoveId(0));
    actor.on_bot_event(BotEvent { number: 1, kind });
    assert_eq!([ask(&mut actor), ask(&mut actor)], [0, 1]);
    stop.raise();
}

#[test]
fn pondering_has_no_limit_but_the_stop_flag() {
    let (told, limits) = channel();
    let (mut actor, inbox, _started) = actor();
    let rules = Arc::clone(&actor.setup.rules);
    actor.setup.ponders = true;
    actor.setup.make_bot = Arc::new(move |_, _| Box::new(Ponderer(told.clone())));
    actor.compiled(compile(&rules, Grade::Network));
    assert!(limits.recv().expect("the bot ponders").is_told_only());
    assert!(actor.pondering.is_some());
    let (first, progress) = question(None);
    actor.play(first);
    assert_eq!(decided(&mut actor, &inbox, &progress), "(go 0)");
    assert!(!limits.recv().expect("the bot is asked").is_told_only());
    assert!(limits.recv().expect("the bot ponders again").is_told_only());
    actor.stop_pondering();
}

/// A bot that reports its limits, thinks until it is told to stop, and makes the only legal move.
struct Ponderer(Sender<Limits>);

impl agon_search::Bot for Ponderer {
    fn think(
        &mut self,
        _state: &State,
        _role: RoleId,
        limits: &Limits,
        _watch: &mut dyn FnMut(&Report),
    ) -> Decision {
        let _ = self.0.send(limits.clone());
        if let Some(stop) = &limits.stop {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                std::thread::yield_now();
            }
        }
        let report = Report {
            playouts: 0,
            transitions: 0,
            time: Duration::ZERO,
            value: None,
            moves: Vec::new(),
            stop: None,
        };
        let mv = MoveId(only_legal_move(&rules()));
        Decision { mv, report }
    }

    fn played(&mut self, _joint: &JointMove, _next: &State) {}
}

#[test]
fn moves_that_arrive_before_an_engine_are_played_in_order() {
    for grade in Grade::ALL {
        let (mut actor, inbox, _started) = actor();
        let rules = Arc::clone(&actor.setup.rules);
        let questions = [
            question(None),
            question(Some(&["(go 0)", "z"])),
            question(Some(&["(go 1)", "z"])),
        ];
        let progress = questions.map(|(question, progress)| {
            actor.play(question);
            progress
        });
        actor.compiled(compile(&rules, grade));
        assert_eq!(decided(&mut actor, &inbox, &progress[2]), "(go 2)");
        assert!(progress[0].try_recv().is_err() && progress[1].try_recv().is_err());
    }
}

#[test]
fn moves_that_are_not_legal_are_dropped_and_the_rest_is_played() {
    let (mut actor, inbox, _started) = actor();
    let rules = Arc::clone(&actor.setup.rules);
    for moves in [["(go 0)", "z"], ["(go 7)", "z"]] {
        actor.play(question(Some(&moves)).0);
    }
    let (last, progress) = question(Some(&["(go 1)", "z"]));
    actor.play(last);
    actor.compiled(compile(&rules, Grade::Quick));
    assert_eq!(decided(&mut actor, &inbox, &progress), "(go 2)");
}

/// Ten thousand moves are too many for an interpreter with these limits; they are not for a network.
#[test]
fn an_engine_at_its_limits_answers_with_a_move_it_knows_and_leaves_the_rest_to_the_next() {
    let numbers: String = (0..100).map(|number| format!("(n {number}) ")).collect();
    let text = format!(
        "({numbers} (role a) (init (step 0)) (succ 0 1) (succ 1 2) (<= (legal a (go ?x ?y)) (n ?x) (n ?y))
         (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y)) (<= terminal (true (step 2))) (goal a 50))"
    );
    let (mut actor, inbox, _started) = actor();
    let request = read_request(format!("(preview {text} 5)").as_bytes());
    let Ok(Request::Preview { rules, .. }) = request else {
        panic!("expected a PREVIEW, got {request:?}");
    };
    actor.setup.rules = Arc::clone(&rules);
    let options = agon_engine::interpreter::Options {
        limits: agon_engine::interpreter::Limits {
            tuples: 1000,
            ..Default::default()
        },
        ..Default::default()
    };
    let game = Game::interpret_with(Arc::clone(&rules), options);
    actor.compiled(Compiled {
        grade: Grade::Quick,
        game: Ok(Arc::new(game.expect("the game compiles"))),
    });
    let (second, progress) = question(Some(&["(go 99 98)"]));
    actor.play(second);
    let candidate = progress.try_recv();
    assert!(
        matches!(candidate, Ok(Progress::Candidate(_))),
        "{candidate:?}"
    );
    assert!(actor.waiting.is_some(), "the next engine may know them all");
    actor.compiled(compile(&rules, Grade::Network));
    decided(&mut actor, &inbox, &progress);
    assert_eq!(actor.history.len(), 1, "the move was legal");
}
