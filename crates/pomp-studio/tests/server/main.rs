//! The server as a browser and as an attacker meet it.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

mod client;

use client::{PATIENCE, Page, ask, get, handshake, json, post};
use pomp_generator::GeneratorConfig;
use pomp_model::Model;
use pomp_motion::retarget::RigLibrary;
use pomp_preprocess::PreprocessConfig;
use pomp_studio::protocol::{KIND_FRAME, KIND_NOTICE, KIND_SCENE, KIND_TERRAIN};
use pomp_studio::{Library, NamedModel, Started, Studio, StudioConfig, serve};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

fn started(config: StudioConfig) -> Started {
    started_with(config, Library::default())
}

fn started_with(config: StudioConfig, library: Library) -> Started {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/models/compact");
    let load = |name: &str| NamedModel {
        name: name.to_owned(),
        model: Model::load(&folder, &Default::default()).unwrap(),
    };
    let studio = Studio {
        models: vec![load("compact"), load("other")],
        generator: GeneratorConfig::default(),
        preprocess: PreprocessConfig::default(),
        rigs: RigLibrary::builtin(),
        library,
        terrain: "flat".to_owned(),
        seed: 1,
    };
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        serve(studio, &config, |started| tell.send(started.clone()).unwrap()).unwrap();
    });
    told.recv_timeout(PATIENCE).unwrap()
}

