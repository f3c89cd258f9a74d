use crate::arrows::{Arrow, BodyPlaces, GRAVITY, PushView, contact_arrows};
use crate::camera::{Camera, CameraTrack};
use crate::canvas::{Band, Canvas, Layer, Light, SAMPLES, Workspace};
use crate::check::check;
use crate::color::Palette;
use crate::figure::{Figure, Skin};
use crate::ground::{Ground, GroundView};
use crate::overlay;
use crate::shadow::{ShadowMask, Softness};
use crate::volume::Volume;
use crate::{Ghost, Image, RenderError, RenderOptions, Theme, View};
use glam::{Quat, Vec3};
use pomp_motion::{FrameTable, Recording};
use std::sync::{Mutex, PoisonError};

/// A recording made ready to be drawn frame by frame.
pub struct Renderer<'a> {
    recording: &'a Recording,
    options: &'a RenderOptions,
    panels: Vec<Panel>,
    ground: Ground<'a>,
    figure: Figure,
    bodies: Option<BodyPlaces>,
    palette: Palette,
    /// Memory of frames that are done, for the next.
    spare: Mutex<Vec<Workspace>>,
}

/// One view of one motion.
struct Panel {
    simulated: bool,
    width: u32,
    track: CameraTrack,
    title: Option<&'static str>,
}

impl<'a> Renderer<'a> {
    /// Checks recording and options and works out the path of the camera.
    ///
    /// # Errors
    /// [`RenderError::BadOption`] for an option outside of its range, [`RenderError::BadRecording`] and
    /// [`RenderError::NotFinite`] for a recording that breaks its rules, [`RenderError::NothingToDraw`] when the
    /// view needs a simulated motion and there is none, [`RenderError::UnknownBody`] and [`RenderError::BadPush`]
    /// for arrows without a place.
    pub fn new(recording: &'a Recording, options: &'a RenderOptions) -> Result<Self, RenderError> {
        check(recording, options)?;
        let ground = Ground::new(recording.terrain.as_ref());
        let figure = Figure::new(&recording.skeleton);
        let bodies = recording
            .simulation
            .as_ref()
            .filter(|_| options.contact_arrows || options.push_arrows)
            .map(|simulation| BodyPlaces::new(&recording.skeleton, &simulation.body_names))
            .transpose()?;
        let shown = match options.view {
            View::Auto => vec![(recording.simulation.is_some(), None)],
            View::Clip => vec![(false, None)],
            View::Simulated => vec![(true, None)],
            View::SideBySide => vec![(false, Some("clip")), (true, Some("simulated"))],
        };
        let count = shown.len() as u32;
        let panels = shown
            .into_iter()
            .map(|(simulated, title)| {
                let positions = positions_of(recording, simulated);
                let roots: Vec<Vec3> = positions.rows().map(|row| ground.under(row[0])).collect();
                let track = CameraTrack::new(recording, &roots, &options.camera);
                Panel { simulated, width: options.width / count, track, title }
            })
            .collect();
        let palette = Palette::of(options.theme);
        Ok(Self { recording, options, panels, ground, figure, bodies, palette, spare: Mutex::default() })
    }

    /// Draws a frame of the recording.
    ///
    /// # Errors
    /// [`RenderError::FrameOutOfRange`].
    pub fn frame(&self, frame: usize) -> Result<Image, RenderError> {
        let frames = self.recording.frames();
        if frame >= frames {
            return Err(RenderError::FrameOutOfRange { frame, frames });
        }
        if let [panel] = &self.panels[..] {
            return Ok(self.panel(panel, frame));
        }
        let mut image = Image::filled(self.options.width, self.options.height, self.palette.halo);
        for (index, panel) in self.panels.iter().enumerate() {
            image.place(&self.panel(panel, frame), index as u32 * panel.width, 0);
        }
        let middle = self.panels[0].width as i32;
        for y in 0..self.options.height as i32 {
            image.blend(middle, y, self.palette.text_soft, 0.6);
        }
        Ok(image)
    }

    /// The frames of the recording that an animation at the options' rate shows.
    pub fn animation_frames(&self) -> Vec<usize> {
        let range = self.range();
        let step = f64::from(self.options.delay_cs()) / 100.0
            * f64::from(self.options.playback_speed)
            * f64::from(self.recording.frame_rate_hz);
        (0..)
            .map(|i| range.start + (f64::from(i) * step).round() as usize)
            .take_while(|&frame| frame < range.end)
            .collect()
    }

    /// The part of the recording that is shown.
    pub(crate) fn range(&self) -> std::ops::Range<usize> {
        self.options.frames.clone().unwrap_or(0..self.recording.frames())
    }

