//! The time of a frame, as a multiple of a loop of fixed work on the same machine in the same seconds. A bound on a time says more of the
//! machine than of the program; this one holds under load, because frames and loops take turns and the fastest of each are compared.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_embedded::Device;
use pomp_generator::{ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, Preset};
use pomp_lanes::{LANES, LaneLoop, Lanes, Wide};
use pomp_motion::Gait;
use pomp_terrain::HeightMap;
use std::hint::black_box;
use std::time::Instant;

/// Rows and columns of the matrix: 4 MB of weights and a million products of them.
const ROWS: usize = 1024;
const COLUMNS: usize = 1024;
/// Links of the chain.
const LINKS: usize = 30_000;
/// Frames and loops that are timed.
const TURNS: usize = 400;
/// Other programs may disturb a measurement as a whole; a frame that has become slow is slow in all of them.
const ATTEMPTS: usize = 3;
/// Most loops that a frame may take: between the 1.8 to 2.1 that were measured and the double.
const MOST: f64 = 2.8;

/// A matrix times a vector, in the widest registers that the machine has, as the networks run.
struct Product<'a> {
    matrix: &'a [f32],
    vector: &'a [f32],
    product: &'a mut [f32],
}

impl LaneLoop for Product<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        let (vector, _) = self.vector.as_chunks::<LANES>();
        for (row, value) in self.matrix.chunks_exact(COLUMNS).zip(self.product) {
            let (row, _) = row.as_chunks::<LANES>();
            let mut sums = [wide.splat(0.0); 4];
            for (weights, inputs) in row.chunks_exact(4).zip(vector.chunks_exact(4)) {
                for (sum, (weight, input)) in sums.iter_mut().zip(weights.iter().zip(inputs)) {
                    *sum = wide.multiply_add(wide.load(weight), wide.load(input), *sum);
                }
            }
            *value = sums.iter().flat_map(|sum| wide.store(*sum)).sum();
        }
    }
}

/// A chain of operations each of which waits for the one before, as in the recursions of the dynamics. A frame is made of both kinds of work, and
/// machines differ in how much faster they are at one than at the other.
fn chain(mut value: f32) -> f32 {
    for _ in 0..LINKS {
        value = (1.0 + value) / (1.0 + 0.5 * value * value);
    }
    value
}

/// The time below which a tenth lie: what neither other programs nor a clock that slows down have disturbed.
fn fastest(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 10]
}

/// Times of a frame, of two, and of a loop, seconds.
#[derive(Clone, Copy, Debug)]
struct Times {
    frame: f64,
    doubled: f64,
    reference: f64,
}

/// Times frames and loops in turn.
fn measure(generator: &mut Generator, plan: &ControlPlan) -> Times {
    let matrix: Vec<f32> = (0..ROWS * COLUMNS).map(|i| (i as f32 * 0.37).sin()).collect();
    let vector: Vec<f32> = (0..COLUMNS).map(|i| (i as f32 * 0.11).cos()).collect();
    let mut product = vec![0.0; ROWS];
    let lanes = Lanes::detect();
    let [mut frames, mut doubled, mut loops] = [(); 3].map(|()| Vec::with_capacity(TURNS));
    for _ in 0..TURNS {
        let begun = Instant::now();
        lanes.run(Product { matrix: &matrix, vector: &vector, product: black_box(&mut product) });
        black_box(chain(black_box(0.3)));
        loops.push(begun.elapsed().as_secs_f64());
        let begun = Instant::now();
        black_box(generator.step(plan, &[]).unwrap());
        frames.push(begun.elapsed().as_secs_f64());
        let begun = Instant::now();
        black_box(generator.step(plan, &[]).unwrap());
        black_box(generator.step(plan, &[]).unwrap());
        doubled.push(begun.elapsed().as_secs_f64());
    }
    let [frame, doubled, reference] = [frames, doubled, loops].map(fastest);
    Times { frame, doubled, reference }
}

#[test]
fn a_frame_takes_as_many_reference_loops_as_it_did() {
    let model = pomp_embedded::load(&Device::flex()).unwrap();
    let ground = HeightMap::flat(400.0, 2.0).unwrap();
    let mut generator = Generator::new(&model, ground, &GeneratorConfig::default(), Gait::Walk, 1).unwrap();
    let plan = ControlPlan::preset(Preset::Walk, 120.0, FRAME_RATE_HZ);
    // A stride, so that phases are read.
    for _ in 0..90 {
        generator.step(&plan, &[]).unwrap();
    }
    let holds = (0..ATTEMPTS).any(|_| {
        let Times { frame, doubled, reference } = measure(&mut generator, &plan);
        println!(
            "a frame takes {:.3} ms, {:.2} loops of {:.3} ms; one of twice the work {:.2}",
            frame * 1e3,
            frame / reference,
            reference * 1e3,
            doubled / reference
        );
        // The control, two frames in place of one, has to be seen.
        frame / reference < MOST && doubled / reference > MOST
    });
    assert!(
        holds,
        "a frame takes more than {MOST} loops, or the bound would not see one that takes twice as long"
    );
}
