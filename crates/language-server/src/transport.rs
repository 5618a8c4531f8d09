//! Messages over a pair of byte streams, framed as the base protocol of language servers has it.
//!
//! In: `Content-Length: N`, an empty line and N bytes of JSON, again and again. Out: the same. Two threads read and write.
//! The transport of `lsp-server` ends at the first message that it cannot read, and has no queue in which changes could
//! gather; this one answers what it cannot read with an error and goes on.

use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crossbeam_channel::bounded;
use lsp_server::{Connection, ErrorCode, Message};
use serde_json::{Value, json};

/// Messages that wait on either side before the other one is held up.
const MOST_WAITING: usize = 1_000;
/// Bytes of one message; a longer one is passed over.
const MOST_BYTES: usize = 256 << 20;

/// A connection with an editor. The thread ends when all messages are written, once the connection is dropped.
pub fn connect(
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> (Connection, JoinHandle<()>) {
    let output = Arc::new(Mutex::new(output));
    let errors = Arc::clone(&output);
    let (heard, receiver) = bounded(MOST_WAITING);
    let (sender, said) = bounded::<Message>(MOST_WAITING);
    // It ends with the input, or with the process.
    thread::spawn(move || {
        let mut input = input;
        while let Ok(Some(body)) = read(&mut input) {
            let is_over = match understood(body) {
                Ok(message) => heard.send(message).is_err(),
                Err(answer) => write(&errors, &answer).is_err(),
            };
            if is_over {
                return;
            }
        }
    });
    let writer = thread::spawn(move || {
        for message in said {
            // If it cannot be written, the editor is gone: the end of the input tells it.
            let Ok(mut value) = serde_json::to_value(&message) else {
                continue;
            };
            value["jsonrpc"] = json!("2.0");
            if write(&output, &value).is_err() {
                return;
            }
        }
    });
    (Connection { sender, receiver }, writer)
}

/// The message, or the answer to something that is none.
fn understood(body: Option<Vec<u8>>) -> Result<Message, Value> {
    let Some(body) = body else {
        let message = format!("a message has at most {MOST_BYTES} bytes");
        return Err(failure(&Value::Null, ErrorCode::InvalidRequest, &message));
    };
    let value: Value = serde_json::from_slice(&body)
        .map_err(|error| failure(&Value::Null, ErrorCode::ParseError, &error.to_string()))?;
    let id = match &value["id"] {
        id @ (Value::String(_) | Value::Number(_)) => id.clone(),
        _ => Value::Null,
    };
    let message = "this is not a request, a notification or an answer";
    serde_json::from_value(value).map_err(|_| failure(&id, ErrorCode::InvalidRequest, message))
}

fn failure(id: &Value, code: ErrorCode, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code as i32, "message": message}})
}

/// The bytes of the next message; `None` inside if it is too long, outside at the end of the input.
fn read(input: &mut impl BufRead) -> io::Result<Option<Option<Vec<u8>>>> {
    let mut length = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.by_ref().take(4096).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&line);
        match (text.trim(), length) {
            // What is no header at all is passed over.
            ("", None) => {}
            ("", Some(length)) if length <= MOST_BYTES => {
                let mut body = vec![0; length];
                input.read_exact(&mut body)?;
                return Ok(Some(Some(body)));
            }
            ("", Some(length)) => {
                io::copy(&mut input.by_ref().take(length as u64), &mut io::sink())?;
                return Ok(Some(None));
            }
            (text, _) => {
                if let Some((name, value)) = text.split_once(':')
                    && name.eq_ignore_ascii_case("content-length")
                {
                    length = value.trim().parse().ok();
                }
            }
        }
    }
}

fn write(output: &Mutex<impl Write>, message: &Value) -> io::Result<()> {
    let text = message.to_string();
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}
