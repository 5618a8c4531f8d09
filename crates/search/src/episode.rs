//! The features of the states of a simulation, as they change from one state to the next.
//!
//! In: the words of states. Out: what FAST learns from.

/// No feature.
pub(crate) const NONE: u32 = u32::MAX;

/// Sees the features of states.
pub(crate) struct Eyes {
    /// Per word of a state: the fluents that are of interest.
    pub(crate) masks: Vec<u64>,
    /// Per fluent: its feature, or `NONE`.
    pub(crate) feature_of: Vec<u32>,
}

impl Eyes {
    /// A simulation begins in this state.
    pub(crate) fn begin(&self, episode: &mut Episode, words: &[u64]) {
        episode.n_states = 0;
        episode.changes.clear();
        episode.words.clear();
        episode.words.resize(words.len(), 0);
        self.see(episode, words);
    }

    /// It goes on to this state.
    #[inline]
    pub(crate) fn see(&self, episode: &mut Episode, words: &[u64]) {
        for (idx, &mask) in self.masks.iter().enumerate() {
            let mut changed = (words[idx] ^ episode.words[idx]) & mask;
            while changed != 0 {
                let bit = changed.trailing_zeros();
                changed &= changed - 1;
                episode.changes.push(Change {
                    state: episode.n_states,
                    feature: self.feature_of[idx * 64 + bit as usize],
                    by: if words[idx] >> bit & 1 == 1 {
                        1.0
                    } else {
                        -1.0
                    },
                });
            }
        }
        episode.words.copy_from_slice(words);
        episode.n_states += 1;
    }
}

/// How the features of a simulation changed.
#[derive(Clone, Default)]
pub(crate) struct Episode {
    /// The last state.
    words: Vec<u64>,
    pub(crate) n_states: u32,
    pub(crate) changes: Vec<Change>,
}

/// A feature changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    /// The number of the state.
    pub(crate) state: u32,
    pub(crate) feature: u32,
    pub(crate) by: f64,
}
