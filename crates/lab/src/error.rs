//! Errors of the lab.

use std::error::Error;

use freehold::{Broken, SetupError};

impl LabError {
    /// Returns true if the error is a bug in Freehold, independent of the input.
    pub fn is_bug(&self) -> bool {
        matches!(self, Self::Broken { .. } | Self::Stopped | Self::Picture { .. } | Self::Figures { .. })
    }
}

/// Returns an error with its causes as one sentence.
pub fn sentence(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    for cause in causes.map(ToString::to_string) {
        // Most messages already contain the system's error.
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// An error of the lab: the trace cannot be replayed, or a result cannot be written.
///
/// Event numbers count from 0 over the whole trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// The start snapshot has no zone with pages.
    #[error("the start snapshot names no zone with pages; record again, or import with --zoneinfo")]
    NoZones,
    /// The start snapshot names a zone that Linux does not have.
    #[error(
        "the start snapshot names a zone {name:?}; Linux has DMA, DMA32, Normal, HighMem, Movable, Device"
    )]
    UnknownZone {
        /// The name found.
        name: String,
    },
    /// A number of the start snapshot is out of range.
    #[error("the start snapshot is out of range: {what}")]
    OutOfRange {
        /// The number that is too large or too small.
        what: String,
    },
    /// The machine is too large for a replay.
    #[error(
        "the machine's zones span {pages} pages without the large holes between them; a replay is limited to {most}, \
         which is 512 GiB with pages of 4 KiB (`freehold trace info` reads larger traces)"
    )]
    TooLarge {
        /// The pages that the zones span.
        pages: u64,
        /// The limit.
        most: u64,
    },
    /// A block is not inside one zone of the start snapshot.
    #[error(
        "event {event}: the block of order {order} at pfn {pfn:#x} is not inside any zone of the start snapshot"
    )]
    OutsideZones {
        /// Number of the event.
        event: u64,
        /// First frame of the block.
        pfn: u64,
        /// The order of the block.
        order: u8,
    },
    /// A machine with these numbers cannot be generated.
    #[error("no such machine can be generated: {what}")]
    Plan {
        /// The number that is too large, too small or missing.
        what: String,
    },
    /// A picture could not be drawn: a bug in Freehold.
    #[error("the picture cannot be drawn: {what}")]
    Picture {
        /// The error.
        what: String,
    },
    /// Figures could not be written: a bug in Freehold.
    #[error("the figures cannot be written as Parquet: {what}")]
    Figures {
        /// The error.
        what: String,
    },
    /// The engine refused the machine.
    #[error("the engine cannot be set up for this machine")]
    Setup(#[from] SetupError),
    /// An invariant of the engine is broken after a replay: a bug in Freehold.
    #[error("{variant}: the engine's state is inconsistent after the replay; please report this trace")]
    Broken {
        /// The era and switches that were replayed.
        variant: String,
        /// The invariant.
        source: Broken,
    },
    /// A placement rule chose a block that it was not offered.
    #[error(
        "{variant}: the rule {rule} chose pfn {last:#x}, which it was not offered; a rule may choose a block as it was \
         offered, and give pageblocks the types Unmovable, Movable and Reclaimable"
    )]
    Rule {
        /// The rule's name.
        rule: String,
        /// The era and switches that were replayed.
        variant: String,
        /// The last such block or pageblock.
        last: u64,
    },
    /// A placement rule was combined with an era that never calls one.
    #[error(
        "{variant}: the rule {rule} would never be called: eras before hygiene call no rule; use linux-6.12 or a \
         newer era"
    )]
    RuleUnasked {
        /// The rule's name.
        rule: String,
        /// The era and switches that were to be replayed.
        variant: String,
    },
    /// Another thread ended the replay, see [`Control::interrupt`](crate::Control::interrupt).
    #[error("the replay was interrupted")]
    Interrupted,
    /// A replay thread could not finish: a bug in Freehold.
    #[error("a replay stopped before its end; please report this trace")]
    Stopped,
}
