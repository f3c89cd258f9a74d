//! Which sets of instructions give the same bytes, and that they do what the trait says, to the bit.

use pomp_lanes::{
    LANES, LaneLoop, Lanes, SIXTEEN, Wide, exponential, hyperbolic_tangent, multiply_add, short,
};

/// Three numbers per place: of all sizes, some subnormal, with sums that cancel.
fn operands(count: usize) -> [Vec<f32>; 3] {
    let wave = |at: usize, step: f32| (at as f32 * step).sin() * 2.0f32.powi((at % 61) as i32 - 30);
    let a: Vec<f32> = (0..count).map(|at| wave(at, 0.731)).collect();
    let b: Vec<f32> = (0..count).map(|at| wave(7 * at + 3, 0.377)).collect();
    let c = (0..count)
        .map(|at| match at % 4 {
            0 => wave(at + 11, 0.517),
            1 => -a[at] * b[at],
            2 => f32::from_bits((at as u32).wrapping_mul(2_654_435_761) & 0x007F_FFFF),
            _ => 0.0,
        })
        .collect();
    [a, b, c]
}

struct Sums<'a> {
    operands: &'a [Vec<f32>; 3],
    /// a · b + c in eights, c − a · b in eights, a · b + c in sixteens, a · b + c one by one; then the same with [`Wide::once`].
    out: &'a mut [[Vec<f32>; 4]; 2],
}

impl LaneLoop for Sums<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        let [out, once] = self.out;
        sums(wide, self.operands, out);
        sums(wide.once(), self.operands, once);
    }
}

#[inline(always)]
fn sums<W: Wide>(wide: W, [a, b, c]: &[Vec<f32>; 3], out: &mut [Vec<f32>; 4]) {
    let eights = a.as_chunks::<LANES>().0.iter().zip(b.as_chunks().0).zip(c.as_chunks().0);
    for ((a, b), c) in eights {
        let (a, b, c) = (wide.load(a), wide.load(b), wide.load(c));
        out[0].extend(wide.store(wide.multiply_add(a, b, c)));
        out[1].extend(wide.store(wide.multiply_subtract(a, b, c)));
    }
    let sixteens = a.as_chunks::<SIXTEEN>().0.iter().zip(b.as_chunks().0).zip(c.as_chunks().0);
    for ((a, b), c) in sixteens {
        let (a, b, c) = (wide.load_sixteen(a), wide.load_sixteen(b), wide.load_sixteen(c));
        out[2].extend(wide.store_sixteen(wide.multiply_add_sixteen(a, b, c)));
    }
    for ((a, b), c) in a.iter().zip(b).zip(c) {
        out[3].push(multiply_add::<W>(*a, *b, *c));
    }
}

#[test]
fn every_set_of_instructions_rounds_products_and_sums_as_it_says_in_every_lane() {
    let operands = operands(16 * 977);
    let [a, b, c] = &operands;
    for lanes in Lanes::all() {
        let mut out = [const { [const { Vec::new() }; 4] }; 2];
        lanes.run(Sums { operands: &operands, out: &mut out });
        for (kind, found) in out.iter().flat_map(|out| out.iter().enumerate()) {
            assert_eq!(found.len(), a.len());
            for (at, found) in found.iter().enumerate() {
                let factor = if kind == 1 { -a[at] } else { a[at] };
                let expected =
                    if lanes.fused() { factor.mul_add(b[at], c[at]) } else { factor * b[at] + c[at] };
                assert_eq!(found.to_bits(), expected.to_bits(), "{lanes:?}, kind {kind}, place {at}");
            }
        }
    }
}

/// Codes, and their numbers with the instructions themselves and with those for weights that are used once.
struct Widened<'a>(&'a [[u16; SIXTEEN]], &'a mut [Vec<f32>; 2]);

impl LaneLoop for Widened<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        let [found, once] = self.1;
        for codes in self.0 {
            found.extend(wide.store_sixteen(wide.widen(codes)).map(|value| value * W::SHORT_SCALE));
            let widened = wide.once().store_sixteen(wide.once().widen(codes));
            once.extend(widened.map(|value| value * W::SHORT_SCALE));
        }
    }
}

#[test]
fn every_set_of_instructions_widens_every_code_to_its_number() {
    let codes: Vec<u16> = (0..=u16::MAX).collect();
    for lanes in Lanes::all() {
        let mut found = [Vec::new(), Vec::new()];
        lanes.run(Widened(codes.as_chunks().0, &mut found));
        for (&code, &number) in found.iter().flat_map(|found| codes.iter().zip(found)) {
            // Codes of exponent 0 with digits and of exponent 31 stand for nothing.
            let exponent = code & 0x7C00;
            if exponent != 0x7C00 && (exponent != 0 || code & 0x03FF == 0) {
                assert_eq!(short(number), Some(code), "{lanes:?}: {code:#06x} became {number:e}");
            }
        }
    }
}

struct Functions<'a>(&'a [f32], &'a mut Vec<f32>);

impl LaneLoop for Functions<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, _: W) {
        self.1.extend(self.0.iter().map(|&x| exponential::<W>(x)));
        self.1.extend(self.0.iter().map(|&x| hyperbolic_tangent::<W>(x)));
    }
}

#[test]
fn sets_of_instructions_that_agree_in_fusing_give_the_same_bytes_of_exponentials_and_tangents() {
    let arguments: Vec<f32> = (0..100_003).map(|at| (at as f32 - 50_000.0) * 0.0018).collect();
    let mut of_set: Vec<(Lanes, Vec<f32>)> = Vec::new();
    for lanes in Lanes::all() {
        let mut found = Vec::new();
        lanes.run(Functions(&arguments, &mut found));
        for (other, expected) in &of_set {
            if other.fused() == lanes.fused() {
                let same = found.iter().zip(expected).all(|(a, b)| a.to_bits() == b.to_bits());
                assert!(same, "{other:?} and {lanes:?} differ");
            }
        }
        of_set.push((lanes, found));
    }
}
