use super::ranges::answer_range;
use super::refusal::Refusal;
use super::world_thread::WorldHandle;
use super::{Leader, Shared, page_socket};
use crate::clip_card::{CardAnswer, clip_card};
use crate::open_clip::open_upload;
use crate::plate_curves::PlateCurves;
use crate::rig_choice::{Stated, rig_choice};
use crate::world::{SceneRequest, repeated};
use crate::{ClipPackage, LibraryEntry, StudioError, open_clip, standalone_html};
use axum::Router;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LENGTH,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, LOCATION, REFERRER_POLICY, SET_COOKIE, TRANSFER_ENCODING,
    VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http_body_util::BodyExt;
use pomp_controllers::ControllerKind;
use pomp_formats::bvh::bvh_text;
use pomp_formats::glb::glb_bytes;
use pomp_formats::{BvhWriteOptions, write_recording};
use pomp_motion::Recording;
use pomp_preprocess::{PreprocessError, ProvenanceIndex};
use pomp_render::{RenderOptions, render_gif};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;
use tower_http::compression::predicate::{NotForContentType, SizeAbove};
use tower_http::compression::{CompressionLayer, Predicate};

/// Longest animation of a world, seconds.
const LONGEST_GIF_S: f32 = 20.0;
/// Answers of fewer bytes are not compressed.
const LEAST_COMPRESSED: u64 = 512;

type Answer = Result<Response, Refusal>;

/// All paths of the server, behind its guard.
pub(super) fn routes(shared: Arc<Shared>) -> Router {
    // These stay the same while the program runs. The files of a live world are others with every frame, so that a part of one
    // would not fit to the rest of another.
    let lasting = Router::new()
        .route("/", get(page))
        .route("/library/{number}", get(library_clip))
        .route_layer(from_fn(answer_range));
    let worlds = Router::new()
        .route("/clip", get(world_clip))
        .route("/motion.gif", get(animation))
        .route("/with", get(with_other_model))
        .route("/{file}", get(recording));
    // Pictures and archives are compressed already.
    let worth_it = SizeAbove::new(LEAST_COMPRESSED)
        .and(NotForContentType::IMAGES)
        .and(NotForContentType::const_new("application/zip"));
    lasting
        .route("/library", get(library))
        .route("/library/{number}/card", get(library_card))
        .route("/clip", post(upload))
        .route("/rig", post(rig))
        .nest("/worlds/{world}", worlds)
        .layer(CompressionLayer::new().compress_when(worth_it))
        .route("/socket", get(page_socket::attend))
        .fallback(|| async { Refusal::new(StatusCode::NOT_FOUND, "there is no such page here") })
        .method_not_allowed_fallback(|| async {
            Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "that cannot be done with this page")
        })
        // The upload's own limit is configured.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(Arc::clone(&shared), admit))
        .layer(map_response(protected))
        .with_state(shared)
}

/// Lets a request in, or says why not.
async fn admit(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    if head.uri.path() == "/"
        && let Some(cookie) = shared.guard.cookie_for(head.uri.query())
    {
        // The token leaves the address bar, and with it the browser's history and any link that is passed on.
        return (StatusCode::SEE_OTHER, [(LOCATION, "/".to_owned()), (SET_COOKIE, cookie)]).into_response();
    }
    match shared.guard.admit(&head) {
        Ok(()) => next.run(Request::from_parts(head, body)).await,
        Err(refusal) => refusal.into_response(),
    }
}

/// What every answer says.
async fn protected(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // The tag is of the bytes as they are: a range of them would not fit to a compressed answer.
    if headers.contains_key(CONTENT_ENCODING) {
        headers.remove(ETAG);
    }
    response
}

/// Runs what takes time on a thread of its own. A fault of the program at one request's file ends that request alone.
async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let fault = "the program has failed at this; please report it";
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, fault)))
}

