//! Numbers in a row of bytes.

/// Reads numbers of this machine's byte order, one behind the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    /// Takes the next `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// Takes the next `count` numbers of 64 bits without reading them.
    pub(super) fn skip_u64s(&mut self, count: u64) -> Option<()> {
        let bytes = usize::try_from(count.checked_mul(8)?).ok()?;
        self.take(bytes).map(|_| ())
    }

    /// Reads a number of 32 bits.
    pub(super) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_ne_bytes(self.take(4)?.try_into().ok()?))
    }

    /// Reads a number of 64 bits.
    pub(super) fn u64(&mut self) -> Option<u64> {
        Some(u64::from_ne_bytes(self.take(8)?.try_into().ok()?))
    }

    /// Returns the number of 64 bits at `at`.
    pub(super) fn u64_at(self, at: usize) -> Option<u64> {
        Bytes(self.0.get(at..)?).u64()
    }

    /// Returns the number of 32 bits at `at`.
    pub(super) fn u32_at(self, at: usize) -> Option<u32> {
        Bytes(self.0.get(at..)?).u32()
    }
}
