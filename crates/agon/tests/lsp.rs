//! `agon lsp` as a process: the findings of real sheets, at the same places as `agon check` has them.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// The server as a process.
struct Server {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
}

impl Server {
    fn start() -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_agon"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let input = child.stdin.take().expect("it is piped");
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, messages) = channel();
        thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut server = Server {
            child,
            input,
            messages,
        };
        server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}));
        let answer = server.receive();
        assert_eq!(answer["result"]["serverInfo"]["name"], "agon");
        server.send(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
        server
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("it listens");
        self.input.flush().expect("it listens");
    }

    fn receive(&self) -> Value {
        let message = self.messages.recv_timeout(Duration::from_secs(60));
        message.expect("it speaks")
    }

    fn open(&mut self, uri: &str, text: &str) {
        self.send(
            &json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {
            "textDocument": {"uri": uri, "languageId": "gdl", "version": 1, "text": text}}}),
        );
    }

    /// Ends it as editors do.
    fn end(mut self) {
        self.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "shutdown"}));
        self.send(&json!({"jsonrpc": "2.0", "method": "exit"}));
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "{status}");
    }
}

fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim() {
            "" => break,
            line => {
                if let Some(number) = line.strip_prefix("Content-Length: ") {
                    length = number.parse().ok()?;
                }
            }
        }
    }
    let mut bytes = vec![0; length];
    output.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Kind, line and column of the findings of `agon check`; those without a place are at the beginning.
fn checked(path: &str) -> BTreeSet<(String, u64, u64)> {
    let output = Command::new(env!("CARGO_BIN_EXE_agon"))
        .args(["check", "--json", path])
        .output()
        .expect("the binary runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let findings = ["errors", "warnings"].map(|key| report[key].as_array().unwrap().clone());
    let place = |finding: &Value| {
        let number = |key: &str| finding[key].as_u64().unwrap().saturating_sub(1);
        (
            finding["kind"].as_str().unwrap().to_owned(),
            number("line"),
            number("column"),
        )
    };
    findings.iter().flatten().map(place).collect()
}

/// The same as the server publishes them, once they are those of `agon check`.
fn published(
    server: &mut Server,
    uri: &str,
    wanted: &BTreeSet<(String, u64, u64)>,
) -> BTreeSet<(String, u64, u64)> {
    let mut last = BTreeSet::new();
    loop {
        // Findings of grounding follow those of the text; without any there is nothing to wait for.
        let Ok(message) = server.messages.recv_timeout(Duration::from_secs(20)) else {
            return last;
        };
        if message["params"]["uri"] != uri {
            continue;
        }
        let findings = message["params"]["diagnostics"].as_array().unwrap();
        last = findings
            .iter()
            .map(|finding| {
                let start = &finding["range"]["start"];
                let number = |key: &str| start[key].as_u64().unwrap();
                (
                    finding["code"].as_str().unwrap().to_owned(),
                    number("line"),
                    number("character"),
                )
            })
            .collect();
        if last == *wanted {
            return last;
        }
    }
}

#[test]
fn findings_are_those_of_check_at_the_same_places() {
    let mut sheets: Vec<String> = Vec::new();
    let folder = env::temp_dir().join(format!("agon-lsp-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("it can be made");
    for (name, text) in [
        (
            "broken.kif",
            "(role a)\n(<= (legal ?r go)\n  (rol ?r)\n(goal a 100)\n(<= terminal (p ?x))",
        ),
        (
            "cycle.kif",
            "(role a) (legal a go) (goal a 100) (<= terminal p)\n(<= p (not q))\n(<= q (not p))",
        ),
        (
            "infix.kif",
            "role(a).\nlegal(a, go).\ngoal(a, X) :- true(p).\nterminal :- true(é) & ~q(Y).",
        ),
    ] {
        let path = folder.join(name);
        fs::write(&path, text).expect("it can be written");
        sheets.push(path.display().to_string());
    }
    if let Ok(corpus) = env::var("AGON_CORPUS")
        && let Ok(files) = fs::read_dir(format!("{corpus}/invalid"))
    {
        sheets.extend(files.map(|file| file.unwrap().path().display().to_string()));
    }
    sheets.sort();
    let mut server = Server::start();
    for path in &sheets {
        let text = String::from_utf8_lossy(&fs::read(path).expect("it can be read")).into_owned();
        if text.contains('\u{FFFD}') {
            continue; // An editor sends text; `agon check` sees bytes.
        }
        let uri = format!("file://{path}");
        let wanted = checked(path);
        server.open(&uri, &text);
        assert_eq!(published(&mut server, &uri, &wanted), wanted, "{path}");
    }
    server.end();
    let _ = fs::remove_dir_all(folder);
}

#[test]
fn an_editor_that_goes_away_ends_it() {
    let mut server = Server::start();
    server.open("file:///a.kif", "(role a)");
    let Server {
        mut child, input, ..
    } = server;
    drop(input);
    assert!(child.wait().expect("it ends").success());
}
