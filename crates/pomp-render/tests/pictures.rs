//! Laws of pictures and animations, on hand-made recordings.

mod support;

use gif::{ColorOutput, DecodeOptions};
use glam::Vec3;
use pomp_motion::{Clip, FrameTable, Joint, JointIndex, Pose, Recording, Skeleton, humanoid as h};
use pomp_render::{
    Azimuth, CameraOptions, Ghost, Image, RenderError, RenderOptions, Renderer, Theme, View,
    render_contact_sheet, render_frame, render_gif, render_row, stack_rows,
};
use std::sync::Arc;

fn small() -> RenderOptions {
    RenderOptions { width: 200, height: 150, ..RenderOptions::default() }
}

/// Only the figure, on plain ground.
fn bare() -> RenderOptions {
    RenderOptions {
        ghost: Ghost::None,
        contact_arrows: false,
        push_arrows: false,
        control_path: false,
        trail_s: 0.0,
        overlay: false,
        ..small()
    }
}

fn flat_rollout(push_s: f32) -> Recording {
    support::rollout(&support::walk(2.0, |_, _| 0.0), push_s)
}

fn pixels(image: &Image, is: impl Fn([i32; 3]) -> bool) -> Vec<(u32, u32)> {
    (0..image.height())
        .flat_map(|y| (0..image.width()).map(move |x| (x, y)))
        .filter(|&(x, y)| is(image.pixel(x, y).map(i32::from)))
        .collect()
}

/// The left limbs.
fn orange([r, g, b]: [i32; 3]) -> bool {
    r > g + 50 && r > b + 60 && g > b && g < 160
}

/// Push arrows.
fn crimson([r, g, b]: [i32; 3]) -> bool {
    r > 140 && g < 70 && b > g && b < 130
}

/// Contact arrows.
fn golden([r, g, b]: [i32; 3]) -> bool {
    r > 150 && g > 105 && b < 90 && r - g < 110
}

fn mean_row(points: &[(u32, u32)]) -> f32 {
    points.iter().map(|p| p.1 as f32).sum::<f32>() / points.len() as f32
}

#[test]
fn the_same_recording_gives_the_same_bytes_with_any_number_of_threads() {
    let recording = flat_rollout(0.5);
    let gif = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut bytes = Vec::new();
        pool.install(|| render_gif(&recording, &small(), &mut bytes)).unwrap();
        bytes
    };
    let first = gif(1);
    assert_eq!(first, gif(3));
    assert_eq!(first, gif(1));
}

#[test]
fn a_gif_has_one_picture_per_step_and_each_lies_inside() {
    let recording = flat_rollout(0.5);
    for (fps, playback_speed, expected, delay) in [(25.0, 1.0, 51, 4), (20.0, 1.0, 41, 5), (20.0, 0.5, 81, 5)]
    {
        let options = RenderOptions { fps, playback_speed, ..small() };
        let mut bytes = Vec::new();
        render_gif(&recording, &options, &mut bytes).unwrap();
        let mut decoder = DecodeOptions::new();
        decoder.set_color_output(ColorOutput::Indexed);
        let mut reader = decoder.read_info(&bytes[..]).unwrap();
        assert_eq!((reader.width(), reader.height()), (200, 150));
        let mut count = 0;
        while let Some(frame) = reader.read_next_frame().unwrap() {
            assert!(u32::from(frame.left) + u32::from(frame.width) <= 200);
            assert!(u32::from(frame.top) + u32::from(frame.height) <= 150);
            assert_eq!(frame.delay, delay);
            count += 1;
        }
        assert_eq!(count, expected);
    }
}

