//! Kernels: code over rows, compiled for this CPU.
//!
//! Code is brought into [`forms`] and into the order of a [`schedule`]. From these, a kernel becomes either a table
//! that a loop walks ([`super::table`]), for 64, 256 or 512 lanes at once, or machine code (`jit`), for 256 or 512
//! lanes. In: [`Code`]. Out: a [`Kernel`] that sets the rows of all outputs for a group of lanes.
//!
//! An output may have a *home*, a given row whose value is not needed afterwards: the next value of a base has the base
//! itself. It is stored there if the order of evaluation allows it, which saves a copy ([`Forms::settle`]).
//!
//! Machine code is used wherever it is faster. With AVX2 it took 0.2 to 0.7 of the table's time on ten games, and 0.8
//! on a random network of five million reads. With twenty million reads (vectorRacerBig) it took 1.5 times as long as
//! the table, because there is more code to fetch from memory, and it was ready after 3 s instead of 2.
//!
//! Tried with 256 lanes and rejected: skipping parts of the code whose inputs have not changed since the last run. In
//! playouts of hex, skirmish and reversi, gates with 17 to 82 % of the reads kept their value in all lanes. But
//! segments of 64 neighbours in the depth-first order whose inputs were all unchanged had 28 % of the reads in one
//! kernel (the legal moves of hex) and less than 1 % in the five others. Guards on rows that are false in all lanes,
//! chosen greedily and at no cost, would have left 70 to 97 % of the reads to be evaluated.

#![expect(
    unsafe_code,
    reason = "rows are read and written through offsets that were checked when the kernel was made"
)]

pub(crate) mod forms;
#[cfg(target_arch = "x86_64")]
mod jit;
pub(crate) mod schedule;

use self::forms::Forms;
use super::code::Code;
use super::table::Table;

/// The number of lanes that one instruction evaluates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Simd {
    /// 512 lanes in eight words, on any CPU.
    Portable,
    /// 256 lanes.
    Avx2,
    /// 512 lanes.
    Avx512,
}

impl Simd {
    /// The widest that this CPU supports.
    #[must_use]
    pub fn best() -> Simd {
        let from_widest = [Simd::Avx512, Simd::Avx2];
        let available = from_widest.into_iter().find(|simd| simd.is_available());
        available.unwrap_or(Simd::Portable)
    }

    /// Whether this CPU supports it.
    #[must_use]
    pub fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        match self {
            Simd::Portable => true,
            Simd::Avx2 => is_x86_feature_detected!("avx2") && has_bit_manipulation(),
            Simd::Avx512 => is_x86_feature_detected!("avx512f") && has_bit_manipulation(),
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            self == Simd::Portable
        }
    }

    /// Whether kernels of this width become machine code: the CPU has it and the system allows memory that is executable.
    /// Otherwise they are tables.
    #[must_use]
    pub fn has_jit(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            self.is_available() && jit::is_allowed(self)
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            false
        }
    }

    /// Number of 64-bit words in a row.
    #[must_use]
    pub fn n_words(self) -> usize {
        match self {
            Simd::Avx2 => 4,
            Simd::Portable | Simd::Avx512 => 8,
        }
    }

    /// The name, as used in options.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Simd::Portable => "portable",
            Simd::Avx2 => "avx2",
            Simd::Avx512 => "avx512",
        }
    }
}

/// Whether the CPU supports the bit-manipulation instructions that other code uses; in practice all CPUs with AVX2 do.
#[cfg(target_arch = "x86_64")]
fn has_bit_manipulation() -> bool {
    is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("lzcnt")
}

/// Code with more reads than this uses a table.
const MAX_READS: usize = 5_000_000;

/// Compiled code. Immutable; shared between threads.
pub(crate) struct Kernel {
    path: Path,
    simd: Simd,
    /// The outputs that are stored in the row of a given value.
    settled: Vec<u32>,
}

enum Path {
    Table(Table),
    #[cfg(target_arch = "x86_64")]
    Native(jit::Native),
}

