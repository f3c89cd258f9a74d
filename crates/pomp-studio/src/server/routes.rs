use super::http::{Refusal, Request, Response, for_bytes, for_head, hang_up};
use super::world_thread::WorldHandle;
use super::{CARD_MAKERS, Place, READERS, Shared, page_socket};
use crate::clip_card::clip_card;
use crate::open_clip::open_upload;
use crate::plate_curves::PlateCurves;
use crate::world::{SceneRequest, repeated};
use crate::{ClipPackage, LibraryEntry, StudioError, open_clip, standalone_html};
use pomp_formats::bvh::bvh_text;
use pomp_formats::glb::glb_bytes;
use pomp_formats::{BvhWriteOptions, write_recording};
use pomp_motion::Recording;
use pomp_preprocess::{PreprocessError, ProvenanceIndex};
use pomp_render::{RenderOptions, render_gif};
use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Longest animation of a world, seconds.
const LONGEST_GIF_S: f32 = 20.0;

impl From<StudioError> for Refusal {
    fn from(error: StudioError) -> Self {
        Self::new(422, error.to_string())
    }
}

/// Reads one request and answers it.
pub(super) fn answer(shared: &Arc<Shared>, stream: TcpStream) {
    // Visitors who have gone or say nothing need no answer.
    let Ok(Some(request)) = Request::read(&mut for_head(&stream)) else { return };
    let mut request = match request {
        Ok(request) => request,
        Err(refusal) => return hang_up(&stream, &refusal.into()),
    };
    if request.path == "/"
        && let Some(cookie) = shared.guard.cookie_for(request.query.as_deref())
    {
        // The token leaves the address bar, and with it the browser's history and any link that is passed on.
        let away = Response { status: 303, ..Response::new("text/plain", "") };
        return hang_up(&stream, &away.with("Location", "/").with("Set-Cookie", cookie));
    }
    if let Err(refusal) = shared.guard.admit(&request) {
        return hang_up(&stream, &refusal.into());
    }
    if (request.method.as_str(), request.path.as_str()) == ("GET", "/socket") {
        return page_socket::attend(shared, request, stream);
    }
    // A fault of the program at one visitor's file is that visitor's bad luck, not the server's end.
    let response = catch_unwind(AssertUnwindSafe(|| respond(shared, &mut request, &stream)))
        .unwrap_or_else(|_| Err(Refusal::new(500, "the program has failed at this; please report it")));
    hang_up(&stream, &response.unwrap_or_else(Response::from));
}

fn respond(shared: &Shared, request: &mut Request, stream: &TcpStream) -> Result<Response, Refusal> {
    let path = request.path.clone();
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    match (request.method.as_str(), parts.as_slice()) {
        ("GET", [""]) => Ok(page(shared, request)),
        ("GET", ["library"]) => Ok(Response::new("application/json", shared.library.to_json().to_string())),
        ("GET", ["library", number]) => library_clip(shared, number),
        ("GET", ["library", number, "card"]) => library_card(shared, number),
        ("GET", ["worlds", name, "clip"]) => packed(&world(shared, name)?.recording()?),
        ("GET", ["worlds", name, "motion.gif"]) => animation(shared, request, name),
        ("GET", ["worlds", name, "with"]) => with_other_model(shared, request, name),
        ("GET", ["worlds", name, file]) => recording(shared, name, file),
        ("POST", ["clip"]) => upload(shared, request, stream),
        (
            _,
            [""]
            | ["library" | "clip" | "socket"]
            | ["library", _]
            | ["library", _, "card"]
            | ["worlds", _, _],
        ) => Err(Refusal::new(405, "that cannot be done with this page")),
        _ => Err(Refusal::new(404, "there is no such page here")),
    }
}

fn page(shared: &Shared, request: &Request) -> Response {
    let zipped = request.lists("accept-encoding", "gzip");
    let body = if zipped { shared.page.zipped().to_vec() } else { shared.page.html().as_bytes().to_vec() };
    let response = Response::new("text/html; charset=utf-8", body)
        .with("Cache-Control", "no-cache")
        .with("Content-Security-Policy", shared.page.security_policy());
    if zipped { response.with("Content-Encoding", "gzip") } else { response }
}

/// A turn at reading a clip, which takes time and memory.
fn turn(shared: &Shared) -> Result<Place, Refusal> {
    Place::take(&shared.readers, READERS)
        .ok_or_else(|| Refusal::new(503, "other clips are being read; try again in a moment"))
}

fn packed(recording: &Recording) -> Result<Response, Refusal> {
    Ok(Response::new("application/octet-stream", ClipPackage::of(recording)?.into_bytes()))
}

fn upload(shared: &Shared, request: &mut Request, stream: &TcpStream) -> Result<Response, Refusal> {
    let name = request.field("name").ok_or_else(|| Refusal::new(400, "the upload names no file"))?;
    let _turn = turn(shared)?;
    let most = shared.config.max_upload_bytes();
    let body = request
        .body(&mut for_bytes(stream, most), most)
        .map_err(|error| Refusal::new(400, format!("{name} did not arrive whole: {error}")))??;
    packed(&open_upload(&name, &body, &shared.preprocess, &shared.rigs)?)
}