#[test]
fn a_gif_shows_what_the_frames_show() {
    let recording = flat_rollout(0.5);
    let options = small();
    let mut bytes = Vec::new();
    render_gif(&recording, &options, &mut bytes).unwrap();
    let mut decoder = DecodeOptions::new();
    decoder.set_color_output(ColorOutput::RGBA);
    let mut reader = decoder.read_info(&bytes[..]).unwrap();
    let renderer = Renderer::new(&recording, &options).unwrap();
    let mut shown = vec![0u8; 200 * 150 * 4];
    let mut worst = 0.0f32;
    for index in renderer.animation_frames() {
        let frame = reader.read_next_frame().unwrap().unwrap();
        for (i, pixel) in frame.buffer.chunks_exact(4).enumerate().filter(|(_, pixel)| pixel[3] == 255) {
            let (x, y) = (i % usize::from(frame.width), i / usize::from(frame.width));
            let at = ((y + usize::from(frame.top)) * 200 + x + usize::from(frame.left)) * 4;
            shown[at..at + 4].copy_from_slice(pixel);
        }
        let truth = renderer.frame(index).unwrap();
        let squares: f32 =
            shown.iter().zip(truth.rgba()).map(|(&a, &b)| (f32::from(a) - f32::from(b)).powi(2)).sum();
        worst = worst.max((squares / (200.0 * 150.0 * 3.0)).sqrt());
    }
    println!("largest root mean square error of a frame: {worst:.2} of 255");
    assert!(worst < 5.0);
}

#[test]
fn every_pixel_of_a_picture_is_there_and_opaque() {
    let recording = flat_rollout(0.5);
    for (width, height) in [(32, 32), (333, 101), (101, 333)] {
        let image = render_frame(&recording, 40, &RenderOptions { width, height, ..small() }).unwrap();
        assert_eq!(image.rgba().len(), (width * height * 4) as usize);
        assert!(image.rgba().chunks_exact(4).all(|p| p[3] == 255));
        let png = png::Decoder::new(std::io::Cursor::new(image.to_png().unwrap())).read_info().unwrap();
        assert_eq!((png.info().width, png.info().height), (width, height));
    }
}

#[test]
fn a_character_high_above_the_ground_appears_higher() {
    let skeleton = Arc::new(Skeleton::humanoid(1.75));
    let standing = Pose::rest(&skeleton);
    let mut flying = standing.clone();
    flying.root_position.y += 0.4;
    let clip = Clip::new("hop", skeleton, 60.0, vec![standing, flying]).unwrap();
    let recording = Recording::of_clip(&clip);
    let row = |frame| mean_row(&pixels(&render_frame(&recording, frame, &bare()).unwrap(), orange));
    let (stands, flies) = (row(0), row(1));
    println!("mean row of the left limbs: {stands:.1} standing, {flies:.1} in the air");
    assert!(flies < stands - 10.0);
}

#[test]
fn the_figure_stays_in_view_while_it_walks() {
    let recording = flat_rollout(0.5);
    for frame in (0..recording.frames()).step_by(20) {
        let image = render_frame(&recording, frame, &bare()).unwrap();
        let left = pixels(&image, orange);
        assert!(left.len() > 100, "frame {frame}: {} pixels", left.len());
        let column = left.iter().map(|p| p.0 as f32).sum::<f32>() / left.len() as f32;
        assert!((60.0..140.0).contains(&column), "frame {frame}: column {column}");
    }
}

#[test]
fn the_left_side_is_on_the_right_of_a_picture_of_the_face() {
    let skeleton = Arc::new(Skeleton::humanoid(1.75));
    let pose = Pose::rest(&skeleton);
    let recording = Recording::of_clip(&Clip::new("rest", skeleton, 60.0, vec![pose]).unwrap());
    let seen_from = |azimuth| {
        let camera = CameraOptions { azimuth, ..CameraOptions::default() };
        let left = pixels(&render_frame(&recording, 0, &RenderOptions { camera, ..bare() }).unwrap(), orange);
        left.iter().map(|p| p.0 as f32).sum::<f32>() / left.len() as f32
    };
    assert!(seen_from(Azimuth::World(0.0)) > 105.0);
    assert!(seen_from(Azimuth::Heading(0.0)) > 105.0);
    assert!(seen_from(Azimuth::Travel(std::f32::consts::PI)) < 95.0);
}

