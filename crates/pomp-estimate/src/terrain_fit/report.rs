use super::ground::{Ground, GroundKind};
use super::input::lifted_points;
use super::stance::Stance;
use super::{FitInput, TerrainFitConfig};
use glam::Vec2;
use pomp_motion::statistics::{median, percentile};
use pomp_terrain::HeightMap;
use serde::{Deserialize, Serialize};

/// Contact points this close stand at the same place, metres.
const SAME_PLACE_M: f32 = 0.06;
/// Contradictions listed one by one; the share counts them all.
const MOST_LISTED: usize = 20;

/// The same place at two heights.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contradiction {
    /// World x and z, metres.
    pub place: [f32; 2],
    /// The two heights, lower first, metres.
    pub heights_m: [f32; 2],
    /// First frames of the two stances.
    pub frames: [usize; 2],
}

impl std::fmt::Display for Contradiction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ([x, z], [low, high]) = (self.place, self.heights_m);
        write!(f, " (first at x {x:.2}, z {z:.2}: {low:.2} m and {high:.2} m)")
    }
}

/// How well the ground fits the clip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitReport {
    /// Form of the ground.
    pub ground: GroundKind,
    /// Median height of the stances, metres.
    pub level_m: f32,
    /// Angle of an inclined plane to the horizontal, degrees; 0 for other ground.
    pub incline_deg: f32,
    /// Lowest and highest height of the map, metres.
    pub min_max_m: [f32; 2],
    /// Stances found, those that carry the body.
    pub stances: usize,
    /// Stances left out: a foot held up while the other one stands, or a support (a rung, a footrest) with room
    /// below it that feet pass through.
    pub lifted_stances: usize,
    /// Median distance of planted soles from the ground, metres.
    pub planted_median_m: f32,
    /// 95th percentile of that distance, metres.
    pub planted_p95_m: f32,
    /// Share of the sole points in swing that are more than 1 cm inside the ground.
    pub swing_inside_share: f32,
    /// Deepest sole point in swing inside the ground, metres.
    pub swing_deepest_m: f32,
    /// Places at two heights, the first twenty.
    pub contradictions: Vec<Contradiction>,
    /// Share of the planted time in contradiction, or on supports with room below them.
    pub contradiction_share: f32,
    /// Cell of the map, metres.
    pub cell_m: f32,
    /// Mean error of the patches of this variant over the gait cycles, m²; 0 for variant 0.
    pub patch_error_m2: f32,
    /// Warnings, one sentence each.
    pub warnings: Vec<String>,
}

impl FitReport {
    pub(super) fn measured(
        input: &FitInput,
        config: &TerrainFitConfig,
        stances: &[Stance],
        ground: &Ground,
        map: &HeightMap,
    ) -> Self {
        let (contradictions, contradiction_share) = contradictions(stances, config.contradiction_m);
        let mut planted = Vec::new();
        for stance in stances.iter().filter(|stance| stance.bearing) {
            for frame in stance.frames.clone() {
                for point in [2 * stance.foot, 2 * stance.foot + 1] {
                    if input.contacts[frame][point] {
                        let p = input.soles[frame][point];
                        planted.push((p.y - map.height(p.x, p.z)).abs());
                    }
                }
            }
        }
        let (mut swing, mut inside, mut deepest) = (0usize, 0usize, 0.0f32);
        for frame in 0..input.frames() {
            for point in lifted_points(input, frame) {
                let p = input.soles[frame][point];
                let depth = map.height(p.x, p.z) - p.y;
                swing += 1;
                inside += usize::from(depth > 0.01);
                deepest = deepest.max(depth);
            }
        }
        let (low, high) = map.min_max();
        Self {
            ground: ground.kind,
            level_m: ground.level,
            incline_deg: ground.incline_deg(),
            min_max_m: [low, high],
            stances: stances.iter().filter(|s| s.bearing).count(),
            lifted_stances: stances.iter().filter(|s| !s.bearing).count(),
            planted_median_m: median(&planted).unwrap_or(0.0) as f32,
            planted_p95_m: percentile(&planted, 0.95).unwrap_or(0.0) as f32,
            swing_inside_share: inside as f32 / swing.max(1) as f32,
            swing_deepest_m: deepest,
            contradictions,
            contradiction_share,
            cell_m: map.cell_m(),
            patch_error_m2: 0.0,
            warnings: Vec::new(),
        }
    }
}

/// Pairs of stances with contact points at the same place and different heights, and the share of the planted
/// time that belongs to such stances or to stances with room below them. Feet merely held up do not count.
fn contradictions(stances: &[Stance], limit_m: f32) -> (Vec<Contradiction>, f32) {
    let bearing: Vec<&Stance> = stances.iter().filter(|stance| stance.bearing || stance.pierced).collect();
    let mut found = Vec::new();
    let mut involved: Vec<bool> = bearing.iter().map(|stance| stance.pierced).collect();
    for i in 0..bearing.len() {
        for j in i + 1..bearing.len() {
            let clash = bearing[i].points().find_map(|(place, height): (Vec2, f32)| {
                let other = bearing[j].points().find(|(other, other_height)| {
                    other.distance(place) < SAME_PLACE_M && (other_height - height).abs() > limit_m
                })?;
                Some((place, height, other.1))
            });
            if let Some((place, a, b)) = clash {
                involved[i] = true;
                involved[j] = true;
                if found.len() < MOST_LISTED {
                    found.push(Contradiction {
                        place: place.to_array(),
                        heights_m: [a.min(b), a.max(b)],
                        frames: [bearing[i].frames.start, bearing[j].frames.start],
                    });
                }
            }
        }
    }
    let total: f32 = bearing.iter().map(|s| s.duration_s).sum();
    let share: f32 = bearing.iter().zip(&involved).filter(|&(_, &hit)| hit).map(|(s, _)| s.duration_s).sum();
    // The sum of an empty list is −0; `+ 0.0` makes it 0.
    (found, if total > 0.0 { share / total + 0.0 } else { 0.0 })
}
