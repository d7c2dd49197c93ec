//! What a trace says, without a file: in come facts about a machine, out come events, snapshots and provenance.

mod effect;
mod event;
mod event_log;
mod provenance;
mod snapshot;

pub use effect::{ObserverEffect, Quartiles, RunTimes};
pub use event::{Event, EventKind, PageWork};
pub use event_log::EventLog;
pub use provenance::{Disturbance, Ending, Origin, StoppedBy};
pub use snapshot::{FrameUse, FreeCount, PageTypeInfo, PageTypeZone, Pageset, Run, Snapshot, ZoneSnapshot};
