//! Instruction selection: turns steps into instructions.
//!
//! A step folds rows, and the partial value of its gate if there is one, into `(p1 & p2 & …) & !(n1 | n2 | …)`. A
//! partial value is another operand: plain if a plain row is in it, otherwise negative. Operands in memory are read by
//! the instruction itself, unless they are read again soon.
//!
//! With AVX2, the disjunction comes first, because AND-NOT complements its first operand, and only the second one can
//! be in memory. With AVX-512 each instruction folds two operands, of which one may be in memory, or computes a value
//! of two rows and folds it in the same instruction.

use super::allocate::{Allocation, NextUses};
use super::assembler::{Assembler, Operation, Place, Register, Width};
use crate::lanes::kernel::forms::{Form, Forms, NONE};
use crate::lanes::kernel::schedule::Schedule;

/// Emits the function that sets all outputs.
pub(super) fn emit(forms: &Forms, schedule: &Schedule, width: Width) -> Vec<u8> {
    let n_bytes = 64 + 10 * schedule.reads().len() + 8 * schedule.steps.len();
    let mut assembler = Assembler::new(width, forms.n_rows_in_memory(), n_bytes);
    let mut n_registers = width.n_registers();
    let mut ones = None;
    if width == Width::Ymm && forms.gates.iter().any(Form::is_inverted) {
        // The last register always holds ones, for complements.
        n_registers -= 1;
        ones = Some(Register(n_registers));
        assembler.set(Register(n_registers));
    }
    let mut emitter = Emitter {
        forms,
        schedule,
        uses: NextUses::new(forms, schedule),
        ones,
        allocation: Allocation::new(forms, assembler, n_registers),
        is_partly_plain: vec![false; forms.gates.len()],
        operands: Vec::new(),
    };
    let mut step = 0;
    while step < schedule.steps.len() {
        if width == Width::Zmm && emitter.can_fuse(step) {
            emitter.fused_steps(step);
            step += 2;
        } else {
            emitter.step(step, width);
            step += 1;
        }
    }
    emitter.allocation.assembler.finish()
}

/// An operand of a step.
#[derive(Clone, Copy)]
struct Operand {
    row: u32,
    next_use: u32,
    is_negative: bool,
}

/// The result of a step.
struct Outcome {
    row: u32,
    next_use: u32,
    /// Whether the disjunction of the operands must be complemented.
    is_inverted: bool,
    /// Whether the result is the disjunction of the operands.
    is_complement: bool,
    is_stored: bool,
}

struct Emitter<'a> {
    // Constant.
    forms: &'a Forms,
    schedule: &'a Schedule,
    uses: NextUses,
    /// A register with ones in all lanes, if one is needed.
    ones: Option<Register>,
    // Changed by each step.
    allocation: Allocation<'a>,
    /// Per gate: whether a plain row has been folded into its value.
    is_partly_plain: Vec<bool>,
    /// The operands of the current step.
    operands: Vec<Operand>,
}

