//! Phase stabiliser: phase codes that have left the cycle of their gait are led back to it (ours).
//!
//! Acts at `after_simulation`, on the code that the phase encoding module has read and on the codes of the future keys, while
//! the command is a walk or a jog. In these gaits all channels of a phase code turn at the rate of the strides, with amplitudes
//! and leads that belong to the gait. The loop reads its codes off a body that has stumbled, slipped or met a slope, and a code
//! that no longer says where in a stride the body is leaves the kinematic module without a next step: its feet trail behind a
//! root that goes on, the phases read off these feet say even less, and a second or two later the body falls. A code on its
//! cycle is not changed.
//!
//! Switched off, the layer still measures how far codes are from the cycle, for [`super::gait_recovery`].
//!
//! Cost: below 0.1 % of a frame.
//!
//! Evidence: `pomp bench --config configs/bench/layers.toml`, with its figures in docs/layers.md. Stairs for 30 s: 29 of 30 hold with the
//! layer and 24 without, with 1 and 8 falls (docs/experiments/0086-what-three-layers-earn.md).

use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::Gait;
use pomp_motion::features::{BlockName, FeatureLayout, KEY_OFFSETS};
use pomp_motion::rotation::wrap_angle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::f32::consts::TAU;
use std::sync::Arc;

/// Agreement of a code with its cycle from which on it is left alone, and at which all of `share` acts: the cosine
/// between the code and the nearest point of the cycle. Of walks and jogs that did not fall, 95 % of the frames are above
/// the first; of those that fell, most are below the second a second before.
const ON_CYCLE: f32 = 0.92;
const OFF_CYCLE: f32 = 0.75;
/// Agreement from which on a code says anything about where on the cycle it is, and at which it is believed.
const READ_FROM: f32 = 0.5;
const READ_FULLY: f32 = 0.9;
/// Share of the way that the angle follows a code that is believed, each frame, and share of that by which its rate does.
const FOLLOW_ANGLE: f32 = 0.15;
const FOLLOW_RATE: f32 = 0.0056;
/// Time in which the rate returns to the gait's own when codes say nothing, seconds.
const RATE_RETURNS_S: f32 = 2.0;
/// Farthest that the rate is from the gait's own, as a share of it.
const RATE_RANGE: f32 = 0.4;
/// Time on its cycle after which a gait has been found, seconds. Until then codes are left alone: a character that gets up or
/// begins to walk has no stride yet that it could be led back to.
const FOUND_S: f32 = 1.0;
/// Least length of a code that is led back, as a share of the cycle's.
const LEAST_LENGTH: f32 = 0.8;
/// Codes shorter than this, and gaits that turn slower, turns a second, are no cycle.
const SILENT: f32 = 0.1;
const SLOWEST_HZ: f32 = 0.3;
/// Steps in which a cycle is fitted: far more than it takes.
const FITTING_STEPS: usize = 20;

const FRAME_S: f32 = 1.0 / pomp_motion::FRAME_RATE_HZ;

/// Settings of the phase stabiliser.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PhaseStabiliserConfig {
    /// If off, codes are used as read; a character that stumbles while walking or jogging then sometimes loses its gait and
    /// falls. Default true.
    pub enabled: bool,
    /// Share of the distance by which codes that have left the cycle of their gait are led back to it in each frame, 0 … 1. 1
    /// keeps the stride whatever the body does. Default 0.3.
    pub share: f32,
}

impl Default for PhaseStabiliserConfig {
    fn default() -> Self {
        Self { enabled: true, share: 0.3 }
    }
}

impl Validate for PhaseStabiliserConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("share", self.share, 0.0..=1.0)
    }
}

/// The layer.
#[derive(Clone, Debug)]
pub(crate) struct PhaseStabiliser {
    share: f32,
    /// Those of the model, and those of the style that the character walks in.
    own_cycles: Arc<GaitCycles>,
    cycles: Arc<GaitCycles>,
    /// Where on the cycle the character is.
    pub tracker: CycleTracker,
}

