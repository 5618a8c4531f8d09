//! Games and positions.

use axum::Json;
use axum::extract::{Path, State};
use serde::{Deserialize, Serialize};

use super::{Answer, Sent, Shared, check_length, heavy_work, work};
use crate::layout::Layout;
use crate::library::{Entry, Summary, Upload};
use crate::scene::Piece;
use crate::service::Service;
use crate::view::{MadeMove, StateView};

#[derive(Serialize)]
pub(crate) struct List {
    games: &'static [Summary],
}

pub(crate) async fn list(State(service): Shared) -> Answer<List> {
    // Reading the metadata of all games takes a moment the first time.
    work(&service, |service| {
        Ok(List {
            games: service.library.summaries(),
        })
    })
    .await
}

/// A game with everything that a page needs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Info {
    #[serde(flatten)]
    summary: Summary,
    layout: Layout,
    start: StateView,
    rules: String,
    engine: &'static str,
    no_board_reason: Option<String>,
    /// Whether a player of this game can use a trained model.
    is_trained: bool,
}

impl Info {
    fn new(service: &Service, entry: &Entry) -> Info {
        Info {
            summary: entry.summary.clone(),
            layout: entry.layout.clone(),
            start: entry.view(entry.game.initial_state(), 0, None, &|_| true),
            rules: entry.text.clone(),
            engine: match entry.game.grounded() {
                Some(_) => "network",
                None => "interpreter",
            },
            no_board_reason: entry.no_board_reason.clone(),
            is_trained: (service.hooks.model)(&entry.game).is_some(),
        }
    }
}

pub(crate) async fn info(State(service): Shared, Path(game): Path<String>) -> Answer<Info> {
    work(&service, move |service| {
        let entry = service.library.find(&game)?;
        Ok(Info::new(service, &entry))
    })
    .await
}

#[derive(Serialize)]
pub(crate) struct Start {
    id: String,
    layout: Layout,
    pieces: Vec<Piece>,
}

pub(crate) async fn start(State(service): Shared, Path(game): Path<String>) -> Answer<Start> {
    work(&service, move |service| {
        let entry = service.library.find(&game)?;
        let (pieces, _) = entry.show(entry.game.initial_state());
        Ok(Start {
            id: game,
            layout: entry.layout.clone(),
            pieces,
        })
    })
    .await
}

#[derive(Deserialize)]
pub(crate) struct Uploaded {
    rules: String,
    #[serde(default)]
    metadata: Option<String>,
    #[serde(default)]
    name: Option<String>,
}

pub(crate) async fn upload(State(service): Shared, Sent(sent): Sent<Uploaded>) -> Answer<Info> {
    check_length(&sent.rules)?;
    heavy_work(&service, move |service| {
        let upload = Upload {
            name: sent.name,
            rules: sent.rules,
            metadata: sent.metadata.filter(|text| !text.trim().is_empty()),
        };
        let entry = service.library.upload(&upload)?;
        Ok(Info::new(service, &entry))
    })
    .await
}

#[derive(Deserialize)]
pub(crate) struct Wanted {
    game: String,
    #[serde(default)]
    moves: Vec<Vec<String>>,
    #[serde(default)]
    roles: Option<Vec<usize>>,
}

#[derive(Serialize)]
pub(crate) struct Position {
    game: String,
    state: StateView,
    path: Vec<Vec<MadeMove>>,
}

pub(crate) async fn position(
    State(service): Shared,
    Sent(wanted): Sent<Wanted>,
) -> Answer<Position> {
    let Json(position) = work(&service, move |service| {
        let entry = service.library.find(&wanted.game)?;
        let line = entry.follow(&wanted.moves)?;
        let path = line.made(&entry);
        let wants = |role: usize| {
            wanted
                .roles
                .as_ref()
                .is_none_or(|roles| roles.contains(&role))
        };
        Ok(Position {
            state: entry.view(line.end(), line.joints.len(), path.last().cloned(), &wants),
            game: wanted.game,
            path,
        })
    })
    .await?;
    Ok(Json(position))
}
