//! Matches of games with hidden information: each player is told its own percepts and nothing else, in both forms of the
//! protocol, and the record keeps everything.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_arena::{About, Ending, MatchRecord, Referee, ReplayError, Seat, Settings, replay};
use agon_engine::{Game, JointMove, RoleId};
use agon_protocol::codec::write_request;
use agon_protocol::{PerceptForm, Player, Reply, Request, StopFlag, Term};

/// Chance deals a secret to each of two roles; in each step both name a number, and learn only whether theirs was higher.
const SECRETS: &str = "(role left) (role random) (role right) (init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4)
    (secret alpha) (secret beta) (secret gamma) (more 2 1) (more 3 2) (more 3 1) (number 1) (number 2) (number 3)
    (<= (legal random (deal ?a ?b)) (true (step 0)) (secret ?a) (secret ?b)) (<= (legal random idle) (not (true (step 0))))
    (<= (legal ?r (name ?n)) (role ?r) (distinct ?r random) (number ?n))
    (<= (next (has left ?a)) (does random (deal ?a ?b))) (<= (next (has right ?b)) (does random (deal ?a ?b)))
    (<= (next (has ?r ?s)) (true (has ?r ?s))) (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
    (<= (next (won ?r)) (higher ?r)) (<= (next (won ?r)) (true (won ?r)))
    (<= (higher ?r) (does ?r (name ?n)) (does ?q (name ?m)) (more ?n ?m))
    (<= (sees left (card ?a)) (does random (deal ?a ?b))) (<= (sees right (card ?b)) (does random (deal ?a ?b)))
    (<= (sees ?r (you higher)) (higher ?r))
    (<= terminal (true (step 4))) (<= (goal ?r 100) (true (won ?r))) (<= (goal ?r 0) (role ?r) (not (true (won ?r))))";

fn game() -> Arc<Game> {
    Arc::new(Game::from_text(SECRETS).expect("a game"))
}

/// Writes down all that is sent to it, and answers from a list.
struct Spy {
    received: Arc<Mutex<Vec<String>>>,
    answers: Vec<&'static str>,
}

impl Player for Spy {
    fn answer(&mut self, request: Request, _stop: &StopFlag) -> Reply {
        let mut received = self.received.lock().expect("no panic");
        received.push(write_request(&request));
        match request {
            Request::Play { .. } => Reply::Move {
                mv: Term::read(self.answers.remove(0)).expect("a term"),
                thought: None,
            },
            Request::Stop { .. } => Reply::Done,
            _ => Reply::Ready,
        }
    }
}

/// Plays a match; also what was sent to each player.
fn play(
    form: PerceptForm,
    chance_seed: u64,
    answers: [&[&'static str]; 2],
) -> (MatchRecord, [Vec<String>; 2]) {
    let received = [(); 2].map(|()| Arc::new(Mutex::new(Vec::new())));
    let seats = received.iter().zip(answers).map(|(received, answers)| {
        let spy = Spy {
            received: Arc::clone(received),
            answers: answers.to_vec(),
        };
        Seat::new(Box::new(spy), About::named("spy"))
    });
    let clock = Duration::from_secs(60);
    let settings = Settings {
        percept_form: form,
        chance_seed,
        ..Settings::new("secrets", clock, clock)
    };
    let record = Referee::play(&game(), seats.collect(), &settings, &mut |_| {});
    let received = received.map(|received| received.lock().expect("no panic").clone());
    (record, received)
}

const STEADY: [&[&str]; 2] = [
    &["(name 3)", "(name 1)", "(name 2)", "(name 3)"],
    &["(name 1)", "(name 1)", "(name 3)", "(name 2)"],
];

#[test]
fn players_receive_only_what_their_roles_see() {
    for form in [PerceptForm::Short, PerceptForm::Turn] {
        for seed in 0..20 {
            let (record, received) = play(form, seed, STEADY);
            let details = record.agon.as_ref().expect("it is ours");
            assert_eq!(details.ending, Ending::Terminal);
            assert_eq!(details.random.as_deref(), Some("random"));
            replay(&game(), &record).expect("it follows the rules");
            for (player, role) in [(0, 0), (1, 2)] {
                let messages = &received[player];
                assert!(messages[0].starts_with("( START "));
                // One message per step and the first one, then STOP.
                assert_eq!(messages.len(), 1 + 4 + 1);
                for (step, message) in messages[1..].iter().enumerate() {
                    let word = if step == 4 { "STOP" } else { "PLAY" };
                    let seen = match step {
                        0 => "NIL".to_owned(),
                        _ => match details.percepts[step - 1][role].join(" ").as_str() {
                            "" => "( )".to_owned(),
                            seen => format!("({seen} )"),
                        },
                    };
                    let own = match step {
                        0 => "NIL".to_owned(),
                        _ => record.moves[step - 1][role].clone(),
                    };
                    let turn = match form {
                        PerceptForm::Short => String::new(),
                        PerceptForm::Turn => format!("{step} {own} "),
                    };
                    let id = &record.match_id;
                    // Nothing else: neither the moves of others nor those of chance.
                    assert_eq!(*message, format!("( {word} {id} {turn}{seen} )"));
                }
            }
        }
    }
}

#[test]
fn the_percepts_are_those_of_the_rules() {
    let (record, received) = play(PerceptForm::Short, 3, STEADY);
    let deal = &record.moves[0][1];
    let dealt: Vec<&str> = deal
        .trim_matches(['(', ')', ' '])
        .split_whitespace()
        .collect();
    assert_eq!(dealt[0], "deal");
    let seen = |player: usize| {
        received[player][2]
            .split_once(".")
            .map(|_| received[player][2].clone())
    };
    let (left, right) = (seen(0).expect("a message"), seen(1).expect("a message"));
    assert!(
        left.ends_with(&format!("(( card {} ) ( you higher ) ) )", dealt[1])),
        "{left}"
    );
    assert!(
        right.ends_with(&format!("(( card {} ) ) )", dealt[2])),
        "{right}"
    );
    assert_eq!(record.goal_values, Some(vec![100, 0, 100]));
    let details = record.agon.expect("it is ours");
    assert_eq!(
        details.percepts[0][1],
        Vec::<String>::new(),
        "chance sees nothing"
    );
}

#[test]
fn chance_depends_only_on_its_seed() {
    let deal = |chance_seed, answers| {
        let (record, _) = play(PerceptForm::Turn, chance_seed, answers);
        record.moves[0][1].clone()
    };
    let other: [&[&str]; 2] = [STEADY[1], STEADY[0]];
    let mut deals: Vec<String> = Vec::new();
    for seed in 0..200 {
        assert_eq!(deal(seed, STEADY), deal(seed, other));
        deals.push(deal(seed, STEADY));
    }
    deals.sort();
    let counts: Vec<usize> = deals
        .chunk_by(|left, right| left == right)
        .map(<[_]>::len)
        .collect();
    assert_eq!(counts.len(), 9);
    // 200 draws of nine: a count outside this range has a chance below one in ten thousand.
    assert!(counts.iter().all(|n| (5..45).contains(n)), "{counts:?}");
}

#[test]
fn chance_alone_plays_to_the_end() {
    let sheet =
        "(role random) (init (left 3)) (less 3 2) (less 2 1) (less 1 0) (side heads) (side tails)
        (<= (legal random (flip ?s)) (side ?s)) (<= (next (left ?m)) (true (left ?n)) (less ?n ?m))
        (<= (sees random ?m) (does random ?m)) (<= terminal (true (left 0))) (goal random 0)";
    let game = Arc::new(Game::from_text(sheet).expect("a game"));
    let clock = Duration::from_secs(60);
    let settings = Settings::new("chance", clock, clock);
    let record = Referee::play(&game, Vec::new(), &settings, &mut |_| {});
    let details = record.agon.as_ref().expect("it is ours");
    assert_eq!(details.ending, Ending::Terminal);
    assert_eq!(record.moves.len(), 3);
    replay(&game, &record).expect("it follows the rules");
}

#[test]
fn a_substituted_move_is_told() {
    let answers: [&[&str]; 2] = [&["(name 9)", "(name 1)", "(name 2)", "(name 3)"], STEADY[1]];
    let (record, received) = play(PerceptForm::Turn, 1, answers);
    assert_eq!(record.errors[1][0], "IL ( name 9 )");
    let made = &record.moves[0][0];
    assert_ne!(made, "( name 9 )");
    assert!(
        received[0][2].contains(&format!(" 1 {made} ")),
        "{}",
        received[0][2]
    );
}

#[test]
fn a_record_with_other_percepts_is_not_valid() {
    let (mut record, _) = play(PerceptForm::Turn, 1, STEADY);
    let details = record.agon.as_mut().expect("it is ours");
    details.percepts[1][0].push("( you higher )".to_owned());
    let error = replay(&game(), &record).expect_err("it was changed");
    assert!(
        matches!(&error, ReplayError::Percepts { step: 2, role, .. } if role == "left"),
        "{error}"
    );
    // What is recorded is what the engine derives.
    let game = game();
    let mut machine = game.machine();
    let joint = game
        .joint_move(&["(name 3)", "(deal alpha beta)", "(name 1)"])
        .expect("moves");
    let seen = machine
        .percepts(RoleId(2), &JointMove::new(joint.moves().iter().copied()))
        .len();
    assert_eq!(seen, 1);
}
