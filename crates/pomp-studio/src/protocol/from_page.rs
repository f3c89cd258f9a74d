use crate::StudioError;
use crate::world::{Bump, SceneRequest};
use glam::{Vec2, Vec3};
use pomp_motion::Gait;
use rmp_serde::Deserializer;
use rmp_serde::decode::Error;
use serde::{Deserialize, Serialize};
use std::io::Cursor;
use ts_rs::TS;

/// Largest message that a page may send, bytes: a scene with all its events.
pub const MAX_MESSAGE_BYTES: usize = 1 << 20;
/// How deep a message may be nested; a scene with its events has six levels.
const DEEPEST: usize = 16;
/// Numbers must be smaller than this, whatever they mean.
const LARGEST_NUMBER: f32 = 1e6;
/// Largest impulse that a page may ask for, N·s: a car at walking pace.
const LARGEST_PUSH_NS: f32 = 2000.0;
/// Longest direction once its parts are hundredths: each is off by half of one.
const LONGEST_ROUNDED: f32 = 1.0072;
/// Farthest point of a body that may be pushed, metres from its joint.
const FARTHEST_POINT_M: f32 = 1.0;

/// Something that the page asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum FromPage {
    /// Where to go.
    Steer {
        /// Number of the message; it comes back in the first frame that knows of it.
        sequence: u32,
        /// Direction, world x and z; its length is the share of full speed.
        #[ts(as = "[f32; 2]")]
        direction: Vec2,
        /// Name of the gait.
        #[ts(type = "string")]
        gait: Gait,
        /// Where it faces meanwhile, world x and z; without it, where it goes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(as = "Option<[f32; 2]>", optional)]
        facing: Option<Vec2>,
    },
    /// Push a body.
    Push(PushRequest),
    /// Throw a cube.
    Throw(ThrowRequest),
    /// Press a bump on the ground, or out of it.
    Bump(Bump),
    /// Begin anew, with another scene if one is given.
    Reset {
        /// The scene; without it the present one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
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
    /// Move in a style; the weights of the others give way.
    Style {
        /// Number of the style among those of the scene.
        style: usize,
        /// 0 to 1.
        weight: f32,
    },
    /// Tell the scene and its events, so that a link can reproduce them.
    Link {},
}

/// A push on a body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct PushRequest {
    /// Index of the body.
    pub body: usize,
    /// Impulse, N·s, world; at most 2000.
    #[ts(as = "[f32; 3]")]
    pub impulse_ns: Vec3,
    /// Where it acts, in the body's own frame, metres; at most 1 from its joint.
    #[ts(as = "[f32; 3]")]
    pub point_local: Vec3,
}

/// A cube to be thrown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ThrowRequest {
    /// Length of its sides, metres.
    pub side_m: f32,
    /// Mass, kg.
    pub mass_kg: f32,
    /// Where its centre begins, world, metres.
    #[ts(as = "[f32; 3]")]
    pub position: Vec3,
    /// Its velocity, m/s.
    #[ts(as = "[f32; 3]")]
    pub velocity: Vec3,
}

impl FromPage {
    /// Reads a message.
    ///
    /// # Errors
    /// [`StudioError::BadMessage`] for anything that is not exactly one message of the protocol, and for numbers that are not
    /// finite or out of range. What only the world can judge (a body that does not exist, a scene) is not checked here.
    pub fn parse(bytes: &[u8]) -> Result<Self, StudioError> {
        let bad = |reason: String| StudioError::BadMessage { reason };
        if bytes.len() > MAX_MESSAGE_BYTES {
            return Err(bad(format!("{} bytes are more than {MAX_MESSAGE_BYTES}", bytes.len())));
        }
        if bytes.is_empty() {
            return Err(bad("it is empty".to_owned()));
        }
        let mut reader = Deserializer::new(Cursor::new(bytes));
        reader.set_max_depth(DEEPEST);
        let message = Self::deserialize(&mut reader).map_err(|error| bad(reason(&error)))?;
        let left = bytes.len() as u64 - reader.position();
        if left > 0 {
            return Err(bad(format!("it is followed by {left} bytes too many")));
        }
        message.checked().map_err(bad)
    }

    /// The message as the page sends it.
    pub fn to_bytes(&self) -> Vec<u8> {
        super::to_bytes(self)
    }

