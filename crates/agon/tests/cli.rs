//! The binary as people and scripts call it: output, exit codes and files.

#![expect(
    clippy::needless_pass_by_value,
    reason = "tests give their expectations away"
)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use expect_test::{Expect, expect};

/// A small game; its only finding is none.
const GAME: &str = "(role robot)
(init (light off))
(legal robot push)
(<= (next (light on)) (does robot push))
(<= terminal (true (light on)))
(<= (goal robot 100) terminal)
";

/// A folder of files for one test.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("the folder can be made");
        Folder(path)
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> &Folder {
        fs::write(self.0.join(name), text).expect("the file can be written");
        self
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).expect("the file can be read")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
        command.current_dir(&self.0).args(args);
        command
    }

    /// Runs `agon` and compares exit code, standard output and standard error.
    fn check(&self, args: &[&str], expected: Expect) {
        expected.assert_eq(&transcript(&self.run(args)));
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the binary runs")
    }

    fn run_with_input(&self, args: &[&str], input: &str) -> Output {
        let mut command = self.command(args);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        let mut stdin = child.stdin.take().expect("it is piped");
        stdin.write_all(input.as_bytes()).expect("it is read");
        drop(stdin);
        child.wait_with_output().expect("it ends")
    }
}

fn transcript(output: &Output) -> String {
    let code = output.status.code().expect("it was not killed");
    let mut text = format!("exit {code}\n");
    for line in String::from_utf8_lossy(&output.stdout).split_inclusive('\n') {
        // Times differ from run to run.
        let is_time = line.starts_with("  times ");
        text.push_str(if is_time { "  times      …\n" } else { line });
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    if !errors.is_empty() {
        text.push_str(&format!("--- stderr\n{errors}"));
    }
    text
}

#[test]
fn check_of_a_good_sheet() {
    Folder::new("check_good").file("game.kif", GAME).check(
        &["check", "game.kif"],
        expect![[r#"
            exit 0
            game.kif: ok, 0 errors, 0 warnings
        "#]],
    );
}

#[test]
fn check_draws_findings_and_counts_them() {
    let sheet = GAME
        .replace("100", "win")
        .replace("(does robot push)", "(does robot push) (true (light ?x))");
    Folder::new("check_bad").file("game.kif", sheet).check(
        &["check", "game.kif"],
        expect![[r#"
            exit 1
            warning[single-variable]: `?x` occurs only once in this rule
             --> game.kif:4:54
              |
            4 | (<= (next (light on)) (does robot push) (true (light ?x)))
              |                                                      ^^
              |
              = help: rename it to `?_x` if any value is allowed; otherwise check the spelling

            error[goal-value]: the goal value `win` is not a number
             --> game.kif:6:17
              |
            6 | (<= (goal robot win) terminal)
              |                 ^^^
              |
              = help: a goal value is an integer from 0 (lost) to 100 (won)

            game.kif: cannot be played, 1 error, 1 warning
        "#]],
    );
}

#[test]
fn check_as_json() {
    let sheet = GAME
        .replace("100", "win")
        .replace("(does robot push)", "(does robot push) (true (light ?x))");
    let folder = Folder::new("check_json");
    folder.file("bad.kif", sheet).file("good.kif", GAME);
    folder.check(&["check", "--json", "good.kif", "bad.kif"], expect![[r#"
        exit 1
        {"file":"good.kif","ok":true,"errors":[],"warnings":[]}
        {"file":"bad.kif","ok":false,"errors":[{"kind":"goal-value","line":6,"column":17,"message":"the goal value `win` is not a number","help":"a goal value is an integer from 0 (lost) to 100 (won)"}],"warnings":[{"kind":"single-variable","line":4,"column":54,"message":"`?x` occurs only once in this rule","help":"rename it to `?_x` if any value is allowed; otherwise check the spelling"}]}
    "#]]);
}

#[test]
fn check_shows_the_first_few_of_a_kind_and_all_on_demand() {
    let many: String = (0..8).map(|n| format!("(unused{n} a)\n")).collect();
    let folder = Folder::new("check_all");
    folder.file("game.kif", GAME.to_owned() + &many);
    let count = |args: &[&str]| {
        let output = folder.run(args);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (
            text.matches("warning[unused]").count(),
            text.lines().last().unwrap_or_default().to_owned(),
        )
    };
    assert_eq!(
        count(&["check", "game.kif"]),
        (
            5,
            "  not shown: 3 more unused (--all shows them)".to_owned()
        )
    );
    assert_eq!(count(&["check", "--all", "game.kif"]).0, 8);
}

/// Errors are all drawn, so none of them is said to be hidden.
#[test]
fn check_draws_every_error() {
    let errors: String = (0..8).map(|n| format!("(<= (p{n} ?x) wet)\n")).collect();
    let folder = Folder::new("check_draws_every_error");
    folder.file("game.kif", format!("{GAME}wet\n{errors}"));
    let output = folder.run(&["check", "game.kif"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.matches("error[unsafe-head]").count(), 8, "{text}");
    assert!(!text.contains("more unsafe-head"), "{text}");
}

#[test]
fn check_of_a_built_in_game() {
    Folder::new("check_built_in").check(
        &["check", "tic_tac_toe", "ConnectFour"],
        expect![[r#"
            exit 0
            tic_tac_toe: ok, 0 errors, 0 warnings
            connect_four: ok, 0 errors, 0 warnings
        "#]],
    );
}

#[test]
fn check_of_what_cannot_be_read_is_a_wrong_call() {
    let folder = Folder::new("check_unread");
    folder.file("game.kif", GAME);
    fs::create_dir(folder.0.join("folder")).expect("it can be made");
    folder.check(
        &["check", "missing.kif", "folder", "game.kif"],
        expect![[r#"
            exit 2
            game.kif: ok, 0 errors, 0 warnings
            --- stderr
            agon: there is no file and no built-in game called `missing.kif`; `agon games` lists the built-in games
            agon: cannot read folder: Is a directory (os error 21)
        "#]],
    );
    folder.check(&["check", "--json", "missing.kif"], expect![[r#"
        exit 2
        {"file":"missing.kif","ok":false,"errors":[{"kind":"unreadable","line":0,"column":0,"message":"there is no file and no built-in game called `missing.kif`; `agon games` lists the built-in games","help":""}],"warnings":[]}
    "#]]);
    assert_eq!(folder.run(&["check"]).status.code(), Some(2));
    assert_eq!(
        folder
            .run(&["check", "--nonsense", "game.kif"])
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn check_with_a_limit_on_the_size() {
    let folder = Folder::new("check_size");
    folder.file("game.kif", GAME).check(
        &["check", "--max-size", "100", "game.kif"],
        expect![[r#"
            exit 1
            error[too-large]: the file is larger than the limit of 100 bytes
            --> game.kif
             = help: raise the limit with --max-size if the file is correct

            game.kif: cannot be played, 1 error, 0 warnings
        "#]],
    );
    assert_eq!(
        folder
            .run(&["check", "--max-size", "1000", "game.kif"])
            .status
            .code(),
        Some(0)
    );
}

#[test]
fn check_counts_lines_of_every_kind() {
    let sheet = GAME.replace('\n', "\r\n").replace("100", "win");
    let folder = Folder::new("check_lines");
    folder
        .file("crlf.kif", &sheet)
        .file("cr.kif", sheet.replace("\r\n", "\r"));
    let output = folder.run(&["check", "--json", "crlf.kif", "cr.kif"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(
        text.matches("\"line\":6,\"column\":17").count(),
        2,
        "{text}"
    );
}

#[test]
fn fmt_writes_in_place_and_says_so() {
    let folder = Folder::new("fmt");
    folder.file("game.kif", "(role   a);c\n").check(
        &["fmt", "game.kif"],
        expect![[r#"
            exit 0
            --- stderr
            game.kif: formatted
        "#]],
    );
    assert_eq!(folder.read("game.kif"), "(role a) ;c\n");
    folder.check(
        &["fmt", "game.kif"],
        expect![[r#"
        exit 0
    "#]],
    );
}

#[test]
fn fmt_check_changes_nothing() {
    let folder = Folder::new("fmt_check");
    folder.file("game.kif", "(role   a)\n").check(
        &["fmt", "--check", "game.kif"],
        expect![[r#"
            exit 1
            --- stderr
            game.kif: not formatted; run `agon fmt game.kif`
        "#]],
    );
    assert_eq!(folder.read("game.kif"), "(role   a)\n");
    assert_eq!(
        folder
            .file("game.kif", GAME)
            .run(&["fmt", "--check", "game.kif"])
            .status
            .code(),
        Some(0)
    );
}

#[test]
fn fmt_to_standard_output_and_from_standard_input() {
    let folder = Folder::new("fmt_stdout");
    folder.file("game.kif", "(role   a)\n").check(
        &["fmt", "--stdout", "game.kif"],
        expect![[r#"
            exit 0
            (role a)
        "#]],
    );
    assert_eq!(folder.read("game.kif"), "(role   a)\n");
    let output = folder.run_with_input(&["fmt", "-"], "role( a ).");
    expect![[r#"
        exit 0
        role(a).
    "#]]
    .assert_eq(&transcript(&output));
}

#[test]
fn fmt_prints_a_file_that_may_not_be_written() {
    let folder = Folder::new("fmt_readonly");
    folder.file("game.kif", "(role   a)\n");
    let path = folder.0.join("game.kif");
    let mut permissions = fs::metadata(&path).expect("it is there").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).expect("it is ours");
    folder.check(
        &["fmt", "game.kif"],
        expect![[r#"
        exit 0
        (role a)
    "#]],
    );
    assert_eq!(folder.read("game.kif"), "(role   a)\n");
}

#[test]
fn fmt_leaves_a_broken_file_alone() {
    let folder = Folder::new("fmt_broken");
    folder.file("game.kif", "(role a\n").check(
        &["fmt", "game.kif"],
        expect![[r#"
            exit 1
            --- stderr
            error[unclosed]: the `(` opened here is never closed: a `)` is missing
             --> game.kif:1:1
              |
            1 | (role a
              | ^^^^^
              |
              = help: the file ends before it is closed; is the file complete?

            game.kif: not changed, because it has syntax errors
        "#]],
    );
    assert_eq!(folder.read("game.kif"), "(role a\n");
    assert_eq!(folder.run(&["fmt", "missing.kif"]).status.code(), Some(2));
}

#[test]
fn fmt_keeps_comments_in_other_encodings() {
    let folder = Folder::new("fmt_bytes");
    folder
        .file("game.kif", b"(role   a) ; caf\xE9\n")
        .run(&["fmt", "game.kif"]);
    assert_eq!(
        fs::read(folder.0.join("game.kif")).expect("it is there"),
        b"(role a) ; caf\xE9\n"
    );
}

#[test]
fn show_a_summary_and_the_rules() {
    let folder = Folder::new("show");
    folder.file("game.kif", GAME);
    folder.check(
        &["show", "game.kif"],
        expect![[r#"
            exit 0
            game.kif
              roles      robot
              sheet      3 facts, 3 rules, 0 relations of its own
              warnings   0
              engine     scalar
              fluents    2
              moves      robot 1
              ground     3 rules, 3 literals
              phases     1
              loops      0
              network    after         networks     gates     edges
                         build                1         0         0
                         sequential           1         0         0
                         forced               1         0         0
                         one-hot              1         0         0
                         does-legal           1         0         0
                         flatten              1         0         0
                         share                1         0         0
              times      …
              begins     (light off)
        "#]],
    );
    folder.check(
        &["show", "tic-tac-toe"],
        expect![[r#"
            exit 0
            Tic-Tac-Toe
              Three marks in a row on a board of three by three cells.
              roles      x, o
              sheet      9 facts, 24 rules, 7 relations of its own
              warnings   0
              engine     scalar
              fluents    29
              moves      x 10, o 10
              ground     120 rules, 179 literals
              phases     2
              loops      0
              network    after         networks     gates     edges
                         build                1        75       185
                         sequential           1        75       185
                         forced               1        75       185
                         phases               2        78       226
                         one-hot              2        78       226
                         does-legal           2        78       226
                         flatten              2        78       226
                         share                2        78       226
              times      …
              begins     3 . . .
                         2 . . .
                         1 . . .
                           1 2 3
              and        (control x)
        "#]],
    );
    folder.check(
        &["show", "game.kif", "--stage", "rules"],
        expect![[r#"
        exit 0
        (role robot)
        (init (light off))
        (legal robot push)
        (<= (next (light on))
            (does robot push))
        (<= terminal
            (true (light on)))
        (<= (goal robot 100)
            terminal)
    "#]],
    );
    folder.check(
        &["show", "game.kif", "--stage", "rules", "--syntax", "infix"],
        expect![[r#"
            exit 0
            role(robot).
            init(light(off)).
            legal(robot, push).
            next(light(on)) :-
                does(robot, push).
            terminal :-
                true(light(on)).
            goal(robot, 100) :-
                terminal.
        "#]],
    );
}

#[test]
fn show_of_what_is_no_game() {
    let folder = Folder::new("show_bad");
    folder.file("game.kif", "(role a)");
    folder.check(&["show", "nowhere"], expect![[r#"
        exit 2
        --- stderr
        agon: there is no file and no built-in game called `nowhere`; `agon games` lists the built-in games
    "#]]);
    folder.check(
        &["show", "game.kif"],
        expect![[r#"
            exit 1
            --- stderr
            agon: game.kif cannot be played
            error[missing-keyword]: the description has no `legal` rule or fact
            --> game.kif
             = help: every game needs one, for example `(<= (legal ?r (mark ?x)) (true (cell ?x b)))`
            error[missing-keyword]: the description has no `goal` rule or fact
            --> game.kif
             = help: every game needs one, for example `(<= (goal white 100) (line x))`
            error[missing-keyword]: the description has no `terminal` rule or fact
            --> game.kif
             = help: every game needs one, for example `(<= terminal (line x))`
            `agon check game.kif` shows everything
        "#]],
    );
}

#[test]
fn show_says_that_information_is_hidden() {
    let sheet = GAME.to_owned() + "(<= (sees robot (moved ?m)) (does robot ?m))\n";
    Folder::new("show_gdl2").file("game.kif", sheet).check(
        &["show", "game.kif"],
        expect![[r#"
            exit 0
            game.kif
              roles      robot
              sheet      3 facts, 4 rules, 0 relations of its own
              warnings   0
              language   GDL-II: roles know only what they see
              engine     scalar
              fluents    2
              moves      robot 1
              ground     4 rules, 4 literals
              phases     1
              loops      0
              network    after         networks     gates     edges
                         build                1         0         0
                         sequential           1         0         0
                         forced               1         0         0
                         one-hot              1         0         0
                         does-legal           1         0         0
                         flatten              1         0         0
                         share                1         0         0
              times      …
              begins     (light off)
        "#]],
    );
}

#[test]
fn games_are_listed() {
    let folder = Folder::new("games");
    let table = String::from_utf8(folder.run(&["games"]).stdout).expect("it is text");
    let json = String::from_utf8(folder.run(&["games", "--json"]).stdout).expect("it is text");
    for game in agon::games::games() {
        assert!(table.contains(game.name), "{table}");
        let row: serde_json::Value = json
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("each line is JSON"))
            .find(|row| row["name"] == game.name)
            .expect("each game has a line");
        assert!(
            row["roles"]
                .as_array()
                .is_some_and(|roles| !roles.is_empty()),
            "{row}"
        );
        assert!(
            row["title"].is_string() && row["kind"].is_string() && row["tables"].is_array(),
            "{row}"
        );
        let information = match game.name {
            "kuhn_poker" => [true, true],
            "pig" => [true, false],
            "dark_hex" => [false, true],
            "chess" => [false, false],
            _ => continue,
        };
        let found = [&row["chance"], &row["hidden"]].map(serde_json::Value::as_bool);
        assert_eq!(found, information.map(Some), "{row}");
    }
}

#[test]
fn the_help_of_every_command_shows_an_example() {
    let folder = Folder::new("help");
    let help = String::from_utf8(folder.run(&["--help"]).stdout).expect("it is text");
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let mut n_commands = 0;
    for line in commands.take_while(|line| !line.is_empty()) {
        // Descriptions may go on on the next line, further in.
        let Some(name) = line
            .strip_prefix("  ")
            .filter(|rest| !rest.starts_with(' '))
        else {
            continue;
        };
        let name = name.split_whitespace().next().expect("a line has a word");
        if name == "help" {
            continue;
        }
        n_commands += 1;
        let help = String::from_utf8(folder.run(&[name, "--help"]).stdout).expect("it is text");
        let example = help.split("Example").nth(1);
        assert!(
            example.is_some_and(|text| text.contains(&format!("agon {name}"))),
            "{help}"
        );
    }
    assert!(n_commands >= 4, "{help}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_fault() {
    let folder = Folder::new("pipe");
    let many: String = (0..20_000).map(|n| format!("(unused{n} ?x)\n")).collect();
    folder.file("game.kif", GAME.to_owned() + &many);
    for args in [
        &["check", "--all", "game.kif"][..],
        &["check", "--json", "game.kif"],
        &["fmt", "--stdout", "game.kif"],
    ] {
        let mut child = folder
            .command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert!(
            output.stderr.is_empty(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn a_wrong_call_is_exit_code_2() {
    let folder = Folder::new("wrong_call");
    assert_eq!(folder.run(&["nonsense"]).status.code(), Some(2));
    assert_eq!(folder.run(&["--version"]).status.code(), Some(0));
}
