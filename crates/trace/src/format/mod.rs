//! The rows of a trace file (`docs/reference/trace-format.md`): events come in and rows go out, or the reverse.

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
pub use row_kind::event_names;

pub(super) use closing::Closing;
pub(super) use column::{COLUMNS, COLUMNS_OF_VERSION_1, Column};
pub(super) use error::Place;
pub(super) use header::{
    FORMAT_NAME, KEY_FORMAT, KEY_GFP_BITS, KEY_ORIGIN, KEY_START, KEY_VERSION, gfp_bits, schema,
};
pub(super) use limits::{MAX_BATCH_ROWS, MAX_BODY_BYTES, MAX_METADATA_BYTES, MAX_NOTE_BYTES, MAX_RUNS};
pub(super) use row::Row;
pub(super) use row_kind::RowKind;
pub(super) use zones::{Zones, check_run, check_snapshot};
