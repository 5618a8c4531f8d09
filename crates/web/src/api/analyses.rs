//! Searches of any position, and analyses of rules, that pages listen to.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use agon_engine::{Game, RoleId};
use agon_search::Preset;
use axum::extract::{Path, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};

use super::{Answer, Sent, Shared, check_length, heavy_work, work};
use crate::error::ApiError;
use crate::jobs::Job;
use crate::library::{Entry, Upload};
use crate::live::{News, stream};
use crate::seat::preset;
use crate::service::Service;
use crate::think::{Effort, SearchReport, Task};

/// A long search takes turns of this length with others.
const TURN: Duration = Duration::from_millis(1000);

#[derive(Deserialize)]
pub(crate) struct Wanted {
    game: String,
    #[serde(default)]
    moves: Vec<Vec<String>>,
    #[serde(default)]
    player: Option<String>,
    #[serde(default)]
    role: Option<usize>,
    #[serde(default)]
    seconds: Option<f64>,
}

#[derive(Serialize)]
pub(crate) struct Started {
    id: String,
}

#[derive(Serialize)]
struct Nothing {}

pub(crate) async fn create(State(service): Shared, Sent(wanted): Sent<Wanted>) -> Answer<Started> {
    work(&service, move |service| {
        let entry = service.library.find(&wanted.game)?;
        let line = entry.follow(&wanted.moves)?;
        let seconds = wanted.seconds.unwrap_or(10.0);
        if entry.game.is_gdl2() {
            let message = "positions are searched only in games without chance and hidden information; \
                           `agon search` can do it from what a role knows";
            return Err(ApiError::not_now(message));
        }
        let longest = service.config.longest_clock;
        if !(0.05..=longest).contains(&seconds) {
            return Err(ApiError::bad(format!(
                "seconds is between 0.05 and {longest}"
            )));
        }
        let mut machine = entry.game.machine();
        machine.load(line.end());
        if machine.is_terminal() {
            return Err(ApiError::not_now("the match is over in this position"));
        }
        let role = match wanted.role {
            Some(role) if role < entry.game.n_roles() => RoleId(role as u16),
            Some(role) => return Err(ApiError::bad(format!("there is no role {role}"))),
            None => {
                let mut roles = entry.game.roles();
                let chooser = roles.find(|&role| machine.legal_moves(role).len() > 1);
                chooser.unwrap_or(RoleId(0))
            }
        };
        if machine.legal_moves(role).is_empty() {
            return Err(ApiError::not_now(
                "the role has no legal move in this position",
            ));
        }
        let player = wanted.player.as_deref().unwrap_or(Preset::DEFAULT);
        let preset = preset(service, &entry.game, player);
        let search = Search {
            preset: preset.map_err(|error| ApiError::bad(error.to_string()))?,
            state: line.end().clone(),
            step: line.joints.len(),
            entry,
            role,
            time: Duration::from_secs_f64(seconds),
        };
        let job = service.jobs.add()?;
        let id = job.id.clone();
        let service = Arc::clone(service);
        let thread = thread::Builder::new().name("analysis".to_owned());
        let started = thread.spawn(move || {
            let end = End(job);
            search.run(&service, &end.0);
        });
        started.map_err(|error| ApiError::internal(error.to_string()))?;
        Ok(Started { id })
    })
    .await
}

/// Tells listeners the end of a job, whatever ends it.
struct End(Arc<Job>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.publish(News::new("end", &Nothing {}));
    }
}

/// A search of a position.
struct Search {
    preset: Preset,
    entry: Arc<Entry>,
    state: agon_engine::State,
    step: usize,
    role: RoleId,
    time: Duration,
}

impl Search {
    fn run(&self, service: &Service, job: &Job) {
        #[derive(Serialize)]
        struct Place {
            place: usize,
        }
        let mut left = self.time;
        let mut bot = None;
        let mut before: Option<SearchReport> = None;
        while !left.is_zero() {
            let mut tell = |place| job.publish(News::new("queue", &Place { place }));
            let Ok(turn) = service.queue.wait(&job.stop, &mut tell) else {
                return;
            };
            let bot = bot.get_or_insert_with(|| self.preset.bot(&self.entry.game, 1));
            let task = Task {
                shown: Default::default(),
                entry: &self.entry,
                state: &self.state,
                role: self.role,
                step: self.step,
                share: turn.share,
                words: service.hooks.technique,
            };
            // While others wait, everybody's turn is short.
            let slice = left.min(TURN.mul_f64(turn.share).max(Duration::from_millis(100)));
            let began = Instant::now();
            let is_last = slice == left;
            let base = before.clone();
            let mut last = None;
            task.think_aloud(&mut **bot, Effort::Time(slice), &job.stop, &mut |report| {
                let is_decided = report.is_done && report.stop.as_deref() != Some("time");
                let mut report = add(report, base.as_ref());
                report.is_done &= is_last || is_decided;
                job.publish(News::new("search", &report));
                last = Some(report);
            });
            left = left.saturating_sub(began.elapsed());
            if last.as_ref().is_none_or(|report| report.is_done) {
                return;
            }
            before = last;
        }
        // The clock ended between two turns.
        if let Some(mut report) = before {
            report.is_done = true;
            job.publish(News::new("search", &report));
        }
    }
}

