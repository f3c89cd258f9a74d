//! Limbs: two stiff bones in a row, as thigh and shin or upper arm and forearm are, and pairs of them that mirror each
//! other.

use super::sample::{Sample, Stretch};
use std::collections::HashMap;

/// Three nodes in a row: hip, knee and ankle, or shoulder, elbow and wrist.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limb {
    pub root: usize,
    pub middle: usize,
    pub end: usize,
    pub upper: f32,
    pub lower: f32,
    /// How well joints between are in line and the bones stiff: 0 for perfectly, growing.
    pub looseness: f32,
    /// Twice the joints passed over in the lower bone, and 3 more where the end is no joint.
    pub skipped: f32,
}

impl Limb {
    pub fn length(&self) -> f32 {
        self.upper + self.lower
    }
}

/// Two limbs of one length on two branches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LimbPair {
    pub limbs: [Limb; 2],
    /// How unlike the two are: 0 for mirror images, growing.
    pub asymmetry: f32,
}

impl LimbPair {
    pub fn length(&self) -> f32 {
        0.5 * (self.limbs[0].length() + self.limbs[1].length())
    }

    /// Upper over lower bone, mean of both sides, as a logarithm.
    pub fn log_ratio(&self) -> f32 {
        let [a, b] = self.limbs.map(|limb| (limb.upper / limb.lower).ln());
        0.5 * (a + b)
    }

    pub fn looseness(&self) -> f32 {
        self.limbs[0].looseness.max(self.limbs[1].looseness)
    }

    /// Of several joints in line the first that fits is wrist or ankle.
    pub fn skipped(&self) -> f32 {
        0.5 * (self.limbs[0].skipped + self.limbs[1].skipped)
    }
}

/// A bone is stiff when its far end moves by at most this share of its length in the frame of the near end.
const STIFF: f32 = 0.06;
/// Joints between the ends of a bone lie in line when the way along them is at most this much longer.
const IN_LINE: f32 = 1.12;
/// Shortest bone of a limb, as a share of the body.
const SHORTEST: f32 = 0.05;
/// Lengths of mirrored bones differ by at most this factor.
const MIRRORED: f32 = 1.2;
/// The ratio of the two bones of a limb is at most this, either way.
const MOST_UNEQUAL: f32 = 2.4;

/// Joints between the ends of a bone are at most this many, so that chains of thousands of joints take no time.
const MOST_BETWEEN: usize = 16;
/// Limbs and pairs that are kept; skeletons of people have some hundred.
const MOST_LIMBS: usize = 600;
const MOST_PAIRS: usize = 2000;

/// Stretches of the tree, computed once.
#[derive(Default)]
struct Stretches {
    known: HashMap<(usize, usize), Stretch>,
}

impl Stretches {
    fn get(&mut self, sample: &Sample<'_>, from: usize, to: usize) -> Stretch {
        *self.known.entry((from, to)).or_insert_with(|| sample.stretch(from, to))
    }
}

fn bone_looseness(stretch: &Stretch) -> Option<f32> {
    (stretch.wobble <= STIFF && stretch.detour <= IN_LINE)
        .then(|| stretch.wobble / STIFF + (stretch.detour - 1.0) / (IN_LINE - 1.0))
}

/// All pairs of mirrored limbs of a body.
pub(super) fn limb_pairs(sample: &Sample<'_>, limbs: &[Limb]) -> Vec<LimbPair> {
    let mut pairs = Vec::new();
    for (i, a) in limbs.iter().enumerate() {
        for b in &limbs[i + 1..] {
            let apart = !sample.is_at_or_below(a.root, b.root) && !sample.is_at_or_below(b.root, a.root);
            let like = |a: f32, b: f32| (a / b).ln().abs() <= MIRRORED.ln();
            if apart && like(a.upper, b.upper) && like(a.lower, b.lower) {
                pairs.push(LimbPair { limbs: [*a, *b], asymmetry: asymmetry(sample, a, b) });
            }
        }
    }
    pairs.sort_by(|a: &LimbPair, b: &LimbPair| a.asymmetry.total_cmp(&b.asymmetry));
    pairs.truncate(MOST_PAIRS);
    pairs
}

/// All limbs of a body: for most bones several, where joints lie in line.
pub(super) fn limbs(sample: &Sample<'_>) -> Vec<Limb> {
    let mut stretches = Stretches::default();
    let shortest = SHORTEST * sample.size;
    let mut found = Vec::new();
    for end in 0..sample.children.len() {
        for middle in sample.ancestors(end).take(MOST_BETWEEN).collect::<Vec<_>>() {
            let lower = stretches.get(sample, middle, end);
            let (Some(lower_looseness), true) = (bone_looseness(&lower), lower.length >= shortest) else {
                continue;
            };
            for root in sample.ancestors(middle).take(MOST_BETWEEN).collect::<Vec<_>>() {
                let upper = stretches.get(sample, root, middle);
                let ratio = (upper.length / lower.length).ln().abs();
                let Some(looseness) = bone_looseness(&upper).filter(|_| upper.length >= shortest) else {
                    continue;
                };
                if ratio <= MOST_UNEQUAL.ln() {
                    found.push(Limb {
                        root,
                        middle,
                        end,
                        upper: upper.length,
                        lower: lower.length,
                        looseness: looseness.max(lower_looseness),
                        skipped: skipped(sample, middle, end),
                    });
                }
            }
        }
    }
    found.sort_by(|a: &Limb, b: &Limb| b.length().total_cmp(&a.length()));
    found.truncate(MOST_LIMBS);
    found
}

fn skipped(sample: &Sample<'_>, middle: usize, end: usize) -> f32 {
    let between = sample.path(middle, end).len() as f32 - 1.0;
    if end < sample.joints { 2.0 * between } else { 2.0 * between + 3.0 }
}

/// Differences in length as multiples of what people have, and in the tree above and between.
fn asymmetry(sample: &Sample<'_>, a: &Limb, b: &Limb) -> f32 {
    const USUAL: f32 = 0.05;
    let lengths = ((a.upper / b.upper).ln().abs() + (a.lower / b.lower).ln().abs()) / USUAL;
    let above = sample.common_ancestor(a.root, b.root);
    let reach = |limb: &Limb| sample.way(above, limb.root);
    let roots = (reach(a) - reach(b)).abs() / (USUAL * (a.length() + b.length()));
    let depth = |limb: &Limb| sample.path(above, limb.end).len() as f32;
    0.5 * lengths + roots + 0.25 * (depth(a) - depth(b)).abs()
}
