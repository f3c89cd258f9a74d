/// Does `work` in a thread of rayon's pool.
///
/// A loop for all threads that is begun outside of the pool wakes one of its threads and waits until that is done, dozens of times
/// in a training step; begun inside it takes part at once. No result depends on it.
pub fn in_thread_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| work())
}