impl PhaseStabiliser {
    pub fn new(config: PhaseStabiliserConfig, cycles: GaitCycles) -> Self {
        let share = if config.enabled { config.share } else { 0.0 };
        let cycles = Arc::new(cycles);
        Self { share, own_cycles: Arc::clone(&cycles), cycles, tracker: CycleTracker::default() }
    }

    /// Leads codes back to the cycle of a style from now on: the mean of the model's own walk and of the styles in
    /// `walk_codes`, each with its weight and the codes of the keys of a window.
    pub fn set_style(&mut self, walk_codes: &[(f32, Vec<f32>)]) {
        self.cycles = match walk_codes {
            [] => Arc::clone(&self.own_cycles),
            styles => Arc::new(self.own_cycles.styled(styles)),
        };
    }

    /// `after_simulation`: leads the present's `code` (2C) and those of the `future` keys back to the cycle of the `wanted`
    /// gait; a character that `is_down` has none.
    pub fn after_simulation(&mut self, wanted: Gait, is_down: bool, code: &mut [f32], future: &mut [f32]) {
        if is_down {
            self.tracker = CycleTracker::default();
        } else {
            self.tracker.keep(&self.cycles, wanted, self.share, code, future, FRAME_S);
        }
    }
}

/// The cycle that the codes of a gait run through: the code at angle 0, all of whose channels turn alike.
#[derive(Clone, Debug)]
pub(crate) struct GaitCycle {
    code: Vec<f32>,
    length: f32,
    frequency_hz: f32,
}

/// The cycles of the gaits that go round.
#[derive(Clone, Debug)]
pub(crate) struct GaitCycles {
    walk: Option<GaitCycle>,
    jog: Option<GaitCycle>,
    /// Time between two keys of a window, seconds.
    spacing_s: f32,
}

/// Where on the cycle of its gait a character is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CycleTracker {
    gait: Option<Gait>,
    /// Radians.
    angle: f32,
    frequency_hz: f32,
    started: bool,
    /// How long its codes have been on the cycle, seconds.
    on_cycle_s: f32,
    /// Agreement of the last code with the cycle, led back as it was; 0 before there is one.
    agreement: f32,
}

/// Σ z conj(w) over the channels of two codes, real and imaginary part.
fn product(z: &[f32], w: &[f32]) -> (f32, f32) {
    let channels = z.as_chunks::<2>().0.iter().zip(w.as_chunks::<2>().0);
    channels
        .fold((0.0, 0.0), |(re, im), (a, b)| (re + a[0] * b[0] + a[1] * b[1], im + a[1] * b[0] - a[0] * b[1]))
}

fn length(code: &[f32]) -> f32 {
    code.iter().map(|v| v * v).sum::<f32>().sqrt()
}

/// Cosine between `z` and the nearest code that is `w` with all channels turned alike.
fn cosine(z: &[f32], w: &[f32]) -> f32 {
    let (re, im) = product(z, w);
    re.hypot(im) / (length(z) * length(w)).max(f32::EPSILON)
}

/// Every channel of `code` turned by `angle` and scaled.
fn turned(code: &[f32], angle: f32, scale: f32) -> impl Iterator<Item = f32> + '_ {
    let (sin, cos) = angle.sin_cos();
    code.as_chunks::<2>()
        .0
        .iter()
        .flat_map(move |a| [scale * (cos * a[0] - sin * a[1]), scale * (sin * a[0] + cos * a[1])])
}