    fn panel(&self, panel: &Panel, frame: usize) -> Image {
        let (recording, options) = (self.recording, self.options);
        let size = [panel.width as usize * SAMPLES, options.height as usize * SAMPLES];
        let focus = panel.track.focus[frame];
        let camera = self.camera(panel, frame, size);
        let light = self.light(panel.track.azimuth[frame]);

        let positions = positions_of(recording, panel.simulated);
        let rotations = match (&recording.simulation, panel.simulated) {
            (Some(simulation), true) => &simulation.quaternions[frame],
            _ => &recording.quaternions[frame],
        };
        let body = self.figure.volumes(&positions[frame], Some(rotations), &Skin::solid(&self.palette));
        let ghost = self.ghost(panel, frame, camera.right);
        let mut casters = body.clone();
        if options.ghost_offset_m != 0.0 {
            casters.extend(&ghost);
        }
        let ground_y = self.ground.under(positions[frame][0]).y;
        let sun_edge = Softness { least_m: 0.018, per_height: 0.045 };
        let sky_edge = Softness { least_m: 0.07, per_height: 0.22 };
        let view = GroundView {
            camera: &camera,
            focus,
            to_sun: light.to_sun,
            palette: &self.palette,
            sun_shadow: &ShadowMask::new(&casters, light.to_sun, sun_edge, ground_y),
            sky_shadow: &ShadowMask::new(&casters, Vec3::Y, sky_edge, ground_y),
        };

        let mut workspace = self.spare().pop().unwrap_or_else(|| Workspace::new(size));
        let Workspace { canvas, sunlight, layer, glass } = &mut workspace;
        self.ground.draw(canvas, sunlight, &view);
        self.draw_paths(canvas, layer, &camera, positions, frame);
        glass.draw_glass(&camera, &ghost, canvas);
        canvas.draw_volumes(&camera, &body, &light);
        glass.fade_near(canvas);
        canvas.composite(glass);
        let (contacts, pushes) = self.arrows(panel, frame);
        for arrows in [&contacts, &pushes] {
            let volumes: Vec<Volume> =
                arrows.iter().flat_map(|arrow| arrow.volumes.iter().copied()).collect();
            layer.draw_volumes(&camera, &volumes, &light);
            canvas.composite(layer);
        }

        let mut image = canvas.to_image();
        self.spare().push(workspace);
        let place = |arrow: &Arrow| {
            let at = camera.project(arrow.label_at)?;
            Some(([at.x / SAMPLES as f32, at.y / SAMPLES as f32], arrow.label.clone()))
        };
        let labels = |arrows: &[Arrow]| arrows.iter().filter_map(place).collect::<Vec<_>>();
        overlay::labels(&mut image, &labels(&contacts), self.palette.contact_text, self.palette.halo);
        overlay::labels(&mut image, &labels(&pushes), self.palette.push_text, self.palette.halo);
        if options.overlay {
            let line = overlay::StatusLine::of(recording, positions, panel.simulated, frame);
            line.draw(&mut image, panel.title, &self.palette);
        }
        image
    }

