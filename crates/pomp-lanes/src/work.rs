//! What a computation costs at least: the products that it makes and the weights that it reads.

use std::iter::Sum;
use std::ops::{Add, Mul};

/// Products and bytes of a computation, padding included: what the processor does, not what the formula needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Products that are each added to a sum; one of complex numbers counts four.
    pub multiply_adds: u64,
    /// Bytes of weights and tables that are read.
    pub weight_bytes: u64,
}

impl Add for Work {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            multiply_adds: self.multiply_adds + other.multiply_adds,
            weight_bytes: self.weight_bytes + other.weight_bytes,
        }
    }
}

impl Mul<u64> for Work {
    type Output = Self;

    fn mul(self, times: u64) -> Self {
        Self { multiply_adds: times * self.multiply_adds, weight_bytes: times * self.weight_bytes }
    }
}

impl Sum for Work {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}