#[test]
fn contact_arrows_appear_only_where_there_is_an_impulse() {
    let loaded = flat_rollout(9.0);
    let mut unloaded = loaded.clone();
    let track = unloaded.simulation.as_mut().unwrap();
    track.contact_impulse = FrameTable::filled(loaded.frames(), track.body_names.len(), Vec3::ZERO);
    let large = RenderOptions { width: 400, height: 300, ..bare() };
    let options = RenderOptions { contact_arrows: true, ..large.clone() };
    let plain = render_frame(&loaded, 50, &large).unwrap();
    let image = render_frame(&loaded, 50, &options).unwrap();
    let arrows = pixels(&image, golden);
    let new = arrows.iter().filter(|&&(x, y)| image.pixel(x, y) != plain.pixel(x, y)).count();
    println!("{new} golden pixels under load");
    assert!(new > 30);
    assert_eq!(render_frame(&unloaded, 50, &options).unwrap(), plain);
}

#[test]
fn a_push_is_visible_for_its_time_and_not_before() {
    let recording = flat_rollout(0.5);
    let options = RenderOptions { push_arrows: true, ..bare() };
    let count = |frame| pixels(&render_frame(&recording, frame, &options).unwrap(), crimson).len();
    let counts = [20, 29, 31, 40, 53, 56, 80].map(count);
    println!("crimson pixels before, during and after: {counts:?}");
    assert_eq!([counts[0], counts[1], counts[5], counts[6]], [0; 4]);
    assert!(counts[2..4].iter().all(|&c| c > 40));
}

#[test]
fn the_ghost_shows_where_the_target_differs() {
    let mut recording = flat_rollout(9.0);
    let options = RenderOptions { ghost: Ghost::Target, ..bare() };
    let differing = |recording: &Recording| {
        let [with, without] = [&options, &bare()].map(|o| render_frame(recording, 30, o).unwrap());
        pixels(&with, |_| true).iter().filter(|&&(x, y)| with.pixel(x, y) != without.pixel(x, y)).count()
    };
    let same = differing(&recording);
    let target = recording.generation.as_mut().unwrap();
    let moved: Vec<Vec3> = target.target_positions.values().iter().map(|&p| p + Vec3::X * 0.3).collect();
    target.target_positions = FrameTable::from_values(h::JOINTS, moved).unwrap();
    let apart = differing(&recording);
    println!("pixels of the ghost: {same} on the figure, {apart} beside it");
    assert!(apart > 600 && same * 5 < apart);
}

#[test]
fn terrain_hides_what_is_behind_it() {
    let mut recording = flat_rollout(9.0);
    let before = pixels(&render_frame(&recording, 0, &bare()).unwrap(), orange).len();
    let mut heights = FrameTable::filled(101, 101, 0.0f32);
    // A wall 1.2 m in front of the walker, across the line of sight from +Z.
    for column in 0..101 {
        heights[62][column] = 2.0;
    }
    recording.terrain = Some(pomp_motion::TerrainGrid { heights, origin: [-5.0, -5.0], cell_m: 0.1 });
    let camera =
        CameraOptions { azimuth: Azimuth::World(0.0), elevation_rad: 0.0, ..CameraOptions::default() };
    let behind =
        pixels(&render_frame(&recording, 0, &RenderOptions { camera, ..bare() }).unwrap(), orange).len();
    println!("pixels of the left limbs: {before} in the open, {behind} behind a wall");
    assert!(behind * 4 < before);
}

#[test]
fn a_contact_sheet_holds_its_pictures_in_order() {
    let recording = flat_rollout(0.5);
    let mut bytes = Vec::new();
    render_contact_sheet(&recording, &small(), 3, 2, &mut bytes).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut rgb).unwrap();
    assert_eq!((info.width, info.height), (3 * 200 + 2 * 3, 2 * 150 + 3));
    let last = render_frame(&recording, recording.frames() - 1, &small()).unwrap();
    for (x, y) in [(10, 10), (100, 80), (110, 40), (150, 140)] {
        let at = (((y + 153) * info.width + x + 406) * 3) as usize;
        assert_eq!(rgb[at..at + 3], last.pixel(x, y));
    }
}

