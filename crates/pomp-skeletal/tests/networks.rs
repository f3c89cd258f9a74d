//! Skeleton-aware networks: the structure that they are pooled along, their gradients, what they learn, and their files.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

#[allow(dead_code, reason = "each test uses a part")]
#[path = "../../pomp-motion/tests/strange_body/mod.rs"]
mod strange_body;

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor, TensorData};
use pomp_motion::SourceMotion;
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::retarget::UpAxis;
use pomp_skeletal::kinematics::{FEATURES, PLACES, loss_of_places, places};
use pomp_skeletal::tree::{Level, SkeletalTree, chains};
use pomp_skeletal::{
    Corpus, Seen, SkeletalConfig, SkeletalDescription, SkeletalError, SkeletalModel, SkeletalNetworks,
    Structure, Windows, loss, match_structures, reaches,
};
use pomp_tensors::{AdamWSettings, adamw};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::BTreeMap;
use std::path::Path;
use strange_body::StrangeBody;

fn told(body: &StrangeBody) -> SourceMotion {
    body.told(str::to_owned)
}

/// The walking body of the project, and one with split limbs and one spine joint less, its joints named and ordered otherwise.
fn two_skeletons() -> [Vec<SourceMotion>; 2] {
    let long =
        StrangeBody::walking().moved("LeftForeArm", Vec3::X * 0.4).moved("RightForeArm", Vec3::NEG_X * 0.4);
    let split = |body: StrangeBody| {
        body.split("LeftHand", "LeftForeArmHalf", 0.5)
            .split("RightHand", "RightForeArmHalf", 0.5)
            .split("LeftLeg", "LeftThighHalf", 0.4)
            .without("Spine1")
            .told(|name| format!("b_{name}"))
    };
    [vec![told(&StrangeBody::walking()), told(&long)], vec![split(StrangeBody::walking()), split(long)]]
}

fn corpora(config: &SkeletalConfig) -> [Corpus; 2] {
    let [a, b] = two_skeletons();
    let corpus = |place, motions: &[SourceMotion], side| Corpus::new(place, motions, config, side).unwrap();
    let (mut a, mut b) = (corpus("a", &a, 0), corpus("b", &b, 1));
    match_structures(&mut a.structure, &mut b.structure).unwrap();
    [a, b]
}

fn small() -> SkeletalConfig {
    let mut config = SkeletalConfig { window_frames: 32, held_out_every: 0, ..SkeletalConfig::default() };
    config.training.batch_size = 2;
    config
}

fn fresh(config: &SkeletalConfig, corpora: &[Corpus; 2], device: &Device) -> SkeletalNetworks {
    let [a, b] = [0, 1].map(|side| corpora[side].structure.tree());
    SkeletalNetworks::new([&a, &b], &config.sizes, config.seed, device)
}

#[test]
fn skeletons_of_one_person_are_pooled_to_one_primal_skeleton() {
    let config = small();
    let [a, b] = corpora(&config);
    let (tree_a, tree_b) = (a.structure.tree(), b.structure.tree());
    let nodes = |tree: &SkeletalTree| tree.levels.each_ref().map(Level::len);
    // Motion of the root, root, trunk, neck with head, two arms, two legs.
    assert_eq!(nodes(&tree_a), [23, 13, 8]);
    assert_eq!(nodes(&tree_b), [25, 15, 8]);
    for (node, (of_a, of_b)) in
        tree_a.levels[2].members.iter().zip(&tree_b.levels[2].members).enumerate().skip(1)
    {
        let names = |structure: &Structure, tree: &SkeletalTree, members: &[usize]| -> Vec<String> {
            let joints = members.iter().flat_map(|&pair| &tree.levels[1].members[pair]);
            joints.map(|&joint| structure.joints[joint - 1].trim_start_matches("b_").to_owned()).collect()
        };
        let (in_a, in_b) = (names(&a.structure, &tree_a, of_a), names(&b.structure, &tree_b, of_b));
        println!("{node}: {in_a:?} {in_b:?}");
        assert_eq!(in_a.last(), in_b.last(), "limb {node} ends otherwise");
        assert!(
            in_a.iter().filter(|name| *name != "Spine1").all(|name| in_b.contains(name)),
            "{in_a:?} {in_b:?}"
        );
        let are_near = |tree: &SkeletalTree, other: usize| tree.levels[2].are_near(node, other, 1);
        for other in 0..8 {
            assert_eq!(are_near(&tree_a, other), are_near(&tree_b, other), "{node} and {other}");
        }
    }
    let names = |structure: &Structure, joint: usize| structure.joints[joint].clone();
    assert_eq!(a.structure.feet.map(|foot| names(&a.structure, foot)), ["LeftToe", "RightToe"]);
    assert_eq!(b.structure.feet.map(|foot| names(&b.structure, foot)), ["b_LeftToe", "b_RightToe"]);
    assert_eq!(names(&a.structure, a.structure.head), "Head");
    assert!(a.structure.forward.distance(Vec3::Z) < 0.1, "{}", a.structure.forward);
}