fn library_clip(shared: &Shared, number: &str) -> Result<Response, Refusal> {
    let (_, entry) = library_entry(shared, number)?;
    let _turn = turn(shared)?;
    let recording = opened(shared, entry)?;
    let plates = PlateCurves::beside(&entry.path, &shared.preprocess, &shared.rigs)?;
    let package = ClipPackage::with_plates(&recording, plates.as_ref())?;
    Ok(Response::new("application/octet-stream", package.into_bytes()))
}

fn library_entry<'a>(shared: &'a Shared, number: &str) -> Result<(usize, &'a LibraryEntry), Refusal> {
    let found = number.parse::<usize>().ok().and_then(|n| Some((n, shared.library.entries().get(n)?)));
    found.ok_or_else(|| Refusal::new(404, "there is no such clip in the library"))
}

/// A clip of the library; where the file itself names no source or licence, the manifest of its folder may.
fn opened(shared: &Shared, entry: &LibraryEntry) -> Result<Recording, StudioError> {
    let mut recording = open_clip(&entry.path, &shared.preprocess, &shared.rigs)?;
    if recording.license.is_empty() {
        let refused = |error: PreprocessError| StudioError::BadClip {
            name: entry.name.clone(),
            reason: error.to_string(),
        };
        let stated = ProvenanceIndex::default().of(&entry.path).map_err(refused)?;
        recording.license = stated.license;
        if recording.source.is_empty() {
            recording.source = stated.source;
        }
    }
    Ok(recording)
}

/// What the list shows of a clip; made once.
fn library_card(shared: &Shared, number: &str) -> Result<Response, Refusal> {
    let (number, entry) = library_entry(shared, number)?;
    let known = shared.cards.get(number);
    let card = match known {
        Some(card) => card,
        None => {
            let busy = || Refusal::new(503, "another card is being made; try again in a moment");
            let _turn = Place::take(&shared.card_makers, CARD_MAKERS).ok_or_else(busy)?;
            let card = match opened(shared, entry).and_then(|recording| clip_card(&recording)) {
                Ok(card) => card,
                // Said on the card: a list must not stop at a clip that cannot be read.
                Err(error) => serde_json::json!({ "error": error.to_string() }),
            };
            shared.cards.put(number, card.to_string())
        }
    };
    Ok(Response::new("application/json", card.as_str()))
}

fn world(shared: &Shared, name: &str) -> Result<WorldHandle, Refusal> {
    let world = shared.worlds.lock().expect("nothing panics while it holds this lock").get(name).cloned();
    world.ok_or_else(|| {
        Refusal::new(404, "that world has ended; its page is closed or has lost its connection")
    })
}

/// The last seconds of a world, drawn by the server.
fn animation(shared: &Shared, request: &Request, name: &str) -> Result<Response, Refusal> {
    let seconds = request.field("seconds").and_then(|text| text.parse::<f32>().ok()).unwrap_or(10.0);
    if !(0.2..=LONGEST_GIF_S).contains(&seconds) {
        return Err(Refusal::new(400, format!("an animation lasts 0.2 to {LONGEST_GIF_S} seconds")));
    }
    let recording = world(shared, name)?.recording()?;
    let _turn = turn(shared)?;
    let frames = recording.frames();
    let first = frames.saturating_sub((seconds * recording.frame_rate_hz).round() as usize);
    let options = RenderOptions { frames: Some(first..frames), fps: 20.0, ..RenderOptions::default() };
    let mut bytes = Vec::new();
    render_gif(&recording, &options, &mut bytes).map_err(StudioError::from)?;
    let response = Response::new("image/gif", bytes);
    Ok(response.with("Content-Disposition", "attachment; filename=\"motion.gif\""))
}

/// The scene of a world with all that was done in it, moved by another model.
fn with_other_model(shared: &Shared, request: &Request, name: &str) -> Result<Response, Refusal> {
    let model = request.field("model").ok_or_else(|| Refusal::new(400, "the request names no model"))?;
    let other = shared.model(Some(&model))?;
    let (scene, frames) = world(shared, name)?.scene()?;
    let scene = SceneRequest { model: Some(model), ..scene };
    let _turn = turn(shared)?;
    packed(&repeated(other, &shared.generator, scene, frames)?)
}

fn recording(shared: &Shared, name: &str, file: &str) -> Result<Response, Refusal> {
    let world = world(shared, name)?;
    let kind = match file {
        "motion.bvh" => "text/plain; charset=utf-8",
        "motion.glb" => "model/gltf-binary",
        "rollout.npz" => "application/zip",
        "rollout.html" => "text/html; charset=utf-8",
        _ => {
            let reason = "a recording is given as motion.bvh, motion.glb, rollout.npz or rollout.html";
            return Err(Refusal::new(404, reason));
        }
    };
    let bytes = written(&world.recording()?, file)?;
    Ok(Response::new(kind, bytes).with("Content-Disposition", format!("attachment; filename=\"{file}\"")))
}

fn written(recording: &Recording, file: &str) -> Result<Vec<u8>, StudioError> {
    match file {
        "motion.bvh" => Ok(bvh_text(&recording.to_clip()?, &BvhWriteOptions::default())?.into_bytes()),
        "motion.glb" => Ok(glb_bytes(&recording.to_clip()?)?),
        "rollout.html" => standalone_html(recording),
        _ => {
            let system = |action| move |source| StudioError::System { action, source };
            let folder = tempfile::tempdir().map_err(system("making room for the recording"))?;
            let path = folder.path().join(file);
            write_recording(&path, recording)?;
            std::fs::read(&path).map_err(system("reading the recording back"))
        }
    }
}
