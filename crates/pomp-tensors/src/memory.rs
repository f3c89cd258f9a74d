use std::hint::black_box;

/// The most that one block may have for glibc to learn from it, less what it adds of its own: 32 MB on 64-bit machines.
const LARGEST_LESSON: usize = 31 << 20;

/// Has the allocator keep what a training step frees for the next step, for as long as the program runs.
///
/// A step frees megabytes that the next one wants again. glibc gives the end of its heap back to the system as soon as more
/// is free there than twice the largest block that was freed so far (`mallopt(3)`, `M_MMAP_THRESHOLD`), and every
/// page comes back by a fault of its own: a quarter of the time of the autoencoder's step. Here it is shown a block that is as
/// large as it takes notice of, and never touched: up to 62 MB are then kept. Other allocators do not mind. No result depends on it.
pub fn keep_freed_memory() {
    drop(black_box(Vec::<u8>::with_capacity(LARGEST_LESSON)));
}
