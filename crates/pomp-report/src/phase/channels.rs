//! What each channel does in each gait.

use super::phases::{ClipPhases, line, runs, unwrapped};
use pomp_motion::Gait;
use pomp_motion::statistics::median;
use serde::Serialize;

/// Shorter runs say little about a rate, frames.
const SHORTEST_RUN: usize = 60;

/// One channel in one gait; means over frames, and over runs of at least a second where it says so.
#[derive(Clone, Debug, Serialize)]
pub struct ChannelFigures {
    /// The gait.
    pub gait: &'static str,
    /// Number of the channel, from 0.
    pub channel: usize,
    /// Mean amplitude.
    pub amplitude: f32,
    /// Its standard deviation.
    pub amplitude_deviation: f32,
    /// Mean frequency as the spectrum gives it, Hz.
    pub frequency_hz: f32,
    /// Its standard deviation, Hz.
    pub frequency_deviation_hz: f32,
    /// Turns per second that the shift advances, median over runs; none without a long run.
    pub advance_hz: Option<f32>,
    /// R² of a line through the shift, median over runs.
    pub linearity: Option<f32>,
}

/// The figures of every gait that has frames.
pub fn figures(clips: &[ClipPhases<'_>], channels: usize) -> Vec<ChannelFigures> {
    let mut all = Vec::new();
    for gait in Gait::ALL {
        let runs = runs(clips, gait);
        if runs.is_empty() {
            continue;
        }
        for channel in 0..channels {
            let of = |value: &dyn Fn(&pomp_phase::ChannelPhase) -> f32| {
                let values: Vec<f32> =
                    runs.iter().flat_map(|run| &run.states).map(|s| value(&s.channels[channel])).collect();
                let mean = values.iter().sum::<f32>() / values.len() as f32;
                let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / values.len() as f32;
                (mean, variance.sqrt())
            };
            let (amplitude, amplitude_deviation) = of(&|phase| phase.amplitude);
            let (frequency_hz, frequency_deviation_hz) = of(&|phase| phase.frequency_hz);
            let lines: Vec<(f32, f32)> = runs
                .iter()
                .filter(|run| run.states.len() >= SHORTEST_RUN)
                .map(|run| line(&unwrapped(run, channel)))
                .collect();
            let middle = |value: fn(&(f32, f32)) -> f32| {
                median(&lines.iter().map(value).collect::<Vec<_>>()).map(|found| found as f32)
            };
            all.push(ChannelFigures {
                gait: gait.name(),
                channel,
                amplitude,
                amplitude_deviation,
                frequency_hz,
                frequency_deviation_hz,
                advance_hz: middle(|line| line.0),
                linearity: middle(|line| line.1),
            });
        }
    }
    all
}
