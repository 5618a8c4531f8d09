//! Dialogues with the server as an editor has them, over a connection in memory.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use agon_gdl::Severity;
use agon_language_server::{Ending, Observation, Observe, Options, connect, serve};
use lsp_server::{Connection, Message, Notification, Request, RequestId};
use serde_json::{Value, json};

const URI: &str = "file:///game.kif";
const GAME: &str = "(role white)\n(role black)\n(init (cell 1 b))\n(init (control white))\n\
(<= (legal ?r (mark ?x))\n    (role ?r)\n    (true (control ?r))\n    (true (cell ?x b)))\n\
(<= (legal ?r noop)\n    (role ?r)\n    (not (true (control ?r))))\n\
(<= (next (cell ?x ?r)) (does ?r (mark ?x)))\n; the end\n; of the game\n\
(<= terminal (not open))\n(<= open (true (cell ?x b)) (row ?x))\n(row 1)\n(goal white 100)\n(goal black 0)\n";

/// An editor in memory.
struct Editor {
    connection: Connection,
    server: Option<JoinHandle<Ending>>,
    n_requests: i32,
    version: i32,
    /// Findings as published, the newest last, with the version of their text.
    published: Vec<(i64, Vec<Value>)>,
}

impl Editor {
    fn start() -> Editor {
        Editor::observed_by(Arc::new(
            |rules: &Arc<agon_gdl::Rules>, _: &dyn Fn() -> bool| {
                vec![seen(format!("{} rules were grounded", rules.rules.len()))]
            },
        ))
    }

    fn observed_by(observe: Observe) -> Editor {
        let mut editor = Editor::uninitialized(observe);
        let answer = editor.ask("initialize", json!({"capabilities": {}}));
        assert_eq!(answer["serverInfo"]["name"], "agon");
        editor.notify("initialized", json!({}));
        editor
    }

    fn uninitialized(observe: Observe) -> Editor {
        let (server, connection) = Connection::memory();
        let options = Options { observe };
        let server = thread::spawn(move || serve(&server, &options).expect("it serves"));
        Editor {
            connection,
            server: Some(server),
            n_requests: 0,
            version: 0,
            published: Vec::new(),
        }
    }

    /// Opens another text.
    fn open(&mut self, uri: &str, text: &str) {
        self.notify(
            "textDocument/didOpen",
            json!({"textDocument": {"uri": uri, "languageId": "gdl", "version": 0, "text": text}}),
        );
    }

    fn with(text: &str) -> Editor {
        let mut editor = Editor::start();
        editor.open(URI, text);
        editor
    }

    fn notify(&mut self, method: &str, params: Value) {
        let notification = Notification::new(method.to_owned(), params);
        self.connection.sender.send(notification.into()).unwrap();
    }

    /// The answer to a request, or the message of its error.
    fn try_ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.n_requests += 1;
        let id = RequestId::from(self.n_requests);
        let request = Request::new(id.clone(), method.to_owned(), params);
        self.connection.sender.send(request.into()).unwrap();
        loop {
            match self.receive() {
                Message::Response(response) if response.id == id => {
                    return response.response_result.map_err(|error| error.message);
                }
                _ => continue,
            }
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.try_ask(method, params).expect("it is answered")
    }

    fn receive(&mut self) -> Message {
        let message = self
            .connection
            .receiver
            .recv_timeout(Duration::from_secs(60))
            .expect("the server speaks");
        if let Message::Notification(notification) = &message
            && notification.method == "textDocument/publishDiagnostics"
        {
            let params = &notification.params;
            let findings = params["diagnostics"].as_array().unwrap().clone();
            let version = params["version"].as_i64().unwrap_or(-1);
            self.published.push((version, findings));
        }
        message
    }

    /// The findings of the current text, with or without those of grounding.
    fn findings(&mut self, is_wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        loop {
            let version = i64::from(self.version);
            if let Some((_, findings)) = self
                .published
                .iter()
                .rfind(|(known, findings)| *known == version && is_wanted(findings))
            {
                return findings.clone();
            }
            self.receive();
        }
    }

