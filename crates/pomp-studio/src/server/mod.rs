//! The web server: one page, one socket per page, and the files that come and go.
//!
//! A handful of visitors on one machine need no more than a thread for each connection, and with one a slow or silent visitor
//! holds up nobody else.

mod cards;
mod guard;
mod http;
mod outbox;
mod page_socket;
mod routes;
mod timed;
mod websocket;
mod world_thread;

use crate::{Library, StudioConfig, StudioError, bundle};
use cards::Cards;
use guard::Guard;
use pomp_generator::GeneratorConfig;
use pomp_model::Model;
use pomp_motion::retarget::RigLibrary;
use pomp_preprocess::PreprocessConfig;
use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use world_thread::WorldHandle;

/// Connections beyond those of the worlds that are served at once; more are hung up on.
const OTHER_CONNECTIONS: usize = 64;
/// Uploads and library clips that are read at once; each takes a core and several times its size.
const READERS: usize = 2;
/// Cards of the library that are made at once.
const CARD_MAKERS: usize = 1;
/// Pause after a connection that could not be taken, so that a lack of something does not become a busy loop.
const AFTER_REFUSAL: Duration = Duration::from_millis(50);

/// A model with the name that the page knows it by.
pub struct NamedModel {
    /// Name, unlike that of any other.
    pub name: String,
    /// The model.
    pub model: Model,
}

/// What the studio shows.
pub struct Studio {
    /// The models that may move the character; the first one does until another is chosen.
    pub models: Vec<NamedModel>,
    /// Settings of the loop.
    pub generator: GeneratorConfig,
    /// How clips without contacts and gaits are labelled.
    pub preprocess: PreprocessConfig,
    /// Known rigs.
    pub rigs: RigLibrary,
    /// Clips that the page offers.
    pub library: Library,
    /// Terrain of the first scene.
    pub terrain: String,
    /// Seed of the first scene.
    pub seed: u64,
}

/// A server that listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// Address and port that it listens on.
    pub address: SocketAddr,
    /// What to open in a browser, the token included where one is asked for.
    pub url: String,
}

/// What all connections share.
struct Shared {
    models: Vec<(String, Arc<Model>)>,
    generator: GeneratorConfig,
    preprocess: PreprocessConfig,
    rigs: RigLibrary,
    library: Library,
    terrain: String,
    seed: u64,
    config: StudioConfig,
    guard: Guard,
    page: bundle::Page,
    /// Worlds by the name that their page knows.
    worlds: Mutex<HashMap<String, WorldHandle>>,
    readers: Arc<AtomicUsize>,
    card_makers: Arc<AtomicUsize>,
    cards: Cards,
}

impl Shared {
    /// The model of a name; the first one without.
    fn model(&self, name: Option<&str>) -> Result<Arc<Model>, StudioError> {
        let mut models = self.models.iter();
        let found = models.find(|(own, _)| name.is_none_or(|name| name == own));
        found.map(|(_, model)| Arc::clone(model)).ok_or_else(|| StudioError::BadScene {
            field: "model",
            value: format!("\"{}\"", name.unwrap_or_default().chars().take(80).collect::<String>()),
            range: self.models.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", "),
        })
    }
}

/// Listens as `config` says, calls `started` once a page can be opened, and serves until the process ends.
///
/// # Errors
/// No model, settings out of range, a port that is taken, a damaged page.
pub fn serve(
    studio: Studio,
    config: &StudioConfig,
    started: impl FnOnce(&Started),
) -> Result<(), StudioError> {
    config.validate()?;
    if studio.models.is_empty() {
        return Err(StudioError::NoModel);
    }
    let page = bundle::Page::embedded()?;
    let wanted = SocketAddr::new(config.address, config.port);
    let bind = |source| StudioError::Bind { address: wanted.to_string(), source };
    let listener = TcpListener::bind(wanted).map_err(bind)?;
    let address = listener.local_addr().map_err(bind)?;
    let guard = Guard::new(address)?;
    let url = guard.url();
    let shared = Arc::new(Shared {
        models: studio.models.into_iter().map(|named| (named.name, Arc::new(named.model))).collect(),
        generator: studio.generator,
        preprocess: studio.preprocess,
        rigs: studio.rigs,
        library: studio.library,
        terrain: studio.terrain,
        seed: studio.seed,
        config: config.clone(),
        guard,
        page,
        worlds: Mutex::new(HashMap::new()),
        readers: Arc::new(AtomicUsize::new(0)),
        card_makers: Arc::new(AtomicUsize::new(0)),
        cards: Cards::default(),
    });
    started(&Started { address, url });
    let open = Arc::new(AtomicUsize::new(0));
    for connection in listener.incoming() {
        match connection {
            Ok(stream) => attend(&shared, stream, &open),
            // One visitor's failure, or a shortage that passes.
            Err(_) => std::thread::sleep(AFTER_REFUSAL),
        }
    }
    Ok(())
}

/// Gives a connection its thread.
fn attend(shared: &Arc<Shared>, stream: TcpStream, open: &Arc<AtomicUsize>) {
    let Some(place) = Place::take(open, shared.config.max_worlds + OTHER_CONNECTIONS) else { return };
    let shared = Arc::clone(shared);
    let spawned = std::thread::Builder::new().name("visitor".to_owned()).spawn(move || {
        let _place = place;
        routes::answer(&shared, stream);
    });
    if spawned.is_err() {
        std::thread::sleep(AFTER_REFUSAL);
    }
}

/// One of a limited number of places, given back when dropped.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(taken: &Arc<AtomicUsize>, most: usize) -> Option<Self> {
        let place = Self(Arc::clone(taken));
        (taken.fetch_add(1, Ordering::SeqCst) < most).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A name that nobody guesses: 128 random bits.
fn random_name() -> Result<String, StudioError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| StudioError::System {
        action: "asking the system for random bytes",
        source: std::io::Error::other(error.to_string()),
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
