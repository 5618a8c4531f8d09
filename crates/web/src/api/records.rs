//! Match records of Agon and of other managers, opened for replay.

use agon_arena::{MatchRecord, replay};
use agon_protocol::Term;
use axum::extract::State;
use serde::{Deserialize, Serialize};

use super::matches::{StepView, ThoughtView};
use super::{Answer, Sent, Shared, check_length, heavy_work};
use crate::ending::EndingView;
use crate::error::ApiError;
use crate::layout::Layout;
use crate::library::{Role, Upload};
use crate::view::MOST_STEPS;

#[derive(Deserialize)]
pub(crate) struct Opened {
    record: MatchRecord,
    #[serde(default)]
    game: Option<String>,
    #[serde(default)]
    rules: Option<String>,
}

/// A record as a page shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Replay {
    game: String,
    title: String,
    roles: Vec<Role>,
    layout: Layout,
    can_analyse: bool,
    players: Vec<String>,
    history: Vec<StepView>,
    goals: Option<Vec<Option<u8>>>,
    ending: Option<EndingView>,
    started: u64,
    is_valid: bool,
    problem: Option<String>,
    moves: Vec<Vec<String>>,
}

pub(crate) async fn open(State(service): Shared, Sent(sent): Sent<Opened>) -> Answer<Replay> {
    heavy_work(&service, move |service| {
        let record = sent.record;
        let details = record.agon.as_ref();
        let written = details.and_then(|details| details.rules.clone());
        let named = details.map(|details| details.game.clone());
        let is_known = |game: &String| {
            service
                .library
                .summaries()
                .iter()
                .any(|known| known.id == *game)
        };
        let entry = match (sent.rules.or(written), sent.game.or(named)) {
            // A built-in game has metadata, which the rules in a record have not.
            (Some(rules), Some(game)) if is_known(&game) => {
                let entry = service.library.find(&game)?;
                match entry.text == rules {
                    true => entry,
                    false => upload(service, rules, Some(game))?,
                }
            }
            (Some(rules), game) => upload(service, rules, game)?,
            (None, Some(game)) => service.library.find(&game)?,
            (None, None) => {
                return Err(ApiError::bad(
                    "the record has no rules; give `rules` or `game`",
                ));
            }
        };
        let plain = |text: &String| {
            Term::read(text)
                .map(|term| term.to_string())
                .unwrap_or_default()
        };
        let mut moves: Vec<Vec<String>> = record
            .moves
            .iter()
            .map(|row| row.iter().map(plain).collect())
            .collect();
        let mut problem = replay(&entry.game, &record)
            .err()
            .map(|error| error.to_string());
        // The first illegal move ends what can be shown.
        moves.truncate(MOST_STEPS);
        if let Some((n_good, fault)) = first_fault(&entry, &moves) {
            moves.truncate(n_good);
            problem.get_or_insert(fault);
        }
        let line = entry.follow(&moves)?;
        let thoughts = |step: usize| -> Vec<Option<ThoughtView>> {
            let row = record
                .agon
                .as_ref()
                .and_then(|details| details.thoughts.get(step));
            let row = row.into_iter().flatten();
            row.map(|thought| thought.as_ref().map(ThoughtView::from))
                .collect()
        };
        let mut machine = entry.game.machine();
        let playing: Vec<usize> = match entry.summary.is_hidden {
            true => entry
                .game
                .playing_roles()
                .map(agon_engine::RoleId::idx)
                .collect(),
            false => Vec::new(),
        };
        let mut seen = |step: usize| {
            entry.seen(
                &mut *machine,
                &line.states[step],
                &line.joints[step],
                &playing,
            )
        };
        let history = line
            .made(&entry)
            .into_iter()
            .enumerate()
            .map(|(step, moves)| StepView {
                moves,
                errors: record.errors.get(step + 1).cloned().unwrap_or_default(),
                thoughts: thoughts(step),
                seen: seen(step),
                at: record
                    .state_times
                    .get(step + 1)
                    .copied()
                    .unwrap_or(record.start_time),
            });
        let goals: Option<Vec<Option<u8>>> = record
            .goal_values
            .as_ref()
            .map(|goals| goals.iter().copied().map(Some).collect());
        let titles = entry.role_titles();
        Ok(Replay {
            game: entry.id().to_owned(),
            title: entry.summary.title.clone(),
            roles: entry.summary.roles.clone(),
            layout: entry.layout.clone(),
            can_analyse: entry.summary.can_analyse,
            players: record.player_names_from_host.clone(),
            history: history.collect(),
            ending: record
                .is_completed
                .then(|| EndingView::of_goals(&titles, goals.clone())),
            goals,
            started: record.start_time,
            is_valid: problem.is_none(),
            problem,
            moves,
        })
    })
    .await
}

fn upload(
    service: &crate::service::Service,
    rules: String,
    name: Option<String>,
) -> Result<std::sync::Arc<crate::library::Entry>, ApiError> {
    check_length(&rules)?;
    service.library.upload(&Upload {
        name,
        rules,
        metadata: None,
    })
}

/// The first step that is not legal, and why.
fn first_fault(entry: &crate::library::Entry, moves: &[Vec<String>]) -> Option<(usize, String)> {
    let mut machine = entry.game.machine();
    for (idx, texts) in moves.iter().enumerate() {
        match entry.read_joint(&mut *machine, idx + 1, texts) {
            Ok(joint) => machine.advance(&joint),
            Err(error) => return Some((idx, error.message().to_owned())),
        }
    }
    None
}
