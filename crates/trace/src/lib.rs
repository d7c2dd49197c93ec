//! The trace format: page events, snapshots and provenance in an Arrow IPC stream.

mod event;
mod provenance;
mod snapshot;

pub use event::{Event, EventKind};
pub use provenance::{Disturbance, Ending, Origin};
pub use snapshot::{FrameUse, FreeCount, PageTypeInfo, PageTypeZone, Pageset, Run, Snapshot, ZoneSnapshot};
