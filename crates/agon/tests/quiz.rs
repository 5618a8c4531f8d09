//! Quizzes: obfuscated games have the same tree, and tasks and scores fit together.
//!
//! $AGON_CORPUS is a folder of real sheets, of which 50 are compared as deep as $AGON_SEQUENCES sequences of moves allow.

use std::env;
use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_engine::{Game, JointMove, Machine, Perft};
use agon_gdl::made_up::MadeUp;
use agon_gdl::obfuscate::{Mapping, Naming, Obfuscation, obfuscate};
use agon_gdl::{Keyword, Limits, RelationId, Rules, Term, check, parse};
use serde_json::{Value, json};

fn rules(text: &str) -> Option<Arc<Rules>> {
    check(&parse(text.as_bytes(), &Limits::default()))
        .ok()
        .map(Arc::new)
}

/// Constants that are goal values, and all small numbers where a rule computes the value.
fn keep(rules: &Rules) -> Vec<String> {
    let goals = rules
        .rules
        .iter()
        .filter(|rule| rule.head.relation == RelationId::GOAL);
    let values: Vec<&Term> = goals.map(|rule| &rule.head.args[1]).collect();
    if values
        .iter()
        .all(|value| matches!(value, Term::Constant(_)))
    {
        return values.iter().map(|value| rules.term_text(value)).collect();
    }
    let names = rules.symbols.iter().map(|(_, name)| name.to_owned());
    names
        .filter(|name| name.parse::<u8>().is_ok_and(|n| n <= 100))
        .collect()
}

fn compile(rules: &Arc<Rules>) -> Option<Game> {
    let deadline = Instant::now() + Duration::from_secs(20);
    let stop = || Instant::now() > deadline;
    Game::network(Arc::clone(rules), &Default::default(), &stop).ok()
}

/// Numbers of sequences of joint moves, as deep as there are about `most` of them.
fn perft(game: &Game, most: u64) -> Vec<u64> {
    let mut machine = game.machine();
    let counts = Perft::new(&mut *machine, game.n_roles()).take(30);
    let mut list = vec![1];
    for count in counts {
        // The next count grows about as this one did.
        let before = list.last().copied().unwrap_or(1).max(1);
        list.push(count);
        if count == 0 || (count / before).saturating_mul(count) > most {
            break;
        }
    }
    list
}

/// The state, the legal moves and the goals, as sorted texts, mapped or not.
fn view(game: &Game, machine: &mut dyn Machine, map: &dyn Fn(&str) -> String) -> Vec<Vec<String>> {
    let mut lists = vec![game.fluents(&machine.state())];
    for role in game.roles() {
        let moves = machine.legal_moves(role).iter();
        lists.push(moves.map(|&mv| game.move_text(role, mv)).collect());
        lists.push(machine.goals(role));
    }
    for list in &mut lists {
        *list = list.iter().map(|text| map(text)).collect();
        list.sort();
    }
    lists.push(vec![machine.is_terminal().to_string()]);
    lists
}

/// Plays the same random games on both and compares every state.
fn lockstep(one: &Game, other: &Game, mapping: &Mapping, what: &str) {
    for seed in 0..3 {
        let mut source = MadeUp::new(seed);
        let (mut first, mut second) = (one.machine(), other.machine());
        for step in 0..60 {
            let left = view(one, &mut *first, &|text| mapping.term(text));
            let right = view(other, &mut *second, &str::to_owned);
            assert_eq!(left, right, "{what}, seed {seed}, step {step}");
            if first.is_terminal() {
                break;
            }
            let mut joints = (Vec::new(), Vec::new());
            for role in one.roles() {
                let legal = first.legal_moves(role);
                if legal.is_empty() {
                    return;
                }
                let mv = legal[source.draw(legal.len())];
                let text = mapping.term(&one.move_text(role, mv));
                joints.0.push(mv);
                joints
                    .1
                    .push(other.find_move(role, &text).expect("the move exists"));
            }
            first.advance(&JointMove::new(joints.0));
            second.advance(&JointMove::new(joints.1));
        }
    }
}

