//! Reads HTTP as GGP programs write it.
//!
//! In: bytes from a socket or any other reader. Out: the message of a request, or the body of a response. Lines end with LF,
//! with or without CR. Only the headers that decide where a body ends, or who speaks, are used. A body ends after its `Content-Length` or its
//! last chunk. Without either it ends where its brackets are closed or the peer closes the connection. A length may count
//! characters, as in the reference player, and a length that is too large is accepted if the message is complete.

use std::io::{self, BufRead, Read};

use thiserror::Error;

use super::Limits;

/// The content of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Incoming {
    /// A message of the protocol.
    Message(Vec<u8>),
    /// No message: OPTIONS and other methods.
    Nothing,
}

/// Why reading failed.
#[derive(Debug, Error)]
pub enum ReadError {
    /// It is not HTTP.
    #[error("this is not HTTP: `{0}`")]
    Malformed(String),
    /// It is longer than allowed.
    #[error("{what} may have {most} bytes at most")]
    TooLarge {
        /// Which part.
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// The status of a response is an error.
    #[error("the answer is HTTP status {0}")]
    Status(String),
    /// The peer closed the connection, or took too long.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Reads the request of a peer. `send_continue` is called if the peer expects `100 Continue` before it sends the body.
///
/// # Errors
/// If the bytes are not a valid request within the limits.
pub fn read_request(
    from: &mut impl BufRead,
    limits: &Limits,
    send_continue: &mut dyn FnMut() -> io::Result<()>,
) -> Result<Incoming, ReadError> {
    read_head(from, limits)?.read_message(from, limits, send_continue)
}

/// The method of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// GET: the message is in the path.
    Get,
    /// POST: the message is the body.
    Post,
    /// Any other method: there is no message.
    Other,
}

/// A request up to its body.
pub struct RequestHead {
    /// The method.
    pub method: Method,
    /// The origin of the web page that sent it.
    pub origin: Option<String>,
    /// The name by which the peer knows the server.
    pub host: Option<String>,
    /// The secret that the peer gives.
    pub secret: Option<String>,
    target: String,
    body: Head,
}

/// Reads a request up to its body.
///
/// # Errors
/// If the bytes are not the beginning of a request within the limits.
pub fn read_head(from: &mut impl BufRead, limits: &Limits) -> Result<RequestHead, ReadError> {
    let mut left = limits.head;
    let first = first_line(from, &mut left, limits.head)?;
    let (method, rest) = first
        .split_once(' ')
        .ok_or_else(|| ReadError::Malformed(shorten(&first)))?;
    let target = rest
        .rsplit_once(' ')
        .filter(|(_, version)| version.to_ascii_uppercase().starts_with("HTTP"))
        .map_or(rest, |(target, _)| target);
    let method = match method.to_ascii_uppercase().as_str() {
        "GET" => Method::Get,
        "POST" => Method::Post,
        _ if method.bytes().all(|byte| byte.is_ascii_alphabetic()) => Method::Other,
        _ => return Err(ReadError::Malformed(shorten(&first))),
    };
    let mut body = read_headers(from, &mut left, limits.head)?;
    Ok(RequestHead {
        method,
        origin: body.origin.take(),
        host: body.host.take(),
        secret: body.secret.take(),
        target: target.to_owned(),
        body,
    })
}

impl RequestHead {
    /// Reads the message that follows, or is in the path. `send_continue` is called if the peer waits for it.
    ///
    /// # Errors
    /// If the bytes are not a message within the limits.
    pub fn read_message(
        &self,
        from: &mut impl BufRead,
        limits: &Limits,
        send_continue: &mut dyn FnMut() -> io::Result<()>,
    ) -> Result<Incoming, ReadError> {
        match self.method {
            Method::Get => {
                let message = decode_target(&self.target);
                // Invalid UTF-8 was replaced by longer sequences.
                if message.len() > limits.body {
                    let (what, most) = ("a message", limits.body);
                    return Err(ReadError::TooLarge { what, most });
                }
                Ok(Incoming::Message(message))
            }
            Method::Post => {
                if self.body.expects {
                    send_continue()?;
                }
                let body = read_body(from, &self.body, limits.body, Ending::Brackets)?;
                Ok(Incoming::Message(body))
            }
            Method::Other => Ok(Incoming::Nothing),
        }
    }
}

/// Reads the response of a peer and returns its body.
///
/// # Errors
/// If the bytes are not a valid response within the limits, or its status is an error.
pub fn read_response(from: &mut impl BufRead, limits: &Limits) -> Result<Vec<u8>, ReadError> {
    let mut left = limits.head;
    let first = first_line(from, &mut left, limits.head)?;
    let (version, rest) = first.split_once(' ').unwrap_or((&first, ""));
    if !version.to_ascii_uppercase().starts_with("HTTP/") {
        return Err(ReadError::Malformed(shorten(&first)));
    }
    let head = read_headers(from, &mut left, limits.head)?;
    if !rest.trim_start().starts_with('2') {
        return Err(ReadError::Status(shorten(rest.trim())));
    }
    read_body(from, &head, limits.body, Ending::Closed)
}

/// The headers that matter.
#[derive(Default)]
struct Head {
    // Where the body ends.
    length: Option<usize>,
    is_chunked: bool,
    expects: bool,
    // Who speaks.
    origin: Option<String>,
    host: Option<String>,
    secret: Option<String>,
}

/// Where a body without a length ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Brackets,
    Closed,
}

