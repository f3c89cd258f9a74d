//! Styles of procedural walks: walks of several speeds, upright and bent forward.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use nalgebra::DVector;
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::random::Draws;
use pomp_motion::{Clip, Recording, humanoid};
use pomp_style::{
    Constraint, CycleConfig, DataRecord, EditSettings, FitReport, Scope, StyleClip, StyleConfig, StyleError,
    StyleModel, blend, cut, edit, fit, open, restyle, save, walk,
};
use pomp_synthetic::{MotionKind, MotionRequest, generate};
use pomp_terrain::HeightMap;
use std::sync::OnceLock;

/// A walk with contacts; bent forward by `stoop` radians, arms raised by as much.
fn walking(name: &str, speed_m_s: f32, stoop: f32, seconds: f32, seed: u64) -> Recording {
    let ground = HeightMap::flat(200.0, 1.0).unwrap();
    let request =
        MotionRequest { speed_m_s, duration_s: seconds, seed, ..MotionRequest::new(MotionKind::Walk) };
    let made = generate(&request, &ground).unwrap();
    let poses = made
        .clip
        .poses
        .into_iter()
        .map(|mut pose| {
            for (joint, axis) in [
                (humanoid::SPINE1, Vec3::X),
                (humanoid::LEFT_ARM, Vec3::Z),
                (humanoid::RIGHT_ARM, Vec3::NEG_Z),
            ] {
                let rotation = &mut pose.local_rotations[joint.0];
                *rotation = (Quat::from_axis_angle(axis, stoop) * *rotation).normalize();
            }
            pose
        })
        .collect();
    let clip = Clip { name: name.to_owned(), poses, ..made.clip };
    let mut recording = Recording::of_clip(&clip);
    recording.foot_contact = made.foot_contact;
    recording.gait = made.gait;
    recording
}

fn clips() -> Vec<StyleClip> {
    let styles = [("neutral", 1.2, 0.0), ("hasty", 1.6, 0.05), ("tired", 0.9, 0.45)];
    let mut clips = Vec::new();
    for (style, speed, stoop) in styles {
        for seed in 0..5u64 {
            let vary = seed as f32 - 2.0;
            let recording =
                walking(&format!("{style}_{seed}"), speed + 0.03 * vary, stoop + 0.02 * vary, 14.0, seed);
            clips.push(StyleClip { recording, style: style.to_owned() });
        }
    }
    clips
}

fn config() -> StyleConfig {
    let mut config = StyleConfig { posture_components: 12, timing_components: 4, ..StyleConfig::default() };
    config.subspaces.count = 4;
    config.subspaces.restarts = 3;
    config
}

fn fitted() -> &'static (StyleModel, FitReport) {
    static FITTED: OnceLock<(StyleModel, FitReport)> = OnceLock::new();
    FITTED.get_or_init(|| {
        let reference = walking("reference", 1.2, 0.0, 8.0, 9);
        fit(&clips(), &reference, &config(), DataRecord::default()).unwrap()
    })
}

fn distance(a: &Recording, b: &Recording) -> f32 {
    let frames = a.frames().min(b.frames());
    let sum: f32 = (0..frames)
        .flat_map(|t| {
            a.positions[t].iter().zip(&b.positions[t]).map(|(a, b)| a.distance(*b)).collect::<Vec<_>>()
        })
        .sum();
    sum / (frames * a.skeleton.len()) as f32
}

