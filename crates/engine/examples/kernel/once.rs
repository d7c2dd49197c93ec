//! A value that is set once and then shared.
#![expect(unsafe_code, reason = "a cell that both CPUs read")]

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

/// A value that CPU 0 sets before any other CPU reads it.
pub(crate) struct Once<T> {
    is_set: AtomicBool,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: one CPU writes before `is_set` is true. Later all CPUs only read.
unsafe impl<T: Send + Sync> Sync for Once<T> {}

impl<T> Once<T> {
    pub(crate) const fn new() -> Self {
        Self { is_set: AtomicBool::new(false), value: UnsafeCell::new(None) }
    }

    /// Returns the value, or `None` before it is set.
    pub(crate) fn get(&self) -> Option<&T> {
        // Pairs with the Release of `get_or_set`.
        let is_set = self.is_set.load(Ordering::Acquire);
        // SAFETY: no CPU writes after `is_set`.
        if is_set { unsafe { &*self.value.get() }.as_ref() } else { None }
    }

    /// Sets the value unless it is set, and returns it. The first call must return before another CPU calls.
    pub(crate) fn get_or_set(&self, make: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        // SAFETY: no CPU reads before `is_set`, and only one CPU calls.
        let value = unsafe { &mut *self.value.get() }.insert(make());
        self.is_set.store(true, Ordering::Release);
        value
    }
}
