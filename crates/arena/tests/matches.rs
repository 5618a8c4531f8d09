//! Whole matches with players of all sorts, good and bad: what the record says of them.
//!
//! Players are scripted here: the arena knows nothing of bots.

#![expect(
    clippy::needless_pass_by_value,
    reason = "tests give their expectations away"
)]

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, SystemTime};

use agon_arena::{About, Ending, Event, MatchRecord, Referee, ReplayError, Seat, Settings, replay};
use agon_engine::{Game, JointMove, RoleId, State};
use agon_protocol::{Failure, MatchId, Player, Reply, Request, StopFlag, Term};
use expect_test::{Expect, expect};

/// Two roles take turns to take one or two of five sticks; who takes the last one wins.
const STICKS: &str = "(role Left) (role right) (init (sticks 5)) (init (control Left))
    (less 5 1 4) (less 5 2 3) (less 4 1 3) (less 4 2 2) (less 3 1 2) (less 3 2 1) (less 2 1 1) (less 2 2 0) (less 1 1 0)
    (other Left right) (other right Left)
    (<= (legal ?r (take ?n)) (true (control ?r)) (true (sticks ?s)) (less ?s ?n ?_t))
    (<= (legal ?r wait) (other ?r ?o) (true (control ?o)))
    (<= (next (sticks ?t)) (does ?_r (take ?n)) (true (sticks ?s)) (less ?s ?n ?t))
    (<= (next (control ?o)) (true (control ?r)) (other ?r ?o))
    (<= terminal (true (sticks 0)))
    (<= (goal ?r 100) (true (control ?o)) (other ?r ?o)) (<= (goal ?r 0) (true (control ?r)))";

/// Both show a number of fingers at once; one wins if the sum is even, the other if it is odd.
const FINGERS: &str = "(role even) (role odd) (init start) (fingers 1) (fingers 2)
    (<= (legal ?r ?n) (role ?r) (fingers ?n))
    (<= (next same) (does even ?n) (does odd ?n)) (next shown)
    (<= terminal (true shown))
    (<= (goal even 100) (true same)) (<= (goal even 0) (not (true same)))
    (<= (goal odd 0) (true same)) (<= (goal odd 100) (not (true same)))";

/// A lamp is to be switched on, and then pressed once more.
const LAMP: &str = "(role robot) (init (lamp off)) (legal robot push) (legal robot sleep)
    (<= (next (lamp on)) (does robot push)) (<= (next (lamp ?x)) (does robot sleep) (true (lamp ?x)))
    (<= (next done) (true (lamp on)))
    (<= terminal (true done)) (<= (goal robot 90) (true done)) (<= (goal robot 0) (not (true done)))";

fn game(sheet: &str) -> Arc<Game> {
    let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
    let rules = Arc::new(rules.unwrap_or_else(|findings| panic!("{findings:?}")));
    Arc::new(Game::compile(rules, &Default::default(), &|| false).expect("it runs"))
}

/// A player that answers PLAY by a function of the number of the step, from 1.
struct Script<F> {
    n_plays: usize,
    answer: F,
}

impl<F: FnMut(usize, &StopFlag) -> Reply + Send> Player for Script<F> {
    fn answer(&mut self, request: Request, stop: &StopFlag) -> Reply {
        match request {
            Request::Play { .. } => {
                self.n_plays += 1;
                (self.answer)(self.n_plays, stop)
            }
            Request::Stop { .. } => Reply::Done,
            Request::Abort { .. } => Reply::Aborted,
            _ => Reply::Ready,
        }
    }
}

fn seat(name: &str, answer: impl FnMut(usize, &StopFlag) -> Reply + Send + 'static) -> Seat {
    let player = Script { n_plays: 0, answer };
    let about = About {
        name: name.to_owned(),
        ..About::default()
    };
    Seat::new(Box::new(player), about)
}

fn says(text: &str) -> Reply {
    Reply::Move {
        of: Term::read(text).expect("it is one term"),
        thought: None,
    }
}

