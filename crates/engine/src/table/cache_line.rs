//! A value on cache lines of its own.

use core::ops::Deref;

/// A value that shares no cache line with its neighbours, so that processors which work on different
/// values do not slow each other down.
///
/// The alignment is two lines, because processors fetch lines in pairs.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct OwnLines<T>(pub(crate) T);

impl<T> Deref for OwnLines<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}
