//! The table-driven kernel: a loop over gates, for any CPU.
//!
//! Gates come in *runs* of equal shape (the same numbers of negative and of plain inputs), so that the loop over a run
//! has no branches. The order is the depth-first order of [`super::kernel::schedule`], cut into windows; within a
//! window, gates that are ready are grouped by shape. Outputs are stored in their own rows. Every other value takes a
//! free row, the most recently freed first, so that few rows are in use.
//!
//! In: forms and their order. Out: a [`Table`] that sets the rows of all outputs, for vectors of 256 or 512 lanes.

#![expect(
    unsafe_code,
    reason = "rows are read and written through offsets that were checked when the table was made"
)]

use super::kernel::Simd;
use super::kernel::forms::{Form, Forms, NONE, Times};
use super::kernel::schedule::Schedule;
use super::vector::Vector;
use super::words::Words;

/// Gates with more inputs of one kind than this are in runs without a fixed shape.
const WIDEST: u32 = 4;

/// Number of gates of the depth-first order that are grouped by shape. Measured with AVX2: shorter windows make short
/// runs (with 512, the goals of reversi take 1.3 times as long), longer ones use more rows at a time (with 4096, hex
/// takes 1.1 times as long).
const WINDOW: usize = 1024;

/// Consecutive gates of one shape.
#[derive(Clone, Copy)]
struct Run {
    shape: Shape,
    n_gates: u32,
}

/// The shape of a gate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    /// A number of inputs that must be false and a number that must be true.
    Narrow { n_negative: u8, n_plain: u8 },
    /// An output that is the negation of a conjunction of complements: a disjunction of this number of rows.
    Inverted { n_negative: u8 },
    /// Any number of inputs: the numbers are in the table.
    Wide,
    /// An inverted output with any number of inputs.
    WideInverted,
}

/// Gates as byte offsets of rows.
pub(super) struct Table {
    runs: Vec<Run>,
    /// Per gate: its target; for wide ones the numbers of negative and plain inputs; then those rows.
    offsets: Vec<u32>,
}

impl Table {
    /// Builds a table for rows of `n_words` words. Outputs may take the place of other rows (see [`Forms::settle`]);
    /// those that do are returned.
    pub(super) fn new(
        forms: &mut Forms,
        schedule: &Schedule,
        n_words: usize,
        homes: &[(u32, u32)],
    ) -> (Table, Vec<u32>) {
        let row_bytes = n_words as u32 * 8;
        let n_bytes = forms.n_rows_in_memory() as u64 * u64::from(row_bytes);
        assert!(
            u32::try_from(n_bytes).is_ok(),
            "the matrix must fit into 4 GB"
        );
        let (runs, order) = gather(forms, schedule, WINDOW);
        let slots = slots(forms, &order);
        let settled = forms.settle(homes, &times(forms, &order));
        let forms = &*forms;
        let offset = |row: u32| forms.home[slots[row as usize] as usize] * row_bytes;
        let mut offsets = Vec::with_capacity(forms.n_reads() + forms.gates.len());
        for &gate in &order {
            let form = &forms.gates[gate as usize];
            offsets.push(offset(form.target));
            if matches!(Shape::of(form), Shape::Wide | Shape::WideInverted) {
                let (n_negative, n_plain) = form.n_rows();
                offsets.extend([n_negative, n_plain]);
            }
            offsets.extend(forms.rows(form).iter().map(|&row| offset(row)));
        }
        (Table { runs, offsets }, settled)
    }

    /// Evaluates all gates.
    ///
    /// # Safety
    /// As for [`Kernel::run`](super::kernel::Kernel::run).
    pub(super) unsafe fn run(&self, simd: Simd, rows: *mut u64) {
        let rows = rows.cast::<u8>();
        // SAFETY: the caller guarantees that the CPU supports `simd`, and that all rows of the table exist.
        unsafe {
            match simd {
                Simd::Portable => self.evaluate::<Words>(rows),
                #[cfg(target_arch = "x86_64")]
                Simd::Avx2 => x86::evaluate_avx2(self, rows),
                #[cfg(target_arch = "x86_64")]
                Simd::Avx512 => x86::evaluate_avx512(self, rows),
                #[cfg(not(target_arch = "x86_64"))]
                Simd::Avx2 | Simd::Avx512 => unreachable!("not available on this architecture"),
            }
        }
    }

