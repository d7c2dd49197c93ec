//! Opens a file of `perf record`: what it tells before its records.

use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::attributes::{Attributes, NEEDED};
use super::bytes::Bytes;
use super::records::{Records, kind};
use super::tracing_data::{TracingData, Unread, read_tracing_data};
use crate::error::{Error, PerfDataError};

/// The first bytes of a file from a machine of this byte order, and of the other one.
const MAGIC: u64 = u64::from_le_bytes(*b"PERFILE2");
const OTHER_MAGIC: u64 = MAGIC.swap_bytes();

/// The bytes of a file's header, and of a pipe's.
const HEADER_BYTES: u64 = 104;
const PIPE_HEADER_BYTES: u64 = 16;
/// The bytes of the smallest `perf_event_attr` with the place of its identifiers.
const ATTRIBUTE_BYTES: u64 = 64 + SECTION_BYTES;
const SECTION_BYTES: u64 = 16;
/// The longest name of a kernel that is believed.
const MAX_RELEASE_BYTES: u64 = 256;

/// The features whose sections or records are read.
mod feature {
    pub(super) const TRACING_DATA: u64 = 1;
    pub(super) const OSRELEASE: u64 = 4;
    pub(super) const DIR_FORMAT: u64 = 24;
}

/// Returns true if a file that starts with these bytes is one of perf's.
pub fn looks_like_perf_data(start: &[u8]) -> bool {
    Bytes(start).u64().is_some_and(|magic| magic == MAGIC || magic == OTHER_MAGIC)
}

/// A file of `perf record` of which all is read but its records.
pub struct PerfData<'p, R> {
    pub(super) path: &'p Path,
    pub(super) records: Records<'p, BufReader<R>>,
    pub(super) attributes: Attributes,
    pub(super) tracing: TracingData,
    release: String,
}

/// A part of a file.
#[derive(Clone, Copy)]
struct Section {
    offset: u64,
    size: u64,
}

impl<'p, R: Read + Seek> PerfData<'p, R> {
    /// Opens a file that starts as [`looks_like_perf_data`] wants. Nothing of it has been read. `path` is the name for
    /// messages.
    ///
    /// # Errors
    ///
    /// `PerfData` if it cannot be imported, and errors of reading it.
    pub fn open(path: &'p Path, file: BufReader<R>) -> Result<Self, Error> {
        let mut opening = Opening { path, file, bytes: 0, attributes: Attributes::default() };
        let mut head = [0; 16];
        opening.read(&mut head)?;
        if Bytes(&head).u64() == Some(OTHER_MAGIC) {
            return Err(PerfDataError::OtherByteOrder.in_file(path));
        }
        match Bytes(&head).u64_at(8) {
            Some(PIPE_HEADER_BYTES) => opening.pipe(),
            Some(HEADER_BYTES) => opening.file(),
            _ => Err(opening.damaged("the header", 8)),
        }
    }

    /// Returns `uname -r` of the recorded machine, empty if the file does not tell.
    pub fn kernel_release(&self) -> &str {
        &self.release
    }

    /// Returns the bytes of a page of the recorded machine.
    pub fn page_bytes(&self) -> u64 {
        self.tracing.page_bytes
    }
}

/// A file that is being opened.
struct Opening<'p, R> {
    path: &'p Path,
    file: BufReader<R>,
    /// The file's bytes.
    bytes: u64,
    attributes: Attributes,
}

