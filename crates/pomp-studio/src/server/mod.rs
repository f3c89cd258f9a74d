//! The web server: one page, one WebSocket per page, and the files that come and go.
//!
//! axum and hyper serve HTTP/1.1 on [`NETWORK_THREADS`] threads. What takes time has threads of its own: every world one, and
//! reading, drawing and packing a clip one for each request, so that a slow request holds up no other.

mod cards;
mod connections;
mod guard;
mod outbox;
mod paced;
mod page_socket;
mod ranges;
mod refusal;
mod routes;
mod world_thread;

use crate::{Library, StudioConfig, StudioError, bundle};
use cards::Cards;
use guard::Guard;
use paced::Pace;
use pomp_generator::GeneratorConfig;
use pomp_model::Model;
use pomp_motion::retarget::RigLibrary;
use pomp_preprocess::PreprocessConfig;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;
use world_thread::WorldHandle;

/// Threads that carry bytes to and from the network.
const NETWORK_THREADS: usize = 2;
/// Connections beyond those of the worlds that are served at once; more are hung up on.
const OTHER_CONNECTIONS: usize = 64;
/// Uploads and library clips that are read at once; each takes a core and several times its size.
const READERS: usize = 2;
/// Cards of the library that are made at once.
const CARD_MAKERS: usize = 1;
/// How long answers that have begun, and goodbyes to pages, may take when the server stops.
const LONGEST_STOP: Duration = Duration::from_secs(3);

/// A model with the name that the page knows it by.
pub struct NamedModel {
    /// Name, unlike that of any other.
    pub name: String,
    /// The model.
    pub model: Model,
    /// Settings of the loop of the characters that it leads.
    pub generator: GeneratorConfig,
}

/// What the studio shows.
pub struct Studio {
    /// The models that may move the character; the first one does until another is chosen.
    pub models: Vec<NamedModel>,
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

/// A [`NamedModel`] that worlds share.
struct Leader {
    name: String,
    model: Arc<Model>,
    generator: GeneratorConfig,
}

/// What all connections share.
struct Shared {
    models: Vec<Leader>,
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
    readers: Arc<Semaphore>,
    card_makers: Arc<Semaphore>,
    cards: Cards,
    pace: Pace,
    /// Tells connections and pages that the server stops; each holds a receiver until it has ended.
    stopping: watch::Sender<()>,
}

impl Shared {
    /// The model of a name; the first one without.
    fn model(&self, name: Option<&str>) -> Result<&Leader, StudioError> {
        let mut models = self.models.iter();
        let found = models.find(|leader| name.is_none_or(|name| name == leader.name));
        found.ok_or_else(|| StudioError::BadScene {
            field: "model",
            value: format!("\"{}\"", name.unwrap_or_default().chars().take(80).collect::<String>()),
            range: self.models.iter().map(|leader| leader.name.as_str()).collect::<Vec<_>>().join(", "),
        })
    }
}

/// Listens as `config` says, calls `started` once a page can be opened, and serves until Ctrl-C or, on Unix, SIGTERM.
///
/// # Errors
/// No model, settings out of range, a port that is taken, a damaged page.
pub fn serve(
    studio: Studio,
    config: &StudioConfig,
    started: impl FnOnce(&Started),
) -> Result<(), StudioError> {
    serve_until(studio, config, started, interrupted())
}

/// As [`serve`], until `stop`. Answers that have begun and open pages then have three seconds to end.
///
/// # Errors
/// As [`serve`].
pub fn serve_until(
    studio: Studio,
    config: &StudioConfig,
    started: impl FnOnce(&Started),
    stop: impl Future<Output = ()>,
) -> Result<(), StudioError> {
    config.validate()?;
    if studio.models.is_empty() {
        return Err(StudioError::NoModel);
    }
    let page = bundle::Page::embedded()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(NETWORK_THREADS)
        .thread_name("network")
        .enable_all()
        .build()
        .map_err(|source| StudioError::System { action: "starting the network threads", source })?;
    let wanted = SocketAddr::new(config.address, config.port);
    let bind = |source| StudioError::Bind { address: wanted.to_string(), source };
    let listener = runtime.block_on(TcpListener::bind(wanted)).map_err(bind)?;
    let address = listener.local_addr().map_err(bind)?;
    let guard = Guard::new(address)?;
    let url = guard.url();
    let models = studio.models.into_iter().map(|NamedModel { name, model, generator }| Leader {
        name,
        model: Arc::new(model),
        generator,
    });
    let shared = Arc::new(Shared {
        models: models.collect(),
        preprocess: studio.preprocess,
        rigs: studio.rigs,
        library: studio.library,
        terrain: studio.terrain,
        seed: studio.seed,
        config: config.clone(),
        guard,
        page,
        worlds: Mutex::new(HashMap::new()),
        readers: Arc::new(Semaphore::new(READERS)),
        card_makers: Arc::new(Semaphore::new(CARD_MAKERS)),
        cards: Cards::default(),
        pace: Pace::default(),
        stopping: watch::Sender::new(()),
    });
    started(&Started { address, url });
    let most = config.max_worlds + OTHER_CONNECTIONS;
    let routes = routes::routes(Arc::clone(&shared));
    runtime.block_on(async {
        connections::accept(listener, routes, most, shared.pace, &shared.stopping, stop).await;
        shared.stopping.send_replace(());
        // What has not ended by then is cut off.
        let _late = timeout(LONGEST_STOP, shared.stopping.closed()).await;
    });
    runtime.shutdown_background();
    Ok(())
}

/// Ends with the first Ctrl-C or SIGTERM. Where the system takes no handler for them they end the process at once.
async fn interrupted() {
    #[cfg(unix)]
    let terminated = async {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut signals) => {
                signals.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending();
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = interrupted => {}
        () = terminated => {}
    }
}

/// A name that cannot be guessed: 128 random bits.
fn random_name() -> Result<String, StudioError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| StudioError::System {
        action: "asking the system for random bytes",
        source: std::io::Error::other(error.to_string()),
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
