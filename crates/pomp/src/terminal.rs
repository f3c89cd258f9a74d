//! What a person sees on a terminal: progress, and errors.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Instant;

/// A bar over `length` things, named by `message`. Draws nothing when standard error is not a terminal.
pub fn bar(length: u64, message: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:12} {wide_bar} {pos}/{len} {eta_precise}")
        .expect("the template is valid");
    ProgressBar::new(length).with_style(style).with_message(message)
}

/// Counts a frame on `bar` at each call, and tells the microseconds since the call before.
pub fn frame_clock(bar: &ProgressBar) -> impl FnMut() -> f32 {
    let mut clock = Instant::now();
    move || {
        let elapsed = clock.elapsed().as_secs_f32() * 1e6;
        clock = Instant::now();
        bar.inc(1);
        elapsed
    }
}

/// An error and its causes, outermost first. Errors of the libraries tell their cause themselves; it is not told twice.
pub fn told(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |told, cause| {
        if told.is_empty() {
            cause
        } else if told.contains(&cause) {
            told
        } else {
            format!("{told}: {cause}")
        }
    })
}