    /// The message with its numbers checked; directions are taken in hundredths, at most of length 1 but for their rounding,
    /// which is what a link can hold.
    fn checked(self) -> Result<Self, String> {
        match &self {
            Self::Steer { sequence, direction, gait, facing } => {
                return Ok(Self::Steer {
                    sequence: *sequence,
                    direction: in_hundredths("direction", *direction)?,
                    gait: *gait,
                    facing: facing.map(|facing| in_hundredths("facing", facing)).transpose()?,
                });
            }
            Self::Push(push) => {
                small("impulse_ns", &push.impulse_ns.to_array())?;
                small("point_local", &push.point_local.to_array())?;
                if push.impulse_ns.length() > LARGEST_PUSH_NS {
                    return Err(format!("a push is of {LARGEST_PUSH_NS} N·s at most"));
                }
                if push.point_local.length() > FARTHEST_POINT_M {
                    return Err(format!("a push acts within {FARTHEST_POINT_M} m of the body's joint"));
                }
            }
            Self::Throw(throw) => {
                small("side_m, mass_kg", &[throw.side_m, throw.mass_kg])?;
                small("position", &throw.position.to_array())?;
                small("velocity", &throw.velocity.to_array())?;
            }
            Self::Bump(bump) => {
                small("x, z, radius_m, height_m", &[bump.x, bump.z, bump.radius_m, bump.height_m])?;
            }
            // The world knows the ranges of these.
            Self::Reset { .. }
            | Self::Pause {}
            | Self::Resume {}
            | Self::Step {}
            | Self::Pace { .. }
            | Self::Rewind { .. }
            | Self::Assist { .. }
            | Self::Denoise { .. }
            | Self::Style { .. }
            | Self::Link {} => {}
        }
        Ok(self)
    }
}

/// A direction in hundredths, at most of length 1 but for their rounding.
fn in_hundredths(field: &str, direction: Vec2) -> Result<Vec2, String> {
    small(field, &direction.to_array())?;
    let hundredths = |direction: Vec2| (direction * 100.0).round() / 100.0;
    // What was read before is longer than 1 by its rounding; to shorten it again would turn it.
    let is_read = hundredths(direction) == direction && direction.length() <= LONGEST_ROUNDED;
    Ok(if is_read { direction } else { hundredths(direction.clamp_length_max(1.0)) })
}

fn small(field: &str, values: &[f32]) -> Result<(), String> {
    match values.iter().find(|value| value.is_nan() || value.abs() >= LARGEST_NUMBER) {
        None => Ok(()),
        Some(value) => Err(format!("{field} has the number {value}")),
    }
}

