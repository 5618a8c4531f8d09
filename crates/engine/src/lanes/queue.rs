//! A queue of waiting playouts of a block, with their start states.

use super::job::Ticket;

/// The queue; see the module documentation.
pub(super) struct Queue {
    entries: Vec<Entry>,
    /// The states of all entries, concatenated.
    states: Vec<u64>,
    /// Entries before this one have been taken.
    head: usize,
    /// The serial number of the first entry, unique within a block.
    first_serial: u64,
    n_state_words: usize,
}

/// Playouts from one state.
pub(super) struct Entry {
    pub(super) ticket: Ticket,
    pub(super) n_left: u32,
}

impl Queue {
    pub(super) fn new(phase: usize, n_state_words: usize) -> Queue {
        Queue {
            entries: Vec::new(),
            states: Vec::new(),
            head: 0,
            first_serial: ((phase as u64) << 40) + 1,
            n_state_words,
        }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, entry: Entry, state: &[u64]) {
        if self.head > self.entries.len() / 2 {
            self.forget();
        }
        // Most states are small, and copying them inline is faster than a call.
        match *state {
            [word] => self.states.push(word),
            [first, second] => self.states.extend([first, second]),
            [first, second, third] => self.states.extend([first, second, third]),
            _ => self.states.extend_from_slice(state),
        }
        self.entries.push(entry);
    }

    /// Drops entries that have been taken.
    #[cold]
    fn forget(&mut self) {
        self.entries.drain(..self.head);
        self.states.drain(..self.head * self.n_state_words);
        self.first_serial += self.head as u64;
        self.head = 0;
    }

    /// Whether the queue is empty.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of entries.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.entries.len() - self.head
    }

    /// The first entry.
    #[inline]
    pub(super) fn front(&self) -> Option<&Entry> {
        self.entries.get(self.head)
    }

    /// The serial number of the first entry.
    #[inline]
    pub(super) fn front_serial(&self) -> u64 {
        self.first_serial + self.head as u64
    }

    /// The index of the first entry's state.
    #[inline]
    pub(super) fn front_state(&self) -> u32 {
        self.head as u32
    }

    /// Entries of one playout at the front, at most `max_entries`.
    #[inline]
    pub(super) fn singles(&self, max_entries: usize) -> impl Iterator<Item = &Entry> {
        let entries = self.entries[self.head..].iter().take(max_entries);
        entries.take_while(|entry| entry.n_left == 1)
    }

    /// Takes `n_entries` entries from the front. Their states can be read until the next push.
    #[inline]
    pub(super) fn skip(&mut self, n_entries: usize) {
        self.head += n_entries;
    }

    /// Takes `n_playouts` playouts of the first entry. Its state can be read until the next push.
    #[inline]
    pub(super) fn take(&mut self, n_playouts: u32) {
        let entry = &mut self.entries[self.head];
        entry.n_left -= n_playouts;
        self.head += usize::from(entry.n_left == 0);
    }

    /// All states, by index.
    pub(super) fn states(&self) -> &[u64] {
        &self.states
    }

    pub(super) fn clear(&mut self) {
        self.first_serial += self.entries.len() as u64;
        self.entries.clear();
        self.states.clear();
        self.head = 0;
    }
}
