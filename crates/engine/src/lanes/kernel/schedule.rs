//! The evaluation order: depth first, so that a value is read soon after it was computed.
//!
//! Starting from each output, a gate's children are computed one after the other, and each is folded into the gate's
//! partial value as soon as it is available: even a gate with a thousand inputs keeps only one value live. The child
//! that needs the most registers comes first. Copies of a value follow directly after it.
//!
//! - Sethi and Ullman 1970, The generation of optimal code for arithmetic expressions (which child comes first)

use super::forms::{Forms, NONE, Times};

/// One step: folds some rows into the value of a gate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) gate: u32,
    /// End of its reads; they start where those of the previous step end.
    end: u32,
    /// Whether it is the first step of its gate.
    pub(crate) is_first: bool,
    /// Whether it completes its gate.
    pub(crate) is_last: bool,
}

/// A row that a step reads: row * 2, plus 1 if it must be false.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Read(u32);

impl Read {
    fn new(row: u32, is_negative: bool) -> Read {
        Read(row * 2 + u32::from(is_negative))
    }

    /// The row.
    pub(crate) fn row(self) -> u32 {
        self.0 / 2
    }

    /// Whether it must be false.
    pub(crate) fn is_negative(self) -> bool {
        self.0 % 2 == 1
    }
}

/// All steps in order.
pub(crate) struct Schedule {
    pub(crate) steps: Vec<Step>,
    reads: Vec<Read>,
}

impl Schedule {
    /// The range of the reads of a step.
    pub(crate) fn range(&self, step: usize) -> std::ops::Range<usize> {
        let start = step
            .checked_sub(1)
            .map_or(0, |before| self.steps[before].end);
        start as usize..self.steps[step].end as usize
    }

    /// The reads of all steps, concatenated.
    pub(crate) fn reads(&self) -> &[Read] {
        &self.reads
    }

    /// The steps at which rows are read last and gates are complete.
    pub(crate) fn times(&self, forms: &Forms) -> Times {
        let mut times = Times::new(forms.gate_of.len());
        for (idx, step) in self.steps.iter().enumerate() {
            for read in &self.reads[self.range(idx)] {
                times.last_read[read.row() as usize] = idx as u32;
            }
            if step.is_last {
                let target = forms.gates[step.gate as usize].target;
                times.complete[target as usize] = idx as u32;
            }
        }
        times
    }

    /// The gates in the order in which they are completed.
    pub(crate) fn gates(&self) -> impl Iterator<Item = u32> + '_ {
        let last = self.steps.iter().filter(|step| step.is_last);
        last.map(|step| step.gate)
    }
}

/// Orders the gates depth first.
pub(crate) fn schedule(forms: &Forms) -> Schedule {
    let mut walk = Walk {
        forms,
        need: needs(forms),
        copies: Copies::new(forms),
        is_there: forms.gate_of.iter().map(|&gate| gate == NONE).collect(),
        frames: Vec::new(),
        pending: Vec::new(),
        schedule: Schedule {
            steps: Vec::with_capacity(forms.gates.len()),
            reads: Vec::with_capacity(forms.n_reads()),
        },
    };
    for gate in 0..forms.gates.len() as u32 {
        let form = &forms.gates[gate as usize];
        if form.is_output && !walk.is_there[form.target as usize] {
            walk.visit(gate);
        }
    }
    walk.schedule
}

/// Per gate: the number of registers that its tree needs if nothing is shared.
fn needs(forms: &Forms) -> Vec<u32> {
    let mut needs: Vec<u32> = Vec::with_capacity(forms.gates.len());
    for gate in &forms.gates {
        let (mut largest, mut second) = (1, 0);
        for &row in forms.rows(gate) {
            let child = forms.gate_of[row as usize];
            if child != NONE {
                let need = needs[child as usize];
                second = second.max(need.min(largest));
                largest = largest.max(need);
            }
        }
        needs.push(largest.max(second + 1));
    }
    needs
}

/// The gates that copy or complement a single row, by the gate of that row.
struct Copies {
    first: Vec<u32>,
    next: Vec<u32>,
}

