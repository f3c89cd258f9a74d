//! The page: one HTML file with its script and style inside, built from `web/` and embedded here.

use crate::{ClipPackage, StudioError};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use pomp_motion::Recording;
use sha2::{Digest, Sha256};
use std::io::{Read, Write};

/// The built page, as `npm run build` in `web/` writes it.
const EMBEDDED: &[u8] = include_bytes!("../bundle/studio.html.gz");

/// Where a clip, and one beside it, are put into the page; empty in the page that is served.
const CLIP_BEGIN: &str = "<script id=\"pomp-clip\" type=\"application/octet-stream\">";
const BESIDE_BEGIN: &str = "<script id=\"pomp-clip-beside\" type=\"application/octet-stream\">";
const SCRIPT_BEGIN: &str = "<script type=\"module\">";
const SCRIPT_END: &str = "</script>";

/// The page, ready to be served.
#[derive(Clone, Debug)]
pub struct Page {
    html: String,
    security_policy: String,
}

impl Page {
    /// Unpacks the embedded page.
    ///
    /// # Errors
    /// [`StudioError::BadBundle`] when it is not one.
    pub fn embedded() -> Result<Self, StudioError> {
        let bad = |reason: String| StudioError::BadBundle { reason };
        let mut html = String::new();
        GzDecoder::new(EMBEDDED).read_to_string(&mut html).map_err(|error| bad(error.to_string()))?;
        if !html.contains(CLIP_BEGIN) || !html.contains(BESIDE_BEGIN) {
            return Err(bad("it has no place for a clip".to_owned()));
        }
        let script = html
            .split_once(SCRIPT_BEGIN)
            .and_then(|(_, rest)| rest.split_once(SCRIPT_END))
            .map(|(script, _)| script)
            .ok_or_else(|| bad("it has no script".to_owned()))?;
        // Only this script runs, and it talks to this server alone.
        let security_policy = format!(
            "default-src 'none'; script-src 'sha256-{}'; style-src 'unsafe-inline'; img-src data: blob:; \
             connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            STANDARD.encode(Sha256::digest(script))
        );
        Ok(Self { html, security_policy })
    }

    /// The page as text.
    pub fn html(&self) -> &str {
        &self.html
    }

    /// The page as it is embedded, in gzip.
    pub fn zipped(&self) -> &'static [u8] {
        EMBEDDED
    }

    /// Value of its Content-Security-Policy header.
    pub fn security_policy(&self) -> &str {
        &self.security_policy
    }
}

/// The page with a recording inside, and maybe another beside it: one file that plays them in any browser, offline.
///
/// # Errors
/// A recording that contradicts itself.
pub fn standalone_html(recording: &Recording, beside: Option<&Recording>) -> Result<Vec<u8>, StudioError> {
    let mut html = Page::embedded()?.html;
    for (place, recording) in [(CLIP_BEGIN, Some(recording)), (BESIDE_BEGIN, beside)] {
        if let Some(recording) = recording {
            html = html.replacen(place, &format!("{place}{}", zipped(recording)?), 1);
        }
    }
    Ok(html.into_bytes())
}

/// A recording as the page reads it, in base64.
fn zipped(recording: &Recording) -> Result<String, StudioError> {
    let mut zip = GzEncoder::new(Vec::new(), Compression::default());
    let system = |source| StudioError::System { action: "compressing the recording", source };
    zip.write_all(&ClipPackage::of(recording)?.to_bytes()).map_err(system)?;
    Ok(STANDARD.encode(zip.finish().map_err(system)?))
}
