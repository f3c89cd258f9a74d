//! Time limits of a connection. hyper limits the time for the head of a request; answers and the end of a connection are
//! limited here.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// How long the other side of a connection may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pace {
    /// For the head of a request, and between two requests.
    pub head: Duration,
    /// Between two pieces of a body or an answer.
    pub pause: Duration,
    /// For a body or an answer, besides what its size takes at the slowest rate.
    pub whole: Duration,
    /// The slowest rate, bytes per second.
    pub slowest_bytes_per_s: f64,
    /// After the last answer, for what is still on its way: closing at once would lose the answer.
    pub linger: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(30),
            pause: Duration::from_secs(20),
            whole: Duration::from_secs(60),
            slowest_bytes_per_s: 64e3,
            linger: Duration::from_secs(5),
        }
    }
}

impl Pace {
    /// Time for so many bytes.
    pub fn for_bytes(&self, bytes: u64) -> Duration {
        self.whole + Duration::from_secs_f64(bytes as f64 / self.slowest_bytes_per_s)
    }
}

/// How long, and for how many bytes, a connection that is silent is listened to after the last answer.
const QUIET: Duration = Duration::from_millis(500);
const MOST_LINGERED: usize = 4 << 20;

/// Whether a connection has become a WebSocket, which has limits of its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Upgraded(Arc<AtomicBool>);

