//! The file format of scripts.

use freehold::{GfpFlags, Order};

use super::steps::{MOST_BULK, MOST_SLOTS, Op, Place, Script, Step, Tunable};

/// The version of the formats of scripts and transcripts.
pub const FORMAT_VERSION: u32 = 1;

const MAGIC: &[u8; 8] = b"FHSCRPT1";
pub(crate) const HEADER_BYTES: usize = 64;
const STEP_BYTES: usize = 16;
const MEMORY_AT: usize = 48;
const MEMORY_BYTES: usize = HEADER_BYTES - MEMORY_AT;

/// The error for bytes that are not a valid script.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ScriptError {
    /// The bytes are too short, or do not start as a script does.
    #[error("these bytes are not a script of the oracle (they do not start with FHSCRPT1)")]
    NotAScript,
    /// The script has another format version.
    #[error("the script has format version {0}, this program reads version {FORMAT_VERSION}; make it anew")]
    OtherVersion(u32),
    /// The file ends before its last step.
    #[error("the script ends after {have} of {expected} operations; it was cut short")]
    CutShort {
        /// The number of steps in the file.
        have: u64,
        /// The number of steps according to the header.
        expected: u64,
    },
    /// The script has more slots than allowed, or a step uses a slot beyond them.
    #[error("operation {number} of the script uses slots that it does not have, or more than {MOST_SLOTS}")]
    NoSuchSlot {
        /// Index of the step.
        number: u64,
    },
    /// The file has bytes behind the script.
    #[error("the file has more bytes behind the script's last operation")]
    Longer,
    /// The memory size is not valid.
    #[error("the memory size of the script is not a number followed by K, M or G")]
    BadMemory,
    /// The code of a step is unknown.
    #[error("operation {number} of the script is not one that this version knows")]
    UnknownStep {
        /// Index of the step.
        number: u64,
    },
}

/// The fields of a step in the file.
#[derive(Clone, Copy, Default)]
struct Raw {
    kind: u8,
    order: u8,
    flags: u8,
    argument: u64,
}

impl Op {
    fn to_raw(self) -> Raw {
        let raw = |kind| Raw { kind, ..Raw::default() };
        let at = |from: Place| (u8::from(matches!(from, Place::AtSlot(_))), u64::from(from.offset()));
        match self {
            Self::Alloc { order, gfp } => {
                Raw { order: order.get(), argument: u64::from(gfp.bits()), ..raw(1) }
            }
            Self::Free => raw(2),
            Self::Split => raw(3),
            Self::BulkAlloc { pages, gfp } => {
                Raw { argument: u64::from(gfp.bits()) << 32 | u64::from(pages), ..raw(4) }
            }
            Self::Drain => raw(5),
            Self::DrainAll => raw(6),
            Self::Refresh => raw(7),
            Self::Isolate { blocks, from } | Self::UndoIsolate { blocks, from } => {
                let kind = if matches!(self, Self::Isolate { .. }) { 8 } else { 9 };
                let (flags, argument) = at(from);
                Raw { kind, order: blocks, flags, argument }
            }
            Self::Contig { pages, from, cma } => {
                let (flags, offset) = at(from);
                let argument = u64::from(pages) << 32 | offset;
                Raw { flags: flags | u8::from(cma) << 1, argument, ..raw(10) }
            }
            Self::Set { tunable, value } => Raw { flags: tunable as u8, argument: value, ..raw(11) },
            Self::RelaxBoost { pages } => Raw { argument: pages, ..raw(12) },
            Self::ReclaimActive(active) => Raw { flags: active.into(), ..raw(13) },
            Self::Mark(movable) => Raw { flags: movable.into(), ..raw(14) },
            Self::Pin => Raw { flags: 2, ..raw(14) },
            Self::PageTypeInfo => raw(15),
            Self::BuddyInfo => Raw { flags: 1, ..raw(15) },
            Self::Digest => raw(16),
            Self::Dump => Raw { flags: 1, ..raw(16) },
            Self::Tidy { pages } => Raw { argument: pages.into(), ..raw(17) },
        }
    }

