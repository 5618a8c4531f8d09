//! Matches on the disk, so that they go on after a restart: one JSON file per match in the data folder.
//!
//! A file is written beside its place and then renamed, so that it is whole at any time. Ids have a fixed form, so that no
//! name of a file can lead elsewhere.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_arena::ThoughtRecord;
use serde::{Deserialize, Serialize};

use crate::ending::EndingView;
use crate::error::ApiError;
use crate::ids::is_id;
use crate::library::{Entry, Library, Role, Upload};
use crate::play::{Inner, Match, MatchSetup, Plan, SeatSetup, Step};
use crate::view::MadeMove;

/// Files that are kept; the oldest are removed.
const MOST_FILES: usize = 5_000;

/// The folder of matches.
pub(crate) struct Shelf {
    folder: PathBuf,
}

/// A match as it is written.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Saved {
    version: u32,
    id: String,
    owner: String,
    tokens: Vec<Option<String>>,
    setup: MatchSetup,
    seed: u64,
    started: u64,
    title: String,
    roles: Vec<Role>,
    rules: String,
    metadata: Option<String>,
    is_built_in: bool,
    moves: Vec<Vec<String>>,
    times: Vec<u64>,
    errors: Vec<Vec<String>>,
    thoughts: Vec<Vec<Option<ThoughtRecord>>>,
    ending: Option<EndingView>,
    resigned: Option<usize>,
}

/// A line of the list of matches.
#[derive(Clone, Debug)]
pub(crate) struct SavedRow {
    pub(crate) id: String,
    pub(crate) game: String,
    pub(crate) title: String,
    pub(crate) players: Vec<String>,
    pub(crate) roles: Vec<Role>,
    pub(crate) n_steps: usize,
    pub(crate) goals: Option<Vec<Option<u8>>>,
    pub(crate) is_over: bool,
    pub(crate) is_public: bool,
    pub(crate) started: u64,
}

/// The form of the files.
const VERSION: u32 = 1;

impl Shelf {
    /// The matches of a data folder.
    pub(crate) fn open(data: &Path) -> io::Result<Shelf> {
        let folder = data.join("matches");
        fs::create_dir_all(&folder)?;
        Ok(Shelf { folder })
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    /// Writes a match. A disk that is full must not end the match, so that nothing is returned.
    pub(crate) fn save(&self, of_match: &Match, inner: &Inner) {
        let entry = &of_match.entry;
        let steps = inner.steps.iter();
        let saved = Saved {
            version: VERSION,
            id: of_match.id.clone(),
            owner: of_match.owner.clone(),
            tokens: of_match.tokens.clone(),
            setup: MatchSetup {
                moves: Vec::new(),
                is_paused: inner.is_paused,
                pace: inner.pace,
                ..of_match.setup.clone()
            },
            seed: of_match.seed,
            started: of_match.started,
            title: entry.summary.title.clone(),
            roles: entry.summary.roles.clone(),
            rules: entry.text.clone(),
            metadata: entry.metadata.clone(),
            is_built_in: !entry.id().starts_with("u-"),
            moves: steps.clone().map(|step| entry.texts(&step.joint)).collect(),
            times: steps.clone().map(|step| step.at).collect(),
            errors: steps.clone().map(|step| step.errors.clone()).collect(),
            thoughts: steps.map(|step| step.thoughts.clone()).collect(),
            ending: inner.ending.clone(),
            resigned: inner.resigned,
        };
        let path = self.path(&of_match.id);
        let beside = path.with_extension("new");
        let written = serde_json::to_vec(&saved)
            .map_err(io::Error::other)
            .and_then(|bytes| fs::write(&beside, bytes))
            .and_then(|()| fs::rename(&beside, &path));
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        }
    }

    fn read(&self, id: &str) -> Option<Saved> {
        if !is_id(id) {
            return None;
        }
        let bytes = fs::read(self.path(id)).ok()?;
        let saved: Saved = serde_json::from_slice(&bytes).ok()?;
        (saved.version == VERSION && saved.id == id).then_some(saved)
    }

    /// Removes a match.
    pub(crate) fn remove(&self, id: &str) {
        if is_id(id) {
            let _ = fs::remove_file(self.path(id));
        }
    }

    /// A match from the disk, ready to go on.
    pub(crate) fn load(&self, id: &str, library: &Library) -> Result<Plan, ApiError> {
        let missing = || ApiError::missing("no-such-match", "there is no match with this id");
        let saved = self.read(id).ok_or_else(missing)?;
        let entry = entry(&saved, library)?;
        let line = entry.follow(&saved.moves)?;
        let made = line.made(&entry);
        let nothing = vec![String::new(); entry.game.n_roles()];
        let step = |(idx, made): (usize, Vec<MadeMove>)| Step {
            joint: line.joints[idx].clone(),
            made,
            errors: saved
                .errors
                .get(idx)
                .cloned()
                .unwrap_or_else(|| nothing.clone()),
            thoughts: saved.thoughts.get(idx).cloned().unwrap_or_default(),
            at: saved.times.get(idx).copied().unwrap_or(saved.started),
        };
        let steps = made.into_iter().enumerate().map(step).collect();
        Ok(Plan {
            id: saved.id,
            owner: saved.owner,
            tokens: saved.tokens,
            setup: MatchSetup {
                game: entry.id().to_owned(),
                ..saved.setup
            },
            entry,
            seed: saved.seed,
            started: saved.started,
            steps,
            states: line.states,
            ending: saved.ending,
            resigned: saved.resigned,
        })
    }

    /// All matches, newest first.
    pub(crate) fn rows(&self, most: usize) -> Vec<SavedRow> {
        let row = |id: String| {
            let saved = self.read(&id)?;
            Some(SavedRow {
                id,
                game: saved.setup.game,
                title: saved.title,
                players: saved.setup.seats.iter().map(SeatSetup::name).collect(),
                roles: saved.roles,
                n_steps: saved.moves.len(),
                goals: saved
                    .ending
                    .as_ref()
                    .and_then(|ending| ending.goals.clone()),
                is_over: saved.ending.is_some(),
                is_public: saved.setup.is_public,
                started: saved.started,
            })
        };
        let mut rows: Vec<SavedRow> = self
            .newest()
            .into_iter()
            .take(most)
            .filter_map(row)
            .collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.started));
        rows
    }

    /// The ids of all files, the one that was written last first.
    fn newest(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut found: Vec<_> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let id = name.strip_suffix(".json")?;
                let modified = entry.metadata().and_then(|data| data.modified()).ok()?;
                is_id(id).then(|| (std::cmp::Reverse(modified), id.to_owned()))
            })
            .collect();
        found.sort();
        found.into_iter().map(|(_, id)| id).collect()
    }

    /// Removes the oldest files beyond the number that is kept.
    pub(crate) fn tidy(&self) {
        for id in self.newest().into_iter().skip(MOST_FILES) {
            self.remove(&id);
        }
    }
}

fn entry(saved: &Saved, library: &Library) -> Result<Arc<Entry>, ApiError> {
    if saved.is_built_in {
        let entry = library.find(&saved.setup.game)?;
        if entry.text == saved.rules {
            return Ok(entry);
        }
    }
    // A new version may have other rules for a built-in game.
    library.upload(&Upload {
        name: Some(saved.title.clone()),
        rules: saved.rules.clone(),
        metadata: saved.metadata.clone(),
    })
}
