//! Scenes drawn at random: what ground, what command, which pushes.

use crate::BatchError;
use crate::scene::{BEYOND_S, Scene, ground};
use glam::Vec3;
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_generator::{ControlPlan, FRAME_RATE_HZ, Preset, ScheduledPush};
use pomp_terrain::{Shape, TerrainSpec};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Bound;

/// Stream of a seed's numbers that scenes are drawn from; the noise of the loop has stream 0.
const STREAM: u64 = 1;
/// Distance between heights, metres: of stairs, whose risers must be steep, and of other ground.
const STAIRS_CELL_M: f32 = 0.05;
/// Largest push, N·s; ten times what fells a person.
const MOST_IMPULSE_NS: f32 = 2000.0;

/// Distributions that scenes are drawn from: `configs/batch.toml`. Every pair of numbers is a range with a
/// uniform distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomScenes {
    /// Commands, all equally likely; a command that is listed twice is twice as likely.
    pub controls: Vec<Preset>,
    /// Pushes. Without this table there are none.
    #[serde(default)]
    pub pushes: Option<RandomPushes>,
    /// Kinds of ground.
    pub ground: Vec<RandomGround>,
}

/// Pushes at random times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomPushes {
    /// Time before the first push and between pushes, seconds, 0.1 or more.
    pub interval_s: [f32; 2],
    /// Size, N·s, 0 to 2000. 50 displaces the pelvis by centimetres; 200 makes the character fall.
    pub impulse_ns: [f32; 2],
    /// Horizontal direction, degrees from the direction `direction_from` towards the left, −360 to 360.
    pub direction_deg: [f32; 2],
    /// Direction that `direction_deg` is measured from; "world" by default.
    #[serde(default, skip_serializing_if = "DirectionFrom::is_world")]
    pub direction_from: DirectionFrom,
    /// Bodies, all equally likely.
    pub bodies: Vec<String>,
}

/// What the direction of a push is measured from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DirectionFrom {
    /// +Z: ahead at the start; +X is to the left.
    #[default]
    World,
    /// The commanded heading at the time of the push.
    Heading,
}

impl DirectionFrom {
    fn is_world(&self) -> bool {
        *self == Self::World
    }
}

/// A kind of ground.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomGround {
    /// Relative frequency compared with the other shares; above 0.
    pub share: f32,
    /// Its form.
    pub shape: GroundShape,
}

/// A form of ground with ranges in place of numbers. It has the same fields as [`Shape`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum GroundShape {
    /// Level.
    Flat {},
    /// A plane.
    Slope {
        /// Angle to the horizontal, degrees; negative goes down.
        angle_deg: [f32; 2],
        /// Direction of the rise, degrees from +Z towards +X.
        heading_deg: [f32; 2],
    },
    /// Flights up and down.
    Stairs {
        /// Height of a step, metres.
        rise_m: [f32; 2],
        /// Depth of a tread, metres.
        run_m: [f32; 2],
        /// Number of steps of a flight.
        count: [u32; 2],
        /// Direction of the ascent, degrees from +Z towards +X.
        heading_deg: [f32; 2],
    },
    /// Smooth hills.
    Hills {
        /// Largest height above or below 0, metres.
        amplitude_m: [f32; 2],
        /// Distance between neighbouring hills, metres.
        wavelength_m: [f32; 2],
    },
    /// Uneven ground.
    Rough {
        /// Largest height above or below 0, metres.
        amplitude_m: [f32; 2],
        /// Wavelength of the coarsest octave, metres.
        wavelength_m: [f32; 2],
    },
    /// Trenches.
    Gaps {
        /// Width of a trench, metres.
        width_m: [f32; 2],
        /// Depth of a trench, metres.
        depth_m: [f32; 2],
        /// Level ground between trenches, metres.
        spacing_m: [f32; 2],
        /// Direction in which the trenches follow each other, degrees from +Z towards +X.
        heading_deg: [f32; 2],
    },
}

