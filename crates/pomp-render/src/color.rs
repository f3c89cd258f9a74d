use crate::Theme;
use glam::Vec3;
use std::sync::LazyLock;

const ENCODE_STEPS: usize = 4095;

static ENCODED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    (0..=ENCODE_STEPS)
        .map(|i| {
            let linear = i as f32 / ENCODE_STEPS as f32;
            let srgb =
                if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
            (srgb * 255.0).round() as u8
        })
        .collect()
});

/// Linear light of an sRGB colour (IEC 61966-2-1).
pub(crate) fn linear(color: [u8; 3]) -> Vec3 {
    Vec3::from_array(color.map(|c| {
        let c = f32::from(c) / 255.0;
        if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    }))
}

/// sRGB bytes of linear light, clipped to what a screen can show.
pub(crate) fn encode(light: Vec3) -> [u8; 3] {
    let table = &*ENCODED;
    (light.clamp(Vec3::ZERO, Vec3::ONE) * ENCODE_STEPS as f32 + 0.5).to_array().map(|v| table[v as usize])
}

/// All colours of a picture; light that is shaded is linear, the rest sRGB.
#[derive(Clone, Debug)]
pub(crate) struct Palette {
    pub sky_top: Vec3,
    pub horizon: Vec3,
    pub ground: Vec3,
    pub ground_high: Vec3,
    pub ground_low: Vec3,
    pub grid: Vec3,
    pub shadow: Vec3,
    pub torso: Vec3,
    pub head: Vec3,
    pub visor: Vec3,
    pub left: Vec3,
    pub right: Vec3,
    pub ghost: Vec3,
    pub contact: Vec3,
    pub push: Vec3,
    pub trail: [u8; 3],
    pub control: [u8; 3],
    pub text: [u8; 3],
    pub text_soft: [u8; 3],
    pub halo: [u8; 3],
    pub contact_text: [u8; 3],
    pub push_text: [u8; 3],
}

impl Palette {
    pub(crate) fn of(theme: Theme) -> Self {
        let light = Self {
            sky_top: linear([222, 231, 240]),
            horizon: linear([241, 244, 247]),
            ground: linear([206, 214, 222]),
            ground_high: linear([226, 214, 192]),
            ground_low: linear([176, 196, 214]),
            grid: linear([236, 240, 244]),
            shadow: linear([92, 106, 128]),
            torso: linear([232, 230, 224]),
            head: linear([240, 238, 232]),
            visor: linear([44, 52, 66]),
            left: linear([240, 128, 84]),
            right: linear([58, 128, 190]),
            ghost: linear([60, 190, 150]),
            contact: linear([250, 190, 40]),
            push: linear([226, 30, 84]),
            trail: [120, 138, 160],
            control: [56, 168, 120],
            text: [38, 46, 58],
            text_soft: [104, 116, 132],
            halo: [244, 246, 248],
            contact_text: [150, 96, 0],
            push_text: [190, 12, 62],
        };
        match theme {
            Theme::Light => light,
            Theme::Dark => Self {
                sky_top: linear([18, 22, 30]),
                horizon: linear([30, 36, 46]),
                ground: linear([52, 60, 72]),
                ground_high: linear([92, 84, 70]),
                ground_low: linear([36, 52, 70]),
                grid: linear([84, 94, 110]),
                shadow: linear([12, 14, 20]),
                trail: [130, 146, 168],
                control: [70, 200, 140],
                text: [232, 236, 240],
                text_soft: [150, 162, 178],
                halo: [20, 24, 32],
                contact_text: [255, 206, 84],
                push_text: [255, 96, 136],
                ..light
            },
        }
    }
}
