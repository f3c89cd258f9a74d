use super::random_name;
use super::refusal::Refusal;
use crate::StudioError;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use sha2::{Digest, Sha256};
use std::net::{IpAddr, SocketAddr};

/// Beginning of the name of the cookie that carries the token; the port follows, since cookies know none.
const COOKIE: &str = "pomp_studio";
/// The port that a browser leaves out.
const HTTP_PORT: u16 = 80;

/// Decides which requests are served.
///
/// A page of another site can make a browser send requests to a loopback address, so the `Host` must be the server's own
/// (another name is a rebound one) and an `Origin`, where there is one, must be the server's. Beyond loopback a request
/// must also carry the token of the printed URL.
///
/// The server's own origin is `http://` or `https://` with the `Host`; the second is what a browser sends through a reverse
/// proxy that ends TLS and passes the `Host` on. Where the proxy passes another `Host` on, as nginx does by default, an
/// `https://` origin with the name in the one `X-Forwarded-Host` is the server's own too. This opens no way in:
///
/// - A page of another site cannot set `X-Forwarded-Host`: WebSockets and forms send no headers of a page's choice, and for
///   `fetch` the browser asks first (CORS), which this server always refuses. Its requests arrive with its own origin.
/// - A rebound name arrives in `Host`, which no page can set; the check of `Host` does not look at `X-Forwarded-Host`. Through
///   the proxy it cannot arrive under `https`, because the browser has no valid certificate for that name and that server;
///   this is why an `http://` origin must always name the `Host` itself.
#[derive(Debug)]
pub(super) struct Guard {
    address: SocketAddr,
    token: Option<String>,
}

impl Guard {
    pub fn new(address: SocketAddr) -> Result<Self, StudioError> {
        let token = if address.ip().is_loopback() { None } else { Some(random_name()?) };
        Ok(Self { address, token })
    }

    /// What is to be opened in a browser.
    pub fn url(&self) -> String {
        let port = self.address.port();
        let host = match self.address.ip() {
            ip if ip.is_unspecified() => format!("localhost:{port}"),
            IpAddr::V6(ip) => format!("[{ip}]:{port}"),
            IpAddr::V4(ip) => format!("{ip}:{port}"),
        };
        match &self.token {
            None => format!("http://{host}/"),
            Some(token) => format!("http://{host}/?token={token}"),
        }
    }

    /// Checks the head of any request.
    pub fn admit(&self, request: &Parts) -> Result<(), Refusal> {
        let mut hosts = all(&request.headers, "host")?.into_iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(Refusal::new(StatusCode::BAD_REQUEST, "the request names no host, or several"));
        };
        let refused = |reason| Err(Refusal::new(StatusCode::FORBIDDEN, reason));
        if !self.is_own_name(host) {
            return refused("this server is not known by that name; use the printed URL");
        }
        let foreign = "the request comes from a page of another site";
        let forwarded = all(&request.headers, "x-forwarded-host")?;
        if all(&request.headers, "origin")?.iter().any(|origin| !is_own_origin(origin, host, &forwarded)) {
            return refused(foreign);
        }
        // A page of another site can embed what it may not read, without an origin; only a link to the page itself is harmless.
        let embedded = all(&request.headers, "sec-fetch-site")?
            .iter()
            .any(|site| *site != "same-origin" && *site != "none");
        let followed = request.uri.path() == "/"
            && all(&request.headers, "sec-fetch-mode")?.iter().all(|mode| *mode == "navigate");
        if embedded && !followed {
            return refused(foreign);
        }
        match &self.token {
            Some(token) if !self.cookies(&request.headers)?.iter().any(|found| same(found, token)) => {
                let reason = "open the URL that the program printed, token included";
                Err(Refusal::new(StatusCode::UNAUTHORIZED, reason))
            }
            _ => Ok(()),
        }
    }

    /// The cookie for a request with the right token in the URL's query.
    pub fn cookie_for(&self, query: Option<&str>) -> Option<String> {
        let token = self.token.as_deref()?;
        let brought = query?.split('&').find_map(|part| part.strip_prefix("token="))?;
        let port = self.address.port();
        same(brought, token).then(|| format!("{COOKIE}_{port}={token}; HttpOnly; SameSite=Strict; Path=/"))
    }

    /// Behind a loopback address only its own names are; behind any other the token decides.
    fn is_own_name(&self, host: &str) -> bool {
        if self.token.is_some() {
            return true;
        }
        let port = self.address.port();
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned(), self.own_host()];
        names.iter().any(|name| {
            let bare = port == HTTP_PORT && host.eq_ignore_ascii_case(name);
            bare || host.eq_ignore_ascii_case(&format!("{name}:{port}"))
        })
    }

    /// Values of the server's cookie.
    fn cookies<'a>(&self, headers: &'a HeaderMap) -> Result<Vec<&'a str>, Refusal> {
        let name = format!("{COOKIE}_{}", self.address.port());
        let pairs = all(headers, "cookie")?.into_iter().flat_map(|value| value.split(';'));
        Ok(pairs.filter_map(|pair| pair.trim().strip_prefix(&name)?.strip_prefix('=')).collect())
    }

    fn own_host(&self) -> String {
        match self.address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        }
    }
}

