//! Computes the ground forces of walking that metrics compare with, from measurements of force plates.
//!
//! ```sh
//! # The reference of the crate, from a treadmill trial of Fukuchi and others (2018), doi:10.6084/m9.figshare.5722711:
//! cargo run --release -p pomp-eval --example walking_forces -- wbds WBDS04walkT05grf.txt > crates/pomp-eval/src/walking_forces.toml
//! # Walks of a folder of plates as `pomp validate-impulses` reads it, beside that reference:
//! cargo run --release -p pomp-eval --example walking_forces -- plates "$POMP_DATA/grf"
//! ```

#![allow(clippy::print_stdout, reason = "an example prints what it has computed")]

use pomp_eval::{StanceForces, WalkingForces, whole_stances};
use pomp_motion::GRAVITY_M_S2;
use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::Path;

/// Rate of the recordings that are compared.
const RATE_HZ: f64 = 60.0;
/// Rate of the treadmill's plates.
const WBDS_RATE_HZ: f64 = 300.0;

const WBDS_SOURCE: &str = "Fukuchi, Fukuchi and Duarte (2018), A public dataset of overground and treadmill walking kinematics and \
    kinetics in healthy individuals, PeerJ 6:e4640; trial WBDS04walkT05, one person on a treadmill at the comfortable speed, 30 s; \
    forces averaged to 60 Hz, over the mean weight on the treadmill";

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["wbds", file] => reference(Path::new(file)),
        ["plates", folder] => beside_reference(Path::new(folder)),
        _ => Err("give: wbds FILE, or: plates FOLDER".into()),
    }
}

/// Prints the forces of a treadmill trial as the crate holds them.
fn reference(file: &Path) -> Result<(), Failure> {
    let table = table(file, b'\t')?;
    let column = |name: &str| table.averaged(name, WBDS_RATE_HZ);
    let feet = [["Fy1", "Fx1"], ["Fy2", "Fx2"]].map(|names| names.map(column));
    let mut forces = Vec::new();
    for [vertical, forward] in feet {
        forces.push([vertical?, forward?]);
    }
    let total: f64 = forces.iter().flat_map(|[vertical, _]| vertical).sum();
    let weight_n = total / forces[0][0].len() as f64;
    let mut stances = Vec::new();
    for [vertical, forward] in &forces {
        let over = |force: &[f64]| force.iter().map(|newton| newton / weight_n).collect::<Vec<f64>>();
        let (vertical, forward) = (over(vertical), over(forward));
        let whole = whole_stances(&vertical, RATE_HZ).into_iter();
        stances.extend(whole.map(|stance| StanceForces::new(&vertical, &forward, RATE_HZ, stance)));
    }
    let mut walk = WalkingForces::of(&stances, WBDS_SOURCE, "CC BY 4.0").ok_or("no whole stance")?;
    let medians = [
        &mut walk.vertical_r,
        &mut walk.forward_r,
        &mut walk.vertical_peak_bw,
        &mut walk.loading_rate_bw_s,
        &mut walk.braking_peak_bw,
        &mut walk.propulsion_peak_bw,
        &mut walk.roughness,
    ];
    for value in walk.vertical.iter_mut().chain(&mut walk.forward).chain(medians) {
        *value = (*value * 1e5).round() / 1e5;
    }
    println!("# Written by the example `walking_forces` of this crate.");
    print!("{}", toml::to_string(&walk)?);
    Ok(())
}

