//! Reads the header of a trace.

use std::io::Read;

use freehold::Order;

use super::decode::{check_schema, metadata};
use super::message::{Messages, Next, guess};
use crate::format::{
    COLUMNS, COLUMNS_OF_VERSION_1, FORMAT_NAME, FORMAT_VERSION, KEY_FORMAT, KEY_ORIGIN, KEY_START,
    KEY_VERSION, Place, TraceError,
};
use crate::model::{Origin, Snapshot};

/// The contents of a trace's first message.
pub(super) struct Header {
    pub(super) origin: Origin,
    /// The start snapshot without its occupancy. The occupancy follows in rows.
    pub(super) start: Snapshot,
    /// The number of columns.
    pub(super) columns: usize,
    /// The largest order of the file's format version.
    pub(super) largest: Order,
}

impl Header {
    /// Reads the schema message.
    ///
    /// # Errors
    ///
    /// `Empty`, `NotATrace`, `NewerVersion`, `Truncated`, `Corrupt` and `Io`.
    pub(super) fn read<R: Read>(messages: &mut Messages<R>, place: Place<'_>) -> Result<Self, TraceError> {
        let file = || place.file.to_owned();
        match messages.advance(place)? {
            Next::Message => {}
            Next::EndOfFile => return Err(TraceError::Empty { file: file() }),
            Next::EndOfStream => {
                return Err(TraceError::NotATrace { file: file(), looks_like: "an empty Arrow stream" });
            }
            Next::Truncated => {
                return Err(TraceError::Truncated {
                    file: file(),
                    batch: 0,
                    events_before: 0,
                    bytes: messages.bytes(),
                });
            }
            Next::Foreign(start) => {
                return Err(TraceError::NotATrace { file: file(), looks_like: guess(start) });
            }
        }
        let message = messages.current(place)?;
        let schema =
            message.header_as_schema().ok_or_else(|| place.corrupt("the first message is no schema"))?;
        if metadata(schema, KEY_FORMAT) != Some(FORMAT_NAME) {
            let looks_like = "an Arrow stream of something else: give it a file that `freehold record` wrote";
            return Err(TraceError::NotATrace { file: file(), looks_like });
        }
        let text =
            |key| metadata(schema, key).ok_or_else(|| place.corrupt(format!("no {key} in the header")));
        let found = text(KEY_VERSION)?;
        match found.parse() {
            Ok(1..=FORMAT_VERSION) => {}
            Ok(found) if found > FORMAT_VERSION => {
                return Err(TraceError::NewerVersion { file: file(), found, known: FORMAT_VERSION });
            }
            _ => return Err(place.corrupt(format!("format version {found:.20?}"))),
        }
        let columns = if found == "1" { COLUMNS_OF_VERSION_1 } else { COLUMNS };
        check_schema(schema, columns).map_err(|what| place.corrupt(what))?;
        let origin = serde_json::from_str(text(KEY_ORIGIN)?);
        let origin = origin.map_err(|e| place.corrupt(format!("{KEY_ORIGIN}: {e}")))?;
        let start = serde_json::from_str(text(KEY_START)?);
        let start = start.map_err(|e| place.corrupt(format!("{KEY_START}: {e}")))?;
        let largest = if matches!(found, "1" | "2") { Order::MAX_PAGE_ORDER } else { Order::MAX };
        Ok(Self { origin, start, columns, largest })
    }
}
