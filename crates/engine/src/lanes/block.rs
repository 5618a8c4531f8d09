//! A block of 64 lanes: its jobs, its running playouts, and its finished playouts.
//!
//! A block depends only on its own jobs and its own random generator, so that playouts are the same however many blocks
//! are evaluated at once.
//!
//! Start states wait in a *stage*: rows like those of the state, with the next start state of each lane. Lanes that
//! finish in a step are refilled by one blend over all rows. When a lane finds its slot on the stage empty, all empty
//! slots are filled at once, by transposing the states of the next jobs. A state with many playouts stays on the stage.

use super::job::{AtLimit, CutScore, Ending, Job, Record, Ticket};
use super::program::LanesProgram;
use super::queue::{Entry, Queue};
use super::sums::{GoalsOfBlock, Ledger};
use super::transpose::states_to_rows;
use super::vector::Vector;
use crate::state::RoleId;

/// No goal, or more than one.
pub(super) const NO_GOAL: u8 = u8::MAX;

/// Number of lanes that must wait for a start state before the stage is filled. Transposing takes as long for one state
/// as for all, and lanes that idle for a few steps cost little: with four waiting lanes, about twice as many states are
/// transposed at once as with one.
const MANY_WAIT: u32 = 4;

/// Number of waiting playouts of a job with which all lanes can start again and the stage can be filled.
pub(super) const STEADY_PLAYOUTS: u32 = 129;

/// A block; see the module documentation.
pub(super) struct Block {
    /// The playout of each lane.
    tickets: [Ticket; 64],
    /// The steps in which the playouts started (low 32 bits).
    starts: [u32; 64],
    /// The queue entry that lanes were last refilled from, and the lanes with its ticket.
    latest: (u64, u64),
    /// The first step in which some playout may reach its limit.
    deadline: u64,
    /// Jobs by phase, and the stage of each phase.
    queues: Vec<Queue>,
    stages: Vec<Stage>,
    /// Number of playouts in the queues.
    n_queued: u64,
    /// Finished playouts, their goals by role, and their last states if these are kept.
    pub(super) records: Vec<Record>,
    pub(super) goals: Vec<u8>,
    pub(super) states: Vec<u64>,
    /// Sums of finished playouts, where individual results are not needed.
    pub(super) ledger: Ledger,
    /// Per lane, the record of the playout that finished last, or its page in the ledger if playouts are summed.
    pub(super) last_records: [u32; 64],
}

struct Stage {
    /// Slots that are filled.
    valid: u64,
    tickets: [Ticket; 64],
    /// Slots, filled or not, that contain the state of the entry with this number.
    filled: (u64, u64),
}

/// The rows of a stage, `n_words` wide; the block is word `idx` of each row.
pub(super) struct StageRows<'a> {
    pub(super) words: &'a mut [u64],
    pub(super) n_words: usize,
    pub(super) idx: usize,
}

impl Block {
    pub(super) fn new(program: &LanesProgram) -> Block {
        let stage = |_| Stage {
            valid: 0,
            tickets: [Ticket::NONE; 64],
            filled: (0, 0),
        };
        Block {
            tickets: [Ticket::NONE; 64],
            starts: [0; 64],
            latest: (0, 0),
            deadline: u64::MAX,
            queues: (0..program.phases.len())
                .map(|phase| Queue::new(phase, program.n_state_words))
                .collect(),
            stages: (0..program.phases.len()).map(stage).collect(),
            n_queued: 0,
            records: Vec::new(),
            goals: Vec::new(),
            states: Vec::new(),
            ledger: Ledger::new(program.n_roles),
            last_records: [0; 64],
        }
    }

    /// Appends playouts to the queue of their phase.
    #[inline(always)]
    pub(super) fn submit(&mut self, job: &Job<'_>, phase: usize, n_playouts: u32) {
        let entry = Entry {
            ticket: Ticket::new(job),
            n_left: n_playouts,
        };
        self.queues[phase].push(entry, job.state);
        self.n_queued += u64::from(n_playouts);
    }

    /// Whether playouts are waiting.
    pub(super) fn has_jobs(&self) -> bool {
        self.n_queued > 0 || self.stages.iter().any(|stage| stage.valid != 0)
    }

    /// Number of waiting playouts.
    pub(super) fn n_waiting(&self) -> u64 {
        let staged = self
            .stages
            .iter()
            .map(|stage| u64::from(stage.valid.count_ones()));
        self.n_queued + staged.sum::<u64>()
    }