impl Kernel {
    /// Makes a kernel. With `jit`, it becomes machine code where that is faster, the CPU supports it and the system
    /// allows it; otherwise a table.
    pub(crate) fn new(code: &Code, simd: Simd, jit: bool) -> Kernel {
        let mut forms = Forms::new(code);
        let schedule = schedule::schedule(&forms);
        #[cfg(target_arch = "x86_64")]
        if jit
            && !code.is_empty()
            && code.n_literals() <= MAX_READS
            && simd.is_available()
            && let settled = forms.settle(code.homes(), &schedule.times(&forms))
            && let Some(native) = jit::Native::new(&forms, &schedule, simd)
        {
            let path = Path::Native(native);
            return Kernel {
                path,
                simd,
                settled,
            };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = jit;
        let (table, settled) = Table::new(&mut forms, &schedule, simd.n_words(), code.homes());
        Kernel {
            path: Path::Table(table),
            simd,
            settled,
        }
    }

    /// The outputs that are stored in the row of a given value (see [`Code::home`]).
    pub(crate) fn settled(&self) -> &[u32] {
        &self.settled
    }

    /// Evaluates all gates.
    ///
    /// # Safety
    /// `rows` points to at least (highest row + 1) * `n_words` words, aligned to `n_words` * 8 bytes, with no other
    /// access meanwhile; the CPU supports `simd`.
    pub(crate) unsafe fn run(&self, rows: *mut u64) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match &self.path {
                Path::Table(table) => table.run(self.simd, rows),
                #[cfg(target_arch = "x86_64")]
                Path::Native(native) => native.run(rows),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::super::code::{Code, Literal};
    use super::{Kernel, Path, Simd};

    /// Random code.
    pub(crate) struct RandomCode {
        pub(crate) code: Code,
        seed: u64,
        n_rows: u32,
        /// Rows that no gate computes.
        given: Vec<u32>,
    }

    impl RandomCode {
        /// Gates of all kinds: copies, wide gates, many or few common inputs, rows in any order, unused gates.
        pub(crate) fn new(seed: u64) -> RandomCode {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut below = |n: u32| ((u64::from(rng.next_u32()) * u64::from(n)) >> 32) as u32;
            let n_given = 1 + below(60);
            let magnitude = below(10);
            let n_gates = 1 + below(4 << magnitude);
            let n_rows = n_given + n_gates;
            let mut rows: Vec<u32> = (0..n_rows).collect();
            if !seed.is_multiple_of(3) {
                for idx in (1..n_rows).rev() {
                    rows.swap(idx as usize, below(idx + 1) as usize);
                }
            }
            // Sometimes the code mentions only few of the rows.
            let apart = if seed.is_multiple_of(7) { 9 } else { 1 };
            rows.iter_mut()
                .for_each(|row| *row = *row * apart + apart / 2);
            let widest = [2, 3, 6, 40, 200][below(5) as usize];
            let nearest = [8, 100, n_rows][below(3) as usize];
            let one_output_in = 1 + below(20);
            let mut code = Code::new();
            let mut literals = Vec::new();
            for idx in n_given..n_rows {
                literals.clear();
                let max_extra = below(widest);
                for _ in 0..1 + below(1 + max_extra) {
                    let back = 1 + below(nearest.min(idx));
                    let from = if below(4) == 0 {
                        below(n_given)
                    } else {
                        idx - back
                    };
                    literals.push(Literal::new(rows[from as usize], below(2) == 0));
                }
                code.and(rows[idx as usize], &literals);
                if below(one_output_in) == 0 || idx + 1 == n_rows {
                    code.output(rows[idx as usize]);
                }
            }
            RandomCode {
                code,
                seed,
                n_rows: n_rows * apart,
                given: rows[..n_given as usize].to_vec(),
            }
        }

        /// Random rows; sometimes mostly ones or mostly zeros, so that wide gates are not always false.
        fn rows(&self, n_words: usize) -> Vec<u64> {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(!self.seed);
            let n_all = self.n_rows as usize * n_words;
            let word = |idx: usize| {
                let words: [u64; 4] = std::array::from_fn(|_| rng.next_u64());
                let all = words[0] & words[1] & words[2] & words[3];
                [words[0], all, !all][idx / n_words % 3]
            };
            (0..n_all).map(word).collect()
        }
    }

    /// Evaluates gates one by one, as written.
    fn evaluate(code: &Code, rows: &mut [u64], n_words: usize) {
        for gate in 0..code.n_gates() {
            for word in 0..n_words {
                let at = |row: u32| row as usize * n_words + word;
                let literals = code.literals(gate).iter();
                let words = literals.map(|literal| {
                    let word = rows[at(literal.row())];
                    if literal.is_complement() { !word } else { word }
                });
                let all = words.fold(u64::MAX, |all, word| all & word);
                rows[at(code.target(gate))] = all;
            }
        }
    }

    /// Compares all outputs of `run` with those of the gates, twice: results of an earlier run must not matter. Given
    /// rows must not change.
    pub(crate) fn check_outputs(
        random: &RandomCode,
        n_words: usize,
        run: impl Fn(&mut [u64]),
        what: &str,
    ) {
        let given = random.rows(n_words);
        let mut expected = given.clone();
        evaluate(&random.code, &mut expected, n_words);
        let mut rows = Rows::new(&given);
        for _ in 0..2 {
            run(rows.words());
            for &row in random.code.outputs().iter().chain(&random.given) {
                let words = row as usize * n_words..(row as usize + 1) * n_words;
                assert_eq!(
                    rows.words()[words.clone()],
                    expected[words],
                    "{what}: row {row}"
                );
            }
        }
    }

    /// Words in aligned memory.
    struct Rows {
        lines: Vec<Line>,
        n_words: usize,
    }

    #[derive(Clone, Copy)]
    #[repr(align(64))]
    struct Line([u64; 8]);

    impl Rows {
        fn new(words: &[u64]) -> Rows {
            let line = |words: &[u64]| {
                let mut line = Line([0; 8]);
                line.0[..words.len()].copy_from_slice(words);
                line
            };
            Rows {
                lines: words.chunks(8).map(line).collect(),
                n_words: words.len(),
            }
        }

        fn words(&mut self) -> &mut [u64] {
            // SAFETY: a line is eight words without padding.
            unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.n_words) }
        }
    }

