//! Machine code for kernels on x86-64: one function without branches, compiled for one network.
//!
//! In: forms and their order. Out: [`Native`], a function that sets the rows of all outputs. The steps are those of
//! [`super::schedule`]; values stay in registers while they are needed soon ([`allocate`]), and are stored only if they
//! are spilled or are outputs. Instructions come from [`assembler`], executable pages from [`memory`].
//!
//! Limits: the code has four to ten bytes per row that a gate reads. Rows must lie within 2 GB.

mod allocate;
mod assembler;
mod emit;
#[cfg(test)]
mod emulator;
mod memory;

use self::assembler::Width;
use self::memory::Executable;
use super::Simd;
use super::forms::Forms;
use super::schedule::Schedule;

/// The machine code of a function that returns at once.
const RETURN: [u8; 1] = [0xc3];

/// Whether there can be machine code for these vectors: their instructions are known here, and the system allows memory
/// to become executable.
pub(super) fn is_allowed(simd: Simd) -> bool {
    width(simd).is_some() && Executable::new(&RETURN).is_some()
}

fn width(simd: Simd) -> Option<Width> {
    match simd {
        Simd::Portable => None,
        Simd::Avx2 => Some(Width::Ymm),
        Simd::Avx512 => Some(Width::Zmm),
    }
}

/// Executable machine code.
pub(super) struct Native {
    code: Executable,
}

impl Native {
    /// Compiles machine code; `None` for portable vectors, or if the system refuses executable pages.
    pub(super) fn new(forms: &Forms, schedule: &Schedule, simd: Simd) -> Option<Native> {
        let code = emit::emit(forms, schedule, width(simd)?);
        Some(Native {
            code: Executable::new(&code)?,
        })
    }

    /// Evaluates all gates.
    ///
    /// # Safety
    /// As for [`Kernel::run`](super::Kernel::run); the CPU supports the vectors that the code was made for.
    pub(super) unsafe fn run(&self, rows: *mut u64) {
        // SAFETY: the pages hold a function of this type, which changes rows only and keeps to the System V convention:
        // it uses vector registers and caller-saved registers, and no stack. The compiler saves what another convention
        // (that of Windows) expects to be kept.
        unsafe {
            let function: unsafe extern "sysv64" fn(*mut u64) =
                std::mem::transmute(self.code.start());
            function(rows);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{RandomCode, check_outputs};
    use super::super::{Forms, schedule};
    use super::assembler::Width;
    use super::{emit, emulator};

    /// Emulates the machine code of random networks, for both widths on any CPU.
    #[test]
    fn emulated_code_agrees_with_the_gates() {
        for seed in 0..300 {
            let random = RandomCode::new(seed);
            let forms = Forms::new(&random.code);
            let schedule = schedule::schedule(&forms);
            for (width, n_words) in [(Width::Ymm, 4), (Width::Zmm, 8)] {
                let code = emit::emit(&forms, &schedule, width);
                let run = |rows: &mut [u64]| emulator::emulate(&code, width, rows);
                check_outputs(&random, n_words, run, &format!("seed {seed}, {width:?}"));
            }
        }
    }
}
