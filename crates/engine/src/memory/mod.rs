//! A configuration and the caller's bytes go in; all zones of all nodes come out, with what is asked of their daemons.

mod builder;
mod node;
mod request_counters;
mod state;
#[cfg(not(loom))]
mod static_memory;
mod sysctls;
mod tunables;
mod vm_events;
mod zonelist;

pub use builder::MemoryBuilder;
pub(crate) use node::MAX_RECLAIM_RETRIES;
pub(crate) use request_counters::CpuRequests;
pub(crate) use state::FirstZones;
pub use state::{Memory, MemoryConfig, required_bytes};
#[cfg(not(loom))]
pub use static_memory::StaticMemory;
pub use sysctls::Sysctls;
pub use tunables::Tunables;
pub use vm_events::VmEvents;
