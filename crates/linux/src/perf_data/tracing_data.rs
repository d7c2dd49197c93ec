//! The kernel's descriptions of its events, as perf copied them.

use std::io::{self, Read};

use super::bytes::Bytes;
use crate::error::PerfDataError;
use crate::events::{every_event, every_group};
use crate::tracefs::{FormatError, parse_format};

/// The first bytes: `\x17\x08\x44tracing`.
const MAGIC: [u8; 10] = *b"\x17\x08\x44tracing";
/// The longest name.
const MAX_NAME_BYTES: usize = 256;
/// The longest description of an event. Linux's longest have 16 KiB.
const MAX_FORMAT_BYTES: u64 = 1 << 20;

/// What the descriptions say that an import needs.
#[derive(Clone, Debug, Default)]
pub(super) struct TracingData {
    pub(super) page_bytes: u64,
    /// Name, number and description of each event that a trace can hold.
    pub(super) formats: Vec<(&'static str, u64, String)>,
}

/// Why the descriptions cannot be read.
pub(super) enum Unread {
    Io(io::Error),
    /// Bytes are missing or have no meaning.
    Damaged,
    Unusable(PerfDataError),
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof { Self::Damaged } else { Self::Io(error) }
    }
}

impl From<FormatError> for Unread {
    fn from(error: FormatError) -> Self {
        Self::Unusable(PerfDataError::Format(error.0))
    }
}

/// Reads the descriptions of the events that a trace can hold. What follows them is left.
pub(super) fn read_tracing_data(mut from: impl Read) -> Result<TracingData, Unread> {
    let from = &mut from;
    if array(from)? != MAGIC {
        return Err(Unread::Damaged);
    }
    let _version = text(from)?;
    let [byte_order, _long_bytes] = array(from)?;
    if (byte_order != 0) != cfg!(target_endian = "big") {
        return Err(Unread::Unusable(PerfDataError::OtherByteOrder));
    }
    let mut data = TracingData { page_bytes: u64::from(number(from)?), formats: Vec::new() };
    for name in ["header_page", "header_event"] {
        if text(from)? != name.as_bytes() {
            return Err(Unread::Damaged);
        }
        skip_format(from)?;
    }
    for _ in 0..number(from)? {
        skip_format(from)?;
    }
    for _ in 0..number(from)? {
        let group = text(from)?;
        let is_known = every_group().any(|known| known.as_bytes() == group);
        for _ in 0..number(from)? {
            if is_known {
                data.add(&format(from)?)?;
            } else {
                skip_format(from)?;
            }
        }
    }
    Ok(data)
}

impl TracingData {
    /// Keeps a description if a trace can hold the event.
    fn add(&mut self, description: &[u8]) -> Result<(), Unread> {
        let text = String::from_utf8_lossy(description);
        let name = text.lines().find_map(|line| line.strip_prefix("name:")).map(str::trim);
        let Some(name) = every_event().find(|known| Some(*known) == name) else { return Ok(()) };
        if self.formats.iter().all(|(known, ..)| *known != name) {
            let number = u64::from(parse_format(&text)?.id);
            self.formats.push((name, number, text.into_owned()));
        }
        Ok(())
    }
}

fn array<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn number(from: &mut impl Read) -> io::Result<u32> {
    Ok(u32::from_ne_bytes(array(from)?))
}

/// Reads a text that ends with a zero.
fn text(from: &mut impl Read) -> Result<Vec<u8>, Unread> {
    let mut text = Vec::new();
    loop {
        match array(from)? {
            [0] => return Ok(text),
            [byte] if text.len() < MAX_NAME_BYTES => text.push(byte),
            _ => return Err(Unread::Damaged),
        }
    }
}

/// Reads the size of a description.
fn size(from: &mut impl Read) -> Result<u64, Unread> {
    let size = Bytes(&array::<8>(from)?).u64().unwrap_or(u64::MAX);
    if size <= MAX_FORMAT_BYTES { Ok(size) } else { Err(Unread::Damaged) }
}

fn format(from: &mut impl Read) -> Result<Vec<u8>, Unread> {
    let size = size(from)?;
    let mut text = Vec::new();
    let read = from.take(size).read_to_end(&mut text)?;
    if read as u64 == size { Ok(text) } else { Err(Unread::Damaged) }
}

fn skip_format(from: &mut impl Read) -> Result<(), Unread> {
    let size = size(from)?;
    let skipped = io::copy(&mut from.take(size), &mut io::sink())?;
    if skipped == size { Ok(()) } else { Err(Unread::Damaged) }
}
