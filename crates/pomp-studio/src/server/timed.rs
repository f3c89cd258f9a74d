use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A connection that is given so much time and no more: a visitor who sends or takes a byte now and then would hold its place
/// for ever otherwise.
#[derive(Debug)]
pub(super) struct Timed<'a> {
    stream: &'a TcpStream,
    until: Instant,
    /// How long one read or write may wait.
    pause: Duration,
}

impl<'a> Timed<'a> {
    /// `whole` for everything, `pause` for each wait.
    pub fn new(stream: &'a TcpStream, whole: Duration, pause: Duration) -> Self {
        Self { stream, until: Instant::now() + whole, pause }
    }

    /// Time for one more wait.
    fn wait(&self) -> io::Result<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left.min(self.pause))) }
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.wait()?)?;
        self.stream.read(bytes)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.wait()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::http::Request;
    use std::net::TcpListener;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    const PAUSE: Duration = Duration::from_secs(5);
    const WHOLE: Duration = Duration::from_millis(300);

    /// A connection whose other end does `what` again and again until the test ends.
    fn visited(mut what: impl FnMut(&mut TcpStream) + Send + 'static) -> (TcpStream, Arc<AtomicBool>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut visitor = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let gone = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&gone);
        std::thread::spawn(move || {
            while !ends.load(Ordering::SeqCst) {
                what(&mut visitor);
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        (listener.accept().unwrap().0, gone)
    }

    #[test]
    fn a_head_that_comes_a_byte_at_a_time_is_not_waited_for() {
        let (stream, gone) = visited(|visitor| {
            let _sent = visitor.write_all(b"x");
        });
        let began = Instant::now();
        let read = Request::read(&mut Timed::new(&stream, WHOLE, PAUSE));
        gone.store(true, Ordering::SeqCst);
        assert!(read.is_err(), "each byte came in time, but not the whole");
        assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    }

    #[test]
    fn an_answer_that_is_taken_a_byte_at_a_time_is_given_up() {
        let (stream, gone) = visited(|visitor| {
            let _taken = visitor.read(&mut [0; 1]);
        });
        let began = Instant::now();
        let written = Timed::new(&stream, WHOLE, PAUSE).write_all(&vec![0; 64 << 20]);
        gone.store(true, Ordering::SeqCst);
        assert!(written.is_err());
        assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    }

    #[test]
    fn what_comes_in_time_comes_whole() {
        let (stream, gone) = visited(|visitor| {
            let _sent = visitor.write_all(b"ab");
        });
        let mut bytes = [0; 8];
        Timed::new(&stream, Duration::from_secs(30), PAUSE).read_exact(&mut bytes).unwrap();
        gone.store(true, Ordering::SeqCst);
        assert_eq!(&bytes, b"abababab");
    }
}
