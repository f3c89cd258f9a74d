//! The joints of a body: limbs by names or by structure, sides, trunk, and what is left over.

use super::by_names::{Chain, NamedLimbs, as_pair, named_limbs};
use super::limbs::{Limb, limb_pairs, limbs};
use super::lone_arm::{LoneArm, lone_arm};
use super::names::{Meaning, Part, Side};
use super::not_human::refusal;
use super::plan::{Plan, best_plan, plan_with};
use super::sample::Sample;
use super::sides::{SideVotes, same_side, side_votes};
use super::trunk::{Trunk, is_mark, trunk};
use crate::{JointIndex, humanoid};

/// Which joint plays which project joint, and how it was found.
#[derive(Clone, Debug)]
pub(super) struct Anatomy {
    /// Source joint of each project joint.
    pub roles: [Option<usize>; humanoid::JOINTS],
    /// Limbs, left first.
    pub plan: Plan,
    /// For the first limb of `plan` being the left one.
    pub votes: SideVotes,
    /// Whether names told the legs, and the arms.
    pub legs_by_name: bool,
    pub arms_by_name: bool,
    /// The arm of a body with one.
    pub lone_arm: Option<LoneArm>,
    /// Whether names say left where the body has right: all names that have a side.
    pub sides_contradict: bool,
    /// Number of joints of the limbs whose names have a side.
    pub sided: usize,
}

/// Finds the joints, or says why this is no human body.
pub(super) fn anatomy(sample: &Sample<'_>, meanings: &[Meaning]) -> Result<Anatomy, String> {
    let named = named_limbs(sample, meanings);
    let fixed = |chains: Option<[Chain; 2]>, first| chains.and_then(|chains| as_pair(sample, &chains, first));
    let (legs, arms) = (fixed(named.legs, 0), fixed(named.arms, 1));
    let limbs = limbs(sample);
    let pairs = limb_pairs(sample, &limbs);
    let plan = match legs {
        Some(legs) => Some(plan_with(sample, legs, arms, &pairs)),
        None => best_plan(sample, &pairs),
    };
    let Some(plan) = plan else { return Err(too_few_legs(sample)) };
    if let Some(reason) = refusal(sample, &plan, &limbs, &pairs, legs.is_some() && arms.is_some()) {
        return Err(reason);
    }
    let mut votes = side_votes(sample, &plan);
    let (plan, turned) = left_first(sample, plan, &votes, legs.is_some(), arms.is_some());
    if turned {
        votes.votes.iter_mut().for_each(|(_, vote)| *vote = -*vote);
    }
    let (sided, contradicting) = sided_names(sample, meanings, &plan);
    let sides_contradict =
        if legs.is_some() { votes.total() < -0.1 } else { sided >= 4 && contradicting * 10 >= sided * 9 };
    let legs_named = legs.and(named.legs);
    let arms_named = arms.filter(|_| plan.arms.is_some()).and(named.arms);
    let lone_arm = lone_arm(sample, &plan, &limbs, named.lone_arm.filter(|_| legs_named.is_some()));
    let trunk = trunk_of(sample, &plan, lone_arm.as_ref(), meanings, legs_named.is_some());
    let named = NamedLimbs { legs: legs_named, arms: arms_named, lone_arm: None };
    let mut roles = roles(sample, &plan, &trunk, &named);
    if let Some(arm) = &lone_arm {
        arm_roles(sample, &trunk, &arm.limb, arm.named, arm.side, &mut roles);
    }
    Ok(Anatomy {
        roles,
        plan,
        votes,
        legs_by_name: legs_named.is_some(),
        arms_by_name: arms_named.is_some() || lone_arm.is_some_and(|arm| arm.named.is_some()),
        lone_arm,
        sides_contradict,
        sided,
    })
}

/// Whether a body whose joints are known has its left where the names say right: −1 for surely, 1 for surely not.
pub(super) fn known_sides(sample: &Sample<'_>, roles: &[Option<usize>; humanoid::JOINTS]) -> Option<f32> {
    let chain =
        |first: JointIndex| -> Chain { std::array::from_fn(|i| roles.get(first.0 + i).copied().flatten()) };
    let pair = |left: JointIndex, right: JointIndex| as_pair(sample, &[chain(left), chain(right)], 0);
    let legs = pair(humanoid::LEFT_UP_LEG, humanoid::RIGHT_UP_LEG)?;
    let has_arms = roles[humanoid::LEFT_FORE_ARM.0].is_some() && roles[humanoid::RIGHT_FORE_ARM.0].is_some();
    let arms = pair(humanoid::LEFT_ARM, humanoid::RIGHT_ARM).filter(|_| has_arms);
    Some(side_votes(sample, &plan_with(sample, legs, arms, &[])).total())
}