    /// Drops all waiting playouts.
    pub(super) fn clear_jobs(&mut self) {
        self.queues.iter_mut().for_each(Queue::clear);
        self.n_queued = 0;
        for stage in &mut self.stages {
            stage.valid = 0;
        }
    }

    /// Drops the records of finished playouts.
    pub(super) fn clear_records(&mut self) {
        self.records.clear();
        self.goals.clear();
        self.states.clear();
        self.ledger.clear();
    }

    /// Number of finished playouts that were not drained.
    pub(super) fn n_ended(&self) -> usize {
        self.records.len() + self.ledger.n_ended
    }

    /// The first step of the playouts in these lanes.
    pub(super) fn first_start(&self, lanes: u64, now: u64) -> Option<u64> {
        bits(lanes)
            .map(|lane| now - u64::from(self.age(lane, now)))
            .min()
    }

    /// Number of steps that the playout in a lane has made.
    #[inline(always)]
    fn age(&self, lane: usize, now: u64) -> u32 {
        (now as u32).wrapping_sub(self.starts[lane])
    }

    /// The tag of the playout in a lane, and its number of steps.
    pub(super) fn playout(&self, lane: usize, now: u64) -> (u64, u32) {
        (self.tickets[lane].tag, self.age(lane, now))
    }

    /// Starts new playouts in lanes that are free in step `now`; returns these lanes. `stage` is that of this phase.
    #[inline(always)]
    pub(super) fn refill<V: Vector>(
        &mut self,
        program: &LanesProgram,
        phase: usize,
        free: u64,
        now: u64,
        stage: &mut StageRows<'_>,
    ) -> u64 {
        if self.is_steady(phase) {
            self.start_alike::<V>(phase, free, now);
            return free;
        }
        let waiting = free & !self.stages[phase].valid;
        if waiting != 0 && !self.is_restocked(phase) && self.is_fill_due(phase, waiting) {
            self.fill_stage(program, phase, stage);
        }
        let stage_state = &mut self.stages[phase];
        let taken = free & stage_state.valid;
        stage_state.valid &= !taken;
        if taken == 0 {
            return 0;
        }
        let (serial, filled) = stage_state.filled;
        if self.latest.0 != serial {
            self.latest = (serial, 0);
        }
        let is_known = taken & !(self.latest.1 & filled) == 0;
        self.latest.1 = self.latest.1 & !taken | taken & filled;
        let mut soonest = u32::MAX;
        if is_known {
            // Many playouts of one job: the tickets are unchanged.
            soonest = self.tickets[taken.trailing_zeros() as usize].limit;
            V::fill(&mut self.starts, taken, now as u32);
        } else {
            for lane in bits(taken) {
                let ticket = stage_state.tickets[lane];
                self.starts[lane] = now as u32;
                self.tickets[lane] = ticket;
                soonest = soonest.min(ticket.limit);
            }
        }
        self.deadline = self.deadline.min(now + u64::from(soonest));
        taken
    }

    /// Whether all lanes play one job, whose state is in all slots of the stage, and enough of it is left for all of them
    /// to start again and to fill the stage.
    #[inline(always)]
    fn is_steady(&self, phase: usize) -> bool {
        let (queue, stage) = (&self.queues[phase], &self.stages[phase]);
        let (serial, filled) = stage.filled;
        filled & self.latest.1 == u64::MAX
            && self.latest.0 == serial
            && queue.front_serial() == serial
            && queue
                .front()
                .is_some_and(|entry| entry.n_left >= STEADY_PLAYOUTS)
    }

    /// Starts playouts of that job in some lanes; the stage is full afterwards.
    #[inline(always)]
    fn start_alike<V: Vector>(&mut self, phase: usize, lanes: u64, now: u64) {
        let stage = &mut self.stages[phase];
        let n_started = lanes.count_ones() + (!stage.valid).count_ones();
        stage.valid = u64::MAX;
        self.take(phase, n_started);
        V::fill(&mut self.starts, lanes, now as u32);
        self.deadline = self.deadline.min(now + u64::from(self.tickets[0].limit));
    }

    /// Whether the stage should be filled, given the lanes that wait for a start state. If the state is not on the
    /// stage already, a few lanes must be waiting.
    fn is_fill_due(&self, phase: usize, waiting: u64) -> bool {
        let (queue, stage) = (&self.queues[phase], &self.stages[phase]);
        !queue.is_empty()
            && (waiting.count_ones() >= MANY_WAIT
                || queue.front_serial() == stage.filled.0
                || queue.len() < MANY_WAIT as usize)
    }

