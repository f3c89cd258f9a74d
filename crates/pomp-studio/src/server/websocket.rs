//! The server's side of the WebSocket protocol (RFC 6455), without extensions.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};
use std::io::{self, Read, Write};

/// What the protocol appends to a key before it hashes it (RFC 6455 §1.3).
const MAGIC: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

const CONTINUATION: u8 = 0x0;
const TEXT: u8 = 0x1;
const BINARY: u8 = 0x2;
const CLOSE: u8 = 0x8;
const PING: u8 = 0x9;
const PONG: u8 = 0xA;

/// The value of `Sec-WebSocket-Accept` for a key.
pub(super) fn accept_key(key: &str) -> String {
    STANDARD.encode(Sha1::digest(format!("{key}{MAGIC}")))
}

/// Something that the other side sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Received {
    Binary(Vec<u8>),
    Text,
    /// To be answered by a pong with the same bytes.
    Ping(Vec<u8>),
    Close,
}

/// Reads messages, of one frame or several.
#[derive(Debug)]
pub(super) struct Reader<R> {
    stream: R,
    most: usize,
    /// Kind and bytes of a message that is not whole yet.
    begun: Option<(u8, Vec<u8>)>,
}

fn breach(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the WebSocket's other side {what}"))
}

impl<R: Read> Reader<R> {
    /// Reads from `stream` messages of at most `most` bytes.
    pub fn new(stream: R, most: usize) -> Self {
        Self { stream, most, begun: None }
    }

    /// The next message.
    ///
    /// # Errors
    /// The connection is gone, or the other side breaks the protocol; it must be closed then.
    pub fn next(&mut self) -> io::Result<Received> {
        loop {
            let (last, kind, payload) = self.frame()?;
            match kind {
                CLOSE => return Ok(Received::Close),
                PING => return Ok(Received::Ping(payload)),
                PONG => continue,
                TEXT | BINARY if self.begun.is_none() => self.begun = Some((kind, payload)),
                CONTINUATION => match &mut self.begun {
                    Some((_, bytes)) if bytes.len() + payload.len() <= self.most => bytes.extend(payload),
                    Some(_) => return Err(breach("sends too long a message")),
                    None => return Err(breach("goes on with a message that has not begun")),
                },
                _ => return Err(breach("sends a frame that has no place here")),
            }
            if last && let Some((kind, bytes)) = self.begun.take() {
                return Ok(if kind == TEXT { Received::Text } else { Received::Binary(bytes) });
            }
        }
    }

    /// Whether it is the last of its message, its kind, its payload.
    fn frame(&mut self) -> io::Result<(bool, u8, Vec<u8>)> {
        let [first, second] = self.take::<2>()?;
        let (last, kind) = (first & 0x80 != 0, first & 0x0f);
        if first & 0x70 != 0 {
            return Err(breach("uses extensions that were not agreed on"));
        }
        if second & 0x80 == 0 {
            return Err(breach("does not mask what it sends"));
        }
        let length = match second & 0x7f {
            126 => u64::from(u16::from_be_bytes(self.take()?)),
            127 => u64::from_be_bytes(self.take()?),
            short => u64::from(short),
        };
        let control = kind & 0x8 != 0;
        if control && (length > 125 || !last) {
            return Err(breach("sends a control frame that is too long or in pieces"));
        }
        if length > self.most as u64 {
            return Err(breach("sends too long a message"));
        }
        let mask = self.take::<4>()?;
        let mut payload = vec![0; length as usize];
        self.stream.read_exact(&mut payload)?;
        for (byte, mask) in payload.iter_mut().zip(mask.iter().cycle()) {
            *byte ^= mask;
        }
        Ok((last, kind, payload))
    }

