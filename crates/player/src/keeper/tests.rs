//! The keeper as it is told things, without its thread: one command after the other.

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
        other => panic!("it is a PREVIEW: {other:?}"),
    }
}

fn compile(rules: &Arc<Rules>, grade: Grade) -> Compiled {
    let rules = Arc::clone(rules);
    let game = match grade {
        Grade::Quick => Game::interpret_quickly(rules).expect("it runs"),
        Grade::Planned => Game::interpret(rules).expect("it runs"),
        Grade::Network => Game::network(rules, &Default::default(), &|| false).expect("it grounds"),
    };
    let game = Ok(Arc::new(game));
    Compiled { grade, game }
}

fn failed(grade: Grade) -> Compiled {
    let game = Err("too large".to_owned());
    Compiled { grade, game }
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
        token: channel().0,
        n_compiling: 3,
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
fn a_match_moves_on_to_better_engines_when_they_come() {
    let (mut keeper, inbox, started) = keeper();
    let rules = Arc::clone(&keeper.begin.rules);
    let grade = |keeper: &Keeper| keeper.position.as_ref().map(|position| position.grade);
    // A question that comes before any engine waits for one.
    let (first, progress) = question(None);
    keeper.play(first);
    assert!(progress.try_recv().is_err());
    keeper.compiled(compile(&rules, Grade::Quick));
    assert_eq!(decided(&mut keeper, &inbox, &progress), "(go 0)");
    assert!(started.try_recv().is_err(), "the network is still to come");
    let (second, progress) = question(Some(&["(go 0)", "z"]));
    keeper.play(second);
    assert_eq!(decided(&mut keeper, &inbox, &progress), "(go 1)");

    keeper.compiled(compile(&rules, Grade::Network));
    assert!(matches!(started.try_recv(), Ok(Progress::Prepared)));
    assert!(keeper.is_outdone.is_raised());
    keeper.compiled(compile(&rules, Grade::Planned));
    assert_eq!(
        grade(&keeper),
        Some(Grade::Network),
        "nobody goes back to worse"
    );
    let (third, progress) = question(Some(&["(go 1)", "z"]));
    keeper.play(third);
    assert_eq!(decided(&mut keeper, &inbox, &progress), "(go 2)");
}

#[test]
fn an_engine_that_comes_while_the_bot_thinks_takes_over_the_question() {
    let (mut keeper, inbox, _started) = keeper();
    let rules = Arc::clone(&keeper.begin.rules);
    keeper.compiled(compile(&rules, Grade::Quick));
    let (first, progress) = question(None);
    keeper.play(first);
    keeper.compiled(compile(&rules, Grade::Planned));
    keeper.compiled(compile(&rules, Grade::Network));
    assert!(keeper.asked.is_some());
    assert_eq!(decided(&mut keeper, &inbox, &progress), "(go 0)");
    assert_eq!(keeper.n_failures, 0);
}

#[test]
fn without_any_engine_the_match_is_refused() {
    let (mut keeper, _inbox, started) = keeper();
    for grade in Grade::ALL {
        assert!(started.try_recv().is_err());
        keeper.compiled(failed(grade));
    }
    assert!(matches!(started.try_recv(), Ok(Progress::Refused)));
}

#[test]
fn what_the_bot_likes_so_far_is_in_hand() {
    let (mut keeper, _inbox, _started) = keeper();
    let rules = Arc::clone(&keeper.begin.rules);
    keeper.compiled(compile(&rules, Grade::Network));
    let (first, progress) = question(None);
    keeper.play(first);
    let number = keeper.number;
    let mut lean = |of, number| {
        let view = View::Leaning(MoveId(of));
        keeper.hear(Opinion { number, view });
    };
    let in_hand = || match progress.try_recv() {
        Ok(Progress::InHand(in_hand)) => Some((in_hand.of.to_string(), in_hand.is_thought)),
        _ => None,
    };
    assert_eq!(in_hand(), Some(("(go 0)".to_owned(), false)));
    let legal = keeper_legal(&rules);
    lean(legal, number);
    assert_eq!(in_hand(), Some(("(go 0)".to_owned(), true)));
    // What is not legal, or about something else, is not taken.
    lean(99, number);
    lean(legal, number - 1);
    assert_eq!(in_hand(), None);
}

/// The only legal move of the first role in the initial state.
fn keeper_legal(rules: &Arc<Rules>) -> u32 {
    let game = compile(rules, Grade::Network).game.expect("it grounds");
    game.machine().legal_moves(RoleId(0))[0].0
}

#[test]
fn a_slow_bot_is_asked_again_and_one_that_hangs_is_replaced() {
    let (told, _limits) = channel();
    let (mut keeper, _inbox, _started) = keeper();
    let rules = Arc::clone(&keeper.begin.rules);
    keeper.begin.make_bot = Arc::new(move |_, _| Box::new(Ponderer(told.clone())));
    keeper.compiled(compile(&rules, Grade::Network));
    let stop = StopFlag::new();
    let ask = |keeper: &mut Keeper| {
        let (mut question, _) = question(None);
        question.limits.stop = Some(Arc::clone(stop.as_atomic()));
        keeper.play(question);
        keeper.n_failures
    };
    assert_eq!([ask(&mut keeper), ask(&mut keeper)], [0, 0]);
    // It has come back after all: the next question is the first one that it misses.
    let view = View::Leaning(MoveId(0));
    keeper.hear(Opinion { number: 1, view });
    assert_eq!([ask(&mut keeper), ask(&mut keeper)], [0, 1]);
    stop.raise();
}

#[test]
fn who_ponders_is_only_told_when_to_stop() {
    let (told, limits) = channel();
    let (mut keeper, inbox, _started) = keeper();
    let rules = Arc::clone(&keeper.begin.rules);
    keeper.begin.ponders = true;
    keeper.begin.make_bot = Arc::new(move |_, _| Box::new(Ponderer(told.clone())));
    keeper.compiled(compile(&rules, Grade::Network));
    assert!(limits.recv().expect("it ponders").is_told_only());
    assert!(keeper.pondering.is_some());
    let (first, progress) = question(None);
    keeper.play(first);
    assert_eq!(decided(&mut keeper, &inbox, &progress), "(go 0)");
    assert!(!limits.recv().expect("it is asked").is_told_only());
    assert!(limits.recv().expect("it ponders again").is_told_only());
    keeper.stop_pondering();
}

/// A bot that tells what it may spend, thinks until it is told to stop, and makes the only legal move.
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
        let of = MoveId(keeper_legal(&rules()));
        Decision { of, report }
    }

    fn played(&mut self, _joint: &JointMove, _next: &State) {}
}
