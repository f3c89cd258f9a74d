use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Frames that wait for a slow page; beyond these the oldest is dropped.
const WAITING_FRAMES: usize = 4;
/// Other messages that wait; a page that leaves so many unread is given up.
const WAITING_MESSAGES: usize = 64;

/// What a world has to say to its page. The world never waits for the page: frames that it cannot take in time are
/// dropped, oldest first, and everything else is kept in order.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: Mutex<Waiting>,
    news: Condvar,
}

/// Something to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outgoing {
    Message(Vec<u8>),
    Pong(Vec<u8>),
}

#[derive(Debug, Default)]
struct Waiting {
    messages: VecDeque<Outgoing>,
    frames: VecDeque<Vec<u8>>,
    dropped: u64,
    closed: bool,
}

impl Outbox {
    /// A message that must arrive.
    pub fn message(&self, bytes: Vec<u8>) {
        self.put(Outgoing::Message(bytes));
    }

    /// The answer to a ping.
    pub fn pong(&self, bytes: Vec<u8>) {
        self.put(Outgoing::Pong(bytes));
    }

    fn put(&self, outgoing: Outgoing) {
        self.with(|waiting| {
            if waiting.messages.len() < WAITING_MESSAGES {
                waiting.messages.push_back(outgoing);
            } else {
                waiting.closed = true;
            }
        });
    }

    /// A frame, which may be dropped.
    pub fn frame(&self, bytes: Vec<u8>) {
        self.with(|waiting| {
            if waiting.frames.len() == WAITING_FRAMES {
                waiting.frames.pop_front();
                waiting.dropped += 1;
            }
            waiting.frames.push_back(bytes);
        });
    }

    /// Nothing more will come; what waits is still delivered.
    pub fn close(&self) {
        self.with(|waiting| waiting.closed = true);
    }

    /// Frames that were dropped so far.
    pub fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    /// Waits for the next thing to send, messages before frames; `None` when it is closed and empty.
    pub fn next(&self) -> Option<Outgoing> {
        let mut waiting = self.lock();
        loop {
            if let Some(message) = waiting.messages.pop_front() {
                return Some(message);
            }
            if let Some(frame) = waiting.frames.pop_front() {
                return Some(Outgoing::Message(frame));
            }
            if waiting.closed {
                return None;
            }
            waiting = self.news.wait(waiting).expect("nothing panics while it holds this lock");
        }
    }

    fn with(&self, change: impl FnOnce(&mut Waiting)) {
        change(&mut self.lock());
        self.news.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().expect("nothing panics while it holds this lock")
    }
}

/// Closes an outbox however its holder ends.
pub(super) struct CloseAtEnd(pub Arc<Outbox>);

impl Drop for CloseAtEnd {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(outbox: &Outbox) -> Vec<Outgoing> {
        outbox.close();
        std::iter::from_fn(|| outbox.next()).collect()
    }

    #[test]
    fn a_page_that_does_not_read_loses_the_oldest_frames_and_no_message() {
        let outbox = Outbox::default();
        for frame in 0..100 {
            outbox.frame(vec![frame]);
        }
        outbox.message(vec![200]);
        outbox.message(vec![201]);
        assert_eq!(outbox.dropped(), 96);
        let expected = [200, 201, 96, 97, 98, 99].map(|byte| Outgoing::Message(vec![byte]));
        assert_eq!(drain(&outbox), expected);
    }

    #[test]
    fn a_page_that_leaves_its_messages_unread_is_given_up() {
        let outbox = Outbox::default();
        for _ in 0..=WAITING_MESSAGES {
            outbox.message(vec![1]);
        }
        assert_eq!(drain(&outbox).len(), WAITING_MESSAGES);
    }
}
