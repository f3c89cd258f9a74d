//! Progress on a terminal; quiet elsewhere.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar over `length` things, named by `message`. Draws nothing when standard error is not a terminal.
pub fn bar(length: u64, message: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:12} {wide_bar} {pos}/{len} {eta_precise}")
        .expect("the template is valid");
    ProgressBar::new(length).with_style(style).with_message(message)
}
