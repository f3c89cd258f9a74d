use crate::StudioError;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

/// Why a request is not served: a status and a text that says what would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub status: StatusCode,
    pub reason: String,
}

impl Refusal {
    pub fn new(status: StatusCode, reason: impl Into<String>) -> Self {
        Self { status, reason: reason.into() }
    }
}

impl From<StudioError> for Refusal {
    fn from(error: StudioError) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, self.reason).into_response()
    }
}
