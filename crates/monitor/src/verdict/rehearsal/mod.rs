//! Rehearsals: the requests of a launch and a machine's readings come in; out goes whether the launch starts, and which request
//! fails first.
//!
//! `demand.rs` reads the requests. `rehearse.rs` lays them on the machine, `outcome.rs` has the result, and `text.rs` says it.

mod demand;
mod outcome;
mod rehearse;
mod text;

pub use demand::{Amount, Demand, DemandError, DemandKind, DemandLine};
pub use outcome::{LineOutcome, Rehearsal, Start};
pub use rehearse::{LaunchRequest, rehearse};
