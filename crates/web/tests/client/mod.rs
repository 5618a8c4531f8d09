//! A small HTTP client for the tests, a server of their own on loopback, and games to play on it.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use agon_engine::{Game, RoleId};
use agon_games::About;
use agon_search::TechniqueAccount;
use agon_web::{Analysis, AnalysisFinding, Config, Finding, Hooks, Server};
use serde_json::{Value, json};

/// How long a test waits for something that must happen, on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A server with a data folder of its own.
pub(crate) struct Site {
    pub(crate) server: Option<Server>,
    pub(crate) address: SocketAddr,
    pub(crate) data: PathBuf,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The kind of an error.
    pub(crate) fn kind(&self) -> String {
        self.json()["error"]["kind"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }
}

fn check(text: &str, _: Option<&str>) -> Vec<Finding> {
    let description = agon_gdl::parse(text.as_bytes(), &agon_gdl::Limits::default());
    let source = Arc::clone(&description.source);
    let findings = match agon_gdl::check(&description) {
        Ok(rules) => rules.warnings.clone(),
        Err(findings) => findings,
    };
    findings
        .iter()
        .map(|finding| Finding::from_diagnostic(finding, &source))
        .collect()
}

fn technique(account: &TechniqueAccount, _: &dyn Fn(RoleId) -> String) -> String {
    format!("{account:?}")
}

fn analyse(title: &str, game: &Arc<Game>, _: Option<&About>, _: f64) -> Result<Analysis, String> {
    Ok(Analysis {
        is_good: true,
        text: format!("{title} has {} roles", game.n_roles()),
        findings: vec![AnalysisFinding {
            ok: true,
            name: "merit".to_owned(),
            text: "it was looked at".to_owned(),
        }],
    })
}

pub(crate) const HOOKS: Hooks = Hooks {
    check,
    technique,
    analyse,
    model: |_| None,
};

fn new_folder() -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("agon-web-{}-{number}", std::process::id());
    std::env::temp_dir().join(name)
}

