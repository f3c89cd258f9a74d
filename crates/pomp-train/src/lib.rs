//! Training loops, checkpoints and run records.
