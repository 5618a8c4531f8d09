//! The matches of a server, by ids that cannot be guessed.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use crate::playing::Playing;

/// Matches that are kept; beyond that the one that was not used for the longest time is forgotten.
pub(crate) const MOST_MATCHES: usize = 50;

/// The matches of a server.
#[derive(Default)]
pub(crate) struct MatchTable {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    matches: HashMap<String, (u64, Arc<Mutex<Playing>>)>,
    /// Counts uses.
    clock: u64,
}

impl MatchTable {
    /// Keeps a match and returns its id.
    pub(crate) fn add(&self, playing: Playing) -> Result<String, String> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(|error| format!("there is no randomness: {error}"))?;
        let mut id = String::new();
        for byte in bytes {
            let _ = write!(id, "{byte:02x}");
        }
        let mut inner = self.lock();
        if inner.matches.len() >= MOST_MATCHES {
            let oldest = inner.matches.iter().min_by_key(|(_, (used, _))| *used);
            if let Some(oldest) = oldest.map(|(id, _)| id.clone()) {
                inner.matches.remove(&oldest);
            }
        }
        inner.clock += 1;
        let used = inner.clock;
        inner
            .matches
            .insert(id.clone(), (used, Arc::new(Mutex::new(playing))));
        Ok(id)
    }

    /// The match of an id.
    pub(crate) fn get(&self, id: &str) -> Result<Arc<Mutex<Playing>>, String> {
        let mut inner = self.lock();
        inner.clock += 1;
        let now = inner.clock;
        let entry = inner.matches.get_mut(id);
        let entry = entry.ok_or("there is no match with this id; `start_match` begins one")?;
        entry.0 = now;
        Ok(Arc::clone(&entry.1))
    }

    /// Forgets a match; whether there was one.
    pub(crate) fn remove(&self, id: &str) -> bool {
        self.lock().matches.remove(id).is_some()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
