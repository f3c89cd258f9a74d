//! The server as a browser and as an attacker meet it.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

mod client;
mod http;
mod sockets;

use client::{PATIENCE, Page, get, post, read, refused};
use glam::{Vec2, Vec3};
use pomp_generator::GeneratorConfig;
use pomp_model::Model;
use pomp_motion::Gait;
use pomp_motion::retarget::RigLibrary;
use pomp_preprocess::PreprocessConfig;
use pomp_studio::protocol::{FromPage, PushRequest, ThrowRequest};
use pomp_studio::world::{Bump, SceneRequest};
use pomp_studio::{Library, NamedModel, Started, Studio, StudioConfig, serve_until};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

fn started(config: StudioConfig) -> Started {
    started_with(config, Library::default())
}

fn studio(library: Library) -> Studio {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/models/compact");
    let load = |name: &str| NamedModel {
        name: name.to_owned(),
        model: Model::load(&folder, &Default::default()).unwrap(),
        generator: GeneratorConfig::default(),
    };
    Studio {
        models: vec![load("compact"), load("other")],
        preprocess: PreprocessConfig::default(),
        rigs: RigLibrary::builtin(),
        library,
        terrain: "flat".to_owned(),
        seed: 1,
    }
}

fn started_with(config: StudioConfig, library: Library) -> Started {
    started_until(config, library, std::future::pending()).0
}

/// A server that stops with `stop`, and what it said when it ended.
fn started_until(
    config: StudioConfig,
    library: Library,
    stop: impl Future<Output = ()> + Send + 'static,
) -> (Started, mpsc::Receiver<Result<(), String>>) {
    let studio = studio(library);
    let (tell, told) = mpsc::channel();
    let (end, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let served = serve_until(studio, &config, |started| tell.send(started.clone()).unwrap(), stop);
        // Most tests end before their server.
        let _gone = end.send(served.map_err(|error| error.to_string()));
    });
    (told.recv_timeout(PATIENCE).unwrap(), ended)
}

/// A library of one clip that can be read and one that cannot; the folder must stay.
fn library() -> (tempfile::TempDir, Library) {
    let folder = tempfile::tempdir().unwrap();
    let clips = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/clips");
    let clip = std::fs::read_dir(clips).unwrap().map(|item| item.unwrap().path());
    let clip = clip.filter(|path| path.extension().is_some_and(|e| e == "bvh")).min().unwrap();
    std::fs::copy(&clip, folder.path().join("a.bvh")).unwrap();
    std::fs::write(folder.path().join("b.bvh"), "HIERARCHY nonsense").unwrap();
    std::fs::write(folder.path().join("manifest.csv"), "path,source,license\na.bvh,a test,CC0-1.0\n")
        .unwrap();
    let mut library = Library::default();
    library.add(folder.path()).unwrap();
    (folder, library)
}

#[test]
fn the_page_comes_with_a_policy_and_only_to_those_who_know_the_server_by_its_name() {
    let Started { address, url } = started(StudioConfig::default());
    assert_eq!(url, format!("http://{address}/"));
    let page = get(address, "/", &format!("Host: {address}\r\n"));
    assert_eq!(page.status, 200);
    assert!(page.header("Content-Security-Policy").starts_with("default-src 'none'"));
    assert_eq!(page.header("X-Content-Type-Options"), "nosniff");
    assert_eq!(page.header("Referrer-Policy"), "no-referrer");
    assert_eq!(page.header("Cross-Origin-Resource-Policy"), "same-origin");
    assert!(page.text().contains("POMP studio"));
    assert_eq!(get(address, "/", "Host: evil.example\r\n").status, 403);
    let foreign = format!("Host: {address}\r\nOrigin: http://evil.example\r\n");
    for path in ["/", "/socket", "/library"] {
        assert_eq!(get(address, path, &foreign).status, 403, "{path}");
    }
    assert_eq!(refused(address, "Origin: http://evil.example\r\n").status, 403);
    let host = format!("Host: {address}\r\n");
    assert_eq!(get(address, "/socket", &host).status, 426);
    assert_eq!(get(address, "/clip", &host).status, 405);
    for path in ["/nowhere", "/../../etc/passwd", "//", "/library/1/2", "/library/0", "/library/x"] {
        assert_eq!(get(address, path, &host).status, 404, "{path}");
    }
}