/// A player that says one thing after the other, and the last one for ever.
fn scripted(moves: &'static [&'static str]) -> Seat {
    seat("scripted", move |step, _| {
        says(moves[(step - 1).min(moves.len() - 1)])
    })
}

fn settings() -> Settings {
    Settings {
        id: MatchId::new("m1").expect("it is one"),
        game: "test".to_owned(),
        start_clock: Duration::from_secs(60),
        play_clock: Duration::from_secs(60),
        seed: 1,
        started: SystemTime::UNIX_EPOCH,
        most_steps: 100,
        keep_rules: false,
        tournament: None,
        scrambled: false,
        stop: StopFlag::new(),
    }
}

fn show(record: &MatchRecord) -> String {
    let details = record.agon.as_ref().expect("it is ours");
    let mut text = format!("{}: {}\n", record.states[0], details.roles.join(", "));
    for (idx, moves) in record.moves.iter().enumerate() {
        text.push_str(&format!(
            "{} {:?} → {}\n",
            moves.join(" | "),
            record.errors[idx + 1],
            record.states[idx + 1]
        ));
    }
    text.push_str(&format!(
        "{}, goals {:?}\n",
        details.ending, record.goal_values
    ));
    for fault in &details.faults {
        text.push_str(&format!(
            "step {} {}: {:?} {}\n",
            fault.step, fault.role, fault.kind, fault.detail
        ));
    }
    text
}

/// Plays a match that ends, shows it, and checks that its record replays and survives JSON.
fn check(sheet: &str, seats: Vec<Seat>, settings: &Settings, expected: Expect) -> MatchRecord {
    let game = game(sheet);
    let record = Referee::play(&game, seats, settings, &mut |_| {});
    assert_eq!(replay(&game, &record), Ok(()));
    assert_eq!(record.errors.len(), record.states.len());
    assert_eq!(record.state_times.len(), record.states.len());
    let text = serde_json::to_string(&record).expect("it can be written");
    let again: MatchRecord = serde_json::from_str(&text).expect("it can be read");
    assert_eq!(again, record);
    expected.assert_eq(&show(&record));
    record
}

