//! Limbs by the names of their joints: along every branch each joint takes a part that its name allows, from the trunk
//! outwards, so that `LeftShoulder` is an upper arm below a `LeftCollar` and a collar bone above a `LeftArm`.

use super::limbs::{Limb, LimbPair};
use super::names::{ARM, LEG, Meaning, Part, Side};
use super::sample::Sample;

/// Joints of one limb by part, from the trunk outwards.
pub(super) type Chain = [Option<usize>; 4];

/// Limbs that the names tell, left first; `None` where a side lacks a bone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NamedLimbs {
    pub legs: Option<[Chain; 2]>,
    pub arms: Option<[Chain; 2]>,
    /// Side (0 for left) and joints of an arm whose mirror image the names do not tell.
    pub lone_arm: Option<(usize, Chain)>,
}

pub(super) fn named_limbs(sample: &Sample<'_>, meanings: &[Meaning]) -> NamedLimbs {
    let chains =
        |parts: [Part; 4]| [Side::Left, Side::Right].map(|side| chain(sample, meanings, side, parts));
    let is_complete =
        |chain: &Chain, needed: [usize; 2]| chain[needed[0]..=needed[1]].iter().all(Option::is_some);
    let both = |chains: [Chain; 2], needed: [usize; 2]| {
        let complete = chains.iter().all(|chain| is_complete(chain, needed));
        let apart = |a: Chain, b: Chain| match (a[needed[0]], b[needed[0]]) {
            (Some(a), Some(b)) => !sample.is_at_or_below(a, b) && !sample.is_at_or_below(b, a),
            _ => false,
        };
        (complete && apart(chains[0], chains[1])).then_some(chains)
    };
    let arms = chains(ARM);
    let lone_arm = match arms.map(|chain| is_complete(&chain, [1, 2])) {
        [true, false] => Some((0, arms[0])),
        [false, true] => Some((1, arms[1])),
        _ => None,
    };
    NamedLimbs { legs: both(chains(LEG), [0, 2]), arms: both(arms, [1, 2]), lone_arm }
}

/// Best value of a chain that begins at or below a joint with a part of at least some rank, and where it begins.
#[derive(Clone, Copy, Default)]
struct Best {
    value: f32,
    first: Option<(usize, usize)>,
}

/// The chain of joints whose names fit best.
fn chain(sample: &Sample<'_>, meanings: &[Meaning], side: Side, parts: [Part; 4]) -> Chain {
    let joints = sample.joints;
    // Parents come before children: below every joint all is known.
    let mut below = vec![[Best::default(); 5]; joints];
    let mut following = vec![[None; 4]; joints];
    for joint in (0..joints).rev() {
        let mut best = [Best::default(); 5];
        for &child in sample.children[joint].iter().filter(|&&child| child < joints) {
            for (mine, theirs) in best.iter_mut().zip(below[child]) {
                if theirs.value > mine.value {
                    *mine = theirs;
                }
            }
        }
        if meanings[joint].side == Some(side) {
            let beyond = best;
            for rank in (0..4).rev() {
                let weight = meanings[joint].weight(parts[rank]);
                // Of two joints of one part the one nearer to the trunk.
                let value = 1.001 * weight + beyond[rank + 1].value;
                following[joint][rank] = beyond[rank + 1].first;
                if weight > 0.0 && value >= best[rank].value {
                    best[rank] = Best { value, first: Some((joint, rank)) };
                }
            }
            for rank in (0..4).rev() {
                if best[rank + 1].value > best[rank].value {
                    best[rank] = best[rank + 1];
                }
            }
        }
        below[joint] = best;
    }
    let mut chain = [None; 4];
    let mut next = below[0][0].first;
    while let Some((joint, rank)) = next {
        chain[rank] = Some(joint);
        next = following[joint][rank];
    }
    chain
}

/// The bones of named chains as limbs; `None` where an end is neither named nor there.
pub(super) fn as_pair(sample: &Sample<'_>, chains: &[Chain; 2], first: usize) -> Option<LimbPair> {
    let limb = |chain: &Chain| as_limb(sample, chain, first);
    Some(LimbPair { limbs: [limb(&chains[0])?, limb(&chains[1])?], asymmetry: 0.0 })
}

/// The bones of a named chain as a limb; `None` where an end is neither named nor there.
pub(super) fn as_limb(sample: &Sample<'_>, chain: &Chain, first: usize) -> Option<Limb> {
    let (root, middle) = (chain[first]?, chain[first + 1]?);
    let end = chain[first + 2].or_else(|| sample.children[middle].first().copied())?;
    Some(Limb {
        root,
        middle,
        end,
        upper: sample.distance(root, middle),
        lower: sample.distance(middle, end),
        looseness: 0.0,
        skipped: 0.0,
    })
}
