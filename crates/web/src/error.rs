//! Errors of the API: a status, a kind that programs can match, and words for people.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::writing::Finding;

/// Why a request has no answer.
#[derive(Clone, Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    kind: &'static str,
    message: String,
    retry_after: Option<u64>,
    findings: Option<Vec<Finding>>,
}

impl ApiError {
    fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> ApiError {
        ApiError {
            status,
            kind,
            message: message.into(),
            retry_after: None,
            findings: None,
        }
    }

    /// A field is missing or wrong.
    pub(crate) fn bad(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, "bad-request", message)
    }

    /// A text is not exactly one legal move.
    pub(crate) fn illegal(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, "illegal-move", message)
    }

    /// The rules have errors.
    pub(crate) fn rules(message: impl Into<String>, findings: Vec<Finding>) -> ApiError {
        ApiError {
            findings: Some(findings),
            ..ApiError::new(StatusCode::BAD_REQUEST, "bad-rules", message)
        }
    }

    /// Somebody may not do this.
    pub(crate) fn forbidden(kind: &'static str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::FORBIDDEN, kind, message)
    }

    /// There is no such thing.
    pub(crate) fn missing(kind: &'static str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::NOT_FOUND, kind, message)
    }

    /// It is not possible at this moment.
    pub(crate) fn not_now(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::CONFLICT, "not-now", message)
    }

    /// The body is too large.
    pub(crate) fn too_large(most: usize) -> ApiError {
        let message = format!("the body may have {most} bytes at most");
        ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", message)
    }

    /// The body is not JSON.
    pub(crate) fn not_json() -> ApiError {
        let message = "send Content-Type: application/json";
        ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-json", message)
    }

    /// There is too much to do already.
    pub(crate) fn busy(message: impl Into<String>, retry_after: u64) -> ApiError {
        ApiError {
            retry_after: Some(retry_after),
            ..ApiError::new(StatusCode::TOO_MANY_REQUESTS, "busy", message)
        }
    }

    /// The server has failed.
    pub(crate) fn internal(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    /// The words for people.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }
}

#[derive(Serialize)]
struct Body<'a> {
    error: Inner<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    findings: &'a Option<Vec<Finding>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Inner<'a> {
    kind: &'a str,
    message: &'a str,
    retry_after: Option<u64>,
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = Body {
            error: Inner {
                kind: self.kind,
                message: &self.message,
                retry_after: self.retry_after,
            },
            findings: &self.findings,
        };
        (self.status, Json(body)).into_response()
    }
}
