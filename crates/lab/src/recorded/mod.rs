//! The recorded machine: events and counters of a trace come in, sums go out.
//!
//! `fallbacks.rs` counts fallbacks. `counters.rs` reads the kernel's counters, and `work.rs` sums up the events of
//! compaction and reclaim. `kswapd.rs` finds the times at which kswapd reclaimed, `compactors.rs` the tasks that
//! compact. `move_cost.rs` has the time of moving a page; `gaps.rs` finds lost events.

mod compactors;
mod counters;
mod events;
mod fallbacks;
mod gaps;
mod kswapd;
mod move_cost;
mod work;

pub(crate) use compactors::{Compacting, kcompactd_tasks};
pub use counters::RecordedCounters;
pub use events::Recorded;
pub(crate) use events::is_for_huge_page;
pub(crate) use events::percpu_pages;
pub use fallbacks::FallbackCount;
pub(crate) use fallbacks::{Fallbacks, recorded_fallbacks};
pub use gaps::{CpuGaps, Gap, Gaps};
pub(crate) use kswapd::kswapd_reclaims;
pub use move_cost::MoveCost;
pub(crate) use move_cost::PARTS as MOVE_PARTS;
pub use work::RecordedWork;
