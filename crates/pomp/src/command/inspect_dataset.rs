//! `pomp inspect FOLDER`: what is in a dataset.

use crate::progress::Progress;
use anyhow::Result;
use pomp_dataset::{Census, Dataset, Histogram, Share, census};
use std::path::Path;

/// Counts a folder of recordings.
pub fn count(folder: &Path) -> Result<Census> {
    let dataset = Dataset::open(folder)?;
    let progress = Progress::new("inspect", "recordings", dataset.recordings.len());
    Ok(census(&dataset, &mut || progress.step())?)
}

/// Tells what was counted.
pub fn print(folder: &Path, counted: &Census) {
    println!("{}", folder.display());
    println!(
        "  {} recordings, {:.1} min; {} of them are originals, {:.1} min",
        counted.recordings, counted.minutes, counted.originals, counted.original_minutes
    );
    println!("  minutes by gait: {}", shares(&counted.gaits));
    println!("  minutes by ground: {}", shares(&counted.grounds));
    println!("  with physics replay: {}; with phases: {}", counted.with_replay, counted.with_phases);
    for (what, hashes) in
        [("phase models", &counted.phase_models), ("configurations", &counted.config_hashes)]
    {
        if hashes.len() > 1 {
            let hashes: Vec<&str> = hashes.iter().map(String::as_str).collect();
            println!("  warning: a mixture of {} {what}: {}", hashes.len(), hashes.join(", "));
        }
    }
    if !counted.stance_peaks.is_empty() {
        println!("  largest vertical contact force of a stance, body weights:");
    }
    for peaks in &counted.stance_peaks {
        println!(
            "    {:8} {:5} stances, median {:.2}, 95 % below {:.2}  {}",
            peaks.gait,
            peaks.stances,
            peaks.median_bw,
            peaks.p95_bw,
            bars(peaks)
        );
    }
    if let Some(closures) = &counted.closures {
        println!(
            "  vertical contact impulse within 3 % of m g T: {} of {} recordings; {} with the change of momentum between \
             their ends taken away",
            closures.within, closures.recordings, closures.corrected_within
        );
        for (file, corrected) in &closures.open {
            println!("    {file}: {corrected:.3}");
        }
    }
    println!("  licences:");
    for row in &counted.licences {
        println!(
            "    {:6.1} min, {} recordings: {} ({})",
            row.minutes, row.recordings, row.collection, row.license
        );
    }
    match (&counted.with_warnings, &counted.skipped) {
        (Some(warned), Some(skipped)) => {
            println!(
                "  {warned} recordings have warnings; {} clips or variants were not made",
                skipped.len()
            );
            for recording in &counted.warnings {
                for warning in &recording.warnings {
                    println!("    warning: {}: {warning}", recording.file);
                }
            }
            for clip in skipped {
                println!("    {}: {}", clip.name, clip.reason);
            }
        }
        _ => println!("  no manifest.json: what was skipped is not known"),
    }
}

fn shares(shares: &[Share]) -> String {
    let told: Vec<String> = shares
        .iter()
        .filter(|share| share.minutes > 0.0)
        .map(|share| format!("{} {:.2}", share.name, share.minutes))
        .collect();
    told.join(", ")
}

/// A histogram in one line: a character per bin, from 0 upwards; a dot is an empty bin.
fn bars(peaks: &Histogram) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = peaks.counts.iter().copied().max().unwrap_or(0).max(1);
    let bar = |&count: &usize| if count == 0 { '·' } else { LEVELS[(count * LEVELS.len() - 1) / most] };
    peaks.counts.iter().map(bar).collect()
}