    /// A panic in another thread leaves whole workspaces or none behind.
    fn spare(&self) -> std::sync::MutexGuard<'_, Vec<Workspace>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn camera(&self, panel: &Panel, frame: usize, size: [usize; 2]) -> Camera {
        let options = &self.options.camera;
        let target = panel.track.focus[frame] + Vec3::Y * (0.50 * self.figure.height_m);
        let (sin, cos) = panel.track.azimuth[frame].sin_cos();
        let (lift, flat) = options.elevation_rad.sin_cos();
        let away = Vec3::new(sin * flat, lift, cos * flat);
        let mut eye = target + away * (options.distance_heights * self.figure.height_m);
        eye.y = eye.y.max(self.ground.under(eye).y + 0.25 * self.figure.height_m);
        Camera::look_at(eye, target, options.field_of_view_rad, size)
    }

    /// The sun stands behind the camera's left shoulder.
    fn light(&self, camera_azimuth: f32) -> Light {
        let (sin, cos) = (camera_azimuth - 0.95).sin_cos();
        let exposure = match self.options.theme {
            Theme::Light => 1.0,
            Theme::Dark => 0.92,
        };
        Light { to_sun: Vec3::new(sin * 0.6, 0.95, cos * 0.6).normalize(), exposure }
    }

    fn ghost(&self, panel: &Panel, frame: usize, right: Vec3) -> Vec<Volume> {
        let recording = self.recording;
        let source: Option<(&[Vec3], Option<&[Quat]>)> = match self.options.ghost {
            Ghost::None => None,
            Ghost::Target => recording.generation.as_ref().map(|g| (&g.target_positions[frame], None)),
            Ghost::Clip => {
                panel.simulated.then(|| (&recording.positions[frame], Some(&recording.quaternions[frame])))
            }
        };
        let Some((positions, rotations)) = source else { return Vec::new() };
        let shift = right * self.options.ghost_offset_m;
        let positions: Vec<Vec3> = positions.iter().map(|&p| p + shift).collect();
        let alpha = if self.options.ghost_offset_m == 0.0 { 0.62 } else { 0.8 };
        self.figure.volumes(&positions, rotations, &Skin::glass(self.palette.ghost, alpha))
    }

    /// Trail of the root and commanded path, on the ground.
    fn draw_paths(
        &self,
        canvas: &mut Canvas,
        layer: &mut Layer,
        camera: &Camera,
        positions: &FrameTable<Vec3>,
        frame: usize,
    ) {
        let (options, rate_hz) = (self.options, self.recording.frame_rate_hz);
        // Ten points a second are enough for a smooth line.
        let stride = ((rate_hz / 12.0).round() as usize).max(1);
        let on_ground = |p: Vec3| self.ground.under(p) + Vec3::Y * 0.006;
        if let Some(generation) = self.recording.generation.as_ref().filter(|_| options.control_path) {
            let reach = rate_hz.round() as usize;
            let (first, last) =
                (frame.saturating_sub(reach), (frame + 2 * reach).min(positions.frames() - 1));
            let points: Vec<(Vec3, f32)> = (first / stride * stride..=last)
                .step_by(stride)
                .map(|i| {
                    let [x, z, ..] = generation.control[i];
                    let ahead = (i as f32 - frame as f32) / rate_hz;
                    (on_ground(Vec3::new(x, 0.0, z)), (0.9 - 0.4 * ahead.abs()).max(0.0))
                })
                .collect();
            let band = Band { width_m: 0.05, rgb: self.palette.control };
            canvas.draw_ribbon(camera, &points, band, layer);
            canvas.composite(layer);
            let [x, z, heading, _] = generation.control[frame];
            let (forward, side) =
                (Vec3::new(heading.sin(), 0.0, heading.cos()), Vec3::new(heading.cos(), 0.0, -heading.sin()));
            let at = on_ground(Vec3::new(x, 0.0, z)) + Vec3::Y * 0.004;
            let corners = [at + forward * 0.24, at + side * 0.1, at - side * 0.1];
            canvas.fill_convex(camera, &corners, self.palette.control, 240, layer);
            canvas.composite(layer);
        }
        let length = (options.trail_s * rate_hz).round() as usize;
        if length > 0 {
            let first = frame.saturating_sub(length);
            let mut points: Vec<(Vec3, f32)> = (first.div_ceil(stride) * stride..frame)
                .step_by(stride)
                .chain([frame])
                .map(|i| (on_ground(positions[i][0]), 0.75 * (1.0 - (frame - i) as f32 / length as f32)))
                .collect();
            points.dedup_by(|a, b| (a.0 - b.0).length() < 0.01);
            let band = Band { width_m: 0.035, rgb: self.palette.trail };
            canvas.draw_ribbon(camera, &points, band, layer);
            canvas.composite(layer);
        }
    }

    /// Contact and push arrows of a panel.
    fn arrows(&self, panel: &Panel, frame: usize) -> (Vec<Arrow>, Vec<Arrow>) {
        let (recording, options) = (self.recording, self.options);
        let (Some(simulation), Some(bodies), true) = (&recording.simulation, &self.bodies, panel.simulated)
        else {
            return (Vec::new(), Vec::new());
        };
        let contacts = if options.contact_arrows {
            let step =
                f32::from(options.delay_cs()) / 100.0 * options.playback_speed * recording.frame_rate_hz;
            let first = (frame + 1).saturating_sub(step.round().max(1.0) as usize);
            contact_arrows(
                simulation,
                bodies,
                first..=frame,
                recording.frame_rate_hz,
                &self.ground,
                &self.palette,
            )
        } else {
            Vec::new()
        };
        let pushes = match recording.generation.as_ref().filter(|_| options.push_arrows) {
            Some(generation) => PushView {
                positions: &simulation.positions,
                frame,
                frame_rate_hz: recording.frame_rate_hz,
                visible_s: options.push_visible_s,
                mass_kg: simulation.body_mass_kg.iter().sum(),
            }
            .arrows(&generation.pushes, bodies, &self.palette),
            None => Vec::new(),
        };
        (contacts, pushes)
    }
}

/// The shown positions; [`check`] has made sure that a simulated motion exists where it is asked for.
fn positions_of(recording: &Recording, simulated: bool) -> &FrameTable<Vec3> {
    match (&recording.simulation, simulated) {
        (Some(simulation), true) => &simulation.positions,
        _ => &recording.positions,
    }
}

/// Force in body weights of a simulation.
pub(crate) fn weights(force_n: Vec3, body_mass_kg: &[f32]) -> f32 {
    force_n.length() / (body_mass_kg.iter().sum::<f32>() * GRAVITY)
}

/// Draws one frame of a recording; to draw several, keep a [`Renderer`].
///
/// # Errors
/// As [`Renderer::new`] and [`Renderer::frame`].
pub fn render_frame(
    recording: &Recording,
    frame: usize,
    options: &RenderOptions,
) -> Result<Image, RenderError> {
    Renderer::new(recording, options)?.frame(frame)
}
