//! How a trace lies in a file (`docs/trace-format.md` in code): in come events and snapshots, out come rows, and back.

mod closing;
mod column;
mod error;
mod header;
mod limits;
mod row;
mod row_kind;
mod zones;

pub use error::TraceError;
pub use header::FORMAT_VERSION;

pub(crate) use closing::Closing;
pub(crate) use column::{COLUMNS, COLUMNS_OF_VERSION_1, Column};
pub(crate) use error::Place;
pub(crate) use header::{FORMAT_NAME, KEY_FORMAT, KEY_ORIGIN, KEY_START, KEY_VERSION, schema};
pub(crate) use limits::{MAX_BATCH_ROWS, MAX_BODY_BYTES, MAX_METADATA_BYTES, MAX_NOTE_BYTES, MAX_RUNS};
pub(crate) use row::Row;
pub(crate) use row_kind::RowKind;
pub(crate) use zones::{Zones, check_run, check_snapshot};
