//! Stands in for `cubecl-llvm`, through `[patch.crates-io]` in the workspace's `Cargo.toml`.
//!
//! `cubecl-cuda` has two ways to compile a kernel: CUDA C++ through NVRTC, and LLVM. It links both always, and the
//! build script of the real `cubecl-llvm` fetches an LLVM from the network. With cubecl's feature `cuda-cpp`, which
//! the `cuda` feature of `pomp` sets, no kernel goes through LLVM. This crate has the names that `cubecl-cuda` asks
//! for and compiles nothing: whoever reaches it without `cuda-cpp` is told so.
//!
//! It is no member of the workspace, since nothing but that feature needs what it depends on.

#![forbid(unsafe_code)]

use cubecl_core::ir::nvidia::SmArch;
use cubecl_core::prelude::KernelDefinition;
use cubecl_runtime::compiler::CompilationError;
use cubecl_runtime::kernel::BufferIOAttr;
use std::convert::Infallible;

/// What somebody reads who has built cubecl for its LLVM way all the same.
const ABSENT: &str = "this build has no LLVM for CUDA kernels: build cubecl with its feature `cuda-cpp`";

/// What would be emitted for NVIDIA cards.
pub mod nvptx {
    /// Versions of PTX.
    pub mod ptx_version {
        use std::convert::Infallible;
        use std::fmt;

        /// A version of PTX; there is no value of it here.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct PtxVersion(Infallible);

        impl PtxVersion {
            /// Always `None`: no PTX is written here. NVRTC chooses its version itself.
            pub fn for_driver(_driver: i32) -> Option<Self> {
                None
            }
        }

        impl fmt::Display for PtxVersion {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.0 {}
            }
        }
    }
}

/// What the targets of LLVM have in common.
pub mod shared {
    /// What LLVM could lower for a target.
    pub mod lowered_features {
        use cubecl_core::ir::DeviceProperties;

        /// A card's family.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum GpuTarget {
            /// NVIDIA.
            Nvptx,
        }

        /// Called when a device is opened for the LLVM way, which is not there.
        ///
        /// # Panics
        /// Always; with `cuda-cpp` it is never called.
        pub fn restrict_features(_properties: &mut DeviceProperties, _target: GpuTarget) {
            panic!("{}", crate::ABSENT);
        }
    }
}

/// What LLVM would compile for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LlvmTarget {
    /// NVIDIA.
    #[default]
    Nvptx,
}

/// A compiler that refuses.
#[derive(Clone, Debug, Default)]
pub struct PlironCompiler {
    /// What it would compile for.
    pub target: LlvmTarget,
}

impl PlironCompiler {
    /// Refuses.
    ///
    /// # Errors
    /// Always: there is no LLVM here.
    pub fn compile(
        &mut self,
        _kernel: KernelDefinition,
        _options: &PlironOptions,
    ) -> Result<PlironArtifact, CompilationError> {
        Err(CompilationError::Generic { reason: ABSENT.to_owned(), backtrace: Default::default() })
    }

    /// Name of the language that is compiled to, for logs.
    pub fn lang_tag(&self) -> &'static str {
        "none"
    }
}

/// The settings that `cubecl-cuda` hands over.
#[derive(Clone, Debug, Default)]
pub struct PlironOptions {
    /// Architecture of an AMD card, which is never given here.
    pub arch: Option<Infallible>,
    /// Architecture of the card.
    pub sm_arch: Option<SmArch>,
    /// Version of PTX.
    pub ptx_version: Option<nvptx::ptx_version::PtxVersion>,
    /// Whether scalars go into the kernel's parameters.
    pub grid_constants: bool,
}

/// A compiled kernel as `cubecl-cuda` reads it; none is ever made here.
#[derive(Clone, Debug)]
pub struct NvptxModule {
    /// PTX, ended by a zero.
    pub ptx: Vec<core::ffi::c_char>,
    /// Name of the kernel in it.
    pub entrypoint: String,
    /// What it was compiled from, for logs.
    pub ir: String,
    /// Shared memory of a launch, bytes.
    pub shared_memory_size: usize,
    /// How each buffer is used.
    pub io: Vec<BufferIOAttr>,
}

/// What compiling would give.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PlironArtifact {
    /// For NVIDIA cards.
    NvptxCode(NvptxModule),
}
