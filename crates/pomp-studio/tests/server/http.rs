//! HTTP as browsers, other clients, proxies and attackers use it.

use crate::client::{Answer, Page, ask, connect, get, post_with, read_answer, refused};
use crate::{library, started, started_until, started_with};
use flate2::read::GzDecoder;
use pomp_studio::{Started, StudioConfig};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

fn unzipped(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
    plain
}

#[test]
fn one_connection_serves_many_requests() {
    let Started { address, .. } = started(StudioConfig::default());
    let mut stream = connect(address);
    for (path, status) in
        [("/library", 200), ("/nowhere", 404), ("/clip", 405), ("/", 200), ("/library", 200)]
    {
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
        assert_eq!(read_answer(&mut stream, true).status, status, "{path}");
    }
    // Requests that come at once are answered in their order.
    let twice = format!("GET /library HTTP/1.1\r\nHost: {address}\r\n\r\n").repeat(2);
    stream.write_all(twice.as_bytes()).unwrap();
    let answers = [read_answer(&mut stream, true), read_answer(&mut stream, true)];
    assert!(answers.iter().all(|answer| answer.status == 200 && answer.text() == answers[0].text()));
}

#[test]
fn head_gives_the_head_of_what_get_gives() {
    let (_folder, library) = library();
    let Started { address, .. } = started_with(StudioConfig::default(), library);
    let mut stream = connect(address);
    for path in ["/", "/library", "/library/0", "/nowhere"] {
        let whole = get(address, path, &format!("Host: {address}\r\n"));
        write!(stream, "HEAD {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
        let head = read_answer(&mut stream, false);
        assert_eq!(head.status, whole.status, "{path}");
        for name in ["content-type", "content-length", "etag", "content-security-policy"] {
            assert_eq!(head.header(name), whole.header(name), "{path}: {name}");
        }
    }
    // Had a body come along, this answer would begin with it.
    write!(stream, "GET /library HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    assert_eq!(read_answer(&mut stream, true).status, 200);
}

#[test]
fn a_part_of_a_clip_is_given_while_it_is_still_the_same() {
    let (_folder, library) = library();
    let Started { address, .. } = started_with(StudioConfig::default(), library);
    let ask = |headers: &str| get(address, "/library/0", &format!("Host: {address}\r\n{headers}"));
    let whole = ask("");
    let length = whole.body.len();
    assert_eq!((whole.status, whole.header("Accept-Ranges")), (200, "bytes"));
    let tag = whole.header("ETag").to_owned();
    assert!(tag.len() > 10, "{tag}");
    let part = |range: &str| ask(&format!("Range: {range}\r\nAccept-Encoding: gzip\r\n"));
    for (range, first, last) in [
        ("bytes=0-0", 0, 0),
        ("bytes=100-299", 100, 299),
        ("bytes=-7", length - 7, length - 1),
        ("bytes=1000-", 1000, length - 1),
        ("bytes=5-99999999999", 5, length - 1),
    ] {
        let answer = part(range);
        assert_eq!(answer.status, 206, "{range}");
        assert_eq!(answer.header("Content-Range"), format!("bytes {first}-{last}/{length}"));
        assert_eq!(answer.header("Content-Encoding"), "", "a part of the bytes as they are");
        assert!(answer.body == whole.body[first..=last], "{range}");
    }
    for range in ["bytes=99999999999-", "bytes=5-4", "bytes=-0", "bytes=x", "bytes=0-1,0-1,0-1,0-1"] {
        let answer = part(range);
        assert_eq!(
            (answer.status, answer.header("Content-Range")),
            (416, &*format!("bytes */{length}")),
            "{range}"
        );
    }
    // What is no range, several of them and a clip that has changed are answered by the whole.
    for headers in [
        "Range: lines=1-2\r\n".to_owned(),
        "Range: bytes=0-1,5-6\r\n".to_owned(),
        "Range: bytes=0-1\r\nIf-Range: \"another\"\r\n".to_owned(),
    ] {
        let answer = ask(&headers);
        assert!(answer.status == 200 && answer.body == whole.body, "{headers}");
    }
    assert_eq!(ask(&format!("Range: bytes=0-1\r\nIf-Range: {tag}\r\n")).status, 206);
}

#[test]
fn answers_are_compressed_for_clients_that_take_it_and_pictures_are_not() {
    let (_folder, library) = library();
    let Started { address, .. } = started_with(StudioConfig::default(), library);
    let ask = |path: &str, headers: &str| get(address, path, &format!("Host: {address}\r\n{headers}"));
    // HTTP/1.0 knows no chunks, so that the body is the body.
    let zipped = |path: &str| {
        let head = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\nAccept-Encoding: gzip, br\r\n\r\n");
        crate::client::ask(address, &head, &[])
    };
    for path in ["/", "/library/0"] {
        let (plain, small) = (ask(path, ""), zipped(path));
        assert_eq!(
            (plain.header("Content-Encoding"), small.header("Content-Encoding")),
            ("", "gzip"),
            "{path}"
        );
        assert!(plain.header("Vary").eq_ignore_ascii_case("accept-encoding"), "{path}: {}", plain.head);
        println!("{path}: {} bytes, {} compressed", plain.body.len(), small.body.len());
        assert!(small.body.len() < plain.body.len());
        assert!(unzipped(&small.body) == plain.body, "{path}");
        assert_eq!(small.header("ETag"), "", "a tag of other bytes would promise what is not so");
    }
    assert_eq!(zipped("/nowhere").header("Content-Encoding"), "", "it is too short");
    let mut page = Page::open(address);
    let scene = page.next_of("scene");
    page.next_of("frame");
    for file in ["rollout.npz", "motion.gif?seconds=0.2"] {
        let taken = zipped(&format!("/worlds/{}/{file}", scene["world"].as_str().unwrap()));
        assert_eq!((taken.status, taken.header("Content-Encoding")), (200, ""), "{file}: {}", taken.head);
    }
}

#[test]
fn behind_an_https_proxy_the_page_is_served_and_pages_of_other_sites_are_not() {
    let Started { address, .. } = started(StudioConfig::default());
    let host = format!("Host: {address}\r\n");
    let forwarded = format!("{host}X-Forwarded-Host: studio.example\r\nX-Forwarded-Proto: https\r\n");
    let own = format!("{forwarded}Origin: https://studio.example\r\nSec-Fetch-Site: same-origin\r\n");
    assert_eq!(get(address, "/library", &own).status, 200);
    let broken = post_with(
        address,
        "/clip?name=a.bvh",
        "X-Forwarded-Host: studio.example\r\nOrigin: https://studio.example\r\nContent-Length: 1\r\n",
        b"x",
    );
    assert_eq!(broken.status, 422, "it came in, and is no clip");
    let headers = "X-Forwarded-Host: studio.example\r\nOrigin: https://studio.example\r\n";
    Page::open_with(address, headers).next_of("scene");
    // A proxy that passes the Host on.
    Page::open_with(address, &format!("Origin: https://{address}\r\n")).next_of("scene");
    for origin in
        ["https://evil.example", "http://studio.example", "null", "https://studio.example.evil.example"]
    {
        let headers = format!("X-Forwarded-Host: studio.example\r\nOrigin: {origin}\r\n");
        assert_eq!(refused(address, &headers).status, 403, "{origin}");
        assert_eq!(get(address, "/library", &format!("{host}{headers}")).status, 403, "{origin}");
    }
    let rebound = "Host: evil.example\r\nX-Forwarded-Host: evil.example\r\nOrigin: https://evil.example\r\n";
    assert_eq!(get(address, "/", rebound).status, 403, "the Host alone names the server");
    // The browser asks before it sends another site's headers of choice, and hears no.
    let asks = format!(
        "OPTIONS /clip HTTP/1.1\r\nConnection: close\r\n{host}Origin: https://evil.example\r\n\
         Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: x-forwarded-host\r\n\r\n"
    );
    let answer = ask(address, &asks, &[]);
    assert!(
        answer.status == 403 && !answer.head.to_lowercase().contains("access-control-allow"),
        "{}",
        answer.head
    );
}

#[test]
fn rejects_heads_without_end_and_what_is_no_http() {
    let Started { address, .. } = started(StudioConfig::default());
    let host = format!("Host: {address}\r\n");
    let status = |head: &str| ask(address, head, &[]).status;
    let begun = format!("GET / HTTP/1.1\r\n{host}");
    assert_eq!(status(&format!("{begun}{}{}", "A: b\r\n".repeat(40), "x".repeat(20_000))), 431);
    assert_eq!(status(&format!("{begun}{}\r\n", "A: b\r\n".repeat(100))), 431);
    assert_eq!(status(&format!("{begun}Long: {}\r\n\r\n", "x".repeat(17_000))), 431);
    assert_eq!(status("nonsense\r\n\r\n"), 400);
    assert_eq!(status(&format!("{begun}No colon\r\n\r\n")), 400);
    assert_eq!(status("GET / HTTP/1.1\r\nConnection: close\r\n\r\n"), 400, "no Host");
    assert_eq!(
        status(&format!("GET / HTTP/1.1\r\nConnection: close\r\n{host}{host}\r\n")),
        400,
        "two of them"
    );
    let odd = [format!("GET / HTTP/1.1\r\nConnection: close\r\nHost: {address}").as_bytes(), b"\xff\r\n\r\n"]
        .concat();
    let mut stream = connect(address);
    stream.write_all(&odd).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
}

#[test]
fn rejects_bodies_without_an_honest_length() {
    let Started { address, .. } = started(StudioConfig { max_upload_mb: 1, ..StudioConfig::default() });
    let post =
        |headers: &str, body: &[u8]| -> Answer { post_with(address, "/clip?name=a.bvh", headers, body) };
    assert_eq!(post("", b"").status, 411);
    assert_eq!(post("Content-Length: -1\r\n", b"x").status, 400);
    assert_eq!(post("Content-Length: +5\r\n", b"x").status, 400);
    assert_eq!(post("Content-Length: 5\r\nContent-Length: 6\r\n", b"xxxxx").status, 400);
    assert_eq!(post("Content-Length: 99999999999999999999999999\r\n", b"x").status, 400);
    assert_eq!(post("Content-Length: 1048577\r\n", b"x").status, 413, "it is not waited for");
    let chunk = [format!("{:x}\r\n", 1 << 19).as_bytes(), &vec![b'x'; 1 << 19], b"\r\n"].concat();
    let endless = [chunk.repeat(3), b"0\r\n\r\n".to_vec()].concat();
    let large = post("Transfer-Encoding: chunked\r\n", &endless);
    assert!(large.status == 413 && large.text().contains("1 MB"), "{} {}", large.status, large.text());
    assert_eq!(
        post("Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\n0\r\n\r\n").status,
        422,
        "read, and no clip"
    );
    assert_eq!(post("Transfer-Encoding: chunked\r\n", b"zz\r\nhello\r\n0\r\n\r\n").status, 400);
    // The rest never comes.
    let mut stream = connect(address);
    write!(stream, "POST /clip?name=a.bvh HTTP/1.1\r\nHost: {address}\r\nContent-Length: 9\r\n\r\nshort")
        .unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    let _reset = stream.read_to_string(&mut answer);
    assert!(!answer.starts_with("HTTP/1.1 2") && !answer.starts_with("HTTP/1.1 422"), "{answer}");
    let escaped = post_with(address, "/clip?name=walk%20on%C3%A9.bvh", "Content-Length: 1\r\n", b"x");
    assert!(escaped.text().contains("walk oné.bvh"), "{}", escaped.text());
}

#[test]
fn a_server_that_is_stopped_ends_its_answers_and_says_goodbye_to_its_pages() {
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let stop_it = async {
        let _dropped = stopped.await;
    };
    let (folder, library) = library();
    let (Started { address, .. }, ended) = started_until(StudioConfig::default(), library, stop_it);
    let mut page = Page::open(address);
    page.next_of("frame");
    let mut idle = connect(address);
    write!(idle, "GET /library HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    assert_eq!(read_answer(&mut idle, true).status, 200);
    // A request whose body is still on its way when the server is stopped.
    let mut busy = connect(address);
    write!(busy, "POST /clip?name=a.bvh HTTP/1.1\r\nHost: {address}\r\nContent-Length: 8\r\n\r\nHIER")
        .unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let began = Instant::now();
    stop.send(()).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    busy.write_all(b"ARCH").unwrap();
    assert_eq!(read_answer(&mut busy, true).status, 422, "it is answered");
    let goodbye = loop {
        if let (0x88, payload) = page.next_frame().unwrap() {
            break payload;
        }
    };
    assert_eq!(goodbye[..2], 1001u16.to_be_bytes(), "the server goes away");
    assert_eq!(ended.recv_timeout(Duration::from_secs(30)).unwrap(), Ok(()));
    println!("it took {:.2} s to stop", began.elapsed().as_secs_f32());
    assert_eq!(idle.read(&mut [0; 8]).unwrap(), 0, "a connection without a request is closed");
    assert!(std::net::TcpStream::connect(address).is_err(), "nothing listens any more");
    drop(folder);
}

#[test]
fn a_server_does_not_wait_for_ever_for_a_page_that_says_no_goodbye() {
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let stop_it = async {
        let _dropped = stopped.await;
    };
    let library = pomp_studio::Library::default();
    let (Started { address, .. }, ended) = started_until(StudioConfig::default(), library, stop_it);
    // It reads nothing, so that the server cannot even send its goodbye once the way is full.
    let silent: (Page, SocketAddr) = (Page::open(address), address);
    std::thread::sleep(Duration::from_secs(1));
    stop.send(()).unwrap();
    assert_eq!(ended.recv_timeout(Duration::from_secs(20)).unwrap(), Ok(()));
    drop(silent);
}
