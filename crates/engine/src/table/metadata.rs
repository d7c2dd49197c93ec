//! Places the allocator's tables in memory that the caller owns.
//!
#![expect(unsafe_code, reason = "turns the caller's bytes into typed tables")]

use core::mem::{MaybeUninit, align_of, needs_drop, size_of};
use core::slice;

use crate::types::SetupError;

/// Carves typed tables from the caller's bytes, one behind the other.
pub(crate) struct Carver<'m> {
    rest: &'m mut [MaybeUninit<u8>],
    given: usize,
    needed: usize,
}

impl<'m> Carver<'m> {
    pub(crate) fn new(bytes: &'m mut [MaybeUninit<u8>], needed: usize) -> Self {
        let given = bytes.len();
        Self { rest: bytes, given, needed }
    }

    /// Reserves room for a table of `len` places, which is filled later.
    pub(crate) fn reserve<T>(&mut self, len: usize) -> Result<Carver<'m>, SetupError> {
        let too_small = SetupError::MetadataTooSmall { needed: self.needed, given: self.given };
        let padding = self.rest.as_ptr().align_offset(align_of::<T>());
        let bytes = len.checked_mul(size_of::<T>()).ok_or(too_small)?;
        let end = padding.checked_add(bytes).filter(|&end| end <= self.rest.len()).ok_or(too_small)?;
        let (used, rest) = core::mem::take(&mut self.rest).split_at_mut(end);
        self.rest = rest;
        Ok(Carver { rest: &mut used[padding..], given: self.given, needed: self.needed })
    }

    /// Returns a table in the next `len` places, filled by `fill`.
    pub(crate) fn table<T>(
        &mut self,
        len: usize,
        mut fill: impl FnMut(usize) -> Result<T, SetupError>,
    ) -> Result<&'m mut [T], SetupError> {
        const { assert!(!needs_drop::<T>(), "a table is never dropped") };
        let used = self.reserve::<T>(len)?.rest;
        let start = used.as_mut_ptr().cast::<T>();
        for index in 0..len {
            let value = fill(index)?;
            // SAFETY: `reserve` has aligned `start` for `T` and left room for `len` places behind it.
            unsafe { start.add(index).write(value) };
        }
        // SAFETY: the loop above has initialised `len` values, and `used` was split off the
        // caller's bytes for `'m`, so that no other reference reaches them.
        Ok(unsafe { slice::from_raw_parts_mut(start, len) })
    }
}

/// Counts the bytes that [`Carver`] will need, each table with its worst alignment.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tally(usize);

impl Tally {
    pub(crate) fn table<T>(&mut self, len: usize) {
        self.0 =
            self.0.saturating_add(align_of::<T>() - 1).saturating_add(len.saturating_mul(size_of::<T>()));
    }

    pub(crate) fn bytes(self) -> usize {
        self.0
    }
}