    fn check(random: &RandomCode, simd: Simd, jit: bool, what: &str) {
        if simd.is_available() {
            let kernel = Kernel::new(&random.code, simd, jit);
            // SAFETY: there are as many rows as the code needs, aligned, and the CPU supports `simd`.
            let run = |rows: &mut [u64]| unsafe { kernel.run(rows.as_mut_ptr()) };
            check_outputs(random, simd.n_words(), run, what);
        }
    }

    #[test]
    fn all_paths_agree_with_the_gates() {
        for seed in 0..600 {
            let random = RandomCode::new(seed);
            for simd in [Simd::Portable, Simd::Avx2, Simd::Avx512] {
                for jit in [false, true] {
                    let what = format!("seed {seed}, {}, jit {jit}", simd.name());
                    check(&random, simd, jit, &what);
                }
            }
        }
    }

    /// Runs code whose outputs may be stored in given rows; returns how many are, and how many may.
    fn check_homes(random: &RandomCode, simd: Simd, jit: bool) -> (usize, usize) {
        let mut code = random.code.clone();
        let mut outputs = code.outputs().to_vec();
        outputs.retain(|row| !random.given.contains(row));
        let homes: Vec<(u32, u32)> = outputs
            .iter()
            .copied()
            .zip(random.given.iter().copied())
            .collect();
        homes.iter().for_each(|&(row, home)| code.home(row, home));
        let n_words = simd.n_words();
        let given = random.rows(n_words);
        let mut expected = given.clone();
        evaluate(&code, &mut expected, n_words);
        let kernel = Kernel::new(&code, simd, jit);
        let mut rows = Rows::new(&given);
        // SAFETY: there are as many rows as the code needs, aligned, and the CPU supports `simd`.
        unsafe { kernel.run(rows.words().as_mut_ptr()) };
        let place_of = |row: u32| {
            let is_settled = kernel.settled().contains(&row);
            let home = homes.iter().find(|&&(output, _)| output == row);
            home.filter(|_| is_settled).map_or(row, |&(_, home)| home)
        };
        let words = |row: u32| row as usize * n_words..(row as usize + 1) * n_words;
        for &row in &outputs {
            let place = words(place_of(row));
            assert_eq!(rows.words()[place], expected[words(row)], "row {row}");
        }
        let is_home = |row: &u32| outputs.iter().any(|&output| place_of(output) == *row);
        for &row in random.given.iter().filter(|row| !is_home(row)) {
            assert_eq!(rows.words()[words(row)], given[words(row)], "row {row}");
        }
        (kernel.settled().len(), homes.len())
    }

