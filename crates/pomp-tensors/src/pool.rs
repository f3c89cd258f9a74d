use rayon::ThreadPoolBuilder;

/// Makes this thread one of rayon's global pool, for a process whose work all begins in it.
///
/// A parallel loop that is begun outside of the pool wakes one of its threads and waits until that is done, dozens of times in a training
/// step; begun by one of its threads it takes part at once. Where there already is a global pool, nothing changes. No result depends on it.
pub fn join_thread_pool() {
    // The only error is that there is one.
    let _ = ThreadPoolBuilder::new().use_current_thread().build_global();
}