async fn page(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    // Compressed once, when the page was built.
    let zipped = lists(&headers, "gzip");
    let mut response = match zipped {
        true => ([(CONTENT_ENCODING, "gzip")], shared.page.zipped()).into_response(),
        false => shared.page.html().to_owned().into_response(),
    };
    let policy = HeaderValue::from_str(shared.page.security_policy());
    let own = [
        (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (VARY, HeaderValue::from_static("accept-encoding")),
        (CONTENT_SECURITY_POLICY, policy.expect("the policy is plain text")),
    ];
    response.headers_mut().extend(own);
    response
}

/// Whether the client takes an encoding.
fn lists(headers: &HeaderMap, encoding: &str) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .any(|part| part.split(';').next().is_some_and(|part| part.trim().eq_ignore_ascii_case(encoding)))
}

/// A turn at reading a clip, which takes time and memory.
fn turn(shared: &Shared) -> Result<OwnedSemaphorePermit, Refusal> {
    let busy = "other clips are being read; try again in a moment";
    Arc::clone(&shared.readers)
        .try_acquire_owned()
        .map_err(|_| Refusal::new(StatusCode::SERVICE_UNAVAILABLE, busy))
}

/// Bytes of a kind.
fn bytes(kind: &'static str, bytes: impl Into<Body>) -> Response {
    ([(CONTENT_TYPE, kind)], bytes.into()).into_response()
}

/// Bytes that are saved as a file.
fn file(kind: &'static str, name: &str, contents: Vec<u8>) -> Response {
    let disposition = format!("attachment; filename=\"{name}\"");
    ([(CONTENT_DISPOSITION, disposition)], bytes(kind, contents)).into_response()
}

fn packed(package: &ClipPackage) -> Response {
    let package = package.to_bytes();
    let tag: String = Sha256::digest(&package).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    ([(ETAG, format!("\"{tag}\""))], bytes("application/octet-stream", package)).into_response()
}

#[derive(Deserialize)]
struct UploadQuery {
    name: String,
    /// Joints that the page states, as JSON: joint of the file, or null, by joint of the project.
    joints: Option<String>,
}

impl UploadQuery {
    fn stated(&self) -> Result<Stated, Refusal> {
        let bad = |error| Refusal::new(StatusCode::BAD_REQUEST, format!("joints of the upload: {error}"));
        self.joints.as_deref().map_or(Ok(Stated::new()), |text| serde_json::from_str(text).map_err(bad))
    }
}

/// Has `work` answer an upload, of which it is given the name, the joints that the page states and the bytes.
async fn answer_upload(
    shared: Arc<Shared>,
    query: Result<Query<UploadQuery>, QueryRejection>,
    request: Request,
    work: impl FnOnce(&Shared, &str, &Stated, &[u8]) -> Result<Response, StudioError> + Send + 'static,
) -> Answer {
    let nameless = |_| Refusal::new(StatusCode::BAD_REQUEST, "the upload names no file");
    let Query(query) = query.map_err(nameless)?;
    let stated = query.stated()?;
    let turn = turn(&shared)?;
    let body = body_of(&shared, &query.name, request).await?;
    apart(move || {
        let _turn = turn;
        Ok(work(&shared, &query.name, &stated, &body)?)
    })
    .await
}

/// A file as a package.
async fn upload(
    State(shared): State<Arc<Shared>>,
    query: Result<Query<UploadQuery>, QueryRejection>,
    request: Request,
) -> Answer {
    answer_upload(shared, query, request, |shared, name, stated, body| {
        let recording = open_upload(name, body, stated, &shared.preprocess, &shared.rigs)?;
        Ok(packed(&ClipPackage::of(&recording)?))
    })
    .await
}

/// Which joint of a motion file is which.
async fn rig(
    State(shared): State<Arc<Shared>>,
    query: Result<Query<UploadQuery>, QueryRejection>,
    request: Request,
) -> Answer {
    let answer = |shared: &Shared, name: &str, stated: &Stated, body: &[u8]| {
        Ok(json(&rig_choice(name, body, stated, &shared.rigs)?))
    };
    answer_upload(shared, query, request, answer).await
}

