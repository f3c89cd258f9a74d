use crate::RenderError;
use crate::color::Palette;
use crate::ground::Ground;
use crate::volume::{Material, Volume};
use glam::Vec3;
use pomp_motion::{FrameTable, JointIndex, PushRecord, SimulationTrack, Skeleton};

/// Gravity for body weights, m/s².
pub(crate) const GRAVITY: f32 = pomp_motion::GRAVITY_M_S2 as f32;
/// Length of a contact arrow, metres per body weight.
const METRES_PER_WEIGHT: f32 = 0.55;
/// Contacts below this share of the body weight are not drawn.
const LEAST_WEIGHTS: f32 = 0.05;
/// Length of a push arrow: this for the smallest push, and more by the impulse per body mass.
const PUSH_LENGTH_M: [f32; 2] = [0.35, 0.35];

/// An arrow in the world with the number it stands for.
pub(crate) struct Arrow {
    pub volumes: Vec<Volume>,
    pub label: String,
    /// Where the label goes.
    pub label_at: Vec3,
}

/// The joints between which each body of a simulation lies.
pub(crate) struct BodyPlaces(Vec<(JointIndex, Option<JointIndex>)>);

impl BodyPlaces {
    /// Finds each body by its name, upper and lower case and separators aside.
    pub(crate) fn new(skeleton: &Skeleton, body_names: &[String]) -> Result<Self, RenderError> {
        let plain = |name: &str| -> String {
            name.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
        };
        body_names
            .iter()
            .map(|body| {
                let joint = skeleton
                    .joints()
                    .iter()
                    .position(|joint| plain(&joint.name) == plain(body))
                    .or_else(|| (plain(body) == "pelvis").then_some(0))
                    .ok_or_else(|| RenderError::UnknownBody { body: body.clone() })?;
                let child = skeleton.joints().iter().position(|j| j.parent == Some(JointIndex(joint)));
                Ok((JointIndex(joint), child.map(JointIndex)))
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }

    fn middle(&self, body: usize, positions: &[Vec3]) -> Vec3 {
        let (joint, child) = self.0[body];
        child.map_or(positions[joint.0], |child| (positions[joint.0] + positions[child.0]) * 0.5)
    }

    fn joint(&self, body: usize) -> JointIndex {
        self.0[body].0
    }
}

/// Arrows of the mean contact force over `frames` (the last of which is shown).
pub(crate) fn contact_arrows(
    simulation: &SimulationTrack,
    places: &BodyPlaces,
    frames: std::ops::RangeInclusive<usize>,
    frame_rate_hz: f32,
    ground: &Ground,
    palette: &Palette,
) -> Vec<Arrow> {
    let weight_n = simulation.body_mass_kg.iter().sum::<f32>() * GRAVITY;
    let count = frames.clone().count() as f32;
    let positions = &simulation.positions[*frames.end()];
    (0..simulation.body_names.len())
        .filter_map(|body| {
            let impulse: Vec3 = frames.clone().map(|frame| simulation.contact_impulse[frame][body]).sum();
            let weights = impulse * (frame_rate_hz / count / weight_n);
            if weights.length() < LEAST_WEIGHTS {
                return None;
            }
            let middle = places.middle(body, positions);
            let floor = ground.under(middle);
            let start = if middle.y - floor.y < 0.15 { floor } else { middle };
            let tip = start + weights * METRES_PER_WEIGHT;
            let material = Material { albedo: palette.contact, gloss: 0.2, alpha: 0.92, visor: None };
            Some(Arrow {
                volumes: arrow(start, tip, 0.016, material),
                label: format!("{:.1} BW", weights.length()),
                label_at: tip + weights.normalize_or(Vec3::Y) * 0.07,
            })
        })
        .collect()
}

/// What the pushes of a recording look like at one moment.
pub(crate) struct PushView<'a> {
    pub positions: &'a FrameTable<Vec3>,
    pub frame: usize,
    pub frame_rate_hz: f32,
    pub visible_s: f32,
    pub mass_kg: f32,
}

impl PushView<'_> {
    /// Arrows of the pushes that began at most `visible_s` ago; they move with the body and fade.
    pub(crate) fn arrows(&self, pushes: &[PushRecord], places: &BodyPlaces, palette: &Palette) -> Vec<Arrow> {
        let now_s = self.frame as f32 / self.frame_rate_hz;
        pushes
            .iter()
            .filter_map(|push| {
                let age_s = now_s - push.time_s;
                // A push between two frames shows from the nearest one on.
                if age_s < -0.5 / self.frame_rate_hz || age_s > self.visible_s {
                    return None;
                }
                let direction = push.impulse_ns.try_normalize()?;
                let then = (push.time_s * self.frame_rate_hz).round().max(0.0) as usize;
                let joint = places.joint(push.body).0;
                let moved = self.positions[self.frame][joint] - self.positions[then.min(self.frame)][joint];
                let tip = push.point + moved;
                let size = push.impulse_ns.length() / self.mass_kg;
                let length = PUSH_LENGTH_M[0] + PUSH_LENGTH_M[1] * size.min(3.0);
                let start = tip - direction * length;
                let fade = 1.0 - 0.6 * (age_s / self.visible_s.max(1e-3)).clamp(0.0, 1.0).powi(2);
                let material = Material { albedo: palette.push, gloss: 0.5, alpha: fade, visor: None };
                Some(Arrow {
                    volumes: arrow(start, tip, 0.034, material),
                    label: format!("{:.0} N\u{b7}s", push.impulse_ns.length()),
                    label_at: start - direction * 0.08,
                })
            })
            .collect()
    }
}

/// Shaft and head of an arrow; short arrows are all head.
fn arrow(start: Vec3, tip: Vec3, thickness: f32, material: Material) -> Vec<Volume> {
    let along = tip - start;
    let length = along.length();
    let head = (4.5 * thickness).min(0.6 * length);
    let neck = tip - along * (head / length.max(1e-6));
    let wide = 2.4 * thickness * (head / (4.5 * thickness));
    let mut volumes = vec![Volume::new(neck, tip, wide, 0.15 * thickness, material)];
    if length > head {
        volumes.push(Volume::new(start, neck, thickness * 0.8, thickness, material));
    }
    volumes
}
