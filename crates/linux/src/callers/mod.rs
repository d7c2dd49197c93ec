//! Who calls for large blocks: trace events of requests above an order come in, events of callers with kernel stacks go out.
//!
//! The kernel drops smaller requests itself, by filters on the order. `decode.rs` reads the bytes of an event, `pairing.rs` gives
//! each request its stack, `watch.rs` owns the tracefs instance, and `tasks.rs` names tasks and their cgroups.

mod decode;
mod event;
mod pairing;
mod tasks;
mod watch;

pub use event::{CallerBy, CallerEvent, CallerKind, CallerStack};
pub use tasks::{TaskNames, TaskOf};
pub use watch::{CallerLosses, CallerWatch};