    #[inline(always)]
    unsafe fn evaluate<V: Vector>(&self, rows: *mut u8) {
        let mut at = self.offsets.as_ptr();
        // SAFETY: the table consists of whole gates, and its offsets are those of rows.
        unsafe {
            for run in &self.runs {
                at = evaluate_run::<V>(run, at, rows);
            }
        }
    }
}

impl Shape {
    fn of(form: &Form) -> Shape {
        let (n_negative, n_plain) = form.n_rows();
        match (
            n_negative <= WIDEST && n_plain <= WIDEST,
            form.is_inverted(),
        ) {
            (true, false) => Shape::Narrow {
                n_negative: n_negative as u8,
                n_plain: n_plain as u8,
            },
            (true, true) => Shape::Inverted {
                n_negative: n_negative as u8,
            },
            (false, false) => Shape::Wide,
            (false, true) => Shape::WideInverted,
        }
    }

    /// The shape as a small number.
    fn idx(self) -> usize {
        const N_NARROW: usize = (WIDEST as usize + 1) * (WIDEST as usize + 1);
        match self {
            Shape::Narrow {
                n_negative,
                n_plain,
            } => usize::from(n_negative) * (WIDEST as usize + 1) + usize::from(n_plain),
            Shape::Inverted { n_negative } => N_NARROW + usize::from(n_negative),
            Shape::Wide => N_NARROW + WIDEST as usize + 1,
            Shape::WideInverted => N_NARROW + WIDEST as usize + 2,
        }
    }

    const N: usize = (WIDEST as usize + 1) * (WIDEST as usize + 2) + 2;
}

/// Groups the gates of each window by shape: the next shape is the one with the most ready gates.
fn gather(forms: &Forms, schedule: &Schedule, window: usize) -> (Vec<Run>, Vec<u32>) {
    let order: Vec<u32> = schedule.gates().collect();
    let mut gathering = Gathering {
        forms,
        readers: Readers::new(forms, &order, window),
        ready: std::array::from_fn(|_| Vec::new()),
        runs: Vec::new(),
        order: Vec::with_capacity(order.len()),
    };
    for gates in order.chunks(window) {
        gathering.gather(gates);
    }
    (gathering.runs, gathering.order)
}

/// The readers of each gate in its own window.
struct Readers {
    /// Per gate: the number of its inputs that are not computed yet.
    n_missing: Vec<u32>,
    /// Per gate: the start of its readers; one more entry at the end.
    starts: Vec<u32>,
    readers: Vec<u32>,
}

impl Readers {
    fn new(forms: &Forms, order: &[u32], window: usize) -> Readers {
        let mut window_of = vec![0; forms.gates.len()];
        for (idx, &gate) in order.iter().enumerate() {
            window_of[gate as usize] = idx / window;
        }
        let pairs = || {
            forms.gates.iter().enumerate().flat_map(|(reader, form)| {
                let children = forms.rows(form).iter();
                let children = children.map(|&row| forms.gate_of[row as usize]);
                let window_of = &window_of;
                children
                    .filter(move |&child| {
                        child != NONE && window_of[child as usize] == window_of[reader]
                    })
                    .map(move |child| (child as usize, reader))
            })
        };
        let mut n_missing = vec![0; forms.gates.len()];
        let mut starts = vec![0; forms.gates.len() + 1];
        for (child, reader) in pairs() {
            n_missing[reader] += 1;
            starts[child + 1] += 1;
        }
        for child in 0..forms.gates.len() {
            starts[child + 1] += starts[child];
        }
        let mut next = starts.clone();
        let mut readers = vec![0; starts[forms.gates.len()] as usize];
        for (child, reader) in pairs() {
            readers[next[child] as usize] = reader as u32;
            next[child] += 1;
        }
        Readers {
            n_missing,
            starts,
            readers,
        }
    }
}

