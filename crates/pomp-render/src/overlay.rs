use crate::Image;
use crate::color::Palette;
use crate::scene::weights;
use crate::text::{Face, draw, draw_outlined};
use glam::Vec2;
use pomp_motion::{FrameTable, Gait, Recording};

/// Half the time over which the speed is measured, seconds: about a quarter of a step.
const SPEED_WINDOW_S: f32 = 0.12;

/// What the first line of a picture says.
pub(crate) struct StatusLine {
    time: String,
    facts: Vec<String>,
}

impl StatusLine {
    pub(crate) fn of(
        recording: &Recording,
        positions: &FrameTable<glam::Vec3>,
        simulated: bool,
        frame: usize,
    ) -> Self {
        let rate_hz = recording.frame_rate_hz;
        let window = ((SPEED_WINDOW_S * rate_hz).round() as usize).max(1);
        let (from, to) = (frame.saturating_sub(window), (frame + window).min(positions.frames() - 1));
        let way = positions[to][0] - positions[from][0];
        let speed = Vec2::new(way.x, way.z).length() * rate_hz / (to - from).max(1) as f32;
        let gait = Gait::dominant(&recording.gait[frame]).name().replace('_', " ");
        let mut facts = vec![format!("{speed:.1} m/s"), gait];
        if let (Some(simulation), true) = (&recording.simulation, simulated) {
            let share = weights(simulation.assist_force[frame], &simulation.body_mass_kg);
            facts.push(format!("assist {:.0} % BW", 100.0 * share));
        }
        Self { time: format!("{:.2} s", frame as f32 / rate_hz), facts }
    }

    pub(crate) fn draw(&self, image: &mut Image, title: Option<&str>, palette: &Palette) {
        let large = image.height() >= 240;
        let (strong, plain) = if large { (Face::Bold, Face::Regular) } else { (Face::Small, Face::Small) };
        let margin = if large { 10 } else { 4 };
        let [_, line] = strong.size("");
        let mut y = margin - 2;
        if let Some(title) = title {
            draw(image, [margin, y], title, strong, palette.text);
            y += line + 2;
        }
        draw(image, [margin, y], &self.time, strong, palette.text);
        let mut x = margin + strong.size("00.00 s  ")[0];
        for fact in &self.facts {
            let [width, _] = plain.size(fact);
            if x + width > image.width() as i32 - margin && x > margin {
                x = margin;
                y += line + 2;
            }
            draw(image, [x, y], fact, plain, palette.text_soft);
            x += width + plain.size("  ")[0];
        }
    }
}

/// Writes labels to the right of their places, in pixels; one that would cover another goes below it.
pub(crate) fn labels(image: &mut Image, labels: &[([f32; 2], String)], color: [u8; 3], halo: [u8; 3]) {
    let face = if image.height() >= 240 { Face::Regular } else { Face::Small };
    let mut taken: Vec<[i32; 4]> = Vec::new();
    for ([x, y], text) in labels {
        let [width, height] = face.size(text);
        let clamp = |v: i32, size: i32, limit: u32| v.clamp(2, (limit as i32 - size - 2).max(2));
        let left = clamp(*x as i32 + 7, width, image.width());
        let mut top = *y as i32 - height / 2;
        while let Some(other) =
            taken.iter().find(|t| left < t[2] && t[0] < left + width && top < t[3] && t[1] < top + height)
        {
            top = other[3];
        }
        taken.push([left, top, left + width, top + height]);
        let at = [left, clamp(top, height, image.height())];
        draw_outlined(image, at, text, face, color, halo);
    }
}
