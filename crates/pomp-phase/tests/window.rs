//! Laws of windows, clean and stitched.

use burn::tensor::Device;
use pomp_motion::FrameTable;
use pomp_motion::glam::Vec3;
use pomp_phase::{PeriodicAutoencoder, PeriodicAutoencoderConfig, PhaseError, StitchConfig, WindowConfig};

fn ramp(frames: usize, joints: usize) -> FrameTable<Vec3> {
    let mut table = FrameTable::with_columns(joints);
    for frame in 0..frames {
        let row: Vec<Vec3> =
            (0..joints).map(|joint| Vec3::new(frame as f32, joint as f32, -2.0 * frame as f32)).collect();
        table.push(&row);
    }
    table
}

#[test]
fn a_window_holds_its_frames_less_their_mean() {
    let config = WindowConfig::default();
    let window = config.cut(&ramp(300, 3), 150).expect("the frame exists");
    assert_eq!((window.joints(), window.frames(), window.values().len()), (3, 121, 9 * 121));
    assert!((window.mean()[3] - 150.0).abs() < 1e-3 && (window.mean()[4] - 1.0).abs() < 1e-6);
    for (index, value) in window.values()[3 * 121..4 * 121].iter().enumerate() {
        assert!((value - (index as f32 - 60.0)).abs() < 1e-3, "joint 1, x, frame {index}: {value}");
    }
    assert!(
        window.values()[121..242].iter().all(|value| value.abs() < 1e-6),
        "a constant row has no variation"
    );
    assert!((config.time_s(60)).abs() < 1e-9 && (config.time_s(120) - 1.0).abs() < 1e-6);
}

#[test]
fn beyond_the_ends_of_a_motion_its_first_and_last_velocities_are_held() {
    let config = WindowConfig::default();
    let start = config.cut(&ramp(300, 1), 0).expect("the frame exists");
    let x: Vec<f32> = start.values()[..121].iter().map(|value| value + start.mean()[0]).collect();
    assert!(x[..=60].iter().all(|value| value.abs() < 1e-3) && (x[120] - 60.0).abs() < 1e-3);
    let end = config.cut(&ramp(300, 1), 299).expect("the frame exists");
    let x: Vec<f32> = end.values()[..121].iter().map(|value| value + end.mean()[0]).collect();
    assert!((x[0] - 239.0).abs() < 1e-3 && x[60..].iter().all(|value| (value - 299.0).abs() < 1e-3));
    assert!(config.cut(&ramp(1, 2), 0).is_ok(), "one frame is a motion");
}

#[test]
fn a_stitched_window_of_true_past_and_future_is_the_clean_window_but_for_the_near_frames() {
    let (window, stitch) = (WindowConfig::default(), StitchConfig::default());
    let truth = ramp(121, 2);
    let part = |from: usize, to: usize| {
        let mut table = FrameTable::with_columns(2);
        (from..=to).for_each(|frame| table.push(&truth[frame]));
        table
    };
    let stitched = stitch.stitch(&window, &part(0, 60), &part(81, 120)).expect("sizes agree");
    let value = |frame: usize| stitched.values()[frame] + stitched.mean()[0];
    for frame in (0..=60).chain(81..=120) {
        assert!((value(frame) - frame as f32).abs() < 1e-3, "frame {frame}: {}", value(frame));
    }
    // The ramp's 60 and -120 m/s² are clamped to 30 m/s² together, and die away within 0.1 s.
    for frame in 61..=80 {
        assert!(value(frame) > value(frame - 1) && value(frame) < 63.0, "frame {frame}: {}", value(frame));
    }
}

#[test]
fn an_extrapolated_velocity_starts_with_the_acceleration_and_stays_bounded() {
    let stitch = StitchConfig::default();
    let (velocity, acceleration) = (Vec3::new(1.0, 0.0, -1.0), Vec3::new(0.0, 12.0, 0.0));
    let one = stitch.near_velocity(velocity, acceleration, 1, 600.0);
    assert!(((one - velocity) * 600.0 - acceleration).length() < 0.2, "{one}");
    for ahead in [1, 20, 100_000] {
        let jolt = stitch.near_velocity(velocity, Vec3::splat(1e6), ahead, 60.0);
        assert!((jolt - velocity).length() <= stitch.decay_s * stitch.max_acceleration + 1e-4, "{jolt}");
    }
}

#[test]
fn rejects_frames_outside_the_motion() {
    assert!(matches!(
        WindowConfig::default().cut(&ramp(10, 1), 10),
        Err(PhaseError::NoSuchFrame { frame: 10, frames: 10 })
    ));
}

#[test]
fn rejects_velocities_that_are_not_finite_and_names_the_frame() {
    let mut velocities = ramp(200, 3);
    velocities[130][2].y = f32::NAN;
    let error = WindowConfig::default().cut(&velocities, 100).expect_err("a NaN is an error");
    assert!(matches!(error, PhaseError::NotFinite { row: 130, column: 2, .. }), "{error}");
}

#[test]
fn rejects_stitched_parts_of_the_wrong_length() {
    let (window, stitch) = (WindowConfig::default(), StitchConfig::default());
    assert!(stitch.stitch(&window, &ramp(60, 1), &ramp(40, 1)).is_err());
    assert!(stitch.stitch(&window, &ramp(61, 1), &ramp(41, 1)).is_err());
    assert!(stitch.stitch(&window, &ramp(61, 1), &ramp(40, 2)).is_err());
}

#[test]
fn rejects_configurations_that_make_no_window() {
    assert!(WindowConfig { radius_frames: 1, ..WindowConfig::default() }.validate().is_err());
    assert!(WindowConfig { frame_rate_hz: 0.0, ..WindowConfig::default() }.validate().is_err());
    for radius_frames in [1001, usize::MAX / 2 + 1, usize::MAX] {
        let window = WindowConfig { radius_frames, ..WindowConfig::default() };
        assert!(window.frames() > 2000);
        let said = window.validate().unwrap_err().to_string();
        assert!(said.contains("window.radius_frames = ") && said.contains("2 to 1000"), "{said}");
        assert!(matches!(window.cut(&ramp(5, 1), 0), Err(PhaseError::OutOfRange { .. })));
        let config = PeriodicAutoencoderConfig { window, ..PeriodicAutoencoderConfig::new(1) };
        assert!(PeriodicAutoencoder::new(&config, 1, &Device::flex()).is_err());
    }
    let window = WindowConfig::default();
    assert!(StitchConfig { near_frames: 61, ..StitchConfig::default() }.validate(&window).is_err());
    assert!(StitchConfig { decay_s: f32::NAN, ..StitchConfig::default() }.validate(&window).is_err());
    assert!(StitchConfig { max_acceleration: -1.0, ..StitchConfig::default() }.validate(&window).is_err());
}