/// Compares a game with its obfuscated forms; false if it cannot be grounded in time.
fn check_game(name: &str, text: &str, most: u64) -> bool {
    let Some(rules_of_one) = rules(text).filter(|rules| !rules.is_gdl2()) else {
        return false;
    };
    let Some(one) = compile(&rules_of_one) else {
        return false;
    };
    let keep = keep(&rules_of_one);
    let expected = perft(&one, most);
    for (seed, naming) in [
        (1, Naming::MadeUp),
        (2, Naming::Misleading),
        (3, Naming::Original),
    ] {
        let what = format!("{name}, {naming:?}");
        let obfuscated = obfuscate(&rules_of_one, &Obfuscation::full(seed, naming), &keep);
        let other_rules = rules(&obfuscated.text).unwrap_or_else(|| panic!("{what} is not valid"));
        if naming != Naming::Original {
            for (symbol, new) in other_rules.symbols.iter() {
                let is_old = rules_of_one.symbols.get(new).is_some();
                let may = Keyword::of(symbol).is_some() || keep.iter().any(|name| name == new);
                assert!(!is_old || may, "{what}: `{new}` survives");
            }
        }
        let other = compile(&other_rules).unwrap_or_else(|| panic!("{what} does not ground"));
        assert_eq!(perft(&other, most), expected, "{what}");
        lockstep(&one, &other, &obfuscated.mapping, &what);
    }
    true
}

#[test]
fn obfuscated_games_have_the_same_tree() {
    for name in [
        "tic_tac_toe",
        "connect_four",
        "breakthrough",
        "roshambo",
        "eight_puzzle",
    ] {
        let Some(game) = agon::games::find(name) else {
            panic!("{name} is built in");
        };
        assert!(check_game(name, game.sheet, 3_000), "{name}");
    }
}

#[test]
fn obfuscated_sheets_of_the_corpus_have_the_same_tree() {
    let Ok(corpus) = env::var("AGON_CORPUS") else {
        return;
    };
    let files = fs::read_dir(format!("{corpus}/games")).expect("the corpus has games");
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    MadeUp::new(5).shuffle(&mut paths);
    let most = env::var("AGON_SEQUENCES").map_or(10_000, |most| most.parse().unwrap());
    let mut n_checked = 0;
    for path in paths {
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        if text.len() < 30_000 && check_game(&path.display().to_string(), &text, most) {
            n_checked += 1;
        }
        if n_checked == 50 {
            return;
        }
    }
    panic!("only {n_checked} sheets of the corpus were compared");
}

fn agon(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_agon")).args(args).output();
    let output = output.expect("the binary runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {error}");
    String::from_utf8(output.stdout).expect("it is text")
}

fn tasks(args: &[&str]) -> Vec<Value> {
    let lines = agon(&[&["quiz"], args].concat());
    lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("it is JSON"))
        .collect()
}

#[test]
fn a_quiz_is_repeatable_and_its_own_answers_score_full_marks() {
    for names in ["plain", "made-up", "misleading"] {
        let args = ["tic_tac_toe", "--n", "12", "--seed", "4", "--names", names];
        let quiz = tasks(&args);
        assert_eq!(quiz, tasks(&args), "the same seed gives the same quiz");
        assert_ne!(
            quiz,
            tasks(&["tic_tac_toe", "--n", "12", "--seed", "5", "--names", names])
        );
        let mut kinds: Vec<&str> = quiz
            .iter()
            .map(|task| task["task"].as_str().unwrap())
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(
            kinds,
            ["best", "error", "legal", "next", "outcome", "shortest"]
        );
        let path = env::temp_dir().join(format!("agon-quiz-{}-{names}.jsonl", std::process::id()));
        let respond = |change: &dyn Fn(&mut Vec<Value>)| {
            let lines = quiz.iter().map(|task| {
                let mut task = task.clone();
                let mut answer = task["answer"].as_array().unwrap().clone();
                answer.reverse();
                change(&mut answer);
                let words: Vec<&str> = answer.iter().map(|term| term.as_str().unwrap()).collect();
                task["response"] = json!(format!("Let me see.\nAnswer:\n{}", words.join("\n")));
                task.to_string()
            });
            fs::write(&path, lines.collect::<Vec<_>>().join("\n")).expect("it can be written");
            let report = agon(&["quiz", "score", &path.display().to_string(), "--json"]);
            let last: Value = serde_json::from_str(report.lines().last().unwrap()).unwrap();
            (last["right"].as_u64().unwrap(), last["n"].as_u64().unwrap())
        };
        assert_eq!(respond(&|_| {}), (12, 12));
        assert_eq!(respond(&|answer| answer.push(json!("(no such)"))), (0, 12));
        assert_eq!(respond(&|answer| _ = answer.pop()), (0, 12));
        let _ = fs::remove_file(path);
    }
}

