use crate::path::{Bout, RootPath, left_forward};
use crate::planted_foot::{FootShape, PlantedFoot};
use crate::stance::Stance;
use crate::style::Style;
use crate::{MotionRequest, Side};
use pomp_motion::glam::Vec3;
use pomp_motion::random::noise;
use pomp_terrain::HeightMap;

/// Half the distance between the feet of a standing person, share of body height.
const STANDING_HALF_WIDTH: f32 = 0.048;
/// Outward turn of the feet, radians.
const TOE_OUT: f32 = 0.10;
/// From the first movement of the root to the first lift of a foot, seconds.
const FIRST_LIFT_S: f32 = 0.15;

/// Sine of the slope under a foot from which another place is looked for.
const STEEP_FOOT: f32 = 0.34;
/// Displacements of such a foothold along the path, shares of body height, nearest first.
const NUDGES: [f32; 6] = [0.025, -0.025, 0.05, -0.05, 0.08, -0.08];

/// When the first foot of a bout comes down.
pub(crate) fn first_landing_s(bout: &Bout, style: &Style) -> f32 {
    bout.start_s + FIRST_LIFT_S + style.swing_s()
}

/// Where and when every foot stands.
pub(crate) struct StepPlanner<'a> {
    pub(crate) request: &'a MotionRequest,
    pub(crate) terrain: &'a HeightMap,
    pub(crate) path: &'a RootPath,
    pub(crate) style: &'a Style,
    pub(crate) shape: FootShape,
}

/// A step before it is known when the foot leaves again.
struct Landing {
    time_s: f32,
    foothold: PlantedFoot,
}

impl StepPlanner<'_> {
    /// Stances of the left and of the right foot, covering −`margin_s` to the duration + `margin_s`.
    pub(crate) fn stances(&self, margin_s: f32) -> [Vec<Stance>; 2] {
        let [left, right] = self.landings(margin_s);
        [self.joined(&left), self.joined(&right)]
    }

    /// The foothold of a stand at time `time_s`.
    pub(crate) fn standing_foothold(&self, side: Side, time_s: f32) -> PlantedFoot {
        self.foothold(side, self.path.travelled(time_s), 0.0, 0.0, 0.0)
    }

    fn foothold(&self, side: Side, travelled: f32, effort: f32, ahead: f32, aside: f32) -> PlantedFoot {
        let heading = self.path.heading_at(travelled);
        let (left, forward) = left_forward(heading);
        let standing = STANDING_HALF_WIDTH * self.request.body_height_m;
        let half_width = standing + (self.style.half_width_m - standing) * effort + aside;
        let point = self.path.point_at(travelled);
        let yaw = heading + side.sign() * TOE_OUT;
        let line = Vec3::new(point.x, 0.0, point.y) + left * (side.sign() * half_width);
        let planted = |nudge: f32| {
            let at = line + forward * (ahead + nudge);
            PlantedFoot::on(self.terrain, self.shape, at.x, at.z, yaw)
        };
        // A foot that would straddle an edge, such as a stair's, is set down a little before or after it.
        let steepness = |foot: &PlantedFoot| (foot.flat * Vec3::Z).y.abs();
        let mut best = planted(0.0);
        for nudge in NUDGES {
            if steepness(&best) <= STEEP_FOOT {
                break;
            }
            let foot = planted(nudge * self.request.body_height_m);
            if steepness(&foot) < steepness(&best) {
                best = foot;
            }
        }
        best
    }

    fn landings(&self, margin_s: f32) -> [Vec<Landing>; 2] {
        let mut landings = [Vec::new(), Vec::new()];
        let half_stride = 0.5 * self.style.stride_s;
        let mut side = self.request.first_foot;
        match &self.path.bouts {
            None => {
                let first = -2 * ((margin_s / self.style.stride_s).ceil() as i64 + 1);
                let last = ((self.request.duration_s + margin_s) / half_stride).ceil() as i64 + 2;
                for step in first..=last {
                    landings[side as usize].push(self.landing(side, step, step as f32 * half_stride));
                    side = side.opposite();
                }
            }
            Some(bouts) => {
                for side in [Side::Left, Side::Right] {
                    let foothold = self.standing_foothold(side, -margin_s);
                    landings[side as usize].push(Landing { time_s: f32::NEG_INFINITY, foothold });
                }
                let mut step = 0;
                for bout in bouts {
                    let first = first_landing_s(bout, self.style);
                    let mut arrived = 0;
                    for count in 0.. {
                        let landing = self.landing(side, step, first + count as f32 * half_stride);
                        let stands_at = landing.time_s + self.style.pass_under * self.style.stance_s();
                        arrived += i32::from(stands_at > bout.end_s - 0.12 * bout.ramp_s);
                        landings[side as usize].push(landing);
                        side = side.opposite();
                        step += 1;
                        if arrived == 2 {
                            break;
                        }
                    }
                }
            }
        }
        landings
    }

    /// Step number `step`, due at `due_s`, with its share of stride variation.
    fn landing(&self, side: Side, step: i64, due_s: f32) -> Landing {
        let style = self.style;
        let vary = |stream, size: f32| size * self.request.variation * noise(self.request.seed, stream, step);
        // The ballistics of a jog fix the moments of contact; a walk's vary by about 2 % of the stride.
        let time_s = if style.ballistic { due_s } else { due_s + vary(1, 0.02 * style.stride_s) };
        let stands_at = due_s + style.pass_under * style.stance_s();
        let effort = self.path.effort(stands_at);
        let ahead = effort * vary(2, 0.015 * self.request.body_height_m);
        let aside = effort * vary(3, 0.006 * self.request.body_height_m);
        let foothold = self.foothold(side, self.path.travelled(stands_at), effort, ahead, aside);
        Landing { time_s, foothold }
    }

    /// Share of the stance that the heel rise takes: more uphill, where the ankle cannot bend as far as the slope asks.
    fn rise_share(&self, landing: &Landing) -> f32 {
        let uphill = (landing.foothold.flat * Vec3::Z).y.max(0.0);
        (self.style.rise + 1.5 * uphill).min(0.8)
    }

    /// Stances from the landings of one foot: each lasts until the swing before the next landing; heel strike
    /// and heel rise are as large as the step is long.
    fn joined(&self, landings: &[Landing]) -> Vec<Stance> {
        let style = self.style;
        let stride_m = self.path.speed * style.stride_s;
        let share = |a: &Landing, b: &Landing| {
            (a.foothold.heel.distance(b.foothold.heel) / stride_m).clamp(0.25, 1.1)
        };
        landings
            .iter()
            .enumerate()
            .map(|(i, landing)| {
                let (before, after) = (i.checked_sub(1).map(|b| &landings[b]), landings.get(i + 1));
                Stance {
                    from_s: landing.time_s,
                    until_s: after.map_or(f32::INFINITY, |next| next.time_s - style.swing_s()),
                    foothold: landing.foothold,
                    strike_pitch: -style.strike_pitch * before.map_or(1.0, |b| share(b, landing)),
                    flatten_s: style.flatten * style.stance_s(),
                    rise_pitch: style.rise_pitch * after.map_or(0.0, |next| share(landing, next)),
                    rise_s: self.rise_share(landing) * style.stance_s(),
                }
            })
            .collect()
    }
}
