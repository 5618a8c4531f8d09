//! An assembler for the x86-64 instructions that a kernel needs: bitwise operations on vectors, loads and stores.
//!
//! Rows of 256 lanes use the VEX encoding (AVX2, 16 registers), rows of 512 lanes the EVEX encoding (AVX-512F, 32
//! registers, and one instruction for any function of three vectors). The first argument of the code is the address of
//! the rows, in `rdi`; rows are addressed by displacements.
//!
//! With EVEX, a one-byte displacement counts whole rows and so reaches 256 rows. Additional base registers, 256 rows
//! apart, make most instructions of a small network three bytes shorter.
//!
//! - Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, sections 2.3 (VEX) and 2.7 (EVEX)

/// A vector register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Register(pub(super) u8);

/// The location of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Register(Register),
    /// In memory, in this row.
    Row(u32),
}

/// A bitwise operation on two vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operation {
    And,
    /// The second operand and the complement of the first.
    AndNot,
    Or,
    Xor,
}

impl Operation {
    fn opcode(self) -> u8 {
        match self {
            Operation::And => 0xDB,
            Operation::AndNot => 0xDF,
            Operation::Or => 0xEB,
            Operation::Xor => 0xEF,
        }
    }
}

/// The width of vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Width {
    /// 256 lanes, AVX2.
    Ymm,
    /// 512 lanes, AVX-512F.
    Zmm,
}

impl Width {
    /// Number of vector registers.
    pub(super) fn n_registers(self) -> u8 {
        match self {
            Width::Ymm => 16,
            Width::Zmm => 32,
        }
    }

    fn row_bytes(self) -> i64 {
        match self {
            Width::Ymm => 32,
            Width::Zmm => 64,
        }
    }
}

const LOAD: u8 = 0x6F;
const STORE: u8 = 0x7F;
const TERNARY: u8 = 0x25;
const COMPARE_EQUAL: u8 = 0x76;

/// Base registers, all of them caller-saved. The first is the argument.
const BASES: [u8; 9] = [7, 6, 2, 1, 0, 8, 9, 10, 11];
/// With EVEX, the number of rows that a one-byte displacement reaches, and how many of them are below the base.
const REACH: u32 = 256;
const BELOW: i64 = 128;

/// Writes instructions.
pub(super) struct Assembler {
    width: Width,
    n_bases: u32,
    bytes: Vec<u8>,
}

impl Assembler {
    /// Starts a function over rows below `n_rows`; `n_bytes` is an estimate of its length.
    pub(super) fn new(width: Width, n_rows: usize, n_bytes: usize) -> Assembler {
        let last = n_rows as i64 * width.row_bytes();
        assert!(
            i32::try_from(last).is_ok(),
            "displacements must fit into 32 bits"
        );
        let n_bases = match width {
            Width::Ymm => 0,
            Width::Zmm => (n_rows as u32).div_ceil(REACH).clamp(1, BASES.len() as u32),
        };
        let mut assembler = Assembler {
            width,
            n_bases,
            bytes: Vec::with_capacity(n_bytes),
        };
        for idx in (0..n_bases).rev() {
            assembler.load_base(idx);
        }
        assembler
    }

    /// `lea base, [rdi + …]`; the argument itself comes last.
    fn load_base(&mut self, idx: u32) {
        let base = BASES[idx as usize];
        let offset = (i64::from(idx * REACH) + BELOW) * self.width.row_bytes();
        self.bytes.push(0x48 | (base >> 3) << 2);
        self.bytes.push(0x8D);
        self.bytes.push(0x80 | (base & 7) << 3 | 7);
        self.bytes.extend((offset as i32).to_le_bytes());
    }

    /// Ends the function and returns its bytes.
    pub(super) fn finish(mut self) -> Vec<u8> {
        // vzeroupper; ret
        self.bytes.extend([0xC5, 0xF8, 0x77, 0xC3]);
        self.bytes
    }

    /// `to = row`
    pub(super) fn load(&mut self, to: Register, row: u32) {
        self.encode(LOAD, to, Register(0), Place::Row(row));
    }

    /// `to = from`
    pub(super) fn copy(&mut self, to: Register, from: Register) {
        self.encode(LOAD, to, Register(0), Place::Register(from));
    }

    /// `row = from`
    pub(super) fn store(&mut self, from: Register, row: u32) {
        self.encode(STORE, from, Register(0), Place::Row(row));
    }

