//! What has cache lines to itself.

use core::ops::Deref;

/// A value that shares no cache line with its neighbours, so that processors which work on
/// different ones do not slow each other down.
///
/// Two lines, because processors fetch them in pairs.
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