    fn change(&mut self, range: Value, text: &str) {
        self.version += 1;
        let mut change = json!({"text": text});
        if !range.is_null() {
            change["range"] = range;
        }
        let version = self.version;
        self.notify(
            "textDocument/didChange",
            json!({"textDocument": {"uri": URI, "version": version}, "contentChanges": [change]}),
        );
    }

    fn at(&self, line: u32, character: u32) -> Value {
        json!({"textDocument": {"uri": URI}, "position": {"line": line, "character": character}})
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let Some(server) = self.server.take().filter(|_| !thread::panicking()) else {
            return;
        };
        self.ask("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        let ending = server.join().expect("it ends well");
        assert_eq!(ending, Ending::Orderly);
    }
}

fn seen(message: String) -> Observation {
    Observation {
        severity: Severity::Warning,
        kind: "seen".to_owned(),
        line: 1,
        message,
        help: String::new(),
    }
}

fn document() -> Value {
    json!({"textDocument": {"uri": URI}})
}

fn range(line: u32, from: u32, to: u32) -> Value {
    json!({"start": {"line": line, "character": from}, "end": {"line": line, "character": to}})
}

fn codes(findings: &[Value]) -> Vec<&str> {
    findings
        .iter()
        .map(|finding| finding["code"].as_str().unwrap())
        .collect()
}

#[test]
fn findings_come_as_you_type_and_those_of_grounding_follow() {
    let mut editor = Editor::with(GAME);
    let findings = editor.findings(|findings| codes(findings).contains(&"seen"));
    assert_eq!(codes(&findings), ["seen"]);
    // `(rwo ?x)`: two warnings; the fix names the right relation.
    editor.change(range(15, 29, 32), "rwo");
    let findings = editor.findings(|_| true);
    let undefined = findings
        .iter()
        .find(|finding| finding["code"] == "undefined")
        .unwrap();
    assert_eq!(undefined["range"], range(15, 28, 36));
    let actions = editor.ask(
        "textDocument/codeAction",
        json!({"textDocument": {"uri": URI}, "range": range(15, 30, 30), "context": {"diagnostics": []}}),
    );
    assert_eq!(actions[0]["title"], "Replace it with `row`");
    let edit = &actions[0]["edit"]["changes"][URI][0];
    assert_eq!(
        (&edit["range"], &edit["newText"]),
        (&range(15, 29, 32), &json!("row"))
    );
    editor.change(edit["range"].clone(), "row");
    let findings = editor.findings(|findings| !findings.is_empty());
    assert_eq!(codes(&findings), ["seen"]);
    // An error has no grounding behind it, and closing the text clears its findings.
    editor.change(range(0, 0, 1), "");
    let findings = editor.findings(|_| true);
    assert!(!codes(&findings).contains(&"seen") && !findings.is_empty());
    editor.notify("textDocument/didClose", document());
    editor.version = -1;
    assert!(editor.findings(|_| true).is_empty());
}

#[test]
fn hover_tells_what_a_relation_is() {
    let mut editor = Editor::with(GAME);
    let hover = |editor: &mut Editor, line, character| {
        let at = editor.at(line, character);
        let answer = editor.ask("textDocument/hover", at);
        answer["contents"]["value"]
            .as_str()
            .unwrap_or("")
            .to_owned()
    };
    let open = hover(&mut editor, 14, 20);
    assert!(
        open.starts_with("**`open/0`**: a relation that changes with the state"),
        "{open}"
    );
    assert!(open.contains("defined by 1 rule (line 16)") && open.contains("used once"));
    let row = hover(&mut editor, 16, 2);
    assert!(
        row.contains("a static relation") && row.contains("(row 1)"),
        "{row}"
    );
    let cell = hover(&mut editor, 2, 8);
    assert!(
        cell.contains("a fluent") && cell.contains("true at the start by 1 fact"),
        "{cell}"
    );
    assert!(hover(&mut editor, 4, 6).contains("role r may make move m"));
    assert!(hover(&mut editor, 4, 12).contains("a variable of this rule"));
    assert_eq!(hover(&mut editor, 12, 3), "", "a comment means nothing");
    // Once it is grounded, the number of ground atoms is told.
    let n_cells = (0..500).find_map(|_| {
        let text = hover(&mut editor, 2, 8);
        thread::sleep(Duration::from_millis(20));
        text.contains("after grounding").then_some(text)
    });
    assert!(n_cells.unwrap().contains("2 of them after grounding"));
}

#[test]
fn definitions_references_and_symbols_are_found() {
    let mut editor = Editor::with(GAME);
    let at = editor.at(14, 20);
    let definition = editor.ask("textDocument/definition", at);
    assert_eq!(definition[0]["range"], range(15, 4, 8));
    let mut at = editor.at(2, 8);
    at["context"] = json!({"includeDeclaration": true, "triggerKind": 1});
    let references = editor.ask("textDocument/references", at);
    assert_eq!(references.as_array().unwrap().len(), 4, "cell");
    let at = editor.at(5, 11);
    let marks = editor.ask("textDocument/documentHighlight", at);
    assert_eq!(marks.as_array().unwrap().len(), 3, "?r of one rule");
    let symbols = editor.ask("textDocument/documentSymbol", document());
    let names: Vec<&str> = symbols
        .as_array()
        .unwrap()
        .iter()
        .map(|symbol| symbol["name"].as_str().unwrap())
        .collect();
    let expected = "role/1 init/1 legal/2 next/1 terminal/0 open/0 row/1 goal/2";
    assert_eq!(names.join(" "), expected);
    assert_eq!(symbols[0]["children"].as_array().unwrap().len(), 2);
    let folds = editor.ask("textDocument/foldingRange", document());
    let folds: Vec<(u64, u64)> = folds
        .as_array()
        .unwrap()
        .iter()
        .map(|fold| {
            (
                fold["startLine"].as_u64().unwrap(),
                fold["endLine"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(folds, [(4, 7), (8, 10), (12, 13)]);
}

#[test]
fn a_name_is_renamed_everywhere_and_never_into_another() {
    let mut editor = Editor::with(GAME);
    let rename = |editor: &mut Editor, line, character, name: &str| {
        let mut at = editor.at(line, character);
        at["newName"] = json!(name);
        editor.try_ask("textDocument/rename", at)
    };
    let edits = rename(&mut editor, 2, 8, "square").unwrap();
    assert_eq!(edits["changes"][URI].as_array().unwrap().len(), 4);
    let edits = rename(&mut editor, 4, 11, "?who").unwrap();
    let edits = edits["changes"][URI].as_array().unwrap();
    assert_eq!((edits.len(), &edits[0]["newText"]), (3, &json!("?who")));
    for (line, character, name, why) in [
        (2, 8, "control", "already the name of a fluent"),
        (2, 8, "two words", "is not a name"),
        (2, 8, "true", "is a keyword"),
        // `open` has no arguments, and a relation has one number of them.
        (16, 2, "open", "the sheet would be wrong"),
        (4, 11, "?x", "already the name of a variable"),
        (
            0,
            2,
            "player",
            "a keyword of the language cannot be renamed",
        ),
        (12, 3, "x", "there is no name here"),
    ] {
        let error = rename(&mut editor, line, character, name).unwrap_err();
        assert!(error.contains(why), "{name}: {error}");
    }
    let at = editor.at(0, 2);
    assert!(editor.ask("textDocument/prepareRename", at).is_null());
    // With percepts the role `random` is chance.
    editor.change(Value::Null, &format!("{GAME}(sees white open)\n"));
    for (line, name) in [(0, "random"), (1, "random")] {
        let error = rename(&mut editor, line, 8, name).unwrap_err();
        assert!(error.contains("another game"), "{error}");
    }
}

#[test]
fn infix_text_is_renamed_in_its_own_spelling() {
    let text = "role(white).\nlegal(R, go) :- role(R) & ~p(R).\np(black).\nterminal :- true(over).\ngoal(white, 100).";
    let mut editor = Editor::with(text);
    for (character, name, expected) in [(6, "player", "Player"), (9, "Go", "'Go'")] {
        let mut at = editor.at(1, character);
        at["newName"] = json!(name);
        let edits = editor.ask("textDocument/rename", at);
        assert_eq!(edits["changes"][URI][0]["newText"], expected);
    }
}

/// Semantic tokens as `line:character text type`, decoded.
fn tokens(text: &str) -> Vec<String> {
    const TYPES: [&str; 9] = [
        "keyword",
        "function",
        "property",
        "method",
        "class",
        "enumMember",
        "variable",
        "number",
        "comment",
    ];
    let mut editor = Editor::with(text);
    let answer = editor.ask("textDocument/semanticTokens/full", document());
    let data: Vec<usize> = answer["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|number| number.as_u64().unwrap() as usize)
        .collect();
    let lines: Vec<&str> = text.lines().collect();
    let (mut line, mut character) = (0, 0);
    let decode = |token: &[usize]| {
        character = if token[0] == 0 {
            character + token[1]
        } else {
            token[1]
        };
        line += token[0];
        let word = &lines[line][character..character + token[2]];
        let mark = if token[4] == 1 { "!" } else { "" };
        format!("{word}={}{mark}", TYPES[token[3]])
    };
    data.chunks(5).map(decode).collect()
}

#[test]
fn words_are_coloured_by_what_they_are_in_both_syntaxes() {
    assert_eq!(
        tokens("(role w) ; yes\n(<= (legal w (go 1)) (not (true (at ?x))))\n(broken (").join(" "),
        "role=keyword w=class! ;=comment".replace(";=", "; yes=")
            + " <==keyword legal=keyword w=class go=method! 1=number not=keyword true=keyword at=property ?x=variable broken=enumMember"
    );
    assert_eq!(
        tokens("role(w).\nlegal(w, go) :- ~p(X) & X != b. % no").join(" "),
        "role=keyword w=class! legal=keyword w=class go=method! p=function X=variable X=variable b=enumMember % no=comment"
    );
}

#[test]
fn completion_knows_the_place() {
    let mut editor = Editor::with(GAME);
    let mut labels = |line: u32, typed: &str| -> Vec<String> {
        // A new line at the end of the text, with something half-written on it.
        editor.change(Value::Null, &format!("{GAME}{typed}"));
        let at = editor.at(line, typed.len() as u32);
        let items = editor.ask("textDocument/completion", at);
        let items = items.as_array().unwrap();
        items
            .iter()
            .map(|item| item["label"].as_str().unwrap().to_owned())
            .collect()
    };
    let has = |labels: &[String], wanted: &[&str], unwanted: &[&str]| {
        for name in wanted {
            assert!(labels.contains(&(*name).to_owned()), "{name}: {labels:?}");
        }
        for name in unwanted {
            assert!(!labels.contains(&(*name).to_owned()), "{name}: {labels:?}");
        }
    };
    has(
        &labels(19, "("),
        &["<=", "role", "init"],
        &["true", "white"],
    );
    has(
        &labels(19, "(<= ("),
        &["next", "legal", "row"],
        &["true", "cell"],
    );
    has(
        &labels(19, "(<= (p ?who) ("),
        &["true", "not", "row", "open"],
        &["cell", "<="],
    );
    has(
        &labels(19, "(<= (p ?who) (not (t"),
        &["true", "row"],
        &["cell"],
    );
    has(
        &labels(19, "(<= (p ?who) (true ("),
        &["cell", "control"],
        &["mark", "true"],
    );
    has(
        &labels(19, "(<= (p ?who) (true (control "),
        &["white", "?who"],
        &["b", "cell"],
    );
    has(
        &labels(19, "(<= (p ?who) (true (cell 1 "),
        &["b", "?who"],
        &["white", "1"],
    );
    has(
        &labels(19, "(<= (p ?who) (does "),
        &["white", "black", "?who"],
        &["noop"],
    );
    has(
        &labels(19, "(<= (p ?who) (does ?who "),
        &["noop", "(mark"],
        &["white"],
    );
    has(&labels(19, "(<= (p ?who) (row "), &["1", "?who"], &["b"]);
    assert!(labels(19, "; (true (").is_empty(), "a comment");
}

#[test]
fn a_text_is_formatted_as_a_whole() {
    let mut editor = Editor::with("(role   a)\n\n\n(role b)");
    let options =
        json!({"textDocument": {"uri": URI}, "options": {"tabSize": 4, "insertSpaces": true}});
    let edits = editor.ask("textDocument/formatting", options.clone());
    assert_eq!(edits[0]["newText"], "(role a)\n\n(role b)\n");
    editor.change(range(0, 0, 1), "");
    let error = editor
        .try_ask("textDocument/formatting", options)
        .unwrap_err();
    assert!(error.contains("syntax errors"), "{error}");
}

#[test]
fn lenses_tell_what_the_game_is_like() {
    let mut editor = Editor::with(GAME);
    let title = (0..500).find_map(|_| {
        let lenses = editor.ask("textDocument/codeLens", document());
        let title = lenses[0]["command"]["title"].as_str().unwrap().to_owned();
        thread::sleep(Duration::from_millis(20));
        title.contains("fluent").then_some((title, lenses))
    });
    let (title, lenses) = title.expect("it is grounded in the end");
    assert!(
        title.starts_with("2 roles · 3 fluents · 3 moves · "),
        "{title}"
    );
    assert!(title.ends_with(" playouts/s"), "{title}");
    assert_eq!(lenses[1]["command"]["command"], "agon.play");
    assert_eq!(lenses[2]["command"]["arguments"][0], URI);
}

#[test]
fn odd_requests_get_errors_and_the_server_goes_on() {
    let mut editor = Editor::with(GAME);
    assert!(editor.try_ask("no/such", json!({})).is_err());
    assert!(editor.try_ask("textDocument/hover", json!([1])).is_err());
    let mut far = editor.at(9999, 9999);
    assert!(editor.ask("textDocument/hover", far.clone()).is_null());
    far["textDocument"]["uri"] = json!("file:///other.kif");
    assert!(editor.try_ask("textDocument/hover", far).is_err());
    editor.notify("textDocument/didChange", json!({"textDocument": 1}));
    editor.notify("$/unknown", json!(null));
    editor.change(
        json!({"start": {"line": 5, "character": 3}, "end": {"line": 1, "character": 0}}),
        "x",
    );
    assert!(!editor.findings(|_| true).is_empty());
}

#[test]
fn findings_of_the_text_never_wait_for_grounding() {
    // 400 kB: a board of 80 × 80 cells as facts, and rules that step along it.
    let mut text = GAME.to_owned();
    for (x, y) in (0..80).flat_map(|x| (0..80).map(move |y| (x, y))) {
        text.push_str(&format!("(init (square {x} {y} empty))\n"));
        text.push_str(&format!(
            "(<= (near {x} {y}) (true (square {x} {y} empty)))\n"
        ));
    }
    assert!(text.len() > 400_000, "{}", text.len());
    // Grounding that ends only when it is told to.
    let observe = |_: &Arc<agon_gdl::Rules>, stop: &dyn Fn() -> bool| {
        while !stop() {
            thread::sleep(Duration::from_millis(1));
        }
        vec![seen("of an old text".to_owned())]
    };
    let mut editor = Editor::observed_by(Arc::new(observe));
    editor.open(URI, &text);
    editor.findings(|_| true);
    for round in 0..8 {
        editor.change(range(40 + round, 0, 0), "(<= (odd ?x) (not (row ?x)))");
        let findings = editor.findings(|_| true);
        let is_unsafe = |found: &&Value| found["code"] == "unsafe-head";
        assert_eq!(findings.iter().filter(is_unsafe).count() as u32, round + 1);
        assert!(
            !codes(&findings).contains(&"seen"),
            "it is about an old text"
        );
    }
}

#[test]
fn an_edit_of_one_text_does_not_stop_the_grounding_of_another() {
    const OTHER: &str = "file:///other.kif";
    let mut editor = Editor::with(GAME);
    editor.open(OTHER, GAME);
    editor.change(range(0, 0, 0), "; x\n");
    // Each text is grounded in the end.
    for uri in [URI, OTHER] {
        let title = (0..500).find_map(|_| {
            let lenses = json!({"textDocument": {"uri": uri}});
            let lenses = editor.ask("textDocument/codeLens", lenses);
            let title = lenses[0]["command"]["title"].as_str().unwrap().to_owned();
            thread::sleep(Duration::from_millis(20));
            title.contains("fluent").then_some(title)
        });
        assert!(title.is_some(), "{uri}");
    }
}

#[test]
fn every_order_of_messages_is_survived() {
    let nothing: Observe = Arc::new(|_: &Arc<agon_gdl::Rules>, _: &dyn Fn() -> bool| Vec::new());
    let mut editor = Editor::uninitialized(Arc::clone(&nothing));
    let error = editor.try_ask("textDocument/hover", json!({})).unwrap_err();
    assert!(error.contains("before `initialize`"), "{error}");
    editor.notify("textDocument/didOpen", json!({}));
    // Some clients send no capabilities, and other notifications before `initialized`.
    editor.ask("initialize", Value::Null);
    editor.notify("$/setTrace", json!({"value": "off"}));
    editor.open(URI, "(role a)");
    editor.notify("initialized", json!({}));
    let error = editor.try_ask("initialize", json!({})).unwrap_err();
    assert!(error.contains("already"), "{error}");
    // A change without a version counts.
    let change = json!({"textDocument": {"uri": URI, "version": null}, "contentChanges": [{"text": "(role bee)"}]});
    editor.notify("textDocument/didChange", change);
    let at = editor.at(0, 7);
    let hover = editor.ask("textDocument/hover", at.clone());
    assert!(hover.to_string().contains("bee"), "{hover}");
    editor.notify("$/cancelRequest", json!({"id": 999}));
    editor.ask("shutdown", Value::Null);
    let error = editor.try_ask("textDocument/hover", at).unwrap_err();
    assert!(error.contains("shut down"), "{error}");
    editor.notify("exit", Value::Null);
    assert_eq!(
        editor.server.take().unwrap().join().unwrap(),
        Ending::Orderly
    );

    let mut editor = Editor::uninitialized(Arc::clone(&nothing));
    editor.notify("exit", Value::Null);
    assert_eq!(
        editor.server.take().unwrap().join().unwrap(),
        Ending::Abrupt
    );
    let mut editor = Editor::observed_by(nothing);
    editor.notify("exit", Value::Null);
    assert_eq!(
        editor.server.take().unwrap().join().unwrap(),
        Ending::Abrupt
    );
}

/// What a server hears, and what is written back, when an editor sends these bytes.
fn heard(bytes: Vec<u8>, n_messages: usize) -> (Vec<String>, String) {
    /// A writer that others can look into.
    #[derive(Clone, Default)]
    struct Shared(Arc<std::sync::Mutex<Vec<u8>>>);
    impl std::io::Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let written = Shared::default();
    let (connection, writer) = connect(std::io::Cursor::new(bytes), written.clone());
    // Messages gather without anybody who takes them, so that changes can be read together.
    for _ in 0..1_000 {
        if connection.receiver.len() == n_messages {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(connection.receiver.len(), n_messages);
    let methods = connection.receiver.iter().map(|message| match message {
        Message::Request(request) => request.method,
        Message::Notification(notice) => notice.method,
        Message::Response(_) => "response".to_owned(),
    });
    let methods = methods.collect();
    let answer = lsp_server::Response::new_ok(RequestId::from(7), json!("end"));
    connection.sender.send(answer.into()).unwrap();
    drop(connection);
    writer.join().unwrap();
    let written = written.0.lock().unwrap().clone();
    (methods, String::from_utf8(written).unwrap())
}

fn framed(body: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{body}", body.len())
}

#[test]
fn what_cannot_be_read_is_answered_and_the_next_message_is_read() {
    let good = |method: &str| framed(&json!({"jsonrpc": "2.0", "method": method}).to_string());
    for (bad, code) in [
        (framed("{abc}"), Some("-32700")),
        (framed("\u{0}"), Some("-32700")),
        (framed("42"), Some("-32600")),
        (framed("[]"), Some("-32600")),
        (framed(&"[".repeat(100_000)), Some("-32700")),
        (framed("{\"jsonrpc\": \"2.0\", \"x\": 1}"), Some("-32600")),
        ("hello\r\n\r\n".to_owned(), None),
        ("Content-Length: many\r\n\r\n".to_owned(), None),
        ("content-type: x\r\n\r\n\r\n".to_owned(), None),
    ] {
        let bytes = good("one") + &bad + &good("two");
        let (methods, written) = heard(bytes.into_bytes(), 2);
        assert_eq!(methods, ["one", "two"], "{bad}");
        assert_eq!(
            written.matches("\"error\"").count(),
            usize::from(code.is_some()),
            "{written}"
        );
        assert!(code.is_none_or(|code| written.contains(code)), "{written}");
        assert!(written.contains("\"jsonrpc\":\"2.0\"") && written.contains("\"end\""));
    }
    let length = (256 << 20) + 1;
    let mut bytes = format!("Content-Length: {length}\r\n\r\n").into_bytes();
    bytes.resize(bytes.len() + length, b' ');
    bytes.extend_from_slice(good("after").as_bytes());
    let (methods, written) = heard(bytes, 1);
    assert!(
        methods == ["after"] && written.contains("at most"),
        "{written}"
    );
    // The end in the middle of a message is the end.
    assert!(
        heard(b"Content-Length: 99\r\n\r\n{".to_vec(), 0)
            .0
            .is_empty()
    );
}

/// A number below `n`, from a seed that it changes (splitmix64).
fn draw(seed: &mut u64, n: usize) -> usize {
    *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *seed;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((mixed ^ (mixed >> 31)) % n.max(1) as u64) as usize
}

#[test]
fn random_edits_never_end_it() {
    let corpus = std::env::var("AGON_CORPUS").ok();
    let files = corpus.and_then(|folder| std::fs::read_dir(format!("{folder}/games")).ok());
    let mut texts = vec![
        GAME.to_owned(),
        "role(é).\nlegal(R, 'go\u{1F600}') :- role(R) & X != b.\n".to_owned(),
    ];
    let mut paths: Vec<_> = files
        .into_iter()
        .flatten()
        .map(|file| file.unwrap().path())
        .collect();
    paths.sort();
    let mut seed = 7;
    for _ in 0..paths.len().min(8) {
        let path = &paths[draw(&mut seed, paths.len())];
        let bytes = std::fs::read(path).unwrap();
        if bytes.len() < 60_000 {
            texts.push(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    const SNIPPETS: [&str; 12] = [
        "",
        "(",
        ")",
        "?x",
        " ",
        "\n",
        "; c",
        "(<= (p ?x) ",
        "😀",
        "'",
        ":- q.",
        "\u{0}",
    ];
    let requests = [
        "hover",
        "definition",
        "references",
        "completion",
        "documentHighlight",
        "prepareRename",
    ];
    let whole = [
        "documentSymbol",
        "foldingRange",
        "semanticTokens/full",
        "codeLens",
    ];
    for round in 0..10 {
        let text = &texts[round % texts.len()];
        let mut editor = Editor::with(text);
        let n_lines = text.lines().count();
        for _ in 0..50 {
            let line = draw(&mut seed, n_lines + 2);
            let (from, width) = (draw(&mut seed, 60), draw(&mut seed, 12));
            let snippet = SNIPPETS[draw(&mut seed, SNIPPETS.len())];
            editor.change(
                range(line as u32, from as u32, (from + width) as u32),
                snippet,
            );
            let method = requests[draw(&mut seed, requests.len())];
            let mut at = editor.at(line as u32, from as u32);
            at["context"] = json!({"includeDeclaration": true, "triggerKind": 1});
            editor.ask(&format!("textDocument/{method}"), at);
            let method = whole[draw(&mut seed, whole.len())];
            editor.ask(&format!("textDocument/{method}"), document());
            let actions = json!({"textDocument": {"uri": URI}, "range": range(line as u32, 0, 99), "context": {"diagnostics": []}});
            editor.ask("textDocument/codeAction", actions);
        }
        editor.findings(|_| true);
    }
}