impl Validate for RandomScenes {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.holds(!self.controls.is_empty(), "controls", "[]", "a list of at least one preset")?;
        fields.holds(!self.ground.is_empty(), "ground", "[]", "at least one [[ground]]")?;
        for (index, ground) in self.ground.iter().enumerate() {
            let fields = fields.section(format!("ground[{index}]"));
            fields.within("share", ground.share, (Bound::Excluded(0.0), Bound::Unbounded))?;
            let fields = fields.section("shape");
            for (field, [low, high]) in ground.shape.ranges() {
                let holds = low.is_finite() && high.is_finite() && low <= high;
                fields.holds(
                    holds,
                    field,
                    format!("[{low}, {high}]"),
                    "two numbers, the smaller one first",
                )?;
            }
        }
        self.pushes.as_ref().map_or(Ok(()), |pushes| pushes.check(&fields.section("pushes")))
    }
}

impl Validate for RandomPushes {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.pair_within("interval_s", self.interval_s, 0.1..)?;
        fields.pair_within("impulse_ns", self.impulse_ns, 0.0..=MOST_IMPULSE_NS)?;
        fields.pair_within("direction_deg", self.direction_deg, -360.0..=360.0)?;
        fields.holds(!self.bodies.is_empty(), "bodies", "[]", "a list of at least one body")
    }
}

impl RandomScenes {
    /// Checks every range.
    ///
    /// # Errors
    /// The first field outside its range, and a body that is none of `bodies`.
    pub fn validate(&self, bodies: &[String]) -> Result<(), BatchError> {
        self.check(&Fields::root())?;
        for ground in &self.ground {
            // The corners of the ranges are what can be out of a shape's bounds.
            for corner in [0.0, 1.0] {
                let spec = TerrainSpec::of_shape(
                    ground.shape.pick(&mut |range| range[0] + (range[1] - range[0]) * corner),
                );
                spec.validate()?;
            }
        }
        let fields = Fields::root().section("pushes");
        let named = self.pushes.iter().flat_map(|pushes| &pushes.bodies);
        for body in named {
            let allowed = format!("bodies of {}", bodies.join(", "));
            fields.holds(bodies.contains(body), "bodies", format!("\"{body}\""), allowed)?;
        }
        Ok(())
    }

    /// The settings as JSON, for [`crate::Batch::scenes`].
    pub fn to_json(&self) -> serde_json::Value {
        crate::batch::plain(self)
    }

    /// The scene of a seed, for a rollout of `seconds`; `bodies` are the names of the ragdoll's bodies, and `support` gives the name of
    /// what holds a character up on a kind of ground with a command.
    ///
    /// # Errors
    /// What [`Self::validate`] says, and a ground that is too large.
    pub fn draw(
        &self,
        seed: u64,
        seconds: f32,
        bodies: &[String],
        support: &dyn Fn(&str, &ControlPlan) -> String,
    ) -> Result<Scene, BatchError> {
        self.validate(bodies)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(STREAM);
        let mut within = |[low, high]: [f32; 2]| low + (high - low) * rng.random::<f32>();

        let total: f32 = self.ground.iter().map(|ground| ground.share).sum();
        let mut left = within([0.0, total]);
        let drawn = self
            .ground
            .iter()
            .find(|ground| {
                left -= ground.share;
                left < 0.0
            })
            .unwrap_or(&self.ground[self.ground.len() - 1]);
        let mut spec = TerrainSpec::of_shape(drawn.shape.pick(&mut within));
        if matches!(spec.shape, Shape::Stairs { .. }) {
            spec.cell_m = STAIRS_CELL_M;
        }
        let control = self.controls[below(&mut within, self.controls.len())];
        let plan = ControlPlan::preset(control, seconds + BEYOND_S, FRAME_RATE_HZ);
        let mut pushes = Vec::new();
        if let Some(random) = &self.pushes {
            let mut time_s = within(random.interval_s);
            while time_s < seconds {
                let name = &random.bodies[below(&mut within, random.bodies.len())];
                let body = bodies.iter().position(|body| body == name).expect("validate has looked for it");
                let ahead = match random.direction_from {
                    DirectionFrom::World => 0.0,
                    DirectionFrom::Heading => plan.at(time_s * FRAME_RATE_HZ).yaw,
                };
                let (sin, cos) = (ahead + within(random.direction_deg).to_radians()).sin_cos();
                let impulse_ns = Vec3::new(sin, 0.0, cos) * within(random.impulse_ns);
                pushes.push(ScheduledPush { time_s, body, impulse_ns });
                time_s += within(random.interval_s);
            }
        }
        let kind = drawn.shape.kind();
        Ok(Scene {
            support: support(kind, &plan),
            ground: kind.to_owned(),
            terrain: ground(spec, &plan, seed)?,
            control: control.name().to_owned(),
            plan,
            pushes,
        })
    }
}