#[test]
fn recorded_skeletons_are_pooled_to_one_primal_skeleton() {
    let files = ["core/cmu_amc_bvh/cmu_08_04.bvh", "core/deepmimic_bvh/humanoid3d_walk.bvh"];
    for file in files {
        let Some(path) = pomp_testing::recorded(file, "the chains of a recorded skeleton") else { continue };
        let motion = pomp_formats::read_bvh(&path).unwrap().motion;
        let chains = chains(&motion.skeleton);
        let joints: usize = chains.iter().map(|chain| chain.joints.len()).sum();
        println!("{file}: {} joints in {} chains", motion.skeleton.len(), chains.len());
        assert_eq!(joints, motion.skeleton.len(), "every joint is in one chain");
        assert!(chains.len() < joints && chains.len() >= 5, "{file}: {}", chains.len());
        for (index, chain) in chains.iter().enumerate() {
            assert!(chain.parent.is_none_or(|parent| parent < index));
        }
    }
}

/// The walking body with a finger of two joints and a thumb on the left hand.
fn handed() -> SourceMotion {
    told(&StrangeBody::walking().chain("LeftHand", "finger", 2, Vec3::X * 0.1, Vec3::X * 0.05).chain(
        "LeftHand",
        "thumb",
        1,
        Vec3::Z * 0.05,
        Vec3::X * 0.05,
    ))
}

#[test]
fn rejects_skeletons_that_branch_otherwise_and_names_the_joints() {
    let mut config = small();
    config.leave_out.small_limbs = false;
    let [mut a, _] = corpora(&config);
    let mut b = Corpus::new("b", &[handed()], &config, 1).unwrap();
    let refused = match_structures(&mut a.structure, &mut b.structure).unwrap_err().to_string();
    assert!(refused.contains("\"LeftHand\" of a has 0 branches, \"LeftHand\" of b 2"), "{refused}");
    assert!(refused.contains("not homeomorphic") && refused.contains("leave_out.b"), "{refused}");
}

