//! Every motion-capture file of the project's data parses, and its header says what the reader gives.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_formats::{BvhWarning, read_bvh};
use std::path::{Path, PathBuf};

fn bvh_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the data folder can be listed") {
        let path = entry.expect("the data folder can be listed").path();
        if path.is_dir() {
            bvh_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "bvh") {
            found.push(path);
        }
    }
}

#[test]
fn every_file_of_core_and_grf_parses_to_a_body_that_stands_on_the_ground() {
    let Some(data) = pomp_testing::recorded(".", "reading every clip of recorded motion") else { return };
    let mut files = Vec::new();
    bvh_files(&data.join("core"), &mut files);
    bvh_files(&data.join("grf"), &mut files);
    files.sort();
    assert!(files.len() >= 139, "{} files", files.len());
    let mut bytes = 0;
    let mut root_choices = 0;
    let start = std::time::Instant::now();
    for path in &files {
        let file = read_bvh(path).unwrap_or_else(|error| panic!("{error}"));
        bytes += std::fs::metadata(path).unwrap().len();
        let motion = &file.motion;
        for warning in &file.warnings {
            let BvhWarning::PositionChannels { added, .. } = warning else {
                panic!("{}: unexpected warning: {warning}", path.display())
            };
            assert!(*added, "{}: the root of this file moves relative to its offset", path.display());
            root_choices += 1;
        }
        let middle = motion.global_pose(motion.frames() / 2);
        let lowest = middle.positions.iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
        let highest = middle.positions.iter().map(|p| p.y).fold(f32::NEG_INFINITY, f32::max);
        assert!(highest - lowest > 1.0 && lowest > -40.0, "{}: {lowest} to {highest}", path.display());
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{} files, {:.1} MB in {seconds:.2} s, {:.0} MB/s; {root_choices} roots relative to their offset",
        files.len(),
        bytes as f64 / 1e6,
        bytes as f64 / 1e6 / seconds
    );
}