impl Copies {
    fn new(forms: &Forms) -> Copies {
        let n_gates = forms.gates.len();
        let mut copies = Copies {
            first: vec![NONE; n_gates],
            next: vec![NONE; n_gates],
        };
        for (idx, gate) in forms.gates.iter().enumerate().rev() {
            if let [row] = forms.rows(gate) {
                let source = forms.gate_of[*row as usize];
                if source != NONE {
                    copies.next[idx] = copies.first[source as usize];
                    copies.first[source as usize] = idx as u32;
                }
            }
        }
        copies
    }
}

/// A gate whose children are being computed.
struct Frame {
    gate: u32,
    /// Start of its reads in `pending`; they end where those of the next frame start.
    start: u32,
    /// The next read to fold.
    next: u32,
    is_begun: bool,
}

struct Walk<'a> {
    forms: &'a Forms,
    need: Vec<u32>,
    copies: Copies,
    /// Per row: whether it is given or already computed.
    is_there: Vec<bool>,
    frames: Vec<Frame>,
    /// The reads of the gates of all frames, in the order in which they are folded.
    pending: Vec<Read>,
    schedule: Schedule,
}

impl Walk<'_> {
    fn visit(&mut self, root: u32) {
        self.enter(root);
        while let Some(frame) = self.frames.last() {
            let ready = (frame.next..self.pending.len() as u32)
                .find(|&read| !self.is_there[self.pending[read as usize].row() as usize]);
            match ready {
                Some(child) => {
                    self.fold(child, false);
                    let row = self.pending[child as usize].row();
                    self.enter(self.forms.gate_of[row as usize]);
                }
                None => {
                    self.fold(self.pending.len() as u32, true);
                    self.leave();
                }
            }
        }
    }

    /// Pushes a gate on the stack. The child that needs the most registers is computed first, then available rows are
    /// read, then the other children are computed.
    fn enter(&mut self, gate: u32) {
        let form = &self.forms.gates[gate as usize];
        let start = self.pending.len();
        let (mut largest, mut first) = (0, NONE);
        for &row in self.forms.rows(form) {
            if !self.is_there[row as usize] {
                let need = self.need[self.forms.gate_of[row as usize] as usize];
                if need > largest {
                    (largest, first) = (need, row);
                }
            }
        }
        let negative = self.forms.negative(form).iter().map(|&row| (row, true));
        let plain = self.forms.plain(form).iter().map(|&row| (row, false));
        let reads = negative.chain(plain);
        if first != NONE {
            let first_reads = reads.clone().filter(|&(row, _)| row == first);
            self.pending
                .extend(first_reads.map(|(row, is_negative)| Read::new(row, is_negative)));
        }
        for is_there in [true, false] {
            for (row, is_negative) in reads.clone() {
                if row != first && self.is_there[row as usize] == is_there {
                    self.pending.push(Read::new(row, is_negative));
                }
            }
        }
        self.frames.push(Frame {
            gate,
            start: start as u32,
            next: start as u32,
            is_begun: false,
        });
    }

    /// Folds the reads of the topmost gate up to `end`. A single row is not a value yet: it waits for the next read.
    fn fold(&mut self, end: u32, is_last: bool) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        let n_reads = end - frame.next;
        if is_last || n_reads > 1 || (frame.is_begun && n_reads == 1) {
            let reads = &self.pending[frame.next as usize..end as usize];
            self.schedule.reads.extend_from_slice(reads);
            self.schedule.steps.push(Step {
                gate: frame.gate,
                end: self.schedule.reads.len() as u32,
                is_first: !frame.is_begun,
                is_last,
            });
            frame.is_begun = true;
            frame.next = end;
        }
    }

    /// Pops the topmost gate, which is now computed; copies of it follow.
    fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        self.pending.truncate(frame.start as usize);
        let row = self.forms.gates[frame.gate as usize].target;
        self.is_there[row as usize] = true;
        // A copy has no readers, so it can only be the root, which is completed separately.
        let root = self.frames.first().map(|frame| frame.gate);
        let mut copy = self.copies.first[frame.gate as usize];
        while copy != NONE {
            let form = &self.forms.gates[copy as usize];
            if !self.is_there[form.target as usize] && Some(copy) != root {
                let read = Read::new(row, form.is_disjunction());
                self.schedule.reads.push(read);
                self.schedule.steps.push(Step {
                    gate: copy,
                    end: self.schedule.reads.len() as u32,
                    is_first: true,
                    is_last: true,
                });
                self.is_there[form.target as usize] = true;
            }
            copy = self.copies.next[copy as usize];
        }
    }
}