fn too_few_legs(sample: &Sample<'_>) -> String {
    format!(
        "among its {} joints there are no two limbs that mirror each other and have two stiff bones in a row, as legs have: \
         a body needs a thigh, a shin and an ankle joint on both sides",
        sample.joints
    )
}

/// The plan with left limbs first, and whether its legs were exchanged for it. Named limbs come left first.
fn left_first(
    sample: &Sample<'_>,
    mut plan: Plan,
    votes: &SideVotes,
    legs_named: bool,
    arms_named: bool,
) -> (Plan, bool) {
    let turned = !legs_named && votes.total() < 0.0;
    if turned {
        plan.legs.limbs.swap(0, 1);
    }
    if let Some(arms) = &mut plan.arms
        && !arms_named
        && same_side(sample, plan.legs.limbs.map(|l| l.root), arms.limbs.map(|l| l.root)) < 0.0
    {
        arms.limbs.swap(0, 1);
    }
    (plan, turned)
}

/// How many joints of the limbs have a side in their names, and how many the other side than they are on.
fn sided_names(sample: &Sample<'_>, meanings: &[Meaning], plan: &Plan) -> (usize, usize) {
    let (mut sided, mut contradicting) = (0, 0);
    for pair in std::iter::once(&plan.legs).chain(&plan.arms) {
        for (limb, side) in pair.limbs.iter().zip([Side::Left, Side::Right]) {
            let joints = std::iter::once(limb.root).chain(sample.path(limb.root, limb.end));
            for joint in joints.filter(|&node| node < sample.joints) {
                if let Some(named) = meanings[joint].side {
                    sided += 1;
                    contradicting += usize::from(named != side);
                }
            }
        }
    }
    (sided, contradicting)
}

fn trunk_of(
    sample: &Sample<'_>,
    plan: &Plan,
    lone_arm: Option<&LoneArm>,
    meanings: &[Meaning],
    names_count: bool,
) -> Trunk {
    let shoulders: Vec<usize> = match (&plan.arms, lone_arm) {
        (Some(arms), _) => arms.limbs.iter().map(|limb| limb.root).collect(),
        (None, Some(arm)) => vec![arm.limb.root],
        (None, None) => Vec::new(),
    };
    trunk(
        sample,
        names_count.then_some(meanings),
        plan.legs.limbs.map(|limb| limb.root),
        plan.legs.limbs.map(|limb| limb.end),
        &shoulders,
    )
}

/// Toe joints are at least this far from the ankle and at most, as shares of the shin.
const TOE_AWAY: std::ops::Range<f32> = 0.12..0.75;
/// A last joint farther away than this share of the shin is the tip of the toes.
const TIP_AWAY: f32 = 0.52;

fn roles(
    sample: &Sample<'_>,
    plan: &Plan,
    trunk: &Trunk,
    named: &NamedLimbs,
) -> [Option<usize>; humanoid::JOINTS] {
    let mut roles = [None; humanoid::JOINTS];
    let mut set =
        |role: JointIndex, joint: Option<usize>| roles[role.0] = joint.filter(|&j| j < sample.joints);
    set(humanoid::HIPS, Some(trunk.hips));
    for (role, joint) in [humanoid::SPINE, humanoid::SPINE1, humanoid::SPINE2].into_iter().zip(trunk.spine) {
        set(role, joint);
    }
    set(humanoid::NECK, trunk.neck);
    set(humanoid::HEAD, trunk.head);
    for (i, first) in [humanoid::LEFT_UP_LEG, humanoid::RIGHT_UP_LEG].into_iter().enumerate() {
        let limb = plan.legs.limbs[i];
        set(first, Some(limb.root));
        set(JointIndex(first.0 + 1), Some(limb.middle));
        set(JointIndex(first.0 + 2), Some(limb.end));
        let named_toe = named.legs.and_then(|legs| legs[i][3]);
        set(JointIndex(first.0 + 3), named_toe.or_else(|| toe(sample, limb.middle, limb.end)));
    }
    let Some(arms) = plan.arms else { return roles };
    for (side, limb) in arms.limbs.iter().enumerate() {
        arm_roles(sample, trunk, limb, named.arms.map(|arms| arms[side]), side, &mut roles);
    }
    roles
}