struct Gathering<'a> {
    forms: &'a Forms,
    readers: Readers,
    ready: [Vec<u32>; Shape::N],
    runs: Vec<Run>,
    order: Vec<u32>,
}

impl Gathering<'_> {
    fn gather(&mut self, gates: &[u32]) {
        for &gate in gates {
            if self.readers.n_missing[gate as usize] == 0 {
                self.make_ready(gate);
            }
        }
        while let Some(shape) = self.most_ready() {
            let first = self.order.len();
            let mut next = 0;
            // First in, first out: then neighbours seldom wait for each other.
            while let Some(&gate) = self.ready[shape].get(next) {
                next += 1;
                self.order.push(gate);
                let readers =
                    self.readers.starts[gate as usize]..self.readers.starts[gate as usize + 1];
                for reader in readers {
                    let reader = self.readers.readers[reader as usize];
                    self.readers.n_missing[reader as usize] -= 1;
                    if self.readers.n_missing[reader as usize] == 0 {
                        self.make_ready(reader);
                    }
                }
            }
            self.ready[shape].clear();
            self.runs.push(Run {
                shape: Shape::of(&self.forms.gates[self.order[first] as usize]),
                n_gates: (self.order.len() - first) as u32,
            });
        }
    }

    fn make_ready(&mut self, gate: u32) {
        let shape = Shape::of(&self.forms.gates[gate as usize]);
        self.ready[shape.idx()].push(gate);
    }

    fn most_ready(&self) -> Option<usize> {
        let shapes = 0..Shape::N;
        let most = shapes.max_by_key(|&shape| self.ready[shape].len())?;
        (!self.ready[most].is_empty()).then_some(most)
    }
}

/// The places in the order at which rows are read last and gates are complete.
fn times(forms: &Forms, order: &[u32]) -> Times {
    let mut times = Times::new(forms.gate_of.len());
    for (idx, &gate) in order.iter().enumerate() {
        let form = &forms.gates[gate as usize];
        for &row in forms.rows(form) {
            times.last_read[row as usize] = idx as u32;
        }
        times.complete[form.target as usize] = idx as u32;
    }
    times
}

/// Per row: the row where its value is stored.
fn slots(forms: &Forms, order: &[u32]) -> Vec<u32> {
    let mut slots: Vec<u32> = (0..forms.gate_of.len() as u32).collect();
    let mut n_reads = vec![0_u32; forms.gate_of.len()];
    for form in &forms.gates {
        for &row in forms.rows(form) {
            n_reads[row as usize] += 1;
        }
    }
    let mut free: Vec<u32> = Vec::new();
    for &gate in order {
        let form = &forms.gates[gate as usize];
        // A gate reads before it writes, so it may reuse the row of an input that is not read again.
        for &row in forms.rows(form) {
            n_reads[row as usize] -= 1;
            let child = forms.gate_of[row as usize];
            let is_free = child != NONE && !forms.gates[child as usize].is_output;
            if is_free && n_reads[row as usize] == 0 {
                free.push(slots[row as usize]);
            }
        }
        if !form.is_output {
            // Its own row is still free, because no gate has taken it.
            slots[form.target as usize] = free.pop().unwrap_or(form.target);
        }
    }
    slots
}

