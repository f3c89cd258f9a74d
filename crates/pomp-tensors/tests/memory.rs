//! A test that has its process for itself: what the allocator has learnt, it does not forget.

#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use std::hint::black_box;

/// Pages that this process had to ask the system for.
fn faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name in brackets is the second field and may hold blanks; minor faults are the tenth.
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    fields.split(' ').nth(7).unwrap().parse().unwrap()
}

/// Faults of ten rounds that each fill eight megabytes and free them.
fn faults_of_rounds() -> u64 {
    let before = faults();
    for _ in 0..10 {
        let arrays: Vec<Vec<u8>> = (0..8).map(|_| vec![black_box(1); 1 << 20]).collect();
        drop(black_box(arrays));
    }
    faults() - before
}

#[test]
fn memory_that_was_freed_is_not_asked_of_the_system_again() {
    let asked = faults_of_rounds();
    pomp_tensors::keep_freed_memory();
    let (first, kept) = (faults_of_rounds(), faults_of_rounds());
    println!("faults of ten rounds: {asked} as it was, {first} and {kept} with memory kept");
    assert!(kept * 10 < asked, "{kept} of {asked}");
}
