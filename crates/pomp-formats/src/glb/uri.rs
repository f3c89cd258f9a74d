//! What the URIs of a glTF document name: bytes in the URI itself, or a file beside the document.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::path::Path;

/// Largest file that is read beside a document, bytes.
const LARGEST: u64 = 1 << 32;

/// The bytes that a URI names, or what is wrong with it. Files are looked for in `folder`.
pub(super) fn contents(uri: &str, folder: Option<&Path>) -> Result<Vec<u8>, String> {
    if let Some(data) = uri.strip_prefix("data:") {
        let (kind, text) =
            data.split_once(',').ok_or("its data URI has no comma; export everything into one .glb")?;
        if !kind.ends_with(";base64") {
            return Err("its data URI is not base64; export everything into one .glb".to_owned());
        }
        return STANDARD.decode(text).map_err(|error| {
            format!("its data URI is not base64: {error}; export everything into one .glb")
        });
    }
    let name = decoded(uri);
    let Some(folder) = folder else {
        return Err(format!("its bytes are in another file, {name}; export everything into one .glb"));
    };
    let path = Path::new(&name);
    if path.is_absolute() || name.contains("://") {
        return Err(format!("its URI {name} is no path beside the file; export everything into one .glb"));
    }
    let path = folder.join(path);
    let unread = |reason: String| {
        format!(
            "its bytes are in {}, which {reason}; put that file in its place, or export everything into one .glb",
            path.display()
        )
    };
    let about = std::fs::metadata(&path).map_err(|error| unread(format!("cannot be read: {error}")))?;
    if !about.is_file() || about.len() > LARGEST {
        return Err(unread("is no file of at most 4 GiB".to_owned()));
    }
    std::fs::read(&path).map_err(|error| unread(format!("cannot be read: {error}")))
}

/// The URI of these bytes themselves.
pub(super) fn of_data(kind: &str, bytes: &[u8]) -> String {
    format!("data:{kind};base64,{}", STANDARD.encode(bytes))
}

/// A URI with its `%20` and the like as the bytes that they stand for.
fn decoded(uri: &str) -> String {
    let bytes = uri.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let pair = uri.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| uri.to_owned())
}