impl Site {
    pub(crate) fn new() -> Site {
        Site::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut Config)) -> Site {
        Site::at(new_folder(), change)
    }

    pub(crate) fn at(data: PathBuf, change: impl FnOnce(&mut Config)) -> Site {
        let mut config = Config::new(([127, 0, 0, 1], 0).into(), data.clone());
        change(&mut config);
        let server = Server::start(config, HOOKS).expect("the server starts");
        Site {
            address: server.address(),
            server: Some(server),
            data,
        }
    }

    /// Stops the server and starts another one with the same data.
    pub(crate) fn restart(mut self) -> Site {
        drop(self.server.take());
        let data = std::mem::take(&mut self.data);
        Site::at(data, |_| {})
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("the server listens");
        stream
            .set_read_timeout(Some(PATIENCE))
            .expect("a time can be set");
        stream
    }

    /// Sends a request as it is, and reads the answer.
    pub(crate) fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that refuses a long body may close before it has read all of it.
        let _ = stream.write_all(request);
        read_answer(stream)
    }

    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let has = |name: &str| {
            headers
                .iter()
                .any(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !has("host") {
            head.push_str(&format!("Host: {}\r\n", self.address));
        }
        if method == "POST" && !has("content-type") {
            head.push_str("Content-Type: application/json\r\n");
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(body);
        self.raw(&bytes)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.request("GET", path, &[], b"")
    }

    pub(crate) fn get_as(&self, path: &str, token: &str) -> Value {
        self.request("GET", path, &[("Agon-Token", token)], b"")
            .json()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.request("POST", path, &[], body.to_string().as_bytes())
    }

    pub(crate) fn post_as(&self, path: &str, token: &str, body: &Value) -> Answer {
        self.request(
            "POST",
            path,
            &[("Agon-Token", token)],
            body.to_string().as_bytes(),
        )
    }

    /// Opens a stream of events.
    pub(crate) fn listen(&self, path: &str) -> Events {
        let mut stream = self.connect();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address);
        stream
            .write_all(request.as_bytes())
            .expect("it can be asked");
        Events(BufReader::new(stream))
    }

    /// Starts a match.
    pub(crate) fn play(&self, setup: &Value) -> Table {
        let answer = self.post("/api/matches", setup);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let made = answer.json();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let seats = made["seats"].as_array().expect("there are seats");
        Table {
            id: text(&made["id"]),
            owner: text(&made["owner"]),
            tokens: seats.iter().map(|seat| text(&seat["token"])).collect(),
        }
    }

    /// The match as the holder of a token sees it.
    pub(crate) fn look(&self, table: &Table, token: &str) -> Value {
        self.get_as(&format!("/api/matches/{}", table.id), token)
    }

    /// Waits until a match is as it should be.
    pub(crate) fn wait_for(
        &self,
        table: &Table,
        token: &str,
        is_right: impl Fn(&Value) -> bool,
    ) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let seen = self.look(table, token);
            if is_right(&seen) {
                return seen;
            }
            assert!(Instant::now() < until, "it never happens: {seen}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Makes a move.
    pub(crate) fn make_move(&self, table: &Table, role: usize, text: &str) -> Answer {
        let path = format!("/api/matches/{}/move", table.id);
        self.post_as(
            &path,
            &table.tokens[role],
            &json!({"role": role, "move": text}),
        )
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        drop(self.server.take());
        if !self.data.as_os_str().is_empty() {
            let _ = std::fs::remove_dir_all(&self.data);
        }
    }
}

/// The ids of a match.
pub(crate) struct Table {
    pub(crate) id: String,
    pub(crate) owner: String,
    pub(crate) tokens: Vec<String>,
}

pub(crate) fn read_answer(stream: TcpStream) -> Answer {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    loop {
        let mut line = String::new();
        let n_read = reader.read_line(&mut line).unwrap_or(0);
        if n_read == 0 || line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|code| code.parse().ok())
        .unwrap_or(0);
    let lower = head.to_lowercase();
    let mut body = Vec::new();
    if let Some(rest) = lower.split("content-length: ").nth(1) {
        let length: usize = rest
            .split("\r\n")
            .next()
            .and_then(|n| n.parse().ok())
            .unwrap_or(0);
        body.resize(length, 0);
        reader.read_exact(&mut body).expect("the whole body comes");
    } else if lower.contains("transfer-encoding: chunked") {
        body = read_chunks(&mut reader);
    } else {
        let _ = reader.read_to_end(&mut body);
    }
    Answer { status, head, body }
}

fn read_chunks(reader: &mut impl BufRead) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let mut size = String::new();
        reader.read_line(&mut size).expect("a chunk has a size");
        let size = usize::from_str_radix(size.trim(), 16).expect("a size is a number");
        let mut chunk = vec![0; size + 2];
        reader
            .read_exact(&mut chunk)
            .expect("the whole chunk comes");
        if size == 0 {
            return body;
        }
        body.extend_from_slice(&chunk[..size]);
    }
}

/// A stream of events.
pub(crate) struct Events(BufReader<TcpStream>);

impl Events {
    /// The next event with its data.
    pub(crate) fn next(&mut self) -> (String, Value) {
        let mut event = String::new();
        loop {
            let mut line = String::new();
            let n_read = self.0.read_line(&mut line).expect("the stream lives");
            assert!(n_read > 0, "the stream ended");
            if let Some(name) = line.strip_prefix("event: ") {
                event = name.trim().to_owned();
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return (event, serde_json::from_str(data).expect("data is JSON"));
            }
        }
    }

    /// The data of the next event of a name.
    pub(crate) fn wait_for(&mut self, name: &str) -> Value {
        loop {
            let (event, data) = self.next();
            if event == name {
                return data;
            }
        }
    }
}

/// Seats: `person` or a preset, in the order of the roles.
pub(crate) fn seats(names: &[&str]) -> Value {
    let seat = |name: &&str| match *name {
        "person" => json!({"kind": "person"}),
        player => json!({"kind": "bot", "player": player}),
    };
    names.iter().map(seat).collect()
}
