//! Memory for machine code: written first, then made executable, never both at once.

use memmap2::{Mmap, MmapMut};

/// Pages that can be read and executed, but not written.
pub(super) struct Executable(Mmap);

impl Executable {
    /// Copies code into new pages and makes them executable. Returns `None` if the system refuses.
    pub(super) fn new(code: &[u8]) -> Option<Executable> {
        let mut pages = MmapMut::map_anon(code.len()).ok()?;
        pages[..code.len()].copy_from_slice(code);
        pages.make_exec().ok().map(Executable)
    }

    /// The address of the first instruction.
    pub(super) fn start(&self) -> *const u8 {
        self.0.as_ptr()
    }
}

#[cfg(test)]
mod tests {
    use super::Executable;

    /// `mov eax, 42; ret`, which is the same in every calling convention of x86-64.
    const FORTY_TWO: [u8; 6] = [0xb8, 42, 0, 0, 0, 0xc3];

    #[test]
    fn pages_can_be_executed() {
        let pages = Executable::new(&FORTY_TWO).expect("the system allows machine code");
        // SAFETY: the pages hold a complete function that returns a number and touches nothing else.
        let number = unsafe {
            let function: extern "sysv64" fn() -> u32 = std::mem::transmute(pages.start());
            function()
        };
        assert_eq!(number, 42);
    }

    /// Where the system says what its pages allow, none of ours can be written and executed.
    #[cfg(target_os = "linux")]
    #[test]
    fn pages_cannot_be_written_any_more() {
        let pages = Executable::new(&FORTY_TWO).expect("the system allows machine code");
        let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux has it");
        let start = pages.start().addr();
        let permissions = maps.lines().find_map(|line| {
            let (range, rest) = line.split_once(' ')?;
            let (from, to) = range.split_once('-')?;
            let [from, to] = [from, to].map(|text| usize::from_str_radix(text, 16).ok());
            (from?..to?).contains(&start).then(|| rest[..4].to_owned())
        });
        assert_eq!(permissions.as_deref(), Some("r-xp"));
    }
}
