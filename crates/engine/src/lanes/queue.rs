//! Playouts that wait for their turn in a block, in order, with the states that they start from.

use super::job::Ticket;

/// See the module comment.
pub(super) struct Queue {
    entries: Vec<Entry>,
    /// The states of all entries, one after the other.
    states: Vec<u64>,
    /// Entries before this one have had their turn.
    head: usize,
    /// The number of the first entry; no two entries of a block have the same.
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
        // Most states are small, and calling somebody to copy them would take longer than copying.
        match *state {
            [word] => self.states.push(word),
            [first, second] => self.states.extend([first, second]),
            [first, second, third] => self.states.extend([first, second, third]),
            _ => self.states.extend_from_slice(state),
        }
        self.entries.push(entry);
    }

    /// Forgets entries that have had their turn.
    #[cold]
    fn forget(&mut self) {
        self.entries.drain(..self.head);
        self.states.drain(..self.head * self.n_state_words);
        self.first_serial += self.head as u64;
        self.head = 0;
    }

    /// Whether nobody waits.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of entries.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.entries.len() - self.head
    }

    /// The entry whose turn it is.
    #[inline]
    pub(super) fn front(&self) -> Option<&Entry> {
        self.entries.get(self.head)
    }

    /// The number of that entry in all times.
    #[inline]
    pub(super) fn front_serial(&self) -> u64 {
        self.first_serial + self.head as u64
    }

    /// The number of that entry's state.
    #[inline]
    pub(super) fn front_state(&self) -> u32 {
        self.head as u32
    }

    /// Entries of one playout at the front, at most so many.
    #[inline]
    pub(super) fn singles(&self, n_most: usize) -> impl Iterator<Item = &Entry> {
        let entries = self.entries[self.head..].iter().take(n_most);
        entries.take_while(|entry| entry.n_left == 1)
    }

    /// So many entries at the front get their turn. Their states can be read until the next one is pushed.
    #[inline]
    pub(super) fn skip(&mut self, n_entries: usize) {
        self.head += n_entries;
    }

    /// So many playouts of the front entry get their turn. Its state can be read until the next one is pushed.
    #[inline]
    pub(super) fn take(&mut self, n_playouts: u32) {
        let entry = &mut self.entries[self.head];
        entry.n_left -= n_playouts;
        self.head += usize::from(entry.n_left == 0);
    }

    /// All states, by number.
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