    /// Refills the stage without writing, if the next state and ticket are still in all empty slots; returns whether it
    /// did.
    #[inline(always)]
    fn is_restocked(&mut self, phase: usize) -> bool {
        let (queue, stage) = (&mut self.queues[phase], &mut self.stages[phase]);
        let (empty, (serial, filled)) = (!stage.valid, stage.filled);
        let n_empty = empty.count_ones();
        let is_same = queue.front_serial() == serial && empty & !filled == 0;
        if !is_same || queue.front().is_none_or(|entry| entry.n_left < n_empty) {
            return false;
        }
        stage.valid = u64::MAX;
        queue.take(n_empty);
        self.n_queued -= u64::from(n_empty);
        true
    }

    /// Fills all empty slots of the stage, as far as there are jobs.
    fn fill_stage(&mut self, program: &LanesProgram, phase: usize, rows: &mut StageRows<'_>) {
        let (queue, stage) = (&mut self.queues[phase], &mut self.stages[phase]);
        let (mut empty, n_waiting) = (!stage.valid, (!stage.valid).count_ones());
        // Lanes whose state is new on the stage, and the numbers of these states.
        let mut written = 0;
        let mut from = [0; 64];
        while let Some(entry) = queue.front().filter(|_| empty != 0) {
            if entry.n_left == 1 {
                // The usual case: many jobs with one playout each.
                let singles = queue.singles(empty.count_ones() as usize);
                let (first, mut last) = (queue.front_state(), 0);
                let before = empty;
                for (idx, single) in (first..).zip(singles) {
                    last = empty.trailing_zeros() as usize;
                    empty &= empty - 1;
                    stage.tickets[last] = single.ticket;
                    from[last] = idx;
                }
                written |= before & !empty;
                queue.skip((before & !empty).count_ones() as usize);
                stage.filled = (queue.front_serial() - 1, 1 << last);
                continue;
            }
            let places = lowest(empty, entry.n_left);
            empty &= !places;
            for lane in bits(places) {
                stage.tickets[lane] = entry.ticket;
                from[lane] = queue.front_state();
            }
            let serial = queue.front_serial();
            if stage.filled.0 != serial {
                stage.filled = (serial, 0);
            }
            written |= places & !stage.filled.1;
            stage.filled.1 |= places;
            queue.take(places.count_ones());
        }
        stage.valid = !empty;
        self.n_queued -= u64::from(n_waiting - empty.count_ones());
        if written != 0 {
            let block_of_rows = (rows.n_words, rows.idx);
            states_to_rows(
                program,
                queue.states(),
                &from,
                written,
                rows.words,
                block_of_rows,
            );
        }
    }

    /// The lanes among these whose playouts reach their limit in step `now`.
    pub(super) fn expired(&mut self, lanes: u64, now: u64) -> u64 {
        if now < self.deadline {
            return 0;
        }
        let mut expired = 0;
        self.deadline = u64::MAX;
        for lane in bits(lanes) {
            let (age, limit) = (self.age(lane, now), self.tickets[lane].limit);
            if age >= limit {
                expired |= 1 << lane;
            } else {
                self.deadline = self.deadline.min(now + u64::from(limit - age));
            }
        }
        expired
    }

    /// Writes records of playouts that end in step `now`. Their goals are filled in later.
    pub(super) fn finish(
        &mut self,
        lanes: u64,
        now: u64,
        terminal: u64,
        expired: u64,
        stuck_role: impl Fn(usize) -> RoleId,
        n_roles: usize,
    ) {
        let n_records = self.records.len();
        self.goals
            .resize((n_records + lanes.count_ones() as usize) * n_roles, NO_GOAL);
        for lane in bits(lanes) {
            let ticket = &self.tickets[lane];
            let ending = if terminal >> lane & 1 == 1 {
                Ending::Terminal
            } else if expired >> lane & 1 == 1 {
                match ticket.at_limit {
                    AtLimit::Cut(_) => Ending::Cut,
                    AtLimit::StepLimit => Ending::StepLimit,
                }
            } else {
                Ending::NoLegalMove(stuck_role(lane))
            };
            let record = self.records.len();
            let steps = self.age(lane, now);
            self.last_records[lane] = record as u32;
            self.records.push(Record {
                tag: ticket.tag,
                start: now - u64::from(steps),
                steps,
                lane: lane as u8,
                ending,
            });
            if let AtLimit::Cut(CutScore::Constant(goal)) = ticket.at_limit
                && ending == Ending::Cut
            {
                self.goals[record * n_roles..(record + 1) * n_roles].fill(goal.value());
            }
        }
    }

