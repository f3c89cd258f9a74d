use super::paced::{Pace, Paced, Upgraded};
use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

/// Largest head of a request, bytes, and most headers in it.
const LARGEST_HEAD: usize = 16 << 10;
const MOST_HEADERS: usize = 64;
/// Pause after a connection that could not be taken, so that a lack of something does not become a busy loop.
const AFTER_REFUSAL: Duration = Duration::from_millis(50);

/// Takes connections, `most` at once, and serves each until `stop`; more are hung up on. Every connection holds a receiver of
/// `stopping` until it ends.
pub(super) async fn accept(
    listener: TcpListener,
    routes: Router,
    most: usize,
    pace: Pace,
    stopping: &watch::Sender<()>,
    stop: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(most));
    let mut stop = pin!(stop);
    loop {
        let connection = tokio::select! {
            () = &mut stop => return,
            connection = listener.accept() => connection,
        };
        let Ok((stream, _)) = connection else {
            // One connection's failure, or a shortage that passes.
            tokio::time::sleep(AFTER_REFUSAL).await;
            continue;
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        let (routes, stopping) = (routes.clone(), stopping.subscribe());
        tokio::spawn(async move {
            serve(stream, routes, pace, stopping).await;
            drop(place);
        });
    }
}

/// Answers the requests of a connection.
async fn serve(stream: TcpStream, routes: Router, pace: Pace, mut stopping: watch::Receiver<()>) {
    // Frames are small and must not wait for each other. A connection that refuses this is gone already.
    let _gone = stream.set_nodelay(true);
    let upgraded = Upgraded::default();
    let stream = Paced::new(stream, pace, upgraded.clone());
    let routes = TowerToHyperService::new(routes);
    let answer = service_fn(move |mut request: Request<Incoming>| -> AnswerOf {
        request.extensions_mut().insert(upgraded.clone());
        Box::pin(routes.call(request))
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(pace.head)
        .max_header_size(LARGEST_HEAD)
        .max_headers(MOST_HEADERS)
        .serve_connection(TokioIo::new(stream), answer)
        .with_upgrades();
    let mut connection = pin!(connection);
    // What ends a connection early is the other side's doing, and has been answered where it can be.
    let _ended = tokio::select! {
        ended = connection.as_mut() => ended,
        _ = stopping.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
}

type AnswerOf =
    std::pin::Pin<Box<dyn Future<Output = Result<Response<Body>, std::convert::Infallible>> + Send>>;

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use std::io::{Read, Write};
    use std::net::SocketAddr;
    use std::time::Instant;

    /// A server with short limits, until the test ends.
    fn server() -> (SocketAddr, tokio::runtime::Runtime) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let pace = Pace { head: Duration::from_millis(300), ..Pace::default() };
        let routes = Router::new().route("/", get(|| async { "hello" }));
        runtime.spawn(async move {
            accept(listener, routes, 4, pace, &watch::channel(()).0, std::future::pending()).await;
        });
        (address, runtime)
    }

    fn connect(address: SocketAddr) -> std::net::TcpStream {
        let stream = std::net::TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    #[test]
    fn a_head_that_comes_a_byte_at_a_time_is_not_waited_for() {
        let (address, _runtime) = server();
        let mut stream = connect(address);
        let began = Instant::now();
        let mut trickle = stream.try_clone().unwrap();
        std::thread::spawn(move || {
            while trickle.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let mut answer = Vec::new();
        let _reset = stream.read_to_end(&mut answer);
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        assert!(!String::from_utf8_lossy(&answer).contains("hello"));
    }

    #[test]
    fn a_connection_serves_several_requests_and_is_closed_when_no_more_come() {
        let (address, _runtime) = server();
        let mut stream = connect(address);
        for _ in 0..3 {
            stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
            let mut answer = Vec::new();
            while !answer.ends_with(b"hello") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                answer.push(byte[0]);
            }
        }
        let began = Instant::now();
        assert_eq!(stream.read(&mut [0; 64]).unwrap(), 0, "it is closed without a word");
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    }

    #[test]
    fn connections_beyond_the_limit_are_hung_up_on() {
        let (address, _runtime) = server();
        let _kept: Vec<_> = (0..4).map(|_| connect(address)).collect();
        std::thread::sleep(Duration::from_millis(50));
        let mut one_more = connect(address);
        let mut answer = Vec::new();
        let _reset = one_more.read_to_end(&mut answer);
        assert!(answer.is_empty());
    }
}