#[test]
fn rows_hold_the_same_frames_below_each_other_and_nothing_where_a_recording_has_ended() {
    let recording = flat_rollout(0.5);
    let frames = [10, 40, recording.frames()];
    let row = render_row(&recording, &bare(), &frames).unwrap();
    assert_eq!((row.width(), row.height()), (3 * 200 + 2 * 3, 150));
    for (column, frame) in [(0, 10), (203, 40)] {
        let alone = render_frame(&recording, frame, &bare()).unwrap();
        assert!((0..150).all(|y| (0..200).all(|x| row.pixel(column + x, y) == alone.pixel(x, y))));
    }
    let empty = row.pixel(605, 0);
    assert!((0..150).all(|y| (406..606).all(|x| row.pixel(x, y) == empty)), "a frame beyond the end");
    // What is read back is what was written, and the rows stand where they are said to.
    assert_eq!(Image::from_png(&row.to_png().unwrap()).unwrap(), row);
    let rows = [("one", row.clone()), ("another", row.clone())];
    let stacked = stack_rows(&["0.2 s", "0.7 s", "end"], &rows, Theme::Light).unwrap();
    let (left, top) = (stacked.width() - row.width(), stacked.height() - 2 * row.height() - 3);
    for y in [top, top + 153] {
        assert!((0..150).all(|dy| (0..606).all(|x| stacked.pixel(left + x, y + dy) == row.pixel(x, dy))));
    }
    let ink = |xs: std::ops::Range<u32>, ys: std::ops::Range<u32>| {
        ys.flat_map(|y| xs.clone().map(move |x| (x, y)))
            .filter(|&(x, y)| stacked.pixel(x, y) != empty)
            .count()
    };
    let names = [ink(0..left, top..top + 150), ink(0..left, top + 153..top + 303)];
    assert!(names[0] > 20 && names[1] > names[0], "{names:?}");
    assert!((0..3).all(|column| ink(left + 203 * column..left + 203 * column + 200, 0..top) > 20));
}

#[test]
fn rejects_rows_of_nothing_and_bytes_that_are_no_picture() {
    let recording = flat_rollout(0.5);
    let refused = |result: Result<Image, RenderError>| result.unwrap_err().to_string();
    assert!(refused(render_row(&recording, &bare(), &[])).contains("1 to 32"));
    assert!(refused(stack_rows(&["0 s"], &[], Theme::Light)).contains("rows"));
    let row = render_row(&recording, &bare(), &[0]).unwrap();
    assert!(refused(stack_rows(&[], &[("one", row)], Theme::Light)).contains("columns"));
    assert!(matches!(Image::from_png(b"GIF89a"), Err(RenderError::NotPng { .. })));
}

#[test]
fn both_panels_of_a_comparison_hold_a_figure() {
    let recording = flat_rollout(0.5);
    let options = RenderOptions { width: 400, view: View::SideBySide, theme: Theme::Dark, ..bare() };
    let image = render_frame(&recording, 20, &options).unwrap();
    let left = pixels(&image, orange);
    assert!(left.iter().filter(|p| p.0 < 200).count() > 100);
    assert!(left.iter().filter(|p| p.0 >= 200).count() > 100);
}

#[test]
fn any_skeleton_can_be_drawn() {
    let joint = |name: &str, parent: Option<usize>, offset| Joint {
        name: name.to_owned(),
        parent: parent.map(JointIndex),
        offset,
    };
    let skeleton = Skeleton::new(vec![
        joint("base", None, Vec3::Y * 0.5),
        joint("L_arm", Some(0), Vec3::new(0.5, 0.2, 0.0)),
        joint("R_arm", Some(0), Vec3::new(-0.5, 0.2, 0.0)),
    ])
    .unwrap();
    let pose = Pose::rest(&skeleton);
    let recording = Recording::of_clip(&Clip::new("arms", Arc::new(skeleton), 60.0, vec![pose]).unwrap());
    assert!(!pixels(&render_frame(&recording, 0, &bare()).unwrap(), orange).is_empty());
}