impl Upgraded {
    pub fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn get(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// A connection whose other side has so much time and no more to take what is written: one that takes a byte now and then
/// would hold its place for ever otherwise.
#[derive(Debug)]
pub(super) struct Paced<S> {
    stream: S,
    pace: Pace,
    upgraded: Upgraded,
    timer: Pin<Box<Sleep>>,
    /// Since when the other side has taken nothing.
    waiting_since: Option<Instant>,
    /// How long was waited for it in all, and how much it has taken.
    waited: Duration,
    written: u64,
    /// Until when the connection lingers, and for how many bytes.
    lingers: Option<(Instant, usize)>,
}

impl<S> Paced<S> {
    pub fn new(stream: S, pace: Pace, upgraded: Upgraded) -> Self {
        let timer = Box::pin(sleep_until(Instant::now()));
        let (waiting_since, waited, written, lingers) = (None, Duration::ZERO, 0, None);
        Self { stream, pace, upgraded, timer, waiting_since, waited, written, lingers }
    }

    /// Keeps the time of a write.
    fn timed(&mut self, write: Poll<io::Result<usize>>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        match write {
            Poll::Ready(done) => {
                if let Some(since) = self.waiting_since.take() {
                    self.waited += since.elapsed();
                }
                self.written += done.as_ref().map_or(0, |bytes| *bytes as u64);
                Poll::Ready(done)
            }
            Poll::Pending if self.upgraded.get() => Poll::Pending,
            Poll::Pending => {
                let since = match self.waiting_since {
                    Some(since) => since,
                    None => {
                        let now = Instant::now();
                        let left = self.pace.for_bytes(self.written).saturating_sub(self.waited);
                        self.timer.as_mut().reset(now + left.min(self.pace.pause));
                        now
                    }
                };
                self.waiting_since = Some(since);
                ready!(self.timer.as_mut().poll(cx));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let write = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.timed(write, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let write = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.timed(write, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    /// Says that nothing more comes, and reads for a moment what the other side still sends.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let mut lingers = match this.lingers {
            Some(lingers) => lingers,
            None => {
                ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
                let now = Instant::now();
                this.timer.as_mut().reset(now + QUIET);
                (now + this.pace.linger, MOST_LINGERED)
            }
        };
        let mut chunk = [0; 8 << 10];
        loop {
            this.lingers = Some(lingers);
            let mut buffer = ReadBuf::new(&mut chunk);
            match Pin::new(&mut this.stream).poll_read(cx, &mut buffer) {
                Poll::Pending => {
                    ready!(this.timer.as_mut().poll(cx));
                    return Poll::Ready(Ok(()));
                }
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() && lingers.1 > 0 => {
                    lingers.1 = lingers.1.saturating_sub(buffer.filled().len());
                    this.timer.as_mut().reset(lingers.0.min(Instant::now() + QUIET));
                }
                // It has ended too, or sends too much.
                Poll::Ready(_) => return Poll::Ready(Ok(())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    const SHORT: Pace = Pace {
        head: Duration::from_millis(300),
        pause: Duration::from_secs(5),
        whole: Duration::from_millis(300),
        slowest_bytes_per_s: 64e3,
        linger: Duration::from_millis(300),
    };

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(test);
    }

    /// Both ends of a connection that holds no more than a kilobyte.
    fn pair(upgraded: &Upgraded) -> (Paced<DuplexStream>, DuplexStream) {
        let (near, far) = duplex(1024);
        (Paced::new(near, SHORT, upgraded.clone()), far)
    }

    /// Takes a byte now and then.
    async fn trickle(mut far: DuplexStream) {
        while far.read_u8().await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    #[test]
    fn an_answer_that_is_taken_a_byte_at_a_time_is_given_up() {
        run(async {
            let (mut near, far) = pair(&Upgraded::default());
            let taken = tokio::spawn(trickle(far));
            let began = Instant::now();
            let written = near.write_all(&vec![0; 1 << 20]).await;
            assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
            assert!(began.elapsed() >= SHORT.whole && began.elapsed() < Duration::from_secs(4));
            taken.abort();
        });
    }

    #[test]
    fn an_answer_in_pieces_has_no_more_time_than_a_whole_one() {
        run(async {
            let (mut near, far) = pair(&Upgraded::default());
            let taken = tokio::spawn(trickle(far));
            let began = Instant::now();
            let mut ended = Ok(());
            while ended.is_ok() {
                ended = near.write_all(&[0; 64]).await;
                near.flush().await.unwrap();
            }
            assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
            taken.abort();
        });
    }

    #[test]
    fn an_answer_that_is_not_taken_at_all_is_given_up_after_a_pause() {
        run(async {
            let pace = Pace { pause: Duration::from_millis(100), whole: Duration::from_secs(60), ..SHORT };
            let (near, _far) = duplex(1024);
            let mut near = Paced::new(near, pace, Upgraded::default());
            let began = Instant::now();
            assert!(near.write_all(&[0; 4096]).await.is_err());
            assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
        });
    }

    #[test]
    fn what_is_taken_in_time_arrives_whole_and_a_socket_has_its_own_limits() {
        run(async {
            let (mut near, mut far) = pair(&Upgraded::default());
            let taken = tokio::spawn(async move {
                let mut bytes = Vec::new();
                far.read_to_end(&mut bytes).await.unwrap();
                bytes.len()
            });
            near.write_all(&vec![7; 1 << 20]).await.unwrap();
            near.shutdown().await.unwrap();
            assert_eq!(taken.await.unwrap(), 1 << 20);

            let upgraded = Upgraded::default();
            upgraded.set();
            let (mut near, mut far) = pair(&upgraded);
            let taken = tokio::spawn(async move {
                tokio::time::sleep(2 * SHORT.whole).await;
                far.read_exact(&mut [0; 4096]).await.unwrap();
            });
            near.write_all(&[0; 4096]).await.unwrap();
            taken.await.unwrap();
        });
    }

    #[test]
    fn what_is_still_sent_after_the_answer_is_read_for_a_moment() {
        run(async {
            let (mut near, mut far) = pair(&Upgraded::default());
            let sent = tokio::spawn(async move {
                // More than the connection holds: this ends when the other side reads.
                let sent = far.write_all(&[0; 8 << 10]).await;
                let mut answer = Vec::new();
                far.read_to_end(&mut answer).await.unwrap();
                (sent.is_ok(), answer)
            });
            near.write_all(b"refused").await.unwrap();
            near.shutdown().await.unwrap();
            assert_eq!(sent.await.unwrap(), (true, b"refused".to_vec()));
        });
    }

    #[test]
    fn a_side_that_never_stops_sending_is_hung_up_on() {
        run(async {
            let (mut near, mut far) = pair(&Upgraded::default());
            let sent = tokio::spawn(async move {
                while far.write_all(&[0; 64]).await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            });
            let began = Instant::now();
            near.shutdown().await.unwrap();
            assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
            drop(near);
            sent.await.unwrap();
        });
    }
}
