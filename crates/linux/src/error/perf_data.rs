//! Why a `perf.data` cannot be imported, and what to do about it.

use thiserror::Error;

/// What to do with a file that only its own machine reads.
const AS_TEXT: &str = "Write its text by `perf script --ns -F comm,tid,cpu,time,event,trace` where it was recorded, and import that";

/// What is wrong with a `perf.data`.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum PerfDataError {
    /// It comes from a machine of the other byte order.
    #[error("its numbers have the other byte order than this machine's. {AS_TEXT}")]
    OtherByteOrder,
    /// It is compressed as a whole, as it can only be read from a file.
    #[error("it is a compressed perf.data. Unpack it first: it is read at several places")]
    Packed,
    /// It is not a file that can be read at any place.
    #[error("it comes through a pipe. Save it as a file first: it is read at several places")]
    NotAFile,
    /// It is shorter than it says.
    #[error(
        "it ends at byte {bytes} but tells of {needed} bytes. Copy it again, or record again if it was cut off there"
    )]
    CutOff {
        /// The file's bytes.
        bytes: u64,
        /// Where the last part that it tells of ends.
        needed: u64,
    },
    /// `perf record` did not write its end.
    #[error(
        "`perf record` was ended before it had finished the file, which says nothing about its events' fields. Record again, and end it by Ctrl-C"
    )]
    Unfinished,
    /// Its records lie in other files.
    #[error("its records lie in other files of its folder. Record without `--threads`")]
    Spread,
    /// It does not describe the events of the page allocator.
    #[error(
        "it has no events of the page allocator. Record with `perf record -a -e kmem:mm_page_alloc -e kmem:mm_page_free`, and more of kmem"
    )]
    NoPageEvents,
    /// An event's description lacks what is needed.
    #[error("{0}. {AS_TEXT}")]
    Format(String),
    /// Not every event was recorded.
    #[error(
        "perf took only a part of {event} ({how}), and a trace must have them all. Record without `-F`, `-c`, `:S` and `--overwrite`"
    )]
    Sampled {
        /// The event.
        event: String,
        /// Perf's setting.
        how: String,
    },
    /// An event that every replay needs was not recorded.
    #[error(
        "{event} was not recorded. Record with `perf record -a -e kmem:mm_page_alloc -e kmem:mm_page_free`, and more of kmem"
    )]
    Missing {
        /// The event.
        event: String,
    },
    /// An event was recorded twice.
    #[error(
        "{event} was recorded twice, each time with every event. Name it once, and by no pattern beside its name"
    )]
    Twice {
        /// The event.
        event: String,
    },
    /// Not every task was recorded.
    #[error("it has the events of some tasks alone. Record all of the machine, with `perf record -a`")]
    SomeTasks,
    /// Events lack a part.
    #[error(
        "its {event} have no {part}. Record with `perf record -a -e {event}` and no option that leaves it out"
    )]
    Lacks {
        /// The event.
        event: String,
        /// The part: `time`, `CPU` or `raw data`.
        part: &'static str,
    },
    /// A part cannot be read.
    #[error(
        "{what} at byte {at} cannot be read. Check that `perf script` reads the file, and copy it again if not"
    )]
    Damaged {
        /// The part.
        what: &'static str,
        /// Its place, from the start of the file.
        at: u64,
    },
    /// Records go too far back in time.
    #[error(
        "the record at byte {at} is {back_ns} ns older than one of a round before. Write the text with `perf script`, which sorts by time, and import that"
    )]
    TimeBackwards {
        /// The place of the record.
        at: u64,
        /// How far it goes back.
        back_ns: u64,
    },
    /// It has none of the events that a trace holds.
    #[error(
        "no page events in {records} records. Record while something allocates, with `perf record -a -e kmem:mm_page_alloc -e kmem:mm_page_free`"
    )]
    NoEvents {
        /// The number of its records.
        records: u64,
    },
}
