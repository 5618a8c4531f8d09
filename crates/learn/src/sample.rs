//! What is learned from: positions of self-play, and the window of the last ones.

use agon_engine::MoveId;
use agon_search::Random;

/// What a role should do: its moves with their chances.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Policy {
    pub(crate) role: u16,
    pub(crate) moves: Vec<MoveId>,
    pub(crate) chances: Vec<f32>,
}

/// A position of self-play.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Sample {
    pub(crate) words: Box<[u64]>,
    pub(crate) head: u16,
    /// Of roles with a choice.
    pub(crate) policies: Vec<Policy>,
    /// What the network should say.
    pub(crate) values: Vec<f32>,
}

/// The last samples.
#[derive(Default)]
pub(crate) struct Window {
    samples: Vec<Sample>,
    /// Where the next one goes once it is full.
    next: usize,
    /// All that were ever added.
    pub(crate) n_added: u64,
}

/// Fewest and most samples of the window; between them it is a share of all.
const FEWEST: usize = 8192;
const MOST: usize = 131_072;
const SHARE: u64 = 3;

impl Window {
    pub(crate) fn len(&self) -> usize {
        self.samples.len()
    }

    pub(crate) fn add(&mut self, sample: Sample) {
        self.n_added += 1;
        let room = ((self.n_added / SHARE) as usize).clamp(FEWEST, MOST);
        if self.samples.len() < room {
            self.samples.push(sample);
            return;
        }
        self.next %= self.samples.len();
        self.samples[self.next] = sample;
        self.next += 1;
    }

    /// One of them.
    pub(crate) fn draw(&self, random: &mut Random) -> &Sample {
        &self.samples[random.below(self.samples.len() as u32) as usize]
    }

    /// Forgets all of them.
    pub(crate) fn clear(&mut self) {
        self.samples.clear();
        self.next = 0;
    }
}