/// Evaluates a run; returns the start of the next one.
///
/// # Safety
/// `at` points to the gates of the run, whose offsets are those of rows.
#[inline(always)]
unsafe fn evaluate_run<V: Vector>(run: &Run, at: *const u32, rows: *mut u8) -> *const u32 {
    macro_rules! narrow {
        ($n_negative:expr, $n_plain:expr; $(($n:literal, $p:literal))*) => {
            match ($n_negative, $n_plain) {
                $(($n, $p) => evaluate_narrow::<V, $n, $p, false>(run.n_gates, at, rows),)*
                _ => unreachable!("a gate has inputs"),
            }
        };
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        match run.shape {
            Shape::Narrow {
                n_negative,
                n_plain,
            } => narrow!(n_negative, n_plain;
                (0, 1) (0, 2) (0, 3) (0, 4)
                (1, 0) (1, 1) (1, 2) (1, 3) (1, 4)
                (2, 0) (2, 1) (2, 2) (2, 3) (2, 4)
                (3, 0) (3, 1) (3, 2) (3, 3) (3, 4)
                (4, 0) (4, 1) (4, 2) (4, 3) (4, 4)),
            Shape::Inverted { n_negative } => match n_negative {
                1 => evaluate_narrow::<V, 1, 0, true>(run.n_gates, at, rows),
                2 => evaluate_narrow::<V, 2, 0, true>(run.n_gates, at, rows),
                3 => evaluate_narrow::<V, 3, 0, true>(run.n_gates, at, rows),
                _ => evaluate_narrow::<V, 4, 0, true>(run.n_gates, at, rows),
            },
            Shape::Wide => evaluate_wide::<V, false>(run.n_gates, at, rows),
            Shape::WideInverted => evaluate_wide::<V, true>(run.n_gates, at, rows),
        }
    }
}

/// # Safety
/// As for [`evaluate_run`].
#[inline(always)]
unsafe fn evaluate_narrow<
    V: Vector,
    const NEGATIVE: usize,
    const PLAIN: usize,
    const INVERTED: bool,
>(
    n_gates: u32,
    mut at: *const u32,
    rows: *mut u8,
) -> *const u32 {
    for _ in 0..n_gates {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let load = |idx: usize| V::load(rows.add(*at.add(1 + idx) as usize).cast());
            let mut value = load(0);
            for idx in 1..NEGATIVE {
                value = value.or(load(idx));
            }
            for idx in NEGATIVE.max(1)..NEGATIVE + PLAIN {
                // The first plain row replaces the complemented disjunction.
                value = if idx == NEGATIVE {
                    load(idx).and_not(value)
                } else {
                    value.and(load(idx))
                };
            }
            let value = if INVERTED { value.not() } else { value };
            value.store(rows.add(*at as usize).cast());
            at = at.add(1 + NEGATIVE + PLAIN);
        }
    }
    at
}

/// # Safety
/// As for [`evaluate_run`].
#[inline(always)]
unsafe fn evaluate_wide<V: Vector, const INVERTED: bool>(
    n_gates: u32,
    mut at: *const u32,
    rows: *mut u8,
) -> *const u32 {
    for _ in 0..n_gates {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let (target, n_negative, n_plain) = (*at, *at.add(1) as usize, *at.add(2) as usize);
            let negative = at.add(3);
            let plain = negative.add(n_negative);
            at = plain.add(n_plain);
            let load = |at: *const u32, idx: usize| V::load(rows.add(*at.add(idx) as usize).cast());
            let mut value = load(negative, 0);
            for idx in 1..n_negative {
                value = value.or(load(negative, idx));
            }
            if n_plain > 0 {
                let mut all = load(plain, 0);
                for idx in 1..n_plain {
                    all = all.and(load(plain, idx));
                }
                value = if n_negative > 0 {
                    all.and_not(value)
                } else {
                    all
                };
            }
            let value = if INVERTED { value.not() } else { value };
            value.store(rows.add(target as usize).cast());
        }
    }
    at
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{__m256i, __m512i};

    use super::Table;

    /// # Safety
    /// The CPU has AVX2; for the rest see [`Table::run`].
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn evaluate_avx2(table: &Table, rows: *mut u8) {
        // SAFETY: guaranteed by the caller.
        unsafe { table.evaluate::<__m256i>(rows) }
    }

    /// # Safety
    /// The CPU has AVX-512F; for the rest see [`Table::run`].
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn evaluate_avx512(table: &Table, rows: *mut u8) {
        // SAFETY: guaranteed by the caller.
        unsafe { table.evaluate::<__m512i>(rows) }
    }
}
