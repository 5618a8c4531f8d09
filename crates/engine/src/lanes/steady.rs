//! Playouts of one job in all lanes of a group, started and summed without looking at single lanes.
//!
//! A group is *steady* while all its lanes play one job (or several with one tag), of which enough is left for all of
//! them to start again, no playout can reach its limit, and playouts are only summed. Then every lane that ends starts
//! again as soon as the phase allows. These lanes are counted, and logged as one row; blocks get the sums when a run
//! ends ([`Steady::tally`]), and the starts of playouts when the group stops being steady ([`Steady::settle`]). In small
//! games, playouts end so often that looking at blocks or lanes in every step would take longer than playing.
//!
//! The steps of the playouts that end are the steps that all lanes make, plus the ages of the playouts that run before,
//! minus the ages of those that run afterwards.

#![expect(unsafe_code, reason = "rows are read and written by pointer")]

use super::block::{Block, STEADY_PLAYOUTS, bits};
use super::program::{Goals, LanesProgram, Phase};
use super::vector::{Rows, Vector, get, put};

/// Number of times that lanes may start before the blocks are brought up to date.
const MANY_STARTS: usize = 64;

/// See the module documentation.
pub(super) struct Steady {
    /// The tag of the playouts; `None` if the group is not steady.
    tag: Option<u64>,
    /// The phase of the job's state.
    phase: usize,
    /// The first step in which a playout may reach its limit.
    deadline: u64,
    /// Number of times that lanes may still start.
    n_starts_left: usize,
    /// The steps in which lanes started, and a row with these lanes for each; how many of them the blocks know of.
    starts: Vec<u64>,
    started: Rows,
    n_known: usize,
    /// Number of lanes that play.
    n_active: u64,
    // Since the last tally.
    /// The steps that lanes have made, and the ages of playouts that ran before.
    n_steps: u64,
    /// Playouts that ended; per phase, those for which each distinct goal held.
    n_ended: u64,
    n_holding: Vec<Vec<u64>>,
}

impl Steady {
    pub(super) fn new(phases: &[Phase], n_words: usize) -> Steady {
        let counts = |phase: &Phase| vec![0; phase.goals.distinct.len()];
        Steady {
            tag: None,
            phase: 0,
            deadline: 0,
            n_starts_left: 0,
            starts: Vec::with_capacity(MANY_STARTS),
            started: Rows::new(MANY_STARTS, n_words),
            n_known: 0,
            n_active: 0,
            n_steps: 0,
            n_ended: 0,
            n_holding: phases.iter().map(counts).collect(),
        }
    }

    /// The tag of all playouts, if the group is steady.
    #[inline(always)]
    pub(super) fn tag(&self) -> Option<u64> {
        self.tag
    }

    /// Becomes steady in step `now`, in which all lanes are active, if the blocks allow it.
    #[inline(always)]
    pub(super) fn begin(&mut self, blocks: &[Block], phase: usize, now: u64) {
        let Some((tag, _)) = blocks[0].steady_job(phase) else {
            return;
        };
        (self.tag, self.phase) = (Some(tag), phase);
        if !self.resume(blocks) || now >= self.deadline {
            self.tag = None;
            return;
        }
        self.n_active = blocks.len() as u64 * 64;
        self.n_steps = blocks.iter().map(|block| block.ages(u64::MAX, now)).sum();
    }

    /// Finds out how long the blocks allow the group to stay steady; returns whether they do.
    #[inline(always)]
    pub(super) fn resume(&mut self, blocks: &[Block]) -> bool {
        let mut n_left = u32::MAX;
        self.deadline = u64::MAX;
        for block in blocks {
            match block.steady_job(self.phase) {
                Some((tag, n_left_here)) if Some(tag) == self.tag => {
                    n_left = n_left.min(n_left_here);
                }
                _ => return false,
            }
            self.deadline = self.deadline.min(block.deadline());
        }
        // A start takes at most one playout per lane, and the last one needs enough of the job, too.
        let n_starts = (n_left as usize + 64).saturating_sub(STEADY_PLAYOUTS as usize) / 64;
        self.n_starts_left = n_starts.min(MANY_STARTS - self.starts.len());
        self.n_starts_left > 0
    }

    /// Forgets all playouts: none is running.
    pub(super) fn clear(&mut self) {
        self.tag = None;
        self.starts.clear();
        self.n_known = 0;
    }

    /// Starts playouts in the free lanes, if this is the phase of the job; returns these lanes. The group is steady.
    #[inline(always)]
    pub(super) fn start<V: Vector>(&mut self, free: V, phase: usize, now: u64) -> V {
        if phase != self.phase || free.is_zero() {
            return V::splat(false);
        }
        // SAFETY: there is a row for each start.
        unsafe { put(self.started.pointer(), self.starts.len(), free) };
        self.starts.push(now);
        self.n_starts_left -= 1;
        self.n_active = V::N_WORDS as u64 * 64;
        free
    }

    /// Whether blocks must be brought up to date before lanes can start again.
    #[inline(always)]
    pub(super) fn is_exhausted(&self) -> bool {
        self.tag.is_some() && self.n_starts_left == 0
    }

