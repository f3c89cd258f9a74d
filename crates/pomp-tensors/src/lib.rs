//! What training does with tensors on the processor: products, nonlinearities, blends, Gram-Schmidt and AdamW in one pass each,
//! and memory that is kept.
//!
//! Made of tensor operations, a [`Nonlinearity`] or a step of [`AdamW`](adamw) takes turns with one thread, goes several
//! times through arrays that no cache holds, and needs memory for each. Here the processor's tensors are gone through
//! once, in lanes and in all threads; those of other devices are left to the operations. [`keep_freed_memory`] has one
//! step leave its memory to the next.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use pomp_tensors::{Tanh, nonlinear};
//!
//! let x = Tensor::<1>::from_data([0.5], &Device::flex().autodiff()).require_grad();
//! let y = nonlinear::<Tanh, 1>(x.clone());
//! let slope: f32 = x.grad(&y.clone().backward()).expect("x is a variable").into_scalar();
//! assert!((y.into_scalar::<f32>() - 0.5_f32.tanh()).abs() < 1e-6);
//! assert!((slope - (1.0 - 0.5_f32.tanh().powi(2))).abs() < 1e-6);
//! ```

mod adamw;
mod biased;
mod blend;
mod dot;
mod functions;
mod host;
mod matrices;
mod memory;
mod nonlinearity;
mod orthonormal;
mod pool;
mod product;

pub use adamw::{AdamWSettings, adamw};
pub use biased::{biased_nonlinear, biased_residual};
pub use blend::blend;
pub use functions::{Elu, Silu, Tanh};
pub use memory::keep_freed_memory;
pub use nonlinearity::{Nonlinearity, Tangent, nonlinear, nonlinear_in_place};
pub use orthonormal::{OrthonormalFloors, orthonormalise};
pub use pool::join_thread_pool;
pub use product::product;

/// Values that one thread takes at a time: a few arrays of them stay in its cache.
const AT_ONCE: usize = 1 << 14;
