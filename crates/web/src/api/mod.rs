//! The API: one module per topic, one function per endpoint. `docs/API.md` describes them.

mod analyses;
mod games;
mod hosting;
mod matches;
mod records;
mod rules;

use std::sync::Arc;
use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;

use crate::error::ApiError;
use crate::guard::guard;
use crate::pages::Pages;
use crate::service::Service;

/// Bytes of a body.
pub(crate) const MOST_BODY: usize = 4 << 20;
/// Bytes of a rulesheet.
pub(crate) const MOST_RULES: usize = 1 << 20;
/// How long a request waits for a core before it is refused.
const PATIENCE: Duration = Duration::from_secs(30);

type Shared = State<Arc<Service>>;
type Answer<T> = Result<Json<T>, ApiError>;

/// All endpoints and the pages.
pub(crate) fn router(service: Arc<Service>) -> Router {
    let pages = Arc::new(Pages::default());
    let page = move |method: Method, uri: Uri, headers: HeaderMap| {
        let pages = Arc::clone(&pages);
        async move { fallback(&pages, &method, &uri, &headers) }
    };
    Router::new()
        .route("/api/server", get(hosting::server))
        .route("/api/players", get(hosting::players))
        .route("/api/players/ping", post(hosting::ping))
        .route("/api/games", get(games::list).post(games::upload))
        .route("/api/games/{game}", get(games::info))
        .route("/api/games/{game}/start", get(games::start))
        .route("/api/positions", post(games::position))
        .route("/api/matches", get(matches::list).post(matches::create))
        .route("/api/matches/{id}", get(matches::show))
        .route("/api/matches/{id}/move", post(matches::make_move))
        .route("/api/matches/{id}/undo", post(matches::undo))
        .route("/api/matches/{id}/resign", post(matches::resign))
        .route("/api/matches/{id}/hint", post(matches::hint))
        .route("/api/matches/{id}/control", post(matches::control))
        .route("/api/matches/{id}/record", get(matches::record))
        .route("/api/matches/{id}/events", get(matches::events))
        .route("/api/analyses", post(analyses::create))
        .route("/api/analyses/{id}/events", get(analyses::events))
        .route("/api/analyses/{id}/stop", post(analyses::stop))
        .route("/api/records", post(records::open))
        .route("/api/check", post(rules::check))
        .route("/api/format", post(rules::format))
        .route("/api/hover", post(rules::hover))
        .route("/api/analyse", post(analyses::examine))
        .route("/api/analyse/{id}/events", get(analyses::events))
        .route("/api/stores", get(hosting::stores))
        .route("/api/stores/{id}", get(hosting::store))
        .route("/api/stores/{id}/events", get(hosting::store_events))
        .route("/api/tournaments", post(hosting::start))
        .route("/api/tournaments/{id}/stop", post(hosting::stop))
        .route("/api/player", get(hosting::player))
        .route("/api/player/events", get(hosting::player_events))
        .method_not_allowed_fallback(no_such_method)
        .fallback(page)
        .layer(from_fn_with_state(Arc::clone(&service), guard))
        .with_state(service)
}

fn fallback(pages: &Pages, method: &Method, uri: &Uri, headers: &HeaderMap) -> Response {
    if uri.path().starts_with("/api") {
        let message = "there is no such endpoint; docs/API.md lists them";
        return ApiError::missing("no-such-endpoint", message).into_response();
    }
    match *method {
        Method::GET | Method::HEAD => pages.answer(uri, headers),
        _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
}

async fn no_such_method() -> Response {
    let message = "this endpoint has another method; docs/API.md lists them";
    let mut response = ApiError::bad(message).into_response();
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    response
}

/// A JSON body within the limit.
pub(crate) struct Sent<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Sent<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Sent<T>, ApiError> {
        let bytes = to_bytes(request.into_body(), MOST_BODY).await;
        let bytes = bytes.map_err(|_| ApiError::too_large(MOST_BODY))?;
        // An empty body is an empty object.
        let bytes = if bytes.is_empty() { &b"{}"[..] } else { &bytes };
        let is_object = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        if !is_object {
            return Err(ApiError::bad("the body must be a JSON object, `{…}`"));
        }
        let value = serde_json::from_slice(bytes);
        value
            .map(Sent)
            .map_err(|error| ApiError::bad(error.to_string()))
    }
}

/// Runs what takes a moment on another thread. At most a few of them at once, so that nobody takes all cores.
async fn work<T: Serialize + Send + 'static>(
    service: &Arc<Service>,
    task: impl FnOnce(&Arc<Service>) -> Result<T, ApiError> + Send + 'static,
) -> Answer<T> {
    in_turn(service, Arc::clone(&service.work), task).await
}

/// Runs what may take many seconds on another thread, such as compiling the rules of somebody.
async fn heavy_work<T: Serialize + Send + 'static>(
    service: &Arc<Service>,
    task: impl FnOnce(&Arc<Service>) -> Result<T, ApiError> + Send + 'static,
) -> Answer<T> {
    in_turn(service, Arc::clone(&service.heavy_work), task).await
}

async fn in_turn<T: Serialize + Send + 'static>(
    service: &Arc<Service>,
    turns: Arc<Semaphore>,
    task: impl FnOnce(&Arc<Service>) -> Result<T, ApiError> + Send + 'static,
) -> Answer<T> {
    let permit = tokio::time::timeout(PATIENCE, turns.acquire_owned()).await;
    let permit = permit
        .ok()
        .and_then(Result::ok)
        .ok_or_else(|| ApiError::busy("the server is busy; try again later", 10))?;
    let answer = aside(service, task).await;
    drop(permit);
    answer
}

/// Runs what may wait for a lock or a search on another thread.
async fn aside<T: Serialize + Send + 'static>(
    service: &Arc<Service>,
    task: impl FnOnce(&Arc<Service>) -> Result<T, ApiError> + Send + 'static,
) -> Answer<T> {
    let service = Arc::clone(service);
    let done = tokio::task::spawn_blocking(move || task(&service)).await;
    match done {
        Ok(answer) => answer.map(Json),
        Err(_) => Err(ApiError::internal("the request failed inside the server")),
    }
}

/// The token of a request.
fn token(headers: &HeaderMap) -> Option<String> {
    let token = headers.get("agon-token")?.to_str().ok()?;
    Some(token.to_owned())
}

/// Refuses rules that are too long.
fn check_length(rules: &str) -> Result<(), ApiError> {
    match rules.len() > MOST_RULES {
        true => Err(ApiError::too_large(MOST_RULES)),
        false => Ok(()),
    }
}