/// Sets the roles of an arm.
fn arm_roles(
    sample: &Sample<'_>,
    trunk: &Trunk,
    limb: &Limb,
    named: Option<Chain>,
    side: usize,
    roles: &mut [Option<usize>; humanoid::JOINTS],
) {
    let first = [humanoid::LEFT_SHOULDER, humanoid::RIGHT_SHOULDER][side];
    let collar = named.and_then(|arm| arm[0]).or_else(|| collar(sample, trunk.chest, limb.root));
    for (part, joint) in [collar, Some(limb.root), Some(limb.middle), Some(limb.end)].into_iter().enumerate()
    {
        roles[first.0 + part] = joint.filter(|&joint| joint < sample.joints);
    }
}

/// The toe joint: the nearest joint beyond the ankle on the way to the tip of the foot that is away from it.
fn toe(sample: &Sample<'_>, knee: usize, ankle: usize) -> Option<usize> {
    let shin = sample.distance(knee, ankle);
    let away = |node: usize| sample.distance(ankle, node) / shin;
    let tip = super::sides::foot_tip(sample, knee, ankle)?;
    let joint = sample
        .path(ankle, tip)
        .into_iter()
        .find(|&node| node < sample.joints && TOE_AWAY.contains(&away(node)))?;
    let is_tip = away(joint) > TIP_AWAY && is_mark(sample, joint);
    (!is_tip).then_some(joint)
}

/// The collar bone: the first joint on the way from the chest to the shoulder that only one arm has.
fn collar(sample: &Sample<'_>, chest: usize, shoulder: usize) -> Option<usize> {
    let path = sample.path(chest, shoulder);
    let [before @ .., _] = &path[..] else { return None };
    // Some rigs have a joint of no length before the collar bone, others a collar bone at the place of the chest.
    let length = |node: usize| sample.distance(node, shoulder);
    before.iter().copied().max_by(|a, b| length(*a).total_cmp(&length(*b)).then(b.cmp(a)))
}

/// Whether a joint's name allows the part of a project joint: `None` where the name says nothing.
pub(super) fn name_agrees(meaning: &Meaning, role: JointIndex) -> Option<bool> {
    if meaning.parts.is_empty() {
        return None;
    }
    let (part, side) = part_of(role);
    // Some conventions number the whole trunk as spine.
    if side.is_none() && part != Part::Spine && meaning.weight(Part::Spine) > 0.0 {
        return None;
    }
    Some(meaning.weight(part) > 0.0 && (side.is_none() || meaning.side == side))
}

fn part_of(role: JointIndex) -> (Part, Option<Side>) {
    use humanoid::{HEAD, HIPS, LEFT_SHOULDER, LEFT_UP_LEG, NECK, RIGHT_SHOULDER, RIGHT_UP_LEG};
    match role {
        HIPS => (Part::Hips, None),
        NECK => (Part::Neck, None),
        HEAD => (Part::Head, None),
        JointIndex(i) if (LEFT_UP_LEG.0..LEFT_UP_LEG.0 + 4).contains(&i) => {
            (super::names::LEG[i - LEFT_UP_LEG.0], Some(Side::Left))
        }
        JointIndex(i) if (RIGHT_UP_LEG.0..RIGHT_UP_LEG.0 + 4).contains(&i) => {
            (super::names::LEG[i - RIGHT_UP_LEG.0], Some(Side::Right))
        }
        JointIndex(i) if (LEFT_SHOULDER.0..LEFT_SHOULDER.0 + 4).contains(&i) => {
            (super::names::ARM[i - LEFT_SHOULDER.0], Some(Side::Left))
        }
        JointIndex(i) if i >= RIGHT_SHOULDER.0 => {
            (super::names::ARM[i - RIGHT_SHOULDER.0], Some(Side::Right))
        }
        _ => (Part::Spine, None),
    }
}

/// Whether a limb has no joint in common with the legs and the arms of a plan, and does not carry them.
pub(super) fn is_apart(sample: &Sample<'_>, plan: &Plan, limb: &Limb) -> bool {
    let taken = std::iter::once(&plan.legs).chain(&plan.arms).flat_map(|pair| pair.limbs);
    taken
        .map(|limb| limb.root)
        .all(|root| !sample.is_at_or_below(limb.end, root) && !sample.is_at_or_below(root, limb.root))
}