/// The first line that is not empty. Some peers send an extra line after the previous message.
fn first_line(from: &mut impl BufRead, left: &mut usize, most: usize) -> Result<String, ReadError> {
    loop {
        match read_line(from, left, most)? {
            None => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            Some(line) if line.is_empty() => {}
            Some(line) => return Ok(line),
        }
    }
}

/// A line without its line end; `None` at the end of the input.
fn read_line(
    from: &mut impl BufRead,
    left: &mut usize,
    most: usize,
) -> Result<Option<String>, ReadError> {
    let mut line = Vec::new();
    let n_read = from.take(*left as u64).read_until(b'\n', &mut line)?;
    *left -= n_read;
    if n_read == 0 && *left > 0 {
        return Ok(None);
    }
    if !line.ends_with(b"\n") && *left == 0 {
        let what = "the HTTP header";
        return Err(ReadError::TooLarge { what, most });
    }
    let text = String::from_utf8_lossy(&line);
    Ok(Some(text.trim().to_owned()))
}

fn read_headers(from: &mut impl BufRead, left: &mut usize, most: usize) -> Result<Head, ReadError> {
    let mut head = Head::default();
    while let Some(line) = read_line(from, left, most)?.filter(|line| !line.is_empty()) {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim();
        match name.trim().to_ascii_lowercase().as_str() {
            "content-length" => {
                let length = value.parse();
                head.length = Some(length.map_err(|_| ReadError::Malformed(shorten(&line)))?);
            }
            "transfer-encoding" => head.is_chunked = value.eq_ignore_ascii_case("chunked"),
            "expect" => head.expects = value.eq_ignore_ascii_case("100-continue"),
            "origin" => head.origin = Some(value.to_owned()),
            "host" => head.host = Some(value.to_owned()),
            "authorization" => {
                let bearer = value.split_once(' ');
                let bearer = bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
                head.secret = bearer.map(|(_, secret)| secret.trim().to_owned());
            }
            _ => {}
        }
    }
    Ok(head)
}

