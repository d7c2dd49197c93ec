pub(crate) mod node;
pub(crate) mod request_stats;
pub(crate) mod state;
pub(crate) mod tunables;
pub(crate) mod vm_events;
