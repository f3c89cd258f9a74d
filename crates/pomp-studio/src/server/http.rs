//! As much of HTTP/1.1 (RFC 9112) as one page needs: one request per connection, bodies of a stated length.

use super::timed::Timed;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// Largest head of a request, bytes, and most headers in it.
const LARGEST_HEAD: usize = 16 << 10;
const MOST_HEADERS: usize = 64;
/// How long a visitor may take between two bytes.
const SLOWEST: Duration = Duration::from_secs(20);
/// How long a head may take in all, and how long a body or an answer besides what its size takes at the slowest pace.
const HEAD_TIME: Duration = Duration::from_secs(30);
const BODY_TIME: Duration = Duration::from_secs(60);
const SLOWEST_BYTES_PER_S: f64 = 64e3;
/// How long, and for how many bytes, a visitor is heard out after the answer.
const LINGER: Duration = Duration::from_millis(500);
const LONGEST_LINGER: Duration = Duration::from_secs(5);
const LARGEST_LINGER: usize = 4 << 20;

/// The time that a visitor has for its head.
pub(super) fn for_head(stream: &TcpStream) -> Timed<'_> {
    Timed::new(stream, HEAD_TIME, SLOWEST)
}

/// The time that a visitor has for `bytes`.
pub(super) fn for_bytes(stream: &TcpStream, bytes: usize) -> Timed<'_> {
    Timed::new(stream, BODY_TIME + Duration::from_secs_f64(bytes as f64 / SLOWEST_BYTES_PER_S), SLOWEST)
}

/// The head of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    pub method: String,
    /// Path without the query.
    pub path: String,
    pub query: Option<String>,
    headers: Vec<(String, String)>,
    /// Bytes of the body that came with the head.
    begun: Vec<u8>,
}

/// Why a request is not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub status: u16,
    pub reason: String,
}

impl Refusal {
    pub fn new(status: u16, reason: impl Into<String>) -> Self {
        Self { status, reason: reason.into() }
    }
}

impl Request {
    /// Reads a head. `Ok(None)` when the visitor hung up before it was whole.
    pub fn read(stream: &mut impl Read) -> io::Result<Option<Result<Self, Refusal>>> {
        let mut bytes = Vec::new();
        let mut chunk = [0; 2048];
        loop {
            let read = stream.read(&mut chunk)?;
            if read == 0 {
                return Ok(None);
            }
            bytes.extend_from_slice(&chunk[..read]);
            match Self::parse(&bytes) {
                Ok(Some(request)) => return Ok(Some(Ok(request))),
                Ok(None) if bytes.len() < LARGEST_HEAD => {}
                Ok(None) => return Ok(Some(Err(Refusal::new(431, "the head of the request is too long")))),
                Err(refusal) => return Ok(Some(Err(refusal))),
            }
        }
    }

    /// `Ok(None)` while the head is not whole.
    fn parse(bytes: &[u8]) -> Result<Option<Self>, Refusal> {
        let bad = |error: httparse::Error| Refusal::new(400, format!("the request is no HTTP: {error}"));
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut head = httparse::Request::new(&mut headers);
        let httparse::Status::Complete(length) = head.parse(bytes).map_err(bad)? else { return Ok(None) };
        let (method, target) = (head.method.unwrap_or_default(), head.path.unwrap_or_default());
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query.to_owned())),
            None => (target, None),
        };
        let mut kept = Vec::with_capacity(head.headers.len());
        for header in head.headers.iter() {
            let value = std::str::from_utf8(header.value)
                .map_err(|_| Refusal::new(400, format!("the header {} is no text", header.name)))?;
            kept.push((header.name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Ok(Some(Self {
            method: method.to_owned(),
            path: path.to_owned(),
            query,
            headers: kept,
            begun: bytes[length..].to_vec(),
        }))
    }

    /// Values of a header, its name in lower case.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.headers.iter().filter(move |(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The value of a header that comes once.
    pub fn header<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.all(name).next()
    }

    /// Whether a header that is a list has `word` in it.
    pub fn lists(&self, name: &str, word: &str) -> bool {
        self.all(name)
            .flat_map(|value| value.split(','))
            .any(|part| part.split(';').next().is_some_and(|part| part.trim().eq_ignore_ascii_case(word)))
    }

    /// The value of a field of the query, its escapes resolved; `None` when it is not there or no text.
    pub fn field(&self, name: &str) -> Option<String> {
        let query = self.query.as_deref()?;
        let value = query.split('&').find_map(|part| part.strip_prefix(name)?.strip_prefix('='))?;
        percent_decoded(value)
    }

    /// The body, which must say how long it is.
    pub fn body(&mut self, stream: &mut impl Read, most: usize) -> io::Result<Result<Vec<u8>, Refusal>> {
        if self.header("transfer-encoding").is_some() {
            return Ok(Err(Refusal::new(501, "bodies in chunks are not read; state the length")));
        }
        let stated: Vec<&str> = self.all("content-length").collect();
        let length = match stated[..] {
            [] => return Ok(Err(Refusal::new(411, "the request does not state its length"))),
            [length] => length,
            _ => return Ok(Err(Refusal::new(400, "the request states its length more than once"))),
        };
        // A sign is no digit, though a number may have one.
        let digits = length.bytes().all(|byte| byte.is_ascii_digit());
        let Some(length) = length.parse::<usize>().ok().filter(|_| digits) else {
            return Ok(Err(Refusal::new(400, "the request's length is no number")));
        };
        if length > most {
            let reason = format!("the file is larger than {} MB, which is all that is taken", most >> 20);
            return Ok(Err(Refusal::new(413, reason)));
        }
        let mut body = std::mem::take(&mut self.begun);
        body.truncate(length);
        let rest = (length - body.len()) as u64;
        stream.take(rest).read_to_end(&mut body)?;
        if body.len() < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Ok(body))
    }

    /// What followed the head in the same breath.
    pub fn begun(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.begun)
    }
}

