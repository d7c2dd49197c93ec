//! The records of a file, one after the other.

use std::io::Read;
use std::path::Path;

use super::bytes::Bytes;
use super::unpack::{NotUnpacked, Unpacker};
use crate::error::{Error, PerfDataError};

/// The kernel's records, and perf's own from 64 on.
pub(super) mod kind {
    pub(crate) const LOST: u32 = 2;
    pub(crate) const SAMPLE: u32 = 9;
    pub(crate) const LOST_SAMPLES: u32 = 13;
    pub(crate) const FIRST_OF_PERF: u32 = 64;
    pub(crate) const ATTRIBUTE: u32 = 64;
    pub(crate) const TRACING_DATA: u32 = 66;
    pub(crate) const FINISHED_ROUND: u32 = 68;
    pub(crate) const ID_INDEX: u32 = 69;
    pub(crate) const AUXTRACE: u32 = 71;
    pub(crate) const FEATURE: u32 = 80;
    pub(crate) const COMPRESSED: u32 = 81;
    pub(crate) const COMPRESSED2: u32 = 83;
}

/// The bytes of a record's head.
const HEAD_BYTES: usize = 8;

/// A record of at most 64 KiB.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    pub(super) kind: u32,
    pub(super) body: &'a [u8],
    /// Its place in the file; that of the compressed record if it was in one.
    pub(super) at: u64,
}

/// A file's records from where `reader` is.
pub(super) struct Records<'p, R> {
    path: &'p Path,
    reader: R,
    at: u64,
    /// The place of the record that was read last.
    read_at: u64,
    /// Where the records end; a pipe does not say.
    end: Option<u64>,
    body: Vec<u8>,
    unpacker: Option<Unpacker>,
}

impl<'p, R: Read> Records<'p, R> {
    pub(super) fn new(path: &'p Path, reader: R, at: u64, end: Option<u64>) -> Self {
        Self { path, reader, at, read_at: at, end, body: Vec::new(), unpacker: None }
    }

    /// Returns the next record, or `None` behind the last one.
    pub(super) fn next(&mut self) -> Result<Option<Record<'_>>, Error> {
        loop {
            let unpacked = self.unpacker.as_mut().map_or(Ok(None), Unpacker::next);
            if let Some(kind) = unpacked.map_err(|NotUnpacked| self.damaged(self.read_at))? {
                let (body, at) = (self.unpacker.as_ref().map_or(&[][..], Unpacker::body), self.read_at);
                return Ok(Some(Record { kind, body, at }));
            }
            let Some(kind) = self.read_one()? else {
                return match &self.unpacker {
                    Some(unpacker) if unpacker.is_within_record() => Err(self.damaged(self.read_at)),
                    _ => Ok(None),
                };
            };
            let at = self.read_at;
            match kind {
                kind::COMPRESSED => self.unpack(at, 0)?,
                kind::COMPRESSED2 => self.unpack(at, 8)?,
                kind::AUXTRACE => {
                    let size = Bytes(&self.body).u64().ok_or_else(|| self.damaged(at))?;
                    self.skip(size)?;
                }
                _ => return Ok(Some(Record { kind, body: &self.body, at })),
            }
        }
    }

    /// Hands the body behind its first `head` bytes, which say how much of it is compressed, to the unpacker.
    fn unpack(&mut self, at: u64, head: usize) -> Result<(), Error> {
        let packed = match head {
            0 => Some(&self.body[..]),
            _ => Bytes(&self.body).u64().and_then(|size| {
                let size = usize::try_from(size).ok()?;
                self.body.get(head..)?.get(..size)
            }),
        };
        let unpacker = match &mut self.unpacker {
            Some(unpacker) => Some(unpacker),
            empty => Unpacker::new().map(|new| empty.insert(new)),
        };
        match (packed, unpacker) {
            (Some(packed), Some(unpacker)) => {
                unpacker.add(packed);
                Ok(())
            }
            _ => Err(self.damaged(at)),
        }
    }

    /// Reads a record into `body`, and returns its kind.
    fn read_one(&mut self) -> Result<Option<u32>, Error> {
        let at = self.at;
        let left = self.end.map(|end| end.saturating_sub(at));
        if left == Some(0) {
            return Ok(None);
        }
        let mut head = [0; HEAD_BYTES];
        let (first, others) = head.split_at_mut(1);
        if self.end.is_none() && self.reader.read(first).map_err(|e| self.io(e))? == 0 {
            return Ok(None);
        }
        if self.end.is_some() {
            self.fill(first)?;
        }
        self.fill(others)?;
        let kind = Bytes(&head).u32().unwrap_or(0);
        let size = usize::from(u16::from_ne_bytes([head[6], head[7]]));
        let is_whole = left.is_none_or(|left| size as u64 <= left);
        let Some(length) = size.checked_sub(HEAD_BYTES).filter(|_| is_whole) else {
            return Err(self.damaged(at));
        };
        let mut body = std::mem::take(&mut self.body);
        body.resize(length, 0);
        let filled = self.fill(&mut body);
        self.body = body;
        filled?;
        self.read_at = at;
        self.at += size as u64;
        Ok(Some(kind))
    }

    /// Returns what follows the record that was read last and is no record, which has `size` bytes.
    pub(super) fn behind(&mut self, size: u64) -> impl Read {
        self.at = self.at.saturating_add(size);
        (&mut self.reader).take(size)
    }

    fn skip(&mut self, size: u64) -> Result<(), Error> {
        let at = self.at;
        let skipped = std::io::copy(&mut self.behind(size), &mut std::io::sink());
        let skipped = skipped.map_err(|error| self.io(error))?;
        if skipped == size { Ok(()) } else { Err(self.cut_off(at + skipped, at.saturating_add(size))) }
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.reader.read_exact(bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                self.cut_off(self.at, self.at + HEAD_BYTES as u64 + bytes.len() as u64)
            }
            _ => self.io(error),
        })
    }

    fn io(&self, error: std::io::Error) -> Error {
        Error::io("read", self.path, error)
    }

    fn cut_off(&self, bytes: u64, needed: u64) -> Error {
        PerfDataError::CutOff { bytes, needed }.in_file(self.path)
    }

    fn damaged(&self, at: u64) -> Error {
        PerfDataError::Damaged { what: "the record", at }.in_file(self.path)
    }
}
