//! `--push` and `--throw`: what disturbs a rollout, in the words of the command line.

use crate::errors::{misuse, nearest};
use anyhow::{Result, ensure};
use glam::Vec3;
use pomp_generator::{ControlPlan, FRAME_RATE_HZ, ScheduledPush, ScheduledThrow};
use pomp_physics::ThrownBox;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Stream of a seed's numbers that pushes are drawn from; the loop's noise has stream 0, random scenes stream 1.
const STREAM: u64 = 2;

/// Directions that have names, degrees from the commanded heading towards the left.
const DIRECTIONS: [(&str, [f32; 2]); 5] = [
    ("ahead", [0.0, 0.0]),
    ("left", [90.0, 90.0]),
    ("back", [180.0, 180.0]),
    ("right", [-90.0, -90.0]),
    ("random", [-180.0, 180.0]),
];

/// A push of the command line. Ranges are drawn for each rollout from its seed.
#[derive(Clone, Debug, PartialEq)]
pub struct PushRequest {
    time_s: [f32; 2],
    body: usize,
    impulse: Impulse,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Impulse {
    /// N·s, world.
    World(Vec3),
    /// Along the ground: N·s, and degrees from the commanded heading towards the left.
    Relative { size_ns: [f32; 2], angle_deg: [f32; 2] },
}

impl PushRequest {
    /// Reads `T,BODY,JX,JY,JZ` or `T,BODY,J,DIRECTION`; `names` are the ragdoll's bodies, the run takes `seconds`.
    fn parse(text: &str, names: &[String], seconds: f32) -> Result<Self> {
        let given = Given { option: "--push", text };
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let (time, body, impulse) = match parts[..] {
            [time, body, x, y, z] => {
                let impulse =
                    Vec3::new(given.number("JX", x)?, given.number("JY", y)?, given.number("JZ", z)?);
                (time, body, Impulse::World(impulse))
            }
            [time, body, size, direction] => {
                let size_ns = given.range("J", size)?;
                ensure!(size_ns[0] >= 0.0, given.wrong("J is below 0; turn the direction round instead"));
                (time, body, Impulse::Relative { size_ns, angle_deg: given.direction(direction)? })
            }
            _ => {
                return Err(given.wrong(
                    "give T,BODY,JX,JY,JZ (world), such as 5,Spine2,50,0,0, or T,BODY,J,DIRECTION, such as 5,Spine2,50,left",
                ));
            }
        };
        Ok(Self { body: given.body(body, names)?, time_s: given.time(time, seconds)?, impulse })
    }

    /// A push at `time_s` with an impulse in the world, N·s, in a run of `seconds`.
    ///
    /// # Errors
    /// What is told of the same push in text.
    pub fn of_impulse(
        time_s: f32,
        body: &str,
        impulse_ns: Vec3,
        names: &[String],
        seconds: f32,
    ) -> Result<Self> {
        let Vec3 { x, y, z } = impulse_ns;
        Self::parse(&format!("{time_s},{body},{x},{y},{z}"), names, seconds)
    }

    /// The push of one rollout under `plan`.
    fn draw(&self, plan: &ControlPlan, rng: &mut ChaCha8Rng) -> ScheduledPush {
        let mut within = |[low, high]: [f32; 2]| low + (high - low) * rng.random::<f32>();
        // Every push takes three numbers, so that a range in one of them leaves the others as they are.
        let (time_s, share, turn) = (within(self.time_s), within([0.0, 1.0]), within([0.0, 1.0]));
        let impulse_ns = match self.impulse {
            Impulse::World(impulse) => impulse,
            Impulse::Relative { size_ns, angle_deg } => {
                let of = |[low, high]: [f32; 2], share: f32| low + (high - low) * share;
                let heading = plan.at(time_s * plan.frame_rate_hz()).yaw;
                let (sin, cos) = (heading + of(angle_deg, turn).to_radians()).sin_cos();
                Vec3::new(sin, 0.0, cos) * of(size_ns, share)
            }
        };
        ScheduledPush { time_s, body: self.body, impulse_ns }
    }
}

/// The pushes that are named, for a run of `seconds`; `names` are the ragdoll's bodies.
///
/// # Errors
/// A text that is no push of such a run.
pub fn pushes_of(texts: &[String], names: &[String], seconds: f32) -> Result<Vec<PushRequest>> {
    if texts.iter().any(|text| text == "none") {
        ensure!(texts.len() == 1, misuse!("--push none: it cannot be combined with other pushes"));
        return Ok(Vec::new());
    }
    texts.iter().map(|text| PushRequest::parse(text, names, seconds)).collect()
}

/// The pushes of the rollout with this seed.
pub fn draw(requests: &[PushRequest], plan: &ControlPlan, seed: u64) -> Vec<ScheduledPush> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(STREAM);
    requests.iter().map(|request| request.draw(plan, &mut rng)).collect()
}

