//! `agon player` as a process of its own, for the tests that meet it.

#![allow(dead_code, reason = "every test takes what it needs")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use agon_arena::MatchRecord;

/// An empty folder for one test.
pub(crate) fn empty_folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("the folder can be made");
    path
}

/// The binary with these arguments in this folder.
pub(crate) fn agon(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.args(args).current_dir(folder);
    command
}

/// Runs it to its end.
pub(crate) fn run(folder: &Path, args: &[&str]) -> Output {
    agon(folder, args).output().expect("the binary runs")
}

/// Plays a match with clocks of one or two seconds, lets `agon replay` check its record, and returns it.
pub(crate) fn play(folder: &Path, game: &str, players: &[&str], more: &[&str]) -> MatchRecord {
    let mut args = vec!["match", game];
    args.extend_from_slice(players);
    args.extend(["--quiet", "--record", "match.json"]);
    args.extend_from_slice(more);
    if !more.contains(&"--play-clock") {
        args.extend(["--play-clock", "1"]);
    }
    if !more.contains(&"--start-clock") {
        args.extend(["--start-clock", "2"]);
    }
    let output = run(folder, &args);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let replayed = run(folder, &["replay", "match.json", "--quiet", "--verify"]);
    assert_eq!(replayed.status.code(), Some(0), "{replayed:?}");
    read_record(&folder.join("match.json"))
}

/// A record that was written.
pub(crate) fn read_record(path: &Path) -> MatchRecord {
    let text = fs::read_to_string(path).expect("it was written");
    serde_json::from_str(&text).expect("it is a record")
}

/// A player process, which ends with the test.
pub(crate) struct Playing {
    child: Child,
    /// Where it is, `http://` included.
    pub(crate) url: String,
}

impl Playing {
    /// Starts one on any free port and waits until it says where.
    pub(crate) fn start(folder: &Path, args: &[&str]) -> Playing {
        let mut command = agon(folder, &["player", "--port", "0", "--quiet"]);
        Playing::spawn(command.args(args))
    }

    fn spawn(command: &mut Command) -> Playing {
        let command = command.stdout(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        let mut line = String::new();
        let out = child.stdout.take().expect("it has an output");
        BufReader::new(out)
            .read_line(&mut line)
            .expect("it says where it is");
        let (_, url) = line.trim().split_once(" at ").expect("it says where");
        Playing {
            child,
            url: url.to_owned(),
        }
    }

    /// Starts one that logs to a pipe, which nobody reads.
    pub(crate) fn start_with_log(folder: &Path, args: &[&str]) -> Playing {
        let mut command = agon(folder, &["player", "--port", "0"]);
        Playing::spawn(command.args(args).stderr(Stdio::piped()))
    }

    /// Closes the pipe of the log.
    pub(crate) fn close_log(&mut self) {
        drop(self.child.stderr.take());
    }

    /// Everything that comes back for these bytes. `hangs_up` says whether the peer shows that it has sent all.
    pub(crate) fn send(&self, bytes: &[u8], hangs_up: bool) -> String {
        let address = self.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(bytes).expect("it can be sent");
        if hangs_up {
            stream.shutdown(Shutdown::Write).expect("it can be shut");
        }
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }

    /// Posts a message: the body of the answer, behind the status if that is not 200.
    pub(crate) fn say(&self, message: &str) -> String {
        let length = message.len();
        let post = format!("POST / HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{message}");
        body(&self.send(post.as_bytes(), false))
    }

    /// Kilobytes of memory that it holds, where the system tells.
    pub(crate) fn resident_kilobytes(&self) -> Option<u64> {
        self.status("VmRSS:")
    }

    /// The number of its threads, where the system tells.
    pub(crate) fn n_threads(&self) -> Option<u64> {
        self.status("Threads:")
    }

    fn status(&self, name: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }
}

impl Drop for Playing {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The body of an answer, behind the status if that is not 200.
pub(crate) fn body(answer: &str) -> String {
    let (head, body) = answer.split_once("\r\n\r\n").expect("it is HTTP");
    match head.starts_with("HTTP/1.0 200 OK\r\n") {
        true => body.to_owned(),
        false => format!("{}: {body}", head.lines().next().unwrap_or_default()),
    }
}