    fn from_raw(raw: Raw) -> Option<Self> {
        let low = raw.argument as u32;
        let high = (raw.argument >> 32) as u32;
        let from = if raw.flags & 1 == 0 { Place::InZone(low) } else { Place::AtSlot(low) };
        Some(match raw.kind {
            1 => Self::Alloc { order: Order::of_linux(raw.order)?, gfp: GfpFlags::from_bits(low)? },
            2 => Self::Free,
            3 => Self::Split,
            4 if low <= MOST_BULK => Self::BulkAlloc { pages: low, gfp: GfpFlags::from_bits(high)? },
            5 => Self::Drain,
            6 => Self::DrainAll,
            7 => Self::Refresh,
            8 => Self::Isolate { blocks: raw.order, from },
            9 => Self::UndoIsolate { blocks: raw.order, from },
            10 => Self::Contig { pages: high, from, cma: raw.flags & 2 != 0 },
            11 => Self::Set { tunable: *Tunable::ALL.get(usize::from(raw.flags))?, value: raw.argument },
            12 => Self::RelaxBoost { pages: raw.argument },
            13 => Self::ReclaimActive(raw.flags != 0),
            14 if raw.flags == 2 => Self::Pin,
            14 => Self::Mark(raw.flags != 0),
            15 => {
                if raw.flags == 0 {
                    Self::PageTypeInfo
                } else {
                    Self::BuddyInfo
                }
            }
            16 => {
                if raw.flags == 0 {
                    Self::Digest
                } else {
                    Self::Dump
                }
            }
            17 => Self::Tidy { pages: low },
            _ => return None,
        })
    }
}

impl Script {
    /// Returns the script as the bytes that the oracle reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + self.steps.len() * STEP_BYTES);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        bytes.extend_from_slice(&u32::from(self.cpus).to_le_bytes());
        bytes.extend_from_slice(&(self.steps.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&self.slots.to_le_bytes());
        bytes.extend_from_slice(&u64::from(self.cma_blocks).to_le_bytes());
        bytes.extend_from_slice(&self.seed.to_le_bytes());
        bytes.extend_from_slice(&self.memory.as_bytes()[..self.memory.len().min(MEMORY_BYTES)]);
        bytes.resize(HEADER_BYTES, 0);
        for step in &self.steps {
            let raw = step.op.to_raw();
            bytes.extend_from_slice(&[raw.kind, step.cpu, raw.order, raw.flags]);
            bytes.extend_from_slice(&step.slot.to_le_bytes());
            bytes.extend_from_slice(&raw.argument.to_le_bytes());
        }
        bytes
    }

    /// Reads a script from the start of `bytes`. Returns the script and the number of bytes read.
    ///
    /// # Errors
    /// See [`ScriptError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<(Self, usize), ScriptError> {
        let header = bytes.get(..HEADER_BYTES).filter(|header| header.starts_with(MAGIC));
        let header = header.ok_or(ScriptError::NotAScript)?;
        let version = number(header, 8, 4) as u32;
        if version != FORMAT_VERSION {
            return Err(ScriptError::OtherVersion(version));
        }
        let expected = number(header, 16, 8);
        let records = bytes[HEADER_BYTES..].chunks_exact(STEP_BYTES);
        let steps = records
            .take(expected.try_into().unwrap_or(usize::MAX))
            .enumerate()
            .map(|(at, record)| {
                Step::from_record(record).ok_or(ScriptError::UnknownStep { number: at as u64 })
            })
            .collect::<Result<Vec<_>, _>>()?;
        if (steps.len() as u64) < expected {
            return Err(ScriptError::CutShort { have: steps.len() as u64, expected });
        }
        let taken = HEADER_BYTES + steps.len() * STEP_BYTES;
        let script = Self {
            cpus: number(header, 12, 4) as u8,
            cma_blocks: number(header, 32, 4) as u32,
            seed: number(header, 40, 8),
            slots: number(header, 24, 8),
            memory: memory(&header[MEMORY_AT..]).ok_or(ScriptError::BadMemory)?,
            steps,
        };
        let last = script.steps.iter().position(|step| u64::from(step.slot) >= script.slots.max(1));
        match last {
            _ if script.slots > MOST_SLOTS => Err(ScriptError::NoSuchSlot { number: 0 }),
            Some(number) => Err(ScriptError::NoSuchSlot { number: number as u64 }),
            None => Ok((script, taken)),
        }
    }
}

/// Returns the memory size in a header: letters and digits, then zeros.
fn memory(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?.trim_end_matches('\0');
    text.bytes().all(|byte| byte.is_ascii_alphanumeric()).then(|| text.to_owned())
}

impl Step {
    fn from_record(record: &[u8]) -> Option<Self> {
        let raw = Raw { kind: record[0], order: record[2], flags: record[3], argument: number(record, 8, 8) };
        Some(Self { cpu: record[1], slot: number(record, 4, 4) as u32, op: Op::from_raw(raw)? })
    }
}

/// Returns the little-endian number of `length` bytes at `at`.
pub(crate) fn number(bytes: &[u8], at: usize, length: usize) -> u64 {
    bytes[at..at + length].iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}
