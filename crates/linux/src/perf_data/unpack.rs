//! Records that `perf record -z` compressed by zstd.

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

use super::bytes::Bytes;

/// Base-2 logarithm of the largest window. Perf's levels need at most 27.
const WINDOW_LOG: u32 = 27;
/// The most bytes that are unpacked at a time, and a record's most bytes.
const CHUNK_BYTES: usize = 1 << 16;
/// The bytes of a record's head.
const HEAD_BYTES: usize = 8;

/// The size of all unpacked records up to which the ratio is not checked.
const HARMLESS_BYTES: u64 = 64 << 20;
/// The largest ratio of unpacked to packed bytes. Real records reach 20.
const MAX_RATIO: u64 = 500;

/// The error for bytes that are no records which zstd compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NotUnpacked;

/// Unpacks records in memory of a fixed size. One stream may go on from compressed record to compressed record.
pub(super) struct Unpacker {
    decoder: Decoder<'static>,
    packed: Vec<u8>,
    /// How many bytes of `packed` are unpacked.
    taken: usize,
    /// Unpacked bytes from the last record on; fewer than two chunks.
    unpacked: Vec<u8>,
    /// Where the last record's body is, and where the next record starts.
    body: std::ops::Range<usize>,
    /// Bytes in all, packed and unpacked.
    totals: (u64, u64),
}

impl Unpacker {
    pub(super) fn new() -> Option<Self> {
        let mut decoder = Decoder::new().ok()?;
        decoder.set_parameter(zstd::zstd_safe::DParameter::WindowLogMax(WINDOW_LOG)).ok()?;
        Some(Self { decoder, packed: Vec::new(), taken: 0, unpacked: Vec::new(), body: 0..0, totals: (0, 0) })
    }

    /// Adds the bytes of a compressed record. All earlier ones are unpacked.
    pub(super) fn add(&mut self, packed: &[u8]) {
        self.packed.clear();
        self.packed.extend_from_slice(packed);
        self.taken = 0;
        self.totals.0 += packed.len() as u64;
    }

    /// Returns the body of the record that [`Unpacker::next`] found.
    pub(super) fn body(&self) -> &[u8] {
        &self.unpacked[self.body.clone()]
    }

    /// Returns true if a record has begun and not ended.
    pub(super) fn is_within_record(&self) -> bool {
        self.body.end < self.unpacked.len()
    }

    /// Goes to the next record and returns its kind, or `None` if more must be added first.
    pub(super) fn next(&mut self) -> Result<Option<u32>, NotUnpacked> {
        loop {
            let rest = &self.unpacked[self.body.end..];
            if let [k0, k1, k2, k3, _, _, s0, s1, ..] = *rest {
                let size = usize::from(u16::from_ne_bytes([s0, s1]));
                if size < HEAD_BYTES {
                    return Err(NotUnpacked);
                }
                if size <= rest.len() {
                    let start = self.body.end;
                    self.body = start + HEAD_BYTES..start + size;
                    return Ok(Bytes(&[k0, k1, k2, k3]).u32());
                }
            }
            self.unpacked.drain(..self.body.end);
            self.body = 0..0;
            if !self.unpack_chunk()? {
                return Ok(None);
            }
        }
    }

    /// Unpacks up to a chunk more. Returns false if nothing came.
    fn unpack_chunk(&mut self) -> Result<bool, NotUnpacked> {
        let before = self.unpacked.len();
        self.unpacked.resize(before + CHUNK_BYTES, 0);
        let mut output = OutBuffer::around(&mut self.unpacked[before..]);
        let mut input = InBuffer::around(&self.packed[self.taken..]);
        // Without input there may still be output from before.
        let ran = self.decoder.run(&mut input, &mut output);
        self.taken += input.pos();
        let more = output.pos();
        self.unpacked.truncate(before + more);
        ran.map_err(|_| NotUnpacked)?;
        self.totals.1 += more as u64;
        let (packed, unpacked) = self.totals;
        if unpacked > HARMLESS_BYTES && unpacked / MAX_RATIO > packed {
            return Err(NotUnpacked);
        }
        Ok(more > 0 || self.taken < self.packed.len())
    }
}
