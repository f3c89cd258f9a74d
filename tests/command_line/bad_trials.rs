//! Force plates and clips that are wrong: each is named with its file and place, and the others go on.

use crate::pomp;
use crate::program::repository;
use std::fs;
use tempfile::TempDir;

const HEADER: &str =
    "t,L_fx_N,L_fy_N,L_fz_N,L_px_cm,L_py_cm,L_pz_cm,R_fx_N,R_fy_N,R_fz_N,R_px_cm,R_py_cm,R_pz_cm";

/// Plates that bear 60 kg evenly for `seconds`.
fn plates(seconds: f32) -> String {
    let rows = (0..=(seconds * 100.0) as usize)
        .map(|k| format!("{},0,294.3,0,0,0,0,0,294.3,0,0,0,0\n", k as f32 / 100.0));
    format!("{HEADER}\n{}", rows.collect::<String>())
}

/// Name, clip, plates, mass, contact fraction, and what the error has to say.
type Case = (&'static str, String, String, &'static str, &'static str, &'static [&'static str]);

#[test]
fn every_bad_trial_is_named_with_its_place_and_the_good_ones_are_compared() {
    let folder = TempDir::new().unwrap();
    let clip = fs::read_to_string(repository().join("data/clips/00_stand.bvh")).unwrap();
    let seconds = {
        let field = |name: &str| {
            let line = clip.lines().find(|line| line.starts_with(name)).unwrap();
            line[name.len()..].trim().parse::<f32>().unwrap()
        };
        (field("Frames:") - 1.0) * field("Frame Time:")
    };
    let good = plates(seconds);
    let row = |number: usize| good.lines().nth(number - 1).unwrap().to_owned();
    let without_column: String =
        good.lines().map(|line| line.rsplit_once(',').unwrap().0.to_owned() + "\n").collect();
    let trials: [Case; 10] = [
        ("good", clip.clone(), good.clone(), "60", "1.0", &[]),
        ("light", clip.clone(), good.clone(), "7", "1.0", &["light_grf.csv", "7 kg", "60.0 kg", "correct"]),
        ("heavy", clip.clone(), good.clone(), "700", "1.0", &["heavy_grf.csv", "700 kg", "60.0 kg"]),
        (
            "unseen",
            clip.clone(),
            good.clone(),
            "7",
            "0.5",
            &["unseen_grf.csv", "7 kg", "no mass of a standing person"],
        ),
        ("column", clip.clone(), without_column, "60", "1.0", &["column_grf.csv", "no column R_pz_cm"]),
        (
            "nan",
            clip.clone(),
            good.replacen(&row(42), &row(42).replacen("294.3", "NaN", 1), 1),
            "60",
            "1.0",
            &["nan_grf.csv: line 42, column L_fy_N: \"NaN\""],
        ),
        (
            "cut",
            clip.clone(),
            good.replacen(&row(42), &row(42)[..10], 1),
            "60",
            "1.0",
            &["cut_grf.csv", "line: 42"],
        ),
        (
            "elsewhere",
            clip.clone(),
            plates(0.25),
            "60",
            "1.0",
            &["elsewhere_grf.csv", "0.25 s", "begin at the same moment"],
        ),
        ("no_motion", clip.replace("HIERARCHY", "TREE"), good.clone(), "60", "1.0", &["no_motion.bvh"]),
        ("absent", String::new(), good.clone(), "60", "1.0", &["absent.bvh"]),
    ];
    let write = |name: String, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let mut manifest = "path,grf,mass_kg_use,labels,contact_fraction\n".to_owned();
    for (name, clip, plates, mass, seen, _) in &trials {
        write(format!("{name}_grf.csv"), plates);
        if !clip.is_empty() {
            write(format!("{name}.bvh"), clip);
        }
        manifest += &format!("{name}.bvh,{name}_grf.csv,{mass},stand,{seen}\n");
    }
    write("manifest.csv".to_owned(), &manifest);

    let ran = pomp!("validate-impulses", folder.path());
    let ran = ran.ends_in_part();
    assert!(ran.stdout.lines().any(|line| line.starts_with("good ")), "{ran:#?}");
    assert_eq!(ran.stderr.matches("skipped: ").count(), trials.len() - 1, "{ran:#?}");
    for (name, .., words) in trials.iter().filter(|trial| !trial.5.is_empty()) {
        let of_it =
            |line: &&str| ["_grf.csv", ".bvh"].iter().any(|end| line.contains(&format!("/{name}{end}")));
        let told = ran.stderr.lines().find(of_it);
        let told = told.unwrap_or_else(|| panic!("nothing is said of {name}: {ran:#?}"));
        for word in *words {
            assert!(told.contains(word), "\"{word}\" is missing in {told}");
        }
    }
}

#[test]
fn bad_clips_among_good_ones_are_named_with_frames_and_joints() {
    let folder = TempDir::new().unwrap();
    let text = fs::read_to_string(repository().join("data/clips/01_walk.bvh")).unwrap();
    let (head, rows) = text.split_once("Frame Time:").unwrap();
    let (time, rows) = rows.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    let write = |name: &str, rows: &[String]| {
        let head: String = head
            .lines()
            .map(|line| {
                if line.starts_with("Frames:") {
                    format!("Frames: {}\n", rows.len())
                } else {
                    format!("{line}\n")
                }
            })
            .collect();
        fs::write(folder.path().join(name), format!("{head}Frame Time:{time}\n{}\n", rows.join("\n")))
            .unwrap();
    };
    let own = || -> Vec<String> { rows.iter().map(|row| (*row).to_owned()).collect() };
    // The root's height is the second channel; the unit of these files is the centimetre.
    let raised = |row: &str| {
        let mut channels: Vec<String> = row.split_whitespace().map(str::to_owned).collect();
        channels[1] = (channels[1].parse::<f32>().unwrap() + 1000.0).to_string();
        channels.join(" ")
    };
    write("good.bvh", &own());
    let mut spike = own();
    spike[30] = raised(&spike[30]);
    write("spike.bvh", &spike);
    let mut jump = own();
    jump[50..].iter_mut().for_each(|row| *row = raised(row));
    write("jump.bvh", &jump);
    let mut repeated = own();
    repeated[40] = repeated[39].clone();
    write("repeated.bvh", &repeated);
    write("doubled.bvh", &own().into_iter().flat_map(|row| [row.clone(), row]).collect::<Vec<_>>());
    let mut number = own();
    number[7] = number[7].replacen(' ', " nan ", 1).rsplit_once(' ').unwrap().0.to_owned();
    write("number.bvh", &number);

    let out = folder.path().join("data");
    let ran = pomp!("preprocess", folder.path(), "--out", out, "--json").ends_in_part();
    let manifest = ran.json();
    let warnings = |name: &str| -> String {
        let clips = manifest["clips"].as_array().unwrap();
        let clip =
            clips.iter().find(|clip| clip["name"] == name).unwrap_or_else(|| panic!("no {name}: {manifest}"));
        clip["warnings"].to_string()
    };
    assert!(!warnings("good").contains("frame"), "{}", warnings("good"));
    for (name, words) in [
        ("spike", &["frame 30 (", "\\\"Hips\\\"", "10.0", "interpolated"][..]),
        ("repeated", &["frame 40 repeats", "left as it is"]),
        ("doubled", &["stored 2 times", "30.0 Hz instead of 60.0 Hz"]),
    ] {
        for word in words {
            assert!(warnings(name).contains(word), "\"{word}\" is missing in {}", warnings(name));
        }
    }
    let inspected = pomp!("inspect", out).succeeds().stdout;
    let told = inspected.lines().find(|line| line.contains("warning: ") && line.contains("repeated"));
    assert!(told.is_some_and(|line| line.contains("frame 40 repeats")), "{inspected}");
    for words in
        [&["jump.bvh: between frames 49 and 50", "\"Hips\"", "cut the clip"][..], &["number.bvh:", "\"nan\""]]
    {
        let told = ran.stderr.lines().find(|line| line.contains(words[0]));
        let told = told.unwrap_or_else(|| panic!("nothing is said of {words:?}: {}", ran.stderr));
        assert!(words.iter().all(|word| told.contains(word)), "{words:?}: {told}");
    }
}
