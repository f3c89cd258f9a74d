use pulp::NullaryFnOnce;

/// The widest vector instructions this machine is known to have, found at run time.
///
/// Loops written in plain Rust and inlined into [`Lanes::run`] are compiled twice and vectorised for each.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lanes {
    /// 256-bit lanes with fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Wide(pulp::x86::V3),
    /// What the compile target promises.
    Baseline,
}

/// A loop that is compiled once per instruction set. `FUSED` says that [`f32::mul_add`] is an instruction
/// there; elsewhere it would be a slow library call.
pub(crate) trait LaneLoop {
    fn run<const FUSED: bool>(self);
}

impl Lanes {
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(wide) = pulp::x86::V3::try_new() {
            return Self::Wide(wide);
        }
        Self::Baseline
    }

    #[inline(always)]
    pub(crate) fn run(self, body: impl LaneLoop) {
        struct Fused<L>(L);
        impl<L: LaneLoop> NullaryFnOnce for Fused<L> {
            type Output = ();
            #[inline(always)]
            fn call(self) {
                self.0.run::<true>();
            }
        }
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Wide(wide) => wide.vectorize(Fused(body)),
            Self::Baseline => body.run::<{ cfg!(target_arch = "aarch64") }>(),
        }
    }
}

/// a · b + c.
#[inline(always)]
pub(crate) fn multiply_add<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}