#[test]
fn beyond_loopback_the_token_is_asked_for_and_leaves_the_address_bar() {
    let config = StudioConfig { address: [0, 0, 0, 0].into(), ..StudioConfig::default() };
    let Started { address, url } = started(config);
    let address = SocketAddr::from(([127, 0, 0, 1], address.port()));
    let host = format!("Host: {address}\r\n");
    for path in ["/", "/library", "/?token=0123"] {
        assert_eq!(get(address, path, &host).status, 401, "{path}");
    }
    assert_eq!(refused(address, "").status, 401);
    let token = url.split_once("token=").unwrap().1;
    let sent_on = get(address, &format!("/?token={token}"), &host);
    assert_eq!((sent_on.status, sent_on.header("Location")), (303, "/"));
    let cookie = sent_on.header("Set-Cookie");
    let pair = cookie.split(';').next().unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"));
    assert_eq!(get(address, "/", &format!("{host}Cookie: {pair}\r\n")).status, 200);
}

#[test]
fn a_page_gets_its_world_and_steers_it_and_takes_the_motion_away() {
    let Started { address, .. } = started(StudioConfig::default());
    let mut page = Page::open(address);
    let scene = page.next_of("scene");
    assert_eq!(scene["joints"].as_array().unwrap().len(), 22);
    let ground = &page.next_of("terrain")["terrain"];
    let cells = ground["rows"].as_u64().unwrap() * ground["columns"].as_u64().unwrap();
    assert_eq!(ground["heights"].as_array().unwrap().len() as u64, cells);
    assert!(page.tell(&FromPage::Steer { sequence: 9, direction: Vec2::Y, gait: Gait::Walk, facing: None }));
    let pelvis_z = |frame: &Value| frame["positions"][2].as_f64().unwrap();
    let first = page.next_of("frame");
    let last = loop {
        let frame = page.next_of("frame");
        if frame["frame"].as_u64().unwrap() > 150 {
            break frame;
        }
    };
    assert_eq!(last["input_sequence"], 9, "the frame knows of the steering");
    let walked = pelvis_z(&last) - pelvis_z(&first);
    assert!(walked > 0.5, "it walked {walked} m");
    for (row, width) in
        [("positions", 3 * 22), ("rotations", 4 * 22), ("target_rotations", 4 * 22), ("gait", 8)]
    {
        assert_eq!(last[row].as_array().unwrap().len(), width, "{row}");
    }
    let world = scene["world"].as_str().unwrap();
    let host = format!("Host: {address}\r\n");
    let files = [
        ("motion.bvh", "HIERARCHY"),
        ("motion.glb", "glTF"),
        ("rollout.npz", "PK"),
        ("rollout.html", "<!doctype"),
    ];
    for (file, begins) in files {
        let taken = get(address, &format!("/worlds/{world}/{file}"), &host);
        assert_eq!(taken.status, 200, "{file}: {}", taken.text());
        assert!(taken.body.starts_with(begins.as_bytes()), "{file}");
        assert_eq!(taken.header("Content-Disposition"), format!("attachment; filename=\"{file}\""));
    }
    assert_eq!(get(address, "/worlds/0123/motion.bvh", &host).status, 404);
    assert_eq!(get(address, &format!("/worlds/{world}/passwd"), &host).status, 404);
}