#[test]
fn small_limbs_and_named_joints_are_not_seen_and_keep_their_mean_rotation() {
    let mut config = small();
    config.leave_out.a = vec!["LeftToe".to_owned(), "RightToe".to_owned()];
    let [mut a, _] = corpora(&config);
    let hand = handed();
    let left_out: Vec<String> = {
        let seen = Seen::find("b", std::slice::from_ref(&hand), &config.leave_out, 1).unwrap();
        assert!(!seen.is_all());
        seen.left_out().into_iter().map(str::to_owned).collect()
    };
    assert_eq!(left_out, ["finger1", "finger2", "thumb1"]);
    let mut b = Corpus::new("b", std::slice::from_ref(&hand), &config, 1).unwrap();
    match_structures(&mut a.structure, &mut b.structure).unwrap();
    let feet = |corpus: &Corpus| corpus.structure.feet.map(|foot| corpus.structure.joints[foot].clone());
    assert_eq!(
        (feet(&a), feet(&b)),
        (["LeftFoot", "RightFoot"].map(str::to_owned), ["LeftToe", "RightToe"].map(str::to_owned))
    );
    let corpora = [a, b];
    let networks = fresh(&config, &corpora, &Device::flex());
    let model = model(&config, &corpora, networks);
    let walk = told(&StrangeBody::walking());
    for target in [&walk, &hand] {
        let shown = model.retarget(["hand", "target"], &hand, target).unwrap();
        assert_eq!(shown.skeleton, target.skeleton);
        shown.validate().unwrap();
    }
    let finger = hand.skeleton.index_of("finger1").unwrap();
    let shown = model.retarget(["walk", "hand"], &walk, &hand).unwrap();
    let mean = corpora[1].structure.seen.rotations[finger.0];
    assert!(mean.angle_between(Quat::IDENTITY) < 0.3, "{mean}");
    assert!(shown.poses.iter().all(|pose| pose.local_rotations[finger.0].angle_between(mean) < 1e-3));

    config.leave_out.b = vec!["Thumb".to_owned()];
    let refused = Corpus::new("b", std::slice::from_ref(&hand), &config, 1).unwrap_err().to_string();
    assert!(refused.contains("leave_out.b names \"Thumb\"") && refused.contains("thumb1"), "{refused}");
    config.leave_out.b = vec!["Hips".to_owned()];
    let refused = Corpus::new("b", std::slice::from_ref(&hand), &config, 1).unwrap_err().to_string();
    assert!(refused.contains("root \"Hips\""), "{refused}");
}

#[test]
fn rejects_a_wrong_axis_motions_of_several_skeletons_and_joints_that_move() {
    let refused = |motions: &[SourceMotion], up| -> String {
        let mut config = small();
        config.up_axis.a = up;
        let refused: SkeletalError = Corpus::new("walks", motions, &config, 0).unwrap_err();
        refused.to_string()
    };
    let walk = told(&StrangeBody::walking());
    let axis = refused(std::slice::from_ref(&walk), UpAxis::Z);
    assert!(axis.contains("walks") && axis.contains("up_axis"), "{axis}");
    let other = told(&StrangeBody::walking().without("Spine1"));
    let several = refused(&[walk.clone(), other], UpAxis::Y);
    assert!(several.contains("21 joints, not 22") && several.contains("folder of their own"), "{several}");
    let mut moving = strange_body::with_translations(walk.clone());
    let joints = moving.skeleton.len();
    let mut values = moving.joint_translations.as_ref().unwrap().values().to_vec();
    values[10 * joints + 5] += Vec3::Y * 0.2;
    moving.joint_translations = pomp_motion::FrameTable::from_values(joints, values);
    let said = refused(&[moving], UpAxis::Y);
    assert!(said.contains("moves in its parent in frame 10"), "{said}");
    let mut standing = walk;
    standing.poses.iter_mut().for_each(|pose| pose.root_position = Vec3::Y);
    let said = refused(&[standing], UpAxis::Y);
    assert!(said.contains("where it faces cannot be told") && said.contains("walk forwards"), "{said}");
}

#[test]
fn features_tell_a_motion_whole() {
    let config = small();
    for (corpus, motions) in corpora(&config).iter().zip(two_skeletons()) {
        for motion in motions {
            let body = corpus.structure.body(&motion).unwrap();
            let (features, path) = corpus.structure.features(&body, &motion);
            let poses = corpus.structure.poses(&body, &features, &path);
            let again = SourceMotion { poses, ..motion.clone() };
            for frame in 0..motion.frames() {
                let (a, b) = (motion.global_pose(frame), again.global_pose(frame));
                for (p, q) in a.positions.iter().zip(&b.positions) {
                    assert!(p.distance(*q) < 1e-3, "{}, frame {frame}: {p} {q}", motion.name);
                }
            }
        }
    }
}

