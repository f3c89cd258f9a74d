use crate::summary::Estimate;
use crate::{Better, MetricInfo, Metrics, Summary};
use serde::Serialize;
use std::fmt;

/// Several summaries side by side, such as generated motion against mocap.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    columns: Vec<Column>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Column {
    title: String,
    summary: Summary,
}

impl Comparison {
    /// A comparison without columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a column; single [`Metrics`] come in by `Summary::from(&metrics)`.
    #[must_use]
    pub fn with(mut self, title: impl Into<String>, summary: Summary) -> Self {
        self.columns.push(Column { title: title.into(), summary });
        self
    }
}

impl fmt::Display for Comparison {
    /// One row per metric that applies to any column: name, unit, direction (↓ less is better, ↑ more is better, ~ as
    /// in the data), then mean ± half interval per column.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows = vec![["metric", "unit", ""].map(str::to_owned).to_vec()];
        rows[0].extend(self.columns.iter().map(|c| format!("{} (n = {})", c.title, c.summary.recordings)));
        for (index, info) in Metrics::INFO.iter().enumerate() {
            let cells: Vec<Option<Estimate>> =
                self.columns.iter().map(|c| c.summary.rows[index].estimate).collect();
            if cells.iter().any(Option::is_some) {
                let mut row = heading(info);
                row.extend(cells.iter().map(|cell| cell.as_ref().map_or("–".to_owned(), estimate_text)));
                rows.push(row);
            }
        }
        write_rows(f, &rows)
    }
}

impl fmt::Display for Summary {
    /// One row per metric: name, unit, direction, mean ± half interval.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows: Vec<Vec<String>> = self
            .rows
            .iter()
            .map(|row| {
                let mut cells = heading(&row.info);
                cells.push(row.estimate.as_ref().map_or("–".to_owned(), estimate_text));
                cells
            })
            .collect();
        write_rows(f, &rows)
    }
}

impl fmt::Display for Metrics {
    /// One row per metric: name, unit, direction, value; "–" where it does not apply.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Summary::from(self).fmt(f)
    }
}

fn heading(info: &MetricInfo) -> Vec<String> {
    let direction = match info.better {
        Better::Lower => "↓",
        Better::Higher => "↑",
        Better::AsData => "~",
    };
    vec![info.name.to_owned(), info.unit.to_owned(), direction.to_owned()]
}

fn estimate_text(estimate: &Estimate) -> String {
    match estimate.half_interval_95 {
        Some(half) => format!("{} ± {}", number(estimate.mean), number(half)),
        None => number(estimate.mean),
    }
}

/// Four significant digits, without an exponent.
fn number(value: f64) -> String {
    let size = value.abs();
    let decimals = if size >= 1000.0 {
        0
    } else if size >= 100.0 {
        1
    } else if size >= 10.0 {
        2
    } else {
        3
    };
    format!("{value:.decimals$}")
}

/// Columns aligned; text to the left, numbers to the right.
fn write_rows(f: &mut fmt::Formatter<'_>, rows: &[Vec<String>]) -> fmt::Result {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            let width = widths[column];
            if column < 3 {
                write!(f, "{cell:<width$}  ")?;
            } else {
                write!(f, "{cell:>width$}  ")?;
            }
        }
        writeln!(f)?;
    }
    Ok(())
}
