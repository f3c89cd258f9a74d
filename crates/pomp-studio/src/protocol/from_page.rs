use crate::StudioError;
use crate::world::{Bump, SceneRequest};
use glam::{Vec2, Vec3};
use pomp_generator::Steering;
use pomp_motion::Gait;
use serde::{Deserialize, Serialize};

/// Largest message that a page may send, bytes: a scene with all its events.
pub const MAX_MESSAGE_BYTES: usize = 1 << 20;

const STEER: u8 = 1;
const PUSH: u8 = 2;
const COMMAND: u8 = 3;
const THROW: u8 = 4;
const BUMP: u8 = 5;

/// Largest impulse that a page may ask for, N·s: a car at walking pace.
const LARGEST_PUSH_NS: f32 = 2000.0;

/// Something the page asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum FromPage {
    /// Where to go; `sequence` comes back in the first frame that knows of it.
    Steer {
        /// Number of the message.
        sequence: u32,
        /// What to do.
        steering: Steering,
    },
    /// Push a body.
    Push(PushRequest),
    /// Throw a cube.
    Throw(ThrowRequest),
    /// Press a bump on the ground, or out of it.
    Bump(Bump),
    /// Anything else.
    Command(Command),
}

/// A push on a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PushRequest {
    /// Index of the body.
    pub body: usize,
    /// Impulse, N·s, world.
    pub impulse_ns: Vec3,
    /// Where it acts, in the body's own frame, metres.
    pub point_local: Vec3,
}

/// A cube to be thrown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThrowRequest {
    /// Length of its sides, metres.
    pub side_m: f32,
    /// Mass, kg.
    pub mass_kg: f32,
    /// Where its centre begins, world, metres.
    pub position: Vec3,
    /// Its velocity, m/s.
    pub velocity: Vec3,
}

/// A rare request, in JSON: `{"do": "pace", "factor": 0.5}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Begin anew, with another scene if one is given.
    Reset {
        /// The scene; without it the present one.
        #[serde(default)]
        scene: Option<SceneRequest>,
    },
    /// Stop the clock.
    Pause {},
    /// Let it run.
    Resume {},
    /// One frame, then pause.
    Step {},
    /// Slow motion.
    Pace {
        /// Share of real time, 0.05 to 1.
        factor: f32,
    },
    /// Go back and pause.
    Rewind {
        /// How far.
        seconds: f32,
    },
    /// Scale the root assist.
    Assist {
        /// 0 to 1.
        scale: f32,
    },
    /// Sample the kinematic module in another number of steps.
    Denoise {
        /// Steps.
        steps: usize,
    },
    /// Tell the scene and its events, so that a link can reproduce them.
    Link {},
}

impl FromPage {
    /// Reads a message.
    ///
    /// # Errors
    /// [`StudioError::BadMessage`] for anything that is not exactly one message of the protocol, and for numbers that are not
    /// finite or out of range.
    pub fn parse(bytes: &[u8]) -> Result<Self, StudioError> {
        let bad = |reason: String| StudioError::BadMessage { reason };
        if bytes.len() > MAX_MESSAGE_BYTES {
            return Err(bad(format!("{} bytes are more than {MAX_MESSAGE_BYTES}", bytes.len())));
        }
        let Some((&kind, rest)) = bytes.split_first() else {
            return Err(bad("it is empty".to_owned()));
        };
        match kind {
            STEER => {
                let mut numbers = Numbers { rest, what: "steering" };
                let sequence = numbers.u32()?;
                let direction = Vec2::new(numbers.f32()?, numbers.f32()?);
                let gait = usize::from(numbers.u8()?);
                numbers.end()?;
                let gait = *Gait::ALL.get(gait).ok_or_else(|| bad(format!("there is no gait {gait}")))?;
                Ok(Self::Steer { sequence, steering: coarse(Steering { direction, gait }) })
            }
            PUSH => {
                let mut numbers = Numbers { rest, what: "push" };
                let body = usize::from(numbers.u8()?);
                let impulse_ns = numbers.vec3()?;
                let point_local = numbers.vec3()?;
                numbers.end()?;
                if impulse_ns.length() > LARGEST_PUSH_NS {
                    return Err(bad(format!("a push of more than {LARGEST_PUSH_NS} N·s")));
                }
                if point_local.length() > 1.0 {
                    return Err(bad("a push that misses its body".to_owned()));
                }
                Ok(Self::Push(PushRequest { body, impulse_ns, point_local }))
            }
            THROW => {
                let mut numbers = Numbers { rest, what: "box" };
                let (side_m, mass_kg) = (numbers.f32()?, numbers.f32()?);
                let (position, velocity) = (numbers.vec3()?, numbers.vec3()?);
                numbers.end()?;
                Ok(Self::Throw(ThrowRequest { side_m, mass_kg, position, velocity }))
            }
            BUMP => {
                let mut numbers = Numbers { rest, what: "bump" };
                let (x, z) = (numbers.f32()?, numbers.f32()?);
                let (radius_m, height_m) = (numbers.f32()?, numbers.f32()?);
                numbers.end()?;
                Ok(Self::Bump(Bump { x, z, radius_m, height_m }))
            }
            COMMAND => serde_json::from_slice(rest)
                .map(Self::Command)
                .map_err(|error| bad(format!("it is no command: {error}"))),
            other => Err(bad(format!("there is no kind {other}"))),
        }
    }
}