#[test]
fn rejects_pictures_without_a_usable_size_or_rate() {
    let recording = flat_rollout(0.5);
    let with = |change: &dyn Fn(&mut RenderOptions)| {
        let mut options = small();
        change(&mut options);
        render_gif(&recording, &options, std::io::sink())
    };
    for result in [
        with(&|o| o.width = 0),
        with(&|o| o.height = 100_000),
        with(&|o| o.fps = f32::NAN),
        with(&|o| o.fps = 0.0),
        with(&|o| o.playback_speed = -1.0),
        with(&|o| o.camera.distance_heights = f32::INFINITY),
        with(&|o| o.camera.azimuth = Azimuth::World(f32::NAN)),
        with(&|o| o.frames = Some(5..5)),
    ] {
        assert!(matches!(result, Err(RenderError::BadOption { .. })), "{result:?}");
    }
    let sheet = render_contact_sheet(&recording, &small(), 0, 3, std::io::sink());
    assert!(matches!(sheet, Err(RenderError::BadOption { option: "columns", .. })));
}

#[test]
fn rejects_frames_beyond_the_end() {
    let recording = flat_rollout(0.5);
    let frames = recording.frames();
    assert!(matches!(render_frame(&recording, frames, &small()), Err(RenderError::FrameOutOfRange { .. })));
    let options = RenderOptions { frames: Some(0..frames + 1), ..small() };
    assert!(matches!(render_frame(&recording, 0, &options), Err(RenderError::FrameOutOfRange { .. })));
}

#[test]
fn rejects_views_of_a_simulation_that_is_not_there() {
    let mut recording = flat_rollout(0.5);
    recording.simulation = None;
    for view in [View::Simulated, View::SideBySide] {
        let result = render_frame(&recording, 0, &RenderOptions { view, ..small() });
        assert!(matches!(result, Err(RenderError::NothingToDraw { .. })));
    }
    assert!(render_frame(&recording, 0, &small()).is_ok());
}

#[test]
fn rejects_numbers_that_are_not_finite() {
    type Break = dyn Fn(&mut Recording);
    let breaks: [&Break; 7] = [
        &|r| r.positions[3][4].y = f32::NAN,
        &|r| r.simulation.as_mut().unwrap().positions[3][4].y = f32::INFINITY,
        &|r| r.simulation.as_mut().unwrap().assist_force[1].x = f32::NAN,
        &|r| r.generation.as_mut().unwrap().control[2][1] = f32::NAN,
        &|r| r.generation.as_mut().unwrap().pushes[0].impulse_ns.z = f32::NAN,
        &|r| r.terrain.as_mut().unwrap().heights[7][9] = f32::NAN,
        &|r| r.root[5][2] = f32::NAN,
    ];
    let mut whole = flat_rollout(0.5);
    whole.terrain = Some(support::terrain());
    assert!(Renderer::new(&whole, &small()).is_ok());
    for (index, change) in breaks.iter().enumerate() {
        let mut recording = whole.clone();
        change(&mut recording);
        let result = Renderer::new(&recording, &small()).map(|_| ());
        assert!(
            matches!(result, Err(RenderError::NotFinite { .. } | RenderError::BadRecording { .. })),
            "break {index}: {result:?}"
        );
    }
}

#[test]
fn rejects_bodies_and_pushes_without_a_place() {
    let mut recording = flat_rollout(0.5);
    recording.generation.as_mut().unwrap().pushes[0].body = 99;
    assert!(matches!(render_frame(&recording, 0, &small()), Err(RenderError::BadPush { body: 99, .. })));
    let mut recording = flat_rollout(0.5);
    recording.simulation.as_mut().unwrap().body_names[3] = "tail".to_owned();
    assert!(matches!(render_frame(&recording, 0, &small()), Err(RenderError::UnknownBody { .. })));
    assert!(render_frame(&recording, 0, &bare()).is_ok());
}
