//! `agon web` as people start it: the page answers, and says about rules what `agon check` says.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// A server on a free port, with a data folder of its own.
struct Server {
    child: Child,
    address: String,
    folder: PathBuf,
}

impl Server {
    fn start(name: &str) -> Server {
        let folder = std::env::temp_dir().join(format!("agon-web-{name}-{}", std::process::id()));
        let mut child = Command::new(env!("CARGO_BIN_EXE_agon"))
            .args(["web", "--port", "0", "--data"])
            .arg(&folder)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        let out = child.stdout.take().expect("its output is read");
        BufReader::new(out)
            .read_line(&mut line)
            .expect("it says where it is");
        let address = line
            .trim()
            .strip_prefix("agon web at http://")
            .expect("its address");
        Server {
            address: address.trim_end_matches('/').to_owned(),
            child,
            folder,
        }
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        stream
            .write_all(request.as_bytes())
            .expect("it can be asked");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        (status.expect("a status"), body.to_owned())
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.ask("POST", path, &body.to_string());
        assert_eq!(status, 200, "{answer}");
        serde_json::from_str(&answer).expect("an answer is JSON")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn the_page_is_in_the_binary() {
    let server = Server::start("page");
    let (status, page) = server.ask("GET", "/", "");
    assert_eq!(status, 200);
    assert!(page.contains("<title>"), "{page}");
    let script = page
        .split("src=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    let (status, _) = server.ask(
        "GET",
        script.expect("it has a script").trim_start_matches('.'),
        "",
    );
    assert_eq!(status, 200);
}

/// What the command line says about a rulesheet: kind, line, column, message and help.
fn by_command(rules: &str, folder: &std::path::Path) -> Vec<Value> {
    fs::create_dir_all(folder).expect("a folder can be made");
    let file = folder.join("sheet.kif");
    fs::write(&file, rules).expect("a file can be written");
    let output = Command::new(env!("CARGO_BIN_EXE_agon"))
        .args(["check", "--json"])
        .arg(&file)
        .output()
        .expect("it runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("it prints JSON");
    let lists = [&report["errors"], &report["warnings"]];
    let all = lists
        .into_iter()
        .flat_map(|list| list.as_array().expect("a list"));
    sorted(all.cloned().collect())
}

fn sorted(mut findings: Vec<Value>) -> Vec<Value> {
    findings.sort_by_key(ToString::to_string);
    findings
}

#[test]
fn the_editor_says_what_the_command_says() {
    let server = Server::start("check");
    let good = agon::games::find("breakthrough")
        .expect("it is built in")
        .sheet;
    let sheets = [
        good.to_owned(),
        good.replace("(true (control", "(ture (control"),
        good.replacen(')', "", 1),
        good.replace("terminal", "termnal"),
        "(role a) (legal a ?x) (goal a 300) ü (<= (p ?x) (not (p ?x)))".to_owned(),
        "(role a) (init p) (<= (legal a go) (not (q))) (<= q (not r)) (<= r (not q)) (goal a 1) (<= terminal (true p))".to_owned(),
        String::new(),
    ];
    for rules in sheets {
        let answer = server.post("/api/check", &json!({"rules": rules}));
        let plain = |finding: &Value| {
            let help = finding["help"].as_str().unwrap_or_default();
            json!({"kind": finding["kind"], "line": finding["line"], "column": finding["column"], "message": finding["message"], "help": help})
        };
        let shown = answer["findings"].as_array().expect("a list");
        let shown = sorted(shown.iter().map(plain).collect());
        let expected = by_command(&rules, &server.folder);
        assert_eq!(shown, expected, "{rules}");
        let n_errors = answer["findings"]
            .as_array()
            .expect("a list")
            .iter()
            .filter(|finding| finding["severity"] == "error")
            .count();
        assert_eq!(answer["ok"], n_errors == 0);
        // Places are within the text, in the units of a browser.
        let length = rules.encode_utf16().count() as u64;
        for finding in answer["findings"].as_array().expect("a list") {
            let (from, to) = (finding["from"].as_u64(), finding["to"].as_u64());
            assert!(from <= to && to <= Some(length), "{finding}");
        }
    }
}
