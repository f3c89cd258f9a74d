//! Products of matrices by `gemm`, into memory of the caller's.

use gemm::Parallelism;
use rayon::prelude::*;
use std::mem::MaybeUninit;

/// A matrix in memory.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a> {
    values: &'a [f32],
    /// Rows, columns.
    shape: [usize; 2],
    /// From one row to the next, from one column to the next.
    strides: [usize; 2],
}

impl<'a> Matrix<'a> {
    /// The matrix whose first value is the first of `values`.
    ///
    /// # Panics
    /// When its last value is not among them.
    pub(crate) fn new(values: &'a [f32], shape: [usize; 2], strides: [usize; 2]) -> Self {
        if let ([Some(row), Some(column)], [row_stride, column_stride]) =
            (shape.map(|count| count.checked_sub(1)), strides)
        {
            let last = row.checked_mul(row_stride).zip(column.checked_mul(column_stride));
            let last = last.and_then(|(row, column)| row.checked_add(column));
            assert!(last.is_some_and(|last| last < values.len()), "{shape:?} of {} values", values.len());
        }
        Self { values, shape, strides }
    }

    /// The matrix with rows and columns exchanged, without a copy.
    pub(crate) fn transposed(self) -> Self {
        let ([rows, columns], [row, column]) = (self.shape, self.strides);
        Self { shape: [columns, rows], strides: [column, row], ..self }
    }

    /// The product of this matrix and `other`, written to `product`, row-major. No number of threads changes it.
    ///
    /// # Panics
    /// When the shapes do not fit each other.
    #[allow(unsafe_code, reason = "gemm takes pointers")]
    fn times(self, other: Self, product: &mut [MaybeUninit<f32>], parallelism: Parallelism) {
        let ([rows, inner], [other_rows, columns]) = (self.shape, other.shape);
        assert_eq!(inner, other_rows, "as many columns as the other has rows");
        assert_eq!(product.len(), rows * columns, "{rows} rows of {columns}");
        let stride = |stride: usize| isize::try_from(stride).expect("no slice is longer than isize::MAX");
        // SAFETY: `new` and `transposed` keep the last element of a matrix, and so all, within its values. `product` is
        // row-major, has as many values as the assertion says, and is borrowed mutably; it is written and not read.
        unsafe {
            gemm::gemm(
                rows,
                columns,
                inner,
                product.as_mut_ptr().cast::<f32>(),
                1,
                stride(columns),
                false,
                self.values.as_ptr(),
                stride(self.strides[1]),
                stride(self.strides[0]),
                other.values.as_ptr(),
                stride(other.strides[1]),
                stride(other.strides[0]),
                0.0,
                1.0,
                false,
                false,
                false,
                parallelism,
            );
        }
    }
}

/// Groups from which on each has one thread, instead of all threads for one after the other.
const MANY_GROUPS: usize = 4;

/// Products of the two matrices that `factors` gives for each of `groups`, row-major, `[rows, columns]` each.
///
/// # Panics
/// When the shapes do not fit each other.
#[allow(unsafe_code, reason = "zeros that products then replace take as long to write as the products")]
pub(crate) fn products<'a>(
    groups: usize,
    [rows, columns]: [usize; 2],
    factors: impl Fn(usize) -> [Matrix<'a>; 2] + Sync,
) -> Vec<f32> {
    let (size, count) = (rows * columns, groups * rows * columns);
    let mut products = Vec::with_capacity(count);
    if size == 0 {
        return products;
    }
    let cells = &mut products.spare_capacity_mut()[..count];
    let run = |(group, product): (usize, &mut [MaybeUninit<f32>]), parallelism: Parallelism| {
        let [left, right] = factors(group);
        left.times(right, product, parallelism);
    };
    if groups < MANY_GROUPS {
        cells.chunks_exact_mut(size).enumerate().for_each(|part| run(part, Parallelism::Rayon(0)));
    } else {
        cells.par_chunks_exact_mut(size).enumerate().for_each(|part| run(part, Parallelism::None));
    }
    // SAFETY: `count` is a multiple of `size`, so that every cell is in one of the parts, which `times` has written whole.
    unsafe { products.set_len(count) };
    products
}