#[test]
fn hidden_answers_and_names_tell_nothing() {
    let quiz = tasks(&[
        "connect_four",
        "--n",
        "2",
        "--tasks",
        "legal",
        "--names",
        "made-up",
        "--no-answers",
    ]);
    for task in quiz {
        let text = task.to_string();
        assert!(task.get("answer").is_none(), "{text}");
        for word in ["connect", "drop", "cell", "red"] {
            let prompt = task["prompt"].as_str().unwrap();
            assert!(
                !prompt.contains(&format!("({word} ")) && !text.contains("connect_four"),
                "{word}"
            );
        }
    }
}

#[test]
fn scoring_goes_by_the_key_and_refuses_what_is_damaged() {
    let folder = env::temp_dir().join(format!("agon-score-{}", std::process::id()));
    fs::create_dir_all(folder.join("other")).expect("it can be made");
    let (key, file) = (folder.join("key.jsonl"), folder.join("responses.jsonl"));
    // Two sheets with the same file name: every task has its own id all the same.
    let sheet = agon::games::find("tic_tac_toe")
        .expect("it is built in")
        .sheet;
    let sheets = [folder.join("game.kif"), folder.join("other/game.kif")];
    sheets
        .iter()
        .for_each(|path| fs::write(path, sheet).unwrap());
    let sheets = sheets.map(|path| path.display().to_string());
    let lines = agon(&["quiz", &sheets[0], &sheets[1], "--n", "3"]);
    fs::write(&key, &lines).expect("it can be written");
    let quiz: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut ids: Vec<&str> = quiz
        .iter()
        .map(|task| task["id"].as_str().unwrap())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 6);
    let score = |lines: &[Value], rest: &str| {
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        fs::write(&file, lines.join("\n") + rest).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_agon"))
            .args([
                "quiz",
                "score",
                &file.display().to_string(),
                "--json",
                "--key",
            ])
            .arg(&key)
            .output()
            .expect("the binary runs");
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    };
    let right = |task: &Value| json!({"id": task["id"], "response": task["answer"]});
    let (code, report) = score(&quiz.iter().map(right).collect::<Vec<_>>(), "");
    assert!(
        code == Some(0) && report.contains("\"right\":6"),
        "{report}"
    );
    // An answer that brings its own key does not count.
    let forged =
        |task: &Value| json!({"id": task["id"], "response": "nonsense", "answer": ["nonsense"]});
    let (code, report) = score(&quiz.iter().map(forged).collect::<Vec<_>>(), "");
    assert!(
        code == Some(0) && report.contains("\"right\":0"),
        "{report}"
    );
    let (code, report) = score(&[json!({"id": quiz[0]["id"]})], "\n\n");
    assert!(
        code == Some(0) && report.contains("\"missing\":1"),
        "{report}"
    );
    for (lines, rest, why) in [
        (
            vec![right(&quiz[0])],
            "\n{\"id\": \"x",
            ":2: this line is not JSON",
        ),
        (
            vec![right(&quiz[0])],
            "\n\n7",
            ":3: this line is not a JSON object",
        ),
        (vec![right(&quiz[0]), right(&quiz[0])], "", ":2: "),
        (
            vec![json!({"id": "none", "response": ""})],
            "",
            "has no task `none`",
        ),
    ] {
        let (code, report) = score(&lines, rest);
        assert!(code == Some(2) && report.contains(why), "{report}");
    }
    let _ = fs::remove_dir_all(folder);
}
