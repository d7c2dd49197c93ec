//! The note of a trace's last row.

use serde::{Deserialize, Serialize};

use crate::model::Ending;

/// The note of the last row: the ending, and checksums of the file.
#[derive(Serialize, Deserialize)]
pub(crate) struct Closing {
    /// The number of events in the file.
    pub(crate) events: u64,
    /// The CRC-32 (IEEE) of every byte before the message with this note. A program that rewrites a trace omits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) crc32: Option<u32>,
    /// The facts that are known only when a recording ends.
    pub(crate) ending: Ending,
}