#[test]
fn the_library_shows_cards_and_what_cannot_be_read_is_said_on_its_card() {
    let (_folder, library) = library();
    let Started { address, .. } = started_with(StudioConfig::default(), library);
    let host = format!("Host: {address}\r\n");
    let card = |number: &str| {
        let answer = get(address, &format!("/library/{number}/card"), &host);
        (answer.status, serde_json::from_slice::<Value>(&answer.body).unwrap_or_default())
    };
    let (status, first) = card("0");
    println!("{} s, {}, {} ground", first["seconds"], first["gaits"], first["ground"]);
    assert_eq!(status, 200);
    assert!(first["picture"].as_str().unwrap().starts_with("data:image/png;base64,"));
    assert!(!first["gaits"].as_array().unwrap().is_empty());
    assert_eq!(first["license"], "CC0-1.0", "the manifest says it");
    assert_eq!(card("0").1, first);
    let (status, broken) = card("1");
    assert_eq!(status, 200);
    assert!(broken["error"].as_str().unwrap().contains("b.bvh"), "{broken}");
    assert_eq!((card("2").0, card("x").0, card("-1").0), (404, 404, 404));
    let list: Value = serde_json::from_slice(&get(address, "/library", &host).body).unwrap();
    assert_eq!((&list["entries"][1]["name"], &list["entries"][1]["kind"]), (&"b".into(), &"bvh".into()));
}

#[test]
fn a_world_is_drawn_as_an_animation_and_repeated_by_another_model() {
    let Started { address, .. } = started(StudioConfig::default());
    let mut page = Page::open(address);
    let scene = page.next_of("scene");
    assert_eq!(scene["models"], serde_json::json!(["compact", "other"]));
    assert_eq!(scene["controller"], "pomp");
    assert_eq!(scene["controllers"].as_array().unwrap().len(), 2, "one list per model");
    let push = PushRequest { body: 11, impulse_ns: Vec3::X * 60.0, point_local: Vec3::ZERO };
    assert!(page.tell(&FromPage::Push(push)));
    while page.next_of("frame")["frame"].as_u64().unwrap() < 50 {}
    assert!(page.tell(&FromPage::Pause {}));
    std::thread::sleep(Duration::from_millis(300));
    let world = scene["world"].as_str().unwrap();
    let host = format!("Host: {address}\r\n");
    let ask = |what: &str| get(address, &format!("/worlds/{world}/{what}"), &host);
    let gif = ask("motion.gif?seconds=0.5");
    assert_eq!(gif.status, 200);
    assert!(gif.body.starts_with(b"GIF89a"));
    for seconds in ["0", "-1", "NaN", "1e9"] {
        assert_eq!(ask(&format!("motion.gif?seconds={seconds}")).status, 400, "{seconds}");
    }
    let (own, repeated) = (ask("clip"), ask("with?model=other"));
    assert_eq!((own.status, repeated.status), (200, 200));
    let (own, repeated) = (read(&own.body), read(&repeated.body));
    assert_eq!(own["pushes"].as_array().unwrap().len(), 1);
    assert_eq!(own["arrays"]["positions"], repeated["arrays"]["positions"], "it is the same model");
    let unknown = ask("with?model=../../etc");
    assert_eq!(unknown.status, 422);
    assert!(unknown.text().contains("compact, other"), "{}", unknown.text());
    assert_eq!(ask("with").status, 400);
    assert_eq!(ask("with?model=other&controller=pomp").status, 200);
    let missing = ask("with?model=other&controller=matching");
    assert_eq!(missing.status, 422);
    assert!(missing.text().contains("matching") && missing.text().contains("pomp"), "{}", missing.text());
    let unknown = ask("with?model=other&controller=walker");
    assert_eq!(unknown.status, 422);
    assert!(unknown.text().contains("walker") && unknown.text().contains("learned-matching"));
    let other = SceneRequest { model: Some("other".to_owned()), ..flat() };
    assert!(page.tell(&FromPage::Reset { scene: Some(other) }));
    assert_eq!(page.next_of("scene")["scene"]["model"], "other");
}

fn flat() -> SceneRequest {
    SceneRequest {
        model: None,
        controller: None,
        terrain: "flat".to_owned(),
        seed: 0,
        friction: 0.9,
        mass_kg: 75.0,
        assist: 1.0,
        denoising_steps: 4,
        style: None,
        events: Vec::new(),
    }
}

