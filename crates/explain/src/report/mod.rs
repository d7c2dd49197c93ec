//! The kernel's lines come in; reports go out, as the kernel printed them, with nothing concluded.

mod allocator;
mod blocks;
mod cgroup;
mod collector;
mod gfp;
mod header;
mod joiner;
mod kind;
mod log;
mod node_set;
mod nothing;
mod place;
mod release;
mod request;
mod slabs;
mod splat;
mod stack;
mod sums;
mod tasks;
mod totals;
mod zone;

pub(crate) use blocks::{BlockList, Letters};
pub use kind::Kind;
pub use log::Log;
pub(crate) use log::Seen;
pub(crate) use request::NodeAccess;
pub(crate) use splat::{Origin, PerCpuReason, Splat};
pub(crate) use sums::{doubts, unlisted_free};
pub(crate) use tasks::TaskGroup;
pub(crate) use zone::ZoneText;