    /// `to = first op second`
    pub(super) fn operate(
        &mut self,
        operation: Operation,
        to: Register,
        first: Register,
        second: Place,
    ) {
        let is_symmetric = operation != Operation::AndNot;
        // A high register as the second operand needs a longer VEX prefix.
        let (first, second) = match second {
            Place::Register(other) if is_symmetric && other.0 >= 8 && first.0 < 8 => {
                (other, Place::Register(first))
            }
            _ => (first, second),
        };
        self.encode(operation.opcode(), to, first, second);
    }

    /// `to = function(to, second, third)`: bit `4 * to + 2 * second + third` of the function is its value. AVX-512 only.
    pub(super) fn ternary(&mut self, to: Register, second: Register, third: Place, function: u8) {
        debug_assert_eq!(self.width, Width::Zmm);
        self.evex(0b011, TERNARY, to, second, third);
        self.bytes.push(function);
    }

    /// `to = true in all lanes`; AVX2 only, where complements need it.
    pub(super) fn set(&mut self, to: Register) {
        debug_assert_eq!(self.width, Width::Ymm);
        self.vex(COMPARE_EQUAL, to, to, Place::Register(to));
    }

    fn encode(&mut self, opcode: u8, to: Register, first: Register, second: Place) {
        match self.width {
            Width::Ymm => self.vex(opcode, to, first, second),
            Width::Zmm => self.evex(0b001, opcode, to, first, second),
        }
    }

    /// VEX.256.66.0F: a prefix of two bytes, or of three if the second operand is a high register.
    fn vex(&mut self, opcode: u8, to: Register, first: Register, second: Place) {
        let not_r = !to.0 << 4 & 0x80;
        let last = (!first.0 & 15) << 3 | 0b101;
        match second {
            Place::Register(Register(8..)) => self.bytes.extend([0xC4, not_r | 0x41, last]),
            _ => self.bytes.extend([0xC5, not_r | last]),
        }
        self.bytes.push(opcode);
        match second {
            Place::Register(register) => self.mod_rm(0b11, to, register.0),
            Place::Row(row) => {
                let displacement = i64::from(row) * self.width.row_bytes();
                self.address(to, BASES[0], displacement, i8::try_from(displacement).ok());
            }
        }
    }

    /// EVEX.512.66.W0 of a map: a prefix of four bytes.
    fn evex(&mut self, map: u8, opcode: u8, to: Register, first: Register, second: Place) {
        let (base, displacement) = match second {
            Place::Row(row) => self.base(row),
            Place::Register(_) => (0, 0),
        };
        // The fourth and fifth bits of the second operand; a base register has no fifth.
        let second_code = match second {
            Place::Register(register) => register.0,
            Place::Row(_) => base,
        };
        let not_r = !to.0 << 4 & 0x80;
        let not_r_high = !to.0 & 0x10;
        let not_x = !second_code << 2 & 0x40;
        let not_b = !second_code << 2 & 0x20;
        self.bytes.extend([
            0x62,
            not_r | not_x | not_b | not_r_high | map,
            (!first.0 & 15) << 3 | 0b101,
            0x40 | (!first.0 & 0x10) >> 1,
            opcode,
        ]);
        match second {
            Place::Register(register) => self.mod_rm(0b11, to, register.0),
            Place::Row(_) => {
                let in_rows = displacement / self.width.row_bytes();
                self.address(to, base, displacement, i8::try_from(in_rows).ok());
            }
        }
    }

    /// The base register that reaches a row, and the displacement from there.
    fn base(&self, row: u32) -> (u8, i64) {
        let idx = if row / REACH < self.n_bases {
            row / REACH
        } else {
            0
        };
        let rows = i64::from(row) - i64::from(idx * REACH) - BELOW;
        (BASES[idx as usize], rows * self.width.row_bytes())
    }

    fn mod_rm(&mut self, mode: u8, register: Register, other: u8) {
        self.bytes
            .push(mode << 6 | (register.0 & 7) << 3 | (other & 7));
    }

