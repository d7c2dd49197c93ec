//! Which CPUs' lists have an owner. Requests leave such lists out of their drains.

use crate::table::sync::{AtomicBool, Ordering};

/// For each CPU, true while its lists have an owner ([`crate::Exclusive`]). Only the owner writes its CPU's place, while it
/// has the locks of the lists, so plain stores suffice.
#[derive(Debug)]
pub(crate) struct Owners<'m>(&'m [AtomicBool]);

impl<'m> Owners<'m> {
    /// Returns the owners of as many CPUs as there are places, none at first.
    pub(crate) fn new(places: &'m [AtomicBool]) -> Self {
        Self(places)
    }

    /// Notes that the lists of a CPU have an owner. The owner calls it once it has their locks.
    pub(crate) fn note(&self, cpu: u16) {
        self.set(cpu, true);
    }

    /// Notes that the lists of a CPU have no owner. The owner calls it before it releases their locks.
    pub(crate) fn forget(&self, cpu: u16) {
        self.set(cpu, false);
    }

    fn set(&self, cpu: u16, is_owned: bool) {
        if let Some(place) = self.0.get(usize::from(cpu)) {
            place.store(is_owned, Ordering::Relaxed);
        }
    }

    /// Returns true if the lists of a CPU have an owner, at some moment during the call.
    pub(crate) fn has(&self, cpu: u16) -> bool {
        self.0.get(usize::from(cpu)).is_some_and(|place| place.load(Ordering::Relaxed))
    }

    /// Returns true if the lists of any CPU have an owner.
    pub(crate) fn has_any(&self) -> bool {
        self.0.iter().any(|place| place.load(Ordering::Relaxed))
    }
}
