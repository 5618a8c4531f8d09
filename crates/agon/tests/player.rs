//! `agon player` as managers meet it, and `agon play` and `agon replay` as people do.

#![expect(
    clippy::needless_pass_by_value,
    reason = "tests give their expectations away"
)]

mod playing;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use expect_test::{Expect, expect};
use playing::{Playing, empty_folder};

/// Two roles take one or two of six sticks in turn; who takes the last one wins.
const STICKS: &str = "(role Left) (role Right) (init (sticks 6)) (init (control Left))
    (minus 6 1 5) (minus 6 2 4) (minus 5 1 4) (minus 5 2 3) (minus 4 1 3) (minus 4 2 2) (minus 3 1 2) (minus 3 2 1)
    (minus 2 1 1) (minus 2 2 0) (minus 1 1 0) (other Left Right) (other Right Left)
    (<= (legal ?r (take ?n)) (true (control ?r)) (true (sticks ?s)) (minus ?s ?n ?_t))
    (<= (legal ?r wait) (other ?r ?o) (true (control ?o)))
    (<= (next (sticks ?t)) (does ?_r (take ?n)) (true (sticks ?s)) (minus ?s ?n ?t))
    (<= (next (control ?o)) (true (control ?r)) (other ?r ?o)) (<= terminal (true (sticks 0)))
    (<= (goal ?r 100) (true (control ?o)) (other ?r ?o)) (<= (goal ?r 0) (true (control ?r)))";

fn folder(test: &str) -> PathBuf {
    let path = empty_folder(&format!("player_{test}"));
    fs::write(path.join("sticks.kif"), STICKS).expect("it can be written");
    path
}

/// A player process that needs no folder.
fn player(args: &[&str]) -> Playing {
    Playing::start(Path::new(env!("CARGO_TARGET_TMPDIR")), args)
}

/// Posts a message, in which `{rules}` are those of the sticks and `{RULES}` the same shouted.
fn say(player: &Playing, message: &str) -> String {
    let rules = format!("({STICKS})");
    let message = message.replace("{rules}", &rules);
    player.say(&message.replace("{RULES}", &rules.to_uppercase()))
}

fn check_dialogue(player: &Playing, messages: &[&str], expected: Expect) {
    let mut text = String::new();
    for message in messages {
        text.push_str(&format!("> {message}\n< {}\n", say(player, message)));
    }
    expected.assert_eq(&text);
}