    /// The tag of the one job that all lanes play, and how much of it is left, if all lanes can start again now.
    #[inline(always)]
    pub(super) fn steady_job(&self, phase: usize) -> Option<(u64, u32)> {
        let is_unused = |other: usize| {
            other == phase || self.queues[other].is_empty() && self.stages[other].valid == 0
        };
        if !self.is_steady(phase)
            || self.stages[phase].valid != u64::MAX
            || !(0..self.queues.len()).all(is_unused)
        {
            return None;
        }
        let entry = self.queues[phase].front()?;
        Some((entry.ticket.tag, entry.n_left))
    }

    /// The first step in which some playout may reach its limit.
    #[inline(always)]
    pub(super) fn deadline(&self) -> u64 {
        self.deadline
    }

    /// The sum of the numbers of steps that the playouts in some lanes have made.
    #[inline(always)]
    pub(super) fn ages(&self, lanes: u64, now: u64) -> u64 {
        if lanes == 0 {
            return 0;
        }
        let mut sum = 0;
        for (lane, start) in self.starts.iter().enumerate() {
            let age = (now as u32).wrapping_sub(*start);
            sum += u64::from(age) * (lanes >> lane & 1);
        }
        sum
    }

    /// Sets the step in which the playout in a lane started.
    #[inline(always)]
    pub(super) fn set_start(&mut self, lane: usize, step: u64) {
        self.starts[lane] = step as u32;
    }

    /// Takes playouts of the first job in the queue of a phase.
    #[inline(always)]
    pub(super) fn take(&mut self, phase: usize, n_playouts: u32) {
        if n_playouts > 0 {
            self.queues[phase].take(n_playouts);
            self.n_queued -= u64::from(n_playouts);
        }
    }

    /// Sums playouts that end in step `now`, with their goals if these are known; returns the lanes whose goals are
    /// not.
    #[inline(always)]
    pub(super) fn add_up(
        &mut self,
        lanes: u64,
        now: u64,
        terminal: u64,
        expired: u64,
        goals: Option<&GoalsOfBlock<'_>>,
    ) -> u64 {
        let (mut open, mut left) = (lanes, lanes);
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            let together = match left & self.latest.1 {
                latest if latest >> first & 1 == 1 => latest,
                _ => 1 << first,
            };
            left &= !together;
            let ticket = &self.tickets[first];
            let page = self.ledger.page_of(ticket.tag);
            let sums = self.ledger.page(page);
            let n = u64::from(together.count_ones());
            for lane in bits(together) {
                sums.n_steps += u64::from((now as u32).wrapping_sub(self.starts[lane]));
                self.last_records[lane] = page;
            }
            sums.n_playouts += n;
            let early = together & !terminal;
            if early != 0 {
                let n_expired = u64::from((early & expired).count_ones());
                sums.n_no_legal_move += u64::from((early & !expired).count_ones());
                match ticket.at_limit {
                    AtLimit::StepLimit => sums.n_step_limit += n_expired,
                    AtLimit::Cut(score) => {
                        sums.n_cut += n_expired;
                        if let CutScore::Constant(goal) = score {
                            sums.add_constant(goal, n_expired);
                            open &= !(early & expired);
                        }
                    }
                }
            }
            if let Some(goals) = goals {
                sums.add_goals(goals, together & open);
            }
        }
        self.ledger.n_ended += lanes.count_ones() as usize;
        open
    }

    /// The lanes among these whose last playout needs no goals, because it was cut with a constant score.
    pub(super) fn scored(&self, lanes: u64) -> u64 {
        let is_scored = |lane: &usize| {
            matches!(
                self.tickets[*lane].at_limit,
                AtLimit::Cut(CutScore::Constant(_))
            ) && self.records[self.last_records[*lane] as usize].ending == Ending::Cut
        };
        bits(lanes).filter(is_scored).map(|lane| 1 << lane).sum()
    }
}

/// The positions of the set bits.
#[inline(always)]
pub(super) fn bits(word: u64) -> Bits {
    Bits(word)
}

/// See [`bits`].
#[derive(Clone, Copy)]
pub(super) struct Bits(u64);

impl Iterator for Bits {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

/// The lowest `n` set bits, or all if there are fewer.
fn lowest(word: u64, n: u32) -> u64 {
    if n >= word.count_ones() {
        return word;
    }
    let mut rest = word;
    for _ in 0..n {
        rest &= rest - 1;
    }
    word & !rest
}
