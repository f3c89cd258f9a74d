use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::Notify;

/// Frames that wait for a slow page; beyond these the oldest is dropped.
const WAITING_FRAMES: usize = 4;
/// Other messages that wait; a page that leaves so many unread is given up.
const WAITING_MESSAGES: usize = 64;

/// What a world has to say to its page. The world never waits for the page: frames that it cannot take in time are
/// dropped, oldest first, and everything else is kept in order.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: Mutex<Waiting>,
    news: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    messages: VecDeque<Vec<u8>>,
    frames: VecDeque<Vec<u8>>,
    dropped: u64,
    closed: bool,
}

impl Outbox {
    /// A message that must arrive.
    pub fn message(&self, bytes: Vec<u8>) {
        self.with(|waiting| {
            if waiting.messages.len() < WAITING_MESSAGES {
                waiting.messages.push_back(bytes);
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

    /// Waits for the next thing to send, messages before frames; `None` when it is closed and empty. Nothing is lost when the
    /// wait is given up.
    pub async fn next(&self) -> Option<Vec<u8>> {
        loop {
            {
                let mut waiting = self.lock();
                let next = waiting.messages.pop_front().or_else(|| waiting.frames.pop_front());
                if next.is_some() || waiting.closed {
                    return next;
                }
            }
            self.news.notified().await;
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

    /// All that waits, and the end.
    fn drain(outbox: &Outbox) -> Vec<Vec<u8>> {
        outbox.close();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        std::iter::from_fn(|| runtime.block_on(outbox.next())).collect()
    }

    #[test]
    fn a_message_wakes_the_one_that_waits_for_it_from_any_thread() {
        let outbox = Arc::new(Outbox::default());
        let world = Arc::clone(&outbox);
        let told = std::thread::spawn(move || {
            for number in 0..200 {
                world.message(vec![number]);
                // Every now and then the other side has to wait.
                std::thread::sleep(std::time::Duration::from_micros(50 * u64::from(number % 3)));
                while !world.lock().messages.is_empty() {
                    std::thread::yield_now();
                }
            }
            world.close();
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let heard: Vec<Vec<u8>> = std::iter::from_fn(|| runtime.block_on(outbox.next())).collect();
        told.join().unwrap();
        assert_eq!(heard, (0..200).map(|number| vec![number]).collect::<Vec<_>>());
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
        let expected = [200, 201, 96, 97, 98, 99].map(|byte| vec![byte]);
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