#[test]
fn a_dialogue_with_the_reference_manager() {
    let player = player(&["--player", "legal"]);
    check_dialogue(
        &player,
        &[
            "( INFO )",
            "( START Base.sticks.1 Left {rules} 10 5)",
            "( INFO )",
            "( PLAY Base.sticks.1 NIL )",
            "( PLAY other NIL )",
            "( START Base.sticks.1 Left {rules} 10 5)",
            "( START m2 Left {rules} 10 5)",
            "( PLAY Base.sticks.1 (( take 1 ) wait ) )",
            "( PLAY Base.sticks.1 (wait ( take 2 ) ) )",
            "( STOP nosuch NIL )",
            "( STOP Base.sticks.1 (( take 1 ) wait ) )",
            "( ABORT Base.sticks.1 )",
            "( INFO )",
        ],
        expect![[r#"
            > ( INFO )
            < ( ( name agon ) ( status available ) ( species agon ) )
            > ( START Base.sticks.1 Left {rules} 10 5)
            < ready
            > ( INFO )
            < ( ( name agon ) ( status busy ) ( species agon ) )
            > ( PLAY Base.sticks.1 NIL )
            < ( take 1 )
            > ( PLAY other NIL )
            < busy
            > ( START Base.sticks.1 Left {rules} 10 5)
            < busy
            > ( START m2 Left {rules} 10 5)
            < busy
            > ( PLAY Base.sticks.1 (( take 1 ) wait ) )
            < wait
            > ( PLAY Base.sticks.1 (wait ( take 2 ) ) )
            < ( take 1 )
            > ( STOP nosuch NIL )
            < busy
            > ( STOP Base.sticks.1 (( take 1 ) wait ) )
            < done
            > ( ABORT Base.sticks.1 )
            < busy
            > ( INFO )
            < ( ( name agon ) ( status available ) ( species agon ) )
        "#]],
    );
}

#[test]
fn a_dialogue_with_the_dresden_manager() {
    let player = player(&["--player", "legal", "--name", "old one"]);
    check_dialogue(
        &player,
        &[
            "(START SomeMatch LEFT {RULES} 10 5)",
            "(PLAY SomeMatch NIL)",
            "(PLAY SomeMatch ((TAKE 1) WAIT))",
            "(STOP SomeMatch (WAIT (TAKE 1)))",
            "(ping)",
        ],
        expect![[r#"
            > (START SomeMatch LEFT {RULES} 10 5)
            < ready
            > (PLAY SomeMatch NIL)
            < ( TAKE 1 )
            > (PLAY SomeMatch ((TAKE 1) WAIT))
            < WAIT
            > (STOP SomeMatch (WAIT (TAKE 1)))
            < done
            > (ping)
            < ( ( name old_one ) ( status available ) ( species agon ) )
        "#]],
    );
}

#[test]
fn what_is_no_message_changes_nothing() {
    let player = player(&["--player", "legal"]);
    check_dialogue(
        &player,
        &[
            "(start m Right {rules} 10 5 and more)",
            "garbage(",
            "",
            "(PLAY m)",
            "(DANCE)",
            "(START m3 x ((role x)) 5 5)",
            "(play m nil)",
            "(abort m)",
        ],
        expect![[r#"
            > (start m Right {rules} 10 5 and more)
            < ready
            > garbage(
            < HTTP/1.0 400 Bad Request: the message is malformed: its brackets do not match
            > 
            < HTTP/1.0 400 Bad Request: the message is malformed: it is empty
            > (PLAY m)
            < HTTP/1.0 400 Bad Request: PLAY needs 2 arguments, found 1
            > (DANCE)
            < HTTP/1.0 400 Bad Request: unknown message `DANCE`: expected INFO, PREVIEW, START, PLAY, STOP or ABORT
            > (START m3 x ((role x)) 5 5)
            < busy
            > (play m nil)
            < wait
            > (abort m)
            < aborted
        "#]],
    );
}

#[test]
fn a_match_is_aborted_while_the_player_thinks() {
    let player = player(&[]);
    assert_eq!(say(&player, "(start m Left {rules} 10 60)"), "ready");
    thread::scope(|scope| {
        let play = scope.spawn(|| say(&player, "(play m nil)"));
        // It is thinking once INFO comes back while PLAY does not; how long it has been doing so does not matter.
        assert!(say(&player, "(info)").contains("busy"));
        thread::sleep(Duration::from_millis(200));
        let begin = Instant::now();
        assert_eq!(say(&player, "(abort m)"), "aborted");
        let answer = play.join().expect("it answers");
        assert!(answer.starts_with("( take "), "{answer}");
        assert!(begin.elapsed() < Duration::from_secs(20));
    });
    assert!(say(&player, "(info)").contains("available"));
}

#[test]
fn an_answer_comes_before_the_clock_runs_out() {
    let player = player(&[]);
    assert_eq!(say(&player, "(start m Left {rules} 1 1)"), "ready");
    let begin = Instant::now();
    let answer = say(&player, "(play m nil)");
    assert!(answer.starts_with("( take "), "{answer}");
    // The margin is an eighth; the rest is for slow machines.
    assert!(begin.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_huge_sheet_is_no_trouble() {
    let facts: String = (0..20_000)
        .map(|n| format!("(connected n{n} n{})\n", (n * 7 + 1) % 20_000))
        .collect();
    let rules = format!(
        "({facts} (role a) (init (at n0)) (<= (legal a (go ?y)) (true (at ?x)) (connected ?x ?y))
        (<= (next (at ?y)) (does a (go ?y))) (<= terminal (true (at n8))) (goal a 50))"
    );
    assert!(rules.len() > 400_000);
    let player = player(&[]);
    assert_eq!(player.say(&format!("(start m a {rules} 4 4)")), "ready");
    assert_eq!(player.say("(play m nil)"), "( go n1 )");
    // Some managers save the brackets around the only move.
    assert_eq!(player.say("(play m (go n1))"), "( go n8 )");
    assert_eq!(player.say("(abort m)"), "aborted");
}

#[test]
fn several_matches_at_a_time() {
    let player = player(&["--player", "legal", "--matches", "2"]);
    for id in ["m1", "m2"] {
        assert_eq!(
            say(&player, &format!("(start {id} Left {{rules}} 10 5)")),
            "ready"
        );
    }
    assert_eq!(say(&player, "(start m3 Left {rules} 10 5)"), "busy");
    assert_eq!(say(&player, "(play m2 nil)"), "( take 1 )");
    assert_eq!(say(&player, "(play m1 nil)"), "( take 1 )");
}

/// Runs a command with this input; exit code and everything that it prints.
fn check_input(test: &str, args: &[&str], input: &str, expected: Expect) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_agon"))
        .args(args)
        .current_dir(folder(test))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("it has an input");
    stdin.write_all(input.as_bytes()).expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let code = output.status.code().expect("it was not killed");
    let [out, err] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    expected.assert_eq(&format!("exit {code}\n{out}{err}"));
}

#[test]
fn a_person_plays_to_the_end() {
    check_input(
        "whole",
        &["play", "sticks.kif", "--against", "legal", "--seed", "1"],
        "take 9\n2\nundo\n(TAKE 1)\nm\n2\nboard\n#2\n",
        expect![[r#"
            exit 0
            sticks
            You are Left; legal plays Right. `help` explains what you can type.

            control Left
            sticks 6

            Your moves: 1  2
            Left> `take 9` is not a legal move; `moves` lists the legal moves, `help` explains
            Left>   Left 2

              Right 1

            control Left
            sticks 3

            Your moves: 1  2
            Right threatens to win with the next move; only 2 can stop that.
            Left> control Left
            sticks 6

            Your moves: 1  2
            Left>   Left 1

              Right 1

            control Left
            sticks 4

            Your moves: 1  2
            Right threatens to win with the next move; only 1 can stop that.
            Left> #1 1  #2 2
            Left>   Left 2

              Right 1

              Left 1

            control Right
            sticks 0

            You win 100 : 0.
        "#]],
    );
}

#[test]
fn a_person_asks_what_the_player_thinks() {
    let folder = folder("thinks");
    let output = Command::new("sh")
        .args([
            "-c",
            "printf 'hint\\neval\\nsave m.json\\nsave\\n' | $AGON play sticks.kif --playouts 200",
        ])
        .env("AGON", env!("CARGO_BIN_EXE_agon"))
        .current_dir(&folder)
        .output()
        .expect("there is a shell");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("Hint: "), "{text}");
    assert!(text.contains("points"), "{text}");
    assert!(text.contains("Best line: "), "{text}");
    assert!(text.contains("Saved to m.json"), "{text}");
    assert!(text.contains("Name a file: save FILE"), "{text}");
    assert!(text.contains("The record is in m.json."), "{text}");
    assert!(folder.join("m.json").is_file());
}

#[test]
fn a_person_resigns_or_goes_away() {
    let args = [
        "play",
        "sticks.kif",
        "--as",
        "right",
        "--against",
        "legal",
        "--seed",
        "1",
    ];
    check_input(
        "resigns",
        &args,
        "?\nu\nr\n",
        expect![[r#"
            exit 0
            sticks
            You are Right; legal plays Left. `help` explains what you can type.

              Left 1

            control Right
            sticks 5

            Your moves: 1  2
            Right> Type a move, such as 1, or its number in the list, such as #1, or:
              moves      list your legal moves
              board      show the board again
              hint       suggest a move
              eval       say what the player thinks of this position
              undo       take back your last move
              save FILE  write the record of the match to a file
              resign     give up
              help       show this help
              quit       leave; so do Ctrl-C and Ctrl-D
            Right> There is nothing to take back.
            Right> You resign: Left wins.
        "#]],
    );
    check_input(
        "goes",
        &args,
        "",
        expect![[r#"
            exit 0
            sticks
            You are Right; legal plays Left. `help` explains what you can type.

              Left 1

            control Right
            sticks 5

            Your moves: 1  2
            Right> 
            You leave the match before its end. Goodbye.
        "#]],
    );
    let args = ["play", "sticks.kif", "--as", "nobody"];
    check_input(
        "nobody",
        &args,
        "",
        expect![[r#"
            exit 2
            agon: sticks.kif has no role `nobody`; its roles are: Left, Right
        "#]],
    );
}

#[test]
fn a_person_in_a_match() {
    let args = ["match", "sticks.kif", "human", "legal", "--seed", "1"];
    check_input(
        "match",
        &args,
        "2\nundo\ntake 1\n2\n",
        expect![[r#"
            exit 0
            sticks.kif: 1 s per move, 10 s to prepare, seed 1
              Left   human
              Right  legal

            Your moves: 1  2
            Left>   1  Left 2               Right wait
              2  Left wait            Right 1
            Your moves: 1  2
            Right threatens to win with the next move; only 2 can stop that.
            Left> A match has no undo, hint or eval; `agon play` has them.
            Left>   3  Left 1               Right wait
              4  Left wait            Right 1
              5  Left 1               Right wait

            over after 5 steps
            role   player  goal  faults
            Left   human    100       0
            Right  legal      0       0

            You win 100 : 0.
        "#]],
    );
    check_input(
        "off",
        &args,
        "2\nresign\n",
        expect![[r#"
            exit 1
            sticks.kif: 1 s per move, 10 s to prepare, seed 1
              Left   human
              Right  legal

            Your moves: 1  2
            Left>   1  Left 2               Right wait
              2  Left wait            Right 1
            Your moves: 1  2
            Right threatens to win with the next move; only 2 can stop that.
            Left> You resign.

            interrupted after 2 steps
            role   player  goal  faults
            Left   human      -       0
            Right  legal      -       0
            no goals: the match did not reach a terminal state
        "#]],
    );
}

#[test]
fn a_record_is_replayed_and_verified() {
    let folder = folder("replay");
    let agon = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
        let output = command.args(args).current_dir(&folder).output();
        let output = output.expect("the binary runs");
        let code = output.status.code().expect("it was not killed");
        let [out, err] =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        format!("exit {code}\n{out}{err}")
    };
    let args = [
        "match",
        "sticks.kif",
        "mc",
        "random",
        "--playouts",
        "100",
        "--seed",
        "3",
    ];
    agon(&[&args[..], &["--record", "m.json"]].concat());
    // The name of a match is the time when it began.
    let text = fs::read_to_string(folder.join("m.json")).expect("it was written");
    let id = text
        .split('"')
        .nth(3)
        .expect("the id comes first")
        .to_owned();
    let shown = agon(&["replay", "m.json", "--verify"]).replace(&id, "ID");
    expect![[r#"
        exit 0
        ID
          Left   mc
          Right  random

          1  Left 2               Right wait            Left expects 36 by 100 playouts
          2  Left wait            Right 2
          3  Left 2               Right wait            Left expects 100 by 100 playouts

        over after 3 steps
        role   player  goal  faults
        Left   mc       100       0
        Right  random     0       0

        valid: the record follows the rules
        Left  mc  made the same 3 moves again
        Right  random  made the same 3 moves again
    "#]]
    .assert_eq(&shown);
    expect![[r#"
        exit 0
        {"file":"m.json","valid":true,"error":null,"steps":3,"completed":true,"goals":[100,0],"verified":[{"role":"Left","player":"mc","moves":3,"difference":null,"skipped":null,"refused":false},{"role":"Right","player":"random","moves":3,"difference":null,"skipped":null,"refused":false}]}
    "#]].assert_eq(&agon(&["replay", "m.json", "--verify", "--json"]));

    // Another move, another result, another budget.
    let change = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}: {text}");
        fs::write(folder.join("changed.json"), text.replacen(from, to, 1)).expect("it is written");
        let shown = agon(&["replay", "changed.json", "--verify", "--json"]);
        let (code, _) = shown.split_once('\n').expect("there is more");
        let error = shown
            .split(r#""error":"#)
            .nth(1)
            .map(|rest| rest.split(r#","steps""#).next());
        let difference = shown
            .split(r#""difference":""#)
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        format!("{code} {:?} {difference:?}", error.flatten())
    };
    expect![[r#"exit 1 Some("\"step 1: `( grab 2 )` is not legal for Left\"") Some("step 1: recorded (grab 2), now (take 2)")"#]].assert_eq(&change(r#""moves":[["( take "#, r#""moves":[["( grab "#));
    expect![[r#"exit 1 Some("\"the goals are Some([100, 0]), not Some([0, 100])\"") None"#]]
        .assert_eq(&change(
            r#""goalValues":[100,0]"#,
            r#""goalValues":[0,100]"#,
        ));
    expect![[r#"exit 1 Some("null") Some("step 1: recorded (take 2), now (take 1)")"#]]
        .assert_eq(&change("100 playouts", "1 playouts"));
    expect![[r#"
        exit 2
        agon: sticks.kif is not a match record: expected value at line 1 column 1
    "#]]
    .assert_eq(&agon(&["replay", "sticks.kif"]));
}
