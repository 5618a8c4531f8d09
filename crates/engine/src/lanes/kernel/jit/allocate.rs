//! Register allocation: which values are in registers, and where the others are in memory.
//!
//! When a register is needed, the value whose next use is furthest away is spilled (Belady's rule). Values of gates
//! that are not outputs are stored only when spilled, in a free row, the most recently freed first. So most values
//! never reach memory, and few rows are in use.
//!
//! - Belady 1966, A study of replacement algorithms for a virtual-storage computer

use super::assembler::{Assembler, Place, Register};
use crate::lanes::kernel::forms::{Form, Forms, NONE};
use crate::lanes::kernel::schedule::Schedule;

/// A value in a register that does not belong to a row yet.
const TEMPORARY: u32 = NONE - 1;
const NO_REGISTER: u8 = u8::MAX;

/// A row whose next use is further away than this number of steps is not loaded into a register for it. With 4096
/// instead, reversi takes 1.07 times as long and other games the same; without any such loads, code takes 1.05
/// (skirmish) to 2 times (quarto) as long.
const FAR: u32 = 64;

/// The next use of each value.
pub(super) struct NextUses {
    /// Per read of the schedule: the step that reads the row next, or [`NONE`].
    pub(super) by_read: Vec<u32>,
    /// Per step: the step that reads its target next, or [`NONE`].
    pub(super) by_target: Vec<u32>,
}

impl NextUses {
    pub(super) fn new(forms: &Forms, schedule: &Schedule) -> NextUses {
        let mut last = vec![NONE; forms.gate_of.len()];
        let mut uses = NextUses {
            by_read: vec![NONE; schedule.reads().len()],
            by_target: vec![NONE; schedule.steps.len()],
        };
        for (idx, step) in schedule.steps.iter().enumerate().rev() {
            let target = forms.gates[step.gate as usize].target as usize;
            uses.by_target[idx] = last[target];
            last[target] = if step.is_first { NONE } else { idx as u32 };
            for read in schedule.range(idx).rev() {
                let row = schedule.reads()[read].row() as usize;
                uses.by_read[read] = last[row];
                last[row] = idx as u32;
            }
        }
        uses
    }
}

/// Registers and rows in use.
pub(super) struct Allocation<'a> {
    forms: &'a Forms,
    pub(super) assembler: Assembler,
    /// The step that is being emitted.
    now: u32,
    /// Free registers, as bits.
    free: u32,
    /// Registers that the current instruction uses, as bits.
    locked: u32,
    /// Per register: the row whose value it holds, and its next use.
    values: [u32; 32],
    next_uses: [u32; 32],
    n_registers: u8,
    /// Per row: the register that holds its value.
    register_of: Vec<u8>,
    /// Per row: the row in memory that holds its value, or [`NONE`].
    slot_of: Vec<u32>,
    free_slots: Vec<u32>,
    /// Slots that become free with the next step.
    freed_slots: Vec<u32>,
}

