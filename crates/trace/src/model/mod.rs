//! A trace as data, without a file: facts about a machine come in; events, snapshots and provenance go out.

mod by_order;
mod event;
mod event_log;
mod exact;
mod kernel_types;
mod observer_effect;
mod provenance;
mod snapshot;

pub use by_order::ByOrder;
pub use event::{Event, EventKind, PageWork};
pub use event_log::EventLog;
pub use exact::{
    EXACT_VERSION, ExactCompaction, ExactCpu, ExactList, ExactPart, ExactState, ExactZone, PageblockRun,
};
pub use kernel_types::{ByType, KernelType, KernelTypes};
pub use observer_effect::{ObserverEffect, Quartiles, RunTimes};
pub use provenance::{Disturbance, Ending, Origin, StoppedBy};
pub use snapshot::{
    FrameUse, FreeCount, PageTypeInfo, PageTypeZone, Pageset, Run, SYSCTLS, Snapshot, ZoneSnapshot,
};
