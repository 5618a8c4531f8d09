//! The files of the page, embedded in the binary.
//!
//! `dist` has the build of the front end, so that nothing but the binary is needed. Files with a hash in their name never change.
//! An unknown path without a dot is an address within the page and gets the page itself.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use include_dir::{Dir, include_dir};

static DIST: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/dist");

/// Files in compressed form, made when they are first asked for.
#[derive(Default)]
pub(crate) struct Pages {
    compressed: Mutex<HashMap<&'static str, Arc<Vec<u8>>>>,
}

impl Pages {
    /// The file of a path.
    pub(crate) fn answer(&self, uri: &Uri, headers: &HeaderMap) -> Response {
        let path = uri.path().trim_start_matches('/');
        let has_dot = path
            .rsplit('/')
            .next()
            .is_some_and(|last| last.contains('.'));
        let file = match path {
            "" => DIST.get_file("index.html"),
            _ => DIST.get_file(path),
        };
        let file = file.or_else(|| DIST.get_file("index.html").filter(|_| !has_dot));
        let Some(file) = file else {
            return (StatusCode::NOT_FOUND, "There is nothing here.").into_response();
        };
        let name = file.path().to_str().unwrap_or_default();
        let accepts = headers
            .get(ACCEPT_ENCODING)
            .and_then(|value| value.to_str().ok());
        let is_packed = accepts.is_some_and(|value| value.contains("gzip")) && is_text(name);
        let mut response = match is_packed {
            true => Response::new(Body::from(self.packed(name, file.contents()).to_vec())),
            false => Response::new(Body::from(file.contents())),
        };
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(name)));
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        if is_packed {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        let cache = match name.starts_with("assets/") {
            true => "public, max-age=31536000, immutable",
            false => "no-cache",
        };
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
        response
    }

    fn packed(&self, name: &'static str, bytes: &[u8]) -> Arc<Vec<u8>> {
        let mut compressed = self
            .compressed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let packed = compressed.entry(name).or_insert_with(|| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            // Writing to memory does not fail.
            let _ = encoder.write_all(bytes);
            Arc::new(encoder.finish().unwrap_or_default())
        });
        Arc::clone(packed)
    }
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "json" | "webmanifest" => "application/json",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

fn is_text(name: &str) -> bool {
    let kind = content_type(name);
    kind.starts_with("text/") || kind == "image/svg+xml" || kind == "application/json"
}
