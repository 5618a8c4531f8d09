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
use agon_protocol::{Failure, MatchId, PerceptForm, Player, Reply, Request, StopFlag, Term};
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
        mv: Term::read(text).expect("it is one term"),
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
        chance_seed: 1,
        percept_form: PerceptForm::default(),
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
    for forfeit in &details.forfeits {
        text.push_str(&format!(
            "{} forfeits in step {}: {}\n",
            forfeit.role, forfeit.step, forfeit.cause
        ));
    }
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
        Left forfeits in step 4: no legal move in the whole match
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

/// Both roles walk for eight steps; the goal of each is fixed.
const WALK: &str = "(role a) (role b) (init (at 0))
    (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8)
    (<= (legal ?r go) (role ?r)) (<= (next (at ?y)) (true (at ?x)) (succ ?x ?y))
    (<= terminal (true (at 8)))
    (<= (goal ?r 50) (role ?r) terminal) (<= (goal ?r 20) (role ?r) (not terminal))
    (<= (goal b 70) (true never))
    (<= (goal b 80) (true (at 3)))";

/// The same with three roles, of which the last always gets 100.
const THREE: &str = "(role a) (role b) (role c) (init (at 0))
    (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
    (<= (legal ?r go) (role ?r)) (<= (next (at ?y)) (true (at ?x)) (succ ?x ?y))
    (<= terminal (true (at 5)))
    (<= (goal a 40) terminal) (<= (goal b 60) terminal) (<= (goal c 100) terminal)
    (<= (goal ?r 10) (role ?r) (not terminal))";

/// A player that goes, and does not answer in these steps.
fn silent(steps: std::ops::RangeInclusive<usize>) -> Seat {
    seat("silent", move |step, _| match steps.contains(&step) {
        true => Reply::Failed(Failure::Connection("connection reset".to_owned())),
        false => says("go"),
    })
}

fn refused_from(first: usize) -> Seat {
    seat("refused", move |step, _| match step >= first {
        true => Reply::Failed(Failure::Refused),
        false => says("go"),
    })
}

#[test]
fn three_missing_answers_in_a_row_forfeit_the_match() {
    let seats = vec![silent(3..=9), scripted(&["go"])];
    let record = check(
        WALK,
        seats,
        &settings(),
        expect![[r#"
            ( ( at 0 ) ): a, b
            go | go ["", ""] → ( ( at 1 ) )
            go | go ["", ""] → ( ( at 2 ) )
            go | go ["CE", ""] → ( ( at 3 ) )
            go | go ["CE", ""] → ( ( at 4 ) )
            go | go ["CE", ""] → ( ( at 5 ) )
            forfeited by a, goals Some([20, 80])
            a forfeits in step 5: three answers in a row missing
            step 3 a: Connection connection reset
            step 4 a: Connection connection reset
            step 5 a: Connection connection reset
        "#]],
    );
    assert!(record.is_completed && !record.is_aborted);
    assert_eq!(
        [record.has_forfeited(0), record.has_forfeited(1)],
        [true, false]
    );
    assert_eq!(record.faults(0).to_string(), "3 (3 missing)");
}

#[test]
fn a_player_that_answers_again_plays_on() {
    let twice = seat("twice", |step, _| match step % 3 {
        0 => says("go"),
        1 => Reply::Busy,
        _ => Reply::Nil,
    });
    let record = Referee::play(
        &game(WALK),
        vec![twice, scripted(&["go"])],
        &settings(),
        &mut |_| {},
    );
    assert_eq!(record.goal_values, Some(vec![50, 50]));
    assert!(!record.has_forfeited(0));
    assert_eq!(record.faults(0).missing, 6);
    // An illegal move is an answer.
    let illegal = seat("illegal", |step, _| match step {
        2 | 4 => says("run"),
        8 => says("go"),
        _ => Reply::Failed(Failure::Empty),
    });
    let record = Referee::play(
        &game(WALK),
        vec![scripted(&["go"]), illegal],
        &settings(),
        &mut |_| {},
    );
    assert!(record.has_forfeited(1));
    assert_eq!(record.moves.len(), 7);
}

#[test]
fn a_refused_connection_forfeits_at_once() {
    check(
        WALK,
        vec![scripted(&["go"]), refused_from(2)],
        &settings(),
        expect![[r#"
            ( ( at 0 ) ): a, b
            go | go ["", ""] → ( ( at 1 ) )
            go | go ["", "CE"] → ( ( at 2 ) )
            forfeited by b, goals Some([50, 20])
            b forfeits in step 2: connection refused
            step 2 b: Refused 
        "#]],
    );
}

#[test]
fn the_others_play_on_in_games_of_more_than_two() {
    let seats = vec![scripted(&["go"]), scripted(&["go"]), refused_from(3)];
    let record = check(
        THREE,
        seats,
        &settings(),
        expect![[r#"
            ( ( at 0 ) ): a, b, c
            go | go | go ["", "", ""] → ( ( at 1 ) )
            go | go | go ["", "", ""] → ( ( at 2 ) )
            go | go | go ["", "", "CE"] → ( ( at 3 ) )
            go | go | go ["", "", "CE"] → ( ( at 4 ) )
            go | go | go ["", "", "CE"] → ( ( at 5 ) )
            over, goals Some([40, 60, 10])
            c forfeits in step 3: connection refused
            step 3 c: Refused 
            step 4 c: Forfeited 
            step 5 c: Forfeited 
        "#]],
    );
    let mut cheated = record.clone();
    cheated.goal_values = Some(vec![40, 60, 100]);
    assert!(replay(&game(THREE), &cheated).is_err());
}

#[test]
fn a_match_that_everybody_forfeits_is_void() {
    for sheet in [WALK, THREE] {
        let n_roles = game(sheet).n_roles();
        // The network fails for all, for the first player a step earlier.
        let seats = (0..n_roles).map(|idx| silent(1 + idx.min(1)..=9)).collect();
        let record = Referee::play(&game(sheet), seats, &settings(), &mut |_| {});
        assert_eq!(replay(&game(sheet), &record), Ok(()));
        assert_eq!(
            (record.goal_values.clone(), record.is_aborted),
            (None, true)
        );
        assert_eq!(record.absences().len(), n_roles);
        assert_eq!(
            record.absences()[0].to_string(),
            "silent (a): three answers in a row missing"
        );
    }
}

#[test]
fn a_player_alone_that_stops_answering_gets_its_lowest_goal() {
    let sheet = LAMP.replace("(goal robot 0)", "(goal robot 5)");
    let lost = seat("lost", |step, _| match step {
        1 => says("sleep"),
        _ => Reply::Failed(Failure::Refused),
    });
    let record = Referee::play(&game(&sheet), vec![lost], &settings(), &mut |_| {});
    assert_eq!(replay(&game(&sheet), &record), Ok(()));
    assert_eq!(record.goal_values, Some(vec![5]));
}

#[test]
fn a_player_without_any_legal_move_of_its_own_forfeits() {
    // It would win: both show the same.
    let seats = vec![scripted(&["3"]), scripted(&["1"])];
    for seed in 0..8 {
        let settings = Settings { seed, ..settings() };
        let seats = vec![scripted(&["3"]), scripted(&["1"])];
        let record = Referee::play(&game(FINGERS), seats, &settings, &mut |_| {});
        assert_eq!(record.goal_values, Some(vec![0, 100]));
    }
    check(
        FINGERS,
        seats,
        &settings(),
        expect![[r#"
            ( start ): even, odd
            2 | 1 ["IL 3", ""] → ( shown )
            over, goals Some([0, 100])
            even forfeits in step 1: no legal move in the whole match
            step 1 even: Illegal 3
        "#]],
    );
}

/// A player that answers START like this and would then play.
struct Starts(fn() -> Reply);

impl Player for Starts {
    fn answer(&mut self, request: Request, _: &StopFlag) -> Reply {
        match request {
            Request::Start { .. } => (self.0)(),
            Request::Play { .. } => says("go"),
            _ => Reply::Aborted,
        }
    }
}

#[test]
fn a_match_whose_players_do_not_start_is_void() {
    let starts = |name: &str, reply| {
        let about = About {
            name: name.to_owned(),
            ..About::default()
        };
        Seat::new(Box::new(Starts(reply)), about)
    };
    let ready = || starts("ready", || Reply::Ready);
    let refused = || starts("refused", || Reply::Failed(Failure::Refused));
    let busy = starts("busy", || Reply::Busy);
    let empty = starts("empty", || Reply::Failed(Failure::Empty));
    for (seats, expected) in [
        (vec![refused(), ready()], "refused (a): connection refused"),
        (vec![ready(), busy], "busy (b): answered `busy` to START"),
        (
            vec![refused(), empty],
            "refused (a): connection refused; empty (b): answered nothing to START",
        ),
    ] {
        let mut n_events = 0;
        let record = Referee::play(&game(WALK), seats, &settings(), &mut |_| n_events += 1);
        assert_eq!(replay(&game(WALK), &record), Ok(()));
        assert_eq!(record.goal_values, None);
        assert_eq!((record.moves.len(), n_events), (0, 0));
        assert!(record.is_aborted && !record.is_completed);
        let ending = record.agon.expect("it is ours").ending;
        assert_eq!(ending.to_string(), format!("void: {expected}"));
    }
    // Any other text is an answer.
    let odd = starts("odd", || {
        Reply::Failed(Failure::Unreadable("ok :-)".to_owned()))
    });
    let record = Referee::play(&game(WALK), vec![ready(), odd], &settings(), &mut |_| {});
    assert_eq!(record.goal_values, Some(vec![50, 50]));
}

#[test]
fn a_player_that_hangs_costs_three_clocks_and_forfeits() {
    let (keep, gate): (Sender<()>, Receiver<()>) = channel();
    let hanging = seat("hanging", move |_, _| {
        let _ = gate.recv();
        says("go")
    });
    let settings = Settings {
        play_clock: Duration::from_millis(500),
        ..settings()
    };
    let seats = vec![scripted(&["go"]), hanging];
    let record = Referee::play(&game(WALK), seats, &settings, &mut |_| {});
    drop(keep);
    assert_eq!(replay(&game(WALK), &record), Ok(()));
    assert_eq!(record.goal_values, Some(vec![50, 20]));
    assert_eq!(record.errors[1..], [["", "TO"], ["", "TO"], ["", "TO"]]);
    assert_eq!(record.faults(1).to_string(), "3 (3 late)");
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
        let illegal = || seat("illegal", |_, _| says("(take 9)"));
        let settings = Settings { seed, ..settings() };
        Referee::play(
            &game(STICKS),
            vec![illegal(), illegal()],
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
        interrupted, goals None
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
        step limit reached, goals None
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
        "state 1 differs from the rules: (lamp off)"
    );
    assert_eq!(
        tampered(&|record| record.moves[0].clear()),
        "step 1 has 0 moves"
    );
    assert_eq!(
        tampered(&|record| record.is_completed = false),
        "the match ends in a different state"
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
        let chosen = |role: RoleId| {
            game.find_move(role, moves[role.idx()])
                .expect("it is a move")
        };
        machine.advance(&JointMove::new(RoleId::all(2).map(chosen)));
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
