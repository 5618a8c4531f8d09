//! Sums of playouts, computed as they end, where individual results are not needed.
//!
//! Goals are counted in all lanes of a block at once, so that a playout costs little more than its steps: in small
//! games, individual records would take longer than the games.

use rustc_hash::FxHashMap;

use super::block::bits;
use super::program::{GoalRow, Goals};
use crate::state::{Goal, RoleId};

/// Sums over the finished playouts of one tag.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sums {
    /// Number of playouts.
    pub n_playouts: u64,
    /// Total number of joint moves.
    pub n_steps: u64,
    /// Number of playouts that were cut, as the job requested.
    pub n_cut: u64,
    /// Number of playouts that reached the step limit.
    pub n_step_limit: u64,
    /// Number of playouts that reached a state in which a role has no legal move.
    pub n_no_legal_move: u64,
    /// Per role: its goals.
    pub goals: Vec<GoalSum>,
}

/// Goals of one role.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GoalSum {
    /// The sum of the goals.
    pub sum: u64,
    /// Number of playouts in which exactly one goal held.
    pub n: u64,
}

impl Sums {
    /// The mean goal of a role.
    #[must_use]
    pub fn mean(&self, role: RoleId) -> Option<f64> {
        let GoalSum { sum, n } = self.goals[role.idx()];
        (n > 0).then(|| sum as f64 / n as f64)
    }

    pub(super) fn add(&mut self, other: &Sums) {
        self.n_playouts += other.n_playouts;
        self.n_steps += other.n_steps;
        self.n_cut += other.n_cut;
        self.n_step_limit += other.n_step_limit;
        self.n_no_legal_move += other.n_no_legal_move;
        self.goals.resize(other.goals.len(), GoalSum::default());
        for (to, goal) in self.goals.iter_mut().zip(&other.goals) {
            to.sum += goal.sum;
            to.n += goal.n;
        }
    }

    /// Adds the goals of some lanes.
    #[inline(always)]
    pub(super) fn add_goals(&mut self, from: &GoalsOfBlock<'_>, lanes: u64) {
        for (rows, to) in from.goals.roles.iter().zip(&mut self.goals) {
            let holds = |goal: &GoalRow| from.word(goal) & lanes;
            let (mut once, mut twice) = (0, 0);
            for goal in rows {
                twice |= once & holds(goal);
                once |= holds(goal);
            }
            let (mut sum, mut n) = (0, 0);
            for goal in rows {
                if let Some(value) = goal.value {
                    let n_worth_it = u64::from((holds(goal) & !twice).count_ones());
                    sum += n_worth_it * u64::from(value.value());
                    n += n_worth_it;
                }
            }
            to.sum += sum;
            to.n += n;
        }
    }

    /// Adds `n` playouts with the same goal for every role.
    pub(super) fn add_constant(&mut self, goal: Goal, n: u64) {
        for to in &mut self.goals {
            to.sum += n * u64::from(goal.value());
            to.n += n;
        }
    }
}

/// Rows of goals, `n_words` wide; the block is word `idx` of each row.
pub(super) struct GoalsOfBlock<'a> {
    pub(super) goals: &'a Goals,
    pub(super) words: &'a [u64],
    pub(super) n_words: usize,
    pub(super) idx: usize,
}

impl GoalsOfBlock<'_> {
    fn word(&self, goal: &GoalRow) -> u64 {
        self.words[goal.row as usize * self.n_words + self.idx]
    }
}

/// The sums of a block, by tag.
pub(super) struct Ledger {
    n_roles: usize,
    pages: Vec<(u64, Sums)>,
    by_tag: FxHashMap<u64, u32>,
    pub(super) n_ended: usize,
}

impl Ledger {
    pub(super) fn new(n_roles: usize) -> Ledger {
        Ledger {
            n_roles,
            pages: Vec::new(),
            by_tag: FxHashMap::default(),
            n_ended: 0,
        }
    }

    /// The page of a tag.
    #[inline(always)]
    pub(super) fn page_of(&mut self, tag: u64) -> u32 {
        // Usually there is only one.
        if let [(only, _)] = self.pages.as_slice()
            && *only == tag
        {
            return 0;
        }
        self.any_page_of(tag)
    }

    #[cold]
    fn any_page_of(&mut self, tag: u64) -> u32 {
        let (pages, n_roles) = (&mut self.pages, self.n_roles);
        *self.by_tag.entry(tag).or_insert_with(|| {
            let sums = Sums {
                goals: vec![GoalSum::default(); n_roles],
                ..Sums::default()
            };
            pages.push((tag, sums));
            pages.len() as u32 - 1
        })
    }

    #[inline(always)]
    pub(super) fn page(&mut self, page: u32) -> &mut Sums {
        &mut self.pages[page as usize].1
    }

    /// Adds the goals of playouts that were counted before; `pages` has the page of each lane's playout.
    pub(super) fn add_goals(&mut self, from: &GoalsOfBlock<'_>, lanes: u64, pages: &[u32; 64]) {
        let Some(first) = bits(lanes).next() else {
            return;
        };
        if bits(lanes).all(|lane| pages[lane] == pages[first]) {
            self.page(pages[first]).add_goals(from, lanes);
            return;
        }
        for lane in bits(lanes) {
            self.page(pages[lane]).add_goals(from, 1 << lane);
        }
    }

    /// All sums with their tags.
    pub(super) fn pages(&self) -> &[(u64, Sums)] {
        &self.pages
    }

    pub(super) fn clear(&mut self) {
        self.pages.clear();
        self.by_tag.clear();
        self.n_ended = 0;
    }
}
