//! Workloads by seed: traces of what the sources of the four pieces of work ran, without their machines.
//!
//! The engine itself is the machine. A workload is made of processes, files, slab caches and
//! what else uses pages; what they ask the engine and are answered is the trace, together
//! with what a recorder would have read before and after. The same plan gives the same trace, byte for
//! byte. Time is made up: an event takes a few hundred nanoseconds to microseconds.

mod boot_free;
mod cache_server;
mod counters;
mod fallbacks;
mod files;
mod fragments;
pub(crate) mod host;
mod hygiene;
mod hygiene_seed;
mod kbuild;
mod lifetimes;
mod look;
mod memcache_kbuild_thp;
mod mix;
mod mix_fit;
mod mmap_read;
mod pagealloc;
mod plan;
mod processes;
mod random;
mod reclaim;
mod slabs;
mod spread;
mod target;
pub(crate) mod users;
mod zones;

use freehold_trace::Ending;

pub use hygiene::{Build, Hygiene, HygieneSide};
pub use mix_fit::{Mix, MixDistance, MixFit};
pub use plan::{Plan, Workload};
pub use target::{GenerateError, Generated, Generation, collect, write};

use host::{Host, on_a_host};
use target::Target;

/// Events that are handed over at a time.
const BATCH: usize = 1 << 16;

/// What keeps a machine busy.
pub(crate) trait Load {
    /// Brings the machine into the state in which the trace starts.
    fn settle(&mut self, host: &mut Host<'_, '_>);

    /// Does a little, at least one event of it.
    fn step(&mut self, host: &mut Host<'_, '_>);

    /// Whether all is done that belongs to the workload; further steps go on with the same.
    fn is_done(&self) -> bool;
}

/// Runs a load on a machine and hands its trace to a target, a batch at a time.
fn run<T: Target>(plan: &Plan, target: &mut T) -> Result<(), T::Error> {
    on_a_host(&plan.ground(), |mut host| {
        let mut load = plan.load();
        load.settle(&mut host);
        let start = host.start_recording();
        target.begin(&plan.origin(), &start)?;
        let mut is_done = false;
        while !is_done {
            load.step(&mut host);
            is_done = match plan.events {
                Some(events) => host.recorded() >= events,
                None => load.is_done(),
            };
            if is_done || host.waiting() >= BATCH {
                host.hand_over(|events| target.events(events))?;
            }
        }
        host.check(&plan.variant)?;
        let ending = Ending { snapshot: Some(host.end()), ..Ending::default() };
        target.end(&ending)
    })
}