impl Emitter<'_> {
    fn step(&mut self, step: usize, width: Width) {
        self.allocation.begin(step as u32);
        let outcome = self.gather(step);
        let mut operands = std::mem::take(&mut self.operands);
        let register = match operands.as_slice() {
            [only] if !outcome.is_inverted => {
                self.copy(*only, outcome.row);
                None
            }
            // A row and its complement.
            [one, other] if one.row == other.row => Some(self.zero(*one, *other)),
            _ => Some(match width {
                Width::Ymm => self.fold(&mut operands, &outcome),
                Width::Zmm => self.fold_ternary(&mut operands, &outcome),
            }),
        };
        self.operands = operands;
        if let Some(register) = register {
            self.keep(register, &outcome);
        }
    }

    /// Collects the operands of a step, and returns what it computes.
    fn gather(&mut self, step: usize) -> Outcome {
        let range = self.schedule.range(step);
        let reads = self.schedule.reads()[range.clone()].iter();
        let uses = &self.uses.by_read[range];
        let next_use = self.uses.by_target[step];
        let step = &self.schedule.steps[step];
        let form = &self.forms.gates[step.gate as usize];
        let is_partly_plain = &mut self.is_partly_plain[step.gate as usize];
        let partial = (!step.is_first).then_some(Operand {
            row: form.target,
            next_use: NONE,
            is_negative: !*is_partly_plain,
        });
        let operands = reads.zip(uses).map(|(read, &next_use)| Operand {
            row: read.row(),
            next_use,
            is_negative: read.is_negative(),
        });
        self.operands.clear();
        self.operands.extend(partial.into_iter().chain(operands));
        *is_partly_plain = self.operands.iter().any(|operand| !operand.is_negative);
        let is_inverted = step.is_last && form.is_inverted();
        Outcome {
            row: form.target,
            next_use,
            is_inverted,
            is_complement: !(*is_partly_plain || is_inverted),
            is_stored: step.is_last && form.is_output,
        }
    }

    /// Assigns the value that a step has computed to its row.
    fn keep(&mut self, register: Register, outcome: &Outcome) {
        let allocation = &mut self.allocation;
        allocation.assign(register, outcome.row, outcome.next_use);
        if outcome.is_stored {
            allocation.store_output(register, outcome.row);
        }
        if outcome.next_use == NONE {
            allocation.release(register);
        }
    }

    /// Copies a row to an output.
    fn copy(&mut self, from: Operand, to: u32) {
        let allocation = &mut self.allocation;
        if !allocation.is_in_register(from.row) {
            allocation.cache(from.row, from.next_use);
        }
        match allocation.place(from.row) {
            Place::Register(register) => {
                allocation.store_output(register, to);
                allocation.was_read(from.row, from.next_use);
            }
            Place::Row(row) => {
                let register = allocation.temporary();
                allocation.assembler.load(register, row);
                allocation.store_output(register, to);
                allocation.release(register);
                allocation.was_read(from.row, from.next_use);
            }
        }
    }

    /// Computes a result that is false in all lanes.
    fn zero(&mut self, one: Operand, other: Operand) -> Register {
        let allocation = &mut self.allocation;
        // Of two reads of one row, the later one knows whether it is the last.
        let next_use = if one.next_use == allocation.now() {
            other.next_use
        } else {
            one.next_use
        };
        allocation.was_read(one.row, next_use);
        let to = allocation.temporary();
        let assembler = &mut allocation.assembler;
        assembler.operate(Operation::Xor, to, to, Place::Register(to));
        to
    }

    /// AVX2: the disjunction first, then the plain operands.
    fn fold(&mut self, operands: &mut [Operand], outcome: &Outcome) -> Register {
        let n_negative = partition(operands, |operand| operand.is_negative);
        let (negative, plain) = operands.split_at_mut(n_negative);
        let first_group = if negative.is_empty() { plain } else { negative };
        let first = self.first(first_group);
        first_group.swap(0, first);
        let mut value = self.start(operands[0]);
        for (idx, &operand) in operands.iter().enumerate().skip(1) {
            let operation = match idx {
                _ if idx < n_negative => Operation::Or,
                _ if idx == n_negative => Operation::AndNot,
                _ => Operation::And,
            };
            value = self.combine(operation, value, operand);
        }
        if outcome.is_inverted {
            value = self.complement(value);
        }
        value.register
    }

    /// The operand to start with: one that is in a register, preferably for the last time; otherwise the one with the
    /// nearest next use, because it gets loaded into a register.
    fn first(&self, operands: &[Operand]) -> usize {
        let key = |operand: &Operand| {
            if self.allocation.is_in_register(operand.row) {
                (0, NONE - operand.next_use)
            } else {
                (1, operand.next_use)
            }
        };
        let mut first = 0;
        for idx in 1..operands.len() {
            if key(&operands[idx]) < key(&operands[first]) {
                first = idx;
            }
        }
        first
    }

    /// Brings the first operand into a register.
    fn start(&mut self, operand: Operand) -> Value {
        let allocation = &mut self.allocation;
        if !allocation.is_in_register(operand.row) {
            allocation.cache(operand.row, operand.next_use);
        }
        match allocation.place(operand.row) {
            Place::Register(register) => Value {
                register,
                operand: Some(operand),
            },
            Place::Row(row) => {
                let register = allocation.temporary();
                allocation.assembler.load(register, row);
                allocation.was_read(operand.row, operand.next_use);
                Value {
                    register,
                    operand: None,
                }
            }
        }
    }

    /// `value op operand`
    fn combine(&mut self, operation: Operation, value: Value, operand: Operand) -> Value {
        self.allocation.lock(value.register);
        let place = self.second(operand);
        self.finish_reading(value);
        self.allocation.was_read(operand.row, operand.next_use);
        let to = self.result_register(value, place, operand);
        let assembler = &mut self.allocation.assembler;
        assembler.operate(operation, to, value.register, place);
        Value {
            register: to,
            operand: None,
        }
    }

    /// The location of a second operand: a register, if it is there or is read again soon, otherwise memory.
    fn second(&mut self, operand: Operand) -> Place {
        let allocation = &mut self.allocation;
        if !allocation.is_in_register(operand.row) {
            allocation.cache(operand.row, operand.next_use);
        }
        allocation.place(operand.row)
    }

    /// Frees the register of a value that is read for the last time.
    fn finish_reading(&mut self, value: Value) {
        match value.operand {
            Some(operand) => self.allocation.was_read(operand.row, operand.next_use),
            None => self.allocation.release(value.register),
        }
    }

    /// A register for a result: preferably one that has just become free, but never one that the instruction reads and
    /// that is read again later.
    fn result_register(&mut self, value: Value, place: Place, operand: Operand) -> Register {
        let allocation = &mut self.allocation;
        allocation.unlock();
        let is_read_again = |operand: Operand| operand.next_use != NONE;
        if value.operand.is_some_and(is_read_again) {
            allocation.lock(value.register);
        }
        if let Place::Register(register) = place
            && is_read_again(operand)
        {
            allocation.lock(register);
        }
        let to = allocation.temporary();
        allocation.unlock();
        to
    }

    fn complement(&mut self, value: Value) -> Value {
        let ones = self.ones.expect("reserved if there is an inverted gate");
        self.finish_reading(value);
        let to = self.allocation.temporary();
        let assembler = &mut self.allocation.assembler;
        assembler.operate(Operation::Xor, to, ones, Place::Register(value.register));
        Value {
            register: to,
            operand: None,
        }
    }

    /// AVX-512: two operands at a time, of which one may be in memory.
    fn fold_ternary(&mut self, operands: &mut [Operand], outcome: &Outcome) -> Register {
        if let [only] = *operands {
            return self.complement_of(only);
        }
        let first = self.first(operands);
        operands.swap(0, first);
        let mut value = self.start(operands[0]);
        let mut is_complement = operands[0].is_negative;
        // Operands in registers come first, but each is best folded together with one in memory.
        let rest = &mut operands[1..];
        let n_in_registers = partition(rest, |operand| self.allocation.is_in_register(operand.row));
        let (in_registers, in_memory) = rest.split_at(n_in_registers);
        let (mut in_registers, mut in_memory) = (in_registers.iter(), in_memory.iter());
        while let Some(&operand) = in_registers.next().or_else(|| in_memory.next()) {
            self.allocation.lock(value.register);
            let place = self.second(operand);
            let pair = match place {
                Place::Register(register) if value.is_last_read() => {
                    let other = in_memory.next().or_else(|| in_registers.next());
                    other.map(|&other| (register, other))
                }
                _ => None,
            };
            let is_last = in_registers.len() + in_memory.len() == 0;
            let mut is_negative = is_complement && operand.is_negative;
            if let Some((_, other)) = pair {
                is_negative &= other.is_negative;
            }
            // Until the last instruction, a disjunction stays one if possible.
            let wanted = if is_last {
                outcome.is_complement
            } else {
                is_negative
            };
            let signs = [is_complement, operand.is_negative];
            value = match pair {
                Some((register, other)) => {
                    self.allocation.lock(register);
                    self.combine_three(value, (operand, register), other, signs, wanted)
                }
                None => self.combine_two(value, (operand, place), signs, wanted),
            };
            is_complement = wanted;
        }
        value.register
    }

    /// Folds two operands into a value that is not read elsewhere. `signs` says which of the first two are
    /// complemented, `wanted` whether the result is.
    fn combine_three(
        &mut self,
        value: Value,
        (operand, register): (Operand, Register),
        other: Operand,
        signs: [bool; 2],
        wanted: bool,
    ) -> Value {
        let place = self.second(other);
        let to = self.own(value);
        let function = function([signs[0], signs[1], other.is_negative], wanted);
        let allocation = &mut self.allocation;
        allocation.assembler.ternary(to, register, place, function);
        allocation.was_read(operand.row, operand.next_use);
        allocation.was_read(other.row, other.next_use);
        allocation.unlock();
        Value {
            register: to,
            operand: None,
        }
    }

    /// Folds an operand into a value: by a two-operand instruction if there is one for these signs, otherwise by a
    /// three-operand one that ignores the second.
    fn combine_two(
        &mut self,
        value: Value,
        (operand, place): (Operand, Place),
        signs: [bool; 2],
        wanted: bool,
    ) -> Value {
        let (first, second) = (value.register, place);
        let plain = match (signs, wanted, place) {
            ([false, false], false, _) => Some((Operation::And, first, second)),
            ([true, true], true, _) => Some((Operation::Or, first, second)),
            ([true, false], false, _) => Some((Operation::AndNot, first, second)),
            ([false, true], false, Place::Register(register)) => {
                Some((Operation::AndNot, register, Place::Register(first)))
            }
            _ => None,
        };
        if let Some((operation, first, second)) = plain {
            self.finish_reading(value);
            self.allocation.was_read(operand.row, operand.next_use);
            let to = self.result_register(value, place, operand);
            let assembler = &mut self.allocation.assembler;
            assembler.operate(operation, to, first, second);
            return Value {
                register: to,
                operand: None,
            };
        }
        if let Place::Register(register) = place {
            self.allocation.lock(register);
        }
        let to = self.own(value);
        let allocation = &mut self.allocation;
        let function = two_of_three(signs, wanted);
        allocation.assembler.ternary(to, to, place, function);
        allocation.was_read(operand.row, operand.next_use);
        allocation.unlock();
        Value {
            register: to,
            operand: None,
        }
    }

    /// Whether a step computes a value of two rows that only the next step reads, together with one other row: then one
    /// instruction does both.
    fn can_fuse(&self, step: usize) -> bool {
        let schedule = self.schedule;
        let (Some(this), Some(next)) = (schedule.steps.get(step), schedule.steps.get(step + 1))
        else {
            return false;
        };
        let (range, next_range) = (schedule.range(step), schedule.range(step + 1));
        let target = self.forms.gates[this.gate as usize].target;
        let n_operands = next_range.len() + usize::from(!next.is_first);
        let is_simple = this.is_first && this.is_last && range.len() == 2 && n_operands == 2;
        if !is_simple || self.forms.gates[this.gate as usize].is_output {
            return false;
        }
        let is_only_use = next_range
            .clone()
            .any(|read| schedule.reads()[read].row() == target && self.uses.by_read[read] == NONE);
        let rows = range.chain(next_range);
        let rows: Vec<u32> = rows.map(|read| schedule.reads()[read].row()).collect();
        let is_distinct = (1..rows.len()).all(|idx| !rows[..idx].contains(&rows[idx]));
        is_only_use && is_distinct
    }

    /// Emits a step and the next as one instruction.
    fn fused_steps(&mut self, step: usize) {
        self.allocation.begin(step as u32 + 1);
        let inner = self.gather(step);
        let [x, y] = [self.operands[0], self.operands[1]];
        let outer = self.gather(step + 1);
        let inner_idx = usize::from(self.operands[1].row == inner.row);
        let (inner_operand, other) = (self.operands[inner_idx], self.operands[1 - inner_idx]);
        let function = |[value, x_bit, y_bit]: [bool; 3]| {
            let both = (x_bit != x.is_negative) && (y_bit != y.is_negative);
            let inner_bit = both != inner.is_complement;
            let all = (value != other.is_negative) && (inner_bit != inner_operand.is_negative);
            all != outer.is_complement
        };
        let register = self.combine_any([other, x, y], function);
        self.keep(register, &outer);
    }

    /// Any function of three operands.
    fn combine_any(
        &mut self,
        operands: [Operand; 3],
        function: impl Fn([bool; 3]) -> bool,
    ) -> Register {
        // Step 1. The first two operands are in registers, the third anywhere.
        let mut order = [0, 1, 2];
        order.sort_by_key(|&idx| !self.allocation.is_in_register(operands[idx].row));
        for operand in operands {
            if let Place::Register(register) = self.allocation.place(operand.row) {
                self.allocation.lock(register);
            }
        }
        let mut first = self.start(operands[order[0]]);
        self.allocation.lock(first.register);
        let mut second = self.start(operands[order[1]]);
        self.allocation.lock(second.register);
        let third = operands[order[2]];
        let mut place = self.second(third);
        // Step 2. The first is overwritten: preferably one that is not read again.
        if !first.is_last_read() && second.is_last_read() {
            (first, second) = (second, first);
            order.swap(0, 1);
        }
        let mut third = Some(third);
        if let (false, Place::Register(register)) = (first.is_last_read(), place) {
            let as_value = Value {
                register,
                operand: third,
            };
            if as_value.is_last_read() {
                place = Place::Register(first.register);
                third = first.operand;
                first = as_value;
                order.swap(0, 2);
            }
        }
        let to = self.own(first);
        // Step 3. The function, permuted like the operands.
        let mut code = 0;
        for case in 0..8_u8 {
            let mut bits = [false; 3];
            for (place, &idx) in order.iter().enumerate() {
                bits[idx] = case >> (2 - place) & 1 == 1;
            }
            code |= u8::from(function(bits)) << case;
        }
        self.allocation
            .assembler
            .ternary(to, second.register, place, code);
        self.finish_reading(second);
        if let Some(third) = third {
            self.allocation.was_read(third.row, third.next_use);
        }
        self.allocation.unlock();
        to
    }

    /// A register with the value that may be overwritten.
    fn own(&mut self, value: Value) -> Register {
        self.allocation.lock(value.register);
        match value.operand {
            None => value.register,
            Some(operand) if operand.next_use == NONE => {
                self.allocation.was_read(operand.row, NONE);
                self.allocation.take_over(value.register);
                value.register
            }
            Some(operand) => {
                let to = self.allocation.temporary();
                self.allocation.assembler.copy(to, value.register);
                self.allocation.was_read(operand.row, operand.next_use);
                to
            }
        }
    }

    /// The complement of a single operand.
    fn complement_of(&mut self, operand: Operand) -> Register {
        let place = self.second(operand);
        let allocation = &mut self.allocation;
        if let Place::Register(register) = place {
            allocation.lock(register);
        }
        let to = allocation.temporary();
        allocation.assembler.ternary(to, to, place, NOT_THIRD);
        allocation.was_read(operand.row, operand.next_use);
        allocation.unlock();
        to
    }
}

