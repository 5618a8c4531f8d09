//! Gates in the form that costs the fewest instructions: a conjunction of plain rows and the complement of a
//! disjunction.
//!
//! CPUs have AND, OR and AND-NOT, but a separate NOT costs an instruction. By De Morgan, a gate with literals of both
//! kinds is `(p1 & p2 & …) & !(n1 | n2 | …)`, one instruction per literal. A gate with only complemented literals is
//! `!(n1 | n2 | …)`; its row stores the disjunction instead, and its readers use the opposite sign. So a NOT remains
//! only where such a gate is an output, because outputs are plain.
//!
//! In the same pass, copies are replaced by their sources, and gates that no output needs are dropped.

use crate::lanes::code::{Code, Literal};

/// No gate, or no row.
pub(crate) const NONE: u32 = u32::MAX;

/// A gate in this form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) target: u32,
    /// Start of its rows: first the negative ones, which must be false, then the plain ones, which must be true.
    start: u32,
    plain: u32,
    end: u32,
    /// Whether the row is needed after the code has run.
    pub(crate) is_output: bool,
}

/// When rows are read and gates are complete, in the order of an evaluation.
pub(crate) struct Times {
    /// Per row.
    pub(crate) last_read: Vec<u32>,
    pub(crate) complete: Vec<u32>,
}

impl Times {
    pub(crate) fn new(n_rows: usize) -> Times {
        Times {
            last_read: vec![0; n_rows],
            complete: vec![0; n_rows],
        }
    }
}

/// All gates that outputs need, in an order in which every row is computed before it is read.
pub(crate) struct Forms {
    pub(crate) gates: Vec<Form>,
    rows: Vec<u32>,
    /// Per row: the gate that computes it, or [`NONE`].
    pub(crate) gate_of: Vec<u32>,
    /// Per row: its number in memory. Forms may renumber rows, in the same order.
    pub(crate) in_memory: Vec<u32>,
    /// Per row: where its value is stored if it is an output: its own place, or the place of a given row.
    pub(crate) home: Vec<u32>,
}

impl Forms {
    /// Brings code into forms.
    pub(crate) fn new(code: &Code) -> Forms {
        // The cost of the many small kernels of a large game must not depend on the number of all its rows.
        if code.n_rows() > 4 * (code.n_gates() + code.n_literals()) {
            let (code, rows) = code.renumbered();
            return Forms::over(&code, rows);
        }
        Forms::over(code, (0..code.n_rows() as u32).collect())
    }

    fn over(code: &Code, in_memory: Vec<u32>) -> Forms {
        let resolved = Resolved::new(code);
        let (is_live, is_output) = resolved.live(code);
        let mut forms = Forms {
            gates: Vec::with_capacity(code.n_gates()),
            rows: Vec::with_capacity(resolved.literals.len()),
            gate_of: vec![NONE; code.n_rows()],
            home: in_memory.clone(),
            in_memory,
        };
        // Rows that store the complement of their gate.
        let mut is_complement = vec![false; code.n_rows()];
        let live = (0..code.n_gates()).filter(|&gate| is_live[gate]);
        for gate in live {
            let target = code.target(gate);
            let literals = resolved.literals(gate);
            let is_output = is_output[target as usize];
            is_complement[target as usize] =
                forms.push(target, literals, is_output, &is_complement);
        }
        forms
    }

    /// Appends a gate; returns whether its row stores the complement.
    fn push(
        &mut self,
        target: u32,
        literals: &[Literal],
        is_output: bool,
        is_complement: &[bool],
    ) -> bool {
        let is_false =
            |literal: &&Literal| literal.is_complement() != is_complement[literal.row() as usize];
        let start = self.rows.len() as u32;
        let to_be_false = literals.iter().filter(is_false);
        self.rows.extend(to_be_false.map(|literal| literal.row()));
        let plain = self.rows.len() as u32;
        let to_be_true = literals.iter().filter(|literal| !is_false(literal));
        self.rows.extend(to_be_true.map(|literal| literal.row()));
        let end = self.rows.len() as u32;
        self.gate_of[target as usize] = self.gates.len() as u32;
        self.gates.push(Form {
            target,
            start,
            plain,
            end,
            is_output,
        });
        plain == end && !is_output
    }

    /// The rows that must be false for a gate to be true.
    pub(crate) fn negative(&self, gate: &Form) -> &[u32] {
        &self.rows[gate.start as usize..gate.plain as usize]
    }

    /// The rows that must be true for a gate to be true.
    pub(crate) fn plain(&self, gate: &Form) -> &[u32] {
        &self.rows[gate.plain as usize..gate.end as usize]
    }