#[test]
fn the_same_pose_has_the_same_reaches_on_either_skeleton() {
    let config = small();
    let corpora = corpora(&config);
    let motions = two_skeletons();
    let device = Device::flex();
    let of = |side: usize, frame: usize| -> Vec<f32> {
        let Corpus { structure, .. } = &corpora[side];
        let motion = &motions[side][0];
        let body = structure.body(motion).unwrap();
        let features = structure.features(&body, motion).0;
        let width = structure.width();
        let mut found = Vec::new();
        places(structure, &body, &features[frame * width..(frame + 1) * width], &mut found);
        let count = found.len();
        let found = Tensor::<3>::from_data(TensorData::new(found, [1, 1, count]), &device);
        reaches(&found, structure, &[&body]).try_into_vec_as::<f32>().unwrap()
    };
    let largest = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    // Trunk, neck with head, two arms, two legs. Skeleton b has one spine joint less, which bends the trunk elsewhere.
    assert_eq!(of(0, 0).len(), 6 * PLACES);
    let same = (0..40).map(|frame| largest(&of(0, frame), &of(1, frame))).fold(0.0, f32::max);
    let moved = largest(&of(0, 0), &of(0, 20));
    println!("the same pose differs by {same:.4}, another one by {moved:.4}");
    assert!(same < 0.03 && moved > 3.0 * same, "{same} {moved}");
}

#[test]
fn slopes_of_features_are_those_of_differences() {
    let config = small();
    let [corpus, _] = corpora(&config);
    let structure = &corpus.structure;
    let (device, body) = (Device::flex().autodiff(), &corpus.bodies[1]);
    let width = structure.width();
    // Quaternions of any length: networks do not give unit ones.
    let wobble = |i: usize| 0.3 * (1.7 * i as f32).sin();
    let values: Vec<f32> = (0..width).map(|i| structure.mean[i] + wobble(i)).collect();
    let weights: Vec<f32> = (0..width / FEATURES * PLACES).map(|i| (0.9 * i as f32 + 0.3).cos()).collect();
    let of = |values: &[f32]| -> f64 {
        let mut found = Vec::new();
        places(structure, body, values, &mut found);
        found.iter().zip(&weights).map(|(a, w)| f64::from(a * a * w)).sum()
    };
    let input =
        Tensor::<3>::from_data(TensorData::new(values.clone(), [1, 1, width]), &device).require_grad();
    let weighed = Tensor::<3>::from_data(TensorData::new(weights.clone(), [1, 1, weights.len()]), &device);
    let loss = loss_of_places(structure, &[body], &input, |places| (places.square() * weighed).sum());
    let value: f32 = loss.clone().into_scalar();
    assert!((f64::from(value) - of(&values)).abs() < 1e-4, "{value} {}", of(&values));
    let slopes = input.grad(&loss.backward()).unwrap().try_into_vec_as::<f32>().unwrap();
    let step = 1e-2;
    let mut largest = 0.0_f64;
    for at in 0..width {
        let moved = |by: f32| {
            let mut values = values.clone();
            values[at] += by;
            of(&values)
        };
        let measured = (moved(step) - moved(-step)) / f64::from(2.0 * step);
        largest = largest.max((measured - f64::from(slopes[at])).abs());
    }
    println!("largest difference of a slope: {largest:.1e}");
    assert!(largest < 2e-3, "{largest}");
}

/// Which weights of a module have a gradient.
struct Gradients<'a> {
    gradients: &'a GradientsParams,
    path: Vec<String>,
    found: BTreeMap<String, Vec<f32>>,
}