impl GaitCycle {
    /// The cycle nearest to `codes` (2C each), `spacing_s` apart; none if they are silent or do not go round.
    pub fn of_codes(codes: &[&[f32]], spacing_s: f32) -> Option<Self> {
        let mut code = codes.get(codes.len() / 2)?.to_vec();
        // The mean of the codes, each turned to where the last mean is.
        for _ in 0..FITTING_STEPS {
            let mut mean = vec![0.0; code.len()];
            for z in codes {
                let (re, im) = product(z, &code);
                let back = turned(z, -im.atan2(re), 1.0 / codes.len() as f32);
                mean.iter_mut().zip(back).for_each(|(sum, value)| *sum += value);
            }
            code = mean;
        }
        let angles: Vec<f32> = codes
            .iter()
            .map(|z| {
                let (re, im) = product(z, &code);
                im.atan2(re)
            })
            .collect();
        let way: f32 = angles.windows(2).map(|pair| wrap_angle(pair[1] - pair[0])).sum();
        let frequency_hz = way / (TAU * spacing_s * (codes.len() - 1) as f32);
        let length = length(&code);
        (length > SILENT && frequency_hz > SLOWEST_HZ).then_some(Self { code, length, frequency_hz })
    }
}

impl GaitCycles {
    /// The cycles in the windows that a model starts with.
    pub fn of_starts(layout: &FeatureLayout, starts: &BTreeMap<String, Vec<f32>>, frame_s: f32) -> Self {
        let spacing_s = (KEY_OFFSETS[1] - KEY_OFFSETS[0]) as f32 * frame_s;
        let of = |gait: Gait| {
            let codes = &starts.get(gait.name())?[layout.x_range(BlockName::PhaseCodes)];
            let codes: Vec<&[f32]> = codes.chunks_exact(2 * layout.channels()).collect();
            GaitCycle::of_codes(&codes, spacing_s)
        };
        Self { walk: of(Gait::Walk), jog: of(Gait::Jog), spacing_s }
    }

    /// The same with the walk of weighted styles; the rest of the weight is the walk's own. A style whose codes do not go round
    /// has no share.
    fn styled(&self, styles: &[(f32, Vec<f32>)]) -> Self {
        let Some(own) = &self.walk else { return self.clone() };
        let mut mixed = GaitCycle { length: 0.0, ..own.clone() };
        for (weight, codes) in styles {
            let codes: Vec<&[f32]> = codes.chunks_exact(own.code.len()).collect();
            let Some(style) = GaitCycle::of_codes(&codes, self.spacing_s) else { continue };
            // Angle 0 of a style is where its code is nearest to that of the walk.
            let (re, im) = product(&style.code, &own.code);
            let facing = turned(&style.code, -im.atan2(re), 1.0);
            for ((mixed, facing), own) in mixed.code.iter_mut().zip(facing).zip(&own.code) {
                *mixed += weight * (facing - own);
            }
            mixed.frequency_hz += weight * (style.frequency_hz - own.frequency_hz);
        }
        mixed.length = length(&mixed.code);
        let walk = (mixed.length > SILENT && mixed.frequency_hz > SLOWEST_HZ).then_some(mixed);
        Self { walk, jog: self.jog.clone(), spacing_s: self.spacing_s }
    }

    fn of(&self, gait: Gait) -> Option<&GaitCycle> {
        match gait {
            Gait::Walk => self.walk.as_ref(),
            Gait::Jog => self.jog.as_ref(),
            _ => None,
        }
    }
}

impl CycleTracker {
    /// Whether the gait has been on its cycle for long enough to be known.
    pub fn is_found(&self) -> bool {
        self.on_cycle_s >= FOUND_S
    }

    /// Whether the last code is on the cycle.
    pub fn is_on_cycle(&self) -> bool {
        self.agreement > ON_CYCLE
    }

    /// Agreement of the last code with the cycle, led back as it was: the cosine between them.
    pub fn agreement(&self) -> f32 {
        self.agreement
    }

