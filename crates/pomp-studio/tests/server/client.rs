//! A client: enough of HTTP and WebSocket to send what the server expects, and what it does not.

use pomp_studio::protocol::{FLOATS_EXTENSION, FromPage};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Generous: the machine may be busy with anything.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// An answer of the server.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    fn of(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").map_or(bytes.len(), |at| at + 4);
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        Self { status, head, body: bytes[end..].to_vec() }
    }

    /// The value of a header; empty when it is not there.
    pub fn header(&self, name: &str) -> &str {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut found = lines.filter(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value);
        found.next().unwrap_or_default()
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

pub fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Sends a request as it stands and reads the answer until the server closes the connection.
pub fn ask(address: SocketAddr, request: &str, body: &[u8]) -> Answer {
    let mut stream = connect(address);
    stream.write_all(request.as_bytes()).unwrap();
    // A server may answer and hang up before it has heard everything.
    let _heard = stream.write_all(body);
    let mut answer = Vec::new();
    let _ended = stream.read_to_end(&mut answer);
    Answer::of(&answer)
}

/// Reads an answer that states its length, and leaves the connection open.
pub fn read_answer(stream: &mut TcpStream, has_body: bool) -> Answer {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let mut answer = Answer::of(&head);
    if has_body {
        answer.body = vec![0; answer.header("content-length").parse().unwrap()];
        stream.read_exact(&mut answer.body).unwrap();
    }
    answer
}

pub fn get(address: SocketAddr, path: &str, headers: &str) -> Answer {
    ask(address, &format!("GET {path} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n"), &[])
}

pub fn post(address: SocketAddr, path: &str, body: &[u8]) -> Answer {
    post_with(address, path, &format!("Content-Length: {}\r\n", body.len()), body)
}

/// Posts with these headers about the body.
pub fn post_with(address: SocketAddr, path: &str, headers: &str, body: &[u8]) -> Answer {
    let head = format!("POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\r\n");
    ask(address, &head, body)
}

/// The head that opens a WebSocket, with more headers.
pub fn handshake(address: SocketAddr, headers: &str) -> String {
    format!(
        "GET /socket HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
    )
}

/// The answer to a handshake that is refused.
pub fn refused(address: SocketAddr, headers: &str) -> Answer {
    ask(address, &handshake(address, &format!("Connection: close\r\n{headers}")), &[])
}

/// The page's end of a WebSocket.
pub struct Page {
    stream: TcpStream,
}

impl Page {
    pub fn open(address: SocketAddr) -> Self {
        Self::open_with(address, "")
    }

    pub fn open_with(address: SocketAddr, headers: &str) -> Self {
        let mut stream = connect(address);
        stream.write_all(handshake(address, headers).as_bytes()).unwrap();
        let answer = read_answer(&mut stream, false);
        // The answer that RFC 6455 §1.3 gives for this key.
        let accepted = answer.header("sec-websocket-accept") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
        assert!(answer.status == 101 && accepted, "{}", answer.head);
        Self { stream }
    }

    /// Sends a binary message; `false` when the server has hung up.
    pub fn send(&mut self, payload: &[u8]) -> bool {
        self.send_frame(0x82, payload)
    }

    /// Sends a message of the protocol.
    pub fn tell(&mut self, message: &FromPage) -> bool {
        self.send(&message.to_bytes())
    }

    pub fn send_frame(&mut self, first: u8, payload: &[u8]) -> bool {
        self.send_raw(&masked(first, payload))
    }

    pub fn send_raw(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// The next frame of the WebSocket: its first byte and its payload; `None` when the connection has ended.
    pub fn next_frame(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut head = [0; 2];
        self.stream.read_exact(&mut head).ok()?;
        let length = match head[1] {
            126 => {
                let mut bytes = [0; 2];
                self.stream.read_exact(&mut bytes).ok()?;
                usize::from(u16::from_be_bytes(bytes))
            }
            127 => {
                let mut bytes = [0; 8];
                self.stream.read_exact(&mut bytes).ok()?;
                u64::from_be_bytes(bytes) as usize
            }
            short => usize::from(short),
        };
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload).ok()?;
        Some((head[0], payload))
    }

    /// The next message; `None` when the server has said goodbye. Pings are answered as a browser does.
    pub fn next(&mut self) -> Option<serde_json::Value> {
        loop {
            match self.next_frame()? {
                (0x82, payload) => return Some(read(&payload)),
                (0x89, payload) => {
                    self.send_frame(0x8a, &payload);
                }
                (0x88, _) => return None,
                _ => {}
            }
        }
    }

    /// The next message of a kind.
    pub fn next_of(&mut self, kind: &str) -> serde_json::Value {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let message = self.next();
            let message =
                message.unwrap_or_else(|| panic!("the server hung up before a message of kind {kind}"));
            if message["kind"] == kind {
                return message;
            }
        }
        panic!("no message of kind {kind} in time");
    }

    /// Whether the server ends the connection, whatever it says before.
    pub fn is_hung_up_on(&mut self) -> bool {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            match self.next_frame() {
                None | Some((0x88, _)) => return true,
                Some(_) => {}
            }
        }
        false
    }
}

/// A frame as a client sends it.
pub fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    if payload.len() < 126 {
        bytes.push(0x80 | payload.len() as u8);
    } else if let Ok(length) = u16::try_from(payload.len()) {
        bytes.push(0x80 | 126);
        bytes.extend(length.to_be_bytes());
    } else {
        bytes.push(0x80 | 127);
        bytes.extend((payload.len() as u64).to_be_bytes());
    }
    let mask = [1, 2, 3, 4];
    bytes.extend(mask);
    bytes.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    bytes
}

/// A message in MessagePack, its rows of f32 as lists.
pub fn read(mut bytes: &[u8]) -> serde_json::Value {
    let value = rmpv::decode::read_value(&mut bytes).unwrap();
    assert!(bytes.is_empty(), "{} bytes follow the message", bytes.len());
    plain(value)
}

fn plain(value: rmpv::Value) -> serde_json::Value {
    match value {
        rmpv::Value::Ext(FLOATS_EXTENSION, data) => {
            let (numbers, rest) = data.as_chunks::<4>();
            assert!(rest.is_empty(), "{} bytes are no row of f32", data.len());
            numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
        }
        rmpv::Value::Array(values) => values.into_iter().map(plain).collect(),
        rmpv::Value::Map(pairs) => {
            let pairs = pairs.into_iter();
            pairs.map(|(name, value)| (name.as_str().unwrap().to_owned(), plain(value))).collect()
        }
        rmpv::Value::Nil => serde_json::Value::Null,
        rmpv::Value::Boolean(value) => value.into(),
        rmpv::Value::Integer(value) => {
            value.as_i64().map(Into::into).or_else(|| value.as_u64().map(Into::into)).unwrap()
        }
        rmpv::Value::F32(value) => value.into(),
        rmpv::Value::F64(value) => value.into(),
        rmpv::Value::String(text) => text.as_str().unwrap().into(),
        other => panic!("{other} has no place in a message"),
    }
}