#[test]
fn a_page_that_reads_nothing_does_not_hold_up_another_and_the_limit_is_told() {
    let Started { address, .. } = started(StudioConfig { max_worlds: 2, ..StudioConfig::default() });
    let silent = Page::open(address);
    let mut page = Page::open(address);
    page.next_of("scene");
    let notice = Page::open(address).next_of("notice");
    assert!(notice["text"].as_str().unwrap().contains("max_worlds"), "{notice}");
    let began = Instant::now();
    for _ in 0..120 {
        page.next_of("frame");
    }
    println!("120 frames beside a silent page took {:.1} s", began.elapsed().as_secs_f32());
    drop(silent);
    // Its world ends, and makes room for another.
    let freed = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        Page::open(address).next().is_some_and(|message| message["kind"] == "scene")
    });
    assert!(freed, "a page that has gone leaves its place");
}

#[test]
fn rejects_uploads_that_are_broken_too_large_or_nameless_with_a_reason() {
    let Started { address, .. } = started(StudioConfig { max_upload_mb: 1, ..StudioConfig::default() });
    let broken = post(address, "/clip?name=walk%20one.bvh", b"HIERARCHY nonsense");
    assert_eq!(broken.status, 422);
    assert!(broken.text().contains("walk one.bvh"), "{}", broken.text());
    assert_eq!(post(address, "/clip", b"x").status, 400);
    assert_eq!(post(address, "/clip?name=a.exe", b"MZ").status, 422);
    let large = post(address, "/clip?name=a.npz", &vec![0; (1 << 20) + 1]);
    assert_eq!(large.status, 413);
    assert!(large.text().contains("1 MB"), "{}", large.text());
}

