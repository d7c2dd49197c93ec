//! A configuration and the caller's bytes come in; a [`Memory`] of all nodes and zones goes out.

mod builder;
mod config;
mod node;
mod request_counters;
mod state;
#[cfg(not(loom))]
mod static_memory;
mod sysctls;
mod tables;
mod tunables;
mod vm_events;
mod zonelist;

pub use builder::MemoryBuilder;
pub(crate) use config::FirstZones;
pub use config::MemoryConfig;
pub(crate) use node::MAX_RECLAIM_RETRIES;
pub(crate) use request_counters::CpuRequests;
pub use state::{Memory, required_bytes};
#[cfg(not(loom))]
pub use static_memory::StaticMemory;
pub use sysctls::Sysctls;
pub use tunables::Tunables;
pub use vm_events::VmEvents;