fn read_body(
    from: &mut impl BufRead,
    head: &Head,
    most: usize,
    ending: Ending,
) -> Result<Vec<u8>, ReadError> {
    let what = "a message";
    let mut body = Vec::new();
    if head.is_chunked {
        read_chunks(from, &mut body, most)?;
    } else if let Some(length) = head.length {
        if length > most {
            return Err(ReadError::TooLarge { what, most });
        }
        from.take(length as u64).read_to_end(&mut body)?;
        // The length may be wrong although the message is complete.
        let is_enough = match ending {
            Ending::Brackets => Brackets::of(&body).are_closed(),
            Ending::Closed => !body.trim_ascii().is_empty(),
        };
        if body.len() < length && !is_enough {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        read_characters(from, &mut body, length, most)?;
    } else {
        let mut brackets = (ending == Ending::Brackets).then(Brackets::default);
        while read_some(from, &mut body, most, brackets.as_mut())? {}
    }
    if body.len() > most {
        return Err(ReadError::TooLarge { what, most });
    }
    Ok(body)
}

/// Reads on if the length counted characters and the text has longer ones, so that its brackets are still open.
fn read_characters(
    from: &mut impl BufRead,
    body: &mut Vec<u8>,
    length: usize,
    most: usize,
) -> io::Result<()> {
    let is_first = |byte: &&u8| **byte & 0xC0 != 0x80;
    let mut n_characters = body.iter().filter(is_first).count();
    if body.len() < length || n_characters == length || Brackets::of(body).are_closed() {
        return Ok(());
    }
    let mut byte = [0];
    while body.len() <= most && from.read(&mut byte)? > 0 {
        n_characters += usize::from(is_first(&&byte[0]));
        if n_characters > length {
            break;
        }
        body.push(byte[0]);
        if n_characters == length && Brackets::of(body).are_closed() {
            break;
        }
    }
    Ok(())
}

/// Takes the available bytes, up to where the brackets are closed. Returns false at the end.
fn read_some(
    from: &mut impl BufRead,
    body: &mut Vec<u8>,
    most: usize,
    brackets: Option<&mut Brackets>,
) -> io::Result<bool> {
    let available = from.fill_buf()?;
    let closed_at = brackets.and_then(|brackets| brackets.scan(available));
    let n_taken = closed_at.unwrap_or(available.len());
    body.extend_from_slice(&available[..n_taken]);
    from.consume(n_taken);
    Ok(n_taken > 0 && closed_at.is_none() && body.len() <= most)
}

fn read_chunks(from: &mut impl BufRead, body: &mut Vec<u8>, most: usize) -> Result<(), ReadError> {
    // The lines between chunks count as well, or a peer could send them forever.
    let mut left = most;
    loop {
        let Some(line) = read_line(from, &mut left, most)? else {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        };
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16);
        let size = size.map_err(|_| ReadError::Malformed(shorten(&line)))?;
        if size == 0 {
            return Ok(());
        }
        if size > most - body.len() {
            let what = "a message";
            return Err(ReadError::TooLarge { what, most });
        }
        let n_read = from.take(size as u64).read_to_end(body)?;
        if n_read < size {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        read_line(from, &mut left, most)?;
    }
}

/// Tracks whether the brackets of a text are closed, piece by piece. Comments are not recognised, because messages do not
/// contain them.
#[derive(Default)]
struct Brackets {
    depth: i64,
    seen_any: bool,
}

impl Brackets {
    fn of(text: &[u8]) -> Brackets {
        let mut brackets = Brackets::default();
        brackets.scan(text);
        brackets
    }

    /// Scans the next piece. Returns the position after the bracket that closes the first list, if it is in this piece.
    fn scan(&mut self, text: &[u8]) -> Option<usize> {
        let mut closed_at = None;
        for (idx, byte) in text.iter().enumerate() {
            match byte {
                b'(' => {
                    self.depth += 1;
                    self.seen_any = true;
                }
                b')' => self.depth -= 1,
                _ => continue,
            }
            if self.are_closed() && closed_at.is_none() {
                closed_at = Some(idx + 1);
            }
        }
        closed_at
    }

    fn are_closed(&self) -> bool {
        self.seen_any && self.depth <= 0
    }
}

/// Decodes a path such as `/%28+INFO+%29`. Invalid escapes are kept as they are.
fn decode_target(target: &str) -> Vec<u8> {
    let bytes = target.strip_prefix('/').unwrap_or(target).as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let escape = escape.and_then(|digits| {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            Some(digit(digits[0])? * 16 + digit(digits[1])?)
        });
        out.push(match escape {
            Some(byte) => byte as u8,
            None if bytes[at] == b'+' => b' ',
            None => bytes[at],
        });
        at += if escape.is_some() { 3 } else { 1 };
    }
    out
}