    /// All rows that a gate reads.
    pub(crate) fn rows(&self, gate: &Form) -> &[u32] {
        &self.rows[gate.start as usize..gate.end as usize]
    }

    /// Number of rows in memory: one more than the highest that occurs.
    pub(crate) fn n_rows_in_memory(&self) -> usize {
        self.in_memory.last().map_or(0, |&row| row as usize + 1)
    }

    /// Lets outputs take the place of a given row where the last read of that row, in this order, is not after the
    /// output is complete. Returns the outputs, by their numbers in memory.
    pub(crate) fn settle(&mut self, homes: &[(u32, u32)], times: &Times) -> Vec<u32> {
        self.home.clone_from(&self.in_memory);
        let mut settled = Vec::new();
        for &(row, home) in homes {
            let Ok(idx) = self.in_memory.binary_search(&row) else {
                continue;
            };
            let is_output = match self.gate_of[idx] {
                NONE => false,
                gate => self.gates[gate as usize].is_output,
            };
            let last_read = match self.in_memory.binary_search(&home) {
                Ok(given) => times.last_read[given],
                Err(_) => 0,
            };
            if is_output && last_read <= times.complete[idx] {
                self.home[idx] = home;
                settled.push(row);
            }
        }
        settled
    }

    /// Number of rows that gates read, counted once per gate.
    pub(crate) fn n_reads(&self) -> usize {
        self.rows.len()
    }
}

impl Form {
    /// Whether it has no plain rows: then the disjunction of the negative ones is stored, or its complement for an
    /// output.
    pub(crate) fn is_disjunction(&self) -> bool {
        self.plain == self.end
    }

    /// Whether the disjunction must be complemented.
    pub(crate) fn is_inverted(&self) -> bool {
        self.is_disjunction() && self.is_output
    }

    /// Number of negative and of plain rows.
    pub(crate) fn n_rows(&self) -> (u32, u32) {
        (self.plain - self.start, self.end - self.plain)
    }
}

/// Literals of all gates, with copies replaced by their sources.
struct Resolved {
    ends: Vec<u32>,
    literals: Vec<Literal>,
}

impl Resolved {
    fn new(code: &Code) -> Resolved {
        let mut resolved = Resolved {
            ends: Vec::with_capacity(code.n_gates()),
            literals: Vec::with_capacity(code.n_literals()),
        };
        let mut source: Vec<u32> = (0..code.n_rows() as u32).map(|row| row * 2).collect();
        let mut is_taken = vec![false; code.n_rows()];
        for gate in 0..code.n_gates() {
            let start = resolved.literals.len();
            for literal in code.literals(gate) {
                let row = literal.row() as usize;
                is_taken[row] = true;
                resolved
                    .literals
                    .push(Literal(source[row] ^ (literal.0 & 1)));
            }
            let target = code.target(gate) as usize;
            assert!(
                !is_taken[target],
                "row {target} must be computed once, before it is read"
            );
            is_taken[target] = true;
            resolved.tidy(start);
            if let [only] = resolved.literals[start..] {
                source[target] = only.0;
            }
            resolved.ends.push(resolved.literals.len() as u32);
        }
        resolved
    }

    /// Removes duplicates from the last gate. If it reads a row and its complement, it keeps only these two.
    fn tidy(&mut self, start: usize) {
        self.literals[start..].sort_unstable();
        let mut end = start;
        for idx in start..self.literals.len() {
            let literal = self.literals[idx];
            if end > start && literal == self.literals[end - 1] {
                continue;
            }
            if end > start && literal.row() == self.literals[end - 1].row() {
                self.literals[start] = self.literals[end - 1];
                self.literals[start + 1] = literal;
                end = start + 2;
                break;
            }
            self.literals[end] = literal;
            end += 1;
        }
        self.literals.truncate(end);
    }

    fn literals(&self, gate: usize) -> &[Literal] {
        let start = gate.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.literals[start as usize..self.ends[gate] as usize]
    }

    /// Per gate, whether an output needs it; per row, whether it is an output.
    fn live(&self, code: &Code) -> (Vec<bool>, Vec<bool>) {
        let mut is_output = vec![false; code.n_rows()];
        for &row in code.outputs() {
            // An output that no gate mentions is given and does not change.
            if let Some(flag) = is_output.get_mut(row as usize) {
                *flag = true;
            }
        }
        let mut is_needed = is_output.clone();
        let mut is_live = vec![false; code.n_gates()];
        for gate in (0..code.n_gates()).rev() {
            if is_needed[code.target(gate) as usize] {
                is_live[gate] = true;
                for literal in self.literals(gate) {
                    is_needed[literal.row() as usize] = true;
                }
            }
        }
        (is_live, is_output)
    }
}
