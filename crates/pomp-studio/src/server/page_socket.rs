use super::outbox::Outbox;
use super::paced::Upgraded;
use super::refusal::Refusal;
use super::world_thread::{self, WorldHandle};
use super::{Shared, random_name};
use crate::protocol::{FromPage, Level, MAX_MESSAGE_BYTES, ToPage};
use axum::body::Bytes;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

/// How long a page may take for one message before it counts as gone.
const SLOWEST: Duration = Duration::from_secs(10);
/// How often a page is pinged, and how long it may be silent before it counts as gone: a browser answers by itself.
const PING_EVERY: Duration = Duration::from_secs(5);
const LONGEST_SILENCE: Duration = Duration::from_secs(30);
/// How long a page may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(1);
/// Messages in a row that make no sense, after which a page is sent away.
const MOST_MISTAKES: usize = 50;

/// Turns a connection into a WebSocket, gives its page a world, and carries messages until either ends.
pub(super) async fn attend(
    State(shared): State<Arc<Shared>>,
    Extension(upgraded): Extension<Upgraded>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(
            WebSocketUpgradeRejection::InvalidConnectionHeader(_)
            | WebSocketUpgradeRejection::InvalidUpgradeHeader(_),
        ) => {
            let reason = "this path speaks WebSocket alone";
            return Refusal::new(StatusCode::UPGRADE_REQUIRED, reason).into_response();
        }
        Err(rejection) => return rejection.into_response(),
    };
    upgraded.set();
    // The server waits for pages that it has still to say goodbye to.
    let stopping = shared.stopping.subscribe();
    upgrade
        .max_message_size(MAX_MESSAGE_BYTES)
        .max_frame_size(MAX_MESSAGE_BYTES)
        .on_upgrade(move |socket| converse(shared, socket, stopping))
}

async fn converse(shared: Arc<Shared>, mut socket: WebSocket, mut stopping: watch::Receiver<()>) {
    let outbox = Arc::new(Outbox::default());
    let (name, world) = match open_world(&shared, &outbox) {
        Ok(opened) => opened,
        Err(text) => {
            let notice = ToPage::notice(Level::Error, text).to_bytes();
            if deliver(&mut socket, Message::Binary(notice.into())).await {
                say_goodbye(socket, close_code::NORMAL).await;
            }
            return;
        }
    };
    let _leaving = Leave { shared: &shared, name: &name };
    let mut page = Page { socket, outbox, world, mistakes: 0, heard: Instant::now() };
    let code = tokio::select! {
        () = page.talk() => close_code::NORMAL,
        _ = stopping.changed() => close_code::AWAY,
    };
    say_goodbye(page.socket, code).await;
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

/// A page and its world.
struct Page {
    socket: WebSocket,
    outbox: Arc<Outbox>,
    world: WorldHandle,
    /// Messages in a row that made no sense.
    mistakes: usize,
    /// When the page was last heard of.
    heard: Instant,
}

impl Page {
    /// Carries messages until the world has ended, or the page has gone, is silent, too slow or talks nonsense.
    async fn talk(&mut self) {
        let mut pings = interval(PING_EVERY);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let sent = tokio::select! {
                next = self.outbox.next() => match next {
                    Some(bytes) => deliver(&mut self.socket, Message::Binary(bytes.into())).await,
                    None => false,
                },
                received = self.socket.recv() => {
                    self.heard = Instant::now();
                    match received {
                        Some(Ok(message)) => self.hear(message),
                        Some(Err(_)) | None => false,
                    }
                }
                _ = pings.tick() => {
                    self.heard.elapsed() < LONGEST_SILENCE
                        && deliver(&mut self.socket, Message::Ping(Bytes::new())).await
                }
            };
            if !sent {
                return;
            }
        }
    }

    /// Takes a message of the page; `false` when the page must go.
    fn hear(&mut self, message: Message) -> bool {
        let read = match message {
            Message::Binary(bytes) => FromPage::parse(&bytes).map_err(|error| error.to_string()),
            Message::Text(_) => Err("message of the page: it is text, not bytes".to_owned()),
            // Pings are answered by the library.
            Message::Ping(_) | Message::Pong(_) => return true,
            Message::Close(_) => return false,
        };
        match read {
            Ok(message) => {
                self.mistakes = 0;
                self.world.tell(message)
            }
            Err(reason) => {
                self.mistakes += 1;
                self.outbox.message(ToPage::notice(Level::Warning, reason).to_bytes());
                self.mistakes <= MOST_MISTAKES
            }
        }
    }
}

/// Sends a message; `false` when the page has gone or takes too long.
async fn deliver(socket: &mut WebSocket, message: Message) -> bool {
    matches!(timeout(SLOWEST, socket.send(message)).await, Ok(Ok(())))
}

/// Ends a connection as the protocol wants it: both sides say that they close it.
async fn say_goodbye(mut socket: WebSocket, code: u16) {
    let close = Message::Close(Some(CloseFrame { code, reason: "".into() }));
    let _gone = timeout(GOODBYE, async {
        if socket.send(close).await.is_ok() {
            while let Some(Ok(_)) = socket.recv().await {}
        }
    })
    .await;
}
