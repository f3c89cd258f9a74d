use crate::PreprocessConfig;
use pomp_augment::ReliefKind;

/// A result made from a clip or its mirror image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// On the ground reconstructed from its feet; from 1 on with other terrain where no foot touches.
    Fitted(usize),
    /// Laid on a relief.
    Warped(ReliefKind),
    /// Walked at the slower pace of this number, from 0.
    Paced(usize),
    /// Walked reversed in time.
    Reversed,
    /// Walked in another style.
    InStyle,
    /// Pushed on its own ground.
    Bumped,
    /// With a fall and a get-up on its own ground.
    Felled,
}

impl Variant {
    /// Whether only a clip on level ground has it.
    pub fn needs_level_ground(self) -> bool {
        match self {
            Self::Fitted(_) | Self::Bumped => false,
            Self::Warped(_) | Self::Paced(_) | Self::Reversed | Self::InStyle | Self::Felled => true,
        }
    }
}

/// A planned result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    /// Its name.
    pub name: String,
    /// Whether it is of the mirror image.
    pub mirrored: bool,
    /// Its kind.
    pub variant: Variant,
}

/// All results of a clip, in the order in which they are made: `NAME`, `NAME_terrain1` …, `NAME_terrain_slope1` …,
/// `NAME_terrain0_pace1` …, `NAME_terrain0_reversed`, `NAME_terrain0_style1` …, `NAME_terrain0_bump1` …, `NAME_terrain0_fall1` …,
/// and the same of `NAME_mirrored`.
///
/// What follows the name of the clip or its mirror image begins with `_terrain` in all of them, which is how readers
/// find the results of one clip.
pub(crate) fn planned(name: &str, config: &PreprocessConfig) -> Vec<Planned> {
    let mut planned = Vec::new();
    for mirrored in [false, true].into_iter().take(1 + usize::from(config.mirror)) {
        let base = if mirrored { format!("{name}_mirrored") } else { name.to_owned() };
        let mut add = |name: String, variant| planned.push(Planned { name, mirrored, variant });
        for variant in 0..config.terrain_variants.max(1) {
            let name = if variant > 0 { format!("{base}_terrain{variant}") } else { base.clone() };
            add(name, Variant::Fitted(variant));
        }
        let kinds = &config.warp.kinds;
        let first = pomp_motion::random::Draws::of_name(config.warp.seed, &base).below(kinds.len().max(1));
        for variant in 0..config.warp.variants {
            let kind = kinds[(first + variant) % kinds.len()];
            add(format!("{base}_terrain_{}{}", kind.name(), variant + 1), Variant::Warped(kind));
        }
        for variant in 0..config.pace.variants {
            add(format!("{base}_terrain0_pace{}", variant + 1), Variant::Paced(variant));
        }
        if config.reverse_walks {
            add(format!("{base}_terrain0_reversed"), Variant::Reversed);
        }
        for variant in 1..=config.style.variants {
            add(format!("{base}_terrain0_style{variant}"), Variant::InStyle);
        }
        for variant in 1..=config.bumps.variants {
            add(format!("{base}_terrain0_bump{variant}"), Variant::Bumped);
        }
        for variant in 1..=config.falls.variants {
            add(format!("{base}_terrain0_fall{variant}"), Variant::Felled);
        }
    }
    planned
}
