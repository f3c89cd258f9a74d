use crate::{Sums, TILES_AT_ONCE, Tile};
use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use std::sync::OnceLock;

/// Proof that the processor multiplies tiles of bfloat16 (AMX), and that the system lets this process: Linux on Sapphire Rapids and its
/// successors.
#[derive(Clone, Copy, Debug)]
pub struct Tiles(());

impl Tiles {
    /// The proof, where there are such instructions and they may be used.
    pub fn try_new() -> Option<Self> {
        static MAY_BE_USED: OnceLock<bool> = OnceLock::new();
        MAY_BE_USED.get_or_init(|| processor_has_them() && system_lets_us()).then_some(Self(()))
    }

    /// The sums over all tiles of the products of rows with weights, of four columns of tiles.
    ///
    /// For each pair of tiles, products of the first numbers of pairs are added up one after the other, from zero, each rounded as a fused
    /// product is; those of the second numbers likewise; then both sums together, and the result to the sum so far. Subnormal numbers are
    /// zero, before and after.
    ///
    /// # Panics
    /// If a column of weights has another number of tiles than `rows`.
    pub fn multiply(
        self,
        rows: &[Tile],
        weights: [&[Tile]; TILES_AT_ONCE],
        sums: &mut [Sums; TILES_AT_ONCE],
    ) {
        assert!(
            weights.iter().all(|column| column.len() == rows.len()),
            "a tile of weights for each tile of inputs"
        );
        let layout = &LAYOUT;
        // SAFETY: `self` exists only where these instructions may be used. The layout is a legal one, of eight tiles of 16 rows of 64
        // bytes. Rows and columns have `left` tiles of 1024 contiguous bytes each, and the four sums have 1024 bytes each, so all reads and
        // writes stay inside. Registers that the compiler uses are declared; the tiles are released in the end.
        #[allow(unsafe_code, reason = "the compiler has no stable functions for tiles")]
        unsafe {
            asm!(
                "ldtilecfg [{layout}]",
                "tilezero tmm0",
                "tilezero tmm1",
                "tilezero tmm2",
                "tilezero tmm3",
                "test {left}, {left}",
                "jz 3f",
                "2:",
                "tileloadd tmm4, [{rows} + {line}*1]",
                "tileloadd tmm5, [{first} + {line}*1]",
                "tileloadd tmm6, [{second} + {line}*1]",
                "tdpbf16ps tmm0, tmm4, tmm5",
                "tileloadd tmm7, [{third} + {line}*1]",
                "tdpbf16ps tmm1, tmm4, tmm6",
                "tileloadd tmm5, [{fourth} + {line}*1]",
                "tdpbf16ps tmm2, tmm4, tmm7",
                "tdpbf16ps tmm3, tmm4, tmm5",
                "add {rows}, 1024",
                "add {first}, 1024",
                "add {second}, 1024",
                "add {third}, 1024",
                "add {fourth}, 1024",
                "dec {left}",
                "jnz 2b",
                "3:",
                "tilestored [{sums} + {line}*1], tmm0",
                "tilestored [{sums} + {line}*1 + 1024], tmm1",
                "tilestored [{sums} + {line}*1 + 2048], tmm2",
                "tilestored [{sums} + {line}*1 + 3072], tmm3",
                "tilerelease",
                layout = in(reg) layout,
                line = in(reg) 64_usize,
                left = inout(reg) rows.len() => _,
                rows = inout(reg) rows.as_ptr() => _,
                first = inout(reg) weights[0].as_ptr() => _,
                second = inout(reg) weights[1].as_ptr() => _,
                third = inout(reg) weights[2].as_ptr() => _,
                fourth = inout(reg) weights[3].as_ptr() => _,
                sums = in(reg) sums.as_mut_ptr(),
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack),
            );
        }
    }
}

/// What `ldtilecfg` reads: palette 1, eight tiles of 16 rows of 64 bytes.
#[repr(C, align(64))]
struct Layout([u8; 64]);