/// What is wrong with a message, in words.
fn reason(error: &Error) -> String {
    match error {
        Error::InvalidMarkerRead(_) | Error::InvalidDataRead(_) => "it is cut off".to_owned(),
        Error::DepthLimitExceeded => format!("it is nested deeper than {DEEPEST} levels"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const SHOVE: PushRequest =
        PushRequest { body: 11, impulse_ns: Vec3::new(80.0, 0.0, 0.0), point_local: Vec3::ZERO };
    const THROW: ThrowRequest = ThrowRequest {
        side_m: 0.3,
        mass_kg: 5.0,
        position: Vec3::new(1.0, 2.0, 3.0),
        velocity: Vec3::new(0.0, 1.0, -9.0),
    };
    const BUMP: Bump = Bump { x: 4.0, z: -2.0, radius_m: 1.5, height_m: 0.1 };

    fn steer(direction: Vec2) -> FromPage {
        FromPage::Steer { sequence: 7, direction, gait: Gait::Walk, facing: None }
    }

    /// One of each kind.
    fn all() -> Vec<FromPage> {
        let scene = json!({
            "terrain": "flat", "seed": 3, "friction": 0.9, "mass_kg": 75, "assist": 1, "denoising_steps": 4,
            "events": [{"steer": [3, 0.5, -1, "walk"]}, {"steer_facing": [4, 0, 1, "walk", [1, 0]]}, {"push": [9, 2, [1, 0, 0], [0, 0, 0]]}],
        });
        let scene = serde_json::from_value(scene).unwrap();
        vec![
            steer(Vec2::new(0.6, 0.8)),
            FromPage::Steer { sequence: 8, direction: Vec2::X, gait: Gait::Walk, facing: Some(Vec2::Y) },
            FromPage::Push(SHOVE),
            FromPage::Throw(THROW),
            FromPage::Bump(BUMP),
            FromPage::Reset { scene: None },
            FromPage::Reset { scene: Some(scene) },
            FromPage::Pause {},
            FromPage::Resume {},
            FromPage::Step {},
            FromPage::Pace { factor: 0.25 },
            FromPage::Rewind { seconds: 1.0 },
            FromPage::Assist { scale: 0.5 },
            FromPage::Denoise { steps: 4 },
            FromPage::Style { style: 1, weight: 0.5 },
            FromPage::Link {},
        ]
    }

    /// A message as another program may write it.
    fn written(value: &Value) -> Vec<u8> {
        rmp_serde::to_vec_named(value).unwrap()
    }

    fn refusal(bytes: &[u8]) -> String {
        FromPage::parse(bytes).unwrap_err().to_string()
    }

    #[test]
    fn every_message_is_read_as_it_was_meant_and_no_byte_less_or_more() {
        for message in all() {
            let bytes = message.to_bytes();
            assert_eq!(FromPage::parse(&bytes).unwrap(), message);
            for end in 1..bytes.len() {
                assert!(refusal(&bytes[..end]).contains("cut off"), "{message:?}: {end} bytes");
            }
            assert!(refusal(&[bytes, vec![0]].concat()).contains("1 bytes too many"));
        }
    }

    #[test]
    fn the_names_of_the_fields_are_what_the_page_writes_and_whole_numbers_will_do() {
        let push = json!({ "do": "push", "body": 11, "impulse_ns": [80, 0, 0], "point_local": [0, 0.0, 0] });
        assert_eq!(FromPage::parse(&written(&push)).unwrap(), FromPage::Push(SHOVE));
        let steering = json!({ "gait": "walk", "direction": [0.6, 0.8], "sequence": 7, "do": "steer" });
        assert_eq!(FromPage::parse(&written(&steering)).unwrap(), steer(Vec2::new(0.6, 0.8)));
    }

    #[test]
    fn a_direction_is_no_longer_than_one() {
        let FromPage::Steer { direction, .. } =
            FromPage::parse(&steer(Vec2::new(3.0, 4.0)).to_bytes()).unwrap()
        else {
            panic!("it is steering");
        };
        assert!((direction - Vec2::new(0.6, 0.8)).length() < 1e-6);
    }

    #[test]
    fn a_direction_that_was_read_once_stays_as_it_is() {
        let read = |direction: Vec2| match FromPage::parse(&steer(direction).to_bytes()).unwrap() {
            FromPage::Steer { direction, .. } => direction,
            other => panic!("{other:?}"),
        };
        assert_eq!(read(Vec2::new(0.33, 0.95)), Vec2::new(0.33, 0.95), "1.0057 long");
        for degrees in 0..3600 {
            let once = read(Vec2::from_angle((0.1 * degrees as f32).to_radians()) * 2.0);
            assert_eq!(read(once), once);
        }
    }

    #[test]
    fn rejects_messages_that_are_empty_too_long_or_no_map() {
        assert!(refusal(&[]).contains("empty"));
        assert!(refusal(&vec![0x90; MAX_MESSAGE_BYTES + 1]).contains("bytes are more than"));
        for bytes in [&b"{\"do\":\"pause\"}"[..], &[99], &[0xc0], &[0xc1], &[0xff]] {
            assert!(FromPage::parse(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn rejects_numbers_that_are_not_finite_or_beyond_reason_by_the_name_of_the_field() {
        for bad in [f32::NAN, f32::INFINITY, -1e7] {
            assert!(refusal(&steer(Vec2::new(bad, 0.0)).to_bytes()).contains("direction"));
            let push = PushRequest { impulse_ns: Vec3::new(0.0, bad, 0.0), ..SHOVE };
            assert!(refusal(&FromPage::Push(push).to_bytes()).contains("impulse_ns"));
            let throw = ThrowRequest { velocity: Vec3::new(0.0, 0.0, bad), ..THROW };
            assert!(refusal(&FromPage::Throw(throw).to_bytes()).contains("velocity"));
            assert!(refusal(&FromPage::Bump(Bump { x: bad, ..BUMP }).to_bytes()).contains("x, z"));
        }
        let hard = PushRequest { impulse_ns: Vec3::X * 3000.0, ..SHOVE };
        assert!(refusal(&FromPage::Push(hard).to_bytes()).contains("2000 N·s"));
        let beside = PushRequest { point_local: Vec3::Y * 9.0, ..SHOVE };
        assert!(refusal(&FromPage::Push(beside).to_bytes()).contains("within 1 m"));
        // A 64-bit number that no 32-bit one holds.
        let huge = json!({ "do": "bump", "x": 1e300, "z": 0, "radius_m": 1, "height_m": 0 });
        assert!(refusal(&written(&huge)).contains("x, z"));
    }

    #[test]
    fn rejects_unknown_words_and_says_which() {
        for (message, word) in [
            (json!({ "do": "explode" }), "explode"),
            (json!({ "do": "pause", "now": true }), "now"),
            (json!({ "do": "pace" }), "factor"),
            (json!({ "do": "pace", "factor": "fast" }), "fast"),
            (json!({ "do": "push", "body": 1, "impulse_ns": [0, 0], "point_local": [0, 0, 0] }), "length 2"),
            (json!({ "do": "push", "body": -1, "impulse_ns": [0, 0, 0], "point_local": [0, 0, 0] }), "-1"),
            (json!({ "do": "steer", "sequence": 1, "direction": [0, 1], "gait": "swim" }), "swim"),
            (json!({ "do": "reset", "scene": { "terrain": "flat" } }), "seed"),
            (json!({ "pause": {} }), "do"),
            (json!([1, 2]), "1"),
        ] {
            let said = refusal(&written(&message));
            assert!(said.contains(word), "{message}: {said}");
        }
    }

    #[test]
    fn rejects_text_that_is_no_utf8_nesting_without_end_and_lengths_that_lie() {
        for text in [&b"\xff\xfe"[..], b"\xc3\x28", b"\xed\xa0\x80"] {
            let bytes = [&[0x81, 0xa2][..], b"do", &[0xa0 | text.len() as u8], text].concat();
            assert!(FromPage::parse(&bytes).is_err(), "{text:?}");
        }
        let begun = [&[0x82, 0xa2][..], b"do", &[0xa5], b"reset", &[0xa5], b"scene"].concat();
        let deep = [begun.clone(), vec![0x91; 500_000]].concat();
        assert!(refusal(&deep).contains("nested"), "{}", refusal(&deep));
        // Four thousand million elements, bytes, letters, pairs of which none follows.
        for marker in [0xdd, 0xc6, 0xdb, 0xdf] {
            let bytes = [begun.clone(), vec![marker, 0xff, 0xff, 0xff, 0xff]].concat();
            assert!(FromPage::parse(&bytes).is_err(), "{marker:x}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_are_read_as_something_that_is_not_finite(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _read = FromPage::parse(&bytes);
        }

        #[test]
        fn changed_messages_are_refused_or_finite(
            which in 0usize..15, changes in prop::collection::vec((any::<u16>(), any::<u8>()), 1..4),
        ) {
            let mut bytes = all()[which].to_bytes();
            for (at, byte) in changes {
                let at = usize::from(at) % bytes.len();
                bytes[at] = byte;
            }
            match FromPage::parse(&bytes) {
                Ok(FromPage::Steer { direction, facing, .. }) => {
                    prop_assert!(direction.length() <= 1.01 && facing.unwrap_or_default().length() <= 1.01);
                }
                Ok(FromPage::Push(push)) => prop_assert!(push.impulse_ns.is_finite() && push.point_local.is_finite()),
                Ok(FromPage::Throw(thrown)) => prop_assert!(thrown.position.is_finite() && thrown.velocity.is_finite()),
                Ok(FromPage::Bump(bump)) => prop_assert!(bump.x.is_finite() && bump.height_m.is_finite()),
                Ok(_) | Err(_) => {}
            }
        }

        #[test]
        fn every_steering_comes_through(
            x in -1f32..1.0, z in -1f32..1.0, gait in 0usize..8, sequence: u32, faces: bool,
        ) {
            let facing = faces.then_some(Vec2::new(z, x));
            let sent = FromPage::Steer { sequence, direction: Vec2::new(x, z), gait: Gait::ALL[gait], facing };
            let read = FromPage::parse(&sent.to_bytes()).unwrap();
            let FromPage::Steer { sequence: found, direction, gait: asked, facing: faced } = read else {
                panic!("it is steering")
            };
            prop_assert_eq!((found, asked, faced.is_some()), (sequence, Gait::ALL[gait], faces));
            let near = |read: Vec2, sent: Vec2| (read - sent.clamp_length_max(1.0)).length() < 0.01;
            prop_assert!(near(direction, Vec2::new(x, z)));
            prop_assert!(near(faced.unwrap_or_default(), facing.unwrap_or_default()));
        }
    }
}
