//! Reading a BVH file of 100 MB, beside `bvh_anim` alone: a clip of the repository, its frames repeated.

#![allow(missing_docs, reason = "criterion's macros")]
#![allow(clippy::unwrap_used, reason = "a bench may panic")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::fs::File;
use std::hint::black_box;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

const BYTES: usize = 100_000_000;

/// Writes the clip `from` into `folder`, its frames repeated until the file has [`BYTES`].
fn repeated(from: &Path, folder: &Path) -> PathBuf {
    let text = std::fs::read_to_string(from).unwrap();
    let (before, block) = text.split_once("Frames:").unwrap();
    let (_, rest) = block.split_once('\n').unwrap();
    let (time, rows) = rest.split_once('\n').unwrap();
    let times = BYTES.div_ceil(rows.len());
    let frames = times * rows.lines().count();
    let path = folder.join("repeated.bvh");
    let mut file = File::create(&path).unwrap();
    write!(file, "{before}Frames: {frames}\n{time}\n").unwrap();
    for _ in 0..times {
        file.write_all(rows.as_bytes()).unwrap();
    }
    path
}

fn bvh(criterion: &mut Criterion) {
    let clip = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/clips/01_walk.bvh");
    let folder = tempfile::tempdir().unwrap();
    let path = repeated(&clip, folder.path());
    let bytes = std::fs::metadata(&path).unwrap().len();
    let mut group = criterion.benchmark_group("read_bvh");
    group.sample_size(10).throughput(Throughput::Bytes(bytes));
    group.bench_function("ours/100_MB", |bencher| {
        bencher.iter(|| black_box(pomp_formats::bvh::read_bvh(&path).unwrap().motion.poses.len()));
    });
    group.bench_function("bvh_anim/100_MB", |bencher| {
        bencher.iter(|| {
            let file = BufReader::new(File::open(&path).unwrap());
            black_box(bvh_anim::from_reader(file).unwrap().num_frames())
        });
    });
    group.finish();
}

criterion_group!(benches, bvh);
criterion_main!(benches);