fn shorten(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    const LIMITS: Limits = Limits {
        head: 200,
        body: 60,
        ..Limits::DEFAULT
    };

    /// Reads a request, both at once and byte by byte, and shows the result.
    fn check(text: &str, expected: Expect) {
        let show = |mut from: &mut dyn BufRead| {
            let mut n_continued = 0;
            let read = read_request(&mut from, &LIMITS, &mut || {
                n_continued += 1;
                Ok(())
            });
            let continued = if n_continued > 0 { "100, then " } else { "" };
            match read {
                Ok(Incoming::Message(body)) => {
                    format!("{continued}{:?}", String::from_utf8_lossy(&body))
                }
                Ok(Incoming::Nothing) => "nothing".to_owned(),
                Err(error) => format!("error: {error}"),
            }
        };
        let whole = show(&mut text.as_bytes());
        let in_pieces = show(&mut io::BufReader::with_capacity(1, text.as_bytes()));
        assert_eq!(whole, in_pieces);
        expected.assert_eq(&whole);
    }

    #[test]
    fn a_post_of_the_reference_manager() {
        check(
            "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: localhost\r\nSender: GAMESERVER\r\nReceiver: P0\r\nContent-Type: text/acl\r\nContent-Length: 8\r\n\r\n( INFO )",
            expect![[r#""( INFO )""#]],
        );
    }

    #[test]
    fn headers_in_any_case_and_any_line_end() {
        check(
            "post / http/1.1\ncontent-LENGTH:6\nno colon here\n\n(ping)and more",
            expect![[r#""(ping)""#]],
        );
        check(
            "\r\n\r\nPOST / HTTP/7\r\nExpect: 100-Continue\r\nContent-length : 6\r\n\r\n(ping)",
            expect![[r#"100, then "(ping)""#]],
        );
    }

    #[test]
    fn a_message_in_the_path() {
        check(
            "GET /%28+INFO+%29 HTTP/1.0\r\n\r\n",
            expect![[r#""( INFO )""#]],
        );
        check(
            "GET /( PLAY m%31 NIL ) HTTP/1.1\n\n",
            expect![[r#""( PLAY m1 NIL )""#]],
        );
        check("GET /(info)", expect![[r#""(info)""#]]);
        check("GET /100%+%4 HTTP/1.0\n\n", expect![[r#""100% %4""#]]);
        check("GET / HTTP/1.0\n\n", expect![[r#""""#]]);
    }

    #[test]
    fn other_methods_have_no_message() {
        check("OPTIONS / HTTP/1.0\r\n\r\n", expect!["nothing"]);
        check(
            "PUT /x HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc",
            expect!["nothing"],
        );
    }

    #[test]
    fn a_body_without_a_length_ends_with_its_brackets() {
        check(
            "POST / HTTP/1.0\r\n\r\n(play m (a (b c))) and more",
            expect![[r#""(play m (a (b c)))""#]],
        );
        check("POST / HTTP/1.0\r\n\r\nping", expect![[r#""ping""#]]);
    }

    #[test]
    fn a_length_may_count_characters() {
        check(
            "POST / HTTP/1.0\r\nContent-Length: 7\r\n\r\n(é ü ö)",
            expect![[r#""(é ü ö)""#]],
        );
        check(
            "POST / HTTP/1.0\r\nContent-Length: 10\r\n\r\n(é ü ö)",
            expect![[r#""(é ü ö)""#]],
        );
    }

    #[test]
    fn chunks_are_joined() {
        check(
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\n(pi\r\n3\r\nng)\r\n0\r\n\r\n",
            expect![[r#""(ping)""#]],
        );
        check(
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n(pi",
            expect!["error: a message may have 60 bytes at most"],
        );
        check(
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n(pi",
            expect!["error: unexpected end of file"],
        );
    }

    #[test]
    fn long_messages_and_other_protocols_are_errors() {
        check("", expect!["error: unexpected end of file"]);
        check("hello", expect!["error: this is not HTTP: `hello`"]);
        check(
            "(info) x\n\n",
            expect!["error: this is not HTTP: `(info) x`"],
        );
        check(
            "POST / HTTP/1.0\nContent-Length: many\n\n",
            expect!["error: this is not HTTP: `Content-Length: many`"],
        );
        check(
            "POST / HTTP/1.0\nContent-Length: 61\n\n",
            expect!["error: a message may have 60 bytes at most"],
        );
        check(
            "POST / HTTP/1.0\nContent-Length: 20\n\n(play m",
            expect!["error: unexpected end of file"],
        );
        check(
            &format!("POST / HTTP/1.0\n\n({}", "x ".repeat(40)),
            expect!["error: a message may have 60 bytes at most"],
        );
        check(
            &format!("GET /{} HTTP/1.0\n\n", "x".repeat(100)),
            expect!["error: a message may have 60 bytes at most"],
        );
        check(
            &format!("GET /{} HTTP/1.0\n\n", "x".repeat(300)),
            expect!["error: the HTTP header may have 200 bytes at most"],
        );
    }

    fn check_response(text: &str, expected: Expect) {
        let shown = match read_response(&mut text.as_bytes(), &LIMITS) {
            Ok(body) => format!("{:?}", String::from_utf8_lossy(&body)),
            Err(error) => format!("error: {error}"),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn responses_have_a_status_and_a_body() {
        check_response(
            "HTTP/1.0 200 OK\r\nContent-type: text/acl\r\nContent-length: 5\r\n\r\nready",
            expect![[r#""ready""#]],
        );
        check_response("HTTP/1.1 200\n\nnoop", expect![[r#""noop""#]]);
        check_response("http/1.1 201 Made\n\nnoop", expect![[r#""noop""#]]);
        check_response(
            "HTTP/1.0 200 OK\ncontent-LENGTH: 9\n\nnoop\r\n",
            expect![[r#""noop\r\n""#]],
        );
        check_response(
            "HTTP/1.1 200 OK\nTransfer-Encoding: Chunked\n\n4\nnoop\n0\n\n",
            expect![[r#""noop""#]],
        );
        check_response("HTTP/1.1 200 OK\nContent-Length: 0\n\n", expect![[r#""""#]]);
        check_response(
            "HTTP/1.1 404 Not Found\n\nwhat?",
            expect!["error: the answer is HTTP status 404 Not Found"],
        );
        check_response("noop", expect!["error: this is not HTTP: `noop`"]);
        check_response("", expect!["error: unexpected end of file"]);
        check_response(
            "HTTP/1.0 200 OK\nContent-Length: 4\n\n",
            expect!["error: unexpected end of file"],
        );
    }
}