#[test]
fn a_turn_taking_match() {
    let seats = vec![
        scripted(&["(take 2)", "wait", "( take  1 )"]),
        scripted(&["wait", "(TAKE 2)", "wait"]),
    ];
    check(
        STICKS,
        seats,
        &settings(),
        expect![[r#"
        ( ( control Left ) ( sticks 5 ) ): Left, right
        ( take 2 ) | wait ["", ""] → ( ( control right ) ( sticks 3 ) )
        wait | ( take 2 ) ["", ""] → ( ( control Left ) ( sticks 1 ) )
        ( take 1 ) | wait ["", ""] → ( ( control right ) ( sticks 0 ) )
        over, goals Some([100, 0])
    "#]],
    );
}

#[test]
fn a_simultaneous_match() {
    check(
        FINGERS,
        vec![scripted(&["1"]), scripted(&["2"])],
        &settings(),
        expect![[r#"
            ( start ): even, odd
            1 | 2 ["", ""] → ( shown )
            over, goals Some([0, 100])
        "#]],
    );
}

#[test]
fn a_single_player_match() {
    check(
        LAMP,
        vec![scripted(&["sleep", "push", "sleep"])],
        &settings(),
        expect![[r#"
            ( ( lamp off ) ): robot
            sleep [""] → ( ( lamp off ) )
            push [""] → ( ( lamp on ) )
            sleep [""] → ( ( lamp on ) done )
            over, goals Some([90])
        "#]],
    );
}

#[test]
fn what_players_do_wrong_is_replaced_and_written_down() {
    let bad = seat("bad", |step, _| match step {
        1 => says("(take 9)"),
        2 => Reply::Failed(Failure::Unreadable("garbage((".to_owned())),
        3 => panic!("out of ideas"),
        4 => Reply::Failed(Failure::Empty),
        5 => Reply::Failed(Failure::Connection("refused".to_owned())),
        _ => Reply::Nil,
    });
    let good = seat("good", |step, _| {
        says(if step % 2 == 0 { "(take 1)" } else { "wait" })
    });
    let record = check(
        STICKS,
        vec![bad, good],
        &settings(),
        expect![[r#"
        ( ( control Left ) ( sticks 5 ) ): Left, right
        ( take 2 ) | wait ["IL ( take 9 )", ""] → ( ( control right ) ( sticks 3 ) )
        wait | ( take 1 ) ["IL garbage((", ""] → ( ( control Left ) ( sticks 2 ) )
        ( take 1 ) | wait ["CE", ""] → ( ( control right ) ( sticks 1 ) )
        wait | ( take 1 ) ["CE", ""] → ( ( control Left ) ( sticks 0 ) )
        over, goals Some([0, 100])
        step 1 Left: Illegal (take 9)
        step 2 Left: Unreadable garbage((
        step 3 Left: Panicked out of ideas
        step 4 Left: Empty 
    "#]],
    );
    assert_eq!(
        (record.n_errors(0), record.n_errors(1)),
        (record.moves.len(), 0)
    );
}

#[test]
fn a_player_that_hangs_costs_its_clock_and_nothing_else() {
    let (keep, gate): (Sender<()>, Receiver<()>) = channel();
    let hanging = seat("hanging", move |_, _| {
        let _ = gate.recv();
        says("sleep")
    });
    let settings = Settings {
        play_clock: Duration::from_millis(20),
        seed: 3,
        ..settings()
    };
    let game = game(LAMP);
    let record = Referee::play(&game, vec![hanging], &settings, &mut |_| {});
    drop(keep);
    assert_eq!(replay(&game, &record), Ok(()));
    assert!(record.is_completed);
    assert_eq!(record.n_errors(0), record.moves.len());
    assert!(
        record.errors[1..].iter().all(|row| row == &["TO"]),
        "{:?}",
        record.errors
    );
}

#[test]
fn a_player_that_is_late_once_is_in_time_again() {
    let late = seat("late", |step, stop| {
        while step == 1 && !stop.is_raised() {
            std::thread::yield_now();
        }
        says("push")
    });
    let settings = Settings {
        play_clock: Duration::from_millis(500),
        ..settings()
    };
    let record = Referee::play(&game(LAMP), vec![late], &settings, &mut |_| {});
    assert_eq!(record.errors[1], ["TO"]);
    assert_eq!(record.errors[2], [""]);
}

#[test]
fn the_same_seed_draws_the_same_moves() {
    let play = |seed| {
        let silent = || seat("silent", |_, _| Reply::Nil);
        let settings = Settings { seed, ..settings() };
        Referee::play(
            &game(STICKS),
            vec![silent(), silent()],
            &settings,
            &mut |_| {},
        )
        .moves
    };
    assert_eq!(play(5), play(5));
    assert!((0..20).any(|seed| play(seed) != play(5)));
}

#[test]
fn an_interrupted_match_has_a_valid_record() {
    let settings = settings();
    let stop = settings.stop.clone();
    let interrupting = seat("interrupting", move |step, _| {
        if step == 2 {
            stop.raise();
        }
        says("sleep")
    });
    check(
        LAMP,
        vec![interrupting],
        &settings,
        expect![[r#"
        ( ( lamp off ) ): robot
        sleep [""] → ( ( lamp off ) )
        called off, goals None
    "#]],
    );
}

#[test]
fn a_match_that_never_ends_is_cut() {
    let settings = Settings {
        most_steps: 3,
        ..settings()
    };
    let record = check(
        LAMP,
        vec![scripted(&["sleep"])],
        &settings,
        expect![[r#"
        ( ( lamp off ) ): robot
        sleep [""] → ( ( lamp off ) )
        sleep [""] → ( ( lamp off ) )
        sleep [""] → ( ( lamp off ) )
        it does not end, goals None
    "#]],
    );
    assert_eq!(
        record.agon.map(|details| details.ending),
        Some(Ending::StepLimit)
    );
}

#[test]
fn a_role_without_a_legal_move_ends_the_match() {
    let sheet = "(role a) (init x) (<= (legal a go) (true x)) (<= (next y) (does a go))
        (<= terminal (true z)) (<= (next z) (true z)) (goal a 50)";
    check(
        sheet,
        vec![scripted(&["go"])],
        &settings(),
        expect![[r#"
        ( x ): a
        go [""] → ( y )
        a has no legal move, goals None
    "#]],
    );
}

#[test]
fn those_who_watch_see_every_state_and_step() {
    let mut seen = Vec::new();
    let mut watch = |event: &Event<'_>| {
        seen.push(match event {
            Event::State { step, .. } => format!("state {step}"),
            Event::Moved { step, moves, .. } => format!("step {step}: {}", moves.join(" ")),
        });
    };
    let seats = vec![scripted(&["push", "sleep"])];
    let record = Referee::play(&game(LAMP), seats, &settings(), &mut watch);
    assert_eq!(
        seen,
        [
            "state 0",
            "step 1: push",
            "state 1",
            "step 2: sleep",
            "state 2"
        ]
    );
    assert_eq!(record.goal_values, Some(vec![90]));
}

#[test]
fn the_record_keeps_the_sheet_letter_by_letter_if_asked() {
    let sheet = format!("; a lamp\n{LAMP}");
    let settings = Settings {
        keep_rules: true,
        ..settings()
    };
    let seats = vec![scripted(&["push"])];
    let record = Referee::play(&game(&sheet), seats, &settings, &mut |_| {});
    let details = record.agon.expect("it is ours");
    assert_eq!(details.rules.as_deref(), Some(sheet.as_str()));
    assert_eq!(
        details.rules_hash,
        agon_arena::rules_hash(&game(LAMP).rules().to_string())
    );
}

#[test]
fn a_record_that_was_tampered_with_does_not_replay() {
    let game = game(LAMP);
    let record = Referee::play(&game, vec![scripted(&["push"])], &settings(), &mut |_| {});
    let tampered = |change: &dyn Fn(&mut MatchRecord)| {
        let mut record = record.clone();
        change(&mut record);
        replay(&game, &record)
            .expect_err("it was changed")
            .to_string()
    };
    assert_eq!(
        tampered(&|record| record.goal_values = Some(vec![100])),
        "the goals are Some([90]), not Some([100])"
    );
    assert_eq!(
        tampered(&|record| record.moves[0][0] = "jump".to_owned()),
        "step 1: `jump` is not legal for robot"
    );
    assert_eq!(
        tampered(&|record| record.moves[0][0] = "sleep".to_owned()),
        "state 1 is another one: (lamp off)"
    );
    assert_eq!(
        tampered(&|record| record.moves[0].clear()),
        "step 1 has 0 moves"
    );
    assert_eq!(
        tampered(&|record| record.is_completed = false),
        "the match is over in another state"
    );
    assert_eq!(
        replay(&game, &MatchRecord::default()),
        Err(ReplayError::Lengths {
            states: 0,
            steps: 0
        })
    );
}

#[test]
fn records_of_the_reference_manager_replay() {
    let game = game(STICKS);
    let mut machine = game.machine();
    let mut states: Vec<State> = vec![machine.state()];
    for moves in [
        ["(take 2)", "wait"],
        ["wait", "(take 2)"],
        ["(take 1)", "wait"],
    ] {
        let of = |role: RoleId| {
            game.find_move(role, moves[role.idx()])
                .expect("it is a move")
        };
        machine.advance(&JointMove::new(RoleId::all(2).map(of)));
        states.push(machine.state());
    }
    // Fluents come in any order and layout there.
    let state = |state: &State| {
        let mut fluents = game.fluents(state);
        fluents.reverse();
        format!("( {} )", fluents.join("  "))
    };
    let record = MatchRecord {
        is_completed: true,
        states: states.iter().map(state).collect(),
        moves: [
            ["( take 2 )", "wait"],
            ["wait", "( take 2 )"],
            ["( take 1 )", "wait"],
        ]
        .map(|row| row.map(str::to_owned).to_vec())
        .to_vec(),
        goal_values: Some(vec![100, 0]),
        ..MatchRecord::default()
    };
    assert_eq!(replay(&game, &record), Ok(()));
}
