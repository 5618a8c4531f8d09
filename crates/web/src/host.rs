//! Tournaments: stores as tables, and tournament files that are run from the page.
//!
//! A store is a file of `agon tournament` in the data folder, or one that the command line named. A tournament runs on one
//! thread, so that searches of people keep their cores; one runs at a time, and only where the server is on loopback.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::SystemTime;

use agon_protocol::StopFlag;
use agon_tournament::{Plan, Progress, Sheet, Store, Tally, tallies};
use serde::Serialize;

use crate::config::Config;
use crate::error::ApiError;
use crate::library::Library;

/// Games of a tournament that is run from the page.
const MOST_GAMES: usize = 50;

/// All stores.
pub(crate) struct Host {
    folder: PathBuf,
    named: Vec<(String, PathBuf)>,
    runs: Mutex<BTreeMap<String, Arc<TournamentRun>>>,
}

/// A tournament that runs or has run.
struct TournamentRun {
    stop: StopFlag,
    state: Mutex<RunState>,
}

#[derive(Clone, Default)]
struct RunState {
    is_running: bool,
    progress: Option<ProgressView>,
    problem: Option<String>,
}

/// How far a tournament is.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct ProgressView {
    pub(crate) done: usize,
    pub(crate) total: usize,
}

/// A line of the list of stores.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoreSummary {
    pub(crate) id: String,
    pub(crate) n_matches: usize,
    pub(crate) is_running: bool,
}

/// A store with its tables.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoreView {
    pub(crate) id: String,
    pub(crate) n_matches: usize,
    pub(crate) is_running: bool,
    pub(crate) progress: Option<ProgressView>,
    pub(crate) problem: Option<String>,
    pub(crate) tables: Vec<TableView>,
}

/// A table: the cells of one game.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TableView {
    pub(crate) title: String,
    pub(crate) columns: Vec<&'static str>,
    pub(crate) rows: Vec<StoreRow>,
}

/// A cell of a tournament.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoreRow {
    pub(crate) game: String,
    pub(crate) first: String,
    pub(crate) second: String,
    pub(crate) budget: String,
    pub(crate) n_matches: usize,
    pub(crate) wins: usize,
    pub(crate) draws: usize,
    pub(crate) losses: usize,
    pub(crate) mean: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) elo: Option<f64>,
    pub(crate) elo_low: Option<f64>,
    pub(crate) elo_high: Option<f64>,
    pub(crate) verdict: Option<String>,
    pub(crate) n_faults: u32,
}

impl From<Tally> for StoreRow {
    fn from(tally: Tally) -> StoreRow {
        // Nothing is known without a score.
        let mean = tally.score.unwrap_or(50.0);
        let [low, high] = tally.interval.unwrap_or([0.0, 100.0]);
        let verdict = match () {
            () if low > 50.0 => Some(format!("{} is better", tally.first)),
            () if high < 50.0 => Some(format!("{} is better", tally.second)),
            () => None,
        };
        StoreRow {
            game: tally.game,
            first: tally.first,
            second: tally.second,
            budget: tally.budget.to_string(),
            n_matches: tally.matches,
            wins: tally.wins,
            draws: tally.draws,
            losses: tally.losses,
            mean,
            low,
            high,
            elo: tally.elo,
            elo_low: tally.elo_interval[0],
            elo_high: tally.elo_interval[1],
            verdict,
            n_faults: tally.faults.iter().sum(),
        }
    }
}

/// Whether a text is a name of a store: letters, digits, `-` and `_`, so that it is safe in the name of a file.
fn is_name(text: &str) -> bool {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !text.is_empty() && text.len() <= 40 && text.chars().all(is_fine)
}

fn missing(id: &str) -> ApiError {
    ApiError::missing("no-such-store", format!("there is no store called `{id}`"))
}

impl Host {
    /// The stores of the data folder and those of the command line.
    pub(crate) fn open(config: &Config) -> io::Result<Host> {
        let folder = config.data.join("stores");
        fs::create_dir_all(&folder)?;
        let name = |path: &PathBuf| {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let name: String = stem
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
                .take(40)
                .collect();
            (name, path.clone())
        };
        Ok(Host {
            folder,
            named: config.stores.iter().map(name).collect(),
            runs: Mutex::default(),
        })
    }