    #[test]
    fn outputs_take_the_place_of_given_rows_that_are_not_read_later() {
        let (mut n_settled, mut n_homes) = (0, 0);
        for seed in 0..300 {
            let random = RandomCode::new(seed);
            for simd in [Simd::Portable, Simd::Avx2, Simd::Avx512] {
                for jit in [false, true] {
                    if simd.is_available() {
                        let (settled, homes) = check_homes(&random, simd, jit);
                        n_settled += settled;
                        n_homes += homes;
                    }
                }
            }
        }
        assert!(0 < n_settled && n_settled < n_homes);
    }

    #[test]
    fn a_gate_may_have_thousands_of_inputs() {
        let mut code = Code::new();
        let literals: Vec<Literal> = (0..5000)
            .map(|row| Literal::new(row, row % 3 == 0))
            .collect();
        code.and(5000, &literals);
        code.and(5001, &literals[..4999]);
        code.and(5002, &[Literal::new(5000, true), Literal::new(5001, true)]);
        code.output(5000);
        code.output(5002);
        let random = RandomCode {
            code,
            seed: 1,
            n_rows: 5003,
            given: (0..5000).collect(),
        };
        for simd in [Simd::Portable, Simd::Avx2, Simd::Avx512] {
            for jit in [false, true] {
                check(&random, simd, jit, simd.name());
            }
        }
    }

    /// Wide gates that read each other's inputs, so that there are more live values than registers.
    #[test]
    fn there_may_be_more_live_values_than_registers() {
        for n in [9, 15, 17, 33, 70] {
            let mut code = Code::new();
            let plain = |row: u32| Literal::new(row, false);
            for idx in 0..n {
                let pair = [plain(idx), Literal::new((idx + 1) % n, true)];
                code.and(n + idx, &pair);
            }
            for idx in 0..n {
                // All except one, a different one each time; the first row read is the last row read in the next gate.
                let others = (0..n).filter(|&other| other != idx);
                let mut literals: Vec<Literal> =
                    others.map(|other| Literal::new(n + other, true)).collect();
                if idx % 2 == 1 {
                    literals.reverse();
                }
                code.and(2 * n + idx, &literals);
                code.and(3 * n + idx, &[plain(idx), Literal::new(2 * n + idx, true)]);
                code.output(3 * n + idx);
            }
            let last: Vec<Literal> = (n..4 * n).map(|row| Literal::new(row, true)).collect();
            code.and(4 * n, &last);
            code.output(4 * n);
            let random = RandomCode {
                code,
                seed: u64::from(n),
                n_rows: 4 * n + 1,
                given: (0..n).collect(),
            };
            for simd in [Simd::Portable, Simd::Avx2, Simd::Avx512] {
                for jit in [false, true] {
                    check(&random, simd, jit, &format!("{n}, {}, {jit}", simd.name()));
                }
            }
        }
    }

    #[test]
    fn a_row_and_its_complement_are_false() {
        let mut code = Code::new();
        let [plain, complement] = [false, true].map(|sign| Literal::new(0, sign));
        code.and(1, &[plain]);
        code.and(2, &[Literal::new(1, false), complement]);
        code.and(3, &[Literal::new(2, true)]);
        code.and(4, &[complement, complement]);
        for row in 2..5 {
            code.output(row);
        }
        let random = RandomCode {
            code,
            seed: 1,
            n_rows: 5,
            given: vec![0],
        };
        for simd in [Simd::Portable, Simd::Avx2, Simd::Avx512] {
            for jit in [false, true] {
                check(&random, simd, jit, simd.name());
            }
        }
    }

    /// What is reported is what is done: a kernel is machine code if and only if `has_jit` says so.
    #[test]
    fn machine_code_is_made_where_it_is_promised() {
        let random = RandomCode::new(1);
        for simd in [Simd::Portable, Simd::Avx2, Simd::Avx512] {
            let kernel = Kernel::new(&random.code, simd, true);
            assert_eq!(
                !matches!(kernel.path, Path::Table(_)),
                simd.has_jit(),
                "{}",
                simd.name()
            );
        }
    }

    #[test]
    fn code_without_gates_does_nothing() {
        for simd in [Simd::Portable, Simd::Avx2, Simd::Avx512] {
            for jit in [false, true] {
                let kernel = Kernel::new(&Code::new(), simd, jit);
                if simd.is_available() {
                    // SAFETY: no row is accessed.
                    unsafe { kernel.run(std::ptr::null_mut()) };
                }
            }
        }
    }
}