impl<'a> Allocation<'a> {
    /// All given rows are in memory, and all registers are free.
    pub(super) fn new(forms: &'a Forms, assembler: Assembler, n_registers: u8) -> Allocation<'a> {
        let given = |(&gate, &row): (&u32, &u32)| if gate == NONE { row } else { NONE };
        let rows = forms.gate_of.iter().zip(&forms.in_memory);
        // Rows of gates that are not outputs can be used for spilled values.
        let is_spare = |gate: &&Form| !gate.is_output;
        let spare = forms.gates.iter().filter(is_spare);
        let spare = spare.map(|gate| forms.in_memory[gate.target as usize]);
        Allocation {
            forms,
            assembler,
            now: 0,
            free: u32::MAX >> (32 - u32::from(n_registers)),
            locked: 0,
            values: [NONE; 32],
            next_uses: [NONE; 32],
            n_registers,
            register_of: vec![NO_REGISTER; forms.gate_of.len()],
            slot_of: rows.map(given).collect(),
            free_slots: spare.rev().collect(),
            freed_slots: Vec::new(),
        }
    }

    /// Moves on to a step.
    pub(super) fn begin(&mut self, step: u32) {
        self.now = step;
        self.free_slots.append(&mut self.freed_slots);
    }

    /// The location of a row's value.
    pub(super) fn place(&self, row: u32) -> Place {
        match self.register_of[row as usize] {
            NO_REGISTER => Place::Row(self.slot_of[row as usize]),
            register => Place::Register(Register(register)),
        }
    }

    /// The step that is being emitted.
    pub(super) fn now(&self) -> u32 {
        self.now
    }

    /// Whether the value of a row is in a register.
    pub(super) fn is_in_register(&self, row: u32) -> bool {
        self.register_of[row as usize] != NO_REGISTER
    }

    /// Keeps a register for the current instruction, even if its value is not read again.
    pub(super) fn lock(&mut self, register: Register) {
        self.locked |= 1 << register.0;
    }

    /// Ends an instruction.
    pub(super) fn unlock(&mut self) {
        self.locked = 0;
    }

    /// Records that a row was read, and its next use; if there is none, its register and its slot become free.
    pub(super) fn was_read(&mut self, row: u32, next_use: u32) {
        let register = self.register_of[row as usize];
        if next_use != NONE {
            if register != NO_REGISTER {
                self.next_uses[usize::from(register)] = next_use;
            }
            return;
        }
        if register != NO_REGISTER {
            self.release(Register(register));
        }
        let gate = self.forms.gate_of[row as usize];
        if gate != NONE && !self.forms.gates[gate as usize].is_output {
            let slot = std::mem::replace(&mut self.slot_of[row as usize], NONE);
            if slot != NONE {
                // Only after the instruction has read it.
                self.freed_slots.push(slot);
            }
        }
    }

    /// A register for the result of an instruction, which does not belong to a row yet.
    pub(super) fn temporary(&mut self) -> Register {
        let register = self.take();
        self.values[usize::from(register.0)] = TEMPORARY;
        self.next_uses[usize::from(register.0)] = self.now;
        register
    }

    /// Turns a register whose value was read for the last time into a temporary.
    pub(super) fn take_over(&mut self, register: Register) {
        self.free &= !(1 << register.0);
        self.values[usize::from(register.0)] = TEMPORARY;
        self.next_uses[usize::from(register.0)] = self.now;
    }

    /// Frees a register.
    pub(super) fn release(&mut self, register: Register) {
        let value = std::mem::replace(&mut self.values[usize::from(register.0)], NONE);
        if value < TEMPORARY {
            self.register_of[value as usize] = NO_REGISTER;
        }
        self.free |= 1 << register.0;
    }

    /// Assigns the value in a register to a row, which is not in memory.
    pub(super) fn assign(&mut self, register: Register, row: u32, next_use: u32) {
        self.values[usize::from(register.0)] = row;
        self.next_uses[usize::from(register.0)] = next_use;
        self.register_of[row as usize] = register.0;
        self.slot_of[row as usize] = NONE;
    }

    /// Stores an output in its row.
    pub(super) fn store_output(&mut self, register: Register, row: u32) {
        let slot = self.forms.home[row as usize];
        self.assembler.store(register, slot);
        self.slot_of[row as usize] = slot;
    }

    /// Loads a row into a register if that pays off: its next use comes before that of a value that is also in memory.
    pub(super) fn cache(&mut self, row: u32, next_use: u32) -> bool {
        if next_use == NONE || next_use - self.now > FAR {
            return false;
        }
        if self.free & !self.locked == 0 {
            let later = self.latest(|register| self.slot_of_value(register) != NONE);
            match later {
                Some((register, use_of_other)) if use_of_other > next_use => {
                    self.release(register);
                }
                _ => return false,
            }
        }
        let register = self.take();
        self.assembler.load(register, self.slot_of[row as usize]);
        self.values[usize::from(register.0)] = row;
        self.next_uses[usize::from(register.0)] = self.now;
        self.register_of[row as usize] = register.0;
        true
    }

    /// Takes a free register, or evicts the value whose next use is furthest away.
    fn take(&mut self) -> Register {
        let free = self.free & !self.locked;
        let register = if free != 0 {
            Register(free.trailing_zeros() as u8)
        } else {
            self.evict()
        };
        self.free &= !(1 << register.0);
        register
    }

    fn evict(&mut self) -> Register {
        let (register, _) = self
            .latest(|_| true)
            .expect("an instruction does not lock all registers");
        if self.slot_of_value(register) == NONE {
            self.spill(register);
        }
        self.release(register);
        register
    }

    /// The register whose value has the furthest next use, among those that are not locked and satisfy `fits`.
    fn latest(&self, fits: impl Fn(Register) -> bool) -> Option<(Register, u32)> {
        let registers = (0..self.n_registers).map(Register);
        registers
            .filter(|&register| {
                self.locked & 1 << register.0 == 0
                    && self.values[usize::from(register.0)] < TEMPORARY
                    && fits(register)
            })
            .map(|register| (register, self.next_uses[usize::from(register.0)]))
            .max_by_key(|&(_, next_use)| next_use)
    }

    fn slot_of_value(&self, register: Register) -> u32 {
        self.slot_of[self.values[usize::from(register.0)] as usize]
    }

    /// Spills a value that is not in memory. An output uses its own row, any other value a free row. That is not
    /// necessarily the row of its gate: another value may be there, since a partly computed value may be spilled and
    /// reloaded several times.
    fn spill(&mut self, register: Register) {
        let row = self.values[usize::from(register.0)];
        let gate = self.forms.gate_of[row as usize] as usize;
        let own = self.forms.in_memory[row as usize];
        let slot = if self.forms.gates[gate].is_output {
            own
        } else {
            self.free_slots
                .pop()
                .expect("there is a row for each gate that is not an output")
        };
        self.slot_of[row as usize] = slot;
        self.assembler.store(register, slot);
    }
}