static LAYOUT: Layout = {
    let mut bytes = [0; 64];
    bytes[0] = 1;
    let mut tile = 0;
    while tile < 8 {
        bytes[16 + 2 * tile] = 64;
        bytes[48 + tile] = 16;
        tile += 1;
    }
    Layout(bytes)
};

/// Whether the processor has tiles and their products of bfloat16, and the system keeps their state.
fn processor_has_them() -> bool {
    /// Leaf 1, register C: the system has turned `xgetbv` on.
    const STATES_ARE_TOLD: u32 = 1 << 27;
    /// Leaf 7, register D: AMX-BF16 and AMX-TILE.
    const TILES: u32 = 1 << 22 | 1 << 24;
    /// The states of the layout and of the tiles.
    const KEPT: u64 = 1 << 17 | 1 << 18;
    #[target_feature(enable = "xsave")]
    fn kept() -> u64 {
        // SAFETY: register 0 exists wherever the instruction does.
        #[allow(unsafe_code, reason = "reads a register of the processor")]
        unsafe {
            _xgetbv(0)
        }
    }
    if __cpuid(0).eax < 7 || __cpuid(1).ecx & STATES_ARE_TOLD == 0 || __cpuid_count(7, 0).edx & TILES != TILES
    {
        return false;
    }
    // SAFETY: the system has turned the instruction on.
    #[allow(unsafe_code, reason = "the compiler cannot know what `cpuid` told")]
    let kept = unsafe { kept() };
    kept & KEPT == KEPT
}

/// Asks the system for the large state of tiles, for all threads of the process.
#[cfg(target_os = "linux")]
fn system_lets_us() -> bool {
    /// `ARCH_REQ_XCOMP_PERM`, of a state that is larger than others and therefore asked for.
    const ASK_FOR: libc::c_long = 0x1023;
    /// The state of tiles.
    const OF_TILES: libc::c_long = 18;
    // SAFETY: this call reads and writes no memory.
    #[allow(unsafe_code, reason = "a call of the system that has no wrapper")]
    let failed = unsafe { libc::syscall(libc::SYS_arch_prctl, ASK_FOR, OF_TILES) };
    failed == 0
}

/// Other systems are not asked.
#[cfg(not(target_os = "linux"))]
fn system_lets_us() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TILE;

    #[test]
    fn each_tile_adds_up_first_and_second_numbers_apart_and_then_both_to_the_sum() {
        let Some(tiles) = Tiles::try_new() else {
            println!("skipped: this processor has no AMX, or the system does not let us use it");
            return;
        };
        let mut draw = crate::draws::numbers();
        let mut column = |count: usize| -> Vec<Tile> {
            let mut tile = || Tile([(); TILE].map(|()| [(); TILE].map(|()| draw() << 16 | draw())));
            (0..count).map(|_| tile()).collect()
        };
        let halves = |pair: u32| [f32::from_bits(pair & 0xFFFF_0000), f32::from_bits(pair << 16)];
        for count in [0, 1, 2, 37] {
            let rows = column(count);
            let weights: [Vec<Tile>; TILES_AT_ONCE] = std::array::from_fn(|_| column(count));
            let mut found = [Sums([[f32::NAN; TILE]; TILE]); TILES_AT_ONCE];
            tiles.multiply(&rows, weights.each_ref().map(Vec::as_slice), &mut found);
            for (found, weights) in found.iter().zip(&weights) {
                for (row, found) in found.0.iter().enumerate() {
                    for (output, found) in found.iter().enumerate() {
                        let mut sum = 0.0_f32;
                        for (inputs, weights) in rows.iter().zip(weights) {
                            let mut of_tile = [0.0_f32; 2];
                            for (pair, weights) in inputs.0[row].iter().zip(&weights.0) {
                                let (a, b) = (halves(*pair), halves(weights[output]));
                                of_tile = [a[0].mul_add(b[0], of_tile[0]), a[1].mul_add(b[1], of_tile[1])];
                            }
                            sum += of_tile[0] + of_tile[1];
                        }
                        assert_eq!(*found, sum, "{count} tiles, row {row}, output {output}");
                    }
                }
            }
        }
    }
}
