use super::http::Refusal;
use super::outbox::{CloseAtEnd, Outbox, Outgoing};
use super::websocket::{Reader, Received, accept_key, write_binary, write_close, write_pong};
use super::world_thread::{self, WorldHandle};
use super::{Shared, http, random_name};
use crate::protocol::{FromPage, Level, MAX_MESSAGE_BYTES, notice_message};
use std::io::{self, Cursor, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// How long a page may take for one message before it counts as gone.
const SLOWEST: Duration = Duration::from_secs(10);
/// Messages in a row that make no sense, after which a page is sent away.
const MOST_MISTAKES: usize = 50;

/// Turns a connection into a socket, gives its page a world, and carries messages until either ends.
pub(super) fn attend(shared: &Arc<Shared>, mut request: http::Request, stream: TcpStream) {
    let key = match agreed_key(&request) {
        Ok(key) => key,
        Err(refusal) => return http::hang_up(&stream, &refusal.into()),
    };
    // The connection is gone already when this fails.
    let _gone = converse(shared, &key, request.begun(), stream);
}

/// Checks a handshake (RFC 6455 §4.2.1).
fn agreed_key(request: &http::Request) -> Result<String, Refusal> {
    if !request.lists("connection", "upgrade") || !request.lists("upgrade", "websocket") {
        return Err(Refusal::new(426, "this path speaks WebSocket alone"));
    }
    if request.header("sec-websocket-version") != Some("13") {
        return Err(Refusal::new(400, "only version 13 of the WebSocket protocol is spoken here"));
    }
    request
        .header("sec-websocket-key")
        .map(accept_key)
        .ok_or_else(|| Refusal::new(400, "the WebSocket handshake has no key"))
}

fn converse(shared: &Arc<Shared>, key: &str, begun: Vec<u8>, mut stream: TcpStream) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {key}\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.set_write_timeout(Some(SLOWEST))?;
    // A page may have nothing to say for as long as it likes.
    stream.set_read_timeout(None)?;
    stream.set_nodelay(true)?;
    let outbox = Arc::new(Outbox::default());
    let (name, world) = match open_world(shared, &outbox) {
        Ok(opened) => opened,
        Err(text) => {
            write_binary(&mut stream, &notice_message(Level::Error, &text))?;
            write_close(&mut stream)?;
            return stream.shutdown(Shutdown::Write);
        }
    };
    let _leaving = Leave { shared, name: &name };
    let listener = stream.try_clone()?;
    let ears = Arc::clone(&outbox);
    std::thread::Builder::new().name("page".to_owned()).spawn(move || {
        let _closing = CloseAtEnd(Arc::clone(&ears));
        listen(&world, &ears, Cursor::new(begun).chain(listener));
    })?;
    let delivered = deliver(&outbox, &mut stream);
    // Wakes the listener, whose world goes with it.
    stream.shutdown(Shutdown::Both)?;
    delivered
}

/// Takes a world off the list when its page has gone.
struct Leave<'a> {
    shared: &'a Shared,
    name: &'a str,
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.shared.worlds.lock().expect("nothing panics while it holds this lock").remove(self.name);
    }
}

/// Starts a world, if there is room for one.
fn open_world(shared: &Arc<Shared>, outbox: &Arc<Outbox>) -> Result<(String, WorldHandle), String> {
    let most = shared.config.max_worlds;
    let mut worlds = shared.worlds.lock().expect("nothing panics while it holds this lock");
    if worlds.len() >= most {
        return Err(format!(
            "{most} pages are open already, and each has a world of its own. Close one, or raise max_worlds in the configuration."
        ));
    }
    let name = random_name().map_err(|error| error.to_string())?;
    let world = world_thread::start(Arc::clone(shared), name.clone(), Arc::clone(outbox))
        .map_err(|error| error.to_string())?;
    worlds.insert(name.clone(), world.clone());
    Ok((name, world))
}

fn deliver(outbox: &Outbox, stream: &mut TcpStream) -> io::Result<()> {
    while let Some(outgoing) = outbox.next() {
        match outgoing {
            Outgoing::Message(bytes) => write_binary(stream, &bytes)?,
            Outgoing::Pong(bytes) => write_pong(stream, &bytes)?,
        }
    }
    write_close(stream)
}

fn listen(world: &WorldHandle, outbox: &Outbox, stream: impl Read) {
    let mut reader = Reader::new(io::BufReader::new(stream), MAX_MESSAGE_BYTES);
    let mut mistakes = 0;
    while let Ok(received) = reader.next() {
        let read = match received {
            Received::Binary(bytes) => FromPage::parse(&bytes).map_err(|error| error.to_string()),
            Received::Text => Err("message of the page: it is text, not bytes".to_owned()),
            Received::Ping(bytes) => {
                outbox.pong(bytes);
                continue;
            }
            Received::Close => return,
        };
        match read {
            Ok(message) => {
                mistakes = 0;
                if !world.tell(message) {
                    return;
                }
            }
            Err(reason) => {
                mistakes += 1;
                outbox.message(notice_message(Level::Warning, &reason));
                if mistakes > MOST_MISTAKES {
                    return;
                }
            }
        }
    }
}