/// An index below `count`.
fn below(within: &mut impl FnMut([f32; 2]) -> f32, count: usize) -> usize {
    (within([0.0, count as f32]) as usize).min(count - 1)
}

impl GroundShape {
    /// Name as in files.
    pub fn kind(&self) -> &'static str {
        self.pick(&mut |range| range[0]).kind()
    }

    /// Every range by name.
    fn ranges(&self) -> Vec<(&'static str, [f32; 2])> {
        let whole = |[low, high]: [u32; 2]| [low as f32, high as f32];
        match *self {
            Self::Flat {} => Vec::new(),
            Self::Slope { angle_deg, heading_deg } => {
                vec![("angle_deg", angle_deg), ("heading_deg", heading_deg)]
            }
            Self::Stairs { rise_m, run_m, count, heading_deg } => vec![
                ("rise_m", rise_m),
                ("run_m", run_m),
                ("count", whole(count)),
                ("heading_deg", heading_deg),
            ],
            Self::Hills { amplitude_m, wavelength_m } | Self::Rough { amplitude_m, wavelength_m } => {
                vec![("amplitude_m", amplitude_m), ("wavelength_m", wavelength_m)]
            }
            Self::Gaps { width_m, depth_m, spacing_m, heading_deg } => vec![
                ("width_m", width_m),
                ("depth_m", depth_m),
                ("spacing_m", spacing_m),
                ("heading_deg", heading_deg),
            ],
        }
    }

    /// A shape with one number of each range.
    fn pick(&self, within: &mut impl FnMut([f32; 2]) -> f32) -> Shape {
        match *self {
            Self::Flat {} => Shape::Flat {},
            Self::Slope { angle_deg, heading_deg } => {
                Shape::Slope { angle_deg: within(angle_deg), heading_deg: within(heading_deg) }
            }
            Self::Stairs { rise_m, run_m, count, heading_deg } => Shape::Stairs {
                rise_m: within(rise_m),
                run_m: within(run_m),
                // Half a step on either side, so that every number is as likely.
                count: (within([count[0] as f32 - 0.499, count[1] as f32 + 0.499]).round() as u32)
                    .clamp(count[0], count[1].max(count[0])),
                landing_m: 2.5,
                heading_deg: within(heading_deg),
            },
            Self::Hills { amplitude_m, wavelength_m } => {
                Shape::Hills { amplitude_m: within(amplitude_m), wavelength_m: within(wavelength_m), seed: 0 }
            }
            Self::Rough { amplitude_m, wavelength_m } => Shape::Rough {
                amplitude_m: within(amplitude_m),
                wavelength_m: within(wavelength_m),
                octaves: 3,
                seed: 0,
            },
            Self::Gaps { width_m, depth_m, spacing_m, heading_deg } => Shape::Gaps {
                width_m: within(width_m),
                depth_m: within(depth_m),
                spacing_m: within(spacing_m),
                heading_deg: within(heading_deg),
            },
        }
    }
}
