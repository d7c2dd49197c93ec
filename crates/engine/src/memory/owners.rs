//! The CPUs whose lists have an owner, so that requests do not wait for it.

use crate::table::sync::{AtomicU64, Ordering};

const WORDS: usize = 16;

/// One bit for each CPU whose lists have an owner ([`crate::Exclusive`]). CPUs with equal numbers modulo 1024 share a
/// bit.
#[derive(Debug)]
pub(crate) struct Owners([AtomicU64; WORDS]);

impl Owners {
    pub(super) fn new() -> Self {
        Self(core::array::from_fn(|_| AtomicU64::new(0)))
    }

    fn place(&self, cpu: u16) -> (&AtomicU64, u64) {
        (&self.0[usize::from(cpu) / 64 % WORDS], 1 << (cpu % 64))
    }

    /// Notes that the lists of a CPU have an owner. The owner calls it once it has their locks.
    pub(crate) fn note(&self, cpu: u16) {
        let (word, bit) = self.place(cpu);
        word.fetch_or(bit, Ordering::Relaxed);
    }

    /// Notes that the lists of a CPU have no owner. The owner calls it before it releases their locks.
    pub(crate) fn forget(&self, cpu: u16) {
        let (word, bit) = self.place(cpu);
        word.fetch_and(!bit, Ordering::Relaxed);
    }

    /// Returns true if the lists of a CPU have an owner, at some moment during the call.
    pub(crate) fn has(&self, cpu: u16) -> bool {
        let (word, bit) = self.place(cpu);
        word.load(Ordering::Relaxed) & bit != 0
    }

    /// Returns true if the lists of any CPU have an owner.
    pub(crate) fn has_any(&self) -> bool {
        self.0.iter().any(|word| word.load(Ordering::Relaxed) != 0)
    }
}
