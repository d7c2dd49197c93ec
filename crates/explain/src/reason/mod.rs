//! A report comes in; why the request failed goes out: zone by zone, then in one class.

mod class;
mod layout;
mod rights;
mod zone_reason;

pub use class::{Class, Sure};
pub(crate) use layout::Layout;
pub(crate) use rights::{Rights, Rule};
pub(crate) use zone_reason::{Finding, Reserve, ZoneReason};
