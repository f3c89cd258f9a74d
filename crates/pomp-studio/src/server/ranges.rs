use super::refusal::Refusal;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::{ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, ETAG, IF_RANGE, RANGE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_range_header::parse_range_header;
use std::ops::RangeInclusive;

/// Answers a request for a part of what would be the whole answer (RFC 9110 §14): one range, and only as long as the whole is
/// still what `If-Range` names.
pub(super) async fn answer_range(request: Request, next: Next) -> Response {
    let wanted = (request.method() == Method::GET).then(|| request.headers().clone());
    let mut response = next.run(request).await;
    if response.status() != StatusCode::OK {
        return response;
    }
    response.headers_mut().insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    let Some(range) = wanted.and_then(|asked| range_of(&asked, response.headers())) else { return response };
    let (mut head, body) = response.into_parts();
    let Ok(whole) = to_bytes(body, usize::MAX).await else {
        return Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the answer could not be put together")
            .into_response();
    };
    let parsed = parse_range_header(&range).and_then(|ranges| ranges.validate(whole.len() as u64));
    match parsed.as_deref() {
        Ok([part]) => {
            let (first, last) = (*part.start(), *part.end());
            head.status = StatusCode::PARTIAL_CONTENT;
            head.headers.remove(CONTENT_LENGTH);
            insert(&mut head.headers, &format!("bytes {first}-{last}/{}", whole.len()));
            Response::from_parts(head, Body::from(whole.slice(within(part))))
        }
        // Several ranges may be answered by the whole.
        Ok(_) => Response::from_parts(head, Body::from(whole)),
        Err(_) => {
            let reason = format!("the range {range} is not within {} bytes", whole.len());
            let mut refused = Refusal::new(StatusCode::RANGE_NOT_SATISFIABLE, reason).into_response();
            insert(refused.headers_mut(), &format!("bytes */{}", whole.len()));
            refused
        }
    }
}

/// The range that is asked for, if it is to be answered.
fn range_of(asked: &HeaderMap, answered: &HeaderMap) -> Option<String> {
    let range = asked.get(RANGE)?.to_str().ok()?.to_owned();
    // Of other units than bytes a server knows nothing.
    let known = range.starts_with("bytes=");
    let fresh = asked.get(IF_RANGE).is_none_or(|tag| Some(tag) == answered.get(ETAG));
    (known && fresh).then_some(range)
}

fn within(part: &RangeInclusive<u64>) -> RangeInclusive<usize> {
    // They index bytes in memory.
    *part.start() as usize..=*part.end() as usize
}

fn insert(headers: &mut HeaderMap, range: &str) {
    let value = HeaderValue::from_str(range).expect("digits and a few signs make a header");
    headers.insert(CONTENT_RANGE, value);
}