/// A report with what was done in earlier turns.
fn add(mut report: SearchReport, before: Option<&SearchReport>) -> SearchReport {
    if let Some(before) = before {
        report.playouts += before.playouts;
        report.transitions += before.transitions;
        report.seconds += before.seconds;
        report.playouts_per_second = report.playouts as f64 / report.seconds.max(1e-6);
    }
    report
}

pub(crate) async fn events(
    State(service): Shared,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let job = service.jobs.find(&id)?;
    let guard = service.open_stream()?;
    let (mut first, source) = job.listen();
    // The end comes last, whatever was told before it.
    first.sort_by_key(|news| news.event == "end");
    Ok(stream(first, source, |_| true, || None, (guard, job)))
}

pub(crate) async fn stop(
    State(service): Shared,
    Path(id): Path<String>,
    Sent(_): Sent<Empty>,
) -> Answer<Empty> {
    let job = service.jobs.find(&id)?;
    job.stop.raise();
    Ok(axum::Json(Empty {}))
}

/// An empty object.
#[derive(Serialize, Deserialize)]
pub(crate) struct Empty {}

#[derive(Deserialize)]
pub(crate) struct Examined {
    #[serde(default)]
    rules: Option<String>,
    #[serde(default)]
    metadata: Option<String>,
    #[serde(default)]
    game: Option<String>,
    #[serde(default)]
    seconds: Option<f64>,
}

pub(crate) async fn examine(
    State(service): Shared,
    Sent(wanted): Sent<Examined>,
) -> Answer<Started> {
    check_length(wanted.rules.as_deref().unwrap_or_default())?;
    heavy_work(&service, move |service| {
        let entry = match (wanted.rules, wanted.game) {
            (Some(rules), _) => service.library.upload(&Upload {
                name: None,
                rules,
                metadata: wanted.metadata.filter(|text| !text.trim().is_empty()),
            })?,
            (None, Some(game)) => service.library.find(&game)?,
            (None, None) => return Err(ApiError::bad("give `rules` or `game`")),
        };
        let seconds = wanted.seconds.unwrap_or(5.0);
        if !(0.5..=60.0).contains(&seconds) {
            return Err(ApiError::bad("seconds is between 0.5 and 60"));
        }
        let job = service.jobs.add()?;
        let id = job.id.clone();
        let service = Arc::clone(service);
        let thread = thread::Builder::new().name("analyse".to_owned());
        let started = thread.spawn(move || {
            let end = End(job);
            run_analysis(&service, &end.0, &entry, seconds);
        });
        started.map_err(|error| ApiError::internal(error.to_string()))?;
        Ok(Started { id })
    })
    .await
}

/// How far an analysis is.
#[derive(Serialize)]
struct Progress<'a> {
    done: f64,
    text: &'a str,
}

#[derive(Serialize)]
struct Problem {
    message: String,
}

fn run_analysis(service: &Arc<Service>, job: &Arc<Job>, entry: &Arc<Entry>, seconds: f64) {
    let waiting = Progress {
        done: 0.0,
        text: "waiting for a core",
    };
    job.publish(News::new("progress", &waiting));
    let Ok(turn) = service.queue.wait(&job.stop, &mut |_| {}) else {
        return;
    };
    let analyse = service.hooks.analyse;
    let (title, game): (String, Arc<Game>) = (entry.summary.title.clone(), Arc::clone(&entry.game));
    let worker = {
        let entry = Arc::clone(entry);
        thread::spawn(move || analyse(&title, &game, entry.about.as_ref(), seconds))
    };
    let began = Instant::now();
    while !worker.is_finished() {
        thread::sleep(Duration::from_millis(200));
        let progress = Progress {
            done: (began.elapsed().as_secs_f64() / seconds).min(0.99),
            text: "playing random games",
        };
        job.publish(News::new("progress", &progress));
    }
    drop(turn);
    match worker.join() {
        Ok(Ok(analysis)) => job.publish(News::new("result", &analysis)),
        Ok(Err(message)) => job.publish(News::new("problem", &Problem { message })),
        Err(_) => {
            let message = "the analysis failed".to_owned();
            job.publish(News::new("problem", &Problem { message }));
        }
    }
}