/// The body of an upload, which may be so large and take so long and no more.
async fn body_of(shared: &Shared, name: &str, request: Request) -> Result<Vec<u8>, Refusal> {
    let most = shared.config.max_upload_bytes();
    let (head, mut body) = request.into_parts();
    if !head.headers.contains_key(CONTENT_LENGTH) && !head.headers.contains_key(TRANSFER_ENCODING) {
        return Err(Refusal::new(StatusCode::LENGTH_REQUIRED, "the request does not state its length"));
    }
    let too_large = || {
        let reason = format!("the file is larger than {} MB, which is all that is taken", most >> 20);
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, reason)
    };
    let stated =
        head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if stated.is_some_and(|length| length > most as u64) {
        return Err(too_large());
    }
    let broken = |reason: String| {
        Refusal::new(StatusCode::BAD_REQUEST, format!("{name} did not arrive whole: {reason}"))
    };
    let pace = shared.pace;
    let arriving = async {
        let mut bytes = Vec::new();
        let late = |_| broken("nothing more came".to_owned());
        while let Some(frame) = timeout(pace.pause, body.frame()).await.map_err(late)? {
            let frame = frame.map_err(|error| broken(error.to_string()))?;
            let data = frame.into_data().unwrap_or_default();
            if bytes.len() + data.len() > most {
                return Err(too_large());
            }
            bytes.extend_from_slice(&data);
        }
        Ok(bytes)
    };
    let late = |_| broken("it took too long".to_owned());
    timeout(pace.for_bytes(most as u64), arriving).await.map_err(late)?
}

async fn library(State(shared): State<Arc<Shared>>) -> Response {
    json(&shared.library.list())
}

fn json(value: &impl serde::Serialize) -> Response {
    let text = serde_json::to_string(value).expect("an answer is plain data");
    bytes("application/json", text)
}

async fn library_clip(State(shared): State<Arc<Shared>>, Path(number): Path<String>) -> Answer {
    library_entry(&shared, &number)?;
    let turn = turn(&shared)?;
    apart(move || {
        let _turn = turn;
        let (_, entry) = library_entry(&shared, &number)?;
        let recording = opened(&shared, entry)?;
        let plates = PlateCurves::beside(&entry.path, &shared.preprocess, &shared.rigs)?;
        Ok(packed(&ClipPackage::with_plates(&recording, plates.as_ref())?))
    })
    .await
}

fn library_entry<'a>(shared: &'a Shared, number: &str) -> Result<(usize, &'a LibraryEntry), Refusal> {
    let found = number.parse::<usize>().ok().and_then(|n| Some((n, shared.library.entries().get(n)?)));
    found.ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, "there is no such clip in the library"))
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
async fn library_card(State(shared): State<Arc<Shared>>, Path(number): Path<String>) -> Answer {
    let (number, _) = library_entry(&shared, &number)?;
    if let Some(card) = shared.cards.get(number) {
        return Ok(bytes("application/json", card.as_str().to_owned()));
    }
    let busy = "another card is being made; try again in a moment";
    let turn = Arc::clone(&shared.card_makers)
        .try_acquire_owned()
        .map_err(|_| Refusal::new(StatusCode::SERVICE_UNAVAILABLE, busy))?;
    apart(move || {
        let _turn = turn;
        let entry = &shared.library.entries()[number];
        let card = match opened(&shared, entry).and_then(|recording| clip_card(&recording)) {
            Ok(card) => CardAnswer::Card(card),
            // Said on the card: a list must not stop at a clip that cannot be read.
            Err(error) => CardAnswer::Error { error: error.to_string() },
        };
        let text = serde_json::to_string(&card).expect("a card is plain data");
        Ok(bytes("application/json", shared.cards.put(number, text).as_str().to_owned()))
    })
    .await
}

fn world(shared: &Shared, name: &str) -> Result<WorldHandle, Refusal> {
    let world = shared.worlds.lock().expect("nothing panics while it holds this lock").get(name).cloned();
    world.ok_or_else(|| {
        Refusal::new(
            StatusCode::NOT_FOUND,
            "that world has ended; its page is closed or has lost its connection",
        )
    })
}

async fn world_clip(State(shared): State<Arc<Shared>>, Path(name): Path<String>) -> Answer {
    let world = world(&shared, &name)?;
    apart(move || Ok(packed(&ClipPackage::of(&world.recording()?)?))).await
}