/// A direction in hundredths, at most of length 1: what a link can hold, and no finger feels the difference.
fn coarse(steering: Steering) -> Steering {
    let direction = (steering.direction.clamp_length_max(1.0) * 100.0).round() / 100.0;
    Steering { direction, ..steering }
}

struct Numbers<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl Numbers<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], StudioError> {
        let Some((head, rest)) = self.rest.split_first_chunk::<N>() else {
            return Err(StudioError::BadMessage { reason: format!("the {} is cut off", self.what) });
        };
        self.rest = rest;
        Ok(*head)
    }

    fn u8(&mut self) -> Result<u8, StudioError> {
        Ok(self.take::<1>()?[0])
    }

    fn u32(&mut self) -> Result<u32, StudioError> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    fn f32(&mut self) -> Result<f32, StudioError> {
        let value = f32::from_le_bytes(self.take()?);
        if value.is_finite() && value.abs() < 1e6 {
            Ok(value)
        } else {
            Err(StudioError::BadMessage { reason: format!("the {} has the number {value}", self.what) })
        }
    }

    fn vec3(&mut self) -> Result<Vec3, StudioError> {
        Ok(Vec3::new(self.f32()?, self.f32()?, self.f32()?))
    }

    fn end(&self) -> Result<(), StudioError> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            let reason = format!("the {} is followed by {} bytes too many", self.what, self.rest.len());
            Err(StudioError::BadMessage { reason })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn steer(sequence: u32, x: f32, z: f32, gait: u8) -> Vec<u8> {
        let mut bytes = vec![STEER];
        bytes.extend(sequence.to_le_bytes());
        bytes.extend(x.to_le_bytes());
        bytes.extend(z.to_le_bytes());
        bytes.push(gait);
        bytes
    }

    fn push(body: u8, impulse: [f32; 3], point: [f32; 3]) -> Vec<u8> {
        let mut bytes = vec![PUSH, body];
        bytes.extend(impulse.iter().chain(&point).flat_map(|v| v.to_le_bytes()));
        bytes
    }

    fn command(json: &str) -> Vec<u8> {
        [&[COMMAND], json.as_bytes()].concat()
    }

    #[test]
    fn messages_are_read_as_they_were_meant() {
        let FromPage::Steer { sequence, steering } = FromPage::parse(&steer(7, 3.0, 4.0, 1)).unwrap() else {
            panic!("it is steering");
        };
        assert_eq!((sequence, steering.gait), (7, Gait::Walk));
        assert!((steering.direction - Vec2::new(0.6, 0.8)).length() < 1e-6, "it is no longer than 1");
        let expected = PushRequest { body: 11, impulse_ns: Vec3::X * 80.0, point_local: Vec3::ZERO };
        assert_eq!(FromPage::parse(&push(11, [80.0, 0.0, 0.0], [0.0; 3])).unwrap(), FromPage::Push(expected));
        for (json, expected) in [
            (r#"{"do":"pause"}"#, Command::Pause {}),
            (r#"{"do":"pace","factor":0.25}"#, Command::Pace { factor: 0.25 }),
            (r#"{"do":"reset"}"#, Command::Reset { scene: None }),
        ] {
            assert_eq!(FromPage::parse(&command(json)).unwrap(), FromPage::Command(expected));
        }
    }

    #[test]
    fn rejects_messages_that_are_cut_off_too_long_or_of_no_kind() {
        let whole = steer(1, 0.0, 1.0, 1);
        for end in 0..whole.len() {
            assert!(FromPage::parse(&whole[..end]).is_err(), "{end} bytes");
        }
        let longer = [whole, vec![0]].concat();
        assert!(FromPage::parse(&longer).unwrap_err().to_string().contains("too many"));
        assert!(FromPage::parse(&[99]).unwrap_err().to_string().contains("99"));
        assert!(FromPage::parse(&vec![COMMAND; MAX_MESSAGE_BYTES + 1]).is_err());
    }

    #[test]
    fn boxes_and_bumps_are_read_as_they_were_meant_and_no_bit_less() {
        let message = |kind: u8, numbers: &[f32]| {
            let mut bytes = vec![kind];
            bytes.extend(numbers.iter().flat_map(|v| v.to_le_bytes()));
            bytes
        };
        let thrown = message(THROW, &[0.3, 5.0, 1.0, 2.0, 3.0, 0.0, 1.0, -9.0]);
        let expected = ThrowRequest {
            side_m: 0.3,
            mass_kg: 5.0,
            position: Vec3::new(1.0, 2.0, 3.0),
            velocity: Vec3::new(0.0, 1.0, -9.0),
        };
        assert_eq!(FromPage::parse(&thrown).unwrap(), FromPage::Throw(expected));
        let bump = message(BUMP, &[4.0, -2.0, 1.5, 0.1]);
        let expected = Bump { x: 4.0, z: -2.0, radius_m: 1.5, height_m: 0.1 };
        assert_eq!(FromPage::parse(&bump).unwrap(), FromPage::Bump(expected));
        for whole in [thrown, bump] {
            assert!(FromPage::parse(&whole[..whole.len() - 1]).unwrap_err().to_string().contains("cut off"));
            assert!(
                FromPage::parse(&[whole, vec![0]].concat()).unwrap_err().to_string().contains("too many")
            );
        }
        assert!(FromPage::parse(&message(BUMP, &[f32::NAN, 0.0, 1.0, 0.1])).is_err());
    }

    #[test]
    fn rejects_numbers_that_are_not_finite_or_beyond_reason() {
        assert!(FromPage::parse(&steer(1, f32::NAN, 0.0, 1)).is_err());
        assert!(FromPage::parse(&steer(1, 0.0, f32::INFINITY, 1)).is_err());
        assert!(FromPage::parse(&steer(1, 0.0, 1.0, 8)).is_err());
        assert!(FromPage::parse(&push(1, [3000.0, 0.0, 0.0], [0.0; 3])).is_err());
        assert!(FromPage::parse(&push(1, [30.0, 0.0, 0.0], [0.0, 9.0, 0.0])).is_err());
    }

    #[test]
    fn rejects_commands_with_unknown_words() {
        for json in [r#"{"do":"explode"}"#, r#"{"do":"pause","now":true}"#, "[1,2]", "", "nul\u{0}l"] {
            assert!(FromPage::parse(&command(json)).is_err(), "{json}");
        }
    }

    #[test]
    fn rejects_commands_that_are_no_utf8_or_nested_without_end() {
        for bytes in [&b"\xff\xfe"[..], b"{\"do\":\"\xc3\x28\"}", b"{\"do\":\"\xed\xa0\x80\"}"] {
            assert!(FromPage::parse(&[&[COMMAND], bytes].concat()).is_err(), "{bytes:?}");
        }
        let deep = format!(r#"{{"do":"reset","scene":{}"#, "[".repeat(500_000));
        assert!(FromPage::parse(&command(&deep)).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_are_read_as_something_that_is_not_finite(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            match FromPage::parse(&bytes) {
                Ok(FromPage::Steer { steering, .. }) => prop_assert!(steering.direction.length() <= 1.01),
                Ok(FromPage::Push(push)) => prop_assert!(push.impulse_ns.is_finite() && push.point_local.is_finite()),
                Ok(FromPage::Throw(thrown)) => prop_assert!(thrown.position.is_finite() && thrown.velocity.is_finite()),
                Ok(FromPage::Bump(bump)) => prop_assert!(bump.x.is_finite() && bump.height_m.is_finite()),
                Ok(FromPage::Command(_)) | Err(_) => {}
            }
        }

        #[test]
        fn every_steering_comes_through(x in -1f32..1.0, z in -1f32..1.0, gait in 0u8..8, sequence: u32) {
            let read = FromPage::parse(&steer(sequence, x, z, gait)).unwrap();
            let FromPage::Steer { sequence: found, steering } = read else { panic!("it is steering") };
            prop_assert_eq!(found, sequence);
            let wanted = Vec2::new(x, z).clamp_length_max(1.0);
            prop_assert!((steering.direction - wanted).length() < 0.01);
        }
    }
}
