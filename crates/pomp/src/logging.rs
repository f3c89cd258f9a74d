//! Messages of the program and of the libraries below it, on standard error. Standard output holds results alone.

use crate::errors::Misuse;
use clap_verbosity_flag::{LogLevel, Verbosity, VerbosityFilter};
use std::fmt;
use std::io::IsTerminal;
use tracing::{Event, Level, Subscriber};
use tracing_indicatif::IndicatifLayer;
use tracing_indicatif::filter::IndicatifFilter;
use tracing_log::NormalizeEvent;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

/// Variable that sets levels by module, as every program that logs with `tracing` or `env_logger` reads it.
const VARIABLE: &str = "RUST_LOG";

/// `-v` and `-q`, counted from progress and warnings.
#[derive(Clone, Copy, Debug)]
pub struct Progress;

impl LogLevel for Progress {
    fn default_filter() -> VerbosityFilter {
        VerbosityFilter::Info
    }

    fn verbose_help() -> Option<&'static str> {
        Some("Print more: -v what each stage does and what the libraries report, -vv and -vvv details")
    }

    fn verbose_long_help() -> Option<&'static str> {
        Self::verbose_help()
    }

    fn quiet_help() -> Option<&'static str> {
        Some("Print less: -q only warnings and errors, -qq only errors, -qqq nothing")
    }

    fn quiet_long_help() -> Option<&'static str> {
        Self::quiet_help()
    }
}

/// Sends messages and progress to standard error, as much of them as `verbosity` or `RUST_LOG` asks for.
///
/// # Errors
/// `RUST_LOG` is not a list of levels.
pub fn start(verbosity: Verbosity<Progress>) -> anyhow::Result<()> {
    let directives = std::env::var(VARIABLE).unwrap_or_default();
    let filter: Targets = if directives.trim().is_empty() {
        levels(verbosity.filter()).parse().expect("these levels are tested to parse")
    } else {
        directives.parse::<Targets>().map_err(|error| {
            Misuse(format!(
                "{VARIABLE}=\"{directives}\": {error}; give levels such as {VARIABLE}=info,pomp=debug"
            ))
        })?
    };
    let bars = IndicatifLayer::new();
    let in_colour =
        std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let messages = tracing_subscriber::fmt::layer()
        .event_format(Message)
        .with_ansi(in_colour)
        .with_writer(bars.get_stderr_writer());
    let bars = bars.with_filter(IndicatifFilter::new(false));
    tracing_subscriber::registry().with(filter).with(messages).with(bars).try_init()?;
    Ok(())
}

/// Levels of this program's crates, and of all others: theirs is one step quieter.
fn levels(filter: VerbosityFilter) -> &'static str {
    match filter {
        VerbosityFilter::Off => "off",
        VerbosityFilter::Error => "error",
        VerbosityFilter::Warn => "error,pomp=warn",
        VerbosityFilter::Info => "warn,pomp=info",
        VerbosityFilter::Debug => "info,pomp=debug",
        VerbosityFilter::Trace => "debug,pomp=trace",
    }
}

/// `warning: …` and `error: …`; progress as it stands; details and messages of libraries with the module that they are from.
struct Message;

impl<S, N> FormatEvent<S, N> for Message
where
    S: Subscriber + for<'lookup> LookupSpan<'lookup>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let of_log = event.normalized_metadata();
        let metadata = of_log.as_ref().unwrap_or_else(|| event.metadata());
        let (word, colour) = match *metadata.level() {
            Level::ERROR => ("error", "\x1b[1;31m"),
            Level::WARN => ("warning", "\x1b[1;33m"),
            Level::INFO => ("", ""),
            Level::DEBUG => ("debug", "\x1b[2m"),
            Level::TRACE => ("trace", "\x1b[2m"),
        };
        if !word.is_empty() {
            if writer.has_ansi_escapes() {
                write!(writer, "{colour}{word}:\x1b[0m ")?;
            } else {
                write!(writer, "{word}: ")?;
            }
        }
        let own = metadata.target().split("::").next().is_some_and(|name| name.starts_with("pomp"));
        if !own || *metadata.level() > Level::INFO {
            write!(writer, "{}: ", metadata.target())?;
        }
        for span in context.event_scope().into_iter().flat_map(tracing_subscriber::registry::Scope::from_root)
        {
            let extensions = span.extensions();
            let fields = extensions.get::<FormattedFields<N>>().map_or("", |fields| fields.fields.as_str());
            if !fields.is_empty() {
                write!(writer, "{} {fields}: ", span.name())?;
            }
        }
        context.field_format().format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};
    use tracing_log::log;

    /// Keeps what is written.
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("no thread panicked").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn every_step_of_verbosity_says_more_than_the_one_before_and_other_crates_less_than_ours() {
        let of = |verbose, quiet| {
            let levels = levels(Verbosity::<Progress>::new(verbose, quiet).filter());
            assert!(levels.parse::<Targets>().is_ok(), "{levels}");
            levels
        };
        assert_eq!([of(0, 3), of(0, 2), of(0, 1)], ["off", "error", "error,pomp=warn"]);
        assert_eq!([of(0, 0), of(1, 0), of(2, 0)], ["warn,pomp=info", "info,pomp=debug", "debug,pomp=trace"]);
    }

    #[test]
    fn messages_of_libraries_arrive_through_either_facade_with_their_module() {
        let text = Arc::new(Mutex::new(Vec::new()));
        let filter: Targets = levels(Verbosity::<Progress>::new(0, 0).filter()).parse().expect("they parse");
        let layer = tracing_subscriber::fmt::layer().event_format(Message).with_ansi(false).with_writer({
            let text = Arc::clone(&text);
            move || Kept(Arc::clone(&text))
        });
        let said = |level, words: &str| {
            tracing_log::format_trace(
                &log::Record::builder()
                    .level(level)
                    .target("rapier3d::dynamics")
                    .args(format_args!("{words}"))
                    .build(),
            )
            .expect("a record is dispatched");
        };
        tracing::subscriber::with_default(tracing_subscriber::registry().with(filter).with(layer), || {
            let _clip = tracing::info_span!(target: "pomp_preprocess", "clip", name = "a").entered();
            said(log::Level::Warn, "it is slow");
            said(log::Level::Info, "it is fine");
            tracing::warn!(target: "pomp_preprocess::pipeline", "it is short");
            tracing::warn!(target: "axum", "no route");
            tracing::info!(target: "pomp", "note: three");
            tracing::debug!(target: "pomp", "not asked for");
        });
        let text = String::from_utf8(text.lock().expect("no thread panicked").clone()).expect("UTF-8");
        assert_eq!(
            text.lines().collect::<Vec<_>>(),
            [
                "warning: rapier3d::dynamics: clip name=\"a\": it is slow",
                "warning: clip name=\"a\": it is short",
                "warning: axum: clip name=\"a\": no route",
                "clip name=\"a\": note: three",
            ]
        );
    }
}