#[test]
fn cycles_run_from_a_strike_of_the_left_foot_to_the_next_along_z() {
    let recording = walking("walk", 1.3, 0.0, 8.0, 1);
    let cut = cut(&recording, "neutral", &CycleConfig::default()).unwrap();
    assert!(cut.cycles.len() >= 4, "{} cycles, {:?}", cut.cycles.len(), cut.left_out);
    for cycle in &cut.cycles {
        let (first, last) = (&cycle.positions[0][0], &cycle.positions[cycle.frames() - 1][0]);
        assert!(first.x.abs() < 1e-4 && first.z.abs() < 1e-4, "{first}");
        assert!(last.x.abs() < 1e-3 && (last.z / cycle.duration_s() - 1.3).abs() < 0.1, "{last}");
        let toes = cycle.positions.iter().map(|p| p[humanoid::LEFT_TOE.0].y).fold(f32::MAX, f32::min);
        assert!((toes - 0.02).abs() < 0.03, "the ground is y = 0, the lowest toe is at {toes}");
        assert!(cycle.keys.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", cycle.keys);
    }
    // The last frame of a cycle is the first of the next one.
    for pair in cut.cycles.windows(2) {
        assert_eq!(pair[0].first_frame + pair[0].frames() - 1, pair[1].first_frame);
    }
}

#[test]
fn a_turning_walk_has_no_cycles_and_says_why() {
    let ground = HeightMap::flat(200.0, 1.0).unwrap();
    let request =
        MotionRequest { turn_rate_rad_s: 1.0, duration_s: 6.0, ..MotionRequest::new(MotionKind::Walk) };
    let made = generate(&request, &ground).unwrap();
    let mut recording = Recording::of_clip(&made.clip);
    recording.foot_contact = made.foot_contact;
    let cut = cut(&recording, "turn", &CycleConfig::default()).unwrap();
    assert!(cut.cycles.is_empty());
    assert!(cut.left_out.iter().all(|reason| reason.contains("most_turn_deg")), "{:?}", cut.left_out);
}

#[test]
fn aligning_a_warped_cycle_to_itself_recovers_the_warp() {
    let (model, _) = fitted();
    let recording = walking("reference", 1.2, 0.0, 8.0, 9);
    let cut = cut(&recording, "neutral", &CycleConfig::default()).unwrap();
    let reference = cut.cycles.iter().find(|cycle| cycle.name == model.reference().name).unwrap();
    // Within each segment time runs first slower, then faster; key frames stay.
    let curve = |x: f64| x + 0.2 * (std::f64::consts::PI * x).sin().powi(2) * (1.0 - x);
    let mut truth = vec![0.0];
    for pair in reference.keys.windows(2) {
        let (from, length) = (pair[0] as f64, (pair[1] - pair[0]) as f64);
        truth.extend((1..=pair[1] - pair[0]).map(|k| from + length * curve(k as f64 / length)));
    }
    // The pose at frame k of the warped cycle is the reference's at the t with truth(t) = k.
    let mut warped = reference.clone();
    for k in 0..warped.frames() {
        let after = truth.partition_point(|&w| w <= k as f64).clamp(1, truth.len() - 1);
        let t = (after - 1) as f64 + (k as f64 - truth[after - 1]) / (truth[after] - truth[after - 1]);
        let (before, share) = ((t.floor() as usize).min(truth.len() - 2), t);
        warped.poses[k] =
            reference.poses[before].lerp(&reference.poses[before + 1], (share - before as f64) as f32);
        warped.positions[k] = warped.skeleton.forward_kinematics(&warped.poses[k]).positions.to_vec();
    }
    let found = model.align(&warped).unwrap().warp;
    let itself = model.align(reference).unwrap().warp;
    let worst = |warp: &[f64], truth: &dyn Fn(usize) -> f64| {
        warp.iter().enumerate().map(|(t, w)| (w - truth(t)).abs()).fold(0.0, f64::max)
    };
    let mean = found.iter().zip(&truth).map(|(a, b)| (a - b).abs()).sum::<f64>() / truth.len() as f64;
    let control = (0..truth.len()).map(|t| (truth[t] - t as f64).abs()).sum::<f64>() / truth.len() as f64;
    println!(
        "mean error {mean:.2} frames, worst {:.2}; without a warp {control:.2}",
        worst(&found, &|t| truth[t])
    );
    assert!(worst(&itself, &|t| t as f64) < 1e-9, "a cycle is aligned to itself frame by frame");
    assert!(mean < 0.35 * control && worst(&found, &|t| truth[t]) < 1.5, "{mean} {control}");
}

#[test]
fn warps_rise_strictly_and_key_frames_fall_on_key_frames() {
    let (model, _) = fitted();
    for clip in clips() {
        for cycle in cut(&clip.recording, &clip.style, &CycleConfig::default()).unwrap().cycles {
            let warp = model.align(&cycle).unwrap().warp;
            assert!(warp.windows(2).all(|pair| pair[1] > pair[0]), "{}", cycle.name);
            for (own, of_reference) in cycle.keys.iter().zip(model.reference().keys) {
                assert!((warp[of_reference] - *own as f64).abs() < 1e-9, "{}", cycle.name);
            }
        }
    }
    // Codes far from all cycles too.
    let mut draws = Draws::new(3, 0);
    for _ in 0..1000 {
        let code = DVector::from_fn(16, |_, _| 4.0 * f64::from(draws.centred()));
        assert!(model.motion(&code).warp.windows(2).all(|pair| pair[1] > pair[0]));
    }
}

#[test]
fn all_principal_components_keep_a_cycle_exactly() {
    let clips: Vec<StyleClip> = clips().into_iter().take(5).collect();
    let reference = &clips[0].recording;
    // Fit and cycles are the same, and there are as many components as the cycles span.
    let count: usize = clips
        .iter()
        .map(|clip| cut(&clip.recording, &clip.style, &CycleConfig::default()).unwrap().cycles.len())
        .sum();
    let samples = nalgebra::DMatrix::from_fn(20, 300, |n, d| ((n * 37 + d * 11) as f64).sin());
    let whole = pomp_style::Principal::fit(&samples, 100);
    let half = pomp_style::Principal::fit(&samples, 5);
    let error = |principal: &pomp_style::Principal| {
        (0..20)
            .map(|n| {
                let row = samples.row(n).transpose();
                (principal.restore(&principal.project(&row)) - row).norm()
            })
            .fold(0.0, f64::max)
    };
    assert!(whole.components() <= 19 && (whole.kept() - 1.0).abs() < 1e-9);
    assert!(error(&whole) < 1e-9 && (half.kept() > 0.999 || error(&half) > 1e-3), "{}", error(&half));
    // Fewer cycles than dimensions are refused: whitening would make noise of what they do not span.
    let config = StyleConfig { posture_components: 200, timing_components: 20, ..config() };
    let refused = fit(&clips, reference, &config, DataRecord::default()).unwrap_err();
    assert!(matches!(refused, StyleError::TooFewCycles { .. }), "{refused}");
    assert!(refused.to_string().contains("lower posture_components") && count > 20, "{refused}");
}

#[test]
fn a_model_restores_cycles_and_tells_styles_apart() {
    let (model, report) = fitted();
    println!("{}", serde_json::to_string_pretty(report).unwrap());
    let held_out = report.held_out.as_ref().unwrap();
    assert!(report.held_in.reconstruction_m.mean < 0.02, "{:?}", report.held_in.reconstruction_m);
    assert!(held_out.reconstruction_m.mean < 0.05, "{:?}", held_out.reconstruction_m);
    assert!(held_out.accuracy.code > 0.9 && held_out.accuracy.chance < 0.5, "{:?}", held_out.accuracy);
    assert_eq!(model.styles(), ["hasty", "neutral", "tired"]);
}

#[test]
fn a_blend_at_its_ends_is_what_was_given() {
    let (model, _) = fitted();
    let (content, style) = (model.code_of("neutral").unwrap(), model.code_of("tired").unwrap());
    assert_eq!(blend(model, &content, &[(0.0, style.clone())], Scope::Style).unwrap(), content);
    assert_eq!(blend(model, &content, &[], Scope::Style).unwrap(), content);
    assert_eq!(blend(model, &content, &[(1.0, style.clone())], Scope::All).unwrap(), style);
    let inside = blend(model, &content, &[(1.0, style.clone())], Scope::Style).unwrap();
    let rows = model.subspaces().rows(model.style_subspace());
    for row in 0..content.len() {
        assert_eq!(inside[row], if rows.contains(&row) { style[row] } else { content[row] });
    }
    // What stands in a file of motion follows: all of another style is that style's walk.
    let walked = |code| walk(model, code, 3.0, false, "walk").unwrap();
    let all = blend(model, &content, &[(1.0, style.clone())], Scope::All).unwrap();
    assert!(distance(&walked(&all), &walked(&style)) < 1e-6);
    assert!(distance(&walked(&content), &walked(&style)) > 0.02);
}

#[test]
fn rejects_weights_that_are_no_shares() {
    let (model, _) = fitted();
    let content = model.code_of("neutral").unwrap();
    for weights in [vec![-0.1], vec![0.6, 0.6], vec![f64::NAN]] {
        let styles: Vec<(f64, DVector<f64>)> =
            weights.into_iter().map(|weight| (weight, content.clone())).collect();
        let refused = blend(model, &content, &styles, Scope::Style).unwrap_err().to_string();
        assert!(refused.contains("add up to 1 at most"), "{refused}");
    }
    let unknown = model.code_of("happy").unwrap_err().to_string();
    assert!(unknown.contains("\"happy\"") && unknown.contains("hasty, neutral, tired"), "{unknown}");
}

#[test]
fn a_walk_goes_on_without_jumps_straight_ahead_on_standing_feet() {
    let (model, _) = fitted();
    let code = model.code_of("hasty").unwrap();
    let speeds = |recording: &Recording, joint: usize| -> Vec<f32> {
        (1..recording.frames())
            .map(|t| recording.positions[t][joint].distance(recording.positions[t - 1][joint]) * 60.0)
            .collect()
    };
    let recording = walk(model, &code, 6.0, true, "hasty").unwrap();
    assert_eq!(recording.frames(), 361);
    let end = recording.positions[360][0];
    assert!((end.z / 6.0 - 1.6).abs() < 0.12 && end.x.abs() < 0.1, "{end}");
    // The pelvis never jumps, also where strides meet.
    let pelvis = speeds(&recording, 0);
    let (low, high) = pelvis.iter().fold((f32::MAX, 0.0f32), |(l, h), &v| (l.min(v), h.max(v)));
    assert!(low > 1.0 && high < 2.3, "{low} to {high} m/s");
    // A planted toe stands; without holding feet it slides more.
    let slide = |recording: &Recording| {
        let speeds = speeds(recording, humanoid::LEFT_TOE.0);
        let planted: Vec<f32> = (1..recording.frames())
            .filter(|&t| recording.foot_contact[t][1] && recording.foot_contact[t - 1][1])
            .map(|t| speeds[t - 1])
            .collect();
        planted.iter().sum::<f32>() / planted.len() as f32
    };
    let free = walk(model, &code, 6.0, false, "hasty").unwrap();
    println!(
        "a planted toe slides {:.3} m/s, {:.3} m/s where it is not held",
        slide(&recording),
        slide(&free)
    );
    assert!(slide(&recording) < 0.05 && slide(&recording) < slide(&free));
}

#[test]
fn an_edit_meets_its_constraint_and_leaves_the_rest_of_the_code() {
    let (model, _) = fitted();
    let code = model.code_of("neutral").unwrap();
    // Where the head is at mid-cycle, a little lower: as the tired bend.
    let constraint: Constraint = "Head@0.5=_,1.45,_".parse().unwrap();
    for scope in [Scope::Style, Scope::All] {
        let edited = edit(
            model,
            &code,
            std::slice::from_ref(&constraint),
            EditSettings { scope, ..EditSettings::default() },
        )
        .unwrap();
        println!(
            "{scope:?}: {} steps, {:?} to {:?} m, moved {}",
            edited.iterations, edited.before_m, edited.after_m, edited.moved
        );
        assert!(edited.iterations <= 30);
        assert!(edited.after_m[0] < 0.5 * edited.before_m[0], "{edited:?}");
        if scope == Scope::All {
            assert!(edited.after_m[0] < 0.01, "{edited:?}");
        } else {
            let rows = model.subspaces().rows(model.style_subspace());
            assert!((0..code.len()).all(|row| rows.contains(&row) || edited.code[row] == code[row]));
        }
    }
}

#[test]
fn rejects_constraints_that_cannot_be_read() {
    for (text, reason) in [
        ("Head", "there is no @"),
        ("Head@0.5", "there is no ="),
        ("Head@soon=1,1,1", "the time is not a number"),
        ("Head@1.5=1,1,1", "not from 0 to 1"),
        ("Head@0.5=1,1", "three numbers"),
        ("Head@0.5=1,x,1", "not a number"),
        ("Head@0.5=1,99,1", "within 5 m"),
        ("Head@0.5=_,_,_", "all three numbers are free"),
    ] {
        let refused = text.parse::<Constraint>().unwrap_err().to_string();
        assert!(refused.contains(reason) && refused.contains("LeftHand@0.5"), "{refused}");
    }
    let (model, _) = fitted();
    let code = model.code_of("neutral").unwrap();
    let wing: Constraint = "Wing@0.5=0,1,0".parse().unwrap();
    let refused = edit(model, &code, &[wing], EditSettings::default()).unwrap_err().to_string();
    assert!(refused.contains("no joint \"Wing\"") && refused.contains("LeftHand"), "{refused}");
}

#[test]
fn a_clip_restyled_without_weight_is_the_clip_and_with_weight_goes_to_the_style() {
    let (model, _) = fitted();
    let source = walking("source", 1.2, 0.0, 10.0, 77);
    let tired = model.code_of("tired").unwrap();
    let made = |weight| restyle(model, &source, &[(weight, tired.clone())], Scope::All, 3).unwrap();
    let (same, whole) = (made(0.0), made(1.0));
    let cycles = cut(&source, "", &CycleConfig::default()).unwrap().cycles;
    let first = cycles[0].first_frame;
    // Planted feet are held, which a walk's own feet are not to the last centimetre: legs may differ, nothing else.
    let (mut legs, mut others) = (0.0f32, 0.0f32);
    for t in 0..same.recording.frames() {
        for (joint, (a, b)) in
            same.recording.positions[t].iter().zip(&source.positions[first + t]).enumerate()
        {
            let largest = if (humanoid::LEFT_LEG.0..=humanoid::RIGHT_TOE.0).contains(&joint) {
                &mut legs
            } else {
                &mut others
            };
            *largest = largest.max(a.distance(*b));
        }
    }
    println!("restyled without weight: legs at most {legs:.4} m from the source, other joints {others:.6} m");
    assert!(others < 1e-3 && legs < 0.06, "{others} {legs}");
    // The style's mark, the stoop, is in the made clip: the head is lower by most of what the style's own walk has.
    let head = |recording: &Recording| {
        let sum: f32 = (0..recording.frames()).map(|t| recording.positions[t][humanoid::HEAD.0].y).sum();
        sum / recording.frames() as f32
    };
    let of_style = head(&walk(model, &tired, 5.0, true, "tired").unwrap());
    let (from, to) = (head(&same.recording), head(&whole.recording));
    println!("height of the head: {from:.3} m, restyled {to:.3} m, of the style {of_style:.3} m");
    assert!(from - to > 0.8 * (from - of_style), "{from} {to} {of_style}");
    let refused =
        restyle(model, &walking("short", 1.2, 0.0, 2.0, 1), &[], Scope::All, 9).unwrap_err().to_string();
    assert!(refused.contains("short: it has") && refused.contains("less than 9"), "{refused}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_a_file_gives_the_model_back() {
    let (model, report) = fitted();
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a.safetensors"), folder.path().join("b.safetensors"));
    save(model, report, &a).unwrap();
    let reference = walking("reference", 1.2, 0.0, 8.0, 9);
    let (again, report_again) = fit(&clips(), &reference, &config(), DataRecord::default()).unwrap();
    save(&again, &report_again, &b).unwrap();
    assert!(std::fs::read(&a).unwrap() == std::fs::read(&b).unwrap(), "the bytes differ");
    let (opened, opened_report) = open(&a).unwrap();
    assert_eq!(opened_report.styles, report.styles);
    // Text holds all but the last bit of a number.
    let error = |report: &FitReport| report.held_in.reconstruction_m.mean;
    assert!((error(&opened_report) / error(report) - 1.0).abs() < 1e-12);
    let code = model.code_of("tired").unwrap();
    assert_eq!(opened.code_of("tired").unwrap(), code);
    assert!(opened.motion(&code) == model.motion(&code), "the motions differ");
    let cycle = &cut(&reference, "", &CycleConfig::default()).unwrap().cycles[1];
    assert!(opened.align(cycle).unwrap() == model.align(cycle).unwrap(), "the alignments differ");
}

#[test]
fn rejects_files_that_are_no_style_files() {
    let (model, report) = fitted();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("styles.safetensors");
    save(model, report, &path).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let refused = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        open(&path).unwrap_err().to_string()
    };
    let mut changed = whole.clone();
    let last = changed.len() - 3;
    changed[last] ^= 0x10;
    for (bytes, reason) in [
        (&b"no file of ours"[..], "no style file"),
        (&whole[..whole.len() / 2], "cut"),
        (&changed[..], "not those that were written"),
    ] {
        let told = refused(bytes);
        assert!(
            told.contains(reason) && told.contains("styles.safetensors") && told.contains("pomp style fit"),
            "{told}"
        );
    }
    let missing = open(&folder.path().join("none")).unwrap_err().to_string();
    assert!(missing.contains("cannot read") && missing.contains("none"), "{missing}");
}

#[test]
fn rejects_clips_and_settings_that_do_not_fit() {
    let all = clips();
    let reference = walking("reference", 1.2, 0.0, 8.0, 9);
    let refused = |clips: &[StyleClip], reference: &Recording, config: &StyleConfig| {
        fit(clips, reference, config, DataRecord::default()).unwrap_err().to_string()
    };
    let three = StyleConfig { posture_components: 13, ..config() };
    assert!(refused(&all, &reference, &three).contains("subspaces.count = 4"));
    let stands = walking("short", 1.2, 0.0, 0.9, 1);
    let told = refused(&all, &stands, &config());
    assert!(told.contains("short:") && told.contains("--reference"), "{told}");
    assert!(refused(&[], &reference, &config()).contains("walks ahead on level ground"));
    let brief = StyleClip { recording: walking("brief_0", 1.2, 0.0, 0.9, 1), style: "brief".to_owned() };
    let told = refused(&[all.clone(), vec![brief]].concat(), &reference, &config());
    assert!(told.contains("the style \"brief\" has no walking cycle"), "{told}");
    // A cycle at another frame rate or on another body is refused where it is used.
    let (model, _) = fitted();
    let cycle = || cut(&reference, "", &CycleConfig::default()).unwrap().cycles.swap_remove(0);
    let mut slow = cycle();
    slow.frame_rate_hz = 30.0;
    assert!(model.align(&slow).unwrap_err().to_string().contains("30 frames a second"));
    let mut tall = cycle();
    tall.skeleton = std::sync::Arc::new(tall.skeleton.scaled(1.2));
    assert!(model.align(&tall).unwrap_err().to_string().contains("height_m = 1.75"));
}