#[derive(Deserialize)]
struct AnimationQuery {
    seconds: Option<String>,
}

/// The last seconds of a world, drawn by the server.
async fn animation(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    Query(query): Query<AnimationQuery>,
) -> Answer {
    let seconds = query.seconds.and_then(|text| text.parse::<f32>().ok()).unwrap_or(10.0);
    if !(0.2..=LONGEST_GIF_S).contains(&seconds) {
        let reason = format!("an animation lasts 0.2 to {LONGEST_GIF_S} seconds");
        return Err(Refusal::new(StatusCode::BAD_REQUEST, reason));
    }
    let world = world(&shared, &name)?;
    apart(move || {
        let recording = world.recording()?;
        let _turn = turn(&shared)?;
        let frames = recording.frames();
        let first = frames.saturating_sub((seconds * recording.frame_rate_hz).round() as usize);
        let options = RenderOptions { frames: Some(first..frames), fps: 20.0, ..RenderOptions::default() };
        let mut drawn = Vec::new();
        render_gif(&recording, &options, &mut drawn).map_err(StudioError::from)?;
        Ok(file("image/gif", "motion.gif", drawn))
    })
    .await
}

#[derive(Deserialize)]
struct ModelQuery {
    model: String,
    controller: Option<String>,
}

fn controller_named(name: &str) -> Result<ControllerKind, StudioError> {
    name.parse().map_err(|_| StudioError::BadScene {
        field: "controller",
        value: format!("\"{}\"", name.chars().take(40).collect::<String>()),
        range: ControllerKind::ALL.map(ControllerKind::name).join(", "),
    })
}

/// The scene of a world with all that was done in it, moved by another model or controller. A request without a controller asks for that
/// of the program's settings.
async fn with_other_model(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    query: Result<Query<ModelQuery>, QueryRejection>,
) -> Answer {
    let nameless = |_| Refusal::new(StatusCode::BAD_REQUEST, "the request names no model");
    let Query(ModelQuery { model, controller }) = query.map_err(nameless)?;
    let controller = controller.as_deref().map(controller_named).transpose()?;
    let world = world(&shared, &name)?;
    apart(move || {
        let (scene, frames) = world.scene()?;
        let before = shared.model(scene.model.as_deref())?;
        let Leader { model: other, generator, .. } = shared.model(Some(&model))?;
        let scene = scene.led_by(&before.generator, generator);
        let scene = SceneRequest { model: Some(model), controller, ..scene };
        let _turn = turn(&shared)?;
        Ok(packed(&ClipPackage::of(&repeated(Arc::clone(other), generator, scene, frames)?)?))
    })
    .await
}

async fn recording(
    State(shared): State<Arc<Shared>>,
    Path((world_name, name)): Path<(String, String)>,
) -> Answer {
    let world = world(&shared, &world_name)?;
    let kind = match name.as_str() {
        "motion.bvh" => "text/plain; charset=utf-8",
        "motion.glb" => "model/gltf-binary",
        "rollout.npz" => "application/zip",
        "rollout.html" => "text/html; charset=utf-8",
        _ => {
            let reason = "a recording is given as motion.bvh, motion.glb, rollout.npz or rollout.html";
            return Err(Refusal::new(StatusCode::NOT_FOUND, reason));
        }
    };
    apart(move || Ok(file(kind, &name, written(&world.recording()?, &name)?))).await
}

fn written(recording: &Recording, file: &str) -> Result<Vec<u8>, StudioError> {
    match file {
        "motion.bvh" => Ok(bvh_text(&recording.to_clip()?, &BvhWriteOptions::default())?.into_bytes()),
        "motion.glb" => Ok(glb_bytes(&recording.to_clip()?)?),
        "rollout.html" => standalone_html(recording, None),
        _ => {
            let system = |action| move |source| StudioError::System { action, source };
            let folder = tempfile::tempdir().map_err(system("making room for the recording"))?;
            let path = folder.path().join(file);
            write_recording(&path, recording)?;
            std::fs::read(&path).map_err(system("reading the recording back"))
        }
    }
}