fn float(bytes: &[u8], at: usize) -> f32 {
    f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn integer(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

#[test]
fn the_page_comes_with_a_policy_and_only_to_those_who_know_the_server_by_its_name() {
    let Started { address, url } = started(StudioConfig::default());
    assert_eq!(url, format!("http://{address}/"));
    let (status, text) = get(address, "/", &format!("Host: {address}\r\n"));
    assert_eq!(status, 200);
    assert!(text.contains("Content-Security-Policy: default-src 'none'"));
    assert!(text.contains("POMP studio"));
    let (_, zipped) = get(address, "/", &format!("Host: {address}\r\nAccept-Encoding: gzip, br\r\n"));
    assert!(zipped.contains("Content-Encoding: gzip") && zipped.len() < text.len());
    assert_eq!(get(address, "/", "Host: evil.example\r\n").0, 403);
    let foreign = format!("Host: {address}\r\nOrigin: http://evil.example\r\n");
    for path in ["/", "/socket", "/library"] {
        assert_eq!(get(address, path, &foreign).0, 403, "{path}");
    }
    assert_eq!(ask(address, &handshake(address, "Origin: http://evil.example\r\n"), &[]).0, 403);
    let host = format!("Host: {address}\r\n");
    assert_eq!(get(address, "/socket", &host).0, 426);
    assert_eq!(get(address, "/clip", &host).0, 405);
    for path in ["/nowhere", "/../../etc/passwd", "//", "/library/1/2", "/library/0", "/library/x"] {
        assert_eq!(get(address, path, &host).0, 404, "{path}");
    }
}

#[test]
fn beyond_loopback_the_token_is_asked_for_and_leaves_the_address_bar() {
    let config = StudioConfig { address: [0, 0, 0, 0].into(), ..StudioConfig::default() };
    let Started { address, url } = started(config);
    let address = SocketAddr::from(([127, 0, 0, 1], address.port()));
    let host = format!("Host: {address}\r\n");
    for path in ["/", "/library", "/?token=0123"] {
        assert_eq!(get(address, path, &host).0, 401, "{path}");
    }
    assert_eq!(ask(address, &handshake(address, ""), &[]).0, 401);
    let token = url.split_once("token=").unwrap().1;
    let (status, text) = get(address, &format!("/?token={token}"), &host);
    assert_eq!(status, 303);
    let cookie = text.lines().find_map(|line| line.strip_prefix("Set-Cookie: ")).unwrap();
    let pair = cookie.split(';').next().unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"));
    assert_eq!(get(address, "/", &format!("{host}Cookie: {pair}\r\n")).0, 200);
}

#[test]
fn a_page_gets_its_world_and_steers_it_and_takes_the_motion_away() {
    let Started { address, .. } = started(StudioConfig::default());
    let mut page = Page::open(address);
    let scene = json(&page.next_of(KIND_SCENE));
    assert_eq!(scene["joints"].as_array().unwrap().len(), 22);
    assert!(page.next_of(KIND_TERRAIN).len() > 1000);
    let mut steer = vec![1];
    steer.extend(9u32.to_le_bytes());
    steer.extend(0f32.to_le_bytes());
    steer.extend(1f32.to_le_bytes());
    steer.push(1);
    assert!(page.send(&steer));
    let pelvis_z = |frame: &[u8]| float(frame, 24 + 8);
    let first = page.next_of(KIND_FRAME);
    let last = loop {
        let frame = page.next_of(KIND_FRAME);
        if integer(&frame, 8) > 150 {
            break frame;
        }
    };
    assert_eq!(integer(&last, 12), 9, "the frame knows of the steering");
    let walked = pelvis_z(&last) - pelvis_z(&first);
    assert!(walked > 0.5, "it walked {walked} m");
    let world = scene["world"].as_str().unwrap();
    let host = format!("Host: {address}\r\n");
    let files = [
        ("motion.bvh", "HIERARCHY"),
        ("motion.glb", "glTF"),
        ("rollout.npz", "PK"),
        ("rollout.html", "<!doctype"),
    ];
    for (file, begins) in files {
        let (status, text) = get(address, &format!("/worlds/{world}/{file}"), &host);
        assert_eq!(status, 200, "{file}: {text}");
        assert!(text.split_once("\r\n\r\n").unwrap().1.starts_with(begins), "{file}");
    }
    assert_eq!(get(address, "/worlds/0123/motion.bvh", &host).0, 404);
    assert_eq!(get(address, &format!("/worlds/{world}/passwd"), &host).0, 404);
}

#[test]
fn the_library_shows_cards_and_what_cannot_be_read_is_said_on_its_card() {
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
    let Started { address, .. } = started_with(StudioConfig::default(), library);
    let host = format!("Host: {address}\r\n");
    let card = |number: &str| {
        let (status, text) = get(address, &format!("/library/{number}/card"), &host);
        let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body).to_owned();
        (status, serde_json::from_str::<serde_json::Value>(&body).unwrap_or_default())
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
}

#[test]
fn a_world_is_drawn_as_an_animation_and_repeated_by_another_model() {
    let Started { address, .. } = started(StudioConfig::default());
    let mut page = Page::open(address);
    let scene = json(&page.next_of(KIND_SCENE));
    assert_eq!(scene["models"], serde_json::json!(["compact", "other"]));
    let mut push = vec![2, 11];
    push.extend([60f32, 0.0, 0.0, 0.0, 0.0, 0.0].iter().flat_map(|v| v.to_le_bytes()));
    assert!(page.send(&push));
    while integer(&page.next_of(KIND_FRAME), 8) < 50 {}
    assert!(page.command(r#"{"do":"pause"}"#));
    std::thread::sleep(Duration::from_millis(300));
    let world = scene["world"].as_str().unwrap();
    let host = format!("Host: {address}\r\n");
    let ask = |what: &str| get(address, &format!("/worlds/{world}/{what}"), &host);
    let body = |text: &str| text.split_once("\r\n\r\n").unwrap().1.to_owned();
    let (status, gif) = ask("motion.gif?seconds=0.5");
    assert_eq!(status, 200);
    assert!(body(&gif).starts_with("GIF89a"));
    for seconds in ["0", "-1", "NaN", "1e9"] {
        assert_eq!(ask(&format!("motion.gif?seconds={seconds}")).0, 400, "{seconds}");
    }
    let (status, own) = ask("clip");
    let (again, repeated) = ask("with?model=other");
    assert_eq!((status, again), (200, 200));
    assert!(body(&own).starts_with("POMPCLIP") && body(&repeated).starts_with("POMPCLIP"));
    let (status, text) = ask("with?model=../../etc");
    assert_eq!(status, 422);
    assert!(text.contains("compact, other"), "{text}");
    assert_eq!(ask("with").0, 400);
    assert!(page.command(r#"{"do":"reset","scene":{"model":"other","terrain":"flat","seed":0,"friction":0.9,"mass_kg":75,"assist":1,"denoising_steps":4}}"#));
    assert_eq!(json(&page.next_of(KIND_SCENE))["scene"]["model"], "other");
}

#[test]
fn a_page_that_reads_nothing_does_not_hold_up_another_and_the_limit_is_told() {
    let Started { address, .. } = started(StudioConfig { max_worlds: 2, ..StudioConfig::default() });
    let silent = Page::open(address);
    let mut page = Page::open(address);
    page.next_of(KIND_SCENE);
    let notice = json(&Page::open(address).next_of(KIND_NOTICE));
    assert!(notice["text"].as_str().unwrap().contains("max_worlds"), "{notice}");
    let began = Instant::now();
    for _ in 0..120 {
        page.next_of(KIND_FRAME);
    }
    println!("120 frames beside a silent page took {:.1} s", began.elapsed().as_secs_f32());
    drop(silent);
    // Its world ends, and makes room for another.
    let freed = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        Page::open(address).next().is_some_and(|message| message[0] == KIND_SCENE)
    });
    assert!(freed, "a page that has gone leaves its place");
}

#[test]
fn rejects_uploads_that_are_broken_too_large_or_nameless_with_a_reason() {
    let Started { address, .. } = started(StudioConfig { max_upload_mb: 1, ..StudioConfig::default() });
    let (status, text) = post(address, "/clip?name=walk%20one.bvh", b"HIERARCHY nonsense");
    assert_eq!(status, 422);
    assert!(text.contains("walk one.bvh"), "{text}");
    assert_eq!(post(address, "/clip", b"x").0, 400);
    assert_eq!(post(address, "/clip?name=a.exe", b"MZ").0, 422);
    let (status, text) = post(address, "/clip?name=a.npz", &vec![0; (1 << 20) + 1]);
    assert_eq!(status, 413);
    assert!(text.contains("1 MB"), "{text}");
}

#[test]
fn no_message_brings_the_server_down() {
    let Started { address, .. } = started(StudioConfig { max_worlds: 64, ..StudioConfig::default() });
    let bytes = prop::collection::vec(any::<u8>(), 0..80);
    let commands = prop::sample::select(vec![
        r#"{"do":"rewind","seconds":1e38}"#,
        r#"{"do":"pace","factor":0}"#,
        r#"{"do":"pace","factor":1e-30}"#,
        r#"{"do":"assist","scale":-1}"#,
        r#"{"do":"denoise","steps":18446744073709551615}"#,
        r#"{"do":"reset","scene":{"terrain":"flat","seed":0,"friction":0,"mass_kg":1,"assist":1,"denoising_steps":4}}"#,
        r#"{"do":"step"}"#,
        r#"{"do":"rewind","seconds":0.5}"#,
        r#"{"do":"link"}"#,
    ])
    .prop_map(|text| [&[3], text.as_bytes()].concat());
    let pushes = prop::collection::vec(any::<u8>(), 25).prop_map(|tail| [vec![2], tail].concat());
    let near = prop::collection::vec(-3f32..3.0, 8);
    let throws = near.prop_map(|mut numbers| {
        (numbers[0], numbers[1]) = (0.3, 5.0);
        [vec![4], numbers.iter().flat_map(|v| v.to_le_bytes()).collect()].concat()
    });
    let bumps = prop::collection::vec(-1f32..1.0, 2).prop_map(|place| {
        let numbers = [place[0], place[1], 1.0, 0.05 * place[0]];
        [vec![5], numbers.iter().flat_map(|v| v.to_le_bytes()).collect()].concat()
    });
    let any_message = prop_oneof![bytes, commands, pushes, throws, bumps];
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
    page.next_of(KIND_SCENE);
    assert!(page.command(r#"{"do":"resume"}"#));
    page.next_of(KIND_FRAME);
    assert!(page.send_frame(0x81, b"hello"));
    let notice = json(&page.next_of(KIND_NOTICE));
    assert!(notice["text"].as_str().unwrap().contains("text, not bytes"), "{notice}");
}