impl ModuleVisitor for Gradients<'_> {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_owned());
    }
    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let gradient = self.gradients.get::<D>(param.id);
        let values = gradient.map_or(Vec::new(), |gradient| gradient.try_into_vec_as::<f32>().unwrap());
        let weights = param.val().without_autodiff().try_into_vec_as::<f32>().unwrap();
        // Biases begin at 0; every other weight that is 0 joins nodes that are not near.
        let may_be: Vec<f32> = if D == 1 { vec![1.0; weights.len()] } else { weights };
        assert_eq!(values.len(), may_be.len(), "{} has no gradient", self.path.join("."));
        let name = self.path.join(".");
        let dead = values.iter().zip(&may_be).filter(|(g, w)| **w != 0.0 && **g == 0.0).count();
        let leaked = values.iter().zip(&may_be).filter(|(g, w)| **w == 0.0 && **g != 0.0).count();
        assert_eq!(leaked, 0, "{name}: nodes that are not near have a gradient");
        let near = may_be.iter().filter(|w| **w != 0.0).count();
        assert_eq!(dead, 0, "{name}: {dead} of {near} weights have no gradient");
        self.found.insert(name, values);
    }
}

/// The motion with every bone of another length and direction: no offset is that of another body.
fn bent(motion: &SourceMotion) -> SourceMotion {
    let joints = motion.skeleton.joints().iter().enumerate().map(|(index, joint)| {
        let t = index as f32;
        let by = Vec3::new(t.sin(), (1.3 * t).cos(), (0.7 * t + 0.5).sin()) * 0.02;
        pomp_motion::Joint { offset: joint.offset + by, ..joint.clone() }
    });
    SourceMotion { skeleton: pomp_motion::Skeleton::new(joints.collect()).unwrap(), ..motion.clone() }
}

#[test]
fn every_weight_between_near_joints_has_a_gradient_and_no_other() {
    let config = small();
    let [mut a, mut b] = two_skeletons().map(|motions| {
        let both = [motions[0].clone(), bent(&motions[0])];
        Corpus::new("bent", &both, &config, 0).unwrap()
    });
    match_structures(&mut a.structure, &mut b.structure).unwrap();
    let corpora = [a, b];
    let device = Device::flex().autodiff();
    let networks = fresh(&config, &corpora, &device);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let [a, b] = [0, 1].map(|side| Windows::draw(&corpora[side], &config, &mut rng, &device));
    let loss = loss(&networks, [&a, &b], &config);
    let gradients = GradientsParams::from_grads(loss.total.backward(), &networks);
    let mut seen = Gradients { gradients: &gradients, path: Vec::new(), found: BTreeMap::new() };
    networks.visit(&mut seen);
    assert!(seen.found.len() > 30, "{}", seen.found.len());
}

/// Networks after so many steps, with the parts of the last loss.
fn trained(
    config: &SkeletalConfig,
    corpora: &[Corpus; 2],
    steps: usize,
) -> (SkeletalNetworks, BTreeMap<&'static str, f32>) {
    let device = Device::flex().autodiff();
    let mut networks = fresh(config, corpora, &device);
    let mut optimizer = adamw(&AdamWSettings { weight_decay: 0.0, epsilon: 1e-8, clipping: None });
    let mut parts = BTreeMap::new();
    for step in 0..steps {
        let mut rng = ChaCha8Rng::seed_from_u64(step as u64);
        let [a, b] = [0, 1].map(|side| Windows::draw(&corpora[side], config, &mut rng, &device));
        let found = loss(&networks, [&a, &b], config);
        parts = found.parts.into_iter().map(|(name, part)| (name, part.into_scalar::<f32>())).collect();
        let gradients = GradientsParams::from_grads(found.total.backward(), &networks);
        let fall = 0.5 * (1.0 + (std::f64::consts::PI * step as f64 / steps as f64).cos());
        networks = optimizer.step(config.training.learning_rate * fall.max(0.05), networks, gradients);
    }
    (networks, parts)
}

fn mean_distance(a: &SourceMotion, b: &SourceMotion) -> f32 {
    let frames = (0..a.frames()).map(|frame| {
        let (a, b) = (a.global_pose(frame).positions, b.global_pose(frame).positions);
        a.iter().zip(&b).map(|(a, b)| a.distance(*b)).sum::<f32>() / a.len() as f32
    });
    frames.sum::<f32>() / a.frames() as f32
}

