//! Who may ask: checks of Host and Origin against DNS rebinding and cross-site requests, and headers of every answer.
//!
//! A browser sends the name that the user typed as Host. A foreign page whose name was made to point at this machine has a foreign
//! Host. A foreign page that sends a request here has a foreign Origin. Requests with a body must be JSON, which a plain form
//! cannot send.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue, ORIGIN};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::ApiError;
use crate::service::Service;

/// What pages may load and do: only what comes from this server, and no script inside HTML.
const POLICY: &str = "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; \
     font-src 'self'; connect-src 'self'; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

/// Headers of every answer.
const HEADERS: [(&str, &str); 5] = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// Lets only requests of this site through.
pub(crate) async fn guard(
    State(service): State<Arc<Service>>,
    request: Request,
    next: Next,
) -> Response {
    let refused = check(
        &service,
        request.method(),
        request.headers(),
        request.uri().path(),
    );
    let mut response = match refused {
        Err(error) => error.into_response(),
        Ok(()) => next.run(request).await,
    };
    for (name, value) in HEADERS {
        let name = HeaderName::from_static(name);
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

fn check(
    service: &Service,
    method: &Method,
    headers: &HeaderMap,
    path: &str,
) -> Result<(), ApiError> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts
        .next()
        .and_then(|host| host.to_str().ok())
        .unwrap_or_default();
    let is_own = is_own_host(host, &service.config.names, service.is_loopback());
    if !is_own || hosts.next().is_some() {
        let message =
            "this server does not answer under that name; start it with --name to allow it";
        return Err(ApiError::forbidden("foreign-host", message));
    }
    let foreign = || ApiError::forbidden("foreign-origin", "the request comes from another site");
    if let Some(origin) = headers.get(ORIGIN) {
        let origin = origin.to_str().unwrap_or_default();
        let bare = origin
            .strip_prefix("http://")
            .or_else(|| origin.strip_prefix("https://"));
        if bare != Some(host) {
            return Err(foreign());
        }
    }
    let site = headers
        .get("sec-fetch-site")
        .and_then(|site| site.to_str().ok());
    let is_page = *method == Method::GET && !path.starts_with("/api/");
    // A link from another site to a page is fine; anything else from there is not.
    if matches!(site, Some("cross-site" | "same-site")) && !is_page {
        return Err(foreign());
    }
    if *method == Method::POST && !is_json(headers) {
        return Err(ApiError::not_json());
    }
    Ok(())
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

/// Whether a Host header names this server.
fn is_own_host(host: &str, names: &[String], is_loopback: bool) -> bool {
    let Some(name) = host_name(host) else {
        return false;
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = bare.parse::<IpAddr>() {
        // A name can be made to point anywhere, an address cannot.
        return !is_loopback || address.is_loopback();
    }
    let is_name = |known: &String| known.eq_ignore_ascii_case(name);
    name.eq_ignore_ascii_case("localhost") || names.iter().any(is_name)
}

/// A host without its port; `None` if it is not well-formed.
fn host_name(host: &str) -> Option<&str> {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    };
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok());
    let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
    (is_port && !name.is_empty() && name.chars().all(is_fine)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_names_are_answered() {
        let names = ["games.example".to_owned()];
        for host in [
            "localhost",
            "localhost:8147",
            "127.0.0.1:8147",
            "[::1]:8147",
            "GAMES.example:80",
        ] {
            assert!(is_own_host(host, &names, true), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:8147",
            "localhost.evil.example",
            "localhost:x",
            "192.168.0.7",
            "a b",
            "localhost/x",
        ] {
            assert!(!is_own_host(host, &names, true), "{host}");
        }
        assert!(is_own_host("192.168.0.7:8147", &names, false));
        assert!(!is_own_host("evil.example", &names, false));
    }
}