    fn take<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Writes a binary message.
pub(super) fn write_binary(stream: &mut impl Write, payload: &[u8]) -> io::Result<()> {
    write_frame(stream, BINARY, payload)
}

/// Answers a ping.
pub(super) fn write_pong(stream: &mut impl Write, payload: &[u8]) -> io::Result<()> {
    write_frame(stream, PONG, payload)
}

/// Says goodbye.
pub(super) fn write_close(stream: &mut impl Write) -> io::Result<()> {
    write_frame(stream, CLOSE, &1000u16.to_be_bytes())
}

fn write_frame(stream: &mut impl Write, kind: u8, payload: &[u8]) -> io::Result<()> {
    let mut head = vec![0x80 | kind];
    match payload.len() {
        short @ 0..=125 => head.push(short as u8),
        middle @ 126..=0xffff => {
            head.push(126);
            head.extend((middle as u16).to_be_bytes());
        }
        long => {
            head.push(127);
            head.extend((long as u64).to_be_bytes());
        }
    }
    // One write for small messages: a packet for the head alone would cost a round trip.
    if payload.len() <= 8192 {
        head.extend_from_slice(payload);
        return stream.write_all(&head);
    }
    stream.write_all(&head)?;
    stream.write_all(payload)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
        let mask = [7, 77, 177, 211];
        let mut bytes = vec![first];
        if payload.len() < 126 {
            bytes.push(0x80 | payload.len() as u8);
        } else {
            bytes.push(0x80 | 126);
            bytes.extend((payload.len() as u16).to_be_bytes());
        }
        bytes.extend(mask);
        bytes.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        bytes
    }

    fn read(bytes: &[u8]) -> io::Result<Received> {
        Reader::new(bytes, 1000).next()
    }

    #[test]
    fn the_key_of_the_standard_gives_the_answer_of_the_standard() {
        // RFC 6455 §1.3.
        assert_eq!(accept_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn messages_are_put_together_from_their_pieces_with_a_ping_in_between() {
        let bytes =
            [masked(0x02, b"one "), masked(0x89, b"?"), masked(0x00, b"two "), masked(0x80, b"three")]
                .concat();
        let mut reader = Reader::new(bytes.as_slice(), 1000);
        assert_eq!(reader.next().unwrap(), Received::Ping(b"?".to_vec()));
        assert_eq!(reader.next().unwrap(), Received::Binary(b"one two three".to_vec()));
    }

    #[test]
    fn rejects_what_breaks_the_protocol() {
        let unmasked = [0x82, 0x01, 0x00];
        let extension = masked(0xC2, b"x");
        let orphan = masked(0x80, b"x");
        let unknown = masked(0x83, b"x");
        let long_ping = masked(0x89, &[0; 126]);
        let split_ping = masked(0x09, b"x");
        let interrupted = [masked(0x02, b"a"), masked(0x82, b"b")].concat();
        let huge = [vec![0x82, 0xff], u64::MAX.to_be_bytes().to_vec(), vec![0; 4]].concat();
        let creeping = [masked(0x02, &[0; 900]), masked(0x80, &[0; 900])].concat();
        for bytes in [
            &unmasked[..],
            &extension,
            &orphan,
            &unknown,
            &long_ping,
            &split_ping,
            &interrupted,
            &huge,
            &creeping,
        ] {
            assert_eq!(read(bytes).unwrap_err().kind(), io::ErrorKind::InvalidData, "{bytes:?}");
        }
    }

    #[test]
    fn what_is_written_has_the_length_that_it_says() {
        for length in [0, 125, 126, 8193, 70_000] {
            let mut out = Vec::new();
            write_binary(&mut out, &vec![5; length]).unwrap();
            let head = if length < 126 {
                2
            } else if length < 65_536 {
                4
            } else {
                10
            };
            assert_eq!(out.len(), head + length);
            assert_eq!(out[0], 0x82);
        }
    }

    proptest! {
        #[test]
        fn every_message_comes_through(payload in prop::collection::vec(any::<u8>(), 0..600)) {
            prop_assert_eq!(read(&masked(0x82, &payload)).unwrap(), Received::Binary(payload));
        }

        #[test]
        fn no_bytes_bring_the_reader_down(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut reader = Reader::new(bytes.as_slice(), 1000);
            while reader.next().is_ok() {}
        }
    }
}
