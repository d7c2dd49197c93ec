//! A report comes in; why the request failed goes out: zone by zone, then in one class.

mod class;
mod judged;
mod layout;
mod memory;
mod rights;
mod unlisted;
mod zone_reason;

pub use class::{Class, Sure};
pub(crate) use judged::{EINTR, Judged};
pub(crate) use memory::{MemoryUse, Use};
pub(crate) use rights::Rule;
pub(crate) use unlisted::{Place, Unlisted};
pub(crate) use zone_reason::{Finding, Reserve, ZoneReason};
