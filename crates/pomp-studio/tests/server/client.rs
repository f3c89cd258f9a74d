//! A visitor: enough of HTTP and WebSocket to knock at the server's door, politely or not.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Generous: the machine may be busy with anything.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Sends a request as it stands and reads the answer to its end.
pub fn ask(address: SocketAddr, request: &str, body: &[u8]) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    // A server may answer and hang up before it has heard everything.
    let _heard = stream.write_all(body);
    let mut answer = Vec::new();
    let _ended = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer).into_owned();
    let status = text.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    (status, text)
}

pub fn get(address: SocketAddr, path: &str, headers: &str) -> (u16, String) {
    ask(address, &format!("GET {path} HTTP/1.1\r\n{headers}\r\n"), &[])
}

pub fn post(address: SocketAddr, path: &str, body: &[u8]) -> (u16, String) {
    let head = format!("POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n\r\n", body.len());
    ask(address, &head, body)
}

/// The head that opens a socket, with more headers.
pub fn handshake(address: SocketAddr, headers: &str) -> String {
    format!(
        "GET /socket HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
    )
}

/// The page's end of a socket.
pub struct Page {
    stream: TcpStream,
}

impl Page {
    pub fn open(address: SocketAddr) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(handshake(address, "").as_bytes()).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        assert!(head.starts_with("HTTP/1.1 101") && head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{head}");
        Self { stream }
    }

    /// Sends a binary message; `false` when the server has hung up.
    pub fn send(&mut self, payload: &[u8]) -> bool {
        self.send_frame(0x82, payload)
    }

    pub fn send_frame(&mut self, first: u8, payload: &[u8]) -> bool {
        let mut bytes = vec![first];
        if payload.len() < 126 {
            bytes.push(0x80 | payload.len() as u8);
        } else {
            bytes.push(0x80 | 126);
            bytes.extend((payload.len() as u16).to_be_bytes());
        }
        let mask = [1, 2, 3, 4];
        bytes.extend(mask);
        bytes.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        self.send_raw(&bytes)
    }

    pub fn send_raw(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    pub fn command(&mut self, json: &str) -> bool {
        self.send(&[&[3], json.as_bytes()].concat())
    }

    /// The next message; `None` when the server has said goodbye.
    pub fn next(&mut self) -> Option<Vec<u8>> {
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
        match head[0] {
            0x82 => Some(payload),
            0x88 => None,
            _ => self.next(),
        }
    }

    /// The next message of a kind.
    pub fn next_of(&mut self, kind: u8) -> Vec<u8> {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let message =
                self.next().unwrap_or_else(|| panic!("the server hung up before a message of kind {kind}"));
            if message[0] == kind {
                return message;
            }
        }
        panic!("no message of kind {kind} in time");
    }
}

/// The JSON of a message.
pub fn json(bytes: &[u8]) -> serde_json::Value {
    serde_json::from_slice(&bytes[1..]).unwrap()
}
