use crate::RenderError;
use std::ops::Range;

/// Which motion of the recording is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum View {
    /// The simulated motion where there is one, else the clip.
    #[default]
    Auto,
    /// The recorded positions.
    Clip,
    /// The simulated motion; an error where there is none.
    Simulated,
    /// Two panels: the clip on the left, the simulated motion on the right.
    SideBySide,
}

/// A second, translucent figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Ghost {
    /// No second figure.
    None,
    /// The target pose of the kinematic module, in recordings that have one.
    #[default]
    Target,
    /// The clip, beside the simulated motion, in recordings that have one.
    Clip,
}

/// Where the camera looks from, seen from above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Azimuth {
    /// Fixed in the world, radians: 0 stands at +Z and looks to -Z, a quarter turn stands at +X.
    World(f32),
    /// Relative to the direction of travel of the whole recording (or to the first heading, where it stays
    /// in place), radians: 0 looks into the character's face, positive sees its left side.
    Travel(f32),
    /// Relative to the heading, which it follows smoothly, radians; 0 looks into the character's face.
    Heading(f32),
}

/// The camera: it follows the smoothed root at a constant distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraOptions {
    /// Side from which it looks; default `Travel(0.9)`, three quarters from the front and the left.
    pub azimuth: Azimuth,
    /// Angle above the horizon, radians, 0 to 1.5, default 0.26. More shows more ground and less figure.
    pub elevation_rad: f32,
    /// Distance to the middle of the figure, body heights, 1 to 50, default 3.1.
    pub distance_heights: f32,
    /// Vertical field of view, radians, 0.1 to 2, default 0.56. More exaggerates depth.
    pub field_of_view_rad: f32,
    /// Standard deviation of the smoothing of the followed root, seconds, 0 to 10, default 0.35. Too little
    /// shakes with each step, too much loses fast characters.
    pub smoothing_s: f32,
}

impl Default for CameraOptions {
    fn default() -> Self {
        Self {
            azimuth: Azimuth::Travel(0.9),
            elevation_rad: 0.26,
            distance_heights: 2.6,
            field_of_view_rad: 0.56,
            smoothing_s: 0.35,
        }
    }
}

/// Colours of ground, sky and text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Theme {
    /// Light ground and sky.
    #[default]
    Light,
    /// Dark ground and sky.
    Dark,
}

/// What is drawn and how.
#[derive(Clone, Debug, PartialEq)]
pub struct RenderOptions {
    /// Width, pixels, 32 to 4096, default 480. Of both panels together in [`View::SideBySide`].
    pub width: u32,
    /// Height, pixels, 32 to 4096, default 360.
    pub height: u32,
    /// Pictures per second of animations, 1 to 50, default 25. GIF counts in hundredths of a second, so the
    /// step is rounded to one: 30 plays at 33.3 with the same motion speed.
    pub fps: f32,
    /// Seconds of motion per second of animation, 0.01 to 100, default 1; less is slow motion.
    pub playback_speed: f32,
    /// Frames of the recording to show; all by default.
    pub frames: Option<Range<usize>>,
    /// Which motion.
    pub view: View,
    /// The camera.
    pub camera: CameraOptions,
    /// The colours.
    pub theme: Theme,
    /// The second figure.
    pub ghost: Ghost,
    /// Shift of the second figure to the right of the picture, metres, default 0: over the first.
    pub ghost_offset_m: f32,
    /// Arrows for the contact impulses of the simulated motion, as forces in body weights; default on.
    pub contact_arrows: bool,
    /// Arrows for pushes; default on.
    pub push_arrows: bool,
    /// How long a push stays visible, seconds of motion, 0 to 10, default 0.4.
    pub push_visible_s: f32,
    /// Line of commanded root positions; default on.
    pub control_path: bool,
    /// Length of the line behind the root, seconds, 0 (off) to 60, default 2.5.
    pub trail_s: f32,
    /// Line of time, speed, gait and assist; default on.
    pub overlay: bool,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self {
            width: 480,
            height: 360,
            fps: 25.0,
            playback_speed: 1.0,
            frames: None,
            view: View::Auto,
            camera: CameraOptions::default(),
            theme: Theme::Light,
            ghost: Ghost::Target,
            ghost_offset_m: 0.0,
            contact_arrows: true,
            push_arrows: true,
            push_visible_s: 0.4,
            control_path: true,
            trail_s: 2.5,
            overlay: true,
        }
    }
}

impl RenderOptions {
    /// Hundredths of a second between two pictures.
    pub(crate) fn delay_cs(&self) -> u16 {
        (100.0 / self.fps).round().clamp(2.0, 100.0) as u16
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`RenderError::BadOption`] with the first option that is outside of its range.
    pub fn validate(&self) -> Result<(), RenderError> {
        let angle = match self.camera.azimuth {
            Azimuth::World(angle) | Azimuth::Travel(angle) | Azimuth::Heading(angle) => angle,
        };
        let sizes = [("width", self.width), ("height", self.height)];
        for (option, value) in sizes {
            if !(32..=4096).contains(&value) {
                let reason = "a picture has 32 to 4096 pixels a side";
                return Err(RenderError::BadOption { option, value: value.to_string(), reason });
            }
        }
        let ranges = [
            ("fps", self.fps, 1.0..=50.0, "it lies between 1 and 50, which GIF can play"),
            ("playback_speed", self.playback_speed, 0.01..=100.0, "it lies between 0.01 and 100"),
            ("ghost_offset_m", self.ghost_offset_m, -100.0..=100.0, "it lies between -100 and 100"),
            ("push_visible_s", self.push_visible_s, 0.0..=10.0, "it lies between 0 and 10"),
            ("trail_s", self.trail_s, 0.0..=60.0, "it lies between 0 and 60"),
            ("camera.azimuth", angle, -1e3..=1e3, "it is an angle in radians"),
            ("camera.elevation_rad", self.camera.elevation_rad, 0.0..=1.5, "it lies between 0 and 1.5"),
            ("camera.distance_heights", self.camera.distance_heights, 1.0..=50.0, "it lies between 1 and 50"),
            (
                "camera.field_of_view_rad",
                self.camera.field_of_view_rad,
                0.1..=2.0,
                "it lies between 0.1 and 2",
            ),
            ("camera.smoothing_s", self.camera.smoothing_s, 0.0..=10.0, "it lies between 0 and 10"),
        ];
        for (option, value, range, reason) in ranges {
            if !range.contains(&value) {
                return Err(RenderError::BadOption { option, value: value.to_string(), reason });
            }
        }
        Ok(())
    }
}