/// Whether a seed changes any of the pushes.
pub fn depend_on_seed(requests: &[PushRequest]) -> bool {
    let is_wide = |[low, high]: [f32; 2]| low < high;
    requests.iter().any(|push| {
        is_wide(push.time_s)
            || matches!(push.impulse, Impulse::Relative { size_ns, angle_deg } if is_wide(size_ns) || is_wide(angle_deg))
    })
}

/// The boxes that are named, for a run of `seconds`; `names` are the ragdoll's bodies.
///
/// # Errors
/// A text that is no throw of such a run.
pub fn throws_of(texts: &[String], names: &[String], seconds: f32) -> Result<Vec<ScheduledThrow>> {
    let throw = |text: &String| -> Result<ScheduledThrow> {
        let given = Given { option: "--throw", text };
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let [time, body, mass, speed, from] = parts[..] else {
            return Err(given.wrong("give T,BODY,KG,M_S,FROM, such as 4,Spine2,8,9,90"));
        };
        let body = given.body(body, names)?;
        let (mass_kg, speed_m_s) = (given.number("KG", mass)?, given.number("M_S", speed)?);
        let from_deg = given.number("FROM", from)?;
        let [least, most] = ThrownBox::MASS_KG;
        ensure!(
            (least..=most).contains(&mass_kg),
            given.wrong(&format!("the mass is outside {least} to {most} kg"))
        );
        ensure!((2.0..=20.0).contains(&speed_m_s), given.wrong("the speed is outside 2 to 20 m/s"));
        let [time_s, latest_s] = given.time(time, seconds)?;
        ensure!(time_s == latest_s, given.wrong("a throw takes no range of times"));
        ensure!(time_s * FRAME_RATE_HZ >= 0.5, given.wrong("give a time above 0"));
        Ok(ScheduledThrow { time_s, body, mass_kg, speed_m_s, from_deg })
    };
    texts.iter().map(throw).collect()
}

/// An option of values between commas.
#[derive(Clone, Copy)]
struct Given<'a> {
    option: &'a str,
    text: &'a str,
}

