//! Hints to the processor that memory will be read soon.
//!
//! A search tree is larger than the caches, and a walk through it waits for memory most of the time. A hint lets several reads
//! wait at the same time. It never changes a result. On other processors than x86-64 it does nothing.

#![expect(unsafe_code, reason = "the instruction has no safe interface")]

/// An item of a slice will be read soon. Out of range, nothing happens.
#[inline(always)]
pub fn prefetch<T>(items: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = items.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has the instruction, and it does not fault.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, at);
}
