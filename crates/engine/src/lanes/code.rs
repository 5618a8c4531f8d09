//! Straight-line code over rows, the input of a kernel.
//!
//! A row holds one signal of the network for all lanes. Each gate sets its target row to the conjunction of some rows,
//! plain or complemented. Gates are in an order in which every row is computed before it is read. A
//! [`Kernel`](super::kernel::Kernel) is made from the code; it may choose another order.

/// A row or its complement: row * 2 + complement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Literal(pub(crate) u32);

impl Literal {
    /// A row, plain or complemented.
    pub(crate) fn new(row: u32, is_complement: bool) -> Literal {
        Literal(row * 2 + u32::from(is_complement))
    }

    /// The row of the literal.
    pub(crate) fn row(self) -> u32 {
        self.0 / 2
    }

    /// Whether the literal is true where the row is false.
    pub(crate) fn is_complement(self) -> bool {
        self.0 % 2 == 1
    }
}

/// Gates in evaluation order, and the output rows.
#[derive(Clone, Default, Debug)]
pub(crate) struct Code {
    /// Per gate: its target row.
    targets: Vec<u32>,
    /// Per gate: the end of its literals; they start where those of the previous gate end.
    ends: Vec<u32>,
    literals: Vec<Literal>,
    outputs: Vec<u32>,
    /// Outputs that may be stored in the row of a given value instead of their own, and that row.
    homes: Vec<(u32, u32)>,
}

impl Code {
    /// Code without gates.
    pub(crate) fn new() -> Code {
        Code::default()
    }

    /// Appends `row[target] = AND of literals`. There is at least one literal; a single one is a copy or a complement.
    /// A target is written once, and must not have been read before.
    pub(crate) fn and(&mut self, target: u32, literals: &[Literal]) {
        assert!(!literals.is_empty(), "a gate has at least one literal");
        self.targets.push(target);
        self.literals.extend_from_slice(literals);
        let end = u32::try_from(self.literals.len()).expect("fewer than 2^32 literals");
        self.ends.push(end);
    }

    /// Declares a row as an output, needed after the code has run; other rows may never reach memory.
    pub(crate) fn output(&mut self, row: u32) {
        self.outputs.push(row);
    }

    /// Allows an output to be stored in a given row, whose value is not needed after the code has run.
    pub(crate) fn home(&mut self, row: u32, home: u32) {
        self.homes.push((row, home));
    }

    /// The outputs that may be stored in a given row, and that row.
    pub(crate) fn homes(&self) -> &[(u32, u32)] {
        &self.homes
    }

    /// Whether there are no gates.
    pub(crate) fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Number of gates.
    pub(crate) fn n_gates(&self) -> usize {
        self.targets.len()
    }

    /// Number of literals of all gates.
    pub(crate) fn n_literals(&self) -> usize {
        self.literals.len()
    }

    /// The target row of a gate.
    pub(crate) fn target(&self, gate: usize) -> u32 {
        self.targets[gate]
    }

    /// The literals of a gate.
    pub(crate) fn literals(&self, gate: usize) -> &[Literal] {
        let start = gate.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.literals[start as usize..self.ends[gate] as usize]
    }

    /// The output rows. There may be duplicates, and rows that no gate computes.
    pub(crate) fn outputs(&self) -> &[u32] {
        &self.outputs
    }

    /// One more than the highest row that occurs.
    pub(crate) fn n_rows(&self) -> usize {
        let read = self.literals.iter().map(|literal| literal.row());
        let rows = read.chain(self.targets.iter().copied());
        rows.max().map_or(0, |row| row as usize + 1)
    }

    /// Renumbers the rows without gaps; also returns the original row of each.
    pub(crate) fn renumbered(&self) -> (Code, Vec<u32>) {
        let read = self.literals.iter().map(|literal| literal.row());
        let mut rows: Vec<u32> = read.chain(self.targets.iter().copied()).collect();
        rows.sort_unstable();
        rows.dedup();
        let number = |row: u32| rows.binary_search(&row).ok().map(|idx| idx as u32);
        let renumber = |row: u32| number(row).expect("all rows are listed");
        let literal =
            |literal: &Literal| Literal::new(renumber(literal.row()), literal.is_complement());
        let code = Code {
            targets: self.targets.iter().copied().map(renumber).collect(),
            ends: self.ends.clone(),
            literals: self.literals.iter().map(literal).collect(),
            outputs: self.outputs.iter().copied().filter_map(number).collect(),
            homes: Vec::new(),
        };
        (code, rows)
    }
}
