use super::http::{Refusal, Request};
use super::random_name;
use crate::StudioError;
use sha2::{Digest, Sha256};
use std::net::{IpAddr, SocketAddr};

/// Beginning of the name of the cookie that carries the token; the port follows, since cookies know none.
const COOKIE: &str = "pomp_studio";
/// The port that a browser leaves out.
const HTTP_PORT: u16 = 80;

/// Decides who may talk to the server.
///
/// A page of another site can make a browser send requests to a loopback address, so the `Host` must be the server's own
/// (another name is a rebound one) and an `Origin`, where there is one, must be the server's. Beyond loopback a visitor
/// must also have the token of the printed URL.
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

    /// What a person opens.
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
    pub fn admit(&self, request: &Request) -> Result<(), Refusal> {
        let mut hosts = request.all("host");
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(Refusal::new(400, "the request names no host, or several"));
        };
        if !self.is_own_name(host) {
            return Err(Refusal::new(403, "this server is not known by that name; use the printed URL"));
        }
        let own = format!("http://{host}");
        if request.all("origin").any(|origin| !origin.eq_ignore_ascii_case(&own)) {
            return Err(Refusal::new(403, "the request comes from a page of another site"));
        }
        // A page of another site can embed what it may not read, without an origin; only a link to the page itself is harmless.
        let foreign = request.all("sec-fetch-site").any(|site| site != "same-origin" && site != "none");
        let followed = request.path == "/" && request.all("sec-fetch-mode").all(|mode| mode == "navigate");
        if foreign && !followed {
            return Err(Refusal::new(403, "the request comes from a page of another site"));
        }
        match &self.token {
            Some(token) if !self.cookies(request).any(|found| same(found, token)) => {
                Err(Refusal::new(401, "open the URL that the program printed, token included"))
            }
            _ => Ok(()),
        }
    }

    /// The cookie for a visitor who brings the right token in the URL's query.
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

    fn cookies<'a>(&self, request: &'a Request) -> impl Iterator<Item = &'a str> {
        let name = format!("{COOKIE}_{}", self.address.port());
        request
            .all("cookie")
            .flat_map(|value| value.split(';'))
            .filter_map(move |pair| pair.trim().strip_prefix(&name)?.strip_prefix('='))
    }

    fn own_host(&self) -> String {
        match self.address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        }
    }
}

/// Equality whose time tells nothing of where two texts differ: that of their hashes.
fn same(a: &str, b: &str) -> bool {
    Sha256::digest(a) == Sha256::digest(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> Request {
        let lines: String = pairs.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!("GET / HTTP/1.1\r\n{lines}\r\n");
        Request::read(&mut head.as_bytes()).unwrap().unwrap().unwrap()
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
        for origin in
            ["http://evil.example", "null", "https://127.0.0.1:4100", "http://127.0.0.1:4100.evil.example"]
        {
            let headers = headers(&[("host", "127.0.0.1:4100"), ("origin", origin)]);
            assert_eq!(loopback().admit(&headers).unwrap_err().status, 403, "{origin}");
        }
    }

    #[test]
    fn rejects_what_another_sites_page_embeds_and_admits_its_links_to_the_page() {
        let own = ("host", "127.0.0.1:4100");
        let asked = |path: &str, site: &str, mode: &str| {
            let mut request = headers(&[own, ("sec-fetch-site", site), ("sec-fetch-mode", mode)]);
            path.clone_into(&mut request.path);
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
        let foreign = headers(&[host, ("cookie", pair), ("origin", "http://evil.example")]);
        assert!(guard.admit(&foreign).is_err(), "a cookie does not let other sites in");
    }
}
