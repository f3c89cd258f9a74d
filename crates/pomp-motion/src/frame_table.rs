use std::ops::{Index, IndexMut};

/// A dense table with one row per frame: `table[frame][column]`.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameTable<T> {
    columns: usize,
    values: Vec<T>,
}

impl<T: Clone> FrameTable<T> {
    /// A table of `frames` × `columns` copies of `value`.
    pub fn filled(frames: usize, columns: usize, value: T) -> Self {
        Self { columns, values: vec![value; frames * columns] }
    }

    /// An empty table to which rows of `columns` values are pushed.
    pub fn with_columns(columns: usize) -> Self {
        Self { columns, values: Vec::new() }
    }

    /// Wraps row-major values; `None` when their number is not a multiple of `columns`.
    pub fn from_values(columns: usize, values: Vec<T>) -> Option<Self> {
        (columns > 0 && values.len().is_multiple_of(columns)).then_some(Self { columns, values })
    }

    /// Appends one frame.
    ///
    /// # Panics
    /// When `row` does not have [`Self::columns`] values.
    pub fn push(&mut self, row: &[T]) {
        assert_eq!(row.len(), self.columns, "a row of a frame table has one value per column");
        self.values.extend_from_slice(row);
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    /// Values per frame.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All values, row-major.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The frames in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[T]> {
        self.values.chunks_exact(self.columns.max(1))
    }
}

impl<T> Index<usize> for FrameTable<T> {
    type Output = [T];
    fn index(&self, frame: usize) -> &[T] {
        &self.values[frame * self.columns..(frame + 1) * self.columns]
    }
}

impl<T> IndexMut<usize> for FrameTable<T> {
    fn index_mut(&mut self, frame: usize) -> &mut [T] {
        &mut self.values[frame * self.columns..(frame + 1) * self.columns]
    }
}
