use super::FitInput;
use super::stance::Stance;
use std::ops::Range;

/// Shortest and longest gait cycle, seconds.
const CYCLE_S: [f32; 2] = [0.4, 1.6];

/// The clip cut into gait cycles: from one touch-down of the left foot to the next; where there is none for
/// long (standing, flight), into pieces of at most the longest cycle.
pub(super) fn gait_cycles(input: &FitInput, stances: &[Stance]) -> Vec<Range<usize>> {
    let [shortest, longest] = CYCLE_S.map(|seconds| ((seconds * input.frame_rate_hz) as usize).max(1));
    let mut cuts = vec![0];
    let downs = stances.iter().filter(|stance| stance.foot == 0).map(|stance| stance.frames.start);
    for cut in downs.chain([input.frames()]) {
        let before = cuts[cuts.len() - 1];
        if cut != input.frames() && cut < before + shortest {
            continue;
        }
        let pieces = (cut - before).div_ceil(longest);
        for piece in 1..=pieces {
            cuts.push(before + (cut - before) * piece / pieces);
        }
    }
    cuts.windows(2).map(|pair| pair[0]..pair[1]).filter(|cycle| !cycle.is_empty()).collect()
}