    /// Moves on by `dt_s` along the cycle of `gait`. The present's `code` (2C) and those of `future`, the first of which
    /// is the present's again and the others are keys of the window, are led back by up to a `share` of their way each, as
    /// far as the present has left the cycle.
    pub fn keep(
        &mut self,
        cycles: &GaitCycles,
        gait: Gait,
        share: f32,
        code: &mut [f32],
        future: &mut [f32],
        dt_s: f32,
    ) {
        if self.gait != Some(gait) {
            *self = Self { gait: Some(gait), ..Self::default() };
        }
        let Some(cycle) = cycles.of(gait) else { return };
        let (re, im) = product(code, &cycle.code);
        let size = length(code) / cycle.length;
        let agreement = cosine(code, &cycle.code);
        self.follow(cycle, im.atan2(re), agreement, dt_s);
        if agreement > ON_CYCLE {
            self.on_cycle_s += dt_s;
        }
        self.agreement = agreement;
        let off = ((ON_CYCLE - agreement) / (ON_CYCLE - OFF_CYCLE)).clamp(0.0, 1.0);
        if !self.is_found() || off == 0.0 {
            return;
        }
        let scale = size.max(LEAST_LENGTH);
        let lead = |code: &mut [f32], angle: f32| {
            for (value, kept) in code.iter_mut().zip(turned(&cycle.code, angle, scale)) {
                *value += (kept - *value) * share * off;
            }
        };
        lead(code, self.angle);
        self.agreement = cosine(code, &cycle.code);
        for (key, code) in future.chunks_exact_mut(cycle.code.len()).enumerate().skip(1) {
            lead(code, self.angle + TAU * self.frequency_hz * cycles.spacing_s * key as f32);
        }
    }

