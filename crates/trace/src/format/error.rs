//! Errors of trace files: the fault, its place, and the remedy.

use super::column::Column;

/// The reason why a trace cannot be read or written.
///
/// `file` is the name that the caller gave. `batch` counts record batches from 1;
/// 0 is the header before the first batch. `row` counts from 0 over the whole file,
/// like the rows of a table with all batches.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The operating system refused to read or write.
    #[error("{file}: cannot read or write the trace; {}", io_remedy(source.kind()))]
    Io {
        /// Name of the file.
        file: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The operating system refused to open the file.
    #[error("{file}: the trace cannot be opened; check the path")]
    Unopened {
        /// Name of the file.
        file: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file has no bytes.
    #[error("{file}: the file is empty: the recorder stopped before it wrote anything; record again")]
    Empty {
        /// Name of the file.
        file: String,
    },
    /// The file is not a trace.
    #[error("{file}: not a Freehold trace but {looks_like}")]
    NotATrace {
        /// Name of the file.
        file: String,
        /// The probable type of the file, and the remedy.
        looks_like: &'static str,
    },
    /// The trace was written by a newer Freehold.
    #[error(
        "{file}: trace format version {found}, and this Freehold reads up to {known}; read it with a newer one"
    )]
    NewerVersion {
        /// Name of the file.
        file: String,
        /// The version of the file.
        found: u32,
        /// The newest version that this reader knows.
        known: u32,
    },
    /// The file stops in the middle of a message.
    #[error("{file}: the file stops inside {} after {bytes} bytes; {}", place(*batch), remedy(*batch, *events_before))]
    Truncated {
        /// Name of the file.
        file: String,
        /// The record batch that is incomplete.
        batch: u64,
        /// Events in the complete batches before it.
        events_before: u64,
        /// Length of the file.
        bytes: u64,
    },
    /// The bytes contradict the format or themselves.
    #[error(
        "{file}: damaged in {}{}: {what}; take another copy of the file or record again",
        place(*batch), at_row(*row)
    )]
    Corrupt {
        /// Name of the file.
        file: String,
        /// The damaged record batch.
        batch: u64,
        /// The damaged row, if it is known.
        row: Option<u64>,
        /// The contradiction.
        what: String,
    },
    /// An event is earlier than the event before it.
    #[error(
        "{file}: record batch {batch}, row {row}: time goes back from {before_ns} to {time_ns} ns; \
         events must be sorted by time: sort them and write the trace again"
    )]
    TimeBackwards {
        /// Name of the file.
        file: String,
        /// The record batch.
        batch: u64,
        /// The row of the earlier event.
        row: u64,
        /// Time of the event before it.
        before_ns: u64,
        /// Time of this event.
        time_ns: u64,
    },
    /// The number in a column is not valid.
    #[error(
        "{file}: record batch {batch}, row {row}: {column} is {value}, which must be {allowed}; \
         take another copy of the file or record again"
    )]
    BadValue {
        /// Name of the file.
        file: String,
        /// The record batch.
        batch: u64,
        /// The row.
        row: u64,
        /// The column.
        column: &'static str,
        /// The number in the file.
        value: u64,
        /// The valid numbers.
        allowed: String,
    },
    /// A block is not inside one zone of the start snapshot.
    #[error(
        "{file}: record batch {batch}, row {row}: the block of order {order} at pfn {pfn:#x} is not inside \
         any zone of the start snapshot; was memory plugged in during the recording? Record again"
    )]
    PfnOutsideZones {
        /// Name of the file.
        file: String,
        /// The record batch.
        batch: u64,
        /// The row.
        row: u64,
        /// First frame of the block.
        pfn: u64,
        /// Size of the block.
        order: u8,
    },
}

fn io_remedy(kind: std::io::ErrorKind) -> &'static str {
    match kind {
        std::io::ErrorKind::StorageFull => "make room on the device",
        std::io::ErrorKind::IsADirectory => "name a file in it",
        _ => "check its device and its permissions",
    }
}

fn place(batch: u64) -> String {
    if batch == 0 { "the header".to_owned() } else { format!("record batch {batch}") }
}

fn at_row(row: Option<u64>) -> String {
    row.map_or_else(String::new, |row| format!(", row {row}"))
}

fn remedy(batch: u64, events_before: u64) -> String {
    if batch == 0 {
        "nothing can be read without the header: record again".to_owned()
    } else {
        format!("read the {events_before} events before it with --partial")
    }
}

/// The position of the reader or the writer in a file, for errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) file: &'a str,
    pub(crate) batch: u64,
    pub(crate) row: u64,
}

impl Place<'_> {
    /// Returns the error for a damaged batch.
    pub(crate) fn corrupt(self, what: impl Into<String>) -> TraceError {
        TraceError::Corrupt { file: self.file.to_owned(), batch: self.batch, row: None, what: what.into() }
    }

    /// Returns the error for a damaged row.
    pub(crate) fn corrupt_row(self, what: impl Into<String>) -> TraceError {
        let row = Some(self.row);
        TraceError::Corrupt { file: self.file.to_owned(), batch: self.batch, row, what: what.into() }
    }

    pub(crate) fn bad_value(self, column: Column, value: u64, allowed: impl Into<String>) -> TraceError {
        TraceError::BadValue {
            file: self.file.to_owned(),
            batch: self.batch,
            row: self.row,
            column: column.name(),
            value,
            allowed: allowed.into(),
        }
    }

    pub(crate) fn time_backwards(self, before_ns: u64, time_ns: u64) -> TraceError {
        TraceError::TimeBackwards {
            file: self.file.to_owned(),
            batch: self.batch,
            row: self.row,
            before_ns,
            time_ns,
        }
    }

    pub(crate) fn outside_zones(self, pfn: u64, order: u8) -> TraceError {
        TraceError::PfnOutsideZones {
            file: self.file.to_owned(),
            batch: self.batch,
            row: self.row,
            pfn,
            order,
        }
    }

    pub(crate) fn io(self, source: std::io::Error) -> TraceError {
        TraceError::Io { file: self.file.to_owned(), source }
    }
}