    /// Adds up the playouts that end before they make the moves of step `now`; returns whether it did. It does not if
    /// the group is not steady, a playout may have reached its limit, or several goals of a role hold.
    ///
    /// # Safety
    /// The rows are those of the group, and the CPU supports `V`.
    #[inline(always)]
    pub(super) unsafe fn add_up<V: Vector>(
        &mut self,
        goals: &Goals,
        phase: usize,
        rows: *const u64,
        ending: V,
        now: u64,
    ) -> bool {
        if self.tag.is_none() || now >= self.deadline {
            return false;
        }
        if !ending.is_zero() {
            // SAFETY: guaranteed by the caller.
            if goals.side.is_none() && !unsafe { self.count_goals(goals, phase, rows, ending) } {
                return false;
            }
            let n_ending = u64::from(ending.count_ones());
            self.n_ended += n_ending;
            self.n_active -= n_ending;
        }
        self.n_steps += self.n_active;
        true
    }

    #[inline(always)]
    unsafe fn count_goals<V: Vector>(
        &mut self,
        goals: &Goals,
        phase: usize,
        rows: *const u64,
        ending: V,
    ) -> bool {
        // SAFETY: guaranteed by the caller.
        unsafe {
            for &role in &goals.different {
                let (mut once, mut twice) = (V::splat(false), V::splat(false));
                for goal in &goals.roles[role] {
                    let holds: V = get(rows, goal.row as usize);
                    twice = twice.or(once.and(holds));
                    once = once.or(holds);
                }
                if !twice.and(ending).is_zero() {
                    return false;
                }
            }
            for (&row, n) in goals.distinct.iter().zip(&mut self.n_holding[phase]) {
                *n += u64::from(get::<V>(rows, row as usize).and(ending).count_ones());
            }
        }
        true
    }

    /// Adds what has ended before step `now` to the sums of the first block, and takes what has started from the queues.
    ///
    /// # Safety
    /// `active` points to the active lanes, a vector, and the CPU supports `V`.
    #[inline(always)]
    pub(super) unsafe fn tally<V: Vector>(
        &mut self,
        program: &LanesProgram,
        blocks: &mut [Block],
        active: *const u64,
        now: u64,
    ) {
        let Some(tag) = self.tag else {
            return;
        };
        // Step 1. What has started, and how long the running playouts last.
        for (idx, block) in blocks.iter_mut().enumerate() {
            let starts = self.n_known..self.starts.len();
            let lanes = starts.map(|start| self.started.words()[start * V::N_WORDS + idx]);
            block.take(self.phase, lanes.map(u64::count_ones).sum());
        }
        // SAFETY: guaranteed by the caller; no vector has more than eight words.
        let (mut ages, others) = unsafe {
            let active: V = get(active, 0);
            let (ages, logged) = self.keep_latest_starts::<V>(active, now);
            let mut others = [0; 8];
            active.and_not(logged).store_unaligned(others.as_mut_ptr());
            (ages, others)
        };
        for (block, lanes) in blocks.iter().zip(others) {
            ages += block.ages(lanes, now);
        }
        // Step 2. The sums.
        let ledger = &mut blocks[0].ledger;
        ledger.n_ended += self.n_ended as usize;
        let page = ledger.page_of(tag);
        let sums = ledger.page(page);
        sums.n_playouts += self.n_ended;
        sums.n_steps += self.n_steps - ages;
        (self.n_steps, self.n_ended) = (ages, 0);
        for (phase, counts) in program.phases.iter().zip(&mut self.n_holding) {
            for (role_goals, to) in phase.goals.roles.iter().zip(&mut sums.goals) {
                for goal in role_goals {
                    if let Some(value) = goal.value {
                        to.sum += counts[goal.place] * u64::from(value.value());
                        to.n += counts[goal.place];
                    }
                }
            }
            counts.fill(0);
        }
    }

    /// Drops all starts but the latest of each lane. Returns the number of steps that active lanes among these have made
    /// since, and all lanes with a start.
    #[inline(always)]
    unsafe fn keep_latest_starts<V: Vector>(&mut self, active: V, now: u64) -> (u64, V) {
        let rows = self.started.pointer();
        let (mut ages, mut later) = (0, V::splat(false));
        let mut n_kept = 0;
        // SAFETY: there is a row for each start.
        unsafe {
            for (start, &step) in self.starts.iter().enumerate().rev() {
                let latest = get::<V>(rows, start).and_not(later);
                put(rows, start, latest);
                later = later.or(latest);
                ages += u64::from(latest.and(active).count_ones()) * (now - step);
            }
            for start in 0..self.starts.len() {
                let latest: V = get(rows, start);
                if !latest.is_zero() {
                    put(rows, n_kept, latest);
                    self.starts[n_kept] = self.starts[start];
                    n_kept += 1;
                }
            }
        }
        self.starts.truncate(n_kept);
        self.n_known = n_kept;
        (ages, later)
    }

    /// Lets the blocks know when the running playouts started; the group is no longer steady. The sums are up to date.
    #[inline(always)]
    pub(super) fn settle(&mut self, blocks: &mut [Block]) {
        let n_words = blocks.len();
        for (start, &step) in self.starts.iter().enumerate() {
            for (idx, block) in blocks.iter_mut().enumerate() {
                for lane in bits(self.started.words()[start * n_words + idx]) {
                    block.set_start(lane, step);
                }
            }
        }
        self.clear();
    }
}