/// Values of a header; none of those that matter here may hold anything but plain text.
fn all<'a>(headers: &'a HeaderMap, name: &str) -> Result<Vec<&'a str>, Refusal> {
    let values = headers.get_all(name).iter().map(|value| value.to_str().map(str::trim));
    values
        .collect::<Result<_, _>>()
        .map_err(|_| Refusal::new(StatusCode::BAD_REQUEST, format!("the header {name} is no plain text")))
}

/// Whether a page of this origin is the server's own.
fn is_own_origin(origin: &str, host: &str, forwarded: &[&str]) -> bool {
    let is = |scheme: &str, name: &str| origin.eq_ignore_ascii_case(&format!("{scheme}://{name}"));
    if is("http", host) || is("https", host) {
        return true;
    }
    // Of several names it is not known which the browser has called.
    matches!(forwarded, [name] if !name.is_empty() && is("https", name))
}

/// Equality whose time tells nothing of where two texts differ: that of their hashes.
fn same(a: &str, b: &str) -> bool {
    Sha256::digest(a) == Sha256::digest(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;

    fn headers(pairs: &[(&str, &str)]) -> Parts {
        let request =
            pairs.iter().fold(Request::get("/"), |request, (name, value)| request.header(*name, *value));
        request.body(()).unwrap().into_parts().0
    }

    fn loopback() -> Guard {
        Guard::new("127.0.0.1:4100".parse().unwrap()).unwrap()
    }

    #[test]
    fn the_servers_own_page_may_enter() {
        for host in ["127.0.0.1:4100", "localhost:4100", "LOCALHOST:4100"] {
            assert_eq!(loopback().admit(&headers(&[("host", host)])), Ok(()));
            let origin = format!("http://{host}");
            assert_eq!(loopback().admit(&headers(&[("host", host), ("origin", &origin)])), Ok(()));
        }
    }

    #[test]
    fn rejects_a_rebound_name_a_wrong_port_and_no_name() {
        for host in ["evil.example:4100", "127.0.0.1:4101", "localhost", "127.0.0.1.evil.example:4100"] {
            let refusal = loopback().admit(&headers(&[("host", host)])).unwrap_err();
            assert_eq!(refusal.status, 403, "{host}");
        }
        assert!(loopback().admit(&headers(&[])).is_err());
    }

    #[test]
    fn rejects_pages_of_other_sites() {
        for origin in [
            "http://evil.example",
            "https://evil.example",
            "null",
            "https://127.0.0.1",
            "https://127.0.0.1:4100.evil.example",
            "http://127.0.0.1:4100.evil.example",
        ] {
            let headers = headers(&[("host", "127.0.0.1:4100"), ("origin", origin)]);
            assert_eq!(loopback().admit(&headers).unwrap_err().status, 403, "{origin}");
        }
    }

    #[test]
    fn behind_an_https_proxy_its_name_is_the_servers_own_and_no_other() {
        let own = ("host", "127.0.0.1:4100");
        let asked = |pairs: &[(&str, &str)]| loopback().admit(&headers(&[&[own], pairs].concat()));
        let origin = ("origin", "https://studio.example");
        // The proxy passes the Host on, or says what it was.
        assert_eq!(asked(&[("origin", "https://127.0.0.1:4100")]), Ok(()));
        assert_eq!(asked(&[origin, ("x-forwarded-host", "studio.example")]), Ok(()));
        assert_eq!(asked(&[origin, ("x-forwarded-host", "Studio.Example")]), Ok(()));
        let with_port = ("origin", "https://studio.example:8443");
        assert_eq!(asked(&[with_port, ("x-forwarded-host", "studio.example:8443")]), Ok(()));
        for (origin, names) in [
            // A page of another site that is sent through the proxy.
            ("https://evil.example", &["studio.example"][..]),
            ("https://studio.example.evil.example", &["studio.example"]),
            ("https://studio.example:8443", &["studio.example"]),
            // A rebound name arrives without TLS.
            ("http://evil.example", &["evil.example"]),
            ("http://studio.example", &["studio.example"]),
            // Several names, or none.
            ("https://studio.example", &["evil.example", "studio.example"]),
            ("https://studio.example", &["studio.example, evil.example"]),
            ("https://", &[""]),
            ("https://studio.example", &[]),
        ] {
            let mut pairs = vec![("origin", origin)];
            pairs.extend(names.iter().map(|name| ("x-forwarded-host", *name)));
            assert_eq!(asked(&pairs).unwrap_err().status, 403, "{pairs:?}");
        }
        let rebound = [("host", "evil.example:4100"), ("x-forwarded-host", "127.0.0.1:4100")];
        assert_eq!(
            loopback().admit(&headers(&rebound)).unwrap_err().status,
            403,
            "the Host alone names the server"
        );
        let sneaking = [
            own,
            origin,
            ("x-forwarded-host", "studio.example"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "cors"),
        ];
        assert_eq!(loopback().admit(&headers(&sneaking)).unwrap_err().status, 403);
    }

    #[test]
    fn rejects_what_another_sites_page_embeds_and_admits_its_links_to_the_page() {
        let own = ("host", "127.0.0.1:4100");
        let asked = |path: &str, site: &str, mode: &str| {
            let mut request = headers(&[own, ("sec-fetch-site", site), ("sec-fetch-mode", mode)]);
            request.uri = path.parse().unwrap();
            loopback().admit(&request)
        };
        for site in ["cross-site", "same-site", "nonsense"] {
            for (path, mode) in [("/library/0", "no-cors"), ("/library/0", "navigate"), ("/", "no-cors")] {
                assert_eq!(asked(path, site, mode).unwrap_err().status, 403, "{site} {path} {mode}");
            }
            assert_eq!(asked("/", site, "navigate"), Ok(()));
        }
        assert_eq!(asked("/library/0", "same-origin", "cors"), Ok(()));
        assert_eq!(asked("/worlds/a/motion.gif", "none", "navigate"), Ok(()));
    }

    #[test]
    fn at_the_port_that_browsers_leave_out_the_bare_name_is_its_own_and_two_names_are_none() {
        let guard = Guard::new("127.0.0.1:80".parse().unwrap()).unwrap();
        assert_eq!(guard.admit(&headers(&[("host", "localhost")])), Ok(()));
        assert_eq!(guard.admit(&headers(&[("host", "localhost"), ("origin", "http://localhost")])), Ok(()));
        assert!(guard.admit(&headers(&[("host", "evil.example")])).is_err());
        let twice = [("host", "localhost:80"), ("host", "localhost:80")];
        assert_eq!(guard.admit(&headers(&twice)).unwrap_err().status, 400);
    }

    #[test]
    fn beyond_loopback_only_the_token_opens() {
        let guard = Guard::new("0.0.0.0:4100".parse().unwrap()).unwrap();
        let host = ("host", "studio.example:4100");
        assert_eq!(guard.admit(&headers(&[host])).unwrap_err().status, 401);
        for wrong in ["pomp_studio=0123", "pomp_studio_4100=0123", "pomp_studio_4100", "=;=;"] {
            assert_eq!(guard.admit(&headers(&[host, ("cookie", wrong)])).unwrap_err().status, 401, "{wrong}");
        }
        assert_eq!(guard.cookie_for(Some("token=0123")), None);
        let url = guard.url();
        let query = url.split_once('?').unwrap().1;
        let cookie = guard.cookie_for(Some(query)).unwrap();
        let pair = cookie.split(';').next().unwrap();
        let admitted = headers(&[host, ("cookie", &format!("other=1; {pair}"))]);
        assert_eq!(guard.admit(&admitted), Ok(()));
        let proxied = [host, ("cookie", pair), ("origin", "https://studio.example:4100")];
        assert_eq!(guard.admit(&headers(&proxied)), Ok(()), "an https proxy that passes the Host on");
        let foreign = headers(&[host, ("cookie", pair), ("origin", "http://evil.example")]);
        assert!(guard.admit(&foreign).is_err(), "a cookie does not let other sites in");
    }
}