/// A walk whose joints have names that say nothing.
fn nameless_walk() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/clips/01_walk.bvh");
    let text = std::fs::read_to_string(path).unwrap();
    let mut number = 0;
    let lines = text.lines().map(|line| match line.trim_start().split_once(' ') {
        Some((kind @ ("ROOT" | "JOINT"), _)) => {
            number += 1;
            format!("{kind} q{number}")
        }
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n").into_bytes()
}

#[test]
fn the_joints_of_an_upload_are_told_and_can_be_stated() {
    let Started { address, .. } = started(StudioConfig::default());
    let walk = nameless_walk();
    let told = |query: &str| -> Value {
        let answer = post(address, &format!("/rig?name=walk.bvh{query}"), &walk);
        assert_eq!(answer.status, 200, "{}", answer.text());
        serde_json::from_str(&answer.text()).unwrap()
    };
    let joint_of = |choice: &Value, role: &str| {
        let roles = choice["roles"].as_array().unwrap().iter();
        roles.filter(|found| found["name"] == role).map(|found| found["joint"].clone()).next().unwrap()
    };
    let found = told("");
    assert_eq!((found["rig"].as_str(), found["refusal"].as_str()), (Some("inferred"), Some("")));
    let places: Vec<f64> =
        found["joints"].as_array().unwrap().iter().map(|joint| joint["place"][1].as_f64().unwrap()).collect();
    let height =
        places.iter().fold(f64::MIN, |a, b| a.max(*b)) - places.iter().fold(f64::MAX, |a, b| a.min(*b));
    assert!((height - 1.0).abs() < 1e-3, "the body is as tall as 1: {height}");
    // It faces the viewer: its left hip is on the right.
    let across = |role: &str| {
        let name = joint_of(&found, role);
        let joints = found["joints"].as_array().unwrap().iter();
        joints
            .filter(|joint| joint["name"] == name)
            .map(|joint| joint["place"][0].as_f64().unwrap())
            .next()
            .unwrap()
    };
    assert!(across("LeftUpLeg") > across("RightUpLeg") + 0.05);
    let (hand, toe) = (joint_of(&found, "LeftHand"), joint_of(&found, "LeftToe"));
    assert!(hand.is_string() && toe.is_string() && hand != toe);

    let stated = "&joints=%7B%22LeftHand%22:null,%22LeftToe%22:null%7D";
    let corrected = told(stated);
    assert!(joint_of(&corrected, "LeftHand").is_null() && joint_of(&corrected, "LeftToe").is_null());
    assert_eq!(joint_of(&corrected, "RightHand"), joint_of(&found, "RightHand"));
    assert!(!corrected["toml"].as_str().unwrap().contains("LeftHand ="));
    assert_eq!(post(address, &format!("/clip?name=walk.bvh{stated}"), &walk).status, 200);

    // What no body has is shown, so that its joints can be stated, and what is stated must be there.
    let chain = b"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Yrotation Xrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n\
                  MOTION\nFrames: 2\nFrame Time: 0.02\n0 0 0\n0 0 0\n";
    let refused: Value = serde_json::from_str(&post(address, "/rig?name=chain.bvh", chain).text()).unwrap();
    assert!(refused["refusal"].as_str().unwrap().contains("legs"), "{refused}");
    assert_eq!(refused["joints"].as_array().unwrap().len(), 1);
    let unknown = post(address, "/rig?name=walk.bvh&joints=%7B%22Tail%22:%22q1%22%7D", &walk);
    assert!(unknown.status == 422 && unknown.text().contains("Tail"), "{}", unknown.text());
    assert_eq!(post(address, "/rig?name=walk.bvh&joints=7", &walk).status, 400);
    assert_eq!(post(address, "/rig?name=a.npz", b"PK").status, 422);
}

#[test]
fn no_message_brings_the_server_down() {
    let Started { address, .. } = started(StudioConfig { max_worlds: 64, ..StudioConfig::default() });
    let bytes = prop::collection::vec(any::<u8>(), 0..80);
    let commands = prop::sample::select(vec![
        FromPage::Rewind { seconds: 1e38 },
        FromPage::Pace { factor: 0.0 },
        FromPage::Pace { factor: 1e-30 },
        FromPage::Assist { scale: -1.0 },
        FromPage::Denoise { steps: usize::MAX },
        FromPage::Style { style: usize::MAX, weight: 0.5 },
        FromPage::Style { style: 0, weight: f32::NAN },
        FromPage::Reset { scene: Some(SceneRequest { friction: 0.0, mass_kg: 1.0, ..flat() }) },
        FromPage::Step {},
        FromPage::Rewind { seconds: 0.5 },
        FromPage::Link {},
    ]);
    let pushes = (any::<usize>(), prop::array::uniform3(any::<f32>()), prop::array::uniform3(any::<f32>()));
    let pushes = pushes.prop_map(|(body, impulse, point)| {
        let (impulse_ns, point_local) = (Vec3::from(impulse), Vec3::from(point));
        FromPage::Push(PushRequest { body: body % 40, impulse_ns, point_local })
    });
    let near = || prop::array::uniform3(-3f32..3.0);
    let throws = (near(), near()).prop_map(|(position, velocity)| {
        let (position, velocity) = (Vec3::from(position), Vec3::from(velocity));
        FromPage::Throw(ThrowRequest { side_m: 0.3, mass_kg: 5.0, position, velocity })
    });
    let bumps = (-1f32..1.0, -1f32..1.0)
        .prop_map(|(x, z)| FromPage::Bump(Bump { x, z, radius_m: 1.0, height_m: 0.05 * x }));
    let meant = prop_oneof![commands, pushes, throws, bumps].prop_map(|message| message.to_bytes());
    let changed = (meant.clone(), any::<u16>(), any::<u8>()).prop_map(|(mut bytes, at, byte)| {
        let at = usize::from(at) % bytes.len();
        bytes[at] = byte;
        bytes
    });
    let any_message = prop_oneof![bytes, meant, changed];
    let messages = prop::collection::vec((any_message, any::<bool>()), 1..30);
    let config = ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
    let run = TestRunner::new(config).run(&messages, |messages| {
        let mut page = Page::open(address);
        // The server may hang up on nonsense; it may not do more.
        for (message, framed) in messages {
            let sent = if framed { page.send(&message) } else { page.send_raw(&message) };
            if !sent {
                break;
            }
        }
        Ok(())
    });
    run.unwrap();
    let mut page = Page::open(address);
    page.next_of("scene");
    assert!(page.tell(&FromPage::Resume {}));
    page.next_of("frame");
    assert!(page.send_frame(0x81, b"hello"));
    let notice = page.next_of("notice");
    assert!(notice["text"].as_str().unwrap().contains("text, not bytes"), "{notice}");
}