fn model(config: &SkeletalConfig, corpora: &[Corpus; 2], networks: SkeletalNetworks) -> SkeletalModel {
    let description = SkeletalDescription {
        made_by: "a test".to_owned(),
        config: config.clone(),
        data_hash: corpora[0].hash.clone(),
        seconds: [0, 1].map(|side| corpora[side].seconds()),
        structures: [0, 1].map(|side| corpora[side].structure.clone()),
        metrics: BTreeMap::new(),
    };
    SkeletalModel { description, networks }
}

/// A reconstruction of the clip that was learned may be this far from it on average, metres.
const OVERFIT_M: f32 = 0.01;

#[test]
fn networks_learn_one_clip_and_put_it_on_the_other_skeleton() {
    let config = small();
    let corpora = corpora(&config);
    let device = Device::flex();
    let begun = std::time::Instant::now();
    let (networks, parts) = trained(&config, &corpora, 300);
    println!("300 steps in {:.1} s, {parts:?}", begun.elapsed().as_secs_f32());
    let [a, b] = two_skeletons();
    let shown = |networks: SkeletalNetworks, from: &SourceMotion, to: &SourceMotion| {
        model(&config, &corpora, networks).retarget(["from", "to"], from, to).unwrap()
    };
    let networks = networks.valid();
    let own = mean_distance(&shown(networks.clone(), &a[0], &a[0]), &a[0]);
    let untrained = mean_distance(&shown(fresh(&config, &corpora, &device), &a[0], &a[0]), &a[0]);
    let across = mean_distance(&shown(networks.clone(), &a[0], &b[0]), &b[0]);
    let back = mean_distance(&shown(networks, &b[0], &a[0]), &a[0]);
    println!("own {own:.4} m, untrained {untrained:.4} m, a to b {across:.4} m, b to a {back:.4} m");
    assert!(own < OVERFIT_M, "{own} m");
    assert!(untrained > 4.0 * OVERFIT_M, "the bound would hold without training: {untrained} m");
    assert!(across < 2.0 * OVERFIT_M && back < 2.0 * OVERFIT_M, "{across} m, {back} m");
}

#[test]
fn a_seed_gives_the_same_bytes_and_files_come_back_whole() {
    let config = small();
    let corpora = corpora(&config);
    let [first, second] = [0, 1].map(|_| trained(&config, &corpora, 3).0.valid());
    let folder = tempfile::tempdir().unwrap();
    let saved = |name: &str, networks: SkeletalNetworks| {
        let path = folder.path().join(name);
        model(&config, &corpora, networks).save(&path).unwrap();
        path
    };
    let (one, two) = (saved("one.safetensors", first), saved("two.safetensors", second));
    assert_eq!(std::fs::read(&one).unwrap(), std::fs::read(&two).unwrap());
    let device = Device::flex();
    let again = SkeletalModel::open(&one, &device).unwrap();
    let [a, b] = two_skeletons();
    let three = folder.path().join("three.safetensors");
    again.save(&three).unwrap();
    assert_eq!(std::fs::read(&one).unwrap(), std::fs::read(&three).unwrap());
    let shown = again.retarget(["a", "b"], &a[0], &b[1]).unwrap();
    assert_eq!((shown.frames(), shown.skeleton.len()), (a[0].frames(), b[1].skeleton.len()));
    let other = told(&StrangeBody::walking().without("Neck"));
    let refused = again.retarget(["walk.bvh", "target.bvh"], &a[0], &other).unwrap_err().to_string();
    assert!(
        refused.contains("target.bvh") && refused.contains("against the first, it has 21 joints"),
        "{refused}"
    );
    std::fs::write(&two, b"no weights").unwrap();
    let broken = SkeletalModel::open(&two, &device).unwrap_err().to_string();
    assert!(broken.contains("two.safetensors"), "{broken}");
    assert!(SkeletalModel::open(Path::new("/nowhere"), &device).is_err());
}