impl Given<'_> {
    fn wrong(self, reason: &str) -> anyhow::Error {
        misuse!("{} \"{}\": {reason}", self.option, self.text)
    }

    fn number(self, what: &str, value: &str) -> Result<f32> {
        let number: f32 =
            value.trim().parse().map_err(|_| self.wrong(&format!("{what} \"{value}\" is not a number")))?;
        ensure!(number.is_finite(), self.wrong(&format!("{what} is not finite")));
        Ok(number)
    }

    /// `A..B`, or one number twice.
    fn range(self, what: &str, value: &str) -> Result<[f32; 2]> {
        let (low, high) = value.split_once("..").unwrap_or((value, value));
        let range = [self.number(what, low)?, self.number(what, high)?];
        ensure!(
            range[0] <= range[1],
            self.wrong(&format!("{what} \"{value}\": put the smaller number first"))
        );
        Ok(range)
    }

    fn direction(self, value: &str) -> Result<[f32; 2]> {
        if let Some((_, angles)) = DIRECTIONS.iter().find(|(name, _)| name.eq_ignore_ascii_case(value)) {
            return Ok(*angles);
        }
        let angles = self.range("DIRECTION", value).map_err(|_| {
            let names = DIRECTIONS.map(|(name, _)| name);
            let near = nearest(value, &names).map_or_else(String::new, |near| format!("did you mean \"{near}\"? "));
            self.wrong(&format!(
                "DIRECTION \"{value}\" is not a direction; {near}give {}, degrees (0 ahead, 90 left) or a range of degrees such as -30..30",
                names.join(", ")
            ))
        })?;
        ensure!(
            angles.iter().all(|angle| angle.abs() <= 360.0),
            self.wrong("DIRECTION is outside −360 to 360 degrees")
        );
        Ok(angles)
    }

    /// A time at which the run still goes on.
    fn time(self, value: &str, seconds: f32) -> Result<[f32; 2]> {
        let time_s = self.range("T", value)?;
        ensure!(time_s[0] >= 0.0, self.wrong("T is below 0; give the time from the start in seconds"));
        let frame = |time_s: f32| (time_s * FRAME_RATE_HZ).round();
        ensure!(
            frame(time_s[1]) < frame(seconds).max(1.0),
            self.wrong(&format!(
                "T is {} s, and the run ends after {seconds} s; give an earlier time, or a larger --seconds",
                time_s[1]
            ))
        );
        Ok(time_s)
    }

    fn body(self, body: &str, names: &[String]) -> Result<usize> {
        names.iter().position(|name| name.eq_ignore_ascii_case(body)).ok_or_else(|| {
            let known: Vec<&str> = names.iter().map(String::as_str).collect();
            let near =
                nearest(body, &known).map_or_else(String::new, |near| format!("did you mean \"{near}\"? "));
            self.wrong(&format!("there is no body \"{body}\"; {near}the bodies are {}", known.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pomp_generator::Preset;

    fn names() -> Vec<String> {
        ["Hips", "Spine2"].map(str::to_owned).to_vec()
    }

    fn one(text: &str, preset: Preset, seed: u64) -> ScheduledPush {
        let requests = pushes_of(&[text.to_owned()], &names(), 20.0).expect(text);
        draw(&requests, &ControlPlan::preset(preset, 20.0, FRAME_RATE_HZ), seed)[0]
    }

    #[test]
    fn five_values_are_a_world_impulse_and_four_are_relative_to_the_commanded_heading() {
        assert_eq!(one("5,hips,1,2,3", Preset::Circle, 0).impulse_ns, Vec3::new(1.0, 2.0, 3.0));
        // A walk ahead faces +Z; its left is +X.
        for (direction, to) in [
            ("ahead", Vec3::Z),
            ("left", Vec3::X),
            ("back", Vec3::NEG_Z),
            ("right", Vec3::NEG_X),
            ("45", Vec3::new(1.0, 0.0, 1.0).normalize()),
        ] {
            let push = one(&format!("5,Spine2,80,{direction}"), Preset::Walk, 0);
            assert!((push.impulse_ns - 80.0 * to).length() < 1e-4, "{direction}: {}", push.impulse_ns);
        }
        // On the circle the heading turns with time, and so does what is ahead.
        let plan = ControlPlan::preset(Preset::Circle, 20.0, FRAME_RATE_HZ);
        let yaw = plan.at(5.0 * FRAME_RATE_HZ).yaw;
        assert!(yaw.abs() > 0.5, "the circle has hardly turned: {yaw}");
        let push = one("5,Spine2,80,ahead", Preset::Circle, 0);
        assert!((push.impulse_ns - 80.0 * Vec3::new(yaw.sin(), 0.0, yaw.cos())).length() < 1e-4);
    }

    #[test]
    fn ranges_are_drawn_from_the_seed_and_stay_within() {
        let text = "2..6,Spine2,50..90,-30..30";
        let pushes: Vec<ScheduledPush> = (0..50).map(|seed| one(text, Preset::Walk, seed)).collect();
        for push in &pushes {
            let (size, angle) =
                (push.impulse_ns.length(), push.impulse_ns.x.atan2(push.impulse_ns.z).to_degrees());
            assert!(
                (2.0..=6.0).contains(&push.time_s) && (49.9..=90.1).contains(&size) && angle.abs() < 30.1
            );
        }
        assert!(
            pushes.iter().any(|push| push.impulse_ns.x > 10.0)
                && pushes.iter().any(|push| push.impulse_ns.x < -10.0)
        );
        assert_eq!(pushes[7], one(text, Preset::Walk, 7));
        assert_ne!(pushes[7].time_s, pushes[8].time_s);
        // A range in one value leaves the draws of the others.
        assert_eq!(one("2..6,Spine2,70,left", Preset::Walk, 7).time_s, pushes[7].time_s);
    }

    #[test]
    fn a_seed_matters_to_ranges_alone() {
        let depends =
            |text: &str| depend_on_seed(&pushes_of(&[text.to_owned()], &names(), 20.0).expect(text));
        assert!(!depends("5,Hips,50,0,0") && !depends("5,Hips,50,left") && !depends("none"));
        assert!(depends("5,Hips,50,random") && depends("5..6,Hips,50,0,0") && depends("5,Hips,40..50,left"));
    }

    #[test]
    fn rejects_pushes_that_are_none() {
        for (text, word) in [
            ("5,Hips", "T,BODY,J,DIRECTION"),
            ("x,Hips,1,1,1", "T \"x\" is not a number"),
            ("-1,Hips,1,1,1", "T is below 0"),
            ("20,Hips,1,1,1", "ends after 20 s"),
            ("19..25,Hips,1,left", "T is 25 s"),
            ("6..5,Hips,1,left", "smaller number first"),
            ("5,Hip,1,left", "did you mean \"Hips\""),
            ("5,Tail,1,left", "the bodies are Hips, Spine2"),
            ("5,Hips,-1,left", "J is below 0"),
            ("5,Hips,1,lfet", "did you mean \"left\""),
            ("5,Hips,1,400", "outside −360 to 360"),
            ("5,Hips,inf,0,0", "not finite"),
        ] {
            let error = pushes_of(&[text.to_owned()], &names(), 20.0).expect_err(text);
            assert!(error.to_string().contains(word), "{text}: {error}");
            assert!(error.is::<crate::errors::Misuse>(), "{text}");
        }
        let both = ["none".to_owned(), "5,Hips,1,1,1".to_owned()];
        assert!(pushes_of(&both, &names(), 20.0).is_err());
    }
}
