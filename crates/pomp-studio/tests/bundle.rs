//! The embedded page and its sources agree, checked without npm.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_studio::bundle::Page;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Files that the page is built from, as `web/seal.mjs` lists them.
fn sources(web: &Path) -> Vec<String> {
    let mut found: Vec<String> =
        ["index.html", "package-lock.json", "package.json", "seal.mjs", "tsconfig.json", "vite.config.ts"]
            .map(str::to_owned)
            .to_vec();
    let mut open = vec!["src".to_owned()];
    while let Some(folder) = open.pop() {
        for item in std::fs::read_dir(web.join(&folder)).unwrap() {
            let item = item.unwrap();
            let path = format!("{folder}/{}", item.file_name().to_str().unwrap());
            if item.file_type().unwrap().is_dir() {
                open.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn hash(web: &Path) -> String {
    let mut digest = Sha256::new();
    for path in sources(web) {
        let text = std::fs::read_to_string(web.join(&path)).unwrap().replace("\r\n", "\n");
        digest.update(format!("{path}\n{}\n{text}", text.len()));
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_embedded_page_was_built_from_these_sources() {
    let web = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("web");
    let page = Page::embedded().unwrap();
    let noted = page.html().split_once("name=\"pomp-sources\" content=\"").unwrap().1;
    let noted = noted.split('"').next().unwrap();
    assert_eq!(
        noted,
        hash(&web),
        "the page is older than its sources: run `npm ci && npm run build` in crates/pomp-studio/web"
    );
}

#[test]
fn the_page_loads_nothing_from_elsewhere() {
    let page = Page::embedded().unwrap();
    let html = page.html();
    let head = html.split_once("<body>").unwrap().0;
    for way in ["<link rel=\"stylesheet\"", "<script src", "@import", "<iframe"] {
        assert!(!html.contains(way), "the page has {way}");
    }
    assert!(!head.contains("http://fonts") && !head.contains("https://"), "the head names another server");
    let policy = page.security_policy();
    assert!(policy.contains("default-src 'none'") && policy.contains("connect-src 'self'"), "{policy}");
}