    fn runs(&self) -> MutexGuard<'_, BTreeMap<String, Arc<TournamentRun>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, id: &str) -> Option<PathBuf> {
        let named = self.named.iter().find(|(name, _)| name == id);
        if let Some((_, path)) = named {
            return Some(path.clone());
        }
        let path = self.folder.join(format!("{id}.sqlite"));
        (is_name(id) && path.is_file()).then_some(path)
    }

    fn ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.named.iter().map(|(name, _)| name.clone()).collect();
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let own = entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let id = name.strip_suffix(".sqlite")?;
            is_name(id).then(|| id.to_owned())
        });
        ids.extend(own);
        ids.sort();
        ids.dedup();
        ids
    }

    fn state(&self, id: &str) -> RunState {
        let run = self.runs().get(id).cloned();
        let state = run.map(|run| {
            run.state
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone()
        });
        state.unwrap_or_default()
    }

    /// The list of stores.
    pub(crate) fn stores(&self) -> Vec<StoreSummary> {
        let summary = |id: String| {
            let store = Store::open_existing(&self.path(&id)?).ok()?;
            Some(StoreSummary {
                n_matches: store.n_matches().unwrap_or(0),
                is_running: self.state(&id).is_running,
                id,
            })
        };
        self.ids().into_iter().filter_map(summary).collect()
    }

    /// A store with its tables.
    pub(crate) fn view(&self, id: &str) -> Result<StoreView, ApiError> {
        let path = self.path(id).ok_or_else(|| missing(id))?;
        let fault = |error: agon_tournament::StoreError| ApiError::internal(error.to_string());
        let store = Store::open_existing(&path).map_err(fault)?;
        let results = store.results().map_err(fault)?;
        let state = self.state(id);
        let mut tables: Vec<TableView> = Vec::new();
        for tally in tallies(&results) {
            let row = StoreRow::from(tally);
            match tables.iter_mut().find(|table| table.title == row.game) {
                Some(table) => table.rows.push(row),
                None => tables.push(TableView {
                    title: row.game.clone(),
                    columns: vec!["first", "second", "budget", "matches", "score", "Elo"],
                    rows: vec![row],
                }),
            }
        }
        Ok(StoreView {
            id: id.to_owned(),
            n_matches: results.len(),
            is_running: state.is_running,
            progress: state.progress,
            problem: state.problem,
            tables,
        })
    }

    /// When a store was changed last, and whether it runs.
    pub(crate) fn stamp(&self, id: &str) -> Option<(SystemTime, bool)> {
        let path = self.path(id)?;
        let wal = PathBuf::from(format!("{}-wal", path.display()));
        let time = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
        let latest = time(&path).max(time(&wal))?;
        Some((latest, self.state(id).is_running))
    }

    /// Runs a tournament file in the background.
    pub(crate) fn start(
        &self,
        name: &str,
        text: &str,
        library: &Library,
        check_url: &dyn Fn(&str) -> Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        if !is_name(name) {
            return Err(ApiError::bad(
                "a name has letters, digits, - and _, at most 40",
            ));
        }
        let wrong = |error: agon_tournament::PlanError| ApiError::bad(error.to_string());
        let plan = Plan::read(text).map_err(wrong)?;
        for pair in plan.contestants().map_err(wrong)? {
            for entrant in [&pair.first, &pair.second] {
                entrant.address().map_or(Ok(()), check_url)?;
            }
        }
        plan.terms().map_err(wrong)?;
        if plan.games.len() > MOST_GAMES {
            return Err(ApiError::bad(format!(
                "a tournament has at most {MOST_GAMES} games here"
            )));
        }
        let mut sheets = Vec::new();
        for game in &plan.games {
            // Files of this machine are not for pages.
            let entry = library.find(game)?;
            sheets.push(Arc::new(Sheet::new(game, Arc::clone(&entry.game))));
        }
        let cells = plan.cells(&sheets).map_err(wrong)?;
        let path = self
            .path(name)
            .unwrap_or_else(|| self.folder.join(format!("{name}.sqlite")));
        let mut store =
            Store::open(&path).map_err(|error| ApiError::internal(error.to_string()))?;
        let mut runs = self.runs();
        let is_running = |run: &Arc<TournamentRun>| {
            run.state
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .is_running
        };
        if runs.values().any(is_running) {
            return Err(ApiError::not_now("a tournament is running; stop it first"));
        }
        let run = Arc::new(TournamentRun {
            stop: StopFlag::new(),
            state: Mutex::new(RunState {
                is_running: true,
                ..RunState::default()
            }),
        });
        runs.insert(name.to_owned(), Arc::clone(&run));
        drop(runs);
        let thread = thread::Builder::new().name("tournament".to_owned());
        let started = thread.spawn(move || {
            let watch = &mut |progress: &Progress<'_>| {
                run.state
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .progress = Some(ProgressView {
                    done: progress.n_done,
                    total: progress.n_wanted,
                });
            };
            let outcome = agon_tournament::run(&cells, &mut store, 1, &run.stop, watch);
            let mut state = run.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.is_running = false;
            state.problem = match outcome {
                Err(error) => Some(error.to_string()),
                Ok(outcome) => {
                    let absent = outcome.absent.first();
                    let failed = outcome.failures.first();
                    absent
                        .map(|absent| format!("{}: {}", absent.player, absent.cause))
                        .or_else(|| failed.map(|failure| failure.reason.clone()))
                }
            };
        });
        started
            .map(|_| ())
            .map_err(|error| ApiError::internal(error.to_string()))
    }

    /// Stops all tournaments.
    pub(crate) fn stop_all(&self) {
        self.runs().values().for_each(|run| run.stop.raise());
    }

    /// Stops a tournament.
    pub(crate) fn stop(&self, id: &str) -> Result<(), ApiError> {
        let run = self.runs().get(id).cloned().ok_or_else(|| missing(id))?;
        run.stop.raise();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_stores_are_safe() {
        assert!(is_name("mine") && is_name("a-b_C9"));
        for name in [
            "",
            "..",
            "a/b",
            "a\\b",
            "a.sqlite",
            "%2e%2e",
            &"x".repeat(41),
        ] {
            assert!(!is_name(name), "{name}");
        }
    }
}