impl<'p, R: Read + Seek> Opening<'p, R> {
    /// Reads what a file tells, of which 16 bytes were read.
    fn file(mut self) -> Result<PerfData<'p, R>, Error> {
        let mut head = [0; (HEADER_BYTES - 16) as usize];
        self.read(&mut head)?;
        // A pipe has no end to go to.
        let end = self.file.seek(SeekFrom::End(0));
        self.bytes = end.map_err(|_| PerfDataError::NotAFile.in_file(self.path))?;
        let mut numbers = [0; 11];
        let mut bytes = Bytes(&head);
        for number in &mut numbers {
            *number = bytes.u64().unwrap_or(0);
        }
        let [attribute_bytes, offset, size, data_offset, data_size, _, _, features @ ..] = numbers;
        if data_size == 0 {
            return Err(PerfDataError::Unfinished.in_file(self.path));
        }
        let data = self.whole(Section { offset: data_offset, size: data_size })?;
        let has = |feature: u64| features[(feature / 64) as usize] >> (feature % 64) & 1 == 1;
        if has(feature::DIR_FORMAT) {
            return Err(PerfDataError::Spread.in_file(self.path));
        }
        self.attributes(attribute_bytes, Section { offset, size })?;
        let mut section_at = data.offset + data.size;
        let (mut tracing, mut release) = (None, String::new());
        for feature in (0..256).filter(|&feature| has(feature)) {
            let section = self.section(section_at)?;
            section_at += SECTION_BYTES;
            match feature {
                feature::TRACING_DATA => {
                    self.file
                        .seek(SeekFrom::Start(section.offset))
                        .map_err(|e| Error::io("read", self.path, e))?;
                    let read = read_tracing_data((&mut self.file).take(section.size));
                    tracing = Some(read.map_err(|unread| unread.in_file(self.path, section.offset))?);
                }
                feature::OSRELEASE => {
                    let size = section.size.min(MAX_RELEASE_BYTES);
                    release = text(&self.at(Section { size, ..section })?);
                }
                _ => {}
            }
        }
        self.seek(data.offset)?;
        let end = Some(data.offset + data.size);
        let records = Records::new(self.path, self.file, data.offset, end);
        finish(self.path, records, self.attributes, tracing, release)
    }

    /// Reads what a pipe tells, of which the header was read.
    fn pipe(self) -> Result<PerfData<'p, R>, Error> {
        let Self { path, file, mut attributes, .. } = self;
        let (mut tracing, mut release) = (None, String::new());
        let mut records = Records::new(path, file, PIPE_HEADER_BYTES, None);
        while tracing.is_none() {
            let Some(record) = records.next()? else { break };
            let at = record.at;
            let damaged = || PerfDataError::Damaged { what: "the record", at }.in_file(path);
            match record.kind {
                // The kernel's records come behind perf's descriptions.
                ..kind::FIRST_OF_PERF => break,
                kind::ATTRIBUTE => {
                    let size = Bytes(record.body).u32_at(4).ok_or_else(damaged)? as usize;
                    let (attribute, ids) = record.body.split_at_checked(size).ok_or_else(damaged)?;
                    attributes.add(attribute, ids).ok_or_else(damaged)?;
                }
                kind::FEATURE if Bytes(record.body).u64() == Some(feature::OSRELEASE) => {
                    release = text(&record.body[8..]);
                }
                kind::TRACING_DATA => {
                    let size = u64::from(Bytes(record.body).u32().ok_or_else(damaged)?);
                    let mut behind = records.behind(size.next_multiple_of(8));
                    let read = read_tracing_data((&mut behind).take(size));
                    tracing = Some(read.map_err(|unread| unread.in_file(path, at))?);
                    std::io::copy(&mut behind, &mut std::io::sink())
                        .map_err(|e| Error::io("read", path, e))?;
                }
                _ => {}
            }
        }
        finish(path, records, attributes, tracing, release)
    }

    /// Reads the events' attributes.
    fn attributes(&mut self, each: u64, all: Section) -> Result<(), Error> {
        let damaged =
            || PerfDataError::Damaged { what: "the list of events", at: all.offset }.in_file(self.path);
        if each < ATTRIBUTE_BYTES || !all.size.is_multiple_of(each) {
            return Err(damaged());
        }
        let list = self.at(all)?;
        let mut ids_left = self.bytes;
        for entry in list.chunks_exact(each as usize) {
            let (attribute, place) = entry.split_at(entry.len() - SECTION_BYTES as usize);
            let ids = section(place).ok_or_else(damaged)?;
            // Lists that overlap would make more of the file than it is.
            ids_left = ids_left.checked_sub(ids.size).ok_or_else(damaged)?;
            let ids = self.at(ids)?;
            self.attributes.add(attribute, &ids).ok_or_else(damaged)?;
        }
        Ok(())
    }

    /// Reads the place of a section, and checks it.
    fn section(&mut self, at: u64) -> Result<Section, Error> {
        let place = self.at(Section { offset: at, size: SECTION_BYTES })?;
        let section = section(&place).ok_or_else(|| self.damaged("the list of sections", at))?;
        self.whole(section)
    }

    /// Returns the section if all of it is in the file.
    fn whole(&self, section: Section) -> Result<Section, Error> {
        let needed = section.offset.saturating_add(section.size);
        if needed <= self.bytes {
            return Ok(section);
        }
        Err(PerfDataError::CutOff { bytes: self.bytes, needed }.in_file(self.path))
    }

    /// Reads a section, which is in the file.
    fn at(&mut self, section: Section) -> Result<Vec<u8>, Error> {
        let section = self.whole(section)?;
        self.seek(section.offset)?;
        let mut bytes = vec![0; section.size as usize];
        self.read(&mut bytes)?;
        Ok(bytes)
    }

    fn seek(&mut self, to: u64) -> Result<(), Error> {
        self.file.seek(SeekFrom::Start(to)).map(|_| ()).map_err(|e| Error::io("read", self.path, e))
    }

    fn read(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.file.read_exact(bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                PerfDataError::Damaged { what: "the header", at: 0 }.in_file(self.path)
            }
            _ => Error::io("read", self.path, error),
        })
    }

    fn damaged(&self, what: &'static str, at: u64) -> Error {
        PerfDataError::Damaged { what, at }.in_file(self.path)
    }
}

/// Checks what was read before the records.
fn finish<'p, R>(
    path: &'p Path,
    records: Records<'p, BufReader<R>>,
    attributes: Attributes,
    tracing: Option<TracingData>,
    release: String,
) -> Result<PerfData<'p, R>, Error> {
    let has_events = |tracing: &TracingData| tracing.formats.iter().any(|(name, ..)| NEEDED.contains(name));
    let Some(tracing) = tracing.filter(has_events) else {
        return Err(PerfDataError::NoPageEvents.in_file(path));
    };
    let events: Vec<_> = tracing.formats.iter().map(|(name, number, _)| (*number, *name)).collect();
    attributes.check(&events).map_err(|error| error.in_file(path))?;
    if attributes.shared().is_none() && !attributes.identify() {
        let why = "its records do not say which event they belong to".to_owned();
        return Err(PerfDataError::Format(why).in_file(path));
    }
    Ok(PerfData { path, records, attributes, tracing, release })
}

fn section(bytes: &[u8]) -> Option<Section> {
    let bytes = Bytes(bytes);
    Some(Section { offset: bytes.u64_at(0)?, size: bytes.u64_at(8)? })
}

/// Returns the text behind its length, without the zeros that fill it up.
fn text(bytes: &[u8]) -> String {
    let text = bytes.get(4..).unwrap_or(&[]);
    let end = memchr::memchr(0, text).unwrap_or(text.len());
    String::from_utf8_lossy(&text[..end]).into_owned()
}

impl Unread {
    fn in_file(self, path: &Path, at: u64) -> Error {
        match self {
            Self::Io(error) => Error::io("read", path, error),
            Self::Damaged => {
                PerfDataError::Damaged { what: "the description of its events", at }.in_file(path)
            }
            Self::Unusable(error) => error.in_file(path),
        }
    }
}
