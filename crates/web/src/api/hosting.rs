//! The server itself, players, tournaments, and the server's own player.

use std::sync::Arc;
use std::time::Duration;

use agon_protocol::http::RemotePlayer;
use agon_protocol::{Failure, Player, Reply, Request, Status, StopFlag};
use agon_search::{PRESETS, Preset};
use axum::Json;
use axum::extract::{Path, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};

use super::analyses::Empty;
use super::{Answer, MOST_BODY, MOST_RULES, Sent, Shared, aside, heavy_work, work};
use crate::error::ApiError;
use crate::host::{StoreSummary, StoreView};
use crate::live::{News, Wire, stream};
use crate::own_player::{OwnPlayer, SeenView};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerView {
    version: &'static str,
    is_loopback: bool,
    cores: usize,
    limits: LimitsView,
    player: Option<PlayerUrl>,
    load: Load,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LimitsView {
    matches: usize,
    searches: usize,
    clock: f64,
    rules_bytes: usize,
    record_bytes: usize,
}

#[derive(Serialize)]
struct PlayerUrl {
    url: String,
}

#[derive(Serialize)]
struct Load {
    matches: usize,
    searching: usize,
    waiting: usize,
}

pub(crate) async fn server(State(service): Shared) -> Json<ServerView> {
    let config = &service.config;
    let (searching, waiting) = service.queue.load();
    Json(ServerView {
        version: env!("CARGO_PKG_VERSION"),
        is_loopback: service.is_loopback(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        limits: LimitsView {
            matches: config.most_matches,
            searches: service.queue.slots(),
            clock: config.longest_clock,
            rules_bytes: MOST_RULES,
            record_bytes: MOST_BODY,
        },
        player: service
            .own_player
            .as_ref()
            .map(|player| PlayerUrl { url: player.url() }),
        load: Load {
            matches: service.n_matches(),
            searching,
            waiting,
        },
    })
}

#[derive(Serialize)]
pub(crate) struct Players {
    default: &'static str,
    players: Vec<PlayerView>,
}

#[derive(Serialize)]
struct PlayerView {
    name: &'static str,
    about: &'static str,
}

pub(crate) async fn players() -> Json<Players> {
    let players = PRESETS.iter().map(|preset| PlayerView {
        name: preset.name,
        about: preset.about,
    });
    Json(Players {
        default: Preset::DEFAULT,
        players: players.collect(),
    })
}

#[derive(Deserialize)]
pub(crate) struct Address {
    url: String,
}

#[derive(Serialize)]
pub(crate) struct Ping {
    status: String,
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub(crate) async fn ping(State(service): Shared, Sent(sent): Sent<Address>) -> Answer<Ping> {
    service.check_url(&sent.url)?;
    work(&service, move |_| {
        let mut player =
            RemotePlayer::new(&sent.url).map_err(|error| ApiError::bad(error.to_string()))?;
        let stop = StopFlag::new();
        let late = stop.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs(5));
            late.raise();
        });
        let unreachable = |reason: &str| Ping {
            status: "unreachable".to_owned(),
            name: None,
            reason: Some(reason.to_owned()),
        };
        Ok(match player.answer(Request::Info, &stop) {
            Reply::Info(info) => Ping {
                status: match info.status {
                    Status::Available => "available".to_owned(),
                    Status::Busy => "busy".to_owned(),
                    Status::Other(status) => status,
                },
                name: info.name,
                reason: None,
            },
            Reply::Busy => Ping {
                status: "busy".to_owned(),
                name: None,
                reason: None,
            },
            // What a server that is not a player says is none of the asker's business.
            Reply::Failed(Failure::Refused) => unreachable("connection refused"),
            Reply::Failed(_) => unreachable("no valid answer"),
            _ => Ping {
                status: "available".to_owned(),
                name: None,
                reason: None,
            },
        })
    })
    .await
}

#[derive(Serialize)]
pub(crate) struct Stores {
    stores: Vec<StoreSummary>,
}

pub(crate) async fn stores(State(service): Shared) -> Answer<Stores> {
    work(&service, |service| {
        Ok(Stores {
            stores: service.host.stores(),
        })
    })
    .await
}

pub(crate) async fn store(State(service): Shared, Path(id): Path<String>) -> Answer<StoreView> {
    work(&service, move |service| service.host.view(&id)).await
}

pub(crate) async fn store_events(
    State(service): Shared,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let guard = service.open_stream()?;
    let Json(first) = store(State(Arc::clone(&service)), Path(id.clone())).await?;
    let wire = Wire::default();
    let source = wire.listen();
    tokio::spawn(async move {
        let mut known = service.host.stamp(&id);
        while wire.n_listeners() > 0 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let stamp = service.host.stamp(&id);
            if stamp == known {
                continue;
            }
            known = stamp;
            let view = store(State(Arc::clone(&service)), Path(id.clone())).await;
            if let Ok(Json(view)) = view {
                wire.publish(News::new("store", &view));
            }
        }
    });
    let first = vec![News::new("store", &first)];
    Ok(stream(first, source, |_| true, || None, guard))
}

#[derive(Deserialize)]
pub(crate) struct Tournament {
    name: String,
    toml: String,
}

#[derive(Serialize)]
pub(crate) struct Begun {
    store: String,
}

pub(crate) async fn start(State(service): Shared, Sent(sent): Sent<Tournament>) -> Answer<Begun> {
    if !service.is_loopback() {
        let message = "tournaments are started only on a server that is on loopback";
        return Err(ApiError::forbidden("not-allowed", message));
    }
    heavy_work(&service, move |service| {
        let check = |url: &str| service.check_url(url);
        service
            .host
            .start(&sent.name, &sent.toml, &service.library, &check)?;
        Ok(Begun { store: sent.name })
    })
    .await
}

pub(crate) async fn stop(
    State(service): Shared,
    Path(id): Path<String>,
    Sent(_): Sent<Empty>,
) -> Answer<Empty> {
    service.host.stop(&id)?;
    Ok(Json(Empty {}))
}

#[derive(Serialize)]
pub(crate) struct PlayerStatus {
    url: Option<String>,
    matches: Vec<SeenView>,
}

pub(crate) async fn player(State(service): Shared) -> Answer<PlayerStatus> {
    aside(&service, |service| {
        let own = service.own_player.as_ref();
        Ok(PlayerStatus {
            url: own.map(OwnPlayer::url),
            matches: own.map(OwnPlayer::matches).unwrap_or_default(),
        })
    })
    .await
}

pub(crate) async fn player_events(State(service): Shared) -> Result<Response, ApiError> {
    let Some(own) = &service.own_player else {
        let message = "this server has no player; start it with --player-port";
        return Err(ApiError::missing("no-such-player", message));
    };
    let guard = service.open_stream()?;
    let source = own.wire().listen();
    let first = vec![News::new("player", &Empty {})];
    Ok(stream(first, source, |_| true, || None, guard))
}