/// The function "not the third".
const NOT_THIRD: u8 = 0b0101_0101;

/// The function "all three, each complemented if its sign says so", or its complement.
fn function(signs: [bool; 3], is_complement: bool) -> u8 {
    let mut function = 0;
    for case in 0..8_u8 {
        let bits = [case & 4 != 0, case & 2 != 0, case & 1 != 0];
        let all = bits.iter().zip(signs).all(|(&bit, sign)| bit != sign);
        function |= u8::from(all != is_complement) << case;
    }
    function
}

/// The same for the first and the third, whatever the second is.
fn two_of_three(signs: [bool; 2], is_complement: bool) -> u8 {
    let all =
        function([signs[0], false, signs[1]], false) | function([signs[0], true, signs[1]], false);
    if is_complement { !all } else { all }
}

/// A value under construction: a temporary, or an operand that was not changed yet.
#[derive(Clone, Copy)]
struct Value {
    register: Register,
    operand: Option<Operand>,
}

impl Value {
    /// Whether the register is not read again.
    fn is_last_read(&self) -> bool {
        self.operand.is_none_or(|operand| operand.next_use == NONE)
    }
}

/// Moves the operands that satisfy `fits` to the front; returns their number.
fn partition(operands: &mut [Operand], fits: impl Fn(&Operand) -> bool) -> usize {
    let mut n_fitting = 0;
    for idx in 0..operands.len() {
        if fits(&operands[idx]) {
            operands.swap(idx, n_fitting);
            n_fitting += 1;
        }
    }
    n_fitting
}
