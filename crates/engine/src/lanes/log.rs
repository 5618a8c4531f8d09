//! A log of rows per step, kept for as long as a running or undrained playout needs them.

/// Rows by step of the block.
pub(super) struct Log {
    words: Vec<u64>,
    /// The step of the first words.
    first: u64,
    /// Words per step.
    stride: usize,
    is_kept: bool,
}

impl Log {
    /// A log with `stride` words per step, if it is kept.
    pub(super) fn new(stride: usize, is_kept: bool) -> Log {
        Log {
            is_kept,
            words: Vec::new(),
            first: 0,
            stride,
        }
    }

    /// Whether anything is kept.
    #[inline]
    pub(super) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Appends the words of step `now`; steps in between were idle.
    pub(super) fn push(&mut self, now: u64, words: impl IntoIterator<Item = u64>) {
        if self.stride == 0 || !self.is_kept {
            return;
        }
        if self.words.is_empty() {
            self.first = now;
        }
        let start = (now - self.first) as usize * self.stride;
        self.words.resize(start, 0);
        self.words.extend(words);
        self.words.resize(start + self.stride, 0);
    }

    /// The same with contiguous words.
    pub(super) fn push_all(&mut self, now: u64, words: &[u64]) {
        if self.words.len() == (now - self.first) as usize * self.stride
            && words.len() == self.stride
            && self.is_kept
        {
            self.words.extend_from_slice(words);
            return;
        }
        self.push(now, words.iter().copied());
    }

    /// The first step that is kept.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// The step after the last one that is kept.
    pub(super) fn end(&self) -> u64 {
        self.first + (self.words.len() / self.stride.max(1)) as u64
    }

    /// The words of a step.
    pub(super) fn step(&self, step: u64) -> &[u64] {
        let start = (step - self.first) as usize * self.stride;
        &self.words[start..start + self.stride]
    }

    /// Drops steps before this one, if there are enough of them to be worth it.
    pub(super) fn forget_before(&mut self, step: u64) {
        if self.stride == 0 || !self.is_kept {
            return;
        }
        let n_steps = self.words.len() / self.stride;
        let n_old = (step.saturating_sub(self.first) as usize).min(n_steps);
        if n_old * 2 >= n_steps {
            self.words.drain(..n_old * self.stride);
            self.first += n_old as u64;
        }
    }
}