    /// Lets angle and rate follow what the code says, as far as it agrees with the cycle; otherwise they go on.
    fn follow(&mut self, cycle: &GaitCycle, read: f32, agreement: f32, dt_s: f32) {
        if !self.started {
            (self.angle, self.frequency_hz) = (read, cycle.frequency_hz);
        } else {
            let believed = ((agreement - READ_FROM) / (READ_FULLY - READ_FROM)).clamp(0.0, 1.0);
            let going = self.angle + TAU * self.frequency_hz * dt_s;
            let ahead = believed * wrap_angle(read - going);
            self.angle = wrap_angle(going + FOLLOW_ANGLE * ahead);
            let own = cycle.frequency_hz;
            self.frequency_hz += FOLLOW_RATE * ahead / (TAU * dt_s);
            self.frequency_hz = self.frequency_hz.clamp((1.0 - RATE_RANGE) * own, (1.0 + RATE_RANGE) * own);
            self.frequency_hz +=
                (own - self.frequency_hz) * (1.0 - believed) * (dt_s / RATE_RETURNS_S).min(1.0);
        }
        self.started = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DT_S: f32 = 1.0 / 60.0;
    const LEADS: [f32; 3] = [0.0, 1.2, -2.0];
    const AMPLITUDES: [f32; 3] = [0.6, 0.4, 0.5];

    fn code(angle: f32) -> Vec<f32> {
        let channel = |(lead, amplitude): (&f32, &f32)| {
            let (sin, cos) = (angle + lead).sin_cos();
            [amplitude * cos, amplitude * sin]
        };
        LEADS.iter().zip(&AMPLITUDES).flat_map(channel).collect()
    }

    fn cycles() -> GaitCycles {
        GaitCycles { walk: Some(cycle()), jog: None, spacing_s: 1.0 / 6.0 }
    }

    fn cycle() -> GaitCycle {
        let codes: Vec<Vec<f32>> = (0..13).map(|key| code(TAU * 0.95 * key as f32 / 6.0)).collect();
        let codes: Vec<&[f32]> = codes.iter().map(Vec::as_slice).collect();
        GaitCycle::of_codes(&codes, 1.0 / 6.0).expect("it goes round")
    }

    /// Runs two seconds on the cycle, then `frames` with what `spoil` makes of the code; gives the last code and what lies ahead.
    fn run(share: f32, frames: usize, spoil: impl Fn(usize, Vec<f32>) -> Vec<f32>) -> (Vec<f32>, Vec<f32>) {
        let (cycles, mut tracker) = (cycles(), CycleTracker::default());
        let mut last = (Vec::new(), Vec::new());
        for frame in 0..120 + frames {
            let clean = code(TAU * 0.95 * DT_S * frame as f32);
            let mut now = if frame < 120 { clean } else { spoil(frame, clean) };
            let mut future = [now.clone(), now.clone()].concat();
            tracker.keep(&cycles, Gait::Walk, share, &mut now, &mut future, DT_S);
            last = (now, future);
        }
        last
    }

    #[test]
    fn the_cycle_of_codes_that_go_round_is_found_again() {
        let cycle = cycle();
        assert!((cycle.frequency_hz - 0.95).abs() < 1e-3, "{}", cycle.frequency_hz);
        for angle in [0.0, 1.0, 4.0] {
            let z = code(angle);
            let (re, im) = product(&z, &cycle.code);
            let agreement = re.hypot(im) / (length(&z) * cycle.length);
            assert!((agreement - 1.0).abs() < 1e-4, "{agreement}");
        }
    }

    #[test]
    fn codes_that_stand_still_or_are_silent_are_no_cycle() {
        let (still, silent) = (code(1.0), vec![0.0; 6]);
        assert!(GaitCycle::of_codes(&[still.as_slice(); 13], 1.0 / 6.0).is_none());
        assert!(GaitCycle::of_codes(&[silent.as_slice(); 13], 1.0 / 6.0).is_none());
    }

    #[test]
    fn a_code_on_its_cycle_is_not_touched_whatever_its_rate_and_length() {
        for rate in [0.7, 0.95, 1.2] {
            let angle = |frame: usize| TAU * rate * DT_S * frame as f32;
            let kept = run(1.0, 120, |frame, _| code(angle(frame)).iter().map(|v| 0.5 * v).collect()).0;
            let clean: Vec<f32> = code(angle(239)).iter().map(|v| 0.5 * v).collect();
            assert_eq!(kept, clean, "at {rate} Hz");
        }
    }

    #[test]
    fn a_code_whose_channels_have_lost_each_other_is_led_back_to_where_the_stride_would_be() {
        let lost = |_: usize, clean: Vec<f32>| -> Vec<f32> {
            let channels = clean.chunks_exact(2).enumerate();
            channels
                .flat_map(|(channel, z)| turned(z, 2.1 * channel as f32, 0.5).collect::<Vec<_>>())
                .collect()
        };
        let clean = code(TAU * 0.95 * DT_S * 149.0);
        let ahead = code(TAU * 0.95 * (DT_S * 149.0 + 1.0 / 6.0));
        let agreement = |z: &[f32], w: &[f32]| product(z, w).0 / (length(z) * length(w));
        let (left, _) = run(0.0, 30, lost);
        let (kept, future) = run(1.0, 30, lost);
        let before = agreement(&left, &clean);
        let (after, next) = (agreement(&kept, &clean), agreement(&future[6..], &ahead));
        println!("agreement with the stride: {before:.2} left alone, {after:.2} led back, {next:.2} ahead");
        assert!(before < 0.6 && after > 0.95 && next > 0.95);
    }

    #[test]
    fn a_gait_that_has_not_been_found_yet_is_left_to_find_itself() {
        let (cycles, mut tracker) = (cycles(), CycleTracker::default());
        let halves = |frame: usize| -> Vec<f32> {
            let turning = code(TAU * 0.95 * DT_S * frame as f32);
            turning.iter().enumerate().map(|(i, v)| if i < 2 { *v } else { -v }).collect()
        };
        for frame in 0..240 {
            let mut now = halves(frame);
            let mut future = [now.clone(), now.clone()].concat();
            tracker.keep(&cycles, Gait::Walk, 1.0, &mut now, &mut future, DT_S);
            assert_eq!(now, halves(frame), "frame {frame}");
        }
    }
}
