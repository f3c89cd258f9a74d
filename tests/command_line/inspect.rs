//! `pomp inspect` of files that no rig map fits, and of grounds.

use crate::pomp;
use crate::program::{repository, standing_bvh};
use std::fs;
use tempfile::TempDir;

/// The rig map that docs/rigs.md shows.
fn example() -> String {
    let page = fs::read_to_string(repository().join("docs/rigs.md")).unwrap();
    let (_, rest) = page.split_once("```toml\n").unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

/// The standing clip with the joint names that the example maps.
fn renamed() -> String {
    let rig: toml::Table = toml::from_str(&example()).unwrap();
    let mut text = standing_bvh();
    for (project, source) in rig["joints"].as_table().unwrap() {
        let source = source.as_str().or_else(|| source[0].as_str()).unwrap();
        let (plain, other) = (format!("JOINT {project}\n"), format!("JOINT {source}\n"));
        text =
            text.replace(&plain, &other).replace(&format!("ROOT {project}\n"), &format!("ROOT {source}\n"));
    }
    assert!(text.contains("ROOT pelvis") && text.contains("JOINT hand_r"), "{}", &text[..400]);
    text
}

#[test]
fn a_clip_of_an_unknown_rig_is_inferred_and_the_map_of_the_documentation_makes_it_known() {
    let folder = TempDir::new().unwrap();
    let (clip, rig) = (folder.path().join("strange.bvh"), folder.path().join("my_rig.toml"));
    fs::write(&clip, renamed()).unwrap();
    fs::write(&rig, example()).unwrap();
    let told = pomp!("inspect", clip).succeeds().stdout;
    for words in
        ["30 frames at 60 Hz", "rig inferred by names", "LeftUpLeg      thigh_l", "up axis: Y", "stand 100 %"]
    {
        assert!(told.contains(words), "\"{words}\" is missing in {told}");
    }
    let json = pomp!("inspect", clip, "--json").succeeds().json();
    let file = &json["files"][0];
    assert_eq!((&file["kind"], &file["inference"]["method"]), (&"clip".into(), &"by names".into()));
    assert!(file["inference"]["confidence"].as_f64().unwrap() > 0.9, "{file}");

    let told = pomp!("inspect", clip, "--rig", rig).succeeds().stdout;
    assert!(told.contains("rig my_rig") && told.contains("stand 100 %"), "{told}");
    assert!(!told.contains("inferred"), "{told}");
}

#[test]
fn an_inferred_rig_map_is_written_and_read_again() {
    let folder = TempDir::new().unwrap();
    let (clip, rig) = (folder.path().join("strange.bvh"), folder.path().join("my_rig.toml"));
    fs::write(&clip, renamed()).unwrap();
    let told = pomp!("rig", "infer", clip, "--out", rig).succeeds().stdout;
    assert!(told.contains("confidence") && told.contains("my_rig.toml"), "{told}");
    let written = fs::read_to_string(&rig).unwrap();
    assert!(
        written.contains("LeftUpLeg = \"thigh_l\"") && written.contains("name = \"my_rig\""),
        "{written}"
    );
    let told = pomp!("inspect", clip, "--rig", rig).succeeds().stdout;
    assert!(told.contains("rig my_rig") && !told.contains("inferred"), "{told}");
    let json = pomp!("rig", "infer", clip, "--json").succeeds().json();
    assert_eq!((&json["schema"], &json["missing"]), (&"pomp/rig-infer/1".into(), &serde_json::json!([])));
    pomp!("rig", "infer", folder.path().join("none.bvh")).refuses(&["none.bvh"]);

    // Joints that are stated, and such as there are none of.
    let told =
        pomp!("rig", "infer", clip, "--joint", "Spine2=spine_02", "--joint", "LeftToe=").succeeds().stdout;
    assert!(told.contains("Spine2         spine_02                 1.00  stated"), "{told}");
    assert!(
        told.contains("filled in: LeftToe, Spine1") || told.contains("filled in: Spine1, LeftToe"),
        "{told}"
    );
    pomp!("rig", "infer", clip, "--joint", "Spine2=tail").refuses(&["--joint", "tail", "Spine2"]);
    pomp!("rig", "infer", clip, "--joint", "Tail=spine_02").refuses(&["Tail", "LeftUpLeg"]);
}

#[test]
fn a_page_shows_a_motion_file_beside_its_mapping() {
    let folder = TempDir::new().unwrap();
    let (clip, page) = (folder.path().join("strange.bvh"), folder.path().join("page.html"));
    fs::write(&clip, renamed()).unwrap();
    pomp!("inspect", clip, "--html", page).succeeds();
    let written = fs::read_to_string(&page).unwrap();
    for place in ["pomp-clip", "pomp-clip-beside"] {
        let begin = format!("<script id=\"{place}\" type=\"application/octet-stream\">");
        let (_, inside) = written.split_once(&begin).unwrap_or_else(|| panic!("{place} is missing"));
        let (inside, _) = inside.split_once('<').unwrap();
        assert!(inside.len() > 1000, "{place} holds {} bytes", inside.len());
    }
    pomp!("inspect", clip, clip, "--html", page).refuses(&["--html", "one motion file"]);
    let recording = repository().join("data/none.npz");
    pomp!("inspect", recording, "--html", page).refuses(&["none.npz", "pomp render"]);
}

/// The renamed clip with one leg.
fn one_legged() -> String {
    let text = renamed();
    let before = text.find("JOINT thigh_r").unwrap();
    let after = before + text[before..].find("JOINT spine_01").unwrap();
    let cut = format!("{}{}", &text[..before], &text[after..]);
    let (head, rows) = cut.split_once("Frame Time").unwrap();
    let (time, rows) = rows.split_once('\n').unwrap();
    // Three channels each of four joints are gone; the values of a standing body do not matter here.
    let rows = rows.lines().map(|row| {
        let values: Vec<&str> = row.split_whitespace().collect();
        values[..values.len() - 12].join(" ")
    });
    format!("{head}Frame Time{time}\n{}\n", rows.collect::<Vec<_>>().join("\n"))
}

#[test]
fn a_clip_that_is_no_human_body_is_shown_with_the_reason() {
    let folder = TempDir::new().unwrap();
    let clip = folder.path().join("strange.bvh");
    fs::write(&clip, one_legged()).unwrap();
    let told = pomp!("inspect", clip).succeeds().stdout;
    for words in [
        "30 frames at 60.00 Hz, 0.5 s, 18 joints",
        "m in centimetres",
        "no rig map fits",
        "not taken for a human body",
        "thigh_l > shin_l > foot_l > toe_l",
        "missing: ",
        "--rig FILE",
        "docs/rigs.md",
    ] {
        assert!(told.contains(words), "\"{words}\" is missing in {told}");
    }
    let json = pomp!("inspect", clip, "--json").succeeds().json();
    let file = &json["files"][0];
    assert_eq!((&file["kind"], &file["joints"]), (&"clip_without_rig".into(), &18.into()));
    assert_eq!(file["hierarchy"][1]["parent"], "pelvis");
    assert!(!file["nearest_rigs"][0]["missing"].as_array().unwrap().is_empty(), "{file}");
    pomp!("rig", "infer", clip).refuses(&["strange.bvh", "human body"]);
}

#[test]
fn a_file_that_is_no_motion_is_refused_and_the_others_are_shown() {
    let folder = TempDir::new().unwrap();
    let (bad, good) = (folder.path().join("bad.bvh"), folder.path().join("good.bvh"));
    fs::write(&bad, "no clip").unwrap();
    fs::write(&good, standing_bvh()).unwrap();
    let ran = pomp!("inspect", bad, good).ends_in_part();
    assert!(ran.stderr.contains("bad.bvh:1:") && ran.stdout.contains("good.bvh"), "{ran:#?}");
    pomp!("inspect", bad).refuses(&["bad.bvh:1:"]);
}

#[test]
fn grounds_are_shown_with_their_extent() {
    let folder = TempDir::new().unwrap();
    for name in ["ground.npz", "ground.png"] {
        let path = folder.path().join(name);
        pomp!("terrain", "make", "stairs", "--out", path).succeeds();
        let told = pomp!("inspect", path).succeeds().stdout;
        assert!(told.contains("z -20 to 20 m") && told.contains("0.05 m apart"), "{told}");
        let json = pomp!("inspect", path, "--json").succeeds().json();
        assert_eq!(json["files"][0]["kind"], "terrain");
    }
}

#[test]
fn the_sidecar_of_the_documentation_puts_the_top_row_behind_and_the_left_column_on_the_right() {
    let folder = TempDir::new().unwrap();
    let page = fs::read_to_string(repository().join("docs/terrain.md")).unwrap();
    let (_, rest) = page.split_once("```toml\ncell_m").unwrap();
    let sidecar = format!("cell_m{}", rest.split_once("```").unwrap().0);
    // A made map gives a picture of the documented size; its sidecar is then the documented one.
    let (spec, png) = (folder.path().join("spec.toml"), folder.path().join("ground.png"));
    fs::write(&spec, "size_m = 40.0\n[shape]\nkind = \"slope\"\nangle_deg = 10.0\n").unwrap();
    pomp!("terrain", "make", spec, "--out", png).succeeds();
    fs::write(folder.path().join("ground.png.toml"), sidecar).unwrap();
    let map = pomp_terrain::load(&png, 0).unwrap();
    assert_eq!((map.rows(), map.columns()), (401, 401));
    let grid = map.grid();
    assert_eq!((grid.origin, grid.cell_m), ([-20.0, -20.0], 0.1));
    // A slope rises ahead, towards the bottom row, and is level across.
    assert!(grid.heights[400][0] == 2.0 && grid.heights[0][0] == 0.0, "white is ahead, black is behind");
    assert_eq!(grid.heights[300][0], grid.heights[300][400]);
    assert!((map.height(0.0, 19.0) - map.height(0.0, -19.0)) > 1.5);
}
