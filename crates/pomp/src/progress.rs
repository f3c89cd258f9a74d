//! Progress of a command: a bar where standard error is a terminal, else a line now and then.

use indicatif::ProgressStyle;
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tracing::{Span, info, info_span};
use tracing_indicatif::span_ext::IndicatifSpanExt;

/// Time before the first line, and the longest between two lines.
const FIRST_LINE: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// How far a command is. Dropping it takes the bar away.
pub struct Progress {
    span: Span,
    counted: Arc<Counted>,
    /// Says lines until its end of the channel is gone.
    lines: Option<(Sender<()>, JoinHandle<()>)>,
}

/// What is counted.
struct Counted {
    what: &'static str,
    things: &'static str,
    length: AtomicU64,
    done: AtomicU64,
}

impl Progress {
    /// Progress of `what` over `length` things; 0 while their number is not known.
    pub fn new(what: &'static str, things: &'static str, length: usize) -> Self {
        let span = info_span!("progress", indicatif.pb_show = tracing::field::Empty);
        span.pb_set_message(what);
        span.pb_start();
        let counted = Arc::new(Counted { what, things, length: AtomicU64::new(0), done: AtomicU64::new(0) });
        let lines = (!span.is_disabled() && !std::io::stderr().is_terminal()).then(|| {
            let (end, ended) = channel();
            let counted = Arc::clone(&counted);
            let thread = std::thread::spawn(move || {
                let (started, mut next) = (Instant::now(), FIRST_LINE);
                while ended.recv_timeout(next.saturating_sub(started.elapsed()))
                    == Err(RecvTimeoutError::Timeout)
                {
                    info!("{}", counted.line(next));
                    next = after(next);
                }
            });
            (end, thread)
        });
        let progress = Self { span, counted, lines };
        progress.set_length(length);
        progress
    }

    /// Counts one more.
    pub fn step(&self) {
        self.counted.done.fetch_add(1, Ordering::Relaxed);
        self.span.pb_inc(1);
    }

    /// The number of things to do.
    pub fn set_length(&self, length: usize) {
        self.counted.length.store(length as u64, Ordering::Relaxed);
        self.span.pb_set_style(&style(length));
        if length > 0 {
            self.span.pb_set_length(length as u64);
        }
    }

    /// The number of things done.
    pub fn set_position(&self, done: usize) {
        self.counted.done.store(done as u64, Ordering::Relaxed);
        self.span.pb_set_position(done as u64);
    }

    /// Counts a frame at each call, and gives the microseconds since the call before.
    pub fn frame_clock(&self) -> impl FnMut() -> f32 {
        let mut clock = Instant::now();
        move || {
            let elapsed = clock.elapsed().as_secs_f32() * 1e6;
            clock = Instant::now();
            self.step();
            elapsed
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.lines.take() {
            drop(end);
            // A line that could not be written is no reason to fail: the work itself is done.
            let _said = thread.join();
        }
    }
}

/// Prints results of a command that still works, without a bar through them.
pub fn between<T>(print: impl FnOnce() -> T) -> T {
    tracing_indicatif::suspend_tracing_indicatif(print)
}

fn style(length: usize) -> ProgressStyle {
    let template = if length == 0 {
        "{msg:12} {spinner} {elapsed_precise}"
    } else {
        "{msg:12} {wide_bar} {pos}/{len} {eta_precise}"
    };
    ProgressStyle::with_template(template).expect("both templates are valid")
}

/// When the next line is due after one at `elapsed`: pauses double up to a minute.
fn after(elapsed: Duration) -> Duration {
    elapsed + elapsed.min(LONGEST_PAUSE)
}

impl Counted {
    /// One line of progress after `elapsed`.
    fn line(&self, elapsed: Duration) -> String {
        let (done, length) = (self.done.load(Ordering::Relaxed), self.length.load(Ordering::Relaxed));
        let seconds = elapsed.as_secs_f64();
        if length == 0 {
            return format!("{}: {} so far", self.what, duration(seconds));
        }
        let mut line = format!("{}: {done} of {length} {}", self.what, self.things);
        if done > 0 {
            let left = seconds * length.saturating_sub(done) as f64 / done as f64;
            let _infallible = write!(line, ", {} %, about {} left", 100 * done / length, duration(left));
        } else {
            let _infallible = write!(line, ", {} so far", duration(seconds));
        }
        line
    }
}

/// A time in the unit that a reader expects.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(done: u64, length: u64, seconds: u64) -> String {
        let counted =
            Counted { what: "preprocess", things: "clips", length: length.into(), done: done.into() };
        counted.line(Duration::from_secs(seconds))
    }

    #[test]
    fn a_line_says_what_is_done_and_what_is_left() {
        assert_eq!(line(12, 48, 30), "preprocess: 12 of 48 clips, 25 %, about 2 min left");
        assert_eq!(line(0, 48, 8), "preprocess: 0 of 48 clips, 8 s so far");
        assert_eq!(line(3, 0, 4), "preprocess: 4 s so far");
        assert_eq!(line(48, 48, 4), "preprocess: 48 of 48 clips, 100 %, about 0 s left");
    }

    #[test]
    fn lines_come_after_two_seconds_then_seldomer_and_at_least_once_a_minute() {
        let times: Vec<u64> = std::iter::successors(Some(FIRST_LINE), |&at| Some(after(at)))
            .take(8)
            .map(|at| at.as_secs())
            .collect();
        assert_eq!(times, [2, 4, 8, 16, 32, 64, 124, 184]);
    }

    #[test]
    fn times_have_the_unit_that_a_reader_expects() {
        assert_eq!([12.4, 600.0, 9000.0].map(duration), ["12 s", "10 min", "2.5 h"]);
    }
}
