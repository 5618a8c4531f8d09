//! An emulator for the instructions that the assembler writes, so that code for any CPU can be tested on every CPU.
//!
//! It is written from the manual, not from the assembler, and is strict: bits with a required value are checked.

use super::assembler::Width;

/// The third operand of an instruction.
enum Third {
    Register(usize),
    /// Start of a row, in words.
    Memory(usize),
}

struct Emulator<'a> {
    code: &'a [u8],
    at: usize,
    n_words: usize,
    vectors: [[u64; 8]; 32],
    /// General-purpose registers, as byte offsets from the first row.
    bases: [i64; 16],
    rows: &'a mut [u64],
}

/// A decoded prefix with its opcode and ModRM byte.
struct Decoded {
    map: u8,
    opcode: u8,
    first: usize,
    second: usize,
    third: Third,
}

/// Runs code on rows until it returns.
pub(super) fn emulate(code: &[u8], width: Width, rows: &mut [u64]) {
    let mut emulator = Emulator {
        code,
        at: 0,
        n_words: match width {
            Width::Ymm => 4,
            Width::Zmm => 8,
        },
        vectors: [[0x5555_AAAA_1234_5678; 8]; 32],
        bases: [i64::MIN; 16],
        rows,
    };
    emulator.bases[7] = 0;
    while emulator.step() {}
    assert_eq!(
        emulator.at,
        code.len(),
        "there must be no code after the return"
    );
}

impl Emulator<'_> {
    /// Executes an instruction; returns false for the return instruction.
    fn step(&mut self) -> bool {
        match self.code[self.at..] {
            [0xC3, ..] => {
                self.at += 1;
                return false;
            }
            [0xC5, 0xF8, 0x77, ..] => self.at += 3,
            [0x48 | 0x4C, 0x8D, ..] => self.lea(),
            [0xC4 | 0xC5, ..] => {
                let decoded = self.vex();
                self.execute(&decoded);
            }
            [0x62, ..] => {
                let decoded = self.evex();
                self.execute(&decoded);
            }
            _ => panic!("unknown instruction at {}", self.at),
        }
        true
    }

    fn byte(&mut self) -> u8 {
        self.at += 1;
        self.code[self.at - 1]
    }

    fn displacement(&mut self) -> i64 {
        let bytes = [self.byte(), self.byte(), self.byte(), self.byte()];
        i64::from(i32::from_le_bytes(bytes))
    }

    fn lea(&mut self) {
        let rex = self.byte();
        self.byte();
        let mod_rm = self.byte();
        assert_eq!(mod_rm & 0xC7, 0x87, "[rdi + 32 bits]");
        let to = mod_rm >> 3 & 7 | (rex & 4) << 1;
        self.bases[usize::from(to)] = self.bases[7] + self.displacement();
    }

    fn vex(&mut self) -> Decoded {
        let (mut r, mut b) = (0, 0);
        if self.byte() == 0xC4 {
            let byte = self.byte();
            assert_eq!(byte & 0x5F, 0x41, "no index register; map 1");
            r = !byte >> 4 & 8;
            b = !byte >> 2 & 8;
        }
        let byte = self.byte();
        if self.code[self.at - 2] == 0xC5 {
            r = !byte >> 4 & 8;
        } else {
            assert_eq!(byte & 0x80, 0, "W is 0");
        }
        assert_eq!(byte & 7, 0b101, "256 bits, prefix 66");
        assert_eq!(self.n_words, 4);
        let second = usize::from(!byte >> 3 & 15);
        let opcode = self.byte();
        let (first, third) = self.mod_rm(r, b, b, 1);
        Decoded {
            map: 1,
            opcode,
            first,
            second,
            third,
        }
    }

    fn evex(&mut self) -> Decoded {
        self.byte();
        let [p0, p1, p2] = [self.byte(), self.byte(), self.byte()];
        assert_eq!(p0 & 0x08, 0, "reserved");
        assert_eq!(p1 & 0x87, 0b101, "W is 0, prefix 66");
        assert_eq!(p2 & 0xF7, 0x40, "512 bits, no mask, no broadcast");
        assert_eq!(self.n_words, 8);
        let r = !p0 >> 4 & 8 | !p0 & 16;
        let base = !p0 >> 2 & 8;
        let register = base | !p0 >> 2 & 16;
        let second = usize::from(!p1 >> 3 & 15 | !p2 << 1 & 16);
        let opcode = self.byte();
        let (first, third) = self.mod_rm(r, register, base, 64);
        Decoded {
            map: p0 & 7,
            opcode,
            first,
            second,
            third,
        }
    }

    /// The register and the third operand; `register` and `base` are the high bits of the latter, `scale` is the scale
    /// of a one-byte displacement.
    fn mod_rm(&mut self, r: u8, register: u8, base: u8, scale: i64) -> (usize, Third) {
        let mod_rm = self.byte();
        let first = usize::from(r | mod_rm >> 3 & 7);
        let low = mod_rm & 7;
        if mod_rm >> 6 == 3 {
            return (first, Third::Register(usize::from(register | low)));
        }
        assert_eq!(register, base, "no index");
        assert!(low != 4, "no SIB byte");
        let displacement = match mod_rm >> 6 {
            0 => {
                assert!(low != 5, "not relative to the instruction pointer");
                0
            }
            1 => i64::from(self.byte() as i8) * scale,
            _ => self.displacement(),
        };
        let offset = self.bases[usize::from(base | low)] + displacement;
        let row_bytes = 8 * self.n_words as i64;
        assert_eq!(offset % row_bytes, 0, "rows must be aligned");
        let word = usize::try_from(offset / 8).expect("a row");
        assert!(word + self.n_words <= self.rows.len(), "a row");
        (first, Third::Memory(word))
    }

    fn execute(&mut self, decoded: &Decoded) {
        let &Decoded {
            map,
            opcode,
            first,
            second,
            ref third,
        } = decoded;
        if let (1, 0x7F, Third::Memory(word)) = (map, opcode, third) {
            assert_eq!(second, 0, "none");
            let from = &self.vectors[first][..self.n_words];
            self.rows[*word..*word + self.n_words].copy_from_slice(from);
            return;
        }
        let function = if map == 3 { self.byte() } else { 0 };
        for word in 0..self.n_words {
            let third = match third {
                Third::Register(register) => self.vectors[*register][word],
                Third::Memory(start) => self.rows[start + word],
            };
            let (old, second_word) = (self.vectors[first][word], self.vectors[second][word]);
            self.vectors[first][word] = match (map, opcode) {
                (1, 0x6F) => {
                    assert_eq!(second, 0, "none");
                    third
                }
                (1, 0xDB) => second_word & third,
                (1, 0xDF) => !second_word & third,
                (1, 0xEB) => second_word | third,
                (1, 0xEF) => second_word ^ third,
                (1, 0x76) => {
                    assert!(matches!(decoded.third, Third::Register(third) if third == second));
                    u64::MAX
                }
                (3, 0x25) => ternary(function, [old, second_word, third]),
                _ => panic!("unknown opcode {opcode:x} of map {map}"),
            };
        }
    }
}

fn ternary(function: u8, words: [u64; 3]) -> u64 {
    let bit = |idx: u32| {
        let case = words.map(|word| (word >> idx & 1) as u8);
        let case = case[0] << 2 | case[1] << 1 | case[2];
        u64::from(function >> case & 1) << idx
    };
    (0..64).map(bit).sum()
}
