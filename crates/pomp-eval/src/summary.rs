use crate::statistics::half_interval_95;
use crate::{EvalError, MetricInfo, Metrics};
use pomp_motion::statistics::mean;
use serde::Serialize;

/// Mean of a metric over recordings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Mean over the recordings to which the metric applies.
    pub mean: f64,
    /// Half the width of the 95 % interval of the mean by Student's t; `None` for a single recording.
    pub half_interval_95: Option<f64>,
    /// Number of recordings to which the metric applies.
    pub count: usize,
}

/// One line of a [`Summary`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SummaryRow {
    /// The metric.
    #[serde(flatten)]
    pub info: MetricInfo,
    /// Its mean; `None` when it applies to no recording.
    pub estimate: Option<Estimate>,
}

/// Metrics of several recordings: mean and 95 % interval of each.
///
/// Recordings count equally, whatever their length; the interval assumes them independent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Number of recordings.
    pub recordings: usize,
    /// One row per metric, in the order of [`Metrics::INFO`].
    pub rows: Vec<SummaryRow>,
}

impl Summary {
    /// Summarises metrics, one set per recording.
    ///
    /// # Errors
    /// [`EvalError::NothingToSummarise`] for an empty slice.
    pub fn of(metrics: &[Metrics]) -> Result<Self, EvalError> {
        if metrics.is_empty() {
            return Err(EvalError::NothingToSummarise);
        }
        let values: Vec<Vec<Option<f64>>> = metrics.iter().map(Metrics::values).collect();
        let rows = Metrics::INFO
            .iter()
            .enumerate()
            .map(|(row, &info)| {
                let present: Vec<f64> = values.iter().filter_map(|v| v[row]).collect();
                let estimate = mean(&present).map(|mean| Estimate {
                    mean,
                    half_interval_95: half_interval_95(&present),
                    count: present.len(),
                });
                SummaryRow { info, estimate }
            })
            .collect();
        Ok(Self { recordings: metrics.len(), rows })
    }

    /// The estimate of the metric of this field name; `None` when it applies to no recording or does not exist.
    pub fn estimate(&self, name: &str) -> Option<Estimate> {
        self.rows.iter().find(|row| row.info.name == name).and_then(|row| row.estimate)
    }
}

impl From<&Metrics> for Summary {
    fn from(metrics: &Metrics) -> Self {
        let rows = Metrics::INFO
            .iter()
            .zip(metrics.values())
            .map(|(&info, value)| SummaryRow {
                info,
                estimate: value.map(|mean| Estimate { mean, half_interval_95: None, count: 1 }),
            })
            .collect();
        Self { recordings: 1, rows }
    }
}
