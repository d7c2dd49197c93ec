//! Why a trace cannot be replayed.

use std::error::Error;

use freehold::{Broken, SetupError};

impl LabError {
    /// Returns true if it is an error in Freehold, whatever the input was.
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

/// Why a trace cannot be replayed.
///
/// Event numbers count from 0 over the whole trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// The start snapshot has no zone that could be set up.
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
        /// What is too large or too small.
        what: String,
    },
    /// The machine is larger than a replay can be.
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
    /// A machine with these numbers cannot be made up.
    #[error("no such machine can be made up: {what}")]
    Plan {
        /// What is too large, too small or missing.
        what: String,
    },
    /// A picture could not be drawn: an error in Freehold.
    #[error("the picture cannot be drawn: {what}")]
    Picture {
        /// What went wrong.
        what: String,
    },
    /// Figures could not be written down: an error in Freehold.
    #[error("the figures cannot be written as Parquet: {what}")]
    Figures {
        /// What went wrong.
        what: String,
    },
    /// The engine refused the machine.
    #[error("the engine cannot be set up for this machine")]
    Setup(#[from] SetupError),
    /// An invariant of the engine is broken after a replay: an error in Freehold.
    #[error("{variant}: the engine's state is inconsistent after the replay; please report this trace")]
    Broken {
        /// The era and switches that were replayed.
        variant: String,
        /// The invariant.
        source: Broken,
    },
    /// A rule of placement chose what it was not offered.
    #[error(
        "{variant}: the rule {rule} chose pfn {last:#x}, which it was not offered; a rule may choose a block as it was \
         offered, and give pageblocks the types Unmovable, Movable and Reclaimable"
    )]
    Rule {
        /// The rule's name.
        rule: String,
        /// The era and switches that were replayed.
        variant: String,
        /// The last block or pageblock that it chose.
        last: u64,
    },
    /// A rule of placement is to be tried in an era that asks none.
    #[error(
        "{variant}: the rule {rule} would never be asked: eras before hygiene ask no rule; take linux-6.12 or a newer one"
    )]
    RuleUnasked {
        /// The rule's name.
        rule: String,
        /// The era and switches that were to be replayed.
        variant: String,
    },
    /// Whoever waits for the replay asked it to end.
    #[error("the replay was interrupted")]
    Interrupted,
    /// A replay thread could not finish: an error in Freehold.
    #[error("a replay stopped before its end; please report this trace")]
    Stopped,
}