    /// An address: without a displacement, with one byte (`short`, if it fits), or with four.
    fn address(&mut self, register: Register, base: u8, displacement: i64, short: Option<i8>) {
        match short {
            Some(0) => self.mod_rm(0b00, register, base),
            Some(short) => {
                self.mod_rm(0b01, register, base);
                self.bytes.push(short as u8);
            }
            None => {
                self.mod_rm(0b10, register, base);
                self.bytes.extend((displacement as i32).to_le_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected bytes were produced by the GNU assembler.
    fn check(width: Width, write: impl Fn(&mut Assembler), expected: &str) {
        let mut assembler = Assembler::new(width, 200_000, 0);
        let n_before = assembler.bytes.len();
        write(&mut assembler);
        let bytes = assembler.bytes[n_before..].iter();
        let hex: Vec<String> = bytes.map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex.join(" "), expected);
    }

    fn operate(
        width: Width,
        operation: Operation,
        to: u8,
        first: u8,
        second: Place,
        expected: &str,
    ) {
        let write =
            |it: &mut Assembler| it.operate(operation, Register(to), Register(first), second);
        check(width, write, expected);
    }

    fn register(register: u8) -> Place {
        Place::Register(Register(register))
    }

    #[test]
    fn vex_operations_are_encoded() {
        let ymm = |operation, to, first, second, expected| {
            operate(Width::Ymm, operation, to, first, second, expected);
        };
        ymm(Operation::And, 1, 2, register(3), "c5 ed db cb");
        ymm(Operation::AndNot, 15, 8, register(9), "c4 41 3d df f9");
        ymm(Operation::Or, 9, 12, register(3), "c5 1d eb cb");
        // The operands are swapped, because that is shorter.
        ymm(Operation::Or, 9, 3, register(12), "c5 1d eb cb");
        ymm(Operation::And, 0, 15, Place::Row(0), "c5 85 db 07");
        ymm(Operation::AndNot, 13, 1, Place::Row(3), "c5 75 df 6f 60");
        ymm(
            Operation::Xor,
            7,
            14,
            Place::Row(4),
            "c5 8d ef bf 80 00 00 00",
        );
    }

    #[test]
    fn vex_moves_are_encoded() {
        let ymm = |write: fn(&mut Assembler), expected| check(Width::Ymm, write, expected);
        ymm(
            |it| it.load(Register(10), 99_999),
            "c5 7d 6f 97 e0 d3 30 00",
        );
        ymm(|it| it.store(Register(11), 1), "c5 7d 7f 5f 20");
        ymm(|it| it.set(Register(15)), "c4 41 05 76 ff");
    }

    #[test]
    fn evex_operations_are_encoded() {
        let zmm = |operation, to, first, second, expected| {
            operate(Width::Zmm, operation, to, first, second, expected);
        };
        zmm(Operation::And, 1, 2, register(3), "62 f1 6d 48 db cb");
        zmm(Operation::AndNot, 31, 16, register(8), "62 41 7d 40 df f8");
        zmm(Operation::Or, 8, 31, register(24), "62 11 05 40 eb c0");
        // Row 0 is [rdi - 0x2000], followed by [rdi], [rsi + 0x1fc0] and [r11 - 0x40].
        zmm(Operation::And, 17, 9, Place::Row(0), "62 e1 35 48 db 4f 80");
        zmm(
            Operation::AndNot,
            0,
            30,
            Place::Row(128),
            "62 f1 0d 40 df 07",
        );
        zmm(
            Operation::Or,
            15,
            16,
            Place::Row(511),
            "62 71 7d 40 eb 7e 7f",
        );
        zmm(
            Operation::Xor,
            24,
            7,
            Place::Row(2175),
            "62 41 45 48 ef 43 ff",
        );
    }

    #[test]
    fn evex_moves_are_encoded() {
        let zmm = |write: fn(&mut Assembler), expected| check(Width::Zmm, write, expected);
        zmm(
            |it| it.load(Register(20), 2304),
            "62 e1 7d 48 6f a7 00 20 02 00",
        );
        zmm(
            |it| it.store(Register(29), 100_000),
            "62 61 7d 48 7f af 00 88 61 00",
        );
        zmm(|it| it.copy(Register(5), Register(26)), "62 91 7d 48 6f ea");
    }

    #[test]
    fn ternary_functions_are_encoded() {
        let zmm = |to, second, third, function, expected| {
            let write = |it: &mut Assembler| {
                it.ternary(Register(to), Register(second), third, function);
            };
            check(Width::Zmm, write, expected);
        };
        zmm(3, 19, register(28), 0x80, "62 93 65 40 25 dc 80");
        // [rax - 0x1f00]
        zmm(30, 6, Place::Row(1028), 0x0e, "62 63 4d 48 25 70 84 0e");
        zmm(
            12,
            12,
            Place::Row(99_998),
            0x55,
            "62 73 1d 48 25 a7 80 87 61 00 55",
        );
    }

    #[test]
    fn functions_set_their_bases_and_return() {
        let code = |width| Assembler::new(width, 300, 0).finish();
        assert_eq!(code(Width::Ymm), [0xC5, 0xF8, 0x77, 0xC3]);
        let bases = [
            [0x48, 0x8D, 0xB7, 0x00, 0x60, 0x00, 0x00],
            [0x48, 0x8D, 0xBF, 0x00, 0x20, 0x00, 0x00],
        ];
        assert_eq!(
            code(Width::Zmm),
            [bases.concat(), code(Width::Ymm)].concat()
        );
    }
}