/// An answer; the connection ends with it.
#[derive(Clone, Debug)]
pub(super) struct Response {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

impl Response {
    pub fn new(kind: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, headers: vec![("Content-Type", kind.to_owned())], body: body.into() }
    }

    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub fn write(&self, stream: &mut impl Write) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, phrase(self.status));
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(
            "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n",
        );
        head.push_str(&format!("Content-Length: {}\r\n\r\n", self.body.len()));
        stream.write_all(head.as_bytes())?;
        stream.write_all(&self.body)?;
        stream.flush()
    }
}

/// Answers and ends the connection. What the visitor still sends is read for a moment: closing at once would lose the answer
/// on its way.
pub(super) fn hang_up(stream: &TcpStream, response: &Response) {
    let ended = response
        .write(&mut for_bytes(stream, response.body.len()))
        .and_then(|()| stream.shutdown(Shutdown::Write));
    if ended.is_err() {
        // The visitor has gone before the answer.
        return;
    }
    let mut left = LARGEST_LINGER;
    let mut chunk = [0; 16 << 10];
    let mut heard = Timed::new(stream, LONGEST_LINGER, LINGER);
    while let Ok(read @ 1..) = heard.read(&mut chunk) {
        left = left.saturating_sub(read);
        if left == 0 {
            return;
        }
    }
}

impl From<Refusal> for Response {
    fn from(refusal: Refusal) -> Self {
        Self { status: refusal.status, ..Self::new("text/plain; charset=utf-8", refusal.reason) }
    }
}

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        303 => "See Other",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        411 => "Length Required",
        413 => "Content Too Large",
        422 => "Unprocessable Content",
        426 => "Upgrade Required",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

/// Text of a URL's query; `None` when it is not UTF-8 or its escapes are wrong.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            if !digits.iter().all(u8::is_ascii_hexdigit) {
                return None;
            }
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WHOLE: &str = "POST /clip?name=walk%20on%C3%A9.bvh HTTP/1.1\r\nHost: a:1\r\nContent-Length: 5\r\nConnection: keep-alive, Upgrade\r\n\r\nhello there";

    #[test]
    fn a_request_is_read_however_it_arrives() {
        for size in [1, 7, 4096] {
            struct Slow<'a>(&'a [u8], usize);
            impl Read for Slow<'_> {
                fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                    let count = self.1.min(self.0.len()).min(into.len());
                    into[..count].copy_from_slice(&self.0[..count]);
                    self.0 = &self.0[count..];
                    Ok(count)
                }
            }
            let mut stream = Slow(WHOLE.as_bytes(), size);
            let mut request = Request::read(&mut stream).unwrap().unwrap().unwrap();
            assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/clip"));
            assert_eq!(request.field("name").as_deref(), Some("walk oné.bvh"));
            assert_eq!(request.header("host"), Some("a:1"));
            assert!(request.lists("connection", "upgrade"));
            assert_eq!(request.body(&mut stream, 100).unwrap().unwrap(), b"hello");
        }
    }

    #[test]
    fn rejects_escapes_that_are_none() {
        for broken in ["%", "%2", "%zz", "%ff", "%+1"] {
            assert_eq!(percent_decoded(broken), None, "{broken}");
        }
    }

    #[test]
    fn rejects_bodies_without_an_honest_length() {
        let status = |head: &str| {
            let mut request =
                Request::parse(format!("POST / HTTP/1.1\r\n{head}\r\n").as_bytes()).unwrap().unwrap();
            request.body(&mut io::empty(), 100).unwrap().unwrap_err().status
        };
        assert_eq!(status(""), 411);
        assert_eq!(status("Content-Length: -1\r\n"), 400);
        assert_eq!(status("Content-Length: +5\r\n"), 400);
        assert_eq!(status("Content-Length: 5\r\nContent-Length: 6\r\n"), 400);
        assert_eq!(status("Content-Length: 99999999999999999999999999\r\n"), 400);
        assert_eq!(status("Content-Length: 101\r\n"), 413);
        assert_eq!(status("Transfer-Encoding: chunked\r\n"), 501);
        let mut request =
            Request::parse(b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nshort").unwrap().unwrap();
        assert!(request.body(&mut io::empty(), 100).is_err(), "the rest never came");
    }

    #[test]
    fn rejects_heads_without_end() {
        let endless =
            [b"GET / HTTP/1.1\r\n".as_slice(), &b"A: b\r\n".repeat(40), &vec![b'x'; 20_000]].concat();
        let refusal = Request::read(&mut endless.as_slice()).unwrap().unwrap().unwrap_err();
        assert_eq!(refusal.status, 431);
        let crowd = [b"GET / HTTP/1.1\r\n".as_slice(), &b"A: b\r\n".repeat(100), b"\r\n"].concat();
        assert_eq!(Request::read(&mut crowd.as_slice()).unwrap().unwrap().unwrap_err().status, 400);
    }

    proptest! {
        #[test]
        fn no_bytes_bring_the_reader_down(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _read = Request::read(&mut bytes.as_slice());
        }
    }
}
