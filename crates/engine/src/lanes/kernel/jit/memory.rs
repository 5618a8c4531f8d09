//! Memory for machine code: written first, then made executable, never both at once.

use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};

/// Pages that can be executed and no longer written.
pub(super) struct Executable {
    start: NonNull<c_void>,
    n_bytes: usize,
}

// SAFETY: nobody writes to the pages any more; they can be read and executed by all threads.
unsafe impl Send for Executable {}
// SAFETY: as above.
unsafe impl Sync for Executable {}

impl Executable {
    /// Copies code into pages of its own and makes them executable; none if the system refuses.
    pub(super) fn new(code: &[u8]) -> Option<Executable> {
        // SAFETY: a new mapping touches nothing that exists.
        let start = unsafe {
            mmap(
                ptr::null_mut(),
                code.len(),
                PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start.addr() == MAP_FAILED {
            return None;
        }
        let executable = Executable {
            start: NonNull::new(start)?,
            n_bytes: code.len(),
        };
        // SAFETY: the pages are ours, writable, and as long as the code.
        let refused = unsafe {
            ptr::copy_nonoverlapping(code.as_ptr(), start.cast(), code.len());
            mprotect(start, code.len(), PROT_READ | PROT_EXEC)
        };
        (refused == 0).then_some(executable)
    }

    /// Where the code begins.
    pub(super) fn start(&self) -> *const u8 {
        self.start.as_ptr().cast_const().cast()
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        // SAFETY: the pages are ours, and whoever could run them borrowed `self`.
        unsafe { munmap(self.start.as_ptr(), self.n_bytes) };
    }
}

const PROT_READ: c_int = 1;
const PROT_WRITE: c_int = 2;
const PROT_EXEC: c_int = 4;
const MAP_PRIVATE: c_int = 2;
const MAP_ANONYMOUS: c_int = if cfg!(any(target_os = "linux", target_os = "android")) {
    0x20
} else {
    // The BSDs and macOS.
    0x1000
};
const MAP_FAILED: usize = usize::MAX;

// The C library that the standard library links on these systems. `off_t` has 64 bits on all x86-64 systems.
unsafe extern "C" {
    fn mmap(
        address: *mut c_void,
        n_bytes: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn mprotect(address: *mut c_void, n_bytes: usize, protection: c_int) -> c_int;
    fn munmap(address: *mut c_void, n_bytes: usize) -> c_int;
}