/// Prints the forces of the walks of a folder, with their likeness to the reference.
fn beside_reference(folder: &Path) -> Result<(), Failure> {
    let people = WalkingForces::reference();
    let trials = table(&folder.join("manifest.csv"), b',')?;
    let [files, names, rates, masses] =
        ["grf", "path", "fps", "mass_kg_use"].map(|name| trials.column(name).map(<[String]>::to_vec));
    let (files, names, rates, masses) = (files?, names?, rates?, masses?);
    let all: BTreeSet<&String> = names.iter().collect();
    let mut stances = Vec::new();
    for (((name, file), rate), mass) in names.iter().zip(&files).zip(&rates).zip(&masses) {
        // Feet on a treadmill have no way ahead; the twin of the trial has.
        let has_twin = all.contains(&name.replace(".bvh", "_overground.bvh"));
        if !name.contains("walk") || has_twin {
            continue;
        }
        let plates = table(&folder.join(file), b',')?;
        let (rate_hz, weight_n) = (rate.parse::<f64>()?, mass.parse::<f64>()? * GRAVITY_M_S2);
        for side in ["L", "R"] {
            let column = |name: &str| plates.averaged(&format!("{side}_{name}"), rate_hz);
            let [x, y, z] = [column("fx_N")?, column("fy_N")?, column("fz_N")?]
                .map(|force| force.iter().map(|newton| newton / weight_n).collect::<Vec<f64>>());
            let (places_x, places_z) = (column("px_cm")?, column("pz_cm")?);
            for stance in whole_stances(&y, RATE_HZ) {
                let third = stance.len() / 3;
                let way = |places: &[f64]| {
                    let mean = |from: usize| places[from..from + third].iter().sum::<f64>() / third as f64;
                    mean(stance.end - third) - mean(stance.start)
                };
                let (along_x, along_z) = (way(&places_x), way(&places_z));
                let length = along_x.hypot(along_z);
                let forward: Vec<f64> =
                    x.iter().zip(&z).map(|(x, z)| (x * along_x + z * along_z) / length).collect();
                stances.push(StanceForces::new(&y, &forward, RATE_HZ, stance));
            }
        }
    }
    let own = WalkingForces::of(&stances, "", "").ok_or("no whole stance")?;
    let median = |value: &dyn Fn(&StanceForces) -> Option<f64>| {
        pomp_motion::statistics::median(&stances.iter().filter_map(value).collect::<Vec<f64>>())
            .unwrap_or(f64::NAN)
    };
    println!("| | these plates | reference |\n|---|---|---|");
    let row = |what: &str, own: f64, theirs: f64| println!("| {what} | {own:.3} | {theirs:.3} |");
    row("stances", own.stances as f64, people.stances as f64);
    row(
        "vertical r with the reference, median",
        median(&|s| s.vertical_r(&people.vertical)),
        people.vertical_r,
    );
    row("forward r with the reference, median", median(&|s| s.forward_r(&people.forward)), people.forward_r);
    row("vertical peak, BW", own.vertical_peak_bw, people.vertical_peak_bw);
    row("loading rate, BW/s", own.loading_rate_bw_s, people.loading_rate_bw_s);
    row("braking peak, BW", own.braking_peak_bw, people.braking_peak_bw);
    row("propulsion peak, BW", own.propulsion_peak_bw, people.propulsion_peak_bw);
    row("roughness over the reference's", own.roughness / people.roughness, 1.0);
    Ok(())
}

/// A file of columns with a head.
struct Table {
    file: String,
    head: Vec<String>,
    columns: Vec<Vec<String>>,
}

fn table(file: &Path, delimiter: u8) -> Result<Table, Failure> {
    let name = file.display().to_string();
    let text = fs::read(file).map_err(|error| format!("{name}: {error}"))?;
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_slice());
    let head: Vec<String> = reader.headers()?.iter().map(|name| name.trim().to_owned()).collect();
    let mut columns = vec![Vec::new(); head.len()];
    for record in reader.records() {
        for (column, value) in columns.iter_mut().zip(&record.map_err(|error| format!("{name}: {error}"))?) {
            column.push(value.trim().to_owned());
        }
    }
    Ok(Table { file: name, head, columns })
}

impl Table {
    fn column(&self, name: &str) -> Result<&[String], Failure> {
        let at = self.head.iter().position(|head| head == name);
        let at = at.ok_or_else(|| format!("{}: there is no column {name}", self.file))?;
        Ok(&self.columns[at])
    }

    /// A column of numbers of this rate, averaged over the frames of [`RATE_HZ`], as impulses per frame are.
    fn averaged(&self, name: &str, rate_hz: f64) -> Result<Vec<f64>, Failure> {
        let values: Vec<f64> =
            self.column(name)?.iter().map(|value| value.parse()).collect::<Result<_, _>>()?;
        let mut sums = vec![0.0];
        for value in &values {
            sums.push(sums[sums.len() - 1] + value);
        }
        let until = |place: f64| {
            let below = (place as usize).min(values.len() - 1);
            sums[below] + values[below] * (place - below as f64)
        };
        let per_frame = rate_hz / RATE_HZ;
        let frames = (values.len() as f64 / per_frame).floor() as usize;
        Ok((0..frames)
            .map(|frame| {
                let from = frame as f64 * per_frame;
                (until(from + per_frame) - until(from)) / per_frame
            })
            .collect())
    }
}
